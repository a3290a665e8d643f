"""The waits of docs/performance.md: settings of the measurement, and sentences that follow from the numbers."""

from __future__ import annotations

from types import SimpleNamespace
from urllib.parse import parse_qsl, urlsplit

from benchmarks.latency import STEPS
from benchmarks.latency_page import conclusions, tables, written
from benchmarks.tables import END, START
from crubric_core.settings import Settings
from crubric_core.ui.settings_address import read_settings


def waits(start=4.0, paint=1_400.0, size=900_000):
    visit = SimpleNamespace(milliseconds=paint, bytes=size)
    return SimpleNamespace(
        machine="2 cores, load 0.1 before and 0.2 after",
        start=start,
        bare=100.0,
        bare_paints=(visit, visit),
        ours={("Bank", "B"): (300.0, 200.0, 310.0), ("Bank", "tau_c"): (900.0,)},
        paints={"Leaderboard": (visit, visit, visit)},
        switches={"Leaderboard": 300.0},
    )


def test_a_threshold_is_moved_under_the_gate_that_the_dashboard_begins_with() -> None:
    addresses = [address for (_, setting), (address, _) in STEPS.items() if setting == "tau_c"]
    gates = {read_settings(dict(parse_qsl(urlsplit(address).query))).gate for address in addresses}
    assert gates == {Settings().gate}


def test_what_is_met_is_counted_and_what_is_not_is_named() -> None:
    said = conclusions("demo", waits())
    assert said[:2] == ["1 of 2 sliders are within 3 times the bare page.", "Above it: Bank tau_c."]
    assert "not met" not in " ".join(said)
    large = " ".join(conclusions("400x5000", waits(start=6.0, paint=2_000.0, size=1_100_000)))
    assert "first paint takes 2.0 s; asked: 1.5 s, not met." in large
    assert "first page takes 6.0 s; asked: 5 s, not met." in large
    assert "A page sends 1,100 kB; asked: at most 1,000 kB." in large


def test_tables_replace_those_of_their_size_alone() -> None:
    page = f"before\n{START}\n\n### 400 × 5,000\n\nkept\n\n{END}\nafter"
    found = written(page, {"demo": tables("demo", waits())})
    assert found.startswith("before")
    assert found.endswith("after")
    assert "kept" in found
    assert "| Bank B | 300 | 310 | 3 | 3.0 | 3.0 |" in found
    assert "2 cores, load 0.1 before" in found
    assert written(found, {"demo": tables("demo", waits())}) == found
