"""Simulated panels for the benchmark of claims: designs of the systems, and of the judges' errors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

QUERIES, JUDGES, ERROR = 104, 3, 0.1
SYSTEMS = ("identical", "groups", "clones")
JUDGING = ("plain", "leniency", "by rubric", "missing", "not at random", "shared")
ABOUT = {
    "identical": "15 systems of one ability",
    "groups": "three groups of 5, .5 apart",
    "clones": "10 systems N(0, 1) and a fresh copy of 5 of them",
    "plain": "3 judges, each wrong on 10% of the cells",
    "leniency": "and each lenient or strict, sd 1 logit",
    "by rubric": "rates of error that vary by rubric, Beta(2, 10)",
    "missing": "30% of the cells without labels",
    "not at random": "40% of the fails and 5% of the passes without labels",
    "shared": "all judges wrong together on 10% of the cells",
}


@dataclass(frozen=True)
class Table:
    """y: (15, J) majority labels, NaN missing. query: (J,). theta: (15,) true abilities."""

    y: np.ndarray
    query: np.ndarray
    theta: np.ndarray


def abilities(systems: str, rng: np.random.Generator) -> np.ndarray:
    """(15,) true abilities of a design in SYSTEMS."""
    if systems == "identical":
        return np.zeros(15)
    if systems == "groups":
        return np.repeat([0.5, 0.0, -0.5], 5)
    theta = rng.normal(size=10)
    return np.r_[theta, theta[:5]]


def simulate(
    systems: str, per_query: int, effect: float, judging: str, seed: int, queries: int = QUERIES
) -> Table:
    """One table: 2PL rubrics (log a ~ N(0, .4²), b ~ N(0, 1.2²)), a system × query effect of sd ``effect`` logits."""
    rng = np.random.default_rng([7, seed])
    theta, size = abilities(systems, rng), queries * per_query
    query = np.repeat(np.arange(queries), per_query)
    a, b = np.exp(rng.normal(0, 0.4, size)), rng.normal(0, 1.2, size)
    mood = effect * rng.normal(size=(15, queries))[:, query]
    truth = rng.random((15, size)) < expit(a * (theta[:, None] - b) + mood)
    y = judged(truth, judging, rng)
    if judging == "missing":
        y[rng.random(y.shape) < 0.3] = np.nan
    if judging == "not at random":
        y[rng.random(y.shape) < np.where(y == 1, 0.05, 0.4)] = np.nan
    return Table(y, query, theta)


def judged(truth: np.ndarray, judging: str, rng: np.random.Generator) -> np.ndarray:
    """(M, J) majority labels of three judges, who err on the true labels in the way that ``judging`` names."""
    rate = rng.beta(2, 10, truth.shape[1]) if judging == "by rubric" else ERROR
    leniency = rng.normal(size=JUDGES) if judging == "leniency" else np.zeros(JUDGES)
    seen = truth ^ (rng.random(truth.shape) < 0.1) if judging == "shared" else truth
    sure = logit(1 - np.asarray(rate))
    votes = sum(rng.random(truth.shape) < expit(np.where(seen, sure, -sure) + shift) for shift in leniency)
    return (votes > JUDGES / 2).astype(float)
