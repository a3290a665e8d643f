"""Results of systems within JSON: criteria beside each other, metrics of each item, ids further out, comparisons."""

from __future__ import annotations

import json
import re

import pandas as pd
import pytest

from crubric_core.errors import IngestError
from tests.labels.readers.test_layouts import MODELS, cells, label

QUERIES = ("p0", "p1", "p2", "p3")
VARIANTS = ("plain", "tuned")


def refusal(ws, records, **options) -> str:
    with pytest.raises(IngestError) as told:
        ws.ingest(json.dumps(records).encode(), "d", name="x.json", **options)
    return str(told.value)


def as_shown(ws, records):
    """The cells that the mapping in the refusal gives, with a name in place of what it leaves open."""
    mapping = json.loads(re.search(r"\{\".*\}", refusal(ws, records))[0])
    mapping = {c: "=mine" if path == "=…" else path for c, path in mapping.items()}
    ws.ingest(json.dumps(records).encode(), "d", name="x.json", mapping=mapping)
    return cells(ws)


@pytest.mark.parametrize("names", [VARIANTS, MODELS])
def test_lists_of_the_same_queries_with_a_field_a_criterion_are_one_a_system(ws, names):
    """Their keys were left out, so that the rows of different systems contradicted each other."""

    def rows(name):
        return [
            {"clarity": 1 + label(q, name), "tone": 1 + label(q, name, 1), "why": f"so {q}", "prompt_id": q}
            for q in QUERIES
        ]

    records = {"judge_model": "gpt-4o", "details": {name: rows(name) for name in names}}
    wanted = {
        (name, q, f"{q}#{c}", "gpt-4o"): 1 + level
        for name in names
        for q in QUERIES
        for c, level in (("clarity", label(q, name)), ("tone", label(q, name, 1)))
    }
    if names == VARIANTS:
        assert as_shown(ws, records) == wanted
    else:
        ws.ingest(json.dumps(records).encode(), "d", name="x.json")
        assert cells(ws) == wanted


def test_lists_of_other_queries_each_are_not_taken_for_systems(ws):
    records = {
        "judge_model": "gpt-4o",
        "details": {
            group: [
                {"clarity": 1 + label(q, group), "tone": 1 + label(q, 1), "prompt_id": f"{group}{q}"}
                for q in QUERIES
            ]
            for group in ("easy", "hard")
        },
    }
    assert '"system": "details{}.#"' not in refusal(ws, records)


def test_metrics_of_each_item_are_rubrics_and_its_name_is_the_query(ws):
    """The metrics were taken for judges, and the names of the test cases for rubrics."""
    records = {
        "results": [
            {
                "name": q,
                "input": f"ask {q}",
                "metrics": {
                    m: {"score": 0.5 + label(q, m) / 3, "success": bool(label(q, m)), "reason": "so"}
                    for m in ("relevancy", "faithfulness")
                },
            }
            for q in QUERIES
        ]
    }
    ws.ingest(json.dumps(records).encode(), "d", name="x.json", mapping={"system": "=mine"})
    assert cells(ws) == {
        ("mine", q, f"{q}#{m}", "judge"): label(q, m) for q in QUERIES for m in ("relevancy", "faithfulness")
    }


def test_an_item_that_failed_does_not_hide_the_only_metric_of_the_others(ws):
    """Its own ``success`` was taken for the label, of which all other items have none."""
    items = [
        {"name": q, "metrics": {"relevancy": {"score": 0.4, "success": bool(label(q))}}} for q in QUERIES
    ]
    records = {"results": [*items, {"name": "p9", "error": "timed out", "success": False}]}
    found = {key: level for key, level in as_shown(ws, records).items() if not pd.isna(level)}
    assert found == {("mine", q, f"{q}#relevancy", "judge"): label(q) for q in QUERIES}


def test_methods_in_a_list_are_rubrics_of_the_item_around_them(ws):
    """They were numbered, and nothing named the queries, so that all rows contradicted each other."""
    records = {
        "results": [
            {
                "id": q,
                "ground_truth": bool(label(q, 9)),
                "evaluation": {
                    "results": [
                        {"method": m, "equivalent": bool(label(q, m)), "reasoning": "so", "cost": 0.0}
                        for m in ("exact", "similar", "canonical")
                    ]
                },
            }
            for q in QUERIES
        ]
    }
    assert as_shown(ws, records) == {
        ("mine", q, f"{q}#{m}", "judge"): label(q, m)
        for q in QUERIES
        for m in ("exact", "similar", "canonical")
    }


def test_ids_of_systems_around_a_list_are_no_queries(ws):
    records = {
        "systems": [
            {"id": m, "checks": [{"criterion": c, "passed": bool(label(m, c))} for c in ("clear", "short")]}
            for m in MODELS
        ]
    }
    assert '"query": "systems[].id"' not in refusal(ws, records)


