from __future__ import annotations

import csv
import io
import re
from itertools import product

import numpy as np
import pandas as pd
import pytest

from crubric_core.files import csv_bytes
from crubric_core.text import at_least, rounded, verb
from crubric_core.ui.text import count, end, ends, numeral, plain, short_name, short_names, shorten


@pytest.mark.parametrize("mark", list("*_`#[]()<>~|!$:\\-+.{}"))
def test_every_mark_that_markdown_could_obey_is_escaped(mark: str) -> None:
    assert plain(f"a{mark}b") == f"a\\{mark}b"


def test_a_long_name_is_cut_alike_in_sentences_charts_and_tables() -> None:
    name = "the-best-system-with-an-extremely-long-name-and-high-reasoning-tools"
    assert short_names([name, "another"], 40) == [short_name(name, 40), "another"]


@pytest.mark.parametrize("limit", [22, 30])
def test_names_that_differ_in_several_places_keep_the_words_by_which_they_differ(limit: int) -> None:
    names = [
        f"meta-llama/Llama-3.{version}-{size}B-Instruct-{kind}-{how}"
        for version, size, kind, how in product(range(4), (8, 70), ("awq", "fp8", "bf16"), ("plain", "tools"))
    ]
    shown = short_names(names, limit)
    assert len(set(shown)) == len(names)
    assert max(map(len, shown)) <= limit
    assert shown[0] == {22: "…3.0-8B…awq-plain", 30: "meta-lla…3.0-8B…awq-plain"}[limit]


@pytest.mark.parametrize(
    "address", ["http://evil.example", "HTTPS://x.y", "www.evil.example", "a@evil.example"]
)
def test_no_address_becomes_a_link(address: str) -> None:
    """Streamlit looks for them in the finished text, where nothing is escaped any more."""
    shown = plain(address).replace("\\", "")
    assert shown.replace("\u2060", "") == address
    assert not re.search(r"(?i)https?://|www\.|\w@\w", shown)


def test_line_breaks_cannot_start_a_heading_or_a_list() -> None:
    assert plain("a\n\n# b") == "a \\# b"


def test_letters_of_all_scripts_stay_as_they_are() -> None:
    assert plain("Größe 模型 θ — 3") == "Größe 模型 θ — 3"


def test_an_end_that_rounds_to_0_has_no_sign() -> None:
    assert [end(value) for value in (-0.004, -0.006, float("inf"))] == ["0.00", "−0.01", "open"]


def test_a_short_text_is_not_cut() -> None:
    assert shorten("abc", 3) == "abc"
    assert shorten("abcd", 3) == "ab…"


def test_names_that_are_cut_differ_as_before_by_their_ends() -> None:
    one, other = (short_name(f"{'meta-llama/' * 9}{size}") for size in ("8B", "70B"))
    assert one == "meta-llama/meta-llam…llama/meta-llama/8B"
    assert len(one) == len(other) == 40
    assert one != other
    assert short_name("a\nb") == "a b"
    assert short_name("abcd", 4) == "abcd"
    assert short_name("abcde", 4) == "ab…e"


@pytest.mark.parametrize(("number", "words"), [(0, "0 rubrics"), (1, "1 rubric"), (4052, "4,052 rubrics")])
def test_counts_read_like_sentences(number: int, words: str) -> None:
    assert count(number, "rubric") == words


def test_an_irregular_plural_is_given() -> None:
    assert count(2, "query", "queries") == "2 queries"


def rows(table: pd.DataFrame) -> list[list[str]]:
    return list(csv.reader(io.StringIO(csv_bytes(table).decode("utf-8"), newline="")))


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_no_text_cell_starts_a_spreadsheet_formula(start: str) -> None:
    assert rows(pd.DataFrame({"system": [f"{start}cmd()"]}))[1] == [f"'{start}cmd()"]


def test_no_heading_starts_a_spreadsheet_formula() -> None:
    assert rows(pd.DataFrame({"=cmd()": [1]}))[0] == ["'=cmd()"]


def test_negative_numbers_stay_numbers_and_the_unknown_stays_empty() -> None:
    table = pd.DataFrame({"theta": [-1.5, float("nan")], "name": ["a", None]})
    assert rows(table)[1:] == [["-1.5", "a"], ["", ""]]


def test_the_table_itself_is_left_alone() -> None:
    table = pd.DataFrame({"system": ["=x"]})
    csv_bytes(table)
    assert table.loc[0, "system"] == "=x"


@pytest.mark.parametrize(
    ("value", "style", "shown"),
    [
        (-0.294, "z.2f", "−0.29"),
        (-0.001, "z.2f", "0.00"),
        (0.5, "+z.1f", "+0.5"),
        (-0.001, "+z.2f", "0.00"),
        (0.001, "+z.2f", "0.00"),
        (np.inf, "+z.2f", "+∞"),
        (-3, "d", "−3"),
        (-1e-5, "g", "−1e−05"),
    ],
)
def test_a_number_has_the_minus_sign_of_charts_and_what_is_rounded_to_nothing_no_sign(
    value: float, style: str, shown: str
) -> None:
    assert numeral(value, style) == shown


def test_an_interval_that_is_unknown_is_a_dash() -> None:
    assert ends(np.nan, np.nan) == "—"


def test_an_interval_says_where_it_is_open() -> None:
    assert ends(-float("inf"), 0.314) == "[−∞, 0.31]"


def test_a_proven_share_is_rounded_down_and_all_is_not_said_to_be_the_least():
    assert [at_least(share) for share in (0.98459, 0.9999, 0.99996, 0.985, 1.0, 1 - 1e-12)] == [
        "at least 98.4%",
        "at least 99.9%",
        "at least 99.9%",
        "at least 98.5%",
        "100%",
        "100%",
    ]


def test_a_share_that_is_not_all_or_none_is_not_rounded_to_it():
    shares = (0.0, 0.0035, 0.005, 0.5, 0.994, 0.9969, 1.0)
    assert [rounded(s) for s in shares] == ["0%", "under 1%", "under 1%", "50%", "99%", "over 99%", "100%"]


def test_a_verb_follows_its_number() -> None:
    plurals = ("are", "were", "have", "do", "separate", "err")
    assert [verb(1, plural) for plural in plurals] == ["is", "was", "has", "does", "separates", "errs"]
    assert [[verb(n, plural) for plural in plurals] for n in (0, 2)] == [[*plurals], [*plurals]]
