"""What is kept of labels beside them is what counting them all again finds, whatever was ingested and undone."""

from __future__ import annotations

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crubric_core.labels import Workspace
from crubric_core.labels.checks import scale_checks
from crubric_core.labels.ingest import fingerprint, tallies
from crubric_core.labels.ingest.report import tidy
from crubric_core.labels.readers.policies import Policies
from tests.labels.ingest.test_undo import label_map
from tests.tiers import at_most

SUMS = {
    "label_tallies": (
        "rubric_id, judge_id",
        'sum("rows"), sum(n), min(lowest), max(highest), bit_or(levels), sum(hashes)',
    ),
    "system_tallies": ("system_id, judge_id, label", "sum(n)"),
    "reason_tallies": ("rubric_id", 'sum("rows"), sum(hashes)'),
    "stretches": ('ingest_id, judge_id, "first", "last", n, label', "count(*)"),
}


def summed(cursor, dataset: int) -> dict[str, list[tuple]]:
    """The tallies of a dataset, rows of one key as one."""
    asked = {
        table: f"SELECT {key}, {sums} FROM {table} WHERE dataset_id = {dataset} GROUP BY {key} ORDER BY ALL"
        for table, (key, sums) in SUMS.items()
    }
    return {table: cursor.execute(sql).fetchall() for table, sql in asked.items()}


def findings(ws: Workspace, *but: str) -> list[tuple]:
    """What the checks of the dataset say, but for these codes."""
    return [
        (f.code, f.count, f.sentence, f.examples.to_csv())
        for f in ws.dataset("d").checks()
        if f.code not in but
    ]


def assert_counted_anew_is_the_same(ws: Workspace) -> None:
    ds = ws.dataset("d")
    stored, said = ds.fingerprint, findings(ws)
    scales, coverage = ds.criteria, ds.coverage()
    with ws.writing() as cursor:
        kept = summed(cursor, ds.id)
        tallies.rebuild(cursor, ds.id)
        cursor.execute("DELETE FROM rubric_scales")
        assert summed(cursor, ds.id) == kept
        assert fingerprint.renew(cursor, ds.id) == stored
    assert findings(ws) == said
    assert ds.criteria.equals(scales)
    assert ds.coverage().equals(coverage)


ROWS = st.lists(
    st.tuples(
        st.sampled_from("abc"),
        st.sampled_from(["q,r", "q,s", "p,r", "p,t"]),
        st.sampled_from("jk"),
        st.sampled_from(["", "one", "two"]),
        st.sampled_from(["0", "1", "3", "-2", "NA"]),
        st.sampled_from(["", "why", "so"]),
    ),
    min_size=1,
    max_size=40,
)
HEADER = "system,query,rubric,judge,run,label,reason"


def content(rows) -> bytes:
    return "\n".join([HEADER, *(",".join(row) for row in rows)]).encode()


