"""A real PgBouncer in transaction mode before a test's server: each transaction may get any session of the server."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import psycopg
from sqlalchemy import URL

from memsvc.server import embedded
from tests.acceptance.killpoints import wait_until
from tests.servers import program

SESSIONS = 3
"""Sessions of the server for each login and database: far fewer than the connections of the service."""


class Pooler:
    """PgBouncer before an embedded server; it may be ended and started again."""

    def __init__(self, folder: Path, server: embedded.Server, port: int, passwords: Mapping[str, str]) -> None:
        """Write its configuration; nothing runs yet.

        Args:
            folder: a folder that does not exist yet; its parents must be open to the server's user.
            server: the server.
            port: where PgBouncer listens.
            passwords: the logins that it lets in.
        """
        self.port, self._passwords, self._folder = port, dict(passwords), folder
        self._process: subprocess.Popen[bytes] | None = None
        folder.mkdir(mode=0o700)
        users = "".join(f'"{name}" "{password}"\n' for name, password in passwords.items())
        (folder / "users.txt").write_text(users)
        (folder / "pgbouncer.ini").write_text(
            "[databases]\n"
            f"* = host={server.socket_dir} port={server.port}\n"
            "[pgbouncer]\n"
            f"listen_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n"
            f"auth_type = scram-sha-256\nauth_file = {folder}/users.txt\n"
            f"pool_mode = transaction\ndefault_pool_size = {SESSIONS}\nmax_client_conn = 200\n"
            f"server_login_retry = 1\nlogfile = {folder}/log\n"
        )
        for path in (folder, *folder.iterdir()):
            os.chown(path, *embedded._identity())

    def url(self, database: str = "memsvc", login: str = "memsvc_app") -> str:
        """The URL of a database through it."""
        made = URL.create("postgresql", login, self._passwords[login], "127.0.0.1", self.port, database)
        return made.render_as_string(hide_password=False)

    def start(self) -> None:
        """Start it; it listens when this returns, whether or not its server is there."""
        uid, gid = embedded._identity()
        as_other = {"user": uid, "group": gid, "extra_groups": []} if os.geteuid() == 0 else {}
        self._process = subprocess.Popen(
            [program("pgbouncer", "pgbouncer"), "--quiet", f"{self._folder}/pgbouncer.ini"],
            **as_other,  # type: ignore[call-overload]
        )

    def kill(self) -> None:
        """End it with SIGKILL; no effect where it does not run."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(30)
            self._process = None

    def answers(self, database: str = "memsvc") -> bool:
        """True when a statement goes through it."""
        try:
            with psycopg.connect(self.url(database), prepare_threshold=None, connect_timeout=5) as connection:
                return connection.execute("SELECT 1").fetchone() == (1,)
        except psycopg.OperationalError:
            return False


@contextmanager
def pooling(
    folder: Path, server: embedded.Server, port: int, passwords: Mapping[str, str], database: str = "memsvc"
) -> Iterator[Pooler]:
    """A pooler while the block runs; statements go through it to a database."""
    made = Pooler(folder, server, port, passwords)
    made.start()
    try:
        wait_until(lambda: made.answers(database))
        yield made
    finally:
        made.kill()
