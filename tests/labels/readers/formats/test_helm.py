"""HELM's runs: one folder a scenario and model, whose stats of each instance say whether its answer is right."""

from __future__ import annotations

import io
import json
import zipfile

import pytest

from crubric_core.errors import IngestError

from .conftest import document, labels_of

MODELS = ("openai_gpt-4o", "meta_llama-3-8b")
SCENARIO = "mmlu:subject=law,method=joint"
COUNTED = {
    "num_references": 4,
    "inference_runtime": 0.5,
    "f1_score": 0.4,
    "finish_reason_stop": 1,
    "num_prompt_tokens": 1,
}


def stat(name, value, **fields):
    known = {"count": 1, "sum": value, "sum_squared": value**2, "min": value, "max": value, "mean": value}
    return {"name": {"name": name, "split": "test"}, **known, **fields}


def instance(name, right, trial=0, **fields):
    stats = [stat("exact_match", right), *(stat(*counted) for counted in COUNTED.items())]
    return {"instance_id": name, "train_trial_index": trial, "stats": stats, **fields}


def right(model, i) -> int:
    return (len(model) + i) % 2


def folder(model, scenario=SCENARIO) -> str:
    return f"{scenario},model={model}"


def run(model, **others):
    """The files of a run by their paths."""
    stats = [instance(f"id{i}", right(model, i)) for i in range(3)]
    files = {"per_instance_stats.json": stats, **others}
    return {f"{folder(model)}/{name}": document(content) for name, content in files.items()}


def zipped(*runs) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for files in runs:
            for name, content in files.items():
                archive.writestr(name, content)
    return buffer.getvalue()


def test_runs_are_read_with_scenario_and_model_from_their_folders(read):
    dataset, report = read(zipped(*map(run, MODELS)), "runs.zip")
    assert labels_of(dataset) == {
        (m, f"{SCENARIO}/id{i}", f"{SCENARIO}/id{i}#exact_match", "judge", right(m, i))
        for m in MODELS
        for i in range(3)
    }
    assert set(dataset.queries["domain"]) == {"mmlu"}
    assert report.rejected == 0


def test_a_runs_other_files_belong_to_it_and_give_the_queries_their_texts(read):
    others = {
        "instances.json": [{"id": f"id{i}", "input": {"text": f"Question {i}?"}} for i in range(3)],
        "run_spec.json": {"name": "mmlu", "adapter_spec": {"model": "openai/gpt-4o"}},
        "stats.json": [stat("exact_match", 0.5)],
        "scenario.json": {"name": "mmlu"},
        "scenario_state.json": {"request_states": [{"instance": {"id": "id0"}}]},
    }
    dataset, report = read(zipped(*(run(m, **others) for m in MODELS)), "runs.zip")
    assert set(dataset.queries["text"]) == {f"Question {i}?" for i in range(3)}
    assert any("were skipped: it belongs to others that are read" in note for note in report.notes)


def test_a_perturbed_instance_is_a_query_of_its_own_and_a_trial_a_run(ws):
    records = [
        instance("id0", 1),
        instance("id0", 0, perturbation={"name": "dialect", "prob": 1.0}),
        instance("id0", 0, trial=1),
    ]
    ws.ingest(
        zipped({f"{folder('gpt-4o')}/per_instance_stats.json": document(records)}), "d", name="runs.zip"
    )
    found = ws.dataset("d").labels()
    rows = found[["query", "run", "label"]].itertuples(index=False)
    assert {(query.removeprefix(f"{SCENARIO}/"), trial, label) for query, trial, label in rows} == {
        ("id0", "0", 1),
        ("id0/dialect", "0", 0),
        ("id0", "1", 0),
    }  # fmt: skip


def test_a_stat_of_nothing_is_unknown(read):
    record = {"instance_id": "i", "stats": [stat("exact_match", 0, count=0), stat("math_equiv", 1)]}
    dataset, _ = read(document([record]), "per_instance_stats.json", mapping={"system": "=a"})
    assert labels_of(dataset) == {
        ("a", "i", "i#exact_match", "judge", None),
        ("a", "i", "i#math_equiv", "judge", 1),
    }


def test_a_file_without_its_folder_is_asked_for_the_system(ws):
    with pytest.raises(IngestError, match="does not say which system"):
        ws.ingest(document([instance("i", 1)]), "d", name="per_instance_stats.json")


def test_stats_that_only_count_or_score_are_refused_as_no_labels(ws):
    records = [{"instance_id": "i", "stats": [stat(*counted) for counted in COUNTED.items()]}]
    content = zipped({f"{folder('gpt-4o')}/per_instance_stats.json": document(records)})
    with pytest.raises(
        IngestError,
        match=r"no stat that says whether an answer is right.*\(num_references, inference_runtime",
    ):
        ws.ingest(content, "d", name="runs.zip")


def test_shares_among_stats_are_told_as_any_fractions(ws):
    records = [{"instance_id": f"i{i}", "stats": [stat("ifeval_strict_accuracy", i / 4)]} for i in range(5)]
    with pytest.raises(IngestError, match=r"go in steps of 0\.25"):
        ws.ingest(json.dumps(records).encode(), "d", name="x.json", mapping={"system": "=a"})


def test_of_metrics_that_compare_the_same_texts_the_strict_one_is_read_and_the_other_told(read):
    stats = [stat("quasi_exact_match", 1), stat("exact_match", 0), stat("prefix_exact_match", 1)]
    record = {"instance_id": "i", "stats": [*stats, stat("quasi_math_equiv", 1)]}
    dataset, report = read(document([record]), "per_instance_stats.json", mapping={"system": "=a"})
    assert labels_of(dataset) == {
        ("a", "i", "i#exact_match", "judge", 0),
        ("a", "i", "i#quasi_math_equiv", "judge", 1),
    }
    assert any(
        "'quasi_exact_match' is not used, because it repeats 'exact_match'" in note for note in report.notes
    )


def test_a_metric_that_stands_twice_with_two_values_is_a_contradiction_and_told(read):
    record = {
        "instance_id": "i",
        "stats": [stat("exact_match", 1), stat("exact_match", 0), stat("math_equiv", 1)],
    }
    dataset, report = read(document([record]), "per_instance_stats.json", mapping={"system": "=a"})
    assert labels_of(dataset) == {("a", "i", "i#math_equiv", "judge", 1)}
    assert report.rejected == 2
