"""Write and read settings in a page's address: those that differ from the nearest preset, as on the command line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from ..declarations import Spec, Switch, specs_of
from ..errors import SettingsError
from ..settings import SPECS, Preset, Priors, Settings

PRIORS = specs_of(Priors)
PRESET, C_PRIOR = "preset", "c_prior"
NAMES = (PRESET, *SPECS, *PRIORS, C_PRIOR)
"""The parameters of an address that hold settings."""


def spelled(settings: Settings) -> dict[str, str]:
    """Parameter → text of the settings in an address: the preset, if it is not robust, and settings that differ."""
    preset, given_values = settings.explicit()
    priors = {name: getattr(settings.priors, name) for name in PRIORS}
    differing = {name: value for name, value in priors.items() if value != getattr(Priors(), name)}
    return (
        ({PRESET: preset} if preset != "robust" else {})
        | {name: _text(value) for name, value in given_values.items()}
        | {name: _text(value) for name, value in differing.items()}
        | ({} if settings.priors.c_beta else {C_PRIOR: "false"})
    )


def differing(settings: Settings) -> dict[str, str]:
    """``spelled`` with all further settings that differ from the preset's, such as the gate implied by a threshold."""
    words = spelled(settings)
    usual: Any = Settings.preset(settings.explicit()[0])
    values = {name: getattr(settings, name) for name in SPECS if name not in words}
    return words | {name: _text(value) for name, value in values.items() if value != getattr(usual, name)}


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "none" if value is None else f"{value:.12g}" if isinstance(value, float) else str(value)


def read_settings(given: Mapping[str, str]) -> Settings:
    """The settings in the parameters of an address; missing and invalid ones have their defaults."""
    given_values, spread = (
        {name: value for name, spec in specs.items() if (value := _read(spec, given.get(name))) is not ...}
        for specs in (SPECS, PRIORS)
    )
    priors = Priors(**spread, c_beta=None if given.get(C_PRIOR) == "false" else Priors().c_beta)
    preset: Any = given.get(PRESET)
    preset = preset if preset in get_args(Preset) else "robust"
    try:
        return Settings.preset(preset, **given_values, priors=priors)
    except SettingsError:  # each is allowed, but not together: the threshold is below the minimum of its gate
        return Settings.preset(preset, **given_values | {"tau_c": None}, priors=priors)


def ignored_settings(given: Mapping[str, str]) -> list[str]:
    """The parameters of an address, as "name=text", with invalid values, which ``read_settings`` ignores."""
    found, tau_c = read_settings(given), given.get("tau_c")
    wrong = {
        name: _read(spec, given[name]) is ... for name, spec in {**SPECS, **PRIORS}.items() if name in given
    }
    if PRESET in given:
        wrong[PRESET] = given[PRESET] not in get_args(Preset)
    if C_PRIOR in given:
        wrong[C_PRIOR] = given[C_PRIOR] not in ("true", "false")
    if tau_c is not None and found.tau_c is None:  # below the minimum of its gate
        wrong["tau_c"] |= _read(SPECS["tau_c"], tau_c) is not None
    return [f"{name}={given[name]}" for name, is_wrong in wrong.items() if is_wrong]


def _read(spec: Spec, text: str | None) -> Any:
    """The value of a text, or ... if it is missing or invalid."""
    if text is None:
        return ...
    if isinstance(spec, Switch):
        return {"true": True, "false": False}.get(text.lower(), ...)
    if spec.choices:
        return text if text in spec.choices else ...
    try:
        value = spec.read(text)
    except ValueError:
        return ...
    return value if spec.allows(value) else ...
