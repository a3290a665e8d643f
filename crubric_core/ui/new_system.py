"""Place a new system on the bank of a study: choose its labels, show its place and what to judge next."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st

from ..analysis.columns import ABILITY, LEADERBOARD, SCORE
from ..analysis.stage import Key
from ..errors import CrubricError
from ..experiments.hold_out import hold_out
from ..figures.placement import placement_forest, rank_chances
from ..labels.repeated_systems import copies_once
from ..leaderboard.cross_fit import FEW_SYSTEMS, too_few_to_cross_fit
from ..placement.bank_scale import BankScale
from ..placement.formats.table import form_table
from ..placement.new_labels import NewLabels, read_new_labels
from ..placement.notes import why_unranked
from ..placement.place import WHOLE, Placed
from . import judging, loaders, state, table_widgets, widgets
from .bank_file import bank_scale_of_study, download_bank
from .tables import configured
from .text import count, end, plain, short_name, verb

if TYPE_CHECKING:
    from streamlit.runtime.uploaded_file_manager import UploadedFile

    from ..placement.abilities import Placement
    from .page import StudyPage

FILE, JUDGED, HELD_OUT = "file", "judges", "held-out system"
_number = st.column_config.NumberColumn
NEXT = {
    "rubric": "rubric",
    "query": "query",
    "expected_information": _number("information", format="%.3f", help="Expected information of a label"),
    "text": st.column_config.TextColumn("text", width="large"),
}
UNUSED = {name: name for name in ("system", "query", "rubric", "judge", "label", "reason")}
PLACED = {
    **{
        name: configured(LEADERBOARD[name])
        for name in ("system", "rank", "rank_low", "rank_high", "tier", "theta", "theta_low", "theta_high")
    },
    "answered": _number("labels", help="Rubrics of the bank with a label that counts"),
    "person_fit": _number(
        "person fit", format="%.1f", help="lz*: if far below 0, the labels do not follow the model"
    ),
}


def choose(study: StudyPage) -> tuple[BankScale, NewLabels] | None:
    """Ask for the source of the labels; return the bank and the labels, or None while there are no labels."""
    left, right = st.columns([2, 3], gap="large", vertical_alignment="top")
    with left:
        sources = [FILE, *([JUDGED] if judging.configured() else []), HELD_OUT]
        source = widgets.choose_one("Its labels come from", sources, "source")
    if source == HELD_OUT:
        systems = list(study.reduction().systems)
        state.check_choices("held_out", systems)
        state.drop_unknown("held_out", systems, systems[0])
        name = right.selectbox("System", systems, key="held_out", bind="query-params")
        if study.settings.composition is not None:
            right.caption(
                "Its bank is the one that the strategy chooses without it: nothing is composed by hand."
            )
        return _held_out((study.fingerprint, study.dataset.name, study.settings, name), study, name)
    bank_scale = bank_scale_of_study(study)
    if source == JUDGED and (judges := judging.configured()) is not None:
        with right:
            judged = judging.labels_of(bank_scale, judges, len(study.reduction().rubrics))
        return None if judged is None else (bank_scale, judged)
    file = right.file_uploader("Labels of new systems on the bank's rubrics", key="new labels")
    with left:
        table_widgets.download(
            "Download the bank as a form to fill in", form_table(bank_scale), "bank_form.csv"
        )
        st.caption(
            "Fill in `label`, and `judge` if there are several. You can also upload any file that the Data page "
            "reads. Keep the ids in `rubric`."
        )
        download_bank(study)
    if file is None:
        return None
    try:
        return bank_scale, _read(
            (study.fingerprint, study.dataset.name, study.settings, file.file_id), bank_scale, file
        )
    except CrubricError as error:
        st.error(plain(_on_page(str(error))))
        return None


def _on_page(sentence: str) -> str:
    """An error message for the page: without options of the command line, since the user corrects the file here."""
    for option, words in (
        (" (--allow-unused)", ", which you take out of it"),
        ("say what it stands for (--answer WORD=LABEL)", "write the label in its place"),
        ("correct the file or the column mapping", "correct the file"),
    ):
        sentence = sentence.replace(option, words)
    return sentence


@st.cache_resource(max_entries=loaders.FEW, show_spinner="Choosing the bank without it …")
def _held_out(key: Key, _study: StudyPage, _system: str) -> tuple[BankScale, NewLabels]:
    return _study.checked(hold_out(_study.dataset, _study.settings, _system))


@st.cache_resource(max_entries=loaders.FEW, show_spinner="Reading the labels …")
def _read(key: Key, _bank_scale: BankScale, _file: UploadedFile) -> NewLabels:
    _file.seek(0)
    return read_new_labels(_bank_scale, _file, name=_file.name)


def notes(found: Placed) -> list[str]:
    """The notes on the placement, with long names of systems shortened."""
    said = list(found.notes)
    for name in filter(lambda name: short_name(name) != name, found.systems):
        said = [note.replace(name, short_name(name)) for note in said]
    return said


def may_claim(study: StudyPage, bank_scale: BankScale) -> bool:
    """Whether a rank and a tier may be claimed. If the bank does not allow it, the notes give the reason."""
    return study.verdict().holds and not why_unranked(bank_scale)


def answer(study: StudyPage, bank_scale: BankScale, system: str, placed: Placement) -> None:
    """Answer the page's question: the tier and rank of the system, or why they are not claimed."""
    standing, name = placed.standing, short_name(system)
    if not may_claim(study, bank_scale):
        verdict, once = study.verdict(), copies_once(bank_scale.n_distinct, len(bank_scale.systems))
        why = f"The bank was made from {count(bank_scale.n_distinct, 'system')}{once}, fewer than {FEW_SYSTEMS}."
        if not too_few_to_cross_fit(bank_scale.n_distinct):
            why = "It is compared only by a bootstrap of the bank's rubrics, which often separates equal systems."
        study.answer(f"No claim about where {name} stands.", why if verdict.holds else verdict.sentence)
        return
    if np.isnan(standing.rank[-1]):
        study.answer(f"{name} cannot be ranked by its {count(placed.answered, 'label')} on the bank.")
        return
    low, high = int(standing.rank_low[-1]), int(standing.rank_high[-1])
    which = f"between {low} and {high}" if low < high else "the only rank that its comparisons allow"
    ranked = int(np.isfinite(standing.rank).sum())
    study.answer(
        f"{name} is in tier {int(standing.tier[-1])} of {int(np.nanmax(standing.tier))}, at rank "
        f"{int(standing.rank[-1])} of {ranked} ({which}), on {count(placed.answered, 'rubric')} of the bank."
    )


