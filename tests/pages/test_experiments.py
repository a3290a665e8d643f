"""The experiments page: not run yet, under way, done; and what it says of each."""

from __future__ import annotations

import json
import re
import shlex
import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from crubric_core.__main__ import build_parser
from crubric_core.commands.options import settings_of
from crubric_core.demo import simulate
from crubric_core.experiments import EXPERIMENTS, ExperimentResult, run_experiment, store_experiment
from crubric_core.labels.store.workspace import Workspace
from crubric_core.reports.sections import report_markdown
from crubric_core.reports.study import full_report
from crubric_core.scoring_rules import ScoringRules
from crubric_core.settings import Settings
from crubric_core.ui import loaders
from crubric_core.ui.experiments.runs import background, report, terminal
from tests.experiments.conftest import QUICK
from tests.pages.conftest import HOSTILE, Open


def first_line(app: AppTest) -> str:
    return re.sub(r"\\(.)", r"\1", app.header[0].value)


def press(app: AppTest, label: str) -> AppTest:
    return next(b for b in app.button if b.label == label).click().run()


def until(app: AppTest, done: Callable[[AppTest], object], seconds: float = 60) -> AppTest:
    end = time.monotonic() + seconds
    while not done(app):
        assert time.monotonic() < end, first_line(app)
        time.sleep(0.2)
        app.run()
    return app


