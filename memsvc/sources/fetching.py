"""Fetch an address that a client names, and nothing within the service's own network.

The name is resolved here, every address that it has must be public, and the connection goes to an address that was
checked, so that a second answer of the name server cannot lead elsewhere. Each redirect is checked again.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import unquote, urljoin, urlsplit

import httpx

from memsvc.errors import UrlFailedError, UrlRefusedError
from memsvc.settings import Settings

MOST_URL_CHARS = 4_000
MOST_REDIRECTS = 5
SECONDS = 60.0
"""The longest time for all of it."""
SILENCE_S = 15.0
"""The longest wait for the next bytes."""
PORTS = {"http": 80, "https": 443}
REDIRECTS = frozenset({301, 302, 303, 307, 308})
GOOD = 200
EMBEDDING = tuple(map(ipaddress.IPv6Network, ("64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32")))
"""Addresses that lead on to an IPv4 address within them: NAT64, 6to4, Teredo."""
ENDINGS = {
    "text/html": ".html", "text/markdown": ".md", "text/plain": ".txt", "application/json": ".json",
    "application/pdf": ".pdf", "application/zip": ".zip", "text/csv": ".csv",
}  # fmt: skip
Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class Fetched(NamedTuple):
    """What an address has."""

    name: str
    """The last part of its path, with the ending of its type."""
    content: bytes


def is_public(address: Address) -> bool:
    """Return whether an address belongs to the public internet, and leads to nothing else."""
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return is_public(address.ipv4_mapped)
        if any(address in network for network in EMBEDDING):
            return False
    return address.is_global and not address.is_multicast and not address.is_reserved


async def resolve(host: str, port: int) -> list[Address]:
    """Return all addresses of a host.

    Raises:
        OSError: it has none.
    """
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(ipaddress.ip_address(str(one[4][0]).split("%", 1)[0]) for one in found))


def check_url(url: str, settings: Settings) -> None:
    """Check an address before anything is looked up.

    Raises:
        UrlRefusedError: the operator allows none, it is no http or https address, or it has a user or password.
    """
    if not settings.ingest_urls:
        raise UrlRefusedError("This service fetches no addresses.", hint="Send the file itself.", field="url")
    _parts(url)


def _parts(url: str) -> tuple[str, str, int]:
    """Return scheme, host and port of an address. Raises: as ``check_url``."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise UrlRefusedError("This is not an address.", field="url") from error
    if len(url) > MOST_URL_CHARS or not url.isprintable() or " " in url:
        raise UrlRefusedError(f"An address has at most {MOST_URL_CHARS:,} characters and no blanks.", field="url")
    if parts.scheme not in PORTS or not parts.hostname:
        raise UrlRefusedError("Only http and https addresses can be fetched.", field="url")
    if "@" in parts.netloc:
        raise UrlRefusedError("An address with a user or a password is not fetched.", field="url")
    return parts.scheme, parts.hostname, port or PORTS[parts.scheme]


@dataclass(frozen=True, slots=True)
class Fetcher:
    """Fetches addresses."""

    most_bytes: int
    """Larger answers are refused."""
    allows: Callable[[Address], bool] = is_public
    """Which network addresses it may connect to."""
    resolves: Callable[[str, int], Awaitable[list[Address]]] = resolve

    async def fetch(self, url: str) -> Fetched:
        """Fetch an address.

        Raises:
            UrlRefusedError: it, or where it redirects to, may not be fetched.
            UrlFailedError: it cannot be reached, answers with an error, is too large or too slow.
        """
        try:
            async with (
                asyncio.timeout(SECONDS),
                httpx.AsyncClient(timeout=SILENCE_S, trust_env=False, follow_redirects=False) as client,
            ):
                for _ in range(MOST_REDIRECTS + 1):
                    found = await self._once(client, url)
                    if isinstance(found, Fetched):
                        return found
                    url = found
        except TimeoutError as error:
            raise UrlFailedError(f"The address took longer than {SECONDS:.0f} s.") from error
        except httpx.InvalidURL as error:
            raise UrlRefusedError("This is not an address.") from error
        except (httpx.HTTPError, OSError) as error:
            raise UrlFailedError(f"The address cannot be fetched: {type(error).__name__}.") from error
        raise UrlFailedError(f"The address redirects more than {MOST_REDIRECTS} times.")

    async def _once(self, client: httpx.AsyncClient, url: str) -> Fetched | str:
        """Return what an address has, or where it redirects to."""
        scheme, host, port = _parts(url)
        address = await self._checked(host, port)
        literal = f"[{address}]" if address.version == 6 else str(address)  # noqa: PLR2004 - IPv6
        target = httpx.URL(url).copy_with(host=literal.strip("[]"), port=port, fragment=None)
        shown = host if port == PORTS[scheme] else f"{host}:{port}"
        headers = {"Host": f"[{host}]" + shown[len(host) :] if ":" in host else shown, "Accept-Encoding": "identity"}
        request = client.build_request("GET", target, headers=headers, extensions={"sni_hostname": host})
        answer = await client.send(request, stream=True)
        try:
            if answer.status_code in REDIRECTS and "location" in answer.headers:
                return urljoin(url, answer.headers["location"])
            if answer.status_code != GOOD:
                raise UrlFailedError(f"The address answers with status {answer.status_code}.")
            if answer.headers.get("content-encoding", "identity").lower() != "identity":
                raise UrlFailedError("The address answers with packed content, which was not asked for.")
            content = bytearray()
            async for piece in answer.aiter_raw():
                content += piece
                if len(content) > self.most_bytes:
                    raise UrlFailedError(f"The address has more than {self.most_bytes:,} bytes.")
            return Fetched(_name(url, answer.headers.get("content-type", "")), bytes(content))
        finally:
            await answer.aclose()

    async def _checked(self, host: str, port: int) -> Address:
        """Return an address of a host, if all of them may be connected to."""
        found = await self.resolves(host, port)
        if not found or not all(map(self.allows, found)):
            raise UrlRefusedError("The address leads into a network that is not public.", field="url")
        return found[0]


def _name(url: str, content_type: str) -> str:
    parts = urlsplit(url)
    name = unquote(parts.path).rstrip("/").rsplit("/", 1)[-1] or parts.hostname or "page"
    ending = ENDINGS.get(content_type.split(";", 1)[0].strip().lower(), "")
    return name if not ending or "." in name[-6:] else name + ending
