"""The further views of the measurability page, on three judges, two, one, and none."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from crubric_core.demo import simulate
from crubric_core.judges.attrition import Attrition, attrition_of
from crubric_core.judges.rates import JudgeRates, Rate
from crubric_core.judges.reliability import judge_reliability
from crubric_core.judges.report import JudgesReport
from crubric_core.labels.store.workspace import Workspace
from crubric_core.ui.measurability import judges
from crubric_core.ui.measurability.repeats import consistency_sentence
from crubric_core.ui.measurability.rules import _share, fit_note, growth_sentence, strictest
from crubric_core.ui.measurability.sections import POPULATION, vote_note, worst_sentence
from crubric_core.ui.page import StudyPage
from crubric_core.ui.text import plain
from tests.pages.conftest import Open
from tests.pages.test_pages import first_line

VIEWS = ("Judges", "Agreement against coverage", "As leaderboards grow", "Baseline")


@pytest.fixture(scope="session")
def few_judges(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The datasets ``one`` and ``two``, named by their number of judges.

    In ``guess`` the third of three guesses, in ``turned`` its labels are the other way round.
    """
    folder = tmp_path_factory.mktemp("few")
    labels = simulate(seed=1, systems=6, queries=6, pool=(6, 9)).labels
    names = sorted(labels["judge"].unique())
    with Workspace(folder / "few.duckdb") as workspace:
        for n, dataset in ((1, "one"), (2, "two")):
            labels[labels["judge"].isin(names[:n])].to_csv(folder / f"{dataset}.csv", index=False)
            workspace.ingest(folder / f"{dataset}.csv", dataset=dataset)
        third = labels["judge"] == names[2]
        guesses = labels["label"].mask(third, np.random.default_rng(0).integers(0, 2, len(labels)))
        labels.assign(label=guesses).to_csv(folder / "guess.csv", index=False)
        workspace.ingest(folder / "guess.csv", dataset="guess")
        turned = labels.assign(label=labels["label"].mask(third, 1 - labels["label"]))
        workspace.ingest(turned.to_csv(index=False).encode(), dataset="turned")
    return folder / "few.duckdb"


@pytest.mark.parametrize(
    ("view", "answer"),
    [
        (
            "Judges",
            r"3 judges, Krippendorff's α = 0\.\d\d\. "
            r"(.* tells|No judge is shown to tell) likely passes from likely fails wors",
        ),
        (
            "Agreement against coverage",
            r"An agreement rate of 0\.90 keeps \d+% of the rubrics\. κ against the other .* over these "
            r"\(difference [+−]\d\.\d\d \[[+−]\d\.\d\d, [+−]\d\.\d\d\]\), on the same labels that chose them",
        ),
        (
            "As leaderboards grow",
            r"keeps \d+% of the rubrics with 1 system, \d+% with 7 and about .*% with 40\.",
        ),
        (
            "Baseline",
            r"Unanimity on every system, with both outcomes, keeps \d+ of \d+ rubrics; the gate keeps \d+ that vary\. "
            r"Unanimity drops \d+ of these, with",
        ),
    ],
)
def test_each_view_answers_in_figures_of_this_dataset(
    open_page: Open, study: Path, view: str, answer: str
) -> None:
    app = open_page("measurability", study, view=view)
    assert not app.exception
    assert not app.error
    assert re.search(answer, first_line(app)), first_line(app)
    assert app.get("plotly_chart")


def test_the_page_says_what_the_intervals_of_judges_are_for(open_page: Open, study: Path) -> None:
    app = open_page("measurability", study, view="Judges")
    assert POPULATION in [caption.value for caption in app.caption]


@pytest.mark.parametrize("view", VIEWS)
def test_one_judge_is_one_sentence_and_no_empty_chart(open_page: Open, few_judges: Path, view: str) -> None:
    app = open_page("measurability", few_judges, view=view, dataset="one")
    assert not app.exception
    assert not app.error
    assert first_line(app) == "One judge: there is nothing to compare, so this is unknown."
    assert not app.get("plotly_chart")


