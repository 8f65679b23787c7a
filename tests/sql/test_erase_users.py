"""A whole user is erased: every table, in steps that may be killed, while others write; nobody else notices."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg import errors, sql

from memsvc.access.keys import create_key
from memsvc.access.users import Owner, User, add_user, app_id, find_user, list_users
from memsvc.db.engine import Database, role_url
from memsvc.erasing import users as erase_users
from memsvc.erasing.users import erase_user, go_on_erasing, preview_user, user_erasure
from memsvc.errors import AlreadyExistsError, MemsvcError, NotFoundError, UserUnknownError
from memsvc.graph.history import write
from memsvc.graph.operations import Alias, Edge, Evidence, Merge, Node
from memsvc.queue.execution import run_due, run_job
from memsvc.queue.jobs import list_jobs
from memsvc.server.upgrade import upgrade
from memsvc.settings import Settings
from memsvc.sources.messages import MessageIn, append
from tests.migration.samples import OTHER, USER, Rows, all_rows, insert_samples
from tests.sql.conftest import Scratch
from tests.sql.traces import dump
from tests.sql.world import APP, Logins, World, append_rows, message, value

SETTINGS = Settings.model_validate({"data_dir": "/nowhere"})
MARK = "zzquagmire"
PEACE = "kingfisher"
ALL_WITH_USERS = """
SELECT c.table_name FROM information_schema.columns AS c
INNER JOIN information_schema.tables AS t USING (table_schema, table_name)
WHERE c.table_schema = 'memsvc' AND c.column_name = 'user_id' AND t.table_type = 'BASE TABLE'
AND c.table_name NOT LIKE 'embeddings\\__' AND c.table_name <> 'audit_log'
"""


@pytest.fixture
async def place(scratch: Scratch, settings: Settings) -> AsyncIterator[tuple[Database, str]]:
    """A database of its own, and its administrator's URL."""
    url = scratch("erasing")
    database = Database(role_url(url, "memsvc_app", settings.secret("app_password")), settings)
    yield database, url
    await database.close()


async def remember(db: Database, user: User, words: str) -> None:
    """Put words into every place where a user's words can stand."""
    owner = user.owner
    stored = await append(
        db,
        owner,
        [
            MessageIn(
                conversation=f"{words} talk", session=f"{words} session", speaker=f"{words} speaker", id=f"{words}-{n}",
                text=f"{words} said number {n} in the {words}{n} house. " * 40, caption=f"{words} picture",
                metadata={words: words},
            )
            for n in range(30)
        ],
        SETTINGS,
    )  # fmt: skip
    passage = stored[0].passage_id
    assert passage is not None
    evidence = [Evidence(passage_id=passage)]
    made = await write(
        db,
        owner,
        [
            Node(type="Person", label=f"{words} person", description=f"{words} tall", data={words: 1}),
            Node(type="Person", label=f"{words} twin", evidence=evidence),
            Edge(from_node=0, type="KNOWS", to_node=1, fact=f"{words} knows", key=words, data={words: 2},
                 evidence=evidence),
            Alias(node=0, alias=f"{words} nickname"),
        ],
        asserted_by=f"{words} extractor",
    )  # fmt: skip
    first, second = made.results[0].node_id, made.results[1].node_id
    assert first is not None
    assert second is not None
    await write(db, owner, [Merge(node=second, canonical=first, reason=f"{words} reason")], asserted_by=words)


async def marked_user(db: Database, app: UUID, words: str) -> User:
    """A user who has words everywhere, a key with a label and folded statistics."""
    user = await add_user(db, app, name=f"{words} name", external_id=f"{words}@example.org", aliases=[f"{words} alias"])
    await remember(db, user, words)
    await run_due(db)
    await append(db, user.owner, [MessageIn(conversation="late", text=f"{words} late")], SETTINGS)
    await create_key(db, app, user_id=user.user_id, label=f"{words} label")
    return user


def rows_of(rows: Rows, user_id: object) -> Rows:
    """Rows of one user by table, the audit log apart."""
    found = {
        table: [row for row in kept if row.get("user_id") == str(user_id)]
        for table, kept in rows.items()
        if table != "audit_log"
    }
    return {table: kept for table, kept in found.items() if kept}


# Which tables


