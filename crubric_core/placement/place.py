"""Where a new system stands: its labels from any file, placed among the systems of a bank (docs/method.md §13)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..errors import PlacementError
from ..labels.ingest.staging import Source
from ..labels.store.dataset import Dataset
from ..labels.store.workspace import Workspace
from ..text import count
from ..types import FloatArray, IntArray
from .abilities import Placement, expected_information, next_best, place
from .among import evidence_of, stand_among
from .bank_scale import BankScale

NEXT = 20  # rubrics to judge next
WHOLE = ("rank", "rank_low", "rank_high", "tier")
SHOWN = 3  # names or rows in a sentence


@dataclass(frozen=True)
class NewLabels:
    """What a file says of N new systems on the J rubrics of a bank's study.

    y: (N, J) levels as the bank's model reads them, NaN unknown. judges: whose labels they are.
    notes: what was left out and why.
    """

    systems: tuple[str, ...]
    y: FloatArray
    judges: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Placed:
    """N new systems on a bank.

    systems, placements: name and place of each. next_best: for each a table rubric, query, expected_information,
    in_bank: what to judge next, best first. notes: what to keep in mind.
    """

    systems: tuple[str, ...]
    placements: tuple[Placement, ...]
    next_best: tuple[pd.DataFrame, ...]
    notes: tuple[str, ...]

    @property
    def table(self) -> pd.DataFrame:
        """One row a system, in the columns of the leaderboard, with its labels on the bank."""
        return pd.DataFrame([_row(*pair) for pair in zip(self.systems, self.placements, strict=True)]).astype(
            dict.fromkeys(WHOLE, "Int64")
        )

    @property
    def next_table(self) -> pd.DataFrame:
        """What to judge next, of all systems: system and the columns of ``next_best``."""
        pairs = zip(self.systems, self.next_best, strict=True)
        return pd.concat([table.assign(system=system) for system, table in pairs], ignore_index=True)

    def record(self, bank_scale: BankScale) -> dict[str, Any]:
        """Plain values for a JSON file; unknown numbers are NaN."""
        rows = zip(self.table.to_dict("records"), self.placements, self.next_best, strict=True)
        return {
            "bank": {
                "dataset": bank_scale.name,
                "rubrics": len(bank_scale.bank),
                "systems": list(bank_scale.systems),
            },
            "notes": list(self.notes),
            "systems": [
                {
                    **{name: None if value is pd.NA else value for name, value in row.items()},
                    "tiers": int(np.nanmax(found.standing.tier)),
                    "p_rank_at_most": found.standing.rank_probability[-1].tolist(),
                    "p_ahead_of": dict(
                        zip(bank_scale.systems, found.standing.ahead[-1].tolist(), strict=False)
                    ),
                    "not_told_apart_from": [
                        name
                        for name, separated in zip(
                            bank_scale.systems, found.standing.separated[-1], strict=False
                        )
                        if not separated
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
        "theta_sd": placement.theta_sd,
        "theta_low": standing.theta_low[-1],
        "theta_high": standing.theta_high[-1],
        "posterior_low": placement.low,
        "posterior_high": placement.high,
        "answered": placement.answered,
        **{name: getattr(standing, name)[-1] for name in WHOLE},
    }


def read_new_labels(
    bank_scale: BankScale, source: Source, *, file_format: str = "auto", name: str | None = None
) -> NewLabels:
    """Labels of new systems from any readable file; raises PlacementError or IngestError where none can be used."""
    with Workspace() as workspace:
        scales = bank_scale.rubrics.assign(rubric=own_names(bank_scale.rubrics))
        scales = scales.astype({"scale_min": "int64", "scale_max": "int64"})
        workspace.ingest(scales.to_parquet(index=False), "new", "rubrics", format="parquet")
        report = workspace.ingest(source, "new", "labels", format=file_format, name=name)
        found = new_labels(bank_scale, workspace.dataset("new"))
    rejected = []
    if report.rejected:
        first = "; ".join(f"row {row.row}: {row.reason}" for row in report.rejects.head(SHOWN).itertuples())
        rejected = [f"{count(report.rejected, 'row')} rejected ({first})."]
    return NewLabels(found.systems, found.y, found.judges, (*rejected, *found.notes))


def new_labels(bank_scale: BankScale, dataset: Dataset) -> NewLabels:
    """All systems of a dataset as new ones: their consensus on the rubrics that it shares with the bank's study."""
    settings = bank_scale.settings
    reduction = dataset.reduce(settings.response, settings.tie, settings.agreement_tolerance)
    labelled = (~np.isnan(reduction.y)).any(axis=0)
    names = reduction.rubrics["rubric"].to_numpy(dtype=object)
    row = _identity(bank_scale.rubrics).get_indexer(_identity(reduction.rubrics))
    known = row >= 0
    y = np.full((len(reduction.systems), len(bank_scale.rubrics)), np.nan)
    y[:, row[known]] = reduction.y[:, known]
    if np.isnan(y[:, bank_scale.bank]).all():
        raise PlacementError(
            f"No label is on any of the {count(len(bank_scale.bank), 'rubric')} of the bank: "
            f"name them as bank.csv does, for example {bank_scale.rubrics['rubric'].iloc[bank_scale.bank[0]]!r}."
        )
    notes = (
        _unknown(sorted(names[labelled & ~known]))
        + _outside_bank(bank_scale, y)
        + _judges(bank_scale, dataset.judges)
    )
    return NewLabels(reduction.systems, y, dataset.judges, tuple(notes))


