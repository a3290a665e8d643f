"""Questions and remarks on the columns of a wide table, if their names do not settle what they are."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ....text import as_json, listed, with_article
from ..columns.label_names import called_after_criteria, is_derived, is_index, may_hold_labels
from ..columns.specs import names_of, plain_name
from ..ground_truth import is_truth
from ..guess import ENOUGH, cells_at, guess_columns, profile
from ..plan import Columns, FilePlan
from ..word_lists import word_set
from .column_names import called_after_queries, crossed_names, crossing, names_a_judge, spread_names
from .facts import not_called_systems, same_for_each, same_within
from .label_columns import OR_CRITERIA, columns_like_labels, counts_rows, label_columns
from .made_of_others import WORDS_OF_LABELS, made_of_others, remarks_on_made, repeated_among
from .spread import may_be_query
from .totals import remarks_on_totals

_OCCASION = re.compile(
    r"(?i)(turn|phase|stage|step|session|wave|round|week|day)[\s_.\-#]*\d+|(before|after|pre|post)([\s_.\-]?test)?"
)
_VERSION = re.compile(
    r"(?i)(original|initial|raw|revised|adjusted|updated|corrected)[\s_.\-]?(score|rating|label|grade|verdict)s?"
)
_OVERALL = word_set(  # names that may be of a total or of a criterion
    "overall overall_score overall_rating overall_grade gesamtnote gesamtbewertung gesamturteil note_globale "
    "punteggio_complessivo calificación_global nota_global 综合得分 综合评分 総合評価"
)
_MAY_BE_OVERALL = {*names_of("labels", "label"), *_OVERALL} - OR_CRITERIA
# In SQL: an expression for lower-case names, with the meaning of ``called_overall``.
CALLED_OVERALL = rf"^\W*(?:{'|'.join(sorted(_MAY_BE_OVERALL)).replace('_', '[ _-]')})\W*$"
_SENTENCE = 4  # least number of words in a column's name that cannot be a judge's name
_PANEL = 9  # largest number of columns that may be judges


def mapping_of(what: str, wide: Sequence[str], who: str, said: str, **others: str) -> str:
    """The mapping, as JSON, for wide columns whose names also contain ``who``. said: a rule as of ``crossing``."""
    return as_json({**others, what: list(wide), who: said})


def remarks_on_derived(plan: FilePlan, rows: tuple[Any, ...], what: str) -> list[str]:
    """Remarks on columns of labels that are not used because they are derived from others (``final_score``)."""
    left = [c for c in plan.columns if is_derived(c)]
    held = {c: profile(cells_at(rows, plan.columns.index(c))).labels for c in left}
    some = [c for c in left if held[c] >= ENOUGH]
    say = f"give the columns of labels in full ({{{json.dumps(what)}: […]}}) to read them, too"
    made = [f"{sentence}: {say}" for sentence in _remarks_on_made(plan, rows)]
    if not some:
        return made
    told = "is not used, because its name says that it sums up or qualifies labels"
    if len(some) > 1:
        told = "are not used, because their names say that they sum up or qualify labels"
    return [*made, f"{listed([repr(c) for c in some], 6)} {told}: {say}"]


def _remarks_on_made(plan: FilePlan, rows: tuple[Any, ...], used: str = "") -> list[str]:
    """Remarks on columns that follow from others or are totals of others, except the column ``used``."""
    found = columns_like_labels(plan.columns, rows)
    made = made_of_others(found, plan.columns, rows)
    names = names_of("labels", "label")
    live = {c for c in found if c not in made} | {c for c in plan.columns if plain_name(c) in names} - {used}
    return remarks_on_made(made) + remarks_on_totals(
        [c for c in plan.columns if c in live], plan.columns, rows
    )


def remarks_on_others(
    plan: FilePlan, rows: tuple[Any, ...], what: str, wide: Sequence[str], mapping: Columns
) -> list[str]:
    """Remarks on columns that are not used although they hold labels or scores.

    They are label columns that name no judge or system beside others that do, and columns of fractional scores.
    """
    used = {*wide, *(v for v in mapping.values() if isinstance(v, str))}
    cells = {c: cells_at(rows, i) for i, c in enumerate(plan.columns) if c not in used and may_hold_labels(c)}
    left = [
        c for c, own in cells.items() if not (is_index(c, plan.columns) or is_derived(c) or counts_rows(own))
    ]
    held = {c: profile(cells[c]) for c in left}
    nobodys = [c for c in left if held[c].labels >= ENOUGH] if crossed_names(wide) else []
    between = [c for c in left if held[c].scores >= ENOUGH]
    say, told = f"give the columns of labels in full ({{{json.dumps(what)}: […]}})", []
    if nobodys:
        some, one = listed([repr(c) for c in nobodys], 6), len(nobodys) == 1
        told.append(
            f"{some} {'holds' if one else 'hold'} labels, but {'names' if one else 'name'} no judge or system, unlike "
            f"the others, and {'is' if one else 'are'} not used: {say} to read {'it' if one else 'them'}, too"
        )
    if between:
        some, verb = listed([repr(c) for c in between], 6), "is" if len(between) == 1 else "are"
        told.append(
            f"{some}, with scores between whole levels, {verb} not used: {say} and the policy multiply= or threshold= "
            "to read them, too"
        )
    return told


def remarks_on_facts(
    plan: FilePlan, rows: tuple[Any, ...], wide: Sequence[str], mapping: Columns
) -> list[str]:
    """Remarks on columns that are read as rubrics although they have one value for each query, or for each system."""
    told = []
    for key in ("query", "system"):
        column = mapping.get(key)
        if not isinstance(column, str) or column not in plan.columns:
            continue
        same = same_for_each(column, wide, plan.columns, rows)
        if key == "query" and not same:
            within = same_within([column], wide, plan.columns, rows)
            same = tuple(c for c in wide if c in within)
        rest = [c for c in wide if c not in same]
        if same and rest:
            some = listed([repr(c) for c in same], 3)
            say = as_json({"rubric": rest})
            one = len(same) == 1
            told.append(
                f"{some} {'is' if one else 'are'} read as labels and {'has' if one else 'have'} one value in all rows "
                f"of each {key}: if {'it describes' if one else 'they describe'} the {key}, give the mapping {say}"
            )
    return told


def remarks_on_left_out(plan: FilePlan, rows: tuple[Any, ...], what: str, wide: Sequence[str]) -> list[str]:
    """Remarks on label columns that were left out, and on columns read as systems without a system's name.

    what: the canonical column that each of the ``wide`` columns is.
    """
    taken = {*wide, *plan.mapping.values()}
    left = [c for c in label_columns(plan.columns, rows) if c not in taken]
    left = [] if what == "run" or crossed_names(wide) else left
    told = []
    if left:
        some, say = listed([repr(c) for c in left], 6), as_json({what: [*wide, *left]})
        one = len(left) == 1
        told.append(
            f"{some} {'is' if one else 'are'} not used, because of {'its name' if one else 'their names'} or because "
            f"all rows of a kind have one value: if {'it' if one else 'each'} is {with_article(what)}, give the "
            f"mapping {say}"
        )
    if what == "system" and (others := not_called_systems(wide)):
        some = listed([repr(c) for c in others], 3)
        say = as_json({what: [c for c in wide if c not in others]})
        verb, they = (
            ("is read as a system", "it is") if len(others) == 1 else ("are read as systems", "they are")
        )
        told.append(f"{some} {verb}: if {they} not, give the mapping {say}")
    return told


def remarks_on_overall(wide: Sequence[str]) -> list[str]:
    """A remark on a column such as ``score`` or ``overall`` that is read as a rubric beside at least two others."""
    overall = [c for c in wide if called_overall(c)]
    others = [c for c in wide if c not in overall]
    if len(overall) != 1 or len(others) < 2:
        return []
    return [f"{one_more_rubric(overall[0])}, give the mapping {as_json({'rubric': others})}"]


def called_overall(name: str) -> bool:
    """Whether a rubric's name (``score``, ``overall``) may mean a total of the rubrics beside it."""
    return plain_name(name) in _MAY_BE_OVERALL


