"""The content of a view: one small DuckDB file, written once and never changed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd

from ..analysis.claims import Claims
from ..analysis.columns import BANK_SHARED, WHOLE
from ..files import json_bytes
from ..labels.readers.formats.base import LOCAL
from .folder import read_regular
from .view import Bank, Separation, SharedView

FORMAT = 1
MOST = 64 << 20  # bytes of a view that is read
_SMALL = {
    "default_block_size": "16384"
}  # DuckDB's least; the usual 262,144 makes every view ten times as large
_SEALED = {"enable_external_access": "false", "lock_configuration": "true", "threads": "1"}
_WORDS = (
    "title",
    "note",
    "dataset",
    "fingerprint",
    "counts",
    "settings",
    "versions",
    "cautions",
    "downloads",
)
_BANK_NUMBERS = ("size", "candidates", "rubrics", "queries_heard", "queries", "coverage", "certificate")
_BANK_CURVES = ("theta", "information", "information_all")


def write_content(view: SharedView, path: Path) -> None:
    """Write the view as a new database at ``path``; duckdb.Error if not all of it could be stored."""
    for left in (path, path.with_name(path.name + ".wal")):
        left.unlink(missing_ok=True)
    with closing(duckdb.connect(str(path), config={**LOCAL, **_SMALL})) as connection:
        for name, table in _tables(view).items():
            connection.register("frame", table)
            connection.execute(f'CREATE TABLE "{name}" AS SELECT * FROM frame')  # noqa: S608 - names of this file
            connection.unregister("frame")
        connection.execute("CHECKPOINT")  # closing would do it too, but without an error if the disk is full


def read_content(path: Path) -> SharedView:
    """Read the view in a file; duckdb.Error, ValueError, KeyError or TypeError if it is not a view of this format."""
    with sealed(path) as connection:
        names = [row[0] for row in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()]
        tables = {name: connection.table(f'"{name}"').df() for name in names}
    about: dict[str, Any] = {}
    for value in tables["about"]["value"]:
        about |= json.loads(value)
    if about["format"] != FORMAT:
        raise ValueError(f"format {about['format']}")
    words: dict[str, Any] = {name: about[name] for name in _WORDS} | {"cautions": tuple(about["cautions"])}
    return SharedView(
        **words,
        made_at=datetime.fromisoformat(about["made_at"]),
        claims=_claims(about.get("claims")),  # views of earlier versions have none
        leaderboard=_whole(tables["leaderboard"]) if "leaderboard" in tables else None,
        separation=_separation(about["systems"], tables["pairs"]) if "pairs" in tables else None,
        bank=_bank(about, tables["information"]) if "information" in tables else None,
        rubrics=_texts(tables["rubrics"]) if "rubrics" in tables else None,
    )


@contextmanager
def sealed(path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A read-only connection to the file, without access to other files or the network; its options are locked."""
    with closing(duckdb.connect(str(path), read_only=True, config={**LOCAL, **_SEALED})) as connection:
        yield connection


def sha256_of(path: Path) -> str:
    """SHA-256 of a whole file, in hexadecimal; "" if it is not a plain file of at most MOST bytes."""
    content = read_regular(path, MOST)
    return "" if content is None else hashlib.sha256(content).hexdigest()


def _tables(view: SharedView) -> dict[str, pd.DataFrame]:
    about: dict[str, Any] = {name: getattr(view, name) for name in _WORDS}
    about |= {"format": FORMAT, "made_at": view.made_at.isoformat()}
    about["claims"] = None if view.claims is None else vars(view.claims)
    tables: dict[str, pd.DataFrame] = {}
    if view.leaderboard is not None:
        tables["leaderboard"] = view.leaderboard
    if view.separation is not None:
        about["systems"] = view.separation.systems
        tables["pairs"] = _pairs(view.separation)
    if view.bank is not None:
        about["bank"] = {name: getattr(view.bank, name) for name in _BANK_NUMBERS}
        about["worth"] = view.bank.worth
        tables["information"] = pd.DataFrame({name: getattr(view.bank, name) for name in _BANK_CURVES})
    if view.rubrics is not None:
        tables["rubrics"] = view.rubrics.astype(dict.fromkeys(BANK_SHARED[1:], "str"))
    tables["about"] = pd.DataFrame(
        {"value": [json_bytes({name: value}).decode() for name, value in about.items()]}
    )
    return tables


def _pairs(separation: Separation) -> pd.DataFrame:
    row, column = np.indices(separation.ahead.shape)
    return pd.DataFrame(
        {
            "row": row.ravel(),
            "column": column.ravel(),
            "ahead": separation.ahead.ravel(),
            "separated": separation.separated.ravel(),
        }
    )


def _claims(said: dict[str, Any] | None) -> Claims | None:
    if said is None:
        return None
    parts: dict[str, Any] = {k: v if isinstance(v, str) else tuple(v) for k, v in said.items()}
    return Claims(**parts)


def _separation(systems: list[str], pairs: pd.DataFrame) -> Separation:
    size = len(systems)
    ahead, separated = np.full((size, size), np.nan), np.zeros((size, size), dtype=bool)
    at = pairs["row"].to_numpy(), pairs["column"].to_numpy()
    ahead[at], separated[at] = pairs["ahead"], pairs["separated"]
    return Separation(tuple(systems), ahead, separated)


def _bank(about: dict[str, Any], curves: pd.DataFrame) -> Bank:
    parts: dict[str, Any] = {name: curves[name].to_numpy(dtype=float) for name in _BANK_CURVES}
    worth = tuple(about.get("worth", ()))  # views of earlier versions have none
    return Bank(**about["bank"], **parts, worth=worth)


def _whole(table: pd.DataFrame) -> pd.DataFrame:
    return table.astype({name: "Int64" for name in WHOLE if name in table})


def _texts(table: pd.DataFrame) -> pd.DataFrame:
    return table[list(BANK_SHARED)]
