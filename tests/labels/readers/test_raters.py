"""Who judged, where no column is called judge; and rows about the same that an unused column tells apart."""

from __future__ import annotations

import json
import re
from itertools import product

import pytest

from crubric_core.errors import IngestError
from crubric_core.labels.ingest.report import IngestReport
from crubric_core.labels.readers.bundle import plan_ingest
from tests.labels.readers.fuzzing import zipped
from tests.labels.readers.test_layouts import MODELS, bare, label, table
from tests.tiers import crossed

CELLS = [(m, f"q{q}", c) for m in MODELS for q in range(2) for c in ("clear", "tone")]
WHO = ("human", "llm", "expert")


def rated(column, values=WHO, given=label):
    """A row for each cell and each value of one more column, which no name says to be the judge's."""
    return table(
        ["model", "question_id", "criterion", "score", column],
        [[*cell, given(*cell, value), value] for cell in CELLS for value in values],
    )


def warned(report: IngestReport) -> list[str]:
    return [finding.sentence for finding in report.checks if finding.code == "told_apart"]


@pytest.mark.parametrize(
    ("column", "given"),
    crossed(
        [
            "rater_type",
            "Reviewer",
            "Rated by",
            "annotatorEmail",
            "WorkerId",
            "Email Address",
            "_annotator_id",
        ],
        [label, lambda *_: 1],
    ),
)
def test_a_column_named_after_raters_is_the_judge_and_the_report_says_so(ws, column, given):
    report = ws.ingest(rated(column, given=given), "d", name="x.csv")
    assert bare(ws) == {(*cell, who): given(*cell, who) for cell in CELLS for who in WHO}
    assert f"x.csv: the judge is its column {column!r}." in report.notes
    assert not warned(report)


def test_a_column_that_is_called_judge_goes_before_one_of_raters_types(ws):
    content = table(
        ["model", "question_id", "criterion", "score", "judge", "rater_type"],
        [[*cell, 1, who, "human"] for cell in CELLS for who in ("Ann", "Bea")],
    )
    report = ws.ingest(content, "d")
    assert report.columns["judge"] == "judge"
    assert not warned(report)


def test_in_a_wide_table_too_raters_are_judges(ws):
    content = table(
        ["model", "question_id", "rater_type", "clear", "tone"],
        [[m, q, who, label(m, who), label(q, who)] for m in MODELS for q in ("q0", "q1") for who in WHO],
    )
    ws.ingest(content, "d")
    assert ws.dataset("d").judges == tuple(sorted(WHO))


@pytest.mark.parametrize(
    ("column", "given", "remedy"),
    [
        ("source", {}, '({"judge": "source"} or {"run": "source"})'),
        ("session", {"judge": "=o3"}, '({"run": "session"})'),
    ],
)
def test_rows_that_an_unused_column_tells_apart_are_told_with_the_remedy(ws, column, given, remedy):
    agreeing = ws.ingest(rated(column, given=lambda *_: 1), "same", name="x.csv", mapping=given)
    (sentence,) = warned(agreeing)
    assert sentence.startswith(
        f"x.csv: rows of the same cell differ in its column {column!r}, which is not used: "
    )
    assert remedy in sentence
    with pytest.raises(IngestError, match="labels of upload would be lost") as refused:
        ws.ingest(rated(column, given=lambda *key: WHO.index(key[-1])), "other", mapping=given)
    assert remedy in str(refused.value)


def test_the_remedy_works_and_is_no_longer_asked_for(ws):
    report = ws.ingest(rated("source"), "d", mapping={"judge": "source"})
    assert ws.dataset("d").judges == tuple(sorted(WHO))
    assert not warned(report)
    plan = plan_ingest(rated("source"))
    assert plan.files[0].apart == "source"
    mapping = {**plan.files[0].mapping, "judge": "source"}
    assert not warned(
        ws.ingest_plan(plan.changed(plan.files[0].name, mapping=mapping), "planned", rated("source"))
    )


