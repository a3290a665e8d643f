"""The declaration of a setting or parameter, once: validation, options, widgets and docs are derived from it."""

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
_FAR = " " * 4  # of a description in a docstring


def choice_words(value: object) -> str:
    """What a choice is called where people read it (docs/glossary.md)."""
    spelled = {"dawid_skene": "Dawid–Skene", "high_risk_constraint": "high-risk constraint"}
    return spelled.get(str(value), str(value).replace("_", " "))


@dataclass(frozen=True)
class Parameter:
    """What a value means and may be.

    text: the meaning. choices: each allowed value with its meaning. low, high: bounds, allowed themselves unless
    ``open``. whole: integers only. none: what None means; empty: it is not allowed.
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
        """What is allowed, in words."""
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
        """Whether the value is one of those."""
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
        """The number that a text spells; "none" is None, so is 0 where only more is allowed. ValueError for others."""
        if self.none and text.lower() == "none":
            return None
        value = int(text) if self.whole else float(text)
        return None if self.none and value == 0 and not self.allows(0) else value

    def check(self, name: str, value: object) -> None:
        """SettingsError where the value is not allowed."""
        if not self.allows(value):
            raise SettingsError(f"{name} = {value!r} is out of range: expected {self.expected}.")


@dataclass(frozen=True, kw_only=True)
class Spec(Parameter):
    """The declaration of one setting.

    step: of a slider. most: the largest value that a page offers; offered: the only ones that it does. usual: the
    default in words, where it depends on other settings.
    """

    title: str
    group: Group
    step: float | None = None
    most: float | None = None
    offered: tuple[float, ...] = ()
    usual: str = ""

    @property
    def help(self) -> str:
        """The text with what each choice and None mean."""
        return self._explained(str)

    @property
    def shown_help(self) -> str:
        """The text with what each choice, in the words of the pages, and None mean."""
        return self._explained(choice_words)

    def _explained(self, called: Callable[[str], str]) -> str:
        parts = [self.text, *(f"{called(name)}: {meaning}." for name, meaning in self.choices.items())]
        return " ".join([*parts, *([f"None: {self.none}."] if self.none else [])])

    @property
    def kind(self) -> str:
        """What is allowed, as a docstring gives types."""
        return "{" + ", ".join(map(repr, self.choices)) + "}" if self.choices else self.expected


@dataclass(frozen=True)
class Switch(Spec):
    """The declaration of a setting that is on or off."""

    expected = "True or False"

    def allows(self, value: object) -> bool:
        """Whether it is a truth value."""
        return isinstance(value, bool)


def setting(default: Any, title: str, text: str, group: Group, **more: Any) -> Any:
    """A dataclass field with its declaration; ``more`` as the fields of Spec."""
    spec = Switch if isinstance(default, bool) else Spec
    return field(default=default, metadata={_KEY: spec(text, title=title, group=group, **more)})


def specs_of(kind: type[DataclassInstance]) -> dict[str, Spec]:
    """The declaration of every field that has one, by its name, in order."""
    return {f.name: f.metadata[_KEY] for f in fields(kind) if _KEY in f.metadata}


def parameter_entries(specs: Mapping[str, Spec]) -> str:
    """The declarations as entries of a docstring's section Parameters (numpydoc), without its indentation."""
    lines = []
    for name, spec in specs.items():
        text = textwrap.wrap(spec.help, 110, initial_indent=_FAR, subsequent_indent=_FAR)
        lines += [f"{name} : {spec.kind}", *text]
    return "\n".join(lines)
