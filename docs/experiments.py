"""Make the figures of docs/experiments.md, and docs/datasets/, again: python -m docs.experiments

Runs every experiment on the simulated study and on those of the optional real datasets whose folder is there
(CRUBRIC_REAL_DATA), with the parameters of SIZES, or of the experiments themselves under ``--full``. Every conclusion
is computed from the results. The page has the conclusions, and a page of each dataset its tables: numbers and names,
nothing of the datasets' texts.
"""

from __future__ import annotations

import argparse
import os
import sys
import textwrap
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.tables import write_measured
from crubric_core import Settings, Workspace
from crubric_core.demo import write_demo
from crubric_core.errors import CrubricError
from crubric_core.experiments import EXPERIMENTS, ExperimentResult, run_experiment
from crubric_core.experiments.kappa import OTHERS
from crubric_core.experiments.results import num, records, span
from crubric_core.reports.sections import declared_sheet, markdown_sheet, markdown_table
from crubric_core.text import count, listed

ROOT = Path(__file__).resolve().parents[1]
REAL_DATA = Path(os.environ.get("CRUBRIC_REAL_DATA", ROOT.parent / "shared" / "data"))
DATASETS = ("demo", "dialsummeval", "wildbench", "hellobench", "eulegal_prbench")
SIZES: dict[str, dict[str, Any]] = {
    "crossfit": {"splits": 10},
    "new_systems": {"repeats": 1},
    "perturbation": {"seeds": 10},
    "stability": {"kinds": ("judge", "budget")},
    "model_check": {"replicates": 20},
}
LONGEST = 20  # rows of a table on the page
Results = Mapping[str, Mapping[str, ExperimentResult]]  # dataset → experiment → result
Estimate = tuple[float, float, float]  # value, low, high


@dataclass(frozen=True)
class Claim:
    """A difference that an experiment estimates on every dataset. what: in words."""

    experiment: str
    what: str
    estimate: Callable[[ExperimentResult], Estimate]
    digits: int = 3


def _auc(first: str, other: str) -> Callable[[ExperimentResult], Estimate]:
    """AUC of ``first``, pairs or greedy, minus that of another strategy."""
    delta = "delta" if first == "pairs" else "greedy_delta"

    def of(result: ExperimentResult) -> Estimate:
        row = records(result.frame(), "strategy")[other]
        return row[delta], row[f"{delta}_low"], row[f"{delta}_high"]

    return of


def _tau(other: str) -> Callable[[ExperimentResult], Estimate]:
    """Kendall's tau of pairs minus that of another selector, on new systems."""

    def of(result: ExperimentResult) -> Estimate:
        ahead = result.tables["ahead"]
        row = records(ahead[ahead["selector"] == other], "measure")["tau"]
        return row["difference"], row["low"], row["high"]

    return of


def _strictest(result: ExperimentResult) -> Estimate:
    """Kappa behind the strictest gate minus kappa over all rubrics, on systems that the gate has not read."""
    row = result.frame().to_dict("records")[-1]
    return row["unread"], row["unread_low"], row["unread_high"]


def _flips(result: ExperimentResult) -> Estimate:
    """Change of the gap at the most flips; unknown where no query has a type."""
    if result.frame().empty:
        return np.nan, np.nan, np.nan
    row = result.frame().to_dict("records")[-1]
    return (row["degradation"] if np.isfinite(row["low"]) else np.nan), row["low"], row["high"]


