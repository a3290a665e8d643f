"""Names next to points: as many as fit without covering each other or another point."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from ..types import FloatArray
from .style import BLUE, GREY, hover, labels

WIDTHS = np.array([400.0, 560.0, 800.0, 1150.0])
"""Widths of the plotting area in pixels, from half a page to a whole one."""
MORE = 230  # pixels by which a figure of more than MOST_CROSSED points is higher
ACROSS, UP = 0.75, 0.8  # shares of the plotting area's width and height that the points span
LETTER, LINE, POINT = 6.4, 14.0, 6.0  # a letter's width, a line's height, a point's radius, in pixels
LONGEST = 20  # characters of a name
MOST_LED = 40  # most points of a figure whose names may be connected to them by lines
MOST_CROSSED = 20  # most points of a figure whose lines may cross, so that each point has its name
STEPS = np.linspace(0.0, 1.0, 16)[:, None]  # positions on a line at which it is tested for what it meets
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
    at = np.log10(x) if fig.layout.xaxis.type == "log" else x
    if len(systems) > MOST_CROSSED:
        fig.update_layout(height=fig.layout.height + MORE)
    margin = fig.layout.margin
    texts, sides, led = place_names(systems, at, y, fig.layout.height - margin.t - margin.b)
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
    fig.update_xaxes(range=_range(at, ACROSS)).update_yaxes(range=_range(y, UP))
    for i, text, (right, up) in led:
        fig.add_annotation(
            x=float(at[i]),
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


def place_names(
    names: Sequence[str], x: FloatArray, y: FloatArray, height: float
) -> tuple[list[str], list[str], list[tuple[int, str, tuple[float, float]]]]:
    """The text at each of the M points, "" if there is no room or no point, its plotly text position, and more names.

    The latter are farther off, connected to their points by thin lines: point, text, and pixels to the right and up.
    Only figures of at most MOST_LED points have them; other names are shown on hover. The first names have priority. No
    name covers another, a point or a line at any of WIDTHS. height: of the plotting area, in pixels.
    """
    shown, room = labels(names, LONGEST), _Room(x, y, height)
    texts, sides = [""] * len(shown), ["top center"] * len(shown)
    for i, text in enumerate(shown):
        for side, (right, up) in SIDES.items():
            half = LETTER * len(text) / 2
            if room.take(i, text, right * (half + POINT), up * (LINE / 2 + POINT)):
                texts[i], sides[i] = text, side
                break
    led: dict[int, tuple[int, str, tuple[float, float]]] = {}
    for crossing in (False, True)[: (len(shown) <= MOST_LED) + (len(shown) <= MOST_CROSSED)]:
        for i, text in enumerate(shown):
            if not texts[i] and i not in led:
                offset = next(
                    (at for at in OFFSETS if room.take(i, text, *at, led=True, crossing=crossing)), None
                )
                led |= {i: (i, text, offset)} if offset else {}
    return texts, sides, [*led.values()]


class _Room:
    """The space that M points, their names and lines take at each of W widths, in pixels."""

    def __init__(self, x: FloatArray, y: FloatArray, height: float) -> None:
        across, up = _places(x) * ACROSS * WIDTHS[:, None], _places(y) * UP * height
        self._height = height
        self._points = np.stack([across, np.broadcast_to(up, across.shape)], axis=2)  # (W, M, 2)
        self._boxes, self._lines = np.empty((len(WIDTHS), 0, 4)), np.empty((len(WIDTHS), 0, len(STEPS), 2))

    def take(
        self, i: int, text: str, right: float, up: float, *, led: bool = False, crossing: bool = False
    ) -> bool:
        """Place a name with its middle at this offset from point i; False, without placing it, if it covers anything.

        led: with a line. crossing: whether that may cross other lines, names and points.
        """
        middle = self._points[:, i] + np.array([right, up])
        half = np.array([LETTER * len(text) / 2, LINE / 2])
        box = np.concatenate([middle - half, middle + half], axis=1)[:, None]  # left, bottom, right, top
        if not np.isfinite(box).all() or (box[:, 0, 0] < -0.15 * WIDTHS).any():
            return False
        if (box[:, 0, 2] > (ACROSS + 0.15) * WIDTHS).any():
            return False
        if led and (box[..., 1].min() < -0.1 * self._height or box[..., 3].max() > (UP + 0.1) * self._height):
            return False
        others = np.delete(self._points, i, axis=1)
        if _within(others, box, POINT / 2).any():
            return False
        if not crossing and _within(self._lines.reshape(len(WIDTHS), -1, 2), box, 1.0).any():
            return False
        if ((box[..., :2] < self._boxes[..., 2:]) & (self._boxes[..., :2] < box[..., 2:])).all(axis=2).any():
            return False
        if led:
            line = self._points[:, i, None] + STEPS * np.array([right, up])  # (W, S, 2)
            meets = not crossing and (
                _within(line[:, :, None], self._boxes[:, None], 1.0).any()
                or _near(line, others, POINT)
                or _cross(line, self._lines)
            )
            if meets:
                return False
            self._lines = np.concatenate([self._lines, line[:, None]], axis=1)
        self._boxes = np.concatenate([self._boxes, box], axis=1)
        return True


def _within(points: FloatArray, boxes: FloatArray, more: float) -> FloatArray:
    """Which points (…, 2) lie in boxes (…, 4) that are enlarged by ``more`` pixels."""
    return np.asarray(((points > boxes[..., :2] - more) & (points < boxes[..., 2:] + more)).all(axis=-1))


def _near(line: FloatArray, points: FloatArray, pixels: float) -> bool:
    """Whether any step of a line (W, S, 2) is nearer than ``pixels`` to any of the points (W, M, 2)."""
    apart = line[:, :, None] - points[:, None]
    return bool(((apart**2).sum(axis=3) < pixels**2).any())


def _cross(line: FloatArray, lines: FloatArray) -> bool:
    """Whether a line (W, S, 2) crosses any of the lines (W, L, S, 2)."""
    a, b = line[:, None, 0], line[:, None, -1]
    c, d = lines[:, :, 0], lines[:, :, -1]
    return bool(((_turn(a, b, c) * _turn(a, b, d) <= 0) & (_turn(c, d, a) * _turn(c, d, b) <= 0)).any())


def _turn(a: FloatArray, b: FloatArray, c: FloatArray) -> FloatArray:
    """The sign tells on which side of the line from a to b the point c lies, (…, 2) each."""
    return np.asarray(
        (b[..., 0] - a[..., 0]) * (c[..., 1] - a[..., 1]) - (b[..., 1] - a[..., 1]) * (c[..., 0] - a[..., 0])
    )


def _places(values: FloatArray) -> FloatArray:
    """The values scaled to 0 for the least and 1 for the largest; NaN unknown."""
    known = values[np.isfinite(values)]
    width = float(np.ptp(known)) if len(known) else 0.0
    if width == 0:
        return np.where(np.isfinite(values), 0.5, np.nan)
    return np.asarray((np.where(np.isfinite(values), values, np.nan) - known.min()) / width)


def _range(values: FloatArray, share: float) -> list[float] | None:
    """The ends of an axis of which the values span ``share``; None if they do not differ."""
    known = values[np.isfinite(values)]
    width = float(np.ptp(known)) if len(known) else 0.0
    room = width * (1 / share - 1) / 2
    return [float(known.min()) - room, float(known.max()) + room] if width else None
