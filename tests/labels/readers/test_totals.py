"""A column that is the sum or the mean of the others is no rubric, whatever it is called, and that is told."""

from __future__ import annotations

import pytest

from tests.labels.readers.test_layouts import lines, table

MODELS, QUERIES = ("gpt-4o", "claude-3-opus"), range(8)


def read(ws, columns, total, name="d"):
    """The report on a table of three criteria and a ``total`` of them in each row, and the names of its rubrics."""
    rows = [
        [m, f"q{q}", *parts, total(parts)]
        for i, m in enumerate(MODELS)
        for q in QUERIES
        for parts in [(1 + (q + i) % 5, 1 + (q * 2 + i) % 5, 1 + (q * q + i) % 4)]
    ]
    report = ws.ingest(table(["model", "query_id", *columns], rows), name)
    return report, set(ws.dataset(name).rubrics["criterion"])


TOTALS = (
    "Overall score,Composite,Aggregate,Weighted score,Gesamtnote,Gesamtpunktzahl,Note globale,Note totale,"
    "Punteggio totale,总分,综合得分,综合评分,合計,総合評価,총점,Итого,score"
)


@pytest.mark.parametrize("name", TOTALS.split(","))
@pytest.mark.parametrize(("total", "what"), [(sum, "sum"), (lambda parts: round(sum(parts) / 3), "mean")])
def test_what_sums_up_the_criteria_is_none(ws, name, total, what):
    report, rubrics = read(ws, ["clarity", "tone", "depth", name], total)
    assert rubrics == {"clarity", "tone", "depth"}
    told = (
        f"{name!r} is the {what} of other columns",
        f"{name!r} is not used, because its name says that it sums up",
    )
    assert any(sentence in note for sentence in told for note in report.notes)


def test_a_verdict_that_holds_where_one_of_others_does_is_a_criterion(ws):
    """It is their sum in all rows, of which no two hold at once, and never more than one of them."""
    rows = [
        [m, f"q{q}", first, second, first + second]
        for i, m in enumerate(MODELS)
        for q in QUERIES
        for first, second in [[(1, 0), (0, 1), (0, 0)][(q + i) % 3]]
    ]
    ws.ingest(table(["model", "query_id", "cites a book", "cites a paper", "cites a source"], rows), "d")
    assert set(ws.dataset("d").rubrics["criterion"]) == {"cites a book", "cites a paper", "cites a source"}


@pytest.mark.parametrize("name", ["Weighted score", "Composite", "总分"])
def test_a_weighted_total_is_known_by_its_name_alone(ws, name):
    report, rubrics = read(ws, ["clarity", "tone", "depth", name], lambda parts: 2 * parts[0] + parts[2])
    assert rubrics == {"clarity", "tone", "depth"}
    assert any(
        f"{name!r} is not used, because its name says that it sums up" in note for note in report.notes
    )


@pytest.mark.parametrize("name", ["Gesamtnote", "Overall"])
def test_a_rating_of_the_whole_is_a_rubric_and_told(ws, name):
    report, rubrics = read(ws, ["clarity", "tone", "depth", name], max)
    assert name in rubrics
    assert any(f"{name!r} is read as one more rubric" in note for note in report.notes)


def test_of_a_sum_and_a_mean_beside_each_other_both_sum_up(ws):
    rows = [
        [m, f"q{q}", q % 4, (q + 3 * i) % 5, q % 4 + (q + 3 * i) % 5, (q % 4 + (q + 3 * i) % 5) / 2]
        for i, m in enumerate(MODELS)
        for q in range(12)
    ]
    ws.ingest(table(["model", "query_id", "clear", "kind", "points in all", "in the middle"], rows), "d")
    assert set(ws.dataset("d").rubrics["criterion"]) == {"clear", "kind"}


