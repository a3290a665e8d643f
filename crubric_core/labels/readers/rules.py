r"""Derive columns by the rules of a mapping: split a column, find a label in a reply, follow a path into nested JSON.

A mapping's value may be a rule in place of a column's name:

* ``id ~ {system}_{query}``: the part of the column ``id`` at the canonical column's name in the pattern.
* ``reply =~ score:\s*(\d)``: the first group of a regular expression (RE2: no backtracking), or its whole match.
* ``reply -> verdict.score``: a path into the JSON within the text.
* ``conversation_id + turn``: the values of several columns, joined by a slash.
* ``scores[].metric``: a path into JSON records (``paths.py``). ``[]`` makes a row of each item of a list, ``{}`` of
  each value of an object, and ``#`` is the position or key.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import duckdb

from ...errors import IngestError
from .file_names import split_by
from .formats import Reader
from .formats.base import STAGING, Staged
from .formats.database import opened
from .formats.delimited import DelimitedReader
from .formats.records import AmbiguousReplyError, as_text, parse_reply
from .paths import PLACE, is_path, unfolded
from .plan import Columns

if TYPE_CHECKING:
    from .sources import Piece

_AND = " + "
_OPERATORS = (" =~ ", " ~ ", " -> ", _AND)
_MOST = 1_000_000  # most different texts of a column that a rule is applied to


@dataclass(frozen=True)
class Rule:
    """One derived column.

    sources: the columns that it is made from. operator: "~", "=~", "->" or "+". spec: the pattern, expression or path
    after the operator. canonical: the canonical column that it is for.
    """

    name: str
    sources: tuple[str, ...]
    operator: str
    spec: str
    canonical: str

    def problem(self, text: str) -> str | None:
        """Why a reply is ambiguous for the rule (its values at the path differ); None for any other text."""
        if self.operator == "->":
            try:
                parse_reply(text, lambda value: _by_path(value, self.spec))
            except AmbiguousReplyError as error:
                return str(error)
        return None

    def apply(self, texts: Sequence[str]) -> list[str | None]:
        """The value of each text; None where the rule finds nothing, or several values that differ."""
        if self.operator == "+":
            return [text or None for text in texts]
        if self.operator == "=~":
            return _by_expression(self.spec, texts)
        if self.operator == "~":
            return [split_by(self.spec, text).get(self.canonical) for text in texts]
        return [_in_reply(text, self.spec) for text in texts]


def expand(mapping: Columns, columns: Sequence[str]) -> Columns:
    """The mapping with ``*`` expanded in lists of columns: ``item*`` becomes all columns that begin with "item"."""
    named = {c for v in mapping.values() if isinstance(v, str) for c in (v, *sources_of(v))}
    return {
        canonical: tuple(dict.fromkeys(c for p in value for c in _matching(p, columns, named)))
        if isinstance(value, tuple)
        else value
        for canonical, value in mapping.items()
    }


def _matching(pattern: str, columns: Sequence[str], named: set[str]) -> list[str]:
    if "*" not in pattern or pattern in columns:
        return [pattern]
    return [c for c in columns if fnmatchcase(c, pattern) and c not in named]


def sources_of(value: str) -> tuple[str, ...]:
    """The source columns of a rule; () if the value is no rule."""
    found = next((o for o in _OPERATORS if o in value), None)
    if found == _AND:
        return tuple(part.strip() for part in value.split(_AND))
    return (value.partition(found)[0].strip(),) if found else ()


def with_derived(
    reader: Reader, mapping: Columns, piece: Piece, beside: Sequence[str] = ()
) -> tuple[Reader, Columns]:
    """(a reader with the derived columns, the mapping with their names); both unchanged if there are no rules.

    beside: further paths that become columns if the mapping has any path.
    Raises IngestError where a rule is invalid, or the mapping names a column that the file does not have.
    """
    mapping = expand(mapping, reader.columns)
    there = set(reader.columns)
    absent = [
        c
        for v in mapping.values()
        if isinstance(v, tuple)
        for c in v
        if c not in there and not _leads(c, reader)
    ]
    if absent:
        raise IngestError(
            f"The mapping names the column {absent[0]!r}, which {piece.name} does not have: its columns are "
            f"{', '.join(map(repr, reader.columns[:12]))}."
        )
    paths = _paths(mapping, reader)
    if paths:
        reader = unfolded(piece, [*paths, *beside], reader.columns, _named(mapping))
    rules = [
        rule for canonical, value in mapping.items() if (rule := _rule_of(canonical, value, reader.columns))
    ]
    if not rules:
        return reader, mapping
    for rule in rules:
        if absent := [c for c in rule.sources if c not in reader.columns]:
            raise IngestError(
                f"The mapping takes {rule.canonical} from the column {absent[0]!r}, which {piece.name} does not "
                f"have: its columns are {', '.join(map(repr, reader.columns[:12]))}."
            )
        rule.apply([""])  # raises IngestError now if the rule is invalid
    return DerivedReader(reader, rules), {**mapping, **{rule.canonical: rule.name for rule in rules}}


def _rule_of(canonical: str, value: object, columns: Sequence[str]) -> Rule | None:
    if not isinstance(value, str) or value.startswith("=") or value in columns:
        return None
    for operator in _OPERATORS:
        source, found, spec = value.partition(operator)
        if found and source.strip() and spec.strip():
            name = f"{value} [{canonical}]"
            return Rule(name, sources_of(value), operator.strip(), spec.strip(), canonical)
    return None


class DerivedReader:
    """A reader of a table that adds the columns which the rules derive."""

    def __init__(self, reader: Reader, rules: Sequence[Rule]) -> None:
        self._reader, self._rules = reader, tuple(rules)
        self.columns = (*reader.columns, *(rule.name for rule in rules))
        self.decoded = getattr(reader, "decoded", "")

    def head(self, rows: int) -> list[tuple[str | None, ...]]:
        """The first rows, with the derived cells."""
        first = self._reader.head(rows)
        width = len(self._reader.columns)
        even = [tuple(row[:width]) + (None,) * (width - len(row)) for row in first]
        made = []
        for rule in self._rules:
            at = [self._reader.columns.index(source) for source in rule.sources]
            made.append(rule.apply([_joined([row[i] for i in at]) for row in even]))
        return [(*row, *cells) for row, cells in zip(even, zip(*made, strict=True), strict=True)]

    def stage(self, cursor: duckdb.DuckDBPyConnection, picks: Mapping[str, int]) -> Staged:
        """Stage the rows of the inner reader, then apply each rule once to each different text of its column."""
        own = {name: i for name, i in picks.items() if i < len(self._reader.columns)}
        derived = {
            name: self._rules[i - len(self._reader.columns)] for name, i in picks.items() if name not in own
        }
        places = {
            f"source{n}_{k}": self._reader.columns.index(source)
            for n, rule in enumerate(derived.values())
            for k, source in enumerate(rule.sources)
        }
        staged = self._reader.stage(cursor, own | places)
        for n, (name, rule) in enumerate(derived.items()):
            _derive(cursor, [f"source{n}_{k}" for k in range(len(rule.sources))], name, rule, staged.row_sql)
        return staged


def _joined(cells: Sequence[str | None]) -> str:
    """The cells joined by slashes, as in the SQL of ``_derive``; "" if any is blank."""
    return "/".join(cell or "" for cell in cells) if all(cells) else ""


def _derive(
    cursor: duckdb.DuckDBPyConnection, sources: Sequence[str], name: str, rule: Rule, row_sql: str
) -> None:
    known = " AND ".join(f"{source} <> ''" for source in sources)
    text = f"CASE WHEN {known} THEN concat_ws('/', {', '.join(sources)}) END"
    if rule.operator == "+":
        cursor.execute(f'ALTER TABLE {STAGING} ADD COLUMN "{name}" VARCHAR')
        cursor.execute(f'UPDATE {STAGING} SET "{name}" = {text}')  # noqa: S608 - own names
    else:
        _derive_each(cursor, sources[0], name, rule, row_sql)
    for source in sources:
        cursor.execute(f"ALTER TABLE {STAGING} DROP COLUMN {source}")


def _derive_each(cursor: duckdb.DuckDBPyConnection, source: str, name: str, rule: Rule, row_sql: str) -> None:
    found = cursor.execute(
        f"SELECT DISTINCT {source} FROM {STAGING} WHERE {source} IS NOT NULL LIMIT {_MOST + 1}"  # noqa: S608 - own names
    ).fetchall()
    if len(found) > _MOST:
        raise IngestError(
            f"The column {rule.sources[0]!r} holds more than {_MOST:,} different texts: {rule.spec!r} is for fewer."
        )
    texts = [text for (text,) in found]
    values = rule.apply(texts)
    cursor.execute("CREATE OR REPLACE TEMP TABLE derived (text VARCHAR, value VARCHAR)")
    cursor.execute(
        "INSERT INTO derived SELECT unnest($texts::VARCHAR[]), unnest($found::VARCHAR[])",
        {"texts": texts, "found": values},
    )
    cursor.execute(f'ALTER TABLE {STAGING} ADD COLUMN "{name}" VARCHAR')
    cursor.execute(
        f'UPDATE {STAGING} SET "{name}" = d.value FROM derived d WHERE d.text = {STAGING}.{source}'  # noqa: S608
    )
    cursor.execute("DROP TABLE derived")
    problems = {
        text: why
        for text, value in zip(texts, values, strict=True)
        if not value and (why := rule.problem(text))
    }
    if problems:
        _reject(cursor, source, rule, problems, row_sql)


def _reject(
    cursor: duckdb.DuckDBPyConnection, source: str, rule: Rule, problems: Mapping[str, str], row_sql: str
) -> None:
    """Move the rows whose text a rule cannot read to the rejected rows, with the reasons. problems: text → reason."""
    wrong = {"texts": list(problems), "reasons": list(problems.values())}
    cursor.execute(
        f"""
        INSERT INTO rejected
        SELECT {row_sql}, $column, p.text, p.reason
        FROM {STAGING} i JOIN (SELECT unnest($texts::VARCHAR[]) AS text, unnest($reasons::VARCHAR[]) AS reason) p
          ON i.{source} = p.text
        """,  # noqa: S608 - own names
        {"column": rule.sources[0], **wrong},
    )
    cursor.execute(
        f"DELETE FROM {STAGING} WHERE list_contains($texts::VARCHAR[], {source})",  # noqa: S608 - own names
        {"texts": wrong["texts"]},
    )


def _by_expression(spec: str, texts: Sequence[str]) -> list[str | None]:
    """The first group of a regular expression in each text, else the whole match (DuckDB's RE2); None for no match."""
    try:
        with opened() as cursor:
            groups = 1 if _has_group(spec) else 0
            rows = cursor.execute(
                f"SELECT CASE WHEN regexp_matches(t, $spec) THEN regexp_extract(t, $spec, {groups}) END"  # noqa: S608
                " FROM (SELECT unnest($texts::VARCHAR[]) AS t, unnest(range(len($texts::VARCHAR[]))) AS i) ORDER BY i",
                {"spec": spec, "texts": list(texts)},
            ).fetchall()
    except duckdb.Error as error:
        raise IngestError(
            f"The rule {spec!r} is no regular expression ({str(error)[:100]}): correct it."
        ) from error
    return [found for (found,) in rows]


def _has_group(spec: str) -> bool:
    """Whether a regular expression has a capturing group."""
    return any(
        c == "(" and spec[i + 1 : i + 2] != "?" and spec[i - 1 : i] != "\\" for i, c in enumerate(spec)
    )


def _in_reply(text: str, path: str) -> str | None:
    """The value at a path in the JSON of a reply; None where there is none, or there are several that differ."""
    try:
        return _by_path(parse_reply(text, lambda value: _by_path(value, path)), path)
    except AmbiguousReplyError:
        return None


def _by_path(value: Any, path: str) -> str | None:
    for key in path.split("."):
        if isinstance(value, list) and key.isdigit() and int(key) < len(value):
            value = value[int(key)]
        elif isinstance(value, dict) and key in value:
            value = value[key]
        else:
            return None
    return (
        None if value is None else "true" if value is True else "false" if value is False else as_text(value)
    )


def _paths(mapping: Columns, reader: Reader) -> list[str]:
    """Paths of a mapping into nested JSON, sources of rules included."""
    return [p for p in _named(mapping) if p not in reader.columns and _leads(p, reader)]


def is_led(mapping: Columns, reader: Reader) -> bool:
    """Whether a mapping has paths into nested records, or into cells with JSON."""
    return bool(_paths(mapping, reader))


def _leads(path: str, reader: Reader) -> bool:
    """Whether a text may be a path into JSON records, or into the JSON cells of one of a table's columns."""
    if path == PLACE:
        return not isinstance(reader, DelimitedReader)
    return is_path(path) and (
        not isinstance(reader, DelimitedReader) or re.split(r"[.\[{]", path)[0] in ("", *reader.columns)
    )


def _named(mapping: Columns) -> list[str]:
    """The columns and paths that a mapping names, sources of rules included."""
    texts = [v for v in mapping.values() if isinstance(v, str) and v and not v.startswith("=")]
    wide = [c for v in mapping.values() if isinstance(v, tuple) for c in v]
    return list(dict.fromkeys([*(c for v in texts for c in sources_of(v) or (v,)), *wide]))
