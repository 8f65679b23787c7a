"""The image: a cached folder with PostgreSQL 18, pgvector, AGE, PostGIS and contrib from Debian's packages.

Debian's testing release has all of these packages, under the same names as PGDG. ``mmdebstrap`` installs them into a
folder of their own, which the system does not use. The folder's name contains a hash of its recipe, so a changed recipe
makes a new folder. The folder gets this name when it is complete, and nothing writes to it later. It is made once per
machine, takes a minute or two and 800 MB.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SUITE = "forky"
PACKAGES = ("postgresql-18", "postgresql-18-age", "postgresql-18-pgvector", "postgresql-18-postgis-3", "tzdata-legacy")
"""The last has the older names of time zones, which people's machines still send: Asia/Calcutta, US/Pacific."""
PROGRAMS = Path("usr/lib/postgresql/18")
"""The folder of PostgreSQL's programs and libraries within the image."""
USER_ID = 54_318
"""The user that runs the server. No account of the machine has this id, so no other processes may touch its files."""
NO_CLUSTER = "etc/postgresql-common/createcluster.d"
HOOKS = (
    f"--essential-hook=mkdir -p $1/{NO_CLUSTER} && echo create_main_cluster = false > $1/{NO_CLUSTER}/none.conf",
    f"--customize-hook=echo memsvc:x:{USER_ID}:{USER_ID}::/srv:/usr/sbin/nologin >> $1/etc/passwd",
    "--customize-hook=rm -rf $1/var/lib/postgresql/18 $1/var/cache/apt $1/var/lib/apt/lists",
)
OPTIONS = (
    "--mode=root",
    "--variant=minbase",
    "--include=PACKAGES",
    '--aptopt=Apt::Install-Recommends "false"',
    '--aptopt=Acquire::Check-Valid-Until "false"',  # a mirror that keeps an older state of testing has expired lists
    *(f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in ("doc", "man", "locale")),
    *HOOKS,
)
BY_PACKAGES = (
    "Instead, install PostgreSQL 18 with pgvector, AGE and PostGIS as docs/install.md says, and run the tests on it: "
    "MEMSVC_TEST_DATABASE_URL=postgresql://… make test"
)


class FullServerError(RuntimeError):
    """The full server cannot run on this machine; the message says why and what to do."""


def image(extra: tuple[str, ...] = ()) -> Path:
    """Return the image's folder. If it is missing, create it; one process at a time does this.

    Args:
        extra: further packages of Debian, for an image of its own beside the one that lacks them.

    Raises:
        FullServerError: the folder is missing and cannot be created.
    """
    _check_machine()
    options = [option.replace("PACKAGES", ",".join((*PACKAGES, *extra))) for option in OPTIONS]
    recipe = hashlib.sha256("\n".join((SUITE, *options)).encode()).hexdigest()[:8]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "memsvc"
    made = cache / f"postgresql-18-{SUITE}-{recipe}"
    if not made.exists():
        cache.mkdir(parents=True, exist_ok=True)
        with locked(cache / "image.lock") as lock:
            if not made.exists():
                _make(made, options, lock)
    return made


def _check_machine() -> None:
    if os.geteuid() != 0:
        raise FullServerError(f"Only root can run the full server from its image. {BY_PACKAGES}")
    if missing := [name for name in ("unshare", "mount", "chroot") if shutil.which(name) is None]:
        raise FullServerError(f"The full server needs Linux; {', '.join(missing)} is missing here. {BY_PACKAGES}")


def _make(made: Path, options: list[str], lock: int) -> None:
    if shutil.which("mmdebstrap") is None:
        _install("mmdebstrap")
    draft, log = made.with_suffix(".new"), made.with_suffix(".log")
    if draft.exists():  # the process that was making it was killed; its mounts ended with its namespace
        shutil.rmtree(draft)
    # In its own namespace it leaves no mounts, even if it is killed. The lock lasts as long as its last process.
    command = ["unshare", "--mount", "mmdebstrap", *options, SUITE, str(draft)]
    with log.open("w") as output:
        done = subprocess.run(  # noqa: S603 - fixed words and a folder's name
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, pass_fds=[lock], check=False
        )
    if done.returncode:
        end = "\n".join(log.read_text(errors="replace").splitlines()[-15:])
        raise FullServerError(f"mmdebstrap could not make {made} (the whole log: {log}):\n{end}\n{BY_PACKAGES}")
    draft.rename(made)


def _install(package: str) -> None:
    """Install a Debian package that starts no service."""
    if shutil.which("apt-get") is None:
        raise FullServerError(f"The full server needs {package}, a program of Debian and Ubuntu. {BY_PACKAGES}")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"}
    for words in ("", "update", ""):  # update only if needed: the lists of packages may be missing or outdated
        command = f"apt-get -q -o DPkg::Lock::Timeout=300 {words or f'install --yes --no-install-recommends {package}'}"
        done = subprocess.run(  # noqa: S603 - fixed words
            command.split(), env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
        if done.returncode == 0 and not words:
            return
    raise FullServerError(f"{package} cannot be installed:\n{(done.stdout + done.stderr)[-2000:]}\n{BY_PACKAGES}")


@contextmanager
def locked(path: Path, *, shared: bool = False, wait: bool = True) -> Iterator[int]:
    """Hold a lock on a file and yield its descriptor. The kernel releases the lock when this process dies.

    Raises:
        BlockingIOError: another process holds the lock, and ``wait`` is False.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB))
        yield handle
    finally:
        os.close(handle)
