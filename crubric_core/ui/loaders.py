"""The study that a page shows: its stages are computed once for all sessions, and cached by their inputs.

Results are shared and must not be changed: the store returns the object itself, as `cache_resource` does.
(An argument with a leading underscore is not part of a key.)
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import streamlit as st

from ..analysis.lasting import Lasting
from ..analysis.stage import Key, Stage, Store, stage
from ..analysis.stages import Analysis
from ..analysis.tables import item_table
from ..environment import APP, workspace_path
from ..intervals import known_mean
from ..irt.fit import constant_rubrics
from ..jobs.backups import Backups
from ..labels.store.workspace import Workspace
from .kept import Kept
from .text import plain

if TYPE_CHECKING:
    import pandas as pd
    from streamlit.delta_generator import DeltaGenerator

    from ..labels.ingest.findings import Finding
    from ..labels.ingest.report import Scale
    from ..labels.store.dataset import Dataset
    from ..settings import Response
    from ..types import FloatArray, Progress

T = TypeVar("T")
PAGES = APP / "pages"
FEW, MANY = 32, 160  # cached results of heavy stages, and of light ones, which a slider needs


@dataclass(frozen=True)
class Shared:
    """The store of stages of this process, shared by all sessions."""

    def once(self, stage: Stage, key: Key, make: Callable[[], Any]) -> Any:
        """See Store."""
        heavy, light = _kept()

        def made() -> Any:
            return _announced(stage, make)

        with ExitStack() as shown:
            return (heavy if stage.heavy else light).once(
                (stage.name, *key),
                lambda: lasting().once(stage, key, made) if stage.lasting else made(),
                _waiting(stage, shown),
            )


@st.cache_resource(show_spinner=False)
def _kept() -> tuple[Kept, Kept]:
    """The caches of heavy and light stages. Streamlit's own cache would show a stage's elements again at every hit."""
    return Kept(FEW), Kept(MANY)


def _announced(stage: Stage, make: Callable[[], Any]) -> Any:
    """Run ``make`` with a spinner that has the stage's title.

    At each message of progress, Stop or another move of a widget can end the computation.
    """
    if not stage.title:
        return make()
    with st.spinner(f"{stage.title} …"):
        before = _PLACE.set(st.empty())
        try:
            return make()
        finally:
            _PLACE.get().empty()
            _PLACE.reset(before)


def _waiting(stage: Stage, shown: ExitStack) -> Callable[[], object]:
    """A function that shows a spinner while another visitor's thread computes the stage, until ``shown`` is closed.

    At each call Stop can end the wait.
    """
    place: list[DeltaGenerator] = []

    def wait() -> None:
        if not place:
            shown.enter_context(st.spinner(f"{stage.title or 'Computing'} …"))
            place.append(st.empty())
        place[0].empty()

    return wait


_PLACE: ContextVar[DeltaGenerator] = ContextVar("place of the progress")


def _progress(share: float, what: str) -> None:
    """Show the progress of the present stage: share in [0, 1] and a text."""
    if (place := _PLACE.get(None)) is not None:
        place.progress(min(max(share, 0.0), 1.0), plain(what))


@dataclass(frozen=True, kw_only=True)
class Study(Analysis):
    """The analysis that a page shows: one dataset under one choice of settings."""

    dataset: Dataset
    store: Store = field(default_factory=Shared)
    progress: Progress | None = _progress

    def checked(self, found: T) -> T:
        """``found`` unchanged; reruns the page if the dataset was changed while ``found`` was computed."""
        if self.dataset.fingerprint != self.fingerprint:
            datasets_changed()
            st.rerun()
        return found


@st.cache_resource(show_spinner="Opening the workspace …")
def workspace() -> Workspace:
    """The only workspace of this process; CRUBRIC_WORKSPACE is the path of its file."""
    path = workspace_path().absolute()
    path.parent.mkdir(parents=True, exist_ok=True)
    return Workspace(path)


@st.cache_resource(show_spinner=False)
def lasting() -> Lasting:
    """The store of results on disk, in a folder beside the workspace; it outlasts this process."""
    path = Path(workspace().path)
    return Lasting(path.with_name(f"{path.name}.results"))


@st.cache_resource(show_spinner=False, on_release=Backups.close)
def backups() -> Backups:
    """Makes backups of the workspace at the request of other processes, which cannot open it themselves."""
    return Backups(workspace())


def totals(study: Study) -> dict[str, FloatArray]:
    """Name → test information at the calibration's nodes (N,): of the bank, and of all rubrics that pass and vary."""
    information, chosen, passing = study.curves()[1], study.bank(), np.flatnonzero(study.pool)
    return {
        f"bank ({len(chosen):,})": information[:, chosen].sum(axis=1),
        f"all that pass and vary ({len(passing):,})": information[:, passing].sum(axis=1),
    }


