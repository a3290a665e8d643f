"""Undo an ingest: remove what it stored, keep what others stored, and restore what it had replaced."""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

from dataclasses import dataclass

import duckdb
import pandas as pd

from ...errors import DatasetError, IngestError
from . import facts, tallies
from . import fingerprint as hashing
from .changes import Changes
from .facts import FACTS
from .reconcile import check_scales
from .rubric_facts import keep_facts
from .statements import DESCRIBED, KEYS, fold, revive

_OLD = "it was ingested by an earlier release, which did not keep the values that it replaced"

_TOGETHER = """
    WITH own AS (FROM ingests WHERE dataset_id = $dataset)
    SELECT ingest_id, kind, source FROM own
    WHERE ingested_at = (SELECT ingested_at FROM own
                         WHERE ingest_id = coalesce($ingest, (SELECT max(ingest_id) FROM own)))
    ORDER BY ingest_id DESC
"""


@dataclass(frozen=True)
class UndoReport:
    """Result of an undo of all tables that were ingested together.

    removed: number of labels and descriptions that were removed. restored: number of values that count again.
    fingerprint: that of the dataset now; None if the dataset held nothing else and was removed, too.
    beside: what was removed with the dataset and came from no file, in words ("2 scenarios").
    """

    dataset: str
    sources: tuple[str, ...]
    removed: int
    restored: int
    fingerprint: str | None
    beside: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """The result as a sentence for the screen."""
        what = f"{' and '.join(self.sources)} {'was' if len(self.sources) == 1 else 'were'} undone"
        if self.fingerprint is None:
            rest = f"with {' and '.join(self.beside)}" if self.beside else "which held nothing else"
            return f"{what}, and with it the dataset {self.dataset}, {rest}."
        return f"{what}: {self.removed:,} removed, {self.restored:,} restored."


def list_ingests(cursor: duckdb.DuckDBPyConnection, dataset_id: int) -> pd.DataFrame:
    """The ingests of a dataset, oldest first, with what each changed and why it cannot be undone ("" where it can)."""
    found = cursor.execute(
        "SELECT ingest_id, kind, source, ingested_at, accepted, rejected, blank, collapsed, replaced, changes,"
        " policies, fingerprint FROM ingests WHERE dataset_id = ? ORDER BY ingest_id",
        [dataset_id],
    ).df()
    known = found["changes"].notna().tolist()
    sentences = [_sentence(c) if k else "" for c, k in zip(found["changes"], known, strict=True)]
    blockers = [_undo_blocker(cursor, dataset_id, int(i)) for i in found["ingest_id"]]
    return found.assign(changes=sentences, policies=found["policies"].fillna(""), undo=blockers)


def _sentence(changes: str) -> str:
    return Changes.from_json(changes).sentence


def undo(cursor: duckdb.DuckDBPyConnection, dataset: tuple[int, str], ingest_id: int | None) -> UndoReport:
    """Undo one ingest, with the tables that came together with it, within the caller's transaction.

    dataset: (id, name). ingest_id: None for the last one. Raises DatasetError if there is no such ingest, or if it
    cannot be undone, such as one on which others depend.
    """
    dataset_id, name = dataset
    found = cursor.execute(_TOGETHER, {"dataset": dataset_id, "ingest": ingest_id}).fetchall()
    if not found:
        raise DatasetError(
            f"The dataset {name!r} has no ingest {ingest_id}: choose one that its history lists."
        )
    sources = tuple(dict.fromkeys(source for _, _, source in found))
    numbers = [number for number, _, _ in found]
    _remember_touched(cursor, dataset_id, numbers)
    changed = None if _may_come_back(cursor, dataset_id) else f"SELECT unnest({numbers!r})"
    reasons = tallies.has_reasons(cursor, dataset_id)
    removed = restored = 0
    for number, kind, source in found:
        blocker = _undo_blocker(cursor, dataset_id, number)
        if blocker:
            raise DatasetError(f"{source} (ingest {number}) cannot be undone: {blocker}.")
        n_removed, back = _undo_one(cursor, dataset_id, number, kind)
        _forget_ingest(cursor, number)
        removed, restored = removed + n_removed, restored + back
    tallies.recount(cursor, dataset_id, "FROM touched", changed, reasons=reasons)
    _forget_names(cursor, dataset_id)
    try:
        check_scales(cursor, dataset_id, "What is left")
    except IngestError as error:
        raise DatasetError(f"{' and '.join(sources)} cannot be undone alone. {error}") from error
    left = cursor.execute("SELECT 1 FROM ingests WHERE dataset_id = ?", [dataset_id]).fetchone()
    if not left:
        return UndoReport(name, sources, removed, restored, None)
    fingerprint = hashing.renew(cursor, dataset_id)
    keep_facts(cursor, dataset_id, store=True)
    return UndoReport(name, sources, removed, restored, fingerprint)


