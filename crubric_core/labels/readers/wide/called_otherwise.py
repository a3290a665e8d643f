"""Recognise criteria whose names usually mean something else: ``Reasoning``, ``Repetition``, ``Organization``."""

from __future__ import annotations

from collections.abc import Sequence

from ....text import as_json, listed
from ..columns.label_names import RATERS, may_hold_labels
from ..columns.query_names import IDS_OF_ANSWERS, NAMES_OF_QUERIES, bare_name
from ..columns.specs import names_of, plain_name, synonyms_of
from ..columns.synonyms import INSTEAD_OF_SYSTEM, SYNONYMS
from ..guess import ENOUGH, Sample, cells_at, profile
from ..words import UNKNOWN, is_number, plain

_RUNS = ("repetition", "attempt", "trial", "draw")
_DESCRIBING = ("text", "dimension", "domain", "polarity", "tags", "organisation")  # usually not numbers
_TRAITS = frozenset(("importance", *(name for c in _DESCRIBING for name in SYNONYMS[c]))) - {"category"}
_LEAST = 4  # least number of rows from which anything is inferred
_LEVELS = 11


def criteria_called_otherwise(columns: Sequence[str], sample: Sample) -> tuple[str, ...]:
    """Columns that are criteria by their cells, although their names usually mean something else."""
    return (
        *criteria_called_reasons(columns, sample),
        *criteria_called_runs(columns, sample),
        *criteria_called_descriptions(columns, sample),
    )


def criteria_called_reasons(columns: Sequence[str], sample: Sample) -> tuple[str, ...]:
    """Columns named like the reason of a label (``Reasoning``, ``Explanation``) that hold labels in most rows."""
    names = names_of("labels", "reason")
    held = {c: profile(cells_at(sample, i)) for i, c in enumerate(columns) if plain_name(c) in names}
    return tuple(c for c, own in held.items() if own.labels >= ENOUGH and 2 * own.known > len(sample))


def criteria_called_runs(columns: Sequence[str], sample: Sample) -> tuple[str, ...]:
    """A column named like a run (``Repetition``) with a few whole numbers beside labels, if no keys repeat; or ()."""
    named = [c for c in columns if plain_name(c) in _RUNS and _is_graded(c, columns, sample)]
    beside = named and [
        c
        for i, c in enumerate(columns)
        if c not in named and may_hold_labels(c) and profile(cells_at(sample, i)).labels >= ENOUGH
    ]
    rubrics = {"rubric", "label", *synonyms_of("labels", "rubric"), *synonyms_of("labels", "label")}
    if len(named) != 1 or not beside or any(plain_name(c) in rubrics for c in columns):
        return ()
    about = list(zip(*(cells_at(sample, columns.index(c)) for c in _keys(columns, sample)), strict=True))
    return tuple(named) if len(about) >= _LEAST and len(set(about)) == len(about) else ()


def criteria_called_descriptions(columns: Sequence[str], sample: Sample) -> tuple[str, ...]:
    """Columns named like descriptions (``Organization``, ``importance``) that are labels: a few whole numbers.

    The numbers must differ within some system and within some query.
    """
    named = [c for c in columns if plain_name(c) in _TRAITS and _is_graded(c, columns, sample)]
    keys = _keys(columns, sample) if named else []
    systems = [c for c in keys if plain_name(c) in _SYSTEMS]
    queries = [c for c in keys if plain_name(c) in _QUERIES]
    if not systems or not queries:
        return ()
    return tuple(c for c in named if all(_differs(c, k, columns, sample) for k in (systems[0], queries[0])))


def remarks_on_other_names(columns: Sequence[str], wide: Sequence[str], sample: Sample) -> list[str]:
    """Remarks on criteria among the ``wide`` columns that are named like runs or descriptions."""
    runs = [c for c in criteria_called_runs(columns, sample) if c in wide]
    others = [c for c in criteria_called_descriptions(columns, sample) if c in wide]
    told = [
        f"{c!r} is read as labels, because no two rows are about the same cell without it: if it numbers repeated "
        f"draws, give the mapping {as_json({'run': c})}"
        for c in runs
    ]
    if others:
        some, rest = listed([repr(c) for c in others], 6), [c for c in wide if c not in others]
        say = as_json({"rubric": rest})
        one = len(others) == 1
        instead = (
            f": if {'it describes' if one else 'they describe'} the rows, give the mapping {say}"
            if rest
            else ""
        )
        told.append(
            f"{some} {'is' if one else 'are'} read as labels, because {'it holds' if one else 'they hold'} numbers"
            f"{instead}"
        )
    return told


_SYSTEMS = frozenset((*names_of("labels", "system"), *INSTEAD_OF_SYSTEM))
_QUERIES = frozenset((*names_of("labels", "query"), *NAMES_OF_QUERIES))
_JUDGES = frozenset((*names_of("labels", "judge"), *RATERS))


def _keys(columns: Sequence[str], sample: Sample) -> list[str]:
    """The columns that are named like a system, query or judge, without ids that occur with one system each."""
    systems = [c for c in columns if plain_name(c) in _SYSTEMS]
    others = [c for c in columns if bare_name(c) in _QUERIES | _JUDGES and c not in systems]
    own = cells_at(sample, columns.index(systems[0])) if systems else []

    def of_answers(column: str) -> bool:
        cells = cells_at(sample, columns.index(column))
        return bool(own) and len(set(zip(cells, own, strict=True))) == len(set(cells))

    return [*systems, *(c for c in others if bare_name(c) not in IDS_OF_ANSWERS or not of_answers(c))]


def _is_graded(column: str, columns: Sequence[str], sample: Sample) -> bool:
    """Whether more than half of the rows are filled, and with 2 to 11 different whole numbers, none negative."""
    known = [c for c in cells_at(sample, columns.index(column)) if c is not None and plain(c) not in UNKNOWN]
    if 2 * len(known) <= len(sample) or not all(map(is_number, known)):
        return False
    numbers = {float(c) for c in known}
    return 1 < len(numbers) <= _LEVELS and all(n >= 0 and n.is_integer() for n in numbers)


def _differs(column: str, key: str, columns: Sequence[str], sample: Sample) -> bool:
    """Whether a column has several values for at least one value of the key column."""
    own, keys = (cells_at(sample, columns.index(c)) for c in (column, key))
    return len(set(zip(keys, own, strict=True))) > len(set(keys))
