"""All doors of one real service: two users use them at the same time, and a client does not notice a restart."""

from __future__ import annotations

import asyncio
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

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
from tests.acceptance.killpoints import Rig, wait_until
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

        async def hook(path: str, text: str) -> str:
            answer = await http.post(f"/v1/hooks/{path}", json={"conversation": "petals", "text": text})
            assert answer.is_success, answer.text
            return answer.text

        await hook("response", user.said)
        await ask_until_told(user, "hooks", lambda: hook("message", QUESTION))


async def by_drop_in(user: User) -> None:
    async with AsyncOpenAI(base_url=f"{user.url}/v1", api_key=user.key, timeout=60) as client:

        async def chat(said: str) -> str:
            answer = await client.chat.completions.create(model="any", messages=[{"role": "user", "content": said}])
            return str(answer.choices[0].message.content)

        await chat(f"I am told: {user.said}")
        await ask_until_told(user, "drop-in", lambda: chat("What did the others tell you about the safe?"))


async def ask_until_told(user: User, door: str, ask: Callable[[], Awaitable[str]]) -> None:
    """A chat goes on without memory where that takes too long, as on a busy machine; it is asked again then."""
    for number in range(20):
        user.hears(door, await ask())
        if number >= ROUNDS and user.secret in user.heard[door][-1]:
            return


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


@pytest.fixture(scope="module")
async def users(rig: Rig) -> AsyncIterator[tuple[User, User]]:
    """A running service and two users of it, with keys of their own; its chat server repeats what it is told."""
    chief_key = rig.ok("key", "create", "--scope", "admin").strip()
    async with upstream.serving() as model:
        model.act = repeat
        await asyncio.to_thread(rig.wait_healthy, rig.start("api", chat_url=model.url, chat_model="any"))
        found = []
        async with AsyncMemory(rig.url, chief_key) as chief:
            for name, secret in (("Ada", "walnut-4711"), ("Zoë 李", "cherry-0815")):
                user = await chief.add_user(name)
                key = await chief.make_key(user=str(user.user_id), scopes=["read", "write"])
                found.append(User(key.secret, secret, rig.url, {}))
        yield found[0], found[1]


async def repeat(asked: upstream.Asked, writer: asyncio.StreamWriter) -> None:
    """Answer with what memory told, and nothing else."""
    writer.write(upstream.response(upstream.completion(asked.memory or "Nothing.")))
    await writer.drain()


async def test_two_users_at_once_through_every_door(users: tuple[User, User]) -> None:
    async with asyncio.timeout(300):
        await asyncio.gather(*(door(user) for door in DOORS.values() for user in users))
    for user, other in (users, reversed(users)):
        assert user.heard.keys() == DOORS.keys()
        for door, texts in user.heard.items():
            assert any(user.secret in text for text in texts), door
            assert not any(other.secret in text for text in texts), door


async def test_those_who_say_nothing_keep_nobody_out(rig: Rig, users: tuple[User, User]) -> None:
    place = urlsplit(rig.url)
    async with AsyncExitStack() as stack:
        for _ in range(300):
            _, writer = await asyncio.open_connection(place.hostname, place.port)
            stack.callback(writer.close)
        async with AsyncMemory(rig.url, users[0].key, timeout=15, retries=Retries(tries=1)) as memory:
            stored = await memory.add("The heron is back.", "silence")
        assert stored.outcome == "created"


async def test_a_client_does_not_notice_a_restart(rig: Rig, users: tuple[User, User]) -> None:
    patient = Retries(tries=500, first_s=0.1, longest_s=0.3)
    count = 20

    def write(user: User) -> None:
        with Memory(rig.url, user.key, retries=patient) as memory:
            for number in range(count):
                memory.add(f"{user.said} {number}", "restart")
                memory.note(f"restart {user.secret} {number}")
                user.hears("written", str(number))

    with ThreadPoolExecutor() as threads:
        writing = [threads.submit(write, user) for user in users]
        await asyncio.to_thread(wait_until, lambda: len(users[0].heard.get("written", ())) >= 5)
        rig.kill(rig.parts[-1])
        await asyncio.to_thread(rig.wait_healthy, rig.start("api"))
        await asyncio.gather(*(asyncio.wrap_future(one) for one in writing))
    for user, other in (users, reversed(users)):
        async with AsyncMemory(rig.url, user.key) as memory:
            texts = [message.text async for message in memory.messages("restart")]
            assert texts == [f"{user.said} {number}" for number in range(count)]
            titles = [note.title async for note in memory.notes(q=f"restart {user.secret}") if note.matched == "name"]
            assert sorted(titles) == sorted(f"restart {user.secret} {number}" for number in range(count))
            assert other.secret not in (await memory.context(QUESTION)).text