def test_every_table_with_a_user_is_erased_in_the_order_of_foreign_keys(admin: psycopg.Connection) -> None:
    order = [row[0] for row in admin.execute("SELECT name FROM memsvc.user_tables()")]
    assert sorted(order) == sorted(row[0] for row in admin.execute(ALL_WITH_USERS))
    assert len(order) == len(set(order)) > 20
    assert order[-1] == "users"
    keys = admin.execute(
        "SELECT conrelid::regclass::text, confrelid::regclass::text FROM pg_constraint "
        "WHERE contype = 'f' AND connamespace = 'memsvc'::regnamespace"
    ).fetchall()
    for child, parent in keys:
        child, parent = child.removeprefix("memsvc."), parent.removeprefix("memsvc.")  # noqa: PLW2901
        if child != parent and {child, parent} <= set(order):
            assert order.index(child) < order.index(parent), f"{child} refers to {parent}"


async def test_a_sample_of_every_table_goes_and_the_neighbours_rows_stay(place: tuple[Database, str]) -> None:
    db, url = place
    with psycopg.connect(url, autocommit=True) as admin:
        insert_samples(admin, "9999")
        before = all_rows(admin)
        app = UUID(before["apps"][0]["app_id"])
        expected = {table: len(kept) for table, kept in rows_of(before, USER).items()}
        assert len(expected) > 15
        previewed = await preview_user(db, app, USER)
        assert previewed == expected
        assert all_rows(admin) == before, "a preview changed something"
        receipt = await erase_user(db, app, USER, requested_by="test")
        after = all_rows(admin)
    assert rows_of(after, USER) == {}
    assert rows_of(after, OTHER) == rows_of(before, OTHER) != {}
    assert (receipt.state, receipt.verified, receipt.leftovers) == ("done", True, {})
    assert sum(receipt.counts.values()) == sum(expected.values())
    for table in ("apps", "embedding_models", "identity_keys"):
        assert after[table] == before[table]
    for table in ("node_types", "edge_types"):
        assert after[table] == [row for row in before[table] if row["user_id"] != USER]


