"""From a rank to its reasons: profile, rubric, label, answer, reason; two systems; filters that rank nobody again."""

from __future__ import annotations

import itertools
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from crubric_core import Settings, Workspace
from crubric_core.analysis.stages import Analysis
from crubric_core.demo import simulate
from crubric_core.labels.store.dataset_rules import save_rules
from crubric_core.scoring_rules import Loss, ScoringRules
from crubric_core.server.streamlit_internals import PlaceNotDrawnError
from crubric_core.task_types.scoring import by_emphasis
from crubric_core.ui import table_widgets
from crubric_core.ui.page import StudyPage
from tests.pages.conftest import Open, size_slider

COSTS = (0.5, 9.0, 2.0, 30.0, 1.0, 4.0, 8.0, 16.0)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study whose dataset says why judges gave a label, what systems answered, and what they cost."""
    made = simulate(seed=3, systems=8, queries=14, pool=(8, 14))
    labels = made.labels.assign(reason="Because of " + made.labels["judge"] + ".")
    names = sorted(labels["system"].unique())
    cells = labels[["system", "query"]].drop_duplicates()
    answers = cells.assign(text="The answer of " + cells["system"] + " to " + cells["query"] + ".")
    systems = pd.DataFrame(
        {"system": names, "cost": [f"${c}" for c in COSTS], "licence": ["open", "closed"] * 4}
    )
    asked = list(dict.fromkeys(labels["query"]))[::2]
    gold = labels[labels["query"].isin(asked) & labels["judge"].eq(labels["judge"].min())].dropna(
        subset=["label"]
    )
    path = tmp_path_factory.mktemp("told") / "told.duckdb"
    with Workspace(path) as workspace:
        for kind, table in (
            ("labels", labels),
            ("rubrics", made.rubrics),
            ("queries", made.queries),
            ("answers", answers),
            ("systems", systems),
            ("gold", gold[["system", "query", "rubric", "label"]]),
        ):
            workspace.ingest(table.to_csv(index=False).encode(), "told", kind=kind)
    return path


def words(app) -> str:
    """All that the page says, without the escapes that keep it from being Markdown."""
    written = [*app.title, *app.header, *app.markdown, *app.caption, *app.text, *app.warning, *app.info]
    return re.sub(r"\\(.)", r"\1", "\n".join(each.value for each in written))


def best(app) -> str:
    return str(app.dataframe[0].value["system"].iloc[0])


def test_the_dataset_is_in_the_title_and_the_basis_can_be_switched_on_the_page(
    open_page: Open, told: Path
) -> None:
    app = open_page("leaderboard", told)
    assert app.title[0].value == "Leaderboard · told"
    assert "on all" in words(app)
    app.segmented_control(key="basis choice").set_value("bank").run()
    assert not app.exception
    assert app.query_params["basis"] == "bank"
    assert "as if each system were new" in words(app)
    assert app.selectbox(key="basis").value == "bank"


def test_the_selected_row_of_the_table_is_the_one_of_the_open_profile_whatever_is_shown(
    open_page: Open, told: Path
) -> None:
    """The row kept its place, at which another ranking or filter has another system."""
    chosen = open_page("leaderboard", told).dataframe[0].value["system"].iloc[4]
    app = open_page("leaderboard", told, system=chosen)
    for found in ("", chosen, ""):
        app.text_input(key="find").set_value(found).run()
        table = next(each for each in app.dataframe if "-board " in each.proto.id)
        rows = app.session_state[table.proto.id.split("-", 2)[2]]["selection"]["rows"]
        assert table.value["system"].iloc[rows].tolist() == [chosen]


def test_a_click_on_the_labels_is_offered_where_answers_or_reasons_can_be_read(
    open_page: Open, told: Path, study: Path
) -> None:
    why = "Strongest and weakest rubrics"
    for path, offered in ((told, True), (study, False)):
        system = best(open_page("leaderboard", path))
        said = words(open_page("leaderboard", path, system=system, why=why))
        assert ("Click a cell to read the answer and reasons" in said) == offered
        assert ("The dataset has no answer of" in said) != offered


def test_how_to_read_theta_interval_and_tier_is_on_the_page(open_page: Open, told: Path) -> None:
    said = words(open_page("leaderboard", told))
    assert re.search(
        r"How to read it: θ is ability \(standard deviation of these systems' estimates: \d", said
    )
    assert "A tier runs from its best system" in said


def test_above_the_chart_stands_what_limits_the_claim_and_below_it_what_its_figures_mean(
    open_page: Open, told: Path
) -> None:
    lines = words(open_page("leaderboard", told)).splitlines()
    (above,) = [each for each in lines if each.startswith("Ranked on ")]
    (below,) = [each for each in lines if each.startswith("How to read it: ")]
    assert "the claims hold for queries like these" in above
    for explained in ("Design effect ", "All pairs are compared at once: "):
        assert explained not in above
        assert explained in below


def test_a_system_in_the_address_opens_its_profile(open_page: Open, told: Path) -> None:
    first = best(open_page("leaderboard", told))
    app = open_page("leaderboard", told, system=first)
    assert not app.exception
    said = words(app)
    assert f"Why {first} stands there" in said
    assert re.search(rf"{first} is ahead of .* at 95%\.", said)
    assert "Score by domain, without the model's weights" in said
    assert "by dimension" in said
    assert "cost: $" in said


def test_a_profile_opens_rubrics_with_labels_answer_and_the_judges_reasons(
    open_page: Open, told: Path
) -> None:
    first = best(open_page("leaderboard", told))
    app = open_page("leaderboard", told, system=first, why="Strongest and weakest rubrics")
    assert not app.exception
    said = words(app)
    assert f"The answer of {first} to " in said
    assert len(re.findall(r"Because of .*\.", said)) >= 3, "a reason a judge"
    rows = app.dataframe[0].value
    assert (rows["residual"] > 0).all()
    assert rows["residual"].is_monotonic_decreasing
    app.segmented_control(key="side").set_value("weakest").run()
    assert not app.exception
    assert (app.dataframe[0].value["residual"] < 0).all()


def test_two_systems_stand_side_by_side_with_the_interval_of_their_difference(
    open_page: Open, told: Path
) -> None:
    names = open_page("leaderboard", told).dataframe[0].value["system"].tolist()
    app = open_page("leaderboard", told, system=names[0], versus=names[-1])
    assert not app.exception
    said = words(app)
    assert re.search(
        rf"{names[0]} is ahead of {names[-1]} at 95%: difference \+\d\.\d\d \[\d\.\d\d, \d\.\d\d\]\.", said
    )
    ahead, total, behind, equal = (
        int(n)
        for n in re.search(
            r"better on (\d+) of (\d+) queries, .* on (\d+); (\d+) (?:is|are) equal", said
        ).groups()
    )
    assert 1 < ahead + behind + equal == total <= 14
    pulls = app.dataframe[0].value["pull"]
    assert pulls.is_monotonic_decreasing
    assert pulls.iloc[0] > 0


def test_queries_are_won_by_labels_and_not_by_weights_fitted_to_them(
    open_page: Open, told: Path, tmp_path: Path
) -> None:
    shutil.copy(told, tmp_path / "copy.duckdb")
    with Workspace(tmp_path / "copy.duckdb") as workspace:
        study = Analysis.of(workspace.dataset("told"), Settings(budget=20))
        ranked, reduction, names = study.ranking(), study.reduction(), list(study.given().systems)
    weighted, plain = (found.by_query for found in (ranked.scores, by_emphasis(ranked.scores)))

    def won(scores: np.ndarray, one: int, other: int) -> tuple[int, ...]:
        apart = scores[one] - scores[other]
        return tuple(int(found.sum()) for found in (apart > 1e-9, apart < -1e-9, np.abs(apart) <= 1e-9))

    one, other = next(
        pair
        for pair in itertools.combinations(range(len(names)), 2)
        if won(weighted, *pair) != won(plain, *pair)
    )
    said = words(open_page("leaderboard", told, budget="20", system=names[one], versus=names[other]))
    counts = re.search(r"By score without .* better on (\d+) of .* on (\d+); (\d+) (?:is|are) equal", said)
    assert tuple(map(int, counts.groups())) == won(plain, one, other)
    share = reduction.y / (reduction.levels - 1)
    use = ranked.use[ranked.fold]
    both = use[one] & use[other] & np.isfinite(share[one]) & np.isfinite(share[other])
    assert f"Of {both.sum():,} rubrics in use that both were judged on" in said


def test_nobody_is_compared_with_itself_and_an_unknown_system_is_said_to_be(
    open_page: Open, told: Path
) -> None:
    app = open_page("leaderboard", told, system="<b>nobody</b>")
    assert not app.exception
    assert "No ranked system is called “<b>nobody</b>”." in words(app)
    assert "stands there" not in words(app)
    first = best(app)
    app = open_page("leaderboard", told, system=first, versus=first)
    assert not app.exception
    assert "Head to head" not in words(app)
    (said,) = (w.value.replace("\\", "") for w in app.warning if "Ignored in the address" in w.value)
    assert f"versus={first} (it is the system itself)" in said
    assert "Ignored in the address" not in words(app.run())


def test_facts_that_are_numbers_are_sorted_as_numbers(open_page: Open, told: Path) -> None:
    shown = open_page("leaderboard", told).dataframe[0].value.set_index("system")
    assert shown["cost"].sort_index().tolist() == list(COSTS)


def test_the_download_has_the_facts_of_systems_that_the_table_shows(
    open_page: Open, told: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = {}
    monkeypatch.setattr(
        table_widgets, "download", lambda label, frame, name, *_: written.update({name: frame})
    )
    open_page("leaderboard", told)
    file = written["leaderboard.csv"].set_index("system").sort_index()
    assert file["cost"].tolist() == [f"${c}" for c in COSTS]
    assert file["licence"].tolist() == ["open", "closed"] * 4


def test_filters_show_fewer_systems_and_rank_nobody_again(open_page: Open, told: Path) -> None:
    app = open_page("leaderboard", told)
    whole = app.dataframe[0].value.set_index("system")
    app.multiselect(key="fact licence").set_value(["open"]).run()
    assert not app.exception
    shown = app.dataframe[0].value.set_index("system")
    assert set(shown["licence"]) == {"open"}
    assert len(shown) == 4
    pd.testing.assert_frame_equal(shown, whole.loc[shown.index])
    assert "4 of 8 systems shown; places are among all of them." in words(app)
    app.text_input(key="find").set_value("no such name").run()
    assert "No system fits these filters." in words(app)


def test_tiers_filter_from_the_address_too(open_page: Open, told: Path) -> None:
    app = open_page("leaderboard", told, tiers="1")
    assert not app.exception
    assert set(app.dataframe[0].value["tier"]) == {1}


@pytest.mark.parametrize(
    ("more", "words_of_it"),
    [
        ("Pairs", "Who is ahead of whom?"),
        ("Ranks", "Rank intervals"),
        ("Groups", "Score S by domain"),
        ("Scores", "Score against ability"),
        ("Human labels", "from both, and"),
        ("Score and cost", "no system shown has a higher score at the same cost or less"),
        ("What this does not show", "Not separated does not mean equal"),
    ],
)
def test_every_further_view_opens_from_the_address(
    open_page: Open, told: Path, more: str, words_of_it: str
) -> None:
    app = open_page("leaderboard", told, more=more)
    assert not app.exception
    assert words_of_it in words(app)


def test_the_button_for_scores_by_group_names_the_file_that_it_writes(open_page: Open, told: Path) -> None:
    app = open_page("leaderboard", told, more="Groups")
    assert "Download scores_by_domain.csv" in [each.proto.label for each in app.get("download_button")]


def test_dimensions_are_compared_by_abilities(open_page: Open, told: Path) -> None:
    app = open_page("leaderboard", told, more="Groups", groups="dimension")
    assert not app.exception
    said = words(app)
    assert re.search(r"(separate any two systems in opposite ways|The order depends on the dimension)", said)
    assert re.search(r"8 systems (cannot tell|show nothing)|are not one ability", said)
    assert "Correlations of the abilities, corrected for noise" in said
    assert "Too few queries for abilities: " in said
    assert "separated pairs shown the other way" not in said, "that is said of groups of queries"
    (table,) = (each.value for each in app.dataframe if "second" in each.value)
    known = table[table["correlation"].notna()]
    assert (known["low"] <= known["correlation"]).all()
    assert (known["correlation"] <= known["high"]).all()
    unknown = table[table["correlation"].isna()]
    assert (unknown["low"] == -1).all()
    assert (unknown["high"] == 1).all()


def test_many_dimensions_are_drawn_four_at_a_time(open_page: Open, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    rubrics = pd.DataFrame(
        [(f"q{n}", f"d{d}") for n in range(12) for d in range(5)], columns=["query", "dimension"]
    )
    rubrics.insert(0, "rubric", rubrics["query"] + rubrics["dimension"])
    cells = rubrics.merge(pd.DataFrame({"system": [f"s{i}" for i in range(7)]}), how="cross")
    better = cells["system"].str[1:].astype(int) / 3 - 1
    cells["label"] = (rng.normal(size=len(cells)) < better).astype(int)
    labels = cells[["system", "query", "rubric", "label"]].assign(judge="j")
    with Workspace(tmp_path / "many.duckdb") as workspace:
        workspace.ingest(labels.to_csv(index=False).encode(), "many", kind="labels")
        workspace.ingest(rubrics.to_csv(index=False).encode(), "many", kind="rubrics")
    app = open_page("leaderboard", tmp_path / "many.duckdb", more="Groups", groups="dimension")
    assert not app.exception
    assert app.multiselect(key="dimensions").value == ["d0", "d1", "d2", "d3"]
    app.multiselect(key="dimensions").set_value(["d4"]).run()
    assert not app.exception


def test_too_few_systems_have_shares_by_dimension_and_are_told_why_no_abilities(
    open_page: Open, tmp_path: Path
) -> None:
    made = simulate(seed=3, systems=5, queries=14, pool=(8, 14))
    with Workspace(tmp_path / "few.duckdb") as workspace:
        for kind, table in (("labels", made.labels), ("rubrics", made.rubrics), ("queries", made.queries)):
            workspace.ingest(table.to_csv(index=False).encode(), "few", kind=kind)
    app = open_page("leaderboard", tmp_path / "few.duckdb", more="Groups", groups="dimension")
    assert not app.exception
    said = words(app)
    assert "Abilities by dimension need 6 systems or more." in said
    assert "Share of the mark by dimension of the rubrics" in said


def test_a_gate_that_leaves_too_little_leaves_no_claim_of_order_on_the_page(
    open_page: Open, told: Path
) -> None:
    app = open_page("leaderboard", told, gate="agreement", tau_c="0.9")
    assert not app.exception
    said = words(app)
    assert "No claim about who is ahead. The gate at τ_c = 0.90" in said
    said = said.replace(re.search(r"No claim about who is ahead.*", said)[0], "")
    assert not re.search(r"[Tt]ier \d|separated|is ahead of|A tier runs", said)
    table = app.dataframe[0].value
    assert table[["tier", "rank", "rank_low", "rank_high"]].isna().all(axis=None)
    assert table["system"].is_monotonic_increasing
    assert [tab.label for tab in app.tabs if tab.label in {"Pairs", "Ranks"}] == []
    app = open_page(
        "leaderboard",
        told,
        gate="agreement",
        tau_c="0.9",
        system=table["system"][0],
        versus=table["system"][1],
    )
    assert not app.exception
    assert not re.search(r"[Tt]ier \d|rank \d|is ahead of", words(app))


def test_graded_labels_say_what_counts_as_met(open_page: Open, tmp_path: Path) -> None:
    labels = simulate(seed=2, systems=6, queries=6, pool=(6, 9)).labels
    labels["label"] = labels["label"] * 3 + 1 + labels.index % 2
    with Workspace(tmp_path / "graded.duckdb") as workspace:
        workspace.ingest(labels.to_csv(index=False).encode(), "graded")
    app = open_page("leaderboard", tmp_path / "graded.duckdb")
    assert not app.exception
    assert re.search(r"\d and above of 1–5 counts as met", words(app))


def test_a_gate_that_leaves_too_little_places_no_new_system_either(open_page: Open, told: Path) -> None:
    app = open_page("new_system", told, gate="agreement", tau_c="0.9", source="held-out system")
    assert not app.exception
    said = words(app)
    assert "No claim about where" in said
    assert not re.search(r"in tier \d|at rank \d", said)
    assert app.dataframe[0].value[["rank", "tier"]].isna().all(axis=None)


def test_a_gate_that_leaves_too_little_lets_nobody_publish_an_order(
    open_page: Open, told: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRUBRIC_VIEWS", str(tmp_path / "views"))
    app = open_page("publish", told, gate="agreement", tau_c="0.9")
    assert not app.exception
    said = words(app)
    assert "No claim about who is ahead." in said
    assert not re.search(r"[Tt]ier \d|is ahead of|in tiers", said)
    board = next(table.value for table in app.dataframe if "theta" in table.value)
    assert board["rank"].isna().all()
    assert "tier" not in board
    assert board["system"].is_monotonic_increasing


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ninety systems on thirty rubrics: more than any figure draws one by one."""
    rng = np.random.default_rng(0)
    passed = rng.random((90, 30)) < 1 / (1 + np.exp(-1.5 * (rng.normal(size=(90, 1)) - rng.normal(size=30))))
    rows = [
        (f"s{i:02}", f"q{j // 2}", f"r{j}", f"j{k}", int(passed[i, j] ^ (rng.random() < 0.05)))
        for i in range(90)
        for j in range(30)
        for k in range(2)
    ]
    table = pd.DataFrame(rows, columns=["system", "query", "rubric", "judge", "label"])
    path = tmp_path_factory.mktemp("many") / "many.duckdb"
    with Workspace(path) as workspace:
        workspace.ingest(table.to_csv(index=False).encode(), "many")
    return path


