"""Rows that speak twice of the same cell."""

from __future__ import annotations

import pytest

from crubric_core.errors import IngestError


def label_of(ws, dataset="d"):
    with ws.reading() as cursor:
        return cursor.execute("SELECT label FROM labels ORDER BY ALL").fetchall()


def test_identical_rows_collapse_and_are_counted(ws, table):
    report = ws.ingest(table("a q r j 1", "b q r j 0", "a q r j 1", "a q r j 1.0"), "d")
    assert (report.accepted, report.rejected, report.collapsed) == (4, 0, 2)
    assert label_of(ws) == [(0,), (1,)]


def test_contradicting_rows_are_both_rejected_and_name_each_other(ws, table):
    report = ws.ingest(table("a q r j 1", "b q r j 0", "a q r j 0"), "d")
    assert report.rejects[["row", "column", "value"]].values.tolist() == [
        [2, "label", "1"],
        [4, "label", "0"],
    ]
    assert "conflicts with row 4, which gives 0" in report.rejects["reason"][0]
    assert "conflicts with row 2, which gives 1" in report.rejects["reason"][1]
    assert label_of(ws) == [(0,)]


def test_of_three_rows_each_names_one_that_differs(ws, table):
    report = ws.ingest(table("b q r j 0", "a q r j 1", "a q r j 1", "a q r j 2"), "d")
    reasons = dict(zip(report.rejects["row"], report.rejects["reason"], strict=True))
    assert {row: reason.split(",")[0] for row, reason in reasons.items()} == {
        3: "conflicts with row 5",
        4: "conflicts with row 5",
        5: "conflicts with row 3",
    }


def test_the_last_of_contradicting_rows_wins_where_the_user_says_so(ws, table):
    report = ws.ingest(table("a q r j 1", "b q r j 0", "a q r j 0", "a q r j 0"), "d", on_conflict="last")
    assert (report.accepted, report.rejected, report.replaced, report.collapsed) == (4, 0, 1, 1)
    assert label_of(ws) == [(0,), (0,)]


@pytest.mark.parametrize("on_conflict", ["reject", "last"])
@pytest.mark.parametrize("rows", [("a q r j 1", "a q r j NA"), ("a q r j ", "a q r j 1")])
def test_an_unknown_label_never_contradicts_a_known_one(ws, table, rows, on_conflict):
    report = ws.ingest(table(*rows), "d", on_conflict=on_conflict)
    assert (report.accepted, report.blank, report.collapsed) == (2, 1, 1)
    assert label_of(ws) == [(1,)]


def test_the_same_file_twice_adds_nothing(ws, table):
    content = table("a q r j 1", "b q r j 0", "b q s j NA")
    first = ws.ingest(content, "d")
    second = ws.ingest(content, "d")
    assert (second.accepted, second.rejected, second.collapsed) == (3, 0, 3)
    assert first.fingerprint == second.fingerprint


def test_a_row_that_contradicts_a_stored_one_is_rejected_and_names_it(ws, table):
    first = ws.ingest(table("a q r j 1", "b q r j 0"), "d", name="monday.csv")
    report = ws.ingest(table("c q r j 1", "b q r j 1"), "d", name="tuesday.csv")
    assert report.rejects[["row", "value"]].values.tolist() == [[3, "1"]]
    assert "conflicts with row 3 of monday.csv, which gave 0" in report.rejects["reason"][0]
    assert label_of(ws) == [(0,), (1,), (1,)]
    assert first.rejected == 0


def test_a_stored_label_is_replaced_where_the_user_says_so(ws, table):
    ws.ingest(table("a q r j 1", "b q r j 0"), "d")
    report = ws.ingest(table("b q r j 1"), "d", on_conflict="last")
    assert (report.accepted, report.replaced) == (1, 1)
    assert label_of(ws) == [(1,), (1,)]


def test_a_stored_unknown_label_is_filled_in(ws, table):
    ws.ingest(table("a q r j 1", "b q r j NA"), "d")
    report = ws.ingest(table("b q r j 0"), "d")
    assert (report.accepted, report.replaced, report.collapsed) == (1, 0, 0)
    assert label_of(ws) == [(0,), (1,)]


def test_a_file_of_contradictions_alone_is_refused(ws, table):
    ws.ingest(table("a q r j 1"), "d")
    with pytest.raises(IngestError, match="row 2: conflicts with row 2 of upload"):
        ws.ingest(table("a q r j 0"), "d")


