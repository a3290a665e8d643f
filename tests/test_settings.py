"""Settings refuse what no analysis can use."""

from __future__ import annotations

import dataclasses
import json
import shlex
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from crubric_core import Priors, Settings
from crubric_core.__main__ import build_parser
from crubric_core.commands.options import settings_of
from crubric_core.commands.settings import setting_rows, settings_markdown
from crubric_core.composition import Composition
from crubric_core.declarations import Parameter, specs_of
from crubric_core.errors import SettingsError
from crubric_core.settings import LOWEST_TAU, PRESETS, SPECS
from crubric_core.ui.experiments.commands import command, report_command


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("tau_c", 1.2), ("tau_c", -0.1), ("tau_c", float("nan")), ("budget", 0), ("budget", 2.5), ("budget", True),
        ("model", "4PL"), ("quadrature", "fine"), ("strategy", "best"), ("tie", "coin"), ("tier_rule", "x"),
        ("bootstrap", "jackknife"), ("agreement_tolerance", -1), ("alpha", 0.0), ("beta", float("inf")),
        ("gate", "alpha"), ("agreement", "x"), ("prior", "flat"), ("basis", "x"), ("population", "x"),
        ("simultaneous", 1), ("cross_fitted", None), ("holm", "yes"), ("budget", None),
        ("tau_t", 2.0), ("replicates", 1), ("confidence", 1.0), ("seed", -1), ("model", ["2PL"]),
    ],
)  # fmt: skip
def test_a_value_out_of_range_is_named_with_what_was_expected(name, value):
    with pytest.raises(SettingsError, match=rf"{name} = .*: expected "):
        Settings(**{name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("log_a_sd", 0.0), ("b_sd", -1.0), ("c_beta", (0.5, 3.0)), ("c_beta", "ab"), ("c_beta", (float("inf"), 2)),
        ("c_beta", (2, 3, 4)), ("c_beta", 5),
    ],
)  # fmt: skip
def test_a_prior_out_of_range_is_named(name, value):
    with pytest.raises(SettingsError, match=f"{name} = "):
        Priors(**{name: value})


@pytest.mark.parametrize("name", ["rules", "composition"])
def test_a_structure_that_is_none_is_named(name):
    with pytest.raises(SettingsError, match=f"{name} = "):
        Settings(**{name: {"a": 1}})


def test_numbers_of_numpy_are_numbers():
    given = Settings(budget=np.int64(5), confidence=np.float64(0.9))
    assert given == Settings(budget=5, confidence=0.9)
    assert json.loads(json.dumps(given.as_dict()))["budget"] == 5


def test_settings_cannot_be_changed_and_can_be_a_key():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Settings().tau_c = 0.5
    assert len({Settings(), Settings(gate="kappa"), Settings(tau_c=0.7)}) == 2


def test_the_graded_model_reads_ordered_labels():
    assert Settings(model="GRM").response == "ordered"
    assert Settings(model="3PL").response == "binary"


def test_every_setting_is_declared_or_is_a_structure_of_its_own():
    assert set(Settings.names()) - set(SPECS) == {"priors", "rules", "composition"}
    assert all(spec.title and spec.help.endswith(".") for spec in SPECS.values())


def test_the_help_names_every_choice_and_its_meaning():
    spec = SPECS["gate"]
    assert all(f"{name}: {meaning}." in spec.help for name, meaning in spec.choices.items())


@pytest.mark.parametrize(
    ("more", "expected", "inside", "outside"),
    [
        ({"low": 0, "high": 1}, "a number from 0 to 1", [0, 1, 0.5], [-0.1, 1.1, None, "0", True]),
        ({"low": 0, "high": 1, "open": True}, "a number between 0 and 1", [0.5], [0, 1]),
        ({"low": 0, "open": True}, "a number above 0", [1e-9, 5], [0, float("inf"), float("nan")]),
        ({"low": 2, "whole": True}, "a whole number of at least 2", [2, 3], [1, 2.5, 2.0]),
        ({"low": 0, "high": 1, "none": "off"}, "a number from 0 to 1, or None", [None, 0.3], [2]),
        ({"choices": {"a": "one", "b": "two"}}, "one of a, b", ["a"], ["c", 1]),
    ],
)
def test_bounds_and_choices_are_said_as_they_are_checked(more, expected, inside, outside):
    spec = Parameter("Text.", **more)
    assert spec.expected == expected
    assert [spec.allows(value) for value in inside] == [True] * len(inside)
    assert [spec.allows(value) for value in outside] == [False] * len(outside)


def test_the_robust_preset_is_the_default():
    assert Settings.preset() == Settings.preset("robust") == Settings()
    robust = Settings()
    assert (robust.gate, robust.prior, robust.tau_c) == ("kappa", "estimated", None)
    assert (robust.strategy, robust.basis, robust.population) == ("pairs", "all", "queries")
    assert robust.simultaneous
    assert robust.cross_fitted
    assert robust.tier_rule == "leader"


