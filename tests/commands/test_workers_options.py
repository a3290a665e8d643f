"""Where the work runs, from the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from crubric_core.__main__ import main
from crubric_core.workers import Workers, current_workers

SAMPLE = Path(__file__).resolve().parents[2] / "data" / "sample_labels.csv"


@pytest.mark.parametrize(
    ("options", "environment", "expected"),
    [
        ([], {}, Workers()),
        ([], {"CRUBRIC_WORKERS": "2"}, Workers(2)),
        (["--workers", "3"], {"CRUBRIC_WORKERS": "2"}, Workers(3)),
        (["--scheduler", "tcp://there:8786"], {"CRUBRIC_WORKERS": "2"}, Workers(2, "tcp://there:8786")),
    ],
)
def test_options_go_before_the_environment(options, environment, expected, monkeypatch, tmp_path):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    seen = []
    monkeypatch.setattr(
        "crubric_core.commands.analysis.run_experiment",
        lambda *args, **kwargs: seen.append(current_workers()) or pytest.fail("stop here"),
    )
    words = ["experiment", "crossfit", "--set", "splits=2", "--labels", str(SAMPLE), "--out", str(tmp_path)]
    with pytest.raises(pytest.fail.Exception):
        main([*words, *options])
    assert seen == [expected]


def test_no_worker_at_all_is_refused(tmp_path, capsys):
    assert main(["build", "--labels", str(SAMPLE), "--out", str(tmp_path / "o"), "--workers", "0"]) != 0
    assert "workers = 0" in capsys.readouterr().err
    assert not (tmp_path / "o").exists()
