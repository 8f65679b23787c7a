"""An export and its import: the same bytes, the same answers, and a memory that goes on."""

from __future__ import annotations

import asyncio
import itertools
import random
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest

from memsvc.access.users import Owner, app_id, find_user
from memsvc.db.engine import Database, role_url
from memsvc.db.identity import Signer
from memsvc.errors import UserNotEmptyError, UserUnknownError
from memsvc.settings import Settings
from memsvc.transfer.format import KINDS, LEFT_OUT, LEFT_OUT_COLUMNS
from memsvc.transfer.lines import LINES
from tests.sql.conftest import Scratch
from tests.sql.exports import Travel, enrich, play, rows_of
from tests.sql.histories import MAKE_TYPE, Player, day, make_user
from tests.sql.world import APP, Logins, login_url, recall_rows, value

pytestmark = pytest.mark.slow
_numbers = itertools.count()
SEEDS = (1, 2, 3)
Writers = tuple[psycopg.Connection, psycopg.Connection]
READS = (
    """
    SELECT version_id, edge_id, from_node, to_node, fact, data, weight, confidence, valid_from::text, valid_to::text,
      recorded_from, recorded_to::text, contested, stored_from
    FROM memsvc.facts(%(user)s, %(nodes)s, NULL, %(as_of)s, %(known)s)
    """,
    """
    SELECT canonical_id, version_id, type, label, data, importance, valid_from::text, valid_to::text, recorded_from
    FROM memsvc.node_states(%(user)s, %(nodes)s, %(as_of)s, %(known)s)
    """,
    """
    SELECT canonical_id, alias_id, alias, normal_form, valid_from::text, recorded_from
    FROM memsvc.node_names(%(user)s, %(nodes)s, %(as_of)s, %(known)s)
    """,
    "SELECT node_id, canonical_id FROM memsvc.resolve_nodes(%(user)s, %(nodes)s, %(known)s)",
    "SELECT name, canonical_id FROM memsvc.nodes_called(%(user)s, '{ann,ann b}', %(as_of)s, %(known)s)",
    """
    SELECT v.version_id, l.link_id, l.passage_id, l.span_from, l.stance
    FROM memsvc.edge_versions AS v
    CROSS JOIN LATERAL memsvc.links_of(%(user)s, 'edge', v.version_id, %(known)s) AS l
    WHERE v.user_id = %(user)s ORDER BY 1, 2
    """,
    "SELECT at, event, kind, id, content, changed_by FROM memsvc.history_of(%(user)s, (%(nodes)s)[1], NULL, 1000)",
)


@pytest.fixture
def writers(logins: Logins, settings: Settings) -> Iterator[Writers]:
    """Two connections of the application's login."""
    with psycopg.connect(logins.admin_url, autocommit=True) as admin:
        admin.execute(MAKE_TYPE.encode())
    url = login_url(logins.admin_url, APP, settings)
    with psycopg.connect(url, autocommit=True) as first, psycopg.connect(url, autocommit=True) as second:
        yield first, second


def act_for(connection: psycopg.Connection, settings: Settings, user_id: UUID) -> None:
    """Bind the session to a user."""
    token = Signer(settings.secret("identity_secret").encode(), 36_000).token(user_id)
    connection.execute("SELECT set_config('memsvc.identity', %s, false)", [token])


async def lived(travel: Travel, writers: Writers, admin: psycopg.Connection, seed: int) -> Player:
    """A user who has everything."""
    player = Player(*writers, make_user(writers[0], f"traveller {next(_numbers)}"))
    for connection in writers:
        act_for(connection, travel.settings, player.user_id)
    play(player, seed)
    owner = Owner(player.user_id, "Ada", "Europe/Berlin", "english")
    await enrich(travel, owner, admin)
    return player


@pytest.mark.parametrize("seed", SEEDS)
async def test_what_is_imported_gives_the_same_export_and_the_same_answers(
    seed: int, travel: Travel, writers: Writers, admin: psycopg.Connection
) -> None:
    player = await lived(travel, writers, admin, seed)
    first = await travel.out(player.user_id, "first")
    assert all(first[f"{kind}.jsonl"] for kind in KINDS), "every kind of row is proved"
    assert first == await travel.out(player.user_id, "again")
    loaded = await travel.into(f"settler {next(_numbers)}", "first")
    assert await travel.out(loaded.user.user_id, "second") == first
    await travel.out(loaded.user.user_id, "third.zip")
    third = await travel.into(f"settler {next(_numbers)}", "third.zip")
    assert await travel.out(third.user.user_id, "fourth") == first
    compare_reads(player, third.user.user_id, travel, random.Random(seed))
    goes_on(player, third.user.user_id, travel)


