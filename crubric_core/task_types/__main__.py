"""Measure the offline classifier on queries that it was not built from, or on your own."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pandas as pd

from ..errors import CrubricError, IngestError
from .evaluation import evaluate_classifier, held_out_queries
from .offline import offline_classifier


def main() -> None:
    """Print the confusion matrix as a Markdown table, and the shares of right and of decided queries."""
    parser = argparse.ArgumentParser(prog="python -m crubric_core.task_types", description=__doc__)
    parser.add_argument("--tau-t", type=float, default=0.5, help="least probability for a decision")
    parser.add_argument(
        "--queries", type=Path, help="CSV with text and task_type (default: the held-out ones)"
    )
    options = parser.parse_args()
    try:
        texts, types = _read(options.queries) if options.queries else held_out_queries()
        found = evaluate_classifier(offline_classifier().probabilities(texts), types, options.tau_t)
    except CrubricError as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        sys.exit(2)
    table = found.table()
    print(f"| true \\ classified | {' | '.join(table.columns)} |")
    print("| --- |" + " ---: |" * len(table.columns))
    for name, row in table.iterrows():
        print(f"| {name} | {' | '.join(map(str, row))} |")
    print(
        f"\n{len(texts)} queries: {found.accuracy:.1%} right, {found.coverage:.1%} decided at tau_t = "
        f"{options.tau_t:g}, {found.accuracy_decided:.1%} of these right, log loss {found.log_loss:.3f}."
    )


def _read(path: Path) -> tuple[list[str], list[str]]:
    """Texts and types of the rows that have both. Raises IngestError if there is none, or the file is not CSV."""
    try:
        rows = pd.read_csv(path).reindex(columns=["text", "task_type"]).dropna()
    except (OSError, ValueError) as error:
        raise IngestError(f"{path} cannot be read as CSV: {error}.") from error
    if rows.empty:
        raise IngestError(
            f"{path} has no row with both a text and a task_type: these two columns are needed."
        )
    return rows["text"].tolist(), rows["task_type"].tolist()


if __name__ == "__main__":
    main()
