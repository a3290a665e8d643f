"""Reliability of the judges: tables of the judges and of the rubrics' validity, and whether judges err together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import expit, ndtri

from ..intervals import cluster_sums, effective_clusters_of_each, jackknife_half_width, ratio
from ..types import FloatArray, IntArray
from .guessing import kappa_with_others, tables_with_others
from .independence import ResidualCorrelation, residual_correlation
from .rates import JudgeRates, Rate, judge_rates
from .votes import validity_log_odds, validity_votes


@dataclass(frozen=True)
class JudgeReliability:
    """K judges of J rubrics.

    judges: judge, labels, positive_rate, leniency, kappa (with the majority of the others), sensitivity, specificity
        (of single labels), s_plus, s_minus (of validity votes), each from leniency on with _low and _high, and weight
        (change of log-odds by a vote), weight_share.
    validity: rubric, query, votes, votes_for, log_odds, p_valid: Pr(z_j = 1 | votes), eq:logodds.
    label_rates, vote_rates: these rates with their source. correlation: of the judges' errors.
    """

    judges: pd.DataFrame
    validity: pd.DataFrame
    label_rates: JudgeRates
    vote_rates: JudgeRates
    correlation: ResidualCorrelation


def judge_reliability(
    panel: FloatArray,
    judges: Sequence[str],
    rubrics: pd.DataFrame,
    gold: FloatArray | None = None,
    valid: FloatArray | None = None,
    confidence: float = 0.95,
    seed: int = 0,
) -> JudgeReliability:
    """Reliability of K judges from their 0/1 labels (M, J, K), NaN unknown.

    judges: K names. rubrics: J rows with rubric and query. gold: (M, J) the true labels where people gave them. valid:
    (J,) 1 if people found the rubric valid (z_j), 0 if not, NaN unknown. confidence: of the intervals, in (0, 1). seed:
    as for ``residual_correlation``.
    """
    n_systems, _, n_judges = panel.shape
    votes = validity_votes(panel)
    cluster = query_clusters(rubrics)
    label_rates = judge_rates(
        panel.reshape(-1, n_judges),
        None if gold is None else gold.reshape(-1),
        np.tile(cluster, n_systems),
        confidence,
    )
    vote_rates = judge_rates(votes, valid, cluster, confidence)
    log_odds = validity_log_odds(votes, vote_rates)
    frame = pd.DataFrame(
        {
            "rubric": rubrics["rubric"].to_numpy(),
            "query": rubrics["query"].to_numpy(),
            "votes": (~np.isnan(votes)).sum(axis=1),
            "votes_for": (votes == 1).sum(axis=1),
            "log_odds": log_odds,
            "p_valid": expit(log_odds),
        }
    )
    return JudgeReliability(
        judges=_judge_table(
            panel,
            judges,
            {
                "leniency": leniency(panel, cluster, confidence),
                "kappa": kappa_with_others(tables_with_others(panel, cluster), confidence),
            },
            label_rates,
            vote_rates,
        ),
        validity=frame,
        label_rates=label_rates,
        vote_rates=vote_rates,
        correlation=residual_correlation(panel, gold, cluster, confidence, seed),
    )


def query_clusters(rubrics: pd.DataFrame) -> IntArray:
    """(J,) the query of each rubric, as a number; the rubric itself if all belong to one query."""
    query = np.unique(rubrics["query"].astype(str), return_inverse=True)[1]
    return np.arange(len(rubrics)) if np.ptp(query) == 0 else query


def leniency(panel: FloatArray, cluster: IntArray | None = None, confidence: float = 0.95) -> Rate:
    """Each judge's pass rate minus the panel's on the cells that it shares with another judge; (K,) in [-1, 1].

    The panel is all judges who labelled the cell, including this one. Intervals are simultaneous for all judges:
    jackknife over ``cluster`` (J,), the query of each rubric, by default the rubric itself, with their effective
    number. They are at least as wide as for independent labels that vary within cells as observed, with one further
    label as far from the mean as possible: without this, a judge without errors would have an interval of no width.
    """
    known = ~np.isnan(panel)
    n = known.sum(axis=2, keepdims=True)
    shared = known & (n >= 2)
    mean = np.nansum(panel, axis=2, keepdims=True) / np.maximum(n, 1)
    excess, cells = np.where(shared, panel - mean, 0).sum(axis=0), shared.sum(axis=0)
    of = np.arange(panel.shape[1]) if cluster is None else np.unique(cluster, return_inverse=True)[1]
    by_cluster = [cluster_sums(sums, of) for sums in (excess, cells)]
    left = ratio(*(sums.sum(axis=0) - sums for sums in by_cluster))
    clusters = effective_clusters_of_each(by_cluster[1])
    value, judges = ratio(excess.sum(axis=0), cells.sum(axis=0)), panel.shape[2]
    squares = np.where(shared, panel - mean, 0) ** 2
    variance = (squares.sum() + 1) / ((n - 1).clip(0).sum() + 1)
    noise = np.sqrt(variance * np.where(shared, 1 - 1 / n.clip(1), 0).sum(axis=(0, 1)))
    floor = ndtri(1 - (1 - confidence) / (2 * judges)) * noise
    half = np.maximum(
        jackknife_half_width(left, confidence, judges, clusters), ratio(floor, cells.sum(axis=0))
    )
    return Rate(value, np.maximum(value - half, -1), np.minimum(value + half, 1))


def _judge_table(
    panel: FloatArray,
    judges: Sequence[str],
    beside_panel: Mapping[str, Rate],
    label_rates: JudgeRates,
    vote_rates: JudgeRates,
) -> pd.DataFrame:
    known = (~np.isnan(panel)).sum(axis=(0, 1))
    columns: dict[str, object] = {
        "judge": list(judges),
        "labels": known,
        "positive_rate": ratio(np.nansum(panel, axis=(0, 1)), known),
    }
    for name, rate in (
        *beside_panel.items(),
        ("sensitivity", label_rates.sensitivity),
        ("specificity", label_rates.specificity),
        ("s_plus", vote_rates.sensitivity),
        ("s_minus", vote_rates.specificity),
    ):
        columns |= {name: rate.value, f"{name}_low": rate.low, f"{name}_high": rate.high}
    weight = vote_rates.weight
    positive = np.maximum(weight, 0)
    total = np.full(len(weight), np.nansum(positive))
    return pd.DataFrame(columns).assign(weight=weight, weight_share=ratio(positive, total))
