"""Type names for the arrays that kernels take and return, and for the callbacks of long computations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

Progress = Callable[[float, str], None]  # (share done in [0, 1], what is done now)
Cancel = Callable[[], bool]  # whether the work should stop


def silent(share: float, what: str) -> None:
    """A progress callback that does nothing."""
