"""Escape control characters in text from files, so that it cannot control the terminal."""

from __future__ import annotations

from typing import Any, TextIO

_STEERING = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\t\n"}


def printable(text: str) -> str:
    """The text with control characters, except tabs and newlines, as hexadecimal escapes of a Python literal."""
    return text.translate(_STEERING)


class Printable:
    """A text stream that writes text after ``printable``."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Write ``text``; return its length."""
        self.stream.write(printable(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)
