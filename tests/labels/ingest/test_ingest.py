"""What an accepted file becomes."""

from __future__ import annotations

import io
import json
from pathlib import Path

import duckdb
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crubric_core.errors import IngestError
from crubric_core.labels import Scale, Workspace
from crubric_core.labels.readers import values

LONG = pd.DataFrame(
    {
        "system": ["a", "a", "b", "b"],
        "query": ["q1", "q2", "q1", "q2"],
        "rubric": ["r1", "r2", "r1", "r2"],
        "judge": ["j1", "j1", "j1", "j1"],
        "label": [1, 0, 0, 1],
    }
)


def stored(ws: Workspace, dataset: str = "d") -> list[tuple[object, ...]]:
    """The label rows as a person would read them."""
    with ws.reading() as cursor:
        return cursor.execute(
            "SELECT s.name, q.name, r.name, j.name, label FROM labels l JOIN systems s USING (system_id) "
            "JOIN rubrics r USING (rubric_id) LEFT JOIN queries q USING (query_id) JOIN judges j USING (judge_id) "
            "JOIN datasets d ON d.dataset_id = l.dataset_id WHERE d.name = ? ORDER BY ALL",
            [dataset],
        ).fetchall()


def write(frame: pd.DataFrame, path: Path) -> Path:
    match path.suffix:
        case ".csv":
            frame.to_csv(path, index=False)
        case ".tsv":
            frame.to_csv(path, index=False, sep="\t")
        case ".parquet":
            frame.to_parquet(path)
        case ".jsonl":
            frame.to_json(path, orient="records", lines=True)
        case ".json":
            frame.to_json(path, orient="records")
    return path


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".jsonl", ".json"])
def test_every_format_gives_the_same_dataset(ws, tmp_path, suffix):
    report = ws.ingest(write(LONG, tmp_path / f"labels{suffix}"), "d")
    ws.ingest(LONG.to_csv(index=False).encode(), "reference")
    assert (report.accepted, report.rejected, report.kind, report.dataset) == (4, 0, "labels", "d")
    assert stored(ws) == sorted(LONG.itertuples(index=False, name=None))
    assert report.fingerprint == ws.dataset("d").fingerprint == ws.dataset("reference").fingerprint


@pytest.mark.parametrize("delimiter", [",", "\t", ";", "|"])
def test_the_delimiter_is_found(ws, delimiter):
    ws.ingest(LONG.to_csv(index=False, sep=delimiter).encode(), "d")
    assert stored(ws) == sorted(LONG.itertuples(index=False, name=None))


def test_commas_inside_quoted_text_do_not_mislead_the_delimiter(ws):
    ws.ingest(b'system;rubric;label\n"a, b, c";"r, s";1\n"d, e, f";"r, s";0\n', "d")
    assert ws.dataset("d").systems == ("a, b, c", "d, e, f")


def test_a_byte_order_mark_and_windows_line_ends_are_no_part_of_the_data(ws):
    ws.ingest(b"\xef\xbb\xbf" + LONG.to_csv(index=False, lineterminator="\r\n").encode(), "d")
    assert stored(ws) == sorted(LONG.itertuples(index=False, name=None))


def test_a_source_may_be_bytes_an_open_file_a_path_or_its_text(ws, tmp_path):
    path = write(LONG, tmp_path / "labels.csv")
    ws.ingest(path, "path")
    ws.ingest(str(path), "text")
    ws.ingest(path.read_bytes(), "bytes")
    with path.open("rb") as file:
        assert ws.ingest(file, "file").source == "labels.csv"
    assert ws.ingest(io.BytesIO(path.read_bytes()), "stream", name="mine.csv").source == "mine.csv"
    assert set(ws.datasets()["fingerprint"]) == {ws.dataset("path").fingerprint}