def test_what_names_each_record_is_the_query_where_rows_would_repeat(ws):
    """Nothing told the queries apart, and no row could be used."""
    records = [
        {
            "status": "done",
            "value": {
                "evalPath": f"00{n}-{q}",
                "models": [{"model": m, "score": label(n, m)} for m in MODELS],
            },
        }
        for n, q in enumerate(QUERIES)
    ]
    report = ws.ingest(json.dumps(records).encode(), "d", name="x.json")
    assert any("the query is its 'value.evalPath'" in note for note in report.notes)
    assert cells(ws) == {
        (m, f"00{n}-{q}", f"00{n}-{q}#score", "judge"): label(n, m)
        for n, q in enumerate(QUERIES)
        for m in MODELS
    }


@pytest.mark.parametrize(
    "records",
    [
        {
            "matches": [
                {"question_id": q, "system_a": "x", "system_b": "y", "winner": "xy"[label(q)]}
                for q in QUERIES
            ]
        },
        {"x_vs_y": ["A", "B", "TIE", "A"], "y_vs_z": ["B", "TIE", "A", "A"]},
    ],
)
def test_winners_in_lists_are_said_to_compare(ws, records):
    assert "says which of two answers is better" in refusal(ws, records)


@pytest.mark.parametrize("outer", [True, False])
def test_scores_of_a_and_b_are_said_to_be_of_two_answers(ws, outer):
    """A and B were offered as judges of one system, or as two criteria."""

    def scores(q):
        sides = {s: {c: 1 + label(q, s, c) for c in ("clarity", "tone")} for s in "AB"}
        return sides if outer else {c: {s: sides[s][c] for s in "AB"} for c in ("clarity", "tone")}

    records = [{"prompt": q, "scores": scores(q)} for q in QUERIES]
    assert "holds two answers in each row" in refusal(ws, records)


def test_what_marks_a_few_answers_without_labels_is_no_rubric(ws):
    rows = [
        {"question_id": q, "model": m, "correctness": ("wrong", "correct")[label(q, m)]}
        for q in QUERIES
        for m in MODELS
    ]
    records = [
        *rows,
        {"question_id": "p9", "model": MODELS[0], "abstained": True, "correctness": "not_applicable"},
    ]
    ws.ingest("\n".join(map(json.dumps, records)).encode(), "d", name="x.jsonl")
    assert {rubric.partition("#")[2] for _, _, rubric, _ in cells(ws)} == {"correctness"}


def test_texts_with_a_line_for_each_criterion_are_offered_one_by_one(ws):
    """They were said to be a table of queries."""
    records = [
        {
            "id": n,
            "question": q,
            "evaluation": f"Accuracy: {1 + label(q)}\nPlain words: 4.5\nJustification: It is right, 3 of 4.",
        }
        for n, q in enumerate(QUERIES)
    ]
    assert "'Accuracy' and 'Plain words'" in refusal(ws, records)
    assert as_shown(ws, records) == {("mine", q, f"{q}#Accuracy", "judge"): 1 + label(q) for q in QUERIES}


def test_a_verdict_in_letters_is_not_said_to_be_a_table_of_queries(ws):
    records = [{"id": n, "question": q, "judge_verdict": "AB"[label(q)]} for n, q in enumerate(QUERIES)]
    assert "queries table" not in refusal(ws, records)


def test_where_conditions_are_part_of_the_system_the_refusal_shows_how_to_join_them(ws):
    records = [
        {"model": m, "qid": q, "correct": n > 0, "clear": n % 2 == 0, "condition": c}
        for m in MODELS
        for q in QUERIES
        for n, c in enumerate(("bare", "guarded", "none"))
    ]
    assert '{"system": "model + condition"}' in refusal(ws, records)
    mapping = {"system": "model + condition"}
    ws.ingest(json.dumps(records).encode(), "d", name="x.json", mapping=mapping)
    assert len(cells(ws)) == 2 * len(records)


def test_what_all_answers_pass_is_not_the_label_beside_what_the_judge_gave(ws):
    """A check that all passed was read, its query was taken for the rubric, and the judge's scores were left."""
    records = {
        "model_name": MODELS[0],
        "runs": {
            f"C0{n}": [
                {"checks": {"passed": True}, "judge_score": 1 + label(n, j), "judge_model": j}
                for j in ("ann", "bob")
            ]
            for n in range(1, 6)
        },
    }
    report = ws.ingest(json.dumps(records).encode(), "d", name="x.json")
    assert not report.rejected
    assert cells(ws) == {
        (MODELS[0], f"C0{n}", f"C0{n}#judge_score", j): 1 + label(n, j)
        for n in range(1, 6)
        for j in ("ann", "bob")
    }


