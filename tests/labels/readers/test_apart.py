"""Large files of strangers' formats are read by a process of its own, with the same result, or one sentence."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
import zipfile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from crubric_core.errors import IngestError
from crubric_core.labels.readers import apart
from crubric_core.labels.readers.bundle import plan_ingest, preview_file
from crubric_core.labels.readers.sources import Piece

RECORDS = [
    {"model": m, "question_id": f"q{q}", "judge": "j", "scores": {"cites": (q + len(m)) % 2, "clear": q % 2}}
    for m in ("gpt-4o", "claude-3")
    for q in range(4)
]
NESTED = "".join(json.dumps(r) + "\n" for r in RECORDS).encode()
NATIVE = json.dumps(
    {
        "results": [
            {"provider": "a", "testIdx": t, "gradingResult": {"pass": t > 0, "componentResults": []}}
            for t in range(3)
        ]
    }
).encode()


PARQUET = io.BytesIO()
pq.write_table(pa.Table.from_pylist(RECORDS), PARQUET)


@pytest.fixture
def counted(monkeypatch):
    """Everything is large; the functions that went apart."""
    calls = []

    def run(names, function, *arguments):
        calls.append(function.__name__)
        return real(names, function, *arguments)

    real = apart.apart
    monkeypatch.setattr(apart, "SMALL", 0)
    for module in ("bundle", "paths"):
        monkeypatch.setattr(f"crubric_core.labels.readers.{module}.apart", run)
    monkeypatch.setattr("crubric_core.labels.ingest.staging.apart", run)
    return calls


@pytest.mark.parametrize(
    ("content", "functions"),
    [
        (NESTED, ["_plan_here", "_unfold"]),
        (PARQUET.getvalue(), ["_plan_here", "_unfold"]),
        (NATIVE, ["_plan_here", "_written"]),
    ],
)
def test_what_is_read_apart_is_what_would_be_read_here(ws, counted, monkeypatch, content, functions):
    ws.ingest(content, "apart")
    assert counted == functions
    monkeypatch.setattr(apart, "SMALL", 1 << 30)
    ws.ingest(content, "here")
    assert counted == functions
    assert ws.dataset("apart").fingerprint == ws.dataset("here").fingerprint
    assert ws.dataset("apart").counts()["labels"] > 0


def test_nested_parquet_counts_as_much_as_it_unpacks_to(monkeypatch, tmp_path):
    records = [
        {**record, "answer": "the same long answer " * 200 + str(n)} for n, record in enumerate(RECORDS * 20)
    ]
    path = tmp_path / "x.parquet"
    pq.write_table(pa.Table.from_pylist(records), path, compression="zstd", use_dictionary=False)
    monkeypatch.setattr(apart, "SMALL", path.stat().st_size + 1)
    piece = Piece("x.parquet", path, "x.parquet", tmp_path)
    assert apart.is_heavy([piece])
    pq.write_table(pa.Table.from_pylist(records).drop_columns("scores"), path)
    assert not apart.is_heavy([piece])


def test_a_sentence_comes_back_as_it_is(ws, counted):
    with pytest.raises(IngestError, match="has no column for rubric"):
        ws.ingest(b'{"system": "a", "label": 1}\n', "d", name="x.json")
    assert counted == ["_plan_here"]
    assert preview_file([("x.json", NESTED)]).columns


def test_a_file_that_takes_too_much_is_one_sentence_and_the_process_that_asked_lives(counted, monkeypatch):
    monkeypatch.setattr(apart.sys, "executable", "/bin/false")
    with pytest.raises(IngestError, match=r"Reading x\.json takes more than .* split the file"):
        plan_ingest([("x.json", NESTED)])


def _fails(_: object) -> None:
    raise KeyError("a fault of the program")


def test_a_fault_of_the_program_is_not_told_as_too_much():
    with pytest.raises(
        RuntimeError, match=r"(?s)Reading x\.json failed: .*KeyError: 'a fault of the program'"
    ):
        apart.apart(["x.json"], _fails, None)


def test_too_little_memory_is_told_as_such_whatever_raised_it():
    with pytest.raises(IngestError, match=r"Reading x\.json takes more than"):
        apart.apart(["x.json"], _lacks_memory, None)


def _lacks_memory(_: object) -> None:
    raise OSError("Cannot allocate memory")


def _zip(method: int, content: bytes = NESTED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        archive.writestr("runs/labels.jsonl", content)
    return out.getvalue()


def _tar(content: bytes = NESTED) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        entry = tarfile.TarInfo("runs/labels.jsonl")
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))
    return out.getvalue()


@pytest.fixture
def taken(monkeypatch):
    """The names of the files that another process was asked to take apart."""
    names = []

    def run(called, function, *arguments):
        names.extend(called)
        return real(called, function, *arguments)

    real = apart.apart
    monkeypatch.setattr("crubric_core.labels.readers.sources.apart", run)
    return names


@pytest.mark.parametrize("packed", [_zip(zipfile.ZIP_DEFLATED), _tar(), gzip.compress(NESTED)])
def test_an_archive_taken_apart_elsewhere_gives_what_it_would_give_here(ws, taken, monkeypatch, packed):
    ws.ingest(packed, "here", name="x")
    assert taken == []
    monkeypatch.setattr(apart, "PACKED", 0)
    ws.ingest(packed, "apart", name="x")
    assert taken == ["x"]
    assert ws.dataset("apart").fingerprint == ws.dataset("here").fingerprint


def test_an_entry_that_may_unpack_to_any_size_at_once_is_never_unpacked_here(taken):
    assert plan_ingest([("x.zip", _zip(zipfile.ZIP_BZIP2))]).files[0].name == "runs/labels.jsonl"
    assert taken == ["x.zip"]


def test_of_several_sources_one_process_takes_all_archives_and_their_order_stays(taken, monkeypatch):
    monkeypatch.setattr(apart, "PACKED", 0)
    table = b"system,query,rubric,judge,label\na,q,r,j,1\n"
    sources = [("a.csv", table), ("b.zip", _zip(zipfile.ZIP_DEFLATED)), ("c.csv", table), ("d.tgz", _tar())]
    plan = plan_ingest(list(sources))
    assert taken == ["b.zip", "d.tgz"]
    assert [f.name for f in plan.files] == ["a.csv", "runs/labels.jsonl", "c.csv", "runs/labels.jsonl (2)"]


def test_a_small_log_of_much_json_is_read_elsewhere(tmp_path):
    path = tmp_path / "log.eval"
    path.write_bytes(_zip(zipfile.ZIP_DEFLATED, b" " * (apart.SMALL + 1)))

    class Log:
        pass

    log = Log()
    log.path = path
    assert path.stat().st_size < apart.SMALL < apart.archive.declared_size(path)
    assert apart.is_heavy([log])


def test_tables_and_small_files_are_read_here(ws, monkeypatch, table):
    monkeypatch.setattr("crubric_core.labels.readers.bundle.apart", None)
    ws.ingest(table("a q r j 1"), "d")
    ws.ingest(NESTED, "nested")
