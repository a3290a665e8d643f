"""The four response models as sums of softplus terms, with their gradients and complete-data information.

With z = a (theta - b) and sp(z) = log(1 + e^z), the log-probability of a label is

    2PL   y z - sp(z)                                                        (1PL: one common a)
    3PL   y [log c + sp(z - log c)] + (1 - y) log(1 - c) - sp(z)
    GRM   level l between thresholds t_l < t_(l+1):
          log[sigma(z_l) - sigma(z_(l+1))] = z_l - sp(z_l) - sp(z_(l+1)) + log(1 - exp(-a (t_(l+1) - t_l)))

so a graded rubric is the sum of several binary items, each with only the systems whose level borders on its threshold,
plus a term that does not depend on theta. A model converts its free parameters x to slopes and intercepts of such
terms. Free parameters are log a, b, logit c, the first threshold and the logs of the gaps to the next ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol, Self

import numpy as np
from scipy.special import logit

from ..types import BoolArray, FloatArray, IntArray

LOG_2PI = float(np.log(2 * np.pi))


@dataclass(frozen=True)
class ItemParameters:
    """Parameters of J rubrics; NaN where unknown.

    a: (J,) discrimination. b: (J,) difficulty (GRM: mean of the thresholds). c: (J,) lower asymptote, 0 outside the
    3PL. thresholds: (J, L-1) of the GRM, else None; NaN beyond a rubric's own number of levels.
    """

    a: FloatArray
    b: FloatArray
    c: FloatArray
    thresholds: FloatArray | None

    @property
    def edges(self) -> FloatArray:
        """(J, L-1) thresholds between levels; b alone, (J, 1), if the model has no thresholds."""
        return self.b[:, None] if self.thresholds is None else self.thresholds

    def harder(self, logits: FloatArray) -> Self:
        """The rubrics with the logits of a pass lowered by ``logits`` (J,) at every ability."""
        by = logits / self.a
        thresholds = None if self.thresholds is None else self.thresholds + by[:, None]
        return replace(self, b=self.b + by, thresholds=thresholds)

    def of(self, rubrics: IntArray | BoolArray) -> Self:
        """The parameters of some of the rubrics, by indices or mask."""
        thresholds = None if self.thresholds is None else self.thresholds[rubrics]
        return type(self)(self.a[rubrics], self.b[rubrics], self.c[rubrics], thresholds)


@dataclass(frozen=True)
class Score:
    """Gradient of the log-likelihood in x, (n,), and the blocks of expected complete-data information."""

    gradient: FloatArray
    information: FloatArray


class ItemModel(Protocol):
    """One response model bound to one table of labels."""

    @property
    def n_parameters(self) -> int:
        """Free item parameters."""

    def start(self) -> FloatArray:
        """(n,) point from which the search begins."""

    def at(self, items: ItemParameters) -> FloatArray:
        """(n,) point x of the parameters ``items``, from which to begin a search; NaN where a parameter is NaN."""

    def steepest(self, x: FloatArray) -> float:
        """Largest slope of any term; it determines how many nodes an interpolation needs."""

    def forward(self, x: FloatArray, nodes: FloatArray) -> tuple[FloatArray, float]:
        """Log-likelihoods (M, G) of the systems at the nodes (G,), and a constant that belongs to no system."""

    def backward(self, x: FloatArray, nodes: FloatArray, weights: FloatArray) -> Score:
        """Derivative of the last ``forward`` under the posterior's node weights (M, G) (Fisher's identity)."""

    def log_prior(self, x: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Log prior, its gradient (n,), and minus its second derivatives (n,), never negative."""

    def solve(self, information: FloatArray, diagonal: FloatArray, vector: FloatArray) -> FloatArray:
        """``(information + diag(diagonal))^-1 vector``, (n,)."""

    def axes(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Derivatives of x as all items shift by d and stretch by e^s together with the ability axis.

        (2, n) first derivatives in d and s, and (n,) the second derivative in s; the other second derivatives are 0.
        """

    def curvature(self, information: FloatArray, diagonal: FloatArray, vectors: FloatArray) -> FloatArray:
        """(2, 2) ``vectors (information + diag(diagonal)) vectors'``."""

    def items(self, x: FloatArray) -> ItemParameters:
        """The item parameters at x, on their own scales."""


def smoothed_logit(successes: FloatArray, trials: FloatArray | IntArray) -> FloatArray:
    """Logit of (successes + 1/2) / (trials + 1), finite whatever the counts."""
    return np.asarray(logit((successes + 0.5) / (trials + 1.0)), dtype=float)


def log_normal(x: FloatArray, sd: float | None) -> tuple[float, FloatArray, FloatArray]:
    """Log density of N(0, sd²) summed over x, its gradient and minus its curvature; zeros if sd is None (flat)."""
    if sd is None:
        return 0.0, np.zeros_like(x), np.zeros_like(x)
    value = -0.5 * float(x @ x) / sd**2 - len(x) * (np.log(sd) + 0.5 * LOG_2PI)
    return value, -x / sd**2, np.full_like(x, sd**-2)


def join(*parts: tuple[float, FloatArray, FloatArray]) -> tuple[float, FloatArray, FloatArray]:
    """Sum the values and concatenate the gradients and curvatures of the log priors of independent parts of x."""
    values, gradients, curvatures = zip(*parts, strict=True)
    return float(sum(values)), np.concatenate(gradients), np.concatenate(curvatures)


def solve_blocks(blocks: FloatArray, diagonal: FloatArray, vectors: FloatArray) -> FloatArray:
    """``(blocks + diag(diagonal))^-1 vectors`` for J small systems: (J, P, P), (J, P), (J, P) → (J, P)."""
    regular = blocks.copy()
    view = np.einsum("jpp->jp", regular)
    view += diagonal + 1e-6 * view + 1e-9  # keeps a block without any information invertible
    return np.asarray(np.linalg.solve(regular, vectors[:, :, None])[:, :, 0], dtype=float)


def curvature_of_blocks(blocks: FloatArray, diagonal: FloatArray, vectors: FloatArray) -> FloatArray:
    """``V (blocks + diag(diagonal)) V'`` for (J, P, P), (J, P) and V (2, J, P)."""
    return np.asarray(
        np.einsum("ujp,jpq,vjq->uv", vectors, blocks, vectors, optimize=True)
        + np.einsum("ujp,jp,vjp->uv", vectors, diagonal, vectors)
    )
