"""The data page: files in, reports, deletion."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.pages.conftest import Open

HEADER = "system,query,rubric,judge,label"
ROWS = [
    f"{system},q{n},r{n},{judge},{int((n + i + j) % 3 > 0)}"
    for i, system in enumerate("abc")
    for n in range(6)
    for j, judge in enumerate(("j1", "j2"))
]


def csv(*rows: str) -> bytes:
    return "\n".join([HEADER, *rows]).encode()


def upload(app: object, name: str, content: bytes) -> None:
    app.file_uploader[0].set_value((name, content, "text/csv")).run()


def read(app: object) -> None:
    next(b for b in app.button if b.label.startswith("Read")).click().run()


def test_a_label_table_becomes_a_dataset_named_after_its_file(open_page: Open, tmp_path: Path) -> None:
    app = open_page("data", tmp_path / "w.duckdb")
    upload(app, "fin.csv", csv(*ROWS))
    read(app)
    assert not app.error
    assert "36 rows read" in app.success[0].value.replace("\\", "")
    assert app.dataframe[-2].value["name"].tolist() == ["fin"]


def test_rejected_rows_are_shown_with_their_reasons(open_page: Open, tmp_path: Path) -> None:
    app = open_page("data", tmp_path / "w.duckdb")
    upload(app, "fin.csv", csv(*ROWS, "a,q1,r1,j3,maybe"))
    read(app)
    assert "1 left out" in app.warning[0].value
    rejects = next(d.value for d in app.dataframe if "reason" in d.value.columns)
    assert rejects["value"].tolist() == ["maybe"]


def test_an_unreadable_file_is_one_clear_sentence_and_cannot_be_read(open_page: Open, tmp_path: Path) -> None:
    app = open_page("data", tmp_path / "w.duckdb")
    upload(app, "empty.csv", b"")
    assert "is empty" in app.error[0].value
    assert next(b for b in app.button if b.label.startswith("Read")).disabled


def test_columns_of_another_name_are_asked_for(open_page: Open, tmp_path: Path) -> None:
    app = open_page("data", tmp_path / "w.duckdb")
    renamed = csv(*ROWS).replace(b"label", b"mark", 1)
    upload(app, "fin.csv", renamed)
    assert "no column for label" in app.error[0].value.replace("\\", "")
    chooser = next(s for s in app.selectbox if s.label.startswith("label"))
    chooser.set_value("mark").run()
    assert not app.error
    read(app)
    assert "36 rows read" in app.success[0].value.replace("\\", "")


def test_a_dataset_goes_only_when_its_name_is_typed(open_page: Open, study: Path, tmp_path: Path) -> None:
    path = Path(shutil.copy(study, tmp_path / "w.duckdb"))
    app = open_page("data", path)
    delete = next(b for b in app.button if b.label == "Delete")
    assert delete.disabled
    app.text_input(key="delete small").set_value("smal").run()
    assert next(b for b in app.button if b.label == "Delete").disabled
    app.text_input(key="delete small").set_value("small").run()
    next(b for b in app.button if b.label == "Delete").click().run()
    assert "No dataset yet" in app.subheader[0].value
