"""Kubernetes's own schemas accept the manifests of ops/kubernetes; no cluster is needed for that."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

pytestmark = pytest.mark.acceptance
CHECKER = "kubernetes-validate==1.37.0"
FOLDER = Path(__file__).parents[2] / "ops" / "kubernetes"
OTHERS = {"kustomization.yaml", "database.yaml"}
"""Kinds that belong to no Kubernetes: kustomize's own, and CloudNativePG's."""


@pytest.fixture(scope="module")
def checker() -> Path:
    """The program, in an environment of its own in the user's cache folder."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "memsvc-tests"
    place = cache / f"kubernetes-{CHECKER.rpartition('=')[2]}-py{sys.version_info.major}{sys.version_info.minor}"
    program = place / "bin" / "kubernetes-validate"
    cache.mkdir(parents=True, exist_ok=True)
    with place.with_suffix(".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not program.exists():
            subprocess.run([sys.executable, "-m", "venv", "--clear", str(place)], check=True)
            subprocess.run([place / "bin" / "pip", "install", "--quiet", CHECKER], check=True)
    return program


def test_the_schemas_of_kubernetes_accept_the_manifests(checker: Path, tmp_path: Path) -> None:
    files = sorted(path for path in FOLDER.glob("*.yaml") if path.name not in OTHERS)
    assert len(files) >= 6
    done = subprocess.run([checker, "--strict", *files], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    wrong = tmp_path / "wrong.yaml"
    api = next(yaml.safe_load_all((FOLDER / "api.yaml").read_text()))
    api["spec"]["template"]["spec"]["containers"][0]["readinesProbe"] = {}
    wrong.write_text(yaml.safe_dump(api))
    assert subprocess.run([checker, "--strict", wrong], capture_output=True, check=False).returncode != 0
