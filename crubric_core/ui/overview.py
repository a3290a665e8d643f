"""The overview's five chips: is this dataset fit for a leaderboard?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from ..analysis import health
from ..errors import CrubricError
from . import loaders
from .text import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..analysis.health import Chip

MARKS = {"good": "✓ good", "look": "! look", "stop": "✕ stop"}
PAGES = {
    "Labels": "data",
    "Agreement": "measurability",
    "Model": "items",
    "Bank": "bank",
    "Board": "leaderboard",
}


def chips_of(study: loaders.Study) -> list[Chip]:
    """The chips of the study, in the order of the pipeline; what cannot be computed says why."""
    counts = loaders.facts(study).counts
    first = health.labels_chip(
        int(counts["labels"]), float(counts["missing_share"]), int(counts["systems"]), int(counts["queries"])
    )
    later: dict[str, Callable[[], Chip]] = {
        "Agreement": lambda: health.agreement_chip(study.given(), study.gating(), study.verdict()),
        "Model": lambda: health.model_chip(study.calibration()),
        "Bank": lambda: _bank_chip(study),
        "Board": lambda: health.board_chip(study.board(), study.claims()),
    }
    return [first, *(_or_why_not(name, chip) for name, chip in later.items())]


def _bank_chip(study: loaders.Study) -> Chip:
    rubrics = study.given().rubrics["query"]
    covered = int(rubrics.iloc[study.bank()].nunique())
    return health.bank_chip(
        int(np.count_nonzero(study.pool)), study.settings.budget, int(rubrics.nunique()), covered
    )


def _or_why_not(name: str, chip: Callable[[], Chip]) -> Chip:
    try:
        return chip()
    except CrubricError as error:
        return health.Chip(name, "none", "stop", str(error))


def show_chips(chips: Sequence[Chip]) -> None:
    """A card each: figure, state, and the page that shows more."""
    with st.container(horizontal=True, gap="small"):
        for chip in chips:
            with st.container(border=True, width=184):
                st.markdown(f"**{chip.name}** · {MARKS[chip.state]}")
                st.markdown(plain(chip.figure))
                st.caption(plain(chip.sentence))
                st.page_link(loaders.PAGES / f"{PAGES[chip.name]}.py", label="Open")
