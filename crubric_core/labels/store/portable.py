"""The reduction of labels as SQL that both DuckDB and Spark can run (docs/method.md §1–3).

Every function returns one SELECT over named relations, without parameters to bind. The caller creates the relations
as views: DuckDB over files or tables, a Spark session over data frames. The steps from labels to results:

    raw → given → (names) → coded → keyed → cell_tallies, judge_tallies, rubric_tallies      where the labels are
    cell_tallies, facts → counted → cells → agreement, pair sums, consensus                  in the workspace

``facts(rubric_id, j, scale_min, scale_max, polarity, pass_mark)`` has the rubrics with their scales.
"""

# ruff: noqa: S608 - every identifier in the SQL is this program's own; what is formatted in are whole numbers
from __future__ import annotations

from ...settings import Response, Tie

NAMES = ("system", "query", "rubric", "judge")
FARTHEST = 1_000_000  # a label of larger magnitude is rejected

# The pass mark is the lowest label that counts as met; meeting a rubric of polarity -1 counts as a fail.
_MET = "CASE WHEN f.polarity < 0 THEN l.label < f.pass_mark ELSE l.label >= f.pass_mark END"
_LEVEL = "CASE WHEN f.polarity < 0 THEN f.scale_max - l.label ELSE l.label - f.scale_min END"
READING = {"binary": f"CAST({_MET} AS INT)", "ordered": _LEVEL}
_TIES = {"unknown": "CAST(NULL AS INT)", "fail": "0", "pass": "1"}


def _text(column: str) -> str:
    return f"NULLIF(TRIM(CAST({column} AS STRING)), '')"


def given(*, runs: bool) -> str:
    """``raw`` → (system, query, rubric, judge, run, label, fault): names trimmed, labels whole numbers.

    fault: the column that makes the row unusable; NULL if it can be used. A blank label is NULL and not a fault.
    """
    names = ", ".join(f"{_text(name)} AS {name}" for name in NAMES)
    run = _text("run") if runs else "CAST(NULL AS STRING)"
    missing = " ".join(f"WHEN {name} IS NULL THEN '{name}'" for name in NAMES)
    off = f"number IS NULL OR number <> FLOOR(number) OR number NOT BETWEEN -{FARTHEST} AND {FARTHEST}"
    return f"""
        SELECT system, query, rubric, judge, run, fault,
               CASE WHEN fault IS NULL THEN CAST(number AS INT) END AS label
        FROM (
            SELECT system, query, rubric, judge, run, number,
                   CASE {missing} WHEN text IS NOT NULL AND ({off}) THEN 'label' END AS fault
            FROM (
                SELECT {names}, {run} AS run, CASE WHEN NOT ISNAN(number) THEN number END AS number,
                       CASE WHEN NOT COALESCE(ISNAN(number), FALSE) THEN text END AS text
                FROM (SELECT *, {_text("label")} AS text, TRY_CAST({_text("label")} AS DOUBLE) AS number
                      FROM raw) numbered
            ) trimmed
        ) judged
    """


def totals() -> str:
    """``given`` → (fault, n, blank): numbers of rows, and of blank labels, by fault; fault NULL: the usable rows."""
    return """
        SELECT fault, COUNT(*) AS n,
               SUM(CASE WHEN fault IS NULL AND label IS NULL THEN 1 ELSE 0 END) AS blank
        FROM given GROUP BY fault
    """


def names(*columns: str) -> str:
    """``given`` → the distinct values of these columns in usable rows, without those whose last column is NULL."""
    return f"""
        SELECT DISTINCT {", ".join(columns)} FROM given WHERE fault IS NULL AND {columns[-1]} IS NOT NULL
    """


def all_names() -> str:
    """``given`` → (system, judge, run, query, rubric): the distinct names of each kind, other columns NULL.

    This needs one pass over the rows, for an engine that would otherwise read them again for each kind.
    """
    return """
        SELECT system, judge, run, query, rubric FROM given WHERE fault IS NULL
        GROUP BY GROUPING SETS ((system), (judge), (run), (query, rubric))
        HAVING COALESCE(system, judge, run, query) IS NOT NULL
    """