def datasets() -> pd.DataFrame:
    """All datasets of the workspace with their sizes, cached until ``datasets_changed``."""
    backups()
    return _datasets(workspace().path)


@st.cache_data(max_entries=1, show_spinner=False)
def _datasets(path: str) -> pd.DataFrame:
    found = workspace().datasets()
    lasting().keep_only(set(found["fingerprint"]))
    return found


def fingerprints() -> dict[str, str]:
    """Name → fingerprint of all datasets, cached until ``datasets_changed``."""
    return _fingerprints(workspace().path)


@st.cache_resource(max_entries=1, show_spinner=False)
def _fingerprints(path: str) -> dict[str, str]:
    return dict(_datasets(path).set_index("name")["fingerprint"])


def datasets_changed() -> None:
    """Clear the caches of datasets; call it after an ingest, a deletion or a change of task types.

    The fingerprint alone does not suffice: it does not depend on who classified a query.
    """
    _datasets.clear()
    _fingerprints.clear()
    _facts.clear()


@dataclass(frozen=True)
class Facts:
    """The content of a dataset before any analysis; the fields are as in ``Dataset``."""

    systems: tuple[str, ...]
    judges: tuple[str, ...]
    queries: pd.DataFrame
    scale: Scale | None
    counts: dict[str, int | float]


def facts(study: Study) -> Facts:
    """Names and sizes of the study's dataset, cached."""
    return _facts((study.fingerprint, study.dataset.name), study)


@st.cache_resource(max_entries=FEW, show_spinner=False)
def _facts(key: Key, _study: Study) -> Facts:
    data = _study.dataset
    return _study.checked(Facts(data.systems, data.judges, data.queries, data.scale, data.counts()))


def findings(name: str, fingerprint: str) -> tuple[Finding, ...]:
    """The findings of the data-quality checks of a dataset, cached."""
    return _findings(version(name, fingerprint), workspace().dataset(name))


def version(name: str, fingerprint: str) -> Key:
    """A key of a dataset and its ingests: the fingerprint does not depend on rejected and blank rows."""
    ingests = workspace().ingests(name)
    return (name, fingerprint, len(ingests), str(ingests["ingested_at"].max()))


@st.cache_resource(max_entries=FEW, show_spinner="Checking the dataset …")
def _findings(key: Key, _dataset: Dataset) -> tuple[Finding, ...]:
    return _dataset.checks()


def rubric_panel(study: Study, row: int, response: Response | None = None) -> FloatArray:
    """(M, K) labels of the rubric at this position, as in ``panel``; fetched if the workspace has only tallies.

    response: None for that of the settings.
    """
    if study.dataset.has_labels:
        return study.panel(response)[:, row, :]
    asked = response or study.settings.response
    return _rubric_panel(study, row, asked)


@stage(of_content=True)
def labels_and_answers(study: Study, rubric: str, query: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """(labels of a rubric with the judges' reasons, answers to its query)."""
    return study.dataset.labels(rubric=rubric), study.dataset.answers(query=query)


@stage(after=("_panel",), title="Asking for the labels of this rubric", of_content=True)
def _rubric_panel(study: Study, row: int, response: Response) -> FloatArray:
    name = str(study.reduction().rubrics["rubric"].iloc[row])
    return study.dataset.rubric_panel(name, response)


@dataclass(frozen=True)
class Shares:
    """Summary of the labels for the overview.

    means: (M, K) mean label by system and judge, NaN without labels. missing: (M, K) share of rubrics without a label.
    Both are empty if the labels cannot be read. constant: share of the rubrics that have the same consensus label for
    all of their two systems or more.
    """

    means: FloatArray
    missing: FloatArray
    constant: float


@stage(after=("_panel", "given"), title="Reading the labels", heavy=True)
def shares(study: Study) -> Shares:
    """The summary, computed once from all labels."""
    y = study.given().y
    constant = float((constant_rubrics(y) & (np.isfinite(y).sum(axis=0) > 1)).mean())
    if not study.dataset.has_labels:
        return Shares(np.empty((0, 0)), np.empty((0, 0)), constant)
    labels = study.panel()
    missing = 1 - np.isfinite(labels).sum(axis=1) / labels.shape[1]
    return Shares(known_mean(labels, axis=1), missing, constant)


def items_table(study: Study) -> pd.DataFrame:
    """One row a rubric: ``item_table`` with the present bank; only the column in_bank is recomputed after a move."""
    table = _items_table(study)
    in_bank = np.zeros(len(table), dtype=bool)
    in_bank[study.bank()] = True
    return table.assign(in_bank=in_bank)


@stage(after=("calibration", "reduction"), heavy=True)
def _items_table(study: Study) -> pd.DataFrame:
    return item_table(study.reduction(), study.calibration(), np.zeros(0, dtype=np.int64))