def test_the_paper_preset_is_algorithm_1_as_printed():
    paper = Settings.preset("paper", budget=50)
    assert (paper.tau_c, paper.gate, paper.agreement, paper.prior) == (0.8, "agreement", "unanimous", "fixed")
    assert (paper.alpha, paper.beta, paper.strategy, paper.quadrature) == (1, 1, "greedy", "grid")
    assert (paper.basis, paper.population, paper.bootstrap) == ("bank", "rubrics", "plain")
    assert (paper.cross_fitted, paper.simultaneous, paper.tier_rule) == (False, False, "adjacent")
    assert paper.budget == 50


def test_an_unknown_preset_is_named():
    with pytest.raises(SettingsError, match="preset = 'best' is unknown: expected one of robust, paper"):
        Settings.preset("best")


def test_a_threshold_alone_means_the_gate_of_the_paper():
    old = Settings(tau_c=0.7)
    assert (old.gate, old.agreement, old.prior, old.alpha, old.beta) == (
        "agreement",
        "unanimous",
        "fixed",
        1,
        1,
    )
    assert Settings(tau_c=0.7, gate="kappa").gate == "kappa"
    assert Settings(tau_c=0.7, gate="kappa").prior == "estimated"
    assert Settings(tau_c=0.7, prior="estimated").prior == "estimated"
    assert Settings(alpha=2.0).prior == "fixed"


PARSER = build_parser()
SOME = {
    "tau_c": [None, -0.5, 0.05, 0.8], "gate": ["kappa", "agreement"], "prior": ["estimated", "fixed"],
    "alpha": [1.0, 2.5], "strategy": ["pairs", "greedy"], "quadrature": ["adaptive", "grid"], "basis": ["all", "bank"],
    "cross_fitted": [True, False], "tier_rule": ["leader", "adjacent"], "budget": [200, 7],
}  # fmt: skip


@hypothesis_settings(deadline=None)
@given(st.fixed_dictionaries({name: st.sampled_from(values) for name, values in SOME.items()}))
def test_any_settings_are_a_preset_and_what_differs_from_it(values):
    assume(values["tau_c"] is None or values["tau_c"] >= LOWEST_TAU[values["gate"]])
    settings = Settings(**values)
    preset, told = settings.explicit()
    assert Settings.preset(preset, **told) == settings
    words = shlex.split(command("sweep", "w.duckdb", "d", settings))
    assert settings_of(PARSER.parse_args(words[words.index("experiment") :])) == settings
    assert Settings.from_dict(json.loads(json.dumps(settings.as_dict()))) == settings


def test_options_go_before_the_preset():
    parse = build_parser().parse_args
    inputs = ["build", "--labels", "labels.csv", "--out", "out"]
    args = parse([*inputs, "--preset", "paper", "--budget", "50", "--tau-c", "none"])
    assert settings_of(args) == Settings.preset("paper", budget=50, tau_c=None)
    assert settings_of(parse([*inputs, "--tau-c", "0.7"])) == Settings(tau_c=0.7)
    assert settings_of(parse(inputs)) == Settings()


def test_a_preset_sets_declared_settings_only():
    assert all(set(values) <= set(SPECS) for values in PRESETS.values())
    assert set(specs_of(Priors)) == {"log_a_sd", "b_sd"}


@pytest.mark.parametrize(
    ("options", "priors"),
    [
        ([], Priors()),
        (["--log-a-sd", "0", "--b-sd", "0", "--no-c-prior"], Priors.flat()),
        (["--b-sd", "3"], Priors(b_sd=3.0)),
    ],
)
def test_priors_can_be_told_on_the_command_line(options, priors):
    args = build_parser().parse_args(["build", "--labels", "labels.csv", "--out", "out", *options])
    assert settings_of(args) == Settings(priors=priors)


def test_a_page_spells_out_the_command_that_gives_the_same_settings():
    chosen = Settings(tau_c=0.6, model="GRM", clip=False, priors=Priors(log_a_sd=None, b_sd=3.0, c_beta=None))
    words = shlex.split(command("sweep", "w.duckdb", "d", chosen))
    assert settings_of(build_parser().parse_args(words[3:])) == chosen


def test_the_command_of_a_report_names_the_file_of_a_bank_composed_by_hand():
    composed = Settings(composition=Composition(pins=("r1",)))
    words = shlex.split(report_command(["sweep"], "w.duckdb", "d", composed))
    assert build_parser().parse_args(words[words.index("report") :]).composition == Path("composition.json")
    assert "--composition" not in shlex.split(command("sweep", "w.duckdb", "d", composed))
    assert "--composition" not in report_command(["sweep"], "w.duckdb", "d", Settings())


def test_the_page_of_settings_is_the_one_that_the_declarations_make():
    page = Path(__file__).resolve().parents[1] / "docs" / "settings.md"
    assert page.read_text("utf-8") == settings_markdown(), (
        "write it anew: crubric settings --markdown > docs/settings.md"
    )


def test_every_setting_is_described_with_its_default_and_that_of_the_paper():
    rows = {row["name"]: row for row in setting_rows()}
    assert set(rows) == {*SPECS, *specs_of(Priors), "c_prior"}
    assert all(len(row["help"].split()) > 3 for row in rows.values()), "each says what it is"
    assert (rows["gate"]["default"], rows["gate"]["paper"]) == ("kappa", "agreement")
    assert rows["budget"]["allowed"] == "a whole number of at least 1"
