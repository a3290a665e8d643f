"""Wide tables: which columns hold labels, and whether each is a judge's, a system's or a rubric's."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

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
from .columns import plain_name, synonyms_of
from .ground_truth import is_truth
from .guess import ENOUGH, MODEL, Sample, cells_at, guess_columns, profile
from .label_names import NOTED, is_derived, is_index, is_measured, may_hold_labels
from .plan import FilePlan, Guess
from .reasons import say_why
from .synonyms import INSTEAD_OF_LABEL
from .words import is_abc, is_number, letters_of, named_levels, plain, verdict_level

Spread = Literal["judge", "system", "rubric", "run"]

OR_CRITERIA = frozenset(["valid", "validity", "satisfied"])  # a label's name, or that of a criterion
_LEVELS = 11  # different labels of a criterion that only its column's name tells, at most
_AGREEING = 20  # rows that repeat the value of another one, from which a judge's equal labels are no chance
_LEAST = 4  # rows from which a running number is told from labels


def _named(columns: Sequence[str]) -> list[Guess]:
    """Which columns names alone tell."""
    found = guess_columns("labels", columns, ())
    return [g for g in found if g.confidence > 0.6 and plain_name(g.column) not in OR_CRITERIA]


def counts_rows(cells: Sequence[str | None]) -> bool:
    """Whether cells are a running number of the rows, as a data frame writes beside them, in whatever order."""
    known = [c for c in cells if c]
    if len(known) < max(_LEAST, len(cells)) or not all(map(is_number, known)):
        return False
    numbers = [float(c) for c in known]
    if all(b - a == 1 for a, b in pairwise(numbers)):
        return True
    distinct = len(set(numbers)) == len(numbers) > _LEVELS and all(n.is_integer() for n in numbers)
    return distinct and min(numbers) in (0, 1) and max(numbers) < 2 * len(numbers)  # scores lie wider apart


_ANSWERED = re.compile(r"(?i)answer\.|output:")  # MTurk, Toloka


def label_columns(columns: Sequence[str], sample: Sample, *, scores: bool = False) -> tuple[str, ...]:
    """The columns that may be labels of a wide table, by their cells and names, and name nothing else.

    Where some are named as answers of a task (``Answer.fluency``, ``OUTPUT:fluency``), only these.
    With ``scores`` also those of continuous scores. One letter in all cells is a grade beside other grades alone, and
    what its name says is derived from others (``final_score``) holds labels only where no other column does.
    """
    taken = {g.column for g in _named(columns)}
    noted = NOTED.intersection(columns)
    taken |= noted if len(noted) > 1 else set()  # one alone may be a criterion: Progress
    cells = {c: cells_at(sample, i) for i, c in enumerate(columns)}
    taken |= {c for c, own in cells.items() if counts_rows(own)}
    held = {c: profile(own) for c, own in cells.items()}
    share = {c: max(h.labels, h.scores) if scores else h.labels for c, h in held.items()}
    criteria = set(criteria_called_reasons(columns, sample))
    taken -= criteria
    named = [c for c in columns if (c in criteria or may_hold_labels(c)) and not is_index(c, columns)]
    could = [c for c in named if c not in taken and not _says_again(c, columns)]
    shares = any(share[c] >= ENOUGH and _has_parts(cells[c]) for c in could)  # halves, and thirds beside them
    alike = {
        c for c in could if shares and held[c].scores >= ENOUGH and 4 * held[c].distinct <= held[c].known
    }
    found = tuple(c for c in could if c in alike or share[c] >= ENOUGH)
    found = tuple(c for c in found if not _is_legend(cells[c]))
    found = tuple(c for c in found if _ANSWERED.match(c)) or found
    reasons = {c for c in say_why(found) if not all(map(is_number, filter(None, cells[c])))}
    found = tuple(c for c in found if c not in reasons)
    found = tuple(c for c in found if not is_derived(c)) or found
    letters = {c: letters_of(cells[c]) for c in found}
    if not all(letters.values()):  # A, B and C beside other labels are an arm, or a choice
        found = tuple(c for c in found if not is_abc(letters[c]))
    graded = any(len(own) > 1 for own in letters.values())
    return found if graded else tuple(c for c in found if len(letters[c]) != 1 or letters[c] == {"f"})


def _is_legend(cells: Sequence[str | None]) -> bool:
    """Whether a few of the cells say once each what a number stands for, as a legend beside a table does: 1 = bad."""
    known = [c for c in cells if c]
    return 2 * len(known) < len(cells) and len(set(known)) == len(known) and bool(named_levels(known))


def criteria_called_reasons(columns: Sequence[str], sample: Sample) -> tuple[str, ...]:
    """Columns of labels in most rows that are called like the reason of one: ``Reasoning``, ``Explanation``."""
    names = ("reason", *synonyms_of("labels", "reason"))
    held = {c: profile(cells_at(sample, i)) for i, c in enumerate(columns) if plain_name(c) in names}
    return tuple(c for c, own in held.items() if own.labels >= ENOUGH and 2 * own.known > len(sample))


def _says_again(column: str, columns: Sequence[str]) -> bool:
    """Whether Azure's evaluators say in it what a field beside it says: ``relevance.gpt_relevance``, ``…_result``."""
    home, _, last = column.rpartition(".")
    name = home.rpartition(".")[2]
    again = (f"gpt_{name}", f"{name}_result", f"{name}_threshold")
    return bool(name) and last in again and f"{home}.{name}" in columns


