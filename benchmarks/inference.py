"""Do the board's claims hold? Simulated tables of 15 systems, 104 queries, three judges (docs/method.md §10).

    python -m benchmarks.inference --tables 60 --page docs/inference.md
    python -m benchmarks.inference --real DIR --page docs/inference.md
    python -m benchmarks.inference --boards 1000 --page docs/inference.md

Cells that the results file holds are not run again. --systems, --judging, --per-query and --effect choose among them.
Both rules see the same tables: the cross-fitted ability, and the score with the paired t over queries; simultaneous
claims of both use the threshold of ``leaderboard.comparisons``.
"""

from __future__ import annotations

import argparse
import json
from itertools import product
from pathlib import Path

import numpy as np
from scipy.special import stdtrit

from benchmarks.inference_designs import JUDGING, SYSTEMS, Table, simulate
from benchmarks.inference_page import write_page
from benchmarks.inference_real import half_against_half
from benchmarks.inference_threshold import false_borders
from crubric_core.bank.greedy import greedy_bank
from crubric_core.irt.abilities import estimate_abilities, resample_abilities
from crubric_core.irt.fit import IrtFit, fit_irt
from crubric_core.irt.information import item_information
from crubric_core.leaderboard.bootstrap import draw_weights
from crubric_core.leaderboard.cross_fit import cross_fit
from crubric_core.leaderboard.inference import Inference, infer
from crubric_core.leaderboard.influence import ability_influence, score_influence

BANK, REPLICATES = 200, 300
PAIRS = np.triu_indices(15, 1)


def query_scores(table: Table) -> np.ndarray:
    """(M, n) share of known labels passed on each query; NaN where none is known."""
    known = ~np.isnan(table.y)
    starts = np.flatnonzero(np.diff(table.query, prepend=-1))
    passed = np.add.reduceat(np.where(known, table.y, 0), starts, axis=1)
    count = np.add.reduceat(known.astype(float), starts, axis=1)
    return np.divide(passed, count, out=np.full(passed.shape, np.nan), where=count > 0)


def claims(table: Table, seed: int) -> tuple[dict[str, Inference], IrtFit]:
    """Claims by both rules, "theta" and "score", and the pooled fit."""
    fit = fit_irt(table.y)
    cross = cross_fit(table.y, fit)
    scores = query_scores(table)
    omega = np.full(scores.shape[1], 1 / scores.shape[1])
    found = {
        "theta": ability_influence(cross, ~fit.constant, table.query),
        "score": score_influence(scores, omega),
    }
    return {name: infer(x, np.random.default_rng([8, seed])) for name, x in found.items()}, fit


def on_scale(theta: np.ndarray, estimate: np.ndarray, se: np.ndarray) -> np.ndarray:
    """(M,) the truth on the scale of the estimates by weighted least squares; data do not identify origin and unit."""
    design, weight = np.stack([np.ones_like(theta), theta], axis=1), 1 / se[:, None] ** 2
    return design @ np.linalg.solve(design.T @ (weight * design), design.T @ (weight[:, 0] * estimate))


def rates(table: Table, rule: Inference) -> dict[str, float]:
    """Shares of pairs that are separated, each pair alone and all at once, among equal and among different systems."""
    gap = (table.theta[:, None] - table.theta)[PAIRS]
    alone, together = rule.p_value[PAIRS] <= 0.05, rule.separated[PAIRS]
    same = gap == 0
    found = {"apart": alone[same].mean(), "border": float(together[same].any())}
    if not same.all():
        found |= {"found": alone[~same].mean(), "found all": together[~same].mean()}
    return found


def coverage(table: Table, rule: Inference, rng: np.random.Generator) -> dict[str, float]:
    """Shares of intervals that hold the truth, and their widths."""
    truth = on_scale(table.theta, rule.estimate, rule.se)
    alone = rule.difference_se * stdtrit(rule.n_units - 1, 0.975)
    gap = rule.difference - (truth[:, None] - truth)
    above = (table.theta > table.theta[:, None]).sum(axis=1)
    below = (table.theta < table.theta[:, None]).sum(axis=1)
    unit = truth.std() / table.theta.std()
    return {
        "theta": ((rule.low <= truth) & (truth <= rule.high)).mean(),
        "difference": (np.abs(gap) <= alone)[PAIRS].mean(),
        "rank": ((rule.rank_low <= 1 + above) & (rule.rank_high >= len(truth) - below)).mean(),
        "all ranks": float(((rule.rank_low <= 1 + above) & (rule.rank_high >= len(truth) - below)).all()),
        "width": np.median(rule.high - rule.low) / unit,
        "ranks wide": (rule.rank_high - rule.rank_low + 1).mean(),
    }


