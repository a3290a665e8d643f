"""Repeated draws of a judge: kept one by one, one label of a cell for everything that is computed."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crubric_core.errors import DatasetError
from crubric_core.intervals import share_interval
from crubric_core.judges.self_consistency import over_queries, self_consistency
from crubric_core.labels import Workspace
from tests.tiers import examples

HEADER = "system query rubric judge run label"


@pytest.mark.parametrize("name", ["run", "epoch", "trial", "attempt", "Run", "run_id"])
def test_a_column_of_draws_keeps_every_draw(ws, table, name):
    rows = ("a q r j 1 1", "a q r j 2 0", "a q r j 3 1")
    report = ws.ingest(table(*rows, header=HEADER.replace("run", name)), "d")
    assert (report.accepted, report.rejected) == (3, 0)
    assert ws.dataset("d").labels()["label"].tolist() == [1, 0, 1]
    assert ws.dataset("d").runs == ("1", "2", "3")


def test_without_a_column_of_draws_there_are_no_runs(ws, table):
    ws.ingest(table("a q r j 1"), "d")
    assert ws.dataset("d").runs == ()
    assert not ws.dataset("d").has_runs
    assert list(ws.dataset("d").labels()) == ["system", "query", "rubric", "judge", "label"]


def test_the_same_run_twice_with_other_labels_is_a_conflict(ws, table):
    report = ws.ingest(table("a q r j 1 1", "a q r j 1 0", "b q r j 1 1", header=HEADER), "d")
    assert report.rejected == 2
    assert "same system, rubric, judge and run" in report.rejects["reason"][0]


def test_agreement_between_judges_is_computed_on_one_label_a_judge(ws, table):
    """j says 1, 0, 1 (met), k says 0, 0 (not met), l contradicts itself and says nothing."""
    rows = (
        "a q r j 1 1",
        "a q r j 2 0",
        "a q r j 3 1",
        "a q r k 1 0",
        "a q r k 2 0",
        "a q r l 1 1",
        "a q r l 2 0",
    )
    ws.ingest(table(*rows, header=HEADER), "d")
    ds = ws.dataset("d")
    assert ds.panel()[0, 0].tolist()[:2] == [1, 0]
    assert np.isnan(ds.panel()[0, 0, 2])
    found = ds.reduce()
    assert (found.n_agree.tolist(), found.n_total.tolist(), found.max_panel.tolist()) == ([0], [1], [2])


def test_a_judge_that_contradicts_itself_does_not_raise_agreement(ws, table):
    """Dropping contradictory draws would leave the agreeing cell alone, and agreement 1 of 1."""
    rows = [f"a q r {judge} {run} 1" for judge in "jk" for run in (1, 2, 3)]
    rows += [f"b q r j {run} {label}" for run, label in enumerate((1, 1, 0), 1)]
    rows += [f"b q r k {run} {label}" for run, label in enumerate((0, 0, 1), 1)]
    ws.ingest(table(*rows, header=HEADER), "d")
    found = ws.dataset("d").reduce()
    assert (found.n_agree.tolist(), found.n_total.tolist()) == ([1], [2])


def test_ordered_draws_are_their_lower_median(ws, table):
    ws.ingest(table("a q r j 1 1", "a q r j 2 4", "a q r j 3 5", "a q r j 4 5", header=HEADER), "d")
    assert ws.dataset("d").panel("ordered").tolist() == [[[3]]]


DRAWS = st.lists(
    st.tuples(*(st.integers(0, 2) for _ in range(4)), st.integers(0, 1)),
    min_size=1,
    max_size=60,
    unique_by=lambda row: row[:4],
)


@given(rows=DRAWS)
@settings(max_examples=examples(20))
def test_panels_counts_and_repeats_are_those_of_a_plain_loop(rows):
    text = "\n".join(f"s{s},q,r{r},j{k},{run},{label}" for s, r, k, run, label in rows)
    frame = pd.DataFrame(rows, columns=["system", "rubric", "judge", "run", "label"])
    with Workspace() as ws:
        ws.ingest(f"system,query,rubric,judge,run,label\n{text}\n".encode(), "d")
        ds = ws.dataset("d")
        shares = frame.groupby(["system", "rubric", "judge"])["label"].mean()
        expected = shares.map(lambda x: np.nan if x == 0.5 else float(x > 0.5))
        panel = ds.panel()
        assert np.sum(~np.isnan(panel)) == expected.notna().sum() == ds.reduce().n_labels
        assert ds.counts()["labels"] == len(shares)
        assert 0 <= ds.counts()["missing_share"] < 1
        pairs = {}
        for (_, rubric, judge), cell in frame.groupby(["system", "rubric", "judge"]):
            own = pairs.setdefault((f"r{rubric}", f"j{judge}"), [0, 0, 0, 0.0])
            both = [a == b for a, b in combinations(cell["label"], 2)]
            own[0] += len(both)
            own[1] += sum(both)
            own[2] += len(cell) - 1
            own[3] += (len(cell) - 1) * (np.mean(both) if both else 0)
        found = ds.repeats().set_index(["rubric", "judge"])[["pairs", "agreeing", "draws", "consistent"]]
        told = {key: values for key, values in pairs.items() if values[0]}
        assert set(found.index) == set(told)
        for key, values in told.items():
            assert found.loc[key].tolist() == pytest.approx(values)


def test_self_consistency_of_two_runs_is_a_plain_beta_posterior():
    """8 of 10 pairs agree: Beta(9, 3), mean 9/12."""
    found = self_consistency([10], [8], [10], [8])
    assert found.share.tolist() == [0.8]
    assert found.mean.tolist() == [0.75]
    assert 0.4 < found.low[0] < 0.75 < found.high[0] < 0.95


def test_pairs_of_many_runs_weigh_as_the_runs_and_unknown_stays_unknown():
    """One cell of five runs, all alike: 10 pairs, 4 draws, Beta(5, 1)."""
    found = self_consistency([10, 0], [10, 0], [4, 0], [4.0, 0.0])
    assert found.mean.tolist() == [5 / 6, 0.5]
    assert found.share[0] == 1
    assert np.isnan(found.share[1])


def test_the_interval_of_a_judge_holds_where_it_repeats_itself_less_on_some_queries():
    rng, held, as_independent = np.random.default_rng(0), [], []
    for _ in range(100):
        draws = np.full(30, 40.0)
        consistent = rng.binomial(40, rng.beta(4.5, 0.5, 30)).astype(float)
        low, high = over_queries(draws, consistent)
        held.append(low <= 0.9 <= high)
        found = self_consistency([1200], [consistent.sum()], [1200], [consistent.sum()])
        as_independent.append(found.low[0] <= 0.9 <= found.high[0])
    assert np.mean(held) >= 0.9
    assert np.mean(as_independent) < 0.75
    assert np.isnan(over_queries(np.ones(4), np.ones(4))).all(), "too few queries"


def test_few_queries_with_most_runs_are_few_queries():
    """Three queries of 320 runs and thirty of 16: of as many that are alike the interval would be narrower."""
    draws = np.repeat([320.0, 16.0], [3, 30])
    agreed = draws * np.where(np.arange(33) % 2, 0.85, 0.95)
    low, high = over_queries(draws, agreed)
    alike = share_interval(
        float(agreed.sum() / draws.sum()),
        (agreed.sum() - agreed) / (draws.sum() - draws),
        33,
        0.95,
        float(draws.sum()),
    )
    assert low < alike[0] - 0.015
    assert high > alike[1]


def test_runs_survive_undo_export_and_copying(ws, table, tmp_path):
    ws.ingest(table("a q r j 1 1", "a q r j 2 0", header=HEADER), "d")
    before = ws.dataset("d").fingerprint
    ws.ingest(table("a q r j 3 1", "b q r j 1 1", header=HEADER), "d")
    assert ws.dataset("d").fingerprint != before
    ws.duplicate("d", "copy")
    assert ws.dataset("copy").labels().equals(ws.dataset("d").labels())
    assert ws.dataset("copy").fingerprint == ws.dataset("d").fingerprint
    tables = ws.dataset("d").tables()
    ws.ingest(tables["labels"].to_csv(index=False).encode(), "again")
    assert ws.dataset("again").fingerprint == ws.dataset("d").fingerprint
    ws.undo("d")
    assert ws.dataset("d").fingerprint == before
    assert ws.dataset("d").runs == ("1", "2")


def test_the_name_of_a_run_is_content(ws, table):
    for name, runs in (("one", "12"), ("other", "13"), ("none", None)):
        header = HEADER if runs else HEADER.replace(" run", "")
        rows = [f"a{i} q r j {run} 1" if runs else f"a{i} q r j 1" for i, run in enumerate(runs or "12")]
        ws.ingest(table(*rows, header=header), name)
    assert len({ws.dataset(name).fingerprint for name in ("one", "other", "none")}) == 3


def test_repeats_of_another_response_are_refused(ws, table):
    ws.ingest(table("a q r j 1"), "d")
    with pytest.raises(DatasetError, match="response"):
        ws.dataset("d").repeats("graded")