def _has_parts(cells: Sequence[str | None]) -> bool:
    """Whether some cells are numbers between two whole ones."""
    return any(cell and is_number(cell) and not float(cell).is_integer() for cell in cells)


def guess_spread(
    columns: Sequence[str], sample: Sample, known: Collection[str] = ()
) -> tuple[Spread, tuple[str, ...]] | None:
    """(what the columns stand for, the columns) of a wide table: one label column a judge, system, rubric or run.

    What is spread is the key that no column names, and that is not ``known`` otherwise; of several queries' labels
    columns that are not named after models are rubrics. None for a table that is not wide.
    """
    named = {g.canonical: g.column for g in _named(columns)}
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
        wide = _without_facts(what, wide, columns, sample, named)
    if what in ("rubric", "system"):  # the truth is a criterion of nothing, and no system's
        wide = tuple(c for c in wide if not _TRUE.search(plain_name(c)))
    if what == "rubric":
        wide = _not_of_judges(wide, columns, sample, named.get("judge"))
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
    return tuple(c for c in columns if c in criteria or (overall and c == label))


def ticked_among(columns: Sequence[str], sample: Sample) -> tuple[str, ...]:
    """The choices of one question, of which each row ticks one: ``Answer.clear.1``, ``Answer.clear.2``."""
    if len(sample) < _TICKED:
        return ()
    groups: dict[str, list[str]] = {}
    for column in columns:
        if numbered := _CHOICE.fullmatch(column):
            groups.setdefault(numbered[1], []).append(column)
    cells = {c: [plain(cell or "") for cell in cells_at(sample, i)] for i, c in enumerate(columns)}
    for choices in groups.values():
        levels = [
            [verdict_level(word) for word in row] for row in zip(*(cells[c] for c in choices), strict=True)
        ]
        if len(choices) > 1 and all(sorted(row, key=str) == [0] * (len(row) - 1) + [2] for row in levels):
            return tuple(choices)
    return ()


_CHOICE = re.compile(r"(.*[^\W\d].*?)[\W_]+\d{1,2}")
_TICKED = 8  # rows from which it is no coincidence


def _not_of_judges(
    wide: Sequence[str], columns: Sequence[str], sample: Sample, judge: str | None
) -> tuple[str, ...]:
    """Those of the columns that are not the same in all rows of each judge: age, years of experience."""
    if judge is None:
        return tuple(wide)
    of_one = same_for_each(judge, wide, columns, sample)
    return tuple(c for c in wide if c not in of_one)


def same_for_each(key: str, wide: Sequence[str], columns: Sequence[str], sample: Sample) -> tuple[str, ...]:
    """Those of the columns that differ, and are the same in all rows of each name of the column ``key``.

    None where each name has few rows, as this may then be by chance.
    """
    names = cells_at(sample, columns.index(key))
    if len(names) < _LEAST * len(set(names)):
        return ()
    cells = {c: cells_at(sample, columns.index(c)) for c in wide}
    of_one = (c for c in wide if len(set(zip(names, cells[c], strict=True))) == len(set(names)))
    return tuple(c for c in of_one if len(set(cells[c])) > 1)


