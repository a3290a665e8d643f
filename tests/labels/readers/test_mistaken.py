"""Columns, rows and files that were once taken for something else without a word."""

from __future__ import annotations

import json
import re

import pytest

from crubric_core.errors import IngestError
from crubric_core.labels.readers.bundle import plan_ingest
from tests.labels.readers.fuzzing import zipped
from tests.labels.readers.test_layouts import MODELS, cells, label, table

QUERIES = [f"q{q}" for q in range(6)]


def mappings(sentence: object) -> list[dict[str, object]]:
    return [json.loads(found) for found in re.findall(r"\{\"[^{}]*\}", str(sentence))]


@pytest.mark.parametrize("footer", ["Exported by admin on 2024-06-01,,,", "gpt-4o,,,"])
def test_a_footer_does_not_hide_the_column_of_the_query(ws, footer):
    """Queries had been merged, as the column had a blank cell."""
    rows = [[m, q, label(m, q), label(q, m)] for m in MODELS for q in QUERIES]
    ws.ingest(table(["System", "Case", "Empathy", "Safety"], rows) + footer.encode() + b"\n", "d")
    assert cells(ws) == {
        (m, q, f"{q}#{c}", "judge"): value
        for m, q, *values in rows
        for c, value in zip(("Empathy", "Safety"), values, strict=True)
    }


def test_a_labelled_row_without_a_query_is_rejected(ws):
    rows = [[m, q, label(m, q), label(q, m)] for m in MODELS for q in QUERIES]
    report = ws.ingest(table(["System", "Case", "Empathy", "Safety"], [*rows, ["gpt-4o", "", 1, 1]]), "d")
    assert report.rejected == 2
    assert set(ws.dataset("d").queries["query"]) == set(QUERIES)


def test_the_hash_of_a_prompt_is_the_query(ws):
    rows = [[m, "o3", f"{q}f3", "tone", label(m, q)] for m in MODELS for q in QUERIES]
    ws.ingest(table(["generator_model", "judge_model", "prompt_hash", "rubric_item", "verdict"], rows), "d")
    assert set(ws.dataset("d").queries["query"]) == {f"{q}f3" for q in QUERIES}


def test_columns_that_are_numbered_queries_are_no_judges(ws):
    names = ("Q1", "Q2", "Q3")
    rows = [[m, c, *(label(m, c, q) for q in names)] for m in MODELS for c in ("tone", "depth")]
    content = table(["model", "criterion", *names], rows)
    with pytest.raises(IngestError, match="are named like queries") as told:
        ws.ingest(content, "d")
    ws.ingest(content, "d", mapping=mappings(told.value)[0])
    assert set(ws.dataset("d").queries["query"]) == set(names)
    assert set(ws.dataset("d").judges) == {"judge"}


def test_beside_a_judge_numbered_queries_are_offered_as_such(ws):
    names = ("Q1", "Q2", "Q3")
    rows = [
        [m, c, j, *(label(m, c, j, q) for q in names)] for m in MODELS for c in "xy" for j in ("ann", "bob")
    ]
    content = table(["model", "criterion", "judge", *names], rows)
    with pytest.raises(IngestError, match="if each is a query's") as told:
        ws.ingest(content, "d")
    ws.ingest(content, "d", mapping=mappings(told.value)[-1])
    assert cells(ws) == {
        (m, q, f"{q}#{c}", j): value
        for m, c, j, *values in rows
        for q, value in zip(names, values, strict=True)
    }


def test_one_model_in_files_that_are_named_after_others_may_be_their_judge(ws):
    files = {
        f"{m}.csv": table(
            ["model", "question", "criterion", "score"],
            [["gpt-4.1", q, "tone", label(m, q)] for q in QUERIES],
        )
        for m in MODELS
    }
    with pytest.raises(IngestError, match=r"'\{system\}\.csv', with \{\"judge\": \"model\"\} in the mapping"):
        ws.ingest(zipped(files), "d", name="runs.zip")
    plan = plan_ingest(zipped(files), name="runs.zip", pattern="{system}.csv", mapping={"judge": "model"})
    ws.ingest_plan(plan, "d", zipped(files))
    assert cells(ws) == {(m, q, f"{q}#tone", "gpt-4.1"): label(m, q) for m in MODELS for q in QUERIES}


