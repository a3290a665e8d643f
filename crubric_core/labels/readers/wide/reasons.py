"""Find the columns of reasons beside the label columns of a wide table, such as ``clarity_reason``."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from ....errors import IngestError
from ..columns.query_names import parted_name
from ..columns.specs import synonyms_of
from ..plan import Columns, wide_columns
from .column_names import AFFIX, spread_names

_RULE = re.compile(r"~ .*\{column\}.*")
_WORDS = (
    "reason",
    *synonyms_of("labels", "reason"),
    "comments",
    "feedback",
    "critique",
    "reasons",
    "thought",
)
_PATTERNS = tuple(p for w in _WORDS for p in (f"~ {{column}}_{w}", f"~ {w}_{{column}}"))


def reason_rule(columns: Sequence[str], wide: Sequence[str]) -> str:
    """The rule that finds columns of reasons for the most label columns; "" if none finds any."""
    free = _free(columns, wide)
    found = {rule: len(reasons_by(rule, columns, wide)) for rule in _rules_used(free)}
    return max((rule for rule, many in found.items() if many), key=found.__getitem__, default="")


def reasons_by(rule: str, columns: Sequence[str], wide: Sequence[str]) -> dict[str, str]:
    """Label column → the column of its reasons, by a rule such as ``~ {column}_reason``.

    ``{column}`` is the name of the label column, with or without an ending such as ``_score``.
    Names are compared without case, and with any separator between words.
    """
    free = _free(columns, wide)
    found = {}
    for whole, bare in zip(wide, spread_names(wide), strict=True):
        own = dict.fromkeys((whole, bare, re.sub(rf"(?i)[\s_.\-/:]+({AFFIX})$", "", whole)))
        names = (parted_name(rule.removeprefix("~ ").replace("{column}", name)) for name in own)
        column = next((free[name] for name in names if name in free), None)
        if column is not None:
            found[whole] = column
    return found


def reason_columns(columns: Sequence[str]) -> frozenset[str]:
    """The columns that are named as the reasons of another one of the columns: ``tone_reason`` beside ``tone``."""
    compared = {c: parted_name(c) for c in columns}
    bare = {re.sub(rf"_({AFFIX})$", "", name) for name in compared.values()}
    names = {
        parted_name(rule.removeprefix("~ ").replace("{column}", name))
        for rule in _rules_used(compared.values())
        for name in bare | set(compared.values())
    }
    return frozenset(c for c, name in compared.items() if name in names)


def is_reason_rule(value: object) -> bool:
    """Whether a mapping's value is a rule for columns of reasons, such as ``~ {column}_reason``."""
    return isinstance(value, str) and bool(_RULE.fullmatch(value))


def reasons_of(mapping: Columns, columns: Sequence[str], source: str) -> Mapping[str, str]:
    """Label column → the column of its reasons, by the mapping's rule; {} if it has none.

    Raises IngestError where the rule finds no column.
    """
    rule, wide = mapping.get("reason"), wide_columns(mapping)
    if not is_reason_rule(rule):
        return {}
    if found := reasons_by(str(rule), columns, wide):
        return found
    raise IngestError(
        f"The mapping takes reasons by {rule!r}, which finds no column of {source} beside a column of labels: name the "
        "labels' columns as a list, and the reasons' as in \"~ {column}_reason\"."
    )


def _free(columns: Sequence[str], wide: Sequence[str]) -> dict[str, str]:
    """Name as ``parted_name`` writes it → the first column with that name that holds no labels."""
    labels = set(wide)
    return {parted_name(c): c for c in reversed(columns) if c not in labels}


def _rules_used(names: Collection[str]) -> list[str]:
    """The known rules that match the beginning and end of any of the names. names: as ``parted_name`` writes them."""
    ends = {rule: rule.removeprefix("~ ").split("{column}") for rule in _PATTERNS}
    return [
        rule
        for rule, (first, last) in ends.items()
        if any(n.startswith(first) and n.endswith(last) for n in names)
    ]
