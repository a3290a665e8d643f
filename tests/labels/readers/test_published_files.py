"""Files as published evaluations and their tools write them: what they hold is read, asked about, or refused as such."""

# ruff: noqa: E501 - a layout's records, each in one line
from __future__ import annotations

import json
import re

import pytest

from crubric_core import plan_ingest
from crubric_core.errors import IngestError
from crubric_core.labels.readers.policies import Policies
from tests.labels.readers.test_layouts import MODELS, cells, label, lines, table

QUERIES = tuple(f"p{n}" for n in range(6))


def refused(ws, content, name="x.csv", **given):
    with pytest.raises(IngestError) as told:
        ws.ingest(content, "d", name=name, **given)
    return str(told.value)


def proposed(ws, content, name="x.csv"):
    """The mapping that the refusal shows first, with a name in place of what it leaves open."""
    told = refused(ws, content, name)
    found, _ = json.JSONDecoder().raw_decode(told, told.index('{"'))
    return {c: "=mine" if path == "=…" else path for c, path in found.items()}


def asked_within(ws, records, name="x.json"):
    """The mapping that is shown for labels within records."""
    told = refused(ws, json.dumps(records).encode(), name)
    return json.loads(re.search(r"with the mapping (\{.*\})", told)[1])


def test_times_and_weights_of_runs_are_no_criteria(ws):
    """A time that was always 0, and a weight that was always 1, were criteria that all systems met or failed."""
    rows = [
        {
            "task_id": q,
            "model": m,
            "run_id": f"{q}{m}",
            "score_binarized": label(m, q),
            "score_weight": 1.0,
            "started_at": 0,
        }
        for m in MODELS
        for q in QUERIES
    ]
    ws.ingest(lines(rows), "d", name="runs.jsonl")
    wanted = {(m, q, f"{q}#score_binarized", "judge"): label(m, q) for m in MODELS for q in QUERIES}
    assert cells(ws) == wanted


@pytest.mark.parametrize("decimals", [2, 4])
def test_rounded_means_of_three_raters_are_thirds(ws, decimals):
    thirds = {(m, q): 3 + 2 * n + k for n, m in enumerate(MODELS) for k, q in enumerate(QUERIES)}
    rows = [[m, q, "tone", round(n / 3, decimals)] for (m, q), n in thirds.items()]
    content = table(["model", "prompt", "criterion", "score"], rows)
    assert "multiply the labels (and scale_min, scale_max) by 3 (policy multiply=3)" in refused(ws, content)
    ws.ingest(content, "d", name="x.csv", policies=Policies(multiply=3))
    assert cells(ws) == {(m, q, f"{q}#tone", "judge"): n for (m, q), n in thirds.items()}


def test_scores_that_are_no_parts_of_one_stay_continuous(ws):
    rows = [
        [m, q, "tone", 0.37 + n / 50 + k / 7] for n, m in enumerate(MODELS) for k, q in enumerate(QUERIES)
    ]
    assert "continuous scores" in refused(ws, table(["model", "prompt", "criterion", "score"], rows))


def test_the_sentences_of_a_direct_assessment_are_the_queries_of_its_only_criterion(ws):
    """The source sentence was offered as the rubric, and no query."""
    rows = [
        [n, m, f"source {q}", f"{m} of {q}", f"r{j}", 40 * label(m, q, j) + n]
        for n, q in enumerate(QUERIES)
        for m in MODELS
        for j in range(3)
    ]
    content = table(["sent_id", "sys_name", "orig_sent", "simp_sent", "rater_id", "simplicity"], rows)
    mapping = proposed(ws, content)
    assert mapping == {
        "system": "sys_name", "rubric": "=simplicity", "query": "sent_id", "judge": "rater_id", "label": "simplicity"
    }  # fmt: skip
    ws.ingest(content, "d", name="x.csv", mapping=mapping)
    wanted = {(r[1], str(r[0]), f"{r[0]}#simplicity", r[4]): r[5] for r in rows}
    assert cells(ws) == wanted


