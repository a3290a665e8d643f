"""Independent tasks on several processors: here one after the other, in processes of this machine, or on a cluster.

joblib runs them on its own backends: loky for processes of this machine, Dask where a scheduler is named. Whoever asks
for tasks gives each its own random generator and takes the results in the order of the tasks, so where they run changes
no number. A process that is lost is survived: Dask gives its tasks to another worker, and here they are started again.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from .errors import SettingsError, WorkersError

Item = TypeVar("Item")
Result = TypeVar("Result")
ATTEMPTS = 3
"""How often a task may lose the process that it runs in, before that is taken for the task's own fault."""
CONNECT_SECONDS = 10
MOST_THREADS = 4  # each may hold a table of its own


def usable_threads() -> int:
    """One for each processor, few enough for their memory; one where those of linear algebra take the processors."""
    if os.environ.get("OPENBLAS_NUM_THREADS") != "1":
        return 1
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(usable, MOST_THREADS)


@dataclass(frozen=True)
class Workers:
    """Where tasks run. processes: of this machine, 1: none but this one. scheduler: address of Dask's, "" for none.

    threads: most that share the processors of this machine in one process (``run_threads``).
    """

    processes: int = 1
    scheduler: str = ""
    threads: int = field(default_factory=usable_threads, compare=False)

    def __post_init__(self) -> None:
        """Raise SettingsError for what cannot be meant."""
        if self.processes < 1:
            raise SettingsError(f"workers = {self.processes} is not possible: use 1 or more.")
        if self.scheduler and "://" not in self.scheduler:
            raise SettingsError(
                f"scheduler = {self.scheduler!r} is not an address: use one such as tcp://host:8786."
            )

    @property
    def here(self) -> bool:
        """Whether tasks run in this thread, one after the other."""
        return self.processes == 1 and not self.scheduler

    @classmethod
    def from_environment(cls) -> Workers:
        """CRUBRIC_WORKERS and CRUBRIC_SCHEDULER; tasks run here where neither is set."""
        given = os.environ.get("CRUBRIC_WORKERS") or "1"
        if not given.isdecimal():
            raise SettingsError(f"CRUBRIC_WORKERS = {given!r} is not a whole number.")
        return cls(int(given), os.environ.get("CRUBRIC_SCHEDULER", ""))


_chosen: ContextVar[Workers | None] = ContextVar("workers", default=None)


def current_workers() -> Workers:
    """Those of ``use_workers``, else those of the environment."""
    return _chosen.get() or Workers.from_environment()


@contextmanager
def use_workers(workers: Workers) -> Iterator[None]:
    """Let the tasks of this block run there."""
    token = _chosen.set(workers)
    try:
        yield
    finally:
        _chosen.reset(token)


def run_tasks(
    task: Callable[..., Result],
    items: Sequence[Item],
    shared: tuple[Any, ...] = (),
    before: Callable[[int], None] | None = None,
) -> Iterator[Result]:
    """``task(*shared, item)`` of every item, in the items' order.

    task: a function of a module, which changes nothing of what it is given. shared: what all tasks read, sent once to
    each worker. items: small. before: called with an item's position, from 0, before its result is awaited; what it
    raises stops everything. An error of a task is raised here, as soon as it is known; WorkersError where no worker can
    finish a task.
    """
    tell = before or (lambda position: None)
    workers = current_workers()
    if not workers.here and len(items) > 1:
        yield from _run_elsewhere(workers, _Job(task, shared), items, tell)
        return
    for position, item in enumerate(items):
        tell(position)
        yield task(*shared, item)


def run_threads(
    task: Callable[[Item], Result],
    items: Sequence[Item],
    before: Callable[[int], None] | None = None,
    *,
    gains: bool = True,
) -> list[Result]:
    """``task(item)`` of every item, in the items' order, by the threads of this process that workers may use.

    gains: whether threads gain, since the tasks are in NumPy, which lets go of Python, for milliseconds at a time;
    others run one after the other. before: as in ``run_tasks``; what it raises ends the work when the tasks under way
    have ended.
    """
    tell = before or (lambda position: None)
    count = min(current_workers().threads, len(items)) if gains else 1
    found = []
    with ThreadPoolExecutor(max(1, count)) as pool:
        waiting = [pool.submit(task, item) for item in items] if count > 1 else []
        try:
            for position, item in enumerate(items):
                tell(position)
                found.append(waiting[position].result() if waiting else task(item))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return found


@dataclass(frozen=True)
class _Job(Generic[Result]):
    """What all tasks have in common: one object, so that a cluster gets it once and not with each task."""

    task: Callable[..., Result]
    shared: tuple[Any, ...]


def _run_one(job: _Job[Result], item: tuple[Any]) -> Result:
    """One task in its worker, where tasks of its own run in turn."""
    with use_workers(Workers(threads=1)):
        return job.task(*job.shared, *item)


def _run_elsewhere(
    workers: Workers, job: _Job[Result], items: Sequence[Item], before: Callable[[int], None]
) -> Iterator[Result]:
    """As ``run_tasks``; what was under way in a process that ended starts again in a new one."""
    done = lost_at = attempts = 0
    with _backend(workers, job) as backend:
        while done < len(items):
            try:
                with closing(_results(backend, job, items, done, before)) as results:
                    for result in results:
                        yield result
                        done += 1
            except BrokenProcessPool as error:
                lost_at, attempts = done, attempts + 1 if lost_at == done else 1
                if attempts == ATTEMPTS:
                    raise WorkersError(
                        f"Worker processes ended {ATTEMPTS} times at the same task, often because memory ran out: "
                        "use fewer workers."
                    ) from error


def _results(
    backend: dict[str, Any],
    job: _Job[Result],
    items: Sequence[Item],
    done: int,
    before: Callable[[int], None],
) -> Generator[Result]:
    """The results from position ``done`` on. An item goes in a tuple, which Dask sends along with its task."""
    from joblib import Parallel, delayed, parallel_config

    with parallel_config(**backend):
        parallel = Parallel(return_as="generator")
    results = parallel(delayed(_run_one)(job, (item,)) for item in items[done:])
    try:
        for position in range(done, len(items)):
            before(position)
            yield next(results)
    finally:
        with warnings.catch_warnings():  # joblib warns of tasks that are stopped, which is what is wanted
            warnings.simplefilter("ignore", UserWarning)
            results.close()


@contextmanager
def _backend(workers: Workers, job: _Job[Any]) -> Iterator[dict[str, Any]]:
    """How joblib is configured. What all tasks read lies on every worker of a cluster, for one may be lost."""
    if not workers.scheduler:
        yield {"backend": "loky", "n_jobs": workers.processes}
        return
    with _client(workers.scheduler) as client:
        yield {"backend": "dask", "n_jobs": -1, "client": client, "scatter": [job]}


@contextmanager
def _client(address: str) -> Iterator[Any]:
    """A connection to Dask's scheduler; WorkersError where there is none, or a task ends every worker it gets."""
    try:
        from distributed import Client, KilledWorker
    except ImportError:
        raise WorkersError(
            "A scheduler is named, but Dask is not installed: pip install 'calibrated-rubric[dask]'."
        ) from None
    try:
        client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise WorkersError(f"There is no Dask scheduler at {address}: {error}") from error
    with client:
        try:
            yield client
        except KilledWorker as error:
            raise WorkersError(f"A task ended every worker that it was given: {error}") from error
