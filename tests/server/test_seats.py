"""No more pages are open at once than there are seats."""

from __future__ import annotations

from contextlib import ExitStack

from crubric_core.server.seats import Seats


def sit(stack: ExitStack, seats: Seats, address: str) -> bool:
    return stack.enter_context(seats.taken(address))


def test_one_address_has_its_share_and_others_have_theirs() -> None:
    seats = Seats(everybody=10, each=2)
    with ExitStack() as stack:
        assert [sit(stack, seats, "192.0.2.1") for _ in range(3)] == [True, True, False]
        assert sit(stack, seats, "192.0.2.2")
    with ExitStack() as stack:
        assert sit(stack, seats, "192.0.2.1"), "a seat that was left is free"


def test_all_together_have_no_more_than_there_are() -> None:
    seats = Seats(everybody=3, each=2)
    with ExitStack() as stack:
        assert [sit(stack, seats, f"192.0.2.{n}") for n in range(4)] == [True, True, True, False]


def test_one_machine_with_many_addresses_is_one() -> None:
    seats = Seats(everybody=10, each=2)
    with ExitStack() as stack:
        assert [sit(stack, seats, f"2001:db8::{n}") for n in range(3)] == [True, True, False]
