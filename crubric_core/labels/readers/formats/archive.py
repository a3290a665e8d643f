"""Read ZIP archives safely: names in them are never used as paths, and decompression bombs are refused."""

from __future__ import annotations

import io
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, cast

import zstandard

from ....errors import IngestError
from ....text import brief

MOST_ENTRIES = 20_000
LOG = ("header.json", "_journal/start.json")  # one of these is in every Inspect log
WORKBOOK = ("xl/workbook.xml", "xl/workbook.bin", "content.xml")  # one of these is in every workbook
_LISTED = 8 << 20  # bytes of an archive up to which listing its files takes little time and memory
_BOUNDED = (
    zipfile.ZIP_STORED,
    zipfile.ZIP_DEFLATED,
    93,
)  # methods that unpack no more at a time than is asked for
LARGEST = 8 << 30  # bytes unpacked, all entries together
HIGHEST_RATIO = 300  # text with long repeats shrinks to a hundredth, a bomb to a thousandth
_SMALL = 16 << 20  # below this a high ratio does no harm
_BLOCK = 1 << 20
_SKIPPED = ("__MACOSX/", ".DS_Store", "Thumbs.db", "desktop.ini")
_BROKEN = (
    *(zipfile.BadZipFile, zlib.error, zstandard.ZstdError),
    *(NotImplementedError, RuntimeError, EOFError, ValueError, OSError),
)
ZSTANDARD = 93  # the number of the method in ZIP archives
_LOCAL = struct.Struct("<4s5H3I2H")  # the header before each entry


def is_zip(path: Path) -> bool:
    """Whether the file begins as a ZIP archive does."""
    with path.open("rb") as file:
        return file.read(4) in (b"PK\x03\x04", b"PK\x05\x06")


def declared_size(path: Path) -> float:
    """The number of bytes to which a ZIP archive unpacks, as it declares itself.

    0 if it is damaged. Infinity if the number is unreliable: the archive is so large that its list of files may be
    long, or an entry is packed by a method with which a few bytes may unpack to any number at once.
    """
    if path.stat().st_size > _LISTED:
        return float("inf")
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
    except _BROKEN:
        return 0.0
    bounded = all(entry.compress_type in _BOUNDED for entry in entries)
    return sum(entry.file_size for entry in entries) if bounded else float("inf")


def entry_names(path: Path, name: str) -> tuple[str, ...]:
    """The names of the files in an archive, as stored; raises IngestError if it is damaged."""
    with _opened(path, name) as archive:
        return tuple(entry.filename for entry in _entries(archive, name))


def unpack(path: Path, name: str, folder: Path) -> Iterator[tuple[str, Path]]:
    """(name in the archive, unpacked copy in ``folder`` under a neutral name) of each file.

    Raises IngestError if the archive is damaged or encrypted, holds another archive, or unpacks to too many bytes.
    """
    folder.mkdir(parents=True, exist_ok=True)
    room = LARGEST
    with _opened(path, name) as archive:
        for number, entry in enumerate(_entries(archive, name)):
            target = folder / f"entry{number}"
            room -= _copy(archive, entry, path, target, name, room)
            if is_zip(target) and not is_workbook(entry.filename) and not entry.filename.endswith(".eval"):
                raise IngestError(
                    f"{name} holds another archive, {entry.filename!r}: unpack that one and add its files."
                )
            yield entry.filename, target


def read_entries(path: Path, name: str, entries: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """(name, content) of some files of an archive, each of which must fit into memory."""
    with _opened(path, name) as archive:
        for entry in entries:
            yield entry, _content(archive, entry, path, name)


def _content(archive: zipfile.ZipFile, entry: str, path: Path, name: str) -> bytes:
    try:
        found = archive.getinfo(entry)
        _check_entry(found, name)
        with open_entry(archive, found, path) as file:
            content = file.read(min(_allowed(found, LARGEST), 1 << 30) + 1)
    except _BROKEN as error:
        raise _broken(name, entry, error) from error
    if len(content) > _allowed(found, LARGEST):
        raise _bomb(name, entry)
    return content


def is_workbook(name: str) -> bool:
    """Whether a file's name is that of an Excel or OpenDocument workbook."""
    return name.lower().endswith((".xlsx", ".xlsm", ".xlsb", ".ods"))


def guard(path: Path, name: str) -> None:
    """Raise IngestError if a ZIP-based file declares more than 1 GiB; for readers that unpack it themselves."""
    with _opened(path, name) as archive:
        _entries(archive, name)
        if sum(e.file_size for e in archive.infolist()) > 1 << 30:
            raise _bomb(name, "its content")


def open_entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, path: Path) -> IO[bytes]:
    """One file of an archive, unpacked while it is read, also by Zstandard (method 93), which zipfile lacks."""
    if entry.compress_type != ZSTANDARD:
        return archive.open(entry)
    raw = path.open("rb")
    raw.seek(entry.header_offset)
    header = raw.read(_LOCAL.size)
    if len(header) < _LOCAL.size or not header.startswith(b"PK\x03\x04"):
        raw.close()
        raise zipfile.BadZipFile("an entry is not where the archive's list says")
    name_length, extra_length = _LOCAL.unpack(header)[-2:]
    raw.seek(name_length + extra_length, io.SEEK_CUR)
    return zstd_reader(cast("IO[bytes]", _Part(raw, entry.compress_size)))


