"""Stages of an analysis: results that are computed once for the settings that they and the stages before them read."""

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
"""The names of all settings, for a stage that reads all of them."""


@dataclass(frozen=True)
class Stage:
    """One declared stage.

    name: name of its method. reads: settings that it and all stages before it read. title: description of the work,
    shown while a user waits. heavy: whether it takes long, or much memory, so that few of its results are cached.
    lasting: whether a store may keep its results after the process ends: they are small and slow to compute, and made
    of ``lasting.RECORDS``. kept_by: the settings in its key. masks: the boolean results in its key; they replace the
    settings that it reads only through them. where: full name of its method.
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
    """A cache of the results of stages."""

    def once(self, stage: Stage, key: Key, make: Callable[[], Any]) -> Any:
        """The result cached under the stage and ``key``, else that of ``make``, which is then cached.

        It must not be changed.
        """


@dataclass(frozen=True)
class Memory:
    """A store that lasts as long as the analysis."""

    kept: dict[Key, Any] = field(default_factory=dict)

    def once(self, stage: Stage, key: Key, make: Callable[[], Any]) -> Any:
        """The cached result, else that of ``make``; see ``Store.once``."""
        place = (stage.name, *key)
        if place not in self.kept:
            self.kept[place] = make()
        return self.kept[place]


class Stages:
    """Base class of what has stages: it has a content (``fingerprint``), ``settings``, and a store."""

    fingerprint: str
    settings: Settings
    store: Store

    def checked(self, found: R) -> R:
        """Return ``found``, just computed from the content; an override raises if the content changed meanwhile.

        A result for which it raises is not cached.
        """
        return found

    def key(self, name: str) -> Key:
        """The content, settings and masks on which a declared stage depends.

        It can also be the cache key of anything that is computed from the stage alone.
        """
        declared = STAGES[name]
        settings = (getattr(self.settings, read) for read in declared.kept_by)
        return (self.fingerprint, *settings, *(_hashable(getattr(self, mask)) for mask in declared.masks))


STAGES: dict[str, Stage] = {}
"""All declared stages by name, in the order of their declaration."""

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
    """Declare a method of ``Stages``, or a function of one, as a stage. title, heavy, lasting: see ``Stage``.

    reads: settings that it reads itself. after: stages whose results it reads. masks: stages before it whose boolean
    array, an attribute, is all that it reads of them: settings that give the same array share one cached result.
    of_content: whether it reads the dataset itself, so that the content is checked for changes afterwards.
    """

    def declare(compute: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
        kept_by = set(reads).union(*(STAGES[name].kept_by for name in after))
        by_mask = set(masks).union(*(STAGES[name].masks for name in after))
        every = kept_by.union(*(STAGES[name].reads for name in by_mask))
        reads_, kept_by_, masks_ = (tuple(sorted(names)) for names in (every, kept_by, by_mask))
        where = f"{compute.__module__}.{compute.__qualname__}"
        declared = Stage(compute.__name__, reads_, title, heavy, lasting, kept_by_, masks_, where)
        if (other := STAGES.get(declared.name)) and other.where != where:  # equal if its module is reloaded
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
