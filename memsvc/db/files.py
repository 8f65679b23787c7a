"""Finds memsvc's SQL files and loads named queries.

In a checkout ``sql/`` and ``alembic/`` are top-level folders; in an installed wheel they are ``memsvc/_sql`` and
``memsvc/_alembic``. A query file holds several statements, each below a line ``-- name: …`` (as in procrastinate).
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from sqlalchemy import TextClause, text

PACKAGE = Path(__file__).resolve().parent.parent
NAME = re.compile(r"^-- name: (?P<name>\w+)\s*$", re.MULTILINE)


def folder(name: str) -> Path:
    """The path of the folder ``sql`` or ``alembic``, in a checkout or an installation."""
    installed = PACKAGE / f"_{name}"
    return installed if installed.is_dir() else PACKAGE.parent / name


def head_revision() -> str:
    """The newest revision of this version of memsvc, from the file names of its migrations."""
    return max(path.name for path in (folder("alembic") / "versions").glob("[0-9]*.py")).split("_", 1)[0]


@cache
def queries() -> dict[str, TextClause]:
    """All statements of ``sql/queries/*.sql`` by name; their parameters are written ``:name``."""
    found: dict[str, TextClause] = {}
    for path in sorted((folder("sql") / "queries").glob("*.sql")):
        pieces = NAME.split(path.read_text(encoding="utf-8"))
        for name, body in zip(pieces[1::2], pieces[2::2], strict=True):
            if name in found:
                message = f"two queries are called {name}"
                raise ValueError(message)
            found[name] = text(body.strip())
    return found


def query(name: str) -> TextClause:
    """One named statement."""
    return queries()[name]
