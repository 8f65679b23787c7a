"""The files that are read: a file, a folder, a zip file or standard input, unpacked where needed.

Kinds see a bundle of named files and never the packing. Packed files are unpacked into a private temporary folder
under names of our own, so that no name within an archive can lead elsewhere. What unpacks to far more than its size is
refused.
"""

from __future__ import annotations

import gzip
import os
import shutil
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime, tzinfo
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import IO, BinaryIO

from memsvc.errors import BadFileError
from memsvc.sources.foreign import packed_document
from memsvc.sources.kinds.json_files import Document
from memsvc.sources.kinds.temporary import temporary_folder
from memsvc.transfer.archive import UNREADABLE

HEAD_BYTES = 1 << 16
PIECE_BYTES = 1 << 20
UNSUSPICIOUS_BYTES = 1 << 30
MOST_KEPT_BYTES = 1 << 30
"""What was unpacked is removed before another file is, if it is more."""
MOST_TIMES = 200
"""A packed file may unpack to this many times its size, or to ``UNSUSPICIOUS_BYTES``."""
STDIN = "-"
ZIP = b"PK\x03\x04"


class Bundle:
    """One or more files that belong together."""

    def __init__(self, name: str, files: Sequence[str], place: Place) -> None:
        """Name the files.

        Args:
            name: for people: "export.zip".
            files: paths within the bundle with forward slashes, sorted.
            place: where their content comes from.
        """
        self.name = name
        self.files = tuple(files)
        self._place = place

    @property
    def only(self) -> str | None:
        """The file's path if the bundle has exactly one."""
        return self.files[0] if len(self.files) == 1 else None

    def narrowed(self, files: Sequence[str], name: str | None = None) -> Bundle:
        """Return a bundle of some of the files."""
        return Bundle(name or self.name, files, self._place)

    def path(self, file: str) -> Path:
        """Return a local file with the unpacked content.

        Raises:
            BadFileError: it cannot be read.
        """
        try:
            return self._place.path(file)
        except UNREADABLE as error:
            raise unreadable(self.shown(file), error) from error

    def head(self, file: str) -> bytes:
        """Return the first 64 KiB. Raises: as ``path``."""
        try:
            with self._place.open(file) as content:
                return content.read(HEAD_BYTES)
        except UNREADABLE as error:
            raise unreadable(self.shown(file), error) from error

    def modified(self, file: str, zone: tzinfo) -> datetime:
        """Return when the file was last written; of standard input, now.

        Args:
            file: the file.
            zone: of a member of a zip file, whose time has none.

        Raises:
            BadFileError: as ``path``.
        """
        try:
            return self._place.modified(file, zone)
        except UNREADABLE as error:
            raise unreadable(self.shown(file), error) from error

    @property
    def is_folder(self) -> bool:
        """Whether the files lie in a folder, not in a zip file or alone."""
        return self._place.is_folder

    def identity(self, file: str) -> str | None:
        """Return the file's absolute path, in a zip file with the archive's before it; None: it is standard input."""
        return self._place.identity(file)

    def release(self) -> None:
        """Remove what was unpacked; it is unpacked again if it is needed."""
        self._place.release()

    def document(self, file: str) -> Document:
        """Return the file as JSON. Raises: as ``path``."""
        return self._place.document(self.path(file), self.shown(file))

    def shown(self, file: str) -> str:
        """Return the file's name for people."""
        return self.name if self.only is not None else f"{self.name}/{file}"

    @cached_property
    def stem(self) -> str:
        """The name without folder and ending, for a conversation that has no other name."""
        name = PurePosixPath(self.only or self.name).name.removesuffix(".gz")
        return name.removesuffix(".jsonl").removesuffix(".json")


class Place:
    """A folder, a zip file or a single file, from which bundles are read; unpacks into a temporary folder."""

    def __init__(self, root: Path, *, is_passing: bool = False) -> None:
        """Read from a path; ``is_passing``: it is a copy of standard input."""
        self._root = root
        self._is_passing = is_passing
        self._unpacked: dict[str, Path] = {}
        self._document: tuple[Path, Document] | None = None
        self._temporary = ExitStack()

    @cached_property
    def _folder(self) -> Path:
        return self._temporary.enter_context(temporary_folder())

    @property
    def is_folder(self) -> bool:
        """Whether this is a folder."""
        return self._root.is_dir()

    def release(self) -> None:
        """Remove what was unpacked; it is unpacked again if it is needed."""
        self._document = None
        self._unpacked.clear()
        self._temporary.close()
        self.__dict__.pop("_folder", None)

    def close(self) -> None:
        """Remove what was unpacked, for good."""
        self.release()

    def open(self, file: str) -> IO[bytes]:
        """Open a file's unpacked content."""
        path = self._root / file if self._root.is_dir() else self._root
        return gzip.open(path, "rb") if file.endswith(".gz") else path.open("rb")  # type: ignore[return-value]

    def identity(self, file: str) -> str | None:
        """Return a file's absolute path; None: it is a copy."""
        if self._is_passing:
            return None
        return (self._root / file if self._root.is_dir() else self._root).resolve().as_posix()

    def size(self, file: str) -> int:
        """Return a file's packed size in bytes."""
        return (self._root / file if self._root.is_dir() else self._root).stat().st_size

    def modified(self, file: str, zone: tzinfo) -> datetime:  # noqa: ARG002 - of zip files
        """Return when a file was last written; ``zone``: of a time that has none."""
        path = self._root / file if self._root.is_dir() else self._root
        return datetime.fromtimestamp(path.stat().st_mtime, UTC).replace(microsecond=0)

    def path(self, file: str) -> Path:
        """Return a local file with the unpacked content."""
        if not file.endswith(".gz"):
            return self._root / file if self._root.is_dir() else self._root
        return self._unpack(file)

    def _unpack(self, file: str) -> Path:
        if file not in self._unpacked:
            if sum(path.stat().st_size for path in self._unpacked.values()) > MOST_KEPT_BYTES:
                self.release()
            target = self._folder / str(len(self._unpacked))
            with self.open(file) as content, target.open("wb") as unpacked:
                copy(content, unpacked, self.size(file), file)
            self._unpacked[file] = target
        return self._unpacked[file]

    def document(self, path: Path, shown: str) -> Document:
        """Return a file as JSON; the last one is kept open, because each kind looks at it."""
        if self._document is None or self._document[0] != path:
            self._document = (path, Document(path, shown))
        return self._document[1]


