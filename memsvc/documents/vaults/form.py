"""What a folder of notes is once it is read: notes with their links, tags, headings and tasks."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Flavour = Literal["obsidian", "logseq", "foam", "notion", "markdown"]
LinkKind = Literal["wiki", "embed", "markdown", "image", "block"]
TaskState = Literal["open", "done", "cancelled"]


class Detected(msgspec.Struct, frozen=True):
    """How sure it is that a folder belongs to a program."""

    flavour: Flavour
    sure: float
    """0 (it does not) to 1."""
    why: str
    """By what, for people: "the folder .obsidian"."""


class Link(msgspec.Struct, frozen=True, kw_only=True):
    """A link from one note to another, or to another file of the folder."""

    line: int
    """Of the owner's text, from 1."""
    kind: LinkKind
    """wiki: [[…]]; embed: ![[…]]; markdown: [text](path); image: ![text](path); block: ((id))."""
    target: str
    """As written, without section and alias; percent signs of paths are decoded. "" is the note itself."""
    section: str | None = None
    """After "#": a heading, or a block's id after "^"."""
    alias: str | None = None
    """What is shown instead of the target."""
    resolves_to: tuple[str, ...] = ()
    """Paths of notes. Several: the link is ambiguous. None: it is broken, unless it names a file."""
    file: str | None = None
    """Path of the file that it names, if that is no note."""

    @property
    def is_broken(self) -> bool:
        """Whether nothing in the folder has this name."""
        return not self.resolves_to and self.file is None

    @property
    def is_ambiguous(self) -> bool:
        """Whether several notes have this name."""
        return len(self.resolves_to) > 1


class Heading(msgspec.Struct, frozen=True, kw_only=True):
    """A heading of a note."""

    line: int
    level: int
    """1 to 6."""
    text: str


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """Something to do."""

    line: int
    text: str
    """Without its box and its dates."""
    state: TaskState
    due: str | None = None
    """YYYY-MM-DD."""
    scheduled: str | None = None
    """YYYY-MM-DD."""


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """One note, without the section that memsvc wrote into it."""

    path: str
    """In its folder, with "/" between names."""
    title: str
    """From its frontmatter or properties, its first heading of level 1 or its file's name."""
    hash: str
    """SHA-256 of the owner's bytes as they were read, in hexadecimal."""
    text: str
    """The owner's text with its frontmatter; lines end with LF."""
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    """Without "#", each once, as first written: from its frontmatter, its properties and its text."""
    metadata: dict[str, Any] = {}
    """Frontmatter and properties, apart from title, aliases and tags."""
    headings: tuple[Heading, ...] = ()
    blocks: dict[str, int] = {}
    """Line of each block that has an id."""
    links: tuple[Link, ...] = ()
    tasks: tuple[Task, ...] = ()
    date: str | None = None
    """YYYY-MM-DD of a daily note or journal page."""


class Vault(msgspec.Struct, frozen=True, kw_only=True):
    """A folder of notes."""

    flavours: tuple[Flavour, ...]
    """The programs that it belongs to, the surest first."""
    notes: tuple[Note, ...]
    """By path."""
    files: tuple[str, ...] = ()
    """Paths of the other files, which are not read."""
    odd: dict[str, int] = {}
    """What was left out or looked strange, each with how often: "drawings"."""
