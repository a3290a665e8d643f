"""Files as teams keep them: who is judged and by whom, what is no rubric, and mappings that do what they say."""

from __future__ import annotations

import json

import pytest

from crubric_core.errors import IngestError
from crubric_core.labels import Workspace
from crubric_core.labels.readers.bundle import plan_ingest
from tests.labels.readers.test_layouts import cells, label, lines, table

AUTHORS = ("alder", "birch", "cedar")


def refused(content, name="file.csv"):
    """The sentence that refuses a file."""
    with Workspace() as ws, pytest.raises(IngestError) as error:
        ws.ingest(content, "d", name=name)
    return str(error.value)


def shown(sentence):
    """The mappings that a sentence shows, in its order."""
    found, at, decoder = [], 0, json.JSONDecoder()
    while (at := sentence.find("{", at)) >= 0:
        try:
            mapping, length = decoder.raw_decode(sentence[at:])
        except ValueError:
            at += 1
        else:
            found.append(mapping)
            at += length
    return [m for m in found if m]


def followed(ws, content, mapping, name="file.csv", **choices):
    """The labels of a file that is read by the mapping which a sentence shows, the system written in place of …"""
    typed = {c: "=mine" if v == "=…" else v for c, v in mapping.items()}
    ws.ingest(content, "d", name=name, mapping=typed, **choices)
    return cells(ws)


def names(found, at):
    return {key[at] for key in found}


# Judges and systems


@pytest.mark.parametrize("column", ["guessed_model", "predicted_model", "embedding_model"])
def test_what_a_judge_took_a_model_for_is_no_system(column):
    rows = [
        [f"q{q}", j, m, AUTHORS[(i + q) % 3], (i + q) % 2, q % 2]
        for q in range(6)
        for i, m in enumerate(AUTHORS)
        for j in ("j1", "j2")
    ]
    content = table(["prompt_id", "judge", "author", column, "correct", "fluent"], rows)
    assert "has no column for system" in refused(content)


def test_a_tag_that_names_the_judge_is_no_system():
    tags = {"j1": "gpt-4o", "j2": "claude-3"}
    rows = [[f"q{q}", j, tag, q % 2] for q in range(12) for j, tag in tags.items()]
    (mapping,) = shown(refused(table(["prompt_id", "judge", "tag", "score"], rows)))
    assert (mapping["system"], mapping["judge"]) == ("=…", "judge")


SAID = {
    "judge_overall_score": ("human_overall_score", ("4.86", "4.5")),
    "judge_label": ("expected_label", ("True", "False")),
    "grader_verdict": ("grade_primary", ("correct", "incorrect")),
    "llm_judge": ("human_label", ("CORRECT", "INCORRECT")),
}


