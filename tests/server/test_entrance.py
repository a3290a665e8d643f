"""On a machine of several people a dashboard without a login opens by a printed address alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from crubric_core.server import entrance as door
from crubric_core.server.entrance import Entrance, entrance, others


@pytest.fixture
def printed() -> list[str]:
    return []


@pytest.fixture
def way_in(printed: list[str]) -> Entrance:
    made = Entrance(printed.append)
    made.announce()
    return made


def token(line: str) -> str:
    found = re.search(r"http://localhost:\d+/\?token=([\w-]{43})\n", line)
    assert found is not None, line
    return found[1]


def test_a_printed_address_lets_one_browser_in_once(way_in: Entrance, printed: list[str]) -> None:
    secret = way_in.enter(token(printed[0]))
    assert secret is not None
    assert way_in.knows({way_in.cookie: secret})
    assert way_in.enter(token(printed[0])) is None
    assert not way_in.knows({way_in.cookie: token(printed[0])})


def test_the_next_browser_has_an_address_of_its_own(way_in: Entrance, printed: list[str]) -> None:
    first = way_in.enter(token(printed[0]))
    second = way_in.enter(token(printed[1]))
    assert len({first, second, None}) == 3
    assert all(way_in.knows({way_in.cookie: str(secret)}) for secret in (first, second))


@pytest.mark.parametrize("wrong", ["", "x", "A" * 43, "é" * 43, "\ud800"])
def test_a_wrong_token_lets_nobody_in_and_uses_nothing_up(
    way_in: Entrance, printed: list[str], wrong: str
) -> None:
    assert way_in.enter(wrong) is None
    assert not way_in.knows({way_in.cookie: wrong})
    assert not way_in.knows({})
    assert way_in.enter(token(printed[0])) is not None


def test_before_an_address_is_printed_nothing_opens(printed: list[str]) -> None:
    assert Entrance(printed.append).enter("") is None


Accounts = Callable[..., None]


@pytest.fixture
def accounts(monkeypatch: pytest.MonkeyPatch) -> Accounts:
    """The people of this machine: name, uid and shell of each."""
    pwd = pytest.importorskip("pwd")

    def put(*people: tuple[str, int, str]) -> None:
        found = [SimpleNamespace(pw_name=n, pw_uid=u, pw_shell=s) for n, u, s in people]
        monkeypatch.setattr(pwd, "getpwall", lambda: found)
        monkeypatch.setattr(door.os, "getuid", lambda: 1000)

    return put


ANN, BEN = ("ann", 1000, "/bin/bash"), ("ben", 1001, "/bin/zsh")
DAEMONS = (("root", 0, "/bin/bash"), ("www-data", 33, "/usr/sbin/nologin"), ("nobody", 65534, "/bin/sh"))


def test_people_are_those_who_can_log_in_and_are_not_oneself(accounts: Accounts) -> None:
    accounts(*DAEMONS, ANN)
    assert others() == []
    accounts(*DAEMONS, ANN, BEN, ("robot", 1002, "/usr/sbin/nologin"))
    assert others() == ["ben"]


@pytest.mark.parametrize(
    ("wanted", "people", "workspace", "needed"),
    [
        ("", (ANN, BEN), "study.duckdb", True),
        ("", (ANN,), "study.duckdb", False),
        ("", (ANN, BEN), str(door.DEMO), False),
        ("always", (ANN,), str(door.DEMO), True),
        ("never", (ANN, BEN), "study.duckdb", False),
    ],
)
def test_the_demo_and_a_machine_of_ones_own_need_no_address(
    accounts: Accounts,
    monkeypatch: pytest.MonkeyPatch,
    wanted: str,
    people: tuple[tuple[str, int, str], ...],
    workspace: str,
    needed: bool,
) -> None:
    accounts(*DAEMONS, *people)
    monkeypatch.setenv("CRUBRIC_TOKEN", wanted)
    monkeypatch.setenv("CRUBRIC_WORKSPACE", str(Path(workspace)))
    assert (entrance() is not None) is needed
