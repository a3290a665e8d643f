"""What is here, and what is wrong with it?"""

import streamlit as st

from crubric_core.access import current_role
from crubric_core.analysis.calibration import all_alike
from crubric_core.analysis.health import overview_sentence
from crubric_core.analysis.warnings import unranked_warnings
from crubric_core.figures import overview as figures
from crubric_core.ui import loaders, table_widgets, tables, widgets
from crubric_core.ui.charts import drawn
from crubric_core.ui.overview import agreement_tiles, empty_cards, show_chips
from crubric_core.ui.page import open_study
from crubric_core.ui.text import UNKNOWN, count, plain, rounded, verb
from crubric_core.ui.tour import show_tour

study = open_study("Overview", settings=False)
facts, reduction = loaders.facts(study), study.reduction()
counts, shares = facts.counts, loaders.shares(study)
instances = counts["systems"] * counts["rubrics"]

found = reduction.judged
judged = (
    f"{count(found['systems'], 'system')} {verb(found['systems'], 'were')} judged on "
    f"{count(found['rubrics'], 'rubric')} of {count(found['queries'], 'query')} by "
    f"{count(int(counts['judges']), 'judge')}."
)
study.answer(judged)
if reduction.pass_marks:
    st.caption(plain(" ".join(reduction.pass_marks)))
cards = empty_cards()
show_tour(editor=current_role() == "editor")
agreed = agreement_tiles(reduction, study.settings.agreement_tolerance)
widgets.notes(unranked_warnings(reduction))  # all else is in the chips
widgets.figures_row(
    {
        "Labels": f"{counts['labels']:,}",
        "Scale": f"{facts.scale.minimum:g} to {facts.scale.maximum:g}" if facts.scale else UNKNOWN,
        "Judged by all": rounded(counts["cells_full_panel"] / instances),
        **agreed.figures,
        "Same for all": rounded(shares.constant),
    },
    {
        "Judged by all": "Pairs of system and rubric that every judge labelled",
        **agreed.helps,
        "Same for all": f"Rubrics on which {all_alike(study.settings.model)}: they separate no systems",
    },
)

if not study.dataset.has_labels:
    st.info(
        "Shares by judge need every judge's labels: a Spark session has them, the workspace has only tallies."
    )
else:
    ranges = figures.RANGES if counts["systems"] > figures.MOST_SYSTEMS else ""
    left, right = st.columns(2, gap="large")
    with left:
        widgets.show(
            drawn(figures.judge_shares, shares.means, facts.systems, facts.judges, "share passed"),
            alt="Share of rubrics that each judge passes, by system",
            title="How lenient each judge is" if counts["judges"] > 1 else "Share of rubrics passed",
            look=ranges,
        )
    with right:
        if counts["missing_share"]:
            widgets.show(
                drawn(figures.judge_shares, shares.missing, facts.systems, facts.judges, "share missing"),
                alt="Share of rubrics without a label of each judge, by system",
                title="Missing labels by judge",
                look=ranges,
            )
        else:
            st.markdown("**Missing labels by judge**")
            st.write("None: every judge labelled every system on every rubric.")

st.markdown("**Next**")
with st.container(horizontal=True):
    st.page_link(
        loaders.PAGES / "measurability.py",
        label="Which rubrics do judges apply alike?",
        icon=":material/arrow_forward:",
    )
    st.page_link(
        loaders.PAGES / "leaderboard.py", label="Who is really ahead?", icon=":material/arrow_forward:"
    )

with st.expander("All datasets of this workspace"):
    table_widgets.table(loaders.datasets(), tables.DATASETS)

# Last: until here the browser has all else to draw.
study.answer(overview_sentence(show_chips(study, cards)), judged)