@pytest.mark.parametrize("said", SAID)
def test_what_a_judge_said_names_no_judge(said):
    beside, words = SAID[said]
    rows = [[f"q{q}", f"a text {q}", words[q % 2], words[q // 2 % 2]] for q in range(12)]
    (plan,) = plan_ingest(("file.csv", table(["example_id", "answer", beside, said], rows))).files
    assert plan.mapping.get("judge") != said


def test_the_model_of_a_judge_is_no_system():
    records = [
        {"judge": j, "source_model": m, "question_id": f"q{q}", "model_returned": f"{j}-2024", "score": q % 3}
        for q in range(6)
        for m in AUTHORS
        for j in ("gpt-4o", "claude-3")
    ]
    (plan,) = plan_ingest(("file.jsonl", lines(records))).files
    assert plan.mapping["system"] == "source_model"


def test_a_numbered_repetition_is_a_run(ws):
    rows = [
        [m, f"q{q}", r, (q + r + i) % 2, q % 2]
        for i, m in enumerate(AUTHORS)
        for q in range(4)
        for r in (1, 2)
    ]
    report = ws.ingest(table(["model", "doc_id", "rep_id", "clear", "polite"], rows), "d")
    assert (report.accepted, report.collapsed, report.rejected) == (48, 0, 0)
    assert set(ws.dataset("d").labels()["run"]) == {"1", "2"}


# What is no rubric


@pytest.mark.parametrize(
    "column", ["clarity_parse_error", "parse_failed", "walking_minutes", "judge_n", "parse_ok"]
)
def test_flags_times_and_counts_of_judging_are_no_rubrics(ws, column):
    rows = [
        [m, f"q{q}", 1 + (q + i) % 5, 1 + (q * i) % 5, (q + i) % 3 // 2]
        for i, m in enumerate(AUTHORS)
        for q in range(8)
    ]
    report = ws.ingest(table(["model", "question_id", "clarity", "tone", column], rows), "d")
    assert set(ws.dataset("d").rubrics["criterion"]) == {"clarity", "tone"}
    assert any(column in note for note in report.notes)


@pytest.mark.parametrize("name", ["err_language", "flip_semantic_frame_errors"])
def test_counts_of_errors_are_asked_which_way_is_better(ws, name):
    rows = [[m, f"q{q}", (q + i) % 2, q % 2] for i, m in enumerate(AUTHORS) for q in range(6)]
    report = ws.ingest(table(["model", "question_id", name, "fluency"], rows), "d")
    assert any(c.code == "named_after_fault" and name in c.sentence for c in report.checks)


# Mappings that read what they are shown for


def test_a_mapping_that_is_shown_names_the_query_that_tells_rows_apart(ws):
    """Whatever it is called, and with it no label is lost."""
    rows = [[f"R{i:02}", *(1 + label(i, c) for c in "abcd"), "a remark", "AB"] for i in range(12)]
    content = table(["review_id", "grounding", "relevance", "safety", "clarity", "reason", "annotator"], rows)
    (mapping,) = shown(refused(content))
    found = followed(ws, content, mapping)
    assert len(found) == 48
    assert names(found, 1) == {f"R{i:02}" for i in range(12)}


def test_of_one_score_too():
    records = [
        {
            "judge_id": j,
            "model_id": m,
            "packet_id": f"p{q}",
            "rank": i + 1,
            "reason": "so",
            "score": 4 + label(m, q, j),
        }
        for q in range(5)
        for i, m in enumerate(AUTHORS)
        for j in ("j1", "j2")
    ]
    (mapping,) = shown(refused(lines(records), "judged.jsonl"))
    with Workspace() as ws:
        assert len(followed(ws, lines(records), mapping, "judged.jsonl")) == 30
    assert mapping["query"] == "packet_id"


def test_a_criterion_with_one_label_is_shown_and_a_total_is_not():
    rows = [
        [f"{q}{side}", 2, two, 2, 2, 6 + two, "Tie"]
        for q in range(8)
        for side in "AB"
        for two in [1 + label(q, side)]
    ]
    columns = [
        "output_id",
        "accuracy",
        "completeness",
        "clarity",
        "safety",
        "overall_score",
        "better_than_other",
    ]
    (mapping,) = shown(refused(table(columns, rows)))
    assert mapping["rubric"] == ["accuracy", "completeness", "clarity", "safety"]


def test_where_nothing_tells_the_systems_apart_that_is_said():
    rows = [["law", f"source {q}", f"output {q} {k}", 1 + (q + k) % 5] for q in range(4) for k in range(6)]
    sentence = refused(table(["domain", "source", "model_output", "rating_out_of_5(Ann)"], rows))
    assert "they differ in 'model_output'" in sentence
    assert "no column says which system each belongs to: add a column called system" in sentence


def test_answers_of_tasks_are_criteria_and_inputs_are_not():
    rows = [
        [f"q{q}", f"ground {q}", f"dialogue {q}", s, f"answer {q} {s}", 1 + label(q, s), 2 + label(s, q)]
        for s in AUTHORS
        for q in range(6)
    ]
    columns = [
        "Input.id",
        "Input.ground",
        "Input.history",
        "Input.cond",
        "Input.response",
        "Answer.right",
        "Answer.kind",
    ]
    (mapping,) = shown(refused(table(columns, rows)))
    assert mapping == {"system": "=…", "query": "Input.id", "rubric": ["Answer.right", "Answer.kind"]}


def test_a_refusal_of_lost_labels_names_the_column_that_may_be_the_system(ws):
    rows = [
        [f"s{q}", a, j, 1 + label(q, a, j), 2 + label(a, q)]
        for q in range(4)
        for a in AUTHORS
        for j in ("j1", "j2")
    ]
    content = table(["seg", "arm", "judge", "adequacy", "fluency"], rows)
    with pytest.raises(IngestError, match=r'\{"system": "arm"\}'):
        ws.ingest(content, "d", mapping={"system": "=x", "query": "seg", "rubric": ["adequacy", "fluency"]})


def test_a_column_that_tells_answers_apart_is_offered_before_their_texts(ws):
    rows = [
        [f"q{q}", mode, f"text {q} {mode}", label(q, mode), 1 + q % 4]
        for mode in ("plain", "translated")
        for q in range(8)
    ]
    content = table(["question_id", "mode", "predicted_answer", "answer_correct", "fluency"], rows)
    mapping = shown(refused(content))[0]
    assert mapping["system"] == "mode"
    assert len(followed(ws, content, mapping)) == 32


def test_metrics_beside_a_judge_are_judges_and_what_people_said_is_gold():
    rows = [
        [
            f"what is {i}?",
            f"it is {i}",
            i % 2,
            (i // 2) % 2,
            ("CORRECT", "INCORRECT")[i % 3 == 0],
            ("CORRECT", "INCORRECT")[i % 2],
        ]
        for i in range(16)
    ]
    columns = ["question", "gt_answer", "exact_match", "contains", "llm_judge", "human_label"]
    (mapping,) = shown(refused(table(columns, rows)))
    assert mapping["judge"] == ["exact_match", "contains", "llm_judge"]


def test_letters_of_choices_are_no_labels():
    rows = [
        [m, f"i{q}", "AB"[q % 2], -20.5 - q, "AB"[(q + i) % 2], (q + i) % 2]
        for i, m in enumerate(AUTHORS)
        for q in range(8)
    ]
    (mapping,) = shown(refused(table(["model", "item_id", "forced", "logprob", "choice", "congruent"], rows)))
    assert mapping["label"] == "congruent"


def test_a_verdict_of_the_whole_hides_no_criteria():
    rows = [[f"A{i}", *(1 + label(i, c) + i % 3 for c in "abc"), str(i % 2 == 0)] for i in range(9)]
    (mapping,) = shown(refused(table(["test_id", "accuracy", "compliance", "relevance", "pass"], rows)))
    assert mapping["rubric"] == ["accuracy", "compliance", "relevance"]


def test_the_mapping_of_a_response_matrix_can_be_pasted(ws):
    content = b",scores1,scores2,winner\n0,1,1,\n1,51,1,\n2,51,50,\n3,51,50,2\n4,51,50,1\n"
    assert [set(m) for m in shown(refused(content))] == [{"system", "rubric"}] * 2


def test_numbered_answers_times_criteria_may_be_systems(ws):
    columns = [f"summary_{i}_{c}" for i in (1, 2, 3) for c in ("fluency", "coherence", "redundancy")]
    rows = [[j, s, *(1 + (s + k) % 5 for k in range(9))] for j in ("ann", "ben") for s in range(6)]
    content = table(["evaluator_name", "sample_id", *columns], rows)
    _, mapping = shown(refused(content))
    assert names(followed(ws, content, mapping), 0) == {"summary_1", "summary_2", "summary_3"}


def test_rubrics_that_no_two_systems_share_are_told_of(ws):
    rows = [
        [m, f"q{q}", f"item_{m}_{q}", j, 1 + label(m, q, j)]
        for m in AUTHORS
        for q in range(4)
        for j in ("j1", "j2")
    ]
    report = ws.ingest(table(["model", "question_id", "item_id", "judge", "score"], rows), "d")
    (note,) = (n for n in report.notes if "no two systems share a value of its column 'item_id'" in n)
    assert shown(note) == [{"query": "item_id", "rubric": "=score"}]


# One system for all, and columns that are systems


def test_columns_of_systems_beside_one_model_are_asked_about():
    """The model that all rows name may have judged, or lie within each of those that are compared."""
    columns = [f"{s}_{c}" for s in ("vanilla", "indexed") for c in ("relevance", "depth", "clarity")]
    rows = [["llama-3", f"q{q}", *(1 + (q + k) % 5 for k in range(6))] for q in range(8)]
    content = table(["model", "question_id", *columns], rows)
    mapping = shown(refused(content))[0]
    with Workspace() as ws:
        assert names(followed(ws, content, mapping), 0) == {"vanilla", "indexed"}


def test_within_json_too(ws):
    turns = [
        {"query": f"q{q}"}
        | {f"{s}_{c}": 1 + (q + k) % 5 for s in ("vanilla", "indexed") for k, c in enumerate(("rel", "div"))}
        for q in range(8)
    ]
    content = json.dumps({"model": "llama-3", "n_turns": 8, "turns": turns}).encode()
    mapping = shown(refused(content, "judged.json"))[0]
    assert names(followed(ws, content, mapping, "judged.json"), 0) == {"vanilla", "indexed"}


def test_where_only_scores_differ_they_are_asked_about():
    rows = [
        [m, f"q{q}", 1.0, (0.9444, 0.8889, 0.8333)[(q + i) % 3], 1.0]
        for i, m in enumerate(AUTHORS)
        for q in range(6)
    ]
    sentence = refused(table(["model", "scenario_id", "coverage", "alignment", "concision"], rows))
    assert shown(sentence)[0]["rubric"] == ["coverage", "alignment", "concision"]


# Within JSON


def test_a_judge_that_failed_once_hides_no_judge(ws):
    records = [
        {
            "id": f"q{q}",
            "system": s,
            "scores": {j: {"novelty": 1 + label(q, s, j), "depth": 2} for j in ("gpt-4o", "gemini-2")},
        }
        for q in range(6)
        for s in AUTHORS
    ]
    records[4]["scores"]["gemini-2"] = {"error": "Expecting value: line 4 column 19"}
    ws.ingest(lines(records), "d", name="judged.jsonl")
    found = cells(ws)
    assert names(found, 3) == {"gpt-4o", "gemini-2"}
    assert len(found) == 2 * (2 * 18 - 1)


def test_keys_of_records_with_verdicts_may_be_systems(ws):
    records = [
        {"number": f"n{q}"}
        | {s: {"match": bool(label(q, s)), "reason": f"as {q}"} for s in ("base", "rag", "tuned")}
        for q in range(6)
    ]
    content = json.dumps(records).encode()
    mapping = next(m for m in shown(refused(content, "judged.json")) if m["system"] != "=…")
    found = followed(ws, content, mapping, "judged.json")
    assert names(found, 0) == {"base", "rag", "tuned"}
    assert len(found) == 18


def test_two_sides_of_a_comparison_are_no_judges():
    records = [
        {"task_id": f"t{q}", "hidden_a": "x", "hidden_b": "y", "overall_winner": "AB"[q % 2]}
        | {f"scores_{side}": {"depth": 1 + label(q, side), "use": 2 + label(side, q)} for side in "ab"}
        for q in range(6)
    ]
    assert "holds two answers in each row (scores_a, scores_b)" in refused(lines(records), "judged.jsonl")


def test_a_list_of_comparisons_is_no_list_of_labels():
    """Whether sides were swapped was read as a rubric, 0 and 1."""
    pairs = [
        {
            "prompt_id": f"p{q}",
            "response_A": f"one of {q}",
            "response_B": f"two of {q}",
            "swapped": str(q % 3 == 0),
            "expected_winner": "AB"[q % 2],
            "preferred": "AB"[q % 3 % 2],
        }
        for q in range(6)
    ]
    content = json.dumps({"model": "judge-x", "results": pairs}).encode()
    said = "says which of two answers is better (response_A, response_B)"
    assert said in refused(content, "judged.json")


def test_the_letters_of_three_answers_are_no_rubrics():
    records = [
        {f"candidate_{c}": f"{c} of {q}" for c in "ABC"}
        | {
            "id": f"s{q}",
            "source_text": f"text {q}",
            "rank": {c: 1 + (q + n) % 3 for n, c in enumerate("ABC")},
        }
        for q in range(6)
    ]
    said = "holds several answers in each row (candidate_A, candidate_B, candidate_C), and labels of each"
    assert said in refused(json.dumps(records).encode(), "ranked.json")


def test_systems_in_several_rows_are_no_ranking_in_whatever_folder(tmp_path):
    """The folder was taken for the system, and the table for a ranking that --kind reference would read."""
    for folder in ("gpt-4o", "qwen3-8b"):
        for criterion in ("clarity", "tone"):
            path = tmp_path / folder / f"{criterion}.csv"
            path.parent.mkdir(exist_ok=True)
            rows = [(m, f"so {q}", 1 + label(m, q, criterion)) for m in AUTHORS for q in range(6)]
            path.write_text("model,feedback,score\n" + "".join("{},{},{}\n".format(*row) for row in rows))
    with Workspace() as ws, pytest.raises(IngestError) as error:
        ws.ingest(tmp_path, "d")
    assert "no column for rubric" in str(error.value)
    assert "--kind reference" not in str(error.value)


def test_blinded_answers_x_and_y_are_no_systems():
    """The columns rated_X and rated_Y were taken for two systems, though each row hides another one behind X."""
    rows = [
        {
            "item": f"i{q}",
            "output_X": f"one {q}",
            "output_Y": f"two {q}",
            "rated_X": q % 2,
            "rated_Y": q % 3 % 2,
            "better": "XY"[q % 2],
        }
        for q in range(8)
    ]
    assert "which of two answers is better (output_X, output_Y)" in refused(
        table(rows[0], [r.values() for r in rows])
    )


def test_suffixes_of_merged_tables_are_no_two_answers():
    """Where both columns hold the same text, the tables of two judges of the same answers were merged."""
    rows = [
        {"model": a, "question": f"q{q}", "response_x": f"so {a} {q}", "response_y": f"so {a} {q}"}
        | {"clarity_x": 1 + label(a, q), "clarity_y": 2 - label(q, a)}
        for a in AUTHORS
        for q in range(5)
    ]
    content = table(rows[0], [r.values() for r in rows])
    assert "two answers" not in str(plan_ingest(content, name="merged.csv"))


def test_what_several_questions_share_is_not_shown_as_the_query():
    rows = [
        {
            "source_model": a,
            "question_group": "one" if q < 3 else "two",
            "question_text": f"What of {q}, and why?",
            "first_accuracy": 1 + (q + len(a)) % 4,
            "second_accuracy": 1 + (2 * q + len(a)) % 5,
        }
        for a in AUTHORS
        for q in range(6)
    ]
    (mapping,) = shown(refused(table(rows[0], [r.values() for r in rows])))
    assert mapping["query"] == "question_text"


@pytest.mark.parametrize(("outer", "whose"), [({}, "system"), ({"model": "mine"}, "judge")])
def test_labels_of_each_of_several_objects_are_read_and_not_of_the_first_alone(ws, outer, whose):
    """Those of the first object were read, as of one system, and all others were listed as not used."""
    records = [
        {"id": f"q{q}", "prompt": f"Say {q}"}
        | outer
        | {
            "outputs": {
                a: {"text": f"{a} {q}", "score": {"clarity": 1 + label(a, q), "depth": 2 - label(q, a)}}
                for a in AUTHORS
            }
        }
        for q in range(5)
    ]
    content = json.dumps(records).encode()
    (mapping,) = shown(refused(content, "judged.json"))
    assert mapping[whose] == "outputs{}.#"
    found = followed(ws, content, mapping, "judged.json")
    assert len(found) == 5 * len(AUTHORS) * 2
    assert set(AUTHORS) <= {name for key in found for name in key}


def test_who_won_is_a_preference():
    records = [
        {
            "id": f"q{q}",
            "variant": v,
            "judge": j,
            "first": q % 2 == 0,
            "raw": "AB"[q % 2],
            "winner": ("plain", "variant", "tie")[q % 3],
        }
        for q in range(6)
        for v in ("bold", "table")
        for j in ("j1", "j2")
    ]
    assert "says which of two answers is better" in refused(lines(records), "judged.jsonl")


def test_an_id_of_the_items_of_a_list_is_the_query(ws):
    items = [
        {"helpfulness": 1 + i % 4, "grounding": 2 + i % 3, "reason": "so", "golden_id": f"g{i}"}
        for i in range(8)
    ]
    content = json.dumps({"individual": items, "mode": "mock"}).encode()
    mapping = shown(refused(content, "judged.json"))[0]
    assert len(followed(ws, content, mapping, "judged.json")) == 16


def test_a_refusal_lists_the_columns_of_the_file_alone():
    records = [
        {
            "id": f"q{q}",
            "scores": {
                j: {"novelty": 1 + label(q, j), "depth": 2 + label(j, q)} for j in ("gpt-4o", "gemini-2")
            },
        }
        for q in range(6)
    ]
    records[4]["scores"]["gemini-2"] = {"error": "Expecting value"}
    assert "its columns are 'id', 'scores';" in refused(lines(records), "judged.jsonl")


def test_half_a_character_in_the_name_of_an_unused_field_stops_nothing(ws):
    graded = '[{"criterion": "brief", "points": 5, "criteria_met": true}]'
    records = [
        f'{{"prompt_id": "p{q}", "rubric_items": {graded}, "more\\ud800": {graded}}}\n' for q in range(4)
    ]
    assert ws.ingest("".join(records).encode(), "d", name="model.jsonl").accepted == 4
