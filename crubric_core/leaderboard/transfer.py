"""How far a chosen bank and the whole pool disagree on systems that the bank has not seen.

A bank is chosen for how well it separates the available systems. Its rubrics look more discriminating on these than
they are, and may emphasise another dimension than the pool. A new system's ability on the bank then differs from that
on the pool by more than sampling explains. Systems held out show by how much.
"""

from __future__ import annotations

import numpy as np

from ..types import BoolArray, FloatArray, IntArray
from .cross_fit import CrossFit
from .influence import ability_influence, bessel_correction


def transfer_excess(cross: CrossFit, pool: BoolArray, banks: BoolArray, query_index: IntArray) -> FloatArray:
    """(M,) (theta_bank - theta_pool)² - SE² of each system, NaN if one of the abilities is unknown.

    pool: (J,). banks: (F, J), each chosen without its fold's systems. Both abilities are at the fold's parameters; SE
    is that on the bank, by query, and at least the posterior sd.
    """
    on_bank = ability_influence(cross, banks, query_index)
    sampled = (on_bank.psi**2).sum(axis=0) * bessel_correction(on_bank.n_units)
    variance = np.maximum(sampled, on_bank.floor)
    difference = on_bank.estimate - cross.abilities(pool)
    return np.where(np.isfinite(difference), difference**2 - variance, np.nan)


def transfer_variance(excess: FloatArray) -> float:
    """max(0, mean excess): the variance of a placement beyond sampling, by moments as between studies of one effect.

    DerSimonian, R. & Laird, N. (1986), Meta-analysis in clinical trials, Controlled Clinical Trials 7, 177-188. The
    bank's labels are part of the pool's, so that subtracting SE² subtracts rather too much. NaN if no excess is known.
    """
    return max(0.0, float(np.nanmean(excess))) if np.isfinite(excess).any() else np.nan
