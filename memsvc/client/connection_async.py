"""The part of ``AsyncMemory`` that opens and closes the connection, and sends calls."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import AsyncIterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx

from memsvc.client.calls import Call, Paged
from memsvc.client.local import BASE_URL, AsyncLocalTransport, Local
from memsvc.client.wire import Retries, Trial, closed

T = TypeVar("T")


class AsyncConnection:
    """A connection to a memsvc service, or to a memsvc in this process."""

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        user: str | None = None,
        timeout: float = 30.0,
        retries: Retries = Retries(),  # noqa: B008 - frozen
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """Connect to a memsvc service; the first call sends the first request.

        Args:
            url: its address, such as https://memory.example.org.
            key: a key or a token.
            user: id or external id of the user to act for. May be left out if the key belongs to one user.
            timeout: the longest wait for an answer, in seconds, for each try.
            retries: how often a call is tried.
            transport: httpx's transport; None: its default.
        """
        headers = {"Authorization": f"Bearer {key}"} if key is not None else {}
        self._http = httpx.AsyncClient(base_url=url, headers=headers, timeout=timeout, transport=transport)
        self._user = user
        self._retries = retries

    @classmethod
    async def open(cls, folder: Path | str, *, user: str = "me", **settings: Any) -> Self:
        """Run all of memsvc in this process on a data folder, which is created if needed.

        Args:
            folder: the folder of the embedded database.
            user: id or external id. A user that does not exist is created on first use.
            **settings: settings of docs/configuration.md, in lower case without MEMSVC_.

        Raises:
            MemsvcError: it does not start. The message says why.
        """
        local = await asyncio.to_thread(Local, Path(folder), settings)
        return cls(BASE_URL, user=user, transport=AsyncLocalTransport(local))

    def for_user(self, user: str) -> Self:
        """Return the same connection for another user. Closing either closes both."""
        other = copy.copy(self)
        other._user = user  # noqa: SLF001 - an object of this class
        return other

    async def close(self) -> None:
        """Close the connection, or stop the memsvc that ``open`` started."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        """Return itself."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        await self.close()

    async def send(self, call: Call[T]) -> T:
        """Send a call, with retries, and return its answer.

        Raises:
            ClientError: it was refused, or the service does not answer.
        """
        trial = Trial(call, self._retries, self._user)
        while True:
            try:
                response = await self._http.request(**trial.request)
            except httpx.RequestError as error:
                pause: float | None = trial.lost(error)
            except RuntimeError as error:
                if not self._http.is_closed:
                    raise
                raise closed() from error
            else:
                pause = trial.answered(response)
                if pause is None:
                    return trial.read(response)
            await asyncio.sleep(pause or 0)

    async def pages(self, call: Call[Paged[T]]) -> AsyncIterator[T]:
        """Yield all items of a list, page by page."""
        following: Call[Paged[T]] | None = call
        while following is not None:
            page = await self.send(following)
            for item in page.items:
                yield item
            following = call.after(page.next_cursor) if page.next_cursor else None
