"""One dataset of a workspace: a light handle whose methods read the database when they are called."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import pandas as pd

from ...errors import DatasetError, require_choice
from ...scoring_rules import ScoringRules
from ...settings import Consensus, Response, Tie
from ...types import FloatArray
from ..checks.dataset_checks import check_dataset, coverage
from ..ingest.findings import Finding
from ..ingest.parsed import execute
from ..ingest.pass_marks import pass_mark_sentences
from ..ingest.report import Scale, tidy
from ..ingest.rubric_facts import criteria
from . import catalogue, judge_sums, portable, reduce, sourced
from .canonical import CANONICAL, as_file, one_column_a_fact
from .dataset_rules import load_rules
from .judge_sums import JudgeMeetings, JudgeShares
from .label_numbers import Counted, read_raised, splits_as
from .pairs import CellSums, pair_counts
from .reduction import Reduction
from .spark import read_rubric

if TYPE_CHECKING:
    import duckdb

    from .database import Database


_PIECE = 512  # vectors of 2,048 rows that are fetched at once


class Dataset:
    """The labels of one study. Each call reads the database again, so its results are never stale.

    Each call raises DatasetError after the dataset was deleted. name: the dataset's name at the last read.
    """

    def __init__(self, workspace: Database, dataset_id: int, name: str) -> None:
        self._workspace, self._id, self.name = workspace, dataset_id, name

    @property
    def id(self) -> int:
        """The dataset's key in the tables of the workspace."""
        return self._id

    def __repr__(self) -> str:
        return f"Dataset({self.name!r})"

    @property
    def fingerprint(self) -> str:
        """Hash of the content, which does not depend on the order of files and rows.

        For labels that are read in place, it is a hash of their files' metadata; DatasetError if one of these files is
        missing or was changed.
        """
        with self._reading() as cursor:
            ((found,),) = execute(
                cursor, "SELECT fingerprint FROM datasets WHERE dataset_id = ?", [self._id]
            ).fetchall()
            if (source := self._source(cursor)) is not None:
                sourced.check_files(cursor, source, self.name)
        return str(found)

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of the systems that have labels, sorted."""
        return tuple(row[0] for row in self._rows(*catalogue.systems(self._id)))

    @property
    def judges(self) -> tuple[str, ...]:
        """Names of the judges, sorted."""
        return tuple(row[0] for row in self._rows(*catalogue.judges(self._id)))

    @property
    def rubrics(self) -> pd.DataFrame:
        """One row a rubric: rubric, query, text, scale_min, scale_max, levels, weight, dimension, severity, polarity, …

        polarity: -1 if meeting the rubric is bad (given, or the sign of the weight), else 1.
        tags: separated by commas. criterion: shared by the rubrics with the same text, or with the same name after the
        query's prefix. pass_mark: the lowest label that counts as met. scale_source: given or inferred.
        """
        return self._frame(*catalogue.rubrics(self._id))

    @property
    def queries(self) -> pd.DataFrame:
        """One row a query: query, text, domain, task_type, p_<type> (shares), type_source, omega."""
        return self._frame(*catalogue.queries(self._id))

    @property
    def scale(self) -> Scale | None:
        """The widest scale of the rubrics; None if the dataset has no rubrics."""
        with self._reading() as cursor:
            return _scale_of(execute(cursor, *catalogue.scale(self._id)).fetchone())

    def counts(self) -> dict[str, int | float]:
        """Name → size of the dataset.

        systems, queries, rubrics, judges, labels (known), blank; cells (system × rubric with a label), instances
        (cells with two labels or more), cells_full_panel (cells with a label of every judge); missing_share, the
        share of systems × rubrics × judges without a label (NaN if one of these is 0). Runs of a judge count once.
        """
        with self._reading() as cursor:
            source = self._source(cursor)
            asked = sourced.counts(source) if source else catalogue.counts(self._id, self._has_runs(cursor))
            frame = tidy(execute(cursor, *asked).df())
        found: dict[str, int | float] = {str(c): int(frame[c].iloc[0]) for c in frame.columns}
        room = found["systems"] * found["rubrics"] * found["judges"]
        found["missing_share"] = 1 - found["labels"] / room if room else float("nan")
        return found

    def labels(
        self, *, system: str | None = None, query: str | None = None, rubric: str | None = None
    ) -> pd.DataFrame:
        """Labels as given: system, query, rubric, judge, label, and run and reason if any label has one.

        A blank label is a missing value. system, query, rubric: only their labels, by the names in ``systems`` and
        ``rubrics``; None for no restriction.
        """
        found = self._frame(*catalogue.labels(self._id, system, query, rubric), raw=True, rubric=rubric)
        return as_file("labels", found)

    @property
    def has_labels(self) -> bool:
        """Whether the labels of all judges can be read; False if they are in Spark, which returns single rubrics."""
        with self._reading() as cursor:
            source = self._source(cursor)
        return source is None or source.engine != "spark"

    @property
    def has_runs(self) -> bool:
        """Whether judges labelled cells repeatedly (docs/method.md §1, repeats)."""
        with self._reading() as cursor:
            return self._has_runs(cursor)

    @property
    def runs(self) -> tuple[str, ...]:
        """Names of the runs, sorted; () if the labels name none."""
        return tuple(row[0] for row in self._rows(*catalogue.runs(self._id)))

    @property
    def criteria(self) -> pd.DataFrame:
        """One row a criterion, most labels first: its scale, the labels that the scale rests on, and its pass mark.

        criterion, rubrics, queries, labels (known), lowest, highest (label), scale_min, scale_max, levels, polarity,
        pass_mark, mark_given (whether the pass mark was given), source of the scale (given or inferred).
        """
        return self._frame(*criteria(self._id))

    @property
    def pass_marks(self) -> tuple[str, ...]:
        """Sentences, one for each graded scale, on which labels count as met when labels are read as pass or fail."""
        return pass_mark_sentences(self.criteria)

    def answers(self, system: str | None = None, query: str | None = None) -> pd.DataFrame:
        """Answers of the systems: system, query, text. system, query: only theirs; None for no restriction."""
        return self._frame(*catalogue.answers(self._id, system, query))

    def system_metadata(self) -> pd.DataFrame:
        """Facts about the systems, one row each: system, organisation, date, cost, licence and other columns.

        All values are text as the files gave them; columns that no system has are absent.
        """
        return one_column_a_fact(self._frame(*catalogue.system_facts(self._id)))

    def repeats(self, response: Response = "binary") -> pd.DataFrame:
        """How consistently judges repeat their labels: query, rubric, judge, cells, pairs, agreeing, draws, consistent.

        Sums over the cells with two runs or more of a judge. pairs: pairs of runs on a cell. agreeing: pairs on the
        same level. draws: runs beyond the first. consistent: these times the cell's share of agreeing pairs
        (``judges.self_consistency``).
        """
        require_choice("response", response, get_args(Response), DatasetError)
        return self._frame(*reduce.repeats(self._id, response), raw=True)

    def gold(self) -> pd.DataFrame:
        """Human labels: system, query, rubric, annotator, label."""
        return self._frame(*catalogue.gold(self._id))

    def anchors(self) -> pd.DataFrame:
        """Human verdicts on the rubrics themselves (docs/method.md §5): query, rubric, annotator, valid (1 or 0)."""
        return self._frame(*catalogue.anchors(self._id))

    def reference_ranking(self) -> pd.DataFrame:
        """The reference ranking: system, rank, score."""
        return self._frame(*catalogue.reference_ranking(self._id))

    def tables(self) -> dict[str, pd.DataFrame]:
        """Kind → table; ingested in this order, the tables make the same dataset. Empty tables are left out."""
        with self._reading(raw=True) as cursor:
            found = {
                kind: execute(cursor, sql, {"dataset": self._id}).df() for kind, sql in CANONICAL.items()
            }
        return {kind: as_file(kind, tidy(table)) for kind, table in found.items() if len(table)}

    def checks(self) -> tuple[Finding, ...]:
        """Data-quality issues, such as rejected rows and suspicious labels; errors first."""
        with self._reading() as cursor:
            return check_dataset(cursor, self._id)

    def coverage(self) -> pd.DataFrame:
        """One row a system and judge: labels (known), blank, cells, share (labels over cells), lowest, highest.

        cells: the most labels and blanks that any one judge has for the system; all judges together may cover more.
        """
        with self._reading() as cursor:
            return coverage(cursor, self._id)

    def scoring_rules(self) -> ScoringRules:
        """How the queries are scored by task type: the paper's rules unless they were edited."""
        with self._workspace.reading() as cursor:
            return load_rules(cursor, self._id)

    def panel(self, response: Response = "binary") -> FloatArray:
        """(M, J, K) labels as the model reads them (0/1, or levels 0..L-1); NaN unknown.

        Raises DatasetError if a Spark session has the labels (``has_labels``).
        """
        require_choice("response", response, get_args(Response), DatasetError)
        with self._reading(raw=True) as cursor:
            shape = tuple(
                len(self._names(cursor, q)) for q in (catalogue.systems, catalogue.rubrics, catalogue.judges)
            )
            execute(cursor, *reduce.panel(self._id, response, self._has_runs(cursor)))
            return _scatter(cursor, shape)

    def rubric_panel(self, rubric: str, response: Response = "binary") -> FloatArray:
        """(M, K) labels of one rubric as the model reads them; NaN unknown. It works even if Spark has the labels."""
        require_choice("response", response, get_args(Response), DatasetError)
        with self._reading(raw=True, rubric=rubric) as cursor:
            shape = tuple(len(self._names(cursor, q)) for q in (catalogue.systems, catalogue.judges))
            execute(cursor, *reduce.rubric_panel(self._id, response, self._has_runs(cursor), rubric))
            return _scatter(cursor, shape)

    def judge_shares(self, response: Response = "binary") -> JudgeShares:
        """Each judge's share of each system's labels; if Spark has the labels, estimated from their numbers alone."""
        require_choice("response", response, get_args(Response), DatasetError)
        if not self.has_labels:
            labels = self.coverage().pivot_table(index="system", columns="judge", values="labels")
            return JudgeShares.of_counts(labels.to_numpy(dtype=float), int(self.counts()["queries"]))
        with self._reading(raw=True) as cursor:
            shape = len(self._names(cursor, catalogue.systems)), len(self._names(cursor, catalogue.judges))
            asked = judge_sums.shares(self._id, response, self._has_runs(cursor))
            return JudgeShares.read(cursor, asked, shape)

    def judge_meetings(self, response: Response = "binary") -> JudgeMeetings:
        """How judges differ on cells that several of them labelled; unknown (zeros) if Spark has the labels."""
        require_choice("response", response, get_args(Response), DatasetError)
        if not self.has_labels:
            return JudgeMeetings.unknown(len(self.judges))
        with self._reading(raw=True) as cursor:
            judges, runs = len(self._names(cursor, catalogue.judges)), self._has_runs(cursor)
            pairs, excess = (
                make(self._id, response, runs) for make in (judge_sums.meetings, judge_sums.excess)
            )
            return JudgeMeetings.read(cursor, pairs, excess, judges)

    def tables_with_others(self) -> FloatArray:
        """(K, G, 2, 2) numbers of cells: [judge, query, the judge's label, the strict majority of the other judges].

        Labels are 0 (fail) or 1 (pass). With a single query, G counts its rubrics instead. G is 0 if a Spark session
        has the labels.
        """
        if not self.has_labels:
            return np.zeros((len(self.judges), 0, 2, 2))
        with self._reading(raw=True) as cursor:
            judges = len(self._names(cursor, catalogue.judges))
            asked = judge_sums.tables_with_others(self._id, self._has_runs(cursor))
            return judge_sums.read_tables(cursor, asked, judges)

    def raised_by_numbers(
        self,
        response: Response = "binary",
        tie: Tie = "unknown",
        of: Counted = "labels",
        consensus: Consensus = "majority",
    ) -> FloatArray:
        """(M, M) by how much unequal numbers of labels raise the row's system above the column's.

        A share of the scale; see ``label_numbers.raised``. of: labels of a cell, or runs of a judge on a cell.
        """
        require_choice("response", response, get_args(Response), DatasetError)
        with self._reading() as cursor:
            n_systems, runs = len(self._names(cursor, catalogue.systems)), self._has_runs(cursor)
            if of == "runs" and not runs:
                return np.zeros((n_systems, n_systems))
            return read_raised(
                cursor,
                self._id,
                response,
                splits_as(response, tie, of, consensus),
                of=of,
                runs=runs,
                tallied=self._source(cursor) is not None,
                n_systems=n_systems,
            )

    def reduce(
        self, response: Response = "binary", tie: Tie = "unknown", agreement_tolerance: int = 0
    ) -> Reduction:
        """Consensus labels and agreement of the judges, computed in the database.

        agreement_tolerance: labels at most so many levels apart agree; it applies to ordered responses only.
        Raises DatasetError if the dataset has no labels.
        """
        require_choice("response", response, get_args(Response), DatasetError)
        require_choice("tie", tie, get_args(Tie), DatasetError)
        if agreement_tolerance < 0:
            raise DatasetError(
                f"agreement_tolerance = {agreement_tolerance!r} is negative: expected 0 or more."
            )
        with self._reading() as cursor:
            systems = tuple(row[0] for row in self._names(cursor, catalogue.systems))
            if not systems:
                raise DatasetError(
                    f"The dataset {self.name!r} has no labels yet: ingest a label table first."
                )
            judges = self._names(cursor, catalogue.judges)
            rubrics = tidy(execute(cursor, *catalogue.rubrics(self._id)).df())
            source, runs = self._source(cursor), self._has_runs(cursor)
            if source is not None:
                sourced.check_files(cursor, source, self.name)
            tolerance = agreement_tolerance if response == "ordered" else 0
            tallied = source is not None
            execute(cursor, *reduce.cells(self._id, response, tie, tolerance, runs=runs, tallied=tallied))
            y = _scatter(execute(cursor, reduce.consensus()), (len(systems), len(rubrics)))
            split = execute(cursor, reduce.split()).fetchnumpy()
            found = execute(cursor, portable.agreement()).fetchnumpy()
            sums = execute(cursor, portable.pair_sums()).fetchnumpy()
            (n_labels,) = execute(cursor, "SELECT sum(n) FROM cells").fetchall()[0]
        counts = np.zeros((3, len(rubrics)), dtype=np.int64)
        counts[:, np.asarray(found["j"])] = [found["n_agree"], found["n_total"], found["max_panel"]]
        levels = rubrics["levels"].to_numpy(dtype=np.int64, copy=True)
        levels = levels if response == "ordered" else np.full_like(levels, 2)
        return Reduction(
            systems=systems,
            rubrics=rubrics,
            y=y,
            levels=levels,
            n_agree=counts[0],
            n_total=counts[1],
            pairs=pair_counts(_cell_sums(sums), levels),
            max_panel=counts[2],
            n_judges=len(judges),
            unanimous=counts[0] == counts[1],
            n_labels=int(n_labels or 0),
            response=response,
            split=np.stack([np.asarray(split[name]).astype(np.int64) for name in ("i", "j")]),
        )

    @contextmanager
    def _reading(
        self, *, raw: bool = False, rubric: str | None = None
    ) -> Iterator[duckdb.DuckDBPyConnection]:
        """A cursor that sees one consistent state. raw: the labels themselves are needed, not only their tallies.

        rubric: labels of this rubric are enough. Raises DatasetError if the dataset was deleted, or if the labels
        cannot be read.
        """
        with self._workspace.reading() as cursor:
            named = execute(cursor, "SELECT name FROM datasets WHERE dataset_id = ?", [self._id]).fetchone()
            if named is None:
                raise DatasetError(f"The dataset {self.name!r} was deleted: choose another one.")
            (self.name,) = named
            source = sourced.source_of(cursor, self._id)
            if source is not None:
                sourced.stand_in(cursor, source)
                if raw and rubric is not None and source.engine == "spark":
                    read_rubric(cursor, source, rubric)
                elif raw:
                    sourced.read_labels(cursor, source, self.name)
            yield cursor

    def _source(self, cursor: duckdb.DuckDBPyConnection) -> sourced.Source | None:
        return sourced.source_of(cursor, self._id)

    def _has_runs(self, cursor: duckdb.DuckDBPyConnection) -> bool:
        source = self._source(cursor)
        if source is not None:
            return source.runs
        return execute(cursor, *catalogue.has_runs(self._id)).fetchone() is not None

    def _names(self, cursor: duckdb.DuckDBPyConnection, query: Any) -> list[tuple[Any, ...]]:
        return execute(cursor, *query(self._id)).fetchall()

    def _rows(self, sql: str, params: dict[str, object]) -> list[tuple[Any, ...]]:
        with self._reading() as cursor:
            return execute(cursor, sql, params).fetchall()

    def _frame(
        self, sql: str, params: dict[str, object], *, raw: bool = False, rubric: str | None = None
    ) -> pd.DataFrame:
        with self._reading(raw=raw, rubric=rubric) as cursor:
            return tidy(execute(cursor, sql, params).df())


