"""Numbers of examples and cases of a test in the present tier (CRUBRIC_TESTS)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import product
from typing import Any, TypeVar

from hypothesis import settings


def examples(wanted: int) -> int:
    """Number of examples: ``wanted`` in the thorough tier, elsewhere a fifth of it, but at least 5."""
    return max(5, wanted * settings.default.max_examples // 100) if settings.default else wanted


Cases = TypeVar("Cases")


def crossed(*choices: Sequence[Any]) -> list[tuple[Any, ...]]:
    """All combinations of the choices in the thorough tier; elsewhere only enough to use each choice."""
    few = [tuple(own[n % len(own)] for own in choices) for n in range(max(map(len, choices)))]
    return at_most(few, list(product(*choices)))


def at_most(usual: Cases, thorough: Cases) -> Cases:
    """Cases, or their number, of a costly test: ``thorough`` in the thorough tier, ``usual`` elsewhere."""
    return thorough if os.environ.get("CRUBRIC_TESTS") == "thorough" else usual
