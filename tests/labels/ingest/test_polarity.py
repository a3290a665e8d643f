"""Rubrics that are bad to meet, and what people say of the rubrics themselves."""

from __future__ import annotations

import pandas as pd
import pytest

from crubric_core.errors import IngestError
from crubric_core.judges.anchors import gold_levels

LABELS = ("good q kind j 1", "good q lies j 0", "bad q kind j 0", "bad q lies j 1")


def test_a_negative_weight_turns_the_labels_of_its_rubric_round(ws, table):
    ws.ingest(table(*LABELS), "d")
    ws.ingest(table("kind q 5", "lies q -8", header="rubric query points"), "d", "rubrics")
    dataset = ws.dataset("d")
    reduction = dataset.reduce()
    assert reduction.systems == ("bad", "good")
    assert reduction.y.tolist() == [[0, 0], [1, 1]]
    assert dataset.panel()[:, :, 0].tolist() == [[0, 0], [1, 1]]
    assert dataset.rubrics[["weight", "polarity"]].to_numpy().tolist() == [[5, 1], [-8, -1]]
    assert dataset.labels().set_index(["system", "rubric"])["label"].to_dict() == {
        ("good", "kind"): 1,
        ("good", "lies"): 0,
        ("bad", "kind"): 0,
        ("bad", "lies"): 1,
    }


def test_points_that_are_signed_already_count_as_they_are(ws, table):
    """Of a criterion of -8 points, -8 says that it was met and 0 that it was not: less is lost, and better."""
    rows = ("good q kind j 5", "good q lies j 0", "bad q kind j 0", "bad q lies j -6")
    ws.ingest(table(*rows), "d")
    ws.ingest(table("kind q 5", "lies q -6", header="rubric query points"), "d", "rubrics")
    dataset = ws.dataset("d")
    assert dataset.rubrics["polarity"].tolist() == [1, 1]
    assert dict(zip(dataset.reduce().systems, dataset.reduce("binary").y.tolist(), strict=True)) == {
        "good": [1, 1],
        "bad": [0, 0],
    }


def test_a_given_polarity_goes_before_the_sign_of_the_weight(ws, table):
    ws.ingest(table(*LABELS), "d")
    ws.ingest(table("kind q 5 -1", "lies q -8 1", header="rubric query weight polarity"), "d", "rubrics")
    assert ws.dataset("d").rubrics["polarity"].tolist() == [-1, 1]
    assert ws.dataset("d").reduce().y.tolist() == [[1, 1], [0, 0]]


def test_ordered_levels_of_a_bad_rubric_count_from_the_top(ws, table):
    ws.ingest(table("a q r j 1", "b q r j 4", "c q r j 5"), "d")
    ws.ingest(table("r q 1 5 -1", header="rubric query scale_min scale_max polarity"), "d", "rubrics")
    assert ws.dataset("d").reduce("ordered").y[:, 0].tolist() == [4, 1, 0]
    assert ws.dataset("d").reduce("binary").y[:, 0].tolist() == [1, 0, 0]


def test_gold_is_turned_round_with_its_rubric(ws, table):
    ws.ingest(table(*LABELS), "d")
    ws.ingest(
        table("good q lies h 0", "bad q lies h 1", header="system query rubric annotator label"), "d", "gold"
    )
    ws.ingest(table("lies q -1", header="rubric query weight"), "d", "rubrics")
    dataset = ws.dataset("d")
    levels = gold_levels(dataset.gold(), dataset.reduce())
    assert levels[:, 1].tolist() == [0, 1]


def test_polarity_is_part_of_the_fingerprint_and_only_where_it_turns_labels_round(ws, table):
    def fingerprint(name, header, *rows):
        ws.ingest(table(*LABELS), name)
        ws.ingest(table(*rows, header=header), name, "rubrics")
        return ws.dataset(name).fingerprint

    plain = fingerprint("a", "rubric query weight", "lies q 2")
    assert fingerprint("b", "rubric query weight polarity", "lies q 2 1") == plain
    assert fingerprint("c", "rubric query weight polarity", "lies q 2 -1") != plain


