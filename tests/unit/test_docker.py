"""The Docker files hold what can be held without a Docker engine: names that exist, one list of packages, no secrets.

They are read here, not run. hadolint is not used (a program under the GPL, and none of Python's): the rules of it that
matter to these two files are below.
"""

from __future__ import annotations

import json
import re
import shutil
import stat
import subprocess
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
import typer.main
import yaml

from memsvc.cli.app import app
from memsvc.settings import MIN_SECRET_CHARS, SECRETS_DIR, Settings
from memsvc.settings.secrets import SECRET_NAMES
from ops.postgres.image import PACKAGES
from tests.full.patroni import EXTRA

TOP = Path(__file__).resolve().parents[2]
DOCKER = TOP / "ops" / "docker"
DOCKERFILES = sorted(DOCKER.glob("*.Dockerfile"))
SECRET_WORD = re.compile(r"password|secret|token|key", re.IGNORECASE)
KNOWN_KEYS = {
    "build", "cap_drop", "command", "depends_on", "entrypoint", "environment", "healthcheck", "image", "init",
    "logging",
    "mem_limit", "pids_limit", "ports", "profiles", "read_only", "restart", "secrets", "security_opt", "shm_size",
    "stop_grace_period", "tmpfs", "volumes",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Step:
    """An instruction of a Dockerfile, its lines joined."""

    word: str
    rest: str


def steps(path: Path) -> list[Step]:
    lines = [line for line in path.read_text().splitlines() if line.strip() and not line.startswith("#")]
    joined = re.sub(r"\s*\\\n\s*", " ", "\n".join(lines))
    return [Step(*line.split(None, 1)) for line in joined.splitlines()]


def named(path: Path, word: str) -> list[str]:
    return [step.rest for step in steps(path) if step.word == word]


def bases(path: Path) -> list[str]:
    """What each stage begins with: an image that an ARG names, or an earlier stage."""
    images = {f"${{{name}}}": image for name, _, image in (rest.partition("=") for rest in named(path, "ARG"))}
    return [images.get(base, base) for base in (rest.split(" AS ")[0] for rest in named(path, "FROM"))]


def compose(path: str = "docker-compose.yml") -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((TOP / path).read_text())
    return loaded


SERVICES: dict[str, dict[str, Any]] = compose()["services"]
OVER = compose("ops/ha/docker-compose.yml")
OURS = sorted(set(SERVICES) - {"database"})
"""What runs memsvc."""


# Dockerfiles --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", DOCKERFILES, ids=lambda path: path.name)
def test_a_dockerfile_is_in_order(path: Path) -> None:
    for base in bases(path):
        form = r"[a-z]+:\d[\w.]*-\w[\w-]*(@sha256:[0-9a-f]{64})?"
        assert re.fullmatch(form, base), f"{base}: a version and a release, never 'latest'; then a digest"
    assert len({base.partition("@")[0] for base in bases(path)}) == 1, "one base, of one digest, for all stages"
    assert {step.word for step in steps(path)} <= {
        "ARG", "CMD", "COPY", "ENTRYPOINT", "ENV", "EXPOSE", "FROM", "HEALTHCHECK", "RUN", "USER", "VOLUME", "WORKDIR",
    }  # fmt: skip
    for form in ("CMD", "ENTRYPOINT"):  # as a list: a shell in between would keep SIGTERM to itself
        assert all(isinstance(json.loads(rest), list) for rest in named(path, form))
    for command in named(path, "RUN"):
        if "apt-get install" in command:
            assert "--yes --no-install-recommends" in command
            assert command.startswith("apt-get update && ")
            assert command.endswith("rm -rf /var/lib/apt/lists/*")
        assert "sudo" not in command
        assert "curl" not in command
    for setting in (*named(path, "ENV"), *named(path, "ARG")):
        assert not SECRET_WORD.search(setting), setting


def test_the_database_has_the_packages_that_tests_run_on() -> None:
    (command,) = named(DOCKER / "postgres.Dockerfile", "RUN")
    (packages,) = re.findall(r"--no-install-recommends (.+?) &&", command)
    assert ["postgresql-18", *packages.split()] == list(PACKAGES), "the image brings the first"
    (command,) = named(DOCKER / "ha.Dockerfile", "RUN")
    (more,) = re.findall(r"--no-install-recommends (.+?) &&", command)
    assert more.split() == [*packages.split(), *sorted({*EXTRA, "openssl"} - {"docker-compose"})], "and a cluster's"
    assert "preload" not in named(DOCKER / "postgres.Dockerfile", "CMD")[0], "AGE is for one login (docs/adr/0030)"
    assert bases(DOCKER / "postgres.Dockerfile")[0].startswith("postgres:18-")


def test_the_service_is_built_of_what_is_pinned_and_runs_without_roots_rights() -> None:
    path = DOCKER / "memsvc.Dockerfile"
    project = tomllib.loads((TOP / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    (torch,) = (entry for entry in extras["sentence-transformers"] if entry.startswith("torch"))
    build, locked, install = named(path, "RUN")[:3]
    assert torch in build
    assert "--no-deps --require-hashes --requirement requirements.lock" in locked
    assert "--no-deps --no-build-isolation ." in install, "nothing comes without a hash"
    wanted = {
        re.split(r"[\[~=<>]", entry.lower())[0]
        for extra in (
            "embedded",
            "onnx",
            "multilingual",
            "nlp",
            "redis",
            "rabbitmq",
            "otel",
            "age",
            "sentence-transformers",
        )
        for entry in (*project["dependencies"], *extras[extra])
    }
    image = locked_in(DOCKER / "requirements.lock")
    assert wanted - {"torch"} <= {name.partition("==")[0] for name in image}
    assert "pytest" not in " ".join(image)
    assert "nvidia" not in " ".join(image)
    assert named(path, "USER") == ["memsvc"]
    last = [step.word for step in steps(path)]
    assert last.index("USER") < last.index("ENTRYPOINT")
    script = DOCKER / "backup.sh"
    assert f"{script.relative_to(TOP)} /usr/local/bin/{SERVICES['backup']['entrypoint'][0]}" in named(path, "COPY")
    assert stat.S_IMODE(script.stat().st_mode) & 0o111
    assert set(re.findall(r"\$\{?([A-Z]+)", script.read_text())) == {"BACKUPS", "KEEP", "EVERY"}
    python = bases(path)[-1].removeprefix("python:").split("-")[0]
    assert project["requires-python"] == f">={python}", "the version that tests run on"


def locked_in(path: Path) -> dict[str, set[str]]:
    """Packages with their versions, and the hashes that their files may have."""
    entries = path.read_text().replace("\\\n", "").splitlines()
    return {entry.split()[0]: set(re.findall(r"--hash=(sha256:[0-9a-f]{64})(?!\S)", entry)) for entry in entries}


def test_both_locks_hold_the_same_versions_with_the_hashes_of_their_files() -> None:
    """'make lock' writes both."""
    ours, image = locked_in(TOP / "requirements.lock"), locked_in(DOCKER / "requirements.lock")
    for lock in (ours, image):
        assert len(lock) > 90
        assert [
            package for package, hashes in lock.items() if not hashes or not re.fullmatch(r"[\w.-]+==\S+", package)
        ] == []
    names = {package.partition("==")[0] for package in ours}
    assert {package for package in image if package.partition("==")[0] in names} <= set(ours)
    assert all(ours[package] == hashes for package, hashes in image.items() if package in ours)
    for path in (TOP / "requirements.lock", DOCKER / "requirements.lock"):
        assert not re.search(r"://|--(?:index|extra-index|find-links)", path.read_text()), "no address of an index"


# Digests ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def pin(tmp_path: Path) -> Callable[[str], tuple[int, list[str]]]:
    """Runs pin-digests.sh on copies, with a docker that prints what is given; its exit code, and the bases after it."""

    def run(printed: str) -> tuple[int, list[str]]:
        docker = tmp_path / "docker"
        docker.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$*\" >> {tmp_path}/asked\nprintf '%s\\n' '{printed}'\n")
        docker.chmod(0o755)
        copies = [tmp_path / path.name for path in DOCKERFILES]
        for path, copy in zip(DOCKERFILES, copies, strict=True):
            if not copy.exists():
                shutil.copy(path, copy)
        done = subprocess.run(
            [DOCKER / "pin-digests.sh", *copies],
            env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        return done.returncode, [base for path in copies for base in bases(path)]

    return run


def test_digests_are_written_once_and_renewed(pin: Callable[[str], tuple[int, list[str]]], tmp_path: Path) -> None:
    for digit in "ab":  # the second time there is one already
        code, found = pin(f"sha256:{digit * 64}")
        assert code == 0
        assert {base.partition("@")[2] for base in found} == {f"sha256:{digit * 64}"}
        assert {base.partition("@")[0] for base in found} == {"python:3.11-slim-bookworm", "postgres:18-trixie"}
    asked = (tmp_path / "asked").read_text().splitlines()
    inspect = "buildx imagetools inspect --format {{.Manifest.Digest}}"
    assert asked == [f"{inspect} postgres:18-trixie", f"{inspect} python:3.11-slim-bookworm"] * 2


@pytest.mark.parametrize("printed", ["", "<no value>", "sha256:short", f"sha256:{'a' * 64} more"])
def test_what_is_no_digest_is_not_written(pin: Callable[[str], tuple[int, list[str]]], printed: str) -> None:
    before = [base for path in DOCKERFILES for base in bases(path)]
    code, found = pin(printed)
    assert code != 0
    assert found == before


def test_what_is_copied_exists_and_reaches_the_build() -> None:
    sent = set()
    for path in DOCKER.glob("*.dockerignore"):
        ignored = path.read_text().splitlines()
        assert "*" in ignored
        sent |= {line.removeprefix("!") for line in ignored if line.startswith("!")}
    copied = {
        source
        for path in DOCKERFILES
        for rest in named(path, "COPY")
        if not rest.startswith("--from")
        for source in rest.split()[:-1]
    }
    assert copied == sent
    assert all((TOP / source).exists() for source in copied)
    wheel = tomllib.loads((TOP / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert {*wheel["packages"], *wheel["force-include"]} <= copied


# docker-compose.yml -------------------------------------------------------------------------------------------------


def test_the_parts_of_compose_belong_together() -> None:
    whole = compose()
    assert set(whole) == {"name", "x-memsvc", "services", "secrets", "volumes"}
    for service in SERVICES.values():
        assert set(service) <= KNOWN_KEYS
        assert (TOP / service["build"]["context"] / service["build"]["dockerfile"]) in DOCKERFILES
    _belong_together(whole, SERVICES)


def _belong_together(whole: dict[str, Any], services: dict[str, dict[str, Any]]) -> None:
    for service in services.values():
        for volume in service.get("volumes", []):
            name, target = volume.split(":")
            assert name in whole["volumes"]
            assert PurePosixPath(target).is_absolute()
        for secret in service.get("secrets", []):
            assert secret in whole["secrets"]
        for other, need in service.get("depends_on", {}).items():
            assert need["condition"] == (
                "service_completed_successfully" if services[other]["restart"] == "no" else "service_healthy"
            )
    used = {secret for service in services.values() for secret in service.get("secrets", [])}
    assert set(whole["secrets"]) == used


def test_the_nodes_of_a_cluster_take_the_place_of_the_database() -> None:
    """``ops/ha/docker-compose.yml`` is merged over docker-compose.yml, service by service."""
    assert set(OVER) == {"services", "secrets", "volumes"} | {key for key in OVER if key.startswith("x-")}
    merged = {name: SERVICES.get(name, {}) | part for name, part in OVER["services"].items()}
    for name in ("api",):
        both = ("environment", "depends_on")
        merged[name] = SERVICES[name] | {key: SERVICES[name][key] | OVER["services"][name][key] for key in both}
    merged = SERVICES | merged
    merged["database"]["secrets"] = SERVICES["database"]["secrets"]
    volumes, secrets = (compose()[key] | OVER[key] for key in ("volumes", "secrets"))
    _belong_together({"volumes": volumes, "secrets": secrets}, merged)
    started = (TOP / "ops" / "ha" / "start.sh").read_text()
    for name, service in OVER["services"].items():
        assert set(service) <= KNOWN_KEYS
        assert "ports" not in service
        if name == "api":
            assert {variable.removeprefix("MEMSVC_").lower() for variable in service["environment"]} <= set(
                Settings.model_fields
            )
            continue
        assert service["build"]["dockerfile"] == "ops/docker/ha.Dockerfile"
        assert (service["cap_drop"], service["restart"]) == (["ALL"], "unless-stopped")
        assert service["healthcheck"]["test"][0] == "CMD"
        [program] = service["command"]
        assert program == "etcd" or f"  {program})" in started
        for secret in re.findall(r"secret (\w+)", started.split(f"  {program})")[-1].split(";;")[0]):
            assert program == "etcd" or secret in service["secrets"], secret
    nodes = [f"node{number}" for number in (1, 2, 3)]
    proxy = (TOP / "ops" / "ha" / "haproxy.cfg").read_text()
    assert re.findall(r"server (\w+) (\w+):5432 check port 8008", proxy) == [(node, node) for node in nodes]
    example = (TOP / "ops" / "patroni" / "node.env.example").read_text()
    for node in nodes:
        given = OVER["services"][node]["environment"]
        assert given["PATRONI_NAME"] == node
        assert given["PATRONI_POSTGRESQL_CONNECT_ADDRESS"] == f"{node}:5432"
        assert set(given) <= set(re.findall(r"^(\w+)=", example, re.MULTILINE))
        assert f"//{node}/" in OVER["services"]["api"]["environment"]["MEMSVC_REPLICA_URLS"]


def test_no_service_can_fill_the_machine() -> None:
    for name, service in (SERVICES | OVER["services"]).items():
        if name != "api" or "image" in service:
            assert service["mem_limit"]
            assert service["logging"] == {"driver": "json-file", "options": {"max-size": "10m", "max-file": "5"}}


def test_what_runs_on_is_watched_and_restarted() -> None:
    health = named(DOCKER / "postgres.Dockerfile", "HEALTHCHECK")
    assert len(health) == 1
    for name, service in SERVICES.items():
        if service["restart"] == "no":
            continue
        assert service["restart"] == "unless-stopped"
        assert name in {"database", "backup"} or service["healthcheck"]["test"][0] == "CMD"
    for name in OURS:
        service = SERVICES[name]
        assert (service["read_only"], service["cap_drop"], service["init"]) == (True, ["ALL"], True)
        assert service["security_opt"] == ["no-new-privileges:true"]


def test_the_api_alone_is_published_to_this_machine_alone() -> None:
    published = {name: service["ports"] for name, service in SERVICES.items() if "ports" in service}
    assert published == {"api": ["127.0.0.1:8765:8765"]}
    assert Settings.model_fields["port"].default == 8765
    assert "EXPOSE 8765" in (DOCKER / "memsvc.Dockerfile").read_text()


def test_commands_and_settings_exist() -> None:
    commands = typer.main.get_command(app)
    for name in OURS:
        found: Any = commands
        for word in SERVICES[name].get("command", []):
            found = found.commands[word]
        for variable, value in SERVICES[name]["environment"].items():
            if variable != SECRETS_DIR and variable not in {"BACKUPS", "KEEP", "EVERY"}:
                assert variable.removeprefix("MEMSVC_").lower() in Settings.model_fields
            assert isinstance(value, str)
    for path in DOCKERFILES:
        for variable in re.findall(r"MEMSVC_(\w+)=", path.read_text()):
            assert variable.lower() in Settings.model_fields


def test_no_secret_stands_in_the_text() -> None:
    for service in SERVICES.values():
        for variable, value in service.get("environment", {}).items():
            if SECRET_WORD.search(variable):
                assert value.startswith("/run/secrets"), variable
            assert not re.search(r"://[^/\s]*@", value), "a login in a URL"
    others = {"postgres_password", "replication_password", "backup_password"}
    for name, secret in (compose()["secrets"] | OVER["secrets"]).items():
        assert secret == {"file": f"ops/docker/secrets/{name}"}
        setting = name.removeprefix("memsvc_")
        assert name in others or "SecretStr" in str(Settings.model_fields[setting].annotation)
    assert "ops/docker/secrets/" in (TOP / ".gitignore").read_text().splitlines()
    administrators = {name for name in OURS if "memsvc_database_url" in SERVICES[name]["secrets"]}
    assert administrators == {"upgrade", "backup"}


def run_and_read(script: Path) -> dict[str, str]:
    subprocess.run(["/bin/sh", str(script)], check=True)
    return {path.name: path.read_text() for path in (script.parent / "secrets").iterdir()}


def test_the_secrets_that_compose_names_are_made_once_and_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "make-secrets.sh"
    script.write_bytes((DOCKER / "make-secrets.sh").read_bytes())
    assert stat.S_IMODE((DOCKER / "make-secrets.sh").stat().st_mode) & 0o111
    made, again = (run_and_read(script) for _ in range(2))
    assert made == again
    assert set(made) == set(compose()["secrets"]) | set(OVER["secrets"])
    assert stat.S_IMODE((tmp_path / "secrets").stat().st_mode) == 0o700

    monkeypatch.setenv(SECRETS_DIR, str(tmp_path / "secrets"))
    monkeypatch.setenv("MEMSVC_DATA_DIR", str(tmp_path / "data"))
    settings = Settings.load()
    for name in SECRET_NAMES:
        assert settings.secret(name) == made[f"memsvc_{name}"]
        assert len(made[f"memsvc_{name}"]) >= MIN_SECRET_CHARS
    assert settings.database_url is not None
    url = settings.database_url.get_secret_value()
    assert url == f"postgresql://postgres:{made['postgres_password']}@database/memsvc"
    assert not (tmp_path / "data").exists(), "nothing is generated beside"
