"""Paths into nested JSON, such as ``scores[].metric`` or ``ratings{}.#``, and records unfolded into rows along them.

A path is a sequence of keys joined by points. ``[]`` after a key visits the items of a list, ``{}`` the values of an
object, each as a separate row. ``#`` at the end is the position of the item (from 0), or the key of the value, and
``##`` joins the positions and keys of all lists and objects on the way (``0.2``). ``#`` alone is the position of the
record. Where a field of an object's values is read (``{}.verdict``), values without any requested field are skipped.
Lists or objects beside the innermost one are read item by item with it: ``judges[], votes[]``, or ``names[]`` beside
``answers[].votes[]``.
"""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import IngestError
from .apart import apart, is_heavy
from .formats import Reader, open_reader, recognise
from .formats.base import STAGING, Staged
from .formats.delimited import DelimitedReader, load_clean
from .formats.records import Fault, read_records
from .packed_cells import held_in, is_answer_field
from .sources import Piece

if TYPE_CHECKING:
    import duckdb

_PART = re.compile(r"(.*?)((?:\[\]|\{\})*)", re.DOTALL)
_FIELDS_SHOWN = 12
_DEEPEST = 12
_RECORDS = 20  # records whose fields are listed
_BEGINNING = 200  # characters that are shown of a value that gives no row
_ADDED = ("row", "place")  # added columns: the row's number, and the place of its record in the file
PLACE, PLACES = "#", "##"


@dataclass(frozen=True)
class Trail:
    """A parsed path: the steps up to its last ``[]`` or ``{}``, and ``rest``, the keys after that.

    A step is (key, False), or ("[]" or "{}", True).
    """

    text: str
    steps: tuple[tuple[str, bool], ...]
    rest: tuple[str, ...]

    @property
    def depth(self) -> int:
        """The number of ``[]`` and ``{}`` in the path."""
        return sum(each for _, each in self.steps)


_KEY = r"(?:\\\.|[^.\[])+"


def is_path(text: str) -> bool:
    """Whether a name can be a path into nested JSON."""
    return "." in text or text.endswith(("[]", "{}"))


def leads_to(path: str, field: str) -> bool:
    """Whether a path leads to a field or to its container: ``scores{}.value`` leads to ``scores.clear.value``."""
    pattern = re.escape(re.sub(r"\[\]\.##?$", "", path)).replace(r"\{\}", r"\." + _KEY)
    return re.match(pattern.removeprefix(r"\.") + r"(?=[.\[]|$)", field) is not None


def parts_of(text: str) -> list[str]:
    """The parts of a path between its points; a point within a key is written after a backslash."""
    return re.split(r"(?<!\\)\.", text)


def escaped(key: str) -> str:
    """A key as it is written in a path, with a backslash before each point."""
    return key.replace(".", "\\.")


def unescaped(key: str) -> str:
    """A key as it is written in the record, from its form in a path."""
    return key.replace("\\.", ".")


def list_around(path: str) -> str:
    """The path up to its last ``[]``: ``scores[]`` for ``scores[].name``; "" if it has none."""
    outer, mark, _ = path.rpartition("[]")
    return outer + mark


def up_to_items(path: str) -> str:
    """The path up to its last ``[]`` or ``{}``: ``scores{}`` for ``scores{}.value``; "" if it has none."""
    last = max(path.rfind("[]"), path.rfind("{}"))
    return path[: last + 2] if last >= 0 else ""


def keys_in(holder: str, fields: Iterable[str]) -> list[str]:
    """The key below ``holder`` of each field within it: "a" for ``x.a.b`` within ``x``. holder "": the whole record."""
    depth = len(parts_of(holder)) if holder else 0
    inside = (parts_of(f) for f in fields if not holder or f.startswith(f"{holder}."))
    return [unescaped(parts[depth]) for parts in inside if len(parts) > depth]


def parse_path(text: str) -> Trail:
    """Parse a path."""
    steps: list[tuple[str, bool]] = []
    for part in parts_of(text):
        found = _PART.fullmatch(part)
        key, marks = (unescaped(found[1]), found[2]) if found else (part, "")
        steps += [(key, False)] if key else []
        steps += [(marks[i : i + 2], True) for i in range(0, len(marks), 2)]
    last = max((i for i, (_, each) in enumerate(steps) if each), default=-1)
    return Trail(text, tuple(steps[: last + 1]), tuple(key for key, _ in steps[last + 1 :]))


