"""What a database can do: the checks of ``memsvc doctor`` and ``GET /health``.

Each check says what works, what is missing and what that costs. No check raises an error for a missing capability.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from typing import Literal
from zoneinfo import available_timezones

import psycopg
from sqlalchemy import make_url

from memsvc.db.files import head_revision
from memsvc.db.identity import Signer
from memsvc.server import embedded, projection
from memsvc.server.upgrade import MINIMUM_VERSION, is_current
from memsvc.settings import Settings

State = Literal["ok", "warning", "missing"]
REQUIRED = {
    "vector": "vector search",
    "pg_trgm": "tolerant look-up of names",
    "btree_gin": "the index over users and words",
    "btree_gist": "the constraints of history",
    "unaccent": "names without accents",
}
OPTIONAL = {"postgis": "places are searched by cube instead"}
EXTRAS = {
    "spacy": "no extraction without a language model (pip install 'memsvc[nlp]')",
}
LOGIN_SETTINGS = """
SELECT r.rolname, current_setting(w.name) AS of_server, (
  SELECT split_part(o.one, '=', 2)
  FROM pg_db_role_setting AS s CROSS JOIN unnest(s.setconfig) AS o (one)
  WHERE s.setrole IN (r.oid, 0) AND split_part(o.one, '=', 1) = w.name
    AND s.setdatabase IN (0, (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database()))
  ORDER BY s.setrole = 0, s.setdatabase = 0 LIMIT 1
) AS of_login
FROM pg_roles AS r CROSS JOIN (VALUES (%s)) AS w (name)
WHERE r.rolname IN ('memsvc_app', 'memsvc_reader', 'memsvc_cypher', 'memsvc_analyst')
ORDER BY r.rolname
"""
"""The value of a setting for each login: the login's own in this database or in all, else the database's, else the
server's."""
QUIET = ("log", "fatal", "panic")
"""Levels of log_min_messages at which errors of statements are not logged."""
LEAST_FREE_BYTES = 1_000_000_000
CLOCK_SKEW_S = 5.0


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the doctor's report."""

    name: str
    state: State
    """missing: memsvc does not work without it; warning: it works, at the cost that ``says`` names."""
    says: str


def check_machine(settings: Settings) -> Iterator[Check]:
    """Packages and disk, before any server is asked."""
    version = embedded.installed_version()
    if settings.embedded:
        yield (
            Check("embedded PostgreSQL", "ok", f"{version}, data in {settings.data_dir}")
            if version
            else Check("embedded PostgreSQL", "missing", "pip install 'memsvc[embedded]', or set MEMSVC_DATABASE_URL")
        )
    for package, cost in EXTRAS.items():
        try:
            yield Check(package, "ok", metadata.version(package))
        except metadata.PackageNotFoundError:
            yield Check(package, "warning", f"not installed: {cost}")
    if settings.data_dir.exists():
        free = shutil.disk_usage(settings.data_dir).free
        state: State = "ok" if free > LEAST_FREE_BYTES else "warning"
        yield Check("disk", state, f"{free / 1e9:.1f} GB free in {settings.data_dir}")


def check_server(admin_url: str, settings: Settings) -> Iterator[Check]:
    """The server, asked with the administrator's login."""
    try:
        connection = psycopg.connect(admin_url, autocommit=True, connect_timeout=settings.connect_timeout_s)
    except psycopg.OperationalError as error:
        yield Check("server", "missing", f"cannot be reached: {str(error).splitlines()[0]}")
        return
    with connection:
        version = connection.info.server_version
        state: State = "ok" if version >= MINIMUM_VERSION else "missing"
        yield Check("server", state, f"PostgreSQL {version // 10_000}.{version % 10_000} (18 or newer is needed)")
        yield from _check_extensions(connection)
        yield _check_places(connection)
        yield _check_cypher(connection, settings)
        yield from _check_durability(connection)
        yield from _check_privacy(connection)
        yield from _check_logins(connection)
        yield _check_zones(connection)
        yield from _check_budgets(connection)
        started = time.time()
        row = connection.execute("SELECT extract(epoch FROM clock_timestamp())::float8").fetchone()
        skew = abs((row[0] if row else 0) - (started + time.time()) / 2)
        yield Check(
            "clock",
            "ok" if skew < CLOCK_SKEW_S else "warning",
            f"differs from the server's by {skew:.1f} s"
            + ("" if skew < CLOCK_SKEW_S else f"; at {settings.identity_ttl_s} s nobody sees anything"),
        )
    yield from _check_schema(admin_url, settings)


