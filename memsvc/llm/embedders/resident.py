"""An embedding model of this process: loaded once, in a thread, when it is first needed.

Passages and queries have threads of their own, and a model embeds both at the same time, so that a query does not wait
for a batch (all-MiniLM on ONNX: 3 ms alone; during a batch of long texts 3 ms at the median and 11 ms at worst). A
query has a time limit; if the model fails or is slow, recall continues by words.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

import structlog
from pgvector import HalfVector

from memsvc.errors import EmbedderAnswerError, EmbedderError, MemsvcError
from memsvc.llm.embedders import Embedder, TokenEmbedder, checked
from memsvc.llm.embedders.loading import load
from memsvc.observe import EMBED_SECONDS, said
from memsvc.settings import Settings

SLICE_TEXTS = 32
"""Most texts in one call of a model; bounds the wait of a query for a model that embeds one call at a time."""
QUERY_THREADS = 2
LOAD_AGAIN_S = 10.0
WARN_EVERY_S = 60.0
MAX_DIMENSIONS = 4_000
"""pgvector's limit for an index on halfvec."""
log = structlog.get_logger()
Done = TypeVar("Done")


class Embedding(NamedTuple):
    """What a model makes of a text."""

    vector: HalfVector
    tokens: str | None = None
    """Its token vectors, as an array of bit(128); None if the model gives none, or has no projection yet."""


class ResidentEmbedder:
    """A model that costs nothing until it is needed. All methods are called in the thread of one event loop."""

    def __init__(self, settings: Settings) -> None:
        """Store the model's name; nothing is imported or loaded yet."""
        self.model_name = settings.embedding_model
        self._settings = settings
        self._passages = ThreadPoolExecutor(1, "embed")
        self._queries = ThreadPoolExecutor(QUERY_THREADS, "embed-query")
        self._loading: Future[Embedder] | None = None
        self._load_again_at = 0.0
        self._late = 0
        self._late_lock = threading.Lock()
        self._warn_again_at = 0.0
        self._projection: bytes | None = None
        self._no_tokens = False
        self.closed = False
        """Closed: it takes no more work."""

    async def load(self) -> Embedder:
        """Return the model, ready to use; after a failure it is tried again only after 10 s.

        Raises:
            EmbedderMissingError: its package is not installed, or nothing has this name.
            EmbedderError, ConfigurationError: it does not start, or it was closed.
        """
        if (model := self._loaded()) is not None:
            return model
        known = self._loading
        if known is None or (known.done() and known.exception() and time.monotonic() >= self._load_again_at):
            self._loading = known = self._submit(self._passages, self._load)
        return await asyncio.shield(asyncio.wrap_future(known))  # a caller that stops waiting does not stop loading

    def _loaded(self) -> Embedder | None:
        """Return the model if it is loaded already, so that the caller need not wait for the event loop."""
        known = self._loading
        return known.result() if known is not None and known.done() and not known.exception() else None

    def _load(self) -> Embedder:
        try:
            model = load(self.model_name, self._settings)
        except MemsvcError:
            self._load_again_at = time.monotonic() + LOAD_AGAIN_S
            raise
        except Exception as error:
            self._load_again_at = time.monotonic() + LOAD_AGAIN_S
            raise EmbedderError(f"{self.model_name!r} cannot be loaded: {type(error).__name__}.") from error
        if not 1 <= model.dimensions <= MAX_DIMENSIONS:
            self._load_again_at = time.monotonic() + LOAD_AGAIN_S
            raise EmbedderError(f"{self.model_name!r} has {model.dimensions} dimensions; 1 to {MAX_DIMENSIONS} fit.")
        return model

    async def ready(self) -> bool:
        """Wait until the model is loaded, for commands with one query; False, and a warning, if it cannot be."""
        try:
            await self.load()
        except MemsvcError as error:
            self.warn("no embedding model", error)
            return False
        return True

    @property
    def dimensions(self) -> int | None:
        """The length of its vectors; None until it is loaded."""
        model = self._loaded()
        return model.dimensions if model is not None else None

    @property
    def lacks_projection(self) -> bool:
        """Whether a projection for its token vectors is missing."""
        return self._projection is None

    def project(self, stored: bytes) -> None:
        """Give token vectors from now on, by the projection that the database stores for this model."""
        self._projection = stored

    async def fit_projection(self) -> bytes:
        """Fit a projection for the model's token vectors; takes about a second. For models that give them.

        Raises:
            EmbedderMissingError, EmbedderError, ConfigurationError, EmbedderAnswerError: as ``vectors``.
        """
        model = await self.load()
        self._no_tokens = True  # reset on success: a failure is not repeated for each message
        fitted = await asyncio.wrap_future(self._submit(self._passages, _fit, model))
        self._no_tokens = False
        return fitted

    async def gives_tokens(self) -> bool:
        """Whether messages should get token vectors from it.

        Raises:
            EmbedderMissingError, EmbedderError, ConfigurationError: as ``load``.
        """
        wanted = self._settings.late_interaction and not self._no_tokens
        return wanted and isinstance(await self.load(), TokenEmbedder)

    async def vectors(self, texts: Sequence[str]) -> list[Embedding]:
        """Vectors of texts, in their order; other coroutines go on meanwhile.

        Raises:
            EmbedderMissingError, EmbedderError, ConfigurationError: as ``load``.
            EmbedderAnswerError: the model refuses a text, or its answer is no vector.
        """
        model = await self.load()
        found: dict[int, Embedding] = {}
        by_length = sorted(range(len(texts)), key=lambda index: len(texts[index]))  # little padding
        slices = [by_length[start : start + SLICE_TEXTS] for start in range(0, len(texts), SLICE_TEXTS)]
        # All at once: the model begins the next slice without waiting for this loop, which has other things to do.
        works = [
            self._submit(
                self._passages, _embed, model, [texts[index] for index in chosen], "passages", self._projection
            )
            for chosen in slices
        ]
        try:
            for chosen, work in zip(slices, works, strict=True):
                made = await asyncio.wrap_future(work)
                found.update(zip(chosen, made, strict=True))
        finally:
            for work in works:
                work.cancel()
        return [found[index] for index in range(len(texts))]

    async def query_vector(self, text: str, timeout_ms: int) -> Embedding | None:
        """Return a query's vector; None, with a warning, if the model is missing, fails or is slow."""
        if timeout_ms <= 0:
            return None
        if self._late >= QUERY_THREADS:  # the model hangs, so this query does not wait for it too
            self.warn("query not embedded: the model is late")
            return None
        work: Future[list[Embedding]] | None = None
        try:
            async with asyncio.timeout(timeout_ms / 1000):
                model = await self.load()
                work = self._submit(self._queries, _embed, model, [text], "query", self._projection)
                return (await asyncio.wrap_future(work))[0]
        except TimeoutError:
            if work is not None and not work.cancel():
                self._note_late(1)
                work.add_done_callback(lambda _done: self._note_late(-1))
            self.warn("query not embedded: the model is late", timeout_ms=timeout_ms)
        except MemsvcError as error:
            self.warn("query not embedded", error)
        return None

    def _note_late(self, change: int) -> None:
        with self._late_lock:
            self._late += change

    def warn(self, event: str, error: MemsvcError | None = None, **facts: object) -> None:
        """Log a problem with the model, at most once a minute."""
        if time.monotonic() >= self._warn_again_at:
            self._warn_again_at = time.monotonic() + WARN_EVERY_S
            why = {"code": error.code, "error": said(error)} if error else {}
            log.warning(event, model=self.model_name, **why, **facts)

    def _submit(self, threads: ThreadPoolExecutor, work: Callable[..., Done], *arguments: Any) -> Future[Done]:
        if self.closed:
            raise EmbedderError(f"{self.model_name!r} is not in use any more.")
        return threads.submit(work, *arguments)

    def close(self, *, now: bool = True) -> None:
        """Take no more work; running work is finished in the background, and waiting work too unless ``now``."""
        self.closed = True
        for threads in (self._passages, self._queries):
            threads.shutdown(wait=False, cancel_futures=now)


