"""The classifier that needs no network and no download: it finds cues of a lexicon that users can read and change."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from scipy.special import softmax

from ..errors import SettingsError
from ..types import FloatArray
from .classifier import UNWATCHED, Watch
from .domain import is_request
from .types import TASK_TYPES

WEIGHTS: Mapping[str, float] = {"strong": 3.0, "fair": 2.0, "weak": 1.0}
"""Log-odds that a cue adds to its type. A single strong cue gives probability .87, fair .71, weak .48 (below 0.5)."""

HEAD, TAIL = 1200, 800
"""Characters read at the start and the end of a long text, where the request usually is."""

_LEXICON = Path(__file__).with_name("lexicon.toml")


@dataclass(frozen=True)
class Cue:
    """A cue found in a text. task_type: the type that it supports. strength, weight: how strongly. words: the match."""

    task_type: str
    strength: str
    weight: float
    words: str


@dataclass(frozen=True)
class LexiconClassifier:
    """Pr(type | text) ∝ exp(sum of the weights of the type's cues in the text).

    lexicon: type → strength → regular expressions. A text without any cue gets ¼ for each type. A text that is not a
    request (``is_request``) gets NaN, since it is outside the classifier's domain. Raises SettingsError for an unknown
    type or strength.
    """

    lexicon: Mapping[str, Mapping[str, Sequence[str]]]
    name: str = "offline"

    def __post_init__(self) -> None:
        invalid = set(self.lexicon) - set(TASK_TYPES) | {
            strength for cues in self.lexicon.values() for strength in cues if strength not in WEIGHTS
        }
        if invalid:
            raise SettingsError(
                f"The lexicon names {sorted(invalid)[0]!r}: use the task types and, below them, strong, fair, weak."
            )

    def probabilities(self, texts: Sequence[str | None], watch: Watch = UNWATCHED) -> FloatArray:
        """(N, 4) in the order of TASK_TYPES; NaN rows for blank texts, texts without a request, and after a stop."""
        found = np.full((len(texts), len(TASK_TYPES)), np.nan)
        for n, text in enumerate(texts):
            if watch.stopped:
                break
            if isinstance(text, str) and text.strip() and is_request(text):
                found[n] = softmax(self._scores(text))
            if (n + 1) % 100 == 0:
                watch.report((n + 1) / len(texts), f"Classified {n + 1:,} of {len(texts):,} queries")
        return found

    def explain(self, text: str) -> tuple[Cue, ...]:
        """All cues in the text, the strongest first."""
        asked = text if len(text) <= HEAD + TAIL else f"{text[:HEAD]} {text[-TAIL:]}"
        cues = [
            Cue(task_type, strength, WEIGHTS[strength], match[0])
            for task_type, strengths in self.lexicon.items()
            for strength, patterns in strengths.items()
            for pattern in patterns
            if (match := _compiled(pattern).search(asked))
        ]
        return tuple(sorted(cues, key=lambda cue: -cue.weight))

    def _scores(self, text: str) -> FloatArray:
        scores = dict.fromkeys(TASK_TYPES, 0.0)
        for cue in self.explain(text):
            scores[cue.task_type] += cue.weight
        return np.array(list(scores.values()))


@cache
def offline_classifier() -> LexiconClassifier:
    """The default classifier, with the lexicon of this package."""
    return LexiconClassifier(tomllib.loads(_LEXICON.read_text("utf-8")))


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{pattern})(?!\w)", re.IGNORECASE)


offline_typer = offline_classifier  # its name in version 0.1
