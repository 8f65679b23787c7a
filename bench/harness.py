"""What all benches share: a database with production settings, progress, and one language for results.

``database()`` gives a fresh memsvc database: on an embedded server in a temporary folder that is removed afterwards, or
on the server that ``MEMSVC_BENCH_DATABASE_URL`` names (an administrator's URL; a database of our own is made there and
dropped). ``report()`` writes ``bench/results/NAME[-SET].json`` and prints the last line: ``RESULT`` and the figures.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import psycopg
from psycopg import sql
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from sqlalchemy import make_url

import memsvc
from memsvc.db.engine import Database, role_url
from memsvc.errors import ConfigurationError, MemsvcError
from memsvc.server import embedded
from memsvc.server.upgrade import upgrade
from memsvc.settings import Settings
from memsvc.settings.secrets import SECRET_NAMES

REPOSITORY = Path(__file__).resolve().parent.parent
RESULTS = REPOSITORY / "bench" / "results"
URL_VARIABLE = "MEMSVC_BENCH_DATABASE_URL"
DATA_VARIABLE = "BENCH_DATA"
ROLE = "memsvc_app"
# Durability as in production: a figure without it is worth nothing.
DURABLE = {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on"}
SHOWN = ("shared_buffers", "huge_pages_status", "max_wal_size", "jit", "plan_cache_mode", "server_version")


@dataclass(frozen=True, slots=True)
class Bench:
    """A database under test."""

    admin_url: str
    settings: Settings
    facts: Mapping[str, str]
    """Server settings as the application's role sees them, and versions."""

    def connect(self, *, pool_size: int | None = None) -> Database:
        """The database as the service sees it: login memsvc_app, row security on."""
        url = role_url(self.admin_url, ROLE, self.settings.secret("app_password"))
        return Database(url, self.settings, pool_size=pool_size)

    def admin(self) -> psycopg.Connection:
        """An administrator's connection outside a transaction; for sizes and vacuum, never for what is measured."""
        return psycopg.connect(self.admin_url, autocommit=True)


@dataclass(slots=True)
class Outcome:
    """What a bench found."""

    name: str
    figures: dict[str, float | int] = field(default_factory=dict)
    configuration: dict[str, object] = field(default_factory=dict)
    bars: dict[str, str] = field(default_factory=dict)
    """What a figure should be, for people: {"write.p50_ms": "<= 8"}."""
    data_set: str | None = None


def data_folder(name: str) -> Path:
    """The folder of one data set below ``BENCH_DATA``.

    Raises:
        ConfigurationError: it is not there.
    """
    top = Path(os.environ.get(DATA_VARIABLE) or REPOSITORY.parent / "shared" / "bench")
    if not (top / name).is_dir():
        raise ConfigurationError(
            f"The bench data {name!r} is not in {top}.",
            hint=f"Set {DATA_VARIABLE} to the folder that holds the sets (locomo, madial, beam-100k).",
        )
    return top / name


@contextlib.contextmanager
def database(options: Mapping[str, str] | None = None, **chosen: object) -> Iterator[Bench]:
    """A fresh database at head with durable commits; nothing of it is left behind.

    Args:
        options: settings that the embedded server starts with; a server that is given keeps its own.
        chosen: settings of memsvc that are not the benches' own.

    Raises:
        ConfigurationError: commits on this server are not durable.
        MemsvcError: whatever keeps a server from starting or being upgraded.
    """
    folder = Path(tempfile.mkdtemp(prefix="memsvc-bench-"))
    folder.chmod(0o755)  # the server's unprivileged user must reach its data
    given = os.environ.get(URL_VARIABLE)
    name = f"memsvc_bench_{os.getpid()}"
    try:
        with contextlib.ExitStack() as stack:
            base = given or stack.enter_context(embedded.running(folder, options=options)).conninfo()
            _execute(base, sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(sql.Identifier(name)))
            stack.callback(_execute, base, sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))
            admin_url = make_url(base).set(database=name).render_as_string(hide_password=False)
            # Only secrets come from the environment: other settings would make figures that nobody else gets.
            secrets = {
                key: value for key in SECRET_NAMES if given and (value := os.environ.get(f"MEMSVC_{key.upper()}"))
            }
            settings = Settings.model_validate(
                {"data_dir": folder, "database_url": admin_url, "record_recalls": False, **secrets, **chosen}
            )
            upgrade(admin_url, settings)
            facts = _facts(admin_url, settings)
            facts["server"] = "given" if given else "embedded"
            facts["load"] = f"{os.getloadavg()[0]:.1f}"  # of the minute before: times count from an idle machine alone
            if not given:
                facts["filesystem"] = _filesystem(folder)
            yield Bench(admin_url, settings, facts)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def beside(bench: Bench, **chosen: object) -> Iterator[Bench]:
    """Another fresh database on the same server, with the same secrets; for what is measured with and without.

    Args:
        bench: the first one.
        chosen: settings of memsvc in which it differs.
    """
    name = f"{make_url(bench.admin_url).database}_beside"
    admin_url = make_url(bench.admin_url).set(database=name).render_as_string(hide_password=False)
    _execute(bench.admin_url, sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(sql.Identifier(name)))
    try:
        settings = Settings.model_validate({**bench.settings.model_dump(), "database_url": admin_url, **chosen})
        upgrade(admin_url, settings)
        yield Bench(admin_url, settings, bench.facts)
    finally:
        _execute(bench.admin_url, sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def _execute(url: str, statement: sql.Composed) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement)