def unfolded(piece: Piece, texts: Sequence[str], columns: Sequence[str], named: Sequence[str]) -> Reader:
    """A table of a file's records with its columns and one column per path, and one row per item of the lists in them.

    texts: the paths. named: columns that the mapping names; other nested columns are blank, because a large one would
    be repeated in every row. Raises IngestError where the paths go through different lists, where lists that are read
    item by item have different lengths, or where a path finds nothing.
    """
    paths = [parse_path(text) for text in texts]
    outer, inner = _spine(paths)
    if any(p.steps != outer[: len(p.steps)] and not _reaches(p, outer, inner) for p in paths):
        raise IngestError(
            f"The paths {', '.join(map(repr, texts))} go through different lists of {piece.name}: use one list at a "
            "time."
        )
    given = (piece, tuple(texts), tuple(columns), tuple(named))
    target, unread = apart([piece.name], _unfold, *given) if is_heavy([piece]) else _unfold(*given)
    return UnfoldedReader(DelimitedReader(target, piece.name, piece.scratch), unread)


class UnfoldedReader:
    """A reader of unfolded records. Records and items that gave no row are rejected with the reason."""

    def __init__(self, rows: DelimitedReader, unread: Path) -> None:
        self._rows, self._unread = rows, unread
        self.columns = rows.columns[: -len(_ADDED)]

    def head(self, rows: int) -> list[tuple[str | None, ...]]:
        """The first rows."""
        return [row[: len(self.columns)] for row in self._rows.head(rows)]

    def stage(self, cursor: duckdb.DuckDBPyConnection, picks: Mapping[str, int]) -> Staged:
        """Stage the rows, and reject the values that gave none; both share one numbering."""
        wrong = {name: i for i, name in enumerate(("row", "value", "reason"))}
        load_clean(cursor, self._unread, wrong, len(wrong))
        cursor.execute(f'INSERT INTO rejected SELECT "row", NULL, value, reason FROM {STAGING}')
        cursor.execute(f"DROP TABLE {STAGING}")
        added = {name: len(self.columns) + i for i, name in enumerate(_ADDED)}
        self._rows.stage(cursor, {**picks, **added})
        return Staged(row_sql='CAST(i."row" AS BIGINT)', place_sql="i.place")


Steps = tuple[tuple[str, bool], ...]
Item = tuple[Any, str | None]  # a value, and its position or key in what holds it


def _spine(paths: Sequence[Trail]) -> tuple[Steps, str]:
    """(steps to the last list or object but one, the innermost step: "[]", "{}", or "" if the paths have none)."""
    longest: Steps = max((p.steps for p in paths), key=len, default=())
    before = [i for i, (_, each) in enumerate(longest[:-1]) if each]
    return longest[: before[-1] + 1] if before else (), longest[-1][0] if longest else ""


def _reaches(path: Trail, outer: Steps, inner: str) -> bool:
    """Whether a path ends in one of the innermost lists, or in a list beside them at an outer level."""
    before = max((i + 1 for i, (_, each) in enumerate(path.steps[:-1]) if each), default=0)
    return bool(path.steps) and path.steps[-1][0] == inner and path.steps[:before] == outer[:before]


def _unfold(
    piece: Piece, texts: Sequence[str], columns: Sequence[str], named: Sequence[str]
) -> tuple[Path, Path]:
    """Write two CSV files and return their paths: the rows, and the values without a row (number, start, reason)."""
    paths = [parse_path(text) for text in texts]
    plain = [parse_path("") if c not in named else Trail(c, (), (c,)) for c in columns]
    target, unread = piece.scratch / "unfolded.csv", piece.scratch / "unread.csv"
    hits, row = [0] * len(paths), 2
    with (
        target.open("w", encoding="utf-8", newline="") as file,
        unread.open("w", encoding="utf-8", newline="") as rest,
    ):
        writer = csv.writer(file, lineterminator="\n")
        drop = csv.writer(rest, lineterminator="\n", quoting=csv.QUOTE_ALL)
        writer.writerow([*columns, *texts, *_ADDED])
        for place, record, cells in _rows_of(piece, paths):
            if isinstance(cells, Fault):
                drop.writerow([row, cells.text, f"{place} {cells.reason}"])
            else:
                own = [
                    _cell(_follow(record, p.rest), flat=False) if p.text else _flat(record, c)
                    for p, c in zip(plain, columns, strict=True)
                ]
                hits = [n + (c is not None) for n, c in zip(hits, cells, strict=True)]
                writer.writerow(["" if c is None else c for c in (*own, *cells, row, place)])
            row += 1
    _refuse_misses(piece, dict(zip(texts, hits, strict=True)))
    return target, unread


