"""Streaming replicas of an embedded server, made by pg_basebackup, as an operator makes them.

A standby's folder is laid out as a data folder, so ``memsvc.server.embedded`` runs it and ends it.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from memsvc.server import embedded


def make_standby(primary: Path, folder: Path, name: str = "standby") -> None:
    """Copy a running server into a folder as its standby; nothing runs there yet.

    Args:
        primary: the data folder of the running server.
        folder: a folder that does not exist yet; its parents must be open to the server's user.
        name: by which the primary knows it, for synchronous replication.
    """
    with embedded.running(primary) as server:
        embedded._make_folder(folder)
        embedded._install(folder)
        (folder / "pg").mkdir(mode=0o700)
        os.chown(folder / "pg", *embedded._identity())
        source = f"{server.conninfo(database='postgres')}"
        made = embedded._run(
            folder, "pg_basebackup", f"--pgdata={folder}/pg", "--checkpoint=fast", "--wal-method=stream",
            "--write-recovery-conf", f"--dbname={source}{'&' if '?' in source else '?'}application_name={name}",
        )  # fmt: skip
        assert made.returncode == 0, made.stderr
    shutil.copy(primary / "superuser.secret", folder / "superuser.secret")
    (folder / "superuser.secret").chmod(0o600)
    assert (folder / "pg" / "standby.signal").exists()


def promote(folder: Path) -> None:
    """Make a standby a primary; returns when it takes writes."""
    done = embedded._run(folder, "pg_ctl", "promote", "--wait", f"--pgdata={folder}/pg")
    assert done.returncode == 0, done.stderr


def kill(folder: Path) -> None:
    """End a server with SIGKILL, all of its processes."""
    postmaster = int((folder / "pg" / "postmaster.pid").read_text().split()[0])
    for pid in [postmaster, *embedded._processes(folder)]:
        try:
            os.kill(pid, 9)
        except ProcessLookupError:
            continue