class ZipPlace(Place):
    """A zip file."""

    def __init__(self, root: Path, *, is_passing: bool = False) -> None:
        """Open the archive."""
        super().__init__(root, is_passing=is_passing)
        self.archive = zipfile.ZipFile(root)

    def close(self) -> None:
        """Close the archive and remove what was unpacked."""
        self.archive.close()
        super().close()

    def open(self, file: str) -> IO[bytes]:
        """Open a member."""
        member = self.archive.getinfo(file)
        content = self.archive.open(member)
        return gzip.open(content, "rb") if file.endswith(".gz") else content  # type: ignore[return-value]

    def identity(self, file: str) -> str | None:
        """Return the archive's absolute path, and the member's in it."""
        whole = super().identity(file)
        return None if whole is None else f"{whole}/{file}"

    def size(self, file: str) -> int:
        """Return a member's packed size in bytes."""
        return self.archive.getinfo(file).compress_size

    def modified(self, file: str, zone: tzinfo) -> datetime:
        """Return when a member was last written, by the clock of the computer that packed it; else the archive."""
        try:
            return datetime(*self.archive.getinfo(file).date_time, tzinfo=zone)
        except ValueError:  # the 30th of February
            return super().modified(file, zone)

    def path(self, file: str) -> Path:
        """Return a local file with the member's content."""
        return self._unpack(file)


def copy(content: IO[bytes], target: IO[bytes], packed_bytes: int, shown: str) -> None:
    """Copy unpacked content.

    Raises:
        BadFileError: it is far larger than its packed form.
    """
    most = max(UNSUSPICIOUS_BYTES, packed_bytes * MOST_TIMES)
    total = 0
    while piece := content.read(PIECE_BYTES):
        total += len(piece)
        if total > most:
            raise BadFileError(f"{shown} unpacks to more than {most:,} bytes.", hint="Unpack it and look at it first.")
        target.write(piece)


def unreadable(shown: str, error: BaseException) -> BadFileError:
    """Return the error of a file that cannot be read."""
    reason = getattr(error, "strerror", None) or str(error).split("\n", 1)[0] or type(error).__name__
    return BadFileError(f"{shown} cannot be read: {reason}.")


@contextmanager
def opened(path: Path, stdin: BinaryIO) -> Iterator[Bundle]:
    """Yield the bundle of a path: a file, a folder, a zip file, or standard input ("-").

    Raises:
        BadFileError: it cannot be read, or has no files.
    """
    with ExitStack() as stack:
        try:
            bundle = _bundle(path, stdin, stack)
        except UNREADABLE as error:
            raise unreadable(path.name or str(path), error) from error
        if not bundle.files:
            raise BadFileError(f"{bundle.name} has no files.")
        yield bundle


def _bundle(path: Path, stdin: BinaryIO, stack: ExitStack) -> Bundle:
    name = path.name or path.resolve().name or "/"
    is_passing = str(path) == STDIN
    if is_passing:
        name, path = "stdin", stack.enter_context(_copied(stdin))
    if path.is_dir():
        return Bundle(name, sorted(_files_of(path)), stack.enter_context(closing(Place(path))))
    with path.open("rb") as file:
        is_zip = file.read(len(ZIP)) == ZIP
    if not is_zip:
        return Bundle(name, [name], stack.enter_context(closing(Place(path, is_passing=is_passing))))
    place = stack.enter_context(closing(ZipPlace(path, is_passing=is_passing)))
    members = {member.filename for member in place.archive.infolist() if not member.is_dir()}
    if packed_document(members) is not None:  # one file for a person
        return Bundle(name, [name], stack.enter_context(closing(Place(path, is_passing=is_passing))))
    return Bundle(name, sorted(member for member in members if not _is_junk(member)), place)


@contextmanager
def _copied(stdin: BinaryIO) -> Iterator[Path]:
    """Yield a file with what standard input has, because it is read twice."""
    with temporary_folder() as folder:
        path = folder / "stdin"
        with path.open("wb") as file:
            shutil.copyfileobj(stdin, file, PIECE_BYTES)
        yield path


def _is_junk(file: str) -> bool:
    """Return whether a file is of the file manager, not of the person."""
    parts = PurePosixPath(file).parts
    return "__MACOSX" in parts or any(part.startswith(".") and part not in {".", ".."} for part in parts)


def _files_of(folder: Path) -> Iterator[str]:
    """Yield the files in a folder and its folders; links are not followed, as they may lead round or outside."""
    for found, _, files in os.walk(folder):
        for file in files:
            path = Path(found) / file
            name = path.relative_to(folder).as_posix()
            if path.is_file() and not path.is_symlink() and not _is_junk(name):
                yield name
