"""The task types page: who typed what, by which rules a query is scored, and the typers."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Selectbox

from crubric_core.demo import simulate
from crubric_core.labels.store.dataset_rules import save_rules
from crubric_core.labels.store.query_types import save_types
from crubric_core.labels.store.workspace import Workspace
from crubric_core.scoring_rules import Assignment, Loss, ScoringRules
from crubric_core.task_types.types import TASK_TYPES
from crubric_core.ui import loaders
from crubric_core.ui.task_types import types
from tests.pages.conftest import Open
from tests.pages.test_pages import first_line
from tests.task_types.conftest import FakeEndpoint

VIEWS = ("Queries", "Rules", "Classify")


@pytest.fixture
def own(study: Path, tmp_path: Path) -> Path:
    """A copy of the study that a test may change."""
    return Path(shutil.copy(study, tmp_path / "own.duckdb"))


@pytest.fixture
def untyped(tmp_path: Path) -> Path:
    """A dataset whose queries have no type."""
    with Workspace(tmp_path / "untyped.duckdb") as workspace:
        rows = [
            f"s{i},q{j},q{j}-r{r},k,{(i + j + r) % 2}" for i in range(6) for j in range(4) for r in (0, 1)
        ]
        workspace.ingest("\n".join(["system,query,rubric,judge,label", *rows]).encode(), "x", format="csv")
    return tmp_path / "untyped.duckdb"


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeEndpoint]:
    server = FakeEndpoint()
    monkeypatch.setenv("CRUBRIC_TYPER_BASE_URL", server.url)
    monkeypatch.setenv("CRUBRIC_TYPER_MODEL", "tiny")
    monkeypatch.setenv("CRUBRIC_TYPER_KEY", "secret-key")
    yield server
    server.stop()


def press(app: AppTest, label: str) -> AppTest:
    next(b for b in app.button if re.search(label, b.label)).click().run()
    assert not app.exception
    return app


def type_box(app: AppTest) -> Selectbox:
    return next(box for box in app.selectbox if box.label == "Its type")


def open_typers(open_page: Open, path: Path) -> AppTest:
    """The typers, allowed to replace what the file says."""
    app = open_page("task_types", path, view="Classify")
    app.checkbox(key="given too").check().run()
    return app


def sources(path: Path) -> list[object]:
    with Workspace(path) as workspace:
        return workspace.dataset("small").queries["type_source"].tolist()


@pytest.mark.parametrize("view", VIEWS)
def test_each_view_says_how_many_queries_have_a_type(open_page: Open, study: Path, view: str) -> None:
    app = open_page("task_types", study, view=view)
    assert not app.exception
    assert not app.error
    counted = re.fullmatch(
        r"(\d+) of 12 queries are scored by the rules of their type"
        r"(?:; (?:(\d+) below τ_t = 0\.50)?(?: and )?(?:(\d+) without a type)? by pass or fail)?\.",
        first_line(app),
    )
    assert counted
    assert sum(int(n) for n in counted.groups() if n) == 12


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_without_data_says_what_to_do(open_page: Open, tmp_path: Path, view: str) -> None:
    app = open_page("task_types", tmp_path / "empty.duckdb", view=view)
    assert not app.exception
    assert first_line(app) == "No dataset yet."


@pytest.mark.parametrize("view", VIEWS)
def test_queries_without_type_or_text_are_scored_pass_or_fail(
    open_page: Open, tmp_path: Path, view: str
) -> None:
    labels = simulate(seed=1, systems=6, queries=6, pool=(6, 9)).labels
    one = labels[labels["judge"] == labels["judge"].min()]
    one.to_csv(tmp_path / "one.csv", index=False)
    with Workspace(tmp_path / "w.duckdb") as workspace:
        workspace.ingest(tmp_path / "one.csv", dataset="one")
    app = open_page("task_types", tmp_path / "w.duckdb", view=view)
    assert not app.exception
    assert not app.error
    assert (
        first_line(app)
        == "None of 6 queries has a type: all are scored pass or fail. Use Classify to give queries a "
        "type."
    )
    assert not (view == "Queries" and app.get("plotly_chart")), "one bar of all queries says nothing more"


def test_the_only_query_without_a_type_is_one(open_page: Open, tmp_path: Path) -> None:
    rows = [f"s{s},q,r{k},j{j},{(s + k * j) % 2}" for s in range(7) for k in range(5) for j in range(3)]
    with Workspace(tmp_path / "w.duckdb") as workspace:
        workspace.ingest("\n".join(["system,query,rubric,judge,label", *rows]).encode(), "one", "labels")
    app = open_page("task_types", tmp_path / "w.duckdb")
    assert first_line(app).startswith("The query has no type: it is scored pass or fail.")


def test_a_stricter_tau_t_leaves_fewer_queries_to_the_rules(open_page: Open, study: Path) -> None:
    app = open_page("task_types", study)
    before = int(first_line(app).split()[0])
    app.slider(key="tau_t").set_value(0.95).run()
    assert int(first_line(app).split()[0]) < before
    table = app.dataframe[0].value
    below = table["status"] == "below τ_t"
    assert (below == (table["certainty"] < 95)).all()
    assert set(table.loc[below, "scored_as"]) == {"pass or fail"}


def test_where_no_query_has_a_probability_tau_t_stands_still_and_says_why(
    open_page: Open, study: Path, untyped: Path
) -> None:
    idle, title = (
        "Least probability of a task type τ_t: no query has one",
        "Least probability of a task type τ_t",
    )
    for page in ("task_types", "bank"):
        slider = open_page(page, untyped).slider(key="tau_t")
        assert (slider.disabled, slider.label) == (True, idle)
        slider = open_page(page, study).slider(key="tau_t")
        assert (slider.disabled, slider.label) == (False, title)


def test_tau_t_holds_on_the_leaderboard_too(open_page: Open, study: Path) -> None:
    scores = [
        open_page("leaderboard", study, tau_t=tau_t).dataframe[0].value.set_index("system")["score"]
        for tau_t in ("0.5", "1.0")
    ]
    assert (scores[0] - scores[1]).abs().max() > 0.001


def test_a_type_set_by_hand_stays_whatever_a_typer_says(open_page: Open, own: Path) -> None:
    app = open_page("task_types", own)
    query = app.dataframe[0].value["query"].iloc[0]
    type_box(app).set_value("high_risk_constraint").run()
    press(app, "Set the type of 1 query")
    row = app.dataframe[0].value.set_index("query").loc[query]
    assert (row["source"], row["scored_as"]) == ("edited", "high-risk constraint")
    app = press(open_typers(open_page, own), "offline")
    assert "Classified 11 queries offline." in app.success[0].value.replace("\\", "")
    found = open_page("task_types", own).dataframe[0].value.set_index("query")
    assert found.loc[query, "scored_as"] == "high-risk constraint"
    assert found["source"].value_counts().to_dict() == {"offline": 11, "edited": 1}


def test_a_type_confirmed_by_hand_is_a_persons_from_then_on(open_page: Open, own: Path) -> None:
    with Workspace(own) as workspace:
        query = workspace.dataset("small").queries["query"].iloc[0]
        certain = {f"p_{name}": [float(name == "decision_support")] for name in TASK_TYPES}
        save_types(workspace, "small", pd.DataFrame({"query": [query], **certain}), "offline")
    app = open_page("task_types", own)
    assert app.dataframe[0].value["source"].iloc[0] == "offline"
    type_box(app).set_value("decision_support").run()
    press(app, "Set the type of 1 query")
    assert app.dataframe[0].value["source"].iloc[0] == "edited"


def test_types_that_the_file_gives_stay_unless_asked_for(open_page: Open, study: Path) -> None:
    app = open_page("task_types", study, view="Classify")
    button = next(b for b in app.button if b.label.endswith("offline"))
    assert button.label == "Classify 0 queries offline"
    assert button.disabled


def test_the_contributions_of_the_worked_example_add_up(open_page: Open, study: Path) -> None:
    app = open_page("task_types", study, view="Rules")
    table = app.dataframe[-1].value
    said = next(text.value for text in app.markdown if "add up to" in text.value)
    total = float(re.search(r"add up to ([-−]?\d+\.\d+?\d*)", said)[1].rstrip(".").replace("−", "-"))
    assert total == pytest.approx(table["contribution"].sum(), abs=6e-4)
    assert table["share"].sum() == pytest.approx(100)
    assert (table["emphasis"] > 1).any() or (table["points"] < 0).any()


def rule(app: AppTest, name: str) -> object:
    return next(n for n in app.number_input if str(n.key).startswith(f"rule {name}"))


def penalty(app: AppTest) -> float:
    """The lowest points of any rubric in the worked example."""
    return min(float(app.dataframe[-1].value["points"].min()), 0.0)


def strictest_query(open_page: Open, path: Path) -> AppTest:
    """The worked example on a system and query of which a rule takes points away."""
    app = open_page("task_types", path, view="Rules")
    for query in app.selectbox(key="example query").options:
        for system in app.selectbox(key="example system").options:
            app.selectbox(key="example query").select(query)
            app.selectbox(key="example system").select(system).run()
            if penalty(app) < 0:
                return app
    raise AssertionError("no query is punished")


def test_the_worked_example_follows_a_rule_while_it_is_tried_and_nothing_is_kept(
    open_page: Open, own: Path
) -> None:
    app = strictest_query(open_page, own)
    which = "critical" if penalty(app) == -0.5 else "moderate"
    rule(app, which).set_value(-2.0).run()
    assert penalty(app) == -2.0
    assert any("not saved yet" in text.value for text in app.markdown)
    with Workspace(own) as workspace:
        assert workspace.dataset("small").scoring_rules() == ScoringRules()


def test_kept_rules_hold_on_the_leaderboard_until_the_paper_s_come_back(open_page: Open, own: Path) -> None:
    def board() -> list[float]:
        return (
            open_page("leaderboard", own)
            .dataframe[0]
            .value.set_index("system")["score"]
            .sort_index()
            .tolist()
        )

    before = board()
    app = open_page("task_types", own, view="Rules")
    assert any(text.value == "The paper's rules." for text in app.markdown)
    rule(app, "critical").set_value(-3.0).run()
    rule(app, "actionability").set_value(1.0).run()
    press(app, "Save for this dataset")
    assert any(text.value == "This dataset's own rules." for text in app.markdown)
    assert board() != before
    app = open_page("task_types", own, view="Rules")
    assert (rule(app, "critical").value, rule(app, "actionability").value) == (-3.0, 1.0)
    press(app, "Reset to the paper")
    assert (rule(app, "critical").value, rule(app, "actionability").value) == (-0.5, 5.0)
    assert board() == before


def test_rules_of_assignment_are_shown_with_what_they_fit(open_page: Open, own: Path) -> None:
    with Workspace(own) as workspace:
        number = len(workspace.dataset("small").rubrics)
        everything = Assignment("severity", "rubric", "*", "critical")
        save_rules(workspace, "small", ScoringRules(assign=(everything,)))
    app = open_page("task_types", own, view="Rules")
    shown = next(t.value for t in app.dataframe if "decides" in t.value)
    assert shown[["rubrics", "decides"]].to_numpy().tolist() == [[number, number]]
    assert any(f"Rubrics by severity: critical {number}; 0 without one." in c.value for c in app.caption)
    assert set(app.dataframe[-1].value["severity"]) == {"critical"}


def test_losses_are_read_back_with_what_they_fit_and_stay_when_another_rule_is_kept(
    open_page: Open, own: Path
) -> None:
    losses = (Loss("*", "critical", 12.0), Loss("*", "*", 3.0))
    with Workspace(own) as workspace:
        dataset = workspace.dataset("small")
        severe, number = int(dataset.rubrics["severity"].eq("critical").sum()), len(dataset.rubrics)
        save_rules(workspace, "small", ScoringRules(losses=losses))
    app = open_page("task_types", own, view="Rules")
    shown = "\n".join(re.sub(r"\\(.)", r"\1", each.value) for each in (*app.markdown, *app.caption))
    assert "One violated critical rubric is as bad as 4 other rubrics." in shown
    assert f"critical rubrics {severe}, other rubrics {number - severe}; 0 without one." in shown
    rule(app, "critical").set_value(-3.0).run()
    press(app, "Save for this dataset")
    with Workspace(own) as workspace:
        assert workspace.dataset("small").scoring_rules() == ScoringRules(critical=-3.0, losses=losses)


def test_without_an_endpoint_the_page_says_what_to_set(
    open_page: Open, study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CRUBRIC_TYPER_BASE_URL", raising=False)
    app = open_page("task_types", study, view="Classify")
    assert any("CRUBRIC_TYPER_BASE_URL" in text.value for text in app.markdown)
    assert not any(b.label.startswith("Ask") for b in app.button)


def test_the_endpoint_can_stand_in_the_secrets_of_the_server(
    open_page: Open, own: Path, endpoint: FakeEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRUBRIC_TYPER_BASE_URL", "http://127.0.0.1:9/v1")
    app = open_page("task_types", own, view="Classify")
    app.secrets = {"CRUBRIC_TYPER_BASE_URL": endpoint.url, "CRUBRIC_TYPER_MODEL": "from secrets"}
    app.checkbox(key="given too").check().run()
    app = finish(press(app, "Ask from secrets"))
    assert len(endpoint.requests) == 12
    assert {request["body"]["model"] for request in endpoint.requests} == {"from secrets"}


def test_a_wrong_endpoint_is_one_sentence_beside_the_offline_typer(
    open_page: Open, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRUBRIC_TYPER_BASE_URL", "ftp://host")
    app = open_typers(open_page, own)
    assert "is not a web address" in app.error[0].value.replace("\\", "")
    assert any(b.label.endswith("offline") for b in app.button)


def test_requests_are_as_many_at_a_time_as_told(open_page: Open, own: Path, endpoint: FakeEndpoint) -> None:
    endpoint.behave = lambda query, visit: {"delay": 0.1}
    app = open_typers(open_page, own)
    app.number_input(key="at once").set_value(2).run()
    finish(press(app, "Ask tiny"))
    assert endpoint.busiest == 2


def finish(app: AppTest) -> AppTest:
    """Look again until the run in the background has ended."""
    for _ in range(100):
        app.run()
        assert not app.exception
        if app.success or app.warning:
            return app
        time.sleep(0.05)
    raise AssertionError("the run never ended")


def test_a_language_model_types_the_queries(open_page: Open, own: Path, endpoint: FakeEndpoint) -> None:
    endpoint.behave = lambda query, visit: {"delay": 0.05}
    app = finish(press(open_typers(open_page, own), "Ask tiny"))
    assert "Classified 12 queries" in app.success[0].value.replace("\\", "")
    assert len(endpoint.requests) == 12
    assert "secret-key" not in str(app.main)
    found = open_page("task_types", own).dataframe[0].value
    assert set(found["source"]) == {"prompted:tiny"}


def test_what_a_run_did_is_said_to_the_session_that_asked(
    open_page: Open, own: Path, endpoint: FakeEndpoint
) -> None:
    """Whoever looked first took the message away."""
    app = press(open_typers(open_page, own), "Ask tiny")
    thread = types.jobs().get(loaders.workspace().dataset("small").id).thread
    thread.join(30)
    other = open_page("task_types", own, view="Classify")
    assert not other.success
    app.run()
    assert "Classified 12 queries" in app.success[0].value.replace("\\", "")


def test_all_pages_know_what_a_run_changed_before_anybody_looks_at_it(
    open_page: Open, own: Path, endpoint: FakeEndpoint
) -> None:
    """They went on with the fingerprint of before, and kept new types under it."""
    app = open_typers(open_page, own)
    before = loaders.fingerprints()["small"]
    press(app, "Ask tiny")
    job = types.jobs().get(loaders.workspace().dataset("small").id)
    for _ in range(200):
        if not job.running:
            break
        time.sleep(0.05)
    assert loaders.fingerprints()["small"] == loaders.workspace().dataset("small").fingerprint != before


def test_rules_that_somebody_else_saves_are_those_that_the_page_begins_with(
    open_page: Open, own: Path
) -> None:
    """A session that had the old ones said "not saved yet", and its Save put them back."""
    app = open_page("task_types", own, view="Rules")
    assert rule(app, "critical").value == -0.5
    save_rules(loaders.workspace(), "small", ScoringRules(critical=-8.0))
    app.run()
    assert rule(app, "critical").value == -8.0


def test_a_stopped_run_goes_on_where_it_stood(open_page: Open, own: Path, endpoint: FakeEndpoint) -> None:
    endpoint.behave = lambda query, visit: {"delay": 0 if len(endpoint.requests) <= 4 else 5}
    app = press(open_typers(open_page, own), "Ask tiny")
    while len(endpoint.requests) < 5:
        time.sleep(0.02)
    time.sleep(0.3)
    app = finish(press(app.run(), "Stop"))
    assert "Stopped; ask again to go on." in app.warning[0].value.replace("\\", "")
    endpoint.behave = lambda query, visit: {}
    app = finish(press(app, "Ask tiny"))
    assert re.search(
        r"Classified 12 queries \([1-9]\d* answered before\)", app.success[0].value.replace("\\", "")
    )


def test_an_endpoint_that_refuses_is_one_sentence(open_page: Open, own: Path, endpoint: FakeEndpoint) -> None:
    before = sources(own)
    endpoint.behave = lambda query, visit: {"status": 401}
    app = finish(press(open_typers(open_page, own), "Ask tiny"))
    assert "the endpoint refuses the key" in app.warning[0].value.replace("\\", "")
    assert open_page("task_types", own).dataframe[0].value["source"].tolist() == [s or "file" for s in before]


def test_without_a_type_there_is_no_chart_of_probabilities(open_page: Open, untyped: Path) -> None:
    app = open_page("task_types", untyped)
    columns = set(app.dataframe[0].proto.column_order)
    assert columns == {"query", "scored_as", "status"}
    said = "".join(each.value for each in app.caption).replace("\\", "")
    assert "Not shown, because no row has a value: certainty, classified by, evidence reasoning" in said
    assert "typed" not in {each.key for each in app.button_group}
    assert not any("Probability of the types" in text.value for text in app.markdown)
    assert not any("Nothing to draw" in text.value for text in app.markdown)


def test_rules_that_no_rubric_gives_anything_to_act_on_are_said_to_change_no_score(
    open_page: Open, study: Path, tmp_path: Path
) -> None:
    labels = simulate(seed=1, systems=6, queries=6, pool=(6, 9)).labels
    queries = pd.DataFrame({"query": labels["query"].unique()}).assign(task_type="decision_support")
    with Workspace(tmp_path / "typed.duckdb") as workspace:
        workspace.ingest(labels.to_csv(index=False).encode(), "typed", format="csv")
        workspace.ingest(queries.to_csv(index=False).encode(), "typed", "queries", format="csv")
    said = first_line(open_page("task_types", tmp_path / "typed.duckdb", dataset="typed"))
    assert said == f"6 of 6 queries are scored by the rules of their type. {types.NO_EFFECT}"
    assert types.NO_EFFECT not in first_line(open_page("task_types", study))
