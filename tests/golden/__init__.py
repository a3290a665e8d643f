"""Published tables with their published estimates, one JSON file a table, each with its sources.

title: what was asked of whom, and what the labels mean.
source: the publication, and the file in which the response patterns were counted.
columns: the items and "count". patterns: one row a response pattern that occurs, with how many persons gave it.
published: by model, the estimates and where they are printed. a: slopes; b: difficulties; d: intercepts, -a b (of a
graded model one for each step); abilities are standard normal.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

NAMES = ("LSAT6", "LSAT7", "Science", "WIRS")


def read(name: str) -> dict[str, Any]:
    """The whole file of a table."""
    content: dict[str, Any] = json.loads((Path(__file__).parent / f"{name}.json").read_text("utf-8"))
    return content


def labels(name: str) -> np.ndarray:
    """(persons, items): each pattern as often as it was counted, in the order of the patterns."""
    patterns = np.array(read(name)["patterns"], dtype=float)
    return patterns[:, :-1].repeat(patterns[:, -1].astype(int), axis=0)


def published(name: str, model: str) -> dict[str, Any]:
    """Published estimates of a table by a model, lists as arrays."""
    found = read(name)["published"][model]
    return {key: np.array(value) if isinstance(value, list) else value for key, value in found.items()}
