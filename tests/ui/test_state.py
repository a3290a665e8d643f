"""The parameters of an address that pages understand."""

from __future__ import annotations

import ast
from itertools import chain

from crubric_core.ui import state
from tests.pages.conftest import ROOT

CHOOSERS = ("choose_one", "lazy_tabs", "toggle", "check_choices")


def _names(call: ast.Call) -> set[str]:
    """The constants among what is given to a chooser that may be its name in the address."""
    bound = any(word.arg == "bind" for word in call.keywords)
    called = ast.unparse(call.func).removeprefix("widgets.").removeprefix("state.")
    keys = [word.value for word in call.keywords if word.arg == "key"] if bound or called in CHOOSERS else []
    place = 0 if called == "check_choices" else -1
    keys += call.args[place:][:1] if called in CHOOSERS and call.args and not keys else []
    each = chain.from_iterable(ast.walk(key) for key in keys)
    return {node.value for node in each if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def test_every_chooser_that_stands_in_the_address_is_among_the_known_parameters() -> None:
    files = [*(ROOT / "pages").glob("*.py"), *(ROOT / "crubric_core" / "ui").rglob("*.py")]
    calls = [
        node for file in files for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call)
    ]
    found = set().union(*map(_names, calls))
    assert {"tiers", "held_out", "why two", "part", "beside"} <= found
    assert found <= state.SHOWN, found - state.SHOWN
