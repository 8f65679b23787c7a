"""What runs the tests: the server that is kept between runs, and the table of the slowest tests."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from memsvc.db import files
from tests import kept
from tests.slowest import table

REPORT = """<testsuites><testsuite><testcase classname="tests.sql.test_recall" name="test_a" time="{}"/>
<testcase classname="tests.unit.test_b" name="test_b[&lt;x&gt;]" time="0.5"/></testsuite></testsuites>"""


def test_the_slowest_tests_of_all_runs_come_first() -> None:
    lines = table([("embedded", REPORT.format("1.25")), ("full", REPORT.format("2"))], shown=3).splitlines()
    assert lines[:2] == ["embedded: 2 tests, 2 s of all workers", "full: 2 tests, 2 s of all workers"]
    assert [line.split() for line in lines[2:]] == [
        ["2.0", "s", "full", "tests/sql/test_recall.py::test_a"],
        ["1.2", "s", "embedded", "tests/sql/test_recall.py::test_a"],
        ["0.5", "s", "full", "tests/unit/test_b.py::test_b[<x>]"],
    ]


def test_runs_at_the_same_time_have_numbers_of_their_own_and_the_same_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two", "three"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr(kept, "caches", lambda: tmp_path / "cache")
    kept.home.cache_clear()
    try:
        with kept.run(tmp_path / "one") as first:
            with kept.run(tmp_path / "two") as second:
                assert (first, second) == (0, 1)
            with kept.run(tmp_path / "three") as third:
                assert third == second, "a number is free again when its run has ended"
    finally:
        kept.home.cache_clear()
    secrets = {(tmp_path / name / "secrets.json").read_text() for name in ("one", "two", "three")}
    assert len(secrets) == 1


@pytest.mark.parametrize(
    ("changed", "anew"),
    [("sql/functions", True), ("sql/prepare.sql", True), ("alembic/versions", True), ("sql/any.md", False)],
)
def test_the_template_is_made_anew_where_what_makes_it_has_changed(
    changed: str, *, anew: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("sql", "alembic"):
        shutil.copytree(files.folder(name), tmp_path / name)
    for path in ("memsvc/server/upgrade.py", "memsvc/settings/secrets.py"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(kept.TOP / path, tmp_path / path)
    monkeypatch.setattr(kept, "TOP", tmp_path)
    monkeypatch.setattr(kept, "folder", lambda name: tmp_path / name)
    key = kept.schema_key.__wrapped__
    before = key()
    target = tmp_path / changed
    file = next(p for p in sorted(target.rglob("*")) if p.suffix in {".sql", ".py"}) if target.is_dir() else target
    with file.open("a") as text:
        text.write("\n")
    assert (key() != before) is anew
