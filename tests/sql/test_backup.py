"""The restore drill: a backup taken under load holds one moment of it, and what was erased does not come back."""

from __future__ import annotations

import asyncio
import hashlib
import json
import stat
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
import psycopg
import pytest
from psycopg import sql
from pydantic import SecretStr
from sqlalchemy import make_url, text
from sqlalchemy.exc import DBAPIError

from memsvc.access.keys import Limits, authenticate, create_key, limit_key, list_keys, revoke_key
from memsvc.access.users import Owner, add_user, app_id, find_app, find_user, list_users
from memsvc.db.engine import Database, role_url
from memsvc.db.files import head_revision
from memsvc.erasing.again import Erased, ErasedAgain, erase_again, log_of_erasures, read_log
from memsvc.erasing.memories import erase, erasure, erasures
from memsvc.erasing.users import erase_user
from memsvc.errors import (
    AlreadyExistsError,
    ArchiveDamagedError,
    BackupLoginError,
    BackupNewerError,
    BackupUnusableError,
    BadFileError,
    ConfigurationError,
    DatabaseTooOldError,
    KeyRequiredError,
    KeyWrongError,
    MemsvcError,
    NotEncryptedError,
    RestoreTargetUsedError,
    RestoreUnfinishedError,
    UnauthenticatedError,
    UserUnknownError,
)
from memsvc.server.backup import ARCHIVE, MANIFEST, SEALED, Manifest, backup, count_rows
from memsvc.server.reindex import reindex
from memsvc.server.restore import open_backup, restore
from memsvc.server.sealed import key_of, lock_of
from memsvc.server.upgrade import is_current, upgrade
from memsvc.settings import Settings
from tests.cluster import Cluster
from tests.conftest import remembered
from tests.sql.conftest import Scratch
from tests.sql.forgetting import say
from tests.sql.world import APP, World, login_url, make_world, recall_rows

pytestmark = [pytest.mark.server, pytest.mark.slow]
# What a user has in a table, as one value.
DIGEST = "SELECT md5(coalesce(string_agg(t::text, '' ORDER BY t::text), '')) FROM memsvc.{} AS t WHERE t.user_id = %s"
MOMENT = datetime(2026, 1, 1, tzinfo=UTC)
OTHER_SECRET = "a secret of another place, which nobody here knows"


@dataclass(frozen=True, slots=True)
class Drill:
    """A database under load, a backup of it, and what was erased after that."""

    url: str
    world: World
    steady: Owner
    """Nobody writes for her."""
    busy: Owner
    """A writer and an eraser were at work for him."""
    gone: Owner
    """Erased after the backup."""
    folder: Path
    manifest: Manifest
    log: list[Erased]
    late: UUID
    """A message that was erased after the backup."""
    secret_key: str
    """An API key that was revoked after the backup."""
    lines: list[str]


@asynccontextmanager
async def database(url: str, settings: Settings) -> AsyncIterator[Database]:
    """A database as the application sees it."""
    made = Database(role_url(url, APP, settings.secret("app_password")), settings, pool_size=4)
    try:
        yield made
    finally:
        await made.close()


@pytest.fixture(scope="module")
async def drill(scratch: Scratch, settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Drill]:
    """Writers and an eraser work while the backup is taken."""
    url = scratch("drill")
    world = make_world(url, settings, "the drill")
    folder = tmp_path_factory.mktemp("backups") / "monday"
    lines: list[str] = []
    assert list(reindex(url, everything=True))  # its comments are on indexes that are not restored, too
    async with database(url, settings) as db:
        app = await app_id(db, "drills")
        steady, busy, gone = [
            (await add_user(db, app, name=name, external_id=name)).owner for name in ("Ada", "Bob", "Eve")
        ]
        await say(db, steady, settings, "The heron stood in the pond.", "Oak is what I like for shelves.")
        await say(db, gone, settings, "I move to Porto.")
        _, late = await say(db, busy, settings, "I keep bees.", "I saw a marten.", conversation="notes")
        key = await create_key(db, app, scopes=["read"], user_id=steady.user_id)
        written = asyncio.Event()

        async def load() -> None:
            for number in range(10_000):
                passages = await say(db, busy, settings, f"Line {number}.", f"Word{number}q.", start=2 * number)
                await erase(db, busy, "message", passages[1], requested_by="tests")
                if number == 5:
                    written.set()

        worker = asyncio.create_task(load())
        await written.wait()
        manifest = await asyncio.to_thread(backup, url, settings, folder, lines.append)
        worker.cancel()
        with suppress(asyncio.CancelledError):
            await worker
        await erase(db, busy, "message", late, requested_by="user")
        await erase_user(db, app, "Eve", requested_by="tests")
        await revoke_key(db, app, key)
        log = [entry async for entry in log_of_erasures(url, db, manifest.created_at)]
        yield Drill(url, world, steady, busy, gone, folder, manifest, log, late, key, lines)


