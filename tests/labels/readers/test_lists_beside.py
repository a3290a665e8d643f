"""Lists beside each other in a JSON record are read item by item: no item is lost, and none is paired with another."""

# ruff: noqa: E501 - a layout's records, each in one line
from __future__ import annotations

import json
import re
from itertools import product

import pytest

from crubric_core.errors import IngestError
from crubric_core.labels.readers.bundle import plan_ingest
from tests.labels.readers.test_layouts import MODELS, cells, label, lines
from tests.tiers import crossed

RATERS = ("a1", "a2", "a3")
LONG = [
    {"system": m, "query": f"p{q}", "rubric": c, "judge": j, "label": label(m, q, c, j)}
    for m in MODELS
    for q in range(2)
    for c in ("cites", "clear")
    for j in RATERS
]
WANTED = {(r["system"], r["query"], f"{r['query']}#{r['rubric']}", r["judge"]): r["label"] for r in LONG}


def usr(m, q, raters=RATERS):
    return {
        "response": f"{m} says {q}",
        "model": m,
        **{c: [label(m, q, c, j) for j in raters] for c in ("cites", "clear")},
    }


def by_place(wanted):
    return {(*key[:3], str(RATERS.index(key[3]))): level for key, level in wanted.items()}


# name → (content, the labels that it holds)
LISTS = {
    "criteria in lists within responses, raters beside these, as in USR": (
        json.dumps([{"question": f"p{q}", "annotators": list(RATERS), "responses": [usr(m, q) for m in MODELS]} for q in range(2)]).encode(),
        WANTED,
    ),
    "criteria in lists within responses, without raters": (
        json.dumps([{"question": f"p{q}", "responses": [usr(m, q) for m in MODELS]} for q in range(2)]).encode(),
        by_place(WANTED),
    ),
    "a list of scores a criterion": (
        lines({"question_id": f"p{q}", **usr(m, q)} for m in MODELS for q in range(2)),
        by_place(WANTED),
    ),
    "a list of scores a criterion, and one of raters": (
        lines({"question_id": f"p{q}", "annotators": list(RATERS), **usr(m, q)} for m in MODELS for q in range(2)),
        WANTED,
    ),
    "judges beside their votes": (
        lines({"model": m, "question_id": f"p{q}", "criterion": c, "judges": list(RATERS), "votes": [label(m, q, c, j) for j in RATERS]} for m in MODELS for q in range(2) for c in ("cites", "clear")),
        WANTED,
    ),
    "a data frame, one object a column": (
        json.dumps({c: {str(n): r[c] for n, r in enumerate(LONG)} for c in LONG[0]}).encode(),
        WANTED,
    ),
    "a data frame, one list a column": (json.dumps({c: [r[c] for r in LONG] for c in LONG[0]}).encode(), WANTED),
}  # fmt: skip


@pytest.mark.parametrize("name", LISTS)
def test_lists_are_read_item_by_item(ws, name):
    content, wanted = LISTS[name]
    report = ws.ingest(content, "d", name="x.json")
    assert (report.rejected, report.collapsed) == (0, 0)
    assert cells(ws) == wanted


@pytest.mark.parametrize("name", LISTS)
def test_their_plan_without_a_kind_reads_the_same_labels(ws, name):
    content, wanted = LISTS[name]
    ws.ingest_plan(plan_ingest(content, name="x.json"), "d", ("x.json", content))
    assert cells(ws) == wanted


@pytest.mark.parametrize("levels", [(1, 3, 4), ("yes", "no", "no")])
@pytest.mark.parametrize("criteria", [("clear",), ("clear", "cites")])
def test_a_list_of_labels_of_a_named_judge_holds_its_draws(ws, levels, criteria):
    """They were rows that contradict each other."""
    lists = {c: list(levels) for c in criteria}
    records = [{"model": m, "question_id": f"p{q}", "judge": j, **lists} for m in MODELS for q in range(2) for j in RATERS]  # fmt: skip
    if len(criteria) == 1:
        records = [{**r, "criterion": "clear", "votes": r.pop("clear")} for r in records]
    report = ws.ingest(lines(records), "d", name="x.jsonl")
    assert (report.accepted, report.rejected) == (len(records) * 3 * len(criteria), 0)
    assert sorted(ws.dataset("d").labels()["run"].unique()) == ["0", "1", "2"]


