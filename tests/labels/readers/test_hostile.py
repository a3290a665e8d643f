"""Files that were made to end or to freeze a server: each one sentence, in bounded time and memory."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import struct
import tarfile
import zipfile
import zlib
from functools import cache

import pytest
import zstandard

from crubric_core.errors import IngestError
from crubric_core.labels.readers.bundle import plan_ingest
from crubric_core.labels.readers.file_names import fields_of
from crubric_core.labels.readers.formats import sheets_child

LABELS = b"system,query,rubric,judge,label\na,q,r,j,1\n"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"


def book(sheet: str) -> bytes:
    """The smallest .xlsx whose one sheet has these rows."""
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="xml" '
        'ContentType="application/xml"/><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="r1" '
        f'Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets><sheet name="S" sheetId="1" '
        'r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="r1" '
        f'Type="{_OFFICE}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{_MAIN}">{sheet}</worksheet>',
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return out.getvalue()


def rows(*cells: tuple[str, str]) -> str:
    """Cells by address, one row each."""
    numbered = "".join(
        f'<row r="{"".join(c for c in at if c.isdigit())}"><c r="{at}" t="inlineStr"><is><t>{text}</t></is></c></row>'
        for at, text in cells
    )
    return f"<sheetData>{numbered}</sheetData>"


BOOKS = {
    "far corner": book(rows(("A1", "system"), ("XFD1048576", "x"))),
    "far row": book(rows(("A1", "system"), ("ZZ1048576", "x"))),
    "beyond the last column": book(rows(("A1", "system"), ("ZZZ1048576", "x"))),
    "row beyond all": book(rows(("A1", "system"), ("A9999999", "x"))),
    "no cells": book("<sheetData/>"),
    "broken markup": book("<sheetData><row><c"),
    "merged to the far corner": book(
        rows(("A1", "system"), ("A2", "x")) + '<mergeCells><mergeCell ref="A1:XFD1048576"/></mergeCells>'
    ),
    "a claimed extent": book('<dimension ref="A1:XFD1048576"/>' + rows(("A1", "system"), ("A2", "x"))),
}


@pytest.mark.parametrize("name", BOOKS)
def test_a_hostile_workbook_is_one_sentence(name):
    (found,) = _looked_into(BOOKS[name], "x.xlsx") or (None,)
    assert found is None or found.endswith((".", "!"))


def test_the_far_cell_is_named():
    (found,) = _looked_into(BOOKS["far corner"], "x.xlsx")
    assert "goes to row 1,048,576, column 16,384, with 2 cells filled" in found


def test_the_workbook_reader_is_limited_in_memory_and_time(monkeypatch):
    limits = {}

    class Resource:
        RLIMIT_AS, RLIMIT_CPU, RLIMIT_CORE = "memory", "time", "core"

        @staticmethod
        def setrlimit(which, ends):
            limits[which] = ends

    monkeypatch.setitem(__import__("sys").modules, "resource", Resource)
    sheets_child.limit(100, 7)
    assert limits == {"memory": (100 << 20, 100 << 20), "time": (7, 7), "core": (0, 0)}


def _looked_into(content: bytes, name: str) -> tuple[str, ...]:
    """The sentence with which a file is refused; () where it is read, or planned with a problem."""
    try:
        plan_ingest([(name, content)])
    except IngestError as error:
        return (str(error),)
    return ()


def zipped(entries: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return out.getvalue()


def tarred(name: str, kind: bytes = tarfile.REGTYPE, size: int | None = None) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        entry = tarfile.TarInfo(name)
        entry.type, entry.linkname = kind, "/etc/passwd"
        entry.size = len(LABELS) if kind == tarfile.REGTYPE else 0
        archive.addfile(entry, io.BytesIO(LABELS) if entry.size else None)
    content = out.getvalue()
    return content if size is None else content[:size]


def relabelled(content: bytes, method: int) -> bytes:
    """An archive whose entries claim another method of compression."""
    changed = bytearray(content)
    changed[8:10] = struct.pack("<H", method)
    at = content.index(b"PK\x01\x02")
    changed[at + 10 : at + 12] = struct.pack("<H", method)
    return bytes(changed)


def understated(content: bytes, size: int = 1000) -> bytes:
    """An archive of one entry that claims to unpack to less than it does."""
    changed = bytearray(content)
    struct.pack_into("<I", changed, 22, size)
    struct.pack_into("<I", changed, content.index(b"PK\x01\x02") + 24, size)
    return bytes(changed)


def headers(kind: bytes, size: int = 0, times: int = 1) -> bytes:
    """The headers of entries of a tar archive, without what they announce."""
    entry = tarfile.TarInfo("a")
    entry.type, entry.size = kind, size
    return entry.tobuf(tarfile.GNU_FORMAT) * times


ZEROS = b"\0" * (40 << 20)
_ARCHIVES = {
    "bomb.zip": lambda: zipped({"a.csv": ZEROS}),
    "nested.zip": lambda: zipped({"a.zip": zipped({"a.csv": LABELS})}),
    "tar in zip.zip": lambda: zipped({"a.tar": tarred("a.csv")}),
    "climbing.zip": lambda: zipped({"../../a.csv": LABELS}),
    "absolute.zip": lambda: zipped({"/etc/a.csv": LABELS}),
    "zstd that is none.zip": lambda: relabelled(zipped({"a.csv": LABELS}), 93),
    "method 12 that is none.zip": lambda: relabelled(zipped({"a.csv": LABELS}), 12),
    "unknown method.zip": lambda: relabelled(zipped({"a.csv": LABELS}), 77),
    "empty.zip": lambda: zipped({}),
    "bomb.gz": lambda: gzip.compress(ZEROS),
    "bomb.bz2": lambda: bz2.compress(ZEROS),
    "bomb.xz": lambda: lzma.compress(ZEROS),
    "bomb.zst": lambda: zstandard.compress(ZEROS),
    "zstd with a huge window.zst": lambda: b"\x28\xb5\x2f\xfd\x00\xa0" + b"\xff" * 20,
    "climbing.tar": lambda: tarred("../../a.csv"),
    "absolute.tar": lambda: tarred("/etc/a.csv"),
    "link.tar": lambda: tarred("a.csv", tarfile.SYMTYPE),
    "hard link.tar": lambda: tarred("a.csv", tarfile.LNKTYPE),
    "device.tar": lambda: tarred("a.csv", tarfile.CHRTYPE),
    "fifo.tar": lambda: tarred("a.csv", tarfile.FIFOTYPE),
    "cut.tar": lambda: tarred("a.csv", size=700),
    "understated bzip2.zip": lambda: understated(zipped({"a.csv": ZEROS}, zipfile.ZIP_BZIP2)),
    "understated lzma.zip": lambda: understated(zipped({"a.csv": ZEROS}, zipfile.ZIP_LZMA)),
    "folders without end.tar.gz": lambda: gzip.compress(headers(tarfile.DIRTYPE, times=30_000)),
    "a header as long as the file.tar.gz": lambda: gzip.compress(
        headers(tarfile.XHDTYPE, 15 << 20) + ZEROS[: 15 << 20]
    ),
    "tar bomb.tar.gz": lambda: gzip.compress(tarred("a.csv") + ZEROS),
}
ARCHIVES = list(_ARCHIVES)


@cache
def archive(name: str) -> bytes:
    """The content of a hostile archive; some take a second to make."""
    return _ARCHIVES[name]()


@pytest.mark.parametrize("name", ARCHIVES)
def test_a_hostile_archive_is_refused_in_a_sentence_or_read_as_it_is_named(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for sentence in _looked_into(archive(name), name):
        assert "\n" not in sentence
        assert sentence.endswith(".")
    assert list(tmp_path.iterdir()) == [], "nothing is written but in a folder of its own"


@pytest.mark.parametrize("seed", range(30))
def test_a_damaged_archive_never_ends_in_anything_but_a_sentence(seed):
    draw = random.Random(seed)
    name = draw.choice(["bomb.zip", "nested.zip", "climbing.tar", "zstd that is none.zip"])
    content = bytearray(archive(name)[:5000] if name.startswith("bomb") else archive(name))
    for _ in range(draw.randint(1, 20)):
        content[draw.randrange(len(content))] = draw.randrange(256)
    packed = draw.choice([bytes, gzip.compress, lambda c: zstandard.compress(bytes(c)), zlib.compress])(
        content
    )
    for sentence in _looked_into(packed, name):
        assert "\n" not in sentence


PATTERNS = [
    *(f"{'*' * n}{{system}}{'*' * n}x" for n in (1, 10, 100, 600)),
    *(f"{'*a' * n}{{system}}b" for n in (1, 10, 100, 500)),
    *(f"{'a*' * n}{{system}}{'*a' * n}" for n in (1, 10, 100, 400)),
    *("{system}" + "*/" * n + "{judge}" for n in (1, 10, 100)),
    *("{system}{judge}" + "*" * n for n in (0, 1, 500)),
    *("*" * n + "/{system}.*" for n in (1, 10, 300)),
    *("{system}" + "a" * n + "*" * n for n in (1, 30, 600)),
    *("[(" * n + "{system}" + ")+]*" * n for n in (1, 10, 200)),
    *("\\" * n + "{system}" + "$^" * n for n in (1, 10, 300)),
]
PATHS = ["a" * 3000, "a/" * 1500, "ab" * 1500 + "c", "(((" * 900 + "x"]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_hostile_pattern_is_matched_or_refused_and_ends(pattern):
    for path in PATHS:
        try:
            found = fields_of(pattern, path)
        except IngestError as error:
            assert "must hold each of" in str(error)  # noqa: PT017 - some patterns are too long, and may be refused
        else:
            assert set(found) <= {"system", "judge"}


def test_a_text_of_a_hundred_thousand_lines_of_numbers_is_looked_through_once(ws):
    """Labels are looked for in lines of judges' texts; what crossed lines took minutes."""
    numbers = "1\n" * 100_000
    rows = [f'm{i},q{i},"{numbers}{i}"' for i in range(3)]
    with pytest.raises(IngestError, match="has no column for rubric and label"):
        ws.ingest("\n".join(["model,query,thoughts", *rows]).encode(), "d")


def test_twenty_thousand_columns_are_looked_into_without_squaring_them():
    header = ["system", *(f"criterion {i}" for i in range(20_000))]
    content = "\n".join(
        [",".join(header), *(f"s{i}," + ",".join("01"[(i + j) % 2] for j in range(20_000)) for i in range(3))]
    )
    plan = plan_ingest([("wide.csv", content.encode())])
    assert len(plan.files[0].mapping["rubric"]) == 20_000
