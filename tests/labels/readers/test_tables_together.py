"""Several tables of one study: keyed by the same columns, next to what a mapping is for, and never queries alone."""

from __future__ import annotations

import json
from dataclasses import replace

import pandas as pd
import pytest

from crubric_core.errors import IngestError
from crubric_core.labels.readers.bundle import plan_ingest
from crubric_core.labels.readers.policies import Policies
from tests.labels.readers.test_layouts import MODELS, label, lines, table
from tests.tiers import crossed

EXAMPLES = [f"ex{n}" for n in range(4)]
CRITERIA = [(e, f"{e}_{c}") for e in EXAMPLES for c in "abc"]
LABELS = [[m, e, c, "j", label(m, c)] for m in MODELS for e, c in CRITERIA]
HEADER = ["model", "example_id", "criterion_id", "judge", "score"]


def stored(ws, **tables):
    ws.ingest([(f"{name}.csv", content) for name, content in tables.items()], "d")
    return ws.dataset("d")


@pytest.mark.parametrize("rows", [LABELS, sorted(LABELS, key=lambda row: row[1]), LABELS[::-1]])
def test_an_examples_id_is_the_query_also_where_each_rubric_belongs_to_one_example(ws, rows):
    """All rubrics were those of one query, and claims for further queries rested on rubrics alone."""
    report = ws.ingest(table(HEADER, rows), "d")
    rubrics = ws.dataset("d").rubrics
    assert set(zip(rubrics["query"], rubrics["rubric"], strict=True)) == set(CRITERIA)
    assert any("the query is its column 'example_id'" in note for note in report.notes)


def test_an_id_of_answers_or_of_rows_is_no_query(ws):
    rows = [[m, c, "j", label(m, c), f"t{m}{e}", n] for n, (m, e, c, *_) in enumerate(LABELS)]
    ws.ingest(table(["model", "criterion_id", "judge", "score", "trace_id", "index"], rows), "d")
    assert ws.dataset("d").queries["query"].tolist() == ["all"]


def test_an_id_that_groups_the_rubrics_of_all_systems_is_the_query(ws):
    rows = [[m, c, "j", label(m, c), e] for m, e, c, *_ in LABELS]
    ws.ingest(table(["model", "criterion_id", "judge", "score", "id"], rows), "d")
    assert set(ws.dataset("d").queries["query"]) == set(EXAMPLES)


@pytest.mark.parametrize(
    ("rubric", "text", "prompt"),
    crossed(
        ["criterion_id", "rubric_id"], ["criterion", "description", "text"], ["prompt", "question", "text"]
    ),
)
def test_the_other_tables_are_keyed_by_the_columns_of_the_labels(ws, rubric, text, prompt):
    found = stored(
        ws,
        labels=table([*HEADER[:2], rubric, *HEADER[3:]], LABELS),
        rubrics=table(["example_id", rubric, text], [[e, c, f"says {c}"] for e, c in CRITERIA]),
        queries=table(["example_id", prompt, "domain"], [[e, f"do {e}", "law"] for e in EXAMPLES]),
        answers=table(["model", "example_id", "response"], [[m, e, "so"] for m in MODELS for e in EXAMPLES]),
    )
    assert dict(found.rubrics[["rubric", "text"]].to_numpy()) == {c: f"says {c}" for _, c in CRITERIA}
    assert dict(found.queries[["query", "text"]].to_numpy()) == {e: f"do {e}" for e in EXAMPLES}
    assert len(found.rubrics) == len(CRITERIA)
    assert len(found.labels()) == len(LABELS)


def test_a_file_called_gold_holds_ground_truth_next_to_labels(ws):
    found = stored(ws, labels=table(HEADER, LABELS), gold=table(HEADER, LABELS[:9]))
    assert (len(found.labels()), len(found.gold())) == (len(LABELS), 9)
    assert (
        plan_ingest([("golden-gate.csv", table(HEADER, LABELS)), ("marigold.csv", table(HEADER, LABELS))])
        .files[1]
        .kind
        == "labels"
    )


SCORES = ("depth", "insight")
OPTIONS = Policies(threshold=0.5)


def reports():
    """A file a system, of which each row has a prompt and continuous scores, next to the prompts."""
    share = {
        c: sum(map(ord, c)) % 97 / 97 + 0.001
        for c in [m + e + s for m in MODELS for e in EXAMPLES for s in SCORES]
    }
    files = [
        (
            f"results/{m}/raw.jsonl",
            lines(
                {"id": n, "prompt": e, **{s: round(share[m + e + s], 4) for s in SCORES}}
                for n, e in enumerate(EXAMPLES)
            ),
        )
        for m in MODELS
    ]
    return [
        ("query.jsonl", lines({"id": n, "prompt": e, "topic": "law"} for n, e in enumerate(EXAMPLES))),
        *files,
    ]