def test_beside_a_judge_who_guesses_nobody_is_said_to_be_right(open_page: Open, few_judges: Path) -> None:
    app = open_page("measurability", few_judges, view="Judges", dataset="guess")
    assert not app.exception
    assert not app.error
    assert "How often each judge is right is unknown" in first_line(app)
    assert "is not shown to agree with the majority of the others beyond chance" in first_line(app)
    assert not any("Dawid–Skene" in caption.value for caption in app.caption)


def test_a_judge_who_labels_the_other_way_round_is_named_and_the_others_are_not(
    open_page: Open, few_judges: Path
) -> None:
    said = first_line(open_page("measurability", few_judges, view="Judges", dataset="turned"))
    assert "disagrees by more than chance with most of the other judges, such as" in said
    assert "(--answer 0=1 --answer 1=0)" in said
    assert "beyond chance:" not in said


def test_the_overview_says_where_labels_follow_from_rates_that_are_unknown(
    open_page: Open, few_judges: Path
) -> None:
    said = plain("Dawid–Skene labels: fewer than 3 judges are shown to tell passes from fails")
    for consensus, warned in (("majority", False), ("dawid_skene", True)):
        app = open_page("overview", few_judges, dataset="guess", consensus=consensus)
        assert any(caption.value.startswith(said) for caption in app.caption) == warned


def test_the_threshold_that_is_told_keeps_rubrics_where_one_does() -> None:
    rows = pd.DataFrame({"tau_c": [np.nan, 0.5, 0.75, 0.9], "kappa": [0.5, 0.6, 0.8, np.nan]})
    assert strictest(rows)["tau_c"] == 0.75
    assert strictest(rows.assign(kappa=np.nan))["tau_c"] == 0.5


def test_one_judge_is_not_called_unanimous(open_page: Open, few_judges: Path) -> None:
    figures = {
        metric.label: metric.value for metric in open_page("overview", few_judges, dataset="one").metric
    }
    assert figures["Unanimous"] == figures["Judges agree"] == "—"


def test_one_judge_has_no_measurability_and_a_slider_that_claims_to_drop_nothing(
    open_page: Open, few_judges: Path
) -> None:
    app = open_page("measurability", few_judges, dataset="one")
    table = app.dataframe[0].value
    assert len(table)
    assert not {"q_mean", "q_low", "q_high"} & set(table)
    assert app.slider(key="tau_c").label.endswith(": drops none here")
    assert app.slider(key="tau_c").disabled, "no threshold drops one"


@pytest.mark.parametrize("view", VIEWS)
def test_two_judges_are_compared_with_each_other(open_page: Open, few_judges: Path, view: str) -> None:
    app = open_page("measurability", few_judges, view=view, dataset="two")
    assert not app.exception
    assert not app.slider(key="tau_c").disabled
    assert not app.error
    if view == "Judges":
        assert POPULATION in [caption.value for caption in app.caption]
        assert first_line(app).startswith("Two judges: κ = 0.")
        assert "nothing shows which of them is wrong" in first_line(app)


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_without_data_says_what_to_do(open_page: Open, tmp_path: Path, view: str) -> None:
    app = open_page("measurability", tmp_path / "empty.duckdb", view=view)
    assert not app.exception
    assert first_line(app) == "No dataset yet."


def test_every_pair_of_judges_is_compared(open_page: Open, study: Path) -> None:
    app = open_page("measurability", study, view="Judges")
    agreed = next(t.value for t in app.dataframe if "measure" in t.value)
    assert (agreed["measure"] == "Cohen's κ").sum() == 3
    assert (agreed["low"] <= agreed["value"]).all()
    assert (agreed["value"] <= agreed["high"]).all()


