"""The commands ingest and datasets."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..environment import typed
from ..errors import IngestError
from ..labels.readers.bundle import plan_ingest
from ..labels.readers.formats import FORMATS
from ..labels.readers.plan import Plan
from ..labels.store.workspace import Workspace
from ..text import listed, shorten
from .history import add_policies, policies_of
from .options import KINDS, add_workspace, existing, read_mapping
from .parsers import Commands, add_command
from .reference import tally_labels
from .terminal import print_json, print_rejects, print_rows, progress_bar

if TYPE_CHECKING:
    import pandas as pd

    from ..labels.ingest.report import IngestReport


def add(commands: Commands) -> None:
    """Add the commands of this module to the parser."""
    ingest = add_command(commands, "ingest", run_ingest)
    add_workspace(ingest)
    ingest.add_argument("--dataset", required=True, help="name of the dataset; made if it is new")
    ingest.add_argument(
        "--kind", choices=KINDS, help="what the tables hold (default: labels; of several files: guessed)"
    )
    ingest.add_argument("--format", default="auto", metavar="NAME", help=f"one of {', '.join(FORMATS)}")
    ingest.add_argument(
        "--mapping", help="canonical column to the file's column, or a plan: as JSON, or a file of it"
    )
    ingest.add_argument(
        "--pattern", help="where system and judge stand in file names, as in {system}__{judge}.jsonl"
    )
    ingest.add_argument(
        "--plan", action="store_true", help="print how the files would be read, as JSON, and stop"
    )
    ingest.add_argument("--preview", action="store_true", help="show what would change, and store nothing")
    add_policies(ingest)
    ingest.add_argument(
        "--engine",
        choices=("duckdb", "spark"),
        default="duckdb",
        help="spark: a Spark session reads --labels, and the workspace keeps tallies alone (default: duckdb)",
    )
    ingest.add_argument(
        "--labels",
        metavar="PATH",
        help="with --engine spark: Parquet, CSV or a table as the session reads it (s3a://…, hdfs://…, a path, a name)",
    )
    ingest.add_argument("files", nargs="*", metavar="FILE")

    add_workspace(add_command(commands, "datasets", run_datasets))


def run_ingest(args: argparse.Namespace) -> None:
    """Handle ``crubric ingest``: read files, or what a Spark session reads, into a dataset.

    The exit code is 1 if most rows of a table were rejected.
    """
    if args.engine == "spark":
        tally_labels(args)
    elif args.labels or not args.files:
        raise IngestError("Name the files to ingest; --labels is for --engine spark.")
    else:
        _ingest_files(args)


def _ingest_files(args: argparse.Namespace) -> None:
    if args.plan:
        plan = _plan_of(args, strict=False)
        print(plan if sys.stdout.isatty() else plan.to_json())
        return
    with Workspace(args.workspace) as workspace, progress_bar() as report_progress:
        report = workspace.ingest_plan(
            _plan_of(args, strict=True),
            args.dataset,
            args.files,
            policies_of(args),
            report_progress,
            preview=args.preview,
        )
        parts = report.parts or (report,)
        describing = not args.preview and all(part.kind != "labels" for part in parts)
        unlabelled = describing and not described(workspace)[args.dataset]["labels"]
    wrong = [part for part in parts if part.rejected > part.accepted]
    undo = typed("undo", "--workspace", args.workspace, "--dataset", args.dataset)
    for part in wrong:
        print(
            f"Most rows of {part.source} ({part.kind}) were rejected: {part.rejected:,} of "
            f"{part.rejected + part.accepted:,}. See the reasons below"
            + (f". If this is not intended, undo the ingest: `{undo}`." if not args.preview else "."),
            file=sys.stderr,
        )
    warnings = [f"Warning: {f.sentence}" for f in report.checks if f.severity == "warning"]
    for sentence in (*report.notes, *warnings):
        print(sentence, file=sys.stderr)
    for part in parts:
        print_rejects(part)
        print_json(_ingest_summary(part))
    for sentence in _scales_told(report.scales):
        print(sentence, file=sys.stderr)
    if unlabelled:
        print(
            f"{args.dataset} has no labels yet: ingest a table of labels under the same name.",
            file=sys.stderr,
        )
    if wrong:
        raise SystemExit(1)


def _plan_of(args: argparse.Namespace, *, strict: bool) -> Plan:
    """The plan for reading the files. A plan given as --mapping overrides what is detected.

    strict: as in ``plan_ingest``.
    """
    mapping = read_mapping(args.mapping)
    like = mapping if isinstance(mapping, Plan) else None
    return plan_ingest(
        args.files,
        kind=args.kind or ("labels" if _is_one_table(args.files) else None),
        mapping=None if isinstance(mapping, Plan) else mapping,
        format=args.format,
        pattern=args.pattern,
        like=like,
        strict=strict,
    )


_HOLDS_TABLES = re.compile(r"\.(zip|xls[xmb]?|ods|tgz|tbz2|txz|tzst|tar(\.\w+)?)$")


def _is_one_table(files: Sequence[str]) -> bool:
    """Whether there is only one file, which is not an archive or workbook with possibly several tables."""
    path = Path(files[0])
    return len(files) == 1 and path.is_file() and not _HOLDS_TABLES.search(path.name.lower())


def run_datasets(args: argparse.Namespace) -> None:
    """Handle ``crubric datasets``: list the datasets of the workspace."""
    with existing(args.workspace) as workspace:
        print_rows(list(described(workspace).values()))


def described(workspace: Workspace) -> dict[str, dict[str, Any]]:
    """Map the name of each dataset to its row in the list of datasets, in JSON types."""
    rows = json.loads(workspace.datasets().to_json(orient="records", date_format="iso"))
    return {row["name"]: row for row in rows}


def _scales_told(table: pd.DataFrame | None) -> list[str]:
    """Sentences such as "Scale 1..5 (inferred), 3 and above is met: clarity, tone, depth, style and 3 more."."""
    sentences: list[str] = []
    if table is None or table.empty:
        return sentences
    for (source, *ends), group in table.groupby(
        ["source", "scale_min", "scale_max", "pass_mark", "polarity"]
    ):
        low, high, mark, polarity = (int(str(end)) for end in ends)
        names = [shorten(str(name).rstrip("."), 40) for name in group["criterion"]]
        met = f", {mark} and above is met" if high - low > 1 else ""
        met += ", bad to meet" if polarity < 0 else ""
        sentences.append(f"Scale {low}..{high} ({source}){met}: {listed(names, 4)}.")
    return sentences


def _ingest_summary(report: IngestReport) -> dict[str, Any]:
    scale = report.scale
    return {
        "dataset": report.dataset,
        "kind": report.kind,
        "source": report.source,
        "accepted": report.accepted,
        "rejected": report.rejected,
        "blank": report.blank,
        "collapsed": report.collapsed,
        "replaced": report.replaced,
        "changes": report.changes.sentence,
        "policies": dict(report.applied),
        "findings": [f"{finding.severity}: {finding.sentence}" for finding in report.checks],
        "scale": None if scale is None else f"{scale.minimum:g}..{scale.maximum:g} ({scale.source})",
        "fingerprint": report.fingerprint,
    }
