"""The simulated study is what its description says, and the same for everybody."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import comb, expit

from benchmarks.latency_page import NAMES
from crubric_core.demo import DemoStudy, known_truth, simulate, write_demo, write_sample
from crubric_core.demo.draws import OWN_READING_SD, SLANT_SD
from crubric_core.demo.panel import CLEAR, people
from crubric_core.errors import DatasetError, SettingsError
from crubric_core.labels.store.workspace import Workspace

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ("sample_queries.csv", "sample_rubrics.csv", "sample_labels.csv")
TABLES = ("labels", "rubrics", "queries", "gold", "reference")
TYPES = ["evidence_reasoning", "decision_support", "high_risk_constraint", "creative_divergent"]


@pytest.fixture(scope="module")
def study() -> DemoStudy:
    return simulate()


@pytest.fixture(scope="module")
def panel_labels(study: DemoStudy) -> pd.DataFrame:
    """One row an instance, one column a judge."""
    return study.labels.pivot_table(index=["system", "rubric"], columns="judge", values="label")


def as_bytes(study: DemoStudy) -> bytes:
    return "".join(getattr(study, name).to_csv(index=False) for name in TABLES).encode()


def true_passes(study: DemoStudy) -> pd.Series:
    """Whether a system truly meets a rubric, by (system, rubric)."""
    keys = [study.truth.systems["system"], study.truth.rubrics["rubric"]]
    return pd.Series(study.truth.passes.ravel(), index=pd.MultiIndex.from_product(keys), name="truth")


def unanimous(instances: pd.DataFrame) -> pd.Series:
    """Of instances with a full panel, whether all judges agree, by (system, rubric)."""
    full = instances.dropna()
    return (full.max(axis=1) == full.min(axis=1)).rename("agreed")


def test_the_study_has_the_announced_size() -> None:
    study = simulate()
    assert study.labels["system"].nunique() == len(study.reference) == 15
    assert len(study.queries) == 104
    assert study.labels["judge"].nunique() == 3
    assert 3_800 <= len(study.rubrics) <= 4_250
    assert study.rubrics.groupby("query").size().between(20, 57).all()
    waits = (ROOT / "docs/performance.md").read_text("utf-8")
    assert f"15 systems, {len(study.rubrics):,} rubrics" in waits
    assert NAMES["demo"] == f"15 × {len(study.rubrics):,} (the demo study)"


def test_the_same_seed_gives_the_same_bytes_and_another_seed_does_not(study: DemoStudy) -> None:
    assert as_bytes(simulate(0)) == as_bytes(study)
    assert as_bytes(simulate(1)) != as_bytes(study)


def test_the_sample_in_data_is_what_the_documented_command_writes(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "crubric_core.demo", str(tmp_path)]
    subprocess.run(
        command, check=True, cwd=ROOT, env={**os.environ, "PYTHONHASHSEED": "7"}, capture_output=True
    )
    for name in SAMPLE:
        assert (tmp_path / name).read_bytes() == (ROOT / "data" / name).read_bytes(), name
    assert sum((ROOT / "data" / name).stat().st_size for name in SAMPLE) < 300_000


def test_another_seed_gives_another_sample(tmp_path: Path) -> None:
    labels = next(path for path in write_sample(tmp_path, seed=1) if path.name == "sample_labels.csv")
    assert labels.read_bytes() != (ROOT / "data" / "sample_labels.csv").read_bytes()


@pytest.mark.parametrize(
    ("table", "key"),
    [
        ("labels", ["system", "rubric", "judge"]),
        ("gold", ["system", "rubric", "annotator"]),
        ("rubrics", ["query", "rubric"]),
        ("queries", ["query"]),
        ("reference", ["system"]),
    ],
)
def test_tables_are_sorted_by_their_keys_without_repeats(
    study: DemoStudy, table: str, key: list[str]
) -> None:
    frame = getattr(study, table)
    pd.testing.assert_frame_equal(frame, frame.sort_values(key, ignore_index=True))
    assert not frame.duplicated(key).any()


def test_tables_refer_to_each_other(study: DemoStudy) -> None:
    query_of = study.rubrics.set_index("rubric")["query"]
    assert query_of.is_unique is False
    assert query_of.index.is_unique
    for table in (study.labels, study.gold):
        assert (table["rubric"].map(query_of) == table["query"]).all()
        assert set(table["label"]) == {0, 1}
    assert set(query_of) == set(study.queries["query"])
    assert list(study.truth.rubrics["rubric"]) == list(study.rubrics["rubric"])


def test_sentences_are_finished_and_different_within_a_query(study: DemoStudy) -> None:
    texts = study.rubrics["text"]
    assert not study.rubrics.duplicated(["query", "text"]).any()
    assert texts.str.fullmatch(r"[A-Z][^{}]*[^.\s]\.").all()
    assert not texts.str.contains(
        r"\s{2}|lorem|TODO|\bThe (?:answer|response) the\b", flags=re.IGNORECASE
    ).any()
    assert not study.queries["text"].duplicated().any()


def test_a_few_sentences_occur_in_several_queries(study: DemoStudy) -> None:
    assert 2 <= study.rubrics["text"].duplicated(keep=False).sum() <= 30


def test_dimensions_and_severities_fit_the_task_type(study: DemoStudy) -> None:
    rubrics = study.rubrics.merge(study.truth.queries, on="query")
    dimensions = rubrics.groupby("task_type")["dimension"].agg(set)
    assert "actionability" in dimensions["decision_support"]
    assert "creativity" in dimensions["creative_divergent"]
    assert "safety" in dimensions["high_risk_constraint"]
    risky = rubrics["task_type"] == "high_risk_constraint"
    assert set(rubrics.loc[risky, "severity"]) == {"none", "moderate", "critical"}
    assert rubrics.loc[~risky, "severity"].isna().all()


def test_the_typer_is_unsure_of_some_queries_and_wrong_about_a_few(study: DemoStudy) -> None:
    chance = study.queries[[f"p_{name}" for name in TYPES]]
    assert (chance.sum(axis=1) - 1).abs().max() < 1e-3
    assert set(study.truth.queries["task_type"]) == set(TYPES)
    assert [TYPES[t] for t in chance.to_numpy().argmax(axis=1)] == study.queries["task_type"].to_list()
    assert 0.02 <= (chance.max(axis=1) < 0.5).mean() <= 0.25
    assert 0.01 <= (study.queries["task_type"] != study.truth.queries["task_type"]).mean() <= 0.25


def test_a_quarter_of_the_rubrics_stays_unanimous_on_ten_systems(panel_labels: pd.DataFrame) -> None:
    counts = unanimous(panel_labels).groupby("rubric").agg(["size", "sum"])
    counts = counts[counts["size"] >= 10]
    retention = (comb(counts["sum"], 10) / comb(counts["size"], 10)).mean()
    assert 0.22 <= retention <= 0.28


def test_truths_follow_the_two_parameter_logistic_model_with_a_query_effect(study: DemoStudy) -> None:
    rubrics, truth = study.truth.rubrics, study.truth
    regular = rubrics["a"].notna().to_numpy()
    a, b = rubrics.loc[regular, "a"].to_numpy(), rubrics.loc[regular, "b"].to_numpy()
    effects = pd.DataFrame(truth.effects.T, index=pd.Index(truth.queries["query"]))
    effect = effects.loc[rubrics.loc[regular, "query"]].to_numpy().T
    chance = expit(a * (truth.systems["theta"].to_numpy()[:, None] - b) + np.sign(a) * effect)
    np.testing.assert_allclose(truth.chance[:, regular], chance)
    residual = truth.passes[:, regular] - chance
    for low, high in zip(np.arange(0, 1, 0.1), np.arange(0.1, 1.1, 0.1), strict=True):
        cells = (chance >= low) & (chance < high)
        error = residual[cells].sum() / np.sqrt((chance * (1 - chance))[cells].sum())
        assert abs(error) < 4


def test_systems_do_well_or_badly_on_whole_queries(study: DemoStudy) -> None:
    """Given ability and items alone, the rubrics of one query are no independent evidence."""
    truth = study.truth
    assert truth.effects.shape == (15, 104)
    assert truth.effects.std() == pytest.approx(0.7, abs=0.04)
    regular = (truth.rubrics["a"] > 0).to_numpy()
    items = truth.rubrics[regular]
    chance = expit(
        items["a"].to_numpy() * (truth.systems["theta"].to_numpy()[:, None] - items["b"].to_numpy())
    )
    residual = pd.DataFrame((truth.passes[:, regular] - chance).T)
    sums = residual.groupby(items["query"].to_numpy()).sum()
    independent = pd.DataFrame((chance * (1 - chance)).T).groupby(items["query"].to_numpy()).sum()
    assert (sums**2).sum().sum() / independent.sum().sum() > 2


def test_the_true_ranking_is_by_ability(study: DemoStudy) -> None:
    systems = study.truth.systems.sort_values("rank")
    assert systems["rank"].tolist() == list(range(1, 16))
    assert systems["theta"].is_monotonic_decreasing
    np.testing.assert_allclose(study.truth.systems["pass_rate"], study.truth.passes.mean(axis=1), atol=0.03)


def test_the_known_truth_is_what_the_study_was_made_from(study: DemoStudy) -> None:
    truth = known_truth(0)
    pd.testing.assert_frame_equal(truth.systems, study.truth.systems)
    pd.testing.assert_frame_equal(truth.rubrics, study.truth.rubrics)
    np.testing.assert_array_equal(truth.errors, study.truth.errors)
    assert len(known_truth(0, systems=4, queries=8).systems) == 4


def test_every_judge_errs_more_on_vague_rubrics(study: DemoStudy) -> None:
    labels = study.labels.join(true_passes(study), on=["system", "rubric"])
    vagueness = study.truth.rubrics.set_index("rubric")["vagueness"]
    labels = labels.assign(
        wrong=labels["label"] != labels["truth"],
        vagueness=labels["rubric"].map(vagueness),
        fifth=labels["rubric"].map(pd.qcut(vagueness, 5, labels=False)),
    )
    by_fifth = labels.groupby("fifth")[["wrong", "vagueness"]].mean()
    np.testing.assert_allclose(by_fifth["wrong"], by_fifth["vagueness"], atol=0.01)
    per_judge = labels.pivot_table(index="fifth", columns="judge", values="wrong", aggfunc="mean")
    assert per_judge.diff().iloc[1:].gt(0.005).all(axis=None)
    assert (per_judge.iloc[-1] > 5 * per_judge.iloc[0]).all()


def test_a_judges_errors_depend_on_the_rubric(study: DemoStudy) -> None:
    """Each judge's wrong labels on each rubric follow its own true error, not what clarity alone would give."""
    truth = study.truth
    names = truth.judges["judge"].tolist()
    labels = study.labels.join(true_passes(study), on=["system", "rubric"])
    labels["wrong"] = labels["label"] != labels["truth"]
    rates = labels.pivot_table(index="rubric", columns="judge", values="wrong", aggfunc="mean")
    rubrics = truth.rubrics["rubric"].tolist()
    seen = rates.loc[rubrics, names].to_numpy()
    odd = truth.readings - truth.readings.mean(axis=1, keepdims=True)
    assert truth.readings.shape == truth.errors.shape == (len(rubrics), 3)
    assert odd.std() == pytest.approx(0.6 * np.sqrt(2 / 3), abs=0.02)
    assert truth.readings.mean(axis=1).std() == pytest.approx(np.hypot(0.4, 0.6 / np.sqrt(3)), abs=0.02)
    for k in range(3):
        known = ~np.isnan(seen[:, k])
        others = np.delete(truth.errors, k, axis=1).mean(axis=1)
        own = np.corrcoef(seen[known, k], truth.errors[known, k])[0, 1]
        assert own > np.corrcoef(seen[known, k], others[known])[0, 1] + 0.02
        for low, high in ((0, 0.05), (0.05, 0.15), (0.15, 0.3)):
            cells = known & (truth.errors[:, k] >= low) & (truth.errors[:, k] < high)
            assert seen[cells, k].mean() == pytest.approx(truth.errors[cells, k].mean(), abs=0.012)