def one_more_rubric(name: str) -> str:
    """The beginning of a remark on a rubric that may be a total; the caller appends what to do then."""
    return f"{name!r} is read as one more rubric beside the others: if it sums these up"


def remarks_on_repeated(plan: FilePlan, rows: tuple[Any, ...], what: str, wide: Sequence[str]) -> list[str]:
    """A remark on columns that are read as rubrics and equal another one in all rows; [] if there are none."""
    pairs = repeated_among(wide, plan.columns, rows) if what == "rubric" and not plan.mapping else []
    again = [column for column, _ in pairs]
    kept = [c for c in wide if c not in again]
    if not pairs or len(kept) < 1:
        return []
    some, others = (
        listed([repr(c) for c in again], 3),
        listed(list(dict.fromkeys(repr(c) for _, c in pairs)), 3),
    )
    say = as_json({"rubric": kept} if len(kept) > 1 else {"rubric": f"={kept[0]}", "label": kept[0]})
    verb, each = ("holds", "is a rubric") if len(again) == 1 else ("hold", "are rubrics")
    return [
        f"{some} {verb} the same as {others} in all of the first rows, and {each} beside: where one repeats the other, "
        f"give {say}"
    ]


def remarks_beside_one_rubric(plan: FilePlan, rows: tuple[Any, ...], label: str) -> list[str]:
    """Remarks on columns that may also hold labels, if ``label`` is taken as the only rubric."""
    keys = {g.canonical: g.column for g in guess_columns(plan.kind, plan.columns, ())}
    others = [c for c in label_columns(plan.columns, rows) if c != label and not is_truth(c)]
    of_one = {
        c
        for k in ("system", "query")
        if k in keys
        for c in same_for_each(keys[k], others, plan.columns, rows)
    }
    made = _remarks_on_made(plan, rows, label)
    if not (left := [c for c in others if c not in of_one]):
        return made
    some, say = listed([repr(c) for c in left], 3), as_json({"rubric": [label, *left]})
    return [
        *made,
        f"{some} may hold labels, and {'is' if len(left) == 1 else 'are'} not used: if "
        f"{'it does' if len(left) == 1 else 'they do'}, give the mapping {say}",
    ]


