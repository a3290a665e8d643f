"""Columns that are people times criteria: told, and read so where the user says which part names the judge."""

from __future__ import annotations

import json
import re
from itertools import product

import pytest

from crubric_core.errors import IngestError
from crubric_core.labels import Workspace
from tests.labels.readers.test_layouts import MODELS, label, table

ANN, CLEAR = ("Ann", "Bob"), ("Clarity", "Accuracy")


def rated(order):
    columns = [" ".join((c, j)[::order]) for c in CLEAR for j in ANN]
    rows = [[m, f"q{q}", *(label(m, q, c, j) for c in CLEAR for j in ANN)] for m in MODELS for q in range(2)]
    return table(["model", "question_id", *columns], rows)


def given(judges):
    """The labels that each of the judges gave, by criterion."""
    keys = product(MODELS, range(2), CLEAR, judges)
    return {(m, f"q{q}", f"q{q}#{c}", j, label(m, q, c, j)) for m, q, c, j in keys}


def read(dataset):
    found = dataset.labels()[["system", "query", "rubric", "judge", "label"]]
    return {tuple(row) for row in found.itertuples(index=False)}


@pytest.mark.parametrize("order", [1, -1])
def test_people_times_criteria_are_told_with_the_mapping_that_reads_them(ws, order):
    report = ws.ingest(rated(order), "d", name="x.csv")
    (told,) = (n for n in report.notes if "with each of" in n)
    assert "are read as 4 rubrics" in told
    mappings = [json.loads(m) for m in re.findall(r"\{\"rubric\".*?\"\}", told)]
    back = mappings[0] if order == 1 else mappings[1]  # the last part, or the first, names the judge
    ws.ingest(rated(order), "e", name="x.csv", mapping=back)
    assert read(ws.dataset("e")) == given(ANN)


def test_criteria_that_are_no_product_are_not_told_of(ws):
    rows = [[m, "q", label(m), label(m, 1), label(m, 2)] for m in MODELS]
    report = ws.ingest(table(["model", "question_id", "text clarity", "text tone", "code tone"], rows), "d")
    assert not [n for n in report.notes if "with each of" in n]


@pytest.mark.parametrize("judges", [("judge_gpt4", "judge_claude"), ("gpt_4o_mini", "claude")])
def test_judges_and_criteria_may_both_have_several_words(ws, judges):
    """``judge_gpt4_word_choice`` was a criterion, as it was parted at its first or last separator alone."""
    criteria = ("word_choice", "tone", "cites_all_sources")
    rows = [
        [m, f"q{q}", *(label(m, q, c, j) for c in criteria for j in judges)] for m in MODELS for q in range(2)
    ]
    heads = [f"{j}_{c}" for c in criteria for j in judges]
    ws.ingest(table(["model", "question_id", *heads], rows), "d", name="x.csv")
    assert read(ws.dataset("d")) == {
        (m, f"q{q}", f"q{q}#{c}", j, label(m, q, c, j))
        for m, q, c, j in product(MODELS, range(2), criteria, judges)
    }


@pytest.mark.parametrize("name", ["{criterion}_{judge}", "{criterion} ({judge})", "{judge}: {criterion}"])
@pytest.mark.parametrize("judges", [("judge1", "judge2"), ("gpt-4o", "claude")])
def test_the_judge_may_stand_before_or_after_the_criterion(ws, name, judges):
    """``clarity_judge1, cites_judge1`` were four judges of one rubric; ``tone_gpt4`` had criteria for judges."""
    columns = [name.format(criterion=c, judge=j) for c in CLEAR for j in judges]
    rows = [
        [m, f"q{q}", *(label(m, q, c, j) for c in CLEAR for j in judges)] for m in MODELS for q in range(2)
    ]
    report = ws.ingest(table(["model", "question_id", *columns], rows), "d", name="x.csv")
    assert read(ws.dataset("d")) == given(judges)
    assert any(f"judges ({', '.join(judges)}) times criteria" in n for n in report.notes)


