"""Ask for rules in place of columns: a pattern, a regular expression or a path, tested on the first rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from ...errors import IngestError
from ...labels.readers.columns.specs import SPECS, Kind
from ...labels.readers.trial import try_rule
from ..text import count, plain, shorten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...labels.readers.plan import FilePlan
    from ...labels.readers.trial import RuleTrial
    from .batch import Batch

SHOWN = 8  # texts of each kind that are shown
LONGEST = 200
_FORMS = (
    r"`reply =~ Score:\s*(\d)` takes the first group of a regular expression, `reply -> verdict.score` a path into the "
    "JSON that a text holds, `id ~ {system}_{query}` a part of a column, `~ {judge}×{rubric}` a part of the "
    "names of columns with labels, `scores[].value` or `scores{}.#` a path into JSON records."
)


def rules_of(guess: FilePlan) -> dict[str, str]:
    """Canonical column → rule, for the columns of the mapping that are found by a rule."""
    return {
        c: v
        for c, v in guess.mapping.items()
        if isinstance(v, str) and v and not v.startswith("=") and v not in guess.columns
    }


def ask(batch: Batch, key: str, guess: FilePlan, kind: Kind, hidden: Sequence[str]) -> dict[str, str]:
    """Ask for rules and test them; return canonical column → rule. hidden: columns that are not offered."""
    there = rules_of(guess)
    options = [c for c in SPECS[kind].columns if c not in hidden]
    with st.expander("Find a column by a rule", expanded=bool(there)):
        wanted = st.multiselect(
            "Columns found by a rule",
            options,
            [c for c in there if c in options],
            key=f"rules {key}",
            placeholder="none",
        )
        st.caption(_FORMS)
        found = {}
        for canonical in wanted:
            rule = st.text_input(
                f"Rule for {canonical}", there.get(canonical, ""), key=f"rule {key} {canonical}"
            ).strip()
            if rule:
                found[canonical] = rule
                _try(batch, guess, canonical, rule)
    return found


def _try(batch: Batch, guess: FilePlan, canonical: str, rule: str) -> None:
    """Show how many of the first rows, or of the columns, the rule matches, with matches and misses as examples."""
    try:
        trial = batch.once(
            ("rule", guess.name, canonical), rule, lambda: try_rule(batch.kept, guess, canonical, rule)
        )
    except IngestError as error:
        st.error(plain(str(error)))
        return
    if not trial.rows:
        st.caption("That is a column's name, not a rule.")
        return
    tried = count(trial.rows, trial.of)
    st.caption(f"It understands {len(trial.hits):,} of {'the first ' * (trial.of == 'row')}{tried}.")
    st.dataframe(_examples(trial), hide_index=True)


def _examples(trial: RuleTrial) -> pd.DataFrame:
    """Texts that the rule does not match, then matches with their values; each text once."""
    misses = [(text, "not understood") for text in dict.fromkeys(trial.misses)]
    hits = list(dict.fromkeys(trial.hits))
    rows = [
        (shorten(text, LONGEST), shorten(value, LONGEST)) for text, value in misses[:SHOWN] + hits[:SHOWN]
    ]
    return pd.DataFrame(rows, columns=["text", "gives"])
