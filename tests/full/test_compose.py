"""What docker-compose.yml starts works together: its commands, settings, secrets and checks, without the containers."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import psycopg
import pytest
import yaml

from ops.postgres import server
from tests.acceptance.killpoints import Rig, free_port, wait_until

TOP = Path(__file__).parents[2]
SERVICES: dict[str, dict[str, Any]] = yaml.safe_load((TOP / "docker-compose.yml").read_text())["services"]


@pytest.fixture
def secrets(tmp_path: Path) -> Path:
    """Secrets as the script makes them."""
    shutil.copy(TOP / "ops" / "docker" / "make-secrets.sh", tmp_path)
    subprocess.run(["/bin/sh", str(tmp_path / "make-secrets.sh")], check=True)
    return tmp_path / "secrets"


@pytest.fixture
def database(secrets: Path, tmp_path: Path) -> Iterator[server.Server]:
    """The database of compose: its administrator has the password of the secret; it stands elsewhere."""
    with server.running(tmp_path / "database", options={"fsync": "off"}) as found:
        password = (secrets / "postgres_password").read_text()
        with psycopg.connect(found.url(), autocommit=True) as admin:
            admin.execute(f"ALTER ROLE postgres PASSWORD '{password}'".encode())
            admin.execute("CREATE DATABASE memsvc TEMPLATE template0")
        moved = server.Server(found.data, password)
        (secrets / "memsvc_database_url").write_text(moved.url("memsvc"))
        yield moved


def given(name: str, secrets: Path, address: str) -> dict[str, str]:
    """A service's settings without their prefix: a folder of the secrets that it may read, where the database is."""
    own = secrets.with_name(name)
    own.mkdir()
    for secret in SERVICES[name]["secrets"]:
        shutil.copy(secrets / secret, own)
    words = {"/run/secrets": str(own), "postgresql://database/memsvc": address, "9464": str(free_port())}
    return {
        variable.removeprefix("MEMSVC_").lower(): words[value]
        for variable, value in SERVICES[name]["environment"].items()
    }


def healthy(name: str, port: str) -> bool:
    """Whether a service's own check, of its port here, is content."""
    _, _, option, code = SERVICES[name]["healthcheck"]["test"]
    code = code.replace(str(urlsplit(code.split("'")[1]).port), port)
    return subprocess.run([sys.executable, option, code], stderr=subprocess.DEVNULL, check=False).returncode == 0


def test_its_services_find_each_other(database: server.Server, secrets: Path, tmp_path: Path) -> None:
    address = f"postgresql:///memsvc?{urlsplit(database.url()).query}"
    with Rig(tmp_path / "data") as rig:
        rig.ok(*SERVICES["upgrade"]["command"], **given("upgrade", secrets, address))
        service, work = given("api", secrets, address), given("worker", secrets, address)
        assert "memsvc_database_url" not in {path.name for path in Path(service["secrets_dir"]).iterdir()}
        rig.start(*SERVICES["api"]["command"], **service)
        rig.start(*SERVICES["worker"]["command"], **work)
        wait_until(lambda: healthy("api", str(rig.port)), pause=0.2)
        wait_until(lambda: healthy("worker", work["worker_metrics_port"]), pause=0.2)
        found = httpx.get(f"{rig.url}/health").json()
        assert found["schema"] == "current"
        assert {"vector", "pg_trgm"} <= set(found["extensions"])
        rig.ok("user", "add", "--name", "Ada", "--external-id", "ada", **service)
        assert "Ada" in rig.ok("user", "list", **service)
    assert not (tmp_path / "data" / "secrets.json").exists(), "nothing is generated where secrets are given"
    with psycopg.connect(database.url("memsvc")) as admin:
        assert admin.execute("SELECT count(*) FROM memsvc.users").fetchone() == (1,)
