"""Two ways to find differences that are not there, each with what the board does against it.

    python -m benchmarks.false_differences [--tables 200]

Both are over all pairs at once, nominal 5%. First: two groups of four systems, abilities 2.4 apart, on 40 queries of
four rubrics of which the groups share some; a board is wrong that separates any pair the other way round. Second:
eight identical systems on 20 queries of five rubrics, compared by their scores with the weights nu of the model, which
is fitted to the same labels, and without. Judges as in ``inference_designs``: plain, and all wrong together.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np
from scipy.special import expit

from benchmarks.inference_designs import judged
from crubric_core import fit_irt
from crubric_core.irt.information import posterior_weighted_information
from crubric_core.leaderboard.cross_fit import cross_fit
from crubric_core.leaderboard.inference import Inference, infer
from crubric_core.leaderboard.influence import ability_influence, score_influence
from crubric_core.task_types.scoring import query_scores

SHARED = (0, 1, 4, 8, 16)
EFFECT = 0.7  # sd of the system × query effect, in logits


def labels(
    theta: np.ndarray, queries: int, per_query: int, judging: str, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Majority labels (M, J) of 2PL rubrics (log a ~ N(0, .4²), b ~ N(0, 1.2²)), and the query of each rubric."""
    rng, size = np.random.default_rng([9, seed]), queries * per_query
    query = np.repeat(np.arange(queries), per_query)
    a, b = np.exp(rng.normal(0, 0.4, size)), rng.normal(0, 1.2, size)
    mood = EFFECT * rng.normal(size=(len(theta), queries))[:, query]
    truth = rng.random((len(theta), size)) < expit(a * (theta[:, None] - b) + mood)
    return judged(truth, judging, rng), query


def wrong(found: Inference, theta: np.ndarray) -> bool:
    """Whether any separated pair is equal in truth, or the other way round."""
    return bool((found.separated & (np.sign(found.difference) * (theta[:, None] - theta) <= 0)).any())


def of_groups(shared: int, seed: int) -> tuple[bool, bool]:
    """Whether the board is wrong if all pairs are compared, and if only linked ones are."""
    theta = np.r_[np.linspace(-1, 1, 4) + 1.2, np.linspace(-1, 1, 4) - 1.2]
    y, query = labels(theta, 40, 4, "plain", seed)
    y[:4, query >= (40 + shared) // 2] = np.nan
    y[4:, query < (40 - shared) // 2] = np.nan
    fit = fit_irt(y)
    linked = ability_influence(cross_fit(y, fit), ~fit.constant, query)
    boards = (infer(x, np.random.default_rng(1)) for x in (replace(linked, group=None), linked))
    first, second = (wrong(board, theta) for board in boards)
    return first, second


def of_scores(judging: str, seed: int) -> tuple[bool, bool]:
    """Whether scores with the weights nu, and without them, find a difference among identical systems."""
    theta = np.zeros(8)
    y, query = labels(theta, 20, 5, judging, seed)
    weights = (posterior_weighted_information(fit_irt(y), y), np.ones(y.shape[1]))
    boards = (score_influence(query_scores(y, w, query, 20), np.ones(20)) for w in weights)
    first, second = (wrong(infer(board, np.random.default_rng(1)), theta) for board in boards)
    return first, second


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tables", type=int, default=200)
    tables = parser.parse_args().tables
    print("| queries that the groups share | all pairs compared | linked pairs |\n| --- | --- | --- |")
    for shared in SHARED:
        rates = np.mean([of_groups(shared, seed) for seed in range(tables)], axis=0)
        print(f"| {shared} | {rates[0]:.3f} | {rates[1]:.3f} |", flush=True)
    print("\n| judges | score with nu | score without |\n| --- | --- | --- |")
    for judging in ("plain", "shared"):
        rates = np.mean([of_scores(judging, seed) for seed in range(tables)], axis=0)
        print(f"| {judging} | {rates[0]:.3f} | {rates[1]:.3f} |", flush=True)


if __name__ == "__main__":
    main()
