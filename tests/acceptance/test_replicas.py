"""Reads from a real streaming replica: what it may serve, what it may not, and what happens when a server is gone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from pydantic import SecretStr
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner, add_user, app_id
from memsvc.analysis.structure import orphans
from memsvc.db.engine import Database, role_url
from memsvc.db.position import at_least
from memsvc.db.replicas import REPLAYED
from memsvc.errors import DatabaseUnavailableError, MemsvcError
from memsvc.graph.history import assert_facts
from memsvc.graph.operations import Node
from memsvc.recall.search import recall
from memsvc.server import embedded
from memsvc.server.standbys import check_standbys
from memsvc.settings import Settings
from memsvc.sources.messages import MessageIn, append
from tests.acceptance.conftest import private_folder
from tests.standbys import kill, make_standby, promote

pytestmark = pytest.mark.acceptance


@dataclass(frozen=True, slots=True)
class Pair:
    """A primary and its standby: their folders, and the administrator's URLs of the database."""

    primary: Path
    standby: Path
    primary_url: str
    standby_url: str
    settings: Settings

    def on(self, url: str, statement: str) -> object:
        """Run a statement as the administrator; its first value."""
        with psycopg.connect(url, autocommit=True) as connection:
            found = connection.execute(statement)
            return found.fetchone()[0] if found.description else None  # type: ignore[index]


@contextmanager
def paired(prepared: Path) -> Iterator[Pair]:
    """Both run."""
    with private_folder(prepared) as primary, embedded.running(primary) as first:
        standby = primary.parent / "standby"
        make_standby(primary, standby)
        with embedded.running(standby) as second:
            urls = [server.conninfo(database="memsvc") for server in (first, second)]
            given = {"data_dir": primary, "database_url": urls[0], "replica_urls": urls[1], "replica_lag_s": 1.5}
            yield Pair(primary, standby, urls[0], urls[1], Settings.model_validate({**given, "extractor": "none"}))


@pytest.fixture(scope="module")
def pair(prepared: Path) -> Iterator[Pair]:
    """For tests that leave both as they were."""
    with paired(prepared) as made:
        yield made


@pytest.fixture
def own_pair(prepared: Path) -> Iterator[Pair]:
    """For a test that ends a server."""
    with paired(prepared) as made:
        yield made


@pytest.fixture
async def db(pair: Pair) -> AsyncIterator[Database]:
    """The service's pool."""
    opened = database(pair.settings, pair.primary_url)
    yield opened
    await opened.close()


def database(settings: Settings, url: str) -> Database:
    """A pool as the service has it."""
    return Database(role_url(url, "memsvc_app", settings.secret("app_password")), settings)


async def new_user(db: Database) -> Owner:
    """A user with a message."""
    return (await add_user(db, await app_id(db, "mine"), name="Ada", external_id=uuid4().hex)).owner


async def found(db: Database, owner: Owner, settings: Settings, words: str) -> list[str]:
    """The texts that a question finds."""
    return [one.text for one in (await recall(db, owner, words, settings)).memories]


async def until_served(db: Database, owner: Owner, settings: Settings, words: str) -> list[str]:
    """What a replica finds, once one serves."""
    async with asyncio.timeout(30):
        while True:
            before = db.replicas.states()[0].served
            texts = await found(db, owner, settings, words)
            if db.replicas.states()[0].served > before:
                return texts
            await asyncio.sleep(0.1)


async def until_looked(db: Database, owner: Owner, settings: Settings) -> None:
    """Return once the process knows the replica, which serves this user."""
    await append(db, owner, [MessageIn(conversation="c", text="walrus")], settings)
    await until_served(db, owner, settings, "walrus")


async def test_a_replica_serves_what_it_has_and_nobody_misses_what_they_wrote(pair: Pair, db: Database) -> None:
    owner = await new_user(db)
    for number in range(10):
        await append(db, owner, [MessageIn(conversation="c", text=f"walrus {number}")], pair.settings)
        assert f"walrus {number}" in await found(db, owner, pair.settings, f"walrus {number}")
    texts = await until_served(db, owner, pair.settings, "walrus 7")
    assert texts[0] == "walrus 7"
    assert len(texts) == 10


