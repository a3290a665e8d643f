"""The secret in a link. Only its hash is kept, and a view's id is the beginning of that hash.

So the files of a token are found without a search, and a reader's input never becomes part of a path.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets

from ..environment import typed
from ..errors import SharingError

_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")  # token_urlsafe(32): 256 random bits
_ID = re.compile(r"[0-9a-f]{16}")


def new_token() -> str:
    """A new random token of 43 characters."""
    return secrets.token_urlsafe(32)


def is_token(text: object) -> bool:
    """Whether ``text`` is a string that has the form of a token."""
    return isinstance(text, str) and _TOKEN.fullmatch(text) is not None


def token_hash(token: str) -> str:
    """SHA-256 of the token, in hexadecimal."""
    return hashlib.sha256(token.encode()).hexdigest()


def id_of(hashed: str) -> str:
    """The id of the view that a token's hash belongs to."""
    return hashed[:16]


def same(one: str, other: str) -> bool:
    """Equality of two hashes in constant time."""
    return hmac.compare_digest(one.encode("utf-8", "replace"), other.encode("utf-8", "replace"))


def is_id(text: object) -> bool:
    """Whether ``text`` is a string that has the form of a view's id."""
    return isinstance(text, str) and _ID.fullmatch(text) is not None


def checked_id(text: str) -> str:
    """The id unchanged; SharingError if it does not have the form of an id."""
    if not is_id(text):
        raise SharingError(f"{text!r} is not the id of a view: `{typed('views')}` lists them.")
    return text