def test_a_judge_who_agrees_with_the_middle_of_the_others_is_a_judge(ws):
    rows = [
        [m, f"q{q}", "r", a, b, (a + b + 1) // 2]
        for i, m in enumerate(MODELS)
        for q in range(12)
        for a, b in [((q + i) % 2, q // 2 % 2)]
    ]
    ws.ingest(table(["model", "query_id", "rubric", "rater 1", "rater 2", "rater 3"], rows), "d")
    assert set(ws.dataset("d").labels()["judge"]) == {"rater 1", "rater 2", "rater 3"}


@pytest.mark.parametrize("total", [lambda p: p[0] + p[1], lambda p: sum(p) + (p[2] == 2), lambda _: 3])
def test_what_sums_up_only_some_or_not_in_all_rows_is_a_criterion(ws, total):
    assert read(ws, ["clarity", "tone", "depth", "wit"], total)[1] == {"clarity", "tone", "depth", "wit"}


@pytest.mark.parametrize("of", [max, min, lambda parts: parts[1]])
@pytest.mark.parametrize(
    "name", ["mode_rating", "min_rating", "rating_min", "rating_std", "stddev score", "max_rating"]
)
def test_statistics_of_ratings_are_no_rubrics(ws, name, of):
    report, rubrics = read(ws, ["clarity", "tone", "depth", name], of)
    assert rubrics == {"clarity", "tone", "depth"}
    assert any(name in note for note in report.notes)


@pytest.mark.parametrize("name", ["spread", "range", "gap"])
def test_how_far_judges_lie_apart_is_none_of_them(ws, name):
    """It made criteria of the judges beside it."""
    judges = ["gpt-4o", "claude", "gemini"]
    rows = [
        [f"model-{i}", f"q{q}", *parts, max(parts) - min(parts)]
        for i in range(2)
        for q in QUERIES
        for parts in [(1 + (q + i) % 5, 1 + (q * 2 + i) % 5, 1 + (q * q + i) % 4)]
    ]
    report = ws.ingest(table(["model", "query_id", *judges, name], rows), "d")
    assert set(ws.dataset("d").labels()["judge"]) == {*judges}
    assert any(f"{name!r} is the range of other columns" in note for note in report.notes)


def test_a_criterion_called_range_is_one(ws):
    _, rubrics = read(ws, ["Range", "Accuracy", "Fluency", "Spread"], lambda parts: 1 + parts[0] % 3)
    assert rubrics == {"Range", "Accuracy", "Fluency", "Spread"}


def parts_of(q, i):
    """The labels of three criteria."""
    return {"clarity": 1 + (q + i) % 5, "tone": 1 + (q * 2 + i) % 5, "depth": 1 + (q * q + i) % 4}


def nested(scores):
    """Records whose scores are those of ``parts_of``, as ``scores`` puts them."""
    rows = [
        {"model": m, "query_id": f"q{q}", "scores": scores(parts_of(q, i))}
        for i, m in enumerate(MODELS)
        for q in QUERIES
    ]
    return lines(rows)


def mean_of(parts):
    return round(sum(parts.values()) / 3, 2)


IN_ROWS = {
    "keys": lambda parts, total, name: {**parts, name: total},
    "objects": lambda parts, total, name: {c: {"score": v} for c, v in {**parts, name: total}.items()},
    "items": lambda parts, total, name: [
        {"criterion": c, "score": v} for c, v in {**parts, name: total}.items()
    ],
    "judges": lambda parts, total, name: {j: {**parts, name: total} for j in ("gpt-4.1", "o3")},
}


@pytest.mark.parametrize("form", IN_ROWS)
@pytest.mark.parametrize("name", ["total_score", "finalScore", "overall", "average", "总分"])
@pytest.mark.parametrize("total", [lambda parts: sum(parts.values()), mean_of])
def test_totals_that_are_keys_or_names_in_rows_are_no_rubrics(ws, form, name, total):
    """They were rubrics beside those that they sum up, and a mean made continuous scores of all."""
    data = nested(lambda parts: IN_ROWS[form](parts, total(parts), name))
    report = ws.ingest(data, "d", name="x.jsonl")
    assert set(ws.dataset("d").rubrics["criterion"]) == {"clarity", "tone", "depth"}
    assert set(report.rejects["value"]) == {name}


def test_totals_in_rows_of_a_table_are_told_and_no_rubrics(ws):
    rows = [
        [m, f"q{q}", c, v]
        for i, m in enumerate(MODELS)
        for q in QUERIES
        for c, v in {**parts_of(q, i), "Overall quality": sum(parts_of(q, i).values())}.items()
    ]
    report = ws.ingest(table(["model", "query_id", "criterion", "score"], rows), "d")
    assert set(ws.dataset("d").rubrics["criterion"]) == {"clarity", "tone", "depth"}
    assert "it is the sum of the other rows about the same" in report.rejects["reason"].iloc[0]


def test_a_weighted_total_among_keys_is_known_by_a_name_that_every_answer_has(ws):
    ws.ingest(nested(lambda p: {**p, "final_score": min(p.values())}), "d", name="x.jsonl")
    assert set(ws.dataset("d").rubrics["criterion"]) == {"clarity", "tone", "depth"}


@pytest.mark.parametrize("form", IN_ROWS)
@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("overall", True),
        ("score", True),
        ("verdict", True),
        ("Passed", True),
        ("Final score", False),
        ("combined arms", False),
    ],
)
def test_a_key_that_sums_up_nothing_is_a_rubric_and_told_if_called_so(ws, form, name, told):
    data = nested(lambda p: IN_ROWS[form](p, min(p.values()), name))
    report = ws.ingest(data, "d", name="x.jsonl")
    assert set(ws.dataset("d").rubrics["criterion"]) == {"clarity", "tone", "depth", name}
    found = [f.sentence for f in report.checks if f.code == "may_be_total"]
    assert [f"{name!r} is read as one more rubric beside the others" in s for s in found] == [True] * told


def test_an_overall_score_and_a_verdict_beside_criteria_are_both_told(ws):
    data = nested(lambda p: {**p, "overall": min(p.values()), "verdict": max(p.values())})
    report = ws.ingest(data, "d", name="x.jsonl")
    told = [f.sentence for f in report.checks if f.code == "may_be_total"]
    assert [name for s in told for name in ("overall", "verdict") if repr(name) in s] == [
        "overall",
        "verdict",
    ]


def test_what_is_said_of_each_criterion_beside_its_score_is_none(ws):
    """``position`` and ``precision`` are called like criteria."""
    said = {"position": 1, "precision": 2}
    ws.ingest(nested(lambda p: {c: {"score": v, **said} for c, v in p.items()}), "d", name="x.jsonl")
    assert set(ws.dataset("d").rubrics["criterion"]) == {"clarity", "tone", "depth"}


def test_what_is_the_only_rubric_or_beside_one_alone_is_no_total(ws):
    report = ws.ingest(
        nested(lambda p: {"clarity": p["clarity"], "overall": p["depth"]}), "d", name="x.jsonl"
    )
    assert "may_be_total" not in {f.code for f in report.checks}


def test_a_total_that_a_mapping_names_stays(ws):
    columns = ["clarity", "tone", "depth", "total_score"]
    mapping = {"rubric": [f"scores.{c}" for c in columns]}
    data = nested(lambda p: {**p, "total_score": sum(p.values())})
    report = ws.ingest(data, "d", name="x.jsonl", mapping=mapping)
    assert len(set(ws.dataset("d").rubrics["criterion"])) == 4
    assert report.rejected == 0