def test_ids_of_tests_in_a_list_are_queries_and_no_places(ws):
    records = {
        "model": MODELS[0],
        "results": [
            {"test_id": f"t{q}", "grade": ("FAIL", "PASS")[label(q)], "response": "so"} for q in QUERIES
        ],
    }
    assert as_shown(ws, records) == {(MODELS[0], f"t{q}", f"t{q}#grade", "judge"): label(q) for q in QUERIES}


def test_verdicts_on_criteria_of_keyed_records_are_not_said_to_be_unused(ws):
    records = {
        f"s-{q}": {
            c: {"verdict": ("fail", "pass")[label(q, c)], "reason": "so"} for c in ("clear", "short", "kind")
        }
        for q in QUERIES
    }
    mapping = json.loads(re.search(r"\{\".*\}", refusal(ws, records))[0]) | {"system": "=mine"}
    report = ws.ingest(json.dumps(records).encode(), "d", name="x.json", mapping=mapping)
    assert not any("Not used" in note for note in report.notes)
    assert len(cells(ws)) == 3 * len(QUERIES)


def test_ways_of_asking_are_offered_as_systems_and_not_as_rubrics(ws):
    records = [
        {
            "id": q,
            "question": f"what is {q}",
            "strategy": s,
            "correct": bool(label(q, s)),
            "predicted": f"{q}{s}",
        }
        for s in ("direct", "steps", "story")
        for q in QUERIES
    ]
    assert '"system": "strategy"' in refusal(ws, records)


def test_groups_of_criteria_within_metrics_are_read_whole(ws):
    """Those of the first group alone were offered, under their paths."""
    groups = {"style": ("tone", "length"), "facts": ("sources", "dates")}
    records = [
        {
            "task_id": q,
            "model": m,
            "metrics": {
                "criteria_scores": {g: {c: 1 + label(q, m, c) for c in own} for g, own in groups.items()},
                "dimension_scores": dict.fromkeys(groups, 2.5),
            },
        }
        for q in QUERIES
        for m in MODELS
    ]
    ws.ingest(json.dumps(records).encode(), "d", name="x.json")
    assert cells(ws) == {
        (m, q, f"{q}#{c}", "judge"): 1 + label(q, m, c)
        for q in QUERIES
        for m in MODELS
        for own in groups.values()
        for c in own
    }


def test_a_panel_within_each_criterion_is_read_whole(ws):
    """One of its judges was offered as the label, and the other left out."""
    records = {
        "note_id": "n1",
        "results": [
            {
                "term": q,
                "scores": {
                    c: {"aggregated": 1, "per_judge": {j: label(q, c, j) for j in ("claude-3", "nova-1")}}
                    for c in ("correctness", "completeness")
                },
            }
            for q in QUERIES
        ],
    }
    ws.ingest(json.dumps(records).encode(), "d", name="x.json", mapping={"system": "=mine"})
    assert cells(ws) == {
        ("mine", q, f"{q}#{c}", j): label(q, c, j)
        for q in QUERIES
        for c in ("correctness", "completeness")
        for j in ("claude-3", "nova-1")
    }


def test_keys_of_what_is_called_after_judges_are_no_queries(ws):
    records = [
        {
            "scenario": q,
            "answer_model": m,
            "judgement": {
                "per_judge": {
                    j: {"grounded": 1 + label(q, m, j), "useful": 1 + label(q, j), "rationale": "so"}
                    for j in ("openai", "google", "mistral")
                },
                "consensus": {"grounded": 2, "useful": 1},
            },
        }
        for q in QUERIES
        for m in MODELS
    ]
    assert as_shown(ws, records) == {
        (m, q, f"{q}#{c}", j): 1 + level
        for q in QUERIES
        for m in MODELS
        for j in ("openai", "google", "mistral")
        for c, level in (("grounded", label(q, m, j)), ("useful", label(q, j)))
    }


def test_the_model_of_a_judge_within_each_item_is_no_system(ws):
    records = {
        "cases": [
            {
                "case_id": q,
                "judge": {
                    "model": "gpt-4o",
                    "checks": [{"criterion": c, "passed": bool(label(q, c))} for c in ("clear", "short")],
                },
            }
            for q in QUERIES
        ]
    }
    ws.ingest(json.dumps(records).encode(), "d", name="x.json", mapping={"system": "=mine"})
    assert {(s, j) for s, _, _, j in cells(ws)} == {("mine", "gpt-4o")}


