"""Each column of a shown table is declared once: file, view, page, standalone page and report read it from there."""

from __future__ import annotations

import pandas as pd
import pytest

from crubric_core import Result
from crubric_core.analysis import columns
from crubric_core.analysis.columns import BANK, LEADERBOARD, PLACES, WHOLE
from crubric_core.files import csv_bytes
from crubric_core.reports import standalone_parts
from crubric_core.reports.sections import sections
from crubric_core.sharing import SharedView
from crubric_core.ui import tables


@pytest.mark.parametrize(("name", "declared"), [("leaderboard", LEADERBOARD), ("bank", BANK)])
def test_a_files_header_is_the_declared_names_in_order(result: Result, name: str, declared: object) -> None:
    header = csv_bytes(getattr(result, name)).decode("utf-8-sig").splitlines()[0]
    assert header == ",".join(key for key in declared if key != "group")  # type: ignore[attr-defined]


def test_a_view_holds_the_declared_part_of_them(view: SharedView) -> None:
    assert view.leaderboard is not None
    assert tuple(view.leaderboard) == tuple(name for name in columns.LEADERBOARD_SHARED if name != "group")
    assert not {"basis", "theta_full", "saturated"} & set(view.leaderboard)


def test_page_and_standalone_page_give_a_column_the_same_title() -> None:
    for name, column in standalone_parts.COLUMNS["leaderboard"].items():
        assert tables.LEADERBOARD[name]["label"] == column.title == LEADERBOARD[name].title
    assert set(tables.LEADERBOARD) == {*columns.BY_ABILITY, *columns.BY_SCORE}


def test_the_report_has_a_title_for_every_column(result: Result) -> None:
    shown = {table.label: [title for title, _ in table.heads] for table in sections(result, ())[0].tables}
    known = [name for name in LEADERBOARD if result.leaderboard.get(name, pd.Series()).notna().any()]
    assert shown["Leaderboard"] == [LEADERBOARD[name].title for name in known]
    assert shown["Bank"] == [column.title for name, column in BANK.items() if name != "text"]


def test_no_two_columns_of_a_table_have_the_same_title() -> None:
    for declared in (LEADERBOARD, BANK):
        assert len({column.title for column in declared.values()}) == len(declared)


def test_whole_numbers_are_declared_as_whole(result: Result) -> None:
    assert {str(result.leaderboard[name].dtype) for name in PLACES} == {"Int64"}
    assert {LEADERBOARD[name].style for name in WHOLE} == {"d"}