def test_lists_of_different_lengths_are_refused_with_their_record():
    records = [{"model": "m", "question_id": f"p{q}", "criterion": "c", "judges": list(RATERS), "votes": [1, 0, 1]} for q in range(30)]  # fmt: skip
    records[25]["judges"] = ["a1", "a2"]
    (file,) = plan_ingest(lines(records), name="x.jsonl").files
    assert "items in record 26 of x.jsonl" in file.problem


def test_a_criterion_that_a_record_lacks_takes_none_of_the_others_with_it(ws):
    records = [{"model": m, "question_id": "p0", "cites": [1, 0], "clear": [0, 1]} for m in MODELS]
    del records[1]["cites"]
    mapping = {
        "system": "model",
        "query": "question_id",
        "rubric": ["cites[]", "clear[]"],
        "judge": "clear[].#",
    }
    ws.ingest(lines(records), "d", name="x.jsonl", mapping=mapping)
    assert ws.dataset("d").labels()["label"].notna().sum() == 10


def test_lists_that_lie_in_different_lists_are_refused(ws):
    record = {"model": "m", "question_id": "q", "a": [{"of": [{"score": 1}]}], "b": [{"of": [{"name": "c"}]}]}
    mapping = {"system": "model", "rubric": "b[].of[].name", "label": "a[].of[].score"}
    with pytest.raises(IngestError, match="different lists"):
        ws.ingest(lines([record]), "d", name="x.jsonl", mapping=mapping)


JUDGES = ("ann", "bob")
CRITERIA = ["cites", "clear", "tone"]


def by_judge(judges, holder="judge_scores", **more):
    """A record of each answer, with a list of scores for each judge: one a criterion."""
    return [
        {
            "model": m,
            "question_id": f"p{q}",
            holder: {j: [label(m, q, c, j) for c in CRITERIA] for j in judges},
            **more,
        }
        for m in MODELS
        for q in range(2)
    ]


def of_judges(judges, names=CRITERIA):
    keys = product(MODELS, range(2), zip(CRITERIA, names, strict=True), judges)
    return {(m, f"p{q}", f"p{q}#{name}", j): label(m, q, c, j) for m, q, (c, name), j in keys}


@pytest.mark.parametrize(
    ("judges", "criteria", "holder"),
    crossed(
        [("ann", "bob"), ("judge_a", "judge_b", "judge_c"), ("gpt-4", "claude")],
        [{"criteria": CRITERIA}, {"rubrics": [{"name": c, "weight": 1} for c in CRITERIA]}],
        ["judge_scores", "scores"],
    ),
)
def test_lists_by_judge_are_one_label_a_criterion_of_the_list_beside(ws, judges, criteria, holder):
    """Judges were criteria, and criteria numbered judges."""
    report = ws.ingest(lines(by_judge(judges, holder, **criteria)), "d", name="x.jsonl")
    assert cells(ws) == of_judges(judges)
    assert any(f"the judge at {holder}{{}}.#, the rubric at" in n for n in report.notes)


@pytest.mark.parametrize(("judges", "holder"), [(JUDGES, "judge_scores"), (("gpt-4", "claude"), "scores")])
def test_lists_by_judge_without_names_of_criteria_are_asked_about(ws, judges, holder):
    content = lines(by_judge(judges, holder))
    with pytest.raises(IngestError, match="seems to hold labels within") as asked:
        ws.ingest(content, "d", name="x.jsonl")
    mapping = json.loads(re.search(r"\{.*\}", str(asked.value))[0])
    ws.ingest(content, "d", name="x.jsonl", mapping=mapping)
    assert cells(ws) == of_judges(judges, "012")


