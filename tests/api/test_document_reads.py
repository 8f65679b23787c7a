"""What is stored of documents, read over REST; and the tool of MCP that stores one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest
from litestar import Litestar

from jobs.steps import all_steps
from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.queue.execution import run_due
from memsvc.settings import Settings
from tests.api.conftest import Connect
from tests.api.mcp_clients import NEW, mcp_client, use

Send = Callable[..., Awaitable[None]]
WORDS = "Kenyan beans are roasted for eleven minutes in a drum of iron, and stirred with a wooden spoon. "


def study(*chapters: str) -> str:
    """A document of Markdown with one long chunk a chapter."""
    return "# Coffee study\n\n" + "".join(f"## {name}\n\n{name} says: {WORDS * 4}\n\n" for name in chapters)


@pytest.fixture
def send(ada: httpx.AsyncClient, db: Database, settings: Settings) -> Send:
    """Stores files."""

    async def sent(**files: str) -> None:
        given = [("file", (name.replace("_", "."), text)) for name, text in files.items()]
        assert (await ada.post("/v1/documents", files=given)).status_code == 202
        await run_due(db, all_steps(settings, None))

    return sent


async def read(client: httpx.AsyncClient, path: str, **asked: Any) -> Any:
    answer = await client.get(f"/v1/documents{path}", params=asked)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_documents_are_listed_in_pages_and_by_what_they_are(ada: httpx.AsyncClient, send: Send) -> None:
    await send(
        study_md=study("One"), notes_txt="Oak lasts. 100% of it.", page_html="<!doctype html><p>Beech swells.</p>"
    )
    page = await read(ada, "", limit=2)
    rest = await read(ada, "", limit=2, cursor=page["next_cursor"])
    assert [one["path"] for one in (*page["items"], *rest["items"])] == ["page.html", "notes.txt", "study.md"]
    assert rest["next_cursor"] is None
    for asked, found in (
        ({"name": "COFFEE"}, ["study.md"]), ({"name": "notes."}, ["notes.txt"]), ({"name": "%"}, []),
        ({"format": "html"}, ["page.html"]), ({"gone": True}, []), ({"status": "failed"}, []),
        ({"gone": False, "format": "txt", "name": "otes"}, ["notes.txt"]),
    ):  # fmt: skip
        assert [one["path"] for one in (await read(ada, "", **asked))["items"]] == found, asked
    for wrong in (
        {"status": "new"},
        {"gone": "perhaps"},
        {"cursor": "x"},
        {"name": "a\0"},
        {"limit": 0},
        {"kind": "a"},
    ):
        assert (await ada.get("/v1/documents", params=wrong)).status_code == 400, wrong


async def test_a_document_is_read_by_version_and_page(
    ada: httpx.AsyncClient, bob: httpx.AsyncClient, send: Send
) -> None:
    for chapters in (("One", "Two", "Three"), ("One", "Three")):
        await send(study_md=study(*chapters))
    [listed] = (await read(ada, ""))["items"]
    at = f"/{listed['document_id']}"
    whole = await read(ada, at)
    assert whole["document"] == listed
    assert (whole["version"], [one["version"] for one in whole["versions"]]) == (2, [2, 1])
    assert [one["headings"][-1] for one in whole["chunks"]] == ["One", "Three"]
    read_before: list[str] = []
    cursor: str | None = None
    while cursor is not None or not read_before:
        page = await read(ada, at, version=1, limit=1, **({"cursor": cursor} if cursor else {}))
        read_before += [one["headings"][-1] for one in page["chunks"]]
        cursor = page["next_cursor"]
    assert read_before == ["One", "Two", "Three"]
    for path, asked in ((at, {"version": 3}), (at, {"version": 0}), (at, {"cursor": "x"})):
        assert (await ada.get(f"/v1/documents{path}", params=asked)).status_code in {400, 404}, asked
    assert (await bob.get(f"/v1/documents{at}")).json()["code"] == "document_unknown"
    assert (await read(bob, ""))["items"] == []


async def test_a_model_stores_a_document_by_its_text(
    *, api: Litestar, ada: httpx.AsyncClient, connect: Connect, owner: Owner, db: Database, settings: Settings
) -> None:
    async with mcp_client(api, await connect("read", "write", user=owner), NEW) as client:
        told, content = await use(client, "remember_document", text=study("Roasting"), name="study.md", title="Beans")
        assert content["ingest_id"] in told
        await run_due(db, all_steps(settings, None))
        _, found = await use(client, "recall", query="How long are Kenyan beans roasted?")
    assert (await ada.get(f"/v1/ingests/{content['ingest_id']}")).json()["items"][0]["outcome"] == "stored"
    [document] = (await read(ada, ""))["items"]
    assert (document["title"], document["format"], document["path"]) == ("Beans", "md", "study.md")
    assert ["Roasting says" in one["text"] for one in found["memories"] if one["kind"] == "chunk"] == [True]


async def test_a_table_is_a_chat_with_the_columns_that_are_named(
    ada: httpx.AsyncClient, db: Database, settings: Settings
) -> None:
    chat, columns = (
        "when;who;what\n2026-02-01;Mila;The key.\n2026-02-01;Jo;Thanks!\n",
        "text=what, said_at=when, speaker=who",
    )
    made = [
        await ada.post("/v1/documents", files=[("file", ("a.csv", chat))], data={"map": columns, "me": "Jo"}),
        await ada.post("/v1/documents", json={"name": "a.csv", "text": chat, "map": columns, "me": ["Jo"]}),
    ]
    await run_due(db, all_steps(settings, None))
    for answer, counts in zip(made, ({"created": 2}, {"existing": 2}), strict=True):
        assert answer.json()["choices"]["columns"] == {"text": "what", "said_at": "when", "speaker": "who"}
        [file] = (await ada.get(f"/v1/ingests/{answer.json()['ingest_id']}")).json()["items"]
        assert (file["kind"], file["counts"]) == ("csv", counts)
