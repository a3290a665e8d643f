"""The parts of a standalone page: headings, sentences and tables as escaped HTML."""

from __future__ import annotations

import base64
import math
from collections.abc import Hashable, Mapping, Sequence
from html import escape

import pandas as pd

from ..figures.shared_view import SharedFigure
from ..sharing.files import view_files
from ..sharing.view import Bank, SharedView
from ..sharing.words import answer, bank_sentence, origin, reading, settings_list
from ..text import count

TITLES = {
    "leaderboard": "Leaderboard",
    "separation": "System comparison",
    "bank": "Bank coverage",
    "rubrics": "Rubrics of the bank",
}
# column: (heading, format); a text column has no format
COLUMNS = {
    "leaderboard": {
        "tier": ("tier", "d"),
        "rank": ("rank", "d"),
        "system": ("system", ""),
        "theta": ("ability θ", ".2f"),
        "theta_low": ("from", ".2f"),
        "theta_high": ("to", ".2f"),
        "rank_low": ("best rank", "d"),
        "rank_high": ("worst rank", "d"),
        "score": ("score S", ".3f"),
    },
    "rubrics": {
        "order": ("#", "d"),
        "text": ("text", ""),
        "rubric": ("rubric", ""),
        "query": ("query", ""),
    },
}
FILTERED = 8  # rows from which on a table can be filtered
MIME = {"csv": "text/csv", "json": "application/json"}
UNKNOWN = "—"


def escaped(text: object) -> str:
    """Text that is shown letter by letter, in an element or in a quoted attribute."""
    return escape(str(text), quote=True)


def body(view: SharedView, figures: Sequence[SharedFigure], *, inside: bool) -> str:
    """All that is seen. ``inside``: files for readers are part of the page, not beside it."""
    numbered = [(shared.part, _figure(number, shared)) for number, shared in enumerate(figures)]
    drawn = {name: "".join(html for part, html in numbered if part == name) for name in TITLES}
    parts = {
        "leaderboard": drawn["leaderboard"] + _leaderboard(view),
        "separation": drawn["separation"],
        "bank": _bank(view.bank) + f'<div class="pair">{drawn["bank"]}</div>'
        if view.bank is not None
        else "",
        "rubrics": _table("rubrics", view.rubrics) if view.rubrics is not None else "",
    }
    sections = [
        f'<section id="{name}"><h2>{TITLES[name]}</h2>{html}</section>'
        for name, html in parts.items()
        if html
    ]
    return "\n".join((_head(view), "<main>", *sections, "</main>", _foot(view, inside=inside)))


def _head(view: SharedView) -> str:
    made = f"{view.made_at.day} {view.made_at:%B %Y, %H:%M} UTC"
    source = f" from <bdi>{escaped(view.dataset)}</bdi>" if view.dataset is not None else ""
    note = f'<p class="note" dir="auto">{escaped(view.note)}</p>' if view.note else ""
    cautions = "".join(f"<li>{escaped(caution)}</li>" for caution in view.cautions)
    return (
        f'<header><h1 dir="auto">{escaped(view.title)}</h1>'
        f'<p class="answer">{escaped(" ".join(answer(view)))}</p>'
        f'<p class="made">Made on <time datetime="{view.made_at.isoformat()}">{made}</time>{source}</p>{note}'
        + (f'<ul class="cautions" aria-label="To be kept in mind">{cautions}</ul>' if cautions else "")
        + "</header>"
    )


def _figure(number: int, shared: SharedFigure) -> str:
    return (
        f'<figure aria-label="{escaped(shared.alt)}"><h3>{escaped(shared.title)}</h3>'
        f'<div class="drawing" data-figure="{number}"></div></figure>'
    )


def _bank(bank: Bank) -> str:
    heard = f"{bank.queries_heard:,} of {count(bank.queries, 'query', 'queries')} have a rubric in it."
    return f"<p>{escaped(bank_sentence(bank))} {escaped(heard)}</p>"


def _leaderboard(view: SharedView) -> str:
    if view.leaderboard is None:
        return ""
    hint = escaped(" ".join(reading(view)))
    return f'{_table("leaderboard", view.leaderboard)}<p class="hint">{hint}</p>'


def _table(name: str, table: pd.DataFrame) -> str:
    columns = {key: value for key, value in COLUMNS[name].items() if key in table}
    heads = "".join(
        f'<th scope="col"{_kind(style)}><button type="button">{title}</button></th>'
        for title, style in columns.values()
    )
    rows = "".join(_row(row, columns) for row in table[list(columns)].to_dict("records"))
    search = (
        f'<div class="bar"><input type="search" data-table="{name}-table" placeholder="Filter" '
        f'aria-label="Filter the rows"><span class="hint">{count(len(table), "row")}</span></div>'
        if len(table) >= FILTERED
        else ""
    )
    return (
        f'{search}<div class="wide" tabindex="0" role="region" aria-label="Table: {TITLES[name]}">'
        f'<table class="sortable" id="{name}-table"><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>'
    )


def _row(row: Mapping[Hashable, object], columns: Mapping[str, tuple[str, str]]) -> str:
    tier = row.get("tier")
    odd = ' class="odd"' if isinstance(tier, int) and tier % 2 else ""
    return f"<tr{odd}>" + "".join(_cell(row[name], style) for name, (_, style) in columns.items()) + "</tr>"


def _cell(value: object, style: str) -> str:
    if value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value)):
        return f'<td{_kind(style)} data-value="">{UNKNOWN}</td>'
    if not style:
        return f'<td class="text"><bdi>{escaped(value)}</bdi></td>'
    shown = f"{value:{style}}".replace("-", "−")
    return f'<td class="number" data-value="{value}">{shown}</td>'


def _kind(style: str) -> str:
    return ' class="number"' if style else ""


def _foot(view: SharedView, *, inside: bool) -> str:
    files = "".join(f"<li>{_link(name, content, inside)}</li>" for name, content in view_files(view).items())
    return (
        "<footer><h2>How it was made</h2>"
        + _listed(origin(view))
        + f"<details><summary>Settings</summary>{_listed(settings_list(view))}</details>"
        + (f'<ul class="files" aria-label="To take along">{files}</ul>' if files else "")
        + "</footer>"
    )


def _listed(values: Mapping[str, str]) -> str:
    cells = "".join(f"<dt>{escaped(name)}</dt><dd>{escaped(value)}</dd>" for name, value in values.items())
    return f'<dl class="origin">{cells}</dl>'


def _link(name: str, content: bytes, inside: bool) -> str:
    kind = MIME[name.rsplit(".", 1)[1]]
    target = f"data:{kind};base64,{base64.b64encode(content).decode()}" if inside else name
    return f'<a href="{target}" download="{name}">Download {name}</a>'