def _without_facts(
    what: str, wide: Sequence[str], columns: Sequence[str], sample: Sample, keys: Mapping[str, str]
) -> tuple[str, ...]:
    """The columns of judges or systems without those that say something of the query or the rubric of each row.

    Beside judges they have one value for all systems; beside models those that are not called so have one value for
    each query, or each rubric.
    """
    about = [keys[k] for k in ("query", "rubric") if k in keys]
    if what == "judge":
        facts = same_within(about, wide, columns, sample, _AGREEING) if about else ()
        return tuple(c for c in wide if c not in facts or names_a_judge(c))
    others = not_called_systems(wide)
    of_one = {c for key in about for c in same_for_each(key, others, columns, sample)}
    of_one |= {c for key in about for c in same_within([key], wide, columns, sample)}
    return tuple(c for c in wide if c not in of_one.intersection(others) or _OURS.match(c))


# systems of who wrote the table
_OURS = re.compile(r"(?i)(ours?|mine|baseline|proposed|finetuned|fine.tuned|ft)([\s_.\-]|$)")


def not_called_systems(wide: Sequence[str]) -> tuple[str, ...]:
    """Those of the columns that are not called like models or systems, where most are."""
    others = tuple(c for c in wide if not (MODEL.search(c) or names_a_system(c)))
    return others if 2 * len(others) < len(wide) else ()


def same_within(
    keys: Sequence[str], wide: Sequence[str], columns: Sequence[str], sample: Sample, least: int = 1
) -> set[str]:
    """Those of the columns with one value wherever all ``keys`` are the same, in several rows, where others differ.

    None where that is in few rows, or another value than the commonest is in one place alone: it may be by chance.
    """
    about = list(zip(*(cells_at(sample, columns.index(key)) for key in keys), strict=True))
    many = Counter(about)
    cells = {c: cells_at(sample, columns.index(c)) for c in wide}
    values = {
        c: {pair for pair in zip(about, own, strict=True) if many[pair[0]] > 1} for c, own in cells.items()
    }
    repeated = sum(times > 1 for times in many.values())
    same = {c for c, own in values.items() if len(own) == repeated}
    agreeing = sum(times for times in many.values() if times > 1) - repeated
    if repeated < _LEAST or agreeing < least or len(same) == len(values):
        return set()
    shares = {c: Counter(value for _, value in values[c]) for c in same}
    return {c for c, found in shares.items() if sum(times > 1 for times in found.values()) > 1}


def _names_systems(free: Sequence[str], columns: Sequence[str], sample: Sample) -> bool:
    """Whether one of the other columns holds the names of systems, though it is only called like one."""
    rows = [[row[at] if at < len(row) else None for at in map(columns.index, free)] for row in sample]
    found = next((g for g in guess_columns("labels", free, rows) if g.canonical == "system"), None)
    if found is None:
        return False
    cells = cells_at(rows, free.index(found.column))
    return 1 < len(set(cells)) < len(cells)


def only_criterion(
    plan: FilePlan, sample: Sample, named: Collection[str], fixed: Collection[str]
) -> dict[str, str]:
    """The label's column where none is named so, and one alone holds labels beside a system and a query; else {}.

    It has a name of its own, the criterion's (``clarity``), and few levels, of which several occur. What is the same in
    all rows of each system, or of each query, says something of these: a version, a difficulty.
    """
    if plan.kind not in ("labels", "gold") or {"label", "rubric"} & {*named, *fixed}:
        return {}
    found = {g.canonical for g in _named(plan.columns)} | {*named, *fixed}
    wide = label_columns(plan.columns, sample)
    if len(wide) != 1 or not {"system", "query"} <= found or {"label", "rubric"} & found:
        return {}
    cells = cells_at(sample, plan.columns.index(wide[0]))
    keys = [g.column for g in _named(plan.columns) if g.canonical in ("system", "query")]
    about = [cells_at(sample, plan.columns.index(key)) for key in keys]
    of_one = any(len(set(zip(own, cells, strict=True))) == len(set(own)) < len(own) for own in about)
    return {"label": wide[0]} if 1 < profile(cells).distinct <= _LEVELS and not of_one else {}