def _facts(admin_url: str, settings: Settings) -> dict[str, str]:
    """Settings and versions that the application's own login meets."""
    url = role_url(admin_url, ROLE, settings.secret("app_password")).set(drivername="postgresql")
    with psycopg.connect(url.render_as_string(hide_password=False)) as connection:
        row = connection.execute(
            "SELECT array_agg(current_setting(s.name)), current_user, "
            "(SELECT e.extversion FROM pg_extension AS e WHERE e.extname = 'vector') "
            "FROM unnest(%s::text[]) AS s (name)",
            ([*DURABLE, *SHOWN],),
        ).fetchone()
    if row is None or row[1] != ROLE:
        raise ConfigurationError(f"The benches measure as {ROLE}.")
    facts = dict(zip([*DURABLE, *SHOWN], row[0], strict=True))
    for setting, wanted in DURABLE.items():
        if facts[setting] != wanted:
            raise ConfigurationError(
                f"{setting} is {facts[setting]} on this server.", hint=f"Figures count with {setting} = {wanted} only."
            )
    return {**facts, "role": ROLE, "pgvector": row[2]}


def _filesystem(folder: Path) -> str:
    """Type of the file system that holds a folder (on tmpfs, fsync costs nothing)."""
    with contextlib.suppress(OSError):
        mounts = [line.split() for line in Path("/proc/mounts").read_text(encoding="utf-8").splitlines()]
        holding = [mount for mount in mounts if folder.resolve().is_relative_to(mount[1])]
        if holding:
            return max(holding, key=lambda mount: len(mount[1]))[2]
    return "unknown"


def _commit() -> str:
    """The commit that is checked out, with "+dirty" where the tree differs from it (results aside)."""
    git = ["git", "--no-optional-locks", "-C", str(REPOSITORY)]
    try:
        head = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
        changed = subprocess.run(
            [*git, "status", "--porcelain", "--", ".", ":(exclude)bench/results"],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return head.stdout.strip() + ("+dirty" if changed.stdout.strip() else "")


def report(outcome: Outcome, bench: Bench | None = None) -> None:
    """Write the result file and print the figures; the ``RESULT`` line comes last. Without a bench: of no database."""
    facts = dict(bench.facts) if bench is not None else {}
    figures = {key: round(value, 4) for key, value in outcome.figures.items()}
    document = {
        "bench": outcome.name,
        "set": outcome.data_set,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _commit(),
        "versions": {
            "memsvc": memsvc.__version__,
            "python": platform.python_version(),
            "postgres": facts.pop("server_version", None),
            "pgvector": facts.pop("pgvector", None),
        },
        "role": facts.pop("role", None),
        "fsync": facts.pop("fsync", None),
        "synchronous_commit": facts.pop("synchronous_commit", None),
        "cpus": len(os.sched_getaffinity(0)),
        "machine": platform.machine(),
        "configuration": {**facts, **outcome.configuration},
        "bars": outcome.bars,
        "figures": figures,
    }
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / (outcome.name + (f"-{outcome.data_set}" if outcome.data_set else "") + ".json")
    path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"\nwritten to {path.relative_to(REPOSITORY)}")
    print("RESULT " + json.dumps(figures), flush=True)


def table(title: str, rows: list[list[str]]) -> None:
    """Print rows of cells under a title, the first row as head; columns after the first are flush right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    print(f"\n{title}")
    for number, row in enumerate(rows):
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        print("  " + "  ".join(cells).rstrip())
        if number == 0:
            print("  " + "  ".join("-" * width for width in widths))


def figures_table(title: str, outcome: Outcome, prefixes: tuple[str, ...]) -> None:
    """Print figures under these prefixes beside their bars."""
    rows = [["figure", "measured", "bar"]]
    rows += [
        [key, f"{value:,.3f}" if abs(value) < 100 else f"{value:,.0f}", outcome.bars.get(key, "")]
        for key, value in outcome.figures.items()
        if key.startswith(prefixes)
    ]
    table(title, rows)


@contextlib.contextmanager
def progress(label: str, total: int) -> Iterator[Callable[[int], None]]:
    """A bar on a terminal's stderr, silence elsewhere; call what it yields with the number of things done."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(label, total=total)
        yield lambda done: bar.update(task, advance=done)


def run(bench: Callable[[], None]) -> None:
    """Run a bench as a command: errors of memsvc become a message and an exit code, and a signal ends it cleanly."""
    signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(128 + number))
    try:
        bench()
    except MemsvcError as error:
        print(f"{error.message}\n{error.advice}".strip(), file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)
