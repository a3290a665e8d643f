"""Parsers of the commands, and the options that need few imports: a server then starts before pandas is loaded."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, TypeAlias

from ..declarations import Parameter
from ..environment import views_folder, workspace_path
from ..errors import CrubricError
from ..text import sentence_case
from .catalogue import COMMANDS

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def add_workspace(parser: argparse.ArgumentParser) -> None:
    """Add the option ``--workspace``."""
    parser.add_argument(
        "--workspace",
        type=Path,
        default=workspace_path(),
        help="workspace file (default: $CRUBRIC_WORKSPACE, or %(default)s)",
    )


def add_views(parser: argparse.ArgumentParser) -> None:
    """Add the option ``--views``, the folder of the views."""
    parser.add_argument(
        "--views",
        type=Path,
        metavar="DIR",
        default=views_folder(),
        help="folder of the views (default: $CRUBRIC_VIEWS, or %(default)s)",
    )


def add_bank(parser: argparse.ArgumentParser, name: Literal["--bank", "bank"] = "--bank") -> None:
    """Add the required argument that names a bank: the option ``--bank``, or the positional argument ``bank``."""
    required: dict[str, Any] = {"required": True} if name == "--bank" else {}  # positional: always required
    parser.add_argument(
        name,
        type=Path,
        metavar="BANK",
        help="bank.json, or the folder that holds it: --out of `build` or `recalibrate`",
        **required,
    )


def file_bytes(path: Path, what: str, error: type[CrubricError]) -> bytes:
    """The bytes of a file; raises ``error`` if it cannot be read. what: subject of its message, as "The costs"."""
    try:
        return path.read_bytes()
    except OSError as fault:
        raise error(f"{what} {path} cannot be read ({fault.strerror}): name a file that is there.") from fault


def file_text(path: Path, what: str, error: type[CrubricError]) -> str:
    """The text of a UTF-8 file; raises ``error`` if it cannot be read. what: subject of its message, as "The costs"."""
    try:
        return file_bytes(path, what, error).decode()
    except UnicodeDecodeError as fault:
        raise error(f"{what} {path} cannot be read (it is not UTF-8): write it again as UTF-8.") from fault


def number(allowed: Parameter) -> Callable[[str], float | None]:
    """The argparse ``type`` of a number that ``allowed`` accepts; it refuses other texts, and reads "none" as None."""

    def read(text: str) -> float | None:
        with suppress(ValueError):
            if allowed.allows(value := allowed.read(text)):
                return value
        raise argparse.ArgumentTypeError(f"{text!r} is out of range: expected {allowed.expected}")

    return read


def folder(text: str) -> Path:
    """The argparse ``type`` of a folder to write to; it refuses an existing file before anything is computed."""
    path = Path(text)
    if path.exists() and not path.is_dir():
        raise argparse.ArgumentTypeError(f"{text} is a file: name a folder, which is made if it is new")
    return path


def add_command(
    commands: Commands,
    name: str,
    run: Callable[[argparse.Namespace], None],
) -> argparse.ArgumentParser:
    """Add a command that calls ``run``, with its line of help from the catalogue; return its parser."""
    text = COMMANDS[name].text
    parser = commands.add_parser(name, help=text, description=sentence_case(text) + ".")
    parser.set_defaults(run=run)
    return parser
