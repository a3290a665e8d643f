"""Who is really ahead?"""

from dataclasses import replace

import streamlit as st

from crubric_core.analysis.board import explanations
from crubric_core.analysis.claims import Claims
from crubric_core.analysis.warnings import ranking_warnings
from crubric_core.ui import widgets
from crubric_core.ui.leaderboard import board
from crubric_core.ui.nothing_passes import nothing_passes
from crubric_core.ui.page import open_study
from crubric_core.ui.parts import part
from crubric_core.ui.settings_bar import basis_switch
from crubric_core.ui.text import plain

study = open_study("Leaderboard")
if nothing_passes(study):
    st.stop()


def standing() -> None:
    """Who is ahead, what that rests on, and the board."""
    now = study.now()
    rests_on = st.container()

    def told() -> Claims:
        """The claims, written anew by each run of the board, or they would go with the run that wrote them.

        They take longer than the chart that is drawn before them.
        """
        said = now.claims()
        below = (*explanations(now.board()), *now.reduction().pass_marks)
        now.answer(*said.headline)
        with rests_on:
            widgets.notes(ranking_warnings(now.ranking(), now.settings))
            st.caption(plain(" ".join(sentence for sentence in said.basis if sentence not in below)))
        return replace(said, reading=(*said.reading, *below))

    if not now.by_score:
        with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
            basis_switch()
            if now.settings.basis == "bank":
                widgets.toggle("Also show all rubrics that pass", "beside", value=True)
    board.show(now, told)


part("standing", standing, ("tau_c", "budget"))
