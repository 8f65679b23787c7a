"""The wheel is whole: what it installs works where no checkout is, and holds nothing that does not belong to it."""

from __future__ import annotations

import json
import os
import re
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
from tests.acceptance.killpoints import PATIENCE_S, Rig

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
        timeout=PATIENCE_S,
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


def test_an_upgrade_works_from_it(installed: Installed, data: Path) -> None:
    settings = {"MEMSVC_DATA_DIR": str(data), "MEMSVC_EXTRACTOR": "none"}
    assert "CREATE TABLE memsvc.users" in installed.memsvc("db", "alembic", "upgrade", "head", "--sql")
    assert "Revision none -> " in installed.memsvc("db", "alembic", "upgrade", "head", **settings)
    assert "(head)" in installed.memsvc("db", "alembic", "current", **settings)
    assert "<base> -> 0001" in installed.memsvc("db", "alembic", "history")
    assert "sql/ unchanged" in installed.memsvc("db", "upgrade", **settings)
    assert "memsvc can work." in installed.memsvc("doctor", **settings)


def test_the_demo_shows_facts_and_three_answers_whatever_was_there_and_touches_none_of_it(
    installed: Installed, rig: Rig, tmp_path: Path
) -> None:
    """The wheel's demo and the checkout's; the user's folder has a user of the demo's name, whose memory differs."""
    own = tmp_path / "own.jsonl"
    own.write_text('{"conversation": "marcel-and-ines", "turn_id": "S1:1", "text": "Rosinante was never stolen."}\n')
    words = {"embedding_model": ""}  # vectors of the user's own memories say nothing about the demo
    rig.ok("user", "add", "--name", "Marcel", "--external-id", "marcel", "--app", "demo")
    rig.ok("ingest", str(own), "--app", "demo", **words)
    apps = rig.ok("user", "list", "--app", "demo")
    first = installed.memsvc("demo", **{n: value for n, value in rig.environment.items() if n.startswith("MEMSVC_")})
    assert "208 messages stored" in first
    picture, _, asked = first.partition(" passages have vectors")
    assert asked
    assert re.search(r"^\d+ facts extracted from 208 messages by names, grammar and rules", picture, re.MULTILINE)
    for heading, shown in (("People: ", "Ines"), ("Places: ", "Porto")):
        assert shown in picture.partition(heading)[2].partition("\n")[0]
    told, _, changed = picture.partition("Facts, and who said so")[2].partition("What changed")
    assert len(re.findall(r"^  \w.+“.+” \(\w+, \d+ \w{3} \d{4}\)$", told, re.MULTILINE)) >= 8
    assert re.search(r"^  \w.+ \d{4} – now +“.+”$", changed, re.MULTILINE)
    assert max(map(len, picture.splitlines())) <= 200
    assert len(re.findall(r"^\? .+\?", first, re.MULTILINE)) == 3
    for answer in ("Altona station", "Bernhard Pohl", "Saturday, 5 September 2026", "Saturday, 13 June 2026"):
        assert answer in first
    assert first.count("\n[memsvc context ") == 3
    assert "] 1 November 2025, Marcel" in first
    assert "memsvc ingest " in first
    second = rig.ok("demo")
    assert "208 messages stored" in second
    assert rig.ok("user", "list", "--app", "demo") == apps
    [kept] = json.loads(rig.ok("recall", "Rosinante", "--app", "demo", "--json", **words))["memories"]
    assert kept["text"] == "Rosinante was never stolen."

    def answers(text: str) -> list[str]:
        return re.findall(r"^\[m:.*|^  \w.+“.+”.*", text.replace("\n  why: ", "\n"), re.MULTILINE)

    # Ids are others each time, and with them which of two names of equal worth a reason gives.
    first_answers, second_answers = (
        [re.sub(r"\bm:\w+", "", line) for line in answers(text)] for text in (first, second)
    )
    assert first_answers == second_answers
    assert len(first_answers) > 12


def test_the_api_and_the_worker_can_be_imported_from_it(installed: Installed) -> None:
    script = "import jobs.worker, memsvc.api.app; print(memsvc.api.app.create_app.__module__)"
    assert run(installed.python, "-c", script, cwd=installed.folder).strip() == "memsvc.api.app"
