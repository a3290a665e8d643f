"""A table of labels may say in each row what its queries, rubrics and answers are: that is read with it."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import pandas as pd
import pytest

from crubric_core.errors import IngestError
from crubric_core.labels import Workspace
from crubric_core.labels.readers.bundle import plan_ingest
from crubric_core.labels.readers.plan import Plan

HEADER = (
    *("prompt_id", "prompt", "topic", "model", "response", "criterion_id", "criterion", "axis", "points"),
    *("judge", "score"),
)


@pytest.fixture
def ws():
    with Workspace() as workspace:
        yield workspace


def rows(systems=3, queries=4):
    """One row a label: two rubrics and two judges of each answer; the second rubric is bad to meet."""
    return [
        dict(
            zip(
                HEADER,
                (
                    *(f"p{q}", f"What is {q}?", "law" if q < 2 else "tax", f"m{s}", f"Answer {s} to {q}"),
                    *(f"c{r}", f"Mentions {q}.{r}", ("facts", "harm")[r], (3, -2)[r]),
                    *(f"j{k}", (s + q + r + k) % 2),
                ),
                strict=True,
            )
        )
        for s in range(systems)
        for q in range(queries)
        for r in range(2)
        for k in range(2)
    ]


def flat(table, name="flat.csv"):
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(table[0]))
    writer.writeheader()
    writer.writerows(table)
    return name, text.getvalue().encode()


def test_a_flat_table_describes_its_queries_rubrics_and_answers(ws):
    report = ws.ingest(flat(rows()), "d")
    data = ws.dataset("d")
    assert (report.kind, report.accepted, report.rejected) == ("labels", 48, 0)
    assert {part.kind: part.accepted for part in report.parts} == {
        "queries": 4,
        "rubrics": 8,
        "labels": 48,
        "answers": 12,
    }
    rubric = data.rubrics[(data.rubrics["query"] == "p3") & (data.rubrics["weight"] < 0)].iloc[0]
    assert rubric[["text", "dimension", "weight", "polarity"]].tolist() == ["Mentions 3.1", "harm", -2, -1]
    query = data.queries.set_index("query").loc["p3"]
    assert query[["text", "domain"]].tolist() == ["What is 3?", "tax"]
    assert data.answers("m2", "p3")["text"].tolist() == ["Answer 2 to 3"]
    assert not any(note.startswith("Not used") for note in report.notes)
    assert (
        "flat.csv: each row's descriptions are read, too: text from 'prompt', domain from 'topic' of the queries; text "
        "from 'criterion', weight from 'points', dimension from 'axis' of the rubrics; text from 'response' of the "
        "answers."
    ) in report.notes


def test_it_gives_what_tables_of_their_own_give(ws):
    ws.ingest(flat(rows()), "flat")
    labels = [{k: r[k] for k in ("prompt_id", "model", "criterion_id", "judge", "score")} for r in rows()]
    rubrics = {
        (r["prompt_id"], r["criterion_id"]): {
            "query": r["prompt_id"],
            "rubric": r["criterion_id"],
            "text": r["criterion"],
            "dimension": r["axis"],
            "weight": r["points"],
        }
        for r in rows()
    }
    queries = {
        r["prompt_id"]: {"query": r["prompt_id"], "text": r["prompt"], "domain": r["topic"]} for r in rows()
    }
    answers = {
        (r["model"], r["prompt_id"]): {
            "system": r["model"],
            "query": r["prompt_id"],
            "text": r["response"],
        }
        for r in rows()
    }
    apart = [
        flat(list(answers.values()), "answers.csv"),
        flat(labels, "labels.csv"),
        flat(list(rubrics.values()), "rubrics.csv"),
        flat(list(queries.values()), "queries.csv"),
    ]
    ws.ingest(apart, "apart")
    one, other = ws.dataset("flat"), ws.dataset("apart")
    assert one.rubrics.equals(other.rubrics)
    assert one.queries.equals(other.queries)
    assert one.answers().equals(other.answers())
    assert one.fingerprint == other.fingerprint


def test_a_column_that_says_two_things_of_one_is_not_used_in_the_first_rows(ws):
    table = [{**r, "topic": f"{r['topic']} by {r['judge']}"} for r in rows()]
    report = ws.ingest(flat(table), "d")
    assert report.rejected == 0
    assert ws.dataset("d").queries["domain"].isna().all()
    assert "Not used of flat.csv: topic." in report.notes


def test_a_column_that_later_rows_contradict_is_left_out_and_said(ws):
    table = rows(systems=30)
    table[300]["topic"] = "sports"
    report = ws.ingest(flat(table), "d")
    queries = next(part for part in report.parts if part.kind == "queries")
    assert ws.dataset("d").queries["domain"].isna().all()
    assert ws.dataset("d").queries["text"].notna().all()
    assert queries.rejects.to_dict("records") == [
        {
            "row": 302,
            "column": "domain",
            "value": "sports",
            "reason": f"contradicts row {2 + 4 * (300 % 16 // 4)} about the same query: nothing is taken from the "
            "column 'topic'",
            "file": None,
        }
    ]
    assert (report.accepted, report.rejected) == (len(table), 0)
    assert "Rows rejected: 1 of flat.csv (queries)." in report.notes


def test_blank_cells_contradict_nothing(ws):
    table = [{**r, "topic": "" if i % 3 else r["topic"]} for i, r in enumerate(rows())]
    ws.ingest(flat(table), "d")
    assert ws.dataset("d").queries["domain"].tolist() == ["law", "law", "tax", "tax"]


def test_a_table_of_its_own_goes_before_the_rows(ws):
    own = flat(
        [{"query": f"p{q}", "rubric": f"c{r}", "text": "Own"} for q in range(4) for r in range(2)],
        "rubrics.csv",
    )
    report = ws.ingest([flat(rows()), own], "d")
    assert set(ws.dataset("d").rubrics["text"]) == {"Own"}
    assert ws.dataset("d").queries["text"].notna().all()
    assert "Not used of flat.csv: criterion, axis, points." in report.notes
    assert not any(part.rejected for part in report.parts)


def answered(**columns):
    """One row an answer of three systems to ten prompts, with further columns: name → value of the row's number."""
    table = [
        {"system": f"m{i % 3}", "prompt": f"What is {i // 3}?", "response": f"Answer number {i} in full"}
        | {name: value(i) for name, value in columns.items()}
        for i in range(30)
    ]
    return flat(table, "answers.csv")


