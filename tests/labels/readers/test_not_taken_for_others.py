"""What looks like something else by a part of its names or cells, and is not."""

from __future__ import annotations

import json

import pytest

from crubric_core.errors import IngestError

MODELS = ("gpt-4o", "claude-3")


def table(head, rows):
    return "\n".join([head, *(",".join(map(str, row)) for row in rows)]).encode()


def lines(*records):
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def read(ws, content, name="labels.csv"):
    files = content if isinstance(content, list) else [(name, content)]
    ws.ingest(files, "d")
    return ws.dataset("d")


def test_a_polarity_of_queries_in_words_turns_no_label(ws):
    rows = [
        (m, f"q{q}", ("positive", "negative")[q % 2], (q + n) % 2)
        for n, m in enumerate(MODELS)
        for q in range(10)
    ]
    assert (read(ws, table("model,query,polarity,correct", rows)).rubrics["polarity"] == 1).all()


def test_a_polarity_of_what_was_said_turns_no_label(ws):
    said = [("food", "negative"), ("service", "positive")], [("food", "positive"), ("service", "negative")]
    rows = [
        (m, f"q{q}", aspect, polarity, (q + n) % 2)
        for n, m in enumerate(MODELS)
        for q in range(8)
        for aspect, polarity in said[q % 2]
    ]
    assert (read(ws, table("model,query,rubric,polarity,label", rows)).rubrics["polarity"] == 1).all()


def test_queries_are_told_apart_by_all_that_their_objects_say(ws):
    records = [
        {"system": m, "query": {"id": i, "dataset": d}, "rubric": f"{d} {i}", "label": (i + n) % 2}
        for n, m in enumerate(MODELS)
        for i in range(4)
        for d in ("gsm8k", "math")
    ]
    assert read(ws, lines(*records), "x.jsonl").counts()["queries"] == 8


@pytest.mark.parametrize("holder", ["evaluators", "judges", "raters"])
def test_keys_called_like_criteria_are_criteria_whatever_holds_them(ws, holder):
    records = [
        {
            "model": m,
            "query": f"q{q}",
            holder: {c: {"score": 1 + (q + n + k) % 4} for k, c in enumerate(("relevance", "faithfulness"))},
        }
        for n, m in enumerate(MODELS)
        for q in range(6)
    ]
    found = read(ws, lines(*records), "x.jsonl")
    assert set(found.criteria["criterion"]) == {"relevance", "faithfulness"}
    assert len(found.judges) == 1


def test_criteria_among_the_scores_of_a_judge_are_read_without_a_question(ws):
    records = [
        {"model": m, "query": f"q{q}", "judge_scores": {"relevance": 1 + (q + n) % 4, "coherence": 1 + q % 3}}
        for n, m in enumerate(MODELS)
        for q in range(6)
    ]
    assert len(read(ws, lines(*records), "x.jsonl").criteria) == 2


