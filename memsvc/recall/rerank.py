"""A second look at the best memories by a model that reads question and text together; off by default.

It changes the order of the best 50 and nothing else. It is asked after the statement, outside any transaction, with a
deadline: a reranker that is late, fails or talks nonsense leaves the order as it was, and the answer says so.
MEMSVC_RERANKER names it: ``cross-encoder:NAME`` (sentence-transformers, on this machine) or ``http:MODEL`` (any server
with ``POST /rerank`` as Jina and Cohere have it).
"""

from __future__ import annotations

import asyncio
import json
import math
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from http.client import HTTPException
from typing import Any, Protocol, TypeVar

import msgspec
import structlog

from memsvc.errors import ConfigurationError, MemsvcError, RerankerError
from memsvc.llm.http import NoRedirect
from memsvc.observe import said
from memsvc.recall.results import Memory
from memsvc.server.capabilities import Check
from memsvc.settings import Settings

BEST = 50
"""So many memories are given to it."""
TEXT_CHARS = 4_000
"""What stands behind them is not sent: no cross-encoder's window reaches so far."""
BATCH_TEXTS = 16
THREADS = 2
LOAD_AGAIN_S = 10.0
WARN_EVERY_S = 60.0
MAX_ANSWER_BYTES = 1_000_000
log = structlog.get_logger()
Done = TypeVar("Done")


class Reranker(Protocol):
    """A model that reads a question and a text together, ready to use; safe to call from several threads."""

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """How well each text answers the query: higher is better, in the order of the texts, on any scale.

        Raises:
            RerankerError: it cannot be asked now, or its answer is none.
        """


class CrossEncoderReranker:
    """Any cross-encoder of the sentence-transformers library, on the machine's own torch."""

    def __init__(self, model: str) -> None:
        """Load a model by its name in the hub, or by its folder; the library fetches weights that are not here yet.

        Raises:
            RerankerError: the library is not installed, or the model cannot be loaded.
        """
        try:
            from sentence_transformers import CrossEncoder  # noqa: PLC0415 - an extra, and torch takes seconds
        except ImportError as error:
            raise RerankerError(
                f"The reranker {model!r} needs {error.name or error}.",
                hint="pip install 'memsvc[sentence-transformers]'",
            ) from error
        try:
            self._model = CrossEncoder(model)
        except (OSError, ValueError) as error:
            raise RerankerError(f"{model!r} cannot be loaded: {type(error).__name__}.") from error
        self._one_at_a_time = threading.Lock()

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """One score for each text."""
        with self._one_at_a_time:
            found: list[float] = self._model.predict(
                [(query, text) for text in texts], batch_size=BATCH_TEXTS, show_progress_bar=False
            ).tolist()
        return found


class HttpReranker:
    """A model behind ``POST /rerank``: Jina, Cohere, llama.cpp, vLLM, Infinity. One try: a question does not wait."""

    def __init__(self, url: str, key: str | None, model: str, timeout_s: float) -> None:
        """Note the server; nothing is asked yet."""
        self._url = url.rstrip("/") + "/rerank"
        self._key = key
        self._model = model
        self._timeout_s = timeout_s
        self._opener = urllib.request.build_opener(NoRedirect)

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """One score for each text."""
        asked = {"model": self._model, "query": query, "documents": list(texts), "top_n": len(texts)}
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        request = urllib.request.Request(  # noqa: S310 - settings allow http and https alone
            self._url, json.dumps(asked).encode(), headers
        )
        try:
            with self._opener.open(request, timeout=self._timeout_s) as reply:
                answer = json.loads(reply.read(MAX_ANSWER_BYTES))
        except urllib.error.HTTPError as error:
            error.close()
            raise RerankerError(f"The reranker's server answers {error.code}.") from error
        except (OSError, HTTPException, ValueError, RecursionError) as error:
            raise RerankerError(f"The reranker's server does not answer: {type(error).__name__}.") from error
        return self._scores(answer, len(texts))

    @staticmethod
    def _scores(answer: Any, texts: int) -> list[float]:
        try:
            found = {int(row["index"]): row["relevance_score"] for row in answer["results"]}
            return [found[index] for index in range(texts)]
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise RerankerError("The reranker's answer has another form.") from error


def load(name: str, settings: Settings) -> Reranker:
    """The reranker of this name.

    Raises:
        RerankerError: it is not installed, or cannot be loaded.
        ConfigurationError: a setting that it needs is missing.
    """
    backend, _, model = name.partition(":")
    if backend == "cross-encoder":
        return CrossEncoderReranker(model)
    if not settings.reranker_url:
        raise ConfigurationError(
            "MEMSVC_RERANKER_URL is not set.", hint="Set it to the server's base, such as http://127.0.0.1:8080/v1."
        )
    key = settings.reranker_key.get_secret_value() if settings.reranker_key else None
    return HttpReranker(settings.reranker_url, key, model, settings.reranker_ms / 1000)


def _checked(scores: Any, texts: int) -> list[float]:
    """The scores, if they are some.

    Raises:
        RerankerError: another number of them than there are texts, or one that is no finite number.
    """
    good = isinstance(scores, list) and len(scores) == texts
    if not good or not all(type(score) in {int, float} and math.isfinite(score) for score in scores):
        raise RerankerError("The reranker's answer is not one score for each text.")
    return [float(score) for score in scores]


