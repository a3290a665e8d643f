"""Convert text to UTF-8: UTF-16 is recognised by its byte order mark, other encodings by their bytes."""

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
# name by the detector → Python's codec of the larger set of characters that programs write under that name
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
_AFTER = _BETWEEN + "“”«»‹›™®©°¹²³€†‡"  # and at the end of a word
_PARTS = (
    (re.compile(rb"(?<=[A-Za-z])[\x80-\xff]+(?=[a-z])"), _BETWEEN),
    (re.compile(rb"(?<=[a-z])[\x80-\xff]+(?![A-Za-z\x80-\xff])"), _AFTER),
)  # bytes inside a word and at its end, with the marks that may stand there
_STRAY = re.compile("[\udc80-\udcff]")  # a byte that is no UTF-8, as Python keeps it
_CONTROLS = {
    0xDC00 + byte: byte for byte in (0x81, 0x8D, 0x8F, 0x90, 0x9D)
}  # as "surrogateescape" marks them
_NO_LETTERS = "ƒÿﬁﬂªºπµ"  # small letters in Unicode, but in no word of a table of ratings


def marked_encoding(path: Path) -> str | None:
    """The encoding that a byte order mark shows, other than UTF-8: "utf-16"; None without such a mark."""
    with path.open("rb") as file:
        head = file.read(2)
    return _MARKS.get(head)


def is_utf8(path: Path) -> bool:
    """Whether a whole file is valid UTF-8."""
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
    """The likely encoding of a text that is not UTF-8, by its first non-ASCII lines; in case of doubt Windows-1252.

    chardetng, Firefox's detector, distinguishes the scripts. Among encodings of Latin letters it errs if only a few
    bytes are not ASCII: it is followed only if Windows-1252 would put marks or capitals inside words.
    """
    from chardetng_py import detect  # imported only for files that are not UTF-8

    sample = _non_ascii_lines(path)
    if _spells_better(MAC, sample):
        return MAC
    found = str(detect(sample))
    if found in _ASIAN:
        letters = {c for c in sample.decode(_codec(found), "ignore") if not c.isascii()}
        return found if len(letters) > 1 else WINDOWS
    return found if _OTHER_SCRIPTS.fullmatch(found) or _spells_better(found, sample) else WINDOWS


def _non_ascii_lines(path: Path) -> bytes:
    """The first lines with non-ASCII bytes, up to about _SAMPLE bytes."""
    found, size = [], 0
    with path.open("rb") as file:
        while size < _SAMPLE and (line := file.readline(_BLOCK)):
            if not line.isascii():
                found.append(line)
                size += len(line)
    return b"".join(found)


def _spells_better(encoding: str, sample: bytes) -> bool:
    """Whether all non-ASCII parts of words are small letters in an encoding, but not in Windows-1252."""
    return _misspelt(sample, _CODECS[WINDOWS]) > 0 and _misspelt(sample, _codec(encoding)) == 0


def _misspelt(sample: bytes, codec: str) -> int:
    """The number of different non-ASCII parts of words that are not only small letters in an encoding."""
    texts = {
        part.decode(codec, "replace").strip(marks)
        for parts, marks in _PARTS
        for part in parts.findall(sample)
    }
    return sum(not all(c.islower() and c not in _NO_LETTERS for c in text) for text in texts)


def _codec(encoding: str) -> str:
    return _CODECS.get(encoding, encoding)


def as_utf8(path: Path, encoding: str, target: Path) -> Path:
    """Write a text file in UTF-8 to ``target``, and return that; UnicodeDecodeError if ``encoding`` does not fit.

    No error is raised for UTF-16, of which wrong bytes are replaced, and for Windows-1252.
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
    """(remark on the encoding, ``target``) of a text that is not UTF-8: its copy in UTF-8, by its likely encoding."""
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
    """Copy a text that is mostly UTF-8, other bytes as Windows-1252; return a remark on these, "" if it is not UTF-8.

    Bytes in another encoding are rarely letters in UTF-8 by chance: the text is UTF-8 if it has more non-ASCII letters
    than wrong bytes.
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
    """The text of a block; the five bytes without a character in Windows-1252 become controls, as in a browser."""
    return block.decode("cp1252", "surrogateescape").translate(_CONTROLS)
