"""Tables of simulated claims in docs/: the command prints them, and uses the same functions as the pages."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.claims_validity import VALID, panel, stated
from benchmarks.simulated_claims import CLAIMS, main
from crubric_core.judges.reliability import judge_reliability
from crubric_core.judges.votes import validity_votes
from tests.tiers import at_most

DOCS = Path(__file__).resolve().parents[1] / "docs"
FIRST_ROWS = at_most(("--rows", "1"), ())
"""Options for a table that takes minutes: only its first row, or all rows in the thorough tier."""


@pytest.fixture
def printed(monkeypatch, capsys):
    """The lines that the command prints."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["simulated_claims", *arguments])
        main()
        return capsys.readouterr().out.splitlines()

    return run


@pytest.mark.parametrize("claim", ["prior", "together", "attrition"])
def test_the_tables_are_those_of_the_docs(printed, claim):
    text = (DOCS / "judges.md").read_text("utf-8")
    assert [line for line in printed(claim) if line not in text] == []


def test_the_table_of_human_labels_is_that_of_the_page(printed):
    text = (DOCS / "inference.md").read_text("utf-8")
    lines = printed("human", *FIRST_ROWS)
    assert [line for line in lines if line not in text] == []
    judges = [float(line.split("|")[-2]) for line in lines[2:]]
    assert judges[0] == pytest.approx(1 / 3, abs=0.05)  # "for a third of the systems"


def test_the_table_of_losses_is_that_of_the_page(printed):
    text = (DOCS / "inference.md").read_text("utf-8")
    lines = printed("losses", *FIRST_ROWS)
    assert [line for line in lines if line not in text] == []
    table = text[text.index(lines[0]) :].partition("\n\n")[0].splitlines()[2:]
    alone = [float(line.split("|")[4]) for line in table]
    assert min(alone) == 0.84  # "as few as .84"


def test_the_sentence_on_the_beta_mixture_has_the_errors_that_are_printed(printed):
    worse, better = (row.split(" | ")[1].removesuffix(" |") for row in printed("mixture")[2:])
    text = " ".join((DOCS / "judges.md").read_text("utf-8").split())
    assert f"the curve is {worse} that way and {better} this way" in text


@pytest.mark.parametrize("claim", sorted(CLAIMS))
def test_every_claim_is_measured_on_one_table_and_every_row_fills_its_columns(printed, claim):
    parts = "\n".join(printed(claim, "--tables", "1", *FIRST_ROWS)).split("\n\n")
    for part in parts:
        head, rule, *rows = part.splitlines()
        assert set(rule) == set("|- ")
        assert rows
        assert {row.count("|") for row in rows} == {head.count("|")} == {rule.count("|")}


def test_the_probabilities_are_those_of_the_measurability_page():
    rng = np.random.default_rng(1)
    valid = rng.random(60) < VALID
    labels = panel(rng, np.where(valid, 0.02, 0.2), 8, 3)
    rubrics = pd.DataFrame(
        {"rubric": [f"r{j}" for j in range(60)], "query": [f"q{j // 10}" for j in range(60)]}
    )
    page = judge_reliability(labels, ("a", "b", "c"), rubrics).validity["p_valid"]
    np.testing.assert_array_equal(stated(lambda _: (valid, validity_votes(labels)), 0, seed=0)[0], page)
