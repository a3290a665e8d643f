"""A column that only says in other words what another one says is no rubric of its own, and that is told."""

from __future__ import annotations

import pytest

from tests.labels.readers.test_layouts import label, table

MODELS, QUERIES = ("gpt-4o", "claude-3-opus"), [f"q{n}" for n in range(8)]


def read(ws, columns, cells, name="d"):
    """The report on a table with the ``cells`` of two criteria in each row, and the names of its rubrics."""
    rows = [
        [m, q, *cells((i + n) % 2, n // 2 % 2)] for i, m in enumerate(MODELS) for n, q in enumerate(QUERIES)
    ]
    report = ws.ingest(table(["model", "query_id", *columns], rows), name)
    return report, set(ws.dataset(name).rubrics["criterion"])


@pytest.mark.parametrize(
    ("columns", "kept"),
    [
        (["tone", "tone_passed", "wit", "wit_passed"], {"tone", "wit"}),
        (["tone", "tone_result", "wit", "wit_result"], {"tone", "wit"}),
        (["tone_score", "tone_pass", "wit_score", "wit_pass"], {"tone", "wit"}),
        (["annotation_tone_score", "annotation_tone_label", "annotation_wit_score", "annotation_wit_label"],
         {"annotation_tone", "annotation_wit"}),
        (["eval.tone.score", "eval.tone.label", "eval.wit.score", "eval.wit.label"], {"eval.tone", "eval.wit"}),
        (["Points: Tone", "Rating: Tone", "Points: Wit", "Rating: Wit"], {"Points: Tone", "Points: Wit"}),
    ],
)  # fmt: skip
def test_whether_a_score_passes_is_no_rubric_beside_it(ws, columns, kept):
    words = ("fail", "pass")
    report, rubrics = read(ws, columns, lambda a, b: (a, words[a], b, words[b]))
    assert rubrics == kept
    told = " ".join(report.notes)
    assert f"{columns[1]!r} and {columns[3]!r} follow from {columns[0]!r} and {columns[2]!r}" in told
    assert "are judges, give" not in told


def test_whether_the_only_score_passes_is_told(ws):
    report, rubrics = read(ws, ["tone", "tone_passed"], lambda a, _: (a, a))
    assert len(rubrics) == 0 or rubrics == {"tone"}
    assert any(
        "'tone_passed' follows from 'tone' in all of the first rows, and is not used" in note
        for note in report.notes
    )


def test_what_does_not_follow_a_score_in_all_rows_is_a_rubric(ws):
    columns = ["tone", "tone_result", "wit"]
    assert read(ws, columns, lambda a, b: (a, b, a))[1] == set(columns)
    rows = [[m, q, None if q == "q0" else 1, 1, label(m, q)] for m in MODELS for q in QUERIES]
    ws.ingest(table(["model", "query_id", *columns], rows), "blank")
    assert set(ws.dataset("blank").rubrics["criterion"]) == set(columns)


def test_the_explanation_of_a_score_and_its_label_is_the_reason(ws):
    columns = ["annotation_tone_label", "annotation_tone_score", "annotation_tone_explanation", "wit"]
    report, _ = read(ws, columns, lambda a, b: (("bad", "good")[a], a, "as it is so", b))
    assert any("the reasons are read from 'annotation_tone_explanation'" in note for note in report.notes)


def test_pass_at_one_beside_what_it_repeats_is_no_rubric_and_equal_columns_are_told(ws):
    """It counted twice."""
    rows = [
        [m, f"q{q}", str(bool(v)).lower(), float(v), v, (q + i) % 2]
        for i, m in enumerate(("gpt-4o", "claude-3-opus"))
        for q in range(8)
        for v in [(q // 2 + i) % 2]
    ]
    data = table(["model", "task_id", "correct", "pass@1", "complete", "clear"], rows)
    report = ws.ingest(data, "d", name="x.csv")
    assert set(ws.dataset("d").rubrics["criterion"]) == {"correct", "complete", "clear"}
    assert any("'pass@1' follows" in note for note in report.notes)
    equal = [[*row[:4], row[4], row[4]] for row in rows]
    data = table(["model", "task_id", "correct", "pass@1", "complete", "clear"], equal)
    report = ws.ingest(data, "e", name="x.csv")
    assert any("'clear' holds the same as 'complete'" in note for note in report.notes)


def test_pass_at_one_that_differs_from_what_stands_beside_it_is_a_rubric(ws):
    rows = [
        [m, f"q{q}", q % 2, (q + i) % 2] for i, m in enumerate(("gpt-4o", "claude-3-opus")) for q in range(8)
    ]
    ws.ingest(table(["model", "task_id", "correct", "pass@1"], rows), "d", name="x.csv")
    assert set(ws.dataset("d").rubrics["criterion"]) == {"correct", "pass@1"}
