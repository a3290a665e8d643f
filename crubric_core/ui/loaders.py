"""Each stage of the analysis, computed once for what it reads: tau_c never refits, B never orders again.

A key is the dataset's fingerprint and the settings that the stage and those before it read. Results are shared
by all sessions and never changed: `cache_resource` hands out the object itself, `cache_data` would copy it.
(An argument with a leading underscore is no part of a key.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from ..analysis import pipeline
from ..analysis.result import Calibration, Ranking
from ..bank.certificate import certify_curve
from ..bank.utility import coverage_utility
from ..environment import APP, workspace_path
from ..irt.information import item_information, response_curve
from ..irt.uncertainty import ability_standard_errors
from ..judges.gate_price import GateVerdict, judge_gate
from ..judges.measurability import Gate, decide_gate
from ..labels.store.workspace import Workspace
from ..scoring_rules import ScoringRules
from ..task_types.assignment import with_assigned

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from ..bank.assembly import BankOrder
    from ..labels.ingest.report import Scale
    from ..labels.store.dataset import Dataset, Reduction
    from ..settings import Response, Settings, Strategy
    from ..types import BoolArray, FloatArray, IntArray

PAGES = APP / "pages"
FINE = np.linspace(-4, 4, 161)  # nodes at which curves look smooth
FEW, MANY = 6, 40  # results kept of a heavy stage, and of a light one that a slider asks for

# What a stage and those before it do NOT read; a setting named nowhere belongs to every key.
_BANK = frozenset({"budget", "strategy"})
_GATE = frozenset({"tau_c", "gate", "agreement", "prior", "alpha", "beta"})
_RANK = frozenset(
    {"tau_t", "clip", "basis", "population", "cross_fitted", "simultaneous"}
    | {"bootstrap", "replicates", "tier_rule", "holm"}
)
_FIT = frozenset({"quadrature", "priors"})
UNREAD: Mapping[str, frozenset[str]] = {
    "labels": _BANK | _GATE | _RANK | _FIT | {"rules", "confidence", "seed"},
    "gate": _BANK | _RANK | _FIT | {"rules", "seed"},
    "fit": _BANK | _GATE | _RANK | {"rules", "confidence", "seed"},
    "order": _BANK | _RANK | {"rules", "confidence"},
    "rank": _BANK | _GATE,
}

Key = tuple[object, ...]


@dataclass(frozen=True)
class Study:
    """What a page looks at: one dataset under one choice of settings."""

    dataset: Dataset
    fingerprint: str
    settings: Settings

    def key(self, stage: str) -> Key:
        """The key under which a stage's result is kept."""
        read = (name for name in self.settings.names() if name not in UNREAD[stage])
        return (self.fingerprint, *(getattr(self.settings, name) for name in read))


@st.cache_resource(show_spinner="Opening the workspace …")
def workspace() -> Workspace:
    """The one workspace of this process; CRUBRIC_WORKSPACE names its file."""
    path = workspace_path().absolute()
    path.parent.mkdir(parents=True, exist_ok=True)
    return Workspace(path)


def reduction(study: Study) -> Reduction:
    """Agreement counts and consensus labels; the rubrics have the severity and dimension that the rules give."""
    return _reduction((*study.key("labels"), study.settings.rules), study)


@st.cache_resource(max_entries=MANY, show_spinner=False)
def _reduction(key: Key, _study: Study) -> Reduction:
    return with_assigned(given(_study), _study.settings.rules or ScoringRules())


def given(study: Study) -> Reduction:
    """The same with severity and dimension as the file gives them: rules never reduce the labels again."""
    return _given(study.key("labels"), study)


@st.cache_resource(max_entries=FEW, show_spinner="Reducing the labels …")
def _given(key: Key, _study: Study) -> Reduction:
    return pipeline.reduce_labels(_study.dataset, replace(_study.settings, rules=ScoringRules()))


def gate(study: Study) -> pd.DataFrame:
    """Measurability of each rubric at tau_c."""
    return _gate(study.key("gate"), study)


@st.cache_resource(max_entries=MANY, show_spinner=False)
def _gate(key: Key, _study: Study) -> pd.DataFrame:
    return pipeline.gate(reduction(_study), _study.settings)


def gating(study: Study) -> Gate:
    """The gate's statistic and threshold."""
    return _gating(study.key("gate"), study)


@st.cache_resource(max_entries=MANY, show_spinner=False)
def _gating(key: Key, _study: Study) -> Gate:
    return decide_gate(reduction(_study), _study.settings)


def calibration(study: Study) -> Calibration:
    """The fitted model; independent of tau_c, B and the seed."""
    return _calibration(study.key("fit"), study)


@st.cache_resource(max_entries=FEW, show_spinner="Fitting the response model …")
def _calibration(key: Key, _study: Study) -> Calibration:
    return pipeline.calibrate(reduction(_study), _study.settings)


def verdict(study: Study) -> GateVerdict:
    """Whether the gate leaves enough for a claim."""
    return judge_gate(gating(study), calibration(study).nu, study.settings.budget)


def curves(study: Study) -> tuple[FloatArray, FloatArray]:
    """Response probability and information of every rubric at the nodes FINE, (161, J) each."""
    return _curves(study.key("fit"), study)


@st.cache_resource(max_entries=FEW, show_spinner=False)
def _curves(key: Key, _study: Study) -> tuple[FloatArray, FloatArray]:
    fit = calibration(_study).fit
    responses = np.stack([response_curve(fit, j, FINE) for j in range(len(fit.a))], axis=1)
    return responses, item_information(fit, FINE)


