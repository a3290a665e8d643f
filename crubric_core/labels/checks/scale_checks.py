"""Scales that deserve a look: stretched by later labels, with gaps, below 0, narrow, or read apart by the judges."""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import pandas as pd

from ...text import count, shorten
from ..ingest.findings import SHOWN, Finding, select, warning
from ..ingest.parsed import execute
from ..ingest.rubric_facts import keep_criteria, scale_behind

_FEW_LEVELS = 12  # levels up to which a scale without one of them has a gap
_ENOUGH = 10  # labels of a criterion, or of a judge on it, below which nothing is concluded
_CHANCE = 1e-6  # of a judge's labels on one criterion: there may be hundreds, each with several judges

# ``seen`` has a bit for each label modulo 64, which counts different labels where they span fewer than that.
# Judges can only differ where this holds of their summed-up tallies, whose ranges lie within those of the judges; or
# where a judge has none; or where the bits of judges could coincide.
_MORE = f"""
    , bit_count(bit_or(seen)) AS bits,
    highest - lowest + 1 > bits AND highest - lowest < {_FEW_LEVELS} AND labels >= {2 * _ENOUGH} AS gap,
    labels >= {2 * _ENOUGH} AND (
        $wide OR bit_or(judges) <> bit_or(summed_judges) OR max(high_lowest) > min(low_highest)
        OR (min(low_highest) <= 1 AND max(hi) >= 3)
    ) AS suspect,
    false AS apart
"""
_WIDE = """
    SELECT coalesce(max(judge_id) - min(judge_id) > 63, false) FROM judges WHERE dataset_id = $dataset
"""
_PART = f"""
    WITH by_judge AS (
        SELECT f.criterion_id, t.judge_id, min(t.lowest) AS lo, max(t.highest) AS hi
        FROM label_tallies t JOIN facts_now f USING (rubric_id) JOIN criteria_now c USING (criterion_id)
        WHERE t.dataset_id = $dataset AND t.n > 0 AND c.suspect
        GROUP BY f.criterion_id, t.judge_id HAVING sum(t.n) >= {_ENOUGH}
    )
    UPDATE criteria_now SET apart = true FROM (
        SELECT criterion_id FROM by_judge GROUP BY criterion_id
        HAVING count(*) > 1 AND (max(lo) > min(hi) OR (min(hi) <= 1 AND max(hi) >= 3))
    ) found WHERE found.criterion_id = criteria_now.criterion_id
"""
# Of noisy labels, some judge has only the lowest by chance: ranges are apart where labels drawn like those of the other
# judges would all lie in the range of one with a probability below _CHANCE. Read for the few criteria found so far.
_BY_CHANCE = f"""
    WITH given AS (
        SELECT f.criterion_id, l.judge_id, l.label, count(*) AS n
        FROM labels l JOIN facts_now f USING (rubric_id) JOIN criteria_now c USING (criterion_id)
        WHERE l.dataset_id = $dataset AND l.label IS NOT NULL AND c.apart GROUP BY ALL
    ), by_judge AS (
        SELECT criterion_id, judge_id, min(label) AS lo, max(label) AS hi, sum(n) AS n
        FROM given GROUP BY ALL HAVING sum(n) >= {_ENOUGH}
    ), expected AS (
        SELECT j.criterion_id, j.judge_id, j.n, sum(g.n) AS others,
               coalesce(sum(g.n) FILTER (g.label BETWEEN j.lo AND j.hi), 0) AS within
        FROM by_judge j JOIN given g ON g.criterion_id = j.criterion_id AND g.judge_id <> j.judge_id GROUP BY ALL
    )
    UPDATE criteria_now SET apart = false WHERE apart AND criterion_id NOT IN (
        SELECT criterion_id FROM expected WHERE n * ln((within + 1) / (others + 2)) < ln({_CHANCE})
    )
"""
# Short names such as toxicity or feedback.hallucination_score, where nobody said which label is the best.
_FAULTS = (
    "hallucinations?|hallucinated|toxicity|toxic|harmful|harmfulness|malicious|maliciousness|bias|biased|profanity|"
    "insults?|offensive|offensiveness|unsafe|misinformation|disinformation|stereotyping|plagiarism|errors?|mistakes?|"
    "contradictions?|refusals?|refused|incorrect|wrong|severity|harms?|hateful|omissions?|fabrications?|fabricated|"
    "mistranslations?|leaks?|leakage|jailbreaks?|jailbroken|violations?|unsupported|unhelpful|redundancy|verbosity|"
    "sycophancy|sycophantic|deception|deceptive|dangerous|vulnerabilit(y|ies)|incoherence|incoherent|inconsistency|"
    "inconsistent|irrelevance|irrelevant|clich[eé]s?|flagged"
)
_FAULT = (
    f"([a-z0-9 ]{{1,20}}[./_-]){{0,3}}({_FAULTS})([./_ -](score|rate|value|label|v1|present|content|overall))*"
    "|errs?[./_-].+"  # err_language
)
_SENTENCE = (
    "((the |an? )?(response|answer|summary|output|text|model|assistant) )?("
    "(contains|has|makes|includes) ((factual|grammatical|logical|spelling) )?(errors?|mistakes?|hallucinations?)|"
    "makes up [a-z ]+|(hallucinates|fabricates|invents)( [a-z ]+)?)[.]?"
)
_NAMED_AFTER_FAULT = f"""
    (
        regexp_full_match(lower(criterion), '{_FAULT}')
        OR regexp_full_match(replace(lower(criterion), '_', ' '), '{_SENTENCE}')
    )
    AND NOT regexp_matches(lower(criterion), '(^|[./_ -])(no|non|not|avoids?|free|without|anti|absence|low)[./_ -]')
"""
_UNSAID = """
    criterion_id NOT IN (
        SELECT f.criterion_id FROM facts_now f JOIN rubrics r USING (rubric_id)
        WHERE r.polarity IS NOT NULL OR r.weight < 0
    )
"""
_BEHIND = scale_behind("criterion")
_OFF_NAME = f"NOT given AND ({_BEHIND}.lo > lowest OR {_BEHIND}.hi < highest)"
_OFF_MARK = "mark_given AND NOT (scale_min < pass_mark AND pass_mark <= scale_max)"
_BELOW = "lowest < 0 AND NOT given"
_GAP = "gap AND NOT given"
_GRADED = "scale_max - scale_min > 1 AND NOT given"
_ENDS = f"""
    SELECT scale_min, scale_max, count(*) AS n FROM criteria_now WHERE bits IS NOT NULL AND {_GRADED}
    GROUP BY scale_min, scale_max ORDER BY n DESC, scale_max DESC, scale_min DESC LIMIT 1
"""
# Which of the conditions hold of any criterion: most hold of none, and each costs no statement of its own then.
_CONDITIONS = (_BELOW, _OFF_MARK, _OFF_NAME, _GAP, _GRADED, "suspect", _NAMED_AFTER_FAULT)
_ANY = f"SELECT {', '.join(f'bool_or({c})' for c in _CONDITIONS)} FROM criteria_now WHERE bits IS NOT NULL"
# Labels below 0 that are no part of negative points: -8 is a score where the rubric's points are -8.
_NO_POINTS = """
    criterion_id IN (
        SELECT f.criterion_id FROM facts_now f JOIN rubrics r USING (rubric_id)
        LEFT JOIN rubrics g ON g.dataset_id = r.dataset_id AND g.query_id IS NULL AND g.name = r.name
        WHERE f.lo < 0 AND NOT coalesce(coalesce(r.weight, g.weight) <= f.lo, false)
    )
"""
# Of the criteria that are shown, which labels there are: of them alone the labels are read.
_SHOW = f"""
    WITH found AS (
        SELECT *, count(*) OVER () AS found FROM criteria_now WHERE {{where}} ORDER BY criterion LIMIT {SHOWN}
    ), given_labels AS (
        SELECT criterion_id, count(*) AS different, left(string_agg(label::VARCHAR, ', ' ORDER BY label), 100) AS labels
        FROM (
            SELECT DISTINCT o.criterion_id, l.label FROM labels l JOIN facts_now f USING (rubric_id)
            JOIN found o ON o.criterion_id = f.criterion_id
            WHERE l.dataset_id = $dataset AND l.label IS NOT NULL
        ) GROUP BY criterion_id
    )
    SELECT criterion, scale_min, scale_max, pass_mark, given, lowest, highest, different, g.labels, o.labels AS n,
           apart, found
    FROM found o JOIN given_labels g USING (criterion_id) ORDER BY criterion
"""
# Gold labels of criteria that judges labelled: beyond the scale they count for nothing, and verdicts as 0 and 1 beside
# grades mean the lowest levels.
_GOLD = f"""
    WITH found AS (
        SELECT c.criterion, c.scale_min, c.scale_max, min(g.label) AS lowest, max(g.label) AS highest,
               count(*) FILTER (g.label NOT BETWEEN c.scale_min AND c.scale_max) AS beyond, count(*) AS labels
        FROM gold g JOIN facts_now f USING (rubric_id) JOIN criteria_now c USING (criterion_id)
        WHERE g.dataset_id = $dataset AND g.label IS NOT NULL AND c.bits IS NOT NULL GROUP BY ALL
    )
    SELECT *, count(*) OVER () AS found FROM found
    WHERE beyond > 0 OR (lowest = 0 AND highest = 1 AND scale_max > 2 AND labels >= {_ENOUGH})
    ORDER BY beyond DESC, criterion LIMIT {SHOWN}
"""


