"""An experiment is one object: every face of the program reads it."""

from __future__ import annotations

import json
import re

import pandas as pd
import pytest

from crubric_core import Settings, Workspace
from crubric_core.__main__ import main
from crubric_core.declarations import Parameter
from crubric_core.errors import SettingsError
from crubric_core.experiments import EXPERIMENTS, run_experiment
from crubric_core.experiments.declaration import Chart, Experiment, ResultColumn, ResultTable, number
from crubric_core.experiments.inputs import read_inputs
from crubric_core.experiments.results import ExperimentResult
from crubric_core.figures.experiments import experiment_figures
from crubric_core.reports.sections import report_markdown
from crubric_core.reports.study import full_report
from crubric_core.ui.experiments.tables import page_columns
from tests.experiments.conftest import ingest, small_study

FAST = Settings(tau_c=0.5, budget=8, replicates=20)


def mean_marks(ds, settings, *, progress=None, cancel=None, times=100, parts=(0.5, 1.0)):
    """The toy experiment: each system's mean mark."""
    inputs = read_inputs(ds, settings)
    means = pd.DataFrame(inputs.reduction.y).mean(axis=1)
    table = pd.DataFrame({"system": inputs.reduction.systems, "mark": times * means})
    table["rank"] = table["mark"].rank(ascending=False)
    return inputs.result("toy", {"times": times}, {"marks": table}, "All systems have a mean mark.", ())


TOY = Experiment(
    name="toy",
    title="A toy",
    question="What is the mean mark of each system?",
    run=mean_marks,
    parameters={
        "times": Parameter("points of the full mark", low=1, whole=True),
        "parts": Parameter("shares", low=0, high=1),
    },
    tables={
        "marks": ResultTable(
            "Marks of the systems",
            {
                "system": ResultColumn("system", words={"s0": "the first one"}),
                "mark": number("mean mark", "%.1f", "In points"),
                "rank": ResultColumn("place", "localized", on_page=False),
            },
            caption="A mark is a mean over rubrics.",
        )
    },
    headline=lambda result: f"The best mark is {result.frame()['mark'].max():.1f}.",
    charts=(Chart("Marks drawn", x="system", y=("mark",), y_title="points", marks=True),),
)


@pytest.fixture
def toy(monkeypatch):
    monkeypatch.setitem(EXPERIMENTS, "toy", TOY)
    return TOY


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    file = tmp_path_factory.mktemp("toy") / "labels.csv"
    small_study()[0].to_csv(file, index=False)
    return file


@pytest.fixture
def result(toy, workspace):
    return run_experiment("toy", workspace.dataset("small"), FAST)


def test_the_command_line_lists_it_runs_it_and_takes_its_parameters(toy, files, tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["experiment", "--help"])
    shown = capsys.readouterr().out
    assert "toy: A toy" in shown
    assert "--set times=100: points of the full mark" in shown
    words = ["experiment", "toy", "--labels", str(files), "--out", str(tmp_path)]
    for extra, times in ([], 100), (["--set", "times=10"], 10):
        assert main([*words, *extra]) == 0
        written = json.loads((tmp_path / "toy.json").read_text())
        assert written["options"] == {"times": times}
        best = max(row[1] for row in written["tables"]["marks"]["rows"])
        assert f"note: The best mark is {best:.1f}." in capsys.readouterr().err


@pytest.mark.parametrize("words", [["tines=3"], ["times=many"], ["times"]])
def test_a_parameter_that_it_has_not_is_refused_with_the_remedy(toy, words):
    with pytest.raises(SettingsError, match="times"):
        toy.read(words)


