"""An upgrade while others write and read: nobody fails, nobody waits for more than a few seconds, nothing is lost."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from alembic.script import ScriptDirectory

from memsvc.db import files
from memsvc.server import objects
from memsvc.server.migrations import alembic_config
from memsvc.server.objects import object_files
from memsvc.settings import Settings
from tests.migration.conftest import Upgrader
from tests.migration.samples import THING, USER, insert_samples
from tests.sql.world import APP, World, append_rows, history_rows, login_url, make_world, message, recall_rows, value

pytestmark = pytest.mark.slow
LONGEST_WAIT = 5.0
Step = Callable[[psycopg.Connection, int], None]


# What memsvc.current_user_id() reads, with which every door's transaction begins.
GATE = "SELECT count(*) FROM memsvc.identity_keys"


@contextmanager
def busy(url: str, *steps: Step) -> Iterator[list[Future[tuple[int, float]]]]:
    """Each step again and again, on a connection of its own, while the block runs: how often, and the longest took."""
    over, warm = threading.Event(), threading.Barrier(len(steps) + 1, timeout=30)

    def repeat(step: Step) -> tuple[int, float]:
        times, longest = 0, 0.0
        with psycopg.connect(url, autocommit=True) as connection:
            step(connection, times)
            warm.wait()
            while not over.is_set():
                times += 1
                started = time.monotonic()
                step(connection, times)
                longest = max(longest, time.monotonic() - started)
        return times, longest

    with ThreadPoolExecutor(len(steps)) as pool:
        running = [pool.submit(repeat, step) for step in steps]
        try:
            warm.wait()
            time.sleep(0.1)
            yield running
            time.sleep(0.1)
        finally:
            over.set()


def test_an_upgrade_of_the_tables_beside_raw_writes_and_reads(empty: str, run_upgrade: Upgrader) -> None:
    run_upgrade(empty, "0004")
    insert = (
        "INSERT INTO memsvc.passages (user_id, source_id, kind, session, ordinal, role, text, said_at, said_offset, "
        "language, tsv, tsv_simple, length, length_simple) SELECT %s, %s, 'message', %s, n, 'user', 'heron', now(), 0, "
        "'english', to_tsvector('english', 'heron ' || n), to_tsvector('simple', 'heron ' || n), 2, 2 "
        "FROM generate_series(1, %s) AS n"
    )

    def write(connection: psycopg.Connection, turn: int) -> None:
        with connection.transaction():
            connection.execute(GATE)
            connection.execute(insert, [USER, THING, f"turn {turn}", 1])
            connection.execute(
                "INSERT INTO memsvc.jobs (user_id, kind, subject_id) VALUES (%s, 'process', gen_random_uuid())", [USER]
            )
            connection.execute("UPDATE memsvc.sources SET title = %s WHERE user_id = %s", [f"turn {turn}", USER])

    def read(connection: psycopg.Connection, turn: int) -> None:
        with connection.transaction():
            connection.execute(GATE)
            assert value(connection, "SELECT count(*) FROM memsvc.passages WHERE tsv @@ 'heron'") >= 3_000

    with psycopg.connect(empty, autocommit=True) as admin:
        insert_samples(admin, "0004")
        admin.execute(insert, [USER, THING, "before", 3_000])
        with busy(empty, write, read) as running:
            assert run_upgrade(empty).from_revision == "0004"
        (writes, longest_write), (reads, longest_read) = (each.result() for each in running)
        assert writes > 20
        assert reads > 5
        assert max(longest_write, longest_read) < LONGEST_WAIT
        kept = (
            "SELECT count(*), count(DISTINCT session) FROM memsvc.passages WHERE session LIKE 'turn %%' AND length = %s"
        )
        assert admin.execute(kept, [2]).fetchone() == (writes + 1, writes + 1)
        admin.execute("SET enable_seqscan = off")
        by_index = "SELECT count(*) FROM memsvc.passages WHERE user_id = %s AND tsv_simple @@ 'heron'"
        assert value(admin, by_index, [USER]) == 3_000 + 5 + writes + 1


@pytest.fixture
def everything_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every function, view and policy has another text."""
    copy = tmp_path / "sql"
    shutil.copytree(files.folder("sql"), copy)
    monkeypatch.setattr(objects, "folder", lambda name: copy if name == "sql" else files.folder(name))
    for name in object_files():
        (copy / name).write_text((copy / name).read_text() + "\n-- changed\n")


