"""Read CSV and similar files, separated by comma, tab, semicolon or bar.

DuckDB's strict parallel reader reads a clean file. A file that it refuses, or one with empty lines inside (they would
shift the row numbers), is first rewritten record by record; records that cannot be split are listed as rejected.
"""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

import csv
import io
import mmap
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any, TextIO

import duckdb

from ....errors import IngestError
from .base import STAGING, Staged
from .encoding import decoded, is_utf8
from .headers import joined_header, rows_above
from .records import Fault

_DELIMITERS = (",", "\t", ";", "|")
_SAMPLE = 1 << 20
_LEAST = 4  # fewest records that are examined, even if they are longer than the sample
_PART = 1 << 26
_LONGEST = 1 << 22  # characters in one record; anything longer is no label table
# what _rewrite writes
_CLEAN = f"header = false, delim = ',', new_line = '\\n', max_line_size = {2 * _LONGEST}"
_SURVEYMONKEY = ("Respondent ID", "Collector ID")  # how its exports begin
_ANSWER = ("", "Response", "Open-Ended Response")  # texts below a question that has no parts
_MTURK = (
    "Approve",
    "Reject",
)  # the last columns of its results, for reviewers: no row has these cells
_SEPARATOR = re.compile(r"sep=([,;|\t])\r?\n")  # line above the header that gives Excel the separator
_TITLES = 3  # lines that may stand above the header
_LOOKED_AT = 200  # first records, by which the header is recognised
_NAMES = (
    "system",
    "query",
    "judge",
    "annotator",
    "rubric",
)  # columns by whose values a line within a cell looks like a row
_MISPLACED = "a quotation mark stands inside the cell: double it, or quote the cell"
_LOST = "stands within the quotation marks that open in"
_SWALLOWED = (
    "a cell of this row holds this line, which looks like a row: if it is, close the quotation mark before it"
)
_MOST_MALFORMED = 10_000  # beyond this, a file with more malformed rows than good ones is something else


