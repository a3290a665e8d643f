"""Whether a dataset is fit for a leaderboard: five stages of the analysis, each with a figure, a state and a remedy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from ..judges.gate import gate_is_off
from ..judges.guessing import LITTLE
from ..labels.checks.dataset_checks import MUCH_MISSING
from ..leaderboard.comparisons import FEW_UNITS
from ..leaderboard.cross_fit import FEW_SYSTEMS
from ..text import count, numeral, rounded, sentence_case
from .board import groups_sentence, like, panels_sentence, units
from .claims import separated_pairs

if TYPE_CHECKING:
    from ..judges.gate import Gate
    from ..judges.gate_price import GateVerdict
    from ..labels.ingest.findings import Finding
    from ..labels.store.reduction import Reduction
    from ..leaderboard.inference import Inference
    from .board import Board
    from .claims import Claims
    from .result import Calibration

State = Literal["good", "look", "stop"]
SEVERITY: dict[State, int] = {"good": 0, "look": 1, "stop": 2}
LARGE_EFFECT = 3.0  # design effect
FEW_APART = 0.05  # share of separated pairs below which they are few
FEW_UNLABELLED = 0.01  # share of cells; if fewer lack all labels, the judges share the cells out
MANY_FACET = "Systems with judges on the scale"  # the title of an experiment


@dataclass(frozen=True)
class Chip:
    """The state of one stage of the analysis.

    name: name of the stage. figure: its main number, as text. state: "good", "look" or "stop". sentence: what is known,
    and what to do unless the state is good. It is shown unchanged, since it may begin with the name of a system.
    """

    name: str
    figure: str
    state: State
    sentence: str


def worst(chips: Sequence[Chip]) -> Chip:
    """The first chip of the worst state, in the order of the pipeline."""
    return max(chips, key=lambda chip: SEVERITY[chip.state])


def overview_sentence(chips: Sequence[Chip]) -> str:
    """The first line of the overview: the sentence of the worst chip, or that all checks pass if each chip is good."""
    found = worst(chips)
    if found.state == "good":
        return "Labels, agreement, model, bank and board pass their checks: read the leaderboard."
    return f"{found.name}: {found.sentence}"


def labels_chip(
    n_labels: int,
    missing: float,
    n_systems: int,
    n_queries: int,
    findings: Sequence[Finding] = (),
    *,
    unlabelled: float = float("nan"),
    cross_fitted: bool = True,
) -> Chip:
    """Whether there are enough labels, systems and queries. missing: share of the labels in [0, 1].

    findings: data-quality issues of the Data page, the worst first. unlabelled: share of the cells without a label of
    any judge; NaN unknown. cross_fitted: of the settings; if False, few systems are ranked by ability too.
    """
    shared_out = missing > MUCH_MISSING and unlabelled < FEW_UNLABELLED
    lacking = f"{rounded(unlabelled)} of cells" if shared_out else rounded(missing)
    figure = f"{n_labels:,}, {lacking} missing"
    if n_systems < 2:
        return Chip(
            "Labels", figure, "stop", "There is only one system: add labels of others to compare it with."
        )
    if n_systems < FEW_SYSTEMS:
        claims = (
            f"claims are about scores; from {FEW_SYSTEMS} on they are about abilities"
            if cross_fitted
            else "abilities and the parameters of rubrics are poorly known"
        )
        said = f"With only {n_systems} systems {claims}. Add systems."
        return Chip("Labels", figure, "look", said)
    if n_queries == 1:
        return Chip(
            "Labels", figure, "look", "There is only one query: claims hold for it alone. Add queries."
        )
    if n_queries < FEW_UNITS:
        said = f"Only {count(n_queries, 'query')}: few pairs can be separated. Add queries."
        return Chip("Labels", figure, "look", said)
    if missing > MUCH_MISSING and not shared_out:
        said = f"{rounded(missing)} are missing: add them, and label the answers that failed as failed."
        return Chip("Labels", figure, "look", said)
    design = ("missing",) if shared_out else ()
    if titles := [f.title for f in findings if f.severity != "note" and f.code not in design]:
        more = f" and {len(titles) - 1} more" if len(titles) > 1 else ""
        return Chip("Labels", figure, "look", f"Data warns of {titles[0].lower()}{more}: look at its checks.")
    shared = ", which the judges share out" if shared_out else ""
    said = f"{count(n_systems, 'system')} on {count(n_queries, 'query')}{shared}."
    return Chip("Labels", figure, "good", said)


def agreement_chip(
    reduction: Reduction, gate: Gate, verdict: GateVerdict, warnings: Sequence[str] = ()
) -> Chip:
    """Whether the judges agree on enough rubrics. warnings: about the consensus labels; only the first is shown."""
    dropped = float((~gate.feasible).mean())
    if gate_is_off(reduction):
        said = "No cell has labels of two judges, so agreement is unknown and nothing is dropped."
        remedy = (
            "Add a second judge." if reduction.n_judges < 2 else "Have the judges label the same answers."
        )
        return Chip("Agreement", "unknown", "look", f"{said} {remedy}")
    known = gate.values[np.isfinite(gate.values)]
    figure = (
        f"median {gate.statistic} {numeral(np.median(known))}, {rounded(dropped)} dropped"
        if len(known)
        else f"{rounded(dropped)} dropped"
    )
    if not verdict.holds:
        return Chip("Agreement", figure, "stop", verdict.sentence)
    if warnings:
        return Chip("Agreement", figure, "look", warnings[0])
    if gate.statistic == "kappa" and len(known) and np.median(known) < LITTLE:
        most = numeral(np.median(known))
        said = f"Half of the rubrics have a kappa of at most {most}: judges agree little beyond chance."
        return Chip("Agreement", figure, "look", f"{said} Look at the judges on Measurability.")
    if int(reduction.max_panel.max()) == 2:
        said = "At most two judges label a cell: shared errors cannot be seen. Add human labels, or two more judges."
        return Chip("Agreement", figure, "look", said)
    said = f"{int(gate.feasible.sum()):,} of {count(len(gate.feasible), 'rubric')} pass."
    return Chip("Agreement", figure, "good", said)


def model_chip(calibration: Calibration) -> Chip:
    """Whether the response model converged, and whether many rubrics have a negative item–rest correlation."""
    fit = calibration.fit
    if not fit.converged:
        said = f"The {fit.model} fit did not converge: use a simpler model."
        return Chip("Model", f"{fit.model}, not converged", "stop", said)
    known = calibration.item_rest[~fit.constant & np.isfinite(calibration.item_rest)]
    if not len(known):
        said = "No rubric's item–rest correlation can be computed: add systems."
        return Chip("Model", f"{fit.model}, item–rest unknown", "look", said)
    aberrant = float((known < 0).mean())
    figure = f"{fit.model}, {rounded(aberrant)} negative item–rest"
    if aberrant > 0.1:
        said = (
            f"{rounded(aberrant)} of {count(len(known), 'item–rest correlation')} are negative; half of the rubrics "
            "unrelated to ability have a negative one by chance. Look at them on Items."
        )
        return Chip("Model", figure, "look", said)
    return Chip("Model", figure, "good", f"The {fit.model} fit converged.")


def bank_chip(candidates: int, budget: int, queries: int, covered: int) -> Chip:
    """How many rubrics the bank can be chosen from, and how many of the queries it covers."""
    figure = f"{min(budget, candidates):,} of {count(candidates, 'rubric')}"
    if candidates <= budget:
        said = (
            f"{count(candidates, 'rubric')} can be chosen, and a bank of {candidates:,} holds them all. Lower B "
            "for a smaller bank."
        )
        return Chip("Bank", figure, "good" if candidates else "look", said)
    said = f"The bank covers {covered:,} of {count(queries, 'query')}"
    # A bank cannot cover more queries than it has rubrics.
    if covered < min(queries, budget) / 2:
        return Chip("Bank", figure, "look", f"{said}: raise B, or set Bounds on the Bank page.")
    return Chip("Bank", figure, "good", f"{said}.")


def board_chip(board: Board, claims: Claims) -> Chip:
    """Whether systems are separated, and whether other rankings contradict this."""
    standing, apart, pairs = board.standing, separated_pairs(board.comparisons), board.standing.n_pairs
    effect = standing.design_effect
    figure = f"{apart:,} of {count(pairs, 'pair')} separated" if pairs else "no pair to compare"
    figure += f", design effect {effect:.1f}" if np.isfinite(effect) else ""
    if board.refused:
        return Chip("Board", "no claim", "stop", board.refused)
    if standing.n_groups > 1:
        remedy = "Have some systems of each answer the same queries."
        return Chip("Board", figure, "stop", f"{groups_sentence(board)} {remedy}")
    if standing.excused or (board.unequal and standing.allowance is None):
        instead = "" if board.by_score else f', or run the experiment "{MANY_FACET}"'
        remedy = f"Have the same judges label all systems{instead}."
        return Chip("Board", figure, "look" if apart else "stop", f"{panels_sentence(board)} {remedy}")
    if not apart or apart < FEW_APART * pairs:
        remedy = f"Add {like(standing)}." if pairs else _why_no_pair(standing)
        return Chip("Board", figure, "look" if apart else "stop", f"{claims.ahead} {remedy}")
    if missing := board.missing_labels:
        return Chip("Board", figure, "look", missing)
    if claims.contradicted:
        contradiction = sentence_case(claims.contradicted[0].removeprefix("But "))
        return Chip("Board", figure, "look", f"{contradiction} Look at Pairs on the leaderboard.")
    if standing.unit == "domain" and standing.n_units < FEW_UNITS:
        said = f"Only {units(standing)}: few pairs can be separated. Add domains."
        return Chip("Board", figure, "look", said)
    if effect > LARGE_EFFECT:
        said = (
            f"Design effect {effect:.1f}: systems differ by {standing.unit}, so more {like(standing)} separate more "
            "than more rubrics."
        )
        return Chip("Board", figure, "look", said)
    return Chip("Board", figure, "good", claims.ahead)


def _why_no_pair(standing: Inference) -> str:
    """A sentence on why fewer than two systems are ranked, and on the remedy. More queries alone do not help."""
    if standing.method == "bootstrap":
        return "Some draws of the rubrics leave systems without a label: label them on more rubrics."
    return (
        "Systems have no label on the rubrics that place them: have several of them answer the same queries."
    )
