"""The board: a standing with what sentences about it need, and sentences on what it rests on (docs/method.md §10)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from ..leaderboard.cross_fit import FEW_SYSTEMS
from ..leaderboard.inference import Inference
from ..settings import Settings
from ..text import count, listed, percent, short_name, short_names, verb
from ..types import BoolArray, FloatArray, IntArray

LONGEST = 40  # characters of a name
# Coverage of nominal 95% intervals of θ and of differences, in the worst design of docs/inference.md.
LEAST_COVERAGE = 0.91
SEVERAL = 10  # queries from which on the limit for rare failures is stated
FEWER = 0.95  # a system has fewer labels if its share is below FEWER times the largest share
UNEVEN = 0.5  # queries are called unequal if the number of equal ones is below UNEVEN times those with labels
CHANCE = 0.05  # probability of reporting any system, if all are equally likely to lack a label


@dataclass(frozen=True)
class Labelled:
    """On how many of the queries, or rubrics, that place it each of M systems has labels.

    on: (M,) how many have labels. of: (M,) how many place the system, which differ if systems have different banks.
    together: how many are missing at once, (M,) for each system or one number for all (``missing_together``).
    """

    on: IntArray
    of: IntArray
    together: FloatArray | float = 1.0

    def fewer(self) -> BoolArray:
        """(M,) which systems have a share below FEWER times the largest share, and fewer labels than chance explains.

        Chance: Fisher's exact test of the system against the others, with Bonferroni's correction for M systems.
        """
        share = self.on / np.maximum(self.of, 1)
        fewer = share < FEWER * share.max()
        if fewer.any():
            from scipy.stats import hypergeom  # slow to import, and rarely needed

            on, of = (np.ceil(count / self.together).astype(int) for count in (self.on, self.of))
            # The distribution function is slow, and many systems have the same numbers.
            (few, asked), place = np.unique([on[fewer], of[fewer]], axis=1, return_inverse=True)
            fewer[fewer] = (hypergeom.cdf(few, of.sum(), on.sum(), asked) < CHANCE / len(share))[place]
        return np.asarray(fewer)


@dataclass(frozen=True, kw_only=True)
class Board:
    """A standing of M systems with what sentences about it need.

    comparisons: one row a pair of ranked systems: system, other, difference, low, high, separated. by_score: whether
    claims are about scores, since there are too few systems for abilities. n_rubrics: least and largest number of
    rubrics that place a system. gated: whether the agreement of the judges is known, so that rubrics can fail the gate.
    refused: why no claim may be made, or "". n_judges: number of judges of the dataset. unequal: whether the panels are
    unequal: systems were labelled by different judges, or in different shares or numbers.
    queries, rubrics: on how many of them each system has labels; None: on all. in_common: (queries with labels of both,
    queries asked of both) for the two systems of a group that share the least; None: unknown.
    """

    systems: tuple[str, ...]
    standing: Inference
    comparisons: pd.DataFrame
    by_score: bool
    n_rubrics: tuple[int, int]
    settings: Settings
    gated: bool = True
    refused: str = ""
    n_judges: int = 2
    unequal: bool = False
    queries: Labelled | None = None
    rubrics: Labelled | None = None
    in_common: tuple[int, int] | None = None

    @cached_property
    def names(self) -> list[str]:
        """The names of the systems, shortened to LONGEST characters so that no two become equal."""
        return short_names(self.systems, LONGEST)

    @cached_property
    def missing_labels(self) -> str:
        """A sentence on systems that have labels on clearly fewer queries, or rubrics, than others; "" if none has."""
        beside = " Scores are compared in a model with one effect for each query." if self.by_score else ""
        if said := _fewer(self, self.queries, "labels on clearly fewer queries"):
            return (
                f"{said}: an answer that is missing because its system failed counts as unknown unless it is labelled "
                f"as failed.{beside}"
            )
        if said := _fewer(self, self.rubrics, "a consensus label on clearly fewer rubrics"):
            return (
                f"{said}: ties, and answers that are missing because a system failed, count as unknown, and only "
                "abilities allow for how hard the other rubrics are."
            )
        return ""


def rests_on(board: Board) -> tuple[str, ...]:
    """Sentences on what the claims rest on: basis, unit of evidence, population, judges, missing labels and level."""
    settings, standing = board.settings, board.standing
    said = [_basis(board)]
    if not board.gated:
        said.append(
            "No cell has labels of two judges: agreement is unknown, and no rubric was dropped for it."
        )
    if board.by_score:
        bank = ", and no bank is chosen without one of them" if settings.basis == "bank" else ""
        once = ", copies counted once" if len(board.systems) >= FEW_SYSTEMS else ""
        said.append(
            f"Fewer than {FEW_SYSTEMS} systems{once}: the claims are about scores, not abilities{bank}."
        )
    if standing.method == "bootstrap":
        said.append("Rubrics are resampled within their queries: the claims hold for these very queries.")
    else:
        said.append(_evidence(board))
    said += () if board.refused else _design_effect(standing)
    said += filter(None, [different_queries_sentence(board), panels_sentence(board), board.missing_labels])
    said += () if board.refused else _level(board)
    unranked = len(board.systems) - int(standing.ranked.sum())
    if unranked:
        said.append(
            f"{count(unranked, 'system')} {verb(unranked, 'are')} not ranked: no label on these rubrics counts."
        )
    return tuple(said)


def explanations(board: Board) -> tuple[str, ...]:
    """The sentences of ``rests_on`` that explain a figure and do not limit a claim."""
    if board.refused:
        return ()
    return (*_design_effect(board.standing), *(_level(board) if board.standing.simultaneous else ()))


def _design_effect(standing: Inference) -> tuple[str, ...]:
    if not np.isfinite(standing.design_effect):
        return ()
    return (
        f"Design effect {standing.design_effect:.1f}: the variance with {like(standing)} as the unit of evidence, "
        "as a multiple of that with rubrics as the unit.",
    )


def _level(board: Board) -> tuple[str, ...]:
    """A sentence on whether the level holds for all pairs at once or for each pair alone; () with Holm's correction."""
    standing, level = board.standing, level_of(board)
    if standing.simultaneous:
        pairs = "All pairs" if standing.n_groups == 1 else "All pairs within the groups"
        unless = ", unless labels are missing because systems failed" if board.missing_labels else ""
        return (
            f"{pairs} are compared at once: with probability {level} no separation on this board is false{unless}.",
        )
    if standing.method == "bootstrap" and board.settings.holm:
        return ()  # Holm's correction is then applied to the bootstrap's shares
    return (f"Each pair is compared alone at {level}: some of many pairs are separated by chance.",)


