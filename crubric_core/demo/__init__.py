"""The built-in simulated study: invented systems, judges and rubrics with known truth.

``simulate`` makes the tables, ``known_truth`` says what they were made from, ``write_demo`` puts them into a
workspace, and ``python -m crubric_core.demo data`` writes the small CSV sample that lies in ``data/``. What is
simulated, and how, stands in ``study.py``.
"""

from .study import DemoStudy, Truth, known_truth, simulate
from .writing import write_demo, write_sample

__all__ = ["DemoStudy", "Truth", "known_truth", "simulate", "write_demo", "write_sample"]