def test_tags_of_the_query_beside_a_score_are_no_criteria(ws):
    rows = [
        (m, q, q % 2, q // 2 % 2, q % 3 % 2, 1 + (q + n) % 5) for n, m in enumerate(MODELS) for q in range(12)
    ]
    found = read(ws, table("model,question_id,specificity,complexity,creativity,score", rows))
    assert found.counts()["labels"] == 24


@pytest.mark.parametrize("name", ["difficulty.csv", "info.csv", "gpt-4-flags.csv"])
def test_a_table_about_queries_beside_labels_of_named_systems_is_no_system(ws, name):
    labels = table(
        "system,query,clarity,tone",
        [(m, f"q{q}", q % 2, (q + n) % 2) for n, m in enumerate(MODELS) for q in range(8)],
    )
    about = table("query,clarity,hardness", [(f"q{q}", q % 2, q // 2 % 2) for q in range(8)])
    found = read(ws, [("w.csv", labels), (name, about)])
    assert sorted(found.systems) == sorted(MODELS)
    assert found.counts()["labels"] == 32


def test_scores_in_per_cent_that_all_differ_are_no_running_numbers(ws):
    scores = [71, 64, 83, 77, 68, 74, 80, 66, 62, 79, 85, 73, 69, 81]
    rows = [(MODELS[i % 2], f"q{i // 2}", s, 50 + i % 3) for i, s in enumerate(scores)]
    assert read(ws, table("system,query,helpfulness,clarity", rows)).counts()["labels"] == 28


def test_runs_that_agree_are_no_key_of_answers(ws):
    rows = [("gpt-4o", f"q{q}", run, q % 2) for q in range(25) for run in (0, 1, 2)]
    assert ws.ingest(table("model,question_id,run,correct", rows), "d").accepted == 75


def test_a_judge_who_gave_both_systems_the_same_in_a_few_rows_is_a_judge(ws):
    rows = [
        (m, f"q{q}", f"r{r}", (q + r + n) % 2, (q + n) % 2, (q + r) % 2)
        for n, m in enumerate(MODELS)
        for q in range(2)
        for r in range(2)
    ]
    assert len(read(ws, table("system,query,rubric,anna,ben,cara", rows)).judges) == 3


@pytest.mark.parametrize(
    ("systems", "queries"),
    [
        (("Max", "GPT-4", "Claude 3"), ("q1", "q2")),
        (("a", "b"), ("max", "two sum", "min sum path")),
        (("a", "b"), ("count", "word count", "line count")),
        (("a", "b"), ("sum.", "prod.", "div.")),
    ],
)
def test_names_of_statistics_may_be_those_of_systems_and_queries(ws, systems, queries):
    rows = [(s, q, "clear", (i + k) % 2) for i, s in enumerate(systems) for k, q in enumerate(queries)]
    counts = read(ws, table("system,query,rubric,label", rows)).counts()
    assert (counts["systems"], counts["queries"]) == (len(systems), len(queries))


def test_a_system_that_names_no_model_is_asked_about(ws):
    records = [
        {"system": {"version": v}, "query": f"q{q}", "rubric": "clear", "label": q % 2}
        for v in (1, 2)
        for q in range(3)
    ]
    with pytest.raises(IngestError, match="what names it"):
        read(ws, lines(*records), "x.jsonl")


def criteria_of(ws, name="d"):
    return {r.rpartition("#")[2] for r in ws.dataset(name).rubrics["rubric"]}


def graded(*beside):
    """Two criteria of each answer, and what stands beside them."""
    return [(m, f"q{q}", (q + n) % 2, q // 2 % 2, *beside) for n, m in enumerate(MODELS) for q in range(8)]


@pytest.mark.parametrize("flag", ["is_final", "is_valid", "completed", "Approved"])
def test_that_all_rows_are_ready_is_no_criterion(ws, flag):
    report = ws.ingest(table(f"model,query,clear,right,{flag}", graded(True)), "d", name="x.csv")
    assert criteria_of(ws) == {"clear", "right"}
    assert any("Not used" in note and flag in note for note in report.notes)


def test_a_check_that_some_answers_fail_is_a_criterion(ws):
    rows = [(*row, row[1] != "q3") for row in graded()]
    ws.ingest(table("model,query,clear,right,is_valid", rows), "d", name="x.csv")
    assert criteria_of(ws) == {"clear", "right", "is_valid"}


def test_what_several_draws_reach_is_no_criterion_of_one_answer(ws):
    ws.ingest(table("model,query,correct,concise,pass@5,pass@10", graded(1, 1)), "d", name="x.csv")
    assert criteria_of(ws) == {"correct", "concise"}
    rows = [row[:4] for row in graded()]
    ws.ingest(table("model,query,pass@1,pass@5", rows), "e", name="x.csv")
    assert criteria_of(ws, "e") == {"pass@1"}


@pytest.mark.parametrize(
    ("blank", "filled"),
    [("label", "score"), ("judge", "rater"), ("system", "model"), ("query", "question_id")],
)
def test_a_column_that_is_blank_gives_way_to_another_of_its_kind(ws, blank, filled):
    """Labels of which all were unknown, or rows of which none had a name."""
    cells = {
        "system": "model",
        "query": "question_id",
        "rubric": "rubric",
        "judge": "rater",
        "label": "score",
    }
    head = [filled if name == blank else name for name in cells]
    rows = [
        (m, f"q{q}", c, j, (q + n) % 3, "")
        for n, m in enumerate(MODELS)
        for q in range(6)
        for c in ("a", "b")
        for j in ("x", "y")
    ]
    report = ws.ingest(table(",".join([*head, blank]), rows), "d", name="x.csv")
    labels = ws.dataset("d").labels()
    assert len(labels) == labels["label"].count() == 48
    assert (labels["system"].nunique(), labels["query"].nunique(), labels["judge"].nunique()) == (2, 6, 2)
    assert any(f"the {blank} is its column {filled!r}, because {blank!r} is blank" in n for n in report.notes)


def test_of_several_columns_beside_a_blank_label_the_user_is_asked(ws):
    rows = [(m, f"q{q}", "a", "", q % 3, q % 2) for m in MODELS for q in range(6)]
    with pytest.raises(IngestError, match="could each be the label"):
        read(ws, table("system,query,rubric,label,score,rating", rows))


def test_labels_that_are_all_blank_stay_unknown(ws):
    rows = [(m, f"q{q}", "a", "") for m in MODELS for q in range(6)]
    labels = read(ws, table("system,query,rubric,label", rows)).labels()
    assert len(labels) == 12
    assert not labels["label"].count()


def test_an_original_and_a_revised_score_are_no_judges(ws):
    rows = [(m, f"q{q}", c, (q + n) % 3, q % 3) for n, m in enumerate(MODELS) for q in range(6) for c in "ab"]
    content = table("model,query,criterion,original_score,revised_score", rows)
    with pytest.raises(IngestError, match="named like versions of one") as told:
        read(ws, content)
    mapping = json.loads(str(told.value).partition("by the mapping ")[2].rstrip("."))
    ws.ingest(content, "d", name="x.csv", mapping=mapping)
    labels = ws.dataset("d").labels()
    assert (len(labels), set(labels["judge"])) == (24, {"judge"})
    assert {(r.query, r.label) for r in labels.itertuples()} == {(f"q{q}", q % 3) for q in range(6)}
