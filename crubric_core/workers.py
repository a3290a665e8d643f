"""Run independent tasks: in this thread one after the other, in processes of this machine, or on a cluster.

joblib runs them: with loky in processes of this machine, with Dask if a scheduler is named. The caller gives each task
its own random generator and takes the results in the order of the tasks, so the numbers do not depend on where they
run. If a process is lost, Dask gives its tasks to another worker; on this machine they are started again.
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
"""How often processes may end at the same task until WorkersError is raised."""
CONNECT_SECONDS = 10
MOST_THREADS = 4  # limited because each thread may need its own large table


def usable_threads() -> int:
    """Number of threads to use: one for each processor, at most MOST_THREADS.

    1 if linear algebra is not limited to one thread, and so may use all processors itself.
    """
    if os.environ.get("OPENBLAS_NUM_THREADS") != "1":
        return 1
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(usable, MOST_THREADS)


@dataclass(frozen=True)
class Workers:
    """Where tasks run.

    processes: number of processes of this machine; 1: this process only. scheduler: address of a Dask scheduler; "":
    none. threads: most threads of one process (``run_threads``).
    """

    processes: int = 1
    scheduler: str = ""
    threads: int = field(default_factory=usable_threads, compare=False)

    def __post_init__(self) -> None:
        """Raise SettingsError if a value is not possible."""
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
        """The workers that CRUBRIC_WORKERS and CRUBRIC_SCHEDULER name; if neither is set, tasks run in this thread.

        Raises SettingsError if a value is not possible.
        """
        given = os.environ.get("CRUBRIC_WORKERS") or "1"
        if not given.isdecimal():
            raise SettingsError(f"CRUBRIC_WORKERS = {given!r} is not a whole number.")
        return cls(int(given), os.environ.get("CRUBRIC_SCHEDULER", ""))


_chosen: ContextVar[Workers | None] = ContextVar("workers", default=None)


def current_workers() -> Workers:
    """The workers set by ``use_workers``, else those of the environment."""
    return _chosen.get() or Workers.from_environment()


@contextmanager
def use_workers(workers: Workers) -> Iterator[None]:
    """Context manager: tasks in its block run on ``workers``."""
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
    """Yield ``task(*shared, item)`` for each item, in the order of the items.

    task: a module-level function that does not change its arguments. shared: arguments that all tasks read, sent once
    to each worker. items: small objects. before: called with an item's position, from 0, before its result is awaited;
    an exception that it raises stops all tasks. An error of a task is raised here as soon as it is known. Raises
    WorkersError if no worker can finish a task.
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
    """``task(item)`` for each item, in the order of the items, in threads of this process (``Workers.threads``).

    gains: whether threads save time: the tasks spend milliseconds at a time in NumPy, which releases the GIL. If False,
    the tasks run one after the other. before: as in ``run_tasks``; if it raises, the running tasks end first.
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
    """What all tasks share, in one object, so that a cluster receives it once and not with each task."""

    task: Callable[..., Result]
    shared: tuple[Any, ...]


def _run_one(job: _Job[Result], item: tuple[Any]) -> Result:
    """Run one task in a worker. Tasks that it starts itself run there one after the other."""
    with use_workers(Workers(threads=1)):
        return job.task(*job.shared, *item)


def _run_elsewhere(
    workers: Workers, job: _Job[Result], items: Sequence[Item], before: Callable[[int], None]
) -> Iterator[Result]:
    """As ``run_tasks``, on other processes or a cluster; tasks in a process that ended are started again."""
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
    """Yield the results from position ``done`` on. Items go in tuples, which Dask sends along with the task."""
    from joblib import Parallel, delayed, parallel_config

    with parallel_config(**backend):
        parallel = Parallel(return_as="generator")
    results = parallel(delayed(_run_one)(job, (item,)) for item in items[done:])
    try:
        for position in range(done, len(items)):
            before(position)
            yield next(results)
    finally:
        with warnings.catch_warnings():  # joblib warns about stopped tasks, but they are stopped on purpose
            warnings.simplefilter("ignore", UserWarning)
            results.close()


@contextmanager
def _backend(workers: Workers, job: _Job[Any]) -> Iterator[dict[str, Any]]:
    """Context manager: joblib's configuration. On a cluster the job is sent to every worker, since one may be lost."""
    if not workers.scheduler:
        yield {"backend": "loky", "n_jobs": workers.processes}
        return
    with _client(workers.scheduler) as client:
        yield {"backend": "dask", "n_jobs": -1, "client": client, "scatter": [job]}


@contextmanager
def _client(address: str) -> Iterator[Any]:
    """Context manager: a connection to Dask's scheduler.

    Raises WorkersError if there is no scheduler or no Dask, or if a task ended every worker that it was given.
    """
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
