"""Every ingest can be seen before it is made, is listed with what it changed, and can be taken back."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from crubric_core.errors import DatasetError, IngestError
from crubric_core.labels import Workspace
from crubric_core.labels.readers.policies import Policies
from crubric_core.labels.store import catalogue
from crubric_core.labels.store.dataset_rules import save_rules
from crubric_core.labels.store.query_types import save_edited, save_types
from crubric_core.labels.store.scenarios import Scenario, save_scenario
from crubric_core.scoring_rules import ScoringRules
from crubric_core.settings import Settings
from crubric_core.task_types.types import CREATIVE, DECISION
from tests.labels.ingest.replay import Replay
from tests.tiers import examples

ORPHANS = {
    "systems": "system_id NOT IN (SELECT system_id FROM labels UNION SELECT system_id FROM gold"
    " UNION SELECT system_id FROM reference_ranking UNION SELECT system_id FROM superseded)",
    "judges": "judge_id NOT IN (SELECT judge_id FROM labels UNION SELECT judge_id FROM gold"
    " UNION SELECT judge_id FROM superseded)",
    "rubrics": "ingest_id IS NULL AND rubric_id NOT IN (SELECT rubric_id FROM labels UNION SELECT rubric_id FROM gold"
    " UNION SELECT rubric_id FROM superseded)",
    "queries": "ingest_id IS NULL AND query_id NOT IN (SELECT query_id FROM rubrics WHERE query_id IS NOT NULL)",
}


def stored(ws: Workspace) -> dict[str, list[tuple]]:
    """Everything that a workspace holds of its datasets, by content."""
    with ws.reading() as cursor:
        names = [row[0] for row in cursor.execute("SELECT table_name FROM duckdb_tables()").fetchall()]
        return {n: cursor.execute(f'FROM "{n}" ORDER BY ALL').fetchall() for n in names if n != "settings"}


def label_map(ws: Workspace) -> dict[tuple[str, str, str], int | None]:
    with ws.reading() as cursor:
        rows = cursor.execute(*catalogue.labels(ws.dataset("d").id)).fetchall()
    return {(system, rubric, judge): label for system, _, rubric, judge, _, label, _ in rows}


# What an ingest would do


def test_of_the_labels_that_an_ingest_adds_it_tells_how_many_are_unknown(ws, table):
    said = ws.ingest(table("a q r j 1", "b q r j NA", "c q r j NA"), "d").changes.sentence
    assert said == "adds 3 systems, 1 judge, 1 query, 1 rubric and 1 label (and 2 unknown)"
    said = ws.ingest(table("b q r j 0", "d q r j NA"), "d").changes.sentence
    assert said == "adds 1 system and 1 label (unknown); fills in 1"
    said = ws.ingest(table("e q s j NA", "e q s j NA", "e q r j 1"), "d").changes.sentence
    assert said == "adds 1 system, 1 rubric and 1 label (and 1 unknown); leaves 1 as it was"
    said = ws.ingest(table("a q r j 1", "e q r j 1"), "d").changes.sentence
    assert said == "leaves 2 labels as they were", "nothing before says of what there are 2"


def test_a_preview_tells_what_would_change_and_stores_nothing(ws, table):
    ws.ingest(table("a q r j 1", "b q r j 0", "c q r j NA"), "d")
    before = stored(ws)
    report = ws.preview(
        table("a q r j 0", "b q r j 0", "c q r j 1", "z q s j 1", "z q s k x"), "d", on_conflict="last"
    )
    assert stored(ws) == before
    changes = report.changes
    assert (changes.systems, changes.rubrics, changes.judges) == (1, 1, 0)
    assert (changes.added, changes.changed, changes.filled, changes.same) == (1, 1, 1, 1)
    assert (
        changes.sentence == "adds 1 system, 1 rubric and 1 label; changes 1; fills in 1; leaves 1 as it was"
    )
    assert report.rejected == 1
    again = ws.ingest(
        table("a q r j 0", "b q r j 0", "c q r j 1", "z q s j 1", "z q s k x"), "d", on_conflict="last"
    )
    assert again.changes == changes
    assert again.fingerprint == report.fingerprint == ws.dataset("d").fingerprint


def test_a_preview_of_a_new_dataset_makes_none(ws, table):
    assert ws.preview(table("a q r j 1"), "d").changes.added == 1
    assert ws.datasets().empty
    with pytest.raises(IngestError, match="No row of upload can be used"):
        ws.preview(table("a q r j x"), "d")


def test_the_list_of_ingests_says_what_each_changed_and_by_which_choices(ws, table):
    ws.ingest(table("a q r j 1"), "d")
    ws.ingest(table("a q r j 0", "b q r j 0"), "d", policies=Policies(on_conflict="last", zero="label"))
    ws.ingest(b"rubric,query,weight\nr,q,2\n", "d", "rubrics")
    found = ws.ingests("d")
    assert found["changes"].tolist() == [
        "adds 1 system, 1 judge, 1 query, 1 rubric and 1 label",
        "adds 1 system and 1 label; changes 1",
        "adds 1 rubric",
    ]
    assert found["policies"].tolist() == ["", "on_conflict: last (1 row)", ""]
    assert found["undo"].tolist() == ["", "", ""]


# Taking back


@pytest.mark.parametrize("on_conflict", ["reject", "last", "first"])
def test_taking_the_last_ingest_back_leaves_everything_as_it_was(ws, table, on_conflict):
    ws.ingest(table("a q r j 1", "b q r j 0", "c q r j NA"), "d")
    ws.ingest(b"rubric,query,text,weight\nr,q,old,1\n", "d", "rubrics")
    ws.ingest(b"query,text\nq,why?\n", "d", "queries")
    ws.ingest(b"system,rubric,label\na,r,1\n", "d", "gold")
    ws.ingest(b"system,rank\na,1\n", "d", "reference")
    ws.ingest(table("a q r j 1"), "other")
    before = stored(ws)
    for kind, content in {
        "labels": table("a q r j 0", "b q r j 0", "c q r j 1", "z q2 s k 1"),
        "rubrics": b"rubric,query,text,weight\nr,q,new,\nt,q3,,4\n",
        "queries": b"query,text,domain\nq,how?,law\nq9,x,\n",
        "gold": b"system,rubric,label\na,r,0\ny,r,1\n",
        "reference": b"system,rank,score\na,2,\nw,3,1\n",
    }.items():
        ws.ingest(content, "d", kind, on_conflict=on_conflict)
        assert stored(ws) != before
        ws.undo("d")
        assert stored(ws) == before, kind


def test_a_value_that_a_later_ingest_replaced_stays_and_one_that_was_replaced_comes_back(ws, table):
    ws.ingest(table("a q r j 1"), "d")
    ws.ingest(table("a q r j 2"), "d", on_conflict="last")
    ws.ingest(table("a q r j 3"), "d", on_conflict="last")
    ws.undo("d", 2)
    assert label_map(ws) == {("a", "r", "j"): 3}
    report = ws.undo("d", 3)
    assert label_map(ws) == {("a", "r", "j"): 1}
    assert (report.removed, report.restored) == (0, 1)
    assert report.sentence == "upload was undone: 0 removed, 1 restored."


def test_what_two_ingests_said_stays_when_one_is_taken_back(ws, table):
    ws.ingest(table("a q r j 1", "b q r j 1"), "d")
    ws.ingest(table("a q r j 1"), "d")
    ws.undo("d", 1)
    assert label_map(ws) == {("a", "r", "j"): 1}


def test_descriptions_come_back_column_by_column(ws, table):
    ws.ingest(table("a q r j 1"), "d")
    ws.ingest(table("r q 1 style", header="rubric query weight dimension"), "d", "rubrics")
    ws.ingest(table("r q 2 minor", header="rubric query weight severity"), "d", "rubrics", on_conflict="last")
    ws.ingest(table("r q tone", header="rubric query dimension"), "d", "rubrics", on_conflict="last")
    ws.undo("d", 3)
    row = ws.dataset("d").rubrics.iloc[0]
    assert (row["weight"], row["dimension"], row["severity"]) == (1, "tone", None)


def test_taking_the_only_ingest_back_takes_the_dataset_with_it(ws, table):
    ws.ingest(table("a q r j 1", "b q r j x"), "d")
    report = ws.undo("d")
    assert report.fingerprint is None
    assert "and with it the dataset d" in report.sentence
    assert ws.datasets().empty
    assert not any(stored(ws).values())


def test_labels_that_found_their_query_lose_it_with_the_ingest_that_brought_it(ws, table):
    ws.ingest(table("a r j 1", "b r j 0", header="system rubric judge label"), "d")
    ws.ingest(table("b r j 1", header="system rubric judge label"), "d", on_conflict="last")
    before = stored(ws)
    ws.ingest(table("a q r j 1", "c q r j 1"), "d")
    assert ws.dataset("d").rubrics["query"].tolist() == ["q"]
    ws.undo("d")
    assert stored(ws) == before


def test_an_ingest_that_gave_labels_their_query_waits_for_the_later_ones(ws, table):
    ws.ingest(table("a r j 1", header="system rubric judge label"), "d")
    ws.ingest(b"rubric,query,weight\nr,q,2\n", "d", "rubrics", name="rubrics.csv")
    ws.ingest(table("b q r j 1"), "d", name="more.csv")
    before = stored(ws)
    assert "more.csv depends on that" in ws.ingests("d")["undo"][1]
    with pytest.raises(
        DatasetError, match=r"rubrics.csv \(ingest 2\) cannot be undone: .* undo the later ingests"
    ):
        ws.undo("d", 2)
    assert stored(ws) == before
    ws.undo("d", 3)
    ws.undo("d", 2)
    assert ws.dataset("d").rubrics["query"].tolist() == ["all"]


def test_nothing_is_taken_back_that_would_leave_labels_off_their_scale(ws, table):
    ws.ingest(b"rubric,query,scale_min,scale_max\nr,q,1,5\n", "d", "rubrics")
    ws.ingest(b"rubric,query,scale_max\nr,q,9\n", "d", "rubrics", on_conflict="last", name="wider.csv")
    ws.ingest(table("a q r j 8"), "d")
    before = stored(ws)
    with pytest.raises(
        DatasetError, match=r"wider.csv cannot be undone alone. What is left gives rubric 'r'"
    ):
        ws.undo("d", 2)
    assert stored(ws) == before


def test_an_ingest_that_is_not_there_is_named(ws, table):
    ws.ingest(table("a q r j 1"), "d")
    ws.ingest(table("a q r j 1"), "e")
    with pytest.raises(DatasetError, match="'d' has no ingest 2: choose one"):
        ws.undo("d", 2)
    with pytest.raises(DatasetError, match="no dataset 'x'"):
        ws.undo("x")


# Types that a person gave


def test_no_later_file_changes_a_type_that_a_person_gave(ws, table):
    ws.ingest(table("a q r j 1"), "d")
    ws.ingest(b"query,task_type\nq,evidence_reasoning\n", "d", "queries")
    save_edited(ws, "d", {"q": CREATIVE})
    ws.ingest(
        b"query,task_type,p_decision_support,domain\nq,decision_support,0.9,law\n",
        "d",
        "queries",
        on_conflict="last",
    )
    row = ws.dataset("d").queries.iloc[0]
    assert (row["task_type"], row["type_source"], row["domain"]) == (CREATIVE, "edited", "law")
    assert (row["p_creative_divergent"], row["p_decision_support"]) == (1, 0)


def test_the_mark_of_a_type_follows_the_file_that_replaces_it(ws, table):
    ws.ingest(table("a q r j 1"), "d")
    frame = ws.dataset("d").queries.assign(
        p_evidence_reasoning=0.1, p_decision_support=0.2, p_high_risk_constraint=0.3, p_creative_divergent=0.4
    )
    save_types(ws, "d", frame, "offline")
    ws.ingest(b"query,task_type\nq,decision_support\n", "d", "queries", on_conflict="last")
    row = ws.dataset("d").queries.iloc[0]
    assert (row["task_type"], row["type_source"]) == (DECISION, None)
    assert row["p_creative_divergent"] != row["p_creative_divergent"], (
        "probabilities of another source are gone"
    )
    ws.undo("d")
    assert ws.dataset("d").queries["type_source"].tolist() == ["offline"]


def test_what_a_file_said_of_a_type_counts_once_the_edit_is_taken_back(ws, table):
    ws.ingest(table("a q r j 1"), "d")
    save_edited(ws, "d", {"q": CREATIVE})
    ws.ingest(b"query,task_type\nq,decision_support\n", "d", "queries", on_conflict="last")
    ws.undo("d", 2)
    assert ws.dataset("d").queries["task_type"].tolist() == [DECISION]


# Any sequence

KEYS = st.tuples(st.sampled_from("ab"), st.sampled_from("rs"), st.sampled_from("jk"))
ROWS = st.lists(st.tuples(KEYS, st.sampled_from([0, 1, 2, None])), min_size=1, max_size=6)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("ingest"), ROWS, st.sampled_from(["reject", "last", "first"])),
        st.tuples(st.just("undo"), st.integers(0, 6), st.just("")),
    ),
    min_size=1,
    max_size=8,
)


@given(steps=STEPS)
@example(steps=[("ingest", [(("a", "r", "j"), label) for label in (0, 1, None)], "reject")])
@settings(max_examples=examples(20), suppress_health_check=[HealthCheck.too_slow])
def test_any_sequence_of_ingests_and_undos_leaves_what_the_ingests_that_stand_have_said(steps):
    replay, states = Replay(), {}
    with Workspace() as ws:
        for what, value, on_conflict in steps:
            standing = sorted(replay.said)
            if what == "undo":
                if not standing:
                    continue
                number = standing[value % len(standing)]
                ws.undo("d", number)
                del replay.said[number]
            else:
                before = ws.dataset("d").fingerprint if standing else None
                lines = [f"{s},q,{r},{k},{'' if v is None else v}" for (s, r, k), v in value]
                content = "\n".join(["system,query,rubric,judge,label", *lines]).encode()
                number = max(standing, default=0) + 1
                try:
                    ws.ingest(content, "d", on_conflict=on_conflict)
                except IngestError:
                    assert not replay.ingest(number, value, on_conflict)
                    continue
                assert replay.ingest(number, value, on_conflict)
                states[number] = before
            if not replay.said:
                assert ws.datasets().empty
                continue
            assert label_map(ws) == replay.state()
            with ws.reading() as cursor:
                for name, orphaned in ORPHANS.items():
                    assert not cursor.execute(f"FROM {name} WHERE {orphaned}").fetchall(), name
        for number in sorted(replay.said, reverse=True):
            fingerprint = ws.dataset("d").fingerprint
            ws.duplicate("d", "copy")
            assert ws.dataset("copy").fingerprint == fingerprint
            ws.undo("copy")
            ws.undo("d", number)
            left = ws.datasets()["fingerprint"].tolist()
            assert len(left) in (0, 2)
            assert len(set(left)) <= 1, "a copy has the history of the original"
            if left:
                ws.delete("copy")


def test_with_the_only_ingest_scenarios_and_rules_go_and_the_sentence_says_so(ws):
    ws.ingest(b"system,query,rubric,label\na,q,r,1\nb,q,r,0\n", "d")
    save_scenario(ws, "d", Scenario("mine", Settings(budget=7)))
    save_rules(ws, "d", ScoringRules(creativity=2.0))
    assert ws.undo("d").sentence.endswith("with it the dataset d, with 1 scenario and its scoring rules.")
