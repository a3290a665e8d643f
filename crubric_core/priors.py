"""The priors of the item parameters."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from .declarations import Switch, setting, specs_of
from .errors import SettingsError

C_PRIOR = Switch(
    "Whether the guessing rate c (3PL) has a prior, which is centred on .2.",
    title="Prior of c",
    group="model",
)
"""Pages and options offer only a switch for ``c_beta``: the default pair, or None."""


def _is_pair(given: object) -> bool:
    """Whether the value is a pair of finite numbers of at least 1."""
    numbers = given if isinstance(given, tuple | list) and len(given) == 2 else ()
    return bool(numbers) and all(isinstance(n, int | float) and 1 <= n < math.inf for n in numbers)


@dataclass(frozen=True)
class Priors:
    """Priors of the item parameters; None in a field means flat (docs/method.md §6).

    Parameters
    ----------
    log_a_sd : float or None
        Sd of log a ~ N(0, sd²), a penalty on the log-a scale; > 0.
    b_sd : float or None
        Sd of each difficulty or threshold b ~ N(0, sd²), in units of θ; > 0.
    c_beta : (float, float) or None
        (p, q) of the guessing penalty (p - 1) log c + (q - 1) log(1 - c); both ≥ 1.

    Raises
    ------
    SettingsError
        A value is out of its range.

    """

    log_a_sd: float | None = setting(
        0.5,
        "Prior sd of log a (discrimination)",
        "Standard deviation of the normal prior of log a, a: discrimination; 0 on a page or as an option is None.",
        "model",
        low=0,
        open=True,
        none="no prior",
    )
    b_sd: float | None = setting(
        2.0,
        "Prior sd of b (difficulty)",
        "Standard deviation of the normal prior of b, a difficulty or threshold; 0 on a page or as an option is None.",
        "model",
        low=0,
        open=True,
        none="no prior",
    )
    c_beta: tuple[float, float] | None = (5.0, 17.0)

    def __post_init__(self) -> None:
        for name, spec in specs_of(Priors).items():
            spec.check(name, getattr(self, name))
        beta = self.c_beta
        if beta is not None and not _is_pair(beta):
            raise SettingsError(f"c_beta = {beta!r} is out of range: expected two numbers of at least 1.")

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Self:
        """Priors from a mapping of field names to values; the pair may be a list, as in JSON.

        Raises TypeError if a name is unknown, and SettingsError if a value is out of range.
        """
        pair = given.get("c_beta", cls.c_beta)
        return cls(**{**given, "c_beta": None if pair is None else tuple(pair)})

    @classmethod
    def flat(cls) -> Self:
        """No priors: plain marginal maximum likelihood."""
        return cls(log_a_sd=None, b_sd=None, c_beta=None)
