"""Convert text of other encodings to UTF-8: UTF-16 by its byte order mark, others detected from the bytes."""

from __future__ import annotations

import codecs
import re
import shutil
from pathlib import Path

_BLOCK = 1 << 20
_SAMPLE = 1 << 18  # bytes of lines with non-ASCII letters that are examined
_MARKS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
WINDOWS = "Windows-1252"
MAC = "MacRoman"
# name by the detector → Python's codec for the larger character set that programs write under that name
_CODECS = {
    WINDOWS: "cp1252",
    MAC: "mac_roman",
    "Shift_JIS": "cp932",
    "EUC-KR": "cp949",
    "Big5": "big5hkscs",
    "ISO-8859-8-I": "iso8859_8",
}
_ASIAN = frozenset(["gb18030", "Shift_JIS", "EUC-KR", "EUC-JP", "Big5"])
_OTHER_SCRIPTS = re.compile(r"(?i)windows-125[1356]|cp874|windows-874|koi8-[ru]|iso-8859-[5678]|ibm866")
_BETWEEN = "’‘–—…·•"  # marks between letters without a space
_AFTER = _BETWEEN + "“”«»‹›™®©°¹²³€†‡"  # marks at the end of a word
_PARTS = (
    (re.compile(rb"(?<=[A-Za-z])[\x80-\xff]+(?=[a-z])"), _BETWEEN),
    (re.compile(rb"(?<=[a-z])[\x80-\xff]+(?![A-Za-z\x80-\xff])"), _AFTER),
)  # bytes inside a word and at its end, with the marks that may stand there
_STRAY = re.compile("[\udc80-\udcff]")  # a byte that is no UTF-8, as surrogateescape decodes it
_NO_LETTERS = "ƒÿﬁﬂªºπµ"  # lower-case letters in Unicode that do not occur in words of a rating table


def marked_encoding(path: Path) -> str | None:
    """The encoding that a byte order mark shows, except UTF-8; None if there is no such mark."""
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


def likely_encoding(path: Path) -> str:
    """The likely encoding of a text that is not UTF-8, by its first lines with non-ASCII letters; default Windows-1252.

    chardetng, Firefox's detector, detects the script. For Latin letters it is not reliable on a few bytes, so another
    encoding is returned only if Windows-1252 would put marks or capitals inside words, and the other one would not.
    """
    from chardetng_py import detect  # loaded for files alone that are no UTF-8

    sample = _telling(path)
    if _spells_better(MAC, sample):
        return MAC
    found = str(detect(sample))
    if found in _ASIAN:
        letters = {c for c in sample.decode(_codec(found), "ignore") if not c.isascii()}
        return found if len(letters) > 1 else WINDOWS
    return found if _OTHER_SCRIPTS.fullmatch(found) or _spells_better(found, sample) else WINDOWS


def _telling(path: Path) -> bytes:
    """The first lines with non-ASCII bytes, up to _SAMPLE bytes."""
    found, size = [], 0
    with path.open("rb") as file:
        while size < _SAMPLE and (line := file.readline(_BLOCK)):
            if not line.isascii():
                found.append(line)
                size += len(line)
    return b"".join(found)


def _spells_better(encoding: str, sample: bytes) -> bool:
    """Whether all words have only lower-case letters inside in this encoding, but not in Windows-1252."""
    return _misspelt(sample, _CODECS[WINDOWS]) > 0 and _misspelt(sample, _codec(encoding)) == 0


def _misspelt(sample: bytes, codec: str) -> int:
    """The number of different parts of words that, decoded, are not only lower-case letters."""
    texts = {
        part.decode(codec, "replace").strip(marks)
        for parts, marks in _PARTS
        for part in parts.findall(sample)
    }
    return sum(not all(c.islower() and c not in _NO_LETTERS for c in text) for text in texts)


def _codec(encoding: str) -> str:
    return _CODECS.get(encoding, encoding)


def as_utf8(path: Path, encoding: str, target: Path) -> Path:
    """Write a copy of a text file in UTF-8 to ``target`` and return its path.

    Raises UnicodeDecodeError for bytes that the encoding lacks. In UTF-16 such bytes are replaced instead, and in
    Windows-1252 they are read as Latin-1.
    """
    with path.open("rb") as source, target.open("w", encoding="utf-8", newline="") as file:
        if encoding != WINDOWS:
            faults = "replace" if encoding == "utf-16" else "strict"
            shutil.copyfileobj(codecs.getreader(_codec(encoding))(source, faults), file, _BLOCK)
            return target
        while block := source.read(_BLOCK):
            file.write(_windows(block))
    return target


def decoded(path: Path, target: Path) -> tuple[str, Path]:
    """Write a UTF-8 copy of a text that is not UTF-8, by its detected encoding; return (a remark on it, ``target``)."""
    if strays := _mostly_utf8(path, target):
        return strays, target
    encoding = likely_encoding(path)
    try:
        as_utf8(path, encoding, target)
    except UnicodeDecodeError:
        encoding = WINDOWS
        as_utf8(path, encoding, target)
    return f"it is not UTF-8, and was read as {encoding}", target


def _mostly_utf8(path: Path, target: Path) -> str:
    """Copy a text with a few bytes that are not UTF-8, reading these as Windows-1252, and return a remark on them.

    Return "" if the text is in another encoding: if the stray bytes are not fewer than the valid non-ASCII letters,
    because bytes of another encoding are rarely valid UTF-8.
    """
    line, first, strays, letters = 1, 0, 0, 0
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    with path.open("rb") as source, target.open("w", encoding="utf-8", newline="") as file:
        ended = False
        while not ended:
            ended = not (block := source.read(_BLOCK))
            text = decoder.decode(block, final=ended)
            if stray := _STRAY.search(text):
                first = first or line + text.count("\n", 0, stray.start())
            letters += len(text) - len(text.encode("ascii", "ignore"))
            line += text.count("\n")
            text, found = _STRAY.subn(lambda byte: _windows(byte[0].encode("utf-8", "surrogateescape")), text)
            strays += found
            file.write(text)
    if letters - strays <= strays:
        return ""
    where = (
        f"1 byte, in line {first:,}, was"
        if strays == 1
        else f"{strays:,} bytes, the first in line {first:,}, were"
    )
    return f"it is not UTF-8 throughout: {where} read as {WINDOWS}"


def _windows(block: bytes) -> str:
    try:
        return block.decode("cp1252")
    except UnicodeDecodeError:
        return block.decode("latin-1")
