"""Texts as data: each is enclosed in marks that no text can contain, so that its content cannot end it.

The marks of a message end with a code that is computed from its texts and occurs in none of them. Anything that looks
like a mark without the code is escaped too, since a model may be less exact than a parser.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

MARKS = ("request", "answer", "criterion")
_LOOKALIKE = re.compile(rf"<(?=\W*(?:{'|'.join(MARKS)}))", re.IGNORECASE)


def clean(text: str) -> str:
    """The text without NUL and unpaired surrogates, so that it can be sent."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def fence_code(seeds: Sequence[str], texts: Sequence[str]) -> str:
    """16 hexadecimal digits, a hash of ``seeds``, that occur in none of ``texts``."""
    said = "\x1e".join(seeds)
    lower = [text.casefold() for text in texts]
    number = 0
    while True:
        code = hashlib.sha256(f"{number}\x1f{said}".encode("utf-8", "replace")).hexdigest()[:16]
        if not any(code in text for text in lower):
            return code
        number += 1


def fenced(mark: str, code: str, text: str) -> str:
    """The text enclosed in its marks."""
    return f"<{mark}-{code}>\n{_LOOKALIKE.sub('&lt;', clean(text))}\n</{mark}-{code}>"
