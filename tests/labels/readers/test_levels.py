"""Systems, queries, judges and criteria nested in each other, by name or in lists: read as they are, or asked about."""

from __future__ import annotations

import json
from itertools import product

import pytest

from crubric_core.errors import IngestError
from tests.labels.readers.test_layouts import MODELS, cells, label
from tests.tiers import at_most

LEVELS = {
    "s": (MODELS, "model", ("outputs", "systems")),
    "q": (("q1", "q2"), "question_id", ("results", "tasks")),
    "j": (("ann", "bob"), "judge", ("annotations", "judges")),
    "c": (("clarity", "cites sources"), "criterion", ("scores", "rubrics")),
}
# what the fields of a record name, and what lies within (systems, queries, judges, criteria) → how many ways of writing
# them are read without a question, at least
NESTINGS = {
    **{"sq jc": 5, "sq cj": 6, "q sjc": 10, "q scj": 12, "q sc": 6, "s qjc": 5, "s qc": 3},
    **{"sqj c": 3, "sq c": 3, "qj sc": 6, " sqc": 6, " qsjc": 10},
}


def nested(inner, keyed, held, leaf, at):
    """What an object or a list holds: one level by name or in a list, the others within, labels at the end."""
    level, rest = inner[0], inner[1:]
    names, field, _ = LEVELS[level]
    found = {}
    for name in names:
        own = {**at, level: name}
        value = label(*(own[k] for k in "sqcj" if k in own))
        found[name] = (
            {held[rest[0]]: nested(rest, keyed, held, leaf, own)}
            if rest
            else ({"score": value, "reason": f"as {name} is"} if leaf else value)
        )
    if keyed[level]:
        return found
    return [{field: name, **(v if isinstance(v, dict) else {"score": v})} for name, v in found.items()]


def document(outer, inner, keyed, held, leaf):
    """The records of a file, or one record where everything lies within it."""
    first = held[inner[0]]
    names = [LEVELS[k][0] for k in outer]
    records = []
    for combination in product(*names):
        at = dict(zip(outer, combination, strict=True))
        records.append(
            {LEVELS[k][1]: name for k, name in at.items()} | {first: nested(inner, keyed, held, leaf, at)}
        )
    return records if outer else records[0]


def labels_of(levels):
    """(system, query, criterion, judge) → label, as they are nested."""
    names = [LEVELS[k][0] if k in levels else ("judge",) for k in "sqcj"]
    return {(s, q, c, j): label(s, q, c, *([j] if "j" in levels else [])) for s, q, c, j in product(*names)}


@pytest.mark.parametrize(("nesting", "least"), NESTINGS.items())
def test_no_nesting_is_read_as_labels_of_others(ws, nesting, least):
    """One in six was: keys of queries were judges, criteria within an item judges, and one of several keys was read."""
    outer, inner = nesting.split(" ")
    ways = list(product([False, True], repeat=len(inner)))
    read = 0
    for number, (way, leaf, held) in enumerate(product(ways, at_most((False,), (False, True)), (0, 1))):
        keyed, holders = dict(zip(inner, way, strict=True)), {k: LEVELS[k][2][held] for k in inner}
        content = json.dumps(document(outer, inner, keyed, holders, leaf)).encode()
        try:
            ws.ingest(content, f"d{number}", name="x.json")
        except IngestError:  # asked about, or refused
            continue
        found = {(s, q, r.removeprefix(f"{q}#"), j): v for (s, q, r, j), v in cells(ws, f"d{number}").items()}
        assert found == labels_of(outer + inner), (keyed, holders, leaf)
        read += 1
    assert read >= least
