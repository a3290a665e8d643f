"""losses: the table as a file, the sentences on the screen, and what helps where no loss is entered."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

from crubric_core.__main__ import main

DATA = Path(__file__).resolve().parents[2] / "data"


def run(tmp_path, losses, *options):
    rules = tmp_path / "rules.json"
    rules.write_text(json.dumps({"losses": losses}))
    files = [f"--{kind}={DATA / f'sample_{kind}.csv'}" for kind in ("labels", "rubrics", "queries")]
    return main(["losses", *files, "--rules", str(rules), *options, "--out", str(tmp_path / "out")])


def test_the_table_is_written_and_the_sentences_told(capsys, tmp_path):
    assert run(tmp_path, [{"task_type": "*", "severity": "*", "loss": 2}]) == 0
    out, err = capsys.readouterr()
    assert "The expected loss of a query is least for" in err
    assert [Path(line).name for line in out.splitlines()] == ["losses.csv"]
    table = pd.read_csv(tmp_path / "out" / "losses.csv")
    assert table["loss"].is_monotonic_increasing
    assert ((table["low"] <= table["loss"]) & (table["loss"] <= table["high"])).all()


def test_no_loss_is_answered_with_what_helps(capsys, tmp_path):
    assert run(tmp_path, []) == 2
    assert "enter losses with the scoring rules" in capsys.readouterr().err


def test_a_gate_that_leaves_too_little_for_a_claim_leaves_none_about_losses(capsys, tmp_path):
    assert run(tmp_path, [{"task_type": "*", "severity": "*", "loss": 2}], "--tau-c", "0.85") == 2
    assert "No claim about losses." in capsys.readouterr().err