@pytest.mark.parametrize("more", ["Pairs", "Ranks", "Scores"])
def test_very_many_systems_are_never_drawn_as_a_whole_matrix(open_page: Open, many: Path, more: str) -> None:
    chosen = open_page("leaderboard", many).dataframe[0].value["system"].iloc[70]
    app = open_page("leaderboard", many, more=more, system=chosen)
    assert not app.exception
    specs = [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]
    cells = [trace for spec in specs for trace in spec["data"] if trace["type"] == "heatmap"]
    assert all(len(trace["customdata"]) <= 40 for trace in cells if isinstance(trace["customdata"], list))
    assert max(len(json.dumps(spec)) for spec in specs) < 120_000
    rows = [spec["layout"]["yaxis"].get("ticktext", []) for spec in specs]
    assert any(chosen in names for names in rows)
    assert max(map(len, rows)) == 40
    assert re.search(r"Systems \d+ to \d+ of 90", words(app))


def test_systems_that_are_not_drawn_are_reached_as_the_page_says(open_page: Open, many: Path) -> None:
    app = open_page("leaderboard", many)
    names = app.dataframe[0].value["system"].tolist()
    said = "For the others click a point of the chart above or a row of the table, or find them by name."
    assert f"Systems 1 to 40 of {len(names)}. {said}" in words(app)
    chosen = open_page("leaderboard", many, system=names[-1])
    assert f"Systems {len(names) - 39} to {len(names)} of {len(names)}. {said}" in words(chosen)
    found = open_page("leaderboard", many, find=names[-1])
    assert found.dataframe[0].value["system"].tolist() == [names[-1]]
    assert said not in words(found)


