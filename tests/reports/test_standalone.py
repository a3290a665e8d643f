"""A view as a web page: whatever its texts are, the page's own structure stays, and nothing is fetched."""

from __future__ import annotations

import io
import json
import re
import zipfile
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crubric_core.errors import ExportError
from crubric_core.reports.standalone import (
    bundle,
    bundle_zip,
    standalone_html,
    write_bundle,
    write_standalone,
)
from crubric_core.reports.standalone_parts import PRINTED, printed_table
from crubric_core.sharing import Bank, Separation, SharedView
from tests.sharing.large import large_view
from tests.tiers import examples

PAYLOADS = (
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "</style><img src=x onerror=alert(1)>",
    "</title><svg onload=alert(1)>",
    '" onmouseover="alert(1)" x="',
    "' onfocus='alert(1)' autofocus='",
    "javascript:alert(1)",
    "<!--",
    "-->",
    "]]>",
    "&lt;script&gt;",
    "${alert(1)}",
    "=HYPERLINK(1)",
    "<a href='http://evil.example'>x</a>",
)
texts = st.one_of(
    st.sampled_from(PAYLOADS),
    st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=30),
)


def view_of(*words: str) -> SharedView:
    """A view whose every text is one of the words, in turn."""
    system, title, note, dataset, text, caution = words
    names = (system, f"{system} 2")
    one = pd.array([1, 2], dtype="Int64")
    board = {name: [0.5, -0.5] for name in ("theta", "theta_low", "theta_high", "score")}
    nodes = np.linspace(-4, 4, 5)
    return SharedView(
        title=title,
        note=note,
        made_at=datetime(2026, 5, 4, 3, 2, tzinfo=UTC),
        dataset=dataset,
        fingerprint=text,
        counts=dict.fromkeys(("systems", "queries", "rubrics", "judges", "labels", "bank"), 2),
        settings={"confidence": 0.95, "model": caution, caution: {text: text}},
        versions={text: text},
        cautions=(caution,),
        downloads=True,
        leaderboard=pd.DataFrame(
            {"rank": one, "system": names, **board, "tier": one, "rank_low": one, "rank_high": one}
        ),
        separation=Separation(names, np.full((2, 2), 0.5), np.ones((2, 2), dtype=bool)),
        bank=Bank(2, 5, 9, 2, 3, 0.7, 0.9, nodes, np.full(5, 4.0), np.full(5, 16.0)),
        rubrics=pd.DataFrame({"order": [1], "rubric": [text], "query": [text], "text": [text]}),
    )


