"""Run experiments in the background: one at a time, each in a separate process.

The result is stored when it is ready, even if the user who started the experiment has left.
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
    """The key of a result: the name of the experiment, the labels' fingerprint, and all settings with the seed."""
    return name, fingerprint, result_key(settings_record(settings))


@dataclass
class ExperimentJob:
    """An experiment that waits or runs, or that ended without a stored result.

    share: progress in [0, 1]. what: current step. error: why it ended without a stored result, or "". cancelled:
    whether it was stopped. process: its process, once it has started. result: its result if that could not be stored;
    it lasts as long as this process.
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
    """A queue of experiments. keep: function that stores each result; it is called in the thread of the queue."""

    def __init__(self, keep: Callable[[ExperimentResult], None]) -> None:
        self._keep, self._jobs, self._lock = keep, dict[Key, ExperimentJob](), Lock()
        self.changes = 0
        """How often an experiment was queued, ended or was stopped, so that a page can detect that it is outdated."""
        self._queue = ThreadPoolExecutor(max_workers=1, thread_name_prefix="experiments")

    def start(self, name: str, snapshot: Snapshot, settings: Settings) -> ExperimentJob:
        """Queue an experiment and return its job; if the same experiment waits or runs already, return that job.

        Raises AccessError unless the current user is an editor.
        """
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
        """The job with this key, if it waits, runs, or ended without a stored result; else None."""
        with self._lock:
            return self._jobs.get(key)

    def active(self) -> list[ExperimentJob]:
        """All jobs that run or wait, in the order in which they were first queued."""
        with self._lock:
            return [job for job in self._jobs.values() if job.active]

    def cancel(self, key: Key) -> None:
        """Stop the job with this key at once, without a result. Raises AccessError unless the user is an editor."""
        self._cancel([key])

    def cancel_all(self) -> None:
        """Stop all jobs that run or wait, as ``cancel`` does."""
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
        """Stop all jobs, and wait until they have ended."""
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
        """Store the result, and return whether that succeeded; if not, the job holds the result and the error."""
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
        """Start the process of the job; None if the job was cancelled while it waited."""
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
    """Read the messages of the process into the job until it ends; its result, or None if it ended without one."""
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
