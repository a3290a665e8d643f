"""Tables of the pages: even percentages, long names, rows in sight."""

from __future__ import annotations

import pandas as pd
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from crubric_core.ui import table_widgets


def page() -> None:
    import pandas as pd
    import streamlit as st

    from crubric_core.ui import table_widgets

    frame = pd.DataFrame({"share": [0.5, 1 / 3, None], "name": ["a", "b", "c"]})
    table_widgets.table(
        frame, {"name": "name", "share": st.column_config.NumberColumn("share", format="percent")}
    )


def test_shares_are_shown_with_one_decimal_each() -> None:
    app = AppTest.from_function(page).run()
    assert not app.exception
    shown = app.dataframe[0]
    assert shown.value["share"].round(1).tolist()[:2] == [50.0, 33.3]
    assert pd.isna(shown.value["share"].iloc[2])
    assert '"format": "%.1f%%"' in shown.proto.columns.replace('"format":"', '"format": "')
    assert st.column_config.NumberColumn("x", format="percent")["type_config"]["format"] == "percent"


@pytest.mark.parametrize(
    ("shares", "shown"),
    [
        ([0.5, 0.0006, 0.0], "%.1f%%"),
        ([0.5, 0.0003, 0.0], "%.3g%%"),  # 0.03% and not 0.0%
        ([0.5, 1e-9, None], "%.3g%%"),
    ],
)
def test_a_positive_share_is_never_shown_as_none(shares: list[float | None], shown: str) -> None:
    frame = pd.DataFrame({"share": shares})
    columns = {"share": st.column_config.NumberColumn("share", format="percent")}
    assert table_widgets.even_percentages(frame, columns)[1]["share"]["type_config"]["format"] == shown


def long_page() -> None:
    import pandas as pd
    import streamlit as st

    from crubric_core.ui import table_widgets

    frame = pd.DataFrame({"name": range(7), "hidden": range(7)}, index=range(100, 107))
    table_widgets.MOST_ROWS = 4
    chosen = table_widgets.pick_some(
        frame, {"name": "name"}, key="long", rows=2, start=[2, 5], others=table_widgets.SEARCHED
    )
    table_widgets.table(frame, {"name": "name"})
    table_widgets.MOST_ROWS = 1_000
    st.write(f"chosen {chosen}")


def named_page() -> None:
    import pandas as pd
    import streamlit as st

    from crubric_core.ui import table_widgets

    columns = {"system": "system", "theta": st.column_config.NumberColumn("ability θ"), "tier": "tier"}
    table_widgets.download("Download x.csv", pd.DataFrame({"theta": [1.0]}), "x.csv", columns)


def test_a_download_says_which_of_its_columns_is_which() -> None:
    (button,) = AppTest.from_function(named_page).run().get("download_button")
    assert button.proto.help == "Its columns have the command line's names: “ability θ” is `theta`."


def test_a_long_table_sends_its_first_rows_and_says_so() -> None:
    app = AppTest.from_function(long_page).run()
    shown = app.dataframe[0].value
    assert list(shown.columns) == ["name"]
    assert shown["name"].tolist() == [0, 1, 2, 3]
    assert (
        app.caption[0].value
        == "The first 4 of 7 rows; sorting applies only to these. Search or filter for others."
    )
    assert (
        app.caption[1].value == "The first 4 of 7 rows; sorting applies only to these. The download has all."
    )
    assert app.markdown[0].value == "chosen [102]"


def open_page() -> None:
    import numpy as np
    import pandas as pd

    from crubric_core.ui import table_widgets

    table_widgets.table(pd.DataFrame({"to": [1.5, np.inf, -np.inf], "n": [1, 2, 3]}), {"to": "to", "n": "n"})


def test_an_open_end_of_an_interval_is_a_dash_in_a_table() -> None:
    shown = AppTest.from_function(open_page).run().dataframe[0].value
    assert shown["to"].tolist()[0] == 1.5
    assert shown["to"].isna().tolist() == [False, True, True]
    assert shown["n"].tolist() == [1, 2, 3]


