"""Any model of the sentence-transformers library, on the machine's own torch (an extra; see docs/dependencies.md)."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer

from memsvc.errors import EmbedderError
from memsvc.llm.embedders import checked
from memsvc.llm.embedders.reduction import kept, unit

BATCH_TEXTS = 32


class SentenceTransformersModel:
    """A model, given by its name in the hub or by its folder."""

    def __init__(self, model: str) -> None:
        """Load the model; the library downloads missing weights.

        Raises:
            EmbedderError: it cannot be loaded.
        """
        try:
            self._model = SentenceTransformer(model)
        except (OSError, ValueError) as error:
            raise EmbedderError(f"{model!r} cannot be loaded: {type(error).__name__}.") from error
        # Renamed within version 5; the old name gives a warning.
        dimensions = getattr(self._model, "get_embedding_dimension", self._model.get_sentence_embedding_dimension)
        self.dimensions = int(dimensions() or 0)
        self.window_tokens = int(self._model.max_seq_length or 512)
        self._one_at_a_time = threading.Lock()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return vectors of shape (len(texts), dimensions)."""
        with self._one_at_a_time:
            vectors = self._model.encode(
                list(texts), batch_size=BATCH_TEXTS, convert_to_numpy=True, show_progress_bar=False
            )
        return checked(np.asarray(vectors, np.float32), len(texts), self.dimensions)

    def embed_with_tokens(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], list[NDArray[np.float32]]]:
        """Return vectors of shape (len(texts), dimensions), and for each text those of its kept tokens."""
        with self._one_at_a_time:
            # encode() splits every value by text, and fails on values that are shared by all texts.
            only_tensors = self._model.register_forward_hook(
                lambda _model, _given, made: {name: value for name, value in made.items() if hasattr(value, "shape")}
            )
            try:
                passes: list[dict[str, Any]] = self._model.encode(
                    list(texts),
                    batch_size=BATCH_TEXTS,
                    output_value=None,
                    convert_to_numpy=False,
                    show_progress_bar=False,
                )
            finally:
                only_tensors.remove()
        vectors = np.array([found["sentence_embedding"].float().cpu().numpy() for found in passes], np.float32)
        tokens = [self._tokens(found) for found in passes]
        return checked(vectors.reshape(len(texts), self.dimensions), len(texts), self.dimensions), tokens

    def _tokens(self, found: dict[str, Any]) -> NDArray[np.float32]:
        """Return the vectors of the kept tokens, without padding and the model's own marks."""
        tokenizer = self._model.tokenizer
        states = found["token_embeddings"].float().cpu().numpy()
        ids = found["input_ids"].tolist()[: len(states)]
        own = set(tokenizer.all_special_ids)
        read = [index for index, number in enumerate(ids) if number not in own]
        chosen = [ids[index] for index in read]
        telling = kept(tokenizer.convert_ids_to_tokens(chosen), chosen)
        return unit(states[[read[index] for index in telling]])
