"""The formats of documents: the built-in ones and those that other packages add, all as entry points.

The built-in ones are entry points in code, so that a checkout has them without being installed anew. A format says how
its files are recognised, and names the module that reads them, which only the reading process imports. So a format's
own module must be quick to import.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import msgspec

from memsvc.errors import ConfigurationError

ENTRY_POINTS = "memsvc.documents"
OURS = "memsvc.documents.built_in:"
BUILT_IN = tuple(
    EntryPoint(name, OURS + what, ENTRY_POINTS)
    for name, what in (
        ("pdf", "PDF"), ("docx", "WORD"), ("pptx", "SLIDES"), ("xlsx", "SHEETS"), ("odt", "OPEN_DOCUMENT"),
        ("epub", "EPUB"), ("ole", "OLE"), ("rtf", "RTF"), ("html", "HTML"), ("ipynb", "NOTEBOOK"), ("md", "MARKDOWN"),
        ("txt", "TEXT"), ("csv", "CSV"), ("tsv", "TSV"), ("code", "CODE"),
    )
)  # fmt: skip


class Format(msgspec.Struct, frozen=True, kw_only=True):
    """A format of documents."""

    name: str
    """Short, as in ``ParsedDocument.format``, and the name of its entry point."""
    reader: str
    """The module whose ``read(path, name, reading)`` reads it into a ``memsvc.documents.blocks.Reading``."""
    shown: str
    """For people: "PDF", "Word"."""
    extensions: tuple[str, ...] = ()
    """Of files' names, in lower case and without the dot."""
    is_text: bool = False
    """Whether files are plain text, which only their name tells apart."""
    starts: tuple[bytes, ...] = ()
    """How files begin that only this format has; each of 4 bytes or more."""
    member: str | None = None
    """Of packed files: a member that only this format has."""
    mimetypes: tuple[str, ...] = ()
    """Of packed files: what their member ``mimetype`` may say."""

    @property
    def is_packed(self) -> bool:
        """Whether files are zip files."""
        return self.member is not None or bool(self.mimetypes)

    @property
    def is_built_in(self) -> bool:
        """Whether memsvc itself reads it."""
        return self.reader.startswith("memsvc.")


@dataclass(slots=True)
class Catalogue:
    """All formats, by what they are recognised by."""

    named: dict[str, Format] = field(default_factory=dict)
    extensions: dict[str, Format] = field(default_factory=dict)
    starts: dict[bytes, Format] = field(default_factory=dict)
    members: dict[str, Format] = field(default_factory=dict)
    mimetypes: dict[str, Format] = field(default_factory=dict)

    def add(self, point: EntryPoint, format_: Format) -> None:
        """Add the format of an entry point.

        Raises:
            ConfigurationError: another one has its name, or is recognised by the same.
        """
        by: tuple[tuple[dict[Any, Format], Iterable[str | bytes]], ...] = (
            (self.named, (format_.name,)),
            (self.extensions, format_.extensions),
            (self.starts, format_.starts),
            (self.members, (format_.member,) if format_.member else ()),
            (self.mimetypes, format_.mimetypes),
        )
        for table, keys in by:
            for key in keys:
                if (first := table.setdefault(key, format_)) is not format_:
                    raise _unusable(point, f"{key!r} is also of the format {first.name!r}")


@cache
def catalogue() -> Catalogue:
    """Return all formats.

    Raises:
        ConfigurationError: a format of another package cannot be used.
    """
    found = Catalogue()
    for point in (*BUILT_IN, *entry_points(group=ENTRY_POINTS)):
        try:
            format_ = point.load()
        except Exception as error:
            raise _unusable(point, f"loading it raises {type(error).__name__}") from error
        if not isinstance(format_, Format):
            raise _unusable(point, "it is no memsvc.documents.catalogue.Format")
        if format_.name != point.name:
            raise _unusable(point, f"it calls itself {format_.name!r}")
        if any(len(start) < 4 for start in format_.starts):  # noqa: PLR2004 - as its docstring says
            raise _unusable(point, "one of its starts has less than 4 bytes")
        found.add(point, format_)
    return found


def _unusable(point: EntryPoint, why: str) -> ConfigurationError:
    return ConfigurationError(
        f"The format of documents {point.name!r} cannot be used: {why}.",
        hint=f"Correct or remove the package that adds it: {point.value}.",
    )
