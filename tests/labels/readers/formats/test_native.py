"""Every benchmark's own layout: what becomes of a small file of it."""

from __future__ import annotations

import io
import json
import re
import zipfile

import pytest

from crubric_core.errors import IngestError
from crubric_core.labels.readers.bundle import plan_ingest
from crubric_core.labels.readers.formats.native.tables import LONGEST
from crubric_core.labels.readers.plan import Plan

from .conftest import document, labels_of, lines

TWO = [
    {"criterion": "Names the dose", "points": 5, "tags": ["level:example", "axis:accuracy"]},
    {"criterion": "Invents a source", "points": -8, "tags": ["axis:accuracy"]},
]


def graded(*met: bool) -> list[dict]:
    return [{**item, "criteria_met": m, "explanation": "so"} for item, m in zip(TWO, met, strict=True)]


def test_healthbench_examples_give_prompts_and_rubrics_but_no_labels(read):
    example = {
        "prompt_id": "p1",
        "prompt": [{"role": "user", "content": "How much?"}],
        "rubrics": TWO,
        "example_tags": ["theme:hedging"],
        "canary": "x",
    }
    dataset, report = read(lines(example, {**example, "prompt_id": "p2"}))
    assert [part.kind for part in report.parts] == ["queries", "rubrics"]
    rubrics = dataset.rubrics
    assert rubrics["rubric"].tolist() == ["p1#0", "p1#1", "p2#0", "p2#1"]
    assert rubrics["weight"].tolist() == [5, -8, 5, -8]
    assert rubrics["dimension"].tolist() == ["accuracy"] * 4
    assert rubrics["tags"].tolist()[:2] == ["level:example,axis:accuracy", "axis:accuracy"]
    assert dataset.queries["text"].tolist() == ["user: How much?"] * 2
    assert dataset.queries["domain"].tolist() == ["hedging"] * 2


@pytest.mark.parametrize("key", ["met", "score", "verdict"])
def test_criteria_like_those_of_healthbench_that_have_labels_give_these(read, key):
    """They were read as prompts and rubrics without a label."""
    records = [
        {
            "model": m,
            "prompt_id": p,
            "prompt": p,
            "rubrics": [{**item, key: met} for item, met in zip(TWO, mets, strict=True)],
        }
        for m, p, mets in [("a", "p1", (1, 0)), ("a", "p2", (0, 0)), ("b", "p1", (1, 1)), ("b", "p2", (0, 1))]
    ]
    dataset, _ = read(lines(*records))
    assert labels_of(dataset) == {
        (r["model"], r["prompt_id"], f"{r['prompt_id']}#{i['criterion']}", "judge", i[key])
        for r in records for i in r["rubrics"]
    }  # fmt: skip
    assert dataset.rubrics["polarity"].tolist().count(-1) == 2


EXPECTED = {("gpt", "p1", "p1#0", "judge", 1), ("gpt", "p1", "p1#1", "judge", 0)}


def test_a_text_beyond_all_reason_is_cut_and_says_so(read):
    example = {"prompt_id": "p1", "prompt": "é" * (LONGEST + 7), "rubrics": TWO, "example_tags": []}
    text = read(lines(example, {**example, "prompt_id": "p2", "prompt": "é" * LONGEST}))[0].queries["text"]
    assert text[0] == "é" * LONGEST + " … (7 more characters, in the file alone)"
    assert text[1] == "é" * LONGEST


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (
            document(
                {
                    "score": 0.4,
                    "htmls": ["<p>"],
                    "metadata": {
                        "example_level_metadata": [
                            {"prompt_id": "p1", "completion_id": "c", "rubric_items": graded(True, False)}
                        ]
                    },
                }
            ),
            "healthbench_gpt_20250508_1200_allresults.json",
        ),
        (lines({"prompt_id": "p1", "score": 1, "rubric_items": graded(True, False)}), "gpt.jsonl"),
        (document([{"prompt_id": "p1", "conversations": [], "rubrics": graded(True, False)}]), "gpt.json"),
        (
            lines(
                {
                    "prompt_id": "p1",
                    "rubrics": [
                        {**item, "grader_response": {"explanation": "so", "criteria_met": met}}
                        for item, met in zip(TWO, (True, False), strict=True)
                    ],
                }
            ),
            "gpt.jsonl",
        ),
        (
            lines(
                {"prompt_id": "p1", "score": 1, "grades": [{"criteria_met": True}, {"criteria_met": False}]}
            ),
            "gpt.jsonl",
        ),
    ],
)
def test_graded_healthbench_runs_name_criteria_by_their_position(read, content, name):
    dataset, _ = read(content, name)
    assert labels_of(dataset) == EXPECTED


def test_healthbench_psych_grades_take_system_and_judge_from_the_record_or_the_file_name(ws):
    record = {"prompt_id": "p1", "score": 1, "criteria_met": [True, False, None]}
    ws.ingest(lines({**record, "model": "m", "judge": "j"}), "inside", name="grades.jsonl")
    ws.ingest(lines({**record, "candidate_id": "m", "judge_id": "j"}), "ids", name="grades.jsonl")
    ws.ingest(lines(record), "outside", name="m__j.jsonl")
    expected = {("m", "p1", "p1#0", "j", 1), ("m", "p1", "p1#1", "j", 0), ("m", "p1", "p1#2", "j", None)}
    assert labels_of(ws.dataset("inside")) == expected
    assert labels_of(ws.dataset("ids")) == expected
    assert labels_of(ws.dataset("outside")) == expected


