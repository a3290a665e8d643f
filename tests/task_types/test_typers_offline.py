"""The offline typer: what its cues come to, and how well it does on queries it was not built from."""

from __future__ import annotations

import math
import threading
import tomllib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crubric_core.demo.texts import cases
from crubric_core.errors import DatasetError, SettingsError
from crubric_core.task_types.__main__ import main
from crubric_core.task_types.classifier import Watch
from crubric_core.task_types.domain import is_request
from crubric_core.task_types.evaluation import UNDECIDED, evaluate_classifier, held_out_queries
from crubric_core.task_types.offline import HEAD, TAIL, WEIGHTS, LexiconClassifier, offline_classifier
from crubric_core.task_types.types import CREATIVE, DECISION, EVIDENCE, HIGH_RISK, TASK_TYPES

ROOT = Path(__file__).resolve().parents[2]
DEVELOPMENT = tomllib.loads(Path(__file__).with_name("development_queries.toml").read_text("utf-8"))
SMALL = LexiconClassifier({CREATIVE: {"strong": ["poems?"], "weak": ["write"]}, DECISION: {"fair": ["or"]}})


def test_probabilities_are_the_softmax_of_the_cues_weights():
    (row,) = SMALL.probabilities(["Write a poem or two poems"])
    scores = np.array([0, WEIGHTS["fair"], 0, WEIGHTS["strong"] + WEIGHTS["weak"]])
    np.testing.assert_allclose(row, np.exp(scores) / np.exp(scores).sum(), atol=1e-15)


def test_a_cue_is_a_whole_word_in_any_case():
    assert [cue.words for cue in SMALL.explain("POEM")] == ["POEM"]
    assert SMALL.explain("poemlike storage for authors") == ()


def test_the_explanation_names_the_cues_strongest_first():
    cues = SMALL.explain("Write a poem or not")
    assert [(c.task_type, c.strength, c.words) for c in cues] == [
        (CREATIVE, "strong", "poem"),
        (DECISION, "fair", "or"),
        (CREATIVE, "weak", "Write"),
    ]


def test_one_weak_cue_is_not_enough_for_a_decision_and_one_fair_cue_is():
    weak, fair = (math.exp(WEIGHTS[s]) / (math.exp(WEIGHTS[s]) + 3) for s in ("weak", "fair"))
    assert weak < 0.5 < fair


def test_a_text_without_cues_is_any_type_and_a_blank_one_is_unknown():
    found = SMALL.probabilities(["zzz", "", None, "  "])
    np.testing.assert_array_equal(found[0], [0.25] * 4)
    assert np.isnan(found[1:]).all()


@given(st.lists(st.text(max_size=60), max_size=5))
def test_any_text_gives_probabilities_or_nothing(texts):
    found = offline_classifier().probabilities(texts)
    assert found.shape == (len(texts), 4)
    for text, row in zip(texts, found, strict=True):
        if text.strip():
            assert row.sum() == pytest.approx(1)
            assert (row >= 0).all()
        else:
            assert np.isnan(row).all()


def test_only_the_ends_of_a_long_text_are_read():
    middle = "x " * HEAD + "poem" + " x" * TAIL
    assert SMALL.explain(middle) == ()
    assert SMALL.explain("poem " + middle) != ()
    assert SMALL.explain(middle + " poem") != ()


def test_it_can_be_cancelled_and_tells_how_far_it_is():
    cancel, told = threading.Event(), []

    def progress(share, what):
        told.append((share, what))
        cancel.set()

    found = SMALL.probabilities(["poem"] * 250, Watch(progress, cancel))
    assert told == [(0.4, "Classified 100 of 250 queries")]
    assert np.isnan(found[100:]).all()
    assert not np.isnan(found[:100]).any()


@pytest.mark.parametrize("lexicon", [{"creative": {"strong": []}}, {CREATIVE: {"loud": ["x"]}}])
def test_a_lexicon_with_a_strange_name_is_refused(lexicon):
    with pytest.raises(SettingsError, match="lexicon names"):
        LexiconClassifier(lexicon)


def test_every_entry_of_the_lexicon_is_an_expression_and_stands_once():
    for strengths in offline_classifier().lexicon.values():
        entries = [entry for patterns in strengths.values() for entry in patterns]
        assert len(entries) == len(set(entries))
    offline_classifier().explain("compiles every entry")