def test_special_rubrics_are_what_their_kind_says(study: DemoStudy) -> None:
    kind = study.truth.rubrics["kind"]
    assert (study.truth.passes[:, kind == "everyone_passes"] == 1).all()
    assert (study.truth.passes[:, kind == "everyone_fails"] == 0).all()
    assert ((study.truth.rubrics["a"] < 0) == (kind == "aberrant")).all()
    share = kind.value_counts(normalize=True)
    assert 0.01 <= share["everyone_passes"] + share["everyone_fails"] <= 0.03
    assert 0.003 <= share["aberrant"] <= 0.02


def test_judges_are_as_sensitive_and_specific_as_the_truth_says(study: DemoStudy) -> None:
    labels = study.labels.join(true_passes(study), on=["system", "rubric"])
    rates = labels.pivot_table(index="judge", columns="truth", values="label", aggfunc="mean")
    judges = study.truth.judges.set_index("judge")
    np.testing.assert_allclose(rates[1.0], judges["sensitivity"], atol=0.01)
    np.testing.assert_allclose(1 - rates[0.0], judges["specificity"], atol=0.01)
    assert judges[["sensitivity", "specificity"]].round(2).nunique().min() > 1


def test_panels_agree_as_often_as_the_true_measurability_says(
    study: DemoStudy, panel_labels: pd.DataFrame
) -> None:
    agreed = unanimous(panel_labels).reset_index()
    q = agreed["rubric"].map(study.truth.rubrics.set_index("rubric")["q"])
    by_decile = (
        pd.DataFrame({"q": q, "agreed": agreed["agreed"]}).groupby(pd.qcut(q, 10, labels=False)).mean()
    )
    np.testing.assert_allclose(by_decile["agreed"], by_decile["q"], atol=0.02)
    assert by_decile["q"].iloc[0] < 0.6 < 0.97 < by_decile["q"].iloc[-1]


