"""``GET /v1/export``: a zip file of the caller's own memory, and of nobody else's."""

from __future__ import annotations

import asyncio
import io
import json
import os
import zipfile
from pathlib import Path
from typing import Any

import httpx
import pytest
from litestar import Litestar
from structlog.testing import capture_logs

from memsvc.access.users import Owner
from memsvc.api.controllers import export as controller
from memsvc.transfer.archive import open_archive
from memsvc.transfer.export import export
from memsvc.transfer.format import Manifest
from tests.api.conftest import Connect


async def say(client: httpx.AsyncClient, *texts: str) -> None:
    messages = [{"conversation": "pond", "text": text} for text in texts]
    assert (await client.post("/v1/messages", json={"messages": messages})).status_code == 202


def opened(answer: httpx.Response) -> zipfile.ZipFile:
    """The zip file of an answer."""
    assert answer.status_code == 200, answer.text
    assert answer.headers["Content-Type"] == "application/zip"
    assert answer.headers["Content-Length"] == str(len(answer.content))
    assert answer.headers["Content-Disposition"].startswith('attachment; filename="memsvc-20')
    return zipfile.ZipFile(io.BytesIO(answer.content))


async def test_everybody_gets_an_export_of_their_own(
    ada: httpx.AsyncClient, bob: httpx.AsyncClient, tmp_path: Path
) -> None:
    await say(ada, "A heron.", "Another heron.")
    await say(bob, "An otter.")
    answer = await ada.get("/v1/export")
    found = opened(answer)
    assert found.testzip() is None
    assert found.read("passages.jsonl").count(b"heron") == 2
    assert not any(b"otter" in found.read(name) for name in found.namelist())
    assert any(name.startswith("markdown/conversations/") for name in found.namelist())
    (tmp_path / "it.zip").write_bytes(answer.content)
    with open_archive(tmp_path / "it.zip") as archive:
        assert archive.files["passages.jsonl"].rows == 2
    without = opened(await ada.get("/v1/export", params={"markdown": "false"}))
    assert not any(name.startswith("markdown/") for name in without.namelist())
    assert json.loads(without.read("manifest.json"))["user"]["name"] == "Ada"


async def test_the_scope_read_is_needed_and_enough(connect: Connect, owner: Owner) -> None:
    reader = await connect("read")
    assert (await reader.get("/v1/export")).json()["code"] == "user_required"
    me = {"X-Memsvc-User": str(owner.user_id)}
    assert (await reader.get("/v1/export", headers=me)).status_code == 200
    writer = await connect("write")
    assert (await writer.get("/v1/export", headers=me)).json()["code"] == "forbidden"


async def test_a_process_writes_so_many_at_a_time_and_leaves_nothing(
    ada: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    seen: list[list[str]] = []

    async def looked_at(*args: Any, **named: Any) -> Manifest:
        manifest = await export(*args, **named)
        seen.append(await asyncio.to_thread(os.listdir, tmp_path))  # what would be left of it, were it killed now
        return manifest

    monkeypatch.setattr(controller, "export", looked_at)
    answers = await asyncio.gather(*(ada.get("/v1/export") for _ in range(controller.MOST_AT_ONCE + 2)))
    assert sorted(answer.status_code for answer in answers) == [200] * controller.MOST_AT_ONCE + [503] * 2
    assert {answer.json()["code"] for answer in answers if answer.status_code != 200} == {"overloaded"}
    assert (await ada.get("/v1/export")).status_code == 200
    assert seen == [[]] * (controller.MOST_AT_ONCE + 1)
    assert await asyncio.to_thread(os.listdir, tmp_path) == []


class Reader:
    """Somebody who asks for an export, takes what is sent only when told to, and stays until told to go."""

    def __init__(self, api: Litestar, key: str) -> None:
        self._api = api
        self._key = key
        self.sent: asyncio.Queue[str] = asyncio.Queue()
        self.takes, self.read_all, self.goes = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self.stalls_at = "http.response.body"
        self._asked = False

    async def receive(self) -> dict[str, Any]:
        if not self._asked:
            self._asked = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await self.goes.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        self.sent.put_nowait(message["type"])
        if message["type"] == self.stalls_at:
            await self.takes.wait()
        if message["type"] == "http.response.body" and not message.get("more_body"):
            self.read_all.set()

    async def ask(self) -> None:
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET", "scheme": "http",
            "path": "/v1/export", "raw_path": b"/v1/export", "root_path": "", "query_string": b"",
            "headers": [(b"host", b"memsvc.test"), (b"authorization", self._key.encode())],
            "server": ("memsvc.test", 80), "client": ("127.0.0.1", 1),
        }  # fmt: skip
        await self._api(scope, self.receive, self.send)  # type: ignore[arg-type]

    async def stalled(self) -> None:
        """Return when it has been sent what it does not take."""
        while await self.sent.get() != self.stalls_at:
            pass


@pytest.fixture
def readers(api: Litestar, ada: httpx.AsyncClient) -> list[Reader]:
    """As many as may read at once."""
    return [Reader(api, ada.headers["Authorization"]) for _ in range(controller.MOST_AT_ONCE)]


async def test_an_export_counts_until_it_was_sent(ada: httpx.AsyncClient, readers: list[Reader]) -> None:
    """Whether or not its reader stays connected then."""
    async with asyncio.timeout(20), asyncio.TaskGroup() as asking:
        for reader in readers:
            asking.create_task(reader.ask())
        for reader in readers:
            await reader.stalled()
        assert (await ada.get("/v1/export")).json()["code"] == "overloaded"
        for reader in readers:
            reader.takes.set()
            await reader.read_all.wait()
        assert (await ada.get("/v1/export")).status_code == 200
        for reader in readers:
            reader.goes.set()
    assert controller.ExportController.running == 0


async def test_an_export_counts_until_its_reader_is_gone(ada: httpx.AsyncClient, readers: list[Reader]) -> None:
    async with asyncio.timeout(20), asyncio.TaskGroup() as asking:
        for reader in readers:
            asking.create_task(reader.ask())
        for reader in readers:
            await reader.stalled()
        assert (await ada.get("/v1/export")).json()["code"] == "overloaded"
        for reader in readers:
            reader.goes.set()
    assert controller.ExportController.running == 0
    assert (await ada.get("/v1/export")).status_code == 200


@pytest.mark.parametrize("stalls_at", ["http.response.start", "http.response.body"])
async def test_an_export_ends_whose_reader_takes_nothing(
    ada: httpx.AsyncClient, readers: list[Reader], monkeypatch: pytest.MonkeyPatch, stalls_at: str
) -> None:
    """Also one whose connection is half open: it never says that it is gone."""
    monkeypatch.setattr(controller, "MOST_IDLE_S", 0.2)
    for reader in readers:
        reader.stalls_at = stalls_at
    with capture_logs() as logs:
        async with asyncio.timeout(20):
            await asyncio.gather(*(reader.ask() for reader in readers))
    assert [line["event"] for line in logs].count("export broken off") == len(readers)
    assert controller.ExportController.running == 0
    assert (await ada.get("/v1/export")).status_code == 200


@pytest.mark.parametrize("stalls_at", ["http.response.start", "http.response.body"])
async def test_an_export_that_is_cancelled_no_longer_counts(
    ada: httpx.AsyncClient, readers: list[Reader], stalls_at: str
) -> None:
    async with asyncio.timeout(20):
        for reader in readers:
            reader.stalls_at = stalls_at
            asking = asyncio.create_task(reader.ask())
            await reader.stalled()
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
    assert controller.ExportController.running == 0
    assert (await ada.get("/v1/export")).status_code == 200
