"""The tables of the pages: the rows that a filter leaves, and the headings and help of the columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from ..analysis import columns

if TYPE_CHECKING:
    import pandas as pd

    from ..labels.store.reduction import Reduction
    from ..settings import GateStatistic

_number = st.column_config.NumberColumn
_text = st.column_config.TextColumn


def bounded(name: str, title: str, low: str = "", high: str = "") -> dict[str, Any]:
    """Column configurations of a number, to three decimals, and its interval.

    low, high: columns of the ends; by default the name followed by _low and _high.
    """
    return {
        name: _number(title, format="%.3f"),
        low or f"{name}_low": _number("from", format="%.3f"),
        high or f"{name}_high": _number("to", format="%.3f"),
    }


def configured(column: columns.Column) -> Any:
    """The column_config of a declared column."""
    if not column.style:
        return _text(column.title, help=column.help or None, width=column.width)
    style = {"d": None, ".1%": "percent"}.get(column.style, f"%{column.style}")
    return _number(column.title, format=style, help=column.help or None, width=column.width)


DATASETS = {
    "name": "dataset",
    **{
        name: _number(name, format="localized")
        for name in ("systems", "queries", "rubrics", "judges", "labels")
    },
    "created_at": st.column_config.DatetimeColumn("since (UTC)", format="YYYY-MM-DD HH:mm"),
}
LOSSES: dict[str, Any] = {
    "system": "system",
    "rank": _number("rank", help="By expected loss, the smallest first"),
    "loss": _number("loss", format="%.3f", help="Expected loss of a query"),
    "low": _number("from", format="%.3f"),
    "high": _number("to", format="%.3f"),
    "violated": _number(
        "violated",
        format="%.4g",
        help="Rubrics with a loss that are violated; partial violations count as shares",
    ),
    "labelled": _number("of", format="localized", help="Rubrics with a loss that have a label"),
}
ALL = "all"
KEPT = (ALL, "kept", "dropped", "flagged")
FLAGS = {"": "", "unmeasured": "no two judges", "pair_only": "at most two judges"}
"""Flag in measurability.csv → words on the page."""
IN_BANK = "in the bank"
INFORMATIVE = (ALL, IN_BANK, "constant", "negative item–rest")


def file_of_all(name: str, shown: pd.DataFrame, every: pd.DataFrame) -> str:
    """The label of a button that downloads all rubrics (``every``), below a table of the rubrics ``shown``."""
    return f"Download {name}" + ("" if len(shown) == len(every) else f", all {len(every):,} rubrics")


MEASURABILITY: dict[str, Any] = {
    "rubric": "rubric",
    "q_mean": _number("measurability q", format="%.3f", help="Posterior mean of the agreement rate"),
    "q_low": _number("from", format="%.3f", help="Lower end of its credible interval"),
    "q_high": _number("to", format="%.3f", help="Upper end of its credible interval"),
    "n_agree": _number(
        "agreed",
        help="Instances on which all judges agree: on met or not where a pass mark reads grades so, within the "
        "tolerance where one is set, and else on the label",
    ),
    "n_total": _number("of", help="Instances that at least two judges labelled"),
    "p_above_tau": _number("P(q ≥ τ_c)", format="percent", help="Posterior probability to reach τ_c"),
    "feasible": st.column_config.CheckboxColumn("kept"),
    "flag": _text("flag", help="How many judges have labels of the same system, where they are few"),
    "query": "query",
    "text": _text("text", width="large"),
}
ITEMS: dict[str, Any] = {
    "rubric": "rubric",
    "query": "query",
    "nu": _number("information ν", format="%.3f", help="Information where these systems lie"),
    "a": _number(
        "discrimination a", format="%.2f", help="How steeply the probability of passing rises with ability"
    ),
    "b": _number("difficulty b", format="%.2f", help="Ability at which half of the mark is expected"),
    "pass_rate": _number(
        "passed", format="percent", help="Mean consensus label, as a share of the full mark"
    ),
    "item_rest": _number("item-rest r", format="%.2f", help="Correlation with the other rubrics"),
    "in_bank": st.column_config.CheckboxColumn("in bank"),
    "text": _text("text", width="large"),
}
BANK: dict[str, Any] = {name: configured(columns.BANK[name]) for name in columns.BANK_SHOWN}
LEADERBOARD: dict[str, Any] = {
    name: configured(columns.LEADERBOARD[name])
    for name in dict.fromkeys((*columns.BY_ABILITY, *columns.BY_SCORE))
}


def measurability_columns(statistic: GateStatistic) -> dict[str, Any]:
    """The columns for a gate by this statistic: with rubric κ for kappa, with P(q ≥ τ_c) for agreement."""
    if statistic == "agreement":
        return MEASURABILITY
    kappa = _number(
        "rubric κ", format="%.3f", help="Agreement of judge pairs beyond chance; the gate reads it"
    )
    rest = {name: column for name, column in MEASURABILITY.items() if name not in ("rubric", "p_above_tau")}
    return {"rubric": MEASURABILITY["rubric"], "kappa": kappa, **rest}


def measurability(
    gate: pd.DataFrame, reduction: Reduction, which: str, statistic: GateStatistic = "agreement"
) -> pd.DataFrame:
    """The rubrics of the filter ``which``, the least measurable by the gate's statistic first.

    The index is the rubric's position in the study.
    """
    by = ["kappa", "q_mean"] if statistic == "kappa" else ["q_mean"]
    table = _with_text(gate, reduction).sort_values(by, kind="stable")
    table["flag"] = table["flag"].map(FLAGS)
    match which:
        case "kept":
            return table[table["feasible"]]
        case "dropped":
            return table[~table["feasible"]]
        case "flagged":
            return table[table["flag"] != ""]
    return table


def items(table: pd.DataFrame, reduction: Reduction, which: str) -> pd.DataFrame:
    """The rubrics of the filter ``which``, the most informative first; the index is the position in the study."""
    table = _with_text(table, reduction)
    table = table.sort_values("nu", ascending=False, kind="stable")
    match which:
        case "in the bank":
            return table[table["in_bank"]]
        case "constant":
            return table[table["constant"]]
        case "negative item–rest":
            return table[table["item_rest"] < 0]
    return table


def typical(shown: pd.DataFrame) -> list[int]:
    """Positions of the most informative rubric of each third by difficulty: easy, middle, hard."""
    known = shown["b"].rank(method="first").dropna()
    thirds = (3 * (known - 1) // max(len(known), 1)).astype(int)
    return [int(shown.index.get_indexer(rows.index[:1])[0]) for _, rows in thirds.groupby(thirds)]


def _with_text(table: pd.DataFrame, reduction: Reduction) -> pd.DataFrame:
    return table.assign(text=reduction.rubrics["text"].to_numpy())
