"""bank.json: whole, stable ids, the same bytes; damaged or of another schema is refused with one sentence."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from crubric_core import Settings, Workspace, run_pipeline
from crubric_core.bank.identity import bank_id, find_token, rubric_ids, token
from crubric_core.composition import Composition
from crubric_core.demo import simulate
from crubric_core.errors import PlacementError
from crubric_core.placement.bank_file import SCHEMA, bank_bytes, bank_digest, read_bank, read_bank_bytes
from crubric_core.placement.bank_scale import bank_scale_of
from crubric_core.priors import Priors
from crubric_core.scoring_rules import ScoringRules


@pytest.fixture(scope="module")
def bank_scale():
    made = simulate(seed=2, systems=7, queries=8, pool=(6, 8))
    with Workspace() as workspace:
        for kind in ("queries", "rubrics", "labels"):
            workspace.ingest(getattr(made, kind).to_csv(index=False).encode(), "small", kind)
        dataset = workspace.dataset("small")
        return bank_scale_of(run_pipeline(dataset, Settings(budget=15)), dataset.panel())


@pytest.fixture(scope="module")
def content(bank_scale):
    return bank_bytes(bank_scale)


def changed(content, edit):
    found = json.loads(content)
    edit(found)
    return json.dumps(found).encode()


def test_what_is_read_back_is_written_as_the_same_bytes(content):
    assert bank_bytes(read_bank_bytes(content, "bank.json")) == content


def test_a_bank_that_is_read_back_has_all_its_settings(bank_scale):
    """A gate that was not read back became another one, and a threshold below 0 could not be read at all."""
    settings = Settings(
        gate="kappa",
        tau_c=-0.1,
        strategy="greedy",
        population="domains",
        simultaneous=False,
        priors=Priors(b_sd=1.5, c_beta=None),
        rules=ScoringRules(creativity=2.0),
        composition=Composition(pins=("r",)),
    )
    again = read_bank_bytes(bank_bytes(replace(bank_scale, settings=settings)), "bank.json")
    assert again.settings == settings
    assert bank_digest(again) == bank_digest(replace(bank_scale, settings=settings))


def test_every_rubric_carries_what_a_placement_and_a_judge_need(bank_scale, content):
    rubrics = json.loads(content)["rubrics"]
    assert [r["order"] for r in rubrics] == list(range(1, 16))
    for rubric in rubrics:
        assert {"id", "query", "text", "scale_min", "scale_max", "pass_mark", "points", "polarity"} <= set(
            rubric
        )
        assert np.isfinite([rubric["parameters"][name] for name in ("a", "b", "log_a_sd", "b_sd")]).all()
    assert {r["query"] for r in rubrics} == {q["query"] for q in json.loads(content)["queries"]}


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [
        (
            lambda c: c.update(schema="crubric-bank/99"),
            "its schema is 'crubric-bank/99', where 'crubric-bank/1'",
        ),
        (lambda c: c.pop("schema"), "it names no schema"),
        (lambda c: c["rubrics"][0].update(polarity=-1), "was damaged or edited since it was written"),
        (lambda c: c["rubrics"].pop(), "was damaged or edited since it was written"),
        (lambda c: c.update(bank_id="0" * 12), "names the bank 000000000000, but its rubrics are those of"),
    ],
)
def test_a_changed_file_is_refused_with_one_sentence(content, edit, sentence):
    with pytest.raises(PlacementError, match=sentence) as caught:
        read_bank_bytes(changed(content, edit), "bank.json")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("broken", [b"", b"[]", b"{", b"\xff\xfe", b'{"schema": "%s"}' % SCHEMA.encode()])
def test_what_is_no_bank_at_all_is_refused(broken):
    with pytest.raises(PlacementError):
        read_bank_bytes(broken, "bank.json")


def test_a_place_without_a_bank_is_refused(tmp_path):
    with pytest.raises(PlacementError, match=r"holds no bank .*name a bank.json"):
        read_bank(tmp_path)


def test_an_id_does_not_depend_on_other_rubrics_or_on_spelling():
    queries, texts, names = ["q", "q", "p"], ["Is it true?", None, "Is it true?"], ["q#0", "q#1", "p#0"]
    whole = rubric_ids(queries, texts, names)
    assert rubric_ids(["q"], ["  is it  TRUE?"], ["another name"])[0] == whole[0]
    assert rubric_ids(["q"], [None], ["1"])[0] == whole[1]
    assert len(set(whole)) == 3


def test_names_that_look_alike_have_ids_of_their_own():
    """``q`` with ``a#b`` and ``q#a`` with ``b`` come to the same text once joined."""
    first, second = rubric_ids(["q", "q#a"], [None, None], ["a#b", "b"])
    assert first != second
    twins = rubric_ids(["q", "q"], ["same", "same"], ["x", "y"])
    assert twins[0] != twins[1]


def test_a_banks_id_is_of_its_content_not_of_its_order():
    rubrics = [("crb-1", 0, 1, 1), ("crb-2", 1, 5, -1)]
    assert bank_id(rubrics) == bank_id(rubrics[::-1])
    for other in (rubrics[:1], [("crb-1", 0, 1, -1), rubrics[1]], [("crb-1", 0, 2, 1), rubrics[1]]):
        assert bank_id(other) != bank_id(rubrics)


def test_a_token_is_found_in_whatever_text_holds_it():
    said = token("crb-0123456789abcdef", "0123456789ab")
    assert find_token(None, f"q7#{said}") == ("crb-0123456789abcdef", "0123456789ab")
    assert find_token("crb-0123456789abcdef") == ("crb-0123456789abcdef", None)
    assert find_token("crb-0123456789abcdef0", "crb-xyz", "") is None


def test_bank_csv_names_the_same_ids_with_points_and_polarity(bank_scale):
    made = simulate(seed=2, systems=7, queries=8, pool=(6, 8))
    with Workspace() as workspace:
        for kind in ("queries", "rubrics", "labels"):
            workspace.ingest(getattr(made, kind).to_csv(index=False).encode(), "small", kind)
        table = run_pipeline(workspace.dataset("small"), Settings(budget=15)).bank
    ours = bank_scale.rubrics.sort_values("order", ignore_index=True)
    pd.testing.assert_series_equal(table["id"], ours["id"], check_dtype=False)
    assert table["polarity"].tolist() == ours["polarity"].tolist()