def standard_errors(study: Study) -> FloatArray:
    """(M,) of the abilities on all rubrics, items integrated out."""
    return _standard_errors(study.key("fit"), study)


@st.cache_resource(max_entries=MANY, show_spinner="Integrating the rubrics out …")
def _standard_errors(key: Key, _study: Study) -> FloatArray:
    return ability_standard_errors(calibration(_study).fit, reduction(_study).y)


def order(study: Study, strategy: Strategy | None = None) -> BankOrder:
    """The whole order in which rubrics enter the bank, by the settings' strategy or another: any B is a prefix."""
    strategy = strategy or study.settings.strategy
    return _order((*study.key("order"), strategy), study, strategy)


@st.cache_resource(max_entries=MANY, show_spinner="Ordering the rubrics …")
def _order(key: Key, _study: Study, _strategy: Strategy) -> BankOrder:
    feasible = gate(_study)["feasible"].to_numpy()
    return pipeline.order_candidates(
        reduction(_study), calibration(_study), feasible, _study.settings, _strategy
    )


def coverage(study: Study, strategy: Strategy | None = None) -> FloatArray:
    """Utility of the first 1 … B rubrics as a share of that of all candidates together, (B,)."""
    fitted = calibration(study)
    everything = fitted.info[:, gate(study)["feasible"].to_numpy()].sum(axis=1)
    covered = np.cumsum(fitted.info.T[order(study, strategy).order], axis=0)
    share: FloatArray = coverage_utility(covered, fitted.grid.weights) / coverage_utility(
        everything, fitted.grid.weights
    )
    return share


def ranking(study: Study, rubrics: IntArray) -> Ranking:
    """Where the systems stand on these rubrics (indices)."""
    return _ranking((*study.key("rank"), rubrics.tobytes()), study, rubrics)


@st.cache_resource(max_entries=MANY, show_spinner="Ranking the systems …")
def _ranking(key: Key, _study: Study, _rubrics: IntArray) -> Ranking:
    return pipeline.rank_systems(
        facts(_study).queries, reduction(_study), calibration(_study), _rubrics, _study.settings
    )


def bank(study: Study) -> IntArray:
    """The rubrics of the bank, in the order of their choice."""
    chosen: IntArray = order(study).order[: study.settings.budget]
    return chosen


def pool(study: Study) -> IntArray:
    """All rubrics that pass the gate and tell systems apart."""
    feasible: BoolArray = gate(study)["feasible"].to_numpy()
    return np.flatnonzero(feasible & ~calibration(study).fit.constant)


def totals(study: Study) -> dict[str, FloatArray]:
    """Test information of the bank and of all that pass, at the nodes FINE, (161,) each, by name and size."""
    information, chosen, passing = curves(study)[1], bank(study), pool(study)
    return {
        f"bank ({len(chosen):,})": information[:, chosen].sum(axis=1),
        f"all that pass ({len(passing):,})": information[:, passing].sum(axis=1),
    }


def within(study: Study, rubrics: IntArray, queries: pd.Series[bool]) -> IntArray:
    """Those of the rubrics (indices) whose query is wanted."""
    positions = pipeline.query_positions(facts(study).queries, reduction(study))
    return rubrics[queries.to_numpy()[positions[rubrics]]]


def guarantee(study: Study) -> FloatArray:
    """Proven share of the best possible bank at every size 1 … B, (B,)."""
    return _guarantee((*study.key("order"), study.settings.strategy), study)


@st.cache_resource(max_entries=MANY, show_spinner=False)
def _guarantee(key: Key, _study: Study) -> FloatArray:
    fitted, chosen = calibration(_study), order(_study).order
    feasible = gate(_study)["feasible"].to_numpy()
    sizes = np.arange(1, len(chosen) + 1)
    utility = pipeline.bank_utility(fitted, _study.settings.strategy)
    return certify_curve(utility, chosen, sizes, feasible & ~fitted.fit.constant)


def datasets() -> pd.DataFrame:
    """All datasets of the workspace, counted once until ``datasets_changed``."""
    return _datasets(workspace().path)


@st.cache_data(max_entries=1, show_spinner=False)
def _datasets(path: str) -> pd.DataFrame:
    return workspace().datasets()


def datasets_changed() -> None:
    """After an ingest, a deletion, or a change of who typed a query, which the fingerprint does not tell."""
    _datasets.clear()
    _facts.clear()


@dataclass(frozen=True)
class Facts:
    """What is in a dataset before any analysis."""

    systems: tuple[str, ...]
    judges: tuple[str, ...]
    queries: pd.DataFrame
    scale: Scale | None
    counts: dict[str, int | float]


def facts(study: Study) -> Facts:
    """Names and numbers of the dataset."""
    return _facts((study.fingerprint,), study)


@st.cache_resource(max_entries=FEW, show_spinner=False)
def _facts(key: Key, _study: Study) -> Facts:
    data = _study.dataset
    return Facts(data.systems, data.judges, data.queries, data.scale, data.counts())


def panel(study: Study, response: Response | None = None) -> FloatArray:
    """Every judge's label, (M, J, K), NaN where unknown: on the scale that the model reads, or on another."""
    response = response or study.settings.response
    return _panel((study.fingerprint, response), study, response)


@st.cache_resource(max_entries=FEW, show_spinner="Reading the labels …")
def _panel(key: Key, _study: Study, _response: Response) -> FloatArray:
    return _study.dataset.panel(_response)


def judge_means(study: Study) -> FloatArray:
    """What each judge gives each system on average, (M, K); NaN where it labelled nothing."""
    labels = panel(study)
    known = np.isfinite(labels).sum(axis=1)
    return np.nansum(labels, axis=1) / np.where(known > 0, known, np.nan)
