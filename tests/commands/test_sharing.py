"""Publishing from the command line, as a user runs it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from crubric_core.__main__ import main
from crubric_core.sharing import list_views, open_view

SAMPLE = Path(__file__).resolve().parents[2] / "data"
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="session")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("published") / "w.duckdb"
    for kind in ("queries", "rubrics", "labels"):
        file = str(SAMPLE / f"sample_{kind}.csv")
        assert main(["ingest", "--workspace", str(path), "--dataset", "d", "--kind", kind, file]) == 0
    return path


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


@pytest.fixture
def publish(run: Run, workspace: Path, tmp_path: Path) -> Run:
    """``publish`` with the sample, a small bank and a folder of its own."""

    def call(*arguments: object) -> tuple[int, str, str]:
        known = ("--workspace", workspace, "--dataset", "d", "--tau-c", 0.7, "--budget", 20)
        return run("publish", *known, "--views", tmp_path / "views", *arguments)

    return call


def test_a_view_is_published_and_its_link_said_once(publish: Run, tmp_path: Path) -> None:
    code, out, _ = publish("--title", "Autumn", "--note", "for all", "--expires", "2999-01-01")
    assert code == 0
    made = json.loads(out)
    assert made.keys() == {"id", "token", "path"}
    assert Path(made["path"]).is_file()
    view = open_view(tmp_path / "views", made["token"])
    assert (view.title, view.note, view.settings["tau_c"], view.counts["bank"]) == (
        "Autumn",
        "for all",
        0.7,
        20,
    )
    assert view.rubrics is None


def test_what_it_shows_can_be_chosen(publish: Run, tmp_path: Path) -> None:
    _, out, _ = publish("--include", "bank", "--include", "texts", "--hide-dataset", "--no-downloads")
    view = open_view(tmp_path / "views", json.loads(out)["token"])
    assert view.leaderboard is None
    assert view.separation is None
    assert len(view.rubrics) == view.bank.size == 20
    assert (view.dataset, view.downloads) == (None, False)


def test_views_are_listed_without_a_secret(run: Run, publish: Run, tmp_path: Path) -> None:
    made = [json.loads(publish("--title", title)[1]) for title in "ab"]
    _, out, _ = run("views", "--views", tmp_path / "views")
    rows = [json.loads(line) for line in out.splitlines()]
    assert [(row["id"], row["title"], row["state"]) for row in rows] == [
        (made[1]["id"], "b", "open"),
        (made[0]["id"], "a", "open"),
    ]
    assert not any(link["token"] in out for link in made)
    assert "sha256" not in out


def test_a_revoked_link_opens_nothing(run: Run, publish: Run, tmp_path: Path) -> None:
    made = json.loads(publish()[1])
    code, out, _ = run("revoke", "--views", tmp_path / "views", made["id"])
    assert (code, json.loads(out)["state"]) == (0, "revoked")
    assert open_view(tmp_path / "views", made["token"]) is None


def test_a_newer_result_keeps_the_link_and_its_words(publish: Run, tmp_path: Path) -> None:
    made = json.loads(publish("--title", "Autumn", "--note", "n")[1])
    code, out, _ = publish("--replace", made["id"], "--budget", 5, "--expires", "2999-01-01T00:00Z")
    assert (code, json.loads(out)["id"], json.loads(out)["token"]) == (0, made["id"], None)
    view = open_view(tmp_path / "views", made["token"])
    assert (view.title, view.note, view.counts["bank"]) == ("Autumn", "n", 5)
    assert list_views(tmp_path / "views")[0].expires_at.year == 2999


def test_an_expiry_that_has_passed_changes_nothing(publish: Run, tmp_path: Path) -> None:
    made = json.loads(publish()[1])
    code, _, said = publish("--replace", made["id"], "--expires", "2020-01-01")
    assert (code, "has passed" in said) == (2, True)
    assert [view.version for view in list_views(tmp_path / "views")] == [1]


def test_a_newer_result_under_an_expired_link_says_that_it_opens_nothing(
    publish: Run, tmp_path: Path
) -> None:
    view = json.loads(publish()[1])["id"]
    state = json.loads((tmp_path / "views" / f"{view}.json").read_text())
    state["expires_at"] = "2020-01-01T00:00:00+00:00"
    (tmp_path / "views" / f"{view}.json").write_text(json.dumps(state))
    assert "The link has expired and opens nothing" in publish("--replace", view)[2]
    assert "has expired" not in publish("--replace", view, "--expires", "2999-01-01")[2]
    assert list_views(tmp_path / "views")[0].standing() == "open"


def test_a_newer_result_says_what_changed(publish: Run, tmp_path: Path) -> None:
    made = json.loads(publish()[1])
    before = open_view(tmp_path / "views", made["token"])
    _, out, told = publish("--replace", made["id"], "--budget", 5)
    said = json.loads(out)["changes"]
    assert said["settings"] == {"budget": {"before": before.settings["budget"], "after": 5}}
    assert (said["systems_added"], said["systems_removed"], said["other_labels"]) == ([], [], False)
    assert f"1 setting changed (budget: {before.settings['budget']} → 5)." in told


def test_the_trail_is_shown_when_asked_for(run: Run, publish: Run, tmp_path: Path) -> None:
    made = json.loads(publish()[1])
    run("revoke", "--views", tmp_path / "views", made["id"])
    _, out, _ = run("views", "--views", tmp_path / "views", "--audit")
    assert [json.loads(line)["what"] for line in out.splitlines()] == ["publish", "revoke"]
    assert made["token"] not in out


@pytest.mark.parametrize(
    "arguments",
    [
        ("--expires", "yesterday"),
        ("--expires", "2020-01-01"),
        ("--replace", "../../etc/passwd"),
        ("--replace", "0123456789abcdef"),
        ("--title", "x" * 201),
        ("--include", "tiers"),
        ("--tau-c", "1.0"),
    ],
)
def test_bad_input_ends_with_2_one_line_and_no_view(
    publish: Run, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    code, out, err = publish(*arguments)
    assert (code, out) == (2, "")
    assert len(err.strip().splitlines()) == 1
    assert "Traceback" not in err
    assert list_views(tmp_path / "views") == ()


def test_the_result_is_exported_as_a_page_and_as_a_folder(run: Run, workspace: Path, tmp_path: Path) -> None:
    page, site, tables = tmp_path / "out" / "page.html", tmp_path / "site", tmp_path / "tables"
    known = ("--workspace", workspace, "--dataset", "d", "--budget", 20)
    code, out, _ = run(
        "export", *known, "--html", page, "--bundle", site, "--out", tables, "--title", "Autumn"
    )
    assert code == 0
    assert {Path(line) for line in out.splitlines()} == {page, *site.iterdir(), *tables.iterdir()}
    assert "<title>Autumn</title>" in page.read_text()
    assert {"index.html", "plotly.min.js", "leaderboard.csv", "view.json"} == {f.name for f in site.iterdir()}


def test_an_export_to_nowhere_is_one_clear_line(run: Run, workspace: Path) -> None:
    code, out, err = run("export", "--workspace", workspace, "--dataset", "d")
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert "--html" in err


def test_a_folder_of_views_that_is_not_there_is_refused(run, tmp_path):
    """Nothing was printed, as of a folder without views."""
    code, _, err = run("views", "--views", tmp_path / "nosuch")
    assert (code, "There is no folder of views" in err) == (2, True)
