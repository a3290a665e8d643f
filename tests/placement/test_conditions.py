"""A gate for CI: 0 where every condition holds, 1 where one does not, 2 where the question makes no sense."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from crubric_core.__main__ import main
from crubric_core.files import csv_bytes

MINE = {
    "system": "mine",
    "theta": 0.8,
    "theta_low": 0.4,
    "theta_high": None,
    "rank": 2,
    "rank_low": 1,
    "rank_high": 4,
    "tier": 1,
    "answered": 60,
    "person_fit": -0.5,
    "p_ahead_of": {"old": 0.97, "close": 0.4, "best": 0.01},
    "not_told_apart_from": ["close"],
}


@pytest.fixture
def placement(tmp_path):
    path = tmp_path / "placement.json"
    path.write_text(json.dumps({"systems": [MINE, {**MINE, "system": "other", "rank": 9}]}))
    return path


def check(path, *words):
    """The exit code, whichever way it comes."""
    try:
        return main(["check", str(path), *words])
    except SystemExit as stop:
        return stop.code


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--fail-under", "theta=0.5"], 0),
        (["--fail-under", "theta=0.8"], 0),
        (["--fail-under", "theta=0.81"], 1),
        (["--fail-over", "rank=2"], 0),
        (["--fail-over", "rank=1"], 1),
        (["--fail-over", "rank_high=3", "--fail-under", "theta=0"], 1),
        (["--fail-under", "theta_high=0"], 1),
        (["--fail-behind", "old"], 0),
        (["--fail-behind", "close"], 0),
        (["--fail-behind", "best"], 1),
        (["--fail-behind", "nobody"], 2),
        (["--fail-under", "theta=high"], 2),
        (["--fail-under", "beauty=1"], 2),
        (["--fail-under", "score=1"], 2),
        ([], 2),
    ],
)
def test_the_exit_code_says_whether_every_condition_holds(placement, words, code):
    assert check(placement, "--system", "mine", *words) == code


def test_the_reference_systems_are_named_where_one_is_not_among_them(placement, capsys):
    assert check(placement, "--system", "mine", "--fail-behind", "nobody") == 2
    assert "no reference system 'nobody': the placement of 'mine' has " in capsys.readouterr().err


def test_a_result_and_a_dataset_are_not_checked_at_once(placement, capsys):
    """The dataset was left out, and so were conditions beside it, without a word."""
    assert check(placement, "--fail-over", "rank=3", "--dataset", "d") == 2
    assert main(["check", "--dataset", "d", "--fail-over", "rank=3"]) == 2
    assert capsys.readouterr().err.count("RESULT") == 2


def test_without_a_name_every_system_must_hold(placement, capsys):
    assert check(placement.parent, "--fail-over", "rank=3") == 1
    said = capsys.readouterr()
    verdicts = [json.loads(line) for line in said.out.splitlines()]
    assert [(v["system"], v["value"], v["holds"]) for v in verdicts] == [
        ("mine", 2, True),
        ("other", 9, False),
    ]
    assert said.err == "1 condition of 2 not met.\n"


def test_a_leaderboard_is_held_against_the_same_conditions(tmp_path):
    board = pd.DataFrame(
        {"rank": [1, 2], "system": ["=a", "b"], "theta": [1.0, None], "basis": ["all", "all"]}
    )
    (tmp_path / "leaderboard.csv").write_bytes(csv_bytes(board))
    assert check(tmp_path, "--system", "=a", "--fail-under", "theta=1") == 0
    assert check(tmp_path, "--fail-under", "theta=0") == 1, "what is unknown does not hold"
    assert check(tmp_path, "--system", "c", "--fail-under", "theta=0") == 2


@pytest.mark.parametrize("content", ["", "[]", '{"systems": []}', '{"systems": [1]}'])
def test_what_is_no_result_is_refused(tmp_path, content, capsys):
    (tmp_path / "placement.json").write_text(content)
    assert check(tmp_path / "placement.json", "--fail-over", "rank=1") == 2
    assert check(tmp_path / "nowhere.json", "--fail-over", "rank=1") == 2
    assert capsys.readouterr().err.count("\n") == 2
