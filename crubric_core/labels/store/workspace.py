"""A workspace: one DuckDB file, or a database in memory, with all datasets of a person or a team."""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace

import duckdb
import pandas as pd

from ...errors import DatasetError, IngestError
from ...text import count
from ...types import Progress, silent
from ..checks.dataset_checks import by_severity, check_latest
from ..checks.plan_checks import check_plan
from ..checks.scale_checks import changed_scales
from ..ingest import undo as history
from ..ingest.findings import Finding
from ..ingest.new_dataset import dataset_name
from ..ingest.parts import notes_stored, stage_parts, store_parts, together
from ..ingest.read_files import digests, remember, without_read
from ..ingest.report import IngestReport, tidy
from ..ingest.rubric_facts import criteria, criteria_now, scales_stand
from ..ingest.staging import parts_of
from ..ingest.storing import IngestRequest
from ..ingest.undo import UndoReport
from ..readers.bundle import plan_pieces
from ..readers.columns.specs import Kind
from ..readers.plan import Columns, Overrides, Plan, notes_of
from ..readers.policies import OnConflict, Policies
from ..readers.sources import Piece, Source, Sources, gathered
from . import copying
from .backup import damage, is_damage
from .database import Database, cause, dataset_id_of
from .dataset import Dataset, scale_now
from .results import forget_orphans
from .sourced import require_own_labels