def test_lists_by_judge_of_one_criterion_may_be_runs_and_are_asked_about(ws):
    with pytest.raises(IngestError, match=r'"run": "judge_scores\{\}\[\]\.#"'):
        ws.ingest(lines(by_judge(JUDGES, criterion="clear")), "d", name="x.jsonl")


def test_lists_by_criterion_stay_so_beside_the_list_of_their_names(ws):
    records = [
        {"model": m, "question_id": "p0", "criteria": CRITERIA, "scores": {c: [label(m, c, j) for j in range(3)] for c in CRITERIA}}
        for m in MODELS
    ]  # fmt: skip
    ws.ingest(lines(records), "d", name="x.jsonl")
    assert set(ws.dataset("d").labels()["rubric"]) == set(CRITERIA)


def test_the_one_model_beside_all_scores_gave_them_and_is_asked_about_as_their_judge():
    graded = {f"v1_{n}": {"model": ["gpt-4-0613"], "content": ["0.5"], "score": [n % 3]} for n in range(6)}
    (problem,) = plan_ingest(json.dumps(graded).encode(), strict=True).problems
    assert '"judge": "{}.model[]"' in problem
    assert problem.endswith(", with its system in place of ….")


def test_verdicts_in_one_list_are_of_the_rubrics_in_the_list_beside(ws):
    """The rubrics were the numbers of the verdicts, and their texts and points were not used."""
    rubric = [{"criterion": "Names the dose", "points": 5}, {"criterion": "Does harm", "points": -4}]
    content = lines(
        {"sample_id": f"p{q}", "policy_model": m, "rubric": rubric,
         "grades": [{"criteria_met": bool(label(m, q, r["criterion"]))} for r in rubric]}
        for m in MODELS for q in range(2)
    )  # fmt: skip
    ws.ingest(content, "d", name="x.jsonl")
    assert cells(ws) == {
        (m, f"p{q}", f"p{q}#{r['criterion']}", "judge"): label(m, q, r["criterion"])
        for m in MODELS for q in range(2) for r in rubric
    }  # fmt: skip
    assert sorted(ws.dataset("d").rubrics["weight"]) == [-4, -4, 5, 5]


def test_verdicts_beside_a_list_of_another_length_are_asked_about(ws):
    rubric = [{"criterion": f"c{n}"} for n in range(3)]
    content = lines(
        {"query": f"p{q}", "model": m, "rubric": rubric, "grades": [{"met": label(m, q, n)} for n in range(2)]}
        for m in MODELS for q in range(2)
    )  # fmt: skip
    with pytest.raises(IngestError, match=re.escape('"rubric": "grades[].#"')):
        ws.ingest(content, "d", name="x.jsonl")


def test_verdicts_in_another_order_are_of_the_rubrics_that_have_their_ids(ws):
    texts = {"k1": "Names the dose", "k2": "Does harm", "k3": "Is short"}
    content = lines(
        {"prompt": f"p{q}", "model": m, "rubric": [{"id": k, "criterion": t} for k, t in texts.items()],
         "grades": [{"id": k, "met": bool(label(m, q, k))} for k in sorted(texts, reverse=q > 0)]}
        for m in MODELS for q in range(2)
    )  # fmt: skip
    ws.ingest(content, "d", name="x.jsonl")
    assert cells(ws) == {
        (m, f"p{q}", f"p{q}#{k}", "judge"): label(m, q, k) for m in MODELS for q in range(2) for k in texts
    }
    assert ws.dataset("d").rubrics["text"].tolist() == list(texts.values()) * 2


