"""Opens an export for reading, in a folder, a zip file or an encrypted zip file, and trusts nothing in it."""

from __future__ import annotations

import errno
import os
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import IO, Any

import msgspec

from memsvc.errors import ImportInvalidError, NotEncryptedError, NotFoundError
from memsvc.server.sealed import Key, Rewinding, check_sealed
from memsvc.transfer.format import FORMAT, KINDS, MANIFEST, MAX_MANIFEST_BYTES, VERSION, Head, Manifest, file_of

UNREADABLE = (OSError, EOFError, zlib.error, zipfile.BadZipFile, NotImplementedError, RuntimeError)
"""What the libraries raise for files that are missing, damaged, encrypted or packed in an unknown way."""
MAX_ZIP_ENTRIES = 200_000


NO_EXPORT = (
    "Nothing was stored. 'memsvc import' reads what 'memsvc export' wrote; 'memsvc ingest' stores chats, exports of "
    "other programs, and documents."
)


class Archive:
    """An export opened for reading. Nothing is unpacked, and only files of the manifest are opened."""

    def __init__(self, open_file: Callable[[str], IO[bytes]]) -> None:
        """Read and check the manifest.

        Raises:
            ImportInvalidError: it is not an export, or not one that this version can read.
        """
        self._open = open_file
        try:
            file = self.open(MANIFEST)
        except ImportInvalidError as error:
            raise ImportInvalidError(error.message, hint=NO_EXPORT, **error.details) from error
        with file:
            raw = self.read(file, MANIFEST, MAX_MANIFEST_BYTES + 1)
        if len(raw) > MAX_MANIFEST_BYTES:
            raise ImportInvalidError(f"{MANIFEST}: the file is too large.", file=MANIFEST)
        self.manifest = _manifest(raw)
        self.files = {file.path: file for file in self.manifest.files}

    def open(self, path: str) -> IO[bytes]:
        """Open a file of the export."""
        with plain_reading(path):
            return self._open(path)

    @staticmethod
    def read(file: IO[bytes], path: str, most: int) -> bytes:
        """Read at most ``most`` bytes of an open file."""
        with plain_reading(path):
            return file.read(most)


@contextmanager
def plain_reading(path: str) -> Iterator[None]:
    """Turn errors of reading a file into ImportInvalidError."""
    try:
        yield
    except (KeyError, FileNotFoundError, NotADirectoryError):
        raise ImportInvalidError(f"{path}: the export has no such file.", file=path) from None
    except UNREADABLE as error:
        raise ImportInvalidError(f"{path}: the file cannot be read ({error}).", file=path) from error


def _manifest(raw: bytes) -> Manifest:
    try:
        head = msgspec.json.decode(raw, type=Head)
        if head.format != FORMAT:
            raise ImportInvalidError(f"{MANIFEST}: this is not an export of memsvc.", file=MANIFEST)
        if head.version != VERSION:
            raise ImportInvalidError(
                f"{MANIFEST}: the export has format {head.version}; this memsvc reads format {VERSION}.",
                hint="Import it with the version of memsvc that wrote it, or a newer one.",
                file=MANIFEST,
            )
        manifest = msgspec.json.decode(raw, type=Manifest)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise ImportInvalidError(f"{MANIFEST}: {error}", file=MANIFEST) from error
    known = {file_of(kind) for kind in KINDS}
    seen: set[str] = set()
    for file in manifest.files:
        if file.path not in known:
            raise ImportInvalidError(
                f"{MANIFEST}: it lists {file.path[:100]!r}, which this memsvc does not know.",
                hint="Import it with the version of memsvc that wrote it; it may be newer.",
                file=MANIFEST,
            )
        if file.path in seen:
            raise ImportInvalidError(f"{MANIFEST}: it lists {file.path} twice.", file=MANIFEST)
        seen.add(file.path)
    return manifest


@contextmanager
def open_archive(source: Path, key: Key | None = None) -> Iterator[Archive]:
    """Open an export in a folder, a zip file or an encrypted file, whatever its name.

    Args:
        source: the folder or file.
        key: opens an encrypted file; it is decrypted as it is read, and written nowhere.

    Raises:
        NotFoundError: the path does not exist.
        KeyRequiredError, NotEncryptedError: it is encrypted and there is no key, or the reverse.
        KeyWrongError, ArchiveDamagedError: the key does not open it; it is cut off or was altered.
        ImportInvalidError: it is not an export, or could do harm.
    """
    if source.is_dir():
        if key is not None:
            raise NotEncryptedError(f"{source.name} is a folder, which is not encrypted.")
        with _opened_folder(source) as folder:
            yield Archive(lambda path: _open_regular(folder, path))
    elif source.is_file():
        check_sealed(source, key)
        with ExitStack() as stack:
            whole: Any = stack.enter_context(closing(Rewinding(source, key))) if key is not None else source
            if key is None and not zipfile.is_zipfile(source):
                raise ImportInvalidError(
                    f"{source.name}: the file cannot be read (it is not a zip file, or only a part of one).",
                    hint=NO_EXPORT,
                )
            with plain_reading(source.name):
                packed = stack.enter_context(zipfile.ZipFile(whole))
            _check_entries(packed)
            archive = Archive(packed.open)
            for file in archive.manifest.files:
                with plain_reading(file.path):
                    size = packed.getinfo(file.path).file_size
                if size != file.bytes:
                    raise ImportInvalidError(
                        f"{file.path}: it unpacks to {size:,} bytes; the manifest says {file.bytes:,}.", file=file.path
                    )
            yield archive
    else:
        raise NotFoundError(f"There is no folder or file {source}.", hint="Give the path of a memsvc export.")


@contextmanager
def _opened_folder(source: Path) -> Iterator[int]:
    """Yield a folder's descriptor, which refers to the same folder even if its name is reused meanwhile."""
    with plain_reading(source.name):
        folder = os.open(source, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield folder
    finally:
        os.close(folder)


def _open_regular(folder: int, name: str) -> IO[bytes]:
    """Open a regular file directly in a folder; the check is on the opened file, so that it cannot be swapped.

    Raises:
        OSError: the file does not exist, or is a link (may lead anywhere), a pipe or a device (may never end).
    """
    try:
        # Without O_NONBLOCK a pipe would wait for its writer.
        file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        message = "it is a link, and an import does not follow links"
        raise OSError(message) from error
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        message = "it is not a regular file"
        raise OSError(message)
    return os.fdopen(file, "rb")


def _check_entries(packed: zipfile.ZipFile) -> None:
    """Refuse entries that no export has; nothing is unpacked anyway."""
    entries = packed.infolist()
    if len(entries) > MAX_ZIP_ENTRIES:
        raise ImportInvalidError(f"The zip file has {len(entries):,} entries; at most {MAX_ZIP_ENTRIES:,} are read.")
    seen: set[str] = set()
    for entry in entries:
        name = entry.filename
        shown = repr(name[:100])
        if name.startswith("/") or "\\" in name or ":" in name or ".." in name.split("/"):
            raise ImportInvalidError(f"The zip file names {shown}, which is outside the export's folder.")
        if stat.S_ISLNK(entry.external_attr >> 16):
            raise ImportInvalidError(f"{shown} in the zip file is a link.")
        if name in seen:
            raise ImportInvalidError(f"The zip file has {shown} twice.")
        if entry.flag_bits & 0x1:
            raise ImportInvalidError(f"{shown} in the zip file is encrypted.")
        if entry.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
            raise ImportInvalidError(f"{shown} in the zip file has an unsupported compression method.")
        seen.add(name)
