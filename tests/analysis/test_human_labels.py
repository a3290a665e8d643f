"""What is said of human labels on some cells is what was computed of them, and the judges' labels are these alone."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from crubric_core import Settings, Workspace
from crubric_core.analysis.agreement import mean_standing
from crubric_core.analysis.fitted import with_rules
from crubric_core.analysis.human_labels import HumanLabels, human_labels, queries_to_label
from crubric_core.analysis.stages import Analysis
from crubric_core.analysis.standings import CORRECTED
from crubric_core.demo import simulate
from crubric_core.text import sentence_case

SYSTEMS, QUERIES = 6, 30
BUDGET = Settings(budget=30)
MADE = simulate(seed=4, systems=SYSTEMS, queries=QUERIES, pool=(5, 7))


def analysed(gold: pd.DataFrame | None, settings: Settings = BUDGET, labels=MADE.labels) -> Analysis:
    with Workspace() as workspace:
        for kind, table in (("rubrics", MADE.rubrics), ("labels", labels), ("gold", gold)):
            if table is not None:
                workspace.ingest(table.to_csv(index=False).encode(), "d", kind)
        ds = workspace.dataset("d")
        found = Analysis(dataset=ds, fingerprint="d", settings=with_rules(ds, settings))
        for ask in (found.human_labels, found.claims):
            ask()  # while the workspace is open
        return found


def people(queries) -> pd.DataFrame:
    """Everything on these queries, labelled by one person who knows what is true."""
    systems = MADE.truth.systems["system"].tolist()
    wide = pd.DataFrame(MADE.truth.passes.astype(int), index=systems, columns=MADE.rubrics["rubric"])
    table = wide.rename_axis("system").reset_index().melt("system", var_name="rubric", value_name="label")
    query = MADE.rubrics.set_index("rubric")["query"]
    table = table.assign(query=table["rubric"].map(query), annotator="ann")
    return table[table["query"].isin(queries)]


NAMES = list(dict.fromkeys(MADE.rubrics["query"]))
SOME = np.random.default_rng(2).permutation(NAMES)[:10]


@pytest.fixture(scope="module")
def study() -> Analysis:
    return analysed(people(SOME))


@pytest.fixture(scope="module")
def found(study) -> HumanLabels:
    return study.human_labels()


def test_means_are_those_of_the_labels_by_query(study, found):
    y, at = study.given().y, MADE.rubrics["query"].to_numpy()
    order = study.given().rubrics["query"].to_numpy()
    truth = people(NAMES).pivot_table(index="system", columns=["query"], values="label")
    system, name = 0, found.systems[0]
    every = [np.nanmean(y[system, order == query]) for query in dict.fromkeys(at)]
    row = found.table.set_index("system").loc[name]
    assert row["human_mean"] == pytest.approx(truth.loc[name, SOME].mean())
    assert row["labelled_queries"] == 10
    assert row["judges_mean"] == pytest.approx(np.mean(every), abs=0.03)  # but for even splits


def test_sentences_have_the_figures_of_the_table(found):
    table, said = found.table, " ".join(found.sentences())
    half, alone = (
        (table[high] - table[low]).median() / 2
        for low, high in (("low", "high"), ("human_low", "human_high"))
    )
    assert f"±{half:.3f} (median) from both, and ±{alone:.3f} from the human labels alone" in said
    off = table["judges_mean"] - table["mean"]
    told = re.search(
        r"on average (\S+) (\w+) the corrected ones: from (\S+) (\w+) \((.+)\) to (\S+) (\w+) \((.+)\)\.",
        said,
    ).groups()
    for at, value in ((0, off.mean()), (2, off.min()), (5, off.max())):
        number, side = told[at : at + 2]
        assert float(number) * (1 if side == "above" else -1) == pytest.approx(value, abs=6e-4)
    assert (told[4], told[7]) == (table["system"][off.idxmin()], table["system"][off.idxmax()])
    assert f"on 10 of {QUERIES} queries for each system." in said
    cells, judged = re.search(r"People labelled ([\d,]+) of the ([\d,]+) cells", said).groups()
    assert int(cells.replace(",", "")) <= len(people(SOME))
    assert int(judged.replace(",", "")) <= SYSTEMS * len(MADE.rubrics)


@pytest.mark.parametrize(
    ("labelled", "said"),
    [
        (
            1,
            "for one system. 5 others have human labels on fewer than 5 queries, or none, and get no estimate.",
        ),
        (
            5,
            "for each of 5 systems. 1 other has human labels on fewer than 5 queries, or none, and gets no estimate.",
        ),
    ],
)
def test_the_queries_that_people_labelled_are_told_of_the_systems_that_have_any(labelled, said):
    given = people(SOME)
    some = given[given["system"].isin(sorted(given["system"].unique())[:labelled])]
    assert f"on 10 of {QUERIES} queries {said}" in analysed(some).human_labels().sentences()[0]


@pytest.mark.parametrize("judges", ["good", "guessing"])
def test_what_more_human_labels_would_give_is_the_fewest_queries_that_halve_the_width_or_all(judges):
    guesses = np.random.default_rng(3).integers(0, 2, len(MADE.labels))
    labels = MADE.labels if judges == "good" else MADE.labels.assign(label=guesses)
    found = analysed(people(SOME[:6]), labels=labels).human_labels()
    half, said = np.median(found.table["high"] - found.table["low"]) / 4, " ".join(found.sentences())
    widths = found.correction.half_widths(np.arange(1, QUERIES + 1), 0.95)[0]
    if judges == "good":  # whose labels leave little to gain
        told = re.search(
            r"With as many labels on each of all (\d+) queries it would be about ±([.\d]+)\.", said
        ).groups()
        assert told == (str(QUERIES), f"{widths[-1]:.3f}")
        assert widths[-1] > half
    else:
        enough = int(
            re.search(r"Half of that width needs as many labels on each of about (\d+) queries", said)[1]
        )
        assert widths[enough - 1] <= half < widths[enough - 2]


def test_the_standing_by_corrected_means_is_compared_with_the_one_shown(study):
    other = {o.name: o for o in study.other_rankings(study.used)}
    assert CORRECTED in other
    said = study.claims()
    assert any(CORRECTED in s or sentence_case(CORRECTED) in s for s in (*said.beside, *said.contradicted))


def test_cells_that_are_no_random_sample_are_said_to_be_none_and_no_standing_rests_on_them():
    rate = MADE.labels.groupby("query")["label"].mean()
    study = analysed(people(rate.nsmallest(10).index))
    found = study.human_labels()
    assert found.correction.sample.doubtful
    assert found.sample().startswith(
        "The queries that people labelled are not a random sample. The judges' mean label of the cells there is 0."
    )
    assert "below that of all cells (p < 0.01)" in found.sample()
    assert CORRECTED not in {o.name for o in study.other_rankings(study.used)}


def test_the_judges_labels_are_their_majority_whatever_consensus_the_human_labels_are_part_of(study, found):
    weighed = analysed(people(SOME), replace(BUDGET, consensus="dawid_skene"))
    assert not np.array_equal(weighed.given().y, study.given().y, equal_nan=True)
    pd.testing.assert_frame_equal(weighed.human_labels().table, found.table)


def test_an_even_split_of_the_judges_counts_as_half_of_the_mark(study):
    reduction = study.given()
    i, j = 2, int(np.flatnonzero(reduction.rubrics["query"] == SOME[0])[0])
    y = reduction.y.copy()
    y[i, j] = np.nan
    gold, asked = people(SOME), (study.queries(), study.settings)
    of_query = reduction.rubrics["query"] == SOME[0]
    known = np.isfinite(y[i, of_query.to_numpy()]).sum()

    def judged(split):
        changed = replace(reduction, y=y, split=np.array(split, dtype=np.int64).reshape(2, -1))
        return human_labels(gold, changed, *asked).correction.judged.estimate[i]

    without, even = judged([]), judged([[i], [j]])
    mean = np.nanmean(y[i, of_query.to_numpy()])
    queries = study.human_labels().correction.judged.n_units[i]
    assert even - without == pytest.approx((0.5 - mean) / (known + 1) / queries)


def test_a_cell_on_which_people_are_divided_counts_as_half_and_is_not_left_out(study, found):
    row = people(SOME).iloc[[0]]
    other = row.assign(label=1 - row["label"], annotator="bea")
    divided = human_labels(pd.concat([people(SOME), other]), study.given(), study.queries(), study.settings)
    assert divided.cells == found.cells
    name, query = row[["system", "query"]].iloc[0]
    rubrics = (study.given().rubrics["query"] == query).sum()
    before, after = (x.table.set_index("system").loc[name, "human_mean"] for x in (found, divided))
    assert after - before == pytest.approx((0.5 - row["label"].iloc[0]) / rubrics / len(SOME))


def test_the_reduction_knows_the_even_splits():
    judges = MADE.labels["judge"].unique()[:2]
    two = MADE.labels[MADE.labels["judge"].isin(judges)]
    reduction = analysed(None, labels=two).given()
    wide = two.pivot_table(index=["system", "rubric"], columns="judge", values="label")
    even = wide.index[(wide[judges[0]] - wide[judges[1]]).abs() == 1]
    rubrics = reduction.rubrics["rubric"].tolist()
    found = {(reduction.systems[i], rubrics[j]) for i, j in reduction.split.T}
    assert found == set(even)
    assert np.isnan(reduction.y[tuple(reduction.split)]).all()


def test_no_interval_leaves_the_range_of_the_marks():
    found = analysed(people(SOME[:5]).assign(label=1)).human_labels()
    table = found.table[["mean", "low", "high", "human_low", "human_high"]]
    assert found.standing.high.max() > 1
    assert table.min(axis=None) >= 0
    assert table.max(axis=None) == 1


def test_without_human_labels_nothing_is_said_but_which_queries_to_label():
    study = analysed(None)
    assert study.human_labels() is None
    assert sorted(queries_to_label(study.given(), study.queries(), study.settings)) == sorted(NAMES)
    assert CORRECTED not in {o.name for o in study.other_rankings(study.used)}


def test_the_queries_to_label_next_are_all_others_in_an_order_that_the_seed_decides(study, found):
    assert sorted([*found.waiting, *SOME]) == sorted(NAMES)
    assert list(found.waiting) != sorted(found.waiting)

    def order(seed):
        settings = replace(study.settings, seed=seed)
        return human_labels(people(SOME), study.given(), study.queries(), settings).waiting

    assert order(study.settings.seed) == found.waiting != order(7)


def test_people_who_labelled_every_query_leave_nothing_to_plan():
    found = analysed(people(NAMES)).human_labels()
    assert not found.plannable
    assert found.waiting == ()
    assert not any("queries, chosen at random" in s for s in found.sentences())
    assert found.sample() == "People labelled every cell that judges did: the choice of cells has no effect."


def test_cells_are_counted_of_all_systems_and_complete_only_of_those_with_an_estimate():
    gold = people(NAMES)
    lone = gold["system"].iloc[0]
    asked = gold[(gold["system"] != lone) | (gold["query"] == NAMES[0])]
    found = analysed(asked).human_labels()
    assert found.sample() == (
        "People labelled every cell that judges did, of the systems with an estimate: the choice of cells has no "
        "effect."
    )
    by_judges = MADE.labels.dropna(subset="label")
    unlabelled = by_judges[(by_judges["system"] == lone) & (by_judges["query"] != NAMES[0])]
    assert found.judged - found.cells == unlabelled["rubric"].nunique() > 0


@pytest.mark.parametrize("queries", [SOME, NAMES], ids=["some", "all"])
def test_people_who_agree_with_the_judges_leave_no_difference_and_nothing_to_plan_by(study, queries):
    rubrics, y = study.given().rubrics, np.nan_to_num(study.given().y, nan=1.0)
    known = replace(study.given(), y=y, split=np.empty((2, 0), dtype=np.int64))
    i, j = np.nonzero(np.isfinite(y) & rubrics["query"].isin(queries).to_numpy())
    given = np.where(rubrics["polarity"].iloc[j] < 0, 1 - y[i, j], y[i, j])
    names = np.array(study.given().systems)[i]
    gold = rubrics.iloc[j][["rubric", "query"]].assign(system=names, label=given, annotator="ann")
    found = human_labels(gold, known, study.queries(), study.settings)
    said = " ".join(found.sentences())
    assert "as many labels on each" not in said.lower()
    equal = "The judges' means are on average equal to the corrected ones." in said
    assert equal == (queries is NAMES)


def test_systems_that_people_labelled_on_different_queries_are_not_compared_by_these_alone():
    scores = np.full((4, 40), np.nan)
    scores[:2, :20], scores[2:, 20:] = np.random.default_rng(5).random((2, 2, 20))
    standing = mean_standing(scores, 0.95, 0, simultaneous=True)
    assert standing.n_groups == 2
    assert not standing.separated[:2, 2:].any()
