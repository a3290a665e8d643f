"""Make docs/experiments.md anew: python -m docs.experiments

Runs every experiment on the simulated study and on those of the optional real datasets whose folder is there
(CRUBRIC_REAL_DATA). The page holds numbers and the names of the datasets, nothing of their texts.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from crubric_core import Settings, Workspace
from crubric_core.demo import write_demo
from crubric_core.errors import CrubricError
from crubric_core.experiments import EXPERIMENTS, ExperimentResult, run_experiment
from crubric_core.experiments.report import markdown_table

ROOT = Path(__file__).resolve().parents[1]
REAL_DATA = Path(os.environ.get("CRUBRIC_REAL_DATA", ROOT.parent / "shared" / "data"))
HIDDEN = {"sweep": (), "crossfit": ("curves", "splits"), "stability": ("variants",), "ablation": ("scores",)}
TITLES = {
    "crossfit": "Cross-fit (E2)",
    "sweep": "Threshold sweep (L1)",
    "perturbation": "Perturbed task types (E1)",
    "ablation": "Ablation (B0–B4)",
    "attrition": "Attrition of the unanimity rule",
    "stability": "Stability",
}

HEAD = """# Does it hold? The experiments on five datasets

Made by one command, from labels alone; do not edit by hand:

    python -m docs.experiments

The demo is the built-in simulated study (seed 0), with known truth; its generator was not tuned for any of this.
The four real datasets are optional: point `CRUBRIC_REAL_DATA` at their folder. Settings are the defaults
(2PL, adaptive quadrature, tau_c = 0.8, B = 200, 300 replicates, 95% intervals, seed 0), except where a dataset's
heading says otherwise. "—" is unknown. What each experiment computes stands in its module under
`crubric_core/experiments/`.

"""


@dataclass(frozen=True)
class Case:
    """A dataset of the page: its files, its tau_c, and why that one."""

    name: str
    tau_c: float = 0.8
    why: str = ""


CASES = (
    Case("demo"),
    Case("dialsummeval", 0.6, "tau_c = 0.6, since few of its rubrics reach 0.8"),
    Case("wildbench"),
    Case("hellobench"),
    Case("eulegal_prbench"),
)


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


def case_section(workspace: Workspace, case: Case) -> tuple[str, list[ExperimentResult]]:
    """The dataset's part of the page, and its results."""
    ds = workspace.dataset(case.name)
    counts = ds.counts()
    sizes = ", ".join(f"{counts[k]:,} {k}" for k in ("systems", "queries", "rubrics", "judges", "labels"))
    parts = [f"## {case.name}\n\n{sizes}{'; ' + case.why if case.why else ''}.\n"]
    results = []
    for name in EXPERIMENTS:
        print(f"{case.name}: {name}", file=sys.stderr, flush=True)
        parts.append(f"### {case.name}: {TITLES[name]}\n")
        try:
            result = run_experiment(name, ds, Settings(tau_c=case.tau_c))
        except CrubricError as error:
            parts.append(f"Not possible: {error}\n")
            continue
        results.append(result)
        parts.append("\n".join(f"- {sentence}" for sentence in result.sentences()) + "\n")
        parts += [
            markdown_table(table) + "\n"
            for key, table in result.tables.items()
            if key not in HIDDEN.get(name, ()) and len(table)
        ]
    return "\n".join(parts), results


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
            size = table.loc[strategy, "smallest_bank"]
            row[f"smallest bank, {strategy}"] = "not reached" if pd.isna(size) else int(size)
        rows.append(row)
    return "## At a glance: the cross-fit\n\n" + markdown_table(pd.DataFrame(rows)) + "\n"


def main() -> None:
    """Write the page."""
    sections, results = [], []
    with Workspace() as workspace:
        for case in CASES:
            if not load(workspace, case.name):
                sections.append(f"## {case.name}\n\nNot run: its folder was not there.\n")
                continue
            text, found = case_section(workspace, case)
            sections.append(text)
            results += found
    reading = (ROOT / "docs" / "experiments_reading.md").read_text("utf-8")
    page = HEAD + overview(results) + "\n" + reading + "\n" + "\n".join(sections)
    (ROOT / "docs" / "experiments.md").write_text(page.rstrip() + "\n", "utf-8")


if __name__ == "__main__":
    main()
