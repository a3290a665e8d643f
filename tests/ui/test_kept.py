"""Shared results are made once, kept while they are used, and never kept half made."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import nullcontext
from threading import Barrier, Event, Thread
from types import SimpleNamespace

import pytest

from crubric_core.analysis.stage import Stage
from crubric_core.ui import loaders
from crubric_core.ui.kept import Kept


def test_a_result_is_made_once_and_handed_out_itself() -> None:
    kept, made = Kept(2), []
    first = kept.once("a", lambda: made.append(1) or object())
    assert kept.once("a", lambda: made.append(2) or object()) is first
    assert made == [1]


def test_the_result_that_was_not_used_longest_goes_first() -> None:
    kept = Kept(2)
    for key in ("a", "b", "a", "c"):
        kept.once(key, object)
    made: list[str] = []
    for key in ("a", "b"):
        kept.once(key, lambda key=key: made.append(key))
    assert made == ["b"]


def test_two_threads_that_ask_at_once_get_one_object() -> None:
    kept, start, found = Kept(2), Barrier(2), list[object]()

    def ask() -> None:
        start.wait()
        found.append(kept.once("a", object))

    threads = [Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found[0] is found[1]


def test_a_result_that_failed_is_made_again() -> None:
    kept = Kept(2)
    with pytest.raises(ZeroDivisionError):
        kept.once("a", lambda: 1 // 0)
    assert kept.once("a", lambda: "made") == "made"


def test_a_stage_may_ask_for_another_while_it_is_made() -> None:
    kept = Kept(2)
    assert kept.once("a", lambda: kept.once("b", lambda: 1) + 1) == 2


@pytest.fixture
def making() -> Iterator[tuple[Kept, Event]]:
    """Results of which "a" is being made by another thread until the event is set."""
    kept, begun, end = Kept(2), Event(), Event()
    other = Thread(target=kept.once, args=("a", lambda: (begun.set(), end.wait(), "made")[-1]))
    other.start()
    begun.wait()
    yield kept, end
    end.set()
    other.join()


def test_who_waits_for_another_thread_is_called_until_the_result_is_there(making: tuple[Kept, Event]) -> None:
    kept, end = making
    assert kept.once("a", lambda: "made again", waiting=end.set) == "made"


def test_who_stops_waiting_leaves_the_result_to_others(making: tuple[Kept, Event]) -> None:
    kept, end = making
    with pytest.raises(ZeroDivisionError):
        kept.once("a", lambda: "made again", waiting=lambda: 1 // 0)
    end.set()
    assert kept.once("a", lambda: "made again") == "made"


def test_where_one_fails_while_another_waits_no_two_make_the_result_at_once() -> None:
    kept, failing, fail, second, end = Kept(2), Event(), Event(), Event(), Event()
    made: list[str] = []

    def failed() -> None:
        failing.set()
        fail.wait()
        raise ZeroDivisionError

    def waited() -> str:
        made.append("waited")
        second.set()
        end.wait()
        return "once"

    def fails() -> None:
        with pytest.raises(ZeroDivisionError):
            kept.once("a", failed)

    threads = [Thread(target=fails), Thread(target=kept.once, args=("a", waited))]
    threads[0].start()
    failing.wait()
    threads[1].start()
    while kept._making["a"].users < 2:
        time.sleep(0.001)
    fail.set()
    second.wait()
    assert kept.once("a", lambda: made.append("late"), waiting=end.set) == "once"
    for thread in threads:
        thread.join()
    assert made == ["waited"]
    assert not kept._making


def test_a_page_says_what_it_waits_for_and_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """The stage is being made for another visitor: this one sees its title, and each word is a point to stop at."""
    said, end, begun = list[str](), Event(), Event()
    stage = Stage("of this test", (), "Fitting slowly", heavy=False)
    monkeypatch.setattr(loaders.st, "spinner", lambda words: said.append(words) or nullcontext())
    store = loaders.Shared()
    other = Thread(
        target=loaders._kept()[1].once,
        args=(("of this test", "key"), lambda: (begun.set(), end.wait(), 1)[-1]),
    )
    other.start()
    begun.wait()

    def stopped() -> None:
        end.set()
        raise StopIteration

    monkeypatch.setattr(loaders.st, "empty", lambda: SimpleNamespace(empty=stopped))
    with pytest.raises(StopIteration):
        store.once(stage, ("key",), lambda: 2)
    other.join()
    assert said == ["Fitting slowly …"]
    assert store.once(stage, ("key",), lambda: 2) == 1
