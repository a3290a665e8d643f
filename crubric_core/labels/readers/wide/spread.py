"""What the label columns of a wide table stand for: judges, systems, rubrics or runs."""

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
    """(what the columns stand for, the columns) of a wide table: one label column a judge, system, rubric or run.

    What is spread is the key that no column names, and that is not ``known`` otherwise; of several queries' labels
    columns that are not named after models are rubrics. None for a table that is not wide.
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
    one_truth = len(judged) == len(wide) - 1 > 0  # several may be a person's labels of each criterion
    named_after = without_draws(judged) if drawn_too else judged if one_truth else wide
    what = spread_key(found, named_after) if len(wide) > 1 else None
    if what == "system" and _names_systems([c for c in columns if c not in wide], columns, sample):
        return None
    if what in ("judge", "system"):
        wide = tuple(c for c in wide if not _OVERALL.fullmatch(plain_name(c)))
        wide = without_facts(what, wide, columns, sample, named)
    if what in ("rubric", "system"):  # the truth is a criterion of nothing, and no system's
        wide = tuple(c for c in wide if not _TRUE.search(plain_name(c)))
    if what == "rubric":
        wide = not_of_judges(wide, columns, sample, named.get("judge"))
    return (what, wide) if what and len(wide) > 1 else None


def _with_overall(
    criteria: Sequence[str], columns: Sequence[str], sample: Sample, named: Mapping[str, str]
) -> tuple[str, ...]:
    """Several columns that are called like criteria, with what is called a label beside them, if it holds any."""
    label = named.get("label")
    if label is None:
        return ()
    held = tuple(dict.fromkeys((*criteria, label)))
    facts = same_within([named["query"]], held, columns, sample) if "query" in named else ()
    criteria = [c for c in criteria if c not in facts]  # what says something of the query is no criterion
    own = [c for c in criteria if plain_name(c) not in INSTEAD_OF_LABEL]
    if len(own) < 2 or not called_after_criteria(own):
        return ()
    overall = profile(cells_at(sample, columns.index(label))).labels >= ENOUGH
    overall = overall and label not in totals_among([*criteria, label], columns, sample)
    return tuple(c for c in columns if c in criteria or (overall and c == label))


def _names_systems(free: Sequence[str], columns: Sequence[str], sample: Sample) -> bool:
    """Whether one of the other columns holds the names of systems, though it is only called like one."""
    rows = [[row[at] if at < len(row) else None for at in map(columns.index, free)] for row in sample]
    found = next((g for g in guess_columns("labels", free, rows) if g.canonical == "system"), None)
    if found is None:
        return False
    cells = cells_at(rows, free.index(found.column))
    return 1 < len(set(cells)) < len(cells)


def is_query(named: Mapping[str, str], wide: Sequence[str]) -> bool:
    """Whether the items that a wide table is about are queries and no rubrics.

    No column of labels is named after a judge or a model, and a judge is named elsewhere, or the columns are called
    like criteria. Or they are named after systems or judges times criteria.
    """
    if _is_item(named) and (pairs := crossed_names(wide)) and called_after_criteria([c for _, c in pairs]):
        return True
    if not may_be_query(named, wide):
        return False
    return "judge" in named or called_after_criteria(wide)


def may_be_query(named: Mapping[str, str], wide: Sequence[str]) -> bool:
    """Whether items that are the rubric by their name may as well be the query."""
    judged = any(MODEL.search(c) or names_a_judge(c) for c in spread_names(wide))
    return _is_item(named) and not judged


def _is_item(named: Mapping[str, str]) -> bool:
    return plain_name(named.get("rubric", "")) in ITEMS and "query" not in named


def spread_key(found: Set[str], wide: Sequence[str]) -> Spread | None:
    """What each of the wide columns is, by the keys that are found elsewhere; None where nothing tells."""
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
    """What columns beside one of rubrics are: judges, or systems; None where they are numbered queries or draws."""
    if any(map(_RATER.fullmatch, names)) or all(map(called_judge, names)):
        return "judge"
    return None if all(map(_COUNTED.fullmatch, names)) else "system"


_RATER = re.compile(rf"(?i)(judge|grader|rater|annotator|evaluator)(?=.)[\s_.\-]*{PLACE}")
_COUNTED = re.compile(
    r"(?i)(q|query|question|task|prompt|case|example|run|round|epoch|trial|attempt|seed|draw|repeat)[\s_.\-#]*\d+"
)
_OVERALL = re.compile(  # of all judges or systems, or of the row; each may be a criterion, beside others
    rf"(overall|combined|aggregated?)(_({AFFIX}))?|best|winner|(any|all)_(pass(ed)?|met|correct|yes|agree)"
    r"|unanimous|unanimity|match(es)?|tie_?break(er)?|applicable"
)
_TRUE = re.compile(
    rf"(^|_)(gold(en)?|ground_?truth|consensus|majority)(_|$)|^((expected|gt)_({AFFIX})|true_label|y_true|gt)$"
)


def _ends_with_judges(columns: Sequence[str]) -> bool:
    """Whether columns are criteria times judges that are called judge and no more: ``clarity_judge1``."""
    pairs = crossed_names(columns) or ()
    return bool(pairs) and all(
        re.search(r"[^\W\d_]{3}", rubric) and not names_a_judge(rubric) for _, rubric in pairs
    )
