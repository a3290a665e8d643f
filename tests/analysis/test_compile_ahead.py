from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import gc
from crubric_core import Settings, Workspace
from crubric_core.analysis.compile_ahead import compile_ahead
from crubric_core.analysis.stage import Memory
from crubric_core.analysis.fitted import with_rules
from crubric_core.analysis.stages import Analysis
from crubric_core.compiled import _Compiled
from crubric_core.demo import simulate
from crubric_core.experiments import run_experiment

compile_ahead()
ours = [f for f in gc.get_objects() if isinstance(f, _Compiled)]


def made():
    return {f.function.__name__: list(vars(f)["machine_code"].signatures) for f in ours if "machine_code" in vars(f)}


before = made()
assert before
with Workspace() as workspace:
    tables = simulate(seed=3, systems=7, queries=6, pool=(6, 9))
    for kind in ("labels", "rubrics", "queries"):
        text = getattr(tables, kind).to_csv(index=False)
        workspace.ingest(text.encode(), dataset="small", kind=kind)
    data = workspace.dataset("small")
    settings = with_rules(data, Settings(budget=12))
    study = Analysis(dataset=data, fingerprint=data.fingerprint, settings=settings, store=Memory())
    study.worth(), study.certificates(), study.ranking()
    run_experiment("many_facet", data, Settings(budget=12))
print([(name, found) for name, found in made().items() if found != before.get(name)])
"""


def test_a_study_then_compiles_nothing_more():
    """The layout of arrays is part of what is compiled."""
    ended = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False)
    assert ended.stdout.strip() == "[]", ended.stdout + ended.stderr
