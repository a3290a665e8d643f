"""Show how each file was recognised: one card for all files of a layout, which the user confirms or changes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from ...errors import IngestError
from ...labels.readers.bundle import plan_ingest, preview_file
from ...labels.readers.columns.specs import SPECS, Kind
from ...labels.readers.formats.native import NATIVE
from ...labels.readers.plan import FilePlan, Plan
from ..text import UNKNOWN, count, plain, shorten
from . import rules as upload_rules

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...labels.readers.bundle import Preview
    from ...labels.readers.plan import Columns
    from .batch import Batch

ABREAST = 5  # choosers in a row
PREVIEW = 5
MOST_CARDS = 20
APART = "Name each query with its task or variables"
LONGEST = 300  # characters of a cell that are shown
CONFIDENT = 0.8  # confidence from which a guess needs no review
KINDS: dict[Kind, str] = {
    "labels": "labels of the judges",
    "rubrics": "what the rubrics are",
    "queries": "what the queries are",
    "gold": "human gold labels",
    "reference": "a reference ranking",
    "anchors": "rubrics that people found valid, or not",
    "answers": "what the systems answered",
    "systems": "facts about the systems (organisation, date, cost, licence …)",
}
PARTS: dict[Kind, str] = {
    "labels": "all that it holds",
    "gold": "its labels, as human gold labels",
    "rubrics": "its rubrics alone",
    "queries": "its queries alone",
}
SHORT = {"anchors": "validity of rubrics", "gold": "gold labels", "reference": "a ranking"}


def ask(batch: Batch, plan: Plan) -> Plan:
    """Show a card for each layout; return the plan with the user's changes."""
    cards = _groups(plan)
    for group in cards[:MOST_CARDS]:
        for file in _card(batch, group):
            plan = replace(plan, files=tuple(file if f.name == file.name else f for f in plan.files))
    if len(cards) > MOST_CARDS:
        st.caption(f"{len(cards) - MOST_CARDS:,} more layouts are read as they were recognised.")
    return plan


def looked_at(batch: Batch, edited: Plan) -> Plan:
    """The edited plan after its changed files were analysed again, with their present tables and problems."""
    found = plan_ingest(batch.kept, like=replace(edited, pattern=None))
    return replace(found, pattern=edited.pattern)


def problems(plan: Plan) -> list[str]:
    """A sentence for each file that cannot be read as planned, with a remedy on this page."""
    return [
        f"{file.name} does not say which system it is about: type it into the table, or change the pattern."
        if file.format in NATIVE and "does not say which system" in (file.problem or "")
        else str(file.problem)
        for file in plan.files
        if file.problem and not file.skip
    ]


def changed(file: FilePlan, **fields: Any) -> FilePlan:
    """A copy of the file's plan with changed fields, without the results of the analysis, which must be repeated."""
    return replace(file, **{"tables": (), "problem": None, "guesses": (), **fields})


def constants(mapping: Columns) -> dict[str, str]:
    """Column → ``=value`` for the columns of the mapping that are constant for the whole file."""
    return {c: v for c, v in mapping.items() if isinstance(v, str) and v.startswith("=")}


def _groups(plan: Plan) -> list[tuple[FilePlan, ...]]:
    """Groups of files with the same layout, those with problems first; skipped files are left out."""
    found: dict[object, list[FilePlan]] = {}
    for file in plan.files:
        if not file.skip:
            own = file.name if file.format == "unknown" else repr(_by_column(file))
            found.setdefault(
                (file.format, file.kind, file.columns, file.gold, repr(file.described), own), []
            ).append(file)
    return sorted(map(tuple, found.values()), key=lambda group: group[0].problem is None)


def _by_column(file: FilePlan) -> dict[str, object]:
    return {c: v for c, v in file.mapping.items() if c not in constants(file.mapping)}


def _card(batch: Batch, group: tuple[FilePlan, ...]) -> tuple[FilePlan, ...]:
    first = group[0]
    title = f"**{plain(_named(group))}** · {plain(_recognised(group))}"
    with st.expander(title, expanded=_needs_review(first), key=f"card {batch.key} {first.name}"):
        if first.format == "unknown":
            return group
        if first.format in NATIVE:
            st.caption(plain(f"Recognised by {first.reason}."))
        answers = (_ask_parts if first.format in NATIVE else _ask_table)(batch, group)
        found = _preview(batch, answers[0])
        if found is not None:
            st.dataframe(_showable(found.rows), hide_index=True, placeholder=UNKNOWN)
    return answers


def _needs_review(file: FilePlan) -> bool:
    """Whether the user should review how a file is read."""
    uncertain = any(guess.confidence < CONFIDENT for guess in file.guesses if guess.canonical in file.mapping)
    told = file.title not in ("", "a table") or bool(file.remarks)
    return bool(file.problem) or uncertain or (file.format not in NATIVE and told)


