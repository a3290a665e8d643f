"""Skip files of a folder that were ingested before and have not changed since."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from ..readers.plan import FilePlan, Plan
from ..readers.policies import Policies
from ..readers.sources import Piece

if TYPE_CHECKING:
    import duckdb

Read = tuple[str, str, str]  # a file's name, the digest of its content, and how it is read
WHY = "the same content was ingested before, in the same way"
_HOW = ("format", "kind", "mapping", "words", "gold", "described")


def digests(plan: Plan, pieces: Sequence[Piece], policies: Policies) -> list[Read]:
    """Name, content digest and reading digest of the planned files of a folder or archive; [] for a single file."""
    if len(pieces) < 2:
        return []
    wanted = [(plan.file(piece.name), piece) for piece in pieces if not plan.file(piece.name).skip]
    return [(p.name, _digest(p), _asked(f, plan, policies)) for f, p in wanted]


def without_read(
    cursor: duckdb.DuckDBPyConnection, dataset: str, plan: Plan, files: Sequence[Read], policies: Policies
) -> Plan:
    """The plan, with files skipped that an ingest of the dataset (not undone) has read in the same way.

    The plan is unchanged if every file was read before, so that the report shows this, and for ``on_conflict="last"``,
    where the labels of the files should count again.
    """
    if policies.on_conflict == "last":
        return plan
    known = set(
        cursor.execute(
            "SELECT f.name, digest, asked FROM read_files f JOIN datasets d USING (dataset_id) WHERE d.name = ?",
            [dataset],
        ).fetchall()
    )
    again = {file[0] for file in files if file in known}
    if not again or len(again) == len(files):
        return plan
    kept = tuple(replace(f, skip=True, reason=WHY) if f.name in again else f for f in plan.files)
    return replace(plan, files=kept)


def remember(cursor: duckdb.DuckDBPyConnection, plan: Plan, files: Sequence[Read]) -> None:
    """Store the digests of the files that the ingests of the open transaction read."""
    if not files:
        return
    read = {f.name for f in plan.files if not f.skip}
    ((dataset_id, ingest_id),) = cursor.execute(
        "SELECT any_value(dataset_id), min(ingest_id) FROM ingests WHERE ingested_at = make_timestamp(epoch_us(now()))"
    ).fetchall()
    rows = [(dataset_id, ingest_id, *file) for file in files if file[0] in read]
    if rows:
        cursor.executemany("INSERT INTO read_files VALUES (?, ?, ?, ?, ?)", rows)


def _digest(piece: Piece) -> str:
    with piece.path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _asked(file: FilePlan, plan: Plan, policies: Policies) -> str:
    how = {name: getattr(file, name) for name in _HOW}
    text = json.dumps([how, asdict(plan.options), asdict(policies)], sort_keys=True, default=list)
    return hashlib.sha256(text.encode()).hexdigest()[:32]