@pytest.mark.parametrize(
    ("word", "value", "expected"),
    [
        ("times=0", {"times": 0}, "times = 0 is out of range: expected a whole number of at least 1."),
        ("parts=0.5,2", {"parts": (0.5, 2.0)}, "parts = 2.0 is out of range: expected a number from 0 to 1."),
    ],
)
def test_a_value_out_of_its_range_is_refused_however_it_is_given(toy, workspace, word, value, expected):
    with pytest.raises(SettingsError, match=f"^{re.escape(expected)}$"):
        toy.read([word])
    with pytest.raises(SettingsError, match=f"^{re.escape(expected)}$"):
        run_experiment("toy", workspace.dataset("small"), FAST, **value)


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("crossfit", "splits=0"),
        ("crossfit", "draws=0"),
        ("crossfit", "n_budgets=0"),
        ("new_systems", "folds=1"),
        ("new_systems", "repeats=0"),
        ("new_systems", "draws=0"),
        ("new_systems", "n_budgets=0"),
        ("blocks", "repeats=0"),
        ("blocks", "splits=0"),
        ("perturbation", "seeds=0"),
        ("perturbation", "flips=2"),
        ("perturbation", "flips=0.1,-1"),
        ("sweep", "thresholds=5"),
        ("sweep", "splits=0"),
        ("model_check", "replicates=-1"),
        ("stability", "kinds=judge,foo"),
    ],
)
def test_every_parameter_has_a_range(name, word):
    with pytest.raises(SettingsError, match="out of range: expected"):
        EXPERIMENTS[name].read([word])


def test_thresholds_of_kappa_may_be_below_0() -> None:
    assert EXPERIMENTS["sweep"].read(["thresholds=-0.5,0,0.3"])["thresholds"] == (-0.5, 0, 0.3)


def test_an_example_that_a_refusal_recommends_is_accepted(toy):
    with pytest.raises(SettingsError) as refused:
        toy.read(["parts=(0.5, 0.6)"])
    example = str(refused.value).rsplit(" ", 1)[1].rstrip(".")
    assert toy.read([f"parts={example}"]) == {"parts": (0.5, 1.0)}


def test_the_page_shows_its_columns_in_words(result, toy):
    table = toy.tables["marks"]
    assert list(page_columns(table)) == ["system", "mark"]
    assert table.shown(result.frame())["system"].tolist()[:2] == ["the first one", "s1"]
    assert table.shown(result.frame())["mark"].equals(result.frame()["mark"])


def test_its_figure_needs_no_code(result):
    ((title, figure),) = experiment_figures(result)
    assert title == "Marks drawn"
    assert list(figure.data[0].y) == result.frame()["mark"].tolist()


def test_both_reports_hold_its_title_question_headline_table_and_figure(result, toy):
    from crubric_core import run_pipeline

    with Workspace() as ws:
        ingest(ws, "d", small_study()[0])
        analysis = run_pipeline(ws.dataset("d"), FAST)
    for make in (full_report, report_markdown):
        text = make(analysis, [result]).replace("\\", "")
        for said in (
            toy.title,
            toy.question,
            toy.headline(result),
            "Marks of the systems",
            "mean mark",
            "place",
        ):
            assert said in text
        assert "the first one" in text
        assert "A mark is a mean over rubrics." in text
    assert "Marks drawn" in full_report(analysis, [result])


def test_a_result_is_stored_and_read_again_as_it_is(result):
    again = ExperimentResult.from_json_dict(json.loads(json.dumps(result.to_json_dict())))
    assert TOY.headline(again) == TOY.headline(result)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_defaults_are_those_of_the_function_and_each_parameter_has_a_meaning(name):
    declared = EXPERIMENTS[name]
    assert list(declared.defaults) == list(declared.parameters)
    assert all(parameter.text for parameter in declared.parameters.values())


@pytest.mark.parametrize(
    ("column", "value", "text"),
    [
        (number("x"), 0.12345, "0.123"),
        (number("x", "percent"), 0.1234, "12.3%"),
        (number("x", "localized"), 4052.0, "4,052"),
        (ResultColumn("x", "check"), True, "yes"),
        (ResultColumn("x", "p"), 0.0, "< 0.001"),
        (ResultColumn("x", "localized", unknown="not reached"), float("nan"), "not reached"),
        (ResultColumn("x", "mixed"), 7638121.0, "7,638,121"),
        (ResultColumn("x", "mixed"), 0.0156125, "0.01561"),
        (ResultColumn("x"), None, "—"),
        (ResultColumn("x", words={"a": "the first"}), "a", "the first"),
    ],
)
def test_values_are_shown_as_their_column_says(column, value, text):
    assert column.text(value) == text
