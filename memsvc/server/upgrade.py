"""Upgrades a database to this version of memsvc: roles, migrations, then the objects of ``sql/``.

It runs with the administrator's login and acts as ``memsvc_owner`` from the migrations on, so that no object of memsvc
belongs to a superuser. An advisory lock lets one upgrade run at a time; each step can be repeated after it was killed.
"""

from __future__ import annotations

import hashlib
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

import psycopg
from psycopg import sql
from sqlalchemy import Connection, Engine, create_engine, make_url, text
from sqlalchemy.exc import DBAPIError

from memsvc.db.files import folder, head_revision
from memsvc.db.identity import Signer
from memsvc.errors import ConfigurationError, DatabaseUnavailableError, RestoreUnfinishedError, UpgradedError
from memsvc.server import projection
from memsvc.server.exclusive import take_turn
from memsvc.server.objects import apply_objects, object_files, run_script
from memsvc.server.place_index import index_places
from memsvc.settings import Settings

T = TypeVar("T")

MINIMUM_VERSION = 180_000
PATIENCE_S = 180.0
"""How long a step of an upgrade retries its locks, counted from its first failure to get them."""
LONGEST_PAUSE_S = 2.0
UNFINISHED = "to_regclass('memsvc.unfinished_restore') IS NOT NULL"
"""Whether a restore into the database was not finished (``memsvc.server.restore``)."""
BUSY = (psycopg.errors.LockNotAvailable, psycopg.errors.DeadlockDetected)


@dataclass(frozen=True, slots=True)
class Upgrade:
    """The result of an upgrade."""

    from_revision: str | None
    to_revision: str
    applied: tuple[str, ...]


def upgrade(
    admin_url: str,
    settings: Settings,
    *,
    revision: str = "head",
    fill: Callable[[], None] | None = None,
    report: Callable[[str], None] = lambda _line: None,
    migrate: Callable[[Connection, str], None] | None = None,
) -> Upgrade:
    """Upgrade a database.

    Args:
        admin_url: ``postgresql://`` URL of a login that may create roles and extensions.
        settings: used for passwords and the identity secret.
        revision: stop at this revision (tests); ``sql/`` is applied only at head.
        fill: restores the tables of a backup, between the roles and the migrations.
        report: called with one line for each step.
        migrate: runs the migrations up to a revision, if Alembic itself is the caller.

    Raises:
        DatabaseUnavailableError: the server cannot be reached.
        ConfigurationError: the server is too old, or the database belongs to another identity secret.
        RestoreUnfinishedError: a restore into this database was interrupted.
        UpgradedError: a newer version has upgraded it.
    """
    with administrators(admin_url) as engine, engine.connect() as guard:
        take_turn(_driver(guard))
        with engine.connect() as connection:
            return _upgrade(connection, settings, revision, fill, report=report, migrate=migrate)


@contextmanager
def administrators(admin_url: str) -> Iterator[Engine]:
    """The administrator's connections, two at most, until the block ends.

    Raises:
        DatabaseUnavailableError: the server does not answer.
    """
    engine = create_engine(make_url(admin_url).set(drivername="postgresql+psycopg"), pool_size=2, max_overflow=0)
    try:
        yield engine
    except psycopg.OperationalError as error:
        if error.sqlstate is not None:
            raise
        raise DatabaseUnavailableError from error
    except DBAPIError as error:
        if isinstance(error.orig, psycopg.OperationalError) and error.orig.sqlstate is None:  # no answer of a server
            raise DatabaseUnavailableError(f"The database cannot be reached: {error.orig}".strip()) from error
        raise
    finally:
        engine.dispose()


