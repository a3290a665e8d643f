"""Place new systems, with labels from any file, among the systems of a bank (docs/method.md §13)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from ..environment import typed
from ..errors import PlacementError
from ..irt.abilities import estimate_abilities
from ..irt.person_fit import person_fit
from ..leaderboard.tiers import unranked
from ..types import BoolArray, FloatArray, IntArray
from .abilities import Placement, expected_information, next_best, place, posterior_interval
from .among import evidence_of_system, stand_among
from .bank_scale import BankScale
from .new_labels import NewLabels
from .notes import panel_notes, repeated_notes, system_notes, why_unranked

NEXT = 20  # rubrics to judge next
WHOLE = ("rank", "rank_low", "rank_high", "tier")


@dataclass(frozen=True)
class Placed:
    """N new systems placed on a bank.

    systems, placements: name and placement of each. person_fit: (N,) lz* of each. next_best: for each system a table
    id, rubric, query, text, expected_information: the bank's rubrics without a label, best first. unused: labels that
    are not used, with the reason. notes: cautions, in sentences.
    """

    systems: tuple[str, ...]
    placements: tuple[Placement, ...]
    person_fit: FloatArray
    next_best: tuple[pd.DataFrame, ...]
    unused: pd.DataFrame
    notes: tuple[str, ...]

    @property
    def table(self) -> pd.DataFrame:
        """One row a system, in the columns of the leaderboard, with ``answered``, its number of labels on the bank."""
        rows = [_row(*pair) for pair in zip(self.systems, self.placements, strict=True)]
        return pd.DataFrame(rows).astype(dict.fromkeys(WHOLE, "Int64")).assign(person_fit=self.person_fit)

    @property
    def next_table(self) -> pd.DataFrame:
        """The rubrics to judge next for all systems: system and the columns of ``next_best``."""
        pairs = zip(self.systems, self.next_best, strict=True)
        return pd.concat([table.assign(system=system) for system, table in pairs], ignore_index=True)

    def record(self, bank_scale: BankScale) -> dict[str, Any]:
        """The placements as plain values for a JSON file; unknown numbers are NaN."""
        rows = zip(self.table.to_dict("records"), self.placements, self.next_best, strict=True)
        return {
            "bank": {
                "bank_id": bank_scale.bank_id,
                "dataset": bank_scale.name,
                "fingerprint": bank_scale.fingerprint,
                "rubrics": len(bank_scale.bank),
                "systems": list(bank_scale.systems),
            },
            "notes": list(self.notes),
            "unused": self.unused.astype(object).where(self.unused.notna(), None).to_dict("records"),
            "systems": [
                {
                    **{name: None if value is pd.NA else value for name, value in row.items()},
                    "tiers": None if pd.isna(row["tier"]) else int(np.nanmax(found.standing.tier)),
                    "p_rank_at_most": found.standing.rank_probability[-1].tolist(),
                    "p_ahead_of": dict(
                        zip(bank_scale.systems, found.standing.ahead[-1].tolist(), strict=False)
                    ),
                    "not_told_apart_from": [
                        name
                        for name, apart in zip(bank_scale.systems, found.standing.separated[-1], strict=False)
                        if not apart
                    ],
                    "next_best": table.to_dict("records"),
                }
                for row, found, table in rows
            ],
        }


def _row(system: str, placement: Placement) -> dict[str, object]:
    standing = placement.standing
    return {
        "system": system,
        "theta": placement.theta,
        "theta_se": placement.theta_se,
        "theta_sd": placement.theta_sd,
        "theta_low": standing.theta_low[-1],
        "theta_high": standing.theta_high[-1],
        "posterior_low": placement.low,
        "posterior_high": placement.high,
        "answered": placement.answered,
        **{name: getattr(standing, name)[-1] for name in WHOLE},
    }


def place_systems(bank_scale: BankScale, new: NewLabels, n_next: int = NEXT) -> Placed:
    """Place each of the new systems among those of the bank, and list its most informative rubrics without a label.

    n_next: most rubrics of that list. Raises PlacementError if a label of ``new`` could not be used.
    """
    placements = _placements(bank_scale, new.y)
    if why_unranked(bank_scale):
        placements = [replace(found, standing=unranked(found.standing)) for found in placements]
    for system, row, found in zip(new.systems, new.y, placements, strict=True):
        if found.answered != np.isfinite(row).sum():
            raise PlacementError(
                f"{system} has {np.isfinite(row).sum()} labels on the bank, of which {found.answered} could be used: "
                f"the bank has rubrics without parameters, run `{typed('build')}` again."
            )
    expected = expected_information(bank_scale.fit, new.y, bank_scale.bank)
    fits = np.array(
        [person_fit(bank_scale.fit, y, found.theta) for y, found in zip(new.y, placements, strict=True)]
    )
    sentences = [
        note
        for system, y, found, fit in zip(new.systems, new.y, placements, fits, strict=True)
        for note in system_notes(bank_scale, system, y, found, fit)
    ]
    return Placed(
        systems=new.systems,
        placements=tuple(placements),
        person_fit=fits,
        next_best=tuple(
            _next_table(bank_scale, y, row, n_next) for y, row in zip(new.y, expected, strict=True)
        ),
        unused=new.unused,
        notes=(*new.notes, *panel_notes(bank_scale, new), *repeated_notes(bank_scale, new), *sentences),
    )


def _placements(bank_scale: BankScale, y: FloatArray) -> list[Placement]:
    """Each new system (N, J) placed among the reference systems, or as in the paper if there are none."""
    settings, reference = bank_scale.settings, bank_scale.reference
    if reference is None:
        return place(
            bank_scale.fit,
            bank_scale.y,
            y,
            bank_scale.bank,
            bank_scale.weights,
            confidence=settings.confidence,
            rule=settings.tier_rule,
            holm=settings.holm,
        )
    unit, n_units = bank_scale.query_units
    posterior_sd = estimate_abilities(bank_scale.fit, y, bank_scale.bank).sd
    lows, highs = posterior_interval(bank_scale.fit, y, bank_scale.bank, settings.confidence)
    found = []
    for row, sd, low, high in zip(y, posterior_sd, lows, highs, strict=True):
        evidence = replace(
            evidence_of_system(
                bank_scale.fit, bank_scale.spread, row, bank_scale.bank, unit, n_units, settings.seed
            ),
            transfer=bank_scale.transfer,
        )
        standing = stand_among(reference, evidence, settings.confidence, settings.seed, settings.tier_rule)
        found.append(
            Placement(
                theta=evidence.theta,
                theta_se=evidence.se if evidence.answered else float("nan"),
                theta_sd=float(sd) if evidence.answered else float("nan"),
                low=float(low),
                high=float(high),
                answered=evidence.answered,
                abilities=np.append(reference.theta, evidence.theta),
                standing=standing,
            )
        )
    return found


def _next_table(bank_scale: BankScale, y: FloatArray, expected: FloatArray, n: int) -> pd.DataFrame:
    """The best ``n`` rubrics without a label, on which the system keeps a common scale with comparable systems."""
    candidates: IntArray = np.flatnonzero(
        np.isnan(y) & ~bank_scale.fit.constant & _of_its_group(bank_scale, y)
    )
    best = next_best(expected, candidates, n)
    table = bank_scale.rubrics.iloc[best][["id", "rubric", "query", "text"]].reset_index(drop=True)
    return table.assign(expected_information=expected[best])


def _of_its_group(bank_scale: BankScale, y: FloatArray) -> BoolArray:
    """(B,) rubrics of queries on which the systems comparable with a system of labels ``y`` were labelled."""
    unit, n_units = bank_scale.query_units
    reference = bank_scale.reference
    if reference is None or reference.group is None:
        return np.ones(len(unit), dtype=bool)
    asked = np.isin(np.arange(n_units), unit[np.isfinite(y)])
    own = reference.group_of(asked)
    if own is None:
        return np.ones(len(unit), dtype=bool)
    theirs = (reference.psi[:, reference.group == own] != 0).any(axis=1)
    return np.append(theirs, np.zeros(n_units - len(theirs), dtype=bool))[unit]