@pytest.mark.parametrize("name", ["a[1].csv", "a*.csv", "what?.csv", "it's.csv", "semi;colon.csv"])
def test_a_file_name_is_never_a_pattern_or_sql(ws, tmp_path, name):
    path = write(LONG, tmp_path / name)
    write(LONG.assign(system="other"), tmp_path / "a1.csv")
    ws.ingest(path, "d")
    assert ws.dataset("d").systems == ("a", "b")


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("1", 1),
        ("0", 0),
        (" 1 ", 1),
        ("1.0", 1),
        ("1e0", 1),
        ("true", 1),
        ("FALSE", 0),
        ("Yes", 1),
        ("no", 0),
        ("PASS", 1),
        ("fail", 0),
        ("Met", 1),
        ("UNMET", 0),
        ("not_met", 0),
        ("Satisfied", 1),
        ("Not Satisfied", 0),
        ("", None),
        ("  ", None),
        ("NA", None),
        ("n/a", None),
        ("null", None),
        ("None", None),
        ("NaN", None),
    ],
)
def test_a_label_may_be_a_number_a_verdict_or_unknown(ws, text, label):
    report = ws.ingest(f"system,rubric,label\na,r,{text}\nb,r,1\n".encode(), "d")
    assert stored(ws)[0][-1] == label
    assert (report.accepted, report.blank) == (2, int(label is None))


def test_booleans_and_missing_values_of_parquet_and_json_are_labels(ws, tmp_path):
    frame = pd.DataFrame({"system": list("abc"), "rubric": ["r"] * 3, "label": [True, False, None]})
    ws.ingest(write(frame, tmp_path / "x.parquet"), "parquet")
    ws.ingest(json.dumps(frame.to_dict(orient="records")).encode(), "json")
    for name in ("parquet", "json"):
        assert [row[-1] for row in stored(ws, name)] == [1, 0, None]


def test_names_keep_whatever_they_say(ws):
    names = [
        "'; DROP TABLE labels; --",
        "=1+1",
        "<script>alert(1)</script>",
        'say "hi"',
        "名前",
        "a,b",
        "$1 ? {x}",
    ]
    frame = pd.DataFrame({"system": names, "rubric": names, "judge": names, "query": names, "label": 1})
    report = ws.ingest(frame.to_csv(index=False).encode(), "it's; a -- name")
    ds = ws.dataset("it's; a -- name")
    assert report.accepted == len(names)
    assert list(ds.systems) == list(ds.judges) == sorted(names)
    assert sorted(ds.rubrics["rubric"]) == sorted(names)


def test_a_label_table_without_judge_has_one_judge(ws, table):
    ws.ingest(table("a r 1", "b r 0", header="system rubric label"), "d")
    assert ws.dataset("d").judges == ("judge",)


def test_rubrics_without_query_form_one_query(ws, table):
    ws.ingest(table("a r1 1", "b r2 0", header="system rubric label"), "d")
    ds = ws.dataset("d")
    assert list(ds.queries["query"]) == ["all"]
    assert list(ds.rubrics["query"]) == ["all", "all"]


def test_one_rubric_name_in_two_queries_is_two_rubrics(ws, table):
    ws.ingest(table("a q1 accuracy j 1", "a q2 accuracy j 0", "a q2 style j 1"), "d")
    assert list(ws.dataset("d").rubrics["rubric"]) == ["q1#accuracy", "q2#accuracy", "style"]


def test_a_row_that_names_no_query_borrows_that_of_the_only_rubric_so_named(ws, table):
    ws.ingest(table("a q1 r1 j 1", "b q2 r2 j 0"), "d")
    ws.ingest(table("b r1 0", header="system rubric label"), "d", mapping={"system": "system"})
    assert len(ws.dataset("d").rubrics) == 2


def test_a_row_that_names_no_query_is_rejected_where_several_could_be_meant(ws, table):
    ws.ingest(table("a q1 r j 1", "b q2 r j 0"), "d")
    report = ws.ingest(table("c r j 1", "c new j 1", header="system rubric judge label"), "d")
    assert report.rejects[["row", "column"]].to_dict("records") == [{"row": 2, "column": "query"}]
    assert "several queries" in report.rejects["reason"][0]


@pytest.mark.parametrize("order", [("labels", "rubrics"), ("rubrics", "labels")])
def test_labels_without_query_find_the_query_that_the_rubrics_table_names(ws, table, order):
    files = {
        "labels": table("a r1 1", "b r2 0", header="system rubric label"),
        "rubrics": table("r1 q1", "r2 q2", header="rubric query"),
    }
    for kind in order:
        ws.ingest(files[kind], "d", kind)
    assert list(ws.dataset("d").rubrics["query"]) == ["q1", "q2"]
    assert ws.dataset("d").counts()["rubrics"] == 2


