"""Results of long computations, stored in the workspace beside the labels from which they were computed.

A result is stored under the fingerprint of the dataset's content and a key of all inputs of the computation, so it is
never stale: other labels have another fingerprint; other settings or another program version have another key.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import duckdb

    from .database import Database

_FIND = "SELECT content FROM results WHERE fingerprint = ? AND kind = ? AND key = ?"
_REMOVE = "DELETE FROM results WHERE fingerprint = ? AND kind = ? AND key = ?"


def result_key(settings: Mapping[str, Any]) -> str:
    """Hash of the settings, 32 hexadecimal digits; it does not depend on their order."""
    text = json.dumps(settings, sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def save_result(
    workspace: Database, fingerprint: str, kind: str, settings: Mapping[str, Any], content: Mapping[str, Any]
) -> None:
    """Store ``content`` (plain JSON values), replacing a result of the same fingerprint, kind and settings."""
    text = json.dumps(content, allow_nan=False)
    key = [fingerprint, kind, result_key(settings)]
    with workspace.writing() as cursor:
        cursor.execute(_REMOVE, key)
        cursor.execute(
            "INSERT INTO results VALUES (?, ?, ?, ?, ?)", [*key, text, datetime.now(UTC).replace(tzinfo=None)]
        )


def load_result(
    workspace: Database, fingerprint: str, kind: str, settings: Mapping[str, Any]
) -> dict[str, Any] | None:
    """The stored content for this fingerprint, kind and settings, or None."""
    with workspace.reading() as cursor:
        found = cursor.execute(_FIND, [fingerprint, kind, result_key(settings)]).fetchone()
    return None if found is None else dict(json.loads(found[0]))


def forget_orphans(cursor: duckdb.DuckDBPyConnection) -> None:
    """Delete the results whose fingerprint no dataset has any more."""
    cursor.execute("DELETE FROM results WHERE fingerprint NOT IN (SELECT fingerprint FROM datasets)")
