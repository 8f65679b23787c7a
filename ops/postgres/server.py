"""The full server: PostgreSQL 18 with pgvector, AGE and PostGIS, run from the image for one data folder.

It is made for trials and for tests of what the embedded server lacks; to run a service, use packages or Docker
(docs/install.md). Each program of the image runs in its own mount namespace (``enter.sh``), as a user that the machine
does not have, without root's rights. The server listens on a socket in a private folder and requires a password
(SCRAM). Each data folder has its own server, so several can run at the same time. Processes that share a server use
``running``; the last one to leave stops it. A killed process leaves nothing that disturbs the next start.

The server has the same page cache as the embedded server (``page_cache_mb``), so the two differ in their extensions
only, also in speed.

A data folder holds the locks and the superuser's password, which belong to root, and ``home``, which belongs to the
server. ``home`` (data, log and socket) is the only part that the server sees. Root changes nothing in it that could be
a link to another file.
"""

from __future__ import annotations

import os
import secrets
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import psycopg

from memsvc.server.embedded import LOG_SETTINGS, page_cache_mb
from ops.postgres.image import PROGRAMS, USER_ID, FullServerError, image, locked

SUPERUSER = "postgres"
ENTER = Path(__file__).with_name("enter.sh")
SOCKET = ".s.PGSQL.5432"
SOCKET_PATH_BYTES = 107
PATIENCE_S = 120.0
"""How long a server may take to start (after a crash it replays its log first) or to stop."""
ORPHANS_S = 10.0
"""How long the children of a killed server may take to notice."""
INITDB = (
    "--auth=scram-sha-256", f"--username={SUPERUSER}", "--data-checksums",
    "--encoding=UTF8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C.UTF-8", "--lc-messages=C",
    "--set=timezone=UTC", "--set=max_connections=100", "--set=jit=off",
)  # fmt: skip
"""The same options as for the embedded server, so that the two differ in their extensions only."""


@dataclass(frozen=True, slots=True)
class Server:
    """The running server of a data folder."""

    data: Path
    password: str = field(repr=False)

    def url(self, database: str = "postgres") -> str:
        """Return the administrator's URL of a database."""
        login = f"{SUPERUSER}:{quote(self.password, safe='')}"
        return f"postgresql://{login}@/{quote(database, safe='')}?host={quote(str(self.data / 'home'), safe='')}"


def start(data: Path, *, options: Mapping[str, str] | None = None) -> Server:
    """Start the folder's server, or use it if it is running; create the folder and the data if they are missing.

    Args:
        data: a folder that belongs to root; only the server reads what it writes there.
        options: settings of PostgreSQL; they have no effect on a server that is already running.

    Raises:
        FullServerError: the server cannot start; the message says why.
    """
    folder = _folder(data)
    with locked(folder / "lock"):
        return _start(folder, options or {})


def stop(data: Path) -> bool:
    """Stop the folder's server, even if others use it; return False if none was running."""
    folder = data.expanduser().resolve()
    if not folder.exists():
        return False
    with locked(folder / "lock"):
        return _stop(folder)


@contextmanager
def running(data: Path, *, options: Mapping[str, str] | None = None) -> Iterator[Server]:
    """Use the folder's server: the first user starts it, and the last one stops it."""
    folder = _folder(data)
    try:
        with locked(folder / "users.lock", shared=True):
            yield start(folder, options=options)
    finally:
        with locked(folder / "lock"), suppress(BlockingIOError), locked(folder / "users.lock", wait=False):
            _stop(folder)


def _folder(data: Path) -> Path:
    folder = data.expanduser().resolve()
    if len(os.fsencode(folder / "home" / SOCKET)) > SOCKET_PATH_BYTES:
        raise FullServerError(f"The path {folder} is too long for a socket. Choose a shorter one.")
    image()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _start(folder: Path, options: Mapping[str, str]) -> Server:
    if _postmaster(folder) is None:
        _clear(folder)
        if not (folder / "home" / "pg").exists():
            _initialise(folder)
        _launch(folder, options)
    server = Server(folder, (folder / "superuser.secret").read_text())
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            with psycopg.connect(server.url(), connect_timeout=5):
                return server
        except psycopg.OperationalError as error:
            if _postmaster(folder) is None or time.monotonic() > deadline or "password" in str(error):
                raise FullServerError(f"Cannot connect to the server in {folder}: {error}") from error
        time.sleep(0.05)


