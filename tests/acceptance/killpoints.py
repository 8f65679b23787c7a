"""Kills real processes at chosen moments and brings them back: the harness behind "nothing accepted is ever lost".

A ``Rig`` is a private memsvc: a data folder and the parts started on it (``memsvc up``, ``ingest``, ``worker``
…). A test starts a part, waits for a *moment*, and ends a part with SIGKILL: nothing in it can clean up. Moments are

- named: ``wait_until(condition)``, for example until so many messages are stored;
- exact: ``rig.held("term_deltas")`` makes everybody who writes to a table wait, and tells when somebody does, so that
  the kill falls into the middle of that transaction;
- seeded: ``delays(seed, …)`` gives random but repeatable waits.

``assert_books_right`` is what must hold at the end, whatever was killed. Everything started is ended by its pid.
"""

from __future__ import annotations

import json
import os
import random
import re
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx
import psycopg
from psycopg import sql

from memsvc.server import embedded
from tests.acceptance.fork_server import INTERPRETERS_OWN, fork_server

MEMSVC = Path(sys.executable).with_name("memsvc")
PATIENCE_S = 180.0
"""How long a test waits before it fails: long, because others may use the machine too; nobody waits without need."""

DOUBLED = """
SELECT identifier, client_id, part, count(*) FROM memsvc.passages JOIN memsvc.sources USING (user_id, source_id)
WHERE client_id IS NOT NULL GROUP BY user_id, identifier, client_id, part HAVING count(*) > 1
"""
# Statistics that recall adds up (folded + not yet folded) beside what a count over the passages gives.
WRONG_SIZES = """
WITH booked AS (
  SELECT user_id, kind, form, sum(passages) AS passages, sum(length) AS length FROM (
    SELECT user_id, kind, form, passages, length FROM memsvc.corpora
    UNION ALL SELECT user_id, kind, form, passages, length FROM memsvc.term_deltas) AS b
  GROUP BY user_id, kind, form
), counted AS (
  SELECT user_id, kind, f.form, count(*) AS passages, sum(f.length) AS length
  FROM memsvc.passages AS p CROSS JOIN LATERAL (
    VALUES ('stemmed', p.length), ('simple', p.length_simple)) AS f (form, length)
  GROUP BY user_id, kind, f.form
)
SELECT b.user_id, b.kind, b.form, b.passages, c.passages, b.length, c.length
FROM booked AS b FULL JOIN counted AS c USING (user_id, kind, form)
WHERE (coalesce(b.passages, 0), coalesce(b.length, 0)) <> (coalesce(c.passages, 0), coalesce(c.length, 0))
"""
WRONG_TERMS = """
WITH booked AS (
  SELECT user_id, kind, form, term, sum(passages) AS passages FROM (
    SELECT user_id, kind, form, term, passages FROM memsvc.terms
    UNION ALL
    SELECT d.user_id, d.kind, d.form, u.term, u.change
    FROM memsvc.term_deltas AS d CROSS JOIN LATERAL unnest(d.terms, d.changes) AS u (term, change)) AS b
  GROUP BY user_id, kind, form, term
), counted AS (
  SELECT p.user_id, p.kind, f.form, t.term, count(*) AS passages
  FROM memsvc.passages AS p
  CROSS JOIN LATERAL (VALUES ('stemmed', p.tsv), ('simple', p.tsv_simple)) AS f (form, words)
  CROSS JOIN LATERAL unnest(tsvector_to_array(f.words)) AS t (term)
  GROUP BY p.user_id, p.kind, f.form, t.term
)
SELECT user_id, kind, form, term, b.passages, c.passages
FROM booked AS b FULL JOIN counted AS c USING (user_id, kind, form, term)
WHERE coalesce(b.passages, 0) <> coalesce(c.passages, 0)
LIMIT 5
"""
# What is stored without the job that will process it, or without the event that tells of it.
WITHOUT_JOB = """
SELECT s.identifier FROM memsvc.sources AS s
WHERE NOT EXISTS (SELECT FROM memsvc.jobs AS j WHERE j.user_id = s.user_id AND j.subject_id = s.source_id)
"""


def delays(seed: int, count: int, shortest: float, longest: float) -> list[float]:
    """Random waits in seconds, the same for the same seed."""
    chance = random.Random(seed)
    return [chance.uniform(shortest, longest) for _ in range(count)]


def free_port() -> int:
    """A TCP port on which nobody listens now.

    It lies below the ports that Linux gives to connections, so that none of them takes it while its server is down.
    """
    while True:
        port = 15_000 + secrets.randbelow(17_000)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def wait_until(condition: Callable[[], object], *, seconds: float = PATIENCE_S, pause: float = 0.01) -> None:
    """Return as soon as the condition holds.

    Raises:
        TimeoutError: it did not in time.
    """
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            message = f"not within {seconds} s"
            raise TimeoutError(message)
        time.sleep(pause)


