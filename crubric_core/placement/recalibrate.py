"""Add new systems to the calibration of a bank, on the bank's scale (docs/method.md §13).

The rubrics are fitted again to the labels of all systems on the bank, and the fit is linked to the bank's scale by the
rubrics whose difficulty has not drifted. Reference systems keep their abilities on the whole pool; the new systems join
them with their placed abilities, and with the variance of their placement.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from ..bank.item_spread import Spread, item_spread
from ..errors import PlacementError
from ..irt.abilities import estimate_abilities
from ..irt.cells import label_scores
from ..irt.fit import IrtFit, fit_irt
from ..irt.person_fit import person_fit
from ..labels.repeated_systems import copies_once
from ..leaderboard.cross_fit import FEW_SYSTEMS, too_few_to_cross_fit
from ..leaderboard.reference import Reference
from ..text import count
from ..types import FloatArray, IntArray
from .among import Among, SystemEvidence, evidence_of_system, stand_among
from .bank_file import bank_digest
from .bank_scale import BankScale, fixed_fit
from .drift import RubricDrift, rubric_drift
from .linking import Method, RubricLink, link
from .new_labels import NewLabels

DRIVERS = 3  # rubrics named for a system that moved
SHOWN = 0.005  # the least change that is visible with two decimals


@dataclass(frozen=True)
class Recalibration:
    """A bank after new systems were added to its calibration.

    bank_scale: the new bank. link: from the joint fit to the old scale. drift: of the rubrics, on new labels.
    moved: one row a system: system, new, theta_before, theta_after, se, moved, tier_before, tier_after (of new systems
    only), because. theta is the ability on the bank, at the old parameters and at the new ones.
    """

    bank_scale: BankScale
    link: RubricLink
    drift: RubricDrift
    moved: pd.DataFrame

    @property
    def drift_table(self) -> pd.DataFrame:
        """One row a rubric: id, query, rubric, text, labels, shift, z, p_value, drifted."""
        found = self.drift
        table = self.bank_scale.rubrics[["id", "query", "rubric", "text"]].reset_index(drop=True)
        return table.assign(
            labels=found.labels, shift=found.shift, z=found.z, p_value=found.p_value, drifted=found.flagged
        ).sort_values("p_value", kind="stable", ignore_index=True)


def recalibrate(bank_scale: BankScale, new: NewLabels, method: Method = "stocking-lord") -> Recalibration:
    """Add the systems ``new`` to the calibration; raises PlacementError if a name is taken or linking fails.

    They join at their placements on the old bank, since the new parameters are also fitted to their own labels.
    """
    _check(bank_scale, new)
    settings = bank_scale.settings
    drift = rubric_drift(bank_scale.fit, bank_scale.spread, new.y, settings.seed)
    y = np.vstack([bank_scale.y, new.y])
    joint = fit_irt(y, settings.model, settings.quadrature, settings.priors, levels=bank_scale.fit.levels)
    steady = replace(joint, a=np.where(drift.flagged, np.nan, joint.a))
    found = link(steady.items, bank_scale.fit.items, method)
    fit, spread = _on_old_scale(bank_scale, joint, item_spread(joint, y), found)
    after = replace(
        bank_scale,
        fit=fit,
        spread=spread,
        systems=(*bank_scale.systems, *new.systems),
        y=y,
        reference=_joined(bank_scale, new),
        person_fit=_person_fits(bank_scale, new),
        history=(*bank_scale.history, _entry(bank_scale, new, found, drift)),
    )
    return Recalibration(after, found, drift, _moved(bank_scale, after))


def _person_fits(bank_scale: BankScale, new: NewLabels) -> FloatArray | None:
    """Person fits of the bank's systems, and of the new ones at the old parameters; None if the former are unknown."""
    if bank_scale.person_fit is None:
        return None
    fit, theta = bank_scale.fit, estimate_abilities(bank_scale.fit, new.y).theta
    own = [person_fit(fit, y, at) for y, at in zip(new.y, theta, strict=True)]
    return np.append(bank_scale.person_fit, own)


