"""Whether a user can be moved between two cells: logins, versions, secrets, clocks, embedding models and disk space."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

import psycopg
from psycopg import sql
from sqlalchemy import make_url

from memsvc.cells.copying import LATE, Copier, one, tables_of
from memsvc.db.files import head_revision
from memsvc.db.identity import Signer
from memsvc.errors import MoveLoginError, MoveRefusedError, RestoreUnfinishedError
from memsvc.server.backup import sees_all
from memsvc.server.upgrade import UNFINISHED
from memsvc.settings import Settings

MOST_APART_S = 5.0
"""Clocks of two cells may differ by so many seconds: what is written next must not be older than what is there."""
ROOM = 2.5
"""How much disk a user's rows take with their indexes and the log, for each byte of the rows."""
STATE = """
SELECT pg_is_in_recovery(), (SELECT version_num FROM memsvc.schema_version),
  EXISTS (SELECT FROM memsvc.identity_keys AS k WHERE k.key_id = %s AND k.retired_at IS NULL)
"""
MODELS = "SELECT name, model_id, dimensions, state, paused, projection FROM memsvc.embedding_models"
WATCHES = """
SELECT has_table_privilege('pg_stat_activity', 'SELECT') AND pg_has_role('pg_read_all_stats', 'USAGE')
  AND has_function_privilege('pg_stat_get_activity(integer)', 'EXECUTE')
"""
# What counts for a login is what is set for it in this database, then for it, then for the database, then for all.
WATCHED = """
SELECT current_setting('track_activities')::boolean, coalesce((
  SELECT split_part(c.setting, '=', 2)::boolean
  FROM pg_db_role_setting AS s CROSS JOIN unnest(s.setconfig) AS c (setting)
  WHERE s.setrole IN (0, to_regrole('memsvc_app'))
    AND s.setdatabase IN (0, (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database()))
    AND lower(split_part(c.setting, '=', 1)) = 'track_activities'
  ORDER BY s.setrole <> 0 DESC, s.setdatabase <> 0 DESC LIMIT 1
), true), NOT EXISTS (
  SELECT FROM pg_stat_activity AS a
  WHERE a.datname = current_database() AND a.usename = 'memsvc_app' AND a.state = 'disabled'
)
"""
FOLDER = "SELECT current_setting('data_directory')"


@dataclass(frozen=True, slots=True)
class Model:
    """An embedding model of a cell."""

    number: int
    dimensions: int
    state: str
    paused: bool
    projection: bytes | None


def check_login(connection: psycopg.Connection, cell: str) -> None:
    """Check that the login reads and writes rows of all users without triggers.

    Raises:
        MoveLoginError: it does not.
    """
    try:
        with connection.transaction(force_rollback=True):
            connection.execute("SET LOCAL session_replication_role = replica")
            allowed = sees_all(connection) and one(connection, WATCHES)
    except psycopg.errors.InsufficientPrivilege:
        allowed = False
    if not allowed:
        raise MoveLoginError(f"The login of the cell {cell} may not move users.", cell=cell)


def check_state(connection: psycopg.Connection, settings: Settings, cell: str) -> None:
    """Check that a database is a primary with this version of memsvc and this deployment's secret.

    Raises:
        MoveRefusedError: it is not.
        RestoreUnfinishedError: a restore into it was not finished.
    """
    signer = Signer(settings.secret("identity_secret").encode(), settings.identity_ttl_s)
    if one(connection, "SELECT to_regclass('memsvc.users')") is None:
        raise MoveRefusedError(f"There is no memsvc in the database of the cell {cell}.", cell=cell)
    if one(connection, f"SELECT {UNFINISHED}"):
        raise RestoreUnfinishedError(f"A restore into the cell {cell} did not finish.", cell=cell)
    row = connection.execute(STATE, [signer.key_id]).fetchone()
    standby, revision, believes = row or (True, "", False)
    if standby:
        raise MoveRefusedError(f"The database of the cell {cell} is a standby.", cell=cell)
    if revision != head_revision():
        raise MoveRefusedError(
            f"The cell {cell} has revision {revision}, and this memsvc is of {head_revision()}.",
            hint="Upgrade all cells first, with this memsvc.",
            cell=cell,
        )
    if not believes:
        raise MoveRefusedError(
            f"The cell {cell} does not believe this deployment's identity secret.",
            hint="All cells need the same MEMSVC_IDENTITY_SECRET: 'memsvc db rotate-secret' sets it.",
            cell=cell,
        )


def check_clocks(source: psycopg.Connection, target: psycopg.Connection) -> None:
    """Check that the clocks of both cells are close.

    Raises:
        MoveRefusedError: they are not.
    """
    now = "SELECT extract(epoch FROM clock_timestamp())::float8"
    before, there, after = (one(side, now) for side in (source, target, source))
    apart = max(before - there, there - after)
    if apart > MOST_APART_S:
        raise MoveRefusedError(f"The clocks of the two cells are {apart:.0f} s apart.", hint="Set them by NTP.")


def check_watched(source: psycopg.Connection, cell: str) -> None:
    """Check that the server tells when transactions of the application began: the freeze waits for older ones.

    Raises:
        MoveRefusedError: it does not.
    """
    server, login, sessions = source.execute(WATCHED).fetchone() or (False, False, False)
    if not server:
        where, hint = "", "Set track_activities = on in postgresql.conf, and reload the server."
    elif not login:
        where, hint = " for memsvc_app", "ALTER ROLE memsvc_app RESET track_activities, also in this database."
    elif not sessions:
        where, hint = " in sessions of memsvc_app", "Restart the API and the workers: their sessions began without it."
    else:
        return
    raise MoveRefusedError(
        f"The database of the cell {cell} has track_activities off{where}, so a move cannot see what still writes.",
        hint=hint,
        cell=cell,
    )