def test_labels_go_missing_in_three_ways(study: DemoStudy) -> None:
    domain = study.queries.set_index("query")["domain"]
    labels = study.labels.assign(domain=study.labels["query"].map(domain))
    *others, last = sorted(study.truth.judges["judge"])
    by_query = labels.pivot_table(index="query", columns="judge", values="label", aggfunc="count")
    assert by_query[others].notna().all(axis=None)
    assert by_query[last].isna().sum() == 6

    by_domain = labels.pivot_table(index="system", columns="domain", values="label", aggfunc="count")
    (hole,) = np.argwhere(by_domain.isna().to_numpy())
    lacking = study.rubrics["query"].map(domain) == by_domain.columns[hole[1]]

    possible = len(others) * (15 * len(study.rubrics) - lacking.sum())
    assert labels["judge"].isin(others).sum() / possible == pytest.approx(0.98, abs=0.003)


def test_two_humans_label_the_same_instances_better_than_any_judge(study: DemoStudy) -> None:
    both = study.gold.pivot_table(index=["system", "rubric"], columns="annotator", values="label")
    assert both.notna().all(axis=None)
    assert both.shape == (8 * 2 * 104, 2)
    truth = true_passes(study).loc[both.index]
    humans = both.eq(truth, axis=0).mean()
    judges = study.labels.set_index(["system", "rubric"]).join(true_passes(study))
    assert humans.min() > (judges["label"] == judges["truth"]).groupby(judges["judge"]).mean().max()
    assert humans.max() < 1


