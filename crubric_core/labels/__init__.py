"""Labels in, reductions out: the only room that knows the database."""

from .dataset import Dataset, Reduction, Scale
from .ingest import IngestReport
from .workspace import Workspace

__all__ = ["Dataset", "IngestReport", "Reduction", "Scale", "Workspace"]
