"""Recognise columns by their names: raters, measurements, settings, dates, and columns that never hold labels."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..word_lists import word_list, word_set
from .specs import plain_name, synonyms_of
from .synonyms import SYNONYMS

_NEVER_LABELS = word_set(
    "id index row n count total mean sd std time seconds timestamp date created_at tokens cost latency "
    "duration seed temperature top_p top_k min_p shots n_shots num_shots retries truncated difficulty "
    "epoch version weight points max_points min_points max_score min_score turn position rank year age "
    "level split fold batch group round phase step cached error synthetic start end begin offset "
    "answer_start logprobs embedding expected predicted prediction selected chosen if_chosen is_chosen "
    "deleted streamed choices options gold_index input_tokens output_tokens choice answer_key target "
    "model_answer predicted_label predicted_answer expected_answer reference_answer correct_answer "
    "gold_answer week day month hour minute minutes shard steps hops no nr # № s_no sno sr_no serial seq "
    "case record order block slot page iteration sample age_group params params_b parameters num_params "
    "n_params tool_calls api_calls llm_calls model_calls turns wall_s wall_time_s views clicks likes "
    "upvotes downvotes credits"
)
PREDICTED = frozenset(
    ("prediction", "predicted", "pred", "predicted_label")
)  # names of a predicted answer of a task
ENDINGS = word_list("score scores label labels rating grade verdict judgment judgement vote present feedback")
# Columns of exports of Qualtrics and LimeSurvey that describe the response and hold no answers.
NOTED = frozenset(
    (
        *("StartDate", "EndDate", "Status", "IPAddress", "Progress", "Duration (in seconds)", "Finished"),
        *("RecordedDate", "RecipientLastName", "RecipientFirstName", "RecipientEmail", "ExternalReference"),
        *("LocationLatitude", "LocationLongitude", "DistributionChannel", "UserLanguage"),
        *("Date submitted", "Last page", "Start language", "Seed", "Date started", "Date last action"),
        *("IP address", "Referrer URL", "submitdate", "lastpage", "startlanguage", "startdate", "datestamp"),
    )
)


_WHO = word_list(  # worker, respondent and participant: MTurk, SurveyMonkey, Prolific
    "rater annotator evaluator judge grader reviewer labeler labeller assessor coder scorer marker examiner "
    "moderator panelist crowdworker worker respondent participant"
)
_HIDDEN = word_list("_anon _id_anon _id_anonymized _id_anonymised _hash _id_hash _code")  # worker_id_anon
_BY = word_list("rated annotated evaluated judged graded reviewed labeled labelled scored assessed")
# names of the judge's column besides the synonyms of judge; best first
RATERS = (
    *(f"{who}{end}" for end in ("", "_id", "_name", "_email", "_type", *_HIDDEN) for who in _WHO),
    *(f"{by}_by" for by in _BY),
    *word_list("grading_model scoring_model judging_model judge_llm grader_llm"),
    *word_list("email_address email your_email your_name your_id your_initials"),  # of forms
)
# names of the judge's column that may also be the name of a column of that judge's labels
RATERS_OR_LABELS = word_list(
    "llm_judge llm_grader ai_judge autorater auto_rater expert expert_id critic referee verifier physician "
    "physician_id clinician clinician_id doctor"
)

# last words, before a unit, of names of measurements and counts: lead_time, latency_ms
_MEASURED = word_set(
    "idx index hash time timestamp duration latency seconds cost total subtotal average avg mean median "
    "variance stdev sum count min minimum std stddev possible max maximum ø mittel mittelwert "
    "durchschnitt moyenne promedio"
)
_NOTED_LAST = word_set(  # last words of names of settings, versions, places and kinds
    "seed version temperature shot shots epoch year set fold split rank category class type threshold "
    "system model penalty mode enabled effort budget offset ids logprobs embedding weight weights"
)
_COUNTED = frozenset(["len", "chars", "bytes", "n"])  # last words of such names, after another word
# last words of such names only after a word of _SIZED: "Nuanced Characters" is a criterion
_SIZES = frozenset(["length", "words", "characters", "size", "tokens"])
_SIZED = (
    "response answer output reply completion generation text prompt input question query context document doc article "
    "summary source essay story message token length word char character byte file batch sample group sequence seq max "
    "min total avg average mean window model chunk sentence reference conversation"
)
_ORDERED = (  # first words of names of positions in an order
    "presentation display trial item sort page block rating question serial random randomized task survey screen order "
    "shown system model"
)
_PLACES = frozenset(["order", "position", "no", "number", "index"])  # last words of such names
_COUNTING = frozenset(
    ["num", "n", "nb", "number", "total", "count", "len"]
)  # first words of such names: num_correct
_SPENT = (["time", "spent"], ["time", "taken"])
_TIMES = frozenset(["minutes", "seconds", "secs", "hours", "ms"])  # units that end only names of durations
_UNITS = frozenset(["ms", "s", "sec", "secs", "seconds", "minutes", "usd", "in"])


def is_measured(column: str) -> bool:
    """Whether a column's name is of a count, time or total: ``lead_time``, ``# agree``, ``average score``."""
    parts = re.findall(r"[^\W_]+", plain_name(column))
    if re.match(r"\s*#\s+[^\W\d_]", column):  # "# agree"
        return True
    bare = [w for i, w in enumerate(parts) if i == 0 or w not in _UNITS]
    while len(bare) > 1 and bare[-1] in ENDINGS:
        bare = bare[:-1]
    if len(parts) > 1 and parts[-1] in _TIMES:
        return True
    if len(bare) < 2:
        return bool(bare) and bare[0] in _MEASURED | {"tokens"}
    sized = bare[-1] in _COUNTED or (bare[-1] in _SIZES and bare[-2] in _SIZED.split())
    placed = bare[0] in ("idx", "index", "duration") or (bare[0] in _ORDERED.split() and bare[-1] in _PLACES)
    rate = bare[0] in _MEASURED and "per" in bare  # cost per task
    return bare[-1] in _MEASURED or bare in _SPENT or rate or sized or placed or bare[0] in _COUNTING


