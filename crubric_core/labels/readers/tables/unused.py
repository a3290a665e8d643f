"""Find columns and fields that are not used, and those of them that look like labels, for the report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..columns.specs import plain_name
from ..guess import Sample, cells_at, profile
from ..word_lists import word_set
from ..words import comparable, is_number, levels_of

MOST = 200  # most unused names that are kept
_DEEPEST = 6
_SPEAKING = word_set(
    "label labels score scores verdict rating grade met pass passed correct judgment judgement vote votes "
    "satisfied fulfilled success"
)
_COUNTING = word_set(  # words in names of columns that number or sum up, with numbers as small as labels
    "id index idx n count row seed turn run epoch year age mean average avg median total subtotal sum"
)
_NO_LABELS = frozenset(
    ["id", "index", "idx", "n", "count", "row", "position", "rank", "year", "seed", "max", "min"]
)


def unused_columns(
    columns: Sequence[str], rows: Sample, used: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(columns that a mapping does not use, those of them that look like labels). used: the columns that it uses."""
    taken = set(used)
    left = [(i, c) for i, c in enumerate(columns) if c.strip() and c not in taken][:MOST]
    suspects = tuple(c for i, c in left if _looks_like_labels(c, cells_at(rows, i)))
    return tuple(c for _, c in left), suspects


def like_labels(
    columns: Sequence[str], rows: Sample, labels: Sequence[str], keys: Sequence[str]
) -> tuple[str, ...]:
    """The other columns in which more than half of the known cells have values that occur in the label columns.

    Columns with one value for each value of a key column are left out: they describe the key.
    """
    at = {c: [comparable(cell) for cell in cells_at(rows, i)] for i, c in enumerate(columns)}
    values = {cell for c in labels for cell in at[c]} - {""}
    taken, found = {*labels, *keys}, []
    for column in (c for c in columns if c not in taken and not _COUNTING & set(plain_name(c).split("_"))):
        known = [cell for cell in at[column] if cell]
        alike = [cell for cell in known if cell in values]
        about = (set(zip(at[key], at[column], strict=True)) for key in keys)
        of_one = any(len(pairs) == len({key for key, _ in pairs}) < len(known) for pairs in about)
        if 2 * len(alike) > len(known) and len(set(alike)) > 1 and not of_one:
            found.append(column)
    return tuple(found)


def _looks_like_labels(column: str, cells: Sequence[str | None]) -> bool:
    """Whether a column looks like labels: by its name (``verdict``), or by a few different values with verdicts."""
    parts = set(plain_name(column).split("_"))
    held = profile(cells)
    if held.labels < 0.8 or not 1 <= held.distinct <= 12 or parts & _NO_LABELS:
        return False
    known = [c for c in cells if c is not None and c.strip()]
    return bool(parts & _SPEAKING) or (
        bool(levels_of(c for c in known if not is_number(c))) and held.distinct > 1
    )


class Watched(dict[str, Any]):
    """A JSON object that records which of its fields were read."""

    def __init__(self, found: Mapping[str, Any], depth: int = 0) -> None:
        super().__init__({k: watched(v, depth + 1) for k, v in found.items()})
        self.read: set[str] = set()

    def __getitem__(self, key: str) -> Any:
        self.read.add(key)
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a field, which is marked as read."""
        self.read.add(key)
        return super().get(key, default)

    def items(self) -> Any:
        """All fields, which are marked as read."""
        self.read.update(self)
        return super().items()

    def values(self) -> Any:
        """The values of all fields, which are marked as read."""
        self.read.update(self)
        return super().values()


def watched(value: Any, depth: int = 0) -> Any:
    """A copy of a JSON value with all objects, to a limited depth, as ``Watched``."""
    if depth > _DEEPEST:
        return value
    if isinstance(value, dict):
        return Watched(value, depth)
    return [watched(v, depth + 1) for v in value] if isinstance(value, list) else value


def unused_fields(records: Sequence[Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(paths of fields that were not read, such as ``scores[].extra``, those of them that look like labels).

    records: as returned by ``watched``.
    """
    found: dict[str, list[Any]] = {}
    for record in records:
        for path, value in _unread(record, ""):
            if path in found or len(found) < MOST:
                found.setdefault(path, []).append(value)
    suspects = tuple(p for p, values in found.items() if is_verdict_field(p, values))
    return tuple(found), suspects


def _unread(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, list):
        for item in value[:50]:
            yield from _unread(item, f"{path}[]")
    elif isinstance(value, Watched):
        for key, inner in dict.items(value):
            name = f"{path}.{key}" if path else str(key)
            if key not in value.read:
                yield from _leaves(inner, name)
            else:
                yield from _unread(inner, name)


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """(path, value) of an unread field, or of each field within it if it is an object or a list of objects."""
    if isinstance(value, dict) and value:
        for key, inner in dict.items(value):
            yield from _leaves(inner, f"{path}.{key}")
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        for item in value[:50]:
            yield from _leaves(item, f"{path}[]")
    else:
        yield path, value


def is_verdict_field(path: str, values: Sequence[Any]) -> bool:
    """Whether an unused field looks like labels, by its name and values."""
    name = set(plain_name(path.rsplit(".", 1)[-1].replace("[]", "")).split("_"))
    flat = [v for value in values for v in (value if isinstance(value, list) else [value])]
    scalars = [v for v in flat if isinstance(v, (bool, int, float, str))]
    if not scalars or len(scalars) < len(flat) or name & _NO_LABELS:
        return False
    if all(isinstance(v, bool) for v in scalars) and "config" not in path:
        return (
            bool(name & _SPEAKING)
            or "[]" in path
            or (path.count(".") == 0 and any(isinstance(v, list) for v in values))
        )
    texts = [v for v in scalars if isinstance(v, str) and not is_number(v)]
    worded = bool(texts) and len(levels_of(texts)) == len(set(texts))
    return bool(name & _SPEAKING) and (worded or not texts) and len(set(map(str, scalars))) <= 101
