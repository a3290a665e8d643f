"""Compressed files and tar archives, unpacked with the same care as ZIP archives."""

from __future__ import annotations

import bz2
import gzip
import lzma
import tarfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, cast

import zstandard

from ....errors import IngestError
from ....text import brief
from .archive import HIGHEST_RATIO, LARGEST, MOST_ENTRIES, link_within, zstd_reader

_BLOCK = 1 << 20
_SMALL = 16 << 20
_BROKEN = (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError, zstandard.ZstdError, tarfile.TarError)


def _zstd(path: Path) -> IO[bytes]:
    return zstd_reader(path.open("rb"))


# first bytes → (name of the compression, function that opens the file, ending that is removed from its name)
_KINDS: Mapping[bytes, tuple[str, Callable[[Path], IO[bytes]], str]] = {
    b"\x1f\x8b": ("gzip", lambda path: cast("IO[bytes]", gzip.open(path)), ".gz"),  # noqa: SIM115 - the caller closes it
    b"BZh": ("bzip2", lambda path: cast("IO[bytes]", bz2.open(path)), ".bz2"),  # noqa: SIM115 - the caller closes it
    b"\xfd7zXZ\x00": ("xz", lambda path: cast("IO[bytes]", lzma.open(path)), ".xz"),  # noqa: SIM115 - the caller closes it
    b"\x28\xb5\x2f\xfd": ("Zstandard", _zstd, ".zst"),
}
_SHORT = {".tgz": ".tar", ".tbz2": ".tar", ".txz": ".tar", ".tzst": ".tar"}


def compression_of(path: Path) -> str | None:
    """The name of the compression that the file's first bytes show; None if it is not compressed."""
    with path.open("rb") as file:
        head = file.read(8)
    return next((kind for start, (kind, _, _) in _KINDS.items() if head.startswith(start)), None)


def decompress(path: Path, name: str, target: Path) -> str:
    """Unpack into ``target``; return the name without its ending (``.gz``). IngestError if damaged, or a bomb."""
    kind = compression_of(path)
    _, opened, ending = next(entry for entry in _KINDS.values() if entry[0] == kind)
    most = max(_SMALL, HIGHEST_RATIO * path.stat().st_size)
    try:
        with opened(path) as source, target.open("wb") as file:
            _copy(source, file, min(most, LARGEST), name)
    except _BROKEN as error:
        raise IngestError(
            f"{name} cannot be unpacked ({kind}, {brief(error)}): compress it again."
        ) from error
    plain = name.removesuffix(ending)
    for short, long in _SHORT.items():
        plain = plain.removesuffix(short) + long if plain.endswith(short) else plain
    return plain


def is_tar(path: Path) -> bool:
    """Whether a file is a tar archive."""
    with path.open("rb") as file:
        file.seek(257)
        return file.read(5) == b"ustar"


def untar(path: Path, name: str, folder: Path) -> Iterator[tuple[str, Path]]:
    """(name in the archive, unpacked copy in ``folder`` under a neutral name) of each regular file of a tar archive.

    Raises IngestError if the archive is damaged, holds links or too many files, or unpacks to too many bytes.
    """
    folder.mkdir(parents=True, exist_ok=True)
    room, number = LARGEST, 0
    try:
        with tarfile.open(path, "r:") as archive:
            for entry in archive:
                number += 1  # folders and links too: each takes memory
                if number > MOST_ENTRIES:
                    raise IngestError(f"{name} holds more than {MOST_ENTRIES:,} files: split it.")
                if entry.issym() or entry.islnk():
                    raise link_within(name, entry.name)
                if not entry.isfile() or entry.name.rsplit("/", 1)[-1].startswith((".", "._")):
                    continue
                source, target = archive.extractfile(entry), folder / f"entry{number}"
                if source is None:
                    continue
                with source, target.open("wb") as file:
                    room -= _copy(source, file, room, name)
                yield entry.name.removeprefix("./"), target
    except _BROKEN as error:
        raise IngestError(
            f"{name} cannot be unpacked (tar, {brief(error)}): make the archive again."
        ) from error


def _copy(source: IO[bytes], target: IO[bytes], most: int, name: str) -> int:
    size = 0
    while block := source.read(_BLOCK):
        size += len(block)
        if size > most:
            raise IngestError(
                f"{name} unpacks to far more than it should: it is not read; unpack it yourself."
            )
        target.write(block)
    return size
