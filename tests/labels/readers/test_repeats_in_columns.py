"""Wide tables whose columns number repeated draws of one judge, or sum up what others hold: neither is a judge."""

# ruff: noqa: E501 - a layout's records, each in one line
from __future__ import annotations

import json
import re
from itertools import count

import pytest

from crubric_core.errors import IngestError
from tests.labels.readers.test_layouts import MODELS, label, table
from tests.tiers import crossed

QUERIES = ("q0", "q1")


def wide(columns, keys=("model", "question_id", "rubric")):
    own = {"rubric": "clear", "judge": "j1"}
    rows = [
        [{"model": m, "question_id": q}.get(k) or own[k] for k in keys] + [label(m, q, c) for c in columns]
        for m in MODELS
        for q in QUERIES
    ]
    return table([*keys, *columns], rows)


@pytest.mark.parametrize(
    "name", ["run{}", "trial_{}", "seed_{}", "Attempt {}", "run_{}_score", "score_rep{}"]
)
def test_numbered_repeats_are_runs_of_one_judge(ws, name):
    """They were judges, as many as there are draws: their agreement is none of judges."""
    columns = [name.format(i) for i in range(3)]
    ws.ingest(wide(columns), "d", name="x.csv")
    dataset = ws.dataset("d")
    assert len(dataset.judges) == 1
    assert dataset.labels()["run"].nunique() == 3
    assert len(dataset.labels()) == len(MODELS) * len(QUERIES) * 3


def test_repeats_stand_beside_a_judge_and_without_a_rubric(ws):
    columns = ["seed_0", "seed_1"]
    ws.ingest(wide(columns, ("model", "question_id", "rubric", "judge")), "d", name="x.csv")
    assert ws.dataset("d").judges == ("j1",)
    report = ws.ingest(wide(columns, ("model", "question_id")), "e", name="x.csv")
    assert set(ws.dataset("e").labels()["run"]) == set(columns)
    assert any("only rubric" in n for n in report.notes)


def test_people_beside_repeats_are_gold(ws):
    report = ws.ingest(wide(["run1", "run2", "human"]), "d", name="x.csv")
    assert set(ws.dataset("d").labels()["run"]) == {"run1", "run2"}
    assert any("'human' is read as ground truth" in n for n in report.notes)


@pytest.mark.parametrize("columns", [("run1", "run2", "gpt4"), ("run1", "run2")])
def test_repeats_beside_judges_or_without_a_system_are_asked_about(ws, columns):
    keys = ("question_id", "rubric") if len(columns) == 2 else ("model", "question_id", "rubric")
    with pytest.raises(IngestError, match="this mapping") as refused:
        ws.ingest(wide(columns, keys), "d", name="x.csv")
    if len(columns) == 2:
        assert '"run": ["run1", "run2"]' in str(refused.value)


@pytest.mark.parametrize(
    "name", ["agreement", "flagged", "confidence_gpt4", "final_score", "final", "mean", "average", "overall"]
)
def test_what_sums_up_judges_is_no_judge(ws, name):
    report = ws.ingest(wide(["gpt4", "claude", name]), "d", name="x.csv")
    assert set(ws.dataset("d").judges) == {"gpt4", "claude"}
    assert any(n.startswith("Not used") and name in n for n in report.notes)


def test_what_sums_up_criteria_is_no_rubric_and_alone_it_is_one(ws):
    report = ws.ingest(
        wide(["tone", "cites", "final_score", "flagged"], ("model", "question_id")), "d", name="x.csv"
    )
    assert {r.rpartition("#")[2] for r in ws.dataset("d").labels()["rubric"]} == {"tone", "cites"}
    assert any("'final_score' and 'flagged' are not used, because their names say" in n for n in report.notes)
    ws.ingest(wide(["final_score"], ("model", "question_id")), "e", name="x.csv")
    assert {r.rpartition("#")[2] for r in ws.dataset("e").labels()["rubric"]} == {"final_score"}


def drawn(dataset):
    """(judge, rubric, run) of the labels."""
    found = dataset.labels()
    bare = found["rubric"].str.rpartition("#")[2]
    return set(zip(found["judge"], bare, found["run"], strict=True))


@pytest.mark.parametrize(
    ("name", "judges", "keys"),
    crossed(
        ["{}_run{}", "{} (run {})", "{}_score_rep{}", "{}-seed-{}", "{}.trial{}_score"],
        [("judgeA", "judgeB"), ("gpt4", "claude"), ("rater 1", "rater 2")],
        [("model", "question_id", "rubric"), ("model", "question_id")],
    ),
)
def test_judges_times_repeats_are_runs_of_each_judge(ws, name, judges, keys):
    """Each was a judge of its own, or a criterion."""
    report = ws.ingest(wide([name.format(j, n) for j in judges for n in (1, 2)], keys), "d", name="x.csv")
    assert ws.dataset("d").judges == tuple(sorted(judges))
    assert ws.dataset("d").labels()["run"].nunique() == 2
    assert any("numbered draws" in n and "of each judge" in n for n in report.notes)


