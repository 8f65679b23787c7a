"""Which notes links mean: by path, else by a name that case does not change, else by an alias."""

from __future__ import annotations

import posixpath
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import PurePosixPath

import msgspec

from memsvc.documents.vaults.days import Days
from memsvc.documents.vaults.folder import NOTE_ENDINGS
from memsvc.documents.vaults.form import Flavour, Link, Note
from memsvc.documents.vaults.notes import name_of

FOLDER_NOTES = ("index", "readme")


def folded(name: str) -> str:
    """Return a name as links compare it: without case, composed as Unicode's NFC."""
    return unicodedata.normalize("NFC", name).casefold()


def _key(path: str) -> str:
    stem, ending = posixpath.splitext(path)
    return folded(stem if ending.lower() in NOTE_ENDINGS else path)


class Index:
    """The names of all notes and files of a folder."""

    def __init__(self, notes: Sequence[Note], files: Iterable[str], flavours: tuple[Flavour, ...], days: Days) -> None:
        """Take the names of what is there."""
        self._paths: dict[str, list[str]] = defaultdict(list)
        self._names: dict[str, list[str]] = defaultdict(list)
        self._aliases: dict[str, list[str]] = defaultdict(list)
        self._blocks: dict[str, list[str]] = defaultdict(list)
        self._files: dict[str, list[str]] = defaultdict(list)
        self._file_names: dict[str, list[str]] = defaultdict(list)
        for note in notes:
            self._paths[_key(note.path)].append(note.path)
            for name in _names(note, flavours, days):
                self._names[name].append(note.path)
            for alias in note.aliases:
                self._aliases[folded(alias)].append(note.path)
            for block in note.blocks:
                self._blocks[block].append(note.path)
        for path in files:
            self._files[folded(path)].append(path)
            self._file_names[folded(posixpath.basename(path))].append(path)

    def resolved(self, note: Note) -> Note:
        """Return a note whose links say what they mean."""
        if not note.links:
            return note
        return msgspec.structs.replace(note, links=tuple(self._resolved(note.path, link) for link in note.links))

    def _resolved(self, source: str, link: Link) -> Link:
        if not link.target and link.section is not None and link.section.startswith("^"):
            block = link.section[1:]
            holders = self._blocks.get(block, [])
            # Obsidian's ids are a note's own; Logseq's ((id)) are the whole folder's.
            is_own = link.kind == "wiki" or source in holders
            return msgspec.structs.replace(link, resolves_to=(source,) if is_own else tuple(sorted(set(holders))))
        if not link.target:
            return msgspec.structs.replace(link, resolves_to=(source,))
        is_path = link.kind in {"markdown", "image"}
        found = self._note(source, link.target, is_path=is_path)
        if found:
            return msgspec.structs.replace(link, resolves_to=tuple(found))
        return msgspec.structs.replace(link, file=self._file(source, link.target, is_path=is_path))

    def _note(self, source: str, target: str, *, is_path: bool) -> list[str]:
        exact = posixpath.splitext(target)[0] if posixpath.splitext(target)[1].lower() in NOTE_ENDINGS else target
        for find in self._ways(source, _key(target), is_path=is_path):
            if paths := sorted(set(find())):
                same_case = [path for path in paths if PurePosixPath(path).stem == posixpath.basename(exact)]
                return same_case if len(same_case) == 1 else paths
        return []

    def _ways(self, source: str, key: str, *, is_path: bool) -> Iterable[Callable[[], Iterable[str]]]:
        """Return what to try, one after the other."""
        beside = _joined(source, key)
        if key.startswith(("./", "../")):
            return (lambda: self._paths.get(beside, ()),)
        key = key.strip("/")
        at_top, near = (lambda: self._paths.get(key, ())), (lambda: self._paths.get(beside, ()))
        by_name: tuple[Callable[[], Iterable[str]], ...] = (
            lambda: self._names.get(key, ()),
            lambda: self._ending(key),
        )
        if is_path:
            return (near, at_top, *by_name)
        folder_note: Callable[[], Iterable[str]] = lambda: (  # noqa: E731 - one of a row of ways
            path for name in FOLDER_NOTES for path in self._paths.get(f"{key}/{name}", ())
        )
        between = (near,) if "/" in key else ()
        return (at_top, *between, *by_name, folder_note, lambda: self._aliases.get(key, ()))

    def _ending(self, key: str) -> Iterable[str]:
        """Yield paths that end with a path."""
        if "/" not in key:
            return ()
        named = self._names.get(posixpath.basename(key), ())
        return (path for path in named if f"/{_key(path)}".endswith(f"/{key}"))

    def _file(self, source: str, target: str, *, is_path: bool) -> str | None:
        key = folded(target)
        beside = self._files.get(_joined(source, key), [])
        at_top = self._files.get(key.strip("/"), [])
        named = self._file_names.get(key, []) if "/" not in key else []
        for paths in (beside, at_top, named) if is_path else (at_top, named, beside):
            if paths:
                return min(paths, key=lambda path: (posixpath.basename(path) != posixpath.basename(target), path))
        return None


def _joined(source: str, key: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(folded(source)), key))


def _names(note: Note, flavours: tuple[Flavour, ...], days: Days) -> set[str]:
    names = {PurePosixPath(note.path).stem, name_of(note.path, flavours)}
    if "logseq" in flavours:
        if note.title not in {heading.text for heading in note.headings}:
            names.add(note.title)
        if note.date is not None:
            names.add(days.page_title(note.date) or note.title)
    return {folded(name) for name in names}