@pytest.mark.parametrize("order", [("labels", "rubrics"), ("rubrics", "labels")])
def test_a_rubric_described_without_query_is_described_for_every_query(ws, table, order):
    files = {
        "labels": table("a q1 accuracy j 1", "a q2 accuracy j 0"),
        "rubrics": table("accuracy 2.5 5", header="rubric weight scale_max"),
    }
    for kind in order:
        ws.ingest(files[kind], "d", kind)
    rubrics = ws.dataset("d").rubrics
    assert list(rubrics["weight"]) == [2.5, 2.5]
    assert list(rubrics["scale_max"]) == [5, 5]


def test_rubrics_and_queries_carry_their_descriptions(ws, table):
    ws.ingest(table("a q1 r1 j 1", "a q2 r2 j 0"), "d")
    ws.ingest(
        table(
            "r1 q1 cites 0 1 2.5 accuracy critical",
            "r3 q2 late 0 4 NA style ",
            header="rubric query text scale_min scale_max weight dimension severity",
        ),
        "d",
        "rubrics",
    )
    ws.ingest(
        table(
            "q1 how? law decision_support 0.7 2",
            header="query text domain task_type p_decision_support omega",
        ),
        "d",
        "queries",
    )
    rubrics = ws.dataset("d").rubrics.set_index("rubric")
    assert rubrics.loc["r1"].tolist() == [
        "q1",
        "cites",
        0,
        1,
        2,
        2.5,
        "accuracy",
        "critical",
        1,
        None,
        "r1",
        1,
        "given",
    ]
    assert list(rubrics.index) == ["r1", "r2", "r3"]
    assert rubrics.loc["r2", "text"] is None
    assert pd.isna(rubrics.loc["r3", "weight"])
    queries = ws.dataset("d").queries.set_index("query")
    assert queries.loc["q1", ["text", "domain", "task_type", "p_decision_support", "omega"]].tolist() == [
        "how?",
        "law",
        "decision_support",
        0.7,
        2,
    ]
    assert queries.loc["q2", "domain"] is None
    assert pd.isna(queries.loc["q2", "omega"])


def test_gold_labels_keep_their_annotators_apart_from_the_judges(ws, table):
    ws.ingest(table("a q1 r1 j 1", "b q1 r1 j 0"), "d")
    ws.ingest(
        table("a r1 ann 1", "a r1 bob 0", "b r1 ann NA", header="system rubric annotator label"), "d", "gold"
    )
    gold = ws.dataset("d").gold()
    assert list(gold.columns) == ["system", "query", "rubric", "annotator", "label"]
    assert gold["query"].tolist() == ["q1"] * 3
    assert gold["label"].fillna(-1).tolist() == [1, 0, -1]
    assert ws.dataset("d").judges == ("j",)
    assert ws.dataset("d").counts()["judges"] == ws.dataset("d").reduce().n_judges == 1
    assert ws.datasets()["judges"].tolist() == [1]


def test_a_reference_ranking_is_kept(ws, table):
    ws.ingest(table("a q1 r1 j 1"), "d")
    ws.ingest(table("a 2 1100.5", "b 1 1200", header="system rank score"), "d", "reference")
    assert ws.dataset("d").reference_ranking().to_dict("records") == [
        {"system": "a", "rank": 2.0, "score": 1100.5},
        {"system": "b", "rank": 1.0, "score": 1200.0},
    ]
    assert ws.dataset("d").systems == ("a",)


def test_new_systems_and_judges_can_be_added_later(ws, table):
    ws.ingest(table("a q r j 1"), "d")
    ws.ingest(table("b q r j 0", "a q r k 1"), "d")
    assert (ws.dataset("d").systems, ws.dataset("d").judges) == (("a", "b"), ("j", "k"))
    assert ws.ingests("d")["accepted"].tolist() == [1, 2]


def test_two_datasets_of_one_workspace_do_not_mix(ws, table):
    ws.ingest(table("a q r j 1", "b q r j 0"), "one")
    ws.ingest(table("a q r j 5", "c q r j 1"), "two")
    assert ws.dataset("one").systems == ("a", "b")
    assert ws.dataset("two").systems == ("a", "c")
    assert ws.dataset("one").scale == Scale(0.0, 1.0, 2, "inferred")


