"""Who is really ahead?"""

import numpy as np
import pandas as pd
import streamlit as st

from crubric_core.analysis.warnings import saturation_warnings
from crubric_core.figures import leaderboard as figures
from crubric_core.ui import tables, widgets
from crubric_core.ui.page import open_study
from crubric_core.ui.text import plain

study = open_study("Leaderboard")
reduction = study.reduction()
as_if_new = study.settings.basis == "bank"
both = as_if_new and st.toggle(
    "Also show all rubrics that pass", value=True, key="beside", bind="query-params"
)
ranked, full = study.ranking(), study.ranking_on(study.pool)
table = ranked.table[ranked.table["rank"].notna()]
at = pd.Index(reduction.systems).get_indexer(pd.Index(table["system"]))
systems, standing = table["system"].tolist(), ranked.standing
widgets.notes(saturation_warnings(ranked))
said = study.claims()
study.answer(*said.headline)
st.caption(plain(" ".join((*said.basis, *said.beside))))
st.caption(plain(" ".join(said.reading)))

estimate = figures.Estimate(*(table[c].to_numpy() for c in ("theta", "theta_low", "theta_high")))
everything = full.table.set_index("system").loc[systems]
other = figures.Estimate(*(everything[c].to_numpy() for c in ("theta", "theta_low", "theta_high")))

widgets.show(
    figures.forest(systems, estimate, table["tier"].to_numpy(dtype=int), other if both else None),
    alt="Abilities with intervals in tier bands",
)
widgets.table(table, tables.LEADERBOARD, height=38 + 35 * len(table))
widgets.download("Download leaderboard.csv", ranked.table, "leaderboard.csv")

ranks, pairs, scores = st.tabs(["Ranks", "Pairs", "Scores, and all rubrics"])
with ranks:
    left, right = st.columns(2, gap="large")
    with left:
        widgets.show(
            figures.rank_intervals(
                systems, *(table[c].to_numpy(dtype=int) for c in ("rank", "rank_low", "rank_high"))
            ),
            alt="Rank of each system with its interval",
            title="Rank intervals",
        )
    with right:
        widgets.show(
            figures.rank_probability(systems, standing.rank_probability[at]),
            alt="Probability that each system is among the first k",
            title="Probability of being among the first k",
        )
with pairs:
    widgets.show(
        figures.separation_matrix(
            systems, standing.ahead[np.ix_(at, at)], standing.separated[np.ix_(at, at)]
        ),
        alt="Probability that the row is ahead of the column",
        title="Who is ahead of whom? A dot: the pair is separated",
    )
with scores:
    left, right = st.columns(2, gap="large")
    with left:
        widgets.show(
            figures.score_against_ability(systems, estimate.value, table["score"].to_numpy()),
            alt="Score against ability",
            title="Score against ability",
        )
    if as_if_new:
        with right:
            widgets.show(
                figures.bank_against_pool(systems, estimate.value, other.value),
                alt="Ability from the bank against ability from all rubrics that pass",
                title="The bank compared with all rubrics that pass",
            )
