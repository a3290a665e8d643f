"""Tiers of tests: `make test-all` runs everything that the fast tier skips."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from hypothesis import settings

from tests.slow_tests import is_slow, listed, slowest
from tests.tiers import examples

ROOT = Path(__file__).resolve().parents[1]


def test_the_slowest_are_chosen_so_that_the_rest_keeps_the_budget() -> None:
    seconds = Counter({"a": 5.0, "b": 0.5, "c": 1.0, "d": 2.0})
    assert slowest(seconds, 3.5) == ["a"]
    assert slowest(seconds, 1.5) == ["a", "d"]
    assert slowest(seconds, 100) == []


def test_a_case_is_slow_by_its_function_or_its_file() -> None:
    names = frozenset({"tests/a.py::test_x", "tests/b.py"})
    assert is_slow("tests/a.py::test_x[1-[2]]", names)
    assert is_slow("tests/b.py::Test::test_y", names)
    assert not is_slow("tests/a.py::test_xy", names)


def test_the_list_names_what_there_is() -> None:
    for name in listed():
        path, _, function = name.partition("::")
        source = (ROOT / path).read_text("utf-8")
        assert not function or re.search(rf"def {function.split('::')[-1]}\(", source), name


def test_the_fast_tier_leaves_out_every_marker_and_the_other_none() -> None:
    makefile, project = ((ROOT / name).read_text("utf-8") for name in ("Makefile", "pyproject.toml"))
    markers = re.findall(r'^  "(\w+): ', re.search(r"^markers = \[(.*?)^\]", project, re.M | re.S)[1], re.M)
    joined = makefile.replace("\\\n\t", "")
    rules = dict(re.findall(r"^([a-z-]+): .*\n\t@(.*pytest.*|.*PYTEST.*)$", joined, re.M | re.I))
    left_out = re.search(r'-m "not \((.*?)\)"', rules["test"])[1].split(" or ")
    assert sorted(left_out) == sorted(markers)
    assert "-m " not in rules["test-all"]
    assert "CRUBRIC_TESTS=all" in rules["test-all"]
    assert "check & checked=$$!" in rules["test-all"], "linters and types run beside the tests"
    assert "wait $$checked || {" in rules["test-all"], "and what they find fails the run"
    assert "test-all" in (ROOT / ".ci/run").read_text("utf-8")


def test_examples_scale_by_tier() -> None:
    share = settings.default.max_examples / 100
    assert examples(100) == 100 * share
    assert examples(10) == max(5, 10 * share)
