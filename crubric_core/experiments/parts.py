"""A part of a dataset: the queries of one domain or one task type, on which every experiment can run."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pandas as pd

from ..errors import DatasetError
from ..labels.store.dataset import Dataset
from ..labels.store.pairs import PairCounts
from ..labels.store.reduction import Reduction
from ..labels.store.snapshot import Snapshot
from ..settings import Settings
from ..task_types.types import types_of_queries
from ..types import BoolArray, FloatArray, IntArray

Kind = Literal["domain", "task type"]


@dataclass(frozen=True)
class Block:
    """The queries of one domain or task type. name: of the domain or type. queries: names of the queries."""

    kind: Kind
    name: str
    queries: tuple[str, ...]


def blocks(queries: pd.DataFrame, tau_t: float) -> Iterator[Block]:
    """Yield the block of each domain, then of each task type, sorted by name.

    queries: as ``Dataset.queries``. A query whose task types are all less probable than tau_t has no type.
    """
    types = types_of_queries(queries, tau_t).task_type
    found: tuple[tuple[Kind, pd.Series], ...] = (
        ("domain", queries["domain"]),
        ("task type", pd.Series(types, index=queries.index, dtype=object)),
    )
    for kind, values in found:
        for name in sorted(values.dropna().unique()):
            yield Block(kind, str(name), tuple(queries["query"][values == name]))


def find_block(queries: pd.DataFrame, tau_t: float, kind: Kind, name: str) -> Block:
    """The block with this name; raises DatasetError, which lists the existing names, if there is none."""
    there = [block for block in blocks(queries, tau_t) if block.kind == kind]
    for block in there:
        if block.name == name:
            return block
    names = ", ".join(block.name for block in there)
    raise DatasetError(
        f"No query has the {kind} {name!r}: " + (f"use one of {names}." if names else f"none has a {kind}.")
    )


class BlockSnapshot(Snapshot):
    """A dataset restricted to the queries of one block: their rubrics, and the systems with a label on them.

    Scales are those of the whole dataset. The fingerprint is a hash of that of the whole and of the block's queries.
    Raises DatasetError if the block has no label.
    """

    def __init__(self, ds: Dataset, settings: Settings, block: Block) -> None:
        super().__init__(ds, settings)
        kept = np.flatnonzero(self._reduction.rubrics["query"].isin(block.queries).to_numpy())
        known = ~np.isnan(self._panels["binary"][:, kept])
        labelled = np.asarray(known.any(axis=(1, 2)))
        if not labelled.any():
            raise DatasetError(f"The {block.kind} {block.name!r} has no label.")
        self.name = f"{ds.name} · {block.name}"
        text = "\n".join([self._fingerprint, *sorted(block.queries)])
        self._fingerprint = hashlib.sha256(text.encode()).hexdigest()[: len(self._fingerprint)]
        self._panels = {response: panel[labelled][:, kept] for response, panel in self._panels.items()}
        self._reduction = part_of(self._reduction, labelled, kept, self._panels[settings.response])
        self._queries = self._queries[self._queries["query"].isin(block.queries)].reset_index(drop=True)
        self._gold = _of_queries(self._gold, block.queries)


def part_of(whole: Reduction, systems: BoolArray, rubrics: IntArray, panel: FloatArray) -> Reduction:
    """The reduction restricted to some systems, a mask (M,), and rubrics, indices. panel: their labels, for counts."""
    pairs = {name: values[rubrics] for name, values in vars(whole.pairs).items()}
    known = ~np.isnan(panel)
    row, column = np.cumsum(systems) - 1, np.full(len(whole.rubrics), -1)
    column[rubrics] = np.arange(len(rubrics))
    split = whole.split[:, systems[whole.split[0]] & (column[whole.split[1]] >= 0)]
    return replace(
        whole,
        systems=tuple(name for name, kept in zip(whole.systems, systems, strict=True) if kept),
        rubrics=whole.rubrics.iloc[rubrics].reset_index(drop=True),
        y=whole.y[systems][:, rubrics],
        levels=whole.levels[rubrics],
        n_agree=whole.n_agree[rubrics],
        n_total=whole.n_total[rubrics],
        pairs=PairCounts(**pairs),
        max_panel=whole.max_panel[rubrics],
        n_judges=int(known.any(axis=(0, 1)).sum()),
        unanimous=whole.unanimous[rubrics],
        n_labels=int(known.sum()),
        split=np.stack([row[split[0]], column[split[1]]]),
    )


def _of_queries(table: pd.DataFrame, queries: Collection[str]) -> pd.DataFrame:
    return table[table["query"].isin(queries)].reset_index(drop=True)
