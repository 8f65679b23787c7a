"""Embedding models behind one interface, by name.

A model is named ``backend:model``: ``onnx:all-MiniLM-L6-v2`` (the default; its weights come in a package),
``onnx:MiniLM+USE-multilingual`` (the same beside a model of 16 languages; an extra),
``sentence-transformers:<any model of that library>``, ``openai:<model>`` (any OpenAI-compatible server), or the name of
an entry point in the group ``memsvc.embedders`` (any callable that gives an Embedder). ``loading`` finds them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from memsvc.errors import EmbedderAnswerError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DEFAULT_MODEL = "onnx:all-MiniLM-L6-v2"
MULTILINGUAL_MODEL = "onnx:MiniLM+USE-multilingual"
_LATIN = "\u0000-\u024f"
_CYRILLIC, _ARABIC, _THAI = "\u0400-\u04ff", "\u0600-\u06ff\ufb50-\ufdff\ufe70-\ufeff", "\u0e00-\u0e7f"
_CHINESE_JAPANESE_KOREAN = "\u1100-\u11ff\u3000-\u30ff\u3130-\u318f\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef"
READABLE = {
    DEFAULT_MODEL: re.compile(f"[{_LATIN}]+"),
    MULTILINGUAL_MODEL: re.compile(f"[{_LATIN}{_CYRILLIC}{_ARABIC}{_THAI}{_CHINESE_JAPANESE_KOREAN}]+"),
}
"""Scripts of which models know more than single letters; models that are not listed count as knowing all."""
UNREADABLE_SHARE = 0.3


class Embedder(Protocol):
    """An embedding model, ready to use; safe to call from several threads."""

    @property
    def dimensions(self) -> int:
        """Length of its vectors."""

    @property
    def window_tokens(self) -> int:
        """Tokens that it reads of a text; what stands behind them does not count."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of shape (len(texts), dimensions), each of length 1, in the order of the texts.

        Raises:
            EmbedderError: the model cannot be asked now.
            EmbedderAnswerError: it can, and refuses a text or answers nonsense.
        """


@runtime_checkable
class TokenEmbedder(Embedder, Protocol):
    """An embedding model that gives vectors of tokens as well, in the same pass: for late interaction."""

    def embed_with_tokens(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], list[NDArray[np.float32]]]:
        """The vectors as ``embed`` gives them, and for each text those of the tokens that ``reduction.kept`` keeps.

        The latter are of shape (tokens, d), each of length 1; d may differ from ``dimensions``. A text may have none.

        Raises:
            EmbedderError, EmbedderAnswerError: as ``embed``.
        """


def install_hint(extras: str) -> str:
    """Return what to do where a model's packages are missing, which some extras of memsvc hold."""
    return f"pip install 'memsvc[{extras}]', or set MEMSVC_EMBEDDING_MODEL to an installed model."


def legible(name: str, text: str) -> bool:
    """Whether a model can read a text at all: the default one, for example, knows Latin letters only.

    Compared by a model that cannot read it, a text is near to anything.

    Args:
        name: the model's name.
        text: a query.

    Returns:
        False where more than 3 of 10 letters are in a script that the model does not know.
    """
    readable = READABLE.get(name)
    return readable is None or _letters(readable.sub("", text)) <= UNREADABLE_SHARE * _letters(text)


def _letters(text: str) -> int:
    return sum(map(str.isalpha, text))


def checked(vectors: NDArray[np.float32], texts: int, dimensions: int) -> NDArray[np.float32]:
    """The vectors, scaled to length 1, if they are vectors at all.

    Raises:
        EmbedderAnswerError: another shape than (texts, dimensions), a value that is not finite, a vector of length 0.
    """
    import numpy as np  # noqa: PLC0415 - numpy is an extra

    if vectors.shape != (texts, dimensions):
        raise EmbedderAnswerError(f"The model gave {vectors.shape} for {texts} texts of {dimensions} dimensions.")
    if not np.isfinite(vectors).all():
        raise EmbedderAnswerError("The model gave values that are not numbers.")
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if texts and not lengths.min() > 0:
        raise EmbedderAnswerError("The model gave a vector of length 0.")
    scaled: NDArray[np.float32] = (vectors / lengths).astype(np.float32)
    return scaled


def batches(sizes: Sequence[int], most_tokens: int, most_texts: int) -> Iterator[list[int]]:
    """Groups of indices whose padded size stays below a cap, short texts together.

    Args:
        sizes: tokens of each text.
        most_tokens: cap for texts times the longest text of a group.
        most_texts: cap for texts of a group.
    """
    group: list[int] = []
    for index in sorted(range(len(sizes)), key=sizes.__getitem__):
        if group and (len(group) >= most_texts or (len(group) + 1) * sizes[index] > most_tokens):
            yield group
            group = []
        group.append(index)
    if group:
        yield group
