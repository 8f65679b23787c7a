"""Indexes are rebuilt beside those who use them, and what needs care is said."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest

from memsvc.errors import ContendedError, DatabaseUnavailableError, NotFoundError
from memsvc.server import care, reindex
from memsvc.server.care import TableCare, look
from memsvc.server.reindex import chosen, indexes
from memsvc.server.sizes import sizes
from memsvc.settings import Settings
from tests.sql.conftest import Scratch
from tests.sql.world import APP, World, login_url, make_world, recall_rows

pytestmark = [pytest.mark.server, pytest.mark.slow]
TURNS = {"turns", "tool_calls", "document_versions"}


@pytest.fixture(scope="module")
def used(scratch: Scratch, settings: Settings) -> tuple[str, World]:
    """A database with something in every index."""
    url = scratch("upkeep")
    return url, make_world(url, settings, "upkeep")


@pytest.fixture
def admin(used: tuple[str, World]) -> Iterator[psycopg.Connection]:
    with psycopg.connect(used[0], autocommit=True) as connection:
        yield connection


def index_files(connection: psycopg.Connection) -> dict[str, int]:
    """The file of each index."""
    found: list[tuple[str, int]] = connection.execute(
        "SELECT relname, relfilenode FROM pg_class WHERE relkind = 'i'"
    ).fetchall()
    return dict(found)


def broken(admin: psycopg.Connection, name: str) -> None:
    """Leave an index as a killed rebuilding leaves it."""
    admin.execute(f"CREATE INDEX {name} ON memsvc.passages (user_id)".encode())
    admin.execute("UPDATE pg_index SET indisvalid = false WHERE indexrelid = %s::regclass", [f"memsvc.{name}"])


def test_all_indexes_are_rebuilt_while_people_read_and_write_and_leftovers_go(
    used: tuple[str, World], admin: psycopg.Connection, settings: Settings
) -> None:
    url, world = used
    broken(admin, "passages_words_ccnew")
    before = {index.name for index in indexes(admin)} - {"passages_words_ccnew"}
    files = index_files(admin)
    said: list[str] = []
    stop, answers = threading.Event(), list[object]()

    def people() -> None:
        with psycopg.connect(login_url(url, APP, settings), autocommit=True) as app:
            while not stop.is_set():
                with app.transaction():
                    app.execute("SELECT set_config('memsvc.identity', %s, true)", [world.token(world.ada)])
                    answers.append([row[:2] for row in recall_rows(app, world.ada.user_id)] == world.found)
                    app.execute("UPDATE memsvc.erasures SET verified_at = clock_timestamp()")

    reader = threading.Thread(target=people)
    reader.start()
    try:
        done = list(reindex.reindex(url, everything=True, memory="64MB", report=said.append))
    finally:
        stop.set()
        reader.join()
    assert {one.name for one in done} == before == {index.name for index in indexes(admin)}
    assert "embeddings_0_pkey" in before
    assert {index.table for index in indexes(admin) if index.name in before} >= TURNS
    assert "edge_versions_one_truth" not in before  # PostgreSQL cannot rebuild what excludes while it is used
    assert all(one.after > 0 for one in done)
    now = index_files(admin)
    assert all(now[name] != files[name] for name in before)
    assert all(index.valid for index in indexes(admin))
    assert said[0] == "leftover passages_words_ccnew is dropped"
    assert len(answers) > 1
    assert all(answers)
    assert list(reindex.reindex(url, everything=True)) == []  # said again within a day, it has nothing left to do


def test_by_itself_only_those_that_keep_erased_words_or_vectors(
    used: tuple[str, World], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reindex, "RECENTLY", timedelta(0))
    names = [one.name for one in reindex.reindex(used[0])]
    assert {"passages_words", "aliases_trigrams", "passages_metadata"} <= set(names)
    assert not any(name.endswith("_pkey") for name in names)
    assert [one.name for one in reindex.reindex(used[0], ["passages_pkey"])] == ["passages_pkey"]
    with pytest.raises(NotFoundError, match="passages_word, x"):
        list(reindex.reindex(used[0], ["x", "passages_word"]))


def test_an_open_transaction_is_not_waited_for_without_end(
    used: tuple[str, World], admin: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reindex, "PATIENCE", "1s")
    monkeypatch.setattr(reindex, "LOOK_S", 0.05)
    said: list[str] = []
    with psycopg.connect(used[0]) as old:
        old.execute("SELECT count(*) FROM memsvc.passages")
        old.execute("LOCK TABLE memsvc.passages IN ROW EXCLUSIVE MODE")
        with pytest.raises(ContendedError, match="passages_words"):
            list(reindex.reindex(used[0], ["passages_words"], report=said.append))
        assert said[0].startswith("1 of 1: passages_words (gin, ")
        assert "  waiting for writers before build" in said
        assert {index.name for index in indexes(admin) if not index.valid} <= {"passages_words_ccnew"}
    assert [one.name for one in reindex.reindex(used[0], ["passages_words"])] == ["passages_words"]
    assert all(index.valid for index in indexes(admin))


def test_what_needs_care_is_said(
    used: tuple[str, World], admin: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = used[0]
    found = look(url)
    assert found.good
    assert {"passages", "embeddings_0", "dramatiq_queue"} <= {table.name for table in found.tables}
    assert all(table.size > 0 for table in found.tables if table.name == "passages")
    broken(admin, "passages_half")
    monkeypatch.setattr(care, "LONG_TRANSACTION_S", 0)
    monkeypatch.setattr(care, "WRAPAROUND", 10)
    monkeypatch.setattr(care, "DEAD_SHARE", -1)
    monkeypatch.setattr(care, "FEW_ROWS", -1)
    with psycopg.connect(url) as old:
        old.execute("SELECT count(*) FROM memsvc.passages")
        wrong = {check.name: check.says for check in look(url).checks if check.state != "ok"}
    admin.execute("DROP INDEX memsvc.passages_half")
    assert set(wrong) == {"dead rows", "oldest transaction", "wraparound", "indexes"}
    assert "passages_half" in wrong["indexes"]
    assert "a session's" in wrong["oldest transaction"]


def test_sizes_are_told_of_every_table_and_index(used: tuple[str, World], admin: psycopg.Connection) -> None:
    found = sizes(used[0])
    tables = {table.name: table for table in found.tables}
    assert {"passages", "embeddings_0", "source_links", *TURNS} <= tables.keys()
    assert all(tables[name].total > tables[name].indexes > 0 for name in TURNS)
    assert all(table.total == table.rows + table.indexes for table in found.tables)
    assert [table.total for table in found.tables] == sorted((table.total for table in found.tables), reverse=True)
    assert [index.total for index in found.indexes] == sorted((index.total for index in found.indexes), reverse=True)
    names = {index.name for index in found.indexes}
    assert names >= {index.name for index in indexes(admin)} | {"edge_versions_one_truth"}
    of_passages = sum(index.total for index in found.indexes if index.table == "passages")
    assert of_passages == tables["passages"].indexes > 0
    assert {index.kind for index in found.indexes} >= {"btree", "gin", "gist"}
    assert found.database > sum(table.total for table in found.tables)


@pytest.mark.parametrize(
    ("live", "dead", "worn"), [(0, 0, False), (100, 9_000, False), (100_000, 20_000, False), (20_000, 20_000, True)]
)
def test_a_table_is_worn_by_many_dead_rows_that_are_a_large_share(live: int, dead: int, *, worn: bool) -> None:
    assert TableCare("t", 1, live, dead, None).worn is worn


def test_a_server_that_is_down_is_said_so(tmp_path: Path) -> None:
    nowhere = f"postgresql://nobody@/nothing?host={tmp_path}"
    for measure in (look, sizes):
        with pytest.raises(DatabaseUnavailableError):
            measure(nowhere)
    with pytest.raises(DatabaseUnavailableError):
        list(reindex.reindex(nowhere))


def test_what_was_just_rebuilt_is_left_out_unless_it_is_named() -> None:
    now = datetime.now(UTC)
    comments = (None, "mine", "rebuilt at noon", f"rebuilt at {now - timedelta(days=2):%Y-%m-%dT%H:%M:%S%z}")
    old = [reindex.Index(f"i{place}", "a", "gin", 1, True, comment) for place, comment in enumerate(comments)]
    new = reindex.Index("new", "a", "gin", 1, True, f"rebuilt at {now:%Y-%m-%dT%H:%M:%S%z}")
    assert chosen([*old, new]) == old
    assert chosen([*old, new], ["new"]) == [new]


def test_leftovers_are_chosen_by_nobody() -> None:
    leftover = reindex.Index("a_ccnew1", "a", "gin", 1, valid=False)
    assert chosen([leftover], everything=True) == []
