"""The LangGraph store beside LangGraph's own: what both are asked, both answer alike."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Unpack

import httpx
import pytest
from langgraph.store.base import BaseStore, GetOp, InvalidNamespaceError, Item, Op, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore
from litestar import Litestar

from memsvc.access.users import Owner
from memsvc.client import Memory, RefusedError
from memsvc.client.langgraph import MemsvcStore
from memsvc.client.options import RecallOptions
from memsvc.recall.results import Recalled
from memsvc.settings import Settings
from tests.api.conftest import Connect

WORDS = ("tea", "oak", "boat", "lisbon")


class Bridge(httpx.BaseTransport):
    """Brings a sync client's requests, from whatever thread, to the application in the test's event loop."""

    def __init__(self, api: Litestar, loop: asyncio.AbstractEventLoop) -> None:
        self._way = httpx.ASGITransport(app=api)  # type: ignore[arg-type]
        self._loop = loop

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.read()

        async def ask() -> httpx.Response:
            answer = await self._way.handle_async_request(request)
            return httpx.Response(answer.status_code, headers=answer.headers, content=await answer.aread())

        return asyncio.run_coroutine_threadsafe(ask(), self._loop).result(30)


def counted(texts: Sequence[str]) -> list[list[float]]:
    """Vectors for LangGraph's own store: which of some words a text has."""
    return [[float(word in re.findall(r"\w+", text.lower())) for word in WORDS] + [0.01] for text in texts]


@pytest.fixture
async def memory(api: Litestar, connect: Connect) -> Memory:
    key = (await connect("read", "write", "forget")).headers["Authorization"].removeprefix("Bearer ")
    return Memory("http://memsvc.test", key, transport=Bridge(api, asyncio.get_running_loop()))


@pytest.fixture
def ours(memory: Memory, owner: Owner) -> MemsvcStore:
    return MemsvcStore(memory.for_user(str(owner.user_id)))


@pytest.fixture
def theirs() -> InMemoryStore:
    return InMemoryStore(index={"dims": 5, "embed": counted, "fields": ["$"]})


def plain(found: Any) -> Any:
    """What was found, without times and scores."""
    if isinstance(found, Item):
        return found.namespace, found.key, found.value
    return [plain(one) for one in found] if isinstance(found, list) else found


async def fill(store: BaseStore) -> None:
    await store.aput(("users", "ada", "facts"), "tea", {"text": "Ada drinks tea.", "rating": 5, "tags": ["a", "b"]})
    await store.aput(("users", "ada", "facts"), "wood", {"text": "The table is oak.", "rating": 3, "at": {"x": 1}})
    await store.aput(("users", "bob", "facts"), "boat", {"text": "Bob has a boat.", "rating": 4.5})
    await store.aput(("a/b:c%", "Zoë 李"), "k/1", {"text": "Odd names.", "rating": "none"})
    await store.aput(("users", "ada"), "plans", {"text": "A boat to Lisbon.", "rating": None}, index=False)
    await store.aput(("users", "ada", "facts"), "tea", {"text": "Ada drinks green tea.", "rating": 6})
    await store.aput(("users", "bob", "facts"), "gone", {"text": "Nothing."})
    await store.adelete(("users", "bob", "facts"), "gone")
    await store.adelete(("nowhere",), "nothing")
    await store.aput(("users", "bob", "old"), "last", {"text": "Soon over."})
    await store.adelete(("users", "bob", "old"), "last")


Question = Callable[[BaseStore], Awaitable[Any]]
QUESTIONS: dict[str, Question] = {
    "get": lambda s: s.aget(("users", "ada", "facts"), "tea"),
    "get what is not there": lambda s: s.aget(("users", "ada", "facts"), "none"),
    "get where nothing is": lambda s: s.aget(("else",), "none"),
    "get odd names": lambda s: s.aget(("a/b:c%", "Zoë 李"), "k/1"),
    "search a prefix": lambda s: s.asearch(("users", "ada")),
    "search part of a label": lambda s: s.asearch(("users", "ad")),
    "filter by equality": lambda s: s.asearch(("users",), filter={"rating": 3}),
    "filter by order": lambda s: s.asearch(
        ("users", "ada", "facts"), filter={"rating": {"$gt": 3, "$lte": 6}, "text": {"$ne": "x"}}
    ),
    "filter within": lambda s: s.asearch(("users",), filter={"at": {"x": 1}}),
    "filter a list": lambda s: s.asearch((), filter={"tags": ["a", "b"]}),
    "search by words": lambda s: s.asearch(("users",), query="Who drinks tea?", limit=1),
    "search by words and filter": lambda s: s.asearch(("users",), query="boat", filter={"rating": {"$eq": 4.5}}),
    "namespaces of a prefix": lambda s: s.alist_namespaces(prefix=("users", "*", "facts"), limit=1, offset=1),
    "namespaces of a suffix": lambda s: s.alist_namespaces(suffix=("facts",), max_depth=2),
}
UNORDERED = ("search a prefix",)


