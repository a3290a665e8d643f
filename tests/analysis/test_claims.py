"""The sentences about who is ahead say what ``comparisons`` say, whatever the standing."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import fisher_exact

from crubric_core import Settings, Workspace, run_pipeline
from crubric_core.analysis.agreement import compare_order, compare_standing
from crubric_core.analysis.board import Board, Labelled, rests_on
from crubric_core.analysis.claims import claims_of, pair_sentence, place_sentence
from crubric_core.analysis.standings import missing_together, without_places
from crubric_core.analysis.tables import comparisons_table
from crubric_core.demo import simulate
from crubric_core.leaderboard.inference import Inference, infer
from crubric_core.leaderboard.influence import Influence
from crubric_core.leaderboard.places import ranks_by_counting, tiers_by_first
from crubric_core.text import short_names

SHAPES = ("chain", "ties", "saturated", "one tier", "all apart", "arbitrary", "unranked")
ROOT = Path(__file__).resolve().parents[2]


def standing(estimate, separated, saturated=None) -> Inference:
    """A standing with these separated pairs; whatever no sentence reads is NaN."""
    size, kept = len(estimate), np.flatnonzero(np.isfinite(estimate))
    at = np.ix_(kept, kept)
    columns = {name: np.full(size, np.nan) for name in ("rank", "rank_low", "rank_high", "tier")}
    side = np.zeros(size, dtype=np.int64) if saturated is None else saturated
    places = ranks_by_counting(estimate[kept], separated[at], saturated=side[kept])
    for column, values in zip(columns, (*places, tiers_by_first(estimate[kept], separated[at])), strict=True):
        columns[column][kept] = values
    pairs, difference = np.full((size, size), np.nan), estimate[:, None] - estimate
    half = np.where(separated, 0.5, 2.0) * np.abs(difference) + ~separated
    square = ("difference_se", "p_value", "p_simultaneous", "ahead", "rank_probability")
    return Inference(
        estimate=estimate,
        se=np.full(size, np.nan),
        low=estimate - 1,
        high=estimate + 1,
        **columns,
        difference=difference,
        difference_low=difference - half,
        difference_high=difference + half,
        **dict.fromkeys(square, pairs),
        separated=separated,
        saturated=side,
        critical=3.0,
        design_effect=1.8,
        n_units=100,
        unit="query",
        confidence=0.95,
        simultaneous=True,
        method="units",
    )


def board(found: Inference, **changes) -> Board:
    systems = tuple(f"M{i}" for i in range(len(found.estimate)))
    settings = changes.pop("settings", Settings())
    made = Board(
        systems=systems,
        standing=found,
        comparisons=comparisons_table(systems, found),
        by_score=False,
        n_rubrics=(301, 301),
        settings=settings,
    )
    return replace(made, **changes)


@st.composite
def standings(draw) -> Inference:
    shape, size = draw(st.sampled_from(SHAPES)), draw(st.sampled_from((1, 2, 3, 7, 12, 60, 400)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    estimate, saturated = rng.normal(size=size), np.zeros(size, dtype=np.int64)
    if shape == "ties":
        estimate = np.round(estimate)
    apart = np.abs(estimate[:, None] - estimate)
    separated = {
        "chain": apart > 0.8,
        "ties": apart > 0.5,
        "saturated": apart > 0.5,
        "one tier": apart < 0,
        "all apart": apart > 0,
        "arbitrary": rng.random((size, size)) < draw(st.floats(0, 1)),
        "unranked": apart > 0.5,
    }[shape]
    separated = np.triu(separated, 1) & (apart > 0)
    if shape == "saturated":
        top = estimate >= np.quantile(estimate, 0.8)
        estimate[top] = estimate[top][0]
        saturated[top] = 1
        separated &= ~np.logical_and.outer(top, top)
    if shape == "unranked":
        estimate[rng.random(size) < 0.3] = np.nan
        known = np.isfinite(estimate)
        separated &= np.logical_and.outer(known, known)
    return standing(estimate, separated | separated.T, saturated)


def parsed_ahead(said: str) -> dict:
    """What a headline says of pairs, read back."""
    for kind, pattern in {
        "nobody": r"^No system could be ranked\.$",
        "alone": r"^Only (?P<first>M\d+) could be ranked\.$",
        "none": r"^No pair of the (?P<n>[\d,]+) systems is separated at 95%: no claim about who is ahead\.",
        "neither": r"^(?P<first>M\d+) and (?P<other>M\d+) are not separated at 95%: no claim about who is ahead\.",
        "every": r"^All (?P<pairs>[\d,]+) pairs of the (?P<n>[\d,]+) systems are separated at 95%: "
        r"(?P<first>M\d+) is first\.",
        "all": r"^(?P<first>M\d+) is ahead of (?P<others>all [\d,]+|both) others at 95%\.",
        "two": r"^(?P<first>M\d+) is ahead of (?P<other>M\d+) at 95%\.",
        "some": r"^(?P<first>M\d+) is ahead of (?P<won>[\d,]+) of the (?P<others>[\d,]+) others at 95%\.",
        "not first": r"^(?P<first>M\d+) has the highest ability, but is not separated from any of the "
        r"(?P<others>[\d,]+) others at 95%; (?P<apart>[\d,]+) of the (?P<pairs>[\d,]+) pairs (is|are) separated\.",
    }.items():
        if found := re.match(pattern, said):
            values = {
                k: v.removeprefix("all ").replace("both", "2") for k, v in found.groupdict().items()
            }.items()
            return {"kind": kind} | {k: v if v[0] == "M" else int(v.replace(",", "")) for k, v in values}
    raise AssertionError(said)


@given(standings())
def test_what_is_said_of_pairs_is_what_comparisons_say(found: Inference) -> None:
    shown = board(found)
    said, table = parsed_ahead(claims_of(shown).ahead), shown.comparisons
    apart, ranked = table[table["separated"]], int(np.isfinite(found.estimate).sum())
    expected = {"n": ranked, "pairs": len(table), "others": ranked - 1, "apart": len(apart)}
    if "first" in said:
        assert found.estimate[int(said["first"][1:])] == np.nanmax(found.estimate)
        expected |= {"won": int((apart["system"] == said["first"]).sum())}
        assert not (apart["other"] == said["first"]).any()
    assert all(value == expected[key] for key, value in said.items() if key in expected)
    won, separated = expected.get("won", 0), len(apart)
    holds = {
        "nobody": ranked == 0,
        "alone": ranked == 1,
        "none": separated == 0 and ranked > 2,
        "neither": separated == 0 and ranked == 2,
        "every": separated == len(table) > 1,
        "all": won == ranked - 1 > 1,
        "two": ranked == 2 and separated == 1,
        "some": 0 < won < ranked - 1,
        "not first": won == 0 < separated,
    }
    assert holds[said["kind"]]


@given(standings())
def test_the_first_tier_named_is_that_of_the_board_and_no_pair_is_claimed_from_it(found: Inference) -> None:
    said, first = claims_of(board(found)).tier, np.flatnonzero(found.tier == 1)
    ranked = int(np.isfinite(found.estimate).sum())
    table = board(found).comparisons
    assert bool(said) == (len(table) > 1 and not table["separated"].all())
    if not said:
        return
    if said.startswith("Tier 1: all"):
        assert int(re.search(r"[\d,]+(?= systems)", said)[0].replace(",", "")) == len(first) == ranked
    else:
        names = re.findall(r"M(\d+)", said)
        more = re.search(r"and ([\d,]+) more", said)
        assert {int(i) for i in names} <= set(first.tolist())
        assert len(names) + (int(more[1].replace(",", "")) if more else 0) == len(first)
    assert not re.search(r"ahead|separated", said)


@given(standings(), st.data())
def test_a_sentence_about_two_systems_is_that_of_their_comparison(found: Inference, data) -> None:
    shown = board(found)
    if len(shown.comparisons) == 0:
        return
    row = shown.comparisons.iloc[data.draw(st.integers(0, len(shown.comparisons) - 1))]
    one, other = (int(row[side][1:]) for side in ("system", "other"))
    for said in (pair_sentence(shown, one, other), pair_sentence(shown, other, one)):
        assert ("are not separated at 95%" in said) == (not row["separated"])
        assert said.startswith(f"{row['system']} is ahead of {row['other']} at 95%") == row["separated"]


def counted(said: str, verb: str, others: int) -> int:
    """Of how many systems a sentence about one says this."""
    found = re.search(rf"{verb} (all|any|[\d,]+ of the|M\d+)", said)
    if found is None:
        return 0
    word = found[1].split()[0]
    return others if word in ("all", "any") else 1 if word[0] == "M" else int(word.replace(",", ""))


@given(standings(), st.data())
def test_where_a_system_stands_is_counted_from_its_pairs(found: Inference, data) -> None:
    shown = board(found)
    i = data.draw(st.integers(0, len(shown.systems) - 1))
    said, table = place_sentence(shown, i), shown.comparisons
    others, apart = int(np.isfinite(found.estimate).sum()) - 1, table[table["separated"]]
    if not np.isfinite(found.estimate[i]):
        assert said == f"M{i} is not ranked: it has no label on these rubrics."
        return
    if others == 0:
        assert said == f"M{i} is the only system that is ranked."
        return
    wins, losses = (int((apart[side] == f"M{i}").sum()) for side in ("system", "other"))
    assert counted(said, "ahead of", others) == wins
    assert counted(said, "behind", others) == losses
    assert counted(said, "not separated from", others) == others - wins - losses


def test_a_system_that_is_separated_from_nobody_is_not_said_to_be_not_separated_from_all() -> None:
    found = standing(np.array([2.0, 1.0, 0.0]), np.zeros((3, 3), dtype=bool))
    assert place_sentence(board(found), 0) == "M0 is not separated from any of the 2 others at 95%."


def test_a_gate_that_leaves_too_little_allows_no_claim_about_one_system_either() -> None:
    found = standing(np.arange(8.0), ~np.eye(8, dtype=bool))
    said = place_sentence(board(found, refused="The gate keeps 6 of 301 rubrics."), 0)
    assert said == "No claim about where M0 stands. The gate keeps 6 of 301 rubrics."


def test_a_table_without_places_keeps_the_estimates_and_no_order() -> None:
    table = pd.DataFrame({"system": ["b", "a"], "theta": [2.0, 1.0], "rank": [1, 2], "tier": [1, 2]})
    table = table.assign(rank_low=1, rank_high=2).astype({"rank": "Int64", "tier": "Int64"})
    shown = without_places(table)
    assert shown["system"].tolist() == ["a", "b"]
    assert shown["theta"].tolist() == [1.0, 2.0]
    assert shown[["rank", "tier", "rank_low", "rank_high"]].isna().all(axis=None)
    assert table["rank"].tolist() == [1, 2]


@given(standings(), st.integers(0, 2**32 - 1))
def test_gold_that_contradicts_a_separated_pair_is_in_the_headline(found: Inference, seed: int) -> None:
    rng, shown = np.random.default_rng(seed), board(found)
    values = np.where(rng.random(len(found.estimate)) < 0.2, np.nan, rng.normal(size=len(found.estimate)))
    said = claims_of(shown, [compare_order("the human ranking", found, values)])
    gold = dict(zip(shown.systems, values, strict=True))
    apart = shown.comparisons[shown.comparisons["separated"]]
    both = [
        (a, b)
        for a, b in zip(apart["system"], apart["other"], strict=True)
        if gold[a] == gold[a] and gold[b] == gold[b]
    ]
    against = [(a, b) for a, b in both if gold[a] < gold[b]]
    assert bool(said.contradicted) == bool(against)
    if against:
        sentence = said.headline[-1]
        numbers = re.search(r"orders ([\d,]+) of the ([\d,]+) separated pair", sentence)
        assert [int(n.replace(",", "")) for n in numbers.groups()] == [len(against), len(both)]
        above, below = re.search(r"(M\d+) above (M\d+)", sentence).groups()
        assert (below, above) in against


@given(standings())
def test_a_standing_never_contradicts_itself_and_its_reverse_contradicts_every_separation(
    found: Inference,
) -> None:
    pairs = int(np.triu(found.separated, 1).sum())
    same = compare_standing("the score", found, found)
    assert (same.kept, same.reversed, same.separated) == (pairs, 0, pairs)
    alike = "".join(claims_of(board(found), [same]).beside)
    assert (f"The score separates all {pairs:,} separated pairs alike" in alike) == (pairs > 1)
    assert ("The score separates the one separated pair alike" in alike) == (pairs == 1)
    turned = replace(found, estimate=-found.estimate, difference=-found.difference)
    assert compare_standing("the score", found, turned).reversed == pairs


def test_a_ranking_agrees_with_nothing_where_no_pair_is_separated() -> None:
    found = standing(np.array([2.0, 1.0, 0.5]), np.zeros((3, 3), dtype=bool))
    (said,) = claims_of(board(found), [compare_order("the human ranking", found, np.arange(3.0))]).beside
    assert said == (
        "The human ranking and this order correlate at ρ = −1.00; no pair is separated that it could confirm or "
        "contradict."
    )


def test_of_one_separated_pair_another_ranking_separates_it_or_not() -> None:
    none, one = np.zeros((3, 3), dtype=bool), np.zeros((3, 3), dtype=bool)
    one[0, 2] = one[2, 0] = True
    here, other = standing(np.array([3.0, 2.0, 1.0]), one), standing(np.array([3.0, 2.0, 1.0]), none)
    (said,) = claims_of(board(here), [compare_standing("the score", here, other)]).beside
    assert said == "The score does not separate the one separated pair (ρ = 1.00)."


def test_a_correlation_is_said_to_be_1_of_equal_orders_alone() -> None:
    found = standing(-np.arange(30.0), ~np.eye(30, dtype=bool))
    order = -np.arange(30.0)
    (same,) = claims_of(board(found), [compare_order("the human ranking", found, order)]).beside
    order[[0, 1]] = order[[1, 0]]
    nearly = compare_order("the human ranking", found, order)
    assert 0.995 < nearly.rho < 1
    assert "(ρ = 1.00)" in same
    assert (
        claims_of(board(found), [replace(nearly, kept=434, separated=434, reversed=0)])
        .beside[0]
        .endswith("(ρ > 0.99).")
    )


def test_a_ranking_of_some_systems_says_of_how_many() -> None:
    found = standing(np.array([3.0, 2.0, 1.0, 0.0]), ~np.eye(4, dtype=bool))
    some, turned = np.array([2.0, 1.0, 0.5, np.nan]), np.array([0.5, 1.0, 2.0, np.nan])
    said = claims_of(board(found), [compare_order("the human ranking", found, some)])
    assert said.beside == (
        "Of the 3 systems that it ranks, the human ranking orders all 3 separated pairs alike (ρ = 1.00).",
    )
    (said,) = claims_of(board(found), [compare_order("the human ranking", found, turned)]).contradicted
    assert said.startswith(
        "But of the 3 systems that it ranks, the human ranking orders 3 of the 3 separated pairs"
    )


def test_pairs_that_another_standing_separates_against_the_order_here_are_named() -> None:
    """A system that a small bank puts first may be behind others on all rubrics."""
    none, one = np.zeros((3, 3), dtype=bool), np.zeros((3, 3), dtype=bool)
    one[0, 2] = one[2, 0] = True
    here = standing(np.array([3.0, 2.0, 1.0]), none)
    other = standing(np.array([0.0, 1.0, 2.0]), one)
    (said,) = claims_of(board(here), [compare_standing("the score", here, other)]).beside
    assert said.endswith(
        "It separates 1 pair that is not separated here against their order here: M2 above M0."
    )
    alike = standing(np.array([2.0, 1.0, 0.0]), one)
    (said,) = claims_of(board(here), [compare_standing("the score", here, alike)]).beside
    assert "against" not in said


def test_unseparated_pairs_of_the_other_standing_contradict_nothing() -> None:
    first = standing(np.array([2.0, 1.0, 0.0]), ~np.eye(3, dtype=bool))
    other = standing(np.array([0.0, 1.0, 2.0]), np.zeros((3, 3), dtype=bool))
    assert compare_standing("the score", first, other).reversed == 0


def test_a_gate_that_leaves_too_little_allows_no_claim() -> None:
    found = standing(np.arange(8.0), ~np.eye(8, dtype=bool))
    said = claims_of(board(found, refused="The gate keeps 6 of 301 rubrics."), [])
    assert said.headline == ("No claim about who is ahead. The gate keeps 6 of 301 rubrics.",)
    assert not said.tier
    basis = " ".join(said.basis)
    assert "The evidence is " in basis
    assert not re.search("claims hold|Design effect|separation", basis)


def test_systems_that_pass_everything_are_named_and_not_compared() -> None:
    separated = np.zeros((3, 3), dtype=bool)
    separated[:2, 2] = separated[2, :2] = True
    found = standing(np.array([2.0, 2.0, 0.0]), separated, np.array([1, 1, 0]))
    said = claims_of(board(found))
    assert "M0 is ahead of 1 of the 2 others" in said.ahead
    assert "M0 and M1 pass every rubric used: they are not compared with each other." in said.ahead


def test_systems_that_pass_everything_are_not_said_to_have_the_highest_ability() -> None:
    """Those of one fold have the same finite number, those of another a slightly lower one: none is a measurement."""
    separated = np.zeros((4, 4), dtype=bool)
    separated[:3, 3] = separated[3, :3] = True
    said = claims_of(board(standing(np.array([2.0, 2.1, 2.1, 0.0]), separated, np.array([1, 1, 1, 0]))))
    assert said.tier == "Tier 1: M1, M2, M0."
    assert "M1 is ahead of 1 of the 3 others" in said.ahead
    assert "highest ability" not in said.ahead


def test_of_two_systems_that_pass_everything_no_difference_is_told() -> None:
    found = standing(np.array([2.0, 2.0, 0.0]), np.zeros((3, 3), dtype=bool), np.array([1, 1, 0]))
    opened = {f"difference_{end}": getattr(found, f"difference_{end}").copy() for end in ("low", "high")}
    opened["difference_low"][:2, :2], opened["difference_high"][:2, :2] = -np.inf, np.inf
    said = pair_sentence(board(replace(found, **opened)), 1, 0)
    assert said == "M1 and M0 are not compared: both pass every rubric used."
    assert "are not separated" in pair_sentence(board(found), 1, 0)


def test_a_system_that_passes_everything_is_named_also_where_no_pair_is_separated() -> None:
    found = standing(np.array([2.0, 1.0, 0.0]), np.zeros((3, 3), dtype=bool), np.array([1, 0, 0]))
    assert claims_of(board(found)).ahead.endswith(
        "M0 passes every rubric used: its ability has no upper bound."
    )


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"by_score": True}, "Fewer than 6 systems, copies counted once: the claims are about scores"),
        ({"settings": Settings(basis="bank")}, "on a bank of 301 rubrics that was chosen without it"),
        ({"settings": Settings(basis="bank", cross_fitted=False)}, "intervals are too narrow"),
        ({}, "Ranked on all 301 rubrics that pass and on which systems differ."),
        (
            {"gated": False},
            "Ranked on all 301 rubrics on which systems differ. No cell has labels of two judges",
        ),
        (
            {},
            "Design effect 1.8: the variance with queries as the unit of evidence, as a multiple of that with rubrics "
            "as the unit.",
        ),
        ({}, "The evidence is 100 queries: the claims hold for queries like these."),
        (
            {"settings": Settings(basis="bank"), "n_rubrics": (60, 60)},
            "The evidence is 100 queries, at most 60 for one system: the claims hold",
        ),
    ],
)
def test_what_the_claims_rest_on_is_said(changes: dict, words: str) -> None:
    found = standing(np.arange(8.0), ~np.eye(8, dtype=bool))
    assert words in " ".join(claims_of(board(found, **changes)).basis)


def test_one_query_makes_the_rubrics_the_evidence_and_says_so() -> None:
    found = replace(standing(np.arange(8.0), ~np.eye(8, dtype=bool)), unit="rubric", n_units=40)
    assert "Only one query has rubrics in use: these are the evidence" in " ".join(
        claims_of(board(found)).basis
    )


def test_the_limit_of_the_intervals_is_the_least_coverage_that_was_measured() -> None:
    measured = json.loads((ROOT / "benchmarks" / "inference.json").read_text()).values()
    least = min(cell[what] for cell in measured for what in ("theta", "difference") if what in cell)
    found = standing(np.arange(8.0), ~np.eye(8, dtype=bool))
    said = f"95% intervals contained only {least:.0%} of the true values"
    assert said in " ".join(claims_of(board(found)).limits)
    assert said not in " ".join(claims_of(board(found, by_score=True)).limits), "scores have no model"


def test_scores_on_queries_name_the_failures_that_may_not_have_happened() -> None:
    """5 systems on 50 queries, of which each fails 2% altogether: .785 of the intervals hold (docs/inference.md)."""
    found = replace(standing(np.arange(4.0), ~np.eye(4, dtype=bool)), n_units=50, unit="query")
    said = "rarer than 3 in 50 may not have happened"
    assert said in " ".join(claims_of(board(found, by_score=True)).limits)
    assert said not in " ".join(claims_of(board(found)).limits), "of abilities this was not measured"
    domains = replace(found, unit="domain")
    assert said not in " ".join(claims_of(board(domains, by_score=True)).limits)
    few = replace(found, n_units=9)
    assert "may not have happened" not in " ".join(claims_of(board(few, by_score=True)).limits)


@pytest.mark.parametrize("basis", ["all", "bank"])
def test_intervals_from_a_bank_are_of_the_bank(basis: str) -> None:
    shown = board(standing(np.arange(8.0), np.zeros((8, 8), dtype=bool)), settings=Settings(basis=basis))
    assert ("may miss θ on all rubrics that pass" in " ".join(claims_of(shown).limits)) == (basis == "bank")


def test_banks_of_different_sizes_are_told_by_their_range() -> None:
    found = board(standing(np.arange(3.0), np.zeros((3, 3), dtype=bool)), settings=Settings(basis="bank"))
    said = "Ranked as if each system were new: on a bank of {} rubrics that was chosen without it."
    assert claims_of(replace(found, n_rubrics=(168, 200))).basis[0] == said.format("168 to 200")
    assert claims_of(replace(found, n_rubrics=(200, 200))).basis[0] == said.format("200")


def test_the_first_of_three_is_ahead_of_both_others() -> None:
    separated = np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]]) > 0
    found = standing(np.array([2.0, 0.5, 0.4]), separated)
    assert claims_of(board(found)).ahead == "M0 is ahead of both others at 95%."


def test_systems_that_share_too_few_queries_are_said_not_to_be_compared() -> None:
    separated = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]]) > 0
    found = replace(standing(np.array([2.0, 0.5, 1.0]), separated), group=np.array([0, 0, 1]))
    said = "The systems form 2 groups that share too few queries (1: M0 and M1; 2: M2): no pair"
    assert said in claims_of(board(found)).ahead
    assert place_sentence(board(found), 0) == "M0 is ahead of M1 at 95% within group 1."
    assert (
        place_sentence(board(found), 2)
        == "M2 is compared with no other system: it shares too few queries with them."
    )
    assert pair_sentence(board(found), 0, 2) == "M0 and M2 are not compared: they share too few queries."
    assert "groups" not in claims_of(board(replace(found, group=np.zeros(3)))).ahead
    assert "share the axis of a chart, but no scale" in claims_of(board(found)).reading[0]
    assert "scale: ranks" not in claims_of(board(replace(found, group=np.zeros(3)))).reading[0]


@pytest.mark.parametrize(("unit", "what"), [("domain", "queries"), ("rubric", "rubrics")])
def test_systems_are_linked_by_queries_or_by_the_rubrics_of_the_only_one(unit: str, what: str) -> None:
    found = replace(standing(np.arange(3.0), np.zeros((3, 3), dtype=bool)), group=np.arange(3), unit=unit)
    said = board(found)
    assert f"share too few {what} (" in claims_of(said).ahead
    assert place_sentence(said, 2).endswith(f"it shares too few {what} with them.")
    assert pair_sentence(said, 0, 2).endswith(f"they share too few {what}.")


def test_a_tier_is_said_to_end_before_a_system_that_is_separated_from_its_first() -> None:
    separated = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]]) > 0
    found = standing(np.array([2.0, 1.0, 0.9]), separated)
    assert found.tier.tolist() == [1, 2, 2], (
        "the third is not separated from the first, and is in no tier with it"
    )
    assert claims_of(board(found)).reading[1] == (
        "A tier runs from its best system to the last before one that is separated from it: other systems of a tier "
        "may be separated, and systems of different tiers need not be; the list of pairs shows which."
    )


@pytest.mark.parametrize(
    ("method", "holm", "alone"),
    [("units", True, True), ("units", False, True), ("bootstrap", True, False), ("bootstrap", False, True)],
)
def test_pairs_are_said_to_be_compared_alone_unless_a_correction_was_made(
    method: str, holm: bool, alone: bool
) -> None:
    found = replace(standing(np.arange(3.0), np.zeros((3, 3), dtype=bool)), simultaneous=False, method=method)
    said = " ".join(rests_on(board(found, settings=Settings(simultaneous=False, holm=holm))))
    assert ("Each pair is compared alone at 95%" in said) == alone


def test_groups_without_a_common_scale_have_no_common_order() -> None:
    apart = np.zeros((6, 6), bool)
    apart[1, 2] = apart[2, 1] = True
    linked = standing(np.array([5.0, 4, 3, 2, 1, 0]), apart)
    found = replace(linked, group=np.array([0, 1, 1, 1, 0, 0]))
    others = [
        compare_standing("the score", found, found),
        compare_standing("the score", linked, found),
        compare_order("the human ranking", found, np.arange(6.0)),
    ]
    assert [other.separated for other in others] == [1, 1, 1], "pairs within a group are compared as ever"
    said = claims_of(board(found), others)
    told = " ".join([*said.headline, *said.basis, *said.beside])
    assert "no pair of two groups is compared" in told
    assert "All pairs within the groups are compared at once" in told
    assert (
        "1 of the 6 pairs within groups is separated at 95%: M1 is ahead of 1 of the 2 others of group 2."
        in told
    )
    assert "Tier" not in told
    assert "Tier" in " ".join(claims_of(board(linked)).headline)
    assert "ρ" not in told
    assert "highest" not in told
    assert np.isfinite(compare_standing("the score", linked, linked).rho)
    assert "All pairs are compared at once" in " ".join(claims_of(board(linked)).basis)


def test_what_is_said_of_groups_counts_only_pairs_within_them() -> None:
    def told(group: list[int], *pairs: tuple[int, int]) -> str:
        apart = np.zeros((4, 4), dtype=bool)
        for one, other in pairs:
            apart[one, other] = apart[other, one] = True
        found = replace(standing(np.array([3.0, 2, 1, 0]), apart), group=np.array(group))
        return claims_of(board(found)).ahead.partition(" The systems form")[0]

    assert told([0, 0, 1, 2], (0, 1)).startswith(
        "The only pair within a group is separated at 95%: M0 is ahead of all"
    )
    assert told([0, 0, 0, 1], (1, 2)) == "1 of the 3 pairs within groups is separated at 95%."
    assert told([0, 0, 1, 1]) == "No pair within a group is separated at 95%: no claim about who is ahead."
    assert told([0, 1, 2, 3]).startswith("No two systems share enough")
    both = told([0, 0, 1, 1], (0, 1), (2, 3))
    assert both.endswith("M0 is ahead of all others of group 1 and M2 is ahead of all others of group 2.")


def test_the_scale_of_ability_is_told_by_the_spread_of_the_estimates_which_equal_systems_have_too() -> None:
    found = standing(np.array([3.0, 0.0, -3.0]), np.zeros((3, 3), bool))
    said = "(standard deviation of these systems' estimates:"
    assert f"{said} 3);" in claims_of(board(found)).reading[0]
    assert said not in claims_of(board(replace(found, group=np.array([0, 0, 1])))).reading[0]
    assert said not in claims_of(board(found, by_score=True)).reading[0]


def test_an_open_interval_and_a_high_level_are_written_as_such() -> None:
    found = standing(np.array([2.0, 0.5]), ~np.eye(2, dtype=bool))
    unbounded = replace(found, confidence=0.999, difference_high=np.full((2, 2), np.inf))
    for one, other in ((0, 1), (1, 0)):
        said = "M0 is ahead of M1 at 99.9%: difference +1.50 [0.75, ∞]."
        assert pair_sentence(board(unbounded), one, other) == said


def test_readers_without_tiers_are_told_of_none() -> None:
    found = standing(np.array([2.0, 1.9, 0.0]), np.array([[0, 0, 1], [0, 0, 1], [1, 1, 0]]) > 0)
    said = claims_of(board(found)).without_tiers()
    assert not re.search("tier", " ".join((*said.headline, *said.basis, *said.beside, *said.reading)), re.I)
    assert said.ahead == "M0 is ahead of 1 of the 2 others at 95%."


def test_a_real_inference_is_read_back_alike() -> None:
    rng = np.random.default_rng(3)
    psi = rng.normal(0, 0.02, (60, 9))
    psi -= psi.mean(axis=0)
    flat = np.zeros(9)
    evidence = Influence(
        np.linspace(1, 0, 9), psi, np.full(9, 60), "query", flat + 1e-4, flat + 1e-4, flat.astype(np.int64)
    )
    found = infer(evidence, rng)
    said = parsed_ahead(claims_of(board(found)).ahead)
    assert said["won"] == int(found.separated[0].sum())


def labelled(*on: int, of: int, together: float = 1.0) -> Labelled:
    return Labelled(np.array(on), np.full(len(on), of), together)


def test_systems_with_fewer_queries_are_named_and_what_that_may_hide() -> None:
    found = standing(np.array([2.0, 1.0, 0.5]), np.zeros((3, 3), dtype=bool))
    assert not any(
        "fewer queries" in said for said in rests_on(board(found, queries=labelled(100, 97, 100, of=100)))
    )
    one = next(
        said for said in rests_on(board(found, queries=labelled(100, 40, 100, of=100))) if "fewer" in said
    )
    assert (
        "no separation on this board is false, unless labels are missing because systems failed."
        in " ".join(rests_on(board(found, queries=labelled(100, 40, 100, of=100))))
    )
    assert one == (
        "M1 has labels on clearly fewer queries than others, on 40 of 100: an answer that is missing because its "
        "system failed counts as unknown unless it is labelled as failed."
    )
    fewer = board(found, queries=labelled(100, 100, 100, of=100), rubrics=labelled(200, 4000, 3900, of=4000))
    assert (
        "M0 has a consensus label on clearly fewer rubrics than others, on 200 of 4,000: ties, and answers that are "
        "missing because a system failed, count as unknown, and only abilities allow for how hard the other rubrics "
        "are."
    ) in rests_on(fewer)
    several = board(found, queries=labelled(50, 40, 100, of=100), by_score=True)
    assert any(
        said.startswith(
            "2 systems have labels on clearly fewer queries than others, M1 the fewest (40 of 100): "
        )
        and said.endswith(" Scores are compared in a model with one effect for each query.")
        for said in rests_on(several)
    )


def test_labels_that_are_missing_one_by_one_are_told_from_whole_queries_that_are_missing() -> None:
    rng = np.random.default_rng(1)
    asked = np.full((10, 12), 6)
    alone = rng.binomial(6, 0.8, (10, 12))
    whole = 6 * rng.binomial(1, 0.8, (10, 12))
    assert missing_together(alone, asked).max() < 3 < missing_together(whole, asked).min() <= 6
    alone[0] = rng.binomial(6, 0.5, 12)
    for known, told in ((alone, True), (whole, False)):
        fewer = Labelled(known.sum(axis=1), asked.sum(axis=1), missing_together(known, asked)).fewer()
        assert fewer.tolist() == [told] + [False] * 9
    np.testing.assert_array_equal(missing_together(asked, asked), 1)


def test_systems_that_were_all_asked_the_same_fewer_queries_have_fewer() -> None:
    """What they lack was counted as usual: 16 of 24 queries of three systems of eight passed for chance."""
    found = Labelled(np.array([24] * 5 + [16] * 3), np.full(8, 24)).fewer()
    assert found.tolist() == [False] * 5 + [True] * 3


def test_fewer_labels_are_told_by_fishers_exact_test_of_each_system_against_the_others() -> None:
    rng = np.random.default_rng(3)
    of = rng.choice([60, 80], 200)
    on = rng.binomial(of, rng.choice([0.9, 0.75], 200))
    share, found = on / of, Labelled(on, of).fewer()
    for i in range(200):
        rest = on.sum() - on[i], of.sum() - of[i]
        table = [[on[i], of[i] - on[i]], [rest[0], rest[1] - rest[0]]]
        clear = fisher_exact(table, alternative="less").pvalue < 0.05 / 200
        assert found[i] == (clear and share[i] < 0.95 * share.max())
    assert 0 < found.sum() < (share < 0.95 * share.max()).sum()


def test_equal_shares_of_missing_labels_are_seldom_said_to_be_fewer() -> None:
    rng, said = np.random.default_rng(2), 0
    for _ in range(200):
        known = 3 * rng.binomial(2, 0.8, (8, 12))
        asked = np.full(known.shape, 6)
        found = Labelled(known.sum(axis=1), asked.sum(axis=1), missing_together(known, asked))
        said += found.fewer().any()
    assert said <= 10


def test_systems_whose_failures_were_not_labelled_are_said_to_have_fewer_labels() -> None:
    """Every query has some label of each system, so that no query is missing; before, nothing was said."""
    made = simulate(seed=3, systems=8, queries=12, pool=(6, 6), missing=0)
    labels = made.labels
    weak = labels["system"].isin(sorted(set(labels["system"]))[4:])
    labels = labels[~weak | (labels["label"] == 1)]
    with Workspace() as workspace:
        workspace.ingest(labels.to_csv(index=False).encode(), "d")
        said = " ".join(run_pipeline(workspace.dataset("d")).claims.basis)
    assert "a consensus label on clearly fewer rubrics than others" in said
    assert "no separation on this board is false, unless labels are missing because systems failed." in said


def test_a_system_whose_bank_has_fewer_queries_has_labels_on_all_of_them() -> None:
    found = standing(np.array([2.0, 1.0, 0.5]), np.zeros((3, 3), dtype=bool))
    own = Labelled(np.array([100, 40, 100]), np.array([100, 40, 100]))
    assert rests_on(board(found, queries=own)) == rests_on(board(found))


def test_a_board_on_which_nobody_is_ranked_says_so() -> None:
    """Systems that were asked disjoint queries, each placed on a bank that it has no label on: a traceback."""
    nan = np.full(3, np.nan)
    found = replace(standing(nan, np.zeros((3, 3), dtype=bool)), group=np.arange(3))
    shown = board(found, queries=labelled(0, 0, 0, of=1))
    said = claims_of(shown)
    assert said.headline == ("No system could be ranked.",)
    assert "3 systems are not ranked: no label on these rubrics counts." in said.basis


def test_an_unranked_system_is_not_one_with_fewer_queries() -> None:
    found = standing(np.array([2.0, 1.0, np.nan]), np.zeros((3, 3), dtype=bool))
    assert not any("fewer" in said for said in rests_on(board(found, queries=labelled(100, 99, 0, of=100))))


def test_it_is_said_that_a_few_queries_have_most_of_the_labels() -> None:
    found = standing(np.array([2.0, 1.0, 0.5]), np.zeros((3, 3), dtype=bool))
    few, many = (rests_on(board(replace(found, n_equal=n))) for n in (7, 90))
    assert (
        "The evidence is 100 queries, which count as 7 equal ones since a few have most of the labels: the claims hold "
        "for queries like these."
    ) in few
    assert many == rests_on(board(found))
    assert any(
        said.startswith(
            "The evidence is 2 queries, which count as one since one of them has most of the labels, so that nothing "
        )
        for said in rests_on(board(replace(found, n_units=2, n_equal=1)))
    )
    half = labelled(40, 40, 40, of=40)  # of each system's own queries
    assert rests_on(board(replace(found, n_equal=38), queries=half)) == rests_on(board(found, queries=half))


def test_the_evidence_of_groups_without_a_common_scale_is_what_one_system_has_of_it() -> None:
    found = standing(np.array([2.0, 1.0, 0.5, 0.2]), np.zeros((4, 4), dtype=bool))
    half, apart = labelled(50, 50, 40, 50, of=100), replace(found, group=np.array([0, 0, 1, 1]))
    said = "The evidence is 100 queries, at most 50 for one system: the claims hold for queries like these."
    assert said in rests_on(board(apart, queries=half))
    assert said not in rests_on(board(found, queries=half))


@pytest.mark.parametrize("together", [1, 5])
@pytest.mark.parametrize("missing", [0.02, 0.3, 0.7])
@pytest.mark.parametrize("systems", [6, 60])
def test_labels_that_are_missing_at_random_make_no_system_one_with_fewer(
    systems: int, missing: float, together: int
) -> None:
    rng = np.random.default_rng(5)
    on = together * rng.binomial(80, 1 - missing, (400, systems))
    said = [Labelled(row, np.full(systems, 80 * together), together).fewer().any() for row in on]
    assert np.mean(said) < 0.08


def test_a_fifth_fewer_is_found_among_labels_that_are_missing_at_random() -> None:
    rng = np.random.default_rng(6)
    on = rng.binomial(200, np.r_[np.full(59, 0.7), 0.5])
    found = Labelled(on, np.full(60, 200)).fewer()
    assert np.flatnonzero(found).tolist() == [59]


def test_long_names_that_differ_in_their_middle_are_told_apart() -> None:
    """Each alone would be cut to the same start and the same end."""
    systems = tuple(f"an-organisation-with-a-long-name/model-{i}-instruct-of-november-2026" for i in range(7))
    estimate = np.linspace(1.5, -1.5, 7)
    apart = np.abs(estimate[:, None] - estimate) > 1.2
    found = standing(estimate, apart)
    long = board(found, systems=systems, comparisons=comparisons_table(systems, found))
    tier = claims_of(long).tier
    assert [f"model-{i}" in tier for i in range(7)] == [True] * 3 + [False] * 4
    assert "model-0" in claims_of(long).ahead
    assert {f"model-{i}" in pair_sentence(long, 1, 5) for i in (1, 5)} == {True}
    assert "model-3" in place_sentence(long, 3)


@pytest.mark.parametrize("limit", [14, 16, 18, 20, 22, 36])
def test_no_two_of_60_names_look_alike_however_short_they_are_cut(limit: int) -> None:
    sizes = ("7b-instruct", "13b-instruct", "70b-chat", "405b", "405b-instruct")
    names = [
        f"org/{family}-{version}-{size}-{form}"
        for family in ("llama", "qwen", "mistral")
        for version in ("2", "2.5")
        for size in sizes
        for form in ("q4", "fp16")
    ]
    shown = short_names(names, limit)
    assert len(set(shown)) == len(names) == 60
    assert max(map(len, shown)) <= limit


def test_an_end_of_a_difference_beyond_what_can_be_is_open() -> None:
    found = standing(np.array([1.0, 0.0, -1.0]), np.zeros((3, 3), dtype=bool))
    low = found.difference_low.copy()
    low[0, 1] = -115_685.37
    said = pair_sentence(board(replace(found, difference_low=low)), 0, 1)
    assert "115" not in said
    assert "[−∞, " in said
    table = comparisons_table(("a", "b", "c"), replace(found, difference_low=low))
    assert table["low"].min() == -np.inf
