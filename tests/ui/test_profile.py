"""What the profile of a system says of groups of queries."""

from __future__ import annotations

import pytest

from crubric_core.ui.leaderboard.profile import no_groups


@pytest.mark.parametrize(
    ("domain", "types", "dimension", "said"),
    [
        (
            [],
            [],
            [],
            "The dataset names no domain, task type or dimension: add them to its queries or rubrics.",
        ),
        (
            ["dialogue"],
            [],
            [],
            "There is only one domain (dialogue), so no groups can be compared. "
            "The dataset names no task type or dimension: add them to its queries or rubrics.",
        ),
        (
            ["law"],
            ["decision support"],
            [],
            "There is only one domain (law) and one task type (decision support), so no groups can be compared. "
            "The dataset names no dimension: add it to its queries or rubrics.",
        ),
        (
            ["law"],
            ["a"],
            ["b"],
            "There is only one domain (law) and one task type (a) and one dimension (b), "
            "so no groups can be compared.",
        ),
    ],
)
def test_a_dataset_without_groups_is_told_what_it_lacks_and_what_it_has_one_of(
    domain: list[str], types: list[str], dimension: list[str], said: str
) -> None:
    assert no_groups({"domain": domain, "task type": types, "dimension": dimension}) == said
