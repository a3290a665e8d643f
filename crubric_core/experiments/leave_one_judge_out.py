"""The leaderboard without each judge: consensus, gate, fit, bank and tiers are computed again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..errors import CrubricError
from ..labels.store.dataset import Dataset
from ..ranks import TIE_DIGITS
from ..settings import Settings
from ..text import count, short_name
from ..types import FloatArray, Progress
from ..workers import run_tasks
from .inputs import Inputs, panels_of_part, read_inputs, reduce_panel
from .results import ExperimentWatch
from .stability import AnalysisOutcome, analyse, compare_outcomes


@dataclass(frozen=True)
class JudgeInfluence:
    """How much the analysis depends on each of K judges.

    judges: one row a judge: judge, kept (share of the smaller bank that is in the larger), rho (Spearman's of what the
        boards rank by), moved (number of systems whose rank changes), lost, gained, turned (numbers of pairs, both
        ranked in both analyses, that are separated only with all judges, only without the judge, and in both but in
        opposite order), uncompared (pairs that are separated with all judges, of which a system is not ranked without
        the judge), tier_changes (share of pairs), tiers, note (why there is no analysis without the judge, or "").
    systems: one row for each judge and system: judge, system, theta, rank, tier, and theta_without, rank_without,
        tier_without; NaN if the system is not ranked.
    separated: number of pairs that are separated with all judges.
    """

    judges: pd.DataFrame
    systems: pd.DataFrame
    separated: int


def leave_one_judge_out(
    ds: Dataset, settings: Settings, *, progress: Progress | None = None
) -> JudgeInfluence:
    """Repeat the analysis without each judge in turn, and compare it with the analysis with all judges."""
    watch = ExperimentWatch(progress)
    watch.step(0.0, "With all judges")
    inputs, names = read_inputs(ds, settings), ds.judges
    settings = inputs.settings
    panel = ds.panel(settings.response)
    full = analyse(inputs, inputs.reduction, panels_of_part(inputs.reduction, panel, settings), settings)
    found = run_tasks(
        _without_judge,
        range(len(names)),
        (inputs.for_tasks(), settings, panel, full),
        before=lambda k: watch.step((k + 1) / (len(names) + 1), f"Without {names[k]}"),
    )
    summaries, places = [], []
    for name, (summary, table) in zip(names, found, strict=True):
        summaries.append({"judge": name, **summary})
        if table is not None:
            places.append(table.assign(judge=name))
    watch.step(1.0, "Done")
    columns = [
        "judge",
        "kept",
        "rho",
        "moved",
        "lost",
        "uncompared",
        "gained",
        "turned",
        "tier_changes",
        "tiers",
        "note",
    ]
    empty = _places(inputs, full, full).assign(judge="").iloc[:0]
    systems = pd.concat([empty, *places], ignore_index=True)
    return JudgeInfluence(
        judges=pd.DataFrame(summaries, columns=columns),
        systems=systems[["judge", *(c for c in systems.columns if c != "judge")]],
        separated=len(full.apart),
    )


def influence_sentence(found: JudgeInfluence) -> str:
    """Sentences on how removing a judge changes the separated pairs; "" if no judge could be removed."""
    ran = found.judges.dropna(subset=["lost"])
    if ran.empty:
        return ""
    one = f"one of the {len(ran):,} that can be removed" if len(ran) < len(found.judges) else "one"
    if not found.separated:
        return (
            f"With all judges no pair of systems is separated, and removing {one} separates "
            f"{_most(ran, 'gained')}: ranks that change without a judge may do so by chance."
        )
    unknown = (
        f"{_most(ran, 'uncompared')} with a system that is not ranked, " if ran["uncompared"].any() else ""
    )
    one = "one judge" if one == "one" else one
    return (
        f"Of the {count(found.separated, 'pair')} that all judges together separate, removing {one} leaves "
        f"{_most(ran, 'lost')} not separated, {unknown}and {_most(ran, 'turned')} separated in the opposite order. "
        "Ranks of systems that are not separated may change by chance."
    )


def _most(judges: pd.DataFrame, column: str) -> str:
    """The largest number of pairs in a column with its judge, such as ``at most 3 (without x)``, or ``none``."""
    pairs = judges[column].to_numpy(dtype=np.int64)
    at = int(pairs.argmax())
    return f"at most {pairs[at]:,} (without {short_name(judges['judge'].iloc[at])})" if pairs[at] else "none"


def pairs_changed(full: AnalysisOutcome, other: AnalysisOutcome) -> dict[str, int]:
    """Numbers of pairs: lost, gained and turned (of systems ranked in both), and uncompared; see ``JudgeInfluence``."""
    here, there = (
        {pair for pair in one.apart if set(pair) <= two.estimate.keys()}
        for one, two in ((full, other), (other, full))
    )
    turned = len({(behind, ahead) for ahead, behind in here} & there)
    return {
        "lost": len(here - there) - turned,
        "uncompared": len(full.apart - here),
        "gained": len(there - here) - turned,
        "turned": turned,
    }


def _without_judge(
    inputs: Inputs, settings: Settings, panel: FloatArray, full: AnalysisOutcome, k: int
) -> tuple[dict[str, object], pd.DataFrame | None]:
    """The row of judge ``k`` and the table of its systems (``JudgeInfluence``); a note and None without an analysis."""
    everyone = [np.arange(size) for size in panel.shape]
    try:
        rest = reduce_panel(inputs, panel, everyone[0], everyone[1], np.delete(everyone[2], k))
        outcome = analyse(inputs, rest, panels_of_part(rest, np.delete(panel, k, axis=2), settings), settings)
    except CrubricError as error:
        return {"note": str(error)}, None
    table = _places(inputs, full, outcome)
    moved = (table["rank"] != table["rank_without"]) & table[["rank", "rank_without"]].notna().all(axis=1)
    changed = pairs_changed(full, outcome)
    return {**compare_outcomes(full, outcome), "moved": int(moved.sum()), **changed, "note": ""}, table


def _places(inputs: Inputs, full: AnalysisOutcome, without: AnalysisOutcome) -> pd.DataFrame:
    """Ability, rank and tier of each system in both analyses, best first; NaN if not ranked."""
    table = pd.DataFrame({"system": inputs.reduction.systems})
    for outcome, suffix in ((full, ""), (without, "_without")):
        by = table["system"].map(outcome.estimate).astype(float)
        table[f"theta{suffix}"] = table["system"].map(outcome.theta).astype(float)
        table[f"rank{suffix}"] = by.round(TIE_DIGITS).rank(ascending=False, method="min")
        table[f"tier{suffix}"] = table["system"].map(outcome.tier).astype(float)
    return table.sort_values(["rank", "system"], ignore_index=True)
