"""judges.toml: names, endpoints and prices of the judges; it never contains a key."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..endpoints.endpoint import Endpoint
from ..errors import SettingsError
from ..text import listed, shorten

_NEEDED = ("name", "base_url", "model")
_NUMBERS = ("input_price", "output_price", "requests_per_minute", "timeout")
_ABOVE_0 = ("requests_per_minute", "timeout")
_FIELDS = (*_NEEDED, "key_env", *_NUMBERS, "format")
MOST = 1e9  # largest number allowed; a socket accepts no longer time-out
_EXAMPLE = '[[judge]] with name, base_url, model and key_env = "NAME_OF_A_VARIABLE"'


@dataclass(frozen=True)
class Judge:
    """A judge. name: as in its labels. requests_per_minute: upper limit; None: no limit."""

    name: str
    endpoint: Endpoint
    requests_per_minute: float | None = None


def read_judges(
    path: Path, environment: Mapping[str, str] = os.environ, *, keys: bool = True
) -> tuple[Judge, ...]:
    """The judges of a judges.toml, with keys from ``environment``; keys: False if no judge will be asked.

    Raises SettingsError, whose message never contains a key.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise SettingsError(f"{path} cannot be read ({error.strerror}): name a judges.toml.") from error
    except (ValueError, RecursionError) as error:  # also numbers of too many digits
        raise SettingsError(f"{path} is no TOML ({error}): it has {_EXAMPLE}.") from error
    rows = content.get("judge")
    if set(content) != {"judge"} or not isinstance(rows, list) or not rows:
        raise SettingsError(f"{path} names no judges, or holds something else: it has {_EXAMPLE}.")
    judges = tuple(_judge(row, f"{path}, judge {n}", environment, keys) for n, row in enumerate(rows, 1))
    names = [judge.name for judge in judges]
    if len(set(names)) < len(names):
        raise SettingsError(f"{path} has two judges of one name: give each its own.")
    return judges


def _judge(row: Any, place: str, environment: Mapping[str, str], keys: bool) -> Judge:
    if not isinstance(row, dict):
        raise SettingsError(f"{place} is no table: it has {_EXAMPLE}.")
    unknown = sorted(set(row) - set(_FIELDS))
    if unknown:
        raise SettingsError(
            f"{place} has {listed(unknown)}, which no judge has: use {', '.join(_FIELDS)}. "
            "A key stands in an environment variable alone, which key_env names."
        )
    for name in (*_NEEDED, "key_env", "format"):
        if not isinstance(row.get(name, "" if name not in _NEEDED else None), str):
            raise SettingsError(f"{place} has no {name}, or one that is no text: give it.")
    if not row["name"].strip():
        raise SettingsError(f"{place} has no name: give it one.")
    numbers = {name: _number(row.get(name), name, place) for name in _NUMBERS}
    try:
        endpoint = Endpoint(
            base_url=row["base_url"],
            model=row["model"],
            api_key=_key(row.get("key_env", ""), place, environment) if keys else "",
            response_format=row.get("format", "json_schema"),
            input_price=numbers["input_price"],
            output_price=numbers["output_price"],
            timeout=60.0 if numbers["timeout"] is None else numbers["timeout"],
        )
    except SettingsError as error:
        raise SettingsError(f"{place}: {error}") from error
    return Judge(row["name"].strip(), endpoint, numbers["requests_per_minute"])


def _key(name: str, place: str, environment: Mapping[str, str]) -> str:
    if name and not environment.get(name, "").strip():
        raise SettingsError(
            f"the environment variable that key_env of {place} names is not set: set it to the key."
        )
    return environment[name] if name else ""


def _number(value: object, name: str, place: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MOST:
        raise SettingsError(
            f"{place} has {name} = {shorten(repr(value))}: give a number, 0 or more, at most {MOST:,.0f}."
        )
    if value == 0 and name in _ABOVE_0:
        raise SettingsError(f"{place} has {name} = 0: give a number above 0, or leave it out.")
    return float(value)
