"""Task types that a classifier or a person gives to the queries of a dataset, kept with who gave them."""

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
    """Rows of ``Dataset.queries`` that a classifier may change: not a person's, ``given_too`` those of the file."""
    by_file = queries["type_source"].isna() & queries[["task_type", *_SHARES]].notna().any(axis=1)
    closed = queries["type_source"].eq(EDITED) | (by_file & (not given_too))
    return queries[~closed]


def require_open(workspace: Workspace, dataset: str) -> None:
    """IngestError where the labels of the dataset lie elsewhere, so that its queries keep their types."""
    with workspace.reading() as cursor:
        require_own_labels(cursor, dataset)


def name_now(workspace: Workspace, dataset_id: int) -> str:
    """The name of a dataset, which may be another since it was read; DatasetError where it is deleted."""
    with workspace.reading() as cursor:
        found = cursor.execute("SELECT name FROM datasets WHERE dataset_id = ?", [dataset_id]).fetchone()
    if found is None:
        raise DatasetError("The dataset was deleted while its queries were classified: ingest it again.")
    return str(found[0])


def save_types(workspace: Workspace, dataset: str, typed: pd.DataFrame, source: str) -> int:
    """Keep the classifier's result: ``typed`` has query and p_<type> of each type, NaN where unanswered.

    Queries classified by a person stay as they are, and so do unanswered ones. ``source`` names the classifier.
    Returns how many queries were classified.
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
    """Keep what a person says, {query: task type}, as certain and as that person's: no classifier changes it again."""
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