@pytest.mark.parametrize(
    ("columns", "rubrics"),
    [
        ({"score": lambda i: 1 + i % 5}, {"score"}),
        ({"clarity": lambda i: 1 + i % 5, "tone": lambda i: 1 + i * 7 % 5}, {"clarity", "tone"}),
    ],
    ids=["one score", "criteria"],
)
def test_labels_beside_answers_are_labels_of_a_table_that_names_no_rubric(ws, columns, rubrics):
    report = ws.ingest_plan(plan_ingest(answered(**columns)), "d", answered(**columns))
    data = ws.dataset("d")
    assert report.kind == "labels"
    assert (len(data.labels()), report.rejected) == (30 * len(columns), 0)
    assert set(data.rubrics["criterion"]) == rubrics
    assert data.answers("m2", "What is 3?")["text"].tolist() == ["Answer number 11 in full"]


@pytest.mark.parametrize(
    "columns",
    [
        {},
        {"tokens": lambda i: 137 + 13 * i, "latency_ms": lambda i: 1200 + 77 * i},
        {"seed": lambda i: i % 4, "temperature": lambda i: 0.7},
        {"turn": lambda i: 1 + i % 2},
        {"temperature": lambda i: i % 2, "top_k": lambda i: i % 3, "retries": lambda i: i % 3},
        {"num_shots": lambda i: i % 3, "difficulty": lambda i: 1 + i % 3, "truncated": lambda i: i % 2},
    ],
    ids=lambda columns: ", ".join(columns) or "nothing else",
)
def test_what_a_system_needed_for_its_answers_is_no_label_of_them(columns):
    (file,) = plan_ingest(answered(**columns)).files
    assert (file.kind, file.unused) == ("answers", tuple(columns))


