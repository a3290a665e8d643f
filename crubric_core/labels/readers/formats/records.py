"""Read JSON records one by one, without the whole file in memory: JSON Lines, one array, or one object.

The rows of a Parquet file are such records, too.
"""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from ....errors import IngestError
from .parquet import ParquetReader

LARGEST = 1 << 29  # characters of one record; an Inspect or promptfoo log is one record
_BEGINNING = 1 << 6
_BLOCK = 1 << 18
_CELL = 1 << 20  # characters; a longer cell is not parsed
_SPACE = " \t\r\n"
_FENCED = re.compile(r"\s*```(?:json)?\s*([\[{].*[\]}])\s*```\s*", re.DOTALL)
_DECODER = json.JSONDecoder()
_OPENING = re.compile(r"[{\[]")
_MOST_BRACES = 50  # that begin no JSON: then the search in a reply ends


@dataclass(frozen=True)
class Fault:
    """A record that cannot be read: what is wrong with it, and its beginning."""

    reason: str
    text: str


def read_records(path: Path, name: str) -> Iterator[tuple[int, Any]]:
    """(line on which it begins, record) of each record; a Fault for a broken line of JSON Lines, or a repeated key.

    For Parquet, the row's number replaces the line. Raises IngestError if the rest of the file cannot be split into
    records, or if it is not UTF-8.
    """
    with path.open("rb") as raw:
        head = raw.read(1 << 12).removeprefix(b"\xef\xbb\xbf").lstrip()
    if head[:4] == b"PAR1":
        yield from ParquetReader(path, name).records()
        return
    with path.open(encoding="utf-8-sig") as file:
        try:
            yield from _by_lines(file, name) if _is_lines(head) else _by_value(file, name)
        except UnicodeDecodeError as error:
            raise IngestError(
                f"{name} is not UTF-8 (byte {error.object[error.start]:#x}): save it as UTF-8."
            ) from error


def within_text(path: Path, target: Path) -> Path:
    """``target`` with the inner JSON, if the file is a JSON string that holds JSON (encoded twice); else ``path``."""
    with path.open("rb") as raw:
        head = raw.read(_BEGINNING).removeprefix(b"\xef\xbb\xbf").lstrip()
    if head[:1] != b'"' or head[1:].lstrip()[:1] not in (b"{", b"[") or path.stat().st_size > LARGEST:
        return path
    try:
        inner = json.loads(path.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError):
        return path
    target.write_text(inner, encoding="utf-8")
    return target


def _is_lines(head: bytes) -> bool:
    """Whether a file is JSON Lines: its first line is, or may be, a whole record with others after it."""
    if head[:1] != b"{":
        return False
    line, newline, rest = head.partition(b"\n")
    if not newline:
        return True  # one long line
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return rest.lstrip()[:1] == b"{" and line.rstrip().endswith(b"}")
    return True


class _Decoder(json.JSONDecoder):
    """Decodes JSON and notes in ``twice`` a key that an object has twice, as readers differ in which of them counts."""

    def __init__(self) -> None:
        super().__init__(object_pairs_hook=self._object)
        self.twice: str | None = None

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            self.twice = repeated([key for key, _ in pairs])
        return found

    def checked(self, value: Any, text: str) -> Any:
        """The value that was just decoded from ``text``; a Fault if an object in it has a key twice."""
        return value if self.twice is None else Fault(repeated_key_sentence(self.twice), text[:200])


def repeated(keys: Sequence[str]) -> str:
    """The first key that occurs more than once."""
    return next(key for key, times in Counter(keys).items() if times > 1)


def repeated_key_sentence(key: str) -> str:
    """The reason why a record with a repeated key is rejected."""
    return f"has the key {key!r} twice in one object: keep only the one that counts"


def _by_lines(file: TextIO, name: str) -> Iterator[tuple[int, Any]]:
    decoder = _Decoder()
    for number, line in enumerate(_lines(file, name), 1):
        if line.strip(_SPACE):
            decoder.twice = None
            try:
                yield number, decoder.checked(decoder.decode(line), line)
            except (ValueError, RecursionError) as error:
                yield number, Fault(f"is not valid JSON ({_words(error)})", line[:200])


def _lines(file: TextIO, name: str) -> Iterator[str]:
    while line := file.readline(LARGEST):
        if len(line) == LARGEST:
            raise _too_long(name)
        yield line


