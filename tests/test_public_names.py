"""Every public name documents what it takes, gives and raises, section by section (numpydoc)."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

import crubric_core
from crubric_core import Priors, Settings, Workspace
from crubric_core.judges.measurability import MeasurabilityPosterior

FUNCTIONS: list[Callable[..., object]] = [
    crubric_core.fit_irt,
    crubric_core.fit_many_facet,
    crubric_core.greedy_bank,
    crubric_core.item_information,
    crubric_core.measurability_posterior,
    crubric_core.plan_ingest,
    crubric_core.run_pipeline,
    MeasurabilityPosterior.interval,
    MeasurabilityPosterior.p_above,
    Settings.preset,
    Workspace.dataset,
    Workspace.ingest,
    Workspace.ingest_plan,
]
CLASSES = [getattr(crubric_core, name) for name in crubric_core.__all__ if name[0].isupper()]
CLASSES += [MeasurabilityPosterior]
PACKAGE = Path(crubric_core.__file__).parent
NOT_ALONE = ("The same", "Of ", "As of ")
NOT_YET = (
    *("ui/data", "ui/leaderboard", "ui/publish"),
    *(f"analysis/{name}.py" for name in ("dimensions", "groups", "human_labels", "lasting", "profile")),
)
"""Where docstrings that need their neighbour are not yet rewritten."""


def sections(owner: object) -> dict[str, str]:
    """Title → content of a docstring's underlined sections."""
    parts = re.split(r"^(\w[\w ]*)\n-+$", inspect.getdoc(owner) or "", flags=re.MULTILINE)
    return {title: content.strip("\n") for title, content in zip(parts[1::2], parts[2::2], strict=True)}


def entries(content: str) -> dict[str, str]:
    """Name → description of the entries ``name, name : type`` of a section."""
    found = {}
    for block in re.split(r"\n(?=\S)", content):
        head, _, text = block.partition("\n")
        for name in head.split(" : ")[0].split(", "):
            found[name.lstrip("*")] = " ".join(text.split())
    return found


def named(function: Callable[..., object]) -> list[str]:
    return [name for name in inspect.signature(function).parameters if name not in {"self", "cls"}]


def test_every_public_function_is_looked_at() -> None:
    public = [getattr(crubric_core, name) for name in crubric_core.__all__]
    assert {name for name in public if inspect.isfunction(name)} <= set(FUNCTIONS)
    assert {name for name in public if inspect.isclass(name)} <= set(CLASSES)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__qualname__)
def test_a_public_function_documents_parameters_in_order_and_what_it_returns(
    function: Callable[..., object],
) -> None:
    found = sections(function)
    described = entries(found["Parameters"])
    assert list(described) == named(function)
    assert all(text.endswith(".") for text in described.values()), described
    assert all(entries(found["Returns"]).values())


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__qualname__)
def test_what_a_public_function_says_that_it_raises_is_an_error_of_ours(
    function: Callable[..., object],
) -> None:
    for name in entries(sections(function).get("Raises", "")):
        if name:
            assert issubclass(getattr(crubric_core.errors, name), crubric_core.errors.CrubricError)


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_a_public_class_documents_every_field(kind: type) -> None:
    found = sections(kind)
    described = entries(found.get("Parameters", "")) | entries(found.get("Attributes", ""))
    expected = [field.name for field in fields(kind)] if is_dataclass(kind) else named(kind.__init__)
    assert set(described) - {""} == set(expected)
    assert all(text.endswith(".") for name, text in described.items() if name), described


@pytest.mark.parametrize("name", ["fit_irt", "fit_many_facet", "item_information", "greedy_bank"])
def test_an_estimator_cites_its_formula_and_its_source(name: str) -> None:
    found = sections(getattr(crubric_core, name))
    assert "docs/method.md §" in found["Notes"]
    assert re.search(r"\(\d{4}\)", found["References"])


def test_arrays_are_given_with_their_shapes() -> None:
    for function in FUNCTIONS[:5]:
        for line in sections(function)["Parameters"].splitlines():
            if " : " in line and "array" in line:
                assert re.search(r"\([A-Z](, [A-Z])*,?\)", line), line


def test_the_documentation_of_a_setting_is_its_declaration() -> None:
    described = entries(sections(Settings)["Parameters"])
    assert "lowest quarter" in described["tau_c"]
    assert set(described) == set(Settings.names())
    assert entries(sections(Priors)["Parameters"]).keys() == {"log_a_sd", "b_sd", "c_beta"}


def test_a_docstring_can_be_read_without_its_neighbour() -> None:
    found = [
        f"{path.relative_to(PACKAGE)}:{node.lineno} {node.name}: {text.splitlines()[0]}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if not path.relative_to(PACKAGE).as_posix().startswith(NOT_YET)
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        if (text := ast.get_docstring(node) or "").startswith(NOT_ALONE)
    ]
    assert not found, "help() shows a docstring alone: name the quantity.\n" + "\n".join(found)
