"""Wide tables, workbooks, archives and folders: many files become one dataset, or none does."""

from __future__ import annotations

import io
import zipfile
import zlib

import pandas as pd
import pytest

from crubric_core.errors import IngestError
from crubric_core.labels.readers.bundle import plan_ingest, preview_file
from crubric_core.labels.readers.formats import database, parquet
from crubric_core.labels.readers.plan import Options, Plan

from .conftest import labels_of, lines

LONG = b"system,query,rubric,judge,label\na,q,r1,j,1\nb,q,r1,j,0\na,q,r2,j,1\nb,q,r2,j,1\n"


def archive(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as made:
        for name, content in files.items():
            made.writestr(name, content)
    return buffer.getvalue()


def workbook(**sheets: list[list[object]]) -> bytes:
    """The smallest .xlsx that holds these sheets, cells as inline text, numbers or booleans."""

    def cell(value: object) -> str:
        if isinstance(value, bool):
            return f'<c t="b"><v>{int(value)}</v></c>'
        if isinstance(value, (int, float)):
            return f"<c><v>{value}</v></c>"
        return f'<c t="inlineStr"><is><t>{value}</t></is></c>'

    def sheet(rows: list[list[object]]) -> str:
        body = "".join(f"<row>{''.join(map(cell, row))}</row>" for row in rows)
        return (
            '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
            f"<sheetData>{body}</sheetData></worksheet>"
        )

    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    listed = "".join(f'<sheet name="{n}" sheetId="{i}" r:id="r{i}"/>' for i, n in enumerate(sheets, 1))
    related = "".join(
        f'<Relationship Id="r{i}" Type="{office}/worksheet" Target="worksheets/s{i}.xml"/>'
        for i, _ in enumerate(sheets, 1)
    )
    package = "http://schemas.openxmlformats.org/package/2006"
    return archive(
        {
            "[Content_Types].xml": f'<Types xmlns="{package}/content-types"/>'.encode(),
            "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r" '
            f'Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>'.encode(),
            "xl/workbook.xml": '<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" '
            f'xmlns:r="{office}"><sheets>{listed}</sheets></workbook>'.encode(),
            "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships">{related}'
            "</Relationships>".encode(),
            **{f"xl/worksheets/s{i}.xml": sheet(rows).encode() for i, rows in enumerate(sheets.values(), 1)},
        }
    )


# --- wide tables


def test_one_column_a_judge(read):
    content = b"system,query,rubric,gpt-4o,claude\na,q,r,1,0\nb,q,r,1,\n"
    dataset, report = read(content, "wide.csv")
    assert labels_of(dataset) == {
        ("a", "q", "r", "gpt-4o", 1),
        ("a", "q", "r", "claude", 0),
        ("b", "q", "r", "gpt-4o", 1),
        ("b", "q", "r", "claude", None),
    }
    assert (report.accepted, report.blank) == (4, 1)
    assert "one column for each judge" in " ".join(report.notes)


def test_one_column_a_system_under_shared_endings(read):
    content = b"criterion,weight,gpt_score,llama_score\nkind,2,yes,no\nshort,1,no,no\n"
    dataset, report = read(content, "wide.csv")
    assert labels_of(dataset) == {
        ("gpt", "all", "kind", "judge", 1),
        ("llama", "all", "kind", "judge", 0),
        ("gpt", "all", "short", "judge", 0),
        ("llama", "all", "short", "judge", 0),
    }
    assert "no = 0, yes = 1" in " ".join(report.notes)


def test_one_column_a_rubric(read):
    dataset, _ = read(b"model,judge,coherence,fluency\na,j,5,4\nb,j,3,2\n", "wide.csv")
    assert dataset.systems == ("a", "b")
    assert set(dataset.rubrics["rubric"]) == {"coherence", "fluency"}
    assert ("b", "all", "fluency", "j", 2) in labels_of(dataset)


def test_a_wide_table_says_in_which_row_and_column_a_cell_is_wrong(read):
    _, report = read(
        b"system,rubric,j1,j2\na,r,1,0\nb,r,0,1\nc,r,1,1\nd,r,1,1\ne,r,1,1\nf,r,1,maybe\n" * 1, "wide.csv"
    )
    assert report.rejects["reason"].tolist() == [
        "maybe is not a number: say what it stands for (--answer WORD=LABEL) (row 7, column j2)"
    ]


def test_wide_columns_may_be_named_by_the_user(read):
    content = b"who,item,a,b,c\ns1,r,1,0,7\ns2,r,1,1,8\n"
    dataset, _ = read(content, "wide.csv", mapping={"system": "who", "rubric": "item", "judge": ("a", "b")})
    assert dataset.judges == ("a", "b")


def test_a_long_table_is_not_taken_for_a_wide_one(read):
    dataset, _ = read(b"system,rubric,judge,label,tokens,epoch\na,r,j,1,3,1\nb,r,j,0,4,1\n", "long.csv")
    assert dataset.judges == ("j",)


# --- words


def test_partial_verdicts_make_three_levels(read):
    content = b"system,rubric,judge,label\na,r,j,Satisfied\nb,r,j,Partially Satisfied\nc,r,j,NOT_SATISFIED\nd,r,j,N/A\n"
    dataset, report = read(content, "words.csv")
    assert {(s, v) for s, *_, v in labels_of(dataset)} == {("a", 2), ("b", 1), ("c", 0), ("d", None)}
    assert "Partially Satisfied = 1, Satisfied = 2" in " ".join(report.notes)


def test_words_are_settled_by_all_rows_and_a_person_goes_before(ws):
    rows = [f"s{i},r,j,{'PASS' if i % 2 else 'FAIL'}" for i in range(300)] + ["late,r,j,PARTIAL"]
    content = "\n".join(["system,rubric,judge,label", *rows]).encode()
    report = ws.ingest(content, "d", name="w.csv")
    assert "Words were read as labels: FAIL = 0, PARTIAL = 1, PASS = 2." in report.notes
    assert report.rejected == 0
    plan = plan_ingest(("w.csv", content))
    assert plan.files[0].words == {"FAIL": 0, "PASS": 1}
    changed = plan.changed("w.csv", words={"FAIL": 1, "PASS": 3, "PARTIAL": 2})
    ws.ingest_plan(changed, "e", ("w.csv", content))
    assert set(ws.dataset("e").labels()["label"]) == {1, 2, 3}


def test_words_nobody_understands_are_left_out_by_name(read):
    _, report = read(b"system,rubric,label\na,r,PASS\nb,r,FAIL\nc,r,perhaps\n", "words.csv")
    assert report.rejects["value"].tolist() == ["perhaps"]


# --- workbooks


def test_a_workbook_gives_each_sheet_that_is_a_table(read):
    content = workbook(
        Labels=[
            ["system", "query", "rubric", "judge", "label"],
            ["a", "q", "r", "j", 1],
            ["b", "q", "r", "j", False],
        ],
        Rubrics=[["rubric", "query", "text", "weight"], ["r", "q", "Is kind", 2.5]],
        Notes=[["made by hand"]],
    )
    dataset, report = read(content, "study.xlsx")
    assert labels_of(dataset) == {("a", "q", "r", "j", 1), ("b", "q", "r", "j", 0)}
    assert dataset.rubrics[["text", "weight"]].to_numpy().tolist() == [["Is kind", 2.5]]
    assert [p.source for p in report.parts] == ["study.xlsx › Rubrics", "study.xlsx › Labels"]


@pytest.mark.parametrize(
    "broken", [archive({"xl/workbook.xml": b"<nonsense"}), archive({"xl/workbook.xml": b""})]
)
def test_a_damaged_workbook_is_refused_in_a_sentence(read, broken):
    with pytest.raises(IngestError, match=r"cannot be read as a workbook|No sheet of"):
        read(broken, "study.xlsx")


# --- archives


RUBRICS = b"rubric,query,points\nr1,q,5\nr2,q,-8\n"


def test_an_archive_of_tables_is_one_ingest(read):
    content = archive(
        {"data/labels.csv": LONG, "data/rubrics.csv": RUBRICS, "README.md": b"# Hello\n\nA study.\n"}
    )
    dataset, report = read(content, "study.zip")
    assert report.accepted == 4
    assert [p.kind for p in report.parts] == ["rubrics", "labels"]
    assert dataset.rubrics["polarity"].tolist() == [1, -1]
    assert "README.md was skipped" in " ".join(report.notes)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("README.md", b"# Results\n\nA study, with a comma.\n"),
        ("run.log", b"2026 INFO begun\n2026 INFO done\n"),
        ("report.html", b"<html><body>x</body></html>"),
        ("score.txt", b"Overall Score: 0.27\n"),
    ],
)
def test_a_file_that_is_no_data_is_skipped_beside_tables_that_are_named_after_their_systems(
    ws, name, content
):
    """The folder was refused for it, as no table was whole before its system was taken from its name."""
    own = b"query,rubric,judge,label\nq,r1,j,1\nq,r2,j,0\n"
    report = ws.ingest(archive({"gpt-4o.csv": own, "o3.csv": own, name: content}), "d", name="study.zip")
    assert ws.dataset("d").systems == ("gpt-4o", "o3")
    assert f"{name} was skipped" in " ".join(report.notes)


