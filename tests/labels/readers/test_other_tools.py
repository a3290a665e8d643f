"""Files of other tools that hold no labels of a system's answer as they are: what each is, and what to do."""

from __future__ import annotations

import csv
import io

import pytest

from crubric_core.errors import IngestError

PROVIDERS = ("openai:gpt-4o", "anthropic:claude-3")


def refused(ws, rows, delimiter=",", **options) -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(rows)
    with pytest.raises(IngestError) as told:
        ws.ingest(text.getvalue().encode(), "d", name="x.csv", **options)
    return str(told.value)


def test_a_table_of_promptfoo_is_refused_with_the_export_that_has_each_assertion(ws):
    heads = ["topic", *(f"[{p}] Write about {{{{topic}}}}" for p in PROVIDERS)]
    rows = [[f"t{i}", *(f"[{('PASS', 'FAIL')[(i + k) % 2]}] so, and so" for k in (0, 1))] for i in range(6)]
    assert "promptfoo eval -o results.json" in refused(ws, [heads, *rows])


@pytest.mark.parametrize("providers", [PROVIDERS, PROVIDERS[:1]])
def test_so_is_one_with_a_column_of_verdicts_beside_each_output(ws, providers):
    beside = ["Status", "Score", "Named Scores", "Grader Reason", "Comment"]
    heads = ["topic", *(name for p in providers for name in (f"[{p}] Write about {{{{topic}}}}", *beside))]
    rows = [
        [f"t{i}", *["so", ("PASS", "FAIL")[i % 2], "1.00", "", "right", ""] * len(providers)]
        for i in range(6)
    ]
    assert "promptfoo eval -o results.json" in refused(ws, [heads, *rows])


def test_a_table_with_brackets_in_a_name_is_none_of_promptfoo(ws):
    rows = [[m, f"q{q}", q % 2] for m in PROVIDERS for q in range(4)]
    assert "promptfoo" not in refused(
        ws, [["model", "prompt_id", "[beta] clear"], *rows], mapping={"rubric": "none"}
    )


@pytest.mark.parametrize("delimiter", [" ", "\t"])
@pytest.mark.parametrize("end", [[1], [2, "13.5", "bm25"]])
def test_trec_judgements_of_documents_and_runs_are_refused_as_such(ws, delimiter, end):
    rows = [[topic, ("0", "Q0")[len(end) > 1], f"FT{doc}", *end] for topic in (301, 302) for doc in range(4)]
    assert "which are about documents" in refused(ws, rows, delimiter)


def test_judgements_with_spaces_between_are_refused_with_what_to_do(ws):
    rows = [[topic, run, f"n{n}", n % 2] for topic in (301, 302) for run in ("a", "b") for n in range(3)]
    told = refused(ws, rows, " ")
    assert (
        "separate the columns by commas or tabs, and add such a line at the top: query, system, rubric, label"
        in told
    )


def test_the_same_with_commas_and_column_names_are_read(ws):
    rows = [f"{topic},{run},n{n},{n % 2}" for topic in (301, 302) for run in ("a", "b") for n in range(3)]
    ws.ingest("\n".join(["query,system,rubric,label", *rows]).encode(), "d", name="x.csv")
    assert len(ws.dataset("d").labels()) == len(rows)


@pytest.mark.parametrize("score", ["[8, 7]", "(8.5,7)"])
def test_a_score_of_each_of_two_answers_is_no_preference(ws, score):
    """FairEval and JudgeLM give a list of both."""
    rows = [[n, "vicuna", "alpaca", score] for n in range(6)]
    assert "labels of both" in refused(ws, [["question_id", "model1", "model2", "score"], *rows])