@pytest.mark.parametrize("judged", ["target_model", "evaluated_system"])
def test_a_model_beside_what_is_judged_may_be_the_judge(ws, judged):
    rows = [[j, m, q, "tone", label(j, m, q)] for j in ("o3", "gpt-4.1") for m in MODELS for q in QUERIES]
    content = table(["model", judged, "question_id", "criterion", "score"], rows)
    with pytest.raises(IngestError, match="could each be the system") as told:
        ws.ingest(content, "d")
    (shown,) = mappings(told.value)
    ws.ingest(content, "d", mapping=shown)
    assert cells(ws) == {(m, q, f"{q}#tone", j): value for j, m, q, _, value in rows}


def test_a_candidate_that_is_a_text_is_no_question(ws):
    rows = [[m, q, f"what {m} says to {q}", "tone", label(m, q)] for m in MODELS for q in QUERIES]
    ws.ingest(table(["model", "question_id", "candidate", "criterion", "score"], rows), "d")
    assert set(ws.dataset("d").systems) == set(MODELS)


def test_criteria_about_doctors_are_no_judges(ws):
    names = ("refers_to_a_doctor", "names the physician")
    rows = [[m, q, *(label(m, q, c) for c in names)] for m in MODELS for q in QUERIES]
    ws.ingest(table(["model", "question_id", *names], rows), "d")
    assert set(ws.dataset("d").rubrics["criterion"]) == set(names)


@pytest.mark.parametrize("measured", ["latency_s", "output_tokens", "Response_Time"])
def test_rows_of_what_an_answer_took_are_rejected_with_that_reason(ws, measured):
    rows = [[m, q, *held] for m in MODELS for q in QUERIES for held in (("tone", label(m, q)), (measured, 7))]
    report = ws.ingest(table(["model", "query", "metric", "value"], rows), "d")
    assert set(ws.dataset("d").rubrics["criterion"]) == {"tone"}
    assert set(report.rejects["reason"].str.partition(",")[0]) == {"it is the time or cost of an answer"}


def assert_no_rubrics(ws, about):
    """Columns beside two criteria are not read, and named in the report."""
    rows = [
        [m, q, label(m, q), label(q, m), *((n + k + i) % 3 for i in range(len(about)))]
        for n, m in enumerate(MODELS)
        for k, q in enumerate(QUERIES)
    ]
    report = ws.ingest(table(["model", "question", "tone", "depth", *about], rows), "d")
    assert set(ws.dataset("d").rubrics["criterion"]) == {"tone", "depth"}
    assert all(any(column in note for note in report.notes) for column in about)


def test_columns_about_an_answer_or_a_label_are_no_rubrics(ws):
    about = ["params_b", "self_reported_sureness", "tone_len", "week", "minutes", "views", "steps", "choice"]
    about += [
        "answer_key",
        "target",
        "reviewed",
        "Discussed?",
        "delta",
        "kappa_group",
        "tone_diff",
        "tone_bin",
    ]
    assert_no_rubrics(ws, about)


def test_places_in_an_order_are_no_rubrics(ws):
    about = [
        "idx_local",
        "presentation_order",
        "display_position",
        "block",
        "task_no",
        "duration_min",
        "review_flag",
        "unit_id_anon",
    ]
    assert_no_rubrics(ws, about)