def test_the_preference_score_follows_ability_with_noise(study: DemoStudy) -> None:
    both = study.reference.merge(study.truth.systems)
    assert 0.8 < both["score"].corr(both["theta"], method="spearman") < 1


def test_a_makers_small_model_is_weaker_than_its_large_one(study: DemoStudy) -> None:
    theta = study.truth.systems.set_index("system")["theta"]
    assert theta["aldera-3-mini"] < theta["aldera-4"] < theta["aldera-4-research"]
    assert theta["fennimore-14b"] < theta["fennimore-70b"] < theta["fennimore-120b"]


PLAIN = np.zeros((1, 3))
"""Readings of rubrics that three judges read as usual."""


@given(st.lists(st.floats(0.35, 0.999), min_size=1, max_size=20))
def test_clarity_gives_the_agreement_asked_for(agreement: list[float]) -> None:
    panel = people("judge", 3)
    clarity = panel.clarity_for(np.array(agreement), PLAIN)
    np.testing.assert_allclose(panel.agreement(clarity, PLAIN).mean(axis=0), agreement, atol=4e-4)


@given(st.floats(0.35, 0.999), st.lists(st.floats(-1.5, 1.5), min_size=3, max_size=3))
def test_clarity_makes_up_for_readings_as_far_as_it_can(agreement: float, readings: list[float]) -> None:
    panel, reading = people("judge", 3), np.array([readings])
    clarity = panel.clarity_for(np.array([agreement]), reading)
    reached = panel.agreement(clarity, reading).mean(axis=0)[0]
    least = panel.agreement(np.zeros(1), reading).mean(axis=0)[0]
    assert reached == pytest.approx(agreement, abs=1e-3) or (agreement < least and clarity[0] < 0.001)


