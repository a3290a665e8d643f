"""The gate's statistic of a rubric, and the Beta posterior of its agreement rate (docs/method.md §2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.special import betaincc, betainccinv, betaincinv

from ..arguments import as_numbers
from ..errors import SettingsError
from ..settings import GateStatistic, Settings
from ..text import numeral
from ..types import BoolArray, FloatArray, IntArray
from .beta_prior import BetaPrior, estimate_prior
from .pair_kappa import pair_kappa

if TYPE_CHECKING:
    from ..labels.store.pairs import PairCounts
    from ..labels.store.reduction import Reduction


@dataclass(frozen=True)
class MeasurabilityPosterior:
    """Beta(a, b), the posterior of each rubric's agreement rate q (docs/method.md §2).

    Attributes
    ----------
    a : float array (J,)
        alpha + agreements, > 0.
    b : float array (J,)
        beta + disagreements, > 0.

    """

    a: FloatArray
    b: FloatArray

    @property
    def mean(self) -> FloatArray:
        """(J,) a / (a + b), in (0, 1)."""
        return self.a / (self.a + self.b)

    @property
    def sd(self) -> FloatArray:
        """(J,) sqrt(ab / (a + b + 1)) / (a + b)."""
        total = self.a + self.b
        return np.sqrt(self.a * self.b / (total + 1)) / total

    def interval(self, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """The equal-tailed credible interval.

        Parameters
        ----------
        level : float
            Its posterior probability, in (0, 1).

        Returns
        -------
        low, high : float array (J,)
            Its ends, in [0, 1].

        Raises
        ------
        SettingsError
            The level is not between 0 and 1.

        """
        if not 0 < level < 1:
            raise SettingsError(f"level = {level!r} is out of range: expected a number between 0 and 1.")
        tail = (1 - level) / 2
        # Thousands of rubrics have some hundred counts between them.
        different, of = np.unique(self.a + 1j * self.b, return_inverse=True)
        a, b = different.real, different.imag
        low, high = betaincinv(a, b, tail), betainccinv(a, b, tail)
        return np.asarray(low, dtype=float)[of], np.asarray(high, dtype=float)[of]

    def p_above(self, tau: float) -> FloatArray:
        """The probability that the agreement rate reaches a threshold.

        Parameters
        ----------
        tau : float
            The threshold, in [0, 1].

        Returns
        -------
        float array (J,)
            Pr(q ≥ tau | labels), in [0, 1].

        """
        return np.asarray(betaincc(self.a, self.b, tau))


def measurability_posterior(
    n_agree: ArrayLike, n_total: ArrayLike, alpha: float = 1, beta: float = 1
) -> MeasurabilityPosterior:
    """Posterior of each rubric's agreement rate under a Beta prior (eq:measurability).

    Parameters
    ----------
    n_agree : array (J,)
        Instances on which the judges agree; may be fractional, from 0 to ``n_total``.
    n_total : array (J,)
        Instances: cells with at least two labels, ≥ 0.
    alpha : float
        Agreements assumed before the first label, > 0.
    beta : float
        Disagreements assumed before the first label, > 0.

    Returns
    -------
    MeasurabilityPosterior
        Beta(alpha + n_agree, beta + n_total - n_agree); the prior where ``n_total`` is 0.

    Raises
    ------
    SettingsError
        A count or a prior is impossible.

    Notes
    -----
    Agreement is not validity, and not chance-corrected: the default gate uses the rubric kappa (docs/method.md §2).

    """
    agree, total = (
        as_numbers(name, values, SettingsError)
        for name, values in (("n_agree", n_agree), ("n_total", n_total))
    )
    if agree.shape != total.shape and agree.ndim and total.ndim:
        raise SettingsError(
            f"n_agree {agree.shape} and n_total {total.shape} do not fit: give one of each a rubric."
        )
    if not (np.all(agree >= 0) and np.all(agree <= total) and np.isfinite(total).all()):
        raise SettingsError("n_agree is out of range: expected numbers from 0 to n_total.")
    for name, value in (("alpha", alpha), ("beta", beta)):
        if not (np.isfinite(value) and value > 0):
            raise SettingsError(f"{name} = {value!r} is out of range: expected a number above 0.")
    return MeasurabilityPosterior(alpha + agree, beta + total - agree)


@dataclass(frozen=True)
class AgreementRates:
    """How often judges agree on each of J rubrics.

    n_agree, n_total: (J,) instances, agreeing ones maybe fractional.
    posterior: of each rubric's agreement rate, under ``prior``. weight: the yes-or-no instances that one instance is
    worth, ≥ 1: a share of agreeing pairs varies less than all or nothing.
    """

    n_agree: FloatArray | IntArray
    n_total: IntArray
    posterior: MeasurabilityPosterior
    prior: BetaPrior
    weight: float


@dataclass(frozen=True)
class Gate(AgreementRates):
    """Which of J rubrics judges apply alike enough to be used.

    statistic: kappa or agreement. values: (J,) of it; NaN where undefined, which drops no rubric.
    threshold: tau_c, or the value that drops the lowest quarter; NaN where ``off`` or nothing has a value.
    given: whether tau_c was given. feasible: (J,) value ≥ threshold, or True.
    off: whether the labels hold no information on agreement.
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
    """How often judges agree on each rubric, under the prior that the settings ask for; no threshold is read."""
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
    posterior = measurability_posterior(agreements, instances, prior.alpha, prior.beta)
    return AgreementRates(n_agree, reduction.n_total, posterior, prior, weight)