def _check(bank_scale: BankScale, new: NewLabels) -> None:
    taken = sorted(set(new.systems) & set(bank_scale.systems))
    if taken:
        raise PlacementError(
            f"{taken[0]!r} is in the bank's calibration already: give the new labels another name, or leave them out."
        )
    if too_few_to_cross_fit(bank_scale.n_distinct):
        once = copies_once(bank_scale.n_distinct, len(bank_scale.systems))
        raise PlacementError(
            f"Recalibration needs a bank of {FEW_SYSTEMS} systems or more: this one was made from "
            f"{count(bank_scale.n_distinct, 'system')}{once}."
        )
    if bank_scale.reference is None:
        raise PlacementError(
            "This bank has no reference systems on the whole pool: build it with the robust preset, from labels on "
            "several queries."
        )


def _on_old_scale(
    bank_scale: BankScale, joint: IrtFit, spread: Spread, found: RubricLink
) -> tuple[IrtFit, Spread]:
    """The joint fit's parameters on the bank's scale; a rubric without parameters in it keeps the bank's."""
    old, moved = bank_scale.fit, found.items(joint.items)
    lost = ~np.isfinite(moved.a)
    steps = (
        None
        if moved.thresholds is None or old.thresholds is None
        else np.where(lost[:, None], old.thresholds, moved.thresholds)
    )
    a, b, c = (
        np.where(lost, before, after)
        for before, after in ((old.a, moved.a), (old.b, moved.b), (old.c, moved.c))
    )
    before = bank_scale.spread
    return fixed_fit(bank_scale.settings, a, b, c, steps, old.levels), Spread(
        log_a=np.where(lost, before.log_a, spread.log_a),
        b=np.where(lost, before.b, spread.b * found.slope),
        correlation=np.where(lost, before.correlation, spread.correlation),
    )


def _joined(bank_scale: BankScale, new: NewLabels) -> Reference:
    """The reference with the new systems added as placed, one after the other."""
    now = bank_scale
    for system, row in zip(new.systems, new.y, strict=True):
        evidence = _evidence(now, row)
        if evidence.answered == 0:
            raise PlacementError(f"{system} has no label on the bank, so it cannot join the calibration.")
        now = replace(now, reference=_with(now, evidence, system))
    assert now.reference is not None  # noqa: S101
    return now.reference


def _evidence(bank_scale: BankScale, y: FloatArray) -> SystemEvidence:
    unit, n_units = bank_scale.query_units
    found = evidence_of_system(
        bank_scale.fit, bank_scale.spread, y, bank_scale.bank, unit, n_units, bank_scale.settings.seed
    )
    return replace(found, transfer=bank_scale.transfer)


def _with(bank_scale: BankScale, new: SystemEvidence, system: str) -> Reference:
    """The reference with one more system. The variance of its placement beyond queries becomes a unit of its own."""
    reference, settings = bank_scale.reference, bank_scale.settings
    assert reference is not None  # noqa: S101
    standing = stand_among(reference, new, settings.confidence, settings.seed, settings.tier_rule)
    queries = set(bank_scale.rubrics["query"].map(str)) - set(reference.queries)
    factor = np.sqrt(new.units / (new.units - 1)) if new.units > 1 else np.inf
    own = np.append(new.contributions, np.sqrt(new.beyond)) / factor
    others = np.vstack([reference.psi, np.zeros((len(own) - len(reference.psi), len(reference.theta)))])
    return Reference(
        queries=(*reference.queries, *sorted(queries), f"#placement of {system}"),
        theta=np.append(reference.theta, new.theta),
        psi=np.column_stack([others, own]),
        floor=np.append(reference.floor, new.floor + (0.0 if new.units > 1 else new.beyond)),
        units=np.append(reference.units, new.units),
        saturated=np.append(reference.saturated, new.saturated),
        low=standing.theta_low,
        high=standing.theta_high,
        separated=standing.separated,
        too_high=np.append(reference.too_high, reference.too_high.max(initial=0.0)),
        too_low=np.append(reference.too_low, reference.too_low.max(initial=0.0)),
        group=_with_group(reference, new),
    )


