"""Loops that are no operation on whole arrays, compiled by Numba when they are first called."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """The function in machine code, which lets go of Python while it runs and divides as NumPy does.

    Numbers are added in the order of the code, so that every processor gives the same bits. Numba keeps the machine
    code beside the module, or in the user's cache folder; where it can write to neither, each process compiles anew.
    Where there is no Numba, the function stays as it is: the same bits, some hundred times as slow.
    """
    return _compiled(function)


def compiled_in_any_order(function: Function) -> Function:
    """As ``compiled``, faster: sums are formed in any order, and their last bits depend on the processor."""
    return _compiled(function, fastmath={"reassoc", "nsz", "contract"})


def compiler() -> str:
    """Numba's version; "" without it."""
    try:
        return version("numba")
    except PackageNotFoundError:
        return ""


def _compiled(function: Function, **options: Any) -> Function:
    try:
        from numba import njit
    except ImportError:
        return function
    options |= {"nogil": True, "error_model": "numpy"}
    try:
        found: Function = njit(cache=True, **options)(function)
    except RuntimeError:  # no folder to keep it in
        found = njit(**options)(function)
    return found
