"""The same sentence, said again: one memory with its count, at every door."""

from __future__ import annotations

from typing import Any

import httpx
from litestar import Litestar

from memsvc.access.users import Owner
from tests.api.conftest import Connect
from tests.api.mcp_clients import mcp_client, use
from tests.api.test_recall_doors import recalled, texts

SENTENCE = "The lamp in the hall is broken."


async def tell(client: httpx.AsyncClient, *said: dict[str, Any] | str) -> list[str]:
    """Ids of messages, said a day after each other."""
    messages = [
        {
            "conversation": "home", "speaker": "Ines", "said_at": f"2026-05-{day:02}T09:00:00+02:00",
            **({"text": one} if isinstance(one, str) else one),
        }
        for day, one in enumerate(said, 1)
    ]  # fmt: skip
    stored = await client.post("/v1/messages", json={"messages": messages})
    assert stored.status_code == 202, stored.text
    return [receipt["passage_id"] for receipt in stored.json()["messages"]]


async def test_what_was_said_twelve_times_comes_once(api: Litestar, ada: httpx.AsyncClient) -> None:
    forms = (SENTENCE, "the lamp in the hall is broken", "The lamp in the hall — is BROKEN!!")
    ids = await tell(ada, *forms * 4, "The lamp in the kitchen works.")
    found = await recalled(ada, "lamp", limit=2)
    assert len(found["memories"]) == 2, "what was said again takes no room from others"
    [memory] = [one for one in found["memories"] if one["count"] > 1]
    assert memory["count"] == 12
    assert memory["last_said"] == "2026-05-12T09:00:00+02:00"
    assert memory["why"].endswith("said 12 times, last on 12 May 2026")
    assert memory["repeats"] == [one for one in reversed(ids[:12]) if one != memory["memory_id"]]
    [other] = [one for one in found["memories"] if one is not memory]
    assert (other["count"], other["last_said"], other["repeats"]) == (1, None, [])
    context = (await ada.post("/v1/context", json={"query": "lamp", "salient": 0, "chance": False})).json()
    assert context["text"].count("in the hall") == 1
    assert "said 12 times, last on 12 May 2026" in context["text"]
    async with mcp_client(api, ada) as client:
        text, told = await use(client, "recall", query="lamp")
    assert "said 12 times" in text
    [again] = [one for one in told["memories"] if "count" in one]
    assert (again["count"], again["last_said"]) == (12, "2026-05-12T09:00+02:00")


async def test_only_what_is_the_same_comes_once(ada: httpx.AsyncClient) -> None:
    alike: list[dict[str, Any] | str] = [
        "The rent is 3.5 now", "The rent is 35 now", "The rent is -35 now", "The rent is 35 now?",
        {"text": "The rent is 35 now", "speaker": "Rui"}, {"text": "The rent is 35 now", "caption": "a letter"},
        "Rent 35", "Rent 35", "rent, 35!",
    ]  # fmt: skip
    await tell(ada, *alike)
    found = await recalled(ada, "rent", limit=50)
    assert sorted(texts(found)) == sorted(one if isinstance(one, str) else one["text"] for one in alike)
    assert {memory["count"] for memory in found["memories"]} == {1}


async def test_pages_give_what_was_said_again_once_whatever_happens_between_them(ada: httpx.AsyncClient) -> None:
    said: list[str] = []
    for number in range(12):
        said += [f"oak number{number} is a tree", SENTENCE.replace("lamp", "oak")]
    await tell(ada, *said)
    asked: dict[str, Any] = {"query": "oak", "mode": "deliberate", "limit": 4}
    page = await recalled(ada, **asked)
    given = texts(page)
    while page["next_cursor"] is not None:
        await tell(
            ada,
            {"text": SENTENCE.replace("lamp", "oak"), "said_at": "2026-06-01T09:00:00Z", "session": str(len(given))},
        )
        page = await recalled(ada, **asked, cursor=page["next_cursor"])
        given += texts(page)
    assert sorted(given) == sorted(set(said))


async def test_pages_do_not_give_words_again_whose_first_memory_was_erased(connect: Connect, owner: Owner) -> None:
    ada = await connect("read", "write", "forget", user=owner)
    said = [f"oak number{number} is a tree" for number in range(6)]
    await tell(ada, *said, *[SENTENCE.replace("lamp", "oak")] * 4)
    asked: dict[str, Any] = {"query": "Is the oak in the hall broken?", "mode": "deliberate", "limit": 1}
    page = await recalled(ada, **asked)
    [first] = page["memories"]
    assert first["count"] == 4
    given = texts(page)
    for erased in (first["memory_id"], first["repeats"][0]):
        assert (await ada.delete(f"/v1/passages/{erased}")).status_code < 300
        page = await recalled(ada, **asked, cursor=page["next_cursor"])
        given += texts(page)
    page = await recalled(ada, **asked | {"limit": 50}, cursor=page["next_cursor"])
    assert page["next_cursor"] is None
    assert sorted(given + texts(page)) == sorted([*said, first["text"]])


async def test_a_filter_counts_only_what_it_lets_through(ada: httpx.AsyncClient) -> None:
    await tell(ada, *[SENTENCE] * 5)
    [memory] = (await recalled(ada, "lamp", said_to="2026-05-04T00:00:00+02:00"))["memories"]
    assert (memory["count"], memory["last_said"]) == (3, "2026-05-03T09:00:00+02:00")
    assert (await recalled(ada, "lamp", limit=1))["memories"][0]["count"] == 5
