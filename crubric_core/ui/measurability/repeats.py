"""Self-consistency of the judges, and the answers and reasons behind the labels of a rubric."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import streamlit as st

from ...analysis.stage import stage
from ...judges.self_consistency import over_queries, self_consistency
from .. import loaders, table_widgets
from ..tables import bounded
from ..text import count, plain, rounded, shorten

if TYPE_CHECKING:
    from ...settings import Response
    from ...types import FloatArray
    from ..loaders import Study

CLICKED = "system clicked in the labels"
LONGEST = 4000  # characters of an answer that are shown
_SUMMED = ["cells", "pairs", "agreeing", "draws", "consistent"]
_number = st.column_config.NumberColumn
REPEATS: dict[str, Any] = {
    "judge": "judge",
    "rubric": "rubric",
    "cells": _number("cells", format="localized", help="Systems × rubrics that it labelled twice or more"),
    "pairs": _number("pairs of runs", format="localized"),
    "share": _number("agreeing", format="percent", help="Share of pairs of runs with the same label"),
    **bounded("mean", "self-consistency", "low", "high"),
    "query": "query",
}
SAID: dict[str, Any] = {
    "judge": "judge",
    "run": "run",
    "label": _number("label"),
    "reason": st.column_config.TextColumn("reason", width="large"),
}


@stage(heavy=True, of_content=True)
def repeated(study: Study, response: Response) -> pd.DataFrame:
    """One row per rubric and judge with repeatedly labelled cells (``Dataset.repeats``); empty if there are none."""
    none = pd.DataFrame(columns=["judge", *_SUMMED])
    return study.dataset.repeats(response) if study.dataset.has_runs else none


def consistency_table(repeats: pd.DataFrame, by: list[str], confidence: float) -> pd.DataFrame:
    """Self-consistency of each group of rows, least consistent first: by, cells, pairs, share, mean, low, high.

    by: columns of the groups. The interval for a judge and rubric takes cells as independent. The interval for a judge
    has the wider ends of that interval and of the one over queries; it is NaN if there are too few queries.
    """
    summed = repeats.groupby(by, sort=True)[_SUMMED].sum().reset_index()
    found = self_consistency(
        summed["pairs"], summed["agreeing"], summed["draws"], summed["consistent"], confidence=confidence
    )
    table = summed.assign(share=found.share, mean=found.mean, low=found.low, high=found.high)
    if "query" not in by:
        ends = np.array(
            [_over_queries(repeats[repeats["judge"] == judge], confidence) for judge in summed["judge"]]
        )
        table["low"], table["high"] = np.minimum(found.low, ends[:, 0]), np.maximum(found.high, ends[:, 1])
    return table.sort_values("mean", kind="stable", ignore_index=True)


def _over_queries(rows: pd.DataFrame, confidence: float) -> tuple[float, float]:
    sums = rows.groupby("query")[["draws", "consistent"]].sum().to_numpy(dtype=np.float64)
    return over_queries(sums[:, 0], sums[:, 1], confidence)


def section(study: Study) -> None:
    """Show the self-consistency of each judge, and of each judge on each rubric; nothing if no cell has repeats."""
    repeats = repeated(study, study.reduction().response)
    if repeats.empty:
        return
    confidence = study.settings.confidence
    judges = consistency_table(repeats, ["judge"], confidence)
    st.markdown("**Does each judge repeat its own label?**")
    st.caption(
        plain(
            f"{consistency_sentence(judges)} For a judge that stands for several raters, it shows how far they agree. "
            "Agreement between judges uses each judge's majority of runs, so that no cell is dropped."
        )
    )
    table_widgets.table(judges, {c: v for c, v in REPEATS.items() if c in judges})
    each = consistency_table(repeats, ["judge", "rubric", "query"], confidence)
    table_widgets.table(each, REPEATS, rows=6)
    table_widgets.download("Download self_consistency.csv", each, "self_consistency.csv")


def consistency_sentence(judges: pd.DataFrame) -> str:
    """A sentence on the judges' self-consistency; for several judges the range, since no test compares them.

    judges: a ``consistency_table`` by judge.
    """
    least, most = judges.iloc[0], judges.iloc[-1]
    if len(judges) > 1:
        return (
            f"Self-consistency is from {least['mean']:.2f} ({least['judge']}) to {most['mean']:.2f} ({most['judge']}); "
            "the intervals hold for queries like these and do not compare judges."
        )
    ends = f" [{least['low']:.2f}, {least['high']:.2f}]" if np.isfinite(least["low"]) else ""
    return (
        f"{least['judge']}: {rounded(least['share'])} of {count(int(least['pairs']), 'pair')} of runs agree, "
        f"self-consistency {least['mean']:.2f}{ends}."
    )


def opened(study: Study, row: int, panel: FloatArray) -> None:
    """Choose a system and see its answer, and each judge's label of the rubric with the reason.

    panel: (M, K) labels of the rubric as the model reads them. Systems on which judges differ come first.
    """
    if not has_texts_or_runs(study, row):
        return
    said, answers = _of_rubric(study, row)
    split = np.array([len(np.unique(known[np.isfinite(known)])) > 1 for known in panel])
    names = np.array(study.reduction().systems)
    there = set(said["system"])
    systems = [str(n) for n in (*names[split], *names[~split]) if n in there]
    if not systems:
        return
    key = f"said {study.fingerprint}"
    if (clicked := st.session_state.pop(CLICKED, None)) in systems:
        st.session_state[key] = clicked
    differing = {str(n) for n in names[split]}
    system = st.selectbox(
        "Answer and reasons for",
        systems,
        format_func=lambda n: f"{n} (judges differ)" if n in differing else n,
        key=key,
    )
    text = answers.loc[answers["system"] == system, "text"]
    if len(text):
        with st.expander("Its answer", expanded=True):
            st.text(shorten(str(text.iloc[0]), LONGEST))
    own = said[said["system"] == system]
    table_widgets.table(own, {c: v for c, v in SAID.items() if c in own})


def has_texts_or_runs(study: Study, row: int) -> bool:
    """Whether the dataset has answers to the query of the rubric at ``row``, or reasons or runs of its judges."""
    said, answers = _of_rubric(study, row)
    return not answers.empty or not {"reason", "run"}.isdisjoint(said)


def _of_rubric(study: Study, row: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    rubric = study.reduction().rubrics.iloc[row]
    return loaders.labels_and_answers(study, str(rubric["rubric"]), str(rubric["query"]))