def check_scales(cursor: duckdb.DuckDBPyConnection, dataset_id: int) -> Iterator[Finding]:
    """Findings about the scales as they are now, by ``facts_now`` and ``rubric_sums``."""
    ((wide,),) = execute(cursor, _WIDE, {"dataset": dataset_id}).fetchall()
    keep_criteria(cursor, _MORE.replace("$wide", str(wide).lower()))
    below, off_mark, off_name, gap, graded, suspect, fault = execute(cursor, _ANY).fetchall()[0]
    if below:
        yield from _below_zero(*_found(cursor, dataset_id, f"{_BELOW} AND {_NO_POINTS}"))
    if off_mark:
        yield from _off_mark(*_found(cursor, dataset_id, _OFF_MARK))
    if off_name:
        yield from _off_name(*_found(cursor, dataset_id, _OFF_NAME))
    if gap:
        yield from _gaps(*_found(cursor, dataset_id, _GAP))
    if graded:
        yield from _narrow(cursor, dataset_id)
    if suspect:
        execute(cursor, _PART, {"dataset": dataset_id})
        if execute(cursor, "SELECT 1 FROM criteria_now WHERE apart LIMIT 1").fetchone() is not None:
            execute(cursor, _BY_CHANCE, {"dataset": dataset_id})
        yield from _apart(*_found(cursor, dataset_id, "apart"))
    if fault:
        yield from _faults(*_found(cursor, dataset_id, f"{_NAMED_AFTER_FAULT} AND {_UNSAID}"))
    yield from _gold(select(cursor, _GOLD, dataset_id))