def test_points_that_both_lists_have_are_no_ids_of_their_rubrics(ws):
    texts = {"Names the dose": 5, "Names the risk": 5, "Does harm": -4}
    content = lines(
        {"prompt": f"p{q}", "model": m, "rubric": [{"criterion": t, "points": p} for t, p in texts.items()],
         "grades": [{"points": p, "met": bool(label(m, q, t))} for t, p in texts.items()]}
        for m in MODELS for q in range(2)
    )  # fmt: skip
    ws.ingest(content, "d", name="x.jsonl")
    assert cells(ws) == {
        (m, f"p{q}", f"p{q}#{t}", "judge"): label(m, q, t) for m in MODELS for q in range(2) for t in texts
    }


def test_scores_under_workers_are_theirs(ws):
    """The workers were systems, though each dialogue names its bot, and all rows contradicted each other."""
    rated = [
        {"dialog_id": f"d{q}", "bot": m,
         "ratings": {f"worker_{k}": {c: label(m, q, c, k) for c in ("clear", "kind")} for k in (1, 2)}}
        for m in MODELS for q in range(2)
    ]  # fmt: skip
    ws.ingest(json.dumps({"dialogues": rated}).encode(), "d", name="x.json")
    assert cells(ws) == {
        (m, f"d{q}", f"d{q}#{c}", f"worker_{k}"): label(m, q, c, k)
        for m in MODELS for q in range(2) for c in ("clear", "kind") for k in (1, 2)
    }  # fmt: skip


CHECKS = ("Cites a source", "Is brief", "Is polite")


def answers_with_verdicts(listed, verdicts=3):
    """A prompt and its criteria once, and the verdicts of each answer in their order."""
    return lines(
        {
            "prompt_id": f"p{q}",
            **listed,
            "responses": [
                {"model": m, "verdicts": [bool(label(m, q, c)) for c in CHECKS[:verdicts]]} for m in MODELS
            ],
        }
        for q in range(3)
    )


def verdicts_by(names):
    return {
        (m, f"p{q}", f"p{q}#{name}", "judge"): label(m, q, c)
        for m in MODELS
        for q in range(3)
        for name, c in zip(names, CHECKS, strict=True)
    }


@pytest.mark.parametrize("name", ["rubrics", "criteria", "checklist"])
def test_a_list_of_criteria_around_the_answers_names_the_verdicts_of_each(ws, name):
    """The verdicts were taken for those of judges 0, 1 and 2 on one rubric."""
    report = ws.ingest(answers_with_verdicts({name: list(CHECKS)}), "d", name="x.jsonl")
    assert report.columns["rubric"] == f"{name}[]"
    assert cells(ws) == verdicts_by(CHECKS)


def test_ids_of_criteria_around_the_answers_name_the_verdicts_and_their_weights_are_kept(ws):
    listed = {"rubric_items": [{"id": f"r{n}", "text": c, "weight": n - 1} for n, c in enumerate(CHECKS)]}
    ws.ingest(answers_with_verdicts(listed), "d", name="x.jsonl")
    assert cells(ws) == verdicts_by(("r0", "r1", "r2"))
    assert set(ws.dataset("d").rubrics["polarity"]) == {1, -1}


def test_verdicts_beside_a_list_that_may_name_them_are_asked_about(ws):
    with pytest.raises(IngestError, match=re.escape('"rubric": "questions[]"')):
        ws.ingest(answers_with_verdicts({"questions": list(CHECKS)}), "d", name="x.jsonl")


def test_verdicts_that_are_not_as_many_as_the_criteria_are_asked_about(ws):
    with pytest.raises(IngestError, match="seems to hold labels within its records"):
        ws.ingest(answers_with_verdicts({"rubrics": list(CHECKS)}, verdicts=2), "d", name="x.jsonl")


@pytest.mark.parametrize("tags", [["law", "tax"], ["law", "tax", "code"]])
def test_votes_of_raters_stay_theirs_beside_a_list_of_other_texts(ws, tags):
    ws.ingest(answers_with_verdicts({"tags": tags, "annotators": list(RATERS)}), "d", name="x.jsonl")
    assert set(ws.dataset("d").labels()["judge"]) == set(RATERS)


