"""The templates of this room, filled in: every value is escaped unless this program made it as markup itself."""

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
    """A template with its values; text in them is shown letter by letter, in an element or in a quoted attribute."""
    return Markup(_ENVIRONMENT.get_template(template).render(values))  # noqa: S704 - escaped by the template


def call(template: str, macro: str, *values: Any) -> Markup:
    """One macro of a template with its values."""
    module = _ENVIRONMENT.get_template(template).module
    return Markup(getattr(module, macro)(*values))  # noqa: S704 - escaped by the template


def trusted(made: str) -> Markup:
    """Markup, style or script that this program made, to be written as it is."""
    return Markup(made)  # noqa: S704 - never a text that came from a file or a person
