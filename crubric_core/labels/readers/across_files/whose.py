"""Name the judge or run of files, or sheets, that give different labels to the same cells."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from ....text import as_json
from ..columns.query_names import NAMES_OF_QUERIES, bare_name
from ..columns.specs import plain_name
from ..columns.synonyms import ITEMS
from ..describing import Found
from ..formats.native import NATIVE
from ..guess import MODEL
from ..plan import Guess, remark_on_one_rubric, wide_columns
from ..sources import SHEET, Piece
from ..tables.plan_cells import cells_of, rows_of_keys, taken

SURE = 0.7  # least confidence of names that are taken without a question
_SHARED = 0.5  # least share of the smaller file's cells that the other one has, too
_RUN = re.compile(  # a word of its own, as in myRun: no arbiter
    r"(?i)((?<![a-z])|(?-i:(?<=[a-z])(?=[A-Z])))"
    r"(run|epoch|trial|attempt|seed|draw|rep|repeat|sample|iter)s?[\s_.\-]*$"
)
_JUDGE = re.compile(
    r"(?i)(judge|grader|rater|annotator|evaluator|scorer|reviewer|expert|arbiter|assessor|referee)s?[\s_.\-]*$"
)
_EXTENSION = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,7}(\.(gz|xz|bz2|zst))?$")

_KEYS = ("system", "query", "rubric", "judge", "annotator")

Cell = tuple[Any, ...]


@dataclass(frozen=True)
class Proposal:
    """A proposal of what the files are. what: "judge" or "run". names: one for each file.

    confidence: 0 to 1. pattern: of the files' paths, with ``{}`` in place of the name.
    """

    what: str
    names: tuple[str, ...]
    confidence: float
    reason: str
    pattern: str = "{}"


def ask_whose(found: list[Found], pieces: Sequence[Piece], *, strict: bool) -> list[Found]:
    """The files, with a judge or run from the file's name if they give different labels to the same cells.

    Only files without a judge are named. With ``strict``, names with low confidence are not taken, and the first file
    gets a problem that asks what each file is.
    """
    found = _with_rubric_of_each(_with_query_of_each(found), pieces)
    asked = [i for i, f in enumerate(found) if _names_no_judge(f)]
    if len(asked) < 2:
        return found
    alike, overlaps = _contradicting([_cells(found[i]) for i in asked])
    if len(alike) < 2:
        return found
    if (queries := _queries_of([found[i] for i in asked], [pieces[i] for i in asked])) is not None:
        known = dict(zip(asked, queries, strict=True))
        return ask_whose([known.get(i, f) for i, f in enumerate(found)], pieces, strict=strict)
    asked, place = [asked[i] for i in alike], {i: at for at, i in enumerate(alike)}
    proposal = propose(
        [pieces[i].seen_path for i in asked],
        [(place[i], place[j]) for i, j in overlaps if i in place and j in place],
    )
    both = any(MODEL.search(c) for i in asked for c in _systems_across(found[i]))
    model = _one_model([found[i] for i in asked]) if all(map(MODEL.search, proposal.names)) else ""
    if both or model:  # columns, or cells, and files may be named after models: which of them are the judges?
        proposal = replace(proposal, confidence=0.5)
    named = list(found)
    for position, i in enumerate(asked):
        named[i] = _with_proposal(named[i], proposal, proposal.names[position], strict=strict)
    if strict and proposal.confidence < SURE:
        judges = '{"judge": ["…"]}, the columns of judges,' if both else as_json({"judge": model})
        problem = _question(
            [found[i] for i in asked],
            proposal.pattern,
            judges if both or model else "",
            sheets=pieces[asked[0]].sheet,
        )
        named[asked[0]] = named[asked[0]].changed(problem=problem)
    return named


def _question(asked: Sequence[Found], pattern: str, judges: str, *, sheets: bool) -> str:
    """The question on files, or sheets, that give different labels to the same cells.

    judges: further words of the mapping if each file is a system; "" if the files cannot be systems.
    """
    mappings = [f.plan.mapping for f in asked]
    end = f"*{SHEET}{{}}" if sheets else pattern
    if all(str(m.get("system", "")).startswith("=") for m in mappings):
        end = end.replace("{}/*", "{}/{system}")  # the files are named after systems
    kinds = {"judge": "a judge", "run": "a repeated draw"}
    if not any("query" in m for m in mappings):
        kinds["query"] = "a query"
    rubrics = {str(m.get("rubric", "=")) for m in mappings}
    if all(r.startswith("=") or plain_name(r) in ITEMS for r in rubrics):
        kinds["rubric"] = "a rubric"
    said = ", ".join(
        f"{what} (--pattern '{end.replace('{}', f'{{{kind}}}')}')" for kind, what in kinds.items()
    )
    if judges:
        said += f", or a system (--pattern '{end.replace('{}', '{system}')}', with {judges} in the mapping)"
    first, second = (f.plan.name for f in asked[:2])
    more = f" and {len(asked) - 2} more" if len(asked) > 2 else ""
    return (
        f"{first} and {second}{more} give different labels to the same cells, and name no judge: say what each "
        f'file is, {said}, or name it in the mapping ({{"judge": "=…"}}).'
    )


def _queries_of(files: Sequence[Found], pieces: Sequence[Piece]) -> list[Found] | None:
    """The files with their query, if each has only one: from a field, or from file names that repeat in all folders.

    None if they have a query, or none is found.
    """
    if any("query" in f.plan.mapping for f in files):
        return None
    if (by_field := _by_field(files)) is not None:
        return by_field
    folders: dict[str, list[str]] = {}
    for piece in pieces:
        folder, _, name = piece.seen_path.rpartition("/")
        folders.setdefault(folder, []).append(_EXTENSION.sub("", name))
    several = {frozenset(names) for names in folders.values()}
    by_path = all(str(f.plan.mapping.get("system", "")).startswith("=") for f in files)
    if len(folders) < 2 or len(several) > 1 or not by_path:
        return None
    remark = "the query is the file's name, because each folder has files of the same names"
    stems = [_EXTENSION.sub("", piece.seen_path.rpartition("/")[2]) for piece in pieces]
    return [
        replace(f, plan=taken(f.plan, "query", f"={stem}", 0.7, "file names repeat in each folder", remark))
        for f, stem in zip(files, stems, strict=True)
    ]


def _by_field(files: Sequence[Found]) -> list[Found] | None:
    """The files with the query from an unused field with a name of queries that is constant in each file; or None."""
    fields = [c for c in files[0].plan.unused if bare_name(c) in NAMES_OF_QUERIES]
    for field in sorted(fields, key=lambda c: NAMES_OF_QUERIES.index(bare_name(c))):
        values = [set(cells_of(f.plan, f.rows, field)) for f in files]
        if all(len(own) == 1 and all(own) for own in values) and len(set.union(*values)) > 1:
            why, remark = f"each file has one {field!r}", f"the query is its {field!r}, one in each file"
            return [replace(f, plan=taken(f.plan, "query", field, 0.75, why, remark)) for f in files]
    return None


def _with_query_of_each(found: list[Found]) -> list[Found]:
    """The files with their queries, if they name judges but have the same keys, and each file is about one query."""
    open_ = [
        i
        for i, f in enumerate(found)
        if f.plan.kind in ("labels", "gold")
        and f.plan.format not in NATIVE
        and not (f.plan.problem or f.plan.skip or "query" in f.plan.mapping)
    ]
    keys = [set(rows_of_keys(found[i].plan, found[i].rows)) for i in open_]
    named = [i for i in open_ if {"judge", "annotator"} & set(found[i].plan.mapping)]
    if len(named) < len(open_) or not keys or sum(map(len, keys)) == len(set.union(*keys)):
        return found
    known = dict(zip(open_, _by_field([found[i] for i in open_]) or (), strict=False))
    return [known.get(i, f) for i, f in enumerate(found)]


def _with_rubric_of_each(found: list[Found], pieces: Sequence[Piece]) -> list[Found]:
    """The files with their names as the rubrics, if they have judges, no rubric column, and contradict each other."""
    open_ = [
        i
        for i, f in enumerate(found)
        if _names_no_rubric(f)
        and not (f.plan.problem or f.plan.skip)
        and {"judge", "annotator"} & set(f.plan.mapping)
    ]
    alike, _ = _contradicting([_cells(found[i]) for i in open_])
    if not open_ or len(alike) < len(open_):
        return found
    names = propose([pieces[i].seen_path for i in open_])
    if names.confidence >= SURE:  # of runs or models
        return found
    named = list(found)
    why = "the files give different labels to the same cells"
    for i, name in zip(open_, names.names, strict=True):
        plan = replace(
            found[i].plan, remarks=tuple(r for r in found[i].plan.remarks if r != _remark(found[i]))
        )
        remark = f"the rubric is the file's name, {name!r}, because {why}"
        named[i] = replace(found[i], plan=taken(plan, "rubric", f"={name}", SURE, why, remark))
    return named


def _names_no_rubric(found: Found) -> bool:
    """Whether a table was planned with a single, unnamed rubric."""
    return _remark(found) in found.plan.remarks


def _remark(found: Found) -> str:
    return remark_on_one_rubric(str(found.plan.mapping.get("rubric", "")).removeprefix("="))


def propose(paths: Sequence[str], overlaps: Sequence[tuple[int, int]] | None = None) -> Proposal:
    """Judges or runs from the parts in which the files' names differ.

    overlaps: pairs of positions of files that share cells, so that they need different names; None: all pairs.
    """
    overlaps = list(combinations(range(len(paths)), 2)) if overlaps is None else overlaps
    stems = [_EXTENSION.sub("", path.rsplit("/", 1)[-1]) for path in paths]
    end = (_EXTENSION.search(paths[0]) or ("",))[0]
    pattern = "{}" + end if len(set(stems)) == len(stems) else "{system}/{}" + end
    if any(stems[i] == stems[j] for i, j in overlaps):  # the same name in several folders
        stems = [path.rsplit("/", 2)[-2] if path.count("/") else path for path in paths]
        pattern = "{}/*" + end
    return replace(_by_names(stems), pattern=pattern)


def _by_names(stems: Sequence[str]) -> Proposal:
    head = _common_start(stems)
    head = head if _names_run_or_judge(head) else re.sub(r"[0-9A-Za-z]*$", "", head)
    tail = re.sub(r"^[0-9A-Za-z]*", "", _common_start([s[len(head) :][::-1] for s in stems])[::-1])
    names = tuple(s[len(head) : len(s) - len(tail) if tail else None].strip(" _.-") or s for s in stems)
    names = names if len(set(names)) == len(set(stems)) else tuple(stems)
    whole = [re.sub(r"[\d\s_.\-]+$", "", n) for n in names]
    if _RUN.search(head) or all(_RUN.search(w) for w in whole):
        return Proposal("run", names, 0.85, "the file names number repeated draws")
    if _JUDGE.search(head) or all(
        _JUDGE.search(w) or _JUDGE.match(n) for w, n in zip(whole, names, strict=True)
    ):
        return Proposal("judge", names, 0.85, "the file names contain words for judges")
    if all(MODEL.search(n) for n in names):
        return Proposal(
            "judge", names, 0.75, "the files are named after models, and give labels to the same cells"
        )
    return Proposal("judge", names, 0.5, "the files give different labels to the same cells")


def _common_start(names: Sequence[str]) -> str:
    """The longest common beginning of all names."""
    first, last = min(names), max(names)
    same = next(
        (i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last))
    )
    return first[:same]


def _names_run_or_judge(head: str) -> bool:
    return bool(_RUN.search(head) or _JUDGE.search(head))


def _names_no_judge(found: Found) -> bool:
    plan = found.plan
    given = plan.mapping
    return (
        plan.kind in ("labels", "gold")
        and plan.format not in NATIVE
        and not plan.skip
        and plan.problem is None
        and ("label" in given or bool(wide_columns(given)))
        and not {"judge", "annotator", "run"} & set(given)
    )


def _cells(found: Found) -> dict[Cell, str | None]:
    """(system, query, rubric, judge, annotator) → label in the first rows; in a wide table for each label column."""
    at: Mapping[str, int] = {c: i for i, c in enumerate(found.plan.columns)}
    given = found.plan.mapping
    spread = next(((c, v) for c, v in given.items() if isinstance(v, tuple)), None)
    what, wide = spread or ("label", (str(given.get("label", "")),))

    def cell(row: Sequence[str | None], column: str) -> str | None:
        if column.startswith("="):
            return column[1:]
        return row[at[column]] if column in at and at[column] < len(row) else None

    def key(row: Sequence[str | None], column: str) -> Cell:
        return tuple(column if c == what else cell(row, str(given.get(c, ""))) for c in _KEYS)

    return {key(row, column): cell(row, column) for row in found.rows for column in wide}


def _systems_across(found: Found) -> tuple[str, ...]:
    """The columns of a wide table that are systems, or whose names contain them; else ()."""
    given = found.plan.mapping
    wide = given.get("rubric" if str(given.get("system", "")).startswith("~ {") else "system", ())
    return wide if isinstance(wide, tuple) else ()


def _one_model(files: Sequence[Found]) -> str:
    """The system column of all files, if they have the same column and a single system; else ""."""
    columns = {str(f.plan.mapping.get("system", "")) for f in files}
    column = columns.pop() if len(columns) == 1 else ""
    cells = {cell for f in files if column in f.plan.columns for cell in cells_of(f.plan, f.rows, column)}
    return column if len(cells) == 1 else ""


def _contradicting(files: Sequence[Mapping[Cell, str | None]]) -> tuple[list[int], list[tuple[int, int]]]:
    """(positions of files that share half of their cells with another one and contradict it, pairs that share half)."""
    alike: set[int] = set()
    overlaps = []
    for i, one in enumerate(files):
        for j in range(i):
            shared = one.keys() & files[j].keys()
            enough = bool(shared) and len(shared) >= _SHARED * min(len(one), len(files[j]))
            overlaps += [(j, i)] * enough
            if enough and (alike & {i, j} or any(one[cell] != files[j][cell] for cell in shared)):
                alike |= {i, j}
    return sorted(alike), overlaps


def _with_proposal(found: Found, proposal: Proposal, name: str, *, strict: bool) -> Found:
    plan = found.plan
    what = "annotator" if plan.kind == "gold" and proposal.what == "judge" else proposal.what
    if what == "run" and plan.kind == "gold":
        return found
    guess = Guess(what, f"={name}", proposal.confidence, proposal.reason)
    taken = proposal.confidence >= SURE or not strict
    mapping = {**plan.mapping, what: f"={name}"} if taken else plan.mapping
    return found.changed(mapping=mapping, guesses=(*plan.guesses, guess))