def _remember_touched(cursor: duckdb.DuckDBPyConnection, dataset_id: int, ingests: list[int]) -> None:
    """Create ``touched(rubric_id)``: the rubrics whose labels an undo of these ingests changes."""
    cursor.execute(
        """
        CREATE OR REPLACE TEMP TABLE touched AS
        WITH undone AS (SELECT unnest($ingests::INTEGER[]) AS ingest_id)
        SELECT rubric_id FROM labels JOIN undone USING (ingest_id) WHERE dataset_id = $dataset
        UNION SELECT rubric_id FROM superseded JOIN undone USING (ingest_id) WHERE dataset_id = $dataset
        UNION SELECT unnest([old_rubric_id, new_rubric_id]) FROM moved JOIN undone USING (ingest_id)
        """,
        {"dataset": dataset_id, "ingests": ingests},
    )


def _may_come_back(cursor: duckdb.DuckDBPyConnection, dataset_id: int) -> bool:
    """Whether an undo could change labels of other ingests: some labels were replaced, repeated or moved."""
    ((found,),) = cursor.execute(
        """
        SELECT EXISTS (FROM superseded WHERE dataset_id = $d AND kind = 'labels')
            OR EXISTS (FROM moved WHERE dataset_id = $d)
        """,
        {"d": dataset_id},
    ).fetchall()
    return bool(found)


def _undo_blocker(cursor: duckdb.DuckDBPyConnection, dataset_id: int, ingest_id: int) -> str:
    """Why an ingest cannot be undone, as part of a sentence; "" if it can."""
    if cursor.execute("SELECT 1 FROM label_sources WHERE dataset_id = ?", [dataset_id]).fetchone():
        return "the labels of the dataset lie elsewhere; delete the dataset and reference them again"
    ((changes, later),) = cursor.execute(
        """
        SELECT changes, (SELECT arg_min(source, ingest_id) FROM ingests
                         WHERE dataset_id = $d AND ingested_at > i.ingested_at)
        FROM ingests i WHERE ingest_id = $i
        """,
        {"d": dataset_id, "i": ingest_id},
    ).fetchall()
    if changes is None:
        return _OLD
    if later and cursor.execute("SELECT 1 FROM moved WHERE ingest_id = ? LIMIT 1", [ingest_id]).fetchone():
        return (
            f"it gave earlier labels their query, and {later} depends on that; undo the later ingests first"
        )
    return ""


def _undo_one(
    cursor: duckdb.DuckDBPyConnection, dataset_id: int, ingest_id: int, kind: str
) -> tuple[int, int]:
    """Undo one table of an ingest: (number of removed rows, number of restored rows)."""
    own = {"dataset": dataset_id, "ingest": ingest_id}
    if kind in DESCRIBED:
        result = _undo_descriptions(cursor, own, kind)
    elif kind in FACTS:
        result = facts.take_back(cursor, own, kind)
    else:
        cursor.execute("DELETE FROM superseded WHERE dataset_id = $dataset AND ingest_id = $ingest", own)
        ((n_removed,),) = cursor.execute(
            f"DELETE FROM {kind} WHERE dataset_id = $dataset AND ingest_id = $ingest", own
        ).fetchall()
        _undo_descriptions(cursor, own, "rubrics")  # scales, pass marks and polarity that came with labels
        result = (n_removed, 0)
    for table in KEYS:
        _move_back(cursor, own, table)
        before = _rows(cursor, table, dataset_id)
        revive(cursor, table, dataset_id)
        back = _rows(cursor, table, dataset_id) - before
        result = (result[0] - back, result[1] + back) if table == kind else result
    return result


def _rows(cursor: duckdb.DuckDBPyConnection, table: str, dataset_id: int) -> int:
    ((rows,),) = cursor.execute(f"SELECT count(*) FROM {table} WHERE dataset_id = ?", [dataset_id]).fetchall()
    return int(rows)


