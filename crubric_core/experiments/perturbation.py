"""E1: do the task types matter, and does scoring by task type rank as plain pass or fail does? (docs/method.md §11)

The types of some queries are replaced by other types at random. Scores use all rubrics, weighted by emphasis alone. The
experiment also compares the rankings and the spread of both scorings, and each with the human reference if there is
one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..declarations import Parameter
from ..intervals import FEWEST_CLUSTERS, known_mean
from ..labels.store.dataset import Dataset
from ..ranks import rank_correlation, spearman_p
from ..settings import Settings
from ..task_types.scoring import overall_scores, query_weights
from ..task_types.types import TASK_TYPES, ObjectArray, types_of_queries
from ..text import count
from ..types import BoolArray, Cancel, FloatArray, Progress
from .declaration import P_VALUE, RHO, Chart, Experiment, ResultColumn, ResultTable, number
from .inputs import Inputs, read_inputs, reference_scores
from .results import ExperimentResult, ExperimentWatch, compared, num, span
from .scoring import gap, gap_draws, omega, score
from .statistics import (
    half_width,
    interquartile_range,
    query_draws,
)

UNKNOWN_GAP = "The gap between the best and the worst system is unknown, and so is the effect of flips."
FLIPS = (0.0, 0.1, 0.2, 0.3)


@dataclass(frozen=True)
class PerturbedScores:
    """Scores under the task types (adaptive) and under plain pass or fail (binary): (M,) overall, (M, N) by query."""

    adaptive: FloatArray
    binary: FloatArray
    adaptive_by_query: FloatArray
    binary_by_query: FloatArray


def perturbation(
    ds: Dataset,
    settings: Settings,
    *,
    progress: Progress | None = None,
    cancel: Cancel | None = None,
    flips: Sequence[float] = FLIPS,
    seeds: int = 20,
) -> ExperimentResult:
    """Scores under randomly changed task types, and adaptive compared with binary scoring.

    Tables: ``flips`` (mean score, top–bottom gap and degradation in percentage points), ``scorers`` (spread of
    adaptive and binary), ``agreement`` (their rank correlation overall and by domain), ``external`` validity.
    """
    watch = ExperimentWatch(progress, cancel)
    inputs = read_inputs(ds, settings)
    types = types_of_queries(inputs.queries, inputs.settings.tau_t).task_type
    typed = int((~pd.isna(types)).sum())
    adaptive, binary = score(inputs, types), score(inputs, None)
    scores = PerturbedScores(adaptive.score, binary.score, adaptive.by_query, binary.by_query)
    tables = {
        "flips": flip_table(inputs, types, sorted(flips) if typed else (), seeds, watch),
        "scorers": scorer_table(scores, omega(inputs.queries)),
        "agreement": agreement_table(inputs.queries, scores),
        "external": external_table(scores, reference_scores(ds, inputs.reduction.systems)),
    }
    watch.step(1.0, "Done")
    matter = int(type_matters(inputs, types).sum())
    options = {"flips": [float(f) for f in sorted(flips)], "seeds": seeds, "typed_queries": typed}
    return inputs.result(
        "perturbation", options, tables, _found(tables, typed), _limits(inputs, tables, typed, matter)
    )


def flip_types(types: ObjectArray, share: float, rng: np.random.Generator) -> ObjectArray:
    """Replace a share of the known types (N,), chosen at random, by one of the three others; None stays None."""
    known = np.flatnonzero(~pd.isna(types))
    flipped = types.copy()
    for n in rng.choice(known, size=round(share * len(known)), replace=False):
        others = [name for name in TASK_TYPES if name != types[n]]
        flipped[n] = others[int(rng.integers(len(others)))]
    return flipped


def type_matters(inputs: Inputs, types: ObjectArray) -> BoolArray:
    """(N,) queries with a type on which another type would change the score of a system."""
    by_type, typed = [], ~pd.isna(types)
    for name in TASK_TYPES:
        others = types.copy()
        others[typed] = name
        by_type.append(score(inputs, others).by_query)
    return np.asarray((np.ptp(by_type, axis=0) > 1e-12).any(axis=0))


def flip_table(
    inputs: Inputs, types: ObjectArray, flips: Sequence[float], seeds: int, watch: ExperimentWatch
) -> pd.DataFrame:
    """One row for each share of flipped types, averaged over the seeds. types: (N,) task type of each query.

    degradation: gap minus the gap without flips. low, high: its t interval, for queries like these and other flips; NaN
    if the type matters in fewer than FEWEST_CLUSTERS queries. rho: rank correlation with the scores without flips.
    """
    settings, weights = inputs.settings, omega(inputs.queries)
    draws = query_draws(inputs.query_index, settings.replicates, np.random.default_rng([settings.seed, 31]))
    clean = score(inputs, types)
    before, typed = gap_draws(clean.by_query, weights, draws), int((~pd.isna(types)).sum())
    matter, rows = int(type_matters(inputs, types).sum()), []
    for step, share in enumerate(flips):
        found, drawn = [], np.zeros(len(draws))
        for seed in range(seeds if round(share * typed) else 1):
            watch.step((step + seed / seeds) / len(flips), f"Flipping {share:.0%} of the task types")
            rng = np.random.default_rng([settings.seed, 30, step, seed])
            flipped = score(inputs, flip_types(types, share, rng))
            rho = float(rank_correlation(flipped.score, clean.score))
            found.append((float(known_mean(flipped.score)), gap(flipped.by_query, weights), rho))
            drawn += gap_draws(flipped.by_query, weights, draws)
        mean, gaps, rhos = np.array(found).T
        change = gaps - gap(clean.by_query, weights)
        half = half_width(drawn / len(found) - before, change, matter, settings.confidence)
        ends = (change.mean() - half, change.mean() + half)
        rows.append(
            (share, mean.mean(), gaps.mean(), change.mean(), *ends, float(known_mean(rhos)), len(found))
        )
    columns = ["flip", "mean_score", "gap", "degradation", "low", "high", "rho", "seeds"]
    return pd.DataFrame(rows, columns=columns)


def scorer_table(scores: PerturbedScores, weights: FloatArray) -> pd.DataFrame:
    """One row a scoring: mean, gap (percentage points), sd (n - 1) and IQR of the scores. weights: (N,) of queries."""
    rows = []
    for name, values, by_query in (
        ("adaptive", scores.adaptive, scores.adaptive_by_query),
        ("binary", scores.binary, scores.binary_by_query),
    ):
        known = values[np.isfinite(values)]
        sd = float(known.std(ddof=1)) if len(known) > 1 else float("nan")
        rows.append(
            (name, float(known_mean(values)), gap(by_query, weights), sd, interquartile_range(values))
        )
    return pd.DataFrame(rows, columns=["scorer", "mean_score", "gap", "sd", "iqr"])


def agreement_table(queries: pd.DataFrame, scores: PerturbedScores) -> pd.DataFrame:
    """Spearman's rho of adaptive and binary scores, over all queries and over the queries of each domain.

    There is no p-value: both scores use the same labels, so rho is high even if all systems are equal (docs/method.md
    §11).
    """
    rows = [("all", len(queries), *_correlation(scores.adaptive, scores.binary))]
    weights = query_weights(omega(queries))
    for domain in sorted(queries["domain"].dropna().unique()):
        inside = (queries["domain"] == domain).to_numpy()
        adaptive, binary = (
            overall_scores(by_query[:, inside], weights[inside])
            for by_query in (scores.adaptive_by_query, scores.binary_by_query)
        )
        rows.append((str(domain), int(inside.sum()), *_correlation(adaptive, binary)))
    return pd.DataFrame(rows, columns=["domain", "queries", "systems", "rho"])


def external_table(scores: PerturbedScores, reference: FloatArray) -> pd.DataFrame:
    """Spearman's rho and its p-value of each scoring with the human reference (M,); no rows without a reference."""
    rows = []
    if np.isfinite(reference).any():
        for name, values in (("adaptive", scores.adaptive), ("binary", scores.binary)):
            both = np.isfinite(values) & np.isfinite(reference)
            rows.append((name, *_correlation(values, reference), spearman_p(values[both], reference[both])))
    return pd.DataFrame(rows, columns=["scorer", "systems", "rho", "p"])