def test_an_arm_beside_labels_is_no_rubric(ws):
    rows = [
        [m, q, label(m, q), label(q, m), "ABC"[(n + k) % 3]]
        for n, m in enumerate(MODELS)
        for k, q in enumerate(QUERIES)
    ]
    report = ws.ingest(table(["model", "question", "tone", "depth", "arm"], rows), "d")
    assert set(ws.dataset("d").rubrics["criterion"]) == {"tone", "depth"}
    assert any("arm" in note for note in report.notes)


def test_flags_and_checks_of_ids_are_criteria(ws):
    criteria = ["toxicity_flag", "pii_flag", "patient_id_verified"]
    rows = [[m, q, *(label(m, q, c) for c in criteria)] for m in MODELS for q in QUERIES]
    ws.ingest(table(["model", "question", *criteria], rows), "d")
    assert set(ws.dataset("d").rubrics["criterion"]) == set(criteria)


def test_scores_between_levels_beside_labels_are_told_of(ws):
    """Of a metric in thirds beside two of 0 and 1 nothing was said but its name."""
    rows = [
        [m, q, label(m, q), label(q, m), round((n + k) % 4 / 3, 4)]
        for n, m in enumerate(MODELS)
        for k, q in enumerate(QUERIES)
    ]
    report = ws.ingest(table(["model", "question", "grounded", "relevant", "context"], rows), "d")
    assert set(ws.dataset("d").rubrics["criterion"]) == {"grounded", "relevant"}
    assert any("'context', with scores between whole levels, is not used" in note for note in report.notes)


def test_criteria_that_end_like_a_size_are_criteria(ws):
    """EQ-Bench's "Nuanced Characters" was taken for a number of characters, and not used."""
    criteria = ["Nuanced Characters", "Use of Tokens", "Appropriate Length", "Word Order"]
    rows = [[m, q, *(label(m, q, c) for c in criteria)] for m in MODELS for q in QUERIES]
    ws.ingest(table(["model", "question", *criteria], rows), "d")
    assert set(ws.dataset("d").rubrics["criterion"]) == set(criteria)


def test_two_raters_with_their_consensus_are_judges(ws):
    names = ["Rater 1 Score", "Rater 2 Score", "Consensus", "Discussed?"]
    rows = [
        [m, q, a := label(m, q) + 1, b := label(q, m) + 1, max(a, b), "yes" if a != b else "no"]
        for m in MODELS
        for q in QUERIES
    ]
    ws.ingest(table(["Model", "Case", *names], rows), "d")
    assert set(ws.dataset("d").judges) == {"Rater 1", "Rater 2"}


def test_what_azures_evaluators_say_twice_is_one_rubric(ws):
    rows = [[m, q, s := label(m, q) + 3, s, "pass" if s > 3 else "fail"] for m in MODELS for q in QUERIES]
    home = "outputs.relevance"
    names = [f"{home}.relevance", f"{home}.gpt_relevance", f"{home}.relevance_result"]
    ws.ingest(table(["inputs.model", "inputs.query", *names], rows), "d")
    assert len(set(ws.dataset("d").rubrics["criterion"])) == 1
    assert len(cells(ws)) == len(rows)


def test_a_table_of_weights_and_biases_is_read(ws):
    rows = [[m, q, label(m, q), label(q, m)] for m in MODELS for q in QUERIES]
    logged = {"_type": "table", "columns": ["model", "prompt", "faithful", "concise"], "data": rows}
    ws.ingest(json.dumps({**logged, "ncols": 4, "nrows": len(rows)}).encode(), "d", name="x.table.json")
    assert set(ws.dataset("d").rubrics["criterion"]) == {"faithful", "concise"}
    assert len(cells(ws)) == 2 * len(rows)


def test_columns_without_a_judges_name_may_be_queries_and_are_told_as_such(ws):
    names = ("email to boss", "poem")
    rows = [[m, c, *(label(m, c, q) for q in names)] for m in MODELS for c in ("tone", "depth")]
    content = table(["model", "criterion", *names], rows)
    report = ws.ingest(content, "judges")
    assert set(ws.dataset("judges").judges) == set(names)
    (told,) = (n for n in report.notes if "are queries, give" in n)
    ws.ingest(content, "d", mapping=mappings(told)[0])
    assert set(ws.dataset("d").queries["query"]) == set(names)


