"""No stage reads a setting that it does not declare."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from crubric_core import Priors, Settings, Workspace
from crubric_core.analysis.fitted import with_rules
from crubric_core.analysis.ranking import score_rubrics
from crubric_core.analysis.stage import STAGES, Memory, Stages
from crubric_core.analysis.stage import stage as declare
from crubric_core.analysis.stages import Analysis
from crubric_core.composition import Composition, Limit
from crubric_core.demo import simulate
from crubric_core.labels.store.dataset import Dataset
from crubric_core.scoring_rules import Assignment, ScoringRules

OTHER: dict[str, Any] = {
    "tau_c": 0.55,
    "budget": 7,
    "quadrature": "grid",
    "priors": Priors(log_a_sd=0.3),
    "strategy": "random",
    "gate": "agreement",
    "agreement": "pairwise",
    "prior": "fixed",
    "basis": "bank",
    "population": "rubrics",
    "cross_fitted": False,
    "simultaneous": False,
    "alpha": 4.0,
    "beta": 4.0,
    "tau_t": 0.9,
    "rules": ScoringRules(critical=-1.0, assign=(Assignment("severity", "rubric", "*", "critical"),)),
    "clip": False,
    "bootstrap": "plain",
    "replicates": 20,
    "confidence": 0.8,
    "tier_rule": "adjacent",
    "holm": True,
    "seed": 5,
    "composition": Composition(limits=(Limit("query", None, 0, 1),)),
}
PLAIN = Settings(replicates=30)
DECLARED = {name: stage for name, stage in STAGES.items() if hasattr(Analysis, name)}  # pages have more


@pytest.fixture(scope="module")
def dataset() -> Iterator[Dataset]:
    made = simulate(seed=3, systems=6, queries=6, pool=(6, 9))
    with Workspace() as workspace:
        for kind in ("labels", "rubrics", "queries"):
            text = getattr(made, kind).to_csv(index=False)
            workspace.ingest(text.encode(), dataset="small", kind=kind)
        yield workspace.dataset("small")


@pytest.fixture(scope="module")
def whole(dataset: Dataset) -> Analysis:
    return study(dataset)


def study(ds: Dataset, settings: Settings = PLAIN, store: Memory | None = None) -> Analysis:
    return Analysis(
        dataset=ds, fingerprint="print", settings=with_rules(ds, settings), store=store or Memory()
    )


def ask(analysis: Analysis, name: str) -> Any:
    """The result of a stage, asked for as the pages do."""
    strategy, everything = ("pairs", 512), np.ones(len(analysis.given().rubrics), dtype=bool)
    asked = {
        "_panel": ("binary",),
        "_order": strategy,
        "_fold_orders": strategy,
        "_certificates": (512,),
        "_worth": (np.array([4]), 4, 512),
        "_without_folds": ("pairs",),
        "judges_differ": (np.zeros(len(everything), dtype=int),),
        "_random_worth": (4,),
        "_bank_worth": (4, 512),
    }
    asked |= dict.fromkeys(("ranking_on", "score_standing", "other_rankings"), (everything,))
    found = getattr(analysis, name)
    return found(*asked.get(name, ())) if callable(found) else found


def figures(found: Any) -> list[np.ndarray]:
    """Every array in a result, however deep."""
    if isinstance(found, pd.DataFrame):
        return [found.select_dtypes("number").astype(float).to_numpy(), found.select_dtypes(bool).to_numpy()]
    if isinstance(found, np.ndarray):
        return [found]
    if isinstance(found, tuple | list):
        return [array for part in found for array in figures(part)]
    if dataclasses.is_dataclass(found):
        return [a for part in dataclasses.fields(found) for a in figures(getattr(found, part.name))]
    return [np.array([found])] if isinstance(found, float | int) else []


def test_curves_reach_as_far_as_any_system(whole: Analysis) -> None:
    found = whole.calibration()
    far = replace(found, fit=replace(found.fit, theta=np.append(found.fit.theta, 5.3)))
    assert (found.nodes[0], found.nodes[-1]) == (-4, 4)
    assert far.nodes[0] == -4
    assert 5.3 <= far.nodes[-1] < 5.6
    assert np.diff(far.nodes).max() < 0.051


@pytest.mark.parametrize(("name", "value"), [*OTHER.items(), ("population", "domains")])
def test_a_setting_changes_no_stage_that_does_not_declare_it(
    dataset: Dataset, whole: Analysis, name: str, value: Any
) -> None:
    changed = study(dataset, replace(whole.settings, **{name: value}))
    for stage in (s for s in DECLARED if name not in DECLARED[s].reads):
        for one, other in zip(figures(ask(whole, stage)), figures(ask(changed, stage)), strict=True):
            assert np.array_equal(one, other, equal_nan=one.dtype.kind == "f"), stage


@pytest.mark.parametrize(("name", "value"), OTHER.items())
def test_a_key_holds_what_a_stage_declares_and_nothing_else(
    dataset: Dataset, whole: Analysis, name: str, value: Any
) -> None:
    changed = study(dataset, replace(whole.settings, **{name: value}))
    for stage, declared in DECLARED.items():
        same = all(np.array_equal(getattr(whole, m), getattr(changed, m)) for m in declared.masks)
        assert (changed.key(stage) == whole.key(stage)) == (same and name not in declared.kept_by), stage


def test_a_threshold_that_lets_the_same_rubrics_pass_computes_nothing_again(dataset: Dataset) -> None:
    store = Memory()
    one = study(dataset, replace(PLAIN, gate="agreement", tau_c=0.8), store)
    values = one.gating().values
    above = np.nanmin(values[one.feasible])
    other = study(dataset, replace(one.settings, tau_c=above), store)
    assert above > 0.8
    assert other.worth() is one.worth()
    assert other.other_rankings(other.used) is one.other_rankings(one.used)
    fewer = study(dataset, replace(one.settings, tau_c=np.nextafter(above, 1)), store)
    assert not np.array_equal(fewer.feasible, one.feasible)
    assert fewer.worth() is not one.worth()


@dataclasses.dataclass(frozen=True, kw_only=True)
class Passing(Analysis):
    """An analysis in which these rubrics pass, whatever the gate's settings say."""

    these: np.ndarray

    @property
    def feasible(self) -> np.ndarray:
        return self.these