@pytest.mark.parametrize("column", ["latency_ms", "comment", "answer", "normalised", "overall_score"])
def test_what_is_measured_or_said_tells_no_rows_apart(ws, column):
    """Nor do answers and scores, which differ by chance."""
    cell = {"comment": f"{'well said, ' * 8}{{}}", "answer": "yes {}", "normalised": "0.{}7"}.get(
        column, "{}"
    )
    texts = [cell.format(n % 4) for n in range(2 * len(CELLS))]
    rows = [[*cell, 1, texts[2 * n + k]] for n, cell in enumerate(CELLS) for k in (0, 1)]
    content = table(["model", "question_id", "criterion", "score", column], rows)
    assert not warned(ws.ingest(content, "d", mapping={"reason": ""}))


def survey(*rows):
    """A Qualtrics export with its three rows of headers."""
    columns = ["StartDate", "Progress", "ResponseId", "model", "question_id", "Q1_1", "Q1_2"]
    imports = [json.dumps({"ImportId": column}) for column in columns]
    return table(columns, [columns, imports, *(["2026-01-01", 100, *row] for row in rows)])


def test_the_respondents_of_a_survey_are_its_judges_where_they_rate_the_same(ws):
    rows = [[f"R_{k}", m, q, 1, 0] for k in (1, 2) for m in MODELS for q in ("q0", "q1")]
    report = ws.ingest(survey(*rows), "d", name="x.csv")
    assert ws.dataset("d").judges == ("R_1", "R_2")
    assert report.collapsed == 0
    assert "x.csv: the judge is its column 'ResponseId'." in report.notes


def test_responses_that_are_one_a_cell_are_no_judges(ws):
    rows = [[f"R_{m}{q}", m, q, 1, 0] for m in MODELS for q in ("q0", "q1")]
    ws.ingest(survey(*rows), "d")
    assert ws.dataset("d").judges == ("judge",)


def test_the_id_of_a_systems_response_is_no_judge(ws):
    content = table(
        ["model", "question_id", "criterion", "score", "response_id"],
        [[*cell, label(*cell), f"{cell[0]}-{draw}"] for cell in CELLS for draw in (1, 2)],
    )
    report = ws.ingest(content, "d")
    assert ws.dataset("d").judges == ("judge",)
    assert "differ in its column 'response_id'" in warned(report)[0]


SURVEYMONKEY = (
    [
        "Respondent ID",
        "Collector ID",
        "Email Address",
        "Model",
        "Question ID",
        "How good is it?",
        "",
        "Comment",
    ],
    ["", "", "", "Response", "Response", "Clear", "Right", "Open-Ended Response"],
)


def test_the_parts_of_a_question_of_surveymonkey_are_rubrics_and_its_respondents_judges(ws):
    rows = [
        [k, 44, "", m, q, label(m, k), label(q, k), ""] for k in (7, 8) for m in MODELS for q in ("q0", "q1")
    ]
    report = ws.ingest(table(SURVEYMONKEY[0], [SURVEYMONKEY[1], *rows]), "d", name="x.csv")
    assert bare(ws) == {
        (m, q, f"How good is it? - {part}", str(k)): given
        for k in (7, 8)
        for m in MODELS
        for q in ("q0", "q1")
        for part, given in (("Clear", label(m, k)), ("Right", label(q, k)))
    }
    assert (report.accepted, report.rejected) == (24, 0)


def test_rows_below_the_headers_of_surveymonkey_keep_the_numbers_that_a_spreadsheet_shows(ws):
    rows = [[7, 44, "", m, f"q{q}", 1, 0, ""] for m in MODELS for q in range(3)]
    rows[1][5] = "blue"
    report = ws.ingest(table(SURVEYMONKEY[0], [SURVEYMONKEY[1], *rows]), "d", name="x.csv")
    assert "(row 4, column" in report.rejects["reason"].item()


