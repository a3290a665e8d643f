"""Store results of stages on disk, so that a restarted dashboard need not fit again.

The folder holds numbers without names and texts, and can be deleted at any time. A file's name is a hash of all that
the result depends on: the labels' fingerprint, the settings that the stage reads, the source of this package and the
versions of Numba, NumPy and SciPy. So a result is never stale. One that cannot be read is computed again.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, field, fields
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import scipy

from ..bank.worth import Interval, Worth
from ..compiled import compiler
from ..environment import PACKAGE
from ..files import write_whole
from ..irt.fit import IrtFit
from ..irt.models import ItemParameters
from ..judges.unequal_panels import UnequalPanels
from ..leaderboard.cross_fit import FoldFits
from ..settings import Priors
from .stage import Key, Stage

RECORDS = {
    kind.__name__: kind for kind in (IrtFit, Priors, ItemParameters, FoldFits, UnequalPanels, Worth, Interval)
}
MOST_BYTES, MOST_FILES = 2**28, 5_000
LOOK_AFTER = 250  # results written, or a 64th of ``MOST_BYTES``, until the folder's size is checked
_UNREADABLE = (OSError, ValueError, LookupError, TypeError, AttributeError, EOFError, MemoryError, BadZipFile)


@dataclass(frozen=True)
class Lasting:
    """A store of results in ``folder``, created with the first result; nothing is stored if it cannot be written."""

    folder: Path
    _since: list[int] = field(default_factory=list, init=False, repr=False, compare=False)

    def once(self, stage: Stage, key: Key, make: Callable[[], Any]) -> Any:
        """The result of ``make``, read from the folder if it was stored there, else computed and stored."""
        path = self.folder / f"{_mark(str(key[0]))}-{_digest(stage.name, repr(key), program())}.npz"
        with suppress(*_UNREADABLE):
            found = unpacked(path.read_bytes())
            with suppress(OSError):
                os.utime(path, ns=(now := time.time_ns(), now))  # finer than the file system's own clock
            return found
        made = make()
        with suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            content = packed(made)
            write_whole(path, content)
            self._make_room(len(content))
        return made

    def keep_only(self, fingerprints: Collection[str]) -> None:
        """Remove the results of all datasets but those with these fingerprints."""
        marks = {_mark(fingerprint) for fingerprint in fingerprints}
        for path in self.folder.glob("*.npz"):
            if path.name.partition("-")[0] not in marks:
                with suppress(OSError):
                    path.unlink()

    def _make_room(self, written: int) -> None:
        """Remove the least recently used results, until at most ``MOST_BYTES`` and ``MOST_FILES`` are left.

        written: bytes of the new result. The folder is checked only now and then, since that is slower than a write.
        """
        self._since.append(written)
        if len(self._since) < LOOK_AFTER and sum(self._since) < MOST_BYTES // 64:
            return
        self._since.clear()
        files = [(path, path.stat()) for path in self.folder.glob("*.npz")]
        left, more = sum(state.st_size for _, state in files) - MOST_BYTES, len(files) - MOST_FILES
        for path, state in sorted(files, key=lambda file: file[1].st_mtime_ns):
            if left <= 0 and more <= 0:
                return
            path.unlink(missing_ok=True)
            left, more = left - state.st_size, more - 1


def packed(value: Any) -> bytes:
    """Serialise a result: its arrays, and a description of how it is built from them, as the bytes of an npz file.

    Raises TypeError for a type that is not in ``RECORDS``.
    """
    arrays: list[np.ndarray[Any, Any]] = []
    named: dict[str, Any] = {"form": np.array(json.dumps(_form(value, arrays)))}
    named |= {str(at): array for at, array in enumerate(arrays)}
    content = BytesIO()
    np.savez(content, allow_pickle=False, **named)
    return content.getvalue()


def unpacked(content: bytes) -> Any:
    """The result that ``packed`` serialised, equal to the last bit; raises one of ``_UNREADABLE`` if it is damaged."""
    with np.load(BytesIO(content), allow_pickle=False) as arrays:
        return _value(json.loads(str(arrays["form"])), arrays)


def _form(value: Any, arrays: list[np.ndarray[Any, Any]]) -> Any:
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, tuple):
        return {"tuple": [_form(each, arrays) for each in value]}
    if isinstance(value, np.ndarray | np.generic):
        arrays.append(np.asarray(value))
        return {"array" if isinstance(value, np.ndarray) else "number": len(arrays) - 1}
    if RECORDS.get(type(value).__name__) is not type(value):
        raise TypeError(f"{type(value).__name__} is not known to RECORDS.")
    return {type(value).__name__: {f.name: _form(getattr(value, f.name), arrays) for f in fields(value)}}


def _value(form: Any, arrays: Any) -> Any:
    if not isinstance(form, dict):
        return form
    ((kind, of),) = form.items()
    if kind == "tuple":
        return tuple(_value(each, arrays) for each in of)
    if kind == "array":
        return arrays[str(of)]
    if kind == "number":
        return arrays[str(of)][()]
    return RECORDS[kind](**{name: _value(each, arrays) for name, each in of.items()})


def _mark(fingerprint: str) -> str:
    return _digest(fingerprint)[:16]


def _digest(*words: str) -> str:
    return hashlib.sha256("\0".join(words).encode()).hexdigest()[:32]


@cache
def program() -> str:
    """Hash of the package's source, and versions of the libraries: other code may compute other numbers."""
    source = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        source.update(path.read_bytes())
    return f"{source.hexdigest()} {compiler()} {np.__version__} {scipy.__version__}"
