"""The built-in simulated study: invented systems, judges and rubrics with known truth.

``simulate`` makes the tables, ``known_truth`` returns the parameters behind them, ``write_demo`` ingests them into a
workspace, and ``python -m crubric_core.demo data`` writes the small CSV sample in ``data/``. ``study.py`` describes
the simulation.
"""

from .study import DemoStudy, Truth, known_truth, simulate
from .writing import write_demo, write_sample

__all__ = ["DemoStudy", "Truth", "known_truth", "simulate", "write_demo", "write_sample"]
