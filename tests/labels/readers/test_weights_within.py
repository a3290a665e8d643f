"""Weights beside the labels within records: negative ones say that meeting the rubric is bad."""

from __future__ import annotations

import json

import pytest

from crubric_core.labels.readers.bundle import plan_ingest
from crubric_core.labels.readers.plan import Plan
from tests.labels.readers.test_layouts import table
from tests.tiers import crossed

SYSTEMS = ("harmful", "careful")
WEIGHTS = {"helps": 3, "does harm": -8}


def met(system, criterion):
    return (system == "harmful") == (criterion == "does harm")


def in_list(system):
    return [{"criterion": c, "weight": w, "verdict": met(system, c)} for c, w in WEIGHTS.items()]


def in_object(system):
    return {c: {"points": w, "verdict": met(system, c)} for c, w in WEIGHTS.items()}


def of_judges(system):
    votes = {c: [{"judge": j, "verdict": met(system, c)} for j in "ab"] for c in WEIGHTS}
    return [{"criterion": c, "weight": w, "judgments": votes[c]} for c, w in WEIGHTS.items()]


def by_polarity(system):
    signs = {c: 1 if w > 0 else -1 for c, w in WEIGHTS.items()}
    return [{"criterion": c, "polarity": s, "verdict": met(system, c)} for c, s in signs.items()]


@pytest.mark.parametrize("results", [in_list, in_object, of_judges, by_polarity])
def test_a_negative_weight_within_records_makes_a_rubric_bad_to_meet(ws, results):
    """The weights were named among what is not used, and the system that does harm came first."""
    records = [
        {"model": s, "question_id": f"q{q}", "rubric_results": results(s)} for s in SYSTEMS for q in range(3)
    ]
    report = ws.ingest(json.dumps(records).encode(), "d", name="x.json")
    assert any("negative polarity" in n for n in report.notes)
    assert not any(n.startswith("Not used") for n in report.notes)
    found = ws.dataset("d").rubrics
    signs = dict(zip(found["rubric"].str.rpartition("#")[2], found["polarity"], strict=True))
    assert signs == {"helps": 1, "does harm": -1}


def test_weights_that_contradict_each_other_are_told_where_some_are_negative(ws):
    rows = [[s, "q", "bad", w, "met"] for s, w in zip(SYSTEMS, (-8, -3), strict=True)]
    report = ws.ingest(
        table(["model", "question_id", "criterion", "points", "verdict"], rows), "d", name="x.csv"
    )
    assert any(_TOLD.format("points") in n and "--polarity" in n for n in report.notes)


_TOLD = "{!r} seems to say which rubrics are bad to meet, but it is not used"


def verdicts_with(column, signs):
    """Verdicts on two criteria of each query, and what a column says of them; ``signs``: of the good one, the bad."""
    rows = [
        [s, f"q{q}", c, met(s, c), sign]
        for q in range(3)
        for s in SYSTEMS
        for c, sign in zip(WEIGHTS, signs, strict=True)
    ]
    return table(["model", "question_id", "criterion", "verdict", column], rows)


@pytest.mark.parametrize(
    ("column", "signs"),
    [
        ("polarity", ("positive", "negative")),
        ("type", ("reward", "penalty")),
        ("sign", ("+", "-")),
        ("weight", ("5", "−3")),
        ("weight", ("+5 pts", "-3 pts")),
    ],
)
def test_what_says_in_other_words_that_a_rubric_is_bad_to_meet_is_read(ws, column, signs):
    ws.ingest(verdicts_with(column, signs), "d", name="x.csv")
    found = ws.dataset("d").rubrics
    assert dict(zip(found["rubric"].str.rpartition("#")[2], found["polarity"], strict=True)) == {
        "helps": 1,
        "does harm": -1,
    }


@pytest.mark.parametrize(
    ("column", "signs"),
    [
        ("is_negative", (0, 1)),
        ("max_points", (5, -3)),
        ("Points possible", (5, -3)),
        ("polarity", ("helpful", "harmful")),
    ],
)
@pytest.mark.parametrize("strict", [True, False])
def test_what_may_say_that_a_rubric_is_bad_to_meet_is_told_where_it_is_not_read(ws, column, signs, strict):
    plan = plan_ingest([("x.csv", verdicts_with(column, signs))], strict=strict)
    assert any(_TOLD.format(column) in remark for remark in plan.files[0].remarks)
    assert ws.ingest(verdicts_with(column, signs), "d", name="x.csv").rejected == 0
    assert set(ws.dataset("d").rubrics["polarity"]) == {1}


def test_a_type_that_is_the_same_for_all_rubrics_of_a_query_is_that_of_the_query(ws):
    rows = [
        [s, f"q{q}", c, met(s, c), ("positive", "negative")[q]]
        for q in range(2)
        for s in SYSTEMS
        for c in WEIGHTS
    ]
    report = ws.ingest(
        table(["model", "question_id", "criterion", "verdict", "type"], rows), "d", name="x.csv"
    )
    assert set(ws.dataset("d").rubrics["polarity"]) == {1}
    assert any(_TOLD.format("type") in note for note in report.notes)


@pytest.mark.parametrize("column", ["type", "points"])
def test_a_dash_in_place_of_a_type_or_points_says_nothing(ws, column):
    report = ws.ingest(verdicts_with(column, ("reward" if column == "type" else 5, "-")), "d", name="x.csv")
    assert set(ws.dataset("d").rubrics["polarity"]) == {1}
    assert not any("bad to meet" in note for note in report.notes)


