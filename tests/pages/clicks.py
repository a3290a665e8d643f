"""A click on a chart of a page that Streamlit's AppTest runs, told as the browser tells it."""

from __future__ import annotations

import json
from typing import Any

from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.testing.v1 import AppTest


def charts(app: AppTest) -> dict[str, Any]:
    """The charts of the page that is shown, by what they say of themselves."""
    return {chart.proto.alt: chart.proto for chart in app.get("plotly_chart")}


def click(app: AppTest, alt: str, *, trace: int = 0, number: int = 0, x: Any = 0, y: Any = 0) -> AppTest:
    """Click a mark of the chart that says this of itself."""
    mark = {"curve_number": trace, "point_index": number, "x": x, "y": y}
    return _send(app, alt, {"points": [mark], "point_indices": [number], "box": [], "lasso": []})


def drag(app: AppTest, alt: str, low: float, high: float) -> AppTest:
    """Drag a range of x on the chart that says this of itself."""
    box = {"xref": "x", "yref": "y", "x": [low, high], "y": [0, 1]}
    inside = {"curve_number": 0, "point_index": 0, "x": low, "y": 0}  # of all bars the first alone
    return _send(app, alt, {"points": [inside], "point_indices": [0], "box": [box], "lasso": []})


def _send(app: AppTest, alt: str, selection: dict[str, Any]) -> AppTest:
    states = app._tree.get_widget_states()
    states.widgets.append(
        WidgetState(id=charts(app)[alt].id, string_value=json.dumps({"selection": selection}))
    )
    return app._run(states)
