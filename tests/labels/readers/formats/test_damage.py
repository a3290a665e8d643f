"""Damaged files of every layout: a sentence, or a whole counted ingest, and never half of one."""

from __future__ import annotations

import json
import random
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crubric_core.errors import IngestError
from crubric_core.labels import Workspace
from crubric_core.labels.readers.bundle import plan_ingest
from crubric_core.labels.readers.formats.native import NATIVE
from crubric_core.labels.readers.formats.native.base import MalformedError, Setting
from crubric_core.labels.readers.formats.native.tables import LONGEST
from crubric_core.labels.readers.formats.records import Fault, read_records, reply_values
from tests.tiers import examples

from . import test_native as samples
from .conftest import document, lines
from .test_tables import LONG, archive, workbook

GRADED = {"prompt_id": "p1", "rubric_items": samples.graded(True, False)}
FILES = {
    "graded.jsonl": lines(GRADED, {**GRADED, "prompt_id": "p2"}, {**GRADED, "prompt_id": "p3"}),
    "panel__judge.jsonl": lines({"prompt_id": "p", "grades": [{"criteria_met": True}]}),
    "log.json": document(samples.inspect_log()),
    "promptfoo.json": document({"results": {"results": [samples.promptfoo_result(0, True, False)]}}),
    "scores.jsonl": lines(samples.langfuse_score(metadata={"model": "m"})),
    "batch.jsonl": lines(samples.batch("q_0_a/b_0", '{"x": {"score": 1}}')),
    "study.zip": archive({"a/labels.csv": LONG, "b/m__j.jsonl": lines({"prompt_id": "p", "grades": []})}),
    "study.xlsx": workbook(Labels=[["system", "rubric", "label"], ["a", "r", 1], ["b", "r", 0]]),
}
SCRAPS = [
    b"",
    b'"',
    b"{",
    b"}",
    b"[",
    b"]",
    b"\n",
    b"\0",
    b"\xff",
    b"null",
    b"1e999",
    b"\\ud800",
    b"x" * 3000,
]


def attempt(content: bytes, name: str) -> None:
    """Read it; whatever comes out is a report with its accounts in order, or one sentence and an empty workspace."""
    with Workspace() as ws:
        try:
            report = ws.ingest(content, "d", name=name, mapping={"system": "=s"})
        except IngestError as error:
            sentence = str(error)
            assert "\n" not in sentence
            assert "could not be stored" not in sentence
            assert ws.datasets().empty
            return
        for part in report.parts or (report,):
            assert len(part.rejects) == part.rejected == part.rejects["row"].nunique()
        stored = ws.dataset("d").labels()
        assert len(stored) <= report.accepted or report.kind != "labels"


@pytest.mark.parametrize("name", FILES)
@given(
    changes=st.lists(
        st.tuples(st.floats(0, 1), st.integers(0, 30), st.sampled_from(SCRAPS)), min_size=1, max_size=4
    )
)
@settings(max_examples=examples(12), suppress_health_check=[HealthCheck.too_slow])
def test_a_damaged_file_is_refused_in_a_sentence_or_read_with_its_accounts_in_order(name, changes):
    content = bytearray(FILES[name])
    for share, cut, scrap in changes:
        at = int(share * len(content))
        content[at : at + cut] = scrap
    attempt(bytes(content), name)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 10**12) | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
SHAPES = {
    "healthbench-graded": GRADED,
    "healthbench-panel": {"prompt_id": "p", "grades": [{"criteria_met": True}]},
    "healthbench-results": {"metadata": {"example_level_metadata": [GRADED]}},
    "healthbench-meta": {"prompt_id": "p", "completion_id": "c", "rubric": "r", "binary_labels": [True]},
    "hellobench": {"id": "q", "checklist_wise_evaluation": [{"checklist_id": 0, "evaluation_score": 1}]},
    "wildbench": {"session_id": "s", "model_test": "m", "score": "4", "parsed_result": {"score": "4"}},
    "summeval": {"id": "d", "model_id": "m", "annotations": [{"coherence": 1}]},
    "swe-bench": {"resolved_ids": ["a__1"], "unresolved_ids": ["a__2"], "error_ids": []},
    "infobench": {"id": "t", "decomposed_questions": ["a?"], "eval": [True]},
    "profbench": {"task_id": "t", "rubrics": [{"criterion_description": "d", "o3_fulfilment": True}]},
    "profbench-judge": {"task_id": "t", "criterion_description": "d", "judge_rating": "Yes", "model": "m"},
    "judge-bench": {
        "dataset": "d",
        "annotations": [{"metric": "m", "worst": 1, "best": 5}],
        "instances": [{"id": 1, "annotations": {"m": {"individual_human_scores": [1]}}}],
    },
    "research-rubrics": {"prompt": "p", "title": "t", "weight": "3", "gemini_present": "Satisfied"},
    "judgmentbench": {"annotation_id": "a", "score_order": "1", "awarded_points": "2"},
    "inspect": samples.inspect_log(),
    "promptfoo": {"results": {"results": [samples.promptfoo_result(0, True)]}},
    "promptfoo-lines": samples.promptfoo_result(0, True),
    "lm-eval": {"doc_id": 1, "doc": {}, "resps": [], "metrics": ["acc"], "acc": 1.0},
    "helm": {"instance_id": "i", "stats": [{"name": {"name": "exact_match"}, "count": 1, "mean": 1.0}]},
    "potato": {
        "user_id": "u",
        "id": "i",
        "displayed_text": "t",
        "label_annotations": {"x": {"scale_1": "1"}},
    },
    "langfuse": samples.langfuse_score(metadata={"model": "m"}),
    "langfuse-api": {"data": [samples.langfuse_score()]},
    "autorubric": {"item_idx": 0, "report": {"criterion_reports": [{"verdict": "MET", "requirement": "x"}]}},
    "batch-output": samples.batch("q_0_a/b_0", '{"x": {"score": 1}}'),
    "judge-replies": {"example_id": "e", "candidate_name": "c", "criterion_id": "r", "text": '{"grade": 1}'},
}


