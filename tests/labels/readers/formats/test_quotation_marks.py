"""Quotation marks that are not where they belong: the rows that they take into a cell are listed."""

from __future__ import annotations

import pytest

HEAD = "system,query,rubric,label,reason"


def plain(first, last):
    return [f"a,q{i},r,{i % 2},plain {i}" for i in range(first, last)]


def table(*rows, end="\n") -> bytes:
    return end.join([HEAD, *rows, ""]).encode()


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_each_line_that_a_misplaced_quotation_mark_takes_is_rejected(read, end):
    rows = ['a,q1,r,1,"ends with \\""', *plain(2, 4), 'a,q4,r,1,"fine"', *plain(5, 9)]
    _, report = read(table(*rows, end=end), "x.csv")
    assert (report.accepted, report.rejected) == (4, 4)
    assert report.rejects["row"].tolist() == [2, 3, 4, 5]
    assert report.rejects["value"].tolist() == rows[:4]
    assert "double it" in report.rejects["reason"][0]
    assert set(report.rejects["reason"][1:]) == {
        "stands within the quotation marks that open in row 2: correct that row"
    }


def test_rows_after_a_misplaced_quotation_mark_keep_the_lines_of_the_file(read):
    rows = ['a,q1,r,1,"ends with \\""', *plain(2, 4), 'a,q4,r,1,"fine"', *plain(5, 9), "a,q9,r,1"]
    _, report = read(table(*rows), "x.csv")
    assert report.rejects["row"].tolist() == [2, 3, 4, 5, 10]


@pytest.mark.parametrize("more", [[], ["", *plain(20, 22)]], ids=["clean", "with an empty line"])
def test_rows_within_a_cell_whose_quotation_mark_closes_in_a_later_row_are_rejected(read, more):
    swallowed = [*plain(2, 12), "a,q12,r,1,it is 5"]
    rows = ['a,q1,r,1,"Says the truth', *swallowed[:-1], f'{swallowed[-1]}"', *plain(13, 20), *more]
    _, report = read(table(*rows), "x.csv")
    assert report.rejects["value"].tolist() == swallowed
    assert report.rejects["row"].tolist() == [2] * len(swallowed)
    assert "close the quotation mark" in report.rejects["reason"][0]
    assert report.accepted == 8 + len(more[1:])


def test_a_cell_of_several_lines_that_are_no_rows_is_read_as_it_is(read):
    dataset, report = read(table('a,q1,r,1,"First, it is short.\nx,y,z,1,so"', *plain(2, 9)), "x.csv")
    assert (report.accepted, report.rejected) == (8, 0)
    assert "x,y,z,1,so" in set.union(*map(set, [dataset.labels()["reason"].str.split("\n").explode()]))
