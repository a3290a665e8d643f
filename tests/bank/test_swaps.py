"""The best replacements of a rubric are those of a search through all of them."""

from __future__ import annotations

import numpy as np
import pytest

from crubric_core.bank.constraints import Constraints, Family
from crubric_core.bank.swaps import replacements
from crubric_core.bank.utility import Coverage
from tests import oracles
from tests.bank.conftest import realistic_bank


def test_replacements_are_the_best_of_all_and_change_the_utility_by_what_is_said() -> None:
    info, weights = realistic_bank(30, seed=4)
    bank, candidates = np.arange(8), np.arange(30) != 29
    found = replacements(Coverage(info, weights), bank, 3, candidates, most=5)
    rest = [j for j in bank if j != 3]
    now = oracles.coverage(info, weights, bank)
    change = {j: oracles.coverage(info, weights, [*rest, j]) - now for j in range(8, 29)}
    assert found.rubrics.tolist() == sorted(change, key=lambda j: -change[j])[:5]
    assert found.change == pytest.approx([change[j] for j in found.rubrics], abs=1e-12)


def test_a_replacement_keeps_the_bounds() -> None:
    info, weights = realistic_bank(30, seed=4)
    code = np.arange(30) % 3
    family = Family("domain", ("a", "b", "c"), code, np.zeros(3, int), np.array([3, 3, 2]))
    none = np.zeros(30, dtype=bool)
    asked = Constraints(tuple(map(str, range(30))), none, none, (family,))
    found = replacements(Coverage(info, weights), np.arange(8), 0, ~none, asked)
    assert set(code[found.rubrics].tolist()) == {0}
