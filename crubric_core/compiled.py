"""Loops that are no operation on whole arrays, compiled by Numba when they are first called."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from types import FunctionType
from typing import Any, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """The function in machine code, which lets go of Python while it runs and divides as NumPy does.

    Numbers are added in the order of the code, so that every processor gives the same bits, but for exponentials and
    powers: their last bits are those of the mathematical library. Numba keeps the machine code beside the module, or in
    the user's cache folder; where it can write to neither, each process compiles anew. Where there is no Numba, the
    function stays as it is: the same in this sense, some hundred times as slow. Compiled functions
    that it calls stand in the same file: Numba looks at that file alone to tell whether what it keeps is out of date.
    """
    return cast("Function", _Compiled(cast("FunctionType", function)))


def compiled_in_any_order(function: Function) -> Function:
    """As ``compiled``, faster: sums are formed in any order, and their last bits depend on the processor."""
    options = {"fastmath": {"reassoc", "nsz", "contract"}}
    return cast("Function", _Compiled(cast("FunctionType", function), options))


def compiler() -> str:
    """Numba's version; "" without it."""
    try:
        return version("numba")
    except PackageNotFoundError:
        return ""


@dataclass(frozen=True)
class _Compiled:
    """A function that is compiled at its first call: until then a process need not load Numba."""

    function: FunctionType
    options: dict[str, Any] = field(default_factory=dict)

    def __call__(self, *args: Any) -> Any:
        return self.machine_code(*args)

    @cached_property
    def machine_code(self) -> Callable[..., Any]:
        """Numba's dispatcher, or the function itself."""
        try:
            from numba import njit
        except ImportError:
            return self.function
        options = {"nogil": True, "error_model": "numpy", **self.options}
        try:
            found: Callable[..., Any] = njit(cache=True, **options)(self._calling_machine_code())
        except RuntimeError:  # no folder to keep it in
            found = njit(**options)(self._calling_machine_code())
        return found

    def _calling_machine_code(self) -> FunctionType:
        """The function with all that it calls compiled."""
        code, known = self.function.__code__, dict(self.function.__globals__)
        for name in code.co_names:
            if isinstance(called := known.get(name), _Compiled):
                if called.function.__code__.co_filename != code.co_filename:
                    raise ImportError(f"{name} is called by {code.co_name}: they must stand in one file.")
                known[name] = called.machine_code
        found = FunctionType(code, known, self.function.__name__, self.function.__defaults__)
        found.__qualname__, found.__module__ = self.function.__qualname__, self.function.__module__
        return found
