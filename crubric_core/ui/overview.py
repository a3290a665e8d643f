"""The five chips of the Overview page, which show whether this dataset is fit for a leaderboard."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from ..analysis import health
from ..analysis.held_out import untested
from ..errors import CrubricError
from ..leaderboard.cross_fit import too_few_to_cross_fit
from . import loaders
from .text import UNKNOWN, count, plain, rounded

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from streamlit.delta_generator import DeltaGenerator

    from ..analysis.health import Chip
    from ..labels.store.reduction import Reduction

MARKS = {"good": "✓ good", "look": "! look", "stop": "✕ stop"}
PAGES = {
    "Labels": "data",
    "Agreement": "measurability",
    "Model": "items",
    "Bank": "bank",
    "Board": "leaderboard",
}
UNKNOWN_WORTH = "Open Bank to see what it keeps for a system that it has not seen."


@dataclass(frozen=True)
class Card:
    """The place on the page for a chip: its name, the place of its heading, and of the rest."""

    name: str
    head: DeltaGenerator
    rest: DeltaGenerator


@dataclass(frozen=True)
class Tiles:
    """Figures for the overview. figures: name → value as text. helps: name → what it means."""

    figures: dict[str, str]
    helps: dict[str, str]


def agreement_tiles(reduction: Reduction, tolerance: int) -> Tiles:
    """Share of instances on which the judges agree, and share of unanimous rubrics.

    If a pass mark turns grades into met or not, both names state it. tolerance: as in the settings.
    """
    if reduction.pass_marks:
        how, equal = ", met or not", "all of them, read as met or not met by the pass mark, are equal"
    elif reduction.response == "ordered" and tolerance:
        how, equal = "", f"no two of them are more than {count(tolerance, 'level')} apart"
    else:
        how, equal = "", "all of them are equal"
    names, known = (f"Judges agree{how}", f"Unanimous{how}"), int(reduction.n_total.sum())
    measured = reduction.n_total > 0  # only on these rubrics can judges differ
    unanimous = reduction.unanimous[measured].sum() / max(int(measured.sum()), 1)
    shares = (reduction.n_agree.sum() / max(known, 1), unanimous)
    helps = (
        f"Pairs of system and rubric with at least two labels on which {equal}",
        "Of the rubrics that two judges labelled, those on which they agree in this sense for every system",
    )
    shown = [rounded(float(share)) if known else UNKNOWN for share in shares]
    return Tiles(dict(zip(names, shown, strict=True)), dict(zip(names, helps, strict=True)))


def empty_cards() -> list[Card]:
    """Draw an empty card for each chip, with its name, so that the page continues while the chips are computed."""
    cards = []
    with st.container(horizontal=True, gap="small"):
        for name in PAGES:
            with st.container(border=True, width=184, height="stretch"):
                cards.append(Card(name, st.empty(), st.container()))
                cards[-1].head.markdown(f"**{name}**")
    return cards


def show_chips(study: loaders.Study, cards: Sequence[Card]) -> list[Chip]:
    """Compute and show the chips of the study; a chip that cannot be computed shows the reason.

    They are returned in the order of the pipeline, except that a chip which only refers to its page comes last.
    """
    counts, judged = loaders.facts(study).counts, study.reduction().judged
    chips: dict[str, Callable[[], Chip]] = {
        "Labels": lambda: health.labels_chip(
            int(counts["labels"]),
            float(counts["missing_share"]),
            judged["systems"],
            judged["queries"],
            loaders.findings(study.dataset.name, study.fingerprint),
            unlabelled=1 - counts["cells"] / max(counts["systems"] * counts["rubrics"], 1),
            cross_fitted=study.settings.cross_fitted,
        ),
        "Agreement": lambda: health.agreement_chip(
            study.given(),
            study.gating(),
            study.verdict(),
            (*study.consensus_warnings(), *study.judge_warnings()),
        ),
        "Model": lambda: health.model_chip(study.calibration()),
        "Bank": lambda: _bank_chip(study),
        "Board": lambda: health.board_chip(study.board(), study.claims()),
    }
    shown: list[Chip] = []
    for card in cards:
        shown.append(_show_chip(card, chips[card.name], {chip.sentence for chip in shown}))
    return sorted(shown, key=lambda chip: chip.sentence.endswith(UNKNOWN_WORTH))


def _show_chip(card: Card, make: Callable[[], Chip], told: set[str]) -> Chip:
    """Show the figure and state of a chip, and a link to its page. told: sentences of earlier chips, not repeated."""
    with card.rest:
        chip = _or_why_not(card.name, make)
        card.head.markdown(f"**{chip.name}** · {MARKS[chip.state]}")
        st.markdown(plain(chip.figure))
        st.caption("For the same reason." if chip.sentence in told else plain(chip.sentence))
        st.page_link(loaders.PAGES / f"{PAGES[chip.name]}.py", label=f"Open {PAGES[chip.name].capitalize()}")
    return chip


def _bank_chip(study: loaders.Study) -> Chip:
    """The chip of the bank. It is not "good" for a bank that leaves rubrics out, or from too few systems to test it.

    What a bank keeps for held-out systems is shown on the Bank page only: computing it takes several times as long as
    everything else here. A known result is not used either, so that the overview does not depend on which pages were
    opened before.
    """
    rubrics = study.given().rubrics["query"]
    covered, candidates = int(rubrics.iloc[study.bank()].nunique()), int(np.count_nonzero(study.candidates))
    chip = health.bank_chip(candidates, study.settings.budget, int(rubrics.nunique()), covered)
    if too_few_to_cross_fit(study.reduction().n_distinct):
        return replace(chip, state="look", sentence=f"{chip.sentence} {untested(study)}")
    if chip.state != "good" or candidates <= study.settings.budget:
        return chip
    told = f"{chip.sentence} {UNKNOWN_WORTH}" if study.verdict().holds else chip.sentence
    return replace(chip, state="look", sentence=told)


def _or_why_not(name: str, chip: Callable[[], Chip]) -> Chip:
    try:
        return chip()
    except CrubricError as error:
        return health.Chip(name, "none", "stop", str(error))
