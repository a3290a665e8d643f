"""Hold one system out: make a bank without it, and read its labels there as a new system's (docs/method.md §13)."""

from __future__ import annotations

import numpy as np

from ..analysis.calibration import calibrate, fit_folds
from ..analysis.fitted import gate
from ..analysis.ranking import rank_systems
from ..analysis.reference import reference_on_pool
from ..analysis.result import Calibration
from ..analysis.selection import masks, order_candidates, orders_without_folds, person_fits, query_positions
from ..errors import DatasetError, NoBankWithoutError
from ..labels.store.dataset import Dataset
from ..labels.store.reduction import Reduction
from ..leaderboard.cross_fit import CrossFit
from ..leaderboard.transfer import transfer_excess, transfer_variance
from ..placement.bank_scale import BankScale, BankSource, make_bank_scale
from ..placement.new_labels import NewLabels, labels_on_bank
from ..settings import Settings
from ..types import BoolArray
from .inputs import Inputs, panels_of_part, read_inputs, reduce_panel


def hold_out(ds: Dataset, settings: Settings, system: str) -> tuple[BankScale, NewLabels]:
    """The bank scale of an analysis without ``system``, and the labels of ``system`` on its bank.

    Raises DatasetError if the system is not in the dataset, or if fewer than two others are.
    """
    inputs = read_inputs(ds, settings)
    whole = inputs.reduction
    if system not in whole.systems:
        raise DatasetError(
            f"There is no system {system!r} in {ds.name!r}: choose one of its {len(whole.systems)}."
        )
    if len(whole.systems) < 3:
        raise DatasetError(
            f"A bank without {system!r} would be made from "
            f"{'one system' if len(whole.systems) == 2 else 'no system'}: add labels of other systems."
        )
    at = whole.systems.index(system)
    panel = ds.panel(settings.response)
    others, *rest = (np.arange(size) for size in panel.shape)
    reduction = reduce_panel(inputs, panel, np.delete(others, at), *rest)
    feasible = gate(reduction, inputs.settings)["feasible"].to_numpy()
    calibration = calibrate(reduction, inputs.settings)
    bank = order_candidates(reduction, calibration, feasible, inputs.settings).order[: settings.budget]
    cross = fit_folds(reduction, calibration, inputs.settings)
    rest_panel = np.delete(panel, at, axis=0)
    pool = rank_systems(
        inputs.queries,
        reduction,
        calibration,
        cross,
        feasible & ~calibration.fit.constant,
        inputs.settings,
        panels_of_part(reduction, rest_panel, inputs.settings),
    )
    bank_scale = make_bank_scale(
        BankSource(ds.name, ds.fingerprint, inputs.settings, ds.judges, inputs.queries),
        reduction,
        calibration,
        bank,
        reference_on_pool(reduction, pool),
        rest_panel,
        _transfer(inputs, reduction, calibration, cross, feasible),
        person_fits(cross, bank),
    )
    rows = np.sort(bank)
    return bank_scale, labels_on_bank((system,), whole.y[[at]][:, rows], ds.judges, panel[[at]][:, rows])


def _transfer(
    inputs: Inputs, reduction: Reduction, calibration: Calibration, cross: CrossFit, feasible: BoolArray
) -> float:
    """As ``Analysis.transfer``, among the other systems."""
    if cross.n_folds == 1:
        return np.nan
    settings = inputs.settings
    try:
        orders = orders_without_folds(
            reduction, calibration, cross, feasible, settings, budget=settings.budget
        )
    except NoBankWithoutError:
        return np.nan
    use = masks(orders, settings.budget, len(feasible))
    pool = feasible & ~calibration.fit.constant
    excess = transfer_excess(cross, pool, use, query_positions(inputs.queries, reduction))
    return transfer_variance(excess)