def _launch(folder: Path, options: Mapping[str, str]) -> None:
    log = folder / "home" / "server.log"
    before = log.stat().st_size if log.exists() else 0
    settings = {"listen_addresses": "", "unix_socket_directories": "/srv", "unix_socket_permissions": "0700"}
    settings["shared_buffers"] = f"{page_cache_mb()}MB"
    settings |= {**LOG_SETTINGS, **options}
    words = " ".join(shlex.quote(f"--{name}={value}") for name, value in settings.items())
    done = _run(
        folder, "pg_ctl", "start", "--wait", f"--timeout={PATIENCE_S:.0f}", "--pgdata=/srv/pg", "--log=/srv/server.log",
        "-o", words,
    )  # fmt: skip
    if done.returncode:
        said = log.read_bytes()[before:].decode(errors="replace")[-3000:] if log.exists() else ""
        raise FullServerError(f"PostgreSQL did not start in {folder}:\n{said or done.stdout + done.stderr}")


def _initialise(folder: Path) -> None:
    """Create the data under another name and rename them at the end, so that a kill leaves no partial data."""
    home, password = folder / "home", secrets.token_urlsafe(32)
    if home.exists():
        shutil.rmtree(home)
    home.mkdir(mode=0o700)
    for name in (home / "password", folder / "superuser.secret"):
        name.unlink(missing_ok=True)
        name.touch(mode=0o600)
        name.write_text(password)
    for path in (home / "password", home):
        os.chown(path, USER_ID, USER_ID)
    done = _run(folder, "initdb", "--pgdata=/srv/new", "--pwfile=/srv/password", *INITDB)
    if done.returncode:
        raise FullServerError(f"initdb could not make {folder}:\n{done.stdout + done.stderr}")
    (home / "password").unlink()
    (home / "new").rename(home / "pg")


def _run(folder: Path, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run one of PostgreSQL's programs in the image, in its own session, so that Ctrl-C does not stop the server."""
    command = ["unshare", "--mount", "/bin/sh", str(ENTER), str(image()), str(folder / "home"), str(USER_ID)]
    return subprocess.run(  # noqa: S603 - arguments as a list
        [*command, f"/{PROGRAMS}/bin/{program}", *arguments], stdin=subprocess.DEVNULL, capture_output=True,
        encoding="utf-8", errors="replace", start_new_session=True, cwd="/", check=False,
        env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C", "TZ": "UTC"},  # no PG* variables
    )  # fmt: skip


def _stop(folder: Path) -> bool:
    pid = _postmaster(folder)
    if pid is None:
        return False
    deadline = time.monotonic() + PATIENCE_S
    os.kill(pid, signal.SIGINT)  # "fast": sessions end, a checkpoint is written
    while _processes(folder):
        if time.monotonic() > deadline:
            raise FullServerError(f"PostgreSQL (process {pid}) did not stop in {folder}.")
        time.sleep(0.02)
    return True


def _postmaster(folder: Path) -> int | None:
    """Return the process id of the folder's server. After a crash, ``postmaster.pid`` may name an unrelated process."""
    with suppress(OSError, ValueError, IndexError):
        pid = int((folder / "home" / "pg" / "postmaster.pid").read_text().split()[0])
        return pid if pid in _processes(folder) else None
    return None


def _processes(folder: Path) -> set[int]:
    """Return the ids of the PostgreSQL processes that use the folder's data."""
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # the process has ended
            if (process / "comm").read_text() == "postgres\n" and (process / "cwd").samefile(folder / "home" / "pg"):
                found.add(int(process.name))
    return found


def _clear(folder: Path) -> None:
    """After a crash, wait for the dead server's children, then remove the files that claim that it is still running."""
    deadline = time.monotonic() + ORPHANS_S
    while orphans := _processes(folder):
        if time.monotonic() > deadline:
            for pid in orphans:  # they cannot commit anything any more
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGQUIT)
        time.sleep(0.02)
    for stale in (folder / "home" / "pg" / "postmaster.pid", folder / "home" / f"{SOCKET}.lock"):
        stale.unlink(missing_ok=True)
