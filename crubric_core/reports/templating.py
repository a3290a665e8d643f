"""Fill in the templates of this folder: every value is escaped unless it is markup of this program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

_ENVIRONMENT = Environment(
    loader=FileSystemLoader(Path(__file__).with_name("templates"), encoding="utf-8"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def render(template: str, **values: Any) -> Markup:
    """A template with its values; text in them is escaped for elements and quoted attributes."""
    return Markup(_ENVIRONMENT.get_template(template).render(values))  # noqa: S704 - escaped by the template


def call(template: str, macro: str, *values: Any) -> Markup:
    """One macro of a template with its values."""
    module = _ENVIRONMENT.get_template(template).module
    return Markup(getattr(module, macro)(*values))  # noqa: S704 - escaped by the template


def trusted(made: str) -> Markup:
    """Let markup, a style or a script be written unescaped; it must be this program's own."""
    return Markup(made)  # noqa: S704 - never a text that came from a file or a person
