"""The tables and settings of a report, as people read them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from crubric_core import Settings, Workspace, run_pipeline
from crubric_core.analysis.columns import BANK, LEADERBOARD
from crubric_core.demo import simulate
from crubric_core.reports.sections import ROWS, markdown_table, sections, shown_sheet
from crubric_core.sharing.words import settings_words


def test_a_report_writes_numbers_as_the_pages_do() -> None:
    board = pd.DataFrame(
        {
            "rank": pd.array([1, pd.NA], dtype="Int64"),
            "theta": [1.5, np.nan],
            "theta_high": [1.7499, np.inf],
            "own": 0.5,
        }
    )
    made = shown_sheet(board, "Leaderboard", LEADERBOARD)
    assert [title for title, _ in made.heads] == ["rank", "ability θ", "to", "own"]
    assert made.rows == [["1", "1.50", "1.75", "0.5"], ["—", "—", "∞", "0.5"]]


def test_a_weight_in_a_bank_of_thousands_is_not_written_as_none() -> None:
    bank = pd.DataFrame({"order": [1, 2, 3], "weight": [0.123456, 0.000338, 0.0]})
    assert [row[1] for row in shown_sheet(bank, "Bank", BANK).rows] == ["12.3%", "0.0338%", "0.0%"]


def test_a_table_that_is_cut_says_so() -> None:
    table = pd.DataFrame({"rank": np.arange(ROWS + 50)})
    assert shown_sheet(table, "Leaderboard", LEADERBOARD).caption == "The first 200 of 250 rows."
    assert shown_sheet(table.head(ROWS), "Leaderboard", LEADERBOARD).caption == ""


def test_a_column_without_a_value_is_left_out_and_named() -> None:
    table = pd.DataFrame({"rank": [1, 2], "score_low": np.nan, "theta": [0.5, np.nan]})
    made = shown_sheet(table, "Leaderboard", LEADERBOARD)
    assert [title for title, _ in made.heads] == ["rank", "ability θ"]
    assert made.caption == f"Not shown, because no row has a value: {LEADERBOARD['score_low'].title}."


def test_names_act_as_no_markup_of_markdown() -> None:
    shown = markdown_table(pd.DataFrame({"system": ["~~a~~ &lt;b&gt; $x$ _y_"]}))
    assert shown.splitlines()[-1] == r"| \~\~a\~\~ \&lt;b\&gt; \$x\$ \_y\_ |"


def test_rules_are_written_by_the_names_of_their_parts() -> None:
    said = settings_words({"assign": [{"fits": "*a", "value": "b"}, {"fits": "c", "value": "d"}]})
    assert said == {"assign": "fits: *a, value: b; fits: c, value: d"}


def test_settings_are_written_in_words_and_not_as_a_program_has_them() -> None:
    given = {
        "tau_c": None,
        "holm": False,
        "priors": {"b_sd": 2.0, "c_beta": (5.0, 17.0)},
        "rules": {"assign": ()},
    }
    assert settings_words(given) == {
        "tau_c": "none (the lowest quarter of the measured rubrics is dropped)",
        "holm": "no",
        "priors.b_sd": "2.0",
        "priors.c_beta": "5.0, 17.0",
        "rules.assign": "none",
    }


def test_a_report_says_of_a_bank_of_the_whole_pool_that_it_is_the_best() -> None:
    with Workspace() as workspace:
        made = simulate(seed=2, systems=6, queries=6, pool=(5, 6))
        workspace.ingest(made.labels.to_csv(index=False).encode(), "d")
        result = run_pipeline(workspace.dataset("d"), Settings(budget=999))
    said = sections(result, ())[0].basis[-1]
    assert "is proven to be 100% of that of the best bank of its size." in said