def test_a_blank_respondent_in_another_table_is_a_row_and_no_header(ws):
    rows = [["", "", m, "q0", 1] for m in MODELS]
    report = ws.ingest(table(["Respondent", "Collector ID", "model", "question_id", "score"], rows), "d")
    assert report.accepted == len(MODELS)


def answers(**columns):
    """A wide table of two rubrics, with columns that say what each answer is about: name → value of (system, query)."""
    rows = [
        [m, *(value(m, q) for value in columns.values()), 1, label(m, q)] for m in MODELS for q in range(3)
    ]
    return table(["model", *columns, "clear", "tone"], rows)


def of_one_answer(m, q):
    return f"{m}-{q}"


def of_one_prompt(_, q):
    return f"Why {q}?"


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"task_id": of_one_answer, "prompt": of_one_prompt}, True),
        ({"task_id": of_one_prompt, "prompt": of_one_answer}, False),
        ({"task_id": of_one_answer, "prompt": of_one_answer}, False),
        ({"task_id": of_one_answer, "note": of_one_prompt}, False),
    ],
)
def test_a_query_that_no_two_systems_share_is_told_where_another_column_is_shared(ws, columns, told):
    report = ws.ingest(answers(**columns), "d", name="x.csv")
    assert report.columns["query"] == "task_id"
    assert any('map it ({"query": "prompt"})' in note for note in report.notes) is told


@pytest.mark.parametrize("blank", [0, 3], ids=["all named", "some blank"])
def test_a_rater_who_comes_after_the_rows_that_are_looked_into_is_a_judge(ws, blank):
    """One letter in every one of the first 200 rows looked like a grade, and two raters were merged."""
    cells = [(m, f"q{q}") for q in range(150) for m in MODELS]
    rows = [[*cell, label(*cell), label(*cell, 1), "A" if n >= blank else ""] for n, cell in enumerate(cells)]
    rows += [[*cell, label(*cell, 2), label(*cell, 3), "B"] for cell in cells[-60:]]
    ws.ingest(table(["model", "question", "clear", "tone", "coder"], rows), "d")
    found = ws.dataset("d")
    assert found.judges == ("A", "B")
    assert len(found.labels()) == 2 * (len(rows) - blank)
    assert {r.split("#")[-1] for r in found.rubrics["rubric"]} == {"clear", "tone"}


def test_a_second_rater_who_comes_later_in_a_column_without_a_name_is_asked_about(ws):
    cells = [(m, f"q{q}") for q in range(90) for m in MODELS]
    rows = [[who, *cell, label(*cell, who), label(*cell)] for who in ("ann", "joe") for cell in cells]
    content = table(["", "model", "question", "clear", "tone"], rows)
    with pytest.raises(IngestError, match="rows of the same cell differ in its column 'column 1'") as told:
        ws.ingest(content, "d", name="x.csv")
    assert '{"judge": "column 1"}' in str(told.value)


def test_tables_whose_ids_are_equal_by_chance_are_not_put_together(ws):
    """Of two benchmarks that number their questions alike, the labels that agree had been kept, once each."""
    rows = [[d, m, q, "clear", label(d, m, q)] for d in ("math", "code") for m in MODELS for q in range(12)]
    heads = ["dataset", "model", "question_id", "criterion", "score"]
    with pytest.raises(IngestError, match=r"would be lost.*its column 'dataset'"):
        ws.ingest(table(heads, rows), "d")
    files = {f"{d}.csv": table(heads[1:], [r[1:] for r in rows if r[0] == d]) for d in ("math", "code")}
    with pytest.raises(IngestError, match=r"would be lost.*they are in different files"):
        ws.ingest(zipped(files), "d", name="both.zip", mapping={"judge": "=o3"})
    again = {"first.csv": files["math.csv"], "copy.csv": files["math.csv"]}
    ws.ingest(zipped(again), "d", name="both.zip", mapping={"judge": "=o3"})
    assert ws.dataset("d").counts()["labels"] == 12 * len(MODELS)
    some = [[*r[1:4], 1 - r[4] if r[2] == 0 else r[4]] for r in rows if r[0] == "math"]
    corrected = {"first.csv": files["math.csv"], "corrected.csv": table(heads[1:], some)}
    report = ws.ingest(zipped(corrected), "e", name="both.zip", mapping={"judge": "=o3"})
    assert report.rejected == 2 * len(MODELS)