def test_a_damaged_table_beside_tables_named_after_their_systems_is_not_skipped(ws):
    """Its system would be lost."""
    own = b"query,rubric,judge,label\nq,r1,j,1\nq,r2,j,0\n"
    files = {"gpt-4o.csv": own, "o3.csv": own, "claude.csv": own.partition(b"\n")[2]}
    with pytest.raises(IngestError, match=r"claude\.csv seems to have no line of column names"):
        ws.ingest(archive(files), "d", name="study.zip")


def test_one_bad_file_in_an_archive_leaves_the_workspace_as_it_was(ws):
    bad = LONG.replace(b"label", b"code")
    with pytest.raises(IngestError, match="no column for label"):
        ws.ingest(archive({"a.csv": LONG, "b.csv": bad}), "d", name="study.zip")
    conflicting = LONG.replace(b"r2", b"r1")
    ws.ingest(LONG, "kept")
    with pytest.raises(IngestError):
        ws.ingest(
            archive(
                {"a.csv": LONG, "b.csv": conflicting.replace(b",1\n", b",x\n").replace(b",0\n", b",x\n")}
            ),
            "d",
        )
    assert ws.datasets()["name"].tolist() == ["kept"]


def test_systems_and_judges_come_from_the_files_names(ws):
    record = {"prompt_id": "p", "score": 1, "grades": [{"criteria_met": True}]}
    files = {f"runs/grades/{s}__{j}.jsonl": lines(record) for s in ("m1", "m2") for j in ("j1", "j2", "j3")}
    report = ws.ingest(archive(files), "d", name="grades.zip")
    assert report.accepted == 6
    assert ws.dataset("d").systems == ("m1", "m2")
    assert ws.dataset("d").judges == ("j1", "j2", "j3")


