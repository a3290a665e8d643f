"""Labels in, reductions out: the only room that knows the database."""

from .ingest.staging import IngestReport
from .store.dataset import Dataset, Reduction, Scale
from .store.workspace import Workspace

__all__ = ["Dataset", "IngestReport", "Reduction", "Scale", "Workspace"]
