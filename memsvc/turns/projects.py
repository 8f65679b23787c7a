"""Find a project on this machine, and what it is called wherever it lies.

A project's root is the nearest folder upward with a version control folder, else the nearest with a marker file. Its
name survives moving, renaming and cloning the folder: the remote's address, else what the marker says, else the
folder's name.
"""

from __future__ import annotations

import configparser
import json
import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

VCS = (".git", ".hg", ".svn")
OWN_MARKER = ".memsvc-project"
"""A file whose first line is the project's name; it decides wherever it lies."""
MAX_MARKER_BYTES = 1_000_000
MAX_NAME_CHARS = 200
SCP = re.compile(r"(?:[^@/\s]+@)?(?P<host>[^:/\s]+):(?P<path>[^/\s].*)")
URL = re.compile(r"[a-z][a-z0-9+.-]*://(?:[^@/]*@)?(?P<host>[^/:]*)(?::\d+)?/(?P<path>.*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Project:
    """Where an agent works."""

    name: str
    """What it is called wherever it lies, 1 to 200 characters."""
    root: str | None = None
    """Its absolute path on this machine; None: unknown."""
    ignores_case: bool = False
    """Its file system takes ``README.md`` and ``readme.md`` for one file."""


def find_project(path: str | os.PathLike[str]) -> Project | None:
    """Return the project that a file or folder belongs to; None: it lies in none. Links are followed."""
    start = Path(os.path.realpath(path))
    folders = [start, *start.parents] if start.is_dir() else list(start.parents)
    for folder in folders:
        if (name := _own_name(folder)) is not None:
            return _project(folder, name)
    for folder in folders:
        if any((folder / one).exists() for one in VCS):
            return _project(folder, _remote(folder) or _marked(folder) or folder.name)
    for folder in folders:
        if any((folder / one).is_file() for one in MARKERS):
            return _project(folder, _marked(folder) or folder.name)
    return None


def project_at(root: str | os.PathLike[str]) -> Project:
    """Return the project whose root is given, or that the root lies in; a folder in none is one by its own name."""
    found = find_project(root)
    if found is not None:
        return found
    folder = Path(os.path.realpath(root))
    return _project(folder, folder.name)


def remote_name(address: str) -> str | None:
    """Return what a remote is called, ``github.com/kim/shop``; None: it has no host."""
    match = URL.fullmatch(address.strip()) or SCP.fullmatch(address.strip())
    if match is None or not match["host"]:
        return None
    path = match["path"].strip("/").removesuffix(".git").strip("/")
    return f"{match['host'].lower()}/{path}" if path else None


def ignores_case(folder: Path) -> bool:
    """Say whether a folder's file system takes names that differ in case for one; False where nothing tells."""
    other = folder.with_name(folder.name.swapcase())
    try:
        return other.name != folder.name and folder.samefile(other)
    except OSError:
        return False


def _project(folder: Path, name: str) -> Project:
    plain = " ".join(name.split()).replace("//", "/")[:MAX_NAME_CHARS] or "project"
    return Project(plain, str(folder), ignores_case(folder))


def _read(path: Path) -> str | None:
    """Return a small file's text; None: there is none that can be read."""
    try:
        if not path.is_file() or path.stat().st_size > MAX_MARKER_BYTES:
            return None
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None


def _own_name(folder: Path) -> str | None:
    lines = (_read(folder / OWN_MARKER) or "").strip().splitlines()
    return lines[0].strip() or None if lines else None


def _remote(folder: Path) -> str | None:
    """Return the name by git's remote: ``origin``, else the first one; a work tree has its configuration elsewhere."""
    git = folder / ".git"
    if git.is_file():
        git = folder / (_read(git) or "").strip().removeprefix("gitdir:").strip()
    common = (_read(git / "commondir") or "").strip()
    told = _read((git / common if common else git) / "config")
    if told is None:
        return None
    config = configparser.RawConfigParser(strict=False, allow_no_value=True)
    try:
        config.read_string(told)
    except configparser.Error:
        return None
    remotes = {one: config.get(one, "url", fallback=None) for one in config.sections() if one.startswith("remote ")}
    wanted = remotes.get('remote "origin"') or next((one for one in remotes.values() if one), None)
    return remote_name(wanted) if wanted else None


def _toml_name(*keys: str) -> Callable[[str], object]:
    def read(told: str) -> object:
        value: object = tomllib.loads(told)
        for key in keys:
            value = value.get(key) if isinstance(value, Mapping) else None
        return value

    return read


def _json_name(told: str) -> object:
    value = json.loads(told)
    return value.get("name") if isinstance(value, Mapping) else None


def _module_name(told: str) -> object:
    found = re.search(r"^module\s+(\S+)", told, re.MULTILINE)
    return found[1] if found else None


MARKERS: Mapping[str, Callable[[str], object]] = {
    "pyproject.toml": _toml_name("project", "name"),
    "package.json": _json_name,
    "Cargo.toml": _toml_name("package", "name"),
    "go.mod": _module_name,
    "pom.xml": lambda _told: None,
    "Gemfile": lambda _told: None,
    "Makefile": lambda _told: None,
}
"""Files that mark a project's root, each with what reads the project's name from it."""


def _marked(folder: Path) -> str | None:
    for marker, read in MARKERS.items():
        told = _read(folder / marker)
        if told is None:
            continue
        try:
            name = read(told)
        except (ValueError, RecursionError):
            continue
        if isinstance(name, str) and name.strip():
            return name.strip()
    return None
