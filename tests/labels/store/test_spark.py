"""A Spark session and DuckDB read one text and give the same tables, row for row."""

from __future__ import annotations

import json
import shutil

import duckdb
import numpy as np
import pandas as pd
import pytest

from crubric_core import Settings, run_pipeline
from crubric_core.__main__ import main
from crubric_core.errors import DatasetError, IngestError
from crubric_core.labels import Workspace
from crubric_core.labels.ingest.rubric_facts import RUBRIC_FACTS
from crubric_core.labels.store import portable
from crubric_core.labels.store.reference import reference
from crubric_core.labels.store.spark import tally
from tests.conftest import REAL_DATA
from tests.labels.simulated import KINDS, simulate
from tests.tiers import at_most

REAL = sorted(path.parent.name for path in REAL_DATA.glob("*/labels.csv")) or ["none"]
CONFIGURATION = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",  # short queries: compiling costs more than running
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.adaptive.enabled": "false",
}
pytestmark = pytest.mark.slow  # starts Java


@pytest.fixture(scope="module")
def session():
    """One session on two threads for all tests; without PySpark or Java they are skipped, aloud."""
    if shutil.which("java") is None:
        pytest.skip("no Java: the Spark engine is not tested")
    sql = pytest.importorskip("pyspark.sql", reason="no PySpark: the Spark engine is not tested")
    builder = sql.SparkSession.builder.master("local[2]").config(map=CONFIGURATION)
    found = builder.getOrCreate()
    gateway = found.sparkContext._gateway
    yield found
    found.stop()
    gateway.shutdown()
    gateway.proc.stdin.close()  # Java ends with it
    gateway.proc.wait()


def tables_of(ws, name):
    """The stored tallies of a dataset, by name and sorted: the ids of two datasets differ."""
    with ws.reading() as cursor:
        ((number,),) = cursor.execute("SELECT dataset_id FROM datasets WHERE name = ?", [name]).fetchall()
        return {
            table: cursor.execute(f"""
                SELECT {columns}, t.* EXCLUDE (dataset_id, {ids}) FROM {table} t {joins}
                WHERE t.dataset_id = {number} ORDER BY ALL
            """).df()
            for table, columns, ids, joins in (
                (
                    "cell_tallies",
                    "s.name AS system, q.name AS query, r.name AS rubric, k.name AS judge",
                    "system_id, rubric_id, judge_id",
                    "JOIN systems s USING (system_id) JOIN rubrics r USING (rubric_id) JOIN queries q USING (query_id) "
                    "LEFT JOIN judges k USING (judge_id)",
                ),
                (
                    "judge_tallies",
                    "s.name AS system, k.name AS judge",
                    "system_id, judge_id",
                    "JOIN systems s USING (system_id) JOIN judges k USING (judge_id)",
                ),
                (
                    "rubric_tallies",
                    "q.name AS query, r.name AS rubric",
                    "rubric_id",
                    "JOIN rubrics r USING (rubric_id) JOIN queries q USING (query_id)",
                ),
            )
        }


def assert_stored_alike(ws, one, other):
    ours, theirs = tables_of(ws, one), tables_of(ws, other)
    for table, rows in ours.items():
        assert len(rows) > 0
        pd.testing.assert_frame_equal(rows, theirs[table], obj=table)


def assert_reduced_alike(session, ws, name, response):
    """Consensus, agreement and judge pairs by the text that the pages use, run by both engines on the same tallies."""
    ds, spark, local = ws.dataset(name), session.newSession(), duckdb.connect()
    with ds._reading() as cursor:
        cells = cursor.execute("SELECT * EXCLUDE (dataset_id) FROM cell_tallies").df()
        facts = cursor.execute(f"WITH {RUBRIC_FACTS} FROM facts", {"dataset": ds.id}).df()
    facts = facts[["rubric_id", "j", "scale_min", "scale_max", "polarity", "pass_mark"]]
    for view, table in (("cell_tallies", cells.convert_dtypes()), ("facts", facts)):
        local.register("given", table)
        local.execute(f"CREATE TABLE {view} AS FROM given")
        spark.createDataFrame(local.sql(f"FROM {view}").to_arrow_table()).createOrReplaceTempView(view)
    steps = {
        "counted": portable.counted(response, runs=ds.has_runs),
        "cells": portable.cells(response, "unknown", 1 if response == "ordered" else 0),
        "agreement": portable.agreement(),
        "pair_sums": portable.pair_sums(),
    }
    for step, sql in steps.items():
        frame = spark.sql(sql).persist()
        frame.createOrReplaceTempView(step)
        local.execute(f"CREATE TABLE {step} AS {sql}")
        columns = ", ".join(frame.columns)
        local.register("theirs", frame.toArrow())
        (ours, rows), theirs = (
            local.execute(f"SELECT count(*), count(*) FROM {step}").fetchone(),
            local.execute("SELECT count(*) FROM theirs").fetchone()[0],
        )
        assert ours == rows == theirs > 0, step
        for left, right in ((step, "theirs"), ("theirs", step)):
            differ = f"SELECT {columns} FROM {left} EXCEPT ALL SELECT {columns} FROM {right}"
            assert local.execute(differ).fetchall() == [], step
    spark.catalog.clearCache()
    local.close()


def both(ws, file, tmp_path):
    """The labels of a file tallied by Spark and read in place by DuckDB: the two datasets, alike so far."""
    theirs = tally(ws, str(file), "spark")
    ours = reference(ws, tmp_path / "labels.parquet", "duckdb")
    assert (theirs.totals, theirs.tallies) == (ours.totals, ours.tallies)
    assert_stored_alike(ws, "spark", "duckdb")
    one, other = ws.dataset("spark"), ws.dataset("duckdb")
    assert one.counts() == other.counts()
    for response in ("binary", "ordered"):
        first, second = one.reduce(response), other.reduce(response)
        for name in ("y", "levels", "n_agree", "n_total", "max_panel"):
            np.testing.assert_array_equal(getattr(first, name), getattr(second, name), err_msg=name)
        for name in vars(second.pairs):
            np.testing.assert_array_equal(getattr(first.pairs, name), getattr(second.pairs, name))
    return one, other


