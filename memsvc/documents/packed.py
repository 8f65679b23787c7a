"""Packed documents (docx, pptx, xlsx, odt, epub): members are read into memory within limits, never onto the disk.

A member is found by its exact name in the archive, so a name such as "../../etc/passwd" leads nowhere.
"""

from __future__ import annotations

import posixpath
import struct
import zipfile
import zlib
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import unquote

from memsvc.documents.limits import Limits
from memsvc.errors import BadFileError, DocumentEncryptedError, DocumentTooLargeError

MAGIC = b"PK\x03\x04"
MOST_DIRECTORY_BYTES = 16 << 20
UNSUSPICIOUS_BYTES = 10 << 20
MOST_TIMES = 200
"""A member may unpack to this many times its size, or to ``UNSUSPICIOUS_BYTES``."""
END = b"PK\x05\x06"
END64_LOCATOR = b"PK\x06\x07"
END_BYTES, COMMENT_BYTES = 22, 65_535
IS_ENCRYPTED = 0x1
UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError, struct.error)


def central_directory_bytes(path: Path) -> int:
    """Return the size of a zip file's list of members, which the standard library reads as a whole.

    Raises:
        ValueError: there is none.
        OSError: the file cannot be read.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        file.seek(max(0, size - END_BYTES - COMMENT_BYTES))
        rest = file.read()
    begin = rest.rfind(END)
    if begin < 0 or len(rest) < begin + END_BYTES:
        message = "it has no central directory"
        raise ValueError(message)
    (listed,) = struct.unpack_from("<L", rest, begin + 12)
    # The format of large archives has its figure elsewhere; no document needs it.
    return size if END64_LOCATOR in rest[:begin] or listed > size else int(listed)


class Packed:
    """An open archive. Use it as a context manager."""

    def __init__(self, path: Path, limits: Limits) -> None:
        """Open an archive and check its members' declared sizes.

        Raises:
            BadFileError: it is damaged.
            DocumentEncryptedError: a member has a password.
            DocumentTooLargeError: it has too many members, or they unpack to too much.
        """
        self._limits = limits
        self._unpacked = 0
        try:
            if central_directory_bytes(path) > MOST_DIRECTORY_BYTES:
                raise DocumentTooLargeError("The document is an archive of too many members.")
            self._archive = zipfile.ZipFile(path)
        except UNREADABLE as error:
            raise BadFileError("The document is damaged: it is an archive whose list of members is broken.") from error
        self._members = {member.filename: member for member in self._archive.infolist()}
        if len(self._archive.infolist()) > limits.members:
            raise DocumentTooLargeError(
                f"The document is an archive of more than {limits.members:,} members.", limit=limits.members
            )
        if any(member.flag_bits & IS_ENCRYPTED for member in self._members.values()):
            raise DocumentEncryptedError
        if sum(member.file_size for member in self._members.values()) > limits.unpacked_bytes:
            raise self._too_large()

    def __enter__(self) -> Self:
        """Return the archive."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _at: TracebackType | None
    ) -> None:
        """Close the archive."""
        self._archive.close()

    def __contains__(self, name: str) -> bool:
        """Whether there is a member of this name."""
        return name in self._members

    def names(self) -> list[str]:
        """Return the members' names, in the archive's order."""
        return list(self._members)

    def read(self, name: str) -> bytes:
        """Return a member's content.

        Raises:
            BadFileError: there is none of this name, or it is damaged.
            DocumentTooLargeError: it unpacks to far more than its size, or all members together to too much.
        """
        member = self._members.get(name)
        if member is None:
            raise BadFileError(f"The document is damaged: its part {name[:100]!r} is missing.")
        most = max(UNSUSPICIOUS_BYTES, member.compress_size * MOST_TIMES)
        most = min(most, self._limits.unpacked_bytes - self._unpacked)
        try:
            with self._archive.open(member) as content:
                data = content.read(most + 1)
        except UNREADABLE as error:
            raise BadFileError(f"The document is damaged: its part {name[:100]!r} cannot be unpacked.") from error
        if len(data) > most:
            raise self._too_large()
        self._unpacked += len(data)
        return data

    def find(self, name: str) -> bytes | None:
        """Return a member's content; None if there is none. Raises: as ``read``."""
        return self.read(name) if name in self._members else None

    def _too_large(self) -> DocumentTooLargeError:
        return DocumentTooLargeError(
            f"The document unpacks to far more than its size, or to more than {self._limits.unpacked_bytes:,} bytes.",
            limit=self._limits.unpacked_bytes,
        )


def resolved(target: str, holder: str) -> str:
    """Return the name of the member that a relative target leads to from the member that names it."""
    target = unquote(target.split("#", 1)[0])
    if target.startswith("/"):
        return posixpath.normpath(target).lstrip("/")
    return posixpath.normpath(posixpath.join(posixpath.dirname(holder), target))
