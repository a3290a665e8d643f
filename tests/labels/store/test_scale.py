"""Label scales: given by a table of rubrics, or seen in the labels."""

from __future__ import annotations

import pytest

from crubric_core.errors import IngestError
from crubric_core.labels import Scale
from crubric_core.labels.readers.policies import Policies


def labels(values, rubric="r"):
    return "\n".join(
        ["system,query,rubric,label", *(f's{i},q,"{rubric}",{v}' for i, v in enumerate(values))]
    ).encode()


@pytest.mark.parametrize(
    ("values", "scale"),
    [
        ([0, 1], (0, 1, 2)),
        ([0, 4, 2], (0, 4, 5)),
        ([1, 5, 3], (1, 5, 5)),
        ([1, 10], (1, 10, 10)),
        ([-1, 0, 1], (-1, 1, 3)),
        (["yes", "no"], (0, 1, 2)),
        ([1, 1], (0, 1, 2)),
        ([0, 0], (0, 1, 2)),
        ([5, 5], (1, 5, 5)),
        (["NA", "NA"], (0, 1, 2)),
    ],
)
def test_without_a_table_of_rubrics_the_scale_is_that_of_the_labels(ws, values, scale):
    report = ws.ingest(labels(values), "d")
    assert report.scale == ws.dataset("d").scale == Scale(*map(float, scale[:2]), scale[2], "inferred")


@pytest.mark.parametrize(
    ("behind", "scale"),
    [
        ("(1-5)", (1, 5)),
        ("[0 – 10]", (0, 10)),
        ("(1 to 7)", (1, 7)),
        ("(-2..4)", (-2, 4)),
        ("(1 = poor, 5 = excellent)", (1, 5)),
        ("(0: no; 2: partly; 4: yes)", (0, 4)),
    ],
)
def test_the_name_of_a_criterion_gives_the_scale_that_stands_behind_it(ws, behind, scale):
    report = ws.ingest(labels([2, 3, 4], f"Clarity {behind}"), "d")
    assert report.scale == Scale(*map(float, scale), scale[1] - scale[0] + 1, "inferred")
    assert report.checks == ()


@pytest.mark.parametrize(
    "name",
    [
        "Clarity",
        "Growth (2019-2024)",
        "Clarity (3-5)",
        "Clarity (1-5) of the answer",
        "Clarity (5-1)",
        "Says that the patient should take one tablet daily with food (1-5)",
    ],
)
def test_other_names_give_no_scale(ws, name):
    report = ws.ingest(labels([2, 3, 4], name), "d")
    assert report.scale == Scale(1.0, 4.0, 4, "inferred")
    assert report.checks == ()


def test_labels_that_are_not_on_the_scale_behind_a_name_are_told(ws):
    (found,) = ws.ingest(labels([0, 1, 2, 3, 4], "Clarity (1-5)"), "d").checks
    assert found.code == "off_named_scale"
    assert "such as Clarity (1-5) (labels 0, 1, 2, 3, 4): the scale is taken as 0 to 4" in found.sentence


def test_a_scale_that_somebody_gives_goes_before_the_one_behind_a_name(ws):
    policies = Policies(scales={"Clarity (1-5)": (0, 4)})
    report = ws.ingest(labels([0, 1, 2, 3, 4], "Clarity (1-5)"), "d", policies=policies)
    assert report.scale == Scale(0.0, 4.0, 5, "given")
    assert report.checks == ()


@pytest.mark.parametrize("values", [(0, 1), (1, 1), ("yes", "no")])
def test_verdicts_on_a_sentence_that_ends_with_two_numbers_are_pass_or_fail(ws, values):
    """Of "Mentions the ages (0-12)" met was 1 of 12, and nobody passed."""
    ws.ingest(labels(values, "Mentions the ages (0-12)"), "d")
    assert ws.dataset("d").rubrics[["scale_min", "scale_max"]].values.tolist() == [[0, 1]]


def test_a_table_of_rubrics_gives_the_scale(ws):
    ws.ingest(labels([2, 3]), "d")
    report = ws.ingest(b"rubric,query,scale_min,scale_max\nr,q,1,5\n", "d", "rubrics")
    assert report.scale == Scale(1.0, 5.0, 5, "given")


def test_where_only_the_top_is_given_a_scale_without_0_begins_at_1(ws):
    ws.ingest(labels([2, 3]), "d")
    ws.ingest(b"rubric,query,scale_max\nr,q,5\n", "d", "rubrics")
    assert ws.dataset("d").rubrics[["scale_min", "scale_max", "levels"]].values.tolist() == [[1, 5, 5]]
    assert ws.dataset("d").scale.source == "inferred"