class DelimitedReader:
    """Reads a delimited text file with a header, in UTF-8 or in the encoding that its bytes suggest.

    decoded: the remark on that encoding by ``encoding.decoded``; "" for UTF-8.

    An export of Qualtrics has two more header records, the last of which holds import ids. One of SurveyMonkey has one
    more, with the parts of each question. They are no rows.
    """

    def __init__(self, path: Path, name: str, scratch: Path, *, prefer_tab: bool = False) -> None:
        self._path, self._name, self._scratch = path, name, scratch
        self.decoded = ""
        if not is_utf8(path):
            self.decoded, self._path = decoded(path, scratch / "decoded.txt")
            path = self._path
        with path.open(encoding="utf-8-sig", newline="") as file:
            self._sample, self._delimiter = _beginning(file, prefer_tab=prefer_tab)
        said = _SEPARATOR.match(self._sample)
        records = [r for r in islice(_tolerant(self._sample, self._delimiter), _LOOKED_AT) if r]
        above = rows_above(records[bool(said) :]) + bool(said)
        self.columns, heads = self._header(records[above:])
        self._heads = heads + above

    def _header(self, records: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], int]:
        """(column names, number of header records), by the first records; IngestError if the first is no header."""
        header = tuple(records[0]) if records else ()
        if not header or any(len(name) > 1000 for name in header):
            raise IngestError(f"The first line of {self._name} is not a header: expected short column names.")
        if header[-2:] == _MTURK and all(len(record) <= len(header) - 2 for record in records[1:]):
            header = header[:-2]
        if len(records) > 2 and all('"ImportId"' in cell for cell in records[2]):
            return _all_named(header, records[3:]), 3
        if len(records) > 1 and header[:2] == _SURVEYMONKEY and not any(records[1][:2]):
            return _questions(header, records[1]), 2
        header = _limesurvey(header)
        joined, heads = joined_header([header, *records[1:]])
        return (joined, heads) if joined else (_all_named(header, records[1:]), 1)

    def head(self, rows: int) -> list[tuple[str | None, ...]]:
        """The first rows; the last one may be cut off where the sample ends."""
        found = (r for r in _tolerant(self._sample, self._delimiter) if r)
        return [tuple(record) for record in islice(found, self._heads, rows + self._heads)]

    def records(self) -> Iterator[tuple[int, Any]]:
        """(number, {column: cell}) of each row; a Fault in place of a row that cannot be split."""
        for row, record, problem in self._records():
            wrong = problem or self._width_problem(record)
            if wrong:
                yield (
                    row,
                    Fault(f"has {wrong}" if problem is None else wrong, self._delimiter.join(record)[:200]),
                )
            elif record:
                yield row, dict(zip(self.columns, record, strict=False))

    def stage(self, cursor: duckdb.DuckDBPyConnection, picks: Mapping[str, int]) -> Staged:
        """Create ``incoming``, from a rewritten copy if the file is not clean; list malformed rows in ``rejected``."""
        width = len(self.columns)
        if not self._look_over() and self._heads == 1:
            try:
                dialect = f"header = true, delim = '{self._delimiter}'"
                load(cursor, self._path, picks, width, dialect)
            except duckdb.Error:
                cursor.execute(f"DROP TABLE IF EXISTS {STAGING}")
            else:
                ((rows,),) = cursor.execute(f"SELECT count(*) FROM {STAGING}").fetchall()
                if _lines_of(self._path) > rows + 1:
                    cells = f"SELECT row_number() OVER () + 1 AS place, * FROM {_csv(width, dialect)}"
                    self._reject_swallowed(cursor, cells, self._path, picks)
                _drop_blank(cursor, picks)
                return Staged(row_sql="i.rowid + 2")
        clean, malformed = self._scratch / "clean.csv", self._scratch / "malformed.csv"
        self._rewrite(clean, malformed)
        reject = {name: i for i, name in enumerate(("row", "column", "value", "reason"))}
        load(cursor, malformed, reject, len(reject), _CLEAN)
        cursor.execute(f"INSERT INTO rejected FROM {STAGING}")
        cursor.execute(f"DROP TABLE {STAGING}")
        load(cursor, clean, {"row": 0} | {name: i + 1 for name, i in picks.items()}, width + 1, _CLEAN)
        cells = ", ".join(f"c{i + 1} AS c{i}" for i in range(width))
        cells = f"SELECT CAST(c0 AS BIGINT) AS place, {cells} FROM {_csv(width + 1, _CLEAN)}"
        self._reject_swallowed(cursor, cells, clean, picks)
        _drop_blank(cursor, picks)
        return Staged(row_sql='CAST(i."row" AS BIGINT)')

    def _reject_swallowed(
        self, cursor: duckdb.DuckDBPyConnection, cells: str, path: Path, picks: Mapping[str, int]
    ) -> None:
        """Reject the lines within cells that look like rows: as many cells, and a name that other rows have.

        If a quotation mark is not closed in its row, its cell swallows all rows up to the next quotation mark.
        """
        key = next((name for name in _NAMES if name in picks), None)
        if key is None:
            return
        width = len(self.columns)
        cursor.execute(
            f"""
            INSERT INTO rejected
            WITH cells AS (SELECT place, unnest([{", ".join(f"c{i}" for i in range(width))}]) AS cell FROM ({cells})),
            lines AS (SELECT place, unnest(string_split(cell, chr(10))[2:]) AS line FROM cells
                      WHERE contains(cell, chr(10)))
            SELECT place, NULL, line, $reason FROM lines WHERE len(string_split(line, $delimiter)) = {width}
            AND string_split(line, $delimiter)[{picks[key] + 1}] IN (SELECT "{key}" FROM {STAGING})
            """,
            {"path": str(path), "delimiter": self._delimiter, "reason": _SWALLOWED},
        )

    def _look_over(self) -> bool:
        """Whether the file has empty lines before its end; IngestError if a line is longer than _LONGEST."""
        with self._path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            start = 0
            while len(content) - start > _LONGEST:
                end = content.rfind(b"\n", start, start + _LONGEST)
                end = end if end >= 0 else content.rfind(b"\r", start, start + _LONGEST)
                if end < 0:
                    raise IngestError(self._too_long(None))
                start = end + 1
            empty = content[:1] in b"\r\n"
            return empty or any(_has_within(content, pair) for pair in (b"\n\n", b"\n\r"))

    def _rewrite(self, clean: Path, malformed: Path) -> None:
        """Write each record with its row number to ``clean``, or with what is wrong with it to ``malformed``.

        Raises IngestError if most of many rows are malformed.
        """
        with (
            clean.open("w", encoding="utf-8", newline="") as good,
            malformed.open("w", encoding="utf-8", newline="") as bad,
        ):
            keep, drop = (csv.writer(f, lineterminator="\n", quoting=csv.QUOTE_ALL) for f in (good, bad))
            kept = dropped = 0
            for row, record, problem in self._records():
                problem = problem or self._width_problem(record)
                kept, dropped = kept + (problem is None), dropped + (problem is not None)
                if dropped > max(kept, _MOST_MALFORMED):
                    raise IngestError(f"Most rows of {self._name} are not records (row {row:,}: {problem}).")
                if problem:
                    drop.writerow([row, "", self._delimiter.join(record)[:200], problem])
                elif record:
                    keep.writerow([row, *record[: len(self.columns)]])

    def _records(self) -> Iterator[tuple[int, list[str], str | None]]:
        """(row number, cells, problem) of each record after the header; the problem is None if it could be split.

        Raises IngestError if a record is too long, or if the last quotation mark is never closed.
        """
        with self._path.open(encoding="utf-8-sig", newline="") as file:
            csv.field_size_limit(_LONGEST)
            lines: list[str] = []
            reader = csv.reader(_kept(file, lines), delimiter=self._delimiter, strict=True)
            heads, row = self._heads, 0
            while True:
                row += 1
                lines.clear()
                try:
                    record = next(reader)
                except StopIteration:
                    return
                except csv.Error as error:
                    if "field limit" in str(error):
                        raise IngestError(self._too_long(row)) from error
                    if "unexpected end" in str(error):
                        raise IngestError(
                            f"In {self._name} a quotation mark opened in row {row} is never closed: close it."
                        ) from error
                    if heads:
                        heads -= 1
                        continue
                    first = row
                    for row, line in enumerate(lines, first):
                        problem = _MISPLACED if row == first else f"{_LOST} row {first}: correct that row"
                        yield row, [line.rstrip("\r\n")], problem
                    continue
                if not heads:
                    yield row, record, None
                heads -= bool(heads and record)

    def _width_problem(self, record: list[str]) -> str | None:
        found, expected = len(record), len(self.columns)
        if not record or found == expected or (found > expected and not any(record[expected:])):
            return None
        return f"{found} cells where the header has {expected} columns"

    def _too_long(self, row: int | None) -> str:
        where = "A line" if row is None else f"Row {row:,}"
        return (
            f"{where} of {self._name} is longer than {_LONGEST:,} characters: "
            "expected a label table with one short record a line."
        )


