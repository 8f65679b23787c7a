"""A mover that is killed anywhere: the next one finishes, or gives up; nothing is lost, doubled or left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import product
from pathlib import Path
from types import FrameType
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg import sql

from memsvc.cells import sites
from memsvc.errors import MemsvcError, MoveRefusedError
from tests.acceptance.killpoints import MEMSVC, wait_until
from tests.cells.pair import Content, Deployment
from tests.sql.world import World

pytestmark = pytest.mark.slow
OURS = f"{os.sep}memsvc{os.sep}cells{os.sep}"
GONE = "SELECT FROM pg_stat_activity WHERE pid = ANY (%s)"
MOVES = "SELECT state FROM memsvc.moves WHERE user_id = %s"


class Killed(BaseException):
    """The process is dead; nothing catches it."""


class Killer:
    """Ends the sessions of a mover before a statement that no mover was killed at before, as the kernel would."""

    def __init__(self, admin_url: str) -> None:
        self.admin_url = admin_url
        self.places: set[tuple[str, int]] = set()
        """Lines of ``memsvc/cells`` before whose statements a mover was killed."""
        self.sessions: list[psycopg.Connection] = []
        self.armed = False
        self._lock = threading.Lock()

    def reached(self) -> None:
        """Called before each statement."""
        if not self.armed:
            return
        place = _place()
        with self._lock:
            if place in self.places or not self.armed:
                return
            self.places.add(place)
            self.armed = False
        pids = [session.info.backend_pid for session in self.sessions if not session.closed]
        with psycopg.connect(self.admin_url, autocommit=True) as admin:
            admin.execute("SELECT pg_terminate_backend(pid) FROM unnest(%s::int[]) AS p (pid)", [pids])
            wait_until(lambda: admin.execute(GONE, [pids]).fetchone() is None)
        raise Killed

    def run(self, work: Callable[[], object]) -> bool:
        """Run work until it is killed, or to its end; whether it was killed."""
        self.sessions.clear()
        self.armed = True
        try:
            work()
        except Killed:
            return True
        except (MemsvcError, psycopg.Error):
            if self.armed:
                raise
            return True  # the other thread of a comparison was killed
        finally:
            self.armed = False
        return False


def _place() -> tuple[str, int]:
    """The innermost line of ``memsvc/cells`` that is running, above those that every statement goes through."""
    frame: FrameType | None = sys._getframe(2)
    found = ("", 0)
    while frame is not None:
        if OURS in frame.f_code.co_filename:
            found = (Path(frame.f_code.co_filename).name, frame.f_lineno)
            if frame.f_code.co_name not in {"one", "_fill", "_copied", "_read", "answered"}:
                return found
        frame = frame.f_back
    return found


@pytest.fixture
def killer(deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> Killer:
    """Every session of a mover reports its statements to this."""
    made, plain = Killer(deployment.home), sites.connect

    class Reporting(psycopg.Cursor[Any]):
        def execute(self, *arguments: Any, **named: Any) -> Any:
            made.reached()
            return super().execute(*arguments, **named)

        def copy(self, *arguments: Any, **named: Any) -> Any:
            made.reached()
            return super().copy(*arguments, **named)

    def connect(url: str) -> psycopg.Connection:
        session = plain(url)
        session.cursor_factory = Reporting
        made.sessions.append(session)
        return session

    monkeypatch.setattr(sites, "connect", connect)
    return made


def check_moved(deployment: Deployment, user: UUID, cell: str, before: Content) -> None:
    """The user is in the cell with everything, and nowhere else."""
    other = "north" if cell == "home" else "home"
    assert deployment.content(cell, user) == before
    assert set(deployment.left(other, user)) <= ({"users", "api_keys"} if other == "home" else set())
    assert deployment.rows("home", "SELECT FROM memsvc.moves") == []
    number, _epoch, moving = deployment.place(user)
    assert (number, moving) == (0 if cell == "home" else 1, None)
    assert deployment.rows(cell, "SELECT moving FROM memsvc.users WHERE user_id = %s", user) == [(None,)]


def test_killed_before_every_statement_the_next_mover_finishes(
    deployment: Deployment, world: World, app_name: str, killer: Killer
) -> None:
    ada, bob = world.ada.user_id, world.bob.user_id
    before, others = deployment.content("home", ada), deployment.content("home", bob)
    for to in ("north", "home"):
        killed = True
        while killed:
            known = deployment.rows("home", MOVES, ada)
            begun = deployment.place(ada)[0] == (1 if to == "north" else 0)
            if begun and not known:
                break  # killed after its last transaction
            killed = killer.run(lambda: deployment.move(ada, to, app_name))  # noqa: B023 - run at once
        check_moved(deployment, ada, to, before)
    assert len(killer.places) > 60
    assert deployment.content("home", bob) == others


@pytest.mark.parametrize("to", ["north", "home"])
def test_killed_before_every_statement_a_move_can_be_given_up(
    deployment: Deployment, world: World, app_name: str, killer: Killer, to: str
) -> None:
    ada = world.ada.user_id
    before = deployment.content("home", ada)
    if to == "home":
        deployment.move(ada, "north", app_name)
    given_up = 0
    while killer.run(lambda: deployment.move(ada, to, app_name)):
        state = deployment.rows("home", MOVES, ada)
        if state == [("switched",)]:
            with pytest.raises(MoveRefusedError, match="is in the cell"):
                deployment.abort(ada, app_name)
            break
        if not state:
            continue
        while killer.run(lambda: deployment.abort(ada, app_name)):
            if not deployment.rows("home", MOVES, ada):
                break
        given_up += 1
        check_moved(deployment, ada, "north" if to == "home" else "home", before)
    if deployment.rows("home", MOVES, ada):
        deployment.move(ada, None, app_name)
    check_moved(deployment, ada, to, before)
    assert given_up > 25


@contextmanager
def held(url: str, table: str) -> Iterator[Callable[[], bool]]:
    """Let nobody write to a table while the block runs; yields whether somebody waits for that."""
    with psycopg.connect(url) as holder, psycopg.connect(url, autocommit=True) as watcher:
        holder.execute(sql.SQL("LOCK TABLE memsvc.{} IN SHARE MODE").format(sql.Identifier(table)))
        pid = holder.info.backend_pid
        query = "SELECT FROM pg_stat_activity WHERE %s = ANY (pg_blocking_pids(pid))"
        yield lambda: watcher.execute(query, [pid]).fetchone() is not None


# Who waits for which table when the mover is killed, and the state of the move then.
MOMENTS = {
    "copying": ("north", "terms", "copying"),
    "frozen": ("north", "jobs", "frozen"),
    "switched": ("home", "tombstones", "switched"),
}


@pytest.mark.parametrize(("moment", "then"), list(product(MOMENTS, ["--resume", "--abort"])))
def test_a_mover_that_gets_sigkill(
    deployment: Deployment, world: World, tmp_path: Path, moment: str, then: str
) -> None:  # fmt: skip
    ada = world.ada.user_id
    [(app_name,)] = deployment.rows("home", "SELECT name FROM memsvc.apps WHERE app_id = %s", world.ada.app_id)
    before = deployment.content("home", ada)
    cell, table, state = MOMENTS[moment]
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("MEMSVC_")},
        "MEMSVC_DATABASE_URL": deployment.home, "MEMSVC_DATA_DIR": str(deployment.settings.data_dir),
        "MEMSVC_CYPHER": "off",
    }  # fmt: skip
    command = [str(MEMSVC), "user", "move", str(ada), "--app", app_name]

    def run(*options: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*command, *options], cwd=tmp_path, env=environment, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )  # fmt: skip

    with held(deployment.url(cell), table) as waiting:
        mover = run("--to", "north")
        wait_until(lambda: waiting() or mover.poll() is not None)
        assert mover.poll() is None, mover.communicate()
        mover.send_signal(signal.SIGKILL)
        mover.communicate()
    assert deployment.rows("home", MOVES, ada) == [(state,)]
    stopped = deployment.place(ada)[2]
    assert stopped == ("frozen" if moment == "frozen" else None)
    for _ in range(50):  # the server ends the dead process's sessions within moments
        with suppress(subprocess.TimeoutExpired):
            after = run(then)
            output, errors = after.communicate(timeout=120)
        if "Another process" not in errors:
            break
        time.sleep(0.1)
    if moment == "switched" and then == "--abort":
        assert after.returncode == 3
        assert "--resume" in errors
        after = run("--resume")
        output, errors = after.communicate(timeout=120)
    assert after.returncode == 0, (output, errors)
    check_moved(deployment, ada, "home" if then == "--abort" and moment != "switched" else "north", before)