@contextmanager
def empty(cluster: Cluster, name: str) -> Iterator[str]:
    """An empty database; nobody else brings one up meanwhile, for roles are the whole server's."""
    cluster.recreate(name)
    try:
        yield cluster.admin_url(name)
    finally:
        cluster.drop(name)


@pytest.fixture
def target(cluster: Cluster, worker_id: str) -> Iterator[str]:
    with cluster.alone(), empty(cluster, f"memsvc_test_restored_{worker_id}") as url:
        yield url


def nothing_in(folder: Path) -> bool:
    return not list(folder.iterdir())


def one(connection: psycopg.Connection, query: sql.SQL | sql.Composed, *values: object) -> Any:
    row = connection.execute(query, values).fetchone()
    return row and row[0]


def again(url: str, log: list[Erased], done: list[ErasedAgain]) -> Any:
    """What ``restore`` calls to erase again what a log names."""

    def repeat(believed: Settings) -> None:
        async def work() -> ErasedAgain:
            async with database(url, believed) as db:
                return await erase_again(db, log)

        done.append(asyncio.run(work()))

    return repeat


# The drill -----------------------------------------------------------------------------------------------------------


async def test_a_backup_under_load_restores_with_counts_recall_and_erasures_equal(
    drill: Drill, target: str, settings: Settings
) -> None:
    done: list[ErasedAgain] = []
    found = open_backup(settings, drill.folder)
    brought = await asyncio.to_thread(lambda: restore(target, settings, found, repeat=again(target, drill.log, done)))
    assert (brought.from_revision, brought.to_revision) == (head_revision(), head_revision())
    assert is_current(target)
    with psycopg.connect(drill.url) as before, psycopg.connect(target) as after:
        counts = count_rows(after)
        wanted = {
            **drill.manifest.rows,
            "users": 5,
            "node_versions": drill.manifest.rows["node_versions"] - 1,
        }  # no Eve
        for table in ("users", "apps", "embeddings", "edge_versions", "node_versions", "identity_keys"):
            assert counts[table] == wanted[table], table
        for table in drill.world.counts:  # what nobody wrote is the same to the last byte
            digest = sql.SQL(DIGEST).format(sql.Identifier(table))
            for user in (drill.world.ada.user_id, drill.world.eve.user_id, drill.steady.user_id):
                assert one(after, digest, user) == one(before, digest, user), table
        keys = sql.SQL("SELECT string_agg(k::text, ' ' ORDER BY k.key_id) FROM memsvc.identity_keys AS k")
        assert one(after, keys) == one(before, keys)
    with psycopg.connect(login_url(target, APP, settings)) as app:
        app.execute("SELECT set_config('memsvc.identity', %s, false)", [drill.world.token(drill.world.ada)])
        assert [row[:2] for row in recall_rows(app, drill.world.ada.user_id)] == drill.world.found
    async with database(drill.url, settings) as old, database(target, settings) as new:
        for query in ("heron in the pond", "which wood for shelves"):
            memories = await remembered(new, drill.steady, query, settings)
            assert memories == await remembered(old, drill.steady, query, settings)
            assert memories
        await _erasures_are_equal(drill, new, done[0], settings)


