"""Put names next to points, as many as fit without covering each other or another point."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from ..types import FloatArray
from .style import BLUE, GREY, hover, labels

WIDTH, HEIGHT = 430.0, 330.0  # size of the plotting area in half a page, in pixels
LETTER, LINE, POINT = 6.4, 14.0, 6.0  # a letter's width, a line's height, a point's radius, in pixels
LONGEST = 20  # characters of a name
MOST_LED = 40  # most points of a figure whose names may be connected to them by lines
OFFSETS = [
    (r * np.sin(turn), r * np.cos(turn))
    for r in (28, 42, 58, 76, 96, 120)
    for turn in np.linspace(0, 2 * np.pi, 16, endpoint=False)
]
SIDES = {
    "top center": (0.0, 1.0),
    "bottom center": (0.0, -1.0),
    "middle right": (1.0, 0.0),
    "middle left": (-1.0, 0.0),
}


def named_points(
    fig: go.Figure,
    systems: Sequence[str],
    x: FloatArray,
    y: FloatArray,
    told: str,
    colour: str | list[str] = BLUE,
) -> None:
    """Add a point with a name for each system. x, y: (M,) coordinates; x may be on a log axis.

    told: text shown on hover below the name, as a plotly template. colour: of all points, or a list for each.
    """
    at = np.log(x) if fig.layout.xaxis.type == "log" else x
    texts, sides = place_names(systems, at, y)
    fig.add_scatter(
        x=x,
        y=y,
        mode="markers+text",
        text=texts,
        textposition=sides,
        textfont={"size": 11},
        marker={"color": colour, "size": 9},
        customdata=labels(systems, 80),
        **hover(f"%{{customdata}}<br>{told}<extra></extra>"),
        cliponaxis=False,
    )
    name_the_rest(fig, systems, at, y, texts, sides)


def place_names(names: Sequence[str], x: FloatArray, y: FloatArray) -> tuple[list[str], list[str]]:
    """The text at each of the M points, "" if there is no room or no point, and its plotly text position.

    The first names have priority.
    """
    shown, points = labels(names, LONGEST), np.stack([_pixels(x, WIDTH), _pixels(y, HEIGHT)], axis=1)
    boxes: list[tuple[float, float, float, float]] = []
    texts, sides = [], []
    for i, text in enumerate(shown):
        others = np.delete(points, i, axis=0)
        found = next(
            (
                (side, box)
                for side, direction in SIDES.items()
                if _free(box := _box(points[i], text, direction), boxes, others)
            ),
            None,
        )
        texts.append(text if found else "")
        sides.append(found[0] if found else "top center")
        if found:
            boxes.append(found[1])
    return texts, sides


def name_the_rest(
    fig: go.Figure,
    names: Sequence[str],
    x: FloatArray,
    y: FloatArray,
    texts: Sequence[str],
    sides: Sequence[str],
) -> None:
    """Name the points that ``place_names`` left without a name, farther away and connected by a thin line.

    x, y: as for ``place_names``: on a log axis natural logarithms. texts, sides: the result of ``place_names``. Does
    nothing above MOST_LED points, whose names are shown on hover.
    """
    if len(names) > MOST_LED:
        return
    shown = labels(names, LONGEST)
    # The axes extend beyond the points, so that the points use only a part of the plotting area.
    points = np.stack([_pixels(x, 0.75 * WIDTH), _pixels(y, 0.88 * HEIGHT)], axis=1)
    boxes = [_box(points[i], text, SIDES[sides[i]]) for i, text in enumerate(texts) if text]
    for i, text in enumerate(shown):
        if texts[i] or not np.isfinite(points[i]).all():
            continue
        for right, up in OFFSETS:
            box = _box(points[i] + np.array([right, up]), text, (0.0, 0.0))
            if box[1] >= 0 and box[3] <= HEIGHT and _free(box, boxes, points):
                boxes.append(box)
                fig.add_annotation(
                    x=_coordinate(fig, x[i]),
                    y=float(y[i]),
                    text=text,
                    ax=right,
                    ay=-up,
                    showarrow=True,
                    arrowhead=0,
                    arrowwidth=0.7,
                    arrowcolor=GREY,
                    font={"size": 11},
                )
                break


def _coordinate(fig: go.Figure, x: float) -> float:
    return float(x) / np.log(10) if fig.layout.xaxis.type == "log" else float(x)


def _pixels(values: FloatArray, size: float) -> FloatArray:
    known = values[np.isfinite(values)]
    width = float(np.ptp(known)) if len(known) else 0.0
    if width == 0:
        return np.where(np.isfinite(values), size / 2, np.nan)
    return np.asarray((values - known.min()) / width * size)


def _box(point: FloatArray, text: str, side: tuple[float, float]) -> tuple[float, float, float, float]:
    """(left, bottom, right, top) in pixels of the text beside a point; side: direction (x, y) from the point."""
    half, tall = LETTER * len(text) / 2, LINE / 2
    x = point[0] + side[0] * (half + POINT)
    y = point[1] + side[1] * (tall + POINT)
    return x - half, y - tall, x + half, y + tall


def _free(
    box: tuple[float, float, float, float],
    boxes: Sequence[tuple[float, float, float, float]],
    points: FloatArray,
) -> bool:
    left, bottom, right, top = box
    if not np.isfinite(left) or left < -WIDTH * 0.15 or right > WIDTH * 1.15:
        return False
    inside = (abs(points[:, 0] - (left + right) / 2) < (right - left) / 2 + POINT / 2) & (
        abs(points[:, 1] - (bottom + top) / 2) < (top - bottom) / 2 + POINT / 2
    )
    return not inside.any() and all(
        right <= b[0] or b[2] <= left or top <= b[1] or b[3] <= bottom for b in boxes
    )
