"""By which names this service may be called, and from the web pages of which hosts.

A browser takes pages of any site to any address that their server names, also to one of this machine or network (DNS
rebinding), and sends the Host of that site; a page that calls an address of ours across sites sends its Origin. Doors
that a browser can open without asking first, ``/mcp`` and ``/ws``, therefore take known names alone. Programs send the
name that they call, and no Origin.
"""

from __future__ import annotations

import re
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from litestar.connection import ASGIConnection

from memsvc.errors import HostRefusedError, OriginRefusedError
from memsvc.settings import Settings

NAME = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?", re.ASCII)
ANY_ADDRESS = frozenset({"0.0.0.0", "::", ""})  # noqa: S104 - not listened on here


def check_origin(connection: ASGIConnection[Any, Any, Any, Any], settings: Settings) -> None:
    """Refuse who calls by a foreign name, and web pages of foreign hosts.

    Raises:
        HostRefusedError: the Host is missing or not in the list.
        OriginRefusedError: there is an Origin, and its host is not in the list.
    """
    known = _known(settings)
    hosts = connection.headers.getall("host", [])
    if not hosts or not all(_is_known(host, known) for host in hosts):
        raise HostRefusedError
    for origin in connection.headers.getall("origin", []):
        scheme, mark, host = origin.lower().partition("://")
        if not mark or scheme not in {"http", "https"} or not _is_known(host, known):
            raise OriginRefusedError


def _known(settings: Settings) -> frozenset[str]:
    """Names in the list, without those of the loopback interface."""
    public = urlsplit(settings.public_url).hostname if settings.public_url else None
    own = {settings.host} - ANY_ADDRESS
    return frozenset(name.lower() for name in (*settings.allowed_hosts_list, *own, *([public] if public else [])))


def _is_known(host: str, known: frozenset[str]) -> bool:
    """Whether the name of a host, given with or without a port, is in the list or leads to this machine."""
    found = NAME.fullmatch(host.strip().lower())
    if found is None:
        return False
    name = found["name"].strip("[]").removesuffix(".")
    return name in known or name == "localhost" or _is_loopback(name)


def _is_loopback(name: str) -> bool:
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False
