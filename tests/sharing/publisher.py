"""Publishes and replaces without end, killed again and again: ``python publisher.py VIEWS VIEW MOMENTS``.

One parent imports everything once; each round is a fork of it, killed by SIGKILL after the next of the moments
(seconds, a JSON list), in every second round counted from when the child has come round once. A round begins when
a line comes on stdin, and ends with one on stdout: how many times the child had come round.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import sys
import time
from pathlib import Path

from crubric_core.sharing import list_views, publish, replace


def work(views: Path, view: object, kept: str, told: int) -> None:
    """Publish and replace in turn; a byte for each time round."""
    while True:
        publish(view, views)
        replace(views, kept, view)
        os.write(told, b".")


def rounds(views: Path, view: object, moments: list[float]) -> None:
    kept = list_views(views)[-1].id
    for number, moment in enumerate(moments):
        sys.stdin.readline()
        hears, told = os.pipe()
        child = os.fork()
        if not child:
            os.close(hears)
            work(views, view, kept, told)
        os.close(told)
        first = os.read(hears, 1) if number % 2 else b""
        time.sleep(moment)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        with os.fdopen(hears, "rb") as heard:
            print(len(first + heard.read()), flush=True)


if __name__ == "__main__":
    rounds(Path(sys.argv[1]), pickle.loads(Path(sys.argv[2]).read_bytes()), json.loads(sys.argv[3]))