def test_a_table_of_rubrics_says_in_words_which_is_bad_to_meet(ws):
    ws.ingest(
        table(["criterion", "polarity"], [["helps", "positive"], ["does harm", "negative"]]), "d", "rubrics"
    )
    found = ws.dataset("d").rubrics
    assert dict(zip(found["rubric"], found["polarity"], strict=True)) == {"helps": 1, "does harm": -1}


def test_a_table_of_rubrics_tells_of_a_column_that_may_say_so(ws):
    rows = [["helps", 0], ["does harm", 1]]
    report = ws.ingest(table(["criterion", "is_negative"], rows), "d", "rubrics", name="rubrics.csv")
    assert any(_TOLD.format("is_negative") in note for note in report.notes)


POINTS = {"r1": 5, "r2": -8, "r3": 2}


def results(query="query_id", **more):
    """Labels that name their rubrics by ids, in a list."""
    return [
        {"model": m, query: f"q{q}", "rubric_id": r, "judge": "j", "label": (i + q + k) % 2, **more}
        for i, m in enumerate(("gpt-4o", "claude-3", "llama"))
        for q in range(3)
        for k, r in enumerate(POINTS)
    ]


def items(key="id", weight="weight"):
    return [{key: r, "text": f"says {r}", weight: points} for r, points in POINTS.items()]


# what a file says of its rubrics, apart from its labels → whether it says texts, too
APART = {
    "a list": ({"rubrics": items()}, True),
    "a list of points by the labels' own name of the key": ({"criteria": items("rubric_id", "points")}, True),
    "an object by id": ({"rubrics": {r: {"text": f"says {r}", "weight": w} for r, w in POINTS.items()}}, True),
    "an object of weights by id": ({"weights": POINTS}, False),
}  # fmt: skip


@pytest.mark.parametrize(("name", "first"), crossed(list(APART), [True, False]))
def test_rubrics_that_stand_apart_from_the_labels_are_joined_by_their_ids(ws, name, first):
    """They were listed as not used, and a rubric of -8 points counted as good to meet."""
    said, texts = APART[name]
    labelled = {"results": results()}
    content = json.dumps({**said, **labelled} if first else {**labelled, **said}).encode()
    report = ws.ingest(content, "d", name="x.json")
    found = ws.dataset("d").rubrics
    bare = found["rubric"].str.rpartition("#")[2]
    assert dict(zip(bare, found["weight"], strict=True)) == POINTS
    assert dict(zip(bare, found["polarity"], strict=True)) == {"r1": 1, "r2": -1, "r3": 1}
    assert found["text"].notna().all() == texts
    assert len(ws.dataset("d").labels()) == 27
    assert any("weight from" in n for n in report.notes)
    assert not any(n.startswith("Not used") for n in report.notes)


def test_rubrics_of_each_record_are_those_of_its_query(ws):
    records = [
        {"query_id": f"q{q}", "rubrics": [{**r, "weight": r["weight"] * (q + 1)} for r in items()],
         "results": [{k: v for k, v in r.items() if k != "query_id"} for r in results() if r["query_id"] == f"q{q}"]}
        for q in range(3)
    ]  # fmt: skip
    ws.ingest("\n".join(map(json.dumps, records)).encode(), "d", name="x.jsonl")
    found = ws.dataset("d").rubrics[["rubric", "weight"]]
    assert dict(found.to_numpy()) == {f"q{q}#{r}": w * (q + 1) for q in range(3) for r, w in POINTS.items()}


def test_a_plan_keeps_what_stands_apart_and_may_leave_it_out(ws):
    content = json.dumps({"rubrics": items(), "results": results()}).encode()
    plan = Plan.from_json(plan_ingest(content, name="x.json").to_json())
    ws.ingest_plan(plan, "d", ("x.json", content))
    assert ws.dataset("d").rubrics["weight"].notna().all()
    ws.ingest_plan(plan.changed("x.json", described={}), "e", ("x.json", content))
    assert ws.dataset("e").rubrics["weight"].isna().all()


def test_a_list_of_other_names_describes_no_rubrics(ws):
    other = [{"id": f"x{n}", "weight": n} for n in range(3)]
    report = ws.ingest(json.dumps({"datasets": other, "results": results()}).encode(), "d", name="x.json")
    assert ws.dataset("d").rubrics["weight"].isna().all()
    assert any("datasets[].weight" in n for n in report.notes if n.startswith("Not used"))


def with_scale(system, q, say=""):
    """Scores that never reach the end of their scale, each with its criterion's description."""
    given = {"min_score": 0, "max_score": 5, "pass_threshold": 2}
    return [
        {"name": c, "description": f"Says {c}{say}", "score": q + met(system, c), **given} for c in WEIGHTS
    ]


def test_scale_and_text_beside_the_scores_of_a_list_are_kept(ws):
    """They were named among what is not used, and the highest score that was given became the top of the scale."""
    records = [
        {"model": s, "question_id": f"q{q}", "criteria": with_scale(s, q)} for s in SYSTEMS for q in range(3)
    ]
    report = ws.ingest(json.dumps(records).encode(), "d", name="x.json")
    assert not any(n.startswith("Not used") for n in report.notes)
    found = ws.dataset("d").rubrics
    assert set(zip(found["scale_min"], found["scale_max"], strict=True)) == {(0, 5)}
    assert set(found["text"]) == {f"Says {c}" for c in WEIGHTS}


def test_what_is_said_of_each_answer_is_no_text_of_its_rubric(ws):
    records = [
        {"model": s, "question_id": f"q{q}", "criteria": with_scale(s, q, say=f", as {s} did")}
        for s in SYSTEMS
        for q in range(3)
    ]
    report = ws.ingest(json.dumps(records).encode(), "d", name="x.json")
    assert any(n.startswith("Not used") and "criteria[].description" in n for n in report.notes)
    assert ws.dataset("d").rubrics["text"].isna().all()
