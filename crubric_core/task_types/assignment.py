"""Set the severity and dimension of rubrics by a dataset's rules, from their points, tags or another column."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..scoring_rules import Assignment, ScoringRules
from .types import ObjectArray

if TYPE_CHECKING:
    from ..labels.store.reduction import Reduction

_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
    "=": operator.eq,
}


def assign(rubrics: pd.DataFrame, rules: ScoringRules) -> pd.DataFrame:
    """The rubrics (J rows) with the severity and dimension that the rules set; the frame itself if there are no rules.

    The first rule that matches a rubric counts; if none matches, its own value is kept.
    """
    given = [fitting(rubrics, rule) for rule in rules.assign]
    columns = {}
    for target in ("severity", "dimension"):
        column = rubrics[target].to_numpy(dtype=object).copy()
        for rule, values in reversed([*zip(rules.assign, given, strict=True)]):
            if rule.sets == target:
                column = np.where(pd.notna(values), values, column)
        columns[target] = pd.Series(column, rubrics.index, dtype=object)
    return rubrics.assign(**columns) if rules.assign else rubrics


def with_assigned(reduction: Reduction, rules: ScoringRules) -> Reduction:
    """The reduction with ``assign`` applied to its rubrics."""
    return replace(reduction, rubrics=assign(reduction.rubrics, rules)) if rules.assign else reduction


def fitting(rubrics: pd.DataFrame, rule: Assignment) -> ObjectArray:
    """(J,) the value that one rule would set for each rubric; None if it does not match."""
    if rule.source == "points":
        sign, bound = rule.comparison()
        points = rubrics["weight"].to_numpy(dtype=np.float64)
        fits = np.isfinite(points) & _COMPARE[sign](points, bound)
        return np.array([rule.value if fit else None for fit in fits], dtype=object)
    if rule.source not in rubrics:
        return np.full(len(rubrics), None, dtype=object)
    pattern = re.compile(
        "(.*?)".join(map(re.escape, rule.fits.strip().split("*"))), re.IGNORECASE | re.DOTALL
    )
    return np.array([_value(pattern, rule, text) for text in rubrics[rule.source]], dtype=object)


def _value(pattern: re.Pattern[str], rule: Assignment, cell: object) -> str | None:
    """The value that the rule sets for one cell, by the first tag in it that matches; None if none does."""
    for text in _texts(cell, rule.source):
        if found := pattern.fullmatch(text.strip()):
            return rule.value.replace("*", found[1].strip()) if "*" in rule.value else rule.value
    return None


def _texts(cell: object, source: str) -> list[str]:
    if not isinstance(cell, str):
        return []
    return cell.split(",") if source == "tags" else [cell]


def preview(rubrics: pd.DataFrame, rules: ScoringRules) -> pd.DataFrame:
    """One row a rule: sets, source, fits, value, rubrics, decides, example.

    rubrics: how many rubrics the rule matches. decides: for how many of these it is the first rule that matches.
    example: name of the first rubric that it decides; None if there is none.
    """
    rows = []
    taken = {target: np.zeros(len(rubrics), dtype=bool) for target in ("severity", "dimension")}
    for rule in rules.assign:
        fits = np.asarray(pd.notna(fitting(rubrics, rule)))
        first = fits & ~taken[rule.sets]
        taken[rule.sets] |= fits
        example = rubrics["rubric"].iloc[int(first.argmax())] if first.any() else None
        rows.append(
            (rule.sets, rule.source, rule.fits, rule.value, int(fits.sum()), int(first.sum()), example)
        )
    columns = ["sets", "source", "fits", "value", "rubrics", "decides", "example"]
    return pd.DataFrame(rows, columns=columns)