def papers_bank(table: Table, fit: IrtFit, rng: np.random.Generator) -> dict[str, float]:
    """The paper's intervals: a bank chosen and fitted on the labels that it ranks, rubrics drawn within queries."""
    grid = np.linspace(-4, 4, 41)
    weights = np.exp(-0.5 * grid**2)
    order, _ = greedy_bank(item_information(fit, grid), weights / weights.sum(), BANK)
    counts = np.zeros((REPLICATES, table.y.shape[1]))
    counts[:, order] = draw_weights(table.query[order], REPLICATES, rng, "plain")
    low, high = np.nanquantile(resample_abilities(fit, table.y, counts), [0.025, 0.975], axis=0)
    estimate = estimate_abilities(fit, table.y, order)
    truth = on_scale(table.theta, estimate.theta, estimate.sd)
    unit = truth.std() / table.theta.std()
    return {
        "bank theta": ((low <= truth) & (truth <= high)).mean(),
        "bank width": np.median(high - low) / unit,
    }


def run_cell(systems: str, per_query: int, effect: float, judging: str, tables: int) -> dict[str, float]:
    """Means over the simulated tables of one cell of the design."""
    rows = []
    for seed in range(tables):
        table = simulate(systems, per_query, effect, judging, seed)
        rules, fit = claims(table, seed)
        row = {f"{rule} {name}": x for rule, r in rules.items() for name, x in rates(table, r).items()}
        if systems == "clones":
            rng = np.random.default_rng([9, seed])
            row |= coverage(table, rules["theta"], rng)
            row |= papers_bank(table, fit, rng) if judging == "plain" else {}
        rows.append(row)
    return {name: float(np.mean([row[name] for row in rows])) for name in rows[0]} | {"tables": tables}


def main() -> None:
    """Run the chosen cells that have no result yet, and write the results and the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", type=int, default=60, help="simulated tables a cell")
    parser.add_argument("--systems", nargs="+", default=SYSTEMS, choices=SYSTEMS)
    parser.add_argument("--judging", nargs="+", default=JUDGING, choices=JUDGING)
    parser.add_argument("--per-query", nargs="+", type=int, default=(6, 39))
    parser.add_argument("--effect", nargs="+", type=float, default=(0.0, 1.0))
    parser.add_argument(
        "--real", type=Path, help="folder of real tables: half their queries against the other half"
    )
    parser.add_argument(
        "--boards", type=int, help="boards of identical systems by which to check the threshold alone"
    )
    parser.add_argument("--page-only", action="store_true", help="run nothing")
    parser.add_argument("--results", type=Path, default=Path("benchmarks/inference.json"))
    parser.add_argument("--page", type=Path, help="Markdown page to write from all results")
    args = parser.parse_args()
    known = json.loads(args.results.read_text()) if args.results.exists() else {}
    if args.real:
        known["real"] = half_against_half(args.real)
    if args.boards:
        known["threshold"] = false_borders(args.boards)
    other = args.real or args.boards or args.page_only
    wanted = () if other else product(args.judging, args.systems, args.per_query, args.effect)
    for judging, systems, per_query, effect in wanted:
        name = f"{systems}|{per_query}|{effect:g}|{judging}"
        if known.get(name, {}).get("tables", 0) < args.tables:
            known[name] = run_cell(systems, per_query, effect, judging, args.tables)
            print(name, json.dumps(known[name]), flush=True)
            args.results.write_text(json.dumps(known, indent=1))
    args.results.write_text(json.dumps(known, indent=1))
    if args.page:
        write_page(args.page, known)


if __name__ == "__main__":
    main()
