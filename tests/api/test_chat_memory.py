"""What a chat remembers through the drop-in door, judged by what stands in the prompt that the chat server gets.

The embedding model is the real one; jobs run between turns as a worker runs them. A day passes by moving what was said
a day back.
"""

from __future__ import annotations

import re
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import httpx
import psycopg
import pytest

from jobs.steps import all_steps
from memsvc.access.keys import create_key
from memsvc.access.users import Owner, add_user
from memsvc.api.app import create_app
from memsvc.db.engine import Database
from memsvc.extract.run import Extractors
from memsvc.llm.embedders.residents import Residents
from memsvc.queue.execution import run_due
from memsvc.settings import Settings
from tests.api.conftest import client_of, running
from tests.cluster import Cluster
from tests.fakes.upstream import FakeUpstream, says, serving

LONGEST_S = 1.2
TOLD = [
    ("My name is Zuzana Okonkwo.", "What is my name?", "Zuzana"),
    ("Our dog is a dachshund called Waffle.", "What kind of dog do we have?", "dachshund"),
    ("I am allergic to hazelnuts.", "Which nuts must I not eat?", "hazelnuts"),
    ("My daughter plays the bassoon in the school orchestra.", "Which instrument does my daughter play?", "bassoon"),
    ("We bought a blue Citroën van in spring.", "What colour is our van?", "blue"),
    ("I work as a surveyor for the harbour office.", "Where do I work?", "harbour"),
    ("My brother Kwame moved to Rotterdam.", "To which city did Kwame move?", "Rotterdam"),
    ("The Wi-Fi password at the cabin is thirteen-otters.", "What is the Wi-Fi password at the cabin?", "otters"),
    ("I take my coffee with oat milk.", "How do I like my coffee?", "oat"),
    ("Our wedding anniversary is on the 9th of October.", "When is our wedding anniversary?", "9th of October"),
    ("My dentist is Doctor Halloran on Mill Lane.", "Who is my dentist?", "Halloran"),
    ("I learned to swim at the age of thirty.", "At what age did I learn to swim?", "thirty"),
    ("My favourite painter is Hilma af Klint.", "Who is my favourite painter?", "Klint"),
    ("The spare key lies under the third flower pot.", "Where is the spare key?", "third flower pot"),
    ("My mother was born in Gdynia.", "Where was my mother born?", "Gdynia"),
    ("I am training for the marathon in Ghent.", "Which marathon am I training for?", "Ghent"),
    ("Our landlord is called Mister Pettigrew.", "What is the name of our landlord?", "Pettigrew"),
    ("I cannot stand the smell of lavender.", "Which smell can I not stand?", "lavender"),
    ("My bicycle was stolen at the station last June.", "What was stolen from me?", "bicycle"),
    ("The car insurance ends in February.", "When does the car insurance end?", "February"),
    ("My grandfather built wooden boats.", "What did my grandfather build?", "boats"),
]
SMALL_TALK = [
    "How do I boil an egg?", "Thanks.", "Tell me a joke.", "What is the capital of Peru?", "Write a haiku about rain.",
    "How far is the moon?", "Translate good morning into Danish.", "What is a prime number?", "That was helpful.",
    "How do I remove a stain of ink?", "Explain tides to a child.", "Which films are three hours long?",
]  # fmt: skip


@dataclass(slots=True)
class Chat:
    """A user who chats, without sending any history."""

    client: httpx.AsyncClient
    upstream: FakeUpstream
    seconds: list[float] = field(default_factory=list)

    async def say(self, text: str) -> str:
        """Say something; what memory told the chat server."""
        before = time.monotonic()
        answer = await self.client.post("/v1/chat/completions", json={"messages": [{"role": "user", "content": text}]})
        self.seconds.append(time.monotonic() - before)
        assert (answer.status_code, answer.headers["X-Memsvc-Memory"]) == (200, "ok"), answer.headers
        return self.upstream.memory

    async def remembered(self, told: list[tuple[str, str, str]]) -> float:
        """Ask about all that was told; the share that stands in the prompt."""
        return sum([found in await self.say(question) for _, question, found in told]) / len(told)


@dataclass(frozen=True, slots=True)
class World:
    """Everything that a chat needs, and a worker's hands."""

    db: Database
    settings: Settings
    models: Residents
    extractors: Extractors
    upstream: FakeUpstream
    app: Any

    async def work(self) -> None:
        """Do all jobs."""
        await run_due(self.db, all_steps(self.settings, self.models, extractors=self.extractors))


