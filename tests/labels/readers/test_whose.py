"""Files that speak of the same cells; what is not used; names of files matched without backtracking."""

from __future__ import annotations

import json
import re
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crubric_core.__main__ import main
from crubric_core.errors import IngestError
from crubric_core.labels.readers.across_files.whose import propose
from crubric_core.labels.readers.bundle import plan_ingest
from crubric_core.labels.readers.file_names import fields_of
from tests.labels.readers.test_layouts import cells, label

HEADER = "system,query,rubric,label"


def write(folder, **files):
    folder.mkdir(exist_ok=True)
    for name, labels in files.items():
        text = "\n".join(f"s{i % 3},q{i},r{i},{label}" for i, label in enumerate(labels))
        (folder / f"{name}.csv").write_text(f"{HEADER}\n{text}\n")
    return folder


def test_one_file_a_judge_is_one_judge_a_file(ws, tmp_path):
    ws.ingest(write(tmp_path / "d", judge_a=[1, 0, 1, 1], judge_b=[1, 1, 1, 0]), "d")
    assert ws.dataset("d").judges == ("a", "b")
    assert ws.dataset("d").counts()["labels"] == 8


def test_numbered_files_are_runs(ws, tmp_path):
    ws.ingest(write(tmp_path / "d", run1=[1, 0, 1, 1], run2=[1, 1, 1, 0], run3=[1, 1, 1, 0]), "d")
    assert ws.dataset("d").runs == ("1", "2", "3")
    assert ws.dataset("d").judges == ("judge",)


def test_folders_of_runs_lie_within_those_of_the_systems(ws, tmp_path):
    for system in ("north", "gpt-4o"):
        for run in (1, 2):
            folder = tmp_path / "d" / system / f"run_{run}"
            folder.mkdir(parents=True)
            (folder / "results.csv").write_text(f"query,rubric,label\nq,r,{run % 2}\nq,s,1\n")
    ws.ingest(tmp_path / "d", "d")
    assert (ws.dataset("d").systems, ws.dataset("d").runs) == (("gpt-4o", "north"), ("1", "2"))
    assert len(ws.dataset("d").labels()) == 8


def test_where_names_say_nothing_it_is_asked_for(ws, tmp_path):
    folder = write(tmp_path / "d", north=[1, 0, 1, 1], south=[1, 1, 1, 0])
    with pytest.raises(IngestError, match=r"north.csv and south.csv give different labels to the same cells"):
        ws.ingest(folder, "d")
    plan = plan_ingest(folder)
    assert [f.mapping["judge"] for f in plan.files] == ["=north", "=south"]
    assert all(g.confidence == 0.5 for f in plan.files for g in f.guesses if g.canonical == "judge")
    ws.ingest_plan(plan, "d", folder)
    assert ws.dataset("d").judges == ("north", "south")


def test_files_of_different_cells_are_no_judges(ws, tmp_path):
    folder = write(tmp_path / "d", north=[1, 0, 1, 1])
    (folder / "south.csv").write_text(f"{HEADER}\nz,q,r,1\n")
    ws.ingest(folder, "d")
    assert ws.dataset("d").judges == ("judge",)


def test_one_file_a_system_is_no_table_of_rubrics(ws, tmp_path):
    for name in ("gpt-4.1", "claude"):
        (tmp_path / f"{name}.csv").write_text("query,rubric,judge,label\nq,r,j,1\nq,s,j,0\n")
    ws.ingest(tmp_path, "d")
    assert ws.dataset("d").systems == ("claude", "gpt-4.1")
    assert ws.dataset("d").counts()["labels"] == 4


def test_a_file_without_a_system_and_a_telling_name_is_asked_about(ws):
    with pytest.raises(IngestError, match="no column for system"):
        ws.ingest(b"query,rubric,judge,label\nq,r,j,1\n", "d", name="x.csv")


@pytest.mark.parametrize(
    ("paths", "what", "names"),
    [
        (["x/labels_gpt-4o.csv", "x/labels_claude-3.csv"], "judge", ("gpt-4o", "claude-3")),
        (["run_1.csv", "run_2.csv"], "run", ("1", "2")),
        (["seed7.jsonl", "seed11.jsonl"], "run", ("7", "11")),
        (["myRun1.csv", "myRun2.csv"], "run", ("1", "2")),
        (["arbiter1.csv", "arbiter2.csv"], "judge", ("1", "2")),
        (["b.xlsx › Judge A", "b.xlsx › Judge B"], "judge", ("A", "B")),
        (["alpha.csv", "beta.csv"], "judge", ("alpha", "beta")),
    ],
)
def test_names_come_from_what_differs(paths, what, names):
    found = propose(paths)
    assert (found.what, found.names) == (what, names)


