"""The real application on the real database, called over ASGI in the test's own event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
from litestar import Litestar

from jobs.steps import all_steps
from memsvc.access.keys import create_key
from memsvc.access.users import Owner, add_user, app_id
from memsvc.api.app import create_app
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.extract import registry
from memsvc.extract.run import Extractors
from memsvc.feeds.feeds import add
from memsvc.feeds.wanted import Door, FeedIn, Mailbox
from memsvc.graph.history import write
from memsvc.graph.operations import Evidence, Node
from memsvc.identity.candidates import Suspicion, note
from memsvc.llm.upstream import Upstream, anthropic_server
from memsvc.queue.execution import run_due
from memsvc.settings import Settings
from memsvc.sleep.proposals import proposals
from memsvc.sleep.runner import sleep
from memsvc.sources.messages import MessageIn, append
from tests.api.story import Stage
from tests.fakes.extractors import SayingExtractor
from tests.fakes.upstream import Asked, response, says, serving
from tests.through import THROUGH, Patient

MODELS = {"object": "list", "data": [{"id": "m-1", "object": "model", "created": 1, "owned_by": "you"}]}
Connect = Callable[..., Awaitable[httpx.AsyncClient]]
UNREADABLE = '{"actor_name": "of a newer version", "error": "no such kind of job"}'


@asynccontextmanager
async def client_of(api: Litestar, **headers: str) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the app with these headers; errors that the app does not answer end the test."""
    transport: httpx.AsyncBaseTransport = httpx.ASGITransport(app=api)  # type: ignore[arg-type]
    if THROUGH == "replica":
        transport = Patient(transport, api.state["service"].db)
    async with httpx.AsyncClient(transport=transport, base_url="http://memsvc.test", headers=headers) as client:
        yield client


@asynccontextmanager
async def running(app: Litestar) -> AsyncIterator[Litestar]:
    """The app between startup and shutdown, both in one task: pytest tears fixtures down in another one."""
    started, over = asyncio.Event(), asyncio.Event()

    async def live() -> None:
        async with app.lifespan():
            started.set()
            await over.wait()

    life = asyncio.create_task(live())
    starting = asyncio.create_task(started.wait())
    await asyncio.wait([life, starting], return_when=asyncio.FIRST_COMPLETED)
    try:
        yield app
    finally:
        starting.cancel()
        over.set()
        await life


@pytest.fixture(scope="session")
async def api(db: Database, settings: Settings) -> AsyncIterator[Litestar]:
    """The application, which may be called by the name that ``client_of`` calls it by."""
    named = settings.model_copy(update={"allowed_hosts": "memsvc.test"})
    async with running(create_app(named, db)) as app:
        yield app


@pytest.fixture
def reading(api: Litestar, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Settings]:
    """Lets the application read with the extractor of tests/fakes; settings of a worker that does so too."""
    made, load = SayingExtractor(), registry.load
    monkeypatch.setattr(registry, "load", lambda name, given: made if name == "saying" else load(name, given))
    chosen = settings.model_copy(update={"extractor": "saying"})
    service = api.state["service"]
    api.state["service"] = replace(service, extractors=Extractors(chosen))
    yield chosen
    api.state["service"] = service


@pytest.fixture
async def connect(api: Litestar, db: Database, app: UUID) -> AsyncIterator[Connect]:
    """Makes a key and a client that sends it."""
    async with AsyncExitStack() as stack:

        async def connected(
            *scopes: str, user: Owner | None = None, ttl: timedelta | None = None, app_name: str = "", **headers: str
        ) -> httpx.AsyncClient:
            home = await app_id(db, app_name) if app_name else app
            key = await create_key(
                db, home, scopes=scopes or ("read", "write"), user_id=user.user_id if user else None, ttl=ttl
            )
            return await stack.enter_async_context(client_of(api, Authorization=f"Bearer {key}", **headers))

        yield connected


@pytest.fixture
async def anybody(api: Litestar) -> AsyncIterator[httpx.AsyncClient]:
    """A client without a key."""
    async with client_of(api) as client:
        yield client


@pytest.fixture
async def ada(connect: Connect, owner: Owner) -> httpx.AsyncClient:
    """Ada with a key of her own."""
    return await connect(user=owner)


