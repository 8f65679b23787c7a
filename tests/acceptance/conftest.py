"""A data folder at head is prepared once a run; each module works on a copy of it, with its own server."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from memsvc.server.locate import ready
from memsvc.settings import Settings
from tests import kept
from tests.acceptance.killpoints import Rig
from tests.conftest import SERVER

# What npm installs is wanted by 'make conformance' alone.
collect_ignore = [] if os.environ.get("MEMSVC_TEST_CONFORMANCE") else ["test_mcp_conformance.py"]


@pytest.fixture(scope="session")
def prepared(folder: Path) -> Path:
    """A data folder at rest with an upgraded database, made by whichever worker comes first; a kept server keeps it."""
    top = kept.home() if SERVER == "kept" else folder
    done = top / f"prepared-{kept.schema_key()}"
    with (top / "prepared.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            draft = top / "preparing"
            for old in (draft, *top.glob("prepared-*")):  # of a run that was killed, or of another schema
                shutil.rmtree(old, ignore_errors=True)
            draft.mkdir(mode=0o755)
            for programs in top.glob("server-[0-9]*"):  # the unit tests' server has copied them already
                _copy(programs, draft / programs.name)
            with ready(Settings.model_validate({"data_dir": draft, "database_url": None})):
                pass
            draft.rename(done)
    return done


def _copy(source: Path, target: Path) -> None:
    subprocess.run(["cp", "-a", "--reflink=auto", str(source), str(target)], check=True)


@contextmanager
def private_folder(prepared: Path | None) -> Iterator[Path]:
    """A data folder that the server's unprivileged user can reach; a copy of the prepared one where that is given."""
    base = Path(tempfile.mkdtemp(prefix="memsvc-acceptance-", dir="/tmp"))
    base.chmod(0o755)
    try:
        if prepared is not None:
            _copy(prepared, base / "data")
        yield base / "data"
    finally:
        shutil.rmtree(base, ignore_errors=True)
        assert not base.exists(), list(base.iterdir())


@pytest.fixture(scope="module")
def rig(prepared: Path) -> Iterator[Rig]:
    """A private memsvc of this module, ended at its end."""
    with private_folder(prepared) as data, Rig(data) as made:
        yield made
