"""The data page: files in, what is understood and decided, reports, datasets changed and taken back."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest

from crubric_core.composition import Composition
from crubric_core.environment import typed
from crubric_core.jobs.threads import ThreadJob
from crubric_core.labels.readers.bundle import plan_ingest
from crubric_core.labels.store.workspace import Workspace
from tests.pages.conftest import HOSTILE, ROOT, Open

W = TypeVar("W", bound=Any)
HEADER = "system,query,rubric,judge,label"
ROWS = [
    f"{system},q{n},r{n},{judge},{int((n + i + j) % 3 > 0)}"
    for i, system in enumerate("abc")
    for n in range(6)
    for j, judge in enumerate(("j1", "j2"))
]
GRADED = "\n".join(
    json.dumps(
        {
            "example_level_metadata": [
                {
                    "prompt_id": f"p{n}",
                    "completion_id": f"c{n}",
                    "score": 0.5,
                    "rubric_items": [
                        {"criterion": "Says when to call", "points": 5, "tags": [], "criteria_met": n > 0},
                        {"criterion": "Invents a dose", "points": -8, "tags": [], "criteria_met": False},
                    ],
                }
            ]
        }
    )
    for n in range(3)
).encode()


def csv(*rows: str) -> bytes:
    return "\n".join([HEADER, *rows]).encode()


def upload(app: Any, *files: tuple[str, bytes]) -> None:
    app.file_uploader[0].set_value([(name, content, "text/csv") for name, content in files]).run()


def button(app: Any, start: str) -> Any:
    return next(b for b in app.button if b.label.startswith(start))


def text(app: Any) -> str:
    """All that the page says, as a reader sees it."""
    told = [*app.header, *app.subheader, *app.markdown, *app.caption, *app.error, *app.warning, *app.success]
    return "\n".join(str(element.value).replace("\\", "") for element in told)


def test_what_would_change_is_told_before_anything_is_stored(open_page: Open, tmp_path: Path) -> None:
    app = open_page("data", tmp_path / "w.duckdb")
    upload(app, ("fin.csv", csv(*ROWS)))
    assert "Adds 3 systems, 2 judges, 6 queries, 6 rubrics and 36 labels. Nothing is stored yet." in text(app)
    assert "scale 0 to 1" in text(app)
    assert "No dataset yet" in app.header[0].value
    button(app, "Read 1 file").click().run()
    assert not app.exception
    assert not app.error
    assert "36 rows read as labels" in text(app)
    assert app.header[0].value == "1 dataset with 36 labels can be read\\."
    assert any(d.value.columns[0] == "name" and d.value["name"].tolist() == ["fin"] for d in app.dataframe)


def test_queries_of_another_task_of_inspect_are_told_apart_where_the_page_is_told_so(
    open_page: Open, tmp_path: Path
) -> None:
    def log_of(task: str) -> bytes:
        sample = {"id": 1, "epoch": 1, "input": f"a question of {task}", "scores": {"match": {"value": "C"}}}
        return json.dumps(
            {"eval": {"task": task, "model": "m"}, "status": "success", "samples": [sample]}
        ).encode()

    with Workspace(tmp_path / "w.duckdb") as workspace:
        workspace.ingest(log_of("law"), "d", name="law.json")
    app = open_page("data", tmp_path / "w.duckdb")
    upload(app, ("art.json", log_of("art")))
    next(s for s in app.selectbox if s.label == "Into").set_value("d").run()
    assert "or tick “Name each query with its task or variables”" in text(app)
    box = next(c for c in app.checkbox if c.label.startswith("Name each query"))
    assert box.label.replace("\\", "").endswith(": {task}/{query}")
    box.check().run()
    button(app, "Read 1 file").click().run()
    assert not app.exception
    with Workspace(tmp_path / "w.duckdb") as workspace:
        assert set(workspace.dataset("d").queries["query"]) == {"1", "art/1"}


def test_a_dataset_without_labels_is_not_called_free_of_issues(open_page: Open, tmp_path: Path) -> None:
    app = open_page("data", tmp_path / "w.duckdb")
    upload(app, ("queries.csv", b"query,text,domain\nq1,Why?,a\nq2,How?,b\n"))
    button(app, "Read 1 file").click().run()
    assert "No data-quality issue" not in text(app)
    assert app.info[0].value.startswith("No judge's labels yet")


def test_an_addition_says_what_it_adds_and_what_it_changes(open_page: Open, tmp_path: Path) -> None:
    path = tmp_path / "w.duckdb"
    with Workspace(path) as workspace:
        workspace.ingest(csv(*ROWS), "fin")
    app = open_page("data", path)
    flipped = ROWS[0][:-1] + str(1 - int(ROWS[0][-1]))
    upload(app, ("fin.csv", csv(flipped, "d,q0,r0,j1,1")))
    assert next(s for s in app.selectbox if s.label == "Into").value == "fin"
    assert "1 row rejected, such as row 2: conflicts with" in text(app)
    of_files(app.selectbox, "policy on_conflict").set_value("last").run()
    assert "Adds 1 system and 1 label; changes 1. Nothing is stored yet." in text(app)


def test_a_table_without_labels_is_offered_to_the_dataset_that_is_shown(
    open_page: Open, tmp_path: Path
) -> None:
    """It was to become a dataset of its own, without any label."""
    path = tmp_path / "w.duckdb"
    with Workspace(path) as workspace:
        workspace.ingest(csv(*ROWS), "fin")
        workspace.ingest(csv(*ROWS[:9]), "gap")
    app = open_page("data", path, dataset="gap")
    upload(app, ("systems.csv", b"system,cost\na,1\nb,2\nc,3"))
    assert next(s for s in app.selectbox if s.label == "Into").value == "gap"


def of_files(widgets: Sequence[W], name: str) -> W:
    """The widget of that name among those of the files that are there: their keys name the files, too."""
    return next(w for w in widgets if (w.key or "").startswith(f"{name} "))


def test_the_checks_are_those_of_the_files_that_were_read_last(open_page: Open, tmp_path: Path) -> None:
    """Rejected rows leave no trace in the labels: a file read again without them has the same."""
    path, told = tmp_path / "w.duckdb", "Text in place of a number"
    for rows in ((*ROWS, "a,q1,r1,j3,splendid"), ROWS):
        with Workspace(path) as workspace:
            workspace.ingest(csv(*rows), "fin")
        app = open_page("data", path, dataset="fin")
        assert any(told in e.value for e in app.error) == (rows != ROWS)
        with Workspace(path) as workspace:
            workspace.undo("fin")


def test_files_that_are_picked_while_others_are_read_wait_for_their_turn(
    open_page: Open, tmp_path: Path
) -> None:
    """They went with those that were read."""
    app = open_page("data", tmp_path / "w.duckdb")
    upload(app, ("fin.csv", csv(*ROWS)))
    _, batch = app.session_state["batch"]
    with Workspace(tmp_path / "w.duckdb") as workspace:
        report = workspace.ingest_plan(plan_ingest(batch.kept), "fin", batch.kept)
    batch.reading = ThreadJob()
    batch.reading.start(lambda _: report, "reading", "It failed.")
    upload(app, ("more.csv", csv("d,q0,r0,j1,1")), ("broken.zip", b"PK\x03\x04"))
    assert "fin: done." in text(app)
    assert "Chosen before" not in text(app)
    assert "broken.zip" in app.error[0].value.replace("\\", "")
    upload(app, ("more.csv", csv("d,q0,r0,j1,1")))
    assert "fin: done." not in text(app)
    assert "Chosen before" not in text(app)
    button(app, "Read 1 file").click().run()
    assert "more: done." in text(app)
    assert "Chosen before" not in text(app)


def test_the_ingest_that_is_chosen_is_undone_among_others_of_its_name_and_minute(
    open_page: Open, tmp_path: Path
) -> None:
    """A choice that reads like others stood for the oldest of them."""
    path = tmp_path / "w.duckdb"
    with Workspace(path) as workspace:
        for n in range(3):
            workspace.ingest(csv(f"s{n},q,r,j,1"), "fin", name="same.csv")
    app = open_page("data", path, dataset="fin")
    box = next(s for s in app.selectbox if s.label == "Undo the ingest of")
    assert len(set(box.options)) == 3
    box.select_index(1).run()
    next(b for b in app.button if b.label == "Yes, undo it").click().run()
    with Workspace(path) as workspace:
        assert workspace.dataset("fin").systems == ("s0", "s2")


def test_a_composed_bank_goes_with_its_dataset_under_another_name(
    open_page: Open, study: Path, tmp_path: Path
) -> None:
    """It stayed with the name, and was that of the next dataset that was called so."""
    path = tmp_path / "own.duckdb"
    shutil.copyfile(study, path)
    composed = Composition(exclusions=("none",))
    app = open_page("data", path, dataset="small", composition=json.dumps(composed.as_dict()))
    app.session_state["composition held"] = {"small": composed}
    next(t for t in app.text_input if t.key == "rename small").set_value("large").run()
    button(app, "Rename").click().run()
    assert not app.exception
    assert app.session_state["composition held"]["large"] == composed
    assert not app.session_state["composition held"]["small"]


@pytest.mark.parametrize(
    ("label", "key", "typed", "shown"),
    [("Rename", "rename", "large", "large"), ("Delete", "delete", "small", "other")],
)
def test_the_pages_follow_a_dataset_under_its_new_name_and_leave_one_that_was_deleted(
    open_page: Open, study: Path, tmp_path: Path, label: str, key: str, typed: str, shown: str
) -> None:
    """They said that it was renamed or deleted, to the one who had just done so."""
    path = tmp_path / "own.duckdb"
    shutil.copyfile(study, path)
    with Workspace(path) as workspace:
        workspace.ingest(csv(*ROWS), "other")
    app = open_page("data", path, dataset="small")
    app.text_input(key=f"{key} small").set_value(typed).run()
    button(app, label).click().run()
    assert app.query_params.get("dataset") == ("large" if shown == "large" else None)
    app.switch_page(str(ROOT / "pages" / "scenarios.py")).run()
    assert app.title[0].value == f"Scenarios · {shown}"


def test_rejected_rows_are_shown_with_their_reasons_and_kept_for_download(
    open_page: Open, tmp_path: Path
) -> None:
    app = open_page("data", tmp_path / "w.duckdb")
    upload(app, ("fin.csv", csv(*ROWS, "a,q1,r1,j3,splendid")))
    assert any("Text in place of a number" in e.value for e in app.error)
    assert any("splendid" in d.value.astype(str).to_numpy() for d in app.dataframe)
    assert any(b.label == "Download the 1 row rejected" for b in app.get("download_button"))
    button(app, "Read 1 file").click().run()
    assert "1 rejected" in text(app)
    shown = next(d.value for d in app.dataframe if "reason" in d.value and "kind" in d.value)
    assert shown["value"].tolist() == ["splendid"]
    assert "--answer" not in shown["reason"].iloc[0]


def test_a_word_that_is_no_label_is_asked_about_at_once(open_page: Open, tmp_path: Path) -> None:
    app = open_page("data", tmp_path / "w.duckdb")
    upload(app, ("fin.csv", csv(*ROWS, "a,q1,r1,j3,splendid")))
    assert "Words in place of labels" in text(app)
    words = next(d.value for d in app.dataframe if list(d.value.columns) == ["word", "stands for"])
    assert words.to_numpy().tolist() == [["splendid", ""]]


def test_words_without_which_no_row_can_be_read_are_asked_about(open_page: Open, tmp_path: Path) -> None:
    """The page said where to tell what they stand for, and there was nothing to tell it in."""
    rows = "".join(f"m{i},q{q},{'ABC'[(i + q) % 3]}\n" for i in range(3) for q in range(4))
    app = open_page("data", tmp_path / "w.duckdb")
    upload(app, ("x.csv", f"model,question_id,grade\n{rows}".encode()))
    (refused,) = app.error
    assert "under “Words in place of labels”" in refused.value
    words = next(d.value for d in app.dataframe if list(d.value.columns) == ["word", "stands for"])
    assert words["word"].tolist() == ["A", "B", "C"]
    assert set(words["stands for"]) == {""}


def test_the_range_that_steps_divide_is_asked_for_beside_them(open_page: Open, tmp_path: Path) -> None:
    """Means on 1 to 5 had been divided as parts of 10."""
    rows = "".join(f"m{i},q{q},{1.2 + 0.31 * i + 0.73 * q:.2f}\n" for i in range(3) for q in range(4))
    app = open_page("data", tmp_path / "w.duckdb")
    upload(app, ("x.csv", f"model,question_id,score\n{rows}".encode()))
    of_files(app.selectbox, "policy bins").set_value(5).run()
    (refused,) = app.error
    assert "under “Range of the scores”" in refused.value
    of_files(app.number_input, "range from").set_value(1).run()
    of_files(app.number_input, "range to").set_value(5).run()
    assert not app.error
    button(app, "Read 1 file").click().run()
    with Workspace(tmp_path / "w.duckdb") as ws:
        scale = ws.dataset("x").scale
    assert (scale.minimum, scale.maximum) == (0, 4)


def test_a_threshold_that_a_refusal_proposes_is_among_the_choices_which_it_opens(
    open_page: Open, tmp_path: Path
) -> None:
    rows = "".join(f"m{i},q{q},{31.713 * i + 7.377 * q:.3f}\n" for i in range(3) for q in range(4))
    app = open_page("data", tmp_path / "w.duckdb")
    upload(app, ("x.csv", f"model,question_id,score\n{rows}".encode()))
    (refused,) = app.error
    said = refused.value.replace("\\", "")
    assert "“Continuous scores count as met”, from 50" in said
    assert "policy" not in said
    (choices,) = (e for e in app.expander if e.label.startswith("Ambiguous values"))
    assert choices.proto.expanded
    of_files(app.selectbox, "policy threshold").set_value(50.0).run()
    assert not app.error
    button(app, "Read 1 file").click().run()
    with Workspace(tmp_path / "w.duckdb") as ws:
        assert sorted(set(ws.dataset("x").labels()["label"])) == [0, 1]


def test_steps_that_a_refusal_proposes_can_be_chosen_though_the_page_does_not_usually_offer_them(
    open_page: Open, tmp_path: Path
) -> None:
    rows = "".join(f"m{i},q{q},{(3 * i + q) / 8}\n" for i in range(3) for q in range(4))
    app = open_page("data", tmp_path / "w.duckdb")
    upload(app, ("x.csv", f"model,question_id,score\n{rows}".encode()))
    assert "“Labels come in steps of” 1/8" in app.error[0].value.replace("\\", "")
    steps = of_files(app.selectbox, "policy multiply")
    assert "1/8" in steps.options
    steps.set_value(8).run()
    assert not app.error
    button(app, "Read 1 file").click().run()
    with Workspace(tmp_path / "w.duckdb") as ws:
        assert set(ws.dataset("x").labels()["label"]) == set(range(10))


def test_a_code_for_a_missing_label_is_asked_about_and_no_option_of_the_command_line_is_named(
    open_page: Open, tmp_path: Path
) -> None:
    app = open_page("data", tmp_path / "w.duckdb")
    upload(
        app, ("fin.csv", csv(*ROWS, "a,q1,r1,j3,-9", "b,q1,r1,j3,400", "c,q1,r1,j3,splendid", "c,q1,r1,j1,1"))
    )
    words = next(d.value for d in app.dataframe if list(d.value.columns) == ["word", "stands for"])
    assert set(words["word"]) == {"-9", "splendid"}
    shown = [text(app), *(d.value.to_csv() for d in app.dataframe), *(s.help or "" for s in app.selectbox)]
    assert "looks like a code for a missing label" in shown[0]
    assert not re.search(r"--[a-z]|on_conflict|command line", "\n".join(shown))


def test_labels_below_zero_are_asked_about_and_stay_labels_until_they_are_said_to_be_none(
    open_page: Open, tmp_path: Path
) -> None:
    app = open_page("data", tmp_path / "w.duckdb")
    upload(app, ("fin.csv", csv(*ROWS, "a,q1,r1,j3,-1")))
    words = next(d.value for d in app.dataframe if list(d.value.columns) == ["word", "stands for"])
    assert words.to_numpy().tolist() == [["-1", "-1"]]
    assert "37 labels" in text(app)


def test_while_files_are_decided_on_no_check_of_a_stored_dataset_is_shown(
    open_page: Open, tmp_path: Path
) -> None:
    path = tmp_path / "w.duckdb"
    with Workspace(path) as workspace:
        workspace.ingest(csv(*ROWS), "fin")
    app = open_page("data", path)
    assert any(s.key == "detail" for s in app.selectbox)
    assert any("All tables of the dataset, with answers" in caption.value for caption in app.caption)
    upload(app, ("other.csv", csv(*ROWS)))
    assert not any(s.key == "detail" for s in app.selectbox)
    assert any("name" in d.value for d in app.dataframe), "the datasets that there are stay in sight"


def test_an_unreadable_file_is_one_clear_sentence_and_cannot_be_read(open_page: Open, tmp_path: Path) -> None:
    app = open_page("data", tmp_path / "w.duckdb")
    upload(app, ("empty.csv", b""))
    assert len(app.error) == 1
    assert "is empty" in app.error[0].value
    assert not [b for b in app.button if b.label.startswith("Read")]
    assert not [s for s in app.selectbox if s.label == "Into"], "there is nothing to be put anywhere"


def test_a_file_that_is_left_out_by_itself_is_named_with_its_reason_before_anything_is_read(
    open_page: Open, tmp_path: Path
) -> None:
    """Of three files two were read; what became of the third stood in a table that has no reasons."""
    app = open_page("data", tmp_path / "w.duckdb")
    upload(app, ("fin.csv", csv(*ROWS)), ("photo.png", bytes(range(256))))
    assert "photo.png was skipped: photo.png is a binary file" in text(app)
    assert not button(app, "Read 1 file").disabled


def test_a_table_without_its_columns_is_mended_with_what_the_page_has(
    open_page: Open, tmp_path: Path
) -> None:
    """It proposed the JSON of a mapping, of which the page has none, and to skip the only file."""
    app = open_page("data", tmp_path / "w.duckdb")
    upload(app, ("notes.csv", b"a note about nothing\nit has two lines\n"))
    (said,) = [e.value.replace("\\", "") for e in app.error]
    assert said.endswith(
        "choose one above, or type the name in the table of files where it is the same for all rows."
    )
    assert "To continue, fix the error in red." in text(app)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"system,system,rubric,label\na,b,r,1\n", "has the column 'system' 2 times"),
        (HEADER.encode() + b"\n\x80\x00a,q,r,j,1\n", "binary file"),
        (b"PK\x03\x04junk", "is not a complete ZIP archive"),
        (b"<html><body>404</body></html>", "has no column"),
        (b'{"a": [1, {"b": null}]}', ""),
    ],
)
def test_no_file_brings_the_page_down(open_page: Open, tmp_path: Path, content: bytes, words: str) -> None:
    app = open_page("data", tmp_path / "w.duckdb")
    upload(app, ("odd.csv", content))
    assert "Something unexpected" not in text(app)
    assert app.error
    assert words in text(app)
    assert not [b for b in app.button if b.label.startswith("Read") and not b.disabled]


def test_a_broken_file_holds_the_others_up_until_it_is_left_out(open_page: Open, tmp_path: Path) -> None:
    app = open_page("data", tmp_path / "w.duckdb")
    upload(app, ("fin.csv", csv(*ROWS)), ("broken.csv", b"\x00\x01\x02"))
    assert any("binary" in e.value for e in app.error)
    assert button(app, "Read").disabled


def test_columns_are_guessed_with_a_reason_and_can_be_changed(open_page: Open, tmp_path: Path) -> None:
    app = open_page("data", tmp_path / "w.duckdb")
    lines = ["system,query,rubric,judge,first,second", *(f"{row},{4 + int(row[-1])}" for row in ROWS)]
    upload(app, ("fin.csv", "\n".join(lines).encode()))
    chooser = next(s for s in app.selectbox if s.label == "label (needed)")
    assert chooser.value == "—", "what the contents alone suggest is a question, and no answer"
    assert "is it “first”? 2 different values that look like labels" in text(app)
    chooser.set_value("second").run()
    assert "your choice" in text(app)
    assert "36 labels. Nothing is stored yet" in text(app)
    assert "scale 1 to 5" in text(app)


def test_columns_that_may_be_criteria_or_judges_are_told_before_they_are_read(
    open_page: Open, tmp_path: Path
) -> None:
    app = open_page("data", tmp_path / "w.duckdb")
    rows = [f"m{m},i{q},{(m + q) % 2},{m * q % 2}" for m in range(4) for q in range(6)]
    upload(app, ("x.csv", "\n".join(["model,item,ann,bob", *rows]).encode()))
    assert "nothing says whether they are criteria or judges" in text(app)


def test_a_guess_can_be_refused(open_page: Open, tmp_path: Path) -> None:
    app = open_page("data", tmp_path / "w.duckdb")
    upload(app, ("fin.csv", csv(*ROWS)))
    assert "6 queries" in text(app)
    next(s for s in app.selectbox if s.label == "query").set_value("—").run()
    assert "queries" not in next(m.value for m in app.markdown if "Nothing is stored yet" in m.value)


def test_a_tools_own_layout_is_named_and_its_parts_can_be_chosen(open_page: Open, tmp_path: Path) -> None:
    app = open_page("data", tmp_path / "w.duckdb")
    upload(app, ("gpt__o3.jsonl", GRADED))
    card = next(e.label for e in app.expander if "gpt" in e.label).replace("\\", "")
    assert "HealthBench" in card
    assert "queries, rubrics and labels" in card
    assert app.text_input[0].value == "{system}__{judge}.jsonl"
    assert "Adds 1 system, 1 judge, 3 queries, 6 rubrics and 6 labels" in text(app)
    next(s for s in app.selectbox if s.label == "Read").set_value("rubrics").run()
    assert "Adds 3 queries and 6 rubrics. Nothing is stored yet." in text(app)


def test_the_pattern_of_the_names_is_shown_and_what_it_yields_follows_it(
    open_page: Open, tmp_path: Path
) -> None:
    app = open_page("data", tmp_path / "w.duckdb")
    upload(app, ("gpt__o3.jsonl", GRADED), ("claude__o3.jsonl", GRADED))
    names = next(d.value for d in app.dataframe if "file" in d.value and "system" in d.value)
    assert names[["system", "judge"]].to_numpy().tolist() == [["gpt", "o3"], ["claude", "o3"]]
    app.text_input[0].set_value("{judge}__{system}.jsonl").run()
    names = next(d.value for d in app.dataframe if "file" in d.value and "system" in d.value)
    assert names[["system", "judge"]].to_numpy().tolist() == [["o3", "gpt"], ["o3", "claude"]]
    app.text_input[0].set_value("{nobody}.jsonl").run()
    assert "The pattern '{nobody}.jsonl' must hold" in text(app)
    assert not app.exception


def test_severity_comes_from_points_only_where_the_user_says_so(open_page: Open, tmp_path: Path) -> None:
    path = tmp_path / "w.duckdb"
    app = open_page("data", path)
    upload(app, ("gpt__o3.jsonl", GRADED))
    of_files(app.toggle, "severity from points").set_value(True).run()
    button(app, "Read").click().run()
    assert not app.exception
    with Workspace(path) as workspace:
        severity = workspace.dataset("gpt__o3").rubrics["severity"]
    assert sorted(severity.dropna()) == ["critical"] * 3


def test_of_a_wide_table_the_columns_with_labels_can_be_chosen(open_page: Open, tmp_path: Path) -> None:
    app = open_page("data", tmp_path / "w.duckdb")
    rows = [
        "system,query,rubric,ann,ben,cas",
        *(f"{s},q{n},r{n},1,0,{n % 2}" for s in "ab" for n in range(4)),
    ]
    upload(app, ("wide.csv", "\n".join(rows).encode()))
    assert app.multiselect[0].label == "Columns with labels, one for each judge"
    assert app.multiselect[0].value == ["ann", "ben", "cas"]
    assert "Adds 2 systems, 3 judges, 4 queries, 4 rubrics and 24 labels" in text(app)
    app.multiselect[0].set_value(["ann", "ben"]).run()
    assert "Adds 2 systems, 2 judges, 4 queries, 4 rubrics and 16 labels" in text(app)


def test_a_label_is_found_by_a_rule_that_is_tried_on_the_first_rows(open_page: Open, tmp_path: Path) -> None:
    app = open_page("data", tmp_path / "w.duckdb")
    replies = ["Score: 4", "Score: 2", "no idea", "Score: 5"]
    lines = ["system,query,rubric,judge,reply", *(f"s{i},q,r,j,{reply}" for i, reply in enumerate(replies))]
    upload(app, ("replies.csv", "\n".join(lines).encode()))
    next(m for m in app.multiselect if m.label == "Columns found by a rule").set_value(["label"]).run()
    next(t for t in app.text_input if t.label == "Rule for label").set_value(r"reply =~ Score: (\d)").run()
    assert not app.exception
    assert "It understands 3 of the first 4 rows." in text(app)
    tried = next(d.value for d in app.dataframe if "gives" in d.value)
    assert tried.values.tolist()[0] == ["no idea", "not understood"]
    assert ["Score: 4", "4"] in tried.values.tolist()
    button(app, "Read 1 file").click().run()
    with Workspace(tmp_path / "w.duckdb") as workspace:
        assert workspace.dataset("replies").labels()["label"].tolist()[:2] == [4, 2]


def test_a_rule_about_the_names_of_columns_shows_what_each_of_them_gives(
    open_page: Open, tmp_path: Path
) -> None:
    app = open_page("data", tmp_path / "w.duckdb")
    heads = ("model", "Q1 tone", "Q1 depth", "Q2 tone", "Q2 depth", "Q1 tone reason", "Q2 tone reason")
    rows = [f"m{m},{m % 2},1,{m % 2},0,so {m},thus {m}" for m in range(4)]
    upload(app, ("x.csv", "\n".join([",".join(heads), *rows]).encode()))
    assert not app.exception
    assert "It understands 4 of 4 columns." in text(app)
    assert "It understands 2 of 4 columns." in text(app)
    queries, reasons = (d.value.values.tolist() for d in app.dataframe if "gives" in d.value)
    assert queries == [[c, c[:2]] for c in heads[1:5]]
    assert reasons == [
        ["Q1 depth", "not understood"],
        ["Q2 depth", "not understood"],
        *([c, f"{c} reason"] for c in ("Q1 tone", "Q2 tone")),
    ]
    query = next(t for t in app.text_input if t.label == "Rule for query")
    query.set_value("~ {rubric}×{query}").run()
    assert not app.exception
    tried = next(d.value.values.tolist() for d in app.dataframe if "gives" in d.value)
    assert tried == [[c, c[3:]] for c in heads[1:5]]


def test_a_rule_that_cannot_be_read_is_a_sentence(open_page: Open, tmp_path: Path) -> None:
    app = open_page("data", tmp_path / "w.duckdb")
    upload(app, ("fin.csv", csv(*ROWS)))
    next(m for m in app.multiselect if m.label == "Columns found by a rule").set_value(["label"]).run()
    next(t for t in app.text_input if t.label == "Rule for label").set_value("label =~ (").run()
    assert not app.exception
    assert any("is no regular expression" in e.value.replace("\\", "") for e in app.error)


def test_choices_do_not_outlast_the_files_they_were_made_for(open_page: Open, tmp_path: Path) -> None:
    app = open_page("data", tmp_path / "w.duckdb")
    upload(app, ("fin.csv", csv(*ROWS)))
    of_files(app.selectbox, "policy zero").set_value("unknown").run()
    upload(app, ("other.csv", csv(*ROWS)))  # in its place
    assert of_files(app.selectbox, "policy zero").value == "label"
    of_files(app.selectbox, "policy zero").set_value("unknown").run()
    button(app, "Read").click().run()
    upload(app, ("more.csv", csv(*ROWS)))
    assert of_files(app.selectbox, "policy zero").value == "label"


def test_the_same_can_be_done_on_the_command_line(open_page: Open, tmp_path: Path) -> None:
    app = open_page("data", tmp_path / "w.duckdb")
    upload(app, ("my fin.csv", csv(*ROWS)))
    of_files(app.selectbox, "policy zero").set_value("unknown").run()
    assert app.code[0].value == typed(
        *("ingest", "--workspace", tmp_path / "w.duckdb", "--dataset", "my fin", "--mapping", "plan.json"),
        *("--policy", "zero=unknown", "my fin.csv"),
    )


@pytest.fixture
def two(study: Path, tmp_path: Path) -> Path:
    """The small study with one more ingest."""
    path = Path(shutil.copy(study, tmp_path / "two.duckdb"))
    with Workspace(path) as workspace:
        workspace.ingest(csv("late,q0,r0,j1,1"), "small", name="late.csv")
    return path


def test_an_ingest_is_taken_back_after_a_second_question(open_page: Open, two: Path) -> None:
    app = open_page("data", two)
    before = app.header[0].value
    history = next(d.value for d in app.dataframe if "changes" in d.value)
    assert history["source"].tolist()[-1] == "late.csv"
    assert not {"policies", "undo"} & {*history}, "columns of blanks"
    button(app, "Yes, undo it").click().run()
    assert "late.csv was undone" in text(app)
    assert app.header[0].value != before
    history = next(d.value for d in app.dataframe if "changes" in d.value)
    assert "late.csv" not in history["source"].tolist()


def test_a_dataset_is_renamed_and_duplicated(open_page: Open, two: Path) -> None:
    app = open_page("data", two)
    app.text_input(key="rename small").set_value("tiny").run()
    button(app, "Rename").click().run()
    assert "small is now called tiny" in text(app)
    button(app, "Duplicate").click().run()
    assert app.selectbox(key="detail").value == "tiny copy"
    found = next(d.value for d in app.dataframe if "name" in d.value and "labels" in d.value)
    assert found["name"].tolist() == ["tiny", "tiny copy"]
    assert found["labels"].nunique() == 1


def test_a_name_that_is_taken_is_one_sentence(open_page: Open, two: Path) -> None:
    app = open_page("data", two)
    app.text_input(key="copy small").set_value("small").run()
    button(app, "Duplicate").click().run()
    assert [e.value.replace("\\", "") for e in app.error if "already" in e.value] == [
        "There is a dataset 'small' already: choose another name or delete it."
    ]


def test_a_dataset_goes_only_when_its_name_is_typed(open_page: Open, study: Path, tmp_path: Path) -> None:
    app = open_page("data", Path(shutil.copy(study, tmp_path / "w.duckdb")))
    assert button(app, "Delete").disabled
    app.text_input(key="delete small").set_value("smal").run()
    assert button(app, "Delete").disabled
    app.text_input(key="delete small").set_value("small").run()
    button(app, "Delete").click().run()
    assert "No dataset yet" in app.header[0].value


def test_names_from_files_are_never_markup(open_page: Open, tmp_path: Path) -> None:
    app = open_page("data", tmp_path / "w.duckdb")
    upload(app, (f"{HOSTILE}.csv", csv(*ROWS, f"{HOSTILE},q1,r1,**j**,:red[x]")))
    shown = [e.value for e in (*app.error, *app.markdown, *app.caption, *app.warning)]
    shown += [e.label for e in app.expander]
    assert not [value for value in shown if "<img" in value.replace("\\<", "") or ":red[x]" in value]


def test_the_demo_study_is_one_click_away(open_page: Open, tmp_path: Path) -> None:
    app = open_page("data", tmp_path / "w.duckdb")
    button(app, "Load the demo study").click().run()
    assert app.selectbox(key="detail").value == "demo"
    assert not [b for b in app.button if b.label == "Load the demo study"]
