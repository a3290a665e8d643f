"""Sentences with cautions about a placement: about the judges, and about what a system's labels cannot show."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..labels.repeated_systems import copies_once, repeated_of
from ..leaderboard.cross_fit import FEW_SYSTEMS, too_few_to_cross_fit
from ..leaderboard.linked import groups_by_query
from ..text import count, listed, numeral, rounded
from ..types import FloatArray, IntArray
from .abilities import Placement
from .bank_scale import BankScale
from .new_labels import NAMELESS, TIED, NewLabels
from .panel import Drift, PanelRecord, common_agreement, drift, panel_record

ALPHA = 0.01  # level of the comparison with the calibration's judges, divided among its tests (Bonferroni)
UNUSUAL = -1.645  # lz* below which one in twenty systems that follow the model lies
SHOWN = 3
CHOSEN = "; some of it is expected, because the bank's rubrics were kept for their agreement there"
UNEQUAL = (
    "The bank's systems were labelled by different judges, or by the same in different shares or numbers: interval, "
    "rank and tier allow for what leniency and numbers may change."
)


def panel_notes(bank_scale: BankScale, new: NewLabels) -> list[str]:
    """Notes on the judges, on changes since the calibration, on what is unknown of the bank, and on unused labels."""
    notes = _who(bank_scale, new)
    if bank_scale.reference is not None and bank_scale.reference.unequal:
        notes.append(UNEQUAL)
    if unranked := why_unranked(bank_scale):
        notes.append(unranked)
    elif bank_scale.reference is not None and np.isnan(bank_scale.transfer):
        notes.append(
            "By how much a system's place on this bank differs from its place on all rubrics beyond sampling is "
            "unknown, as no bank could be chosen without each of the systems in turn: intervals and tiers do not allow "
            "for it."
        )
    notes += _groups(bank_scale)
    if bank_scale.panel is not None and new.judges:
        record = panel_record(new.judges, new.panel, bank_scale.fit.levels)
        notes += _compared(bank_scale.panel, record, _units(bank_scale), new.judges)
    if bank_scale.settings.consensus != "majority":
        notes.append("The bank's consensus weighs its judges; the new labels go by their majority.")
    return notes + _split(bank_scale, new) + _unused(new)


def why_unranked(bank_scale: BankScale) -> str:
    """Why a system on this bank has no rank and no tier, whatever its labels; "" if it may have them."""
    if too_few_to_cross_fit(bank_scale.n_distinct):
        once = copies_once(bank_scale.n_distinct, len(bank_scale.systems))
        return (
            f"Rank and tier are unknown: the bank was made from {count(bank_scale.n_distinct, 'system')}{once}, and "
            f"with fewer than {FEW_SYSTEMS} its rubrics are fitted on the labels of the very systems that a new one is "
            "compared with."
        )
    if bank_scale.reference is None and bank_scale.settings.cross_fitted:
        return (
            "Rank and tier are unknown: only a bootstrap of the bank's rubrics compares the systems, and it often "
            "separates equal systems. Build the bank from several queries, with intervals for queries like these."
        )
    return ""


def _who(bank_scale: BankScale, new: NewLabels) -> list[str]:
    judges, panel = set(new.judges), set(bank_scale.judges)
    new_judges, absent = sorted(judges - panel), sorted(panel - judges)
    names = listed(bank_scale.judges, SHOWN) if bank_scale.judges else "unknown"
    off = "if these judges are stricter or more lenient, the ability is biased accordingly."
    if new_judges == [NAMELESS]:
        return [f"The labels name no judge; the bank's panel is {names}: {off}"]
    if new_judges and judges & panel:
        but = f", and not by {listed(absent, SHOWN)}" if absent else ""
        return [f"Judged also by {listed(new_judges, SHOWN)}, not of the bank's panel ({names}){but}: {off}"]
    if new_judges:
        return [f"Judged by {listed(new_judges, SHOWN)}, not by the bank's panel ({names}): {off}"]
    if absent and judges:
        return [
            f"Only {len(judges)} of the bank's {count(len(panel), 'judge')} labelled it: the consensus of fewer "
            "labels differs from the calibration's, and no interval allows for that."
        ]
    return []


def _groups(bank_scale: BankScale) -> list[str]:
    """A note if the bank's systems have no common scale."""
    if (groups := _reference_groups(bank_scale)) > 1:
        return [
            f"The bank's systems form {groups:,} groups that share too few queries for a common scale: a system is "
            "compared with the group whose queries it was labelled on, and the rubrics to judge next are of this "
            "group."
        ]
    if bank_scale.reference is not None:
        return []
    groups = groups_by_query(bank_scale.y, bank_scale.query_units[0])[1]
    if groups < 2:
        return []
    return [
        f"The bank's systems form {groups:,} groups that share too few of its queries for a common scale: tiers, "
        "ranks and probabilities of places among all of them mean nothing."
    ]


