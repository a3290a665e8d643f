"""Which judges labelled which systems and shared cells, as sums over cells (docs/method.md §10, unequal panels).

A cell with n labels counts 1/n for each of its judges. The database adds whole numbers, WHOLE / n in place of 1/n, so
that the sums do not depend on the order of addition.
"""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from scipy.special import ndtri

from ...settings import Response
from ...types import FloatArray, IntArray
from ..ingest.rubric_facts import Query
from .reduce import readings_of

if TYPE_CHECKING:
    import duckdb
    import pandas as pd

WHOLE = 720_720  # divisible by 1 to 16
MOST_BLOCKS = 200  # if there are more queries, several of them form one block of the jackknife
CHANCE = 0.01  # probability that any share lies further from the median by chance, if all systems have equal shares

# A unit of evidence is a query, or a rubric if there is only one query.
UNITS = """
    units AS (
        SELECT j, levels, dense_rank() OVER (
            ORDER BY CASE WHEN (SELECT count(DISTINCT query) FROM facts) > 1 THEN query
                          ELSE lpad(j::VARCHAR, 12, '0') END
        ) - 1 AS unit FROM facts
    )
"""
# Numbers of cells by system, unit and the judges who labelled them.
_PATTERNS = f"""
    {UNITS},
    cells AS (SELECT system_id, j, list_sort(list(judge_id)) AS who FROM readings GROUP BY system_id, j),
    patterns AS (
        SELECT system_id, unit, who, count(*) AS cells FROM cells JOIN units USING (j) GROUP BY ALL
    )
"""


@dataclass(frozen=True)
class JudgeShares:
    """Each of K judges' share of the labels of each of M systems.

    share: (M, K) the judge's share; rows sum to 1, NaN for a system without labels.
    error: (M, K) its standard error over queries; 0 if the judge has the same share in every query.
    """

    share: FloatArray
    error: FloatArray

    @property
    def beyond_chance(self) -> FloatArray:
        """(M, K) distances of the shares from their median over systems, less what chance explains; 0 if all of it."""
        return self.beyond(float(-ndtri(CHANCE / 2 / max(self.share.size, 1))))

    def beyond(self, errors: float) -> FloatArray:
        """(M, K) signed distances of the shares from their median over systems, reduced by ``errors`` standard errors.

        0 for distances within these. A standard error counts as at least the judge's median over the systems: a single
        missing label of one system does not show how uncertain its share is.
        """
        labelled = np.isfinite(self.share).all(axis=1)
        if not labelled.any() or not self.share.size:
            return np.zeros_like(self.share)
        apart = self.share - np.median(self.share[labelled], axis=0)
        error = np.maximum(self.error, np.median(self.error[labelled], axis=0))
        distance = np.abs(apart) - errors * error
        return np.where(distance > 1e-9, np.sign(apart) * distance, 0.0)

    @classmethod
    def of_counts(cls, labels: FloatArray, n_queries: int) -> Self:
        """Shares from numbers of labels (M, K) alone, with errors as if one judge labelled each query of a system."""
        share = _of_all(labels, labels.sum(axis=1, keepdims=True))
        return cls(share, np.sqrt(share * (1 - share) / n_queries))

    @classmethod
    def of_panel(cls, panel: FloatArray, unit: IntArray) -> Self:
        """Shares from a panel of labels (M, J, K), NaN for no label. unit: (J,) numbers as from ``units_of``."""
        known = ~np.isnan(panel)
        order = np.argsort(unit, kind="stable")
        starts = np.unique(unit[order], return_index=True)[1]
        each = known / np.maximum(known.sum(axis=2, keepdims=True), 1)
        given = np.add.reduceat(each[:, order], starts, axis=1)
        totals = given.sum(axis=2)
        total, units = totals.sum(axis=1, keepdims=True), (totals > 0).sum(axis=1, keepdims=True)
        share = _of_all(given.sum(axis=1), total)
        variance = ((given - share[:, None] * totals[..., None]) ** 2).sum(axis=1)
        return cls(share, _of_all(np.sqrt(variance * units / np.maximum(units - 1, 1)), total))

    @classmethod
    def read(cls, cursor: duckdb.DuckDBPyConnection, query: Query, shape: tuple[int, int]) -> Self:
        """Shares from the query ``shares``. The variance of a ratio of sums is linearised (Cochran 1977, §6.3).

        shape: (M, K).
        """
        found = cursor.execute(*query).fetchnumpy()
        labels, squares, crossed = (np.zeros(shape) for _ in range(3))
        total, total_squares, units = (np.zeros((shape[0], 1)) for _ in range(3))
        i, k = (np.asarray(found[name]) for name in "ik")
        for array, name in ((labels, "w"), (squares, "ww"), (crossed, "wt")):
            array[i, k] = np.asarray(found[name], dtype=float)
        for array, name in ((total, "t"), (total_squares, "tt"), (units, "n")):
            array[i, 0] = np.asarray(found[name], dtype=float)
        share = _of_all(labels, total)
        variance = np.maximum(squares - 2 * share * crossed + share**2 * total_squares, 0.0)
        variance *= units / np.maximum(units - 1, 1)
        return cls(share, _of_all(np.sqrt(variance), total))


