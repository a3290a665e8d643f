"""A publisher that is killed leaves either no view or a whole one; many at once do not disturb each other."""

from __future__ import annotations

import json
import pickle
import random
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace as changed
from pathlib import Path

from crubric_core.sharing import (
    SharedView,
    audit,
    list_views,
    open_view,
    publish,
    read_state,
    replace,
    revoke,
    standing_of,
)
from tests.tiers import at_most

ROOT = Path(__file__).resolve().parents[2]
PUBLISHER = Path(__file__).with_name("publisher.py")
LONGEST = 0.3  # seconds; publishing and replacing once takes about as long


def killed(view: SharedView, views: Path, moments: list[float]) -> Iterator[int]:
    """One publisher after the other, killed at each of the moments: how many times each had come round."""
    pickled = views.with_name("view.pickle")
    pickled.write_bytes(pickle.dumps(view))
    with subprocess.Popen(
        [sys.executable, PUBLISHER, views, pickled, json.dumps(moments)],
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as running:
        for _ in moments:
            running.stdin.write("go on\n")
            running.stdin.flush()
            yield int(running.stdout.readline())
    assert running.returncode == 0


def test_killed_at_many_moments_it_leaves_no_view_or_a_whole_one(view: SharedView, views: Path) -> None:
    kept = publish(view, views)
    rng = random.Random(0)
    times, read = [], set()
    for came_round in killed(view, views, [rng.uniform(0, LONGEST) for _ in range(at_most(10, 24))]):
        times.append(came_round)
        found = list_views(views)
        assert len(found) == len(list(views.glob("*.json")))
        assert all(standing_of(views, state) == "open" for state in found)
        new = [state for state in found if (state.id, state.version) not in read]
        assert all(read_state(views, state).title == view.title for state in new)
        read |= {(state.id, state.version) for state in new}
        assert open_view(views, kept.token) is not None
        assert set(audit(views)["id"]) >= {state.id for state in found}  # nothing is open that has no line
    assert len(list_views(views)) > sum(times) > 0


def test_the_next_publisher_sweeps_what_a_killed_one_left(view: SharedView, views: Path) -> None:
    publish(view, views)
    for _ in killed(view, views, [0.05 * n for n in range(8)]):
        pass
    publish(view, views)
    named = {f"{state.id}.{state.version}.duckdb" for state in list_views(views)}
    states = {f"{state.id}.json" for state in list_views(views)}
    assert {path.name for path in views.iterdir()} == named | states | {"audit.jsonl", ".lock"}


def test_many_publish_at_once(view: SharedView, views: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda n: publish(changed(view, title=str(n)), views), range(24)))
    assert [open_view(views, link.token).title for link in made] == [str(n) for n in range(24)]
    assert len(audit(views)) == 24


def test_readers_see_the_old_or_the_new_while_a_view_is_replaced(view: SharedView, views: Path) -> None:
    link = publish(changed(view, title="0"), views)
    with ThreadPoolExecutor(4) as pool:
        last = pool.submit(
            lambda: [replace(views, link.id, changed(view, title=str(n))) for n in range(1, 13)]
        )
        seen = []
        while not last.done():
            seen.append(open_view(views, link.token))
    assert None not in seen
    titles = [int(shown.title) for shown in seen]
    assert titles == sorted(titles)
    assert open_view(views, link.token).title == "12"


def test_a_revocation_wins_over_replacements_that_come_at_once(view: SharedView, views: Path) -> None:
    link = publish(view, views)

    def replaced(_: int) -> bool:
        try:
            replace(views, link.id, view)
        except Exception:  # refused, as it was revoked before
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        attempts = [pool.submit(replaced, n) for n in range(8)]
        pool.submit(revoke, views, link.id).result()
        for attempt in attempts:
            attempt.result()
    assert open_view(views, link.token) is None
    assert list(views.glob("*.duckdb")) == []
