"""Boards that list a system several times, and banks on which new versions of their own systems are placed.

How often are equal systems separated (docs/method.md §10 and §13)? All systems have one ability, with a system × query
effect of sd .7. A copy repeats a share of the labels of its original; its other labels are drawn anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
from scipy.special import expit

from benchmarks.inference_designs import judged
from benchmarks.tables import short
from crubric_core import Settings, Workspace, fit_irt
from crubric_core.analysis.pipeline import analyse, result_of
from crubric_core.labels.repeated_systems import distinct_systems
from crubric_core.leaderboard.cross_fit import CrossFit, cross_fit, fold_fits, too_few_to_cross_fit
from crubric_core.leaderboard.inference import infer
from crubric_core.leaderboard.influence import ability_influence, score_influence
from crubric_core.placement.bank_scale import bank_scale_of
from crubric_core.placement.new_labels import labels_on_bank
from crubric_core.placement.place import place_systems
from crubric_core.task_types.scoring import query_scores

QUERIES, EFFECT = 30, 0.7
DESIGNS = (
    ((1,) * 8, 1.0),
    ((2,) * 6, 1.0),
    ((2,) * 6, 0.9),
    ((2,) * 6, 0.7),
    ((2,) * 10, 1.0),
    ((4, 1, 1, 1, 1, 1), 0.9),
    ((3, 3, 3), 0.8),
    ((4, 4), 0.9),
    ((4, 4), 0.7),
)
"""Number of times that each system is listed, and the share of its original's labels that a copy repeats."""
VERSIONS = (0.0, 0.6, 0.9, 1.0)
BANK = 60  # rubrics, of 14 systems
SLOPES = (1, 2.5, 4, 6)


def copies(tables: int) -> Iterator[tuple[object, ...]]:
    """Shares of tables in which any pair is separated: with one fold for each row, and with the folds of the board.

    Then versions of a bank's systems, and how often unrelated systems are taken for copies.
    """
    yield "systems", "rows of them", "labels repeated", "each row left out alone", "as the board has it"
    for listed, repeated in DESIGNS:
        rates = np.mean([of_copies(listed, repeated, seed) for seed in range(tables)], axis=0)
        times = ", ".join(f"{n} of {listed.count(n)}" for n in sorted(set(listed), reverse=True))
        yield len(listed), times, f"{repeated:.0%}", *(short(float(rate)) for rate in rates)
    yield ()
    yield "labels that a version repeats", "separated from some system", "noted"
    found = np.mean([of_versions(seed) for seed in range(-(-tables // 10))], axis=0)
    for repeated, rates in zip(VERSIONS, found, strict=True):
        yield f"{repeated:.0%}", *(short(float(rate)) for rate in rates)
    yield ()
    yield "systems N(0, 1)", "rubrics", *(f"some are one at a slope of {slope}" for slope in SLOPES)
    for size, rubrics in product((6, 20, 60), (45, 100, 400)):
        shares = [np.mean([merged(size, rubrics, slope, seed) for seed in range(tables)]) for slope in SLOPES]
        yield size, rubrics, *(short(float(share), ".3f") for share in shares)


def with_copies(listed: tuple[int, ...], repeated: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels (M, J), where M is the sum of ``listed``, and the query of each rubric (J,)."""
    rng = np.random.default_rng([40, seed])
    query, who = np.repeat(np.arange(QUERIES), 4), np.repeat(np.arange(len(listed)), listed)
    a, b = np.exp(rng.normal(0, 0.4, len(query))), rng.normal(0, 1.2, len(query))
    chance = expit(EFFECT * rng.normal(size=(len(listed), QUERIES))[:, query] - a * b)
    first = judged(rng.random(chance.shape) < chance, "plain", rng)[who]
    anew = judged(rng.random(first.shape) < chance[who], "plain", rng)
    return np.where(rng.random(first.shape) < repeated, first, anew), query


def of_copies(listed: tuple[int, ...], repeated: float, seed: int) -> tuple[bool, bool]:
    """Whether any pair is separated: with each row placed by a fit of all other rows, and as on the board."""
    y, query = with_copies(listed, repeated, seed)
    fit = fit_irt(y)
    alone = CrossFit.of(y, fit, fold_fits(y, fit, fold=np.arange(len(y))))
    evidence = [ability_influence(alone, ~fit.constant, query)]
    if too_few_to_cross_fit(len(np.unique(distinct_systems(y)))):
        scores = query_scores(y, np.ones(len(query)), query, QUERIES)
        evidence.append(score_influence(scores, np.ones(QUERIES)))
    else:
        evidence.append(ability_influence(cross_fit(y, fit), ~fit.constant, query))
    first, second = (infer(each, np.random.default_rng(seed)).separated.any() for each in evidence)
    return bool(first), bool(second)


def merged(systems: int, rubrics: int, slope: float, seed: int) -> bool:
    """Whether some of these unrelated systems are taken for copies of one system."""
    rng = np.random.default_rng([42, seed])
    apart = rng.normal(size=(systems, 1)) - rng.normal(0, 1.5, rubrics)
    y = (rng.random(apart.shape) < expit(slope * apart)).astype(float)
    return len(np.unique(distinct_systems(y))) < systems


def of_versions(seed: int) -> np.ndarray:
    """(len(VERSIONS), 2) shares of new versions that are separated from any system, and that a note reports as copies.

    Each version repeats a share of the labels of one of the bank's 14 equal systems.
    """
    rng, (y, query) = np.random.default_rng([41, seed]), with_copies((2,) * 14, 0.0, seed)
    old, anew = y[::2], y[1::2]
    lines = [f"s{i:02},q{query[j]:02},r{j:03},judge,{old[i, j]:.0f}" for i, j in np.ndindex(old.shape)]
    with Workspace() as workspace:
        workspace.ingest("\n".join(["system,query,rubric,judge,label", *lines]).encode(), "t", format="csv")
        analysis = analyse(workspace.dataset("t"), Settings(budget=BANK))
        made, transfer = result_of(analysis), analysis.transfer()
    bank_scale, rows, names = (
        bank_scale_of(made, transfer=transfer),
        np.sort(made.chosen),
        [f"v{i}" for i in range(14)],
    )
    found = []
    for repeated in VERSIONS:
        new = np.where(rng.random(old.shape) < repeated, old, anew)[:, rows]
        placed = place_systems(bank_scale, labels_on_bank(tuple(names), new, bank_scale.judges))
        apart = np.mean([placement.standing.separated[-1].any() for placement in placed.placements])
        noted = np.mean([any(f"of {name} are those of" in note for note in placed.notes) for name in names])
        found.append((apart, noted))
    return np.array(found)
