"""Options that several commands share, and the values that they describe."""

from __future__ import annotations

import argparse
import json
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from ..declarations import Spec, Switch, specs_of
from ..environment import typed, workspace_path
from ..errors import IngestError, SettingsError, WorkspaceError
from ..labels.readers.columns.specs import Kind
from ..labels.readers.plan import Columns, Plan, read_columns
from ..labels.store.workspace import Workspace
from ..priors import C_PRIOR
from ..scoring_rules import ScoringRules
from ..settings import SPECS, Preset, Priors, Settings
from ..workers import Workers
from .composing import composition_of
from .parsers import add_workspace as add_workspace
from .parsers import file_text, number
from .terminal import print_rejects

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..labels.store.dataset import Dataset

KINDS: tuple[Kind, ...] = get_args(Kind)
_TOLD = {"gold": "gold labels", "reference": "a reference ranking"}


def existing(path: Path) -> Workspace:
    """Open an existing workspace file; raises WorkspaceError if there is none, so that a typo creates no file."""
    if not path.exists():
        raise WorkspaceError(
            f"There is no workspace {path}: name it with --workspace, or make one with "
            f"`{typed('ingest', '--workspace', path)} …` or `{typed('demo', '--workspace', path)}`."
        )
    return Workspace(path)


def add_inputs(parser: argparse.ArgumentParser) -> None:
    """Add the options that name a dataset, either in a workspace or as files."""
    parser.add_argument(
        "--workspace", type=Path, help="workspace file; with --dataset (default: $CRUBRIC_WORKSPACE)"
    )
    parser.add_argument("--dataset", help="dataset of the workspace")
    for kind in KINDS:
        parser.add_argument(
            f"--{kind}", type=Path, action=_Once, metavar="FILE", help=f"table of {_TOLD.get(kind, kind)}"
        )


class _Once(argparse.Action):
    """Reject a second table of a kind; argparse itself would keep only the last one."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, *_: object
    ) -> None:
        if getattr(namespace, self.dest) is not None:
            parser.error(
                f"{self.option_strings[0]} is given twice: ingest several tables into a workspace first"
            )
        setattr(namespace, self.dest, values)


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Add the option for a preset, and an option for each declared setting, which overrides the preset."""
    parser.add_argument(
        "--preset",
        choices=get_args(Preset),
        default="robust",
        help="what the settings that are not given are: robust, or paper for Algorithm 1 as printed (default: robust)",
    )
    usual = Settings()
    for name, spec in SPECS.items():
        default = spec.usual or ("none" if getattr(usual, name) is None else getattr(usual, name))
        _add_option(parser, name, spec, default)
    for name, spec in specs_of(Priors).items():
        _add_option(parser, name, spec, getattr(usual.priors, name))
    _add_option(parser, "c_prior", C_PRIOR, True)
    parser.add_argument(
        "--rules", type=Path, metavar="FILE", help="JSON file of scoring rules (default: the dataset's own)"
    )


def _add_option(parser: argparse.ArgumentParser, name: str, spec: Spec, default: object) -> None:
    """Add the option of a setting; it has no attribute in the namespace unless it is given."""
    kind: dict[str, Any] = {"type": number(spec), "metavar": "N" if spec.whole else "X"}
    if isinstance(spec, Switch):
        kind = {"action": argparse.BooleanOptionalAction}
    elif spec.choices:
        kind = {"choices": tuple(spec.choices)}
    text = f"{spec.help} (default: {default})".replace("%", "%%")
    parser.add_argument("--" + name.replace("_", "-"), default=argparse.SUPPRESS, help=text, **kind)


def add_workers(parser: argparse.ArgumentParser) -> None:
    """Add the options that decide where independent tasks run."""
    parser.add_argument(
        "--workers",
        type=int,
        metavar="N",
        help="processes of this machine that share the work; no number depends on them "
        "(default: $CRUBRIC_WORKERS, or 1)",
    )
    parser.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="Dask scheduler whose workers share the work, such as tcp://host:8786 (default: $CRUBRIC_SCHEDULER)",
    )


def workers_of(args: argparse.Namespace) -> Workers:
    """The Workers that the options describe; options override the environment."""
    usual = Workers.from_environment()
    return Workers(
        usual.processes if args.workers is None else args.workers,
        usual.scheduler if args.scheduler is None else args.scheduler,
    )


def settings_of(args: argparse.Namespace) -> Settings:
    """The Settings that the options describe."""
    given = {name: getattr(args, name) for name in SPECS if hasattr(args, name)}
    spread = {name: getattr(args, name) for name in specs_of(Priors) if hasattr(args, name)}
    priors = Priors(**spread, c_beta=Priors().c_beta if getattr(args, "c_prior", True) else None)
    own = {"rules": read_rules(args.rules), "priors": priors, "composition": composition_of(args)}
    return Settings.preset(args.preset, **given, **own)


def settings_given(args: argparse.Namespace) -> list[str]:
    """The options of declared settings that were given, in the form that users type."""
    names = [name for name in (*SPECS, *specs_of(Priors), "c_prior") if hasattr(args, name)]
    return ["--" + name.replace("_", "-") for name in names]


def read_rules(path: Path | None) -> ScoringRules | None:
    """Read scoring rules from a JSON file, None without a file; raises SettingsError if it cannot be read."""
    return (
        None if path is None else ScoringRules.from_json(file_text(path, "The scoring rules", SettingsError))
    )


@contextmanager
def opened_dataset(args: argparse.Namespace) -> Iterator[Dataset]:
    """Context manager: the dataset that the options name."""
    with opened_workspace(args) as (workspace, name):
        yield workspace.dataset(name)


@contextmanager
def opened_workspace(args: argparse.Namespace) -> Iterator[tuple[Workspace, str]]:
    """Context manager: the workspace, and the name of the dataset, that the options name.

    Files are read into a workspace in memory. Raises IngestError if the options do not name exactly one dataset.
    """
    files = {kind: getattr(args, kind) for kind in KINDS if getattr(args, kind)}
    named = args.workspace or args.dataset
    if bool(named) == bool(files):
        raise IngestError("Name either --workspace with --dataset, or --labels with a file.")
    if named:
        path = args.workspace or workspace_path()
        if not args.dataset:
            raise IngestError(
                f"--workspace needs --dataset: `{typed('datasets', '--workspace', path)}` lists them."
            )
        with existing(path) as workspace:
            yield workspace, args.dataset
        return
    if "labels" not in files:
        raise IngestError("--labels is missing: name the label table.")
    with Workspace() as workspace:
        name = Path(files["labels"]).stem
        for kind in ("queries", "rubrics", "labels", "gold", "reference", "anchors"):
            if kind in files:
                print_rejects(workspace.ingest(files[kind], name, kind))
        yield workspace, name


def read_mapping(given: str | None) -> Columns | Plan | None:
    """Read a column mapping or a whole plan from JSON text or a JSON file; raises IngestError if it is neither."""
    if given is None:
        return None
    text = given if given.lstrip().startswith("{") else file_text(Path(given), "The mapping", IngestError)
    try:
        mapping = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise IngestError(f"The mapping {given} cannot be read as JSON: {error}.") from error
    if isinstance(mapping, dict) and "files" in mapping:
        return Plan.from_dict(mapping)
    try:
        return read_columns(mapping)
    except ValueError as error:
        raise IngestError(
            f'The mapping {given} must be one JSON object such as {{"system": "model"}}, or a plan ({error}).'
        ) from error