@pytest.mark.parametrize(
    ("name", "judges"),
    [
        ("{judge}_{criterion}", ("rater_1", "rater_2")),
        ("{criterion}_{judge}", ("expert_1", "expert_2")),
        ("{judge} {criterion}", ("Annotator A", "Annotator B")),
        ("{criterion}-{judge}", ("human-1", "human-2")),
    ],
)
def test_a_numbered_judge_and_a_criterion_may_have_several_words(ws, name, judges):
    """``rater_1_word_choice`` was a criterion, and ``word_choice_expert_1`` a judge."""
    space = next(c for c in name if c in "_ -")
    columns = [f"word{space}choice", "tone"]
    heads = [name.format(criterion=c, judge=j) for c in columns for j in judges]
    rows = [
        [m, f"q{q}", *(label(m, q, c, j) for c in columns for j in judges)] for m in MODELS for q in range(2)
    ]
    ws.ingest(table(["model", "question_id", *heads], rows), "d", name="x.csv")
    keys = product(MODELS, range(2), columns, judges)
    assert read(ws.dataset("d")) == {(m, f"q{q}", f"q{q}#{c}", j, label(m, q, c, j)) for m, q, c, j in keys}


@pytest.mark.parametrize("name", ["{judge}_{criterion}", "{criterion} ({judge})"])
@pytest.mark.parametrize("judges", [("rater1", "rater2", "rater3"), ("gpt-4o", "claude", "human")])
def test_a_judge_may_lack_some_of_the_criteria(ws, name, judges):
    """``rater1_clarity, rater1_tone, rater2_clarity`` were three criteria of one judge."""
    pairs = [(c, j) for c in CLEAR for j in judges][:-1]
    columns = [name.format(criterion=c, judge=j) for c, j in pairs]
    rows = [[m, f"q{q}", *(label(m, q, c, j) for c, j in pairs)] for m in MODELS for q in range(2)]
    report = ws.ingest(table(["model", "question_id", *columns], rows), "d", name="x.csv")
    assert read(ws.dataset("d")) == {
        row for row in given(judges) if row[3] != judges[-1] or CLEAR[0] in row[2]
    }
    assert any(f"judges ({', '.join(judges)}) times criteria" in n for n in report.notes)


@pytest.mark.parametrize("beside", [CLEAR, ("Clarity_score", "Accuracy_score"), ("overall",)])
def test_labels_beside_those_of_the_judges_are_not_used_and_told_of(ws, beside):
    """What the raters agreed on, or what nobody says whose it is; the raters' own were criteria for it."""
    columns = [f"rater{j}_{c}" for c in CLEAR for j in (1, 2)]
    rows = [
        [
            m,
            f"q{q}",
            *(label(m, q, c, f"rater{j}") for c in CLEAR for j in (1, 2)),
            *(label(m, q) for _ in beside),
        ]
        for m in MODELS
        for q in range(2)
    ]
    report = ws.ingest(table(["model", "question_id", *columns, *beside], rows), "d", name="x.csv")
    assert read(ws.dataset("d")) == given(("rater1", "rater2"))
    (told,) = (n for n in report.notes if "no judge or system, unlike the others" in n)
    assert all(repr(c) in told for c in beside)


@pytest.mark.parametrize(
    "criteria",
    [
        ["response_accuracy", "response_tone", "assistant_tone", "safety", "depth"],
        ["worker_safety", "human_safety", "human_rights", "worker_rights", "fairness"],
        ["worker_safety", "human_safety", "human_rights"],
        ["agent_1_accuracy", "agent_2_accuracy", "agent_1_tone", "agent_2_tone", "agent_coordination"],
    ],
)
def test_criteria_that_begin_like_a_judge_or_a_system_are_all_read(ws, criteria):
    rows = [[m, f"q{q}", *(label(m, q, c) for c in criteria)] for m in MODELS for q in range(2)]
    ws.ingest(table(["model", "question_id", *criteria], rows), "d", name="x.csv")
    assert {r.partition("#")[2] for r in ws.dataset("d").labels()["rubric"]} == set(criteria)
    assert ws.dataset("d").judges == ("judge",)


def test_no_system_is_left_out_whose_name_is_no_models(ws):
    columns = ["gpt-4o_accuracy", "claude_accuracy", "gpt-4o_tone", "claude_tone", "baseline_accuracy"]
    content = table(["query", *columns], [[f"q{q}", *(label(q, c) for c in columns)] for q in range(4)])
    with pytest.raises(IngestError, match=r"has no column for system"):
        ws.ingest(content, "d", name="x.csv")


def test_no_judge_is_lost_whose_name_has_no_number(ws):
    judges = ("expert_1", "expert_2", "llm_judge")
    pairs = [(c, j) for c in CLEAR for j in judges][:-1]
    rows = [[m, f"q{q}", *(label(m, q, c, j) for c, j in pairs)] for m in MODELS for q in range(2)]
    ws.ingest(table(["model", "question_id", *(f"{j}_{c}" for c, j in pairs)], rows), "d", name="x.csv")
    assert ws.dataset("d").judges == judges


