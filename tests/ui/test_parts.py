"""Which parts of a page a slider draws anew."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest


def page() -> None:
    """Two parts that read one setting each, one that reads both and is slow after a, a line outside; runs are kept."""
    import streamlit as st

    from crubric_core.ui.parts import begin_page, end_page, part, redraw

    runs = st.session_state.setdefault("runs", [])
    begin_page("one")
    for name in ("a", "b", "unread"):
        st.slider(name, 0, 9, key=name, on_change=redraw, args=(name,))
    place = st.empty()
    st.text("outside")
    runs.append("page")

    def show(name: str) -> str:
        runs.append(name)
        if name == "both" and st.session_state.get("fails"):
            raise RuntimeError
        if name == "first" and st.session_state.get("writes outside"):
            place.text("first line")
        st.text(f"{name}: {st.session_state['a']}, {st.session_state['b']}")
        return name

    ahead = bool(st.session_state.get("ahead"))
    assert part("first", lambda: show("first"), ("a",), first=ahead) == "first"
    part("second", lambda: show("second"), ("b",))
    part("both", lambda: show("both"), ("a", "b"), slow=("a",))
    if not st.session_state.get("stops"):
        end_page()


def opened(**state: object) -> AppTest:
    """The page, drawn once; what ran then is forgotten."""
    app = AppTest.from_function(page)
    for name, value in state.items():
        app.session_state[name] = value
    app.run()
    app.session_state["runs"].clear()
    return app


def sent(app: AppTest) -> list[str]:
    """The texts that the last run sent."""
    return [text.value for text in app.text]


def test_a_move_draws_the_parts_that_read_the_setting_and_nothing_else():
    app = opened()
    app.slider(key="b").set_value(3).run()
    assert app.session_state["runs"] == ["both", "second"]
    assert sent(app) == ["both: 0, 3", "second: 0, 3"]


def test_a_part_may_be_drawn_before_the_others():
    app = opened(ahead=True)
    app.slider(key="a").set_value(3).run()
    assert app.session_state["runs"] == ["first", "both"]


def test_a_part_that_takes_long_after_a_setting_is_drawn_last_after_its_moves():
    app = opened()
    app.slider(key="a").set_value(3).run()
    assert app.session_state["runs"] == ["first", "both"]


def test_a_move_that_no_part_reads_draws_the_page():
    app = opened()
    app.slider(key="unread").set_value(3).run()
    assert app.session_state["runs"] == ["page", "first", "second", "both"]


def test_a_page_that_was_stopped_before_its_end_is_drawn_whole():
    app = opened(stops=True)
    app.slider(key="a").set_value(3).run()
    assert app.session_state["runs"] == ["page", "first", "second", "both"]


def test_parts_that_an_earlier_move_did_not_come_to_are_drawn_by_the_next():
    app = opened()
    app.session_state["parts not drawn since"] = ["first"]
    app.slider(key="b").set_value(4).run()
    assert app.session_state["runs"] == ["both", "second", "first"]
    assert app.session_state["parts not drawn since"] == []


@pytest.mark.usefixtures("page_fails")
def test_a_part_that_fails_says_so_in_its_place_and_the_others_are_drawn():
    app = opened(fails=True)
    app.slider(key="a").set_value(3).run()
    assert sent(app) == ["first: 3, 0"]
    assert [error.value.startswith("Something unexpected went wrong") for error in app.error] == [True]
    assert not app.exception


def test_a_part_whose_place_outside_it_was_never_made_has_the_page_drawn():
    app = opened()
    app.session_state["writes outside"] = True  # as if the run before had been stopped before it came there
    app.slider(key="a").set_value(3).run()
    assert app.session_state["runs"] == ["first", "page", "first", "second", "both"]
    assert sent(app) == ["first line", "outside", "first: 3, 0", "second: 3, 0", "both: 3, 0"]
    assert not app.exception
    assert not app.error
