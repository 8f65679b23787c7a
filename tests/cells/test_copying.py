"""Copying rows: only those that are new, whatever their transactions' numbers; and making a table equal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from uuid import UUID

import psycopg
import pytest
from psycopg import sql

from memsvc.cells import copying
from memsvc.cells.copying import LATE, LEFT, Copier, Table, snapshot, tables_of
from memsvc.cells.sites import connect
from tests.cells.pair import COPIED, Deployment
from tests.sql.world import World

pytestmark = pytest.mark.slow
SINCE = sql.SQL("SELECT {} FROM (SELECT {}::text::xid AS xmin) AS r")
TOPS = [2**32 - 10, 2**33 + 5, 7 * 2**32 + 2**31, 2**31 - 3]


@dataclass(frozen=True)
class Pair:
    """A copier, with a transaction of the target that is rolled back at the end."""

    copier: Copier
    source: psycopg.Connection

    def table(self, name: str) -> Table:
        return next(table for table in self.copier.tables if table.name == name)

    def seen(self) -> int:
        """A snapshot's number, after which nothing was written."""
        with snapshot(self.source) as number:
            return number

    def equal(self, name: str) -> bool:
        with snapshot(self.source):
            return self.copier.differing([self.table(name)]) == []


@pytest.fixture
def pair(deployment: Deployment, world: World) -> Iterator[Pair]:
    """Ada's rows in the home, and none in the cell."""
    with connect(deployment.home) as source, connect(deployment.north) as target:
        target.execute("SET session_replication_role = replica")
        with target.transaction(force_rollback=True):
            yield Pair(Copier(source, target, world.ada.user_id, {}, {}), source)


@pytest.fixture
def ada(world: World) -> UUID:
    return world.ada.user_id


def test_every_table_of_users_is_copied_or_named_as_left(deployment: Deployment) -> None:
    with psycopg.connect(deployment.home) as connection:
        found = [table.name for table in tables_of(connection)]
        users = {name for (name,) in connection.execute("SELECT name FROM memsvc.user_tables()")}
    assert sorted(found) == COPIED
    assert users - set(found) == LEFT
    assert set(found) >= LATE
    for child, parent in (("passages", "sources"), ("edges", "nodes"), ("edge_versions", "edges")):
        assert found.index(parent) < found.index(child)


def test_numbers_that_each_database_gives_and_generated_columns_are_not_copied(deployment: Deployment) -> None:
    with psycopg.connect(deployment.home) as connection:
        columns = {table.name: {column.name for column in table.columns} for table in tables_of(connection)}
    assert "gid" not in columns["nodes"]
    assert {"passage_id", "version_id"}.isdisjoint(columns["memory_signals"])
    assert "own_user_id" not in columns["node_types"]


@pytest.mark.parametrize("seen", TOPS)
def test_rows_are_new_from_a_transaction_on_also_where_numbers_wrap(deployment: Deployment, seen: int) -> None:
    with psycopg.connect(deployment.home) as connection:

        def new(number: int) -> bool:
            query = SINCE.format(Table.since(seen), sql.Literal(str(number % 2**32)))
            row = connection.execute(query).fetchone()
            assert row is not None
            return bool(row[0])

        assert all(new(seen + ahead) for ahead in (0, 1, 20, 2**31 - 1))
        assert not any(new(seen - behind) for behind in (1, 20, 2**31))


def test_a_first_copy_that_broke_off_in_a_table_goes_on_there(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copying, "CHUNK", 3)
    written: list[int] = []

    def breaks_off(_table: str, rows: int) -> None:
        written.append(rows)
        if len(written) == 2:
            raise KeyboardInterrupt

    table, broken = pair.table("passages"), replace(pair.copier, wrote=breaks_off)
    with pytest.raises(KeyboardInterrupt), snapshot(pair.source):
        broken.first(table)
    assert written == [3, 3]
    with snapshot(pair.source):
        assert pair.copier.first(table) == 1
    assert pair.equal("passages")


def test_a_round_copies_only_what_was_written_since(pair: Pair, ada: UUID) -> None:
    table = pair.table("tombstones")
    with snapshot(pair.source):
        assert pair.copier.first(table) == 2
    seen = pair.seen()
    with snapshot(pair.source):
        assert pair.copier.written(pair.copier.tables, seen) == []
    pair.source.execute("INSERT INTO memsvc.tombstones (user_id, digest) VALUES (%s, sha256('new'))", [ada])
    with snapshot(pair.source):
        assert pair.copier.written(pair.copier.tables, seen) == [table]
        assert pair.copier.changed(table, seen) == 1
    assert pair.equal("tombstones")


def test_a_transaction_that_was_running_at_the_snapshot_is_not_missed(
    pair: Pair, ada: UUID, deployment: Deployment
) -> None:
    table = pair.table("tombstones")
    with psycopg.connect(deployment.home) as late, psycopg.connect(deployment.home) as other:
        late.execute("INSERT INTO memsvc.tombstones (user_id, digest) VALUES (%s, sha256('late'))", [ada])
        other.execute("INSERT INTO memsvc.tombstones (user_id, digest) VALUES (%s, sha256('quick'))", [ada])
        other.commit()
        with snapshot(pair.source) as seen:
            pair.copier.first(table)
        late.commit()
    with snapshot(pair.source):
        assert pair.copier.changed(table, seen) == 2, "the quick one is copied again: its number is above"
    assert pair.equal("tombstones")


def test_what_was_deleted_and_made_anew_is_no_obstacle(pair: Pair, ada: UUID) -> None:
    table = pair.table("vaults")
    with snapshot(pair.source):
        pair.copier.first(table)
    seen = pair.seen()
    pair.source.execute("DELETE FROM memsvc.vaults WHERE user_id = %s", [ada])
    pair.source.execute(
        "INSERT INTO memsvc.vaults (user_id, folder, flavours) VALUES (%s, '/notes', '{markdown}')", [ada]
    )
    with snapshot(pair.source):
        pair.copier.changed(table, seen)
    assert pair.equal("vaults")


@pytest.mark.parametrize("damage", ["DELETE FROM {}", "UPDATE {} SET recorded_at = 'epoch'"])
def test_mending_makes_a_table_equal(pair: Pair, ada: UUID, damage: str) -> None:
    table = pair.table("tombstones")
    with snapshot(pair.source):
        pair.copier.first(table)
    rows = sql.SQL(damage).format(table.named) + sql.SQL(" WHERE digest = sha256('gone')")
    pair.copier.target.execute(rows)
    pair.copier.target.execute("INSERT INTO memsvc.tombstones (user_id, digest) VALUES (%s, sha256('surplus'))", [ada])
    assert not pair.equal("tombstones")
    with snapshot(pair.source):
        assert pair.copier.mend(table) == 1
    assert pair.equal("tombstones")


def test_a_difference_of_one_bit_is_found(pair: Pair, ada: UUID) -> None:
    table = pair.table("edges")
    with snapshot(pair.source):
        pair.copier.first(table)
    assert pair.equal("edges")
    pair.copier.target.execute(
        "UPDATE memsvc.edges SET created_at = created_at + interval '1 microsecond' WHERE user_id = %s", [ada]
    )
    assert not pair.equal("edges")


def test_rows_that_refer_to_nothing_are_counted(pair: Pair) -> None:
    with snapshot(pair.source):
        for table in pair.copier.tables:
            if table.name not in {"sources", "turns"}:
                pair.copier.first(table)
    found = pair.copier.orphans()
    assert found["passages"] == 7
    assert found["tool_calls"] == 2, "a call refers to its turn, and to its document"
