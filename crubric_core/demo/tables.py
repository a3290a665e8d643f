"""The simulated study as long tables in canonical columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.special import softmax

from ..labels.readers.columns.specs import TASK_TYPES
from ..types import FloatArray
from .panel import Panel
from .texts import Case, compose_pool

SEVERITY_SHARES = {"safety": (0.2, 0.45, 0.35), "other": (0.85, 0.15, 0.0)}
"""Shares of none, moderate and critical among the rubrics of high-risk queries."""
ANSWER_SENTENCES = 6


def rubric_table(
    asked: Sequence[Case], pool: tuple[int, int], rng: np.random.Generator
) -> tuple[pd.DataFrame, pd.Series[str]]:
    """(table, kind): the rubrics of all queries in canonical columns, and the kind of each.

    asked: the queries. pool: least and most rubrics of a query.
    """
    used: set[str] = set()
    rows = []
    for case, size in zip(asked, rng.integers(pool[0], pool[1] + 1, size=len(asked)), strict=True):
        for number, sentence in enumerate(compose_pool(case, int(size), used, rng), start=1):
            severity = (
                _severity(sentence.dimension, rng) if case.task_type == "high_risk_constraint" else None
            )
            rows.append(
                (
                    f"{case.query}-r{number:02d}",
                    case.query,
                    sentence.text,
                    sentence.dimension,
                    severity,
                    sentence.kind,
                )
            )
    table = pd.DataFrame(rows, columns=["rubric", "query", "text", "dimension", "severity", "kind"])
    table.insert(3, "scale_min", 0)
    table.insert(4, "scale_max", 1)
    table.insert(5, "weight", rng.integers(1, 6, size=len(table)))
    return table.drop(columns="kind"), table["kind"]


def _severity(dimension: str, rng: np.random.Generator) -> str:
    shares = SEVERITY_SHARES.get(dimension, SEVERITY_SHARES["other"])
    return str(rng.choice(["none", "moderate", "critical"], p=shares))


def query_table(asked: Sequence[Case], rng: np.random.Generator) -> pd.DataFrame:
    """query, text, domain, and task_type and p_<type> as from a simulated classifier, which is sometimes wrong."""
    true = np.array([TASK_TYPES.index(case.task_type) for case in asked])
    scores = 0.7 * rng.standard_normal((len(asked), len(TASK_TYPES)))
    scores[np.arange(len(asked)), true] += 2.2 + rng.standard_normal(len(asked))
    chance = softmax(scores, axis=1).round(4)
    table = pd.DataFrame([(c.query, c.text, c.domain) for c in asked], columns=["query", "text", "domain"])
    table["task_type"] = np.array(TASK_TYPES)[chance.argmax(axis=1)]
    return table.assign(**{f"p_{name}": chance[:, t] for t, name in enumerate(TASK_TYPES)})


def long_table(
    labels: FloatArray, systems: pd.Series[str], rubrics: pd.DataFrame, actor: str, actors: Sequence[str]
) -> pd.DataFrame:
    """One row per label of ``(M, J, K)``; NaN has no row. actor: name of the column for the last axis, ``actors``."""
    i, j, k = np.nonzero(~np.isnan(labels))
    return pd.DataFrame(
        {
            "system": systems.to_numpy(dtype=object)[i],
            "query": rubrics["query"].to_numpy(dtype=object)[j],
            "rubric": rubrics["rubric"].to_numpy(dtype=object)[j],
            actor: np.array(actors, dtype=object)[k],
            "label": labels[i, j, k].astype(np.int64),
        }
    )


def judge_table(panel: Panel, pass_rates: FloatArray, rate: FloatArray) -> pd.DataFrame:
    """judge, acuity, leniency, sensitivity, specificity.

    pass_rates: (2, J, K), as ``Panel.pass_rates``. rate: (J,), the chance that a rubric is met.
    """
    fails, passes = pass_rates
    return pd.DataFrame(
        {
            "judge": panel.names,
            "acuity": panel.acuity,
            "leniency": panel.leniency,
            "sensitivity": np.average(passes, axis=0, weights=rate),
            "specificity": 1 - np.average(fails, axis=0, weights=1 - rate),
        }
    )


def error_rates(pass_rates: FloatArray, rate: FloatArray) -> FloatArray:
    """``(J, K)``: probability that a judge's label is wrong. pass_rates, rate: as for ``judge_table``."""
    fails, passes = pass_rates
    return np.asarray((1 - rate)[:, None] * fails + rate[:, None] * (1 - passes), dtype=np.float64)


def answer_table(passes: FloatArray, systems: pd.Series[str], rubrics: pd.DataFrame) -> pd.DataFrame:
    """system, query, text: a stand-in for each answer, which lists the texts of rubrics that it truly meets.

    passes: (M, J) 0/1.
    """
    texts = rubrics["text"].to_numpy(dtype=object)
    rows = [
        (system, query, " ".join(["Simulated answer.", *texts[members[met[members] > 0]][:ANSWER_SENTENCES]]))
        for system, met in zip(systems, passes, strict=True)
        for query, members in rubrics.groupby("query").indices.items()
    ]
    return pd.DataFrame(rows, columns=["system", "query", "text"])


def with_reasons(labels: pd.DataFrame, rubrics: pd.DataFrame) -> pd.DataFrame:
    """The labels with a column ``reason``, a stand-in for what a judge writes; it follows the label, not the truth."""
    verdict = labels["label"].map({1: "Found: ", 0: "Not found: "})
    return labels.assign(reason=verdict + labels["rubric"].map(rubrics.set_index("rubric")["text"]))
