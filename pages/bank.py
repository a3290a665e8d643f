"""How few rubrics are enough?"""

import numpy as np
import streamlit as st

from crubric_core.analysis.selection import query_positions
from crubric_core.analysis.stages import FINE
from crubric_core.analysis.tables import bank_table
from crubric_core.analysis.warnings import fit_warnings
from crubric_core.figures import bank as figures
from crubric_core.ui import loaders, state, tables, widgets
from crubric_core.ui.page import open_study
from crubric_core.ui.text import count

study = open_study("Bank")
facts, reduction, fitted = loaders.facts(study), study.reduction(), study.calibration()
feasible = study.measurability()["feasible"].to_numpy()
bank, pool = study.bank(), np.flatnonzero(study.pool)
share, size = study.coverage(), len(bank)
proven = study.certificate()
table = bank_table(facts.queries, reduction, fitted, study.order(), study.settings)

study.answer(
    f"{size:,} of {count(len(pool), 'candidate')} cover {share[size - 1]:.1%} of what all of them cover together:",
    f"proven at least {proven:.1%} of the best possible bank of that size.",
)
widgets.notes(fit_warnings(fitted, feasible, study.settings))

theta, totals = fitted.fit.theta, loaders.totals(study)
errors = [np.median(np.interp(theta, FINE, total)) ** -0.5 for total in totals.values()]
positions = query_positions(facts.queries, reduction)
per_query = np.bincount(positions[bank], minlength=len(facts.queries))
widgets.figures_row(
    {
        "Rubrics for 90%": f"{np.searchsorted(share, 0.90) + 1:,}",
        "Rubrics for 95%": f"{np.searchsorted(share, 0.95) + 1:,}",
        "Rubrics for 99%": f"{np.searchsorted(share, 0.99) + 1:,}",
        "Error of θ, bank": f"{errors[0]:.2f}",
        "Error of θ, all": f"{errors[1]:.2f}",
        "Queries heard": f"{(per_query > 0).mean():.0%}",
    },
    {
        "Rubrics for 90%": "How many rubrics cover 90% of what all candidates cover together",
        "Error of θ, bank": "Standard error of a middling system's ability from the bank alone",
        "Error of θ, all": "The same from all rubrics that pass",
        "Queries heard": "Queries that have a rubric in the bank",
    },
)

left, right = st.columns(2, gap="large")
with left:
    widgets.show(
        figures.gain_curve(share, study.certificates(), study.settings.budget),
        alt="Coverage by bank size",
        title="What the next rubric still adds",
    )
    widgets.show(
        figures.information_totals(FINE, totals, theta),
        alt="Test information of the bank and of all rubrics that pass",
        title="Test information",
    )
with right:
    compared = {words: study.coverage(name) for name, words in state.STRATEGIES.items()}
    widgets.show(
        figures.strategies(compared, study.settings.budget),
        alt="Coverage by bank size for four ways of choosing",
        title="Beside other ways of choosing",
    )
    widgets.show(
        figures.standard_errors(FINE, totals, theta),
        alt="Standard error of ability, bank and all rubrics that pass",
        title="Standard error",
    )
left, right = st.columns([3, 2], gap="large")
with left:
    st.markdown("**The bank**")
    widgets.table(table, tables.BANK, height=340)
    widgets.download("Download bank.csv", table, "bank.csv")
with right:
    widgets.show(
        figures.query_coverage(per_query, np.bincount(positions[pool], minlength=len(per_query))),
        alt="Queries by the number of their rubrics in the bank",
        title="Is every query heard?",
    )
