"""How would the systems rank if all judges were equally severe? The many-facet model (docs/method.md §15).

Abilities of the systems and severities of the judges are fitted together, on the labels of each judge instead of the
consensus. So it does not matter which judges labelled a system, and intervals need no allowance for it. If too few
queries link the judges, their severities are unknown: then there is no such board, and the result says why.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy.sparse.csgraph import connected_components
from scipy.special import expit

from ..analysis.agreement import directions
from ..analysis.fitted import with_rules
from ..analysis.stages import Analysis
from ..intervals import FEWEST_CLUSTERS
from ..irt.facets import FacetModel, fit_many_facet
from ..irt.fit import constant_rubrics
from ..irt.severities import common_queries, weakest_link
from ..judges.guessing import guessing_note_of, tables_with_others
from ..labels.repeated_systems import copies_once
from ..labels.store.dataset import Dataset
from ..leaderboard.cross_fit import FEW_SYSTEMS, too_few_to_cross_fit
from ..leaderboard.facets import FacetBoard, many_facet_board
from ..leaderboard.inference import Inference, comparison_table, infer
from ..settings import Settings
from ..text import count, percent, short_name, verb
from ..types import Cancel, FloatArray, IntArray, Progress
from .declaration import Chart, Experiment, ResultColumn, ResultTable, number
from .inputs import Inputs, read_inputs
from .results import ExperimentResult, ExperimentWatch

MOST_LABELS = 2**26  # most entries of a panel that is held in memory
SYSTEMS = ["system", "theta", "low", "high", "rank", "tier", "board_theta", "board_rank", "board_tier"]
JUDGES = ["judge", "severity", "low", "high", "mark", "labels"]
RIVALS = ["severe", "lenient", "difference", "low", "high"]
PAIRS = ["ahead", "behind", "difference", "low", "high", "board"]
COLUMNS = {"systems": SYSTEMS, "judges": JUDGES, "pairs": PAIRS, "judge_pairs": RIVALS}
NAMES = ("system", "judge", "ahead", "behind", "board", "severe", "lenient")  # columns of text


@dataclass(frozen=True)
class _Panel:
    """The labels that are fitted.

    labels: (M, J', K'), NaN unknown. rubrics: (J',) indices. judges: (K',) indices of the judges with labels on them.
    """

    labels: FloatArray
    rubrics: IntArray
    judges: IntArray


def many_facet(
    ds: Dataset, settings: Settings, *, progress: Progress | None = None, cancel: Cancel | None = None
) -> ExperimentResult:
    """The board with judges on the scale, compared with the board of the consensus.

    Tables: ``systems`` (system; theta with its interval, rank and tier, judges on the scale; board_theta, board_rank,
    board_tier), ``judges`` (judge; severity in logits with its interval; mean mark; labels), ``pairs`` (ahead, behind;
    difference with its interval; board: same, none or opposite), of separated pairs alone, ``judge_pairs`` (severe,
    lenient; difference in logits with an interval, of all pairs together).
    """
    watch = ExperimentWatch(progress, cancel)
    watch.step(0.0, "Fitting the judges")
    inputs = read_inputs(ds, settings)
    settings = inputs.settings
    if why := _too_small(inputs) or _too_large(inputs):
        return _nothing(inputs, why)
    panel = _panel_of(inputs)
    if why := _unlinked(inputs, panel):
        return _nothing(inputs, why)
    model: FacetModel = "GRM" if settings.model == "GRM" else "2PL"
    levels = inputs.reduction.levels[panel.rubrics]
    fit = fit_many_facet(panel.labels, model, settings.quadrature, settings.priors, levels=levels)
    unit = np.unique(inputs.query_index[panel.rubrics], return_inverse=True)[1]

    def fitting(share: float, what: str) -> None:
        watch.step(0.2 + 0.6 * share, what)

    found = many_facet_board(panel.labels, fit, unit, fitting)
    rng = np.random.default_rng([settings.seed, 15])
    facets = infer(found.influence, rng, confidence=settings.confidence, simultaneous=settings.simultaneous)
    watch.step(0.8, "The board of the consensus")
    board = _board(inputs)
    systems, judges = inputs.reduction.systems, [ds.judges[k] for k in panel.judges]
    tables = {
        "systems": system_table(systems, facets, board),
        "judges": judge_table(judges, panel.labels / (levels - 1.0)[:, None], found, settings.confidence),
        "pairs": pair_table(systems, facets, board),
        "judge_pairs": judge_pair_table(judges, found, settings.confidence),
    }
    watch.step(1.0, "Done")
    options = {"model": model, "spread": found.severities.spread, "converged": found.converged}
    limits = _limits(inputs, found, model)
    return inputs.result("many_facet", options, tables, _found(facets, board, tables, settings), limits)


def system_table(systems: tuple[str, ...], facets: Inference, board: Inference) -> pd.DataFrame:
    """Table with the columns SYSTEMS, best first."""
    values = (
        facets.estimate,
        facets.low,
        facets.high,
        facets.rank,
        facets.tier,
        board.estimate,
        board.rank,
        board.tier,
    )
    table = pd.DataFrame(dict(zip(SYSTEMS, (systems, *values), strict=True)))
    return table.sort_values(["rank", "system"], ignore_index=True)


def judge_table(judges: list[str], marks: FloatArray, found: FacetBoard, confidence: float) -> pd.DataFrame:
    """Table with the columns JUDGES, the most lenient first. marks: (M, J, K) labels as shares of the full mark."""
    low, high = found.severities.interval(confidence)
    passes, labels = np.nanmean(marks, axis=(0, 1)), (~np.isnan(marks)).sum(axis=(0, 1))
    values = (judges, found.severities.value, low, high, passes, labels)
    table = pd.DataFrame(dict(zip(JUDGES, values, strict=True)))
    return table.sort_values(["severity", "judge"], ignore_index=True)


def judge_pair_table(judges: list[str], found: FacetBoard, confidence: float) -> pd.DataFrame:
    """Table with the columns RIVALS: one row for each pair of judges, the largest difference first."""
    difference, half = found.severities.differences(confidence)
    severe, lenient = np.nonzero(
        (difference > 0) | ((difference == 0) & np.tri(len(judges), k=-1, dtype=bool))
    )
    at, names = (severe, lenient), np.array(judges, dtype=object)
    values = (names[severe], names[lenient], difference[at], (difference - half)[at], (difference + half)[at])
    table = pd.DataFrame(dict(zip(RIVALS, values, strict=True)))
    return table.sort_values("difference", ascending=False, kind="stable", ignore_index=True)


def pair_table(systems: tuple[str, ...], facets: Inference, board: Inference) -> pd.DataFrame:
    """Table with the columns PAIRS: the pairs that are separated with judges on the scale.

    They are sorted by the result of the consensus board: "none", "opposite", "same".
    """
    names, pairs = np.array(systems, dtype=object), comparison_table(facets)
    way = directions(board)[pairs.system, pairs.other]
    said = np.where(way > 0, "same", np.where(way < 0, "opposite", "none"))
    columns = (
        names[pairs.system],
        names[pairs.other],
        pairs.difference,
        pairs.low,
        pairs.high,
        said,
    )
    table = pd.DataFrame(dict(zip(PAIRS, columns, strict=True)))[pairs.separated]
    return table.sort_values("board", kind="stable", ignore_index=True)


def _too_small(inputs: Inputs) -> str:
    """A sentence on why the dataset has too few judges or systems for the model; "" if it has enough."""
    n_systems, n_judges = inputs.reduction.n_distinct, len(inputs.dataset.judges)
    if n_judges < 2:
        return "There is one judge, who cannot be more severe than others."
    if too_few_to_cross_fit(n_systems):
        once = copies_once(n_systems, len(inputs.reduction.systems))
        return f"Abilities need {FEW_SYSTEMS} systems or more; there are {n_systems}{once}."
    return ""


def _too_large(inputs: Inputs) -> str:
    size = len(inputs.dataset.judges) * inputs.reduction.y.size
    if size <= MOST_LABELS:
        return ""
    return (
        f"Systems × rubrics × judges are {size:,} entries; the model holds at most {MOST_LABELS:,} in memory."
    )


def _panel_of(inputs: Inputs) -> _Panel:
    """The labels of all rubrics on which labels differ, and the judges who labelled them.

    Rubrics that the gate drops are included: the rubrics that it keeps, on which judges agree partly by chance, would
    make the judges look equally severe.
    """
    panel = inputs.dataset.panel(inputs.settings.response)
    varies = ~constant_rubrics(panel.transpose(2, 0, 1).reshape(-1, panel.shape[1]))
    rubrics = np.flatnonzero(varies)
    judges = np.flatnonzero(~np.isnan(panel[:, rubrics]).all(axis=(0, 1)))
    return _Panel(panel[:, rubrics][:, :, judges], rubrics, judges)


def _unlinked(inputs: Inputs, panel: _Panel) -> str:
    """A sentence on why the judges' severities are unknown; "" if enough queries link all judges."""
    if not len(panel.rubrics):
        return "No rubric has different labels."
    if len(panel.judges) < 2:
        return "One judge alone labelled the rubrics on which labels differ, and cannot be more severe than others."
    query = np.unique(inputs.query_index[panel.rubrics], return_inverse=True)[1]
    common = common_queries(panel.labels, query)
    if weakest_link(common) >= FEWEST_CLUSTERS:
        return ""
    linked = connected_components(common >= FEWEST_CLUSTERS, directed=False)[1]
    apart = np.flatnonzero(linked == np.bincount(linked).argmin())[0]
    return (
        "Too few common cells link the judges, so their severities are unknown: "
        f"{short_name(inputs.dataset.judges[panel.judges[apart]])} and the others need labels of the same answers on "
        f"{FEWEST_CLUSTERS} queries or more."
    )