def test_the_plan_can_be_told_to_leave_them_out(ws):
    source = flat(rows())
    plan = plan_ingest(source)
    assert set(plan.files[0].described) == {"queries", "rubrics", "answers"}
    kept = Plan.from_json(plan.to_json())
    assert kept == plan
    bare = plan.changed("flat.csv", described={"queries": {"text": "prompt"}})
    ws.ingest_plan(bare, "d", source)
    assert ws.dataset("d").rubrics["text"].isna().all()
    assert ws.dataset("d").queries[["text", "domain"]].iloc[0].tolist() == ["What is 0?", None]


def test_a_column_that_is_mapped_describes_nothing(ws):
    source = flat(rows())
    plan = plan_ingest(source)
    mapping = {**plan.files[0].mapping, "rubric": "criterion"}
    ws.ingest_plan(replace(plan, files=(replace(plan.files[0], mapping=mapping),)), "d", source)
    found = ws.dataset("d").rubrics
    assert "Mentions 0.0" in set(found["rubric"])
    assert found["text"].isna().all()
    assert found["dimension"].notna().all()


@pytest.mark.parametrize(("column", "kind"), [("points", "rubrics"), ("topic", "queries")])
def test_numbers_are_numbers_and_texts_are_texts(ws, column, kind):
    """A weight in words is no weight; a domain may be a number."""
    said = {"points": "high", "topic": "7"}[column]
    ws.ingest(flat([{**r, column: said} for r in rows()]), "d")
    data = ws.dataset("d")
    assert data.rubrics["weight"].isna().all() if kind == "rubrics" else set(data.queries["domain"]) == {"7"}


def test_rows_without_a_rubric_are_rejected_once(ws):
    table = rows()
    table[5]["criterion_id"] = ""
    report = ws.ingest(flat(table), "d")
    assert [(p.kind, p.rejected) for p in report.parts if p.rejected] == [("labels", 1)]


def test_an_ingest_that_is_undone_takes_its_descriptions_along(ws):
    ws.ingest(flat(rows(queries=2)), "d")
    ws.ingest(flat([{**r, "prompt_id": "later"} for r in rows(queries=1)], "more.csv"), "d")
    assert "later" in set(ws.dataset("d").queries["query"])
    ws.undo("d")
    assert set(ws.dataset("d").queries["query"]) == {"p0", "p1"}


def test_the_order_of_the_rows_changes_nothing(ws):
    ws.ingest(flat(rows()), "d")
    ws.ingest(flat(rows()[::-1]), "e")
    assert ws.dataset("d").fingerprint == ws.dataset("e").fingerprint
    assert ws.dataset("d").rubrics.equals(ws.dataset("e").rubrics)


def test_of_an_id_and_a_name_of_the_same_thing_the_id_names_it(ws):
    table = [{("criterion_name" if k == "criterion" else k): v for k, v in r.items()} for r in rows()]
    assert ws.ingest(flat(table), "d").columns["rubric"] == "criterion_id"


def test_ids_that_no_two_systems_share_are_of_the_labels_and_the_text_names_the_rubric(ws):
    table = [{**r, "criterion_id": f"{i:04}"} for i, r in enumerate(rows())]
    report = ws.ingest(flat(table), "d")
    assert report.columns["rubric"] == "criterion"
    assert len(ws.dataset("d").rubrics) == 8


def test_a_reference_is_no_answer(ws):
    """A column called answer that is the same for all systems is the right one."""
    table = [{**r, "answer": f"Right {r['prompt_id']}"} for r in rows()]
    ws.ingest(flat(table), "both")
    assert set(ws.dataset("both").answers("m2", "p3")["text"]) == {"Answer 2 to 3"}
    report = ws.ingest(flat([{k: v for k, v in r.items() if k != "response"} for r in table]), "reference")
    assert ws.dataset("reference").answers().empty
    assert "Not used of flat.csv: answer." in report.notes


def test_a_column_called_answer_that_differs_by_system_is_the_answer(ws):
    ws.ingest(flat([{("answer" if k == "response" else k): v for k, v in r.items()} for r in rows()]), "d")
    assert ws.dataset("d").answers("m2", "p3")["text"].tolist() == ["Answer 2 to 3"]