def _with_group(reference: Reference, new: SystemEvidence) -> IntArray | None:
    """The groups with the new system added; a system without a common scale with any group forms a new one."""
    if reference.group is None:
        return None
    own = reference.group_of(new.asked)
    return np.append(reference.group, reference.group.max() + 1 if own is None else own)


def _moved(before: BankScale, after: BankScale) -> pd.DataFrame:
    """The change of each system's ability by the new parameters, with the rubrics that cause it."""
    y, systems = after.y, after.systems
    theta = estimate_abilities(before.fit, y, before.bank).theta
    theta_after = estimate_abilities(after.fit, y, before.bank).theta
    drivers = score_change(before.fit, after.fit, y, theta)
    rows = []
    for n, system in enumerate(systems):
        old, changed = _evidence(before, y[n]), replace(after, reference=before.reference)
        joined = n >= len(before.systems)
        shift = float(theta_after[n] - theta[n])
        moved = bool(abs(shift) > old.se)
        rows.append(
            {
                "system": system,
                "new": joined,
                "theta_before": theta[n],
                "theta_after": theta_after[n],
                "se": old.se,
                "moved": moved,
                "tier_before": _tier(before, y[n]) if joined else None,
                "tier_after": _tier(changed, y[n]) if joined else None,
                "because": _because(after, drivers[n], shift),
            }
        )
    return pd.DataFrame(rows).astype({"tier_before": "Int64", "tier_after": "Int64"})


def score_change(before: IrtFit, after: IrtFit, y: FloatArray, theta: FloatArray) -> FloatArray:
    """(M, J) contribution of each rubric to the change of each ability: change of its score / H (one Newton step)."""
    known = np.where(np.isfinite(theta), theta, 0.0)
    old = label_scores(before.items, y, known)[0]
    score, information = label_scores(after.items, y, known)
    return np.asarray((score - old) / (information.sum(axis=1, keepdims=True) + 1))


def _tier(bank_scale: BankScale, y: FloatArray) -> int | None:
    found = _evidence(bank_scale, y)
    assert bank_scale.reference is not None  # noqa: S101
    settings = bank_scale.settings
    among = Among(
        bank_scale.reference,
        len(found.contributions),
        settings.confidence,
        settings.seed,
        settings.tier_rule,
    )
    return among.tier(found) if found.answered else None


def _because(bank_scale: BankScale, change: FloatArray, shift: float) -> str:
    """The rubrics that move an ability most in the direction of its shift, if by at least SHOWN."""
    toward = change * np.sign(shift)
    order = np.argsort(-toward, kind="stable")[:DRIVERS]
    ids = bank_scale.rubrics["id"].tolist()
    return ", ".join(f"{ids[j]} ({change[j]:+.2f})" for j in order if toward[j] >= SHOWN)


def _entry(bank_scale: BankScale, new: NewLabels, found: RubricLink, drift: RubricDrift) -> dict[str, Any]:
    """The entry of this recalibration in the bank's history."""
    ids = bank_scale.rubrics["id"].to_numpy(dtype=object)
    return {
        "change": "recalibrated",
        "parent_bank_id": bank_scale.bank_id,
        "parent_digest": bank_digest(bank_scale),
        "systems_added": list(new.systems),
        "judges": list(new.judges),
        "link": {
            "method": found.method,
            "slope": found.slope,
            "shift": found.intercept,
            "rubrics": found.rubrics,
        },
        "drifted": ids[drift.flagged].tolist(),
    }
