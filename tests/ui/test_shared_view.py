from __future__ import annotations

import pandas as pd

from crubric_core.ui.shared_view.content import figures_of
from tests.sharing.large import large_view


def test_a_phone_gets_figures_with_short_names_and_no_colour_bar() -> None:
    made = figures_of(large_view(12, pd.DataFrame(columns=["order", "rubric", "query", "text"])))
    separation = next(figure for figure in made if figure.part == "separation")
    wide, narrow = separation.sent.to_dict(), separation.narrow.to_dict()
    assert narrow["data"][0]["showscale"] is False
    assert wide["data"][0].get("showscale") is not False
    assert narrow["layout"]["xaxis"]["tickangle"] == -90
    assert narrow["layout"]["font"]["color"] == wide["layout"]["font"]["color"]


def test_on_a_phone_columns_without_names_say_that_they_are_in_the_order_of_the_rows() -> None:
    for systems, title in ((14, ""), (15, "in the order of the rows")):
        (separation,) = (f for f in figures_of(large_view(systems)) if f.part == "separation")
        axis = separation.narrow.to_dict()["layout"]["xaxis"]
        assert axis["title"]["text"] == title
        assert axis["showticklabels"] is not bool(title)
