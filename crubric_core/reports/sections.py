"""The report of one dataset as plain sections, and as Markdown; ``reports.study`` makes an HTML page of the sections.

In the Markdown, text from files and users is escaped, so that it cannot act as markup.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from ..analysis.columns import BANK, LEADERBOARD, Column, titles
from ..analysis.export import versions
from ..analysis.result import Result
from ..analysis.standings import claimed
from ..experiments.declaration import ResultTable
from ..experiments.registry import EXPERIMENTS
from ..experiments.results import ExperimentResult
from ..settings import objective
from ..sharing.words import settings_words
from ..text import at_least, numeral

ROWS = 200  # most rows of a table in a report
LIMITS = "What this does not show"
HOW = "How it was made"


@dataclass(frozen=True)
class Sheet:
    """A table of texts. heads: (title, "number" or "text") of each column. rows: its cells. caption: "" for none."""

    label: str
    heads: list[tuple[str, str]]
    rows: list[list[str]]
    caption: str = ""


@dataclass(frozen=True)
class Section:
    """A part of the report.

    key: "analysis" or the name of the experiment, by which its figures are found. answer: its first paragraph. basis:
    sentences on what the answer rests on, and how to read it. cautions: sentences to read first. limits: sentences on
    what cannot be concluded.
    """

    key: str
    heading: str
    answer: str
    basis: Sequence[str]
    cautions: Sequence[str]
    limits: Sequence[str]
    tables: Sequence[Sheet]


def report_title(result: Result) -> str:
    """The title of a dataset's report."""
    return f"Report: {result.dataset}"


def sections(result: Result, experiments: Sequence[ExperimentResult]) -> list[Section]:
    """The section of the analysis, then one for each experiment."""
    said = result.claims
    what = objective(result.settings.strategy)
    proven = (
        f"The bank holds {len(result.bank):,} of {len(result.items):,} rubrics; its {what} is proven to be at least "
        f"{at_least(result.certificate)} of that of any bank of its size. This says nothing about accuracy on new "
        "systems."
    )
    board = claimed(result.leaderboard, result.verdict)
    analysis = Section(
        key="analysis",
        heading="Analysis",
        answer=" ".join(said.headline),
        basis=(*said.basis, *said.beside, *said.reading, proven),
        cautions=result.warnings,
        limits=said.limits,
        tables=(
            shown_sheet(board, "Leaderboard", LEADERBOARD),
            shown_sheet(result.bank.drop(columns=["text"]), "Bank", BANK),
        ),
    )
    return [analysis, *map(_experiment, experiments)]


def _experiment(found: ExperimentResult) -> Section:
    experiment = EXPERIMENTS[found.name]
    tables = [declared_sheet(found, name) for name, table in found.tables.items() if len(table)]
    return Section(
        key=found.name,
        heading=experiment.title,
        answer=experiment.headline(found),
        basis=(experiment.question, found.found),
        cautions=found.notices,
        limits=found.limits,
        tables=tables,
    )


def shown_sheet(table: pd.DataFrame, label: str, columns: Mapping[str, Column]) -> Sheet:
    """The first ROWS of a table with the titles and number formats of ``columns``.

    Columns without a value are left out; the caption names them.
    """
    every = table
    table = every.dropna(axis="columns", how="all") if len(every) else every
    without = [
        titles(columns).get(str(name), str(name))
        for name in every.columns.difference(table.columns, sort=False)
    ]
    styles = [columns[name].style if name in columns else "" for name in map(str, table.columns)]
    rows = table.head(ROWS).itertuples(index=False, name=None)
    made = sheet(table.rename(columns=titles(columns)), label)
    left_out = f"Not shown, because no row has a value: {', '.join(without)}." if without else ""
    return replace(
        made,
        caption=" ".join(filter(None, [made.caption, left_out])),
        rows=[[_written(value, style) for value, style in zip(row, styles, strict=True)] for row in rows],
    )


def _written(value: object, style: str) -> str:
    if isinstance(value, float) and math.isfinite(value) and style not in ("", "d"):
        return numeral(value, style)
    return _cell(value)


