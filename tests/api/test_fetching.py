"""Addresses that clients name: only public ones are fetched, and a redirect is no way round."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import httpx
import pytest
from litestar import Litestar

from jobs.steps import all_steps
from memsvc.db.engine import Database
from memsvc.errors import UrlFailedError, UrlRefusedError
from memsvc.queue.execution import run_due
from memsvc.settings import Settings
from memsvc.sources import fetching, ingest_job
from memsvc.sources.fetching import Address, Fetcher, check_url, is_public

TALK = b'{"id": "1", "text": "I like oak."}\n'
OURS, THEIRS = "127.0.0.2", "127.0.0.1"
"""Two addresses of this machine: the tests take the first one for a public one."""


@dataclass
class Site:
    """A web server on both addresses."""

    port: int = 0
    pages: dict[str, bytes] = field(default_factory=dict)
    """Raw answers by path."""
    asked: list[tuple[str, str, str]] = field(default_factory=list)
    """By which address, with which path and which Host header."""

    def at(self, path: str, host: str = OURS) -> str:
        return f"http://{host}:{self.port}{path}"

    def has(self, path: str, content: bytes, *, headers: str = "Content-Type: application/json\r\n") -> str:
        self.pages[path] = b"HTTP/1.1 200 OK\r\n%sContent-Length: %d\r\n\r\n%s" % (
            headers.encode(), len(content), content,
        )  # fmt: skip
        return self.at(path)

    def leads(self, path: str, to: str, status: int = 302) -> str:
        self.pages[path] = f"HTTP/1.1 {status} Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n".encode()
        return self.at(path)


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    made = Site()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        path = head.split(" ", 2)[1]
        host = next(line[6:] for line in head.split("\r\n") if line.lower().startswith("host: "))
        made.asked.append((writer.get_extra_info("sockname")[0], path, host))
        writer.write(made.pages.get(path, b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"))
        await writer.drain()
        writer.close()

    servers = [await asyncio.start_server(answer, OURS, 0)]
    made.port = servers[0].sockets[0].getsockname()[1]
    servers.append(await asyncio.start_server(answer, THEIRS, made.port))
    yield made
    for server in servers:
        server.close()
        await server.wait_closed()


def only_ours(address: Address) -> bool:
    """Take one address of this machine for a public one; the real rule decides all others."""
    return str(address) == OURS or is_public(address)


FETCHER = Fetcher(100_000, allows=only_ours)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1",
        "255.255.255.255", "192.0.2.1", "198.18.0.1", "240.0.0.1", "::1", "::", "fe80::1", "fc00::1", "fd00:ec2::254",
        "ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::10.0.0.1", "2002:7f00:1::", "2001::1",
        "2001:db8::1",
    ],
)  # fmt: skip
def test_addresses_of_networks_are_not_public(address: str) -> None:
    assert not is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize("address", ["93.184.215.14", "8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8"])
def test_addresses_of_the_internet_are_public(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize(
    "url",
    [
        "", "x", "ftp://example.org/a", "file:///etc/passwd", "gopher://example.org", "http://", "http:///a",
        "http://me@example.org/", "http://me:secret@example.org/", "https://@example.org", "http://a b/",
        "http://example.org:99999/", "http://[::1", "http://example.org/\r\nHost: x", "http://x/" + "a" * 4_000,
        "http://example.org/\x00", "javascript:alert(1)", "//example.org/a",
    ],
)  # fmt: skip
def test_what_is_no_address_of_a_page_is_refused(url: str) -> None:
    with pytest.raises(UrlRefusedError):
        check_url(url, Settings(ingest_urls=True))


def test_nothing_is_fetched_unless_the_operator_allows_it() -> None:
    check_url("https://example.org/a", Settings(ingest_urls=True))
    with pytest.raises(UrlRefusedError, match="fetches no addresses"):
        check_url("https://example.org/a", Settings())


async def test_a_page_is_fetched_with_its_name(site: Site) -> None:
    site.leads("/first", "/second", 307)
    site.leads("/second", site.has("/talk", TALK))
    found = await FETCHER.fetch(site.at("/first"))
    assert (found.name, found.content) == ("talk.json", TALK)
    assert [one[2] for one in site.asked] == [f"{OURS}:{site.port}"] * 3


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.1", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]"])
async def test_this_machine_is_refused_under_each_name_by_the_real_resolver(site: Site, host: str) -> None:
    site.has("/talk", TALK)
    with pytest.raises(UrlRefusedError, match="not public"):
        await Fetcher(100_000).fetch(site.at("/talk", host))
    assert site.asked == []


@pytest.mark.parametrize(
    "to", ["http://127.0.0.1:{port}/inner", "http://localhost:{port}/inner", "http://169.254.169.254/latest/meta-data",
           "//127.0.0.1:{port}/inner", "http://user:word@127.0.0.2:{port}/inner", "file:///etc/passwd", "ftp://x/y"],
)  # fmt: skip
async def test_a_redirect_into_a_network_is_refused(site: Site, to: str) -> None:
    site.has("/inner", TALK)
    with pytest.raises(UrlRefusedError):
        await FETCHER.fetch(site.leads("/first", to.format(port=site.port)))
    assert [one[1] for one in site.asked] == ["/first"]


async def test_a_name_with_one_address_in_a_network_is_refused(site: Site) -> None:
    async def both(_host: str, _port: int) -> list[Address]:
        return [ipaddress.ip_address(OURS), ipaddress.ip_address(THEIRS)]

    with pytest.raises(UrlRefusedError):
        await replace(FETCHER, resolves=both).fetch(f"http://two.example:{site.port}/talk")
    assert site.asked == []


async def test_the_connection_goes_to_the_address_that_was_checked(site: Site) -> None:
    """A name server that answers otherwise the second time leads nowhere: it is asked once."""
    site.has("/talk", TALK)
    answers = iter([[ipaddress.ip_address(OURS)], [ipaddress.ip_address(THEIRS)]])

    async def changing(_host: str, _port: int) -> list[Address]:
        return list(next(answers))

    fetcher = replace(FETCHER, resolves=changing)
    assert (await fetcher.fetch(f"http://rebinding.example:{site.port}/talk")).content == TALK
    assert site.asked == [(OURS, "/talk", f"rebinding.example:{site.port}")]
    with pytest.raises(UrlRefusedError):
        await fetcher.fetch(f"http://rebinding.example:{site.port}/talk")


async def test_too_many_redirects_and_too_large_or_bad_answers_fail(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(7):
        site.leads(f"/{number}", f"/{number + 1}")
    site.pages["/silent"] = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\na"
    wanted = {
        site.at("/0"): "more than 5 times",
        site.has("/large", b"x" * 100_001): "more than 100,000 bytes",
        site.at("/none"): "status 404",
        site.has("/packed", b"x", headers="Content-Encoding: gzip\r\n"): "packed",
        site.at("/silent"): "RemoteProtocolError",
    }
    for url, words in wanted.items():
        with pytest.raises(UrlFailedError, match=words):
            await FETCHER.fetch(url)
    assert len([one for one in site.asked if one[1][1:].isdigit()]) == fetching.MOST_REDIRECTS + 1

    async def forever(_host: str, _port: int) -> list[Address]:
        await asyncio.sleep(3_600)
        return []

    monkeypatch.setattr(fetching, "SECONDS", 0.05)
    with pytest.raises(UrlFailedError, match="took longer"):
        await replace(FETCHER, resolves=forever).fetch(site.at("/large"))


@pytest.fixture
def allowed(api: Litestar) -> Iterator[None]:
    """Lets clients name addresses."""
    before = api.state["service"]
    api.state["service"] = replace(before, settings=before.settings.model_copy(update={"ingest_urls": True}))
    yield
    api.state["service"] = before


@asynccontextmanager
async def as_public(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[None]:
    """Let the job take our address for a public one."""
    with monkeypatch.context() as patched:
        patched.setattr(ingest_job, "Fetcher", lambda most: Fetcher(most, allows=only_ours))
        yield


@pytest.mark.usefixtures("allowed")
async def test_an_address_is_stored_with_its_origin_or_refused(
    *, ada: httpx.AsyncClient, db: Database, settings: Settings, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = site.has("/talk.jsonl", TALK)
    urls = [good, site.leads("/first", site.at("/talk.jsonl", THEIRS)), site.at("/none")]
    made = [(await ada.post("/v1/documents", json={"url": url})).json() for url in urls]
    async with as_public(monkeypatch):
        await run_due(db, all_steps(settings, None))
    found = [(await ada.get(f"/v1/ingests/{one['ingest_id']}")).json()["items"][0] for one in made]
    assert [(one["outcome"], one["code"]) for one in found] == [
        ("stored", None), ("refused", "url_refused"), ("refused", "url_failed"),
    ]  # fmt: skip
    assert found[0]["name"] == "talk.jsonl"
    memory = (await ada.post("/v1/recall", json={"query": "oak"})).json()["memories"][0]
    opened: dict[str, Any] = (await ada.get(f"/v1/memories/{memory['passage_id']}")).json()
    assert good in str(opened)


@pytest.mark.usefixtures("allowed")
async def test_the_door_refuses_what_is_no_address(ada: httpx.AsyncClient) -> None:
    answer = await ada.post("/v1/documents", json={"url": "file:///etc/passwd"})
    assert (answer.status_code, answer.json()["code"], answer.json()["field"]) == (400, "url_refused", "url")


async def test_the_door_refuses_all_addresses_by_default(ada: httpx.AsyncClient) -> None:
    answer = await ada.post("/v1/documents", json={"url": "https://example.org/"})
    assert (answer.status_code, answer.json()["code"]) == (400, "url_refused")
