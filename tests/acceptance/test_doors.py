"""All doors of one real service: two users use them at the same time, and a client does not notice a restart."""

from __future__ import annotations

import asyncio
import json
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from openai import AsyncOpenAI
from websockets.asyncio.client import connect

from memsvc.api.typescript import FOLDER
from memsvc.client import AsyncMemory, Memory, Retries
from tests.acceptance.conftest import private_folder
from tests.acceptance.killpoints import Part, Rig, wait_until
from tests.api.mcp_clients import use
from tests.fakes import upstream
from tests.servers import program

pytestmark = pytest.mark.acceptance
ROUNDS = 3
QUESTION = "What opens the safe?"
NODE = """
import { Memsvc } from "%(client)s";
const memory = new Memsvc("%(url)s", { key: "%(key)s" });
for (let round = 0; round < %(rounds)d; round++) {
  await memory.addMessages({ body: { conversation: "node", text: "%(said)s" } });
  console.log(JSON.stringify(await memory.recall({ body: { query: "%(question)s", limit: 50 } })));
}
"""


@dataclass(frozen=True, slots=True)
class User:
    """Somebody with a secret, and what is heard through one's doors."""

    key: str
    secret: str
    url: str
    heard: dict[str, list[str]]

    @property
    def said(self) -> str:
        return f"The safe opens with {self.secret}."

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"}

    def hears(self, door: str, text: str) -> None:
        self.heard.setdefault(door, []).append(text)


async def by_rest(user: User) -> None:
    async with httpx.AsyncClient(base_url=user.url, headers=user.headers, timeout=30) as http:
        for _ in range(ROUNDS):
            (await http.post("/v1/messages", json={"conversation": "rest", "text": user.said})).raise_for_status()
            for asked in (
                http.post("/v1/recall", json={"query": QUESTION, "limit": 50}),
                http.post("/v1/context", json={"query": QUESTION}),
                http.get("/v1/conversations/rest/messages"),
                http.get("/v1/nodes"),
                http.get("/v1/events"),
                http.get("/v1/export"),
            ):
                answer = await asked
                assert answer.is_success, answer.text
                user.hears("rest", answer.text)


async def by_hooks(user: User) -> None:
    async with httpx.AsyncClient(base_url=user.url, headers=user.headers, timeout=30) as http:
        for number in range(ROUNDS):
            for path, text in (("message", QUESTION), ("response", user.said)):
                body = {"conversation": "petals", "text": text, "message_id": f"{path}-{number}"}
                answer = await http.post(f"/v1/hooks/{path}", json=body)
                assert answer.is_success, answer.text
                user.hears("hooks", answer.text)


async def by_drop_in(user: User) -> None:
    async with AsyncOpenAI(base_url=f"{user.url}/v1", api_key=user.key) as client:
        for said in (f"I am told: {user.said}", QUESTION, "What did the others tell you about the safe?"):
            told = [{"role": "user", "content": said}]
            answer = await client.chat.completions.create(model="any", messages=told)  # type: ignore[call-overload]
            user.hears("drop-in", answer.choices[0].message.content)


async def by_python(user: User) -> None:
    async with AsyncMemory(user.url, user.key) as memory:
        for _ in range(ROUNDS):
            await memory.add(user.said, "python")
            user.hears("python", (await memory.context(QUESTION)).text)
            user.hears("python", str([note async for note in memory.notes()]))


async def by_mcp(user: User) -> None:
    async with (
        httpx2.AsyncClient(headers=user.headers, timeout=30) as http,
        Client(streamable_http_client(f"{user.url}/mcp", http_client=http)) as client,
    ):
        for _ in range(ROUNDS):
            await use(client, "remember", text=user.said)
            for tool, asked in (("recall", {"query": QUESTION}), ("get_context", {"query": QUESTION})):
                user.hears("mcp", "".join(map(str, await use(client, tool, **asked))))


async def by_socket(user: User) -> None:
    """Each change of the user's graph is told on the user's socket, with what it changed."""
    address = user.url.replace("http", "ws", 1)
    async with (
        connect(f"{address}/ws", additional_headers=user.headers) as socket,
        AsyncMemory(user.url, user.key) as memory,
    ):
        for number in range(ROUNDS):
            title = f"{user.secret} {number}"
            await memory.note(title)
            while not user.heard.get("socket") or title not in user.heard["socket"][-1]:
                user.hears("socket", str(await asyncio.wait_for(socket.recv(), 30)))


