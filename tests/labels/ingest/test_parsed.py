"""What is parsed once is executed as often as wanted: with other values, on other connections, from many threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import duckdb
import pytest

from crubric_core.labels.ingest import parsed


def _sums(workspace: int) -> list[int]:
    """What a connection of its own makes of the same texts, again and again."""
    with duckdb.connect() as connection:
        found = []
        for n in range(20):
            parsed.execute(
                connection, "CREATE OR REPLACE TEMP TABLE own AS FROM range($n) r(i)", {"n": workspace + n}
            )
            ((total,),) = parsed.execute(
                connection, "SELECT coalesce(sum(i), 0) + $n FROM own", {"n": n}
            ).fetchall()
            found.append(int(total))
        return found


def test_a_text_is_parsed_once_and_executed_with_other_values_on_other_connections() -> None:
    sql = "SELECT $a + 1 AS more, 'parsed once'"
    with duckdb.connect() as one:
        assert parsed.execute(one, sql, {"a": 1}).fetchall() == [(2, "parsed once")]
        statements = parsed._parsed[sql]
        assert parsed.execute(one, sql, {"a": 2.5}).fetchall() == [(3.5, "parsed once")]
    with duckdb.connect() as other:
        assert parsed.execute(other, sql, {"a": 4}).fetchall() == [(5, "parsed once")]
    assert parsed._parsed[sql] is statements


def test_a_text_may_hold_several_statements_of_which_the_last_answers() -> None:
    with duckdb.connect() as connection:
        found = parsed.execute(
            connection, "CREATE TEMP TABLE t (i INTEGER); INSERT INTO t VALUES (3); FROM t"
        )
        assert found.fetchall() == [(3,)]


def test_threads_do_not_disturb_each_other() -> None:
    wanted = [[sum(range(w + n)) + n for n in range(20)] for w in range(8)]
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(_sums, range(8))) == wanted


def test_no_more_texts_are_kept_than_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsed, "_MOST", 3)
    monkeypatch.setattr(parsed, "_parsed", {})
    with duckdb.connect() as connection:
        for n in range(10):
            assert parsed.execute(connection, f"SELECT {n}").fetchall() == [(n,)]
            assert len(parsed._parsed) <= 3


def test_what_a_text_does_wrong_is_said_each_time() -> None:
    with duckdb.connect() as connection:
        for _ in range(2):
            with pytest.raises(duckdb.ParserException, match="syntax error"):
                parsed.execute(connection, "SELEC 1")
            with pytest.raises(duckdb.CatalogException, match="does not exist"):
                parsed.execute(connection, "FROM nothing")
