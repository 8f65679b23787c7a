"""Sinks: an export appears as a whole or not at all, and replaces nothing but an export."""

from __future__ import annotations

import os
import stat
import zipfile
from pathlib import Path

import pytest

from memsvc.errors import AlreadyExistsError, StorageFullError
from memsvc.transfer.format import MANIFEST
from memsvc.transfer.sinks import FolderSink, Sink, open_sink

OURS = b'{"format": "memsvc-export", "version": 1}'


def write(sink: Sink, **files: bytes) -> None:
    """Some files; the manifest last."""
    for name, data in files.items():
        sink.begin(f"{name}/x.md")
        sink.write(data)
        sink.write(b"!")
    sink.begin(MANIFEST)
    sink.write(OURS)


@pytest.mark.parametrize("name", ["out", "out.zip", "OUT.ZIP", "a/b/out", "a/out.zip"])
def test_nothing_is_there_until_everything_is(name: str, tmp_path: Path) -> None:
    target = tmp_path / name
    sink = open_sink(target)
    write(sink, a=b"1", b=b"2")
    assert not target.exists()
    sink.commit()
    assert [path.name for path in target.parent.iterdir()] == [target.name]
    if target.suffix:
        assert isinstance(zipfile.ZipFile(target).read("b/x.md"), bytes)
        assert zipfile.ZipFile(target).namelist() == ["a/x.md", "b/x.md", MANIFEST]
    else:
        assert (target / "b" / "x.md").read_bytes() == b"2!"
        assert stat.S_IMODE((target / "b" / "x.md").stat().st_mode) == 0o600
    assert not target.stat().st_mode & 0o077


@pytest.mark.parametrize("name", ["out", "out.zip"])
@pytest.mark.parametrize("begun", [False, True])
def test_what_is_broken_off_leaves_nothing(name: str, tmp_path: Path, *, begun: bool) -> None:
    sink = open_sink(tmp_path / name)
    if begun:
        write(sink, a=b"1")
    sink.abort()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["out", "out.zip"])
def test_an_export_is_replaced_by_force_and_stays_when_the_new_one_breaks(name: str, tmp_path: Path) -> None:
    target = tmp_path / name
    for _ in range(2):
        sink = open_sink(target, force=True)
        write(sink, a=b"1")
        sink.commit()
    with pytest.raises(AlreadyExistsError):
        open_sink(target)
    before = target.read_bytes() if target.is_file() else (target / "a" / "x.md").read_bytes()
    sink = open_sink(target, force=True)
    write(sink, a=b"2")
    sink.abort()
    assert before == (target.read_bytes() if target.is_file() else (target / "a" / "x.md").read_bytes())
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_equal_zip_files_are_equal_bytes(tmp_path: Path) -> None:
    for name in ("a.zip", "b.zip"):
        sink = open_sink(tmp_path / name)
        write(sink, a=b"1" * 100_000)
        sink.commit()
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


@pytest.mark.parametrize("name", ["out", "out.zip"])
def test_force_replaces_nothing_but_an_export(name: str, tmp_path: Path) -> None:
    target = tmp_path / name
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "precious").write_text("x")
    for make in (
        lambda: target.write_text("precious"),
        lambda: target.symlink_to(tmp_path / "elsewhere"),
        lambda: target.symlink_to(tmp_path / "nowhere"),
        lambda: os.mkfifo(target),
    ):
        make()
        with pytest.raises(AlreadyExistsError):
            open_sink(target, force=True)
        target.unlink()
    target.mkdir()
    (target / "precious").write_text("x")
    for other in (b"{}", b"\xff", b'{"format": "other", "version": 1}', b"["):
        (target / MANIFEST).write_bytes(other)
        with pytest.raises(AlreadyExistsError):
            open_sink(target, force=True)
    assert (target / "precious").read_text() == "x"


def test_an_empty_folder_is_filled_by_force(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    sink = FolderSink(tmp_path / "out", force=True)
    write(sink, a=b"1")
    sink.commit()
    assert (tmp_path / "out" / MANIFEST).read_bytes() == OURS


@pytest.mark.parametrize("name", ["file/out", "file/out.zip"])
def test_a_place_that_cannot_be_written_is_named(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StorageFullError, match="cannot be written"):
        open_sink(tmp_path / name)
