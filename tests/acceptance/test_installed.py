"""The wheel is whole: what it installs works where no checkout is, and holds nothing that does not belong to it."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from memsvc.server import embedded
from tests.acceptance.conftest import private_folder

pytestmark = pytest.mark.acceptance
REPOSITORY = Path(__file__).parents[2]


def run(*command: str | Path, cwd: Path, **settings: str) -> str:
    """Run a program that must succeed, in an environment without any of our settings; what it printed."""
    inherited = {n: v for n, v in os.environ.items() if not n.startswith(("MEMSVC_", "PYTHON", "VIRTUAL_ENV"))}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**inherited, **settings, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INDEX": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done
    return done.stdout


@dataclass(frozen=True, slots=True)
class Installed:
    """A virtual environment with the wheel; its dependencies are those of this one, the checkout is not on its path."""

    wheel: Path
    folder: Path
    python: Path

    def memsvc(self, *arguments: str, **settings: str) -> str:
        return run(self.python.with_name("memsvc"), *arguments, cwd=self.folder, **settings)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("installed")
    pip = (sys.executable, "-m", "pip", "--quiet")
    run(*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, REPOSITORY, cwd=folder)
    [wheel] = folder.glob("memsvc-*.whl")
    run(sys.executable, "-m", "venv", "--without-pip", folder / "venv", cwd=folder)
    python = folder / "venv" / "bin" / "python"
    # A folder that a .pth file names is on the path, but its own .pth files (the editable checkout) are not read.
    [site] = (folder / "venv").glob("lib/python*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    run(*pip, "--python", python, "install", "--no-deps", "--ignore-installed", wheel, cwd=folder)
    return Installed(wheel, folder, python)


@pytest.fixture(scope="module")
def data(folder: Path) -> Iterator[Path]:
    """A data folder that was never used, but for the server's programs where this run has them already."""
    with private_folder(None) as made:
        made.mkdir(mode=0o755)
        for programs in folder.glob("server-[0-9]*"):
            subprocess.run(["cp", "-a", str(programs), str(made / programs.name)], check=True)
        yield made
        embedded.stop(made)


def test_the_wheel_holds_what_it_needs_and_nothing_else(installed: Installed) -> None:
    names = zipfile.ZipFile(installed.wheel).namelist()
    assert {name.split("/")[0] for name in names} - {"memsvc", "jobs"} == {
        next(name.split("/")[0] for name in names if name.endswith(".dist-info/METADATA"))
    }
    for ours, theirs in (("sql", "memsvc/_sql"), ("alembic", "memsvc/_alembic"), ("examples", "memsvc/_examples")):
        wanted = {
            f"{theirs}/{path.relative_to(REPOSITORY / ours)}"
            for path in (REPOSITORY / ours).rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }
        assert wanted
        assert wanted <= set(names)
    python = {
        str(path.relative_to(REPOSITORY)) for name in ("memsvc", "jobs") for path in (REPOSITORY / name).rglob("*.py")
    }
    assert python <= set(names)
    assert {"memsvc/api/docs.html", "memsvc/py.typed"} <= set(names)
    assert not [name for name in names if "__pycache__" in name or name.endswith((".pyc", ".env", "secrets.json"))]


def test_it_is_the_wheel_that_runs(installed: Installed) -> None:
    script = "import sys, memsvc, jobs; print(memsvc.__file__, jobs.__file__, *sys.path, sep='\\n')"
    ours, jobs, *path = run(installed.python, "-c", script, cwd=installed.folder).splitlines()
    assert ours.startswith(str(installed.folder))
    assert jobs.startswith(str(installed.folder))
    assert str(REPOSITORY) not in path


def test_upgrade_and_demo_work_from_it(installed: Installed, data: Path) -> None:
    settings = {"MEMSVC_DATA_DIR": str(data), "MEMSVC_EXTRACTOR": "none"}
    assert "CREATE TABLE memsvc.users" in installed.memsvc("db", "alembic", "upgrade", "head", "--sql")
    assert "Revision none -> " in installed.memsvc("db", "alembic", "upgrade", "head", **settings)
    assert "(head)" in installed.memsvc("db", "alembic", "current", **settings)
    assert "<base> -> 0001" in installed.memsvc("db", "alembic", "history")
    assert "sql/ unchanged" in installed.memsvc("db", "upgrade", **settings)
    shown = installed.memsvc("demo", **settings)
    assert "208 messages stored" in shown
    assert "Altona station" in shown
    assert "memsvc can work." in installed.memsvc("doctor", **settings)


def test_the_api_and_the_worker_can_be_imported_from_it(installed: Installed) -> None:
    script = "import jobs.worker, memsvc.api.app; print(memsvc.api.app.create_app.__module__)"
    assert run(installed.python, "-c", script, cwd=installed.folder).strip() == "memsvc.api.app"