@settings(max_examples=at_most(3, 10), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(rows=ROWS, parts=st.integers(2, 3), shuffle=st.randoms(use_true_random=False))
def test_rows_in_random_parts_come_to_what_they_come_to_at_once(rows, parts, shuffle):
    rows = list({row[:4]: row for row in rows}.values())
    at_once, in_parts = Workspace(), Workspace()
    with at_once, in_parts:
        at_once.ingest(content(rows), "d")
        shuffle.shuffle(rows)
        for part in filter(None, (rows[i::parts] for i in range(parts))):
            last = in_parts.ingest(content(part), "d")
            assert tidy(last.scales).equals(in_parts.dataset("d").criteria)
        one, other = at_once.dataset("d"), in_parts.dataset("d")
        assert label_map(at_once) == label_map(in_parts)
        assert one.fingerprint == other.fingerprint
        assert one.criteria.equals(other.criteria)
        assert one.coverage().equals(other.coverage())
        assert findings(at_once, "constant_run") == findings(in_parts, "constant_run")
        assert_counted_anew_is_the_same(in_parts)


@pytest.mark.parametrize("policy", ["reject", "last"])
def test_rows_of_a_new_system_that_come_twice_come_to_what_they_come_to_at_once(ws, policy):
    first = [(system, rubric, "j", "", "1", "") for system in "ab" for rubric in ("q,r", "q,s")]
    again = [("c", "q,r", "j", "", "1", ""), ("c", "q,r", "j", "", "1", ""), ("c", "q,s", "j", "", "1", "")]
    ws.ingest(content(first), "d", on_conflict=policy)
    assert ws.ingest(content(again), "d", on_conflict=policy).collapsed == 1
    with Workspace() as at_once:
        at_once.ingest(content([*first, *again]), "d", on_conflict=policy)
        assert label_map(ws) == label_map(at_once)
        assert ws.dataset("d").fingerprint == at_once.dataset("d").fingerprint
    assert_counted_anew_is_the_same(ws)


@settings(max_examples=at_most(3, 10), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    files=st.lists(
        st.tuples(ROWS, st.sampled_from(["reject", "last", "first", "runs"])), min_size=1, max_size=2
    ),
    data=st.data(),
)
def test_after_overwriting_and_undoing_the_tallies_are_those_of_the_labels(files, data):
    with Workspace() as ws:
        ws.ingest(content([("a", "q,r", "j", "", "1", "")]), "d")
        for rows, policy in files:
            ws.ingest(content([*rows, ("z", "q,r", "k", "", "1", "")]), "d", on_conflict=policy)
        assert_counted_anew_is_the_same(ws)
        ws.undo("d", data.draw(st.sampled_from(ws.ingests("d")["ingest_id"].tolist())))
        assert_counted_anew_is_the_same(ws)


def test_labels_that_find_their_query_later_are_tallied_under_it(ws, table):
    ws.ingest(b"system,rubric,label\na,r,1\nb,r,0\n", "d")
    ws.ingest(b"system,query,rubric,label\nc,q,r,3\n", "d")
    assert_counted_anew_is_the_same(ws)
    assert ws.dataset("d").criteria["highest"].tolist() == [3]
    ws.undo("d")
    assert_counted_anew_is_the_same(ws)


def test_many_small_ingests_leave_few_tallies(ws, monkeypatch):
    monkeypatch.setattr(tallies, "FEW", 0)
    for i in range(6):
        ws.ingest(f"system,query,rubric,judge,label\ns{i},q,r,j,1\ns{i},q,s,j,0\n".encode(), "d")
    with ws.reading() as cursor:
        ((rows,),) = cursor.execute("SELECT count(*) FROM label_tallies").fetchall()
    assert rows <= 4, "two rubrics, and at most as many rows again"
    assert_counted_anew_is_the_same(ws)


def test_a_copy_of_a_dataset_has_its_tallies(ws):
    ws.ingest(content([("a", "q,r", "j", "one", "1", "why"), ("a", "q,r", "j", "two", "0", "")]), "e")
    ws.duplicate("e", "d")
    assert_counted_anew_is_the_same(ws)
    ws.delete("e")
    assert_counted_anew_is_the_same(ws)


def test_stored_scales_count_while_what_they_rest_on_stands(ws, table):
    ws.ingest(table("a q r j 1", "b q r j 3"), "d")
    with ws.writing() as cursor:
        cursor.execute("UPDATE rubric_scales SET criterion = 'stored'")
    assert ws.ingest(table("c q r j 2"), "d").scales["criterion"].tolist() == ["stored"]
    wider = ws.ingest(table("c q r k 4"), "d").scales
    assert wider[["criterion", "scale_max"]].values.tolist() == [["r", 4]]
    ws.ingest(b"query,rubric,scale_min,scale_max\nq,r,0,9\n", "d", "rubrics")
    assert ws.ingest(table("e q r j 2"), "d").scales["scale_max"].tolist() == [9]


@pytest.mark.parametrize("scale", [None, (0, 9)])
def test_a_scale_that_new_rows_change_is_said_and_one_that_stands_is_not(ws, table, scale):
    ws.ingest(table("a q r j 1", "b q r j 3"), "d")
    policies = Policies(scales={"r": scale} if scale else {})
    changed = ws.ingest(table("c q r j 2"), "d", policies=policies)
    assert [f.code for f in changed.checks if f.code == "scale_changed"] == ["scale_changed"] * bool(scale)
    stretched = ws.ingest(table("e q r j 7"), "d")
    assert ("scale_changed" in [f.code for f in stretched.checks]) is (scale is None)


def ranges_apart(ws: Workspace) -> bool:
    return "disjoint_ranges" in {finding.code for finding in ws.dataset("d").checks()}


def of_judge(judge: str, labels: tuple[int, int], first: int = 0) -> list[tuple]:
    """A judge's labels of twelve systems on one rubric, two levels in turn."""
    return [(f"s{first + i}", "q", "r", judge, "", str(labels[i % 2]), "") for i in range(12)]


def test_judges_with_ranges_apart_are_found_whichever_ingests_their_labels_are_of(ws):
    ws.ingest(content(of_judge("j", (0, 1))), "d")
    assert not ranges_apart(ws), "one judge"
    ws.ingest(content(of_judge("k", (3, 4))), "d")
    assert ranges_apart(ws)
    ws.ingest(content(of_judge("j", (3, 4), first=12)), "d")
    assert not ranges_apart(ws), "the first judge uses these levels, too"
    ws.undo("d")
    assert ranges_apart(ws)


def test_judges_with_ranges_apart_are_found_among_more_than_64(ws):
    ws.ingest(content([row for i in range(64) for row in of_judge(f"j{i}", (3, 4))]), "d")
    assert not ranges_apart(ws)
    ws.ingest(content(of_judge("k", (0, 1))), "d")
    assert ranges_apart(ws)


def test_judges_with_ranges_apart_are_found_where_their_numbers_are_64_apart(ws):
    others = [(f"s{i}", "q", "other", f"j{i:02}", "", "1", "") for i in range(65)]
    ws.ingest(content(others), "d")
    ws.ingest(content(of_judge("j00", (0, 1)) + of_judge("j64", (3, 4))), "d")
    assert ranges_apart(ws)


@pytest.mark.parametrize(
    ("first", "second", "n", "read", "apart"),
    [
        ((0, 1), (1, 2), 12, False, False),
        ((0, 1), (2, 2), 12, True, True),
        ((0, 1), (0, 3), 12, True, False),
        ((0, 2), (0, 3), 12, False, False),
        ((0, 1), (0, 2), 12, False, False),
        ((0, 1), (2, 2), 10, True, True),
        ((0, 1), (2, 2), 9, False, False),
    ],
)
def test_judges_ranges_are_read_where_they_may_be_apart_alone(ws, monkeypatch, first, second, n, read, apart):
    """Ranges that only meet, fewer than ten labels of a judge, 0 to 2 beside 0 to 3: none is apart, none is read.

    0 to 1 beside as many 0 as 3 is read, and may be by chance.
    """
    monkeypatch.setattr(tallies, "FEW", -1)  # tallies are summed up at once
    ws.ingest(content(of_judge("j", first)[:n] + of_judge("k", second)[:n]), "d")
    assert ranges_apart(ws) == apart
    monkeypatch.setattr(scale_checks, "_PART", "SELECT error('read ' || $dataset)")
    if read:
        with pytest.raises(duckdb.Error, match="read"):
            ranges_apart(ws)
    else:
        assert not ranges_apart(ws)


@pytest.mark.parametrize(("second", "apart"), [((2, 2), True), ((1, 2), False)])
def test_a_judge_whose_tallies_are_not_summed_up_yet_is_compared_too(ws, monkeypatch, second, apart):
    monkeypatch.setattr(tallies, "FEW", -1)
    ws.ingest(content(of_judge("j", (0, 1))), "d")
    monkeypatch.setattr(tallies, "FEW", 1000)
    ws.ingest(content(of_judge("k", second)), "d")
    assert ranges_apart(ws) == apart
