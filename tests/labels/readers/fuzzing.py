"""Damaged files, one after another, in a process that may be killed:

    python -m tests.labels.readers.fuzzing FIRST LAST

Writes the number of each case before it begins, so that whoever waits knows which one crashed or hung. A case may take
ten seconds of processor time; then the system ends the process (SIGPROF).
"""

from __future__ import annotations

import io
import json
import os
import random
import signal
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from crubric_core.errors import CrubricError
from crubric_core.labels import Workspace
from crubric_core.labels.readers.bundle import plan_ingest

WHOLE = 20  # one case in so many is ingested and taken back; the others go as far as the plan
ALLOWED = 10  # seconds of processor time a case
REAL = Path(os.environ.get("CRUBRIC_REAL_DATA", Path(__file__).resolve().parents[4] / "shared" / "data"))
KINDS = ("labels", "rubrics", "queries", "gold", "reference", "anchors")
SCRAPS = [
    *(
        b'"',
        b"'",
        b",",
        b";",
        b"\t",
        b"|",
        b"\n",
        b"\r",
        b"\r\n",
        b"\n\n",
        b"\0",
        b"\xff\xfe",
        b"\xef\xbb\xbf",
        b"{",
    ),
    *(
        b"}",
        b"[",
        b"]",
        b":",
        b"NaN",
        b"-1",
        b"1e400",
        b"99999999999999999999",
        b"4.5",
        b"null",
        b"true",
        b"\\u0000",
    ),
    b'=HYPERLINK("http://x","y")',
    b"+cmd|' /C calc'!A0",
    b"<script>alert(1)</script>",
    b"'; DROP TABLE labels; --",
    b"../../etc/passwd",
    "é, naïve, 中文, \u202e, \U0001f600".encode(),
    "é, naïve".encode("latin-1"),
    "label".encode("utf-16"),
    b"x" * 70_000,
    b"[" * 3000,
]


def table() -> pd.DataFrame:
    rows = [(f"m, {i % 4}", f"q{i % 3}", f"r\n{i % 6}", f"j{i % 2}", i % 5) for i in range(24)]
    return pd.DataFrame(rows, columns=["system", "query", "rubric", "judge", "label"]).drop_duplicates(
        ["system", "query", "rubric", "judge"]
    )


def zipped(files: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return made.getvalue()


def graded(i: int) -> dict:
    items = [
        {"criterion": f"c{k}", "points": k - 1, "tags": [], "criteria_met": bool((i + k) % 2)}
        for k in range(3)
    ]
    return {"prompt_id": f"p{i}", "completion_id": "m", "rubric_items": items}


def seeds() -> dict[str, bytes]:
    """Whole files of many formats, and the beginnings of real ones where there are any."""
    frame = table()
    records = frame.to_dict("records")
    parquet = io.BytesIO()
    frame.to_parquet(parquet)
    csv = frame.to_csv(index=False).encode()
    wide = frame.pivot_table(
        index=["system", "query", "rubric"], columns="judge", values="label"
    ).reset_index()
    found = {
        "labels.csv": csv,
        "labels.tsv": frame.to_csv(index=False, sep="\t").encode(),
        "semicolons.csv": frame.to_csv(index=False, sep=";").encode(),
        "wide.csv": wide.to_csv(index=False).encode(),
        "labels.json": json.dumps(records).encode(),
        "labels.jsonl": "\n".join(map(json.dumps, records)).encode(),
        "labels.parquet": parquet.getvalue(),
        "m__j.jsonl": "\n".join(json.dumps(graded(i)) for i in range(6)).encode(),
        "rubrics.csv": b"query,rubric,text,scale_min,scale_max,weight\nq,r,=1+1,0,4,2\nq,s,<b>x</b>,,,-1\n",
        "queries.csv": b"query,text,task_type,p_decision_support,omega\nq,why?,creative,0.5,2\n",
        "study.zip": zipped({"a/labels.csv": csv, "b/labels.csv": csv, "notes.txt": b"none"}),
        "climbing.zip": zipped({"../../escaped.csv": csv, "/absolute.csv": csv, "a\\..\\b.csv": csv}),
    }
    for path in sorted(REAL.glob("*/native/*")) if REAL.is_dir() else ():
        found[path.name] = path.read_bytes()[:12_000]
    return found


Mutation = Callable[[bytearray, random.Random], None]


def flip(content: bytearray, rng: random.Random) -> None:
    for _ in range(rng.randint(1, 12)):
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)


def cut(content: bytearray, rng: random.Random) -> None:
    del content[rng.randrange(len(content)) :]


def drop(content: bytearray, rng: random.Random) -> None:
    at = rng.randrange(len(content))
    del content[at : at + rng.randint(1, 200)]


def insert(content: bytearray, rng: random.Random) -> None:
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(content) + 1)
        content[at:at] = rng.choice(SCRAPS)


def repeat(content: bytearray, rng: random.Random) -> None:
    at = rng.randrange(len(content))
    piece = content[at : at + rng.randint(1, 300)]
    content[at:at] = piece * rng.randint(1, 5)


def swap(content: bytearray, rng: random.Random) -> None:
    old, new = rng.sample([b",", b";", b"\t", b"|", b"\n", b"\r", b'"', b":"], 2)
    content[:] = content.replace(old, new, rng.choice([-1, 1, 5]))


def recode(content: bytearray, rng: random.Random) -> None:
    text = content.decode("latin-1")
    content[:] = text.encode(rng.choice(["utf-16", "utf-16-be", "utf-8-sig", "utf-32", "cp1252"]), "ignore")


MUTATIONS: tuple[Mutation, ...] = (flip, cut, drop, insert, repeat, swap, recode)


def case(number: int, files: dict[str, bytes]) -> tuple[str, bytes, str]:
    """(name, content, kind) of one damaged file; the same for the same number and files."""
    rng = random.Random(number)
    name = rng.choice(sorted(files))
    content = bytearray(files[name])
    for _ in range(rng.choice([1, 1, 2, 3])):
        if content:
            rng.choice(MUTATIONS)(content, rng)
    if rng.random() < 0.1:
        name = rng.choice(sorted(files))  # what it is called and what it is need not agree
    return name, bytes(content), rng.choice(KINDS) if rng.random() < 0.2 else "labels"


def try_one(ws: Workspace, name: str, content: bytes, kind: str, *, whole: bool) -> None:
    """Read it, wholly or as far as the plan; a refusal is one sentence, and nothing is left behind."""
    refusal = ""
    try:
        if whole:
            report = ws.ingest(content, "d", kind, name=name)
            assert len(report.rejects) == report.rejected
            ws.dataset("d").counts()
            ws.undo("d")
        else:
            plan_ingest([(name, content)])
    except CrubricError as error:
        refusal = str(error)
    assert "\n" not in refusal, refusal
    assert "could not be stored" not in refusal, refusal
    with ws.reading() as cursor:
        for place in (
            "datasets",
            "labels",
            "systems",
            "rubrics",
            "queries",
            "ingests",
            "rejects",
            "superseded",
        ):
            assert cursor.execute(f"SELECT count(*) FROM {place}").fetchone() == (0,), place


def main(first: int, last: int) -> None:
    files = seeds()
    with Workspace() as ws:
        for number in range(first, last):
            print(number, flush=True)
            signal.setitimer(signal.ITIMER_PROF, ALLOWED)
            try_one(ws, *case(number, files), whole=number % WHOLE == 0)
            signal.setitimer(signal.ITIMER_PROF, 0)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
