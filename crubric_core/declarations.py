"""Declarations of settings and parameters: validation, options, widgets and docs are derived from them."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal

from .errors import SettingsError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Group = Literal["bank", "gate", "labels", "model", "scoring", "ranking"]
_KEY = "setting"
_FAR = " " * 4  # indentation of a description in a docstring


def choice_words(value: object) -> str:
    """The name of a choice as users read it (docs/glossary.md)."""
    spelled = {"dawid_skene": "Dawid–Skene", "high_risk_constraint": "high-risk constraint"}
    return spelled.get(str(value), str(value).replace("_", " "))


@dataclass(frozen=True)
class Parameter:
    """The meaning of a value, and the values that are allowed.

    text: the meaning. choices: each allowed value with its meaning; empty: any number within the bounds. low, high:
    bounds, which are allowed values unless ``open``. whole: integers only. none: what None means; "": not allowed.
    """

    text: str
    _: KW_ONLY
    choices: Mapping[str, str] = field(default_factory=dict)
    low: float | None = None
    high: float | None = None
    open: bool = False
    whole: bool = False
    none: str = ""

    @property
    def expected(self) -> str:
        """The allowed values in words."""
        if self.choices:
            return f"one of {', '.join(self.choices)}"
        number = "a whole number" if self.whole else "a number"
        if self.high is None:
            words = f"{number} above {self.low:g}" if self.open else f"{number} of at least {self.low:g}"
        else:
            words = f"{number} {'between' if self.open else 'from'} {self.low:g} "
            words += f"{'and' if self.open else 'to'} {self.high:g}"
        return f"{words}, or None" if self.none else words

    def allows(self, value: object) -> bool:
        """Whether the value is allowed."""
        if value is None:
            return bool(self.none)
        if self.choices:
            return isinstance(value, str) and value in self.choices
        if isinstance(value, bool) or not isinstance(value, int if self.whole else int | float):
            return False
        inside = math.isfinite(value)
        for bound, sign in ((self.low, 1), (self.high, -1)):
            if bound is not None:
                inside &= sign * value > sign * bound or (not self.open and value == bound)
        return inside

    def read(self, text: str) -> float | int | None:
        """Parse a number. If None is allowed, "none" is None, and so is 0 unless 0 itself is allowed.

        Raises ValueError for a text that is not a number.
        """
        if self.none and text.lower() == "none":
            return None
        value = int(text) if self.whole else float(text)
        return None if self.none and value == 0 and not self.allows(0) else value

    def check(self, name: str, value: object) -> None:
        """Raise SettingsError if the value is not allowed."""
        if not self.allows(value):
            raise SettingsError(f"{name} = {value!r} is out of range: expected {self.expected}.")


@dataclass(frozen=True, kw_only=True)
class Spec(Parameter):
    """The declaration of one setting.

    title: name of the setting on the pages. group: group of settings. step: step of a slider. most: largest value that
    a page offers. offered: the only values that a page offers; (): any. usual: the default in words, if it depends on
    other settings.
    """

    title: str
    group: Group
    step: float | None = None
    most: float | None = None
    offered: tuple[float, ...] = ()
    usual: str = ""

    @property
    def help(self) -> str:
        """The text, followed by the meaning of each choice and of None."""
        return self._explained(str)

    @property
    def shown_help(self) -> str:
        """As ``help``, with the choices named as on the pages."""
        return self._explained(choice_words)

    def _explained(self, called: Callable[[str], str]) -> str:
        parts = [self.text, *(f"{called(name)}: {meaning}." for name, meaning in self.choices.items())]
        return " ".join([*parts, *([f"None: {self.none}."] if self.none else [])])

    @property
    def kind(self) -> str:
        """The allowed values in the form of a type in a docstring."""
        return "{" + ", ".join(map(repr, self.choices)) + "}" if self.choices else self.expected


@dataclass(frozen=True)
class Switch(Spec):
    """The declaration of a setting that is on or off."""

    expected = "True or False"

    def allows(self, value: object) -> bool:
        """Whether the value is True or False."""
        return isinstance(value, bool)


def setting(default: Any, title: str, text: str, group: Group, **more: Any) -> Any:
    """A dataclass field with its declaration. more: further fields of ``Spec``."""
    spec = Switch if isinstance(default, bool) else Spec
    return field(default=default, metadata={_KEY: spec(text, title=title, group=group, **more)})


def specs_of(kind: type[DataclassInstance]) -> dict[str, Spec]:
    """Map the name of each field that has a declaration to it, in the order of the fields."""
    return {f.name: f.metadata[_KEY] for f in fields(kind) if _KEY in f.metadata}


def parameter_entries(specs: Mapping[str, Spec]) -> str:
    """The declarations as entries of the section Parameters of a docstring (numpydoc), not indented."""
    lines = []
    for name, spec in specs.items():
        text = textwrap.wrap(spec.help, 110, initial_indent=_FAR, subsequent_indent=_FAR)
        lines += [f"{name} : {spec.kind}", *text]
    return "\n".join(lines)
