"""A new dataset of a workspace: its name, and an id that no other dataset had or gets."""

from __future__ import annotations

import duckdb

NOW = "make_timestamp(epoch_us(now()))"  # UTC; one for a whole transaction: its tables are undone together


def dataset_name(given: str) -> str:
    """A dataset's name as it is stored: without spaces around it, so that no two look alike; "" for a blank name."""
    return given.strip()


def new_dataset(cursor: duckdb.DuckDBPyConnection, name: str) -> int:
    """Add an empty dataset and return its id; ids of deleted datasets are not used again, as somebody may hold one."""
    ((number,),) = cursor.execute(
        f"""
        INSERT INTO datasets
        SELECT greatest(
            coalesce(max(dataset_id), 0),
            coalesce((SELECT value::INTEGER FROM settings WHERE key = 'last_dataset_id'), 0)
        ) + 1, ?, {NOW}, NULL
        FROM datasets
        RETURNING dataset_id
        """,  # noqa: S608 - the program's own words
        [name],
    ).fetchall()
    cursor.execute("INSERT OR REPLACE INTO settings VALUES ('last_dataset_id', ?)", [str(number)])
    return int(number)
