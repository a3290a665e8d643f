"""Which judges labelled which systems, and where they met, in sums over cells (docs/method.md §10, unequal panels).

A cell with n labels counts 1/n for each of its judges. Sums are those of whole numbers, WHOLE / n for 1/n, so that
they do not depend on the order in which the database adds them.
"""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from ...settings import Response
from ...types import FloatArray
from ..ingest.rubric_facts import Query
from .reduce import readings_of

if TYPE_CHECKING:
    import duckdb

WHOLE = 720_720  # divisible by 1 to 16
MOST_BLOCKS = 200  # more queries than these are left out several at a time
CHANCE = 3.0  # standard errors by which shares of judges may differ by chance

# Cells by system, unit and who labelled them; a unit is a query, or a rubric where there is one query.
_PATTERNS = """
    units AS (
        SELECT j, levels, dense_rank() OVER (
            ORDER BY CASE WHEN (SELECT count(DISTINCT query) FROM facts) > 1 THEN query ELSE j::VARCHAR END
        ) - 1 AS unit FROM facts
    ),
    cells AS (SELECT system_id, j, list_sort(list(judge_id)) AS who FROM readings GROUP BY system_id, j),
    patterns AS (
        SELECT system_id, unit, who, count(*) AS cells FROM cells JOIN units USING (j) GROUP BY ALL
    )
"""


@dataclass(frozen=True)
class JudgeShares:
    """Of M systems and K judges: whose labels a system's are.

    share: (M, K) each judge's share of the system's labels; rows sum to 1. error: (M, K) its standard error over
    queries: 0 where a judge has the same share of each.
    """

    share: FloatArray
    error: FloatArray

    @property
    def beyond_chance(self) -> FloatArray:
        """(M, K) how far the shares are from their mean over the systems, less what chance explains; mostly 0."""
        apart = self.share - self.share.mean(axis=0)
        distance = np.abs(apart) - CHANCE * self.error
        return np.where(distance > 1e-9, np.sign(apart) * distance, 0.0)

    @classmethod
    def of_counts(cls, labels: FloatArray, n_queries: int) -> Self:
        """From numbers of labels (M, K) alone, as if each query of a system were labelled by one judge."""
        share = labels / labels.sum(axis=1, keepdims=True)
        return cls(share, np.sqrt(share * (1 - share) / n_queries))

    @classmethod
    def read(cls, cursor: duckdb.DuckDBPyConnection, query: Query, shape: tuple[int, int]) -> Self:
        """From the answer of ``shares``. Linearised variance of a ratio of sums over n queries (Cochran 1977, §6.3)."""
        found = cursor.execute(*query).fetchnumpy()
        labels, squares, crossed = (np.zeros(shape) for _ in range(3))
        total, total_squares, units = (np.zeros((shape[0], 1)) for _ in range(3))
        i, k = (np.asarray(found[name]) for name in "ik")
        for array, name in ((labels, "w"), (squares, "ww"), (crossed, "wt")):
            array[i, k] = np.asarray(found[name], dtype=float)
        for array, name in ((total, "t"), (total_squares, "tt"), (units, "n")):
            array[i, 0] = np.asarray(found[name], dtype=float)
        share = labels / total
        variance = np.maximum(squares - 2 * share * crossed + share**2 * total_squares, 0.0)
        variance *= units / np.maximum(units - 1, 1)
        return cls(share, np.sqrt(variance) / total)