def _upgrade(
    connection: Connection,
    settings: Settings,
    revision: str,
    fill: Callable[[], None] | None,
    *,
    report: Callable[[str], None],
    migrate: Callable[[Connection, str], None] | None,
) -> Upgrade:
    version = int(connection.execute(text("SHOW server_version_num")).scalar_one())
    if version < MINIMUM_VERSION:
        raise ConfigurationError(
            f"memsvc needs PostgreSQL 18, this server is {version // 10_000}.", hint="Upgrade it with pg_upgrade."
        )
    if fill is None and connection.execute(text(f"SELECT {UNFINISHED}")).scalar_one():
        raise RestoreUnfinishedError
    signer = Signer(settings.secret("identity_secret").encode(), settings.identity_ttl_s)
    _belongs_to(connection, signer)  # before passwords are set: the running service would be locked out
    if fill is None:
        _is_no_newer(connection)
    report("roles, schema and extensions")
    _patiently(connection, lambda: _prepare(connection, settings))
    if fill is not None:
        connection.rollback()
        fill()
    old = _revision(connection)
    reached = head_revision() if revision == "head" else revision
    if old != reached:
        report(f"migrations {old or 'none'} -> {reached}")
        if migrate is None:
            from memsvc.server import migrations  # noqa: PLC0415 - importing Alembic takes 0.3 s

            migrate = migrations.migrate
        step = migrate
        _patiently(connection, lambda: step(connection, revision))
        reached = connection.execute(text("SELECT version_num FROM memsvc.schema_version")).scalar_one()
        connection.rollback()
    applied: tuple[str, ...] = ()
    if reached == head_revision():
        applied = _patiently(connection, lambda: apply_objects(connection, report))
        _patiently(connection, lambda: index_places(connection, report))
        _accept_identity_key(connection, signer)
        _project(connection, settings, report)
    return Upgrade(old, reached, applied)


def _revision(connection: Connection) -> str | None:
    """The database's revision; None if it has none yet."""
    there = connection.execute(text("SELECT to_regclass('memsvc.schema_version')")).scalar_one()
    found = connection.execute(text("SELECT version_num FROM memsvc.schema_version")).scalar() if there else None
    connection.rollback()
    return found


def _is_no_newer(connection: Connection) -> None:
    """Refuse a database that a newer version has upgraded, before anything in it is changed.

    Raises:
        UpgradedError: it has a revision that this version does not know.
    """
    found = _revision(connection)
    if found is not None and found > head_revision():
        raise UpgradedError(
            f"A newer version of memsvc has upgraded this database (to {found}; this one knows {head_revision()}).",
            hint="Nothing was changed. Install that version of memsvc, or a newer one.",
        )


def _patiently(connection: Connection, step: Callable[[], T]) -> T:
    """Run a step with its short lock timeout; if a table is busy, let other transactions through and try again.

    The pauses grow: if one transaction takes long, those that queue after us are delayed less and less.
    """
    busy_since: float | None = None
    attempt = 0
    while True:
        attempt += 1
        try:
            return step()
        except (DBAPIError, psycopg.Error) as error:
            connection.rollback()
            cause = error.orig if isinstance(error, DBAPIError) else error
            # Roles belong to the whole server, on which another database may be upgraded at the same time.
            passes = isinstance(cause, BUSY) or "tuple concurrently updated" in str(cause)
            busy_since = busy_since or time.monotonic()
            if not passes or time.monotonic() - busy_since > PATIENCE_S:
                raise
            time.sleep(random.uniform(0.5, 1) * min(0.1 * attempt, LONGEST_PAUSE_S))  # noqa: S311 - no secret


@contextmanager
def _as_role(connection: Connection, role: str) -> Iterator[None]:
    """Act as one of memsvc's roles until the block ends, in one transaction."""
    connection.rollback()
    connection.execute(text(f"SET ROLE {role}"))
    try:
        yield
        connection.commit()
    finally:
        connection.rollback()
        connection.execute(text("RESET ROLE"))
        connection.commit()


def _driver(connection: Connection) -> psycopg.Connection:
    driver = connection.connection.driver_connection
    if not isinstance(driver, psycopg.Connection):
        message = "not a psycopg connection"
        raise TypeError(message)
    return driver


def _prepare(connection: Connection, settings: Settings) -> None:
    run_script(connection, (folder("sql") / "prepare.sql").read_text(encoding="utf-8"))
    driver = _driver(connection)
    for role, name in (
        ("memsvc_app", "app_password"),
        ("memsvc_reader", "reader_password"),
        ("memsvc_cypher", "cypher_password"),
        ("memsvc_analyst", "analyst_password"),
    ):
        # The server gets a SCRAM verifier, never the password, because a statement's text may be logged.
        verifier = driver.pgconn.encrypt_password(settings.secret(name).encode(), role.encode(), b"scram-sha-256")
        driver.execute(
            sql.SQL("ALTER ROLE {} PASSWORD {}").format(sql.Identifier(role), sql.Literal(verifier.decode())),
            prepare=False,
        )
    driver.commit()  # SQLAlchemy does not know about statements that the driver ran directly


