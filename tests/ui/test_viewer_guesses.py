from __future__ import annotations

import pytest

from crubric_core.server.rate_limit import EACH, EVERYBODY, FEW, Guesses, network


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def guess(guesses: Guesses, address: str, times: int) -> int:
    """How many of so many wrong links are looked up."""
    seen = 0
    for n in range(times):
        if guesses.allows(f"wrong {n}", address):
            guesses.wrong(address)
            seen += 1
    return seen


def test_an_address_has_so_many_guesses_and_then_one_every_few_seconds(clock: Clock) -> None:
    guesses = Guesses(clock)
    assert guess(guesses, "203.0.113.5", 1000) == EACH.most
    clock.now += 1 / EACH.refill + 0.001
    assert guess(guesses, "203.0.113.5", 1000) == 1
    clock.now += 3600
    assert guess(guesses, "203.0.113.5", 1000) == EACH.most


def test_a_link_that_has_opened_is_never_asked_to_wait(clock: Clock) -> None:
    guesses = Guesses(clock)
    guesses.right("the link")
    guess(guesses, "203.0.113.5", 1000)
    assert guesses.allows("the link", "203.0.113.5")
    assert not guesses.allows("another", "203.0.113.5")


def test_a_new_reader_is_not_kept_out_by_what_others_try(clock: Clock) -> None:
    guesses = Guesses(clock)
    for n in range(2000):
        guess(guesses, f"198.51.{n // 250}.{n % 250}", 100)
    assert guesses.allows("the link", "203.0.113.5")


def test_when_many_addresses_guess_at_once_each_has_fewer(clock: Clock) -> None:
    guesses = Guesses(clock)
    looked_up = [guess(guesses, f"198.51.100.{n}", 100) for n in range(40)]
    assert looked_up[0] == EACH.most
    assert looked_up[-1] == FEW
    clock.now += EVERYBODY.most / EVERYBODY.refill
    assert guess(guesses, "203.0.113.5", 100) == EACH.most


def test_memory_has_an_end(clock: Clock) -> None:
    guesses = Guesses(clock, remembered=100)
    for n in range(1000):
        guesses.wrong(f"10.0.{n // 250}.{n % 250}")
        guesses.right(f"link {n}")
    assert len(guesses._used) == 100
    assert len(guesses._opened) == 100


def test_a_machine_is_one_address_however_many_of_its_network_it_uses() -> None:
    assert network("2001:db8:1:2:3::1") == network("2001:db8:1:2:ffff::9")
    assert network("2001:db8:1:2::1") != network("2001:db8:1:3::1")
    assert network("::ffff:203.0.113.5") == "203.0.113.5"
    assert network("this machine") == "this machine"
