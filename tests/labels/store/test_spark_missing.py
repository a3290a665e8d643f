"""Without PySpark, Java or a cluster the Spark engine says in one sentence what to do."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import pytest

from crubric_core.__main__ import main
from crubric_core.errors import IngestError
from crubric_core.labels.store.spark import open_session


def a_pyspark(monkeypatch, refuse):
    """A package of that name whose sessions cannot be made."""
    sql = ModuleType("pyspark.sql")
    sql.SparkSession = SimpleNamespace(builder=SimpleNamespace(getOrCreate=refuse))
    monkeypatch.setitem(sys.modules, "pyspark", ModuleType("pyspark"))
    monkeypatch.setitem(sys.modules, "pyspark.sql", sql)


def test_without_pyspark_the_command_says_what_to_install(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    place = ["--workspace", str(tmp_path / "w.duckdb"), "--dataset", "d"]
    assert main(["ingest", *place, "--engine", "spark", "--labels", "s3a://lake/labels"]) == 2
    said = capsys.readouterr().err.strip().splitlines()
    assert said[-1].endswith("needs PySpark: install it with `pip install 'calibrated-rubric[spark]'`.")
    assert not any("Traceback" in line for line in said)


@pytest.mark.parametrize("home", [None, "/nowhere"])
def test_without_java_no_session_is_tried(monkeypatch, tmp_path, home):
    a_pyspark(monkeypatch, lambda: pytest.fail("a session was tried"))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    monkeypatch.setenv("JAVA_HOME", home) if home else monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(IngestError, match=r"needs Java 17 or later: install it .* or set JAVA_HOME"):
        open_session()


def test_a_cluster_that_cannot_be_reached_is_said_in_its_first_line(monkeypatch):
    def refuse():
        raise RuntimeError("Connection refused: spark://lake:7077.\n\tat org.apache.spark …")

    a_pyspark(monkeypatch, refuse)
    monkeypatch.setenv("SPARK_REMOTE", "sc://lake")
    with pytest.raises(
        IngestError, match=r"could be opened \(Connection refused: spark://lake:7077\): see spark-"
    ) as e:
        open_session()
    assert "\n" not in str(e.value)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["labels.csv"], "not a file"),
        (["--labels", "lake", "--mapping", "m.json"], "not --mapping"),
        (["--labels", "lake", "--preview"], "not --preview"),
        ([], "takes --labels PATH"),
    ],
)
def test_what_the_session_does_not_read_is_refused(tmp_path, capsys, options, why):
    place = ["--workspace", str(tmp_path / "w.duckdb"), "--dataset", "d"]
    assert main(["ingest", *place, "--engine", "spark", *options]) == 2
    assert why in capsys.readouterr().err
    assert not (tmp_path / "w.duckdb").exists()


@pytest.mark.parametrize("options", [[], ["--labels", "lake", "x.csv"]])
def test_without_the_engine_files_are_named(tmp_path, capsys, options):
    assert main(["ingest", "--workspace", str(tmp_path / "w.duckdb"), "--dataset", "d", *options]) == 2
    assert "Name the files to ingest; --labels is for --engine spark." in capsys.readouterr().err
