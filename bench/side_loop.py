"""The loop of a program that answers lines of JSON: for the sides that ``bench.peers`` starts beside memsvc.

Imports nothing but the standard library, for nothing else is there.
"""

from __future__ import annotations

import contextlib
import gc
import importlib.metadata
import json
import sys
import time
from collections.abc import Callable
from typing import Any, Protocol


class Store(Protocol):
    """What a side can do."""

    def load(self, rows: str, vectors: str) -> int:
        """Store rows (a file of lines of JSON: user, id, text) with their vectors (a file of float32); how many."""

    def ready(self) -> None:
        """Everything is loaded: build what searches need."""

    def tune(self, search: dict[str, Any], index: dict[str, Any]) -> None:
        """Set what searches that ask for it are done with; everything is loaded and ready.

        Args:
            search: settings of each search, by the names that the program has for them.
            index: of the vector index, which is built where there is none like it yet; empty: that of the defaults.
        """

    def search(
        self, user: str, query: str, vector: list[float], limit: int, mode: str, *, tuned: bool = False
    ) -> list[str]:
        """Ids of a user's rows, best first; ``mode`` is "hybrid" or "vector"; ``tuned``: as ``tune`` has set it."""


def serve(package: str, make: Callable[..., Store]) -> None:
    """Answer each line of stdin until it ends; what libraries print goes to stderr.

    Args:
        package: whose version is told.
        make: gives the store for what ``open`` is asked with.
    """
    answers = sys.stdout
    store: Store | None = None
    with contextlib.redirect_stdout(sys.stderr):
        for line in sys.stdin:
            asked = json.loads(line)
            operation = asked.pop("operation")
            answer: dict[str, Any] = {}
            try:
                if operation == "open":
                    store = make(**asked)
                    answer["version"] = importlib.metadata.version(package)
                elif store is None:
                    answer["error"] = "no store is open"
                elif operation == "load":
                    answer["rows"] = store.load(**asked)
                elif operation == "ready":
                    store.ready()
                elif operation == "tune":
                    store.tune(**asked)
                else:
                    start = time.perf_counter()
                    answer["ids"] = store.search(**asked)
                    answer["ms"] = (time.perf_counter() - start) * 1_000
                if operation in {"ready", "tune"}:  # as memsvc: what is loaded is not looked through for garbage
                    gc.collect()
                    gc.freeze()
            except Exception as error:  # noqa: BLE001 - whatever it is, the other side says it
                answer = {"error": f"{type(error).__name__}: {error}"}
            answers.write(json.dumps(answer) + "\n")
            answers.flush()