def test_a_reference_that_only_later_rows_show_is_left_out_and_said(ws):
    table = [{**r, "response": f"Right {r['prompt_id']}"} for r in rows(queries=60)]
    report = ws.ingest(flat(table), "d")
    answers = next(part for part in report.parts if part.kind == "answers")
    assert (report.rejected, answers.accepted, ws.dataset("d").answers().empty) == (0, 0, True)
    assert answers.rejects["reason"].tolist() == [
        "is the same for all systems: nothing is taken from the column 'response'"
    ]


def test_answers_that_later_rows_contradict_are_left_out(ws):
    table = rows(systems=30)
    table[300]["response"] = "Another"
    report = ws.ingest(flat(table), "d")
    assert (report.accepted, ws.dataset("d").answers().empty) == (len(table), True)


@pytest.mark.parametrize("text", ["What {prompt_id} is about", "Rate from 1 to 5"])
def test_a_text_that_tells_no_rubrics_of_a_query_apart_makes_them_no_single_criterion(ws, text):
    """Rubrics of one text share a scale: of rubric c1 alone are labels 4 and 5."""
    table = [
        {**r, "criterion": text.format(**r), "score": r["score"] + 4 * int(r["criterion_id"] == "c1")}
        for r in rows()
    ]
    report = ws.ingest(flat(table), "d")
    found = ws.dataset("d").rubrics
    assert found["text"].isna().all()
    assert found.groupby("criterion")["scale_max"].first().to_dict() == {"c0": 1, "c1": 5}
    assert "Not used of flat.csv: criterion." in report.notes


def test_of_two_columns_of_the_query_the_one_that_differs_is_its_text(ws):
    table = [{**r, "instruction": "You help.", "input": r["prompt"], "prompt": ""} for r in rows()]
    ws.ingest(flat(table), "d")
    assert set(ws.dataset("d").queries["text"]) == {f"What is {q}?" for q in range(4)}


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("max_score", (10, 10)),  # of verdicts
        ("passing_score", (7, 7)),
        ("points", (0, 5)),  # awarded
        ("points", (0, 1)),
    ],
)
def test_numbers_that_do_not_suit_the_labels_are_no_scale_and_no_weight(ws, column, values):
    """Of one system, where nothing contradicts them."""
    table = [{**r, "points": "", column: values[r["score"]]} for r in rows(systems=1) if r["judge"] == "j0"]
    report = ws.ingest(flat(table), "d")
    found = ws.dataset("d").rubrics
    assert found["weight"].isna().all()
    assert set(zip(found["scale_max"], found["pass_mark"], strict=True)) == {(1, 1)}
    assert any(column in note for note in report.notes if note.startswith("Not used"))


def test_a_highest_score_that_labels_exceed_is_the_highest_given(ws):
    table = [{**r, "score": 1 + i % 5, "min_score": 1, "max_score": 3} for i, r in enumerate(rows())]
    report = ws.ingest(flat(table), "d")
    assert report.rejected == 0
    assert set(ws.dataset("d").rubrics["scale_source"]) == {"inferred"}


@pytest.mark.parametrize("name", ["max_score", "points_possible", "max_marks", "out_of"])
def test_a_highest_score_that_suits_the_labels_is_the_scale(ws, name):
    table = [{**r, "score": i % 4, "min_score": "0", name: "5.0"} for i, r in enumerate(rows())]
    ws.ingest(flat(table), "d")
    assert set(ws.dataset("d").rubrics["scale_max"]) == {5}


@pytest.mark.parametrize(
    ("column", "value"), [("pass_threshold", "0.5"), ("omega", "-1"), ("max_score", 1e9)]
)
def test_a_number_that_cannot_stand_refuses_no_file(ws, column, value):
    report = ws.ingest(flat([{**r, column: value} for r in rows()]), "d")
    assert (report.accepted, report.rejected) == (48, 0)
    assert ws.dataset("d").rubrics["text"].notna().all()


