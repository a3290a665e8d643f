"""Compare half of the queries of a real table with the other half: do separated pairs keep their order?"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from crubric_core import Workspace, fit_irt
from crubric_core.intervals import jackknife_half_width
from crubric_core.leaderboard.cross_fit import cross_fit
from crubric_core.leaderboard.inference import Inference, infer
from crubric_core.leaderboard.influence import ability_influence, score_influence

DATASETS = ("dialsummeval", "wildbench", "hellobench", "eulegal_prbench")
SPLITS = 90


def half_against_half(folder: Path) -> dict[str, dict[str, float]]:
    """Rates of each dataset in ``folder``, over SPLITS random halves and both directions."""
    found = {}
    for name in DATASETS:
        if (folder / name / "labels.csv").exists():
            y, query = load(folder / name)
            found[name] = rates(y, query) | {
                "systems": len(y),
                "rubrics": y.shape[1],
                "queries": query.max() + 1,
            }
            found[name] = {key: float(value) for key, value in found[name].items()}
            print(name, found[name], flush=True)
    return found


def load(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Majority labels (M, J) and the query of each rubric (J,), of the dataset in a folder."""
    with Workspace() as workspace:
        for kind in ("queries", "rubrics", "labels"):
            if (file := folder / f"{kind}.csv").exists():
                workspace.ingest(file, "real", kind)
        reduction = workspace.dataset("real").reduce("binary", "unknown", 0)
    return reduction.y, np.unique(reduction.rubrics["query"].to_numpy(str), return_inverse=True)[1]


def rates(y: np.ndarray, query: np.ndarray) -> dict[str, float]:
    """Shares of pairs separated, and of these reversed in the other half, by both rules, alone and all at once."""
    rng = np.random.default_rng(0)
    counts: dict[str, np.ndarray] = {}  # (4, P): splits, separated, reversed, significantly, of each pair
    for _ in range(SPLITS):
        first = np.isin(query, rng.permutation(query.max() + 1)[: (query.max() + 1) // 2])
        halves = [claims(y[:, half], query[half]) for half in (first, ~first)]
        for here, there in (halves, halves[::-1]):
            for rule in ("theta", "score"):
                for at_once in (False, True):
                    apart, sign = pairs(here[rule], at_once)
                    other_apart, other_sign = pairs(there[rule], at_once)
                    reversed_ = apart & (sign * other_sign < 0)
                    name = f"{rule} {'all' if at_once else 'alone'}"
                    add(counts, name, apart, reversed_, reversed_ & other_apart)
                    if rule == "theta":
                        same = most_separated(here["score"], int(apart.sum()))
                        sign, other_sign = (pairs(half["score"], at_once)[1] for half in (here, there))
                        add(counts, f"matched {name}", same, same & (sign * other_sign < 0), same & False)
    out = {}
    for name, of_pairs in counts.items():
        pairs_, separated, reversed_, significantly = of_pairs.sum(axis=1)
        out[f"{name} separated"] = separated / pairs_
        out[f"{name} reversed"] = reversed_ / max(separated, 1)
        out[f"{name} significantly"] = significantly / max(separated, 1)
    for kind in ("alone", "all"):
        ratio = reversal_ratio(counts[f"theta {kind}"], counts[f"matched theta {kind}"], len(y))
        out |= {f"{kind} ratio{end}": value for end, value in zip(("", " low", " high"), ratio, strict=True)}
    return out


def add(counts: dict[str, np.ndarray], name: str, *masks: np.ndarray) -> None:
    """Add to the running counts of each pair: splits, separated, reversed, significantly reversed."""
    counts[name] = counts.get(name, 0) + np.stack([np.ones_like(masks[0]), *masks]).astype(int)


def reversal_ratio(first: np.ndarray, second: np.ndarray, systems: int) -> tuple[float, float, float]:
    """Share reversed of the first over that of the second, with its 95% interval.

    The interval is the jackknife's over systems, on the log scale with Student's t; NaN where either share is 0 with or
    without a system. It speaks of systems like these on the queries of this table.
    """
    one, other = np.triu_indices(systems, 1)

    def log_ratio(keep: np.ndarray) -> float:
        shares = [counts[2, keep].sum() / max(counts[1, keep].sum(), 1) for counts in (first, second)]
        return float(np.log(shares[0] / shares[1])) if min(shares) > 0 else float("nan")

    whole = log_ratio(one >= 0)
    without = np.array([log_ratio((one != k) & (other != k)) for k in range(systems)])
    half = float(jackknife_half_width(without, 0.95))
    low, middle, high = np.exp([whole - half, whole, whole + half])
    return float(middle), float(low), float(high)


def claims(y: np.ndarray, query: np.ndarray) -> dict[str, Inference]:
    """Claims by both rules, "theta" and "score", on one half of the queries."""
    fit = fit_irt(y)
    units = np.unique(query, return_inverse=True)[1]
    scores = np.full((len(y), units.max() + 1), np.nan)
    for q in range(scores.shape[1]):
        labels = y[:, units == q]
        known = ~np.isnan(labels)
        count = known.sum(axis=1)
        passed = np.where(known, labels, 0).sum(axis=1)
        scores[:, q] = np.divide(passed, count, out=np.full(len(y), np.nan), where=count > 0)
    found = {
        "theta": ability_influence(cross_fit(y, fit), ~fit.constant, units),
        "score": score_influence(scores, np.ones(scores.shape[1])),
    }
    return {rule: infer(x, np.random.default_rng(1)) for rule, x in found.items()}


def pairs(rule: Inference, at_once: bool) -> tuple[np.ndarray, np.ndarray]:
    """(P,) whether each pair is separated, and the sign of its difference."""
    upper = np.triu_indices(len(rule.estimate), 1)
    p = (rule.p_simultaneous if at_once else rule.p_value)[upper]
    return p <= 0.05, np.sign(rule.difference[upper])


def most_separated(rule: Inference, count: int) -> np.ndarray:
    """(P,) the ``count`` pairs with the smallest p-values."""
    p = rule.p_value[np.triu_indices(len(rule.estimate), 1)]
    chosen = np.zeros(len(p), dtype=bool)
    chosen[np.argsort(p, kind="stable")[:count]] = True
    return chosen
