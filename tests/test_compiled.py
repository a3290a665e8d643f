from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from crubric_core.bank.pairs_kernel import pair_gains
from crubric_core.compiled import compiled


@compiled
def _doubled(x: float) -> float:
    return 2 * x


@compiled
def _doubled_twice(x: float) -> float:
    return _doubled(_doubled(x))


gains = compiled(pair_gains)


@compiled
def _by_another_file(x: np.ndarray) -> np.ndarray:
    return gains(x, x, x, x)


def test_a_compiled_function_calls_others_of_its_file() -> None:
    assert _doubled_twice(1.5) == 6


def test_one_that_calls_another_files_is_refused() -> None:
    """Numba would not see that what it keeps is out of date when the other file changes."""
    with pytest.raises(ImportError, match="gains is called by _by_another_file: they must stand in one file"):
        _by_another_file(np.ones(1))


def test_a_reader_of_shared_views_loads_no_compiler() -> None:
    script = "import sys, crubric_core.ui.shared_view.link; print('numba' in sys.modules)"
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert ended.stdout.strip() == "False", ended.stderr