async def test_an_encrypted_backup_is_restored_by_its_key_and_by_nothing_else(
    drill: Drill, target: str, settings: Settings, tmp_path: Path
) -> None:
    pytest.importorskip("pyrage")
    from pyrage import x25519  # noqa: PLC0415

    identity = x25519.Identity.generate()
    (tmp_path / "key.txt").write_text(f"{identity}\n")
    (tmp_path / "wrong.txt").write_text(f"{x25519.Identity.generate()}\n")
    lock, key = lock_of([str(identity.to_public())]), key_of(tmp_path / "key.txt")
    folder = tmp_path / "tuesday"
    manifest = backup(drill.url, settings, folder, lock=lock)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
    assert modes == {MANIFEST: 0o600, SEALED: 0o600}
    raw = (folder / SEALED).read_bytes()
    assert b"PGDMP" not in raw
    assert (manifest.format, manifest.encrypted, manifest.bytes) == (2, True, len(raw))
    for given, error in ((None, KeyRequiredError), (key_of(tmp_path / "wrong.txt"), KeyWrongError)):
        with pytest.raises(error):
            open_backup(settings, folder, key=given)
    with pytest.raises(NotEncryptedError):
        open_backup(settings, drill.folder, key=key)
    (folder / SEALED).write_bytes(raw[:-1])
    with pytest.raises(BackupUnusableError):
        open_backup(settings, folder, key=key)
    # A manifest that fits what was cut off does not help: age notices it, and nothing is let in.
    fitting = msgspec.structs.replace(manifest, bytes=len(raw) - 1, sha256=hashlib.sha256(raw[:-1]).hexdigest())
    (folder / MANIFEST).write_bytes(msgspec.json.encode(fitting))
    with pytest.raises((ArchiveDamagedError, BackupUnusableError)):
        restore(target, settings, open_backup(settings, folder, key=key))
    (folder / SEALED).write_bytes(raw)
    (folder / MANIFEST).write_bytes(msgspec.json.encode(manifest))
    restore(target, settings, open_backup(settings, folder, key=key))
    with psycopg.connect(drill.url) as old, psycopg.connect(target) as new:
        assert {**count_rows(new), "audit_log": 0} == {**count_rows(old), "audit_log": 0}


async def _erasures_are_equal(drill: Drill, new: Database, done: ErasedAgain, settings: Settings) -> None:
    assert {entry.kind for entry in drill.log} == {"message", "user", "key"}
    assert done.erased >= 3  # the late message, the user, the key
    page = await erasures(new, drill.busy, limit=100)
    for receipt in page.items:  # those of the backup, too: nothing of what they name is there
        assert (await erasure(new, drill.busy, receipt.erasure_id)).verified
    assert drill.late in {receipt.subject_id for receipt in page.items}
    mine = [memory.text for memory in await remembered(new, drill.busy, "marten bees", settings)]
    assert "I keep bees." in mine
    assert not any("marten" in text for text in mine)
    app = await app_id(new, "drills")
    with pytest.raises(UserUnknownError):
        await find_user(new, app, "Eve")
    with pytest.raises(UnauthenticatedError):
        await authenticate(new, drill.secret_key, None)


def test_a_backup_is_private_whole_and_says_what_it_holds(drill: Drill, settings: Settings) -> None:
    assert stat.S_IMODE(drill.folder.stat().st_mode) == 0o700
    assert {path.name: stat.S_IMODE(path.stat().st_mode) for path in drill.folder.iterdir()} == {
        MANIFEST: 0o600, ARCHIVE: 0o600,
    }  # fmt: skip
    assert [path.name for path in drill.folder.parent.iterdir()] == [drill.folder.name]
    told = json.loads((drill.folder / MANIFEST).read_text())
    assert told["revision"] == head_revision()
    assert told["rows"]["users"] == 6
    assert settings.secret("identity_secret") not in (drill.folder / MANIFEST).read_text()
    assert f"users: {told['rows']['users']} rows" in drill.lines


# Bad input -----------------------------------------------------------------------------------------------------------


