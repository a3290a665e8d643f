"""All errors that a user can cause; each message names the value, what was expected, and the remedy."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any


class CrubricError(Exception):
    """Base of all errors that a user's input can cause; its text is safe and clear enough to show."""


class SettingsError(CrubricError):
    """A setting or another argument has a value that is not allowed."""


def require_choice(
    name: str, value: object, choices: Collection[str], error: type[CrubricError] = SettingsError
) -> None:
    """Raise ``error`` unless the value is one of the choices. name: of the argument, for the message."""
    if value not in choices:
        raise error(f"{name} = {value!r} is unknown: use one of {', '.join(choices)}.")


class IngestError(CrubricError):
    """A file could not be read; the workspace is unchanged.

    words: words among its labels whose meaning the user must give; () if that is not the problem.
    """

    words: tuple[str, ...] = ()


class UnknownCriterionError(IngestError):
    """A scale, pass mark or polarity was given for a criterion that is neither in the file nor in the dataset."""


class WorkspaceError(CrubricError):
    """A workspace file is missing, locked, not a workspace, or of another schema version."""


class InUseError(WorkspaceError):
    """A workspace file is open in another process; only one process at a time can use it."""


class DatasetError(CrubricError):
    """A dataset is unknown or empty, or lacks data that a computation needs."""


class FitError(CrubricError):
    """An item response model cannot be fitted to these labels."""


class ConvergenceError(FitError):
    """The optimiser stopped before the gradient was zero. fit: the ``IrtFit`` that it reached."""

    def __init__(self, message: str, fit: Any) -> None:
        super().__init__(message)
        self.fit = fit


class WorkersError(CrubricError):
    """Worker processes or a cluster cannot be reached, or did not finish a task."""


class AccessError(CrubricError):
    """The current user is unknown, or is not allowed to do this."""


class ExportError(CrubricError):
    """Results could not be written."""


class AssemblyError(CrubricError):
    """A bank cannot be assembled from these candidates, or under this composition."""


class NoBankWithoutError(AssemblyError):
    """Without some fold of systems no bank can be chosen: the other systems differ on no rubric that passes."""


class PlacementError(CrubricError):
    """A folder holds no bank on which systems can be placed, or no label is of a rubric of the bank."""


AnchorError = PlacementError  # its name in version 0.1


class SharingError(CrubricError):
    """A read-only view cannot be made, changed or found."""