def test_what_rounds_to_nothing_has_no_sign() -> None:
    def page() -> None:
        import pandas as pd
        import streamlit as st

        from crubric_core.ui import table_widgets

        b = st.column_config.NumberColumn("b", format="%.2f")
        table_widgets.table(pd.DataFrame({"b": [-1e-9, -0.004, -0.006, 0.004]}), {"b": b})

    assert AppTest.from_function(page).run().dataframe[0].value["b"].tolist() == [0.0, 0.0, -0.006, 0.004]


def test_a_column_of_long_names_leaves_room_for_the_others() -> None:
    frame = pd.DataFrame({"rubric": ["x" * 200], "query": ["q1"], "text": ["y" * 200], "n": [1]})
    given = {
        "rubric": "rubric",
        "query": "query",
        "text": st.column_config.TextColumn("text", width="large"),
        "n": "n",
    }
    _, shown = table_widgets.narrow_names(frame, given)
    assert shown["rubric"]["width"] == table_widgets.NAME_WIDTH
    assert {name: shown[name] for name in ("query", "text", "n")} == {
        name: given[name] for name in ("query", "text", "n")
    }


@pytest.mark.parametrize("column", ["rubric", "first", "second"])
def test_a_long_name_in_a_narrow_column_shows_that_it_is_cut(column: str) -> None:
    names = [f"{n}-a-rubric-with-a-name-that-no-column-shows-whole-{n}" for n in "abc"]
    told, _ = table_widgets.narrow_names(pd.DataFrame({column: names}), {column: column})
    assert all("…" in cut and cut.endswith(cut[0]) for cut in told[column])


def test_long_names_that_begin_alike_look_different_in_a_narrow_column() -> None:
    names = [f"{'a_task_of_summarising_long_documents' * 2}_{n:02d}" for n in range(20)]
    frame = pd.DataFrame({"rubric": [*names, None], "reason": [*names, None]})
    told, shown = table_widgets.narrow_names(frame, {"rubric": "rubric", "reason": "reason"})
    cut = told["rubric"].dropna()
    assert cut.is_unique
    assert cut.str.len().max() <= table_widgets.IN_SIGHT
    assert [text[-2:] for text in cut] == [name[-2:] for name in names]
    assert table_widgets.APART in shown["rubric"]["help"]
    assert told["reason"].dropna().tolist() == names


def test_a_long_name_below_the_first_rows_widens_its_column() -> None:
    names = [f"model-{n}" for n in range(12)] + ["a-name-of-twenty-six-letter"]
    _, shown = table_widgets.narrow_names(pd.DataFrame({"system": names}), {"system": "system"})
    assert shown["system"]["width"] >= 7 * len(names[-1])
    _, shown = table_widgets.narrow_names(pd.DataFrame({"system": names[::-1]}), {"system": "system"})
    assert shown["system"] == "system", "the browser measures it"


def test_a_column_of_texts_without_any_is_left_out_and_named_and_unknown_numbers_stay_dashes() -> None:
    def page() -> None:
        import pandas as pd
        import streamlit as st

        from crubric_core.ui import table_widgets

        columns = {"rubric": "rubric", "text": "wording", "x": st.column_config.NumberColumn("x")}
        frame = pd.DataFrame({"rubric": ["a", "b"], "text": [None, None], "x": [None, float("nan")]})
        table_widgets.table(frame, columns)
        table_widgets.table(frame.assign(text=["Is short.", None]), columns)
        table_widgets.table(frame.head(0), columns)

    app = AppTest.from_function(page).run()
    without, given, empty = app.dataframe
    assert list(without.value) == ["rubric", "x"]
    assert list(given.value) == list(empty.value) == ["rubric", "text", "x"]
    assert [said.value.replace("\\", "") for said in app.caption] == [
        "Not shown, because no row has a value: wording."
    ]
