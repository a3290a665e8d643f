"""A data frame is read as a file with the same columns is."""

from __future__ import annotations

from itertools import product
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from crubric_core import Workspace
from crubric_core.errors import IngestError
from crubric_core.labels.readers.bundle import plan_ingest

LABELS = pd.DataFrame(
    [
        {
            "system": s,
            "query": q,
            "rubric": f"{q}-{r}",
            "judge": j,
            "label": int((s, q, r, j) < ("b", "q1", 2)),
        }
        for s, q, r, j in product("abc", ("q1", "q2"), (1, 2), ("x", "y"))
    ]
)


def read(source: Any, **more: Any) -> tuple[str, pd.DataFrame]:
    """Fingerprint and labels of a dataset of this source alone."""
    with Workspace() as workspace:
        workspace.ingest(source, "mine", **more)
        data = workspace.dataset("mine")
        return data.fingerprint, data.labels()


def csv(frame: pd.DataFrame) -> bytes:
    return frame.to_csv(index=False).encode()


class Capsule:
    """A frame of a library that is known by Arrow's interface alone."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self._table = pa.Table.from_pandas(frame, preserve_index=False)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._table.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize(
    "given",
    [
        LABELS,
        LABELS.astype(dict.fromkeys(["system", "query", "rubric", "judge"], "category")),
        LABELS.astype({"label": bool}),
        LABELS.astype({"label": "Int64"}),
        LABELS.convert_dtypes(),
        LABELS.sample(frac=1, random_state=1),
        LABELS.set_index(["system", "query"]),
        pa.Table.from_pandas(LABELS),
        Capsule(LABELS),
        duckdb.from_df(LABELS),
    ],
    ids=[
        "plain",
        "categories",
        "bool",
        "Int64",
        "nullable",
        "shuffled",
        "index",
        "Arrow",
        "capsule",
        "relation",
    ],
)
def test_a_frame_is_read_as_its_csv_file(given: Any) -> None:
    assert read(given)[0] == read(csv(LABELS))[0]


def test_what_is_missing_in_a_frame_is_unknown() -> None:
    gaps = LABELS.assign(label=LABELS["label"].where(LABELS["judge"] == "x"))
    assert read(gaps)[0] == read(csv(gaps))[0]
    assert len(read(gaps)[1].dropna(subset="label")) == len(LABELS) / 2


def test_numbers_among_texts_are_read_as_in_a_csv_file() -> None:
    mixed = LABELS.assign(label=LABELS["label"].astype(object).where(LABELS["system"] != "c", "N/A"))
    later = pd.concat([LABELS.assign(query=[f"z{n}" for n in range(len(LABELS))])] * 50 + [mixed])
    assert read(mixed)[0] == read(csv(mixed))[0]
    later["label"] = later["label"].map(lambda label: label)
    assert read(later, on_conflict="last")[0] == read(csv(later), on_conflict="last")[0]


def test_an_index_of_names_is_a_column() -> None:
    wide = LABELS[LABELS["judge"] == "x"].pivot_table(index="system", columns="rubric", values="label")
    as_file = csv(wide.reset_index())
    assert plan_ingest(wide).files[0].mapping == plan_ingest(as_file).files[0].mapping
    assert read(wide)[0] == read(as_file)[0]
    wide.index.name = None
    with pytest.raises(IngestError, match="name the system, or the column that names it"):
        read(wide)
    assert read(wide, mapping={"system": "index"})[0] == read(as_file)[0]


def test_the_caller_keeps_the_frame_as_it_was() -> None:
    given = LABELS.assign(label=LABELS["label"].astype(object).where(LABELS["system"] != "c", "N/A"))
    before = given.copy(deep=True)
    read(given)
    pd.testing.assert_frame_equal(given, before)


def test_several_frames_are_read_together_by_their_names() -> None:
    rubrics = LABELS[["query", "rubric"]].drop_duplicates().assign(text="Names the year.")
    with Workspace() as workspace:
        sources = [("labels", LABELS), ("rubrics", rubrics)]
        workspace.ingest_plan(plan_ingest(sources), "mine", sources)
        assert set(workspace.dataset("mine").rubrics["text"]) == {"Names the year."}


@pytest.mark.parametrize(
    ("frame", "why"),
    [
        (pd.DataFrame([[1, 2]], columns=["label", "label"]), "two columns called 'label'"),
        (LABELS.set_index("system", drop=False), "index has the name of a column"),
        (pd.DataFrame(index=range(3)), "no columns"),
        (pd.DataFrame({"label": [1 + 2j]}), "make it text or numbers"),
        (LABELS.head(0), "no rows"),
    ],
    ids=["twice", "index", "no columns", "complex", "empty"],
)
def test_a_frame_that_is_no_table_is_refused_in_a_sentence(frame: pd.DataFrame, why: str) -> None:
    with Workspace() as workspace:
        with pytest.raises(IngestError, match=why):
            workspace.ingest(frame, "mine")
        assert workspace.datasets().empty


def test_messages_call_a_frame_by_its_name() -> None:
    with pytest.raises(IngestError, match="ratings"):
        read(pd.DataFrame({"a": [1.5]}), name="ratings")
    with pytest.raises(IngestError, match="data frame"):
        read(pd.DataFrame({"a": [1.5]}))


def test_an_array_is_no_data_frame() -> None:
    with pytest.raises(IngestError, match="A ndarray cannot be read as a file: give a path, bytes"):
        read(np.zeros((2, 2)))