def check_tables(source: psycopg.Connection, target: psycopg.Connection) -> None:
    """Check that both cells have the same tables and columns.

    Raises:
        MoveRefusedError: they do not, or a table has no key by which its rows can be told apart.
    """
    mine, theirs = tables_of(source), tables_of(target)
    forms = [{table.name: [(c.name, c.kind) for c in table.columns] for table in side} for side in (mine, theirs)]
    if forms[0] != forms[1]:
        odd = sorted(name for name in {*forms[0], *forms[1]} if forms[0].get(name) != forms[1].get(name))
        raise MoveRefusedError(f"Tables differ between the two cells: {', '.join(odd)}.", hint="Upgrade both cells.")
    keyless = [table.name for table in theirs if not table.key]
    if keyless or LATE - forms[1].keys():
        raise MoveRefusedError(f"Tables without a key cannot be copied: {', '.join(keyless)}.")


def models_of(connection: psycopg.Connection) -> dict[str, Model]:
    """The embedding models of a cell that are in use, by name."""
    return {name: Model(*rest) for name, *rest in connection.execute(MODELS) if rest[2] != "retired"}


def check_models(source: psycopg.Connection, target: psycopg.Connection) -> None:
    """Check that the new cell finds the user's memories by the same vectors.

    Raises:
        MoveRefusedError: it uses another model.
    """
    mine, theirs = models_of(source), models_of(target)
    active = [next((name for name, one in side.items() if one.state == "active"), None) for side in (mine, theirs)]
    if None not in active and active[0] != active[1]:
        raise MoveRefusedError(
            f"The new cell recalls by the embedding model {active[1]}, the old one by {active[0]}.",
            hint="Build and switch to the same model in both cells first ('memsvc models build').",
        )
    for name in mine.keys() & theirs.keys():
        if mine[name].dimensions != theirs[name].dimensions:
            raise MoveRefusedError(f"Vectors of the model {name} have another length in the new cell.")


def bring_models(source: psycopg.Connection, target: psycopg.Connection) -> tuple[dict[int, int], dict[int, int]]:
    """Give a cell without any model the active one of the other; the models of both, by number.

    A model that is being built, or being left, is not begun anywhere by a move: its vectors stay behind, unless both
    cells have it.

    Returns:
        The models whose vectors are copied, and those whose token vectors are: both cells have the same projection.
    """
    with target.transaction():
        target.execute("SELECT memsvc.change_models()")
        mine, theirs = models_of(source), models_of(target)
        for name, model in mine.items():
            if model.state == "active" and not any(other.state == "active" for other in theirs.values()):
                number = one(
                    target,
                    "INSERT INTO memsvc.embedding_models (name, dimensions, state, paused) "
                    "VALUES (%s, %s, 'active', %s) ON CONFLICT (name) DO NOTHING RETURNING model_id",
                    [name, model.dimensions, model.paused],
                )
                if number is None:
                    raise MoveRefusedError(
                        f"The model {name} is retired in the new cell.", hint="Build it there first."
                    )
                target.execute("SELECT memsvc.make_model_index(%s::smallint, %s)", [number, model.dimensions])
        for name, model in mine.items():
            if name in models_of(target) and model.projection is not None:
                target.execute(
                    "UPDATE memsvc.embedding_models SET projection = %s WHERE name = %s AND projection IS NULL",
                    [model.projection, name],
                )
    return numbered(source, target)


def numbered(source: psycopg.Connection, target: psycopg.Connection) -> tuple[dict[int, int], dict[int, int]]:
    """The models that both cells use, by their numbers; then those with the same projection."""
    mine, theirs = models_of(source), models_of(target)
    both = [(mine[name], theirs[name]) for name in sorted(mine.keys() & theirs.keys())]
    return (
        {one.number: other.number for one, other in both},
        {one.number: other.number for one, other in both if one.projection == other.projection},
    )


def sizes(copier: Copier) -> dict[str, tuple[int, int]]:
    """Rows of a user in the source, and their bytes, by table; both without indexes."""
    found = {}
    for table in copier.tables:
        query = sql.SQL("SELECT count(*), coalesce(sum(pg_column_size(r.*)), 0)::bigint FROM {} AS r WHERE {}").format(
            table.named, table.of(copier.user_id, None)
        )
        rows, size = copier.source.execute(query).fetchone() or (0, 0)
        if rows:
            found[table.name] = (rows, size)
    return found


def check_disk(target: psycopg.Connection, target_url: str, rows: Mapping[str, tuple[int, int]]) -> None:
    """Check that the target's disk has room, where it can be known: where its folder is on this machine.

    Raises:
        MoveRefusedError: it has not.
    """
    host = make_url(target_url).host or make_url(target_url).query.get("host") or "/"
    if not (str(host).startswith("/") or host in {"localhost", "127.0.0.1", "::1"}):
        return
    try:
        free = shutil.disk_usage(one(target, FOLDER)).free
    except (OSError, psycopg.errors.InsufficientPrivilege):  # elsewhere, behind a forwarded port; or it is not told
        return
    needed = int(ROOM * sum(size for _rows, size in rows.values()))
    if free < needed:
        raise MoveRefusedError(
            f"The new cell's disk has {free / 1e6:,.0f} MB free, and the user needs about {needed / 1e6:,.0f} MB."
        )


def erasing_where(connection: psycopg.Connection, user_id: UUID) -> bool:
    """Whether a user is being erased in a database, or was."""
    query = "SELECT erasing_since IS NULL FROM memsvc.users WHERE user_id = %s"
    return one(connection, query, [user_id]) is not True