def test_without_human_labels_the_limits_offer_the_queries_to_label(open_page: Open, tmp_path: Path) -> None:
    labels = simulate(seed=2, systems=6, queries=6, pool=(6, 9)).labels
    with Workspace(tmp_path / "judged.duckdb") as workspace:
        workspace.ingest(labels.to_csv(index=False).encode(), "judged")
    app = open_page("leaderboard", tmp_path / "judged.duckdb", more="What this does not show")
    assert not app.exception
    assert "Human labels on 5 queries or more, chosen at random" in words(app)
    assert "Human labels" not in {tab.label for tab in app.tabs}


def test_without_losses_there_is_no_view_of_them(open_page: Open, study: Path) -> None:
    assert "Losses" not in {tab.label for tab in open_page("leaderboard", study).tabs}


def test_losses_have_a_view_of_their_own_as_soon_as_some_are_entered(
    open_page: Open, study: Path, tmp_path: Path
) -> None:
    own = Path(shutil.copy(study, tmp_path / "own.duckdb"))
    with Workspace(own) as workspace:
        save_rules(workspace, "small", ScoringRules(losses=(Loss("*", "*", 2.0),)))
    app = open_page("leaderboard", own, more="Losses")
    assert not app.exception
    assert "The expected loss of a query is least for" in words(app)
    assert "A violation that the judges do not see costs nothing here." in words(app)
    table = app.dataframe[-1].value
    assert table["loss"].is_monotonic_increasing
    assert len(table) == 8