def like(standing: Inference) -> str:
    """The unit of evidence of which more would separate more systems: "queries" or "domains"."""
    return "domains" if standing.unit == "domain" else "queries"


def units(standing: Inference) -> str:
    """The number of units of evidence in words, for example "8 domains and 3 queries without one"."""
    if standing.unit == "query":
        return count(standing.n_units, "query")
    lone = f" and {count(standing.lone, 'query')} without one" if standing.lone else ""
    return f"{count(standing.n_units - standing.lone, 'domain')}{lone}"


def linked_by(standing: Inference) -> str:
    """What different groups of systems share too few of: "rubrics" or "queries". Domains do not link systems."""
    return "rubrics" if standing.unit == "rubric" else "queries"


def groups_sentence(board: Board) -> str:
    """A sentence: systems of different groups are not compared, and who is in the first two; "" with one group."""
    standing = board.standing
    if standing.n_groups == 1:
        return ""
    some = "; ".join(
        f"{group}: {listed([board.names[i] for i in np.flatnonzero(standing.group_number == group)], most=3)}"
        for group in (1, 2)
    )
    return (
        f"The systems form {standing.n_groups:,} groups that share too few {linked_by(standing)} ({some}"
        f"{'; …' if standing.n_groups > 2 else ''}): no pair of two groups is compared, and their estimates have no "
        "common scale."
    )


def different_queries_sentence(board: Board) -> str:
    """A sentence: systems have labels on different queries, and what allows for it; "" if some merely have fewer."""
    if board.in_common is None or board.queries is None:
        return ""
    (least, of), ranked = board.in_common, board.standing.ranked
    if least / of >= FEWER * (board.queries.on / np.maximum(board.queries.of, 1))[ranked].min():
        return ""
    allow = (
        "scores are compared in a model with one effect for each query"
        if board.by_score
        else "abilities allow for how hard these are; the score S of a system is over its own queries"
    )
    two = "some two of a group" if board.standing.n_groups > 1 else "some two"
    return (
        f"The systems have labels on different queries, {two} on only {least:,} of {of:,} in common: {allow}."
    )


