"""The process that reads documents: ``python -m memsvc.documents.worker``, started and limited by ``parsing``.

Parsers of foreign files run here and nowhere else: with little memory, without the service's environment, and with
sockets and programs refused. It reads one file after another, as its parent asks on standard input, and ends by itself
when the parent is gone, a file takes too long, or nothing comes.
"""

from __future__ import annotations

import logging
import os
import resource
import select
import signal
import sys
from pathlib import Path
from typing import Any

import msgspec

from memsvc.documents.exchange import LENGTH, Done, Refused, Request, frame
from memsvc.documents.reading import document, too_much_memory
from memsvc.errors import BadFileError, MemsvcError

IDLE_S = 60.0
"""The process ends when no file has come for so long."""
GRACE_S = 2.0
"""How much longer than its parent it waits before it ends itself."""
FORBIDDEN = frozenset({
    "socket.__new__", "socket.connect", "socket.getaddrinfo", "subprocess.Popen", "os.system", "os.exec",
    "os.posix_spawn", "os.fork", "os.forkpty",
})  # fmt: skip
OPEN_FILES = 64


def main() -> None:
    """Read files until the parent closes standard input."""
    requests, answers = os.dup(0), os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)  # what a library prints must not be taken for an answer
    logging.disable(logging.CRITICAL)
    _limit()
    decoder = msgspec.msgpack.Decoder(Request)
    while (request := _received(requests, decoder)) is not None:
        signal.setitimer(signal.ITIMER_REAL, request.limits.seconds + GRACE_S)
        data, is_spent = _answer(request)
        _send(answers, data)
        signal.setitimer(signal.ITIMER_REAL, 0)
        if is_spent:
            break


def _limit() -> None:
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the parent, and that ends this process
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES, OPEN_FILES))
    sys.addaudithook(_refuse)


def _refuse(event: str, _arguments: tuple[Any, ...]) -> None:
    if event in FORBIDDEN:
        message = f"{event} is refused where documents are read"
        raise PermissionError(message)


def _received(requests: int, decoder: msgspec.msgpack.Decoder[Request]) -> Request | None:
    """Return the next request; None: there will be none."""
    if not select.select([requests], [], [], IDLE_S)[0]:
        return None
    head = _read(requests, LENGTH.size)
    return None if head is None else decoder.decode(_read(requests, LENGTH.unpack(head)[0]) or b"")


def _read(source: int, size: int) -> bytes | None:
    parts: list[bytes] = []
    while size:
        part = os.read(source, size)
        if not part:
            return None
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _answer(request: Request) -> tuple[bytes, bool]:
    """Return the answer's frame, and whether the process has to end because its memory is used up."""
    limits = request.limits
    try:
        _limit_memory(limits.memory_bytes)
        return frame(Done(document(Path(request.path), request.name, limits))), False
    except MemoryError:
        _limit_memory(resource.RLIM_INFINITY)  # for the few bytes of the answer
        return frame(_refused(too_much_memory(limits), is_spent=True)), True
    except MemsvcError as error:
        return frame(_refused(error)), False
    except OSError as error:
        return frame(
            _refused(BadFileError(f"The file cannot be read: {error.strerror or type(error).__name__}."))
        ), False


def _limit_memory(size: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (size, resource.RLIM_INFINITY))


def _refused(error: MemsvcError, *, is_spent: bool = False) -> Refused:
    return Refused(error.code, error.message, error.advice, error.details, is_spent=is_spent)


def _send(answers: int, answer: bytes) -> None:
    data = memoryview(answer)
    while data:
        data = data[os.write(answers, data) :]


if __name__ == "__main__":
    main()