class ResidentReranker:
    """The reranker of this process: loaded once, when it is first needed; all methods belong to one event loop."""

    def __init__(self, name: str, deadline_ms: int, make: Callable[[], Reranker]) -> None:
        """Note which one is meant; nothing is imported, loaded or asked yet.

        Args:
            name: for the log.
            deadline_ms: longest wait for its scores, loading included.
            make: loads it; called in a thread.
        """
        self.name = name
        self._deadline_s = deadline_ms / 1000
        self._make = make
        self._threads = ThreadPoolExecutor(THREADS, "rerank")
        self._loading: Future[Reranker] | None = None
        self._load_again_at = 0.0
        self._late = 0
        self._late_lock = threading.Lock()
        self._warn_again_at = 0.0

    async def _load(self) -> Reranker:
        known = self._loading
        if known is None or (known.done() and known.exception() and time.monotonic() >= self._load_again_at):
            self._load_again_at = time.monotonic() + LOAD_AGAIN_S
            self._loading = known = self._submit(self._make)
        return await asyncio.shield(asyncio.wrap_future(known))  # who gives up waiting does not stop it

    async def ready(self) -> bool:
        """Wait until it is loaded, for commands that ask one question; False, and a warning, where it cannot be."""
        try:
            await self._load()
        except Exception as error:  # noqa: BLE001 - models of others may raise anything
            self._warn("no reranker", error)
            return False
        return True

    async def scores(self, query: str, texts: Sequence[str]) -> list[float] | None:
        """How well each text answers the query; None, with a warning, where it is late, fails or answers nonsense."""
        if self._late >= THREADS:  # it hangs: nobody else has to wait to learn that
            self._warn("not reranked: the reranker is late")
            return None
        work: Future[list[float]] | None = None
        try:
            async with asyncio.timeout(self._deadline_s):
                model = await self._load()
                work = self._submit(model.scores, query, texts)
                return _checked(await asyncio.wrap_future(work), len(texts))
        except TimeoutError:
            if work is not None and not work.cancel():
                self._note_late(1)
                work.add_done_callback(lambda _done: self._note_late(-1))
            self._warn("not reranked: the reranker is late")
        except Exception as error:  # noqa: BLE001 - models of others may raise anything
            self._warn("not reranked", error)
        return None

    def _note_late(self, change: int) -> None:
        with self._late_lock:
            self._late += change

    def _warn(self, event: str, error: Exception | None = None) -> None:
        """Log what goes wrong, once a minute; never a text or a question."""
        if time.monotonic() >= self._warn_again_at:
            self._warn_again_at = time.monotonic() + WARN_EVERY_S
            why = said(error) if isinstance(error, MemsvcError) else type(error).__name__ if error else None
            log.warning(event, reranker=self.name, error=why)

    def _submit(self, work: Callable[..., Done], *arguments: Any) -> Future[Done]:
        return self._threads.submit(work, *arguments)

    def close(self) -> None:
        """Take no more work; what is being scored is finished in the background."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def reranker_of(settings: Settings) -> ResidentReranker | None:
    """The reranker of this process; None where MEMSVC_RERANKER is empty.

    Raises:
        ConfigurationError: it needs MEMSVC_RERANKER_URL.
    """
    name = settings.reranker
    if not name:
        return None
    if name.startswith("http:"):
        load(name, settings)  # costs nothing, and says at the start what would else be said at the first question
    return ResidentReranker(name, settings.reranker_ms, lambda: load(name, settings))


def as_read(memory: Memory) -> str:
    """A memory as a reranker reads it."""
    who = f"{memory.speaker}: " if memory.speaker and memory.kind != "fact" else ""
    picture = f" [picture: {memory.caption}]" if memory.caption else ""
    return f"{who}{memory.text}{picture}"[:TEXT_CHARS]


async def rerank(memories: Sequence[Memory], query: str, reranker: ResidentReranker) -> list[Memory] | None:
    """Put the best 50 into the reranker's order; the rest stay behind them as they were.

    Each of the 50 gets ``arms["reranker"]``: the score, the rank from 1, and what the rank was before. Ask it while no
    transaction is open.

    Returns:
        None where the reranker is late or fails.
    """
    best = memories[:BEST]
    if not best:
        return []
    scores = await reranker.scores(query[:TEXT_CHARS], [as_read(memory) for memory in best])
    if scores is None:
        return None
    order = sorted(range(len(best)), key=lambda index: -scores[index])
    marked = [
        msgspec.structs.replace(
            best[index],
            arms={**best[index].arms, "reranker": {"score": round(scores[index], 4), "rank": rank, "was": index + 1}},
        )
        for rank, index in enumerate(order, 1)
    ]
    return [*marked, *memories[BEST:]]


def check_reranker(settings: Settings) -> Iterator[Check]:
    """The doctor's line about it: it is asked to score one sentence. None where none is configured."""
    if settings.reranker:
        name, says = settings.reranker, "recall that asks for it keeps its own order"
        try:
            began = time.perf_counter()
            model = load(name, settings)
            asked = time.perf_counter()
            _checked(model.scores("Does it work?", ["It works."]), 1)
        except MemsvcError as error:
            yield Check("reranker", "warning", f"{error.message} {error.advice} Until then {says}")
        except Exception as error:  # noqa: BLE001 - as above
            yield Check("reranker", "warning", f"{name} fails with {type(error).__name__}: {says}")
        else:
            ms, load_s = (time.perf_counter() - asked) * 1000, asked - began
            yield Check("reranker", "ok", f"{name}, loaded in {load_s:.1f} s, {ms:.0f} ms for one text")
