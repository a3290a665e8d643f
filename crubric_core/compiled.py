"""Compile loops that cannot be written as operations on whole arrays, with Numba, when they are first called."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from types import FunctionType
from typing import Any, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """The function compiled to machine code, which releases the GIL and divides as NumPy does.

    Numbers are added in the order of the code, so that every processor gives the same bits, except for exponentials and
    powers, whose last bits depend on the mathematical library. Numba caches the machine code beside the module, or in
    the user's cache folder; if it can write to neither, each process compiles again. Without Numba the function runs in
    Python, with the same results in this sense, about a hundred times slower. Compiled functions that it calls must be
    in the same file, since Numba checks only that file to find out whether its cache is outdated.
    """
    return cast("Function", _Compiled(cast("FunctionType", function)))


def compiled_in_any_order(function: Function) -> Function:
    """As ``compiled``, but faster: sums may be added in any order, so that their last bits depend on the processor."""
    options = {"fastmath": {"reassoc", "nsz", "contract"}}
    return cast("Function", _Compiled(cast("FunctionType", function), options))


def compiler() -> str:
    """Numba's version; "" if it is not installed."""
    try:
        return version("numba")
    except PackageNotFoundError:
        return ""


@dataclass(frozen=True)
class _Compiled:
    """A function that is compiled at its first call, so that Numba is not loaded before."""

    function: FunctionType
    options: dict[str, Any] = field(default_factory=dict)

    def __call__(self, *args: Any) -> Any:
        return self.machine_code(*args)

    @cached_property
    def machine_code(self) -> Callable[..., Any]:
        """Numba's dispatcher; the function itself if Numba is not installed."""
        try:
            from numba import njit
        except ImportError:
            return self.function
        options = {"nogil": True, "error_model": "numpy", **self.options}
        try:
            found: Callable[..., Any] = njit(cache=True, **options)(self._calling_machine_code())
        except RuntimeError:  # no folder for the cache can be written
            found = njit(**options)(self._calling_machine_code())
        return found

    def _calling_machine_code(self) -> FunctionType:
        """The function with the compiled functions that it calls replaced by their machine code.

        Raises ImportError if one of them is in another file.
        """
        code, known = self.function.__code__, dict(self.function.__globals__)
        for name in code.co_names:
            if isinstance(called := known.get(name), _Compiled):
                if called.function.__code__.co_filename != code.co_filename:
                    raise ImportError(f"{name} is called by {code.co_name}: they must stand in one file.")
                known[name] = called.machine_code
        found = FunctionType(code, known, self.function.__name__, self.function.__defaults__)
        found.__qualname__, found.__module__ = self.function.__qualname__, self.function.__module__
        return found
