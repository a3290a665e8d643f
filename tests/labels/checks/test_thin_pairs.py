"""A judge with clearly fewer labels of a system is named; judges who are dealt out at random are not."""

from __future__ import annotations

import numpy as np
import pytest

from crubric_core.labels.checks.thin_pairs import clearly_fewer, dealt_together


def dealt(rng, design: str, shape: tuple[int, int, int, int], judges: int) -> np.ndarray:
    """(M, Q, m, K) which of K judges label a cell: so many of them, dealt to what the design says."""
    systems, _, rubrics, panel = shape
    if design == "labels missing one by one":
        return rng.random(shape) < judges / panel
    alike = {"cells": (1, 1, 1), "answers": (1, 1, rubrics), "queries": (systems, 1, rubrics)}
    over = np.array([*alike.get(design, (systems, 1, 1)), 1])
    drawn = rng.random(shape // over).argsort(axis=-1) < judges
    return np.broadcast_to(drawn, shape)


def named(labels: np.ndarray) -> np.ndarray:
    systems, queries, rubrics, _ = labels.shape
    cells = np.full(queries, systems * rubrics, dtype=float)
    together = np.clip(dealt_together(labels.sum(axis=(0, 2), dtype=float), cells), 1, rubrics)
    return clearly_fewer(labels.sum(axis=(1, 2), dtype=float), queries * rubrics, together)


@pytest.mark.parametrize("design", ["cells", "answers", "queries", "rubrics", "labels missing one by one"])
@pytest.mark.parametrize(
    ("shape", "judges"), [((60, 40, 4, 9), 3), ((8, 12, 5, 3), 2), ((8, 5, 12, 3), 1), ((10, 50, 1, 3), 2)]
)
def test_judges_who_are_dealt_out_at_random_are_named_in_at_most_one_of_twenty_tables(shape, judges, design):
    rng = np.random.default_rng(5)
    assert sum(named(dealt(rng, design, shape, judges)).any() for _ in range(60)) <= 3


@pytest.mark.parametrize(("shape", "judges"), [((60, 60, 4, 9), 3), ((12, 30, 6, 5), 2), ((8, 12, 5, 3), 3)])
def test_a_judge_who_skipped_half_of_one_system_is_named_and_hardly_any_other(shape, judges):
    rng, found, others = np.random.default_rng(6), 0, 0
    for _ in range(40):
        labels = dealt(rng, "cells", shape, judges).copy()
        labels[2, : shape[1] // 2, :, 1] = False
        pairs = named(labels)
        found, others = found + pairs[2, 1], others + pairs.sum() - pairs[2, 1]
    assert found >= 34
    assert others <= 4


def test_cells_that_are_dealt_one_by_one_are_told_from_answers_that_are_dealt_whole():
    rng, cells = np.random.default_rng(7), np.full(40, 60 * 4.0)
    one, whole = (
        dealt_together(dealt(rng, design, (60, 40, 4, 9), 3).sum(axis=(0, 2), dtype=float), cells)
        for design in ("cells", "answers")
    )
    assert one < 1.5 < 3 < whole < 5


@pytest.mark.parametrize("draws", [[""], [",1", ",2"]], ids=["one draw", "repeated draws"])
@pytest.mark.parametrize("skips", [False, True])
@pytest.mark.parametrize("design", ["cells", "answers"])
def test_the_checks_name_who_skipped_most_of_one_system_and_no_one_else(ws, design, skips, draws):
    """With 3 of 9 judges a cell, chance alone gives most pairs less than 90% of another judge's labels."""
    rng = np.random.default_rng(8)
    dealt_out = dealt(rng, design, (10, 50, 4, 9), 3).copy()
    if skips:
        dealt_out[2, 5:, :, 1] = False
    rows = [
        f"s{i},q{q},q{q}-r{j},j{k},{rng.integers(2)}{draw}"
        for i, q, j, k in np.argwhere(dealt_out)
        for draw in draws
    ]
    header = "system,query,rubric,judge,label" + (",run" if draws[0] else "")
    ws.ingest("\n".join([header, *rows]).encode(), "d")
    found = [finding for finding in ws.dataset("d").checks() if finding.code == "coverage"]
    table = ws.dataset("d").coverage()
    assert (table["labels"] < 0.9 * table["cells"]).mean() > 0.5
    assert len(found) == skips
    for finding in found:
        assert finding.count == 1
        assert "fewer than chance explains. The lowest share is that of j1 on s2 (" in finding.sentence
