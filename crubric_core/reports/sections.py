"""One dataset's full report as plain sections, and as Markdown; ``figures.report`` makes a page of them.

Everything from a file or a user is escaped: it cannot act as markup.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from ..analysis.columns import BANK, LEADERBOARD, titles
from ..analysis.export import versions
from ..analysis.result import Result
from ..experiments.results import ExperimentResult
from ..experiments.titles import TABLES, TITLES, column_title

ROWS = 200  # most rows of a table in a report
LIMITS = "What this does not show"
HOW = "How it was made"


@dataclass(frozen=True)
class Section:
    """A part of the report.

    key: whose figures belong to it. answer: its first line. basis: what the answer rests on, and how it is read.
    cautions: to be read first.
    """

    key: str
    heading: str
    answer: str
    basis: Sequence[str]
    cautions: Sequence[str]
    limits: Sequence[str]
    tables: Mapping[str, pd.DataFrame]


def report_title(result: Result) -> str:
    """The title of a dataset's report."""
    return f"Report: {result.dataset}"


def sections(result: Result, experiments: Sequence[ExperimentResult]) -> list[Section]:
    """The analysis, then each experiment."""
    said = result.claims
    proven = (
        f"The bank holds {len(result.bank):,} of {len(result.items):,} rubrics; its coverage is proven to be at least "
        f"{result.certificate:.1%} of that of any bank of its size. This speaks of coverage, not of accuracy."
    )
    analysis = Section(
        key="analysis",
        heading="Analysis",
        answer=" ".join(said.headline),
        basis=(*said.basis, *said.beside, *said.reading, proven),
        cautions=result.warnings,
        limits=said.limits,
        tables={
            "Leaderboard": result.leaderboard.rename(columns=titles(LEADERBOARD)),
            "Bank": result.bank.drop(columns=["text"]).rename(columns=titles(BANK)),
        },
    )
    return [analysis, *map(_experiment, experiments)]


def _experiment(found: ExperimentResult) -> Section:
    tables = {TABLES.get(name, name): table for name, table in found.tables.items() if len(table)}
    return Section(found.name, TITLES[found.name], found.found, (), found.notices, found.limits, tables)


def origin(result: Result, command: str) -> dict[str, str]:
    """Labels, settings, versions and the command: all that it takes to have the same report again."""
    settings = {name: str(value) for name, value in result.settings.as_dict().items()}
    made = {"fingerprint of the labels": result.fingerprint, **settings, **versions()}
    return made | ({"reproduced by": command} if command else {})


def report_markdown(result: Result, experiments: Sequence[ExperimentResult] = (), command: str = "") -> str:
    """The report as Markdown; ``command`` reproduces it."""
    lines = [f"# {_inline(report_title(result))}", ""]
    for section in sections(result, experiments):
        lines += [f"## {_inline(section.heading)}", "", _inline(section.answer), ""]
        lines += [f"- {_inline(sentence)}" for sentence in (*section.cautions, *section.basis)] + [""]
        for name, table in section.tables.items():
            lines += [f"### {_inline(name)}", "", markdown_table(table), ""]
        if section.limits:
            lines += [f"### {LIMITS}", "", *(f"- {_inline(sentence)}" for sentence in section.limits), ""]
    made = pd.DataFrame(origin(result, command).items(), columns=["what", "value"])
    return "\n".join([*lines, f"## {HOW}", "", markdown_table(made), ""])


def markdown_table(table: pd.DataFrame, rows: int = ROWS) -> str:
    """The first ``rows`` as a Markdown table; unknown is —."""
    head = "| " + " | ".join(_inline(column_title(str(column))) for column in table.columns) + " |"
    rule = "|" + " --- |" * len(table.columns)
    body = ["| " + " | ".join(_inline(cell) for cell in row) + " |" for row in cells(table, rows)]
    return "\n".join([head, rule, *body])


def cells(table: pd.DataFrame, rows: int = ROWS) -> list[list[str]]:
    """The first ``rows`` of a table as people read them."""
    return [[_cell(value) for value in row] for row in table.head(rows).itertuples(index=False, name=None)]


def _cell(value: object) -> str:
    """A value as people read it: — for the unknown, whole numbers whole, others to four digits."""
    if value is None or value is pd.NA or (isinstance(value, float) and value != value):
        return "—"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.0f}" if value.is_integer() and abs(value) < 1e15 else f"{value:.4g}"
    return str(value)


def _inline(text: str) -> str:
    """One line of Markdown in which nothing acts as markup."""
    flat = " ".join(text.split())
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", flat)
