"""How a moment can be written."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from crubric_core.errors import SharingError
from crubric_core.sharing import expiry_of, still_to_come


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2030-12-31T18:00Z", datetime(2030, 12, 31, 18, tzinfo=UTC)),
        ("2030-12-31T18:00+01:00", datetime(2030, 12, 31, 17, tzinfo=UTC)),
        ("2030-12-31 18:00", datetime(2030, 12, 31, 18, tzinfo=UTC)),
        (" 2030-12-31T18:00:30 ", datetime(2030, 12, 31, 18, 0, 30, tzinfo=UTC)),
    ],
)
def test_a_moment_is_utc_unless_it_says_otherwise(text: str, moment: datetime) -> None:
    assert expiry_of(text) == moment


@pytest.mark.parametrize("text", ["2030-12-31", "20301231", "2031-W01-2"])
def test_a_day_alone_lasts_until_its_end(text: str) -> None:
    assert expiry_of(text) == datetime(2031, 1, 1, tzinfo=UTC)


def test_the_last_day_of_all_lasts_until_its_end() -> None:
    moment = expiry_of("9999-12-31")
    assert moment.isoformat() == "9999-12-31T23:59:59.999999+00:00"
    assert still_to_come(moment, datetime(2030, 1, 1, tzinfo=UTC)) == moment


@pytest.mark.parametrize("text", ["", "tomorrow", "31.12.2030", "2030-13-01", "10000-01-01", "-1"])
def test_anything_else_is_one_clear_sentence(text: str) -> None:
    with pytest.raises(SharingError, match="write it as"):
        expiry_of(text)
