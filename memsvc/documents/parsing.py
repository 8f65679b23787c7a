"""Read a document in a process of its own: whatever a file does to its parser, the service lives on.

A process reads many files in turn, because starting one takes longer than reading most files. One that takes too long,
too much memory or breaks is killed, and the next file gets a new one. A process that is not in use waits for the next
call, and ends by itself after a minute.
"""

from __future__ import annotations

import atexit
import contextlib
import inspect
import os
import select
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import IO

import msgspec

import memsvc
from memsvc import errors
from memsvc.documents.exchange import LENGTH, Answer, Refused, Request, frame
from memsvc.documents.form import ParsedDocument
from memsvc.documents.limits import Limits
from memsvc.errors import BadFileError, DocumentTooLargeError, MemsvcError

MOST_FILES = 500
"""A process that has read so many is replaced, so that what libraries leak stays small."""
MOST_IDLE = 2
"""Processes that wait for the next file."""
PIECE_BYTES = 1 << 20
START_S = 30.0
"""Longest wait for a process that starts, added to the first file's time."""
KEPT = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "SYSTEMROOT")
"""Variables that the process gets; the service's others may be secrets."""
CLASSES = {kind.code: kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, MemsvcError)}


class _GoneError(Exception):
    """The process has ended."""


class Reader:
    """A process that reads documents one after another; not for several threads at once."""

    def __init__(self) -> None:
        """Start the process."""
        environment = {name: os.environ[name] for name in KEPT if name in os.environ}
        environment["PYTHONPATH"] = str(Path(memsvc.__file__).resolve().parents[1])
        self._files = 0
        self._decoder = msgspec.msgpack.Decoder(Answer)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-s", "-m", "memsvc.documents.worker"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0,
            env=environment, cwd="/", start_new_session=True,
        )  # fmt: skip

    @property
    def is_usable(self) -> bool:
        """Whether it can read another file."""
        return self._process.poll() is None and self._files < MOST_FILES

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._process.pid

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        self.abandon()

    def abandon(self) -> None:
        """Close the pipes, without which the process ends when it has read its file."""
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()

    def read(self, path: Path, name: str, limits: Limits) -> ParsedDocument:
        """Read a document. Arguments and errors: as ``parse``."""
        wait_s = limits.seconds + (0 if self._files else START_S)
        self._files += 1
        try:
            answer = self._asked(frame(Request(str(path.absolute()), name, limits)), wait_s, limits)
        except BaseException:
            self.close()  # an answer that comes later must not be taken for the next file's
            raise
        if isinstance(answer, Refused):
            if answer.is_spent:
                self.close()
            raise CLASSES.get(answer.code, BadFileError)(answer.message, hint=answer.hint, **answer.details)
        return answer.document

    def _asked(self, request: bytes, wait_s: float, limits: Limits) -> Answer:
        source, target = _stream(self._process.stdout), _stream(self._process.stdin)
        until = time.monotonic() + wait_s
        try:
            target.write(request)
            size = LENGTH.unpack(self._bytes(source, LENGTH.size, until, limits))[0]
            if size > limits.output_bytes:
                raise DocumentTooLargeError(
                    f"The document's text takes more than {limits.output_bytes:,} bytes.", limit=limits.output_bytes
                )
            answer: Answer = self._decoder.decode(self._bytes(source, size, until, limits))
        except (BrokenPipeError, EOFError) as error:
            raise _GoneError from error
        return answer

    @staticmethod
    def _bytes(source: IO[bytes], size: int, until: float, limits: Limits) -> bytes:
        """Return what the process sends, in time."""
        poll = select.poll()
        poll.register(source, select.POLLIN)
        parts: list[bytes] = []
        while size:
            left_s = until - time.monotonic()
            if left_s <= 0 or not poll.poll(left_s * 1000):
                raise DocumentTooLargeError(
                    f"Reading the document takes longer than {limits.seconds:g} seconds.", limit=limits.seconds
                )
            part = source.read(min(size, PIECE_BYTES))
            if not part:
                raise EOFError
            parts.append(part)
            size -= len(part)
        return b"".join(parts)


def _stream(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:
        message = "the process has no pipes"
        raise RuntimeError(message)
    return stream


_idle: list[Reader] = []
_lock = threading.Lock()


def parse(path: Path, name: str, *, limits: Limits | None = None) -> ParsedDocument:
    """Read a document.

    Threads may call this at the same time; each call has a process to itself.

    Args:
        path: a local file.
        name: its name, which tells formats of plain text apart, and is the title of a document without one.
        limits: what reading it may take, and the size of its chunks.

    Raises:
        SourceUnknownError: it is no document that can be read.
        BadFileError: it is damaged, or its parser broke.
        DocumentEncryptedError: it needs a password.
        DocumentTooLargeError: it passes a limit.
        DocumentWithoutTextError: it has no text.
        ConfigurationError: a library is missing.
    """
    limits = limits or Limits()
    for is_last in (False, True):
        reader = _taken()
        is_new = reader is None
        reader = reader or Reader()
        try:
            return reader.read(path, name, limits)
        except _GoneError as error:
            # One that had waited may just have ended, so a new one tries; a new one that ends was ended by the file.
            if is_new or is_last:
                raise _broken(limits) from error
        finally:
            _give_back(reader)
    raise _broken(limits)


def _broken(limits: Limits) -> BadFileError:
    return BadFileError(
        f"The file breaks its parser. It is damaged, or needs more than {limits.memory_bytes >> 20:,} MiB of memory.",
        hint="Nothing of it was stored. Open it in its own program and save it again.",
    )


def _taken() -> Reader | None:
    with _lock:
        while _idle:
            reader = _idle.pop()
            if reader.is_usable:
                return reader
            reader.close()
    return None


def _give_back(reader: Reader) -> None:
    with _lock:
        if reader.is_usable and len(_idle) < MOST_IDLE:
            _idle.append(reader)
            return
    reader.close()


def close() -> None:
    """End the processes that wait; the next call starts one."""
    with _lock:
        while _idle:
            _idle.pop().close()


def _forget() -> None:
    """In a forked process: leave the parent's readers alone."""
    global _lock  # noqa: PLW0603 - another thread may have held it
    _lock = threading.Lock()
    for reader in _idle:
        with contextlib.suppress(OSError):
            reader.abandon()
    _idle.clear()


os.register_at_fork(after_in_child=_forget)
atexit.register(close)
