"""The chat server to which the OpenAI-compatible endpoint forwards requests; its answers are returned unchanged.

It can be any OpenAI-compatible server. ``memsvc.llm.chat`` makes memsvc's own requests; this module reads nothing. It
returns the server's status, body and stream, without any secrets of memsvc that the server may quote. Connections are
kept between requests, so one ``Upstream`` serves one event loop. Nothing else is kept: cookies of the server are
dropped, because the next request is another user's. No text of a server or a person gets into an error or a log.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Final

import httpx

from memsvc.errors import ConfigurationError, UpstreamError, UpstreamMissingError, UpstreamTimeoutError
from memsvc.llm.redact import Redaction
from memsvc.settings import Settings

CONNECT_S = 5.0
MAX_ANSWER_BYTES = 32_000_000
STREAM = "text/event-stream"
ERROR = 400
"""From this status on, an answer is an error."""
PASSED = ("content-type", "retry-after", "retry-after-ms", "x-should-retry")
PASSED_FAMILIES = ("x-ratelimit-", "openai-")
"""Headers of the server that a client may need; the others describe the server's internals."""


@contextmanager
def _plainly() -> Iterator[None]:
    """Turn httpx's errors into ours."""
    try:
        yield
    except httpx.ConnectTimeout as error:
        raise UpstreamError("The chat server cannot be reached.") from error
    except httpx.TimeoutException as error:
        raise UpstreamTimeoutError from error
    except httpx.ConnectError as error:
        raise UpstreamError("The chat server cannot be reached.") from error
    except httpx.TransportError as error:
        raise UpstreamError("The chat server broke off.") from error
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise UpstreamError(f"The chat server cannot be asked: {type(error).__name__}.") from error


async def _whole(pieces: AsyncIterator[bytes]) -> bytes:
    """Join all pieces.

    Raises:
        UpstreamError: they are larger than ``MAX_ANSWER_BYTES``.
    """
    body = bytearray()
    async for piece in pieces:
        body += piece
        if len(body) > MAX_ANSWER_BYTES:
            raise UpstreamError("The chat server sends more than any answer.")
    return bytes(body)


class UpstreamAnswer:
    """An answer whose status and headers have arrived, and whose body is read later."""

    def __init__(self, response: httpx.Response, redaction: Redaction) -> None:
        """Take the response; the caller must ``close`` the answer."""
        self._response, self._redaction = response, redaction
        self.status: Final = response.status_code
        clean = redaction.error if self.status >= ERROR else redaction.answer
        self.headers: Final = {
            name: clean(value.encode("latin-1", "replace")).decode("latin-1")
            for name, value in response.headers.items()
            if name in PASSED or name.startswith(PASSED_FAMILIES)
        }
        self.streams: Final = STREAM in response.headers.get("content-type", "")

    async def pieces(self) -> AsyncIterator[bytes]:
        """The body as it arrives, with transfer and content encodings decoded; an error comes in one piece.

        Raises:
            UpstreamTimeoutError: the server stops sending.
            UpstreamError: the connection breaks, or the server's error is larger than ``MAX_ANSWER_BYTES``.
        """
        if self.status >= ERROR:
            yield self._redaction.error(await _whole(self._sent()))
            return
        async for piece in self._redaction.stream(self._sent()):
            yield piece

    async def whole(self) -> bytes:
        """The whole body.

        Raises:
            UpstreamTimeoutError, UpstreamError: as in ``pieces``; also if it is larger than ``MAX_ANSWER_BYTES``.
        """
        return await _whole(self.pieces())

    async def _sent(self) -> AsyncIterator[bytes]:
        """The body as the server sent it."""
        with _plainly():
            async for piece in self._response.aiter_bytes():
                yield piece

    async def close(self) -> None:
        """Release the connection; if the server is still answering, the connection is closed, so that it stops."""
        await self._response.aclose()


class Upstream:
    """The chat server of the settings."""

    def __init__(self, settings: Settings) -> None:
        """Read the settings; nothing connects yet.

        Raises:
            ConfigurationError: the key has characters that cannot be sent in a header.
        """
        own = settings.chat_url is not None
        url = settings.chat_url if own else settings.llm_url if settings.llm_model else None
        secret = settings.chat_key or (None if own else settings.llm_key)
        key = secret.get_secret_value().strip() if secret else ""
        if not (key.isascii() and key.isprintable()):
            raise ConfigurationError("MEMSVC_CHAT_KEY holds signs that no key has.")
        self.model: Final = settings.chat_model or settings.llm_model
        """The model for requests that name none."""
        self._url = url.rstrip("/") if url else None
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._silence_s = settings.chat_timeout_s
        self._redaction = Redaction(settings.secrets_in_use())
        self._client: httpx.AsyncClient | None = None

    async def chat(self, body: bytes) -> UpstreamAnswer:
        """Ask for a chat completion.

        Args:
            body: the request, JSON.

        Returns:
            The answer, whatever its status; the caller closes it.

        Raises:
            UpstreamMissingError: no server is configured.
            UpstreamTimeoutError: the server does not answer in time.
            UpstreamError: the server cannot be reached, or the connection breaks.
        """
        return await self._ask("POST", "/chat/completions", body)

    async def models(self) -> UpstreamAnswer:
        """Ask for the server's models; errors as in ``chat``."""
        return await self._ask("GET", "/models")

    def check(self) -> None:
        """Check that a server is configured.

        Raises:
            UpstreamMissingError: no server is configured.
        """
        if self._url is None:
            raise UpstreamMissingError

    async def _ask(self, method: str, path: str, body: bytes | None = None) -> UpstreamAnswer:
        self.check()
        with _plainly():
            if self._client is None:
                self._client = httpx.AsyncClient(
                    verify=ssl.create_default_context(),
                    timeout=httpx.Timeout(self._silence_s, connect=min(CONNECT_S, self._silence_s)),
                    limits=httpx.Limits(max_connections=None, max_keepalive_connections=32),
                    headers=self._headers,
                    cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
                )
            typed = {"Content-Type": "application/json"} if body is not None else {}
            request = self._client.build_request(method, f"{self._url}{path}", content=body, headers=typed)
            return UpstreamAnswer(await self._client.send(request, stream=True), self._redaction)

    async def close(self) -> None:
        """Close all connections."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None