@dataclass(frozen=True)
class JudgeMeetings:
    """Of K judges, over the cells that several labelled, in B blocks of queries.

    tied: (B, K, K) the judges' Laplacian: on the diagonal the sum of 1 - 1/n over a judge's cells, elsewhere that of
    -1/n over the cells of both. excess: (B, K) sum of how far a judge's label is above the cell's mean, as a share of
    the scale.
    """

    tied: FloatArray
    excess: FloatArray

    @classmethod
    def unknown(cls, n_judges: int) -> Self:
        """Of judges of whom no common cell is known."""
        return cls(np.zeros((1, n_judges, n_judges)), np.zeros((1, n_judges)))

    @classmethod
    def read(cls, cursor: duckdb.DuckDBPyConnection, pairs: Query, excess: Query, n_judges: int) -> Self:
        """From the answers of ``meetings`` and ``excess``."""
        met, above = (cursor.execute(*query).fetchnumpy() for query in (pairs, excess))
        blocks = int(max(np.asarray(met["block"]).max(initial=-1), 0)) + 1
        tied, over = np.zeros((blocks, n_judges, n_judges)), np.zeros((blocks, n_judges))
        tied[tuple(np.asarray(met[name]) for name in ("block", "k", "l"))] = (
            -np.asarray(met["w"], dtype=float) / WHOLE
        )
        at = tuple(np.asarray(above[name]) for name in ("block", "k"))
        np.add.at(over, at, np.asarray(above["x"], dtype=float) / (WHOLE * (np.asarray(above["levels"]) - 1)))
        np.add.at(tied, (*at, at[1]), np.asarray(above["n"], dtype=float))
        return cls(tied, over)


def shares(dataset: int, response: Response, runs: bool) -> Query:
    """(i, k, w, ww, wt, t, tt, n) of each system and judge with a label of it.

    w: sum of WHOLE / n over the judge's cells, t: that of all judges; ww, wt and tt: sums over queries of the products
    of both by query; n: queries.
    """
    return (
        f"""
        WITH {readings_of(response, runs)}, {_PATTERNS},
        parts AS (
            SELECT system_id, unit, unnest(who) AS judge_id, cells * ({WHOLE} // len(who)) AS w FROM patterns
        ),
        judged AS (SELECT system_id, unit, judge_id, sum(w)::HUGEINT AS w FROM parts GROUP BY ALL),
        by_unit AS (SELECT system_id, unit, sum(w)::HUGEINT AS t FROM judged GROUP BY ALL),
        by_system AS (
            SELECT system_id, sum(t)::DOUBLE AS t, sum(t * t)::DOUBLE AS tt, count(*) AS n FROM by_unit GROUP BY ALL
        )
        SELECT i, k, sum(w)::DOUBLE AS w, sum(w * w)::DOUBLE AS ww, sum(w * by_unit.t)::DOUBLE AS wt,
               any_value(s.t) AS t, any_value(tt) AS tt, any_value(s.n) AS n
        FROM judged JOIN by_unit USING (system_id, unit) JOIN by_system s USING (system_id)
        JOIN system_order USING (system_id) JOIN judge_order USING (judge_id)
        GROUP BY i, k
        """,
        {"dataset": dataset},
    )


def meetings(dataset: int, response: Response, runs: bool) -> Query:
    """(block, k, l, w): the sum of WHOLE / n over cells that judges k and l both labelled, k = l included."""
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
        GROUP BY ALL
        """,
        {"dataset": dataset},
    )


def excess(dataset: int, response: Response, runs: bool) -> Query:
    """(block, k, levels, n, x): cells with several labels, and the sum of WHOLE (label - the cell's mean)."""
    levels = "2" if response == "binary" else "levels"
    return (
        f"""
        WITH {readings_of(response, runs)}, {_PATTERNS},
        sums AS (
            SELECT system_id, j, count(*) AS n, sum(x) AS s FROM readings GROUP BY system_id, j HAVING count(*) > 1
        )
        SELECT unit % {MOST_BLOCKS} AS block, k, {levels} AS levels, count(*) AS n,
               sum((n * x - s)::HUGEINT * ({WHOLE} // n))::DOUBLE AS x
        FROM readings JOIN sums USING (system_id, j) JOIN units USING (j) JOIN judge_order USING (judge_id)
        GROUP BY ALL
        """,
        {"dataset": dataset},
    )
