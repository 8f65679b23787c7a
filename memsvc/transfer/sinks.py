"""Writes an export as a folder, a zip file or an encrypted zip file, so that an incomplete one never looks complete.

A sink writes to a temporary name next to the target, the manifest last, and then renames it.
"""

from __future__ import annotations

import os
import secrets
import shutil
import stat
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import IO, Protocol

import msgspec

from memsvc.errors import AlreadyExistsError, MemsvcError, StorageFullError
from memsvc.server.sealed import Lock, is_sealed, sealing
from memsvc.transfer.format import FORMAT, MANIFEST, MAX_MANIFEST_BYTES, Head

ZIP = ".zip"
ZIP_EPOCH = (1980, 1, 1, 0, 0, 0)


class Sink(Protocol):
    """Where an export is written: one file after the other, then ``commit`` or ``abort``."""

    def begin(self, path: str) -> None:
        """Start a file and close the previous one."""

    def write(self, data: bytes) -> None:
        """Append to the current file."""

    def commit(self) -> None:
        """Finish: make the complete export visible under its name."""

    def abort(self) -> None:
        """Remove everything that was written."""


@contextmanager
def _plain_disk() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StorageFullError(
            f"The export cannot be written: {error.strerror or error}.",
            hint="Free some space or name another target; no partial export remains.",
        ) from error


def _begun(file: IO[bytes] | None) -> IO[bytes]:
    if file is None:
        message = "no file was started"
        raise RuntimeError(message)
    return file


