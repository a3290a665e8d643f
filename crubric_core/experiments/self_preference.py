"""Is a judge kinder to systems of its own family? (docs/method.md §11)

A judge's leniency on a cell is its mark minus the mean mark of the other judges there. If systems had different judges,
marks are first corrected for the leniency of each judge, so that it does not matter which other judges labelled a cell.
A judge's self-preference is its mean leniency on systems of its own family minus that on all others, by query; the
interval is over the queries, for all judges at once (Bonferroni). A judge may be as kind to systems of other families:
these systems are counted. Families are inferred from names ("gpt-4o" and "o3" are OpenAI's); a name that fits no
family, or several, has none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..intervals import (
    FEWEST_CLUSTERS,
    difference_interval,
    effective_clusters,
    known_mean,
    signed_mean_interval,
)
from ..judges.unequal_panels import leniencies
from ..labels.store.dataset import Dataset
from ..labels.store.judge_sums import JudgeShares, units_of
from ..settings import Settings
from ..text import count, listed
from ..types import BoolArray, Cancel, FloatArray, IntArray, Progress
from .declaration import HIGH, LOW, Chart, Experiment, ResultColumn, ResultTable, number
from .inputs import read_inputs
from .results import ExperimentResult, ExperimentWatch, num, span
from .statistics import mean_interval, sum_by_query

FAMILIES = {
    "Alibaba": ("qwen", "qwq", "tongyi"),
    "Amazon": ("nova", "titan"),
    "Anthropic": ("claude", "anthropic"),
    "ByteDance": ("doubao", "bytedance"),
    "Cohere": ("cohere", "command"),
    "DeepSeek": ("deepseek",),
    "Google": ("gemini", "gemma", "google", "palm"),
    "Meta": ("llama", "meta"),
    "Microsoft": ("phi", "microsoft"),
    "MiniMax": ("minimax",),
    "Mistral": ("mistral", "mixtral", "ministral"),
    "Moonshot": ("kimi", "moonshot"),
    "OpenAI": ("gpt", "chatgpt", "openai", "o1", "o3", "o4"),
    "xAI": ("grok", "xai"),
    "Zhipu": ("glm", "chatglm", "zhipu"),
}


def family(name: str) -> str | None:
    """The maker of a model, inferred from its name; None if no maker fits, or several."""
    words = set(re.findall(r"o\d|[a-z]+", name.lower()))
    found = [maker for maker, known in FAMILIES.items() if words & set(known)]
    return found[0] if len(found) == 1 else None


def self_preference(
    ds: Dataset, settings: Settings, *, progress: Progress | None = None, cancel: Cancel | None = None
) -> ExperimentResult:
    """Compare each judge's leniency to systems of its own family with that to others.

    Table: ``judges`` (judge, family; own, others: numbers of systems of its own and of other families with cells that
    another judge labelled too; preference with its simultaneous interval, NaN with fewer than FEWEST_CLUSTERS queries;
    as_kind: number of other systems to which its mean leniency is at least that to its own family; queries).
    """
    watch = ExperimentWatch(progress, cancel)
    watch.step(0.0, "Comparing the judges")
    inputs, judges = read_inputs(ds, settings), ds.judges
    systems = [family(name) for name in inputs.reduction.systems]
    excess, makers = (
        leniency(_as_lenient(ds.panel("binary"), inputs.reduction.rubrics["query"])),
        [family(judge) for judge in judges],
    )
    own = np.array([[maker is not None and other == maker for other in systems] for maker in makers])
    sides = [by_query(excess[:, :, k], mine, inputs.query_index) for k, mine in enumerate(own)]
    compared = sum(side.shape[1] >= FEWEST_CLUSTERS for side in sides)
    level = 1 - (1 - settings.confidence) / max(compared, 1)
    rows = []
    for k, judge in enumerate(judges):
        mean, low, high, n = preference(sides[k], level)
        mine, found = own[k], makers[k] or "unknown"
        marked = np.isfinite(excess[:, :, k]).any(axis=1)
        as_kind = as_kind_to(excess[:, :, k], mine) if n else np.nan
        sizes = int((mine & marked).sum()), int((~mine & marked).sum())
        rows.append((judge, found, *sizes, mean, low, high, as_kind, n))
    columns = ["judge", "family", "own", "others", "preference", "low", "high", "as_kind", "queries"]
    table = pd.DataFrame(rows, columns=columns)
    watch.step(1.0, "Done")
    return inputs.result("self_preference", {}, {"judges": table}, _found(table), _limits(systems, judges))


def _as_lenient(panel: FloatArray, queries: pd.Series) -> FloatArray:
    """The panel (M, J, K); if systems had different judges beyond chance, minus the leniency of each judge."""
    unit = units_of(queries)
    if not JudgeShares.of_panel(panel, unit).beyond_chance.any():
        return panel
    return panel - leniencies(panel, unit, np.full(len(unit), 2))


def leniency(panel: FloatArray) -> FloatArray:
    """(M, J, K) each label minus the mean of the other judges' labels on its cell; NaN without another judge."""
    known = ~np.isnan(panel)
    others = known.sum(axis=2, keepdims=True) - 1
    total = np.nansum(panel, axis=2, keepdims=True) - panel
    return np.where(known & (others > 0), panel - total / np.maximum(others, 1), np.nan)