def _board(inputs: Inputs) -> Inference:
    """The standing of the leaderboard by the consensus, on all rubrics of the pool and for queries like these."""
    settings = replace(with_rules(inputs.dataset, inputs.settings), basis="all", population="queries")
    return (
        Analysis(dataset=inputs.dataset, fingerprint=inputs.fingerprint, settings=settings).ranking().standing
    )


def _nothing(inputs: Inputs, why: str) -> ExperimentResult:
    """A result with empty tables that says why there is no board."""
    tables = {
        name: pd.DataFrame(
            {column: np.empty(0, dtype=object if column in NAMES else float) for column in columns}
        )
        for name, columns in COLUMNS.items()
    }
    return inputs.result("many_facet", {}, tables, f"There is no board with judges on the scale. {why}", ())


def _found(facets: Inference, board: Inference, tables: dict[str, pd.DataFrame], settings: Settings) -> str:
    """Sentences: how many pairs each board separates, and how much the judges differ in severity."""
    level, said = percent(settings.confidence), tables["pairs"]["board"]
    here, there, both = len(said), int(np.triu(board.separated).sum()), int((said == "same").sum())
    turned = int((said == "opposite").sum())
    shared = (
        f"; {both:,} {verb(both, 'are')} in both, and {turned:,} the other way round"
        if here and there
        else ""
    )
    return (
        f"With judges on the scale {here:,} of {count(facets.n_pairs, 'pair')} of systems "
        f"{verb(here, 'are')} separated at {level}, and {there:,} by the consensus{shared}. "
        f"{_of_judges(tables['judge_pairs'], level)}"
    )


