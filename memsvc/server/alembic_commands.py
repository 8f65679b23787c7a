"""Runs Alembic's commands with memsvc's migrations; ``alembic/env.py`` calls ``run``.

``memsvc db upgrade`` passes a connection and runs the migrations only. ``alembic upgrade``, run by hand, does
everything that ``memsvc db upgrade`` does: it prepares roles before the migrations and applies ``sql/`` after them,
under the same lock and timeouts. With ``--sql`` it prints the statements instead. ``current`` and ``history`` only
read. Other commands that need the database are refused, because they would leave a state that no version of memsvc has.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, NoReturn

from alembic import context
from alembic.config import CommandLine
from sqlalchemy import Connection, text

from memsvc.db.files import folder, head_revision
from memsvc.db.locks import lock
from memsvc.errors import MemsvcError
from memsvc.server.before_upgrade import backed_up
from memsvc.server.directives import CALLERS, owner, with_plans
from memsvc.server.locate import located
from memsvc.server.migrations import alembic_config
from memsvc.server.objects import declared_functions, object_files
from memsvc.server.script import Script
from memsvc.server.upgrade import administrators, upgrade
from memsvc.settings import settings

# A migration that waits for a lock blocks all transactions that queue after it, so it gives up soon and the upgrade
# tries again. The timeout is below deadlock_timeout (1 s), so that PostgreSQL never cancels a writer instead.
SETTINGS = ("SET ROLE memsvc_owner", "SET lock_timeout = '800ms'", "SET statement_timeout = '10min'")
MAY_READ = "SELECT coalesce(pg_has_role(to_regrole('memsvc_owner'), 'SET'), false)"
VERSION_TABLE: dict[str, Any] = {"version_table": "schema_version", "version_table_schema": "memsvc"}
READING = frozenset({"current", "history"})
HEAD = """\
-- The statements of 'memsvc db upgrade', for review. Run with psql as an administrator, this script gives an empty
-- database the same tables, functions, views and policies; then 'memsvc db upgrade' adds what is missing here: the
-- passwords of the roles, the identity secret, the index of places, and the graph for Cypher if the server has AGE.
--
-- Upgrade a database that has data only with 'memsvc db upgrade'. It reads rows, which this script cannot do, retries
-- its locks when a table is busy, and drops functions that no file creates any more."""
GRANTS = """
DO $grants$
DECLARE
  f record;
BEGIN
  FOR f IN
    SELECT p.oid::regprocedure::text AS name, p.proowner::regrole::text AS owner, d.callers
    FROM pg_proc AS p
    LEFT JOIN (VALUES
{declared}
    ) AS d (name, callers) ON d.name = p.proname
    WHERE p.pronamespace = 'memsvc'::regnamespace
  LOOP
    EXECUTE format('SET LOCAL ROLE %I', f.owner);
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC, %s', f.name, array_to_string(
      array_remove(ARRAY[{roles}], f.owner), ', '
    ));
    IF f.callers <> '' THEN
      EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %s', f.name, f.callers);
    END IF;
  END LOOP;
END
$grants$;"""


def main(arguments: Sequence[str]) -> None:
    """Run Alembic's command line with the migrations of this version, wherever they are installed."""
    line = CommandLine(prog="memsvc db alembic")
    options = line.parser.parse_args(arguments)
    if not hasattr(options, "cmd"):
        line.parser.error("which command?")
    config = alembic_config()
    config.cmd_opts = options
    line.run_cmd(config, options)


def run() -> None:
    """Run the database part of the command, within Alembic's environment."""
    connection = context.config.attributes.get("connection")
    if isinstance(connection, Connection):
        _migrate(connection)
        return
    options = context.config.cmd_opts
    command = options.cmd[0].__name__ if options is not None else ""
    if options is None or command not in {"upgrade", *READING}:
        _refuse(command)
    if context.is_offline_mode():
        _write_down()
        return
    try:
        with located(settings()) as admin_url:
            if command in READING:
                _look(admin_url)
            else:
                _upgrade(admin_url, options.revision)
    except MemsvcError as error:
        raise SystemExit(f"{error.message} {error.advice}".strip()) from error


def _refuse(command: str) -> NoReturn:
    message = f"'alembic {command}' would leave a database that no version of memsvc has.".replace(" '", "'")
    raise SystemExit(f"{message} There are: upgrade, upgrade --sql, current, history, heads, show.")


def _migrate(connection: Connection) -> None:
    """Run migrations as the owner, each in its own transaction, with timeouts."""
    for setting in SETTINGS:
        connection.execute(text(setting))
    connection.commit()
    context.configure(connection=connection, transaction_per_migration=True, **VERSION_TABLE)
    with context.begin_transaction():
        context.run_migrations()


def _upgrade(admin_url: str, revision: str) -> None:
    chosen, report = settings(), context.config.print_stdout
    with backed_up(admin_url, chosen, report):
        done = upgrade(
            admin_url,
            chosen,
            revision=revision,
            report=report,
            migrate=lambda connection, _revision: _migrate(connection),
        )
    context.config.print_stdout("Revision %s -> %s.", done.from_revision or "none", done.to_revision)


def _look(admin_url: str) -> None:
    """Let Alembic read the database's revision."""
    with administrators(admin_url) as engine, engine.connect() as connection:
        if connection.execute(text(MAY_READ)).scalar_one():
            connection.execute(text("SET LOCAL ROLE memsvc_owner"))
        context.configure(connection=connection, **VERSION_TABLE)
        context.run_migrations()


def _write_down() -> None:
    """Print the whole upgrade as SQL."""
    context.configure(
        dialect_name="postgresql",
        dialect_opts={"paramstyle": "named"},  # the other styles double each %
        literal_binds=True,
        transaction_per_migration=True,
        **VERSION_TABLE,
    )
    impl = context.get_context().impl
    script = Script(impl.static_output)
    impl.connection = script  # type: ignore[assignment] # migrations ask for it as op.get_bind()
    script.write(HEAD)
    script.write((folder("sql") / "prepare.sql").read_text(encoding="utf-8"))
    script.write(";\n".join(SETTINGS) + ";")
    with context.begin_transaction():
        context.run_migrations()
    if context.get_revision_argument() == head_revision():
        _write_objects(script)


def _write_objects(script: Script) -> None:
    """Print functions, views and policies, in one transaction, as ``objects.apply_objects`` applies them."""
    texts = {name: path.read_text(encoding="utf-8") for name, path in object_files().items()}
    script.write("BEGIN;\nSET LOCAL ROLE memsvc_owner;")
    lock(script)
    for name, body in texts.items():
        script.write(f"-- sql/{name}\nSET LOCAL ROLE {owner(body)};\n{with_plans(body)}")
    declared = ",\n".join(
        f"      ('{name}', '{', '.join(one.callers)}')" for name, one in sorted(declared_functions().items())
    )
    script.write(GRANTS.format(declared=declared, roles=", ".join(f"'{role}'" for role in CALLERS.values())).strip())
    digests = ",\n".join(f"  ('{name}', '{hashlib.sha256(body.encode()).hexdigest()}')" for name, body in texts.items())
    script.write(
        "SET LOCAL ROLE memsvc_owner;\nDELETE FROM memsvc.applied_sql;\n"
        f"INSERT INTO memsvc.applied_sql (path, sha256) VALUES\n{digests};\nCOMMIT;\nRESET ROLE;"
    )
