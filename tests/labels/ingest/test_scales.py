"""A scale belongs to a criterion; nothing stretches it in silence."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from crubric_core.errors import DatasetError, IngestError
from crubric_core.labels.ingest.strays import candidates, find_strays
from crubric_core.labels.readers.bundle import plan_ingest
from crubric_core.labels.readers.policies import Policies
from crubric_core.labels.store.scales import set_scale

HEADER = "system,query,rubric,judge,label"


def rows(rubric, values, query="q", judge="j"):
    return [f"s{i},{query},{rubric},{judge},{value}" for i, value in enumerate(values)]


def file(*parts):
    return "\n".join([HEADER, *(row for part in parts for row in part)]).encode()


def scales(ds):
    return {r.rubric: (r.scale_min, r.scale_max) for r in ds.rubrics.itertuples()}


def codes(report):
    return [finding.code for finding in report.checks]


def test_booleans_keep_their_scale_beside_grades(ws):
    ws.ingest(file(rows("cites", [0, 1, 1, 0]), rows("clarity", [0, 10, 7, 3])), "d")
    assert scales(ws.dataset("d")) == {"cites": (0, 1), "clarity": (0, 10)}
    assert ws.dataset("d").reduce().y[:, 0].tolist() == [0, 1, 1, 0]


@pytest.mark.parametrize("first", ["*", "clarity"])
def test_what_is_said_of_one_criterion_goes_before_what_is_said_of_all(ws, first):
    """The wider scale, the higher mark and the lower sign counted, and labels below the scale were read."""
    said = {"scales": {"*": (1, 5), "clarity": (0, 1)}, "pass_marks": {"*": 4, "clarity": 1}}
    said |= {"polarity": {"*": -1, "clarity": 1}}
    policies = Policies(
        **{name: dict(sorted(given.items(), key=lambda g: g[0] != first)) for name, given in said.items()}
    )
    report = ws.ingest(file(rows("clarity", [0, 1]), rows("depth", [1, 4])), "d", policies=policies)
    assert report.rejected == 0
    found = ws.dataset("d").criteria.set_index("criterion")
    columns = ["scale_min", "scale_max", "pass_mark", "polarity"]
    assert found.loc["clarity", columns].tolist() == [0, 1, 1, 1]
    assert found.loc["depth", columns].tolist() == [1, 5, 4, -1]


def test_a_scale_given_with_later_labels_is_held_against_the_stored_ones(ws):
    """Stored labels below it were read as levels below the lowest."""
    ws.ingest(file(rows("clarity", [0, 1])), "d")
    with pytest.raises(IngestError, match="the scale 1 to 5, but its stored labels hold 0"):
        ws.ingest(
            file(rows("clarity", [1, 5], judge="k")), "d", policies=Policies(scales={"clarity": (1, 5)})
        )
    assert ws.dataset("d").counts()["labels"] == 2


def test_yes_and_no_stand_beside_grades_of_another_criterion(ws):
    report = ws.ingest(file(rows("cites", ["yes", "no"]), rows("clarity", [1, 5])), "d")
    assert (report.accepted, report.rejected) == (4, 0)
    assert scales(ws.dataset("d")) == {"cites": (0, 1), "clarity": (1, 5)}


def test_the_same_criterion_shares_its_scale_over_queries_and_unlike_ones_never(ws):
    ws.ingest(file(
        rows("q1#clarity", [1, 2, 2], "q1"), rows("q2#clarity", [4, 5, 3], "q2"),
        rows("q1#0", [0, 1, 1], "q1"), rows("q2#0", [1, 4, 3], "q2"),
    ), "d")  # fmt: skip
    assert scales(ws.dataset("d")) == {
        "q1#0": (0, 1),
        "q1#clarity": (1, 5),
        "q2#0": (1, 4),
        "q2#clarity": (1, 5),
    }


def test_the_same_text_is_the_same_criterion(ws):
    ws.ingest(file(rows("a", [1, 2, 2], "q1"), rows("b", [4, 5, 3], "q2")), "d")
    ws.ingest(b"rubric,query,text\na,q1,Is it  CLEAR?\nb,q2,is it clear?\n", "d", "rubrics")
    assert scales(ws.dataset("d")) == {"a": (1, 5), "b": (1, 5)}
    assert ws.dataset("d").criteria[["rubrics", "queries", "labels"]].values.tolist() == [[2, 2, 6]]


def test_one_stray_number_is_rejected_and_kills_nothing(ws):
    report = ws.ingest(file(rows("cites", [0, 1] * 120), rows("cites", [11], judge="k")), "d")
    assert report.rejects["value"].tolist() == ["11"]
    assert report.rejects["reason"][0].startswith(
        "11 lies far outside the other labels of cites, 0 to 1 (1 of 241)"
    )
    assert scales(ws.dataset("d")) == {"cites": (0, 1)}
    assert "stray" in codes(report)


def test_a_stray_number_stays_where_its_scale_is_given(ws):
    ws.ingest(b"rubric,query,scale_min,scale_max\ncites,q,0,11\n", "d", "rubrics")
    report = ws.ingest(file(rows("cites", [0, 1] * 120), rows("cites", [11], judge="k")), "d")
    assert report.rejected == 0


@pytest.mark.parametrize("code", [-9, -999, 99, 9999])
def test_a_code_for_a_missing_label_is_no_level(ws, code):
    content = file(rows("clarity", [1, 2, 3, 4, 5, code, code]))
    report = ws.ingest(content, "d")
    assert report.rejects["value"].tolist() == [str(code)] * 2
    assert f"--answer={code}=" in report.rejects["reason"][0]
    report = ws.ingest(content, "answered", policies=Policies(answers={str(code): None}))
    assert (report.rejected, report.blank) == (0, 2)
    assert scales(ws.dataset("answered")) == {"clarity": (1, 5)}


def test_what_is_a_stray_follows_from_the_numbers_alone():
    assert find_strays({0: 10, 1: 12, 11: 1}, frozenset({11})) == {11: (0, 1)}
    assert find_strays({0: 10, 1: 12, 2: 1}, frozenset({2})) == {}, "the next level is no stray"
    assert find_strays({0: 3, 1: 3, 10: 3}, frozenset({10})) == {}, "a third of all labels is no slip"
    assert find_strays({0: 1, 10: 1}, frozenset({0, 10})) == {}
    assert find_strays({2: 18, 1: 1, 3: 1, 5: 1}, frozenset({1, 3, 5})) == {}, (
        "5 is near once 1 and 3 are levels"
    )
    assert find_strays({0: 7, 1: 7, 11: 1}, frozenset({11})) == {}, "15 labels alone say too little"
    assert find_strays({0: 7, 1: 7, 11: 1}, frozenset({11}), everywhere=240) == {11: (0, 1)}
    assert find_strays(dict.fromkeys(range(0, 100, 7), 1), frozenset(range(0, 100, 7))) == {}
    assert candidates({0: 500, 1: 499, 11: 1}) == {11}


@pytest.mark.parametrize(("value", "ends"), [(0, "0 to 5"), (9, "1 to 9")])
def test_a_label_alone_outside_of_the_others_is_told(ws, value, ends):
    content = file(rows("clarity", [1, 2, 3, 4, 5] * 6), rows("clarity", [value], judge="k"))
    (found,) = [f for f in ws.ingest(content, "d").checks if f.code == "lone_level"]
    assert f"1 of the 31 labels of clarity is {value}, but the others go from 1 to 5" in found.sentence
    assert f"the scale is taken as {ends}" in found.sentence
    given = ws.ingest(content, "given", policies=Policies(scales={"clarity": (0, 9)}))
    assert "lone_level" not in codes(given)
    report = ws.ingest(content, "answered", policies=Policies(answers={str(value): None}))
    assert "lone_level" not in codes(report)
    assert scales(ws.dataset("answered")) == {"clarity": (1, 5)}


@pytest.mark.parametrize(
    "labels",
    [
        [0, 1, 2, 3, 4, 5] * 6,
        [*[2, 3, 4, 5] * 8, 1],
        [*[1, 2, 3, 4] * 8, 5],
        [*[0, 1] * 15, 2],
        [1, 2, 3, 4, 5, 0],
    ],
)
def test_a_rare_level_next_to_the_others_is_one(ws, labels):
    assert "lone_level" not in codes(ws.ingest(file(rows("clarity", labels)), "d"))


def test_a_label_on_the_scale_behind_a_name_is_not_alone(ws):
    content = file(rows("clarity (0-5)", [1, 2, 3, 4, 5] * 6), rows("clarity (0-5)", [0], judge="k"))
    assert "lone_level" not in codes(ws.ingest(content, "d"))


@pytest.mark.parametrize(
    ("name", "labels", "scale"),
    [
        ("style (out of 10)", [3, 5, 9, 7], (1, 10)),
        ("style (out of 10)", [0, 5, 9, 7], (0, 10)),
        ("style (/40)", [12, 25, 38, 30], (0, 40)),
        ("Stil [von 5]", [2, 3, 4, 3], (1, 5)),
        ("style (out of 10)", [3, 5, 11, 7], (1, 11)),
        ("names the four seasons (out of 4)", [0, 1, 1, 0], (0, 1)),
        ("style (about 10)", [3, 5, 9, 7], (1, 9)),
    ],
)
def test_the_highest_level_behind_a_name_ends_the_scale_where_all_labels_are_on_it(ws, name, labels, scale):
    """The scale ended at the highest label, whatever the name said."""
    report = ws.ingest(file(rows(name, labels)), "d")
    assert scales(ws.dataset("d")) == {name: scale}
    assert ("off_named_scale" in codes(report)) is (max(labels) == 11)


def test_names_of_one_criterion_with_and_without_a_lowest_level_do_not_agree_on_a_scale(ws):
    content = b"query,rubric,text\nq,tone (0-9),be kind\nq,style (out of 9),be kind\n"
    ws.ingest(content, "d", "rubrics")
    ws.ingest(file(rows("tone (0-9)", [2, 3, 4]), rows("style (out of 9)", [2, 3, 4])), "d")
    assert set(scales(ws.dataset("d")).values()) == {(1, 4)}


def test_a_later_file_that_changes_a_scale_is_a_warning(ws):
    ws.ingest(file(rows("clarity", [0, 1, 1, 0])), "d")
    report = ws.ingest(file(rows("clarity", [3, 5], judge="k")), "d")
    (found,) = [f for f in report.checks if f.code == "scale_changed"]
    assert "clarity: 0 to 1 before, 0 to 5 with these rows" in found.sentence
    report = ws.ingest(file(rows("other", [1, 5])), "d")
    assert "scale_changed" not in codes(report)
    assert scales(ws.dataset("d"))["clarity"] == (0, 5)


def test_a_judge_who_gives_only_the_lowest_grade_by_chance_has_no_scale_of_its_own(ws):
    """Of 400 noisy criteria, 4 had one: most labels on them are 1, and few are 3 or more."""
    mild = file(rows("tone", [1] * 14), rows("tone", [1, 1, 2] * 4 + [3, 1], judge="k"))
    assert "disjoint_ranges" not in codes(ws.ingest(mild, "mild"))
    bits = file(rows("tone", [1] * 14), rows("tone", [2, 4, 3] * 4 + [5, 1], judge="k"))
    assert "disjoint_ranges" in codes(ws.ingest(bits, "bits"))


def test_judges_on_different_scales_gaps_and_negative_levels_are_warnings(ws):
    apart = file(rows("clarity", [0, 1] * 6), rows("clarity", [3, 5, 4, 2] * 3, judge="k"))
    assert "disjoint_ranges" in codes(ws.ingest(apart, "apart"))
    gap = ws.ingest(file(rows("clarity", [1, 3] * 12)), "gap")
    assert "Scales with unused levels" in [found.title for found in gap.checks]
    assert "negative_level" in codes(ws.ingest(file(rows("clarity", [-1, 0, 1])), "negative"))
    assert not {"gap", "disjoint_ranges", "negative_level"} & set(
        codes(ws.ingest(file(rows("clarity", [1, 2, 3, 4, 5] * 5)), "good"))
    )


def test_the_report_shows_what_each_scale_rests_on(ws):
    report = ws.ingest(file(rows("q1#clarity", [1, 2], "q1"), rows("q2#clarity", [4, 5], "q2")), "d")
    shown = report.scales.iloc[0]
    assert (shown["criterion"], shown["queries"], shown["labels"], shown["scale_min"], shown["scale_max"]) == (
        "clarity", 2, 4, 1, 5,
    )  # fmt: skip


def test_a_scale_and_a_pass_mark_given_with_the_file_hold(ws):
    policies = Policies(scales={"clarity": (1, 5)}, pass_marks={"clarity": 4})
    report = ws.ingest(file(rows("clarity", [2, 3, 4, 7])), "d", policies=policies)
    assert report.rejects["value"].tolist() == ["7"]
    ds = ws.dataset("d")
    assert scales(ds) == {"clarity": (1, 5)}
    assert ds.reduce().y.tolist() == [[0], [0], [1]]
    assert ds.pass_marks == ("4 and above of 1–5 counts as met (clarity).",)
    ws.undo("d")
    assert "d" not in ws.datasets()["name"].tolist()


def test_a_pass_mark_moves_for_every_query_of_its_criterion_and_comes_back(ws):
    ws.ingest(file(rows("q1#clarity", [1, 3, 5], "q1"), rows("q2#clarity", [2, 3, 4], "q2")), "d")
    ds = ws.dataset("d")
    before = ds.fingerprint
    assert ds.reduce().y.tolist() == [[0, 0], [1, 1], [1, 1]]
    assert ds.reduce().pass_marks == ("3 and above of 1–5 counts as met (1 criterion).",)
    set_scale(ws, "d", "clarity", pass_mark=4)
    assert ds.reduce().y.tolist() == [[0, 0], [0, 0], [1, 1]]
    assert ds.fingerprint != before
    assert ds.reduce("ordered").pass_marks == ()
    ws.undo("d")
    assert ds.fingerprint == before
    assert ds.reduce().y.tolist() == [[0, 0], [1, 1], [1, 1]]


def test_a_rubric_that_is_bad_to_meet_passes_below_its_mark(ws):
    ws.ingest(file(rows("insults", [1, 3, 4, 5])), "d")
    ws.ingest(b"rubric,query,weight\ninsults,q,-2\n", "d", "rubrics")
    assert ws.dataset("d").reduce().y.tolist() == [[1], [1], [0], [0]], (
        "the midpoint passes, as it always did"
    )
    set_scale(ws, "d", "insults", pass_mark=3)
    assert ws.dataset("d").reduce().y.tolist() == [[1], [0], [0], [0]]


def test_gold_labels_are_read_at_the_same_mark(ws):
    from crubric_core.judges.anchors import gold_levels

    ws.ingest(file(rows("clarity", [1, 3, 5])), "d")
    ws.ingest(b"system,rubric,label\ns0,clarity,1\ns1,clarity,3\ns2,clarity,5\n", "d", "gold")
    set_scale(ws, "d", "clarity", pass_mark=4)
    ds = ws.dataset("d")
    assert gold_levels(ds.gold(), ds.reduce()).tolist() == [[0], [0], [1]]


def test_a_mark_that_lets_every_label_pass_and_an_unknown_criterion_are_refused(ws):
    ws.ingest(file(rows("clarity", [1, 5])), "d")
    with pytest.raises(DatasetError, match="out of range: expected 2 to 5"):
        set_scale(ws, "d", "clarity", pass_mark=1)
    with pytest.raises(DatasetError, match="no criterion 'charity'"):
        set_scale(ws, "d", "charity", pass_mark=3)
    with pytest.raises(IngestError, match="stored labels hold 5"):
        set_scale(ws, "d", "clarity", scale=(1, 4))


def test_runs_can_be_numbered_where_no_column_names_them(ws):
    content = file(rows("r", [1, 0, 1]), rows("r", [0, 0, 1]))
    assert ws.ingest(content, "rejected").rejected == 2
    for order in (content, file(rows("r", [0, 0, 1]), rows("r", [1, 0, 1]))):
        report = ws.ingest(order, f"runs{ws.datasets().shape[0]}", on_conflict="runs")
        assert report.rejected == 0
    prints = ws.datasets().set_index("name")["fingerprint"]
    assert prints["runs1"] == prints["runs2"]
    assert ws.dataset("runs1").repeats()["pairs"].sum() == 3


@pytest.mark.parametrize(
    ("first", "then", "held"),
    [
        ([0, 1], [0, 1, 0], [0, 0, 1]),
        ([0, 1], [0, 1], [0, 1]),
        ([0, 1], [1], [0, 1]),
        ([1, 1], [0, 0], [0, 0, 1, 1]),
        ([0], [0, 1], [0, 1]),
        ([5, 1, 3], [3, 4, 1, 5, 3], [1, 3, 3, 4, 5]),
    ],
)
def test_a_file_that_is_sent_again_with_more_draws_adds_these_alone(ws, first, then, held):
    for labels in (first, then):
        draws = [f"s,q,r,j,{label}" for label in labels]
        report = ws.ingest(file(draws, rows("t", [0, 5])), "d", on_conflict="runs")
        assert report.rejected == 0
    found = ws.dataset("d").labels(rubric="r")
    assert sorted(found["label"]) == held
    assert found["run"].fillna("").is_unique


def test_draws_of_a_run_that_the_file_names_are_numbered_after_it(ws):
    """A run called 1 and the first of unnamed draws were one key with two labels."""
    cells = [("1", 1), ("a", 0), ("a", 1), ("", 0), ("", 1)]
    content = "\n".join(["system,query,rubric,run,label", *(f"s,q,r,{run},{label}" for run, label in cells)])
    assert ws.ingest(content.encode(), "d", on_conflict="runs").accepted == 5
    assert ws.ingest(content.encode(), "d", on_conflict="runs").changes.added == 0, "the same file again"
    found = ws.dataset("d").labels()
    assert len(found) == 5
    assert dict(zip(found["run"], found["label"], strict=True)) == {
        "1": 1,
        "a.1": 0,
        "a.2": 1,
        "draw.1": 0,
        "draw.2": 1,
    }


def test_no_draw_is_called_like_a_run_that_the_file_names(ws):
    cells = [("1", 0), ("1", 1), ("1.1", 0), ("1.2", 1)]
    content = "\n".join(["system,query,rubric,run,label", *(f"s,q,r,{run},{label}" for run, label in cells)])
    assert ws.ingest(content.encode(), "d", on_conflict="runs").accepted == 4
    assert sorted(ws.dataset("d").labels()["run"]) == ["1..1", "1..2", "1.1", "1.2"]


def test_words_for_all_partly_and_not_are_three_levels_whichever_verb_they_have(ws):
    for verb in ("met", "satisfied"):
        said = [f"Fully {verb}", f"Partially {verb}", f"Not {verb}"]
        rows = "\n".join(f"s{i},q,r,j,{word}" for i, word in enumerate(said))
        report = ws.ingest(f"system,query,rubric,judge,label\n{rows}\n".encode(), verb)
        assert report.rejected == 0
        assert ws.dataset(verb).labels()["label"].tolist() == [2, 1, 0]


@pytest.mark.parametrize("query", ["q0", ""])
@pytest.mark.parametrize(("points", "told"), [(-3, False), (-4, False), (-2, True), (5, True)])
def test_labels_below_0_are_no_warning_where_they_are_negative_points(ws, table, query, points, told):
    """-3 of -3 points was said to stand for no label, perhaps."""
    rows = [f"{s} q0 {r} {v}" for s in ("a", "b") for r, v in (("harm", -3 * (s == "a")), ("good", 5))]
    rubrics = table(f"harm,{query},{points}", f"good,{query},5", header="rubric,query,weight")
    files = [("labels.csv", table(*rows, header="system query rubric label")), ("rubrics.csv", rubrics)]
    report = ws.ingest(files, "d")
    assert ("negative_level" in codes(report)) == told
    assert ("negative_level" in {f.code for f in ws.dataset("d").checks()}) == told


@pytest.mark.parametrize("beyond", [-1, 4])
def test_the_first_labels_of_a_dataset_are_held_against_the_scale_that_was_given(ws, beyond):
    ws.ingest(b"query,rubric,scale_min,scale_max\nq,r,0,3\n", "d", kind="rubrics")
    rows = [f"s{n},q,r,j,{label}" for n, label in enumerate([0, 1, 2, 3, beyond] * 4)]
    report = ws.ingest("\n".join(["system,query,rubric,judge,label", *rows]).encode(), "d")
    assert (report.accepted, report.rejected) == (16, 4)


@pytest.mark.parametrize(("mark", "told"), [(9, True), (1, True), (2, False), (5, False)])
def test_a_pass_mark_that_all_labels_reach_or_none_is_told(ws, mark, told):
    report = ws.ingest(file(rows("clarity", [1, 5, 3])), "d", policies=Policies(pass_marks={"clarity": mark}))
    assert codes(report) == (["mark_off_scale"] if told else [])
    assert not told or f"that of clarity ({mark} on 1 to 5)" in report.checks[0].sentence


def test_digits_with_an_underscore_are_no_number(ws):
    assert ws.ingest(file(rows("r", ["1_0", 1, 0])), "d").rejected == 1


def test_a_rubric_called_like_another_with_its_query_keeps_its_labels(ws):
    """Both were shown as q1#1: their labels were mixed, and no analysis ran."""
    ws.ingest(
        file(*(rows(name, [0, 1], query=q) for q in ("q1", "q2") for name in ("1", f"{q}#1", "other"))), "d"
    )
    found = ws.dataset("d")
    assert found.rubrics["rubric"].is_unique
    assert {"q1#1", "q1#1 (2)"} < set(found.rubrics["rubric"])
    assert len(found.labels(rubric="q1#1")) == len(found.labels(rubric="q1#1 (2)")) == 2


