"""What to write and what to rewrite, on the pages."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from crubric_core.analysis.gaps import find_rewrites
from crubric_core.analysis.pipeline import run_pipeline
from crubric_core.labels.store.workspace import Workspace
from crubric_core.settings import Settings
from tests.pages.conftest import Open


def said(app: object) -> str:
    return re.sub(
        r"\\(.)", r"\1", " ".join(text.value for text in [*app.header, *app.markdown, *app.caption])
    )


def test_rubrics_worth_rewriting_are_listed_with_their_labels(open_page: Open, study: Path) -> None:
    app = open_page("measurability", study, dataset="small", view="What to rewrite")
    assert not app.exception
    with Workspace(study) as workspace:
        result = run_pipeline(workspace.dataset("small"), Settings())
    found = find_rewrites(result.calibration.nu, result.gating.feasible)
    names = result.reduction.rubrics["rubric"].to_numpy()[found.at].tolist()
    assert names, "the study has such rubrics, else this test says nothing"
    assert app.dataframe[0].value["rubric"].tolist() == names
    assert f"{len(names)} rubric" in said(app)
    assert f"**{names[0]}**" in said(app), "the first is open, with its labels"
    assert "worth a look" in said(app)


@pytest.mark.parametrize(("gate", "called"), [("kappa", "rubric κ"), ("agreement", "measurability")])
def test_the_statistic_of_the_gate_is_called_by_its_name(
    open_page: Open, study: Path, gate: str, called: str
) -> None:
    table = open_page("measurability", study, view="What to rewrite", gate=gate).dataframe[0]
    assert json.loads(table.proto.columns)["statistic"]["label"] == called


def test_the_bank_says_where_rubrics_are_missing(open_page: Open, study: Path) -> None:
    app = open_page("bank", study, dataset="small", budget="5", part="Gaps")
    assert not app.exception
    covered = app.metric[1].value
    had, of = (int(n) for n in re.findall(r"\d+", covered))
    assert f"{of - had} of {of} queries have no rubric in the bank" in said(app)
