"""Ask how to read ambiguous values, in plain words; no choice is made silently."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from ...labels.readers.plan import Options
from ...labels.readers.policies import Policies
from ..text import count, plain

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from ...labels.ingest.report import IngestReport
    from ...labels.readers.plan import Plan
    from .batch import Batch

# policy → (question, explanation, value → words); the default comes first
CHOICES: Mapping[str, tuple[str, str, Mapping[Any, str]]] = {
    "on_conflict": (
        "Rows that contradict each other, or what is stored",
        "Two labels of one judge, or without a named judge, for the same system and rubric, such as two runs.",
        {
            "reject": "reject them",
            "last": "keep the later one",
            "first": "keep the earlier one",
            "runs": "number them: repeated draws, or raters without names",
        },
    ),
    "fractions": (
        "A label between two levels, such as 3.5",
        "Labels are whole levels.",
        {"reject": "reject it", "down": "round down", "up": "round up"},
    ),
    "multiply": (
        "Labels come in steps of",
        "Quarters such as 0.75 become levels 0 to 4 when all labels and scale ends are multiplied by 4.",
        {1: "1", 2: "½", 4: "¼", 5: "0.2", 10: "0.1", 100: "0.01"},
    ),
    "threshold": (
        "Continuous scores count as met",
        "Scores such as 0.83 become 1 from here on, 0 below.",
        {None: "never: they are levels", 0.5: "from 0.5", 0.6: "from 0.6", 0.7: "from 0.7", 0.8: "from 0.8"},
    ),
    "bins": (
        "Continuous scores in equal steps",
        "Scores of 0 to 1, 10 or 100, or of a range that you give, become levels 0, 1, 2 …",
        {0: "no", 2: "2", 3: "3", 5: "5", 10: "10"},
    ),
    "zero": (
        "A label of 0 means",
        "Some tools write 0 where the judge gave no label.",
        {"label": "the label 0", "unknown": "not applicable, no label"},
    ),
    "off_scale": (
        "A label beyond its rubric's scale",
        "Such as 6 where the table of rubrics says 1 to 5.",
        {"reject": "reject it", "clip": "use the nearest end of the scale"},
    ),
    "polarity": (
        "The best label is",
        "Less is better on scales such as 1 (excellent) to 5 (poor): labels are kept as given and count reversed.",
        {0: "the highest", -1: "the lowest", 1: "the highest, whatever names of levels say"},
    ),
    "apostrophes": (
        "An apostrophe before =, +, - or @",
        "Spreadsheets and safe exports put one before text that could be taken for a formula.",
        {"keep": "belongs to the text", "strip": "remove it"},
    ),
}
# code of a finding → the policy that decides it
DECIDED_BY = {
    "conflict": "on_conflict",
    "fraction": "fractions",
    "off_scale": "off_scale",
    "disarmed": "apostrophes",
    "text": "answers",
    "verdict": "answers",
}
WORDS = "Words in place of labels"
RANGE = "Range of the scores"
SEVERITIES = {"critical": -8.0, "moderate": -4.0}
UNKNOWN_WORD = "unknown"
_OFFERED = {
    "threshold": "from {:g}",
    "multiply": "1/{}",
    "bins": "{}",
}  # words for a value that an error message proposes
_PROPOSED = re.compile(r"policy (threshold|bins|multiply)=([\d.]*\d)")
_NUMBER_OR_UNKNOWN = r"^\s*(-?\d{1,6}(\.\d{1,6})?|[Uu]nknown)?\s*$"


def question_of(policy: str) -> str:
    """The question on the page that a policy answers."""
    return {"answers": WORDS, "scales": "Scales", "pass_marks": "Pass marks"}.get(policy) or CHOICES[policy][
        0
    ]


def ask(batch: Batch, plan: Plan) -> tuple[Plan, Policies]:
    """Ask for the choices; return the plan with those that belong to it, and the policies."""
    words = _words(batch, plan)
    with st.expander(
        "Ambiguous values: how to read them", expanded=bool(words or batch.rows or batch.offered)
    ):
        values = {}
        names = list(CHOICES)
        for row in range(0, len(names), 3):
            for place, name in zip(st.columns(3), names[row : row + 3], strict=False):
                question, about, answers = CHOICES[name]
                if (value := batch.offered.get(name)) is not None and value not in answers:
                    answers = {**answers, value: _OFFERED[name].format(value)}
                values[name] = place.selectbox(
                    question,
                    list(answers),
                    format_func=answers.__getitem__,
                    key=f"policy {name} {batch.key}",
                    help=about,
                )
                if name in batch.rows:
                    place.caption(f"{count(batch.rows[name], 'row')} here")
        ends = _ask_ends(batch) if values["bins"] else {}
        answered = _ask_words(batch, words) if words else {}
        if any("rubrics" in file.tables for file in plan.files if not file.skip):
            plan = replace(plan, options=_ask_severity(batch))
    polarity = {"*": sign} if (sign := values.pop("polarity")) else {}
    return plan, Policies(
        **values, answers=answered, scales=ends | batch.scales, pass_marks=batch.marks, polarity=polarity
    )


def ask_about(batch: Batch, tried: IngestReport) -> None:
    """Rerun the page with questions that a trial reading raised: choices that affect rows, words without a label."""
    rows = dict(tried.applied)
    for finding in tried.checks:
        if finding.code in DECIDED_BY:
            name = DECIDED_BY[finding.code]
            rows[name] = rows.get(name, 0) + finding.count
    rows = {name: number for name, number in rows.items() if name in CHOICES}
    unread = [
        str(value)
        for finding in tried.checks
        if finding.code in ("text", "verdict", "code") and finding.severity == "error"
        for value in finding.examples["value"].dropna().unique()
    ]
    below = [
        str(v) for f in tried.checks if f.code == "negative_level" for v in f.examples["lowest"].unique()
    ]
    asked = dict.fromkeys(unread, "") | {number: number for number in below}  # a number stands for itself
    new = {word: text for word, text in asked.items() if word.strip() and word not in batch.answers}
    if new or rows != batch.rows:
        batch.answers |= new
        batch.rows = rows
        st.rerun()


def offer(batch: Batch, refusal: str) -> None:
    """If an error message proposes a value of a policy, add it to the policy's options and rerun the page."""
    found = {
        name: float(value) if name == "threshold" else int(value)
        for name, value in _PROPOSED.findall(refusal)
    }
    if found and found != batch.offered:
        batch.offered = found
        st.rerun()


