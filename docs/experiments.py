"""Make docs/experiments.md anew: python -m docs.experiments

Runs every experiment on the simulated study and on those of the optional real datasets whose folder is there
(CRUBRIC_REAL_DATA). The page holds numbers and the names of the datasets, nothing of their texts.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import cast

import pandas as pd

from crubric_core import Settings, Workspace
from crubric_core.demo import write_demo
from crubric_core.errors import CrubricError
from crubric_core.experiments import EXPERIMENTS, ExperimentResult, run_experiment
from crubric_core.reports.sections import declared_sheet, markdown_sheet, markdown_table

ROOT = Path(__file__).resolve().parents[1]
REAL_DATA = Path(os.environ.get("CRUBRIC_REAL_DATA", ROOT.parent / "shared" / "data"))
SHOWN = {
    "crossfit": ("summary",),
    "new_systems": ("ahead", "budgets"),
    "sweep": ("thresholds", "quartiles", "correlation"),
    "perturbation": ("flips", "scorers", "agreement", "external"),
    "ablation": ("configurations",),
    "attrition": ("curve", "models"),
    "stability": ("kinds",),
}
HEAD = """# Does it hold? The experiments on five datasets

Made by one command, from labels alone; do not edit by hand:

    python -m docs.experiments

The demo is the built-in simulated study (seed 0), with known truth; its generator was not tuned for any of this.
The four real datasets are optional: point `CRUBRIC_REAL_DATA` at their folder. Settings are the defaults
(2PL, adaptive quadrature, τ_c = 0.8, B = 200, 300 replicates, 95% intervals, seed 0). "—" is unknown. What
each experiment computes stands in its module under `crubric_core/experiments/`.

"""


READING = """
## What shows, and what does not

**Greedy over random.** It shows on the demo, on `wildbench` and on `eulegal_prbench`. On `hellobench` greedy is
*worse* than random, and needs a larger bank to reach the target: nearly every rubric there is passed by nearly every
system, the steepest rubrics are failed by the weakest system alone, and coverage of all abilities pays for them. The
other systems then pass the whole bank and tie, as the ablation's interquartile range of 0 says. Such a bank finds the
weakest system and ranks no other. On `dialsummeval` greedy is behind random too, and there the gate is to blame, not
the order: greedy and plain choose among measurable rubrics alone, random among all that vary (see the ablation).

**Greedy over plain information.** The interval lies above 0 on all five; on `wildbench` and `eulegal_prbench` by
little.

**Hard over random.** On the demo unanimous rubrics rank no better than any that vary, and stop at the end of the hard
set. They are a little ahead on `wildbench`. On `dialsummeval` too few rubrics are unanimous to make a bank. With one
judge every rubric is unanimous, and the two strategies are the same but for their draws.

**κ rises with τ_c.** It shows wherever there is more than one judge. Only the demo has human gold; elsewhere
the same judges make the filter and the κ, which then rises by construction. On `dialsummeval` measurability
says next to nothing of a rubric's own κ: many rubrics there see agreement because all systems pass, and κ,
which discounts chance, gives them no credit.

**The gate's price.** On the demo and on `wildbench` the ranking behind the gate is that of all rubrics. On
`dialsummeval` it is not (B3 beside B0): judges agree where everybody passes, so the gate keeps the rubrics that tell
systems apart least, the gap halves, and no order among those left makes up for it. Agreement is not information.

**A smaller gap under corrupted task types.** It shows on the demo with its sign and an interval that excludes 0, but
it is small beside the one that the paper reports: only some of the demo's rubrics have a dimension or severity that a
type acts on, and the simulated truth rewards no type. The real datasets have no task types, so it cannot be asked.

**Adaptive over binary scoring.** It does not show: on the demo both rank nearly alike, and the binary scores lie a
little closer to the human reference.

**The ablation.** The gap of B2 and B4 reaches 100 points on most datasets, because a bank of steep rubrics is made of
those on which the best pass and the weakest fail. That is selection at work, on the labels that it is judged by;
only the cross-fit tells whether the ranking holds.