_SETTING = re.compile(r"(.*_)?(temperature|temp|seed|top_p|top_k|effort|budget|penalty)")


def is_setting(column: str) -> bool:
    """Whether a column's name is of a setting of the system, whose numbers may look like scores: ``temperature``."""
    return bool(_SETTING.fullmatch(plain_name(column)))


CERTAINTIES = frozenset(("confidence", "certainty", "uncertainty"))  # a judge's certainty of a label
SPENT = word_set(  # time, tokens or money that an answer took
    "latency latency_s latency_ms duration duration_s duration_ms elapsed elapsed_time response_time "
    "time_taken tokens token_count num_tokens total_tokens input_tokens output_tokens prompt_tokens "
    "completion_tokens cost_usd total_cost"
)
_CERTAINTY = CERTAINTIES | {"sureness", "probability", "logprob", "perplexity", "entropy"}


def is_certainty(column: str) -> bool:
    """Whether a column's name is of a label's certainty: ``confidence``, ``judge_confidence``, ``certainty_score``."""
    parts = plain_name(column).strip("_").split("_")
    bare = parts[:-1] if len(parts) > 1 and parts[-1] in ENDINGS else parts
    return bare[-1] in _CERTAINTY


_DERIVED = re.compile(
    r"final|mode|agree(ment|d)?|disagreement|flag(ged)?|confidence_\w+|(is_)?(reviewed|discussed|disputed|escalated|edited)"
    r"|(\w+_)?(review|attention|exclusion|outlier|qc)_flag|\w+_(percentile|quantile|bin|diff|delta|conf)|delta|diff(erence)?|kappa(_\w+)?"
    r"|(score|rating|label|grade|judge|rater|annotator)s?_(range|spread|gap|variance|var|sd|iqr|cv)"
    r"|(\w+_)?pass(@|\^|_at_)(k|1\d+|[2-9]\d*)"
    r"|(\w+_)?(parse|parsing)_(errors?|failed|failures?|ok|mode)|(\w+_)?parsed_(cleanly|ok)|needs_review"
    r"|composite|aggregated?|weighted(_(total|sum|average|mean))?|gesamtpunktzahl|gesamtpunkte|note_totale|punteggio_totale"
    r"|puntuación_total|pontuação_total|总分|總分|合計|合计|总计|총점|итого"
)