def decide_gate(reduction: Reduction, settings: Settings, rates: AgreementRates | None = None) -> Gate:
    """Each rubric's statistic, and the rubrics that reach tau_c; without tau_c the lowest quarter is dropped.

    rates: those of these settings, where they are known.
    """
    rates = rates or agreement_rates(reduction, settings)
    values = pair_kappa(reduction.pairs) if settings.gate == "kappa" else rates.posterior.mean
    off = gate_is_off(reduction)
    threshold = lowest_quarter(values[reduction.n_total > 0]) if settings.tau_c is None else settings.tau_c
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
    """As it was given, to two digits; to three where it follows from the labels."""
    return numeral(gate.threshold, "z.2f" if gate.given else "z.3f")


def _times(weight: float, counts: FloatArray | IntArray) -> FloatArray:
    return np.asarray(weight * counts, dtype=np.float64)


def share_weight(pairs: PairCounts, n_total: IntArray) -> float:
    """The binomial variance n q (1 - q) of all rubrics (J,) over what the shares of agreeing pairs vary; ≥ 1.

    Whole agreements vary exactly as the binomial does: 1.
    """
    some = np.maximum(n_total, 1)
    within = float((pairs.agree_squares - pairs.agree_share**2 / some).sum())
    binomial = float((pairs.agree_share * (1 - pairs.agree_share / some)).sum())
    return max(1.0, binomial / within) if within > 0 else 1.0


def lowest_quarter(values: FloatArray) -> float:
    """The least of the values (n,) that remains when the lowest n // 4 go; equal values remain. NaN of none."""
    known = np.sort(values[np.isfinite(values)])
    return float(known[len(known) // 4]) if len(known) else float("nan")


def agreements_needed(gate: Gate, instances: int) -> int | None:
    """On how many of so many instances judges must agree to reach the threshold; None where not even all suffice.

    None too for the kappa statistic and where the gate is off.
    """
    if gate.statistic == "kappa" or not np.isfinite(gate.threshold):
        return None
    size = gate.prior.alpha + gate.prior.beta + gate.weight * instances
    needed = max(0, int(np.ceil((gate.threshold * size - gate.prior.alpha) / gate.weight - 1e-9)))
    return needed if needed <= instances else None


def possible_values(gate: Gate) -> FloatArray | None:
    """The values that the statistic has on a rubric with the usual number of instances; None if any is possible."""
    instances = int(np.median(gate.n_total)) if len(gate.n_total) else 0
    if gate.statistic == "kappa" or not np.issubdtype(gate.n_agree.dtype, np.integer) or not instances:
        return None
    prior = gate.prior
    return np.asarray((prior.alpha + np.arange(instances + 1)) / (prior.alpha + prior.beta + instances))


SAME_FOR_ALL = (
    "On every rubric all systems have the same consensus label, so none can rank them: add rubrics."
)
STATISTIC_NAMES = {
    "kappa": "rubric κ (agreement of judge pairs beyond chance)",
    "agreement": "measurability q (posterior mean)",
}


def gate_table(reduction: Reduction, gate: Gate, confidence: float = 0.95) -> pd.DataFrame:
    """One row a rubric: counts, posterior, feasibility and a flag.

    Columns: rubric, query, n_agree, n_total, q_mean, q_sd, q_low, q_high (in [0, 1]; NaN where the gate is off),
    p_above_tau (Pr(q ≥ tau_c); NaN where the gate's statistic is kappa), feasible, flag: ``unmeasured`` (no instance),
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


@dataclass(frozen=True)
class Nearest:
    """The highest threshold that leaves a rubric on which the systems differ.

    best: the highest statistic of one. tau_c: the same, rounded down to two digits. passing: how many reach that.
    """

    best: float
    tau_c: float
    passing: int


def nearest_threshold(gate: Gate, varying: BoolArray) -> Nearest | None:
    """What lowering tau_c would take, where none of the ``varying`` rubrics (J,) passes; None where none varies."""
    values = gate.values[varying]
    if not len(values):
        return None
    best = float(values.max())
    tau_c = round(float(np.floor(100 * best)) / 100, 2)
    return Nearest(best, tau_c, int((values >= tau_c).sum()))


def nothing_passes(reduction: Reduction, varying: BoolArray, settings: Settings) -> str:
    """Why none of the ``varying`` rubrics (J,) reaches tau_c, and what would help."""
    gate = decide_gate(reduction, settings)
    nearest = nearest_threshold(gate, varying)
    if nearest is None:
        return SAME_FOR_ALL
    remedy = f"lower tau_c to {nearest.tau_c:.2f} or less"
    if gate.statistic == "agreement" and settings.response == "ordered" and settings.agreement_tolerance == 0:
        remedy += ", let adjacent levels agree (agreement_tolerance = 1), choose a model of pass or fail"
    name = "measurability" if gate.statistic == "agreement" else "kappa"
    return (
        f"No rubric on which the systems differ reaches tau_c = {gate.threshold:g}; the highest {name} of one is "
        f"{nearest.best:.3f}: {remedy}, or add labels."
    )
