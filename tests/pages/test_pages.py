"""Every page answers its question in figures of the dataset, on a small study and on an empty workspace."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from streamlit.testing.v1 import AppTest

from crubric_core import Workspace, fit_irt
from crubric_core.demo import simulate
from crubric_core.figures import diagnostics, items
from crubric_core.irt.uncertainty import ability_standard_errors
from crubric_core.ui.items import checks
from crubric_core.ui.items.model_check import flagged_sentence, ratio_sentence, within_sentence
from crubric_core.ui.overview import UNKNOWN_WORTH
from tests.pages.conftest import HOSTILE, ROOT, Open, size_box

ANALYSIS = ("overview", "measurability", "items", "bank", "leaderboard")


def first_line(app: object) -> str:
    """The page's answer as it is read: without the escapes that keep it from being Markdown."""
    return re.sub(r"\\(.)", r"\1", app.header[0].value)


@pytest.mark.parametrize("page", ANALYSIS)
def test_a_page_without_data_says_what_to_do(open_page: Open, tmp_path: Path, page: str) -> None:
    app = open_page(page, tmp_path / "empty.duckdb")
    assert not app.exception
    assert not app.error
    assert first_line(app) == "No dataset yet."
    assert {link.label for link in app.get("page_link")} == {"To the data", "Use my own data"}


@pytest.mark.parametrize(
    ("page", "answer"),
    [
        (
            "overview",
            r"8 systems were judged on \d+ rubrics of 12 queries by 3 judges\.",
        ),
        ("measurability", r"\d+ of \d+ rubrics pass τ_c = 0\.\d{3}; \d+ do not\. The gate uses rubric κ"),
        (
            "items",
            r"As fitted, half of all information about these systems comes from \d+ of \d+ rubrics; with 8 systems",
        ),
        ("bank", r"\d+ rubrics keep \d+% \[\d+%, \d+%\] of the \d+ pairs that all \d+ separate"),
        ("leaderboard", r"is ahead of (all 7|\d of the 7) others at 95%\."),
        ("data", r"1 dataset with [\d,]+ labels can be read\."),
    ],
)
def test_the_first_line_answers_in_figures_of_this_dataset(
    open_page: Open, study: Path, page: str, answer: str
) -> None:
    app = open_page(page, study)
    assert not app.exception
    assert not app.error
    assert re.search(answer, first_line(app)), first_line(app)


def test_measurability_counts_follow_the_threshold(open_page: Open, study: Path) -> None:
    app = open_page("measurability", study)
    kept = int(first_line(app).split()[0])
    app.slider(key="tau_c").set_value(0.2).run()
    assert int(first_line(app).split()[0]) > kept
    assert "τ_c = 0.20" in first_line(app)


def test_the_threshold_comes_from_the_url_rounded_to_its_step(open_page: Open, study: Path) -> None:
    app = open_page("measurability", study, tau_c="0.6549")
    assert "τ_c = 0.65" in first_line(app)


def test_an_absurd_url_is_answered_with_the_defaults(open_page: Open, study: Path) -> None:
    app = open_page("bank", study, tau_c="nonsense", budget="-7", model="9PL")
    assert not app.exception
    assert not app.error
    usual = open_page("bank", study)
    assert app.slider(key="tau_c").value == usual.slider(key="tau_c").value
    assert first_line(app) == first_line(usual)


def test_a_bank_of_one_rubric_is_a_bank(open_page: Open, study: Path) -> None:
    app = open_page("bank", study, budget="1")
    assert "1 rubric keeps" in first_line(app)


def test_unanimity_is_compared_with_a_gate_that_keeps_nothing(open_page: Open, study: Path) -> None:
    app = open_page("measurability", study, tau_c="1.0", gate="agreement", view="Baseline")
    assert not app.error
    assert re.search(r"the gate keeps 0 that vary", first_line(app))


