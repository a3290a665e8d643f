"""Simulated panels: judges who are equal, and judges who err together."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
from scipy.special import expit, logit

from benchmarks.tables import short
from crubric_core.intervals import known_mean
from crubric_core.judges.independence import residual_correlation
from crubric_core.judges.posterior import posterior_labels
from crubric_core.judges.rates import JudgeRates, judge_rates
from crubric_core.judges.reliability import leniency
from crubric_core.judges.shared_errors import effective_judges
from crubric_core.types import BoolArray, FloatArray, IntArray

RIGHT = 0.88  # share of right labels of a judge with the mean strictness
WANDER, SHARED = (0.0, 0.5), (0.0, 0.08)
STUDIES = ((8, 10), (60, 40))  # systems and queries
PER_QUERY = 8
RARE = (
    (5, 20, 1, 9, 0.03, 0.95),
    (5, 40, 2, 9, 0.01, 0.95),
    (5, 40, 1, 9, 0.02, 0.9),
    (5, 20, 2, 9, 0.02, 0.8),
    (8, 30, 1, 7, 0.02, 0.95),
    (8, 30, 2, 5, 0.01, 0.95),
    (12, 40, 5, 9, 0.02, 0.9),
)
"""Systems, queries, rubrics of each, judges, share of wrong labels, share of cells that pass."""
RIGHT_OF_EACH = (
    (0.92, 0.92, 0.5),
    (0.92, 0.7, 0.5),
    (0.5, 0.5, 0.5),
    (0.92, 0.92, 0.65),
    (0.92, 0.92, 0.92),
    (0.92, 0.92, 0.92, 0.5, 0.5),
)
"""Share of each judge's labels that is right; 50% is a guess."""
FEW_FAILS = ((12, 30, 5, 0.92, 0.5), (12, 30, 5, 0.92, 0.9), (12, 30, 5, 0.92, 0.95), (8, 30, 2, 0.9, 0.9))
"""Systems, queries, rubrics of each, share of each judge's labels that is right, share of cells that pass."""