def test_a_bank_is_as_if_new_only_where_it_was_chosen_without_the_system(
    open_page: Open, study: Path
) -> None:
    for query, name in (({}, "Bank, as if new"), ({"preset": "paper"}, "Bank, in sample")):
        switch = open_page("leaderboard", study, **query).segmented_control(key="basis choice")
        assert switch.options == ["All rubrics that pass", name]


def test_a_system_of_a_dataset_with_one_domain_is_not_said_to_have_none(
    open_page: Open, tmp_path: Path
) -> None:
    labels = simulate(seed=1, systems=6, queries=8, pool=(6, 9)).labels
    domains = pd.DataFrame({"query": labels["query"].unique(), "domain": "dialogue"})
    with Workspace(tmp_path / "one.duckdb") as workspace:
        workspace.ingest(labels.to_csv(index=False).encode(), "one")
        workspace.ingest(domains.to_csv(index=False).encode(), "one", "queries")
    app = open_page("leaderboard", tmp_path / "one.duckdb", system=labels["system"].iloc[0])
    assert not app.exception
    assert "only one domain (dialogue)" in words(app)
    assert "names no domain" not in words(app)


def test_where_judges_change_places_between_domains_groups_are_not_compared_and_a_profile_says_so(
    open_page: Open, tmp_path: Path
) -> None:
    """Each system has each judge on a third of its queries, and one of them in each domain."""
    labels = simulate(seed=1, systems=9, queries=24, pool=(6, 9)).labels
    queries = {name: at % 3 for at, name in enumerate(sorted(labels["query"].unique()))}
    systems, judges = (
        {n: at for at, n in enumerate(sorted(labels[c].unique()))} for c in ("system", "judge")
    )
    turn = (labels["system"].map(systems) + labels["query"].map(queries)) % 3
    kept = labels[labels["judge"].map(judges) == turn]
    domains = pd.DataFrame({"query": queries.keys(), "domain": [f"d{each}" for each in queries.values()]})
    with Workspace(tmp_path / "turns.duckdb") as workspace:
        workspace.ingest(kept.to_csv(index=False).encode(), "turns")
        workspace.ingest(domains.to_csv(index=False).encode(), "turns", "queries")
    app = open_page("leaderboard", tmp_path / "turns.duckdb", more="Groups")
    assert not app.exception
    assert (
        "Whether separated pairs are reversed in a domain is not shown: the systems have different"
        in words(app)
    )
    app = open_page("leaderboard", tmp_path / "turns.duckdb", system=labels["system"].iloc[0])
    assert not app.exception
    assert "In some groups the systems' labels come from different judges" in words(app)