def test_nothing_is_overwritten_and_a_bad_backup_is_refused_before_anything_is_written(
    drill: Drill, target: str, settings: Settings, tmp_path: Path
) -> None:
    with pytest.raises(AlreadyExistsError):
        backup(drill.url, settings, drill.folder)
    with pytest.raises(DatabaseTooOldError, match="no memsvc"):
        backup(target, settings, tmp_path / "empty")
    assert nothing_in(tmp_path)
    with pytest.raises(BackupUnusableError, match="lacks"):
        open_backup(settings, tmp_path)
    manifest, archive = (drill.folder / MANIFEST).read_bytes(), (drill.folder / ARCHIVE).read_bytes()
    told = json.loads(manifest)
    for content, changed, error in (
        (archive[:-1], told, BackupUnusableError),
        (archive[:-1] + bytes([archive[-1] ^ 1]), told, BackupUnusableError),
        (archive, {**told, "format": 3, "rows": "otherwise"}, BackupNewerError),
        (archive, {**told, "revision": "9999"}, BackupNewerError),
        (archive, {**told, "revision": "head'"}, BackupUnusableError),
        (archive, [told], BackupUnusableError),
        (archive, {**told, "identity_keys": ["0" * 16]}, ConfigurationError),
    ):
        (tmp_path / MANIFEST).write_text(json.dumps(changed))
        (tmp_path / ARCHIVE).write_bytes(content)
        with pytest.raises(error):
            open_backup(settings, tmp_path)
    with psycopg.connect(target) as connection:
        assert one(connection, sql.SQL("SELECT to_regnamespace('memsvc')")) is None


def test_a_used_database_is_refused_and_not_touched(drill: Drill, settings: Settings) -> None:
    with psycopg.connect(drill.url) as connection:
        before = count_rows(connection)
    with pytest.raises(RestoreTargetUsedError):
        restore(drill.url, settings, open_backup(settings, drill.folder))
    with psycopg.connect(drill.url) as connection:
        assert count_rows(connection) == before


async def test_a_restore_that_was_cut_off_lets_nobody_in_and_begins_anew(
    drill: Drill, target: str, settings: Settings
) -> None:
    class Killed(Exception):  # noqa: N818
        pass

    found = open_backup(settings, drill.folder)

    def die(_believed: Settings) -> None:
        with pytest.raises(RestoreTargetUsedError, match="is going on"):  # said twice at once
            restore(target, settings, found)
        raise Killed

    with pytest.raises(Killed):
        await asyncio.to_thread(lambda: restore(target, settings, found, repeat=die))
    assert not is_current(target)
    for attempt in (lambda: upgrade(target, settings), lambda: backup(target, settings, drill.folder / "never")):
        with pytest.raises(RestoreUnfinishedError):
            attempt()
    with psycopg.connect(login_url(target, APP, settings)) as app:
        app.execute("SELECT set_config('memsvc.identity', %s, false)", [drill.world.token(drill.world.ada)])
        assert one(app, sql.SQL("SELECT memsvc.current_user_id()")) is None
        assert one(app, sql.SQL("SELECT count(*) FROM memsvc.passages")) == 0
    await _accounts_are_closed(drill, target, settings)
    await asyncio.to_thread(lambda: restore(target, settings, found))
    assert is_current(target)
    await _what_was_erased_since_is_back_and_can_be_erased_by_itself(drill, target, settings)


async def _accounts_are_closed(drill: Drill, target: str, settings: Settings) -> None:
    """Neither keys nor tokens of administrators, which need no identity, make anything or learn of anybody."""
    with psycopg.connect(drill.url) as connection:
        app = one(connection, sql.SQL("SELECT app_id FROM memsvc.apps WHERE name = 'drills'"))
    async with database(target, settings) as db:
        for attempt in (
            authenticate(db, drill.secret_key, None),
            app_id(db, "drills"),
            find_app(db, "drills"),
            add_user(db, app, name="Mallory", external_id="Mallory"),
            find_user(db, app, "Ada"),
            list_users(db, app, limit=9),
            erase_user(db, app, "Ada", requested_by="api"),  # would come back with the restore that begins anew
            create_key(db, app),
            list_keys(db, app),
            limit_key(db, app, drill.secret_key, Limits(requests_per_minute=1)),
        ):
            with pytest.raises(RestoreUnfinishedError):
                await attempt
        async with db.statement() as connection:
            for count in ("count_request(:key)", "count_messages(:key, 1)"):
                with pytest.raises(DBAPIError, match="is unfinished"):
                    await connection.execute(text(f"SELECT memsvc.{count}"), {"key": drill.secret_key})


