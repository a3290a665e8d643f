"""What the overview's tiles and cards say of the labels, on graded and on plain ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from crubric_core.analysis.pipeline import run_pipeline
from crubric_core.labels.store.workspace import Workspace
from crubric_core.sharing import Choices, build_view
from crubric_core.ui.overview import agreement_tiles
from tests.pages.conftest import Open

CELLS = [
    (system, query, f"{query}-{rubric}") for system in "abcdefgh" for query in "uvwxyz" for rubric in range(3)
]


def labels_of(levels: int, seed: int = 0) -> pd.DataFrame:
    """Two judges of eight systems, who give neighbouring levels more often than equal ones."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(1, levels + 1, len(CELLS))
    return pd.concat(
        pd.DataFrame(CELLS, columns=["system", "query", "rubric"]).assign(
            judge=judge, label=np.clip(truth + rng.integers(-1, 2, len(CELLS)), 1, levels)
        )
        for judge in ("one", "two")
    )


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, pd.DataFrame]:
    """A workspace with labels from 1 to 5, and these labels."""
    path, labels = tmp_path_factory.mktemp("graded") / "w.duckdb", labels_of(5)
    with Workspace(path) as workspace:
        workspace.ingest(labels.to_csv(index=False).encode(), "graded")
    return path, labels


def test_tiles_say_where_grades_are_read_as_met_or_not(
    open_page: Open, graded: tuple[Path, pd.DataFrame]
) -> None:
    path, labels = graded
    by_judge = labels.pivot_table(index=["system", "rubric"], columns="judge", values="label")
    for model, name, agree in (
        ("2PL", "Judges agree, met or not", (by_judge["one"] >= 3) == (by_judge["two"] >= 3)),
        ("GRM", "Judges agree", by_judge["one"] == by_judge["two"]),
    ):
        tiles = {tile.label: tile for tile in open_page("overview", path, model=model).metric}
        assert tiles[name].value == f"{agree.mean():.0%}"
        assert ("by the pass mark" in tiles[name].help) == (model == "2PL")
        assert tiles[name.replace("Judges agree", "Unanimous")].value == (
            f"{agree.groupby('rubric').all().mean():.0%}"
        )


def test_what_has_no_label_is_not_counted_as_judged(open_page: Open, tmp_path: Path) -> None:
    labels, path = labels_of(2), tmp_path / "w.duckdb"
    labels = labels.assign(label=(labels["label"] - 1).astype("Int64"))
    labels.loc[labels["system"] == "h", "label"] = pd.NA
    idle = pd.DataFrame({"rubric": ["idle"], "query": ["idle"], "text": ["Is it idle?"]})
    with Workspace(path) as workspace:
        workspace.ingest(labels.to_csv(index=False).encode(), "gaps", "labels")
        workspace.ingest(idle.to_csv(index=False).encode(), "gaps", "rubrics")
        counts = build_view(run_pipeline(workspace.dataset("gaps")), Choices()).counts
    assert (
        "7 systems were judged on 18 rubrics of 6 queries by 2 judges"
        in open_page("overview", path).header[0].value
    )
    assert (counts["systems"], counts["rubrics"], counts["queries"]) == (7, 18, 6)


def test_tiles_say_how_far_apart_labels_may_be_that_count_as_agreeing(
    graded: tuple[Path, pd.DataFrame],
) -> None:
    with Workspace(graded[0]) as workspace:
        found = agreement_tiles(workspace.dataset("graded").reduce("ordered", agreement_tolerance=1), 1)
    assert "no two of them are more than 1 level apart" in found.helps["Judges agree"]
    assert "are equal" not in " ".join(found.helps.values())


def test_the_card_of_the_labels_has_the_warnings_of_the_data_page(
    open_page: Open, graded: tuple[Path, pd.DataFrame], tmp_path: Path
) -> None:
    labels = pd.concat([graded[1].assign(query=graded[1]["query"] + tail) for tail in ("", "2", "3")])
    labels["rubric"] = labels["query"] + labels["rubric"]
    never = labels[labels["judge"] == "one"].assign(judge="never varies", label=5)
    with Workspace(tmp_path / "w.duckdb") as workspace:
        workspace.ingest(labels.to_csv(index=False).encode(), "good")
        workspace.ingest(pd.concat([labels, never]).to_csv(index=False).encode(), "warned")
    for name, said in (
        ("good", "8 systems on 18 queries."),
        ("warned", "Data warns of judges that never"),
    ):
        app = open_page("overview", tmp_path / "w.duckdb", dataset=name)
        assert any(caption.value.replace("\\", "").startswith(said) for caption in app.caption)
        data = open_page("data", tmp_path / "w.duckdb", dataset=name)
        assert bool(data.warning) == (name == "warned")