def test_columns_of_which_few_are_called_after_judges_are_criteria(ws):
    columns = ["human_touch", "human_tone", "expert_touch", "expert_tone", "a", "b", "c", "d", "e"]
    rows = [[m, f"q{q}", *(label(m, q, c) for c in columns)] for m in MODELS for q in range(2)]
    ws.ingest(table(["model", "question_id", *columns], rows), "d", name="x.csv")
    assert {r.partition("#")[2] for r in ws.dataset("d").labels()["rubric"]} == set(columns)


SYSTEMS = ("gpt4", "claude")


def across(systems, order=1, keys=("query",)):
    """A table without a column of systems, whose columns are systems times criteria."""
    pairs = [(s, c) for s in systems for c in CLEAR]
    own = {"query": "q{}", "judge": "j"}
    rows = [[*(own[k].format(q) for k in keys), *(label(s, q, c) for s, c in pairs)] for q in range(4)]
    return table([*keys, *("_".join(pair[::order]) for pair in pairs)], rows)


def of_systems(systems, judge="judge"):
    return {
        (s, f"q{q}", f"q{q}#{c}", judge, label(s, q, c)) for s in systems for q in range(4) for c in CLEAR
    }


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("keys", [("query",), ("query", "judge")])
def test_models_times_criteria_are_the_systems_where_nothing_else_is(ws, order, keys):
    """They were judges of a system that was asked for."""
    report = ws.ingest(across(SYSTEMS, order, keys), "d", name="x.csv")
    assert read(ws.dataset("d")) == of_systems(SYSTEMS, "j" if "judge" in keys else "judge")
    (told,) = (n for n in report.notes if "times criteria" in n)
    assert "systems (gpt4, claude) times criteria" in told
    mapping = {**json.loads(re.search(r"\{.*\}\B", told)[0]), "system": "=ours"}
    if keys == ("query",):
        ws.ingest(across(SYSTEMS, order), "e", name="x.csv", mapping=mapping)
        assert (ws.dataset("e").systems, ws.dataset("e").judges) == (("ours",), ("claude", "gpt4"))


@pytest.mark.parametrize("systems", [("sysA", "sysB"), ("ours", "baseline"), ("human", "gpt4")])
@pytest.mark.parametrize("order", [1, -1])
def test_names_times_criteria_that_may_be_systems_are_asked_about(ws, systems, order):
    content = across(systems, order)
    with pytest.raises(IngestError, match="no column for system") as asked:
        ws.ingest(content, "d", name="x.csv")
    mappings = [json.loads(m) for m in re.findall(r"\{\"rubric\".*?\"\}", str(asked.value))]
    ws.ingest(content, "d", name="x.csv", mapping=mappings[0 if order == 1 else 1])
    assert read(ws.dataset("d")) == of_systems(systems)


def test_judges_times_criteria_without_a_system_are_asked_for_it(ws):
    content = across(("judge1", "judge2"))
    with pytest.raises(IngestError, match="name the system, or") as asked:
        ws.ingest(content, "d", name="x.csv")
    mapping = json.loads(re.search(r"\{.*\}", str(asked.value))[0]) | {"system": "=ours"}
    ws.ingest(content, "d", name="x.csv", mapping=mapping)
    assert ws.dataset("d").judges == ("judge1", "judge2")


def test_files_of_systems_or_judges_whose_columns_name_models_are_asked_about(ws):
    files = [(f"{name}.csv", across(SYSTEMS, order)) for name, order in (("llama", 1), ("qwen", 1))]
    files[1] = ("qwen.csv", files[1][1].replace(b",0", b",1"))
    with pytest.raises(IngestError, match="say what each file is"):
        ws.ingest(files, "d")


def test_columns_that_are_no_product_are_refused_with_what_was_said(ws):
    mapping = {"rubric": ["ada_tone", "ada_depth", "bob_tone"], "system": "~ {system}×{rubric}"}
    content = table(["query", *mapping["rubric"]], [["q", 1, 0, 1]])
    with pytest.raises(IngestError, match=r"columns of x\.csv are not each system times each rubric"):
        ws.ingest(content, "d", name="x.csv", mapping=mapping)


def test_versions_of_a_judge_are_judges_and_no_criteria(ws):
    columns = ["grader 1", "grader 2", "judge 1", "judge 2"]
    rows = [[m, f"q{q}", *(label(m, q, j) for j in columns)] for m in MODELS for q in range(2)]
    ws.ingest(table(["model", "question_id", *columns], rows), "d")
    assert ws.dataset("d").judges == tuple(columns)