def is_derived(column: str) -> bool:
    """Whether a column's name shows that it sums up or qualifies labels: ``final_score``, ``agreement``."""
    name = plain_name(column).strip("_?")
    bare, _, last = name.rpartition("_")
    return bool(_DERIVED.fullmatch(bare if bare and last in ENDINGS else name))


_DATED = re.compile(r"(^|_)(date|time|created|modified|updated|submitted|completed)(_(at|on|time|date|by))?$")


def is_date(column: str) -> bool:
    """Whether a column's name is of a time or person of a change: ``Created``, ``updated_at``, ``modified_by``."""
    return bool(_DATED.search(plain_name(column)))


_NAMELESS_COLUMN = re.compile(r"unnamed(_column|:)_\d+")  # the name that a column without one is given
_OF_ID = re.compile(
    r"_id(_(anon\w*|hash|code|num|number|raw))?$|^id_?(stud|pers|pupil|subj|rater|school|class|item|case|num)[a-z]*$"
)
_ANSWER = re.compile(  # an answer, which may be a number, or the right one
    r"(final|model|agent|system|predicted|true|gold|correct|right|reference|expected|ideal|standard|target)_answer"
)
_FIRST_NAMELESS = "column 1"


def is_index(column: str, columns: Sequence[str]) -> bool:
    """Whether a column is the first and the only one without a name, as the index that data frames write."""
    return column == columns[0] == _FIRST_NAMELESS and not any(c.startswith("column ") for c in columns[1:])


def may_hold_labels(column: str) -> bool:
    """Whether a column's name allows labels: it is not of a key, id, count, time, weight or description.

    A name that begins with an underscore is internal to a tool (``_tainted``, ``_golden``), so it is never of labels.
    """
    name = plain_name(column)
    if name.startswith("_") or name in RATERS or _NAMELESS_COLUMN.fullmatch(name):
        return False
    if is_measured(column) or is_certainty(column):
        return False
    described = {s for names in SYNONYMS.values() for s in names} - set(SYNONYMS["label"])
    described |= set(synonyms_of("answers", "text"))
    other = (
        name.strip("_") in _NEVER_LABELS
        or name.rpartition("_")[2] in _NOTED_LAST
        or name.endswith("ed_at")  # started_at
        or bool(_OF_ID.search(name) or _ANSWER.fullmatch(name))
    )
    return bool(name) and not other and name not in described


def called_after_criteria(wide: Sequence[str]) -> bool:
    """Whether at least half of the columns are named like criteria: ``clarity``, ``tone_score``, ``Is it clear?``."""
    criteria = sum(bool(_CRITERION.search(plain_name(_SCALE.sub("", c))) or _ASKED.match(c)) for c in wide)
    return 2 * criteria >= len(wide) > 0


_SCALE = re.compile(r"\s*[(\[]\s*\d+\s*(?:[-–]|to|\.\.)\s*\d+\s*[)\]]\s*$")  # "Safety Score (1-5)"
_ASKED = re.compile(  # a question on an answer, to which a judge replies yes or no, or a degree
    r"(?i)\W*(?:q(?:uestion)?\W*\d+\W+)?(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should"
    r"|how(?! (?:many|much))|to what extent)"
    r"\s[^?]+\?"
)
_CRITERION = re.compile(
    r"(ity|ness|ency|ance|ence|acy|tion|sion|ment|ism|ability|style|tone|quality|depth|length|format|grammar|logic"
    r"|safety|honesty|empathy|novelty|safe|helpful|harmful|correct|relevant|coherent|fluent|accurate|complete|concise|faithful|overall)(_score|_rating)?$"
)
