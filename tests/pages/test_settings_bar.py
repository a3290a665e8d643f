"""Every setting of an analysis can be reached on a page, with a line of help, and is kept in the URL."""

from __future__ import annotations

import json
import re
import shutil
from itertools import pairwise
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from crubric_core import Priors, Settings, Workspace
from crubric_core.analysis.fitted import with_rules
from crubric_core.analysis.stages import Analysis
from crubric_core.demo import simulate
from crubric_core.settings import PRESETS
from crubric_core.ui import loaders, settings_bar, state
from crubric_core.ui.loaders import PAGES
from crubric_core.ui.settings_address import read_settings, spelled
from crubric_core.ui.settings_bar import budget_steps
from tests.pages.conftest import HOSTILE, Open, size_box, size_slider
from tests.pages.test_leaderboard import words
from tests.pages.test_pages import first_line
from tests.tiers import at_most

PRIORS = {"log_a_sd", "b_sd", "c_prior"}
# Priors are three fields of their own; rules have a view of the task types page, a composition one of the bank page.
ELSEWHERE = {"priors", "rules", "composition"}
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
    return {re.sub(r" to \d+$", "", w.key): w for kind in kinds for w in getattr(app, kind) if w.key}


def test_every_setting_has_its_widget_and_its_line_of_help(open_page: Open, study: Path) -> None:
    found = widgets(open_page("bank", study))
    settings = set(Settings.names()) - ELSEWHERE
    assert settings == set(CHANGED), "a new setting needs a widget"
    assert settings | PRIORS <= set(found)
    assert [name for name in settings if not found[name].help] == []


def test_the_box_of_the_bank_size_has_no_second_title_beside_its_slider(open_page: Open, study: Path) -> None:
    box = size_box(open_page("bank", study))
    assert box.label == "Bank size B, exact", "for those who cannot see that it is beside the slider"
    assert box.proto.label_visibility.value == box.proto.label_visibility.COLLAPSED


def test_a_closed_button_sends_none_of_what_is_behind_it(open_page: Open, study: Path) -> None:
    app = open_page("bank", study, settings_open=False, strategy="greedy")
    assert {"tau_c", "budget"} <= set(widgets(app))
    assert not set(widgets(app)) & {"strategy", "model", "seed", "c_prior"}
    app.session_state[settings_bar.OPEN] = True
    assert widgets(app.run())["strategy"].value == "greedy"


def test_the_widgets_start_at_the_defaults(open_page: Open, study: Path) -> None:
    found = widgets(open_page("leaderboard", study))
    for name in set(CHANGED) - {"budget", "tau_c"}:
        assert found[name].value == getattr(Settings(), name), name


# Some go together, to open fewer pages; each alone in the thorough tier.
TOGETHER = [sorted(CHANGED.keys() - {"tau_t"})[n :: at_most(6, 24)] for n in range(at_most(6, 24))] + [
    ["tau_t"]
]


