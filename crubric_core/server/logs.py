"""Limit what a server writes to its log, so that no client can flood it or forge its lines."""

from __future__ import annotations

import atexit
import logging
import os
import time
import traceback
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Any

BURST, EVERY = 10, 10.0  # lines of one kind at once, and seconds to each further one
KINDS = 1_000  # kinds of line that are counted
LONGEST = 1_000  # characters of a line


class Brief(logging.Filter):
    """Limits the rate of records from one place in the code: BURST at once, then one per EVERY seconds.

    one_line: an exception is summarised on the line of its record; otherwise its traceback follows.
    """

    def __init__(self, *, one_line: bool, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._one_line, self._clock, self._lock = one_line, clock, Lock()
        self._seen: OrderedDict[tuple[str, str, int], tuple[float, float, int]] = OrderedDict()

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether to write the record. Its text becomes one line, with the number of such records left out before."""
        if getattr(record, "brief", False):  # the filter of another logger has processed it
            return True
        left_out = self._left_out((record.name, record.pathname, record.lineno))
        if left_out is None:
            return False
        more = f" ({left_out:,} more like it)" if left_out else ""
        record.msg, record.args = _escaped(_message(record) + self._error(record) + more), None
        record.brief = True
        return True

    def _error(self, record: logging.LogRecord) -> str:
        if not self._one_line or not record.exc_info or record.exc_info[1] is None:
            return ""
        error = record.exc_info[1]
        record.exc_info = record.exc_text = record.stack_info = None
        last = traceback.extract_tb(error.__traceback__)[-1:]
        place = "".join(f" at {frame.filename}:{frame.lineno}" for frame in last)
        return f" [{type(error).__name__}: {_text(error)}{place}]"

    def _left_out(self, kind: tuple[str, str, int]) -> int | None:
        """How many records of the kind were left out since the last one written; None if this one is left out too."""
        now = self._clock()
        with self._lock:
            used, when, left_out = self._seen.pop(kind, (0.0, now, 0))
            used = max(0.0, used - (now - when) / EVERY)
            full = used + 1 > BURST
            self._seen[kind] = (used if full else used + 1, now, left_out + 1 if full else 0)
            if len(self._seen) > KINDS:
                self._seen.popitem(last=False)
        return None if full else left_out


def end_in_silence() -> None:
    """Discard what is written to standard error while the interpreter ends.

    DuckDB's binding then lists, in about fifty lines, the objects that Streamlit or pytest still holds. That is of no
    use to a person who pressed Ctrl-C.
    """
    atexit.register(lambda: os.dup2(os.open(os.devnull, os.O_WRONLY), 2))


def keep_brief(*, one_line: bool) -> None:
    """Add one ``Brief`` filter to every logger of this process, and to those that are created later."""
    brief = Brief(one_line=one_line)

    class Logger(logging.getLoggerClass()):  # type: ignore[misc]
        """A logger that has the filter from the start."""

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self.addFilter(brief)

    logging.setLoggerClass(Logger)
    for logger in [logging.root, *logging.root.manager.loggerDict.values()]:
        if isinstance(logger, logging.Logger):
            logger.addFilter(brief)


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except Exception:  # noqa: BLE001 - a message whose arguments do not fit is no reason to fail
        return str(record.msg)


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - an error may fail to say what it is
        return ""


def _escaped(text: str) -> str:
    """The text on one line, with unprintable characters escaped, cut to LONGEST characters."""
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text.strip())
    return shown if len(shown) <= LONGEST else f"{shown[:LONGEST]} …"
