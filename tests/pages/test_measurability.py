"""The threshold of the gate follows a drag across the histogram; a search finds rubrics on three pages."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from crubric_core import Settings, Workspace
from crubric_core.demo import simulate
from crubric_core.ui import settings_bar
from crubric_core.ui.measurability import gate
from tests.pages.conftest import ROOT, Open


def test_a_range_that_is_dragged_moves_the_threshold_to_its_left_end(monkeypatch: pytest.MonkeyPatch) -> None:
    held: list[float | None] = []
    monkeypatch.setattr(settings_bar, "held", Settings)
    monkeypatch.setattr(settings_bar, "hold_settings", lambda settings: held.append(settings.tau_c))
    for left_end in (0.4567, -3.0, 1.7):
        settings_bar.keep_from(left_end)
    assert held == [0.45, -0.5, 1.0], "two digits, within what the slider can show"


def test_a_threshold_that_many_rubrics_share_is_not_said_to_drop_a_quarter() -> None:
    values = np.array([0.1, 0.4, 0.4, 0.4, 0.4, 0.8, 0.8, 0.9])
    shared = SimpleNamespace(values=values, n_total=np.full(8, 5), feasible=values >= 0.4, threshold=0.4)
    assert "reach it exactly stay" in gate.own_threshold(shared)
    distinct = SimpleNamespace(values=values, n_total=np.full(8, 5), feasible=values >= 0.5)
    assert gate.own_threshold(distinct) == "this threshold drops the lowest quarter"
    undefined = np.r_[values, np.nan]  # two judges labelled it, and nothing could disagree
    beside = SimpleNamespace(
        values=undefined, n_total=np.full(9, 5), feasible=~(undefined < 0.5), threshold=0.8
    )
    assert gate.own_threshold(beside) == "this threshold drops the lowest quarter"


@pytest.mark.parametrize("measured", [1, 3])
def test_a_threshold_of_fewer_than_four_rubrics_is_not_said_to_drop_a_quarter(measured: int) -> None:
    values = np.array([0.5, 0.6, 0.7])[:measured]
    few = SimpleNamespace(values=values, n_total=np.full(measured, 5), feasible=values >= 0.5, threshold=0.5)
    assert "drops none" in gate.own_threshold(few)


def test_a_threshold_below_the_quarter_of_the_measured_is_said_to_keep_what_is_not_measured() -> None:
    values = np.array([0.1, 0.6, 0.6, 0.6, 0.8, 0.8, 0.8, 0.9, 0.9, 0.9, 0.9])
    measured = values != 0.6
    some = SimpleNamespace(values=values, n_total=5 * measured, feasible=values >= 0.6, threshold=0.6)
    assert gate.own_threshold(some).endswith("of which no cell has labels of two judges, and these stay")


def test_a_threshold_is_told_as_agreements_of_a_rubric_that_two_judges_labelled(
    open_page: Open, tmp_path: Path
) -> None:
    rows = ["system,query,rubric,judge,label"]
    for system in range(6):
        for rubric in range(5):
            judges = (1, 2) if rubric == 0 else (1,)
            rows += [f"s{system},q{rubric},r{rubric},j{judge},{system % 2}" for judge in judges]
    (tmp_path / "labels.csv").write_text("\n".join(rows))
    with Workspace(tmp_path / "w.duckdb") as workspace:
        workspace.ingest(tmp_path / "labels.csv", dataset="sparse")
    app = open_page("measurability", tmp_path / "w.duckdb", gate="agreement", tau_c="0.7")
    assert any("(5 of 6 systems)" in said.value.replace("\\", "") for said in app.header)


@pytest.mark.parametrize("page", ["measurability", "items", "bank"])
def test_a_search_in_the_address_narrows_the_table_of_rubrics(
    open_page: Open, study: Path, page: str
) -> None:
    def rubrics(**query: str) -> list[str]:
        app = open_page(page, study, **query)
        assert not app.exception
        return next(t.value["rubric"].tolist() for t in app.dataframe if "rubric" in t.value)

    everything = rubrics()
    wanted = everything[0]
    found = rubrics(search=wanted)
    assert wanted in found
    assert len(found) < len(everything)
    assert all(wanted in name for name in found)


def test_a_search_goes_along_from_page_to_page_in_box_table_and_address(open_page: Open, study: Path) -> None:
    app = open_page("measurability", study)
    wanted = next(t.value["rubric"].iloc[0] for t in app.dataframe if "rubric" in t.value)
    app = app.text_input(key="search").set_value(wanted).run()
    for page in ("bank", "items", "measurability", "leaderboard", "bank"):
        app = app.switch_page(str(ROOT / "pages" / f"{page}.py")).run()
        assert not app.exception
        if page != "leaderboard":
            assert app.query_params["search"] == wanted
            assert app.text_input(key="search").value == wanted, page
            found = next(t.value["rubric"] for t in app.dataframe if "rubric" in t.value)
            assert all(wanted in name for name in found), page


def test_a_threshold_that_keeps_too_little_is_left_by_one_button(open_page: Open, study: Path) -> None:
    app = open_page("measurability", study, tau_c="1.0", gate="agreement")
    would_do = re.search(r"τ_c = (0\.\d\d) or less would be enough", app.header[0].value.replace("\\", ""))[1]
    next(button for button in app.button if button.label == f"Use τ_c = {would_do}").click().run()
    assert not app.exception
    assert app.slider(key="tau_c").value == float(would_do)
    assert "would do" not in app.header[0].value
    assert not [button for button in app.button if button.label.startswith("Use τ_c")]


def test_queries_that_a_threshold_costs_are_told_apart_from_those_that_never_had_a_rubric(
    open_page: Open, tmp_path: Path
) -> None:
    labels = simulate(seed=1, systems=8, queries=12, pool=(6, 8)).labels
    queries = sorted(set(labels["query"]))
    labels.loc[labels["query"].isin(queries[:2]), "label"] = 1
    with Workspace(tmp_path / "same.duckdb") as workspace:
        workspace.ingest(labels.to_csv(index=False).encode(), "same")
    app = open_page("measurability", tmp_path / "same.duckdb")
    (cost,) = (metric for metric in app.metric if metric.label == "Queries left without a rubric")
    assert cost.value.endswith(f" of {len(queries) - 2}")
    assert "2 more have none whatever the threshold" in cost.proto.help


def test_without_a_label_that_differs_the_page_says_that_kappa_is_undefined(
    open_page: Open, tmp_path: Path
) -> None:
    rows = "\n".join(f"s{s},q{r // 2},r{r},j{j},1" for s in range(4) for r in range(6) for j in range(2))
    path = tmp_path / "constant.duckdb"
    with Workspace(path) as workspace:
        workspace.ingest(f"system,query,rubric,judge,label\n{rows}\n".encode(), "constant")
    app = open_page("measurability", path)
    assert not app.exception
    assert "Rubric κ is undefined for every rubric" in app.header[0].value
    assert "all 6 rubrics stay" in app.header[0].value
    assert not any("nan" in shown.value for shown in (*app.header, *app.markdown, *app.caption))


def test_several_judges_who_share_no_cell_are_not_called_one() -> None:
    assert gate.nothing_to_compare(1).startswith("With one judge there is nothing to compare")
    assert gate.nothing_to_compare(3).startswith("No two judges labelled the same cell")