def _rows_of(piece: Piece, paths: Sequence[Trail]) -> Iterator[tuple[str, Any, Sequence[str | None] | Fault]]:
    """(place, record, value of each path) for each row; the third is a Fault for a record or item that gives no row."""
    outer, mark = _spine(paths)
    inner = [p for p in paths if mark and (p.steps != outer[: len(p.steps)])]
    innermost = [p.rest for p in inner if p.rest not in ((PLACE,), (PLACES,))]
    asked = {r[0] for r in innermost} if mark == "{}" and all(innermost) else set()
    holding = up_to_items(inner[0].text) if inner else up_to_items(max((p.text for p in paths), key=len))
    table = recognise(piece.path, piece.name) == "csv"
    for number, (line, record) in enumerate(_records_of(piece, _led_into(paths)), 1):
        place = f"row {line}" if table else f"record {number}"
        if isinstance(record, Fault):
            yield place, None, record
            continue
        if not isinstance(record, (dict, list)):
            yield place, None, Fault("is no object: correct it", str(record)[:_BEGINNING])
            continue
        for items in _walk(record, outer, ((record, None),)):
            there = len(items) > sum(each for _, each in outer)
            rows = list(_together(items, inner, f"{place} of {piece.name}")) if there else []
            rows = [r for r in rows if not asked or any(_has_any(value, asked) for value, _ in r.values())]
            for held in rows:
                found = (_value(held.get(p.steps), items[: p.depth + 1], p.rest) for p in paths)
                own = [str(number - 1) if p.text == PLACE else v for p, v in zip(paths, found, strict=True)]
                yield place, record, own
            if not rows:
                at = f", item {_value(None, items, (PLACES,))}" if len(items) > 1 else ""
                why = f"holds nothing at {holding}: correct it, or read it from a file of its own"
                yield f"{place}{at}", record, Fault(why, str(items[-1][0])[:_BEGINNING])


def _together(items: tuple[Item, ...], inner: Sequence[Trail], place: str) -> Iterator[Mapping[Steps, Item]]:
    """Combine the innermost lists item by item (objects key by key): steps of a list → (item, its position or key).

    Raises IngestError where they have different positions or keys. place: of the record, for the message.
    """
    if not inner:
        yield {}
        return
    first = {path.steps: path for path in inner}
    held = {steps: found for steps, path in first.items() if (found := _held(items, path))}
    keys = next(iter(held.values()), {})
    for steps, found in held.items():
        if found.keys() != keys.keys():
            one, other = (first[s].text for s in (next(iter(held)), steps))
            raise IngestError(
                f"{one!r} and {other!r} are read item by item, and have {len(keys):,} and {len(found):,} items in "
                f"{place}: correct that record, or leave one of them out of the mapping."
            )
    lacking = first.keys() - held.keys()
    for key in keys:
        yield {steps: (found[key], key) for steps, found in held.items()} | dict.fromkeys(
            lacking, (None, key)
        )


def _held(items: tuple[Item, ...], path: Trail) -> dict[str, Any]:
    """Position or key → item, in the innermost list or object of a path; {} if the record lacks it."""
    steps = path.steps
    before = max((i + 1 for i, (_, each) in enumerate(steps[:-1]) if each), default=0)
    found = _follow(items[path.depth - 1][0], [key for key, _ in steps[before:-1]])
    if steps[-1][0] == "[]":
        return {str(at): item for at, item in enumerate(found)} if isinstance(found, list) else {}
    return {str(key): item for key, item in found.items()} if isinstance(found, dict) else {}


def _refuse_misses(piece: Piece, hits: Mapping[str, int]) -> None:
    lost = [text for text, n in hits.items() if not n]
    if lost:
        fields = list(fields_of_records(piece))
        shown = ", ".join(fields[:_FIELDS_SHOWN]) + (" …" if len(fields) > _FIELDS_SHOWN else "")
        raise IngestError(f"The path {lost[0]!r} finds nothing in {piece.name}: its fields are {shown}.")


