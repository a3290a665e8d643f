"""Recognise fields within nested JSON by their names and values: labels and their system, query, rubric and judge."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from ..columns.label_names import RATERS
from ..columns.query_names import IDS_OF_ANSWERS, NAMES_OF_QUERIES
from ..columns.specs import SPECS, Kind, names_of, plain_name, rater_of
from ..columns.synonyms import INSTEAD_OF_RUBRIC, ITEMS
from ..guess import profile
from ..not_labels import prefers
from ..paths import is_path, parse_path, parts_of, unescaped
from ..word_lists import word_list

_LABELS = word_list(
    "success correct is_correct result avg judge_score judge_rating judge_grade judge_label judge_verdict "
    "grader_score llm_score"
)  # names that are of labels only within nested records
LABEL_ALIKE = 0.8
_LETTERS = "ABCDEFGHIJ"
_FEW, _LONGEST = 8, 40  # most different words that may be labels, and most characters of each
GRADER = re.compile(
    r"(?i)judge|grader|rater|human|annotator|annot_?\d|reviewer|expert|evaluator|physician|doctor|nurse|assessor|worker"
)

OF_SYSTEMS = re.compile(r"(^|_)(systems?|models?)(_|$)")  # a word in the name of an object keyed by systems
_WHO = r"(judge|rater|annotator|reviewer|assessor|labell?er|coder|expert|human|worker|physician|doctor)"
_JUDGES = re.compile(rf"(^|_){_WHO}s$|(^|_)(by|per)_({_WHO}|grader|evaluator)s?$")
_JUDGING = re.compile(r"(?i)judg|grader|evaluator|(^|_)(rater|annotator|reviewer)s?(\W|$)")
# names of lists of judgements on an answer; _PERSONS are fields that name the judge of each
RATINGS = re.compile(r"(?i)(^|_)(annotation|rating|review|judge?ment|evaluation|assessment|vote|grading)s$")
_PERSONS = ("user", "user_id", "username", "by", "author", "person")
_OF_MODELS, _OF_TEXTS = ("name", "model", "model_name", "id"), ("id", "name", "title")
OWN_NAMES: Mapping[str, tuple[str, ...]] = {  # name fields of an object such as model: {...}; best first
    **dict.fromkeys(("system", "judge", "annotator"), _OF_MODELS),
    **dict.fromkeys(("query", "rubric"), _OF_TEXTS),
}


def others(kind: Kind, fields: Mapping[str, Sequence[Any]], home: str, taken: set[str]) -> dict[str, str]:
    """Canonical column → path of its field, except the label: from the list's items first, then from around the list.

    home: the list with the labels, "" for the record. taken: the paths of the labels.
    """
    steps = parse_path(f"{home}.x").steps if home else ()
    usable = [
        f
        for f in fields
        if f not in taken and (t := parse_path(f).steps) == steps[: len(t)] and not f.endswith("[]")
    ]
    beside = {f.rpartition(".")[0] for f in taken}
    asked = _asked_of_judges(fields, taken)
    found: dict[str, str] = {}
    for canonical in SPECS[kind].columns:
        free = [f for f in usable if f not in found.values()]
        fits = _that_may_be(kind, canonical, free, home) if canonical != "label" else []
        if canonical == "system":
            fits = [f for f in fits if parts_of(f)[0] not in asked]
        # the deepest field first; at the same depth: beside the label, the shorter path, the more usual name
        fits.sort(
            key=lambda f: (
                -f.count("[]"),
                f.rpartition(".")[0] not in beside,
                f.count("."),
                rank(kind, canonical, f),
            )
        )
        if fits:
            found[canonical] = _id_of(fits[0], fits, fields) if canonical == "query" else fits[0]
    raters = [f for f in usable if _is_around(f, taken) and names_judge(kind, f, fields[f])]
    if raters and kind in ("labels", "gold"):
        found.setdefault(rater_of(kind), raters[0])
    named = any(last_name(f) in INSTEAD_OF_RUBRIC for f in usable)
    if "query" not in found and not named and _is_item_of_several(found.get("rubric", ""), home, taken):
        del found["rubric"]
    if kind == "labels" and "run" not in found and (runs := _runs_on_the_way(home, found)):
        found["run"] = f"{runs}.#"
    free = [f for f in usable if _may_be_query(f, home) and f not in found.values()]
    texts = [f for f in free if len(set(map(str, fields[f]))) > 1]
    if "query" not in found and texts:  # a plain column as the query is decided later
        found["query"] = min(texts, key=lambda f: NAMES_OF_QUERIES.index(last_name(f)))
    if "query" not in found and (
        ids := _free_ids(fields, usable, found, home) or _ids_around(fields, found, home)
    ):
        found["query"] = ids[0]
    return found


def _asked_of_judges(fields: Iterable[str], labels: Collection[str]) -> set[str]:
    """Top-level objects besides those of the labels that have the labels' keys, too: a judge's input or output."""
    criteria = {parts_of(label)[-1] for label in labels}
    named = {parts_of(f)[0] for f in fields if f not in labels and criteria & {*parts_of(f)[1:]}}
    return named - {parts_of(label)[0] for label in labels}


def _is_around(field: str, labels: Collection[str]) -> bool:
    """Whether a field lies in an object that also holds labels."""
    home = field.rpartition(".")[0]
    return bool(home) and any(label.startswith(f"{home}.") for label in labels)


def _is_item_of_several(rubric: str, home: str, taken: set[str]) -> bool:
    """Whether the rubric found is an ``item`` outside the labels' list, or with several labels, and thus a query."""
    inside = f"{home}." if home else ""
    return (
        last_name(rubric) in ITEMS
        and not (inside and rubric.startswith(inside))
        and (bool(home) or len(taken) > 1)
    )


