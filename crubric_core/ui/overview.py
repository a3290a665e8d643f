"""The overview's five chips: is this dataset fit for a leaderboard?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from ..analysis import health
from ..errors import DatasetError
from . import loaders
from .text import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    gating, verdict = study.gating(), study.verdict()
    chips = [
        first,
        health.agreement_chip(study.given(), gating, verdict),
        health.model_chip(study.calibration()),
    ]
    try:
        rubrics = study.given().rubrics["query"]
        covered = int(rubrics.iloc[study.bank()].nunique())
        bank = health.bank_chip(
            int(np.count_nonzero(study.pool)), study.settings.budget, int(rubrics.nunique()), covered
        )
        return [*chips, bank, health.board_chip(study.board(), study.claims())]
    except DatasetError as error:
        return [*chips, *(health.Chip(name, "none", "stop", str(error)) for name in ("Bank", "Board"))]


def show_chips(chips: Sequence[Chip]) -> None:
    """A card each: figure, state, and the page that shows more."""
    with st.container(horizontal=True, gap="small"):
        for chip in chips:
            with st.container(border=True, width=184):
                st.markdown(f"**{chip.name}** · {MARKS[chip.state]}")
                st.markdown(plain(chip.figure))
                st.caption(plain(chip.sentence))
                st.page_link(loaders.PAGES / f"{PAGES[chip.name]}.py", label="Open")
