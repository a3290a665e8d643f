"""Work in threads that continue when the user leaves the page: asking judges, reading files."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from ..access import carried
from ..endpoints.watch import Watch
from ..errors import CrubricError

logger = logging.getLogger(__name__)
Outcome = TypeVar("Outcome")


@dataclass
class ThreadJob(Generic[Outcome]):
    """One run of some work; its thread writes these fields, and pages read them.

    share, message: progress in [0, 1], and the present step. run: the outcome, None until the work has succeeded.
    failure: why there is no outcome, in one sentence, or "". cancel: set it to stop the work.
    """

    share: float = 0.0
    message: str = "Starting"
    run: Outcome | None = None
    failure: str = ""
    cancel: threading.Event = field(default_factory=threading.Event)
    thread: threading.Thread | None = None

    @property
    def running(self) -> bool:
        """Whether the thread still runs."""
        return self.thread is not None and self.thread.is_alive()

    def start(self, work: Callable[[Watch], Outcome], name: str, unexpected: str) -> None:
        """Start ``work`` in a thread of this name. unexpected: the failure if only the log explains the error."""

        def run() -> None:
            try:
                self.run = work(Watch(self._report, self.cancel))
            except CrubricError as error:
                self.failure = str(error)
            except Exception:
                logger.exception(name)
                self.failure = unexpected

        self.thread = threading.Thread(target=carried(run), name=name, daemon=True)
        self.thread.start()

    def wait(self, seconds: float) -> bool:
        """Wait at most so many seconds for the thread, and return whether it has ended."""
        if self.thread is not None:
            self.thread.join(seconds)
        return not self.running

    def _report(self, share: float, message: str) -> None:
        self.share, self.message = share, message


class ThreadJobs(Generic[Outcome]):
    """The latest run of each key, for all sessions of a process; a key has at most one run at a time."""

    def __init__(self) -> None:
        self._jobs: dict[Hashable, ThreadJob[Outcome]] = {}
        self._starting = threading.Lock()

    def get(self, key: Hashable) -> ThreadJob[Outcome] | None:
        """The latest run of ``key``; None if there was none."""
        return self._jobs.get(key)

    def start(
        self, key: Hashable, work: Callable[[Watch], Outcome], name: str, unexpected: str
    ) -> ThreadJob[Outcome]:
        """Start a run of ``key`` (``ThreadJob.start``) and return it; if one still runs, return that one."""
        with self._starting:
            before = self._jobs.get(key)
            if before is not None and before.running:
                return before
            job = self._jobs[key] = ThreadJob()
            job.start(work, name, unexpected)
            return job
