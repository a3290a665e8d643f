"""A key that stands twice in one object of JSON: readers differ in which counts, so that the record is rejected."""

from __future__ import annotations

import json

import pytest

PAIRS = [(s, f"q{q}") for q in range(4) for s in "ab"]
FLAT = [json.dumps({"system": s, "query": q, "rubric": "r", "label": int(q == "q1")}) for s, q in PAIRS]
TWICE = '{"system": "a", "query": "q9", "rubric": "r", "label": 1, "label": 0}'
NESTED = [json.dumps({"system": s, "query": q, "scores": {"clarity": 1, "tone": 2}}) for s, q in PAIRS]
TWICE_WITHIN = '{"system": "a", "query": "q9", "scores": {"clarity": 1, "clarity": 2}}'
FILES = {
    "flat": ([*FLAT[:3], TWICE, *FLAT[3:]], "label", 8),
    "nested": ([*NESTED[:3], TWICE_WITHIN, *NESTED[3:]], "clarity", 16),
}


@pytest.mark.parametrize("form", ["lines", "array"])
@pytest.mark.parametrize(("records", "key", "labels"), FILES.values(), ids=FILES)
def test_a_record_in_which_a_key_stands_twice_is_rejected_and_the_others_are_read(
    read, records, key, labels, form
):
    content = "\n".join(records) if form == "lines" else f"[{','.join(records)}]"
    dataset, report = read(content.encode(), "x.json")
    assert (len(dataset.labels()), report.accepted, report.rejected) == (labels, labels, 1)
    ((reason, value),) = report.rejects[["reason", "value"]].to_numpy()
    assert f"has the key {key!r} twice in one object" in reason
    assert "q9" in value
    assert "q9" not in set(dataset.labels()["query"])
