"""Download the bank of a study: bank.json and its exports for other tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from ..analysis.reference import reference_on_pool
from ..errors import ExportError
from ..files import zip_bytes
from ..placement.bank_file import NAME, bank_bytes
from ..placement.bank_scale import BankScale, BankSource, make_bank_scale
from ..placement.formats import EXPORTS
from . import loaders
from .text import plain

FORMS = {
    "csv": "a spreadsheet (CSV)",
    "healthbench": "HealthBench",
    "autorubric": "autorubric",
    "promptfoo": "promptfoo",
    "inspect": "Inspect",
}

if TYPE_CHECKING:
    from .page import StudyPage


def bank_scale_of_study(study: StudyPage) -> BankScale:
    """The bank that the page shows, as a scale on which new systems are placed."""
    judges = loaders.facts(study).judges
    return make_bank_scale(
        BankSource(study.dataset.name, study.fingerprint, study.settings, judges, study.queries()),
        study.reduction(),
        study.calibration(),
        study.bank(),
        reference_on_pool(study.reduction(), study.ranking_on(study.pool)),
        study.panel() if study.dataset.has_labels else None,
        study.transfer(),
        study.person_fit(),
    )


def download_bank(study: StudyPage) -> None:
    """A button that downloads bank.json, which is made when it is clicked."""
    st.download_button(
        "Download bank.json",
        lambda: bank_bytes(bank_scale_of_study(study)),
        NAME,
        "application/json",
        on_click="ignore",
        key="download bank.json",
        help="Everything needed to place a new system: rubrics with their parameters, and the systems of this study",
    )


def download_form(study: StudyPage) -> None:
    """Choose a tool and download the bank in its format."""
    form = st.selectbox(
        "The bank for another tool",
        list(EXPORTS),
        index=None,
        format_func=FORMS.__getitem__,
        placeholder="choose a tool",
        width=300,
        key="bank form",
        help="Each file contains the rubrics' ids, so the New system page can read the results",
    )
    if form is None:
        return
    try:
        found = EXPORTS[form](bank_scale_of_study(study))
    except ExportError as error:
        st.error(plain(str(error)))
        return
    name, content = next(iter(found.items())) if len(found) == 1 else (f"bank-{form}.zip", zip_bytes(found))
    st.download_button(f"Download {name}", content, name, on_click="ignore", key=f"download form {form}")