@pytest.fixture(scope="module")
def no_other_model(cluster: Cluster, database_name: str, settings: Settings) -> Iterator[None]:
    """Models of other tests in this database count again afterwards; their jobs are not done with the real one."""
    others = "UPDATE memsvc.embedding_models SET state = %s WHERE state = %s RETURNING model_id"
    again = "UPDATE memsvc.embedding_models SET state = 'active' WHERE model_id = ANY (%s)"
    with psycopg.connect(cluster.admin_url(database_name), autocommit=True) as admin:
        admin.execute("UPDATE memsvc.jobs SET state = 'cancelled' WHERE state = 'pending'")
        known = [model_id for (model_id,) in admin.execute(others, ["retired", "active"])]
        admin.execute("UPDATE memsvc.embedding_models SET state = 'active' WHERE name = %s", [settings.embedding_model])
        yield
        admin.execute(others, ["retired", "active"])
        admin.execute(again, [known])


@pytest.fixture(scope="module")
async def world(db: Database, settings: Settings, no_other_model: None) -> AsyncIterator[World]:
    """The application with the real embedding model and the offline extractor, before a chat server of ours."""
    async with serving() as fake:
        chosen = settings.model_copy(update={"chat_url": fake.url, "extractor": "offline", "chat_memory_ms": 5_000})
        models = Residents(chosen)
        assert await models.ready(db)
        extractors = Extractors(chosen)
        async with running(create_app(chosen, db, models, extractors)) as app:
            yield World(db, chosen, models, extractors, fake, app)
        models.close()


@pytest.fixture
async def chat(world: World, app: UUID, owner: Owner) -> AsyncIterator[Chat]:
    """A fresh user's chat."""
    key = await create_key(world.db, app, scopes=("read", "write"), user_id=owner.user_id)
    world.upstream.act = says("I see.")
    async with client_of(world.app, Authorization=f"Bearer {key}") as client:
        yield Chat(client, world.upstream)


async def test_what_was_told_is_known_after_many_turns(world: World, chat: Chat) -> None:
    for text, _, _ in TOLD:
        await chat.say(text)
    for text in SMALL_TALK:
        await chat.say(text)
    await world.work()
    assert await chat.remembered(TOLD[1:]) >= 0.9
    assert len(chat.seconds) > 50
    assert "Zuzana" in await chat.say("By the way, what is my name?")
    assert sorted(chat.seconds)[int(0.9 * len(chat.seconds))] < LONGEST_S


async def test_a_week_of_facts_is_known_at_its_end(
    world: World, chat: Chat, owner: Owner, admin: psycopg.Connection
) -> None:
    for day in range(7):
        for text, _, _ in TOLD[day * 3 : day * 3 + 3]:
            await chat.say(text)
        for text in SMALL_TALK[day : day + 1]:
            await chat.say(text)
        admin.execute(
            "UPDATE memsvc.passages SET said_at = said_at - interval '1 day',"
            " recorded_at = recorded_at - interval '1 day' WHERE user_id = %s",
            [owner.user_id],
        )
    await world.work()
    assert await chat.remembered(TOLD) >= 0.95


CHANGED = [
    ("My sister Kim lives in Lyon.", "Good news: Kim has moved to Graz.", "My sister Kim moved to Porto."),
    ("I live in Tromsø.", "I moved to Leipzig.", "We moved to Faro last night."),
]


@pytest.mark.parametrize(
    ("told", "question", "places"),
    [
        (CHANGED[0], "In which city does Kim live?", ("Lyon", "Graz", "Porto")),
        (CHANGED[1], "In which city do I live?", ("Tromsø", "Leipzig", "Faro")),
    ],
)
async def test_the_newest_value_of_a_fact_counts(
    world: World, chat: Chat, told: tuple[str, ...], question: str, places: tuple[str, ...]
) -> None:
    """Read by the offline extractor; an old value may be quoted, but it says that it is old."""
    for text in told:
        await chat.say(text)
        for other in SMALL_TALK[:3]:
            await chat.say(other)
        await world.work()
    context = await chat.say(question)
    lines = context.splitlines()
    newest = places[-1]
    said = [line for line in lines if line.startswith(("[f:", "[m:"))]
    assert any(newest in line for line in said if "no longer true" not in line), context
    old = [line for line in said if any(place in line for place in places[:-1])]
    for line in old:
        since = line.startswith("[m:") and re.search(f"; since then: [^“]*{newest}", line)
        assert "no longer true" in line or since, context
    assert any(line.startswith("[m:") and places[0] in line for line in old), context


async def test_what_another_user_told_is_nobody_elses(world: World, chat: Chat, app: UUID) -> None:
    for text, _, _ in TOLD[:5]:
        await chat.say(text)
    await world.work()
    bob = await add_user(world.db, app, name="Bob")
    key = await create_key(world.db, app, scopes=("read", "write"), user_id=bob.owner.user_id)
    async with client_of(world.app, Authorization=f"Bearer {key}") as client:
        his = Chat(client, world.upstream)
        assert await his.remembered(TOLD[:5]) == 0
