"""One real PostgreSQL for the whole run, one cloned database per worker, one fresh user per test.

``MEMSVC_TEST_SERVER=full`` runs the same tests on the full server of ``ops/postgres`` instead of the embedded one, and
``MEMSVC_TEST_DATABASE_URL`` (an administrator's URL) on any other; its databases named ``memsvc_test_*`` are dropped
and made again. Tests of the embedded server itself, and of commands that start it, are the same everywhere, and so are
those that touch no database: ``--on-the-server`` leaves out what does not work on the server under test. Which tests do
is no list that somebody keeps: they ask for the fixture ``cluster``, themselves or by another fixture.
"""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import os
import shutil
import signal
import tempfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import hypothesis
import psycopg
import pytest
from psycopg import sql
from sqlalchemy import make_url

from memsvc.access.users import Owner, add_user, app_id
from memsvc.db.engine import Database, role_url
from memsvc.recall.results import Memory
from memsvc.recall.search import recall
from memsvc.server import embedded
from memsvc.server.upgrade import upgrade
from memsvc.settings import Settings
from ops.postgres import server as full_server

FOLDER_VARIABLE = "MEMSVC_TEST_FOLDER"
SERVER = os.environ.get("MEMSVC_TEST_SERVER", "embedded")
collect_ignore = [] if SERVER == "full" else ["full", "cypher"]  # what only the full server has
TEMPLATE = "memsvc_test_template"
FAST = {
    "fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "max_connections": "120",
    "shared_buffers": "256MB",
}  # fmt: skip
_numbers = itertools.count()

# Other examples in each run, in CI too; how long one takes depends on who else works on the machine.
hypothesis.settings.register_profile("memsvc", derandomize=False, deadline=None, print_blob=True)
hypothesis.settings.load_profile("memsvc")


def pytest_addoption(parser: pytest.Parser) -> None:
    """CI runs all tests on the embedded server, and then with this option on the full one."""
    parser.addoption("--on-the-server", action="store_true", help="only tests that work on the server under test")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is the same whatever the server; ``tests/full`` starts full servers of its own."""
    if config.getoption("--on-the-server"):
        chosen = [item for item in items if works_on_the_server(item)]
        config.hook.pytest_deselected(items=[item for item in items if item not in set(chosen)])
        items[:] = chosen


def works_on_the_server(item: pytest.Item) -> bool:
    """True for a test whose outcome may depend on which server is under test."""
    return "cluster" in getattr(item, "fixturenames", ()) or item.path.is_relative_to(Path(__file__).parent / "full")


def pytest_configure(config: pytest.Config) -> None:
    """The controlling process makes the folder that all workers share; nobody's MEMSVC_ settings reach a test."""
    # A shell lets what it starts in the background ignore Ctrl-C, and so would everything that tests start.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if not hasattr(config, "workerinput"):
        for name in [name for name in os.environ if name.startswith("MEMSVC_") and not name.startswith("MEMSVC_TEST_")]:
            del os.environ[name]
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # each of hundreds of processes would compile memsvc again
        folder = Path(tempfile.mkdtemp(prefix="memsvc-test-"))
        folder.chmod(0o755)  # the server's unprivileged user must reach its data
        os.environ[FOLDER_VARIABLE] = str(folder)


def pytest_unconfigure(config: pytest.Config) -> None:
    """The controlling process clears up after the last worker."""
    if not hasattr(config, "workerinput"):
        folder = Path(os.environ.pop(FOLDER_VARIABLE))
        with contextlib.suppress(Exception):
            embedded.stop(folder)
        with contextlib.suppress(Exception):
            full_server.stop(folder / "full")
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def folder() -> Path:
    """The folder of this run; the unprivileged user of the server may enter it."""
    return Path(os.environ[FOLDER_VARIABLE])


