"""Writes the schema that the migrations and ``sql/`` create, for people to read: ``make schema``.

It is the ``pg_dump`` of the schema ``memsvc`` without anything that differs between runs or servers. ``make schema``
takes it from a temporary embedded server; tests use it to compare databases.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import psycopg
from sqlalchemy import make_url

from memsvc.errors import ConfigurationError
from memsvc.server import embedded
from memsvc.server.programs import find_program
from memsvc.server.upgrade import upgrade
from memsvc.settings import Settings

HEADER = """\
-- The schema of memsvc that the migrations (alembic/versions) and sql/ create. For reading only: 'make schema' writes
-- it with pg_dump, and nothing runs it.

"""
NOISE = re.compile(
    r"""
      ^--\n--\ .*\n--\n                      # headings: a name, its type, its owner
    | ^--\ Dumped\ .*\n                      # versions of server and program
    | ^\\(?:un)?restrict\ .*\n               # a random word each time
    | ^SET\ .*;\n                            # settings of the session that would restore it
    | ^SELECT\ pg_catalog\.set_config\(.*\n
    | ^CREATE\ INDEX\ locations_(?:geography|cube)\ .*\n  # by the extension that the server has
    | ^ALTER\ INDEX\ .*locations_(?:geography|cube)\ .*\n
    """,
    re.MULTILINE | re.VERBOSE,
)
POLICY_ROLES = re.compile(r"^(CREATE POLICY .*? TO )([a-z_]+(?:, [a-z_]+)+)(?= USING| WITH|;)", re.MULTILINE)
BLANK_LINES = re.compile(r"\n{3,}")


def normalised(dump: str) -> str:
    """A dump without the parts that differ between dumps of the same schema.

    A policy's roles are sorted: pg_dump prints them in the order of pg_authid's rows, which any ALTER ROLE changes.
    """
    ordered = POLICY_ROLES.sub(lambda found: found[1] + ", ".join(sorted(found[2].split(", "))), dump)
    return HEADER + BLANK_LINES.sub("\n\n", NOISE.sub("", ordered)).strip() + "\n"


def schema_of(admin_url: str) -> str:
    """The schema of a database as normalised SQL.

    Raises:
        ProgramMissingError: there is no suitable pg_dump.
        ConfigurationError: pg_dump failed.
    """
    with psycopg.connect(admin_url) as connection:
        major = connection.info.server_version // 10_000
    program = find_program("pg_dump", Settings.model_validate({"database_url": admin_url}), major)
    url = make_url(admin_url)
    where = url._replace(password=None).render_as_string()
    done = subprocess.run(  # noqa: S603 - arguments as a list
        [program, "--schema-only", "--schema=memsvc", f"--dbname={where}"],
        env={**os.environ, "PGPASSWORD": str(url.password or "")},  # not on the command line, where ps would show it
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise ConfigurationError(f"pg_dump failed: {done.stderr.strip()}")
    return normalised(done.stdout)


def schema_of_head() -> str:
    """The schema that this version of memsvc creates in an empty database, on a temporary server."""
    with tempfile.TemporaryDirectory(prefix="memsvc-schema-") as folder:
        Path(folder).chmod(0o755)  # if root starts the server, an unprivileged user runs it
        with embedded.running(Path(folder), options={"fsync": "off"}) as server:
            with psycopg.connect(server.conninfo(), autocommit=True) as connection:
                connection.execute("CREATE DATABASE memsvc TEMPLATE template0")
            admin_url = server.conninfo(database="memsvc")
            upgrade(admin_url, Settings.model_validate({"data_dir": folder}))
            return schema_of(admin_url)


if __name__ == "__main__":
    sys.stdout.write(schema_of_head())
