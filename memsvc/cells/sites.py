"""Sessions of administrators in the databases of a move: the directory, the old cell and the new one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from uuid import UUID

import psycopg
from sqlalchemy import make_url

from memsvc.access.users import HOME
from memsvc.cells import fitting
from memsvc.cells.copying import one
from memsvc.cells.directory import Cell
from memsvc.cells.managing import admin_url_of
from memsvc.db.meanings import plain_error
from memsvc.errors import (
    DatabaseUnavailableError,
    MoveBusyError,
    MoveLoginError,
    MoveRefusedError,
    UserUnknownError,
)
from memsvc.server.exclusive import take_turn
from memsvc.settings import Settings

AGAIN = "Run the command again with --resume: a move continues where it was."
BUSY = (
    "Wait until it has ended; if it was killed, its last statement may go on for a while. In that cell's "
    "pg_stat_activity it has the application_name 'memsvc move'."
)
LOCK = "SELECT pg_try_advisory_lock(hashtextextended('memsvc.move ' || %s, %s))"
DIRECTORYS, CELLS = 0, 1
"""Seeds of the two locks on a user. The directory may be one of the cells too, with a session for each."""
CELL = "SELECT cell_id, name, url, weight FROM memsvc.cells WHERE cell_id = %s"
USER = """
SELECT u.user_id FROM memsvc.users AS u INNER JOIN memsvc.apps AS a ON a.app_id = u.app_id
WHERE a.name = %s AND (u.external_id = %s OR u.user_id::text = %s)
ORDER BY u.user_id::text = %s DESC LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class Asked:
    """Whose move it is, and the databases' logins; the fields as ``move_user`` takes them."""

    home_url: str
    settings: Settings
    app: str
    ref: str
    logins: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Site:
    """A cell, and the administrator's session in its database."""

    cell_id: int
    name: str
    url: str
    session: psycopg.Connection | None
    """None: it cannot be reached, and that is borne."""

    @property
    def connection(self) -> psycopg.Connection:
        """The session.

        Raises:
            DatabaseUnavailableError: there is none.
        """
        if self.session is None:
            raise DatabaseUnavailableError(f"The cell {self.name} cannot be reached.", cell=self.name)
        return self.session

    @property
    def home(self) -> bool:
        """Whether it is the directory."""
        return self.cell_id == HOME.cell_id


@dataclass(frozen=True, slots=True)
class Sites:
    """The databases of one user's move. Each session holds a lock on the user in its database."""

    user_id: UUID
    home: psycopg.Connection
    source: Site
    target: Site


def connect(url: str) -> psycopg.Connection:
    """An administrator's session without time limits, in autocommit."""
    connection = psycopg.connect(url, autocommit=True, application_name="memsvc move")
    for name in ("statement_timeout", "idle_in_transaction_session_timeout", "transaction_timeout"):
        connection.execute("SELECT set_config(%s, '0', false)", [name])
    # Without jit: compiling a comparison of all tables takes longer than most of them.
    connection.execute(
        "SELECT set_config('lock_timeout', '10s', false), set_config('jit', 'off', false), "
        "set_config('datestyle', 'ISO', false), "
        "set_config('memsvc.acting', 'cli', false)"
    )
    return connection


@contextmanager
def _reaching() -> Iterator[None]:
    """Turn errors of the driver into ours; the move can be continued."""
    try:
        yield
    except psycopg.Error as error:
        plain = plain_error(error)
        if isinstance(plain, DatabaseUnavailableError):
            why = str(error).strip().splitlines()[-1]
            raise DatabaseUnavailableError(f"A database cannot be reached: {why}", hint=AGAIN) from error
        if plain is None:
            raise
        raise plain from error


