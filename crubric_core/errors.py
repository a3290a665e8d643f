"""Every error a user can cause; each sentence names the value, what was expected and the remedy."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any


class CrubricError(Exception):
    """Base of all errors that a user's input can cause; its text is safe and clear enough to show."""


class SettingsError(CrubricError):
    """A setting lies outside its range."""


def require_choice(
    name: str, value: object, choices: Collection[str], error: type[CrubricError] = SettingsError
) -> None:
    """Raise ``error`` unless the value is one of the choices."""
    if value not in choices:
        raise error(f"{name} = {value!r} is unknown: use one of {', '.join(choices)}.")


class IngestError(CrubricError):
    """A file could not be read; the workspace is as it was before.

    words: among its labels, for whose meaning the user is asked.
    """

    words: tuple[str, ...] = ()


class UnknownCriterionError(IngestError):
    """A scale, a pass mark or a polarity was given to a criterion that is in neither file nor dataset."""


class WorkspaceError(CrubricError):
    """A workspace file is missing, locked, foreign or of another schema version."""


class InUseError(WorkspaceError):
    """A workspace file is open in another process, which alone can read and write it."""


class DatasetError(CrubricError):
    """A dataset is unknown, empty, or lacks what was asked of it."""


class FitError(CrubricError):
    """An item response model cannot be fitted to this table at all."""


class ConvergenceError(FitError):
    """The optimiser stopped before the gradient vanished; ``fit`` (an ``IrtFit``) is the estimate it reached."""

    def __init__(self, message: str, fit: Any) -> None:
        super().__init__(message)
        self.fit = fit


class WorkersError(CrubricError):
    """Processes or a cluster that should share the work cannot be reached, or do not finish it."""


class AccessError(CrubricError):
    """Whoever acts is not known, or not allowed to do this."""


class ExportError(CrubricError):
    """Results could not be written."""


class AssemblyError(CrubricError):
    """A bank cannot be assembled from these candidates."""


class NoBankWithoutError(AssemblyError):
    """No bank can be chosen without each of the systems: those that remain differ on no rubric that passes."""


class PlacementError(CrubricError):
    """A folder holds no bank to place systems on, or labels do not touch it."""


AnchorError = PlacementError  # its name in version 0.1


class SharingError(CrubricError):
    """A read-only view cannot be made, changed or found."""
