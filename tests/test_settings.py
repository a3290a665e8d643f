"""Settings refuse what no analysis can use."""

from __future__ import annotations

import dataclasses
import shlex

import pytest
from crubric_core.ui.experiments.runs.words import command

from crubric_core import Priors, Settings
from crubric_core.__main__ import build_parser
from crubric_core.commands.options import settings_of
from crubric_core.errors import SettingsError
from crubric_core.settings import HELP


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("tau_c", 1.2), ("tau_c", -0.1), ("tau_c", float("nan")), ("budget", 0), ("budget", 2.5), ("budget", True),
        ("model", "4PL"), ("quadrature", "fine"), ("strategy", "best"), ("tie", "coin"), ("tier_rule", "x"),
        ("bootstrap", "jackknife"), ("agreement_tolerance", -1), ("alpha", 0.0), ("beta", float("inf")),
        ("tau_t", 2.0), ("replicates", 1), ("confidence", 1.0), ("seed", -1),
    ],
)  # fmt: skip
def test_a_value_out_of_range_is_named_with_what_was_expected(name, value):
    with pytest.raises(SettingsError, match=rf"{name} = .*: expected "):
        Settings(**{name: value})


@pytest.mark.parametrize(("name", "value"), [("log_a_sd", 0.0), ("b_sd", -1.0), ("c_beta", (0.5, 3.0))])
def test_a_prior_out_of_range_is_named(name, value):
    with pytest.raises(SettingsError, match=f"{name} = "):
        Priors(**{name: value})


def test_settings_cannot_be_changed_and_can_be_a_key():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Settings().tau_c = 0.5
    assert len({Settings(), Settings(tau_c=0.8), Settings(tau_c=0.7)}) == 2


def test_the_graded_model_reads_ordered_labels():
    assert Settings(model="GRM").response == "ordered"
    assert Settings(model="3PL").response == "binary"


def test_every_setting_has_a_line_of_help_or_is_a_structure_of_its_own():
    assert set(Settings.names()) - set(HELP) == {"priors", "rules"}


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