def may_be_crossed(what: str, wide: Sequence[str]) -> list[str]:
    """A question if the columns combine two sets of names (``a_x, a_y, b_x, b_y``), and one may be judges; or []."""
    found = _either_first(what, wide, "judge")
    parts = [{pair[i].lower() for pair in crossed_names(wide, 1) or ()} for i in (0, 1)]
    if found is None or any(names <= WORDS_OF_LABELS for names in parts):
        return []
    (first, given), (last, back) = found
    return [
        f"its columns combine each of {first} with each of {last}, and are read as {len(wide)} {what}s: if {last} are "
        f"judges, give the mapping {back}; if {first} are judges, give {given}"
    ]


def asked_of_scores(
    plan: FilePlan, rows: tuple[Any, ...], what: str, wide: Sequence[str], mapping: Columns
) -> str:
    """A question if the label columns have one value in all rows, and other columns hold fractional scores; or ""."""
    if what != "rubric" or plan.mapping:
        return ""
    held = {c: profile(cells_at(rows, i)) for i, c in enumerate(plan.columns)}
    used = {v for v in mapping.values() if isinstance(v, str)}
    between = [c for c in plan.columns if held[c].scores >= ENOUGH and may_hold_labels(c) and c not in used]
    between = [c for c in between if not is_derived(c)]
    if not between or any(held[c].distinct > 1 for c in wide):
        return ""
    every = as_json({"rubric": [c for c in plan.columns if c in {*wide, *between}]})
    some, one = listed([repr(c) for c in wide], 3), len(wide) == 1
    return (
        f"{some} {'has' if one else 'have'} one value in all rows, and {listed([repr(c) for c in between], 3)} scores "
        f"between levels: to read all of them, give the mapping {every} and the policy threshold= or multiply="
    )


def asked_of_one_system(
    plan: FilePlan, rows: tuple[Any, ...], what: str, wide: Sequence[str], mapping: Columns
) -> str:
    """A question if the columns combine two sets of names, and the system column has one value in all rows; or ""."""
    column = mapping.get("system")
    if what != "rubric" or column not in plan.columns or plan.mapping:
        return ""
    systems = {cell for cell in cells_at(rows, plan.columns.index(str(column))) if cell}
    found = _either_first(what, wide, "system")
    parts = [{pair[i].lower() for pair in crossed_names(wide, 1) or ()} for i in (0, 1)]
    if found is None or len(systems) != 1 or any(names <= WORDS_OF_LABELS for names in parts):
        return ""
    (first, given), (last, back) = found
    one = as_json({"system": column, "rubric": list(wide)})
    return (
        f"all rows have one value of {column!r}, and the columns of labels combine each of {first} with each of "
        f"{last}: if {first} are the systems, give the mapping {given}; if {last} are, give {back}; if none are, give "
        f"{one}"
    )


def may_be_judges(named: Sequence[str], wide: Sequence[str], mapping: Columns) -> list[str]:
    """A remark on columns that are read as rubrics but not named like criteria, so that they may be judges; or []."""
    names = spread_names(named)
    sentences = sum(len(re.split(r"[\s_]+", name)) >= _SENTENCE for name in names)
    if (
        called_after_criteria(names)
        or "query" not in mapping
        or len(named) > _PANEL
        or 2 * sentences > len(names)
    ):
        return []
    judged = {c: v for c, v in mapping.items() if c in ("system", "query")}
    say = as_json({**judged, "rubric": "=score", "judge": list(wide)})
    return [f"if {listed([repr(c) for c in named], 3)} are judges of one rubric, give the mapping {say}"]


