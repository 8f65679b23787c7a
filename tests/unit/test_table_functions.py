"""No statement of ours has an expression of SQL's grammar where a table stands.

Apache AGE ends the whole server where a session that has loaded it reads one (docs/adr/0030), and the application's
sessions load it when a change is projected into the graph.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
GRAMMAR = "CAST|COALESCE|NULLIF|GREATEST|LEAST|TREAT|EXTRACT|NORMALIZE|COLLATION|XML[A-Z]+|JSON_[A-Z]+|MERGE_ACTION"
AS_TABLE = re.compile(rf"(?<!DISTINCT )\b(?:FROM|JOIN|LATERAL|USING)\s+(?:{GRAMMAR})\s*\(", re.IGNORECASE)


@pytest.mark.parametrize(
    ("statement", "ends_it"),
    [
        ("SELECT t FROM CAST($1 AS text) AS t", True),
        ("SELECT * FROM x CROSS JOIN LATERAL coalesce(x.a, 1) AS t", True),
        ("SELECT a IS DISTINCT FROM CAST($1 AS text)", False),
        ("SELECT * FROM unnest(CAST($1 AS text[])) AS t", False),
    ],
)
def test_such_statements_are_found(statement: str, *, ends_it: bool) -> None:
    assert bool(AS_TABLE.search(statement)) is ends_it


def test_there_are_none() -> None:
    files = [*(TOP / "sql").rglob("*.sql"), *(TOP / "memsvc").rglob("*.py"), *(TOP / "alembic").rglob("*.py")]
    assert len(files) > 300
    texts = {path.name: re.sub(r"--.*", "", path.read_text(encoding="utf-8")) for path in files}
    found = {name: AS_TABLE.findall(text) for name, text in texts.items()}
    assert {name for name, times in found.items() if times} == set()