async def test_it_answers_as_langgraphs_own(
    ours: MemsvcStore, theirs: InMemoryStore, subtests: pytest.Subtests
) -> None:
    await fill(ours)
    await fill(theirs)
    for name, question in QUESTIONS.items():
        with subtests.test(name):
            mine, other = plain(await question(ours)), plain(await question(theirs))
            assert sorted(mine, key=str) == sorted(other, key=str) if name in UNORDERED else mine == other


async def test_times_scores_pages_and_rest(ours: MemsvcStore) -> None:
    await fill(ours)
    places = [("a/b:c%", "Zoë 李"), ("users", "ada"), ("users", "ada", "facts"), ("users", "bob", "facts")]
    assert await ours.alist_namespaces() == places  # LangGraph's own also lists those where nothing is any more
    assert [item.key for item in await ours.asearch(("users",), filter={"rating": {"$gte": 4.5}})] == ["boat", "tea"]
    tea = await ours.aget(("users", "ada", "facts"), "tea")
    assert tea is not None
    assert tea.created_at < tea.updated_at
    found = await ours.asearch(("users",), query="boat")
    assert found[0].key == "boat"
    assert found[0].score is not None
    assert [item.score for item in found if item.key == "plans"] == [None]  # index=False: nobody finds it by words
    pages = [(await ours.asearch(("users",), limit=2, offset=offset)) for offset in (0, 2, 4)]
    assert [len(page) for page in pages] == [2, 2, 0]
    assert len({item.key for page in pages for item in page}) == 4
    with pytest.raises(InvalidNamespaceError):
        await ours.aput(("a.b",), "k", {})
    with pytest.raises(NotImplementedError):
        await ours.aput(("a",), "k", {}, ttl=5)
    with pytest.raises(ValueError, match="Unsupported operator"):
        await ours.asearch(("users",), filter={"rating": {"$in": [1]}})