def _id_of(text: str, fits: Sequence[str], fields: Mapping[str, Sequence[Any]]) -> str:
    """The id field beside a text that maps one to one to it: ``question_id`` for ``question``; else the text itself."""
    home, said = text.rpartition(".")[0], list(map(str, fields[text]))
    for field in (f for f in fits if f.rpartition(".")[0] == home and last_name(f).endswith("_id")):
        own = list(map(str, fields[field]))
        if len(own) == len(said) and len(set(own)) == len(set(said)) == len(set(zip(own, said, strict=True))):
            return field
    return text


def _ids_around(fields: Mapping[str, Sequence[Any]], found: Mapping[str, str], home: str) -> list[str]:
    """Id fields of the list around a list of labels, with unique values, if its items are no systems or raters."""
    outer = home.removesuffix("[]").rpartition("[]")[0]
    what = last_name(outer).removesuffix("s") if outer else ""
    whose = what in (*RATERS, *names_of("labels", "system")) or GRADER.search(what)
    if not outer or whose or found.get("system", "").rpartition(".")[0] == f"{outer}[]":
        return []
    ids = (
        f for f in fields if f.rpartition(".")[0] == f"{outer}[]" and last_name(f) in ("id", "idx", "index")
    )
    return [f for f in ids if len(set(map(str, fields[f]))) == len(fields[f]) > 1]


def _free_ids(
    fields: Mapping[str, Sequence[Any]], usable: Sequence[str], found: Mapping[str, str], home: str
) -> list[str]:
    """Id fields of a list's items with unique values: ``results[].golden_id``.

    Names that may also be ids of answers come last.
    """
    ids = [
        f
        for f in usable
        if home
        and f.rpartition(".")[0] == home
        and f not in found.values()
        and last_name(f).endswith("_id")
        and last_name(f) not in (*RATERS, *_OF_RUNS)
        and len(set(map(str, fields[f]))) == len(fields[f]) > 1
    ]
    return sorted(ids, key=lambda f: last_name(f) in IDS_OF_ANSWERS)


_OF_RUNS = ("run_id", "request_id", "session_id", "trace_id", "span_id")  # ids of single answers


def _runs_on_the_way(home: str, found: Mapping[str, str]) -> str:
    """The list named after runs on the path ``home``, such as ``trials[]``, if system or query is known outside it."""
    parts = parts_of(home)
    lists = [".".join(parts[: at + 1]) for at, part in enumerate(parts) if part.endswith("[]")]
    words = {f"{name}s" for name in names_of("labels", "run")}
    named = [found[c] for c in ("system", "query") if c in found]
    runs = (path for path in lists if last_name(path) in words)
    return next((p for p in runs if named and not any(n.startswith(f"{p}.") for n in named)), "")


def _that_may_be(kind: Kind, canonical: str, fields: Sequence[str], home: str) -> list[str]:
    """The fields that may be a canonical column, by their own name or by their object's, such as ``model.name``."""
    fits = [f for f in fields if is_called(kind, canonical, f)]
    if canonical == "system":
        fits = [f for f in fits if not _is_of_judge(f)] or [f for f in fits if "[]." in f and _is_of_item(f)]
        fits = fits or [f for f in fields if _OF_AGENT.fullmatch(f)]
    if canonical in ("judge", "annotator") and not fits:
        names = (*RATERS, *_PERSONS) if RATINGS.search(last_name(home.removesuffix("[]") or "x")) else RATERS
        fits = [f for f in fields if home and f.startswith(f"{home}.") and last_name(f) in names]
        fits = fits or [
            f
            for f in fields
            if "[]." in f and (last_name(f) in RATERS or f.endswith(".source.source_id"))  # MLflow
        ]
        fits = fits or [f for f in fields if is_called(kind, "system", f) and _is_of_judge(f)]
    return fits or [f for f in fields if _names_its_object(kind, canonical, f)]