def test_keys_of_systems_around_lists_of_their_queries_are_the_systems(ws):
    """They were left out, so that most rows contradicted each other."""
    records = {
        "systems": {
            s: {
                "summary": {"mean": 0.5},
                "details": [
                    {
                        "item": q,
                        "judgments": [{"judge": "ann", "scores": {c: 1 + label(q, s, c) for c in "xy"}}],
                    }
                    for q in QUERIES
                ],
            }
            for s in VARIANTS
        }
    }
    ws.ingest(json.dumps(records).encode(), "d", name="x.json")
    assert cells(ws) == {
        (s, q, f"{q}#{c}", "ann"): 1 + label(q, s, c) for s in VARIANTS for q in QUERIES for c in "xy"
    }


def test_names_around_numbered_queries_and_their_criteria_are_systems(ws):
    """They were offered as judges of one system."""
    records = {
        s: {f"q{n}": {c: 1 + label(n, s, c) for c in ("clarity", "tone")} for n in range(4)} for s in VARIANTS
    }
    assert as_shown(ws, records) == {
        (s, f"q{n}", f"q{n}#{c}", "judge"): 1 + label(n, s, c)
        for s in VARIANTS
        for n in range(4)
        for c in ("clarity", "tone")
    }


def test_numbers_of_records_are_the_queries_of_a_system_with_a_file_of_its_own(ws):
    """WritingBench: all criteria were those of one query."""
    criteria = {q: [f"{w} of part {p}" for w in ("Depth", "Voice")] for q, p in enumerate("ABC")}

    def records(model):
        return [
            {"index": q, "scores": {c: [{"score": 1 + label(model, c), "reason": "so"}] for c in criteria[q]}}
            for q in criteria
        ]

    files = [(f"{m}.jsonl", "".join(json.dumps(r) + "\n" for r in records(m)).encode()) for m in MODELS]
    ws.ingest(files, "d")
    assert cells(ws) == {
        (m, str(q), c, "judge"): 1 + label(m, c) for m in MODELS for q in criteria for c in criteria[q]
    }


@pytest.mark.parametrize("key", ["question_id", "index"])
def test_numbered_keys_of_scores_beside_a_query_are_criteria(ws, key):
    """They were queries, so that the rows of different queries contradicted each other."""
    records = [
        {
            key: q,
            "model": m,
            "scores": {f"C{k}": [{"score": 1 + label(m, q, k), "reason": "r"}] for k in range(3)},
        }
        for m in MODELS
        for q in range(4)
    ]
    ws.ingest("".join(json.dumps(r) + "\n" for r in records).encode(), "d", name="x.jsonl")
    assert cells(ws) == {
        (m, str(q), f"{q}#C{k}", "judge"): 1 + label(m, q, k)
        for m in MODELS
        for q in range(4)
        for k in range(3)
    }


def test_who_assessed_a_trace_of_mlflow_is_the_judge(ws):
    """The source was left out, so that all were one judge."""

    def assessment(model, query, name, who):
        source = {"source_type": "LLM_JUDGE", "source_id": who}
        value = ("no", "yes")[label(model, query, name, who)]
        return {"assessment_name": name, "source": source, "feedback": {"value": value}, "rationale": "so"}

    about = [(name, who) for name in ("correctness", "safety") for who in ("gpt-4.1", "claude-4")]
    traces = [
        {
            "trace_id": f"{m}{q}",
            "request": {"question": q},
            "tags": {"model": m},
            "assessments": [assessment(m, q, *a) for a in about],
        }
        for m in MODELS
        for q in QUERIES
    ]
    ws.ingest(json.dumps(traces).encode(), "d", name="x.json")
    assert cells(ws) == {
        (m, q, f"{q}#{name}", who): label(m, q, name, who)
        for m in MODELS
        for q in QUERIES
        for name, who in about
    }


@pytest.mark.parametrize("key", ["judges", "raters", "annotators"])
def test_names_in_a_list_that_is_called_after_judges_are_the_judges(ws, key):
    """They were criteria, and the panel one judge."""
    panel = ("gpt-4.1", "ann")
    records = [
        {"question_id": q, "model": m, key: [{"name": j, "score": label(m, q, j)} for j in panel]}
        for m in MODELS
        for q in QUERIES
    ]
    ws.ingest(json.dumps(records).encode(), "d", name="x.json")
    assert cells(ws) == {
        (m, q, f"{q}#score", j): label(m, q, j) for m in MODELS for q in QUERIES for j in panel
    }


def test_criteria_in_a_list_that_is_called_after_judges_stay_criteria(ws):
    criteria = ("Correctness", "Helpfulness")
    records = [
        {"question_id": q, "model": m, "judges": [{"name": c, "score": label(m, q, c)} for c in criteria]}
        for m in MODELS
        for q in QUERIES
    ]
    ws.ingest(json.dumps(records).encode(), "d", name="x.json")
    assert {rubric.partition("#")[2] for _, _, rubric, _ in cells(ws)} == {*criteria}