def may_be_queries(what: str, wide: Sequence[str], keys: Mapping[str, str]) -> list[str]:
    """A remark on columns that are read as judges but not named like judges, so that they may be queries; or []."""
    if what != "judge" or "query" in keys or any(map(names_a_judge, spread_names(wide))):
        return []
    say = as_json({**keys, "query": list(wide)})
    return [f"if {listed([repr(c) for c in wide], 3)} are queries, give the mapping {say}"]


def _either_first(what: str, wide: Sequence[str], who: str) -> tuple[tuple[str, str], tuple[str, str]] | None:
    """((first names, mapping if these are ``who``), (last names, mapping if these are)); None for other columns."""
    pairs = crossed_names(wide, 1)
    if pairs is None:
        return None
    first, last = (listed(list(dict.fromkeys(p[i] for p in pairs)), 3) for i in (0, 1))
    said = (crossing(who, what), crossing(what, who))
    return (first, mapping_of(what, wide, who, said[0])), (last, mapping_of(what, wide, who, said[1]))


def what_they_are(plan: FilePlan, what: str, wide: Sequence[str], keys: Mapping[str, str]) -> str:
    """The question on label columns taken for judges that may be queries, turns, versions or criteria; or ""."""
    some, columns = listed([repr(c) for c in wide], 3), list(wide)
    if "query" not in keys and called_after_queries(wide):
        queries = as_json({**keys, "query": columns})
        return f"{some} hold labels and are named like queries: if each is one, give the mapping {queries}"
    if not plan.mapping and all(map(_OCCASION.fullmatch, wide)):
        judges, runs = (as_json({c: columns}) for c in (what, "run"))
        draws = f"; if they are repeated draws, give {runs}" if plan.kind == "labels" else ""
        return (
            f"{some} hold labels, and are named like turns or times: if each is a judge, give the mapping {judges}"
            f"{draws}; if they are different queries, write a row for each"
        )
    if not plan.mapping and all(map(_VERSION.fullmatch, wide)):
        shown = json.dumps({**keys, "label": wide[-1]}, ensure_ascii=False)
        return f"{some} hold labels, and are named like versions of one: say which counts, by the mapping {shown}"
    if plan.mapping or not may_be_query(keys, wide):
        return ""
    item, others = keys["rubric"], {c: v for c, v in keys.items() if c != "rubric"}
    ways = [{**others, "query": item, "rubric": columns}, {**others, "rubric": item, what: columns}]
    criteria, judges = (as_json(way) for way in ways)
    return (
        f"{some} hold labels, and nothing says whether they are criteria or judges: if each is a criterion, give the "
        f"mapping {criteria}; if each is a judge, give {judges}"
    )


def ticks(name: str, choices: Sequence[str]) -> str:
    """The problem of a table in which each row ticks one of several columns (``choices``)."""
    return (
        f"{listed([repr(c) for c in choices], 3)} of {name} are the choices of one question, of which each row ticks "
        "one: replace them by one column with the number that is ticked, and do the same for each such question."
    )


def no_system(
    plan: FilePlan, what: str, wide: Sequence[str], within: Mapping[str, str], own: Mapping[str, str]
) -> str:
    """The problem of a wide table in which no column names the system, with mappings that would read it."""
    some = listed([repr(c) for c in wide], 3)
    others = [c for c in plan.columns if c not in wide]
    hinted = next((g.column for g in guess_columns(plan.kind, others, ()) if g.canonical == "system"), "=…")
    shown = list(wide if within else wide[:12])
    mapping = as_json({"system": hinted, what: shown, **within})
    found = None if within else _either_first("rubric", wide, "system")
    if found is not None:
        named = "".join(f"; if {n} are the systems, give {m}" for n, m in found)
    elif within or what != "rubric" or called_after_criteria(wide):
        named = ""
    else:
        keys = {"system": shown, "rubric": "=score"} | {
            c: v for c, v in own.items() if c in ("query", "judge")
        }
        named = f"; if each is a system, give {as_json(keys)}"
    return (
        f"{plan.name} has no column for system, and {some} hold labels, apparently one column for each {what}: name "
        f"the system, or the column that names it, with a mapping such as {mapping}{named}."
    )
