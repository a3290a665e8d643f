"""Infer what the label columns of a wide table are: judges, systems, rubrics or runs."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence, Set
from typing import Literal

from ..columns.label_names import called_after_criteria
from ..columns.specs import plain_name
from ..columns.synonyms import INSTEAD_OF_LABEL, ITEMS
from ..ground_truth import is_truth
from ..guess import ENOUGH, MODEL, Sample, cells_at, guess_columns, profile
from .called_otherwise import criteria_called_otherwise
from .column_names import (
    AFFIX,
    PLACE,
    called_judge,
    crossed_among,
    crossed_names,
    drawn_names,
    names_a_judge,
    names_a_system,
    repeats_among,
    spread_names,
    without_draws,
    without_queries,
)
from .facts import not_of_judges, same_within, without_facts
from .label_columns import label_columns, named_columns
from .totals import totals_among

Spread = Literal["judge", "system", "rubric", "run"]


def guess_spread(
    columns: Sequence[str], sample: Sample, known: Collection[str] = ()
) -> tuple[Spread, tuple[str, ...]] | None:
    """("judge", "system", "rubric" or "run", the label columns) of a wide table; None for a table that is not wide.

    The label columns are the key that no other column names and that is not ``known`` from elsewhere. If a query but no
    system is named, label columns that are not named after models are rubrics.
    """
    otherwise = criteria_called_otherwise(columns, sample)
    named = {g.canonical: g.column for g in named_columns(columns) if g.column not in otherwise}
    found = {*named, *known}
    wide = label_columns(columns, sample)
    if "label" in found:
        wide = _with_overall(wide, columns, sample, named) if "rubric" not in found else ()
        found -= {"label"} if wide else set()
    wide = crossed_among(wide, found)
    if "rubric" not in known and is_query(named, wide):
        found = (found - {"rubric"}) | {"query"}
    drawn = repeats_among(wide) if "system" in found else ()
    if len(drawn) > 1 and "run" not in found:
        alone = all(c in drawn or is_truth(c) for c in wide)
        return ("run", drawn) if alone and {"rubric", "query"} & found else None
    judged = [c for c in wide if not is_truth(c)]
    drawn_too = "run" not in found and drawn_names(spread_names(judged))
    one_truth = len(judged) == len(wide) - 1 > 0  # several may be one person's labels, one for each criterion
    named_after = without_draws(judged) if drawn_too else judged if one_truth else wide
    what = spread_key(found, named_after) if len(wide) > 1 else None
    if what == "system" and _names_systems([c for c in columns if c not in wide], columns, sample):
        return None
    if what in ("judge", "system"):
        wide = tuple(c for c in wide if not _OVERALL.fullmatch(plain_name(c)))
        wide = without_facts(what, wide, columns, sample, named)
    if what in ("rubric", "system"):  # ground truth is neither a criterion nor a system
        wide = tuple(c for c in wide if not _TRUE.search(plain_name(c)))
    if what == "rubric":
        wide = not_of_judges(wide, columns, sample, named.get("judge"))
    return (what, wide) if what and len(wide) > 1 else None


def _with_overall(
    criteria: Sequence[str], columns: Sequence[str], sample: Sample, named: Mapping[str, str]
) -> tuple[str, ...]:
    """The criteria beside a column named label or score, with this column if it holds labels and is no total; or ().

    () unless there are at least two columns that are named like criteria.
    """
    label = named.get("label")
    if label is None:
        return ()
    held = tuple(dict.fromkeys((*criteria, label)))
    facts = same_within([named["query"]], held, columns, sample) if "query" in named else ()
    criteria = [c for c in criteria if c not in facts]  # a column that describes the query is no criterion
    own = [c for c in criteria if plain_name(c) not in INSTEAD_OF_LABEL]
    if len(own) < 2 or not called_after_criteria(own):
        return ()
    overall = profile(cells_at(sample, columns.index(label))).labels >= ENOUGH
    overall = overall and label not in totals_among([*criteria, label], columns, sample)
    return tuple(c for c in columns if c in criteria or (overall and c == label))


def _names_systems(free: Sequence[str], columns: Sequence[str], sample: Sample) -> bool:
    """Whether one of the ``free`` columns seems to be the system, by its name and repeated values."""
    rows = [[row[at] if at < len(row) else None for at in map(columns.index, free)] for row in sample]
    found = next((g for g in guess_columns("labels", free, rows) if g.canonical == "system"), None)
    if found is None:
        return False
    cells = cells_at(rows, free.index(found.column))
    return 1 < len(set(cells)) < len(cells)


def is_query(named: Mapping[str, str], wide: Sequence[str]) -> bool:
    """Whether the items of a wide table (column ``item_id``) are queries and not rubrics.

    They are if the label columns are named after systems or judges times criteria. Or if no label column is named after
    a judge or a model, and either another column is the judge or the label columns are named like criteria.
    """
    if _is_item(named) and (pairs := crossed_names(wide)) and called_after_criteria([c for _, c in pairs]):
        return True
    if not may_be_query(named, wide):
        return False
    return "judge" in named or called_after_criteria(wide)


def may_be_query(named: Mapping[str, str], wide: Sequence[str]) -> bool:
    """Whether a column ``item`` or ``item_id`` may be the query: no label column is named after a judge or a model."""
    judged = any(MODEL.search(c) or names_a_judge(c) for c in spread_names(wide))
    return _is_item(named) and not judged


def _is_item(named: Mapping[str, str]) -> bool:
    return plain_name(named.get("rubric", "")) in ITEMS and "query" not in named


def spread_key(found: Set[str], wide: Sequence[str]) -> Spread | None:
    """The canonical column that each wide column is, given the keys ``found`` in other columns; None if not known."""
    if {"system", "rubric"} <= found:
        return "judge" if "judge" not in found else None
    if "rubric" in found:
        return _beside_rubrics(spread_names(wide))
    of_queries = None if "query" in found else without_queries(wide)
    if (
        of_queries
        and "system" not in found
        and all(MODEL.search(c) and names_a_judge(c) for c in of_queries[1])
    ):
        return "system"
    if _ends_with_judges(of_queries[1] if of_queries else wide) or of_queries:
        return "rubric"
    if "query" in found and "system" not in found:
        names = spread_names(wide)
        named = any(MODEL.search(c) or names_a_judge(c) for c in names) or all(map(names_a_system, names))
        return "system" if named else "rubric"
    if "system" in found and "judge" not in found and all(map(names_a_judge, spread_names(wide))):
        return "judge"
    return "rubric" if "system" in found else None


def _beside_rubrics(names: Sequence[str]) -> Spread | None:
    """What label columns beside a column of rubrics are: "judge" or "system"; None for numbered queries or runs."""
    if any(map(_RATER.fullmatch, names)) or all(map(called_judge, names)):
        return "judge"
    return None if all(map(_COUNTED.fullmatch, names)) else "system"


_RATER = re.compile(rf"(?i)(judge|grader|rater|annotator|evaluator)(?=.)[\s_.\-]*{PLACE}")
_COUNTED = re.compile(
    r"(?i)(q|query|question|task|prompt|case|example|run|round|epoch|trial|attempt|seed|draw|repeat)[\s_.\-#]*\d+"
)
_OVERALL = re.compile(  # a result of all judges or systems, or of the row; may be a criterion beside others
    rf"(overall|combined|aggregated?)(_({AFFIX}))?|best|winner|(any|all)_(pass(ed)?|met|correct|yes|agree)"
    r"|unanimous|unanimity|match(es)?|tie_?break(er)?|applicable"
)
_TRUE = re.compile(
    rf"(^|_)(gold(en)?|ground_?truth|consensus|majority)(_|$)|^((expected|gt)_({AFFIX})|true_label|y_true|gt)$"
)


def _ends_with_judges(columns: Sequence[str]) -> bool:
    """Whether columns are criteria times judges or systems, whose names come apart clearly: ``clarity_judge1``."""
    pairs = crossed_names(columns) or ()
    return bool(pairs) and all(
        re.search(r"[^\W\d_]{3}", rubric) and not names_a_judge(rubric) for _, rubric in pairs
    )
