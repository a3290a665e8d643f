"""An existing bank as a scale to place new systems on: what it takes of an analysis, in memory or from its files."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..analysis.export import UNKNOWN_LEVEL
from ..analysis.reference import reference_systems
from ..analysis.result import Result
from ..bank.item_spread import Spread
from ..errors import PlacementError
from ..files import read_csv
from ..irt.fit import IrtFit
from ..labels.store.dataset import Reduction
from ..leaderboard.bootstrap import draw_weights
from ..leaderboard.reference import Reference
from ..settings import Settings
from ..types import BoolArray, FloatArray, IntArray

SPREAD = ("log_a_sd", "b_sd", "log_a_b_correlation")
READ = (
    *("model", "quadrature", "consensus", "tie", "agreement_tolerance", "tau_c", "budget"),
    *("bootstrap", "replicates", "confidence", "tier_rule", "holm", "seed"),
)


@dataclass(frozen=True)
class BankScale:
    """J rubrics with their parameters, B of them in the bank, and what M systems got there.

    rubrics: rubric, query, scale_min, scale_max, one row a rubric. feasible: (J,) passes the gate.
    bank: (B,) rows of the bank's rubrics in the order of their choice. y: (M, J) levels, NaN outside the bank.
    spread: of the rubrics' parameters. reference: the systems on the whole pool, with which new ones are compared;
        None for the paper's in-sample bank, whose own abilities are compared.
    """

    name: str
    settings: Settings
    judges: tuple[str, ...]
    systems: tuple[str, ...]
    rubrics: pd.DataFrame
    fit: IrtFit
    feasible: BoolArray
    bank: IntArray
    y: FloatArray
    spread: Spread
    reference: Reference | None = None

    @cached_property
    def weights(self) -> FloatArray:
        """(R, J) the leaderboard's own bootstrap draws of the bank's rubrics, from the same seed."""
        bank = np.sort(self.bank)
        query = np.unique(self.rubrics["query"].to_numpy(dtype=str)[bank], return_inverse=True)[1]
        rng = np.random.default_rng([self.settings.seed, 2])
        weights = np.zeros((self.settings.replicates, len(self.rubrics)))
        weights[:, bank] = draw_weights(query, self.settings.replicates, rng, self.settings.bootstrap)
        return weights


def bank_scale_of(result: Result) -> BankScale:
    """The bank of an analysis."""
    return make_bank_scale(
        result.dataset,
        result.settings,
        result.judges,
        result.reduction,
        result.calibration.fit,
        result.measurability["feasible"].to_numpy(dtype=bool),
        result.chosen,
        result.calibration.spread,
        reference_systems(result),
    )


def make_bank_scale(
    name: str,
    settings: Settings,
    judges: tuple[str, ...],
    reduction: Reduction,
    fit: IrtFit,
    feasible: BoolArray,
    bank: IntArray,
    spread: Spread,
    reference: Reference | None,
) -> BankScale:
    """The bank of these rubrics (indices), with what the reduction's systems got on them."""
    y = np.full(reduction.y.shape, np.nan)
    y[:, bank] = reduction.y[:, bank]
    rubrics = reduction.rubrics[["rubric", "query", "scale_min", "scale_max"]].reset_index(drop=True)
    return BankScale(
        name, settings, judges, reduction.systems, rubrics, fit, feasible, bank, y, spread, reference
    )


def read_bank_scale(folder: str | Path) -> BankScale:
    """The bank in a folder that ``build`` wrote; raises PlacementError where its files do not hold one."""
    try:
        report = json.loads((Path(folder) / "report.json").read_text(encoding="utf-8"))
        items, order = (read_csv(Path(folder) / f"{name}.csv") for name in ("items", "bank"))
        return _bank_scale(report, items, order["rubric"].tolist())
    except OSError as error:
        raise PlacementError(
            f"{folder} holds no bank ({error.strerror}: {Path(error.filename or '').name}): "
            "name the folder that `build` wrote."
        ) from error
    except (KeyError, TypeError, ValueError) as error:
        raise PlacementError(
            f"The files in {folder} are not those of a bank ({type(error).__name__}: {error}): run `build` again."
        ) from error


def _bank_scale(report: dict[str, Any], items: pd.DataFrame, order: list[str]) -> BankScale:
    settings = Settings(**{name: report["settings"][name] for name in READ})
    labels: dict[str, str] = report["bank"]["labels"]
    bank = pd.Index(items["rubric"]).get_indexer(pd.Index(order)).astype(np.int64)
    if (bank < 0).any() or any(len(row) != len(bank) for row in labels.values()):
        raise ValueError("bank.csv, items.csv and report.json do not belong together")
    y = np.full((len(labels), len(items)), np.nan)
    for system, row in enumerate(labels.values()):
        y[system, bank] = [np.nan if level == UNKNOWN_LEVEL else int(level, 36) for level in row]
    return BankScale(
        name=str(report["dataset"]["name"]),
        settings=settings,
        judges=tuple(report["dataset"]["judge_names"]),
        systems=tuple(labels),
        rubrics=items[["rubric", "query", "scale_min", "scale_max"]],
        fit=_fit_of(items, settings, len(labels)),
        feasible=items["feasible"].to_numpy(dtype=bool),
        bank=bank,
        y=y,
        spread=Spread(*(items[name].to_numpy(dtype=float) for name in SPREAD)),
        reference=None if report["reference"] is None else Reference.from_record(report["reference"]),
    )


def _fit_of(items: pd.DataFrame, settings: Settings, n_systems: int) -> IrtFit:
    """The model with the parameters of items.csv; what belongs to the labels of the fit itself is unknown."""
    steps = [name for name in map(str, items.columns) if name[:1] == "b" and name[1:].isdigit()]
    a, b, c = (items[name].to_numpy(dtype=float) for name in ("a", "b", "c"))
    unknown = np.full(n_systems, np.nan)
    return IrtFit(
        model=settings.model,
        quadrature=settings.quadrature,
        priors=settings.priors,
        a=a,
        b=b,
        c=c,
        thresholds=items[steps].to_numpy(dtype=float) if settings.model == "GRM" else None,
        theta=unknown,
        theta_sd=unknown,
        loglik=float("nan"),
        logpost=float("nan"),
        converged=True,
        evaluations=0,
        constant=np.isnan(a),
        n_parameters=0,
        levels=items["levels"].to_numpy(dtype=np.int64),
    )