def test_the_leaderboard_without_each_judge_comes_when_asked_for(open_page: Open, study: Path) -> None:
    app = open_page("measurability", study, view="Judges")
    assert not any("moved" in table.value for table in app.dataframe)
    next(b for b in app.button if b.label == "Remove each judge in turn").click().run()
    assert not app.exception
    assert not app.error
    moved = next(t.value for t in app.dataframe if "moved" in t.value)
    assert len(moved) == 3
    assert any(
        "not separated may change by chance" in t.value or "so by chance" in t.value for t in app.markdown
    )


def test_other_settings_do_not_set_off_the_long_comparison(open_page: Open, study: Path) -> None:
    app = open_page("measurability", study, view="Judges")
    next(b for b in app.button if b.label == "Remove each judge in turn").click().run()
    app.slider(key="tau_c").set_value(0.7).run()
    assert any(b.label == "Remove each judge in turn" for b in app.button)
    assert not any("moved" in table.value for table in app.dataframe)


def test_the_sweep_holds_the_chosen_threshold(open_page: Open, study: Path) -> None:
    app = open_page("measurability", study, view="Agreement against coverage", tau_c="0.72")
    assert first_line(app).startswith("τ_c = 0.72 keeps")
    assert 0.72 in app.dataframe[0].value["tau_c"].tolist()


def test_the_projection_goes_as_far_as_asked(open_page: Open, study: Path) -> None:
    app = open_page("measurability", study, view="As leaderboards grow")
    app.number_input(key="systems").set_value(100).run()
    assert first_line(app).endswith("with 100.")
    # Where rubrics differ, one rate for all is far from the curve: its ρ is not what a system leaves.
    assert [metric.label for metric in app.metric] == [
        "ρ, one rate",
        "judge's error, one rate",
        "with 100, one rate",
        "with 100, rates differ",
    ]


def growth_of(chances: np.ndarray, systems: int = 12) -> Attrition:
    """Of a panel of two judges who give each rubric's systems equal labels with these chances, (J,)."""
    rng = np.random.default_rng(3)
    first = rng.random((systems, len(chances))) < 0.5
    differs = rng.random((systems, len(chances))) >= chances
    return attrition_of(np.stack([first, first ^ differs], axis=2).astype(float))


def test_the_projection_is_that_of_the_mixture_and_of_one_rate_where_rubrics_do_not_differ() -> None:
    mixed = growth_of(np.linspace(0.3, 1, 400))
    assert growth_sentence(mixed, 24).endswith(f"and about {float(mixed.mixture.retention(24)):.1%} with 24.")
    alike = growth_of(np.full(6, 0.95))
    assert np.isnan(alike.mixture.a)
    assert growth_sentence(alike, 24).endswith(
        f"and about {float(alike.homogeneous.retention(24)):.1%} with 24."
    )
    assert fit_note(alike).endswith("the rubrics differ too little, and the projection takes one rate. ")


def test_a_share_that_rounds_to_nothing_is_said_to_be_small() -> None:
    assert growth_sentence(growth_of(np.full(40, 0.8)), 400).endswith("and less than 0.1% with 400.")


def test_the_figures_below_the_curve_say_the_same_of_a_small_share() -> None:
    assert [_share(share) for share in (0.3, 0.0004, 0.0, np.nan)] == ["30.0%", "less than 0.1%", "0.0%", "—"]


def test_no_more_is_projected_than_is_observed_with_fewer_systems() -> None:
    found = growth_of(np.linspace(0.3, 1, 400))
    curve = replace(found.curve, consistency=np.where(found.curve.m == 12, 0.0, found.curve.consistency))
    assert growth_sentence(replace(found, curve=curve), 13).endswith("1 system and 0% with 12.")


def test_nothing_is_projected_where_nothing_shows_how_the_share_falls() -> None:
    always_or_never = growth_of(np.array([0.0, 1, 1, 1]))
    assert growth_sentence(always_or_never, 24).endswith("75% of the rubrics with 1 system and 75% with 12.")
    assert fit_note(always_or_never).endswith(
        "each rubric is always or never unanimous, and one rate falls too fast. "
    )
    one_system = growth_of(np.linspace(0.3, 1, 400), systems=1)
    assert growth_sentence(one_system, 24).endswith("of the rubrics with 1 system.")
    assert fit_note(one_system).endswith("one rate for all is an assumption. ")


