"""A judge whose labels run the other way is named with the pair that shows it; judges at chance are not."""

from __future__ import annotations

import numpy as np
import pytest

from crubric_core import Settings, Workspace
from crubric_core.judges.agreement_table import agreement_table
from crubric_core.judges.opposed import opposed_note
from crubric_core.judges.report import judges_report
from crubric_core.labels.readers.policies import Policies

NAMES = ("anna", "ben", "carl", "dora")
QUERY = np.arange(30) % 10


def panel_of(seed, judges, share=0.85):
    """(12, 30, K) labels that are right with a probability of ``share``."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, (12, 30, 1))
    return np.where(rng.random((12, 30, judges)) < share, truth, 1 - truth).astype(float)


def note_of(panel):
    names = NAMES[: panel.shape[2]]
    return opposed_note(agreement_table(panel, names, QUERY), names)


def test_a_judge_that_labels_the_other_way_round_is_named():
    panel = panel_of(1, 4)
    assert note_of(panel) == ""
    panel[:, :, 2] = 1 - panel[:, :, 2]
    assert note_of(panel).startswith(
        "carl disagrees by more than chance with most of the other judges, such as "
    )


def test_two_that_label_alike_and_against_the_rest_leave_open_who_is_right():
    panel = panel_of(2, 4)
    panel[:, :, :2] = 1 - panel[:, :, :2]
    assert note_of(panel).startswith("anna, ben, carl and 1 more disagree by more than chance")


def test_of_two_judges_it_stays_open_which_one_it_is():
    panel = panel_of(3, 2)
    panel[:, :, 1] = 1 - panel[:, :, 1]
    note = note_of(panel)
    assert note.startswith("anna and ben disagree by more than chance (κ = −0.")
    assert "Are the labels of one the other way round (0 means met)?" in note


def test_a_poor_judge_is_no_opposed_one():
    panel = panel_of(4, 4)
    panel[:, :, 3] = np.random.default_rng(0).integers(0, 2, panel.shape[:2])
    assert note_of(panel) == ""


@pytest.mark.parametrize(("judges", "most"), [(2, 0.05), (3, 0.05)])
def test_judges_at_chance_are_rarely_named(judges, most):
    """Equal labels by chance alone: the upper end of each interval is below 0 in one of forty pairs."""
    named = [bool(note_of(panel_of(seed, judges, share=0.5))) for seed in range(100)]
    assert np.mean(named) <= most + 2 * np.sqrt(most * (1 - most) / len(named))


@pytest.mark.parametrize("judges", [2, 3])
def test_judges_who_err_seldom_where_everything_is_met_are_rarely_named(judges):
    """Their errors hardly ever meet on a cell, which is no sign of labels the other way round."""
    panels = [
        (np.random.default_rng(seed).random((6, 30, judges)) > 0.02).astype(float) for seed in range(60)
    ]
    assert np.mean([bool(note_of(panel)) for panel in panels]) <= 0.05


def test_what_the_note_advises_turns_the_labels_round():
    panel = panel_of(5, 3)
    panel[:, :, 1] = 1 - panel[:, :, 1]

    def rows(k):
        cells = [
            f"s{i},q{QUERY[j]},r{j},{NAMES[k]},{panel[i, j, k]:.0f}" for i in range(12) for j in range(30)
        ]
        return "\n".join(["system,query,rubric,judge,label", *cells]).encode()

    with Workspace() as ws:
        for k in range(3):
            turned = Policies(answers={"0": 1, "1": 0}) if k == 1 else Policies()
            ws.ingest(rows(k), "as given")
            ws.ingest(rows(k), "turned", policies=turned)
        given, turned = (
            judges_report(ws.dataset(name), Settings()).opposed for name in ("as given", "turned")
        )
    assert given.startswith("ben disagrees")
    assert turned == ""