def test_an_item_of_gem_is_the_query(ws):
    rows = [
        [f"xsum-{q}", "en", "a text", m, *(label(m, q, c) for c in "abc")] for m in MODELS for q in QUERIES
    ]
    header = ["gem_id", "worker_lang", "summary", "model", "question1", "question2", "question3"]
    ws.ingest(table(header, rows, "\t"), "d", name="validation.tsv")
    assert {cell[1] for cell in cells(ws)} == {f"xsum-{q}" for q in QUERIES}
    assert len(cells(ws)) == 3 * len(MODELS) * len(QUERIES)


def test_keys_of_annotations_that_answers_have_too_are_systems(ws):
    """They were offered as judges of one system."""
    names = ("brio", "bart", "pegasus")
    records = [
        {
            "example_id": q,
            "annotations": {m: {"prior": 1 + label(m, q), "ref_free": 1 + label(q, m)} for m in names},
            "system_outputs": dict.fromkeys(names, f"a summary of {q}"),
        }
        for q in QUERIES
    ]
    mapping = asked_within(ws, records)
    assert mapping["system"] == "annotations{}.#"
    assert "judge" not in mapping
    ws.ingest(json.dumps(records).encode(), "d", name="x.json", mapping=mapping)
    assert {cell[0] for cell in cells(ws)} == set(names)
    assert len(cells(ws)) == 2 * len(names) * len(QUERIES)


def test_criteria_with_continuous_scores_are_offered_and_not_what_an_item_is(ws):
    """Two flags of each item were offered as the rubrics, and the scores left out."""
    rows = [
        [q, j, n % 2 == 0, n % 3 == 0, n / 7, n / 11]
        for n, q in enumerate(QUERIES)
        for j in ("GPT", "Claude")
    ]  # fmt: skip
    header = ["triplet_id", "judge", "is_poisoned", "support_killed", "faithfulness", "answer_relevance"]
    told = refused(ws, table(header, rows))
    assert "'faithfulness' and 'answer_relevance' look like continuous scores" in told


def test_systems_in_numbered_columns_beside_numbered_labels_are_answers_of_their_own(ws):
    """The numbers were offered as criteria of one system."""
    names = ("tgen", "slug", "zhang", "gong")
    rows = [
        [n, f"w{j}", *(60 + 10 * label(n, j, k) for k in range(3)), *(names[(n + k) % 4] for k in range(3))]
        for n in range(8)
        for j in range(2)
    ]
    header = ["mr_id", "_worker_id", "quality1", "quality2", "quality3", "sys1", "sys2", "sys3"]
    assert "holds several answers in each row (sys1, sys2, sys3)" in refused(ws, table(header, rows))


def test_a_choice_of_each_pair_says_which_answer_is_better(ws):
    rows = [[f"10:{n}", "ann", n, "AB"[n % 2]] for n in range(8)]
    told = refused(ws, table(["timestamp", "annotator", "pair_id", "choice"], rows))
    assert "says which of two answers is better" in told


def test_whether_a_judge_of_pairs_is_right_is_a_label_of_the_judge(ws):
    rows = [
        {
            "pair_id": q,
            "model": m,
            "rep_idx": k,
            "raw_verdict": "AB"[label(m, q, k)],
            "gt": "A",
            "correct": not label(m, q, k),
        }
        for m in MODELS
        for q in QUERIES
        for k in range(2)
    ]
    ws.ingest(lines(rows), "d", name="x.jsonl")
    found = ws.dataset("d").labels()
    assert len(found) == 2 * len(MODELS) * len(QUERIES)
    assert set(found["system"]) == set(MODELS)


def test_records_whose_keys_are_the_systems_are_the_queries_by_their_position(ws):
    """The mapping that was shown had no query, so that the records contradicted each other."""
    people = ("annot1", "annot2")
    records = [
        {s: {"bleu": 0.31, **{a: {"rel": 1 + label(s, n, a), "coh": 1 + label(n, a)} for a in people}} for s in ("bart", "coop")}
        for n in range(5)
    ]  # fmt: skip
    told = refused(ws, lines(records), "scores.jsonl")
    mapping = json.loads(re.search(r"with the mapping (\{.*\})", told)[1])
    assert mapping["query"] == "#"
    ws.ingest(lines(records), "d", name="scores.jsonl", mapping=mapping)
    wanted = {
        (s, str(n), f"{n}#{c}", a): records[n][s][a][c]
        for s in ("bart", "coop")
        for n in range(5)
        for a in people
        for c in ("rel", "coh")
    }
    assert cells(ws) == wanted


