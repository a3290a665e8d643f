"""The time until which a link is open: parse and check it."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

from ..errors import SharingError


def expiry_of(text: str) -> datetime:
    """Parse an ISO 8601 time, in UTC unless it has an offset; a date alone means the end of that day.

    Raises SharingError if it cannot be parsed.
    """
    try:
        return _moment(text.strip())
    except (ValueError, OverflowError) as error:
        raise SharingError(
            f"The expiry {text!r} is not a date: write it as 2030-12-31 or 2030-12-31T18:00+01:00."
        ) from error


def _moment(text: str) -> datetime:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return _utc(datetime.fromisoformat(text))
    if day == date.max:  # no day comes after it
        return datetime.max.replace(tzinfo=UTC)
    return datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(days=1)


def _utc(moment: datetime) -> datetime:
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)


def still_to_come(expires: datetime | None, now: datetime) -> datetime | None:
    """The expiry in UTC, or None for never; SharingError if it has passed."""
    if expires is None:
        return None
    moment = _utc(expires)
    if moment <= now:
        raise SharingError(
            f"The expiry {moment:%Y-%m-%d %H:%M} UTC has passed: name a later one, or revoke the link."
        )
    return moment
