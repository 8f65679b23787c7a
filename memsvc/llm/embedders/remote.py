"""Models of a server with an OpenAI-compatible ``/v1/embeddings`` (OpenAI, vLLM, Ollama, llama.cpp, TEI …).

The protocol is one POST, so urllib is enough, and the openai package, which takes 1.8 s to import, is not needed.
"""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from http.client import HTTPException
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memsvc.errors import ConfigurationError, EmbedderAnswerError, EmbedderError
from memsvc.llm.embedders import checked
from memsvc.llm.http import NoRedirect
from memsvc.settings import Settings

BATCH_TEXTS = 64
TRIES = 3
AGAIN = frozenset({408, 409, 429, 500, 502, 503, 504})
REFUSES_TEXT = frozenset({400, 413, 422})


class OpenAICompatibleModel:
    """A model of a server; its dimensions are learnt from one short request."""

    def __init__(self, model: str, settings: Settings) -> None:
        """Ask the server for one vector.

        Raises:
            ConfigurationError: MEMSVC_EMBEDDING_URL is not set.
            EmbedderError: the server does not answer, or gives an invalid answer (EmbedderAnswerError).
        """
        if not settings.embedding_url:
            raise ConfigurationError(
                "MEMSVC_EMBEDDING_URL is not set.",
                hint="Set it to the server's base, such as http://127.0.0.1:8080/v1.",
            )
        self._url = settings.embedding_url.rstrip("/") + "/embeddings"
        self._key = settings.embedding_key.get_secret_value() if settings.embedding_key else None
        self._timeout_s = settings.embedding_timeout_s
        self._model = model
        self._opener = urllib.request.build_opener(NoRedirect)
        self.window_tokens = settings.passage_tokens
        self.dimensions = len(self._ask(["dimensions"])[0])

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return vectors of shape (len(texts), dimensions); 64 texts in a request, three tries each."""
        found: list[list[float]] = []
        for start in range(0, len(texts), BATCH_TEXTS):
            found += self._ask(list(texts[start : start + BATCH_TEXTS]))
        try:
            vectors = np.asarray(found, np.float32).reshape(len(found), -1 if found else self.dimensions)
        except (ValueError, TypeError) as error:
            raise EmbedderAnswerError("The embedding server gave vectors of different lengths.") from error
        return checked(vectors, len(texts), self.dimensions)

    def _ask(self, texts: list[str]) -> list[list[float]]:
        body = json.dumps({"model": self._model, "input": texts, "encoding_format": "float"}).encode()
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        request = urllib.request.Request(self._url, body, headers)  # noqa: S310 - settings allow http and https alone
        attempt = 1
        while True:
            pause_s = 0.5 * attempt
            try:
                with self._opener.open(request, timeout=self._timeout_s) as reply:
                    answer = json.load(reply)
                return self._vectors(answer, len(texts))
            except urllib.error.HTTPError as error:
                error.close()
                if error.code in REFUSES_TEXT:
                    raise EmbedderAnswerError(f"The embedding server refuses with {error.code}.") from error
                if error.code not in AGAIN or attempt == TRIES:
                    raise EmbedderError(f"The embedding server answers {error.code}.") from error
                wanted = error.headers.get("Retry-After", "")
                pause_s = min(float(wanted), 10) if wanted.isdigit() else pause_s
            except (OSError, HTTPException, ValueError) as error:
                cause = getattr(error, "reason", error)
                # A server that was too slow is not asked again right away: the job has tries of its own.
                if attempt == TRIES or isinstance(cause, TimeoutError):
                    raise EmbedderError(f"The embedding server does not answer: {type(cause).__name__}.") from error
            time.sleep(pause_s)
            attempt += 1

    @staticmethod
    def _vectors(reply: Any, texts: int) -> list[list[float]]:
        try:
            rows = sorted(reply["data"], key=lambda row: row["index"])
            found = [row["embedding"] for row in rows]
        except (KeyError, TypeError) as error:
            raise EmbedderAnswerError("The embedding server's answer has another form.") from error
        if len(found) != texts or not all(isinstance(vector, list) for vector in found):
            raise EmbedderAnswerError(f"The embedding server gave {len(found)} vectors for {texts} texts.")
        return found
