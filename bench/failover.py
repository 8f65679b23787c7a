"""``python -m bench.failover``: what a failover loses and how long it takes, ten times under load, in two ways.

A primary and its streaming standby run on this machine, with a delay between them as on a network. Writers store
messages by a real ``memsvc api``, each with an idempotency key, and send again what was not acknowledged. Then the
primary is killed (SIGKILL, with all that was on its way), the standby is promoted at once, and the killed server comes
back as the new one's standby. Synchronous replication must lose nothing of what was acknowledged; what asynchronous
replication loses is counted. Whoever notices the primary's death (Patroni, a person) adds their own time.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import os
import queue
import shutil
import socket
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import msgspec
import psycopg

from bench.harness import DURABLE, Bench, Outcome, _facts, figures_table, progress, report, run
from bench.metrics import percentile
from bench.processes import HOST, api
from memsvc.access.keys import create_key
from memsvc.access.users import add_user, app_id
from memsvc.errors import ConfigurationError
from memsvc.server import embedded
from memsvc.server.upgrade import upgrade
from memsvc.settings import Settings
from tests.standbys import kill, make_standby, promote

WRITERS, LOADED_S, PAUSE_S, PATIENCE_S = 8, 1.5, 0.02, 60.0
DATABASE, STANDBY = "memsvc", "standby"
BARS = {"lost_synchronous": "0", "doubled": "0", "write_again.p95_s": "<= 10"}
CAUGHT_UP = """
SELECT count(*) FROM pg_stat_replication
WHERE application_name = 'standby' AND sync_state = %s AND state = 'streaming' AND replay_lsn >= %s::pg_lsn
"""
STORED = "SELECT text, count(*) FROM memsvc.passages GROUP BY text"


class Link:
    """The network between two servers: what goes through arrives later, and is lost when the link is cut."""

    def __init__(self, target: Path, delay_s: float) -> None:
        """Listen.

        Args:
            target: the socket of the server behind it.
            delay_s: one way.
        """
        self._target, self._delay_s, self._alive = target, delay_s, True
        self._open: list[socket.socket] = []
        self._door = socket.create_server((HOST, 0))
        self.port: int = self._door.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near = self._door.accept()[0]
                near.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                far = socket.socket(socket.AF_UNIX)
                self._open += [near, far]
                try:
                    far.connect(str(self._target))
                except OSError:
                    near.close()
                    continue
                for source, sink in ((near, far), (far, near)):
                    under_way: queue.SimpleQueue[tuple[float, bytes]] = queue.SimpleQueue()
                    threading.Thread(target=self._take, args=(source, under_way), daemon=True).start()
                    threading.Thread(target=self._bring, args=(sink, under_way), daemon=True).start()

    def _take(self, source: socket.socket, under_way: queue.SimpleQueue[tuple[float, bytes]]) -> None:
        data = b"-"
        while data:
            try:
                data = source.recv(1 << 16)
            except OSError:
                data = b""
            under_way.put((time.monotonic() + self._delay_s, data))

    def _bring(self, sink: socket.socket, under_way: queue.SimpleQueue[tuple[float, bytes]]) -> None:
        with suppress(OSError):
            while True:
                due, data = under_way.get()
                time.sleep(max(0.0, due - time.monotonic()))
                if not data or not self._alive:
                    break
                sink.sendall(data)
        with suppress(OSError):
            sink.shutdown(socket.SHUT_RDWR)

    def cut(self) -> None:
        """Lose what is under way, and let nothing through any more."""
        self._alive = False
        for each in (self._door, *self._open):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()


@dataclass(slots=True)
class Writers:
    """Clients that store messages one after another, each until it is acknowledged."""

    port: int
    key: str
    prefix: str
    acknowledged: list[tuple[str, float, float]] = field(default_factory=list)
    """The text, when its last request was sent, and when that was acknowledged."""
    refused: Counter[str] = field(default_factory=Counter)
    """What else was answered, by code."""
    over: threading.Event = field(default_factory=threading.Event)

    def write(self, number: int) -> None:
        """Work until it is over."""
        connection = http.client.HTTPConnection(HOST, self.port, timeout=PATIENCE_S)
        count = 0
        while not self.over.is_set():
            text = f"{self.prefix} {number} {count}"
            body = msgspec.json.encode({"conversation": f"{self.prefix} {number}", "speaker": "Ada", "text": text})
            headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
            sent = time.monotonic()
            try:
                connection.request("POST", "/v1/messages", body, headers | {"Idempotency-Key": text.replace(" ", "-")})
                response = connection.getresponse()
                said = response.read()
            except (OSError, http.client.HTTPException) as error:
                self.refused[type(error).__name__] += 1
                connection.close()
                time.sleep(PAUSE_S)
                continue
            if response.status < http.client.MULTIPLE_CHOICES:
                self.acknowledged.append((text, sent, time.monotonic()))
                count += 1
            else:
                with suppress(msgspec.DecodeError):
                    said = msgspec.json.decode(said)["code"]
                self.refused[str(said)] += 1
                time.sleep(PAUSE_S)
        connection.close()

    @contextmanager
    def working(self) -> Iterator[None]:
        """They write while the block runs."""
        threads = [threading.Thread(target=self.write, args=(number,)) for number in range(WRITERS)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self.over.set()
            for thread in threads:
                thread.join(PATIENCE_S)


class Pair:
    """Two servers; one is the primary, and the other one its standby."""

    def __init__(self, top: Path, delay_s: float) -> None:
        """Start the first one, without a standby."""
        self._delay_s = delay_s
        self.primary, self.standby = top / "one", top / "two"
        self._open: dict[Path, ExitStack] = {}
        self._links: list[Link] = []
        self._start(self.primary)

    def _start(self, folder: Path) -> embedded.Server:
        stack = self._open[folder] = ExitStack()
        return stack.enter_context(embedded.running(folder, options=DURABLE))

    def server(self, folder: Path) -> embedded.Server:
        """The running server of a folder."""
        with embedded.running(folder) as server:
            return server

    def url(self, folder: Path) -> str:
        """The administrator's URL of the database there."""
        return self.server(folder).conninfo(database=DATABASE)

    def attach(self, *, synchronous: bool) -> None:
        """Make the other folder a standby of the primary, anew; returns when it has caught up."""
        self.set("synchronous_standby_names", "")
        shutil.rmtree(self.standby, ignore_errors=True)
        make_standby(self.primary, self.standby, STANDBY)
        server = self.server(self.primary)
        link = Link(server.socket_dir / f".s.PGSQL.{server.port}", self._delay_s)
        self._links.append(link)
        login = f"user={server.superuser} password={server.password} sslmode=disable application_name={STANDBY}"
        through = f"host={HOST} port={link.port} {login}"
        with (self.standby / "pg" / "postgresql.auto.conf").open("a") as settings:
            settings.write(f"primary_conninfo = '{through}'\nsynchronous_standby_names = ''\n")
        self._start(self.standby)
        if synchronous:
            self.set("synchronous_standby_names", STANDBY)
        with psycopg.connect(self.url(self.primary), autocommit=True) as admin:
            reached = admin.execute("SELECT pg_current_wal_lsn()::text").fetchone()
            state = "sync" if synchronous else "async"
            wait_until(lambda: admin.execute(CAUGHT_UP, [state, *(reached or ())]).fetchone() == (1,), "a standby")

    def set(self, name: str, value: str) -> None:
        """Change a setting of the primary."""
        with psycopg.connect(self.url(self.primary), autocommit=True) as admin:
            admin.execute(f"ALTER SYSTEM SET {name} = '{value}'".encode())
            admin.execute("SELECT pg_reload_conf()")

    def fail_over(self) -> None:
        """Kill the primary and promote its standby."""
        for link in self._links:
            link.cut()
        self._links.clear()
        kill(self.primary)
        promote(self.standby)

    def swap(self) -> None:
        """Call the promoted server the primary; the killed one is gone for good."""
        self._open.pop(self.primary).close()
        self.primary, self.standby = self.standby, self.primary

    def close(self) -> None:
        """Stop both."""
        for stack in self._open.values():
            stack.close()
        for link in self._links:
            link.cut()