def _walk(
    value: Any, steps: Sequence[tuple[str, bool]], items: tuple[Item, ...]
) -> Iterator[tuple[Item, ...]]:
    """For each innermost item, a tuple of the record and the items that lead to it; shorter where a list is missing."""
    for i, (name, each) in enumerate(steps):
        if not each:
            value = value.get(name) if isinstance(value, dict) else None
            continue
        inner: list[Item] = []
        if name == "[]" and isinstance(value, list):
            inner = [(item, str(at)) for at, item in enumerate(value)]
        elif name == "{}" and isinstance(value, dict):
            inner = [(item, str(key)) for key, item in value.items()]
        if not inner:
            yield items
        for item in inner:
            yield from _walk(item[0], steps[i + 1 :], (*items, item))
        return
    yield items


def _has_any(value: Any, keys: set[str]) -> bool:
    return isinstance(value, dict) and not keys.isdisjoint(value)


def _value(own: Item | None, items: Sequence[Item], keys: Sequence[str]) -> str | None:
    """The value of a path's last keys in its own item or, if this is None, in the last of the outer items."""
    trail = [*items, own] if own else items
    if keys in ((PLACE,), (PLACES,)):
        places = [place for _, place in trail if place is not None]
        return ".".join(places if keys == (PLACES,) else places[-1:])
    return _cell(_follow(trail[-1][0], keys), flat=False)


def _follow(value: Any, keys: Sequence[str]) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _flat(record: Any, column: str) -> str | None:
    return _cell(record.get(column) if isinstance(record, dict) else None, flat=True)


def _cell(value: Any, *, flat: bool) -> str | None:
    """A value as text, None as None; lists and objects as JSON, or as None if ``flat``."""
    if value is None or isinstance(value, str):
        return value
    if flat and isinstance(value, (dict, list)):
        return None
    return json.dumps(value, ensure_ascii=False)


def _led_into(paths: Sequence[Trail]) -> frozenset[str] | None:
    """The top-level fields that the paths enter, which alone are unpacked; None where a path visits all fields."""
    first = [next(iter((*path.steps, *((key, False) for key in path.rest)))) for path in paths]
    return None if any(each for _, each in first) else frozenset(key for key, _ in first)


def _records_of(piece: Piece, into: frozenset[str] | None = None) -> Iterator[tuple[int, Any]]:
    """The records of JSON or Parquet, or the rows of a table, with JSON texts unpacked into lists and objects.

    into: the fields whose texts are unpacked; None: all.
    """
    opened = (
        open_reader(piece.path, piece.name, "csv", piece.scratch)
        if recognise(piece.path, piece.name) == "csv"
        else None
    )
    if not isinstance(opened, DelimitedReader):
        records = read_records(piece.path, piece.name)
        return ((n, _unpacked(record, into, answers=False)) for n, record in records)
    return ((n, _unpacked(row, into, answers=True)) for n, row in opened.records())


def _unpacked(record: Any, into: frozenset[str] | None, *, answers: bool) -> Any:
    """A record with the JSON in its texts unpacked. answers: whether fields named after answers are unpacked, too."""
    if not isinstance(record, dict):
        return record
    held = [k for k in record if (into is None or k in into) and (answers or not is_answer_field(k))]
    return {key: held_in(key, cell) if key in held else cell for key, cell in record.items()}


def fields_of_records(piece: Piece) -> dict[str, list[Any]]:
    """Path → values of every field in the first records. Lists appear as ``[]``; objects appear with their keys.

    A field that holds a list or object in some records, and null or a text in others, is left out: only its inner
    fields are listed.
    """
    found: dict[str, list[Any]] = {}
    for count, (_, record) in enumerate(_records_of(piece)):
        if count == _RECORDS:
            break
        _gather(record, "", found, 0)
    holding = {
        ".".join(parts_of(f)[:depth]).removesuffix("[]")
        for f in found
        for depth in range(1, len(parts_of(f)))
    }
    holding |= {f.removesuffix("[]") for f in found if f.endswith("[]")}
    return {f: values for f, values in found.items() if f not in holding}


def _gather(value: Any, path: str, found: dict[str, list[Any]], depth: int) -> None:
    if depth > _DEEPEST or len(found) > 500:
        return
    if isinstance(value, dict):
        for key, inner in value.items():
            name = escaped(str(key))
            _gather(inner, f"{path}.{name}" if path else name, found, depth + 1)
    elif isinstance(value, list) and value:
        for item in value[:_RECORDS]:
            _gather(item, f"{path}[]", found, depth + 1)
    elif path:
        found.setdefault(path, []).append(value)
