"""The page of a new system: nothing given, a file given, a system held out."""

from __future__ import annotations

import re
import shutil
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from crubric_core.analysis.pipeline import run_pipeline
from crubric_core.demo import simulate
from crubric_core.experiments.hold_out import hold_out
from crubric_core.labels.store.workspace import Workspace
from crubric_core.placement.bank_scale import bank_scale_of
from crubric_core.placement.new_labels import read_new_labels
from crubric_core.placement.place import WHOLE, place_systems
from crubric_core.settings import Settings
from crubric_core.ui import new_system
from tests.judging.conftest import reply
from tests.pages.conftest import HOSTILE, Open
from tests.task_types.conftest import FakeEndpoint

HELD_OUT = "held-out system"


def first_line(app: AppTest) -> str:
    return re.sub(r"\\(.)", r"\1", app.header[0].value)


@pytest.fixture(scope="module")
def mine(study: Path) -> bytes:
    """Labels of one of the study's systems, under another name."""
    with Workspace(study) as workspace:
        labels = workspace.dataset("small").labels()
    one = labels[labels["system"] == sorted(set(labels["system"]))[3]]
    return one.assign(system=f"{HOSTILE} mine").to_csv(index=False).encode()


def test_a_note_shortens_a_long_name_as_the_first_line_does() -> None:
    name = "x" * 199 + "y"
    found = SimpleNamespace(notes=(f"The pattern of {name}'s labels",), systems=[name, "b"])
    (said,) = new_system.notes(found)
    assert len(said) < 80
    assert said.endswith("xy's labels")


def test_without_labels_the_page_says_what_to_give(open_page: Open, study: Path) -> None:
    app = open_page("new_system", study)
    assert not app.exception
    assert first_line(app).startswith("No labels yet")


def test_a_file_of_labels_gives_a_place_and_what_to_judge_next(
    open_page: Open, study: Path, mine: bytes
) -> None:
    app = open_page("new_system", study, budget="20")
    app.file_uploader[0].upload("mine.csv", mine, "text/csv").run()
    assert not app.exception
    assert not app.error
    assert first_line(app).startswith("<img src=x onerror=a…t(1)> **bold** mine is in tier")
    assert "of 9" in first_line(app)
    assert app.dataframe[0].value["system"].tolist() == ["<img src=x onerr…> **bold** mine"]
    assert "What to judge next" in " ".join(text.value for text in app.markdown)


def test_the_labels_of_a_file_are_those_of_the_bank_that_the_page_shows(
    open_page: Open, study: Path, mine: bytes
) -> None:
    """Laid on another bank of that size, they were those of other rubrics."""
    shown = []
    for strategy in ("pairs", "random"):
        app = open_page("new_system", study, budget="20")
        app.file_uploader[0].upload("mine.csv", mine, "text/csv").run()
        if strategy != "pairs":
            next(s for s in app.selectbox if s.label == "The bank is chosen by").set_value(strategy).run()
        shown.append(app.dataframe[0].value[["theta", "answered"]])
        with Workspace(study) as workspace:
            dataset = workspace.dataset("small")
            found = run_pipeline(dataset, Settings(budget=20, strategy=strategy))
            scale = bank_scale_of(found, dataset.panel())
        expected = place_systems(scale, read_new_labels(scale, mine)).table[["theta", "answered"]]
        assert shown[-1].to_numpy().ravel() == pytest.approx(expected.to_numpy().ravel())
    assert not shown[0].equals(shown[1])


def test_rubrics_on_which_two_judges_tie_are_not_said_to_have_no_label(
    open_page: Open, tmp_path: Path
) -> None:
    made = simulate(seed=1, systems=8, queries=12, pool=(6, 6), judges=2, missing=0)
    with Workspace(tmp_path / "two.duckdb") as workspace:
        workspace.ingest(made.labels.to_csv(index=False).encode(), "two", kind="labels")
    app = open_page("new_system", tmp_path / "two.duckdb", source=HELD_OUT)
    assert not app.exception
    said = next(caption.value for caption in app.caption if "most informative come first" in caption.value)
    assert "have no label of this system that counts: none at all, or a tie of the judges." in said


def test_labels_that_do_not_touch_the_bank_are_answered_with_one_sentence(
    open_page: Open, study: Path
) -> None:
    app = open_page("new_system", study)
    app.file_uploader[0].upload(
        "x.csv", b"system,query,rubric,judge,label\nx,q,nowhere,j,1\n", "text/csv"
    ).run()
    assert not app.exception
    assert "No label is on any of the" in re.sub(r"\\(.)", r"\1", app.error[0].value)


