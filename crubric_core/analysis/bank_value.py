"""What a bank is worth for systems that it has not seen, and random banks of the same size (docs/method.md §8, §10)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial

import numpy as np

from ..bank.worth import Worth, bank_worth, least_keeping, worth_difference
from ..judges.unequal_panels import UnequalPanels
from ..leaderboard.cross_fit import CrossFit
from ..leaderboard.inference import separated_pairs
from ..leaderboard.influence import Domains, ability_influence
from ..settings import Settings
from ..text import count, ends, numeral, percent, rounded, verb
from ..types import BoolArray, FloatArray, IntArray
from ..workers import run_threads

SIZES = 9  # sizes on the grid of a curve
SMALLEST, LARGEST, FARTHEST = 10, 512, 4096  # sizes on the grid; FARTHEST if a user asks for larger banks
DRAWS = 10  # random banks of each size
TARGET = 0.95


@dataclass(frozen=True)
class Placing:
    """Placing of M systems on a set of rubrics.

    ability: (M,), NaN unknown. separated: (M, M) which pairs are separated. group: (M,) number of each system's group:
    only within a group do abilities have a common scale.
    """

    ability: FloatArray
    separated: BoolArray
    group: IntArray


@dataclass(frozen=True)
class WorthCurve:
    """Worth of banks of n sizes, chosen without the systems that they place, and of random banks of these sizes.

    sizes: (n,) ascending. chosen, random: one worth for each size. pool: number of rubrics of the whole pool. systems:
    their number M. grid: the sizes by which TARGET is judged; the budget is not among them, unless by chance, so that
    another budget does not change the answer.
    """

    sizes: IntArray
    chosen: tuple[Worth, ...]
    random: tuple[Worth, ...]
    pool: int
    systems: int
    grid: IntArray

    @property
    def on_grid(self) -> WorthCurve:
        """The curve restricted to the sizes of its grid: without the budget, unless it is one of them."""
        at = np.flatnonzero(np.isin(self.sizes, self.grid)).tolist()
        chosen, random = (tuple(worths[n] for n in at) for worths in (self.chosen, self.random))
        return replace(self, sizes=self.grid, chosen=chosen, random=random)

    def at(self, size: int) -> tuple[Worth, Worth]:
        """Worth of the chosen bank of this size, and of random banks of this size."""
        place = int(np.flatnonzero(self.sizes == size)[0])
        return self.chosen[place], self.random[place]

    def least(self) -> int | None:
        """Least size of the grid from which on all chosen banks keep TARGET of the pairs; None if there is none."""
        kept = [worth.kept.estimate for worth in self.on_grid.chosen]
        return least_keeping(self.grid, np.array(kept), TARGET)


def place_on(
    cross: CrossFit,
    masks: Sequence[BoolArray],
    query_index: IntArray,
    settings: Settings,
    panels: UnequalPanels | None = None,
    domains: Domains | None = None,
) -> list[Placing]:
    """Cross-fitted abilities on each of the masks, (J,) or (F, J), and which pairs they separate.

    panels: unequal panels, for which intervals allow. domains: units of evidence in place of queries. The first mask is
    placed before the threads start, since it computes what all masks share.
    """
    normals = partial(_normals, settings.seed)

    def place(use: BoolArray) -> Placing:
        influence = ability_influence(cross, use, query_index, panels, domains)
        separated = separated_pairs(
            influence, normals, confidence=settings.confidence, simultaneous=settings.simultaneous
        )
        group = influence.group
        return Placing(
            influence.estimate,
            separated,
            np.zeros(len(separated), dtype=np.int64) if group is None else group,
        )

    first, rest = [place(mask) for mask in masks[:1]], masks[1:]
    return first + run_threads(place, rest, gains=cross.is_large)


@lru_cache(maxsize=16)
def _normals(seed: int, shape: tuple[int, int]) -> FloatArray:
    """The normal draws that the leaderboard uses, so that all pages separate pairs by the same threshold."""
    drawn = np.random.default_rng([seed, 2]).standard_normal(shape)
    drawn.flags.writeable = False
    return drawn


def worth_of(pool: Placing, banks: list[Placing], confidence: float) -> Worth:
    """The worth of one bank, compared with the pool, or the mean worth of several banks of one size."""
    ability, separated, groups = (
        np.stack([getattr(b, name) for b in banks]) for name in ("ability", "separated", "group")
    )
    return bank_worth(
        pool.ability,
        pool.separated,
        ability,
        separated,
        confidence,
        group=pool.group,
        bank_groups=groups,
    )


def random_places(candidates: BoolArray, seed: int) -> IntArray:
    """(DRAWS, F, J) place, from 1, of each of the fold's candidates (F, J) in a random order; 0 for other rubrics.

    All folds share the order. The random bank "as if new" of n rubrics holds the candidates at the places 1 to n.
    """
    rng, places = np.random.default_rng([seed, 5]), np.empty((DRAWS, *candidates.shape), dtype=np.int64)
    for place in places:
        order = rng.permutation(candidates.shape[1])
        place[:, order] = candidates[:, order].cumsum(axis=1)
    return places * candidates


def random_masks(places: IntArray, size: int) -> list[BoolArray]:
    """DRAWS random banks "as if new": (F, J) masks of ``size`` candidates of each fold, or of all if it has fewer."""
    return [(place > 0) & (place <= size) for place in places]


def grid_sizes(ordered: int, smallest: int = 0, largest: int = LARGEST) -> IntArray:
    """(n,) ascending bank sizes from SMALLEST to ``ordered``, or to ``largest`` if that is less, even on a log scale.

    smallest: least size that a bank can have. If it exceeds SMALLEST or ``largest``, it takes their place.
    """
    most = min(ordered, max(largest, smallest))
    least = min(max(SMALLEST, smallest), most)
    return np.unique(np.geomspace(least, most, SIZES).round().astype(np.int64))


def worth_sentences(curve: WorthCurve, size: int) -> tuple[str, str]:
    """Two texts: what a bank of ``size`` keeps of the pool's separated pairs, and from which size on 95% are kept."""
    chosen, random = curve.at(size)
    if not chosen.separated and any(worth.separated for worth in curve.chosen):
        return (
            f"All {count(curve.pool, 'rubric')} of the pool separate pairs of systems, but none of those that a bank "
            f"of {size:,} places ({_placed(curve, chosen)}).",
            _enough(curve),
        )
    if not chosen.separated:
        return (
            f"All {count(curve.pool, 'rubric')} of the pool separate no pair of systems, so no bank can keep any.",
            "Read intervals, not ranks.",
        )
    if (
        size >= curve.pool and chosen.kept.estimate == 1
    ):  # if fewer pairs are kept, fewer rubrics vary without a system: see below
        return (
            f"The bank holds all {count(curve.pool, 'rubric')} that pass and vary, so it separates the same "
            f"{count(chosen.separated, 'pair')}.",
            _enough(curve),
        )
    kept, turned = chosen.kept, chosen.reversed.estimate
    keep, turn = verb(size, "keep"), verb(size, "reverse")
    subject = count(size, "rubric")
    if size >= curve.pool:  # without a system, fewer rubrics may vary, and these separate fewer pairs
        subject = (
            f"The bank is all {count(curve.pool, 'rubric')} of the pool. When each system is placed without its own "
            "labels, they"
        )
        keep, turn = "keep", "reverse"
    reverse = f"{turn} none" if turned == 0 else f"{turn} {_at_least(turned, 0.001, '.1%')}"
    among = (
        f" among the {_placed(curve, chosen)} that the bank places" if chosen.systems < curve.systems else ""
    )
    first = (
        f"{subject} {keep} {rounded(kept.estimate)} [{kept.low:.0%}, {kept.high:.0%}] of the "
        f"{count(chosen.separated, 'pair')} that all {curve.pool:,} separate{among}, and {reverse}"
    )
    if random.separated:
        kept = random.kept
        first += f"; random banks of {size:,} keep {rounded(kept.estimate)} [{kept.low:.0%}, {kept.high:.0%}]"
        if random.separated != chosen.separated:
            first += f" of the {random.separated:,} that they place"
    error = chosen.rank_error.estimate
    lands = f"{_at_least(error, 0.1, '.1f')} ranks from" if error else "on"
    within = (
        f" within its group, as the {chosen.groups:,} groups of systems have no common scale"
        if chosen.groups > 1
        else ""
    )
    return f"{first}.", (
        f"{'On average a' if error else 'Each'} new system lands {lands} its rank on all of them{within} "
        f"({_placed(curve, chosen)}, each placed without its own labels). {_enough(curve)}"
    )


