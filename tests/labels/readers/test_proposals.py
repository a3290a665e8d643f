"""Exports of tools whose names do not tell all: the mapping that the refusal shows reads them as they are meant."""

# ruff: noqa: E501 - a layout's columns, each in one line
from __future__ import annotations

import json
import re

import pytest

from crubric_core.errors import IngestError
from crubric_core.labels.readers.bundle import plan_ingest
from crubric_core.labels.readers.policies import Policies
from tests.labels.readers.test_layouts import cells, label, table

ROWS = range(8)
# name → (columns, cells of a row, canonical columns that the proposal must have, policies)
EXPORTS = {
    "LangSmith, an experiment as CSV": (
        ["id", "inputs", "reference_outputs", "outputs", "run", "status", "latency", "correctness", "concise"],
        lambda n: [f"e{n}", f"q{n}", "a", f"o{n}", f"r{n}", "success", 1.5 + n / 7, label(n), label(n, 1)],
        {"system": "gpt-4o", "query": "inputs", "rubric": ["correctness", "concise"]},
        {},
    ),
    "LangSmith, a data frame of results": (
        ["", "inputs.question", "outputs.output", "error", "feedback.correctness", "feedback.tone", "execution_time", "id"],
        lambda n: [n, f"q{n}", f"o{n}", "", label(n), label(n, 1), 1.25 + n / 9, f"r{n}"],
        {"system": "gpt-4o", "rubric": ["feedback.correctness", "feedback.tone"]},
        {},
    ),
    "Braintrust as CSV": (
        ["id", "span_id", "input", "output", "expected", "Factuality", "Helpful", "metadata", "duration", "prompt_tokens"],
        lambda n: [f"x{n}", f"s{n}", f"q{n}", "out", "exp", label(n), label(n, 1), "{}", 1.2, 10 + n],
        {"system": "gpt-4o", "query": "input", "rubric": ["Factuality", "Helpful"]},
        {},
    ),
    "Phoenix, evaluations of spans": (
        ["context.span_id", "name", "label", "score", "explanation"],
        lambda n: [f"s{n // 2}", ("correct", "polite")[n % 2], ("no", "yes")[label(n)], label(n), "why"],
        {"system": "gpt-4o", "query": "context.span_id", "rubric": "name", "label": "label"},
        {},
    ),
    "Ragas": (
        ["user_input", "retrieved_contexts", "response", "reference", "faithfulness", "answer_relevancy"],
        lambda n: [f"q{n}", "['c']", f"r{n}", "ref", 0.03 + n / 9, 0.91 - n / 11],
        {"system": "gpt-4o", "query": "user_input", "rubric": ["faithfulness", "answer_relevancy"]},
        {"threshold": 0.5},
    ),
    "MLflow": (
        ["inputs", "ground_truth", "outputs", "token_count", "similarity/v1/score", "similarity/v1/justification", "correctness/v1/score"],
        lambda n: [f"q{n}", "gt", "o", 10 + n, 1 + label(n), "so", 3 + label(n, 1)],
        {"system": "gpt-4o", "query": "inputs", "rubric": ["similarity/v1/score", "correctness/v1/score"]},
        {},
    ),
    "TruLens": (
        ["app_id", "app_name", "app_version", "record_id", "input", "output", "Relevance", "Groundedness", "latency"],
        lambda n: ["a", "rag", "v1", f"r{n}", f"q{n}", "o", 0.03 + n / 9, 0.91 - n / 11, 3],
        {"system": "gpt-4o", "query": "input", "rubric": ["Relevance", "Groundedness"]},
        {"threshold": 0.5},
    ),
    "Opik": (
        ["dataset.id", "dataset.input", "dataset.expected_output", "output", "feedback_scores.correct", "feedback_scores.tone"],
        lambda n: [f"d{n}", f"q{n}", "e", "o", label(n), label(n, 1)],
        {"system": "gpt-4o", "query": "dataset.input", "rubric": ["feedback_scores.correct", "feedback_scores.tone"]},
        {},
    ),
    "MultiChallenge": (
        ["question_id", "axis", "target_question", "pass_criteria", "attempt_number", "model_response", "judge_verdict", "passed", "reasoning"],
        lambda n: [f"q{n // 2}", "MEMORY", "Does it?", "NO", 1 + n % 2, "text", ("YES", "NO")[label(n)], ("FAILED", "PASSED")[label(n)], "so"],
        {"system": "gpt-4o", "query": "question_id", "run": "attempt_number", "rubric": "=passed", "label": "passed"},
        {},
    ),
    "POPQUORN, texts that several users rate": (
        ["instance_id", "user_id", "text", "offensiveness", "gender"],
        lambda n: [n // 2, n % 2, f"a text {n // 2}", 1 + label(n), "a"],
        {"system": "gpt-4o", "query": "instance_id", "rubric": "=offensiveness", "judge": "user_id", "label": "offensiveness"},
        {},
    ),
    "ASAP, essays with a column of a third rater that is blank": (
        ["essay_id", "essay_set", "essay", "rater1_domain1", "rater2_domain1", "rater3_domain1"],
        lambda n: [n, 1, f"an essay {n}", 1 + label(n), 1 + label(n, 1), ""],
        {
            "system": "gpt-4o",
            "query": "essay_id",
            "rubric": "=domain1",
            "judge": ["rater1_domain1", "rater2_domain1"],
        },
        {},
    ),
    "questions of a checklist, asked of each text": (
        ["doc_id", "model", "aspect", "question", "answer", "evaluator"],
        lambda n: [f"d{n // 4}", "gpt-4o", "logic", f"Is it {n % 4}?", ("No", "Yes")[label(n)], "j"],
        {"system": "model", "query": "doc_id", "rubric": "question", "judge": "evaluator", "label": "answer"},
        {},
    ),
    "TREC, judgements of runs": (
        ["topic_id", "run_id", "docid", "assessor", "grade"],
        lambda n: [f"t{n // 4}", ("uni-1", "lab-a")[n // 2 % 2], f"d{n // 4}", f"nist{n % 2}", label(n)],
        {"system": "run_id", "query": "topic_id", "rubric": "=grade", "judge": "assessor", "label": "grade"},
        {},
    ),
    "TREC, nuggets of runs": (
        ["run", "topic", "nugget_id", "nugget_text", "assignment"],
        lambda n: [("uni-1", "lab-a")[n // 4], f"t{n // 2 % 2}", f"{n // 2 % 2}.{n % 2}", "a fact", ("not_support", "support")[label(n)]],
        {"system": "run", "query": "topic", "rubric": "nugget_id", "label": "assignment"},
        {},
    ),
    "verdicts in the place of answers": (
        ["doc_id", "model_id", "aspect", "question", "judge", "response"],
        lambda n: [f"d{n // 4}", "m", "logic", f"Is it {n % 2}?", f"j{n // 2 % 2}", ("No", "Yes")[label(n)]],
        {"system": "model_id", "query": "doc_id", "rubric": "question", "judge": "judge", "label": "response"},
        {},
    ),
}  # fmt: skip


CRITERIA = [
    "trial_id",
    "case_id",
    "candidate_run_id",
    "candidate_model",
    "judge_model",
    "rubric_id",
    "criterion_id",
    "criterion_weight",
    "criterion_result",
    "criterion_points",
    "hard_gate",
]


def test_columns_about_criteria_are_no_systems_beside_one_that_names_models(ws):
    rows = [
        [f"{m}{q}", f"case {q}", f"run {m}{q}", m, "j", f"rubric {q}", f"c{k}", k + 1, ("missed", "met")[label(m, q, k)], (k + 1) * label(m, q, k), "false"]
        for m in ("gpt-4o", "opus") for q in range(4) for k in range(2)
    ]  # fmt: skip
    content = table(CRITERIA, rows)
    with pytest.raises(IngestError, match="no column for label") as told:
        ws.ingest(content, "d", name="x.csv")
    mapping = json.loads(re.findall(r"\{.*?\}", str(told.value))[-1])
    named = {"system": "candidate_model", "query": "case_id", "rubric": "criterion_id"}
    assert mapping == {**named, "judge": "judge_model", "run": "trial_id", "label": "criterion_result"}
    ws.ingest(content, "d", mapping={**mapping, "run": ""}, name="x.csv")
    assert ws.dataset("d").labels()["label"].tolist() == [
        label(r[3], int(r[1][-1]), int(r[6][1])) for r in rows
    ]


def test_columns_of_a_judge_and_of_people_are_no_systems(ws):
    rows = [[f"it{q}", r, 1 + label(q, r), 1 + label(q)] for q in range(6) for r in (1, 2)]
    with pytest.raises(IngestError, match="no column for system and label") as told:
        ws.ingest(table(["item_id", "run", "judge_score", "human_score"], rows), "d", name="x.csv")
    mapping = json.loads(re.findall(r"\{.*?\}", str(told.value))[-1])
    assert mapping == {"system": "=…", "rubric": "item_id", "label": "judge_score"}


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (("annotator1", "annotator2", "final"), ["annotator1", "annotator2"]),
        (("opus judge", "haiku judge"), ["opus judge", "haiku judge"]),
        (("Q1", "Q2", "Q3"), None),
        (("round 1", "round 2", "round 3"), None),
    ],
)
def test_columns_beside_rubrics_that_are_named_after_raters_queries_or_draws_are_no_systems(ws, names, shown):
    rows = [[f"c{k}", *(label(k, name) for name in names)] for k in range(8)]
    with pytest.raises(IngestError, match="no column for system and label") as told:
        ws.ingest(table(["criterion", *names], rows), "d", name="x.csv")
    mapping = json.loads(re.findall(r"\{.*?\}", str(told.value))[-1])
    assert mapping == {"system": "=…", **({"rubric": "criterion", "judge": shown} if shown else {})}


@pytest.mark.parametrize("name", EXPORTS)
def test_the_mapping_of_a_refusal_reads_the_export(ws, name):
    columns, row, wanted, policies = EXPORTS[name]
    content = table(columns, [row(n) for n in ROWS])
    with pytest.raises(IngestError) as told:
        ws.ingest(content, "d", name="x.csv")
    shown = re.findall(r"\{.*?\}", str(told.value))[-1]
    mapping = json.loads(shown.replace("=…", "=gpt-4o"))
    assert {
        c: v.removeprefix("=gpt-4o") or "gpt-4o" if isinstance(v, str) else v for c, v in mapping.items()
    } == wanted
    report = ws.ingest(content, "d", mapping=mapping, name="x.csv", policies=Policies(**policies))
    several = next((len(v) for v in wanted.values() if isinstance(v, list)), 1)
    assert (report.accepted, report.rejected, report.collapsed) == (len(ROWS) * several, 0, 0)


def test_a_verdict_and_its_score_are_one_label(ws):
    rows = [["m", q, "r", ("Not Satisfied", "Satisfied")[label(q)], float(label(q)), "so"] for q in ROWS]
    columns = ["model", "prompt_id", "rubric_title", "verdict", "score", "reasoning"]
    ws.ingest(table(columns, rows), "d")
    assert ws.dataset("d").labels()["label"].tolist() == [label(q) for q in ROWS]


def test_a_verdict_and_a_score_that_differ_are_asked_about(ws):
    rows = [["m", q, "r", ("no", "yes")[label(q)], label(q, 1)] for q in ROWS]
    with pytest.raises(IngestError, match="could each be the label"):
        ws.ingest(table(["model", "prompt_id", "rubric", "verdict", "score"], rows), "d")


def test_a_blank_column_that_is_named_like_a_label_is_none(ws):
    rows = [["m", q, "r", label(q), ""] for q in ROWS]
    ws.ingest(table(["model", "prompt_id", "rubric", "score", "value"], rows), "d")
    assert ws.dataset("d").labels()["label"].tolist() == [label(q) for q in ROWS]


def test_a_running_number_beside_the_criteria_is_no_criterion(ws):
    rows = [[n, "gpt-4o", f"q{n}", label(n), label(n, 1)] for n in ROWS]
    ws.ingest(table(["", "model", "question_id", "clear", "kind"], rows), "d")
    assert set(ws.dataset("d").rubrics["criterion"]) == {"clear", "kind"}


def test_an_index_is_no_criterion_of_a_proposal_and_whole_fractions_are_scores(ws):
    """Of Ragas' metrics the one that is 1.0 or 0.0 had been proposed with the index, and without the others."""
    rows = [[4 * n, f"text {n}", (n % 7) / 7, (n % 5) / 5, f"{n % 2}.0"] for n in ROWS]
    with pytest.raises(IngestError, match="look like continuous scores") as told:
        ws.ingest(table(["", "user_input", "faithfulness", "relevancy", "context_recall"], rows), "d")
    mapping = json.loads(re.findall(r"\{.*?\}", str(told.value))[-1])
    assert mapping["rubric"] == ["faithfulness", "relevancy", "context_recall"]


def test_the_draw_of_a_proposal_is_an_id_of_the_answer_and_no_text(ws):
    rows = [[f"q{n % 3}", f"a{n}", f"because of {n}", label(n), label(n, 1)] for n in ROWS]
    content = table(["prompt_id", "response_id", "rationale", "clear", "kind"], rows)
    with pytest.raises(IngestError, match=r"they differ in 'response_id'"):
        ws.ingest(content, "d", name="x.csv")


def test_a_rater_is_offered_as_the_judge_and_not_as_a_draw(ws):
    rows = [["q", f"{'a long sentence ' * 5}{n % 4}", "fluency", f"w{n % 3}", label(n)] for n in range(24)]
    with pytest.raises(
        IngestError, match=r'or who judged each \(\{"system": "=…", "judge": "worker_id"\}\)'
    ) as told:
        ws.ingest(table(["prompt_id", "original", "aspect", "worker_id", "rating"], rows), "d", name="x.csv")
    assert '"run": "worker_id"' not in str(told.value)


def test_texts_that_systems_share_are_the_queries_also_where_unnamed_raters_repeat_the_rows(ws):
    rows = [[q, m, label(m, q, w)] for q in range(3) for m in ("lead", "textrank") for w in range(2)]
    content = table(["ArticleID", "System", "FluencyRating"], rows)
    plan = plan_ingest(content, name="x.csv", mapping={"rubric": "=fluency", "label": "FluencyRating"})
    assert plan.files[0].mapping["query"] == "ArticleID"
    ws.ingest(content, "d", mapping=plan.files[0].mapping, on_conflict="runs")
    assert len(ws.dataset("d").labels()) == len(rows)


def test_what_is_read_from_the_records_of_one_object_is_not_called_unused():
    many = {f"field {k}": k for k in range(30)}
    records = {
        f"p{n}": {"response_model_name": "gpt-4o", "criterion": "good", "score": label(n), "extra": 1, **many}
        for n in range(40)
    }
    (file,) = plan_ingest(json.dumps(records).encode(), name="x.json").files
    assert not {"p0", "p39"} & set(file.unused)
    assert file.mapping["query"] == "{}.#"
    assert not any("score" in name for name in file.suspects)
    assert any("extra" in name for name in file.unused)


def test_a_column_called_judge_is_no_other_thing_in_a_proposal(ws):
    rows = [
        [f"t{n}", ("a", "b")[n % 2], j, (n % 7) / 7, (n % 5) / 5] for n in ROWS for j in ("GPT", "Claude")
    ]
    with pytest.raises(IngestError, match=r"if each is a rubric's") as told:
        ws.ingest(table(["triplet_id", "condition", "judge", "faithfulness", "relevance"], rows), "d")
    assert '"judge": "judge", "rubric": ["faithfulness", "relevance"]' in str(told.value)


def test_a_table_without_column_names_is_asked_for_them(ws):
    rows = [[m, -float(label(m, q))] for m in ("online-a", "refs", "gpt4-5shot") for q in ROWS]
    with pytest.raises(
        IngestError, match=r"no line of column names, because its first line holds 'online-a', '-"
    ):
        ws.ingest(table([str(c) for c in rows[0]], rows[1:]), "d", name="x.csv")


def test_runs_with_names_are_the_systems_and_numbered_ones_are_draws():
    def of(runs):
        rows = [[run, q, "c", label(run, q)] for run in runs for q in range(4)]
        (file,) = plan_ingest(table(["run", "prompt_id", "criterion", "score"], rows), name="x.csv").files
        return file

    assert of(["uni-1", "lab-a"]).mapping["system"] == "run"
    assert (
        "its column 'run' names the systems, because no column is called system"
        in of(["uni-1", "lab-a"]).remarks
    )
    assert of(["run1", "run2"]).mapping["run"] == "run"
    assert of([1, 2]).mapping["run"] == "run"


def test_rows_of_systems_that_repeat_are_labels_and_judges_named_after_models_are_no_gold():
    rows = [
        ["2025-01-02", m, q, r, ("No", "Yes")[label(m, q, r)], 7 + label(q)]
        for m in "ab"
        for q in range(4)
        for r in "xy"
    ]
    columns = ["date", "Model", "Prompt", "Rater", "Helpful", "Time spent (s)"]
    (file,) = plan_ingest(table(columns, rows), name="x.csv").files
    assert (file.kind, file.mapping["label"], file.mapping["rubric"]) == ("labels", "Helpful", "=Helpful")
    rows = [["m", q, "r", label(q), label(q, 1), label(q, 2)] for q in range(8)]
    columns = ["model", "query", "rubric", "gpt4_verdict", "claude_verdict", "human_verdict"]
    (file,) = plan_ingest(table(columns, rows), name="with_gold.csv").files
    assert (file.kind, file.gold) == ("labels", ("human_verdict",))
    assert file.mapping["judge"] == ("gpt4_verdict", "claude_verdict")


def test_paths_to_columns_whose_own_names_have_points_are_these_columns(ws):
    rows = [[json.dumps({"question": f"q{n}"}), label(n), label(n, 1)] for n in ROWS]
    content = table(["inputs", "feedback.correct", "feedback.concise"], rows)
    (file,) = plan_ingest(content, name="gpt-4o.csv").files
    assert file.mapping["rubric"] == ("feedback.correct", "feedback.concise")
    assert not [column for column in file.unused if column.startswith("feedback")]
    report = ws.ingest_plan(plan_ingest(content, name="gpt-4o.csv"), "d", ("gpt-4o.csv", content))
    assert (report.accepted, report.rejected) == (2 * len(rows), 0)


def test_graded_letters_beside_whether_the_answer_is_right_are_no_labels(ws):
    rows = [[m, f"q{q}", "ABC"[q % 3], label(m, q)] for m in ("gpt-4o", "o3") for q in ROWS]
    ws.ingest(table(["model", "question_id", "grade", "is_correct"], rows), "d")
    assert set(ws.dataset("d").rubrics["criterion"]) == {"is_correct"}


def test_essays_without_a_system_may_be_the_systems(ws):
    """As of ASAP: two raters grade each essay on several traits."""
    columns = [f"rater{k}_trait{t}" for t in (1, 2) for k in (1, 2)]
    rows = [[n, 1 + n // 6, *(1 + (n * k) % 4 for k in range(4))] for n in range(12)]
    content = table(["essay_id", "essay_set", *columns], rows)
    with pytest.raises(
        IngestError, match=r"say so if 'essay_id' does \(\{\"system\": \"essay_id\"\}\)"
    ) as told:
        ws.ingest(content, "d", name="x.csv")
    (crossed, *_) = map(json.loads, re.findall(r"\{\"system\".*?\"\}(?=\.)", str(told.value)))
    ws.ingest(content, "d", mapping={**crossed, "system": "essay_id", "query": "essay_set"})
    dataset = ws.dataset("d")
    assert (len(dataset.systems), dataset.judges) == (12, ("rater1", "rater2"))
    assert set(dataset.rubrics["criterion"]) == {"trait1", "trait2"}


SYSTEMS, RATERS = ("gpt-4o", "claude-3"), ("Rater 1", "Rater 2")


@pytest.mark.parametrize("name", ["{system} - {rater}", "{system}__{rater}", "{rater}: {system}"])
def test_columns_of_models_times_raters_are_proposed_as_both(ws, name):
    """The mapping that was shown made a system of each column, and lost the raters."""
    heads = [name.format(system=s, rater=r) for s in SYSTEMS for r in RATERS]
    content = table(["question", *heads], [[f"q{n}", *(label(n, h) for h in heads)] for n in ROWS])
    with pytest.raises(IngestError, match="if each is a system's") as told:
        ws.ingest(content, "d", name="x.csv")
    ws.ingest(content, "d", name="x.csv", mapping=json.loads(re.search(r"\{.*\}", str(told.value))[0]))
    assert cells(ws) == {(s, f"q{n}", f"q{n}#score", r): label(n, name.format(system=s, rater=r)) for n in ROWS for s in SYSTEMS for r in RATERS}  # fmt: skip


def test_models_that_a_form_asks_of_in_each_question_are_proposed_as_systems(ws):
    """The models had been criteria of a system that was asked for."""
    heads = [f"{q} [{s}]" for q in ("Q1", "Q2") for s in SYSTEMS]
    content = table(
        ["Timestamp", "Email Address", *heads],
        [["2024/05/01 9:00:00 AM", f"r{n}@x.org", *(1 + label(n, h) for h in heads)] for n in ROWS],
    )
    with pytest.raises(IngestError, match="if each is a system's") as told:
        ws.ingest(content, "d", name="x.csv")
    ws.ingest(content, "d", name="x.csv", mapping=json.loads(re.search(r"\{.*\}", str(told.value))[0]))
    assert cells(ws) == {(s, q, f"{q}#score", f"r{n}@x.org"): 1 + label(n, f"{q} [{s}]") for n in ROWS for q in ("Q1", "Q2") for s in SYSTEMS}  # fmt: skip


def test_of_a_score_and_its_label_in_words_one_is_proposed(ws):
    """Phoenix writes both of each evaluation."""
    heads = [
        "span_id",
        "llm.model_name",
        *(f"eval.{c}.{end}" for c in ("Halu", "QA") for end in ("label", "score")),
    ]
    rows = [
        [f"s{i}{n}", m, ("no", "yes")[a], a, ("incorrect", "correct")[b], b]
        for i, m in enumerate(("gpt-4o", "claude-3"))
        for n in range(6)
        for a, b in [((i + n) % 2, n // 2 % 2)]
    ]
    with pytest.raises(IngestError, match=r'"rubric": \["eval.Halu.score", "eval.QA.score"\]'):
        ws.ingest(table(heads, rows), "d")


def test_a_column_that_names_the_best_of_others_is_no_system(ws):
    rows = [
        [f"q{n}", c, label(n, c), label(c, n, 1), ("gpt-4o", "claude-3")[n % 2]]
        for n in range(6)
        for c in "xy"
    ]
    with pytest.raises(IngestError, match=r'this mapping: ."system": ."gpt-4o", "claude-3".') as told:
        ws.ingest(table(["query", "criterion", "gpt-4o", "claude-3", "best"], rows), "d")
    assert '"system": "best"' not in str(told.value)


@pytest.mark.parametrize("between", ["__", "::", "|"])
@pytest.mark.parametrize("judges", [("j1",), ("j1", "j2")])
def test_an_id_that_was_composed_is_proposed_by_its_parts(ws, between, judges):
    parts = [(m, f"q{n}", c) for m in ("gpt-4o", "claude-3") for n in range(3) for c in ("tone", "wit")]
    rows = [[between.join(own), j, label(*own, j)] for own in parts for j in judges]
    content = table(["custom_id", "judge", "score"], rows)
    with pytest.raises(IngestError, match="if these are system, query and rubric, in this order") as told:
        ws.ingest(content, "d", name="x.csv")
    ws.ingest(content, "d", mapping=json.loads(re.search(r"\{.*\}", str(told.value))[0]), name="x.csv")
    assert cells(ws) == {(m, q, f"{q}#{c}", j): label(m, q, c, j) for m, q, c in parts for j in judges}
