"""Split texts into lists and sets of words, so that word lists can be written compactly."""

from __future__ import annotations


def word_list(text: str) -> tuple[str, ...]:
    """The words of a text that are separated by white space, in their order (the best name first, if it matters)."""
    return tuple(text.split())


def word_set(text: str) -> frozenset[str]:
    """The words of a text that are separated by white space, as a set."""
    return frozenset(text.split())


def phrase_set(text: str) -> frozenset[str]:
    """The words and phrases of a text that are separated by commas, as a set."""
    return frozenset(phrase.strip() for phrase in text.split(","))
