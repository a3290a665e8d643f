"""Claims about judges if few queries have most of the rubrics (docs/method.md §5)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.special import expit

from crubric_core.judges.rates import judge_rates
from crubric_core.judges.reliability import leniency
from crubric_core.judges.self_consistency import over_queries
from crubric_core.types import FloatArray, IntArray

DESIGNS = {
    "30 of 6": ((30, 6),),
    "1 of 60, 29 of 4": ((1, 60), (29, 4)),
    "3 of 40, 30 of 2": ((3, 40), (30, 2)),
    "2 of 100, 40 of 3": ((2, 100), (40, 3)),
}
SYSTEMS, JUDGES, RIGHT = 8, 3, 2.2  # RIGHT: logit of a right label


def lopsided_judges(seed: int, sizes: IntArray, sd: float) -> tuple[FloatArray, FloatArray, IntArray]:
    """Truth (M, J), labels (M, J, K) of judges with the same distribution, and the query of each rubric (J,).

    sizes: number of rubrics of each query. sd: of a judge's leniency over queries, in logits.
    """
    rng, query = np.random.default_rng([seed, sizes.sum()]), np.repeat(np.arange(len(sizes)), sizes)
    truth = rng.random((SYSTEMS, len(query))) < 0.5
    lenient = sd * rng.normal(size=(len(sizes), JUDGES))[query]
    passes = expit(np.where(truth, RIGHT, -RIGHT)[:, :, None] + lenient)
    return truth.astype(float), (rng.random(passes.shape) < passes).astype(float), query


def lopsided(tables: int) -> Iterator[tuple[object, ...]]:
    """How often equal judges are reported lenient or strict, and intervals of their rates and self-consistency hold."""
    yield "queries of rubrics", "leniency over queries", "lenient or strict", "rates held", "repeats held"
    normal = np.random.default_rng(9).normal(size=200_000)
    for name, design in DESIGNS.items():
        sizes = np.repeat([each for _, each in design], [n for n, _ in design])
        for sd in (0.0, 0.7):
            true, shown, held, repeats = expit(RIGHT + sd * normal).mean(), [], [], []
            for seed in range(tables):
                truth, panel, query = lopsided_judges(seed, sizes, sd)
                found = leniency(panel, query)
                shown.append(((found.low > 0) | (found.high < 0)).any())
                rates = judge_rates(panel.reshape(-1, JUDGES), truth.reshape(-1), np.tile(query, SYSTEMS))
                held += [(r.low <= true) & (true <= r.high) for r in (rates.sensitivity, rates.specificity)]
                rng, draws = np.random.default_rng([seed, 1]), SYSTEMS * sizes
                again = rng.binomial(draws, expit(RIGHT + sd * rng.normal(size=len(sizes))))
                low, high = over_queries(draws.astype(float), again.astype(float))
                repeats.append(low <= true <= high)
            yield (
                *(name, f"sd {sd:g}", f"{np.mean(shown):.1%}"),
                *(f"{np.mean(held):.1%}", f"{np.mean(repeats):.1%}"),
            )
