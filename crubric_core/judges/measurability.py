"""The Beta posterior of a rubric's agreement rate (docs/method.md §2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincc, betainccinv, betaincinv

from ..arguments import as_numbers
from ..errors import SettingsError
from ..types import FloatArray


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
        return self._ends((1 - level) / 2)

    def _ends(self, tail: float) -> tuple[FloatArray, FloatArray]:
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
        Agreements assumed before the first instance, > 0.
    beta : float
        Disagreements assumed before the first instance, > 0.

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
            f"n_agree {agree.shape} and n_total {total.shape} do not fit: give one of each for every rubric."
        )
    if not (np.all(agree >= 0) and np.all(agree <= total) and np.isfinite(total).all()):
        raise SettingsError("n_agree is out of range: expected numbers from 0 to n_total.")
    for name, value in (("alpha", alpha), ("beta", beta)):
        if not (np.isfinite(value) and value > 0):
            raise SettingsError(f"{name} = {value!r} is out of range: expected a number above 0.")
    return MeasurabilityPosterior(alpha + agree, beta + total - agree)
