"""Links among the files that are handed over: they are not followed, and never passed over in silence."""

from __future__ import annotations

import io
import tarfile

import pytest

from crubric_core.errors import IngestError
from crubric_core.labels import Workspace

HEAD = "system,query,rubric,judge,label\n"


def table(judge: str) -> str:
    return HEAD + "".join(f"{s},q{q},r,{judge},{q % 2}\n" for s in "ab" for q in range(4))


@pytest.fixture
def folder(tmp_path):
    """A folder whose files lie elsewhere, as data version control leaves them."""
    there, found = tmp_path / "blobs", tmp_path / "labels"
    for made in (there, found):
        made.mkdir()
    (there / "x").write_text(table("j2"))
    (found / "b.csv").symlink_to(there / "x")
    return found


def test_a_link_beside_files_is_named_with_what_to_do(folder):
    (folder / "a.csv").write_text(table("j1"))
    with Workspace() as workspace:
        report = workspace.ingest(folder, "d")
        assert workspace.dataset("d").judges == ("j1",)
    assert [note for note in report.notes if "'b.csv' is a link, and was not read: name it" in note]


def test_a_folder_of_links_alone_is_refused_by_their_names(folder):
    with Workspace() as workspace, pytest.raises(IngestError, match=r"'b\.csv' is a link, and was not read"):
        workspace.ingest(folder, "d")


def test_a_link_that_is_named_is_read(folder):
    with Workspace() as workspace:
        assert workspace.ingest(folder / "b.csv", "d").accepted == 8


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE], ids=["symbolic", "hard"])
def test_a_link_in_a_tar_archive_is_refused_as_in_a_zip_archive(kind):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        content = table("j1").encode()
        entry = tarfile.TarInfo("a.csv")
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))
        link = tarfile.TarInfo("b.csv")
        link.type, link.linkname = kind, "a.csv"
        archive.addfile(link)
    with Workspace() as workspace, pytest.raises(IngestError, match=r"holds a link, 'b\.csv', not a file"):
        workspace.ingest(buffer.getvalue(), "d", name="x.tar")