@pytest.mark.parametrize(
    ("page", "view"),
    [(page, {}) for page in ("items", "bank", "leaderboard", "new_system", "publish")]
    + [("task_types", {"view": "Rules"})],
)
def test_a_threshold_that_nothing_reaches_is_said_plainly_and_left_by_one_button(
    open_page: Open, study: Path, page: str, view: dict[str, str]
) -> None:
    app = open_page(page, study, tau_c="1.0", gate="agreement", **view)
    assert not app.exception
    assert not app.error
    assert first_line(app) == "No rubric passes τ_c = 1.00, so there is nothing to rank by."
    said = " ".join(text.value for text in app.markdown)
    nearest, left = re.search(r"τ_c = (0\.\d\d) leaves (\d+) rubric", said).groups()
    assert app.slider(key="tau_c").value == 1.0
    next(button for button in app.button if button.label == f"Use τ_c = {nearest}").click().run()
    assert not app.exception
    assert not app.error
    assert app.slider(key="tau_c").value == float(nearest)
    assert "No rubric passes" not in first_line(app)
    assert int(left) >= 1


@pytest.mark.parametrize("model", ["1PL", "3PL", "GRM"])
def test_every_model_reaches_a_leaderboard(open_page: Open, study: Path, model: str) -> None:
    app = open_page("leaderboard", study, model=model, budget="40")
    assert not app.error
    assert app.selectbox(key="model").value == model
    assert "others at 95%" in first_line(app)


def test_a_hostile_name_is_a_name_in_every_table(open_page: Open, study: Path) -> None:
    app = open_page("leaderboard", study)
    assert HOSTILE in app.dataframe[0].value["system"].tolist()
    assert all(
        "<img" not in text.value or "\\<img" in text.value
        for text in [*app.header, *app.subheader, *app.markdown]
    )