@pytest.mark.parametrize("stage", sorted(name for name, stage in DECLARED.items() if stage.masks))
def test_a_stage_reads_of_the_gate_nothing_but_which_rubrics_pass(
    dataset: Dataset, whole: Analysis, stage: str
) -> None:
    settings = replace(
        whole.settings, **{name: OTHER[name] for name in STAGES["gating"].reads if name in OTHER}
    )
    changed = Passing(
        dataset=dataset, fingerprint="print", settings=settings, store=Memory(), these=whole.feasible
    )
    assert not np.array_equal(changed.gating().feasible, whole.feasible)
    assert changed.key(stage) == whole.key(stage)
    for one, other in zip(figures(ask(whole, stage)), figures(ask(changed, stage)), strict=True):
        assert np.array_equal(one, other, equal_nan=one.dtype.kind == "f")


def test_a_stage_is_computed_once_for_what_it_reads(dataset: Dataset) -> None:
    store = Memory()
    one = study(dataset, store=store)
    other = study(dataset, replace(one.settings, budget=3, tau_c=0.2), store=store)
    assert other.calibration() is one.calibration()
    assert other.measurability() is not one.measurability()


@pytest.fixture
def two(monkeypatch: pytest.MonkeyPatch) -> Any:
    """What has one stage with two arguments, called bounds."""
    monkeypatch.setattr("crubric_core.analysis.stage.STAGES", {})

    class Two(Stages):
        fingerprint, settings, store = "print", PLAIN, Memory()

        @declare()
        def bounds(self, low: int | None = None, high: int | None = None) -> tuple[int | None, int | None]:
            """What it was asked."""
            return low, high

    return Two()


def test_arguments_of_a_stage_are_told_apart_however_they_are_given(two: Any) -> None:
    assert two.bounds(low=1) == (1, None)
    assert two.bounds(high=1) == (None, 1)
    assert two.bounds(1) is two.bounds(low=1)
    assert two.bounds() is two.bounds(None, None)


def test_labels_are_read_once_whether_their_scale_is_named_or_not(whole: Analysis) -> None:
    assert whole.panel() is whole.panel(whole.settings.response)


@pytest.mark.usefixtures("two")
def test_two_stages_of_one_name_are_refused() -> None:
    def bounds(self: Stages) -> None:
        """Another stage of that name."""

    with pytest.raises(TypeError, match="Two stages are called bounds"):
        declare()(bounds)


def test_the_score_whose_pairs_are_compared_has_no_weight_that_was_fitted_to_these_labels(
    whole: Analysis,
) -> None:
    rubrics, queries = np.flatnonzero(whole.pool), whole.queries()
    ones = np.ones(len(whole.pool))
    plain = score_rubrics(queries, whole.given(), ones, rubrics, whole.settings)
    found = whole.score_standing(whole.pool)
    everywhere = np.isfinite(plain.by_query).all(axis=1)  # another is compared as if it had all queries
    np.testing.assert_allclose(found.estimate[everywhere], plain.score[everywhere])
    assert not np.allclose(found.estimate, whole.ranking_on(whole.pool).scores.score)


