"""Lists of words, each written as one text."""

from __future__ import annotations


def word_list(text: str) -> tuple[str, ...]:
    """The words between white space, in their order: best first, where that matters."""
    return tuple(text.split())


def word_set(text: str) -> frozenset[str]:
    """The words between white space, where their order does not matter."""
    return frozenset(text.split())


def phrase_set(text: str) -> frozenset[str]:
    """The words and phrases between commas."""
    return frozenset(phrase.strip() for phrase in text.split(","))
