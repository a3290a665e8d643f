"""Claims about judges' means corrected by human labels, where the mean label that people would give is known.

People's labels follow the 2PL with a system × query effect. Judges change a share of them: more for some systems,
mostly to a pass, and on some queries all labels. ``python -m benchmarks.claims_human`` checks claims on real tables.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
from scipy.special import expit, stdtrit

from benchmarks.false_differences import EFFECT
from benchmarks.tables import short
from crubric_core import Workspace
from crubric_core.analysis.agreement import mean_scores
from crubric_core.leaderboard.correction import FEWEST, Correction, correct_means
from crubric_core.leaderboard.inference import infer, marginal_intervals
from crubric_core.leaderboard.influence import score_influence

SYSTEMS, QUERIES, PER_QUERY = 8, 200, 5
TO_PASS = 0.8  # share of the errors that are a pass
DESIGNS: dict[str, tuple[int, float, float, str]] = {
    "30 queries": (30, 0.1, 0.05, "random"),
    "10 queries": (10, 0.1, 0.05, "random"),
    "5 queries": (5, 0.1, 0.05, "random"),
    "5 queries, judges nearly right": (5, 0.01, 0.0, "random"),
    "30 queries, each system's own": (30, 0.1, 0.05, "own"),
    "10 queries, each system's own": (10, 0.1, 0.05, "own"),
    "30 queries, a third of the judges' labels wrong": (30, 0.3, 0.05, "random"),
    "10 queries, judges nearly right, wrong on whole queries": (10, 0.01, 0.05, "random"),
    "30 queries, the lowest by the judges": (30, 0.1, 0.05, "lowest"),
}
"""Queries that people label, share of wrong labels, share of queries with all labels wrong, how queries are chosen."""


def human(tables: int) -> Iterator[tuple[object, ...]]:
    """Shares of intervals and differences that hold, of false separations, and widths, for each design.

    Tables of even number have equal systems, those of odd number unequal ones.
    """
    yield (
        "people label",
        "intervals hold",
        "all differences hold",
        "equal systems: any pair separated",
        "width to people's alone",
        "λ",
        "doubted",
        "judges' own intervals hold",
    )
    for name, design in DESIGNS.items():
        held, together, false, widths, weights, doubted, naive = [], [], [], [], [], [], []
        for seed in range(tables):
            theta = seed % 2 * np.random.default_rng([41, seed]).normal(0, 0.4, SYSTEMS)
            found, truth = correction(theta, seed, *design), expected(tuple(theta))
            standing = infer(found.corrected, np.random.default_rng(seed))
            apart = truth[:, None] - truth
            held.append(((standing.low <= truth) & (truth <= standing.high)).mean())
            within = (standing.difference_low <= apart) & (apart <= standing.difference_high)
            together.append(within[~np.eye(SYSTEMS, dtype=bool)].all())
            if seed % 2 == 0:
                false.append(standing.separated.any())
            (low, high), (start, end) = (marginal_intervals(x, 0.95) for x in (found.human, found.judged))
            widths.append(np.median((standing.high - standing.low) / (high - low)))
            weights.append(found.weight)
            doubted.append(found.sample.doubtful)
            naive.append(((start <= truth) & (truth <= end)).mean())
        columns = (held, together, false, widths, weights, doubted, naive)
        yield name, *(short(float(np.mean(column))) for column in columns)


def correction(
    theta: np.ndarray, seed: int, labelled: int, wrong: float, together: float, chosen: str
) -> Correction:
    """The correction of one simulated table of human and judges' labels; the parameters are those of ``DESIGNS``."""
    rng = np.random.default_rng([42, seed])
    people, query = of_people(theta, QUERIES, rng)
    everything = np.ones(people.shape[1], dtype=bool)
    share = np.clip(wrong * (1 + 0.5 * rng.normal(size=SYSTEMS)), 0, 1)[:, None]
    error = (rng.random(people.shape) < share) | (rng.random((SYSTEMS, QUERIES)) < together)[:, query]
    judged = np.where(error, rng.random(people.shape) < TO_PASS, people)
    order = np.broadcast_to(rng.permutation(QUERIES), (SYSTEMS, QUERIES))
    levels = np.full(people.shape[1], 2)
    scores = mean_scores(judged, levels, query, everything, QUERIES)
    if chosen == "own":
        order = rng.permuted(order, axis=1)
    if chosen == "lowest":
        order = np.broadcast_to(np.argsort(np.argsort(scores.mean(axis=0))), (SYSTEMS, QUERIES))
    there = (order < labelled)[:, query]
    human_means, there_means = (
        mean_scores(np.where(there, y, np.nan), levels, query, everything, QUERIES) for y in (people, judged)
    )
    found = correct_means(scores, human_means, there_means, there.sum(axis=1))
    if found is None:
        raise ValueError("a design labels at least five queries of each system")
    return found