def test_of_participant_and_reviewer_the_first_may_be_the_system(ws):
    """And when a row was made tells no systems apart."""
    rows = [
        [m, q, "tone", "ann", f"2026-01-{1 + n:02} 1{k}:00", label(m, q)]
        for n, m in enumerate(MODELS)
        for q in QUERIES
        for k in range(2)
    ]
    heads = ["Participant", "Prompt", "Criterion", "Reviewer", "Created", "Score"]
    with pytest.raises(
        IngestError, match=r"say so if 'Participant' does \(\{\"system\": \"Participant\"\}\)"
    ):
        ws.ingest(table(heads, rows), "d")


@pytest.mark.parametrize("name", ["{q} {c}", "{c} ({q})", "{c}_{q}", "{q}: {c}"])
def test_numbered_queries_times_criteria_are_queries_and_criteria(ws, name):
    """All were rubrics of one query, so that queries had no effect in any interval."""
    pairs = [(q, c) for q in ("Q1", "Q2", "Q3") for c in ("Tone", "Depth")]
    rows = [[m, j, *(label(m, j, *pair) for pair in pairs)] for m in MODELS for j in ("ann", "bob")]
    columns = [name.format(q=q, c=c) for q, c in pairs]
    report = ws.ingest(table(["model", "judge", *columns], rows), "d")
    assert cells(ws) == {
        (m, q, f"{q}#{c}", j): value
        for m, j, *values in rows
        for (q, c), value in zip(pairs, values, strict=True)
    }
    assert any("its columns name queries (Q1, Q2 and Q3)" in note for note in report.notes)


def test_numbered_queries_times_people_are_told_with_the_mapping_that_reads_them(ws):
    pairs = [(q, j) for q in ("Q1", "Q2") for j in ("ann", "bob")]
    content = table(
        ["model", *(f"{q}_{j}" for q, j in pairs)],
        [[m, *(label(m, *pair) for pair in pairs)] for m in MODELS],
    )
    report = ws.ingest(content, "d")
    (told,) = (note for note in report.notes if "are judges of one rubric" in note)
    ws.ingest(content, "e", mapping=json.loads(told[told.index("{") : told.rindex("}") + 1]))
    found = ws.dataset("e").labels()[["system", "query", "rubric", "judge", "label"]]
    assert set(found.itertuples(index=False, name=None)) == {
        (m, q, f"{q}#score", j, label(m, q, j)) for m in MODELS for q, j in pairs
    }


def test_beside_a_query_numbered_columns_stay_criteria(ws):
    columns = ["Q1 tone", "Q1 depth", "Q2 tone", "Q2 depth"]
    rows = [[m, q, *(label(m, q, c) for c in columns)] for m in MODELS for q in QUERIES]
    ws.ingest(table(["model", "prompt", *columns], rows), "d")
    assert set(ws.dataset("d").queries["query"]) == set(QUERIES)


@pytest.mark.parametrize("key", ["query", "system"])
def test_a_column_that_is_the_same_for_all_of_a_query_or_a_system_is_told(ws, key):
    models = [*MODELS, "mistral"]
    number = {name: i % 3 for names in (QUERIES, models) for i, name in enumerate(names)}
    rows = [
        [m, q, number[q if key == "query" else m], label(m, q), label(q, m)] for m in models for q in QUERIES
    ]
    content = table(["system", "query", "tier", "tone", "depth"], rows)
    report = ws.ingest(content, "d")
    (told,) = (note for note in report.notes if "one value" in note)
    assert f"'tier' is read as labels and has one value in all rows of each {key}" in told
    ws.ingest(content, "e", mapping=mappings(told)[0])
    assert {r.rpartition("#")[2] for r in ws.dataset("e").rubrics["rubric"]} == {"tone", "depth"}


