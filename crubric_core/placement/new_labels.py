"""Labels of new systems from any readable file, as levels on the rubrics of a bank; no label is dropped silently."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from ..errors import IngestError, PlacementError
from ..labels.ingest.report import IngestReport
from ..labels.readers.bundle import plan_ingest
from ..labels.readers.formats.native import NATIVE
from ..labels.readers.plan import Plan
from ..labels.readers.policies import Policies
from ..labels.readers.sources import KeptSources, Sources
from ..labels.store.dataset import Dataset
from ..labels.store.workspace import Workspace
from ..text import count, listed
from ..types import FloatArray, IntArray
from .bank_scale import BankScale
from .judged_labels import without_torn_lines
from .matching import OTHER_TEXT, OUTSIDE, Match, match_rubrics
from .new_levels import levels_on_bank

SHOWN = 3  # names or rows in a sentence
UNUSED = ("system", "query", "rubric", "judge", "label", "reason")
TIED = "its judges are tied: there is no majority"
NAMELESS = "judge"  # a reader's name for the judge of labels without one
_POSITIONS = frozenset({"healthbench-panel", "healthbench-graded", "healthbench-results", "healthbench-srh"})
_STUDY = "new"


@dataclass(frozen=True)
class NewLabels:
    """Labels of N new systems on the B rubrics of a bank.

    y: (N, B) levels as the bank's model reads them, NaN unknown. judges: names of the judges, K.
    panel: (N, B, K) each judge's levels. given: (N,) number of the bank's rubrics with a label.
    unused: columns UNUSED, one row for each label that is not used, with the reason. notes: sentences about the
    reading.
    """

    systems: tuple[str, ...]
    y: FloatArray
    judges: tuple[str, ...]
    panel: FloatArray
    given: IntArray
    unused: pd.DataFrame
    notes: tuple[str, ...] = ()


def labels_on_bank(
    systems: tuple[str, ...], y: FloatArray, judges: tuple[str, ...], panel: FloatArray | None = None
) -> NewLabels:
    """NewLabels from labels that are already levels on a bank's rubrics: y (N, B), panel (N, B, K)."""
    return NewLabels(
        systems=systems,
        y=y,
        judges=judges,
        panel=np.full((*y.shape, 0), np.nan) if panel is None else panel,
        given=np.isfinite(y).sum(axis=1),
        unused=pd.DataFrame(columns=list(UNUSED), dtype=object),
    )


def read_new_labels(
    bank_scale: BankScale,
    source: Sources,
    *,
    file_format: str = "auto",
    name: str | None = None,
    allow_unused: bool = False,
) -> NewLabels:
    """Read labels of new systems from any readable files, folders or archives.

    Raises IngestError if they cannot be read. Raises PlacementError if no label is on the bank, or if a row, or a label
    on the bank, cannot be used; ``allow_unused`` lists such labels instead.
    """
    source, torn = without_torn_lines(source)
    kept = KeptSources(
        (name, source) if name is not None and not isinstance(source, (list, tuple, KeptSources)) else source
    )
    alone = len(kept.pieces) == 1 and kept.pieces[0].alone
    plan = plan_ingest(kept, kind="labels" if alone else None, format=file_format, strict=True)
    from_zero = all(file.format == "autorubric" for file in plan.files if not file.skip)
    positions = any(file.format in _POSITIONS for file in plan.files)
    policies = (
        Policies() if from_zero else Policies(scales=_scales(bank_scale, plan, kept, positions=positions))
    )
    with Workspace() as workspace:
        report = _ingest(workspace, plan, kept, policies)
        _add_texts(workspace, plan, kept)
        dataset = workspace.dataset(_STUDY)
        found = new_labels(bank_scale, dataset, positions=positions, from_zero=from_zero)
    _check(bank_scale, found, report, allow_unused=allow_unused)
    return replace(found, notes=(*torn, *_rejected(report), *found.notes))


def _scales(
    bank_scale: BankScale, plan: Plan, kept: KeptSources, *, positions: bool
) -> dict[str, tuple[int | None, int | None]]:
    """Criterion → scale, for the file's rubrics that are in the bank; labels on others are not used on any scale.

    If the file cannot be read without scales, all criteria get the bank's widest scale. Raises PlacementError if the
    ids belong to another bank.
    """
    ends = bank_scale.rubrics[["scale_min", "scale_max"]].to_numpy(dtype=int)
    found: dict[str, tuple[int | None, int | None]] = {}
    with Workspace() as workspace:
        try:
            _ingest(workspace, plan, kept, Policies())
        except IngestError:
            return {"*": (int(ends[:, 0].min()), int(ends[:, 1].max()))}
        _add_texts(workspace, plan, kept)
        dataset = workspace.dataset(_STUDY)
        matches = match_rubrics(bank_scale, dataset.rubrics, dataset.queries, positions=positions)
        for match, row in zip(matches, dataset.rubrics.to_dict("records"), strict=True):
            if match.row is not None:
                low, high = ends[match.row].tolist()
                found |= {name: (low, high) for name in (row["rubric"], row["text"]) if isinstance(name, str)}
    return found


