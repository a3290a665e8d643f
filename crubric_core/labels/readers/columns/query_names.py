"""Recognise by their names columns of queries, ids of answers, written answers and feedback."""

from __future__ import annotations

import re

from ..word_lists import word_list, word_set
from .specs import plain_name

# names of the query's column if none is called query, question, prompt or task; best first
NAMES_OF_QUERIES = word_list(
    "query_uid prompt_uid query_hash prompt_hash question_hash input_hash instance_id sample_id example_id "
    "query_idx query_index question_idx question_index prompt_idx prompt_index task_idx task_index "
    "problem_idx problem_index example_idx example_index eval_case_index "
    "doc_id document_id dialogue_id dialog_id conversation_id case_id test_case_id test_id request_id "
    "problem_id paper_id datasource_item_id dataset_item_id reference_example_id segment_id seg_id segment "
    "seg session_id trace_id article_id input_id essay_id text_id post_id passage_id story_id call_id qid "
    "case_name uid span_id instruction user_input input inputs request orig_instruction document context "
    "example doc dialogue dialog conversation article test_case testcase scenario scenario_id testcase_id "
    "utterance_id datapoint_id thread_id chat_id ticket_id source_sentence source_text source_segment "
    "src_text src_id original_id original_sentence_id gem_id sent_id sentence_id pair_id "
    "instance utterance datapoint thread chat ticket passage item_id item topic_id topic "
    "doc_no docno scenario_name example_name document_name problem_name topic_name vignette vignette_id task "
    "task_name problem exercise assignment case test id uuid hash index idx"
)
# those of them that may also be the id of a request, a run or a row
IDS_OF_ANSWERS = word_set(
    "sample_id conversation_id test_id request_id session_id trace_id span_id input_id essay_id text_id "
    "uid id uuid hash index idx"
)

# names of columns that count the turns of a conversation
TURNS = ("turn", "turn_id", "turn_index", "turn_idx")

# last words of names of texts that judges write, and of texts that systems write
_FEEDBACK = frozenset(
    ("feedback", "rationale", "explanation", "reason", "critique", "comment", "review", "justification")
)
_WRITTEN = _FEEDBACK | {"response", "output", "completion", "generation", "reply", "answer"}


def is_written(column: str) -> bool:
    """Whether a column is named after an answer or a judge's text on it (``model_response``): never a query."""
    return bare_name(unbracketed(column)).rpartition("_")[2] in _WRITTEN


def is_answer(word: str) -> bool:
    """Whether the last word of a column's name means a system's answer: ``response``, ``summary``."""
    return word in _WRITTEN - _FEEDBACK or word in (
        "pred",
        "prediction",
        "generated",
        "summary",
        "translation",
    )


def is_feedback(column: str) -> bool:
    """Whether a column is named after a judge's text on an answer: ``judge_rationale``, ``comment``."""
    return bare_name(unbracketed(column)).rpartition("_")[2] in _FEEDBACK


def unbracketed(column: str) -> str:
    """A column's name without brackets at its end: ``Comment`` for ``Comment (1 sentence)``."""
    text = column.rstrip()
    at = max(text.rfind("("), text.rfind("["))
    whole = text[-1:] in (")", "]") and not {")", "]"} & {*text[at + 1 : -1]}
    return (text[:at].rstrip() if at > 0 and whole else "") or column


def bare_name(column: str) -> str:
    """A column's name as ``plain_name`` writes it, without underscores around it."""
    return plain_name(column).strip("_")


def parted_name(column: str) -> str:
    """A column's name as ``plain_name`` writes it, with one underscore in place of any signs between its words."""
    return re.sub(r"[\W_]+", "_", plain_name(column)).strip("_")
