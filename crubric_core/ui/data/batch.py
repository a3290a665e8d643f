"""The files of one drop."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ...errors import CrubricError
from ...labels.readers.sources import KeptSources

if TYPE_CHECKING:
    from streamlit.runtime.uploaded_file_manager import UploadedFile

    from ...jobs.threads import ThreadJob
    from ...labels.ingest.report import IngestReport

T = TypeVar("T")


class Batch:
    """The files of one drop, copied and unpacked once, with what was found out about them.

    answers: what words stand for, as far as the user said so. rows: policy → rows that it decides.
    offered: policy → the value that a refusal proposes.
    scales, marks: criterion → scale, pass mark, as far as the user changed them.
    reading: what reads them, and has the report of it; None until they are to be read.
    discarded: whether they are to be forgotten, once nothing reads them.
    """

    def __init__(self, files: Sequence[UploadedFile]) -> None:
        self.key = hash(tuple(file.file_id for file in files))
        self.size = sum(file.size for file in files)
        self.names = [file.name for file in files]
        self.kept = KeptSources([(file.name, file) for file in files])
        self.answers: dict[str, str] = {}
        self.rows: dict[str, int] = {}
        self.offered: dict[str, float] = {}
        self.scales: dict[str, tuple[int | None, int | None]] = {}
        self.marks: dict[str, int] = {}
        self.reading: ThreadJob[IngestReport] | None = None
        self.discarded = False
        self._found: dict[Hashable, tuple[Hashable, Any, CrubricError | None]] = {}

    def discard(self) -> None:
        """Stop what reads them, and let them be forgotten at its end."""
        self.discarded = True
        if self.reading is not None:
            self.reading.cancel.set()

    def once(self, slot: Hashable, key: Hashable, make: Callable[[], T]) -> T:
        """What ``make`` gives, or the user's error that it raises; made again when the slot's key changes."""
        if self._found.get(slot, (object(),))[0] != key:
            try:
                self._found[slot] = (key, make(), None)
            except CrubricError as error:
                self._found[slot] = (key, None, error)
        _, found, fault = self._found[slot]
        if fault is not None:
            raise fault.with_traceback(None)  # else it would gather the frames of each run
        return cast("T", found)