def _fewer(board: Board, labelled: Labelled | None, what: str) -> str:
    """The clause "x has ``what`` than others, on 40 of 100"; "" if no system has clearly fewer labels."""
    if labelled is None or not board.standing.ranked.any():
        return ""
    ranked = np.flatnonzero(board.standing.ranked)
    together = np.broadcast_to(labelled.together, labelled.on.shape)[ranked]
    labelled = Labelled(labelled.on[ranked], labelled.of[ranked], together)
    fewer = np.flatnonzero(labelled.fewer())
    if not len(fewer):
        return ""
    worst = fewer[np.argmin(labelled.on[fewer] / labelled.of[fewer])]
    one, least = board.names[ranked[worst]], f"{labelled.on[worst]:,} of {labelled.of[worst]:,}"
    if len(fewer) == 1:
        return f"{one} has {what} than others, on {least}"
    return f"{len(fewer):,} systems have {what} than others, {one} the fewest ({least})"


def panels_sentence(board: Board) -> str:
    """A sentence: different judges labelled the systems, and how the intervals allow for it; "" if they did not."""
    standing = board.standing
    if not board.unequal:
        return ""
    said = "The systems' labels come from different judges, or from the same judges in different shares or numbers"
    if standing.allowance is None:
        return (
            f"{said}: the board's intervals do not allow for differences in leniency and number between these "
            "judges."
        )
    said += ": the intervals allow for the possible effect of leniency and numbers"
    if standing.excused:
        excused = f"{count(standing.excused, 'pair')} {verb(standing.excused, 'are')}"
        said += f", and {excused} not separated that otherwise would be"
    if board.settings.consensus == "majority":
        return f"{said}."
    return (
        f"{said}. If judges err often, the most likely level of a cell with few labels is the most common level, and "
        "no interval allows for that: if the numbers of labels differ, use the majority instead."
    )


def other_judges(board: Board, in_groups: bool = False) -> str:
    """A sentence, with a blank before it: intervals by group do not allow for different judges; "" if they are equal.

    in_groups: whether the judges differ in a group, even if they do not differ over all rubrics.
    """
    if not board.unequal and not in_groups:
        return ""
    where = "The" if board.unequal else "In some groups the"
    return (
        f" {where} systems' labels come from different judges, or from the same judges in different shares or numbers, "
        "and these intervals do not allow for differences in leniency and number between the judges: these may cause "
        "a difference between systems."
    )


def _evidence(board: Board) -> str:
    """A sentence on the units of evidence and on the population that the claims hold for."""
    standing = board.standing
    if standing.unit == "rubric":
        return "Only one query has rubrics in use: these are the evidence, and nothing is known of other queries."
    if standing.unit == "domain" and standing.n_units == 1:
        return (
            "All rubrics used are of one domain: nothing is known of other domains, and no pair is separated."
        )
    if standing.unit == "query" and board.settings.population == "domains":
        return (
            f"Fewer than two domains have labels: the evidence is {units(standing)}, and nothing is known of other "
            "domains."
        )
    evidence = f"{units(standing)}{_most_of_one_system(board)}{_uneven(board)}"
    claims = "" if board.refused else f": the claims hold for {like(standing)} like these"
    return f"The evidence is {evidence}{claims}."


def _most_of_one_system(board: Board) -> str:
    """The clause ", at most n for one system" if groups or banks have different queries; "" if all have the same."""
    if (
        board.standing.unit == "query" and board.n_rubrics[1] < board.standing.n_units
    ):  # banks chosen without a system
        return f", at most {board.n_rubrics[1]:,} for one system"
    if board.standing.n_groups == 1 or board.standing.unit != "query" or board.queries is None:
        return ""
    return f", at most {board.queries.on[board.standing.ranked].max():,} for one system"


def _uneven(board: Board) -> str:
    """A clause: few queries have most of the labels; "" if they have not, or for scores, whose weights are given."""
    standing, known = board.standing, board.standing.n_units
    if board.by_score or standing.unit != "query" or standing.n_equal is None:
        return ""
    if board.queries is not None:  # queries that systems lack do not count
        known = min(known, int(np.median(board.queries.on[standing.ranked])))
    if standing.n_equal == 1 < known:
        return ", which count as one since one of them has most of the labels, so that nothing shows how queries vary"
    if standing.n_equal >= UNEVEN * known:
        return ""
    return f", which count as {standing.n_equal:,} equal ones since a few have most of the labels"


