"""What the upload keeps between the runs of the page, and the words in which it tells what it found."""

from __future__ import annotations

import json
from dataclasses import dataclass
from io import BytesIO
from threading import Event
from typing import Any

import pandas as pd
import pytest
from streamlit.runtime.scriptrunner import StopException
from streamlit.testing.v1 import AppTest

from crubric_core.endpoints.watch import Watch
from crubric_core.errors import IngestError
from crubric_core.figures.coverage import coverage
from crubric_core.jobs.threads import ThreadJob
from crubric_core.labels.ingest.strays import why
from crubric_core.labels.readers.bundle import plan_ingest
from crubric_core.labels.readers.plan import FilePlan, Guess, Plan
from crubric_core.labels.readers.policies import Policies
from crubric_core.labels.store.workspace import Workspace
from crubric_core.ui.data import files as upload_files
from crubric_core.ui.data import names as upload_names
from crubric_core.ui.data import report as upload_report
from crubric_core.ui.data import upload
from crubric_core.ui.data.upload import Batch
from crubric_core.ui.data.wording import on_page

CSV = b"system,query,rubric,judge,label\na,q,r,j,1\nb,q,r,j,0\n"


@dataclass
class Dropped(BytesIO):
    """An uploaded file as Streamlit hands it over."""

    name: str
    content: bytes

    def __post_init__(self) -> None:
        super().__init__(self.content)
        self.size, self.file_id = len(self.content), self.name

    __hash__ = BytesIO.__hash__


def batch(**files: bytes) -> Batch:
    return Batch([Dropped(f"{name}.csv", content) for name, content in files.items()])  # type: ignore[arg-type]


def test_the_copies_of_the_files_are_made_once_and_go_with_the_batch() -> None:
    dropped = batch(a=CSV)
    folder = dropped.kept.pieces[0].path.parent
    plan = plan_ingest(dropped.kept)
    with Workspace() as workspace:
        workspace.ingest_plan(plan, "x", dropped.kept, preview=True)
        assert workspace.ingest_plan(plan, "x", dropped.kept).accepted == 2
    assert folder.exists()
    del dropped
    assert not folder.exists()


def test_a_reading_whose_page_was_left_ends_and_tells_the_other_pages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dropped, told = batch(a=CSV), []
    monkeypatch.setattr(
        upload.loaders, "datasets_changed", lambda: told.append(workspace.datasets()["name"].tolist())
    )

    def leave(*_: object) -> None:
        raise StopException

    monkeypatch.setattr(upload, "_follow", leave)
    with Workspace() as workspace:
        monkeypatch.setattr(upload.loaders, "workspace", lambda: workspace)
        with pytest.raises(StopException):
            upload._read(dropped, plan_ingest(dropped.kept), "x", Policies())
        assert dropped.reading is not None
        assert dropped.reading.wait(30)
    assert told == [["x"]]
    assert dropped.reading.run is not None
    assert dropped.reading.run.accepted == 2


def test_files_that_are_discarded_while_they_are_read_are_forgotten_once_the_reading_has_ended() -> None:
    def page() -> None:
        from crubric_core.ui.data import upload

        upload.take_report()
        upload.drop_zone()

    dropped, began = batch(a=CSV), Event()

    def read(watch: Watch) -> Any:
        began.set()
        assert watch.cancel is not None
        assert watch.cancel.wait(30)
        raise IngestError("The reading was cancelled; nothing is stored.")

    app = AppTest.from_function(page)
    app.session_state["batch"] = (["a"], dropped)
    (discard,) = app.run().button
    dropped.reading = job = ThreadJob()
    job.start(read, "reading", "It failed.")
    assert began.wait(30)
    discard.click().run()
    assert job.wait(0)
    assert [said.value.replace("\\", "") for said in app.info] == [
        "The reading was cancelled; nothing is stored."
    ]
    assert "batch" not in app.session_state
    assert not app.button


def test_a_reading_that_is_cancelled_once_all_is_stored_is_not_called_cancelled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dropped = batch(a=CSV)
    monkeypatch.setattr(upload.loaders, "datasets_changed", lambda: None)
    monkeypatch.setattr(upload, "_follow", lambda _: None)

    class CancelledAtItsEnd(Workspace):
        def ingest_plan(self, plan: Plan, dataset: str, source: Any, policies: Any, progress: Any) -> Any:
            def told(share: float, words: str) -> None:
                if share == 1:
                    dropped.discard()
                progress(share, words)

            return super().ingest_plan(plan, dataset, source, policies, told)

    with CancelledAtItsEnd() as workspace:
        monkeypatch.setattr(upload.loaders, "workspace", lambda: workspace)
        upload._read(dropped, plan_ingest(dropped.kept), "x", Policies())
        assert dropped.reading is not None
        assert dropped.reading.wait(30)
        assert workspace.datasets()["name"].tolist() == ["x"]
    assert (dropped.reading.run is not None, dropped.reading.failure) == (True, "")