def test_another_content_of_the_dataset_has_another_key(dataset: Dataset) -> None:
    one, other = study(dataset), replace(study(dataset), fingerprint="other")
    assert one.key("calibration") != other.key("calibration")


def test_a_move_of_the_threshold_does_not_estimate_the_prior_again(
    dataset: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Memory()
    one = study(dataset, replace(PLAIN, tau_c=0.5), store)
    first = one.gating()
    monkeypatch.delattr("crubric_core.judges.gate.estimate_prior")
    other = study(dataset, replace(one.settings, tau_c=0.9), store).gating()
    assert (first.threshold, other.threshold) == (0.5, 0.9)
    assert other.posterior is first.posterior


def test_the_bank_page_speaks_of_the_pairs_that_the_leaderboard_separates(whole: Analysis) -> None:
    worth = whole.worth(curve=False)
    assert worth is not None
    assert worth.chosen[0].separated == int(whole.ranking_on(whole.pool).comparisons["separated"].sum())


def test_a_bank_of_all_rubrics_that_vary_is_certified_to_be_the_best() -> None:
    """Rubrics with the same label for every system are no candidates that it could have had in their place."""
    rng = np.random.default_rng(0)
    labels = [
        (f"s{i}", f"q{j // 4}", f"r{j}", k, 1 if j % 2 else int(rng.random() < 0.2 + 0.1 * i))
        for i in range(6)
        for j in range(32)
        for k in ("x", "y")
    ]
    table = pd.DataFrame(labels, columns=["system", "query", "rubric", "judge", "label"])
    with Workspace() as workspace:
        workspace.ingest(table.to_csv(index=False).encode(), "d")
        analysis = study(workspace.dataset("d"), replace(PLAIN, gate="agreement", tau_c=0.0, budget=32))
        assert 0 < analysis.pool.sum() < analysis.feasible.sum()
        assert len(analysis.bank()) == analysis.pool.sum()
        assert analysis.certificate() == pytest.approx(1)
        assert analysis.certificates()[-1] == pytest.approx(1)


def test_a_board_of_one_judge_says_that_no_rubric_was_gated_and_compares_it_with_no_copy_of_itself() -> None:
    labels = simulate(seed=3, systems=8, queries=6, pool=(6, 9)).labels
    one = labels[labels["judge"] == labels["judge"].iloc[0]]
    with Workspace() as workspace:
        workspace.ingest(one.to_csv(index=False).encode(), dataset="one", kind="labels")
        analysis = Analysis(dataset=workspace.dataset("one"), fingerprint="one", settings=PLAIN)
        claims = analysis.claims()
    said = " ".join((*claims.basis, *claims.beside))
    assert f"Ranked on all {int(analysis.pool.sum())} rubrics on which systems differ." in said
    assert "that pass" not in said
    assert "No cell has labels of two judges" in said
    assert "gate or not" not in said
    limits = " ".join(claims.limits)
    assert "The labels are those of one judge: its error can move systems" in limits
    assert "leniency" not in limits
    assert "all of them share" not in limits


def test_the_ranking_on_every_rubric_is_told_only_where_the_gate_drops_some_that_vary(
    dataset: Dataset,
) -> None:
    def beside(tau_c: float) -> str:
        settings = replace(PLAIN, tau_c=tau_c, gate="kappa")
        return " ".join(Analysis(dataset=dataset, fingerprint="x", settings=settings).claims().beside)

    assert "gate or not" not in beside(-1.0)
    assert "gate or not" in beside(0.3)


def test_the_claims_say_what_counts_as_met_and_name_no_criterion() -> None:
    labels = simulate(seed=3, systems=6, queries=6, pool=(6, 9)).labels
    graded = labels.assign(label=np.where(labels["label"] > 0, 5, 1 + np.arange(len(labels)) % 2))
    with Workspace() as workspace:
        workspace.ingest(graded.to_csv(index=False).encode(), dataset="graded", kind="labels")
        ds = workspace.dataset("graded")
        said = Analysis(dataset=ds, fingerprint="g", settings=PLAIN).claims().basis
        ordered = Analysis(dataset=ds, fingerprint="g", settings=replace(PLAIN, model="GRM")).claims().basis
        names = ds.reduce().rubrics["criterion"].tolist()
    marks = [sentence for sentence in said if "counts as met" in sentence]
    assert marks
    assert not any(name in sentence for name in names for sentence in marks)
    assert not any("counts as met" in sentence for sentence in ordered)
