"""judge and judgements, from the command line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from crubric_core import Workspace
from crubric_core.__main__ import main
from crubric_core.demo import simulate
from tests.judging.conftest import answer_lines, bank_path, bank_scale, parts, reply, server

__all__ = ["bank_path", "bank_scale", "server"]


@pytest.fixture
def words(bank_scale, bank_path, server, tmp_path, monkeypatch):
    """The words of a whole command."""
    monkeypatch.setenv("JUDGE_KEY", "hush")
    (tmp_path / "answers.jsonl").write_bytes(answer_lines(bank_scale, "mine", "yours"))
    (tmp_path / "judges.toml").write_text(
        f'[[judge]]\nname = "j"\nbase_url = "{server.url}"\nmodel = "m"\nkey_env = "JUDGE_KEY"\n'
        "input_price = 1.0\noutput_price = 2.0\n"
    )
    server.behave = lambda m, v: reply(m, met=sum(map(ord, dict(parts(m))["criterion"])) % 2 == 0)
    files = {
        "--bank": bank_path,
        "--answers": tmp_path / "answers.jsonl",
        "--judges": tmp_path / "judges.toml",
    }
    return ["judge", *(str(w) for pair in files.items() for w in pair), "--out", str(tmp_path / "out.jsonl")]


def said(capsys):
    captured = capsys.readouterr()
    assert "hush" not in captured.out + captured.err
    return json.loads(captured.out)


@pytest.mark.parametrize("per", ["criterion", "query"])
def test_the_dry_run_asks_nobody_and_its_count_is_that_of_the_calls(words, server, capsys, tmp_path, per):
    assert main([*words, "--dry-run", "--runs", "2", "--per", per]) == 0
    dry = said(capsys)
    assert not server.requests
    assert not (tmp_path / "out.jsonl").exists()
    assert main([*words, "--runs", "2", "--per", per]) == 0
    ran = said(capsys)
    assert len(server.requests) == dry["to_ask"]["calls"] == dry["bank"]["calls"] == ran["calls"]
    assert ran["labels"] == dry["bank"]["labels"] == 15 * 2 * 2
    assert main([*words, "--dry-run", "--runs", "2", "--per", per]) == 0
    assert said(capsys)["to_ask"] == {"calls": 0, "labels": 0, "tokens_in": 0, "tokens_out": 0, "cost": 0.0}


def test_the_labels_are_placed_and_ingested_as_they_are(words, bank_path, capsys, tmp_path):
    assert main(words) == 0
    assert said(capsys)["judges"]["j"]["cost"] == pytest.approx(30 * (100 * 1 + 20 * 2) / 1e6)
    assert main(["place", "--bank", str(bank_path), "--labels", str(tmp_path / "out.jsonl")]) == 0
    placed = said(capsys)
    assert [(s["system"], s["answered"]) for s in placed["systems"]] == [("mine", 15), ("yours", 15)]
    assert placed["unused"] == []
    with Workspace() as workspace:
        report = workspace.ingest(tmp_path / "out.jsonl", "own", "labels")
        assert (report.accepted, report.rejected) == (30, 0)


def test_all_rubrics_are_priced_beside_the_bank(words, capsys, tmp_path):
    made = simulate(seed=2, systems=7, queries=8, pool=(6, 8))
    with Workspace(tmp_path / "w.duckdb") as workspace:
        for kind in ("queries", "rubrics", "labels"):
            workspace.ingest(getattr(made, kind).to_csv(index=False).encode(), "small", kind)
        rubrics = len(workspace.dataset("small").rubrics)
    source = ["--workspace", str(tmp_path / "w.duckdb"), "--dataset", "small"]
    assert main([*words, "--dry-run", *source]) == 0
    dry = said(capsys)
    assert dry["all_rubrics"]["rubrics"] == rubrics
    assert dry["all_rubrics"]["calls"] == 2 * rubrics > dry["bank"]["calls"] == 30


def test_until_se_says_what_it_took_and_why_it_stopped(words, capsys):
    assert main([*words, "--until-se", "0.75"]) == 0
    for system in said(capsys)["systems"]:
        assert (system["se"] <= 0.75) == (system["stopped_because"] == "the standard error is reached")
        assert 0 < system["judgements"] <= 15


def test_no_requests_at_a_time_are_refused_before_anything_is_read(words, capsys):
    assert main([*words, "--concurrency", "0"]) == 2
    assert "concurrency = 0" in capsys.readouterr().err


def test_open_calls_end_with_status_1_and_the_reason(words, server, capsys):
    server.behave = lambda m, v: {"status": 401}
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 1
    found = said(capsys)
    assert "refuses the key" in found["judges"]["j"]["stopped"]
    assert found["answered"] == 0


def test_without_its_key_nothing_is_asked(words, server, capsys, monkeypatch):
    monkeypatch.delenv("JUDGE_KEY")
    assert main(words) == 2
    assert "is not set" in capsys.readouterr().err
    assert not server.requests


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_process_that_is_stopped_leaves_whole_lines_and_is_resumed(words, server, capsys, tmp_path, how):
    answer = server.behave
    server.behave = lambda m, v: {"delay": 60} if len(server.requests) > 9 else answer(m, v)
    out = tmp_path / "out.jsonl"
    command = [sys.executable, "-m", "crubric_core", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=dict(os.environ)) as process:
        try:
            while process.poll() is None and not (out.exists() and out.read_bytes().count(b"\n") >= 9):
                time.sleep(0.02)
            process.send_signal(how)
            printed, _ = process.communicate(timeout=60)
        finally:
            process.kill()
    if how == signal.SIGINT:
        assert process.returncode == 130
        assert json.loads(printed)["cancelled"]
    kept = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(kept) == 9
    server.behave = answer
    assert main(words) == 0
    assert said(capsys)["answered_before"] == 9
    assert len(out.read_text().splitlines()) == 30


def test_judgements_of_another_study_are_refused(bank_path, capsys, tmp_path):
    made = simulate(seed=3, systems=7, queries=8, pool=(6, 8))
    with Workspace(tmp_path / "w.duckdb") as workspace:
        for kind in ("queries", "rubrics", "labels"):
            workspace.ingest(getattr(made, kind).to_csv(index=False).encode(), "small", kind)
    source = ["--workspace", str(tmp_path / "w.duckdb"), "--dataset", "small"]
    assert main(["judgements", "--bank", str(bank_path), *source]) == 2
    assert "not the study" in capsys.readouterr().err


def test_judgements_are_counted_from_the_labels_of_the_study(bank_path, capsys, tmp_path):
    made = simulate(seed=2, systems=7, queries=8, pool=(6, 8))
    with Workspace(tmp_path / "w.duckdb") as workspace:
        for kind in ("queries", "rubrics", "labels"):
            workspace.ingest(getattr(made, kind).to_csv(index=False).encode(), "small", kind)
    source = ["--workspace", str(tmp_path / "w.duckdb"), "--dataset", "small"]
    assert main(["judgements", "--bank", str(bank_path), *source, "--se", "0.7"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["fixed_bank"]["rubrics"] == 15
    assert found["adaptive"]["reached_by"] >= found["fixed_bank"]["reached_by"] > 0
    assert found["all_rubrics"]["median_se"] < 0.7
