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

from memsvc.access.archive import Manifest, open_archive
from memsvc.access.export import export
from memsvc.access.users import Owner
from memsvc.api.controllers import export as controller
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


@pytest.mark.parametrize("goes", [False, True])
async def test_an_export_counts_until_it_was_sent_or_its_reader_is_gone(
    api: Litestar, ada: httpx.AsyncClient, *, goes: bool
) -> None:
    reading: asyncio.Queue[None] = asyncio.Queue()
    goes_on, is_gone = asyncio.Event(), asyncio.Event()

    async def slowly(message: Any) -> None:
        if message["type"] == "http.response.body":
            reading.put_nowait(None)
            await goes_on.wait()

    def client() -> Any:
        asked = asyncio.Event()

        async def receive() -> dict[str, Any]:
            if not asked.is_set():
                asked.set()
                return {"type": "http.request", "body": b"", "more_body": False}
            await is_gone.wait()
            return {"type": "http.disconnect"}

        return receive

    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET", "scheme": "http",
        "path": "/v1/export", "raw_path": b"/v1/export", "root_path": "", "query_string": b"",
        "headers": [(b"host", b"memsvc.test"), (b"authorization", ada.headers["Authorization"].encode())],
        "server": ("memsvc.test", 80), "client": ("127.0.0.1", 1),
    }  # fmt: skip
    async with asyncio.timeout(20), asyncio.TaskGroup() as slow:
        for _ in range(controller.MOST_AT_ONCE):
            slow.create_task(api({**scope}, client(), slowly))  # type: ignore[arg-type]
        for _ in range(controller.MOST_AT_ONCE):
            await reading.get()
        assert (await ada.get("/v1/export")).json()["code"] == "overloaded"
        if not goes:
            goes_on.set()
            await asyncio.sleep(0.2)
        is_gone.set()
    assert (await ada.get("/v1/export")).status_code == 200
