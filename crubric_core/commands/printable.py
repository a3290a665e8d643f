"""Text from files is shown on a terminal, which obeys none of it."""

from __future__ import annotations

from typing import Any, TextIO

_STEERING = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\t\n"}


def printable(text: str) -> str:
    """The text with what steers a terminal (colours, its title, the cursor) written out, as a Python literal has it."""
    return text.translate(_STEERING)


class Printable:
    """A text stream that is written to as ``printable`` has it."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Write ``text``; return its length."""
        self.stream.write(printable(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)
