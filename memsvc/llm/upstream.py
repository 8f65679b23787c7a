"""The chat server behind the drop-in door: what a client asks goes there, and what it answers comes back as it is.

Any OpenAI-compatible server. Unlike ``memsvc.llm.chat``, which asks on memsvc's own account, this reads nothing:
status, body and stream are the server's, without secrets of memsvc that it may quote. Connections are kept between
requests, so one of these serves one event loop. Nothing else is: cookies that the server sets are dropped, for the next
request is another user's. Nothing that a server or a person wrote gets into an error or a log.
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
"""Headers of the server that a client may need; the others tell of the server's own house."""


@contextmanager
def _plainly() -> Iterator[None]:
    """Turn what httpx meets into our errors."""
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
    """All pieces in one.

    Raises:
        UpstreamError: they are larger than any answer.
    """
    body = bytearray()
    async for piece in pieces:
        body += piece
        if len(body) > MAX_ANSWER_BYTES:
            raise UpstreamError("The chat server sends more than any answer.")
    return bytes(body)


class UpstreamAnswer:
    """An answer whose status and headers are there, and whose body comes."""

    def __init__(self, response: httpx.Response, redaction: Redaction) -> None:
        """Hold it; ``close`` it in the end."""
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
        """The body as it comes, without its transfer's and content's encoding; an error comes in one piece.

        Raises:
            UpstreamTimeoutError: the server falls silent.
            UpstreamError: it breaks off, or sends an error that is larger than any answer.
        """
        if self.status >= ERROR:
            yield self._redaction.error(await _whole(self._sent()))
            return
        async for piece in self._redaction.stream(self._sent()):
            yield piece

    async def whole(self) -> bytes:
        """The whole body.

        Raises:
            UpstreamTimeoutError, UpstreamError: as ``pieces``; also where it is larger than any answer.
        """
        return await _whole(self.pieces())

    async def _sent(self) -> AsyncIterator[bytes]:
        """The body as the server sent it."""
        with _plainly():
            async for piece in self._response.aiter_bytes():
                yield piece

    async def close(self) -> None:
        """Let go of the connection; a server that still answers is broken off, and so stops."""
        await self._response.aclose()


class Upstream:
    """The chat server that the settings name."""

    def __init__(self, settings: Settings) -> None:
        """Note it; nothing connects yet.

        Raises:
            ConfigurationError: its key cannot be sent.
        """
        own = settings.chat_url is not None
        url = settings.chat_url if own else settings.llm_url if settings.llm_model else None
        secret = settings.chat_key or (None if own else settings.llm_key)
        key = secret.get_secret_value().strip() if secret else ""
        if not (key.isascii() and key.isprintable()):
            raise ConfigurationError("MEMSVC_CHAT_KEY holds signs that no key has.")
        self.model: Final = settings.chat_model or settings.llm_model
        """Asked where a request names none."""
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
            UpstreamMissingError: none is configured.
            UpstreamTimeoutError: it gives no sign.
            UpstreamError: it cannot be reached, or breaks off.
        """
        return await self._ask("POST", "/chat/completions", body)

    async def models(self) -> UpstreamAnswer:
        """Ask which models it has; else as ``chat``."""
        return await self._ask("GET", "/models")

    def check(self) -> None:
        """Look whether one is configured.

        Raises:
            UpstreamMissingError: none is.
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