def test_what_is_observed_is_not_projected() -> None:
    found = growth_of(np.linspace(0.3, 1, 400))
    first, last = found.curve.consistency[[0, -1]]
    kept = f"{first:.0%} of the rubrics with 1 system and {last:.0%} with 12."
    assert (
        growth_sentence(found, 9)
        == f"Where every judge labelled every system, unanimity on all of them keeps {kept}"
    )


def test_what_unanimity_drops_is_told_with_its_reason(open_page: Open, study: Path) -> None:
    app = open_page("measurability", study, view="Baseline")
    lost = app.dataframe[0].value
    assert len(lost)
    assert lost["why"].str.match(r"judges split on [1-9]\d* of \d+$").all()


def test_another_page_s_view_in_the_url_is_answered_with_the_first(open_page: Open, study: Path) -> None:
    app = open_page("measurability", study, view="Dependence")
    assert not app.exception
    assert "pass τ_c" in first_line(app)


def test_a_rubric_that_it_is_bad_to_meet_says_that_its_labels_are_shown_reversed(
    open_page: Open, tmp_path: Path
) -> None:
    rows = [
        f"s{i},r{j},j{k},{int((i * j + k) % 3 > 0)}" for i in range(4) for j in range(4) for k in range(3)
    ]
    with Workspace(tmp_path / "w.duckdb") as workspace:
        workspace.ingest(("system,rubric,judge,label\n" + "\n".join(rows)).encode(), "d")
        workspace.ingest(b"rubric,points\nr0,-5\nr1,-5\nr2,-5\nr3,-5\n", "d", "rubrics")
    app = open_page("measurability", tmp_path / "w.duckdb", tau_c="0.1")
    assert not app.exception
    assert any("shown reversed" in caption.value for caption in app.caption)