def _of_judges(pairs: pd.DataFrame, level: str) -> str:
    """A sentence on whether judges differ in severity, and on the two that differ most."""
    apart = int((pairs["low"] > 0).sum())
    if not apart:
        return f"No two judges are shown to differ in severity at {level}."
    which = (
        "The two judges differ" if len(pairs) == 1 else f"{apart:,} of {len(pairs):,} pairs of judges differ"
    )
    return f"{which} in severity at {level}; most of all, {_largest(pairs)}."


def _largest(pairs: pd.DataFrame) -> str:
    """The largest separated difference of two judges as pass rates, with an interval that holds for all pairs."""
    pair = pairs[pairs["low"] > 0].iloc[0]
    shares = [f"{expit(-pair[end]):.0%}" for end in ("difference", "high", "low")]
    lenient, severe = (short_name(str(pair[who])) for who in ("lenient", "severe"))
    return (
        f"where {lenient} passes half of the answers, {severe} passes {shares[0]} [{shares[1]}, {shares[2]}]"
    )


def _limits(inputs: Inputs, found: FacetBoard, model: FacetModel) -> tuple[str, ...]:
    limits = [
        "All rubrics on which labels differ take part, whether they pass the gate or not: the gate keeps rubrics on "
        "which judges agree, partly by chance, and would make them look equally severe.",
        "A judge's severity is assumed to be the same for all systems and rubrics: kindness to some systems only "
        "remains in their abilities.",
        "Abilities rest on each judge's label, and not on the consensus: judges whose errors are large count as much "
        "as the others, and systems that one of them labelled look alike.",
    ]
    tables = tables_with_others(inputs.dataset.panel("binary"), inputs.query_index)
    if note := guessing_note_of(tables, inputs.dataset.judges, inputs.settings.confidence):
        limits.append(note)
    if inputs.settings.population != "queries":
        limits.append("Queries are the units of evidence here, whatever the settings say.")
    if inputs.settings.model not in ("GRM", "2PL"):
        limits.append(f"The model of the rubrics is the {model}, whatever the settings say.")
    if not found.converged:
        limits.append("The fit did not converge: read the estimates with care.")
    return tuple(limits)