def test_a_number_that_later_rows_show_to_be_none_is_left_out_alone(ws):
    table = rows(systems=30)
    table[300]["points"] = "high"
    report = ws.ingest(flat(table), "d")
    rubrics = next(part for part in report.parts if part.kind == "rubrics")
    found = ws.dataset("d").rubrics
    assert (found["weight"].isna().all(), found["text"].notna().all()) == (True, True)
    assert rubrics.rejects["reason"].tolist() == [
        "high is not a number: nothing is taken from the column 'points'"
    ]


def test_one_number_written_in_two_ways_contradicts_nothing(ws):
    table = [
        {**r, "points": r["points"] if i % 2 else f"{r['points']}.0"} for i, r in enumerate(rows(systems=30))
    ]
    ws.ingest(flat(table), "d")
    assert set(ws.dataset("d").rubrics["weight"]) == {3, -2}


def test_words_for_nothing_are_blank(ws):
    """Beyond the first rows, too: the first 200 rows are blank."""
    table = [
        {**r, "criterion": "n/a", "topic": "None", "points": "NaN"} if i < 200 else r
        for i, r in enumerate(rows(systems=30))
    ]
    table[0] |= {k: rows()[0][k] for k in ("criterion", "topic", "points")}
    report = ws.ingest(flat(table), "d")
    data = ws.dataset("d")
    assert not any(part.rejected for part in report.parts)
    assert data.rubrics[["text", "weight"]].notna().all(axis=None)
    assert data.queries["domain"].tolist() == ["law", "law", "tax", "tax"]


def test_an_answer_is_kept_as_it_stands(ws):
    ws.ingest(flat([{**r, "response": f"    code {r['model']}\n"} for r in rows()]), "d")
    assert ws.dataset("d").answers("m1", "p0")["text"].tolist() == ["    code m1\n"]


def test_files_that_contradict_each_other_are_read_without_that_column(ws):
    """One file a system: none contradicts itself."""
    table = [{**r, "topic": f"{r['topic']} of {r['model']}"} for r in rows()]
    files = [flat([r for r in table if r["model"] == m], f"{m}.csv") for m in ("m0", "m1", "m2")]
    report = ws.ingest(files, "d")
    queries = next(part for part in report.parts if part.kind == "queries")
    assert (report.accepted, report.rejected) == (48, 0)
    assert ws.dataset("d").queries["domain"].isna().all()
    assert ws.dataset("d").queries["text"].notna().all()
    assert queries.rejects[["file", "row", "reason"]].values.tolist() == [
        [
            "m1.csv",
            2,
            "contradicts row 2 of m0.csv about the same query: nothing is taken from the column 'topic'",
        ]
    ]


def test_how_rows_are_split_into_files_changes_nothing(ws):
    ws.ingest(flat(rows()), "one")
    ws.ingest([flat([r for r in rows() if r["model"] == m], f"{m}.csv") for m in ("m2", "m0", "m1")], "three")
    assert ws.dataset("one").fingerprint == ws.dataset("three").fingerprint
    assert ws.dataset("one").answers().equals(ws.dataset("three").answers())


def test_descriptions_that_contradict_an_earlier_ingest_refuse_no_labels(ws):
    ws.ingest(flat(rows()), "d")
    later = [{**r, "model": f"new {r['model']}", "criterion": "Other " + r["criterion"]} for r in rows()]
    report = ws.ingest(flat(later, "later.csv"), "d")
    assert (report.accepted, report.rejected) == (48, 0)
    assert ws.dataset("d").rubrics["text"].str.startswith("Mentions").all()
    assert "Rows rejected: 8 of later.csv (rubrics)." in report.notes


def test_labels_that_name_no_query_are_read_beside_texts_of_queries(ws):
    table = [{**r, "prompt_id": ""} for r in rows(queries=1)]
    assert ws.ingest(flat(table), "d").accepted == 12


@pytest.mark.parametrize(
    ("described", "why"),
    [
        ({"gold": {"label": "points"}}, "describes 'gold'"),
        ({"rubrics": {"text": ("criterion", "topic")}}, "from several columns: name one"),
    ],
)
def test_a_plan_that_describes_what_cannot_be_is_refused(ws, described, why):
    source = flat(rows())
    plan = plan_ingest(source).changed("flat.csv", described=described)
    with pytest.raises(IngestError, match=why):
        ws.ingest_plan(plan, "d", source)


