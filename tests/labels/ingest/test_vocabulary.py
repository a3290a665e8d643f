"""What a word stands for follows from all labels that come together, in whatever order and however they are split."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from crubric_core.errors import IngestError
from crubric_core.labels.readers.bundle import plan_ingest
from crubric_core.labels.readers.policies import Policies
from crubric_core.labels.store.workspace import Workspace

LABELS = "system,query,rubric,judge,label"
GOLD = "system,query,rubric,annotator,label"


def table(words: Sequence[object], judge: str = "gpt", rubric: str = "r", header: str = LABELS) -> str:
    rows = [f"{s},q{i},{rubric},{judge},{word}" for i, word in enumerate(words) for s in "ab"]
    return "\n".join([header, *rows]) + "\n"


def folder(path: Path, files: Mapping[str, str]) -> Path:
    for name, content in files.items():
        (path / name).write_text(content)
    return path


def levels(ws: Workspace, judge: str = "gpt", dataset: str = "d") -> list[int]:
    """The labels that a judge gave one system, in the order of the queries."""
    found = ws.dataset(dataset).labels()
    own = found[(found["judge"] == judge) & (found["system"] == "a")]
    return [int(label) for label in own.sort_values("query")["label"]]


def gold(ws: Workspace) -> list[int]:
    found = ws.dataset("d").gold()
    return [int(label) for label in found[found["system"] == "a"].sort_values("query")["label"]]


@pytest.mark.parametrize("names", [("1.csv", "2.csv"), ("2.csv", "1.csv")], ids=["first", "last"])
@pytest.mark.parametrize(
    ("wide", "narrow", "meant"),
    [
        (["yes", "partial", "no"], ["yes", "no"], ([2, 1, 0], [2, 0])),
        (["met", "partially met", "unmet"], ["met", "unmet"], ([2, 1, 0], [2, 0])),
        (["excellent", "good", "poor"], ["good", "poor"], ([3, 2, 0], [2, 0])),
        (["A", "B", "F"], ["A+", "B"], ([11, 8, 0], [12, 8])),
    ],
)
def test_a_word_stands_for_the_same_in_all_files_whatever_their_order(
    ws: Workspace,
    tmp_path: Path,
    names: tuple[str, str],
    wide: list[str],
    narrow: list[str],
    meant: tuple[list[int], list[int]],
) -> None:
    """The reading of the last file counted for all: yes became 1, as partial."""
    files = {names[0]: table(wide, "gpt"), names[1]: table(narrow, "claude")}
    ws.ingest(folder(tmp_path, files), "d")
    assert (levels(ws, "gpt"), levels(ws, "claude")) == meant


def test_what_a_person_changed_in_the_plan_of_one_file_holds_for_all(ws: Workspace, tmp_path: Path) -> None:
    files = {"1.csv": table(["yes", "partial", "no"]), "2.csv": table(["yes", "no"], "claude")}
    source = folder(tmp_path, files)
    plan = plan_ingest(source)
    plan = plan.changed("1.csv", words={**plan.file("1.csv").words, "partial": 0, "yes": 1})
    ws.ingest_plan(plan, "d", source)
    assert (levels(ws, "gpt"), levels(ws, "claude")) == ([1, 0, 0], [1, 0])


@pytest.mark.parametrize(
    ("labels", "people"),
    [(["yes", "partial", "no"], ["yes", "yes", "no"]), (["yes", "yes", "no"], ["yes", "partial", "no"])],
)
def test_gold_labels_that_come_with_the_labels_are_read_as_they_are(
    ws: Workspace, tmp_path: Path, labels: list[str], people: list[str]
) -> None:
    """A gold yes was 1, as partial of the judges."""
    files = {"labels.csv": table(labels), "gold.csv": table(people, "human", header=GOLD)}
    ws.ingest(folder(tmp_path, files), "d")
    meant = {"yes": 2, "partial": 1, "no": 0}
    assert levels(ws) == [meant[word] for word in labels]
    assert gold(ws) == [meant[word] for word in people]


@pytest.mark.parametrize("no", ["N", "nein", "❌", "no", "Fail"])
def test_a_no_among_numbers_from_1_to_5_is_no_level_however_it_is_written(ws: Workspace, no: str) -> None:
    """It was 0, and the scale began there, where no word said yes."""
    report = ws.ingest(table([1, 2, no, 4, 5]).encode(), "d")
    assert report.rejected == 2
    assert f"{no} is a verdict, but labels go up to 5" in report.rejects["reason"][0]
    assert set(ws.dataset("d").rubrics["scale_min"]) == {1}


@pytest.mark.parametrize("together", [True, False], ids=["one ingest", "two"])
def test_gold_verdicts_of_a_graded_criterion_are_rejected_as_labels_are(
    ws: Workspace, tmp_path: Path, together: bool
) -> None:
    """A gold pass was 1, the lowest of 1 to 5, and a fail lay off the scale, where nothing counts it."""
    labels, people = table([5, 4, 1, 3, 2]), table(["pass", "pass", "fail"], "human", header=GOLD)
    if not together:
        ws.ingest(labels.encode(), "d")
    files = {"gold.csv": people} | ({"labels.csv": labels} if together else {})
    with pytest.raises(IngestError, match=r"pass is a verdict, but labels go up to 5.*--answer") as error:
        ws.ingest(folder(tmp_path, files), "d")
    assert error.value.words == ("fail", "pass")
    ws.ingest(tmp_path, "d", policies=Policies(answers={"pass": 5, "fail": 1}))
    assert gold(ws) == [5, 5, 1]


def test_gold_verdicts_of_yes_and_no_stand_beside_verdicts_of_the_judges(
    ws: Workspace, tmp_path: Path
) -> None:
    files = {"labels.csv": table([1, 0, 1]), "gold.csv": table(["pass", "fail", "pass"], "h", header=GOLD)}
    report = ws.ingest(folder(tmp_path, files), "d")
    assert (report.rejected, gold(ws)) == (0, [1, 0, 1])
    assert "gold_scale" not in {finding.code for finding in report.checks}


@pytest.mark.parametrize(
    ("people", "told"), [([1, 0], True), ([5, 0], True), ([5, 1], False), ([1, 2], False), ([3, 4], False)]
)
def test_gold_labels_on_another_scale_than_the_judges_are_told(
    ws: Workspace, tmp_path: Path, people: list[int], told: bool
) -> None:
    files = {"labels.csv": table([5, 4, 1, 3, 2]), "gold.csv": table(people, "human", header=GOLD)}
    report = ws.ingest(folder(tmp_path, files), "d")
    for checks in (report.checks, ws.dataset("d").checks()):
        assert ("gold_scale" in {finding.code for finding in checks}) is told


def test_gold_labels_of_0_and_1_beside_grades_from_0_are_told(ws: Workspace, tmp_path: Path) -> None:
    """All are on the scale, so that a verdict of 1 would be the next to lowest level."""
    labels, people = table([5, 4, 0, 3, 2]), table([1, 1, 0, 1, 0], "human", header=GOLD)
    report = ws.ingest(folder(tmp_path, {"labels.csv": labels, "gold.csv": people}), "d")
    (found,) = (f for f in report.checks if f.code == "gold_scale")
    assert "gold 0 to 1, labels 0 to 5" in found.sentence


@pytest.mark.parametrize(
    ("words", "meant"), [(["poor", "fair", "good"], [1, 2, 3]), (["yes", "partial", "no"], [2, 1, 0])]
)
def test_a_yes_among_grades_is_rejected_whatever_words_another_criterion_has(
    ws: Workspace, words: list[str], meant: list[int]
) -> None:
    """It was a level of 1 to 5, where words of another criterion make a scale of more than two levels."""
    depth = table([1, 2, 3, 4, 5, "yes"], rubric="depth")
    tone = table(words, rubric="tone").removeprefix(LABELS + "\n")
    for _ in range(2):  # what is stored changes nothing
        report = ws.ingest((depth + tone).encode(), "d")
        assert report.rejected == 2
        assert set(report.rejects["value"]) == {"yes"}
        assert "yes is a verdict, but labels go up to 5" in report.rejects["reason"][0]
    found = ws.dataset("d").labels()
    tone_levels = found[(found["system"] == "a") & found["rubric"].str.contains("tone")]
    assert tone_levels.sort_values("query")["label"].tolist() == meant


def test_one_stray_number_among_verdicts_in_words_is_rejected_and_no_verdict(ws: Workspace) -> None:
    """All verdicts were rejected for it, and it was the only label."""
    report = ws.ingest(table([*["yes", "no"] * 20, 2024]).replace("b,q40,r,gpt,2024\n", "").encode(), "d")
    assert report.rejects["value"].tolist() == ["2024"]
    assert "2024 lies far outside the other labels of r, 0 to 1 (1 of 81)" in report.rejects["reason"][0]
    assert sorted(levels(ws)) == [0] * 20 + [1] * 20


@pytest.mark.parametrize(
    ("first", "later", "told"),
    [
        (["poor", "fair", "good", "excellent"], ["poor", "fair", "good"], ["fair", "good", "poor"]),
        (["A", "B+", "C", "F"], ["A", "B", "C", "D"], ["a", "c"]),
        (["poor", "fair", "good"], ["poor", "fair", "good", "fair"], []),
        (["yes", "no"], ["no", "yes"], []),
    ],
)
def test_a_word_that_means_another_level_than_in_an_earlier_ingest_is_told(
    ws: Workspace, first: list[str], later: list[str], told: list[str]
) -> None:
    """New systems with other words of the same criterion came on another scale, in silence."""
    ws.ingest(table(first).encode(), "d")
    report = ws.ingest(table(later, "claude").encode(), "d")
    found = [f for f in report.checks if f.code == "changed_words"]
    assert [word for finding in found for word in finding.examples["word"]] == told
    assert all("--answer" in finding.sentence for finding in found)


def test_a_word_that_means_another_level_for_another_criterion_is_not_told(ws: Workspace) -> None:
    ws.ingest(table(["yes", "no"]).encode(), "d")
    report = ws.ingest(table(["yes", "partial", "no"], rubric="tone").encode(), "d")
    assert "changed_words" not in {finding.code for finding in report.checks}


@pytest.mark.parametrize("code", ["-9.0", "-9", "−9"])
def test_what_is_said_of_a_number_holds_however_the_number_is_written(ws: Workspace, code: str) -> None:
    """No label was said to be -9, where all have a decimal point."""
    content = table([1.0, 2.0, 3.0, 5.0, code]).encode()
    report = ws.ingest(content, "d", policies=Policies(answers={"-9": None}))
    assert (report.rejected, report.blank) == (0, 2)
    assert "unused_answers" not in {finding.code for finding in report.checks}


@pytest.mark.parametrize(
    ("labels", "asked"),
    [
        (["None", "Minor", "Major"], ("Major", "Minor", "None")),
        (["valid", "invalid", "NA", ""], ("invalid", "valid")),
    ],
)
def test_a_refusal_asks_of_all_words_without_a_level(
    ws: Workspace, labels: list[str], asked: tuple[str, ...]
) -> None:
    """Of none and invalid nothing was asked, and they were unknown labels beside levels of the same scale."""
    with pytest.raises(IngestError, match=f"Words without a level: '{asked[0]}'") as error:
        ws.ingest(table(labels).encode(), "d")
    assert error.value.words == asked