async def test_parts_of_a_long_item_take_no_places_of_others(
    ours: MemsvcStore, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, sentence = ("shelf",), "Ada drinks green tea from the tall blue cup at ten. "
    await ours.aput(place, "short", {"text": "Green tea."})
    await ours.aput(place, "odd", {"text": "Ada has a cup of tea."})
    await ours.aput(place, "unsearched", {"text": sentence}, index=False)
    await ours.aput(
        place, "long", {"text": "".join(f"{sentence}Cup {cup}. " for cup in range(settings.passage_tokens // 2))}
    )
    asked, recall = [], Memory.recall

    def counting(memory: Memory, query: str, **options: Unpack[RecallOptions]) -> Recalled:
        asked.append(options["limit"])
        return recall(memory, query, **options)

    monkeypatch.setattr(Memory, "recall", counting)
    found = await ours.asearch(place, query="Does Ada drink green tea from the blue cup?", limit=3)
    assert [item.key for item in found] == ["long", "odd", "short"]
    assert all(item.score is not None for item in found)
    assert asked == [3, 12]
    await ours.asearch(place, query="Does Ada drink green tea from the blue cup?", limit=1)
    assert asked == [3, 12, 1]
    await ours.asearch(place, query="Does Ada drink green tea from the blue cup?", limit=50)
    assert asked == [3, 12, 1, 50], "recall finds nothing of what is not searched"


async def test_what_others_say_in_its_conversation_is_left_alone(
    ours: MemsvcStore, memory: Memory, owner: Owner
) -> None:
    place, mine = ("users", "ada"), memory.for_user(str(owner.user_id))
    await ours.aput(place, "tea", {"text": "Ada drinks tea."})
    for session in ("tea", ""):
        await asyncio.to_thread(mine.add, "Ada drinks tea at ten.", "langgraph:users:ada", session=session)
    assert [item.key for item in await ours.asearch(place, query="tea")] == ["tea"]
    assert plain(await ours.aget(place, "tea")) == (place, "tea", {"text": "Ada drinks tea."})
    assert await ours.aget(place, "") is None
    await ours.aput(place, "tea", {"text": "Ada drinks mint tea."})
    await ours.adelete(place, "tea")
    assert await ours.asearch(place) == []
    said = await asyncio.to_thread(lambda: [one.text for one in mine.messages("langgraph:users:ada")])
    assert said == ["Ada drinks tea at ten."] * 2


async def test_while_memory_is_paused_nothing_is_put_and_nothing_is_lost(
    ours: MemsvcStore, memory: Memory, owner: Owner
) -> None:
    place, mine = ("users", "ada"), memory.for_user(str(owner.user_id))
    await ours.aput(place, "tea", {"text": "Ada drinks tea."})
    await asyncio.to_thread(mine.pause)
    with pytest.raises(RefusedError, match="memory_paused"):
        await ours.aput(place, "tea", {"text": "Ada drinks mint tea."})
    assert plain(await ours.aget(place, "tea")) == (place, "tea", {"text": "Ada drinks tea."})


async def test_a_batch_reads_first_and_its_last_put_counts(ours: MemsvcStore) -> None:
    place = ("batch",)
    await ours.aput(place, "k", {"text": "before"})
    ops: list[Op] = [
        PutOp(place, "k", {"text": "one"}),
        GetOp(place, "k"),
        PutOp(place, "k", {"text": "two"}),
        SearchOp(("batch",)),
    ]
    none, got, also_none, found = await asyncio.to_thread(ours.batch, ops)
    assert (none, also_none) == (None, None)
    assert isinstance(got, Item)
    assert got.value == {"text": "before"}
    assert len(found or []) == 1  # type: ignore[arg-type]
    assert plain(await ours.asearch(place)) == [(place, "k", {"text": "two"})]
    await asyncio.gather(*(ours.aput(place, "k", {"n": n}) for n in range(6)))
    assert len(await ours.asearch(place)) == 1


async def test_a_namespace_may_be_a_list(ours: MemsvcStore) -> None:
    """As with LangGraph's store in PostgreSQL; a text is none, for it would mean its letters."""
    place: Any = ["test", "list"]
    prefix: Any = ["test"]
    await ours.aput(place, "k", {"text": "Ada drinks tea."})
    expected = (("test", "list"), "k", {"text": "Ada drinks tea."})
    assert plain(await ours.aget(place, "k")) == expected
    assert plain(await ours.asearch(prefix)) == [expected]
    assert plain(await ours.asearch(prefix, query="tea")) == [expected]
    assert plain(await ours.asearch(("test",))) == [expected]
    assert await ours.alist_namespaces(prefix=prefix) == [("test", "list")]
    assert await ours.alist_namespaces(suffix=["list"]) == [("test", "list")]  # type: ignore[arg-type]
    both: list[Op] = [PutOp(place, "k", {"text": "one"}), PutOp(("test", "list"), "k", {"text": "two"})]
    await ours.abatch(both)
    assert plain(await ours.asearch(prefix)) == [(("test", "list"), "k", {"text": "two"})]
    await ours.adelete(place, "k")
    assert await ours.asearch(prefix) == []
    text: Any = "test"
    for ask in (ours.asearch(text), ours.aget(text, "k"), ours.aput(text, "k", {"text": "x"})):
        with pytest.raises(InvalidNamespaceError, match="is a text"):
            await ask


async def test_a_ttl_is_refused_by_name_wherever_it_comes_from(ours: MemsvcStore) -> None:
    """Nobody who asked for an end is left with an item that stays."""
    with pytest.raises(NotImplementedError):
        await ours.aput(("a",), "k", {"text": "x"}, ttl=5)
    for ttl in (5, 0.5, 0):
        both: list[Op] = [PutOp(("a",), "first", {"text": "x"}), PutOp(("a",), "k", {"text": "x"}, ttl=ttl)]
        with pytest.raises(NotImplementedError, match=f"ttl={ttl} is not supported by MemsvcStore"):
            await ours.abatch(both)
    ours.ttl_config = {"default_ttl": 7}
    with pytest.raises(NotImplementedError, match="ttl=7"):
        await ours.aput(("a",), "k", {"text": "x"})
    await ours.aput(("a",), "k", {"text": "x"}, ttl=None)
    assert [item.key for item in await ours.asearch(("a",), refresh_ttl=True)] == ["k"]


async def test_an_item_without_visible_words_is_kept_and_not_searched(ours: MemsvcStore) -> None:
    await ours.aput(("a",), "k", {"text": "\u200b"})
    assert plain(await ours.aget(("a",), "k")) == (("a",), "k", {"text": "\u200b"})
    assert [item.score for item in await ours.asearch(("a",), query="What?")] == [None]


async def test_each_user_has_a_memory_of_ones_own(memory: Memory, owner: Owner, other: Owner) -> None:
    store, ada, bob = MemsvcStore(memory, user_at=1), str(owner.user_id), str(other.user_id)
    await asyncio.gather(
        store.aput(("facts", ada), "bike", {"text": "The bike is called Rosalinde."}),
        store.aput(("facts", bob), "bike", {"text": "The bike is called Cesare."}),
    )
    for mine, word in ((ada, "Rosalinde"), (bob, "Cesare")):
        [item] = await store.asearch(("facts", mine), query="What is the bike called?")
        assert word in item.value["text"]
        assert await store.alist_namespaces(prefix=("facts", mine)) == [("facts", mine)]
        assert word in (await asyncio.to_thread(memory.for_user(mine).recall, "bike")).memories[0].text
    with pytest.raises(ValueError, match="has no user there"):
        await store.asearch(("facts",))
    assert await MemsvcStore(memory.for_user(ada)).asearch(("facts", bob)) == []