def coded(*, runs: bool) -> str:
    """``given`` and tables of names → (system_id, rubric_id, judge_id, run_id, label), one row per usable row.

    Tables of names: ``system_names``, ``judge_names``, ``run_names`` (id, name), ``rubric_names`` (id, query, name).
    """
    join = "LEFT JOIN run_names d ON d.name = g.run" if runs else ""
    return f"""
        SELECT s.id AS system_id, r.id AS rubric_id, k.id AS judge_id, {"COALESCE(d.id, 0)" if runs else "0"} AS run_id,
               g.label
        FROM given g JOIN system_names s ON s.name = g.system JOIN judge_names k ON k.name = g.judge
        JOIN rubric_names r ON r.query = g.query AND r.name = g.rubric {join}
        WHERE g.fault IS NULL
    """


def keyed() -> str:
    """``coded`` → the same columns with one row per key (system, rubric, judge, run).

    Equal labels become one. Of labels that contradict each other none counts: the key is left out, or blank if one of
    its rows is blank.
    """
    return """
        SELECT system_id, rubric_id, judge_id, run_id,
               CASE WHEN MIN(label) = MAX(label) THEN MIN(label) END AS label
        FROM coded GROUP BY system_id, rubric_id, judge_id, run_id
        HAVING MIN(label) IS NULL OR MIN(label) = MAX(label) OR COUNT(label) < COUNT(*)
    """


def repeats() -> str:
    """``coded`` → one row (keys, repeated, contradicting).

    repeated: rows beyond the first of their key. contradicting: known labels of the keys whose labels differ.
    """
    return """
        SELECT COUNT(*) AS keys, SUM(n - 1) AS repeated,
               SUM(CASE WHEN lowest <> highest THEN known ELSE 0 END) AS contradicting
        FROM (
            SELECT COUNT(*) AS n, COUNT(label) AS known, MIN(label) AS lowest, MAX(label) AS highest
            FROM coded GROUP BY system_id, rubric_id, judge_id, run_id
        ) grouped
    """


def cell_tallies(*, runs: bool) -> str:
    """``keyed`` → (system_id, rubric_id, judge_id, label, n): how many labels of a cell have this value; NULL is blank.

    Without runs, n counts judges and judge_id is NULL. With runs, n counts the runs of each judge.
    """
    judge, by = ("judge_id", ", judge_id") if runs else ("CAST(NULL AS INT) AS judge_id", "")
    return f"""
        SELECT system_id, rubric_id, {judge}, label, COUNT(*) AS n
        FROM keyed GROUP BY system_id, rubric_id{by}, label
    """


def judge_tallies(*, runs: bool) -> str:
    """``keyed`` → (system_id, judge_id, labels, blank, lowest, highest); runs on the same cell count once."""
    cells = "SELECT system_id, judge_id, label AS lowest, label AS highest FROM keyed"
    if runs:
        cells = """
            SELECT system_id, judge_id, MIN(label) AS lowest, MAX(label) AS highest
            FROM keyed GROUP BY system_id, judge_id, rubric_id
        """
    return f"""
        SELECT system_id, judge_id, COUNT(lowest) AS labels, COUNT(*) - COUNT(lowest) AS blank,
               MIN(lowest) AS lowest, MAX(highest) AS highest
        FROM ({cells}) cells GROUP BY system_id, judge_id
    """


def rubric_tallies(cells: str = "cell_tallies") -> str:
    """``cell_tallies`` → (rubric_id, lowest, highest, n): extremes of the labels, and the number of known labels."""
    return f"""
        SELECT rubric_id, MIN(label) AS lowest, MAX(label) AS highest,
               SUM(CASE WHEN label IS NULL THEN 0 ELSE n END) AS n
        FROM {cells} GROUP BY rubric_id
    """


def draws(response: Response) -> str:
    """``cell_tallies`` and ``facts`` → (system_id, j, judge_id, x, n): n labels on the level x, without blanks."""
    return f"""
        SELECT l.system_id, f.j, l.judge_id, {READING[response]} AS x, l.n
        FROM cell_tallies l JOIN facts f ON f.rubric_id = l.rubric_id WHERE l.label IS NOT NULL
    """


