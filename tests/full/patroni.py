"""A real cluster on loopback: etcd, three nodes of Patroni with PostgreSQL, and pgBackRest's repository.

The nodes run what ``ops/patroni`` and ``ops/pgbackrest`` say; only paths, ports and the time until a node counts as
dead are this machine's. All programs come from an image of Debian's packages beside the full server's own, and run as a
user that the machine does not have. Everything that was started is ended by its process id.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx
import yaml

from ops.postgres.image import PROGRAMS, USER_ID, image
from tests.acceptance.killpoints import free_port, tree_of, wait_until
from tests.servers import lives

TOP = Path(__file__).parents[2]
EXTRA = (
    "docker-compose",
    "etcd-client",
    "etcd-server",
    "haproxy",
    "patroni",
    "pgbackrest",
    "pgbouncer",
    "python3-etcd",
)
TTL_S = 20
"""The shortest time that Patroni accepts until a node counts as dead."""
ENTER = """
set -eu
image=$1 home=$2; shift 2
mount --bind /dev "$image/dev"
mount -t tmpfs -o mode=1777,nosuid,nodev shm "$image/dev/shm"
mount --bind /proc "$image/proc"
mount --bind "$home" "$image/srv"
mount --bind "$home/passwd" "$image/etc/passwd"
exec chroot --userspec=UID:UID --groups= "$image" "$@"
""".replace("UID", str(USER_ID))
NODES = ("node1", "node2", "node3")


class Patroni:
    """The cluster; nothing runs until its parts are started by name."""

    def __init__(self, home: Path) -> None:
        """Write the configuration of all parts.

        Args:
            home: a folder that does not exist yet; the programs see it as /srv.
        """
        self.home = home
        self.ports = {name: free_port() for name in NODES}
        self.doors = {name: free_port() for name in NODES}
        self.etcd_port, self._peer_port = free_port(), free_port()
        self.password = secrets.token_hex(16)
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        home.mkdir(mode=0o755)
        (home / "passwd").write_text(
            f"root:x:0:0::/root:/bin/sh\npostgres:x:{USER_ID}:{USER_ID}::/srv:/usr/sbin/nologin\n"
        )
        for name in ("etcd", "tls", "repository", *NODES):
            (home / name).mkdir(mode=0o700)
        self._certificate()
        self._configuration()
        for path in [home, *home.rglob("*")]:
            os.chown(path, USER_ID, USER_ID)

    # Configuration

    def _certificate(self) -> None:
        """An authority of our own, and the nodes' certificate of it."""
        tls = self.home / "tls"
        (tls / "names").write_text("subjectAltName=IP:127.0.0.1\n")
        new, named = "openssl req -newkey rsa:2048 -nodes", "-subj /CN=memsvc"
        signed = "openssl x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -extfile names"
        for command in (
            f"{new} -x509 -days 2 {named}-tests -keyout ca.key -out ca.crt",
            f"{new} {named} -keyout server.key -out server.csr",
            f"{signed} -out server.crt",
        ):
            subprocess.run(command.split(), cwd=tls, check=True, capture_output=True)

    def _configuration(self) -> None:
        repository = (TOP / "ops" / "pgbackrest" / "pgbackrest.conf").read_text()
        for name in NODES:
            own = {
                "/var/lib/pgbackrest": "/srv/repository",
                "/var/lib/postgresql/18/memsvc": f"/srv/{name}/pg",
                "/var/run/postgresql": f"/srv/{name}\npg1-port={self.ports[name]}",
                "/var/spool/pgbackrest": f"/srv/{name}/spool",
                "/tmp/pgbackrest": f"/srv/{name}/locks",
            }
            text = repository
            for theirs, ours in own.items():
                assert theirs in text
                text = text.replace(theirs, ours)
            (self.home / name / "pgbackrest.conf").write_text(text)
            text = (TOP / "ops" / "patroni" / "patroni.yml").read_text()
            text = text.replace("/etc/memsvc/tls", "/srv/tls").replace("/var/run/postgresql", f"/srv/{name}")
            node: dict[str, Any] = yaml.safe_load(text)
            dynamic = node["bootstrap"]["dcs"]
            assert dynamic["ttl"] == 30
            dynamic |= {"ttl": TTL_S, "loop_wait": 2, "retry_timeout": 5}
            dynamic["postgresql"]["parameters"] |= {"shared_buffers": "64MB", "fsync": "off"}
            (self.home / name / "patroni.yml").write_text(yaml.safe_dump(node))
            environment = {
                "PATRONI_NAME": name,
                "PATRONI_RESTAPI_LISTEN": f"127.0.0.1:{self.doors[name]}",
                "PATRONI_RESTAPI_CONNECT_ADDRESS": f"127.0.0.1:{self.doors[name]}",
                "PATRONI_POSTGRESQL_LISTEN": f"127.0.0.1:{self.ports[name]}",
                "PATRONI_POSTGRESQL_CONNECT_ADDRESS": f"127.0.0.1:{self.ports[name]}",
                "PATRONI_POSTGRESQL_DATA_DIR": f"/srv/{name}/pg",
                "PATRONI_POSTGRESQL_PGPASS": f"/srv/{name}/pgpass",
                "PATRONI_ETCD3_HOSTS": f"127.0.0.1:{self.etcd_port}",
                "PATRONI_SUPERUSER_USERNAME": "postgres",
                "PATRONI_REPLICATION_USERNAME": "replicator",
                "PATRONI_REWIND_USERNAME": "rewinder",
                "PATRONI_RESTAPI_USERNAME": "patroni",
                **{
                    f"PATRONI_{who}_PASSWORD": self.password
                    for who in ("SUPERUSER", "REPLICATION", "REWIND", "RESTAPI")
                },
                **{f"PATRONI_{who}_SSLMODE": "require" for who in ("SUPERUSER", "REPLICATION", "REWIND")},
                "PGBACKREST_CONFIG": f"/srv/{name}/pgbackrest.conf",
                "PGBACKREST_REPO1_CIPHER_PASS": "a key of the tests",
            }
            (self.home / name / "node.env").write_text(json.dumps(environment))

    def environment(self, name: str) -> dict[str, str]:
        """What a node's programs are given; for another name, what all programs are given."""
        given = json.loads((self.home / name / "node.env").read_text()) if name in NODES else {}
        path = f"/{PROGRAMS}/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        return {"PATH": path, "LC_ALL": "C.UTF-8", "TZ": "UTC", "HOME": "/srv", **given}

    def url(self, database: str, *names: str) -> str:
        """The administrator's URL that finds the primary among nodes, all of them if none is named."""
        ports = [str(self.ports[name]) for name in names or NODES]
        hosts = ",".join(["127.0.0.1"] * len(ports))
        trust = f"sslmode=verify-full&sslrootcert={self.home}/tls/ca.crt"
        found = f"host={hosts}&port={','.join(ports)}&{trust}&target_session_attrs=read-write"
        return f"postgresql://postgres:{self.password}@/{database}?{found}"

    # Processes

    def _command(self, *words: str) -> list[str]:
        return ["unshare", "--mount", "/bin/sh", "-c", ENTER, "enter", str(image(EXTRA)), str(self.home), *words]

    def start(self, name: str) -> None:
        """Start etcd or a node; does not wait."""
        if name == "etcd":
            client, peer = (f"http://127.0.0.1:{port}" for port in (self.etcd_port, self._peer_port))
            words = [
                "/usr/bin/etcd", "--name=etcd", "--data-dir=/srv/etcd/data", f"--listen-client-urls={client}",
                f"--advertise-client-urls={client}", f"--listen-peer-urls={peer}",
                f"--initial-advertise-peer-urls={peer}", f"--initial-cluster=etcd={peer}",
                "--log-level=warn", "--unsafe-no-fsync",
            ]  # fmt: skip
        else:
            words = ["/usr/bin/patroni", f"/srv/{name}/patroni.yml"]
        self.launch(name, words, self.environment(name))

    def launch(self, name: str, words: Sequence[str], environment: Mapping[str, str]) -> None:
        """Start a program of the image under a name."""
        with (self.home / f"{name}.log").open("ab") as log:
            self._running[name] = subprocess.Popen(
                self._command(*words), stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/",
                env=environment, start_new_session=True,
            )  # fmt: skip

    def run(self, name: str, *words: str, says: str = "", **environment: str) -> str:
        """Run a program as a node does, and answer its questions; what it printed."""
        done = subprocess.run(
            self._command(*words), input=says, capture_output=True, encoding="utf-8", timeout=300,
            env=self.environment(name) | environment, cwd="/", check=False,
        )  # fmt: skip
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout

    def kill(self, name: str) -> None:
        """End a node or etcd with SIGKILL, with all that it started."""
        process = self._running.pop(name)
        victims = {*tree_of(process.pid), *self._servers(name)}
        for pid in victims:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait(60)
        wait_until(lambda: not any(map(lives, victims)), seconds=60)

    def _servers(self, name: str) -> set[int]:
        """Processes of a node's PostgreSQL: Patroni does not count as their parent."""
        found = set()
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if (process / "cwd").samefile(self.home / name / "pg"):
                    found.add(int(process.name))
        return found

    def give(self, *files: Path) -> None:
        """Let the programs own files."""
        for path in files:
            os.chown(path, USER_ID, USER_ID)

    # Looking at it

    def role(self, name: str) -> str:
        """What a node says it is: primary, replica, or nothing where it does not answer."""
        with suppress(httpx.TransportError):
            answer = httpx.get(f"http://127.0.0.1:{self.doors[name]}/patroni", timeout=5).json()
            return str(answer.get("role", "")) if answer.get("state") == "running" else ""
        return ""

    def primary(self) -> str:
        """The node that takes writes; waits for one."""
        found: list[str] = []

        def there() -> bool:
            found[:] = [name for name in NODES if self._status(name, "primary") == 200]
            return len(found) == 1

        wait_until(there, seconds=120, pause=0.2)
        return found[0]

    def _status(self, name: str, path: str) -> int:
        with suppress(httpx.TransportError):
            return httpx.get(f"http://127.0.0.1:{self.doors[name]}/{path}", timeout=5).status_code
        return 0

    def synchronous(self) -> list[str]:
        """Nodes that confirm each commit."""
        return [name for name in NODES if self._status(name, "synchronous") == 200]

    def said(self, name: str) -> str:
        """The log of a part."""
        return (self.home / f"{name}.log").read_text(errors="replace")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            for name in ("etcd", *NODES):
                if (self.home / f"{name}.log").exists():
                    sys.stdout.write(f"--- {name}\n{self.said(name)[-4000:]}\n")
        for name in list(self._running):
            self.kill(name)
        for name in NODES:  # of a node that was killed before
            for pid in self._servers(name):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        time.sleep(0.2)
        shutil.rmtree(self.home, ignore_errors=True)