def _act(connection: psycopg.Connection, world: World) -> None:
    """Begin a transaction as every door does (memsvc.db.engine, BIND)."""
    bind = "SELECT set_config('memsvc.identity', %s, true), memsvc.current_user_id(), memsvc.user_is_here(%s)"
    connection.execute(bind, [world.token(world.ada), world.ada.user_id])


def _work(world: World) -> tuple[Step, ...]:
    """What the service does all day, for one user."""
    user = world.ada.user_id

    def append(connection: psycopg.Connection, turn: int) -> None:
        with connection.transaction():
            _act(connection, world)
            rows = [message(f"A spoonbill number{turn}.", 0, client_id=f"turn {turn}", conversation="busy")]
            assert append_rows(connection, user, rows)[0][1] == "created"

    def recall(connection: psycopg.Connection, turn: int) -> None:
        with connection.transaction():
            _act(connection, world)
            assert recall_rows(connection, user, "heron")
            assert value(connection, "SELECT count(*) FROM memsvc.messages") > 0

    def work(connection: psycopg.Connection, turn: int) -> None:
        due = connection.execute("SELECT * FROM memsvc.due_jobs(10)").fetchall()
        with connection.transaction():
            _act(connection, world)
            value(connection, "SELECT memsvc.fold_statistics(%s)", [user])
            for owner, job, _kind in due:
                if owner == user:
                    value(connection, "SELECT memsvc.finish_job(%s, %s, NULL, false, NULL)", [owner, job])
        connection.execute("SELECT * FROM memsvc.backlog()")

    return append, recall, work


def _history(world: World) -> Step:
    """Writes a node and a fact, as a worker does that knows nothing of the upgrade."""
    user, ada = world.ada.user_id, world.ada.node_id

    def write(connection: psycopg.Connection, turn: int) -> None:
        with connection.transaction():
            _act(connection, world)
            node = value(connection, "SELECT uuidv7()")
            written = history_rows(
                connection,
                user,
                [
                    {"op": "node", "node_id": node, "fresh": True, "type": "Place", "label": f"Place {turn}"},
                    {"op": "edge", "from_node": ada, "type": "LIVES_IN", "to_node": node, "fact": f"Home {turn}"},
                ],
            )
            assert [row[0] for row in written] == ["written", "written"]

    return write


@pytest.mark.usefixtures("everything_changed")
def test_an_upgrade_of_all_functions_views_and_policies_beside_the_service(
    at_head: str, run_upgrade: Upgrader, settings: Settings
) -> None:
    world = make_world(at_head, settings, "busy")
    with busy(login_url(at_head, APP, settings), *_work(world), _history(world)) as running:
        assert set(run_upgrade(at_head).applied) == set(object_files())
        with psycopg.connect(at_head, autocommit=True) as admin:
            admin.execute("UPDATE memsvc.applied_sql SET sha256 = 'another'")
        assert set(run_upgrade(at_head).applied) == set(object_files())
    done = [each.result() for each in running]
    assert min(times for times, _ in done) > 5
    assert max(longest for _, longest in done) < LONGEST_WAIT
    with psycopg.connect(at_head) as admin:
        stored = "SELECT count(*) FROM memsvc.passages WHERE text LIKE 'A spoonbill%%' AND user_id = %s"
        assert value(admin, stored, [world.ada.user_id]) == done[0][0] + 1


@pytest.mark.usefixtures("everything_changed")
def test_an_upgrade_gives_way_to_a_long_transaction_and_comes_back(
    at_head: str, run_upgrade: Upgrader, settings: Settings
) -> None:
    """It neither fails nor makes others queue up behind it until the long transaction is over."""
    world = make_world(at_head, settings, "patient")
    append, recall, _ = _work(world)
    with ThreadPoolExecutor(1) as pool, psycopg.connect(at_head) as long:
        long.execute("SELECT count(*) FROM memsvc.passages")
        with busy(login_url(at_head, APP, settings), append, recall) as running:
            upgraded = pool.submit(run_upgrade, at_head)
            time.sleep(3)
            assert not upgraded.done()
            long.rollback()
            assert set(upgraded.result(timeout=60).applied) == set(object_files())
    assert max(each.result()[1] for each in running) < LONGEST_WAIT


