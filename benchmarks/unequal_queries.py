"""Do a board's claims hold where systems were labelled on different queries?

    python -m benchmarks.unequal_queries [--tables 40]

12 identical systems on 200 queries of five rubrics (2PL, log a ~ N(0, .3²), b of a query N(0, 1), of its rubrics .8²
around it), a system × query effect of sd .5 logits, three judges who are wrong on 10% of the cells. A false border: any
pair is separated, all pairs at once, nominal 5%. Plain: scores as means over each system's own queries. Last row:
answers of one system are missing on the queries where it does worst, as if it had failed there; no board can tell.
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy.special import expit

from crubric_core import fit_irt
from crubric_core.leaderboard.cross_fit import cross_fit
from crubric_core.leaderboard.inference import infer
from crubric_core.leaderboard.influence import Influence, ability_influence, score_influence
from crubric_core.task_types.scoring import query_scores

SYSTEMS, QUERIES, PER_QUERY, EFFECT, ERROR = 12, 200, 5, 0.5, 0.1
DESIGNS = (
    "all have all queries",
    "one lacks 40%, at random",
    "one lacks the hardest 40%",
    "one lacks the easiest 40%",
    "half lack the hardest 20%",
    "one lacks its worst 15%",
)


def simulate(design: str, seed: int) -> np.ndarray:
    """(M, J) majority labels, NaN on queries that a system lacks."""
    rng = np.random.default_rng([31, seed])
    size = QUERIES * PER_QUERY
    hard = rng.normal(size=QUERIES)
    a, b = np.exp(rng.normal(0, 0.3, size)), hard.repeat(PER_QUERY) + 0.8 * rng.normal(size=size)
    mood = EFFECT * rng.normal(size=(SYSTEMS, QUERIES)).repeat(PER_QUERY, axis=1)
    truth = rng.random((SYSTEMS, size)) < expit(mood - a * b)
    votes = np.sum([truth ^ (rng.random(truth.shape) < ERROR) for _ in range(3)], axis=0)
    y = (votes > 1).astype(float)
    lacks = np.zeros((SYSTEMS, QUERIES), dtype=bool)
    order = hard.argsort()
    if design.endswith("at random"):
        lacks[0] = rng.random(QUERIES) < 0.4
    elif design.endswith("hardest 40%"):
        lacks[0, order[-int(0.4 * QUERIES) :]] = True
    elif design.endswith("easiest 40%"):
        lacks[0, order[: int(0.4 * QUERIES)]] = True
    elif design.startswith("half"):
        lacks[: SYSTEMS // 2, order[-int(0.2 * QUERIES) :]] = True
    elif design.endswith("worst 15%"):
        passed = truth[0].reshape(QUERIES, PER_QUERY).mean(axis=1)
        lacks[0, passed.argsort(kind="stable")[: int(0.15 * QUERIES)]] = True
    y[lacks.repeat(PER_QUERY, axis=1)] = np.nan
    return y


def plain(scores: np.ndarray) -> Influence:
    """Mean score of each system over its own queries, as if all systems had the same queries."""
    rows = [score_influence(row[None], np.ones(len(row))) for row in scores]
    return Influence(
        estimate=np.concatenate([row.estimate for row in rows]),
        psi=np.hstack([row.psi for row in rows]),
        n_units=np.concatenate([row.n_units for row in rows]),
        unit="query",
        floor=np.concatenate([row.floor for row in rows]),
        within_variance=np.full(len(scores), np.nan),
        saturated=np.concatenate([row.saturated for row in rows]),
    )


def borders(design: str, seed: int) -> tuple[bool, bool, bool]:
    """Whether any pair is separated: by theta, by the score, and by the plain score."""
    y, query = simulate(design, seed), np.repeat(np.arange(QUERIES), PER_QUERY)
    fit = fit_irt(y)
    scores = query_scores(y, np.ones(y.shape[1]), query, QUERIES)
    found = (
        ability_influence(cross_fit(y, fit), ~fit.constant, query),
        score_influence(scores, np.ones(QUERIES)),
        plain(scores),
    )
    theta, score, own = (bool(infer(x, np.random.default_rng(1)).separated.any()) for x in found)
    return theta, score, own


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tables", type=int, default=40)
    tables = parser.parse_args().tables
    print("| queries | theta | score | score, plain |\n| --- | --- | --- | --- |")
    for design in DESIGNS:
        rates = np.mean([borders(design, seed) for seed in range(tables)], axis=0)
        print(f"| {design} | {' | '.join(f'{rate:.2f}' for rate in rates)} |", flush=True)


if __name__ == "__main__":
    main()
