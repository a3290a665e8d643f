"""Figure of how much of each system each judge labelled."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from .style import cell_share, columns_axis, figure, labels, rows_axis

# from nearly transparent to a blue on which the text of both themes is legible
SHADES = ((0.0, "rgba(47, 127, 216, 0.04)"), (1.0, "rgba(47, 127, 216, 0.6)"))
MOST_WRITTEN = 8  # most judges with shares written in the cells; for more there is a colour bar
LIGHTEST = 0.9  # the palest colour is a share of at most this, so that tiny differences look equal
MOST = 40  # most systems, and most judges, that are shown: the least covered ones


def coverage(table: pd.DataFrame) -> go.Figure:
    """Heat map of each judge's labels of each system, as a share of the largest number that a judge has for it.

    table: ``Dataset.coverage``. Only the MOST least covered systems and judges are shown.
    """
    share = table.pivot_table(index="system", columns="judge", values="share", aggfunc="sum")
    known = table.pivot_table(index="system", columns="judge", values="labels", aggfunc="sum")
    systems = share.mean(axis=1).sort_values(kind="stable").index[:MOST].sort_values()
    judges = share.mean(axis=0).sort_values(kind="stable").index[:MOST].sort_values()
    shown, counts = share.loc[systems, judges].to_numpy(), known.loc[systems, judges].to_numpy()
    written = len(judges) <= MOST_WRITTEN
    fig = figure("", "", height=90 + 26 * len(systems))
    fig.add_heatmap(
        z=shown,
        zmin=min(np.floor(10 * np.nanmin(shown)) / 10, LIGHTEST),
        zmax=1,
        colorscale=SHADES,
        xgap=2,
        ygap=2,
        showscale=not written,
        colorbar={"title": {"text": "share", "side": "top"}, "thickness": 12, "tickformat": ".0%"},
        text=[[cell_share(cell) for cell in row] for row in shown] if written else None,
        texttemplate="%{text}" if written else None,
        customdata=[
            [f"{s}<br>{j}<br>{counts[i, k]:,.0f} labels" for k, j in enumerate(labels(judges, 80))]
            for i, s in enumerate(labels(systems, 80))
        ],
        hovertemplate="%{customdata}, %{z:.1%}<extra></extra>",
    )
    rows_axis(fig, systems.tolist())
    columns_axis(fig, judges.tolist())
    return fig
