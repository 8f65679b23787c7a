"""The units of systemd and the manifests of Kubernetes name what exists, and give each process what it needs alone."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main
import yaml

from memsvc.cli.app import app
from memsvc.settings import SECRETS_DIR, Settings
from memsvc.settings.secrets import SECRET_NAMES

TOP = Path(__file__).resolve().parents[2]
SYSTEMD, KUBERNETES = TOP / "ops" / "systemd", TOP / "ops" / "kubernetes"
UNITS = sorted(SYSTEMD.glob("*.service"))
ADMINISTRATORS = {"memsvc-upgrade", "memsvc-backup"}
EXPOSED = 3.0
"""The most that systemd's own count of what a unit may do says, of 10."""


def exists(words: list[str]) -> bool:
    found: Any = typer.main.get_command(app)
    for word in words:
        found = found.commands[word]
    return found is not None


def is_setting(variable: str) -> bool:
    return variable.removeprefix("MEMSVC_").lower() in Settings.model_fields or variable == SECRETS_DIR


# systemd ------------------------------------------------------------------------------------------------------------


def lines(path: Path) -> list[tuple[str, str]]:
    """The settings of a unit; one may stand there several times."""
    text = path.read_text().replace("\\\n", " ")
    return [(key, value) for key, _, value in (line.partition("=") for line in text.splitlines() if "=" in line[:40])]


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.stem)
def test_a_unit_names_what_exists(path: Path) -> None:
    unit = lines(path)
    [start] = [value for key, value in unit if key == "ExecStart"]
    program, *words = start.split()
    assert program == "/etc/memsvc/backup.sh" or (program == "/opt/memsvc/bin/memsvc" and exists(words))
    given = [word.partition("=")[0] for key, value in unit if key == "Environment" for word in shlex.split(value)]
    assert [name for name in given if name.startswith("MEMSVC_") and not is_setting(name)] == []
    credentials = [value.split(":") for key, value in unit if key == "LoadCredential"]
    for name, source in credentials:
        assert source == f"/etc/memsvc/secrets/{name}"
        assert "SecretStr" in str(Settings.model_fields[name.removeprefix("memsvc_")].annotation)
    named = {name for name, _ in credentials}
    assert ("memsvc_database_url" in named) == (path.stem in ADMINISTRATORS)
    assert {"memsvc_identity_secret", "memsvc_app_password"} <= named
    if path.stem == "memsvc-upgrade":
        assert {f"memsvc_{name}" for name in SECRET_NAMES} <= named


def test_settings_of_the_units_exist_and_hold_no_secret() -> None:
    names = re.findall(r"^(\w+)=", (SYSTEMD / "memsvc.env.example").read_text(), re.MULTILINE)
    assert names
    assert all(map(is_setting, names))
    assert not {name.lower() for name in names} & {f"memsvc_{name}" for name in SECRET_NAMES}


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not here")
def test_systemd_accepts_the_units_and_finds_them_closed(tmp_path: Path) -> None:
    for path in (*UNITS, *SYSTEMD.glob("*.timer")):  # programs that exist here stand for those of an installation
        text = re.sub(r"^ExecStart=\S+", "ExecStart=/bin/true", path.read_text(), flags=re.MULTILINE)
        (tmp_path / path.name.replace("@.", "@1.")).write_text(text)
    files = sorted(tmp_path.iterdir())
    done = subprocess.run(["systemd-analyze", "verify", *files], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    for file in files:
        if file.suffix == ".service":
            command = ["systemd-analyze", "security", "--offline=true", "--no-pager", str(file)]
            said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
            [exposure] = re.findall(r"Overall exposure level for \S+: ([\d.]+)", said)
            assert float(exposure) <= EXPOSED, said


# Kubernetes ---------------------------------------------------------------------------------------------------------


def manifests() -> Iterator[dict[str, Any]]:
    kustomization = yaml.safe_load((KUBERNETES / "kustomization.yaml").read_text())
    assert set(kustomization["resources"]) == {path.name for path in KUBERNETES.glob("*.yaml")} - {"kustomization.yaml"}
    for name in kustomization["resources"]:
        yield from yaml.safe_load_all((KUBERNETES / name).read_text())


def of_kind(*kinds: str) -> dict[str, dict[str, Any]]:
    return {each["metadata"]["name"]: each for each in manifests() if each["kind"] in kinds}


WORK = of_kind("Deployment", "Job")
SETTINGS = of_kind("ConfigMap")


@pytest.mark.parametrize("name", WORK)
def test_a_workload_names_what_exists_and_may_do_little(name: str) -> None:
    spec = WORK[name]["spec"]["template"]["spec"]
    [container] = spec["containers"]
    assert exists(container["args"])
    sources = [source["configMapRef"]["name"] for source in container["envFrom"]]
    variables = [variable for source in sources for variable in SETTINGS[source]["data"]]
    variables += [one["name"] for one in container.get("env", [])]
    assert [variable for variable in variables if not is_setting(variable)] == []
    assert container["resources"]["limits"]["memory"]
    assert container["resources"]["requests"]
    assert spec["automountServiceAccountToken"] is False
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert f"--uid {spec['securityContext']['runAsUser']}" in (TOP / "ops/docker/memsvc.Dockerfile").read_text()
    bounds = container["securityContext"]
    assert (bounds["allowPrivilegeEscalation"], bounds["readOnlyRootFilesystem"]) == (False, True)
    assert bounds["capabilities"] == {"drop": ["ALL"]}
    assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in spec["volumes"]}
    keys = {
        item["key"] for volume in spec["volumes"] if volume["name"] == "secrets" for item in volume["secret"]["items"]
    }
    made = set(re.findall(r"^  (memsvc_\w+): ", (KUBERNETES / "make-secrets.sh").read_text(), re.MULTILINE))
    assert keys <= made
    administrator = "memsvc_database_url" in keys
    assert administrator == (name == "memsvc-upgrade")
    assert administrator == ("memsvc-database" not in sources), "a variable would hide the file"
    if administrator:
        assert keys == made


