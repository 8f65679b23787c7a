"""Real servers for the relay's tests: a private Redis and a private RabbitMQ, from Debian's packages.

``Redis`` and ``Rabbit`` run on free loopback ports with their data in a folder of the test run; what they started ends
with them, by its process id. A program that is missing is installed first: as root with apt-get, one process at a time,
its service kept from starting; for others the test fails and says which command to run.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

import pika
import pika.exceptions
import redis

from tests.acceptance.killpoints import free_port, tree_of, wait_until
from tests.certificates import Authority

# Debian's wrapper of rabbitmq-server changes to a system user; the program itself runs as whoever calls it.
FOLDERS = ("/usr/lib/rabbitmq/bin", *os.get_exec_path(), "/usr/sbin", "/usr/bin")
POLICY = Path("/usr/sbin/policy-rc.d")
INSTALL_S = 540
START_S = 60.0


class Server(Protocol):
    """A server that a test may end and start again; what it has accepted outlives that."""

    @property
    def url(self) -> str:
        """As MEMSVC_QUEUE_URL names it."""
        ...

    def start(self) -> None:
        """Start it, and wait until it answers."""
        ...

    def kill(self) -> None:
        """End it with SIGKILL."""
        ...


# Programs -----------------------------------------------------------------------------------------------------------


def program(name: str, package: str) -> str:
    """The path of a server's program, installed first where it is missing.

    Raises:
        RuntimeError: it is missing and cannot be installed.
    """
    search = os.pathsep.join(FOLDERS)
    found = shutil.which(name, path=search)
    if found is None:
        with (Path(tempfile.gettempdir()) / "memsvc-test-apt.lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            found = shutil.which(name, path=search)
            if found is None:
                install(package)
                found = shutil.which(name, path=search)
    if found is None:
        message = f"the package {package} brought no {name}"
        raise RuntimeError(message)
    return found


def install(package: str) -> None:
    """Install one of Debian's packages; no service of it starts.

    Raises:
        RuntimeError: this process is not root's, or apt-get failed.
    """
    command = f"apt-get install --yes --no-install-recommends {package}"
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        message = f"These tests need {package}. Run as root: apt-get update && {command}"
        raise RuntimeError(message)
    with services_kept_from_starting():
        done = _apt(command)
        if done.returncode:  # the lists of packages are missing, or older than the packages
            _apt("apt-get update")
            done = _apt(command)
    if done.returncode:
        message = f"{command} failed:\n{done.stdout[-2000:]}"
        raise RuntimeError(message)


def _apt(command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*command.split(), "-o", "DPkg::Lock::Timeout=300", "-o", "Dpkg::Use-Pty=0"],
        env={**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=INSTALL_S,
        check=False,
    )


@contextmanager
def services_kept_from_starting() -> Iterator[None]:
    """What Debian asks before a package starts its service says no; a policy that the machine has is left alone."""
    if POLICY.exists():
        yield
        return
    POLICY.write_text("#!/bin/sh\nexit 101\n")
    POLICY.chmod(0o755)
    try:
        yield
    finally:
        POLICY.unlink()


# Servers ------------------------------------------------------------------------------------------------------------


def answers(port: int) -> bool:
    """True when somebody listens on a loopback port."""
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


def lives(pid: int) -> bool:
    """False when a process has ended, even if nobody has asked for its exit code."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    return False


