"""How much a test tries in the tier that runs."""

from __future__ import annotations

import os
from typing import TypeVar

from hypothesis import settings


def examples(wanted: int) -> int:
    """``wanted`` examples in the thorough tier; a fifth elsewhere, at least 5."""
    return max(5, wanted * settings.default.max_examples // 100) if settings.default else wanted


Cases = TypeVar("Cases")


def at_most(usual: Cases, thorough: Cases) -> Cases:
    """Which or how many cases of a costly test: ``thorough`` in the thorough tier, ``usual`` elsewhere."""
    return thorough if os.environ.get("CRUBRIC_TESTS") == "thorough" else usual