**Targets.** `dialsummeval` and `eulegal_prbench` reach ρ = .95 with no bank, chosen however: halves of a small
study do not agree well enough with each other.

"""

DATASETS = ("demo", "dialsummeval", "wildbench", "hellobench", "eulegal_prbench")


def load(workspace: Workspace, name: str) -> bool:
    """Ingest one dataset; False where its folder is absent."""
    if name == "demo":
        write_demo(workspace)
        return True
    folder = REAL_DATA / name
    if not (folder / "labels.csv").exists():
        return False
    for kind in ("queries", "rubrics", "labels"):
        if (file := folder / f"{kind}.csv").exists():
            workspace.ingest(file, name, kind)
    return True


def section(workspace: Workspace, dataset: str) -> tuple[str, list[ExperimentResult]]:
    """The dataset's part of the page, and its results."""
    ds = workspace.dataset(dataset)
    counts = ds.counts()
    kinds = ("systems", "queries", "rubrics", "judges", "labels")
    sizes = ", ".join(f"{counts[k]:,} {k if counts[k] != 1 else k.removesuffix('s')}" for k in kinds)
    parts = [f"## {dataset}\n\n{sizes}.\n"]
    results = []
    for name in EXPERIMENTS:
        print(f"{dataset}: {name}", file=sys.stderr, flush=True)
        parts.append(f"### {dataset}: {EXPERIMENTS[name].title}\n")
        try:
            result = run_experiment(name, ds, Settings())
        except CrubricError as error:
            parts.append(f"Not possible: {error}\n")
            continue
        results.append(result)
        parts.append("\n".join(f"- {sentence}" for sentence in result.sentences()) + "\n")
        if tells_something(result):
            parts += [
                markdown_sheet(declared_sheet(result, key)) + "\n"
                for key in SHOWN[name]
                if len(result.tables[key])
            ]
    return "\n".join(parts), results


def tells_something(result: ExperimentResult) -> bool:
    """Whether its tables hold more than one judge's agreement with itself, or types that no query has."""
    if result.name == "perturbation":
        return bool(result.options["typed_queries"])
    alone = any("gate is off" in notice for notice in result.notices)
    return not (alone and result.name in {"sweep", "attrition"})


def overview(results: list[ExperimentResult]) -> str:
    """Greedy's smallest bank beside random's, and its lead, one row a dataset."""
    rows = []
    for result in results:
        if result.name != "crossfit":
            continue
        table = result.frame().set_index("strategy")
        row: dict[str, object] = {"dataset": result.dataset}
        for strategy in ("plain", "hard_random", "random"):
            found = table.loc[strategy]
            row[f"greedy − {strategy}"] = (
                f"{found['delta']:+.3f} [{found['delta_low']:+.3f}, {found['delta_high']:+.3f}]"
                if pd.notna(found["delta"])
                else "—"
            )
        row["target"] = f"{table['target'].iloc[0]:.4g}"
        for strategy in ("greedy", "random"):
            size = cast("float", table.loc[strategy, "smallest_bank"])
            row[f"smallest bank, {strategy}"] = "not reached" if pd.isna(size) else int(size)
        rows.append(row)
    return "## At a glance: the cross-fit\n\n" + markdown_table(pd.DataFrame(rows)) + "\n"


def main() -> None:
    """Write the page."""
    sections, results = [], []
    with Workspace() as workspace:
        for dataset in DATASETS:
            if not load(workspace, dataset):
                sections.append(f"## {dataset}\n\nNot run: its folder was not there.\n")
                continue
            text, found = section(workspace, dataset)
            sections.append(text)
            results += found
    page = HEAD + overview(results) + READING + "\n".join(sections)
    (ROOT / "docs" / "experiments.md").write_text(page.rstrip() + "\n", "utf-8")


if __name__ == "__main__":
    main()
