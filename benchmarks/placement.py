"""A new system judged on the bank alone: does it come to the place that all rubrics would give it?

    python -m benchmarks.placement --page docs/placement.md          # all tables, then simulated clones, then the page
    python -m benchmarks.placement --datasets demo --clones 0        # one table, printed

Each system of a table is held out in turn: its item parameters are those of the fit without it (the folds of the
cross-fit), its bank is chosen without it, and it is placed among the others at their pool abilities. Its own pool
ability, rank and record are the truth that the placement is compared with. Results are kept in
benchmarks/placement.json, so that a run goes on where the last one stopped.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import kendalltau

from benchmarks.placement_page import write_page
from benchmarks.selection import DATASETS, REAL, load
from crubric_core import Settings, Workspace
from crubric_core.analysis.fitted import with_rules
from crubric_core.analysis.pipeline import analyse, result_of
from crubric_core.analysis.reference import reference_on_pool
from crubric_core.analysis.selection import query_positions
from crubric_core.analysis.stages import Analysis
from crubric_core.bank.item_spread import item_spread
from crubric_core.irt.abilities import estimate_abilities
from crubric_core.judging.settling import Settled, settle, settle_one
from crubric_core.leaderboard.reference import Reference
from crubric_core.leaderboard.transfer import transfer_excess, transfer_variance
from crubric_core.placement.among import SystemEvidence, evidence_of_system, stand_among
from crubric_core.placement.bank_scale import BankScale, bank_scale_of
from crubric_core.placement.new_labels import labels_on_bank
from crubric_core.placement.outlook import Forecast
from crubric_core.placement.place import place_systems

KEPT = Path(__file__).with_suffix(".json")
BUDGET = 60
OTHER_BUDGETS = (30, 120)  # few systems give an imprecise rate: each is placed on banks of these sizes, too
CONFIDENCE = 0.95  # of a settled tier
RANDOM = 20  # random banks of the same size
EFFECTS = (0.0, 0.7)  # sd of a system's effect on a query, in logits
Row = dict[str, float]


def held_out(name: str, budget: int = BUDGET) -> Row | None:
    """Rates over the systems of one table, each held out in turn; None if its folder is absent."""
    with Workspace() as workspace:
        if not load(workspace, name):
            return None
        data = workspace.dataset(name if name != "demo" else workspace.datasets()["name"].iloc[0])
        settings = with_rules(data, Settings(budget=budget))
        analysis = Analysis(dataset=data, fingerprint=data.fingerprint, settings=settings)
        reduction, cross, pool = analysis.reduction(), analysis.folds(), analysis.pool
        banks, judges = analysis.bank_masks(), reduction.n_judges
        positions = query_positions(analysis.queries(), reduction)
        excess = transfer_excess(cross, pool, banks, positions)
        reference = reference_on_pool(reduction, analysis.ranking_on(pool))
    assert reference is not None
    queries = reduction.rubrics["query"].to_numpy(str)
    names = (*reference.queries, *sorted(set(queries) - set(reference.queries)))
    unit = np.array([{q: n for n, q in enumerate(names)}[q] for q in queries], dtype=np.int64)
    rng = np.random.default_rng([0, 5])
    chosen_by_chance = [rng.permutation(np.flatnonzero(pool))[:budget] for _ in range(RANDOM)]
    placed, random, rows = [], [], []
    for s in range(len(reduction.y)):
        others = np.arange(len(reduction.y)) != s
        fit = replace(cross.fold_fit(int(cross.fold[s])), theta=cross.pooled.theta[others])
        bank = np.flatnonzero(banks[cross.fold[s]])
        spread = item_spread(fit, reduction.y[others])
        sampled = evidence_of_system(fit, spread, reduction.y[s], bank, unit, len(names), 0)
        new = replace(sampled, transfer=transfer_variance(excess[others]))
        placed.append(new.theta)
        random.append(
            [estimate_abilities(fit, reduction.y[[s]], rows_).theta[0] for rows_ in chosen_by_chance]
        )
        plain = _one(reference, sampled, s)
        rows.append(
            _one(reference, new, s)
            | {f"{name}, sampling alone": plain[name] for name in ("theta covered", "rank covered", "itself")}
            | {"se": new.se, "se, sampling alone": sampled.se}
        )
    found = {key: float(np.mean([row[key] for row in rows])) for key in rows[0]}
    return (
        found
        | _orders(reference.theta, np.array(placed), np.array(random))
        | {
            "systems": float(len(rows)),
            "pool": float(pool.sum()),
            "bank": float(budget),
            "saved": 1 - budget / len(pool),
            "judgements": float(judges * budget),
            "all judgements": float(judges * len(pool)),
        }
    )


def _one(reference: Reference, new: SystemEvidence, s: int) -> Row:
    """Results of placing system ``s``, compared with its ability and rank on the pool."""
    among = stand_among(reference.without(s), new, 0.95, 0)
    whole = stand_among(reference, new, 0.95, 0)
    rank = 1 + int((reference.theta > reference.theta[s]).sum())
    return {
        "theta covered": float(among.theta_low[-1] <= reference.theta[s] <= among.theta_high[-1]),
        "rank covered": float(among.rank_low[-1] <= rank <= among.rank_high[-1]),
        "rank error": abs(float(among.rank[-1]) - rank),
        "rank width": float(among.rank_high[-1] - among.rank_low[-1] + 1),
        "itself": float(whole.separated[-1, s]),
    }


def _orders(theta: np.ndarray, placed: np.ndarray, random: np.ndarray) -> Row:
    """Kendall's tau of the bank and of random banks with the pool, and the mean rank error of random banks."""
    taus = [kendalltau(theta, bank).statistic for bank in random.T]
    size = len(theta)
    errors = [
        abs((theta[np.arange(size) != s] > random[s, k]).sum() - (theta > theta[s]).sum())
        for s in range(size)
        for k in range(random.shape[1])
    ]
    return {
        "tau": float(kendalltau(theta, placed).statistic),
        "random tau": float(np.mean(taus)),
        "random tau low": float(np.quantile(taus, 0.025)),
        "random tau high": float(np.quantile(taus, 0.975)),
        "random rank error": float(np.mean(errors)),
    }