def counted(response: Response, *, runs: bool) -> str:
    """``cell_tallies`` and ``facts`` → (system_id, j, x, n): the number n of judges that gave a cell the level x.

    With runs, a judge's level is the strict majority of the runs (unknown if they tie), or their lower median if the
    response is ordered.
    """
    levels = draws(response)
    if runs and response == "binary":
        levels = f"""
            SELECT system_id, j, CASE WHEN 2 * SUM(x * n) > SUM(n) THEN 1 ELSE 0 END AS x, 1 AS n
            FROM ({levels}) draws GROUP BY system_id, j, judge_id HAVING 2 * SUM(x * n) <> SUM(n)
        """
    elif runs:
        levels = f"SELECT system_id, j, x, 1 AS n FROM ({_median(levels, 'system_id, j, judge_id')}) draws"
    return f"SELECT system_id, j, x, SUM(n) AS n FROM ({levels}) levels GROUP BY system_id, j, x"


def _median(levels: str, key: str) -> str:
    """(key, x): the lower median of the levels x, each counted n times."""
    return f"""
        SELECT {key}, MIN(x) AS x FROM (
            SELECT {key}, x, SUM(n) OVER (PARTITION BY {key} ORDER BY x) AS up_to,
                   SUM(n) OVER (PARTITION BY {key}) AS every
            FROM ({levels}) levels
        ) ranked WHERE 2 * up_to >= every GROUP BY {key}
    """


def cells(response: Response, tie: Tie, tolerance: int) -> str:
    """``counted`` → (system_id, j, n, y, agree, agreeing, gap, total, squares), one row a cell.

    n: known labels. y: the strict majority (a tie counts as ``tie``), or the lower median if ordered. agree: whether
    all labels are equal, or at most ``tolerance`` ordered levels apart. agreeing: number of pairs of labels that are.
    gap: sum over the pairs of squared differences. total, squares: sums of the levels and of their squares.
    """
    sums = """
        SUM(n) AS n, SUM(x * n) AS total, SUM(x * x * n) AS squares,
        SUM(n) * SUM(x * x * n) - SUM(x * n) * SUM(x * n) AS gap, MAX(x) - MIN(x) AS spread
    """
    summed = f"SELECT system_id, j, {sums} FROM counted GROUP BY system_id, j"
    if response == "binary":
        y = f"CASE WHEN 2 * total > n THEN 1 WHEN 2 * total < n THEN 0 ELSE {_TIES[tie]} END"
        return f"""
            SELECT system_id, j, n, {y} AS y, spread = 0 AS agree,
                   CAST(n * (n - 1) / 2 AS BIGINT) - gap AS agreeing, gap, total, squares
            FROM ({summed}) summed
        """
    pairs = f"""
        SELECT a.system_id, a.j,
               SUM(CASE WHEN a.x = b.x THEN CAST(a.n * (a.n - 1) / 2 AS BIGINT) ELSE a.n * b.n END) AS agreeing
        FROM counted a JOIN counted b
        ON a.system_id = b.system_id AND a.j = b.j AND b.x BETWEEN a.x AND a.x + {tolerance:d}
        GROUP BY a.system_id, a.j
    """
    return f"""
        SELECT system_id, j, n, x AS y, spread <= {tolerance:d} AS agree, agreeing, gap, total, squares
        FROM ({summed}) summed JOIN ({pairs}) close USING (system_id, j)
        JOIN ({_median("SELECT * FROM counted", "system_id, j")}) middle USING (system_id, j)
    """


def agreement() -> str:
    """``cells`` → (j, n_agree, n_total, max_panel) of every rubric with a cell.

    n_total: instances, the cells with two labels or more. n_agree: instances whose labels agree. max_panel: most
    labels on one cell.
    """
    return """
        SELECT j, COUNT(*) FILTER (WHERE n >= 2 AND agree) AS n_agree, COUNT(*) FILTER (WHERE n >= 2) AS n_total,
               MAX(n) AS max_panel
        FROM cells GROUP BY j
    """


def pair_sums() -> str:
    """``cells`` → the columns of ``pairs.CellSums``: one row per rubric and number of labels on a cell, sorted."""
    return """
        SELECT j AS rubric, n AS labels, COUNT(*) AS cells, SUM(agreeing) AS agreeing,
               SUM(agreeing * agreeing) AS agreeing_squares, SUM(gap) AS gap,
               SUM(total) AS total, SUM(squares) AS squares
        FROM cells GROUP BY j, n ORDER BY j, n
    """
