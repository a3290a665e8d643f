"""Fill in the templates of this package: every value is escaped unless it is markup made by this program."""

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
    """Fill in a template with values. Text in them is escaped, for an element or a quoted attribute."""
    return Markup(_ENVIRONMENT.get_template(template).render(values))  # noqa: S704 - escaped by the template


def call(template: str, macro: str, *values: Any) -> Markup:
    """Call a macro of a template with values; text in them is escaped."""
    module = _ENVIRONMENT.get_template(template).module
    return Markup(getattr(module, macro)(*values))  # noqa: S704 - escaped by the template


def trusted(made: str) -> Markup:
    """Mark markup, style or script that this program made as safe, so that it is not escaped."""
    return Markup(made)  # noqa: S704 - never a text that came from a file or a person