def _kept(file: TextIO, lines: list[str]) -> Iterator[str]:
    """The lines of a file, each also added to ``lines``."""
    for line in file:
        lines.append(line)
        yield line


def _lines_of(path: Path) -> int:
    """How many lines a file has."""
    lines, last = 0, b"\n"
    with path.open("rb") as file:
        while block := file.read(_SAMPLE):
            lines, last = lines + block.count(b"\n"), block[-1:]
    return lines + (last != b"\n")


def _all_named(header: Sequence[str], rows: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """The column names; a nameless column with any value becomes "unnamed column 3", so that reports can mention it."""
    held = {i for row in rows for i, cell in enumerate(row[: len(header)]) if cell.strip()}
    nameless = {i: f"unnamed column {i + 1}" for i in held if i} | {0: "column 1"}
    return tuple(name if name.strip() else nameless.get(i, name) for i, name in enumerate(header))


def _limesurvey(header: tuple[str, ...]) -> tuple[str, ...]:
    """The column names; LimeSurvey's own ones without the text after the code: ``submitdate. Date de soumission``."""
    codes = [_LIMESURVEY.match(name) for name in header]
    if sum(map(bool, codes)) < 2:
        return header
    named = {"id": "Response ID"}
    return tuple(named.get(c[1], c[1]) if c else name for name, c in zip(header, codes, strict=True))


_LIMESURVEY = re.compile(
    r"(id|submitdate|lastpage|startlanguage|seed|token|startdate|datestamp|ipaddr|refurl|interviewtime)\. "
)


def _questions(header: Sequence[str], below: Sequence[str]) -> tuple[str, ...]:
    """The column names ``question - part``; in the header, a question is only above the first of its parts."""
    names, question = [], ""
    for name, part in zip_longest(header, below, fillvalue=""):
        question = name.strip() or question
        names.append(question if part.strip() in _ANSWER else f"{question} - {part.strip()}")
    return tuple(names)


def _has_within(content: mmap.mmap, pair: bytes) -> bool:
    """Whether a pair of line ends occurs before the end; searched in parts, as each search blocks other threads."""
    for start in range(0, len(content), _PART):
        at = content.find(pair, start, start + _PART + 1)
        if at >= 0:
            return bool(content[at : at + 4096].strip())
    return False


def load(
    cursor: duckdb.DuckDBPyConnection, path: Path, picks: Mapping[str, int], width: int, dialect: str
) -> None:
    """Create ``incoming`` from a CSV file; columns are picked by position, so that no name of the file enters the SQL.

    width: number of columns in the file. dialect: options of DuckDB's ``read_csv``.
    """
    wanted = ", ".join(f'c{i} AS "{name}"' for name, i in picks.items())
    cursor.execute(
        f"CREATE TEMP TABLE {STAGING} AS SELECT {wanted} FROM {_csv(width, dialect)}", {"path": str(path)}
    )


def _csv(width: int, dialect: str) -> str:
    """The SQL call that reads the CSV file ``$path`` as text columns c0, c1, …"""
    columns = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(width))
    return f"read_csv($path, auto_detect = false, quote = '\"', escape = '\"', columns = {{{columns}}}, {dialect})"