def test_labels_of_another_bank_are_refused_as_such_though_none_is_on_the_scale_of_this_one(
    open_page: Open, study: Path
) -> None:
    """The page said that labels from 3 to 5 lie outside a scale from 0 to 1, and to correct the file."""
    app = open_page("new_system", study)
    rows = "".join(f"x,q,crb-{n:016x}@0123456789ab,j,{3 + n % 3}\n" for n in range(6))
    app.file_uploader[0].upload(
        "x.csv", b"system,query,rubric,judge,label\n" + rows.encode(), "text/csv"
    ).run()
    assert app.error[0].value.replace("\\", "").startswith("These labels belong to the bank 0123456789ab,")


def test_another_dataset_takes_the_held_out_system_out_of_the_address(
    open_page: Open, study: Path, tmp_path: Path
) -> None:
    path = tmp_path / "two.duckdb"
    shutil.copy(study, path)
    with Workspace(path) as workspace:
        name = workspace.dataset("small").systems[1]
        others = simulate(seed=2, systems=7, queries=8, pool=(9, 12)).labels
        others["system"] = "other " + others["system"]
        workspace.ingest(others.to_csv(index=False).encode(), "other", format="csv")
    app = open_page("new_system", path, dataset="small", source=HELD_OUT, held_out=name)
    assert app.selectbox(key="held_out").value == name
    app.selectbox(key="dataset").set_value("other").run()
    assert not app.exception
    assert "held_out" not in app.query_params
    assert app.selectbox(key="held_out").value != name


def test_a_form_that_was_not_filled_in_is_told_apart_from_labels_of_other_rubrics(
    open_page: Open, study: Path, mine: bytes
) -> None:
    """It was told to name the rubrics as the bank does, which it did."""
    header, *rows = (line.split(",") for line in mine.decode().splitlines())
    at = header.index("label")
    blank = [header, *([*row[:at], "", *row[at + 1 :]] for row in rows)]
    app = open_page("new_system", study)
    app.file_uploader[0].upload("x.csv", "\n".join(map(",".join, blank)).encode(), "text/csv").run()
    assert app.error[0].value.startswith("No row has a label")


def test_a_word_that_is_no_label_is_answered_with_what_the_page_has(open_page: Open, study: Path) -> None:
    """It named an option of the command line, and a mapping."""
    app = open_page("new_system", study)
    app.file_uploader[0].upload(
        "x.csv", b"system,query,rubric,judge,label\nx,q,r,j,great\n", "text/csv"
    ).run()
    said = app.error[0].value.replace("\\", "")
    assert "write the label in its place" in said
    assert "--" not in said
    assert "mapping" not in said


def test_no_option_of_the_command_line_is_proposed(open_page: Open, study: Path, mine: bytes) -> None:
    app = open_page("new_system", study)
    row = mine.splitlines()[1].decode().split(",")
    header = mine.splitlines()[0].decode().split(",")
    row[header.index("label")], row[header.index("judge")] = "77", "j9"
    app.file_uploader[0].upload("x.csv", mine + ",".join(row).encode() + b"\n", "text/csv").run()
    said = app.error[0].value.replace("\\", "")
    assert said.endswith("Correct the file, or place without these labels, which you take out of it.")


def test_a_held_out_system_is_placed_by_a_bank_that_never_saw_it(open_page: Open, study: Path) -> None:
    with Workspace(study) as workspace:
        dataset = workspace.dataset("small")
        name = dataset.systems[2]
        anchor, labels = hold_out(dataset, Settings(budget=min(200, len(dataset.rubrics))), name)
    app = open_page("new_system", study, source=HELD_OUT, held_out=name)
    assert not app.exception
    assert name not in anchor.systems
    expected = place_systems(anchor, labels).table
    assert app.dataframe[0].value["theta"].tolist() == pytest.approx(expected["theta"].tolist())
    assert "leaderboard, made with its labels" in app.caption[0].value
    assert not any("mean nothing" in note.value for note in app.warning), "all share queries"
    assert any(
        "A small bank often pulls an ability towards the middle" in caption.value for caption in app.caption
    )


def test_of_a_held_out_system_is_said_that_its_bank_is_not_composed_by_hand(
    open_page: Open, study: Path
) -> None:
    composed = '{"limits":[{"by":"query","at_most":3}]}'
    for asked in ({}, {"composition": composed}):
        app = open_page("new_system", study, source=HELD_OUT, **asked)
        assert not app.exception
        assert any("nothing is composed by hand" in c.value for c in app.caption) == bool(asked)


