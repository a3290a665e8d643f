"""Names next to points: as many as fit without covering each other or another point."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from ..types import FloatArray
from .style import BLUE, GREY, hover, labels

WIDTHS = np.array(
    [400.0, 560.0, 800.0, 1150.0]
)  # of the plotting area, from half a page to a whole one, in pixels
MORE = 230  # pixels by which a figure of more than MOST_CROSSED points is higher
ACROSS, UP = 0.75, 0.8  # of these are between the outermost points
LETTER, LINE, POINT = 6.4, 14.0, 6.0  # a letter's width, a line's height, a point's radius
LONGEST = 20
MOST_LED = 40  # points of a figure of which some may have their names on lines
MOST_CROSSED = (
    20  # points of a figure of which each is to have its name, if need be on a line that crosses another
)
STEPS = np.linspace(0.0, 1.0, 16)[:, None]  # of a line, at which it is looked whether it meets anything
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
    """Add a point for each system, (M,) coordinates, with its name; on a log axis where ``fig`` has one.

    told: what the pointer tells below the name, in plotly's terms. colour: of all points, or of each.
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
    """The text at each point (M,), "" where there is no room or no point, and its side, as plotly calls it.

    Then those farther off, with a thin line to their points: point, text, and pixels to the right and up; up to
    MOST_LED points have such. Of others the pointer tells. The first names come first. No name covers another, a point
    or a line, whichever of WIDTHS the plotting area has. height: of that area, in pixels.
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
    """Where points (M,), names and lines are, in each of W widths, in pixels."""

    def __init__(self, x: FloatArray, y: FloatArray, height: float) -> None:
        across, up = _places(x) * ACROSS * WIDTHS[:, None], _places(y) * UP * height
        self._height = height
        self._points = np.stack([across, np.broadcast_to(up, across.shape)], axis=2)  # (W, M, 2)
        self._boxes, self._lines = np.empty((len(WIDTHS), 0, 4)), np.empty((len(WIDTHS), 0, len(STEPS), 2))

    def take(
        self, i: int, text: str, right: float, up: float, *, led: bool = False, crossing: bool = False
    ) -> bool:
        """Place a name, its middle so far from point i; False where it would cover anything.

        led: with a line, which may cross others, names and points only if ``crossing``.
        """
        middle = self._points[:, i] + np.array([right, up])
        half = np.array([LETTER * len(text) / 2, LINE / 2])
        box = np.concatenate([middle - half, middle + half], axis=1)[
            :, None
        ]  # (W, 1, 4): left, bottom, right, top
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
    """Which points (…, 2) are in boxes (…, 4) that are larger by so many pixels."""
    return np.asarray(((points > boxes[..., :2] - more) & (points < boxes[..., 2:] + more)).all(axis=-1))


def _near(line: FloatArray, points: FloatArray, pixels: float) -> bool:
    """Whether any step of a line (W, S, 2) is so near to any of the points (W, M, 2)."""
    apart = line[:, :, None] - points[:, None]
    return bool(((apart**2).sum(axis=3) < pixels**2).any())


def _cross(line: FloatArray, lines: FloatArray) -> bool:
    """Whether a line (W, S, 2) crosses any of the lines (W, L, S, 2)."""
    a, b = line[:, None, 0], line[:, None, -1]
    c, d = lines[:, :, 0], lines[:, :, -1]
    return bool(((_turn(a, b, c) * _turn(a, b, d) <= 0) & (_turn(c, d, a) * _turn(c, d, b) <= 0)).any())


def _turn(a: FloatArray, b: FloatArray, c: FloatArray) -> FloatArray:
    """To which side of the way from a to b a point c lies, (…, 2) each."""
    return np.asarray(
        (b[..., 0] - a[..., 0]) * (c[..., 1] - a[..., 1]) - (b[..., 1] - a[..., 1]) * (c[..., 0] - a[..., 0])
    )


def _places(values: FloatArray) -> FloatArray:
    """From 0, the least, to 1, the largest; NaN unknown."""
    known = values[np.isfinite(values)]
    width = float(np.ptp(known)) if len(known) else 0.0
    if width == 0:
        return np.where(np.isfinite(values), 0.5, np.nan)
    return np.asarray((np.where(np.isfinite(values), values, np.nan) - known.min()) / width)


def _range(values: FloatArray, share: float) -> list[float] | None:
    """The ends of an axis of which the values take that share; None where they do not differ."""
    known = values[np.isfinite(values)]
    width = float(np.ptp(known)) if len(known) else 0.0
    room = width * (1 / share - 1) / 2
    return [float(known.min()) - room, float(known.max()) + room] if width else None