def tree_of(pid: int) -> list[int]:
    """A process and everything that it started and that still runs, parents first."""
    parents: dict[int, int] = {}
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            parents[int(process.name)] = int((process / "stat").read_text().rsplit(")", 1)[1].split()[1])
    found = [pid]
    for parent in found:
        found += [child for child, above in parents.items() if above == parent]
    return found


@dataclass(frozen=True, slots=True)
class Part:
    """A process of a rig. It writes to files: a pipe that nobody reads would stop it when it is full."""

    process: subprocess.Popen[bytes]
    output: Path
    errors: Path

    def finish(self, timeout: float = PATIENCE_S) -> tuple[int, str, str]:
        """Wait for its end; exit code, standard output and standard error."""
        code = self.process.wait(timeout)
        return code, self.output.read_text(), self.errors.read_text()

    @property
    def running(self) -> bool:
        """False once it has ended."""
        return self.process.poll() is None

    def reaches(self, condition: Callable[[], object]) -> None:
        """Return as soon as the condition holds; fail with what was printed if the process ends before."""

        def reached() -> object:
            return condition() or not self.running

        wait_until(reached)
        assert condition(), self.finish()


def counted(output: str) -> dict[str, int]:
    """The numbers of messages in the output of ``memsvc ingest --json``."""
    told = json.loads(output)
    return {outcome: told[outcome] for outcome in ("created", "existing", "erased", "paused")}


