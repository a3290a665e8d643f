"""Whether a system's pattern of labels follows the model: the standardised log-likelihood lz*."""

from __future__ import annotations

import numpy as np

from ..types import FloatArray
from .abilities import log_probabilities
from .cells import label_scores
from .fit import IrtFit


def person_fit(fit: IrtFit, y: FloatArray, theta: float) -> float:
    """lz* of one system's labels ``y`` (J,) at its ability ``theta``; NaN if no label's log-likelihood can vary.

    With l the log-likelihood and s the score of a label at theta, c = sum Cov(l, s) / sum Var(s): lz* = sum (l - E l -
    c s) / sqrt(sum Var(l - c s)). Subtracting c s corrects for theta being estimated (Snijders 2001, Psychometrika 66,
    for two levels; Sinharay 2016, Psychometrika 81, for more). Far below 0: the labels are less likely than those of a
    system that follows the model.
    """
    known = np.flatnonzero(np.isfinite(y) & ~fit.constant)
    if not known.size or not np.isfinite(theta):
        return float("nan")
    at = np.array([theta])
    logs = log_probabilities(fit, known, at)[:, :, 0]
    possible = np.isfinite(logs) & (np.arange(len(logs))[:, None] < fit.levels[known])
    logs = np.where(possible, logs, 0.0)
    share = np.where(possible, np.exp(logs), 0.0)
    items = fit.items.of(known)
    scores = np.stack(
        [label_scores(items, np.full((1, len(known)), float(level)), at)[0][0] for level in range(len(logs))]
    )
    scores = np.where(possible, scores, 0.0)
    centred = np.where(possible, logs - (share * logs).sum(axis=0), 0.0)
    c = float((share * centred * scores).sum() / (share * scores**2).sum())
    rest = centred - c * scores
    variance = float((share * rest**2).sum())
    level = y[known].astype(np.int64)
    return float(rest[level, np.arange(len(known))].sum() / np.sqrt(variance)) if variance > 0 else np.nan