def test_what_serves_is_probed_and_survives_the_loss_of_a_machine() -> None:
    budgets = of_kind("PodDisruptionBudget")
    for name in ("memsvc-api", "memsvc-worker"):
        deployment = WORK[name]
        labels = deployment["spec"]["template"]["metadata"]["labels"]
        assert deployment["spec"]["replicas"] > budgets[name]["spec"]["minAvailable"] > 0
        for selector in (deployment["spec"]["selector"], budgets[name]["spec"]["selector"]):
            assert selector["matchLabels"].items() <= labels.items()
        [container] = deployment["spec"]["template"]["spec"]["containers"]
        ports = {port["name"]: port["containerPort"] for port in container["ports"]}
        for probe in ("startupProbe", "livenessProbe"):
            asked = container[probe].get("httpGet") or container[probe]["tcpSocket"]
            assert asked["port"] in ports
    assert container["ports"][0]["containerPort"] == int(SETTINGS["memsvc"]["data"]["MEMSVC_WORKER_METRICS_PORT"])
    [api] = WORK["memsvc-api"]["spec"]["template"]["spec"]["containers"]
    assert api["ports"][0]["containerPort"] == Settings.model_fields["port"].default
    assert api["readinessProbe"]["httpGet"]["path"] == "/health"
    service = of_kind("Service")["memsvc"]["spec"]
    assert service["selector"].items() <= WORK["memsvc-api"]["spec"]["template"]["metadata"]["labels"].items()
    [rule] = of_kind("Ingress")["memsvc"]["spec"]["rules"]
    assert rule["http"]["paths"][0]["backend"]["service"] == {"name": "memsvc", "port": {"name": "http"}}


def test_all_that_is_not_named_is_closed() -> None:
    policies = of_kind("NetworkPolicy")
    everything = policies["nothing-else"]["spec"]
    assert everything["policyTypes"] == ["Ingress", "Egress"]
    for policy in policies.values():
        for work in WORK.values():
            wanted = policy["spec"]["podSelector"]["matchLabels"]
            assert wanted.items() <= work["spec"]["template"]["metadata"]["labels"].items()
    assert of_kind("Secret") == {}, "secrets are made, not written down"
    database = of_kind("Cluster")["memsvc-db"]
    [to_database] = [
        rule for rule in policies["from-memsvc"]["spec"]["egress"] if rule["ports"] == [{"port": 5432}]
    ]  # fmt: skip
    assert to_database["to"][0]["podSelector"]["matchLabels"] == {"cnpg.io/cluster": database["metadata"]["name"]}
    assert f"@{database['metadata']['name']}-rw/" in (KUBERNETES / "make-secrets.sh").read_text()
