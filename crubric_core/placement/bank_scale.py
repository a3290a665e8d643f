"""An existing bank as a scale on which new systems are placed, and how to make it from an analysis."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..analysis.composition import ids_of
from ..analysis.reference import reference_systems
from ..bank.identity import bank_id
from ..bank.item_spread import Spread
from ..irt.fit import IrtFit
from ..labels.repeated_systems import distinct_systems
from ..leaderboard.bootstrap import draw_weights
from ..leaderboard.reference import Reference
from ..settings import Settings
from ..types import FloatArray, IntArray
from .panel import PanelRecord, expected_agreement, panel_record

if TYPE_CHECKING:
    from ..analysis.result import Calibration, Result
    from ..labels.store.reduction import Reduction

RUBRICS = (
    *("id", "order", "query", "rubric", "text", "scale_min", "scale_max", "pass_mark", "polarity"),
    *("points", "dimension"),
)


@dataclass(frozen=True)
class BankSource:
    """The source of a bank: name and fingerprint of the dataset, the settings, the judges, all its queries.

    queries: one row a query, with the columns query, text and domain.
    """

    name: str
    fingerprint: str
    settings: Settings
    judges: tuple[str, ...]
    queries: pd.DataFrame


@dataclass(frozen=True)
class BankScale:
    """A bank of B rubrics with their parameters, and the M systems with which it was calibrated.

    rubrics: one row each with the columns RUBRICS, sorted by query and name; ``order`` is the order of their choice,
    from 1. queries: query, text, domain of the bank's queries. fit: the model with the parameters of these rubrics. y:
    (M, B) levels. spread: uncertainty of the parameters. reference: the systems on the whole pool, with which new ones
    are compared; None for the paper's in-sample bank, for which abilities on the bank are compared. panel: how the
    judges of the calibration labelled these rubrics; None if unknown. transfer: variance of a placement beyond
    sampling, from systems held out (``leaderboard.transfer``); NaN if unknown. person_fit: (M,) lz* of each system at
    parameters fitted without it; None if unknown. history: changes to the bank since it was built, oldest first.
    """

    name: str
    fingerprint: str
    settings: Settings
    judges: tuple[str, ...]
    systems: tuple[str, ...]
    queries: pd.DataFrame
    rubrics: pd.DataFrame
    fit: IrtFit
    y: FloatArray
    spread: Spread
    reference: Reference | None = None
    panel: PanelRecord | None = None
    transfer: float = np.nan
    person_fit: FloatArray | None = None
    history: tuple[dict[str, Any], ...] = ()

    @cached_property
    def n_distinct(self) -> int:
        """Number of systems, counting systems whose labels on the bank repeat each other's once."""
        return len(np.unique(distinct_systems(self.y)))

    @cached_property
    def bank_id(self) -> str:
        """Id of the bank: a hash of its rubrics' ids, scales and polarities."""
        frame = self.rubrics[["id", "scale_min", "scale_max", "polarity"]]
        return bank_id(
            (str(r.id), int(str(r.scale_min)), int(str(r.scale_max)), int(str(r.polarity)))
            for r in frame.itertuples()
        )

    @property
    def bank(self) -> IntArray:
        """(B,) positions of the bank's rubrics: all rows."""
        return np.arange(len(self.rubrics))

    @cached_property
    def query_units(self) -> tuple[IntArray, int]:
        """(B,) unit of each rubric, and their number: the queries of the reference, then the bank's others."""
        reference = () if self.reference is None else self.reference.queries
        queries = self.rubrics["query"].map(str)
        names = (*reference, *sorted(set(queries) - set(reference)))
        return pd.Index(names).get_indexer(pd.Index(queries)).astype(np.int64), len(names)

    @cached_property
    def weights(self) -> FloatArray:
        """(R, B) bootstrap weights of the bank's rubrics, drawn as for the leaderboard, from the same seed."""
        query = np.unique(self.rubrics["query"].to_numpy(dtype=str), return_inverse=True)[1]
        rng = np.random.default_rng([self.settings.seed, 2])
        return np.asarray(
            draw_weights(query, self.settings.replicates, rng, self.settings.bootstrap), dtype=float
        )


