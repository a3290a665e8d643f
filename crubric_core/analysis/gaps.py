"""Find where a bank lacks rubrics, and which informative rubrics the gate drops because judges disagree on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..text import count, numeral, rounded, verb
from ..types import BoolArray, FloatArray, IntArray

NEAR_WORST = 0.9
"""An ability belongs to the worst range if its standard error is at least this share of the largest one."""


@dataclass(frozen=True)
class Gaps:
    """Where a bank lacks rubrics.

    missing: positions of queries without a rubric in the bank. unwritten: those of them without any rubric that could
    enter it, so that one must be written. low, high: the range of abilities, within that of the systems, where the
    bank's standard error is largest. worst, best: the largest and the least standard error; inf without information.
    low, high, worst and best are NaN if no ability is known. systems: positions of the systems in the range.
    dimensions: one row a dimension, with counts of rubrics: rubrics, passing, bank.
    """

    missing: IntArray
    unwritten: IntArray
    low: float
    high: float
    worst: float
    best: float
    systems: IntArray
    dimensions: pd.DataFrame


def find_gaps(
    query: IntArray,
    n_queries: int,
    dimension: Sequence[object],
    pool: BoolArray,
    bank: IntArray,
    nodes: FloatArray,
    information: FloatArray,
    theta: FloatArray,
) -> Gaps:
    """The gaps of a bank.

    query: (J,) position of each rubric's query. dimension: of each of the J rubrics, None unknown. pool: (J,) rubrics
    that could enter the bank. bank: indices of its rubrics. nodes: (G,) abilities. information: (G,) information of the
    bank at the nodes. theta: (M,) abilities of the systems, NaN unknown.
    """
    covered, writable = np.zeros(n_queries, dtype=bool), np.zeros(n_queries, dtype=bool)
    covered[query[bank]] = True
    writable[query[pool]] = True
    low, high, worst, best = worst_range(nodes, information, theta)
    return Gaps(
        missing=np.flatnonzero(~covered),
        unwritten=np.flatnonzero(~covered & ~writable),
        low=low,
        high=high,
        worst=worst,
        best=best,
        systems=np.flatnonzero((theta >= low) & (theta <= high)),
        dimensions=_by_dimension(dimension, pool, bank),
    )


def worst_range(
    nodes: FloatArray, information: FloatArray, theta: FloatArray
) -> tuple[float, float, float, float]:
    """(low, high, worst, best): the range around the largest standard error among the abilities of the systems.

    SE(θ) = I(θ)^-1/2 is evaluated at the nodes between the least and the greatest ability, and at these two, where the
    information is interpolated. The range holds the adjacent points whose error is at least NEAR_WORST times the
    largest. nodes: (G,) ascending. information: (G,) of the bank at the nodes. theta: (M,) abilities, NaN unknown; all
    four values are NaN if no ability is known.
    """
    known = theta[np.isfinite(theta)]
    nan = float("nan")
    if not len(known):
        return nan, nan, nan, nan
    inside = nodes[(nodes > known.min()) & (nodes < known.max())]
    at = np.unique([known.min(), *inside, known.max()])
    with np.errstate(divide="ignore"):
        error = 1 / np.sqrt(np.interp(at, nodes, information))
    peak = int(error.argmax())
    near = error >= NEAR_WORST * error[peak]
    first = last = peak
    while first > 0 and near[first - 1]:
        first -= 1
    while last < len(at) - 1 and near[last + 1]:
        last += 1
    return float(at[first]), float(at[last]), float(error[peak]), float(error.min())


def _by_dimension(dimension: Sequence[object], pool: BoolArray, bank: IntArray) -> pd.DataFrame:
    in_bank = np.zeros(len(pool), dtype=bool)
    in_bank[bank] = True
    frame = pd.DataFrame({"dimension": dimension, "rubrics": True, "passing": pool, "bank": in_bank})
    frame = frame[frame["dimension"].notna()]
    found = frame.groupby("dimension", sort=True)[["rubrics", "passing", "bank"]].sum().astype(int)
    return found.sort_values(["bank", "rubrics"], ascending=[True, False], kind="stable").reset_index()


def gap_sentences(gaps: Gaps, n_queries: int) -> tuple[str, ...]:
    """Sentences on the queries, the abilities and the dimensions for which the bank lacks rubrics; plain text."""
    return (_query_sentence(gaps, n_queries), _range_sentence(gaps), *_dimension_sentence(gaps))


def _query_sentence(gaps: Gaps, n_queries: int) -> str:
    missing, unwritten = len(gaps.missing), len(gaps.unwritten)
    if not missing:
        return f"The bank has a rubric of each of the {count(n_queries, 'query')}."
    said = f"{missing:,} of {count(n_queries, 'query')} {verb(missing, 'have')} no rubric in the bank"
    if not unwritten:
        return f"{said}; each has one that passes, so a larger bank can include it."
    if unwritten == missing:
        return f"{said}, and no other rubric that could enter it: write rubrics there."
    none = f"{unwritten:,} of them {verb(unwritten, 'have')} no rubric that could enter it"
    return f"{said}; {none}: write rubrics there."


def _range_sentence(gaps: Gaps) -> str:
    if not np.isfinite(gaps.worst):
        return (
            "The bank has no information somewhere among these systems."
            if np.isinf(gaps.worst)
            else ("No ability is known, so nothing is known of the bank's precision.")
        )
    if gaps.best >= NEAR_WORST * gaps.worst:
        least, most = f"{gaps.best:.2f}", f"{gaps.worst:.2f}"
        error = least if least == most else f"{least} to {most}"
        return f"The bank measures all of these systems alike: SE(θ) {error} by the model alone."
    return (
        f"The bank measures worst at θ from {numeral(gaps.low)} to {numeral(gaps.high)}, where "
        f"{count(len(gaps.systems), 'system')} {verb(len(gaps.systems), 'stand')} by the pooled fit: "
        f"SE(θ) up to {gaps.worst:.2f} by the model alone, {gaps.best:.2f} at its best. "
        "Rubrics of that difficulty would help most."
    )


def _dimension_sentence(gaps: Gaps) -> tuple[str, ...]:
    table = gaps.dimensions
    if table.empty:
        return ()
    empty = table[table["bank"] == 0]
    if empty.empty:
        return (f"The bank has rubrics of each of the {count(len(table), 'dimension')}.",)
    return (
        f"{len(empty):,} of {count(len(table), 'dimension')} {verb(len(empty), 'have')} no rubric in the bank.",
    )


@dataclass(frozen=True)
class Rewrites:
    """Rubrics that carry much information but that the gate drops.

    at: (n,) their indices, the most informative first. information: their share, in [0, 1], of the information of all J
    rubrics; NaN if no rubric informs. kept: number of informative rubrics that the gate keeps; if it is 0, ``at`` holds
    all informative rubrics.
    """

    at: IntArray
    information: float
    kept: int


def find_rewrites(nu: FloatArray, feasible: BoolArray) -> Rewrites:
    """The rubrics that the gate drops although they inform as much as the median informative rubric that it keeps.

    nu: (J,) information where the systems lie, 0 for a rubric without information. feasible: (J,) rubrics that pass.
    """
    kept = nu[feasible & (nu > 0)]
    bound = float(np.median(kept)) if len(kept) else 0.0
    found = np.flatnonzero(~feasible & (nu > 0) & (nu >= bound))
    order = found[np.argsort(-nu[found], kind="stable")]
    total = float(nu.sum())
    share = float(nu[order].sum() / total) if total > 0 else float("nan")
    return Rewrites(order, share, len(kept))


def rewrite_sentence(found: Rewrites, given: bool) -> str:
    """Sentences on how many rubrics might be rewritten, and their share of the information; plain text.

    given: whether the user set the gate's threshold.
    """
    size = len(found.at)
    if not size:
        return (
            "No rubric that the gate drops informs as much as the median one that it keeps."
            if found.kept
            else "No rubric separates systems."
        )
    share = "" if size == 1 else "together "
    said = (
        f"{count(size, 'rubric')} that the gate drops {verb(size, 'inform')} as much as the median one that it keeps: "
        f"{share}{rounded(found.information)} of all information."
        if found.kept
        else f"The gate keeps no rubric that separates systems, and drops {size:,} that {verb(size, 'do')}."
    )
    return (
        f"{said} Read where the judges differ before you rewrite one: "
        f"{'' if given else 'this threshold drops up to a quarter even where all rubrics are equally clear, and '}"
        "only new labels show whether the new wording is better."
    )
