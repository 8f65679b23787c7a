"""Any model of the sentence-transformers library, on the machine's own torch (an extra; see docs/dependencies.md)."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer

from memsvc.errors import EmbedderError
from memsvc.llm.embedders import checked

BATCH_TEXTS = 32


class SentenceTransformersModel:
    """A model by its name in the hub, or by its folder."""

    def __init__(self, model: str) -> None:
        """Load the model; the library fetches weights that are not here yet.

        Raises:
            EmbedderError: it cannot be loaded.
        """
        try:
            self._model = SentenceTransformer(model)
        except (OSError, ValueError) as error:
            raise EmbedderError(f"{model!r} cannot be loaded: {type(error).__name__}.") from error
        # Renamed within version 5; the old name warns.
        dimensions = getattr(self._model, "get_embedding_dimension", self._model.get_sentence_embedding_dimension)
        self.dimensions = int(dimensions() or 0)
        self.window_tokens = int(self._model.max_seq_length or 512)
        self._one_at_a_time = threading.Lock()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of shape (len(texts), dimensions)."""
        with self._one_at_a_time:
            vectors = self._model.encode(
                list(texts), batch_size=BATCH_TEXTS, convert_to_numpy=True, show_progress_bar=False
            )
        return checked(np.asarray(vectors, np.float32), len(texts), self.dimensions)
