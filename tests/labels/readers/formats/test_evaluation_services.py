"""Results of evaluation services: whose labels they are, of which prompt, and what is no label."""

from __future__ import annotations

import json

import pytest

from crubric_core.errors import IngestError
from crubric_core.labels.readers.bundle import plan_ingest

from .conftest import labels_of, lines

PROMPTS = ("What is rain?", "What is snow?")


def of_bedrock(model: str, *results, **metric) -> list[dict]:
    graded = {"metricName": "Builtin.Correctness", **metric}
    return [
        {
            "automatedEvaluationResult": {"scores": [{**graded, "result": result}]},
            "inputRecord": {"prompt": prompt, "referenceResponse": "", "category": "weather"},
            "modelResponses": [{"response": f"{model} on {prompt}", "modelIdentifier": model}],
        }
        for prompt, result in zip(PROMPTS, results, strict=True)
    ]


def by_judge(*names: str) -> list[dict]:
    return [{"modelIdentifier": name, "explanation": f"{name} says so"} for name in names]


def test_bedrock_metrics_are_the_evaluators_labels_of_the_model_that_answered(read):
    records = of_bedrock("nova", 1.0, None, evaluatorDetails=by_judge("claude"))
    dataset, report = read(
        lines(*records, *of_bedrock("titan", 0.0, 1.0, evaluatorDetails=by_judge("claude")))
    )
    assert labels_of(dataset) == {
        ("nova", PROMPTS[0], f"{PROMPTS[0]}#Builtin.Correctness", "claude", 1),
        ("nova", PROMPTS[1], f"{PROMPTS[1]}#Builtin.Correctness", "claude", None),
        ("titan", PROMPTS[0], f"{PROMPTS[0]}#Builtin.Correctness", "claude", 0),
        ("titan", PROMPTS[1], f"{PROMPTS[1]}#Builtin.Correctness", "claude", 1),
    }
    assert report.rejected == 0


def test_several_evaluators_of_one_bedrock_result_are_one_judge(read):
    dataset, _ = read(lines(*of_bedrock("nova", 1.0, 0.0, evaluatorDetails=by_judge("claude", "nova-pro"))))
    assert {row[3] for row in labels_of(dataset)} == {"claude + nova-pro"}
    assert "claude says so\n\nnova-pro says so" in set(dataset.labels()["reason"])


def of_rag(base: str, *turns: tuple[str, float]) -> dict:
    def text(words):
        return {"content": [{"text": words}]}

    return {
        "conversationTurns": [
            {
                "inputRecord": {"prompt": text(prompt), "referenceResponses": [text("a fact")]},
                "output": {
                    "text": f"{base} on {prompt}",
                    "knowledgeBaseIdentifier": base,
                    "modelIdentifier": "nova",
                },
                "results": [
                    {
                        "metricName": "Builtin.Faithfulness",
                        "result": r,
                        "evaluatorDetails": by_judge("claude"),
                    }
                ],
            }
            for prompt, r in turns
        ]
    }


def test_a_rag_evaluation_of_bedrock_is_of_the_knowledge_base_with_its_model(read):
    records = [of_rag(base, (prompt, r)) for base, r in (("KB1", 1.0), ("KB2", 0.0)) for prompt in PROMPTS]
    dataset, report = read(lines(*records))
    assert labels_of(dataset) == {
        (f"{base}/nova", prompt, f"{prompt}#Builtin.Faithfulness", "claude", r)
        for base, r in (("KB1", 1), ("KB2", 0))
        for prompt in PROMPTS
    }
    assert set(dataset.labels()["reason"]) == {"claude says so"}
    assert set(dataset.queries["text"]) == set(PROMPTS)
    assert report.rejected == 0


def test_each_turn_of_a_rag_conversation_is_a_query_of_its_own(read):
    dataset, _ = read(
        lines(
            of_rag("KB1", (PROMPTS[0], 1.0), ("Why?", 0.0)), of_rag("KB1", (PROMPTS[1], 0.0), ("Why?", 1.0))
        )
    )
    assert {(row[1], row[4]) for row in labels_of(dataset)} == {
        (f"{PROMPTS[0]}/turn 1", 1),
        (f"{PROMPTS[0]}/turn 2", 0),
        (f"{PROMPTS[1]}/turn 1", 0),
        (f"{PROMPTS[1]}/turn 2", 1),
    }