def scale_now(cursor: duckdb.DuckDBPyConnection) -> Scale | None:
    """The widest scale of the dataset whose facts are in temporary tables (``rubric_facts.keep_facts``)."""
    return _scale_of(execute(cursor, catalogue.SCALE.format(facts="criteria_now")).fetchone())


def _scale_of(found: tuple[Any, ...] | None) -> Scale | None:
    if found is None:
        return None
    minimum, maximum, levels, given = found
    return Scale(float(minimum), float(maximum), int(levels), "given" if given else "inferred")


def _scatter(cursor: duckdb.DuckDBPyConnection, shape: Sequence[int]) -> FloatArray:
    """An array of ``shape``: the last column of the cursor's open result, at the indices in its other columns.

    NaN elsewhere. The result is read in pieces, so that little more than the array is in memory.
    """
    array = np.full(shape, np.nan)
    while len(part := cursor.fetch_df_chunk(_PIECE)):
        *positions, value = (part[column] for column in part.columns)
        array[tuple(p.to_numpy() for p in positions)] = value.to_numpy(dtype=np.float64, na_value=np.nan)
    return array


def _cell_sums(found: dict[str, Any]) -> CellSums:
    """The result of ``portable.pair_sums`` as arrays."""
    rubric, labels, cells = (
        np.asarray(found[name]).astype(np.int64) for name in ("rubric", "labels", "cells")
    )
    sums = (
        np.asarray(found[name]).astype(np.float64)
        for name in ("agreeing", "agreeing_squares", "gap", "total", "squares")
    )
    return CellSums(rubric, labels, cells, *sums)
