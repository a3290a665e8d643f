"""A composition by names and groups of a dataset: kept in the bank, in the folds, in the files, and told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from crubric_core import Composition, Settings, Workspace
from crubric_core.analysis.composition import HELD_OUT, ids_of
from crubric_core.analysis.export import report
from crubric_core.analysis.fitted import with_rules
from crubric_core.analysis.pipeline import result_of
from crubric_core.analysis.stage import Memory
from crubric_core.analysis.stages import Analysis
from crubric_core.bank.guarantee import within
from crubric_core.composition import Limit, Swap
from crubric_core.demo import simulate
from crubric_core.errors import AssemblyError, CrubricError, DatasetError, SettingsError
from crubric_core.experiments.results import settings_record
from crubric_core.labels.store.dataset import Dataset
from crubric_core.placement.bank_file import bank_bytes, read_bank_bytes
from crubric_core.placement.bank_scale import bank_scale_of
from crubric_core.scoring_rules import Assignment, ScoringRules
from crubric_core.sharing.build import Choices, build_view

PLAIN = Settings(replicates=30, budget=8)


@pytest.fixture(scope="module")
def dataset() -> Iterator[Dataset]:
    made = simulate(seed=3, systems=7, queries=6, pool=(6, 9))
    with Workspace() as workspace:
        for kind in ("labels", "rubrics", "queries"):
            text = getattr(made, kind).to_csv(index=False)
            workspace.ingest(text.encode(), dataset="small", kind=kind)
        yield workspace.dataset("small")


@pytest.fixture(scope="module")
def store() -> Memory:
    """The fits, which no composition changes, are made once."""
    return Memory()


def study(ds: Dataset, store: Memory, composition: Composition | None = None, **settings: object) -> Analysis:
    asked = replace(PLAIN, composition=composition, **settings)  # type: ignore[arg-type]
    return Analysis(dataset=ds, fingerprint="print", settings=with_rules(ds, asked), store=store)


def names(analysis: Analysis, rubrics: np.ndarray) -> list[str]:
    return analysis.given().rubrics["rubric"].to_numpy()[rubrics].tolist()


@pytest.fixture(scope="module")
def plain(dataset: Dataset, store: Memory) -> Analysis:
    return study(dataset, store)


def test_pins_exclusions_and_swaps_hold_in_the_bank_and_in_every_fold(
    dataset: Dataset, store: Memory, plain: Analysis
) -> None:
    bank, pool = plain.bank(), np.flatnonzero(plain.pool)
    outside = [j for j in pool if j not in bank]
    ids = ids_of(plain.given().rubrics)
    composition = Composition(
        pins=(ids[outside[0]],),
        exclusions=tuple(names(plain, bank[:1])),
        swaps=(Swap(ids[bank[1]], ids[outside[1]]),),
    )
    composed = study(dataset, store, composition)
    masks = np.vstack([composed.bank_masks(), np.isin(np.arange(len(ids)), composed.bank())])
    assert len(composed.bank()) == 8
    assert masks[:, [outside[0], outside[1]]].all()
    assert not masks[:, bank[:2]].any()


@pytest.mark.parametrize("strategy", ["pairs", "greedy", "random"])
def test_bounds_on_each_attribute_hold_at_the_budget_and_above(
    dataset: Dataset, store: Memory, plain: Analysis, strategy: str
) -> None:
    domain = plain.queries()["domain"].dropna().iloc[0]
    composition = Composition(limits=(Limit("domain", domain, at_least=2), Limit("query", None, at_most=2)))
    composed = study(dataset, store, composition, strategy=strategy)
    asked = composed.constraints()
    assert asked is not None
    for budget in (5, 8, 11):
        assert within(asked, composed.order().order[:budget])
    by_query = composed.given().rubrics["query"].iloc[composed.bank()]
    assert by_query.value_counts().max() <= 2
    assert (by_query.map(plain.queries().set_index("query")["domain"]) == domain).sum() >= 2


def test_a_bound_on_severity_counts_rubrics_as_the_rules_rate_them(
    dataset: Dataset, store: Memory, plain: Analysis
) -> None:
    clarity = np.flatnonzero(plain.given().rubrics["dimension"] == "clarity")
    assert np.isin(plain.bank(), clarity).sum() < 3
    rules = ScoringRules(assign=(Assignment("severity", "dimension", "clarity", "critical"),))
    composition = Composition(
        limits=(Limit("severity", "critical", at_least=3), Limit("severity", "none", at_most=0))
    )
    composed = study(dataset, store, composition, rules=rules)
    rated = composed.reduction().rubrics["severity"].to_numpy()
    for bank in (composed.bank(), *map(np.flatnonzero, composed.bank_masks())):
        assert (rated[bank] == "critical").sum() >= 3
        assert not (rated[bank] == "none").any()
    assert np.isin(composed.bank(), clarity).sum() >= 2


def test_the_cost_of_the_texts_stays_within_the_budget(dataset: Dataset, store: Memory) -> None:
    composed = study(dataset, store, Composition(cost="text", cost_budget=400.0))
    texts = composed.given().rubrics["text"].str.len().to_numpy()
    assert 0 < texts[composed.bank()].sum() <= 400
    assert composed.worth() is not None
    assert 0 < composed.certificate() <= 1
    assert np.isfinite(composed.certificates()).all()


def test_the_held_out_worth_is_that_of_the_composed_banks(
    dataset: Dataset, store: Memory, plain: Analysis
) -> None:
    ids = ids_of(plain.given().rubrics)
    composed = study(dataset, store, Composition(exclusions=tuple(ids[j] for j in plain.bank()[:6])))
    before, after = plain.worth(curve=False), composed.worth(curve=False)
    assert before is not None
    assert after is not None
    assert before.chosen[0].rank_error != after.chosen[0].rank_error


def test_a_composition_that_asks_for_nothing_is_none() -> None:
    assert Settings(composition=Composition()) == Settings()
    assert "composition" not in Settings().as_dict()


def test_report_notes_bank_json_and_views_tell_what_was_composed(
    dataset: Dataset, store: Memory, plain: Analysis
) -> None:
    name = names(plain, plain.bank()[:1])[0]
    composition = Composition(exclusions=(name,), limits=(Limit("query", None, at_most=2),))
    composed = study(dataset, store, composition)
    result = result_of(composed)
    assert "The bank is composed by hand: 1 excluded and 1 bound on groups." in result.warnings
    assert HELD_OUT in result.warnings
    kept = {"exclude": [name], "limits": [{"by": "query", "at_most": 2}]}
    assert report(result)["settings"]["composition"] == kept
    content = bank_bytes(bank_scale_of(result))
    assert json.loads(content)["source"]["settings"]["composition"] == kept
    assert read_bank_bytes(content, "bank.json").settings.composition == composition
    view = build_view(result, Choices())
    assert name not in json.dumps(view.settings)
    assert HELD_OUT in view.cautions


def test_experiments_disregard_a_composition(dataset: Dataset, store: Memory) -> None:
    composed = study(dataset, store, Composition(exclusions=("x",))).settings
    assert settings_record(composed) == settings_record(replace(composed, composition=None))


@pytest.mark.parametrize(
    ("composition", "error", "said"),
    [
        (Composition(pins=("nothing",)), DatasetError, "There is no rubric 'nothing' in this dataset"),
        (Composition(limits=(Limit("domain", "chess", 1),)), DatasetError, "There is no domain 'chess'"),
        (Composition(limits=(Limit("query", None, 2),)), AssemblyError, "B = 8 is too small: .* need 12 rubrics"),
        (Composition(limits=(Limit("query", None, 50),)), AssemblyError, "At least 50 of the query '.*' cannot be met"),
        (Composition(cost="text", cost_budget=1.0), AssemblyError, "leave no rubric"),
        (Composition(cost="given", costs=(("x", 1.0),)), DatasetError, "There is no rubric 'x'"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_said(
    dataset: Dataset, store: Memory, composition: Composition, error: type[CrubricError], said: str
) -> None:
    with pytest.raises(error, match=said):
        study(dataset, store, composition).bank()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"pin": ["a"], "exclude": ["a"]}, "'a' is pinned and excluded"),
        ({"pins": []}, "'pins' is no part of a composition"),
        ({"limits": [{"at_least": 2}]}, "'by' is missing"),
        ({"limits": [{"by": "domain", "at_least": 3, "at_most": 2}]}, "cannot both hold"),
        ({"limits": [{"by": "colour", "at_least": 3}]}, "colour"),
        ({"swap": [{"out": "a"}]}, "'into' is missing"),
        ({"cost_budget": -1}, "above 0"),
        ({"cost": {"a": 0}}, "above 0"),
        ([], "is not a composition"),
    ],
)
def test_a_composition_refuses_what_it_cannot_mean(given: object, said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        Composition.from_dict(given)


def test_a_composition_comes_back_from_its_json() -> None:
    full = Composition(
        pins=("a",),
        exclusions=("b",),
        swaps=(Swap("c", "d"),),
        limits=(Limit("task_type", "creative", 1, 4),),
        cost="given",
        costs=(("a", 2.0), ("d", 0.5)),
        cost_budget=7.0,
    )
    assert Composition.from_json(json.dumps(full.as_dict())) == full


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("domain=law:5", Limit("domain", "law", 5)),
        ("query:2", Limit("query", None, 2)),
        ("task type=a=b:c:1", Limit("task_type", "a=b:c", 1)),
    ],
)
def test_a_bound_is_read_as_it_is_typed(text: str, limit: Limit) -> None:
    assert Limit.read(text, "at_least") == limit


@pytest.mark.parametrize("text", ["law:5", "domain=law", "domain=law:-1", "domain=law:many", ""])
def test_what_is_no_bound_is_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="is no bound"):
        Limit.read(text, "at_most")