@cache
def expected(theta: tuple[float, ...]) -> np.ndarray:
    """(M,) mean human label of each system over 50,000 such queries."""
    people, _ = of_people(np.array(theta), 50_000, np.random.default_rng(43))
    return people.mean(axis=1)


def of_people(theta: np.ndarray, queries: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Labels (M, J) of rubrics with log a ~ N(0, .4²), b ~ N(0, 1.2²), and the query of each rubric."""
    query, size = np.repeat(np.arange(queries), PER_QUERY), queries * PER_QUERY
    a, b = np.exp(rng.normal(0, 0.4, size)), rng.normal(0, 1.2, size)
    mood = EFFECT * rng.normal(size=(len(theta), queries))[:, query]
    passed = rng.random((len(theta), size)) < expit(a * (theta[:, None] - b) + mood)
    return passed.astype(float), query


def halves(folder: Path, splits: int) -> Iterator[tuple[object, ...]]:
    """Real tables: one judge plays the person, and the mean of the other judges is the judges' label.

    The corrected means of one half of the queries, of which the person labelled a fifth, are compared with the means of
    the person's labels on the other half.
    """
    yield (
        "dataset",
        "person",
        "means of both halves differ by no more than their 95%",
        "pairs separated: corrected",
        "by the person's labels alone",
        "reversed in the other half",
        "width to the person's alone",
        "λ",
    )
    for name in ("dialsummeval", "wildbench"):
        if not (folder / name / "labels.csv").exists():
            continue
        panel, query, judges = load(folder / name)
        for person, judge in enumerate(judges):
            found = [half(panel, query, person, seed) for seed in range(splits)]
            held, apart, alone, reversed_, width, weight = np.array(found).T
            turned = short(reversed_.sum() / apart.sum(), ".3f") if apart.sum() else "—"
            shown = (short(x.mean()) for x in (held, apart, alone))
            yield name, judge, *shown, turned, short(width.mean()), short(weight.mean())


def half(panel: np.ndarray, query: np.ndarray, person: int, seed: int) -> tuple[float, ...]:
    """One division of the queries into halves.

    Share of means that agree within their 95%, shares of pairs separated by the correction, by the person alone, and by
    the correction but reversed in the other half, ratio of the interval widths, and the correction's weight.
    """
    rng, n = np.random.default_rng([44, seed]), int(query.max()) + 1
    order = rng.permutation(n)
    first, some = np.isin(query, order[: n // 2]), np.isin(query, order[: max(n // 10, FEWEST)])
    people, others = panel[:, :, person], np.delete(panel, person, axis=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # cells without a label
        judged = np.nanmean(others, axis=2)
    both = np.isfinite(people) & np.isfinite(judged)
    levels, everything = np.full(len(query), 2), np.ones(len(query), dtype=bool)
    here, there, those, after = (
        mean_scores(y, levels, query, everything, n)
        for y in (
            np.where(first & np.isfinite(judged), judged, np.nan),
            np.where(some & both, people, np.nan),
            np.where(some & both, judged, np.nan),
            np.where(~first, people, np.nan),
        )
    )
    found = correct_means(here, there, those, (some & both).sum(axis=1))
    if found is None:
        raise ValueError("no system has five labelled queries")
    standing, alone, later = (
        infer(x, np.random.default_rng(seed))
        for x in (found.corrected, found.human, score_influence(after, np.ones(n)))
    )
    kept = standing.ranked & later.ranked
    apart = np.abs(standing.estimate - later.estimate)[kept]
    error = np.sqrt(standing.se**2 + later.se**2)[kept]
    multiple = stdtrit(found.labelled[kept] - 1.0, 0.975)
    pairs = np.triu(np.outer(kept, kept), 1)
    separated = standing.separated & pairs
    turned = separated & (standing.difference * later.difference < 0)
    widths = (standing.high - standing.low)[kept] / (alone.high - alone.low)[kept]
    return (
        float((apart <= multiple * error).mean()),
        separated.sum() / pairs.sum(),
        (alone.separated & pairs).sum() / pairs.sum(),
        turned.sum() / pairs.sum(),
        float(np.median(widths)),
        found.weight,
    )


def load(folder: Path) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Labels as shares of the full mark (M, J, K), the query of each rubric (J,), and the judges' names."""
    with Workspace() as workspace:
        for kind in ("queries", "rubrics", "labels"):
            if (file := folder / f"{kind}.csv").exists():
                workspace.ingest(file, "real", kind)
        ds = workspace.dataset("real")
        panel, rubrics, judges = ds.panel("ordered"), ds.rubrics, list(ds.judges)
    share = panel / (rubrics["levels"].to_numpy(dtype=float) - 1)[:, None]
    return share, np.unique(rubrics["query"].to_numpy(str), return_inverse=True)[1], judges


if __name__ == "__main__":
    rows = halves(Path(os.environ.get("CRUBRIC_REAL_DATA", "../shared/data")), 200)
    for at, row in enumerate(rows):
        print("| " + " | ".join(map(str, row)) + " |", flush=True)
        if not at:
            print("|" + " --- |" * len(row))
