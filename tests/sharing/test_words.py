"""What a view says of itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crubric_core import Result
from crubric_core.sharing import Choices, SharedView, build_view
from crubric_core.sharing.words import (
    answer,
    bank_sentence,
    bank_sentences,
    compared,
    origin,
    reading,
    settings_list,
    support,
)
from crubric_core.text import at_least


def test_the_first_line_is_that_of_the_result(result: Result, view: SharedView) -> None:
    assert answer(view) == result.claims.headline
    assert support(view) == (*result.claims.basis, *result.claims.beside)


def test_without_tiers_it_claims_none(result: Result) -> None:
    view = build_view(result, Choices(tiers=False))
    assert "tier" not in " ".join((*answer(view), *support(view), *reading(view))).lower()
    assert answer(view)[0] == result.claims.ahead


@pytest.mark.parametrize(
    ("choices", "start"),
    [
        (Choices(leaderboard=False), "40 of "),
        (Choices(leaderboard=False, bank=False), "8 systems judged on "),
    ],
)
def test_it_speaks_of_what_is_shown(result: Result, choices: Choices, start: str) -> None:
    assert answer(build_view(result, choices))[0].startswith(start)


def test_two_systems_are_compared_as_the_board_compares_them(view: SharedView) -> None:
    pairs = view.separation
    for i, k in np.ndindex(pairs.separated.shape):
        said = compared(pairs, i, k)
        if i != k:
            assert ("are not separated" in said) == (not pairs.separated[i, k])
            assert said == compared(pairs, k, i) or not pairs.separated[i, k]


def test_of_a_pair_that_is_not_compared_no_probability_is_told(view: SharedView) -> None:
    ahead = view.separation.ahead.copy()
    ahead[0, 1] = ahead[1, 0] = np.nan
    pairs = replace(view.separation, ahead=ahead)
    names = pairs.systems
    assert (
        compared(pairs, 0, 1) == f"{names[0]} and {names[1]} are not compared: "
        "they share too few queries or rubrics, or both pass all, or both fail all."
    )
    assert "are not compared" not in compared(pairs, 0, 2)


def test_a_pair_that_is_not_separated_is_never_told_as_certain(view: SharedView) -> None:
    ahead = view.separation.ahead.copy()
    ahead[0, 1], ahead[1, 0] = 0.9996, 0.0004
    pairs = replace(view.separation, ahead=ahead, separated=np.zeros_like(view.separation.separated))
    assert compared(pairs, 0, 1).endswith("has probability over 99%.")
    assert compared(pairs, 1, 0).endswith("has probability under 1%.")


def test_the_bank_is_held_against_the_best_possible_one(view: SharedView) -> None:
    said = bank_sentence(view.bank, view.settings)
    assert (
        f"{at_least(view.bank.certificate)} of the modelled separation of pairs of the best possible" in said
    )
    greedy = bank_sentence(view.bank, {**view.settings, "strategy": "greedy"})
    assert f"{at_least(view.bank.certificate)} of the coverage of the best possible" in greedy


@pytest.mark.parametrize(
    ("proven", "words"), [(1.0, "with 100% of the"), (0.99996, "with at least 99.9% of the")]
)
def test_a_bank_that_is_proven_to_be_the_best_is_not_said_to_be_at_least_that(
    view: SharedView, proven: float, words: str
) -> None:
    assert words in bank_sentence(replace(view.bank, certificate=proven), view.settings)


def test_what_a_bank_keeps_for_systems_held_out_is_told_before_its_certificate(view: SharedView) -> None:
    assert bank_sentences(view.bank, view.settings) == (bank_sentence(view.bank, view.settings),)
    tested = replace(view.bank, worth=("It keeps 66%.", "It lands on its rank."))
    assert bank_sentences(tested, view.settings)[:2] == tested.worth
    assert answer(replace(view, claims=None, bank=tested)) == tested.worth


def test_a_bank_of_all_candidates_is_held_against_no_other(view: SharedView) -> None:
    whole = replace(view.bank, size=view.bank.candidates)
    assert bank_sentence(whole, view.settings) == (
        f"{whole.size:,} of {whole.size:,} rubrics in the pool (those that pass the gate and vary between "
        "systems): the bank leaves none out."
    )


@pytest.mark.parametrize("strategy", ["random", "hard_random"])
@pytest.mark.parametrize("more", [0, 3])
def test_a_bank_that_is_drawn_is_counted_against_no_rubrics_that_pass(
    view: SharedView, strategy: str, more: int
) -> None:
    drawn = replace(view.bank, size=view.bank.candidates + more)
    said = bank_sentence(drawn, {**view.settings, "strategy": strategy})
    assert said.startswith(f"{drawn.size:,} rubrics drawn at random, with at least")


def test_a_bank_with_rubrics_pinned_past_the_gate_is_not_one_of_the_candidates(view: SharedView) -> None:
    pinned = replace(view.bank, size=view.bank.candidates + 1)
    assert bank_sentence(pinned, view.settings).startswith(f"{pinned.size:,} rubrics, with at least")


def test_the_origin_names_the_dataset_only_where_it_may_be_known(result: Result, view: SharedView) -> None:
    assert origin(view)["Dataset"] == "small"
    assert "small" not in origin(build_view(result, Choices(dataset=False))).values()
    assert origin(view)["Fingerprint of the dataset"] == result.fingerprint


def test_every_setting_is_listed(result: Result, view: SharedView) -> None:
    listed = settings_list(view)
    assert listed["tau_c"] == "none (the lowest quarter of the measured rubrics is dropped)"
    assert listed["budget"] == "40"
    assert listed["priors.b_sd"] == "2.0"
    assert listed["holm"] == "no"
    without_names = {"composition"}  # by a caution
    assert {name.split(".")[0] for name in listed} == set(result.settings.names()) - without_names


def test_the_reader_is_told_what_tiers_mean_where_there_are_any(result: Result, view: SharedView) -> None:
    assert any("tier" in line for line in reading(view))
    assert not any("tier" in line for line in reading(build_view(result, Choices(tiers=False))))
