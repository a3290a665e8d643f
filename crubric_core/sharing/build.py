"""Build the view of a Result that the publisher chose."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pandas as pd

from ..analysis.claims import Claims
from ..analysis.columns import BANK_SHARED, LEADERBOARD_SHARED
from ..analysis.export import versions
from ..analysis.result import Result
from ..analysis.standings import claimed
from ..bank.utility import coverage_utility
from ..errors import SharingError
from ..irt.information import item_information
from ..settings import Settings
from .budget import within_budget
from .view import Bank, Separation, SharedView

TITLE, NOTE = 200, 5_000  # most characters


@dataclass(frozen=True)
class Choices:
    """The parts that a view shows. An empty title becomes "Leaderboard". texts: the rubrics of the bank in full."""

    title: str = ""
    note: str = ""
    leaderboard: bool = True
    tiers: bool = True
    separation: bool = True
    bank: bool = True
    texts: bool = False
    dataset: bool = True
    downloads: bool = True


def build_view(result: Result, choices: Choices = Choices(), now: datetime | None = None) -> SharedView:
    """The view of ``result`` with the chosen parts; SharingError if it would be empty or too large for its readers.

    Tiers and separation are left out if ``result.verdict`` does not hold. now: the time of making (default: now).
    """
    if not result.verdict.holds:  # no claim of order: neither tiers nor pairs, nor ranks below
        choices = replace(choices, tiers=False, separation=False)
    if not (choices.leaderboard or choices.separation or choices.bank or choices.texts):
        raise SharingError(
            "The view would be empty: include the leaderboard, the separation, the bank or its rubrics."
        )
    reduction = result.reduction
    view = SharedView(
        title=_words("title", choices.title, TITLE) or "Leaderboard",
        note=_words("note", choices.note, NOTE),
        made_at=(now or datetime.now(UTC)).astimezone(UTC).replace(microsecond=0),
        dataset=result.dataset if choices.dataset else None,
        fingerprint=result.fingerprint,
        counts={
            **reduction.judged,
            "judges": reduction.n_judges,
            "labels": reduction.n_labels,
            "bank": len(result.bank),
        },
        settings=_settings(result.settings),
        versions=versions(),
        cautions=result.warnings,
        downloads=choices.downloads,
        claims=_claims(result, choices),
        leaderboard=_leaderboard(result, choices.tiers) if choices.leaderboard else None,
        separation=_separation(result) if choices.separation else None,
        bank=_bank(result) if choices.bank else None,
        rubrics=result.bank[list(BANK_SHARED)].reset_index(drop=True) if choices.texts else None,
    )
    return within_budget(view)


def _settings(settings: Settings) -> dict[str, Any]:
    """The settings without names of the dataset: no composition (a caution reports it), and of rules only counts."""
    values = replace(settings, composition=None).as_dict()
    if (rules := values.get("rules")) is not None:
        values["rules"] = rules | {name: len(rules[name]) for name in ("assign", "losses") if rules.get(name)}
    return values


def _words(name: str, text: str, most: int) -> str:
    words = text.encode("utf-8", "replace").decode().strip()  # a lone surrogate has no UTF-8 bytes
    if len(words) > most:
        raise SharingError(f"The {name} has {len(words):,} characters: shorten it to {most:,} or fewer.")
    return words


def _claims(result: Result, choices: Choices) -> Claims | None:
    """The claims that fit the chosen parts: None without the leaderboard, and no claims about tiers if not chosen."""
    if not choices.leaderboard:
        return None
    return result.claims if choices.tiers else result.claims.without_tiers()


def _leaderboard(result: Result, tiers: bool) -> pd.DataFrame:
    board = claimed(result.leaderboard, result.verdict)
    shown = [name for name in LEADERBOARD_SHARED if name in board and (tiers or name != "tier")]
    return board[shown].reset_index(drop=True)


def _separation(result: Result) -> Separation:
    ranked = result.leaderboard.loc[result.leaderboard["rank"].notna(), "system"]
    at = pd.Index(result.reduction.systems).get_indexer(pd.Index(ranked))
    standing, pairs = result.ranking.standing, np.ix_(at, at)
    return Separation(tuple(ranked), standing.compared[pairs], standing.separated[pairs])


def _bank(result: Result) -> Bank:
    calibration, weights = result.calibration, result.calibration.grid.weights
    candidates = result.measurability["feasible"].to_numpy() & ~calibration.fit.constant
    information = item_information(calibration.fit, calibration.nodes)
    return Bank(
        size=len(result.bank),
        candidates=int(candidates.sum()),
        rubrics=len(candidates),
        queries_heard=int(result.bank["query"].nunique()),
        queries=int(result.reduction.rubrics["query"].nunique()),
        coverage=float(coverage_utility(calibration.info[:, result.chosen].sum(axis=1), weights))
        / float(coverage_utility(calibration.info[:, candidates].sum(axis=1), weights)),
        certificate=result.certificate,
        theta=calibration.nodes,
        information=information[:, result.chosen].sum(axis=1),
        information_all=information[:, candidates].sum(axis=1),
        worth=result.worth,
    )
