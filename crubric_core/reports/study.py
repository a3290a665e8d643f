"""The report of one dataset as a page: one file with its figures drawn in, that needs no network and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from ..analysis.result import Result
from ..experiments.results import ExperimentResult
from ..experiments.titles import FIGURES, column_title
from ..figures.experiments import BESIDE, experiment_figure
from ..figures.leaderboard import Estimate, forest
from ..figures.measurability import measurability_histogram
from ..files import write_files
from ..judges.measurability import STATISTIC_NAMES, possible_values
from .sections import HOW, LIMITS, Section, cells, origin, report_markdown, report_title, sections
from .standalone import document
from .standalone_parts import escaped

Titled = tuple[str, go.Figure]


def full_report(result: Result, experiments: Sequence[ExperimentResult] = (), command: str = "") -> str:
    """The HTML report of one analysis and its experiments, each with its figures; ``command`` reproduces it."""
    parts = sections(result, experiments)
    figures: dict[str, list[Titled]] = {"analysis": _analysis_figures(result)}
    figures |= {found.name: _experiment_figures(found) for found in experiments}
    drawn = [figure for part in parts for _, figure in figures[part.key]]
    links = " · ".join(f'<a href="#{part.key}">{escaped(part.heading)}</a>' for part in parts)
    title, number, body = escaped(report_title(result)), 0, []
    for part in parts:
        body.append(_section(part, figures[part.key], number))
        number += len(figures[part.key])
    made = "".join(f"<dt>{escaped(k)}</dt><dd>{escaped(v)}</dd>" for k, v in origin(result, command).items())
    return document(
        report_title(result),
        f'<header><h1 dir="auto">{title}</h1><p class="made">{links} · <a href="#how">{HOW}</a></p></header>\n'
        f"<main>{''.join(body)}</main>\n"
        f'<footer><h2 id="how">{HOW}</h2><dl class="origin">{made}</dl></footer>',
        drawn,
    )


def write_report(
    result: Result, experiments: Sequence[ExperimentResult], command: str, folder: str | Path
) -> list[Path]:
    """Write report.html and report.md into ``folder``, each whole or not at all; raises ExportError."""
    contents = {
        "report.html": full_report(result, experiments, command).encode(),
        "report.md": report_markdown(result, experiments, command).encode(),
    }
    return write_files(contents, folder)


def _section(part: Section, figures: Sequence[Titled], number: int) -> str:
    drawn = "".join(
        f'<figure><h3>{escaped(title)}</h3><div class="drawing" data-figure="{number + n}" role="img" '
        f'aria-label="{escaped(title)}"></div></figure>'
        for n, (title, _) in enumerate(figures)
    )
    tables = "".join(
        f"<h3>{escaped(name)}</h3>{html_table(table, name)}" for name, table in part.tables.items()
    )
    limits = f"<h3>{LIMITS}</h3>{_listed(part.limits)}" if part.limits else ""
    first = ' class="answer"' if part.key == "analysis" else ""
    return (
        f'<section aria-labelledby="{part.key}"><h2 id="{part.key}">{escaped(part.heading)}</h2>'
        f"<p{first}>{escaped(part.answer)}</p>"
        f"{_listed(part.cautions, 'cautions')}{drawn}{tables}{limits}</section>"
    )


def _listed(sentences: Sequence[str], kind: str = "limits") -> str:
    items = "".join(f"<li>{escaped(sentence)}</li>" for sentence in sentences)
    return f'<ul class="{kind}">{items}</ul>' if items else ""


def html_table(table: pd.DataFrame, name: str) -> str:
    """The table as escaped HTML, numbers to the right; unknown is —."""
    numeric = [is_numeric_dtype(kind) and not is_bool_dtype(kind) for kind in table.dtypes]
    kinds = [f' class="{"number" if number else "text"}"' for number in numeric]
    heads = "".join(
        f'<th scope="col"{kind}>{escaped(column_title(str(column)))}</th>'
        for column, kind in zip(table.columns, kinds, strict=True)
    )
    rows = "".join(
        "<tr>"
        + "".join(f"<td{kind}>{escaped(cell)}</td>" for cell, kind in zip(row, kinds, strict=True))
        + "</tr>"
        for row in cells(table)
    )
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{escaped(name)}">'
        f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _experiment_figures(found: ExperimentResult) -> list[Titled]:
    if not len(found.frame()):
        return []
    first = [(FIGURES[found.name], experiment_figure(found))]
    if found.name not in BESIDE:
        return first
    title, draw = BESIDE[found.name]
    return [*first, (title, draw(found))]


def _analysis_figures(result: Result) -> list[Titled]:
    """The leaderboard with its intervals, and the measurability of the rubrics where the gate is on."""
    board = result.leaderboard[result.leaderboard["tier"].notna()]
    theta, low, high = (board[c].to_numpy(dtype=float) for c in ("theta", "theta_low", "theta_high"))
    ranked = forest(
        board["system"].tolist(), Estimate(theta, low, high), board["tier"].to_numpy(dtype=np.int64)
    )
    titled = [(f"Ability with its {result.settings.confidence:.0%} interval, in tiers", ranked)]
    if result.gate == "off":
        return titled
    gate = result.gating
    histogram = measurability_histogram(
        gate.values, gate.feasible, gate.threshold, possible_values(gate), STATISTIC_NAMES[gate.statistic]
    )
    return [*titled, ("Measurability of the rubrics", histogram)]