def is_query(named: Mapping[str, str], wide: Sequence[str]) -> bool:
    """Whether the items that a wide table is about are queries and no rubrics.

    No column of labels is named after a judge or a model, and a judge is named elsewhere, or a system is and the
    columns are called like criteria.
    """
    if not may_be_query(named, wide):
        return False
    return "judge" in named or ("system" in named and called_after_criteria(wide))


def may_be_query(named: Mapping[str, str], wide: Sequence[str]) -> bool:
    """Whether items that are the rubric by their name may as well be the query."""
    item = plain_name(named.get("rubric", "")) in ("item", "item_id")
    judged = any(MODEL.search(c) or names_a_judge(c) for c in spread_names(wide))
    return item and "query" not in named and not judged


def called_after_criteria(wide: Sequence[str]) -> bool:
    """Whether most of the columns are called like criteria: ``clarity``, ``helpfulness``, ``tone_score``."""
    criteria = sum(bool(_CRITERION.search(plain_name(c))) for c in wide)
    return 2 * criteria >= len(wide) > 0


_CRITERION = re.compile(
    r"(ity|ness|ency|ance|ence|acy|tion|sion|ment|ism|ability|style|tone|quality|depth|length|format|grammar|logic"
    r"|safe|helpful|harmful|correct|relevant|coherent|fluent|accurate|complete|concise|faithful|overall)(_score|_rating)?$"
)


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
_TRUE = re.compile(r"(^|_)(gold(en)?|ground_?truth|consensus|majority)(_|$)")


def _ends_with_judges(columns: Sequence[str]) -> bool:
    """Whether columns are criteria times judges that are called judge and no more: ``clarity_judge1``."""
    pairs = crossed_names(columns) or ()
    return bool(pairs) and all(
        re.search(r"[^\W\d_]{3}", rubric) and not names_a_judge(rubric) for _, rubric in pairs
    )


@dataclass(frozen=True)
class Matrix:
    """A table of responses, systems by items or the other way round.

    what: what its columns are, system or rubric; columns: those with labels; key: the column that names the rows.
    """

    what: Spread
    columns: tuple[str, ...]
    key: str
    confidence: float
    reason: str

    @property
    def rows_are(self) -> Spread:
        """What its rows are."""
        return "rubric" if self.what == "system" else "system"


_NAMELESS = frozenset(["column_1", "id", "name", "index", "unnamed:_0", "row"])


def named_after_models(columns: Sequence[str], sample: Sample) -> bool:
    """Whether several columns hold labels and are named after models: a wide table, whatever else it names."""
    return sum(bool(MODEL.search(c)) for c in label_columns(columns, sample)) > 1


def guess_matrix(columns: Sequence[str], sample: Sample) -> Matrix | None:
    """A response matrix: one column of names, and nothing but labels in all others; None for any other table."""
    if len(columns) < 4 or plain_name(columns[0]) not in _NAMELESS:
        return None
    cells = [cells_at(sample, i) for i in range(len(columns))]
    names = [c for c in cells[0] if c]
    at = [i for i, c in enumerate(columns) if i and not is_measured(c)]
    wide = tuple(columns[i] for i in at)
    alike = len(wide) > 1 and all(profile(cells[i]).labels >= ENOUGH for i in at)
    if len(set(names)) < max(2, len(sample)) or not alike:
        return None
    rows, heads = (sum(bool(MODEL.search(n)) for n in part) / len(part) for part in (names, wide))
    if max(rows, heads) >= 0.5 and abs(rows - heads) >= 0.3:
        what: Spread = "rubric" if rows > heads else "system"
        return Matrix(
            what, wide, columns[0], 0.75, f"its {'rows' if rows > heads else 'columns'} are named like models"
        )
    what = "rubric" if len(names) <= len(wide) else "system"
    return Matrix(what, wide, columns[0], 0.5, "one column of names, and labels in all others")
