"""Checks the host name by which a client calls this service, and the origin of a web page that calls it.

The server of any site can let a browser connect to any address, also of this machine or network (DNS rebinding); the
browser then sends that site's name as Host. A page that calls this service from another site sends its Origin. Browsers
can open ``/mcp`` and ``/ws`` without a preflight request, so these accept only known names. Programs send the name that
they call, and no Origin.
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
    """Refuse calls with an unknown host name, and web pages of unknown hosts.

    Raises:
        HostRefusedError: the Host is missing or not known.
        OriginRefusedError: there is an Origin with an unknown host.
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
    """The known names, without those of the loopback interface."""
    public = urlsplit(settings.public_url).hostname if settings.public_url else None
    own = {settings.host} - ANY_ADDRESS
    return frozenset(name.lower() for name in (*settings.allowed_hosts_list, *own, *([public] if public else [])))


def _is_known(host: str, known: frozenset[str]) -> bool:
    """Whether a host name, with or without a port, is known or leads to this machine."""
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
