"""Text of other encodings as UTF-8: UTF-16 by its mark, and Windows-1252 where the bytes are no UTF-8."""

from __future__ import annotations

import codecs
from pathlib import Path

_BLOCK = 1 << 20
_MARKS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
WINDOWS = "Windows-1252"


def marked_encoding(path: Path) -> str | None:
    """The encoding that a byte order mark shows, UTF-8 aside; None where there is no such mark."""
    with path.open("rb") as file:
        head = file.read(2)
    return _MARKS.get(head)


def is_utf8(path: Path) -> bool:
    """Whether every byte of a file belongs to UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    with path.open("rb") as file:
        try:
            while block := file.read(_BLOCK):
                if not block.isascii() or decoder.getstate()[0]:
                    decoder.decode(block)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return False
    return True


def as_utf8(path: Path, encoding: str, target: Path) -> Path:
    """``target``, a copy of a text file in UTF-8; bytes that the encoding does not have are taken as Latin-1."""
    with path.open("rb") as source, target.open("w", encoding="utf-8", newline="") as file:
        if encoding != WINDOWS:
            reader = codecs.getreader(encoding)(source, "replace")
            while text := reader.read(_BLOCK):
                file.write(text)
            return target
        while block := source.read(_BLOCK):
            file.write(_windows(block))
    return target


def _windows(block: bytes) -> str:
    try:
        return block.decode("cp1252")
    except UnicodeDecodeError:
        return block.decode("latin-1")
