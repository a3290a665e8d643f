"""Shared results are made once, kept while they are used, and never kept half made."""

from __future__ import annotations

from threading import Barrier, Thread

import pytest

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
