"""The default model beside one of 16 languages, as one model: English as well as before, other languages by meaning.

A vector is two vectors one after the other, which weigh the same: MiniLM's (384 dimensions) and the Universal Sentence
Encoder's (512). The product of two such vectors is the mean of both models' similarities. MiniLM has no say about a
text that does not seem to be English: its part is zero then. So a Chinese question is compared with Chinese and with
English memories by the one model that knows both. Token vectors are MiniLM's: other texts have none. Figures, and what
else was tried: docs/adr/0042.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memsvc.llm.embedders import checked
from memsvc.llm.embedders.onnx import OnnxMiniLM
from memsvc.llm.embedders.reduction import FUNCTION_WORDS
from memsvc.llm.embedders.universal import UniversalEncoder

MOST_CHARS = 2_000
"""Of a text, so much tells its language."""
_WORD = re.compile(r"[^\W\d_]+")
_GERMAN_DUTCH = (
    "aber auch auf aus bei das dass dem den der dich die dir doch ein eine einem einen einer er es euch habe haben hat "
    "ich ihm ihn ihr im ist jetzt kann kein mein meine mich mir mit nach nicht noch oder schon sein sich sie sind und "
    "uns unser vom von warum wie wir wird wo zu zum zur aan dat deze een en het hij hoe ik je mijn naar niet ook op te "
    "van voor waar wij zijn"
)
_ROMANCE = (
    "au aux avec ce ces cette dans de des du elle est et il ils je la le les leur ma mais moi mon nous par pas pour qu "
    "que qui sa ses son sur tu un une vous al con como cuando del donde el ella en es esta hay las lo los mi muy pero "
    "por porque se si su sus una yo alla che chi col dei della di dove gli io mio mia nel nella non per sono uno ao "
    "com da dos em eu foi meu minha nos onde os um uma"
)
_POLISH_TURKISH = "ale co czy gdzie jak jest jestem mam na nie od po to w z bana ben bir bu da ile ne nerede ve ya"
_IN_BOTH = "a also am an as do had he her in is me no of on over so us was we will"
FOREIGN_WORDS = frozenset(f"{_GERMAN_DUTCH} {_ROMANCE} {_POLISH_TURKISH}".split()) - FUNCTION_WORDS
"""Function words of the other model's languages with Latin letters, but for those that English has, too."""
ENGLISH_WORDS = FUNCTION_WORDS - frozenset(_IN_BOTH.split())
"""Function words of English that none of these languages has."""


def seems_english(text: str) -> bool:
    """Whether a text has as many function words of English as of other languages, or more.

    A word with a letter beyond ASCII counts as one of another language, in any script.
    """
    words = _WORD.findall(text[:MOST_CHARS].lower())
    foreign = sum(not word.isascii() or word in FOREIGN_WORDS for word in words)
    return foreign <= sum(word in ENGLISH_WORDS for word in words)


class Multilingual:
    """MiniLM and the Universal Sentence Encoder: 896 dimensions, 256 tokens of either."""

    dimensions = OnnxMiniLM.dimensions + UniversalEncoder.dimensions
    window_tokens = 256

    def __init__(self) -> None:
        """Load both models; takes two to three seconds and 330 MB.

        Raises:
            EmbedderMissingError: a package is not installed.
        """
        self._universal = UniversalEncoder()  # first: if a package is missing, it is this one's
        self._minilm = OnnxMiniLM()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return vectors of shape (len(texts), 896)."""
        english = _english(texts)
        return self._joined(texts, english, self._minilm.embed([texts[index] for index in english]))

    def embed_with_tokens(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], list[NDArray[np.float32]]]:
        """Return vectors of shape (len(texts), 896), and for each text MiniLM's of its kept tokens, (tokens, 384)."""
        english = _english(texts)
        vectors, states = self._minilm.embed_with_tokens([texts[index] for index in english])
        tokens = [np.empty((0, OnnxMiniLM.dimensions), np.float32)] * len(texts)
        for index, of_text in zip(english, states, strict=True):
            tokens[index] = of_text
        return self._joined(texts, english, vectors), tokens

    def _joined(
        self, texts: Sequence[str], english: Sequence[int], vectors: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """Return both models' vectors side by side; ``vectors`` are MiniLM's of the English ones."""
        joined = np.zeros((len(texts), self.dimensions), np.float32)
        joined[list(english), : OnnxMiniLM.dimensions] = vectors
        joined[:, OnnxMiniLM.dimensions :] = self._universal.embed(texts)
        return checked(joined, len(texts), self.dimensions)


def _english(texts: Sequence[str]) -> list[int]:
    """Return the indexes of texts that seem to be English."""
    return [index for index, text in enumerate(texts) if seems_english(text)]
