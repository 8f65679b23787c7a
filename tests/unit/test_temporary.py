"""Temporary folders of files that are read: removed by their process, or by the next one if it was killed."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from memsvc.sources.kinds.temporary import PREFIX, temporary_folder

KEEPS = """
import time
from memsvc.sources.kinds.temporary import temporary_folder
with temporary_folder() as folder:
    (folder / "0").write_text("what was unpacked")
    print(folder, flush=True)
    time.sleep(60)
"""


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def test_a_folder_is_private_and_removed(temporary: Path) -> None:
    with temporary_folder() as folder:
        (folder / "0").write_text("words")
        assert folder.parent == temporary
        assert folder.stat().st_mode & 0o077 == 0
    assert list(temporary.iterdir()) == []


def test_what_a_killed_process_left_is_removed_by_the_next(temporary: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", KEEPS], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        left = Path(process.stdout.readline().strip())
        with temporary_folder():
            assert (left / "0").exists(), "It is in use."
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert left.exists()
        with temporary_folder():
            assert not left.exists()


def test_what_is_not_ours_is_left(temporary: Path) -> None:
    other = temporary / "other"
    other.mkdir()
    (other / "held").write_text("locked")
    unlocked = temporary / f"{PREFIX}without"
    unlocked.mkdir()
    (temporary / f"{PREFIX}link").symlink_to(other)
    with temporary_folder():
        pass
    assert (other / "held").exists()
    assert unlocked.exists()