def test_repeats_may_stand_first_be_unequal_and_stand_beside_people(ws):
    ws.ingest(wide(["run1_gpt4", "run2_gpt4", "run1_claude", "human"]), "d", name="x.csv")
    assert drawn(ws.dataset("d")) == {
        (j, "clear", r) for j, r in (("gpt4", "run1"), ("gpt4", "run2"), ("claude", "run1"))
    }
    assert set(ws.dataset("d").gold()["annotator"]) == {"human"}


def test_criteria_and_judges_times_criteria_may_be_repeated_too(ws):
    keys = ("model", "question_id")
    ws.ingest(wide([f"{c}_run{n}" for c in ("tone", "cites") for n in (1, 2)], keys), "d", name="x.csv")
    assert drawn(ws.dataset("d")) == {("judge", c, f"run{n}") for c in ("tone", "cites") for n in (1, 2)}
    parts = [(j, c, f"run{n}") for j in ("gpt4", "claude") for c in ("tone", "cites") for n in (1, 2)]
    ws.ingest(wide(["_".join(p) for p in parts], keys), "e", name="x.csv")
    assert drawn(ws.dataset("e")) == set(parts)
    report = ws.ingest(wide(["_".join(p) for p in parts], keys[1:]), "f", name="x.csv", on_conflict="last")
    assert ws.dataset("f").systems == ("claude", "gpt4")
    assert not any("mapping" in n or "{" in n for n in report.notes)


JUDGES, RUNS = ("judge_a", "judge_b"), ("run1", "run2")
# a record's scores → (judge, rubric, run) of its labels
KEYED = {
    "judges and runs in one key": (lambda v: {f"{j}-{r}": v() for j in JUDGES for r in RUNS}, {(j, "score", r) for j in JUDGES for r in RUNS}),
    "criteria and runs in one key": (lambda v: {f"{c}_{r}": v() for c in ("tone", "cites") for r in RUNS}, {("judge", c, r) for c in ("tone", "cites") for r in RUNS}),
    "runs": (lambda v: {r: v() for r in RUNS}, {("judge", "score", r) for r in RUNS}),
    "judges, then runs": (lambda v: {j: {r: v() for r in RUNS} for j in JUDGES}, {(j, "score", r) for j in JUDGES for r in RUNS}),
    "runs, then criteria": (lambda v: {r: {c: v() for c in ("tone", "cites")} for r in RUNS}, {("judge", c, r) for c in ("tone", "cites") for r in RUNS}),
}  # fmt: skip


@pytest.mark.parametrize("name", KEYED)
def test_keys_of_nested_scores_may_number_repeats(ws, name):
    scores, wanted = KEYED[name]
    levels = count()
    records = [
        {"model": m, "question_id": q, "scores": scores(lambda: next(levels) % 3)}
        for m in MODELS
        for q in QUERIES
    ]
    ws.ingest("\n".join(map(json.dumps, records)).encode(), "d", name="x.jsonl")
    assert drawn(ws.dataset("d")) == wanted


def test_keys_that_are_called_judge_are_judges(ws):
    records = [{"model": m, "question_id": q, "scores": {j: label(m, q, j) for j in JUDGES}} for m in MODELS for q in QUERIES]  # fmt: skip
    ws.ingest("\n".join(map(json.dumps, records)).encode(), "d", name="x.jsonl")
    assert ws.dataset("d").judges == JUDGES


@pytest.mark.parametrize("judges", [("judge_a", "judge_b"), ("judgeA", "judgeB")])
def test_lettered_judges_are_judges(ws, judges):
    """Beside a system and a query they were two criteria."""
    report = ws.ingest(wide(judges, ("model", "question_id")), "d", name="x.csv")
    assert ws.dataset("d").judges == judges
    assert any("only rubric" in n for n in report.notes)


def test_columns_that_are_only_numbered_are_judges_and_told_how_to_be_runs(ws):
    report = ws.ingest(wide(["score_1", "score_2"]), "d", name="x.csv")
    assert ws.dataset("d").judges == ("1", "2")
    (told,) = (n for n in report.notes if "repeated draws" in n)
    mapping = json.loads(re.search(r"\{.*\}", told)[0])
    ws.ingest(wide(["score_1", "score_2"]), "e", name="x.csv", mapping=mapping)
    assert len(ws.dataset("e").judges) == 1
