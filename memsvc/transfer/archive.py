"""What an export is: a folder, or one zip file, with a manifest and a file of JSON lines for each kind of row.

``docs/export.md`` is its reference. Sinks write an export so that a broken one never looks whole: everything goes to a
temporary name beside the target, the manifest last, and one rename ends it. Archives read one and trust nothing in it.
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
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import IO, Protocol

import msgspec

from memsvc.errors import AlreadyExistsError, ImportInvalidError, NotFoundError, StorageFullError

FORMAT, VERSION = "memsvc-export", 1
MANIFEST = "manifest.json"
ZIP = ".zip"

# Kinds of rows, in the order in which they are written and read: what refers comes after what it refers to.
KINDS = (
    "node_types", "edge_types", "sources", "passages", "nodes", "node_versions", "aliases", "locations", "edges",
    "edge_versions", "merges", "source_links", "profile_versions", "profile_evidence", "memory_signals",
    "duplicate_candidates", "changes", "tombstones", "schedules",
)  # fmt: skip
# Tables with a user_id that no export holds, and why. A test compares both lists with the database.
LEFT_OUT = {
    "users": "the manifest has name, zone and language; ids and the app belong to the place, not to the memory",
    "api_keys": "keys are secrets of one service",
    "audit_log": "what was done to accounts of one service",
    "corpora": "counted from passages",
    "terms": "counted from passages",
    "term_deltas": "counted from passages",
    "embeddings": "computed from passages by the models in use where they are imported",
    "token_vectors": "computed from passages by the models in use where they are imported",
    "jobs": "work of one service; an import asks for its own",
    "erasures": "receipts of one service, with ids of what is gone",
    "extractions": "how far extractors of one service have read",
    "fact_reviews": "proposals of extractors of one service; what was accepted is among the facts, rejections stay",
    "recall_events": "answers that one service gave; what they add up to is in memory_signals",
    "sleep_runs": "what one service did at night; what came of it is in changes and duplicate_candidates",
    "analysis_runs": "what one service counted; it can be counted anew from the facts",
    "analysis_results": "what one service counted; it can be counted anew from the facts",
    "answered_requests": "what clients of one service sent today, so that they may send it again",
    "used_tickets": "tickets that one service made for half a minute",
    "outbox": "events for clients that listen now",
    "model_calls": "what one service paid for; what came of it is in the facts",
    "dramatiq_queue": "messages on their way to a worker",
}
LEFT_OUT_COLUMNS = {
    ("nodes", "gid"): "a small number of one database",
    ("nodes", "lockable"): "always true",
    ("node_versions", "label_form"): "computed from the label",
    **dict.fromkeys([("node_types", "own_user_id"), ("edge_types", "own_user_id")], "the owner again"),
    **dict.fromkeys([("memory_signals", "passage_id"), ("memory_signals", "version_id")], "memory_id again"),
    ("aliases", "normal_form"): "computed from the alias",
    **dict.fromkeys([("edge_versions", "tsv"), ("edge_versions", "length")], "computed from the fact"),
    ("sources", "status"): "state of background work",
    ("sources", "last_ingested_at"): "state of background work",
    ("schedules", "next_at"): "computed from the rule and the zone",
    ("schedules", "last_at"): "a run of one service",
    **dict.fromkeys(
        [("passages", "tsv"), ("passages", "tsv_simple"), ("passages", "length"), ("passages", "length_simple")],
        "computed from the text",
    ),
}

MAX_MANIFEST_BYTES = 1_000_000
MAX_ZIP_ENTRIES = 200_000
ZIP_EPOCH = (1980, 1, 1, 0, 0, 0)


class ExportedUser(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whose memory it is, as people see it."""

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
    """What an export holds."""

    format: str
    version: int
    memsvc: str
    """The version of memsvc that wrote it."""
    schema: str
    """The revision of the database that it was read from."""
    created_at: datetime
    user: ExportedUser
    files: list[ExportedFile]


class _Head(msgspec.Struct, frozen=True):
    format: str
    version: int


def file_of(kind: str) -> str:
    """The name of the file with the rows of a kind."""
    return f"{kind}.jsonl"


# Writing ------------------------------------------------------------------------------------------------------------


class Sink(Protocol):
    """Where an export is written: one file after the other, then ``commit`` or ``abort``."""

    def begin(self, path: str) -> None:
        """Begin a file; the one before is ended."""

    def write(self, data: bytes) -> None:
        """Go on with the file that was begun."""

    def commit(self) -> None:
        """Everything is written: let it appear under its name."""

    def abort(self) -> None:
        """Leave nothing behind."""


