"""What an analysis claims of further domains, what its sentences say, and when it can say nothing of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from crubric_core import Settings, Workspace
from crubric_core.analysis.bank_value import place_on
from crubric_core.analysis.board import rests_on
from crubric_core.analysis.fitted import with_rules
from crubric_core.analysis.health import board_chip
from crubric_core.analysis.reference import reference_on_pool
from crubric_core.analysis.selection import domains_of, query_positions
from crubric_core.analysis.stages import Analysis
from crubric_core.demo import simulate
from crubric_core.leaderboard.comparisons import FEW_UNITS
from crubric_core.leaderboard.influence import Domains, ability_influence

BY_DOMAIN = Settings(budget=40, population="domains")
DOMAIN = np.arange(24) % 8


def analysed(domain, settings=BY_DOMAIN, systems=8):
    """A simulated study whose 24 queries have these domains; a tenth of the cells has a human label."""
    made = simulate(seed=2, systems=systems, queries=24, pool=(5, 7))
    asked = made.queries.assign(domain=domain)
    gold = made.labels.groupby(["system", "query", "rubric"], as_index=False)["label"].first().iloc[::10]
    with Workspace() as workspace:
        for kind, table in (
            ("queries", asked),
            ("rubrics", made.rubrics),
            ("labels", made.labels),
            ("gold", gold),
        ):
            workspace.ingest(table.to_csv(index=False).encode(), "d", kind)
        ds = workspace.dataset("d")
        analysis = Analysis(dataset=ds, fingerprint="d", settings=with_rules(ds, settings))
        for ask in (analysis.claims, analysis.transfer, analysis.worth, analysis.gate_worth):
            ask()  # while the workspace is open
        return analysis


@pytest.fixture(scope="module")
def eight():
    return analysed([f"d{n}" for n in DOMAIN])


@pytest.fixture(scope="module")
def lone():
    """Three queries have no domain."""
    return analysed([f"d{n}" if at < 21 else None for at, n in enumerate(DOMAIN)])


@pytest.fixture(scope="module", params=["none", "one"])
def without(request):
    """No query has a domain; all have the same."""
    return analysed([None if request.param == "none" else "law"] * 24)


def said(analysis):
    return " ".join(rests_on(analysis.board()))


def test_every_standing_of_the_analysis_is_by_domain(eight):
    pool = eight.pool
    for found in (eight.ranking().standing, eight.score_standing(pool), eight.gold_standing()):
        assert (found.unit, found.n_units) == ("domain", 8)
    assert (eight.ranking().table["population"] == "domains").all()


def test_the_standing_is_that_of_the_domains_of_the_queries_table(eight):
    queries, found = eight.queries(), domains_of(eight.queries(), eight.given(), eight.settings)
    names = queries["domain"].tolist()
    assert isinstance(found, Domains)
    for one, name in enumerate(names):
        assert [found.of[one] == found.of[k] for k in range(24)] == [name == other for other in names]
    at = query_positions(queries, eight.given())
    by_hand = ability_influence(eight.folds(), eight.pool, at, eight.panels(), found)
    n = by_hand.n_units
    expected = np.sqrt(np.maximum((by_hand.psi**2).sum(axis=0) * n / (n - 1), by_hand.floor))
    np.testing.assert_allclose(eight.ranking().standing.se, expected)


def test_the_names_of_the_domains_change_nothing(eight):
    renamed = analysed([f"x{7 - n} " for n in DOMAIN])
    one, other = eight.ranking(), renamed.ranking()
    pd.testing.assert_frame_equal(one.table, other.table)
    pd.testing.assert_frame_equal(one.comparisons, other.comparisons)


def test_fewer_than_six_systems_are_compared_by_their_scores_over_domains():
    found = analysed([f"d{n}" for n in DOMAIN], systems=4)
    assert found.ranking().method == "score"
    assert (found.ranking().standing.unit, found.ranking().standing.n_units) == ("domain", 8)


def test_the_evidence_is_said_in_domains(eight, lone):
    assert "The evidence is 8 domains: the claims hold for domains like these." in said(eight)
    assert (
        "the variance with domains as the unit of evidence, as a multiple of that with rubrics as the unit."
        in said(eight)
    )
    assert (
        "The evidence is 8 domains and 3 queries without one: the claims hold for domains like these."
        in said(lone)
    )
    assert "more domains may separate two such systems" in " ".join(eight.claims().limits)


def test_without_two_domains_the_queries_are_the_evidence_and_the_board_says_so(without):
    by_query = analysed([None] * 24, replace(BY_DOMAIN, population="queries"))
    one, other = without.ranking(), by_query.ranking()
    assert one.standing.unit == "query"
    np.testing.assert_array_equal(one.standing.se, other.standing.se)
    assert (one.table["population"] == "queries").all()
    words = "Fewer than two domains have labels: the evidence is 24 queries, and nothing is known of other domains."
    assert words in said(without)
    assert words not in said(by_query)
    assert "like these" not in said(without)


def test_a_basis_of_one_domain_claims_nothing(eight):
    queries = eight.queries()
    law = queries.index[queries["domain"] == "d1"]
    ranking = eight.ranking_on(eight.pool & np.isin(query_positions(queries, eight.given()), law))
    board = replace(eight.board(), standing=ranking.standing, comparisons=ranking.comparisons)
    assert not ranking.standing.separated.any()
    assert "All rubrics used are of one domain: nothing is known of other domains" in " ".join(
        rests_on(board)
    )


def test_what_would_separate_more_systems_is_more_domains(eight):
    board, claims = eight.board(), eight.claims()
    pairs = board.comparisons
    separated, none = (replace(board, comparisons=pairs.assign(separated=flag)) for flag in (True, False))
    calm = replace(claims, contradicted=())
    few = board_chip(separated, calm)
    assert (few.state, few.sentence) == (
        "look",
        "Only 8 domains: few pairs can be separated. Add domains.",
    )
    assert board_chip(none, calm).sentence.endswith("Add domains.")
    many = replace(board.standing, n_units=FEW_UNITS, design_effect=4.0)
    assert "systems differ by domain, so more domains separate" in (
        board_chip(replace(separated, standing=many), calm).sentence
    )
    by_query = replace(board.standing, n_units=8, unit="query", design_effect=1.0)
    assert board_chip(replace(separated, standing=by_query), calm).state == "good"


def test_banks_are_worth_what_they_separate_by_domain(eight):
    masks, settings = eight.bank_masks(), eight.settings
    at, units = (
        query_positions(eight.queries(), eight.given()),
        domains_of(eight.queries(), eight.given(), settings),
    )
    (by_domain,) = place_on(eight.folds(), [masks], at, settings, domains=units)
    assert np.array_equal(by_domain.separated, eight.ranking_on(masks).standing.separated)
    assert np.array_equal(eight._placed_on_pool().separated, eight.ranking().standing.separated)
    (by_query,) = place_on(eight.folds(), [eight.pool], at, settings)
    assert not np.array_equal(eight._placed_on_pool().separated, by_query.separated)


def test_a_new_system_is_still_placed_by_query(eight):
    assert eight.ranking().ability.unit == "query"
    reference = reference_on_pool(eight.reduction(), eight.ranking_on(eight.pool))
    assert reference is not None
    assert len(reference.queries) == len(reference.psi) == 24