def test_answers_that_were_brought_to_bedrock_stand_within_its_input(read):
    records = of_bedrock("my-app", 1, 0)
    for record in records:
        record["inputRecord"]["modelResponses"] = record.pop("modelResponses")
    dataset, _ = read(lines(*records))
    assert {row[0] for row in labels_of(dataset)} == {"my-app"}


def test_steps_of_bedrocks_results_are_asked_about(read):
    with pytest.raises(IngestError, match=r"steps of 0\.25.*multiply=4"):
        read(lines(*of_bedrock("nova", 0.25, 0.75)))


def test_metrics_of_harm_are_bad_to_meet(read):
    dataset, _ = read(lines(*of_bedrock("nova", 1, 0, metricName="Builtin.Harmfulness")))
    assert set(dataset.criteria["polarity"]) == {-1}


def test_long_prompts_that_begin_alike_stay_apart(read):
    records = of_bedrock("nova", 1, 0)
    for n, record in enumerate(records):
        record["inputRecord"]["prompt"] = "Read this. " * 20 + str(n)
    dataset, _ = read(lines(*records))
    assert len({row[1] for row in labels_of(dataset)}) == 2


def of_workers(**results) -> dict:
    return {
        "humanEvaluationResult": {
            "humanAnswers": [
                {"workerId": worker, "answerContent": {"evaluationResults": results}}
                for worker in ("w1", "w2")
            ],
            "inputContent": {
                "evaluationMetrics": [{"metricName": "Accuracy", "description": "Is it right?"}]
            },
            "modelResponseIdMap": {"0": "llama", "1": "mistral"},
        },
        "inputRecord": {"prompt": {"text": PROMPTS[0]}},
        "modelResponses": [{"text": "Water", "modelIdentifier": "llama"}],
    }


THUMBS = [{"metricName": "Accuracy", "modelResponseId": str(n), "result": n == 0} for n in range(2)]


def test_each_worker_of_a_human_evaluation_is_a_judge(read):
    dataset, report = read(lines(of_workers(thumbsUpDown=THUMBS)))
    rubric = f"{PROMPTS[0]}#Accuracy"
    assert labels_of(dataset) == {
        (system, PROMPTS[0], rubric, worker, label)
        for system, label in (("llama", 1), ("mistral", 0))
        for worker in ("w1", "w2")
    }
    assert report.rejected == 0


def test_comparisons_beside_ratings_are_told_and_no_labels(read):
    chosen = [{"metricName": "Fluency", "result": {"modelResponseId": "0"}}]
    dataset, report = read(lines(of_workers(thumbsUpDown=THUMBS, comparisonChoice=chosen)))
    assert len(labels_of(dataset)) == 4
    assert "compares answers (comparisonChoice)" in report.rejects["reason"][0]


def metric(name: str, status: int, *verdicts: tuple[str, float], judge: str = "gemini") -> dict:
    return {
        "metric_name": name,
        "score": 0.5,
        "eval_status": status,
        "criterion": {
            "judge_model_options": {"judge_model": judge},
            "rubrics": [
                {"rubric_id": r, "rubric_content": {"text_property": f"It is {r}"}} for r, _ in verdicts
            ],
        },
        "details": {"rubric_scores": [{"rubric_id": r, "rationale": "why", "score": v} for r, v in verdicts]},
    }


def case(name: str, *turns: list[dict], overall: tuple[dict, ...] = ()) -> dict:
    return {
        "eval_id": name,
        "overall_eval_metric_results": [*overall, metric("quality", 1, ("polite", 0.5))],
        "eval_metric_result_per_invocation": [
            {
                "actual_invocation": {
                    "user_content": {"parts": [{"text": f"ask {name} {n}"}]},
                    "final_response": {"parts": [{"text": f"answer {name} {n}"}]},
                },
                "eval_metric_results": turn,
            }
            for n, turn in enumerate(turns)
        ],
    }


def of_adk(agent: str, *cases: dict) -> bytes:
    found = {"eval_set_result_id": f"{agent}_set_17", "eval_set_id": "set", "eval_case_results": list(cases)}
    return json.dumps(found).encode()


def test_rubrics_of_each_turn_count_and_their_mean_over_the_case_does_not(read):
    turns = ([metric("quality", 1, ("polite", 1.0))], [metric("quality", 2, ("polite", 0.0))])
    dataset, report = read(of_adk("agent", case("c1", *turns)))
    assert labels_of(dataset) == {
        ("agent", f"c1/turn {n}", f"c1/turn {n}#quality/polite", "gemini", label)
        for n, label in ((1, 1), (2, 0))
    }
    assert report.rejected == 0