def compare_reads(player: Player, settled: UUID, travel: Travel, chance: random.Random) -> None:
    """Every read, at random times, is the same for both."""
    connection = player.connection
    moments: list[tuple[datetime | None, datetime | None]] = [(None, None), (day(2), None)]
    moments += [
        (day(chance.randrange(9)), chance.choice(player.changes)[1] - timedelta(microseconds=chance.randrange(2)))
        for _ in range(12)
    ]
    seen: list[list[Any]] = []
    for user in (player.user_id, settled):
        act_for(connection, travel.settings, user)
        found: list[Any] = []
        for as_of, known in moments:
            asked = {"user": user, "nodes": list(player.nodes.values()), "as_of": as_of, "known": known}
            found += [connection.execute(read.encode(), asked).fetchall() for read in READS]
        for question in ("Did the heron wait?", "passage", "שלום", "fifty", "鷺", "Nobody"):
            found.append(recall_rows(connection, user, question))
        seen.append(found)
    assert seen[0] == seen[1]
    assert sum(len(rows) for rows in seen[0]) > 200
    assert all(seen[0][-6:-2]), "recall finds something"


def goes_on(player: Player, settled: UUID, travel: Travel) -> None:
    """The imported memory takes the model's next steps, and its changes are later than all that was imported."""
    for connection in (player.connection, player.second):
        act_for(connection, travel.settings, settled)
    latest = value(
        player.connection,
        "SELECT greatest(max(v.recorded_from), max(nullif(v.recorded_to, 'infinity'))) FROM memsvc.edge_versions AS v "
        "WHERE v.user_id = %s",
        [settled],
    )
    player.user_id = settled
    before = len(player.changes)
    for kind in range(12):
        player.step([(kind, 3 * kind, 1, 4, 2, kind + 7, 5), (1, 2, 3, 4, 5, 6, 7)])
    assert len(player.changes) > before
    assert all(at > latest for _, at in player.changes[before:])
    player.compare([(tick, 3 * tick, tick) for tick in range(10)])


async def test_an_export_is_read_by_another_database(
    travel: Travel, writers: Writers, admin: psycopg.Connection, scratch: Scratch
) -> None:
    player = await lived(travel, writers, admin, 7)
    first = await travel.out(player.user_id, "first")
    url = scratch("elsewhere")
    with psycopg.connect(url, autocommit=True) as other:
        other.execute(MAKE_TYPE.encode())
    elsewhere = Database(role_url(url, APP, travel.settings.secret("app_password")), travel.settings)
    try:
        there = Travel(elsewhere, await app_id(elsewhere, "there"), travel.settings, travel.folder)
        loaded = await there.into("bob", "first")
        assert await there.out(loaded.user.user_id, "second") == first
    finally:
        await elsewhere.close()


async def test_a_user_of_memsvcs_own_making_makes_the_round_trip(
    travel: Travel, owner: Owner, admin: psycopg.Connection
) -> None:
    """With the node that every user gets, and nothing else; and then with messages."""
    for turn in range(2):
        first = await travel.out(owner.user_id, f"first{turn}")
        assert first["nodes.jsonl"].count(b"\n") == 1
        assert first["aliases.jsonl"].count(b"\n") == 6
        loaded = await travel.into(f"settler {next(_numbers)}", f"first{turn}")
        assert loaded.user.name == "Ada"
        assert await travel.out(loaded.user.user_id, f"second{turn}") == first
        await travel.say(owner, "A heron.")
    jobs = "SELECT kind, state, subject_id FROM memsvc.jobs WHERE user_id = %s"
    source = value(admin, "SELECT source_id FROM memsvc.sources WHERE user_id = %s", [loaded.user.user_id])
    assert admin.execute(jobs, [loaded.user.user_id]).fetchall() == [("process", "pending", source)]
    assert value(admin, "SELECT count(*) FROM memsvc.outbox WHERE user_id = %s", [loaded.user.user_id]) == 1
    queued = "SELECT count(*) FROM memsvc.dramatiq_queue WHERE user_id = %s"
    assert value(admin, queued, [loaded.user.user_id]) == 1


async def test_the_target_must_have_nothing(
    travel: Travel, owner: Owner, other: Owner, admin: psycopg.Connection
) -> None:
    await travel.say(owner, "A heron.")
    await travel.out(owner.user_id, "it")
    before = rows_of(admin, other.user_id)
    for ref in (str(other.user_id), (await find_user(travel.db, travel.app, str(other.user_id))).external_id):
        with pytest.raises(UserNotEmptyError):
            await travel.into(ref, "it")
    assert rows_of(admin, other.user_id) == before
    empty = value(
        admin, "SELECT memsvc.create_user(%s, %s, 'Eve', 'UTC', 'german')", [travel.app, f"eve {next(_numbers)}"]
    )
    loaded = await travel.into(str(empty), "it")
    assert (loaded.user.user_id, loaded.user.name, loaded.user.language) == (empty, "Eve", "german")
    with pytest.raises(UserNotEmptyError):
        await travel.into(str(empty), "it")