def test_folders_name_the_systems_where_the_files_are_named_alike(ws, tmp_path):
    check = {"checklist_id": 0, "evaluation_score": 0.5}
    for system in ("glm", "gpt"):
        for task in ("chat", "story"):
            file = tmp_path / "judgements" / "main" / system / f"{task}_results.jsonl"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(lines({"id": f"{task}_1", "checklist_wise_evaluation": [check]}))
    plan = plan_ingest(tmp_path / "judgements")
    assert plan.pattern == "{system}/*_results.jsonl"
    report = ws.ingest_plan(plan, "d", tmp_path / "judgements")
    assert (report.accepted, ws.dataset("d").systems) == (4, ("glm", "gpt"))


@pytest.mark.parametrize(
    "name", ["../../evil.csv", "/etc/evil.csv", "C:\\evil.csv", "a/../../b.csv", "nul\0.csv"]
)
def test_names_in_an_archive_are_only_names(ws, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    ws.ingest(archive({name.replace("\0", "_"): LONG}), "d", name="study.zip")
    assert list(tmp_path.iterdir()) == []
    assert ws.dataset("d").counts()["labels"] == 4


def test_a_bomb_is_refused_by_what_it_declares(read):
    with pytest.raises(IngestError, match="unpacks to far more than it should"):
        read(archive({"labels.csv": bytes(40 << 20)}), "bomb.zip")


def test_a_bomb_is_refused_by_what_it_really_holds(read):
    content = archive({"labels.csv": LONG + b"a,q,r3,j,1\n" * 400_000})
    lying = patched_sizes(content, 1000)
    with pytest.raises(IngestError, match=r"unpacks to far more|cannot be unpacked"):
        read(lying, "bomb.zip")


def patched_sizes(content: bytes, size: int) -> bytes:
    """The same archive, declaring another size of its only file."""
    made = bytearray(content)
    local, central = made.find(b"PK\x03\x04"), made.find(b"PK\x01\x02")
    made[local + 22 : local + 26] = size.to_bytes(4, "little")
    made[central + 24 : central + 28] = size.to_bytes(4, "little")
    return bytes(made)


def test_archives_that_are_nested_encrypted_or_damaged_are_refused(read):
    with pytest.raises(IngestError, match="holds another archive"):
        read(archive({"inner.zip": archive({"labels.csv": LONG})}), "outer.zip")
    encrypted = bytearray(archive({"labels.csv": LONG}, zipfile.ZIP_STORED))
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        encrypted[encrypted.find(signature) + offset] |= 1
    with pytest.raises(IngestError, match="is encrypted"):
        read(bytes(encrypted), "secret.zip")
    with pytest.raises(IngestError, match="not a complete ZIP archive"):
        read(archive({"labels.csv": LONG})[:-30], "cut.zip")
    spoilt = bytearray(archive({"labels.csv": LONG * 50}))
    spoilt[60] ^= 0xFF
    with pytest.raises(IngestError, match="cannot be unpacked"):
        read(bytes(spoilt), "spoilt.zip")
    with pytest.raises(IngestError, match="is an empty archive"):
        read(archive({}), "nothing.zip")


def test_the_sum_of_a_spoilt_file_is_checked_not_trusted(read):
    content = bytearray(archive({"labels.csv": LONG}, zipfile.ZIP_STORED))
    at = content.find(b"a,q,r1,j,1")
    content[at + 9] = ord("0")
    assert zlib.crc32(LONG) != zlib.crc32(bytes(content))
    with pytest.raises(IngestError, match="cannot be unpacked"):
        read(bytes(content), "changed.zip")


def test_a_database_that_failed_on_a_file_reads_no_other_one(tmp_path):
    good, bad = tmp_path / "good.parquet", tmp_path / "bad.parquet"
    pd.DataFrame({"a": range(3000)}).to_parquet(good)
    bad.write_bytes(good.read_bytes()[:200] + b"PAR1")
    database._idle.clear()
    rows = parquet.ParquetReader(good, "good").records()
    next(rows)
    assert not database._idle  # the rows have it
    with pytest.raises(IngestError):
        parquet.ParquetReader(bad, "bad")
    assert not database._idle  # the one that failed is gone
    assert [record["a"] for _, record in rows] == [*range(1, 3000)]
    assert len(database._idle) == 1


def test_nested_parquet_is_read_like_the_json_it_was_made_from(ws, tmp_path):
    record = {"model": "m", "judge": "j", "prompt_id": "p", "score": 0.5, "criteria_met": [True, False]}
    pd.DataFrame([record, {**record, "prompt_id": "q"}]).to_parquet(tmp_path / "grades.parquet")
    ws.ingest(tmp_path / "grades.parquet", "d")
    assert ("m", "q", "q#1", "j", 0) in labels_of(ws.dataset("d"))
    assert len(labels_of(ws.dataset("d"))) == 4


def test_a_judge_may_be_in_the_path_and_the_system_in_the_record(ws, tmp_path):
    folder = tmp_path / "score.v2" / "eval=gpt-4"
    folder.mkdir(parents=True)
    record = {"session_id": "s", "model_test": "org/llama-8b", "parsed_result": {"score": "4"}, "score": "4"}
    (folder / "llama-renamed.json").write_bytes(lines(record))
    for number, source in enumerate((folder / "llama-renamed.json", tmp_path)):
        ws.ingest(source, f"d{number}")
        assert labels_of(ws.dataset(f"d{number}")) == {("llama-8b", "s", "s#score", "gpt-4", 4)}


# --- plans


def test_a_plan_is_json_and_comes_back_the_same(tmp_path):
    (tmp_path / "a.csv").write_bytes(LONG)
    (tmp_path / "b.csv").write_bytes(RUBRICS)
    plan = plan_ingest([tmp_path / "a.csv", tmp_path / "b.csv"], options=Options({"critical": -8}))
    assert Plan.from_json(plan.to_json()) == plan
    assert [(f.name, f.kind) for f in plan.files] == [("a.csv", "labels"), ("b.csv", "rubrics")]
    assert all(0 < g.confidence <= 1 and g.reason for f in plan.files for g in f.guesses)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"files": [{"nme": "x"}]}', '{"files": 7}', "[" * 99999])