def test_systems_of_which_a_fact_is_not_given_can_be_chosen(
    open_page: Open, study: Path, tmp_path: Path
) -> None:
    path = Path(shutil.copy(study, tmp_path))
    names = open_page("leaderboard", study).dataframe[0].value["system"].tolist()
    facts = pd.DataFrame({"system": names, "licence": ["open", "closed", None, "open", *[None] * 4]})
    with Workspace(path) as workspace:
        workspace.ingest(facts.to_csv(index=False).encode(), "small", kind="systems")
    app = open_page("leaderboard", path)
    (licence,) = (box for box in app.multiselect if box.key == "fact licence")
    assert licence.options == ["closed", "open", "not given"]
    licence.set_value(["not given", "closed"]).run()
    assert not app.exception
    assert sorted(app.dataframe[0].value["system"]) == sorted([names[1], names[2], *names[4:]])


def test_another_dataset_does_not_look_for_the_system_that_was_open(
    open_page: Open, study: Path, tmp_path: Path
) -> None:
    path = Path(shutil.copy(study, tmp_path))
    labels = simulate(seed=3, systems=6, queries=6, pool=(6, 9)).labels
    labels["system"] = "other " + labels["system"]
    with Workspace(path) as workspace:
        workspace.ingest(labels.to_csv(index=False).encode(), "other")
    system = open_page("leaderboard", path, dataset="small").dataframe[0].value["system"].iloc[0]
    app = open_page("leaderboard", path, dataset="small", system=system)
    app.selectbox(key="dataset").set_value("other").run()
    assert not app.exception
    assert "No ranked system is called" not in words(app)
    assert "system" not in app.query_params