def _by_value(file: TextIO, name: str) -> Iterator[tuple[int, Any]]:
    """(line, value) of items of arrays, or of values one after another; the part in memory grows with a value."""
    window, line, block, listed = file.read(_BLOCK), 1, _BLOCK, False
    arrays, decoder = window.lstrip(_SPACE)[:1] == "[", _Decoder()
    while True:
        rest = window.lstrip(_SPACE + "," if arrays else _SPACE)
        line += window[: len(window) - len(rest)].count("\n")
        window = rest
        if arrays and window[:1] == ("]" if listed else "["):
            listed, window = not listed, window[1:]
            continue
        try:
            if not window:
                raise json.JSONDecodeError("unexpected end", "", 0)
            decoder.twice = None
            value, end = decoder.raw_decode(window)
            if end == len(window) and (more := file.read(block)):
                window += more  # a number may continue
                continue
        except (ValueError, RecursionError) as error:
            more = "" if isinstance(error, RecursionError) else file.read(block if arrays else LARGEST)
            if not more:
                if not window and not listed:
                    return
                raise _broken(name, line, window, error) from error
            window += more
            if len(window) > LARGEST:
                raise _too_long(name) from error
            block = min(2 * block, 1 << 27)
            continue
        yield line, decoder.checked(value, window)
        line += window.count("\n", 0, end)
        window, block = window[end:], _BLOCK


def _broken(name: str, line: int, window: str, error: Exception) -> IngestError:
    at = line + window.count("\n", 0, getattr(error, "pos", 0))
    return IngestError(
        f"{name} cannot be read as JSON (line {at:,}: {_words(error)}): correct the file or write it again."
    )


def _too_long(name: str) -> IngestError:
    return IngestError(f"A record of {name} is longer than {LARGEST >> 20} MiB: split the file.")


def _words(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "nested too deeply"
    return str(getattr(error, "msg", error)).split("\n", 1)[0][:80].lower()


def unpacked(cell: Any) -> Any:
    """The list or object in a cell of a table, written as JSON or as Python prints it; any other cell as it is.

    JSON may be fenced by three backticks before and after it, as models write it.
    """
    if not isinstance(cell, str) or len(cell) > _CELL:
        return cell
    text = fenced[1] if (fenced := _FENCED.fullmatch(cell)) else cell
    if text[:1] + text[-1:] not in ("[]", "{}"):
        return cell
    for read in (json.loads, ast.literal_eval):
        try:
            found = read(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        return found if isinstance(found, (list, dict)) else cell
    return cell


class AmbiguousReplyError(ValueError):
    """A model's reply gives two different verdicts."""

    def __init__(self) -> None:
        super().__init__("gives two different verdicts in one reply: keep only the one that counts")


def parse_reply(text: str, verdict: Callable[[Any], Any]) -> Any:
    """The first JSON value in a model's reply that has a verdict, else the first object, else the first list; or None.

    verdict: value → its verdict, or None. Raises AmbiguousReplyError if the verdicts of several values differ.
    """
    values = reply_values(text)
    holding = [(value, said) for value in values if (said := verdict(value)) is not None]
    if any(said != holding[0][1] for _, said in holding):
        raise AmbiguousReplyError
    objects = [value for value in values if isinstance(value, dict)]
    return next((value for value, _ in holding), next(iter(objects or values), None))


def reply_values(text: str) -> list[Any]:
    """The JSON lists and objects in a model's reply, fenced or among words, without those in its ``<think>`` part.

    Not all are verdicts: a list may be a reference to a source (``[1]``), and an object an example.
    """
    answer = text.strip()
    if answer[:1] + answer[-1:] not in ("{}", "[]"):
        answer = answer.rpartition("</think>")[2].partition("<think>")[0]
    values, damaged, opening = list[Any](), 0, _OPENING.search(answer)
    while opening and damaged < _MOST_BRACES:
        try:
            value, end = _DECODER.raw_decode(answer, opening.start())
        except (ValueError, RecursionError):
            damaged, end = damaged + 1, opening.end()
        else:
            values.append(value)
        opening = _OPENING.search(answer, end)
    return values


def as_text(value: Any) -> str:
    """A value as one cell: text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
