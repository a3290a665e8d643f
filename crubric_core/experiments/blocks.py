"""E2 and L1 in each domain and each task type, the blocks of the paper (tab:e2-crossfit, tab:type_stratified_results).

Each block is analysed as a separate dataset: gate, fits, banks and references use its labels alone. The intervals hold
in all blocks at once (Bonferroni).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pandas as pd

from ..declarations import Parameter, choice_words
from ..errors import CrubricError
from ..labels.store.dataset import Dataset
from ..labels.store.snapshot import Snapshot
from ..settings import Settings
from ..task_types.types import TASK_TYPES
from ..text import count, sentence_case
from ..types import Cancel, Progress
from . import crossfit, held_out_systems, threshold_sweep
from .declaration import HIGH, LOW, Chart, Experiment, ResultColumn, ResultTable, number
from .inputs import read_inputs
from .parts import Block, BlockSnapshot, blocks
from .results import ExperimentResult, ExperimentWatch, records

SELECTORS = ("pairs", "greedy", "random")
STRATEGIES = ("pairs", "greedy", "hard_random", "random")  # of the cross-fit
DRAWN = STRATEGIES[2:]  # the strategies with which "pairs" is compared in the cross-fit


def by_block(
    ds: Dataset,
    settings: Settings,
    *,
    progress: Progress | None = None,
    cancel: Cancel | None = None,
    repeats: int = 1,
    splits: int = 20,
) -> ExperimentResult:
    """The cross-fit, the experiment with held-out systems and the strictest gate in each block.

    Tables: ``held_out``, ``crossfit``, ``agreement`` (one row a block) and ``skipped`` (block, experiment, reason), for
    blocks that are too small. The intervals of a comparison hold in all blocks at once.
    """
    watch = ExperimentWatch(progress, cancel)
    inputs = read_inputs(ds, settings)
    whole = Snapshot(ds, settings)
    found = list(blocks(inputs.queries, settings.tau_t))
    together = replace(settings, confidence=1 - (1 - settings.confidence) / max(len(found), 1))
    rows: dict[str, list[dict[str, object]]] = {name: [] for name in _COLUMNS}
    for position, block in enumerate(found):
        part = BlockSnapshot(whole, settings, block)
        described = _described(block, part, settings)
        runs = _runs(part, together, watch, repeats, splits)
        for step, (name, run) in enumerate(runs.items()):
            watch.step(
                (position + step / len(runs)) / len(found), f"{_TYPES.get(block.name, block.name)}: {name}"
            )
            try:
                rows[name].append(described | run())
            except CrubricError as error:
                rows["skipped"].append(described | {"experiment": name, "reason": str(error)})
    watch.step(1.0, "Done")
    tables = {name: pd.DataFrame(rows[name], columns=columns) for name, columns in _COLUMNS.items()}
    options = {"repeats": repeats, "splits": splits}
    return inputs.result("blocks", options, tables, _found(tables), _limits(tables))


def _runs(
    part: BlockSnapshot, settings: Settings, watch: ExperimentWatch, repeats: int, splits: int
) -> dict[str, Callable[[], dict[str, object]]]:
    """Name of a table → function that computes the block's row of it."""
    return {
        "held_out": lambda: _held_out(part, settings, watch, repeats),
        "crossfit": lambda: _crossfit(part, settings, watch, splits),
        "agreement": lambda: _agreement(part, settings),
    }


def _described(block: Block, part: BlockSnapshot, settings: Settings) -> dict[str, object]:
    reduction = part.reduce(settings.response, settings.tie, settings.agreement_tolerance)
    return {
        "kind": block.kind,
        "block": block.name,
        "queries": len(block.queries),
        "systems": len(reduction.systems),
        "rubrics": reduction.y.shape[1],
    }


def _held_out(
    part: BlockSnapshot, settings: Settings, watch: ExperimentWatch, repeats: int
) -> dict[str, object]:
    result = held_out_systems.held_out_systems(
        part, settings, cancel=watch.cancel, repeats=repeats, selectors=SELECTORS
    )
    table, ahead = records(result.frame(), "selector"), result.tables["ahead"]
    row: dict[str, object] = {name: table[name]["tau"] for name in SELECTORS}
    for other in SELECTORS[1:]:
        difference = records(ahead[ahead["selector"] == other], "measure")["tau"]
        row |= {
            f"to_{other}": difference["difference"],
            f"to_{other}_low": difference["low"],
            f"to_{other}_high": difference["high"],
        }
    return row


def _crossfit(
    part: BlockSnapshot, settings: Settings, watch: ExperimentWatch, splits: int
) -> dict[str, object]:
    result = crossfit.crossfit(part, settings, cancel=watch.cancel, splits=splits)
    table = records(result.frame(), "strategy")
    row: dict[str, object] = {name: table[name]["auc"] for name in STRATEGIES}
    for other in DRAWN:
        for end in ("", "_low", "_high"):
            row[f"to_{other}{end}"] = table[other][f"delta{end}"]
    return row


def _agreement(part: BlockSnapshot, settings: Settings) -> dict[str, object]:
    result = threshold_sweep.sweep(part, settings)
    base, *_, strictest = result.frame().to_dict("records")
    return {
        "against": result.options["against"],
        "tau_c": strictest["tau_c"],
        "kept": strictest["kept"],
        "base": base["kappa"],
        "kappa": strictest["kappa"],
        "r": result.tables["correlation"]["r"].iloc[0],
    }