@contextmanager
def _plain_disk() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StorageFullError(
            f"The export cannot be written: {error.strerror or error}.", hint="Nothing was left behind."
        ) from error


def _begun(file: IO[bytes] | None) -> IO[bytes]:
    if file is None:
        message = "no file was begun"
        raise RuntimeError(message)
    return file


class FolderSink:
    """An export as a folder."""

    def __init__(self, target: Path, *, force: bool = False) -> None:
        """Prepare it; nothing appears under ``target`` yet.

        Args:
            target: the folder to be made.
            force: an export that is there may be replaced; nothing else ever is.

        Raises:
            AlreadyExistsError: something is there that may not be replaced.
        """
        self.target = target
        if os.path.lexists(target) and not (force and _replaceable(target)):
            raise AlreadyExistsError(
                f"{target} exists already.", hint="Choose another name; --force replaces an export, and nothing else."
            )
        self._partial = target.with_name(f".{target.name}.{secrets.token_hex(4)}.partial")
        self._file: IO[bytes] | None = None
        with _plain_disk():
            self._partial.mkdir(parents=True, mode=0o700)

    def begin(self, path: str) -> None:
        """Begin a file."""
        with _plain_disk():
            self._end()
            place = self._partial.joinpath(*PurePosixPath(path).parts)
            place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._file = os.fdopen(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")

    def write(self, data: bytes) -> None:
        """Go on with it."""
        with _plain_disk():
            _begun(self._file).write(data)

    def _end(self) -> None:
        if self._file is not None:
            with self._file as file:
                file.flush()
                os.fsync(file.fileno())
            self._file = None

    def commit(self) -> None:
        """Let it appear under its name."""
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
        """Leave nothing behind."""
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
        shutil.rmtree(self._partial, ignore_errors=True)


def _replaceable(target: Path) -> bool:
    """Whether it is an export of ours, or an empty folder."""
    if target.is_symlink() or not target.is_dir():
        return False
    try:
        with (target / MANIFEST).open("rb") as file:
            return msgspec.json.decode(file.read(MAX_MANIFEST_BYTES), type=_Head).format == FORMAT
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return not any(target.iterdir())


class OpenZipSink:
    """An export as a zip file in a file that its caller opened for writing and reading, and closes."""

    def __init__(self, file: IO[bytes]) -> None:
        """Begin at the file's start; it is empty."""
        self._file = file
        self._entry: IO[bytes] | None = None
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED)

    def begin(self, path: str) -> None:
        """Begin a file. All have the same date, so that equal exports are equal bytes."""
        with _plain_disk():
            self._end()
            entry = zipfile.ZipInfo(path, ZIP_EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3
            entry.external_attr = (stat.S_IFREG | 0o600) << 16
            self._entry = self._zip.open(entry, "w", force_zip64=True)

    def write(self, data: bytes) -> None:
        """Go on with it."""
        with _plain_disk():
            _begun(self._entry).write(data)

    def _end(self) -> None:
        if self._entry is not None:
            self._entry.close()
            self._entry = None

    def commit(self) -> None:
        """All of it is in the file."""
        with _plain_disk():
            self._end()
            self._zip.close()
            self._file.flush()

    def abort(self) -> None:
        """Write no more."""
        with suppress(OSError, ValueError):
            self._end()
            self._zip.close()


class ZipSink(OpenZipSink):
    """An export as one zip file."""

    def __init__(self, target: Path, *, force: bool = False) -> None:
        """Prepare it; nothing appears under ``target`` yet.

        Raises:
            AlreadyExistsError: something is there, and ``force`` is false or it is no zip file.
        """
        self.target = target
        if os.path.lexists(target) and not (
            force and target.is_file() and not target.is_symlink() and zipfile.is_zipfile(target)
        ):
            raise AlreadyExistsError(
                f"{target} exists already.", hint="Choose another name; --force replaces a zip file, and nothing else."
            )
        self._partial = target.with_name(f".{target.name}.{secrets.token_hex(4)}.partial")
        with _plain_disk():
            target.parent.mkdir(parents=True, exist_ok=True)
            super().__init__(os.fdopen(os.open(self._partial, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "w+b"))

    def commit(self) -> None:
        """Let it appear under its name."""
        super().commit()
        with _plain_disk():
            os.fsync(self._file.fileno())
            self._file.close()
            self._partial.replace(self.target)

    def abort(self) -> None:
        """Leave nothing behind."""
        super().abort()
        with suppress(OSError):
            self._file.close()
        self._partial.unlink(missing_ok=True)


def open_sink(target: Path, *, force: bool = False) -> Sink:
    """A zip file where the name ends in ``.zip``, else a folder. Raises: as the two."""
    return ZipSink(target, force=force) if target.suffix.lower() == ZIP else FolderSink(target, force=force)


# Reading ------------------------------------------------------------------------------------------------------------


class Archive:
    """An export that is read. Nothing is unpacked, and only files of the manifest are opened."""

    def __init__(self, open_file: Callable[[str], IO[bytes]]) -> None:
        """Read and check the manifest.

        Raises:
            ImportInvalidError: it is no export, or not one that this version can read.
        """
        self._open = open_file
        with self.open(MANIFEST) as file:
            raw = self.read(file, MANIFEST, MAX_MANIFEST_BYTES + 1)
        if len(raw) > MAX_MANIFEST_BYTES:
            raise ImportInvalidError(f"{MANIFEST}: it is too large.", file=MANIFEST)
        self.manifest = _manifest(raw)
        self.files = {file.path: file for file in self.manifest.files}

    def open(self, path: str) -> IO[bytes]:
        """Open a file of the export."""
        with plain_reading(path):
            return self._open(path)

    @staticmethod
    def read(file: IO[bytes], path: str, most: int) -> bytes:
        """So many bytes at most of an open file."""
        with plain_reading(path):
            return file.read(most)


@contextmanager
def plain_reading(path: str) -> Iterator[None]:
    """Say what is wrong with a file that cannot be read."""
    try:
        yield
    except (KeyError, FileNotFoundError, NotADirectoryError):
        raise ImportInvalidError(f"{path}: the export has no such file.", file=path) from None
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError) as error:
        raise ImportInvalidError(f"{path}: it cannot be read ({error}).", file=path) from error


def _manifest(raw: bytes) -> Manifest:
    try:
        head = msgspec.json.decode(raw, type=_Head)
        if head.format != FORMAT:
            raise ImportInvalidError(f"{MANIFEST}: this is no export of memsvc.", file=MANIFEST)
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
                hint="A newer memsvc wrote it, or somebody else did.",
                file=MANIFEST,
            )
        if file.path in seen:
            raise ImportInvalidError(f"{MANIFEST}: it lists {file.path} twice.", file=MANIFEST)
        seen.add(file.path)
    return manifest


