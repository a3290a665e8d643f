"""Layouts of published ratings by people: who rated what, in words, on long scales, in parts of answers."""

from __future__ import annotations

import json
import re

import pytest

from crubric_core.errors import IngestError
from crubric_core.labels.readers.bundle import plan_ingest
from crubric_core.labels.readers.policies import Policies
from tests.labels.readers.test_layouts import MODELS, cells, label, lines, table

QUERIES = range(6)
ROWS = [(m, q) for m in MODELS for q in QUERIES]


def refused(ws, content, name="x.csv", **options) -> str:
    with pytest.raises(IngestError) as told:
        ws.ingest(content, "d", name=name, **options)
    return str(told.value)


def shown(problem: str) -> dict:
    """The mapping that a refusal shows, with a name in place of …"""
    found = re.search(r"\{\"system.*\}", problem)
    assert found, problem
    return {c: "=a" if v == "=…" else v for c, v in json.loads(found[0]).items()}


def test_annotators_beside_their_majority_are_judges_and_their_words_have_a_direction(ws):
    words = [("unsafe", "safe")[label(m, q, a)] for m, q in ROWS for a in "123"]
    votes = [words[i : i + 3] for i in range(0, len(words), 3)]
    rows = [[m, q, *v, max(v, key=v.count)] for (m, q), v in zip(ROWS, votes, strict=True)]
    heads = ["model", "prompt_id", "annotator_1", "annotator_2", "annotator_3", "majority_vote"]
    report = ws.ingest(table(heads, rows), "d", name="x.csv")
    assert cells(ws) == {
        (m, str(q), f"{q}#score", f"annotator_{a}"): label(m, q, a) for m, q in ROWS for a in "123"
    }
    assert "Words were read as labels: safe = 1, unsafe = 0." in report.notes


def test_words_that_nobody_understands_are_shown_with_the_columns_that_hold_them(ws):
    words = ("1_full_compliance", "2_full_refusal")
    rows = [[m, q, *(words[label(m, q, a)] for a in "ab"), True] for m, q in ROWS]
    heads = ["model", "question_id", "annotation_1", "final_label", "agreement"]
    problem = refused(ws, table(heads, rows))
    assert "'annotation_1' and 'final_label' hold a few words, such as '1_full_compliance'" in problem
    policies = Policies(answers={words[0]: 0, words[1]: 1})
    ws.ingest(table(heads, rows), "d", name="x.csv", mapping=shown(problem), policies=policies)
    assert len(cells(ws)) == 2 * len(ROWS)


def test_scales_to_100_of_several_criteria_come_with_the_mapping_of_submission_and_worker(ws):
    criteria = ("Correctness", "Fluency")
    rows = [
        [m, q, w, *((17 * i + 5 * q + len(m) + ord(w)) % 101 for i in (1, 2))] for m, q in ROWS for w in "uv"
    ]
    content = table(["submission_id", "sample_id", "worker_id", *criteria], rows)
    problem = refused(ws, content)
    assert "rename one" not in problem
    ws.ingest(content, "d", name="x.csv", mapping=shown(problem))
    assert cells(ws) == {
        (m, str(q), f"{q}#{c}", w): value
        for m, q, w, *values in rows
        for c, value in zip(criteria, values, strict=True)
    }


def test_a_column_called_after_systems_is_one_and_no_rubric_though_it_holds_numbers(ws):
    rows = [[s, f"t{i}", *(1 + (i + s + n) % 4 for n in (1, 2)), i % 3] for i in range(12) for s in (0, 1, 2)]
    problem = refused(ws, table(["dialogue_system", "text_id", "Q1", "Q2", "annotator_id"], rows))
    assert shown(problem) == {
        "system": "dialogue_system",
        "query": "text_id",
        "judge": "annotator_id",
        "rubric": ["Q1", "Q2"],
    }


