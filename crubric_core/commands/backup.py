"""The commands ``backup`` and ``restore``: copy a workspace, and put a copy in its place."""

from __future__ import annotations

import argparse
import secrets
import shutil
import time
from contextlib import ExitStack, suppress
from pathlib import Path

from ..errors import InUseError, WorkspaceError
from ..labels.store.backup import PARTIAL, answer_paths, read_request, request_path, restore
from ..labels.store.workspace import Workspace
from .options import add_workspace
from .parsers import Commands, add_command

LOOK = 0.2  # seconds between two looks for the answer
UNFINISHED = 5.0  # seconds after which a request file without content is removed


def add(commands: Commands) -> None:
    """Add the commands of this file."""
    backup = add_command(commands, "backup", run_backup)
    add_workspace(backup)
    backup.add_argument("--out", required=True, type=Path, help="the copy, a file that is not there yet")
    backup.add_argument(
        "--patience",
        type=float,
        default=600,
        metavar="SECONDS",
        help="how long to wait for the program that has the workspace open (default: 600)",
    )
    back = add_command(commands, "restore", run_restore)
    add_workspace(back)
    back.add_argument("backup", type=Path, metavar="BACKUP", help="a file that `backup` wrote")


def run_backup(args: argparse.Namespace) -> None:
    """Handle ``crubric backup``: print the path of the new copy.

    If another program has the workspace open, it is asked to make the copy.
    """
    if not args.workspace.is_file():
        raise WorkspaceError(f"There is no workspace {args.workspace}: name a file that is there.")
    if args.out.exists():
        raise WorkspaceError(f"{args.out} is there already: name a new file for the backup.")
    try:
        with Workspace(args.workspace) as workspace:
            workspace.backup(args.out)
    except InUseError as error:
        _ask(args.workspace, args.out, args.patience, error)
    print(args.out)


def run_restore(args: argparse.Namespace) -> None:
    """Handle ``crubric restore``: print the path under which the previous workspace file is kept, if there was one."""
    kept = restore(args.backup, args.workspace)
    if kept is not None:
        print(kept)


def _ask(workspace: Path, out: Path, patience: float, error: InUseError) -> None:
    """Ask the program that has the workspace open for a copy, wait for it, and copy it to ``out``.

    patience: seconds to wait. error: begins the message of the WorkspaceError if there is no answer by then.
    """
    request = secrets.token_hex(16)
    copy, failed = answer_paths(workspace, request)
    with ExitStack() as after:
        for path in (copy, failed):
            after.callback(path.unlink, missing_ok=True)
        after.callback(_withdraw, workspace, request)
        asked, until = False, time.monotonic() + patience
        while not copy.exists():
            asked = asked or _request(workspace, request)
            if failed.exists():
                raise WorkspaceError(failed.read_text(encoding="utf-8"))
            if time.monotonic() > until:
                raise WorkspaceError(
                    f"{error} It did not answer a request for a backup within {patience:g} seconds."
                )
            time.sleep(LOOK)
        partial = out.with_name(f"{out.name}{PARTIAL}")
        shutil.copyfile(copy, partial)
        partial.replace(out)


def _request(workspace: Path, request: str) -> bool:
    """Write the request file; return False, and write nothing, while there is another request file."""
    wanted = request_path(workspace)
    try:
        with wanted.open("x", encoding="ascii") as file:
            file.write(request)
    except FileExistsError:
        with suppress(
            FileNotFoundError
        ):  # remove an unfinished request file: its process was killed, or the disk was full
            if read_request(workspace) is None and time.time() - wanted.stat().st_mtime > UNFINISHED:
                wanted.unlink()
        return False
    return True


def _withdraw(workspace: Path, request: str) -> None:
    if read_request(workspace) == request:
        request_path(workspace).unlink(missing_ok=True)
