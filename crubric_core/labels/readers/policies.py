"""Policies for values that can be read in several ways: chosen by a person, never guessed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, get_args

from ...errors import IngestError, require_choice
from ...text import count

OnConflict = Literal["reject", "last", "first", "runs"]
Fractions = Literal["reject", "down", "up"]
Zero = Literal["label", "unknown"]
OffScale = Literal["reject", "clip"]
Apostrophes = Literal["keep", "strip"]

_CHOICES: Mapping[str, tuple[str, ...]] = {
    "on_conflict": get_args(OnConflict),
    "fractions": get_args(Fractions),
    "zero": get_args(Zero),
    "off_scale": get_args(OffScale),
    "apostrophes": get_args(Apostrophes),
}


def folded(word: str) -> str:
    """A label word in the form in which ``answers`` are compared: lower case, without surrounding spaces."""
    return word.strip().lower()


@dataclass(frozen=True)
class Policies:
    """Choices for ambiguous values. By default, ambiguous rows are rejected with the reason.

    on_conflict: for rows that contradict each other or the stored rows: "reject" all of them, keep the "last" or the
        "first"; "runs": labels of one file become numbered runs of their judge.
    fractions: a label between two levels is rejected, rounded down or rounded up.
    multiply: factor of labels, scale_min and scale_max: 4 makes whole levels of quarters.
    zero: whether 0 is a "label" or means "unknown".
    off_scale: a label outside its rubric's given scale is rejected ("reject") or moved to the nearest end ("clip").
    apostrophes: an apostrophe before =, +, -, @ at the start of a cell is text ("keep"), or removed ("strip") as the
        guard of a spreadsheet.
    threshold: continuous scores of at least this value become 1, others 0; None: scores are read as levels.
    bins: number of equal steps into which continuous scores are divided; 0: off. The range is the scale given for "*",
        else the smallest of 0 to 1, 0 to 10 and 0 to 100 that holds all scores.
    scales: criterion (name, text, or * for every one) → lowest and highest level, None where that end is open.
    pass_marks: criterion → the lowest label that counts as met, if it is not the midpoint.
    polarity: criterion (as in scales) → -1 if the lowest label is the best, 1 if the highest is.
    answers: word that is used in place of a number (upper or lower case) → its label; None for no label.
    """

    on_conflict: OnConflict = "reject"
    fractions: Fractions = "reject"
    multiply: int = 1
    zero: Zero = "label"
    off_scale: OffScale = "reject"
    apostrophes: Apostrophes = "keep"
    threshold: float | None = None
    bins: int = 0
    scales: Mapping[str, tuple[int | None, int | None]] = field(default_factory=dict)
    pass_marks: Mapping[str, int] = field(default_factory=dict)
    polarity: Mapping[str, int] = field(default_factory=dict)
    answers: Mapping[str, float | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            require_choice(name, getattr(self, name), choices, IngestError)
        if type(self.multiply) is not int or not 1 <= self.multiply <= 1000:
            raise IngestError(
                f"multiply = {self.multiply!r} is not a factor: expected a whole number from 1 to 1000."
            )
        self._check_scores()
        for word, label in self.answers.items():
            if not word.strip() or not (label is None or abs(label) < float("inf")):
                raise IngestError(
                    f"The answer {word!r} stands for {label!r}: expected a word and a number, or null."
                )

    def _check_scores(self) -> None:
        """Raise IngestError for invalid bins, threshold, scales or polarity."""
        if type(self.bins) is not int or not (self.bins == 0 or 2 <= self.bins <= 101):
            raise IngestError(f"bins = {self.bins!r} is out of range: expected a whole number from 2 to 101.")
        if self.threshold is not None and not abs(self.threshold) < float("inf"):
            raise IngestError(f"threshold = {self.threshold!r} is not a number.")
        if sum((self.bins > 0, self.threshold is not None, self.multiply > 1)) > 1:
            raise IngestError("bins, threshold and multiply exclude each other: choose one of them.")
        for name, (low, high) in self.scales.items():
            if (low is None and high is None) or (low is not None and high is not None and low >= high):
                raise IngestError(
                    f"The scale of {name!r} goes from {low} to {high}: expected two levels, such as 1..5."
                )
        for name, sign in self.polarity.items():
            if sign not in (-1, 1):
                raise IngestError(
                    f"The polarity of {name!r} is {sign}: expected -1 (the lowest label is the best) or 1 (the highest "
                    "is)."
                )

    def unusual(self) -> dict[str, Any]:
        """The choices that differ from the defaults."""
        usual = Policies()
        return {name: value for name, value in asdict(self).items() if value != getattr(usual, name)}

    def summary(self, applied: Mapping[str, int]) -> str:
        """The choices that differ from the defaults, with the number of rows each decided, for the list of ingests."""
        parts = []
        for name, choice in self.unusual().items():
            words = _spelt(name, choice)
            rows = applied.get(name, 0)
            parts.append(f"{name}: {words}" + (f" ({count(rows, 'row')})" if rows else ""))
        return "; ".join(parts)

    @classmethod
    def from_mapping(cls, given: Mapping[str, Any]) -> Policies:
        """The policies in a JSON object or on the command line. Raises IngestError for an unknown name."""
        names = [f.name for f in fields(cls)]
        for name in given:
            if name not in names:
                raise IngestError(f"There is no policy {name!r}: use one of {', '.join(names)}.")
        return cls(**given)


def _spelt(name: str, choice: Any) -> Any:
    """A choice in the form that the list of ingests shows."""
    if name == "scales":
        return ", ".join(
            f"{w} {'…' if v[0] is None else v[0]}..{'…' if v[1] is None else v[1]}" for w, v in choice.items()
        )
    if isinstance(choice, dict):
        return ", ".join(f"{w} → {v}" for w, v in choice.items())
    return choice