class FolderSink:
    """An export as a folder."""

    def __init__(self, target: Path, *, force: bool = False) -> None:
        """Prepare the export; nothing appears under ``target`` yet.

        Args:
            target: the folder to create.
            force: replace an existing export; nothing else is ever replaced.

        Raises:
            AlreadyExistsError: ``target`` exists and may not be replaced.
        """
        self.target = target
        if os.path.lexists(target) and not (force and _replaceable(target)):
            raise AlreadyExistsError(
                f"{target} already exists.", hint="Choose another name; --force replaces an export, but nothing else."
            )
        self._partial = target.with_name(f".{target.name}.{secrets.token_hex(4)}.partial")
        self._file: IO[bytes] | None = None
        with _plain_disk():
            self._partial.mkdir(parents=True, mode=0o700)

    def begin(self, path: str) -> None:
        """Start a file."""
        with _plain_disk():
            self._end()
            file_path = self._partial.joinpath(*PurePosixPath(path).parts)
            file_path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._file = os.fdopen(os.open(file_path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")

    def write(self, data: bytes) -> None:
        """Append to the current file."""
        with _plain_disk():
            _begun(self._file).write(data)

    def _end(self) -> None:
        if self._file is not None:
            with self._file as file:
                file.flush()
                os.fsync(file.fileno())
            self._file = None

    def commit(self) -> None:
        """Rename the complete export to its target."""
        with _plain_disk():
            self._end()
            if os.path.lexists(self.target):
                old = self._partial.with_suffix(".old")
                self.target.rename(old)
                self._partial.rename(self.target)
                shutil.rmtree(old, ignore_errors=True)
            else:
                self._partial.rename(self.target)

    def abort(self) -> None:
        """Remove everything that was written."""
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
        shutil.rmtree(self._partial, ignore_errors=True)


def _replaceable(target: Path) -> bool:
    """Return whether the target is a memsvc export or an empty folder."""
    if target.is_symlink() or not target.is_dir():
        return False
    try:
        with (target / MANIFEST).open("rb") as file:
            return msgspec.json.decode(file.read(MAX_MANIFEST_BYTES), type=Head).format == FORMAT
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return not any(target.iterdir())


class OpenZipSink:
    """An export as a zip file, in a file that the caller opens for writing and reading, and closes."""

    def __init__(self, file: IO[bytes]) -> None:
        """Start at the beginning of an empty file."""
        self._file = file
        self._entry: IO[bytes] | None = None
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED)

    def begin(self, path: str) -> None:
        """Start a file. All have the same date, so that equal exports have equal bytes."""
        with _plain_disk():
            self._end()
            entry = zipfile.ZipInfo(path, ZIP_EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3
            entry.external_attr = (stat.S_IFREG | 0o600) << 16
            self._entry = self._zip.open(entry, "w", force_zip64=True)

    def write(self, data: bytes) -> None:
        """Append to the current file."""
        with _plain_disk():
            _begun(self._entry).write(data)

    def _end(self) -> None:
        if self._entry is not None:
            self._entry.close()
            self._entry = None

    def commit(self) -> None:
        """Complete the zip file."""
        with _plain_disk():
            self._end()
            self._zip.close()
            self._file.flush()

    def abort(self) -> None:
        """Stop writing."""
        with suppress(OSError, ValueError):
            self._end()
            self._zip.close()


class ZipSink(OpenZipSink):
    """An export as one zip file."""

    def __init__(self, target: Path, *, force: bool = False) -> None:
        """Prepare the export; nothing appears under ``target`` yet.

        Raises:
            AlreadyExistsError: ``target`` exists, and ``force`` is false or it is not a zip file.
        """
        self.target = target
        if os.path.lexists(target) and not (
            force and target.is_file() and not target.is_symlink() and zipfile.is_zipfile(target)
        ):
            raise AlreadyExistsError(
                f"{target} already exists.", hint="Choose another name; --force replaces a zip file, but nothing else."
            )
        self._partial = target.with_name(f".{target.name}.{secrets.token_hex(4)}.partial")
        with _plain_disk():
            target.parent.mkdir(parents=True, exist_ok=True)
            super().__init__(os.fdopen(os.open(self._partial, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "w+b"))

    def commit(self) -> None:
        """Rename the complete export to its target."""
        super().commit()
        with _plain_disk():
            os.fsync(self._file.fileno())
            self._file.close()
            self._partial.replace(self.target)

    def abort(self) -> None:
        """Remove everything that was written."""
        super().abort()
        with suppress(OSError):
            self._file.close()
        self._partial.unlink(missing_ok=True)


def _to_disk(file: IO[bytes]) -> None:
    file.flush()
    os.fsync(file.fileno())


class SealedSink(OpenZipSink):
    """An export as one encrypted zip file; its plain text goes to no disk."""

    def __init__(self, target: Path, lock: Lock, *, force: bool = False) -> None:
        """Prepare the export; nothing appears under ``target`` yet.

        Raises:
            AlreadyExistsError: ``target`` exists, and ``force`` is false or it is not encrypted.
        """
        self.target = target
        if os.path.lexists(target) and not (
            force and target.is_file() and not target.is_symlink() and is_sealed(target)
        ):
            raise AlreadyExistsError(
                f"{target} already exists.",
                hint="Choose another name; --force replaces an encrypted file, but nothing else.",
            )
        self._partial = target.with_name(f".{target.name}.{secrets.token_hex(4)}.partial")
        with _plain_disk(), ExitStack() as stack:
            target.parent.mkdir(parents=True, exist_ok=True)
            sealed = os.fdopen(os.open(self._partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")
            stack.enter_context(sealed)
            stack.callback(_to_disk, sealed)  # when the encryptor has ended
            super().__init__(stack.enter_context(sealing(sealed, lock)))
            self._stack = stack.pop_all()

    def commit(self) -> None:
        """Encrypt the rest, and rename the complete export to its target."""
        super().commit()
        with _plain_disk():
            self._stack.close()
            self._partial.replace(self.target)

    def abort(self) -> None:
        """Remove everything that was written."""
        try:
            with suppress(OSError, MemsvcError):  # on a full disk, what is left cannot be encrypted
                super().abort()
            with suppress(OSError, MemsvcError):
                self._stack.close()
        finally:
            self._partial.unlink(missing_ok=True)


def open_sink(target: Path, *, force: bool = False, lock: Lock | None = None) -> Sink:
    """Return a sink for an encrypted file if there is a lock; for a zip file if the name ends in ``.zip``; or a folder.

    Raises:
        AlreadyExistsError, StorageFullError: as the three classes.
    """
    if lock is not None:
        return SealedSink(target, lock, force=force)
    return ZipSink(target, force=force) if target.suffix.lower() == ZIP else FolderSink(target, force=force)
