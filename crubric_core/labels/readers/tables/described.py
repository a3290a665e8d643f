"""Find columns of a table of labels that describe, row by row, its rubrics, queries or answers (docs/formats.md)."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import replace

from ..columns.specs import SPECS, Kind, Type, plain_name
from ..guess import Sample, cells_at, filled_cells
from ..paths import parse_path, parts_of
from ..plan import Columns, FilePlan, descriptions_of
from ..values import LARGEST, MINUS, NEGATIVE, POSITIVE, UNIT
from ..word_lists import word_set
from ..words import UNKNOWN, is_number, plain

KEYS: Mapping[Kind, tuple[str, ...]] = {
    "queries": ("query",),
    "rubrics": ("query", "rubric"),
    "answers": ("system", "query"),
}
# Keys within which the texts must differ: a text that is the same for all describes none (``_texts_differ``).
WITHIN: Mapping[Kind, tuple[str, ...]] = {"queries": (), "rubrics": ("query",), "answers": ("query",)}
# Column names that show what is described, best first. In a table of labels, "text" or "score" would not.
_NAMES: Mapping[Kind, Mapping[str, str]] = {
    "queries": {
        "text": "query_text question_text prompt_text query question prompt user_prompt instruction input",
        "domain": "domain topic subject category",
        "task_type": "task_type",
        "omega": "omega query_weight",
    },
    "rubrics": {
        "text": "rubric_text criterion_text criteria_text rubric_description criterion_description rubric criterion "
        "criteria requirement description",
        "scale_min": "scale_min min_score",
        "scale_max": "scale_max max_score maximum_score points_possible possible_points max_points max_marks "
        "full_marks out_of max_rating max_grade",
        "pass_mark": "pass_mark pass_threshold passing_score",
        "weight": "weight rubric_weight criterion_weight importance points",
        "dimension": "dimension axis aspect category",
        "severity": "severity",
        "polarity": "polarity sign direction type criterion_type rubric_type",
        "tags": "tags tag",
    },
    "answers": {  # "answer" may be the right one, and comes last
        "text": "answer_text response response_text model_response model_output output completion generation reply "
        "answer",
    },
}


# Without weight and polarity, a rubric that is bad to meet would count as good. Without its scale, the highest label
# that occurs would count as the best possible.
_WITHIN_RECORDS = ("weight", "polarity", "scale_min", "scale_max", "pass_mark", "text")


def paths_beside(mapping: Columns, fields: Collection[str]) -> list[str]:
    """Paths of a rubric's weight, polarity, scale and text in the lists or objects of the mapped rubric and label.

    Example: ``scores[].weight`` beside ``scores[].value``. fields: paths that the records have, as in
    ``paths.fields_of_records``.
    """
    taken = [v for c in ("label", "rubric") if isinstance(v := mapping.get(c), str) and _MARKS.search(v)]
    homes = dict.fromkeys(_MARKS.split(v)[0] + m[0] for v in taken if (m := _MARKS.search(v)))
    words = [word for c in _WITHIN_RECORDS for word in _NAMES["rubrics"][c].split()]
    offers = [f"{home}.{word}" for home in homes for word in words]
    used = set(map(str, mapping.values()))
    return [path for path in offers if path not in used and any(map(_shape(path).fullmatch, fields))]


_MARKS = re.compile(r"(\[\]|\{\})+(?!.*(\[\]|\{\}))")  # the last list or object of a path


def _shape(path: str) -> re.Pattern[str]:
    """An expression for the fields of records that a path leads to, with any key in place of ``{}``."""
    return re.compile(re.escape(path).replace(re.escape("{}"), r"(^|\.)(\\.|[^.])+"))


def _name_of(column: str) -> str:
    """The plain name of a column, or of the last field of a path: "weight" for ``scores[].weight``."""
    return plain_name(parts_of(column)[-1] if _MARKS.search(column) else column)


def with_descriptions(plan: FilePlan, rows: Sample) -> FilePlan:
    """The plan of a table of labels with ``described``: the columns that describe its queries, rubrics and answers.

    A column is recognised by its name (``rubric_text``, ``max_score``), and only if the first rows never give two
    values for the same query, rubric or answer. If later rows contradict it, it is left out when the file is read.
    """
    if plan.kind == "rubrics":
        return _with_remarks_on_negative(plan, rows)
    if plan.kind != "labels" or plan.problem or not plan.mapping:
        return plan
    left = [c for c in plan.unused if c in plan.columns]
    described: dict[str, Columns] = {k: v for k, v in plan.described.items() if is_listed(v)}
    for kind, names in _NAMES.items():
        if (keys := keys_of(plan, kind)) is None or kind in described:
            continue
        for canonical, words in names.items():
            named = (c for word in words.split() for c in left if _name_of(c) == word)
            column = next((c for c in named if _describes(plan, rows, keys, c, kind, canonical)), None)
            if column is not None:
                left.remove(column)
                described[kind] = {**described.get(kind, {}), canonical: column}
    if (
        (levels := _described_levels(plan, rows))
        and keys_of(plan, "rubrics")
        and "rubrics" not in plan.described
    ):
        described["rubrics"] = {**levels, **described.get("rubrics", {})}
        plan = replace(plan, unused=tuple(c for c in plan.unused if not _OF_LEVEL.fullmatch(_name_of(c))))
    return _with_remarks_on_negative(with_described(plan, _without_half_scale(described)), rows)


def _described_levels(plan: FilePlan, rows: Sample) -> dict[str, str]:
    """{"scale_min": "=1", "scale_max": "=5"} for columns ``score1_description`` to ``score5_description``; else {}.

    Within an object, its field ``criteria`` is the text of the rubric.

    There must be at least three consecutive levels with a description in all rows, and all labels must be in range.
    """
    described = {c: int(m[1]) for c in plan.unused if (m := _OF_LEVEL.fullmatch(_name_of(c)))}
    low, high = min(described.values(), default=0), max(described.values(), default=0)
    held = {c: cells_at(rows, plan.columns.index(c)) for c in described if c in plan.columns}
    label = plan.mapping.get("label")
    labels = cells_at(rows, plan.columns.index(label)) if label in plan.columns else []
    numbers = [float(cell) for cell in labels if cell and is_number(cell)]
    if (
        len(described) < _LEAST_LEVELS
        or high - low + 1 != len(set(described.values()))
        or not all(all(cells) for cells in held.values())
        or not all(low <= number <= high for number in numbers)
    ):
        return {}
    homes = {c.rpartition(".")[0] for c in described} - {""}
    texts = [f"{home}.criteria" for home in homes if f"{home}.criteria" in plan.unused]  # BiGGen-Bench
    text = {"text": texts[0]} if texts else {}
    return {**text, "scale_min": f"={low}", "scale_max": f"={high}"}


_LEAST_LEVELS = 3
_OF_LEVEL = re.compile(
    r"(?:\w+_)?(?:score|level|rating)_?(\d{1,2})_?(?:description|criteria|definition|rubric)"
)


def _with_remarks_on_negative(plan: FilePlan, rows: Sample) -> FilePlan:
    """The plan with a remark for each unused column whose name and cells seem to mark rubrics as bad to meet."""
    for at, column in enumerate(plan.columns):
        words = set(_name_of(column).split("_"))
        if column not in plan.unused or not words & _OF_SIGNS:
            continue
        cells = {cell.strip() for cell in filled_cells(rows, at)}
        flags = {"1", "1.0", "true", "yes"} if words & {"negative", "penalty"} else set[str]()
        cells -= set() if words & _SIGNED else {"-", "–", "−"}
        several = "polarity" in words and len(cells) > 1
        numbers = [_number_of(cell, "sign") or _number_of(cell, "number") or 0 for cell in cells]
        if several or not flags.isdisjoint(map(plain, cells)) or min(numbers, default=0) < 0:
            remark = (
                f"{column!r} seems to say which rubrics are bad to meet, but it is not used, and all count as good to "
                "meet: give --polarity CRITERION=-1, or a column called polarity with 1 or -1 for each rubric"
            )
            plan = plan.with_remarks(remark)
    return plan


_OF_SIGNS = word_set(
    "weight weights importance points point negative penalty reward polarity sign direction type kind"
)
_SIGNED = frozenset(["polarity", "sign", "direction"])  # columns in which a dash is a minus
_SIGNS = dict.fromkeys(POSITIVE, 1.0) | dict.fromkeys(NEGATIVE, -1.0)


def _number_of(cell: str, wanted: Type) -> float | None:
    """The number in a cell of this type ("positive" and "+" are 1 for "sign"); None for any other text."""
    text = cell.strip().lower()
    if wanted == "sign" and text in _SIGNS:
        return _SIGNS[text]
    text = text.replace(MINUS, "-")
    text = re.sub(f"{UNIT}$", "", text) if wanted == "number" else text
    return float(text) if is_number(text) else None


def _without_half_scale(described: Mapping[str, Columns]) -> dict[str, Columns]:
    """The descriptions without a ``scale_min`` that was taken from a synonym if there is no ``scale_max``."""
    found = dict(described)
    rubrics = dict(found.get("rubrics", {}))
    low = rubrics.get("scale_min")
    if "scale_max" not in rubrics and isinstance(low, str) and plain_name(low) != "scale_min":
        del rubrics["scale_min"]
        found["rubrics"] = rubrics
    return found


def with_described(plan: FilePlan, described: Mapping[str, Columns]) -> FilePlan:
    """The plan with these columns as ``described``, without the ones that it uses otherwise."""
    left = (*plan.unused, *_described_columns(plan))
    kept = {
        k: {c: v for c, v in columns.items() if v in left or is_listed(columns) or str(v).startswith("=")}
        for k, columns in described.items()
    }
    kept = {k: columns for k, columns in kept.items() if columns}
    found = replace(
        plan, described=kept, tables=(*(t for t in plan.tables if t not in plan.described), *kept)
    )
    taken = _described_columns(found)
    return replace(
        found,
        unused=(
            *(c for c in plan.columns if c in left and c not in taken),
            *(c for c in plan.unused if c not in plan.columns and c not in taken),
        ),
        suspects=tuple(c for c in plan.suspects if c not in taken),
    )


def described_parts(file: FilePlan) -> list[FilePlan]:
    """The plans that read the descriptions in a table of labels, one for each kind: rubrics, queries, answers."""
    parts = []
    for kind, columns in descriptions_of(file).items():
        keys: Columns = {c: v for c, v in file.mapping.items() if c in KEYS[kind]}
        keys = _around(keys, columns["rubric"]) if is_listed(columns) else keys
        others = dict.fromkeys(SPECS[kind].columns, "")  # so that no other column is recognised by its name
        mapping = {**others, **keys, **columns}
        parts.append(replace(file, kind=kind, mapping=mapping, gold=(), described={}, words={}))
    return parts


def _around(keys: Columns, rubric: str | tuple[str, ...]) -> Columns:
    """The label keys that also hold for the list of ``rubric``: those of the whole record, such as the query."""
    home = parse_path(str(rubric)).steps
    paths = {c: parse_path(v).steps for c, v in keys.items() if c != "rubric" and isinstance(v, str)}
    return {c: keys[c] for c, steps in paths.items() if steps == home[: len(steps)]}


def is_listed(columns: Columns) -> bool:
    """Whether descriptions are in a separate list of the record, which names the rubrics itself."""
    return "rubric" in columns


def without_doubles(plans: Sequence[FilePlan]) -> list[FilePlan]:
    """The plans without descriptions of rubrics, queries or answers in tables of labels, if another file has them."""
    own = {table for p in plans if not p.skip and not p.described for table in p.tables if table != "labels"}
    return [_without(p, own & set(p.described)) if p.described else p for p in plans]


def keys_of(plan: FilePlan, kind: Kind) -> tuple[str, ...] | None:
    """The columns that name the items of ``kind`` (rubrics: query, rubric); None if the table lacks a needed one."""
    held = {c: plan.mapping.get(c) for c in KEYS[kind]}
    if any(held[c] is None for c in SPECS[kind].needed if c in held):
        return None
    if any(isinstance(v, tuple) for v in held.values()):
        return None
    return tuple(v for v in held.values() if isinstance(v, str) and v in plan.columns) or None


def _without(plan: FilePlan, kinds: Set[str]) -> FilePlan:
    return with_described(plan, {k: v for k, v in plan.described.items() if k not in kinds})


def _described_columns(plan: FilePlan) -> set[str]:
    return {v for columns in plan.described.values() for v in columns.values() if isinstance(v, str)}


def _texts_differ(texts: Mapping[tuple[str | None, ...], str], within: Sequence[int]) -> bool:
    """Whether some texts differ among keys that are equal at the positions ``within``, or no two keys are equal there.

    texts: key → its text.
    """
    groups = _grouped(texts, within)
    return any(len(set(g)) > 1 for g in groups) or all(len(g) == 1 for g in groups)


def _grouped(texts: Mapping[tuple[str | None, ...], str], within: Sequence[int]) -> Collection[Sequence[str]]:
    groups: dict[tuple[str | None, ...], list[str]] = {}
    for key, text in texts.items():
        groups.setdefault(tuple(key[i] for i in within), []).append(text)
    return groups.values()


def _describes(
    plan: FilePlan, rows: Sample, keys: tuple[str, ...], column: str, kind: Kind, canonical: str
) -> bool:
    """Whether a column's cells in the first rows have the right type, one value for each key, and suit the labels."""
    name, at, of = _name_of(column), plan.columns.index(column), [plan.columns.index(key) for key in keys]
    wanted = SPECS[kind].values[canonical]
    seen: dict[tuple[str | None, ...], str] = {}
    beside: list[tuple[float, list[float]]] = []
    worded = False
    for row in rows:
        cell = row[at] if at < len(row) else None
        if cell is None or not cell.strip():
            continue
        number = None if wanted == "text" else _number_of(cell, wanted)
        if number is None and plain(cell) in UNKNOWN:
            continue
        if canonical == "polarity" and name not in _SIGNED and not cell.strip().isalpha():
            return False  # a dash may mean that the value is missing
        value = cell.strip()
        worded = worded or value.isalpha()
        if wanted != "text":
            if number is None or not _is_of_type(number, wanted):
                return False
            beside.append((number, _levels_in(plan, row)))
            value = str(number)
        key = tuple(row[k] if k < len(row) else None for k in of)
        if seen.setdefault(key, value) != value:
            return False
    within = [i for i, k in enumerate(keys) if k in {plan.mapping.get(c) for c in WITHIN[kind]}]
    if canonical == "text":
        return bool(seen) and _texts_differ(seen, within)
    if canonical == "polarity" and (
        name != canonical or worded
    ):  # it may be a type of the query or of the answer
        of_names = _grouped(seen, [i for i in range(len(keys)) if i not in within])
        several = any(len(set(group)) > 1 for group in _grouped(seen, within))
        return several and all(len(set(group)) == 1 for group in of_names)
    return bool(seen) and (name == canonical or _suits(canonical, beside))


