"""How alike judges apply a rubric: a Beta posterior of the agreement rate (METHOD §2, eq:measurability)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from ..errors import SettingsError
from ..settings import Settings
from ..types import BoolArray, FloatArray

if TYPE_CHECKING:
    from ..labels.store.dataset import Reduction


@dataclass(frozen=True)
class MeasurabilityPosterior:
    """Beta(a, b) of each rubric's agreement rate q.

    a, b: (J,) alpha + agreements and beta + disagreements; > 0.
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
        """The equal-tailed credible interval: (low, high), each (J,)."""
        if not 0 < level < 1:
            raise SettingsError(f"level = {level!r} is out of range: expected a number between 0 and 1.")
        tail = (1 - level) / 2
        return np.asarray(stats.beta.ppf(tail, self.a, self.b)), np.asarray(
            stats.beta.isf(tail, self.a, self.b)
        )

    def p_above(self, tau: float) -> FloatArray:
        """(J,) Pr(q >= tau | labels)."""
        return np.asarray(stats.beta.sf(tau, self.a, self.b))


def measurability_posterior(
    n_agree: ArrayLike, n_total: ArrayLike, alpha: float = 1, beta: float = 1
) -> MeasurabilityPosterior:
    """Posterior after ``n_agree`` of ``n_total`` instances (J,) under a Beta(alpha, beta) prior.

    Raises SettingsError where a count or a prior is impossible.
    """
    agree, total = np.asarray(n_agree, dtype=np.float64), np.asarray(n_total, dtype=np.float64)
    if not (np.all(agree >= 0) and np.all(agree <= total)):
        raise SettingsError("n_agree is out of range: expected numbers from 0 to n_total.")
    for name, value in (("alpha", alpha), ("beta", beta)):
        if not (np.isfinite(value) and value > 0):
            raise SettingsError(f"{name} = {value!r} is out of range: expected a number above 0.")
    return MeasurabilityPosterior(alpha + agree, beta + total - agree)


def gate_is_off(reduction: Reduction) -> bool:
    """Whether agreement says nothing here: one judge, or no cell with two labels. Then no rubric is dropped."""
    return reduction.n_judges < 2 or not bool(np.any(reduction.n_total > 0))


def threshold(settings: Settings) -> float:
    """The threshold that tau_c is, where it is not given."""
    return 0.8 if settings.tau_c is None else settings.tau_c


def measurability_table(
    reduction: Reduction, tau_c: float, alpha: float = 1, beta: float = 1, confidence: float = 0.95
) -> pd.DataFrame:
    """One row a rubric: counts, posterior, feasibility under ``tau_c`` and a flag.

    Columns: rubric, query, n_agree, n_total, q_mean, q_sd, q_low, q_high, p_above_tau (all in [0, 1]), feasible
    (q_mean >= tau_c, or every rubric where the gate is off), flag: ``unmeasured`` (no instance), ``pair_only`` (at
    most two judges on every instance), or empty.
    """
    posterior = measurability_posterior(reduction.n_agree, reduction.n_total, alpha, beta)
    low, high = posterior.interval(confidence)
    unmeasured, pair_only = reduction.n_total == 0, reduction.max_panel <= 2
    return pd.DataFrame(
        {
            "rubric": reduction.rubrics["rubric"].to_numpy(),
            "query": reduction.rubrics["query"].to_numpy(),
            "n_agree": reduction.n_agree,
            "n_total": reduction.n_total,
            "q_mean": posterior.mean,
            "q_sd": posterior.sd,
            "q_low": low,
            "q_high": high,
            "p_above_tau": posterior.p_above(tau_c),
            "feasible": (posterior.mean >= tau_c) | gate_is_off(reduction),
            "flag": np.select([unmeasured, pair_only], ["unmeasured", "pair_only"], ""),
        }
    )


def nothing_passes(reduction: Reduction, varying: BoolArray, settings: Settings) -> str:
    """Why none of the ``varying`` rubrics (J,) reaches tau_c, and what would help."""
    if not varying.any():
        return (
            "No rubric tells systems apart: on each, all systems have the same consensus label. Add rubrics."
        )
    q = measurability_posterior(reduction.n_agree, reduction.n_total, settings.alpha, settings.beta).mean
    remedy = f"lower tau_c to {np.floor(100 * q[varying].max()) / 100:.2f} or less"
    if settings.response == "ordered" and settings.agreement_tolerance == 0:
        remedy += ", let adjacent levels agree (agreement_tolerance = 1), choose a model of pass or fail"
    return (
        f"No rubric that tells systems apart reaches tau_c = {threshold(settings):g}; the highest measurability "
        f"of one is {q[varying].max():.3f}: {remedy}, or add labels."
    )
