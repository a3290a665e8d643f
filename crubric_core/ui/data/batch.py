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
    """The files of one upload, copied and unpacked once, with cached results about them and the user's choices.

    answers: word → the label that the user assigned to it, as text, "" for none yet. rows: policy → number of rows
    that it decides. offered: policy → a value proposed by an error message.
    scales, marks: criterion → scale, pass mark, where the user changed them.
    reading: the job that ingests the files and then has the report; None before it starts.
    discarded: whether to forget the files as soon as no job reads them.
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
        """Cancel the job that reads the files, and mark them to be forgotten when it ends."""
        self.discarded = True
        if self.reading is not None:
            self.reading.cancel.set()

    def once(self, slot: Hashable, key: Hashable, make: Callable[[], T]) -> T:
        """The result of ``make``, cached in ``slot`` until ``key`` changes; a CrubricError is cached and re-raised."""
        if self._found.get(slot, (object(),))[0] != key:
            try:
                self._found[slot] = (key, make(), None)
            except CrubricError as error:
                self._found[slot] = (key, None, error)
        _, found, fault = self._found[slot]
        if fault is not None:
            raise fault.with_traceback(None)  # otherwise its traceback would grow with each run
        return cast("T", found)
