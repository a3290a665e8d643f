"""The process in which one experiment runs: python -m crubric_core.jobs.worker

Standard input holds a pickled (name, Snapshot, Settings) from the process that started this one. Standard output gets
one JSON object a line: {"share", "what"} while it runs, at the end {"result"} or {"error"} with a sentence for the
user. Anything unexpected ends in a traceback on standard error.
"""

from __future__ import annotations

import json
import pickle
import sys

from ..errors import CrubricError
from ..experiments.registry import run_experiment


def main() -> None:
    """Run the experiment that standard input describes."""
    name, snapshot, settings = pickle.load(sys.stdin.buffer)  # noqa: S301 - the parent process wrote it
    try:
        result = run_experiment(
            name, snapshot, settings, progress=lambda share, what: _send(share=share, what=what)
        )
    except CrubricError as error:
        _send(error=str(error))
    else:
        _send(result=result.to_json_dict())


def _send(**message: object) -> None:
    print(json.dumps(message, allow_nan=False), flush=True)


if __name__ == "__main__":
    main()
