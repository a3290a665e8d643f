"""Steps to make a dataset of labels that stay in their source: names and tallies are stored, rows are not."""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

from dataclasses import dataclass

import duckdb

from ...errors import DatasetError, IngestError
from ..ingest import fingerprint as hashing
from ..ingest.changes import Changes
from ..ingest.new_dataset import NOW, dataset_name, new_dataset
from ..ingest.reconcile import check_scales
from ..readers.policies import Policies


@dataclass(frozen=True)
class Totals:
    """Numbers of rows of a source.

    rows: all rows. faults: column → unusable rows: without this name, or with a label that is not a whole number.
    blank: usable rows without a label. repeated: rows beyond the first of their key. contradicting: rows with a label
    whose key has different labels; none of them counts.
    """

    rows: int
    faults: dict[str, int]
    blank: int
    repeated: int = 0
    contradicting: int = 0

    @property
    def rejected(self) -> int:
        """Number of rows that do not count."""
        return sum(self.faults.values()) + self.contradicting

    @property
    def sentence(self) -> str:
        """A sentence on the rows that do not count, with reasons; "" if all rows count."""
        parts = [
            f"{n:,} {'have a label that is no whole number' if column == 'label' else f'name no {column}'}"
            for column, n in sorted(self.faults.items())
        ]
        if self.contradicting:
            parts.append(f"{self.contradicting:,} contradict another row of the same key")
        return f"Of {self.rows:,} rows, {' and '.join(parts)}: they do not count." if parts else ""


def totals_of(found: list[tuple[str | None, int, int | None]]) -> Totals:
    """The result of ``portable.totals`` as Totals; IngestError if no row can be used."""
    faults = {column: int(n) for column, n, _ in found if column is not None}
    useful = sum(int(n) for column, n, _ in found if column is None)
    totals = Totals(useful + sum(faults.values()), faults, sum(int(b or 0) for c, _, b in found if c is None))
    if not useful:
        raise IngestError(
            f"No row can be used. {totals.sentence}" if totals.rows else "The labels have no row."
        )
    return totals


def open_dataset(cursor: duckdb.DuckDBPyConnection, name: str) -> int:
    """The id of the dataset, created if it is new; DatasetError if it has labels or the name is blank."""
    if not (name := dataset_name(name)):
        raise DatasetError("The dataset has no name: give it one.")
    found = cursor.execute("SELECT dataset_id FROM datasets WHERE name = ?", [name]).fetchone()
    if found is None:
        return new_dataset(cursor, name)
    for table in ("labels", "label_sources"):
        if cursor.execute(f"SELECT 1 FROM {table} WHERE dataset_id = ? LIMIT 1", list(found)).fetchone():
            raise DatasetError(
                f"The dataset {name!r} has labels already: choose another name, or delete it first."
            )
    return int(found[0])


def store_names(cursor: duckdb.DuckDBPyConnection, dataset_id: int) -> None:
    """Store the new names in the tables ``seen_systems``, ``seen_judges``, ``seen_runs`` and ``seen_rubrics``."""
    for table, source in (
        ("systems", "SELECT DISTINCT system AS name FROM seen_systems"),
        ("judges", "SELECT DISTINCT judge AS name FROM seen_judges"),
        ("runs", "SELECT DISTINCT run AS name FROM seen_runs"),
        ("queries", "SELECT DISTINCT query AS name FROM seen_rubrics"),
    ):
        column = f"{'query' if table == 'queries' else table[:-1]}_id"
        cursor.execute(
            f"""
            INSERT INTO {table} ({column}, dataset_id, name)
            SELECT (SELECT coalesce(max({column}), 0) FROM {table}) + row_number() OVER (ORDER BY name), $dataset, name
            FROM ({source}) WHERE name NOT IN (SELECT name FROM {table} WHERE dataset_id = $dataset)
            """,
            {"dataset": dataset_id},
        )
    cursor.execute(
        """
        INSERT INTO rubrics (rubric_id, dataset_id, query_id, name)
        SELECT (SELECT coalesce(max(rubric_id), 0) FROM rubrics) + row_number() OVER (ORDER BY s.query, s.rubric),
               $dataset, q.query_id, s.rubric
        FROM (SELECT DISTINCT query, rubric FROM seen_rubrics) s
        JOIN queries q ON q.name = s.query AND q.dataset_id = $dataset
        ANTI JOIN rubrics r ON r.dataset_id = $dataset AND r.query_id = q.query_id AND r.name = s.rubric
        """,
        {"dataset": dataset_id},
    )


def finish(
    cursor: duckdb.DuckDBPyConnection, dataset_id: int, source: tuple[object, ...], totals: Totals
) -> str:
    """Store the source of the labels, an entry in the history and the dataset's fingerprint; return the fingerprint.

    source: (engine, location, runs, repeats, fingerprint). Raises IngestError if a label is outside a given scale.
    """
    engine, location, runs, repeats, content = source
    cursor.execute(
        "INSERT INTO label_sources VALUES (?, ?, ?, ?, ?, ?, ?)",
        [dataset_id, engine, location, runs, repeats, totals.rows, content],
    )
    check_scales(cursor, dataset_id, "The table of rubrics")
    found = hashing.renew(cursor, dataset_id)
    added = totals.rows - totals.rejected
    cursor.execute(
        f"INSERT INTO ingests SELECT coalesce(max(ingest_id), 0) + 1, $dataset, 'labels', $source, {NOW}, $accepted,"
        " $rejected, $blank, $collapsed, 0, $changes, $policies, $fingerprint FROM ingests",
        {
            "dataset": dataset_id,
            "source": f"{location} ({'read in place' if engine == 'duckdb' else 'tallied by Spark'})",
            "accepted": added,
            "rejected": totals.rejected,
            "blank": totals.blank,
            "collapsed": max(totals.repeated - totals.contradicting, 0),
            "changes": Changes(added=added).to_json(),
            "policies": Policies().summary({}),
            "fingerprint": found,
        },
    )
    return found