@contextmanager
def open_archive(source: Path) -> Iterator[Archive]:
    """An export in a folder or a zip file, whatever it is called.

    Raises:
        NotFoundError: there is nothing.
        ImportInvalidError: it is no export, or one that could do harm.
    """
    if source.is_dir():
        with _opened_folder(source) as folder:
            yield Archive(lambda path: _open_regular(folder, path))
    elif source.is_file():
        with plain_reading(source.name):
            packed = zipfile.ZipFile(source)
        with packed:
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
        raise NotFoundError(f"There is no folder and no file {source}.", hint="Name an export of memsvc.")


@contextmanager
def _opened_folder(source: Path) -> Iterator[int]:
    """A folder's descriptor: it stays the same folder, whatever takes its name meanwhile."""
    with plain_reading(source.name):
        folder = os.open(source, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield folder
    finally:
        os.close(folder)


def _open_regular(folder: int, name: str) -> IO[bytes]:
    """Open a file that lies in a folder itself, and check what was opened rather than what had its name before.

    Raises:
        OSError: it is not there, or is a link, which may lead anywhere, or a pipe or device, which may never end.
    """
    try:
        # Without O_NONBLOCK a pipe would wait for its writer.
        file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        message = "it is a link, and an import follows none"
        raise OSError(message) from error
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        message = "it is no regular file"
        raise OSError(message)
    return os.fdopen(file, "rb")


def _check_entries(packed: zipfile.ZipFile) -> None:
    """Refuse what no export holds; nothing is unpacked anyway."""
    entries = packed.infolist()
    if len(entries) > MAX_ZIP_ENTRIES:
        raise ImportInvalidError(f"The zip file has {len(entries):,} entries; at most {MAX_ZIP_ENTRIES:,} are read.")
    seen: set[str] = set()
    for entry in entries:
        name = entry.filename
        shown = repr(name[:100])
        if name.startswith("/") or "\\" in name or ":" in name or ".." in name.split("/"):
            raise ImportInvalidError(f"The zip file names {shown}, which leads out of its folder.")
        if stat.S_ISLNK(entry.external_attr >> 16):
            raise ImportInvalidError(f"{shown} in the zip file is a link.")
        if name in seen:
            raise ImportInvalidError(f"The zip file has {shown} twice.")
        if entry.flag_bits & 0x1:
            raise ImportInvalidError(f"{shown} in the zip file is encrypted.")
        if entry.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
            raise ImportInvalidError(f"{shown} in the zip file is packed in a way that is not read.")
        seen.add(name)
