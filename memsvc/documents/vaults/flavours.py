"""Which program a folder of notes belongs to, by the files that the program leaves in it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from memsvc.documents.vaults.folder import Listing, listing, read_once
from memsvc.documents.vaults.form import Detected, Flavour

SURE = 0.5
"""A folder belongs to each flavour that is at least so sure; Obsidian and Logseq can share one."""
NOTION_ID = re.compile(r"\s+[0-9a-f]{32}$")
WIKI = re.compile(rb"\[\[[^\[\]\n]+\]\]")
ENOUGH_NOTES = 3
LOOKED_AT = 200
"""Notes that are opened to look for wiki links."""
SETTING = re.compile(rb'"foam\.')
EXTENSION = re.compile(rb"foam\.foam-vscode")


def detect(folder: Path) -> tuple[Detected, ...]:
    """Say for each flavour how sure it is and by what; the surest comes first.

    Raises:
        BadFileError: there is no such folder, or it cannot be read.
    """
    return detected(folder, listing(folder))


def detected(folder: Path, found: Listing) -> tuple[Detected, ...]:
    """Return what ``detect`` says of a folder that is listed already."""
    checked = (_obsidian(folder), _logseq(folder), _foam(folder), _notion(found), _markdown(folder, found))
    return tuple(sorted(checked, key=lambda one: -one.sure))


def flavours_of(said: Sequence[Detected]) -> tuple[Flavour, ...]:
    """Return the flavours that a folder has, the surest first; plain Markdown where no program is recognised."""
    sure = tuple(one.flavour for one in said if one.sure >= SURE and one.flavour != "markdown")
    return sure or ("markdown",)


def _obsidian(folder: Path) -> Detected:
    if (folder / ".obsidian").is_dir():
        return Detected("obsidian", 0.99, "the folder .obsidian")
    return Detected("obsidian", 0.0, "")


def _logseq(folder: Path) -> Detected:
    if (folder / "logseq" / "config.edn").is_file():
        return Detected("logseq", 0.99, "logseq/config.edn")
    if (folder / "journals").is_dir() and (folder / "pages").is_dir():
        return Detected("logseq", 0.6, "the folders journals and pages")
    return Detected("logseq", 0.0, "")


def _foam(folder: Path) -> Detected:
    code = folder / ".vscode"
    if (folder / ".foam").is_dir():
        return Detected("foam", 0.95, "the folder .foam")
    if (code / "foam").exists() or (code / "foam.json").is_file():
        return Detected("foam", 0.95, ".vscode/foam")
    for name, mark in (("settings.json", SETTING), ("extensions.json", EXTENSION)):
        path = code / name
        if path.is_file() and (data := read_once(path, Counter())) and mark.search(data):
            return Detected("foam", 0.9, f".vscode/{name}")
    return Detected("foam", 0.0, "")


def _notion(found: Listing) -> Detected:
    named = sum(NOTION_ID.search(PurePosixPath(path).stem) is not None for path in found.notes)
    if not named:
        return Detected("notion", 0.0, "")
    share = named / len(found.notes)
    return Detected(
        "notion", round(0.95 * share, 2), f"{named} of {len(found.notes)} names end with an id of 32 digits"
    )


def _markdown(folder: Path, found: Listing) -> Detected:
    count = len(found.notes)
    if not count:
        return Detected("markdown", 0.0, "")
    looked = found.notes[:LOOKED_AT]
    linked = sum(WIKI.search(read_once(folder / path, Counter()) or b"") is not None for path in looked)
    if count >= ENOUGH_NOTES and linked:
        return Detected("markdown", 0.7, f"{linked} of {len(looked)} notes have wiki links")
    return Detected("markdown", 0.4 if count >= ENOUGH_NOTES else 0.2, f"files that end with .md: {count}")