def _reference_groups(bank_scale: BankScale) -> int:
    """Number of groups of reference systems that have no common scale with each other; 0 without reference systems."""
    reference = bank_scale.reference
    if reference is None:
        return 0
    group = np.zeros(len(reference.theta)) if reference.group is None else reference.group
    return len(np.unique(group[np.isfinite(reference.theta)]))


def _split(bank_scale: BankScale, new: NewLabels) -> list[str]:
    """A note if most cells have an even number of labels either here or in the calibration, but not in both.

    With an even number the lower of the two middle levels counts.
    """
    labels = np.isfinite(new.panel).sum(axis=2)
    labels = labels[labels > 0]
    if bank_scale.settings.response != "ordered" or not bank_scale.judges or not labels.size:
        return []
    even = bool((labels % 2 == 0).mean() > 0.5)
    if even == (len(bank_scale.judges) % 2 == 0):
        return []
    here, side = ("new", "low") if even else ("calibration's", "high")
    return [
        f"Most {here} cells have an even number of labels, of which the lower middle one counts: the ability is "
        f"probably too {side}."
    ]


def _units(bank_scale: BankScale) -> IntArray:
    return np.unique(bank_scale.rubrics["query"].to_numpy(dtype=str), return_inverse=True)[1]


def _compared(old: PanelRecord, new: PanelRecord, unit: IntArray, judges: tuple[str, ...]) -> list[str]:
    """Notes if agreement, or the leniency of one of the same judges, differs from the calibration.

    The difference must exceed the variation among the calibration's systems: judges are stricter with some systems than
    with others. Leniency is relative to the other judges, so that with other colleagues the same judge may look
    stricter or more lenient.
    """
    same = judges if set(judges) == set(old.judges) else ()
    level, notes = ALPHA / (1 + len(same)), []
    found = _agreement(old, new, unit)
    if found is not None and found.p_value < level:
        how = "less" if found.difference < 0 else "more"
        notes.append(
            f"The judges agree {how} on the new labels than on the calibration's: by "
            f"{rounded(abs(found.difference))} of the pairs of labels (p = {found.p_value:.2g}, "
            f"{count(found.n, 'query')}){CHOSEN if old.expected is None and how == 'less' else ''}."
        )
    for judge in same:
        mine, theirs = (r.leniency[:, r.judges.index(judge)] for r in (new, old))
        sd = float(old.leniency_sd[old.judges.index(judge)])
        found = drift(mine, theirs, unit, (sd, new.systems, old.systems))
        if found is not None and found.p_value < level:
            how = "stricter" if found.difference < 0 else "more lenient"
            notes.append(
                f"{judge} is {how} against the others than in the calibration: by "
                f"{rounded(abs(found.difference))} of the scale (p = {found.p_value:.2g}, "
                f"{count(found.n, 'query')})."
            )
    if len(judges) == 1 and judges[0] in old.judges:
        notes += _alone(old, judges[0], unit)
    return notes


def _agreement(old: PanelRecord, new: PanelRecord, unit: IntArray) -> Drift | None:
    """Change of the agreement of the same pairs of judges, beyond what the choice of rubrics by agreement explains.

    A new agreement between the calibration's agreement and that expected of further systems is no evidence of a change.
    """
    both = common_agreement(new, old)
    if both is None:
        return None
    now, before, sd = both
    beside = (sd, new.systems, old.systems)
    chosen = 0.0 if old.expected is None else old.agreement - old.expected
    ends = [drift(now, before - part, unit, beside) for part in (np.zeros(len(now)), chosen)]
    first, other = ends
    if first is None or other is None:
        return None
    least = min(first, other, key=lambda each: abs(each.difference))
    return least if first.difference * other.difference > 0 else replace(least, p_value=1.0)