_TYPES = {name: choice_words(name) for name in TASK_TYPES}
TOO_LITTLE = "No domain or task type has enough data to hold systems out."
_BLOCK = ("kind", "block", "queries", "systems", "rubrics")
_COLUMNS: dict[str, list[str]] = {
    "held_out": [
        *_BLOCK,
        *SELECTORS,
        *(f"to_{other}{end}" for other in SELECTORS[1:] for end in ("", "_low", "_high")),
    ],
    "crossfit": [
        *_BLOCK,
        *STRATEGIES,
        *(f"to_{other}{end}" for other in DRAWN for end in ("", "_low", "_high")),
    ],
    "agreement": [*_BLOCK, "against", "tau_c", "kept", "base", "kappa", "r"],
    "skipped": [*_BLOCK, "experiment", "reason"],
}


def _outcomes(table: pd.DataFrame) -> tuple[int, int, int]:
    """Numbers of blocks in which pairs are ahead of random rubrics, in which they are behind, and with an interval."""
    known = table.dropna(subset=["to_random_low"])
    return int((known["to_random_low"] > 0).sum()), int((known["to_random_high"] < 0).sum()), len(known)


def _found(tables: dict[str, pd.DataFrame]) -> str:
    if not len(tables["held_out"]) and not len(tables["crossfit"]):
        return TOO_LITTLE
    parts = []
    for name, what in (("held_out", "new systems (τ)"), ("crossfit", "held-out rubrics (AUC)")):
        ahead, behind, known = _outcomes(tables[name])
        parts.append(
            f"on {what} banks of pairs are ahead of random rubrics in {ahead} of {count(known, 'block')}, behind in "
            f"{behind}"
        )
    return f"{sentence_case('; '.join(parts))}."


def _limits(tables: dict[str, pd.DataFrame]) -> tuple[str, ...]:
    skipped = len(tables["skipped"])
    said = f"{count(skipped, 'analysis', 'analyses')} of a block had too little data."
    return (said,) if skipped else ()


def headline(result: ExperimentResult) -> str:
    """A sentence: in how many blocks banks of pairs rank new systems better, or worse, than random banks."""
    ahead, behind, known = _outcomes(result.tables["held_out"])
    if not known:
        return TOO_LITTLE
    return (
        f"In {count(known, 'block')}, banks of pairs rank new systems better than random ones in {ahead}, worse in "
        f"{behind}, and are not separated from them in {known - ahead - behind}."
    )


_DESCRIBED = {
    "kind": ResultColumn("kind"),
    "block": ResultColumn("block", words=_TYPES),
    "queries": number("queries", "localized"),
    "systems": number("systems", "localized"),
    "rubrics": number("rubrics", "localized"),
}

EXPERIMENT = Experiment(
    name="blocks",
    title="By domain and task type (E2, L1)",
    question=(
        "Do the results hold in each domain and each task type? Each block is analysed as a dataset of its own: "
        "systems held out, cross-fit and gate. The intervals hold in all blocks at once."
    ),
    run=by_block,
    parameters={
        "repeats": Parameter("divisions of the systems into folds", low=1, whole=True),
        "splits": Parameter("half-splits of the rubrics", low=1, whole=True),
    },
    tables={
        "held_out": ResultTable(
            "New systems on banks chosen without them",
            {
                **_DESCRIBED,
                "pairs": number("τ, pairs", about="Kendall's tau of all systems as new ones"),
                "greedy": number("τ, greedy", about="The paper's greedy after its gate"),
                "random": number("τ, random"),
                "to_greedy": number("pairs − greedy"),
                "to_greedy_low": LOW,
                "to_greedy_high": HIGH,
                "to_random": number("pairs − random"),
                "to_random_low": LOW,
                "to_random_high": HIGH,
            },
        ),
        "crossfit": ResultTable(
            "Cross-fitted AUC",
            {
                **_DESCRIBED,
                "pairs": number("pairs"),
                "greedy": number("greedy"),
                "hard_random": number("hard"),
                "random": number("random"),
                "to_hard_random": number("pairs − hard"),
                "to_hard_random_low": LOW,
                "to_hard_random_high": HIGH,
                "to_random": number("pairs − random"),
                "to_random_low": LOW,
                "to_random_high": HIGH,
            },
        ),
        "agreement": ResultTable(
            "Agreement at the strictest gate",
            {
                **_DESCRIBED,
                "against": ResultColumn("κ against"),
                "tau_c": number("τ_c", "%.2f"),
                "kept": number("kept", "localized"),
                "base": number("κ, all rubrics"),
                "kappa": number("κ, kept"),
                "r": number("r", about="Pearson's r of measurability with a rubric's own κ"),
            },
        ),
        "skipped": ResultTable(
            "What could not be computed",
            {**_DESCRIBED, "experiment": ResultColumn("analysis"), "reason": ResultColumn("reason")},
        ),
    },
    headline=headline,
    charts=(
        Chart(
            "How far pairs are ahead of random rubrics on new systems, by block",
            table="held_out",
            rows="block",
            y=("to_random",),
            low="to_random_low",
            high="to_random_high",
            x_title="τ of pairs minus τ of random rubrics",
            line=0.0,
        ),
    ),
    order=8,
)
