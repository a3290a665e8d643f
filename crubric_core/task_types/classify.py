"""Classify the queries of a dataset and save their task types, for the command line and the page."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from ..endpoints.watch import UNWATCHED, Watch
from ..labels.store.query_types import name_now, save_types
from ..labels.store.workspace import Workspace
from .classifier import TaskTypeClassifier
from .domain import is_request
from .prompted import ClassifierRun, PromptedClassifier
from .types import SHARES


@dataclass(frozen=True)
class Classified:
    """Result of ``classify``. saved: number of queries with a new type. run: of the prompted classifier, else None."""

    saved: int
    run: ClassifierRun | None


def texts_of(queries: pd.DataFrame) -> list[str | None]:
    """The text of each query; None if it has no text."""
    return [text if isinstance(text, str) else None for text in queries["text"]]


def outside(queries: pd.DataFrame) -> int:
    """Number of queries whose text is not a request, to which the offline classifier does not apply."""
    return sum(text is not None and not is_request(text) for text in texts_of(queries))


def classify(
    workspace: Workspace,
    dataset_id: int,
    queries: pd.DataFrame,
    typer: TaskTypeClassifier,
    watch: Watch = UNWATCHED,
) -> Classified:
    """Classify these queries of a dataset with ``typer`` and save their types, even if it was renamed meanwhile.

    Raises DatasetError if the dataset was deleted meanwhile.
    """
    texts = texts_of(queries)
    run = typer.run(texts, watch) if isinstance(typer, PromptedClassifier) else None
    shares = typer.probabilities(texts, watch) if run is None else run.probabilities
    frame = pd.DataFrame(shares, columns=SHARES)
    typed = frame.assign(query=queries["query"].to_numpy())
    return Classified(save_types(workspace, name_now(workspace, dataset_id), typed, typer.name), run)