@pytest.fixture(scope="session")
def two_kinds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five judges get 2% of the labels of most rubrics wrong, and 15% of the others'."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, (12, 520, 1))
    error = np.where(rng.random(520) < 0.7, 0.02, 0.15)[:, None]
    labels = truth ^ (rng.random((12, 520, 5)) < error)
    i, j, k = (at.ravel() for at in np.indices(labels.shape))
    table = pd.DataFrame({"system": i, "query": j // 6, "rubric": j, "judge": k, "label": labels.ravel()})
    folder = tmp_path_factory.mktemp("kinds")
    named = {"system": "s", "query": "q", "rubric": "r", "judge": "j"}
    for column, letter in named.items():
        table[column] = letter + table[column].astype(str)
    table.to_csv(folder / "kinds.csv", index=False)
    with Workspace(folder / "kinds.duckdb") as workspace:
        workspace.ingest(folder / "kinds.csv", dataset="kinds")
    return folder / "kinds.duckdb"


def test_judges_whose_votes_tell_no_kinds_apart_say_nothing_of_validity(open_page: Open, study: Path) -> None:
    app = open_page("measurability", study, view="Judges")
    assert not any("p_valid" in table.value for table in app.dataframe)
    assert any(
        text.value.startswith("Which rubrics are valid is unknown: this needs") for text in app.markdown
    )


def test_the_votes_part_rubrics_and_without_human_verdicts_say_none_to_be_valid(
    open_page: Open, two_kinds: Path
) -> None:
    app = open_page("measurability", two_kinds, view="Judges")
    shown = next(t for t in app.dataframe if "p_valid" in t.value)
    table = shown.value
    assert "Pr(voted for)" in shown.proto.columns
    assert table["p_valid"].between(0, 100).all(), "percent"
    assert table["log_odds"].is_monotonic_increasing
    assert len(table) == 520, "no rubric is left out"
    assert any("nothing shows which rubrics are valid" in caption.value for caption in app.caption)


@pytest.fixture(scope="session")
def repeated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two judges; j1 labelled every cell in two runs and contradicted itself on one of twelve. Answers and reasons."""
    folder = tmp_path_factory.mktemp("repeated")
    rows = ["system,query,rubric,judge,run,label,reason"]
    for i, system in enumerate("abcd"):
        for n in range(3):
            label = (i + n) % 2
            flipped = 1 - label if (i, n) == (0, 0) else label
            rows += [
                f"{system},q{n},r{n},j1,1,{label},first thought",
                f"{system},q{n},r{n},j1,2,{flipped},second thought",
                f"{system},q{n},r{n},j2,1,{1 - label if i == 2 else label},cites a source",
            ]
    with Workspace(folder / "runs.duckdb") as workspace:
        workspace.ingest("\n".join(rows).encode(), dataset="runs")
        workspace.ingest(b"system,query,text\nc,q0,It is Lima.\n", dataset="runs", kind="answers")
    return folder / "runs.duckdb"


def test_self_consistency_of_each_judge_is_shown(open_page: Open, repeated: Path) -> None:
    """11 of 12 pairs of runs agree: Beta(12, 2), mean 12/14 = .86."""
    app = open_page("measurability", repeated, view="Judges")
    assert not app.exception
    told = "\n".join(str(c.value).replace("\\", "") for c in app.caption)
    assert "j1: 92% of 12 pairs of runs agree, self-consistency 0.86" in told


def test_a_dataset_without_repeats_says_nothing_of_them(open_page: Open, study: Path) -> None:
    app = open_page("measurability", study, view="Judges")
    assert not any("repeat its own label" in m.value for m in app.markdown)


def test_answers_and_reasons_are_shown_where_a_disagreement_is_opened(
    open_page: Open, repeated: Path
) -> None:
    app = open_page("measurability", repeated)
    assert not app.exception
    chooser = next(s for s in app.selectbox if s.label == "Answer and reasons for")
    assert chooser.value == "c", "the system on which the judges differ comes first"
    said = next(d.value for d in app.dataframe if "reason" in d.value)
    assert set(said["reason"]) >= {"first thought", "cites a source"}


def test_the_worst_labels_beside_the_most_weight_are_explained_and_else_not() -> None:
    rates = pd.DataFrame(
        {"judge": ["a", "b"], "sensitivity": [0.9, 0.8], "specificity": [0.9, 0.9], "weight": [1.0, 3.0]}
    )
    rate = Rate(np.zeros(2), np.zeros(2), np.zeros(2))
    found = JudgeRates(rate, rate, 0.5, 20, "anchors", True, worst=1)
    assert vote_note(rates, found).startswith(
        "b tells passes from fails worst, yet its vote has the most weight"
    )
    guessed = replace(found, source="dawid_skene")
    assert vote_note(rates, guessed).startswith("b tells likely passes from likely fails worst, yet its vote")
    assert vote_note(rates, replace(found, worst=None)) == ""
    assert vote_note(rates.assign(weight=[3.0, 1.0]), found) == ""
    assert vote_note(rates.assign(weight=np.nan), found) == ""


def test_a_judge_with_the_fewest_errors_may_tell_passes_from_fails_worst_and_is_not_said_to_err_most() -> (
    None
):
    """92% are passes: right on .99 of them and on .55 of fails leaves 5% wrong, right on .90 and .92 leaves 10%."""
    rng = np.random.default_rng(0)
    truth = rng.random((15, 120)) < 0.92
    passes = np.where(truth[:, :, None], [0.99, 0.90, 0.90], [0.45, 0.08, 0.08])
    panel = (rng.random(passes.shape) < passes).astype(float)
    rubrics = pd.DataFrame(
        {"rubric": [f"r{j}" for j in range(120)], "query": np.repeat(np.arange(30), 4).astype(str)}
    )
    found = judge_reliability(panel, ("a", "b", "c"), rubrics, truth.astype(float))
    assert (panel != truth[:, :, None]).sum(axis=(0, 1)).argmin() == 0
    said = worst_sentence(found.judges, found.label_rates)
    assert said.startswith("a tells passes from fails worst: right on 99% of passes and ")
    assert "error" not in said


def test_only_a_judge_shown_to_be_worse_than_all_others_is_named() -> None:
    table = pd.DataFrame({"judge": ["a", "b"], "sensitivity": [0.9, 0.8], "specificity": [0.9, 0.7]})
    rate = Rate(np.zeros(2), np.zeros(2), np.zeros(2))
    named = JudgeRates(rate, rate, 0.5, 20, "anchors", True, worst=1)
    assert worst_sentence(table, named) == (
        "b tells passes from fails worst: right on 80% of passes and 70% of fails."
    )
    guessed = replace(named, source="dawid_skene")
    assert worst_sentence(table, guessed).startswith(
        "b tells likely passes from likely fails worst: right on 80% of likely"
    )
    assert worst_sentence(table, replace(named, worst=None)) == (
        "No judge is shown to tell passes from fails worse than every other."
    )
    assert worst_sentence(table, replace(named, worst=None, source="none")).startswith(
        "How often each judge is right is unknown: without human labels, at least three judges"
    )


def test_judges_who_repeat_themselves_alike_are_not_ranked() -> None:
    rows = pd.DataFrame(
        {"judge": ["a", "b"], "mean": [0.8, 0.9], "share": 0.9, "pairs": 9, "low": 0.6, "high": 1.0}
    )
    assert consistency_sentence(rows).startswith(
        "Self-consistency is from 0.80 (a) to 0.90 (b); the intervals"
    )
    assert "least" not in consistency_sentence(rows)


def test_the_sweep_s_captions_promise_no_figure_that_the_page_does_not_show(
    open_page: Open, study: Path
) -> None:
    told = "\n".join(
        c.value for c in open_page("measurability", study, view="Agreement against coverage").caption
    )
    assert "raises κ by construction" in told.replace("\\", "")
    assert "has not read" not in told
    assert ", p = " not in told


@pytest.mark.parametrize("source", ["dawid_skene", "anchors"])
def test_weights_of_votes_stand_with_the_votes_and_not_beside_the_agreement_of_labels(
    open_page: Open, study: Path, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    real = judges.report

    def voted(page: StudyPage) -> JudgesReport:
        report = real(page)
        found = report.reliability
        rates = replace(found.vote_rates, source=source)
        return replace(
            report, reliability=replace(found, vote_rates=rates, judges=found.judges.assign(weight=1.5))
        )

    monkeypatch.setattr(judges, "report", voted)
    app = open_page("measurability", study, view="Judges")
    assert not app.exception
    by_judge = [shown.proto.column_order for shown in app.dataframe if "judge" in shown.proto.column_order]
    assert any("kappa" in columns for columns in by_judge)
    assert any("weight" in columns for columns in by_judge)
    assert not any({"kappa", "weight"} <= set(columns) for columns in by_judge)
    assert any("This is not about its labels" in caption.value for caption in app.caption)


def test_one_judge_has_no_columns_of_dashes_and_no_filter_that_filters_nothing(
    open_page: Open, few_judges: Path, study: Path
) -> None:
    app = open_page("measurability", few_judges, dataset="one")
    columns = set(app.dataframe[0].proto.column_order)
    assert not columns & {"kappa", "q_mean", "q_low", "q_high"}
    assert {"rubric", "feasible", "flag"} <= columns
    said = "".join(each.value for each in app.caption).replace("\\", "")
    assert "Not shown, because no row has a value: rubric κ, " in said
    assert "which" not in {each.key for each in app.button_group}
    assert "which" in {each.key for each in open_page("measurability", study).button_group}