def test_the_meta_evaluation_becomes_gold_of_each_physician(read):
    record = {
        "prompt_id": "p1",
        "completion_id": "c9",
        "prompt": [],
        "completion": "…",
        "rubric": "Asks back",
        "category": "context",
    }
    dataset, report = read(
        lines(
            {**record, "binary_labels": [True, False], "anonymized_physician_ids": ["A", "B"]},
            {**record, "completion_id": "c8", "binary_labels": [True, True, False]},
        )
    )
    found = {(s, q, a, v) for s, q, _, a, v in labels_of(dataset, "gold")}
    assert found == {
        ("c9", "p1", "A", 1),
        ("c9", "p1", "B", 0),
        ("c8", "p1", "physician1", 1),
        ("c8", "p1", "physician2", 1),
        ("c8", "p1", "physician3", 0),
    }
    assert report.kind == "queries" or report.accepted == 5


def test_bare_grader_replies_are_refused_with_the_way_out(read):
    with pytest.raises(IngestError, match="names neither prompt nor criterion: use the graded run"):
        read(lines({"explanation": "so", "criteria_met": True}))


def test_hellobench_scores_in_quarters_become_five_levels(read):
    checks = [
        {"checklist_id": i, "reason": "…", "evaluation_score": score}
        for i, score in enumerate([0.0, 0.25, 0.5, 0.75, 1.0])
    ]
    record = {"id": "chat_1", "instruction": "Write", "response": "…", "checklist_wise_evaluation": checks}
    dataset, report = read(lines(record), mapping={"system": "=glm", "judge": "=gpt-4o"})
    assert labels_of(dataset) == {("glm", "chat_1", f"chat_1#{i}", "gpt-4o", i) for i in range(5)}
    assert (dataset.scale.minimum, dataset.scale.maximum, dataset.scale.source) == (0, 4, "given")
    assert "system glm and judge gpt-4o" in " ".join(report.notes)


def test_a_hellobench_file_without_a_name_that_says_something_asks_for_the_system(read):
    checks = [{"checklist_id": 0, "reason": "…", "evaluation_score": 1}]
    with pytest.raises(IngestError, match="does not say which system"):
        read(lines({"id": "q", "checklist_wise_evaluation": checks}), "results.sample.jsonl")


def test_wildbench_scores_are_text_and_the_model_is_the_last_part_of_its_name(read):
    record = {"session_id": "s1", "parsed_result": {"score": "4"}, "model_test": "org/llama", "score": "4"}
    dataset, _ = read(document([record, {**record, "model_test": "org/qwen", "score": "10"}]), "file.json")
    assert {(s, r, v) for s, _, r, _, v in labels_of(dataset)} == {
        ("llama", "s1#score", 4),
        ("qwen", "s1#score", 10),
    }
    assert dataset.scale.levels == 10


def test_a_system_that_the_user_names_for_wildbench_is_whole(read):
    record = {"session_id": "s1", "parsed_result": {"score": "4"}, "score": "4"}
    dataset, _ = read(document([record]), "file.json", mapping={"system": "=org/llama"})
    assert {s for s, *_ in labels_of(dataset)} == {"org/llama"}


def test_summeval_experts_and_turkers_are_judges_of_four_rubrics(read):
    record = {
        "id": "d1",
        "model_id": "M1",
        "decoded": "…",
        "expert_annotations": [{"coherence": 1, "fluency": 5}, {"coherence": 2, "fluency": 4}],
        "turker_annotations": [{"coherence": 3, "fluency": 3}],
    }
    dataset, _ = read(lines(record))
    assert dataset.judges == ("expert1", "expert2", "turker1")
    assert ("M1", "d1", "d1#coherence", "expert2", 2) in labels_of(dataset)
    assert len(labels_of(dataset)) == 6


def test_infobench_verdicts_are_known_unknown_or_absent(read):
    record = {"id": "t1", "input": "in", "instruction": "do", "decomposed_questions": ["a?", "b?", "c?"]}
    dataset, _ = read(lines({**record, "eval": [True, False, None]}), "gpt-4.jsonl")
    assert labels_of(dataset) == {
        ("gpt-4", "t1", "t1#0", "judge", 1),
        ("gpt-4", "t1", "t1#1", "judge", 0),
        ("gpt-4", "t1", "t1#2", "judge", None),
    }


SWE = {
    "total_instances": 5,
    "resolved_ids": ["django__django-1"],
    "unresolved_ids": ["django__django-2"],
    "empty_patch_ids": ["sympy__sympy-3"],
    "error_ids": ["sympy__sympy-4"],
    "incomplete_ids": ["sympy__sympy-5"],
    "schema_version": 2,
}


def test_a_report_of_swe_bench_says_which_instances_the_tests_resolve(read):
    dataset, report = read(document(SWE), "gpt-4o.run1.json")
    assert {(system, q, judge, label) for system, q, _, judge, label in labels_of(dataset)} == {
        ("gpt-4o.run1", "django__django-1", "tests", 1),
        ("gpt-4o.run1", "django__django-2", "tests", 0),
        ("gpt-4o.run1", "sympy__sympy-3", "tests", 0),
        ("gpt-4o.run1", "sympy__sympy-4", "tests", 0),
    }
    assert set(dataset.queries["domain"]) == {"django", "sympy"}
    told = " ".join(report.notes)
    assert "error_ids count as not resolved" in told
    assert "incomplete_ids have no label" in told


def test_an_instance_that_is_resolved_and_is_not_is_refused(read):
    assert read(document({**SWE, "error_ids": ["django__django-2"], "empty_patch_ids": None}), "a.json")
    with pytest.raises(IngestError, match="has 'django__django-1' in 'resolved_ids' and in 'error_ids'"):
        read(document({**SWE, "error_ids": ["django__django-1"]}), "gpt-4o.json")


def test_records_of_a_second_array_in_a_file_are_read_too(read):
    """As two files that were joined; the second was dropped."""
    records = [
        {"id": i, "model": m, "decomposed_questions": ["a?"], "eval": [True]}
        for m in ("x", "y")
        for i in "pq"
    ]
    dataset, report = read(document(records[:2]) + b"\n" + document(records[2:]))
    assert len(labels_of(dataset)) == report.accepted == 4
    with pytest.raises(IngestError, match="cannot be read as JSON"):
        read(document(records[:2]) + b" and more")


