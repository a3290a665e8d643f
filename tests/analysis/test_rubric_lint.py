"""The lint of rubric texts against texts labelled by hand, and its duplicates and signs against slow oracles."""

from __future__ import annotations

import re
import tomllib
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from crubric_core.analysis.rubric_lint import KINDS, SIMILAR, lint, lint_table

TEXTS = tomllib.loads(Path(__file__).with_name("lint_texts.toml").read_text("utf-8"))["text"]
NAMES = {"two": "two demands", "none": "no observable", "vague": "vague words"}
LEAST = {"two demands": (0.9, 0.6), "no observable": (0.9, 0.7), "vague words": (0.9, 0.9)}


def kinds_of(text: str) -> set[str]:
    """The kinds of finding that a text alone gives."""
    return {finding.kind for finding in lint([text], ["q"], *np.full((2, 1), np.nan), 0)}


def accuracy(kind: str) -> tuple[float, float, int]:
    """Precision, recall, and the number of texts that have the fault."""
    true = np.array([kind in {NAMES[name] for name in text["is"]} for text in TEXTS])
    said = np.array([kind in kinds_of(text["text"]) for text in TEXTS])
    both = (true & said).sum()
    return float(both / max(said.sum(), 1)), float(both / true.sum()), int(true.sum())


@pytest.mark.parametrize("kind", LEAST)
def test_precision_and_recall_on_texts_labelled_by_hand(kind):
    precision, recall, n = accuracy(kind)
    wrong = [
        t["text"] for t in TEXTS if (kind in kinds_of(t["text"])) != (kind in {NAMES[i] for i in t["is"]})
    ]
    print(
        f"{kind}: precision {precision:.2f}, recall {recall:.2f} on {n} of {len(TEXTS)} texts; wrong: {wrong}"
    )
    assert (precision >= LEAST[kind][0], recall >= LEAST[kind][1]) == (True, True), wrong


def one_query(texts, n_systems=0, item_rest=None, chance=None):
    unknown = np.full(len(texts), np.nan)
    rest, low = (unknown if given is None else np.array(given) for given in (item_rest, chance))
    return lint(texts, ["q"] * len(texts), rest, low, np.broadcast_to(n_systems, len(texts)))


def test_near_duplicates_are_those_of_a_slow_comparison_of_all_pairs():
    rng = np.random.default_rng(0)
    words = [f"word{k}" for k in range(12)]
    texts = [" ".join(rng.permutation(words)[: rng.integers(8, 13)]) for _ in range(40)]
    sets = [set(re.findall(r"\w+", text)) for text in texts]
    slow = {
        later
        for earlier, later in combinations(range(40), 2)
        if len(sets[later] & sets[earlier]) / len(sets[later] | sets[earlier]) >= SIMILAR
    }
    found = {f.rubric for f in one_query(texts) if f.kind == "near-duplicate"}
    assert found == slow
    assert slow


def test_the_same_words_in_another_query_are_no_duplicate():
    found = lint(["Names the source."] * 2, ["q1", "q2"], *np.full((2, 2), np.nan), np.zeros(2, dtype=int))
    assert found == ()


def test_a_sign_is_suspected_only_beyond_what_chance_gives():
    rest, chance = [-0.7, -0.6, np.nan, 0.9, 0.1], [0.01, 0.02, np.nan, 1.0, 0.001]
    found = [f for f in one_query([None] * 5, 10, rest, chance) if f.kind == "sign"]
    assert [(f.rubric, f.seen) for f in found] == [(0, "item–rest r = −0.70 over 10 systems")]


def test_texts_in_other_languages_and_absent_ones_are_left_alone():
    assert one_query([None, "", "Nennt die Quelle und erklärt angemessen, warum sie gilt.", "引用来源"]) == ()


def test_every_finding_has_a_meaning_and_a_row():
    found = one_query(["Names the source and explains the appropriate rule.", "overall quality"])
    table = lint_table(found)
    assert table["at"].tolist() == [f.rubric for f in found]
    assert set(table["kind"]) <= set(KINDS)