async def test_an_export_is_of_one_moment(travel: Travel, owner: Owner) -> None:
    """Somebody writes between any two pages of the export; it can be imported, and has nothing of it."""
    await travel.say(owner, *(f"Message {n}." for n in range(20)))
    before = await travel.out(owner.user_id, "before")
    written: list[asyncio.Task[Any]] = []

    def write(path: str, _rows: int) -> None:
        written.append(asyncio.create_task(travel.say(owner, f"While {path} is read.", conversation=path)))

    during = await travel.out(owner.user_id, "during", progress=write)
    await asyncio.gather(*written)
    assert len(written) > 3
    assert during == before
    await travel.into(f"settler {next(_numbers)}", "during")
    after = await travel.out(owner.user_id, "after")
    assert after["passages.jsonl"].count(b"\n") == 20 + len(written)


async def test_an_export_holds_nobody_elses_rows(
    travel: Travel, writers: Writers, owner: Owner, admin: psycopg.Connection
) -> None:
    player = await lived(travel, writers, admin, 11)
    await travel.say(owner, "My own heron.")
    mine = await travel.out(owner.user_id, "mine")
    theirs = await travel.out(player.user_id, "theirs")
    assert mine["passages.jsonl"].count(b"\n") == 1
    whole = b"".join(mine.values())
    for kind in ("sources", "passages", "nodes", "node_versions", "edges", "edge_versions", "changes", "merges"):
        for line in theirs[f"{kind}.jsonl"].splitlines():
            assert line.split(b'"')[3] not in whole
    users = {str(owner.user_id), str(player.user_id)}
    assert not any(user.encode() in whole or user.encode() in b"".join(theirs.values()) for user in users)


async def test_nobodys_export_is_an_error_and_leaves_nothing(travel: Travel) -> None:
    for name in ("nobody", "nobody.zip"):
        with pytest.raises(UserUnknownError):
            await travel.out(UUID(int=7), name)
    assert travel.names() == []


async def test_an_import_that_is_broken_off_leaves_nothing(
    travel: Travel, owner: Owner, admin: psycopg.Connection
) -> None:
    await travel.say(owner, "A heron.")
    await travel.out(owner.user_id, "it")
    ref = f"settler {next(_numbers)}"
    users = value(admin, "SELECT count(*) FROM memsvc.users")

    def stop(path: str, _rows: int) -> None:
        if path == "aliases.jsonl":
            raise EOFError

    with pytest.raises(EOFError):
        await travel.into(ref, "it", progress=stop)
    assert value(admin, "SELECT count(*) FROM memsvc.users") == users
    assert (await travel.into(ref, "it")).rows["passages"] == 1


async def test_two_imports_at_once_are_one(travel: Travel, owner: Owner) -> None:
    first = await travel.out(owner.user_id, "it")
    ref = f"settler {next(_numbers)}"
    both = await asyncio.gather(*(travel.into(ref, "it") for _ in range(2)), return_exceptions=True)
    assert sorted(type(one).__name__ for one in both) == ["Loaded", "UserNotEmptyError"]
    found = await find_user(travel.db, travel.app, ref)
    assert await travel.out(found.user_id, "second") == first


# The catalogue


def columns(admin: psycopg.Connection, table: str) -> set[str]:
    """The columns of a table."""
    rows = admin.execute(
        "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped",
        [f"memsvc.{table}"],
    )
    return {row[0] for row in rows}


def test_every_table_with_rows_of_users_is_exported_or_left_out_for_a_reason(admin: psycopg.Connection) -> None:
    owned = {
        row[0]
        for row in admin.execute(
            "SELECT c.relname FROM pg_class AS c INNER JOIN pg_attribute AS a ON a.attrelid = c.oid "
            "WHERE c.relnamespace = 'memsvc'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition "
            "AND a.attname = 'user_id' AND NOT a.attisdropped"
        )
    }
    assert owned == {*KINDS, *LEFT_OUT}
    assert not set(KINDS) & set(LEFT_OUT)
    assert list(LINES) == list(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_every_column_is_exported_or_left_out_for_a_reason(kind: str, admin: psycopg.Connection) -> None:
    left_out = {column for table, column in LEFT_OUT_COLUMNS if table == kind}
    assert columns(admin, kind) == {"user_id", *LINES[kind].__struct_fields__, *left_out}
    assert not left_out & set(LINES[kind].__struct_fields__)
