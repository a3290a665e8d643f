"""Judges with the same label on every cell are told; judges who merely agree are not."""

from __future__ import annotations

import numpy as np

from crubric_core import Settings, Workspace
from crubric_core.judges.copies import FEWEST, RARER, copies_note
from crubric_core.judges.report import judges_report

NAMES = ("anna", "ben", "carl")


def labels(seed=0, shape=(10, 30, 3), levels=2):
    return np.random.default_rng(seed).integers(0, levels, shape).astype(float)


def test_a_copied_judge_is_told_with_the_cells_that_both_labelled():
    panel = labels()
    panel[:, :, 2] = panel[:, :, 0]
    panel[0, :5, 2] = np.nan
    note = copies_note(panel, NAMES)
    assert note.startswith(
        "anna and carl give the same label on all 295 cells that both labelled. Is one a copy"
    )


def test_of_three_equal_judges_each_pair_counts():
    panel = np.repeat(labels()[:, :, :1], 3, axis=2)
    assert "and so do 2 more pairs of judges" in copies_note(panel, NAMES)


def test_one_other_label_is_no_copy():
    panel = labels(levels=5)
    panel[:, :, 1] = panel[:, :, 0]
    assert copies_note(panel, NAMES)
    panel[3, 7, 1] = (panel[3, 7, 1] + 1) % 5
    assert copies_note(panel, NAMES) == ""


def test_few_cells_and_labels_that_hardly_vary_tell_nothing():
    few = np.repeat(labels(shape=(3, FEWEST // 3, 1)), 2, axis=2)
    assert copies_note(few, NAMES[:2]) == ""
    constant = np.ones((10, 30, 2))
    constant[0, : RARER - 1] = 0
    assert copies_note(constant, NAMES[:2]) == ""
    constant[0, :RARER] = 0
    assert copies_note(constant, NAMES[:2])


def test_the_report_of_graded_labels_compares_levels_and_not_passes():
    rows = [
        f"s{s},r{r},{judge},{1 + (3 * s + 5 * r) % 4}"
        for s in range(10)
        for r in range(20)
        for judge in ("anna", "ben")
    ]
    passes = [
        row.replace(",4", ",3") if ",ben," in row else row for row in rows
    ]  # 3 and 4 of 1 to 4 both pass
    with Workspace() as ws:
        for name, content in (("copied", rows), ("alike", passes)):
            ws.ingest("\n".join(["system,rubric,judge,label", *content]).encode(), name)
        copied, alike = (judges_report(ws.dataset(name), Settings()).copies for name in ("copied", "alike"))
    assert copied.startswith("anna and ben give the same label on all 200 cells")
    assert alike == ""
