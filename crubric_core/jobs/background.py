"""A queue of experiments that run one at a time, each in its own process, and whose results are stored.

A result is stored even if the user who asked for it has left.
"""

from __future__ import annotations

import json
import logging
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock
from typing import IO

from ..access import carried, require_editor
from ..environment import ONE_THREAD, PACKAGE
from ..errors import CrubricError
from ..experiments.results import ExperimentResult, settings_record
from ..labels.store.results import result_key
from ..labels.store.snapshot import Snapshot
from ..settings import Settings

logger = logging.getLogger(__name__)
UNEXPECTED = "The experiment ended unexpectedly; the log of the process that serves this page says why."
Key = tuple[str, str, str]


def job_key(name: str, fingerprint: str, settings: Settings) -> Key:
    """The key of an experiment's result: its name, the fingerprint of the labels, and a key of all settings."""
    return name, fingerprint, result_key(settings_record(settings))


@dataclass
class ExperimentJob:
    """One experiment that waits, runs, or ended without a stored result.

    share: share that is done, in [0, 1]. what: the present step. error: why it ended without a stored result, or "".
    result: the result if it could not be stored, which is lost when this process ends; else None.
    """

    name: str
    share: float = 0.0
    what: str = "Waiting for the one before it"
    error: str = ""
    cancelled: bool = False
    process: subprocess.Popen[bytes] | None = None
    result: ExperimentResult | None = None

    @property
    def active(self) -> bool:
        """Whether it waits or runs."""
        return not (self.error or self.cancelled)


class Background:
    """A queue of experiments. keep: called with each result, in the queue's thread, to store it."""

    def __init__(self, keep: Callable[[ExperimentResult], None]) -> None:
        self._keep, self._jobs, self._lock = keep, dict[Key, ExperimentJob](), Lock()
        self.changes = 0
        """How often an experiment was queued, ended or stopped; pages compare it to see if they are stale."""
        self._queue = ThreadPoolExecutor(max_workers=1, thread_name_prefix="experiments")

    def start(self, name: str, snapshot: Snapshot, settings: Settings) -> ExperimentJob:
        """Queue an experiment and return its job; if it already waits or runs, return that job."""
        require_editor("run experiments")
        key = job_key(name, snapshot.fingerprint, settings)
        with self._lock:
            job = self._jobs.get(key)
            if job is None or not job.active:
                job = self._jobs[key] = ExperimentJob(name)
                self.changes += 1
                self._queue.submit(carried(self._run), key, job, pickle.dumps((name, snapshot, settings)))
        return job

    def job(self, key: Key) -> ExperimentJob | None:
        """The job of an experiment that waits, runs, or ended without a stored result; else None."""
        with self._lock:
            return self._jobs.get(key)

    def active(self) -> list[ExperimentJob]:
        """All jobs that run or wait, in the order in which they were queued."""
        with self._lock:
            return [job for job in self._jobs.values() if job.active]

    def cancel(self, key: Key) -> None:
        """Stop the experiment at once and forget its job; no result is stored."""
        self._cancel([key])

    def cancel_all(self) -> None:
        """Cancel all experiments that run or wait."""
        with self._lock:
            under_way = [key for key, job in self._jobs.items() if job.active]
        self._cancel(under_way)

    def _cancel(self, keys: Sequence[Key]) -> None:
        require_editor("stop experiments")
        with self._lock:
            stopped = [job for key in keys if (job := self._jobs.pop(key, None)) is not None]
            for job in stopped:
                _stop(job)
            self.changes += len(stopped)

    def close(self) -> None:
        """Stop all experiments and wait until the queue has ended."""
        with self._lock:
            for job in self._jobs.values():
                _stop(job)
        self._queue.shutdown(cancel_futures=True)

    def _run(self, key: Key, job: ExperimentJob, task: bytes) -> None:
        try:
            result = self._watch(job, task)
            if result is not None and not job.cancelled and self._kept(job, result):
                with self._lock:
                    if self._jobs.get(key) is job:
                        del self._jobs[key]
        except Exception:
            logger.exception("The experiment %s failed", job.name)
            job.error = UNEXPECTED
        with self._lock:
            self.changes += 1

    def _kept(self, job: ExperimentJob, result: ExperimentResult) -> bool:
        """Store the result, and return whether that worked; if not, put the result and the error into the job."""
        try:
            self._keep(result)
        except CrubricError as error:
            logger.error("The result of the experiment %s could not be stored: %s", job.name, error)  # noqa: TRY400
            job.result, job.error = result, str(error)
            return False
        return True

    def _watch(self, job: ExperimentJob, task: bytes) -> ExperimentResult | None:
        with tempfile.TemporaryFile() as written, tempfile.TemporaryFile() as said:
            written.write(task)
            written.seek(0)
            process = self._spawn(job, written, said)
            if process is None:
                return None
            with process:
                result = _listen(job, process)
            if result is None and job.active:
                said.seek(0)
                logger.error(
                    "The experiment %s ended with\n%s", job.name, said.read().decode(errors="replace")
                )
                job.error = UNEXPECTED
            return result

    def _spawn(
        self, job: ExperimentJob, task: IO[bytes], errors: IO[bytes]
    ) -> subprocess.Popen[bytes] | None:
        """Start the process; None if the job was cancelled while it waited."""
        with self._lock:
            if job.cancelled:
                return None
            job.what = "Starting"
            job.process = subprocess.Popen(
                [sys.executable, "-m", "crubric_core.jobs.worker"],
                cwd=PACKAGE.parent,
                env=ONE_THREAD | os.environ,
                stdin=task,
                stdout=subprocess.PIPE,
                stderr=errors,
            )
            return job.process


def _listen(job: ExperimentJob, process: subprocess.Popen[bytes]) -> ExperimentResult | None:
    """Follow the messages of the process, and return its result; None if it ends without one."""
    for line in process.stdout or ():
        message = json.loads(line)
        if "result" in message:
            return ExperimentResult.from_json_dict(message["result"])
        if "error" in message:
            job.error = message["error"]
        else:
            job.share, job.what = message["share"], message["what"]
    return None


def _stop(job: ExperimentJob) -> None:
    job.cancelled = True
    if job.process is not None:
        job.process.kill()
