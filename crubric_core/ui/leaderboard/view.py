"""The data of the Leaderboard page: the ranked systems, best first, with facts about them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st

from ...analysis.dimensions import dimension_names, numbered
from ...analysis.groups import dimension_scores
from ...analysis.profile import group_name, in_groups
from ...analysis.selection import query_positions
from ...analysis.stage import stage
from ...analysis.standings import without_places
from ...analysis.system_facts import numbers_of
from ...declarations import choice_words
from ...figures.leaderboard import Estimate, placing
from ...task_types.scoring import query_weights
from .. import loaders, state
from ..search import search_box
from ..text import plain

if TYPE_CHECKING:
    from ...analysis.board import Board
    from ...analysis.result import Ranking
    from ...types import BoolArray, FloatArray, IntArray
    from ..page import StudyPage

UNNAMED = "not given"  # the choice for systems without a value in a column of facts
FEW_VALUES = 20  # a column of facts with more distinct values is not offered as a filter
TYPES = "task type"
DIMENSION = "dimension"


@dataclass(frozen=True)
class View:
    """The ranked systems of one study, in the order in which they are shown.

    whole: the leaderboard with facts about the systems; without places if no claim may be made. table: its m rows of
    ranked systems. at: (m,) position of each in the study. facts: names of the columns with facts from the dataset.
    """

    study: StudyPage
    ranked: Ranking
    board: Board
    whole: pd.DataFrame
    table: pd.DataFrame
    at: IntArray
    facts: tuple[str, ...]

    @property
    def every(self) -> tuple[str, ...]:
        """Names of all systems of the study, ranked or not, in its order."""
        return self.board.systems

    @property
    def systems(self) -> list[str]:
        """Names of the ranked systems, in the order in which they are shown."""
        return list(self.table["system"])

    @property
    def claims(self) -> bool:
        """Whether any claim about the order of the systems may be made."""
        return not self.board.refused

    @property
    def what(self) -> str:
        """The name of the measure by which the systems are ranked."""
        return "score S" if self.board.by_score else "ability θ"

    def position(self, system: str) -> int:
        """Position of the system in the study."""
        return self.every.index(system)

    def estimate(self, table: pd.DataFrame) -> Estimate:
        """Estimates and intervals in rows of the leaderboard: of abilities, or of scores if claims rest on scores."""
        return placing(table)[0]

    @cached_property
    def weights(self) -> FloatArray:
        """(N,) weights of the queries in a score."""
        return query_weights(self.study.queries()["omega"].to_numpy(dtype=np.float64))

    @cached_property
    def groups(self) -> dict[str, tuple[tuple[str, ...], list[FloatArray]]]:
        """Kind ("domain", "task type") → (names, query scores) of its groups; only kinds with two groups or more."""
        scores = self.ranked.scores
        types = [None if t is None else choice_words(t) for t in scores.task_type]
        found = {
            "domain": in_groups(scores.by_query, self.study.queries()["domain"].tolist()),
            TYPES: in_groups(scores.by_query, types),
        }
        return {name: split for name, split in found.items() if len(split[0]) > 1}

    @cached_property
    def dimensions(self) -> tuple[tuple[str, ...], list[FloatArray]]:
        """(names, shares of the mark) by dimension of the rubrics; ((), []) with fewer than two dimensions."""
        use = self.ranked.use[self.ranked.fold]
        found = dimension_scores(self.study.reduction(), use, self.study.queries())
        return found if len(found[0]) > 1 else ((), [])

    def judges_differ(self, by: str) -> bool:
        """Whether systems have different judges in any group of this kind: domain, task type or dimension."""
        reduction = self.study.reduction()
        if by == DIMENSION:
            return self.study.judges_differ(numbered(dimension_names(reduction)))
        of_queries = {
            "domain": self.study.queries()["domain"].tolist(),
            TYPES: list(self.ranked.scores.task_type),
        }
        named = np.array([group_name(each) for each in of_queries[by]], dtype=object)
        return self.study.judges_differ(numbered(named)[query_positions(self.study.queries(), reduction)])

    @cached_property
    def numbers(self) -> dict[str, FloatArray]:
        """Name → values (m,), for the facts of the systems that are numbers."""
        found = {name: numbers_of(self.table[name].tolist()) for name in self.facts}
        return {name: values for name, values in found.items() if values is not None}


def view_of(study: StudyPage) -> View:
    """The view of a study: its ranked systems as the page shows them."""
    ranked, board = study.ranking(), study.board()
    facts = _system_facts(study)
    facts = facts.rename(
        columns={name: f"{name} " for name in facts if name in ranked.table and name != "system"}
    )
    whole = without_places(ranked.table) if board.refused else ranked.table
    whole = whole.merge(facts, on="system", how="left")
    table = whole[whole["system"].isin(ranked.table["system"][ranked.table["rank"].notna()])].reset_index(
        drop=True
    )
    at = pd.Index(board.systems).get_indexer(pd.Index(table["system"])).astype(np.int64)
    return View(study, ranked, board, whole, table, at, tuple(facts.columns.drop("system")))


@stage(heavy=True, of_content=True)
def _system_facts(study: StudyPage) -> pd.DataFrame:
    facts = study.dataset.system_metadata()
    return facts if "system" in facts else pd.DataFrame({"system": pd.Series(dtype=object)})


def filters(view: View) -> BoolArray:
    """Show filters by name, tier and facts; (m,) which systems pass them. Filters do not change ranks."""
    table = view.table
    keep = np.ones(len(table), dtype=bool)
    choices = {
        name: [*sorted(table[name].dropna().unique()), *([UNNAMED] if table[name].isna().any() else [])]
        for name in view.facts
        if name not in view.numbers and 1 < table[name].nunique() <= FEW_VALUES
    }
    row = st.container(horizontal=True, vertical_alignment="bottom")
    with row:
        text = search_box("Find a system", state.FIND, width=220, placeholder="part of a name")
    if text:
        keep &= table["system"].str.contains(text.strip(), case=False, regex=False).to_numpy(dtype=bool)
    tiers = [str(tier) for tier in sorted(table["tier"].dropna().unique())]
    state.check_choices("tiers", tiers)
    if len(tiers) > 1:
        chosen = row.multiselect(
            "Tiers", tiers, key="tiers", bind="query-params", placeholder="all", width=200
        )
        if chosen:
            keep &= table["tier"].astype("string").isin(chosen).to_numpy(dtype=bool)
    for name, values in choices.items():
        state.check_choices(f"{state.FACT}{name}", map(str, values))
        wanted = row.multiselect(
            plain(name), values, key=f"{state.FACT}{name}", bind="query-params", placeholder="all", width=200
        )
        if wanted:
            keep &= (table[name].isin(wanted) | (table[name].isna() & (UNNAMED in wanted))).to_numpy(
                dtype=bool
            )
    return keep


def choose(system: str | None, *, here: bool = False) -> None:
    """Open this system's profile, or none; a comparison with itself ends. here: whether the table was clicked."""
    state.hold_system(state.SYSTEM, system)
    session = st.session_state
    if not here:  # the table is then a new widget, with another row selected
        session["choices elsewhere"] = session.get("choices elsewhere", 0) + 1
    if system is None or session.get(f"{state.VERSUS} held") == system:
        state.hold_system(state.VERSUS, None)


def open_profile(system: str) -> None:
    """Switch to the Leaderboard page and open this system's profile."""
    choose(system)
    st.switch_page(loaders.PAGES / "leaderboard.py", query_params={})
