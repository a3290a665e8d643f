"""Real files as their authors publish them: what is read from them is what their canonical tables hold."""

from __future__ import annotations

import pandas as pd
import pytest

from crubric_core.errors import IngestError

KEY = ["system", "query", "rubric"]

SAMPLES = {
    "dialsummeval": ("human_judgment.head.jsonl", [*KEY, "judge"], {}),
    "eulegal_prbench": ("judge_raw.sample.jsonl", [*KEY, "judge"], {}),
    "wildbench": ("eval.sample.json", KEY, {}),
}


@pytest.mark.parametrize("study", SAMPLES)
def test_a_native_sample_has_the_labels_of_the_canonical_table(ws, real_data, study):
    name, key, options = SAMPLES[study]
    report = ws.ingest(real_data / study / "native" / name, "d", **options)
    found = ws.dataset("d").labels()
    assert report.rejected == 0
    assert len(found) > 0
    text = dict.fromkeys(KEY, str)
    canonical = pd.read_csv(real_data / study / "labels.csv", dtype=text)
    canonical = canonical[canonical["query"].isin(found["query"])]
    both = found.merge(canonical, on=key, suffixes=("", "_canonical"))
    if study == "wildbench":  # the sample does not say which of the three judges it is of
        matches = both.groupby(KEY).apply(
            lambda g: (g["label"] == g["label_canonical"]).any(), include_groups=False
        )
        assert len(matches) == len(found)
        assert matches.all()
        return
    assert len(both) == len(found)
    pd.testing.assert_series_equal(
        both["label"].astype(float), both["label_canonical"].astype(float), check_names=False
    )


def test_hellobench_records_of_a_system_have_the_labels_of_the_canonical_table(ws, real_data):
    sample = real_data / "hellobench" / "native" / "results.sample.jsonl"
    with pytest.raises(IngestError, match="does not say which system"):
        ws.ingest(sample, "d")
    canonical = pd.read_csv(real_data / "hellobench" / "labels.csv")
    for number, line in enumerate(sample.read_bytes().splitlines()):
        ws.ingest(line, f"d{number}", mapping={"system": "=s"}, name="one.jsonl")
        found = ws.dataset(f"d{number}").labels().set_index("rubric")["label"]
        rows = canonical[canonical["rubric"].isin(found.index)]
        tables = rows.pivot_table(index="rubric", columns="system", values="label").reindex(found.index)
        assert tables.eq(found, axis=0).all().any(), "no system of the canonical table has these labels"