def test_what_was_found_is_kept_until_its_key_changes_and_so_is_an_error() -> None:
    dropped, calls = batch(a=CSV), []

    def fail() -> None:
        calls.append("fail")
        raise IngestError("no")

    def make(value: int) -> int:
        calls.append(value)
        return value

    assert [dropped.once("slot", 1, lambda: make(1)), dropped.once("slot", 1, lambda: make(2))] == [1, 1]
    assert dropped.once("slot", 2, lambda: make(3)) == 3
    for _ in range(2):
        with pytest.raises(IngestError, match="no"):
            dropped.once("other", 1, fail)
    assert calls == [1, 3, "fail"]


def test_files_of_one_layout_share_a_card_and_those_with_a_problem_come_first() -> None:
    plan = plan_ingest(batch(a=CSV, broken=b"\0\1", b=CSV, other=CSV.replace(b"label", b"score")).kept)
    names = [[file.name for file in group] for group in upload_files._groups(plan)]
    assert names == [["broken.csv"], ["a.csv", "b.csv"], ["other.csv"]]


@pytest.mark.parametrize(
    ("group", "words"),
    [
        ([FilePlan("a", "unknown", problem="no")], "cannot be read"),
        ([FilePlan("a", "csv", "a table", "gold")], "a table (CSV): human gold labels"),
        (
            [FilePlan("a", "hellobench", "HelloBench judgements", tables=("queries", "rubrics", "labels"))],
            "HelloBench judgements: queries, rubrics and labels",
        ),
        ([FilePlan("a", "langfuse", "Langfuse scores")], "Langfuse scores: nothing in its first records"),
    ],
)
def test_a_card_says_what_its_files_were_taken_for(group: list[FilePlan], words: str) -> None:
    assert upload_files._recognised(group) == words


def test_first_rows_can_be_shown_whatever_they_hold() -> None:
    rows = pd.DataFrame([["\udc80x", 1, None, "y" * 10**6]], columns=["a", "a", "c", "b"], dtype=object)
    shown = upload_files._showable(rows)
    assert list(shown.columns) == ["a", "a (2)", "c", "b"]
    assert shown.iloc[0].tolist()[:3] == ["?x", "1", None]
    assert len(shown.iloc[0, 3]) == 300
    assert upload_files._showable(pd.DataFrame(columns=["a"])).empty


def test_a_card_is_open_where_somebody_should_look() -> None:
    sure = FilePlan("a", "csv", mapping={"label": "x"}, guesses=(Guess("label", "x", 0.9, "the name"),))
    unsure = FilePlan("a", "csv", mapping={"label": "x"}, guesses=(Guess("label", "x", 0.5, "the cells"),))
    wide = FilePlan("a", "csv", "a wide table, one column for each judge")
    told = [sure, unsure, wide, FilePlan("a", "csv", problem="no column for label")]
    assert [upload_files._needs_review(file) for file in told] == [False, True, True, True]


def test_the_remedy_for_a_missing_system_is_the_one_that_the_page_has() -> None:
    file = FilePlan(
        "run.jsonl", "hellobench", problem="run.jsonl does not say which system it is about: give …"
    )
    told = upload_files.problems(Plan((file, FilePlan("b", "csv", problem="bad", skip=True))))
    assert told == [
        "run.jsonl does not say which system it is about: type it into the table, or change the pattern."
    ]


@pytest.mark.parametrize(
    ("row", "mapping"),
    [
        ({"read": True, "system": "gpt", "judge": ""}, {"system": "=gpt"}),
        ({"read": True, "system": "claude", "judge": "o3"}, {"system": "=claude", "judge": "=o3"}),
        ({"read": True, "system": None, "judge": " "}, {}),
    ],
)
def test_names_typed_into_the_table_hold_for_the_whole_file(
    row: dict[str, Any], mapping: dict[str, str]
) -> None:
    file = FilePlan("a", "hellobench", tables=("labels",), mapping={"system": "=gpt"})
    told = upload_names._given_name(file, row, ["system", "judge"])
    assert told.mapping == mapping
    assert (told == file) == (mapping == file.mapping)


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (
            why(-9, 2, 40, 1, 5, "clarity"),
            "-9 looks like a code for a missing label, where the other labels of clarity go from 1 to 5: “Words in "
            "place of labels” reads it as unknown, “Scales” keeps it",
        ),
        (
            "Say which label is the best, with --polarity '*=-1' if it is the lowest, or --polarity '*=1' if it is "
            "the highest (in place of * you can name a criterion).",
            "Say which label is the best, under “The best label is”.",
        ),
        ("give --polarity 'a (b)=-1', or polarity in a table", "give polarity -1 in a table"),
        (
            """one judge (--mapping '{"judge": "=unnamed raters"}' --on-conflict runs).""",
            "one judge (type “unnamed raters” as the judge, and choose “number them: repeated draws, or raters "
            "without names”).",
        ),
        (
            "(for repeated draws, name the run, or use on_conflict = runs; for corrections, use on_conflict = last).",
            "(for repeated draws, name the run, or choose “number them: repeated draws, or raters without "
            "names”; for corrections, choose “keep the later one”).",
        ),
        (
            "If all share one scale, give it (--scale '*=1..5').",
            "If all share one scale, give it (under “Scales”).",
        ),
        ("Says “--” and (a-b) -- as it is.", "Says “--” and (a-b) -- as it is."),
    ],
)
def test_sentences_name_controls_of_the_page_in_place_of_options(said: str, shown: str) -> None:
    assert on_page(said) == shown


