"""What people wish of a memory: that it does not listen for a while, and that it can be seen whether it is of use."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import httpx
import psycopg
import pytest
from litestar import Litestar
from sqlalchemy import text

from memsvc.access.keys import create_key
from memsvc.access.users import Owner, find_user
from memsvc.chat.echoing import echoed
from memsvc.client import AsyncMemory
from memsvc.db.engine import Database
from memsvc.errors import UserUnknownError
from memsvc.recall.results import Memory
from memsvc.recall.search import recall
from memsvc.recall.usefulness import note_echoes
from memsvc.settings import Settings
from tests.api.graphs import homes
from tests.api.test_feedback import given
from tests.api.test_messages_and_recall import said

PAUSE = "/v1/me/pause"


async def conversations(client: httpx.AsyncClient) -> list[str]:
    return [one["identifier"] for one in (await client.get("/v1/conversations")).json()["items"]]


async def test_while_memory_is_paused_no_door_stores_a_message(ada: httpx.AsyncClient, bob: httpx.AsyncClient) -> None:
    await said(ada, "The worktop shall be oak.")
    before = await conversations(ada)
    assert (await ada.get(PAUSE)).json() == {"paused": False, "since": None, "until": None}
    paused = (await ada.put(PAUSE, json={})).json()
    assert paused["paused"]
    assert paused["until"] is None
    assert (await ada.get(PAUSE)).json() == paused
    secret = {"conversation": "a secret", "text": "The safe is behind the oak panel.", "id": "1"}
    for _ in range(2):
        [receipt] = (await ada.post("/v1/messages", json=secret)).json()["messages"]
        assert (receipt["outcome"], receipt["passage_id"], receipt["conversation_id"]) == ("paused", None, None)
    hook = {"conversation": "a secret", "text": "Where is the safe of oak?"}
    enriched = (await ada.post("/v1/hooks/message", json=hook)).json()
    assert enriched["stored"]["outcome"] == "paused"
    assert "The worktop shall be oak." in enriched["text"]  # recall goes on
    answer = await ada.post("/v1/hooks/response", json={"conversation": "a secret", "text": "Behind the panel."})
    assert answer.json()["outcome"] == "paused"
    assert await conversations(ada) == before
    [receipt] = (await bob.post("/v1/messages", json=secret)).json()["messages"]
    assert receipt["outcome"] == "created"  # only Ada paused

    assert (await ada.delete(PAUSE)).json() == {"paused": False, "since": None, "until": None}
    [receipt] = (await ada.post("/v1/messages", json=secret)).json()["messages"]
    assert receipt["outcome"] == "created"


async def test_the_client_pauses_and_resumes(ada: httpx.AsyncClient, api: Litestar) -> None:
    key = ada.headers["Authorization"].removeprefix("Bearer ")
    transport = httpx.ASGITransport(app=api)  # type: ignore[arg-type]
    async with AsyncMemory("http://memsvc", key, transport=transport) as memory:
        assert (await memory.pause("2099-01-01")).paused
        assert [one.outcome for one in await memory.add_messages([{"conversation": "a", "text": "oak"}])] == ["paused"]
        assert not (await memory.resume()).paused


async def test_what_needs_a_text_is_refused_while_memory_is_paused(ada: httpx.AsyncClient) -> None:
    world = await homes(ada)
    mark = {"stance": "disputed", "reason": "She moved."}
    path = f"/v1/facts/{world.lyon_edge}/annotations"
    await ada.put(PAUSE, json={})
    refused = await ada.post(path, json=mark)
    assert (refused.status_code, refused.json()["code"]) == (409, "memory_paused")
    fact = {"from_node": world.rui, "type": "KNOWS", "to_node": world.ines, "fact": "Rui knows Ines."}
    assert (await ada.post("/v1/facts", json=fact)).status_code == 201  # which is no message
    await ada.delete(PAUSE)
    assert (await ada.post(path, json=mark)).status_code == 201


async def test_a_pause_ends_by_itself(ada: httpx.AsyncClient, admin: psycopg.Connection, owner: Owner) -> None:
    end = datetime.now(UTC) + timedelta(hours=1)
    first = (await ada.put(PAUSE, json={"until": end.isoformat()})).json()
    assert datetime.fromisoformat(first["until"]) == end
    longer = (await ada.put(PAUSE, json={"until": (end + timedelta(hours=1)).isoformat()})).json()
    assert longer["since"] == first["since"]
    admin.execute("UPDATE memsvc.users SET paused_until = now() - interval '1 s' WHERE user_id = %s", [owner.user_id])
    assert not (await ada.get(PAUSE)).json()["paused"]
    [receipt] = await said(ada, "The worktop shall be oak.")
    assert receipt["outcome"] == "created"


@pytest.mark.parametrize("until", ["2020-01-01T00:00:00Z", "soon", ""])
async def test_a_pause_ends_in_the_future(ada: httpx.AsyncClient, until: str) -> None:
    answer = await ada.put(PAUSE, json={"until": until})
    assert answer.status_code == 400
    assert answer.json()["field"] == "until"
    assert not (await ada.get(PAUSE)).json()["paused"]


async def test_a_key_with_enroll_adds_users_on_first_use(
    anybody: httpx.AsyncClient, db: Database, app: UUID, owner: Owner
) -> None:
    name = f"newcomer-{uuid4().hex[:8]}"
    plain = await create_key(db, app)
    enrolling = await create_key(db, app, scopes=["read", "write", "enroll"])
    bound = await create_key(db, app, scopes=["read", "enroll"], user_id=owner.user_id)

    async def me(key: str, user: str) -> httpx.Response:
        return await anybody.get("/v1/me", headers={"Authorization": f"Bearer {key}", "X-Memsvc-User": user})

    for key in (plain, bound):
        assert (await me(key, name)).json()["code"] == "user_unknown"
    first, again = await me(enrolling, name), await me(enrolling, name)
    assert first.status_code == 200
    assert first.json()["user"]["external_id"] == name
    assert first.json() == again.json()
    assert (await me(plain, name)).status_code == 200
    too_long = await me(enrolling, "n" * 201)
    assert (too_long.status_code, too_long.json()["field"]) == (400, "name")
    with pytest.raises(UserUnknownError):
        await find_user(db, app, "n" * 201)
    token = await anybody.post(
        "/v1/token", headers={"Authorization": f"Bearer {enrolling}", "X-Memsvc-User": name}
    )  # fmt: skip
    assert token.json()["scopes"] == ["read", "write"]


async def test_usefulness_counts_what_was_given_used_and_echoed(
    ada: httpx.AsyncClient, db: Database, owner: Owner, settings: Settings
) -> None:
    await said(ada, "The worktop shall be oak.", "The lamp is of oak too.")
    recall_id, ids = await given(db, owner, settings, "oak")
    await given(db, owner, settings, "lamp")
    await ada.post(f"/v1/recalls/{recall_id}/feedback", json={"used": ids[:1], "irrelevant": ids[1:]})
    await note_echoes(db, owner, UUID(recall_id), [UUID(ids[1])])
    told = (await ada.get("/v1/usefulness", params={"days": 2})).json()
    assert (told["recalls"], told["judged"], told["answered"]) == (2, 1, 1)
    [row] = told["by_door_and_kind"]
    assert (row["door"], row["kind"], row["given"]) == ("recall", "message", 3)
    assert (row["used"], row["irrelevant"], row["share_used"]) == (1, 1, 0.5)
    assert (row["seen"], row["echoed"], row["share_echoed"]) == (2, 1, 0.5)
    async with db.transaction(owner.user_id) as connection:
        kept = (await connection.execute(text("SELECT echoed FROM memsvc.recall_events ORDER BY recall_id"))).scalars()
    assert list(kept) == [[False, True], None]


async def test_an_answer_echoes_what_it_repeats_beyond_the_question(
    ada: httpx.AsyncClient, db: Database, owner: Owner, settings: Settings
) -> None:
    await said(ada, "The worktop shall be oak from Brandt.", "Ines moved to Porto in March 2024.")
    memories: list[Memory] = (await recall(db, owner, "worktop Ines", settings)).memories
    texts = {one.memory_id: one.text for one in memories}

    def told(answer: str, question: str) -> list[str]:
        return [texts[one] for one in echoed(answer, question, memories)]

    assert told("Ines lives in Porto since March 2024.", "Where is Ines?") == ["Ines moved to Porto in March 2024."]
    assert told("You asked about the worktop from Brandt.", "What of the worktop from Brandt?") == []
    assert told("I do not know.", "Where is Ines?") == []