def _check_budgets(connection: psycopg.Connection) -> Iterator[Check]:
    """Whether something waits or is refused today because a budget is used up; nothing where there are no budgets."""
    name = "memsvc.budgets_used_up()"
    found = connection.execute("SELECT has_function_privilege(to_regprocedure(%s), 'EXECUTE')", [name]).fetchone()
    if found != (True,):  # not upgraded yet, or the login may not ask
        return
    rows = connection.execute("SELECT whose, what, budgets FROM memsvc.budgets_used_up()").fetchall()
    if rows:
        over = ", ".join(f"{what} of {count} {'app' if whose == 'app' else 'user'}(s)" for whose, what, count in rows)
        model = {"tokens", "cost"} & {what for _, what, _ in rows}
        waits = " (reading for facts and nights wait until midnight UTC)" if model else ""
        yield Check("budgets", "warning", f"used up today: {over}{waits}")


def _check_extensions(connection: psycopg.Connection) -> Iterator[Check]:
    there: dict[str, str] = dict(
        connection.execute("SELECT name, coalesce(installed_version, default_version) FROM pg_available_extensions")
    )
    for name, need in REQUIRED.items():
        if name in there:
            yield Check(f"extension {name}", "ok", there[name])
        else:
            yield Check(f"extension {name}", "missing", f"not on the server; needed for {need}")
    for name, cost in OPTIONAL.items():
        if name in there:
            yield Check(f"extension {name}", "ok", there[name])
        else:
            yield Check(f"extension {name}", "warning", f"not on the server: {cost}")


def _check_places(connection: psycopg.Connection) -> Check:
    row = connection.execute(
        "SELECT CASE WHEN to_regproc('memsvc.places_by') IS NOT NULL THEN to_regclass('memsvc.locations_geography') "
        "IS NOT NULL END, to_regclass('memsvc.locations_cube') IS NOT NULL"
    ).fetchone()
    geography, cube = row or (None, False)
    if geography or cube:
        return Check("places", "ok", f"searched by {'PostGIS' if geography else 'cube'}")
    cost = "not searched: 'memsvc db upgrade' indexes them where PostGIS or cube is on the server"
    return Check("places", "warning", cost)


def _check_cypher(connection: psycopg.Connection, settings: Settings) -> Check:
    """Whether the graph can be queried in Cypher, or why not."""
    found = projection.state(connection)
    instead = "SQL and the REST API show the same graph"
    if settings.cypher == "off":
        return Check("Cypher", "ok", f"off, by MEMSVC_CYPHER; {instead}")
    if found.lacks:
        offer = ""
        if not found.version and embedded.installed_version() and not embedded.cypher_files():
            offer = " (an embedded server has it by pip install 'memsvc[cypher]')"
        return Check("Cypher", "warning", f"no: {found.lacks}{offer}; {instead}")
    if not projection.is_current(connection, settings, head_revision()):
        return Check("Cypher", "warning", "no: its graph is not made yet, or old; 'memsvc db upgrade' makes it")
    return Check("Cypher", "ok", f"by AGE {found.version}")


def _check_durability(connection: psycopg.Connection) -> Iterator[Check]:
    for name in ("fsync", "synchronous_commit", "full_page_writes"):
        row = connection.execute("SELECT current_setting(%s)", [name]).fetchone()
        value = row[0] if row else "?"
        if value == "off":
            yield Check(name, "warning", "off: a crash can lose what was acknowledged")
        else:
            yield Check(name, "ok", value)


