"""The settings of an analysis: immutable, validated, and part of every cache key and report.

Each setting is declared once, by ``setting``, with its title, help, group, bounds and choices. Validation, the options
of the command line, the widgets of the page and the tables of the docs are derived from the declaration.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from inspect import cleandoc
from typing import Any, Literal, Self, get_args

import numpy as np

from .composition import Composition as Composition
from .declarations import Spec, parameter_entries, setting, specs_of
from .errors import SettingsError
from .presets import PRESETS as PRESETS
from .presets import Preset as Preset
from .priors import Priors as Priors
from .scoring_rules import ScoringRules

Model = Literal["1PL", "2PL", "3PL", "GRM"]
Quadrature = Literal["adaptive", "grid"]
Tie = Literal["unknown", "fail", "pass"]
TierRule = Literal["leader", "adjacent"]
Strategy = Literal["pairs", "greedy", "plain", "hard_random", "random"]
Response = Literal["binary", "ordered"]
Consensus = Literal["majority", "dawid_skene"]
Bootstrap = Literal["rescaled", "plain"]
GateStatistic = Literal["kappa", "agreement"]
Agreement = Literal["unanimous", "pairwise"]
MeasurabilityPrior = Literal["estimated", "fixed"]
Basis = Literal["all", "bank"]
Population = Literal["queries", "domains", "rubrics"]
LOWEST_TAU: Mapping[GateStatistic, float] = {"kappa": -1.0, "agreement": 0.0}
"""Least allowed threshold of each gate statistic; the largest is 1 for both."""
_FOLLOWS: Any = None  # default that __post_init__ replaces, depending on other settings


@dataclass(frozen=True)
class Settings:
    """All settings of an analysis. The same dataset and the same Settings give the same bytes.

    ``gate`` and ``prior`` have defaults that depend on other settings. If ``tau_c`` is given without ``gate``, they are
    the paper's: the agreement rate with a fixed Beta(alpha, beta) prior. Otherwise the gate is kappa, and the prior is
    estimated unless alpha or beta differs from 1. A value that is not allowed raises SettingsError.

    Parameters
    ----------
    priors : Priors
        Priors of the item parameters.
    rules : ScoringRules or None
        How task types are scored. None: by the dataset's own rules, which are those of the paper unless edited.
    composition : Composition or None
        What the bank must satisfy in addition to the strategy; None: no constraints.

    """

    tau_c: float | None = setting(
        None,
        "Gate threshold τ_c",
        "A rubric is kept if the gate's statistic is at least this.",
        "gate",
        low=-1,
        high=1,
        step=0.01,
        none="the lowest quarter of the measured rubrics is dropped",
    )
    budget: int = setting(
        200, "Bank size B", "Most rubrics that the bank may hold.", "bank", low=1, whole=True
    )
    model: Model = setting(
        "2PL",
        "Response model",
        "How the probability of passing a rubric depends on ability.",
        "model",
        choices={
            "1PL": "rubrics differ in difficulty",
            "2PL": "and in how sharply they separate",
            "3PL": "and in passes by chance",
            "GRM": "ordered levels in place of pass or fail",
        },
    )
    quadrature: Quadrature = setting(
        "adaptive",
        "Integration",
        "How abilities are integrated out.",
        "model",
        choices={"adaptive": "exact to 1e-6", "grid": "the paper's 41 nodes"},
    )
    priors: Priors = field(default_factory=Priors)
    strategy: Strategy = setting(
        "pairs",
        "The bank is chosen by",
        "The rule by which rubrics enter the bank.",
        "bank",
        choices={
            "pairs": "what each rubric adds to the separation of pairs of systems, balanced over queries",
            "greedy": "what each rubric adds to coverage of the ability scale (paper)",
            "plain": "the most informative rubrics",
            "hard_random": "at random, of those that vary and on which all judges agree",
            "random": "at random, of those that vary",
        },
    )
    tie: Tie = setting(
        "unknown",
        "An even split is",
        "What an even split of pass and fail labels means.",
        "labels",
        choices={"unknown": "no label", "fail": "a fail", "pass": "a pass"},
    )
    consensus: Consensus = setting(
        "majority",
        "Consensus label",
        "How the judges' labels of a cell become one.",
        "labels",
        choices={
            "majority": "of the judges (lower median of ordered labels)",
            "dawid_skene": "the likeliest label, each judge weighed by its error rates, human labels as given",
        },
    )
    agreement_tolerance: int = setting(
        0,
        "Tolerated difference of levels",
        "GRM: labels that differ by at most this many levels agree.",
        "labels",
        low=0,
        most=20,
        whole=True,
    )
    gate: GateStatistic = setting(
        _FOLLOWS,
        "Gate statistic",
        "The statistic by which rubrics are dropped on which judges do not agree.",
        "gate",
        choices={
            "kappa": "agreement of judge pairs beyond chance, the same scale for any number of judges",
            "agreement": "posterior mean of the agreement rate (paper)",
        },
        usual="kappa, or agreement where τ_c is given alone",
    )
    agreement: Agreement = setting(
        "unanimous",
        "Agreement on a cell",
        "What counts as agreement of the judges on one system and rubric.",
        "gate",
        choices={
            "unanimous": "all labels are equal (paper; falls with the number of judges)",
            "pairwise": "the share of judge pairs with equal labels",
        },
    )
    prior: MeasurabilityPrior = setting(
        _FOLLOWS,
        "Prior of the agreement rate",
        "The Beta prior of a rubric's agreement rate.",
        "gate",
        choices={
            "estimated": "fitted to all rubrics (beta-binomial maximum likelihood)",
            "fixed": "Beta(alpha, beta)",
        },
        usual="estimated, or fixed where τ_c is given alone",
    )
    alpha: float = setting(
        1.0,
        "Prior agreements α",
        "Agreements assumed before the first instance (fixed prior, as with any other value than 1).",
        "gate",
        low=0,
        open=True,
    )
    beta: float = setting(
        1.0,
        "Prior disagreements β",
        "Disagreements assumed before the first instance (fixed prior, as with any other value than 1).",
        "gate",
        low=0,
        open=True,
    )
    tau_t: float = setting(
        0.5,
        "Least probability of a task type τ_t",
        "A query whose likeliest task type is less likely than this is scored pass or fail.",
        "scoring",
        low=0,
        high=1,
        step=0.01,
    )
    rules: ScoringRules | None = None
    clip: bool = setting(True, "Clip query scores to [0, 1]", "Clip query scores to [0, 1].", "scoring")
    basis: Basis = setting(
        "all",
        "Systems are ranked on",
        "The rubrics from which abilities are estimated.",
        "ranking",
        choices={
            "all": "all rubrics that pass the gate",
            "bank": "the bank, chosen without the system that it places",
        },
    )
    population: Population = setting(
        "queries",
        "Intervals hold for",
        "What intervals, tiers and separated pairs generalise to.",
        "ranking",
        choices={
            "queries": "queries like these",
            "domains": "domains like these: the queries of one domain count as one, also for what banks are worth; new "
            "systems are placed by query",
            "rubrics": "further rubrics of these very queries (bootstrap; paper)",
        },
    )
    cross_fitted: bool = setting(
        True,
        "Cross-fitted abilities",
        "No system is placed by rubrics that were fitted or chosen on its own labels; off: the paper's in-sample bank.",
        "ranking",
    )
    simultaneous: bool = setting(
        True,
        "Simultaneous separation",
        "All pairs of systems are compared at one joint level, so that a false difference anywhere is rare.",
        "ranking",
    )
    bootstrap: Bootstrap = setting(
        "rescaled",
        "Bootstrap",
        "How rubrics are resampled within their query, for intervals of further rubrics.",
        "ranking",
        choices={"rescaled": "unbiased where queries have few rubrics (Rao and Wu)", "plain": "the paper's"},
    )
    replicates: int = setting(
        300,
        "Bootstrap replicates R",
        "Number of bootstrap replicates.",
        "ranking",
        low=2,
        most=10_000,
        whole=True,
    )
    confidence: float = setting(
        0.95,
        "Level of all intervals",
        "Level of all intervals and tiers.",
        "ranking",
        low=0,
        high=1,
        open=True,
        offered=(0.8, 0.9, 0.95, 0.99),
    )
    tier_rule: TierRule = setting(
        "leader",
        "Rule of the tiers",
        "Where a new tier starts.",
        "ranking",
        choices={
            "leader": "at the first system that is separated from the tier's first",
            "adjacent": "at the first system that is separated from the next one above (paper)",
        },
    )
    holm: bool = setting(
        False,
        "Holm correction of the tier tests",
        "Holm correction of the tier tests, where rubrics are resampled and pairs are not compared at once.",
        "ranking",
    )
    composition: Composition | None = None
    seed: int = setting(0, "Seed", "Seed of everything random.", "ranking", low=0, most=2**31 - 1, whole=True)

    def __post_init__(self) -> None:
        self._resolve()
        if not isinstance(self.priors, Priors):
            raise SettingsError(f"priors = {self.priors!r} is unknown: give Priors(...), or leave it out.")
        if not self.composition:
            object.__setattr__(self, "composition", None)
        for name, kind in (("rules", ScoringRules), ("composition", Composition)):
            value = getattr(self, name)
            if value is not None and not isinstance(value, kind):
                raise SettingsError(
                    f"{name} = {value!r} is unknown: give {kind.__name__}(...), or leave it out."
                )
        for name, spec in specs_of(type(self)).items():
            spec.check(name, getattr(self, name))
        if self.tau_c is not None and self.tau_c < LOWEST_TAU[self.gate]:
            raise SettingsError(
                f"tau_c = {self.tau_c!r} is out of range: expected a number from 0 to 1, or None."
            )

    def _resolve(self) -> None:
        """Convert NumPy's numbers to Python's, and derive an unset gate and prior from tau_c, alpha and beta."""
        for name, value in vars(self).items():
            if isinstance(value, np.generic):
                object.__setattr__(self, name, value.item())
        given = vars(self)
        alone = given["gate"] is None and self.tau_c is not None
        if given["gate"] is None:
            object.__setattr__(self, "gate", "agreement" if alone else "kappa")
        if given["prior"] is None:
            fixed = alone or (self.alpha, self.beta) != (1, 1)
            object.__setattr__(self, "prior", "fixed" if fixed else "estimated")

    @property
    def response(self) -> Response:
        """The scale that the model reads: GRM reads the ordered levels, the others pass or fail."""
        return "ordered" if self.model == "GRM" else "binary"

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON reports and cache keys; without composition, and without losses, if there are none."""
        values = asdict(self)
        values.pop("composition")
        if self.rules is not None:
            values["rules"] = self.rules.as_dict()
        return values | ({} if self.composition is None else {"composition": self.composition.as_dict()})

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Settings from values in the form of ``as_dict``, or of its JSON. Missing settings have their defaults.

        Unknown names are ignored. Raises SettingsError or TypeError if a value is not allowed.
        """
        known = {name: value for name, value in values.items() if name in cls.names()}
        return cls(**known | read_structures(known))

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """The names of the settings, in order."""
        return tuple(f.name for f in fields(cls))

    @classmethod
    def preset(cls, name: Preset = "robust", **overrides: Any) -> Self:
        """The settings of a preset.

        Parameters
        ----------
        name : {"robust", "paper"}
            ``robust``: the defaults. ``paper``: Algorithm 1 of the paper as printed.
        **overrides
            Settings that replace the preset's.

        Returns
        -------
        Settings
            The preset with the overrides.

        Raises
        ------
        SettingsError
            The preset is unknown, or an override is not allowed.

        """
        if name not in PRESETS:
            raise SettingsError(f"preset = {name!r} is unknown: expected one of {', '.join(PRESETS)}.")
        return cls(**{**PRESETS[name], **overrides})

    def explicit(self) -> tuple[Preset, dict[str, Any]]:
        """The nearest preset and the overrides with which ``Settings.preset`` gives these settings.

        Only declared settings are compared: not priors, rules and composition.
        """
        return min(((name, self._beyond(name)) for name in get_args(Preset)), key=lambda found: len(found[1]))

    def _beyond(self, name: Preset) -> dict[str, Any]:
        given: dict[str, Any] = {} if self.tau_c == PRESETS[name].get("tau_c") else {"tau_c": self.tau_c}
        if self.tau_c is not None and self.tau_c < LOWEST_TAU["agreement"]:
            given["gate"] = self.gate  # else tau_c would be a threshold of agreement, never below 0
        for _ in range(2):  # a given value may change the values derived from it
            start = Settings.preset(name, **given)
            given |= {key: getattr(self, key) for key in SPECS if getattr(self, key) != getattr(start, key)}
        return given


SPECS: Mapping[str, Spec] = specs_of(Settings)
"""The declarations of the settings by name, without priors, rules and composition, which have their own classes."""
Settings.__doc__ = f"{cleandoc(Settings.__doc__ or '')}\n{parameter_entries(SPECS)}"


def read_structures(values: Mapping[str, Any]) -> dict[str, Any]:
    """Read the settings that have their own classes (priors, rules, composition) from plain values, if given.

    Raises SettingsError or TypeError if one is not valid.
    """
    readers = {
        "priors": Priors.from_dict,
        "rules": ScoringRules.from_dict,
        "composition": Composition.from_dict,
    }
    return {name: read(values[name]) for name, read in readers.items() if values.get(name) is not None}


def objective(strategy: object) -> str:
    """The utility that the strategy maximises and the certificate bounds, in words."""
    return "modelled separation of pairs" if strategy == "pairs" else "coverage"