def test_a_held_out_system_is_placed_by_the_bank_of_the_settings_that_the_page_shows(
    open_page: Open, study: Path
) -> None:
    """What was computed for one bank size was shown for the others."""
    with Workspace(study) as workspace:
        dataset = workspace.dataset("small")
        name = dataset.systems[2]
        expected = [
            place_systems(*hold_out(dataset, Settings(budget=b), name)).table["theta"] for b in (20, 8)
        ]
    assert expected[0].tolist() != expected[1].tolist()
    for budget, theta in zip((20, 8), expected, strict=True):
        app = open_page("new_system", study, source=HELD_OUT, held_out=name, budget=str(budget))
        assert app.dataframe[0].value["theta"].tolist() == pytest.approx(theta.tolist())


def test_a_larger_bank_is_proposed_only_where_there_is_one(open_page: Open, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = [
        f"s{s},q{q},r{q},j{j},{int(rng.random() < (s + q % 4) / 11)}"
        for s in range(8)
        for q in range(20)
        for j in range(3)
    ]
    with Workspace(tmp_path / "w.duckdb") as workspace:
        workspace.ingest("\n".join(["system,query,rubric,judge,label", *rows]).encode(), "full", "labels")
    for budget, larger in (("5", True), ("99", False)):
        app = open_page("new_system", tmp_path / "w.duckdb", source=HELD_OUT, held_out="s4", budget=budget)
        (said,) = (text.value for text in app.markdown if text.value.startswith("No further rubric"))
        assert ("only a larger bank could" in said) is larger


def test_where_claims_are_about_scores_the_leaderboard_has_a_score_and_no_open_interval(
    open_page: Open, tmp_path: Path
) -> None:
    made = simulate(seed=1, systems=4, queries=8, pool=(5, 8))
    with Workspace(tmp_path / "few.duckdb") as workspace:
        workspace.ingest(made.labels.to_csv(index=False).encode(), "few", "labels")
        name = workspace.dataset("few").systems[0]
    app = open_page("new_system", tmp_path / "few.duckdb", source=HELD_OUT, held_out=name)
    said = app.caption[0].value.replace("\\", "")
    assert re.search(r"with score 0\.\d\d \[0\.\d\d, \d\.\d\d\]\.$", said), said
    assert first_line(app).startswith("No claim about where ")
    assert first_line(app).endswith(" The bank was made from 3 systems, fewer than 6.")
    assert any("the bank was made from 3 systems" in note.value for note in app.warning)
    assert app.dataframe[0].value[list(WHOLE)].isna().all(axis=None)


def test_a_bank_of_one_query_gives_no_claim_about_a_place(open_page: Open, tmp_path: Path) -> None:
    """The first line named tier and rank, and a warning below said that these are no claims."""
    made = simulate(seed=1, systems=8, queries=1, pool=(30, 30))
    with Workspace(tmp_path / "one.duckdb") as workspace:
        workspace.ingest(made.labels.to_csv(index=False).encode(), "one", "labels")
        name = workspace.dataset("one").systems[0]
    app = open_page("new_system", tmp_path / "one.duckdb", source=HELD_OUT, held_out=name)
    assert not app.exception
    assert first_line(app).startswith(
        f"No claim about where {name} stands. It is compared only by a bootstrap of the bank's rubrics"
    )
    assert any("Rank and tier are unknown" in note.value for note in app.warning)
    assert app.dataframe[0].value[list(WHOLE)].isna().all(axis=None)


def test_a_place_is_among_the_systems_of_a_common_scale_alone(open_page: Open, tmp_path: Path) -> None:
    first, second = (simulate(seed=seed, systems=7, queries=14, pool=(9, 12)) for seed in (5, 6))
    with Workspace(tmp_path / "apart.duckdb") as workspace:
        for kind in ("labels", "rubrics", "queries"):
            table = getattr(second, kind)
            names = [name for name in ("system", "query", "rubric") if name in table]
            table = pd.concat([getattr(first, kind), table.assign(**{n: "z" + table[n] for n in names})])
            workspace.ingest(table.to_csv(index=False).encode(), "apart", kind)
        name = workspace.dataset("apart").systems[0]
    app = open_page("new_system", tmp_path / "apart.duckdb", source=HELD_OUT, held_out=name)
    assert any("form 2 groups" in note.value for note in app.warning)
    assert "of 7 (" in first_line(app)


def test_a_hostile_system_stays_text(open_page: Open, study: Path) -> None:
    app = open_page("new_system", study, source=HELD_OUT, held_out=HOSTILE)
    assert not app.exception
    assert first_line(app).startswith(HOSTILE)
    assert "<img" not in app.header[0].value.replace("\\<img", "")


def test_judging_is_off_unless_it_is_configured(open_page: Open, study: Path) -> None:
    app = open_page("new_system", study)
    assert "judges" not in app.button_group[0].options


@dataclass
class Judged:
    """The page with answers and a judge, whom ``write`` describes anew."""

    open: Callable[[], AppTest]
    server: FakeEndpoint
    write: Callable[..., object]

    def judge(self, app: AppTest) -> AppTest:
        """Ask all and wait for it."""
        next(button for button in app.button if button.label == "Judge: 10 calls").click().run()
        for thread in threading.enumerate():
            if thread.name.startswith("judging"):
                thread.join(60)
        return app.run()


@pytest.fixture
def judged(open_page: Open, study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Judged]:
    own = shutil.copy(study, tmp_path / "study.duckdb")
    with Workspace(own) as workspace:
        queries = workspace.dataset("small").queries["query"].tolist()
    answers = "system,query,text\n" + "".join(f"mine,{query},An answer.\n" for query in queries)
    server = FakeEndpoint()
    server.behave = lambda message, visit: reply(message, met=len(message) % 2 == 0)
    judges = tmp_path / "judges.toml"

    def write(model: str = "some-model", more: str = "") -> None:
        judges.write_text(f'[[judge]]\nname = "strict"\nbase_url = "{server.url}"\nmodel = "{model}"\n{more}')

    def opened() -> AppTest:
        app = open_page("new_system", own, source="judges", budget="10")
        app.file_uploader(key="answers").upload("answers.csv", answers.encode(), "text/csv").run()
        assert not app.exception
        return app

    write()
    monkeypatch.setenv("CRUBRIC_JUDGES", str(judges))
    yield Judged(opened, server, write)
    server.stop()


def test_answers_are_priced_judged_and_placed_on_the_page(judged: Judged) -> None:
    app = judged.open()
    assert app.dataframe[0].value["calls"].tolist()[:2] == [10, 10]
    assert not judged.server.requests
    app = judged.judge(app)
    assert not app.exception
    assert len(judged.server.requests) == 10
    assert app.dataframe[0].value["calls"].tolist()[:2] == [0, 10]
    assert "10 labels written" in " ".join(text.value for text in app.markdown)
    assert first_line(app).startswith("mine is in tier")


def test_labels_stay_on_the_page_without_the_key_of_their_judge(judged: Judged) -> None:
    judged.judge(judged.open())
    judged.write(more='key_env = "NOT_SET"\n')
    app = judged.open()
    assert any("is not set" in error.value for error in app.error)
    assert first_line(app).startswith("mine is in tier")


def test_labels_of_another_model_stay_until_another_file_begins(judged: Judged) -> None:
    judged.judge(judged.open())
    judged.write(model="another")
    app = judged.open()
    assert any("asked otherwise" in note.value for note in app.warning)
    assert first_line(app).startswith("mine is in tier")
    next(button for button in app.button if button.label == "Start again in another file").click().run()
    assert not app.exception
    app = judged.judge(app)
    assert {request["body"]["model"] for request in judged.server.requests[10:]} == {"another"}
    assert len(judged.server.requests) == 20
    assert first_line(app).startswith("mine is in tier")


def test_new_systems_join_the_calibration_when_asked_and_who_moves_is_said(
    open_page: Open, study: Path, mine: bytes
) -> None:
    app = open_page("new_system", study, budget="20")
    app.file_uploader[0].upload("mine.csv", mine, "text/csv").run()
    assert not any("moved" in table.value for table in app.dataframe)
    next(button for button in app.button if button.label == "Recalibrate with them").click().run()
    assert not app.exception
    assert not app.error
    moved = next(table.value for table in app.dataframe if "theta_before" in table.value)
    assert moved["new"].tolist() == [True] + [False] * 8, "the new one first"
    said = re.sub(r"\\(.)", r"\1", " ".join(text.value for text in app.markdown))
    assert "1 system joins the 8 of the calibration; " in said
    assert ("no ability moves by more than one standard error" in said) == (not moved["moved"].any())
    assert re.search(
        r"linked to the bank's scale by \d+ rubrics \(slope \d\.\d\d, shift [+−]\d\.\d\d\)", said
    )
