"""From label files to reductions: readers → ingest → checks → store. Only this room knows the workspace's database."""

from .ingest.report import IngestReport, Scale
from .store.dataset import Dataset
from .store.reduction import Reduction
from .store.workspace import Workspace

__all__ = ["Dataset", "IngestReport", "Reduction", "Scale", "Workspace"]
