"""Claims about systems that different judges labelled, on labels whose truth is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from crubric_core import Settings, Workspace, run_pipeline
from crubric_core.analysis.board import other_judges
from crubric_core.analysis.fitted import with_rules
from crubric_core.analysis.profile import group_scores
from crubric_core.analysis.ranking import rank_systems
from crubric_core.analysis.stages import Analysis
from crubric_core.experiments.hold_out import hold_out
from crubric_core.experiments.leave_one_judge_out import leave_one_judge_out
from crubric_core.experiments.stability import stability
from crubric_core.judges.unequal_panels import differ_by_group
from crubric_core.labels.store.snapshot import Snapshot
from crubric_core.leaderboard.inference import infer
from crubric_core.leaderboard.reference import Reference
from crubric_core.placement.notes import UNEQUAL
from crubric_core.placement.place import place_systems
from crubric_core.task_types.scoring import by_emphasis
from crubric_core.text import count
from tests.tiers import at_most

SYSTEMS, RUBRICS, JUDGES = 8, 120, 4
SEEDS = at_most(2, 4)
LENIENCY = np.array([1.5, 0.5, -0.5, -1.5])  # logits


def labels(seed, judges_of, ability=None, leniency=LENIENCY):
    """Labels of 2PL rubrics, four of a query. judges_of: (M, K), or (M, J, K), which judges label what."""
    rng = np.random.default_rng(seed)
    theta = np.zeros(SYSTEMS) if ability is None else ability
    a, b = np.exp(rng.normal(0, 0.3, RUBRICS)), rng.normal(0, 1, RUBRICS)
    truth = rng.random((SYSTEMS, RUBRICS)) < expit(a * (theta[:, None] - b))
    label = rng.random((SYSTEMS, RUBRICS, JUDGES)) < expit(np.where(truth, 2, -2)[:, :, None] + leniency)
    shape = label.shape
    i, j, k = np.nonzero(np.broadcast_to(judges_of[:, None] if judges_of.ndim == 2 else judges_of, shape))
    columns = {"system": i, "query": j // 4, "rubric": j, "judge": k, "label": label[i, j, k].astype(int)}
    return pd.DataFrame(columns).assign(
        system="s" + pd.Series(i).astype(str), judge="j" + pd.Series(k).astype(str)
    )


def analysed(table, settings=None, rubrics=None):
    """The analysis of a table, in a workspace that stays open as long as it."""
    ws = Workspace()
    ws.ingest(table.to_csv(index=False).encode(), "d")
    if rubrics is not None:
        ws.ingest(rubrics.to_csv(index=False).encode(), "d", "rubrics")
    data = ws.dataset("d")
    return Analysis(
        dataset=data, fingerprint=data.fingerprint, settings=with_rules(data, settings or Settings())
    )


def own_pairs(seed=0):
    """(M, K): two judges of each system, drawn once."""
    rng = np.random.default_rng(seed)
    return np.array([np.isin(np.arange(JUDGES), rng.permutation(JUDGES)[:2]) for _ in range(SYSTEMS)])


def camps():
    """(M, K): two lenient judges for the first half, two strict ones for the others."""
    return np.arange(JUDGES) // 2 == (np.arange(SYSTEMS) // 4)[:, None]


@pytest.mark.parametrize("judges_of", [own_pairs(), camps()], ids=["own pairs", "camps"])
def test_identical_systems_with_different_judges_are_not_separated(judges_of):
    found, blind = 0, 0
    for seed in range(SEEDS):
        ability = analysed(labels(seed, judges_of)).ranking().ability
        rng = np.random.default_rng([0, 2])
        found += infer(ability, rng).separated.any()
        blind += infer(replace(ability, allowance=None), rng).separated.any()
    assert blind == SEEDS
    assert found == 0


def graded(seed, numbers):
    """Labels 1 to 5 of identical systems by equal judges; the first and the second half have so many on each cell."""
    rng = np.random.default_rng(seed)
    cells = rng.normal(0, 0.5, RUBRICS) + rng.logistic(size=(SYSTEMS, RUBRICS))
    seen = cells[:, :, None] + rng.normal(0, 2, (SYSTEMS, RUBRICS, JUDGES))
    place = rng.random(seen.shape).argsort(axis=2).argsort(axis=2)
    i, j, k = np.nonzero(place < np.repeat(numbers, SYSTEMS // 2)[:, None, None])
    label = 1 + (seen[i, j, k, None] > [-2, -0.5, 0.5, 2]).sum(axis=1)
    columns = {"system": "s" + pd.Series(i).astype(str), "query": j // 4, "rubric": j, "label": label}
    return pd.DataFrame(columns).assign(judge="j" + pd.Series(k).astype(str))


def test_identical_systems_with_different_numbers_of_ordered_labels_are_not_separated():
    """Of an even number the lower middle one counts: systems with two labels look worse than those with three."""
    found, blind = 0, 0
    for seed in range(SEEDS):
        study = analysed(graded(seed, (3, 2)), Settings(model="GRM"))
        ability, rng = study.ranking().ability, np.random.default_rng([0, 2])
        found += study.ranking().standing.separated.any()
        blind += infer(replace(ability, allowance=None), rng).separated.any()
        taken = replace(study, dataset=Snapshot(study.dataset, study.settings))
        assert np.array_equal(taken.panels().numbers, study.panels().numbers)
        assert any("shares or numbers" in sentence for sentence in study.claims().basis)
    assert blind >= SEEDS / 2
    assert found == 0
    assert analysed(graded(0, (2, 2)), Settings(model="GRM")).panels() is None


def test_identical_systems_with_different_numbers_of_runs_of_ordered_labels_are_not_separated():
    found, blind = 0, 0
    for seed in range(SEEDS):
        drawn = graded(seed, (3, 2)).assign(run=lambda table: table["judge"], judge="j")
        study = analysed(drawn, Settings(model="GRM"))
        ability, rng = study.ranking().ability, np.random.default_rng([0, 2])
        found += study.ranking().standing.separated.any()
        blind += infer(replace(ability, allowance=None), rng).separated.any()
        taken = replace(study, dataset=Snapshot(study.dataset, study.settings))
        assert np.array_equal(taken.panels().numbers, study.panels().numbers)
    assert blind >= SEEDS / 2
    assert found == 0
    assert analysed(drawn[drawn["run"].isin(["j0"])], Settings(model="GRM")).panels() is None


def test_identical_systems_whose_judge_passed_them_once_or_thrice_are_not_separated():
    """The majority of three runs is more extreme than one: of cells that pass at 80% it passes 90%."""
    found, blind = 0, 0
    for seed in range(2):
        rng = np.random.default_rng(seed)
        passed = rng.random((SYSTEMS, 400, 3)) < rng.beta(8, 2, (400, 1))
        i, j, run = np.nonzero(np.ones_like(passed))
        table = pd.DataFrame(
            {"system": i, "query": j // 4, "rubric": j, "run": run, "label": passed.ravel() * 1}
        )
        study = analysed(table[(i < SYSTEMS // 2) | (run == 0)].assign(judge="j"))
        ability = study.ranking().ability
        found += study.ranking().standing.separated.any() + study.score_standing(study.used).separated.any()
        blind += infer(replace(ability, allowance=None), np.random.default_rng(0)).separated.any()
    assert blind == 2
    assert found == 0


def test_likeliest_levels_of_identical_systems_with_one_label_or_two_are_not_separated():
    """Of two labels that differ the likelier one counts: of cells that mostly pass, pass."""
    rng = np.random.default_rng(7)
    true = rng.random((SYSTEMS, 1200, 1)) < rng.beta(6, 2, (1200, 1))
    passed = true ^ (rng.random((SYSTEMS, 1200, 2)) < 0.12)
    i, j, k = np.nonzero(np.ones_like(passed))
    columns = {"system": i, "query": j // 4, "rubric": j, "judge": k, "label": passed.ravel() * 1}
    table = pd.DataFrame(columns)
    single = (i >= SYSTEMS // 2) & (k != rng.integers(0, 2, (SYSTEMS, 1200))[i, j])
    study = analysed(table[~single], Settings(consensus="dawid_skene"))
    blind = infer(replace(study.ranking().ability, allowance=None), np.random.default_rng(0))
    assert blind.separated.any()
    assert not study.ranking().standing.separated.any()
    assert not study.score_standing(study.used).separated.any()
    assert any(sentence.endswith("use the majority instead.") for sentence in study.claims().basis)
    taken = replace(study, dataset=Snapshot(study.dataset, study.settings))
    assert np.array_equal(taken.panels().numbers, study.panels().numbers)


def test_likeliest_levels_of_judges_who_err_much_are_beyond_what_is_allowed_for():
    """A single label never outweighs that most cells pass: all of them do. The board says that this may be."""
    rng = np.random.default_rng(7)
    passed = rng.random((SYSTEMS, 1200, 2)) < rng.beta(6, 2, (1200, 1))
    i, j, k = np.nonzero(np.ones_like(passed))
    columns = {"system": i, "query": j // 4, "rubric": j, "judge": k, "label": passed.ravel() * 1}
    single = (i >= SYSTEMS // 2) & (k != rng.integers(0, 2, (SYSTEMS, 1200))[i, j])
    study = analysed(pd.DataFrame(columns)[~single], Settings(consensus="dawid_skene"))
    standing = study.score_standing(study.used)
    assert (standing.estimate[SYSTEMS // 2 :] == 1).all()
    assert standing.separated.any()


def test_scores_of_identical_systems_with_different_judges_are_not_separated_either():
    studies = [analysed(labels(seed, camps())) for seed in range(SEEDS)]
    assert sum(study.score_standing(study.used).separated.any() for study in studies) == 0


def test_of_scores_that_lose_points_by_failed_rubrics_more_is_allowed_for():
    table = labels(0, camps())
    queries = pd.DataFrame({"query": table["query"].unique()}).assign(task_type="high_risk_constraint")
    rubrics = table[["query", "rubric"]].drop_duplicates().assign(severity="critical")
    with Workspace() as ws:
        for kind, given in (("labels", table), ("queries", queries), ("rubrics", rubrics)):
            ws.ingest(given.to_csv(index=False).encode(), "d", kind=kind)
        data = ws.dataset("d")
        study = Analysis(dataset=data, fingerprint=data.fingerprint, settings=with_rules(data, Settings()))
        pairs = study.score_standing(study.used).allowance.pairs
    assert pairs[0, 7] == pytest.approx(1.5), "of judges that never met, from -.5 to 1"


def test_what_leniency_cannot_explain_is_still_separated():
    ability = np.repeat([1.5, -1.5], 4)
    common = np.broadcast_to(camps()[:, None], (SYSTEMS, RUBRICS, JUDGES)).copy()
    common[:, ::4] = True
    standing = analysed(labels(1, common, ability, LENIENCY / 6)).ranking().standing
    assert standing.separated[:4, 4:].sum() >= 14  # of 16
    assert (standing.difference[:4, 4:] > 0).all()


def test_a_board_says_that_different_judges_labelled_its_systems():
    with Workspace() as ws:
        ws.ingest(labels(0, own_pairs()).to_csv(index=False).encode(), "d")
        ds = ws.dataset("d")
        robust = run_pipeline(ds)
        paper = run_pipeline(ds, Settings.preset("paper", tau_c=0.3))
        few = [finding for finding in ds.checks() if finding.code == "unequal"]
    assert robust.ranking.standing.excused > 0
    assert any(
        f"and {robust.ranking.standing.excused} pairs are not separated that otherwise would be" in sentence
        for sentence in robust.claims.basis
    )
    assert any(
        "intervals do not allow for differences in leniency and number" in sentence
        for sentence in paper.claims.basis
    )
    assert len(few) == 1


def test_a_system_without_known_labels_hides_no_unequal_panels():
    table = labels(0, camps()).astype({"label": object})
    table.loc[table["system"] == "s7", "label"] = ""
    study = analysed(table)
    assert not study.ranking().standing.separated.any()
    assert study.ranking().standing.excused > 0


@pytest.mark.parametrize("settings", [Settings(), Settings(model="GRM")])
def test_a_snapshot_knows_the_same_of_the_panels(settings):
    study = analysed(labels(0, own_pairs()), settings)
    taken = replace(study, dataset=Snapshot(study.dataset, settings))
    assert np.array_equal(taken.panels().shift, study.panels().shift)
    assert np.array_equal(taken.panels().noise, study.panels().noise)


def test_where_all_judges_label_all_nothing_is_said_and_nothing_changes():
    table = labels(0, np.ones((SYSTEMS, JUDGES), dtype=bool))
    study = analysed(table.sample(frac=0.97, random_state=1))
    assert study.panels() is None
    assert study.ranking().standing.allowance is None
    assert not any("different judges" in sentence for sentence in study.claims().basis)
    assert not any(finding.code == "unequal" for finding in study.dataset.checks())


def test_experiments_allow_for_unequal_panels_as_the_board_does():
    """Of each part of the labels as the pipeline does of a dataset that is that part."""
    table = labels(3, own_pairs(), np.linspace(-0.6, 0.6, SYSTEMS))
    tiers = {
        left_out: len(set(analysed(table[table["judge"] != left_out]).ranking().standing.tier.tolist()))
        for left_out in (None, "j1")
    }
    blind = analysed(table)
    unaware = rank_systems(
        blind.queries(), blind.given(), blind.calibration(), blind.folds(), blind.used, blind.settings, None
    )
    assert len(set(unaware.standing.tier.tolist())) > tiers[None], "the design tells nothing"
    found = stability(blind.dataset, Settings(), kinds=("judge",))
    rows = found.tables["variants"].set_index("what")
    assert rows.loc["j1", "tiers"] == tiers["j1"]
    assert f"and {count(tiers[None], 'tier')};" in found.found
    influence = leave_one_judge_out(blind.dataset, Settings())
    assert influence.judges.set_index("judge").loc["j1", "tiers"] == tiers["j1"]
    assert influence.systems["tier"].nunique() == tiers[None]


def test_a_profile_says_that_its_intervals_do_not_allow_for_different_judges():
    outside = []
    for seed, judges_of in ((0, camps()), (1, camps()), (0, np.ones((SYSTEMS, JUDGES), dtype=bool))):
        analysis = analysed(labels(seed, judges_of))
        scores = by_emphasis(analysis.ranking().scores).by_query
        found = [group_scores(["all"], [scores], np.ones(scores.shape[1]), i) for i in range(SYSTEMS)]
        outside.append(sum(not f.low[0] <= 0 <= f.high[0] for f in found))
        assert (
            "do not allow for differences in leniency and number between the judges"
            in other_judges(analysis.board())
        ) == (judges_of.min() == 0)
    assert min(outside[:2]) > 2 >= outside[2]


def rotated(group):
    """(M, J, K) one judge for each system and group of rubrics (J,), each system with another one."""
    judge = (np.arange(SYSTEMS)[:, None] + group) % JUDGES
    return judge[..., None] == np.arange(JUDGES)


@pytest.mark.parametrize("turns", [True, False])
def test_judges_who_change_places_between_groups_are_seen_by_group_alone(turns):
    """On the whole each system has each judge alike; where one is drawn for each of its queries, in groups as well."""
    query = np.arange(RUBRICS) // 4
    group = query * JUDGES // (RUBRICS // 4)
    drawn = np.random.default_rng(1).integers(0, JUDGES, (SYSTEMS, RUBRICS // 4))[:, query]
    analysis = analysed(labels(0, rotated(group) if turns else drawn[..., None] == np.arange(JUDGES)))
    assert analysis.panels() is None
    rubric = analysis.given().rubrics["rubric"].astype(int).to_numpy()
    assert analysis.judges_differ(group[rubric]) == turns
    said = other_judges(analysis.board(), in_groups=turns)
    assert said.startswith(" In some groups the systems' labels come from different judges") == turns


def test_abilities_by_dimension_are_none_where_judges_change_places_between_dimensions():
    """Else the judges' leniency is the dimensions': the order depends on them, and correlations too."""
    dimension, found = np.arange(RUBRICS) % 4, []
    for group in (dimension, np.arange(RUBRICS) // 4):
        table = labels(0, rotated(group))
        frame = table[["query", "rubric"]].drop_duplicates()
        frame = frame.assign(dimension=[f"d{dimension[j]}" for j in frame["rubric"]])
        analysis = analysed(table, rubrics=frame)
        assert analysis.panels() is None
        found.append(analysis.dimensions())
    assert found[0] == (
        "There are no abilities by dimension: the systems have different judges, and what differs between judges would "
        "look like a difference in ability."
    )
    assert not isinstance(found[1], str)


def test_chance_differences_of_judges_in_small_groups_are_none():
    for seed, (groups, queries, rubrics) in enumerate(((20, 3, 3), (30, 2, 5), (10, 6, 3), (3, 40, 3))):
        rng, query = np.random.default_rng(seed), np.repeat(np.arange(groups * queries), rubrics)
        for of_query in (True, False):
            judge = rng.integers(0, 3, (9, len(query)))
            judge = judge[:, query * rubrics] if of_query else judge  # that of the query's first rubric
            panel = np.where(judge[..., None] == np.arange(3), 1.0, np.nan)
            assert not differ_by_group(panel, query, query // queries)
        assert differ_by_group(np.where(rotated(query // queries), 1.0, np.nan), query, query // queries), (
            "one judge for all of a system's labels of a group"
        )


def placed_anew(table, settings):
    """The first system, placed on the bank of the others."""
    with Workspace() as ws:
        ws.ingest(table.to_csv(index=False).encode(), "d")
        bank_scale, new = hold_out(ws.dataset("d"), settings, "s0")
    return bank_scale, new, place_systems(bank_scale, new)


def test_a_new_system_is_separated_from_none_of_its_ability_for_want_of_the_same_judges():
    without = []
    for seed in range(SEEDS):
        bank_scale, new, found = placed_anew(labels(seed, camps()), Settings(budget=60))
        standing = found.placements[0].standing
        assert not standing.separated[-1].any()
        assert np.isnan(standing.rank_probability[-1]).all()
        assert UNEQUAL in found.notes
        reference = bank_scale.reference
        assert Reference.from_record(reference.record()).record() == reference.record()
        nothing = np.zeros(len(reference.theta))
        equal = replace(bank_scale, reference=replace(reference, too_high=nothing, too_low=nothing))
        without.append(place_systems(equal, new).placements[0].standing.separated[-1].any())
    assert sum(without) >= SEEDS / 2


def test_a_new_system_that_leniency_cannot_explain_is_still_separated():
    ability, pairs = np.where(np.arange(SYSTEMS) == 0, 4.0, 0.0), own_pairs()
    _, _, found = placed_anew(labels(0, pairs, ability, LENIENCY / 5), Settings(budget=100))
    assert found.placements[0].standing.separated[-1].sum() >= 4


def test_where_all_judges_label_all_a_placement_says_nothing_of_unequal_panels():
    bank_scale, _, found = placed_anew(labels(0, np.ones((SYSTEMS, JUDGES), dtype=bool)), Settings(budget=60))
    assert UNEQUAL not in found.notes
    assert "too_high" not in bank_scale.reference.record()
    assert np.isfinite(found.placements[0].standing.rank_probability[-1]).all()
