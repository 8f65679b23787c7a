"""JSON files of any size, read without loading them.

A file is mapped into memory, and msgspec finds where each value begins and ends (some 1 GB/s). Only the value that is
looked at becomes objects.
"""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from memsvc.errors import BadFileError

T = TypeVar("T")
SMALL_BYTES = 1 << 16
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def decode(text: msgspec.Raw | bytes | memoryview, form: type[T] | Any = Any) -> Any:
    """Decode JSON to a form.

    Raises:
        msgspec.DecodeError: the text is not JSON, is not UTF-8, is nested too deeply, or has another form.
    """
    try:
        return msgspec.json.decode(text, type=form)
    except UnicodeDecodeError as error:
        raise msgspec.DecodeError("It is not UTF-8.") from error
    except RecursionError as error:
        raise msgspec.DecodeError("It is nested too deeply.") from error


def decoded(text: msgspec.Raw | bytes, form: Any, where: str) -> Any:
    """Decode JSON to a form.

    Raises:
        BadFileError: as ``decode``; names the position.
    """
    try:
        return decode(text, form)
    except msgspec.DecodeError as error:
        raise BadFileError(f"{where}: {error}") from error


class Document:
    """A JSON file: an array, an object, or something that is not JSON."""

    def __init__(self, path: Path, shown: str) -> None:
        """Map a file.

        Args:
            path: a local file.
            shown: its name for people.
        """
        self.shown = shown
        with path.open("rb") as file:
            empty = path.stat().st_size == 0
            self._content = b"" if empty else mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

    @cached_property
    def text(self) -> memoryview:
        """The whole document."""
        text = memoryview(self._content)
        return text[len(BYTE_ORDER_MARK) :] if text[: len(BYTE_ORDER_MARK)] == BYTE_ORDER_MARK else text

    @cached_property
    def _parsed(self) -> list[msgspec.Raw] | dict[str, msgspec.Raw] | msgspec.DecodeError:
        try:
            found: list[msgspec.Raw] | dict[str, msgspec.Raw] = decode(
                self.text, list[msgspec.Raw] | dict[str, msgspec.Raw]
            )
        except msgspec.DecodeError as error:
            return error
        return found

    @property
    def entries(self) -> Sequence[msgspec.Raw]:
        """The values of an array; empty if it is none."""
        return self._parsed if isinstance(self._parsed, list) else ()

    @property
    def fields(self) -> dict[str, msgspec.Raw]:
        """The values of an object; empty if it is none."""
        return self._parsed if isinstance(self._parsed, dict) else {}

    @property
    def values(self) -> Sequence[msgspec.Raw]:
        """The values of an array, or the object alone."""
        return [msgspec.Raw(self.text)] if self.fields else self.entries

    @property
    def is_container(self) -> bool:
        """Whether it is an array or an object."""
        return not isinstance(self._parsed, msgspec.DecodeError)

    @property
    def begins(self) -> bool:
        """Whether it begins like an array or an object."""
        return bytes(self.text[:1024]).lstrip()[:1] in {b"[", b"{"}

    def check(self) -> None:
        """Raise what is wrong with it.

        Raises:
            BadFileError: it is not JSON.
        """
        if isinstance(self._parsed, msgspec.ValidationError):
            raise BadFileError(f"{self.shown} is JSON, but has no messages.")
        if isinstance(self._parsed, msgspec.DecodeError):
            raise BadFileError(f"{self.shown}: {self._parsed}") from self._parsed

    def outline(self, most: int) -> Any:
        """Return the shape: of arrays the first values, of large objects within it the names alone."""
        if isinstance(self._parsed, list):
            return [_outlined(raw, most) for raw in self._parsed[:most]]
        if isinstance(self._parsed, dict):
            return {name: _outlined(raw, most) for name, raw in self._parsed.items()}
        return None


def _outlined(raw: msgspec.Raw, most: int) -> Any:
    text = memoryview(raw)
    first = bytes(text[:1])
    try:
        if len(text) <= SMALL_BYTES:
            return decode(text)
        if first == b"[":
            return [_outlined(value, most) for value in decode(text, list[msgspec.Raw])[:most]]
        if first == b"{":
            return {
                name: _outlined(value, most) if len(memoryview(value)) <= SMALL_BYTES else _empty(value)
                for name, value in decode(text, dict[str, msgspec.Raw]).items()
            }
    except msgspec.DecodeError:
        pass
    return None


def _empty(raw: msgspec.Raw) -> Any:
    return {b"[": [], b"{": {}}.get(bytes(memoryview(raw)[:1]), "")
