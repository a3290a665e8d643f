"""Check arguments of public functions: a clear message instead of an error from inside a computation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .errors import CrubricError
from .text import with_article

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .types import FloatArray


def as_numbers(name: str, values: ArrayLike, error: type[CrubricError]) -> FloatArray:
    """``values`` as an array of floats, None as NaN; raises ``error`` if they are not real numbers.

    name: of the argument, for the message.
    """
    if values is not None and not np.iscomplexobj(values):
        try:
            return np.asarray(values, dtype=float)
        except (TypeError, ValueError):
            pass
    raise error(f"{name} must be numbers, with NaN where one is unknown: convert words and texts first.")


def require_count(name: str, value: object, least: int, error: type[CrubricError]) -> None:
    """Raise ``error`` unless ``value`` is a whole number of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise error(f"{name} = {value!r} is out of range: expected a whole number of at least {least}.")


def require_a(name: str, value: object, kind: type, error: type[CrubricError]) -> None:
    """Raise ``error`` unless ``value`` is an instance of ``kind``."""
    if not isinstance(value, kind):
        raise error(
            f"{name} must be {with_article(kind.__name__)}, not {type(value).__name__}: see help({kind.__name__})."
        )
