"""What the Bank page claims of a bank agrees with the comparisons that it is made of."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from crubric_core import Settings, Workspace
from crubric_core.analysis import bank_value, banks, held_out, selection
from crubric_core.analysis.bank_value import (
    FARTHEST,
    LARGEST,
    WorthCurve,
    composed_sentence,
    curve_sentences,
    grid_sizes,
    place_on,
    random_masks,
    random_places,
    worth_sentences,
)
from crubric_core.analysis.fitted import with_rules
from crubric_core.analysis.pipeline import result_of
from crubric_core.analysis.scenarios import change_sentences, compare, outcome_of
from crubric_core.analysis.selection import masks, orders_without_folds, query_positions, usable_without_folds
from crubric_core.analysis.stage import Memory
from crubric_core.analysis.stages import Analysis
from crubric_core.bank.worth import bank_worth
from crubric_core.demo import simulate
from crubric_core.errors import AssemblyError
from crubric_core.experiments.held_out_systems import held_out_systems
from crubric_core.leaderboard import cross_fit
from crubric_core.placement.bank_file import bank_bytes, read_bank_bytes
from crubric_core.placement.bank_scale import bank_scale_of
from crubric_core.placement.new_labels import read_new_labels
from crubric_core.placement.place import place_systems
from crubric_core.workers import Workers, use_workers


@pytest.fixture(scope="module")
def analysis():
    made = simulate(seed=1, systems=8, queries=12, pool=(8, 12))
    with Workspace() as workspace:
        for kind in ("queries", "rubrics", "labels"):
            workspace.ingest(getattr(made, kind).to_csv(index=False).encode(), "small", kind)
        ds = workspace.dataset("small")
        settings = with_rules(ds, Settings(budget=20))
        yield Analysis(dataset=ds, fingerprint=ds.fingerprint, settings=settings)


@pytest.fixture
def one_of_seven():
    """A dataset in which one system passes every rubric, and all others fail it."""
    rows = [f"m{i},q{j % 3},r{j},k{k},{int(i == 0)}" for i in range(7) for j in range(9) for k in range(2)]
    with Workspace() as workspace:
        workspace.ingest("\n".join(["system,query,rubric,judge,label", *rows]).encode(), "one", "labels")
        yield workspace.dataset("one")


def test_a_bank_that_no_system_can_be_held_out_of_is_a_bank_to_place_systems_on(one_of_seven):
    """Writing bank.json failed where the page shows the board and the bank."""
    analysis = Analysis(dataset=one_of_seven, fingerprint="one", settings=Settings())
    assert np.isnan(analysis.transfer())
    result = result_of(analysis)
    content = bank_bytes(bank_scale_of(result, one_of_seven.panel(), analysis.transfer()))
    bank_scale = read_bank_bytes(content, "bank.json")
    assert b'"transfer_variance":null' in content.replace(b": ", b":")
    new = read_new_labels(bank_scale, b"system,query,rubric,judge,label\nnew,q0,r0,k0,1\nnew,q1,r1,k0,1\n")
    assert any(
        "no bank could be chosen without each" in note for note in place_systems(bank_scale, new).notes
    )
    change = compare(outcome_of("a", analysis), outcome_of("b", analysis))
    assert change_sentences(change)[-1] == "No system changes its tier or its rank."


def test_systems_are_not_held_out_of_others_that_are_all_alike(one_of_seven):
    """It ended in a traceback."""
    table = held_out_systems(one_of_seven, Settings(), repeats=1).tables["new_systems"]
    assert table["new_pairs"].isna().all()


def test_rubrics_that_tell_one_system_from_all_others_choose_no_bank_without_it():
    rows = [f"m{i},q,r{j},k{k},{int(i == 0)}" for i in range(7) for j in range(3) for k in range(2)]
    with Workspace() as workspace:
        workspace.ingest("\n".join(["system,query,rubric,judge,label", *rows]).encode(), "one", "labels")
        analysis = Analysis(dataset=workspace.dataset("one"), fingerprint="one", settings=Settings())
        assert analysis.ranking().table["rank"].tolist() == [1, 2, 2, 2, 2, 2, 2]
        with pytest.raises(
            AssemblyError, match="separates only one system, or one fold of systems, from all others"
        ):
            analysis.bank_masks()


def curve_of(kept, separated=10):
    """Curves of hand-made worths: the share of separated pairs that banks of 10, 20, 40 keep."""
    worths = []
    for share in kept:
        theta = np.arange(5.0)
        sure = ~np.eye(5, dtype=bool) if separated else np.zeros((5, 5), dtype=bool)
        told = sure.copy()
        pairs = np.argwhere(np.triu(sure, 1))
        for i, k in pairs[: round((1 - share) * len(pairs))]:
            told[i, k] = told[k, i] = False
        worths.append(bank_worth(theta, sure, theta, told))
    sizes = np.array([10, 20, 40])
    return WorthCurve(sizes, tuple(worths), tuple(worths), 100, 5, sizes)


def test_ranks_are_told_within_groups_of_systems_that_share_no_query():
    first, second = (simulate(seed=seed, systems=7, queries=14, pool=(9, 12)) for seed in (5, 6))
    with Workspace() as workspace:
        for kind in ("labels", "rubrics", "queries"):
            table = getattr(second, kind)
            names = [name for name in ("system", "query", "rubric") if name in table]
            table = pd.concat([getattr(first, kind), table.assign(**{n: "z" + table[n] for n in names})])
            workspace.ingest(table.to_csv(index=False).encode(), "apart", kind)
        ds = workspace.dataset("apart")
        apart = Analysis(dataset=ds, fingerprint=ds.fingerprint, settings=with_rules(ds, Settings(budget=40)))
        pool, bank = apart._placed_on_pool(), apart._placed([apart.bank_masks()])[0]
        curve = apart.worth(curve=False)
    groups = [np.arange(7), np.arange(7, 14)]
    apart_by = [
        np.abs(pd.Series(pool.ability[g]).rank() - pd.Series(bank.ability[g]).rank()).to_numpy()
        for g in groups
    ]
    assert curve.at(40)[0].rank_error.estimate == pytest.approx(np.concatenate(apart_by).mean())
    ranks = f"{np.concatenate(apart_by).mean():.1f}"
    said = worth_sentences(curve, 40)[1]
    assert f"lands {ranks} ranks from its rank on all of them within its group" in said
    assert "the 2 groups of systems have no common scale" in said


def test_a_bank_of_the_whole_pool_keeps_every_separation_and_reverses_none(analysis):
    size = int(analysis.pool.sum())
    curve = analysis._worth(np.array([size]), size, 512)
    chosen, random = curve.at(size)
    assert random.kept.estimate == 1
    assert chosen.reversed.estimate == random.reversed.estimate == 0


def test_each_system_is_placed_by_a_bank_that_its_own_labels_did_not_choose(analysis):
    masks = analysis.bank_masks()
    assert masks.shape == (8, len(analysis.pool))
    assert (masks.sum(axis=1) == 20).all()
    assert not (masks & ~analysis.feasible).any()


def test_pairs_that_a_bank_separates_are_those_of_the_leaderboard_on_it(analysis):
    masks, settings = analysis.bank_masks(), analysis.settings
    at = query_positions(analysis.queries(), analysis.given())
    (placed,) = place_on(analysis.folds(), [masks], at, settings)
    standing = analysis.ranking_on(masks).standing
    assert np.array_equal(placed.separated, standing.separated)
    np.testing.assert_array_equal(placed.ability, standing.estimate)


def test_what_is_kept_of_the_folds_orders_the_rubrics_as_if_it_were_computed_anew(analysis):
    kept = analysis._without_folds("pairs")
    assert len(kept) == 8
    arguments = analysis.given(), analysis.calibration(), analysis.folds(), analysis.feasible
    anew = orders_without_folds(*arguments, analysis.settings)
    known = orders_without_folds(*arguments, analysis.settings, known=kept)
    assert all(np.array_equal(one, other) for one, other in zip(anew, known, strict=True))


def test_how_many_threads_share_the_work_changes_nothing(analysis, monkeypatch):
    cross, query = analysis.folds(), query_positions(analysis.queries(), analysis.given())
    given = analysis.given(), analysis.calibration(), cross, analysis.feasible, analysis.settings
    banks = random_masks(random_places(np.tile(analysis.pool, (cross.n_folds, 1)), 0), 20)

    def found():
        orders = orders_without_folds(*given, budget=40)
        placed = place_on(cross, banks, query, analysis.settings)
        return [each.tobytes() for each in orders], [
            (each.ability.tobytes(), each.separated.tobytes()) for each in placed
        ]

    alone = found()
    monkeypatch.setattr(cross_fit, "LARGE", 0)
    with use_workers(Workers(threads=3)):
        assert found() == alone


def test_a_word_of_progress_that_raises_ends_the_choice_of_banks(analysis):
    def stop(share, what):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        orders_without_folds(
            analysis.given(),
            analysis.calibration(),
            analysis.folds(),
            analysis.feasible,
            analysis.settings,
            progress=stop,
        )


def test_too_much_to_keep_is_not_kept(analysis, monkeypatch):
    monkeypatch.setattr(banks, "KEPT_CELLS", 10)
    assert replace(analysis, store=Memory())._without_folds("pairs") == ()


def test_where_too_much_would_be_kept_pairs_are_compared_once_a_fold_for_leaderboard_and_curve(
    analysis, monkeypatch
):
    masks, sizes = analysis.bank_masks(), analysis.worth().sizes
    monkeypatch.setattr(banks, "KEPT_CELLS", 10)
    anew, compared = replace(analysis, store=Memory()), []
    assert anew._without_folds("pairs") == ()
    without = selection.without_fold
    monkeypatch.setattr(selection, "without_fold", lambda *a: compared.append(a[3]) or without(*a))
    assert np.array_equal(anew.bank_masks(), masks)
    assert anew.worth().sizes.tolist() == sizes.tolist()
    assert compared == list(range(8))


def test_each_fold_is_tested_with_what_it_has_where_some_have_fewer_candidates(analysis):
    """All were tested at the size of the fold that has the fewest, and the board spoke of that which has the most."""
    whole = replace(analysis, settings=replace(analysis.settings, budget=2000))
    lengths = [len(order) for order in whole._fold_orders("pairs", whole._most)]
    assert min(lengths) < max(lengths) < 2000
    assert whole.worth().sizes[-1] == max(lengths)
    assert whole.bank_masks().sum(axis=1).tolist() == lengths
    as_new = replace(whole, settings=replace(whole.settings, basis="bank"))
    assert as_new.ranking().n_rubrics == (min(lengths), max(lengths))


def test_a_bank_of_all_is_said_to_keep_all_only_where_each_fold_has_all(analysis):
    curve = analysis.worth()
    chosen, _ = curve.at(20)
    for kept, told in (
        (chosen.kept, "keep"),
        (replace(chosen.kept, estimate=1.0), "so it separates the same"),
    ):
        whole = replace(curve, chosen=tuple(replace(w, kept=kept) for w in curve.chosen), pool=20)
        assert told in worth_sentences(whole, 20)[0]
        assert ("the same" in worth_sentences(whole, 20)[0]) == (kept.estimate == 1)


def test_the_sentence_states_the_share_kept_by_the_bank_and_by_random_ones(analysis):
    curve = analysis.worth()
    chosen, random = curve.at(20)
    sentence, more = worth_sentences(curve, 20)
    assert f"keep {chosen.kept.estimate:.0%}" in sentence
    assert f"random banks of 20 keep {random.kept.estimate:.0%}" in sentence
    assert f"{chosen.rank_error.estimate:.1f} ranks" in more


def test_the_least_bank_is_the_first_from_which_on_every_size_keeps_the_target():
    curve = curve_of([0.5, 1.0, 1.0])
    kept = curve.chosen[1].kept
    said = f"Of 3 fixed sizes tried, all from 20 on keep 95% here: a bank of 20 keeps 100% [{kept.low:.0%}, 100%]."
    assert said in worth_sentences(curve, 10)[1]
    assert kept.low < 0.5, "five systems: it says little of others"
    for kept in ([1.0, 1.0, 0.5], [0.1, 0.2, 0.5]):
        said = worth_sentences(curve_of(kept), 10)[1]
        assert said.endswith("The largest of 3 fixed sizes tried, 40, does not keep 95%.")
    for curve, told in (
        (curve_of([0.5, 1.0, 1.0]), "does not keep 95%."),
        (curve_of([1.0, 1.0, 1.0]), "keeps 100% ["),
    ):
        one = {name: getattr(curve, name)[:1] for name in ("sizes", "chosen", "random", "grid")}
        assert f"The only fixed size tried, 10, {told}" in worth_sentences(replace(curve, **one), 10)[1]


@pytest.mark.parametrize(
    ("kept", "said"),
    [
        ([0.5, 0.6, 0.9], "The bank's line stays below 95%"),
        ([0.5, 1.0, 0.9], "The bank's line ends below 95%"),
        ([0.5, 1.0, 1.0], "The bank's line is at 95% or above from 20 on"),
        (
            [1.0, 0.5, 1.0],
            "The bank's line is at 95% or above at the largest size, 40, and below it at the size before",
        ),
        ([1.0, 1.0, 1.0], "The bank's line is at 95% or above at each size"),
    ],
)
def test_the_caption_of_the_curve_says_where_the_line_keeps_the_target_if_it_does(kept, said):
    curve = curve_of(kept)
    few = replace(curve.random[0], kept=replace(curve.random[0].kept, estimate=0.4))
    said += ", and is above that of random banks at 1 of 3 sizes. Bands: 90% intervals over systems"
    assert curve_sentences(replace(curve, random=(few, *curve.random[1:])), 0.9).startswith(said)


def test_the_caption_of_the_curve_tells_of_no_random_banks_that_keep_nothing_known_and_of_bands_without_spread():
    curve = curve_of([0.5, 0.6, 0.9])
    kept = replace(curve.random[0].kept, estimate=float("nan"))
    unknown = (replace(curve.random[0], kept=kept),) * 3
    assert curve_sentences(replace(curve, random=unknown), 0.95) == (
        "The bank's line stays below 95%. Bands: 95% intervals over systems."
    )
    assert "they rest on the number of systems alone" in curve_sentences(curve_of([0.5, 0.6, 1.0]), 0.95)


def test_a_size_is_not_called_the_least_where_a_smaller_one_keeps_as_many():
    said = worth_sentences(curve_of([1.0, 0.5, 1.0]), 10)[1]
    assert "Of 3 fixed sizes tried, all from 40 on keep 95% here: a bank of 40 keeps 100%" in said
    said = worth_sentences(replace(curve_of([1.0, 0.5, 1.0]), pool=40), 10)[1]
    # A bank of 30 may keep 97%: that only all 40 keep 95% is not said.
    assert said.endswith(
        "Of 3 fixed sizes tried, a bank of 20 keeps 50.0% and the next, all 40, keeps 100.0%: 95% is reached between "
        "them."
    )


def test_of_a_bank_that_holds_the_whole_pool_no_share_is_claimed():
    first, more = worth_sentences(replace(curve_of([0.5, 0.6, 1.0]), pool=40), 40)
    assert first == "The bank holds all 40 rubrics that pass and vary, so it separates the same 10 pairs."
    assert "a bank of 20 keeps 60.0% and the next, all 40, keeps 100.0%: 95% is reached between them." in more


def test_of_a_whole_pool_that_keeps_less_without_a_system_it_is_said_what_was_left_out():
    first, _ = worth_sentences(replace(curve_of([0.5, 0.6, 0.9]), pool=40), 40)
    assert first.startswith(
        "The bank is all 40 rubrics of the pool. When each system is placed without its own labels, they keep 90%"
    )


def test_what_is_little_is_not_written_as_none():
    curve = curve_of([0.6, 0.8, 1.0])
    little = replace(
        curve.chosen[0],
        reversed=replace(curve.chosen[0].reversed, estimate=0.0004),
        rank_error=replace(curve.chosen[0].rank_error, estimate=0.03),
    )
    first, more = worth_sentences(replace(curve, chosen=(little, *curve.chosen[1:])), 10)
    assert "and reverse less than 0.1%;" in first
    assert "lands less than 0.1 ranks from" in more


def test_of_systems_that_all_keep_their_rank_no_mean_of_ranks_is_told():
    curve = curve_of([0.6, 0.8, 1.0])
    same = replace(curve.chosen[0], rank_error=replace(curve.chosen[0].rank_error, estimate=0.0))
    _, more = worth_sentences(replace(curve, chosen=(same, *curve.chosen[1:])), 10)
    assert more.startswith("Each new system lands on its rank on all of them (5 systems, each placed without")


def test_where_nothing_is_separated_no_share_is_claimed():
    first, _ = worth_sentences(curve_of([1.0, 1.0, 1.0], separated=0), 10)
    assert "separate no pair" in first
    assert "pass" not in first, "with one judge there is no gate to pass"
    assert "%" not in first


def test_a_composed_bank_is_said_to_keep_a_share_only_where_there_are_pairs_to_keep():
    some, none = curve_of([0.5, 0.6, 0.9]), curve_of([1.0, 1.0, 1.0], separated=0)
    assert "40 composed rubrics keep 90.0% of the separated pairs" in composed_sentence(some, some, 0.95)
    for after, before in ((none, none), (some, none), (none, some)):
        assert composed_sentence(after, before, 0.95) == (
            "Held out, the two banks place no pairs that the whole pool separates, so what they keep is unknown."
        )


def test_systems_that_a_bank_cannot_place_are_counted_and_random_banks_that_place_none_are_not_mentioned():
    curve = curve_of([0.6, 0.8, 1.0])
    few = replace(curve.chosen[0], systems=4)
    first, more = worth_sentences(replace(curve, chosen=(few, *curve.chosen[1:])), 10)
    assert "random banks of 10 keep 60%" in first
    assert "(4 of 5 systems, each placed without its own labels)" in more
    assert (
        "of the 10 pairs that all 100 separate among the 4 of 5 systems that the bank places, and reverse"
        in first
    )
    unknown = replace(curve.random[0], separated=0)
    first, _ = worth_sentences(replace(curve, random=(unknown, *curve.random[1:])), 10)
    assert "random" not in first
    assert first.endswith("and reverse none.")


def test_random_banks_have_the_candidates_of_the_banks_that_they_are_compared_with(analysis):
    """A rubric that tells only the system held out from the others is offered to neither."""
    y, fold = analysis.given().y, analysis.folds().fold
    usable = usable_without_folds(y, analysis.folds())
    for f, row in enumerate(usable):
        others = y[fold != f]
        np.testing.assert_array_equal(row, [len(np.unique(c[~np.isnan(c)])) > 1 for c in others.T])
    candidates = usable & analysis.feasible
    assert (candidates != analysis.pool).any(), "some rubrics vary by one system alone"
    places = random_places(candidates, seed=3)
    for mask, larger in zip(random_masks(places, 15), random_masks(places, 16), strict=True):
        assert not (mask & ~candidates).any()
        assert (mask.sum(axis=1) == 15).all()
        assert (larger & ~mask).sum(axis=1).tolist() == [1] * len(mask), "of one draw, banks are nested"
    orders = orders_without_folds(
        analysis.given(), analysis.calibration(), analysis.folds(), analysis.feasible, analysis.settings
    )
    for mask in random_masks(places, len(y.T)):
        np.testing.assert_array_equal(mask, masks(orders, len(y.T), len(y.T)))


def test_the_sizes_of_a_grid_go_from_ten_or_what_a_bank_must_have_to_all_that_is_ordered_up_to_a_limit():
    assert grid_sizes(500)[[0, -1]].tolist() == [10, 500]
    assert grid_sizes(20_000)[-1] == LARGEST
    assert grid_sizes(2_957, largest=FARTHEST)[[0, -1]].tolist() == [10, 2_957]
    assert grid_sizes(20_000, largest=FARTHEST)[-1] == FARTHEST
    assert grid_sizes(20_000, smallest=9_000).tolist() == [9_000]
    assert grid_sizes(500, smallest=33)[0] == 33
    assert grid_sizes(4).tolist() == [4]


@pytest.mark.parametrize("budget", [11, 60, 2000])
def test_what_it_takes_to_keep_the_target_is_the_same_for_every_bank_size(analysis, monkeypatch, budget):
    """At 200 a dataset's "200 is the least", at 60 "only all 213": each bank size was one of the sizes tried."""
    monkeypatch.setattr(banks, "FIRST", 16)  # as 512 of more candidates
    first = replace(analysis, store=Memory())
    curve = first.worth()
    other = replace(first, settings=replace(first.settings, budget=budget)).worth()
    assert other.grid.tolist() == curve.grid.tolist()
    assert other.least() == curve.least()
    assert curve_sentences(other, 0.95) == curve_sentences(curve, 0.95)
    own = (curve, 20), (other, min(budget, int(other.sizes[-1])))
    first, second = (worth_sentences(*each)[1].rpartition("labels). ")[2] for each in own)
    assert first == second


