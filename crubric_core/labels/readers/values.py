"""SQL expressions that read the text of a cell: names, words for unknown, verdicts, numbers."""

from __future__ import annotations

GUARDED = r"^''+[=+\-@\t\r]"  # in SQL: apostrophes before a text that a spreadsheet would read as a formula
LARGEST = 10_000  # no rating scale goes further; a larger number is a slip or an id
_LOW, _HIGH, _LEGEND = r"(-\d{1,2}|0|1)", r"([1-9]\d{0,2})", r"[^()\[\]]*"
_BETWEEN = rf"(?:[-–—/~]|\.\.|to|bis|à|[=:]{_LEGEND}[^()\[\]\d-])"
HIGHEST_BEHIND = r"(?:/|[Oo]ut\s+[Oo]f|sur\b|von\b)"
# The lowest and the highest level behind a name: Clarity (1-5), Tone [0 = rude, 10 = kind]; Style (out of 10) has no
# lowest one.
SCALE_BEHIND = rf"[(\[]\s*(?:{_LOW}\s*{_BETWEEN}|{HIGHEST_BEHIND})\s*{_HIGH}\s*([=:]{_LEGEND})?[)\]]$"

_SPACE = "' ' || chr(9) || chr(10) || chr(13) || chr(160)"
# three digits after a comma may be thousands, except after a 0
DECIMAL_COMMA = r"[+-]?(\d{1,3},(\d{1,2}|\d{4,})|0,\d+)"
EITHER_COMMA = r"[+-]?[1-9]\d{0,2},\d{3}"
_UNKNOWN = "('', 'na', 'n/a', 'null', 'none', 'nan')"
# words for the polarity of rubrics that are good to meet, and bad to meet
POSITIVE = frozenset(["positive", "pos", "+", "plus", "reward", "bonus"])
NEGATIVE = frozenset(["negative", "neg", "-", "–", "−", "minus", "penalty", "deduction"])
MINUS = "−"  # as word processors write it
UNIT = r"\s*(points?|pts?)\.?"  # behind a weight
_YES = "('true', 'yes', 'pass', 'passed', 'met', 'satisfied')"
_NO = "('false', 'no', 'fail', 'failed', 'unmet', 'not met', 'unsatisfied', 'not satisfied')"


def name(column: str) -> str:
    """A name or free text without surrounding white space; NULL if it is empty.

    ASCII text that begins and ends with visible characters is not trimmed: testing takes a quarter of trimming's time.
    """
    visible = (
        f"length({column}) = strlen({column}) AND unicode({column}) > 32 AND unicode(reverse({column})) > 32"
    )
    return f"CASE WHEN {visible} THEN {column} ELSE nullif(trim({column}, {_SPACE}), '') END"


def is_unknown(column: str) -> str:
    """Whether a cell is NULL, blank or a word for unknown, such as "n/a"."""
    return f"({column} IS NULL OR lower(trim({column}, {_SPACE})) IN {_UNKNOWN})"


def number(column: str) -> str:
    """The text as a DOUBLE, possibly infinite; NULL where the text means unknown or is no number."""
    text = f"replace(trim({column}, {_SPACE}), '{MINUS}', '-')"
    return f"""
        CASE WHEN {is_unknown(column)} OR contains({column}, '_') THEN NULL
             WHEN {has_decimal_comma(column)} THEN try_cast(replace({text}, ',', '.') AS DOUBLE)
             ELSE try_cast({text} AS DOUBLE) END
    """


def typed(column: str, kind: str) -> str:
    """The number of a cell of this type. "sign" also accepts words ("positive"), "number" also a unit ("3 points")."""
    if kind == "sign":
        good, bad = (", ".join(f"'{word}'" for word in sorted(words)) for words in (POSITIVE, NEGATIVE))
        word = f"lower(trim({column}, {_SPACE}))"
        return f"CASE WHEN {word} IN ({good}) THEN 1 WHEN {word} IN ({bad}) THEN -1 ELSE {number(column)} END"
    return number(f"regexp_replace({column}, '(?i){UNIT}\\s*$', '')" if kind == "number" else column)


def has_either_comma(column: str) -> str:
    """Whether a text is a number whose comma may be a decimal comma or a thousands separator: 1,000."""
    return f"regexp_full_match(trim({column}, {_SPACE}), '{EITHER_COMMA}')"


def has_decimal_comma(column: str) -> str:
    """Whether a text is a number with a comma that can be nothing but a decimal comma: 3,5."""
    return f"regexp_full_match(trim({column}, {_SPACE}), '{DECIMAL_COMMA}')"


def shortened(text: str) -> str:
    """A name or text of the user on one line, cut to 60 characters, for a sentence."""
    flat = " ".join(text.split())
    return flat if len(flat) <= 60 else flat[:59] + "…"


def verdict(column: str) -> str:
    """1 or 0 for a word of a verdict such as "yes" or "failed"; NULL for any other text."""
    word = f"lower(replace(trim({column}, {_SPACE}), '_', ' '))"
    return f"CASE WHEN {word} IN {_YES} THEN 1 WHEN {word} IN {_NO} THEN 0 END"


def problem(value: str, unknown: str, kind: str) -> str:
    """Why ``value`` (a parsed DOUBLE) is not valid in a column of type ``kind``; NULL if it is valid or unknown."""
    ranges = {
        "whole": f"WHEN {value} <> round({value}) THEN 'lies between two levels: expected a whole number'",
        "share": f"WHEN {value} < 0 OR {value} > 1 THEN 'is not a share: expected a number from 0 to 1'",
        "sign": f"WHEN {value} NOT IN (-1, 1) THEN 'is not a polarity: expected 1, or -1 if meeting it is bad'",
        "bit": f"WHEN {value} NOT IN (0, 1) THEN 'is neither 1 (valid) nor 0 (not valid)'",
        "positive": f"WHEN {value} < 0 THEN 'is negative: expected a number of at least 0'",
        "number": "",
    }
    hint = ": say what it stands for (--answer WORD=LABEL)" if kind in ("whole", "bit") else ""
    beyond = (
        f"WHEN abs({value}) > {LARGEST} THEN 'is beyond any rating scale: expected at most {LARGEST:,}'"
        if kind == "whole"
        else ""
    )
    return (
        f"CASE WHEN {unknown} THEN NULL WHEN {value} IS NULL THEN 'is not a number{hint}' "
        f"WHEN NOT isfinite({value}) THEN 'is not a finite number' {beyond} {ranges[kind]} END"
    )