@pytest.mark.parametrize("first", [0, 1])
def test_scores_of_several_files_are_asked_for_and_not_dropped_for_their_prompts(ws, first):
    """The prompts were stored as queries, the scores listed as not used, and the command ended well."""
    with pytest.raises(IngestError, match="look like continuous scores") as told:
        ws.ingest(reports()[first:], "d")
    sentence = str(told.value)
    mapping = json.loads(sentence[sentence.rindex("{") : sentence.rindex("}") + 1])
    assert mapping == {"query": "prompt", "rubric": list(SCORES)}
    ws.ingest(reports()[first:], "d", mapping=mapping, policies=OPTIONS)
    found = ws.dataset("d")
    assert len(found.labels()) == len(MODELS) * len(EXAMPLES) * len(SCORES)
    assert set(found.queries["domain"].dropna()) == (set() if first else {"law"})


def test_a_mapping_that_fits_no_file_is_refused(ws):
    with pytest.raises(IngestError, match="'nothing'"):
        ws.ingest(reports(), "d", mapping={"query": "prompt", "label": "nothing"})


@pytest.mark.parametrize(
    ("keys", "spread"),
    [(["example_id", "criterion_id"], "system"), (["model", "example_id"], "rubric")],
)
def test_a_wide_table_of_continuous_scores_comes_with_its_mapping(ws, keys, spread):
    columns = [f"column {n}" for n in range(3)]
    rows = [[*row[:2], *(round(0.1 + 0.3 * n + 0.017 * i, 3) for n in range(3))] for i, row in enumerate(
        LABELS[: len(CRITERIA)] if spread == "rubric" else [[e, c] for e, c in CRITERIA]
    )]  # fmt: skip
    rows = (
        rows
        if spread == "system"
        else [[f"m{i // 4}", EXAMPLES[i % 4], *row[2:]] for i, row in enumerate(rows)]
    )
    with pytest.raises(IngestError, match="threshold= or bins=") as told:
        ws.ingest(table([*keys, *columns], rows), "d")
    sentence = str(told.value)
    mapping = json.loads(sentence[sentence.rindex("{") : sentence.rindex("}") + 1])
    assert mapping[spread] == columns
    ws.ingest(table([*keys, *columns], rows), "d", mapping=mapping, policies=OPTIONS)
    assert len(ws.dataset("d").labels()) == len(rows) * len(columns)


def test_numbers_of_rows_are_not_proposed_as_systems(ws):
    rows = [[n, f"text {n}", 0.13 * (n % 7) + 0.01, 0.11 * (n % 5) + 0.02] for n in range(20)]
    with pytest.raises(IngestError, match="continuous scores") as told:
        ws.ingest(table(["row id", "question", "tone", "depth"], rows), "d")
    assert '"system": "=…"' in str(told.value)


@pytest.mark.parametrize(
    ("policies", "ends"), [(Policies(bins=5), (0, 4)), (Policies(threshold=0.2), (0, 1))]
)
def test_the_scale_of_continuous_scores_is_that_of_the_policy_whichever_levels_occur(ws, policies, ends):
    """Scores from .41 to .79 in five steps were levels 2 and 3 on a scale of 2 to 3."""
    rows = [
        [m, e, "clear", 0.41 + 0.1 * n + 0.01 * k]
        for n, e in enumerate(EXAMPLES)
        for k, m in enumerate(MODELS)
    ]
    ws.ingest(table(["system", "query", "rubric", "label"], rows), "d", policies=policies)
    rubrics = ws.dataset("d").rubrics
    assert set(zip(rubrics["scale_min"], rubrics["scale_max"], strict=True)) == {ends}
    assert pd.unique(rubrics["scale_source"]).tolist() == ["given"]


def keyed_by_id(columns, rows):
    return "\n".join(map(",".join, [columns, *rows])).encode()


STUDY = keyed_by_id(
    ["model", "query_id", "rubric_id", "judge", "grade"],
    [
        [m, q, c, "j", str(label(m, c))]
        for m in ("gpt-4o", "claude-3")
        for q in ("q1", "q2")
        for c in ("clear", "short")
    ],
)


@pytest.mark.parametrize(("key", "text"), [("id", "text"), ("name", "definition"), ("key", "description")])
def test_an_id_with_the_labels_names_is_their_key(ws, key, text):
    """Such a table was refused as labels, or the text of a query was taken for its name."""
    found = stored(
        ws,
        grades=STUDY,
        rubrics=keyed_by_id([key, text], [["clear", "It is clear"], ["short", "It is short"]]),
        prompts=keyed_by_id([key, "prompt"], [["q1", "Say one"], ["q2", "Say two"]]),
        models=keyed_by_id([key, "organization"], [["gpt-4o", "north"], ["claude-3", "south"]]),
        responses=keyed_by_id(
            ["model", key, "response"], [[m, q, "so"] for m in ("gpt-4o", "claude-3") for q in ("q1", "q2")]
        ),
    )
    assert set(found.rubrics["text"]) == {"It is clear", "It is short"}
    assert dict(found.queries[["query", "text"]].to_numpy()) == {"q1": "Say one", "q2": "Say two"}
    assert found.counts()["labels"] == 8
    assert found.systems == ("claude-3", "gpt-4o")
    assert found.answers("gpt-4o", "q1")["text"].tolist() == ["so"]


