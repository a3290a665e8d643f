"""The one expensive sum of all four models: log(1 + exp(a theta + d)) over many items at a few nodes.

Every model's log-likelihood is linear in theta, plus a constant, plus sums of such softplus terms (see ``models``), so
only the time of this module grows with items × nodes. It works in blocks that stay in the processor's cache, and keeps
sigma(a theta + d) for the backward pass.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..types import FloatArray

BLOCK = 2**15  # elements a block: two buffers of 256 kB each stay in the second-level cache


@dataclass(frozen=True)
class NodeSums:
    """Sums over nodes, each (T,): ``weights * sigma * theta^k`` and ``weights * sigma (1 - sigma) * theta^k``."""

    sigma: FloatArray
    sigma_theta: FloatArray
    info: FloatArray
    info_theta: FloatArray
    info_theta2: FloatArray


class TermSum(Protocol):
    """A sum of softplus terms for each system."""

    def forward(self, a: FloatArray, d: FloatArray, nodes: FloatArray) -> FloatArray:
        """(M, G) sums at the ``nodes`` (G,)."""

    def backward(self, weights: FloatArray, nodes: FloatArray) -> NodeSums:
        """Sums of the last ``forward`` under node ``weights`` (M, G)."""


class SoftplusSum:
    """``S[i, g] = sum_t mask[t, i] * log(1 + exp(a[t] theta[g] + d[t]))`` and the sums for its gradient.

    mask: (T, M) of zeros and ones, or None if every system has every term.
    """

    def __init__(self, mask: FloatArray | None, n_systems: int) -> None:
        self._mask = mask
        self._n_systems = n_systems
        self._sigma = np.empty((0, 0))

    @property
    def sigma(self) -> FloatArray:
        """Logistic function of every term at every node, (T, G), as the last ``forward`` left it."""
        return self._sigma

    def forward(self, a: FloatArray, d: FloatArray, nodes: FloatArray) -> FloatArray:
        """(M, G) sums at the ``nodes`` (G,)."""
        if self._sigma.shape != (len(a), len(nodes)):
            self._sigma = np.empty((len(a), len(nodes)))
        total = np.zeros((self._n_systems if self._mask is not None else 1, len(nodes)))
        rows = max(1, BLOCK // len(nodes))
        z_buffer, e_buffer = np.empty((rows, len(nodes))), np.empty((rows, len(nodes)))
        for start in range(0, len(a), rows):
            part = slice(start, min(start + rows, len(a)))
            z, e = z_buffer[: part.stop - start], e_buffer[: part.stop - start]
            np.multiply.outer(a[part], nodes, out=z)
            z += d[part, None]
            softplus = _softplus_and_sigma(z, e, self._sigma[part])
            total += softplus.sum(axis=0) if self._mask is None else self._mask[part].T @ softplus
        return np.broadcast_to(total, (self._n_systems, len(nodes)))

    def backward(self, weights: FloatArray, nodes: FloatArray) -> NodeSums:
        """Sums of the last ``forward`` under node ``weights`` (M, G)."""
        powers = np.vander(nodes, 3, increasing=True)
        shared = weights.sum(axis=0)[:, None] * powers
        n_terms = len(self._sigma)
        first, second = np.empty((n_terms, 2)), np.empty((n_terms, 3))
        rows = max(1, BLOCK // len(nodes))
        for start in range(0, n_terms, rows):
            part = slice(start, min(start + rows, n_terms))
            sigma = self._sigma[part]
            if self._mask is None:
                first[part] = sigma @ shared[:, :2]
                second[part] = (sigma - sigma * sigma) @ shared
            else:
                weighted = (self._mask[part] @ weights) * sigma
                first[part] = weighted @ powers[:, :2]
                second[part] = (weighted - weighted * sigma) @ powers
        return NodeSums(first[:, 0], first[:, 1], second[:, 0], second[:, 1], second[:, 2])


def _softplus_and_sigma(z: FloatArray, e: FloatArray, sigma: FloatArray) -> FloatArray:
    """Softplus of ``z``, written over ``z``; ``sigma`` is filled; ``e`` is scratch. No exp ever overflows."""
    np.abs(z, out=e)
    np.negative(e, out=e)
    np.exp(e, out=e)  # exp(-|z|)
    positive = z > 0
    np.maximum(z, 0.0, out=z)
    np.add(e, 1.0, out=sigma)
    np.divide(1.0, sigma, out=sigma)  # 1 / (1 + exp(-|z|)), which is sigma(|z|)
    np.subtract(1.0, sigma, out=sigma, where=~positive)
    np.log1p(e, out=e)
    z += e
    return z
