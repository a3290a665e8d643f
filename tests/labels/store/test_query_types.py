"""Who typed a query is kept beside its type, and a person's word stands against every typer's."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from crubric_core.errors import DatasetError
from crubric_core.labels.store.query_types import save_edited, save_types
from crubric_core.task_types.types import CREATIVE, DECISION, HIGH_RISK, TASK_TYPES


@pytest.fixture
def ds(ws, table):
    ws.ingest(table("a q1 r1 j 1", "b q2 r2 j 0", "a q3 r3 j 0"), "d")
    ws.ingest(b"query,text,task_type\nq1,Who?,creative\n", "d", "queries")
    return ws.dataset("d")


def typed(**rows):
    frame = pd.DataFrame.from_dict(rows, orient="index", columns=[f"p_{name}" for name in TASK_TYPES])
    return frame.rename_axis("query").reset_index()


def found(ds):
    queries = ds.queries.set_index("query")
    known = queries[["task_type", "type_source"]].astype(object).where(lambda f: f.notna(), None)
    return {query: tuple(row) for query, row in zip(known.index, known.to_numpy(), strict=True)}


def test_types_from_the_file_have_no_other_source(ds):
    assert found(ds) == {"q1": ("creative", None), "q2": (None, None), "q3": (None, None)}


def test_a_typers_probabilities_are_kept_with_its_name_and_text_stays(ws, ds):
    before = ds.fingerprint
    n = save_types(ws, "d", typed(q1=[0.1, 0.6, 0.2, 0.1], q2=[0, 0, 1, 0], q3=[np.nan] * 4), "offline")
    assert n == 2
    assert found(ds) == {"q1": (DECISION, "offline"), "q2": (HIGH_RISK, "offline"), "q3": (None, None)}
    row = ds.queries.set_index("query").loc["q1"]
    assert row[[f"p_{name}" for name in TASK_TYPES]].tolist() == [0.1, 0.6, 0.2, 0.1]
    assert row["text"] == "Who?"
    assert ds.fingerprint != before, "results that were computed before are stale"


def test_what_a_person_says_is_certain_and_no_typer_changes_it(ws, ds):
    save_types(ws, "d", typed(q1=[0.4, 0.3, 0.2, 0.1]), "offline")
    save_edited(ws, "d", {"q1": CREATIVE})
    assert save_types(ws, "d", typed(q1=[1, 0, 0, 0], q2=[1, 0, 0, 0]), "prompted:m") == 1
    assert found(ds)["q1"] == (CREATIVE, "edited")
    assert ds.queries.set_index("query").loc["q1", "p_creative_divergent"] == 1
    save_edited(ws, "d", {"q1": DECISION})
    assert found(ds)["q1"] == (DECISION, "edited")


def test_nothing_to_save_changes_nothing(ws, ds):
    before = ds.fingerprint
    assert save_types(ws, "d", typed(q1=[np.nan] * 4), "offline") == 0
    save_edited(ws, "d", {})
    assert ds.fingerprint == before


def test_a_dataset_that_is_not_there_is_named(ws):
    with pytest.raises(DatasetError, match="no dataset"):
        save_edited(ws, "d", {"q1": CREATIVE})


def test_a_type_that_is_none_and_a_query_that_is_not_there_are_named(ws, ds):
    with pytest.raises(DatasetError, match="'sport' is not a task type"):
        save_edited(ws, "d", {"q1": "sport"})
    with pytest.raises(DatasetError, match="no query 'q9'"):
        save_edited(ws, "d", {"q9": CREATIVE})