@pytest.mark.parametrize("names", TOGETHER, ids="-".join)
def test_every_setting_can_come_from_the_url(
    open_page: Open, study: Path, names: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    monkeypatch.setattr("crubric_core.ui.page.with_rules", lambda ds, chosen: seen.append(chosen) or chosen)
    address = {name: url(CHANGED[name]) for name in names}
    app = open_page("task_types" if names == ["tau_t"] else "bank", study, **address)
    assert not app.exception
    assert {name: getattr(seen[-1], name) for name in names} == {name: CHANGED[name] for name in names}


def test_a_value_beyond_what_a_page_offers_is_shown_as_it_counts(open_page: Open, study: Path) -> None:
    app = open_page("bank", study, replicates=20_000, alpha=2000, beta=0.001, agreement_tolerance=25)
    found = widgets(app)
    assert not app.exception
    assert [found[name].value for name in ("replicates", "alpha", "beta", "agreement_tolerance")] == [
        20_000,
        2000,
        0.001,
        25,
    ]


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


def test_a_preset_sets_all_of_its_settings_and_is_part_of_the_address(open_page: Open, study: Path) -> None:
    app = open_page("bank", study, budget="17")
    app.segmented_control(key="preset choice").set_value("paper").run()
    assert not app.exception
    found = widgets(app)
    paper = Settings.preset("paper")
    for name in PRESETS["paper"]:
        assert found[name].value == getattr(paper, name), name
    assert found["budget"].value == 17
    assert (app.query_params["preset"], app.query_params["budget"]) == ("paper", "17")


def test_where_no_preset_is_lit_the_nearest_is_named(open_page: Open, study: Path) -> None:
    app = open_page("bank", study)
    assert (app.segmented_control(key="preset choice").value, method(app)) == ("robust", "Method")
    app.slider(key="tau_c").set_value(0.4).run()
    assert (app.segmented_control(key="preset choice").value, method(app)) == (
        None,
        "Method: Robust, changed",
    )
    app.segmented_control(key="preset choice").set_value("paper").run()
    assert (app.segmented_control(key="preset choice").value, method(app)) == ("paper", "Method")
    app.slider(key="tau_c").set_value(0.4).run()
    assert method(app) == "Method: As in the paper, changed"


def method(app: AppTest) -> str:
    return str(app.segmented_control(key="preset choice").label)


@pytest.mark.parametrize(
    ("given", "shown"), [("0.6000000001", "%.2f"), ("0.29", "%.2f"), ("0.655", "%.3f"), ("0.6549", "%.4f")]
)
def test_a_threshold_has_as_many_digits_as_it_needs(
    open_page: Open, study: Path, given: str, shown: str
) -> None:
    assert open_page("measurability", study, tau_c=given).slider(key="tau_c").proto.format == shown


def test_a_move_counts_although_its_message_carries_an_address_and_a_preset_of_before(
    open_page: Open, study: Path
) -> None:
    """On quick moves the browser sends what it showed when the last move was made."""
    app = open_page("measurability", study)
    before, preset = dict(app.query_params), app.segmented_control(key="preset choice").value
    app.slider(key="tau_c").set_value(0.4).run()
    assert app.segmented_control(key="preset choice").value is None
    app.query_params.clear()
    app.query_params.update(before)
    app.slider(key="tau_c").set_value(0.39)
    app.segmented_control(key="preset choice").set_value(preset).run()
    assert "τ_c = 0.39" in first_line(app)
    assert app.query_params["tau_c"] == "0.39"
    app.query_params.clear()
    app.query_params.update(before)
    assert "τ_c = 0.39" in first_line(app.run())
    assert app.query_params["tau_c"] == "0.39"


def test_a_threshold_of_kappa_below_0_counts_and_stays_in_the_address(open_page: Open, study: Path) -> None:
    app = open_page("measurability", study)
    app.slider(key="tau_c").set_value(-0.3).run()
    assert "τ_c = −0.30" in first_line(app)
    again = open_page("measurability", study, **dict(app.query_params))
    assert first_line(again) == first_line(app)


def test_a_threshold_is_not_told_the_value_that_it_shows(open_page: Open, study: Path) -> None:
    """It would go back from where it was moved meanwhile; one with another scale is a new one and is told."""
    app = open_page("measurability", study)
    assert app.slider(key="tau_c").proto.set_value
    app.slider(key="tau_c").set_value(0.4).run()
    assert not app.slider(key="tau_c").proto.set_value
    app.segmented_control(key="preset choice").set_value("robust").run()
    assert app.slider(key="tau_c").proto.set_value
    app.selectbox(key="gate").set_value("agreement").run()
    assert app.slider(key="tau_c").proto.set_value


def test_sliders_stand_on_the_next_page_where_they_stood(open_page: Open, study: Path) -> None:
    """They are others there, with the same names."""
    app = open_page("bank", study, tau_c="0.4", budget="17")
    app = app.switch_page(str(PAGES / "leaderboard.py")).run()
    for slider, at in ((app.slider(key="tau_c"), 0.4), (size_slider(app), 17)):
        assert (slider.value, slider.proto.set_value) == (at, True)
    assert size_box(app).proto.set_value


def test_claims_can_be_made_to_hold_for_domains_and_the_sentence_follows(
    open_page: Open, study: Path
) -> None:
    app = open_page("leaderboard", study)
    assert "the claims hold for queries like these." in words(app)
    population = app.selectbox(key="population")
    assert population.options == ["queries", "domains", "rubrics"]
    assert "the queries of one domain count as one" in population.help
    population.set_value("domains").run()
    assert not app.exception
    assert "The evidence is 6 domains: the claims hold for domains like these." in words(app)
    assert app.query_params["population"] == "domains"


def test_an_address_alone_gives_the_settings_that_it_was_written_from(open_page: Open, study: Path) -> None:
    first = open_page("bank", study, preset="paper", tau_c="0.7", model="1PL")
    again = open_page("bank", study, **{name: str(value) for name, value in first.query_params.items()})
    assert first_line(again) == first_line(first)
    assert again.selectbox(key="strategy").value == "greedy"


def test_a_threshold_in_the_address_alone_is_one_of_the_paper_s_gate(open_page: Open, study: Path) -> None:
    app = open_page("bank", study, tau_c="0.7")
    assert (app.selectbox(key="gate").value, app.selectbox(key="prior").value) == ("agreement", "fixed")


def test_a_threshold_between_two_steps_of_the_slider_is_the_one_that_counts(
    open_page: Open, study: Path
) -> None:
    app = open_page("measurability", study, tau_c="0.415")
    shown = app.slider(key="tau_c")
    assert (shown.value, shown.proto.format) == (0.415, "%.3f")
    assert app.query_params["tau_c"] == "0.415"
    assert open_page("measurability", study, tau_c="0.41").slider(key="tau_c").proto.format == "%.2f"


def test_another_statistic_drops_its_lowest_quarter_until_its_threshold_is_moved(
    open_page: Open, study: Path
) -> None:
    app = open_page("measurability", study)
    app.slider(key="tau_c").set_value(0.3).run()
    assert "τ_c = 0.30" in first_line(app)
    app.selectbox(key="gate").set_value("agreement").run()
    assert "lowest quarter" in first_line(app)
    assert "tau_c" not in app.query_params
    assert app.query_params["gate"] == "agreement"


@pytest.fixture
def two_studies(tmp_path: Path) -> Path:
    """A workspace with the datasets ``one`` and ``two``."""
    with Workspace(tmp_path / "two.duckdb") as workspace:
        for name, seed in (("one", 1), ("two", 2)):
            labels = simulate(seed=seed, systems=6, queries=6, pool=(6, 9)).labels
            workspace.ingest(labels.to_csv(index=False).encode(), name)
    return tmp_path / "two.duckdb"


def test_the_chosen_dataset_is_kept_and_part_of_the_address(open_page: Open, two_studies: Path) -> None:
    app = open_page("overview", two_studies)
    other = next(name for name in ("one", "two") if name != app.selectbox(key="dataset").value)
    app.selectbox(key="dataset").set_value(other).run()
    assert app.selectbox(key="dataset").value == other
    assert app.query_params["dataset"] == other
    app.run()
    assert app.selectbox(key="dataset").value == other


@pytest.mark.parametrize(("page", "box"), [("leaderboard", "find"), ("bank", "search")])
def test_what_was_searched_in_one_dataset_is_not_searched_in_another(
    open_page: Open, two_studies: Path, page: str, box: str
) -> None:
    app = open_page(page, two_studies, dataset="one")
    app.text_input(key=box).set_value("no such name").run()
    assert app.query_params[box] == "no such name"
    app.selectbox(key="dataset").set_value("two").run()
    assert not app.exception
    assert app.text_input(key=box).value == ""
    assert box not in app.query_params


def test_what_was_chosen_or_written_for_one_dataset_is_gone_for_another(
    open_page: Open, two_studies: Path
) -> None:
    with Workspace(two_studies) as workspace:
        workspace.duplicate("one", "again")
    app = open_page("publish", two_studies, dataset="one")
    app.text_input(key="publish title").set_value("Results of one").run()
    app.selectbox(key="dataset").set_value("two").run()
    assert app.text_input(key="publish title").value == ""
    app = open_page("leaderboard", two_studies, dataset="one", confidence="0.5")
    tiers = next(m for m in app.multiselect if m.key == "tiers")
    tiers.set_value([tiers.options[0]]).run()
    assert " of 6 systems shown" in " ".join(c.value for c in app.caption)
    app.selectbox(key="dataset").set_value("again").run()
    assert not app.exception
    assert " of 6 systems shown" not in " ".join(c.value for c in app.caption)


def test_an_address_whose_threshold_is_none_of_its_gate_keeps_the_rest() -> None:
    found = read_settings({"gate": "agreement", "tau_c": "-0.2", "budget": "50", "log_a_sd": "0.3"})
    assert (found.gate, found.tau_c, found.budget, found.priors.log_a_sd) == ("agreement", None, 50, 0.3)
    assert read_settings(spelled(Settings(tau_c=0.12345678))).tau_c == 0.12345678


def test_the_slider_of_the_bank_size_is_logarithmic_and_can_stand_at_every_size() -> None:
    steps = budget_steps(4052, 4052, 17)
    assert (steps[0], steps[-1]) == (1, 4052)
    assert 17 in steps
    assert len(steps) <= 61
    wide = [b / a for a, b in pairwise(steps) if a > 20]
    assert max(wide) < 1.2, "each step is a similar share"
    assert budget_steps(2, 2, 2) == [1, 2]


def test_the_steps_of_the_bank_size_end_at_the_candidates_and_are_the_same_behind_each_threshold() -> None:
    every, fewer = budget_steps(4052, 4052), budget_steps(4052, 100, 17, 300)
    assert fewer[-1] == 100
    assert set(fewer) - set(every) <= {17, 100}


def most_of(app: AppTest) -> int:
    return int(size_slider(app).options[-1])


def test_the_slider_of_the_bank_size_ends_at_the_rubrics_that_pass_and_vary(
    open_page: Open, study: Path
) -> None:
    app = open_page("bank", study, gate="agreement", tau_c="0.6", budget="90")
    with Workspace(study) as workspace:
        data = workspace.dataset("small")
        asked = with_rules(data, Settings(gate="agreement", tau_c=0.6))
        found = Analysis(dataset=data, fingerprint=data.fingerprint, settings=asked)
        assert most_of(app) == int(found.pool.sum()) < len(found.given().rubrics)
    strict = most_of(app.slider(key="tau_c").set_value(0.8).run())
    assert 0 < strict < 90
    assert size_box(app).value == strict, "no larger bank can be chosen"
    assert app.query_params["budget"] == "90", "the choice is kept for a lower threshold"
    none = open_page("bank", study, gate="agreement", tau_c="1.0", budget="17")
    assert size_box(none).value == 17, "no rubric passes: nothing is said of the size"


def test_the_slider_and_the_box_of_the_bank_size_are_one_setting(open_page: Open, study: Path) -> None:
    app = open_page("bank", study, budget="17")
    assert size_box(app).value == 17
    assert size_box(app).proto.default == 17, "what the browser shows first"
    slider = size_slider(app)
    assert slider.value == 17
    smaller = max(size for size in map(int, slider.options) if size < 17)
    slider.set_value(smaller).run()
    assert not app.exception
    assert size_box(app).value == smaller
    assert app.query_params["budget"] == str(smaller)


def test_large_sizes_are_written_with_a_separator_and_chosen_as_numbers(
    open_page: Open, tmp_path: Path
) -> None:
    with Workspace(tmp_path / "large.duckdb") as workspace:
        labels = simulate(seed=1, systems=6, queries=40, judges=2, pool=(40, 44)).labels
        workspace.ingest(labels.to_csv(index=False).encode(), "large")
    app = open_page("measurability", tmp_path / "large.duckdb", gate="agreement", tau_c="0.0", budget="1000")
    assert not app.exception
    slider = size_slider(app)
    assert slider.value == 1000
    assert "1,000" in slider.options
    largest = int(slider.options[-1].replace(",", ""))
    assert slider.options[-1] == f"{largest:,}" != str(largest)
    slider.set_value(largest).run()
    assert not app.exception
    assert size_box(app).value == largest
    assert app.query_params["budget"] == str(largest)


@pytest.mark.parametrize(("typed", "taken"), [(99_999, "most"), (0, 1), (-3, 1)])
def test_a_size_out_of_range_becomes_the_nearest_that_is_allowed(
    open_page: Open, study: Path, typed: int, taken: int | str
) -> None:
    app = open_page("bank", study, budget="17")
    most = int(size_slider(app).options[-1])
    size_box(app).set_value(typed).run()
    assert not app.exception
    wanted = most if taken == "most" else taken
    assert size_box(app).value == wanted
    assert size_box(app).proto.set_value, "the box would keep what was typed"
    assert app.query_params["budget"] == str(wanted)


def test_a_size_typed_before_the_browser_drew_the_last_one_is_taken(open_page: Open, study: Path) -> None:
    """The message names a step of the slider that is between those on its scale, and was shown before."""
    app = open_page("bank", study, budget="17")
    size_box(app).set_value(23).run()
    size_box(app).set_value(29)
    size_slider(app).set_value(17).run()
    assert not app.exception
    assert app.query_params["budget"] == "29"


@pytest.mark.parametrize(
    ("seen", "shown", "slider", "box", "taken"),
    [
        (120, (120,), 111, 120, 111),
        (120, (120,), 120, 36, 36),
        (120, (120, 111), 102, 120, 102),  # the box is as it was before the browser drew the last run
        (120, (120, 111), 120, 97, 97),  # so is the slider
        (111, (120, 111), 102, 120, 102),  # the address was drawn, the box not
        (111, (120, 111), 120, 111, 120),  # somebody went back to what was shown before
        (120, (120, 111), 111, 120, 111),  # the same move twice: the box is the old one
        (120, (120, 111), 120, 120, 120),  # back before the browser drew the last run
        (120, (120,), 111, None, 111),  # the last run ended before the box was made
        (120, (120,), None, None, 120),
    ],
)
def test_of_slider_and_box_counts_the_one_that_somebody_moved(monkeypatch, seen, shown, slider, box, taken):
    both = {"budget slider to 500": slider, "budget to 500": box}
    session = {settings_bar._SHOWN: shown, **{name: value for name, value in both.items() if value}}
    monkeypatch.setattr(settings_bar.st, "session_state", session)
    held = [Settings(budget=shown[-1])]
    monkeypatch.setattr(settings_bar, "held", lambda: held[-1])
    monkeypatch.setattr(settings_bar, "address_settings", lambda: Settings(budget=seen))
    monkeypatch.setattr(settings_bar, "hold_settings", held.append)
    monkeypatch.setattr(settings_bar, "redraw", lambda *asked: None)
    settings_bar._budget_moved(500)
    assert held[-1].budget == taken


@pytest.mark.parametrize(("is_own", "taken"), [(False, 77), (True, 120)])
def test_a_click_elsewhere_that_repeats_what_slider_and_box_said_is_no_move(monkeypatch, is_own, taken):
    """The address was drawn, the slider not. The same from the slider itself: somebody went back."""
    session = {settings_bar._SHOWN: (120,), "budget slider to 500": 120, "budget to 500": 77}
    monkeypatch.setattr(settings_bar.st, "session_state", session)
    held, seen = [Settings(budget=120)], [120]
    monkeypatch.setattr(settings_bar, "held", lambda: held[-1])
    monkeypatch.setattr(settings_bar, "address_settings", lambda: Settings(budget=seen[-1]))
    monkeypatch.setattr(settings_bar, "hold_settings", held.append)
    monkeypatch.setattr(settings_bar, "redraw", lambda *asked: None)
    monkeypatch.setattr(settings_bar, "is_from_own_fragment", lambda: is_own)
    settings_bar._budget_moved(500)
    assert held[-1].budget == 77
    session[settings_bar._SHOWN] = (120, 77)
    seen.append(77)
    settings_bar._budget_moved(500)
    assert held[-1].budget == taken


class Address(dict[str, str]):
    """An address of which the browser is told at every change."""

    told: dict[str, str]

    def update(self, values: dict[str, str]) -> None:
        super().update(values)
        self.told = dict(self)

    def pop(self, name: str) -> None:
        super().pop(name)
        self.told = dict(self)


@pytest.mark.parametrize(
    ("first", "then", "stale"),
    [
        ({"budget": "69"}, {"budget": "79"}, {"budget": "79"}),
        ({"budget": "69"}, {"budget": None}, {}),
        ({"budget": None}, {"budget": "79"}, {"budget": "79"}),
    ],
)
def test_an_address_older_than_the_last_one_told_is_told_again(monkeypatch, first, then, stale):
    """Its message was sent before the browser had drawn the last run; without a change nothing is told twice."""
    address = Address(dataset="d", budget="100")
    monkeypatch.setattr(state.st, "session_state", {})
    monkeypatch.setattr(state.st, "query_params", address)
    for values in (first, then):
        state._write({"dataset": "d", **values})
        assert address.told == {n: v for n, v in {"dataset": "d", **values}.items() if v is not None}
        address.clear()
        address |= {"dataset": "d", **stale}
    address.clear()
    address |= {n: v for n, v in {"dataset": "d", **then}.items() if v is not None}
    del address.told
    state._write({"dataset": "d", **then})
    assert not hasattr(address, "told")


def test_on_items_a_move_of_the_bank_size_sends_what_shows_the_bank_and_nothing_else(open_page, study):
    app = open_page("items", study, settings_open=False)
    size_box(app).set_value(7).run()
    assert not app.exception
    assert ["Wright" in chart.proto.id for chart in app.get("plotly_chart")] == [True]
    assert app.dataframe[0].value["in_bank"].sum() == 7
    assert size_slider(app).value == 7
    assert app.query_params["budget"] == "7"
    assert not app.title


def test_on_items_a_move_that_changes_which_rubrics_are_listed_draws_their_curves_too(open_page, study):
    app = open_page("items", study, settings_open=False, items="in the bank")
    size_box(app).set_value(7).run()
    assert len(app.get("plotly_chart")) == 4
    assert len(app.dataframe[0].value) == 7


@pytest.mark.parametrize(("to", "title"), [(0.51, []), (1.0, ["Items · small"])])
def test_on_items_a_threshold_that_nothing_passes_draws_the_page_that_says_so(open_page, study, to, title):
    app = open_page("items", study, settings_open=False, tau_c="0.5", gate="agreement")
    app.slider(key="tau_c").set_value(to).run()
    assert not app.exception
    assert [shown.value for shown in app.title] == title
    assert ["No rubric passes" in shown.value for shown in app.header] == [True] * len(title)


@pytest.mark.parametrize("asked", [{}, {"preset": "paper"}, {"gate": "agreement"}])
def test_on_items_a_move_that_changes_the_settings_bar_too_draws_the_page(open_page, study, asked):
    app = open_page("items", study, settings_open=False, **asked)
    shown = app.slider(key="tau_c")
    label, preset = shown.label, app.session_state["preset choice"]
    app = shown.set_value(0.33).run()
    assert app.title[0].value == "Items · small"
    assert (app.slider(key="tau_c").label, app.session_state["preset choice"]) != (label, preset)


def test_on_items_a_dataset_that_changed_meanwhile_draws_the_page(open_page, study, tmp_path):
    app = open_page("items", Path(shutil.copy(study, tmp_path)), settings_open=False)
    more = b"system,query,rubric,judge,label\nnewcomer,q1,r1,j1,1\n"
    loaders.workspace().ingest(more, "small", format="csv")
    loaders.datasets_changed()
    size_box(app).set_value(7).run()
    assert not app.exception
    assert app.title[0].value == "Items · small"


@pytest.mark.parametrize(
    ("page", "key", "value"),
    [
        ("measurability", "tau_c", 0.45),
        *((page, *move) for page in ("bank", "leaderboard") for move in (("budget", 7), ("tau_c", 0.45))),
    ],
)
def test_a_move_of_what_parts_of_a_page_read_sends_what_the_whole_page_would(
    open_page, study, page, key, value
):
    asked = {"tau_c": "0.4", "budget": "12", "part": "Queries", "basis": "bank"}
    app = open_page(page, study, settings_open=False, **asked)
    whole = open_page(page, study, settings_open=False, **{**asked, key: value})
    (app.slider(key="tau_c") if key == "tau_c" else size_box(app)).set_value(value).run()
    assert not app.exception
    assert not app.title
    assert [shown.value for shown in app.header] == [shown.value for shown in whole.header]
    assert [shown.value for shown in app.metric] == [shown.value for shown in whole.metric]
    assert charts(app) == charts(whole) != []
    assert app.dataframe[0].value.equals(whole.dataframe[0].value)


def charts(app):
    """In no order of theirs: parts of a page are sent as they are done."""
    return sorted(shown.proto.spec for shown in app.get("plotly_chart"))


def test_on_the_bank_page_a_size_that_cannot_be_composed_draws_the_page_that_says_so(open_page, study):
    asked = json.dumps({"limits": [{"by": "query", "at_least": 2}]})
    app = open_page("bank", study, settings_open=False, budget="60", composition=asked)
    assert not app.error
    size_box(app).set_value(2).run()
    assert app.title[0].value == "Bank · small"
    assert [shown.value for shown in app.header] == ["No bank meets all these conditions\\."]


def test_a_page_without_parts_is_drawn_whole(open_page, study):
    app = open_page("measurability", study, settings_open=False)
    size_box(app).set_value(7).run()
    assert app.title[0].value == "Measurability · small"


@pytest.mark.parametrize(
    ("page", "asked", "named"),
    [
        ("bank", {"tau_c": "7"}, "tau_c=7"),
        ("bank", {"tau_c": "-0.5", "gate": "agreement"}, "tau_c=-0.5"),
        ("bank", {"tau_c": "abc", "budget": "-3", "gate": "foo"}, "tau_c=abc, budget=-3, gate=foo"),
        ("bank", {"budget": "100000"}, " in its place)"),
        ("bank", {"composition": "{bad"}, "composition={bad"),
        ("measurability", {"view": "Nope"}, "view=Nope"),
        ("items", {"view": "Nope"}, "view=Nope"),
        ("bank", {"part": "Nope"}, "part=Nope"),
        ("leaderboard", {"basis": "bank", "beside": "maybe"}, "beside=maybe"),
        ("leaderboard", {"tiers": "9"}, "tiers=9"),
        ("leaderboard", {"more": "Nope"}, "more=Nope"),
        ("new_system", {"source": "held-out system", "held_out": "Nope"}, "held_out=Nope"),
        ("leaderboard", {"domain": "zzz", "budgte": "9"}, "domain=zzz, budgte=9"),
        ("leaderboard", {"versus": HOSTILE}, f"versus={HOSTILE[:10]}"),
        ("data", {"dataset": "small", "budgte": "9", "tau_c": "7"}, "budgte=9, tau_c=7"),
    ],
)
def test_what_of_the_address_is_ignored_is_named_once(
    open_page: Open, study: Path, page: str, asked: dict[str, str], named: str
) -> None:
    app = open_page(page, study, settings_open=False, **asked)
    assert not app.exception
    (said,) = (re.sub(r"\\(.)", r"\1", w.value) for w in app.warning if "Ignored in the address" in w.value)
    assert named.split(", ")[0] in said
    assert all(each in said for each in named.split(", "))
    app.run()
    assert not any("Ignored in the address" in warning.value for warning in app.warning)


def test_what_is_ignored_is_named_on_the_page_that_is_opened_though_its_dataset_is_gone(
    open_page: Open, study: Path
) -> None:
    app = open_page("bank", study, settings_open=False, dataset="gone", budgte="9")
    assert [w.value.replace("\\", "") for w in app.warning] == [
        "Ignored in the address, as there is no such choice here: budgte=9."
    ]
    app.selectbox[0].select("small").run()
    assert not app.exception
    assert "small" in app.title[0].value
    assert not any("Ignored in the address" in warning.value for warning in app.warning)


def test_an_address_in_which_all_is_understood_is_told_nothing_about(open_page: Open, study: Path) -> None:
    asked = {
        "tau_c": "none",
        "preset": "paper",
        "budget": "9",
        "b_sd": "0",
        "c_prior": "false",
        "versus": "x",
    }
    app = open_page("bank", study, settings_open=False, **asked)
    assert not any("Ignored" in warning.value for warning in app.warning)


def test_a_bank_size_of_the_address_that_is_too_large_is_corrected_there(
    open_page: Open, study: Path
) -> None:
    app = open_page("bank", study, settings_open=False, budget="100000")
    with Workspace(study) as workspace:
        rubrics = int(workspace.datasets()["rubrics"].iloc[0])
    assert app.query_params["budget"] == str(rubrics)
    assert size_box(app).value == most_of(app) <= rubrics