def test_a_column_that_is_mapped_is_not_told_as_a_description(ws):
    source = flat(rows())
    plan = plan_ingest(source).changed("flat.csv", described={"rubrics": {"text": "criterion_id"}})
    assert not any("descriptions" in note for note in ws.ingest_plan(plan, "d", source).notes)


LEVELS = {f"score{level}_description": f"level {level}" for level in range(1, 6)}


@pytest.mark.parametrize("keyed", [False, True])
def test_a_column_for_each_level_gives_the_scale(ws, keyed):
    """As BiGGen-Bench writes it; a rubric whose systems all had 1 was on a scale of 0 to 1, and met."""
    records = [
        {
            "model": m,
            "prompt_id": f"p{q}",
            "score_rubric": {"criteria": f"good {q}?", **LEVELS},
            "score": 1 + (q * k) % 3,
        }
        for q in range(4)
        for k, m in enumerate(("a", "b", "c"))
    ]
    mapping = {"system": "model", "query": "prompt_id", "rubric": "score_rubric.criteria", "label": "score"}
    content: object = records
    if keyed:
        content = {f"id {n}": record for n, record in enumerate(records)}
        mapping = {c: f"{{}}.{v}" for c, v in mapping.items()}
    report = ws.ingest(json.dumps(content).encode(), "d", name="x.json", mapping=mapping)
    rubrics = ws.dataset("d").rubrics
    assert set(zip(rubrics["scale_min"], rubrics["scale_max"], rubrics["scale_source"], strict=True)) == {
        (1, 5, "given")
    }
    assert any("scale_min 1, scale_max 5 of the rubrics" in note for note in report.notes)


@pytest.mark.parametrize(
    ("labels", "filled"), [((0, 1, 2, 3, 4), 5), ((1, 2, 3, 6, 7), 5), ((1, 2, 3, 4, 5), 2)]
)
def test_levels_that_some_rows_lack_or_labels_exceed_give_no_scale(ws, labels, filled):
    """Of two criteria with scales of their own each fills the columns of its levels."""
    levels = {f"score{k}_description": "x" if k <= filled else "" for k in range(1, 6)}
    rows = [
        {"model": m, "prompt_id": "p", "criterion": f"c{k}", "score": labels[k], **(levels if k else LEVELS)}
        for k in range(5)
        for m in "ab"
    ]
    ws.ingest(pd.DataFrame(rows).to_csv(index=False).encode(), "d")
    assert set(ws.dataset("d").rubrics["scale_source"]) == {"inferred"}
    assert len(ws.dataset("d").labels()) == len(rows)


def test_columns_of_few_or_scattered_levels_give_no_scale(ws):
    for n, names in enumerate((["score3_description"], ["score1_description", "score5_description"])):
        rows = [
            {"model": m, "prompt_id": "p", "criterion": "good", "score": 1 + k, **dict.fromkeys(names, "x")}
            for k, m in enumerate("abc")
        ]
        ws.ingest(pd.DataFrame(rows).to_csv(index=False).encode(), f"d{n}")
        assert set(ws.dataset(f"d{n}").rubrics["scale_source"]) == {"inferred"}


def test_a_weight_within_lists_may_be_mapped_by_its_path(ws):
    """It was offered as a column beside the one of the mapping, and refused as if the file had it twice."""
    record = {
        "id": "q",
        "criterions": {"depth": [{"criterion": "deep", "weight": 0.5}, {"criterion": "wide", "weight": 2}]},
    }
    home = "criterions{}[]"
    mapping = {
        "query": "id",
        "rubric": f"{home}.criterion",
        "dimension": "criterions{}.#",
        "weight": f"{home}.weight",
    }
    ws.ingest(json.dumps([record]).encode(), "d", "rubrics", mapping=mapping)
    found = ws.dataset("d").rubrics.set_index("rubric")
    assert found["weight"].to_dict() == {"deep": 0.5, "wide": 2}
    assert set(found["dimension"]) == {"depth"}