def test_few_rows_of_each_query_that_agree_are_no_sign_of_anything(ws):
    rows = [[m, q, q[1:], label(m, q)] for m in MODELS for q in QUERIES]
    report = ws.ingest(table(["system", "query", "tone", "depth"], rows), "d")
    assert not [note for note in report.notes if "one value" in note]


def test_a_criterion_that_all_meet_is_no_sign_of_anything(ws):
    rows = [[m, q, 1, label(m, q)] for m in (*MODELS, "mistral") for q in QUERIES]
    report = ws.ingest(table(["system", "query", "tone", "depth"], rows), "d")
    assert not [note for note in report.notes if "one value" in note]


KEY = dict(zip(QUERIES, "ABCD" * len(QUERIES), strict=False))


def chosen(model, query):
    """The right choice for about every second question."""
    return KEY[query] if label(model, query) else "ABCD"[(ord(KEY[query]) + 1) % 4]


@pytest.mark.parametrize("column", ["answer", "prediction", "choice"])
@pytest.mark.parametrize("written", [str, "ABCD".index])
def test_the_key_of_the_questions_is_no_label(ws, column, written):
    rows = [[m, q, written(chosen(m, q)), written(KEY[q])] for m in MODELS for q in QUERIES]
    content = table(["model", "question_id", column, "correct"], rows)
    with pytest.raises(
        IngestError, match=f"'correct' is the same for all systems.*a value of {column!r}"
    ) as told:
        ws.ingest(content, "d")
    assert any("right choice" in remark for remark in plan_ingest(content).files[0].remarks)
    assert ws.ingest(content, "d", mapping=mappings(told.value)[0]).rejected == 0


@pytest.mark.parametrize("column", ["answer", "prediction", "choice"])
def test_whether_an_answer_is_right_is_a_label_beside_the_answer(ws, column):
    rows = [[m, q, chosen(m, q), int(chosen(m, q) == KEY[q])] for m in MODELS for q in QUERIES]
    ws.ingest(table(["model", "question_id", column, "correct"], rows), "d")
    assert {key[:2]: value for key, value in cells(ws).items()} == {(m, q): v for m, q, _, v in rows}


@pytest.mark.parametrize("predicted", ["prediction", "predicted_label"])
def test_a_label_beside_predictions_may_be_the_right_answer_of_the_task(ws, predicted):
    rows = [[m, q, label(m, q), label(q)] for m in MODELS for q in QUERIES]
    content = table(["model", "text_id", predicted, "label"], rows)
    with pytest.raises(IngestError, match="right answer of a task") as told:
        ws.ingest(content, "d")
    report = ws.ingest(content, "d", mapping=mappings(told.value)[0])
    assert not [note for note in report.notes if "stands beside" in note]
    assert {key[:2]: value for key, value in cells(ws).items()} == {(m, q): v for m, q, _, v in rows}
    rows = [[*row, int(row[2] == row[3])] for row in rows]
    ws.ingest(table(["model", "text_id", predicted, "label", "correct"], rows), "e")
    assert set(ws.dataset("e").labels()["label"]) == {row[-1] for row in rows}


@pytest.mark.parametrize("criterion", ["metric", "aspect", "check", "dimension"])
@pytest.mark.parametrize("score", ["score", "judgment"])
def test_labels_whose_system_stands_outside_are_no_queries_with_a_domain(ws, criterion, score):
    """``question_id`` and ``domain`` were read as queries, and the labels left out."""
    rows = [[f"q{q}", c, label(q, c), "law"] for q in range(4) for c in ("cites", "clear")]
    content = table(["question_id", criterion, score, "domain"], rows)
    plan = plan_ingest([("north.csv", content), ("south.csv", content)])
    assert {f.kind for f in plan.files} == {"labels"}
    assert {f.mapping["rubric"] for f in plan.files} == {criterion}
