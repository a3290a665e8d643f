"""Turn the user's sources (paths, folders, archives, workbooks, bytes, frames) into local files with unique names."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Union

from ...errors import IngestError
from ...text import count, listed
from .apart import apart, is_packed
from .formats import archive
from .formats.compression import compression_of, decompress, is_tar, untar
from .formats.encoding import as_utf8, marked_encoding
from .formats.records import within_text
from .formats.workbook import sheets
from .frames import Frame, write_frame
from .scratch import scratch_folder

Source = str | Path | bytes | IO[bytes] | Frame
Named = tuple[str, Source]
Sources = Union[Source, Named, list[Source | Named], "KeptSources"]

SHEET = " › "
_MOST_FILES = 20_000
_HIDDEN = (".", "__MACOSX")


@dataclass(frozen=True)
class Piece:
    """One file to read: its name in messages and in the plan, and its local path.

    seen_path: its path as the user knows it. scratch: a temporary folder for this file, kept during the ingest. alone:
    whether it is the only source. remark: a sentence for the user on how it was unpacked; "" if there is none.
    """

    name: str
    path: Path
    seen_path: str
    scratch: Path
    alone: bool = False
    remark: str = ""

    @property
    def sheet(self) -> bool:
        """Whether it is a sheet of a workbook."""
        return SHEET in self.name


class KeptSources:
    """Sources that are copied and unpacked once and can be inspected repeatedly, as long as this object exists.

    Raises IngestError as ``gathered`` does.
    """

    def __init__(self, sources: Sources) -> None:
        stack = ExitStack()
        self.pieces = stack.enter_context(gathered(sources))
        weakref.finalize(self, stack.close)


@contextmanager
def gathered(sources: Sources, name: str | None = None) -> Iterator[tuple[Piece, ...]]:
    """All files of some sources: those of folders and archives, the sheets of workbooks. Deleted after the context.

    name: of a single source, for messages. Raises IngestError where a source is missing, broken or empty.
    """
    if isinstance(sources, KeptSources):
        yield sources.pieces
        return
    listed = _listed(sources, name)
    with scratch_folder() as folder:
        yield _laid_out(listed, Path(folder))


def _laid_out(listed: list[tuple[str | None, Source]], folder: Path) -> tuple[Piece, ...]:
    whole: list[tuple[Piece, bool]] = []
    with _disk():
        for number, (label, source) in enumerate(listed):
            scratch = folder / f"source{number}"
            scratch.mkdir()
            whole += _open(label, source, scratch, alone=len(listed) == 1)
    packed = [is_packed(piece.path, piece.name) for piece, _ in whole]
    there = [given for given, wait in zip(whole, packed, strict=True) if wait]
    unpacked = iter(apart([piece.name for piece, _ in there], _all_taken_apart, there) if there else ())
    pieces = [
        piece
        for given, wait in zip(whole, packed, strict=True)
        for piece in (next(unpacked) if wait else _taken_apart(*given))
    ]
    for piece in pieces:
        if (shown := piece.seen_path.encode("utf-8", "replace").decode()) != piece.seen_path:
            raise IngestError(f"The name of a file, {shown!r}, is not UTF-8: rename it.")
    return _distinct(pieces)


def _all_taken_apart(whole: Sequence[tuple[Piece, bool]]) -> list[list[Piece]]:
    return [_taken_apart(piece, nested) for piece, nested in whole]


def _taken_apart(piece: Piece, nested: bool) -> list[Piece]:
    with _disk():
        return _take_apart(piece, nested=nested)


@contextmanager
def _disk() -> Iterator[None]:
    """Turn an OSError into an IngestError with a sentence for the user."""
    try:
        yield
    except OSError as error:
        raise IngestError(
            f"The files could not be laid out for reading ({error.strerror}): check that they can be read, and that "
            "the disk of temporary files has room."
        ) from error


def _listed(
    sources: Source | Named | list[Source | Named], name: str | None
) -> list[tuple[str | None, Source]]:
    if isinstance(sources, tuple):
        return [(sources[0], sources[1])]
    if isinstance(sources, list):
        if not sources:
            raise IngestError("There is no file to read: name at least one.")
        return [s if isinstance(s, tuple) else (None, s) for s in sources]
    return [(name, sources)]


def _open(name: str | None, source: Source, scratch: Path, *, alone: bool) -> list[tuple[Piece, bool]]:
    """(file, whether it comes from a folder) for each file of a source, before archives are unpacked."""
    if isinstance(source, (str, Path)):
        path = Path(source).expanduser()
        if path.is_dir():
            return _walk(name or path.name, path, scratch)
        if not path.is_file():
            raise IngestError(f"There is no file {str(source)!r}: check the path.")
        plain = scratch / "source"
        plain.symlink_to(path.resolve())  # a path with * or [ would be taken for a pattern
        return [(Piece(name or path.name, plain, path.resolve().as_posix(), scratch, alone), False)]
    path = scratch / "source"
    if isinstance(source, Frame):
        write_frame(source, path)
        label = name or "data frame"
        return [(Piece(label, path, label, scratch, alone), False)]
    label = name or Path(str(getattr(source, "name", "") or "upload")).name
    if isinstance(source, bytes):
        path.write_bytes(source)
    elif not hasattr(source, "read"):
        raise IngestError(
            f"A {type(source).__name__} cannot be read as a file: give a path, bytes, an open binary file, or a data "
            "frame."
        )
    else:
        with path.open("wb") as file:
            while block := source.read(1 << 20):
                file.write(block)
    return [(Piece(label, path, label, scratch, alone), False)]


def _walk(name: str, folder: Path, scratch: Path) -> list[tuple[Piece, bool]]:
    """Every file below a folder, named by its relative path, as in ``_open``. Links are skipped and named in a remark.

    A link may lead anywhere, so links are read only if the user names them.
    """
    found: list[Path] = []
    links: list[str] = []
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        if any(part.startswith(_HIDDEN) for part in inside.parts):
            continue
        if path.is_symlink():
            links.append(inside.as_posix())
        if path.is_symlink() or not path.is_file():
            continue
        if len(found) == _MOST_FILES:
            raise IngestError(
                f"The folder {name} holds more than {_MOST_FILES:,} files: name the one to read."
            )
        found.append(path)
    told = _remark_on_links(links)
    if not found:
        why = f" ({told})" if told else ""
        raise IngestError(f"There is no file in the folder {name}{why}: name one with label tables.")
    pieces: list[tuple[Piece, bool]] = []
    for number, inner in enumerate(found):
        own = scratch / f"file{number}"
        own.mkdir()
        plain = own / "source"
        plain.symlink_to(inner.resolve())
        label = inner.relative_to(folder).as_posix()
        pieces.append((Piece(label, plain, f"{name}/{label}", own, remark=told), True))
    return pieces


def _remark_on_links(links: Sequence[str]) -> str:
    """A remark on the links that were skipped, and how to read them; "" if there are none."""
    if not links:
        return ""
    them, are = ("it", "is a link, and was") if len(links) == 1 else ("them", "are links, and were")
    way = f"name {them}, or put the files in {'its' if len(links) == 1 else 'their'} place"
    return f"in the same folder {listed([repr(link) for link in links], 3)} {are} not read: {way}"


def _take_apart(piece: Piece, *, nested: bool = False) -> list[Piece]:
    """The files of an archive, the sheets of a workbook, or the file itself, decompressed and in UTF-8.

    nested: whether the file comes from an archive or a folder, where an archive raises IngestError.
    """
    if compression_of(piece.path):
        target = piece.scratch / "unpacked"
        name = decompress(piece.path, piece.name, target)
        seen = piece.seen_path.removesuffix(piece.name) + name
        piece = replace(piece, name=name, path=target, seen_path=seen)
    if is_tar(piece.path):
        if nested:
            raise IngestError(
                f"{piece.name} is an archive within what was given: unpack it and add its files."
            )
        return _inner(untar(piece.path, piece.name, piece.scratch / "tar"), piece)
    if not archive.is_zip(piece.path):
        encoding = marked_encoding(piece.path)
        plain = as_utf8(piece.path, encoding, piece.scratch / "utf8") if encoding else piece.path
        return [replace(piece, path=within_text(plain, piece.scratch / "within"))]
    entries = archive.entry_names(piece.path, piece.name)
    if any(mark in entries for mark in archive.LOG):
        return [piece]  # of Inspect
    if any(mark in entries for mark in archive.WORKBOOK):
        tables, blank = sheets(piece.path, piece.name, piece.scratch / "sheets")
        remark = (
            f"{count(blank, 'formula')} of the workbook {'has' if blank == 1 else 'have'} no stored value and "
            f"{'was' if blank == 1 else 'were'} read as empty: save it in a spreadsheet program and read it again"
        )
        return [
            Piece(
                f"{piece.name}{SHEET}{sheet}",
                path,
                f"{piece.seen_path}{SHEET}{sheet}",
                piece.scratch,
                remark=". ".join(filter(None, [piece.remark, remark if blank else ""])),
            )
            for sheet, path in tables
        ]
    if nested:
        raise IngestError(f"{piece.name} is an archive within what was given: unpack it and add its files.")
    if not entries:
        raise IngestError(f"{piece.name} is an empty archive: expected at least one file in it.")
    return _inner(archive.unpack(piece.path, piece.name, piece.scratch / "zip"), piece)


def _inner(entries: Iterable[tuple[str, Path]], piece: Piece) -> list[Piece]:
    """The files of an archive, each with its own scratch folder."""
    pieces = []
    for number, (entry, file) in enumerate(entries):
        own = piece.scratch / f"file{number}"
        own.mkdir()
        pieces += _take_apart(Piece(entry, file, entry, own), nested=True)
    if not pieces:
        raise IngestError(f"{piece.name} is an empty archive: expected at least one file in it.")
    return pieces


def _distinct(pieces: list[Piece]) -> tuple[Piece, ...]:
    """Make the names of the files unique by appending numbers, so that a plan can refer to each file."""
    taken: set[str] = set()
    own, distinct = {piece.name for piece in pieces}, []
    for piece in pieces:
        further = (f"{piece.name} ({n})" for n in range(2, len(pieces) + 2))
        name = piece.name if piece.name not in taken else next(n for n in further if n not in taken | own)
        taken.add(name)
        distinct.append(piece if name == piece.name else replace(piece, name=name))
    return tuple(distinct)