def _named(group: Sequence[FilePlan]) -> str:
    if len(group) == 1:
        return group[0].name
    return f"{count(len(group), 'file')}: {group[0].name}, {group[1].name}" + (" …" if len(group) > 2 else "")


def _recognised(group: Sequence[FilePlan]) -> str:
    """``HealthBench, graded: queries, rubrics and labels``."""
    first = group[0]
    if first.format == "unknown":
        return "cannot be read"
    if first.format not in NATIVE:
        gold = " and ground truth (gold)" if first.gold else ""
        return f"{first.title or 'a table'} ({first.format.upper()}): {KINDS[first.kind]}{gold}"
    tables = list(dict.fromkeys(SHORT.get(t, t) for file in group for t in file.tables))
    holds = f"{', '.join(tables[:-1])} and {tables[-1]}" if len(tables) > 1 else "".join(tables)
    return f"{first.title}: {holds or 'nothing in its first records'}"


def _preview(batch: Batch, file: FilePlan) -> Preview | None:
    """The first rows of a file; None if it cannot be read (the plan has the reason)."""
    key = repr((file.kind, file.format, sorted(file.mapping.items()), file.gold))
    try:
        return batch.once(("preview_file", file.name), key, lambda: preview_file(batch.kept, file, PREVIEW))
    except IngestError:
        return None


