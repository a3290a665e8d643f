"""Which severity and dimension the rubrics have under a dataset's rules: from points, tags or any column."""

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
    """The rubrics (J rows) with the severity and dimension that the rules give; the frame itself where none fits."""
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
    """The reduction with ``assign`` done to its rubrics."""
    return replace(reduction, rubrics=assign(reduction.rubrics, rules)) if rules.assign else reduction


def fitting(rubrics: pd.DataFrame, rule: Assignment) -> ObjectArray:
    """(J,) what one rule would set; None where it does not fit."""
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
    """What the rule makes of one cell, or of the first tag in it that fits."""
    for text in _texts(cell, rule.source):
        if found := pattern.fullmatch(text.strip()):
            return rule.value.replace("*", found[1].strip()) if "*" in rule.value else rule.value
    return None


def _texts(cell: object, source: str) -> list[str]:
    if not isinstance(cell, str):
        return []
    return cell.split(",") if source == "tags" else [cell]


def preview(rubrics: pd.DataFrame, rules: ScoringRules) -> pd.DataFrame:
    """One row a rule of ``assign``: sets, source, fits, value, rubrics (that fit), decides (those it is first at).

    example is the name of the first rubric that it decides; None where it decides none.
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