def test_the_segment_is_proposed_and_not_its_document(ws):
    rows = [[m, q // 3, q, f"e{q % 3}", (13 * q + len(m)) % 101] for m, q in ROWS]
    problem = refused(ws, table(["system", "doc_id", "seg_id", "annotator", "esa_score"], rows))
    assert shown(problem)["query"] == "seg_id"


def test_parts_of_an_answer_are_proposed_as_its_rubrics(ws):
    rows = [[q, m, s, ("no", "yes")[label(m, q, s)]] for m, q in ROWS for s in (0, 1)]
    content = table(["doc_id", "model_name", "summ_sent_idx", "sent_label"], rows)
    ws.ingest(content, "d", name="x.csv", mapping=shown(refused(ws, content)))
    assert cells(ws) == {(m, str(q), f"{q}#{s}", "judge"): label(m, q, s) for m, q in ROWS for s in (0, 1)}


def test_the_id_of_a_text_names_the_query(ws):
    rows = [[r, i, f"USER: {i}, and then?", ("No", "Yes")[label(r, i)]] for i in QUERIES for r in "pq"]
    content = table(["rater_id", "item_id", "context", "Q_overall"], rows)
    ws.ingest(content, "d", name="x.csv", mapping={"system": "=a", "rubric": ["Q_overall"]})
    assert {key[1] for key in cells(ws)} == {str(i) for i in QUERIES}


def test_columns_that_count_who_agrees_are_no_rubrics(ws):
    rows = [[m, q, label(m, q), label(q, m), 3 + q % 3, 4] for m, q in ROWS]
    ws.ingest(table(["model", "prompt_id", "INT", "AIS", "# agree (INT)", "# agree (AIS)"], rows), "d")
    assert {key[2].partition("#")[2] for key in cells(ws)} == {"INT", "AIS"}


def test_shares_of_raters_are_labels_in_halves_and_in_thirds_and_a_hash_names_the_text(ws):
    errors = {"EntE": ("1.0", "0.5"), "OutE": ("1.0", "0.3333333333"), "LinkE": ("0.6666666667", "0.0")}
    rows = [[f"{q:040x}", m, *(own[label(m, q, e)] for e, own in errors.items())] for m, q in ROWS]
    content = table(["hash", "model_name", *errors], rows)
    assert "go in steps of 0.1667" in refused(ws, content)
    ws.ingest(content, "d", name="x.csv", policies=Policies(multiply=6))
    assert len(cells(ws)) == 3 * len(ROWS)


def test_a_file_without_labels_is_told_neither_to_give_one_for_all_nor_to_name_the_systems_it_names(ws):
    records = [
        {"model_name": m, "article": "so", "rubric": "r", "said": [{"annotator_0": ["NoE"]}]} for m, q in ROWS
    ]
    problem = refused(ws, lines(records), "x.jsonl")
    assert "no column for label" in problem
    assert "=…" not in problem
    assert "no column says which system" not in problem


def test_spans_in_a_list_are_no_labels_and_told_so(ws):
    span = {"start": 3, "end": 9, "text": "a man", "label_type": "Evident Conflict"}
    records = [{"source_id": q, "model": m, "labels": [span] * (q % 2), "response": f"r{q}"} for m, q in ROWS]
    assert "lists errors with their category, place or severity" in refused(ws, lines(records), "x.jsonl")


def test_a_refusal_of_nested_labels_shows_the_system_within_its_mapping(ws):
    records = [
        {"prompt": f"p{q}", "response": "r", "category": {c: bool(label(c, q)) for c in ("abuse", "privacy")}}
        for q in QUERIES
    ]
    content = lines(records)
    ws.ingest(content, "d", name="x.jsonl", mapping=shown(refused(ws, content, "x.jsonl")))
    assert {key[0] for key in cells(ws)} == {"a"}


@pytest.mark.parametrize(
    ("home", "names"),
    [
        ("system_summaries", ("bart_out.txt", "unilm.txt", "t5_base.txt")),
        ("answers", ("gpt4", "bing_chat", "claude")),
    ],
)
def test_the_keys_of_an_object_of_systems_are_systems_whatever_most_are_called(ws, home, names):
    records = {
        str(q): {
            "doc_id": q,
            home: {n: {"text": "so", "scores": {c: label(n, q, c) for c in "ab"}} for n in names},
        }
        for q in QUERIES
    }
    content = json.dumps(records).encode()
    mapping = json.loads(refused(ws, content, "x.json").partition("the mapping ")[2].removesuffix("."))
    ws.ingest(content, "d", name="x.json", mapping=mapping)
    assert cells(ws) == {
        (n, str(q), f"{q}#{c}", "judge"): label(n, q, c) for n in names for q in QUERIES for c in "ab"
    }


def test_a_column_of_models_is_proposed_as_the_system_whatever_it_is_called(ws):
    sources = (*MODELS, "med-palm")
    rows = [[q, m, r, ("No", "Yes")[label(q, m, r)]] for q in QUERIES for m in sources for r in "pq"]
    content = table(["question_id", "answer_source", "rater_id", "comprehends"], rows)
    mapping = shown(refused(ws, content))
    ws.ingest(content, "d", name="x.csv", mapping=mapping)
    assert {key[0] for key in cells(ws)} == set(sources)
    assert {key[3] for key in cells(ws)} == {"p", "q"}


def test_a_scale_that_ends_with_severe_is_asked_about(ws):
    harm = "Potential harm (1=none, 5=severe)"
    rows = [[m, q, 1 + q % 5, 5 - q % 5] for m, q in ROWS]
    content = table(["model", "prompt_id", "Accuracy (1-5)", harm], rows)
    assert f"{harm!r} says what its numbers mean" in refused(ws, content)
    ws.ingest(content, "d", name="x.csv", policies=Policies(polarity={harm: -1}))
    assert len(cells(ws)) == 2 * len(ROWS)


def test_numbered_records_of_one_object_are_queries(ws):
    details = {str(i): {"pred": "A", "answer": "B", "correct": bool(i % 2)} for i in range(8)}
    content = json.dumps({"details": {"type": "GEN", **details}}).encode()
    ws.ingest(content, "d", name="x.json", mapping={"system": "=a"})
    assert cells(ws) == {("a", str(i), f"{i}#correct", "judge"): i % 2 for i in range(8)}


def test_choices_of_a_question_are_no_labels_and_its_metric_is(ws):
    records = [
        {
            "__doc__": {"query": f"q{i}", "choices": [" 12"], "gold_index": [0]},
            "__metric__": {"extractive_match": i % 2},
            "__model_response__": {"text": ["12"], "input_tokens": [1, 2]},
        }
        for i in range(8)
    ]
    ws.ingest(lines(records), "d", name="x.jsonl", mapping={"system": "=a"})
    assert cells(ws) == {("a", f"q{i}", f"q{i}#extractive_match", "judge"): i % 2 for i in range(8)}


def test_how_sure_a_judge_is_is_no_criterion_among_others(ws):
    records = [
        {
            "model": m,
            "question_id": q,
            "scores": [{"name": "clear", "score": label(m, q)}, {"name": "confidence", "score": 0.8}],
        }
        for m, q in ROWS
    ]
    report = ws.ingest(lines(records), "d", name="x.jsonl")
    assert cells(ws) == {(m, str(q), f"{q}#clear", "judge"): label(m, q) for m, q in ROWS}
    assert report.rejected == len(ROWS)
    assert set(report.rejects["reason"].str.partition(",")[0]) == {"it says how sure a label is"}


@pytest.mark.parametrize("letters", ["ABN", "ABCNY"])
def test_a_letter_among_choices_says_neither_yes_nor_no(ws, letters):
    rows = [[m, q, "clear", letters[i % len(letters)]] for i, (m, q) in enumerate(ROWS)]
    assert "say what it stands for" in refused(ws, table(["model", "query", "rubric", "label"], rows))


def test_y_and_n_alone_say_yes_and_no(ws):
    rows = [[m, q, "clear", "NY"[label(m, q)]] for m, q in ROWS]
    ws.ingest(table(["model", "query", "rubric", "label"], rows), "d")
    assert cells(ws) == {(m, str(q), f"{q}#clear", "judge"): label(m, q) for m, q in ROWS}


@pytest.mark.parametrize(("name", "query"), [("hash", None), ("question", "question")])
def test_a_hash_that_each_rubric_has_one_of_is_no_query(name, query):
    rows = [[m, f"x{q}", f"r{q}", label(m, q)] for m, q in ROWS]
    (plan,) = plan_ingest([("x.csv", table(["model", name, "rubric", "label"], rows))]).files
    assert plan.mapping.get("query") == query
