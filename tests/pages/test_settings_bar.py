"""Every setting of an analysis can be reached on a page, with a line of help, and is kept in the URL."""

from __future__ import annotations

from pathlib import Path

import pytest

from crubric_core import Priors, Settings
from tests.pages.conftest import Open
from tests.pages.test_pages import first_line

PRIORS = {"log_a_sd", "b_sd", "c_prior"}
ELSEWHERE = {"priors", "rules"}  # three fields of their own; the rules have a view of the task types page
CHANGED = {
    "tau_c": 0.6,
    "budget": 17,
    "tau_t": 0.9,
    "model": "GRM",
    "quadrature": "grid",
    "strategy": "random",
    "gate": "agreement",
    "agreement": "pairwise",
    "prior": "fixed",
    "basis": "bank",
    "population": "rubrics",
    "cross_fitted": False,
    "simultaneous": False,
    "tie": "fail",
    "consensus": "dawid_skene",
    "agreement_tolerance": 1,
    "alpha": 2.0,
    "beta": 0.5,
    "clip": False,
    "bootstrap": "plain",
    "replicates": 20,
    "confidence": 0.9,
    "tier_rule": "adjacent",
    "holm": True,
    "seed": 5,
}


def url(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def widgets(app):
    kinds = ("slider", "selectbox", "number_input", "checkbox")
    return {w.key: w for kind in kinds for w in getattr(app, kind) if w.key}


def test_every_setting_has_its_widget_and_its_line_of_help(open_page: Open, study: Path) -> None:
    found = widgets(open_page("bank", study))
    settings = set(Settings.names()) - ELSEWHERE
    assert settings == set(CHANGED), "a new setting needs a widget"
    assert settings | PRIORS <= set(found)
    assert [name for name in settings if not found[name].help] == []


def test_the_widgets_start_at_the_defaults(open_page: Open, study: Path) -> None:
    found = widgets(open_page("leaderboard", study))
    for name in set(CHANGED) - {"budget", "tau_c"}:
        assert found[name].value == getattr(Settings(), name), name


@pytest.mark.parametrize("name", sorted(CHANGED))
def test_every_setting_can_come_from_the_url(
    open_page: Open, study: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    monkeypatch.setattr("crubric_core.ui.page.with_rules", lambda ds, chosen: seen.append(chosen) or chosen)
    app = open_page("task_types" if name == "tau_t" else "bank", study, **{name: url(CHANGED[name])})
    assert not app.exception
    assert getattr(seen[-1], name) == CHANGED[name]


def test_a_prior_of_no_width_is_none(open_page: Open, study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    monkeypatch.setattr("crubric_core.ui.page.with_rules", lambda ds, chosen: seen.append(chosen) or chosen)
    app = open_page("bank", study)
    assert seen[-1].priors == Priors()
    app.number_input(key="log_a_sd").set_value(0.0)
    app.number_input(key="b_sd").set_value(0.0)
    app.checkbox(key="c_prior").uncheck().run()
    assert seen[-1].priors == Priors.flat()
    assert not app.exception


def test_other_settings_give_other_answers(open_page: Open, study: Path) -> None:
    app = open_page("measurability", study, tau_c="0.8")
    before = first_line(app)
    app.number_input(key="beta").set_value(9.0).run()
    assert first_line(app) != before
