"""Judging until an ability is precise: the best rubrics first, and an honest reason for the end."""

from __future__ import annotations

import json
import threading
from dataclasses import replace

import numpy as np
import pytest

from crubric_core.endpoints import asking
from crubric_core.endpoints.endpoint import Endpoint
from crubric_core.endpoints.pace import Pace
from crubric_core.endpoints.watch import Watch
from crubric_core.errors import SettingsError
from crubric_core.judging.adaptive import CANCELLED, EXHAUSTED, FAILED, REACHED, SETTLED, judge_until
from crubric_core.judging.calls import plan_calls
from crubric_core.judging.judges_file import Judge
from crubric_core.judging.labels_file import LabelsFile
from crubric_core.placement import outlook
from crubric_core.placement.abilities import expected_information
from crubric_core.placement.new_labels import read_new_labels
from crubric_core.placement.outlook import Forecast
from crubric_core.placement.place import place_systems
from tests.judging.conftest import PATIENCE, parts, reply


@pytest.fixture
def until(bank_scale, answers, judge, server, tmp_path):
    server.behave = lambda m, v: reply(m, met=sum(map(ord, dict(parts(m))["criterion"])) % 2 == 0)
    path = tmp_path / "labels.jsonl"

    def go(target, judges=(judge,), watch=None, per="criterion", **options):
        calls = plan_calls(bank_scale, answers, judges, per=per)
        with LabelsFile(path, bank_scale.bank_id) as file:
            run, (stop,) = judge_until(
                bank_scale, calls, file, target, patience=PATIENCE, watch=watch or Watch(), **options
            )
        return run, stop

    go.path = path
    return go


def test_it_stops_at_the_standard_error_that_place_reports(until, bank_scale):
    run, stop = until(0.75, batch=2)
    assert stop.reason == REACHED
    assert stop.judgements == stop.rubrics == run.labels < len(bank_scale.rubrics)
    (placed,) = place_systems(bank_scale, read_new_labels(bank_scale, until.path)).placements
    assert (stop.theta, stop.se) == (placed.theta, placed.theta_se)
    assert stop.se <= 0.75


def test_the_first_batch_is_what_the_prior_expects_most_of(until, bank_scale):
    until(1e9, batch=3)
    nothing = np.full((1, len(bank_scale.rubrics)), np.nan)
    expected = expected_information(bank_scale.fit, nothing, bank_scale.bank)[0]
    best = {f"{bank_scale.rubrics['id'][row]}@{bank_scale.bank_id}" for row in np.argsort(-expected)[:3]}
    assert {json.loads(line)["rubric"] for line in until.path.read_text().splitlines()} == best


def test_what_cannot_be_reached_asks_each_rubric_once_and_says_so(until, bank_scale, server):
    run, stop = until(0.001, batch=6)
    assert (stop.reason, stop.rubrics, run.complete) == (EXHAUSTED, 15, True)
    assert len(server.requests) == 15


def test_all_judges_label_each_rubric_that_is_chosen(until, judge):
    _, stop = until(0.001, judges=(judge, replace(judge, name="other")), batch=15)
    assert (stop.rubrics, stop.judgements) == (15, 30)


def test_it_goes_on_from_what_the_file_holds(until, server):
    _, first = until(0.75, batch=2)
    server.requests.clear()
    run, again = until(0.75, batch=2)
    assert not server.requests
    assert again == first
    assert run.labels == 0


def test_a_judge_that_cannot_assess_anything_leads_to_an_end(until, server):
    server.behave = lambda m, v: reply(m, unknown=True)
    _, stop = until(0.5, batch=5)
    assert (stop.reason, stop.rubrics) == (EXHAUSTED, 15)
    assert np.isnan(stop.se)


def test_a_judge_that_fails_ends_it_instead_of_being_asked_for_ever(until, server):
    server.behave = lambda m, v: {"content": "no"}
    run, stop = until(0.5, batch=2)
    assert (stop.reason, stop.rubrics) == (FAILED, 0)
    assert len(run.failures) <= 15
    assert "no JSON object" in run.stopped["strict"]


def test_a_rubric_that_fails_is_set_aside_and_the_others_are_asked(until, bank_scale, server):
    text = bank_scale.rubrics["text"].iloc[3]
    server.behave = lambda m, v: {"content": "no"} if dict(parts(m))["criterion"] == text else reply(m)
    run, stop = until(0.001, batch=8)
    assert (stop.reason, stop.rubrics, len(run.failures)) == (FAILED, 14, 1)


def test_a_judge_that_stops_keeps_no_other_judge_from_going_on(until, judge):
    nowhere = Judge("away", Endpoint("http://127.0.0.1:9/v1", "m", "secret-key"))
    run, stop = until(0.75, judges=(nowhere, judge), batch=2)
    assert (stop.reason, list(run.stopped)) == (REACHED, ["away"])
    assert stop.rubrics == stop.judgements > 0


def test_one_pace_holds_for_a_judge_through_all_batches(until, judge, monkeypatch):
    paces, turns = [], []

    class Counted(Pace):
        def __init__(self, *args):
            paces.append(args)
            super().__init__(None)

        def wait(self, cancel):
            turns.append(self)
            return super().wait(cancel)

    monkeypatch.setattr(asking, "Pace", Counted)
    until(0.001, judges=(replace(judge, requests_per_minute=60),), batch=5)
    assert paces == [(60,)]
    assert len(turns) == 15


def test_a_cancelled_run_says_so(until):
    cancel = threading.Event()
    _, stop = until(0.001, batch=3, watch=Watch(lambda share, what: cancel.set(), cancel))
    assert stop.reason == CANCELLED
    assert stop.rubrics >= 1


def test_it_stops_once_the_rest_would_not_change_the_tier(until, bank_scale, monkeypatch):
    monkeypatch.setattr(outlook, "DRAWS", 60)
    _, stop = until(None, tier=0.9, batch=3)
    new = read_new_labels(bank_scale, until.path)
    (placed,) = place_systems(bank_scale, new).placements
    assert stop.outlook.tier == placed.standing.tier[-1]
    assert stop.reason == (SETTLED if stop.rubrics < 15 else EXHAUSTED)
    assert stop.outlook.probability >= 0.9
    before = Forecast(bank_scale).outlook(np.full(15, np.nan), bank_scale.bank)
    assert not before.settled(0.9)


def test_the_standard_error_may_come_before_the_tier(until):
    _, stop = until(1e9, tier=0.99, batch=3)
    assert (stop.reason, stop.rubrics) == (REACHED, 3)


@pytest.mark.parametrize(
    "options",
    [
        {"target": 0},
        {"target": float("nan")},
        {"target": 0.5, "batch": 0},
        {"target": None, "tier": 1.0},
        {"target": None, "tier": 0.3},
        {"target": None},
    ],
)
def test_what_makes_no_sense_is_refused(until, options):
    with pytest.raises(SettingsError, match=r"until|Say when to stop"):
        until(**options)


def test_whole_queries_have_no_most_informative_criterion(until):
    with pytest.raises(SettingsError, match="per query"):
        until(0.5, per="query")