def _drop_blank(cursor: duckdb.DuckDBPyConnection, picks: Mapping[str, int]) -> None:
    """Delete the rows of ``incoming`` whose columns are all blank, as spreadsheets leave them below a table."""
    if picks:
        cells = ", ".join(f'"{name}"' for name in picks)
        cursor.execute(f"DELETE FROM {STAGING} WHERE coalesce({cells}, NULL) IS NULL")


def _tolerant(sample: str, delimiter: str) -> Iterator[list[str]]:
    try:
        yield from csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter)
    except csv.Error:  # a cell beyond the csv module's limit: only the records before it are used
        return


def _beginning(file: TextIO, *, prefer_tab: bool) -> tuple[str, str]:
    """(the beginning of a file, with at least _LEAST whole records even if these are long; its separator)."""
    sample, delimiter = "", ","
    while len(sample) < 2 * _LONGEST and (more := file.read(len(sample) or _SAMPLE)):
        sample += more
        said = _SEPARATOR.match(sample)
        delimiter = said[1] if said else _sniff(sample, prefer_tab=prefer_tab)
        if sum(1 for _ in islice(_tolerant(sample, delimiter), _LEAST + 1)) > _LEAST:
            break
    return sample, delimiter


def _sniff(sample: str, *, prefer_tab: bool) -> str:
    """The separator with which most of the first records have as many cells as the header, at least two.

    If the first line has no separator, titles may be above the header.
    """

    def fit(delimiter: str, below: int = 0) -> tuple[float, int]:
        records = [r for _, r in zip(range(50), _tolerant(sample, delimiter), strict=False) if r]
        width = next((len(r) for r in records[: below + 1] if len(r) > 1), 1)
        even = sum(len(r) == width for r in records) / len(records) if width > 1 else 0.0
        return even, width

    fits = {d: fit(d) for d in _DELIMITERS}
    if all(width < 2 for _, width in fits.values()):
        fits = {d: fit(d, _TITLES) for d in _DELIMITERS}
    if prefer_tab and fits["\t"][1] > 1:
        return "\t"
    return max(_DELIMITERS, key=lambda d: fits[d])


def load_clean(cursor: duckdb.DuckDBPyConnection, path: Path, picks: Mapping[str, int], width: int) -> None:
    """Create ``incoming`` from a CSV file that this program wrote: without a header, with every cell quoted."""
    load(cursor, path, picks, width, _CLEAN)
