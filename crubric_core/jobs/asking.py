"""Questions to judges or to a classifier, asked beside the program: one thread a run, which outlives the page's own."""

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
Run = TypeVar("Run")


@dataclass
class AskingJob(Generic[Run]):
    """One run; its thread writes, pages read.

    share, message: how far it is, the share in [0, 1]. run: what came of it. failure: why nothing did, in one sentence.
    """

    share: float = 0.0
    message: str = "Starting"
    run: Run | None = None
    failure: str = ""
    cancel: threading.Event = field(default_factory=threading.Event)
    thread: threading.Thread | None = None

    @property
    def running(self) -> bool:
        """Whether its thread is at work."""
        return self.thread is not None and self.thread.is_alive()

    def start(self, ask: Callable[[Watch], Run], name: str, unexpected: str) -> None:
        """Ask in a thread of this name; ``unexpected`` is the failure where the log alone knows why."""

        def work() -> None:
            try:
                self.run = ask(Watch(self._report, self.cancel))
            except CrubricError as error:
                self.failure = str(error)
            except Exception:
                logger.exception(name)
                self.failure = unexpected

        self.thread = threading.Thread(target=carried(work), name=name, daemon=True)
        self.thread.start()

    def _report(self, share: float, message: str) -> None:
        self.share, self.message = share, message


class AskingJobs(Generic[Run]):
    """The latest run of each key, for all sessions of a process; one at a time of a key."""

    def __init__(self) -> None:
        self._jobs: dict[Hashable, AskingJob[Run]] = {}
        self._starting = threading.Lock()

    def get(self, key: Hashable) -> AskingJob[Run] | None:
        """The latest run of ``key``; None where there was none."""
        return self._jobs.get(key)

    def start(self, key: Hashable, ask: Callable[[Watch], Run], name: str, unexpected: str) -> AskingJob[Run]:
        """A run of ``key`` as ``AskingJob.start`` starts it; the one that is at work, where there is one."""
        with self._starting:
            before = self._jobs.get(key)
            if before is not None and before.running:
                return before
            job = self._jobs[key] = AskingJob()
            job.start(ask, name, unexpected)
            return job