@contextmanager
def sites(asked: Asked, to: str | None, *, without_target: bool = False) -> Iterator[Sites]:
    """Sessions in the directory, the old cell and the new one, and the locks on the user.

    A process that has lost its session in the directory keeps the locks of the cells as long as it can write there.

    Args:
        asked: whose move it is.
        to: name of the new cell; None: that of the move that is under way.
        without_target: it is borne that the new cell cannot be reached.

    Raises:
        UserUnknownError: the app has no such user.
        MoveRefusedError: there is no such cell or no such move, or the user is there already or moves to another cell.
        MoveBusyError: another process moves the user.
        MoveLoginError: a login may not do it.
        DatabaseUnavailableError: a database cannot be reached, here or in the block.
    """
    with _reaching(), ExitStack() as stack:
        home = stack.enter_context(connect(asked.home_url))
        fitting.check_login(home, "home")
        user_id = one(home, USER, [asked.app, asked.ref, asked.ref, asked.ref])
        if user_id is None:
            raise UserUnknownError(f"This app has no user {asked.ref!r}.")
        if not one(home, LOCK, [str(user_id), DIRECTORYS]):
            raise MoveBusyError
        origin, destination = _ends(home, user_id, to)
        source = _site(stack, home, asked, origin, user_id)
        target = _site(stack, home, asked, destination, user_id, lost=without_target)
        yield Sites(user_id, home, source, target)


def _ends(home: psycopg.Connection, user_id: UUID, to: str | None) -> tuple[int, int]:
    """The numbers of the old cell and the new one.

    Raises:
        MoveRefusedError: there is no such cell, or the user is there already or moves to another one.
    """
    named: int | None = one(home, "SELECT cell_id FROM memsvc.cells WHERE name = %s", [to])
    if to is not None and named is None:
        raise MoveRefusedError(f"There is no cell {to!r}.", hint="'memsvc cells list' shows them.")
    begun = home.execute("SELECT from_cell, to_cell FROM memsvc.moves WHERE user_id = %s", [user_id]).fetchone()
    if begun is not None:
        if named not in (None, begun[1]):
            other = one(home, "SELECT name FROM memsvc.cells WHERE cell_id = %s", [begun[1]])
            raise MoveRefusedError(
                f"This user is moving to the cell {other}.",
                hint="Finish that with --resume, or give it up with --abort.",
            )
        return begun[0], begun[1]
    if named is None:
        raise MoveRefusedError("This user is not moving.", hint="Name a cell with --to.")
    origin: int = one(home, "SELECT cell_id FROM memsvc.users WHERE user_id = %s", [user_id])
    if origin == named:
        raise MoveRefusedError(f"This user is in the cell {to} already.")
    return origin, named


def _site(
    stack: ExitStack, home: psycopg.Connection, asked: Asked, cell_id: int, user_id: UUID, *, lost: bool = False
) -> Site:  # fmt: skip
    """A session in a cell of its own, also where that is the directory; upgrades of the cell wait for its end.

    ``lost``: it is borne that the cell cannot be reached.

    Raises:
        MoveBusyError: a session of another process holds the lock on the user there.
    """
    cell = Cell(*home.execute(CELL, [cell_id]).fetchall()[0])
    name, url = cell.name, asked.logins.get(cell.name) or admin_url_of(cell, asked.home_url, asked.settings)
    url = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    try:
        connection = stack.enter_context(connect(url))
    except psycopg.OperationalError as error:
        if lost:
            return Site(cell_id, name, url, None)
        why = str(error).strip().splitlines()[-1]
        raise DatabaseUnavailableError(f"The cell {name} cannot be reached: {why}", cell=name) from error
    fitting.check_login(connection, name)
    if not one(connection, LOCK, [str(user_id), CELLS]):
        raise MoveBusyError(
            f"Another process is moving this user: its session in the cell {name} goes on.", hint=BUSY, cell=name
        )
    try:
        take_turn(connection, shared=True)
    except psycopg.errors.InsufficientPrivilege as error:
        raise MoveLoginError(f"The login of the cell {name} may not move users.", cell=name) from error
    return Site(cell_id, name, url, connection)