CLAIMS = (
    Claim("new_systems", "Pairs minus random rubrics, on systems not seen (τ)", _tau("random")),
    Claim("new_systems", "Pairs minus the paper's greedy, on systems not seen (τ)", _tau("greedy")),
    Claim(
        "new_systems", "Pairs minus tinyBenchmarks by labels, on systems not seen (τ)", _tau("tiny_labels")
    ),
    Claim("new_systems", "Pairs minus tinyBenchmarks by IRT, on systems not seen (τ)", _tau("tiny_irt")),
    Claim("new_systems", "Pairs minus metabench, on systems not seen (τ)", _tau("metabench")),
    Claim("new_systems", "Pairs minus fluid-benchmarking, on systems not seen (τ)", _tau("fluid")),
    Claim("crossfit", "Pairs minus random rubrics, on held-out rubrics (AUC)", _auc("pairs", "random")),
    Claim("crossfit", "Pairs minus the paper's greedy, on held-out rubrics (AUC)", _auc("pairs", "greedy")),
    Claim("crossfit", "Greedy minus random rubrics, on held-out rubrics (AUC)", _auc("greedy", "random")),
    Claim("crossfit", "Greedy minus plain information, on held-out rubrics (AUC)", _auc("greedy", "plain")),
    Claim("crossfit", "Greedy minus the hard set, on held-out rubrics (AUC)", _auc("greedy", "hard_random")),
    Claim(
        "sweep",
        "κ behind the strictest gate minus κ over all rubrics, on systems that the gate has not read",
        _strictest,
    ),
    Claim(
        "perturbation", "The gap with 30% of the task types flipped minus the gap without (points)", _flips, 2
    ),
)


def cell(estimate: Estimate, digits: int = 3) -> str:
    """A difference with its interval, bold where this excludes 0; — where one of the three is unknown."""
    if not np.isfinite(estimate).all():
        return "—"
    value, low, high = estimate
    said = f"{num(value, digits)} {span(low, high, digits)}"
    return f"**{said}**" if low > 0 or high < 0 else said


def _claimed(claim: Claim, by_name: Mapping[str, ExperimentResult]) -> str:
    result = by_name.get(claim.experiment)
    return "—" if result is None else cell(claim.estimate(result), claim.digits)


def conclusions(results: Results) -> str:
    """What shows and what does not: a row a claim, computed from the intervals, and a column a dataset."""
    rows = [[claim.what, *(_claimed(claim, by_name) for by_name in results.values())] for claim in CLAIMS]
    heads = ["difference, with its 95% interval", *results]
    table = [heads, ["---"] * len(heads), *rows]
    lines = ["## What shows, and what does not", "", 'Bold: the interval excludes 0. "—": unknown.', ""]
    lines += [f"| {' | '.join(row)} |" for row in table]
    return "\n".join([*lines, "", *_notes(results)]) + "\n"


def _notes(results: Results) -> list[str]:
    """What has to be known to read the table above."""
    sweeps = {dataset: by_name["sweep"] for dataset, by_name in results.items() if "sweep" in by_name}
    known = {dataset: result for dataset, result in sweeps.items() if np.isfinite(_strictest(result)[0])}
    same = [dataset for dataset, result in known.items() if result.options["against"] == OTHERS]
    notes = [
        "The intervals of the cross-fit are of other rubrics for the same systems; those of systems held out are of "
        "other systems. They are not adjusted for the number of comparisons."
    ]
    if same:
        notes.append(
            f"On {listed(same, most=len(same))} there are no human labels: κ is of the judges among themselves, and "
            "says nothing of correctness."
        )
    return [text for note in notes for text in (note, "")]


def headlines(results: Results) -> str:
    """Every experiment's headline on every dataset."""
    parts = ["## In one line each", ""]
    for name, experiment in EXPERIMENTS.items():
        rows = [
            {"dataset": dataset, "found": experiment.headline(by_name[name])}
            for dataset, by_name in results.items()
            if name in by_name
        ]
        if rows:
            parts += [
                f"### {experiment.title}",
                "",
                experiment.question,
                "",
                markdown_table(pd.DataFrame(rows)),
                "",
            ]
    return "\n".join(parts)


def load(workspace: Workspace, name: str) -> bool:
    """Ingest one dataset; False where its folder is absent."""
    if name == "demo":
        write_demo(workspace)
        return True
    folder = REAL_DATA / name
    if not (folder / "labels.csv").exists():
        return False
    for kind in ("queries", "rubrics", "labels", "reference"):
        if (file := folder / f"{kind}.csv").exists():
            workspace.ingest(file, name, kind)
    return True


