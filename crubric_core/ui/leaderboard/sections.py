"""The further views of the leaderboard, each for one question."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st

from ...analysis.board import different_queries_sentence, level_of, limits, linked_by
from ...analysis.columns import PLACES, shown_columns
from ...analysis.groups import compare_groups, group_sentence, judges_sentence
from ...analysis.human_labels import queries_to_label
from ...analysis.profile import group_means, undominated
from ...figures import human_labels as human_figures
from ...figures import leaderboard as figures
from ...figures import profile as profile_figures
from ...leaderboard.correction import FEWEST
from ...task_types.scoring import by_emphasis
from .. import state, table_widgets, tables, widgets
from ..text import UNKNOWN, count, plain
from . import dimensions, profile
from .view import DIMENSION, choose

if TYPE_CHECKING:
    from ...types import IntArray
    from .view import View

Section = Callable[["View", pd.DataFrame, "str | None"], None]
MOST = 40  # systems in a figure with a row each
CLICK = "Click a mark for the system's profile."
TOGETHER = (
    "All pairs of all groups are compared at once, for queries like these, without the model's weights."
)


def of(view: View) -> dict[str, Section]:
    """Name → view, for the views for which this study has data."""
    found: dict[str, Section] = {}
    if view.claims:
        found |= {"Pairs": _pairs, "Ranks": _ranks}
    if view.groups or view.dimensions[0]:
        found["Groups"] = _groups
    found["Scores"] = _scores
    if view.claims and view.study.human_labels() is not None:
        found["Human labels"] = _human_labels
    if view.claims and view.study.losses() is not None:
        found["Losses"] = _losses
    if view.numbers:
        found["Score and cost"] = _cost
    return found | {"What this does not show": _limits}


def table(view: View, shown: pd.DataFrame, system: str | None) -> None:
    """Show the leaderboard as a table; a click on a row opens the profile of its system."""
    columns = {
        name: tables.LEADERBOARD[name]
        for name in shown_columns(view.table)
        if view.claims or name not in PLACES
    }
    names = shown["system"].tolist()
    # Other rows need another key: rows are selected by position, which may be another system after a new ranking.
    key = f"board {st.session_state.get('choices elsewhere', 0)} {hash(tuple(names))}"

    def clicked() -> None:
        rows = st.session_state[key]["selection"]["rows"]
        choose(shown["system"].iloc[rows[0]] if rows and rows[0] < len(shown) else None, here=True)

    open_ends = {end: table_widgets.finite(shown[end]) for end in ("theta_low", "theta_high")}
    at = pd.Index(view.systems).get_indexer(pd.Index(names))
    numbers = {name: values[at] for name, values in view.numbers.items()}
    narrowed, configs = table_widgets.narrow_names(shown.assign(**open_ends, **numbers), columns)
    st.dataframe(
        narrowed,
        column_order=[*columns, *view.facts],
        column_config=configs,
        hide_index=True,
        placeholder=UNKNOWN,
        height=table_widgets.height(shown, 20),
        key=key,
        on_select=clicked,
        selection_mode="single-row",
        selection_default={"selection": {"rows": [names.index(system)] if system in names else []}},
        alt=f"Leaderboard. {table_widgets.BY_KEYBOARD}",
    )
    if system:
        profile.lead_to(system, "above")
    table_widgets.download("Download leaderboard.csv", view.whole, "leaderboard.csv", columns)


def _around(view: View, shown: pd.DataFrame, system: str | None) -> tuple[pd.DataFrame, IntArray]:
    """At most MOST rows around the chosen system, and their positions in the study; a note if rows are left out."""
    names = shown["system"].tolist()
    part = figures.window(len(names), names.index(system) if system in names else None, MOST)
    if part.stop - part.start < len(names):
        st.caption(
            f"Systems {part.start + 1:,} to {part.stop:,} of {len(names):,}: choose a system to see those around it."
        )
    rows = shown.iloc[part]
    return rows, pd.Index(view.every).get_indexer(pd.Index(rows["system"])).astype(np.int64)


def _of(table: pd.DataFrame, shown: pd.DataFrame) -> pd.DataFrame:
    """The rows of ``table`` whose systems are shown."""
    return table[table["system"].isin(shown["system"])].reset_index(drop=True)


def _pairs(view: View, shown: pd.DataFrame, system: str | None) -> None:
    rows, at = _around(view, shown, system)
    standing = view.board.standing
    pairs = np.ix_(at, at)
    ahead, values = (
        standing.compared[pairs],
        (standing.difference, standing.difference_low, standing.difference_high),
    )
    widgets.show(
        figures.separation_matrix(
            rows["system"].tolist(),
            ahead,
            standing.separated[pairs],
            figures.Estimate(*(each[pairs] for each in values)),
        ),
        alt="Probability that the row is ahead of the column",
        title=f"Who is ahead of whom? A dot: the pair is separated at {level_of(view.board)}",
        look="Columns are in the order of the rows."
        + (
            f" Empty cells: pairs that are not compared, because they share too few {linked_by(standing)}, or both "
            "pass all rubrics, or both fail all."
            if np.isnan(ahead).any()
            else ""
        )
        + " Click a cell to compare the two.",
        on_click=lambda cell: _compare(rows["system"].tolist(), cell),
    )
    table_widgets.download("Download comparisons.csv", view.board.comparisons, "comparisons.csv")


def _compare(systems: list[str], cell: widgets.Mark) -> None:
    """Open the profile of the row's system, compared with the column's system."""
    choose(systems[int(cell.y)])
    state.hold_system(state.VERSUS, systems[int(cell.x)])


def _ranks(view: View, shown: pd.DataFrame, system: str | None) -> None:
    rows, at = _around(view, shown, system)
    names = rows["system"].tolist()
    rank, low, high = (rows[c].to_numpy(dtype=np.int64) for c in ("rank", "rank_low", "rank_high"))
    left, right = st.columns(2, gap="large")
    with left:
        widgets.show(
            figures.rank_intervals(names, rank, low, high),
            alt="Rank of each system with its interval",
            title="Rank intervals",
            look=CLICK,
            on_click=lambda mark: choose(names[mark.number]),
        )
    with right:
        first, last = int(low.min()), int(high.max())
        shares = standing_share(view, at, first, last)
        if np.isnan(shares).all():
            st.caption(
                "The probability of being among the first k is not known: not all systems were labelled on the same "
                "queries, or by the same judges."
            )
            return
        widgets.show(
            figures.rank_probability(names, shares, first),
            alt="Probability that each system is among the first k",
            title="Probability of being among the first k",
            on_click=lambda cell: choose(names[int(cell.y)]),
        )


def standing_share(view: View, at: IntArray, first: int, last: int) -> np.ndarray:
    """P(rank ≤ k) for the systems at positions ``at`` and k from ``first`` to ``last``, (len(at), last - first + 1)."""
    return view.board.standing.rank_probability[at][:, first - 1 : last]


def _groups(view: View, shown: pd.DataFrame, system: str | None) -> None:
    names = [*view.groups, *([DIMENSION] if view.dimensions[0] else [])]
    by = names[0]
    if len(names) > 1:
        by = widgets.choose_one("By", names, "groups")
    found = view.study.dimensions() if by == DIMENSION and view.claims else ""
    if not isinstance(found, str):
        dimensions.show(view, found, *_around(view, shown, system))
        return
    if found:
        st.caption(plain(found))
    if by == DIMENSION:
        (groups, scores), weights = view.dimensions, np.ones(len(view.weights))
        unweighted, what = scores, "Share of the mark by dimension of the rubrics"
    else:
        (groups, scores), weights, what = view.groups[by], view.weights, f"Score S by {by}"
        plain_scores = by_emphasis(view.ranked.scores).by_query
        unweighted = [np.where(np.isfinite(part), plain_scores, np.nan) for part in scores]
    rows, at = _around(view, shown, system)
    means = group_means(scores, weights)
    widgets.show(
        profile_figures.domain_heat(rows["system"].tolist(), groups, means[at]),
        alt=f"Score of each system by {by}",
        title=f"{what}; colour: above or below the mean of the systems shown",
        look="Differences between neighbouring cells are not tested here. A system's profile shows intervals: click a "
        "cell to open it.",
        on_click=lambda cell: choose(rows["system"].iloc[int(cell.y)]),
    )
    if view.claims and view.judges_differ(by):
        st.markdown(plain(judges_sentence(by)))
    elif view.claims:
        standing, seed = view.board.standing, view.study.settings.seed
        turned = compare_groups(groups, unweighted, weights, standing, at, seed)
        said = group_sentence(by, turned, rows["system"].tolist(), level_of(view.board))
        if said:
            st.markdown(f"{plain(said)} {TOGETHER}")
    whole = pd.DataFrame(means, columns=list(groups))
    whole.insert(0, "system", list(view.every))
    file = f"scores_by_{by.replace(' ', '_')}.csv"
    table_widgets.download(f"Download {file}", whole, file)


def _scores(view: View, shown: pd.DataFrame, system: str | None) -> None:
    rows, _ = _around(view, shown, system)
    names, theta = rows["system"].tolist(), rows["theta"].to_numpy(dtype=np.float64)
    study = view.study
    on_bank = study.settings.basis == "bank" and not view.board.by_score
    first, *second = st.columns(2 if on_bank else 1, gap="large")
    with first:
        widgets.show(
            figures.score_against_ability(names, theta, rows["score"].to_numpy(dtype=np.float64)),
            alt="Score against ability",
            title="Score against ability",
            look="Look for systems far from the others' line: "
            + ("they have labels on other queries, or " if different_queries_sentence(view.board) else "")
            + "score and model weigh the rubrics differently for them. "
            + CLICK,
            on_click=lambda mark: choose(names[mark.number]),
        )
    if on_bank:
        other = study.ranking_on(study.pool).table.set_index("system").loc[names, "theta"]
        with second[0]:
            widgets.show(
                figures.bank_against_pool(names, theta, other.to_numpy(dtype=np.float64)),
                alt="Ability from the bank against ability from all rubrics that pass",
                title="The bank compared with all rubrics that pass",
                on_click=lambda mark: choose(names[mark.number]),
            )


def _human_labels(view: View, shown: pd.DataFrame, system: str | None) -> None:
    found = view.study.human_labels()
    if found is None:
        return
    whole = found.table
    rows, _ = _around(view, _of(whole, shown), system)
    names = rows["system"].tolist()
    both, alone = (
        figures.Estimate(*(rows[column].to_numpy(dtype=np.float64) for column in columns))
        for columns in (("mean", "low", "high"), ("human_mean", "human_low", "human_high"))
    )
    left, *right = st.columns(2 if found.plannable else 1, gap="large")
    with left:
        widgets.show(
            figures.forest(
                names,
                both,
                None,
                alone,
                names=("the judges' mean, corrected", "human labels alone"),
                chosen=names.index(system) if system in names else None,
                title="mean label, as a share of the full mark",
            ),
            alt="Mean label of each system, corrected by human labels",
            title="Judges' means, corrected by human labels",
            look=CLICK,
            on_click=lambda mark: choose(names[mark.number]),
        )
    for place in right:
        with place:
            widgets.show(
                human_figures.half_widths(*found.widths()),
                alt="Interval of a mean label against the queries that people label",
                title="What more human labels would give",
            )
    st.markdown("\n".join(f"- {plain(sentence)}" for sentence in found.sentences()))
    with st.container(horizontal=True):
        table_widgets.download("Download human_labels.csv", whole, "human_labels.csv")
        if found.waiting:
            _offer_queries("Download queries to label next, in random order", found.waiting)


def _losses(view: View, shown: pd.DataFrame, system: str | None) -> None:
    found = view.study.losses()
    if found is None:
        return
    whole = found.table
    table = _of(whole, shown)
    rows, _ = _around(view, table, system)
    names = rows["system"].tolist()
    widgets.show(
        figures.forest(
            names,
            figures.Estimate(
                *(rows[column].to_numpy(dtype=np.float64) for column in ("loss", "low", "high"))
            ),
            None,
            chosen=names.index(system) if system in names else None,
            title="expected loss of a query",
        ),
        alt="Expected loss of a query for each system, the least first",
        title="Expected loss of a query: less is better",
        look=CLICK,
        on_click=lambda mark: choose(names[mark.number]),
    )
    st.markdown("\n".join(f"- {plain(sentence)}" for sentence in found.sentences(view.board.standing)))
    table_widgets.table(table, tables.LOSSES, rows=20)
    table_widgets.download("Download losses.csv", whole, "losses.csv")


def _cost(view: View, shown: pd.DataFrame, system: str | None) -> None:
    del system
    names = list(view.numbers)
    start = next(
        (n for n, name in enumerate(names) if "cost" in name.casefold() or "price" in name.casefold()), 0
    )
    by = names[0] if len(names) == 1 else st.selectbox("Against", names, start, key="against", width=260)
    at = pd.Index(view.systems).get_indexer(pd.Index(shown["system"]))
    cost, score = view.numbers[by][at], shown["score"].to_numpy(dtype=np.float64)
    best = undominated(cost, score)
    systems = shown["system"].tolist()
    widgets.show(
        profile_figures.value_against_cost(systems, cost, score, best, (by, "score S")),
        alt=f"Score against {by}",
        title=f"Score against {by}",
        look=CLICK,
        on_click=lambda mark: choose(systems[mark.number]),
    )
    unknown = int(np.isnan(cost).sum())
    st.caption(
        f"Blue marks, joined by the line: no system shown has a higher score at the same {plain(by)} or less. Two of "
        "them need not be separated; Pairs shows which are."
        + (f" {count(unknown, 'system')} without {plain(by)}: not drawn." if unknown else "")
    )


def _limits(view: View, shown: pd.DataFrame, system: str | None) -> None:
    del shown, system
    st.markdown(
        "\n".join(f"- {plain(sentence)}" for sentence in (*view.study.judge_warnings(), *limits(view.board)))
    )
    study = view.study
    if study.human_labels() is None:
        st.caption(
            f"Human labels on {FEWEST} queries or more, chosen at random, correct the judges' means and show the "
            "errors that judges share. Label the first queries of this list, and add the labels on the Data page as "
            "gold."
        )
        order = queries_to_label(study.given(), study.queries(), study.settings)
        _offer_queries("Download queries to label, in random order", order)


def _offer_queries(label: str, names: tuple[str, ...]) -> None:
    table_widgets.download(label, pd.DataFrame({"query": names}), "queries_to_label.csv")
