"""Use the query text as the query in tables of labels that share texts but have different ids of the queries."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from ..columns.query_names import IDS_OF_ANSWERS, NAMES_OF_QUERIES, bare_name
from ..columns.specs import names_of, plain_name
from ..describing import Found
from ..formats.native import NATIVE
from ..tables.plan_cells import LEAST, cells_of, taken

_CALLED = names_of("labels", "query")
_SHARED = 0.5  # least share of a table's texts that other tables have, too


def with_shared_queries(found: Sequence[Found], decided: Collection[str]) -> list[Found]:
    """The files, with tables of the same columns keyed by a text column that they share, if their query ids all differ.

    Example: experiments with own ids and the same questions. decided: files with an earlier plan, which stay unchanged.
    """
    alike: dict[tuple[str, tuple[str, ...]], list[int]] = {}
    for i, f in enumerate(found):
        if (query := _own_query(f)) and f.plan.name not in decided:
            alike.setdefault((query, tuple(f.plan.columns)), []).append(i)
    named = dict(enumerate(found))
    for (query, columns), places in alike.items():
        tables = [found[i] for i in places]
        if len(tables) < 2 or _overlap([_cells(f, query) for f in tables]):
            continue
        texts = [
            c for c in columns if bare_name(c) in NAMES_OF_QUERIES and bare_name(c) not in IDS_OF_ANSWERS
        ]
        texts.sort(key=lambda c: NAMES_OF_QUERIES.index(bare_name(c)))
        for text in (t for t in texts if _is_text_of_query(tables, query, t)):
            named |= {i: _keyed(found[i], query, text) for i in places}
            break
    return list(named.values())


def _own_query(found: Found) -> str:
    """The query column of a table of labels, if it has no usual name of a query; "" if there is none."""
    plan = found.plan
    query = plan.mapping.get("query")
    if plan.kind != "labels" or plan.format in NATIVE or plan.skip or len(found.rows) < LEAST:
        return ""
    return (
        query if isinstance(query, str) and query in plan.columns and plain_name(query) not in _CALLED else ""
    )


def _cells(found: Found, column: str) -> set[str]:
    return {str(c) for c in cells_of(found.plan, found.rows, column) if c not in (None, "")}


def _overlap(values: Sequence[set[str]]) -> bool:
    return len(set[str]().union(*values)) < sum(map(len, values))


def _is_text_of_query(tables: Sequence[Found], query: str, column: str) -> bool:
    """Whether a column of texts maps one to one to the query in each table, and the tables share half of its texts."""
    texts = [_cells(f, column) for f in tables]
    for i, f in enumerate(tables):
        pairs = set(zip(*(cells_of(f.plan, f.rows, c) for c in (query, column)), strict=True))
        others = set[str]().union(*(t for j, t in enumerate(texts) if j != i))
        one_to_one = len(pairs) == len(_cells(f, query)) == len(texts[i]) > 1
        worded = 2 * sum(" " in t for t in texts[i]) > len(texts[i])  # texts, not numbers
        if not one_to_one or not worded or len(texts[i] & others) < _SHARED * len(texts[i]):
            return False
    return True


def _keyed(found: Found, query: str, column: str) -> Found:
    """The table with ``column`` as its query, and a remark with the reason."""
    plan = found.plan
    kept = replace(
        plan,
        guesses=tuple(g for g in plan.guesses if g.canonical != "query"),
        remarks=tuple(r for r in plan.remarks if not r.startswith("the query is its column")),
        unused=(*plan.unused, query),
    )
    remark = (
        f"the query is its column {column!r}, because the files share its values; each has its own values of "
        f"{query!r}"
    )
    why = f"the files share its values, and not those of {query!r}"
    return replace(found, plan=taken(kept, "query", column, 0.75, why, remark))