def _found(cursor: duckdb.DuckDBPyConnection, dataset_id: int, where: str) -> tuple[pd.DataFrame, int]:
    """The first of the criteria with labels for which a condition holds, and how many there are."""
    where = f"bits IS NOT NULL AND {where}"
    if execute(cursor, f"SELECT 1 FROM criteria_now WHERE {where} LIMIT 1").fetchone() is None:
        return pd.DataFrame(), 0
    table = select(cursor, _SHOW.format(where=where), dataset_id)
    return table.drop(columns="found"), int(table["found"].iloc[0])


def _name(criterion: pd.Series[Any]) -> str:
    """What a sentence calls a criterion, which may be a text of many lines."""
    return shorten(str(criterion["criterion"]), 60)


def _below_zero(found: pd.DataFrame, n: int) -> Iterator[Finding]:
    if n:
        first = found.iloc[0]
        yield warning(
            "negative_level",
            "Labels below 0",
            f"{count(n, 'scale')} {'begins' if n == 1 else 'begin'} below 0, such as that of {_name(first)} "
            f"({first['labels']}): if {first['lowest']} stands for no label, say so "
            f"(--answer={first['lowest']}=); otherwise give the scale (--scale).",
            found,
            n,
        )


def _faults(found: pd.DataFrame, n: int) -> Iterator[Finding]:
    if n:
        name = _name(found.iloc[0])
        yield warning(
            "named_after_fault",
            "Criteria named after faults",
            f"{count(n, 'criterion', 'criteria')} {'is' if n == 1 else 'are'} named after a fault, such as {name}, but "
            "a higher label counts as better. If a high label means that the answer has the fault, give --polarity "
            f"'{name}=-1', or polarity in a table of rubrics; otherwise give 1 in place of -1.",
            found,
            n,
        )


def _off_mark(found: pd.DataFrame, n: int) -> Iterator[Finding]:
    if n:
        first = found.iloc[0]
        yield warning(
            "mark_off_scale",
            "Pass marks that are not on the scale",
            f"{count(n, 'pass mark')} {'is' if n == 1 else 'are'} above the highest level or not above the lowest, "
            f"such as that of {_name(first)} ({first['pass_mark']} on {first['scale_min']} to {first['scale_max']}): "
            "all of its labels count as met, or none of them does. Correct the mark or the scale.",
            found.drop(columns="labels"),
            n,
        )