def _ask_ends(batch: Batch) -> dict[str, tuple[int | None, int | None]]:
    """Ask for the range that is divided into steps: {"*": (low, high)}, or {} to take it from the scores."""
    low, high = (
        place.number_input(f"{RANGE}, {end}", value=None, step=1, key=f"range {end} {batch.key}")
        for place, end in zip(st.columns(3), ("from", "to"), strict=False)
    )
    return {} if low is None or high is None else {"*": (int(low), int(high))}


def ask_words(batch: Batch, words: Collection[str]) -> None:
    """If there are new words among the labels, rerun the page, which then asks for their meaning."""
    new = [word for word in words if word.strip() and word not in batch.answers]
    if new:
        batch.answers |= dict.fromkeys(new, "")
        st.rerun()


def _words(batch: Batch, plan: Plan) -> dict[str, str]:
    """Word found in place of a label → its label as text, as recognised or as the user gave it."""
    found = {w: level for file in plan.files if not file.skip for w, level in file.words.items()}
    defaults = {word: UNKNOWN_WORD if level is None else f"{level:g}" for word, level in found.items()}
    return defaults | batch.answers


def _ask_words(batch: Batch, words: dict[str, str]) -> dict[str, float | None]:
    """Ask for the meaning of words: word → label, None for unknown; words without an answer are left out."""
    st.markdown(f"**{WORDS}**")
    st.caption(
        "Each stands for a label (a number), or for “unknown”. Rows with a word that has no number are rejected."
    )
    start = batch.once(
        "words",
        tuple(words),
        lambda: pd.DataFrame({"word": list(words), "stands for": list(words.values())}, dtype=object),
    )
    rows = st.data_editor(
        start,
        column_config={
            "word": st.column_config.TextColumn("word", disabled=True),
            "stands for": st.column_config.TextColumn(
                "stands for", validate=_NUMBER_OR_UNKNOWN, help="A number, or: unknown"
            ),
        },
        hide_index=True,
        width=420,
        key=f"words {batch.key} {len(words)}",
        alt="Words found in place of labels, and the label of each",
    )
    meant = {str(word): str(level or "").strip().lower() for word, level in rows.itertuples(index=False)}
    batch.answers |= {word: text for word, text in meant.items() if text != words.get(word)}
    return {
        word: None if text == UNKNOWN_WORD else float(text)
        for word, text in meant.items()
        if text not in ("", word) and word.strip()
    }


def _ask_severity(batch: Batch) -> Options:
    """Ask from which points a rubric has which severity; default Options() if the user does not turn it on."""
    wanted = st.toggle(
        "Severity of rubrics from their points",
        key=f"severity from points {batch.key}",
        help="For files that give points but no severity. A severity in the file is kept.",
    )
    if not wanted:
        return Options()
    points = {
        name: place.number_input(
            plain(f"{name} from points of"),
            value=start,
            step=1.0,
            key=f"points {name} {batch.key}",
        )
        for place, (name, start) in zip(st.columns(3), SEVERITIES.items(), strict=False)
    }
    st.caption("A negative number applies to points at or below it, a positive one to points at or above it.")
    return Options(points)