def wait_until(condition: Callable[[], bool], what: str) -> None:
    """Return when the condition holds.

    Raises:
        ConfigurationError: it did not within a minute.
    """
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > deadline:
            raise ConfigurationError(f"In vain: {what}.")
        time.sleep(PAUSE_S)


def both(pair: Pair) -> str:
    """A URL that finds whichever of the two takes writes."""
    url = pair.url(pair.primary)
    asked = parse_qs(urlsplit(url).query)
    hosts = f"{pair.primary}/run,{pair.standby}/run"
    if asked["host"] != [f"{pair.primary}/run"]:
        raise ConfigurationError("The folder's path is too long for a socket.", hint="Set TMPDIR to a shorter one.")
    ports = ",".join(asked["port"] * 2)
    return f"{url.partition('?')[0]}?host={hosts}&port={ports}&target_session_attrs=read-write"


@dataclass(slots=True)
class Found:
    """What some failovers cost."""

    acknowledged: int = 0
    lost: int = 0
    doubled: int = 0
    again: list[float] = field(default_factory=list)
    """Seconds from the kill until a request that was sent after it is acknowledged."""
    refused: Counter[str] = field(default_factory=Counter)


def fail_often(pair: Pair, writers: Writers, times: int, *, synchronous: bool) -> Found:
    """Fail over some times under load."""
    found = Found()
    way = "synchronous" if synchronous else "asynchronous"
    with progress(way, times) as done, writers.working():
        for _ in range(times):
            pair.attach(synchronous=synchronous)
            time.sleep(LOADED_S)
            killed = time.monotonic()
            pair.fail_over()
            wait_until(
                lambda killed=killed: any(sent > killed for _, sent, _ in writers.acknowledged[-WRITERS:]),  # type: ignore[misc]
                "a write after a failover",
            )
            found.again.append(min(at for _, sent, at in writers.acknowledged if sent > killed) - killed)
            pair.swap()
            done(1)
    with psycopg.connect(pair.url(pair.primary)) as admin:
        stored: dict[str, int] = dict(admin.execute(STORED).fetchall())
    texts = [text for text, _, _ in writers.acknowledged]
    found.acknowledged, found.refused = len(texts), writers.refused
    found.lost = sum(text not in stored for text in texts)
    found.doubled = sum(stored.get(text, 0) > 1 for text in texts)
    return found