def comparison(study: StudyPage, system: str) -> None:
    """Show the place of a held-out system on the leaderboard made with its labels, for comparison."""
    table = study.ranking().table.set_index("system")
    row = table.loc[system]
    what, columns, scale = "score", SCORE, ""
    if not study.by_score:
        what, columns = "θ", ABILITY
        scale = " Origin and unit of θ are those of the systems that a bank was made from."
    value, low, high = table.loc[[system], list(columns)].to_numpy(dtype=np.float64)[0]
    if pd.notna(row["rank"]) and study.verdict().holds:
        st.caption(
            f"On the leaderboard, made with its labels, it has rank {row['rank']:.0f} in tier {row['tier']:.0f} with "
            f"{what} {end(value)} [{end(low)}, {end(high)}].{scale}"
        )


def show(study: StudyPage, bank_scale: BankScale, found: Placed, n: int) -> None:
    """Show the placement of the n-th system of ``found``, and what to judge next."""
    system, placed = found.systems[n], found.placements[n]
    holds = may_claim(study, bank_scale)
    if holds and np.isfinite(placed.standing.rank[-1]):
        left, right = st.columns([3, 2], gap="large")
        with left:
            widgets.show(
                placement_forest([*bank_scale.systems, system], placed),
                alt="Abilities with intervals in tier bands, the new system among them",
                title="Compared with the other systems",
            )
        with right:
            _chances(system, placed)
    table = found.table if holds else found.table.drop(columns=[*WHOLE]).reindex(columns=found.table.columns)
    table_widgets.table(table, PLACED)
    table_widgets.download("Download placement.csv", table, "placement.csv")
    if len(found.unused):
        st.markdown("**Labels that are not used**")
        table_widgets.table(found.unused, UNUSED, rows=8)
        table_widgets.download("Download unused.csv", found.unused, "unused.csv")
    following = found.next_best[n]
    missing = len(bank_scale.rubrics) - placed.answered
    st.markdown("**What to judge next**")
    if following.empty:
        leaves_out = study.settings.budget <= len(bank_scale.rubrics) < np.count_nonzero(study.candidates)
        larger = "; only a larger bank could" if leaves_out else ""
        st.write(f"No further rubric of this bank could place it better{larger}.")
        return
    st.caption(
        f"{missing:,} of the bank's {count(len(bank_scale.rubrics), 'rubric')} {verb(missing, 'have')} no label of "
        "this system that counts: none at all, or a tie of the judges. The most informative come first."
    )
    table_widgets.table(following, NEXT, rows=10)
    table_widgets.download("Download next_best.csv", following, "next_best.csv")


def _chances(system: str, placed: Placement) -> None:
    """Chart of the probability that the system is among the first k; a note if it is unknown."""
    if np.isnan(placed.standing.rank_probability[-1]).all():
        st.caption(
            "The probability of being among the first k is not known: the bank's systems were labelled by different "
            "judges."
        )
        return
    widgets.show(
        rank_chances(system, placed),
        alt="Probability that the new system is among the first k",
        title="Its probability of being among the first k",
        look="A small bank often pulls an ability towards the middle: a strong system is more often among the first "
        "than this shows, a weak one less often.",
    )