async def test_an_analysis_is_read_from_a_replica_that_shows_what_was_just_stored(pair: Pair, db: Database) -> None:
    owner = await new_user(db)
    await until_looked(db, owner, pair.settings)
    for number in range(3):
        made = await assert_facts(db, owner, [Node(type="Person", label=f"Ada {number}")], asserted_by="tests")
        before = db.replicas.states()[0].served
        lonely = await orphans(db, owner, [])
        assert made.results[0].node_id in {node for one in lonely.findings for node in one.nodes}
        assert db.replicas.states()[0].served == before + 1


async def test_what_fails_on_a_replica_is_read_again_from_the_primary(pair: Pair, db: Database) -> None:
    owner = await new_user(db)
    await until_looked(db, owner, pair.settings)
    asked: list[bool] = []

    async def fails_there(connection: AsyncConnection) -> bool:
        asked.append((await connection.execute(text("SELECT pg_is_in_recovery()"))).scalar_one())
        if asked[-1]:
            await connection.execute(text("SELECT pg_cancel_backend(pg_backend_pid()), pg_sleep(5)"))
        return asked[-1]

    assert await db.read(owner.user_id, fails_there, wait_s=3) is False
    assert asked == [True, False]


def test_the_doctor_says_whether_replicas_follow(pair: Pair) -> None:
    gone = "postgresql://127.0.0.1:1/memsvc"
    urls = SecretStr(f"{pair.standby_url} {pair.primary_url} {gone}")
    found = [*check_standbys(pair.primary_url, pair.settings.model_copy(update={"replica_urls": urls}))]
    assert [check.state for check in found] == ["ok", "warning", "warning"]
    assert "MB behind" in found[0].says
    assert "was it promoted" in found[1].says
    assert "cannot be read" in found[2].says
    assert [*check_standbys(pair.primary_url, pair.settings.model_copy(update={"replica_urls": None}))] == []


async def test_a_replica_that_lags_serves_nothing_until_it_has_caught_up(pair: Pair, db: Database) -> None:
    owner = await new_user(db)
    await append(db, owner, [MessageIn(conversation="c", text="the heron")], pair.settings)
    assert await until_served(db, owner, pair.settings, "heron") == ["the heron"]
    pair.on(pair.standby_url, "SELECT pg_wal_replay_pause()")
    elsewhere = database(pair.settings.model_copy(update={"replica_urls": None}), pair.primary_url)
    await append(elsewhere, owner, [MessageIn(conversation="c", text="another heron")], pair.settings)
    await asyncio.sleep(4)  # longer than the lag that is allowed, and a look
    before = db.replicas.states()[0].served
    assert set(await found(db, owner, pair.settings, "heron")) == {"the heron", "another heron"}
    state = db.replicas.states()[0]
    assert (state.served, state.reachable) == (before, True)
    assert state.lag_s is not None
    assert state.lag_s > 1.5
    pair.on(pair.standby_url, "SELECT pg_wal_replay_resume()")
    assert set(await until_served(db, owner, pair.settings, "heron")) == {"the heron", "another heron"}
    await elsewhere.close()


async def test_a_position_from_elsewhere_is_waited_for_by_nobody_but_never_missed(pair: Pair, db: Database) -> None:
    patient = pair.settings.model_copy(update={"replica_lag_s": 3_600.0})
    late = database(patient, pair.primary_url)
    owner = await new_user(db)
    await append(db, owner, [MessageIn(conversation="c", text="the otter")], patient)
    assert await until_served(late, owner, patient, "otter") == ["the otter"]
    pair.on(pair.standby_url, "SELECT pg_wal_replay_pause()")
    await append(db, owner, [MessageIn(conversation="c", text="a second otter")], patient)
    position = await late.replicas.written()
    assert await until_served(late, owner, patient, "otter") == ["the otter"]  # it may be an hour late
    with at_least(position):
        assert set(await found(late, owner, patient, "otter")) == {"the otter", "a second otter"}
    pair.on(pair.standby_url, "SELECT pg_wal_replay_resume()")
    await late.close()


