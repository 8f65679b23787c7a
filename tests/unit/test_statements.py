"""One home for statements: a named one in ``sql/queries``, or ``text()`` of one line in the module that sends it.

An administrator's statements stand where they are sent, in ``memsvc/server``; so do those that go through psycopg
itself, with its own placeholders, as the queue's broker sends them.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from memsvc.db.files import queries

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted(path for top in ("memsvc", "jobs") for path in (ROOT / top).rglob("*.py"))
CAPABILITIES = [path for path in MODULES if not path.is_relative_to(ROOT / "memsvc" / "server")]


def long_statements(source: str) -> list[int]:
    """The lines on which ``text()`` is given a statement that takes more than one line."""
    return [
        call.lineno
        for call in ast.walk(ast.parse(source))
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "text" and call.args
        for given in [call.args[0]]
        if isinstance(given, ast.Constant | ast.JoinedStr | ast.BinOp) and given.lineno != given.end_lineno
    ]


def test_a_long_statement_is_seen() -> None:
    one, two, many = 'A = text("SELECT 1")', 'B = text("SELECT 1 "\n"FROM a")', 'C = text("""\nSELECT 2""")'
    assert long_statements(f"{one}\n{two}\n{many}") == [2, 4]


@pytest.mark.parametrize("path", CAPABILITIES, ids=lambda path: str(path.relative_to(ROOT)))
def test_statements_of_several_lines_have_a_name_in_sql_queries(path: Path) -> None:
    assert long_statements(path.read_text("utf-8")) == []


def test_every_named_statement_is_sent_by_somebody() -> None:
    sources = "\n".join(path.read_text("utf-8") for path in MODULES)
    composed = re.compile(r"(export|load)_\w+|\w+_(node|edge)_type")  # by the kind of row
    assert [name for name in queries() if f'"{name}"' not in sources and not composed.fullmatch(name)] == []