def equal_judges(
    seed: int, judges: int, systems: int, queries: int, wander: float, shared: float
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Truth (M, J), labels (M, J, K) and the query of each rubric (J,); pass rates of rubrics are Beta(2, 2).

    wander: sd over queries of a judge's strictness, in logits. shared: share of the cells that all judges get wrong.
    """
    rng = np.random.default_rng([seed, judges])
    query = np.repeat(np.arange(queries), PER_QUERY)
    truth = (rng.random((systems, len(query))) < rng.beta(2, 2, len(query))).astype(float)
    passing = logit(np.where(truth == 1, RIGHT, 1 - RIGHT))[:, :, None]
    chance = expit(passing + rng.normal(0, wander, (queries, judges))[query])
    labels = rng.random(chance.shape) < chance
    together = rng.random((*truth.shape, 1)) < shared
    return truth, np.where(together, 1 - truth[:, :, None], labels), query


def of_equal_judges(truth: FloatArray, panel: FloatArray, query: IntArray, law: float) -> tuple[float, ...]:
    """Claims about equal judges on one table.

    Whether a worst judge is named, without gold and with it; whether a judge is shown as lenient or strict, by
    intervals over queries for all judges at once, and by 95% intervals over rubrics for each judge alone; share of the
    intervals of rates that hold ``law``, the true rate, without gold and with it.
    """
    votes, units = panel.reshape(-1, panel.shape[2]), np.tile(query, len(truth))
    found = [judge_rates(votes, gold, units) for gold in (None, truth.reshape(-1))]
    marks = leniency(panel, query), leniency(panel, None, 1 - 0.05 * panel.shape[2])
    shown = (bool(((mark.low > 0) | (mark.high < 0)).any()) for mark in marks)
    return (*(rates.worst is not None for rates in found), *shown, *(held(rates, law) for rates in found))


def rare_errors(tables: int) -> Iterator[tuple[object, ...]]:
    """How often equal judges who seldom err, on cells that mostly pass, are shown as lenient or strict.

    Then the shares of intervals of their rates that hold, given human labels of all cells: with errors on single cells,
    and with errors on all rubrics of an answer.
    """
    yield (
        *("judges", "systems × queries × rubrics", "cells passed", "errors", "lenient or strict"),
        *("rates held", "errors on whole answers: rates held"),
    )
    for systems, queries, each, judges, wrong, passed in RARE:
        found, query = [], np.repeat(np.arange(queries), each)
        for seed in range(tables):
            rng = np.random.default_rng([seed, judges, queries])
            truth = rng.random((systems, queries * each, 1)) < passed
            single = rng.random((*truth.shape[:2], judges)) < wrong
            whole = (rng.random((systems, queries, judges)) < wrong)[:, query]
            mark = leniency((truth != single).astype(float), query)
            shown = bool(((mark.low > 0) | (mark.high < 0)).any())
            found.append(
                (shown, *(_held_with_gold(truth, errors, query, wrong) for errors in (single, whole)))
            )
        size = f"{systems} × {queries} × {each}"
        rates = (
            "—" if np.isnan(rate) else f"{rate:.1%}" for rate in known_mean(np.array(found, dtype=float))
        )
        yield judges, size, f"{passed:.0%}", f"{wrong:.0%}", *rates


def _held_with_gold(truth: BoolArray, errors: BoolArray, query: IntArray, wrong: float) -> float:
    """Share of the intervals of rates that hold; NaN if there are too few human labels of a class."""
    votes = (truth != errors).reshape(-1, errors.shape[2]).astype(float)
    rates = judge_rates(votes, truth.reshape(-1).astype(float), np.tile(query, len(truth)))
    return held(rates, 1 - wrong) if rates.source == "anchors" else np.nan


def held(rates: JudgeRates, law: float | FloatArray) -> float:
    """Share of the intervals of sensitivity and specificity that hold the true rate."""
    return float(np.mean([(r.low <= law) & (law <= r.high) for r in (rates.sensitivity, rates.specificity)]))


def equal(tables: int) -> Iterator[tuple[object, ...]]:
    """How often equal judges are reported as different, and the shares of intervals of their rates that hold."""
    yield (
        *("judges", "systems × queries", "wander", "all wrong", "named without gold", "with gold"),
        *("lenient or strict", "by rubric, each alone", "rates held without gold", "with gold"),
    )
    normal = np.random.default_rng(0).standard_normal(100_000)
    for judges, (systems, queries), wander, shared in product((3, 5, 9), STUDIES, WANDER, SHARED):
        law = float(expit(logit(RIGHT) + wander * normal).mean()) * (1 - shared)
        found = [
            of_equal_judges(*equal_judges(seed, judges, systems, queries, wander, shared), law)
            for seed in range(tables)
        ]
        rates = (f"{rate:.0%}" for rate in np.mean(found, axis=0))
        yield judges, f"{systems} × {queries}", wander, f"{shared:.0%}", *rates


def rates(tables: int) -> Iterator[tuple[object, ...]]:
    """How often rates are shown without human labels, and the share of their intervals that hold.

    12 systems and 30 queries; then tables with few failed cells.
    """
    yield "right in", "rates shown", "intervals that hold"
    for right in RIGHT_OF_EACH:
        shown = []
        for seed in range(tables):
            rng = np.random.default_rng([seed, len(right)])
            truth = rng.random((12, 150)) < rng.beta(2, 2, 150)
            votes = np.where(
                rng.random((*truth.shape, len(right))) < right, truth[:, :, None], ~truth[:, :, None]
            )
            query = np.tile(np.repeat(np.arange(30), 5), 12)
            found = judge_rates(votes.reshape(-1, len(right)).astype(float), None, query)
            shown += [held(found, np.array(right))] if found.source == "dawid_skene" else []
        holds = f"{np.mean(shown):.0%}" if shown else "—"
        yield ", ".join(f"{r:.0%}" for r in right), f"{len(shown) / tables:.0%}", holds
    yield ()
    yield "systems × queries × rubrics", "right in", "cells passed", "sensitivity held", "specificity held"
    for systems, queries, each, correct, passed in FEW_FAILS:
        held_of_each = []
        for seed in range(5 * tables):
            rng = np.random.default_rng([seed, systems])
            truth = rng.random((systems * queries * each, 1)) < passed
            votes = truth == (rng.random((len(truth), 3)) < correct)
            query = np.tile(np.repeat(np.arange(queries), each), systems)
            found = judge_rates(votes.astype(float), None, query)
            if found.source == "dawid_skene":
                ends = (found.sensitivity, found.specificity)
                held_of_each.append([((r.low <= correct) & (correct <= r.high)).mean() for r in ends])
        size = f"{systems} × {queries} × {each}"
        yield size, f"{correct:.0%}", f"{passed:.0%}", *(f"{h:.0%}" for h in np.mean(held_of_each, axis=0))


def independent(tables: int) -> Iterator[tuple[object, ...]]:
    """Judges who err independently, and are stricter on some queries: shares of tables with a flagged pair of judges.

    Then shares of tables in which all intervals hold.
    """
    yield (
        "judges",
        "systems × queries",
        "wander",
        "flagged without gold",
        "with gold",
        "held without gold",
        "with gold",
    )
    for judges, (systems, queries), wander in product((4, 9), ((8, 5), (12, 20), (12, 40)), (0.0, 1.0, 2.0)):
        above, rows = np.triu_indices(judges, 1), []
        for seed in range(tables):
            truth, panel, query = equal_judges(seed, judges, systems, queries, wander, 0)
            found = [residual_correlation(panel, gold, query) for gold in (None, truth)]
            hold = ((one.low <= one.expected) & (one.expected <= one.high) for one in found)
            rows.append((*(one.flagged.any() for one in found), *(inside[above].all() for inside in hold)))
        shares = (f"{share:.0%}" for share in np.mean(rows, axis=0))
        yield judges, f"{systems} × {queries}", wander, *shares


def err_together(judges: int, together: int, seed: int = 0) -> tuple[FloatArray, FloatArray]:
    """Labels (15, 200, K) and truth (15, 200).

    Each judge errs on 10% of the cells; the first ``together`` judges all err on a further 12%.
    """
    rng = np.random.default_rng(seed)
    truth = rng.random((15, 200)) < 0.6
    labels = truth[:, :, None] ^ (rng.random((*truth.shape, judges)) < 0.1)
    common = rng.random(truth.shape) < 0.12
    labels[:, :, :together] = np.where(common[:, :, None], ~truth[:, :, None], labels[:, :, :together])
    return labels.astype(float), truth.astype(float)


def some_of(truth: FloatArray) -> FloatArray:
    """Human labels of a tenth of the cells."""
    return np.where(np.random.default_rng(1).random(truth.shape) < 0.1, truth, np.nan)


def together(tables: int) -> Iterator[tuple[object, ...]]:
    """Means over tables: stated and true accuracy of posterior labels, pairs flagged, effective number of judges."""
    yield (
        "judges",
        "wrong together",
        "stated",
        "true",
        "flagged pairs, no gold",
        "10% gold",
        "K_eff, 10% gold",
    )
    for judges, wrong in ((3, 2), (5, 3), (5, 5), (9, 5), (5, 0)):
        found = []
        for seed in range(tables):
            panel, truth = err_together(judges, wrong, seed)
            posterior = posterior_labels(panel, np.full(truth.shape[1], 2))
            alone, helped = (
                effective_judges(residual_correlation(panel, gold)) for gold in (None, some_of(truth))
            )
            right = (posterior.y == truth).mean()
            flags = alone.flagged if np.isfinite(alone.rho) else np.nan
            found.append((posterior.probability.mean(), right, flags, helped.flagged, helped.effective))
        stated, true, *flagged, effective = np.mean(found, axis=0)
        pairs = ("unknown" if np.isnan(n) else f"{n:.1f}" for n in flagged)
        shares = (short(share, ".3f") for share in (stated, true))
        yield judges, wrong or "none", *shares, *pairs, f"{effective:.1f}"
