"""What fields within nested JSON may be, by their names and values: labels, and what these are about."""

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
)  # names of labels, where nothing but their place says so
LABEL_ALIKE = 0.8
_LETTERS = "ABCDEFGHIJ"
_FEW, _LONGEST = 8, 40  # different words that may be labels, and their characters, at most
GRADER = re.compile(
    r"(?i)judge|grader|rater|human|annotator|annot_?\d|reviewer|expert|evaluator|physician|doctor|nurse|assessor|worker"
)

OF_SYSTEMS = re.compile(r"(^|_)(systems?|models?)(_|$)")  # in the name of an object whose keys are such
_WHO = r"(judge|rater|annotator|reviewer|assessor|labell?er|coder|expert|human|worker|physician|doctor)"
_JUDGES = re.compile(rf"(^|_){_WHO}s$|(^|_)(by|per)_({_WHO}|grader|evaluator)s?$")
_JUDGING = re.compile(r"(?i)judg|grader|evaluator|(^|_)(rater|annotator|reviewer)s?(\W|$)")
# lists of what was said of an answer, each by a person whom these fields name
RATINGS = re.compile(r"(?i)(^|_)(annotation|rating|review|judge?ment|evaluation|assessment|vote|grading)s$")
_PERSONS = ("user", "user_id", "username", "by", "author", "person")
_OF_MODELS, _OF_TEXTS = ("name", "model", "model_name", "id"), ("id", "name", "title")
OWN_NAMES: Mapping[str, tuple[str, ...]] = {  # of an object that is what a column names; best first
    **dict.fromkeys(("system", "judge", "annotator"), _OF_MODELS),
    **dict.fromkeys(("query", "rubric"), _OF_TEXTS),
}


def others(kind: Kind, fields: Mapping[str, Sequence[Any]], home: str, taken: set[str]) -> dict[str, str]:
    """The other columns by their names: of the list's items first, then of what is around them."""
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
        # the deeper, the nearer to the label; of the same depth what lies beside it, the shorter path, the usual word
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
    if "query" not in found and texts:  # of a column of its own that is decided later
        found["query"] = min(texts, key=lambda f: NAMES_OF_QUERIES.index(last_name(f)))
    if "query" not in found and (
        ids := _free_ids(fields, usable, found, home) or _ids_around(fields, found, home)
    ):
        found["query"] = ids[0]
    return found


def _asked_of_judges(fields: Iterable[str], labels: Collection[str]) -> set[str]:
    """The objects beside the labels that hold the criteria's names, too: what a judge was sent, and what it replied."""
    criteria = {parts_of(label)[-1] for label in labels}
    named = {parts_of(f)[0] for f in fields if f not in labels and criteria & {*parts_of(f)[1:]}}
    return named - {parts_of(label)[0] for label in labels}


def _is_around(field: str, labels: Collection[str]) -> bool:
    """Whether a field lies in an object that also holds labels."""
    home = field.rpartition(".")[0]
    return bool(home) and any(label.startswith(f"{home}.") for label in labels)


def _is_item_of_several(rubric: str, home: str, taken: set[str]) -> bool:
    """Whether what is taken for the rubric is an item, thus a query, of which several things are said further in."""
    inside = f"{home}." if home else ""
    return (
        last_name(rubric) in ITEMS
        and not (inside and rubric.startswith(inside))
        and (bool(home) or len(taken) > 1)
    )


def _id_of(text: str, fits: Sequence[str], fields: Mapping[str, Sequence[Any]]) -> str:
    """The id beside a field that says the same of each record as it: question_id beside question."""
    home, said = text.rpartition(".")[0], list(map(str, fields[text]))
    for field in (f for f in fits if f.rpartition(".")[0] == home and last_name(f).endswith("_id")):
        own = list(map(str, fields[field]))
        if len(own) == len(said) and len(set(own)) == len(set(said)) == len(set(zip(own, said, strict=True))):
            return field
    return text


