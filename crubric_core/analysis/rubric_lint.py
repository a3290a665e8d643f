"""Static checks of rubric texts: find wordings that judges may apply differently.

Every finding is a reason to read the rubric again, not a verdict: the rules know words, not meanings, and only English.
``tests/analysis/test_rubric_lint.py`` measures what they find and miss on texts labelled by hand.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse

from ..text import numeral
from ..types import FloatArray, IntArray

SIMILAR = 0.8
"""Two rubrics of a query are near-duplicates if the Jaccard similarity of their words is at least this."""
RARE = 0.01
"""A wrong sign is suspected if so low an item–rest correlation has at most this probability by chance."""
KINDS = {
    "two demands": "Two demands in one: a judge cannot say which of them an answer fails.",
    "no observable": "It names nothing that a judge could point to in the answer.",
    "vague words": "Words that each judge may understand differently.",
    "near-duplicate": "It has nearly the same words as another rubric of the same query.",
    "sign": "Weaker systems meet it more often: the polarity may be wrong, or the wording reversed.",
}
"""Kinds of findings, each with its explanation."""

_LISTS = tomllib.loads(Path(__file__).with_name("lint_words.toml").read_text("utf-8"))
_VERBS, _VAGUE, _ENGLISH = (frozenset(_LISTS[name].split()) for name in ("verbs", "vague", "english"))
_PHRASES: tuple[str, ...] = tuple(_LISTS["phrases"])
_SUBJECT = re.compile(
    r"^(?:(?:the|this|an?)\s+)?"
    r"(?:response|answer|model|report|text|(?:\w+\s+)?\w+(?=\s+(?:is|are|feels)\b))\b"
)
_WORD = re.compile(r"[a-z][a-z'’-]*")
_BETWEEN = r"(?:also\s+|then\s+|clearly\s+|explicitly\s+|does\s+not\s+|do\s+not\s+)*(?P<verb>[a-z]+)\b"
_JOINS = re.compile(r"(?:,\s*|\s)(?:and|as well as|but|while)\s+" + _BETWEEN)
_SEMICOLON = re.compile(r";\s+(?:it\s+)?(?P<verb>[a-z]+)\b")
_NOT_ONLY = re.compile(r"\bnot only\b.{3,80}\bbut also\b|\bboth\b.{3,80}\band\b.{0,40}\b(?:is|are|has)\b")
_JUDGED = re.compile(r"(?:is|are|be|was|feels?|seems?|sounds?|reads?|has|have|demonstrates?|shows?)\b")
_NUMBERS = r"\b(?:at least|at most|more than|fewer than|one|two|three|four|five|first|last|e\.g\.)\b"
_CONTENT = re.compile(r"\b(?:that|whether|why|how|when|because|if|where|which|who|as)\b|:")
_POINTABLE = re.compile(r"\d|[“”\"‘]|" + _NUMBERS)


@dataclass(frozen=True)
class LintFinding:
    """A finding about a rubric. rubric: its position. kind: a key of KINDS. seen: the words or numbers behind it."""

    rubric: int
    kind: str
    seen: str


def lint(
    texts: Sequence[str | None],
    query: Sequence[object],
    item_rest: FloatArray,
    chance: FloatArray,
    n_systems: IntArray,
    names: Sequence[str] | None = None,
) -> tuple[LintFinding, ...]:
    """All findings about J rubrics, in the order of the rubrics.

    texts: text of each rubric, None if it has none. query: query of each rubric. item_rest: (J,) item–rest correlation
    over ``n_systems`` (J,) systems, NaN unknown. chance: (J,) probability of one as low by chance. names: names of the
    rubrics in findings about others, by default their positions.
    """
    found = [finding for j, text in enumerate(texts) if text for finding in _of_text(j, text)]
    found += _duplicates(texts, query, names or [f"number {j}" for j in range(len(texts))])
    found += _signs(item_rest, chance, n_systems)
    return tuple(sorted(found, key=lambda f: (f.rubric, list(KINDS).index(f.kind))))


def lint_table(findings: Sequence[LintFinding]) -> pd.DataFrame:
    """One row a finding: at (position of the rubric), kind, seen."""
    rows = [(finding.rubric, finding.kind, finding.seen) for finding in findings]
    return pd.DataFrame(rows, columns=["at", "kind", "seen"])


def is_english(text: str) -> bool:
    """Whether a text contains an English function word or a vague word; the rules about words skip other texts."""
    return bool(_ENGLISH & set(_words(text))) or bool(_vague_words(text.casefold()))


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _of_text(j: int, text: str) -> list[LintFinding]:
    if not is_english(text):
        return []
    flat = _SUBJECT.sub("", " ".join(text.casefold().split())).strip()
    plain = re.sub(r"\([^)]*\)|[“\"][^”\"]*[”\"]", " ", flat)  # examples and quotations are not demands
    found = []
    if joint := _second_demand(plain):
        found.append(LintFinding(j, "two demands", joint))
    vague = _vague_words(_demand(plain))
    if _is_unobservable(plain, flat):
        found.append(LintFinding(j, "no observable", "no verb of saying, no number, no quotation"))
    if vague:
        found.append(LintFinding(j, "vague words", ", ".join(vague)))
    return found


def _stem(word: str) -> str:
    """The base form of a verb in the third person; any other word unchanged."""
    for end, instead in (("sses", "ss"), ("shes", "sh"), ("ches", "ch"), ("ies", "y"), ("s", "")):
        if word.endswith(end) and not word.endswith("ss"):
            return word[: -len(end)] + instead
    return word


def _second_demand(text: str) -> str:
    """The words with which a second demand begins; "" if there is none.

    A word after "and" counts if it is a verb in the same form as the first: "names … and explains …", not "names and
    dates".
    """
    if pair := _NOT_ONLY.search(text):
        return pair[0][:60]
    for pattern in (_SEMICOLON, _JOINS):
        for match in pattern.finditer(text):
            verb = match["verb"]
            third = _stem(verb) != verb
            same_form = third == any(
                _stem(w) != w and _stem(w) in _VERBS for w in _words(text[: match.start()])
            )
            followed = re.match(r"\s+(?!of\b|or\b|and\b)\S", text[match.end() :])
            if _stem(verb) in _VERBS and same_form and followed and _has_verb(text[: match.start()]):
                return match[0].strip(" ,;")
    return ""


def _has_verb(text: str) -> bool:
    return any(_stem(word) in _VERBS for word in _words(text))


def _vague_words(text: str) -> list[str]:
    words = _words(text)
    return sorted({w for w in words if w in _VAGUE} | {p for p in _PHRASES if p in text})


def _demand(text: str) -> str:
    """The text without the content that an answer must state: in "states that it is vague", "vague" is not a demand."""
    says = any(_stem(word) in _VERBS for word in _words(text)[:4])
    content = _CONTENT.search(text) if says else None
    return text[: content.start()] if content else text


def _is_unobservable(text: str, full: str) -> bool:
    """Whether a rubric judges the answer as a whole: no verb for what the answer must do, nothing to count or quote."""
    if _has_verb(text) or _POINTABLE.search(full):
        return False
    return bool(_JUDGED.match(text)) or len(_words(text)) <= 3


def _duplicates(
    texts: Sequence[str | None], query: Sequence[object], names: Sequence[str]
) -> list[LintFinding]:
    """Findings for rubrics that are similar (SIMILAR) to an earlier rubric of their query, which the finding names."""
    known = [j for j, text in enumerate(texts) if text]
    codes = pd.factorize(pd.Series([query[j] for j in known], dtype=object))[0]
    found = []
    for code in np.unique(codes):
        members = [known[k] for k in np.flatnonzero(codes == code)]
        found += [
            LintFinding(
                members[later],
                "near-duplicate",
                f"shares {share:.0%} of the words with {names[members[earlier]]}",
            )
            for later, earlier, share in _similar([str(texts[j]) for j in members])
        ]
    return found


def _similar(texts: Sequence[str]) -> list[tuple[int, int, float]]:
    """(later, earlier, similarity) for each text that is similar to an earlier text, with the most similar of these."""
    words = [sorted(set(re.findall(r"\w+", text.casefold()))) for text in texts]
    flat, rows = [w for ws in words for w in ws], np.repeat(np.arange(len(words)), [len(ws) for ws in words])
    if not flat:
        return []
    columns = pd.factorize(np.array(flat, dtype=object))[0]
    table = sparse.csr_array((np.ones(len(flat)), (rows, columns)), shape=(len(words), columns.max() + 1))
    sizes = np.array([len(ws) for ws in words])
    shared = sparse.coo_array(table @ table.T)
    later, earlier = shared.coords
    keep = later > earlier
    later, earlier, both = later[keep], earlier[keep], shared.data[keep]
    share = both / (sizes[later] + sizes[earlier] - both)
    best: dict[int, tuple[int, int, float]] = {}
    for at in np.flatnonzero(share >= SIMILAR):
        one = (int(later[at]), int(earlier[at]), float(share[at]))
        if one[0] not in best or one[2] > best[one[0]][2]:
            best[one[0]] = one
    return [best[j] for j in sorted(best)]


def _signs(item_rest: FloatArray, chance: FloatArray, n_systems: IntArray) -> list[LintFinding]:
    return [
        LintFinding(int(j), "sign", f"item–rest r = {numeral(item_rest[j])} over {n_systems[j]} systems")
        for j in np.flatnonzero((item_rest < 0) & (chance <= RARE))
    ]