def test_descriptions_fill_each_other_in(ws, table):
    ws.ingest(table("a q r j 1"), "d")
    ws.ingest(table("r q 2 ", "r q  style", header="rubric query weight dimension"), "d", "rubrics")
    report = ws.ingest(table("r q minor", header="rubric query severity"), "d", "rubrics")
    assert ws.dataset("d").rubrics[["weight", "dimension", "severity"]].values.tolist() == [
        [2.0, "style", "minor"]
    ]
    assert (report.accepted, report.rejected) == (1, 0)


def test_contradicting_descriptions_are_rejected_and_name_each_other(ws, table):
    rows = ("r q 2", "s q 1", "r q 3")
    report = ws.ingest(table(*rows, header="rubric query weight"), "d", "rubrics")
    assert report.rejects[["row", "column"]].values.tolist() == [[2, "weight"], [4, "weight"]]
    assert "conflicts with row 4" in report.rejects["reason"][0]
    with pytest.raises(IngestError, match="conflicts with row 3 of upload, which gave another weight"):
        ws.ingest(table("s q 9", header="rubric query weight"), "d", "rubrics")


def test_the_last_description_wins_where_the_user_says_so(ws, table):
    ws.ingest(table("a q r j 1"), "d")
    ws.ingest(table("r q 1", header="rubric query weight"), "d", "rubrics")
    report = ws.ingest(
        table("r q 2", "r q 3", header="rubric query weight"), "d", "rubrics", on_conflict="last"
    )
    assert ws.dataset("d").rubrics["weight"].tolist() == [3.0]
    assert report.replaced == 2


def test_repeated_descriptions_collapse(ws, table):
    content = table("r q 1", "r q 1", "s q 2", header="rubric query weight")
    assert ws.ingest(content, "d", "rubrics").collapsed == 1
    again = ws.ingest(content, "d", "rubrics")
    assert (again.accepted, again.rejected, again.collapsed) == (3, 0, 3)


def test_gold_and_labels_of_one_name_are_no_conflict(ws, table):
    ws.ingest(table("a q r ann 1"), "d")
    report = ws.ingest(table("a q r ann 0", header="system query rubric annotator label"), "d", "gold")
    assert (report.accepted, report.rejected) == (1, 0)


def test_labels_moved_to_their_query_must_agree_with_those_there(ws, table):
    ws.ingest(table("a r j 1", "b r j 0", header="system rubric judge label"), "d")
    ws.ingest(table("a q r j 1", "c q r j 1"), "d")
    assert label_of(ws) == [(0,), (1,), (1,)]
    ws.ingest(table("a s j 1", header="system rubric judge label"), "d")
    with pytest.raises(IngestError, match="'s' with and without a query contradict each other"):
        ws.ingest(table("a q s j 0"), "d")


def told_of_files(report):
    return [f for f in report.checks if f.code == "same_in_files"]


def test_files_that_give_the_same_labels_are_named(ws, table):
    """Equal ids of different queries were one query, and no sentence said so."""
    files = [
        ("a.csv", table("a q r j 1", "a q2 r j 0")),
        ("b.csv", table("a q r j 1", "b q r j 0", "b q r j 0")),
        ("c.csv", table("c q r j 1")),
    ]
    report = ws.ingest(files, "d")
    (told,) = told_of_files(report)
    assert report.collapsed == 2
    assert told.count == 1
    assert told.sentence.startswith("a.csv and b.csv both give 1 label of the same system, rubric and judge")
    assert told.severity == "warning"


def test_records_of_several_files_of_a_layout_are_told_by_their_files(ws):
    record = b'{"question_id": 81, "model": "m", "judge": ["gpt-4", "single-v1"], "turn": 1, "score": 7}\n'
    report = ws.ingest([("x/a.jsonl", record), ("x/b.jsonl", record)], "d")
    (told,) = told_of_files(report)
    assert told.examples.to_numpy().tolist() == [["x/a.jsonl", "x/b.jsonl", 1]]


def test_repeats_within_one_file_are_a_count_alone(ws, table):
    twice = table("a q r j 1", "a q r j 1")
    assert not told_of_files(ws.ingest(twice, "d"))
    assert not told_of_files(ws.ingest([("a.csv", twice), ("b.csv", table("b q r j 1"))], "e"))


