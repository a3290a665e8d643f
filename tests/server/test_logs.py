"""The log says what went wrong on one line, and nobody outside can fill it."""

from __future__ import annotations

import io
import logging
from collections.abc import Callable

import pytest

from crubric_core.server.logs import BURST, EVERY, LONGEST, Brief, keep_brief


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


Log = Callable[[bool], tuple[logging.Logger, io.StringIO]]


@pytest.fixture
def log(clock: Clock) -> Log:
    """A logger of its own and what it writes."""

    def make(one_line: bool) -> tuple[logging.Logger, io.StringIO]:
        logger, written = logging.Logger("tried"), io.StringIO()
        logger.addHandler(logging.StreamHandler(written))
        logger.addFilter(Brief(one_line=one_line, clock=clock))
        return logger, written

    return make


def fail(logger: logging.Logger, text: str = "bad\nvalue") -> None:
    try:
        int(text)
    except ValueError:
        logger.exception("A message of %s failed", "a\nreader")


def test_an_error_is_one_line_with_its_place(log: Log) -> None:
    logger, written = log(True)
    fail(logger)
    (line,) = written.getvalue().splitlines()
    assert line.startswith(r"A message of a\nreader failed [ValueError: invalid literal for int() ")
    assert r"bad\nvalue" in line
    assert f"{__file__}:" in line


def test_where_tracebacks_are_wanted_they_are_kept(log: Log) -> None:
    logger, written = log(False)
    fail(logger)
    assert "Traceback (most recent call last)" in written.getvalue()


def test_a_flood_of_one_kind_becomes_a_few_lines_that_say_how_many(log: Log, clock: Clock) -> None:
    logger, written = log(True)
    for _ in range(1_000):
        fail(logger)
    assert len(written.getvalue().splitlines()) == BURST
    clock.now = EVERY
    fail(logger)
    assert written.getvalue().splitlines()[-1].endswith(f"({1_000 - BURST} more like it)")
    logger.warning("something else")
    assert written.getvalue().splitlines()[-1] == "something else"


@pytest.mark.parametrize("text", ["\x1b[2J", "a\r\nforged line", "x" * 10 * LONGEST, "\ud800", "%s %d"])
def test_what_a_client_says_steers_no_terminal_and_makes_no_line(log: Log, text: str) -> None:
    logger, written = log(True)
    logger.error(text)
    (line,) = written.getvalue().splitlines()
    assert line.isprintable()
    assert len(line) <= LONGEST + 2


def test_a_message_whose_arguments_do_not_fit_is_written_all_the_same(log: Log) -> None:
    logger, written = log(True)
    logger.error("%d of %d", "x")
    assert written.getvalue() == "%d of %d\n"


def test_loggers_that_there_are_and_those_to_come_are_brief() -> None:
    before, there = logging.getLoggerClass(), logging.getLogger("there already")
    roots = list(logging.root.filters)
    try:
        keep_brief(one_line=True)
        assert any(isinstance(f, Brief) for f in there.filters)
        assert any(isinstance(f, Brief) for f in logging.getLogger("still to come").filters)
    finally:
        logging.setLoggerClass(before)
        for logger in (logging.root, *logging.root.manager.loggerDict.values()):
            if isinstance(logger, logging.Logger):
                logger.filters = [f for f in logger.filters if not isinstance(f, Brief)]
        assert logging.root.filters == roots