def test_what_a_board_does_not_show_names_a_judge_who_is_not_shown_to_agree(
    open_page: Open, study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "crubric_core.ui.page.StudyPage.judge_warnings", lambda study: ("judge-8 is not shown to agree.",)
    )
    app = open_page("leaderboard", study, more="What this does not show")
    assert "judge-8 is not shown to agree" in words(app)


def test_where_the_first_line_has_no_place_any_more_the_page_is_drawn_anew(
    open_page: Open, told: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when a run of the page was stopped before the board came to it, and a slider then draws the board alone."""
    app = open_page("leaderboard", told)
    answer, missing = StudyPage.answer, [PlaceNotDrawnError("no place")]

    def once_without_place(self: StudyPage, *sentences: str) -> None:
        if missing:
            raise missing.pop()
        answer(self, *sentences)

    monkeypatch.setattr(StudyPage, "answer", once_without_place)
    size_slider(app).set_value(int(size_slider(app).options[3])).run()
    assert not missing
    assert not app.exception
    assert not app.error
    assert app.header[0].value.startswith("Tier 1")


def test_an_address_keeps_no_system_of_another_dataset_to_compare_with(open_page: Open, told: Path) -> None:
    app = open_page("leaderboard", told, versus="of another dataset")
    assert "versus" not in app.query_params