def test_progress_rises_to_one_and_says_what_is_done(ws, table):
    seen: list[tuple[float, str]] = []
    ws.ingest(table("a q r j 1"), "d", progress=lambda share, message: seen.append((share, message)))
    shares = [share for share, _ in seen]
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert all(message for _, message in seen)


def test_a_mapping_names_the_columns(ws):
    report = ws.ingest(
        b"contestant,task,points\na,r,1\nb,r,0\n",
        "d",
        mapping={"system": "contestant", "rubric": "task", "label": "points"},
    )
    assert report.columns == {"system": "contestant", "rubric": "task", "label": "points"}
    assert report.accepted == 2


@pytest.mark.parametrize(
    "header",
    [
        "system,query,rubric,judge,label",
        "Model,Question,Criterion,Grader,Score",
        "model,prompt_id,criterion,annotator,verdict",
        " SYSTEM ,Query,Rubric ID,Judge,LABEL",
    ],
)
def test_usual_column_names_are_understood(ws, header):
    ws.ingest(f"{header}\na,q,r,j,1\n".encode(), "d")
    assert stored(ws) == [("a", "q", "r", "j", 1)]


def test_a_canonical_name_wins_over_a_synonym(ws):
    report = ws.ingest(b"model,system,rubric,label\nx,a,r,1\n", "d")
    assert report.columns["system"] == "system"
    assert ws.dataset("d").systems == ("a",)


def test_two_synonyms_for_one_column_are_not_guessed_between(ws):
    with pytest.raises(IngestError, match=r"'score' and 'verdict' could each be the label"):
        ws.ingest(b"system,rubric,score,verdict\na,r,1,yes\n", "d")