def _scale_of_ability(standing: Inference) -> str:
    known = standing.estimate[np.isfinite(standing.estimate)]
    if len(known) < 2 or standing.n_groups > 1:
        return "θ is ability"
    return f"θ is ability (standard deviation of these systems' estimates: {np.std(known, ddof=1):.2g})"


def reading(board: Board) -> tuple[str, ...]:
    """Two texts for readers: what the estimate and its interval are, and what a tier is."""
    level = level_of(board)
    scale = (
        "Score S is the weighted share of the marks" if board.by_score else _scale_of_ability(board.standing)
    )
    tier = (
        "A new tier starts at each system that is separated from the next one above it, so two systems of one tier may "
        "be separated."
        if board.settings.tier_rule == "adjacent"
        else "A tier runs from its best system to the last before one that is separated from it: other systems of a "
        "tier may be separated, and systems of different tiers need not be; the list of pairs shows which."
    )
    apart = (
        " Different groups of systems share the axis of a chart, but no scale: ranks and tiers are within a group."
        if board.standing.n_groups > 1
        else ""
    )
    return f"{scale}; the {level} interval of a system is for that system alone.{apart}", tier


def limits(board: Board) -> tuple[str, ...]:
    """Sentences on what the board does not show, against likely misreadings."""
    judged = "the judges: an error that all of them share can move systems"
    if board.n_judges == 1:
        judged = "one judge: its error can move systems"
    said = [
        f"Not separated does not mean equal: more {like(board.standing)} may separate two such systems.",
        f"The labels are those of {judged}, and no interval covers "
        "it. If it is random it widens the intervals; if it favours a system, only other labels can show it.",
        "A rank among these systems does not hold for systems that are not here.",
        "The points of rubrics in their source do not count in the score."
        if board.by_score
        else "The score S is not the share of rubrics passed: rubrics on which all systems are equal are left out, "
        "the others are weighted by their information, and their points in the source do not count.",
    ]
    if board.by_score and board.standing.unit == "query" and board.standing.n_units >= SEVERAL:
        said.append(
            f"A failure on whole queries that is rarer than 3 in {board.standing.n_units:,} may not have happened on "
            "these queries: the interval of a score may then be too narrow."
        )
    if not board.by_score and board.settings.cross_fitted and board.n_judges > 1:
        said.append(
            "θ and its interval are those of the response model: in simulations where judges differ much in leniency, "
            f"95% intervals contained only {LEAST_COVERAGE:.0%} of the true values."
        )
    if not board.by_score and board.settings.cross_fitted and board.settings.basis == "bank":
        said.append(
            "A bank often pulls abilities towards the middle: its intervals are for θ on the bank, and may miss θ on "
            "all rubrics that pass."
        )
    if board.standing.method == "bootstrap":
        said.append("Other queries may rank the systems differently: only the rubrics are resampled.")
    return tuple(said)


def name(system: str) -> str:
    """The name of a system, shortened to LONGEST characters, for a sentence that names no other."""
    return short_name(system, LONGEST)


def level_of(board: Board) -> str:
    """The confidence level of the claims as text, for example "95%"."""
    return percent(board.standing.confidence)


def _basis(board: Board) -> str:
    placed, (least, most) = "Placed" if board.refused else "Ranked", board.n_rubrics
    settings, rubrics = board.settings, count(most, "rubric")
    if board.by_score:
        passing = " that pass" if board.gated else ""
        return f"{placed} on all {rubrics}{passing}, those on which the systems are equal included."
    if settings.basis == "all":
        fitted = (
            ""
            if settings.cross_fitted
            else ", by a model that was fitted on these same labels, as in the paper"
        )
        passing = "that pass and " if board.gated else ""
        return f"{placed} on all {rubrics} {passing}on which systems differ{fitted}."
    if settings.cross_fitted:
        some = f"{least:,} to " if least < most else ""
        by_hand = "" if settings.composition is None else ", except for what was composed by hand"
        return f"{placed} as if each system were new: on a bank of {some}{rubrics} that was chosen without it{by_hand}."
    return (
        f"{placed} on a bank of {rubrics} that was chosen and fitted on these same labels, as in the paper: such "
        "intervals are too narrow, and too many pairs are separated."
    )
