"""Which of PostgreSQL's programs is taken: one that fits the server, wherever it is found."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path

import pytest

from memsvc.errors import ProgramMissingError
from memsvc.server import programs
from memsvc.server.programs import find_program, major_version
from memsvc.settings import Settings

Install = Callable[[str, str], Path]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Puts a program that says its version into one of the folders where such programs are looked for."""
    monkeypatch.setattr(programs, "DEBIAN", tmp_path / "debian")
    monkeypatch.setenv("PATH", f"{tmp_path / 'path'}")
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)

    def make(folder: str, says: str) -> Path:
        program = tmp_path / folder / "pg_dump"
        program.parent.mkdir(parents=True)
        program.write_text(f"#!/bin/sh\necho '{says}'\n")
        program.chmod(0o755)
        return program

    return make


def test_the_servers_own_version_is_preferred_then_the_next_newer_one(install: Install) -> None:
    settings = Settings.model_validate({"database_url": "postgresql://server/memsvc"})
    with pytest.raises(ProgramMissingError, match=r"no pg_dump for PostgreSQL 18\.$"):
        find_program("pg_dump", settings, 18)
    on_path = install("path", "pg_dump (PostgreSQL) 19.1")
    assert find_program("pg_dump", settings, 18) == on_path
    with pytest.raises(ProgramMissingError, match=r"pg_dump is 19\)"):
        find_program("pg_dump", settings, 20)
    debians = install("debian/18/bin", "pg_dump (PostgreSQL) 18.6 (Debian 18.6-1)")
    assert find_program("pg_dump", settings, 18) == debians
    assert find_program("pg_dump", settings, 19) == on_path


@pytest.mark.parametrize("says", ["", "pg_dump of another kind 18", "(PostgreSQL)"])
def test_what_does_not_say_its_version_fits_nowhere(install: Install, says: str) -> None:
    assert major_version(install("path", says)) == 0
    with pytest.raises(ProgramMissingError):
        find_program("pg_dump", Settings.model_validate({"database_url": "postgresql://server/memsvc"}), 18)
