"""Prometheus's own ``promtool``, which checks and tries out rules: the machine's, or one out of Debian's package.

The package is unpacked into a cached folder and nothing of it is installed, so it takes no rights.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from pathlib import Path

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "memsvc" / "promtool"
FETCH_S = 300


def promtool() -> str:
    """The program's path.

    Raises:
        RuntimeError: it is not there and cannot be had.
    """
    if found := shutil.which("promtool"):
        return found
    CACHE.mkdir(parents=True, exist_ok=True)
    program = CACHE / "usr" / "bin" / "promtool"
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not program.exists():
            _fetch()
    return str(program)


def _fetch() -> None:
    """Download and unpack the package; the folder gets the program when it is whole."""
    draft = CACHE / "draft"
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir()
    said = ""
    for command in ("apt-get download prometheus", "apt-get update", "apt-get download prometheus"):
        said = _run(command, draft)
        if packages := list(draft.glob("prometheus_*.deb")):
            said = _run(f"dpkg-deb --extract {packages[0].name} {draft}", draft)
            break
    made = draft / "usr" / "bin" / "promtool"
    if not made.exists():
        message = f"These tests need promtool, as Debian's package prometheus has it:\n{said[-2000:]}"
        raise RuntimeError(message)
    (CACHE / "usr" / "bin").mkdir(parents=True, exist_ok=True)
    made.replace(CACHE / "usr" / "bin" / "promtool")
    shutil.rmtree(draft)


def _run(command: str, folder: Path) -> str:
    done = subprocess.run(
        command.split(), cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=FETCH_S,
        check=False, env={**os.environ, "LC_ALL": "C"},
    )  # fmt: skip
    return done.stdout + done.stderr
