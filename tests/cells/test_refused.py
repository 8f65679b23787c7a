"""Moves that cannot be done, or not now: each says why, and nothing is changed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from sqlalchemy import make_url

from memsvc.cells import crossing, fitting
from memsvc.cells.journey import Limits
from memsvc.cells.moving import Preview, move_user, preview_move
from memsvc.cells.sites import Asked, connect, sites
from memsvc.errors import (
    DatabaseUnavailableError,
    MoveBlockedError,
    MoveBusyError,
    MoveDiffersError,
    MoveLoginError,
    MoveRefusedError,
    UserMovingError,
    UserUnknownError,
)
from memsvc.settings import Settings
from tests.cells.pair import Content, Deployment
from tests.cells.writers import run_with
from tests.sql.world import APP, MODEL, UNUSED_MODEL, World, login_url

pytestmark = pytest.mark.slow
AN_APP = "INSERT INTO memsvc.apps (app_id, name) VALUES ('{app_id}', '{app}');"
A_USER = "INSERT INTO memsvc.users (user_id, app_id, external_id, name, time_zone) VALUES"
NEITHER = "DELETE FROM memsvc.users WHERE app_id = '{app_id}'; DELETE FROM memsvc.apps WHERE app_id = '{app_id}'"
BREAKS: dict[str, tuple[str, str, str]] = {
    "another revision": (
        "UPDATE memsvc.schema_version SET version_num = '0059'",
        "SELECT 1",
        "revision 0059",
    ),
    "another secret": (
        "UPDATE memsvc.identity_keys SET retired_at = now()",
        "UPDATE memsvc.identity_keys SET retired_at = NULL",
        "identity secret",
    ),
    "another model": (
        f"UPDATE memsvc.embedding_models SET name = 'other' WHERE name = '{UNUSED_MODEL}'",
        f"UPDATE memsvc.embedding_models SET name = '{UNUSED_MODEL}' WHERE name = 'other'",
        "embedding model other",
    ),
    "longer vectors": (
        f"UPDATE memsvc.embedding_models SET dimensions = 4 WHERE name = '{MODEL}'",
        f"UPDATE memsvc.embedding_models SET dimensions = 3 WHERE name = '{MODEL}'",
        "another length",
    ),
    "another table": (
        "CREATE TABLE memsvc.of_a_plugin (user_id uuid, n integer, PRIMARY KEY (user_id, n))",
        "DROP TABLE memsvc.of_a_plugin",
        "of_a_plugin",
    ),
    "another app of this name": (
        "INSERT INTO memsvc.apps (name) VALUES ('{app}')",
        "DELETE FROM memsvc.apps WHERE name = '{app}'",
        "another app",
    ),
    "the same external id": (
        f"{AN_APP} {A_USER} (uuidv7(), '{{app_id}}', '{{external}}', 'x', 'UTC')",
        NEITHER,
        "external id",
    ),
    "the user is there already": (
        f"{AN_APP} {A_USER} ('{{user}}', '{{app_id}}', 'twin', 'x', 'UTC')",
        NEITHER,
        "has this user already",
    ),
    "a restore that did not finish": (
        "CREATE TABLE memsvc.unfinished_restore ()",
        "DROP TABLE memsvc.unfinished_restore",
        "did not finish",
    ),
}


@pytest.fixture
def before(deployment: Deployment, world: World) -> Content:
    """What Ada has in the home."""
    return deployment.content("home", world.ada.user_id)


def preview(deployment: Deployment, user: UUID, app: str) -> Preview:
    return preview_move(deployment.home, deployment.settings, app, str(user), "north")


def check_unmoved(deployment: Deployment, world: World, before: Content) -> None:
    """Ada goes on at home, and no trace of her is in the other cell."""
    ada = world.ada.user_id
    assert deployment.place(ada) == (0, 0, None)
    assert deployment.content("home", ada) == before
    assert deployment.left("north", ada) == {}
    assert deployment.rows("home", "SELECT FROM memsvc.moves") == []


@pytest.mark.parametrize("what", BREAKS)
def test_cells_that_do_not_fit(
    deployment: Deployment, world: World, app_name: str, before: Content, what: str
) -> None:  # fmt: skip
    ada = world.ada
    names = {"{app}": app_name, "{app_id}": ada.app_id, "{external}": ada.external_id, "{user}": ada.user_id}
    breaks, mends, said = BREAKS[what]
    for name, real in names.items():
        breaks, mends = breaks.replace(name, str(real)), mends.replace(name, str(real))
    [(revision,)] = deployment.rows("home", "SELECT version_num FROM memsvc.schema_version")
    deployment.run("north", breaks)
    try:
        with pytest.raises(Exception, match=said) as refused:
            deployment.move(ada.user_id, "north", app_name)
        assert refused.value.code in {"move_refused", "restore_unfinished"}  # type: ignore[attr-defined]
    finally:
        deployment.run("north", mends)
        deployment.run("north", f"UPDATE memsvc.schema_version SET version_num = '{revision}'")
    check_unmoved(deployment, world, before)


def test_names_that_nobody_has(deployment: Deployment, world: World, app_name: str, before: Content) -> None:
    ada = world.ada.user_id
    with pytest.raises(UserUnknownError):
        deployment.move(uuid4(), "north", app_name)
    with pytest.raises(UserUnknownError):
        deployment.move(world.eve.user_id, "north", app_name)
    with pytest.raises(MoveRefusedError, match="no cell 'south'"):
        deployment.move(ada, "south", app_name)
    with pytest.raises(MoveRefusedError, match="already"):
        deployment.move(ada, "home", app_name)
    with pytest.raises(MoveRefusedError, match="not moving"):
        deployment.move(ada, None, app_name)
    with pytest.raises(MoveRefusedError, match="not moving"):
        deployment.abort(ada, app_name)
    check_unmoved(deployment, world, before)


def test_a_move_to_another_cell_is_finished_or_given_up_first(
    deployment: Deployment, world: World, app_name: str, before: Content
) -> None:
    ada = world.ada.user_id
    deployment.run(
        "home", "INSERT INTO memsvc.cells (cell_id, name, url) VALUES (2, 'south', 'postgresql://127.0.0.1:1/x')"
    )
    deployment.run("home", "INSERT INTO memsvc.moves (user_id, from_cell, to_cell) VALUES (%s, 0, 1)", ada)
    try:
        with pytest.raises(MoveRefusedError, match="moving to the cell north"):
            deployment.move(ada, "south", app_name)
        deployment.abort(ada, app_name)
        with pytest.raises(DatabaseUnavailableError, match="south cannot be reached"):
            deployment.move(ada, "south", app_name)
    finally:
        deployment.run("home", "DELETE FROM memsvc.moves")
        deployment.run("home", "DELETE FROM memsvc.cells WHERE name = 'south'")
    check_unmoved(deployment, world, before)


def test_one_mover_at_a_time(deployment: Deployment, world: World, app_name: str, before: Content) -> None:
    ada = world.ada.user_id
    with connect(deployment.home) as other:
        other.execute("SELECT pg_advisory_lock(hashtextextended('memsvc.move ' || %s, 0))", [str(ada)])
        with pytest.raises(MoveBusyError):
            deployment.move(ada, "north", app_name)
    check_unmoved(deployment, world, before)


@pytest.mark.parametrize("cell", ["home", "north"])
def test_a_mover_that_lost_the_directory_keeps_its_cells(
    deployment: Deployment, world: World, app_name: str, before: Content, cell: str
) -> None:
    ada, found = world.ada.user_id, []
    asked = Asked(deployment.home, deployment.settings, app_name, str(ada), {})
    with sites(asked, "north") as first:
        first.home.close()
        kept = first.source if cell == "home" else first.target
        (first.target if cell == "home" else first.source).connection.close()
        found.append(kept.connection.execute("SELECT 1").fetchone())
        for work in (lambda: deployment.move(ada, "north", app_name), lambda: preview(deployment, ada, app_name)):
            with pytest.raises(MoveBusyError, match=f"session in the cell {cell}") as busy:
                work()
            assert "memsvc move" in busy.value.advice
    assert found == [(1,)]
    check_unmoved(deployment, world, before)
    deployment.move(ada, "north", app_name)


@contextmanager
def login(deployment: Deployment, *rights: str) -> Iterator[str]:
    """A login of the server that is no superuser, with some rights; its URL of the home."""
    with psycopg.connect(deployment.home, autocommit=True) as admin:
        admin.execute("DROP ROLE IF EXISTS memsvc_test_mover")
        admin.execute("CREATE ROLE memsvc_test_mover LOGIN PASSWORD 'x' BYPASSRLS")
        for right in rights:
            admin.execute(f"GRANT {right} TO memsvc_test_mover".encode())
        try:
            url = login_url(deployment.home, APP, deployment.settings)
            yield url.replace(APP, "memsvc_test_mover").replace(deployment.settings.secret("app_password"), "x")
        finally:
            for cell in ("home", "north"):
                deployment.run(cell, "DROP OWNED BY memsvc_test_mover")
            admin.execute("DROP ROLE memsvc_test_mover")


def test_a_login_that_may_not_do_it(deployment: Deployment, world: World, before: Content, app_name: str) -> None:
    for rights in ([], ["SET ON PARAMETER session_replication_role"]):
        with login(deployment, *rights) as url, pytest.raises(MoveLoginError) as refused:
            move_user(url, deployment.settings, app_name, str(world.ada.user_id), "north")
        assert "session_replication_role" in refused.value.advice
    check_unmoved(deployment, world, before)


def test_a_login_that_is_no_superuser_and_may_do_it(
    deployment: Deployment, world: World, before: Content, app_name: str
) -> None:
    with login(deployment, "memsvc_owner", "pg_monitor", "SET ON PARAMETER session_replication_role") as url:
        move_user(url, deployment.settings, app_name, str(world.ada.user_id), "north")
    assert deployment.content("north", world.ada.user_id) == before


def test_clocks_that_are_apart(
    deployment: Deployment, world: World, app_name: str, before: Content, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fitting, "MOST_APART_S", -1.0)
    with pytest.raises(MoveRefusedError, match="clocks"):
        deployment.move(world.ada.user_id, "north", app_name)
    check_unmoved(deployment, world, before)


def test_a_disk_without_room(
    deployment: Deployment, world: World, app_name: str, before: Content, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fitting, "ROOM", 1e12)
    with pytest.raises(MoveRefusedError, match="disk has"):
        deployment.move(world.ada.user_id, "north", app_name)
    check_unmoved(deployment, world, before)


def test_a_user_who_is_being_erased_is_not_moved_and_a_moving_one_is_not_erased(
    deployment: Deployment, world: World, app_name: str, before: Content
) -> None:
    from memsvc.erasing.users import erase_user  # noqa: PLC0415 - for this test

    ada, app = world.ada.user_id, world.ada.app_id
    deployment.run("home", "INSERT INTO memsvc.moves (user_id, from_cell, to_cell) VALUES (%s, 0, 1)", ada)
    with pytest.raises(UserMovingError):
        run_with(deployment, "home", lambda db: erase_user(db, app, str(ada), requested_by="cli"))
    deployment.abort(ada, app_name)
    check_unmoved(deployment, world, before)
    deployment.run("home", "UPDATE memsvc.users SET erasing_since = now() WHERE user_id = %s", ada)
    with pytest.raises(MoveRefusedError, match="erased"):
        deployment.move(ada, "north", app_name)
    assert deployment.left("north", ada) == {}


def test_a_user_of_a_cell_who_is_erased_there_meanwhile_is_not_brought_home(
    deployment: Deployment, world: World, app_name: str
) -> None:
    ada = world.ada.user_id
    deployment.move(ada, "north", app_name)
    deployment.run("home", "INSERT INTO memsvc.moves (user_id, from_cell, to_cell) VALUES (%s, 1, 0)", ada)
    deployment.run("north", "UPDATE memsvc.users SET erasing_since = now() WHERE user_id = %s", ada)
    with pytest.raises(MoveRefusedError, match="given up"):
        deployment.move(ada, None, app_name)
    assert set(deployment.left("home", ada)) == {"users", "api_keys"}
    assert deployment.rows("home", "SELECT FROM memsvc.moves") == []


@contextmanager
def working(deployment: Deployment) -> Iterator[psycopg.Connection]:
    """A transaction of the application that does not end."""
    with psycopg.connect(login_url(deployment.home, APP, deployment.settings), application_name="night") as app:
        app.execute("SELECT 1")
        yield app


def test_work_that_does_not_end_blocks_a_move_and_the_user_goes_on(
    deployment: Deployment, world: World, app_name: str, before: Content
) -> None:
    ada = world.ada.user_id
    lines: list[str] = []
    limits = Limits(grace_s=0.0, wait_s=0.1, tries=2, pause_s=0.01)
    with working(deployment):
        with pytest.raises(MoveBlockedError, match=r"memsvc_app \(night, idle in transaction") as blocked:
            deployment.move(ada, "north", app_name, limits=limits, report=lines.append)
        assert "Run the command again" in blocked.value.advice
        assert [line for line in lines if "another try" in line]
        assert deployment.place(ada) == (0, 0, None)
        assert deployment.rows("north", "SELECT moving FROM memsvc.users WHERE user_id = %s", ada) == [("frozen",)]
        assert "jobs" not in deployment.left("north", ada), "workers of the new cell would find them"
    deployment.move(ada, None, app_name)
    assert deployment.content("north", ada) == before


UNWATCHED = {
    "the database": ("ALTER DATABASE {database} SET track_activities = off", "database of the cell home has", "conf"),
    "the login": (
        "ALTER ROLE memsvc_app IN DATABASE {database} SET Track_Activities = 'false'",
        "off for memsvc_app",
        "RESET",
    ),
}


@pytest.mark.parametrize("what", UNWATCHED)
def test_a_server_that_does_not_tell_when_transactions_began(
    deployment: Deployment, world: World, app_name: str, before: Content, what: str
) -> None:
    statement, said, advice = UNWATCHED[what]
    statement = statement.format(database=make_url(deployment.home).database)
    deployment.run("home", statement)
    try:
        with pytest.raises(MoveRefusedError, match=said) as refused:
            deployment.move(world.ada.user_id, "north", app_name)
        assert advice in refused.value.advice
    finally:
        deployment.run("home", f"{statement[: statement.index('SET')]} RESET track_activities")
    check_unmoved(deployment, world, before)


@contextmanager
def unseen(deployment: Deployment) -> Iterator[psycopg.Connection]:
    """A transaction of the application that has written, and whose beginning the server does not tell."""
    role = f"ALTER ROLE memsvc_app IN DATABASE {make_url(deployment.home).database}"
    deployment.run("home", f"{role} SET track_activities = off")
    try:
        session = psycopg.connect(login_url(deployment.home, APP, deployment.settings))
    finally:
        deployment.run("home", f"{role} RESET track_activities")
    with session:
        session.execute("SELECT pg_current_xact_id()")
        yield session


def test_a_session_that_does_not_tell_when_its_transaction_began_refuses_or_blocks(
    deployment: Deployment, world: World, app_name: str, before: Content, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = world.ada.user_id
    limits = Limits(grace_s=0.0, wait_s=0.1, tries=1)
    with unseen(deployment):
        with pytest.raises(MoveRefusedError, match="in sessions of memsvc_app"):
            deployment.move(ada, "north", app_name)
        check_unmoved(deployment, world, before)
        monkeypatch.setattr(fitting, "check_watched", lambda *_unused: None)  # as if it came after the check
        with pytest.raises(MoveBlockedError, match=r"memsvc_app \(no name, disabled, nobody knows since when"):
            deployment.move(ada, "north", app_name, limits=limits)
        assert deployment.place(ada) == (0, 0, None)
    deployment.move(ada, None, app_name)
    assert deployment.content("north", ada) == before


def test_a_copy_that_is_not_equal_is_not_used(
    deployment: Deployment, world: World, app_name: str, before: Content, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, plain = world.ada.user_id, crossing._last_round

    def damaging(journey: Any, copier: Any) -> int:
        done = plain(journey, copier)
        copier.target.execute("DELETE FROM memsvc.nodes WHERE user_id = %s", [ada])
        return done

    with monkeypatch.context() as patched:
        patched.setattr(crossing, "_last_round", damaging)
        patched.setattr("memsvc.cells.copying.Copier.mend", lambda *_unused: 0)
        with pytest.raises(MoveDiffersError, match="nodes"):
            deployment.move(ada, "north", app_name)
    assert deployment.place(ada) == (0, 0, None)
    with monkeypatch.context() as patched:
        patched.setattr("memsvc.cells.copying.Copier.differing", lambda *_unused: [])
        patched.setattr(crossing, "_last_round", damaging)
        with pytest.raises(MoveDiffersError, match="refer to nothing") as foreign:
            deployment.move(ada, None, app_name)
        assert foreign.value.details["tables"]["edges"] >= 1
    assert deployment.place(ada) == (0, 0, None)
    deployment.move(ada, None, app_name)
    assert deployment.content("north", ada) == before


def test_the_new_cell_is_lost_and_a_stopped_user_goes_on_without_it(
    deployment: Deployment, world: World, app_name: str, before: Content
) -> None:
    ada = world.ada.user_id
    [(url,)] = deployment.rows("home", "SELECT url FROM memsvc.cells WHERE name = 'north'")
    deployment.run(
        "home", "INSERT INTO memsvc.moves (user_id, from_cell, to_cell, state) VALUES (%s, 0, 1, 'frozen')", ada
    )
    deployment.run("home", "UPDATE memsvc.users SET moving = 'frozen' WHERE user_id = %s", ada)
    deployment.run("home", "UPDATE memsvc.cells SET url = 'postgresql://127.0.0.1:1/x' WHERE name = 'north'")
    try:
        with pytest.raises(DatabaseUnavailableError, match="goes on in home"):
            deployment.abort(ada, app_name)
        assert deployment.place(ada) == (0, 0, None)
        assert deployment.rows("home", "SELECT state FROM memsvc.moves") == [("aborting",)]
    finally:
        deployment.run("home", "UPDATE memsvc.cells SET url = %s WHERE name = 'north'", url)
    deployment.abort(ada, app_name)
    check_unmoved(deployment, world, before)


def test_a_cell_that_was_restored_to_yesterday_is_noticed(
    deployment: Deployment, world: World, app_name: str
) -> None:  # fmt: skip
    ada = world.ada.user_id
    deployment.move(ada, "north", app_name)
    deployment.run("north", "UPDATE memsvc.users SET epoch = 0 WHERE user_id = %s", ada)
    with pytest.raises(MoveRefusedError, match="at epoch 0, the directory at 1"):
        deployment.move(ada, "home", app_name)
    assert set(deployment.left("home", ada)) == {"users", "api_keys"}


def test_settings_of_another_deployment(deployment: Deployment, world: World, app_name: str, before: Content) -> None:
    other = Settings.model_validate({"identity_secret": "x" * 40, "data_dir": deployment.settings.data_dir})
    with pytest.raises(MoveRefusedError, match="The cell home does not believe"):
        move_user(deployment.home, other, app_name, str(world.ada.user_id), "north")
    check_unmoved(deployment, world, before)