class Workspace(Database):
    """Datasets kept in one file; use it as a context manager, from any number of threads.

    Reads see one consistent state and never wait; writes queue up.

    Parameters
    ----------
    path : path
        The file, which is created if it does not exist; ``":memory:"``, the default, for a database in memory.

    Raises
    ------
    WorkspaceError
        The file cannot be opened: locked by another process, not a workspace, or of a newer version.

    """

    def __repr__(self) -> str:
        return f"Workspace({str(self.path)!r})"

    def ingest(
        self,
        source: Source,
        dataset: str,
        kind: Kind = "labels",
        mapping: Columns | None = None,
        format: str = "auto",  # noqa: A002 - the public name
        on_conflict: OnConflict = "reject",
        progress: Progress | None = None,
        name: str | None = None,
        policies: Policies | None = None,
    ) -> IngestReport:
        """Add one file to a dataset, in one transaction; the dataset is created if it does not exist.

        Parameters
        ----------
        source : path, bytes, binary file or data frame
            A table (CSV, TSV, workbook, Parquet, JSON, JSON Lines), a layout of docs/formats.md, or an archive; or a
            data frame of pandas, Polars or Arrow.
        dataset : str
            The dataset's name.
        kind : str
            What the rows are: labels, rubrics, queries, gold, reference, anchors, answers or systems.
        mapping : mapping of str to str, optional
            Canonical column → the file's column, for columns that cannot be recognised by their names.
        format : str
            auto, csv, tsv, parquet, jsonl, json or another name of docs/formats.md.
        on_conflict : {"reject", "last", "first", "runs"}
            Rows that contradict each other are rejected; or the last or the first counts; or they are repeated runs.
        progress : callable, optional
            Called with the share done, from 0 to 1, and what is done now.
        name : str, optional
            Name of the source in messages and in the list of ingests.
        policies : Policies, optional
            All choices about contradicting rows, scales and words; it overrides ``on_conflict``.

        Returns
        -------
        IngestReport
            ``accepted`` and ``rejected`` rows, ``rejects`` with the reason of each, scales, data-quality issues.

        Raises
        ------
        IngestError
            Nothing can be used; the workspace is as it was.

        """
        request = IngestRequest(dataset, kind, mapping, format, policies or Policies(on_conflict))
        return self._ingest(request, source, name, progress, keep=True)

    def preview(
        self,
        source: Source,
        dataset: str,
        kind: Kind = "labels",
        mapping: Columns | None = None,
        format: str = "auto",  # noqa: A002 - the public name
        on_conflict: OnConflict = "reject",
        progress: Progress | None = None,
        name: str | None = None,
        policies: Policies | None = None,
    ) -> IngestReport:
        """The report that ``ingest`` with the same arguments would return; nothing is stored."""
        request = IngestRequest(dataset, kind, mapping, format, policies or Policies(on_conflict))
        return self._ingest(request, source, name, progress, keep=False)

    def ingest_plan(
        self,
        plan: Plan,
        dataset: str,
        sources: Sources,
        policies: Policies | None = None,
        progress: Progress | None = None,
        *,
        preview: bool = False,
        other_criteria: bool = False,
    ) -> IngestReport:
        """Add the files of a plan to a dataset, all of them in one transaction or none.

        Parameters
        ----------
        plan : Plan
            The result of ``plan_ingest``, possibly edited. Files that are not in the plan are not read.
        dataset : str
            The dataset's name.
        sources : path, bytes, binary file, data frame, or a list of them
            The sources that were given to ``plan_ingest``.
        policies : Policies, optional
            Choices about rows that contradict each other, scales and words.
        progress : callable, optional
            Called with the share done, from 0 to 1, and what is done now.
        preview : bool
            Only report; nothing is stored.
        other_criteria : bool
            Whether the policies may name criteria that no file has.

        Returns
        -------
        IngestReport
            As for ``ingest``, with the report of each table in ``parts``.

        Raises
        ------
        IngestError
            Nothing can be used, or a file of the plan is not among the sources; the workspace is as it was.

        """
        request = IngestRequest(dataset, "labels", None, "auto", policies or Policies())
        with gathered(sources) as pieces:
            known = {f.name for f in plan.files}
            there = [piece for piece in pieces if piece.name in known]
            absent = known - {piece.name for piece in there} - {f.name for f in plan.files if f.skip}
            if absent:
                raise IngestError(
                    f"The plan names {min(absent)!r}, which is not among the files given: add it."
                )
            return self._carry_out(
                plan, there, request, progress, keep=not preview, other_criteria=other_criteria
            )

    def _ingest(
        self,
        request: IngestRequest,
        source: Source,
        name: str | None,
        progress: Progress | None,
        *,
        keep: bool,
    ) -> IngestReport:
        with gathered(source, name) as pieces:
            alone = len(pieces) == 1 and pieces[0].alone
            kind = request.kind if alone or request.kind != "labels" else None
            overrides = Overrides(kind, request.mapping or {}, request.file_format, strict=True)
            return self._carry_out(plan_pieces(pieces, overrides), pieces, request, progress, keep=keep)

    def _carry_out(
        self,
        plan: Plan,
        pieces: Sequence[Piece],
        request: IngestRequest,
        progress: Progress | None,
        *,
        keep: bool,
        other_criteria: bool = False,
    ) -> IngestReport:
        report = progress or silent
        files = digests(plan, pieces, request.policies)
        with self.reading() as cursor:
            require_own_labels(cursor, request.dataset)
            plan = without_read(cursor, request.dataset, plan, files, request.policies)
        try:
            parts = parts_of(plan, pieces, request.dataset, request.policies, report)
            with closing(self.cursor()) as cursor:
                waiting = stage_parts(cursor, parts, report)
                with self.transaction(cursor, keep=keep):
                    reports = store_parts(
                        cursor, waiting, report, numbered=len(parts) > 1, other_criteria=other_criteria
                    )
                    notes = (*notes_of(plan), *notes_stored(cursor, reports))
                    remember(cursor, plan, files)
                    report(0.95, "Checking data quality")
                    checks, coverage = check_latest(cursor)
                    scales, scale = criteria_now(cursor), scale_now(cursor)
                    changed = self._changed_scales(cursor, request.dataset, scales)
                    told = [finding for one in reports for finding in one.checks]
                    checks = by_severity((*check_plan(plan), *told, *changed, *checks))
            report(1.0, "Done")
        except duckdb.Error as error:
            if is_damage(error):
                raise damage(self.path, error) from error
            raise IngestError(
                f"{pieces[0].name} could not be stored ({cause(error)}); the workspace is as it was."
            ) from error
        return replace(
            together(reports, request.kind, notes),
            scales=scales,
            checks=checks,
            coverage=coverage,
            scale=scale,
        )

    def _changed_scales(
        self, cursor: duckdb.DuckDBPyConnection, name: str, scales: pd.DataFrame
    ) -> Iterator[Finding]:
        """Findings on scales that the open transaction changes. scales: the criteria as this transaction sees them."""
        with self.reading() as earlier:
            found = earlier.execute("SELECT dataset_id FROM datasets WHERE name = ?", [name]).fetchone()
            if found is None or scales_stand(earlier, cursor, found[0]):
                return
            before = earlier.execute(*criteria(found[0])).df()
        yield from changed_scales(before, scales)

    def dataset(self, name: str) -> Dataset:
        """A dataset by its name.

        Parameters
        ----------
        name : str
            Its name, as in ``datasets``.

        Returns
        -------
        Dataset
            Its labels and descriptions, read when they are asked for.

        Raises
        ------
        DatasetError
            There is no dataset of that name; the message lists the existing ones.

        """
        with self.reading() as cursor:
            return Dataset(self, dataset_id_of(cursor, name), name)

    def datasets(self) -> pd.DataFrame:
        """One row a dataset: name, systems, queries, rubrics, judges, labels, fingerprint, created_at."""
        rows = []
        with self.reading() as cursor:
            found = cursor.execute(
                "SELECT name, fingerprint, created_at FROM datasets ORDER BY name"
            ).fetchall()
        for name, fingerprint, created_at in found:
            try:
                counts = self.dataset(name).counts()
            except DatasetError:  # deleted since it was listed
                continue
            kept = {k: int(counts[k]) for k in ("systems", "queries", "rubrics", "judges", "labels")}
            rows.append({"name": name, **kept, "fingerprint": fingerprint, "created_at": created_at})
        columns = ["name", "systems", "queries", "rubrics", "judges", "labels", "fingerprint", "created_at"]
        return pd.DataFrame(rows, columns=columns)

    def delete(self, name: str) -> None:
        """Remove a dataset with everything that belongs to it."""
        with self.writing() as cursor:
            _delete(cursor, dataset_id_of(cursor, name))

    def rename(self, old: str, new: str) -> None:
        """Rename a dataset; DatasetError if another dataset has the new name."""
        with self.writing() as cursor:
            dataset_id, new = dataset_id_of(cursor, old), dataset_name(new)
            if new != old:
                _require_free(cursor, new)
                cursor.execute("UPDATE datasets SET name = ? WHERE dataset_id = ?", [new, dataset_id])

    def duplicate(self, name: str, new: str) -> None:
        """Copy a dataset with its history; DatasetError if a dataset has the new name."""
        with self.writing() as cursor:
            dataset_id, new = dataset_id_of(cursor, name), dataset_name(new)
            _require_free(cursor, new)
            copying.duplicate(cursor, dataset_id, new)

    def ingests(self, name: str) -> pd.DataFrame:
        """One row per ingest of a dataset, oldest first: its source, what became of its rows, and what it changed.

        undo: the reason why the ingest cannot be undone, "" if it can.
        """
        with self.reading() as cursor:
            return history.list_ingests(cursor, dataset_id_of(cursor, name))

    def undo(self, name: str, ingest_id: int | None = None) -> UndoReport:
        """Undo one ingest of a dataset; by default (None) the last one.

        Its data are removed, the data that it had replaced count again, and the data of other ingests stay. If the
        only ingest is undone, the dataset is deleted. Raises DatasetError if later ingests depend on it.
        """
        with self.writing() as cursor:
            dataset_id = dataset_id_of(cursor, name)
            report = history.undo(cursor, (dataset_id, name), ingest_id)
            if report.fingerprint is None:
                report = replace(report, beside=_of_no_file(cursor, dataset_id))
                _delete(cursor, dataset_id)
            return report

    def rejects(self, name: str) -> pd.DataFrame:
        """Every rejected row of a dataset: source, kind, row, column, value, reason."""
        with self.reading() as cursor:
            found = cursor.execute(
                'SELECT source, kind, "row", "column", value, reason FROM rejects JOIN ingests USING (ingest_id)'
                ' WHERE dataset_id = ? ORDER BY ingest_id, "row"',
                [dataset_id_of(cursor, name)],
            )
            return tidy(found.df())