def test_an_id_that_the_labels_do_not_name_is_no_key(ws):
    with pytest.raises(IngestError, match=r"rubrics\.csv has no column for system and rubric"):
        stored(
            ws,
            grades=STUDY,
            rubrics=keyed_by_id(["id", "text"], [["7", "It is clear"], ["8", "It is short"]]),
        )


def test_criteria_that_are_columns_are_described_by_their_names(ws):
    found = stored(
        ws,
        scores=keyed_by_id(
            ["model", "query", "clear", "short"], [[m, q, "3", "4"] for m in "ab" for q in "xyz"]
        ),
        criteria=keyed_by_id(["name", "description"], [["clear", "It is clear"], ["short", "It is short"]]),
    )
    assert set(found.rubrics["text"]) == {"It is clear", "It is short"}


def test_a_column_that_holds_the_labels_names_is_no_less_their_key_for_a_name_beside_it(ws):
    rows = [["clear", "clear", "It is clear"], ["short", "brief", "It is short"]]
    found = stored(ws, grades=STUDY, rubrics=keyed_by_id(["rubric_id", "name", "text"], rows))
    assert set(found.rubrics["text"]) == {"It is clear", "It is short"}


def test_a_key_that_somebody_chose_is_kept():
    files = [
        ("grades.csv", STUDY),
        ("rubrics.csv", keyed_by_id(["id", "text"], [["clear", "It is clear"], ["short", "It is short"]])),
    ]
    plan = plan_ingest(files)
    chosen = replace(plan.file("rubrics.csv"), mapping={"rubric": "text"})
    again = plan_ingest(files, like=replace(plan, files=(plan.file("grades.csv"), chosen)))
    assert again.file("rubrics.csv").mapping == {"rubric": "text"}


def test_rubrics_described_once_for_all_queries_are_not_added_beside_those_of_the_queries(ws):
    """Two descriptions and four rubrics were six rubrics."""
    rubrics = keyed_by_id(["rubric_id", "text"], [["clear", "It is clear"], ["short", "It is short"]])
    report = ws.ingest([("grades.csv", STUDY), ("rubrics.csv", rubrics)], "d")
    assert report.changes.rubrics == len(ws.dataset("d").rubrics) == 4
    assert ws.ingest([("rubrics.csv", rubrics)], "alone", kind="rubrics").changes.added == 2


def of_criteria(number, header=("question_id", "clarity", "tone"), queries=range(6)):
    """A file without a system's name: labels of some queries, a column a criterion."""
    rows = [[f"q{q}", *(1 + (q * at + number) % 5 for at in range(1, len(header)))] for q in queries]
    return table(list(header), rows)


@pytest.mark.parametrize(
    "header",
    [
        ("question_id", "Clarity", "Tone"),
        ("question_id", "tone", "clarity"),
        ("prompt_id", "clarity", "tone"),
        ("question_id", "clarity", "tone", "safety"),
        ("question_id", "clarity", "politeness"),
    ],
)
def test_a_systems_file_with_other_columns_than_the_others_holds_labels_too(ws, header):
    found = {"gpt-4o": of_criteria(0), "claude-3": of_criteria(1), "llama-3": of_criteria(2, header)}
    assert set(stored(ws, **found).labels()["system"]) == set(found)


def test_a_systems_file_beside_a_long_table_holds_labels(ws):
    rows = [
        [m, f"q{q}", c, label(m, q, c)] for m in MODELS[:2] for q in range(6) for c in ("clarity", "tone")
    ]
    found = {
        "labels": table(["model", "question_id", "criterion", "score"], rows),
        "llama-3-70b": of_criteria(2),
    }
    assert set(stored(ws, **found).labels()["system"]) == {*MODELS[:2], "llama-3-70b"}


@pytest.mark.parametrize(("first", "second"), [(range(6), range(6, 9)), (range(6), range(6))])
def test_systems_files_that_do_not_contradict_each_other_hold_labels(ws, first, second):
    """Other queries, or the same labels."""
    found = {"gpt-4o": of_criteria(0, queries=first), "claude-3": of_criteria(0, queries=second)}
    assert set(stored(ws, **found).labels()["system"]) == set(found)


def test_columns_like_labels_in_a_file_that_nothing_is_known_of_are_asked_about(ws):
    rows = [[m, f"q{q}", "depth", label(m, q)] for m in MODELS for q in range(6)]
    long = table(["model", "question_id", "criterion", "score"], rows)
    with pytest.raises(
        IngestError, match=r"other\.csv names queries but does not describe them, and 'clarity'"
    ):
        stored(ws, labels=long, other=of_criteria(2))
    known = stored(ws, labels=long, queries=table(["question_id", "has_image", "has_code"], [["q1", 0, 1]]))
    assert set(known.labels()["system"]) == set(MODELS)