def declared_sheet(found: ExperimentResult, name: str) -> Sheet:
    """The named table of an experiment, with the titles and formats of its declaration if it has one."""
    declared = EXPERIMENTS[found.name].tables.get(name)
    return sheet(found.tables[name], declared.title if declared else name, declared)


def sheet(table: pd.DataFrame, label: str, declared: ResultTable | None = None) -> Sheet:
    """The first ROWS of a table, with the titles, formats and caption of ``declared`` if it is given."""
    names = [str(name) for name in table.columns]
    heads = [declared.column(name).title if declared else name for name in names]
    numeric = [is_numeric_dtype(kind) and not is_bool_dtype(kind) for kind in table.dtypes]
    kinds = ["number" if number else "text" for number in numeric]
    return Sheet(
        label,
        list(zip(heads, kinds, strict=True)),
        cells(table, declared),
        " ".join(filter(None, [declared.caption if declared else "", _cut(table)])),
    )


def _cut(table: pd.DataFrame) -> str:
    """A sentence for the caption if the sheet leaves rows out; "" if it has all."""
    return f"The first {ROWS:,} of {len(table):,} rows." if len(table) > ROWS else ""


def origin(result: Result, command: str) -> dict[str, str]:
    """Name → text of what is needed to make the report again: fingerprint, settings, versions and the command."""
    settings = settings_words(result.settings.as_dict())
    made = {"fingerprint of the dataset": result.fingerprint, **settings, **versions()}
    return made | ({"reproduced by": command} if command else {})


def report_markdown(result: Result, experiments: Sequence[ExperimentResult] = (), command: str = "") -> str:
    """The report as Markdown. command: the command line that reproduces it, or ""."""
    lines = [f"# {_inline(report_title(result))}", ""]
    for section in sections(result, experiments):
        lines += [f"## {_inline(section.heading)}", "", _inline(section.answer), ""]
        lines += [f"- {_inline(sentence)}" for sentence in (*section.cautions, *section.basis)] + [""]
        for table in section.tables:
            lines += [f"### {_inline(table.label)}", "", markdown_sheet(table), ""]
            lines += [_inline(table.caption), ""] if table.caption else []
        if section.limits:
            lines += [f"### {LIMITS}", "", *(f"- {_inline(sentence)}" for sentence in section.limits), ""]
    made = pd.DataFrame(origin(result, command).items(), columns=["what", "value"])
    return "\n".join([*lines, f"## {HOW}", "", markdown_table(made), ""])


def markdown_table(table: pd.DataFrame) -> str:
    """The first ROWS of a frame as a Markdown table, with — for unknown values."""
    return markdown_sheet(sheet(table, ""))


def markdown_sheet(shown: Sheet) -> str:
    """A table as Markdown."""
    head = "| " + " | ".join(_inline(title) for title, _ in shown.heads) + " |"
    rule = "|" + " --- |" * len(shown.heads)
    body = ["| " + " | ".join(_inline(cell) for cell in row) + " |" for row in shown.rows]
    return "\n".join([head, rule, *body])


def cells(table: pd.DataFrame, declared: ResultTable | None = None) -> list[list[str]]:
    """Texts of the first ROWS of a table, in the formats of ``declared`` if it is given; a list for each row."""
    columns = declared.columns if declared else {}
    texts = [columns[name].text if name in columns else _cell for name in map(str, table.columns)]
    return [
        [text(value) for text, value in zip(texts, row, strict=True)]
        for row in table.head(ROWS).itertuples(index=False, name=None)
    ]


def _cell(value: object) -> str:
    """The text of a value: — if unknown, yes or no, whole numbers without decimals, others to four digits."""
    if value is None or value is pd.NA or (isinstance(value, float) and value != value):
        return "—"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return numeral(value, "z.0f" if value.is_integer() and abs(value) < 1e15 else ".4g")
    return str(value)


def _inline(text: str) -> str:
    """Escape a text as one line of Markdown in which no character acts as markup."""
    flat = " ".join(text.split())
    return re.sub(r"([\\`*_\[\]<>|#~$&])", r"\\\1", flat)