async def _what_was_erased_since_is_back_and_can_be_erased_by_itself(
    drill: Drill, target: str, settings: Settings
) -> None:
    async with database(target, settings) as db:
        app = await app_id(db, "drills")
        assert (await find_user(db, app, "Eve")).user_id == drill.gone.user_id
        assert (await authenticate(db, drill.secret_key, None)).owner == drill.steady
        lines = b"\n".join(msgspec.json.encode(entry) for entry in drill.log)
        first = await erase_again(db, read_log(lines.splitlines()))
        assert first.erased >= 3
        assert await erase_again(db, drill.log) == ErasedAgain(erased=0, absent=len(drill.log))
        with pytest.raises(UserUnknownError):
            await find_user(db, app, "Eve")


# Administrators without superuser -----------------------------------------------------------------------------------


@pytest.fixture
def managed(target: str, cluster: Cluster) -> Iterator[str]:
    """The empty database by a login as managed servers give it: CREATEROLE, and extensions made by the provider."""
    name, login = make_url(target).database or "", sql.Identifier("memsvc_test_backups")
    cluster.execute(sql.SQL("DROP ROLE IF EXISTS {}").format(login))  # of a run that was killed, on a server that stays
    cluster.execute(sql.SQL("CREATE ROLE {} LOGIN CREATEROLE PASSWORD 'plain'").format(login))
    for role in ("owner", "recall", "eraser", "watchdog", "app", "reader", "cypher", "analyst"):
        cluster.execute(sql.SQL("GRANT {} TO {} WITH ADMIN OPTION").format(sql.Identifier(f"memsvc_{role}"), login))
    cluster.execute(sql.SQL("ALTER DATABASE {} OWNER TO {}").format(sql.Identifier(name), login))
    for extension in ("vector", "pg_trgm", "btree_gin", "btree_gist", "unaccent"):
        cluster.execute(sql.SQL("CREATE EXTENSION {}").format(sql.Identifier(extension)), name)
    plain = make_url(target).set(username="memsvc_test_backups", password="plain")
    yield plain.render_as_string(hide_password=False)
    cluster.recreate(name)
    for statement in ("DROP OWNED BY {}", "DROP ROLE {}"):
        cluster.execute(sql.SQL(statement).format(login))


async def test_a_plain_administrator_restores_but_backs_up_only_where_it_sees_all_rows(
    drill: Drill, managed: str, settings: Settings, cluster: Cluster, tmp_path: Path
) -> None:
    """Row security would leave rows out of its backup. (And with another secret, that becomes the only one.)"""
    elsewhere = settings.model_copy(update={"identity_secret": SecretStr(OTHER_SECRET)})
    with pytest.raises(ConfigurationError, match="another identity secret"):
        open_backup(elsewhere, drill.folder)
    found = open_backup(elsewhere, drill.folder, new_secret=True)
    await asyncio.to_thread(lambda: restore(managed, elsewhere, found))
    async with database(managed, elsewhere) as db:
        assert await remembered(db, drill.steady, "heron", elsewhere)
    async with database(managed, settings) as db:
        with pytest.raises(ConfigurationError, match="does not believe"):
            await remembered(db, drill.steady, "heron", settings)
    with pytest.raises(BackupLoginError):
        backup(managed, settings, tmp_path / "managed")
    assert nothing_in(tmp_path)
    cluster.execute(sql.SQL("ALTER ROLE memsvc_test_backups BYPASSRLS"))
    rows = drill.manifest.rows  # and a secret of the moment, and the restore
    assert backup(managed, settings, tmp_path / "managed").rows == {
        **rows, "audit_log": rows["audit_log"] + 2, "identity_keys": 1,
    }  # fmt: skip


@pytest.mark.parametrize("line", [b"{", b"[]", b'{"at":"2026-01-01T00:00:00Z","kind":"all","subject":"x"}'])
def test_a_bad_log_is_refused_by_its_line(line: bytes) -> None:
    good = msgspec.json.encode(Erased(at=MOMENT, kind="user", subject="x"))
    with pytest.raises(BadFileError, match="Line 2"):
        list(read_log([good, line]))


async def test_a_line_that_names_no_owner_is_refused(db: Database) -> None:
    with pytest.raises(MemsvcError, match="does not name the owner"):
        await erase_again(db, [Erased(at=MOMENT, kind="user", subject="x")])