def test_a_report_names_the_choices_as_the_page_asks_them() -> None:
    with Workspace() as workspace:
        report = workspace.preview(CSV + b"a,q,r,j,0\n", "x", on_conflict="last", name="a.csv")
    assert upload_report._rows(report) == (
        "a.csv: 3 rows read as labels, 1 replaced, scale 0 to 1 (as seen in the labels); "
        "“Rows that contradict each other, or what is stored” applied to 1."
    )


def test_the_heat_table_shows_each_judges_share_of_each_system() -> None:
    with Workspace() as workspace:
        workspace.ingest(CSV + b"a,q,r,<k>,1\na,q,s,<k>,1\n", "x")
        fig = coverage(workspace.dataset("x").coverage())
    (heat,) = fig.data
    assert list(fig.layout.yaxis.ticktext) == ["a", "b"]
    assert list(fig.layout.xaxis.ticktext) == ["&lt;k&gt;", "j"]
    assert pd.DataFrame(heat.z).to_numpy().tolist() == [[1.0, 0.5], [0.0, 1.0]]


def test_a_heat_table_without_numbers_has_a_scale() -> None:
    def heat(judges: int):
        rows = [("a", f"j{k}", 1, 1.0) for k in range(judges)]
        return coverage(pd.DataFrame(rows, columns=["system", "judge", "labels", "share"])).data[0]

    assert heat(8).text is not None
    assert not heat(8).showscale
    assert heat(9).text is None
    assert heat(9).showscale
    assert heat(9).colorbar.title.text


def test_the_colours_of_the_heat_table_begin_below_its_smallest_share() -> None:
    """They began at 0%: of 93% and 100% nobody saw which was which."""

    def palest(*shares: float) -> float:
        rows = [("a", f"j{k}", 1, share) for k, share in enumerate(shares)]
        return coverage(pd.DataFrame(rows, columns=["system", "judge", "labels", "share"])).data[0].zmin

    assert palest(0.93, 1.0) == 0.9
    assert palest(0.57, 1.0) == 0.5
    assert palest(0.0, 1.0) == 0
    assert palest(1.0, 1.0) == 0.9, "a table without a difference is dark"


def test_equal_numbers_of_labels_are_not_called_the_same_rubrics() -> None:
    def page() -> None:
        import pandas as pd

        from crubric_core.ui.data.report import covered

        shares = {"labels": [20, 20], "share": [1.0, 1.0]}
        covered(pd.DataFrame({"system": ["a", "a"], "judge": ["j", "k"], **shares}), "x")

    (said,) = AppTest.from_function(page).run().caption
    assert (
        said.value
        == "Coverage: 1 system × 2 judges; for each system, every judge has as many labels as the others."
    )


@pytest.mark.parametrize(
    ("share", "said"),
    [(1.0, "no label is blank."), (0.985, "for each system, at most 2% of the labels are blank.")],
)
def test_one_judge_is_compared_with_no_others(share: float, said: str) -> None:
    def page(share: float) -> None:
        import pandas as pd

        from crubric_core.ui.data.report import covered

        shares = {"labels": [20, 20], "share": [1.0, share]}
        covered(pd.DataFrame({"system": ["a", "b"], "judge": ["j", "j"], **shares}), "x")

    (shown,) = AppTest.from_function(page, args=(share,)).run().caption
    assert shown.value == f"Coverage: 2 systems × 1 judge; {said}"


def test_of_many_systems_it_is_said_how_many_are_shown_and_nothing_of_the_judges() -> None:
    def page() -> None:
        import pandas as pd

        from crubric_core.ui.data.report import covered

        rows = [(f"s{i}", judge, 10 + i % 2, 0.5 + i / 90) for i in range(45) for judge in "jk"]
        covered(pd.DataFrame(rows, columns=["system", "judge", "labels", "share"]), "x")

    said = [caption.value for caption in AppTest.from_function(page).run().caption]
    assert said == ["40 of 45 systems are shown: those with the smallest shares."]


def test_descriptions_in_the_rows_are_listed_and_can_be_left_out() -> None:
    def page() -> None:
        import streamlit as st

        from crubric_core.labels.readers.bundle import plan_ingest
        from crubric_core.ui.data import files

        table = b"system,query_id,query,rubric,judge,label,domain\na,q,What?,r,j,1,law\nb,q,What?,r,j,0,law\n"
        plan = plan_ingest(("x.csv", table), mapping={"query": "query_id"})
        st.write(files._ask_described("x", plan.files[0], "labels"))

    app = AppTest.from_function(page).run()
    (asked,) = app.multiselect
    assert asked.value == ["text of the queries: query", "domain of the queries: domain"]
    assert json.loads(app.json[0].value) == {"queries": {"text": "query", "domain": "domain"}}
    asked.unselect("text of the queries: query").run()
    assert json.loads(app.json[0].value) == {"queries": {"domain": "domain"}}
