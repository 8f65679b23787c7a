"""Looks for words in all that a database holds: every column of every table, catalogs included, and its dump."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable

import psycopg
from psycopg import sql

from memsvc.server.programs import find_program
from memsvc.settings import Settings

MARKED = re.compile(r"quark\w+")
TABLES = """
SELECT n.nspname, c.relname FROM pg_class AS c INNER JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'm') AND NOT c.relispartition AND n.nspname NOT IN ('pg_toast', 'information_schema')
ORDER BY 1, 2
"""


def words_in_tables(admin: psycopg.Connection) -> dict[str, set[str]]:
    """Words that begin with quark, in lower case, by the table that holds them."""
    found: dict[str, set[str]] = {}
    for schema, table in admin.execute(TABLES.encode()).fetchall():
        rows = admin.execute(
            sql.SQL("SELECT t::text FROM {} AS t WHERE t::text ILIKE '%quark%'").format(sql.Identifier(schema, table))
        )
        words = {word for row in rows for word in MARKED.findall(row[0].lower())}
        if words:
            found[f"{schema}.{table}"] = words
    return found


def dump(admin_url: str, *options: str) -> str:
    """What pg_dump writes of a database, in lower case."""
    program = find_program("pg_dump", Settings.model_validate({"database_url": admin_url}), 18)
    command = [str(program), *options, f"--dbname={admin_url}"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.lower()


def words_in_dump(admin_url: str) -> set[str]:
    """The same of everything that pg_dump writes."""
    return set(MARKED.findall(dump(admin_url)))


def traces(admin: psycopg.Connection, admin_url: str, words: Iterable[str]) -> dict[str, set[str]]:
    """Where any of these words is left."""
    wanted = {word.lower() for word in words}
    places = {**words_in_tables(admin), "pg_dump": words_in_dump(admin_url)}
    return {place: left & wanted for place, left in places.items() if left & wanted}
