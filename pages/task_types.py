"""How is each query scored?"""

from crubric_core.ui import widgets
from crubric_core.ui.page import open_study
from crubric_core.ui.task_types import types as task_type_views
from crubric_core.ui.task_types.sections import SECTIONS, show_message
from crubric_core.ui.text import count

study = open_study("Task types", show_tau_t=True)
table = task_type_views.typed(study)
below, unclassified = ((table["status"] == status).sum() for status in ("below τ_t", "no type"))
by_type = len(table) - below - unclassified

if unclassified == len(table):
    none = (
        f"None of {len(table):,} queries has a type: all are"
        if len(table) != 1
        else "The query has no type: it is"
    )
    study.answer(f"{none} scored pass or fail.", "Use Classify to give queries a type.")
else:
    reasons = {
        f"below τ_t = {study.settings.tau_t:.2f}": below,
        "without a type": unclassified,
    }
    others = " and ".join(f"{n:,} {why}" for why, n in reasons.items() if n)
    study.answer(
        f"{by_type:,} of {count(len(table), 'query', 'queries')} are scored by the rules of their type"
        + (f"; {others} by pass or fail." if others else "."),
        *([task_type_views.NO_EFFECT] if by_type and not task_type_views.rules_can_act(study) else []),
    )
show_message()

SECTIONS[widgets.choose_one("View", tuple(SECTIONS), "view")](study, table)
