"""The format of an export: a folder, or one zip file, with a manifest and a file of JSON lines for each kind of row.

``docs/export.md`` is its reference. Sinks write an export so that an incomplete one never looks complete: they write to
a temporary name next to the target, the manifest last, and then rename it. Archives read an export and trust nothing in
it.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import IO, Any, Protocol

import msgspec

from memsvc.errors import (
    AlreadyExistsError,
    ImportInvalidError,
    MemsvcError,
    NotEncryptedError,
    NotFoundError,
    StorageFullError,
)
from memsvc.server.sealed import Key, Lock, Rewinding, check_sealed, is_sealed, sealing

FORMAT, VERSION = "memsvc-export", 1
MANIFEST = "manifest.json"
ZIP = ".zip"

# Kinds of rows, in the order in which they are written and read: a row comes after the rows that it refers to.
KINDS = (
    "node_types", "edge_types", "vaults", "sources", "document_versions", "passages", "turns", "tool_calls", "nodes",
    "node_versions", "aliases", "locations", "edges", "edge_versions", "merges", "source_links", "profile_versions",
    "profile_evidence", "memory_signals", "duplicate_candidates", "changes", "tombstones", "schedules", "feeds",
)  # fmt: skip
# Tables with a user_id that no export contains, and why. A test compares both lists with the database.
LEFT_OUT = {
    "users": "the manifest has name, zone and language; ids, app, pause and policy on secrets belong to the service",
    "api_keys": "keys are secrets of one service",
    "moves": "where the users of one service are",
    "audit_log": "changes to the accounts of one service",
    "corpora": "counted from passages",
    "terms": "counted from passages",
    "term_deltas": "counted from passages",
    "embeddings": "computed from passages by the models in use at the importing service",
    "token_vectors": "computed from passages by the models in use at the importing service",
    "jobs": "work of one service; an import creates its own jobs",
    "erasures": "receipts of one service, with ids of erased rows",
    "extractions": "progress of one service's extractors",
    "fact_reviews": "proposals of one service's extractors; accepted ones are facts, rejections stay there",
    "recall_events": "answers of one service; their totals are in memory_signals",
    "ingests": "files on their way into one service; their messages are exported",
    "ingest_files": "files on their way into one service; their messages are exported",
    "rereadings": "operations of one service's extractors; their results are facts",
    "sleep_runs": "nightly runs of one service; their results are in changes and duplicate_candidates",
    "node_salience": "computed from the graph and from what is recalled, each night",
    "proposals": "proposals of one service; accepted ones are facts and names, rejections stay there",
    "cards_compared": "how far one service has compared cards, by vectors that an export does not contain",
    "analysis_runs": "analyses of one service; they can be computed again from the facts",
    "analysis_results": "analyses of one service; they can be computed again from the facts",
    "answered_requests": "recent requests of one service's clients, which they may repeat",
    "used_tickets": "tickets of one service, valid for half a minute",
    "outbox": "events for clients that are listening now",
    "model_calls": "what one service paid for; the results are facts",
    "dramatiq_queue": "queue messages for workers",
}
LEFT_OUT_COLUMNS = {
    ("nodes", "gid"): "a short id of one database",
    ("nodes", "lockable"): "always true",
    ("node_versions", "label_form"): "computed from the label",
    **dict.fromkeys([("node_types", "own_user_id"), ("edge_types", "own_user_id")], "a copy of the owner"),
    **dict.fromkeys([("memory_signals", "passage_id"), ("memory_signals", "version_id")], "a copy of memory_id"),
    ("aliases", "normal_form"): "computed from the alias",
    **dict.fromkeys(
        [("passages", name) for name in ("subject_id", "subject_type", "version_id", "valid_from", "valid_to")],
        "of what is known, which an import files again",
    ),
    ("passages", "archived_by"): "a nightly run of one service",
    ("sources", "status"): "state of background work",
    ("sources", "last_ingested_at"): "state of background work",
    ("vaults", "read_at"): "a run of one service",
    ("vaults", "odd"): "a run of one service",
    ("changes", "rereading_id"): "an operation of one service's extractors",
    ("schedules", "next_at"): "computed from the rule and the zone",
    ("feeds", "feed_id"): "part of an address to which programs push at one service",
    **dict.fromkeys([("feeds", "secret"), ("feeds", "salt")], "where one service has its secrets"),
    **dict.fromkeys([("feeds", "by_operator"), ("feeds", "key_id")], "who may do what at one service"),
    **dict.fromkeys(
        [("feeds", name) for name in ("state", "failures", "last_error", "last_run", "next_run", "run_id", "cursor")],
        "state of background work; an imported feed is paused",
    ),
    ("changes", "sleep_run_id"): "a run of one service",
    **dict.fromkeys(
        [("schedules", name) for name in ("last_at", "look_at", "woken_at", "woken_for")], "of one service"
    ),
    **dict.fromkeys(
        [("passages", "tsv"), ("passages", "tsv_simple"), ("passages", "length"), ("passages", "length_simple")],
        "computed from the text",
    ),
}

UNREADABLE = (OSError, EOFError, zlib.error, zipfile.BadZipFile, NotImplementedError, RuntimeError)
"""What the libraries raise for files that are missing, damaged, encrypted or packed in an unknown way."""
MAX_MANIFEST_BYTES = 1_000_000
MAX_ZIP_ENTRIES = 200_000
ZIP_EPOCH = (1980, 1, 1, 0, 0, 0)


class ExportedUser(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The user whose memory it is, without ids."""

    name: str
    time_zone: str
    language: str


class ExportedFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One file of JSON lines."""

    path: str
    rows: int
    bytes: int
    sha256: str


class Manifest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The contents of an export."""

    format: str
    version: int
    memsvc: str
    """The version of memsvc that wrote it."""
    schema: str
    """The schema revision of the exported database."""
    created_at: datetime
    user: ExportedUser
    files: list[ExportedFile]


class _Head(msgspec.Struct, frozen=True):
    format: str
    version: int


def file_of(kind: str) -> str:
    """Return the name of the file with the rows of a kind."""
    return f"{kind}.jsonl"


# Writing ------------------------------------------------------------------------------------------------------------


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
            return msgspec.json.decode(file.read(MAX_MANIFEST_BYTES), type=_Head).format == FORMAT
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


# Reading ------------------------------------------------------------------------------------------------------------


class Archive:
    """An export opened for reading. Nothing is unpacked, and only files of the manifest are opened."""

    def __init__(self, open_file: Callable[[str], IO[bytes]]) -> None:
        """Read and check the manifest.

        Raises:
            ImportInvalidError: it is not an export, or not one that this version can read.
        """
        self._open = open_file
        with self.open(MANIFEST) as file:
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
        head = msgspec.json.decode(raw, type=_Head)
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