def _correlation(values: FloatArray, reference: FloatArray) -> tuple[int, float]:
    """(number of systems with both values, Spearman's rho over them)."""
    both = np.isfinite(values) & np.isfinite(reference)
    return int(both.sum()), float(rank_correlation(values[both], reference[both]))


def _found(tables: dict[str, pd.DataFrame], typed: int) -> str:
    if not typed:
        return "No query has a task type, so adaptive and binary scoring are the same and nothing can be flipped."
    last, pair = (tables[name].to_dict("records")[at] for name, at in (("flips", -1), ("agreement", 0)))
    alike = f"Adaptive and binary scores rank the systems with ρ = {num(pair['rho'])}."
    if not np.isfinite(last["degradation"]):
        return f"{UNKNOWN_GAP} {alike}"
    ends = span(last["low"], last["high"], 2) if np.isfinite(last["low"]) else "without a known interval"
    shown = compared(last["low"], last["high"], "widens", "narrows", "is not shown to change")
    return (
        f"With {last['flip']:.0%} of the {typed} task types flipped the top–bottom gap {shown}: from "
        f"{num(last['gap'] - last['degradation'], 2)} to {num(last['gap'], 2)} points (change "
        f"{num(last['degradation'], 2)} {ends}). {alike}"
    )


def _limits(inputs: Inputs, tables: dict[str, pd.DataFrame], typed: int, matter: int) -> tuple[str, ...]:
    limits = [*inputs.unlinked()]
    if typed:
        limits.append(
            "A wider gap does not show that the types are right: rules that punish more widen it too."
        )
    if typed and typed < 20:
        limits.append(f"Only {typed} queries have a type: one flip is {1 / typed:.0%} of them.")
    if typed and matter < FEWEST_CLUSTERS:
        limits.append(
            f"The task type matters to a score in {count(matter, 'query')}: the effect of flips in other queries is "
            "unknown, and so is the interval."
        )
    if tables["external"].empty:
        limits.append("Without a human reference ranking, external validity is unknown.")
    elif (systems := int(tables["external"]["systems"].min())) < 10:
        limits.append(f"The human reference covers {systems} systems: its ρ is uncertain.")
    if typed and inputs.reduction.rubrics[["dimension", "severity"]].isna().all(axis=None):
        limits.append("No rubric has a dimension or severity: the task types' rules have nothing to act on.")
    return tuple(limits)