async def test_a_table_to_come_is_erased_too(place: tuple[Database, str], settings: Settings) -> None:
    db, url = place
    user = await add_user(db, await app_id(db), name="Ada")
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute("SET ROLE memsvc_owner")
        admin.execute(
            "CREATE TABLE memsvc.later (user_id uuid REFERENCES memsvc.users, n integer, before integer, "
            "PRIMARY KEY (user_id, n), FOREIGN KEY (user_id, before) REFERENCES memsvc.later (user_id, n))"
        )
        admin.execute("ALTER TABLE memsvc.later ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
        admin.execute("RESET ROLE")
        for number in range(40):  # a chain: each row refers to the one before
            admin.execute(
                "INSERT INTO memsvc.later VALUES (%s, %s, %s)", [user.user_id, number, number - 1 if number else None]
            )
        admin.execute("DELETE FROM memsvc.applied_sql")
        upgrade(url, settings)
        receipt = await erase_user(db, await app_id(db), "Ada", requested_by="test")
        assert receipt.counts["later"] == 40
        assert value(admin, "SELECT count(*) FROM memsvc.later") == 0


# What is gone


async def test_no_byte_of_an_erased_user_is_found(place: tuple[Database, str]) -> None:
    db, url = place
    app = await app_id(db)
    marked, peaceful = await marked_user(db, app, MARK), await marked_user(db, app, PEACE)

    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute(
            "INSERT INTO memsvc.dramatiq_queue (message_id, user_id, state, message) "
            "VALUES (gen_random_uuid(), %s, 'rejected', %s)",
            [marked.user_id, f'{{"error": "{MARK}"}}'],
        )
        admin.execute("ANALYZE")
        before = rows_of(all_rows(admin), peaceful.user_id)
        assert dump(url).count(MARK) > 200
        receipt = await erase_user(db, app, marked.external_id, requested_by="test")
        assert receipt.verified
        left = dump(url)
        assert MARK not in left
        assert left.count(PEACE) > 200
        assert str(marked.user_id) in left, "the audit log says that there was somebody"
        assert rows_of(all_rows(admin), peaceful.user_id) == before
        statistics = admin.execute(
            "SELECT a.attrelid::regclass::text || '.' || a.attname FROM pg_statistic INNER JOIN pg_attribute AS a "
            "ON a.attrelid = starelid AND a.attnum = staattnum WHERE concat(stavalues1::text, stavalues2::text, "
            "stavalues3::text, stavalues4::text, stavalues5::text) ILIKE %s",
            [f"%{MARK}%"],
        ).fetchall()
        assert statistics == []


async def test_the_audit_log_keeps_counts_and_no_name(db: Database, app: UUID, admin: psycopg.Connection) -> None:
    user = await marked_user(db, app, f"{MARK}x")
    receipt = await erase_user(db, app, user.external_id, requested_by="test")
    entries = admin.execute(
        "SELECT action, to_jsonb(l)::text, details FROM memsvc.audit_log AS l WHERE user_id = %s ORDER BY audit_id",
        [user.user_id],
    ).fetchall()
    assert [entry[0] for entry in entries] == ["user.create", "key.create", "user.erase", "user.erased"]
    assert not any(MARK in entry[1] for entry in entries)
    assert entries[-1][2] == {"rows": receipt.counts}
    assert receipt.counts["passages"] >= 30
    assert await user_erasure(db, app, user.user_id) == receipt


async def test_an_external_id_can_be_given_anew(db: Database, app: UUID) -> None:
    first = await add_user(db, app, name="Ada", external_id="again")
    await append(db, first.owner, [MessageIn(conversation="c", id="m", text="the first")], SETTINGS)
    await erase_user(db, app, "again", requested_by="test")
    second = await add_user(db, app, name="Ada", external_id="again")
    assert second.user_id != first.user_id
    [stored] = await append(db, second.owner, [MessageIn(conversation="c", id="m", text="the second")], SETTINGS)
    assert stored.outcome == "created"
    assert (await user_erasure(db, app, first.user_id)).verified


# Step by step


async def test_it_goes_on_where_it_was(
    db: Database, app: UUID, other: Owner, admin: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erase_users, "BATCH", 20)
    monkeypatch.setattr(erase_users, "SMALLEST_BATCH", 1)
    user = await marked_user(db, app, "stepwise")
    expected = await preview_user(db, app, user.external_id)
    steps: list[tuple[int, int]] = []
    receipt = await erase_user(
        db, app, user.external_id, requested_by="test", seconds=0, on_progress=lambda *step: steps.append(step)
    )
    assert (receipt.state, receipt.verified, receipt.finished_at) == ("pending", None, None)
    assert steps == [(20, sum(expected.values()))]
    assert sum(receipt.counts.values()) == 20

    with pytest.raises(UserUnknownError):
        await find_user(db, app, user.external_id)
    assert await list_users(db, app, ref=str(user.user_id)) == []
    with pytest.raises(UserUnknownError):
        await append(db, user.owner, [MessageIn(conversation="c", text="more")], SETTINGS)
    with pytest.raises(UserUnknownError):
        await list_jobs(db, user.user_id)
    with pytest.raises(UserUnknownError):
        await preview_user(db, app, user.external_id)
    with pytest.raises(AlreadyExistsError):
        await add_user(db, app, name="Ada", external_id=user.external_id)
    due = {row[0] for row in admin.execute("SELECT user_id FROM memsvc.due_jobs(1000)")}
    assert user.user_id not in due
    await run_due(db)

    again = await erase_user(db, app, user.external_id, requested_by="somebody else", seconds=0)
    assert (again.erasure_id, again.requested_by) == (receipt.erasure_id, "test")
    assert sum(again.counts.values()) == 40
    assert await go_on_erasing(db, seconds=0)
    while await go_on_erasing(db):
        pass
    done = await user_erasure(db, app, user.user_id)
    assert (done.state, done.verified) == ("done", True)
    assert {table: done.counts[table] for table in expected} == expected
    with pytest.raises(UserUnknownError):
        await erase_user(db, app, user.external_id, requested_by="test")
    assert [one.user_id for one in await list_users(db, app, ref=str(other.user_id))] == [other.user_id]


async def test_work_for_a_user_who_is_erased_is_gone(db: Database, app: UUID, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(erase_users, "BATCH", 1)
    user = await add_user(db, app, name="Ada", external_id=f"worked-{uuid4()}")
    [stored] = await append(db, user.owner, [MessageIn(conversation="c", text="work")], SETTINGS)
    assert stored.job_id is not None
    begun, may_end = asyncio.Event(), asyncio.Event()

    async def slow(_db: Database, _user: UUID, _subject: UUID) -> bool:
        begun.set()
        await may_end.wait()
        return False

    running = asyncio.create_task(run_job(db, "process", user.user_id, stored.job_id, [slow]))
    await begun.wait()
    await erase_user(db, app, user.external_id, requested_by="test", seconds=0)
    may_end.set()
    assert await running == "gone"  # it was at it when the mark was set
    for steps in ([slow], []):
        assert await run_job(db, "process", user.user_id, stored.job_id, steps) == "gone"
    assert await go_on_erasing(db, 60) is False
    assert (await user_erasure(db, app, user.user_id)).verified


async def test_others_go_on_writing_and_so_does_the_user_until_the_end(db: Database, app: UUID, other: Owner) -> None:
    user = await marked_user(db, app, f"busy-{uuid4()}")
    ended: list[MemsvcError] = []
    begun = asyncio.Event()

    async def ingest(number: int) -> None:
        for place in range(10_000):
            try:
                await append(db, user.owner, [MessageIn(conversation=f"c{number}", text=f"{number} {place}")], SETTINGS)
            except MemsvcError as error:
                ended.append(error)
                return
            if place == 3:
                begun.set()

    async def calm() -> int:
        for place in range(30):
            await append(db, other, [MessageIn(conversation="calm", id=f"m{place}", text=f"calm {place}")], SETTINGS)
        return 30

    writers = [asyncio.create_task(ingest(number)) for number in range(3)]
    neighbour = asyncio.create_task(calm())
    await begun.wait()
    receipt = await erase_user(db, app, user.external_id, requested_by="test")
    await asyncio.gather(*writers)
    assert [type(error) for error in ended] == [UserUnknownError] * 3
    assert await neighbour == 30
    assert (await user_erasure(db, app, user.user_id)).leftovers == {}
    assert receipt.verified


@pytest.mark.parametrize("last", ["commit", "rollback"])
async def test_who_was_in_the_middle_of_writing_is_waited_for(
    db: Database, app: UUID, logins: Logins, last: str
) -> None:
    user = await marked_user(db, app, f"late-{uuid4()}")
    with logins.enter(APP, db.signer.token(user.user_id)) as writer:
        append_rows(writer, user.user_id, [message("too late", 0, conversation="late talk")])
        erasing = asyncio.create_task(erase_user(db, app, user.external_id, requested_by="test"))
        for _ in range(500):
            if await user_state(db, app, user) == "pending":
                break
            await asyncio.sleep(0.02)
        await asyncio.sleep(0.3)
        assert not erasing.done()
        getattr(writer, last)()
        receipt = await erasing
    assert (receipt.state, receipt.verified) == ("done", True)


async def user_state(db: Database, app: UUID, user: User) -> str | None:
    """How far the user's erasing is; None: not begun."""
    try:
        return (await user_erasure(db, app, user.user_id)).state
    except NotFoundError:
        return None


# Who may


async def test_apps_erase_their_own_users_alone(db: Database, app: UUID, owner: Owner) -> None:
    foreign = await app_id(db, "another app")
    for ref in (str(owner.user_id), "nobody", "", "x" * 300, str(uuid4())):
        with pytest.raises(UserUnknownError):
            await erase_user(db, foreign, ref, requested_by="test")
        with pytest.raises(UserUnknownError):
            await preview_user(db, foreign, ref)
    with pytest.raises(NotFoundError):
        await user_erasure(db, foreign, owner.user_id)
    assert await append(db, owner, [MessageIn(conversation="c", text="still here")], SETTINGS)


def test_nobody_is_erased_without_a_mark_or_a_token(logins: Logins, world: World) -> None:
    calls: list[tuple[str, type[psycopg.Error], str]] = [
        (f"SELECT * FROM memsvc.erase_user('{world.bob.user_id}', 10)", errors.InsufficientPrivilege, "ada"),
        (f"SELECT * FROM memsvc.rows_of_user('{world.bob.user_id}')", errors.InsufficientPrivilege, "ada"),
        (f"SELECT * FROM memsvc.erase_user('{world.ada.user_id}', 10)", errors.ObjectNotInPrerequisiteState, "ada"),
        (f"SELECT memsvc.erase_user_rows('{world.ada.user_id}', 10, true)", errors.InsufficientPrivilege, "ada"),
        (f"SELECT * FROM memsvc.rows_of_user('{world.ada.user_id}')", errors.InsufficientPrivilege, ""),
        ("DELETE FROM memsvc.users", errors.InsufficientPrivilege, "ada"),
    ]
    for call, error, who in calls:
        with logins.enter(APP, world.token(world.ada) if who else "") as connection, pytest.raises(error):
            connection.execute(sql.SQL(call))


def test_a_user_who_is_erased_can_do_nothing_more_with_old_keys(
    admin: psycopg.Connection, logins: Logins, world: World
) -> None:
    with logins.enter(APP) as connection:
        key = world.keys["ada"]
        lookup = "SELECT count(*) FROM memsvc.authenticate_key(%s, %s, NULL)"
        assert value(connection, lookup, [key.key_id, key.hash]) == 1
        begun: Any = value(
            connection,
            "SELECT memsvc.begin_user_erasure(%s, %s, 'test')",
            [world.ada.app_id, str(world.ada.user_id)],
        )
        assert begun == world.ada.user_id
        assert value(connection, lookup, [key.key_id, key.hash]) == 0
        app_key = world.keys["app"]
        named = "SELECT user_id FROM memsvc.authenticate_key(%s, %s, %s)"
        assert value(connection, named, [app_key.key_id, app_key.hash, world.ada.external_id]) is None
        assert value(connection, named, [app_key.key_id, app_key.hash, world.bob.external_id]) == world.bob.user_id