def test_rubrics_may_have_scales_of_their_own(ws):
    ws.ingest(b"rubric,query,scale_min,scale_max\nr,q,0,1\ns,q,1,5\n", "d", "rubrics")
    ws.ingest(labels([0, 1], "r"), "d")
    ws.ingest(labels([1, 5], "s"), "d")
    assert ws.dataset("d").rubrics["levels"].tolist() == [2, 5]
    assert ws.dataset("d").reduce("ordered").levels.tolist() == [2, 5]
    assert ws.dataset("d").reduce("binary").levels.tolist() == [2, 2]


def test_labels_off_a_given_scale_are_rejected_with_the_scale(ws):
    ws.ingest(b"rubric,query,scale_min,scale_max\nr,q,1,5\n", "d", "rubrics")
    report = ws.ingest(labels([1, 0, 5, 6, 4.5, 3, 2, 2, 2, 2, 2]), "d")
    assert report.rejects["row"].tolist() == [3, 5, 6]
    assert report.rejects["reason"].tolist() == [
        "0 lies outside the scale of r, 1 to 5",
        "6 lies outside the scale of r, 1 to 5",
        "4.5 lies between two levels: expected a whole number",
    ]


def test_a_lone_half_mark_is_rejected_without_a_given_scale_too(ws):
    report = ws.ingest(labels([1, 5, 4.5, 3, 2, 2, 2, 2, 2, 2, 2]), "d")
    assert report.rejects["value"].tolist() == ["4.5"]
    assert report.scale == Scale(1.0, 5.0, 5, "inferred")


@pytest.mark.parametrize(
    ("values", "factor"), [([0, 0.25, 0.5, 1], 4), ([1, 1.5, 2], 2), ([0.1, 0.7, 1], 10)]
)
def test_labels_in_equal_parts_are_refused_with_the_factor_that_makes_them_whole(ws, values, factor):
    with pytest.raises(IngestError, match=f"multiply the labels .* by {factor}"):
        ws.ingest(labels(values), "d")


def test_a_table_of_rubrics_that_puts_stored_labels_off_scale_is_refused(ws):
    before = ws.ingest(labels([1, 5]), "d").fingerprint
    with pytest.raises(IngestError, match=r"rubric 'r' the scale … to 4, but its stored labels hold 5"):
        ws.ingest(b"rubric,query,scale_max\nr,q,4\n", "d", "rubrics")
    with pytest.raises(IngestError, match=r"rubric 'r' the scale 2 to 5, but its stored labels hold 1"):
        ws.ingest(b"rubric,scale_min,scale_max\nr,2,5\n", "d", "rubrics")
    assert ws.dataset("d").fingerprint == before
    assert ws.dataset("d").scale == Scale(1.0, 5.0, 5, "inferred")


def test_gold_labels_keep_to_a_given_scale(ws):
    ws.ingest(labels([1, 5]), "d")
    ws.ingest(b"rubric,query,scale_min,scale_max\nr,q,1,5\n", "d", "rubrics")
    report = ws.ingest(b"system,rubric,label\ns0,r,5\ns1,r,7\n", "d", "gold")
    assert report.rejects["value"].tolist() == ["7"]


@pytest.mark.parametrize("given", [b"r,q,1,5", b"other,q,1,5"])
def test_a_verdict_has_no_place_on_a_graded_scale(ws, given):
    ws.ingest(b"rubric,query,scale_min,scale_max\n" + given + b"\n", "d", "rubrics")
    report = ws.ingest(labels([1, 5, "yes", 3]), "d")
    assert report.rejects["value"].tolist() == ["yes"]
    assert "yes is a verdict, but labels go up to 5" in report.rejects["reason"][0]


def test_a_verdict_stands_beside_grades_where_its_rubric_goes_from_0_to_1(ws):
    ws.ingest(b"rubric,query,scale_min,scale_max\nr,q,0,1\ns,q,1,5\n", "d", "rubrics")
    both = labels(["yes", "no"], "r") + b"\n" + labels([5, 1], "s").split(b"\n", 1)[1]
    report = ws.ingest(both, "d")
    assert (report.accepted, report.rejected) == (4, 0)
    assert ws.dataset("d").reduce().y.tolist() == [[1, 1], [0, 0]]
