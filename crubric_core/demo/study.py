"""The generator of the simulated study.

1. Systems: abilities theta ~ N(0, 1), assigned so that a maker's small model is weaker than its large one.
2. Queries: prompts of four task types. The classifier's probabilities are a softmax of noisy scores, so that some
   queries stay below the usual threshold of 0.5 and a few are classified wrongly.
3. Rubrics: sets of different sizes; log a ~ N(0, 0.5²), b ~ N(-0.3, 1.2²). About one in fifty is met by every system
   or by none, about one in a hundred has a negative slope, and a few sentences occur in several queries.
4. Truth: system i meets rubric j of query n with probability sigma(a_j (theta_i - b_j) + e_in). The query effect
   e_in ~ N(0, 0.7²) is shared by all rubrics of the query: a system does well or badly on a whole query, so rubrics
   of one query are not independent evidence.
5. Measurability: the probability that the whole panel agrees is drawn from Beta(5.2, 1.4), so that about a quarter of
   the rubrics have unanimity on all of ten systems, and converted into the rubric's clarity. Matters of taste tend to
   get low values and checkable facts high ones, independent of slope and difficulty. On a vague rubric (low
   clarity) every judge errs more.
6. Labels: judges differ in acuity and leniency, make shared errors, read some rubrics more strictly or more
   leniently than other judges do (N(0, 0.6²) logits per judge and rubric) and share a slant on each rubric
   (N(0, 0.4²)), which agreement cannot show (``panel.py``). Labels are missing at random, one system lacks one domain,
   and the last judge skipped some queries.
7. Two human annotators, more accurate than the judges but not perfect, and without the judges' shared slant, label a
   subset; a human preference score follows ability with noise.

No number was chosen by how well a selection or scoring method performs on the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from ..errors import SettingsError
from ..types import FloatArray
from . import draws, tables
from .panel import Panel, people
from .texts import Case, cases, names

T = TypeVar("T")


@dataclass(frozen=True)
class Truth:
    """The true values from which the labels were simulated.

    systems: system, theta, rank (by theta, 1 is best), pass_rate (probability of meeting a rubric, averaged over the
        rubrics of this study, including query effects).
    queries: query, task_type (the true one).
    rubrics: rubric, query, kind (regular, everyone_passes, everyone_fails, aberrant, repeated), a, b (NaN if every
        system passes or fails), clarity, vagueness (probability that a label is wrong, averaged over judges and these
        systems), q (probability that the whole panel agrees, averaged over these systems).
    judges: judge, acuity, leniency, sensitivity, specificity (averages over these systems and rubrics).
    effects: (M, N) logits, the system × query effects, in the order of ``systems`` and ``queries``.
    readings: (J, K) logits, how much more easily a judge passes the rubric than other rubrics; 0 is no difference.
    errors: (J, K) probability that the judge's label is wrong on the rubric, averaged over these systems.
    chance: (M, J) probability that a system meets a rubric; ``passes`` was drawn from it.
    passes: (M, J) 0/1, whether a system truly meets a rubric, in the order of ``systems`` and ``rubrics``.
    """

    systems: pd.DataFrame
    queries: pd.DataFrame
    rubrics: pd.DataFrame
    judges: pd.DataFrame
    effects: FloatArray
    readings: FloatArray
    errors: FloatArray
    chance: FloatArray
    passes: FloatArray


@dataclass(frozen=True)
class DemoStudy:
    """The tables as a user would upload them, sorted by their keys, and the truth behind them.

    labels: system, query, rubric, judge, label (0 or 1); a missing label has no row.
    rubrics: rubric, query, text, scale_min, scale_max, weight, dimension, severity.
    queries: query, text, domain, task_type, p_<type> of each of the four types.
    gold: system, query, rubric, annotator, label.
    reference: system, score.
    answers: system, query, text; None unless requested. With answers the labels also have a column reason.
    """

    labels: pd.DataFrame
    rubrics: pd.DataFrame
    queries: pd.DataFrame
    gold: pd.DataFrame
    reference: pd.DataFrame
    truth: Truth
    answers: pd.DataFrame | None = None


def simulate(
    seed: int = 0,
    *,
    systems: int = 15,
    queries: int = 104,
    judges: int = 3,
    pool: tuple[int, int] = (20, 57),
    missing: float = 0.02,
    texts: bool = False,
) -> DemoStudy:
    """A simulated study; the same arguments give the same tables.

    systems, queries, judges: how many of each, up to the number of invented names and prompts.
    pool: least and most rubrics of a query. missing: share of labels missing at random, in [0, 1).
    texts: also make the answers and each label's reason; the other tables stay the same.
    Raises SettingsError if a number is out of range.
    """
    _check(seed, judges, pool, missing)
    text_rng, type_rng, truth_rng, label_rng, human_rng, effect_rng = np.random.default_rng(seed).spawn(6)
    asked = sorted(_spread(cases(), queries, "queries"), key=lambda case: case.query)
    system_names = _spread(names()["systems"], systems, "systems")
    panel, humans = people("judge", judges), people("annotator")

    rubrics, kind = tables.rubric_table(asked, pool, text_rng)
    truth = _truth(asked, system_names, rubrics, kind, panel, truth_rng, effect_rng)
    clarity = truth.rubrics["clarity"].to_numpy()

    labels = panel.vote(truth.passes, clarity, truth.readings, label_rng)
    domain = rubrics["query"].map({case.query: case.domain for case in asked})
    labels[draws.lost(labels.shape, rubrics["query"], domain, missing, label_rng)] = np.nan
    reading = humans.readings(len(rubrics), 0.0, draws.OWN_READING_SD, effect_rng)
    gold = humans.vote(truth.passes, clarity, reading, human_rng)
    gold[~draws.gold_cells(truth.systems["system"], rubrics["query"], human_rng)] = np.nan

    label_table = tables.long_table(labels, truth.systems["system"], rubrics, "judge", panel.names)
    return DemoStudy(
        labels=tables.with_reasons(label_table, rubrics) if texts else label_table,
        rubrics=rubrics,
        queries=tables.query_table(asked, type_rng),
        gold=tables.long_table(gold, truth.systems["system"], rubrics, "annotator", humans.names),
        reference=draws.preference_scores(truth.systems, human_rng),
        truth=truth,
        answers=tables.answer_table(truth.passes, truth.systems["system"], rubrics) if texts else None,
    )


def known_truth(seed: int = 0, **design: Any) -> Truth:
    """The true values behind the study of this seed, for tests and benchmarks. design: arguments of ``simulate``.

    ``known_truth(seed)`` is the truth behind ``write_demo(workspace, seed)``: true abilities and ranking
    (``.systems``), item parameters and vagueness (``.rubrics``), judges' errors on each rubric (``.errors``).
    """
    return simulate(seed, **design).truth


def _truth(
    asked: Sequence[Case],
    system_names: Sequence[str],
    rubrics: pd.DataFrame,
    kind: pd.Series[str],
    panel: Panel,
    truth_rng: np.random.Generator,
    effect_rng: np.random.Generator,
) -> Truth:
    theta = draws.abilities(system_names, truth_rng)
    effects = draws.query_effects(len(theta), len(asked), effect_rng)
    readings = panel.readings(len(rubrics), draws.SLANT_SD, draws.OWN_READING_SD, effect_rng)
    items = draws.item_parameters(rubrics["dimension"], kind, panel, readings, truth_rng)
    query = pd.Index([case.query for case in asked]).get_indexer(pd.Index(rubrics["query"]))
    chance = draws.pass_chance(theta["theta"].to_numpy(), items, effects[:, query])
    passes = (truth_rng.random(chance.shape) < chance).astype(np.float64)

    clarity, rate = items["clarity"].to_numpy(), chance.mean(axis=0)
    rates = panel.pass_rates(clarity, readings)
    errors = tables.error_rates(rates, rate)
    return Truth(
        systems=theta.assign(pass_rate=chance.mean(axis=1)),
        queries=pd.DataFrame([(c.query, c.task_type) for c in asked], columns=["query", "task_type"]),
        rubrics=items.assign(
            rubric=rubrics["rubric"],
            query=rubrics["query"],
            vagueness=errors.mean(axis=1),
            q=panel.expected_agreement(clarity, readings, rate),
        ),
        judges=tables.judge_table(panel, rates, rate),
        effects=effects,
        readings=readings,
        errors=errors,
        chance=chance,
        passes=passes,
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
    """``count`` of the items, evenly spaced from the first to the last; SettingsError if there are not so many."""
    if not 1 <= count <= len(items):
        raise SettingsError(f"{name} = {count!r} is out of range: expected 1 to {len(items)}.")
    return [items[round(k)] for k in np.linspace(0, len(items) - 1, count)]
