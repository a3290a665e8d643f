"""What to rewrite: informative rubrics on which judges disagree, and texts that the lint flags."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import streamlit as st

from ...analysis.gaps import find_rewrites, rewrite_sentence
from ...analysis.rubric_lint import KINDS, LintFinding, is_english, lint, lint_table
from ...analysis.stage import stage
from .. import table_widgets
from ..text import count, plain, verb
from .opened import table_and_rubric

if TYPE_CHECKING:
    from ..loaders import Study
    from ..page import StudyPage

_number = st.column_config.NumberColumn
_text = st.column_config.TextColumn
REWRITES: dict[str, Any] = {
    "rubric": "rubric",
    "nu": _number("information ν", format="%.3f", help="Information where these systems lie"),
    "statistic": "",  # _rewrites adds the title
    "disputed": _number(
        "disputed", help="Systems on which the judges differ by more than the agreement tolerance"
    ),
    "query": "query",
    "text": _text("text", width="large"),
}
FINDINGS: dict[str, Any] = {
    "rubric": "rubric",
    "kind": "finding",
    "seen": _text("what was seen", width="medium"),
    "text": _text("text", width="large"),
    "query": "query",
}


def section(study: StudyPage) -> None:
    """Show the rubrics that might be rewritten, with the disagreements behind them, then the lint of all texts."""
    found = find_rewrites(study.calibration().nu, study.feasible)
    study.answer(rewrite_sentence(found, study.gating().given))
    if len(found.at):
        _rewrites(study, found.at)
    texts(study)


def texts(study: StudyPage) -> None:
    """Show the lint of all texts, which needs no second judge."""
    st.subheader("Texts worth a look", anchor=False)
    _findings(study)


def _rewrites(study: StudyPage, at: np.ndarray[Any, Any]) -> None:
    table = _table(study).loc[at]

    def chosen() -> int | None:
        st.caption(
            "Rubrics with much information and little agreement: choose one to see where its judges differ."
        )
        name = "rubric κ" if study.gating().statistic == "kappa" else "measurability"
        statistic = _number(name, format="%.3f", help="The gate's statistic of this rubric")
        row = table_widgets.pick_one(
            table, REWRITES | {"statistic": statistic}, key="rewrite rubric", rows=12
        )
        table_widgets.download("Download rewrite.csv", table, "rewrite.csv")
        return row

    table_and_rubric(study, chosen, "Choose a rubric to see the disagreements behind it.")


def _table(study: Study) -> pd.DataFrame:
    reduction = study.reduction()
    return reduction.rubrics[["rubric", "query", "text"]].assign(
        nu=study.calibration().nu,
        statistic=study.gating().values,
        disputed=reduction.n_total - reduction.n_agree,
    )


def _findings(study: StudyPage) -> None:
    texts = study.reduction().rubrics["text"]
    read = sum(isinstance(text, str) and is_english(text) for text in texts)
    if not read:
        given = sum(isinstance(text, str) and bool(text.strip()) for text in texts)
        st.write(
            "No rubric has an English text: the rules about words know no other language."
            if given
            else "No rubric has a text: add texts on the Data page to have their wording checked."
        )
        return
    found = findings(study)
    table = lint_table(found)
    flagged = table["at"].nunique()
    st.write(
        f"{flagged:,} of {count(read, 'English text')} {verb(flagged, 'are')} worth a look. The rules know "
        "words, not meanings: read the rubric before you change it."
    )
    kinds = [kind for kind in KINDS if (table["kind"] == kind).any()]
    kind = st.selectbox(
        "Finding", ["all", *kinds], key="finding", format_func=lambda k: _named(k, table), help=_meanings()
    )
    rubrics = study.reduction().rubrics[["rubric", "query", "text"]]
    table = table.join(rubrics, on="at")
    shown = table if kind == "all" else table[table["kind"] == kind]
    if kind != "all":
        st.caption(KINDS[kind])
    table_widgets.table(shown, FINDINGS, rows=9)
    table_widgets.download("Download lint.csv", table.drop(columns="at"), "lint.csv")


def _named(kind: str, table: pd.DataFrame) -> str:
    return kind if kind == "all" else f"{kind} ({int((table['kind'] == kind).sum()):,})"


def _meanings() -> str:
    return " ".join(f"{plain(kind)}: {plain(meaning)}" for kind, meaning in KINDS.items())


@stage(after=("calibration",), title="Reading the rubrics", heavy=True)
def findings(study: Study) -> tuple[LintFinding, ...]:
    """The lint of the study's rubrics; near-duplicates name the other rubric."""
    rubrics = study.given().rubrics
    texts = [text if isinstance(text, str) else None for text in rubrics["text"]]
    return lint(
        texts,
        rubrics["query"].tolist(),
        study.calibration().item_rest,
        study.calibration().item_rest_chance,
        np.isfinite(study.given().y).sum(axis=0),
        names=rubrics["rubric"].tolist(),
    )
