"""Which part of the names of files and folders is the system, the judge or the run, and which is none."""

from __future__ import annotations

import json
from itertools import product

import pytest

from crubric_core.errors import IngestError
from crubric_core.labels.readers.bundle import plan_ingest
from crubric_core.labels.readers.file_names import guess_pattern
from tests.labels.readers.test_layouts import MODELS, cells, label, table

SYSTEMS, QUERIES = ("north", "south"), ("q1", "q2", "q3")


def folder_of(tmp_path, name, record):
    """A file of each system and query; name and record as functions of both."""
    for system, query in product(SYSTEMS, QUERIES):
        path = tmp_path / "study" / f"{name(system, query)}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(record(system, query) | {"scores": {"clear": len(query), "short": 3}}))
    return tmp_path / "study"


def read(ws, folder):
    ws.ingest(folder, "d")
    found = ws.dataset("d")
    return found.systems, tuple(found.queries["query"]), found.judges


@pytest.mark.parametrize(
    "name",
    ["{0}__{1}", "{1}__{0}", "{0}_{1}", "{1}-{0}", "{0}/{1}", "{1}/{0}"],
)
def test_the_query_within_the_records_leaves_the_system_of_the_name(ws, tmp_path, name):
    folder = folder_of(tmp_path, name.format, lambda _, query: {"query": query})
    assert read(ws, folder) == (SYSTEMS, QUERIES, ("judge",))


@pytest.mark.parametrize("name", ["{0}__{1}", "{1}__{0}"])
def test_records_that_say_both_need_no_name(ws, tmp_path, name):
    folder = folder_of(tmp_path, name.format, lambda system, query: {"model": system, "query": query})
    assert read(ws, folder) == (SYSTEMS, QUERIES, ("judge",))


def test_a_plan_that_is_looked_at_again_finds_no_other_judges(tmp_path):
    folder = folder_of(tmp_path, "{0}__{1}".format, lambda system, query: {"model": system, "query": query})
    once = plan_ingest(folder)
    assert plan_ingest(folder, like=once).files == once.files


def test_more_parts_than_a_panel_has_judges_are_none_unless_they_name_models(tmp_path):
    for kind, parts in (
        ("item", [f"item {i}" for i in range(21)]),
        ("model", [f"gpt-{i}" for i in range(21)]),
    ):
        for part in parts:
            path = tmp_path / kind / f"north__{part}.json"
            path.parent.mkdir(exist_ok=True)
            path.write_text(json.dumps({"query": f"What of {part}?", "scores": {"clear": 1, "short": 2}}))
    assert plan_ingest(tmp_path / "item").pattern == "{system}__*.json"
    assert plan_ingest(tmp_path / "model").pattern == "{system}__{judge}.json"


def test_names_that_no_separator_splits_in_one_way_are_asked_about(tmp_path):
    folder = folder_of(tmp_path, "gpt_{0}_{1}_a".format, lambda _, query: {"query": f"{query}_a"})
    plan = plan_ingest(folder)
    assert plan.pattern is None
    assert "no column for system" in str(plan.files[0].problem)


def test_two_parts_that_the_records_do_not_hold_are_system_and_judge(ws, tmp_path):
    for system, judge in product(SYSTEMS, ("x", "y")):
        (tmp_path / f"{system}__{judge}.csv").write_text("query,rubric,label\nq1,r,1\nq2,r,0\n")
    assert read(ws, tmp_path) == (SYSTEMS, ("q1", "q2"), ("x", "y"))


TABLE = "query,rubric,label\nq1,r,1\nq2,r,0\n"


def write(folder, *names):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(TABLE)
    return folder


@pytest.mark.parametrize(
    ("system", "judge"), [("system", "judge"), ("model", "grader"), ("model_name", "judge_id")]
)
def test_folders_named_column_and_value_name_system_and_judge(ws, tmp_path, system, judge):
    """All files were those of one system, and contradicted each other."""
    folder = write(
        tmp_path, *(f"v=2/{system}={s}/{judge}={j}/part-0.csv" for s, j in product(SYSTEMS, ("x", "y")))
    )
    assert read(ws, folder) == (SYSTEMS, ("q1", "q2"), ("x", "y"))