@pytest.mark.parametrize("names", [("writer_1", "writer_2"), ("crun1", "crun2")])
def test_a_word_within_another_says_nothing_of_runs_or_judges(names):
    assert propose([f"{name}.csv" for name in names]).confidence == 0.5


@pytest.mark.parametrize(
    ("folders", "files", "pattern", "judges"),
    [
        (("alpha", "beta"), ("mild", "strict"), "{system}/{judge}.csv", ("mild", "strict")),
        (("north", "south"), ("results",), "{judge}/*.csv", ("north", "south")),
    ],
)
def test_files_of_the_same_names_in_folders_are_asked_about_with_a_pattern_that_reads_them(
    ws, tmp_path, folders, files, pattern, judges
):
    """A folder that is the system already is not the judge, too."""
    own = len(files) > 1
    for number, (folder, name) in enumerate(product(folders, files)):
        rows = [f"{'' if own else 's,'}q{i},r,{(i + number) % 3 % 2}" for i in range(9)]
        (tmp_path / folder).mkdir(exist_ok=True)
        table = "\n".join([f"{'' if own else 'system,'}query,rubric,label", *rows])
        (tmp_path / folder / f"{name}.csv").write_text(f"{table}\n")
    with pytest.raises(IngestError) as refused:
        ws.ingest(tmp_path, "d")
    assert f"a judge (--pattern '{pattern}')" in str(refused.value)
    assert {f.mapping["judge"].removeprefix("=") for f in plan_ingest(tmp_path).files} == set(judges)
    ws.ingest_plan(plan_ingest(tmp_path, pattern=pattern), "d", tmp_path)
    assert ws.dataset("d").judges == judges
    assert ws.dataset("d").systems == (folders if own else ("s",))


def test_folders_of_files_named_after_models_are_asked_about_with_a_pattern_that_keeps_these(ws, tmp_path):
    """The pattern dropped the systems, and was refused next."""
    for number, (folder, name) in enumerate(product(("ann", "bob"), ("gpt-4o", "claude-3"))):
        rows = [f"q{i},r,{(i + number) % 3 % 2}" for i in range(9)]
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / f"{name}.csv").write_text("\n".join(["query,rubric,label", *rows, ""]))
    with pytest.raises(IngestError, match=re.escape("--pattern '{judge}/{system}.csv'")):
        ws.ingest(tmp_path, "d")
    ws.ingest_plan(plan_ingest(tmp_path, pattern="{judge}/{system}.csv"), "d", tmp_path)
    assert (ws.dataset("d").systems, ws.dataset("d").judges) == (("claude-3", "gpt-4o"), ("ann", "bob"))


def test_columns_that_are_not_used_are_told_and_those_like_labels_warned_of(ws):
    content = b"system,query,rubric,judge,label,second_score,notes\na,q,r,j,1,0,fine\nb,q,r,j,0,1,bad\n"
    report = ws.ingest(content, "d", name="x.csv")
    assert "Not used of x.csv: second_score, notes." in report.notes
    (found,) = [f for f in report.checks if f.code == "unused_labels"]
    assert found.examples["column"].tolist() == ["second_score"]


def test_fields_of_a_native_record_that_nobody_reads_are_told(ws):
    record = (
        b'{"prompt_id": "p", "model": "m", "judge": "j", "criteria_met": [true], "second_met": [false]}\n'
    )
    report = ws.ingest(record, "d")
    (found,) = [f for f in report.checks if f.code == "unused_labels"]
    assert found.examples["column"].tolist() == ["second_met"]


def test_an_ingest_that_loses_most_of_its_rows_says_so_first_and_fails(tmp_path, capsys):
    path = tmp_path / "x.csv"
    path.write_text(f"{HEADER}\na,q,r,1\nb,q,r,1\n" + "".join(f"a,q,r{i},blue\n" for i in range(9)))
    with pytest.raises(SystemExit) as stopped:
        main(["ingest", "--workspace", str(tmp_path / "w.duckdb"), "--dataset", "d", str(path)])
    assert stopped.value.code == 1
    assert capsys.readouterr().err.startswith("Most rows of x.csv (labels) were rejected: 9 of 11.")


def slow_fields(pattern, path):
    """The same by a regular expression, which may take for ever."""
    expression = "".join(
        f"(?P<{p[1:-1]}>[^/]+?)" if p.startswith("{") else "[^/]*?" if p == "*" else re.escape(p)
        for p in re.split(r"(\{\w+\}|\*)", pattern)
    )
    found = re.search(f"(?:^|/){expression}$", path)
    return {k: v.strip() for k, v in found.groupdict().items() if v.strip()} if found else {}