@pytest.mark.parametrize(
    ("said", "label"), [("Yes. It does", 1), ("**No**", 0), ("Not applicable", None), ("Note: Yes", None)]
)
def test_profbench_verdicts_are_the_words_yes_and_no(read, said, label):
    record = {"task_id": "F1", "criterion_description": "Uses the rate", "judge_rating": said, "model": "m"}
    dataset, _ = read(lines(record), "judge.jsonl")
    assert [found[-1] for found in labels_of(dataset)] == [label]


def test_profbench_people_are_gold_and_judges_join_them_by_the_criterion_text(ws):
    item = {
        "criterion_description": "Uses the right rate",
        "criterion_type": ["Reasoning"],
        "criterion_weight": "Major",
        "o3_fulfilment": True,
        "grok4_fulfilment": False,
    }
    ws.ingest(lines({"task_id": "F1", "domain": "Finance", "prompt": "…", "rubrics": [item]}), "d")
    judged = {k: item[k] for k in ("criterion_description", "criterion_type", "criterion_weight")}
    judged |= {"task_id": "F1", "domain": "Finance", "model": "o3", "human_annotation": True, "response": "…"}
    ws.ingest(lines({**judged, "judge_rating": "Yes. It does"}), "d", name="gpt-4.1_reasoning_False.jsonl")
    dataset = ws.dataset("d")
    assert {(s, a, v) for s, _, _, a, v in labels_of(dataset, "gold")} == {
        ("o3", "human", 1),
        ("grok4", "human", 0),
    }
    ((system, query, rubric, judge, label),) = labels_of(dataset)
    assert (system, query, judge, label) == ("o3", "F1", "gpt-4.1", 1)
    assert rubric in dataset.gold()["rubric"].tolist()
    assert dataset.rubrics["weight"].tolist() == [3]


def test_judge_bench_texts_are_systems_and_people_judges(read):
    found = {
        "dataset": "cooking",
        "annotations": [
            {"metric": "fluency", "category": "graded", "worst": 1, "best": 7, "prompt": "Rate"},
            {"metric": "errors", "category": "graded", "worst": 5, "best": 0},
        ],
        "instances": [
            {
                "id": 1,
                "instance": "Salt",
                "annotations": {
                    "fluency": {"mean_human": 3.5, "individual_human_scores": [2, 5]},
                    "errors": {"individual_human_scores": [0]},
                },
            }
        ],
    }
    dataset, _ = read(document(found), "cooking.json")
    assert ("1", "cooking", "cooking#fluency", "human2", 5) in labels_of(dataset)
    assert dict(dataset.rubrics[["rubric", "scale_max"]].to_numpy()) == {
        "cooking#errors": 5,
        "cooking#fluency": 7,
    }


def test_research_rubrics_have_three_steps_and_prompts_in_rows_of_their_own(read):
    content = (
        "prompt,title,weight,category,gemini_present,chatgpt_present\n"
        "Compare the two,,,,,\n"
        "https://example.org/a.pdf,,,,,\n"
        ",Names both,5,Explicit,Satisfied,Partially Satisfied\n"
        ",Makes it up,-4,Implicit,Not Satisfied,Satisfied\n"
        "Another one,,,,,\n"
        ",Is short,2,Explicit,Satisfied,\n"
    )
    dataset, _ = read(content.encode(), "rubrics.csv")
    assert labels_of(dataset) == {
        ("gemini", "prompt1", "prompt1#0", "judge", 2),
        ("chatgpt", "prompt1", "prompt1#0", "judge", 1),
        ("gemini", "prompt1", "prompt1#1", "judge", 0),
        ("chatgpt", "prompt1", "prompt1#1", "judge", 2),
        ("gemini", "prompt2", "prompt2#0", "judge", 2),
        ("chatgpt", "prompt2", "prompt2#0", "judge", None),
    }
    assert dataset.queries["text"].tolist() == ["Compare the two", "Another one"]


@pytest.mark.parametrize("at", [0, 30])
def test_a_record_without_a_system_beside_others_that_name_theirs_is_rejected(ws, at):
    """The file's name was the system of all records, or, where it came later, was asked for all of them."""
    records = [
        {"id": f"t{i}", "model": m, "decomposed_questions": ["a?"], "eval": [bool(i % 2)]}
        for i in range(15)
        for m in ("m1", "m2")
    ]
    records.insert(at, {"id": "t99", "decomposed_questions": ["a?"], "eval": [True]})
    report = ws.ingest(lines(*records), "d", name="x.jsonl")
    assert set(ws.dataset("d").labels()["system"]) == {"m1", "m2"}
    assert report.rejects["reason"].tolist() == [f"record {at + 1} does not say which system it is about"]


def inspect_log() -> dict:
    return {
        "version": 2,
        "status": "success",
        "eval": {"task": "t", "model": "openai/gpt-4o"},
        "samples": [
            {
                "id": "s1",
                "epoch": 1,
                "input": "Q?",
                "scores": {"match": {"value": "C"}, "graded": {"value": {"style": 1, "facts": 0}}},
            },
            {"id": "s2", "epoch": 2, "input": "R?", "scores": {"match": {"value": float("nan")}}},
        ],
    }


INSPECT = {
    ("openai/gpt-4o", "s1", "s1#match", "judge", 1),
    ("openai/gpt-4o", "s1", "s1#graded/style", "judge", 1),
    ("openai/gpt-4o", "s1", "s1#graded/facts", "judge", 0),
    ("openai/gpt-4o", "s2", "s2#match", "judge", None),
}


def test_an_inspect_log_gives_a_rubric_a_scorer_and_unscored_stays_unknown(read):
    dataset, _ = read(document(inspect_log()), "log.json")
    assert labels_of(dataset) == INSPECT


