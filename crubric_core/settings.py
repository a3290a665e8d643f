"""The one set of knobs that an analysis has: frozen, validated, and part of every cache key and report."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, Self, get_args

from .errors import SettingsError
from .rules import ScoringRules

Model = Literal["1PL", "2PL", "3PL", "GRM"]
Quadrature = Literal["adaptive", "grid"]
Tie = Literal["unknown", "fail", "pass"]
TierRule = Literal["adjacent", "leader"]
Strategy = Literal["greedy", "plain", "hard_random", "random"]
Response = Literal["binary", "ordered"]
Consensus = Literal["majority", "dawid_skene"]
Bootstrap = Literal["rescaled", "plain"]
CHOICES: dict[str, tuple[str, ...]] = {
    "model": get_args(Model),
    "quadrature": get_args(Quadrature),
    "strategy": get_args(Strategy),
    "tie": get_args(Tie),
    "consensus": get_args(Consensus),
    "bootstrap": get_args(Bootstrap),
    "tier_rule": get_args(TierRule),
}


def _require(condition: bool, name: str, value: object, expected: str) -> None:
    if not condition:
        raise SettingsError(f"{name} = {value!r} is out of range: expected {expected}.")


@dataclass(frozen=True)
class Priors:
    """Priors of the item parameters (METHOD §6). ``None`` in a field means flat.

    log_a_sd: sd of log a ~ N(0, sd²), a penalty on the log-a scale; > 0.
    b_sd: sd of each difficulty or threshold b ~ N(0, sd²); > 0.
    c_beta: (p, q) of the guessing penalty (p - 1) log c + (q - 1) log(1 - c); both ≥ 1.
    """

    log_a_sd: float | None = 0.5
    b_sd: float | None = 2.0
    c_beta: tuple[float, float] | None = (5.0, 17.0)

    def __post_init__(self) -> None:
        for name in ("log_a_sd", "b_sd"):
            value = getattr(self, name)
            _require(
                value is None or (math.isfinite(value) and value > 0),
                name,
                value,
                "a number above 0, or None",
            )
        beta = self.c_beta
        _require(
            beta is None or (len(beta) == 2 and min(beta) >= 1), "c_beta", beta, "two numbers of at least 1"
        )

    @classmethod
    def flat(cls) -> Self:
        """No priors: plain marginal maximum likelihood."""
        return cls(log_a_sd=None, b_sd=None, c_beta=None)


@dataclass(frozen=True)
class Settings:
    """Everything that Algorithm 1 can be told; same dataset, same Settings, same bytes."""

    tau_c: float = field(
        default=0.8, metadata={"help": "Least posterior mean of measurability that a rubric must reach."}
    )
    budget: int = field(default=200, metadata={"help": "Most rubrics in the bank (B)."})
    model: Model = field(default="2PL", metadata={"help": "Item response model."})
    quadrature: Quadrature = field(
        default="adaptive", metadata={"help": "adaptive: exact; grid: the paper's 41 nodes."}
    )
    priors: Priors = field(default_factory=Priors)
    strategy: Strategy = field(default="greedy", metadata={"help": "How the bank is chosen."})
    tie: Tie = field(default="unknown", metadata={"help": "What an even split of binary labels means."})
    consensus: Consensus = field(
        default="majority",
        metadata={"help": "majority (or median) of the labels; dawid_skene: posterior label, gold clamped."},
    )
    agreement_tolerance: int = field(
        default=0, metadata={"help": "GRM: labels this many levels apart still agree."}
    )
    alpha: float = field(default=1.0, metadata={"help": "Beta prior: pseudo-count of agreements."})
    beta: float = field(default=1.0, metadata={"help": "Beta prior: pseudo-count of disagreements."})
    tau_t: float = field(
        default=0.5, metadata={"help": "Least task-type probability for type-specific scoring."}
    )
    rules: ScoringRules | None = None
    """How the types are scored; None: by the dataset's own rules, which are the paper's until somebody edits them."""
    clip: bool = field(default=True, metadata={"help": "Clip query scores to [0, 1]."})
    bootstrap: Bootstrap = field(
        default="rescaled",
        metadata={"help": "rescaled: honest for queries with few rubrics; plain: the paper's."},
    )
    replicates: int = field(default=300, metadata={"help": "Bootstrap replicates (R)."})
    confidence: float = field(default=0.95, metadata={"help": "Level of all intervals."})
    tier_rule: TierRule = field(
        default="adjacent", metadata={"help": "adjacent: next system; leader: the tier's first."}
    )
    holm: bool = field(default=False, metadata={"help": "Holm correction of the tier tests."})
    seed: int = field(default=0, metadata={"help": "Seed of everything random."})

    def __post_init__(self) -> None:
        _require(0 <= self.tau_c <= 1, "tau_c", self.tau_c, "a number from 0 to 1")
        _require(
            _is_int(self.budget) and self.budget >= 1, "budget", self.budget, "a whole number of at least 1"
        )
        for name, choices in CHOICES.items():
            value = getattr(self, name)
            _require(value in choices, name, value, f"one of {', '.join(choices)}")
        tolerance = self.agreement_tolerance
        _require(
            _is_int(tolerance) and tolerance >= 0,
            "agreement_tolerance",
            tolerance,
            "a whole number of at least 0",
        )
        for name in ("alpha", "beta"):
            value = getattr(self, name)
            _require(math.isfinite(value) and value > 0, name, value, "a number above 0")
        _require(0 <= self.tau_t <= 1, "tau_t", self.tau_t, "a number from 0 to 1")
        _require(
            _is_int(self.replicates) and self.replicates >= 2,
            "replicates",
            self.replicates,
            "a whole number of at least 2",
        )
        _require(0 < self.confidence < 1, "confidence", self.confidence, "a number between 0 and 1")
        _require(_is_int(self.seed) and self.seed >= 0, "seed", self.seed, "a whole number of at least 0")

    @property
    def response(self) -> Response:
        """The scale that the model reads: GRM reads the ordered levels, the others pass or fail."""
        return "ordered" if self.model == "GRM" else "binary"

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON reports and cache keys."""
        return asdict(self)

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """The names of the settings, in order."""
        return tuple(f.name for f in fields(cls))


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
