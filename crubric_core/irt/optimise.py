"""Preconditioned limited-memory BFGS, the one optimiser of all models.

Each model gives value, gradient, and a division by its expected complete-data information, item by item. This makes the
first step a Fisher-scoring step. The quasi-Newton memory then has to learn only what couples the items: the shift and
scale of the ability axis, and the systems' own posteriors.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np

from ..types import FloatArray

MEMORY = 12
SUFFICIENT = 1e-4  # Armijo's constant
NOISE = 1e-12  # rounding error as a share of the value: a fall by less does not reject a step
VANISHED = 1e-10  # norm of a gradient that is rounding, relative to the value: the start may be the optimum
LONGEST_STEP = 2.0  # of any one parameter in one iteration, in logits


class Evaluation(Protocol):
    """An objective at a point."""

    @property
    def value(self) -> float:
        """Value of the objective, which is maximised."""

    @property
    def gradient(self) -> FloatArray:
        """(n,) gradient of the objective."""

    def precondition(self, vector: FloatArray) -> FloatArray:
        """(n,) ``vector`` divided by a positive definite approximation of minus the Hessian."""


E = TypeVar("E", bound=Evaluation)


@dataclass(frozen=True)
class Optimum(Generic[E]):
    """Where the search ended. converged: whether the gradient vanished there."""

    point: FloatArray
    evaluation: E
    evaluations: int
    converged: bool


def maximise(
    objective: Callable[[FloatArray], E],
    start: FloatArray,
    tolerance: float,
    relative_gradient: float,
    max_evaluations: int,
    allowed: Callable[[FloatArray], bool] = lambda point: True,
) -> Optimum[E]:
    """Climb from ``start`` until both the predicted gain and the gradient are small enough.

    tolerance: bound on half the squared Newton decrement, as a share of the value.
    relative_gradient: bound on the Euclidean norm of the gradient relative to that at ``start``, or rounding error if
    larger.
    allowed: whether the objective may be evaluated at a point; a search that would leave this region ends, not
    converged.
    """
    point, here = start, objective(start)
    count = 1
    goal = max(relative_gradient * float(np.linalg.norm(here.gradient)), VANISHED * max(1.0, abs(here.value)))
    memory: deque[tuple[FloatArray, FloatArray, float]] = deque(maxlen=MEMORY)
    while count < max_evaluations:
        direction = _two_loop(here, memory)
        slope = float(here.gradient @ direction)
        if slope <= 0 and memory:
            memory.clear()
            continue
        if (
            slope / 2 <= tolerance * max(1.0, abs(here.value))
            and float(np.linalg.norm(here.gradient)) <= goal
        ):
            return Optimum(point, here, count, converged=True)
        there, step, tried = _line_search(
            objective, point, here, direction, slope, max_evaluations - count, allowed
        )
        count += tried
        if there is None:
            if memory:
                memory.clear()
                continue
            break
        moved, fallen = step * direction, here.gradient - there.gradient
        curvature = float(moved @ fallen)
        if curvature > 1e-12 * float(np.linalg.norm(moved) * np.linalg.norm(fallen)):
            memory.append((moved, fallen, curvature))
        point, here = point + moved, there
    return Optimum(point, here, count, converged=False)


def _line_search(
    objective: Callable[[FloatArray], E],
    point: FloatArray,
    here: E,
    direction: FloatArray,
    slope: float,
    budget: int,
    allowed: Callable[[FloatArray], bool],
) -> tuple[E | None, float, int]:
    """Backtrack by quadratic interpolation until the value rises enough; None and step 0 if it never does.

    Returns the new evaluation, the step and the number of steps tried.
    """
    step = min(1.0, LONGEST_STEP / float(np.abs(direction).max()))
    noise = NOISE * abs(here.value)
    for tried in range(1, min(budget, 30) + 1):
        if not allowed(point + step * direction):
            step *= 0.5
            continue
        there = objective(point + step * direction)
        if there.value >= here.value + SUFFICIENT * step * slope - noise:
            return there, step, tried
        shortfall = here.value + step * slope - there.value
        step *= float(np.clip(step * slope / (2 * shortfall), 0.1, 0.5)) if np.isfinite(shortfall) else 0.1
    return None, 0.0, tried


def _two_loop(here: Evaluation, memory: deque[tuple[FloatArray, FloatArray, float]]) -> FloatArray:
    """Search direction (Nocedal & Wright, algorithm 7.4); the preconditioner is the initial inverse Hessian."""
    q = here.gradient.copy()
    shares = []
    for moved, fallen, curvature in reversed(memory):
        share = float(moved @ q) / curvature
        q -= share * fallen
        shares.append(share)
    r = here.precondition(q)
    for (moved, fallen, curvature), share in zip(memory, reversed(shares), strict=True):
        r += (share - float(fallen @ r) / curvature) * moved
    return r
