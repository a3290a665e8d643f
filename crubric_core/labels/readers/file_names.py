"""Systems and judges from file names, by a pattern such as ``{system}__{judge}.jsonl``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ...errors import IngestError

FIELDS = ("system", "judge", "query", "rubric")
_FIELD = re.compile(r"\{(\w+)\}|(\*)")
_NOISE = re.compile(
    r"(?i)(^|[._\- ])(judge?ments?|results?|allresults|"
    r"grades?|graded|scores?|samples?|eval|evals|labels?|output|"
    r"outputs|head|healthbench|hellobench|wildbench|"
    r"\d{8}([_T-]?\d{4,6})?|\d{4}-\d{2}-\d{2}([T_ ][\d:.-]+)?)(?=$|[._\- ])"
)


@dataclass(frozen=True)
class NameGuess:
    """A pattern, how sure it is (0 to 1), and why."""

    pattern: str
    confidence: float
    reason: str


def read_pattern(pattern: str) -> re.Pattern[str]:
    """The expression of a pattern: it matches the end of a path; ``*`` and each field stop at a slash.

    Raises IngestError where it has no field, a field twice, or one that is unknown.
    """
    fields = [m[1] for m in _FIELD.finditer(pattern) if m[1]]
    unknown = sorted(set(fields) - set(FIELDS))
    if unknown or not fields or len(fields) != len(set(fields)):
        raise IngestError(
            f"The pattern {pattern!r} must hold each of {', '.join('{' + f + '}' for f in FIELDS[:2])} at most once, "
            "and one of them at least, such as {system}__{judge}.jsonl."
        )
    parts, last = [], 0
    for found in _FIELD.finditer(pattern):
        parts.append(re.escape(pattern[last : found.start()]))
        parts.append(f"(?P<{found[1]}>[^/]+?)" if found[1] else "[^/]*?")
        last = found.end()
    end = re.escape(pattern[last:])
    if pattern.endswith(".*"):  # any extension; a name may hold dots
        parts[-1:], end = [], r"[A-Za-z]\w*"
    return re.compile("(?:^|/)" + "".join(parts) + end + "$")


def fields_of(pattern: str, path: str) -> dict[str, str]:
    """What a path says under a pattern; {} where it does not follow it."""
    found = read_pattern(pattern).search(path)
    return {k: v.strip() for k, v in found.groupdict().items() if v.strip()} if found else {}


def guess_pattern(paths: Sequence[str]) -> NameGuess | None:
    """The pattern that the paths of one layout's files follow; None where their names say nothing."""
    named = [p.rsplit("/", 1)[-1] for p in paths]
    suffix = _shared_extension(named)
    if all(re.search(r"(^|/)eval=[^/]+/[^/]+$", p) for p in paths):
        return NameGuess("eval={judge}/{system}" + suffix, 0.95, "each file lies in a folder eval=<judge>")
    if all(n.removesuffix(suffix).count("__") == 1 for n in named):
        return NameGuess("{system}__{judge}" + suffix, 0.9, "each name is two parts around __")
    if all(re.search(r"(^|/)[^/]+/[^/]+_results\.jsonl$", p) for p in paths):
        return NameGuess(
            "{system}/*_results.jsonl", 0.85, "each file is a task of the system that its folder names"
        )
    if all(re.search(r"(^|/)[^/]+/samples_[^/]+\.jsonl$", p) for p in paths):
        return NameGuess(
            "{system}/samples_*.jsonl", 0.9, "each file is a task of the model that its folder names"
        )
    if all(re.search(r"(^|/)[^/]+/[^/]+_DecomposeEval\.json$", p) for p in paths):
        return NameGuess(
            "{judge}/{system}_DecomposeEval.json", 0.85, "each file is a system, its folder the judge"
        )
    if all(re.search(r"_reasoning_[^/]+\.jsonl$", p) for p in paths):
        return NameGuess("{judge}_reasoning_*.jsonl", 0.85, "each file is named after its judge")
    if len(paths) > 1 and len(set(named)) < len(named) and all("/" in p for p in paths):
        return NameGuess("{system}/*" + suffix, 0.7, "file names repeat, so the folder names the system")
    return _by_stem(named, suffix)


def _by_stem(named: Sequence[str], suffix: str) -> NameGuess | None:
    """What is left of the names when words such as "results" and dates are taken off their ends."""
    stems = [n.removesuffix(suffix) for n in named]
    head, tail = _noise_around(stems[0])
    if any(not (s.startswith(head) and s.endswith(tail) and len(s) > len(head) + len(tail)) for s in stems):
        head = tail = ""
    if any(not _NOISE.sub("", s).strip("._- ") for s in stems):
        return None
    sure = 0.6 if len(named) > 1 else 0.5
    return NameGuess(f"{head}{{system}}{tail}{suffix}", sure, "the file's name is taken for the system")


def _noise_around(stem: str) -> tuple[str, str]:
    """The words at both ends of a name that name no system."""
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