def test_the_same_labels_of_people_beside_each_judge_are_a_note(ws, table):
    files = [
        (f"{j}.csv", table(f"a q r {j} 1 0", header="system query rubric judge label human"))
        for j in ("j", "k")
    ]
    (told,) = told_of_files(ws.ingest(files, "d"))
    assert told.severity == "note"


UNNAMED = b"system,query,rubric,label\na,q,r,1\na,q,r,3\na,q,r,3\nb,q,r,2\n"


def test_rows_of_raters_that_nothing_names_come_with_the_way_to_read_them(ws):
    report = ws.ingest(UNNAMED + b"c,q,r,2\nd,q,r,1\n", "d", name="people.csv")
    (told,) = (f for f in report.checks if f.code == "unnamed_raters")
    assert (report.rejected, told.severity, told.count) == (3, "warning", 1)
    assert """--mapping '{"judge": "=unnamed raters"}' --on-conflict runs""" in told.sentence


def test_labels_of_which_most_contradict_others_are_refused_also_of_named_judges(ws, table):
    """Those on which the others agreed by chance were kept, and the rest rejected row by row."""
    rows = [f"s q r{n} j {(n + draw) % 2 if n else 1}" for n in range(8) for draw in range(3)]
    with pytest.raises(
        IngestError,
        match=r"^21 of 24 labels .* contradict other labels .* for corrections, use on_conflict = last\)\.$",
    ):
        ws.ingest(table(*rows), "d")
    assert ws.ingest(table(*rows), "d", on_conflict="runs").accepted == 24
    assert ws.ingest(table(*rows[:15]), "e").rejected == 12  # few may be a slip


def test_a_file_of_which_raters_that_nothing_names_contradict_most_is_refused_whole(ws):
    """Of 480 labels of three people 21, on which they agreed, were kept."""
    with pytest.raises(
        IngestError, match=r"^3 of 4 labels of people\.csv contradict other labels"
    ) as refused:
        ws.ingest(UNNAMED, "d", name="people.csv")
    assert """--mapping '{"judge": "=unnamed raters"}' --on-conflict runs""" in str(refused.value)
    assert ws.datasets().empty


def test_rows_that_are_rejected_for_something_else_are_no_contradictions(ws):
    agreed = b"".join(b"s%d,q,r,2\n" % n for n in range(4))
    report = ws.ingest(UNNAMED + agreed + b"x,q,,1\n" * 20, "d", name="people.csv")
    assert (report.accepted, report.rejected) == (5, 23)


def test_runs_that_contradict_each_other_are_no_reason_to_refuse_a_file(ws):
    report = ws.ingest(UNNAMED + b"x,q,,1\n" * 20, "d", name="people.csv", on_conflict="runs")
    assert (report.accepted, report.rejected) == (4, 20)


def test_a_file_whose_rows_all_conflict_is_refused_with_the_way_to_read_it(ws):
    with pytest.raises(
        IngestError, match=r"No row of people\.csv can be used .* on_conflict = runs\)"
    ) as refused:
        ws.ingest(UNNAMED.removesuffix(b"b,q,r,2\n"), "d", name="people.csv")
    assert """--mapping '{"judge": "=unnamed raters"}' --on-conflict runs""" in str(refused.value)


def test_raters_that_nothing_names_are_runs_of_one_judge_where_the_user_says_so(ws):
    mapping = {"judge": "=unnamed raters"}
    report = ws.ingest(UNNAMED, "d", mapping=mapping, on_conflict="runs")
    labels = ws.dataset("d").labels()
    assert (report.rejected, set(labels["judge"])) == (0, {"unnamed raters"})
    assert sorted(labels[labels["system"] == "a"]["label"]) == [1, 3, 3]
    assert not [f for f in report.checks if f.code == "unnamed_raters"]


def test_runs_of_nobody_say_that_they_may_be_different_peoples(ws):
    (told,) = (f for f in ws.ingest(UNNAMED, "d", on_conflict="runs").checks if f.code == "unnamed_raters")
    assert (told.severity, "is the agreement of these people" in told.sentence) == ("note", True)


def test_a_named_judge_who_contradicts_itself_is_nobody_unnamed(ws, table):
    report = ws.ingest(table("a q r j 1", "b q r j 0", "a q r j 0"), "d")
    assert not [f for f in report.checks if f.code == "unnamed_raters"]