def by_query(excess: FloatArray, own: BoolArray, query_index: IntArray) -> FloatArray:
    """(2, N, 3) leniency to the ``own`` systems, a mask (M,), and to the others, on each query with both.

    The three values are the mean positive part, the mean negative part, both from 0 to 1, and the number of rubrics.
    excess: (M, J) leniency of one judge. query_index: (J,).
    """
    every, sides = np.ones(excess.shape[1], dtype=bool), []
    for part in (excess[own], excess[~own]):
        known = np.isfinite(part)
        above, below = (np.where(known, np.maximum(sign * part, 0), 0.0).sum(axis=0) for sign in (1, -1))
        by_rubric = np.stack([above, below, known.any(axis=0), known.sum(axis=0)], axis=1)
        sides.append(sum_by_query(by_rubric, query_index, every))
    sums = np.array(sides)
    sums = sums[:, (sums[..., 3] > 0).all(axis=0)]
    sums[..., :2] /= sums[..., 3:]
    return sums[..., :3]


def preference(sides: FloatArray, confidence: float) -> tuple[float, float, float, int]:
    """(mean, low, high, N): mean leniency to the own family minus that to others over N queries, with its interval.

    sides: result of ``by_query``. The ends are the wider ones of two intervals. Student's t is too narrow if few labels
    differ. The interval for a difference of shares is too narrow if a few queries differ much from the rest.
    """
    mean, low, high, n = mean_interval(
        sides[0, :, 0] - sides[0, :, 1] - sides[1, :, 0] + sides[1, :, 1], confidence
    )
    if n < FEWEST_CLUSTERS:
        return mean, np.nan, np.nan, n
    (own, own_left), (others, others_left) = (_mean_leniency(side, confidence) for side in sides)
    least, most = difference_interval(own, others, np.stack([own_left, others_left]))
    return mean, min(low, least), max(high, most), n


def _mean_leniency(side: FloatArray, confidence: float) -> tuple[tuple[float, float, float], FloatArray]:
    """(mean, low, high) over queries, as a difference of two shares, and (N,) the mean without each query.

    If the judge is never kinder, or never stricter, each rubric is one trial, whatever the number of its systems.
    """
    trials = effective_clusters(np.repeat(1 / side[:, 2], side[:, 2].astype(int)))
    return signed_mean_interval(side[:, 0], side[:, 1], np.ones(len(side)), trials, confidence)


def as_kind_to(excess: FloatArray, own: BoolArray) -> int:
    """Number of other systems to which the judge's mean leniency is at least that to its own systems together.

    excess: (M, J) leniency. own: (M,) systems of the judge's family.
    """
    by_system = known_mean(excess, axis=1)
    return int((by_system[~own] >= known_mean(excess[own].ravel())).sum())


def _named(table: pd.DataFrame) -> str:
    """The judges whose interval excludes 0, in words; "" if there are none."""
    shown = table[(table["low"] > 0) | (table["high"] < 0)]
    parts = [_one(row) for row in shown.to_dict("records")]
    return listed(parts, most=len(parts)) if parts else ""


def _one(row: Mapping[Any, Any]) -> str:
    """A clause on one judge: its preference, and how many other systems it treats alike."""
    kinder = row["low"] > 0
    alike = int(row["as_kind"] if kinder else row["others"] - row["as_kind"])
    also = f"as {'kind' if kinder else 'strict'} to {alike or 'none'} of {count(int(row['others']), 'other')}"
    how = "kinder" if kinder else "stricter"
    return (
        f"{row['judge']} is {how} to systems of its own family than to others on average "
        f"({num(row['preference'])} {span(row['low'], row['high'])}; {also})"
    )


def _found(table: pd.DataFrame) -> str:
    known = table[np.isfinite(table["low"])]
    if known.empty:
        return f"No judge labels systems of its own family next to other judges on {FEWEST_CLUSTERS} queries or more."
    named = _named(known)
    first = f"{count(len(known), 'judge')} of {len(table)} can be compared on systems of its own family and of others"
    return f"{first}: {named}." if named else f"{first}; none is separated from 0."


def _limits(systems: Sequence[str | None], judges: Sequence[str]) -> tuple[str, ...]:
    limits = [
        "Leniency is relative to the other judges of the dataset: if they belong to the same family, it does not show.",
        "A judge's leniency differs from system to system for other reasons too: if it is as kind to systems of other "
        "families, its own family does not stand out.",
        "A judge that is kinder to good answers, whoever wrote them, is kinder to its own family where that is good.",
    ]
    unknown = sum(name is None for name in systems)
    if unknown or any(family(judge) is None for judge in judges):
        limits.append(
            f"Families are read from names. Without a family: {unknown} of {count(len(systems), 'system')}, "
            f"{sum(family(judge) is None for judge in judges)} of {count(len(judges), 'judge')}."
        )
    return tuple(limits)


def headline(result: ExperimentResult) -> str:
    """A sentence that names the judges with a preference, or says that no judge is shown to have one."""
    known = result.frame()[np.isfinite(result.frame()["low"])]
    if known.empty:
        return "Self-preference is unknown here."
    named = _named(known)
    return f"{named}." if named else "No judge is shown to prefer systems of its own family."


EXPERIMENT = Experiment(
    name="self_preference",
    title="Self-preference of the judges",
    question="Is a judge kinder to systems of its own family than the other judges are?",
    run=self_preference,
    tables={
        "judges": ResultTable(
            "Leniency to the own family minus leniency to others",
            {
                "judge": ResultColumn("judge"),
                "family": ResultColumn("family"),
                "own": number("own systems", "localized"),
                "others": number("other systems", "localized"),
                "preference": number("self-preference", about="In shares of the mark, by query"),
                "low": LOW,
                "high": HIGH,
                "as_kind": number("as kind to", "localized", "Other systems to which it is at least as kind"),
                "queries": number("queries", "localized"),
            },
        )
    },
    headline=headline,
    charts=(
        Chart(
            "Self-preference of each judge",
            rows="judge",
            y=("preference",),
            low="low",
            high="high",
            x_title="leniency to the own family minus leniency to others",
            line=0.0,
        ),
    ),
    order=10,
)