def test_the_development_queries_are_not_the_ones_it_is_measured_on():
    measured = {text.casefold() for text in held_out_queries()[0]}
    assert len(measured) == 80
    assert not measured & {text.casefold() for texts in DEVELOPMENT.values() for text in texts}


def test_it_does_on_queries_it_was_not_built_from_what_the_documentation_says(capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["task_types"])
    main()
    said = capsys.readouterr().out.strip()
    assert said in (ROOT / "docs" / "task-typing.md").read_text("utf-8")
    texts, types = held_out_queries()
    found = evaluate_classifier(offline_classifier().probabilities(texts), types)
    assert f"{found.accuracy:.1%} right" in said
    assert found.accuracy > 2 * max(types.count(name) for name in TASK_TYPES) / len(types), (
        "twice the best guess"
    )


def test_it_can_be_measured_on_other_queries(capsys, monkeypatch, tmp_path):
    own = tmp_path / "own.csv"
    own.write_text("text,task_type\nWrite a poem,creative\nWrite a story,creative_divergent\n,decision\n")
    monkeypatch.setattr("sys.argv", ["task_types", "--queries", str(own)])
    main()
    assert "2 queries: 100.0% right" in capsys.readouterr().out
    own.write_text("a,b\n1,2\n")
    with pytest.raises(SystemExit, match="2"):
        main()
    assert "no row with both a text and a task_type" in capsys.readouterr().err


def test_it_reads_the_queries_it_was_built_with():
    texts = [text for name in TASK_TYPES for text in DEVELOPMENT[name]]
    types = [name for name in TASK_TYPES for _ in DEVELOPMENT[name]]
    assert evaluate_classifier(offline_classifier().probabilities(texts), types).accuracy >= 0.95


def test_the_confusion_matrix_counts_true_types_in_rows_and_the_undecided_last():
    shares = [[0.7, 0.1, 0.1, 0.1], [0.6, 0.2, 0.1, 0.1], [0.4, 0.3, 0.2, 0.1], [np.nan] * 4]
    found = evaluate_classifier(np.array(shares), ["evidence", DECISION, EVIDENCE, HIGH_RISK])
    assert found.table().loc[EVIDENCE, EVIDENCE] == 1
    assert found.table().loc[DECISION, EVIDENCE] == 1
    assert found.table().loc[EVIDENCE, UNDECIDED] == 1
    assert found.confusion.sum() == 3
    assert found.accuracy == pytest.approx(2 / 3)
    assert found.coverage == pytest.approx(2 / 3)
    assert found.accuracy_decided == pytest.approx(1 / 2)
    assert found.log_loss == pytest.approx(-np.log([0.7, 0.2, 0.4]).mean())


def test_no_queries_have_no_accuracy_and_a_strange_type_is_refused():
    assert math.isnan(evaluate_classifier(np.empty((0, 4)), []).accuracy)
    with pytest.raises(DatasetError, match="not a task type"):
        evaluate_classifier(np.full((1, 4), 0.25), ["sport"])


NEWS = (
    "The city council voted on Tuesday to approve a new budget that will increase funding for public transport by 12 "
    "per cent over two years. According to the report, the decision followed months of debate about the causes of "
    "congestion. The mayor said that the data supported the plan and that studies had shown a clear trend. “What does "
    "the evidence say? It says that people use buses when there are buses,” he told reporters. Officials declined to "
    "estimate how many residents would benefit, but an analysis published last month put the number at 40,000."
)
TALK = "| Dave: Why is it so slow? | Sam: What does the data show? | Dave: A root cause, I hope | Sam: Let's analyse it"


@pytest.mark.parametrize("text", [NEWS, TALK])
def test_a_text_that_asks_for_nothing_is_outside_the_domain_whatever_its_words(text):
    assert len(offline_classifier().explain(text)) > 2
    assert not is_request(text)
    assert np.isnan(offline_classifier().probabilities([text])).all()


@pytest.mark.parametrize(
    "asked", ["Summarise this article: ", "Does this hold up? ", "I need the gist of it. "]
)
def test_the_same_text_under_a_request_is_inside(asked):
    assert is_request(asked + NEWS)


def test_every_query_of_the_studies_that_come_with_the_program_is_a_request():
    texts = [text for texts in DEVELOPMENT.values() for text in texts]
    texts += held_out_queries()[0] + [case.text for case in cases()]
    assert [text for text in texts if not is_request(text)] == []
    assert len(texts) >= 284
