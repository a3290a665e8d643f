"""Escape control characters in printed text, so that text from files cannot control the terminal."""

from __future__ import annotations

from typing import Any, TextIO

_STEERING = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\t\n"}


def printable(text: str) -> str:
    """The text with its control characters, except tab and newline, as hexadecimal escapes of a Python literal."""
    return text.translate(_STEERING)


class Printable:
    """A text stream that writes ``printable(text)`` to ``stream``; other attributes are those of ``stream``."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Write ``text`` with its control characters escaped; return the length of ``text``."""
        self.stream.write(printable(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)
