"""The bank of a study as a file to take away: bank.json and its exports."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from ..analysis.reference import reference_on_pool
from ..placement.bank_file import NAME, bank_bytes
from ..placement.bank_scale import BankScale, make_bank_scale
from . import loaders

if TYPE_CHECKING:
    from .page import StudyPage


def bank_scale_of_study(study: StudyPage) -> BankScale:
    """The bank that the page shows, as a scale to place systems on."""
    return make_bank_scale(
        study.dataset.name,
        study.fingerprint,
        study.settings,
        loaders.facts(study).judges,
        study.queries(),
        study.reduction(),
        study.calibration().fit,
        study.bank(),
        study.calibration().spread,
        reference_on_pool(study.reduction(), study.ranking_on(study.pool)),
        study.panel(),
        study.transfer(),
    )


def download_bank(study: StudyPage) -> None:
    """A button for bank.json, written when it is clicked."""
    st.download_button(
        "Download bank.json",
        lambda: bank_bytes(bank_scale_of_study(study)),
        NAME,
        "application/json",
        on_click="ignore",
        key="download bank.json",
        help="All that placing a new system needs: rubrics with their parameters, and the systems of this study",
    )