async def by_node(user: User) -> None:
    script = NODE % {
        "client": (FOLDER / "memsvc.mjs").as_uri(), "url": user.url, "key": user.key, "said": user.said,
        "question": QUESTION, "rounds": ROUNDS,
    }  # fmt: skip
    node = program("node", "nodejs")
    process = await asyncio.create_subprocess_exec(node, "--input-type=module", "-e", script, stdout=PIPE, stderr=PIPE)
    output, errors = await process.communicate()
    assert process.returncode == 0, errors.decode()
    user.hears("node", output.decode())


DOORS: dict[str, Callable[[User], Awaitable[None]]] = {
    "rest": by_rest, "hooks": by_hooks, "drop-in": by_drop_in, "python": by_python, "mcp": by_mcp,
    "socket": by_socket, "node": by_node,
}  # fmt: skip


@pytest.fixture(scope="module")
def rig(prepared: Path) -> Iterator[Rig]:
    """A memsvc whose database outlives its service; without a model: this is about doors."""
    with private_folder(prepared) as data, Rig(data, embedding_model="", log_level="warning") as made, made.admin():
        yield made


@asynccontextmanager
async def two_users(rig: Rig, **settings: str) -> AsyncIterator[tuple[Part, User, User]]:
    """A running service and two new users of it, with keys of their own."""
    chief_key = rig.ok("key", "create", "--scope", "admin").strip()
    part = rig.start("api", **settings)
    await asyncio.to_thread(rig.wait_healthy, part)
    heard: list[dict[str, list[str]]] = [{}, {}]
    async with AsyncMemory(rig.url, chief_key) as chief:
        users = []
        for (name, secret), all_heard in zip((("Ada", "walnut-4711"), ("Zoë 李", "cherry-0815")), heard, strict=True):
            user = await chief.add_user(name, external_id=f"{name} {rig.parts.index(part)}")
            made = await chief.make_key(user=str(user.user_id), scopes=["read", "write"])
            users.append(User(made.secret, secret, rig.url, all_heard))
    try:
        yield part, users[0], users[1]
    finally:
        for last in rig.parts:
            rig.kill(last)


async def test_two_users_at_once_through_every_door(rig: Rig) -> None:
    async with (
        upstream.serving() as model,
        two_users(rig, chat_url=model.url, chat_model="any") as (_, ada, zoe),
    ):
        async with asyncio.timeout(120):
            await asyncio.gather(*(door(user) for door in DOORS.values() for user in (ada, zoe)))
    for user, other in ((ada, zoe), (zoe, ada)):
        assert user.heard.keys() == DOORS.keys()
        for door, texts in user.heard.items():
            assert door == "drop-in" or any(user.secret in text for text in texts), door
            assert not any(other.secret in text for text in texts), door
    # What the model was told stands for what it would have said.
    assert len(model.asked) == 6
    for secret, foreign in ((ada.secret, zoe.secret), (zoe.secret, ada.secret)):
        of_user = [text for asked in model.asked if secret in (text := json.dumps(asked.body))]
        assert len(of_user) >= 3, secret
        assert not any(foreign in text for text in of_user)


async def test_a_client_does_not_notice_a_restart(rig: Rig) -> None:
    patient = Retries(tries=500, first_s=0.1, longest_s=0.3)
    count = 20

    def write(user: User) -> None:
        with Memory(rig.url, user.key, retries=patient) as memory:
            for number in range(count):
                memory.add(f"{user.said} {number}", "restart")
                memory.note(f"{user.secret} {number}")
                user.hears("written", str(number))

    async with two_users(rig) as (part, ada, zoe):
        with ThreadPoolExecutor() as threads:
            writing = [threads.submit(write, user) for user in (ada, zoe)]
            await asyncio.to_thread(wait_until, lambda: len(ada.heard.get("written", ())) >= 5)
            rig.kill(part)
            rig.start("api")
            for one in writing:
                await asyncio.to_thread(one.result)
        for user, other in ((ada, zoe), (zoe, ada)):
            async with AsyncMemory(rig.url, user.key) as memory:
                texts = [message.text async for message in memory.messages("restart")]
                assert texts == [f"{user.said} {number}" for number in range(count)]
                titles = sorted([note.title async for note in memory.notes()])
                assert titles == sorted(f"{user.secret} {number}" for number in range(count))
                assert other.secret not in (await memory.context(QUESTION)).text
