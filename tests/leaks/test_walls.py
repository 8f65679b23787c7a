"""Each wall is needed: it is taken away, one at a time, in a transaction, and a way leads through."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest

from tests.leaks.scene import Scene
from tests.leaks.test_ways import Record, complaint, said_by
from tests.leaks.walls import WALLS
from tests.leaks.ways import Way
from tests.sql.inventory import EXECUTE, LOGINS, TABLE_PRIVILEGES, TABLES
from tests.sql.world import READER, Disguise

pytestmark = [pytest.mark.server, pytest.mark.slow]


@contextmanager
def broken(scene: Scene, statement: str) -> Iterator[Disguise]:
    """Doors to the database while something is broken in it."""
    with psycopg.connect(scene.logins.admin_url) as admin:
        for left in reversed(range(20)):
            try:
                admin.execute(statement.format(database=f'"{admin.info.dbname}"').encode())
                break
            except psycopg.errors.InternalError as error:  # roles are the server's: another test's upgrade changed it
                if not left or "tuple concurrently updated" not in str(error):
                    raise
                admin.rollback()
                time.sleep(0.2)
        yield Disguise(admin)
        admin.rollback()


@pytest.mark.parametrize("name", WALLS)
def test_without_a_wall_a_way_leads_through(name: str, scene: Scene, record_property: Record) -> None:
    wall = WALLS[name]
    with broken(scene, "SELECT 1") as doors:
        assert complaint(doors.enter, scene, wall.way, wall.login) is None
    with broken(scene, wall.broken) as doors:
        assert complaint(doors.enter, scene, wall.way, wall.login) is not None
    record_property("walls taken away, and noticed", 1)


GRANTEES = LOGINS if os.environ.get("MEMSVC_TEST_LEAKS") == "all" else (READER,)
"""For whom all tables and functions are opened: each login in ``make test-leaks``, one in every run of the suite."""


@pytest.mark.parametrize("login", GRANTEES)
def test_no_table_is_open_that_was_not_opened(login: str, scene: Scene, record_property: Record) -> None:
    """What a login was not granted is refused; granted, it is not."""
    shut = sorted(TABLES - {table for role, may, table in TABLE_PRIVILEGES if (role, may) == (login, "SELECT")})
    for table in shut:
        way = Way((f"SELECT 1 FROM memsvc.{table}",), refused=True)
        assert complaint(scene.logins.enter, scene, way, login) is None, table
        with broken(scene, f"GRANT SELECT ON memsvc.{table} TO {login}") as doors:
            assert complaint(doors.enter, scene, way, login) is not None
    record_property("walls taken away, and noticed", len(shut))


@pytest.mark.parametrize("login", GRANTEES)
def test_no_function_is_open_that_was_not_opened(login: str, scene: Scene, record_property: Record) -> None:
    """Functions that a login was not granted are refused; granted, they are called."""
    with psycopg.connect(scene.logins.admin_url, autocommit=True) as admin:
        admin.execute("SET search_path = ''")  # names of types say where they are
        found = admin.execute(
            "SELECT p.oid::regprocedure::text, format("
            "'SELECT FROM (SELECT %%s OFFSET 0) AS v, LATERAL memsvc.%%s(%%s)', a.made, p.proname, a.given) FROM "
            "pg_proc AS p CROSS JOIN LATERAL ("
            "SELECT string_agg(format('NULL::%%s AS a%%s', t.type::regtype, t.place), ', ') AS made, "
            "string_agg(format('v.a%%s', t.place), ', ') AS given "
            "FROM unnest(p.proargtypes) WITH ORDINALITY AS t (type, place)) AS a WHERE p.pronamespace = "
            "'memsvc'::regnamespace "
            "AND p.prorettype <> 'trigger'::regtype AND NOT p.proname = ANY (%s)",
            [sorted(EXECUTE[login])],
        ).fetchall()
    with psycopg.connect(scene.logins.admin_url) as admin, scene.logins.enter(login, scene.token) as connection:
        for function, call in found:
            with connection.transaction(force_rollback=True):
                assert said_by(connection, call).startswith("ERROR 42501 permission denied for function"), function
            with admin.transaction(force_rollback=True):
                admin.execute(f"GRANT EXECUTE ON FUNCTION {function} TO {login}".encode())
                with Disguise(admin).enter(login, scene.token) as granted:
                    said = said_by(granted, call)
            assert not said.startswith(
                f"ERROR 42501 permission denied for function {function.partition('(')[0][7:]}\n"
            ), said
    record_property("walls taken away, and noticed", len(found))
