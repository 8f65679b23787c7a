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
from typing import IO, BinaryIO, NamedTuple

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
END_OF_ZIP = b"PK\x05\x06"
END_BYTES = 22 + 65_535
"""The record at the end of a zip file, with the longest comment."""
MOST_DIRECTORY_BYTES = 8_000_000


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
        """Return what the file is called whenever it is read: its absolute path; None: it is standard input."""
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


class Given(NamedTuple):
    """A file that somebody sent."""

    path: Path
    """Where we put it, under a name of ours."""
    name: str
    """What the sender calls it; only shown, never a path."""
    identity: str | None
    """What stays the same when it is read again; None: nothing does."""
    most_bytes: int | None
    """It may unpack to so many bytes in all; None: see ``Place``."""


class Place:
    """A folder, a zip file or a single file, from which bundles are read; unpacks into a temporary folder."""

    def __init__(self, root: Path, identity: str | None, most_bytes: int | None = None) -> None:
        """Read from a path.

        Args:
            root: the path.
            identity: what stays the same when it is read again; None: nothing does, it is standard input.
            most_bytes: what it may unpack to in all; None: ``MOST_TIMES`` and ``UNSUSPICIOUS_BYTES`` for each file.
        """
        self._root = root
        self._identity = identity
        self._most = most_bytes
        self._unpacked: dict[str, Path] = {}
        self._unpacked_bytes = 0
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
        self._unpacked_bytes = 0
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
        """Return what a file is called whenever it is read; None: there is no such name."""
        return self._identity if self._identity is None or not self.is_folder else f"{self._identity}/{file}"

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
            if self._unpacked_bytes > MOST_KEPT_BYTES:
                self.release()
            target = self._folder / str(len(self._unpacked))
            with self.open(file) as content, target.open("wb") as unpacked:
                copy(content, unpacked, self._most_of(file), file)
            self._unpacked[file] = target
            self._unpacked_bytes += target.stat().st_size
        return self._unpacked[file]

    def _most_of(self, file: str) -> int:
        return max(UNSUSPICIOUS_BYTES, self.size(file) * MOST_TIMES) if self._most is None else self._most

    def document(self, path: Path, shown: str) -> Document:
        """Return a file as JSON; the last one is kept open, because each kind looks at it."""
        if self._document is None or self._document[0] != path:
            self._document = (path, Document(path, shown))
        return self._document[1]


class ZipPlace(Place):
    """A zip file."""

    def __init__(self, root: Path, identity: str | None, most_bytes: int | None = None) -> None:
        """Open the archive.

        Raises:
            BadFileError: its files are larger than it may unpack to.
        """
        super().__init__(root, identity, most_bytes)
        if most_bytes is not None:
            _check_directory(root)
        self.archive = zipfile.ZipFile(root)
        # A member never unpacks to more than the directory says.
        if most_bytes is not None and sum(one.file_size for one in self.archive.infolist()) > most_bytes:
            self.archive.close()
            raise _too_large("It", most_bytes)

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
        """Return the archive's name, and the member's in it."""
        return None if self._identity is None else f"{self._identity}/{file}"

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


def _check_directory(root: Path) -> None:
    """Refuse a zip file whose list of files would need much memory; about 100,000 files are allowed.

    Raises:
        BadFileError: it is too long.
    """
    with root.open("rb") as file:
        file.seek(max(0, root.stat().st_size - END_BYTES))
        end = file.read()
    _, found, record = end.rpartition(END_OF_ZIP)
    if found and int.from_bytes(record[8:12], "little") > MOST_DIRECTORY_BYTES:
        raise BadFileError("It has too many files.", hint="Send it in several files.")


def copy(content: IO[bytes], target: IO[bytes], most: int, shown: str) -> None:
    """Copy unpacked content.

    Raises:
        BadFileError: it is larger than ``most`` bytes.
    """
    total = 0
    while piece := content.read(PIECE_BYTES):
        total += len(piece)
        if total > most:
            raise _too_large(shown, most)
        target.write(piece)


def _too_large(shown: str, most: int) -> BadFileError:
    return BadFileError(f"{shown} unpacks to more than {most:,} bytes.", hint="Unpack it and look at it first.")


def unreadable(shown: str, error: BaseException) -> BadFileError:
    """Return the error of a file that cannot be read."""
    reason = getattr(error, "strerror", None) or str(error).split("\n", 1)[0] or type(error).__name__
    return BadFileError(f"{shown} cannot be read: {reason}.")


@contextmanager
def opened(path: Path | Given, stdin: BinaryIO) -> Iterator[Bundle]:
    """Yield the bundle of a path: a file, a folder, a zip file, or standard input ("-"); or of a file that was sent.

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


def _bundle(given: Path | Given, stdin: BinaryIO, stack: ExitStack) -> Bundle:
    path, name, identity, most = given if isinstance(given, Given) else _own(given)
    if str(path) == STDIN:
        name, path, identity = "stdin", stack.enter_context(_copied(stdin)), None
    if path.is_dir():
        return Bundle(name, sorted(_files_of(path)), stack.enter_context(closing(Place(path, identity))))
    with path.open("rb") as file:
        is_zip = file.read(len(ZIP)) == ZIP
    if not is_zip:
        return Bundle(name, [name], stack.enter_context(closing(Place(path, identity, most))))
    place = stack.enter_context(closing(ZipPlace(path, identity, most)))
    members = {member.filename for member in place.archive.infolist() if not member.is_dir()}
    if packed_document(members) is not None:  # one file for a person
        return Bundle(name, [name], stack.enter_context(closing(Place(path, identity, most))))
    return Bundle(name, sorted(member for member in members if not _is_junk(member)), place)


def _own(path: Path) -> Given:
    """Return a path of the caller's own machine."""
    return Given(path, path.name or path.resolve().name or "/", path.resolve().as_posix(), None)


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