def headline(result: ExperimentResult) -> str:
    """A sentence: how many pairs are separated, and which judges differ most in severity."""
    judges = result.tables["judges"]
    if judges.empty:
        return "There is no board with judges on the scale here."
    pairs, rivals = len(result.tables["pairs"]), result.tables["judge_pairs"]
    told = f"With judges on the scale {count(pairs, 'pair')} of systems {verb(pairs, 'are')} separated"
    if not (rivals["low"] > 0).any():
        return f"{told}; no two judges are shown to differ in severity."
    return f"{told}; {_largest(rivals)}."


EXPERIMENT = Experiment(
    name="many_facet",
    title="Systems with judges on the scale",
    question="Where would the systems stand if all judges were equally severe?",
    run=many_facet,
    tables={
        "systems": ResultTable(
            "Abilities with judges on the scale, and by the consensus",
            {
                "system": ResultColumn("system"),
                "theta": number("θ", "%.2f", "Ability before judges of equal severity"),
                "low": number("from", "%.2f"),
                "high": number("to", "%.2f"),
                "rank": number("rank", "%.0f"),
                "tier": number("tier", "%.0f"),
                "board_theta": number("θ, consensus", "%.2f"),
                "board_rank": number("rank, consensus", "%.0f"),
                "board_tier": number("tier, consensus", "%.0f"),
            },
            "The two scales are each in units of the spread of the systems: compare ranks and tiers.",
        ),
        "judges": ResultTable(
            "Severity of the judges, logits",
            {
                "judge": ResultColumn("judge"),
                "severity": number(
                    "severity", "%.2f", "Above the mean of the judges; each interval by itself"
                ),
                "low": number("from", "%.2f"),
                "high": number("to", "%.2f"),
                "mark": number("mean mark", "percent", "Of all its labels, whatever it labelled"),
                "labels": number("labels", "localized"),
            },
        ),
        "pairs": ResultTable(
            "Pairs that are separated with judges on the scale",
            {
                "ahead": ResultColumn("ahead"),
                "behind": ResultColumn("behind"),
                "difference": number("difference", "%.2f"),
                "low": number("from", "%.2f"),
                "high": number("to", "%.2f"),
                "board": ResultColumn(
                    "by the consensus",
                    words={
                        "same": "separated too",
                        "none": "not separated",
                        "opposite": "the other way round",
                    },
                ),
            },
        ),
        "judge_pairs": ResultTable(
            "Differences in severity, logits",
            {
                "severe": ResultColumn("more severe"),
                "lenient": ResultColumn("more lenient"),
                "difference": number("difference", "%.2f"),
                "low": number("from", "%.2f"),
                "high": number("to", "%.2f"),
            },
            "The intervals hold for all pairs of judges together.",
        ),
    },
    headline=headline,
    charts=(
        Chart(
            "Ability of each system before judges of equal severity",
            rows="system",
            y=("theta",),
            low="low",
            high="high",
            x_title="θ",
        ),
        Chart(
            "Severity of each judge",
            table="judges",
            rows="judge",
            y=("severity",),
            low="low",
            high="high",
            x_title="logits",
            line=0.0,
        ),
    ),
    order=11,
)