def answers_in_languages(one_row=False):
    """Two systems answer two queries in two languages, each rated by two people of its own."""
    rows = [
        [m, q, lang, f"{m} {q} {lang}{w if one_row else ''}", f"{lang} {w}", label(m, q, lang, w), label(m, w)]
        for m in MODELS for q in ("q0", "q1") for lang in ("en", "fr") for w in (1, 2)
    ]  # fmt: skip
    return table(["model", "question_id", "language", "response_id", "rater", "clear", "tone"], rows)


def test_several_answers_to_one_query_are_asked_about_though_nobody_rates_two(ws):
    """Raters of different answers had been compared as if they had rated the same."""
    with pytest.raises(
        IngestError, match="by its column 'response_id', a system has several answers to one query"
    ) as told:
        ws.ingest(answers_in_languages(), "d", name="x.csv")
    different, draws = map(json.loads, re.findall(r"\{.*?\}", str(told.value)))
    assert (different, draws) == ({"query": "question_id + language"}, {"run": "response_id"})
    ws.ingest(answers_in_languages(), "d", mapping=different)
    assert set(ws.dataset("d").queries["query"]) == {f"q{q}/{lang}" for q in (0, 1) for lang in ("en", "fr")}
    ws.ingest(answers_in_languages(), "draws", mapping=draws)
    assert set(ws.dataset("draws").queries["query"]) == {"q0", "q1"}
    (file,) = plan_ingest(answers_in_languages(), strict=False).files
    assert any("has several answers to one query" in remark for remark in file.remarks)


def test_an_id_of_what_one_person_judged_tells_no_answers_apart(ws):
    rows = [
        [m, q, f"{m} {q} {w}", c, w, label(m, q, c, w)]
        for m in MODELS
        for q in ("q0", "q1")
        for w in WHO
        for c in ("clear", "tone")
    ]
    content = table(["model", "question_id", "response_id", "criterion", "rater", "score"], rows)
    ws.ingest(content, "d")
    assert set(ws.dataset("d").queries["query"]) == {"q0", "q1"}


def test_an_id_of_each_row_tells_no_answers_apart(ws):
    ws.ingest(answers_in_languages(one_row=True), "d")
    assert set(ws.dataset("d").queries["query"]) == {"q0", "q1"}


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        (["model", "query_id", "criterion", "label"], "differ in its column 'temperature'"),
        (["model", "query_id", "score"], '"system": "model + temperature"'),
        (["query_id", "criterion", "label"], "they differ in 'temperature'"),
    ],
)
def test_a_temperature_that_tells_rows_apart_is_named_and_no_rater(ws, columns, told):
    """Its numbers were taken for scores, so that nothing said why rows contradict each other."""
    cells = {
        "model": ("gpt-4o", "claude-3"),
        "query_id": ("q1", "q2", "q3", "q4"),
        "criterion": ("tone", "wit"),
    }
    keys = [c for c in columns if c in cells]
    rows = [
        [*about, t, 1 + (n + k) % 3]
        for n, about in enumerate(product(*(cells[c] for c in keys)))
        for k, t in enumerate((0, 0.7))
    ]
    with pytest.raises(IngestError) as refused:
        ws.ingest(table([*keys, "temperature", columns[-1]], rows), "d", name="x.csv")
    assert told in str(refused.value)
    assert '"judge": "temperature"' not in str(refused.value)
