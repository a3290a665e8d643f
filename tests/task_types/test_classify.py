"""Types are kept for the dataset whose queries were classified, whatever it is called by then."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from crubric_core.endpoints.watch import UNWATCHED, Watch
from crubric_core.errors import DatasetError
from crubric_core.labels.store.workspace import Workspace
from crubric_core.task_types.classify import classify
from crubric_core.types import FloatArray


@dataclass
class Meanwhile:
    """A classifier of one opinion, while something else happens."""

    happens: Callable[[], object]
    name: str = "mine"

    def probabilities(self, texts: Sequence[str | None], watch: Watch = UNWATCHED) -> FloatArray:
        self.happens()
        return np.tile([0.7, 0.1, 0.1, 0.1], (len(texts), 1))


@pytest.fixture
def workspace() -> Workspace:
    workspace = Workspace()
    workspace.ingest(b"system,query,rubric,judge,label\ns,q,r,j,1\nt,q,r,j,0\n", "old", "labels")
    return workspace


def test_a_dataset_that_is_renamed_meanwhile_gets_its_types(workspace: Workspace) -> None:
    dataset = workspace.dataset("old")
    typer = Meanwhile(lambda: workspace.rename("old", "new"))
    assert classify(workspace, dataset.id, dataset.queries, typer).saved == 1
    assert workspace.dataset("new").queries["type_source"].tolist() == ["mine"]


def test_types_of_a_dataset_that_is_deleted_meanwhile_are_given_to_no_other(workspace: Workspace) -> None:
    dataset = workspace.dataset("old")

    def replaced() -> None:
        workspace.duplicate("old", "copy")
        workspace.delete("old")
        workspace.rename("copy", "old")

    with pytest.raises(DatasetError, match="was deleted"):
        classify(workspace, dataset.id, dataset.queries, Meanwhile(replaced))
    assert workspace.dataset("old").queries["type_source"].isna().all()