@dataclass(frozen=True, slots=True)
class Cluster:
    """The server under test, by its administrator's URL."""

    base_url: str

    def admin_url(self, database: str) -> str:
        """The administrator's URL of one database."""
        return make_url(self.base_url).set(database=database).render_as_string(hide_password=False)

    def execute(self, statement: sql.SQL | sql.Composed, database: str = "postgres") -> None:
        """Run one statement as the administrator, outside a transaction."""
        with psycopg.connect(self.admin_url(database), autocommit=True) as connection:
            connection.execute(statement)

    def has(self, extension: str) -> bool:
        """Whether an extension can be made on the server."""
        with psycopg.connect(self.base_url) as connection:
            found = connection.execute("SELECT FROM pg_available_extensions WHERE name = %s", [extension])
            return found.fetchone() is not None

    def recreate(self, database: str, template: str | None = None) -> None:
        """Make a database anew, empty or as a clone."""
        name = sql.Identifier(database)
        self.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(name))
        self.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(name, sql.Identifier(template or "template0")))


@pytest.fixture(scope="session")
def cluster(folder: Path) -> Iterator[Cluster]:
    """A running server, shared by all workers."""
    assert SERVER in {"embedded", "full"}, SERVER
    if given := os.environ.get("MEMSVC_TEST_DATABASE_URL"):
        yield Cluster(given)
    elif SERVER == "full":
        with full_server.running(folder / "full", options=FAST) as full:
            yield Cluster(full.url())
    else:
        with embedded.running(folder, options=FAST) as server:
            yield Cluster(server.conninfo())


@pytest.fixture(scope="session")
def settings(folder: Path, cluster: Cluster, worker_id: str) -> Settings:
    """Settings of this worker, with the run's own secrets."""
    return Settings.model_validate(
        {
            "data_dir": folder,
            "database_url": cluster.admin_url(f"memsvc_test_{worker_id}"),
            "extractor": "none",
            "cypher": "off",  # tests/cypher has a database of its own
        }
    )


@pytest.fixture(scope="session")
def worker_id(request: pytest.FixtureRequest) -> str:
    """Name of the worker; "main" where pytest runs without workers."""
    return str(getattr(request.config, "workerinput", {"workerid": "main"})["workerid"])


@pytest.fixture(scope="session")
def template(cluster: Cluster, folder: Path) -> str:
    """Name of a database at head that is made once a run and cloned by everybody."""
    done = folder / "template.done"
    with (folder / "template.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            cluster.recreate(TEMPLATE)
            upgrade(cluster.admin_url(TEMPLATE), Settings.model_validate({"data_dir": folder, "cypher": "off"}))
            done.touch()
    return TEMPLATE


@pytest.fixture(scope="session")
def database_name(cluster: Cluster, template: str, worker_id: str, folder: Path) -> str:
    """This worker's own database."""
    name = f"memsvc_test_{worker_id}"
    with (folder / "template.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        cluster.recreate(name, template)
    return name


@pytest.fixture(scope="session")
async def db(cluster: Cluster, database_name: str, settings: Settings) -> AsyncIterator[Database]:
    """The worker's database as the application sees it: login memsvc_app, row security on."""
    url = role_url(cluster.admin_url(database_name), "memsvc_app", settings.secret("app_password"))
    database = Database(url, settings)
    yield database
    await database.close()


@pytest.fixture(scope="session")
async def app(db: Database) -> UUID:
    """An app for this worker's users."""
    return await app_id(db, "tests")


@pytest.fixture
async def owner(db: Database, app: UUID) -> Owner:
    """A fresh user."""
    return (await add_user(db, app, name="Ada", external_id=f"ada-{next(_numbers)}", aliases=["AL"])).owner


@pytest.fixture
async def other(db: Database, app: UUID) -> Owner:
    """Another fresh user of the same app."""
    return (await add_user(db, app, name="Bob", external_id=f"bob-{next(_numbers)}")).owner


@pytest.fixture
def admin(cluster: Cluster, database_name: str) -> Iterator[psycopg.Connection]:
    """The administrator in this worker's database, outside a transaction: sees everything."""
    with psycopg.connect(cluster.admin_url(database_name), autocommit=True) as connection:
        yield connection


async def remembered(*arguments: Any, **named: Any) -> list[Memory]:
    """The memories of ``recall``, for tests that ask for nothing else."""
    return (await recall(*arguments, **named)).memories