@pytest.mark.parametrize("kind", KINDS)
def test_both_engines_give_the_same_tables(session, ws, tmp_path, monkeypatch, kind):
    monkeypatch.setattr("crubric_core.labels.store.spark._PIECE", 200)  # tallies come in several pieces
    simulate(kind).to_parquet(tmp_path / "labels.parquet")
    one, other = both(ws, tmp_path / "labels.parquet", tmp_path)
    rubric = other.rubrics["rubric"].iloc[3]
    pd.testing.assert_frame_equal(one.labels(rubric=rubric), other.labels(rubric=rubric))
    if kind == "runs":
        for response in ("binary", "ordered"):
            np.testing.assert_array_equal(one.rubric_panel(rubric, response), other.panel(response)[:, 3, :])


@pytest.mark.real
@pytest.mark.parametrize("name", REAL[: at_most(1, 99)])
def test_both_engines_give_the_same_tables_of_real_labels(session, ws, real_data, tmp_path, name):
    file = real_data / name / "labels.csv"
    pd.read_csv(file, dtype=str, keep_default_na=False).to_parquet(tmp_path / "labels.parquet")
    both(ws, file, tmp_path)


@pytest.mark.parametrize(
    ("kind", "response"), [("runs", "ordered"), ("repeats", "binary"), ("graded", "ordered")][: at_most(1, 3)]
)
def test_the_rest_of_the_text_gives_the_same_tables_too(session, ws, tmp_path, kind, response):
    simulate(kind).to_parquet(tmp_path / "labels.parquet")
    reference(ws, tmp_path / "labels.parquet", "d")
    assert_reduced_alike(session, ws, "d", response)


def test_no_label_leaves_the_session_but_those_of_a_rubric_that_is_opened(session, ws, tmp_path, monkeypatch):
    frame, fetched = type(session.range(1)), []
    for name in ("collect", "toArrow"):
        fetch = getattr(frame, name)

        def recorded(self, fetch=fetch):
            found = fetch(self)
            fetched.append((set(self.columns), len(found)))
            return found

        monkeypatch.setattr(frame, name, recorded)
    labels = simulate("graded")
    labels.to_parquet(tmp_path / "labels.parquet")
    report = tally(ws, str(tmp_path / "labels.parquet"), "d")
    with_labels = [(columns, rows) for columns, rows in fetched if "label" in columns]
    assert with_labels == [({"system_id", "rubric_id", "judge_id", "label", "n"}, report.tallies)]
    assert report.tallies < report.totals.rows
    fetched.clear()
    rubric = ws.dataset("d").rubrics["rubric"].iloc[0]
    found = ws.dataset("d").labels(rubric=rubric)
    assert np.isfinite(ws.dataset("d").rubric_panel(rubric)).sum() == found["label"].notna().sum()
    assert fetched == [({"system", "judge", "run", "label"}, len(found))], "asked once"


def test_the_command_line_tallies_and_builds_without_a_label_in_the_workspace(session, tmp_path, capsys):
    simulate("plain").to_csv(tmp_path / "labels.csv", index=False)
    place = ["--workspace", str(tmp_path / "w.duckdb"), "--dataset", "d"]
    assert main(["ingest", *place, "--engine", "spark", "--labels", str(tmp_path / "labels.csv")]) == 0
    said = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (said["dataset"], said["rejected"]) == ("d", 0)
    build = ["build", *place, "--budget", "10", "--replicates", "50", "--out", str(tmp_path / "out")]
    assert main(build) == 0
    assert pd.read_csv(tmp_path / "out" / "leaderboard.csv")["rank"].notna().any()
    with Workspace(tmp_path / "w.duckdb") as ws:
        with ws.reading() as cursor:
            assert cursor.execute("SELECT count(*) FROM labels").fetchone() == (0,)
        for ask in (ws.dataset("d").panel, ws.dataset("d").labels):
            with pytest.raises(DatasetError, match="where a Spark session reads them"):
                ask()


def test_a_table_of_the_catalogue_gives_the_leaderboard_of_the_ingested_copy(session, ws, tmp_path):
    labels = simulate("plain")
    labels.to_csv(tmp_path / "labels.csv", index=False)
    ws.ingest(tmp_path / "labels.csv", "copied")
    spark = session.newSession()
    spark.read.option("header", True).csv(str(tmp_path / "labels.csv")).createOrReplaceTempView("lake_labels")
    tally(ws, "lake_labels", "tallied", session=spark)
    settings = Settings(budget=10, cross_fitted=False, replicates=50)
    copied, tallied = (run_pipeline(ws.dataset(name), settings) for name in ("copied", "tallied"))
    pd.testing.assert_frame_equal(copied.leaderboard, tallied.leaderboard)
    pd.testing.assert_frame_equal(copied.bank, tallied.bank)


def test_what_spark_cannot_read_is_said_and_nothing_is_kept(session, ws, tmp_path):
    with pytest.raises(IngestError, match=r"Spark could not read .*nothing\.parquet"):
        tally(ws, str(tmp_path / "nothing.parquet"), "d")
    pd.DataFrame({"system": ["a"]}).to_parquet(tmp_path / "few.parquet")
    with pytest.raises(IngestError, match="has no column 'query'"):
        tally(ws, str(tmp_path / "few.parquet"), "d")
    assert ws.datasets().empty
