"""Environments of other programs, outside memsvc's own: in the user's cache folder, with pinned packages.

Nothing of memsvc imports what is in there. Such a program runs in a process of its own and speaks lines of JSON.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.harness import REPOSITORY
from memsvc.errors import ConfigurationError

DONE = ".complete"


def cache_folder() -> Path:
    """The benches' part of the user's cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "memsvc-bench"


def environment(name: str, requirements: Sequence[str]) -> Path:
    """The Python of an environment with these packages, made where it is not there yet.

    Args:
        name: names the folder, together with the first requirement's version.
        requirements: exact versions, as pip reads them.

    Raises:
        ConfigurationError: the packages cannot be installed.
    """
    folder = cache_folder() / f"{name}-{requirements[0].rpartition('==')[2]}"
    python = folder / "bin" / "python"
    wanted = "\n".join(requirements)
    if (folder / DONE).is_file() and (folder / DONE).read_text(encoding="utf-8") == wanted:
        return python
    shutil.rmtree(folder, ignore_errors=True)  # half made, or of other versions
    folder.parent.mkdir(parents=True, exist_ok=True)
    print(f"installing {', '.join(requirements)} into {folder} …", file=sys.stderr)
    quiet = ["--quiet", "--disable-pip-version-check", "--only-binary", ":all:"]
    try:
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", *quiet, *requirements], check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise ConfigurationError(f"{requirements[0]} could not be installed.", hint="It comes from PyPI.") from error
    (folder / DONE).write_text(wanted, encoding="utf-8")
    return python


class Side:
    """A program that answers each line of JSON with one; its own output goes to stderr."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        """Speak with a process."""
        self._process = process

    def ask(self, operation: str, **asked: Any) -> dict[str, Any]:
        """What it answers.

        Raises:
            RuntimeError: it ended, or says that it could not.
        """
        if self._process.stdin is None or self._process.stdout is None:
            raise RuntimeError("the other program was not started with pipes")
        self._process.stdin.write(json.dumps({"operation": operation, **asked}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the other program ended at {operation!r} with {self._process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise RuntimeError(f"the other program failed at {operation!r}: {answer['error']}")
        return answer


@contextmanager
def side(python: Path, module: str) -> Iterator[Side]:
    """Run a module of the benches with an environment's Python while the block runs."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MEMSVC_", "PYTHON"))}
    process = subprocess.Popen(
        [str(python), "-P", "-m", module], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8",
        env=environment | {"PYTHONPATH": str(REPOSITORY), "LANCEDB_LOG": "error"},
    )  # fmt: skip
    try:
        yield Side(process)
    finally:
        if process.stdin is not None:
            process.stdin.close()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
