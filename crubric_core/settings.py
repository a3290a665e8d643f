"""The one set of knobs that an analysis has: frozen, validated, and part of every cache key and report."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, Self, get_args

from .errors import SettingsError
from .scoring_rules import ScoringRules

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
HELP: dict[str, str] = {
    "tau_c": "A rubric is kept if the posterior mean of its measurability, the rate at which all judges agree on it, "
    "is at least this.",
    "budget": "Most rubrics that the bank may hold (B).",
    "model": "1PL: rubrics differ in difficulty. 2PL: and in how sharply they separate. 3PL: and in passes by chance. "
    "GRM: ordered levels in place of pass or fail.",
    "quadrature": "adaptive: exact. grid: the paper's 41 nodes.",
    "strategy": "greedy: by what each rubric adds. plain: the most informative. hard_random: any on which all judges "
    "agree. random: any that varies.",
    "tie": "What an even split of pass and fail labels means.",
    "consensus": "majority: of the judges (lower median of ordered labels). dawid_skene: the likeliest label, each "
    "judge weighed by how often it errs, human labels as given.",
    "agreement_tolerance": "GRM: labels this many levels apart still agree.",
    "alpha": "Agreements taken as seen before the first label (Beta prior of measurability).",
    "beta": "Disagreements taken as seen before the first label (Beta prior of measurability).",
    "tau_t": "A query whose likeliest task type is less likely than this is scored pass or fail.",
    "clip": "Clip query scores to [0, 1].",
    "bootstrap": "rescaled: honest where queries have few rubrics. plain: the paper's.",
    "replicates": "Bootstrap replicates (R).",
    "confidence": "Level of all intervals and tiers.",
    "tier_rule": "A new tier starts with a system that differs from the next one above (adjacent) or from the tier's "
    "first (leader).",
    "holm": "Holm correction of the tier tests.",
    "seed": "Seed of everything random.",
}
"""Each setting in a line; priors and rules are structures of their own."""


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
    """Everything that Algorithm 1 can be told, field by field as in HELP; same dataset, same Settings, same bytes.

    rules: how task types are scored; None: by the dataset's own rules, the paper's until somebody edits them.
    """

    tau_c: float = 0.8
    budget: int = 200
    model: Model = "2PL"
    quadrature: Quadrature = "adaptive"
    priors: Priors = field(default_factory=Priors)
    strategy: Strategy = "greedy"
    tie: Tie = "unknown"
    consensus: Consensus = "majority"
    agreement_tolerance: int = 0
    alpha: float = 1.0
    beta: float = 1.0
    tau_t: float = 0.5
    rules: ScoringRules | None = None
    clip: bool = True
    bootstrap: Bootstrap = "rescaled"
    replicates: int = 300
    confidence: float = 0.95
    tier_rule: TierRule = "adjacent"
    holm: bool = False
    seed: int = 0

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
