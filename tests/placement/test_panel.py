"""What is said of judges and of patterns of labels holds for systems that do not differ from the bank's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom, t

from crubric_core import Settings, Workspace, fit_irt
from crubric_core.analysis.pipeline import analyse, result_of
from crubric_core.demo import simulate
from crubric_core.irt.abilities import estimate_abilities
from crubric_core.irt.person_fit import person_fit
from crubric_core.placement.bank_file import bank_bytes, read_bank_bytes
from crubric_core.placement.bank_scale import BankScale, bank_scale_of
from crubric_core.placement.new_labels import labels_on_bank
from crubric_core.placement.notes import panel_notes
from crubric_core.placement.panel import PanelRecord, drift, expected_agreement, panel_record
from tests.oracles import naive_mean_difference

JUDGES, RUBRICS = ("a", "b", "c"), 60
LEVELS = np.full(RUBRICS, 2)


@pytest.fixture(scope="module")
def analysis():
    made = simulate(seed=5, systems=9, queries=20, pool=(6, 9))
    with Workspace() as workspace:
        for kind in ("labels", "rubrics", "queries"):
            workspace.ingest(getattr(made, kind).to_csv(index=False).encode(), "d", kind)
        found = analyse(workspace.dataset("d"), Settings(budget=RUBRICS))
        panel = workspace.dataset("d").panel(Settings().response)
        return found, bank_scale_of(result_of(found), panel, found.transfer(), found.person_fit())


@pytest.fixture
def bank(analysis) -> BankScale:
    return replace(analysis[1], judges=JUDGES)


def labelled(rng: np.random.Generator, systems: int, shift: float = 0.0) -> np.ndarray:
    """(systems, RUBRICS, 3) labels of judges each of whom is stricter with some systems than with others."""
    odds = rng.normal(size=(systems, RUBRICS, 1)) + 0.5 * rng.normal(size=(systems, 1, 3))
    return (rng.random((systems, RUBRICS, 3)) < 1 / (1 + np.exp(-odds - [0.0, 0.0, shift]))).astype(float)


def said(bank: BankScale, old: np.ndarray, new: np.ndarray) -> list[str]:
    fit = replace(bank, panel=panel_record(JUDGES, old, LEVELS))
    labels = labels_on_bank(tuple(f"n{i}" for i in range(len(new))), np.round(new.mean(axis=2)), JUDGES, new)
    return panel_notes(fit, labels)


def test_systems_of_the_same_kind_rarely_make_a_judge_stricter_than_in_the_calibration(bank):
    rng, tables = np.random.default_rng(1), 200
    false = sum(bool(said(bank, labelled(rng, 15), labelled(rng, 1))) for _ in range(tables))
    assert binom.sf(false - 1, tables, 0.01) > 0.001, false


def test_a_judge_that_became_lenient_is_named(bank):
    rng = np.random.default_rng(2)
    (note,) = said(bank, labelled(rng, 15), labelled(rng, 4, shift=2.5))
    assert note.startswith("c is more lenient against the others than in the calibration: by ")


def test_a_judge_among_fewer_others_is_not_said_to_have_become_stricter(bank):
    """The third judge is lenient, in the calibration and since, and labels no new system: the others are the same."""
    rng = np.random.default_rng(3)
    odds = 2 * rng.normal(size=(30, RUBRICS, 1)) + [0.0, 0.0, 2.0]
    old, new = np.split((rng.random(odds.shape) < 1 / (1 + np.exp(-odds))).astype(float), 2)
    fit = replace(bank, panel=panel_record(JUDGES, old, LEVELS))
    rest = new[:, :, :2]
    labels = labels_on_bank(tuple(f"n{i}" for i in range(15)), rest[:, :, 0], JUDGES[:2], rest)
    assert not [note for note in panel_notes(fit, labels) if "than in the calibration" in note]


def judged(rng: np.random.Generator, systems: int, errors: list[float]) -> np.ndarray:
    """(systems, RUBRICS, 3) labels of judges with these shares of wrong ones."""
    truth = rng.random((systems, RUBRICS, 1)) < 0.5
    return (truth != (rng.random((systems, RUBRICS, 3)) < errors)).astype(float)


def agreement_notes(
    bank: BankScale, record: PanelRecord, new: np.ndarray, judges: tuple[str, ...]
) -> list[str]:
    labels = labels_on_bank(tuple(f"n{i}" for i in range(len(new))), new[:, :, 0], judges, new)
    return [note for note in panel_notes(replace(bank, panel=record), labels) if "judges agree" in note]


@pytest.mark.parametrize("absent", ["all", "most", "none"])
def test_without_the_careless_judge_the_others_are_not_said_to_agree_more(bank, absent):
    """The pairs of judges who labelled are compared with the same pairs, as often as they did."""
    rng = np.random.default_rng(4)
    old, new = judged(rng, 15, [0.05, 0.05, 0.25]), judged(rng, 10, [0.05, 0.05, 0.25])
    record = panel_record(JUDGES, old, LEVELS)
    if absent == "most":
        new[2:, :, 2] = np.nan
    here = 2 if absent == "all" else 3
    assert agreement_notes(bank, record, new[:, :, :here], JUDGES[:here]) == []
    other = judged(rng, 10, [0.05, 0.3, 0.25])[:, :, :here]
    (note,) = agreement_notes(bank, record, other, JUDGES[:here])
    assert note.startswith("The judges agree less on the new labels than on the calibration's: by ")


def test_an_older_bank_that_has_all_pairs_together_is_compared_only_where_all_its_judges_are(bank):
    rng = np.random.default_rng(5)
    old = replace(panel_record(JUDGES, judged(rng, 15, [0.05, 0.05, 0.25]), LEVELS), by_pair=None)
    new = judged(rng, 10, [0.3, 0.3, 0.3])
    assert agreement_notes(bank, old, new[:, :, :2], JUDGES[:2]) == []
    (note,) = agreement_notes(bank, old, new, JUDGES)
    assert "; some of it is expected, because the bank's rubrics were kept for their agreement there." in note


def test_agreement_that_rubrics_were_kept_for_is_expected_to_be_lower_on_further_systems():
    """Of 40 tables of rubrics that are not equally clear the half with most agreement is kept."""
    rng, apart = np.random.default_rng(6), []
    for _ in range(40):
        truth, wrong = rng.random((30, 200, 1)) < 0.5, rng.beta(2, 12, (1, 200, 1))
        panel = (truth != (rng.random((30, 200, 3)) < wrong)).astype(float)
        old, new = (
            panel_record(JUDGES, part, np.full(200, 2)).agreement for part in (panel[:15], panel[15:])
        )
        kept, expected = old > np.median(old), expected_agreement(panel[:15])
        apart.append([(found - new)[kept].mean() for found in (old, expected)])
    raw, regressed = np.mean(apart, axis=0)
    assert raw > 0.02
    assert abs(regressed) < 0.005


def test_what_the_choice_of_rubrics_explains_is_no_change_of_the_judges(bank):
    """Of 240 rubrics the 60 with most agreement make the bank; forty new systems, the same judges."""
    rng, told = np.random.default_rng(7), []
    for errors in ([0.1, 0.1, 0.1], [0.1, 0.1, 0.3]):
        old = np.concatenate([judged(rng, 40, [0.1, 0.1, 0.1]) for _ in range(4)], axis=1)
        best = np.argsort(-panel_record(JUDGES, old, np.full(240, 2)).agreement)[:RUBRICS]
        record = panel_record(JUDGES, old[:, best], LEVELS)
        new = judged(rng, 40, errors)
        chosen = replace(record, expected=expected_agreement(old)[best])
        told.append([len(agreement_notes(bank, each, new, JUDGES)) for each in (record, chosen)])
    assert told == [[1, 0], [1, 1]]


def test_the_variance_is_that_of_queries_and_of_other_systems():
    rng = np.random.default_rng(1)
    new, old, query = rng.normal(0.3, 1, 60), rng.normal(0, 1, 60), rng.integers(0, 9, 60)
    mean, se, n = naive_mean_difference(new, old, query)
    found = drift(new, old, query, (0.2, 2, 5))
    assert (found.difference, found.n) == (pytest.approx(mean), n)
    assert found.p_value == pytest.approx(2 * t.sf(abs(mean) / np.hypot(se, 0.2 * np.sqrt(1 / 2 + 1 / 5)), 4))
    assert drift(new, old, query, (np.nan, 2, 5)) is None


@pytest.mark.parametrize("step", [0.5, 0.4])
def test_a_difference_that_is_the_same_on_each_query_is_tested_by_its_sign(step):
    """Its variance is 0, or rounding: five queries had p = 0."""
    old = np.linspace(0, 1, 5)
    assert drift(old - step, old, np.arange(5)).p_value == pytest.approx(2.0**-4)


def test_a_record_has_the_spread_of_the_systems_own_means():
    panel = labelled(np.random.default_rng(3), 6)
    found = panel_record(JUDGES, panel, LEVELS)
    means = panel.mean(axis=1)
    off = means[:, 0] - means[:, 1:].mean(axis=1)
    assert found.leniency_sd[0] == pytest.approx(off.std(ddof=1))
    equal = np.mean([panel[..., i] == panel[..., k] for i, k in ((0, 1), (0, 2), (1, 2))], axis=(0, 2))
    assert found.agreement_sd == pytest.approx(equal.std(ddof=1))
    assert np.isnan(panel_record(JUDGES, panel[:1], LEVELS).leniency_sd).all()


def test_the_file_keeps_the_record_and_an_older_file_has_no_spread(analysis):
    bank = analysis[1]
    back = read_bank_bytes(bank_bytes(bank), "bank.json")
    assert isinstance(back.panel, PanelRecord)
    assert back.panel.systems == 9
    np.testing.assert_allclose(back.panel.leniency_sd, bank.panel.leniency_sd)
    np.testing.assert_allclose(back.panel.expected, bank.panel.expected)
    for kept in ("equal", "pairs", "sd"):
        np.testing.assert_allclose(getattr(back.panel.by_pair, kept), getattr(bank.panel.by_pair, kept))
    np.testing.assert_allclose(back.person_fit, bank.person_fit)


def test_person_fit_of_the_banks_systems_is_that_of_new_ones(analysis):
    bank = analysis[1]
    y = bank.y
    new = []
    for i in range(len(y)):
        fit = fit_irt(np.delete(y, i, axis=0))
        new.append(person_fit(fit, y[i], estimate_abilities(fit, y[[i]]).theta[0]))
    assert np.abs(bank.person_fit - new).mean() < 0.3
    own = [
        person_fit(bank.fit, row, at)
        for row, at in zip(y, estimate_abilities(bank.fit, y).theta, strict=True)
    ]
    assert np.mean(bank.person_fit) < np.mean(own), "parameters that the labels chose fit them better"


@pytest.mark.parametrize(
    ("model", "calibration", "judges", "side"),
    [("GRM", 3, 2, "low"), ("GRM", 2, 3, "high"), ("GRM", 3, 1, ""), ("GRM", 2, 2, ""), ("2PL", 3, 2, "")],
)
def test_the_lower_of_two_middle_levels_on_one_side_alone_is_told(bank, model, calibration, judges, side):
    bank = replace(bank, settings=Settings(model=model), judges=JUDGES[:calibration], panel=None)
    panel = np.ones((2, RUBRICS, judges))
    notes = panel_notes(bank, labels_on_bank(("m", "n"), panel[:, :, 0], JUDGES[:judges], panel))
    said = [note for note in notes if "even number" in note]
    assert len(said) == bool(side)
    assert all(note.endswith(f"the ability is probably too {side}.") for note in said)


@pytest.mark.parametrize(("judges", "told"), [(3, False), (2, True), (1, True)])
def test_a_panel_of_fewer_judges_is_told(bank, judges, told):
    panel = np.ones((2, RUBRICS, judges))
    bank = replace(bank, panel=None)
    notes = panel_notes(bank, labels_on_bank(("m", "n"), panel[:, :, 0], JUDGES[:judges], panel))
    assert (
        any(
            note.startswith(f"Only {judges} of the bank's 3 judges labelled it: the consensus of fewer")
            for note in notes
        )
        is told
    )