@pytest.mark.parametrize("folder", ["judge={}", "judged_by_{}", "graded-by-{}", "v=2/grader={}"])
def test_files_in_folders_of_judges_are_systems(ws, tmp_path, folder):
    """Folders named judge=x were refused, and judged_by_x was the name of the judge."""
    write(tmp_path, *(f"{folder.format(j)}/{s}.csv" for s, j in product(SYSTEMS, ("x", "y"))))
    assert read(ws, tmp_path) == (SYSTEMS, ("q1", "q2"), ("x", "y"))


@pytest.mark.parametrize("name", ["data_{}", "part-0000{}-5f3c", "{}", "batch {}"])
def test_parts_of_a_table_in_folders_of_judges_are_no_systems(tmp_path, name):
    paths = [f"judge={j}/{name.format(n)}.parquet" for n, j in product((0, 1), "xy")]
    assert guess_pattern(paths).pattern == "judge={judge}/*.parquet"


def test_files_of_criteria_in_folders_of_judges_are_no_systems_where_a_column_names_these(ws, tmp_path):
    for criterion, judge in product(("clarity", "tone"), ("x", "y")):
        path = tmp_path / f"judge={judge}" / f"{criterion}.csv"
        path.parent.mkdir(exist_ok=True)
        rows = [f"{s},{q},{criterion},{label(s, q, judge)}" for s, q in product(SYSTEMS, QUERIES)]
        path.write_text("\n".join(["system,query,rubric,label", *rows]))
    assert read(ws, tmp_path) == (SYSTEMS, QUERIES, ("x", "y"))


@pytest.mark.parametrize("run", ["_run1", "-seed-7", "_trial_3"])
def test_a_number_of_a_run_at_the_end_is_no_part_of_the_system(ws, tmp_path, run):
    """Each run was a system of its own."""
    again = run[:-1] + "9"
    folder = write(tmp_path, *(f"{s}{end}.csv" for s, end in product(("gpt_4", "north"), (run, again))))
    assert read(ws, folder)[0] == ("gpt_4", "north")
    assert ws.dataset("d").runs == (run[-1], "9")


def test_who_judged_is_no_part_of_the_system(ws, tmp_path):
    folder = write(tmp_path, *(f"eval_{s}_judged_by_{j}.csv" for s, j in product(SYSTEMS, ("x", "y"))))
    assert read(ws, folder) == (SYSTEMS, ("q1", "q2"), ("x", "y"))


def test_settings_beside_results_are_left_out_and_listed(ws, tmp_path):
    """The whole folder was refused."""
    write(tmp_path, "north/results.csv", "south/results.csv")
    for system in SYSTEMS:
        (tmp_path / system / "config.json").write_text(json.dumps({"model": system, "temperature": 0.2}))
    report = ws.ingest(tmp_path, "d")
    assert ws.dataset("d").systems == SYSTEMS
    assert any("north/config.json was skipped" in note for note in report.notes)


def rubric_files(folder, *columns):
    """One file a criterion, of the same systems and queries."""
    for shift, name in enumerate(("accuracy", "clarity")):
        rows = [
            ",".join([s, q, *(["x"] if "judge" in columns else []), str((n + shift) % 3)])
            for n, (s, q) in enumerate(product(SYSTEMS, QUERIES))
        ]
        (folder / f"{name}.csv").write_text("\n".join([",".join(columns), *rows]) + "\n")
    return folder


def test_files_of_one_judge_that_contradict_each_other_are_rubrics(ws, tmp_path):
    """They were refused as repeated draws."""
    ws.ingest(rubric_files(tmp_path, "system", "query", "judge", "score"), "d")
    assert set(ws.dataset("d").rubrics["rubric"]) == {
        f"{q}#{c}" for q in QUERIES for c in ("accuracy", "clarity")
    }


def test_without_a_judge_it_is_asked_whether_they_are_rubrics_and_the_pattern_reads_them(ws, tmp_path):
    folder = rubric_files(tmp_path, "system", "query", "score")
    with pytest.raises(IngestError, match=r"a rubric \(--pattern '\{rubric\}.csv'\)"):
        ws.ingest(folder, "d")
    ws.ingest_plan(plan_ingest(folder, pattern="{rubric}.csv"), "d", folder)
    assert set(ws.dataset("d").rubrics["rubric"]) == {
        f"{q}#{c}" for q in QUERIES for c in ("accuracy", "clarity")
    }


