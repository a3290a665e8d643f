"""The overview begins with what is worst, and calls the board fit only if every chip is good."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crubric_core import Settings, Workspace
from crubric_core.analysis.board import Board, Labelled
from crubric_core.analysis.claims import claims_of
from crubric_core.analysis.health import (
    SEVERITY,
    Chip,
    agreement_chip,
    bank_chip,
    board_chip,
    labels_chip,
    model_chip,
    overview_sentence,
    worst,
)
from crubric_core.analysis.stages import Analysis
from crubric_core.analysis.tables import comparisons_table
from crubric_core.experiments import EXPERIMENTS
from crubric_core.labels.ingest.findings import Finding, Severity
from crubric_core.leaderboard.inference import infer
from crubric_core.leaderboard.influence import Influence

COMPLETE = {"missing_labels": "", "by_score": False}  # of a board on which no system lacks labels
CHIPS = st.lists(
    st.builds(
        Chip,
        st.sampled_from(["Labels", "Model", "Board"]),
        st.just("1"),
        st.sampled_from(list(SEVERITY)),
        st.text(),
    ),
    min_size=1,
    max_size=5,
)


@given(CHIPS)
def test_the_first_sentence_is_that_of_the_worst_chip(chips: list[Chip]) -> None:
    said, states = overview_sentence(chips), {chip.state for chip in chips}
    assert (
        "pass their checks" in said and states == {"good"}
    ) or said == f"{worst(chips).name}: {worst(chips).sentence}"
    assert all(SEVERITY[chip.state] <= SEVERITY[worst(chips).state] for chip in chips)


def test_too_few_systems_or_queries_and_many_missing_labels_are_no_good_labels() -> None:
    assert labels_chip(100, 0.0, 1, 50).state == "stop"
    assert labels_chip(100, 0.0, 5, 50).state == "look"
    assert labels_chip(100, 0.0, 12, 4).state == "look"
    assert "claims hold for it alone" in labels_chip(100, 0.0, 12, 1).sentence
    assert labels_chip(100, 0.4, 12, 50).state == "look"
    assert labels_chip(100, 0.02, 12, 50).state == "good"


def test_labels_that_the_judges_share_out_are_not_asked_for() -> None:
    missing = Finding("warning", "missing", "Many missing labels", "Sentence.", 1, pd.DataFrame())
    chip = labels_chip(28_800, 2 / 3, 60, 40, [missing], unlabelled=0.0)
    assert (chip.figure, chip.state) == ("28,800, 0% of cells missing", "good")
    assert chip.sentence == "60 systems on 40 queries, which the judges share out."
    failed = labels_chip(28_800, 2 / 3, 60, 40, [missing], unlabelled=0.125)
    assert (failed.figure, failed.state) == ("28,800, 67% missing", "look")
    thin = Finding("warning", "coverage", "Judges with missing labels", "Sentence.", 1, pd.DataFrame())
    assert labels_chip(28_800, 2 / 3, 60, 40, [missing, thin], unlabelled=0.0).sentence == (
        "Data warns of judges with missing labels: look at its checks."
    )


def test_labels_are_good_only_where_the_checks_on_data_do_not_warn() -> None:
    def found(*severities: Severity) -> Chip:
        table = pd.DataFrame()
        findings = [Finding(s, "c", f"Title {n}", "Sentence.", 1, table) for n, s in enumerate(severities)]
        return labels_chip(100, 0.0, 12, 50, findings)

    assert found("note").state == "good"
    assert found("warning", "note").state == "look"
    assert (
        found("error", "warning", "note").sentence == "Data warns of title 0 and 1 more: look at its checks."
    )


def test_correlations_that_nothing_gives_are_unknown_and_no_good_model() -> None:
    def chip(*item_rest: float) -> Chip:
        fit = SimpleNamespace(converged=True, model="2PL", constant=np.array([False, False, True]))
        return model_chip(SimpleNamespace(fit=fit, item_rest=np.array(item_rest)))

    nothing = chip(np.nan, np.nan, np.nan)
    assert (nothing.figure, nothing.state) == ("2PL, item–rest unknown", "look")
    assert chip(0.3, np.nan, np.nan).state == "good"
    assert chip(0.3, -0.2, np.nan).sentence.startswith("50% of 2 item–rest correlations are negative;")


def test_a_system_is_named_as_its_file_spells_it() -> None:
    standing = SimpleNamespace(
        design_effect=1.0, n_groups=1, n_pairs=1, excused=0, allowance=None, unit="query"
    )
    board = SimpleNamespace(
        standing=standing,
        comparisons=pd.DataFrame({"separated": [True]}),
        refused="",
        unequal=False,
        **COMPLETE,
    )
    claims = SimpleNamespace(ahead="s39 is ahead of 1 of the 1 other at 95%.", contradicted=())
    assert board_chip(board, claims).sentence.startswith("s39 ")


def test_a_board_that_separates_hardly_a_pair_is_no_good_board() -> None:
    standing = SimpleNamespace(
        design_effect=1.0, n_groups=1, n_pairs=1770, excused=0, allowance=None, unit="query"
    )
    claims = SimpleNamespace(ahead="3 of the 1,770 pairs are separated.", contradicted=())

    def chip(apart: int) -> Chip:
        comparisons = pd.DataFrame({"separated": [True] * apart + [False] * (1770 - apart)})
        return board_chip(
            SimpleNamespace(
                standing=standing, comparisons=comparisons, refused="", unequal=False, **COMPLETE
            ),
            claims,
        )

    assert (chip(0).state, chip(3).state, chip(900).state) == ("stop", "look", "good")
    assert chip(3).sentence == "3 of the 1,770 pairs are separated. Add queries."


def test_a_board_without_claims_counts_no_pair_as_separated() -> None:
    standing = SimpleNamespace(design_effect=1.3, n_pairs=91)
    comparisons = pd.DataFrame({"separated": [True] * 24})
    board = SimpleNamespace(standing=standing, comparisons=comparisons, refused="The gate keeps too little.")
    chip = board_chip(board, SimpleNamespace())
    assert (chip.figure, chip.state, chip.sentence) == ("no claim", "stop", board.refused)


def test_a_contradiction_is_a_sentence_of_its_own() -> None:
    board = SimpleNamespace(
        standing=SimpleNamespace(
            design_effect=1.0, n_groups=1, n_pairs=2, excused=0, allowance=None, unit="query"
        ),
        comparisons=pd.DataFrame({"separated": [True]}),
        refused="",
        unequal=False,
        **COMPLETE,
    )
    claims = SimpleNamespace(
        ahead="s39 is ahead.", contradicted=("But the human ranking orders 1 of these.",)
    )
    assert board_chip(board, claims).sentence.startswith("The human ranking orders 1 of these. ")


def test_unequal_panels_that_no_interval_allows_for_deserve_a_look() -> None:
    standing = SimpleNamespace(design_effect=1.0, n_groups=1, n_pairs=2, excused=0, allowance=None)
    board = SimpleNamespace(
        standing=standing,
        comparisons=pd.DataFrame({"separated": [True]}),
        refused="",
        unequal=True,
        by_score=True,
    )
    claims = SimpleNamespace(ahead="s1 is ahead.", contradicted=())
    chip = board_chip(board, claims)
    assert chip.state == "look"
    assert "do not allow for" in chip.sentence
    assert chip.sentence.endswith("Have the same judges label all systems.")
    board.by_score = False  # of few systems there are no abilities to put judges beside
    other = f'or run the experiment "{EXPERIMENTS["many_facet"].title}".'
    assert board_chip(board, claims).sentence.endswith(other)


def test_a_board_with_fewer_labels_of_one_system_is_no_good_board() -> None:
    standing = SimpleNamespace(
        design_effect=1.0,
        n_groups=1,
        n_pairs=3,
        excused=0,
        allowance=None,
        unit="query",
        ranked=np.ones(3, dtype=bool),
    )
    comparisons = pd.DataFrame({"separated": [True]})
    claims = SimpleNamespace(ahead="s1 is ahead.", contradicted=())

    def chip(on: int) -> Chip:
        labelled = Labelled(np.array([100, 100, on]), np.full(3, 100))
        board = Board(
            systems=("s1", "s2", "s3"),
            standing=standing,
            comparisons=comparisons,
            by_score=False,
            n_rubrics=(100, 100),
            settings=Settings(),
            queries=labelled,
        )
        return board_chip(board, claims)

    assert chip(100).state == "good"
    assert chip(50).state == "look"
    assert chip(50).sentence.startswith("s3 has labels on clearly fewer queries than others, on 50 of 100:")


def chip_of_kappas(*kappas: float, statistic: str = "kappa", judges: int = 3) -> Chip:
    gate = SimpleNamespace(
        values=np.array(kappas), feasible=np.ones(len(kappas), dtype=bool), statistic=statistic
    )
    reduction = SimpleNamespace(
        n_judges=judges, max_panel=np.full(len(kappas), judges), n_total=np.full(len(kappas), 9)
    )
    return agreement_chip(reduction, gate, SimpleNamespace(holds=True))


def test_judges_who_agree_little_beyond_chance_are_no_good_judges() -> None:
    assert chip_of_kappas(0.6, 0.5, 0.7).state == "good"
    little = chip_of_kappas(0.05, 0.08, 0.3)
    assert little.state == "look"
    assert little.sentence.startswith("Half of the rubrics have a kappa of at most 0.08:")
    assert chip_of_kappas(0.05, 0.08, 0.3, statistic="agreement").state == "good"
    assert "human labels, or two more judges" in chip_of_kappas(0.6, 0.5, 0.7, judges=2).sentence


@pytest.mark.parametrize(
    ("judges", "remedy"), [(1, "Add a second judge."), (2, "Have the judges label the same answers.")]
)
def test_where_no_two_judges_met_the_advice_counts_the_judges(judges: int, remedy: str) -> None:
    """Two judges who labelled different answers were to be joined by a second one."""
    reduction = SimpleNamespace(n_judges=judges, max_panel=np.ones(2), n_total=np.zeros(2))
    gate = SimpleNamespace(values=np.full(2, np.nan), feasible=np.ones(2, dtype=bool), statistic="kappa")
    assert agreement_chip(reduction, gate, SimpleNamespace(holds=True)).sentence.endswith(remedy)


def test_a_board_whose_systems_share_no_queries_is_not_fit() -> None:
    found = infer(
        Influence(
            np.array([1.0, 0.5, 0.0]),
            np.zeros((9, 3)),
            np.full(3, 9),
            "query",
            np.full(3, 0.001),
            np.full(3, np.nan),
            np.zeros(3, dtype=np.int64),
            np.array([0, 0, 1]),
        ),
        np.random.default_rng(0),
    )
    board = Board(
        systems=("s1", "s2", "s3"),
        standing=found,
        comparisons=comparisons_table(("s1", "s2", "s3"), found),
        by_score=False,
        n_rubrics=(9, 9),
        settings=Settings(),
    )
    chip = board_chip(board, claims_of(board))
    assert (chip.figure, chip.state) == ("1 of 1 pair separated", "stop")
    assert "(1: s1 and s2; 2: s3)" in chip.sentence


@pytest.mark.parametrize(
    ("per_query", "settings", "advice"),
    [
        (6, Settings(basis="bank"), "have several of them answer the same queries."),
        (1, Settings(population="rubrics"), "label them on more rubrics."),
    ],
)
def test_where_nobody_is_ranked_the_advice_follows_from_the_reason(
    per_query: int, settings: Settings, advice: str
) -> None:
    """It was to add queries, of which each system on queries of its own has as many as anybody likes."""
    rng = np.random.default_rng(0)
    rows = [
        f"s{system},q{query},r{query}-{n},j{judge},{int(rng.random() < (0.2 if system % 2 else 0.7))}"
        for system in range(8)
        for query in range(system // 2, 12, 4)  # two systems have the same
        for n in range(per_query)
        for judge in range(3)
    ]
    with Workspace() as workspace:
        workspace.ingest("\n".join(["system,query,rubric,judge,label", *rows]).encode(), "two", "labels")
        analysis = Analysis(dataset=workspace.dataset("two"), fingerprint="two", settings=settings)
        chip = board_chip(analysis.board(), analysis.claims())
    assert (chip.figure, chip.state) == ("no pair to compare", "stop")
    assert chip.sentence.startswith("No system could be ranked. ")
    assert chip.sentence.endswith(advice)


def test_a_bank_is_asked_to_cover_as_many_queries_as_it_can() -> None:
    """Of a thousand queries with a rubric each no bank of 200 covers more than 200."""
    assert bank_chip(1024, 200, 1024, 200).state == "good"
    assert bank_chip(1024, 200, 1024, 90).state == "look"
    assert bank_chip(4000, 200, 40, 15).state == "look"
    assert bank_chip(100, 200, 40, 15).state == "good"


def test_shares_that_are_nearly_all_are_not_called_all() -> None:
    assert labels_chip(10, 0.9996, 20, 50).sentence.startswith("over 99% are missing")
