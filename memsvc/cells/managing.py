"""What operators do with cells: list, add, weigh, upgrade, check. All of it as an administrator of the databases."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal
from uuid import UUID

import msgspec
import psycopg
from psycopg.rows import namedtuple_row
from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from memsvc.access.users import HOME
from memsvc.cells.budgets import LimitsOf, differing, read_limits
from memsvc.cells.directory import Cell
from memsvc.db.files import head_revision
from memsvc.db.identity import Signer
from memsvc.db.meanings import plainly
from memsvc.errors import AlreadyExistsError, InvalidRequestError, MemsvcError, NotFoundError, UserUnknownError
from memsvc.server.upgrade import Upgrade, upgrade
from memsvc.settings import Settings

NAME = re.compile(r"[a-z][a-z0-9-]{0,39}", re.ASCII)
HOME_NAME = "home"
MOST_WEIGHT = 1_000
MOST_IDS = 20
"""The most users, or budgets, that a finding names."""
NOBODY = UUID(int=1)
CLOCKS_APART_S = 5.0
LOGINS = {"user", "password", "passfile", "service", "servicefile"}
"""Parameters of a URL that are a login, too."""
STRAY_AFTER = "1 hour"
"""A user is added to a cell first, and to the directory a moment later."""
Step = Callable[[str], None]


class CellState(msgspec.Struct, frozen=True, kw_only=True):
    """A cell as 'memsvc cells list' shows it."""

    name: str
    url: str
    """Without a login; empty: the home."""
    weight: int
    """Its share of new users, relative to the other cells."""
    users: int
    """As the directory says."""
    answers: bool
    revision: str | None
    bytes: int | None
    passages: int | None
    """As PostgreSQL's statistics estimate it."""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """Something that 'memsvc cells doctor' has looked at."""

    cell: str
    what: str
    state: Literal["ok", "wrong"]
    hint: str = ""


@contextmanager
def _connected(url: str) -> Iterator[psycopg.Connection[Any]]:
    with plainly(), psycopg.connect(url, autocommit=True, connect_timeout=5, row_factory=namedtuple_row) as connection:
        yield connection


def read_cells(admin_url: str) -> list[Cell]:
    """All cells, the home first.

    Raises:
        DatabaseUnavailableError, DatabaseTooOldError: the directory cannot be read.
    """
    with _connected(admin_url) as home:
        rows = home.execute("SELECT cell_id, name, url, weight FROM memsvc.cells ORDER BY cell_id").fetchall()
    return [Cell(row.cell_id, row.name, row.url, row.weight) for row in rows]


def find_cell(admin_url: str, name: str) -> Cell:
    """The cell with this name.

    Raises:
        NotFoundError: there is none.
    """
    for cell in read_cells(admin_url):
        if cell.name == name:
            return cell
    raise NotFoundError(f"There is no cell {name!r}.", hint="'memsvc cells list' shows them.")


def admin_url_of(cell: Cell, admin_url: str, settings: Settings) -> str:
    """The URL of a cell with an administrator's login: as MEMSVC_CELL_URLS has it, or with the home's login."""
    if not cell.url:
        return admin_url
    if cell.name in settings.cells:
        return settings.cells[cell.name]
    home = make_url(admin_url)
    return make_url(cell.url).set(username=home.username, password=home.password).render_as_string(hide_password=False)


def admin_url_at(user_id: UUID, admin_url: str, settings: Settings) -> str:
    """The URL of the cell with a user's memory, with an administrator's login.

    Raises:
        UserUnknownError: there is no such user.
        DatabaseUnavailableError, DatabaseTooOldError: the directory cannot be read.
    """
    with _connected(admin_url) as home:
        row = home.execute("SELECT cell_id FROM memsvc.users WHERE user_id = %s", [user_id]).fetchone()
    if row is None:
        raise UserUnknownError
    if row.cell_id == HOME.cell_id:
        return admin_url
    return admin_url_of(next(c for c in read_cells(admin_url) if c.cell_id == row.cell_id), admin_url, settings)