def test_verdicts_that_may_be_of_criteria_or_of_raters_are_asked_about(ws):
    listed = {"rubrics": list(CHECKS), "annotators": list(RATERS)}
    with pytest.raises(IngestError, match="seems to hold labels within its records"):
        ws.ingest(answers_with_verdicts(listed), "d", name="x.jsonl")


NAMES = ("gpt-4o", "claude-3-opus")


def test_criteria_beside_an_object_of_models_and_their_verdicts_are_asked_about_with_both(ws):
    """The refusal named columns that the file does not have, and the models were offered as rubrics."""
    content = lines(
        {
            "prompt_id": f"p{q}",
            "checklist": list(CHECKS),
            "results": {m: [("No", "Yes")[label(m, q, c)] for c in CHECKS] for m in NAMES},
        }
        for q in range(3)
    )
    with pytest.raises(IngestError) as asked:
        ws.ingest(content, "d", name="x.jsonl")
    mapping = json.loads(re.search(r"\{.*\}", str(asked.value))[0])
    ws.ingest(content, "d", name="x.jsonl", mapping=mapping)
    assert cells(ws) == {
        (m, f"p{q}", f"p{q}#{c}", "judge"): label(m, q, c) for m in NAMES for q in range(3) for c in CHECKS
    }


def test_criteria_around_an_object_of_models_name_the_verdicts_within_each(ws):
    content = lines(
        {
            "prompt_id": f"p{q}",
            "criteria": list(CHECKS),
            "responses": {m: {"text": "so", "verdicts": [label(m, q, c) for c in CHECKS]} for m in NAMES},
        }
        for q in range(3)
    )
    ws.ingest(content, "d", name="x.jsonl")
    assert cells(ws) == {
        (m, f"p{q}", f"p{q}#{c}", "judge"): label(m, q, c) for m in NAMES for q in range(3) for c in CHECKS
    }


def test_lists_of_one_annotator_among_several_are_not_taken_for_all_there_are(ws):
    """Those of the first were read, of places as systems, and the file's columns were named as the paths made them."""
    held = {s: {a: {c: [1, 2, 3] for c in ("tone", "depth")} for a in ("annot1", "annot2")} for s in "xyz"}
    with pytest.raises(IngestError, match=r"its columns are 'x', 'y', 'z'; rename"):
        ws.ingest(json.dumps(held).encode(), "d", name="x.json")


def drawn(model, query):
    """The verdicts on four draws of an answer."""
    return [bool(label(model, query, draw)) for draw in range(4)]


def of_draws(**more):
    """Records of three queries with four draws of each model's answer."""
    queries = ("q0", "q1", "q2")
    return lines(
        {"model": m, "task_id": q, **{c: v(m, q) for c, v in more.items()}} for m in MODELS for q in queries
    )


@pytest.mark.parametrize(
    "beside",
    [
        {"attempts": drawn},
        {"samples": drawn},
        {"passed": drawn, "n_samples": lambda *_: 4},
        {"correct": drawn, "pass@4": lambda m, q: any(drawn(m, q))},
        {"results": drawn, "completions": lambda m, q: [f"{m} {q} {i}" for i in range(4)]},
    ],
)
def test_verdicts_of_samples_are_draws_of_one_answer(ws, beside):
    """They were as many judges."""
    ws.ingest(of_draws(**beside), "d", name="x.jsonl")
    labels = ws.dataset("d").labels()
    assert (labels["run"].nunique(), labels["judge"].nunique(), len(labels)) == (4, 1, 36)
    own = labels[(labels["system"] == MODELS[0]) & (labels["query"] == "q1")].sort_values("run")
    assert own["label"].tolist() == list(map(int, drawn(MODELS[0], "q1")))


@pytest.mark.parametrize("name", ["passed", "results", "correct"])
def test_a_list_of_verdicts_that_may_be_draws_or_judges_is_asked_about(ws, name):
    with pytest.raises(IngestError, match=rf'"run": "{name}\[\]\.#".* and with .*"judge": "{name}\[\]\.#"'):
        ws.ingest(of_draws(**{name: drawn}), "d", name="x.jsonl")


