"""Processes of memsvc beside a bench: the API on real HTTP, a worker, and whatever else listens on a port."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from bench.harness import Bench
from memsvc.errors import ConfigurationError
from memsvc.settings.secrets import SECRET_NAMES

HOST = "127.0.0.1"
START_S, END_S, LOOK_S = 120.0, 20.0, 0.05
PARENT, TIMES = 1, slice(11, 15)
"""Places in /proc/PID/stat behind the name: the parent's id; ticks of the user and the system, own and of children."""


@dataclass(frozen=True, slots=True)
class Serving:
    """A process that listens."""

    pid: int
    port: int

    @property
    def resident_mb(self) -> float:
        """Memory of the process that is really there, in MB."""
        status = Path(f"/proc/{self.pid}/status").read_text(encoding="utf-8")
        return int(next(line for line in status.splitlines() if line.startswith("VmRSS:")).split()[1]) / 1_000


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat behind the process's name; empty: it has ended."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return []


def processor_s(pids: Iterable[int]) -> float:
    """Seconds of a processor that processes of this machine had, with those of their children that have ended."""
    fields = [int(field) for pid in pids for field in _stat(pid)[TIMES]]
    return sum(fields) / os.sysconf("SC_CLK_TCK")


def server_pids(bench: Bench) -> set[int]:
    """The processes of the database's server, where that is one of this machine."""
    if bench.facts["server"] != "embedded":
        return set()
    with bench.admin() as admin:
        children = [pid for (pid,) in admin.execute("SELECT pid FROM pg_stat_activity")]
    return {*children, *(int(stat[PARENT]) for stat in map(_stat, children) if stat)}


def environment(bench: Bench, **settings: str) -> dict[str, str]:
    """What a process of memsvc is given: this database, and nothing of the shell's own MEMSVC_ variables.

    Args:
        bench: its database.
        **settings: further MEMSVC_ variables, in lower case.
    """
    mine = {"data_dir": str(bench.settings.data_dir), "database_url": bench.admin_url, "log_level": "warning"}
    mine |= {name: bench.settings.secret(name) for name in SECRET_NAMES}
    others = {name: value for name, value in os.environ.items() if not name.startswith("MEMSVC_")}
    return others | {f"MEMSVC_{name.upper()}": value for name, value in {**mine, **settings}.items()}


@contextmanager
def process(command: Sequence[str], environ: dict[str, str], folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process while the block runs; ended by SIGKILL where it does not end by itself."""
    running = subprocess.Popen(
        command, env=environ, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        yield running
    finally:
        running.terminate()
        try:
            running.wait(END_S)
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait()


def free_port() -> int:
    """A port on which nobody listens now."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def listening(command: Sequence[str], environ: dict[str, str], folder: Path, port: int) -> Iterator[Serving]:
    """A process from the moment when it listens on its port.

    Raises:
        ConfigurationError: it ended, or does not listen in time.
    """
    with process(command, environ, folder) as running:
        until = time.monotonic() + START_S
        while True:
            with suppress(OSError), socket.create_connection((HOST, port), timeout=1):
                break
            if running.poll() is not None or time.monotonic() > until:
                raise ConfigurationError(f"'{' '.join(command[1:4])}' does not listen.")
            time.sleep(LOOK_S)
        yield Serving(running.pid, port)


@contextmanager
def worker(bench: Bench, **settings: str) -> Iterator[subprocess.Popen[bytes]]:
    """A worker while the block runs; without an extractor nothing is read for facts.

    Args:
        bench: its database.
        **settings: further MEMSVC_ variables, in lower case.
    """
    environ = environment(bench, **{"extractor": "none", **settings})
    with process([sys.executable, "-m", "memsvc.cli", "worker"], environ, bench.settings.data_dir) as running:
        yield running


@contextmanager
def api(bench: Bench, **settings: str) -> Iterator[Serving]:
    """``memsvc api`` on a free port while the block runs; its log goes nowhere.

    Args:
        bench: its database.
        **settings: further MEMSVC_ variables, in lower case.
    """
    port = free_port()
    command = [sys.executable, "-m", "memsvc.cli", "api", "--port", str(port)]
    with listening(command, environment(bench, **settings), bench.settings.data_dir, port) as serving:
        yield serving
