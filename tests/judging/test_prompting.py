"""How a judge's answer is read: a verdict that was given, or a reason why there is none."""

from __future__ import annotations

import json

import pytest

from crubric_core.judging.prompting import Verdict, make_question, prompt_hash, read_verdicts
from crubric_core.placement.formats.base import Asked
from tests.judging.conftest import verdict


def rubric(low=0, high=1):
    return Asked("crb-0@1", "q", "n", "text", low, high, high, 1, None, None)


def test_met_is_the_top_of_the_rubrics_own_scale():
    assert read_verdicts(json.dumps(verdict(True)), [rubric(1, 2)]) == (Verdict(2, "because"),)
    assert read_verdicts(json.dumps(verdict(False)), [rubric(1, 2)]) == (Verdict(1, "because"),)


def test_cannot_assess_is_no_label_whatever_else_is_said():
    assert read_verdicts(json.dumps(verdict(True, unknown=True)), [rubric()])[0].label is None


@pytest.mark.parametrize("level", [1, 3, 5])
def test_a_level_is_taken_as_given(level):
    said = {"explanation": "", "cannot_assess": False, "level": level}
    assert read_verdicts(json.dumps(said), [rubric(1, 5)]) == (Verdict(level, ""),)


@pytest.mark.parametrize(
    "around",
    [
        '<think>The form is {{"met": bool}}, or {{"met": false}}.</think>\n{}',
        'Thoughts whose start was not sent, {{"met": false}}</think>{}',
        "```json\n{}\n```",
        "{}\nNote: {{met}} means that the criterion holds.",
        'First I thought {{"met": false}}, but no: {}',
        '{{"met": {{{}',
    ],
)
def test_a_verdict_is_found_whatever_stands_around_it(around):
    said = around.format(json.dumps(verdict(True)))
    assert read_verdicts(said, [rubric()]) == (Verdict(1, "because"),)


@pytest.mark.parametrize(
    "said",
    [
        '{} With a source it would be {{"explanation": "", "cannot_assess": false, "met": false}}.',
        'A met answer is written {{"met": true}}. My verdict: {{"explanation": broken, "met": false}}',
        "The format is {}</think>\nI cannot judge this.",
        "{}</think>\nI cannot judge this.",
        '{{"met": true}} {{"met": true}}',
    ],
)
def test_verdicts_that_differ_and_examples_are_no_verdict(said: str) -> None:
    with pytest.raises(ValueError, match="object"):
        read_verdicts(said.format(json.dumps(verdict(True))), [rubric()])


@pytest.mark.parametrize(
    "after", ['({"level": 1} is worst, {"level": 5} is best.)', 'Else {"cannot_assess": true}']
)
def test_an_object_without_all_fields_beside_a_verdict_is_an_example(after: str) -> None:
    said = json.dumps({"explanation": "", "cannot_assess": False, "level": 2})
    assert read_verdicts(f"{said}\n{after}", [rubric(1, 5)]) == (Verdict(2, ""),)


def test_an_answer_of_braces_alone_is_looked_at_for_a_moment_only() -> None:
    with pytest.raises(ValueError, match="not valid JSON"):
        read_verdicts("{" * 200_000, [rubric()])


@pytest.mark.parametrize("rest", ["</think>I cannot say.", "", "</thi"])
def test_thoughts_are_no_verdict(rest):
    with pytest.raises(ValueError, match="no JSON object"):
        read_verdicts(f"<think>{json.dumps(verdict(True))}{rest}", [rubric()])


def test_an_explanation_may_quote_the_mark_of_thoughts():
    said = verdict(True) | {"explanation": "It ends with </think>."}
    assert read_verdicts(json.dumps(said), [rubric()]) == (Verdict(1, "It ends with </think>."),)


def test_an_object_within_a_verdict_is_none_of_its_own():
    with pytest.raises(ValueError, match="does not say whether"):
        read_verdicts(json.dumps({"the verdict": verdict(True)}), [rubric()])


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ({"explanation": "x", "met": "yes"}, [rubric()]),
        ({"explanation": "x", "met": 1}, [rubric()]),
        ({"explanation": "x"}, [rubric()]),
        ({"explanation": "x", "cannot_assess": "no", "met": True}, [rubric()]),
        ({"level": 6}, [rubric(1, 5)]),
        ({"level": True}, [rubric(1, 5)]),
        ({"level": 2.5}, [rubric(1, 5)]),
        ({"met": True}, [rubric(1, 5)]),
        ({"c1": {"met": True}}, [rubric(), rubric()]),
        ({"c1": {"met": True}, "c2": {"met": True}, "c3": {"met": True}}, [rubric(), rubric()]),
        ({"c1": {"met": True}, "c2": True}, [rubric(), rubric()]),
    ],
)
def test_what_is_no_verdict_is_never_made_one(said, asked):
    with pytest.raises(ValueError, match=r"the answer"):
        read_verdicts(json.dumps(said), asked)


def test_the_hash_changes_with_everything_that_the_answer_depends_on():
    base = prompt_hash("m", make_question("q", "a", [rubric()]))
    others = [
        prompt_hash("n", make_question("q", "a", [rubric()])),
        prompt_hash("m", make_question("p", "a", [rubric()])),
        prompt_hash("m", make_question("q", "b", [rubric()])),
        prompt_hash("m", make_question("q", "a", [rubric(1, 5)])),
    ]
    assert len({base, *others}) == 5
    assert prompt_hash("m", make_question("q", "a", [rubric()])) == base


def test_the_schema_asks_for_a_verdict_of_each_kind():
    schema = make_question("q", "a", [rubric(), rubric(1, 3)]).schema["schema"]
    assert schema["required"] == ["c1", "c2"]
    assert schema["properties"]["c1"]["required"] == ["explanation", "cannot_assess", "met"]
    assert schema["properties"]["c2"]["properties"]["level"]["enum"] == [1, 2, 3]
