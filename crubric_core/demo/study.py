"""The generator of the simulated study.

1. Systems: abilities theta ~ N(0, 1), handed out so that a maker's small model is weaker than its large one.
2. Queries: prompts of four task types. The typer's probabilities are a softmax of noisy scores, so that some
   queries stay below the usual threshold of 0.5 and a few are typed wrongly.
3. Rubrics: pools of different sizes; log a ~ N(0, 0.5²), b ~ N(-0.3, 1.2²). About one in fifty is met by everybody
   or by nobody, about one in a hundred has a negative slope, a few sentences occur in several queries.
4. Truth: system i meets rubric j with probability sigma(a_j (theta_i - b_j)); nothing else enters.
5. Measurability: the probability that the whole panel agrees is drawn from Beta(5.2, 1.4), so that about a quarter of
   the rubrics see unanimity on all of ten systems, and turned into the rubric's clarity. Matters of taste tend to
   get the low draws and checkable facts the high ones, whatever their slope and difficulty.
6. Labels: judges differ in acuity and leniency and are confused together (``panel.py``). Labels go missing at
   random, one system lacks one domain, and the last judge skipped some queries.
7. Two human annotators, sharper than the judges but not perfect, label a subset; a human preference score follows
   ability with noise.

No number was chosen by how a selection or scoring method fares on the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import pandas as pd

from ..errors import SettingsError
from ..types import FloatArray
from . import draws, tables
from .panel import people
from .texts import cases, names

T = TypeVar("T")


@dataclass(frozen=True)
class Truth:
    """What the labels were made from.

    systems: system, theta.
    queries: query, task_type (the true one).
    rubrics: rubric, kind (regular, everyone_passes, everyone_fails, aberrant, repeated), a, b (NaN where everybody
        passes or fails), clarity, q (probability that the whole panel agrees, averaged over these systems).
    judges: judge, acuity, leniency, sensitivity, specificity (averages over these systems and rubrics).
    passes: (M, J) 0/1, whether a system truly meets a rubric, in the order of ``systems`` and ``rubrics``.
    """

    systems: pd.DataFrame
    queries: pd.DataFrame
    rubrics: pd.DataFrame
    judges: pd.DataFrame
    passes: FloatArray


@dataclass(frozen=True)
class DemoStudy:
    """The tables as a user would bring them, sorted by their keys, and the truth behind them.

    labels: system, query, rubric, judge, label (0 or 1); a missing label has no row.
    rubrics: rubric, query, text, scale_min, scale_max, weight, dimension, severity.
    queries: query, text, domain, task_type, p_<type> of each of the four types.
    gold: system, query, rubric, annotator, label.
    reference: system, score.
    """

    labels: pd.DataFrame
    rubrics: pd.DataFrame
    queries: pd.DataFrame
    gold: pd.DataFrame
    reference: pd.DataFrame
    truth: Truth


def simulate(
    seed: int = 0,
    *,
    systems: int = 15,
    queries: int = 104,
    judges: int = 3,
    pool: tuple[int, int] = (20, 57),
    missing: float = 0.02,
) -> DemoStudy:
    """A simulated study; the same arguments give the same tables.

    systems, queries, judges: how many of each, up to the number of invented names and prompts.
    pool: least and most rubrics of a query. missing: share of labels lost at random, in [0, 1).
    Raises SettingsError when a number is out of range.
    """
    _check(seed, judges, pool, missing)
    text_rng, type_rng, truth_rng, label_rng, human_rng = np.random.default_rng(seed).spawn(5)
    asked = sorted(_spread(cases(), queries, "queries"), key=lambda case: case.query)
    system_names = _spread(names()["systems"], systems, "systems")
    panel = people("judge", judges)

    rubrics, kind = tables.rubric_table(asked, pool, text_rng)
    theta = draws.abilities(system_names, truth_rng)
    items = draws.item_parameters(rubrics["dimension"], kind, panel, truth_rng)
    chance = draws.pass_chance(theta["theta"].to_numpy(), items)
    passes = (truth_rng.random(chance.shape) < chance).astype(np.float64)
    clarity = items["clarity"].to_numpy()

    labels = panel.vote(passes, clarity, label_rng)
    domain = rubrics["query"].map({case.query: case.domain for case in asked})
    labels[draws.lost(labels.shape, rubrics["query"], domain, missing, label_rng)] = np.nan
    humans = people("annotator")
    gold = humans.vote(passes, clarity, human_rng)
    gold[~draws.gold_cells(theta["system"], rubrics["query"], human_rng)] = np.nan

    rate = chance.mean(axis=0)
    return DemoStudy(
        labels=tables.long_table(labels, theta["system"], rubrics, "judge", panel.names),
        rubrics=rubrics,
        queries=tables.query_table(asked, type_rng),
        gold=tables.long_table(gold, theta["system"], rubrics, "annotator", humans.names),
        reference=draws.preference_scores(theta, human_rng),
        truth=Truth(
            systems=theta,
            queries=pd.DataFrame([(c.query, c.task_type) for c in asked], columns=["query", "task_type"]),
            rubrics=items.assign(rubric=rubrics["rubric"], q=panel.expected_agreement(clarity, rate)),
            judges=tables.judge_table(panel, clarity, rate),
            passes=passes,
        ),
    )


def _check(seed: int, judges: int, pool: tuple[int, int], missing: float) -> None:
    known = len(names()["judge"])
    for name, value, good, expected in (
        ("seed", seed, seed >= 0, "a whole number of at least 0"),
        ("judges", judges, 1 <= judges <= known, f"1 to {known}"),
        ("pool", pool, 5 <= pool[0] <= pool[1] <= 80, "two numbers in order, from 5 to 80"),
        ("missing", missing, 0 <= missing < 1, "a share from 0 to below 1"),
    ):
        if not good:
            raise SettingsError(f"{name} = {value!r} is out of range: expected {expected}.")


def _spread(items: Sequence[T], count: int, name: str) -> list[T]:
    """``count`` of the items, evenly from first to last."""
    if not 1 <= count <= len(items):
        raise SettingsError(f"{name} = {count!r} is out of range: expected 1 to {len(items)}.")
    return [items[round(k)] for k in np.linspace(0, len(items) - 1, count)]
