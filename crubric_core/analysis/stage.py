"""What a stage of an analysis is: computed once for the settings that it and the stages before it read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import wraps
from inspect import signature
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, cast

import numpy as np

from ..settings import Settings

P = ParamSpec("P")
R = TypeVar("R")
Key = tuple[object, ...]
EVERY = tuple(setting.name for setting in fields(Settings))
"""Settings, for a stage that reads all of them."""


@dataclass(frozen=True)
class Stage:
    """One declared stage.

    reads: settings that it reads, those of all stages before it included. title: what is done, for who waits.
    heavy: whether it takes long, or much memory, so that few of its results are kept. lasting: whether a store may keep
    its results when the process ends: they are small beside what they cost, and made of ``lasting.RECORDS``.
    kept_by: the settings in its key. masks: the results in its key, in place of settings that it reads by these alone.
    where: its method's full name.
    """

    name: str
    reads: tuple[str, ...]
    title: str
    heavy: bool
    lasting: bool = False
    kept_by: tuple[str, ...] = ()
    masks: tuple[str, ...] = ()
    where: str = ""


class Store(Protocol):
    """Where results of stages are kept."""

    def once(self, stage: Stage, key: Key, make: Callable[[], Any]) -> Any:
        """What ``make`` gives, made only if nothing is kept under the stage and ``key``; never changed afterwards."""


@dataclass(frozen=True)
class Memory:
    """A store that lasts as long as the analysis."""

    kept: dict[Key, Any] = field(default_factory=dict)

    def once(self, stage: Stage, key: Key, make: Callable[[], Any]) -> Any:
        """See Store."""
        place = (stage.name, *key)
        if place not in self.kept:
            self.kept[place] = make()
        return self.kept[place]


class Stages:
    """What has stages: a content (``fingerprint``), ``settings``, and a store."""

    fingerprint: str
    settings: Settings
    store: Store

    def checked(self, found: R) -> R:
        """What was just computed from the content; raises where that changed meanwhile: nothing is kept of it."""
        return found

    def key(self, name: str) -> Key:
        """The content, settings and masks on which a declared stage depends: what else rests on it alone is kept by."""
        declared = STAGES[name]
        settings = (getattr(self.settings, read) for read in declared.kept_by)
        return (self.fingerprint, *settings, *(_hashable(getattr(self, mask)) for mask in declared.masks))


STAGES: dict[str, Stage] = {}
"""Every declared stage by its name, in the order of their declaration."""

S = TypeVar("S", bound=Stages)


def stage(
    *reads: str,
    after: tuple[str, ...] = (),
    masks: tuple[str, ...] = (),
    title: str = "",
    heavy: bool = False,
    lasting: bool = False,
    of_content: bool = False,
) -> Callable[[Callable[Concatenate[S, P], R]], Callable[Concatenate[S, P], R]]:
    """Declare a stage that reads these settings and the results of the stages ``after`` which it comes.

    It is a method of what has stages, or a function of it.

    masks: stages before it of which it reads nothing but the result, a boolean array that is an attribute: settings
    under which that is the same give the same result, which is computed once. of_content: whether it reads the labels,
    or what is told of them, themselves.
    """

    def declare(compute: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
        kept_by = set(reads).union(*(STAGES[name].kept_by for name in after))
        by_mask = set(masks).union(*(STAGES[name].masks for name in after))
        every = kept_by.union(*(STAGES[name].reads for name in by_mask))
        reads_, kept_by_, masks_ = (tuple(sorted(names)) for names in (every, kept_by, by_mask))
        where = f"{compute.__module__}.{compute.__qualname__}"
        declared = Stage(compute.__name__, reads_, title, heavy, lasting, kept_by_, masks_, where)
        if (other := STAGES.get(declared.name)) and other.where != where:  # its module may be loaded again
            raise TypeError(f"Two stages are called {declared.name}: {other.where} and {where}.")
        STAGES[declared.name] = declared
        takes = signature(compute)

        @wraps(compute)
        def kept(self: S, *args: P.args, **kwargs: P.kwargs) -> R:
            def make() -> R:
                found = compute(self, *args, **kwargs)
                return self.checked(found) if of_content else found

            asked = takes.bind(self, *args, **kwargs)
            asked.apply_defaults()
            _, *values = asked.arguments.values()
            found: R = self.store.once(declared, (*self.key(declared.name), *map(_hashable, values)), make)
            return found

        return cast("Callable[Concatenate[S, P], R]", kept)

    return declare


def _hashable(value: Any) -> object:
    if not isinstance(value, np.ndarray):
        return value
    content = np.packbits(value) if value.dtype == bool else value
    return value.dtype.str, value.shape, content.tobytes()
