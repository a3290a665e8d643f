from __future__ import annotations

from crubric_core.ui import page


def test_progress_is_told_at_most_once_in_a_pause_and_never_of_work_that_is_shorter(monkeypatch):
    now, told = [0.0], []
    monkeypatch.setattr(page.time, "monotonic", lambda: now[0])
    tell = page.paced(lambda share, what: told.append((share, what)), pause=1.0)
    for tenth in range(1, 26):
        now[0] = tenth / 10
        tell(tenth / 25, f"{tenth}")
    assert [what for _, what in told] == ["10", "20"]
