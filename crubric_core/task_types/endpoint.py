"""The endpoint of the prompted classifier, read from the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from ..endpoints import endpoint
from ..errors import SettingsError


@dataclass(frozen=True)
class ClassifierEndpoint(endpoint.Endpoint):
    """The endpoint of the language model that the prompted classifier asks."""

    owner: ClassVar[str] = "classifier"
    name_the_model: ClassVar[str] = "set CRUBRIC_TYPER_MODEL to its name"

    @classmethod
    def from_environment(cls, secrets: Mapping[str, Any] | None = None) -> ClassifierEndpoint | None:
        """Read CRUBRIC_TYPER_BASE_URL, _MODEL, _KEY, _FORMAT, _INPUT_PRICE and _OUTPUT_PRICE; None without a base URL.

        secrets: values with the same names, which override the environment. Raises SettingsError for a bad value.
        """
        found = {**os.environ, **(secrets or {})}
        base_url = str(found.get("CRUBRIC_TYPER_BASE_URL", ""))
        if not base_url:
            return None
        model, key = str(found.get("CRUBRIC_TYPER_MODEL", "")), str(found.get("CRUBRIC_TYPER_KEY", ""))
        shape: Any = found.get("CRUBRIC_TYPER_FORMAT") or "json_schema"
        return cls(base_url, model, key, shape, _price(found, "input"), _price(found, "output"))


def _price(found: Mapping[str, Any], kind: str) -> float | None:
    name = f"CRUBRIC_TYPER_{kind.upper()}_PRICE"
    value = found.get(name)
    try:
        return None if value in (None, "") else float(value)
    except (TypeError, ValueError) as error:
        raise SettingsError(
            f"{name} = {value!r} is not a number: give the price of a million tokens."
        ) from error
