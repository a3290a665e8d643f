"""The parts of a standalone page: headings, sentences and tables in the form that the templates need."""

from __future__ import annotations

import base64
import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import pandas as pd
from markupsafe import Markup

from ..analysis.columns import BANK, LEADERBOARD, LEADERBOARD_SHARED, Column, shown_columns
from ..figures.shared_view import SharedFigure
from ..sharing.files import view_files
from ..sharing.view import Bank, SharedView
from ..sharing.words import answer, bank_sentences, origin, reading, settings_list, support
from ..text import count, numeral
from .sections import Sheet
from .templating import call, render

TITLES = {
    "leaderboard": "Ranking",
    "separation": "System comparison",
    "bank": "Bank coverage",
    "rubrics": "Rubrics of the bank",
}
COLUMNS: Mapping[str, Mapping[str, Column]] = {
    "leaderboard": {name: LEADERBOARD[name] for name in LEADERBOARD_SHARED},
    "rubrics": {name: BANK[name] for name in ("order", "text", "rubric", "query")},
}
PRINTED = 200  # most rows of a table on paper
FILTERED = 8  # a table of at least so many rows can be filtered
MIME = {"csv": "text/csv", "json": "application/json"}
UNKNOWN = "—"


@dataclass(frozen=True)
class Cell:
    """One cell. shown: its text. value: its sort key, None if unknown. number: whether its column is numeric."""

    shown: str
    value: object
    number: bool


@dataclass(frozen=True)
class Row:
    """One row. odd: whether its tier has an odd number."""

    odd: bool
    cells: list[Cell]


@dataclass(frozen=True)
class Table:
    """A table that readers can sort, and filter if it is long.

    heads: (title, whether the column is numeric). filtered: whether it has a filter. count: number of rows, in words.
    """

    name: str
    title: str
    heads: list[tuple[str, bool]]
    rows: list[Row]
    filtered: bool
    count: str


@dataclass(frozen=True)
class PagePart:
    """A part of the page: a leading paragraph, numbered figures, a table, and a hint on how to read it.

    pair: whether the figures are shown side by side.
    """

    name: str
    figures: list[tuple[int, SharedFigure]] = field(default_factory=list)
    lead: str = ""
    pair: bool = False
    table: Table | None = None
    hint: str | None = None

    @property
    def title(self) -> str:
        """Heading of the part."""
        return TITLES[self.name]


def body(view: SharedView, figures: Sequence[SharedFigure], *, inside: bool) -> Markup:
    """The visible content of the page. inside: whether links to readers' files hold their content, or their names."""
    return render(
        "view.html",
        view=view,
        answer=" ".join(answer(view)),
        made=f"{view.made_at.day} {view.made_at:%B %Y, %H:%M} UTC",
        sections=_sections(view, figures),
        origin=origin(view),
        settings=settings_list(view),
        files={name: _target(name, content, inside) for name, content in view_files(view).items()},
    )


def printed_table(name: Literal["leaderboard", "rubrics"], table: pd.DataFrame) -> Markup:
    """The first PRINTED rows of a view's table as static HTML; the dashboard's table would print only visible rows."""
    made = _table(name, table.head(PRINTED))
    sheet = Sheet(
        made.title,
        [(title, "number" if number else "text") for title, number in made.heads],
        [[cell.shown for cell in row.cells] for row in made.rows],
    )
    return call("parts.html", "plain_table", sheet)


def _sections(view: SharedView, figures: Sequence[SharedFigure]) -> list[PagePart]:
    """The parts of the page that the view has content for."""
    drawn: dict[str, list[tuple[int, SharedFigure]]] = {name: [] for name in TITLES}
    for number, shared in enumerate(figures):
        drawn[shared.part].append((number, shared))
    sections = []
    if view.leaderboard is not None:
        table, hint = _table("leaderboard", view.leaderboard), " ".join(reading(view))
        lead = " ".join(support(view))
        sections.append(PagePart("leaderboard", drawn["leaderboard"], lead=lead, table=table, hint=hint))
    if drawn["separation"]:
        sections.append(PagePart("separation", drawn["separation"]))
    if view.bank is not None:
        sections.append(PagePart("bank", drawn["bank"], lead=_bank(view.bank, view.settings), pair=True))
    if view.rubrics is not None:
        sections.append(PagePart("rubrics", table=_table("rubrics", view.rubrics)))
    return sections


def _bank(bank: Bank, settings: Mapping[str, Any]) -> str:
    covered = f"{bank.queries_heard:,} of {count(bank.queries, 'query')} have a rubric in it."
    reached = f"It reaches {bank.coverage:.1%} of the coverage of the whole pool"
    return f"{' '.join(bank_sentences(bank, settings))} {reached}; {covered}"


def _table(name: str, table: pd.DataFrame) -> Table:
    names = shown_columns(table) if name == "leaderboard" else tuple(COLUMNS[name])
    columns = {key: COLUMNS[name][key] for key in names if key in COLUMNS[name] and key in table}
    return Table(
        name,
        TITLES[name],
        [(column.title, bool(column.style)) for column in columns.values()],
        [_row(row, columns) for row in table[list(columns)].to_dict("records")],
        len(table) >= FILTERED,
        count(len(table), "row"),
    )


def _row(row: Mapping[Hashable, object], columns: Mapping[str, Column]) -> Row:
    tier = row.get("tier")
    cells = [_cell(row[name], column.style) for name, column in columns.items()]
    return Row(isinstance(tier, int) and tier % 2 == 1, cells)


def _cell(value: Any, style: str) -> Cell:
    if value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value)):
        return Cell(UNKNOWN, None, bool(style))
    if isinstance(value, float) and math.isinf(value):
        sorted_by = "Infinity" if value > 0 else "-Infinity"  # as JavaScript spells it
        return Cell(numeral(value), sorted_by, bool(style))
    shown = numeral(value, style) if style else str(value)
    return Cell(shown, value, bool(style))


def _target(name: str, content: bytes, inside: bool) -> str:
    kind = MIME[name.rsplit(".", 1)[1]]
    return f"data:{kind};base64,{base64.b64encode(content).decode()}" if inside else name