def _alone(old: PanelRecord, judge: str, unit: IntArray) -> list[str]:
    """A note if a single judge labelled whose leniency in the calibration is known and differs from 0."""
    leniency = old.leniency[:, old.judges.index(judge)]
    found = drift(leniency, np.zeros(len(leniency)), unit)
    if found is None or found.p_value >= ALPHA:
        return []
    how, side = ("stricter", "low") if found.difference < 0 else ("more lenient", "high")
    return [
        f"{judge} alone labelled it, and was {how} than the others in the calibration by "
        f"{rounded(abs(found.difference))} of the scale: the ability is probably too {side}."
    ]


def _unused(new: NewLabels) -> list[str]:
    if not len(new.unused):
        return []
    why = new.unused["reason"].value_counts(sort=True)
    said = "; ".join(f"{number:,}: {reason}" for reason, number in why.items())
    tied = int(why.get(TIED, 0))
    kind = "labels are not used" if len(new.unused) > 1 else "label is not used"
    rest = " A tied rubric is unknown." if tied else ""
    return [f"{len(new.unused):,} {kind} ({said}).{rest}"]


def system_notes(
    bank_scale: BankScale, system: str, y: FloatArray, found: Placement, fit: float
) -> list[str]:
    """Notes on one system with labels y (B,): an extrapolation, or an unusual pattern. fit: its lz*.

    fit is compared with lz* of the bank's systems at parameters fitted without them: at parameters fitted with their
    labels they would all look more usual than a new system.
    """
    extreme, usual = _extreme(bank_scale, system, y, found), bank_scale.person_fit
    if usual is not None and fit < min(UNUSUAL, float(np.nanmin(usual, initial=np.inf))):
        extreme.append(
            f"The pattern of {system}'s labels follows the scale less than that of any of the bank's systems (person "
            f"fit lz* = {numeral(fit, 'z.1f')}): one ability may not describe it."
        )
    return extreme


def repeated_notes(bank_scale: BankScale, new: NewLabels) -> list[str]:
    """Notes if a system has the name of one of the bank's systems, or repeats labels with which the bank was chosen."""
    notes = []
    for system, y, found in zip(new.systems, new.y, repeated_of(bank_scale.y, new.y).tolist(), strict=True):
        if found >= 0:
            other, old = bank_scale.systems[found], bank_scale.y[found]
            both = np.isfinite(y) & np.isfinite(old)
            equal, of = int((y == old)[both].sum()), count(int(both.sum()), "label")
            whose = f"the bank's own {system}" if other == system else other
            notes.append(
                f"{equal:,} of {of} of {system} are those of {whose}, which chose the bank and its parameters: the "
                "ability of a version of the same system is probably too far from the middle, and no interval, rank or "
                f"tier allows for that. Place it on a bank that was made without {other}."
            )
        elif system in bank_scale.systems:
            notes.append(
                f"{system} is the name of one of the bank's systems, too: the new labels are placed beside it, as "
                "those of another system."
            )
    return notes


def _extreme(bank_scale: BankScale, system: str, y: FloatArray, placement: Placement) -> list[str]:
    """A note if a system has too few labels, or an ability beyond those for which the bank was made."""
    share = y / (bank_scale.fit.levels - 1)
    share = share[~np.isnan(share)]
    if not share.size:
        return [f"{system} has no label on the bank, so it cannot be placed."]
    if np.isnan(placement.standing.rank[-1]) and not why_unranked(bank_scale):
        if np.isfinite(placement.theta) and _reference_groups(bank_scale) > 1:
            return [
                f"{system} was labelled on queries of several groups of the bank's systems, or on too few queries of "
                "each group: it is compared with no system."
            ]
        return [
            f"{system} has {count(placement.answered, 'label')} on the bank, too few for a rank or a tier."
        ]
    if (share == 1).all() or (share == 0).all():
        which = "passes every" if share[0] == 1 else "fails every"
        return [f"{system} {which} rubric that it was judged on: its ability is an extrapolation."]
    others = placement.abilities[:-1]
    if not np.nanmin(others) <= placement.theta <= np.nanmax(others):
        side = "above" if placement.theta > np.nanmax(others) else "below"
        return [
            f"The estimate of {system} is {side} those of all systems that the bank was made from: it is an "
            "extrapolation."
        ]
    return []
