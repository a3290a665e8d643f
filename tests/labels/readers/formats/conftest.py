"""Small files of every layout, made up here, and a workspace to read them into."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from crubric_core.labels import Workspace


@pytest.fixture
def ws():
    with Workspace() as workspace:
        yield workspace


@pytest.fixture
def read(ws):
    """Reads a file into a new dataset; gives the dataset and the report."""

    def ingest(content, name="file.jsonl", **options):
        report = ws.ingest(content, "d", name=name, **options)
        return ws.dataset("d"), report

    return ingest


def lines(*records) -> bytes:
    """JSON Lines."""
    return "\n".join(json.dumps(r, ensure_ascii=False) for r in records).encode()


def document(value) -> bytes:
    """One JSON document, indented as people's tools write it."""
    return json.dumps(value, indent=2).encode()


def labels_of(dataset, table: str = "labels") -> set[tuple[object, ...]]:
    """{(system, query, rubric, judge or annotator, label)}, None where the label is unknown."""
    frame = getattr(dataset, table)()
    who = "judge" if table == "labels" else "annotator"
    cells = frame[["system", "query", "rubric", who, "label"]].astype(object)
    return {tuple(None if pd.isna(v) else v for v in row) for row in cells.itertuples(index=False)}
