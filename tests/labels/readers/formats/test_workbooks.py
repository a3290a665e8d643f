"""Workbooks as people make them: titles above the table, merged cells, two header rows, several sheets."""

from __future__ import annotations

import io
import zipfile
from xml.sax.saxutils import escape

from crubric_core.labels.readers.bundle import plan_ingest
from crubric_core.labels.readers.formats.sheets_child import blank_formulas, table_of
from crubric_core.labels.readers.plan import notes_of

_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
LONG = [["system", "query", "rubric", "judge", "label"], ["a", "q", "r", "j", "1"], ["b", "q", "r", "j", "0"]]


def sheet(rows, merges=()):
    """The XML of a sheet; a cell of None is not written."""
    lines = []
    for r, row in enumerate(rows, 1):
        cells = "".join(
            f'<c r="{chr(65 + c)}{r}" t="inlineStr"><is><t>{escape(str(cell))}</t></is></c>'
            for c, cell in enumerate(row)
            if cell is not None
        )
        lines.append(f'<row r="{r}">{cells}</row>')
    merged = "".join(f'<mergeCell ref="{m}"/>' for m in merges)
    return f"<sheetData>{''.join(lines)}</sheetData>" + (
        f"<mergeCells>{merged}</mergeCells>" if merged else ""
    )


def workbook(**sheets):
    """An .xlsx of sheets by name."""
    numbered = list(enumerate(sheets.items(), 1))
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="xml" '
        'ContentType="application/xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="r1" '
        f'Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>'
        + "".join(f'<sheet name="{name}" sheetId="{n}" r:id="r{n}"/>' for n, (name, _) in numbered)
        + "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
        + "".join(
            f'<Relationship Id="r{n}" Type="{_OFFICE}/worksheet" Target="worksheets/sheet{n}.xml"/>'
            for n, _ in numbered
        )
        + "</Relationships>",
    } | {
        f"xl/worksheets/sheet{n}.xml": f'<worksheet xmlns="{_MAIN}">{xml}</worksheet>'
        for n, (_, xml) in numbered
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return out.getvalue()


def labels(ws):
    table = ws.dataset("d").labels()
    return {
        tuple(row[:-1]): row[-1]
        for row in table[["system", "query", "rubric", "judge", "label"]].values.tolist()
    }


def test_titles_above_the_header_are_no_rows(ws):
    rows = [["Study of May"], [None], ["Made by the team", "v2"], *LONG]
    ws.ingest(workbook(S=sheet(rows, ["A1:E1"])), "d", name="x.xlsx")
    assert labels(ws) == {("a", "q", "r", "j"): 1, ("b", "q", "r", "j"): 0}


def test_a_merged_cell_holds_for_all_of_its_rows(ws):
    rows = [LONG[0], ["a", "q", "r", "j", "1"], [None, None, "s", "j", "0"], [None, None, "t", "j", "1"]]
    ws.ingest(workbook(S=sheet(rows, ["A2:A4", "B2:B4"])), "d", name="x.xlsx")
    assert labels(ws) == {("a", "q", "r", "j"): 1, ("a", "q", "s", "j"): 0, ("a", "q", "t", "j"): 1}


def test_two_header_rows_are_judges_over_criteria(ws):
    rows = [
        ["model", "question", "gpt-4o", None, "claude", None],
        [None, None, "cites", "clear", "cites", "clear"],
        ["a", "q1", "1", "0", "1", "1"],
        ["b", "q1", "0", "0", "1", "0"],
    ]
    ws.ingest(workbook(S=sheet(rows, ["A1:A2", "B1:B2", "C1:D1", "E1:F1"])), "d", name="x.xlsx")
    ds = ws.dataset("d")
    assert ds.judges == ("claude", "gpt-4o")
    assert labels(ws)["a", "q1", "clear", "gpt-4o"] == 0
    assert labels(ws)["a", "q1", "clear", "claude"] == 1
    assert ds.counts()["labels"] == 8


def test_one_sheet_a_judge_makes_judges_of_the_sheets_names(ws):
    one = [[*LONG[0][:3], "label"], ["a", "q", "r", "1"], ["b", "q", "r", "0"]]
    other = [one[0], ["a", "q", "r", "0"], ["b", "q", "r", "0"]]
    content = workbook(**{"gpt-4o": sheet(one), "claude-3": sheet(other)})
    plan = plan_ingest([("x.xlsx", content)], strict=True)
    ws.ingest_plan(plan, "d", [("x.xlsx", content)])
    assert ws.dataset("d").judges == ("claude-3", "gpt-4o")
    assert ws.dataset("d").counts()["labels"] == 4


def test_a_sheet_of_notes_beside_the_table_is_skipped(ws):
    content = workbook(Labels=sheet(LONG), Notes=sheet([["We rated in May."], ["Ask Kim."]]))
    plan = plan_ingest([("x.xlsx", content)])
    assert [f.name for f in plan.files if not f.skip] == ["x.xlsx › Labels"]


def test_blank_columns_and_rows_fall_away_and_numbers_stay_as_they_are_meant():
    rows = [["system", "", "label"], ["a", "", 4.0], ["", "", ""], ["b", "", True]]
    assert table_of(rows, ()) == [["system", "label"], ["a", "4"], ["b", "true"]]


def test_formulas_without_a_stored_value_are_told(tmp_path):
    """openpyxl and other programs that compute nothing store none; an empty text that was computed is one."""
    rows = sheet(LONG)
    last = '<c r="E3" t="inlineStr"><is><t>0</t></is></c>'
    assert last in rows
    for cell, told in (
        ('<c r="E3"><f>1+1</f><v></v></c>', True),
        ('<c r="E3"><f>1-1</f><v/></c>', True),
        ('<c r="E3" s="1"><f t="shared" si="0"/></c>', True),
        ('<c r="E3" t="str"><f>""</f><v></v></c>', False),
        ('<c r="E3"><f>1-1</f><v>0</v></c>', False),
        ('<c r="E3"/>', False),
    ):
        path = tmp_path / "labels.xlsx"
        path.write_bytes(workbook(labels=rows.replace(last, cell)))
        notes = notes_of(plan_ingest(path))
        assert any("1 formula of the workbook has no stored value" in note for note in notes) == told, cell


def test_a_formula_at_the_end_of_a_block_is_found(tmp_path):
    cell = b'<c r="A1"><f>1+1</f></c>'
    path = tmp_path / "labels.xlsx"
    for before in range(0, len(cell) + 1, 3):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(
                "xl/worksheets/sheet1.xml", b"x" * ((1 << 20) - before) + cell + b"x" * (1 << 20)
            )
        assert blank_formulas(path) == 1
