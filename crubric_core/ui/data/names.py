"""Ask for the system and judge of each file: by a pattern of file names, and in a table that can be edited."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from ...labels.readers.columns.specs import SPECS
from ...labels.readers.formats.native import NATIVE
from ..text import UNKNOWN
from .files import changed, constants

if TYPE_CHECKING:
    from ...labels.readers.plan import FilePlan, Plan
    from .batch import Batch

NAMES = ("system", "judge", "run", "annotator")


def pattern_of(batch: Batch) -> str | None:
    """The pattern that the user has typed; None if it is empty or not typed."""
    typed = st.session_state.get(f"pattern {batch.key}")
    return typed.strip() or None if isinstance(typed, str) else None


def ask(batch: Batch, base: Plan, plan: Plan) -> Plan:
    """Ask which files to read and for the names in them; return the plan with the answers.

    base: the plan as recognised.
    """
    asked = [n for n in NAMES if any(_can_be_named(file, n) for file in plan.files if not file.skip)]
    if len(plan.files) < 2 and not asked:
        return plan
    optional = len(plan.files) < 2 and asked == ["run"]
    with st.expander("Run of this file") if optional else st.container(border=True):
        if not optional:
            st.markdown("**Files**" if not asked else "**System and judge of each file**")
        if asked:
            st.text_input(
                "Pattern of the file names",
                base.pattern or "",
                key=f"pattern {batch.key}",
                placeholder="{system}__{judge}.jsonl",
                live=True,
                help="{system} and {judge} stand for the parts that differ, * for anything; folders are part of the "
                "name: {system}/*.jsonl",
            )
            st.caption("An empty name is taken from the file's content. Every name can be edited.")
        rows = _edit(batch, base, asked)
    files = tuple(_given_name(file, row, asked) for file, row in zip(plan.files, rows, strict=True))
    return replace(plan, files=files)


def _can_be_named(file: FilePlan, name: str) -> bool:
    """Whether a name may be given from outside the file: it is constant, or the file has no column for it."""
    if name in constants(file.mapping):
        return True
    if file.format in NATIVE:
        return name != "annotator"
    return file.format != "unknown" and name in SPECS[file.kind].keys and not file.mapping.get(name)


def _edit(batch: Batch, base: Plan, asked: list[str]) -> list[dict[str, object]]:
    """Show an editable table with a row per file; return its rows: whether to read the file, and constant names."""
    start = pd.DataFrame(
        {
            "read": [not file.skip for file in base.files],
            "file": [file.name for file in base.files],
            **{n: [constants(file.mapping).get(n, "")[1:] for file in base.files] for n in asked},
        }
    )
    rows = st.data_editor(
        start,
        column_config={
            "read": st.column_config.CheckboxColumn("read", width="small"),
            "file": st.column_config.TextColumn("file", disabled=True),
            **{n: st.column_config.TextColumn(n, max_chars=200) for n in asked},
        },
        hide_index=True,
        placeholder=UNKNOWN,
        height="auto" if len(start) <= 8 else 320,
        key=f"names {batch.key} {base.pattern} {asked}",
        alt="Files, whether each is read, and the names in its rows",
    )
    return [{str(k): v for k, v in row.items()} for row in rows.to_dict("records")]


def _given_name(file: FilePlan, row: dict[str, object], asked: list[str]) -> FilePlan:
    """The file's plan, changed to match its row in the table."""
    if bool(row["read"]) == file.skip:
        file = replace(file, skip=not row["read"])
    named = {n: f"={text}" for n in asked if (text := str(row[n] or "").strip())}
    fixed = {n: v for n, v in constants(file.mapping).items() if n in asked}
    if named == fixed:
        return file
    kept = {c: v for c, v in file.mapping.items() if c not in fixed}
    return changed(file, mapping=kept | named)