def list_states(admin_url: str, settings: Settings) -> list[CellState]:
    """All cells with their sizes. A cell that does not answer is listed, too."""
    with _connected(admin_url) as home:
        users = dict(home.execute("SELECT cell_id, count(*) FROM memsvc.users GROUP BY cell_id").fetchall())
    return [_state(cell, users.get(cell.cell_id, 0), admin_url, settings) for cell in read_cells(admin_url)]


def _state(cell: Cell, users: int, admin_url: str, settings: Settings) -> CellState:
    found: Any = None
    try:
        with _connected(admin_url_of(cell, admin_url, settings)) as connection:
            found = connection.execute(
                "SELECT (SELECT version_num FROM memsvc.schema_version) AS revision, "
                "pg_database_size(current_database()) AS bytes, "
                "(SELECT greatest(c.reltuples, 0)::bigint FROM pg_class AS c "
                "WHERE c.oid = 'memsvc.passages'::regclass) AS passages"
            ).fetchone()
    except MemsvcError:
        found = None
    return CellState(
        name=cell.name,
        url=cell.url,
        weight=cell.weight,
        users=users,
        answers=found is not None,
        revision=found.revision if found else None,
        bytes=found.bytes if found else None,
        passages=found.passages if found else None,
    )


def add_cell(admin_url: str, settings: Settings, name: str, url: str, weight: int = 1) -> Cell:
    """Add a database to the deployment, or give a cell another address or weight; repeating it changes nothing.

    Args:
        admin_url: the home, with an administrator's login.
        settings: the secrets, which the cell must share.
        name: what people call the cell.
        url: postgresql:// URL of its database, without a login. 'memsvc db upgrade' has been run on it.
        weight: its share of new users.

    Raises:
        InvalidRequestError: a value is not valid, the database is the home or another cell, is at another revision,
            has other secrets, or already has users.
        DatabaseUnavailableError: the database does not answer.
    """
    if name == HOME_NAME:
        raise InvalidRequestError(
            "The name 'home' is taken by the database with the directory and the keys, which is always a cell.",
            hint="Give the new cell another name. 'memsvc cells weight home N' sets the home's share of new users.",
            field="name",
        )
    if not NAME.fullmatch(name):
        raise InvalidRequestError(
            f"{name[:60]!r} cannot be a cell's name.",
            hint="A name has up to 40 lower case letters, digits and hyphens, and begins with a letter.",
            field="name",
        )
    _check_weight(weight)
    plain = _without_login(url)
    known = {cell.name: cell for cell in read_cells(admin_url)}
    if any(cell.url == plain and cell.name != name for cell in known.values()):
        raise AlreadyExistsError("Another cell has this URL.", hint="'memsvc cells list' shows them.")
    before = known.get(name)
    cell = Cell(before.cell_id if before else 1 + max(one.cell_id for one in known.values()), name, plain, weight)
    _check_database(cell, admin_url, settings, new=before is None)
    with _connected(admin_url) as home:
        home.execute(
            "INSERT INTO memsvc.cells (cell_id, name, url, weight) VALUES (%s, %s, %s, %s) "
            "ON CONFLICT (cell_id) DO UPDATE SET url = excluded.url, weight = excluded.weight",
            [cell.cell_id, name, plain, weight],
        )
        details = msgspec.json.encode({"weight": weight}).decode()
        home.execute("SELECT memsvc.audit('cell.add', NULL, NULL, %s, %s::jsonb)", [name, details])
    return cell


def weigh_cell(admin_url: str, name: str, weight: int) -> None:
    """Set a cell's share of new users.

    Raises:
        NotFoundError: there is no such cell.
        InvalidRequestError: the weight is out of range.
    """
    _check_weight(weight)
    cell = find_cell(admin_url, name)
    with _connected(admin_url) as home:
        home.execute("UPDATE memsvc.cells SET weight = %s WHERE cell_id = %s", [weight, cell.cell_id])
        details = msgspec.json.encode({"weight": weight}).decode()
        home.execute("SELECT memsvc.audit('cell.weigh', NULL, NULL, %s, %s::jsonb)", [name, details])


