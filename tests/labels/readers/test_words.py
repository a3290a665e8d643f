"""Ordinary words, marks, grades and parts as labels; compressed files and other encodings change nothing."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import re
import tarfile
from dataclasses import replace

import pandas as pd
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from crubric_core.errors import IngestError
from crubric_core.labels import Workspace
from crubric_core.labels.readers.bundle import plan_ingest
from crubric_core.labels.readers.plan import Plan
from crubric_core.labels.readers.policies import Policies
from crubric_core.labels.readers.words import levels_of, whole_of

HEADER = "system,query,rubric,judge,label\n"


@pytest.mark.parametrize(
    ("words", "levels"),
    [
        (["Yes.", "Pass ✓", "**No**", "❌"], [1, 1, 0, 0]),
        (["✅", "✗"], [1, 0]),
        (["good", "Bad"], [1, 0]),
        (["good", "bad", "fair"], [3, 0, 2]),
        (["agree", "disagree"], [1, 0]),
        (["oui", "Non"], [1, 0]),
        (["relevant", "Irrelevant", "Not relevant"], [1, 0, 0]),
        (["resolved", "UNRESOLVED", "n/a"], [1, 0, None]),
        (["SUCCESS", "FAILURE", "Failed"], [1, 0, 0]),
        (["grounded", "Partially grounded", "ungrounded"], [2, 1, 0]),
        (["relevant", "somewhat relevant", "highly relevant"], ["?", 1, "?"]),
        (["sí", "no"], [1, 0]),
        (["Ano", "ne"], [1, 0]),
        (["Kyllä", "Ei"], [1, 0]),
        (["Ναι", "Όχι"], [1, 0]),
        (["Igen", "Nem"], [1, 0]),
        (["Có", "Không"], [1, 0]),
        (["예", "아니오"], [1, 0]),
        (["نعم", "لا"], [1, 0]),
        (["हाँ", "नहीं"], [1, 0]),
        (["yes", "no", "-", "—", "n.a."], [1, 0, None, None, None]),
        (["4/5", "1/5"], [4, 1]),
        (["80%", "20 %"], [80, 20]),
        (["80.5%", "20,5 %", "3.0%"], [80.5, 20.5, 3]),
        (["4.0/5", "4.5 / 5", "3 of 5.0", "2/5 stars"], [4, 4.5, 3, 2]),
        (["★★★★☆", "★★★★★", "☆☆☆☆☆"], [4, 5, 0]),
        (["⭐️⭐️⭐️", "⭐", "n/a"], [3, 1, None]),
        (["4 stars", "1 star", "3★"], [4, 1, 3]),
        (["3 points", "1 pt"], [3, 1]),
        (["★★★", "★★★★☆"], ["?", "?"]),
        (["☆☆☆", "☆"], ["?", "?"]),
        (["4 stars", "80%"], ["?", "?"]),
        (["90%", "85%", "70%", "100%", "~80%"], [90, 85, 70, 100, "?"]),
        (["90%", "85%", "~80%", "0.7"], ["?", "?", "?", "?"]),
        (["4/6", "3/6", "1/6", "5/6", "about 2"], [4, 3, 1, 5, "?"]),
        (["1,000%"], ["?"]),
        (["4 stars", "good"], ["?", "?"]),
        (["A", "F", "C"], [4, 0, 2]),
        (["A", "E"], [4, 0]),
        (["A-", "B+", "F"], [10, 9, 0]),
        (["True", "F"], [1, 0]),
        (["strongly disagree", "agree"], [0, 3]),
        (["Partially met", "Met", "Unmet"], [1, 2, 0]),
        (["Complete", "Partial", "Missing"], [2, 1, 0]),
        (["complete", "missing"], ["?", "?"]),
        (["full", "partial", "none", "n/a"], [2, 1, 0, None]),
        (["partially met", "None"], [1, 0]),
        (["yes", "partial", "none"], [2, 1, None]),
        (["full", "partial", "missing", "none"], [2, 1, 0, None]),
        (["yes", "partial", "no", "missing"], [2, 1, 0, "?"]),
        (["yes", "partial", "missing"], [2, 1, 0]),
        (["n/a", "Yes"], [None, 1]),
        (["N/A – not applicable", "Yes", "#N/A", "not rated"], [None, 1, None, None]),
        (["4 - Good", "5: Always", "1 (Bad)"], [4, 5, 1]),
        (["Good (4)", "Strongly agree (5)", "3"], [4, 5, "?"]),
        (["0 - N/A", "1 = poor"], [None, 1]),
        (["0 - none", "1 - mild", "2 - severe"], [0, 1, 2]),
        (["4 - Good", "4 - Fair"], ["?", "?"]),
        (["4 - 5", "1 - 2"], ["?", "?"]),
        (["Yes - cites it", "No"], ["?", 0]),
        (["4 out of 5", "1 out of 5"], [4, 1]),
        (["VERO", "FALSO"], [1, 0]),
        (["☑", "☐"], [1, 0]),
        (["符合", "不符合", "部分符合"], [2, 0, 1]),
        (["erfüllt", "teilweise erfüllt", "nicht erfüllt"], [2, 1, 0]),
        (["cumple", "no cumple"], [1, 0]),
        (["Neither agree nor disagree", "Somewhat agree", "Strongly agree"], [2, 3, 4]),
        (["stimme voll zu", "teils/teils"], [4, 2]),
        (["非常不同意", "同意"], [0, 3]),
        (["good", "5", "1"], ["?", "?", "?"]),
        (["partial", "0", "1"], ["?", "?", "?"]),
        (["yes", "0", "1"], [1, "?", "?"]),
    ],
)
def test_words_stand_for_levels(words, levels):
    assert [levels_of(words).get(word, "?") for word in words] == levels


def test_parts_of_different_wholes_are_not_guessed():
    assert levels_of(["4/5", "3/4"]) == {}
    assert (whole_of(["4/5", "1/5"]), whole_of(["80%"]), whole_of(["yes"])) == (5, 100, None)
    assert (whole_of(["★★☆"]), whole_of(["★★", "★★"]), whole_of(["4 stars"])) == (3, None, None)


def test_parts_of_five_have_a_scale_that_ends_at_five(ws):
    ws.ingest((HEADER + "a,q,r,j,4/5\nb,q,r,j,1/5\n").encode(), "d")
    assert ws.dataset("d").scale.maximum == 5


def labels_of(ws, labels, **policies):
    """The labels of a table with one row a label."""
    rows = "".join(f'a,q{i},r,j,"{label}"\n' for i, label in enumerate(labels))
    ws.ingest((HEADER + rows).encode(), "d", policies=Policies(**policies))
    found = ws.dataset("d").labels().sort_values("query")["label"]
    return [None if pd.isna(label) else int(label) for label in found]


@pytest.mark.parametrize(
    ("labels", "policies", "read"),
    [
        (["80.5%", "20%"], {"threshold": 50}, [1, 0]),
        (["80.5%", "20%"], {"bins": 5}, [4, 1]),
        (["4.5/5", "1/5"], {"multiply": 2}, [9, 2]),
        (["4.5/5", "1/5"], {"bins": 5}, [4, 1]),
        (["4.5/5", "1/5"], {"fractions": "down"}, [4, 1]),
        (["80%", "20%"], {"answers": {"80%": 4, "20%": 1}}, [4, 1]),
        (["★★★★☆", "n/a"], {}, [4, None]),
    ],
)
def test_what_is_written_as_an_amount_is_a_number_to_every_policy(ws, labels, policies, read):
    assert labels_of(ws, labels, **policies) == read


def test_parts_between_two_levels_are_refused_as_numbers_are(ws):
    with pytest.raises(IngestError, match=r"steps of 0.5.*multiply=2"):
        labels_of(ws, ["4.5/5", "1/5"])
    with pytest.raises(IngestError, match=r"continuous scores \(20.1 to 80.53\).*threshold=50\)"):
        labels_of(ws, ["80.53%", "20.1%"])


def test_a_scale_of_parts_grows_with_what_multiplies_them(ws):
    labels_of(ws, ["4.5/5", "1/5"], multiply=2)
    assert ws.dataset("d").scale.maximum == 10


def test_parts_keep_their_numbers_through_a_plan():
    content = (HEADER + "a,q,r,j,80.5%\nb,q,r,j,20%\n").encode()
    plan = plan_ingest(content)
    assert plan.files[0].words == {"80.5%": 80.5, "20%": 20}
    assert Plan.from_json(plan.to_json()) == plan


def test_an_unknown_word_names_the_option_that_says_what_it_means(ws):
    report = ws.ingest((HEADER + "a,q,r,j,1\nb,q,r,j,0\nc,q,r,j,blue\n").encode(), "d")
    assert report.rejects["reason"].tolist() == [
        "blue is not a number: say what it stands for (--answer WORD=LABEL)"
    ]


@pytest.mark.parametrize("labels", [["A", "B", "C"], ["A", "B"], ["B", "C", "B"]])
def test_what_a_b_and_c_alone_stand_for_is_asked(ws, labels):
    """In SimpleQA B is incorrect and C not attempted; both had been grades, of which B counted as met."""
    content = (HEADER + "".join(f"a,q{i},r,j,{label}\n" for i, label in enumerate(labels))).encode()
    with pytest.raises(IngestError, match=r"not a number: say what it stands for \(--answer WORD=LABEL\)"):
        ws.ingest(content, "d")
    assert labels_of(ws, labels, answers={"A": 1, "B": 0, "C": None}) == [
        {"A": 1, "B": 0, "C": None}[label] for label in labels
    ]


CHOICES = ["A", "B", "C", "A{}B", "B{}C", "A{}B{}C"]


@pytest.mark.parametrize("between", [", ", ",", "|", "; ", " / ", " + "])
def test_several_choices_in_a_cell_are_refused_until_each_text_has_its_label(ws, between):
    labels = [choice.replace("{}", between) for choice in CHOICES]
    with pytest.raises(
        IngestError, match=f"3 of 6 labels .* several choices, such as {re.escape(repr(labels[3]))}"
    ):
        labels_of(ws, labels)
    assert labels_of(ws, labels, answers={c: level for level, c in enumerate(labels)}) == list(range(6))


def test_few_cells_with_several_choices_are_rejected_alone(ws):
    rows = "".join(
        f'a,q{i},r,j,"{label}"\n' for i, label in enumerate(["1", "2", "3"] * 9 + ["1, 3", "red, blue"])
    )
    report = ws.ingest((HEADER + rows).encode(), "d")
    assert report.rejects["reason"].tolist() == [
        "1, 3 holds several choices: say which label it stands for (--answer TEXT=LABEL)",
        "red, blue is not a number: say what it stands for (--answer WORD=LABEL)",
    ]


def test_a_criterion_of_several_choices_is_left_out_whole_and_the_others_are_read(ws):
    rows = [f"a,q{i},q{i}#clear,j,{i % 3}\n" for i in range(12)]
    rows += [f'a,q{i},q{i}#faults,j,"{("1", "2", "1; 2")[i % 3]}"\n' for i in range(12)]
    report = ws.ingest((HEADER + "".join(rows)).encode(), "d")
    assert (report.accepted, report.rejected) == (12, 12)
    assert set(report.rejects["reason"]) == {
        f"{cell} is of a criterion whose cells hold several choices: make each choice a rubric"
        for cell in ("1", "2", "1; 2")
    }
    assert ws.dataset("d").criteria["criterion"].tolist() == ["clear"]


@pytest.mark.parametrize(
    "numbers", [["1/2", "1/3", "2/3"], ["1.000,5", "1.000,25", "2.000,5"], ["1,2", "1,3", "2,3"]]
)
def test_numbers_that_are_written_otherwise_are_no_choices(ws, numbers):
    with pytest.raises(IngestError) as told:
        labels_of(ws, numbers)
    assert "choices" not in str(told.value)


def test_texts_of_several_choices_that_a_plan_understands_are_labels(ws):
    rows = "".join(f'a,q{i},r,j,"{text}"\n' for i, text in enumerate(["x", "y", "x, y"]))
    plan = plan_ingest((HEADER + rows).encode())
    file = replace(plan.files[0], words={"x": 0, "y": 1, "x, y": 2})
    ws.ingest_plan(replace(plan, files=(file,)), "d", (HEADER + rows).encode())
    assert ws.dataset("d").labels().sort_values("query")["label"].tolist() == [0, 1, 2]


@pytest.mark.parametrize("unknown", ["N/A", "n / a", "A/N"])
def test_levels_with_the_letters_of_na_are_no_choices_of_it(ws, unknown):
    labels = ["A", "B", "N", unknown]
    if unknown == "A/N":
        with pytest.raises(IngestError, match="hold several choices, such as 'A/N'"):
            labels_of(ws, labels, answers={"A": 2, "B": 1, "N": 0})
    else:
        assert labels_of(ws, labels, answers={"A": 2, "B": 1, "N": 0}) == [2, 1, 0, None]


@pytest.mark.parametrize("answers", [{"great": 3, "yes": 2, "no": 0}, {"great": 3, "fair": 1, "no": 0}])
def test_a_verdict_that_the_user_gives_a_level_has_it_beside_others(ws, answers):
    assert labels_of(ws, list(answers), answers=answers) == list(answers.values())


def test_what_the_user_says_of_a_word_is_told(ws):
    content = (HEADER + "a,q,r,j,good\nb,q,r,j,bad\n").encode()
    report = ws.ingest(content, "d", policies=Policies(answers={"good": 1, "bad": 0}))
    assert any("Words were read as labels: bad = 0, good = 1." in note for note in report.notes)


@pytest.mark.parametrize("name", ["x.csv", "x.json"])
def test_lists_of_choices_in_cells_are_refused(ws, name):
    rows = [
        {"system": s, "query": f"q{q}", "rubric": "r", "judge": "j", "label": ["A", "B"][: 1 + q % 2]}
        for s in ("a", "b", "c")
        for q in range(4)
    ]
    content = json.dumps(rows)
    if name == "x.csv":
        content = pd.DataFrame([{**r, "label": json.dumps(r["label"])} for r in rows]).to_csv(index=False)
    with pytest.raises(IngestError, match=r"6 of 12 labels of x.* hold several choices"):
        ws.ingest(content.encode(), "d", name=name)


@pytest.mark.parametrize(
    ("policies", "labels"),
    [(Policies(threshold=0.5), [1, 0, 0]), (Policies(bins=5), [4, 0, 2])],
)
def test_continuous_scores_are_refused_with_the_choices_that_fit(ws, policies, labels):
    content = (HEADER + "a,q,r,j,0.831\nb,q,r,j,0.117\nc,q,r,j,0.473\n").encode()
    with pytest.raises(IngestError, match=r"continuous scores .* threshold=0.5.* bins=5"):
        ws.ingest(content, "d")
    ws.ingest(content, "d", policies=policies)
    assert ws.dataset("d").labels()["label"].tolist() == labels


def test_bins_of_means_on_a_scale_from_1_divide_the_scale_that_is_given(ws):
    """Means from 1.2 to 4.6 had been taken for parts of 10: all in the lower half, none above level 2 of 4."""
    content = (HEADER + "a,q,r,j,1.2\nb,q,r,j,4.6\nc,q,r,j,3.3\nd,q,r,j,5\n").encode()
    with pytest.raises(IngestError, match=r"go from 1.2 to 5, and may be means .*--scale '\*=1\.\.5'"):
        ws.ingest(content, "d", policies=Policies(bins=5))
    ws.ingest(content, "d", policies=Policies(bins=5, scales={"*": (1, 5)}))
    assert ws.dataset("d").labels()["label"].tolist() == [0, 4, 2, 4]
    assert (ws.dataset("d").scale.minimum, ws.dataset("d").scale.maximum) == (0, 4)
    with pytest.raises(IngestError, match="beyond the 1 to 4 that are given"):
        ws.ingest(content, "e", policies=Policies(bins=5, scales={"*": (1, 4)}))


def test_decimal_commas_are_numbers_and_thousands_are_not_guessed(ws):
    content = b"system;rubric;label\na;r;0,5\nb;r;1,0\n"
    ws.ingest(content, "d", policies=Policies(multiply=2))
    assert ws.dataset("d").labels()["label"].tolist() == [1, 2]


ROWS = [
    f"s{i % 5},q{i % 3},q{i % 3}#c{i % 7},j{i // 105},{label}\n"
    for i, label in enumerate(["yes", "no", "1", "0"] * 52)
]
ROWS += [f"s{i % 5},q{i % 3},q{i % 3}#c{i % 7},rare,{'cannot assess' if i else 'yes'}\n" for i in range(105)]


def packed(kind: str, text: str) -> tuple[str, bytes]:
    content = text.encode("utf-16" if kind == "utf16" else "utf-8")
    packers = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zstandard.compress}
    return (f"x.csv.{kind}", packers[kind](content)) if kind in packers else ("x.csv", content)


def tarred(parts: list[str]) -> tuple[str, bytes]:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for i, part in enumerate(parts):
            entry = tarfile.TarInfo(f"folder/part{i}.csv")
            entry.size = len(part.encode())
            archive.addfile(entry, io.BytesIO(part.encode()))
    return "x.tar.gz", out.getvalue()


@pytest.fixture(scope="module")
def plainly():
    with Workspace() as ws:
        return ws.ingest((HEADER + "".join(ROWS)).encode(), "d", name="x.csv").fingerprint


@given(
    rows=st.permutations(range(len(ROWS))),
    cut=st.integers(1, len(ROWS) - 1),
    kind=st.sampled_from(["plain", "gz", "bz2", "xz", "zst", "utf16", "tar"]),
)
@settings(max_examples=8, deadline=None)
def test_order_split_compression_and_encoding_change_nothing(plainly, rows, cut, kind):
    """With words beyond any sample of the first rows: ``cannot assess`` is one of 313."""
    shuffled = [ROWS[i] for i in rows]
    with Workspace() as ws:
        if kind == "tar":
            parts = [HEADER + "".join(part) for part in (shuffled[:cut], shuffled[cut:])]
            name, content = tarred(parts)
        else:
            name, content = packed(kind, HEADER + "".join(shuffled))
        assert ws.ingest(content, "d", name=name).fingerprint == plainly


def test_windows_1252_is_read_and_told(ws):
    report = ws.ingest((HEADER + "é,q,r,j,0\nb,q,r,j,1\n").encode("cp1252"), "d", name="x.csv")
    assert ws.dataset("d").systems == ("b", "é")
    assert any("Windows-1252" in note for note in report.notes)


@pytest.mark.parametrize(
    ("compress", "size"),
    [(gzip.compress, 50_000_000), (zstandard.compress, 500_000_000)],
    ids=["gzip", "zstd"],
)
def test_a_bomb_is_refused(ws, compress, size):
    with pytest.raises(IngestError, match="unpacks to far more than it should"):
        ws.ingest(compress(b"x" * size), "d", name="x.gz")


@pytest.mark.parametrize(
    "damaged",
    [gzip.compress(b"abc" * 999, mtime=0)[:-20], zstandard.compress(b"abc" * 999)[:-9], b"BZh9" + b"?" * 80],
    ids=["gzip", "zstd", "bzip2"],
)
def test_a_damaged_file_is_one_sentence(ws, damaged):
    with pytest.raises(IngestError, match="cannot be unpacked"):
        ws.ingest(damaged, "d", name="x")


def test_a_word_among_numbers_of_one_criterion_is_not_guessed(ws):
    rows = [
        f"{m},q,{r},j,{v}"
        for m, r, v in [("a", "r", "5"), ("b", "r", "1"), ("c", "r", "good"), ("a", "s", "4")]
    ]
    report = ws.ingest((HEADER + "\n".join(rows) + "\n").encode(), "d")
    assert report.rejects["value"].tolist() == ["good"]


def test_words_of_one_criterion_are_read_beside_the_numbers_of_another(ws):
    pairs = [("r", "5"), ("r", "1"), ("s", "good"), ("s", "poor")]
    ws.ingest((HEADER + "".join(f"m{i},q,{r},j,{v}\n" for i, (r, v) in enumerate(pairs))).encode(), "d")
    assert ws.dataset("d").labels()["label"].tolist() == [5, 1, 3, 1]


def by_criterion(*criteria):
    """A table with one row a label: the labels of c0, c1, … ."""
    rows = [f"m{i},q,c{k},j,{v}" for k, own in enumerate(criteria) for i, v in enumerate(own)]
    return (HEADER + "\n".join(rows) + "\n").encode()


def side_by_side(*criteria):
    """The same with a column for each criterion."""
    head = "system,query," + ",".join(f"c{k}" for k in range(len(criteria)))
    longest = max(map(len, criteria))
    rows = [f"m{i},q," + ",".join(own[i] if i < len(own) else "" for own in criteria) for i in range(longest)]
    return "\n".join([head, *rows, ""]).encode()


@pytest.mark.parametrize("written", [by_criterion, side_by_side])
@pytest.mark.parametrize(
    ("one", "other", "levels"),
    [
        ("pass fail pass", "full partial missing", [[2, 0, 2], [2, 1, 0]]),
        ("yes no yes", "full partial none", [[2, 0, 2], [2, 1, 0]]),
        ("yes no yes", "fair poor good", [[1, 0, 1], [2, 1, 3]]),
        ("4/5 1/5 4/5", "8/10 1/10 3/10", [[4, 1, 4], [8, 1, 3]]),
        ("yes no yes", "1/5 4/5 2/5", [[1, 0, 1], [1, 4, 2]]),
        ("1 2 5", "fair poor good", [[1, 2, 5], [2, 1, 3]]),
    ],
)
def test_words_that_only_their_criterion_tells_are_read(ws, written, one, other, levels):
    report = ws.ingest(written(one.split(), other.split()), "d")
    assert report.rejected == 0
    found = ws.dataset("d").labels().sort_values(["rubric", "system"])["label"].tolist()
    assert found == [level for own in levels for level in own]


def test_each_criterion_has_the_scale_that_its_labels_name(ws):
    ws.ingest(by_criterion(["4/5", "1/5"], ["8/10", "1/10"], ["yes", "no"]), "d")
    found = ws.dataset("d").rubrics
    assert dict(zip(found["rubric"].str[-2:], found["scale_max"], strict=True)) == {
        "c0": 5,
        "c1": 10,
        "c2": 1,
    }
    assert not any("misspelt" in finding.sentence for finding in ws.dataset("d").checks())


def test_what_a_plan_understood_of_first_rows_is_read_anew_with_later_ones(ws):
    content = by_criterion(["yes", "no"], [*["poor", "good", "fair"] * 70, "excellent"])
    assert plan_ingest(content).files[0].words == {"yes": 1, "no": 0, "poor": 1, "fair": 2, "good": 3}
    ws.ingest(content, "d")
    labels = ws.dataset("d").labels()
    assert set(labels.loc[labels["rubric"].str.endswith("c1"), "label"]) == {0, 1, 2, 3}


@pytest.mark.parametrize(
    ("one", "other", "unread"),
    [
        ("good poor", "fair good excellent odd", {"fair", "good", "excellent", "odd"}),
        ("good poor", "5 1 good", {"good", "poor"}),
    ],
)
def test_a_word_that_two_criteria_may_mean_otherwise_is_not_guessed(ws, one, other, unread):
    report = ws.ingest(by_criterion(one.split(), other.split(), ["yes", "no"]), "d")
    assert set(report.rejects["value"]) >= unread


def test_only_the_ends_of_a_scale_may_have_names(ws):
    values = ["1: never", "2", "3", "5: always"]
    ws.ingest((HEADER + "".join(f"m{i},q,r,j,{v}\n" for i, v in enumerate(values))).encode(), "d")
    assert ws.dataset("d").labels()["label"].tolist() == [1, 2, 3, 5]


def test_a_minus_beside_a_plus_is_no_missing_value():
    assert levels_of(["+", "-"]) == {}
    assert levels_of(["++", "+", "-", "--", "n/a"]) == {"n/a": None}


def test_the_threshold_of_an_example_lies_among_the_scores(ws):
    with pytest.raises(IngestError, match=r"continuous scores \(1 to 4.784\).*threshold=2.89\)"):
        labels_of(ws, [f"{1 + n / 3.7}" for n in range(15)])