def test_the_database_reads_plain_sql_tables(tmp_path, table):
    path = tmp_path / "study.duckdb"
    with Workspace(path) as ws:
        ws.ingest(table("a q r j 1"), "d")
    with duckdb.connect(str(path), read_only=True) as connection:
        tables = {row[0] for row in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
    assert tables == {
        "datasets", "systems", "queries", "rubrics", "judges", "labels", "gold", "reference_ranking", "ingests",
        "rejects", "settings", "anchors", "superseded", "moved", "scoring_rules", "runs", "answers", "system_facts",
        "results", "typer_answers", "scenarios", "source_files",
        "label_sources", "cell_tallies", "judge_tallies", "rubric_tallies",
        "label_tallies", "system_tallies", "reason_tallies", "stretches", "read_files", "rubric_scales",
        "rubric_statements", "query_statements", "reference_statements",
    }  # fmt: skip


@pytest.mark.parametrize("name", ["Total", "average", "Mittelwert", "平均"])
def test_a_row_that_sums_up_others_is_rejected_and_no_system(ws, table, name):
    report = ws.ingest(table("a q r j 1", "b q r j 0", f"{name} q r j 1"), "d")
    assert report.rejects[["row", "column", "value"]].to_numpy().tolist() == [[4, "system", name]]
    assert "sums up other rows" in report.rejects["reason"].item()
    assert set(ws.dataset("d").labels()["system"]) == {"a", "b"}


@pytest.mark.parametrize(
    ("row", "column"),
    [("a Average r j 0.7", "query"), ("a q Total j 2", "rubric"), ("a q r Mean 0.5", "judge")],
)
def test_a_row_that_sums_up_queries_rubrics_or_judges_is_rejected_before_its_label_counts(
    ws, table, row, column
):
    report = ws.ingest(table("a q r j 1", "b q r j 0", row), "d")
    assert report.rejects[["row", "column"]].to_numpy().tolist() == [[4, column]]
    assert f"is no {column}" in report.rejects["reason"].item()
    assert (report.accepted, report.rejected) == (2, 1)
    assert sorted(ws.dataset("d").labels()["label"]) == [0, 1]


SUMS = (
    "Total:",
    "TOTAL (4)",
    "Mean:",
    "Avg.",
    "AVERAGE SCORE",
    "Mean score",
    "Overall",
    "Ø",
    "Summe:",
    "% pass",
)
STATISTICS = ("Max", "Count", "StdDev", "Mean")


@pytest.mark.parametrize("name", [*SUMS, *STATISTICS])
def test_rows_of_sums_are_known_with_punctuation_endings_and_counts(ws, name):
    rows = [f"q{q},tone,{q % 2},{(q + 1) % 2}" for q in range(4)]
    table = "\n".join(["query,criterion,gpt-4o,claude-3", *rows, f"{name},tone,3,1"])
    report = ws.ingest(table.encode(), "d")
    assert (report.accepted, report.rejected) == (8, 2)
    assert set(report.rejects["value"]) == {name}
    assert ws.dataset("d").rubrics["scale_max"].max() == 1


@pytest.mark.parametrize("name", SUMS)
def test_fractions_of_such_a_row_are_no_steps_of_a_scale(ws, name):
    rows = [f"q{q},{q % 2},{(q + 1) % 2}" for q in range(4)]
    table = "\n".join(["query,gpt-4o,claude-3", *rows, f"{name},0.75,0.25"])
    report = ws.ingest(table.encode(), "d", mapping={"rubric": "=good"})
    assert (report.accepted, report.rejected) == (8, 2)


@pytest.mark.parametrize(
    "row", ["a q overall j 1", "a q max j 1", "a max r j 1", "a count r j 1", "a q r Max 1"]
)
def test_names_that_mean_other_things_as_often_stay(ws, table, row):
    report = ws.ingest(table("a abs r Anna 1", "b sort r Anna 0", row), "d")
    assert report.rejected == 0


@pytest.mark.parametrize("row", ["a media r j 1", "a q mean j 1", "a Sum r j 1"])
def test_a_query_or_a_rubric_may_be_about_the_media_or_a_sum(ws, table, row):
    report = ws.ingest(table("a q r j 1", "b q r j 0", row), "d")
    assert report.rejected == 0


def test_where_all_rows_are_about_a_total_it_is_what_they_are_about(ws, table):
    report = ws.ingest(table("a q Total j 1", "b q Total j 0"), "d")
    assert report.rejected == 0


def test_a_system_whose_name_only_holds_such_a_word_stays(ws, table):
    ws.ingest(table("mean-teacher q r j 1", "total2 q r j 0"), "d")
    assert set(ws.dataset("d").labels()["system"]) == {"mean-teacher", "total2"}


def test_a_name_with_space_around_it_is_the_same_name(ws):
    rows = [f"{s},{q},{r},j,1" for s in ("a ", "b") for q in ("q", " p") for r in ("r", "t ")]
    rows += [" a,q ,x,j,0", "a, p, x,j ,0", "c,q,x, j,1"]
    ws.ingest("\n".join(["system,query,rubric,judge,label", *rows]).encode(), "d")
    found = ws.dataset("d")
    assert (found.systems, found.judges) == (("a", "b", "c"), ("j",))
    assert found.queries["query"].tolist() == ["p", "q"]
    assert len(found.rubrics) == 6
    assert found.counts()["labels"] == 11


@given(st.text(st.sampled_from("aB1é本\x01 \t\n\r\xa0\u2003"), max_size=6))
@example("a ")
@example(" a")
@example("a\xa0")
def test_a_name_is_its_text_without_the_space_around_it(text):
    ((found,),) = duckdb.execute(
        f"SELECT {values.name('t')} FROM (SELECT ?::VARCHAR AS t)", [text]
    ).fetchall()
    assert found == (text.strip(" \t\n\r\xa0") or None)


def test_a_report_shows_what_became_of_each_file_and_what_must_be_known_of_it(ws, table):
    rows = [(s, "q", f"r{n}", j, n % 2 if j == "x" else 1) for s in "ab" for n in range(30) for j in "xy"]
    report = ws.ingest(pd.DataFrame(rows, columns=["system", "query", "rubric", "judge", "label"]), "mine")
    told = repr(report).splitlines()
    assert told[:2] == [
        f"mine: {report.changes.sentence}",
        "data frame: 120 rows of labels taken, 0 rejected",
    ]
    assert told[2:] == [*report.notes, *(f.sentence for f in report.checks if f.severity == "warning")]
    assert len(told) > 2


def test_a_workspace_shows_where_it_is(ws, tmp_path):
    with Workspace(tmp_path / "mine.duckdb") as other:
        assert repr(other) == f"Workspace({str(tmp_path / 'mine.duckdb')!r})"
    assert repr(ws) == "Workspace(':memory:')"