@pytest.mark.usefixtures("everything_changed")
def test_a_writer_in_the_upgrades_way_is_not_the_victim_of_a_deadlock(
    at_head: str, run_upgrade: Upgrader, settings: Settings
) -> None:
    """It holds one table and asks for another, which the upgrade holds while it waits for the first.

    The administrator's statements do not begin at the gate.
    """
    make_world(at_head, settings, "deadlock")
    waits = "SELECT count(*) FROM pg_locks WHERE NOT granted AND mode = 'AccessExclusiveLock'"
    with (
        ThreadPoolExecutor(1) as pool,
        psycopg.connect(at_head) as writer,
        psycopg.connect(at_head, autocommit=True) as admin,
    ):
        writer.execute("SELECT count(*) FROM memsvc.terms")
        upgraded = pool.submit(run_upgrade, at_head)
        for _ in range(3):
            deadline = time.monotonic() + 10
            while not value(admin, waits):
                assert time.monotonic() < deadline, "the upgrade does not wait"
                time.sleep(0.002)
            assert value(writer, "SELECT count(*) FROM memsvc.aliases") > 1
        writer.commit()
        assert set(upgraded.result(timeout=60).applied) == set(object_files())


def test_types_become_everybodys_own_beside_writers_of_the_graph(empty: str, run_upgrade: Upgrader) -> None:
    """Foreign keys to names of types go, and triggers come: nobody waits long, and no unknown type slips in."""
    before = ScriptDirectory.from_config(alembic_config()).get_revision("0015").down_revision
    assert isinstance(before, str)
    run_upgrade(empty, before)
    insert = """
        WITH n AS (
          INSERT INTO memsvc.nodes (user_id) SELECT %(user)s FROM generate_series(1, %(many)s) RETURNING node_id
        ),
        v AS (INSERT INTO memsvc.node_versions (user_id, node_id, type, label, asserted_by)
          SELECT %(user)s, n.node_id, 'Place', %(label)s, 'busy' FROM n),
        e AS (INSERT INTO memsvc.edges (user_id, from_node, type, to_node)
          SELECT %(user)s, n.node_id, 'RELATED_TO', n.node_id FROM n RETURNING edge_id, from_node, type, to_node)
        INSERT INTO memsvc.edge_versions (user_id, edge_id, from_node, type, to_node, functional, fact, asserted_by,
          recorded_from)
        SELECT %(user)s, e.edge_id, e.from_node, e.type, e.to_node, t.functional, %(label)s, 'busy', clock_timestamp()
        FROM e INNER JOIN memsvc.edge_types AS t ON t.name = e.type
    """

    def write(connection: psycopg.Connection, turn: int) -> None:
        with connection.transaction():
            connection.execute(GATE)
            connection.execute(insert.encode(), {"user": USER, "label": f"turn {turn}", "many": 3})

    def read(connection: psycopg.Connection, turn: int) -> None:
        with_types = (
            "SELECT count(*) FROM memsvc.edge_versions AS v INNER JOIN memsvc.edge_types AS t ON t.name = v.type "
            "INNER JOIN memsvc.node_versions AS n ON n.user_id = v.user_id AND n.node_id = v.from_node "
            "INNER JOIN memsvc.node_types AS m ON m.name = n.type WHERE v.fact = 'before'"
        )
        with connection.transaction():
            connection.execute(GATE)
            assert value(connection, with_types) == 500

    def ask(connection: psycopg.Connection, turn: int) -> None:
        """Somebody's own statement, long, again and again, and without the gate."""
        seen = value(connection, "SELECT count(*), pg_sleep(0.3) FROM memsvc.node_types")
        assert seen > 10
        time.sleep(0.005)

    with psycopg.connect(empty, autocommit=True) as admin:
        insert_samples(admin, before)
        admin.execute(insert.encode(), {"user": USER, "label": "before", "many": 500})
        with busy(empty, write, write, read, ask) as running:
            assert run_upgrade(empty).from_revision == before
        done = [each.result() for each in running]
        assert min(times for times, _ in done[:3]) > 3
        assert max(longest for _, longest in done) < LONGEST_WAIT
        for table in ("node_versions", "edge_versions"):
            kept = f"SELECT count(*) FROM memsvc.{table} WHERE asserted_by = 'busy'"
            assert value(admin, kept) == 500 + 3 * sum(times + 1 for times, _ in done[:2])
        valid = "SELECT indisvalid FROM pg_index WHERE indexrelid = 'memsvc.node_versions_of_type'::regclass"
        assert value(admin, valid) is True
        edge = "INSERT INTO memsvc.edges (user_id, from_node, type, to_node) VALUES (%s, %s, 'NOTHING', %s)"
        node = (
            "INSERT INTO memsvc.node_versions (user_id, node_id, type, label, recorded_from, recorded_to) "
            "VALUES (%s, %s, 'Nothing', %s, '2000-01-01', '2000-01-02')"
        )
        for statement in (edge, node):
            with pytest.raises(psycopg.errors.ForeignKeyViolation, match="the ontology has no"):
                admin.execute(statement.encode(), [USER, THING, THING])