def _ingest(workspace: Workspace, plan: Plan, kept: KeptSources, policies: Policies) -> IngestReport:
    """Store the labels; if the column of judges is empty throughout, all labels get one nameless judge."""
    try:
        return workspace.ingest_plan(plan, _STUDY, kept, policies, other_criteria=True)
    except IngestError as error:
        if "the judge has no name" not in str(error):
            raise
        for file in plan.files:
            plan = plan.changed(file.name, mapping={**file.mapping, "judge": f"={NAMELESS}"})
        return workspace.ingest_plan(plan, _STUDY, kept, policies, other_criteria=True)


def _add_texts(workspace: Workspace, plan: Plan, kept: KeptSources) -> None:
    """Store the texts of rubrics that a plain table has beside the labels."""
    tables = [file for file in plan.files if not file.skip and file.format not in NATIVE]
    if len(plan.files) == len(tables) == 1 and "text" in {c.strip().lower() for c in tables[0].columns}:
        with suppress(IngestError):
            workspace.ingest_plan(plan_ingest(kept, kind="rubrics", strict=True), _STUDY, kept)


def new_labels(
    bank_scale: BankScale, dataset: Dataset, *, positions: bool = False, from_zero: bool = False
) -> NewLabels:
    """NewLabels with all systems of a dataset.

    positions: whether its rubrics are named by their position in a list. from_zero: whether its labels count the levels
    of every scale from 0, as a choice among options does.
    """
    labels, rubrics, queries = dataset.labels(), dataset.rubrics, dataset.queries
    matches = match_rubrics(bank_scale, rubrics, queries, positions=positions)
    labels = labels[labels["label"].notna()].reset_index(drop=True)
    names = pd.MultiIndex.from_frame(rubrics[["query", "rubric"]])
    at = names.get_indexer(pd.MultiIndex.from_frame(labels[["query", "rubric"]]))
    row = np.array([-1 if m.row is None else m.row for m in matches], dtype=np.int64)[at]
    reason = np.array([m.reason for m in matches], dtype=object)[at]
    scales = bank_scale.rubrics[["scale_min", "scale_max"]].to_numpy()[row]
    value = labels["label"].to_numpy(dtype=float) + (scales[:, 0] if from_zero else 0)
    labels = labels.assign(label=value)
    off = (row >= 0) & ((value < scales[:, 0]) | (value > scales[:, 1]))
    for n in np.flatnonzero(off):
        reason[n] = f"off the scale of its rubric, {scales[n, 0]} to {scales[n, 1]}"
    used = (row >= 0) & ~off
    y, panel, judges = levels_on_bank(bank_scale, labels[used], row[used], dataset.systems)
    touched = np.zeros(y.shape, dtype=bool)
    place = pd.Index(dataset.systems).get_indexer(pd.Index(labels["system"][used]))
    touched[place, row[used]] = True
    tied = used.copy()
    tied[used] = np.isnan(y[place, row[used]])
    reason[tied] = TIED
    unused = labels.assign(reason=reason)[~used | tied]
    return NewLabels(
        systems=dataset.systems,
        y=y,
        judges=judges,
        panel=panel,
        given=touched.sum(axis=1),
        unused=unused[list(UNUSED)].reset_index(drop=True),
        notes=tuple(_known_by(matches)),
    )


def _known_by(matches: list[Match]) -> list[str]:
    by = Counter(match.by for match in matches if match.by)
    if not by or set(by) == {"id"}:
        return []
    return ["Rubrics were known by " + listed([f"{kind} ({by[kind]:,})" for kind in sorted(by)]) + "."]


def _rejected(report: IngestReport) -> list[str]:
    if not report.rejected:
        return []
    first = "; ".join(f"row {row.row}: {row.reason}" for row in report.rejects.head(SHOWN).itertuples())
    return [f"{count(report.rejected, 'row')} of the file cannot be used ({first})."]


def _check(bank_scale: BankScale, found: NewLabels, report: IngestReport, *, allow_unused: bool) -> None:
    """Raise PlacementError if no label is on the bank, or if a label or row that should count cannot be used."""
    wrong = [*_rejected(report)]
    if not found.given.any() and wrong:
        raise PlacementError(f"No label of the file is on the bank {bank_scale.bank_id}. {wrong[0]}")
    if not found.given.any() and found.unused.empty:
        raise PlacementError("No row has a label: write the labels of the system into the form, as numbers.")
    if not found.given.any():
        name, query = bank_scale.rubrics["rubric"].iloc[0], bank_scale.rubrics["query"].iloc[0]
        why = Counter(found.unused["reason"]).most_common(1)
        size = len(bank_scale.rubrics)
        where = "the only rubric" if size == 1 else f"any of the {count(size, 'rubric')}"
        raise PlacementError(
            f"No label is on {where} of the bank {bank_scale.bank_id}"
            f"{f' ({why[0][0]})' if why else ''}: name rubrics as bank.csv does, "
            f"for example {name!r} of query {query!r}, or by id."
        )
    lost = found.unused[~found.unused["reason"].isin([OUTSIDE, OTHER_TEXT, TIED])]
    if len(lost):
        row = lost.iloc[0]
        wrong.append(
            f"{count(len(lost), 'label')} cannot be used (first: {row['rubric']!r} of {row['system']!r}: "
            f"{row['reason']})."
        )
    if wrong and not allow_unused:
        raise PlacementError(
            f"{' '.join(wrong)} Correct the file, or place without these labels (--allow-unused)."
        )
