"""Until when a link is open."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from ..errors import SharingError


def expiry_of(text: str) -> datetime:
    """A moment from ISO 8601, UTC unless it says otherwise; a date alone lasts until its end."""
    try:
        moment = datetime.fromisoformat(text.strip())
        day = timedelta(days=1) if re.fullmatch(r"[\d-]{8,10}", text.strip()) else timedelta()
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC) + day
    except (ValueError, OverflowError) as error:
        raise SharingError(
            f"The expiry {text!r} is no date: write it as 2030-12-31 or 2030-12-31T18:00+01:00."
        ) from error


def still_to_come(expires: datetime | None, now: datetime) -> datetime | None:
    """The expiry in UTC, or None for never; SharingError where it has passed."""
    if expires is None:
        return None
    moment = (expires if expires.tzinfo else expires.replace(tzinfo=UTC)).astimezone(UTC)
    if moment <= now:
        raise SharingError(
            f"The expiry {moment:%Y-%m-%d %H:%M} UTC has passed: name a later one, or revoke the link."
        )
    return moment
