"""The fingerprint tells content, not order."""

from __future__ import annotations

import itertools

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crubric_core.labels import Workspace
from tests.tiers import at_most, examples

FILES = {
    "labels": b"system,query,rubric,judge,label\na,q1,r1,j,1\nb,q1,r1,j,0\na,q2,r2,j,1\nb,q2,r2,k,NA\n",
    "rubrics": b"rubric,query,text,scale_max,weight\nr1,q1,one,1,2\nr2,q2,two,1,\n",
    "queries": b"query,text,omega\nq1,how?,1\nq2,why?,2\n",
    "gold": b"system,rubric,label\na,r1,1\nb,r2,0\n",
    "reference": b"system,rank\na,1\nb,2\n",
}


def fingerprint(*ingests: tuple[str, bytes]) -> str:
    with Workspace() as ws:
        for kind, content in ingests:
            ws.ingest(content, "d", kind)
        return ws.dataset("d").fingerprint


def test_no_order_of_the_files_changes_it():
    kinds = list(FILES)
    turned = [kinds[n:] + kinds[:n] for n in range(5)]  # every kind comes first, and last, in one of them
    orders = turned + list(itertools.permutations(FILES))[: at_most(0, 120) : 13]
    found = {fingerprint(*((kind, FILES[kind]) for kind in order)) for order in orders}
    assert len(found) == 1


def test_every_file_and_every_value_of_it_counts():
    whole = fingerprint(*FILES.items())
    changes = [
        ("labels", b"a,q1,r1,j,1", b"a,q1,r1,j,0"),
        ("labels", b"b,q2,r2,k,NA", b"b,q2,r2,k,1"),
        ("labels", b"b,q2,r2,k,NA", b"b,q2,r2,j,NA"),
        ("rubrics", b"one", b"ONE"),
        ("rubrics", b"one,1,2", b"one,2,2"),
        ("rubrics", b"two,1,", b"two,1,2"),
        ("queries", b"q2,why?,2", b"q2,why?,3"),
        ("gold", b"b,r2,0", b"b,r2,1"),
        ("reference", b"b,2", b"b,3"),
    ]
    for kind, content in FILES.items():
        with Workspace() as ws:
            for other in [each for each in FILES if each != kind]:
                ws.ingest(FILES[other], "rest", other)
            assert ws.dataset("rest").fingerprint != whole, kind
            for old, new in [change[1:] for change in changes if change[0] == kind]:
                assert old in content
                ws.duplicate("rest", new.decode())
                ws.ingest(content.replace(old, new), new.decode(), kind)
                assert ws.dataset(new.decode()).fingerprint != whole, (kind, new)
            ws.ingest(content, "rest", kind)
            assert ws.dataset("rest").fingerprint == whole


def test_labels_that_change_places_change_it():
    rows = [("a", "r", 1), ("a", "s", 0), ("b", "r", 0), ("b", "s", 1)]
    flipped = [(s, r, 1 - label) for s, r, label in rows]
    frames = [pd.DataFrame(x, columns=["system", "rubric", "label"]) for x in (rows, flipped)]
    one, two = (fingerprint(("labels", f.to_csv(index=False).encode())) for f in frames)
    assert one != two


def test_names_do_not_run_into_each_other():
    one, two = (f"system,rubric,label\n{s},{r},1\n".encode() for s, r in (("ab", "c"), ("a", "bc")))
    assert fingerprint(("labels", one)) != fingerprint(("labels", two))


def test_the_name_of_the_dataset_is_no_content():
    with Workspace() as ws:
        ws.ingest(FILES["labels"], "one")
        ws.ingest(FILES["labels"], "two")
        ws.rename("two", "three")
        assert ws.dataset("one").fingerprint == ws.dataset("three").fingerprint


def test_it_is_the_same_on_every_machine():
    assert fingerprint(*FILES.items()) == "cb041031c4d29cdf2082bdede9ccac3c"


CELLS = st.lists(
    st.tuples(*(st.integers(0, 3) for _ in range(3)), st.sampled_from(["0", "1", "2", "NA"])),
    min_size=1,
    max_size=40,
    unique_by=lambda cell: cell[:3],
)


@given(cells=CELLS, data=st.data())
@settings(max_examples=examples(20), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_order_of_rows_and_no_split_into_files_changes_it_or_the_reduction(cells, data):
    rows = [f"s{s},q{r % 2},r{r},j{k},{label}" for s, r, k, label in cells]
    shuffled = data.draw(st.permutations(rows))
    cut = data.draw(st.integers(1, len(rows)))
    header = "system,query,rubric,judge,label"
    with Workspace() as ws:
        ws.ingest("\n".join([header, *rows]).encode(), "once")
        for part in (shuffled[:cut], shuffled[cut:]):
            if part:
                ws.ingest("\n".join([header, *part]).encode(), "parts")
        once, parts = ws.dataset("once"), ws.dataset("parts")
        assert once.fingerprint == parts.fingerprint
        for response in ("binary", "ordered"):
            one, other = once.reduce(response), parts.reduce(response)
            assert one.systems == other.systems
            pd.testing.assert_frame_equal(one.rubrics, other.rubrics)
            for field in ("y", "n_agree", "n_total", "max_panel", "levels"):
                assert pytest.approx(getattr(one, field), nan_ok=True) == getattr(other, field)


def test_a_polarity_that_somebody_gives_is_content_where_negative_points_imply_another():
    """Of a rubric worth -5 points more is better where its labels are 0 and -5, unless somebody says otherwise."""
    labels = b"system,query,rubric,label\na,q,r,-5\nb,q,r,0\n"
    given = [b"query,rubric,weight,polarity\nq,r,-5,%s\n" % sign for sign in (b"", b"-1", b"1")]
    assert len({fingerprint(("labels", labels), ("rubrics", rubrics)) for rubrics in given}) == 3
