"""The built web page: it is what its sources say, small, and asks nobody but its own server."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

from memsvc.api.page import CONTENT_SECURITY_POLICY, DIST, page_files

WEB = Path(__file__).resolve().parents[2] / "web"
MOST_GZIP_BYTES = 350_000
LATER = ("Graph", "Map", "layout", "countries", "land")
"""Files of the graph and of the map, by the beginnings of their names: large, and loaded with these screens."""
MOST_LINES = 300


def sources() -> dict[str, Path]:
    """Everything that decides on the built files, as web/digest.mjs lists it."""
    named = [WEB / name for name in ("index.html", "package-lock.json", "tsconfig.json", "vite.config.ts")]
    inside = [path for path in (WEB / "src").rglob("*") if path.is_file()]
    return {path.relative_to(WEB).as_posix(): path for path in (*inside, *named)}


def test_the_built_page_is_made_of_these_sources() -> None:
    whole = hashlib.sha256()
    for name, path in sorted(sources().items()):
        whole.update(f"{name}\n".encode() + hashlib.sha256(path.read_bytes()).hexdigest().encode())
    assert (DIST / "sources.sha256").read_text().strip() == whole.hexdigest(), "run 'make web'"


def test_the_page_is_small_and_loads_only_its_own_files() -> None:
    files = page_files()
    scripts = {name: file for name, file in files.items() if name.endswith((".js", ".css"))}
    small = [len(file.packed) for name, file in scripts.items() if not name.startswith(LATER)]
    assert sum(small) < MOST_GZIP_BYTES
    page = files["index.html"].body.decode()
    loaded = {path.removeprefix("/assets/") for path in re.findall(r'(?:src|href)="([^"]*)"', page)}
    assert loaded < set(files)
    named = "".join(file.body.decode() for file in scripts.values())
    assert [name for name in scripts if name not in loaded and name not in named] == [], "nothing loads it"
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=", page), "the policy would refuse it"
    assert "unsafe" not in CONTENT_SECURITY_POLICY
    assert "http" not in CONTENT_SECURITY_POLICY


def test_sources_keep_the_rules_of_the_house() -> None:
    for name, path in sources().items():
        if name.startswith("src/"):
            text = path.read_text(encoding="utf-8")
            words = name.startswith("src/words/")  # all texts of a language are one file
            assert words or text.count("\n") <= MOST_LINES, name
            assert "dangerouslySetInnerHTML" not in text, f"{name}: text is always shown as text"
            assert "innerHTML" not in text, name


def test_the_lock_pins_versions_and_names_no_registry() -> None:
    lock = (WEB / "package-lock.json").read_text()
    assert "://" not in re.sub(r'"(?:url|funding|license)": .*', "", lock)
    wanted = json.loads((WEB / "package.json").read_text())
    pinned = {**wanted["dependencies"], **wanted["devDependencies"]}
    assert all(re.fullmatch(r"[0-9.]+", version) for version in pinned.values())
