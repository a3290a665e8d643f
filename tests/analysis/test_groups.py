"""Pairs that stand the other way in a group of queries are found where they are, and hardly ever where none are."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from crubric_core.analysis.agreement import OtherRanking, mean_standing
from crubric_core.analysis.groups import compare_groups, dimension_scores, group_sentence, judges_sentence
from crubric_core.leaderboard.inference import infer
from crubric_core.leaderboard.influence import score_influence

QUERIES, ONE = 60, np.ones(60)
NAMES = ("a", "b", "c")
ALL = np.arange(6)


def split(scores):
    """Three groups of twenty queries."""
    return [np.where(np.arange(QUERIES) // 20 == g, scores, np.nan) for g in range(3)]


def board(scores, seed=1):
    return mean_standing(scores, 0.95, seed, simultaneous=True)


def table(rng, level, noise=0.15):
    return np.asarray(level)[:, None] + noise * rng.normal(size=(6, QUERIES))


@pytest.fixture
def turned():
    """The first system is ahead of the second, but in the last group far behind it."""
    scores = table(np.random.default_rng(1), [0.8, 0.5, 0.4, 0.3, 0.2, 0.1])
    scores[0, 40:] -= 0.6
    return scores


def test_a_pair_that_stands_the_other_way_in_a_group_is_found_and_named(turned):
    shown = board(turned)
    assert shown.separated[0, 3]
    found = compare_groups(NAMES, split(turned), ONE, shown, ALL, 1)
    assert [each.reversed > 0 for each in found] == [False, False, True]
    above, below = found[2].example
    said = group_sentence("domain", found, "stuvwx", "95%")
    assert said == (
        f"1 of 3 domains separates some of the {found[2].separated} separated pairs shown the other way at 95%: c. "
        f"In c, {'stuvwx'[above]} is ahead of {'stuvwx'[below]}."
    )
    assert below == 0


def test_only_the_systems_shown_are_compared_and_named(turned):
    shown, some = board(turned), np.array([2, 0])
    found = compare_groups(NAMES, split(turned), ONE, shown, some, 1)
    assert [each.separated for each in found] == [1, 1, 1]
    assert found[2].example == (0, 1)
    assert group_sentence("domain", found, ["x", "y"], "95%").endswith("In c, x is ahead of y.")


def test_every_group_is_compared_at_the_level_that_holds_for_all_of_them(turned):
    shown = board(turned)
    found = compare_groups(NAMES, split(turned), ONE, shown, ALL, 1)
    for at, (each, scores) in enumerate(zip(found, split(turned), strict=True)):
        alone = infer(
            score_influence(scores, ONE), np.random.default_rng([1, 7, at]), confidence=1 - 0.05 / 3
        )
        both = np.triu(shown.separated & alone.separated)
        assert each.kept + each.reversed == both.sum()


@pytest.mark.parametrize("level", [[0.5] * 6, [0.6, 0.56, 0.52, 0.5, 0.48, 0.4]], ids=["equal", "unequal"])
def test_where_groups_do_not_differ_hardly_a_table_has_a_pair_the_other_way(level):
    rng, told = np.random.default_rng(2), 0
    for seed in range(80):
        scores = table(rng, level, noise=0.25)
        told += any(
            each.reversed for each in compare_groups(NAMES, split(scores), ONE, board(scores), ALL, seed)
        )
    assert told <= 80 * 0.05


def test_systems_that_too_few_queries_of_a_group_link_are_not_compared_in_it(turned):
    shown = board(turned)
    apart = turned.copy()
    apart[:2, 50:] = apart[2:, 40:50] = np.nan  # in the last group nobody has the queries of the first two
    found = compare_groups(NAMES, split(apart), ONE, shown, np.array([0, 2]), 1)
    assert (found[2].kept, found[2].reversed) == (0, 0)


def test_a_board_that_separates_nobody_is_told_nothing():
    scores = table(np.random.default_rng(3), [0.5] * 6, noise=1)
    found = compare_groups(NAMES, split(scores), ONE, board(scores), ALL, 1)
    assert group_sentence("domain", found, "stuvwx", "95%") == ""


def test_groups_that_agree_are_said_to():
    scores = table(np.random.default_rng(4), [0.9, 0.7, 0.5, 0.4, 0.2, 0.1])
    found = compare_groups(NAMES, split(scores), ONE, board(scores), ALL, 1)
    pairs = found[0].separated
    assert group_sentence("dimension", found, "stuvwx", "95%") == (
        f"No dimension separates any of the {pairs} separated pairs shown the other way at 95%."
    )


def test_names_of_several_groups_are_cut():
    each = OtherRanking("", 9, 1, 1, (0, 1), 0.5, tested=True)
    found = [replace(each, name=f"g{n}", reversed=n % 2 + 1) for n in range(5)]
    said = group_sentence("domain", found, ["x", "y"], "95%")
    assert said.startswith(
        "5 of 5 domains separate some of the 9 separated pairs shown the other way at 95%: g0, g1, g2"
    )
    assert said.endswith("In g1, x is ahead of y.")


def test_where_judges_differ_by_group_it_is_said_why_no_pairs_are_compared():
    assert judges_sentence("domain") == (
        "Whether separated pairs are reversed in a domain is not shown: the systems have different judges there, and "
        "what differs between judges would look like a difference between systems."
    )


def test_unequal_panels_are_not_compared_by_group(turned):
    shown = replace(board(turned), allowance=SimpleNamespace())
    assert compare_groups(NAMES, split(turned), ONE, shown, ALL, 1) == ()


def test_shares_by_dimension_are_those_of_the_labels_in_use():
    rubrics = pd.DataFrame({"query": ["p", "p", "p", "q"], "dimension": ["tone", "facts", "tone ", None]})
    reduction = SimpleNamespace(
        rubrics=rubrics, y=np.array([[1.0, 0.0, 1.5, 1.0]]), levels=np.array([2, 2, 4, 2])
    )
    queries = pd.DataFrame({"query": ["p", "q"]})
    use = np.array([[True, True, True, True]])
    names, (facts, tone) = dimension_scores(reduction, use, queries)
    assert names == ("facts", "tone")
    np.testing.assert_array_equal(facts, [[0.0, np.nan]])
    np.testing.assert_array_equal(tone, [[0.75, np.nan]])
    use[0, 0] = False
    assert dimension_scores(reduction, use, queries)[1][1][0, 0] == 0.5
