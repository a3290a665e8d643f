"""Work in a thread of its own, which goes on when its page is left: questions to judges, a reading of files."""

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
    """One run; its thread writes, pages read.

    share, message: how far it is, the share in [0, 1]. run: what came of it. failure: why nothing did, in one sentence.
    """

    share: float = 0.0
    message: str = "Starting"
    run: Outcome | None = None
    failure: str = ""
    cancel: threading.Event = field(default_factory=threading.Event)
    thread: threading.Thread | None = None

    @property
    def running(self) -> bool:
        """Whether its thread is at work."""
        return self.thread is not None and self.thread.is_alive()

    def start(self, work: Callable[[Watch], Outcome], name: str, unexpected: str) -> None:
        """Work in a thread of this name; ``unexpected`` is the failure where the log alone knows why."""

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
        """Whether its thread has ended, after so many seconds at most."""
        if self.thread is not None:
            self.thread.join(seconds)
        return not self.running

    def _report(self, share: float, message: str) -> None:
        self.share, self.message = share, message


class ThreadJobs(Generic[Outcome]):
    """The latest run of each key, for all sessions of a process; one at a time of a key."""

    def __init__(self) -> None:
        self._jobs: dict[Hashable, ThreadJob[Outcome]] = {}
        self._starting = threading.Lock()

    def get(self, key: Hashable) -> ThreadJob[Outcome] | None:
        """The latest run of ``key``; None where there was none."""
        return self._jobs.get(key)

    def start(
        self, key: Hashable, work: Callable[[Watch], Outcome], name: str, unexpected: str
    ) -> ThreadJob[Outcome]:
        """A run of ``key`` as ``ThreadJob.start`` starts it; the one that is at work, where there is one."""
        with self._starting:
            before = self._jobs.get(key)
            if before is not None and before.running:
                return before
            job = self._jobs[key] = ThreadJob()
            job.start(work, name, unexpected)
            return job