def headline(result: ExperimentResult) -> str:
    """A sentence on the effect of the largest share of flips on the gap."""
    typed = result.options["typed_queries"]
    if not typed:
        return "No query has a task type: there is nothing to flip."
    last = result.frame().to_dict("records")[-1]
    if not np.isfinite(last["low"]):
        if not round(last["flip"] * typed):
            return "No task type is flipped."
        if not np.isfinite(last["degradation"]):
            return UNKNOWN_GAP
        if last["seeds"] < 2:
            return "The types are flipped only once: the effect of other flips is unknown."
        return f"The type matters to a score in fewer than {FEWEST_CLUSTERS} queries: the effect of flips is unknown."
    how = compared(last["low"], last["high"], "widens", "narrows", "is not shown to change")
    return (
        f"With {last['flip']:.0%} of the task types flipped the gap {how}: "
        f"{num(last['degradation'], 2)} points {span(last['low'], last['high'], 2)}."
    )


EXPERIMENT = Experiment(
    name="perturbation",
    title="Perturbed task types (E1)",
    question=(
        "Do the task types matter? A share of them is flipped at random, and the gap between the best and the worst "
        "system is measured again."
    ),
    run=perturbation,
    parameters={
        "flips": Parameter("shares of the task types that are flipped", low=0, high=1),
        "seeds": Parameter("draws at each share", low=1, whole=True),
    },
    tables={
        "flips": ResultTable(
            "Flipped task types",
            {
                "flip": number("flipped", "percent"),
                "mean_score": number("mean score"),
                "gap": number("gap", "%.2f", "Best minus worst system, in points of 100"),
                "degradation": number("change of the gap", "%.2f"),
                "low": number("from", "%.2f"),
                "high": number("to", "%.2f"),
                "rho": RHO,
                "seeds": number("draws", "localized"),
            },
        ),
        "scorers": ResultTable(
            "Adaptive and binary scores",
            {
                "scorer": ResultColumn("scores"),
                "mean_score": number("mean"),
                "gap": number("gap", "%.2f"),
                "sd": number("spread"),
                "iqr": number("IQR"),
            },
        ),
        "agreement": ResultTable(
            "Agreement of the two rankings",
            {
                "domain": ResultColumn("domain"),
                "queries": number("queries", "localized"),
                "systems": number("systems", "localized"),
                "rho": RHO,
            },
        ),
        "external": ResultTable(
            "Compared with the human ranking",
            {
                "scorer": ResultColumn("scores"),
                "systems": number("systems", "localized"),
                "rho": RHO,
                "p": P_VALUE,
            },
        ),
    },
    headline=headline,
    charts=(
        Chart(
            "Effect of flipped task types on the gap",
            x="flip",
            y=("degradation",),
            low="low",
            high="high",
            x_title="share of task types flipped",
            y_title="change of the top–bottom gap (points)",
        ),
    ),
    order=4,
)