@pytest.mark.parametrize("value", ["0", "2", "bad"])
def test_a_polarity_is_1_or_minus_1(ws, table, value):
    with pytest.raises(IngestError, match=r"is not a polarity|is not a number"):
        ws.ingest(table(f"r q {value}", header="rubric query polarity"), "d", "rubrics")


def test_anchors_say_which_rubrics_are_valid(ws, table):
    ws.ingest(table(*LABELS), "d")
    report = ws.ingest(
        table("q kind ann 1", "q kind bob yes", "q lies ann 0", header="query rubric annotator valid"),
        "d",
        "anchors",
    )
    assert (report.accepted, report.rejected) == (3, 0)
    anchors = ws.dataset("d").anchors()
    assert anchors.to_numpy().tolist() == [
        ["q", "kind", "ann", 1],
        ["q", "kind", "bob", 1],
        ["q", "lies", "ann", 0],
    ]


def test_anchors_need_neither_query_nor_annotator_and_take_0_or_1_alone(ws, table):
    ws.ingest(table(*LABELS), "d")
    report = ws.ingest(table("kind 1", "lies 3", header="rubric valid"), "d", "anchors")
    assert report.rejects["reason"].tolist() == ["3 is neither 1 (valid) nor 0 (not valid)"]
    assert ws.dataset("d").anchors().to_numpy().tolist() == [["q", "kind", "human", 1]]


def test_anchors_do_not_care_about_the_rubrics_own_scale(ws, table):
    ws.ingest(table("r q 1 5", header="rubric query scale_min scale_max"), "d", "rubrics")
    ws.ingest(table("a q r j 4"), "d")
    ws.ingest(table("r q no", header="rubric query valid"), "d", "anchors")
    assert ws.dataset("d").anchors()["valid"].tolist() == [0]


def test_contradicting_anchors_are_left_out_or_the_last_one_counts(ws, table):
    ws.ingest(table(*LABELS), "d")
    header = "query rubric annotator valid"
    ws.ingest(table("q kind ann 1", header=header), "d", "anchors")
    with pytest.raises(IngestError, match="for the same rubric and annotator"):
        ws.ingest(table("q kind ann 0", header=header), "d", "anchors")
    ws.ingest(table("q kind ann 0", header=header), "d", "anchors", on_conflict="last")
    assert ws.dataset("d").anchors()["valid"].tolist() == [0]
    ws.undo("d")
    assert ws.dataset("d").anchors()["valid"].tolist() == [1]


def test_anchors_that_came_before_the_query_find_it(ws, table):
    ws.ingest(table("a r j 1", header="system rubric judge label"), "d")
    ws.ingest(table("r 1", header="rubric valid"), "d", "anchors")
    ws.ingest(table("r q", header="rubric query"), "d", "rubrics")
    assert ws.dataset("d").anchors().to_numpy().tolist() == [["q", "r", "human", 1]]


def test_anchors_change_the_fingerprint(ws, table):
    ws.ingest(table(*LABELS), "d")
    before = ws.dataset("d").fingerprint
    ws.ingest(table("kind q 1", header="rubric query valid"), "d", "anchors")
    assert ws.dataset("d").fingerprint != before


def test_an_empty_table_of_anchors_has_its_columns(ws, table):
    ws.ingest(table(*LABELS), "d")
    assert isinstance(ws.dataset("d").anchors(), pd.DataFrame)
    assert list(ws.dataset("d").anchors().columns) == ["query", "rubric", "annotator", "valid"]


def test_a_label_that_is_the_points_of_its_rubric_is_no_code_for_a_missing_one(ws, table):
    """-8 is such a code elsewhere, and was rejected: the system that did harm lost the labels that say so."""
    rows = [f"{s} q{q} {c} {w} {w * met}" for q in range(4) for s, c, w, met in _EARNED]
    report = ws.ingest(table(*rows, header="system query criterion points score"), "d")
    assert (report.accepted, report.rejected) == (16, 0)
    unsaid = table(*rows, header="system query criterion unit score")
    assert ws.ingest(unsaid, "e").rejected == 4, "nothing says that -8 is what a rubric is worth"


_EARNED = (("bad", "kind", 5, 0), ("bad", "lies", -8, 1), ("good", "kind", 5, 1), ("good", "lies", -8, 0))
