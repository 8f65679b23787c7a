"""Commands in forks are what they are in new interpreters; else the tests that use them would prove less."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest

from tests.acceptance.fork_server import LIBRARIES, fork_server
from tests.acceptance.killpoints import MEMSVC, Rig, free_port

pytestmark = pytest.mark.acceptance


@pytest.fixture(scope="module", autouse=True)
def running(rig: Rig) -> Iterator[None]:
    """The server runs all the time, so that commands need not start it each time."""
    with rig.admin():
        rig.ok("user", "add", "--name", "Zoë")
        yield


@pytest.mark.parametrize(
    "arguments",
    [("--version",), ("bogus",), ("user", "list", "--json"), ("recall", "x", "--app", "nowhere"), ("forget",)],
    ids=" ".join,
)
def test_code_and_output_are_the_same(rig: Rig, arguments: tuple[str, ...]) -> None:
    forked, anew = (run(*arguments) for run in (rig.run, rig.run_anew))
    assert (forked.returncode, forked.stdout, forked.stderr) == (anew.returncode, anew.stdout, anew.stderr)
    assert forked.stdout or forked.stderr


def test_a_command_has_its_own_variables_and_leaves_none(rig: Rig) -> None:
    gone = f"postgresql://me@127.0.0.1:{free_port()}/db"
    assert rig.run("user", "list", database_url=gone).returncode == 69
    assert "Zoë" in rig.ok("user", "list")
    assert rig.run("user", "list", port="none").returncode == 78


def test_what_takes_too_long_is_killed(rig: Rig) -> None:
    watch = ("jobs", "--watch", "--every", "0.1")
    with pytest.raises(subprocess.TimeoutExpired):
        fork_server(MEMSVC).run(watch, cwd=rig.cwd, environment=rig.environment, timeout=1)
    with rig.admin() as admin:
        rig.wait_for_backends(admin)


def test_nothing_of_memsvc_is_loaded_before() -> None:
    assert not [library for library in LIBRARIES if library.split(".")[0] in {"memsvc", "jobs", "tests"}]
