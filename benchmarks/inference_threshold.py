"""How often the threshold of all pairs separates identical systems, by numbers of units and systems."""

from __future__ import annotations

import numpy as np

from crubric_core.leaderboard.comparisons import compare, pair_errors
from crubric_core.leaderboard.inference import evidence_of
from crubric_core.leaderboard.influence import score_influence
from crubric_core.leaderboard.simultaneous import largest_differences, threshold

CASES = ((5, 15), (8, 15), (15, 15), (30, 15), (104, 15), (30, 60), (104, 60))
DRAWS = 800


def false_borders(boards: int) -> dict[str, dict[str, float]]:
    """Map "units|systems" → shares of boards with a separated pair, by the normal threshold and the one in use."""
    found = {}
    for units, systems in CASES:
        rng, wrong = np.random.default_rng([units, systems]), np.zeros(2)
        for _ in range(boards):
            scores = rng.normal(0.5, 0.1, (systems, units))
            evidence = evidence_of(score_influence(scores, np.ones(units), low=-np.inf, high=np.inf))
            draws = rng.standard_normal((DRAWS, units)) @ evidence.contributions
            upper = np.triu_indices(systems, 1)
            c = threshold(largest_differences(draws, pair_errors(evidence)), 0.95)
            pairs = compare(evidence, draws)
            plain = np.abs(pairs.difference[upper]) > c * pairs.se[upper]
            wrong += [plain.any(), pairs.separated.any()]
        found[f"{units}|{systems}"] = {
            "normal": wrong[0] / boards,
            "used": wrong[1] / boards,
            "boards": boards,
        }
        print(units, systems, found[f"{units}|{systems}"], flush=True)
    return found