class _Processes:
    """Processes of a server, each with all that it starts; their output goes to one file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "output.log"
        self._started: list[subprocess.Popen[bytes]] = []
        folder.mkdir(parents=True, exist_ok=True)

    def spawn(self, command: list[str], environment: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
        with self.log.open("ab") as output:
            process = subprocess.Popen(
                command,
                cwd=self.folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._started.append(process)
        return process

    def kill(self) -> None:
        """End all with SIGKILL, and wait until they are gone."""
        for process in self._started:
            family = tree_of(process.pid) if process.poll() is None else []
            for pid in family:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            process.wait(START_S)
            wait_until(lambda family=family: not any(map(lives, family)), seconds=START_S)  # type: ignore[misc]
        self._started.clear()

    def wait(self, process: subprocess.Popen[bytes], serves: Callable[[], bool]) -> None:
        """Return when the process serves.

        Raises:
            RuntimeError: it ended instead.
        """

        def ready() -> bool:
            if process.poll() is not None:
                message = f"it ended with code {process.returncode}:\n{self.log.read_text()[-3000:]}"
                raise RuntimeError(message)
            return serves()

        wait_until(ready, seconds=START_S, pause=0.05)


class Redis:
    """A private Redis that writes each command down before it answers."""

    def __init__(self, folder: Path) -> None:
        self.port, self.tls_port = free_port(), free_port()
        self.authority = Authority(folder)
        self._pair = self.authority.issue()
        self.password = secrets.token_hex(8)
        self._processes = _Processes(folder)

    @property
    def url(self) -> str:
        return f"redis://:{self.password}@127.0.0.1:{self.port}/0"

    def tls_url(self, port: int | None = None, host: str = "127.0.0.1") -> str:
        """The URL by TLS, or one through another port."""
        return f"rediss://:{self.password}@{host}:{port or self.tls_port}/0"

    def start(self) -> None:
        command = f"{program('redis-server', 'redis-server')} --bind 127.0.0.1 --port {self.port} "
        command += f"--requirepass {self.password} --appendonly yes --appendfsync always --dir . "
        command += (
            f"--tls-port {self.tls_port} --tls-cert-file {self._pair.certificate} --tls-key-file {self._pair.key} "
        )
        command += f"--tls-ca-cert-file {self.authority.file} --tls-auth-clients no"
        self._processes.wait(self._processes.spawn([*command.split(), "--save", ""]), self._serves)

    def _serves(self) -> bool:
        """Redis listens before it has read what it wrote down, and refuses commands meanwhile."""
        with closing(redis.Redis.from_url(self.url)) as client, suppress(redis.RedisError):
            return bool(client.ping())
        return False

    def kill(self) -> None:
        self._processes.kill()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()


class Rabbit:
    """A private RabbitMQ with one user and no plugins, beside a port mapper (epmd) of its own."""

    def __init__(self, folder: Path) -> None:
        self.port, self.tls_port, self._between_nodes, self._mapper = (free_port() for _ in range(4))
        self.authority = Authority(folder)
        self._pair = self.authority.issue()
        self.password = secrets.token_hex(8)
        self._folder = folder
        self._processes = _Processes(folder)

    @property
    def url(self) -> str:
        return f"amqp://memsvc:{self.password}@127.0.0.1:{self.port}/%2F"

    def tls_url(self, port: int | None = None, host: str = "127.0.0.1") -> str:
        """The URL by TLS, or one through another port."""
        return f"amqps://memsvc:{self.password}@{host}:{port or self.tls_port}/%2F"

    def start(self) -> None:
        server = program("rabbitmq-server", "rabbitmq-server")
        # In the foreground: Erlang would start a mapper that outlives it.
        mapper = self._processes.spawn([program("epmd", "erlang-base"), "-address", "127.0.0.1", *self._mapper_port()])
        self._processes.wait(mapper, lambda: answers(self._mapper))
        self._processes.wait(self._processes.spawn([server], self._environment()), self._serves)

    def _serves(self) -> bool:
        """RabbitMQ listens before all of it has started."""
        with suppress(pika.exceptions.AMQPError, OSError):
            pika.BlockingConnection(pika.URLParameters(self.url)).close()
            return True
        return False

    def _mapper_port(self) -> list[str]:
        return ["-port", str(self._mapper)]

    def _environment(self) -> dict[str, str]:
        folder = self._folder
        (folder / "rabbitmq.conf").write_text(
            f"default_user = memsvc\ndefault_pass = {self.password}\ndisk_free_limit.absolute = 1MB\n"
            f"listeners.ssl.1 = 127.0.0.1:{self.tls_port}\nssl_options.cacertfile = {self.authority.file}\n"
            f"ssl_options.certfile = {self._pair.certificate}\nssl_options.keyfile = {self._pair.key}\n"
            "ssl_options.verify = verify_none\nssl_options.fail_if_no_peer_cert = false\n"
        )
        (folder / "plugins").write_text("[].\n")
        mine = {
            "HOME": folder,  # its cookie is written there
            "ERL_EPMD_PORT": self._mapper,
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODENAME": f"memsvc-{self.port}@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODE_PORT": self.port,
            "RABBITMQ_DIST_PORT": self._between_nodes,
            "RABBITMQ_MNESIA_BASE": folder / "mnesia",
            "RABBITMQ_LOG_BASE": folder / "log",
            "RABBITMQ_LOGS": "-",
            "RABBITMQ_PID_FILE": folder / "pid",
            "RABBITMQ_CONF_ENV_FILE": folder / "none",
            "RABBITMQ_CONFIG_FILE": folder / "rabbitmq",
            "RABBITMQ_ENABLED_PLUGINS_FILE": folder / "plugins",
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+S 1:1 -kernel inet_dist_use_interface {127,0,0,1}",
        }
        return {**os.environ, **{name: str(value) for name, value in mine.items()}}

    def kill(self) -> None:
        self._processes.kill()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()