_OF_AGENT = re.compile(r"([^\[\]{}]+\.)?agent(_info|_config)?\.(llm|llm_name|llm_model)")  # tau2-bench


def _is_of_item(path: str) -> bool:
    """Whether a field belongs directly to a list's items: ``judgments[].model``, but not ``cases[].judge.model``."""
    return ".".join(parts_of(path)[:-1]).endswith("[]")


def _is_of_judge(path: str) -> bool:
    """Whether a field lies within an object of a judge or of judgements: ``judge.model``, ``judgments[].model``."""
    return any(map(_JUDGING.search, parts_of(path)[:-1]))


def _names_its_object(kind: Kind, canonical: str, path: str) -> bool:
    """Whether a field is the name of an object that is called like a canonical column: ``model.name``.

    The same holds for items of a list of judges: ``judges[].name``. For the rubric, the object must be called a
    criterion, because a rubric has several criteria, and an item may be a query.
    """
    around = ".".join(parts_of(path)[:-1])
    holder = last_name(around)
    listed = canonical in ("judge", "annotator") and around.endswith("[]") and holds_judges(around)
    named = listed or holder in names_of(kind, canonical)
    called = named and last_name(path) in OWN_NAMES.get(canonical, ())
    return called and (canonical != "rubric" or holder.startswith("criteri"))


def _may_be_query(path: str, home: str) -> bool:
    """Whether a nested field, outside the items of the labels, has a name of queries that is no id of answers."""
    name = last_name(path)
    inside = home and path.startswith(home + ".")
    return is_path(path) and not inside and name in NAMES_OF_QUERIES and name not in IDS_OF_ANSWERS


def last_name(path: str) -> str:
    """The last key of a path, as ``plain_name`` writes it."""
    return plain_name(unescaped(parts_of(path)[-1]).replace("[]", "").replace("{}", ""))


def holds_judges(path: str) -> bool:
    """Whether an object's name means that its keys are judges: ``judges``, ``ratings_by_judge``."""
    return bool(_JUDGES.search(last_name(path)))


def is_label(kind: Kind, path: str) -> bool:
    """Whether a field has a name of labels."""
    return is_called(kind, "label", path) or last_name(path) in _LABELS


def is_called(kind: Kind, canonical: str, path: str) -> bool:
    """Whether a field has the name of a canonical column or a synonym."""
    return last_name(path) in names_of(kind, canonical)


def is_rater_name(kind: Kind, path: str) -> bool:
    """Whether a field has a name of judges: ``grader``, ``rated_by``."""
    return is_called(kind, rater_of(kind), path) or last_name(path) in RATERS


def names_judge(kind: Kind, path: str, values: Sequence[Any]) -> bool:
    """Whether a field has a name of judges, and all its values are texts that do not look like labels."""
    return (
        is_rater_name(kind, path)
        and all(isinstance(v, str) and v for v in values)
        and not holds_labels(values)
    )


def rank(kind: Kind, canonical: str, path: str) -> int:
    """The rank of a field's name among the names of a canonical column; 0 is the canonical name, lower is better."""
    names = names_of(kind, canonical)
    if last_name(path) in names:
        return names.index(last_name(path))
    own = OWN_NAMES.get(canonical, ())
    return len(names) + (own.index(last_name(path)) if last_name(path) in own else len(own))


def may_be_labels(kind: Kind, path: str, values: Sequence[Any]) -> bool:
    """Whether a field with a label's name holds labels, or a few short unknown words that repeat."""
    words = [v for v in values if isinstance(v, str) and v.strip()]
    few = 1 < len(set(words)) <= min(_FEW, len(words) // 3) and all(len(w) <= _LONGEST for w in words)
    worded = few and len(words) == len(values) and not prefers(words) and not _are_counted(words)
    return is_label(kind, path) and (holds_labels(values) or worded)


def _are_counted(cells: Sequence[str]) -> bool:
    """Whether cells are letters that enumerate the items of lists of at least three: A, B, C, D, A, B, C …"""
    places = [_LETTERS.find(c.upper()) if len(c) == 1 else -9 for c in cells]
    steady = all(after in (before + 1, 0) for before, after in pairwise(places))
    return bool(places) and places[0] == 0 and steady and len(places) >= 3 * places.count(0)


def holds_labels(values: Sequence[Any]) -> bool:
    """Whether the values of a field look like labels."""
    cells = [None if v is None else str(v).lower() if isinstance(v, bool) else str(v) for v in values]
    numbers = all(isinstance(v, (int, float)) for v in values if v is not None)
    if _are_counted([c for c in cells if c]):
        return False
    return any(c is not None for c in cells) and (numbers or profile(cells).labels >= LABEL_ALIKE)