async def test_rows_of_others_stay_hidden_on_a_replica(pair: Pair, db: Database) -> None:
    ada, bob = await new_user(db), await new_user(db)
    await append(db, ada, [MessageIn(conversation="c", text="the secret lynx")], pair.settings)
    assert await until_served(db, ada, pair.settings, "lynx") == ["the secret lynx"]
    assert await until_served(db, bob, pair.settings, "lynx") == []
    replica = db.replicas.choose(ada.user_id)
    assert replica is not None
    assert db.replicas.choose(None) is None, "keys are never read late"
    forged = pair.settings.model_copy(update={"identity_secret": SecretStr("w" * 40)})
    forger = database(forged, pair.primary_url)
    async with replica.engine.connect() as connection:
        assert (await connection.execute(REPLAYED)).scalar_one() > 0
        statement, values = forger.binding(ada.user_id)
        with pytest.raises(Exception, match="does not prove this user"):
            await connection.execute(statement, values)
    await forger.close()


async def test_without_the_replica_the_primary_serves_and_without_the_primary_the_replica(
    own_pair: Pair,
) -> None:
    pair = own_pair
    db = database(pair.settings, pair.primary_url)
    owner = await new_user(db)
    await append(db, owner, [MessageIn(conversation="c", text="the bittern")], pair.settings)
    await until_served(db, owner, pair.settings, "bittern")
    kill(pair.standby)
    for _ in range(5):
        assert await found(db, owner, pair.settings, "bittern") == ["the bittern"]
    with embedded.running(pair.standby):
        assert await until_served(db, owner, pair.settings, "bittern") == ["the bittern"]
        kill(pair.primary)
        await asyncio.sleep(3)
        for _ in range(5):
            assert await found(db, owner, pair.settings, "bittern") == ["the bittern"]
        with pytest.raises(DatabaseUnavailableError):
            await append(db, owner, [MessageIn(conversation="c", text="lost")], pair.settings)
    await db.close()


async def test_a_promotion_loses_nothing_that_was_acknowledged(own_pair: Pair) -> None:
    pair = own_pair
    pair.on(pair.primary_url, "ALTER SYSTEM SET synchronous_standby_names = '*'")
    pair.on(pair.primary_url, "SELECT pg_reload_conf()")
    hosts = [url.partition("?")[2] for url in (pair.primary_url, pair.standby_url)]
    both = f"{pair.primary_url.partition('?')[0]}?{_hosts(hosts)}&target_session_attrs=read-write"
    db = database(pair.settings.model_copy(update={"replica_urls": None}), both)
    owner = await new_user(db)
    acknowledged: list[str] = []
    over = asyncio.Event()

    async def write(number: int) -> None:
        count = 0
        while not over.is_set():
            text = f"teal {number} {count}"
            try:
                await append(db, owner, [MessageIn(conversation=f"c{number}", text=text)], pair.settings)
            except MemsvcError:
                await asyncio.sleep(0.05)
                continue
            acknowledged.append(text)
            count += 1

    writers = [asyncio.create_task(write(number)) for number in range(4)]
    await asyncio.sleep(2)
    kill(pair.primary)
    before = len(acknowledged)
    await asyncio.to_thread(promote, pair.standby)
    pair.on(pair.standby_url, "ALTER SYSTEM SET synchronous_standby_names = ''")
    pair.on(pair.standby_url, "SELECT pg_reload_conf()")
    async with asyncio.timeout(30):
        while len(acknowledged) < before + 20:  # noqa: ASYNC110 - four writers add to it
            await asyncio.sleep(0.05)
    over.set()
    await asyncio.gather(*writers)
    await db.close()
    with psycopg.connect(pair.standby_url) as connection:
        stored = {text for (text,) in connection.execute("SELECT text FROM memsvc.passages")}
    assert before > 0
    assert set(acknowledged) <= stored


def _hosts(queries: list[str]) -> str:
    """Hosts and ports of several URLs, as SQLAlchemy and libpq take them."""
    parts = [dict(pair.split("=", 1) for pair in query.split("&")) for query in queries]
    hosts, ports = (",".join(one[name] for one in parts) for name in ("host", "port"))
    return f"host={hosts}&port={ports}"