@pytest.fixture(scope="module")
def own(study: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the small study, for results are kept in it."""
    copy = tmp_path_factory.mktemp("experiments") / "study.duckdb"
    copy.write_bytes(study.read_bytes())
    return copy


@pytest.fixture(scope="module")
def results(own: Path) -> dict[str, ExperimentResult]:
    """Every experiment on the copy, with the settings that its page starts with; the copy keeps them."""
    with Workspace(own) as workspace:
        ds = workspace.dataset("small")
        settings = Settings(budget=min(200, len(ds.rubrics)))
        quick = QUICK | {"stability": {"kinds": ("system",)}}  # one system's name is hostile
        found = {name: run_experiment(name, ds, settings, **quick.get(name, {})) for name in EXPERIMENTS}
        for result in found.values():
            store_experiment(workspace, result)
    return found


def test_without_data_the_page_says_what_to_do(open_page: Open, tmp_path: Path) -> None:
    app = open_page("experiments", tmp_path / "empty.duckdb")
    assert not app.exception
    assert first_line(app) == "No dataset yet."


def test_an_experiment_runs_beside_the_page_and_its_result_is_there_for_who_comes_later(
    open_page: Open, own: Path
) -> None:
    app = open_page("experiments", own, experiment=EXPERIMENTS["sweep"].title, seed="11")
    assert first_line(app) == "Not run yet on these labels with these settings."
    press(app, "Run")
    assert not app.exception
    until(app, lambda a: "κ" in first_line(a))
    later = open_page("experiments", own, experiment=EXPERIMENTS["sweep"].title, seed="11")
    assert first_line(later) == first_line(app)
    other_seed = open_page("experiments", own, experiment=EXPERIMENTS["sweep"].title, seed="12")
    assert first_line(other_seed).startswith("Not run yet")


def test_what_runs_can_be_cancelled(open_page: Open, own: Path) -> None:
    app = open_page("experiments", own, experiment=EXPERIMENTS["stability"].title, seed="13")
    press(app, "Run")
    assert [b.label for b in app.button if b.label in ("Run", "Cancel")] == ["Cancel"]
    press(app, "Cancel")
    app.run()
    assert not app.exception
    assert first_line(app).startswith("Not run yet")
    assert "Run" in [b.label for b in app.button]


def test_two_or_more_that_run_or_wait_can_be_cancelled_together(open_page: Open, own: Path) -> None:
    app = open_page("experiments", own, experiment="stability", seed="14")
    press(app, "Run all that are missing")
    (together,) = (b.label for b in app.button if b.label.startswith("Cancel all"))
    assert together == f"Cancel all {len(background().active())}"
    press(app, together)
    app.run()
    assert not app.exception
    assert background().active() == []
    assert first_line(app).startswith("Not run yet")
    press(app, "Run")
    assert "Cancel" in [b.label for b in app.button]
    assert not any(b.label.startswith("Cancel all") for b in app.button), "one can be cancelled by itself"
    press(app, "Cancel")


def test_what_one_session_started_is_followed_by_another_and_outlives_the_first(
    open_page: Open, own: Path
) -> None:
    waiting = open_page("experiments", own, experiment=EXPERIMENTS["stability"].title, seed="21")
    assert first_line(waiting).startswith("Not run yet")
    first = open_page("experiments", own, experiment=EXPERIMENTS["stability"].title, seed="21")
    press(first, "Run")
    del first
    assert first_line(waiting.run()).startswith("Running")
    assert "Cancel" in [b.label for b in waiting.button]
    other_page = open_page("leaderboard", own)
    assert not other_page.exception
    until(waiting, lambda a: first_line(a).startswith("The ranking keeps"))
    running = background()
    later = press(open_page("experiments", own, experiment="sweep", seed="21"), "Run all that are missing")
    (others,) = (c.value.replace("\\", "") for c in later.caption if c.value.startswith("Also under way"))
    assert others.startswith("Also under way, in any dataset: ")
    assert f"{EXPERIMENTS['ablation'].title} – " in others
    assert "stability" not in [job.name for job in running.active()]
    running.close()


@pytest.mark.usefixtures("nothing_kept")
def test_an_experiment_that_cannot_be_made_says_why_and_can_be_run_again(open_page: Open, own: Path) -> None:
    app = open_page("experiments", own, experiment=EXPERIMENTS["stability"].title, tau_c="1.0")
    press(app, "Run")
    until(app, lambda a: a.error)
    assert "No rubric" in app.error[0].value
    assert "Run" in [b.label for b in app.button]


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_each_experiment_says_what_it_found_and_shows_its_tables(
    open_page: Open, own: Path, results: dict[str, ExperimentResult], name: str
) -> None:
    app = open_page("experiments", own, experiment=EXPERIMENTS[name].title)
    assert not app.exception
    assert not app.error
    result, declared = results[name], EXPERIMENTS[name]
    assert first_line(app) == declared.headline(result)
    assert result.found in [re.sub(r"\\(.)", r"\1", text.value) for text in app.markdown]
    on_page = [table for table, shown in declared.tables.items() if shown.on_page]
    assert len(app.dataframe) == sum(len(result.tables[table]) > 0 for table in on_page)
    assert f"experiment {name} " in app.code[0].value
    assert list(declared.tables) == list(result.tables)
    for table, shown in declared.tables.items():
        assert set(shown.columns) == set(result.tables[table].columns), table


def test_an_address_may_name_the_experiment_as_the_command_line_does(open_page: Open, own: Path) -> None:
    """It was shown, and taken out of the address, so that a reload showed another."""
    for asked in ("sweep", EXPERIMENTS["sweep"].title):
        app = open_page("experiments", own, experiment=asked)
        assert EXPERIMENTS["sweep"].question in [text.value.replace("\\", "") for text in app.markdown]
        assert app.query_params["experiment"] in ("sweep", ["sweep"])


def test_an_address_that_names_no_experiment_shows_the_first(open_page: Open, own: Path) -> None:
    app = open_page("experiments", own, experiment="")
    assert not app.exception
    assert not app.warning
    unknown = open_page("experiments", own, experiment="zzz")
    assert "experiment=zzz" in unknown.warning[0].value.replace("\\", "")
    assert EXPERIMENTS["crossfit"].question in [text.value.replace("\\", "") for text in app.markdown]


def test_a_hostile_name_stays_text(open_page: Open, own: Path, results: dict[str, ExperimentResult]) -> None:
    app = open_page("experiments", own, experiment=EXPERIMENTS["stability"].title)
    assert HOSTILE in results["stability"].tables["variants"]["what"].tolist()
    assert HOSTILE in app.dataframe[1].value["what"].tolist()
    assert all(
        "<img" not in text.value or "\\<img" in text.value
        for text in [*app.header, *app.subheader, *app.markdown]
    )


def test_a_bank_that_is_not_reached_says_so() -> None:
    frame = pd.DataFrame({"strategy": ["greedy", "plain"], "smallest_bank": [38.0, float("nan")]})
    summary = EXPERIMENTS["crossfit"].tables["summary"].shown(frame)
    assert summary["smallest_bank"].tolist() == ["38", "not reached"]
    assert summary["strategy"].tolist() == ["greedy", "plain information"]
    frame = pd.DataFrame({"tau_c": [float("nan"), 0.5]})
    thresholds = EXPERIMENTS["sweep"].tables["thresholds"].shown(frame)
    assert thresholds["tau_c"].tolist() == ["no gate", "0.50"]


def test_a_small_p_is_never_zero() -> None:
    frame = pd.DataFrame({"p": [0.0, 0.0321, float("nan")]})
    shown = EXPERIMENTS["perturbation"].tables["external"].shown(frame)
    assert shown["p"].tolist() == ["< 0.001", "0.032", "—"]


def test_the_report_holds_every_experiment_that_was_run(
    open_page: Open, own: Path, results: dict[str, ExperimentResult]
) -> None:
    open_page("experiments", own)
    row, settings = loaders.datasets().iloc[0], Settings(budget=results["sweep"].settings["budget"])
    study = loaders.Study(
        dataset=loaders.workspace().dataset("small"), fingerprint=row["fingerprint"], settings=settings
    )
    for make in (full_report, report_markdown):
        text = make(*report(study))
        assert [name for name in EXPERIMENTS if EXPERIMENTS[name].title not in text] == []
        assert not re.search(r"(?<!\\)<img src=x", text)
    assert report(study)[0].calibration is study.calibration()  # computed once, for pages and reports
    args = build_parser().parse_args(shlex.split(report(study)[2])[1:])
    assert (settings_of(args), args.experiments) == (settings, list(EXPERIMENTS))


def test_what_is_computed_while_the_dataset_is_changed_is_not_kept(
    open_page: Open, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An untouched copy, or an undo, brought the content of before back with results of another."""

    class RestartedError(Exception):
        pass

    def restart() -> None:
        raise RestartedError

    open_page("experiments", own)
    loaders._kept.clear()
    loaders._facts.clear()
    monkeypatch.setattr(loaders.st, "rerun", restart)
    workspace, fingerprint = loaders.workspace(), loaders.datasets().iloc[0]["fingerprint"]

    def study() -> loaders.Study:
        return loaders.Study(dataset=workspace.dataset("small"), fingerprint=fingerprint, settings=Settings())

    one = workspace.dataset("small").rubrics.iloc[0]
    row = f"another,{one['query']},{one['rubric']},k,1"
    workspace.ingest(f"system,query,rubric,judge,label\n{row}\n".encode(), "small")
    with pytest.raises(RestartedError):
        study().gold()
    with pytest.raises(RestartedError):
        loaders.facts(study())
    workspace.undo("small")
    assert "another" not in loaders.facts(study()).systems
    assert len(study().gold()) == len(workspace.dataset("small").gold())


def test_the_command_on_the_page_gives_the_same_settings(open_page: Open, own: Path) -> None:
    app = open_page("experiments", own)
    assert not app.exception
    chosen = Settings(tau_c=0.7, budget=33, seed=5, holm=True, model="1PL")
    row = loaders.datasets().iloc[0]
    study = loaders.Study(
        dataset=loaders.workspace().dataset("small"), fingerprint=row["fingerprint"], settings=chosen
    )
    words = shlex.split(terminal(study, "ablation"))
    args = build_parser().parse_args(words[3:])
    assert settings_of(args) == chosen
    assert (args.name, args.dataset) == ("ablation", "small")


def test_the_command_takes_rules_that_are_not_the_datasets_own_from_a_file(
    open_page: Open, own: Path, tmp_path: Path
) -> None:
    open_page("experiments", own)
    data, file = loaders.workspace().dataset("small"), tmp_path / "rules.json"
    for rules, named in ((data.scoring_rules(), False), (harsh := ScoringRules(critical=-8.0), True)):
        study = loaders.Study(dataset=data, fingerprint=data.fingerprint, settings=Settings(rules=rules))
        for spelled in (terminal(study, "ablation"), report(study)[2]):
            assert ("--rules rules.json" in spelled) == named
    file.write_text(json.dumps(harsh.as_dict()))
    words = [str(file) if word == "rules.json" else word for word in shlex.split(terminal(study, "ablation"))]
    assert settings_of(build_parser().parse_args(words[3:])) == Settings(rules=harsh)


def test_labels_of_one_judge_are_said_to_have_no_gate_below_what_was_found(
    open_page: Open, tmp_path: Path
) -> None:
    """The page's first line was of the gate, whatever the experiment found."""
    labels = simulate(seed=1, systems=5, queries=6, pool=(8, 10)).labels
    one = labels[labels["judge"] == labels["judge"].min()]
    with Workspace(tmp_path / "one.duckdb") as workspace:
        workspace.ingest(one.to_csv(index=False).encode(), "one judge", format="csv")
    app = open_page("experiments", tmp_path / "one.duckdb")
    assert first_line(app) == "Not run yet on these labels with these settings."
    assert app.warning[0].value.startswith("No cell has labels of two judges")


def test_a_chart_without_a_value_to_show_is_left_out(open_page: Open, tmp_path: Path) -> None:
    """Of one judge both charts of the threshold sweep said that there was nothing to draw."""
    labels = simulate(seed=1, systems=5, queries=6, pool=(8, 10)).labels
    one = labels[labels["judge"] == labels["judge"].min()]
    with Workspace(tmp_path / "one.duckdb") as workspace:
        workspace.ingest(one.to_csv(index=False).encode(), "one judge", format="csv")
        ds = workspace.dataset("one judge")
        result = run_experiment("sweep", ds, Settings(budget=min(200, len(ds.rubrics))))
        store_experiment(workspace, result)
    app = open_page("experiments", tmp_path / "one.duckdb", experiment=EXPERIMENTS["sweep"].title)
    shown = [text.value for text in app.markdown]
    assert any(result.found in re.sub(r"\\(.)", r"\1", text) for text in shown)
    assert not any("Nothing to draw" in text or "What the agreement costs" in text for text in shown)
