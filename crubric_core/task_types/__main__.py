"""Measure the offline typer on the simulated study's prompts, which it was not built from."""

from __future__ import annotations

import argparse

from ..demo.texts import cases
from .evaluation import evaluate_typer
from .offline import offline_typer


def main() -> None:
    """Print the confusion matrix as a Markdown table, and what it comes to."""
    parser = argparse.ArgumentParser(prog="python -m crubric_core.task_types", description=__doc__)
    parser.add_argument("--tau-t", type=float, default=0.5, help="least probability for a decision")
    tau_t = parser.parse_args().tau_t
    prompts = cases()
    typer = offline_typer()
    found = evaluate_typer(
        typer.probabilities([case.text for case in prompts]), [case.task_type for case in prompts], tau_t
    )
    table = found.table()
    print(f"| true \\ typed | {' | '.join(table.columns)} |")
    print("| --- |" + " ---: |" * len(table.columns))
    for name, row in table.iterrows():
        print(f"| {name} | {' | '.join(map(str, row))} |")
    print(
        f"\n{len(prompts)} prompts: {found.accuracy:.1%} right, {found.coverage:.1%} decided at tau_t = {tau_t:g}, "
        f"{found.accuracy_decided:.1%} of these right, log loss {found.log_loss:.3f}."
    )


if __name__ == "__main__":
    main()
