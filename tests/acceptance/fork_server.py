"""Runs commands of memsvc in forks of a process that has loaded the libraries already, so that each starts at once.

Most of what a short command takes is the loading of SQLAlchemy, psycopg, pydantic and their like: the same again and
again. Here one process loads them, and nothing of memsvc, and forks for each command. A fork is a process of its own
with the command's arguments, environment, working folder, pipes and exit code; it imports memsvc anew and runs the
installed program to the interpreter's end. What a fork cannot show (start-up itself, what ``--help`` loads, the wheel,
services) is tested by real starts: ``Rig.start``, ``test_command_line``, ``test_command_jobs``, ``test_installed``. All
forks of a process have its hash seed, so two take turns: the order of a set still differs from one command to the next.

As a program (``python fork_server.py PROGRAM SOCKET``) this file is such a process, and imports nothing of the tests.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib import import_module
from itertools import cycle
from pathlib import Path

LIBRARIES = (
    "asyncio", "sqlalchemy.ext.asyncio", "sqlalchemy.dialects.postgresql.psycopg", "psycopg", "msgspec",
    "pydantic_settings", "structlog", "prometheus_client", "typer", "rich.progress", "httpx", "dramatiq",
    "dramatiq_postgres", "rapidfuzz", "anyascii", "jwt", "numpy", "onnx", "tokenizers",
)  # fmt: skip
"""None of them may start a thread when it is loaded: forks would lack it."""
WITHOUT_THREADS = {"OPENBLAS_NUM_THREADS": "1"}
"""Lets numpy start none."""
TAKE_TURNS = 2
LONGEST_REQUEST = 200_000
INTERPRETERS_OWN = "PYTHON"
"""Variables of such names are read when an interpreter starts; a fork would not see them."""


# The process that forks ---------------------------------------------------------------------------------------------


def serve(program: str, door: socket.socket) -> bool:
    """Load the libraries, then fork for each request until nobody can ask any more. True in a fork: a command now."""
    for library in LIBRARIES:
        import_module(library)
    assert len(list(Path("/proc/self/task").iterdir())) == 1, "a library has started a thread"
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # its children wait for the commands, nobody has to wait for them
    while True:
        request, handles, _, _ = socket.recv_fds(door, LONGEST_REQUEST, 3)
        if not request:
            return False
        if os.fork() == 0 and attend(program, json.loads(request), *handles):
            return True
        for handle in handles:
            os.close(handle)


def attend(program: str, request: dict[str, object], reply: int, output: int, errors: int) -> bool:
    """Fork once more: the child becomes the command, its parent tells its process id and then its exit code."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    command = os.fork()
    if command == 0:
        become(program, output, errors, **request)  # type: ignore[arg-type]
        return True
    os.close(output)
    os.close(errors)
    os.write(reply, b"%d\n" % command)
    _, status = os.waitpid(command, 0)
    os.write(reply, b"%d\n" % os.waitstatus_to_exitcode(status))
    os._exit(0)


def become(
    program: str, output: int, errors: int, *, arguments: list[str], cwd: str, environment: dict[str, str]
) -> None:
    """Make this process look as if the program had just been started."""
    for handle, place in ((os.open(os.devnull, os.O_RDONLY), 0), (output, 1), (errors, 2)):
        os.dup2(handle, place)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv[:] = [program, *arguments]
    sys.path[0] = str(Path(program).parent)


# Who asks it --------------------------------------------------------------------------------------------------------


class ForkServer:
    """The processes that fork, and the way to ask them; they end with this process."""

    def __init__(self, program: Path) -> None:
        """Start them; they load while the caller goes on.

        Args:
            program: the installed program, a text of Python.
        """
        self._doors: list[socket.socket] = []
        self._processes: list[subprocess.Popen[bytes]] = []
        for _ in range(TAKE_TURNS):
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with theirs:
                process = subprocess.Popen(
                    [sys.executable, __file__, str(program), str(theirs.fileno())],
                    env={**os.environ, **WITHOUT_THREADS},
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    pass_fds=[theirs.fileno()],
                )
            self._doors.append(ours)
            self._processes.append(process)
        self._turns = cycle(self._doors)

    def run(
        self, arguments: Sequence[str], *, cwd: Path, environment: Mapping[str, str], timeout: float
    ) -> subprocess.CompletedProcess[str]:
        """Run the program to its end, like ``subprocess.run`` with captured output and no input.

        Raises:
            subprocess.TimeoutExpired: it took longer, and was killed.
        """
        request = {"arguments": list(arguments), "cwd": str(cwd), "environment": dict(environment)}
        ours, theirs = socket.socketpair()
        (output, to_output), (errors, to_errors) = os.pipe(), os.pipe()
        with ours, ours.makefile("rb") as reply, ThreadPoolExecutor(2) as readers:
            told = [readers.submit(_text, handle) for handle in (output, errors)]
            with theirs:
                socket.send_fds(
                    next(self._turns), [json.dumps(request).encode()], [theirs.fileno(), to_output, to_errors]
                )
            os.close(to_output)
            os.close(to_errors)
            process = int(reply.readline())  # as soon as the libraries are loaded
            ours.settimeout(timeout)
            try:
                code = int(reply.readline())
            except TimeoutError:
                os.kill(process, signal.SIGKILL)
                raise subprocess.TimeoutExpired(list(arguments), timeout) from None
            return subprocess.CompletedProcess(list(arguments), code, *(each.result() for each in told))

    def close(self) -> None:
        """End the processes."""
        for door, process in zip(self._doors, self._processes, strict=True):
            door.close()
            process.wait()


def _text(handle: int) -> str:
    """All that is written to a pipe until its last writer closes it."""
    with open(handle, encoding="utf-8") as pipe:
        return pipe.read()


@cache
def fork_server(program: Path) -> ForkServer:
    """The one of this process."""
    made = ForkServer(program)
    atexit.register(made.close)
    return made


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[2])) as asked:
        is_command = serve(sys.argv[1], asked)
        if is_command:
            asked.detach()
    if is_command:
        runpy.run_path(sys.argv[0], run_name="__main__")
