"""The random draws of the simulated study."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.special import expit

from ..types import BoolArray, FloatArray
from .panel import CLEAR, Panel
from .texts import criteria

AGREEMENT_BETA = (5.2, 1.4)
QUERY_EFFECT_SD = 0.7
"""Logits: standard deviation of a system's effect on a whole query, in addition to its ability."""
SLANT_SD, OWN_READING_SD = 0.4, 0.6
"""Logits: standard deviations of a rubric's slant, which all judges share, and of one judge's own reading of it."""
SKIPPED_QUERIES = 0.06
GOLD_SYSTEMS, GOLD_RUBRICS = 8, 2


def abilities(names: Sequence[str], rng: np.random.Generator) -> pd.DataFrame:
    """system, theta ~ N(0, 1), rank; rows sorted by name. names: from the strongest to the weakest system."""
    theta = np.sort(rng.standard_normal(len(names)))[::-1]
    table = pd.DataFrame({"system": names, "theta": theta, "rank": np.arange(1, len(names) + 1)})
    return table.sort_values("system", ignore_index=True)


def item_parameters(
    dimension: pd.Series[str],
    kind: pd.Series[str],
    panel: Panel,
    reading: FloatArray,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """kind, a, b, clarity of each rubric; a and b are NaN if every system passes or fails. reading: (J, K) log-odds."""
    constant = kind.isin(["everyone_passes", "everyone_fails"]).to_numpy()
    a = np.exp(0.5 * rng.standard_normal(len(kind)))
    b = -0.3 + 1.2 * rng.standard_normal(len(kind))
    a[kind == "aberrant"] *= -1
    a[constant] = b[constant] = np.nan

    agreement = np.sort(rng.beta(*AGREEMENT_BETA, size=len(kind)))
    firmness = dimension.map(criteria()["firmness"]).to_numpy() + rng.standard_normal(len(kind))
    clarity = panel.clarity_for(agreement[firmness.argsort().argsort()], reading)
    clarity[constant] = CLEAR
    return pd.DataFrame({"kind": kind, "a": a, "b": b, "clarity": clarity})


def query_effects(systems: int, queries: int, rng: np.random.Generator) -> FloatArray:
    """``(M, N)`` logits, N(0, QUERY_EFFECT_SD²): the effect of each system on each query, apart from its ability."""
    return QUERY_EFFECT_SD * rng.standard_normal((systems, queries))


def pass_chance(theta: FloatArray, items: pd.DataFrame, effect: FloatArray) -> FloatArray:
    """``(M, J)`` sigma(a (theta - b) + sign(a) effect), or 1 or 0 for rubrics that every system passes or fails.

    effect: (M, J) logits, each system's effect on the query of the rubric; an aberrant rubric (a < 0) reverses its
    sign too.
    """
    a, b = items["a"].to_numpy(), items["b"].to_numpy()
    chance = expit(a * (theta[:, None] - b) + np.sign(a) * effect)
    chance[:, items["kind"] == "everyone_passes"] = 1
    chance[:, items["kind"] == "everyone_fails"] = 0
    return np.asarray(chance, dtype=np.float64)


def lost(
    shape: tuple[int, ...],
    query: pd.Series[str],
    domain: pd.Series[str],
    share: float,
    rng: np.random.Generator,
) -> BoolArray:
    """``(M, J, K)`` missing labels: at random, one whole domain of one system, and queries that the last judge skipped.

    shape: (M, J, K). share: of labels missing at random.
    """
    gone = rng.random(shape) < share
    domains = np.unique(domain)
    if len(domains) > 1:
        gone[rng.integers(shape[0]), domain == rng.choice(domains)] = True
    queries = np.unique(query)
    if shape[2] > 1 and len(queries) > 1:
        skipped = rng.choice(queries, size=max(1, round(SKIPPED_QUERIES * len(queries))), replace=False)
        gone[:, query.isin(skipped), -1] = True
    return gone


def gold_cells(systems: pd.Series[str], query: pd.Series[str], rng: np.random.Generator) -> BoolArray:
    """``(M, J)``: cells that humans label: GOLD_RUBRICS rubrics of every query, for GOLD_SYSTEMS of the systems."""
    shuffled = query.sample(frac=1, random_state=rng)
    rubrics = (shuffled.groupby(shuffled).cumcount() < GOLD_RUBRICS).sort_index().to_numpy()
    chosen = rng.permutation(len(systems)) < GOLD_SYSTEMS
    return np.outer(chosen, rubrics)


def preference_scores(theta: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """system, score: points of a pairwise human preference vote, 120 points per unit of ability, noise of 40."""
    score = 1000 + 120 * theta["theta"] + 40 * rng.standard_normal(len(theta))
    return pd.DataFrame({"system": theta["system"], "score": score.round()})
