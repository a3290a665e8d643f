"""Three ways to find differences that are not there, each with what the board does against it.

    python -m benchmarks.false_differences [--tables 200]

All are over all pairs at once, nominal 5%. First: two groups of four systems, abilities 2.4 apart, on 40 queries of
four rubrics of which the groups share some; a board is wrong that separates any pair the other way round. Second:
eight identical systems on 20 queries of five rubrics, compared by their scores with the weights nu of the model, which
is fitted to the same labels, and without. Judges as in ``inference_designs``: plain, and all wrong together. Third:
eight identical systems on 24 domains of five queries of five rubrics, which may do well or badly on whole domains, by
queries and by domains, also where one of 21 domains has 40 of the queries; and, of systems .3 apart, the share of pairs
that are separated.
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
from crubric_core.leaderboard.influence import Domains, ability_influence, score_influence
from crubric_core.task_types.scoring import query_scores

SHARED = (0, 1, 4, 8, 16)
EFFECT = 0.7  # sd of the system × query effect, and of the system × domain effect, in logits
DOMAINS = {"equal": [5] * 24, "one of 40": [40, *[4] * 20]}  # queries of each; 120 together


def labels(
    theta: np.ndarray,
    queries: int,
    per_query: int,
    judging: str,
    seed: int,
    by_domain: float = 0.0,
    sizes: str = "equal",
) -> tuple[np.ndarray, np.ndarray]:
    """Majority labels (M, J) of 2PL rubrics (log a ~ N(0, .4²), b ~ N(0, 1.2²)), and the query of each rubric.

    by_domain: sd of the system × domain effect, in logits. sizes: the domains, by name.
    """
    rng, size = np.random.default_rng([9, seed]), queries * per_query
    query = np.repeat(np.arange(queries), per_query)
    a, b = np.exp(rng.normal(0, 0.4, size)), rng.normal(0, 1.2, size)
    mood = EFFECT * rng.normal(size=(len(theta), queries))[:, query]
    domain = domains_of(sizes)[query]
    mood += by_domain * np.random.default_rng([10, seed]).normal(size=(len(theta), queries))[:, domain]
    truth = rng.random((len(theta), size)) < expit(a * (theta[:, None] - b) + mood)
    return judged(truth, judging, rng), query


def domains_of(sizes: str) -> np.ndarray:
    """(120,) domain of each query. sizes: a key of DOMAINS."""
    return np.repeat(np.arange(len(DOMAINS[sizes])), DOMAINS[sizes])


def wrong(found: Inference, theta: np.ndarray) -> bool:
    """Whether any separated pair is truly equal, or truly in the opposite order."""
    return bool((found.separated & (np.sign(found.difference) * (theta[:, None] - theta) <= 0)).any())


def of_groups(shared: int, seed: int) -> tuple[bool, bool]:
    """Whether the board is wrong (``wrong``) if all pairs are compared, and if only linked pairs are."""
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


def of_domains(
    theta: np.ndarray, by_domain: float, seed: int, sizes: str = "equal"
) -> list[tuple[bool, float]]:
    """Whether the board is wrong, and the share of pairs separated: θ by queries and by domains, then the score."""
    of = domains_of(sizes)
    size, domains = len(of), Domains(of, np.ones(of.max() + 1, dtype=bool))
    y, query = labels(theta, size, 5, "plain", seed, by_domain, sizes)
    fit = fit_irt(y)
    cross, scores = cross_fit(y, fit), query_scores(y, np.ones(y.shape[1]), query, size)
    ability = [ability_influence(cross, ~fit.constant, query, domains=units) for units in (None, domains)]
    score = [score_influence(scores, np.ones(size), domains=units) for units in (None, domains)]
    boards = [infer(found, np.random.default_rng(1)) for found in (*ability, *score)]
    return [(wrong(board, theta), board.separated[np.triu_indices(len(theta), 1)].mean()) for board in boards]


def main() -> None:
    """Print the tables."""
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
    print(
        "\n| domains | sd by domain | what | θ by queries | θ by domains | score by queries | score by domains |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for sizes, by_domain in (("equal", 0.0), ("equal", EFFECT), ("one of 40", EFFECT)):
        for what, theta in (("false", np.zeros(8)), ("separated", 0.3 * np.arange(-3.5, 4))):
            found = [of_domains(theta, by_domain, seed, sizes) for seed in range(tables)]
            shown = np.mean(found, axis=0)[:, int(what == "separated")]
            print(
                f"| {sizes} | {by_domain} | {what} | {' | '.join(f'{rate:.3f}' for rate in shown)} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