def remove_cell(admin_url: str, name: str) -> None:
    """Remove a cell without users from the directory; its database stays as it is.

    Raises:
        NotFoundError: there is no such cell.
        InvalidRequestError: it is the home, or has users.
    """
    cell = find_cell(admin_url, name)
    if not cell.url:
        raise InvalidRequestError("The home cannot be removed: it has the keys and the directory.")
    with _connected(admin_url) as home, home.transaction():
        home.execute("LOCK TABLE memsvc.cells IN EXCLUSIVE MODE")
        row = home.execute("SELECT count(*) AS n FROM memsvc.users WHERE cell_id = %s", [cell.cell_id]).fetchone()
        moving = home.execute("SELECT FROM memsvc.moves WHERE %s IN (from_cell, to_cell)", [cell.cell_id]).fetchone()
        if (row is not None and row.n) or moving is not None:
            raise InvalidRequestError(
                f"The cell {name!r} still has users, or users are moving.", hint=f"First 'memsvc cells drain {name}'."
            )
        home.execute("DELETE FROM memsvc.cells WHERE cell_id = %s", [cell.cell_id])
        home.execute("SELECT memsvc.audit('cell.remove', NULL, NULL, %s)", [name])


def users_of_cell(admin_url: str, cell: Cell) -> list[tuple[str, UUID]]:
    """The users whose memory is in a cell, with the names of their apps; without those who are being erased."""
    with _connected(admin_url) as home:
        rows = home.execute(
            "SELECT a.name, u.user_id FROM memsvc.users AS u INNER JOIN memsvc.apps AS a ON a.app_id = u.app_id "
            "WHERE u.cell_id = %s AND u.erasing_since IS NULL ORDER BY u.user_id",
            [cell.cell_id],
        ).fetchall()
    return [(row.name, row.user_id) for row in rows]


def upgrade_cells(
    admin_url: str, settings: Settings, names: Sequence[str] = (), report: Step = lambda _line: None
) -> dict[str, Upgrade]:
    """Upgrade the databases of cells one after another, the home last; stop at the first that fails.

    The release before works on an upgraded database, so processes go on, and are replaced afterwards. The home is last
    because processes of this release need its directory as this release knows it.

    Raises:
        NotFoundError: there is no such cell.
        MemsvcError: an upgrade failed; those before it are done.
    """
    cells = read_cells(admin_url)
    unknown = set(names) - {cell.name for cell in cells}
    if unknown:
        raise NotFoundError(f"There is no cell {min(unknown)!r}.", hint="'memsvc cells list' shows them.")
    done = {}
    for cell in [*cells[1:], cells[0]]:
        if not names or cell.name in names:
            report(f"{cell.name}:")
            done[cell.name] = upgrade(admin_url_of(cell, admin_url, settings), settings, report=report)
    return done


def examine(admin_url: str, settings: Settings) -> list[Finding]:
    """Compare the directory with all cells."""
    cells = read_cells(admin_url)
    with _connected(admin_url) as home:
        listed = home.execute("SELECT user_id, cell_id, epoch FROM memsvc.users WHERE erasing_since IS NULL").fetchall()
        stuck = home.execute(
            "SELECT user_id FROM memsvc.moves WHERE started_at < clock_timestamp() - interval '1 day'"
        ).fetchall()
        limits = read_limits(home)
    found: list[Finding] = []
    for cell in cells:
        try:
            found += _examine(cell, listed, limits, admin_url, settings)
        except MemsvcError as error:
            found.append(Finding(cell=cell.name, what=error.message, state="wrong", hint=error.advice))
    if stuck:
        what = f"moves that began more than a day ago: {_some([row.user_id for row in stuck])}"
        hint = "'memsvc user move NAME --resume' or '--abort'."
        found.append(Finding(cell="home", what=what, state="wrong", hint=hint))
    return found