@contextmanager
def _explained() -> Iterator[None]:
    """Translate any exception of a third-party model into one of our errors."""
    try:
        yield
    except MemsvcError:
        raise
    except (TypeError, ValueError) as error:
        raise EmbedderAnswerError(f"The embedding model failed: {type(error).__name__}.") from error
    except Exception as error:
        raise EmbedderError(f"The embedding model failed: {type(error).__name__}.") from error


def _fit(model: Embedder) -> bytes:
    from memsvc.llm.embedders.reduction import fit  # noqa: PLC0415 - numpy is an extra

    with _explained():
        if not isinstance(model, TokenEmbedder):
            raise TypeError
        return fit(model)


def _embed(model: Embedder, texts: list[str], what: str, projection: bytes | None) -> list[Embedding]:
    """Vectors; token vectors with a projection.

    Raises:
        EmbedderError, EmbedderAnswerError: also for whatever a model of others raises.
    """
    import numpy as np  # noqa: PLC0415 - an extra; whoever has a model has it

    began = time.perf_counter()
    tokens: Sequence[str | None] = [None] * len(texts)
    with _explained():
        if projection is not None and isinstance(model, TokenEmbedder):
            from memsvc.llm.embedders.reduction import projection_of, written  # noqa: PLC0415 - numpy is an extra

            given, states = model.embed_with_tokens(texts)
            tokens = written(states, projection_of(projection))
        else:
            given = np.asarray(model.embed(texts), np.float32)
    vectors = checked(given, len(texts), model.dimensions)
    EMBED_SECONDS.labels(what).observe(time.perf_counter() - began)
    return [Embedding(HalfVector(vector), bits) for vector, bits in zip(vectors, tokens, strict=True)]
