"""Judges who labelled clearly less of a system than others did, by more than chance explains."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import numpy as np
import pandas as pd
from scipy.special import betainc

from ...text import count
from ...types import BoolArray, FloatArray
from ..ingest.findings import Finding, select
from ..ingest.parsed import execute

_THIN = 0.9  # of the labels of the judge with the most labels of a system
_CHANCE = 0.025  # probability that any pair is named by chance; half of 5%, because ``together`` is estimated


def thin_pairs(cursor: duckdb.DuckDBPyConnection, dataset_id: int, table: pd.DataFrame) -> Iterator[Finding]:
    """A warning about pairs of a system and a judge with clearly too few labels. table: as returned by ``coverage``."""
    systems = table["system"].nunique()
    met = (table["labels"] + table["blank"]).to_numpy(dtype=float)
    few = met < _THIN * table["cells"].to_numpy()
    if few.any():
        ((n_rubrics,),) = execute(cursor, "SELECT count(*) FROM facts_now").fetchall()
        # by system, then by judge, as in the table
        few = clearly_fewer(
            met.reshape(systems, -1), n_rubrics, _together(cursor, dataset_id, systems)
        ).ravel()
    if few.any():
        thin = table[few]
        first = thin.sort_values("share").iloc[0]
        sentence = (
            f"{count(len(thin), 'pair')} of a system and a judge {'has' if len(thin) == 1 else 'have'} less than "
            f"{_THIN:.0%} of the labels that another judge gave the same system, and fewer than chance explains. The "
            f"lowest share is that of {first['judge']} on {first['system']} ({first['labels']:,} of "
            f"{first['cells']:,} labels)."
        )
        yield Finding("warning", "coverage", "Judges with missing labels", sentence, len(thin), table)


def clearly_fewer(met: FloatArray, n_rubrics: int, together: float = 1.0) -> BoolArray:
    """(M, K) whether a judge has less than ``_THIN`` of another's labels of a system, and less than chance explains.

    Under chance, cells are dealt to all judges with equal probability. The number of labels is then binomial if every
    cell has the same number of judges, and varies less if single labels are missing. Corrected for the number of pairs
    (Bonferroni). met: (M, K) numbers of cells, with blank labels. together: number of cells that are dealt at once, so
    that ``n_rubrics / together`` are the trials.
    """
    share = met.mean(axis=1, keepdims=True) / n_rubrics
    thin = met < _THIN * met.max(axis=1, keepdims=True)
    few = met / together
    chance = betainc(n_rubrics / together - few, few + 1, 1 - share, where=thin, out=np.ones_like(met))
    return np.asarray(chance < _CHANCE / met.size)


def dealt_together(given: FloatArray, cells: FloatArray) -> float:
    """Variance of the judges' numbers of labels between queries, as a multiple of that if cells were dealt one by one.

    given: (Q, K) numbers of labels, over all systems. cells: (Q,) numbers of cells, over all systems.
    """
    usual = given.sum(axis=1, keepdims=True) * given.sum(axis=0) / given.sum()
    alone = (usual * np.maximum(1 - usual / cells[:, None], 0)).sum()
    found = ((given - usual) ** 2).sum() * len(given) / (len(given) - 1)
    return float(found / alone) if alone > 0 else 1.0


def _together(cursor: duckdb.DuckDBPyConnection, dataset_id: int, n_systems: int) -> float:
    """Estimate how many cells of a system are dealt to judges at once: from 1 to all those of a typical query.

    All if labels by rubric are not tallied or draws are repeated; 1 if there is only one query.
    """
    rubrics = select(cursor, "SELECT query, count(*) AS n FROM facts_now GROUP BY query", dataset_id)
    names, sizes = rubrics["query"].tolist(), rubrics["n"].to_numpy(dtype=float)
    if len(names) < 2:
        return 1.0
    most = float((sizes**2).sum() / sizes.sum())
    rows = select(
        cursor,
        """
        SELECT query, judge_id, sum("rows") AS n FROM label_tallies JOIN facts_now USING (rubric_id)
        WHERE dataset_id = $dataset AND NOT EXISTS (FROM runs WHERE dataset_id = $dataset) GROUP BY ALL
        """,
        dataset_id,
    )
    if rows.empty:
        return most
    rows["n"] = rows["n"].astype(float)
    given = rows.pivot_table(index="query", columns="judge_id", values="n").reindex(names).fillna(0.0)
    return float(np.clip(dealt_together(given.to_numpy(), n_systems * sizes), 1.0, most))