def bank_scale_of(
    result: Result,
    panel: FloatArray | None = None,
    transfer: float = np.nan,
    person_fit: FloatArray | None = None,
) -> BankScale:
    """The bank of an analysis as a scale. panel: (M, J, K) labels as the model reads them.

    transfer, person_fit: those of the ``Analysis``.
    """
    return make_bank_scale(
        BankSource(result.dataset, result.fingerprint, result.settings, result.judges, result.queries),
        result.reduction,
        result.calibration,
        result.chosen,
        reference_systems(result),
        panel,
        transfer,
        person_fit,
    )


def make_bank_scale(
    source: BankSource,
    reduction: Reduction,
    calibration: Calibration,
    bank: IntArray,
    reference: Reference | None,
    panel: FloatArray | None = None,
    transfer: float = np.nan,
    person_fit: FloatArray | None = None,
) -> BankScale:
    """The scale of the rubrics ``bank`` (B,), indices in the order of their choice, with the systems' labels on them.

    panel: (M, J, K) labels of the judges, from which later drift is detected. transfer, person_fit: as in
    ``BankScale``.
    """
    rows, fit, spread = np.sort(bank), calibration.fit, calibration.spread
    rubrics = _rubrics(reduction.rubrics, rows, bank)
    asked = source.queries[source.queries["query"].isin(set(rubrics["query"]))]
    return BankScale(
        name=source.name,
        fingerprint=source.fingerprint,
        settings=source.settings,
        judges=source.judges,
        systems=reduction.systems,
        queries=asked[["query", "text", "domain"]].reset_index(drop=True),
        rubrics=rubrics,
        fit=fixed_fit(
            source.settings,
            fit.a[rows],
            fit.b[rows],
            fit.c[rows],
            None if fit.thresholds is None else fit.thresholds[rows],
            fit.levels[rows],
        ),
        y=reduction.y[:, rows],
        spread=Spread(spread.log_a[rows], spread.b[rows], spread.correlation[rows]),
        reference=reference,
        panel=None
        if panel is None
        else replace(
            panel_record(source.judges, panel[:, rows], reduction.levels[rows]),
            expected=expected_agreement(panel)[rows],
        ),
        transfer=transfer,
        person_fit=person_fit,
    )


def _rubrics(every: pd.DataFrame, rows: IntArray, bank: IntArray) -> pd.DataFrame:
    """The table of the bank's rubrics; their ids are those among all rubrics of the study."""
    place = np.zeros(len(every), dtype=np.int64)
    place[bank] = np.arange(1, len(bank) + 1)
    table = every.assign(id=ids_of(every), order=place, points=every["weight"]).iloc[rows]
    return table[list(RUBRICS)].reset_index(drop=True)


def fixed_fit(
    settings: Settings,
    a: FloatArray,
    b: FloatArray,
    c: FloatArray,
    thresholds: FloatArray | None,
    levels: IntArray,
) -> IrtFit:
    """An IrtFit with these parameters; its fields that depend on fitted labels are empty or NaN.

    a, b, c, levels: (J,). thresholds: (J, L - 1) of the graded model, else None.
    """
    unknown = np.full(0, np.nan)
    return IrtFit(
        model=settings.model,
        quadrature=settings.quadrature,
        priors=settings.priors,
        a=a,
        b=b,
        c=c,
        thresholds=thresholds,
        theta=unknown,
        theta_sd=unknown,
        loglik=float("nan"),
        logpost=float("nan"),
        converged=True,
        evaluations=0,
        constant=np.isnan(a),
        n_parameters=0,
        levels=levels,
    )
