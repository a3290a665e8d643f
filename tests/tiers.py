"""How much a test tries in the tier that runs."""

from __future__ import annotations

from hypothesis import settings


def examples(wanted: int) -> int:
    """``wanted`` examples where every test runs, a fifth of them (five at least) in the fast tier."""
    return max(5, wanted * settings.default.max_examples // 100) if settings.default else wanted