PIECES = st.lists(st.sampled_from(["{system}", "*", "_", "/", "a", "b"]), min_size=1, max_size=7)


@given(pieces=PIECES, path=st.text("ab_/", max_size=14))
@settings(max_examples=150, deadline=None)
def test_patterns_are_matched_as_regular_expressions_match_them(pieces, path):
    if pieces.count("{system}") != 1:
        pieces = [*(p for p in pieces if p != "{system}"), "{system}"]
    pattern = "".join(pieces)
    if not pattern.endswith(".*"):
        assert fields_of(pattern, path) == slow_fields(pattern, path)


def test_a_pattern_of_many_stars_comes_to_an_end():
    """A regular expression would backtrack for longer than the universe is old."""
    assert fields_of("*a" * 300 + "{system}b", "a" * 1999 + "c") == {}
    assert fields_of("{system}" + "*" * 300 + "z", "x" * 2000) == {}


def answers(folder, system, of_query, *, field):
    """A file a query and system, its name the query's: three criteria each."""
    (folder / system).mkdir(parents=True, exist_ok=True)
    for query in of_query:
        criteria = [{"name": f"c{k}", "passed": label(system, query, k)} for k in range(3)]
        record = {"criteria": criteria, **({"task": f"task {query}"} if field else {})}
        (folder / system / f"{query}.json").write_text(json.dumps(record))


@pytest.mark.parametrize("field", [True, False])
def test_one_file_a_query_and_system_tells_the_query_by_a_field_or_by_its_name(ws, tmp_path, field):
    for system in ("gpt-4o", "claude-3"):
        answers(tmp_path / "d", system, "xyz", field=field)
    ws.ingest(tmp_path / "d", "d")
    named = {q: f"task {q}" if field else q for q in "xyz"}
    assert {(s, q, r.rpartition("#")[2]): known for (s, q, r, _), known in cells(ws).items()} == {
        (s, named[q], f"c{k}"): label(s, q, k)
        for s in ("gpt-4o", "claude-3")
        for q in "xyz"
        for k in range(3)
    }


def test_files_of_other_names_in_each_folder_are_asked_about(ws, tmp_path):
    answers(tmp_path / "d", "gpt-4o", "xyz", field=False)
    answers(tmp_path / "d", "claude-3", "xyw", field=False)
    with pytest.raises(IngestError, match=r"a query \(--pattern '\{system\}/\{query\}.json'\)"):
        ws.ingest(tmp_path / "d", "d")
    ws.ingest_plan(plan_ingest(tmp_path / "d", pattern="{system}/{query}.json"), "d", tmp_path / "d")
    assert ws.dataset("d").counts()["labels"] == 18


def test_folders_named_after_judges_hold_a_file_a_system(ws, tmp_path):
    for judge in ("judge_a", "judge_b"):
        (tmp_path / judge).mkdir()
        for system in ("north", "south"):
            rows = "".join(f"q{k},c,{label(judge, system, k)}\n" for k in range(5))
            (tmp_path / judge / f"{system}.csv").write_text(f"query_id,criterion,label\n{rows}")
    ws.ingest(tmp_path, "d")
    assert (ws.dataset("d").judges, ws.dataset("d").systems) == (("judge_a", "judge_b"), ("north", "south"))


def test_one_file_a_judgement_has_its_query_in_a_field(ws, tmp_path):
    """A file for each case, model and evaluator, as reviewers save them."""
    wanted = {}
    for system, query, judge in product(("m1", "m2"), ("case a", "case b"), ("ann", "bob")):
        scores = {c: 1 + label(system, query, judge, c) for c in ("clear", "cites")}
        record = {"case_name": query, "model": system, "evaluator_name": judge, "scores": scores}
        (tmp_path / f"{query}_{system}_{judge}.json").write_text(json.dumps(record))
        wanted |= {(system, query, f"{query}#{c}", judge): level for c, level in scores.items()}
    ws.ingest(tmp_path, "d")
    assert cells(ws) == wanted


def test_a_criterion_is_named_by_its_code_where_its_name_repeats(ws):
    stages = [
        {"results": [{"criterion_code": f"{s}{n}", "criterion_name": f"say {n}", "score": n} for n in (0, 1)]}
        for s in ("open", "close")
    ]
    calls = [{"model": m, "call_id": q, "stages": stages} for m in ("m1", "m2") for q in ("c1", "c2")]
    ws.ingest(json.dumps(calls).encode(), "d", name="x.json")
    assert {r.partition("#")[2] or r for _, _, r, _ in cells(ws)} == {"open0", "open1", "close0", "close1"}