class Stray(msgspec.Struct, frozen=True, kw_only=True):
    """A user who is in a cell in which the directory does not see that user."""

    app_id: UUID
    user_id: UUID
    why: Literal["left", "unknown", "newer"]
    """left: the directory knows a later epoch elsewhere; unknown: it does not know the user; newer: the cell's epoch is
    at least as high, so the directory seems to be restored to an earlier time."""


def find_strays(cell: Cell, admin_url: str, settings: Settings) -> list[Stray]:
    """The users who are in this cell for an hour, and are not, as the directory says.

    Raises:
        DatabaseUnavailableError: the directory or the cell does not answer.
    """
    with _connected(admin_url) as home:
        at = {row.user_id: row for row in home.execute("SELECT user_id, cell_id, epoch FROM memsvc.users").fetchall()}
        moving = {row.user_id for row in home.execute("SELECT user_id FROM memsvc.moves").fetchall()}
    with _connected(admin_url_of(cell, admin_url, settings)) as connection:
        rows = connection.execute(
            "SELECT app_id, user_id, epoch FROM memsvc.users WHERE cell_id = 0 "
            "AND created_at < clock_timestamp() - %s::interval ORDER BY user_id",
            [STRAY_AFTER],
        ).fetchall()
    found = []
    for row in rows:
        known = at.get(row.user_id)
        if row.user_id in moving or (known is not None and known.cell_id == cell.cell_id):
            continue
        why: Literal["left", "unknown", "newer"] = (
            "unknown" if known is None else "left" if known.epoch > row.epoch else "newer"
        )
        found.append(Stray(app_id=row.app_id, user_id=row.user_id, why=why))
    return found


HINTS = {
    "left": "'memsvc cells doctor --erase-strays' erases them in this cell.",
    "unknown": "Somebody was killed while adding them; or the home was restored to an earlier time, and this is all "
    "that there is of them. If you know which, 'memsvc cells doctor --erase-strays --erase-unknown' erases them.",
    "newer": "The home was restored to an earlier time: restore it to a later one. Nothing erases them.",
}


def _examine(
    cell: Cell, listed: Sequence[Any], limits: LimitsOf, admin_url: str, settings: Settings
) -> Iterator[Finding]:  # fmt: skip
    with _connected(admin_url_of(cell, admin_url, settings)) as connection:
        _check_revision(connection)
        _check_secret(connection, settings)
        all_here = {
            row.user_id: row.epoch
            for row in connection.execute("SELECT user_id, epoch FROM memsvc.users WHERE cell_id = 0").fetchall()
        }
        clock = connection.execute("SELECT extract(epoch FROM clock_timestamp()) AS now").fetchone()
        apps = {row.name for row in connection.execute("SELECT name FROM memsvc.apps").fetchall()}
        limits_here = read_limits(connection)
    yield Finding(cell=cell.name, what="answers, is of this version and shares the secrets", state="ok")
    strays = find_strays(cell, admin_url, settings) if cell.url else []
    for why, what in (
        ("left", "users who have left, as the directory says"),
        ("unknown", "users whom the directory does not know"),
        ("newer", "users who are elsewhere, as the directory says, and came here later"),
    ):
        ids = [stray.user_id for stray in strays if stray.why == why]
        if ids:
            yield Finding(cell=cell.name, what=f"{what}: {_some(ids)}", state="wrong", hint=HINTS[why])
    lost = [row.user_id for row in listed if row.cell_id == cell.cell_id and row.user_id not in all_here]
    if lost:
        what = f"users whom the directory sends there, and who are not there: {_some(lost)}"
        hint = "Was the cell restored to an earlier time? Restore it to a later one, or move the users' exports there."
        yield Finding(cell=cell.name, what=what, state="wrong", hint=hint)
    early = [
        row.user_id
        for row in listed
        if row.cell_id == cell.cell_id and all_here.get(row.user_id, row.epoch) != row.epoch
    ]
    if early:
        what = f"users with another epoch than in the directory, who are refused: {_some(early)}"
        hint = "One of the two databases was restored to an earlier time."
        yield Finding(cell=cell.name, what=what, state="wrong", hint=hint)
    users = {row.user_id for row in listed if row.cell_id == cell.cell_id}
    other = differing(limits, limits_here, apps, users) if cell.url else []
    if other:
        what = f"budgets that are not those of the home: {_some(other)}"
        yield Finding(cell=cell.name, what=what, state="wrong", hint="Set them again: 'memsvc budget set'.")
    apart = abs(float(clock.now) - time.time()) if clock is not None else 0.0
    if apart > CLOCKS_APART_S:
        what = f"its clock is {apart:.0f} s away from this machine's"
        yield Finding(cell=cell.name, what=what, state="wrong", hint="Tokens are valid for a minute: set the clocks.")


