"""Damaged files: a sentence or a whole, counted ingest, nothing else; no traceback, no hang, no half of a file."""

from __future__ import annotations

import csv
import io
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from crubric_core.errors import IngestError
from crubric_core.labels import Workspace
from tests.labels.readers import fuzzing
from tests.tiers import at_most, examples

ROOT = Path(__file__).resolve().parents[3]
DAMAGED = int(os.environ.get("CRUBRIC_FUZZ", at_most(250, 2500)))  # files
HEADER = b"system,query,rubric,judge,label\n"
BODY = b"".join(b'"m, %d",q%d,"r\n%d",j%d,%d\n' % (i % 4, i % 3, i % 6, i % 2, i % 5) for i in range(24))
SCRAPS = [
    b'"',
    b"\n",
    b"\r",
    b"\r\n",
    b"\n\n",
    b",",
    b";",
    b"\xff",
    b"\0",
    b"NA",
    b"1e400",
    b"\xe2\x80\xa8",
    b"x" * 5000,
]
CHANGES = st.lists(
    st.tuples(st.integers(0, len(BODY)), st.integers(0, 40), st.sampled_from([b"", *SCRAPS])),
    min_size=1,
    max_size=6,
)


def attempt(ws: Workspace, content: bytes, kind: str = "labels"):
    """The report, or the sentence of the refusal."""
    try:
        return ws.ingest(content, "d", kind, name="labels.csv")
    except IngestError as error:
        return str(error)


def damaged(changes: list[tuple[int, int, bytes]]) -> bytes:
    """The table with some bytes cut out and scraps put in their place."""
    body = bytearray(BODY)
    for at, cut, scrap in changes:
        body[at : at + cut] = scrap
    return HEADER + bytes(body)


def as_text(content: bytes) -> str:
    """UTF-8, and where it is none Windows-1252."""
    try:
        return content.decode()
    except UnicodeDecodeError:
        return content.decode("cp1252")


@given(changes=CHANGES)
@example(changes=[(40, 0, b"\r")])
@example(changes=[(5, 0, b"\n\n"), (41, 1, b"\r")])
@example(changes=[(0, 0, b"\xff")])
@settings(max_examples=examples(80), suppress_health_check=[HealthCheck.too_slow])
def test_a_damaged_table_is_refused_in_a_sentence_or_accounted_for_row_by_row(changes):
    content = damaged(changes)
    with Workspace() as ws:
        report = attempt(ws, content)
        if isinstance(report, str):
            assert "could not be stored" not in report
            assert "\n" not in report
            assert ws.datasets().empty
            return
        counts = ws.dataset("d").counts()
        assert counts["labels"] + counts["blank"] == report.accepted - report.collapsed
        assert len(report.rejects) == report.rejected == report.rejects["row"].nunique()
        if not report.rejects["reason"].str.contains("quotation mark").any():
            records = list(csv.reader(io.StringIO(as_text(content), newline="")))
            assert report.accepted + report.rejected == sum(map(bool, records)) - 1
            assert report.rejects["row"].between(2, len(records)).all()


@given(
    content=st.binary(max_size=300),
    kind=st.sampled_from(["labels", "rubrics", "queries", "gold", "reference"]),
)
@settings(max_examples=examples(60))
def test_bytes_without_sense_are_refused_in_a_sentence(content, kind):
    with Workspace() as ws:
        sentence = attempt(ws, content, kind)
        assert isinstance(sentence, str)
        assert "\n" not in sentence
        assert ws.datasets().empty


# A process of their own tells which case crashed it or took ten seconds.
@pytest.mark.parametrize("first", range(0, DAMAGED, 1250))
def test_no_damaged_file_of_any_format_is_half_read_or_hangs(first):
    end = min(first + 1250, DAMAGED)
    run = [sys.executable, "-m", "tests.labels.readers.fuzzing", str(first), str(end)]
    ended = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=False)
    last = int(ended.stdout.split()[-1])
    name, content, kind = fuzzing.case(last, fuzzing.seeds())
    assert ended.returncode == 0, f"case {last}, {name} as {kind}: {content[:200]!r}\n{ended.stderr[-2000:]}"
    assert last == end - 1


def left_alone(ws: Workspace, content: bytes, name: str) -> str:
    """The sentence of the refusal; nothing is stored."""
    with pytest.raises(IngestError) as caught:
        ws.ingest(content, "d", name=name)
    assert ws.datasets().empty
    return str(caught.value)


def test_an_archive_that_swells_is_refused(ws):
    bomb = fuzzing.zipped({"labels.csv": HEADER + b"0" * (60 << 20)})
    assert len(bomb) < 1 << 20
    sentence = left_alone(ws, bomb, "bomb.zip")
    assert "bomb.zip" in sentence


def test_an_archive_within_an_archive_does_not_unfold_for_ever(ws):
    content = BODY
    for _ in range(6):
        content = fuzzing.zipped({"inner.zip": content})
    assert left_alone(ws, content, "nested.zip")


def test_a_name_that_climbs_out_of_an_archive_writes_nothing_outside(ws, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    escapes = dict.fromkeys(
        ("../escaped.csv", "/tmp/escaped.csv", "x/../../escaped.csv"), HEADER + b"a,q,r,j,1\n"
    )
    before = set(tmp_path.parent.iterdir())
    attempt(ws, fuzzing.zipped(escapes))
    assert set(tmp_path.parent.iterdir()) == before
    assert not list(tmp_path.iterdir())
    assert not Path("/tmp/escaped.csv").exists()


def test_a_cell_of_ten_megabytes_is_refused_in_a_sentence(ws):
    cell = b"x" * (10 << 20)
    for content in (HEADER + b"a,q,r,j," + cell, HEADER + b'a,q,"' + cell + b'",j,1', b"a" + cell):
        assert len(left_alone(ws, content, "wide.csv")) < 600


def test_markup_and_formulas_are_only_text(ws):
    names = [
        "=1+1",
        "<script>alert(1)</script>",
        "'; DROP TABLE labels; --",
        "../../etc/passwd",
        "$dataset",
        "{x}",
    ]
    rows = "".join(f"{name},q,r,j,1\n" for name in names).encode()
    report = ws.ingest(HEADER + rows, "d")
    assert report.rejected == 0
    assert ws.dataset("d").systems == tuple(sorted(names))


def test_a_zip_that_lies_about_its_sizes_is_refused(ws):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("labels.csv", HEADER + BODY * 50)
    content = bytearray(made.getvalue())
    at = content.find(b"PK\x01\x02")
    content[at + 24 : at + 28] = (7).to_bytes(4, "little")  # the uncompressed size, in the directory
    assert left_alone(ws, bytes(content), "lying.zip")
