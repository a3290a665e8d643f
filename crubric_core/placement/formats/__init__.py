"""Exports of a bank for other tools; each stores the rubrics' ids in a field that the tool preserves."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..bank_scale import BankScale
from . import autorubric, healthbench, inspect, promptfoo, table

EXPORTS: Mapping[str, Callable[[BankScale], dict[str, bytes]]] = {
    "csv": table.files,
    "healthbench": healthbench.files,
    "autorubric": autorubric.files,
    "promptfoo": promptfoo.files,
    "inspect": inspect.files,
}
"""Format → the files of it, by name; an export raises ExportError where the tool cannot hold the bank."""