@pytest.mark.parametrize(
    ("paths", "pattern"),
    [
        ("{s}/{t}/results.csv", "{system}/{query}/*.csv"),
        ("{t}/{s}/results.csv", "{query}/{system}/*.csv"),
        ("out/{t}/{s}.csv", "{query}/{system}.csv"),
        ("{s}/{t}/judge_{j}.csv", "{system}/{query}/{judge}.csv"),
        ("{s}/judge_{j}/results.csv", "{system}/{judge}/*.csv"),
        ("judged by gpt/{s}/{t}/results.csv", "{system}/{query}/*.csv"),
        ("{s}/the judge/{t}.csv", "{system}/{judge}/*.csv"),
        ("judge_{j}/{s}/run_{r}/results.csv", "{judge}/{system}/run_{run}/*.csv"),
    ],
)
def test_names_of_models_tell_which_folder_is_the_system(paths, pattern):
    """The folder next to the file was, whatever it was called."""
    named = product(("gpt-4o", "claude-3"), ("math", "code"), "xy", "12")
    guess = guess_pattern(sorted({paths.format(s=s, t=t, j=j, r=r) for s, t, j, r in named}))
    assert guess is not None
    assert guess.pattern == pattern


def test_two_levels_of_folders_that_name_no_models_are_asked_about(tmp_path):
    folder = write(tmp_path, *(f"{s}/{t}/results.csv" for s, t in product(SYSTEMS, ("math", "code"))))
    assert "no column for system" in str(plan_ingest(folder).files[0].problem)


def test_a_folder_is_the_query_only_of_files_with_one(ws, tmp_path):
    for system, query, judge in product(("gpt-4o", "claude-3"), QUERIES, ("judge_x", "judge_y")):
        path = tmp_path / system / query / f"{judge}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        grades = [{"criterion": c, "met": c == query} for c in ("q1", "clear")]
        path.write_text(json.dumps({"grades": grades}))
    assert read(ws, tmp_path) == (("claude-3", "gpt-4o"), QUERIES, ("judge_x", "judge_y"))


@pytest.mark.parametrize(
    ("columns", "kind"),
    [
        ("question_id,score", "labels"),
        ("question_id,judge,score", "labels"),
        ("question_id,domain,judge,score", "labels"),
        ("question_id,domain,score", "queries"),
    ],
)
def test_labels_of_queries_alone_are_no_table_of_queries(columns, kind):
    """They were read as queries, and their labels were not used."""
    cells = {"judge": "x", "domain": "law"}
    rows = [
        ",".join({**cells, "question_id": q, "score": str(n % 3)}[c] for c in columns.split(","))
        for n, q in enumerate(QUERIES)
    ]
    assert plan_ingest([("x.csv", "\n".join([columns, *rows]).encode())]).files[0].kind == kind


def test_a_query_among_others_of_a_file_does_not_explain_its_name(ws, tmp_path):
    for system in SYSTEMS:
        (tmp_path / f"{system}.csv").write_text("query,rubric,label\nnorth,r,1\nsouth,r,0\n")
    assert read(ws, tmp_path) == (SYSTEMS, SYSTEMS, ("judge",))


def test_a_folder_is_no_query_of_files_with_several(ws, tmp_path):
    for system, task in product(("gpt-4o", "claude-3"), ("math", "code")):
        path = tmp_path / system / task / "results.csv"
        path.parent.mkdir(parents=True)
        path.write_text("id,criterion,label\n" + "".join(f"{task} {n},{c},1\n" for n in "123" for c in "xy"))
    assert read(ws, tmp_path)[1] == ("code 1", "code 2", "code 3", "math 1", "math 2", "math 3")


def test_results_of_a_folder_a_system_have_their_queries_within(ws, tmp_path):
    for system in SYSTEMS:
        path = tmp_path / "2024-05-01T12-00" / system / "results.json"
        path.parent.mkdir(parents=True)
        path.write_text(
            json.dumps({"results": [{"id": q, "scores": {"clear": 1, "short": 3}} for q in QUERIES]})
        )
    assert read(ws, tmp_path) == (SYSTEMS, QUERIES, ("judge",))


def test_the_strict_and_the_loose_check_of_ifeval_are_judges_of_the_system_of_the_folder(ws, tmp_path):
    def lines(passed: bool) -> str:
        record = {
            "follow_instruction_list": [passed, True],
            "instruction_id_list": ["punctuation:no_comma", "x:y"],
        }
        return "".join(json.dumps({**record, "prompt": query, "response": "r"}) + "\n" for query in QUERIES)

    for system, check in product(SYSTEMS, ("strict", "loose")):
        path = tmp_path / system / f"eval_results_{check}.jsonl"
        path.parent.mkdir(exist_ok=True)
        path.write_text(lines(check == "loose"))
    assert read(ws, tmp_path) == (SYSTEMS, QUERIES, ("loose", "strict"))
    with pytest.raises(IngestError, match="does not say which system"):
        ws.ingest(lines(True).encode(), "alone", name="eval_results_strict.jsonl")


