"""Scales on which less is better: asked about where names, a legend or school grades say so, and then read so."""

from __future__ import annotations

import pytest

from crubric_core.errors import IngestError
from crubric_core.labels.ingest.direction import is_reversed, legend_of
from crubric_core.labels.readers.policies import Policies

ROWS = [("good", 1), ("fair", 3), ("bad", 5)]
DOWN = {1: "excellent", 3: "fair", 5: "very poor"}
VERDICTS = {1: "Met", 3: "Partially met", 5: "Not met"}
UP = {1: "very poor", 3: "fair", 5: "excellent"}


def rated(names=None, header="system,query,rubric,judge,rating", rubric="r"):
    said = [f"{n} - {names[n]}" if names else str(n) for _, n in ROWS]
    rows = [f"{s},q,{rubric},j,{text}" for (s, _), text in zip(ROWS, said, strict=True)]
    return "\n".join((header, *rows)).encode()


ASKED = {
    "names of the levels": (rated(DOWN), r"named from 1 \(excellent\) to 5 \(very poor\)"),
    "numbered verdicts": (rated(VERDICTS), r"named from 1 \(met\) to 5 \(not met\)"),
    "a legend in the header": (
        rated(header="system,query,rubric,judge,rating (1 = best; 5 = worst)"),
        r"'rating \(1 = best; 5 = worst\)' says what its numbers mean",
    ),
    "a legend in the rubric": (rated(rubric="clarity (1 = very good; 5 = bad)"), "clarity"),
    "German school grades": (
        rated(header="Modell,Aufgabe,Kriterium,Prüfer,Note"),
        "'Note' looks like German school grades",
    ),
}


@pytest.mark.parametrize("name", ASKED)
def test_less_is_better_is_asked_about_and_counts_reversed_where_the_user_says_so(ws, name):
    content, sentence = ASKED[name]
    with pytest.raises(IngestError, match=sentence) as told:
        ws.ingest(content, "d")
    assert "--polarity '*=-1'" in str(told.value)
    ws.ingest(content, "d", policies=Policies(polarity={"*": -1}))
    dataset = ws.dataset("d")
    assert dataset.rubrics["polarity"].tolist() == [-1]
    assert dataset.labels().set_index("system")["label"].to_dict() == {"good": 1, "fair": 3, "bad": 5}
    levels = dict(zip(dataset.reduce().systems, dataset.panel()[:, 0, 0], strict=True))
    assert levels["good"] > levels["bad"]


@pytest.mark.parametrize("name", ASKED)
def test_the_highest_label_stays_the_best_where_the_user_says_so(ws, name):
    ws.ingest(ASKED[name][0], "d", policies=Policies(polarity={"*": 1}))
    assert ws.dataset("d").rubrics["polarity"].tolist() == [1]


@pytest.mark.parametrize(
    "content",
    [
        rated(UP),
        rated(),
        rated(header="system,query,rubric,judge,rating (1 = worst; 5 = best)"),
        rated(header="Modèle,Tâche,Critère,Évaluateur,Note"),
        rated({1: "a lot", 3: "some", 5: "none"}),
        rated({1: "Not met", 3: "Partially met", 5: "Met"}),
        b"system,query,rubric,judge,rating\ngood,q,r,j,1 - Yes\nbad,q,r,j,1 - Yes\n",
    ],
)
def test_scales_that_go_upwards_or_say_nothing_are_not_asked_about(ws, content):
    ws.ingest(content, "d")
    assert ws.dataset("d").rubrics["polarity"].tolist() == [1]


def test_what_the_dataset_knows_of_its_rubrics_is_not_asked_again(ws, table):
    ws.ingest(rated(DOWN), "d", policies=Policies(polarity={"*": -1}))
    more = rated(DOWN).replace(b",q,r,j,", b",q,r,k,")
    ws.ingest(more, "d")
    assert ws.dataset("d").rubrics["polarity"].tolist() == [-1]
    ws.ingest(table("s q -1", header="rubric query polarity"), "d", "rubrics")
    ws.ingest(more.replace(b",r,", b",s,"), "d")
    assert ws.dataset("d").rubrics["polarity"].tolist() == [-1, -1]


def test_the_polarity_of_one_criterion_is_that_of_no_other_and_can_be_undone(ws, table):
    ws.ingest(table("a q toxic j 1", "a q kind j 1", "b q toxic j 0", "b q kind j 0"), "d")
    again = table("a q toxic k 1", "a q kind k 1", "b q toxic k 0", "b q kind k 1")
    ws.ingest(again, "d", policies=Policies(polarity={"toxic": -1}))
    assert ws.dataset("d").rubrics.set_index("rubric")["polarity"].to_dict() == {"toxic": -1, "kind": 1}
    ws.undo("d")
    assert set(ws.dataset("d").rubrics["polarity"]) == {1}


def test_a_polarity_is_a_sign(ws, table):
    with pytest.raises(IngestError, match=r"polarity of 'r' is 2: expected -1"):
        ws.ingest(table("a q r j 1"), "d", policies=Policies(polarity={"r": 2}))


@pytest.mark.parametrize(
    ("names", "is_so"),
    [
        ({1: "best", 5: "worst"}, True),
        ({1: "best"}, True),
        ({5: "worst"}, True),
        ({0: "excellent", 4: "poor"}, True),
        ({1: "sehr gut", 2: "gut", 5: "mangelhaft"}, True),
        ({1: "worst", 5: "best"}, False),
        ({5: "best"}, False),
        ({1: "poor", 2: "good", 3: "bad"}, False),
        ({1: "red", 2: "green"}, False),
        ({}, False),
    ],
)
def test_numbers_with_names_go_from_good_to_bad_or_not(names, is_so):
    assert is_reversed(names) == is_so


def test_a_legend_is_read_from_a_header():
    assert legend_of("Rating (1 = Best, 5: worst)") == {1: "best", 5: "worst"}
    assert legend_of("Score (1-5)") == {}
    assert legend_of("Is 2.5 good?") == {}


@pytest.mark.parametrize("others", [("0.8", "0.2"), ("1", "0"), ("4", "2"), ("10", "3")])
@pytest.mark.parametrize("rubric", ["r", "other"])
def test_percentages_beside_shares_or_levels_are_refused_as_what_they_are(ws, table, others, rubric):
    rows = [
        "a q r j 80%",
        "b q r j 100%",
        *(f"{s} q {rubric} k {v}" for s, v in zip("ab", others, strict=True)),
    ]
    told = rf"are percentages, such as '100%', and all others numbers up to {max(others, key=float)}, such as"
    with pytest.raises(IngestError, match=told):
        ws.ingest(table(*rows), "d")


def test_criteria_of_percentages_and_of_levels_are_read_from_files_of_their_own(ws, table):
    ws.ingest(table("a q r j 80%", "b q r j 100%"), "d")
    ws.ingest(table("a q s j 4", "b q s j 2"), "d")
    assert sorted(ws.dataset("d").labels()["label"]) == [2, 4, 80, 100]


def test_percentages_beside_numbers_to_a_hundred_are_read(ws, table):
    ws.ingest(table("a q r j 80%", "b q r j 100%", "a q r k 80", "b q r k 1"), "d")
    assert sorted(ws.dataset("d").labels()["label"]) == [1, 80, 80, 100]