def run_all(workspace: Workspace, dataset: str, sizes: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Every experiment on one dataset: name → its result, or why there is none."""
    ds, found = workspace.dataset(dataset), dict[str, Any]()
    for name in EXPERIMENTS:
        start = time.process_time()
        try:
            found[name] = run_experiment(name, ds, Settings(), **sizes.get(name, {}))
        except CrubricError as error:
            found[name] = str(error)
        print(f"{dataset}: {name} {time.process_time() - start:.0f} s", file=sys.stderr, flush=True)
    return found


def dataset_page(workspace: Workspace, dataset: str, found: Mapping[str, Any]) -> str:
    """The dataset's page: each experiment's sentences and its tables, the long ones left to the program."""
    counts = workspace.dataset(dataset).counts()
    kinds = ("systems", "queries", "rubrics", "judges", "labels")
    sizes = ", ".join(count(int(counts[kind]), kind.removesuffix("s")) for kind in kinds)
    parts = [
        f"# The experiments on {dataset}\n",
        f"Made with [experiments.md](../experiments.md), which says how. {sizes}.\n",
    ]
    for name, result in found.items():
        parts.append(f"## {EXPERIMENTS[name].title}\n")
        if isinstance(result, str):
            parts.append(f"Not possible: {result}\n")
            continue
        parts.append("\n".join(f"- {sentence}" for sentence in result.sentences()) + "\n")
        for key, table in EXPERIMENTS[name].tables.items():
            if table.on_page and 0 < len(result.tables[key]) <= LONGEST:
                parts += [f"{table.title}:\n", markdown_sheet(declared_sheet(result, key)) + "\n"]
    return "\n".join(parts).rstrip() + "\n"


def head(sizes: Mapping[str, Mapping[str, Any]], datasets: Sequence[str]) -> str:
    """What was run, with which settings and sizes, and where the tables of each dataset are."""
    settings = Settings()
    changed = [
        f"`{name}` with {', '.join(f'{key} = {value}' for key, value in given.items())} "
        f"({', '.join(f'{EXPERIMENTS[name].defaults[key]} by default' for key in given)})"
        for name, given in sizes.items()
    ]
    cheap = f"To keep this page cheap, {listed(changed, most=len(changed))}; `--full` runs the defaults."
    small = cheap if changed else ""
    run = (
        "The demo is the built-in simulated study (seed 0), with known truth. The four real datasets are optional: "
        f"point `CRUBRIC_REAL_DATA` at their folder. Settings are the defaults ({settings.model}, "
        f"gate by {settings.gate}, strategy `{settings.strategy}`, B = {settings.budget}, "
        f"{settings.replicates} replicates, {settings.confidence:.0%} intervals, seed {settings.seed}). {small}"
    )
    links = [f"[{name}](datasets/{name}.md)" for name in datasets]
    pages = f"All tables: {listed(links, most=len(links))}." if links else ""
    return f"{textwrap.fill(run.strip(), 120)}\n\n{pages}\n\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the pages."""
    parser = argparse.ArgumentParser(description="Make docs/experiments.md and docs/datasets/ again.")
    parser.add_argument("--full", action="store_true", help="the experiments' own sizes")
    parser.add_argument("--datasets", nargs="+", default=list(DATASETS), choices=DATASETS)
    parser.add_argument("--out", type=Path, default=ROOT / "docs")
    args = parser.parse_args(arguments)
    sizes: Mapping[str, Mapping[str, Any]] = {} if args.full else SIZES
    results = dict[str, dict[str, ExperimentResult]]()
    (args.out / "datasets").mkdir(parents=True, exist_ok=True)
    with Workspace() as workspace:
        for dataset in args.datasets:
            if not load(workspace, dataset):
                print(f"{dataset}: not run, its folder is not there", file=sys.stderr)
                continue
            found = run_all(workspace, dataset, sizes)
            results[dataset] = {name: r for name, r in found.items() if isinstance(r, ExperimentResult)}
            page = dataset_page(workspace, dataset, found)
            (args.out / "datasets" / f"{dataset}.md").write_text(page, "utf-8")
    page = head(sizes, list(results)) + conclusions(results) + headlines(results)
    write_measured(args.out / "experiments.md", page)


if __name__ == "__main__":
    main()