@pytest.fixture
async def bob(connect: Connect, other: Owner) -> httpx.AsyncClient:
    """Bob, of the same app, with a key of his own."""
    return await connect(user=other)


@pytest.fixture
async def chief(connect: Connect) -> httpx.AsyncClient:
    """The app's administrator."""
    return await connect("admin")


@pytest.fixture
async def chatting(api: Litestar, reading: Settings) -> AsyncIterator[Settings]:
    """A chat server behind the drop-in door; settings of an application that has it too, and an extractor."""

    answers = says("At the Lindenhof, on Friday.")

    async def act(asked: Asked, writer: Any) -> None:
        if not asked.path.endswith("/models"):
            asked.body.pop("stream", None)  # it answers as a whole, whatever the client asks for
            await answers(asked, writer)
            return
        writer.write(response(MODELS))
        await writer.drain()

    before = api.state["service"]
    async with serving() as fake:
        fake.act = act
        chosen = reading.model_copy(update={"chat_url": fake.url, "chat_model": "m-1", "anthropic_url": fake.url})
        upstream, anthropic = Upstream(chosen), Upstream(chosen, anthropic_server(chosen))
        api.state["service"] = replace(before, upstream=upstream, anthropic=anthropic)
        yield chosen
        await upstream.close()
        await anthropic.close()
    api.state["service"] = before


@pytest.fixture
async def stage(db: Database, connect: Connect, chatting: Settings, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """An app of its own, with one user."""
    name = f"stage-{uuid4()}"
    marcel = await add_user(
        db, await app_id(db, name), name="Marcel", external_id="marcel@example.org", aliases=["MW"],
        time_zone="Europe/Berlin",
    )  # fmt: skip

    async def work() -> None:
        await run_due(db, all_steps(chatting, None))

    async def suspect(one: str, other: str) -> tuple[str, str]:
        nodes = [Node(type="Person", label=label) for label in (one, other)]
        change = await write(db, marcel.owner, nodes, asserted_by="tests")
        first, second = sorted(result.node_id for result in change.results if result.node_id is not None)
        async with db.transaction(marcel.owner.user_id) as connection:
            await note(connection, marcel.owner, [Suspicion(node=first, other=second, score=0.5)], found_by="tests")
        return str(first), str(second)

    async def propose() -> list[str]:
        texts = [f"{name} Winter, aka {other}, called." for name, other in (("Clara", "Kiki"), ("Hugo", "Hu"))]
        said = await append(db, marcel.owner, [MessageIn(conversation="calls", text=one) for one in texts], chatting)
        nodes = [
            Node(
                type="Person", label=" ".join(text.split()[:2]).rstrip(","),
                evidence=[Evidence(passage_id=one.passage_id)] if one.passage_id else [],
            )
            for text, one in zip(texts, said, strict=True)
        ]  # fmt: skip
        await write(db, marcel.owner, nodes, asserted_by="tests")
        await sleep(db, marcel.owner, ["aliases"], settings=chatting)
        found = await proposals(db, marcel.owner, kind="alias")
        return [str(one.proposal_id) for one in found.items if one.text in {"Kiki", "Hu"}]

    async def renew(version: str) -> None:
        extractor = await Extractors(chatting).get()
        monkeypatch.setattr(extractor, "name", version)

    async def watch() -> str:
        box = Mailbox(host="mail.example.org", username="marcel@example.org")
        door = Door(by_operator=True, mailbox=box, secret="env:MAIL_PASSWORD")
        feed = await add(db, marcel.owner, FeedIn(kind="imap", rule="every 2 hours"), chatting, door)
        return str(feed.feed_id)

    async def reject() -> str:
        letter = str(uuid4())
        values = {"message_id": letter, "user_id": marcel.user_id, "queue_name": "models", "message": UNREADABLE}
        async with db.transaction() as connection:
            await connection.execute(query("reject_message"), values)
        return letter

    user = await connect("read", "write", "forget", user=marcel.owner, app_name=name)
    return Stage(user, await connect("admin", app_name=name), work, suspect, propose, renew, watch, reject)