def test_a_column_called_by_a_number_sign_is_that_column(ws):
    rows = [[f"t{n}", m, label(m, n)] for n in range(4) for m in MODELS]
    content = table(["#", "model", "tone"], rows)
    ws.ingest(content, "d", name="x.csv", mapping={"query": "#", "system": "model", "rubric": ["tone"]})
    assert {cell[1] for cell in cells(ws)} == {f"t{n}" for n in range(4)}


def _request(criteria):
    return {"model": "claude-opus-4", "tools": [{"input_schema": {c: {"maximum": 5} for c in criteria}}]}


def _judged(holder, used):
    return [
        {
            "judge_name": "claude",
            **used,
            "prompt": q,
            holder: {"tone": label(q), "clarity": 1 + label(q, 1), "rationale": f"because of {q}"},
        }
        for q in QUERIES
    ]


def test_the_labels_of_a_judges_parsed_reply_are_asked_about(ws):
    told = refused(ws, lines(_judged("parsed_response", {"model_used": "opus"})[:1]), "x.jsonl")
    assert '"rubric": ["parsed_response.tone", "parsed_response.clarity"]' in told
    assert '"system": "=…"' in told


@pytest.mark.parametrize("used", [{"model_used": "opus"}, {"request_payload": _request(("tone", "clarity"))}])
def test_the_model_that_a_judge_was_asked_by_is_no_system(tmp_path, used):
    """Requests with the criteria's names in them went to the judge: its model was read as the system."""
    path = tmp_path / "x.json"
    path.write_text(json.dumps(_judged("scores", used)))
    assert not re.search(r"system +from", str(plan_ingest([path])))


def test_keys_that_number_the_rounds_of_a_task_are_its_draws(ws):
    tasks = {
        m: {
            "judge_model": "j",
            "tasks": {
                str(k): {q: {"prompt_id": q, "judge_scores": {"tone": 1 + label(m, q, k), "clarity": 1 + label(k, m, q)}} for q in QUERIES}
                for k in range(2)
            },
        }
        for m in MODELS
    }  # fmt: skip
    mapping = asked_within(ws, tasks)
    ws.ingest(json.dumps(tasks).encode(), "d", name="x.json", mapping=mapping)
    assert len(ws.dataset("d").labels()) == 4 * len(MODELS) * len(QUERIES)
    assert {cell[0] for cell in cells(ws)} == set(MODELS)


def test_the_model_of_the_agent_is_the_system_and_not_that_of_the_user(ws):
    runs = [
        {
            "task_id": q,
            "trial": k,
            "reward_info": {
                "nl_assertions": [
                    {"nl_assertion": f"It says {n}", "met": bool(label(q, k, n))} for n in range(2)
                ]
            },
        }
        for q in QUERIES
        for k in range(2)
    ]
    info = {"agent_info": {"llm": "gpt-4o"}, "user_info": {"llm": "gpt-4.1"}}
    mapping = asked_within(ws, {"info": info, "simulations": runs})
    assert mapping["system"] == "info.agent_info.llm"
    assert mapping["run"] == "simulations[].trial"


def test_a_list_of_grades_beside_one_of_programs_has_the_draws_of_each_question(ws, tmp_path):
    for m in MODELS:
        records = [
            {
                "question_id": q,
                "question_content": f"write {q}",
                "output_list": [f"an answer {k}" for k in range(3)],
                "code_list": [f"print({k})" for k in range(3)],
                "graded_list": [bool(label(m, q, k)) for k in range(3)],
                "pass@1": 0.3,
                "metadata": ["{}"] * 3,
            }
            for q in QUERIES
        ]
        (tmp_path / m).mkdir()
        (tmp_path / m / "Scenario.codegeneration_10_0.2_eval_all.json").write_text(json.dumps(records))
    ws.ingest(tmp_path, "d")
    found = ws.dataset("d").labels()
    assert len(found) == 3 * len(MODELS) * len(QUERIES)
    assert set(found["system"]) == set(MODELS)
    assert set(found["query"]) == set(QUERIES)


