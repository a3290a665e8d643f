"""Labels on a bank's rubrics converted to levels of its model, by the rules of its calibration (docs/method.md §1)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..errors import PlacementError
from ..judges.consensus import majority, median_low
from ..settings import Response, Tie
from ..text import count
from ..types import FloatArray, IntArray
from .bank_scale import BankScale


def levels_on_bank(
    bank_scale: BankScale, labels: pd.DataFrame, row: IntArray, systems: tuple[str, ...]
) -> tuple[FloatArray, FloatArray, tuple[str, ...]]:
    """(y, panel, judges) of N systems: consensus (N, B), each judge's level (N, B, K), NaN unknown, and the K names.

    labels: one row each with system, judge, label (whole, on the scale of its rubric) and optionally run. row: (n,) row
    of each label's rubric in the bank. Raises PlacementError if labels of one system, rubric, judge and run differ.
    """
    judges = tuple(sorted(labels["judge"].unique()))
    draws, every = pd.factorize(labels["run"], use_na_sentinel=False) if "run" in labels else (0, [0])
    shape = (len(systems), len(bank_scale.rubrics), len(judges), max(len(every), 1))
    place = (
        pd.Index(systems).get_indexer(pd.Index(labels["system"])),
        row,
        pd.Index(judges).get_indexer(pd.Index(labels["judge"])),
    )
    at = np.ravel_multi_index(np.broadcast_arrays(*place, draws), shape)
    given, read = labels["label"].to_numpy(dtype=float), np.full(np.prod(shape), np.nan)
    read[at] = given
    _require_agreement(labels, at, read[at] != given)
    settings = bank_scale.settings
    panel = _one(_read(bank_scale, read.reshape(shape)), settings.response)  # of a judge's runs
    return _one(panel, settings.response, settings.tie), panel, judges


def _require_agreement(labels: pd.DataFrame, at: IntArray, differs: np.ndarray) -> None:
    """Raise PlacementError if any row ``differs`` from the last row with the same key ``at``."""
    if not differs.any():
        return
    first = labels.iloc[int(np.argmax(differs))]
    others = int(np.isin(at, at[differs]).sum())
    raise PlacementError(
        f"{count(others, 'label')} contradict others on the same rubric of the bank (first: {first['label']:g} of "
        f"{first['judge']!r} for {first['system']!r} on {first['rubric']!r}): keep one of them, or number them as runs."
    )


def _read(bank_scale: BankScale, labels: FloatArray) -> FloatArray:
    """(N, B, …) labels as the model reads them: met (1) or not (0), or levels from 0; higher is better."""
    table = bank_scale.rubrics
    low, high, mark, polarity = (
        table[name].to_numpy(dtype=float).reshape(-1, *[1] * (labels.ndim - 2))
        for name in ("scale_min", "scale_max", "pass_mark", "polarity")
    )
    if bank_scale.settings.response == "ordered":
        return np.where(polarity < 0, high - labels, labels - low)
    met = np.where(polarity < 0, labels < mark, labels >= mark).astype(float)
    return np.where(np.isnan(labels), np.nan, met)


def _one(levels: FloatArray, response: Response, tie: Tie = "unknown") -> FloatArray:
    """Combine the last axis: the strict majority, or the lower median of ordered levels."""
    return majority(levels, tie) if response == "binary" else median_low(levels)
