"""Small embedding models for tests: of any size, and with any fault."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future

import numpy as np
from numpy.typing import NDArray

from memsvc.db.engine import Database
from memsvc.llm.embedders import Embedder
from memsvc.llm.embedders.reduction import kept, unit
from memsvc.llm.embedders.resident import ResidentEmbedder
from memsvc.llm.embedders.residents import InUse, QueryVector
from memsvc.settings import Settings


class WordsEmbedder:
    """Counts words by their hash: texts with the same words have the same vector."""

    window_tokens = 256

    def __init__(self, dimensions: int = 8, before: Callable[[Sequence[str]], None] = lambda _texts: None) -> None:
        """Call ``before`` with the texts of each batch: it may wait, note or raise."""
        self.dimensions = dimensions
        self.before = before
        self.batches: list[list[str]] = []
        self._noting = threading.Lock()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One vector of length 1 for each text."""
        self.before(texts)
        with self._noting:
            self.batches.append(list(texts))
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().split():
                vectors[row, sum(word.encode()) % self.dimensions] += 1
        vectors[:, 0] += 1e-3
        found: NDArray[np.float32] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return found

    @property
    def embedded(self) -> list[str]:
        """All texts that it was asked for."""
        return [text for batch in self.batches for text in batch]


class TokenWords(WordsEmbedder):
    """Gives each word's vector as well: the same word has the same, others are unrelated."""

    def embed_with_tokens(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], list[NDArray[np.float32]]]:
        """Of shape (words, 32) for each text."""
        words = [[word.strip(".,:?!").lower() for word in text.split()] for text in texts]
        return self.embed(texts), [
            unit(
                np.array([_direction(said[index]) for index in kept(said, [0] * len(said))], np.float32).reshape(-1, 32)
            )
            for said in words
        ]


def _direction(word: str) -> NDArray[np.float64]:
    return np.random.default_rng(list(word.encode())).normal(size=32)


class NoisyEmbedder(WordsEmbedder):
    """Words and noise, so that texts without a common word are near to each other by chance, as with real models."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One vector of length 1 for each text; the same text has the same noise."""
        vectors = super().embed(texts)
        for row, text in enumerate(texts):
            noise = np.random.default_rng([self.dimensions, *text.encode()]).normal(size=self.dimensions)
            vectors[row] += noise / np.linalg.norm(noise)
        found: NDArray[np.float32] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return found


class NotANumber(WordsEmbedder):
    """Gives NaN for texts with a word, as broken models do for some."""

    def __init__(self, poison: str = "poison", dimensions: int = 8) -> None:
        """Texts with ``poison`` get NaN; with "" all do."""
        super().__init__(dimensions)
        self.poison = poison

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors, some of them not numbers."""
        vectors = super().embed(texts)
        for row, text in enumerate(texts):
            if self.poison in text:
                vectors[row] = np.nan
        return vectors


class SlowEmbedder(WordsEmbedder):
    """Needs its time."""

    def __init__(self, seconds: float, dimensions: int = 8) -> None:
        """Each batch takes ``seconds``."""
        super().__init__(dimensions, lambda _texts: time.sleep(seconds))


class Alone(ResidentEmbedder):
    """A resident as the only model in use, whatever the database says."""

    async def for_passages(self, _db: Database) -> list[InUse]:
        """As ``Residents``."""
        return [InUse("active", self)]

    async def query_vectors(
        self, _db: Database, query: str, timeout_ms: int
    ) -> tuple[QueryVector | None, QueryVector | None]:
        """As ``Residents``."""
        made = await self.query_vector(query, timeout_ms)
        return (QueryVector(self.model_name, *made) if made is not None else None), None


def resident(model: Embedder, name: str, settings: Settings) -> Alone:
    """A resident that holds this model already, as if it had been loaded by this name."""
    holder = Alone(settings.model_copy(update={"embedding_model": name}))
    loaded: Future[Embedder] = Future()
    loaded.set_result(model)
    holder._loading = loaded
    return holder
