"""Labels in, reductions out: readers → ingest → checks → store. The only room that knows the workspace's database."""

from .ingest.report import IngestReport, Scale
from .store.dataset import Dataset
from .store.reduction import Reduction
from .store.workspace import Workspace

__all__ = ["Dataset", "IngestReport", "Reduction", "Scale", "Workspace"]
