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
    """The labels of one study. Everything is read again at each call, so it is never stale.

    Each call raises DatasetError once the dataset was deleted. name: as it was when something was read last.
    """

    def __init__(self, workspace: Database, dataset_id: int, name: str) -> None:
        self._workspace, self._id, self.name = workspace, dataset_id, name

    @property
    def id(self) -> int:
        """Its key in the workspace's tables."""
        return self._id

    def __repr__(self) -> str:
        return f"Dataset({self.name!r})"

    @property
    def fingerprint(self) -> str:
        """Hash of the content, whatever the order of files and rows; of labels read in place, of their files' metadata.

        Raises DatasetError where such a file is missing or was changed.
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

        polarity: -1 where a label that meets the rubric is bad (given, or the sign of the weight), else 1.
        tags: separated by commas. criterion: what the rubric shares with those of the same text, or the same name
        after the query's prefix. pass_mark: the lowest label that counts as met. scale_source: given or inferred.
        """
        return self._frame(*catalogue.rubrics(self._id))

    @property
    def queries(self) -> pd.DataFrame:
        """One row a query: query, text, domain, task_type, p_<type> (shares), type_source, omega."""
        return self._frame(*catalogue.queries(self._id))

    @property
    def scale(self) -> Scale | None:
        """The widest scale of the rubrics; None while there are none."""
        with self._reading() as cursor:
            return _scale_of(execute(cursor, *catalogue.scale(self._id)).fetchone())

    def counts(self) -> dict[str, int | float]:
        """How much is there.

        systems, queries, rubrics, judges, labels (known), blank; cells (system × rubric with a label), instances
        (with two or more), cells_full_panel (with one of every judge); missing_share of systems × rubrics × judges.
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
        """Labels as given: system, query, rubric, judge, label, and run and reason where any of them has one.

        A blank label is missing. system, query, rubric: only theirs, by the names of ``systems`` and ``rubrics``.
        """
        found = self._frame(*catalogue.labels(self._id, system, query, rubric), raw=True, rubric=rubric)
        return as_file("labels", found)

    @property
    def has_labels(self) -> bool:
        """Whether every judge's labels can be read; where a Spark session has them, those of one rubric can."""
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
        """Names of the repeated draws, sorted; () where labels name none."""
        return tuple(row[0] for row in self._rows(*catalogue.runs(self._id)))

    @property
    def criteria(self) -> pd.DataFrame:
        """One row a criterion, most labels first: what its scale rests on, and what counts as met.

        criterion, rubrics, queries, labels (known), lowest, highest (label), scale_min, scale_max, levels, polarity,
        pass_mark, mark_given (whether somebody gave it), source (given or inferred).
        """
        return self._frame(*criteria(self._id))

    @property
    def pass_marks(self) -> tuple[str, ...]:
        """What counts as met on each graded scale, a sentence each: where labels are read as pass or fail."""
        return pass_mark_sentences(self.criteria)

    def answers(self, system: str | None = None, query: str | None = None) -> pd.DataFrame:
        """What the systems answered: system, query, text; of one system, one query, or of all."""
        return self._frame(*catalogue.answers(self._id, system, query))

    def system_metadata(self) -> pd.DataFrame:
        """What is known of the systems, one row each: system, organisation, date, cost, licence and other columns.

        All values are text as the files gave them; columns that no system has are absent.
        """
        return one_column_a_fact(self._frame(*catalogue.system_facts(self._id)))

    def repeats(self, response: Response = "binary") -> pd.DataFrame:
        """How far each judge repeats itself: query, rubric, judge, cells, pairs, agreeing, draws, consistent.

        Only cells with two draws or more. pairs: of runs; agreeing: those on the same level. draws: runs beyond the
        first, and consistent: that many times the cell's share of agreeing pairs (``judges.self_consistency``).
        """
        require_choice("response", response, get_args(Response), DatasetError)
        return self._frame(*reduce.repeats(self._id, response), raw=True)

    def gold(self) -> pd.DataFrame:
        """Human labels: system, query, rubric, annotator, label."""
        return self._frame(*catalogue.gold(self._id))

    def anchors(self) -> pd.DataFrame:
        """What people said of the rubrics themselves (docs/method.md §5): query, rubric, annotator, valid (1 or 0)."""
        return self._frame(*catalogue.anchors(self._id))

    def reference_ranking(self) -> pd.DataFrame:
        """The human reference: system, rank, score."""
        return self._frame(*catalogue.reference_ranking(self._id))

    def tables(self) -> dict[str, pd.DataFrame]:
        """The tables that, ingested in this order, make the same dataset: kind → table; empty ones are left out."""
        with self._reading(raw=True) as cursor:
            found = {
                kind: execute(cursor, sql, {"dataset": self._id}).df() for kind, sql in CANONICAL.items()
            }
        return {kind: as_file(kind, tidy(table)) for kind, table in found.items() if len(table)}

    def checks(self) -> tuple[Finding, ...]:
        """Data-quality issues: rows that were rejected, labels that deserve a look; errors first."""
        with self._reading() as cursor:
            return check_dataset(cursor, self._id)

    def coverage(self) -> pd.DataFrame:
        """One row a system and judge: labels (known), blank, cells, share (labels over cells), lowest, highest.

        cells: the most that one judge has of the system, labels and blanks; all judges together may have more.
        """
        with self._reading() as cursor:
            return coverage(cursor, self._id)

    def scoring_rules(self) -> ScoringRules:
        """How its queries are scored by type: the paper's rules until somebody edits them."""
        with self._workspace.reading() as cursor:
            return load_rules(cursor, self._id)

    def panel(self, response: Response = "binary") -> FloatArray:
        """(M, J, K) labels as the model reads them; NaN unknown."""
        require_choice("response", response, get_args(Response), DatasetError)
        with self._reading(raw=True) as cursor:
            shape = tuple(
                len(self._names(cursor, q)) for q in (catalogue.systems, catalogue.rubrics, catalogue.judges)
            )
            execute(cursor, *reduce.panel(self._id, response, self._has_runs(cursor)))
            return _scatter(cursor, shape)

    def rubric_panel(self, rubric: str, response: Response = "binary") -> FloatArray:
        """(M, K) labels of one rubric as the model reads them; NaN unknown. It can be had wherever the labels lie."""
        require_choice("response", response, get_args(Response), DatasetError)
        with self._reading(raw=True, rubric=rubric) as cursor:
            shape = tuple(len(self._names(cursor, q)) for q in (catalogue.systems, catalogue.judges))
            execute(cursor, *reduce.rubric_panel(self._id, response, self._has_runs(cursor), rubric))
            return _scatter(cursor, shape)

    def judge_shares(self, response: Response = "binary") -> JudgeShares:
        """Whose labels each system's are; where a Spark session has them, from the numbers of labels alone."""
        require_choice("response", response, get_args(Response), DatasetError)
        if not self.has_labels:
            labels = self.coverage().pivot_table(index="system", columns="judge", values="labels")
            return JudgeShares.of_counts(labels.to_numpy(dtype=float), int(self.counts()["queries"]))
        with self._reading(raw=True) as cursor:
            shape = len(self._names(cursor, catalogue.systems)), len(self._names(cursor, catalogue.judges))
            asked = judge_sums.shares(self._id, response, self._has_runs(cursor))
            return JudgeShares.read(cursor, asked, shape)

    def judge_meetings(self, response: Response = "binary") -> JudgeMeetings:
        """How judges differ on the cells that several labelled; unknown where a Spark session has the labels."""
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
        """(K, G, 2, 2) cells by query, each judge's fail and pass against those of the majority of the others.

        G is 0 where a Spark session has the labels: nothing is known then.
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
        """(M, M) by which numbers of labels, or of a judge's runs, raise row above column: ``label_numbers.raised``."""
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
        """Consensus and agreement, computed by the database from one state of it.

        ``agreement_tolerance`` levels apart still agree, on ordered responses alone.
        Raises DatasetError where there is no label.
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
        """A cursor that sees one state; ``raw``: that each label (of one rubric) is read from, wherever they lie."""
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
    """The scale of the dataset whose facts were kept (``rubric_facts.keep_facts``)."""
    return _scale_of(execute(cursor, catalogue.SCALE.format(facts="criteria_now")).fetchone())


def _scale_of(found: tuple[Any, ...] | None) -> Scale | None:
    if found is None:
        return None
    minimum, maximum, levels, given = found
    return Scale(float(minimum), float(maximum), int(levels), "given" if given else "inferred")


def _scatter(cursor: duckdb.DuckDBPyConnection, shape: Sequence[int]) -> FloatArray:
    """A NaN array of ``shape`` with the last column of the open answer at the positions that the others give.

    The answer is read in pieces, so that little more than the array is in memory.
    """
    array = np.full(shape, np.nan)
    while len(part := cursor.fetch_df_chunk(_PIECE)):
        *positions, value = (part[column] for column in part.columns)
        array[tuple(p.to_numpy() for p in positions)] = value.to_numpy(dtype=np.float64, na_value=np.nan)
    return array


def _cell_sums(found: dict[str, Any]) -> CellSums:
    """The answer of ``portable.pair_sums`` as arrays."""
    rubric, labels, cells = (
        np.asarray(found[name]).astype(np.int64) for name in ("rubric", "labels", "cells")
    )
    sums = (
        np.asarray(found[name]).astype(np.float64)
        for name in ("agreeing", "agreeing_squares", "gap", "total", "squares")
    )
    return CellSums(rubric, labels, cells, *sums)