def _off_name(found: pd.DataFrame, n: int) -> Iterator[Finding]:
    if n:
        first = found.iloc[0]
        yield warning(
            "off_named_scale",
            "Labels that are not on the scale in a name",
            f"{count(n, 'criterion', 'criteria')} {'has' if n == 1 else 'have'} labels that are not on the scale "
            f"in the name, such as {_name(first)} (labels {first['labels']}): the scale is taken as "
            f"{first['scale_min']} to {first['scale_max']}. Correct the labels, or give the scale (--scale).",
            found,
            n,
        )


def _gaps(found: pd.DataFrame, n: int) -> Iterator[Finding]:
    if n:
        first = found.iloc[0]
        yield warning(
            "gap",
            "Scales with unused levels",
            f"{count(n, 'scale')} {'has' if n == 1 else 'have'} unused levels between used ones, such as that of "
            f"{_name(first)} (labels {first['labels']}): check whether the scale is right.",
            found,
            n,
        )


def _narrow(cursor: duckdb.DuckDBPyConnection, dataset_id: int) -> Iterator[Finding]:
    """Criteria whose labels stop short of the scale that most graded criteria have, at either end."""
    ends = execute(cursor, _ENDS).fetchone()
    if ends is None:
        return
    low, high, _ = ends
    inside = f"lowest >= {low:d} AND highest <= {high:d}"  # 1 in all labels is taken as 0 to 1
    where = f"NOT given AND {inside} AND scale_max - scale_min < {high - low:d}"
    found, n = _found(cursor, dataset_id, where)
    if n:
        first = found.iloc[0]
        yield warning(
            "narrow_scale",
            "Scales that may be too narrow",
            f"{count(n, 'scale')} {'is' if n == 1 else 'are'} narrower than the {low} to {high} of most others, "
            f"such as that of {_name(first)} (labels {first['labels']}): it is taken as {first['scale_min']} to "
            f"{first['scale_max']}. If all criteria share one scale, give it (--scale '*={low}..{high}').",
            found,
            n,
        )


def _apart(found: pd.DataFrame, n: int) -> Iterator[Finding]:
    if n:
        first = found.iloc[0]
        yield warning(
            "disjoint_ranges",
            "Judges that seem to use different scales",
            f"On {count(n, 'criterion', 'criteria')}, judges give labels from ranges that do not fit "
            f"together, such as {_name(first)} (labels {first['labels']}): convert the labels to one scale before "
            "you compare the judges.",
            found,
            n,
        )


def _gold(found: pd.DataFrame) -> Iterator[Finding]:
    if len(found):
        first, n = found.iloc[0], int(found["found"].iloc[0])
        yield warning(
            "gold_scale",
            "Gold labels on another scale than the judges'",
            f"On {count(n, 'criterion', 'criteria')}, gold labels seem to be on another scale than the labels, such as "
            f"{_name(first)} (gold {first['lowest']} to {first['highest']}, labels {first['scale_min']} to "
            f"{first['scale_max']}; {count(int(first['beyond']), 'gold label')} off the scale, not used). Undo their "
            "ingest and ingest them again with the label that each gold label stands for (--answer GOLD=LABEL), or "
            "give the scale (--scale).",
            found.drop(columns="found"),
            n,
        )


def changed_scales(before: pd.DataFrame, after: pd.DataFrame) -> Iterator[Finding]:
    """Criteria that had labels before, and another scale now; both as ``rubric_facts.criteria`` tells them."""
    both = before[before["labels"] > 0].merge(after, on="criterion", suffixes=("_before", ""))
    moved = (both["scale_min"] != both["scale_min_before"]) | (both["scale_max"] != both["scale_max_before"])
    found = both[moved]
    if len(found):
        first = found.iloc[0]
        columns = ["criterion", "scale_min_before", "scale_max_before", "scale_min", "scale_max"]
        yield warning(
            "scale_changed",
            "Scales that these rows change",
            f"{count(len(found), 'scale')} {'changes' if len(found) == 1 else 'change'}, such as that of "
            f"{_name(first)}: {first['scale_min_before']} to {first['scale_max_before']} before, "
            f"{first['scale_min']} to {first['scale_max']} with these rows. Labels that passed may now fail, and "
            "labels that failed may pass. If this is not intended, give the scale (--scale).",
            found[columns],
        )
