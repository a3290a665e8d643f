"""How much a test tries in the tier that runs."""

from __future__ import annotations

from hypothesis import settings


def examples(wanted: int) -> int:
    """``wanted`` examples in the thorough tier; half where every test runs, a fifth in the fast tier, at least 5."""
    return max(5, wanted * settings.default.max_examples // 100) if settings.default else wanted