def test_another_bank_size_places_systems_on_banks_of_that_size_alone_and_orders_nothing(
    analysis, monkeypatch
):
    new = next(size for size in range(23, 99) if size not in analysis.worth().sizes)
    monkeypatch.setattr(selection, "orders_without_folds", None)
    placed, place = [], bank_value.place_on
    monkeypatch.setattr(bank_value, "place_on", lambda *a: placed.append(a[1]) or place(*a))
    replace(analysis, settings=replace(analysis.settings, budget=new)).worth()
    assert [{mask.sum(axis=1).max() for mask in masks} for masks in placed] == [{new}, {new}]


def test_of_distances_that_are_too_many_to_keep_what_they_are_made_of_is_kept(analysis, monkeypatch):
    folds = replace(analysis, store=Memory())._without_folds("pairs")
    moments = sum(fold.info.size + 66 * len(fold.pairs.rows) + 2 * 7 * len(fold.pairs.rows) for fold in folds)
    monkeypatch.setattr(banks, "KEPT_CELLS", moments + 8)
    kept = replace(analysis, store=Memory())
    assert [fold.cells for fold in kept._without_folds("pairs")] < [fold.cells for fold in folds]
    assert not any(fold.at_hand for fold in kept._without_folds("pairs"))
    assert np.array_equal(kept.bank_masks(), analysis.bank_masks())
    assert kept.worth().sizes.tolist() == analysis.worth().sizes.tolist()