@pytest.mark.parametrize(
    "said", [{"scales": {"nosuch": (1, 5)}}, {"pass_marks": {"nosuch": 3}}, {"polarity": {"nosuch": -1}}]
)
def test_what_is_said_of_a_criterion_that_there_is_not_is_refused_with_those_there_are(ws, said):
    with pytest.raises(IngestError, match=r"no criterion 'nosuch' .*: it has 'clarity', 'depth'"):
        ws.ingest(file(rows("clarity", [1, 5]), rows("depth", [1, 4])), "d", policies=Policies(**said))
    assert ws.datasets().empty, "nothing was stored"


def test_policies_for_many_files_may_name_criteria_that_one_of_them_has_not(ws):
    content = file(rows("clarity", [2, 4]))
    policies = Policies(scales={"clarity": (1, 5), "depth": (0, 1)})
    ws.ingest_plan(plan_ingest(content), "d", content, policies, other_criteria=True)
    assert scales(ws.dataset("d")) == {"clarity": (1, 5)}


def test_a_criterion_that_only_stored_labels_have_is_known(ws):
    ws.ingest(file(rows("clarity", [1, 5])), "d")
    ws.ingest(file(rows("depth", [1, 4])), "d", policies=Policies(pass_marks={"Clarity": 3}))
    assert ws.dataset("d").counts()["labels"] == 4