class Seen(HTMLParser):
    """The tags with their attributes' names, every text, and what is linked to."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, ...]] = []
        self.texts: list[str] = []
        self.targets: list[str] = []
        self.scripts: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, *(name for name, _ in attrs)))
        self.targets += [value or "" for name, value in attrs if name in ("src", "href", "action", "style")]

    def handle_data(self, data: str) -> None:
        (self.scripts if self.cdata_elem == "script" else self.texts).append(data)


def index(view: SharedView) -> str:
    return bundle(view)["index.html"].decode()


PLAIN = Seen(index(view_of(*"abcdef")))


@settings(max_examples=examples(40))
@given(words=st.tuples(*[texts] * 6))
def test_no_text_becomes_markup(words: tuple[str, ...]) -> None:
    """The page has the tags and attributes of one with harmless texts, and every text is in it letter by letter."""
    view = view_of(*words)
    seen = Seen(index(view))
    assert seen.tags == PLAIN.tags
    shown = set(seen.texts)
    for text in (view.title, view.note, view.cautions[0], *view.leaderboard["system"], *view.rubrics["text"]):
        assert text in shown


@settings(max_examples=examples(40))
@given(words=st.tuples(*[texts] * 6))
def test_no_name_is_markup_to_plotly_either(words: tuple[str, ...]) -> None:
    figures = json.loads(Seen(index(view_of(*words))).scripts[0])
    names = [name for f in figures[:2] for name in f["layout"]["yaxis"]["ticktext"]]
    short = [name for f in figures[:2] for name in f["narrow"]["layout.yaxis.ticktext"]]
    lines = [line for name in names + short for line in name.split("<br>", 1)]
    assert not any(mark in line for line in lines for mark in "<>")


@pytest.mark.parametrize("make", [standalone_html, index])
def test_the_policy_names_exactly_the_scripts_that_the_page_has(make: object) -> None:
    page = make(view_of(*PAYLOADS[:6]))
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    assert policy.startswith("default-src 'none'; script-src ")
    assert "unsafe-inline" not in policy.split("style-src")[0]
    assert "unsafe-eval" not in policy
    inline = len(re.findall(r"<script>", page))
    assert policy.count("'sha256-") == inline


def test_nothing_is_linked_to_but_its_own_files() -> None:
    inside, beside = Seen(standalone_html(view_of(*PAYLOADS[:6]))), Seen(index(view_of(*PAYLOADS[:6])))
    assert all(target.startswith(("data:text/csv;", "data:application/json;")) for target in inside.targets)
    assert set(beside.targets) == {"plotly.min.js", "leaderboard.csv", "bank.csv", "view.json"}


def test_where_downloads_are_not_allowed_there_is_none() -> None:
    view = replace(view_of(*"abcdef"), downloads=False)
    assert Seen(standalone_html(view)).targets == []
    assert "toImage" in Seen(index(view)).scripts[1]
    assert set(bundle(view)) == {"index.html", "plotly.min.js"}


def test_a_part_that_the_view_has_not_is_not_on_the_page() -> None:
    view = replace(view_of(*"abcdef"), separation=None, bank=None, rubrics=None)
    page = Seen(index(view))
    assert "Ranking" in page.texts
    assert {"System comparison", "Bank coverage", "Rubrics of the bank"}.isdisjoint(page.texts)


def test_the_unknown_is_a_dash() -> None:
    view = view_of(*"abcdef")
    board = view.leaderboard.assign(score=np.nan, rank_low=pd.array([pd.NA, 2], dtype="Int64"))
    assert Seen(index(replace(view, leaderboard=board))).texts.count("—") == 3


def test_the_csv_cannot_start_a_formula() -> None:
    files = bundle(view_of("=cmd()", *"bcdef"))
    assert b",'=cmd()," in files["leaderboard.csv"]


def test_the_json_holds_all_that_is_shown() -> None:
    view = view_of(*PAYLOADS[:6])
    held = json.loads(bundle(view)["view.json"])
    assert held["title"] == view.title
    assert [row[1] for row in held["leaderboard"]["rows"]] == view.leaderboard["system"].tolist()
    assert held["separation"]["systems"] == list(view.separation.systems)
    assert held["bank"]["certificate"] == view.bank.certificate


def test_the_archive_is_the_folder_and_the_same_each_time() -> None:
    view = view_of(*"abcdef")
    packed = bundle_zip(view)
    assert packed == bundle_zip(view)
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        assert {name: archive.read(f"leaderboard/{name}") for name in bundle(view)} == bundle(view)


def test_files_are_written_whole_and_the_page_last(tmp_path: Path) -> None:
    view = view_of(*"abcdef")
    written = write_bundle(view, tmp_path / "site")
    assert written[-1].name == "index.html"
    assert {path.name: path.read_bytes() for path in (tmp_path / "site").iterdir()} == bundle(view)
    assert write_standalone(view, tmp_path / "page.html").read_text() == standalone_html(view)


def test_a_bundle_written_again_keeps_no_file_of_the_earlier_choices(tmp_path: Path) -> None:
    (tmp_path / "leaderboard.csv").write_text("of somebody else")
    view = view_of(*"abcdef")
    write_bundle(replace(view, downloads=False), tmp_path)
    assert (tmp_path / "leaderboard.csv").read_text() == "of somebody else"
    write_bundle(view, tmp_path)
    write_bundle(replace(view, downloads=False), tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["index.html", "plotly.min.js"]


def test_a_folder_is_no_name_of_a_file() -> None:
    with pytest.raises(ExportError, match="is a folder"):
        write_standalone(view_of(*"abcdef"), ".")


def test_a_place_that_cannot_be_written_is_one_clear_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ExportError, match="could not be written"):
        write_standalone(view_of(*"abcdef"), tmp_path / "file" / "page.html")


def test_a_table_for_paper_has_its_first_rows_their_texts_as_text_and_the_unknown_as_a_dash() -> None:
    many = pd.DataFrame({"order": np.arange(PRINTED + 1), "text": PAYLOADS[0], "rubric": "r"})
    many["query"] = ["q", *[None] * PRINTED]
    found = str(printed_table("rubrics", many))
    assert found.count("<tr>") == 1 + PRINTED
    assert "<script>" not in found
    assert found.count("&lt;script&gt;") == PRINTED
    assert found.count("—") == PRINTED - 1


def test_on_paper_as_on_the_screen_a_column_of_texts_without_any_is_left_out() -> None:
    """It was printed below the words that it is not shown."""
    rows = pd.DataFrame({"order": [1, 2], "text": [None, ""], "rubric": ["r", "s"], "query": ["q", "q"]})
    found = str(printed_table("rubrics", rows))
    assert ">text<" not in found
    assert ">rubric<" in found
    assert "—" not in found
    assert ">text<" in str(printed_table("rubrics", rows.head(0))), "of no row it is not known"


def test_an_open_end_is_infinity_for_people_and_for_sorting() -> None:
    board = pd.DataFrame(
        {"rank": [1], "system": ["a"], "theta": [2.0], "theta_low": [-np.inf], "theta_high": [np.inf]}
    )
    found = str(printed_table("leaderboard", board))
    assert ">∞<" in found
    assert ">−∞<" in found
    view = large_view(3)
    assert view.leaderboard is not None
    page = standalone_html(replace(view, leaderboard=view.leaderboard.assign(theta_high=np.inf)))
    assert page.count('data-value="Infinity">∞<') == 3
