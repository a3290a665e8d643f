"""Damaged files: a sentence or a whole, counted ingest, nothing else."""

from __future__ import annotations

import csv
import io

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from crubric_core.errors import IngestError
from crubric_core.labels import Workspace

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


@given(changes=CHANGES)
@example(changes=[(40, 0, b"\r")])
@example(changes=[(5, 0, b"\n\n"), (41, 1, b"\r")])
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
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
            records = list(csv.reader(io.StringIO(content.decode(), newline="")))
            assert report.accepted + report.rejected == sum(map(bool, records)) - 1
            assert report.rejects["row"].between(2, len(records)).all()


@given(
    content=st.binary(max_size=300),
    kind=st.sampled_from(["labels", "rubrics", "queries", "gold", "reference"]),
)
@settings(max_examples=60, deadline=None)
def test_bytes_without_sense_are_refused_in_a_sentence(content, kind):
    with Workspace() as ws:
        sentence = attempt(ws, content, kind)
        assert isinstance(sentence, str)
        assert "\n" not in sentence
        assert ws.datasets().empty
