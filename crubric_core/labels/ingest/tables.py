"""Every temporary table of an ingest, in the order in which they are made: the interface between the modules here.

A staged file is the table ``incoming``; everything else is made from it within one transaction, by set-based SQL,
and dropped with it. Rows are known by ``row``, as a person counts them in the file. ``tests/labels/ingest/
test_tables.py`` holds this list against the source and against real ingests.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class StagingTable:
    """One temporary table: its columns, one row a what, and the modules of this room that make and read it.

    columns: those that are always there; a file adds its own to ``incoming``.
    """

    name: str
    row: str
    columns: tuple[str, ...]
    made_by: tuple[str, ...]
    read_by: tuple[str, ...]


_STORING = (
    "storing",
    "label_rows",
    "vocabulary",
    "names",
    "facts",
    "attribute_rows",
    "scales",
)
TABLES = (
    StagingTable(
        "incoming", "a row of the file, as text", (), ("staging", "parts", "descriptions"), _STORING
    ),
    StagingTable(
        "told",
        "a query, rubric or answer with what rows of labels say of it",
        ("row",),
        ("descriptions",),
        ("descriptions",),
    ),
    StagingTable(
        "staged_once",
        "a row of incoming, or of told, that is to be incoming",
        ("row",),
        ("descriptions",),
        ("descriptions",),
    ),
    StagingTable(
        "rejected",
        "a rejected row with its reason",
        ("row", "column", "value", "reason"),
        ("staging", "parts"),
        ("storing", "label_rows", "conflicts", "facts", "attribute_rows"),
    ),
    StagingTable(
        "origins",
        "a file, where several became one table",
        ("name", "before", "last"),
        ("storing",),
        ("job",),
    ),
    StagingTable(
        "choosing",
        "a criterion, with how many of its cells hold several choices",
        ("criterion", "known", "several", "first"),
        ("choices",),
        ("choices",),
    ),
    StagingTable(
        "label_words",
        "a different text in place of a label",
        ("raw", "n"),
        ("vocabulary",),
        ("label_values",),
    ),
    StagingTable(
        "label_values",
        "a different text in place of a label, understood",
        ("raw", "n", "value", "unknown", "is_word", "answered", "no_label", "scaled", "problem"),
        ("label_values",),
        ("label_rows", "scales"),
    ),
    StagingTable(
        "{column}_names",
        "a different text in place of a system, judge, annotator or run",
        ("raw", "name", "id", "is_new"),
        ("names",),
        ("label_rows", "facts", "attribute_rows"),
    ),
    StagingTable(
        "mentioned",
        "a query that a row names",
        ("query",),
        ("attribute_rows", "facts"),
        ("attribute_rows", "facts"),
    ),
    StagingTable(
        "rubric_pairs",
        "a different pair of texts for query and rubric",
        ("query_raw", "rubric_raw", "query", "rubric", "ambiguous"),
        ("names",),
        ("names",),
    ),
    StagingTable(
        "query_names", "a query", ("name", "id", "is_new"), ("names",), ("names", "facts", "attribute_rows")
    ),
    StagingTable(
        "rubric_names",
        "a different pair of texts, with the rubric that it means and the scale that this was given",
        (
            "query_raw",
            "rubric_raw",
            "query",
            "rubric",
            "ambiguous",
            "id",
            "query_id",
            "is_new",
            "lo",
            "hi",
            "text",
        ),
        ("names",),
        ("label_rows", "scales", "attribute_rows"),
    ),
    StagingTable(
        "rubrics_used", "a new rubric that is kept", ("id", "query_id", "rubric"), ("names",), ("names",)
    ),
    StagingTable(
        "criterion_keys",
        "a rubric of the file with its criterion",
        ("id", "key", "criterion", "rubric", "own", "text"),
        ("scales",),
        ("scales",),
    ),
    StagingTable(
        "criterion_values", "a label of a criterion", ("key", "value", "n"), ("scales",), ("scales",)
    ),
    StagingTable(
        "strays",
        "a number that is no level of its rubric",
        ("rubric_id", "value", "reason"),
        ("scales",),
        ("label_rows",),
    ),
    StagingTable(
        "given_scales",
        "a rubric with a given scale or mark",
        ("place", "id", "low", "high", "mark", "sign"),
        ("scales",),
        ("scales",),
    ),
    StagingTable(
        "coded",
        "a row of labels in ids",
        ("row", "system_id", "rubric_id", "judge_id", "run_id", "reason", "label", "fault"),
        ("label_rows",),
        ("label_rows", "conflicts"),
    ),
    StagingTable("repeats", "a key that comes twice", (), ("conflicts",), ("conflicts",)),
    StagingTable(
        "repeated",
        "a row whose key comes twice",
        ("row", "label", "differ", "blank_row", "kept_row", "other_row", "other_label"),
        ("conflicts",),
        ("conflicts",),
    ),
    StagingTable(
        "drawn", "a row that became a repeated draw", ("row", "name"), ("conflicts",), ("conflicts",)
    ),
    StagingTable(
        "said",
        "a row of answers, or a cell of facts, in ids",
        ("row", "system_id", "value"),
        ("facts",),
        ("facts",),
    ),
    StagingTable(
        "met",
        "a row whose key is stored already",
        ("row", "old", "old_row"),
        ("conflicts", "facts"),
        ("conflicts", "facts", "label_rows"),
    ),
    StagingTable(
        "described", "a row of descriptions in ids", ("row", "id"), ("attribute_rows",), ("attribute_rows",)
    ),
    StagingTable(
        "facts", "a thing described, one row each", ("id", "row"), ("attribute_rows",), ("attribute_rows",)
    ),
    StagingTable(
        "before", "a thing described, as it was stored", (), ("attribute_rows",), ("attribute_rows",)
    ),
    StagingTable(
        "moves",
        "a rubric without query that finds it",
        ("old_id", "new_id", "n", "name"),
        ("reconcile",),
        ("reconcile",),
    ),
    StagingTable(
        "clashing",
        "a stored row that a move makes a repeat",
        ("id", "new_id"),
        ("reconcile",),
        ("reconcile",),
    ),
    StagingTable(
        "revived", "a key whose earlier label counts again", ("ingest_id",), ("statements",), ("statements",)
    ),
    StagingTable("touched", "a rubric whose labels an undo changes", ("rubric_id",), ("undo",), ("undo",)),
    StagingTable("summed", "a row of tallies, one a key", (), ("tallies",), ("tallies",)),
    StagingTable(
        "rubric_sums",
        "a rubric with the sums of its tallies",
        ("rubric_id", "rows", "hashes", "n", "lo", "hi", "seen"),
        ("tallies",),
        ("fingerprint", "rubric_facts"),
    ),
    StagingTable(
        "criteria_now",
        "a criterion with its scale, as the transaction sees it",
        ("criterion_id", "criterion", "labels", "lowest", "highest"),
        ("rubric_facts",),
        ("rubric_facts",),
    ),
    StagingTable(
        "facts_now",
        "a rubric with its scale, as the transaction sees it",
        ("rubric_id", "criterion", "lo", "hi", "n"),
        ("rubric_facts",),
        ("rubric_facts",),
    ),
    StagingTable("described_by", "a thing that an undone ingest described", ("id",), ("undo",), ("undo",)),
)