def _check_privacy(connection: psycopg.Connection) -> Iterator[Check]:
    row = connection.execute(
        "SELECT has_table_privilege('public', 'pg_catalog.pg_stat_activity', 'SELECT'), "
        "has_table_privilege('public', 'pg_catalog.pg_locks', 'SELECT') "
        "OR has_function_privilege('public', 'pg_catalog.pg_advisory_lock(bigint)', 'EXECUTE'), "
        "has_function_privilege('public', 'pg_catalog.lo_from_bytea(oid, bytea)', 'EXECUTE')"
    ).fetchone()
    statements, locks, objects = row or (False, False, False)
    for name, shown, cost, closed in (
        ("statements of others", statements, "see each other's running statements", "hidden"),
        ("locks of others", locks, "see when others' memories are written, and may hold that up", "hidden"),
        ("large objects", objects, "may fill the disk with large objects", "closed"),
    ):
        if shown:
            yield Check(name, "warning", f"people who share memsvc_reader {cost}; a superuser's 'db upgrade' ends it")
        else:
            yield Check(name, "ok", closed)


def _check_logins(connection: psycopg.Connection) -> Iterator[Check]:
    """Whether the logins have the settings that only a superuser may give them."""
    levels, limits = (
        _settings_of_logins(connection, "log_min_messages"),
        _settings_of_logins(connection, "temp_file_limit"),
    )
    instead = "docs/operations.md#what-a-superuser-sets says how to set it"
    for name, lacking, cost, good in (
        (
            "the server's log",
            [login for login, level in levels.items() if level not in QUIET],
            "errors are logged with the texts that they quote",
            "holds no error of memsvc's logins",
        ),
        (
            "temporary files",
            [login for login, limit in limits.items() if limit == "-1"],
            "one query may fill the disk",
            "limited",
        ),
    ):
        if lacking:
            yield Check(name, "warning", f"{', '.join(lacking)}: {cost}; {instead}")
        elif levels:  # empty: the logins do not exist yet
            yield Check(name, "ok", good)


def _settings_of_logins(connection: psycopg.Connection, name: str) -> dict[str, str]:
    rows = connection.execute(LOGIN_SETTINGS, [name]).fetchall()
    return {login: of_server if of_login is None else of_login for login, of_server, of_login in rows}


def _check_zones(connection: psycopg.Connection) -> Check:
    """Whether the server knows all zones that users may have; Debian's reads the system's, which may lack old names."""
    known = {name for (name,) in connection.execute("SELECT name FROM pg_timezone_names")}
    if missing := sorted(available_timezones() - known - {"localtime"}):
        cost = "their users' schedules, days and habits go by UTC; Debian: install tzdata-legacy"
        some = ", ".join(missing[:3])
        return Check("time zones", "warning", f"{len(missing)} unknown to the server ({some} …): {cost}")
    return Check("time zones", "ok", f"all {len(known)} known")


def active_model(admin_url: str, settings: Settings) -> str | None:
    """Name of the embedding model that this database uses for queries; None if it has none or cannot be asked."""
    url = make_url(admin_url).set(username="memsvc_app", password=settings.secret("app_password"))
    try:
        with psycopg.connect(url.render_as_string(hide_password=False)) as connection:
            row = connection.execute("SELECT name FROM memsvc.embedding_models WHERE state = 'active'").fetchone()
    except psycopg.Error:
        return None
    return row[0] if row else None


def _check_schema(admin_url: str, settings: Settings) -> Iterator[Check]:
    if not is_current(admin_url, settings):
        if settings.embedded:
            yield Check("schema", "warning", f"not at revision {head_revision()} yet: the next command sees to it")
        else:
            yield Check("schema", "missing", f"not at revision {head_revision()}: run 'memsvc db upgrade'")
        return
    yield Check("schema", "ok", f"revision {head_revision()}")
    url = make_url(admin_url).set(username="memsvc_app", password=settings.secret("app_password"))
    try:
        with psycopg.connect(url.render_as_string(hide_password=False)) as connection:
            yield Check("login memsvc_app", "ok", "works")
            signer = Signer(settings.secret("identity_secret").encode(), settings.identity_ttl_s)
            someone = connection.execute("SELECT uuidv7()").fetchone()
            if someone is None:
                return
            connection.execute("SELECT set_config('memsvc.identity', %s, true)", [signer.token(someone[0])])
            believed = connection.execute("SELECT memsvc.current_user_id()").fetchone()
        yield (
            Check("identity secret", "ok", f"key {signer.key_id} is believed")
            if believed == someone
            else Check("identity secret", "missing", "not the database's: set MEMSVC_IDENTITY_SECRET, or rotate it")
        )
    except psycopg.OperationalError as error:
        yield Check("login memsvc_app", "missing", f"refused: {str(error).splitlines()[0]}")
