"""The utilities that a search for a bank maximises; coverage U(S) = Σ_g π_g log(1 + I_S(θ_g)) and its grid.

Coverage and the utility in ``pairs`` are sums of concave functions of totals to which each rubric adds: monotone and
submodular, which the certificate needs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from ..errors import AssemblyError
from ..types import BoolArray, FloatArray, IntArray

_NODES, _LOWEST, _HIGHEST = 41, -4.0, 4.0
# Beyond this the normal weight is below 1e-31 of that at 0: further nodes would only cost time.
_FARTHEST = 12.0


@dataclass(frozen=True)
class BankOrder:
    """The n candidates of one strategy in the order in which they join the bank.

    order: (n,) rubric indices, without repetition.
    gains: (n,) utility that each adds to those before it, ≥ 0.
    utility: (n,) U of the first 1, 2, … n rubrics, never falling.
    least: number of first rubrics that meet all constraints of a composition (``composed``); 0 without one.
    """

    order: IntArray
    gains: FloatArray
    utility: FloatArray
    least: int = 0


class Utility(Protocol):
    """A monotone submodular utility U(S) = f(Σ_{j in S} x_j) of J rubrics with totals of length P, U(∅) = 0."""

    def candidates(self, feasible: BoolArray | None) -> IntArray:
        """Indices, ascending, of the feasible rubrics that add anything."""

    def totals(self, rubrics: IntArray) -> FloatArray:
        """(n, P) contribution of each of the rubrics to the totals."""

    def value(self, total: FloatArray) -> FloatArray:
        """(…) U at the totals (…, P)."""

    def prepared(self, rubrics: IntArray) -> FloatArray:
        """(n, P) the rubrics in the form that ``gains`` takes."""

    def kinds(self, rubrics: IntArray) -> IntArray:
        """(n,) kind of each rubric: rubrics of one kind have equal gains, whatever the bank."""

    def gains(self, prepared: FloatArray, total: FloatArray) -> FloatArray:
        """(n,) ΔU of each rubric when the bank's total is ``total``, (P,) or one for each rubric (n, P)."""


@dataclass(frozen=True)
class Coverage:
    """The coverage utility (eq:submod-utility). info: (G, J) item information ≥ 0. weights: (G,) of the nodes."""

    info: FloatArray
    weights: FloatArray

    def candidates(self, feasible: BoolArray | None) -> IntArray:
        """See Utility: rubrics whose information is not identically zero (the set F)."""
        check_information(self.info, self.weights, feasible)
        informative = (self.info > 0).any(axis=0)
        return np.flatnonzero(informative if feasible is None else informative & feasible)

    def totals(self, rubrics: IntArray) -> FloatArray:
        """See Utility."""
        return self.info.T[rubrics]

    def value(self, total: FloatArray) -> FloatArray:
        """See Utility."""
        return coverage_utility(total, self.weights)

    prepared = totals

    def kinds(self, rubrics: IntArray) -> IntArray:
        """See Utility: every rubric is a kind of its own."""
        return rubrics

    def gains(self, prepared: FloatArray, total: FloatArray) -> FloatArray:
        """See Utility."""
        return row_gains(prepared, self.weights, 1 + total)


def order_along(utility: Utility, order: IntArray) -> BankOrder:
    """Gains and utility as the rubrics of ``order`` (n,) join an empty bank one by one."""
    total = np.cumsum(utility.totals(order), axis=0)
    before = np.zeros_like(total)
    before[1:] = total[:-1]
    return BankOrder(order, utility.gains(utility.prepared(order), before), utility.value(total))


@dataclass(frozen=True)
class UtilityGrid:
    """The abilities at which coverage is measured.

    theta: (G,) equally spaced abilities, ascending.
    weights: (G,) standard-normal weights, positive, sum 1.
    """

    theta: FloatArray
    weights: FloatArray


def utility_grid(difficulty: ArrayLike | None = None, theta: ArrayLike | None = None) -> UtilityGrid:
    """41 equally spaced abilities on [-4, 4], with normalised standard-normal weights (docs/method.md §8).

    The range grows by whole steps of the same spacing until it contains every finite ``difficulty`` and ``theta`` (any
    shape), but not beyond ±12, where the weights vanish.
    """
    step = (_HIGHEST - _LOWEST) / (_NODES - 1)
    must_hold = [np.ravel(np.asarray(v, dtype=float)) for v in (difficulty, theta) if v is not None]
    values = np.concatenate([*must_hold, [_LOWEST, _HIGHEST]])
    values = np.clip(values[np.isfinite(values)], -_FARTHEST, _FARTHEST)
    before = math.ceil((_LOWEST - values.min()) / step - 1e-9)
    after = math.ceil((values.max() - _HIGHEST) / step - 1e-9)
    points = _LOWEST + step * np.arange(-before, _NODES + after)
    density = np.exp(-0.5 * points**2)
    return UtilityGrid(points, density / density.sum())


def coverage_utility(info_sum: FloatArray, weights: FloatArray) -> FloatArray:
    """(…) U = Σ_g π_g log(1 + I_S(θ_g)) (eq:submod-utility), from info_sum (…, G) ≥ 0."""
    utility: FloatArray = np.log1p(info_sum) @ weights
    return utility


def row_gains(rows: FloatArray, weights: FloatArray, base: FloatArray) -> FloatArray:
    """(n,) ΔU = Σ_g π_g log(1 + I_j(θ_g) / base_g) of rows (n, G), base = 1 + I_S (eq:submod-greedy).

    ``base`` is (G,), or (n, G) if each row has its own. Each row is summed along its own contiguous axis, not by BLAS,
    so that its gain has the same bits in every block and equal rubrics tie exactly.
    """
    terms = np.divide(rows, base, order="C")
    np.log1p(terms, out=terms)
    terms *= weights
    gains: FloatArray = np.add.reduce(terms, axis=1)
    return gains


def check_information(info: FloatArray, weights: FloatArray, feasible: BoolArray | None = None) -> None:
    """Raise AssemblyError unless info (G, J) and weights (G,) are finite, at least 0, and fit feasible (J,)."""
    if info.ndim != 2 or weights.shape != info.shape[:1]:
        raise AssemblyError(
            f"info {info.shape} and weights {weights.shape} do not fit: give (G, J) and (G,)."
        )
    if feasible is not None and (feasible.shape != info.shape[1:] or feasible.dtype != bool):
        raise AssemblyError(
            f"feasible must be {info.shape[1]} booleans: one for each rubric, not {feasible.dtype} of {feasible.shape}."
        )
    for name, values, remedy in (
        ("info", info, "give zeros to rubrics that were not fitted"),
        ("weights", weights, "give the weights of the nodes, as of a quadrature"),
    ):
        if not (np.isfinite(values).all() and (values >= 0).all()):
            raise AssemblyError(f"{name} must be finite and at least 0: {remedy}.")