def test_each_count_of_pairs_says_which_it_counts():
    """A bank of one rubric cannot place a system without a label on it: its pairs are not in the share."""
    curve = curve_of([0.6, 0.8, 1.0])
    few = replace(curve.chosen[0], systems=4, separated=6)
    first, _ = worth_sentences(replace(curve, chosen=(few, *curve.chosen[1:])), 10)
    assert "of the 6 pairs that all 100 separate among the 4 of 5 systems that the bank places" in first
    assert first.endswith("of the 10 that they place.")
    none = replace(curve.chosen[0], systems=2, separated=0)
    first, _ = worth_sentences(replace(curve, chosen=(none, *curve.chosen[1:])), 10)
    assert first == (
        "All 100 rubrics of the pool separate pairs of systems, but none of those that a bank of 10 places (2 of 5 "
        "systems)."
    )
    assert "among" not in worth_sentences(curve, 10)[0]


def test_larger_banks_are_tried_where_somebody_asks_for_them(analysis: Analysis) -> None:
    usual, more = analysis.worth(bank=False, largest=20), analysis.worth(bank=False, largest=60)
    assert usual is not None
    assert more is not None
    assert (usual.sizes[-1], more.sizes[-1]) == (20, 60)
    assert usual.sizes.tolist() == usual.grid.tolist()
    both = np.intersect1d(usual.sizes, more.sizes)
    assert [usual.at(int(size)) for size in both] == [more.at(int(size)) for size in both]


def test_of_very_large_studies_views_say_that_the_worth_of_their_bank_was_not_computed(
    analysis: Analysis, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "that all" in held_out.held_out_sentences(analysis)[0]
    monkeypatch.setattr(held_out, "MOST_CELLS", 10)
    assert held_out.held_out_sentences(analysis) == (
        "This view does not say what the bank keeps for systems that it has not seen: this was not computed.",
    )
