"""Backups for other processes: the process that has a workspace open copies it when another one asks for it."""

from __future__ import annotations

import logging
from pathlib import Path
from threading import Event, Thread

from ..access import carried
from ..errors import CrubricError
from ..labels.store.backup import answer_paths, read_request, request_path
from ..labels.store.workspace import Workspace

logger = logging.getLogger(__name__)
EVERY = 1.0  # seconds between two looks for a request


class Backups:
    """A thread that answers requests for a backup of one workspace. every: seconds between two looks for one."""

    def __init__(self, workspace: Workspace, every: float = EVERY) -> None:
        self._workspace, self._every, self._ended = workspace, every, Event()
        self._thread = Thread(target=carried(self._watch), name="backups", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the thread, and wait for it."""
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(self._every):
            try:
                answer(self._workspace)
            except Exception:
                logger.exception("A backup that was asked for could not be answered")


def answer(workspace: Workspace) -> bool:
    """Copy the workspace, or write why it failed, if a request for a backup waits; return whether one did."""
    path = Path(workspace.path)
    request = read_request(path)
    if request is None:
        return False
    copy, failed = answer_paths(path, request)
    request_path(path).unlink(missing_ok=True)
    try:
        workspace.backup(copy)
    except CrubricError as error:
        failed.write_text(str(error), encoding="utf-8")
    return True