def test_runs_are_numbered_in_one_way_or_not_at_all():
    guess = guess_pattern(["north_run1.csv", "north-run2.csv"])
    assert guess is not None
    assert guess.pattern == "{system}.csv"


def test_settings_alone_are_refused_as_what_they_are(ws, tmp_path):
    for system in SYSTEMS:
        (tmp_path / system).mkdir()
        (tmp_path / system / "config.json").write_text(json.dumps({"model": system, "temperature": 0.2}))
    with pytest.raises(IngestError, match=r"config\.json has no column for"):
        ws.ingest(tmp_path, "d")


def test_files_named_after_runs_are_no_rubrics(tmp_path):
    for run in (1, 2):
        rows = "".join(f"{s},{q},x,{(n + run) % 3}\n" for n, (s, q) in enumerate(product(SYSTEMS, QUERIES)))
        (tmp_path / f"run{run}.csv").write_text(f"system,query,judge,score\n{rows}")
    assert {f.mapping["rubric"] for f in plan_ingest(tmp_path).files} == {"=score"}


def files_named(*stems):
    """A file each with labels of its own on the same queries."""
    return [
        (
            f"{stem}.csv",
            ("query,rubric,label\n" + "".join(f"q{q},r,{(q * q + k) % 3 % 2}\n" for q in range(6))).encode(),
        )
        for k, stem in enumerate(stems)
    ]


@pytest.mark.parametrize(
    ("name", "judges"),
    [("{s}_by_{j}", ("claude", "gemini")), ("{s}_{j}judge", ("claudejudge", "geminijudge"))],
)
def test_names_that_are_all_systems_times_all_judges_are_both(ws, name, judges):
    stems = [name.format(s=s, j=j) for s in ("gpt-4o", "llama") for j in ("claude", "gemini")]
    ws.ingest(files_named(*stems), "d")
    assert (ws.dataset("d").systems, ws.dataset("d").judges) == (("gpt-4o", "llama"), judges)


def test_of_two_names_of_models_it_is_asked_which_is_the_judge(ws):
    files = files_named(*(f"{s}_{j}" for s in ("gpt-4o", "llama") for j in ("claude", "gemini")))
    with pytest.raises(
        IngestError, match=r"holds two names, gpt-4o and llama beside claude and gemini"
    ) as told:
        ws.ingest(files, "d")
    pattern = "{judge}_{system}.csv"
    assert f"--pattern '{{system}}_{{judge}}.csv' or '{pattern}'" in str(told.value)
    ws.ingest_plan(plan_ingest(files, pattern=pattern), "d", files)
    assert (ws.dataset("d").systems, ws.dataset("d").judges) == (("claude", "gemini"), ("gpt-4o", "llama"))


@pytest.mark.parametrize("raters", [("R1", "R2"), ("crowd", "expert")])
def test_of_systems_beside_codes_of_raters_it_is_asked_whose_they_are(ws, raters):
    """``north_R1`` and ``north_R2`` were two systems."""
    files = files_named(*(f"{s}_{j}" for s in ("north", "south") for j in raters))
    with pytest.raises(IngestError, match="north and south beside") as told:
        ws.ingest(files, "d")
    pattern = "{system}_{judge}.csv"
    assert f"'{pattern}'" in str(told.value)
    assert "'{system}.csv' if both name one system" in str(told.value)
    ws.ingest_plan(plan_ingest(files, pattern=pattern), "d", files)
    assert (ws.dataset("d").systems, set(ws.dataset("d").judges)) == (("north", "south"), set(raters))


