"""Read systems and judges from file names, by a pattern such as ``{system}__{judge}.jsonl``."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass
from itertools import product
from typing import Literal

from ...errors import IngestError
from ...text import listed
from .columns.label_names import called_after_criteria
from .columns.specs import names_of, plain_name
from .guess import MODEL
from .sources import SHEET
from .wide.column_names import names_a_judge

FIELDS = ("system", "judge", "query", "rubric", "run")
_LONGEST = 2000  # most characters of a pattern, and of the end of a path that is matched
_FIELD = re.compile(r"\{(\w+)\}|(\*)")
_NOISE = re.compile(
    r"(?i)(^|[._\- ])(judge?ments?|results?|allresults|"
    r"grades?|graded|grader|scores?|samples?|eval|evals|labels?|output|"
    r"train|test|dev|val|valid|validation|data|dataset|annotations?|export|\d{5}(-of-\d{5})?|"
    r"outputs|reviews?|final|evaluations?|head|strict|loose|healthbench|hellobench|wildbench|"
    r"\d{8}([_T-]?\d{4,6})?|\d{4}-\d{2}-\d{2}([T_ ][\d:.-]+)?)(?=$|[._\- ])"
)
_BY = r"(?:judged|graded|scored|rated|evaluated|reviewed)[\s_.\-]+by[\s_.\-]+"
_JUDGE = re.compile(rf"(?i)judge|grader|rater|annotator|evaluator|reviewer|{_BY}")
_RUNS = "run|trial|seed|epoch|attempt|rep|repeat|iter|iteration"
_RUN = re.compile(rf"(?i)({_RUNS})[\s_.\-#]*\d+")
_NUMBERED = re.compile(rf"(?i)(?P<system>.+?)(?P<by>[\s_.\-]+(?:{_RUNS})[\s_.\-#]*)(?P<run>\d+)")
_JUDGED = re.compile(rf"(?i)(?P<system>.+?)(?P<by>[\s_.\-]+{_BY})(?P<judge>.+)")
_PARTITION = re.compile(r"([^=/]+)=[^=/]+")
_PART = re.compile(
    r"(?i)(part|data|file|chunk|shard|batch)?[\W_]*\d[\w\-.]*"
)  # a part of a table, as database engines name its files
_SYSTEM = re.compile(rf"{MODEL.pattern}|(?i:system|model)")
# Folders of well-known tools: expression for the end of a path, pattern, confidence, reason.
_LAYOUTS = (
    (
        r"(^|/)[^/]+/eval_results_(strict|loose)\.jsonl$",
        "{system}/eval_results_{judge}.jsonl",
        0.85,
        "IFEval checks each answer strictly and loosely",
    ),
    (
        r"(^|/)[^/]+/[^/]+_results\.jsonl$",
        "{system}/*_results.jsonl",
        0.85,
        "each file is a task of the system that its folder names",
    ),
    (
        r"(^|/)[^/]+/samples_[^/]+\.jsonl$",
        "{system}/samples_*.jsonl",
        0.9,
        "each file is a task of the model that its folder names",
    ),
    (
        r"(^|/)[^/]+/[^/]+_DecomposeEval\.json$",
        "{judge}/{system}_DecomposeEval.json",
        0.85,
        "each file is a system, its folder the judge",
    ),
    (
        r"_reasoning_[^/]+\.jsonl$",
        "{judge}_reasoning_*.jsonl",
        0.85,
        "each file is named after its judge",
    ),
)


@dataclass(frozen=True)
class NameGuess:
    """A guessed pattern of file names, with its confidence (0 to 1) and the reason.

    asked: a question on the file names that the user has to answer first; "" if there is none.
    """

    pattern: str
    confidence: float
    reason: str
    asked: str = ""


@dataclass(frozen=True)
class Token:
    """A part of a pattern: literal text, a field, ``*`` (any text), or the file extension that ``.*`` matches."""

    kind: Literal["text", "field", "any", "ending"]
    text: str = ""

    @property
    def empty(self) -> bool:
        """Whether it may match the empty string."""
        return self.kind == "any"

    def takes(self, character: str) -> bool:
        """Whether it can match this character; never a slash."""
        if self.kind == "ending":
            return character.isalnum() or character == "_"
        return character != "/"


def read_pattern(pattern: str) -> tuple[Token, ...]:
    """Parse a pattern for the end of a path into its parts. ``*`` and fields match no slash.

    Raises IngestError where the pattern has no field, a field twice, or an unknown field.
    """
    fields = [m[1] for m in _FIELD.finditer(pattern) if m[1]]
    unknown = sorted(set(fields) - set(FIELDS))
    if unknown or not fields or len(fields) != len(set(fields)) or len(pattern) > _LONGEST:
        raise IngestError(
            f"The pattern {pattern[:200]!r} must hold each of {', '.join('{' + f + '}' for f in FIELDS[:2])} at most "
            "once, and one of them at least, such as {system}__{judge}.jsonl."
        )
    tokens, last = [], 0
    for found in _FIELD.finditer(pattern):
        tokens.append(Token("text", pattern[last : found.start()]))
        tokens.append(Token("field", found[1]) if found[1] else Token("any"))
        last = found.end()
    tokens.append(Token("text", pattern[last:]))
    if pattern.endswith(".*"):  # any extension; a name may hold dots
        tokens[-2:] = [Token("ending")]
    kept = [t for t in tokens if t.kind != "text" or t.text]
    return tuple(t for before, t in zip((None, *kept), kept, strict=False) if t.kind != "any" or t != before)


def fields_of(pattern: str, path: str) -> dict[str, str]:
    """Field → its value in a path; {} where the path does not match the pattern.

    Each field takes the shortest text that is possible. The time is at most the length of the pattern times that of the
    path, because no part is tried twice at one position.
    """
    tokens, end = read_pattern(pattern), path[-_LONGEST:]
    reach = _reachable(tokens, end)
    starts = [0, *(i + 1 for i, c in enumerate(end) if c == "/")]
    start = next((s for s in starts if reach[0][s]), None)
    if start is None:
        return {}
    found = {}
    for i, token in enumerate(tokens):
        stop = start + len(token.text) if token.kind == "text" else start + (not token.empty)
        while token.kind != "text" and not reach[i + 1][stop]:
            stop += 1
        if token.kind == "field":
            found[token.text] = end[start:stop].strip()
        start = stop
    return {name: value for name, value in found.items() if value}


def split_by(pattern: str, text: str) -> dict[str, str]:
    """Field → its value in a text, as in ``fields_of``, but fields may contain slashes."""
    swapped = text.replace("/", "\x00")
    found = fields_of(f"{pattern.replace('/', chr(0))}", swapped)
    return {name: value.replace("\x00", "/") for name, value in found.items()}


def _reachable(tokens: Sequence[Token], path: str) -> list[list[bool]]:
    """[i][p]: whether the tokens from the i-th to the last one match the path from position p to its end."""
    n = len(path)
    after = [False] * n + [True]
    rows = [after]
    for token in reversed(tokens):
        row = [False] * (n + 1)
        for p in range(n, -1, -1):
            if token.kind == "text":
                row[p] = path.startswith(token.text, p) and after[p + len(token.text)]
            else:
                longer = p < n and token.takes(path[p]) and (after[p + 1] or row[p + 1])
                row[p] = longer or (token.empty and after[p])
        if token.kind == "ending":
            row = [here and path[p].isalpha() for p, here in enumerate(row[:-1])] + [False]
        rows.append(row)
        after = row
    return rows[::-1]


def guess_pattern(paths: Sequence[str], *, criteria: bool = False) -> NameGuess | None:
    """Guess the pattern of the paths of files with the same layout; None where the names give no system or judge.

    criteria: whether the names may contain the criterion, because the files have no column for it.
    """
    named = [p.rsplit("/", 1)[-1] for p in paths]
    if all(SHEET in n for n in named):
        speaking = all(_SYSTEM.search(n.rpartition(SHEET)[2]) for n in named)
        return (
            NameGuess(f"*{SHEET}{{system}}", 0.75, "the sheets are named after models") if speaking else None
        )
    suffix = _shared_extension(named)
    if all(re.search(r"(^|/)eval=[^/]+/[^/]+$", p) for p in paths):
        return NameGuess("eval={judge}/{system}" + suffix, 0.95, "each file lies in a folder eval=<judge>")
    if partitions := _by_partitions(paths, suffix):
        return partitions
    if all(n.removesuffix(suffix).count("__") == 1 for n in named):
        return NameGuess("{system}__{judge}" + suffix, 0.9, "each name is two parts around __")
    for form, pattern, sure, why in _LAYOUTS:
        if all(re.search(form, p) for p in paths):
            return NameGuess(pattern, sure, why)
    if len(paths) > 1 and len(set(named)) < len(named) and all("/" in p for p in paths):
        return _by_folder(paths, suffix)
    return (
        _by_separator(named, suffix)
        or _by_product(named, suffix, criteria=criteria)
        or _by_stem(named, suffix)
    )


def _by_partitions(paths: Sequence[str], suffix: str) -> NameGuess | None:
    """The pattern of folders named column=value, as in partitioned tables: model=gpt-4/judge=claude/part-0.parquet."""
    folders = {tuple(m and m[1] for m in map(_PARTITION.fullmatch, p.split("/")[:-1])) for p in paths}
    names = folders.pop() if len(folders) == 1 else ()
    names = names[next((i for i, name in enumerate(names) if name), len(names)) :]
    fields = {f: n for f in FIELDS for n in names if n and plain_name(n) in names_of("labels", f)}
    if not fields:
        return None
    parts = [next((f"{n}={{{f}}}" for f, own in fields.items() if own == n), "*") for n in names]
    whose = "*" if "system" in fields or not _same_in_all(paths, suffix) else "{system}"
    return NameGuess(
        "/".join([*parts, whose + suffix]),
        0.95,
        f"each folder is named after a column and its value{', and has the same files' if whose != '*' else ''}",
    )


def _same_in_all(paths: Sequence[str], suffix: str) -> bool:
    """Whether all folders hold files of the same names, at least two, and none is called like a part: data_0, train."""
    held: dict[str, set[str]] = {}
    for folder, _, name in (p.rpartition("/") for p in paths):
        held.setdefault(folder, set()).add(name.removesuffix(suffix))
    first, *others = held.values()
    parts = any(_PART.fullmatch(name) or not _NOISE.sub("", name).strip("._- ") for name in first)
    return len(first) > 1 and all(own == first for own in others) and not parts


def _by_separator(named: Sequence[str], suffix: str) -> NameGuess | None:
    """The pattern of names that all end with a numbered run (``gpt-4_run1``) or contain "judged by"."""
    stems = [n.removesuffix(suffix) for n in named]
    for form, field, why in (
        (_NUMBERED, "run", "each name ends with a numbered run"),
        (_JUDGED, "judge", "each name says by whom it is judged"),
    ):
        found = [m for stem in stems if (m := form.fullmatch(stem))]
        if len(found) == len(stems) > 1 and len({m["by"] for m in found}) == 1:
            head = _noise_around(found[0]["system"])[0]
            head = head if all(m["system"].startswith(head) for m in found) else ""
            return NameGuess(f"{head}{{system}}{found[0]['by']}{{{field}}}{suffix}", 0.75, why)
    return None


def _by_product(named: Sequence[str], suffix: str, *, criteria: bool) -> NameGuess | None:
    """The pattern of names that combine every system with every judge, or with every criterion: ``gpt-4_claude``."""
    stems = [n.removesuffix(suffix) for n in named]
    head, tail = _noise_around(stems[0])
    if not all(s.startswith(head) and s.endswith(tail) for s in stems):
        head = tail = ""
    cores = [s[len(head) : len(s) - len(tail)] for s in stems]
    for between, at_end in product(_BETWEEN, (True, False)):
        pairs = [c.rpartition(between)[::2] if at_end else c.partition(between)[::2] for c in cores]
        first, second = map(set, zip(*pairs, strict=True))
        complete = len(first) * len(second) == len(set(pairs)) == len(pairs) and all(map(all, pairs))
        roles = _roles(first, second, between, criteria=criteria) if complete else None
        if roles and len(first) > 1 < len(second):
            return _of_pairs(named, pairs, roles, (head, between, tail), suffix)
    return None


@dataclass(frozen=True)
class _Roles:
    """The roles of the two names in a file's name.

    order: "system" and "judge", or "system" and "rubric", in the order of the file's name. settled: whether names
    settle this order, so that no question is needed. mixed: whether both together may also be the name of one system.
    """

    order: tuple[str, str]
    settled: bool
    mixed: bool


def _roles(first: Set[str], second: Set[str], between: str, *, criteria: bool) -> _Roles | None:
    """The roles of the names before and after ``between``; None if nothing shows that they are two different things.

    The roles are sure if ``between`` contains "by", or if the names of exactly one side are judges. They are a question
    if exactly one side consists of criteria or codes (``r1``), or if all names are models.
    """
    sides = sorted(first), sorted(second)
    judges = [all(map(_JUDGE.search, side)) for side in sides]
    rated = [criteria and called_after_criteria(side) for side in sides]
    coded = [all(map(_CODED.fullmatch, side)) for side in sides]
    settled = "by" in between or judges[0] != judges[1]
    mixed = rated[0] != rated[1] or coded[0] != coded[1]
    if not settled and not mixed and not all(map(_names_a_model, first | second)):
        return None
    other = "rubric" if not settled and rated[0] != rated[1] else "judge"
    comes_first = next((of[0] for of in (judges, rated, coded) if of[0] != of[1]), False)
    return _Roles((other, "system") if comes_first else ("system", other), settled, mixed)


def _of_pairs(
    named: Sequence[str],
    pairs: Sequence[tuple[str, str]],
    roles: _Roles,
    around: tuple[str, str, str],
    suffix: str,
) -> NameGuess:
    """The pattern of file names that hold two names each, and the question on their roles, if it is open.

    pairs: the two names of each file. around: the text before, between and after them.
    """
    head, between, tail = around
    pattern, swapped = (
        f"{head}{{{a}}}{between}{{{b}}}{tail}{suffix}" for a, b in (roles.order, roles.order[::-1])
    )
    whole = f"{head}{{system}}{tail}{suffix}"
    parted = all(
        fields_of(pattern, name) == dict(zip(roles.order, pair, strict=True))
        for name, pair in zip(named, pairs, strict=True)
    )
    other = next(field for field in roles.order if field != "system")
    what, several = {"judge": ("judge", "judges"), "rubric": ("criterion", "criteria")}[other]
    why = f"the names are all systems times all {several}"
    sure = 0.75 if roles.settled else 0.5
    if roles.settled and parted:
        return NameGuess(pattern, sure, why)
    names = " beside ".join(listed(sorted(set(side)), 4) for side in zip(*pairs, strict=True))
    renamed = f"SYSTEM__{other.upper()}{suffix} (--pattern '{{system}}__{{{other}}}{suffix}')"
    way = f"--pattern '{pattern}' or '{swapped}'" if parted else f"rename them as {renamed}"
    one = f", or '{whole}' if both name one system" if roles.mixed else ""
    asked = (
        f"Each file name holds two names, {names}: say which is the system and which the {what} ({way}{one})."
    )
    return NameGuess(pattern if parted else whole, sure, why, asked)


_BETWEEN = (" by ", "_by_", "-by-", ".by.", "_", "-", ".", " ", "+", "@")
_CODED = re.compile(r"(?i)[raj]\d{1,2}|experts?|crowd|humans?")  # of raters, or of versions of a system
_EDITION = re.compile(r"(?i)(sonnet|haiku|opus)[\d.\-_]*")  # of one model, as mini is


def _names_a_model(name: str) -> bool:
    return names_a_judge(name) and bool(MODEL.search(name)) and not _EDITION.fullmatch(name)


def _by_folder(paths: Sequence[str], suffix: str) -> NameGuess | None:
    """The pattern of folders that hold files of the same names: folders of judges, of numbered runs, or of systems.

    None where several levels of folders differ, and no model names show which level is the system.
    """
    depth = min(p.count("/") for p in paths) + 1
    levels = list(zip(*(p.removesuffix(suffix).split("/")[-depth:] for p in paths), strict=True))
    files = depth - 1
    varying = [i for i in range(depth) if len(set(levels[i])) > 1]
    runs = [i for i in varying if 0 < i < files and all(map(_RUN.fullmatch, levels[i]))]
    judges = [i for i in sorted({*varying, files - 1}) if all(map(_JUDGE.search, levels[i]))]
    models = [i for i in varying if all(map(MODEL.search, levels[i])) and i not in judges]
    others = [i for i in varying if i < files and i not in (*runs, *judges)]
    systems = models if len(models) == 1 else others or [files]
    if len(systems) > 1:
        return None
    others = [i for i in others if i != systems[0]]
    fields = {i: "{query}" for i in others if len(others) == 1}
    fields |= {i: f"{_shared_by(levels[i])}{{judge}}" for i in judges[:1]}
    fields[systems[0]] = "{system}"
    for i in runs[:1]:
        words = {name.rstrip("0123456789") for name in levels[i]}
        fields[i] = f"{words.pop() if len(words) == 1 else ''}{{run}}"
    pattern = "/".join(fields.get(i, "*") for i in range(min(fields), depth))
    told = [
        what for what, there in (("judges", judges), ("numbered runs", runs), ("models", models)) if there
    ]
    why = (
        f"the folders or files are named after {' and '.join(told)}"
        if told
        else "the folder names the system"
    )
    return NameGuess(pattern + suffix, 0.7, f"file names repeat, and {why}")


def _shared_by(names: Sequence[str]) -> str:
    """The prefix such as ``judged_by_`` or ``rated_by_`` that all names begin with; "" if there is none."""
    found = {m[0] if (m := re.match(rf"(?i){_BY}(?=.)", name)) else "" for name in names}
    return found.pop() if len(found) == 1 else ""


def _by_stem(named: Sequence[str], suffix: str) -> NameGuess | None:
    """The pattern in which the system is the file name without words such as "results" and dates at its ends."""
    stems = [n.removesuffix(suffix) for n in named]
    head, tail = _noise_around(stems[0])
    if any(not (s.startswith(head) and s.endswith(tail) and len(s) > len(head) + len(tail)) for s in stems):
        head = tail = ""
    if any(not _NOISE.sub("", s).strip("._- ") for s in stems):
        return None
    if all(_JUDGE.match(s) and not MODEL.search(s) for s in stems):
        return None
    sure = 0.6 if len(named) > 1 else 0.5
    return NameGuess(f"{head}{{system}}{tail}{suffix}", sure, "the file's name is taken for the system")


def _noise_around(stem: str) -> tuple[str, str]:
    """(prefix, suffix) of a name that belong to no system: ``results_`` and ``_2024-05-01``; "" where there is none."""
    core = stem
    while (found := _NOISE.match(core)) and found.end() < len(core):
        core = core[found.end() :].lstrip("._- ")
    head = stem[: len(stem) - len(core)]
    while True:
        ends = [m for m in _NOISE.finditer(core) if m.end() == len(core) and m.start() > 0]
        if not ends:
            break
        core = core[: ends[0].start()].rstrip("._- ")
    return head, stem[len(head) + len(core) :]


def _shared_extension(named: Sequence[str]) -> str:
    found = {
        re.sub(r"^.*?((\.(jsonl|ndjson|json|csv|tsv|parquet|eval))?)$", r"\1", n, flags=re.I) for n in named
    }
    return found.pop() if len(found) == 1 else ".*"
