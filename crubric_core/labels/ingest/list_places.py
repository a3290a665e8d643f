"""Detect lists of labels without names whose places are read as judges, but may be criteria."""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

import pandas as pd

from ...text import as_json
from .findings import warning
from .job import Job

_QUERIES = 3  # queries with several answers, from which on equal numbers of labels are no chance


def warn_of_places(job: Job) -> None:
    """Add a warning if lists have one length for all answers to a query, but other lengths for other queries.

    Lists of criteria are like this.
    """
    place, keys = job.headers.get("judge", ""), ("query", "rubric", "run")
    if not place.endswith("[].#") or not {"system", "query"} <= job.columns:
        return
    key = ", ".join(k for k in keys if k in job.columns)
    queries, alike, lengths = job.one(f"""
        SELECT count(*), coalesce(bool_and(least = most), false), count(DISTINCT most) FROM (
            SELECT {key}, min(n) AS least, max(n) AS most
            FROM (SELECT system, {key}, count(*) AS n FROM incoming GROUP BY ALL)
            GROUP BY {key} HAVING count(*) > 1
        )
    """)
    if queries >= _QUERIES and alike and lengths > 1:
        at = place.removesuffix(".#")
        job.findings.append(
            warning(
                "places",
                "Judges that may be criteria",
                f"All answers to a query have as many labels in {at}, and other queries have other numbers: their "
                "places are read as judges, and may be criteria. If so, read the file into a new dataset with the "
                f"mapping {as_json({'rubric': place})}.",
                pd.DataFrame({"list": [at]}),
            )
        )