def test_what_is_no_plan_is_refused_in_a_sentence(text):
    with pytest.raises(IngestError) as caught:
        Plan.from_json(text)
    assert "\n" not in str(caught.value)


def test_columns_are_guessed_from_what_they_hold_and_only_proposed(ws):
    content = b"candidate,aspect_text,mark\n" + b"".join(
        b"model %d,is it good in way %d,%d\n" % (i % 3, i // 3, i % 2) for i in range(60)
    )
    plan = plan_ingest(("table.csv", content))
    assert plan.file("table.csv").mapping == {
        "system": "candidate"
    }  # what is guessed with less is a question
    sure = {g.canonical: g.confidence for g in plan.file("table.csv").guesses}
    assert sure["label"] < 0.6 < 0.8
    with pytest.raises(IngestError, match="no column for"):
        ws.ingest(content, "d", name="table.csv")
    answered = {"system": "candidate", "rubric": "aspect_text", "label": "mark"}
    assert ws.ingest(content, "d", name="table.csv", mapping=answered).accepted == 60


def test_a_plan_can_be_changed_skipped_and_previewed(ws):
    files = [("a.csv", LONG), ("b.csv", RUBRICS)]
    plan = plan_ingest(files).changed("b.csv", skip=True)
    assert ws.ingest_plan(plan, "d", files, preview=True).accepted == 4
    assert ws.datasets().empty
    ws.ingest_plan(plan, "d", files)
    assert ws.dataset("d").rubrics["weight"].isna().all()


def test_a_pattern_of_the_user_goes_before_a_criterion_that_is_guessed(ws):
    content = b"system,query,judge,score\na,q,j,1\nb,q,j,2\n"
    files = [(f"{name}.csv", content) for name in ("clarity", "truth")]
    ws.ingest_plan(plan_ingest(files, kind="labels", pattern="{rubric}.csv"), "d", files)
    assert ws.dataset("d").labels().groupby("rubric").size().to_dict() == {"clarity": 2, "truth": 2}


def test_a_pattern_of_the_user_goes_before_the_guess_and_is_checked():
    record = {"prompt_id": "p", "grades": [{"criteria_met": True}]}
    plan = plan_ingest(("o3-by-gpt.jsonl", lines(record)), pattern="{system}-by-{judge}.jsonl")
    assert plan.files[0].mapping == {"system": "=o3", "judge": "=gpt"}
    for wrong in ("system.jsonl", "{model}.jsonl", "{system}{system}"):
        with pytest.raises(IngestError, match="must hold"):
            plan_ingest(("x.jsonl", lines(record)), pattern=wrong)


def test_severity_comes_from_points_only_where_the_user_says_so(ws):
    options = Options({"moderate": -4, "critical": -8})
    content = b"rubric,query,points\nr1,q,5\nr2,q,-8\nr3,q,-5\nr4,q,-1\n"
    ws.ingest(content, "plain", "rubrics", name="r.csv")
    ws.ingest_plan(plan_ingest(("r.csv", content), options=options), "graded", ("r.csv", content))
    assert ws.dataset("plain").rubrics["severity"].isna().all()
    assert ws.dataset("graded").rubrics["severity"].tolist() == [None, "critical", "moderate", None]


def test_peek_shows_the_first_rows_of_a_table_and_the_labels_of_a_native_file():
    found = preview_file(("a.csv", LONG), rows=2)
    assert found.columns == ("system", "query", "rubric", "judge", "label")
    assert found.rows.to_numpy().tolist() == [["a", "q", "r1", "j", "1"], ["b", "q", "r1", "j", "0"]]
    graded = {"prompt_id": "p", "grades": [{"criteria_met": True}]}
    assert preview_file(("m__j.jsonl", lines(graded))).rows["label"].tolist() == [1]


def test_gold_may_be_taken_from_a_file_of_labels(ws):
    record = {"prompt_id": "p", "grades": [{"criteria_met": True}]}
    ws.ingest(lines(record), "d", "gold", name="m__doctor.jsonl")
    assert ws.dataset("d").gold()["annotator"].tolist() == ["doctor"]


def test_a_matrix_has_neither_totals_nor_averages_for_rubrics_or_systems(read):
    content = (
        b",clear,cites,tone,Total\ngpt-4o,1,0,1,2\nclaude,1,1,1,3\nllama,0,0,1,1\nAverage,0.67,0.33,1,2\n"
    )
    dataset, report = read(content, "x.csv")
    assert dataset.systems == ("claude", "gpt-4o", "llama")
    assert set(dataset.rubrics["rubric"]) == {"clear", "cites", "tone"}
    assert "Not used of x.csv: Total." in report.notes
    assert report.rejected == 3
