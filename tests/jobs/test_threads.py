"""A run beside the program says how far it is, what came of it, and why nothing did."""

from __future__ import annotations

from threading import Event

import pytest

from crubric_core.endpoints.watch import Watch
from crubric_core.errors import DatasetError
from crubric_core.jobs.threads import ThreadJob, ThreadJobs


def ended(job: ThreadJob[int]) -> ThreadJob[int]:
    assert job.wait(30)
    return job


def test_a_run_is_watched_while_it_lasts_and_keeps_what_came_of_it() -> None:
    job, told, go = ThreadJob[int](), Event(), Event()

    def ask(watch: Watch) -> int:
        watch.report(0.5, "half")
        told.set()
        assert go.wait(30)
        return 7

    assert not job.running
    job.start(ask, "asking", "It failed.")
    assert told.wait(30)
    assert (job.running, job.share, job.message, job.run) == (True, 0.5, "half", None)
    assert not job.wait(0.01)
    go.set()
    assert (ended(job).run, job.failure) == (7, "")


def test_stop_reaches_the_thread() -> None:
    job = ThreadJob[int]()
    job.start(lambda watch: int(watch.cancel is not None and watch.cancel.wait(30)), "asking", "It failed.")
    job.cancel.set()
    assert ended(job).run == 1


def test_an_error_of_ours_is_the_sentence_and_any_other_is_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def refuse(watch: Watch) -> int:
        raise DatasetError("There is nothing to ask.")

    def fail(watch: Watch) -> int:
        raise ZeroDivisionError

    job = ThreadJob[int]()
    job.start(refuse, "asking", "It failed.")
    assert (ended(job).run, job.failure, caplog.text) == (None, "There is nothing to ask.", "")
    job = ThreadJob[int]()
    job.start(fail, "asking", "It failed.")
    assert (ended(job).run, job.failure) == (None, "It failed.")
    assert "ZeroDivisionError" in caplog.text


def test_one_run_of_a_key_is_at_work_at_a_time() -> None:
    jobs, go = ThreadJobs[str](), Event()

    def ask(watch: Watch) -> str:
        assert go.wait(30)
        return "done"

    first, again, other = (jobs.start(key, ask, "asking", "It failed.") for key in ("a", "a", "b"))
    assert again is first is jobs.get("a")
    assert other is not first
    assert jobs.get("c") is None
    go.set()
    assert first.wait(30)
    assert jobs.start("a", ask, "asking", "It failed.") is not first
