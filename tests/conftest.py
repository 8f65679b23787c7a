"""One real PostgreSQL for the whole run, one cloned database per worker, one fresh user per test.

``MEMSVC_TEST_SERVER=kept`` uses an embedded server that stays up between runs (``tests/kept.py``) instead of one made
from nothing. ``MEMSVC_TEST_SERVER=full`` runs the same tests on the full server of ``ops/postgres``, and
``MEMSVC_TEST_DATABASE_URL`` (an administrator's URL) on any other; its databases named ``memsvc_test_*`` are dropped
and made again. The marker ``server`` names the tests whose outcome the server can change: CONTRIBUTING.md has the rule.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import signal
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import hypothesis
import psycopg
import pytest

from memsvc.access.users import Owner, add_user, app_id
from memsvc.db.engine import Database, role_url
from memsvc.recall.results import Memory
from memsvc.recall.search import recall
from memsvc.server import embedded
from memsvc.server.upgrade import upgrade
from memsvc.settings import Settings
from ops.postgres import server as full_server
from tests import kept, through
from tests.cluster import FAST, Cluster
from tests.kept import TEMPLATE

TESTS = Path(__file__).parent
FOLDER_VARIABLE = "MEMSVC_TEST_FOLDER"
RUN_VARIABLE = "MEMSVC_TEST_RUN"  # a number that tells runs on a kept server apart
SERVER = os.environ.get("MEMSVC_TEST_SERVER", "embedded")
ON_THE_FULL_SERVER = ["full", "cypher"]  # folders of tests on what only that server has
collect_ignore = [
    name for name in ON_THE_FULL_SERVER
    if SERVER != "full" and not (name == "cypher" and SERVER == "embedded" and embedded.cypher_files())
]  # fmt: skip
_numbers = itertools.count()
_kept_run = contextlib.ExitStack()

# Other examples in each run, in CI too; how long one takes depends on who else works on the machine.
hypothesis.settings.register_profile("memsvc", derandomize=False, deadline=None, print_blob=True)
hypothesis.settings.load_profile("memsvc")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What runs on the full server alone has its marker too; what drives the command line takes long."""
    for item in items:
        if item.path.relative_to(TESTS).parts[0] in ON_THE_FULL_SERVER:
            item.add_marker("server")
        if item.get_closest_marker("acceptance"):
            item.add_marker("slow")


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
        if SERVER == "kept":
            os.environ[RUN_VARIABLE] = str(_kept_run.enter_context(kept.run(folder)))


def pytest_unconfigure(config: pytest.Config) -> None:
    """The controlling process clears up after the last worker."""
    if not hasattr(config, "workerinput"):
        folder = Path(os.environ.pop(FOLDER_VARIABLE))
        with contextlib.suppress(Exception):
            embedded.stop(folder)
        with contextlib.suppress(Exception):
            full_server.stop(folder / "full")
        _kept_run.close()
        os.environ.pop(RUN_VARIABLE, None)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def folder() -> Path:
    """The folder of this run; the unprivileged user of the server may enter it."""
    return Path(os.environ[FOLDER_VARIABLE])


@pytest.fixture(scope="session")
def cluster(folder: Path) -> Iterator[Cluster]:
    """A running server, shared by all workers."""
    assert SERVER in {"embedded", "kept", "full"}, SERVER
    lock = folder / "template.lock"
    if given := os.environ.get("MEMSVC_TEST_DATABASE_URL"):
        yield Cluster(given, lock)
    elif SERVER == "kept":
        with kept.cluster() as stays:
            yield stays
    elif SERVER == "full":
        with full_server.running(folder / "full", options=FAST) as full:
            yield Cluster(full.url(), lock, folder / "full" / "home" / "server.log")
    else:
        # A standby replays what was flushed, and nobody waits for that where commits do not.
        options = FAST | {"synchronous_commit": "on"} if through.THROUGH == "replica" else FAST
        with embedded.running(folder, options=options) as server:
            yield Cluster(server.conninfo(), lock, folder / "server.log")


@pytest.fixture(scope="session")
def settings(folder: Path, cluster: Cluster, worker_id: str) -> Iterator[Settings]:
    """Settings of this worker, with the run's own secrets."""
    given = {
        "data_dir": folder,
        "database_url": cluster.admin_url(f"memsvc_test_{worker_id}"),
        "extractor": "none",
        "cypher": "off",  # tests/cypher has a database of its own
    }
    plain = Settings.model_validate(given)
    with through.standing(folder, plain, worker_id) as between:
        more = between.settings(f"memsvc_test_{worker_id}") if between else {}
        yield Settings.model_validate(given | more) if more else plain


@pytest.fixture(scope="session")
def worker_id(request: pytest.FixtureRequest) -> str:
    """Tells this worker's databases from those of others; "main" where pytest runs without workers."""
    name = str(getattr(request.config, "workerinput", {"workerid": "main"})["workerid"])
    number = os.environ.get(RUN_VARIABLE)
    return name if number is None else f"{number}_{name}"


@pytest.fixture(scope="session")
def template(cluster: Cluster, folder: Path) -> str:
    """Name of a database at head that is made once a run (or kept), and cloned by everybody."""
    done = folder / "template.done"
    with cluster.alone():
        if not done.exists():
            if number := os.environ.get(RUN_VARIABLE):
                kept.template(cluster, int(number))
            else:
                cluster.recreate(TEMPLATE)
                upgrade(cluster.admin_url(TEMPLATE), Settings.model_validate({"data_dir": folder, "cypher": "off"}))
            done.touch()
    return TEMPLATE


@pytest.fixture(scope="session")
def database_name(cluster: Cluster, template: str, worker_id: str) -> str:
    """This worker's own database."""
    name = f"memsvc_test_{worker_id}"
    cluster.clone(name, template)
    return name


@pytest.fixture(scope="session")
async def db(cluster: Cluster, database_name: str, settings: Settings) -> AsyncIterator[Database]:
    """The worker's database as the application sees it: login memsvc_app, row security on."""
    url = role_url(cluster.admin_url(database_name), "memsvc_app", settings.secret("app_password"))
    database = Database(url, settings)
    yield database
    states = database.replicas.states()
    await database.close()
    assert all(state.served for state in states), "the standby has served nothing"


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
