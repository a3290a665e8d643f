"""Decide whether a text is a request: the offline classifier applies to requests only, not to other documents."""

from __future__ import annotations

import re
from collections import Counter

SHORT = 60  # words; a text of at most so many counts as a request, whatever its form
TURNS = 3  # least number of turns of a transcript

_QUOTED = re.compile(r"“[^”]*”|\"[^\"]*\"|«[^»]*»")
_ADDRESSED = re.compile(
    r"\?|\b(?:i|i['’]\w+|we|we['’]\w+|me|us|my|our|you|you['’]\w+|your|please|let['’]s)\b", re.IGNORECASE
)
_VERBS = (
    r"add|adapt|advise|analy[sz]e|answer|argue|assess|assume|build|calculate|check|choose|"
    r"cite|classify|come up|compare|compile|complete|compose|compute|consider|continue|convert|"
    r"correct|create|critique|debug|decide|define|derive|describe|design|determine|develop|"
    r"devise|diagnose|discuss|draft|draw|edit|elaborate|estimate|evaluate|examine|expand|"
    r"explain|explore|extract|fill|find|fix|generate|give|go|help|identify|imagine|implement|"
    r"improve|interpret|invent|judge|keep|list|make|map|name|outline|paraphrase|pick|plan|"
    r"pretend|produce|propose|prove|provide|rank|rate|read|recommend|rephrase|reply|respond|"
    r"review|revise|rewrite|say|show|simplify|sketch|solve|state|suggest|summari[sz]e|tell|"
    r"test|trace|translate|use|verify|walk|weigh|write"
)
_ASKED = re.compile(
    rf"(?:^|[.!:;\n]\s*|\d[.)]\s*|[-*•]\s*)(?:then |now |first |next |also |and )?(?:{_VERBS})\b"
    r"|, (?:compare|create|describe|design|develop|draft|explain|summari[sz]e|write)\b",
    re.IGNORECASE,
)
_TURN = re.compile(r"(?:^|[|\n])\s*#?([A-Z][\w .'-]{0,24})#?\s*:\s")


def is_request(text: str) -> bool:
    """False for a transcript, and for long English prose that neither addresses a reader nor asks for anything."""
    if _is_transcript(text):
        return False
    if len(text.split()) <= SHORT:
        return True
    own = _QUOTED.sub(" ", text)
    return bool(_ADDRESSED.search(own) or _ASKED.search(own))


def _is_transcript(text: str) -> bool:
    """Whether a text begins with a turn, and has at least TURNS turns of two or more speakers, one of them twice."""
    turns = Counter(speaker.strip() for speaker in _TURN.findall(text))
    again = sum(n > 1 for n in turns.values())
    begins = _TURN.match(text.lstrip()) is not None
    return begins and turns.total() >= TURNS and len(turns) >= 2 and again >= 1
