"""The command line: the same calls as the pages. Results to files or as JSON on stdout, progress to stderr."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from .demo import write_demo
from .errors import CrubricError, IngestError
from .experiments import EXPERIMENTS, run_experiment
from .experiments.files import write_experiment
from .exports import write_dataset, write_result
from .labels.columns import Kind
from .labels.workspace import Workspace
from .pipeline import run_pipeline
from .settings import CHOICES, Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .labels.dataset import Dataset
    from .labels.ingest import IngestReport

KINDS: tuple[Kind, ...] = get_args(Kind)
SHOWN_REJECTS = 3


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; 0, or 2 with one clear line on stderr where the input is at fault."""
    parser = build_parser()
    args = parser.parse_args(arguments)
    run: Callable[[argparse.Namespace], None] = args.run
    try:
        run(args)
    except CrubricError as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"{parser.prog}: stopped; nothing half-written remains.", file=sys.stderr)
        return 130
    return 0


def build_parser() -> argparse.ArgumentParser:
    """All commands with their options."""
    parser = argparse.ArgumentParser(
        prog="crubric_core", description="Compact rubric banks and tiered leaderboards from judge labels."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    demo = _command(commands, "demo", run_demo, "make the simulated study with known truth")
    _add_workspace(demo)
    demo.add_argument("--dataset", default="demo", help="name of the new dataset (default: demo)")
    demo.add_argument("--seed", type=int, default=0, help="seed of the simulation (default: 0)")

    ingest = _command(commands, "ingest", run_ingest, "read files into a dataset")
    _add_workspace(ingest)
    ingest.add_argument("--dataset", required=True, help="name of the dataset; made if it is new")
    ingest.add_argument(
        "--kind", choices=KINDS, default="labels", help="what the files hold (default: labels)"
    )
    ingest.add_argument("--format", default="auto", help="csv, tsv, parquet, jsonl or json (default: auto)")
    ingest.add_argument("--mapping", type=Path, help="JSON file: canonical column to the file's column")
    ingest.add_argument(
        "--on-conflict", choices=("reject", "last"), default="reject", help="what contradicting rows come to"
    )
    ingest.add_argument("files", nargs="+", metavar="FILE")

    _add_workspace(_command(commands, "datasets", run_datasets, "list the datasets, one JSON line each"))

    export = _command(commands, "export", run_export, "write a dataset's tables as CSV or Parquet")
    _add_workspace(export)
    export.add_argument("--dataset", required=True, help="dataset of the workspace")
    export.add_argument(
        "--format",
        choices=("csv", "parquet"),
        default="csv",
        help="CSV is safe for spreadsheets (default: csv)",
    )
    export.add_argument("--out", required=True, type=Path, help="folder for the tables")

    build = _command(commands, "build", run_build, "from labels to a bank and a tiered leaderboard")
    add_inputs(build)
    _add_settings(build)
    build.add_argument("--out", required=True, type=Path, help="folder for the results")

    experiment = _command(commands, "experiment", run_one_experiment, "does it hold on these labels?")
    experiment.add_argument("name", choices=EXPERIMENTS, metavar="NAME", help=", ".join(EXPERIMENTS))
    add_inputs(experiment)
    _add_settings(experiment)
    experiment.add_argument("--out", required=True, type=Path, help="folder for NAME.json and NAME.csv")
    return parser


def run_demo(args: argparse.Namespace) -> None:
    """Demo."""
    with Workspace(args.workspace) as workspace:
        write_demo(workspace, args.seed, args.dataset)
        _print_json(_datasets(workspace)[args.dataset])


def run_ingest(args: argparse.Namespace) -> None:
    """Ingest."""
    mapping = read_mapping(args.mapping)
    with Workspace(args.workspace) as workspace:
        for file in args.files:
            with progress_bar() as tell:
                report = workspace.ingest(
                    file, args.dataset, args.kind, mapping, args.format, args.on_conflict, tell
                )
            _tell_rejects(report)
            _print_json(_ingest_summary(report))


def run_datasets(args: argparse.Namespace) -> None:
    """Datasets."""
    with Workspace(args.workspace) as workspace:
        for row in _datasets(workspace).values():
            _print_json(row)


def run_export(args: argparse.Namespace) -> None:
    """Write the tables of one dataset."""
    with Workspace(args.workspace) as workspace:
        for path in write_dataset(workspace.dataset(args.dataset), args.out, args.format):
            print(path)


def run_build(args: argparse.Namespace) -> None:
    """Build."""
    settings = settings_of(args)
    with opened_dataset(args) as dataset, progress_bar() as tell:
        result = run_pipeline(dataset, settings, tell)
    for warning in result.warnings:
        print(f"note: {warning}", file=sys.stderr)
    for path in write_result(result, args.out):
        print(path)


def run_one_experiment(args: argparse.Namespace) -> None:
    """Experiment."""
    settings = settings_of(args)
    with opened_dataset(args) as dataset, progress_bar() as tell:
        result = run_experiment(args.name, dataset, settings, progress=tell)
    for sentence in result.sentences():
        print(f"note: {sentence}", file=sys.stderr)
    for path in write_experiment(result, args.out):
        print(path)


@contextmanager
def opened_dataset(args: argparse.Namespace) -> Iterator[Dataset]:
    """The dataset that the options name: one of a workspace, or files read into a workspace in memory."""
    files = {kind: getattr(args, kind) for kind in KINDS if getattr(args, kind)}
    if bool(args.workspace) == bool(files):
        raise IngestError("Name either --workspace with --dataset, or --labels with a file.")
    if args.workspace:
        if not args.dataset:
            raise IngestError("--workspace needs --dataset: `datasets --workspace …` lists them.")
        with Workspace(args.workspace) as workspace:
            yield workspace.dataset(args.dataset)
        return
    if "labels" not in files:
        raise IngestError("--labels is missing: name the label table.")
    with Workspace() as workspace:
        name = Path(files["labels"]).stem
        for kind in ("queries", "rubrics", "labels", "gold", "reference"):
            if kind in files:
                _tell_rejects(workspace.ingest(files[kind], name, kind))
        yield workspace.dataset(name)


def settings_of(args: argparse.Namespace) -> Settings:
    """The Settings that the options spell out."""
    given = {f.name: getattr(args, f.name) for f in fields(Settings) if hasattr(args, f.name)}
    return Settings(**given)


def read_mapping(path: Path | None) -> dict[str, str] | None:
    """A column mapping from a JSON file; IngestError where it is none."""
    if path is None:
        return None
    try:
        mapping = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise IngestError(f"The mapping {path} cannot be read as JSON: {error}.") from error
    if not isinstance(mapping, dict) or not all(isinstance(value, str) for value in mapping.values()):
        raise IngestError(f'The mapping {path} must be one JSON object such as {{"system": "model"}}.')
    return mapping


@contextmanager
def progress_bar() -> Iterator[Callable[[float, str], None]]:
    """A line on stderr that shows how far the work is; nothing where stderr is no terminal."""
    shown = sys.stderr.isatty()

    def tell(share: float, what: str) -> None:
        if shown:
            bar = "█" * round(20 * share) + "░" * (20 - round(20 * share))
            print(f"\r{bar} {what:<60.60}", end="", file=sys.stderr, flush=True)

    yield tell
    if shown:
        print("\r" + " " * 82, end="\r", file=sys.stderr, flush=True)


def add_inputs(parser: argparse.ArgumentParser) -> None:
    """Options that name a dataset, either in a workspace or as files."""
    parser.add_argument("--workspace", type=Path, help="workspace file; with --dataset")
    parser.add_argument("--dataset", help="dataset of the workspace")
    for kind in KINDS:
        parser.add_argument(f"--{kind}", type=Path, metavar="FILE", help=f"table of {kind}")


def _add_settings(parser: argparse.ArgumentParser) -> None:
    for setting in fields(Settings):
        if "help" not in setting.metadata:
            continue
        option, default = "--" + setting.name.replace("_", "-"), setting.default
        text = f"{setting.metadata['help']} (default: {default})"
        kind: dict[str, Any] = {"type": type(default)}
        if isinstance(default, bool):
            kind = {"action": argparse.BooleanOptionalAction}
        elif setting.name in CHOICES:
            kind = {"choices": CHOICES[setting.name]}
        parser.add_argument(option, default=default, help=text.replace("%", "%%"), **kind)


def _command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    run: Callable[[argparse.Namespace], None],
    text: str,
) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
    parser.set_defaults(run=run)
    return parser


def _add_workspace(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--workspace", required=True, type=Path, help="workspace file")


def _datasets(workspace: Workspace) -> dict[str, dict[str, Any]]:
    rows = json.loads(workspace.datasets().to_json(orient="records", date_format="iso"))
    return {row["name"]: row for row in rows}


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
        "scale": None if scale is None else f"{scale.minimum:g}..{scale.maximum:g} ({scale.source})",
        "fingerprint": report.fingerprint,
    }


def _tell_rejects(report: IngestReport) -> None:
    for row in report.rejects.head(SHOWN_REJECTS).itertuples():
        print(f"{report.source}, row {row.row}: {row.reason}", file=sys.stderr)
    if report.rejected > SHOWN_REJECTS:
        print(f"{report.source}: {report.rejected} rows rejected in all.", file=sys.stderr)


def _print_json(row: dict[str, Any]) -> None:
    print(json.dumps(row, ensure_ascii=False))


if __name__ == "__main__":
    sys.exit(main())