def _showable(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows as a browser can show them: short texts, valid characters, unique column names."""
    seen: dict[str, int] = {}
    headings = []
    for column in map(_clean, rows.columns):
        seen[column] = seen.get(column, 0) + 1
        headings.append(column if seen[column] == 1 else f"{column} ({seen[column]})")
    shown = rows.map(lambda cell: None if cell is None else _clean(cell))
    return shown.set_axis(pd.Index(headings), axis=1)


def _clean(cell: object) -> str:
    return shorten(str(cell)[:1000].encode("utf-8", "replace").decode(), LONGEST)


def _ask_parts(batch: Batch, group: tuple[FilePlan, ...]) -> tuple[FilePlan, ...]:
    """Ask which tables of a tool's own layout to read, and whether its queries need longer names."""
    group = _ask_apart(batch, group)
    tables = {table for file in group for table in file.tables}
    there = [p for p in PARTS if p == "labels" or p in tables or (p == "gold" and "labels" in tables)]
    if len(there) < 2:
        return group
    kind = st.selectbox(
        "Read", there, format_func=PARTS.__getitem__, key=f"part {batch.key} {group[0].name}", width=420
    )
    return group if kind == group[0].kind else tuple(replace(file, kind=kind) for file in group)


def _ask_apart(batch: Batch, group: tuple[FilePlan, ...]) -> tuple[FilePlan, ...]:
    """Ask whether the names of queries include what distinguishes them from queries of other tasks or evaluations."""
    first = group[0]
    rule = NATIVE[first.format].apart
    if not rule:
        return group
    named = first.mapping.get("query") == rule
    wanted = st.checkbox(
        f"{APART}: {plain(rule.removeprefix('~ '))}",
        named,
        key=f"apart {batch.key} {first.name}",
        help="Tick this if the dataset has, or will have, other queries with the same names.",
    )
    if wanted == named:
        return group
    given = {"query": rule} if wanted else {}
    kept = ({c: v for c, v in f.mapping.items() if c != "query"} for f in group)
    return tuple(changed(f, mapping=own | given) for f, own in zip(group, kept, strict=True))


def _ask_table(batch: Batch, group: tuple[FilePlan, ...]) -> tuple[FilePlan, ...]:
    """Ask what a table contains, and which of its columns has which meaning; return the changed plans."""
    first, kinds = group[0], list(KINDS)
    kind: Kind = st.selectbox(
        "It holds",
        kinds,
        index=kinds.index(first.kind),
        format_func=KINDS.__getitem__,
        key=f"kind {batch.key} {first.name}",
        width=420,
    )
    guess = first
    if kind != first.kind:
        bare = FilePlan(first.name, first.format, kind=kind)
        guess = batch.once(("kind", first.name), kind, lambda: preview_file(batch.kept, bare, PREVIEW).file)
    key = f"{batch.key} {first.name} {kind}"
    mapping = _ask_columns(batch, key, guess, kind)
    gold = _ask_gold(key, guess, kind, mapping)
    _show_remarks(guess.remarks)
    described = _ask_described(key, guess, kind)
    if (kind, mapping, gold, described) == (first.kind, _by_column(guess), first.gold, first.described):
        return group
    return tuple(
        changed(
            f, kind=kind, mapping=mapping | constants(f.mapping), gold=gold, described=described, title=""
        )
        for f in group
    )


def _ask_gold(key: str, guess: FilePlan, kind: Kind, mapping: dict[str, Any]) -> tuple[str, ...]:
    """Ask which columns are ground truth (gold); they do not count as judges."""
    judges = mapping.get("judge")
    used = {c for v in mapping.values() for c in (v if isinstance(v, tuple) else (v,))}
    there = [c for c in guess.columns if c in guess.gold or c not in used]
    if kind != "labels" or not there or not (guess.gold or isinstance(judges, tuple)):
        return ()
    picked = st.multiselect(
        "Columns with ground truth (gold), not judges",
        there,
        list(guess.gold),
        key=f"gold {key}",
        help="Human labels, with which judges and the leaderboard are compared. They do not count for agreement or "
        "the consensus.",
    )
    return tuple(c for c in picked if c not in used)


def _show_remarks(remarks: tuple[str, ...]) -> None:
    """Show remarks on how a file will be read."""
    for remark in remarks:
        st.caption(plain(f"{remark[0].upper()}{remark[1:]}."))


def _ask_described(key: str, guess: FilePlan, kind: Kind) -> dict[str, Columns]:
    """Ask which columns of a table of labels also describe its queries, rubrics and answers: table → mapping."""
    told = {
        f"{canonical} of the {of}: {column}": (of, canonical, column)
        for of, columns in guess.described.items()
        for canonical, column in columns.items()
        if canonical not in SPECS[of].keys
    }
    if kind != "labels" or not told:
        return {}
    picked = st.multiselect(
        "Descriptions in the rows, which are also read",
        list(told),
        list(told),
        key=f"described {key}",
        help="A column with two values for the same query, rubric or answer is left out, and the report says so.",
    )
    chosen: dict[str, Columns] = {}
    for name in picked:
        of, canonical, column = told[name]
        keys = {c: v for c, v in guess.described[of].items() if c in SPECS[of].keys}
        chosen[of] = {**keys, **chosen.get(of, {}), canonical: column}
    return chosen


def _ask_columns(batch: Batch, key: str, guess: FilePlan, kind: Kind) -> dict[str, Any]:
    """Ask for canonical column → column of the file, or "" for none.

    Required and recognised columns come first, the others are in an expander.
    """
    spec, fixed = SPECS[kind], constants(guess.mapping)
    spread = {c: v for c, v in guess.mapping.items() if isinstance(v, tuple)}
    hidden = {*fixed, *spread, *(["label"] if spread else [])}
    above = st.container()
    rules = upload_rules.ask(batch, key, guess, kind, sorted(hidden))
    hidden |= set(rules)
    asked = [c for c in spec.columns if c not in hidden]
    always = {*spec.needed, *spec.keys, *spec.any_of, *guess.mapping}
    chosen: dict[str, Any] = {}
    with above:
        for canonical, columns in spread.items():
            picked = st.multiselect(
                f"Columns with labels, one for each {canonical}",
                list(guess.columns),
                list(columns),
                key=f"spread {key} {canonical}",
            )
            chosen[canonical] = tuple(picked) or ""
        _ask_each([c for c in asked if c in always], key, guess, kind, chosen)
        others = [c for c in asked if c not in always]
        if others:
            with st.expander(f"Other columns ({len(others)})"):
                _ask_each(others, key, guess, kind, chosen)
    return chosen | rules


def _ask_each(asked: Sequence[str], key: str, guess: FilePlan, kind: Kind, chosen: dict[str, Any]) -> None:
    """A select box for each canonical column, with the confidence of the guess and its reason; fills ``chosen``."""
    sure = {g.canonical: g for g in guess.guesses}
    options = [UNKNOWN, *dict.fromkeys(guess.columns)]
    for row in range(0, len(asked), ABREAST):
        for place, canonical in zip(st.columns(ABREAST), asked[row : row + ABREAST], strict=False):
            guessed = str(guess.mapping.get(canonical) or UNKNOWN)
            there = options if guessed in options else [*options, guessed]  # a rule of a plan is no column
            answer = place.selectbox(
                canonical + (" (needed)" if canonical in SPECS[kind].needed else ""),
                there,
                index=there.index(guessed),
                key=f"column {key} {canonical}",
            )
            place.caption(plain(_why(canonical, answer, guessed, sure)))
            if answer != UNKNOWN:
                chosen[canonical] = answer
            elif canonical in guess.mapping:
                chosen[canonical] = ""


def _why(canonical: str, answer: str, guessed: str, sure: dict[str, Any]) -> str:
    if answer != guessed:
        return "your choice"
    found = sure.get(canonical)
    if answer == UNKNOWN:
        return f"is it “{found.column}”? {shorten(found.reason, 80)}" if found else "none"
    return f"{found.confidence:.0%} sure: {shorten(found.reason, 90)}" if found else "by its name"
