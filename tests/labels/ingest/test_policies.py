"""Values that can be read in several ways are read as the user chose; each choice tells how many rows it decided."""

from __future__ import annotations

import pytest

from crubric_core.errors import IngestError
from crubric_core.labels import Workspace
from crubric_core.labels.readers.policies import Policies


def given(ws: Workspace, content: bytes, **choices: object):
    """The report, and the labels by system."""
    report = ws.ingest(content, "d", policies=Policies(**choices))
    frame = ws.dataset("d").labels()
    known = frame["label"].astype(object).where(frame["label"].notna(), None)
    return report, dict(zip(frame["system"], known, strict=True))


def test_labels_between_two_levels_are_rounded_only_when_asked_to(ws, table):
    content = table("a q r j 4.5", *(f"s{i} q r j 4" for i in range(20)))
    report, labels = given(ws, content)
    assert report.rejects["value"].tolist() == ["4.5"]
    ws.delete("d")
    for choice, label in (("down", 4), ("up", 5)):
        report, labels = given(ws, content, fractions=choice)
        assert labels["a"] == label
        assert report.applied == {"fractions": 1}
        ws.delete("d")


def test_labels_in_quarters_become_levels_and_so_do_the_ends_of_their_scale(ws, table):
    content = table("a q r j 0.25", "b q r j 1", "c q r j 0.5", "d q r j 0")
    with pytest.raises(IngestError, match=r"steps of 0.25, .* multiply .* by 4 \(policy multiply=4\)"):
        ws.ingest(content, "d")
    ws.ingest(b"rubric,query,scale_min,scale_max\nr,q,0,1\n", "d", "rubrics", policies=Policies(multiply=4))
    report, labels = given(ws, content, multiply=4)
    assert labels == {"a": 1, "b": 4, "c": 2, "d": 0}
    assert report.applied == {"multiply": 4}
    assert ws.dataset("d").scale.maximum == 4


def test_a_factor_leaves_no_rounding_error(ws, table):
    content = table(*(f"s{i:02} q r j {i / 10}" for i in range(1, 11)))
    _, labels = given(ws, content, multiply=10)
    assert list(labels.values()) == list(range(1, 11))


def test_zero_means_no_label_only_when_asked_to(ws, table):
    content = table("a q r j 0", "b q r j 3", "c q r j 0.0", "e q r j no")
    report, labels = given(ws, content)
    assert labels["a"] == 0
    ws.delete("d")
    report, labels = given(ws, table("a q r j 0", "b q r j 3", "c q r j 0.0"), zero="unknown")
    assert labels == {"a": None, "b": 3, "c": None}
    assert (report.blank, report.applied) == (2, {"zero": 2})


def test_labels_off_their_scale_go_to_its_end_only_when_asked_to(ws, table):
    ws.ingest(b"rubric,query,scale_min,scale_max\nr,q,1,5\n", "d", "rubrics")
    content = table("a q r j 9", "b q r j 0", "c q r j 3", "e q r j NA", "f q s j 9")
    report, _ = given(ws, content)
    assert report.rejects["value"].tolist() == ["9", "0"]
    ws.undo("d")
    report, labels = given(ws, content, off_scale="clip")
    assert labels == {"a": 5, "b": 1, "c": 3, "e": None, "f": 9}
    assert report.applied == {"off_scale": 2}


def test_words_stand_for_what_the_user_says_in_any_case(ws, table):
    content = table(
        "a q r j Excellent", "b q r j poor", "c q r j cannot-tell", "e q r j EXCELLENT", "f q r j meh"
    )
    report, labels = given(ws, content, answers={"excellent": 5, "POOR": 1, "cannot-tell": None})
    assert labels == {"a": 5, "b": 1, "c": None, "e": 5}
    assert report.applied["answers"] == 4
    assert report.rejects["value"].tolist() == ["meh"]


@pytest.mark.parametrize(("on_conflict", "label"), [("first", 1), ("last", 2)])
def test_the_first_or_the_last_of_contradicting_rows_counts(ws, table, on_conflict, label):
    report, labels = given(ws, table("a q r j 1", "a q r j 2"), on_conflict=on_conflict)
    assert labels == {"a": label}
    assert (report.replaced, report.applied) == (1, {"on_conflict": 1})
    stored = {"first": label, "last": 3}[on_conflict]
    report, labels = given(ws, table("a q r j 3"), on_conflict=on_conflict)
    assert labels == {"a": stored}


def test_the_first_description_counts_column_by_column(ws, table):
    ws.ingest(table("a q r j 1"), "d")
    header = "rubric query weight dimension"
    ws.ingest(table("r q 1 ", header=header), "d", "rubrics")
    ws.ingest(table("r q 2 style", header=header), "d", "rubrics", on_conflict="first")
    row = ws.dataset("d").rubrics.iloc[0]
    assert (row["weight"], row["dimension"]) == (1, "style")


def test_policies_go_before_on_conflict(ws, table):
    ws.ingest(table("a q r j 1"), "d")
    ws.ingest(table("a q r j 2"), "d", on_conflict="reject", policies=Policies(on_conflict="last"))
    assert ws.dataset("d").labels()["label"].tolist() == [2]


@pytest.mark.parametrize(
    ("choices", "words"),
    [
        ({"zero": "maybe"}, "zero = 'maybe' is unknown: use one of label, unknown"),
        ({"multiply": 0}, "multiply = 0 is not a factor"),
        ({"multiply": True}, "multiply = True is not a factor"),
        ({"answers": {" ": 1}}, "The answer ' ' stands for 1"),
        ({"answers": {"x": float("nan")}}, "The answer 'x' stands for nan"),
    ],
)
def test_a_choice_that_there_is_not_is_named(choices, words):
    with pytest.raises(IngestError, match=words):
        Policies(**choices)


@pytest.mark.parametrize(
    ("choices", "meant"), [({"threshold": 0.5}, [1, 0, None, 1]), ({"bins": 4}, [3, 1, None, 2])]
)
def test_of_continuous_scores_a_zero_that_was_given_means_no_label(ws, table, choices, meant):
    """A level of 0 that a threshold or bins made of another score is a label: every failure was unknown."""
    rows = [f"s{i} q r j {score}" for i, score in enumerate([0.9, 0.3, 0, 0.71])]
    report, labels = given(ws, table(*rows), zero="unknown", **choices)
    assert (report.blank, report.applied["zero"]) == (1, 1)
    assert [labels[f"s{i}"] for i in range(4)] == meant