def test_people_times_criteria_of_gold_labels_are_annotators():
    rows = ["gpt-4o,q1,1,2,3,1", "gpt-4o,q2,2,2,3,1", "claude,q1,1,3,3,2", "claude,q2,1,2,3,3"]
    head = "model,prompt_id,rater1_clarity,rater1_tone,rater2_clarity,rater2_tone"
    with Workspace() as ws:
        report = ws.ingest("\n".join([head, *rows]).encode(), "d", kind="gold", name="people.csv")
        gold = ws.dataset("d").gold()
    assert (report.rejected, set(gold["annotator"])) == (0, {"rater1", "rater2"})
    assert {r.rpartition("#")[2] for r in gold["rubric"]} == {"clarity", "tone"}


def test_columns_of_raters_beside_one_of_criteria_are_annotators_of_gold_labels():
    rows = [
        "gpt-4o,q1,clarity,2,3",
        "gpt-4o,q2,clarity,2,3",
        "claude,q1,clarity,1,3",
        "claude,q2,clarity,1,3",
    ]
    with Workspace() as ws:
        content = "\n".join(["model,prompt_id,criterion,rater1,rater2", *rows]).encode()
        report = ws.ingest(content, "d", kind="gold", name="people.csv")
        assert set(ws.dataset("d").gold()["annotator"]) == {"rater1", "rater2"}
    assert any("one column for each annotator" in note for note in report.notes)


SIDES = ("east", "west")


def judged(judges, name):
    """Rows are rubrics, columns systems times judges."""
    columns = [name.format(system=m, judge=j) for m in MODELS for j in judges]
    rows = [
        [f"q{q}", c, *(label(m, q, c, j) for m in MODELS for j in judges)] for q in range(2) for c in CLEAR
    ]
    return table(["query_id", "criterion", *columns], rows)


@pytest.mark.parametrize("name", ["{system}__{judge}", "{judge}/{system}"])
def test_systems_times_others_are_told_with_the_mapping_that_reads_them(ws, name):
    """They were read as systems without a word."""
    report = ws.ingest(judged(SIDES, name), "d", name="x.csv")
    (told,) = (n for n in report.notes if "with each of" in n)
    assert f"are read as {len(MODELS) * 2} systems" in told
    back, front = (json.loads(m) for m in re.findall(r"\{\"system\".*?\"\}", told))
    ws.ingest(judged(SIDES, name), "e", mapping=back if name.endswith("{judge}") else front)
    assert read(ws.dataset("e")) == given(SIDES)


@pytest.mark.parametrize("name", ["{system} - {judge}", "{judge} - {system}"])
def test_systems_times_who_is_called_a_judge_are_read_so(ws, name):
    ws.ingest(judged(("rater 1", "rater 2"), name), "d", name="x.csv")
    assert read(ws.dataset("d")) == given(("rater 1", "rater 2"))


def test_models_of_several_sizes_are_no_product_that_is_told_of(ws):
    sizes = [f"{family}-{size}b" for family in ("llama", "qwen") for size in (7, 70)]
    rows = [[f"q{q}", c, *(label(m, q, c) for m in sizes)] for q in range(2) for c in CLEAR]
    report = ws.ingest(table(["query_id", "criterion", *sizes], rows), "d")
    assert set(ws.dataset("d").systems) == set(sizes)
    assert not [n for n in report.notes if "with each of" in n]


def test_criteria_times_raters_are_no_systems(ws):
    columns = [f"{c} - rater {k}" for c in CLEAR for k in (1, 2)]
    rows = [[f"q{q}", c, *(label(q, c, n) for n in range(4))] for q in range(2) for c in ("x", "y")]
    with pytest.raises(IngestError):
        ws.ingest(table(["query_id", "criterion", *columns], rows), "d", name="x.csv")


@pytest.mark.parametrize("name", ["Item", "Item ID"])
def test_items_beside_systems_times_criteria_are_queries(ws, name):
    columns = [f"{m} - {c}" for m in MODELS for c in CLEAR]
    rows = [[f"i{q}", j, *(label(q, j, c) for c in columns)] for q in range(3) for j in ANN]
    ws.ingest(table([name, "Rater", *columns], rows), "d", name="x.csv")
    assert read(ws.dataset("d")) == {
        (m, f"i{q}", f"i{q}#{c}", j, label(q, j, f"{m} - {c}"))
        for q, j, m, c in product(range(3), ANN, MODELS, CLEAR)
    }