@dataclass(frozen=True)
class JudgeMeetings:
    """Sums of K judges' labels over the cells that several of them labelled, in B blocks of queries.

    tied: (B, K, K) the judges' Laplacian: for two judges the sum of -1/n over the cells of both; on the diagonal the
    sum of 1 - 1/n over the judge's cells, so that rows sum to 0. excess: (B, K) sum of label minus mean of the cell,
    as a share of the scale. squares: sum of the squares of these differences, over all blocks and judges.
    """

    tied: FloatArray
    excess: FloatArray
    squares: float

    @classmethod
    def unknown(cls, n_judges: int) -> Self:
        """The sums of judges without known common cells: one block of zeros."""
        return cls(np.zeros((1, n_judges, n_judges)), np.zeros((1, n_judges)), 0.0)

    @classmethod
    def of_panel(cls, panel: FloatArray, unit: IntArray, levels: IntArray) -> Self:
        """Sums from a panel of labels (M, J, K). unit: (J,) as from ``units_of``. levels: (J,) levels of the scales."""
        blocks, judges = min(int(unit.max(initial=0)) + 1, MOST_BLOCKS), panel.shape[2]
        tied, excess, squares = np.zeros((blocks, judges, judges)), np.zeros((blocks, judges)), 0.0
        for block in range(blocks):
            rubrics = np.flatnonzero(unit % MOST_BLOCKS == block)
            cells = (panel[:, rubrics] / (levels[rubrics, None] - 1)).reshape(-1, judges)
            cells = cells[(~np.isnan(cells)).sum(axis=1) > 1]
            known = ~np.isnan(cells)
            labels = known.sum(axis=1, keepdims=True)
            tied[block] = np.diag(known.sum(axis=0)) - (known / labels).T @ known
            above = np.where(known, cells - np.nansum(cells, axis=1, keepdims=True) / labels, 0.0)
            excess[block], squares = above.sum(axis=0), squares + float((above**2).sum())
        return cls(tied, excess, squares)

    @classmethod
    def read(cls, cursor: duckdb.DuckDBPyConnection, pairs: Query, excess: Query, n_judges: int) -> Self:
        """Sums from the queries ``meetings`` and ``excess``."""
        met, above = (cursor.execute(*query).fetchnumpy() for query in (pairs, excess))
        blocks = int(max(np.asarray(met["block"]).max(initial=-1), 0)) + 1
        tied, over = np.zeros((blocks, n_judges, n_judges)), np.zeros((blocks, n_judges))
        tied[tuple(np.asarray(met[name]) for name in ("block", "k", "l"))] = (
            -np.asarray(met["w"], dtype=float) / WHOLE
        )
        each = np.arange(n_judges)
        tied[:, each, each] -= tied.sum(axis=2)
        at = tuple(np.asarray(above[name]) for name in ("block", "k"))
        scale = WHOLE * np.asarray(above["top"], dtype=float)
        np.add.at(over, at, np.asarray(above["x"], dtype=float) / scale)
        return cls(tied, over, float((np.asarray(above["xx"], dtype=float) / scale**2).sum()))


def read_tables(cursor: duckdb.DuckDBPyConnection, tables: Query, n_judges: int) -> FloatArray:
    """(K, G, 2, 2) numbers of cells from the query ``tables_with_others``: [k, unit, own, majority]."""
    found = cursor.execute(*tables).fetchnumpy()
    k, unit, own, majority = (np.asarray(found[name]) for name in ("k", "unit", "own", "majority"))
    out = np.zeros((n_judges, int(unit.max(initial=-1)) + 1, 2, 2))
    out[k, unit, own, majority] = found["cells"]
    return out


def units_of(queries: pd.Series) -> IntArray:
    """(J,) number of each rubric's unit of evidence: of its query in sorted order, or its own if there is one query."""
    names = queries.to_numpy(dtype=object)
    found = np.unique(names.astype(str), return_inverse=True)[1]
    return found if found.any() else np.arange(len(names))


def _of_all(part: FloatArray, total: FloatArray) -> FloatArray:
    """(M, K) part divided by (M, 1) total; NaN where the total is 0."""
    return np.divide(part, total, out=np.full_like(part, np.nan), where=total > 0)