def test_a_judge_who_guesses_is_named_on_the_card_of_agreement(open_page: Open, tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    cells = pd.MultiIndex.from_product([range(8), range(40), range(3)], names=["system", "query", "rubric"])
    truth = rng.random(len(cells)) < cells.get_level_values("system") / 8
    judged = [
        cells.to_frame(index=False).assign(
            judge=judge, label=np.where(rng.random(len(cells)) < right, truth, ~truth)
        )
        for judge, right in (("careful", 0.95), ("exact", 0.95), ("steady", 0.95), ("careless", 0.5))
    ]
    with Workspace(tmp_path / "w.duckdb") as workspace:
        for name, judges in (("panel", judged), ("without", judged[:3])):
            labels = pd.concat(judges).assign(label=lambda t: t["label"].astype(int))
            workspace.ingest(labels.to_csv(index=False).encode(), name)
    said = "careless is not shown to agree with the majority of the others beyond chance"
    for name, guessing in (("panel", True), ("without", False)):
        app = open_page("overview", tmp_path / "w.duckdb", dataset=name)
        assert any(caption.value.startswith(said) for caption in app.caption) == guessing
        assert (f"Agreement: {said}" in app.header[0].value.replace("\\", "")) == guessing


def test_judges_who_share_errors_are_told_on_the_card_of_agreement_and_below_the_board(
    open_page: Open, tmp_path: Path
) -> None:
    rng = np.random.default_rng(2)
    cells = pd.MultiIndex.from_product([range(8), range(40), range(3)], names=["system", "query", "rubric"])
    truth = rng.random(len(cells)) < cells.get_level_values("system") / 8
    errors = {judge: rng.random(len(cells)) < 0.15 for judge in ("ann", "ben", "cat", "dan", "eve")}
    errors["copy"] = errors["ann"]
    judged = [
        cells.to_frame(index=False).assign(judge=judge, label=(truth ^ wrong).astype(int))
        for judge, wrong in errors.items()
    ]
    with Workspace(tmp_path / "w.duckdb") as workspace:
        workspace.ingest(pd.concat(judged).to_csv(index=False).encode(), "panel")
    said = "the 6 judges count as at most"
    app = open_page("overview", tmp_path / "w.duckdb")
    assert any(said in text.value for text in (*app.caption, *app.markdown)), [c.value for c in app.caption]
    app = open_page("leaderboard", tmp_path / "w.duckdb", more="What this does not show")
    assert any(said in text.value for text in app.markdown)


def test_of_two_systems_no_bank_is_called_good_and_none_can_be_held_out(
    open_page: Open, tmp_path: Path
) -> None:
    """The card said good of a bank whose worth the Bank page does not know; the dataset was said to have one system."""
    with Workspace(tmp_path / "w.duckdb") as workspace:
        labels = labels_of(2).query("system in ('a', 'b')")
        workspace.ingest(labels.to_csv(index=False).encode(), "pair")
    app = open_page("overview", tmp_path / "w.duckdb")
    assert any(text.value == "**Bank** · ! look" for text in app.markdown)
    assert any(
        "this needs 6 systems, and there are 2." in caption.value.replace("\\", "") for caption in app.caption
    )
    app = open_page("new_system", tmp_path / "w.duckdb", source="held-out system", held_out="a")
    (error,) = app.error
    assert error.value.replace("\\", "").startswith("A bank without 'a' would be made from one system:")


def test_no_bank_and_no_pair_is_told_good_where_the_gate_allows_no_claim(
    open_page: Open, study: Path
) -> None:
    app = open_page("overview", study, dataset="small", gate="kappa", tau_c="0.9", budget="1")
    shown = [text.value for text in app.markdown]
    assert "**Board** · ✕ stop" in shown
    assert "no claim" in shown
    assert "**Bank** · ✓ good" not in shown


def test_unanimity_is_of_rubrics_that_two_judges_labelled(open_page: Open, tmp_path: Path) -> None:
    """A second judge of one rubric in nine, who differs: all others were counted as unanimous."""
    rows = [f"s{i},q{j % 3},r{j},one,{(i + j) % 2}" for i in range(8) for j in range(9)]
    rows += [f"s{i},q0,r0,other,{int(i < 3)}" for i in range(8)]
    path = tmp_path / "few.duckdb"
    with Workspace(path) as workspace:
        workspace.ingest("\n".join(["system,query,rubric,judge,label", *rows]).encode(), "few", "labels")
        tiles = agreement_tiles(workspace.dataset("few").reduce(), 0)
    assert tiles.figures["Unanimous"] == "0%"
    for view in ("Rubrics", "Baseline"):
        app = open_page("measurability", path, view=view)
        assert any(
            "8 rubrics have no cell with labels of two judges" in said.value for said in app.caption
        ), view


@pytest.mark.parametrize("page", ["overview", "leaderboard", "publish", "experiments", "scenarios"])
def test_a_dataset_without_labels_says_so_and_leads_to_the_data(
    page: str, open_page: Open, tmp_path: Path
) -> None:
    with Workspace(tmp_path / "w.duckdb") as workspace:
        workspace.ingest(b"query,domain\nq1,law\n", "mine", "queries", format="csv")
    app = open_page(page, tmp_path / "w.duckdb")
    assert not app.error
    assert [header.value for header in app.header] == ["No labels yet."]
    assert any("“mine”" in text.value for text in app.markdown)
    assert "To the data" in [link.proto.label for link in app.get("page_link")]