class _Part(io.RawIOBase):
    """The next ``size`` bytes of a file, as a file that ends after them."""

    def __init__(self, file: IO[bytes], size: int) -> None:
        self._file, self._left = file, size

    def readable(self) -> bool:
        """Always True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer with the next bytes; return their number, 0 at the end."""
        block = self._file.read(min(len(buffer), self._left))
        self._left -= len(block)
        buffer[: len(block)] = block
        return len(block)

    def close(self) -> None:
        """Close the file too."""
        self._file.close()
        super().close()


class _Zstandard(io.RawIOBase):
    """Zstandard frames, unpacked while they are read; EOFError if the last one is cut off.

    The library's own stream reader ends there without an error. Input is read 1 KiB at a time, because 4 bytes may
    unpack to 128 KiB.
    """

    def __init__(self, source: IO[bytes]) -> None:
        self._source, self._waiting = source, b""
        self._begin()

    def _begin(self) -> None:
        self._frame = zstandard.ZstdDecompressor(max_window_size=1 << 27).decompressobj()
        self._inside = False

    def readable(self) -> bool:
        """Always True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """See RawIOBase."""
        while not self._waiting:
            block = self._frame.unused_data if self._frame.eof else b""
            if self._frame.eof:
                self._begin()
            block = block or self._source.read(1 << 10)
            if not block:
                if self._inside:
                    raise EOFError("it ends within its data")
                return 0
            self._inside = True
            self._waiting = self._frame.decompress(block)
        size = min(len(buffer), len(self._waiting))
        buffer[:size], self._waiting = self._waiting[:size], self._waiting[size:]
        return size

    def close(self) -> None:
        """Close the source too."""
        self._source.close()
        super().close()


def zstd_reader(source: IO[bytes]) -> IO[bytes]:
    """Zstandard data as a file, unpacked while it is read; reading may raise zstandard.ZstdError or EOFError."""
    return cast("IO[bytes]", io.BufferedReader(_Zstandard(source), 1 << 16))


def _opened(path: Path, name: str) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except UnicodeDecodeError as error:
        raise IngestError(
            f"{name} holds a file whose name is not UTF-8: rename it and make the archive again."
        ) from error
    except _BROKEN as error:
        raise IngestError(
            f"{name} is not a complete ZIP archive or Excel workbook ({brief(error)}): write it again."
        ) from error


def _entries(archive: zipfile.ZipFile, name: str) -> list[zipfile.ZipInfo]:
    if not all(entry.filename for entry in archive.infolist()):
        raise IngestError(f"{name} is damaged, as it holds a file without a name: make the archive again.")
    entries = [e for e in archive.infolist() if not e.is_dir() and not _is_litter(e.filename)]
    if len(entries) > MOST_ENTRIES:
        raise IngestError(
            f"{name} holds {len(entries):,} files, and at most {MOST_ENTRIES:,} are read: split it."
        )
    for entry in entries:
        _check_entry(entry, name)
    if sum(entry.file_size for entry in entries) > LARGEST:
        raise _bomb(name, "its content")
    return entries


def _is_litter(name: str) -> bool:
    return name.startswith(_SKIPPED) or name.rsplit("/", 1)[-1] in _SKIPPED


def _check_entry(entry: zipfile.ZipInfo, name: str) -> None:
    if entry.flag_bits & 1:
        raise IngestError(f"{name} is encrypted ({entry.filename!r}): unpack it with its password first.")
    if stat.S_ISLNK(entry.external_attr >> 16):
        raise link_within(name, entry.filename)
    if entry.file_size > _SMALL and entry.file_size > HIGHEST_RATIO * max(entry.compress_size, 1):
        raise _bomb(name, entry.filename)


def link_within(name: str, entry: str) -> IngestError:
    """The error for an archive that holds a link, which could lead to any file."""
    return IngestError(f"{name} holds a link, {entry!r}, not a file: put the file itself into it.")


def _allowed(entry: zipfile.ZipInfo, room: int) -> int:
    """The most bytes to which an entry may unpack: as many as it declares, but at most ``room``."""
    return min(entry.file_size, room)


def _copy(
    archive: zipfile.ZipFile, entry: zipfile.ZipInfo, path: Path, target: Path, name: str, room: int
) -> int:
    size = 0
    try:
        with open_entry(archive, entry, path) as source, target.open("wb") as file:
            while block := source.read(_BLOCK):
                size += len(block)
                if size > _allowed(entry, room):
                    raise _bomb(name, entry.filename)
                file.write(block)
    except _BROKEN as error:
        raise _broken(name, entry.filename, error) from error
    return size


def _broken(name: str, entry: str, error: Exception) -> IngestError:
    if isinstance(error, NotImplementedError):
        return IngestError(
            f"{entry!r} in {name} is packed by a method that is not read here: pack it as an ordinary ZIP."
        )
    return IngestError(f"{entry!r} in {name} cannot be unpacked ({brief(error)}): make the archive again.")


def _bomb(name: str, entry: str) -> IngestError:
    return IngestError(
        f"{name} unpacks to far more than it should ({entry}): it is not read; unpack it and add its files."
    )