def clones(effect: float, seed: int) -> Row:
    """Place a clone of each system of one simulated table as large as dialsummeval: 14 systems, 400 rubrics.

    A clone has the ability of its system; its labels and query effects are drawn anew. effect: sd of the query effects,
    in logits.
    """
    theta, _, fresh, bank_scale = simulated(effect, seed, twins=True)
    labels = labels_on_bank(bank_scale.systems, fresh, bank_scale.judges)
    found = place_systems(bank_scale, labels).placements
    return {
        "clones": float(len(theta)),
        "separated": float(sum(p.standing.separated[-1, i] for i, p in enumerate(found))),
        "rank covered": float(sum(_holds(p.standing, theta, i) for i, p in enumerate(found))),
    }


def simulated(
    effect: float, seed: int, *, twins: bool, spread: float = 1.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray, BankScale]:
    """Abilities of 14 systems, of 14 new ones, labels (14, 60) of the new ones on the first ones' bank, and that bank.

    twins: whether the new ones have the abilities of the first. spread: sd of the abilities.
    """
    rng = np.random.default_rng([seed, int(10 * effect)])
    systems, queries, each = 14, 100, 4
    theta, query = rng.normal(0, spread, systems), np.arange(queries * each) // each
    a, b = np.exp(rng.normal(0, 0.4, len(query))), rng.normal(0, 1.2, len(query))
    old = _draw(rng, theta, a, b, query, effect)
    abilities = theta if twins else np.random.default_rng([seed, 1]).normal(0, spread, systems)
    new = _draw(rng, abilities, a, b, query, effect)
    lines = [f"s{i:02},q{query[j]:03},r{j:03},judge,{old[i, j]:.0f}" for i, j in np.ndindex(old.shape)]
    with Workspace() as workspace:
        workspace.ingest("\n".join(["system,query,rubric,judge,label", *lines]).encode(), "t", format="csv")
        analysis = analyse(workspace.dataset("t"), Settings(budget=BUDGET))
        made, transfer = result_of(analysis), analysis.transfer()
    return theta, abilities, new[:, np.sort(made.chosen)], bank_scale_of(made, transfer=transfer)


