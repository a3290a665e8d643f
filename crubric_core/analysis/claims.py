"""All sentences about which systems are ahead, made from the pairwise comparisons (docs/method.md §10).

"Separated", "not separated" and "ahead of" count pairs of ``Board.comparisons``; nothing is inferred from tiers. Pages,
views, files and reports take their sentences from here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from ..leaderboard.inference import open_beyond
from ..text import count, ends, listed, numeral, sentence_case, verb
from .agreement import OtherRanking
from .board import Board, groups_sentence, level_of, limits, linked_by, reading, rests_on

NAMED = 5  # systems that a sentence names


@dataclass(frozen=True)
class Claims:
    """Sentences about a board. They are plain text: escape them before they are shown in Markdown or HTML.

    tier: which systems are in the first tier, or "". ahead: which pairs are separated. contradicted: other rankings
    that contradict separated pairs. basis: what the claims rest on. beside: other rankings that contradict none.
    reading: what theta and an interval are, and what a tier is. limits: what the board does not show.
    """

    tier: str
    ahead: str
    contradicted: tuple[str, ...]
    basis: tuple[str, ...]
    beside: tuple[str, ...]
    reading: tuple[str, ...]
    limits: tuple[str, ...]

    @property
    def headline(self) -> tuple[str, ...]:
        """The sentences that come first: tier, ahead and contradicted, without empty ones."""
        return tuple(sentence for sentence in (self.tier, self.ahead, *self.contradicted) if sentence)

    def without_tiers(self) -> Claims:
        """These claims for readers who are not shown tiers: the sentences about tiers are left out."""
        return replace(self, tier="", reading=self.reading[:1])


def claims_of(board: Board, others: Sequence[OtherRanking] = ()) -> Claims:
    """All sentences about a board. If claims are refused, only the reason, the basis, the reading and the limits.

    others: further rankings of the systems, compared with the board.
    """
    if board.refused:
        refused = f"No claim about who is ahead. {board.refused}"
        return Claims("", refused, (), rests_on(board), (), reading(board)[:1], limits(board))
    return Claims(
        tier=first_tier(board),
        ahead=" ".join(part for part in (ahead(board), _saturated(board), groups_sentence(board)) if part),
        contradicted=tuple(_against(board, other) for other in others if other.reversed),
        basis=rests_on(board),
        beside=tuple(
            _alike(board, other) for other in others if not other.reversed and _is_informative(other)
        ),
        reading=reading(board),
        limits=limits(board),
    )


def first_tier(board: Board) -> str:
    """A sentence: the first tier, best first; "" with fewer than two pairs, all pairs separated, or several groups."""
    best, groups = _best_first(board), board.standing.n_groups
    if groups > 1 or len(board.comparisons) < 2 or board.comparisons["separated"].all():
        return ""
    names = [board.names[i] for i in best if board.standing.tier[i] == 1]
    if len(names) == len(best) > 2:
        return f"Tier 1: all {len(names):,} systems."
    more = len(names) - NAMED
    return f"Tier 1: {', '.join(names[:NAMED])}{f' and {more:,} more' if more > 0 else ''}."


def ahead(board: Board) -> str:
    """How many systems the first one is ahead of, and which pairs are separated; within groups if there are several."""
    if board.standing.n_groups > 1:
        return _ahead_in_groups(board)
    best, level = _best_first(board), level_of(board)
    if len(best) < 2:
        return f"Only {board.names[best[0]]} could be ranked." if len(best) else "No system could be ranked."
    wins, pairs, apart = (
        wins_of(board.comparisons),
        len(board.comparisons),
        separated_pairs(board.comparisons),
    )
    lead, others = board.names[best[0]], len(best) - 1
    won = wins.get(board.systems[best[0]], 0)
    if not apart and others == 1:
        one, other = (board.names[i] for i in best[:2])
        return f"{one} and {other} are not separated at {level}: no claim about who is ahead."
    if not apart:
        return f"No pair of the {len(best):,} systems is separated at {level}: no claim about who is ahead."
    if others == 1:
        return f"{lead} is ahead of {board.names[best[1]]} at {level}."
    if apart == pairs:
        said = f"All {pairs:,} pairs of the {len(best):,} systems are separated at {level}: {lead} is first."
    elif won == others:
        said = f"{lead} is ahead of {'both' if others == 2 else f'all {others:,}'} others at {level}."
    elif won:
        said = f"{lead} is ahead of {won:,} of the {others:,} others at {level}."
    else:
        said = (
            f"{lead} has the highest {_what(board)}, but is not separated from any of the {others:,} others at "
            f"{level}; {apart:,} of the {pairs:,} pairs {verb(apart, 'are')} separated."
        )
    return " ".join(part for part in (said, _equal(board, best)) if part)


def _ahead_in_groups(board: Board) -> str:
    """A sentence: how many pairs within groups are separated, and which systems lead the first two groups."""
    standing, wins, level = board.standing, wins_of(board.comparisons), level_of(board)
    pairs, apart = standing.n_pairs, separated_pairs(board.comparisons)
    if not pairs:
        return (
            f"No two systems share enough {linked_by(standing)} to be compared: no claim about who is ahead."
        )
    if not apart:
        return f"No pair within a group is separated at {level}: no claim about who is ahead."
    leads = []
    for group in (1, 2):
        first, *others = (i for i in _best_first(board) if standing.group_number[i] == group)
        won = wins.get(board.systems[first], 0)
        if won:
            some = f"{won:,} of the {len(others):,} others" if won < len(others) else "all others"
            leads.append(f"{board.names[first]} is ahead of {some} of group {group}")
    some = f"{apart:,} of the {pairs:,} pairs within groups" if pairs > 1 else "The only pair within a group"
    said = f"{some} {verb(apart, 'are')} separated at {level}"
    return f"{said}: {' and '.join(leads)}." if leads else f"{said}."


def pair_sentence(board: Board, one: int, other: int) -> str:
    """A sentence comparing two systems, given by position; its difference is the first named minus the second."""
    standing, level = board.standing, level_of(board)
    if standing.separated[one, other] and standing.difference[one, other] < 0:
        one, other = other, one
    names = (board.names[one], board.names[other])
    if not (standing.ranked[one] and standing.ranked[other]):
        return f"{names[0]} and {names[1]} are not compared: one of them is not ranked."
    if standing.group is not None and standing.group[one] != standing.group[other]:
        return f"{names[0]} and {names[1]} are not compared: they share too few {linked_by(standing)}."
    low, high = open_beyond(
        np.array([standing.difference_low[one, other], standing.difference_high[one, other]])
    ).tolist()
    if standing.saturated[one] == standing.saturated[other] != 0 and np.isinf([low, high]).all():
        what = "pass" if standing.saturated[one] > 0 else "fail"
        return f"{names[0]} and {names[1]} are not compared: both {what} every rubric used."
    interval = f"difference {numeral(standing.difference[one, other], '+z.2f')} {ends(low, high)}"
    if not standing.separated[one, other]:
        return f"{names[0]} and {names[1]} are not separated at {level}: {interval}."
    return f"{names[0]} is ahead of {names[1]} at {level}: {interval}."


def place_sentence(board: Board, system: int) -> str:
    """A sentence: which systems one system, given by position, is ahead of, behind, and not separated from."""
    standing, shown = board.standing, board.names[system]
    if board.refused:
        return f"No claim about where {shown} stands. {board.refused}"
    if not standing.ranked[system]:
        return f"{shown} is not ranked: it has no label on these rubrics."
    group, ranked = standing.group_number, _best_first(board)
    best = [i for i in ranked if i != system and group[i] == group[system]]
    if not best and len(ranked) == 1:
        return f"{shown} is the only system that is ranked."
    if not best:
        return f"{shown} is compared with no other system: it shares too few {linked_by(standing)} with them."
    apart, above = standing.separated[system], standing.difference[system] > 0
    groups = {
        "ahead of": [i for i in best if apart[i] and above[i]],
        "behind": [i for i in best if apart[i] and not above[i]],
        "not separated from": [i for i in best if not apart[i]],
    }
    parts = [
        f"{how} {_some(board, who, len(best), 'any of the' if how.endswith('from') else 'all')}"
        for how, who in groups.items()
        if who
    ]
    within = f" within group {group[system]:.0f}" if standing.n_groups > 1 else ""
    return f"{shown} is {listed(parts)} at {level_of(board)}{within}."


def wins_of(comparisons: pd.DataFrame) -> dict[str, int]:
    """System → number of systems that it is ahead of; a system that is ahead of none has no entry."""
    counts = comparisons.loc[comparisons["separated"], "system"].value_counts()
    return {str(system): int(number) for system, number in counts.items()}


def separated_pairs(comparisons: pd.DataFrame) -> int:
    """Number of separated pairs."""
    return int(comparisons["separated"].sum())


def _best_first(board: Board) -> list[int]:
    estimate = np.where(board.standing.ranked, board.standing.estimate, -np.inf)
    return [int(i) for i in np.argsort(-estimate, kind="stable")[: int(board.standing.ranked.sum())]]


def _some(board: Board, who: Sequence[int], others: int, every: str) -> str:
    """``x`` if it is the only other, ``all 7 others`` (``every`` for "all"), or ``3 of the 14 others (x, y and z)``."""
    if len(who) == others:
        return board.names[who[0]] if others == 1 else f"{every} {others:,} others"
    return f"{len(who):,} of the {others:,} others ({listed([board.names[i] for i in who], NAMED)})"


def _what(board: Board) -> str:
    return "score" if board.by_score else "ability"


def _equal(board: Board, best: Sequence[int]) -> str:
    top = [i for i in best if board.standing.estimate[i] == board.standing.estimate[best[0]]]
    if len(top) == 1 or (
        board.standing.saturated[best[0]] > 0 and not board.by_score
    ):  # such abilities have no upper bound
        return ""
    return f"{listed([board.names[i] for i in top], NAMED)} have the same highest {_what(board)}."


def _saturated(board: Board) -> str:
    best = _best_first(board)
    top = [board.names[i] for i in best if board.standing.saturated[i] > 0]
    if not top or len(best) < 2:
        return ""
    if len(top) == 1:
        return f"{top[0]} passes every rubric used{'' if board.by_score else ': its ability has no upper bound'}."
    if board.by_score:
        return f"{listed(top, NAMED)} pass every rubric used."
    return f"{listed(top, NAMED)} pass every rubric used: they are not compared with each other."


def _is_informative(other: OtherRanking) -> bool:
    return other.separated > 0 or bool(np.isfinite(other.rho))


def _against(board: Board, other: OtherRanking) -> str:
    above, below = (board.names[i] for i in other.example or (0, 0))
    puts = "separates" if other.tested else "orders"
    return (
        f"But {_subject(other)} {puts} {other.reversed:,} of the {count(other.separated, 'separated pair')} the other "
        f"way: {above} above {below}{', for example' if other.reversed > 1 else ''}."
    )


def _rho(rho: float) -> str:
    """The correlation with two decimals; "ρ > 0.99" if it would round to 1.00 though the orders differ."""
    return "ρ > 0.99" if 0.995 <= rho < 1 - 1e-9 else f"ρ = {numeral(rho)}"


def _subject(other: OtherRanking) -> str:
    """The name of the other ranking, after the number of systems that it ranks if these are not all."""
    known = "" if other.among is None else f"of the {count(other.among, 'system')} that it ranks, "
    return f"{known}{other.name}"


def _alike(board: Board, other: OtherRanking) -> str:
    """Which pairs another ranking confirms, and which it separates against their order here, not separated here."""
    said = _confirms(other)
    if other.turned_example is None:
        return said
    above, below = (board.names[i] for i in other.turned_example)
    pairs = f"{count(other.turned, 'pair')} that are not separated here"
    if other.turned == 1:
        pairs = "1 pair that is not separated here"
    such = ":" if other.turned == 1 else ", such as"
    return f"{said} It separates {pairs} against their order here{such} {above} above {below}."


def _confirms(other: OtherRanking) -> str:
    rho = _rho(other.rho) if np.isfinite(other.rho) else ""
    subject = sentence_case(_subject(other))
    if not other.separated:
        return f"{subject} and this order correlate at {rho}; no pair is separated that it could confirm or contradict."
    puts = "separates" if other.tested else "orders"
    if other.separated == 1:
        one = (
            f"{puts} the one separated pair alike"
            if other.kept
            else f"does not {puts[:-1]} the one separated pair"
        )
        return f"{subject} {one}{f' ({rho})' if rho else ''}."
    if other.kept == other.separated:
        return f"{subject} {puts} all {other.separated:,} separated pairs alike{f' ({rho})' if rho else ''}."
    pairs = f"{other.kept:,} of the {count(other.separated, 'separated pair')}"
    return f"{subject} {puts} {pairs} alike and none the other way{f' ({rho})' if rho else ''}."
