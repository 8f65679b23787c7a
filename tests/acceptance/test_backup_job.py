"""The backup job of compose and systemd (``ops/docker/backup.sh``): old backups go only when a new one is there."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.acceptance.killpoints import MEMSVC, Rig

pytestmark = pytest.mark.acceptance
SCRIPT = Path(__file__).parents[2] / "ops" / "docker" / "backup.sh"


def run(rig: Rig, backups: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    path = f"{MEMSVC.parent}:/usr/bin:/bin"
    environment = rig.environment | {"PATH": path, "BACKUPS": str(backups), "KEEP": "2"} | variables
    return subprocess.run(
        [SCRIPT], env=environment, cwd=rig.cwd, capture_output=True, text=True, timeout=180, check=False
    )


def test_a_new_backup_takes_the_place_of_the_oldest(rig: Rig, tmp_path: Path) -> None:
    rig.ok("user", "add", "--name", "Ada", "--external-id", "ada")
    rig.ok("user", "add", "--name", "Bob", "--external-id", "bob")
    rig.ok("forget", "--everything", "--user", "bob", "--yes")
    old = ["2026-01-01T02-15-00", "2026-01-02T02-15-00", "2026-01-03T02-15-00"]
    for name in (*old, "mine"):
        (tmp_path / name).mkdir()
    done = run(rig, tmp_path)
    assert done.returncode == 0, done.stderr
    left = sorted(path.name for path in tmp_path.iterdir() if path.is_dir())
    assert left[0] == old[-1]
    assert left[-1] == "mine"
    assert len(left) == 3
    [line] = (tmp_path / "erasures.jsonl").read_text().splitlines()
    assert json.loads(line)["kind"] == "user"
    assert (tmp_path / left[1] / "manifest.json").exists()
    assert (tmp_path / "erasures.jsonl").stat().st_mode & 0o077 == 0

    failed = run(rig, tmp_path, MEMSVC_DATABASE_URL="postgresql://nobody@127.0.0.1:9/none")
    assert failed.returncode != 0
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_dir()) == left
    assert (tmp_path / "erasures.jsonl").read_text().splitlines() == [line]


def test_repeated_it_goes_on_after_a_failure(rig: Rig, tmp_path: Path) -> None:
    with pytest.raises(subprocess.TimeoutExpired) as found:
        subprocess.run(
            [SCRIPT], capture_output=True, timeout=20, check=False,
            env={"PATH": "/usr/bin:/bin", "BACKUPS": str(tmp_path), "EVERY": "1"},  # no memsvc in it
        )  # fmt: skip
    assert (found.value.stderr or b"").count(b"the backup failed") > 2
    assert rig.data.exists()