def _of_no_file(cursor: duckdb.DuckDBPyConnection, dataset_id: int) -> tuple[str, ...]:
    """Texts that name what a dataset has besides the content of its files: saved scenarios, scoring rules."""
    numbers = [
        cursor.execute(f"SELECT count(*) FROM {table} WHERE dataset_id = ?", [dataset_id]).fetchall()[0][0]
        for table in ("scenarios", "scoring_rules")
    ]
    return (
        *((count(numbers[0], "scenario"),) if numbers[0] else ()),
        *(("its scoring rules",) if numbers[1] else ()),
    )


def _require_free(cursor: duckdb.DuckDBPyConnection, name: str) -> None:
    if not name:
        raise DatasetError("The new name is blank: give the dataset a name.")
    if cursor.execute("SELECT 1 FROM datasets WHERE name = ?", [name]).fetchone():
        raise DatasetError(f"There is a dataset {name!r} already: choose another name or delete it.")


def _delete(cursor: duckdb.DuckDBPyConnection, dataset_id: int) -> None:
    cursor.execute(
        "DELETE FROM rejects WHERE ingest_id IN (SELECT ingest_id FROM ingests WHERE dataset_id = ?)",
        [dataset_id],
    )
    for table in (*copying.TABLES, "datasets"):
        cursor.execute(f"DELETE FROM {table} WHERE dataset_id = ?", [dataset_id])
    forget_orphans(cursor)