def test_clear_rubrics_are_never_misjudged() -> None:
    rng = np.random.default_rng(0)
    for role in ("judge", "annotator"):
        panel = people(role)
        readings = panel.readings(200, SLANT_SD, OWN_READING_SD, rng)
        assert panel.agreement(np.full(200, CLEAR), readings).min() > 0.99


def test_votes_agree_as_often_as_the_quadrature_says() -> None:
    panel, clarity = people("judge", 3), np.array([0.0, 0.7, 1.5, 3.0])
    reading = np.array([[0.0, 0.0, 0.0], [0.8, -0.8, 0.0], [1.2, 1.2, 1.2], [0.0, 0.0, -1.5]])
    for truth in (0, 1):
        votes = panel.vote(np.full((40_000, 4), float(truth)), clarity, reading, np.random.default_rng(5))
        agreed = (votes.min(axis=-1) == votes.max(axis=-1)).mean(axis=0)
        np.testing.assert_allclose(agreed, panel.agreement(clarity, reading)[truth], atol=0.012)
        np.testing.assert_allclose(votes.mean(axis=0), panel.pass_rates(clarity, reading)[truth], atol=0.012)


def test_answers_and_reasons_come_on_request_and_change_nothing_else() -> None:
    design = {"seed": 3, "systems": 4, "queries": 8, "pool": (5, 8)}
    plain, full = simulate(**design), simulate(**design, texts=True)  # type: ignore[arg-type]
    assert plain.answers is None
    assert full.answers is not None
    assert as_bytes(replace(full, labels=full.labels.drop(columns="reason"))) == as_bytes(plain)
    assert len(full.answers) == 4 * 8
    assert full.answers["text"].str.startswith("Simulated answer.").all()
    text = full.rubrics.set_index("rubric")["text"]
    verdict, said = zip(*full.labels["reason"].str.split(": ", n=1), strict=True)
    assert [word == "Found" for word in verdict] == full.labels["label"].eq(1).tolist()
    assert list(said) == full.labels["rubric"].map(text).tolist()


def test_smaller_studies_take_their_systems_and_queries_from_the_whole_range() -> None:
    small = simulate(3, systems=4, queries=8, judges=1, pool=(5, 6), missing=0)
    assert small.labels["system"].nunique() == 4
    assert {"aldera-4-research", "brindle-8b"} <= set(small.labels["system"])
    assert small.truth.queries["task_type"].nunique() >= 3
    assert small.labels["judge"].unique().tolist() == ["arbiter-xl"]


def test_there_are_sentences_enough_for_the_largest_pools() -> None:
    large = simulate(2, systems=2, judges=1, pool=(80, 80)).rubrics
    assert (large.groupby("query").size() == 80).all()
    assert not large.duplicated(["query", "text"]).any()


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"systems": 0}, "systems"),
        ({"systems": 99}, "systems"),
        ({"queries": 105}, "queries"),
        ({"judges": 9}, "judges"),
        ({"pool": (30, 20)}, "pool"),
        ({"missing": 1.0}, "missing"),
        ({"seed": -1}, "seed"),
    ],
)
def test_a_number_out_of_range_is_named(arguments: dict[str, object], name: str) -> None:
    with pytest.raises(SettingsError, match=rf"^{name} = .* is out of range: expected"):
        simulate(**arguments)  # type: ignore[arg-type]


def test_the_demo_goes_into_a_workspace_without_a_rejected_row(study: DemoStudy) -> None:
    with Workspace() as workspace:
        write_demo(workspace)
        ingests = workspace.ingests("demo").set_index("kind")
        assert ingests["accepted"].to_dict() == {name: len(getattr(study, name)) for name in TABLES}
        assert ingests[["rejected", "blank", "collapsed", "replaced"]].sum().sum() == 0
        dataset = workspace.dataset("demo")
        assert dataset.systems == tuple(study.truth.systems["system"])
        assert dataset.rubrics["rubric"].to_list() == study.rubrics["rubric"].to_list()
        assert dataset.rubrics["text"].to_list() == study.rubrics["text"].to_list()
        assert dataset.queries["task_type"].to_list() == study.queries["task_type"].to_list()


def test_a_dataset_of_that_name_is_left_alone() -> None:
    with Workspace() as workspace:
        workspace.ingest(b"system,query,rubric,judge,label\na,q,r,j,1\n", "demo")
        with pytest.raises(DatasetError, match="There is a dataset 'demo' already"):
            write_demo(workspace)
        assert workspace.dataset("demo").counts()["labels"] == 1