# ``judged(system_id, unit, k, w)`` → the result that ``JudgeShares.read`` reads.
BY_SYSTEM = """
        by_unit AS (SELECT system_id, unit, sum(w)::HUGEINT AS t FROM judged GROUP BY ALL),
        by_system AS (
            SELECT system_id, sum(t)::DOUBLE AS t, sum(t * t)::DOUBLE AS tt, count(*) AS n FROM by_unit GROUP BY ALL
        )
        SELECT i, k, sum(w)::DOUBLE AS w, sum(w * w)::DOUBLE AS ww, sum(w * by_unit.t)::DOUBLE AS wt,
               any_value(s.t) AS t, any_value(tt) AS tt, any_value(s.n) AS n
        FROM judged JOIN by_unit USING (system_id, unit) JOIN by_system s USING (system_id)
        JOIN system_order USING (system_id)
        GROUP BY i, k
"""


def shares(dataset: int, response: Response, runs: bool) -> Query:
    """(i, k, w, ww, wt, t, tt, n) for each system i and each judge k that labelled it.

    w: sum of WHOLE / (labels of the cell) over the judge's cells. t: the same of all judges. ww, wt, tt: sums over
    queries of the products of the queries' own w and t. n: number of queries.
    """
    return (
        f"""
        WITH {readings_of(response, runs)}, {_PATTERNS},
        parts AS (
            SELECT system_id, unit, unnest(who) AS judge_id, cells * ({WHOLE} // len(who)) AS w FROM patterns
        ),
        judged AS (
            SELECT system_id, unit, k, sum(w)::HUGEINT AS w FROM parts JOIN judge_order USING (judge_id) GROUP BY ALL
        ), {BY_SYSTEM}
        """,
        {"dataset": dataset},
    )


def meetings(dataset: int, response: Response, runs: bool) -> Query:
    """(block, k, l, w): the sum w of WHOLE / n over the cells, with n labels, that judges k and l both labelled."""
    return (
        f"""
        WITH {readings_of(response, runs)}, {_PATTERNS},
        met AS (
            SELECT unit % {MOST_BLOCKS} AS block, who, sum(cells) AS cells FROM patterns WHERE len(who) > 1 GROUP BY ALL
        ),
        ones AS (SELECT *, unnest(who) AS one FROM met),
        pairs AS (SELECT *, unnest(who) AS other FROM ones)
        SELECT block, a.k, b.k AS l, sum(cells * ({WHOLE} // len(who)))::DOUBLE AS w
        FROM pairs JOIN judge_order a ON a.judge_id = one JOIN judge_order b ON b.judge_id = other
        WHERE one <> other GROUP BY ALL
        """,
        {"dataset": dataset},
    )


def tables_with_others(dataset: int, runs: bool) -> Query:
    """(k, unit, own, majority, cells): numbers of cells by a judge's label and the strict majority of other judges."""
    return (
        f"""
        WITH {readings_of("binary", runs)}, {UNITS},
        sums AS (
            SELECT system_id, j, count(*) - 1 AS others, sum(x) AS s FROM readings GROUP BY system_id, j
        ),
        beside AS (
            SELECT k, unit, x, CASE WHEN 2 * (s - x) > others THEN 1 WHEN 2 * (s - x) < others THEN 0 END AS majority
            FROM readings JOIN sums USING (system_id, j) JOIN units USING (j) JOIN judge_order USING (judge_id)
        )
        SELECT k, unit, x::INTEGER AS own, majority, count(*) AS cells FROM beside
        WHERE majority IS NOT NULL GROUP BY ALL
        """,
        {"dataset": dataset},
    )


def excess(dataset: int, response: Response, runs: bool) -> Query:
    """(block, k, top, x, xx): sums of WHOLE (label - the cell's mean) and of its square over cells with several labels.

    Grouped by the highest level ``top`` and sorted, because sums on several scales are added as fractions.
    """
    top = "1" if response == "binary" else "levels - 1"
    return (
        f"""
        WITH {readings_of(response, runs)}, {_PATTERNS},
        sums AS (
            SELECT system_id, j, count(*) AS n, sum(x) AS s FROM readings GROUP BY system_id, j HAVING count(*) > 1
        ),
        above AS (
            SELECT unit % {MOST_BLOCKS} AS block, k, {top} AS top, (n * x - s)::HUGEINT * ({WHOLE} // n) AS x
            FROM readings JOIN sums USING (system_id, j) JOIN units USING (j) JOIN judge_order USING (judge_id)
        )
        SELECT block, k, top, sum(x)::DOUBLE AS x, sum(x * x)::DOUBLE AS xx FROM above
        GROUP BY ALL ORDER BY ALL
        """,
        {"dataset": dataset},
    )