def stopping(effect: float, seed: int) -> Row:
    """14 new systems on the bank of one simulated table, each judged until its tier is settled."""
    _, _, new, bank_scale = simulated(effect, seed, twins=False)
    forecast = Forecast(bank_scale)
    rows = [settle_one(bank_scale, forecast, y, CONFIDENCE) for y in new]
    return _stops(Settled(*(np.array(column) for column in zip(*rows, strict=True))))


def stopping_on(name: str) -> Row | None:
    """The systems of one table, each judged as a new one until its tier is settled; None if its folder is absent."""
    with Workspace() as workspace:
        if not load(workspace, name):
            return None
        data = workspace.dataset(name if name != "demo" else workspace.datasets()["name"].iloc[0])
        analysis = analyse(data, with_rules(data, Settings(budget=BUDGET)))
        made, transfer = result_of(analysis), analysis.transfer()
    return _stops(settle(bank_scale_of(made, transfer=transfer), CONFIDENCE))


def _stops(found: Settled) -> Row:
    wrong = found.tier != found.tier_all
    return {
        "systems": float(len(wrong)),
        "early": float(found.early.sum()),
        "wrong": float(wrong.sum()),
        "asked": float(found.judgements.sum()),
        "available": float(found.available.sum()),
    }


def _draw(
    rng: np.random.Generator,
    theta: np.ndarray,
    a: np.ndarray,
    b: np.ndarray,
    query: np.ndarray,
    effect: float,
) -> np.ndarray:
    shift = rng.normal(0, effect, (len(theta), query.max() + 1))[:, query]
    return (rng.random(shift.shape) < 1 / (1 + np.exp(-a * (theta[:, None] - b) - shift))).astype(float)


def _holds(standing: Any, theta: np.ndarray, i: int) -> bool:
    """Whether the rank interval of a clone holds one of its two possible true ranks, just above or below its twin."""
    above = int((theta > theta[i]).sum())
    return bool(standing.rank_low[-1] <= above + 2 and above + 1 <= standing.rank_high[-1])


def main() -> None:
    """Measure what has no result yet, print and store it, and write the page if one is given."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--datasets", nargs="*", default=list(DATASETS))
    parser.add_argument(
        "--clones", type=int, default=20, metavar="TABLES", help="simulated tables for each effect"
    )
    parser.add_argument(
        "--stops",
        type=int,
        default=10,
        metavar="TABLES",
        help="simulated tables of the stop, for each effect",
    )
    parser.add_argument("--page", type=Path)
    parser.add_argument("--again", action="store_true", help="forget what is known")
    args = parser.parse_args()
    known: dict[str, Row] = json.loads(KEPT.read_text()) if KEPT.exists() and not args.again else {}
    for name in args.datasets:
        if name not in known:
            found = held_out(name)
            if found is None:
                print(f"{name}: no folder at {REAL}", file=sys.stderr)
                continue
            _keep(known, name, found)
        for budget in OTHER_BUDGETS:
            key = f"size|{name}|{budget}"
            if key not in known and (found := held_out(name, budget)) is not None:
                _keep(known, key, found)
    for effect in EFFECTS:
        for seed in range(args.clones):
            if f"clones|{effect}|{seed}" not in known:
                _keep(known, f"clones|{effect}|{seed}", clones(effect, seed))
    _measure_stops(known, args.datasets, args.stops)
    if args.page is not None:
        write_page(args.page, known)


def _measure_stops(known: dict[str, Row], datasets: list[str], tables: int) -> None:
    for effect in EFFECTS:
        for seed in range(tables):
            if f"stops|{effect}|{seed}" not in known:
                _keep(known, f"stops|{effect}|{seed}", stopping(effect, seed))
    for name in datasets:
        if f"stops|{name}" not in known and (row := stopping_on(name)) is not None:
            _keep(known, f"stops|{name}", row)


def _keep(known: dict[str, Row], name: str, found: Row) -> None:
    known[name] = {key: round(value, 4) for key, value in found.items()}
    print(name, known[name], flush=True)
    KEPT.write_text(json.dumps(known, indent=1) + "\n")


if __name__ == "__main__":
    main()
