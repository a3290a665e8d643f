"""One dataset's full report as Markdown, or as one HTML file that needs nothing else.

Everything from a file or a user is escaped: in neither form can it act as markup.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape

import pandas as pd

from ..exports import versions
from ..pipeline import Result
from .results import ExperimentResult

ANALYSIS = "Analysis"
ROWS = 200  # most rows of a table in a report
_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 64rem; margin: 2rem auto; padding: 0 1rem; color: #1f2329; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .85rem; }
th, td { padding: .25rem .6rem; border-bottom: 1px solid #dde1e7; text-align: left; }
.wide { overflow-x: auto; } code { background: #f3f4f6; padding: 0 .25rem; }
"""


def report_markdown(result: Result, experiments: Sequence[ExperimentResult] = (), command: str = "") -> str:
    """The report as Markdown; ``command`` reproduces it."""
    lines = [f"# {_inline(_title(result))}", ""]
    for heading, sentences, tables in _sections(result, experiments, command):
        lines += [f"## {_inline(heading)}", "", *(f"- {_inline(sentence)}" for sentence in sentences), ""]
        for name, table in tables.items():
            lines += [f"### {_inline(name)}", "", markdown_table(table), ""]
    return "\n".join(lines)


def report_html(
    result: Result,
    experiments: Sequence[ExperimentResult] = (),
    command: str = "",
    figures: Mapping[str, str] | None = None,
) -> str:
    """The report as one HTML document. ``figures``: heading → HTML that this program made, put in as it is."""
    body = [f"<h1>{escape(_title(result))}</h1>"]
    for heading, sentences, tables in _sections(result, experiments, command):
        items = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
        body.append(f"<h2>{escape(heading)}</h2><ul>{items}</ul>{(figures or {}).get(heading, '')}")
        for name, table in tables.items():
            body.append(f"<h3>{escape(name)}</h3>{html_table(table)}")
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(_title(result))}</title><style>{_STYLE}</style></head><body>{''.join(body)}</body></html>"
    )


def markdown_table(table: pd.DataFrame, rows: int = ROWS) -> str:
    """The first ``rows`` as a Markdown table; unknown is —."""
    head = "| " + " | ".join(_inline(str(column)) for column in table.columns) + " |"
    rule = "|" + " --- |" * len(table.columns)
    body = ["| " + " | ".join(_inline(cell) for cell in row) + " |" for row in _cells(table, rows)]
    return "\n".join([head, rule, *body])


def html_table(table: pd.DataFrame, rows: int = ROWS) -> str:
    """The first ``rows`` as an HTML table; unknown is —."""
    head = "".join(f'<th scope="col">{escape(str(column))}</th>' for column in table.columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in _cells(table, rows)
    )
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def experiment_heading(found: ExperimentResult) -> str:
    """The heading of an experiment's section."""
    return f"Experiment: {found.name}"


def _title(result: Result) -> str:
    return f"CalibratedRubric: {result.dataset}"


def _sections(
    result: Result, experiments: Sequence[ExperimentResult], command: str
) -> list[tuple[str, Sequence[str], Mapping[str, pd.DataFrame]]]:
    """(heading, sentences, tables) of the analysis, of each experiment, and of how it was made."""
    bank = result.bank.drop(columns=["text"])
    sections: list[tuple[str, Sequence[str], Mapping[str, pd.DataFrame]]] = [
        (
            ANALYSIS,
            [
                *result.warnings,
                f"The bank holds {len(bank)} of {len(result.items)} rubrics; its utility is proven to be at least "
                f"{result.certificate:.1%} of the best possible bank's.",
            ],
            {"Leaderboard": result.leaderboard, "Bank": bank},
        )
    ]
    for found in experiments:
        tables = {f"{found.name}: {name}": table for name, table in found.tables.items() if len(table)}
        sections.append((experiment_heading(found), found.sentences(), tables))
    record = {
        "fingerprint of the labels": result.fingerprint,
        **versions(),
    }
    made = [f"{name}: {value}" for name, value in record.items()]
    if command:
        made.append(f"reproduced by: {command}")
    settings = pd.DataFrame(
        [(k, str(v)) for k, v in result.settings.as_dict().items()], columns=["setting", "value"]
    )
    return [*sections, ("How it was made", made, {"Settings": settings})]


def _cells(table: pd.DataFrame, rows: int) -> list[list[str]]:
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
