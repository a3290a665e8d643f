"""human-labels: the table as a file, the sentences on the screen, and what helps where there are too few labels."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from crubric_core.__main__ import main
from crubric_core.leaderboard.correction import FEWEST

LABELS = Path(__file__).resolve().parents[2] / "data" / "sample_labels.csv"


def run(tmp_path, queries):
    """Of a dataset whose first judge's labels of so many queries are the human ones."""
    labels = pd.read_csv(LABELS)
    some = labels["query"].drop_duplicates()[:queries]
    one = labels[labels["query"].isin(some) & labels["judge"].eq(labels["judge"].min())]
    gold, workspace = tmp_path / "gold.csv", tmp_path / "w.duckdb"
    one[["system", "query", "rubric", "label"]].to_csv(gold, index=False)
    for kind, file in (("labels", LABELS), ("gold", gold)):
        ingest = ["ingest", "--workspace", workspace, "--dataset", "d", "--kind", kind, file]
        assert main([str(word) for word in ingest]) == 0
    asked = ["human-labels", "--workspace", workspace, "--dataset", "d", "--out", tmp_path / "out"]
    return main([str(word) for word in asked])


def test_the_table_is_written_and_the_sentences_told(capsys, tmp_path):
    assert run(tmp_path, FEWEST) == 0
    out, err = capsys.readouterr()
    assert f"on {FEWEST} of " in err
    assert "a random sample" in err
    assert Path(out.splitlines()[-1]).name == "human_labels.csv"
    table = pd.read_csv(tmp_path / "out" / "human_labels.csv")
    assert set(table["labelled_queries"]) == {FEWEST}
    assert ((table["low"] < table["mean"]) & (table["mean"] < table["high"])).all()


def test_too_few_human_labels_are_answered_with_what_helps(capsys, tmp_path):
    assert run(tmp_path, FEWEST - 1) == 2
    assert f"no system with human labels on {FEWEST} queries" in capsys.readouterr().err