def _ids_around(fields: Mapping[str, Sequence[Any]], found: Mapping[str, str], home: str) -> list[str]:
    """The ids of the items of a list around a list of labels, one each, where these items are no systems or raters."""
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
    """The fields of a list's items that are called ids, of another value in each item: ``results[].golden_id``.

    First those that name no answer as often as a query.
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


_OF_RUNS = ("run_id", "request_id", "session_id", "trace_id", "span_id")  # of one answer each


def _runs_on_the_way(home: str, found: Mapping[str, str]) -> str:
    """The list called after runs on the way to a list, or that itself, where each is of what is named outside it."""
    parts = parts_of(home)
    lists = [".".join(parts[: at + 1]) for at, part in enumerate(parts) if part.endswith("[]")]
    words = {f"{name}s" for name in names_of("labels", "run")}
    named = [found[c] for c in ("system", "query") if c in found]
    runs = (path for path in lists if last_name(path) in words)
    return next((p for p in runs if named and not any(n.startswith(f"{p}.") for n in named)), "")


def _that_may_be(kind: Kind, canonical: str, fields: Sequence[str], home: str) -> list[str]:
    """The fields that may be a canonical column by their names, or by that of the object which they name."""
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
    """Whether a field is one of the items of a list: ``judgments[].model``, and not ``cases[].judge.model``."""
    return ".".join(parts_of(path)[:-1]).endswith("[]")


def _is_of_judge(path: str) -> bool:
    """Whether a field lies within a judge, or within what one said: ``judge.model``, ``judgments[].model``."""
    return any(map(_JUDGING.search, parts_of(path)[:-1]))


def _names_its_object(kind: Kind, canonical: str, path: str) -> bool:
    """Whether a field names the object around it, which is called after a canonical column: ``model.name``.

    So it does the items of a list that is called after judges: ``judges[].name``. Of rubrics only criteria have such
    names: a rubric has several, and an item may be a query.
    """
    around = ".".join(parts_of(path)[:-1])
    holder = last_name(around)
    listed = canonical in ("judge", "annotator") and around.endswith("[]") and holds_judges(around)
    named = listed or holder in names_of(kind, canonical)
    called = named and last_name(path) in OWN_NAMES.get(canonical, ())
    return called and (canonical != "rubric" or holder.startswith("criteri"))


def _may_be_query(path: str, home: str) -> bool:
    """Whether a field within a record, outside the labels themselves, is named after what is answered."""
    name = last_name(path)
    inside = home and path.startswith(home + ".")
    return is_path(path) and not inside and name in NAMES_OF_QUERIES and name not in IDS_OF_ANSWERS


def last_name(path: str) -> str:
    """The last key of a path, as names are compared."""
    return plain_name(unescaped(parts_of(path)[-1]).replace("[]", "").replace("{}", ""))


def holds_judges(path: str) -> bool:
    """Whether an object is called after the judges that its keys name: ``judges``, ``ratings_by_judge``."""
    return bool(_JUDGES.search(last_name(path)))


def is_label(kind: Kind, path: str) -> bool:
    """Whether a field has a name of labels."""
    return is_called(kind, "label", path) or last_name(path) in _LABELS


def is_called(kind: Kind, canonical: str, path: str) -> bool:
    """Whether a field is named after a canonical column."""
    return last_name(path) in names_of(kind, canonical)


def says_who(kind: Kind, path: str) -> bool:
    """Whether a field is called after who judged."""
    return is_called(kind, rater_of(kind), path) or last_name(path) in RATERS


def names_judge(kind: Kind, path: str, values: Sequence[Any]) -> bool:
    """Whether a field is called after who judged, and holds texts that are no labels."""
    return says_who(kind, path) and all(isinstance(v, str) and v for v in values) and not holds_labels(values)


def rank(kind: Kind, canonical: str, path: str) -> int:
    """How usual the name of a field is for a canonical column; 0 is its own name."""
    names = names_of(kind, canonical)
    if last_name(path) in names:
        return names.index(last_name(path))
    own = OWN_NAMES.get(canonical, ())
    return len(names) + (own.index(last_name(path)) if last_name(path) in own else len(own))


def may_be_labels(kind: Kind, path: str, values: Sequence[Any]) -> bool:
    """Whether a field that has a name of labels holds labels, be it in words that nobody knows: few, and repeated."""
    words = [v for v in values if isinstance(v, str) and v.strip()]
    few = 1 < len(set(words)) <= min(_FEW, len(words) // 3) and all(len(w) <= _LONGEST for w in words)
    worded = few and len(words) == len(values) and not prefers(words) and not _are_counted(words)
    return is_label(kind, path) and (holds_labels(values) or worded)


def _are_counted(cells: Sequence[str]) -> bool:
    """Whether cells letter the items of each list, of three at least: A, B, C, D, A, B, C …"""
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