@pytest.mark.parametrize("other", ["tests", "annotators", "criteria"])
def test_verdicts_beside_what_names_each_are_no_draws(other):
    data = of_draws(passed=drawn, **{other: lambda *_: [f"{other} {i}" for i in range(4)]})
    assert "run" not in plan_ingest(data, name="x.jsonl").files[0].mapping


@pytest.mark.parametrize("more", [{}, {"question": "what"}, {"question": "what", "score": 1}])
def test_scores_beside_a_list_of_criteria_are_labels_of_these(ws, more):
    """Beside a question they were a list of criteria without labels."""
    records = [
        {
            "model": m,
            "question_id": q,
            **more,
            "rubric": [f"{q} names {i}" for i in range(1 + n)],
            "rubric_scores": [label(m, q, i) for i in range(1 + n)],
        }
        for m in MODELS
        for n, q in enumerate(("q0", "q1", "q2"))
    ]
    ws.ingest(lines(records), "d", name="x.jsonl")
    labels = ws.dataset("d").labels()
    found = dict(zip(zip(labels["system"], labels["rubric"], strict=True), labels["label"], strict=True))
    assert len(found) == len(MODELS) * 6
    assert all(found[m, f"q2 names {i}"] == label(m, "q2", i) for m in MODELS for i in range(3))


def test_highest_scores_beside_criteria_are_no_labels(ws):
    records = [
        {"question": f"what {q}", "rubric": ["names it", "tells why"], "rubric_scores": [3, 5]} for q in "ab"
    ]
    report = ws.ingest(lines(records), "d", name="x.jsonl")
    assert "prompts with a list of criteria" in report.notes[0]


@pytest.mark.parametrize("name", ["judge_scores", "grader_scores"])
def test_a_list_that_is_called_after_the_scores_of_judges_holds_one_of_each(ws, name):
    """It was refused without a mapping."""
    given = {
        (m, q, f"{q}#{name}", str(j)): 1 + label(m, q, j)
        for m in MODELS
        for q in ("p0", "p1")
        for j in range(2)
    }
    records = [
        {"model": m, "query_id": q, name: [given[m, q, f"{q}#{name}", str(j)] for j in range(2)]}
        for m in MODELS
        for q in ("p0", "p1")
    ]
    report = ws.ingest(lines(records), "d", name="x.jsonl")
    assert cells(ws) == given
    assert any(f"each place in {name}[] is read as a judge" in note for note in report.notes)


@pytest.mark.parametrize(
    "lists", [("passed_criteria", "failed_criteria"), ("requirements_passed", "requirements_failed")]
)
def test_lists_of_criteria_by_their_verdict_are_refused_with_a_form_that_is_read(ws, lists):
    met = {(m, q, c): label(m, q, c) for m in MODELS for q in ("p0", "p1") for c in CRITERIA}
    records = [
        {
            "model": m,
            "query_id": q,
            **{
                name: [c for c in CRITERIA if met[m, q, c] == verdict]
                for name, verdict in zip(lists, (1, 0), strict=True)
            },
        }
        for m in MODELS
        for q in ("p0", "p1")
    ]
    with pytest.raises(
        IngestError,
        match=rf"lists criteria by their verdict \({lists[0]}, {lists[1]}\).*\"criterion\": …, \"met\"",
    ):
        ws.ingest(lines(records), "d", name="x.jsonl")
    shown = [
        {
            "system": m,
            "query": q,
            "results": [{"criterion": c, "met": bool(met[m, q, c])} for c in CRITERIA],
        }
        for m in MODELS
        for q in ("p0", "p1")
    ]
    ws.ingest(lines(shown), "d", name="x.jsonl")
    assert cells(ws) == {(m, q, f"{q}#{c}", "judge"): x for (m, q, c), x in met.items()}
