"""How much a test tries in the tier that runs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import product
from typing import Any, TypeVar

from hypothesis import settings


def examples(wanted: int) -> int:
    """``wanted`` examples in the thorough tier; a fifth elsewhere, at least 5."""
    return max(5, wanted * settings.default.max_examples // 100) if settings.default else wanted


Cases = TypeVar("Cases")


def crossed(*choices: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Every combination in the thorough tier; elsewhere so few that each choice is in one."""
    few = [tuple(own[n % len(own)] for own in choices) for n in range(max(map(len, choices)))]
    return at_most(few, list(product(*choices)))


def at_most(usual: Cases, thorough: Cases) -> Cases:
    """Which or how many cases of a costly test: ``thorough`` in the thorough tier, ``usual`` elsewhere."""
    return thorough if os.environ.get("CRUBRIC_TESTS") == "thorough" else usual
