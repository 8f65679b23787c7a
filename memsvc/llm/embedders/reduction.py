"""Reduces token vectors for late interaction; the pass that gives a passage's vector gives them as well.

Late interaction (MaxSim; Khattab & Zaharia 2020) compares each token of a query with each of a passage. A float vector
for each token would take 70 times the bytes of the passage's text; here a token takes 16 bytes. Of a text, the rarest
32 tokens that carry meaning are kept. Each is projected to its 128 strongest directions, which are mixed by a fixed
rotation, and only the signs are kept, one bit each: the share of different bits gives the angle (Charikar 2002).
Measured in docs/adr/0016: 128 bits lose nothing compared with 32 numbers, which take four times the space.

The projection is fitted once for each model, to our own sentences (``everyday.txt``); it holds no user's text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from memsvc.errors import EmbedderAnswerError

if TYPE_CHECKING:
    from memsvc.llm.embedders import TokenEmbedder

BITS = 128
"""Bits of a token. 64 lost .005 of recall@10 on LoCoMo; 256 gained nothing beyond chance."""
MOST_TOKENS = 32
"""Most tokens of a text. It bounds bytes and time; and without a bound, long passages are near any query by chance:
with all of their 74 tokens BEAM's recall@10 fell from .743 to .712-.733, with 32 it rose to .77."""
SEED = 16
STORED = np.dtype("<f2")
# Words with little meaning of their own: without them LoCoMo's recall@10 rose by .01, and the bytes were halved.
_WORDS = (
    "a about also am an and are as at be been being but by can could d did do does doing down for from had has have "
    "having he her hers him his how i if in into is it its just ll m me my no not of off on or our ours out over re s "
    "she so some t than that the their them then there these they this those to too up us ve very was we were what "
    "when where which while who whom whose why will with would you your yours"
)
FUNCTION_WORDS = frozenset(_WORDS.split())
Projection = NDArray[np.float32]


def kept(tokens: Sequence[str], ids: Sequence[int]) -> list[int]:
    """Return the tokens of a text to keep: those with meaning; of many, the rarest; in their order.

    Vocabularies are roughly sorted by frequency, so a high id means a rare token. If a text has only punctuation and
    function words, they are kept.

    Args:
        tokens: without the model's own marks, such as [CLS].
        ids: of the tokens in the model's vocabulary.

    Returns:
        Up to 32 indexes, rising; none for a text without tokens.
    """
    meaningful = [index for index, token in enumerate(tokens) if _has_meaning(token)] or list(range(len(tokens)))
    rarest = sorted(meaningful, key=lambda index: (-ids[index], index))[:MOST_TOKENS]
    return sorted(rarest)


@lru_cache(maxsize=65_536)
def _has_meaning(token: str) -> bool:
    word = token.lstrip("Ġ▁").lower()  # byte-level BPE and SentencePiece mark the begin of a word
    return any(sign.isalnum() for sign in word) and word not in FUNCTION_WORDS


def unit(states: NDArray[np.float32]) -> NDArray[np.float32]:
    """Scale rows to length 1; of shape (tokens, d).

    Raises:
        EmbedderAnswerError: some values are not numbers.
    """
    if not np.isfinite(states).all():
        raise EmbedderAnswerError("The model gave values that are not numbers.")
    lengths = np.linalg.norm(states, axis=1, keepdims=True)
    scaled: NDArray[np.float32] = (states / np.maximum(lengths, np.finfo(np.float32).tiny)).astype(np.float32)
    return scaled


def sentences() -> list[str]:
    """Return the sentences to which projections are fitted: everyday English, written for this purpose."""
    return Path(__file__).with_name("everyday.txt").read_text(encoding="utf-8").splitlines()


def fit(model: TokenEmbedder) -> bytes:
    """Fit a model's projection, which is stored with the model, so that all processes use the same one.

    Raises:
        EmbedderError, EmbedderAnswerError: the model cannot be used, or its token vectors are not valid.
    """
    _, tokens = model.embed_with_tokens(sentences())
    return fitted(np.concatenate(tokens)).astype(STORED).tobytes()


def fitted(tokens: NDArray[np.float32]) -> Projection:
    """Return the projection for token vectors like these: (n, d) to (d, 128).

    Principal directions without centring, at most 128, then a fixed rotation, which gives each bit the same weight.
    """
    _, directions = np.linalg.eigh(tokens.astype(np.float64).T @ tokens / len(tokens))  # rising
    strongest = directions[:, ::-1][:, :BITS]
    # The sign of an eigenvector is arbitrary, so its largest component is made positive.
    largest = strongest[np.abs(strongest).argmax(axis=0), np.arange(strongest.shape[1])]
    rotation, _ = np.linalg.qr(np.random.default_rng(SEED).standard_normal((BITS, BITS)))
    projection: Projection = (strongest * np.sign(largest) @ rotation[: strongest.shape[1]]).astype(np.float32)
    return projection


@lru_cache(maxsize=8)
def projection_of(stored: bytes) -> Projection:
    """Return a stored projection, of shape (d, 128)."""
    return np.frombuffer(stored, STORED).reshape(-1, BITS).astype(np.float32)


def signs(tokens: NDArray[np.float32], projection: Projection) -> NDArray[np.uint8]:
    """Return the bits of token vectors, packed: of shape (tokens, 16).

    Raises:
        EmbedderAnswerError: the projection is for vectors of another length.
    """
    if tokens.ndim != 2 or tokens.shape[1] != len(projection):  # noqa: PLR2004 - a table
        raise EmbedderAnswerError(f"Token vectors have the shape {tokens.shape}; {len(projection)} numbers each fit.")
    # Not with BLAS: from six tokens on it wakes its threads for some microseconds of work, and spins until they are
    # ready; on two busy cores that took 6 ms for each query.
    return np.packbits(np.einsum("td,db->tb", tokens, projection) > 0, axis=1)


def written(tokens: Iterable[NDArray[np.float32]], projection: Projection) -> list[str]:
    """Return token vectors of texts in PostgreSQL's form: an array of bit(128) for each text."""
    found = []
    for vectors in tokens:
        digits = signs(vectors, projection).tobytes().hex()
        width = BITS // 4
        found.append("{" + ",".join(f"x{digits[at : at + width]}" for at in range(0, len(digits), width)) + "}")
    return found
