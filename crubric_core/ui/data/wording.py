"""Translate sentences of readers and checks for this page: its controls replace options of the command line."""

from __future__ import annotations

import re

from .files import APART
from .policies import CHOICES, RANGE, WORDS

_BEST, _CONFLICTS = CHOICES["polarity"][0], CHOICES["on_conflict"][2]
_DRAWS, _LATER = _CONFLICTS["runs"], _CONFLICTS["last"]
_CONTROLS = (
    (r"with --polarity '\*=-1' if .* a criterion\)", f"under “{_BEST}”"),
    (r"--polarity '[^']*=-1', or polarity in", "polarity -1 in"),  # for one criterion
    (r"(use )?on_conflict = runs", f"choose “{_DRAWS}”"),
    (r"(use )?on_conflict = last", f"choose “{_LATER}”"),
    (
        r"\(--mapping '\{\"judge\": \"=([^\"]*)\"\}' --on-conflict runs\)",
        rf"(type “\1” as the judge, and choose “{_DRAWS}”)",
    ),
    (r"(range bins divides|give their range) \(--scale[^)]*\)", rf"\1 (under “{RANGE}”)"),
    (r"are given \(--scale\)", f"are given (under “{RANGE}”)"),
    (r"\(--scale[^)]*\)", "(under “Scales”)"),
    (r"\(--answer[^)]*\)", f"(under “{WORDS}”)"),
    (r"\(policy threshold=([\d.]+)\)", rf"(“{CHOICES['threshold'][0]}”, from \1)"),
    (r"\(policy bins=(\d+)\)", rf"(“{CHOICES['bins'][0]}”, such as \1)"),
    (r"\(policy multiply=(\d+)\)", rf"(“{CHOICES['multiply'][0]}” 1/\1)"),
    (r"--scale\b", "“Scales”"),
    (r"--answer\S*", f"“{WORDS}”"),
    (r"with the mapping \{\"query\": \"~ [^\"]*\"\}", f"tick “{APART}”"),
    (
        r"; rename one or say which it is \(mapping\), with \{\"(?:system|judge)\": \"=…\"\} where",
        "; choose one above, or type the name in the table of files where",
    ),
    (r"; rename one or say which it is \(mapping\).*\.$", "; choose one above."),
    (r"ingest it as gold \(--kind gold\)", "choose “human gold labels” for it"),
)


def on_page(sentence: str) -> str:
    """The sentence with this page's controls in place of the command line's options."""
    for option, control in _CONTROLS:
        sentence = re.sub(option, control, sentence, flags=re.DOTALL)
    return sentence
