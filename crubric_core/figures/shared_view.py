"""The figures of a published view, equal in the dashboard, in the viewer and in a standalone file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import plotly.graph_objects as go

from ..sharing.budget import SHOWN, SIDE, grouped
from ..sharing.view import Bank, SharedView
from ..text import percent
from .bank import information_totals, standard_errors
from .leaderboard import forest, placing, separation_matrix, tier_names
from .style import labels, margin_of, rows_axis

NARROW = 14  # characters of a name on a phone
# most columns that are named on a phone; more are in the order of the rows, and named on touch
FEW_NAMED = 14
PAGE = 1_360  # pixels: largest height of a figure that fits with its title on a printed page (viewer.css)
EACH = (
    "Who is ahead of whom? Blue: the row; a dot: the pair is separated",
    "Probability that the row is ahead of the column, and which pairs are separated",
)
GROUPS = (
    "Who is ahead of whom? Blue: the row; a dot: every pair is separated",
    "Mean probability that the systems of the row are ahead of those of the column",
)


@dataclass(frozen=True, eq=False)
class SharedFigure:
    """A figure of a view.

    part: the part of the view that it belongs to. title: its heading, plain text. alt: its description in words.
    narrow: changes on a phone, plotly path → value.
    """

    part: str
    title: str
    alt: str
    figure: go.Figure
    narrow: dict[str, Any] = field(default_factory=dict)


def shared_figures(view: SharedView) -> list[SharedFigure]:
    """The figures of the parts that the view has, in reading order."""
    shown = [*_leaderboard(view), *_separation(view), *_bank(view)]
    for shared in shown:
        on_one_page(shared.figure)
    return shown


def on_one_page(fig: go.Figure, rows: Sequence[str] = ()) -> go.Figure:
    """Reduce a figure that is slightly higher than a page to its height; much higher figures are unchanged.

    rows: names of its rows, which then get one line each.
    """
    if PAGE < fig.layout.height <= 1.5 * PAGE:
        if rows:
            rows_axis(fig, rows)
        fig.update_layout(height=PAGE)
    return fig


def _leaderboard(view: SharedView) -> list[SharedFigure]:
    if view.leaderboard is None:
        return []
    ranked = view.leaderboard[view.leaderboard["rank"].notna()]
    ordered = not ranked.empty
    if not ordered:  # by name: no claim of order is made
        ranked = view.leaderboard[view.leaderboard["theta"].notna()]
    board = ranked.head(SHOWN)
    first, by = ("best", "best first") if ordered else ("first", "by name")
    of = f" of the {first} {SHOWN} of {len(ranked):,} systems" if len(ranked) > SHOWN else ""
    systems = board["system"].tolist()
    estimate, axis = placing(board)
    what = axis.split()[0].capitalize()
    tiers = tier_names(board)
    level = percent(view.settings["confidence"])
    short = labels(systems, NARROW)
    fig = on_one_page(forest(systems, estimate, tiers, title=axis), systems)
    return [
        SharedFigure(
            "leaderboard",
            f"{what}{of} with its {level} interval" + (", in tiers" if tiers is not None else ""),
            f"{what}{of or ' of each system'} with its interval, {by}",
            fig,
            {
                "layout.yaxis.ticktext": short,
                "layout.yaxis.tickfont.size": 11,
                "layout.margin.l": margin_of(short, 11, title=False),
            },
        )
    ]


def _separation(view: SharedView) -> list[SharedFigure]:
    if view.separation is None:
        return []
    many, shown = len(view.separation.systems), grouped(view.separation)
    systems = shown.systems
    short, named = labels(systems, NARROW), len(systems) <= FEW_NAMED
    title, alt = EACH if many <= SIDE else (f"{many:,} systems in {SIDE} groups. {GROUPS[0]}", GROUPS[1])
    return [
        SharedFigure(
            "separation",
            title,
            alt,
            separation_matrix(systems, shown.ahead, shown.separated),
            {
                "layout.yaxis.ticktext": short,
                "layout.xaxis.ticktext": short,
                "layout.yaxis.tickfont.size": 11,
                "layout.xaxis.tickfont.size": 11,
                "layout.xaxis.tickangle": -90,
                "layout.xaxis.showticklabels": named,
                "layout.xaxis.title.text": "" if named else "in the order of the rows",
                "layout.margin.l": margin_of(short, 11),
                "layout.margin.r": 16,
                "layout.margin.b": margin_of(short, 11) if named else 58,
                "data.0.showscale": False,
            },
        )
    ]


def _bank(view: SharedView) -> list[SharedFigure]:
    if view.bank is None:
        return []
    bank, systems = view.bank, None
    if view.leaderboard is not None:
        systems = view.leaderboard["theta"].dropna().to_numpy(dtype=float)
    totals = _totals(bank)
    return [
        SharedFigure(
            "bank",
            "Test information: where the bank separates systems",
            "Test information of the bank and of the whole pool, by ability",
            information_totals(bank.theta, totals, systems),
        ),
        SharedFigure(
            "bank",
            "Standard error of an ability",
            "Standard error of ability from the bank and from the whole pool, by ability",
            standard_errors(bank.theta, totals, systems),
        ),
    ]


def _totals(bank: Bank) -> dict[str, Any]:
    return {
        f"bank ({bank.size:,})": bank.information,
        f"all that pass and vary ({bank.candidates:,})": bank.information_all,
    }