def _some(ids: Sequence[UUID | str]) -> str:
    more = f" and {len(ids) - MOST_IDS} more" if len(ids) > MOST_IDS else ""
    return ", ".join(str(one) for one in ids[:MOST_IDS]) + more


def _check_weight(weight: int) -> None:
    if not 0 <= weight <= MOST_WEIGHT:
        raise InvalidRequestError(f"A cell's weight is 0 to {MOST_WEIGHT}.", field="weight")


def _without_login(url: str) -> str:
    try:
        parsed: URL = make_url(url)
    except (ValueError, ArgumentError):
        raise InvalidRequestError("The URL cannot be read.", field="url") from None
    if not parsed.drivername.startswith("postgres"):
        raise InvalidRequestError("The URL must begin with postgresql://.", field="url")
    if parsed.username or parsed.password or LOGINS & parsed.query.keys():
        raise InvalidRequestError(
            "The URL must not have a login: memsvc's own logins are used, which all cells share.",
            hint="Administrators' logins stand in MEMSVC_CELL_URLS.",
            field="url",
        )
    return parsed.render_as_string(hide_password=False)


def _check_database(cell: Cell, admin_url: str, settings: Settings, *, new: bool) -> None:
    with _connected(admin_url_of(cell, admin_url, settings)) as there, _connected(admin_url) as home:
        identity = "SELECT pg_postmaster_start_time() AS started, current_database() AS name"
        if there.execute(identity).fetchone() == home.execute(identity).fetchone():
            raise InvalidRequestError("This database is the home.", field="url")
        _check_revision(there)
        _check_secret(there, settings)
        if new and there.execute("SELECT FROM memsvc.apps LIMIT 1").fetchone() is not None:
            raise InvalidRequestError("This database already has apps or users: a cell begins empty.", field="url")
        if there.execute("SELECT FROM memsvc.cells WHERE cell_id > 0").fetchone() is not None:
            raise InvalidRequestError("This database has a directory of its own.", field="url")


def _check_revision(connection: psycopg.Connection[Any]) -> None:
    row = connection.execute("SELECT version_num FROM memsvc.schema_version").fetchone()
    if row is None or row.version_num != head_revision():
        raise InvalidRequestError(
            f"The cell's database is at revision {row.version_num if row else 'none'}, and this version's is "
            f"{head_revision()}.",
            hint="'memsvc cells upgrade', or 'memsvc db upgrade' on a new one.",
        )


def _check_secret(connection: psycopg.Connection[Any], settings: Settings) -> None:
    """Check that the cell believes this deployment's identity tokens."""
    token = Signer(settings.secret("identity_secret").encode(), settings.identity_ttl_s).token(NOBODY)
    with connection.transaction():
        connection.execute("SELECT set_config('memsvc.identity', %s, true)", [token])
        row = connection.execute("SELECT memsvc.current_user_id() AS believed").fetchone()
    if row is None or row.believed != NOBODY:
        raise InvalidRequestError(
            "The cell's database does not believe this deployment's identity tokens.",
            hint="All cells share MEMSVC_IDENTITY_SECRET, and their clocks must agree.",
        )