@pytest.mark.usefixtures("nothing_kept")
def test_moving_the_budget_neither_fits_nor_orders_again(
    open_page: Open, study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_page("bank", study)
    forbid(monkeypatch, "calibrate", "order_candidates", "reduce_labels")
    size_box(app).set_value(17).run()
    assert not app.error
    assert "17 rubrics keep" in first_line(app)


@pytest.mark.usefixtures("nothing_kept")
def test_moving_the_threshold_does_not_fit_again(
    open_page: Open, study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_page("bank", study)
    forbid(monkeypatch, "calibrate", "reduce_labels")
    app.slider(key="tau_c").set_value(0.7).run()
    assert not app.error


def forbid(monkeypatch: pytest.MonkeyPatch, *stages: str) -> None:
    """From now on these stages of the pipeline fail."""

    def fail(*_args: object) -> None:
        raise AssertionError("computed again")

    rooms = {"calibrate": "calibration", "order_candidates": "selection"}
    for stage in stages:
        monkeypatch.setattr(f"crubric_core.analysis.{rooms.get(stage, 'fitted')}.{stage}", fail)


@pytest.mark.usefixtures("page_fails", "nothing_kept")
def test_an_unexpected_error_is_calm_on_the_page_and_whole_in_the_log(
    open_page: Open, study: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    forbid(monkeypatch, "decide_gate")
    app = open_page("measurability", study)
    assert not app.exception
    assert "Something unexpected went wrong" in app.error[0].value
    assert "unchanged" not in app.error[0].value, "nobody knows"
    assert "computed again" not in app.error[0].value
    assert "computed again" in caplog.text


def test_items_compares_models_and_says_which_one_to_use(open_page: Open, study: Path) -> None:
    app = open_page("items", study, view="Which model")
    assert not app.exception
    assert re.search(r"(AIC|BIC).*choose", app.header[0].value)
    assert app.dataframe[0].value["model"].tolist() == ["1PL", "2PL", "3PL"]


def test_items_holds_flagged_pairs_against_chance(open_page: Open, study: Path) -> None:
    app = open_page("items", study, view="Dependence")
    assert not app.exception
    told = [c.value for c in app.caption if "a table simulated from the model has" in c.value]
    assert re.match(r"[\d,]+ of [\d,]+ pairs are flagged", told[0])
    assert any("flagged pairs are two rubrics of one query" in caption.value for caption in app.caption)


@pytest.mark.parametrize(("line", "said"), [(0.5, "more than one ability"), (99.0, "no second ability")])
def test_items_holds_the_spectrum_against_its_line_and_points_to_abilities_by_dimension(
    open_page: Open, study: Path, monkeypatch: pytest.MonkeyPatch, line: float, said: str
) -> None:
    real = checks.dependence
    monkeypatch.setattr(checks, "dependence", lambda study: replace(real(study), line=line))
    app = open_page("items", study, view="Dependence")
    assert not app.exception
    assert app.header[0].value.startswith(f"The residuals show {said}")
    assert any(f"95% have at most {line:.2f}." in caption.value for caption in app.caption)
    (link,) = (each.proto for each in app.get("page_link") if "by dimension" in each.proto.label)
    assert link.page == "leaderboard"
    assert link.query_string == "more=Groups&groups=dimension"


def test_rubrics_without_a_dimension_have_no_abilities_to_point_to(
    open_page: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = checks.dependence
    monkeypatch.setattr(checks, "dependence", lambda study: replace(real(study), line=0.5))
    labels = simulate(seed=1, systems=8, queries=12, pool=(5, 6)).labels
    with Workspace(tmp_path / "plain.duckdb") as workspace:
        workspace.ingest(labels.to_csv(index=False).encode(), "plain", kind="labels")
    app = open_page("items", tmp_path / "plain.duckdb", view="Dependence")
    assert not app.exception
    assert any("need rubrics that name their dimension" in caption.value for caption in app.caption)
    assert not [each for each in app.get("page_link") if "by dimension" in each.proto.label]


def test_one_rubric_a_query_says_nothing_of_overlap_within_queries(open_page: Open, tmp_path: Path) -> None:
    labels = simulate(seed=1, systems=12, queries=60, pool=(5, 6)).labels
    lone = labels[labels["rubric"].isin(labels.groupby("query")["rubric"].first())]
    with Workspace(tmp_path / "lone.duckdb") as workspace:
        workspace.ingest(lone.to_csv(index=False).encode(), "lone", kind="labels")
    app = open_page("items", tmp_path / "lone.duckdb", view="Dependence")
    assert not app.exception
    assert app.dataframe[0].value["flagged"].any()
    assert not any("of one query" in caption.value for caption in app.caption)


def test_items_lists_the_worst_of_many_flagged_pairs(
    open_page: Open, study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crubric_core.ui.items.model_check.LISTED", 1)
    app = open_page("items", study, view="Dependence")
    assert len(app.dataframe[0].value) == 1


def test_items_checks_fit_when_asked(open_page: Open, study: Path) -> None:
    app = open_page("items", study, view="Item fit")
    button = next(b for b in app.button if b.label == "Check how each rubric fits")
    app = button.click().run(timeout=120)
    assert not app.exception
    assert "misfit at p" in app.header[0].value


def given_to(monkeypatch: pytest.MonkeyPatch, module: ModuleType, figure: str) -> list[tuple[Any, ...]]:
    """What a figure is drawn from, from now on."""
    drawn: list[tuple[Any, ...]] = []
    draw = getattr(module, figure)
    monkeypatch.setattr(module, figure, lambda *values: drawn.append(values) or draw(*values))
    return drawn


@pytest.mark.parametrize("level", [0.8, 0.99])
def test_the_wright_map_has_intervals_of_the_level_in_the_settings(
    open_page: Open, study: Path, monkeypatch: pytest.MonkeyPatch, level: float
) -> None:
    drawn = given_to(monkeypatch, items, "wright_map")
    app = open_page("items", study, confidence=str(level))
    assert not app.exception
    assert any(f"{level:.0%} intervals by the model alone" in caption.value for caption in app.caption)
    with Workspace(study) as workspace:
        ds = workspace.dataset("small")
        fit = fit_irt(ds.reduce().y)
        errors = ability_standard_errors(fit, ds.reduce().y)
    low, high = stats.norm.interval(level, fit.theta, errors)
    np.testing.assert_allclose(drawn[-1][3:5], (low, high), rtol=1e-6)


def test_the_wright_map_of_few_systems_has_no_intervals_and_says_so(
    open_page: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = given_to(monkeypatch, items, "wright_map")
    made = simulate(seed=1, systems=3, queries=10, pool=(5, 5))
    with Workspace(tmp_path / "few.duckdb") as workspace:
        workspace.ingest(made.labels.to_csv(index=False).encode(), "few", kind="labels")
    app = open_page("items", tmp_path / "few.duckdb")
    assert not app.exception
    assert np.isfinite(drawn[-1][2]).all()
    assert np.isnan(drawn[-1][3:5]).all(), (
        "three abilities whose shift and stretch are free have no error left"
    )
    said = next(caption.value for caption in app.caption if "Look for systems above" in caption.value)
    assert "Fewer than 6 systems have no intervals of ability." in said


def test_the_wright_map_says_where_groups_of_systems_have_no_common_scale(
    open_page: Open, tmp_path: Path
) -> None:
    labels = simulate(seed=1, systems=8, queries=12, pool=(5, 5)).labels
    first = labels["system"].isin(sorted(set(labels["system"]))[:4])
    half = labels["query"].isin(sorted(set(labels["query"]))[:6])
    with Workspace(tmp_path / "halves.duckdb") as workspace:
        workspace.ingest(labels[first == half].to_csv(index=False).encode(), "halves", kind="labels")
        workspace.ingest(labels.to_csv(index=False).encode(), "linked", kind="labels")
    for dataset, told in (("linked", False), ("halves", True)):
        app = open_page("items", tmp_path / "halves.duckdb", dataset=dataset)
        assert not app.exception
        said = next(caption.value for caption in app.caption if "Look for systems above" in caption.value)
        assert told == ("groups that share too few queries for a common scale" in said)


def test_the_model_check_has_bands_of_the_level_in_the_settings(
    open_page: Open, study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = given_to(monkeypatch, diagnostics, "curve_fit")
    for level in (0.8, 0.99):
        app = open_page("items", study, view="Item fit", confidence=str(level))
        button = next(b for b in app.button if b.label == "Check how each rubric fits")
        app = button.click().run(timeout=120)
        assert not app.exception
        assert any(f"both at {level:.0%}" in caption.value for caption in app.caption)
    (_, _, low, high, points, _, name), (_, _, least, most, wider, _, other) = drawn[0], drawn[-1]
    assert (name, other) == ("80% band", "99% band")
    assert (least <= low).all()
    assert (most >= high).all()
    assert (most - least > high - low).any()
    assert (wider["high"] - wider["low"] > points["high"] - points["low"]).all()


def test_a_dataset_that_is_gone_is_said_to_be_and_no_other_is_shown_in_its_place(
    open_page: Open, study: Path
) -> None:
    app = open_page("leaderboard", study, dataset="<b>gone</b>")
    assert not app.exception
    assert "There is no dataset" in app.header[0].value
    assert not app.dataframe
    assert not app.get("plotly_chart")
    app.selectbox(key="another dataset").select("small").run()
    assert not app.exception
    assert app.dataframe
    assert "There is no dataset" not in app.header[0].value


def test_the_address_keeps_a_dataset_that_is_gone_so_that_a_reload_shows_no_other(
    open_page: Open, study: Path
) -> None:
    app = open_page("data", study, dataset="gone", tau_c="0.3")
    assert [w.value for w in app.warning if "There is no dataset “gone” here" in w.value], (
        "also where it is read"
    )
    app.query_params.clear()  # as the navigation leaves it
    app.switch_page(str(ROOT / "pages" / "overview.py")).run()
    assert app.header[0].value == "There is no dataset “gone” here."
    assert app.query_params == {"dataset": "gone", "tau_c": "0.3"}


def test_where_every_cell_is_a_tie_the_overview_says_so_once_and_marks_each_stage(
    open_page: Open, tmp_path: Path
) -> None:
    rows = (f"s{i},q{j % 3},r{j},j{k},{k}" for i in range(4) for j in range(9) for k in range(2))
    with Workspace(tmp_path / "w.duckdb") as workspace:
        workspace.ingest(("system,query,rubric,judge,label\n" + "\n".join(rows)).encode(), "ties")
    app = open_page("overview", tmp_path / "w.duckdb")
    assert not app.exception
    assert not app.error
    said = " ".join(element.value for element in (*app.header, *app.caption, *app.markdown))
    assert said.count("Every cell is a tie between judges") == 2, "in the first line, and in the first card"
    assert said.count("For the same reason.") >= 2
    assert "4 systems" in said


def test_the_tour_can_be_closed_and_stays_closed(open_page: Open, study: Path) -> None:
    app = open_page("overview", study)
    assert "tour in five steps" in " ".join(text.value for text in app.markdown)
    app.button(key="close tour").click().run()
    assert not app.exception
    app.run()
    assert "tour in five steps" not in " ".join(text.value for text in app.markdown)


def test_the_overview_has_the_bank_size_of_the_other_pages(open_page: Open, study: Path) -> None:
    size = size_box(open_page("bank", study)).value
    said = " ".join(text.value for text in open_page("overview", study).caption).replace("\\", "")
    assert f"a bank of {size} holds them all" in said


def test_the_overview_says_the_same_of_the_bank_whichever_page_was_opened_before(
    open_page: Open, study: Path
) -> None:
    before = open_page("overview", study, budget="20")
    assert not before.exception
    assert bank_card(before) == ("! look", UNKNOWN_WORTH), "not good by the queries that it covers"
    assert not first_line(before).startswith("Bank"), "what others found is said first"
    open_page("bank", study, budget="20")
    after = open_page("overview", study, budget="20")
    assert not after.exception
    assert spoken(after) == spoken(before)


def spoken(app: AppTest) -> list[str]:
    """The texts of a page."""
    return [text.value for text in (*app.header, *app.markdown, *app.caption)]


def bank_card(app: AppTest) -> tuple[str, str]:
    """State and last sentence of the overview's card of the bank."""
    shown = " ".join(text.value for text in (*app.markdown, *app.caption)).replace("\\", "")
    (state,) = re.findall(r"\*\*Bank\*\* · (! look|✓ good)", shown)
    (said,) = re.findall(f"({re.escape(UNKNOWN_WORTH)})", shown)
    return state, said


def test_flagged_pairs_are_called_an_excess_only_where_there_is_one() -> None:
    said = flagged_sentence(5, 10, 3)
    assert said.startswith(
        "5 of 10 pairs are flagged; a table simulated from the model has 3. Only a clear excess"
    )
    assert said.endswith("another simulated table may have twice as many."), "one drawn table is no limit"
    assert flagged_sentence(3, 10, 3).endswith("has 3. That is no evidence of rubrics that overlap.")
    assert flagged_sentence(0, 0, 0) == "No two rubrics were labelled on enough systems to be compared."


def test_pairs_of_one_query_are_told_beside_what_all_pairs_are() -> None:
    """Of one query all pairs are two of one query, which shows no blocks."""
    one, two = pd.Series(["q"] * 4), pd.Series(["q", "q", "p", "p"])
    assert within_sentence(1.0, one).endswith("as are 100% of all pairs.")
    assert within_sentence(1.0, two).endswith("as are 33% of all pairs. Look for blocks.")
    assert within_sentence(0.2, two).endswith("as are 33% of all pairs.")


def test_a_ratio_of_eigenvalues_that_is_unknown_is_called_so() -> None:
    nan = float("nan")
    assert "unknown" in ratio_sentence(nan, nan, 2.0)
    assert "unknown" in ratio_sentence(1.2, nan, nan)
    assert ratio_sentence(1.2, 1.1, 2.0).endswith(
        "1.20; of tables simulated from the model, 95% have at most 2.00."
    )


def test_what_is_unknown_of_alike_and_of_disjoint_systems_is_said_plainly(
    open_page: Open, tmp_path: Path
) -> None:
    """Two kinds of systems have no second eigenvalue, equal labels no α, and one system is singular."""
    rows = [f"s{i},q{j % 3},r{j},k{k},{{}}" for i in range(7) for j in range(9) for k in range(3)]
    head = "system,query,rubric,judge,label"
    tables = {
        "alike": [row.format(1) for row in rows],
        "two": [row.format(int(row.startswith("s0"))) for row in rows],
        "lone": [row.format(n % 2) for n, row in enumerate(rows) if row.startswith("s0")],
        "apart": [row.format(n % 2) for n, row in enumerate(rows) if row[1] == row.split(",r")[1][0]],
    }
    path = tmp_path / "unknown.duckdb"
    with Workspace(path) as workspace:
        for name, table in tables.items():
            workspace.ingest("\n".join([head, *table]).encode(), name, "labels")
    assert "α unknown." in first_line(open_page("measurability", path, dataset="alike", view="Judges"))
    app = open_page("items", path, dataset="two", view="Dependence")
    assert not first_line(app).startswith("The residuals show")
    assert any("eigenvalue: unknown" in caption.value for caption in app.caption)
    assert "1 system was judged on" in first_line(open_page("overview", path, dataset="lone"))
    assert "have several of them answer the same queries" in first_line(
        open_page("overview", path, dataset="apart")
    )
