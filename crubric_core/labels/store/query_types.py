"""Store the task types that a classifier or a person assigns to the queries of a dataset, with their source."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ...errors import DatasetError
from ..ingest.report import IngestReport
from ..readers.columns.specs import TASK_TYPES
from .sourced import require_own_labels
from .workspace import Workspace

EDITED = "edited"
_SHARES = [f"p_{name}" for name in TASK_TYPES]


def open_queries(queries: pd.DataFrame, given_too: bool = False) -> pd.DataFrame:
    """Rows of ``Dataset.queries`` that a classifier may change: not types that a person edited.

    given_too: whether types from an ingested file may be changed as well.
    """
    by_file = queries["type_source"].isna() & queries[["task_type", *_SHARES]].notna().any(axis=1)
    closed = queries["type_source"].eq(EDITED) | (by_file & (not given_too))
    return queries[~closed]


def require_open(workspace: Workspace, dataset: str) -> None:
    """IngestError if the labels of the dataset are outside the workspace: its task types cannot be changed then."""
    with workspace.reading() as cursor:
        require_own_labels(cursor, dataset)


def name_now(workspace: Workspace, dataset_id: int) -> str:
    """The present name of a dataset, which may have been renamed; DatasetError if it was deleted."""
    with workspace.reading() as cursor:
        found = cursor.execute("SELECT name FROM datasets WHERE dataset_id = ?", [dataset_id]).fetchone()
    if found is None:
        raise DatasetError("The dataset was deleted while its queries were classified: ingest it again.")
    return str(found[0])


def save_types(workspace: Workspace, dataset: str, typed: pd.DataFrame, source: str) -> int:
    """Store a classifier's result; return how many queries were classified.

    typed: columns query and p_<type> for each type, NaN if unanswered. source: name of the classifier. Queries that a
    person classified and unanswered ones stay as they are.
    """
    queries = workspace.dataset(dataset).queries
    edited = set(queries.loc[queries["type_source"] == EDITED, "query"])
    known = typed[_SHARES].notna().all(axis=1) & ~typed["query"].isin(edited)
    kept = typed.loc[known, ["query", *_SHARES]]
    if not len(kept):
        return 0
    likeliest = np.array(TASK_TYPES, dtype=object)[kept[_SHARES].to_numpy().argmax(axis=1)]
    _store(workspace, dataset, kept.assign(task_type=likeliest, type_source=source), f"task types ({source})")
    return len(kept)


def save_edited(workspace: Workspace, dataset: str, types: dict[str, str]) -> None:
    """Store a person's {query: task type} with probability 1; no classifier changes these types later.

    Raises DatasetError if a type or a query is unknown.
    """
    invalid = set(types.values()) - set(TASK_TYPES)
    if invalid:
        raise DatasetError(f"{min(invalid)!r} is not a task type: use one of {', '.join(TASK_TYPES)}.")
    unknown = set(types) - set(workspace.dataset(dataset).queries["query"])
    if unknown:
        raise DatasetError(f"The dataset {dataset!r} has no query {min(unknown)!r}: choose one of its own.")
    if not types:
        return
    given = pd.Series(types, name="task_type").rename_axis("query").reset_index()
    certain = {f"p_{name}": (given["task_type"] == name).astype(float) for name in TASK_TYPES}
    _store(workspace, dataset, given.assign(**certain, type_source=EDITED), "task types (edited)")


def _store(workspace: Workspace, dataset: str, frame: pd.DataFrame, name: str) -> IngestReport:
    content = frame.to_csv(index=False).encode()
    return workspace.ingest(content, dataset, "queries", format="csv", on_conflict="last", name=name)