def test_what_limesurvey_says_of_a_response_is_known_by_its_code(ws):
    """Each respondent was offered as a query of one judge."""
    rows = [
        [
            n,
            "2024-04-26",
            5,
            "fr",
            *(f"{k} : {('peu', 'assez', 'très')[k - 1]} {c}" for c in ("fluide", "concis")),
        ]
        for n in range(1, 7)
        for k in (1 + n % 3,)
    ]
    header = [
        *("id. ID de la réponse", "submitdate. Date de soumission", "lastpage. Dernière page"),
        *("startlanguage. Langue de départ", "R1Q1. Le texte est-il fluide ? ", "R1Q2. Est-il concis ? "),
    ]
    mapping = proposed(ws, table(header, rows), "results-survey1.csv")
    assert mapping == {"system": "=mine", "judge": "Response ID", "rubric": header[-2:]}
    ws.ingest(table(header, rows), "d", name="results-survey1.csv", mapping=mapping)
    assert {cell[3] for cell in cells(ws)} == {str(n) for n in range(1, 7)}
    assert len(cells(ws)) == 12


def test_a_worker_whose_name_is_hidden_is_a_judge(ws):
    rows = [[f"w{j}", q, m, "tone", label(m, q, j)] for j in range(3) for q in QUERIES for m in MODELS]
    ws.ingest(table(["worker_id_anon", "prompt", "model", "criterion", "score"], rows), "d", name="x.csv")
    assert {cell[3] for cell in cells(ws)} == {"w0", "w1", "w2"}


def test_the_id_and_the_model_of_a_judge_are_one_judge(ws):
    """It was asked which of them is the judge."""
    judges = {"qwen-7b": "qwen2.5:7b", "llama-8b": "llama3.1:8b"}
    rows = [
        [q, m, "tone", j, name, label(m, q, j)] for j, name in judges.items() for q in QUERIES for m in MODELS
    ]
    header = ["prompt", "model", "criterion", "judge_id", "judge_model", "verdict"]
    ws.ingest(table(header, rows), "d", name="x.csv")
    assert {cell[3] for cell in cells(ws)} == set(judges)
    assert len(cells(ws)) == len(rows)


def test_an_id_that_several_models_share_is_asked_about(ws):
    rows = [
        [q, m, "tone", f"j{n}", f"model {k}", label(m, q, n, k)]
        for n in range(2)
        for k in range(2)
        for q in QUERIES
        for m in MODELS
    ]
    header = ["prompt", "model", "criterion", "judge_id", "judge_model", "verdict"]
    assert "could each be the judge" in refused(ws, table(header, rows))


def test_the_model_that_wrote_what_is_judged_is_the_system(ws):
    rows = [[q, m, "tone", "j", label(m, q)] for q in QUERIES for m in MODELS]
    ws.ingest(table(["question_id", "source_model", "criterion", "judge", "score"], rows), "d", name="x.csv")
    assert {cell[0] for cell in cells(ws)} == set(MODELS)


def test_traces_by_their_files_are_the_queries_of_a_proposal(ws):
    """Each was offered as a rubric."""
    rows = [[f"{q}-{k}.json", q, j, label(q, k, j)] for j in ("a", "b") for q in QUERIES for k in range(3)]
    mapping = proposed(ws, table(["trace_file", "task_id", "judge_id", "verdict"], rows))
    assert mapping["query"] == "trace_file"


def test_a_column_that_tells_queries_apart_is_offered_as_the_query(ws):
    rows = [
        [f"t{n}", way, j, 1 + label(n, way, j), 1 + label(j, n, way)]
        for n in range(8)
        for way in "abc"
        for j in ("GPT", "Claude")
    ]
    told = refused(
        ws,
        table(["triplet_id", "condition", "judge", "tone", "clarity"], rows),
        mapping={"system": "=mine", "rubric": ["tone", "clarity"], "judge": "judge"},
    )
    assert '({"query": "triplet_id"})' in told
