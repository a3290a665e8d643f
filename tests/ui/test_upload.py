from __future__ import annotations

import pytest

from crubric_core.ui.upload import guess_columns, guess_kind


@pytest.mark.parametrize(
    ("name", "columns", "kind"),
    [
        ("a.csv", ("system", "query", "rubric", "judge", "label"), "labels"),
        ("a.csv", ("model", "criterion", "grader", "score"), "labels"),
        ("a.csv", ("system", "rubric", "judge", "mark"), "labels"),
        ("gold.csv", ("system", "rubric", "label"), "gold"),
        ("a.csv", ("system", "rubric", "label", "annotator"), "gold"),
        ("a.csv", ("rubric", "query", "text"), "rubrics"),
        ("a.csv", ("query", "text", "domain"), "queries"),
        ("a.csv", ("system", "rank"), "reference"),
        ("a.csv", ("alpha", "beta"), "labels"),
    ],
)
def test_a_file_is_taken_for_what_its_columns_say(name: str, columns: tuple[str, ...], kind: str) -> None:
    assert guess_kind(name, columns) == kind


def test_known_columns_are_found_even_if_a_needed_one_is_missing() -> None:
    found = guess_columns("labels", ("system", "criterion", "grader", "mark"))
    assert found == {"system": "system", "rubric": "criterion", "judge": "grader"}


def test_nothing_is_guessed_where_two_columns_have_one_name() -> None:
    assert guess_columns("labels", ("system", "system", "rubric", "label")) == {}