def test_an_eval_archive_is_read_like_its_json(read):
    log = inspect_log()
    samples = log.pop("samples")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("header.json", json.dumps(log))
        archive.writestr("summaries.json", "[]")
        for sample in samples:
            archive.writestr(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", json.dumps(sample))
    dataset, report = read(buffer.getvalue(), "log.eval")
    assert labels_of(dataset) == INSPECT
    assert report.accepted == 4


@pytest.mark.parametrize(
    ("entries", "why"),
    [
        ({"_journal/start.json": "{}"}, "is an Inspect log that was not finished"),
        ({"header.json": "{"}, "header.json in log.eval is not valid JSON"),
        ({"header.json": "[]"}, "header.json in log.eval is not an object"),
        ({"header.json": "{}"}, "is an Inspect log without samples"),
        ({"header.json": "{}", "samples/a.json": "{}"}, "holds no table and no eval"),
        (
            {"header.json": '{"eval": {}}', "samples/a.json": "{"},
            "samples/a.json in log.eval is not valid JSON",
        ),
    ],
)
def test_an_eval_archive_that_cannot_be_read_says_why(ws, entries, why):
    """Each was said to be a ZIP archive without a log in it."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    with pytest.raises(IngestError, match=why):
        ws.ingest(buffer.getvalue(), "d", name="log.eval")


SCORES = {
    "parts in a list": ({"value": [1, 0]}, {("s1#s/0", "gpt-4o", 1), ("s1#s/1", "gpt-4o", 0)}),
    "votes by judge": (
        {"value": 1, "metadata": {"panel": {"votes": {"a": 1, "b": 0}}}},
        {("s1#s", "a", 1), ("s1#s", "b", 0)},
    ),
    "a grader named": ({"value": "C", "metadata": {"grader_model": "o3"}}, {("s1#s", "o3", 1)}),
}


@pytest.mark.parametrize("case", SCORES)
def test_scores_of_an_inspect_log_with_the_grader_of_its_model_roles(read, case):
    score, wanted = SCORES[case]
    roles = {"grader": {"model": "gpt-4o"}}
    output = {"choices": [{"message": {"role": "assistant", "content": "The answer."}}]}
    sample = {"id": "s1", "epoch": 1, "input": "Q?", "output": output, "scores": {"s": score}}
    log = {"eval": {"task": "t", "model": "m", "model_roles": roles}, "samples": [sample]}
    dataset, _ = read(document(log), "log.json")
    assert {(r, j, x) for _, _, r, j, x in labels_of(dataset)} == wanted
    assert dataset.answers()["text"].tolist() == ["The answer."]


def log_of(task: str, model: str, value: str, **score: object) -> bytes:
    found = {"match": {"value": value, **score}}
    sample = {"id": 1, "epoch": 1, "input": "a question", "scores": found}
    return document({"eval": {"task": task, "model": model}, "status": "success", "samples": [sample]})


def test_samples_of_several_inspect_tasks_are_queries_of_their_own(ws):
    """Equal ids of two tasks were one query: their labels contradicted each other, or were taken for repeats."""
    asked = [("gsm", "a", "C"), ("gsm", "b", "I"), ("mmlu", "a", "I"), ("mmlu", "b", "I")]
    files = [(f"{task}/{model}.json", log_of(task, model, value)) for task, model, value in asked]
    report = ws.ingest(files, "d")
    assert labels_of(ws.dataset("d")) == {
        (model, f"{task}/1", f"{task}/1#match", "judge", int(value == "C")) for task, model, value in asked
    }
    assert any("each query is named {task}/{query}" in note for note in report.notes)
    assert (report.rejected, report.collapsed) == (0, 0)


def test_samples_of_one_inspect_task_keep_their_names_unless_said_otherwise(ws):
    ws.ingest([(f"{model}.json", log_of("gsm", model, "C")) for model in "ab"], "d")
    assert set(ws.dataset("d").queries["query"]) == {"1"}
    ws.ingest(log_of("gsm", "a", "C"), "e", name="a.json", mapping={"query": "~ {task}/{query}"})
    assert set(ws.dataset("e").queries["query"]) == {"gsm/1"}


def test_samples_of_banks_keep_their_names(ws):
    marks = {"metadata": {"crubric": {"r1": {"label": 1}}}}
    ws.ingest([(f"{task}.json", log_of(task, task, "C", **marks)) for task in ("gsm", "mmlu")], "d")
    assert set(ws.dataset("d").queries["query"]) == {"1"}


def test_a_plan_keeps_how_queries_are_told_apart(ws):
    files = [(f"{task}.json", log_of(task, "a", "C")) for task in ("gsm", "mmlu")]
    ws.ingest_plan(Plan.from_json(plan_ingest(files).to_json()), "d", files)
    assert set(ws.dataset("d").queries["query"]) == {"gsm/1", "mmlu/1"}


def test_tests_of_several_promptfoo_evals_are_told_apart_by_their_variables(ws):
    def evaluated(topic: str, provider: str) -> bytes:
        result = {**promptfoo_result(0, True), "vars": {"topic": topic}, "provider": provider}
        return document({"evalId": f"{topic} {provider}", "results": {"version": 3, "results": [result]}})

    pairs = [(topic, provider) for topic in ("law", "art") for provider in ("a", "b")]
    report = ws.ingest([(f"{t}-{p}.json", evaluated(t, p)) for t, p in pairs], "d")
    cells = {(system, query) for system, query, *_ in labels_of(ws.dataset("d"))}
    assert cells == {(p, f'test0 {{"topic": "{t}"}}') for t, p in pairs}
    assert report.rejected == 0
    ws.ingest([(f"{p}.json", evaluated("law", p)) for p in "ab"], "e")
    assert set(ws.dataset("e").queries["query"]) == {"test0"}


@pytest.mark.parametrize("layout", ["inspect", "promptfoo"])
def test_another_task_read_later_says_how_its_queries_are_told_apart(ws, layout):
    def of_task(topic: str) -> bytes:
        if layout == "inspect":
            return log_of(topic, "a", "C").replace(b"a question", f"a question of {topic}".encode())
        result = {**promptfoo_result(0, True), "vars": {"topic": topic}, "provider": topic}
        return document({"evalId": topic, "results": {"version": 3, "results": [result]}})

    rule = {"inspect": "~ {task}/{query}", "promptfoo": "~ {query} {vars}"}[layout]
    ws.ingest(of_task("law"), "d", name="law.json")
    with pytest.raises(
        IngestError,
        match=re.escape(f'read all such files at once, or with the mapping {{"query": "{rule}"}}'),
    ):
        ws.ingest(of_task("art"), "d", name="art.json")
    assert ws.ingest(of_task("art"), "d", name="art.json", mapping={"query": rule}).rejected == 0
    assert len(ws.dataset("d").queries) == 2


def test_questions_of_squality_are_named_by_their_place_and_each_reviewer_is_a_judge(read):
    def reviewed(mark: int) -> dict:
        reviews = [
            {"worker_id": w, "overall-rating": mark + n, "overall-rank": 1} for n, w in enumerate(("7", "8"))
        ]
        return {"response": "text", "reviews": reviews, "overall": {"overall-rating": mark + 0.5}}

    record = {
        "passage-id": "61",
        "questions": [{"bart": reviewed(50), "human": reviewed(90)}, {"bart": reviewed(10)}],
    }
    dataset, report = read(lines(record))
    assert labels_of(dataset) == {
        (system, f"61/{place}", f"61/{place}#overall", judge, mark + n)
        for system, place, mark in (("bart", 0, 50), ("human", 0, 90), ("bart", 1, 10))
        for n, judge in enumerate(("7", "8"))
    }
    assert report.rejected == 0


def promptfoo_result(index: int, *passed: bool) -> dict:
    parts = [
        {
            "pass": p,
            "score": int(p),
            "assertion": {"type": "llm-rubric", "value": f"is good {i}", "metric": f"m{i}"},
        }
        for i, p in enumerate(passed)
    ]
    return {
        "provider": {"id": "openai:gpt-4o", "label": "gpt"},
        "promptIdx": 0,
        "testIdx": index,
        "vars": {"topic": "bananas"},
        "success": all(passed),
        "gradingResult": {"pass": all(passed), "score": 1, "componentResults": parts},
    }


@pytest.mark.parametrize("version", [2, 3])
def test_promptfoo_assertions_are_rubrics(read, version):
    results = [promptfoo_result(0, True, False), promptfoo_result(1, True)]
    dataset, _ = read(
        document({"evalId": "e", "results": {"version": version, "results": results}}), "results.json"
    )
    expected = {
        ("gpt", "test0", "test0#m0", "judge", 1),
        ("gpt", "test0", "test0#m1", "judge", 0),
        ("gpt", "test1", "test1#m0", "judge", 1),
    }
    assert labels_of(dataset) == expected


def test_promptfoo_lines_and_failed_providers(read):
    failed = {
        **promptfoo_result(1),
        "gradingResult": None,
        "success": False,
        "failureReason": 2,
        "error": "429",
    }
    dataset, _ = read(lines(promptfoo_result(0, True), failed))
    assert labels_of(dataset) == {
        ("gpt", "test0", "test0#m0", "judge", 1),
        ("gpt", "test1", "test1#pass", "judge", None),
    }


def test_lm_eval_metrics_in_words_are_labels_and_lists_are_told_of(ws, tmp_path):
    folder = tmp_path / "gpt-4"
    folder.mkdir()
    metrics = {"metrics": ["verdict", "bleu"], "bleu": ["x", "y"]}
    samples = [
        {"doc_id": i, "doc": {"q": f"t{i}"}, "resps": [["a"]], **metrics, "verdict": "yes" if i % 2 else "no"}
        for i in range(6)
    ]
    (folder / "samples_task.jsonl").write_bytes(lines(*samples))
    report = ws.ingest(folder / "samples_task.jsonl", "d")
    assert sorted(row[4] for row in labels_of(ws.dataset("d"))) == [0, 0, 0, 1, 1, 1]
    assert any("'bleu' holds no single label" in note for note in report.notes)


def test_lm_eval_metrics_are_rubrics_of_the_task_in_the_file_name(ws, tmp_path):
    folder = tmp_path / "run" / "org__gemma"
    folder.mkdir(parents=True)
    record = {
        "doc_id": 7,
        "doc": {"q": "?"},
        "target": "a",
        "resps": [],
        "filtered_resps": [],
        "filter": "none",
    }
    (folder / "samples_arc_easy_2024-05-01T10-00-00.123.jsonl").write_bytes(
        lines({**record, "metrics": ["acc", "acc_norm"], "acc": 1.0, "acc_norm": 0.0})
    )
    ws.ingest(tmp_path / "run", "d")
    assert labels_of(ws.dataset("d")) == {
        ("org__gemma", "arc_easy/7", "arc_easy/7#acc", "judge", 1),
        ("org__gemma", "arc_easy/7", "arc_easy/7#acc_norm", "judge", 0),
    }


def langfuse_score(**fields) -> dict:
    return {"id": "x", "traceId": "t1", "name": "helpful", "value": 1, "source": "EVAL", **fields}


@pytest.mark.parametrize("shape", ["lines", "array", "api", "csv"])
def test_langfuse_scores_come_as_json_csv_or_the_apis_answer(read, shape):
    scores = [
        langfuse_score(metadata={"model": "gpt"}, dataType="BOOLEAN", stringValue="True"),
        langfuse_score(
            metadata={"model": "gpt"}, name="tone", value=None, stringValue="No", dataType="CATEGORICAL"
        ),
    ]
    if shape == "csv":
        header = "id,traceId,name,value,stringValue,source,dataType,metadata\n"
        cell = '"{""model"": ""gpt""}"'
        content = f"{header}x,t1,helpful,1,True,EVAL,BOOLEAN,{cell}\nx,t1,tone,,No,EVAL,CATEGORICAL,{cell}\n".encode()
    else:
        content = {
            "lines": lines(*scores),
            "array": document(scores),
            "api": document({"data": scores, "meta": {}}),
        }[shape]
    dataset, _ = read(content, "scores.csv" if shape == "csv" else "scores.json")
    assert labels_of(dataset) == {
        ("gpt", "t1", "t1#helpful", "judge", 1),
        ("gpt", "t1", "t1#tone", "judge", 0),
    }


def test_langfuse_annotations_are_gold_and_a_dataset_item_is_one_query_for_all_traces(read):
    details = {"model": "gpt", "dataset_item_id": "i1"}
    dataset, _ = read(
        lines(
            langfuse_score(metadata=details),
            langfuse_score(metadata={**details, "model": "opus"}, traceId="t2"),
            langfuse_score(metadata=details, source="ANNOTATION", value=0, authorUserId="ann"),
        )
    )
    assert {(s, q) for s, q, *_ in labels_of(dataset)} == {("gpt", "i1"), ("opus", "i1")}
    assert labels_of(dataset, "gold") == {("gpt", "i1", "i1#helpful", "ann", 0)}


def test_langfuse_traces_with_one_input_are_of_one_query_and_without_any_are_told(read):
    """Each trace was a query of its own."""
    scores = [
        langfuse_score(metadata={"model": m}, traceId=f"{m}{q}", name=c)
        for m in ("gpt", "opus")
        for q in ("a", "b")
        for c in ("helpful", "tone")
    ]
    asked = [{**score, "trace": {"input": {"question": score["traceId"][-1]}}} for score in scores]
    dataset, report = read(lines(*asked))
    assert {q for _, q, *_ in labels_of(dataset)} == {'{"question": "a"}', '{"question": "b"}'}
    assert not any("each trace is a query of its own" in note for note in report.notes)


def test_langfuse_scores_that_name_no_query_are_told(read):
    dataset, report = read(lines(langfuse_score(metadata={"model": "gpt"})))
    assert {q for _, q, *_ in labels_of(dataset)} == {"t1"}
    assert any("each trace is a query of its own" in note for note in report.notes)


def test_autorubric_verdicts_by_vote_and_cannot_assess_is_unknown(read):
    def item(index: int, *reports: dict) -> dict:
        return {"item_idx": index, "duration_seconds": 1.0, "report": {"criterion_reports": list(reports)}}

    single = {"name": "dose", "weight": -3, "requirement": "Overdoses", "verdict": "UNMET", "reason": "…"}
    voted = {
        "criterion": {"name": "tone", "weight": 2, "requirement": "Is kind"},
        "final_verdict": "MET",
        "votes": [{"judge_id": "a", "verdict": "MET"}, {"judge_id": "b", "verdict": "CANNOT_ASSESS"}],
    }
    dataset, report = read(lines(item(0, single, voted)), "gpt-4.jsonl")
    assert labels_of(dataset) == {
        ("gpt-4", "0", "0#dose", "judge", 0),
        ("gpt-4", "0", "0#tone", "a", 1),
        ("gpt-4", "0", "0#tone", "b", None),
    }
    assert "CANNOT_ASSESS = unknown" in " ".join(report.notes)


def batch(custom_id: str, content: str) -> dict:
    body = {"model": "gpt-4.1", "choices": [{"message": {"content": content}}]}
    return {"id": "b", "custom_id": custom_id, "response": {"status_code": 200, "body": body}}


def test_batch_output_finds_the_system_in_the_custom_id_and_the_verdicts_in_the_reply(read):
    dataset, _ = read(
        lines(
            batch(
                "action_qa_0_anthropic/claude-4.5_0",
                '```json\n{"clarity": {"score": 2}, "depth": {"score": 0}}\n```',
            ),
            batch("action_qa_1_openai/gpt-5_17", '[{"criterion_id": "c", "score": 1}]'),
        )
    )
    assert labels_of(dataset) == {
        ("anthropic/claude-4.5", "action_qa_0", "action_qa_0#clarity", "gpt-4.1", 2),
        ("anthropic/claude-4.5", "action_qa_0", "action_qa_0#depth", "gpt-4.1", 0),
        ("openai/gpt-5", "action_qa_1", "action_qa_1#c", "gpt-4.1", 1),
    }


def test_a_criterion_called_0_is_no_position_in_a_reply(read):
    dataset, _ = read(lines(batch("q_0_a/b_0", '[{"id": 1, "score": 0}, {"id": 0, "score": 1}]')))
    assert {(rubric, label) for _, _, rubric, _, label in labels_of(dataset)} == {("q_0#1", 0), ("q_0#0", 1)}


def test_batch_output_of_other_ids_asks_for_their_pattern_and_takes_it(read):
    record = batch("q7-gpt-r2", '{"verdict": "yes"}')
    with pytest.raises(IngestError, match=r"give a pattern in the mapping, such as .*custom_id"):
        read(lines(record))
    dataset, _ = read(lines(record), mapping={"custom_id": "={query}-{system}-{rubric}"})
    assert labels_of(dataset) == {("gpt", "q7", "q7#r2", "gpt-4.1", 1)}


@pytest.mark.parametrize("field", ["text", "raw_output"])
def test_raw_judge_replies_hold_the_verdict_in_json_and_broken_ones_none(read, field):
    record = {"example_id": "e1", "candidate_name": "gpt", "criterion_id": "c1", "judge": "j"}
    dataset, _ = read(
        lines(
            {**record, field: '{"grade": 1, "reasoning": "…"}'},
            {**record, "criterion_id": "c2", field: 'Sure: ```json\n{"grade": 0}\n```'},
            {**record, "criterion_id": "c3", field: '{"grade": '},
        )
    )
    assert labels_of(dataset) == {
        ("gpt", "e1", "e1#c1", "j", 1),
        ("gpt", "e1", "e1#c2", "j", 0),
        ("gpt", "e1", "e1#c3", "j", None),
    }


JUDGMENTBENCH = {
    "human/annotations_rubric.csv": "annotation_id,annotator_id,task_id,output_id,output_quality_level\n"
    "a1,law1,t1,o1,good\na2,law2,t1,o2,excellent\n",
    "human/rubric_item_scores.csv": "annotation_id,rubric_item_id,score_order,awarded_points\n"
    "a1,i1,1,3\na1,i2,2,-4\na2,i1,1,0\na2,i2,2,0\n",
    "human/annotators.csv": "annotator_id,title\nlaw1,Partner\n",
    "autograders/gpt_5_4/annotations_rubric.csv": "annotation_id,corresponding_annotator_id,task_id,output_id,"
    "output_quality_level\nx1,law1,t1,o1,good\nx2,law2,t1,o3,good\n",
    "autograders/gpt_5_4/rubric_item_scores.csv": "annotation_id,rubric_item_id,score_order,awarded_points\n"
    "x1,i1,1,3\nx2,i1,1,0\n",
    "base/tasks.csv": "task_id,task,task_category,task_type,max_points\nt1,Draft it,Drafting,x,3\n",
    "base/rubric_items.csv": "rubric_item_id,task_id,item_order,scoring_mode,weight,max_score\n"
    "i1,t1,1,binary,3,3\ni2,t1,2,occurrence_count,-2,0\n",
    "outputs/outputs.csv": "output_id,task_id,quality_level\no1,t1,good\n",
}


def test_judgmentbench_points_join_their_output_and_judge_through_the_annotation(ws, tmp_path):
    for name, content in JUDGMENTBENCH.items():
        (tmp_path / "jb" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "jb" / name).write_text(content)
    report = ws.ingest(tmp_path / "jb", "d")
    dataset = ws.dataset("d")
    assert labels_of(dataset) == {
        ("good", "t1", "t1#1", "law1", 3),
        ("good", "t1", "t1#2", "law1", -4),
        ("excellent", "t1", "t1#1", "law2", 0),
        ("excellent", "t1", "t1#2", "law2", 0),
        ("good", "t1", "t1#1", "gpt_5_4", 3),
        ("good", "t1", "t1#1", "gpt_5_4 (run 2)", 0),
    }
    assert report.rejected == 0
    assert dataset.rubrics[["scale_min", "scale_max"]].to_numpy().tolist() == [[0, 3], [-4, 0]]
    assert dataset.queries["text"].tolist() == ["Draft it"]


def test_judgmentbench_scores_alone_ask_for_the_rest_of_the_folder(read):
    with pytest.raises(IngestError, match="give the whole folder"):
        read(JUDGMENTBENCH["human/rubric_item_scores.csv"].encode(), "rubric_item_scores.csv")


def feedback(model, example, **fields):
    return {
        "id": f"f-{model}-{example}",
        "session_id": model,
        "run_id": f"run-{model}-{example}",
        "example_id": example,
        "key": "correct",
        "score": 1.0,
        "value": None,
        "comment": "so",
        "feedback_source": {"type": "model"},
        **fields,
    }


def test_langsmith_experiments_are_systems_and_examples_are_queries(read):
    dataset, report = read(lines(*(feedback(m, e) for m in ("one", "two") for e in ("e1", "e2"))))
    assert labels_of(dataset) == {
        (m, e, f"{e}#correct", "model", 1) for m in ("one", "two") for e in ("e1", "e2")
    }
    assert report.rejected == 0


def test_a_category_of_a_langsmith_run_is_its_label(read):
    def run(model, example, word):
        feedback = {"tone": {"n": 1, "avg": None, "values": {word: 1}}}
        return {"session_id": model, "reference_example_id": example, "feedback_stats": feedback}

    runs = [run(m, e, w) for m in "xy" for e, w in (("e1", "yes"), ("e2", "no"))]
    dataset, _ = read(document(runs), "runs.json")
    assert {row[1]: row[4] for row in labels_of(dataset)} == {"e1": 1, "e2": 0}


def test_several_categories_of_a_langsmith_run_are_no_label(read):
    stats = [{"yes": 1}, {"no": 1}, {"yes": 1, "no": 1}]
    runs = [
        {
            "session_id": "x",
            "reference_example_id": f"e{i}",
            "feedback_stats": {"tone": {"avg": None, "values": held}},
        }
        for i, held in enumerate(stats)
    ]
    _, report = read(document(runs), "runs.json")
    assert "several values of 'tone'" in report.rejects["reason"][0]


def test_langsmith_feedback_that_names_only_runs_is_refused_with_what_to_add(ws):
    bare = feedback("one", "e1")
    del bare["example_id"]
    with pytest.raises(IngestError, match="add the run's reference_example_id"):
        ws.ingest(lines(bare), "d")


def test_a_mean_of_several_langsmith_scores_is_no_label(read):
    def run(n, avg):
        stats = {"correct": {"n": n, "avg": avg, "values": {}}}
        return {"id": f"r{n}", "session_id": "s", "reference_example_id": f"e{n}", "feedback_stats": stats}

    dataset, report = read(lines(run(1, 1.0), run(2, 0.5)))
    assert labels_of(dataset) == {("s", "e1", "e1#correct", "judge", 1)}
    assert "one mean of 2 scores of 'correct'" in report.rejects["reason"].item()


SPEC = {"spec": {"completion_fns": ["gpt-4o"], "eval_name": "arithmetic.s1", "run_id": "r1"}}


def event(sample, kind, **data):
    return {"run_id": "r1", "event_id": 1, "sample_id": sample, "type": kind, "data": data, "created_by": ""}


def test_openai_evals_name_the_system_once_and_then_judge_each_sample(read):
    log = [
        SPEC,
        event("a.1", "sampling", prompt=[{"role": "user", "content": "1 + 1"}], sampled=["2"]),
        event("a.1", "match", correct=True, expected="2", sampled="2"),
        event("a.2", "match", correct=False, expected="3", sampled="4"),
        event("a.3", "metrics", choice="B", score=0.0, fluent=1),
        {"final_report": {"accuracy": 0.5}},
    ]
    dataset, report = read(lines(*log))
    assert labels_of(dataset) == {
        ("gpt-4o", "a.1", "a.1#correct", "judge", 1),
        ("gpt-4o", "a.2", "a.2#correct", "judge", 0),
        ("gpt-4o", "a.3", "a.3#score", "judge", 0),
        ("gpt-4o", "a.3", "a.3#fluent", "judge", 1),
    }
    assert report.rejected == 0


def test_events_of_openai_evals_before_their_specification_are_rejected(read):
    log = [event("a.1", "match", correct=True), SPEC, event("a.2", "match", correct=True)]
    _, report = read(lines(*log))
    assert "comes before the specification of its run" in report.rejects["reason"].item()


def test_events_of_another_program_are_no_log_of_openai_evals(ws):
    with pytest.raises(IngestError, match="no column for system"):
        ws.ingest(lines(*(event(f"a.{n}", "click", x=1) for n in range(4))), "d", name="x.jsonl")


def test_verdicts_in_the_form_of_mt_bench_are_no_grades_to_10(read):
    """SORRY-Bench: each 0 was rejected as below the scale, so that all systems were equal."""
    judged = [
        {
            "question_id": q,
            "model": m,
            "judge": ["gpt-4o", "base-scoreonly"],
            "turn": 1,
            "score": float(score),
        }
        for m, scores in (("a", (0, 1, 0)), ("b", (1, 1, 0)))
        for q, score in enumerate(scores)
    ]
    dataset, report = read(lines(*judged))
    assert labels_of(dataset) == {
        (r["model"], str(r["question_id"]), f"{r['question_id']}#turn 1", "gpt-4o", r["score"])
        for r in judged
    }
    assert not report.rejected


def of_gemini(key: str, *texts: str) -> dict:
    parts = [{"text": 'Is it {"clarity": 0}?', "thought": True}]
    said = [
        {"content": {"parts": [*parts, {"text": t}], "role": "model"}, "finishReason": "STOP"} for t in texts
    ]
    return {"key": key, "response": {"candidates": said, "modelVersion": "gemini-2.5-pro"}}


def test_batches_of_gemini_are_read_by_their_keys(read):
    records = [
        of_gemini("q1|gpt-4o", '{"clarity": 2, "depth": 1}'),
        of_gemini("q1|llama", '{"clarity": 1}'),
        of_gemini("q2|gpt-4o"),
        {"key": "q2|llama", "error": {"code": 13, "message": "internal"}},
    ]
    with pytest.raises(
        IngestError, match=r"give a pattern in the mapping, such as .*\"key\": \"=\{query\}\|\{system\}"
    ):
        read(lines(*records))
    dataset, report = read(lines(*records), mapping={"key": "={query}|{system}"})
    assert labels_of(dataset) == {
        ("gpt-4o", "q1", "q1#clarity", "gemini-2.5-pro", 2),
        ("gpt-4o", "q1", "q1#depth", "gemini-2.5-pro", 1),
        ("llama", "q1", "q1#clarity", "gemini-2.5-pro", 1),
    }
    assert report.rejected == 2


NAMED_BY_RECORDS = {
    "wildbench": {"session_id": "s1", "score": "7", "parsed_result": {"score": "7"}},
    "infobench": {"id": "i1", "instruction": "Say", "decomposed_questions": ["Done?"], "eval": [True]},
    "hellobench": {
        "id": "h1",
        "instruction": "Say",
        "checklist_wise_evaluation": [{"checklist_id": 0, "evaluation_score": 1}],
    },
    "healthbench-graded": {"prompt_id": "p1", "prompt": [], "rubric_items": graded(True, False)},
    "autorubric": {"item_idx": 0, "criterion_reports": [{"criterion": {"name": "a"}, "verdict": "MET"}]},
}


@pytest.mark.parametrize(
    "system", ["model", "generator", "system", "model_id", "Model Name", "llm", "candidate"]
)
@pytest.mark.parametrize("layout", NAMED_BY_RECORDS)
def test_systems_and_judges_are_found_by_any_name_that_records_give_them(layout, system, read):
    record = NAMED_BY_RECORDS[layout]
    records = [record | {system: m, "grader_model": "gamma"} for m in ("alpha", "beta")]
    dataset, _ = read(lines(*records), name="run.jsonl")
    assert {(row[0], row[3]) for row in labels_of(dataset)} == {("alpha", "gamma"), ("beta", "gamma")}


PROMPTS = ("You are a doctor.", "you are terse", "Answer briefly: one word", "x" * 81)


@pytest.mark.parametrize("layout", NAMED_BY_RECORDS)
@pytest.mark.parametrize("prompt", PROMPTS)
def test_a_prompt_in_the_field_system_is_no_system(layout, prompt, read):
    record = NAMED_BY_RECORDS[layout] | {"system": prompt}
    dataset, _ = read(lines(record), name="gpt-4o.jsonl")
    assert {row[0] for row in labels_of(dataset)} == {"gpt-4o"}


@pytest.mark.parametrize("layout", NAMED_BY_RECORDS)
def test_another_field_names_the_system_beside_a_prompt(layout, read):
    record = NAMED_BY_RECORDS[layout] | {"system": PROMPTS[0], "llm": "alpha"}
    dataset, _ = read(lines(record), name="run.jsonl")
    assert {row[0] for row in labels_of(dataset)} == {"alpha"}


@pytest.mark.parametrize("layout", NAMED_BY_RECORDS)
@pytest.mark.parametrize("field", ["engine", "deployment", "checkpoint", "model_version"])
def test_what_serves_a_model_is_no_system(layout, field, read):
    dataset, _ = read(lines(NAMED_BY_RECORDS[layout] | {field: "vllm"}), name="gpt-4o.jsonl")
    assert {row[0] for row in labels_of(dataset)} == {"gpt-4o"}
