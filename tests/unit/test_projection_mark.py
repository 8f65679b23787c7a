"""A change of any file that makes Cypher's graph has the graph rebuilt at the next upgrade."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from memsvc.db.files import folder
from memsvc.server import projection

SQL = folder("sql")
FILES = [
    path.relative_to(SQL) for room in ("projection", "functions/projection") for path in (SQL / room).glob("*.sql")
]


def test_both_folders_have_files() -> None:
    assert {path.parent.as_posix() for path in FILES} == {"projection", "functions/projection"}


@pytest.mark.parametrize("changed", FILES, ids=str)
def test_the_mark_changes_with_each_file(changed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = projection._mark("0001", "1.7.0")
    shutil.copytree(SQL, tmp_path / "sql")
    monkeypatch.setattr(projection, "folder", lambda name: tmp_path / name)
    assert projection._mark("0001", "1.7.0") == before
    (tmp_path / "sql" / changed).write_text((SQL / changed).read_text() + "-- changed\n")
    assert projection._mark("0001", "1.7.0") != before
