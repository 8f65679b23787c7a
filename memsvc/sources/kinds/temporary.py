"""Private temporary folders that do not outlive their process for long, even if it is killed.

A folder holds a locked file for as long as its process lives, and the system unlocks it however the process ends. Who
makes a folder first removes those whose file nobody holds.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PREFIX = "memsvc-ingest-"
LOCK = "held"


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Yield a new folder that only this user may read; it is removed afterwards."""
    sweep()
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    held = os.open(folder / LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(held, fcntl.LOCK_SH)
        os.write(held, b"locked")
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(held)


def sweep() -> None:
    """Remove the folders of this user's processes that ended without removing theirs."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):  # another one removes it at the same time, or it is another user's
            if folder.is_symlink() or folder.stat().st_uid != os.getuid():
                continue
            held = os.open(folder / LOCK, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
            try:
                if os.fstat(held).st_size == 0:  # its owner has not locked it yet
                    continue
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(held)