@pytest.mark.parametrize("name", ["{s}_{c}", "{c}-{s}"])
def test_of_systems_beside_criteria_it_is_asked_where_nothing_within_names_the_criterion(ws, name):
    """``north_relevance`` and ``north_coherence`` were two systems."""
    stems = {(s, c): name.format(s=s, c=c) for s in ("north", "south") for c in ("relevance", "coherence")}
    files = [
        (
            f"{stem}.csv",
            table(["question_id", "judge", "score"], [[f"q{n}", "j", label(s, c, n)] for n in range(4)]),
        )
        for (s, c), stem in stems.items()
    ]
    pattern = name.replace("{s}", "{system}").replace("{c}", "{rubric}") + ".csv"
    with pytest.raises(IngestError, match="which the criterion") as told:
        ws.ingest(files, "d")
    assert f"'{pattern}'" in str(told.value)
    ws.ingest_plan(plan_ingest(files), "d", files)  # as it is proposed
    assert cells(ws) == {(s, f"q{n}", f"q{n}#{c}", "j"): label(s, c, n) for s, c in stems for n in range(4)}


def test_of_names_that_no_pattern_parts_it_is_asked_to_rename_them(ws):
    files = files_named(*(f"{s}-{j}" for s in ("gpt-4o", "llama-3") for j in ("claude", "gemini")))
    with pytest.raises(IngestError, match=r"rename them as SYSTEM__JUDGE\.csv"):
        ws.ingest(files, "d")


@pytest.mark.parametrize(
    ("firsts", "lasts"),
    [
        (("gpt-4o", "llama"), ("math", "code")),
        (("gpt-4o", "llama"), ("mini", "large")),
        (("claude-3", "claude-4"), ("opus", "sonnet")),
    ],
)
def test_other_names_of_two_parts_are_systems(ws, firsts, lasts):
    stems = [f"{a}-{b}" for a in firsts for b in lasts]
    ws.ingest(files_named(*stems), "d")
    assert set(ws.dataset("d").systems) == set(stems)


@pytest.mark.parametrize("names", [("rater1.csv", "rater2.csv"), ("annotator_a.csv", "annotator_b.csv")])
def test_files_named_after_raters_are_no_systems(ws, names):
    labels = [b"question_id,clarity,tone\nq1,1,%d\nq2,0,1\n" % n for n in (0, 1)]
    with pytest.raises(IngestError, match="has no column for system"):
        ws.ingest(list(zip(names, labels, strict=True)), "d")


def test_files_of_models_may_say_that_judges_labelled_them(ws):
    labels = b"question_id,clarity,tone\nq1,1,0\nq2,0,1\n"
    ws.ingest([(f"judged_{model}.csv", labels) for model in ("gpt-4o", "claude-3")], "d")
    assert len(ws.dataset("d").systems) == 2


@pytest.mark.parametrize("key", ["item", "prompt"])
def test_files_of_one_criterion_each_with_a_column_a_system_are_read_by_the_pattern(ws, key):
    files = [
        (f"{c}.csv", table([key, *MODELS], [[f"q{q}", *(label(q, m, c) for m in MODELS)] for q in range(4)]))
        for c in ("accuracy", "tone")
    ]
    with pytest.raises(IngestError):
        ws.ingest_plan(plan_ingest(files, strict=True), "d", files)
    ws.ingest_plan(plan_ingest(files, strict=True, pattern="{rubric}.csv"), "d", files)
    assert cells(ws) == {
        (m, f"q{q}", f"q{q}#{c}", "judge"): label(q, m, c)
        for q in range(4)
        for m in MODELS
        for c in ("accuracy", "tone")
    }


def test_the_question_of_files_of_one_criterion_each_shows_that_pattern(ws):
    files = [
        (
            f"{c}.csv",
            table(["item", *MODELS], [[f"q{q}", *(label(q, m, c) for m in MODELS)] for q in range(4)]),
        )
        for c in ("accuracy", "tone")
    ]
    (first, *_) = plan_ingest(files, strict=True).files
    assert "a rubric (--pattern '{rubric}.csv')" in first.problem


def test_splits_of_a_table_in_folders_of_judges_are_no_systems():
    paths = [f"judge={j}/{split}.csv" for j in "xy" for split in ("train", "test")]
    assert "{system}" not in guess_pattern(paths).pattern


def test_names_that_no_pattern_parts_are_proposed_as_systems(ws):
    """``claude-3-r1`` was proposed as the judge 3-r1 of a system claude."""
    files = files_named(*(f"{s}-{r}" for s in ("gpt-4o", "claude-3") for r in ("r1", "r2")))
    assert {f.mapping["system"] for f in plan_ingest(files).files} == {
        f"={s}-{r}" for s in ("gpt-4o", "claude-3") for r in ("r1", "r2")
    }
    with pytest.raises(IngestError, match=r"rename them as SYSTEM__JUDGE\.csv"):
        ws.ingest(files, "d")
