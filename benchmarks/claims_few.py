"""Boards of fewer than six systems: false separations of equal systems, and whether intervals hold the pass rate."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.special import expit, logit, ndtri

from benchmarks.tables import short
from crubric_core.leaderboard.inference import infer
from crubric_core.leaderboard.influence import score_influence

SPREAD = (1.0, 0.5)  # sd, in logits: of queries, and of each system on a query
FAILING = ((3, 20, 4, 0.1), (3, 100, 4, 0.01), (5, 30, 10, 0.03), (5, 50, 10, 0.02), (5, 100, 10, 0.05))
"""Systems, queries, rubrics a query, share of queries on which a system fails all rubrics; on others it passes .98."""
PASSED = 0.98
QUANTILES = ndtri((np.arange(2000) + 0.5) / 2000)


def few(tables: int) -> Iterator[tuple[object, ...]]:
    """First equal systems: ``middle`` is the pass rate of a median query, ``true`` the mean rate over queries.

    Then equal systems that pass nearly all rubrics, but fail all rubrics of some queries.
    """
    yield (
        "systems",
        "queries",
        "rubrics a query",
        "true rate",
        "false separation",
        "interval holds the rate",
        "width",
    )
    for systems, queries, rubrics in (
        (2, 20, 1),
        (2, 100, 1),
        (2, 100, 4),
        (5, 20, 1),
        (5, 20, 4),
        (5, 100, 4),
    ):
        for middle in (0.5, 0.8, 0.97):
            true = float(expit(logit(middle) + np.hypot(*SPREAD) * QUANTILES).mean())
            false, held, width = 0, [], []
            for seed in range(tables):
                rng = np.random.default_rng([41, seed])
                of_query, of_both = (
                    sd * rng.normal(size=(n, queries, 1)) for sd, n in zip(SPREAD, (1, systems), strict=True)
                )
                met = rng.random((systems, queries, rubrics)) < expit(logit(middle) + of_query + of_both)
                found = infer(score_influence(met.mean(axis=2), np.ones(queries)), rng)
                false += bool(found.separated.any())
                held.append((found.low <= true) & (true <= found.high))
                width.append(found.high - found.low)
            yield (
                systems,
                queries,
                rubrics,
                short(true),
                short(false / tables, ".3f"),
                short(float(np.mean(held)), ".3f"),
                short(float(np.mean(width))),
            )
    yield ()
    yield (
        "systems",
        "queries",
        "rubrics a query",
        "fails all rubrics of",
        "false separation",
        "interval holds the rate",
    )
    for systems, queries, rubrics, failing in FAILING:
        false, held = 0, []
        for seed in range(tables):
            rng = np.random.default_rng([42, seed])
            answered = rng.random((systems, queries)) >= failing
            scores = rng.binomial(rubrics, PASSED, (systems, queries)) / rubrics * answered
            found = infer(score_influence(scores, np.ones(queries)), rng)
            true = PASSED * (1 - failing)
            false += bool(found.separated.any())
            held.append((found.low <= true) & (true <= found.high))
        shares = (short(float(share), ".3f") for share in (false / tables, np.mean(held)))
        yield systems, queries, rubrics, f"{failing:.0%}", *shares