def curve_sentences(curve: WorthCurve, confidence: float) -> str:
    """The curve in words: from which size on it keeps TARGET, how often it beats random banks, what the bands are."""
    curve = curve.on_grid
    kept, random = (
        np.array([worth.kept.estimate for worth in worths]) for worths in (curve.chosen, curve.random)
    )
    least, level = curve.least(), f"{TARGET:.0%}"
    if least is None:
        where = f"{'ends' if (kept >= TARGET).any() else 'stays'} below {level}"
    elif least == curve.sizes[0]:
        where = f"is at {level} or above at each size"
    elif least == curve.sizes[-1]:
        where = f"is at {level} or above at the largest size, {least:,}, and below it at the size before"
    else:
        where = f"is at {level} or above from {least:,} on"
    above = f"{(kept > random).sum():,} of {count(len(kept), 'size')}"
    beside = f", and is above that of random banks at {above}" if np.isfinite(random).any() else ""
    bands = f"Bands: {percent(confidence)} intervals over systems"
    if np.isin((kept, random), (0, 1)).any():
        bands += "; where no pair or every pair is kept, they rest on the number of systems alone"
    return f"The bank's line {where}{beside}. {bands}."


def composed_sentence(after: WorthCurve, before: WorthCurve, confidence: float) -> str:
    """What share of the separated pairs a bank composed by hand keeps, compared with the bank of the strategy alone.

    after, before: curves with and without the composition. The last size of each is the size of the bank.
    """
    new, old = after.chosen[-1], before.chosen[-1]
    found = worth_difference(new, old, "kept", confidence)
    if not np.isfinite(found.estimate):
        return "Held out, the two banks place no pairs that the whole pool separates, so what they keep is unknown."
    return (
        f"Held out, {int(after.sizes[-1]):,} composed rubrics keep {new.kept.estimate:.1%} of the separated pairs, and "
        f"{int(before.sizes[-1]):,} chosen by the strategy alone keep {old.kept.estimate:.1%}: a difference of "
        f"{numeral(100 * found.estimate, '+z.1f')} percentage points "
        f"{ends(100 * found.low, 100 * found.high, '+z.1f')}."
    )