def _is_of_type(number: float, wanted: Type) -> bool:
    return {
        "sign": number in (-1, 1),
        "whole": number.is_integer() and abs(number) <= LARGEST,
        "positive": number >= 0,
    }.get(wanted, True)


def _levels_in(plan: FilePlan, row: Sequence[str | None]) -> list[float]:
    """The labels of a row that are numbers or known words, as numbers."""
    holders = plan.wide or (plan.mapping.get("label"),)
    cells = [row[i] for i, c in enumerate(plan.columns) if c in holders and i < len(row)]
    levels = [plan.words.get(c, float(c) if is_number(c) else None) for c in cells if c is not None]
    return [level for level in levels if level is not None]


def _suits(canonical: str, beside: Sequence[tuple[float, list[float]]]) -> bool:
    """Whether numbers under a synonym of ``canonical`` can be the scale end, pass mark or weight for the labels.

    beside: (number, labels of its row). A maximum above 1 is no scale of labels that all lie from 0 to 1. A maximum
    that some label exceeds is only the highest label given. Points that are 0 wherever the label is 0, or that always
    equal the label, were awarded and are no weight.
    """
    pairs = [(value, level) for value, levels in beside for level in levels]
    if canonical == "scale_min":
        return all(value <= level for value, level in pairs)
    if canonical in ("scale_max", "pass_mark"):
        low = bool(pairs) and all(0 <= level <= 1 for _, level in pairs) and any(v > 1 for v, _ in pairs)
        return not low and (canonical == "pass_mark" or all(value >= level for value, level in pairs))
    if canonical == "weight":
        of_none = [value for value, level in pairs if level == 0]
        awarded = bool(of_none) and not any(of_none) and any(value for value, _ in pairs)
        same = len({level for _, level in pairs}) > 1 and all(value == level for value, level in pairs)
        return not awarded and not same
    return True