@pytest.mark.parametrize(("name", "known"), [("depth", True), ("nosuch", False)])
def test_of_several_tables_a_criterion_may_be_in_any(ws: Any, tmp_path: Path, name: str, known: bool) -> None:
    (tmp_path / "labels.csv").write_bytes(file(rows("clarity", [1, 5])))
    gold = "system,query,rubric,annotator,label\n" + "".join(f"s{i},q,depth,p,{i}\n" for i in (1, 4))
    (tmp_path / "gold.csv").write_text(gold)
    with nullcontext() if known else pytest.raises(IngestError, match="no criterion 'nosuch'"):
        ws.ingest(tmp_path, "d", policies=Policies(scales={name: (1, 5)}))
    assert len(ws.datasets()) == known


def test_an_answer_to_a_word_that_no_label_has_is_told(ws):
    policies = Policies(answers={"met": 1, "failed": 0, "Refused": None})
    report = ws.ingest(file(rows("clarity", ["met", "failed"])), "d", policies=policies)
    (found,) = report.checks
    assert (found.code, found.severity) == ("unused_answers", "warning")
    assert found.sentence.startswith("No label of upload is 'Refused': this answer (--answer) has no effect")


def test_where_no_criterion_is_graded_there_is_no_pass_mark_to_move(ws):
    """The refusal spoke of a criterion '*' that the dataset had not."""
    ws.ingest(file(rows("clarity", [0, 1])), "d")
    with pytest.raises(DatasetError, match="No criterion of the dataset 'd' is graded"):
        set_scale(ws, "d", "*", pass_mark=1)


def test_a_scale_of_a_criterion_of_an_earlier_ingest_is_told_to_change_nothing(ws):
    ws.ingest(file(rows("clarity", [1, 5])), "d")
    report = ws.ingest(
        file(rows("depth", [1, 4])), "d", policies=Policies(scales={"Clarity": (0, 9), "depth": (1, 7)})
    )
    (found,) = (f for f in report.checks if f.code == "not_taken")
    assert found.examples["said"].tolist() == ["scale of 'Clarity'"]
    assert scales(ws.dataset("d")) == {"clarity": (1, 5), "depth": (1, 7)}


def test_an_answer_to_a_word_that_none_of_several_tables_has_is_told(ws: Any, tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_bytes(file(rows("clarity", ["met", "failed"])))
    (tmp_path / "gold.csv").write_text(
        "system,query,rubric,annotator,label\ns1,q,clarity,p,yes\ns0,q,clarity,p,no\n"
    )
    answers = {"met": 1, "failed": 0, "yes": 1, "no": 0, "refused": None}
    report = ws.ingest(tmp_path, "d", policies=Policies(answers=answers))
    (found,) = (f for f in report.checks if f.code == "unused_answers")
    assert found.examples["word"].tolist() == ["refused"]
