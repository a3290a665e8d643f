"""The systems that define a bank's scale, at their full-pool, cross-fitted abilities (docs/method.md §13).

A new system is compared with these abilities, never with those on the bank that the systems' own labels chose: the
latter are stretched, and a copy of a ranked system would appear different from its twin.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from ..types import BoolArray, FloatArray, IntArray
from .inference import Inference
from .influence import Influence
from .linked import linked_pairs

OFF = ("too_high", "too_low")


@dataclass(frozen=True)
class Reference:
    """M systems on the whole pool.

    theta: (M,) cross-fitted abilities, NaN unknown. psi: (n, M) contribution of each of the n ``queries``.
    floor: (M,) posterior variance. units: (M,) queries with a label. saturated: (M,) 1, -1 or 0.
    low, high: (M,) interval of theta. separated: (M, M) which pairs are separated. too_high, too_low: (M,) by how much
    theta may be off because other judges labelled some systems (``judges.unequal_panels``); 0 if all have the same
    judges.
    group: (M,) systems of different groups have no common scale (``leaderboard.linked.linked_groups``); None: one
    group.
    """

    queries: tuple[str, ...]
    theta: FloatArray
    psi: FloatArray
    floor: FloatArray
    units: IntArray
    saturated: IntArray
    low: FloatArray
    high: FloatArray
    separated: BoolArray
    too_high: FloatArray
    too_low: FloatArray
    group: IntArray | None = None

    @property
    def unequal(self) -> bool:
        """Whether the systems' labels come from different judges."""
        return bool(self.too_high.any() or self.too_low.any())

    def without(self, system: int) -> Self:
        """The reference without one system, given by its position."""
        kept = np.arange(len(self.theta)) != system
        return replace(
            self,
            psi=self.psi[:, kept],
            separated=self.separated[np.ix_(kept, kept)],
            **{
                name: getattr(self, name)[kept]
                for name in ("theta", "floor", "units", "saturated", "low", "high", "too_high", "too_low")
            },
            group=None if self.group is None else self.group[kept],
        )

    def group_of(self, asked: BoolArray) -> int | None:
        """The group to which a new system belongs by its queries; None if it is linked to no group, or to several.

        asked: (n or more,) whether it has a label on each query, those of the reference first.
        """
        if self.group is None:
            return 0
        linked = linked_pairs(asked[: len(self.psi), None], self.psi != 0)[0] & np.isfinite(self.theta)
        found = np.unique(self.group[linked])
        return int(found[0]) if len(found) == 1 else None

    def comparable_with(self, asked: BoolArray) -> Self:
        """The reference, with theta NaN for systems that have no common scale with a new one.

        asked: as for ``group_of``.
        """
        if self.group is None:
            return self
        return replace(self, theta=np.where(self.group == self.group_of(asked), self.theta, np.nan))

    def record(self) -> dict[str, Any]:
        """The reference as plain values for a JSON file."""
        return {
            "queries": list(self.queries),
            "theta": self.theta.tolist(),
            "psi": self.psi.T.tolist(),
            "floor": self.floor.tolist(),
            "units": self.units.tolist(),
            "saturated": self.saturated.tolist(),
            "low": [_end(value) for value in self.low.tolist()],
            "high": [_end(value) for value in self.high.tolist()],
            "separated": ["".join("01"[int(cell)] for cell in row) for row in self.separated],
            **({name: getattr(self, name).tolist() for name in OFF} if self.unequal else {}),
            **({} if self.group is None else {"group": self.group.tolist()}),
        }

    @classmethod
    def from_record(cls, content: Mapping[str, Any]) -> Self:
        """Read a reference from the content written by ``record``. Raises ValueError or KeyError if it is malformed."""
        number = {
            name: np.array([np.nan if v is None else float(v) for v in content[name]], dtype=float)
            for name in ("theta", "floor", "low", "high")
        }
        off = {name: np.array(content.get(name, np.zeros(len(number["theta"]))), dtype=float) for name in OFF}
        psi = np.array(content["psi"], dtype=float).reshape(len(number["theta"]), len(content["queries"]))
        return cls(
            queries=tuple(map(str, content["queries"])),
            psi=psi.T,
            units=np.array(content["units"], dtype=np.int64),
            saturated=np.array(content["saturated"], dtype=np.int64),
            separated=np.array([[cell == "1" for cell in row] for row in content["separated"]], dtype=bool),
            **number,
            **off,
            group=np.array(content["group"], dtype=np.int64) if "group" in content else None,
        )


def reference_of(query_names: tuple[str, ...], ability: Influence, standing: Inference) -> Reference:
    """The reference of an analysis on its whole pool, for all its systems.

    query_names: (n,) the units of ``ability``.
    """
    nothing = np.zeros(len(ability.estimate))
    allowed = ability.allowance
    groups = 0 if ability.group is None else len(np.unique(ability.group[ability.ranked]))
    return Reference(
        queries=query_names,
        theta=ability.estimate,
        psi=ability.psi,
        floor=ability.floor,
        units=ability.n_units,
        saturated=ability.saturated,
        low=standing.low,
        high=standing.high,
        separated=standing.separated,
        too_high=nothing if allowed is None else allowed.high,
        too_low=nothing if allowed is None else allowed.low,
        group=ability.group if groups > 1 else None,
    )


def _end(value: float) -> float | str:
    return value if np.isfinite(value) or np.isnan(value) else str(value)
