"""The command ``settings``: list every setting, with its meaning and default."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from ..declarations import Spec, specs_of
from ..priors import C_PRIOR
from ..settings import PRESETS, SPECS, Priors, Settings
from .parsers import Commands, add_command
from .terminal import print_json


def add(commands: Commands) -> None:
    """Add the commands of this file."""
    settings = add_command(commands, "settings", run_settings)
    settings.add_argument("--markdown", action="store_true", help="as the page docs/settings.md")


def run_settings(args: argparse.Namespace) -> None:
    """Handle ``crubric settings``: print one JSON line for each setting, or the page docs/settings.md."""
    if args.markdown:
        print(settings_markdown(), end="")
        return
    for row in setting_rows():
        print_json(row)


def setting_rows() -> list[dict[str, Any]]:
    """The declaration of every setting and prior as a row, with its default and its value in the paper preset."""
    robust, paper = Settings(), Settings.preset("paper")
    rows = [_row(name, spec, getattr(robust, name), getattr(paper, name)) for name, spec in SPECS.items()]
    priors = ((name, spec, getattr(Priors(), name)) for name, spec in specs_of(Priors).items())
    rows += [_row(name, spec, default, default) for name, spec, default in priors]
    return [*rows, _row("c_prior", C_PRIOR, True, True)]


def _row(name: str, spec: Spec, robust: object, paper: object) -> dict[str, Any]:
    return {
        "name": name,
        "option": "--" + name.replace("_", "-"),
        "title": spec.title,
        "group": spec.group,
        "help": spec.text,
        "allowed": spec.expected,
        "choices": dict(spec.choices),
        "default": robust,
        "default_depends": spec.usual or None,
        "none": spec.none or None,
        "paper": paper,
    }


def settings_markdown() -> str:
    """The page docs/settings.md: a table of settings for each group."""
    rows, lines = setting_rows(), [_HEAD]
    for group in dict.fromkeys(row["group"] for row in rows):
        lines += [f"## {_GROUPS[group]}", "", "| setting | what it is | allowed | default | paper |"]
        lines += ["| --- | --- | --- | --- | --- |"]
        lines += [_line(row) for row in rows if row["group"] == group] + [""]
    return "\n".join(lines).rstrip() + "\n"


def _line(row: Mapping[str, Any]) -> str:
    meaning = "; ".join(f"`{name}`: {what}" for name, what in row["choices"].items())
    none = f" None: {row['none']}." if row["none"] else ""
    text = f"{row['help']}{' ' + meaning + '.' if meaning else ''}{none}"
    default = row["default_depends"] or _shown(row["default"])
    differs = row["name"] in PRESETS["paper"] and row["paper"] != row["default"]
    allowed = "one of these" if row["choices"] else row["allowed"]
    return f"| `{row['name']}` | {text} | {allowed} | {default} | {_shown(row['paper']) if differs else ''} |"


def _shown(value: object) -> str:
    return f"`{value}`"


_GROUPS = {
    "bank": "Bank",
    "gate": "Gate",
    "labels": "Labels",
    "model": "Response model",
    "scoring": "Scores",
    "ranking": "Ranking",
}
_HEAD = """# Settings

Written by `crubric settings --markdown` from the one declaration that also makes the options of the command line, the
widgets of the pages and the checks. In Python `Settings(name=value)`, on the command line `--name value` (`--no-name`
switches off). `log_a_sd` and `b_sd` are fields of `priors`: `Settings(priors=Priors(log_a_sd=0.3))`; `--no-c-prior` is
`Priors(c_beta=None)`. `Settings.preset("paper", …)` and `--preset paper` are Algorithm 1 of the paper as printed (last
column, where it differs); what is given besides goes before the preset.
"""
