"""The gate: each rubric's statistic, the threshold, and which rubrics pass (docs/method.md §2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..settings import GateStatistic, Settings
from ..text import numeral
from ..types import BoolArray, FloatArray, IntArray
from .beta_prior import BetaPrior, estimate_prior
from .integrated_prior import integrated_posterior
from .measurability import MeasurabilityPosterior, measurability_posterior
from .pair_kappa import pair_kappa

if TYPE_CHECKING:
    from ..labels.store.pairs import PairCounts
    from ..labels.store.reduction import Reduction

STATISTIC_NAMES = {
    "kappa": "rubric κ (agreement of judge pairs beyond chance)",
    "agreement": "measurability q (posterior mean)",
}


@dataclass(frozen=True)
class AgreementRates:
    """How often judges agree on each of J rubrics.

    n_agree, n_total: (J,) numbers of agreeing instances, which may be fractional, and of all instances.
    posterior: of each rubric's agreement rate, under ``prior``. weight: the number of yes-or-no instances to which one
    instance is equivalent, ≥ 1, as a share of agreeing pairs varies less than all or nothing.
    """

    n_agree: FloatArray | IntArray
    n_total: IntArray
    posterior: MeasurabilityPosterior
    prior: BetaPrior
    weight: float


@dataclass(frozen=True)
class Gate(AgreementRates):
    """Which of J rubrics the judges apply alike enough for the rubrics to be used.

    statistic: kappa or agreement. values: (J,) of the statistic; NaN where undefined, which drops no rubric.
    threshold: tau_c, or the value that drops the lowest quarter of the measured rubrics and none that is not measured;
    NaN if ``off`` or if no rubric has a value.
    given: whether tau_c was given. feasible: (J,) whether the rubric passes: value ≥ threshold, or no value.
    off: whether the labels hold no information on agreement; then all rubrics pass.
    """

    statistic: GateStatistic
    values: FloatArray
    threshold: float
    given: bool
    feasible: BoolArray
    off: bool


def gate_is_off(reduction: Reduction) -> bool:
    """Whether agreement is unknown: one judge, or no cell with two labels. Then no rubric is dropped."""
    return reduction.n_judges < 2 or not bool(np.any(reduction.n_total > 0))


def agreement_rates(reduction: Reduction, settings: Settings) -> AgreementRates:
    """How often judges agree on each rubric, under the prior of the settings; independent of the threshold."""
    n_agree: FloatArray | IntArray = reduction.n_agree
    if settings.agreement == "pairwise":
        n_agree = np.minimum(reduction.pairs.agree_share, reduction.n_total)
    prior, weight = BetaPrior(settings.alpha, settings.beta), 1.0
    if settings.prior == "estimated":
        weight = (
            1.0 if settings.agreement == "unanimous" else share_weight(reduction.pairs, reduction.n_total)
        )
        prior = estimate_prior(_times(weight, n_agree), _times(weight, reduction.n_total))
    agreements, instances = _times(weight, n_agree), _times(weight, reduction.n_total)
    posterior = (
        integrated_posterior(prior, agreements, instances)
        if prior.estimated
        else measurability_posterior(agreements, instances, prior.alpha, prior.beta)
    )
    return AgreementRates(n_agree, reduction.n_total, posterior, prior, weight)


def decide_gate(reduction: Reduction, settings: Settings, rates: AgreementRates | None = None) -> Gate:
    """Each rubric's statistic, and the rubrics that reach tau_c; if tau_c is None, ``usual_threshold`` determines it.

    rates: those of these settings, if already computed.
    """
    rates = rates or agreement_rates(reduction, settings)
    values = pair_kappa(reduction.pairs) if settings.gate == "kappa" else rates.posterior.mean
    off = gate_is_off(reduction)
    threshold = usual_threshold(values, reduction.n_total > 0) if settings.tau_c is None else settings.tau_c
    return Gate(
        **vars(rates),
        statistic=settings.gate,
        values=values,
        threshold=float("nan") if off else threshold,
        given=settings.tau_c is not None,
        feasible=~(values < threshold) | off,
        off=off,
    )


def shown_threshold(gate: Gate) -> str:
    """The threshold as text: with its own digits if it was given, with three digits if it follows from the labels."""
    return numeral(gate.threshold, f"z.{decimals(gate.threshold) if gate.given else 3}f")


def decimals(threshold: float) -> int:
    """Number of digits with which a threshold is shown: two, or as many as it has, up to four."""
    return next((n for n in (2, 3) if abs(round(threshold, n) - threshold) < 5e-5), 4)


def _times(weight: float, counts: FloatArray | IntArray) -> FloatArray:
    return np.asarray(weight * counts, dtype=np.float64)


def share_weight(pairs: PairCounts, n_total: IntArray) -> float:
    """Binomial variance n q (1 - q) of all rubrics (J,) over the actual variance of the shares of agreeing pairs; ≥ 1.

    Whole agreements vary exactly as the binomial does: 1.
    """
    some = np.maximum(n_total, 1)
    within = float((pairs.agree_squares - pairs.agree_share**2 / some).sum())
    binomial = float((pairs.agree_share * (1 - pairs.agree_share / some)).sum())
    return max(1.0, binomial / within) if within > 0 else 1.0


def usual_threshold(values: FloatArray, measured: BoolArray) -> float:
    """The threshold that follows from the labels: it drops the lowest quarter of the measured rubrics.

    Rubrics without any instance have the mean of all, and no label is evidence against them: if their value is lower
    than that threshold, it is the threshold. NaN if no rubric has a value.
    """
    quarter = lowest_quarter(values[measured])
    return quarter if measured.all() else float(np.fmin(quarter, values[~measured].min()))


def lowest_quarter(values: FloatArray) -> float:
    """The least of the values (n,) that remains when the lowest n // 4 are dropped; equal values remain.

    NaN if empty.
    """
    known = np.sort(values[np.isfinite(values)])
    return float(known[len(known) // 4]) if len(known) else float("nan")


def agreements_needed(gate: Gate, instances: int) -> int | None:
    """Number of ``instances`` on which judges must agree for the threshold to be reached; None if not even all suffice.

    Also None for the kappa statistic and if the gate is off.
    """
    if gate.statistic == "kappa" or not np.isfinite(gate.threshold):
        return None
    size = gate.prior.alpha + gate.prior.beta + gate.weight * instances
    needed = max(0, int(np.ceil((gate.threshold * size - gate.prior.alpha) / gate.weight - 1e-9)))
    return needed if needed <= instances else None


def possible_values(gate: Gate) -> FloatArray | None:
    """All values that the statistic can have with the median number of instances; None if any value is possible."""
    instances = int(np.median(gate.n_total)) if len(gate.n_total) else 0
    if gate.statistic == "kappa" or not np.issubdtype(gate.n_agree.dtype, np.integer) or not instances:
        return None
    prior = gate.prior
    return np.asarray((prior.alpha + np.arange(instances + 1)) / (prior.alpha + prior.beta + instances))


def gate_table(reduction: Reduction, gate: Gate, confidence: float = 0.95) -> pd.DataFrame:
    """One row a rubric: counts, posterior, feasibility and a flag.

    Columns: rubric, query, n_agree, n_total, q_mean, q_sd, q_low, q_high (in [0, 1]; NaN if the gate is off),
    p_above_tau (Pr(q ≥ tau_c); NaN if the gate's statistic is kappa), feasible, flag: ``unmeasured`` (no instance),
    ``pair_only`` (at most two judges on every instance), or empty; kappa, n_pairs, discordance and chance (both per
    judge pair, in [0, 1]).
    """
    known = np.nan if gate.off else 1.0  # without any instance the posterior is the prior alone
    low, high = gate.posterior.interval(confidence)
    by_agreement = gate.statistic == "agreement" and np.isfinite(gate.threshold)
    unmeasured, pair_only = reduction.n_total == 0, reduction.max_panel <= 2
    pairs = reduction.pairs
    some = np.where(pairs.n_pairs > 0, pairs.n_pairs, np.nan)
    return pd.DataFrame(
        {
            "rubric": reduction.rubrics["rubric"].to_numpy(),
            "query": reduction.rubrics["query"].to_numpy(),
            "n_agree": gate.n_agree,
            "n_total": gate.n_total,
            "q_mean": gate.posterior.mean * known,
            "q_sd": gate.posterior.sd * known,
            "q_low": low * known,
            "q_high": high * known,
            "p_above_tau": gate.posterior.p_above(gate.threshold) * known if by_agreement else np.nan,
            "feasible": gate.feasible,
            "flag": np.select([unmeasured, pair_only], ["unmeasured", "pair_only"], ""),
            "kappa": pair_kappa(pairs),
            "n_pairs": pairs.n_pairs,
            "discordance": pairs.discordance / some,
            "chance": pairs.chance / some,
        }
    )