def _undo_descriptions(cursor: duckdb.DuckDBPyConnection, own: dict[str, int], kind: str) -> tuple[int, int]:
    place = DESCRIBED[kind]
    cursor.execute(
        f"""
        CREATE OR REPLACE TEMP TABLE described_by AS SELECT {place.id} AS id FROM {place.statements}
        WHERE dataset_id = $dataset AND ingest_id = $ingest
        """,
        own,
    )
    cursor.execute(f"DELETE FROM {place.statements} WHERE dataset_id = $dataset AND ingest_id = $ingest", own)
    fold(cursor, kind, own["dataset"], "FROM described_by")
    ((all_of_them, still),) = cursor.execute(
        f"""
        SELECT count(*), count(*) FILTER (id IN (SELECT {place.id} FROM {place.statements} WHERE dataset_id = $dataset))
        FROM described_by
        """,
        {"dataset": own["dataset"]},
    ).fetchall()
    if kind == "reference":
        cursor.execute(
            "DELETE FROM reference_ranking WHERE dataset_id = $dataset AND ingest_id IS NULL",
            {"dataset": own["dataset"]},
        )
    return all_of_them - still, still


def _move_back(cursor: duckdb.DuckDBPyConnection, own: dict[str, int], kind: str) -> None:
    """Move rows that got their query from this ingest (``moved``) back to the rubric without a query."""
    where = {"kind": kind, **own}
    for table in (kind, "superseded"):
        cursor.execute(
            f"""
            UPDATE {table} SET rubric_id = m.old_rubric_id FROM moved m
            WHERE m.kind = $kind AND m.ingest_id = $ingest AND {table}.dataset_id = $dataset
              AND {table}.rubric_id = m.new_rubric_id AND {table}.judge_id = m.judge_id
              AND {table}.ingest_id = m.said_by {"AND " + table + ".kind = $kind" if table == "superseded" else ""}
              {f"AND {table}.system_id IS NOT DISTINCT FROM m.system_id" if "system_id" in KEYS[kind] else ""}
              {f"AND {table}.run_id = m.run_id" if "run_id" in KEYS[kind] else ""}
            """,
            where,
        )


def _forget_ingest(cursor: duckdb.DuckDBPyConnection, ingest_id: int) -> None:
    """Delete the records of the ingest itself: in ``moved``, ``rejects``, ``read_files`` and ``ingests``."""
    cursor.execute("DELETE FROM moved WHERE ingest_id = $i OR said_by = $i", {"i": ingest_id})
    for table in ("rejects", "read_files", "ingests"):
        cursor.execute(f"DELETE FROM {table} WHERE ingest_id = ?", [ingest_id])


def _forget_names(cursor: duckdb.DuckDBPyConnection, dataset_id: int) -> None:
    """Delete names that no row mentions any more; most that labels mention are looked up in their tallies."""
    for table, used in _MENTIONS:
        if not cursor.execute(f"FROM {table} WHERE dataset_id = ? LIMIT 1", [dataset_id]).fetchone():
            continue
        mentioned = " UNION ALL ".join(
            f"SELECT {column} FROM {place} WHERE dataset_id = $d" for place, column in used
        )
        cursor.execute(
            f"DELETE FROM {table} WHERE dataset_id = $d AND {_ID[table]} NOT IN"
            f" (SELECT * FROM ({mentioned}) AS m(id) WHERE id IS NOT NULL)",
            {"d": dataset_id},
        )


_ID = {
    "systems": "system_id",
    "judges": "judge_id",
    "runs": "run_id",
    "rubrics": "rubric_id",
    "queries": "query_id",
}
_LONG = (*(table for table in KEYS if table != "labels"), "superseded")
# Rubrics before queries: a query is mentioned by its rubrics.
_MENTIONS: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    (
        "systems",
        (
            *((t, "system_id") for t in ("system_tallies", *_LONG) if t != "anchors"),
            *((t, "system_id") for t in ("reference_statements", "answers", "system_facts")),
        ),
    ),
    ("runs", (("labels", "run_id"), ("superseded", "run_id"))),
    ("judges", tuple((t, "judge_id") for t in ("system_tallies", *_LONG))),
    (
        "rubrics",
        (
            *((t, "rubric_id") for t in ("label_tallies", *_LONG)),
            ("rubric_statements", "rubric_id"),
            ("moved", "old_rubric_id"),
        ),
    ),
    ("queries", (("rubrics", "query_id"), ("query_statements", "query_id"), ("answers", "query_id"))),
)
