"""Read-only views: what is shown, the files that hold it, and the links that open it."""

from .build import Choices, build_view
from .changes import ViewChanges, changes
from .expiry import expiry_of, still_to_come
from .opening import open_state, open_view, read_newest, read_state, standing_of
from .state import ViewState
from .store import Published, list_views, looked_up, publish, replace, revoke, set_expiry, words_of
from .trail import audit
from .view import Bank, Separation, SharedView

__all__ = [
    "Bank",
    "Choices",
    "Published",
    "Separation",
    "SharedView",
    "ViewChanges",
    "ViewState",
    "audit",
    "build_view",
    "changes",
    "expiry_of",
    "list_views",
    "looked_up",
    "open_state",
    "open_view",
    "publish",
    "read_newest",
    "read_state",
    "replace",
    "revoke",
    "set_expiry",
    "standing_of",
    "still_to_come",
    "words_of",
]
