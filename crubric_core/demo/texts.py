"""Prompts and rubric sentences of the simulated study, composed from the TOML files beside this module.

A scenario is a kind of question with four askers (cases); each task type has a scenario file of its name. A rubric
sentence is a pattern of its dimension, filled with words of the scenario. Within a query no sentence occurs twice;
hardly any sentence occurs in two queries.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from ..labels.readers.columns.specs import TASK_TYPES

HERE = Path(__file__).parent
FILLERS = ("fact", "concept", "error", "source", "action", "hazard", "touch")
OPENINGS = ("", "The response ", "The answer ")
SPECIALS = {"everyone_passes": 0.45, "everyone_fails": 0.35, "aberrant": 0.35, "repeated": 0.06}
"""Share of the queries whose pool has a rubric of this kind."""


@dataclass(frozen=True)
class Case:
    """One prompt of a scenario, which becomes a query. fillers, slots: words for the patterns of rubric sentences."""

    query: str
    task_type: str
    domain: str
    text: str
    fillers: Mapping[str, tuple[str, ...]]
    slots: Mapping[str, str]


@dataclass(frozen=True)
class Sentence:
    """One rubric before it has an id: ``kind`` is "regular" or one of SPECIALS."""

    text: str
    dimension: str
    kind: str = "regular"


@cache
def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((HERE / f"{name}.toml").read_text(encoding="utf-8"))


def criteria() -> dict[str, Any]:
    """The patterns by dimension, the mix of dimensions by task type, and their firmness."""
    return _read("criteria")


def names() -> dict[str, Any]:
    """The invented systems, judges and annotators."""
    return _read("names")


@cache
def cases() -> tuple[Case, ...]:
    """All prompts: the first case of every scenario, then the second cases, and so on."""
    scenarios = [
        (task_type, scenario)
        for task_type in TASK_TYPES
        for scenario in _read(f"scenarios/{task_type}")["scenario"]
    ]
    return tuple(
        _case(task_type, scenario, number)
        for number in range(max(len(s["case"]) for _, s in scenarios))
        for task_type, scenario in scenarios
        if number < len(scenario["case"])
    )


def _case(task_type: str, scenario: Mapping[str, Any], number: int) -> Case:
    case = scenario["case"][number]
    fillers = {slot: (*scenario.get(slot, ()), *case.get(slot, ())) for slot in FILLERS}
    fillers |= {"ask": tuple(case["ask"]), "case": ("",)}
    return Case(
        query=f"{scenario['id']}-{number + 1}",
        task_type=task_type,
        domain=scenario["domain"],
        text=case["prompt"],
        fillers=fillers,
        slots={"subject": case["subject"], "audience": case["audience"]},
    )


def compose_pool(case: Case, size: int, used: set[str], rng: np.random.Generator) -> list[Sentence]:
    """``size`` different sentences for one query, in a random order; they are added to ``used``.

    Each dimension gets its share of the mix, each fact or concept is used once before any is used again, and
    sentences in ``used``, by other queries, come last.
    """
    opening = OPENINGS[rng.integers(len(OPENINGS))]
    specials = list(_specials(case, rng))
    ranked = sorted(_candidates(case, used, rng), key=itemgetter(0, 1))
    chosen = specials + [sentence for *_, sentence in ranked[: size - len(specials)]]
    used.update(sentence.text for sentence in chosen)
    return [_opened(chosen[k], opening) for k in rng.permutation(len(chosen))]


def _specials(case: Case, rng: np.random.Generator) -> Iterator[Sentence]:
    for kind, share in SPECIALS.items():
        for dimension, patterns in criteria()["special"][kind].items():
            pattern = patterns[rng.integers(len(patterns))]
            if rng.random() < share:
                yield Sentence(pattern.format_map(case.slots), dimension, kind)


def _candidates(
    case: Case, used: set[str], rng: np.random.Generator
) -> Iterator[tuple[bool, float, Sentence]]:
    """All candidate sentences as (already used, priority, sentence); the lowest enter the query's rubrics first."""
    for dimension, share in criteria()["mix"][case.task_type].items():
        for place, text in enumerate(_filled(case, dimension, rng)):
            yield text in used, (place + rng.random()) / share, Sentence(text, dimension)


def _filled(case: Case, dimension: str, rng: np.random.Generator) -> list[str]:
    """The sentences of one dimension, ordered so that all fillers are used n - 1 times before any is used n times."""
    rounds: list[tuple[float, str]] = []
    for slot, patterns in criteria()["criteria"][dimension].items():
        for filler in case.fillers[slot]:
            order = rng.permutation(len(patterns)) + rng.random(len(patterns))
            rounds += [
                (turn, pattern.format_map({**case.slots, slot: filler}))
                for turn, pattern in zip(order, patterns, strict=True)
            ]
    return [text for _, text in sorted(rounds)]


def _opened(sentence: Sentence, opening: str) -> Sentence:
    if not opening or sentence.kind == "repeated":
        return sentence
    return replace(sentence, text=opening + sentence.text[0].lower() + sentence.text[1:])