class Rig:
    """A private memsvc on one data folder. Ends every process that it started when its block ends."""

    def __init__(self, data: Path, *, cwd: Path | None = None, **settings: str) -> None:
        """Name the folder; nothing runs yet.

        Args:
            data: the data folder.
            cwd: where parts run and their output is kept; beside the data folder when not given.
            **settings: further MEMSVC_ variables, in lower case.
        """
        self.data = data
        self.port = free_port()
        # The checkout is not the working folder: nobody's .env there may reach the tests.
        self.cwd = cwd or data.parent
        # No facts are read unless a test is about them: what reads them takes a second to load.
        # Tests share the machine: a worker with a lower priority would wait for all of them.
        mine = {"data_dir": str(data), "port": str(self.port), "extractor": "none", "worker_nice": "0", **settings}
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("MEMSVC_")},
            **{f"MEMSVC_{name.upper()}": value for name, value in mine.items()},
            "COLUMNS": "120",
        }
        self._started: list[Part] = []

    def __enter__(self) -> Self:
        """Nothing to do: parts are started by name."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End every part, then the server."""
        for part in self._started:
            self.kill(part)
        if self.data.exists():
            embedded.stop(self.data)

    # Parts

    def run(self, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
        """Run a command of memsvc to its end: a process that starts at once, see ``fork_server``."""
        environment = self._with(settings)
        own = {name: value for name, value in environment.items() if name.startswith(INTERPRETERS_OWN)}
        if any(os.environ.get(name) != value for name, value in own.items()):
            return self.run_anew(*arguments, **settings)
        return fork_server(MEMSVC).run(arguments, cwd=self.cwd, environment=environment, timeout=PATIENCE_S)

    def run_anew(self, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
        """Run a command of memsvc to its end, in a new interpreter."""
        return subprocess.run(
            [str(MEMSVC), *arguments],
            cwd=self.cwd,
            env=self._with(settings),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=PATIENCE_S,
            check=False,
        )

    def ok(self, *arguments: str, **settings: str) -> str:
        """Run a command that must succeed; what it printed."""
        done = self.run(*arguments, **settings)
        assert done.returncode == 0, (arguments, done)
        return done.stdout

    def start(self, *arguments: str, **settings: str) -> Part:
        """Start a command of memsvc, as a process tree of its own."""
        return self._spawn([str(MEMSVC), *arguments], settings)

    def start_worker(self, **settings: str) -> Part:
        """Start ``memsvc worker`` on the rig's database, which must be running."""
        return self.start("worker", database_url=self.admin_url(), **settings)

    def serve(self, command: str = "up") -> Part:
        """Start the API and wait until it is healthy."""
        part = self.start(command)
        self.wait_healthy(part)
        return part

    def wait_healthy(self, part: Part) -> None:
        """Return when the API answers 200 on /health; fail when it ends instead."""

        def healthy() -> bool:
            assert part.running, part.finish()
            with suppress(httpx.TransportError):
                return httpx.get(f"{self.url}/health", timeout=5).status_code == 200
            return False

        wait_until(healthy, pause=0.05)

    @property
    def url(self) -> str:
        """Where the API listens."""
        return f"http://127.0.0.1:{self.port}"

    def _spawn(self, command: Sequence[str], settings: dict[str, str]) -> Part:
        files = [self.cwd / f"part-{len(self._started)}.{kind}" for kind in ("out", "err")]
        with files[0].open("wb") as output, files[1].open("wb") as errors:
            process = subprocess.Popen(
                command,
                cwd=self.cwd,
                env=self._with(settings),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                start_new_session=True,
            )
        part = Part(process, *files)
        self._started.append(part)
        return part

    def _with(self, settings: dict[str, str]) -> dict[str, str]:
        return {**self.environment, **{f"MEMSVC_{name.upper()}": value for name, value in settings.items()}}

    @property
    def parts(self) -> list[Part]:
        """All that was started, in its order."""
        return list(self._started)

    # Kills

    def kill(self, part: Part) -> None:
        """End a part and all that it started with SIGKILL; no effect on one that has ended."""
        if part.running:
            for pid in tree_of(part.process.pid):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            part.process.wait(PATIENCE_S)

    def kill_database(self) -> None:
        """End the postmaster and then all of its children with SIGKILL, as a machine does that runs out of memory."""
        postmaster = int((self.data / "pg" / "postmaster.pid").read_text().split()[0])
        victims = embedded._processes(self.data)
        assert postmaster in victims
        for pid in [postmaster, *victims]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not embedded._processes(self.data))

    def revive_database(self) -> None:
        """Bring a killed server back, the way in which a person would: any command starts it where it does not run.

        It stays up afterwards as long as another part (``up``) uses it.
        """
        self.ok("jobs", "run")

    # Looking at it

    def admin_url(self) -> str:
        """The administrator's URL of the running database, as ``MEMSVC_DATABASE_URL`` wants it."""
        server = embedded._probe(self.data)
        assert isinstance(server, embedded.Server), server
        return server.conninfo(database="memsvc")

    @contextmanager
    def admin(self) -> Iterator[psycopg.Connection]:
        """The administrator's connection, outside of transactions; the server runs at least as long."""
        with embedded.running(self.data) as server:
            connection = psycopg.connect(server.conninfo(database="memsvc"), autocommit=True)
            try:
                yield connection
            finally:
                connection.close()

    @contextmanager
    def held(self, table: str) -> Iterator[Callable[[], bool]]:
        """Let nobody write to a table while the block runs; what it gives tells whether somebody waits for that.

        Who waits is in the middle of a transaction, with everything before that table written and nothing committed.
        """
        with self.admin() as holder, self.admin() as watcher:
            holder.execute("BEGIN")
            holder.execute(sql.SQL("LOCK TABLE memsvc.{} IN SHARE MODE").format(sql.Identifier(table)))
            pid = holder.info.backend_pid

            def somebody_waits() -> bool:
                query = "SELECT FROM pg_stat_activity WHERE %s = ANY (pg_blocking_pids(pid))"
                return watcher.execute(query, [pid]).fetchone() is not None

            yield somebody_waits  # closing the connection lets everybody go on

    def wait_for_backends(self, connection: psycopg.Connection) -> None:
        """Return when no process of ours has a connection any more: what was not committed is rolled back then."""
        query = "SELECT FROM pg_stat_activity WHERE usename = 'memsvc_app'"
        wait_until(lambda: connection.execute(query).fetchone() is None)

    @staticmethod
    def stored(connection: psycopg.Connection, conversation: str) -> int:
        """How many parts of messages a conversation has."""
        row = connection.execute(
            "SELECT count(*) FROM memsvc.passages JOIN memsvc.sources USING (user_id, source_id) WHERE identifier = %s",
            [conversation],
        ).fetchone()
        return int(row[0]) if row else 0

    @staticmethod
    def texts(connection: psycopg.Connection, conversation: str) -> dict[str, str]:
        """The messages of a conversation by client id or place, whole; nothing may be there twice."""
        rows: list[tuple[str, str]] = connection.execute(
            "SELECT coalesce(client_id, session || '/' || ordinal), string_agg(text, '' ORDER BY part) "
            "FROM memsvc.passages JOIN memsvc.sources USING (user_id, source_id) WHERE identifier = %s "
            "GROUP BY user_id, session, ordinal, client_id",
            [conversation],
        ).fetchall()
        found = dict(rows)
        assert len(found) == len(rows), "a message is there twice"
        return found


def assert_books_right(connection: psycopg.Connection) -> None:
    """What holds after any kill: nothing twice, statistics that a recount confirms, no text without its job."""
    checks: dict[str, Any] = {
        "doubled": DOUBLED, "sizes": WRONG_SIZES, "terms": WRONG_TERMS, "without a job": WITHOUT_JOB
    }  # fmt: skip
    wrong = {name: rows for name, query in checks.items() if (rows := connection.execute(query).fetchall())}
    assert not wrong


def assert_no_job_waits(connection: psycopg.Connection) -> None:
    """What holds after ``memsvc jobs run``: everything is done."""
    states = connection.execute("SELECT state, count(*) FROM memsvc.jobs GROUP BY state").fetchall()
    assert [state for state, _ in states] == ["done"], states
    assert connection.execute("SELECT count(*) FROM memsvc.term_deltas").fetchone() == (0,)


def refused(rig: Rig, code: int, says: str, *arguments: str, **settings: str) -> str:
    """Run a command that must fail with this exit code and message, without a traceback; its standard error."""
    done = rig.run(*arguments, **settings)
    assert done.returncode == code, done
    assert re.search(says, done.stderr), done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    return done.stderr