async def new_key(bench: Bench) -> str:
    """A user's key."""
    db = bench.connect()
    try:
        app = await app_id(db, "bench")
        owner = (await add_user(db, app, name="Ada", external_id="ada")).owner
        return await create_key(db, app, user_id=owner.user_id)
    finally:
        await db.close()


def main() -> None:
    """Measure, and write the result."""
    parser = argparse.ArgumentParser(description="What failovers lose, and how long they take.")
    parser.add_argument("--runs", type=int, default=10, help="failovers for each way of replication")
    parser.add_argument("--delay-ms", type=float, default=5.0, help="between the servers, one way")
    given = parser.parse_args()
    top = Path(tempfile.mkdtemp(prefix="memsvc-bench-", dir="/tmp"))  # a short path, for sockets
    top.chmod(0o755)
    outcome = Outcome("failover", bars=BARS)
    try:
        with ExitStack() as stack:
            (top / "data").mkdir()
            pair = Pair(top, given.delay_ms / 1_000)
            stack.callback(pair.close)
            with psycopg.connect(
                pair.url(pair.primary).replace(f"/{DATABASE}?", "/postgres?"), autocommit=True
            ) as admin:
                admin.execute(f"CREATE DATABASE {DATABASE} TEMPLATE template0".encode())
            chosen = {"data_dir": top / "data", "database_url": both(pair), "embedding_model": ""}
            settings = Settings.model_validate(chosen)
            upgrade(pair.url(pair.primary), settings)
            facts = {**_facts(pair.url(pair.primary), settings), "load": f"{os.getloadavg()[0]:.1f}"}
            bench = Bench(both(pair), settings, facts)
            key = asyncio.run(new_key(bench))
            serving = stack.enter_context(api(bench, extractor="none", embedding_model=""))
            found = {}
            for way in ("synchronous", "asynchronous"):
                writers = Writers(serving.port, key, way)
                found[way] = fail_often(pair, writers, given.runs, synchronous=way == "synchronous")
            again = [seconds for each in found.values() for seconds in each.again]
            outcome.figures = {
                "lost_synchronous": found["synchronous"].lost,
                "lost_asynchronous": found["asynchronous"].lost,
                "acknowledged_synchronous": found["synchronous"].acknowledged,
                "acknowledged_asynchronous": found["asynchronous"].acknowledged,
                "doubled": sum(each.doubled for each in found.values()),
                "write_again.p50_s": percentile(again, 0.5),
                "write_again.p95_s": percentile(again, 0.95),
                "write_again.max_s": max(again),
                "runs": given.runs,
            }
            outcome.configuration = {
                "writers": WRITERS,
                "delay_ms": given.delay_ms,
                "refused": {way: dict(each.refused) for way, each in found.items()},
            }
            figures_table("Failover", outcome, ("",))
            report(outcome, bench)
    finally:
        shutil.rmtree(top, ignore_errors=True)


if __name__ == "__main__":
    run(main)
