"""What is doubtful is named, with a count and examples; what is sound is not."""

from __future__ import annotations

import numpy as np
import pytest

from crubric_core.analysis.health import labels_chip
from crubric_core.labels import Workspace
from crubric_core.labels.readers.policies import Policies

HEADER = "system,query,rubric,judge,label"


def labels(cells, header: str = HEADER) -> bytes:
    return "\n".join([header, *(",".join(map(str, cell)) for cell in cells)]).encode()


def codes(ws: Workspace) -> dict[str, int]:
    return {finding.code: finding.count for finding in ws.dataset("d").checks()}


def panel(noise: float = 0.15, systems: int = 8, rubrics: int = 60, judges: int = 3, seed: int = 0):
    """Cells of judges who mostly agree: [system, query, rubric, judge, label]."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, (systems, rubrics))
    return [
        [f"s{i}", f"q{j % 5}", f"r{j}", f"j{k}", int(truth[i, j] ^ (rng.random() < noise))]
        for i in range(systems)
        for j in range(rubrics)
        for k in range(judges)
    ]


def test_a_sound_table_has_no_findings(ws):
    report = ws.ingest(labels(panel()), "d")
    assert report.checks == ws.dataset("d").checks() == ()


def test_a_system_that_is_a_copy_of_another_is_named(ws):
    """Held out, it was placed by rubrics that were fitted on its own labels."""
    cells = panel()
    ws.ingest(labels(cells + [["copy", *cell[1:]] for cell in cells if cell[0] == "s3"]), "d")
    (finding,) = ws.dataset("d").checks()
    assert finding.code == "copies"
    assert finding.sentence.startswith(
        "2 systems have the same labels as another, such as copy, s3 on all 180."
    )


@pytest.mark.parametrize("change", ["one label", "one judge less", "other rubrics", "all pass"])
def test_systems_that_differ_or_pass_all_are_no_copies(ws, change):
    cells = panel()
    twin = [["copy", *cell[1:]] for cell in cells if cell[0] == "s3"]
    if change == "one label":
        twin[7][4] = 1 - twin[7][4]
    elif change == "one judge less":
        twin = twin[1:]
    elif change == "other rubrics":  # as many labels of each value from each judge
        of_judge = [cell for cell in twin if cell[3] == "j0"]
        met, failed = (next(cell for cell in of_judge if cell[4] == label) for label in (1, 0))
        met[4], failed[4] = 0, 1
    else:
        cells = [[*cell[:4], 1 if cell[0] == "s3" else cell[4]] for cell in cells]
        twin = [[*cell[:4], 1] for cell in twin]
    ws.ingest(labels(cells + twin), "d")
    assert "copies" not in codes(ws)


def test_a_lenient_judge_is_not_taken_for_a_broken_one(ws):
    rng = np.random.default_rng(1)
    cells = panel(noise=0.3)
    for cell in cells:
        if cell[3] == "j1":
            cell[4] = int(rng.random() < 0.93)
    ws.ingest(labels(cells), "d")
    assert codes(ws) == {}


@pytest.mark.parametrize("order", ["cells", "judges", "shuffled within systems"])
def test_a_run_of_one_value_where_the_others_vary_is_suspicious(ws, order):
    cells = panel(rubrics=100)
    for cell in [c for c in cells if c[3] == "j1"][200:330]:
        cell[4] = 0
    if order == "judges":
        cells.sort(key=lambda c: c[3])
    elif order != "cells":
        np.random.default_rng(2).shuffle(cells)
        cells.sort(key=lambda c: c[0])
    ws.ingest(labels(cells), "d", name="labels.csv")
    found = {f.code: f for f in ws.dataset("d").checks()}
    assert list(found) == ["constant_run"]
    examples = found["constant_run"].examples
    assert set(examples["judge"]) == {"j1"}
    assert (examples["label"] == 0).all()
    assert 80 <= examples["labels"].iloc[0] <= 160
    assert (examples["others_differ"] > 0.3).all()
    assert (examples["elsewhere"] < examples["others_differ"]).all()
    sentence = found["constant_run"].sentence
    assert "j1 gives the label 0" in sentence
    assert f"differ ({examples['elsewhere'].iloc[0]:.0%} elsewhere)" in sentence


def test_a_label_that_a_judge_gives_nowhere_else_is_compared_with_none(ws):
    cells = panel(rubrics=100)
    own = [c for c in cells if c[3] == "j1"]
    for k, cell in enumerate(own):
        cell[4] = 0 if 200 <= k < 330 else 1
    ws.ingest(labels(cells), "d")
    (found,) = ws.dataset("d").checks()
    assert found.code == "constant_run"
    assert "elsewhere" not in found.sentence


@pytest.mark.parametrize("errors", [(0.2, 0.2, 0.2), (0.3, 0.05, 0.3), (0.3, 0.05)])
def test_a_judge_whom_others_contradict_no_more_than_usual_has_met_a_hard_rubric(ws, errors):
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 2, (40, 60))
    truth[:, ::3] = 0
    cells = [
        (f"s{i}", "q", f"r{j}", f"j{k}", int(truth[i, j] ^ (rng.random() < errors[k])))
        for j in range(60)
        for i in range(40)
        for k in range(len(errors))
    ]
    ws.ingest(labels(cells), "d")
    assert codes(ws) == {}


def test_a_judge_who_gives_one_system_one_value_is_suspicious(ws):
    cells = panel(systems=12, rubrics=40)
    for cell in cells:
        if cell[0] == "s3" and cell[3] == "j2":
            cell[4] = 1
    np.random.default_rng(3).shuffle(cells)
    ws.ingest(labels(cells), "d")
    found = {f.code: f for f in ws.dataset("d").checks()}
    assert found["constant_run"].examples[["judge", "where"]].values.tolist() == [["j2", "system s3"]]


def test_a_run_that_the_other_judges_share_is_none(ws):
    cells = panel(noise=0.0)
    for cell in cells:
        if cell[0] in ("s3", "s4"):
            cell[4] = 1
    ws.ingest(labels(cells), "d")
    assert codes(ws) == {}


def test_a_judge_that_never_varies_is_named(ws):
    cells = [c if c[3] != "j2" else [*c[:4], 1] for c in panel()]
    ws.ingest(labels(cells), "d")
    assert codes(ws) == {"never_varies": 1}


def test_pairs_that_a_judge_did_not_see_are_named_with_the_whole_coverage(ws):
    cells = [c for c in panel() if not (c[0] == "s1" and c[3] == "j0" and int(c[2][1:]) > 20)]
    report = ws.ingest(labels(cells), "d")
    assert codes(ws) == {"coverage": 1, "unequal": 1}
    finding = next(finding for finding in report.checks if finding.code == "coverage")
    assert finding.sentence == (
        "1 pair of a system and a judge has less than 90% of the labels that another judge gave the same system, and "
        "fewer than chance explains. The lowest share is that of j0 on s1 (21 of 60 labels)."
    )
    assert len(finding.examples) == 8 * 3
    table = ws.dataset("d").coverage().set_index(["system", "judge"])
    assert table.loc[("s1", "j0"), "labels"] == 21
    assert table.loc[("s1", "j0"), "share"] == pytest.approx(21 / 60)
    assert table.loc[("s1", "j1"), "share"] == 1


@pytest.mark.parametrize(("judges", "kept"), [(1, 0.5), (3, 0.5), (3, 0.9)])
def test_many_missing_labels_are_a_finding_where_the_overview_says_look(ws, judges, kept):
    rng = np.random.default_rng(4)
    ws.ingest(labels([c for c in panel(judges=judges) if rng.random() < kept]), "d")
    counts = ws.dataset("d").counts()
    chip = labels_chip(counts["labels"], counts["missing_share"], counts["systems"], 50)
    finding = next((finding for finding in ws.dataset("d").checks() if finding.code == "missing"), None)
    assert (finding is not None) == (chip.state == "look") == (kept == 0.5)
    if finding is not None:
        assert finding.count == round(8 * 60 * judges * counts["missing_share"])
        for said in (finding.sentence, chip.sentence):
            assert said.startswith(f"{counts['missing_share']:.0%} ")
            assert "label the answers that failed as failed" in said


def test_systems_with_judges_of_their_own_are_named(ws):
    cells = [c for c in panel() if (c[3] == "j2") == (c[0] == "s5")]
    report = ws.ingest(labels(cells), "d")
    finding = next(finding for finding in report.checks if finding.code == "unequal")
    assert finding.count == 1
    assert finding.sentence == (
        "1 system was labelled by other judges than most systems: j2 gave 100% of the labels of s5, and 0% of the "
        "labels of the median system. If judges differ in leniency, such systems look better or worse than they are. "
        "The leaderboard's intervals allow for this beyond chance, unless rubrics are resampled. Have the same judges "
        "label all systems."
    )
    assert finding.examples["system"].tolist()[0] == "s5"


def test_where_each_system_has_judges_of_its_own_none_is_compared_with_most(ws):
    cells = [[*c[:3], f"judge of {c[0]}", c[4]] for c in panel(judges=1)]
    report = ws.ingest(labels(cells), "d")
    finding = next(finding for finding in report.checks if finding.code == "unequal")
    assert finding.sentence.startswith(
        "8 of 8 systems were labelled by different judges. For example, judge of "
    )


def test_judges_who_share_out_the_rubrics_are_not_said_to_have_labelled_them_all(ws):
    cells = [c for c in panel() if int(c[2][1:]) % 3 == int(c[3][1:])]
    ws.ingest(labels(cells), "d")
    assert codes(ws) == {"missing": 8 * 60 * 3 - 8 * 60}
    assert "Unless the judges share the answers out, add them" in ws.dataset("d").checks()[0].sentence
    found = ws.dataset("d").coverage()
    assert found["share"].eq(1).all(), "each has as many labels as the others"
    assert found["cells"].eq(20).all(), "the most of one judge, not the 60 of all"


def test_names_written_in_several_ways_are_told_and_ids_with_hyphens_are_none(ws):
    cells = [[{"s1": "GPT-4o", "s2": "gpt 4O"}.get(c[0], c[0]), *c[1:]] for c in panel()]
    ws.ingest(labels([[*c[:1], {"q1": "1-1", "q2": "11"}.get(c[1], c[1]), *c[2:]] for c in cells]), "d")
    (finding,) = ws.dataset("d").checks()
    assert (finding.code, finding.count) == ("alike", 1)
    assert finding.sentence.startswith(
        "1 name of a system, judge, query or rubric is written in several ways, such as GPT-4o, gpt 4O: each "
        "spelling counts separately."
    )


@pytest.mark.parametrize(
    ("column", "name", "other"),
    [
        (0, "GPT 4", "GPT\u00a04"),
        (0, "Caf\u00e9", "Cafe\u0301"),
        (2, "Clarity", "clarity"),
        (0, "GPT-4o", "GPT-4o\u200b"),
        (0, "GPT-4o", "GPT\u20114o"),
        (0, "GPT-4o", "GPT-4o\u3000"),
        (1, "1", "1.0"),
        (1, "001", "1"),
    ],
    ids=[
        *(
            "a no-break space",
            "an accent apart",
            "a rubric",
            "a space of no width",
            "a no-break hyphen",
            "a wide space behind",
        ),
        *("a decimal place", "leading zeros"),
    ],
)
def test_names_that_look_alike_are_told(ws, column, name, other):
    cells = panel()
    first = cells[0][column]
    for at, cell in enumerate(cell for cell in cells if cell[column] == first):
        cell[column] = other if at % 2 else name
    ws.ingest(labels(cells), "d")
    assert [(f.count, f.examples["names"][0]) for f in ws.dataset("d").checks() if f.code == "alike"] == [
        (1, ", ".join(sorted((name, other))))
    ]


@pytest.mark.parametrize("other", ["-1", "1.1", "10", "01.10"])
def test_other_numbers_are_other_names(ws, other):
    cells = [[c[0], {"q1": "1", "q2": other}.get(c[1], c[1]), *c[2:]] for c in panel()]
    ws.ingest(labels(cells), "d")
    assert "alike" not in codes(ws)


def test_characters_that_nobody_sees_are_told_by_their_codes(ws):
    cells = [[{"s1": "GPT-4o", "s2": "GPT-4o\u200b"}.get(c[0], c[0]), *c[1:]] for c in panel()]
    ws.ingest(labels(cells), "d")
    assert "such as GPT-4o, GPT-4o<U+200B>:" in next(f for f in ws.dataset("d").checks()).sentence


def test_labels_that_are_not_there_are_counted_and_many_are_a_warning(ws):
    cells = panel()
    cells[0][4] = "NA"
    ws.ingest(labels(cells), "d")
    (finding,) = ws.dataset("d").checks()
    assert (finding.severity, finding.code, finding.count) == ("note", "blank", 1)
    for cell in cells[:300]:
        cell[4] = "" if cell[3] == "j1" else cell[4]
    ws.ingest(labels(cells), "e")
    finding = next(finding for finding in ws.dataset("e").checks() if finding.code == "blank")
    assert (finding.severity, finding.count) == ("warning", 101)
    assert "j1 has the most, 20.8% of its own" in finding.sentence


def test_rows_that_were_left_out_are_grouped_by_their_reason(ws):
    ws.ingest(b"rubric,query,scale_min,scale_max\nr,q,1,5\n", "d", "rubrics")
    rows = ["a,q,r,j,4.5", "b,q,r,j,7", "c,q,r,j,hm", "d,q,r,j,1", "d,q,r,j,2", ",q,r,j,1", "f,q,r,j,yes"]
    rows += [f"s{i},q,r,j,3" for i in range(30)]
    report = ws.ingest("\n".join([HEADER, *rows]).encode(), "d")
    errors = {f.code: f.count for f in report.checks if f.severity == "error"}
    assert errors == {"conflict": 2, "off_scale": 1, "fraction": 1, "verdict": 1, "text": 1, "no_name": 1}
    fraction = next(f for f in report.checks if f.code == "fraction")
    assert "To keep them, round them: fractions = down or up" in fraction.sentence
    assert fraction.examples[["row", "value"]].values.tolist() == [[2, "4.5"]]
    later = ws.ingest(f"{HEADER}\nz,q,r,j,4\n".encode(), "d")
    assert not [f for f in later.checks if f.severity == "error"], "an ingest speaks of its own rows"
    assert codes(ws)["conflict"] == 2


def test_names_that_one_table_has_and_another_lacks_are_strangers(ws):
    cells = panel()
    ws.ingest(labels(cells), "d")
    ws.ingest(
        "\n".join(
            ["query,rubric,weight", *{f"{c[1]},{c[2]},1" for c in cells if c[2] != "r7"}, "q0,idle,1"]
        ).encode(),
        "d",
        "rubrics",
    )
    ws.ingest(b"query,text\nq0,a\nq1,b\nq2,c\nq3,d\n", "d", "queries")
    ws.ingest(b"system,rank\ns1,1\nS2,2\n", "d", "reference")
    said = " ".join(finding.sentence for finding in ws.dataset("d").checks())
    for words in (
        "Labels name 1 rubric that",
        "Labels name 1 query that",
        "No judge labelled 1 system that the files name: S2.",
        "applied 1 rubric of",
    ):
        assert words in said
    assert codes(ws) == {
        "undescribed_rubric": 1,
        "undescribed_query": 1,
        "alike": 1,
        "unknown_system": 1,
        "idle_rubric": 1,
    }


def test_a_system_that_the_table_of_systems_alone_names_is_not_said_to_have_gold_labels_or_a_rank(ws):
    ws.ingest(labels(panel()), "d")
    ws.ingest(b"system,cost\ns0,1.5\nlost,2.5\n", "d", "systems")
    said = [each.sentence for each in ws.dataset("d").checks() if each.code == "unknown_system"]
    assert said == ["No judge labelled 1 system that the files name: lost. Are they misspelt?"]


def test_a_description_for_every_query_describes_each(ws):
    ws.ingest(b"rubric,text\nr1,tone\n", "d", "rubrics")
    ws.ingest(labels([c for c in panel() if c[2] == "r1"]), "d")
    assert "undescribed_rubric" not in codes(ws)


def test_one_text_under_two_names_in_a_query_is_named_and_in_two_queries_is_not(ws):
    ws.ingest(labels(panel()), "d")
    ws.ingest(
        b"query,rubric,text\nq0,r0,Is it true?\nq1,r1,Is it true?\nq2,r2,Names x\nq2,r7,names X\n",
        "d",
        "rubrics",
    )
    found = {f.code: f for f in ws.dataset("d").checks()}
    assert found["repeated_text"].count == 1
    assert "r2, r7 of q2" in found["repeated_text"].sentence


def test_probabilities_of_types_must_sum_to_one(ws):
    ws.ingest(labels(panel()), "d")
    shares = "p_evidence_reasoning,p_decision_support,p_high_risk_constraint,p_creative_divergent"
    rows = ["q0,0.1,0.2,0.3,0.4", "q1,0.5,0.5,0.5,0", "q2,0.5,,,", "q3,0.333,0.333,0.333,0", "q4,1,0,0,0"]
    ws.ingest("\n".join([f"query,{shares}", *rows]).encode(), "d", "queries")
    (finding,) = ws.dataset("d").checks()
    assert (finding.code, finding.count) == ("shares", 1)
    assert "such as q1 (1.5)" in finding.sentence


def test_findings_come_errors_first_and_concern_one_dataset_alone(ws):
    cells = [c if c[3] != "j2" else [*c[:4], 1] for c in panel()]
    ws.ingest(labels([*cells, ["x", "q", "r", "j", "hm"], ["y", "q", "r", "j0", "NA"]]), "d")
    ws.ingest(labels(panel()), "other")
    order = [f.severity for f in ws.dataset("d").checks()]
    assert order == sorted(order, key=["error", "warning", "note"].index)
    assert order[0] == "error"
    assert ws.dataset("other").checks() == ()


def test_judges_who_label_cells_at_random_are_the_same_judges_for_all_systems(ws):
    """Of nine judges two label each cell: shares of a few dozen labels differ by chance."""
    rng = np.random.default_rng(4)
    cells = [
        [f"s{system}", f"q{rubric // 2}", f"r{rubric}", f"j{judge}", int(rng.random() < 0.6)]
        for system in range(40)
        for rubric in range(40)
        for judge in rng.permutation(9)[:2]
        if rng.random() > 0.3
    ]
    ws.ingest(labels(cells), "d")
    assert "unequal" not in codes(ws)


@pytest.mark.parametrize(("seen", "taken"), [((0, 1), "0 to 1"), ((1, 2), "1 to 2")])
def test_a_criterion_whose_labels_stop_short_of_the_scale_of_the_others_is_named(ws, seen, taken):
    """On 0 to 2 what is 1 is met; on the 1 to 2 that its labels show it is not."""
    others = [[f"s{i}", "q", f"r{j}", "k", (i + j) % 3] for i in range(6) for j in range(5)]
    short = [[f"s{i}", "q", "short " + "x" * 99, "k", seen[i % 2]] for i in range(6)]
    (found,) = ws.ingest(labels(others + short), "d").checks
    assert found.code == "narrow_scale"
    assert found.sentence.startswith(
        "1 scale is narrower than the 0 to 2 of most others, such as that of short xxx"
    )
    assert (
        f"it is taken as {taken}. If all criteria share one scale, give it (--scale '*=0..2')."
        in found.sentence
    )
    assert len(found.sentence) < 240
    assert ws.ingest(labels(others + short), "e", policies=Policies(scales={"*": (0, 2)})).checks == ()


def test_a_criterion_of_ones_beside_scales_from_1_is_named(ws):
    """Taken as 0 to 1, the worst label of 1 to 3 would count as met."""
    others = [[f"s{i}", "q", f"r{j}", "k", 1 + (i + j) % 3] for i in range(6) for j in range(5)]
    (found,) = ws.ingest(labels(others + [[f"s{i}", "q", "ones", "k", 1] for i in range(6)]), "d").checks
    assert found.code == "narrow_scale"
    assert "that of ones (labels 1): it is taken as 0 to 1" in found.sentence


FAULTS = {
    *("toxicity", "hallucination_score", "feedback.bias", "bias_overall", "harmful_content", "is_incorrect"),
    *("pii_leakage", "severity", "Contains_factual_errors", "err_language", "answer_a_toxicity"),
}
NO_FAULTS = {
    *("contains_no_errors", "answer_free_of_errors", "inventiveness", "correctness", "no_hallucination"),
    *("toxicity_awareness", "clarity"),
}


def test_criteria_named_after_faults_are_warned_of_until_somebody_says_what_is_best(ws, table):
    names = sorted(FAULTS | NO_FAULTS)
    report = ws.ingest(table(*(f"{s} q {name} j {n}" for name in names for n, s in enumerate("ab"))), "d")
    (found,) = [f for f in report.checks if f.code == "named_after_fault"]
    assert (set(found.examples["criterion"]), found.count) == (FAULTS, len(FAULTS))
    said = table(*(f"{name} q -1" for name in names), header="rubric query polarity")
    later = ws.ingest(said, "d", "rubrics")
    assert not [f for f in later.checks if f.code == "named_after_fault"]


def with_runs(systems: dict[str, int], levels: int) -> bytes:
    """Labels from 1 to ``levels`` of two judges, each system with so many runs of both."""
    rng = np.random.default_rng(5)
    return labels(
        [
            (name, f"q{j % 5}", f"r{j}", judge, f"run{run}", 1 + int(rng.integers(0, levels)))
            for name, runs in systems.items()
            for j in range(40)
            for judge in ("j0", "j1")
            for run in range(runs)
        ],
        "system,query,rubric,judge,run,label",
    )


def test_systems_with_an_even_number_of_runs_of_ordered_labels_are_told(ws):
    ws.ingest(with_runs({"a": 1, "b": 2, "c": 3}, levels=5), "d")
    (found,) = [finding for finding in ws.dataset("d").checks() if finding.code == "uneven_runs"]
    assert found.sentence.startswith("b has an even number of runs on 100% of its cells, c on 0%.")
    assert found.examples["system"].tolist() == ["b", "a", "c"]


@pytest.mark.parametrize(("runs", "levels"), [((1, 3), 5), ((1, 2), 2), ((2, 3), 2)])
def test_systems_with_other_numbers_of_runs_are_told(ws, runs, levels):
    """Such as the majority of three, which is more extreme than one label, or pass and fail that split: unknown."""
    fewer, more = runs
    ws.ingest(with_runs({"a": fewer, "b": more}, levels), "d")
    (found,) = [finding for finding in ws.dataset("d").checks() if finding.code == "uneven_runs"]
    assert found.sentence.startswith(f"b has {more}.0 runs of a judge on a cell, a has {fewer}.0.")
    assert found.examples["system"].tolist() == ["b", "a"]


@pytest.mark.parametrize(("runs", "levels"), [(1, 2), (1, 5), (2, 2), (2, 5), (3, 5)])
def test_equal_numbers_of_runs_are_not_told(ws, runs, levels):
    ws.ingest(with_runs({"a": runs, "b": runs}, levels), "d")
    assert "uneven_runs" not in codes(ws)
