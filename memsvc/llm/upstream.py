"""The chat servers to which the drop-in endpoints forward requests; their answers are returned unchanged.

They can be any servers with OpenAI's API or Anthropic's. ``memsvc.llm.chat`` makes memsvc's own requests; this module
reads nothing. It returns the server's status, body and stream, without any secrets of memsvc that the server may quote.
Connections are kept between requests, so one ``Upstream`` serves one event loop. Nothing else is kept: cookies of the
server are dropped, because the next request is another user's. No text of a server or a person gets into an error or a
log.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Final

import httpx
from pydantic import SecretStr

from memsvc.errors import ConfigurationError, UpstreamError, UpstreamMissingError, UpstreamTimeoutError
from memsvc.llm.redact import Redaction
from memsvc.settings import Settings

CONNECT_S = 5.0
MAX_ANSWER_BYTES = 32_000_000
STREAM = "text/event-stream"
ERROR = 400
"""From this status on, an answer is an error."""
PASSED = frozenset({
    "content-type", "retry-after", "retry-after-ms", "x-should-retry", "request-id", "openai-model",
    "openai-processing-ms", "openai-version",
})  # fmt: skip
PASSED_FAMILIES = ("x-ratelimit-", "anthropic-ratelimit-")
"""Headers of the server that a client may need. The others describe the server, or the account that it is paid by."""


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


@dataclass(frozen=True, slots=True)
class Server:
    """Where a chat server is, and how it is asked."""

    url: str | None
    """None: it is not configured."""
    key: str
    model: str | None
    """The model for requests that name none."""
    headers: Mapping[str, str]
    prefix: str
    """How the names of its settings begin."""


class Upstream:
    """A chat server of the settings: the one with OpenAI's API, unless another is given."""

    def __init__(self, settings: Settings, server: Server | None = None) -> None:
        """Read the settings; nothing connects yet.

        Raises:
            ConfigurationError: the key has characters that cannot be sent in a header.
        """
        self._server = server or openai_server(settings)
        if not (self._server.key.isascii() and self._server.key.isprintable()):
            raise ConfigurationError(f"{self._server.prefix}_KEY holds signs that no key has.")
        self._silence_s = settings.chat_timeout_s
        self._redaction = Redaction(settings.secrets_in_use())
        self._client: httpx.AsyncClient | None = None

    @property
    def model(self) -> str | None:
        """The model for requests that name none."""
        return self._server.model

    async def ask(self, path: str, body: bytes, headers: Mapping[str, str] | None = None) -> UpstreamAnswer:
        """Send a request.

        Args:
            path: after the base URL.
            body: JSON.
            headers: more of them.

        Returns:
            The answer, whatever its status; the caller closes it.

        Raises:
            UpstreamMissingError: no server is configured.
            UpstreamTimeoutError: the server does not answer in time.
            UpstreamError: the server cannot be reached, or the connection breaks.
        """
        return await self._ask("POST", path, body, {**(headers or {}), "Content-Type": "application/json"})

    async def models(self) -> UpstreamAnswer:
        """Ask for the server's models; errors as in ``ask``."""
        return await self._ask("GET", "/models")

    def check(self) -> None:
        """Check that a server is configured.

        Raises:
            UpstreamMissingError: no server is configured.
        """
        if self._server.url is None:
            name = self._server.prefix
            raise UpstreamMissingError(
                hint=f"Set {name}_URL, and {name}_KEY if the server needs one. See docs/chat.md."
            )

    async def _ask(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> UpstreamAnswer:
        self.check()
        with _plainly():
            if self._client is None:
                self._client = httpx.AsyncClient(
                    verify=ssl.create_default_context(),
                    timeout=httpx.Timeout(self._silence_s, connect=min(CONNECT_S, self._silence_s)),
                    limits=httpx.Limits(max_connections=None, max_keepalive_connections=32),
                    headers=self._server.headers,
                    cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
                )
            request = self._client.build_request(method, f"{self._server.url}{path}", content=body, headers=headers)
            return UpstreamAnswer(await self._client.send(request, stream=True), self._redaction)

    async def close(self) -> None:
        """Close all connections."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None


def openai_server(settings: Settings) -> Server:
    """The server with OpenAI's API; without an address of its own, the one that memsvc itself asks."""
    own = settings.chat_url is not None
    key = _plain(settings.chat_key or (None if own else settings.llm_key))
    return Server(
        url=_base(settings.chat_url if own else settings.llm_url if settings.llm_model else None),
        key=key,
        model=settings.chat_model or settings.llm_model,
        headers={"Authorization": f"Bearer {key}"} if key else {},
        prefix="MEMSVC_CHAT",
    )


def anthropic_server(settings: Settings) -> Server:
    """The server with Anthropic's API."""
    key = _plain(settings.anthropic_key)
    return Server(
        url=_base(settings.anthropic_url),
        key=key,
        model=settings.anthropic_model,
        headers={"X-Api-Key": key} if key else {},
        prefix="MEMSVC_ANTHROPIC",
    )


def _plain(secret: SecretStr | None) -> str:
    return secret.get_secret_value().strip() if secret else ""


def _base(url: str | None) -> str | None:
    return url.rstrip("/") if url else None