def own_names(rubrics: pd.DataFrame) -> pd.Series[str]:
    """The rubrics' names in their files: a name that several queries share is called query#name in a study."""
    pairs = zip(rubrics["rubric"], rubrics["query"], strict=True)
    bare = pd.Series([str(name).removeprefix(f"{query}#") for name, query in pairs], index=rubrics.index)
    return bare.where(bare.duplicated(keep=False), rubrics["rubric"])


def _identity(rubrics: pd.DataFrame) -> pd.MultiIndex:
    return pd.MultiIndex.from_arrays([rubrics["query"], own_names(rubrics)])


def place_systems(bank_scale: BankScale, new: NewLabels, n_next: int = NEXT) -> Placed:
    """Each of the new systems among those of the bank, and which rubrics would be most informative next."""
    placements = _placements(bank_scale, new.y)
    expected = expected_information(bank_scale.fit, new.y, bank_scale.bank)
    tables = [_next_table(bank_scale, y, row, n_next) for y, row in zip(new.y, expected, strict=True)]
    extremes = [_extreme(bank_scale, *pair) for pair in zip(new.systems, new.y, placements, strict=True)]
    return Placed(
        new.systems, tuple(placements), tuple(tables), (*new.notes, *(note for note in extremes if note))
    )


def _placements(bank_scale: BankScale, y: FloatArray) -> list[Placement]:
    """Each new system (N, J) among the reference systems, or the paper's way where there are none."""
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
    names = (*reference.queries, *sorted(set(bank_scale.rubrics["query"].map(str)) - set(reference.queries)))
    unit = pd.Index(names).get_indexer(pd.Index(bank_scale.rubrics["query"].map(str))).astype(np.int64)
    found = []
    for row in y:
        evidence = evidence_of(
            bank_scale.fit, bank_scale.spread, row, bank_scale.bank, unit, len(names), settings.seed
        )
        standing = stand_among(reference, evidence, settings.confidence, settings.seed)
        found.append(
            Placement(
                theta=evidence.theta,
                theta_sd=evidence.se if evidence.answered else float("nan"),
                low=float(standing.theta_low[-1]),
                high=float(standing.theta_high[-1]),
                answered=evidence.answered,
                abilities=np.append(reference.theta, evidence.theta),
                standing=standing,
            )
        )
    return found


def _next_table(bank_scale: BankScale, y: FloatArray, expected: FloatArray, n: int) -> pd.DataFrame:
    """The bank's own rubrics as long as one is without a label, then those that pass the gate beside it."""
    open_ = np.isnan(y) & ~bank_scale.fit.constant
    in_bank = np.zeros(len(y), dtype=bool)
    in_bank[bank_scale.bank] = True
    candidates: IntArray = np.flatnonzero(open_ & in_bank)
    if not candidates.size:
        candidates = np.flatnonzero(open_ & bank_scale.feasible)
    best = next_best(expected, candidates, n)
    table = bank_scale.rubrics.iloc[best][["rubric", "query"]].reset_index(drop=True)
    return table.assign(expected_information=expected[best], in_bank=in_bank[best])


def _unknown(names: list[str]) -> list[str]:
    if not names:
        return []
    shown = ", ".join(map(repr, names[:SHOWN])) + (", …" if len(names) > SHOWN else "")
    return [f"{count(len(names), 'rubric')} not among those of the bank's study, left out: {shown}."]


def _outside_bank(bank_scale: BankScale, y: FloatArray) -> list[str]:
    outside = np.ones(y.shape[1], dtype=bool)
    outside[bank_scale.bank] = False
    unused = int((~np.isnan(y[:, outside])).sum())
    return [f"{count(unused, 'label')} on rubrics outside the bank were not used."] if unused else []


def _judges(bank_scale: BankScale, judges: tuple[str, ...]) -> list[str]:
    """The scale is that of the bank's panel: what a different one does to it is not known."""
    notes = []
    other_judges, absent = (
        sorted(set(judges) - set(bank_scale.judges)),
        sorted(set(bank_scale.judges) - set(judges)),
    )
    if other_judges:
        notes.append(
            f"Judged by {', '.join(other_judges[:SHOWN])}, not by the bank's panel "
            f"({', '.join(bank_scale.judges[:SHOWN])}): "
            "if these judges are stricter or more lenient, the ability is biased accordingly."
        )
    elif absent:
        notes.append(
            f"Only {len(judges)} of the bank's {count(len(bank_scale.judges), 'judge')} labelled it: "
            "the consensus is that of a smaller panel."
        )
    if bank_scale.settings.consensus != "majority":
        notes.append("The bank's consensus weighs its judges; the new labels go by their majority.")
    return notes


def _extreme(bank_scale: BankScale, system: str, y: FloatArray, placement: Placement) -> str:
    """What cannot be known of a system that the bank was not made for."""
    share = y[bank_scale.bank] / (bank_scale.fit.levels[bank_scale.bank] - 1)
    share = share[~np.isnan(share)]
    if not share.size:
        return f"{system} has no label on the bank, so it cannot be placed."
    if np.isnan(placement.standing.rank[-1]):
        return f"{system} has {count(placement.answered, 'label')} on the bank, too few for a rank or a tier."
    if (share == 1).all() or (share == 0).all():
        which = "passes every" if share[0] == 1 else "fails every"
        return f"{system} {which} rubric that it was judged on: its ability is an extrapolation."
    others = placement.abilities[:-1]
    if not np.nanmin(others) <= placement.theta <= np.nanmax(others):
        side = "above" if placement.theta > np.nanmax(others) else "below"
        return (
            f"{system} lies {side} all systems that the bank was made from: its ability is an extrapolation."
        )
    return ""
