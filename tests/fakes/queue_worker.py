"""``python -m tests.fakes.queue_worker URL FOLDER SECONDS [SILENCE_MS]``: a worker process on a real server.

Its jobs take so many seconds; each leaves a line in ``FOLDER/begun`` when it begins, in ``FOLDER/done`` when it ends.
"""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path

import dramatiq
from dramatiq import Worker

from memsvc.queue import targets


def main(url: str, folder: Path, seconds: float) -> None:
    """Work until this process is killed."""
    broker = targets.target(url, prefetch={"models": 1}).broker

    def note(file: str, line: str) -> None:
        with (folder / file).open("a") as lines:
            lines.write(line + "\n")

    def process(_user_id: str, job_id: str) -> None:
        note("begun", job_id)
        time.sleep(seconds)
        note("done", job_id)

    dramatiq.actor(actor_name="process", queue_name="models", broker=broker)(process)
    Worker(broker, worker_threads=2, worker_timeout=1_000).start()
    threading.Event().wait()


if __name__ == "__main__":
    if len(sys.argv) > 4:
        targets.REDIS_SILENCE_MS = int(sys.argv[4])
    main(sys.argv[1], Path(sys.argv[2]), float(sys.argv[3]))