def test_a_metric_without_rubrics_is_passed_or_not_and_what_was_not_evaluated_is_unknown(read):
    turn = [metric("quality", 1, ("polite", 1)), metric("safety", 2), metric("match", 3)]
    dataset, _ = read(of_adk("agent", case("c1", turn, overall=(metric("trajectory", 1),))))
    assert {(row[2], row[4]) for row in labels_of(dataset)} == {
        ("c1#quality/polite", 1),
        ("c1#safety", 0),
        ("c1#match", None),
        ("c1#trajectory", 1),
    }


def test_a_case_that_was_run_twice_has_two_runs(read):
    cases = (case("c1", [metric("quality", 1, ("polite", n))]) for n in (0, 1))
    dataset, report = read(of_adk("agent", *cases))
    assert sorted(dataset.labels()[["run", "label"]].astype(int).values.tolist()) == [[1, 0], [2, 1]]
    assert report.rejected == 0


def test_results_with_names_as_in_javascript_are_the_same():
    camel = json.dumps(
        {"evalSetResultId": "a_s_1", "evalSetId": "s", "evalCaseResults": [{"evalId": "c1"}]}
    ).encode()
    assert [plan_ingest(c).files[0].format for c in (camel, of_adk("a", case("c1")))] == ["adk", "adk"]


def test_results_of_older_versions_are_read_though_encoded_twice_and_their_metrics_pairs(read):
    asked = {"metric_name": "trajectory", "threshold": 1.0}
    cases = [
        {"eval_id": f"c{n}", "eval_metric_results": [[asked, {"score": 1, "eval_status": n}]]} for n in (1, 2)
    ]
    dataset, report = read(
        json.dumps(of_adk("agent", *cases).decode(), indent=2).encode(), "x.evalset_result.json"
    )
    assert labels_of(dataset) == {
        ("agent", "c1", "c1#trajectory", "judge", 1),
        ("agent", "c2", "c2#trajectory", "judge", 0),
    }
    assert report.rejected == 0


def of_azure(**outputs) -> bytes:
    rows = [
        {"inputs.query": f"ask {q}", "inputs.model": m, "inputs.response": f"{m} says {q}"}
        | {f"outputs.{key}": value for key, value in outputs.items()}
        for m in ("gpt-4o", "phi-4")
        for q in range(2)
    ]
    return json.dumps({"rows": rows, "metrics": {"relevance.relevance": 4.0}, "studio_url": None}).encode()


def test_a_metric_of_azure_is_one_rubric_whatever_is_made_of_it(read):
    held = {"relevance": 4, "gpt_relevance": 4, "relevance_passed": True, "relevance_result": "pass"}
    held |= {"relevance_threshold": 3, "relevance_reason": "so"}
    dataset, report = read(of_azure(**{f"relevance.{k}": v for k, v in held.items()}), "results.json")
    assert labels_of(dataset) == {
        (m, f"ask {q}", f"ask {q}#relevance", "judge", 4) for m in ("gpt-4o", "phi-4") for q in range(2)
    }
    assert set(dataset.labels()["reason"]) == {"so"}
    assert not [f for f in report.checks if f.severity == "warning" and "look like labels" in f.sentence]


def test_a_harm_of_azure_is_its_score_and_bad_to_meet(read):
    held = {"violence": "Very low", "violence_score": 1, "violence_reason": "so"}
    dataset, _ = read(of_azure(**{f"violence.{k}": v for k, v in held.items()}), "results.json")
    assert {row[4] for row in labels_of(dataset)} == {1}
    assert set(dataset.criteria["polarity"]) == {-1}


def test_metrics_of_azure_whose_names_begin_alike_are_rubrics_each(read):
    held = {"style.tone": 4, "style.tone_formality": 2, "style.tone_passed": 1}
    dataset, _ = read(of_azure(**held), "results.json")
    assert {(row[2].partition("#")[2], row[4]) for row in labels_of(dataset)} == {
        ("style/tone", 4),
        ("style/tone_formality", 2),
    }


def test_what_azure_says_in_words_alone_is_listed_as_not_used(read):
    _, report = read(of_azure(**{"relevance.relevance": 4, "mine.verdict": "good"}), "results.json")
    assert any("Not used" in note and "mine.verdict" in note for note in report.notes)