def _placed(curve: WorthCurve, worth: Worth) -> str:
    """How many systems take part, for example ``14 of 15 systems``."""
    some = f"{worth.systems:,} of " if worth.systems < curve.systems else ""
    return f"{some}{count(curve.systems, 'system')}"


def _at_least(value: float, step: float, form: str) -> str:
    """The number in the format ``form``, whose least step is ``step``; "less than" a step if it would round to 0."""
    return f"less than {step:{form}}" if 0 < value < step / 2 else f"{value:{form}}"


def _enough(curve: WorthCurve) -> str:
    """A sentence: from which size of the grid on 95% of the separated pairs are kept.

    It gives the interval, since with few systems a size may pass the target by luck.
    """
    least, tried = curve.least(), f"{len(curve.grid)} fixed sizes tried"
    largest, level = int(curve.grid[-1]), f"{TARGET:.0%}"
    sole = f"The only fixed size tried, {largest:,}," if len(curve.grid) == 1 else ""
    if least is None:
        return f"{sole or f'The largest of {tried}, {largest:,},'} does not keep {level}."
    kept = curve.at(least)[0].kept
    if sole:
        return f"{sole} keeps {rounded(kept.estimate)} [{kept.low:.0%}, {kept.high:.0%}]."
    if least == largest >= curve.pool:
        before = int(curve.grid[-2])
        return (
            f"Of {tried}, a bank of {before:,} keeps {curve.at(before)[0].kept.estimate:.1%} and the next, all "
            f"{least:,}, keeps {kept.estimate:.1%}: {level} is reached between them."
        )
    return (
        f"Of {tried}, all from {least:,} on keep {level} here: a bank of {least:,} keeps {rounded(kept.estimate)} "
        f"[{kept.low:.0%}, {kept.high:.0%}]."
    )