def places_of(value: object, path: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
    """The path of every value within a value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [p for key, inner in items for p in ((*path, key), *places_of(inner, (*path, key)))]


@pytest.mark.parametrize("name", SHAPES)
@given(chosen=st.randoms(use_true_random=False), value=VALUES)
@settings(max_examples=examples(60))
def test_a_record_with_a_wrong_value_anywhere_is_read_or_malformed(
    name: str, chosen: random.Random, value: object
):
    record = json.loads(json.dumps(SHAPES[name]))
    path = chosen.choice(places_of(record))
    holder = record
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    native = NATIVE[name]
    if not native.fits(record):
        return
    with suppress(MalformedError):
        rows = list(native.rows(record, Setting("file.jsonl", {"system": "s"})))
        assert all(kind in ("labels", "gold", "rubrics", "queries", "answers") for kind, _ in rows)


@given(text=st.text(max_size=60) | st.binary(max_size=60).map(lambda b: b.decode("latin-1")))
@settings(max_examples=examples(150))
def test_records_of_any_text_end_in_values_faults_or_a_sentence(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("r") / "file"
    path.write_bytes(b"{" + text.encode("utf-8", "surrogatepass"))
    with suppress(IngestError):
        found = list(read_records(path, "file"))
        assert all(isinstance(value, (Fault, dict, list, str, int, float, type(None))) for _, value in found)


@given(values=st.lists(VALUES, max_size=5), indent=st.sampled_from([None, 1]))
@settings(max_examples=examples(80))
def test_an_array_is_read_value_by_value_as_json_reads_it_whole(tmp_path_factory, values, indent):
    path = tmp_path_factory.mktemp("r") / "file"
    path.write_text(json.dumps(values, indent=indent), encoding="utf-8")
    found = [value for _, value in read_records(path, "file")]
    assert json.dumps(found) == json.dumps(values)


@pytest.mark.parametrize("depth", [10, 100_000])
def test_deep_nesting_is_no_hang_and_no_traceback(depth):
    attempt(b"[" * depth, "deep.json")
    attempt(b'{"a":' * depth, "deep.json")
    assert reply_values("{" * depth) == reply_values("[" * depth) == []


DEEP = "[" * 50_000
LANGFUSE = {"traceId": "t", "name": "tone", "source": "EVAL", "value": 1, "metadata": DEEP, "model": "m"}
ARGILLA = {"id": "q", "model": "m", "tone.responses": DEEP, "tone.responses.users": '["u"]'}


@pytest.mark.parametrize("record", [LANGFUSE, ARGILLA], ids=["langfuse", "argilla"])
def test_deep_nesting_within_a_text_of_a_record_is_no_traceback(record):
    with Workspace() as workspace, suppress(IngestError):
        workspace.ingest(lines(record), "d", name="x.jsonl")


def test_a_pattern_of_ids_that_names_a_field_twice_is_refused_in_a_sentence(ws):
    content = lines({"custom_id": "q1_m", "response": {"body": {"choices": []}}})
    with pytest.raises(IngestError, match="names a field twice"):
        ws.ingest(content, "d", name="x.jsonl", mapping={"custom_id": "={query}_{query}"})


def test_ten_megabytes_in_a_cell_formulas_and_html_are_only_text():
    texts = ["=1+1", "<script>alert(1)</script>", "x" * (10 << 20), "nul\0nul"]
    items = [{"criterion": t, "points": 1, "tags": [], "criteria_met": True} for t in texts]
    with Workspace() as workspace:
        workspace.ingest(lines({"prompt_id": "p", "rubric_items": items}), "d", name="m.jsonl")
        found = workspace.dataset("d").rubrics["text"].tolist()
    assert found[:2] == texts[:2]
    assert found[2].startswith("x" * LONGEST + " … (")
    assert found[3] == "nul\ufffdnul"


def test_a_plan_of_anything_is_a_plan_or_a_sentence():
    for name, content in FILES.items():
        for cut in range(0, len(content), max(1, len(content) // 12)):
            with suppress(IngestError):
                plan = plan_ingest((name, content[:cut]))
                assert all("\n" not in problem for problem in plan.problems)