def _project(connection: Connection, settings: Settings, report: Callable[[str], None]) -> None:
    """Create, renew or remove Cypher's graph."""
    connection.rollback()
    driver = _driver(connection)
    driver.autocommit = True
    try:
        _patiently(connection, lambda: projection.bring_up(driver, settings, head_revision(), report))
    finally:
        driver.autocommit = False


def is_current(admin_url: str, settings: Settings | None = None) -> bool:
    """Whether ``upgrade`` has nothing to do except set passwords; without settings, Cypher's graph is ignored.

    Raises:
        DatabaseUnavailableError: the server cannot be reached.
    """
    try:
        with psycopg.connect(admin_url) as connection:
            found = connection.execute(f"SELECT to_regclass('memsvc.applied_sql'), {UNFINISHED}").fetchone()
            if found is None or found[0] is None or found[1]:
                return False
            revision = connection.execute("SELECT version_num FROM memsvc.schema_version").fetchone()
            applied: dict[str, str] = dict(connection.execute("SELECT path, sha256 FROM memsvc.applied_sql").fetchall())
            projected = settings is None or projection.is_current(connection, settings, head_revision())
    except psycopg.OperationalError as error:
        raise DatabaseUnavailableError from error
    return (
        projected
        and revision == (head_revision(),)
        and applied == {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in object_files().items()}
    )


def _belongs_to(connection: Connection, signer: Signer) -> bool:
    """Whether the database accepts tokens of this secret; False if it has no secret yet or we may not read its keys.

    Raises:
        ConfigurationError: the database belongs to another secret.
    """
    readable = "CASE WHEN to_regclass('memsvc.identity_keys') IS NOT NULL THEN pg_has_role('memsvc_owner', 'SET') END"
    if not connection.execute(text(f"SELECT {readable}")).scalar_one():
        return False
    with _as_role(connection, "memsvc_owner"):
        found = connection.execute(text("SELECT key_id FROM memsvc.identity_keys WHERE retired_at IS NULL"))
        keys = found.scalars().all()
    if keys and signer.key_id not in keys:
        raise ConfigurationError(
            "This database belongs to another identity secret.",
            hint="Set MEMSVC_IDENTITY_SECRET to it, or replace it with 'memsvc db rotate-secret'.",
        )
    return bool(keys)


def _accept_identity_key(connection: Connection, signer: Signer) -> None:
    """Give the database this process's identity secret, if it has none yet."""
    if not _belongs_to(connection, signer):
        with _as_role(connection, "memsvc_owner"):
            add_identity_key(connection, signer)


def add_identity_key(connection: Connection, signer: Signer) -> None:
    """Accept tokens of this secret from now on; the caller commits."""
    inner, outer = signer.pads()
    connection.execute(
        text(
            "INSERT INTO memsvc.identity_keys (key_id, inner_pad, outer_pad) VALUES (:key_id, :inner, :outer) "
            "ON CONFLICT (key_id) DO UPDATE SET retired_at = NULL"
        ),
        {"key_id": signer.key_id, "inner": inner, "outer": outer},
    )
    connection.execute(text("SELECT memsvc.audit('identity_key.add', NULL, NULL, :key_id)"), {"key_id": signer.key_id})


def rotate_identity_key(admin_url: str, settings: Settings, new_secret: str, *, retire_others: bool) -> str:
    """Accept a new identity secret; with ``retire_others``, stop accepting all others.

    To lock nobody out, call it without ``retire_others``, restart every process with the new secret, and then call it
    with ``retire_others``.

    Returns:
        The id of the new key.
    """
    signer = Signer(new_secret.encode(), settings.identity_ttl_s)
    engine = create_engine(make_url(admin_url).set(drivername="postgresql+psycopg"))
    try:
        with engine.connect() as connection, _as_role(connection, "memsvc_owner"):
            add_identity_key(connection, signer)
            if retire_others:
                retired = connection.execute(
                    text(
                        "UPDATE memsvc.identity_keys SET retired_at = clock_timestamp() "
                        "WHERE key_id <> :key_id AND retired_at IS NULL RETURNING key_id"
                    ),
                    {"key_id": signer.key_id},
                ).scalars()
                for key_id in retired.all():
                    connection.execute(
                        text("SELECT memsvc.audit('identity_key.retire', NULL, NULL, :key_id)"), {"key_id": key_id}
                    )
    finally:
        engine.dispose()
    return signer.key_id
