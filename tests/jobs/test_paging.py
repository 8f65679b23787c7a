"""Pages of a deliberate recall over many messages: one list, cut into pages, with one judgement."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.erasing.memories import erase
from memsvc.llm.embedders.residents import Residents
from memsvc.recall import search
from memsvc.recall.results import Recalled
from memsvc.recall.search import recall
from memsvc.recall.signals import feedback, record_recall
from memsvc.settings import Settings
from tests.fakes.embedders import TokenWords
from tests.jobs.changing import Shelf, process, work
from tests.jobs.working import say

WORDS = (
    "heron", "otter", "reed", "mill", "pond", "oak", "beech", "lamp", "boat", "rope", "bread", "flute", "stone",
    "tower", "violin", "garden",
)  # fmt: skip
QUERY = "Which heron stood at the old mill?"
UNKNOWN = "zebra quartz jungle yacht fjord igloo nylon kiosk quiche vortex waltz enzyme fresco hyphen"
"""Near to no message: these words have dimensions of their own."""
MESSAGES, LISTED, MOST = 1_100, 200, 1_000


@dataclass(frozen=True)
class Pond:
    """Many messages, all with vectors, and a way to ask for pages."""

    db: Database
    owner: Owner
    settings: Settings
    models: Residents

    async def page(self, query: str = QUERY, **more: Any) -> Recalled:
        asked: dict[str, Any] = {"embedder": self.models, "mode": "deliberate"} | more
        return await recall(self.db, self.owner, query, self.settings, **asked)

    async def pages(self, query: str = QUERY, **more: Any) -> list[Recalled]:
        """All of them; each is noted, as doors do."""
        found = [await self.page(query, **more)]
        while (cursor := found[-1].next_cursor) is not None:
            await record_recall(self.db, self.owner, found[-1], door="tests", mode="deliberate")
            found.append(await self.page(query, cursor=cursor, **more))
        return found


@pytest.fixture
async def pond(
    db: Database, owner: Owner, settings: Settings, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Pond]:
    """Sentences of four words, drawn by lot; by a model that counts as fitted."""
    monkeypatch.setattr(search, "FITTED_MODELS", {"small"})
    shelf["small"] = TokenWords(32)
    models = process(settings)
    drawn = random.Random(5)
    texts = [f"{' '.join(drawn.sample(WORDS, 4))} {number}" for number in range(MESSAGES)]
    for start in range(0, MESSAGES, 100):
        await say(db, owner, settings, *texts[start : start + 100], conversation=f"day {start}")
    await work(db, models)
    yield Pond(db, owner, settings, models)
    models.close()


def ids(*pages: Recalled) -> list[UUID]:
    return [memory.memory_id for page in pages for memory in page.memories]


def texts(*pages: Recalled) -> list[str]:
    return [memory.text for page in pages for memory in page.memories]


async def test_pages_are_one_list_with_one_judgement_and_end_after_a_thousand(pond: Pond) -> None:
    judged = await pond.page(limit=150)
    assert judged.recall_id is not None
    await record_recall(pond.db, pond.owner, judged, door="tests", mode="deliberate")
    await feedback(pond.db, pond.owner, judged.recall_id, used=[ids(judged)[120]], irrelevant=[ids(judged)[70]])

    whole = await pond.page(limit=LISTED)
    explained = await pond.page(limit=LISTED, explain=True)
    assert [(m.memory_id, m.score) for m in explained.memories] == [(m.memory_id, m.score) for m in whole.memories]
    assert len({memory.factors["usefulness"] for memory in whole.memories[30:]}) == 3, "feedback counts"
    pages = await pond.pages(limit=30)
    given = ids(*pages)
    cut = (LISTED - 30) // 30 * 30
    assert given[:cut] == ids(whole)[:cut]
    told = {memory.memory_id: memory.score for page in pages for memory in page.memories}
    assert [told[memory.memory_id] for memory in whole.memories[:cut]] == pytest.approx(
        [memory.score for memory in whole.memories[:cut]]
    )
    assert {(page.confidence, page.relevant) for page in pages} == {(whole.confidence, True)}
    assert len(given) == len(set(given)) == MOST, "by their vectors all messages are found"
    assert len(pages[-1].memories) == MOST % 30


async def test_pages_hold_while_more_is_said(pond: Pond) -> None:
    pages = [await pond.page("heron", limit=90)]
    await say(pond.db, pond.owner, pond.settings, "heron heron", conversation="later")
    assert "heron heron" in texts(await pond.page("heron", limit=400))
    while (cursor := pages[-1].next_cursor) is not None:
        pages.append(await pond.page("heron", limit=90, cursor=cursor))
    given = texts(*pages)
    assert len(given) == len(set(given)) == MOST
    herons = {text for text in texts(*await pond.pages(limit=90)) if "heron" in text} - {"heron heron"}
    assert len(herons) > LISTED
    assert {text for text in given if "heron" in text} >= herons, "something was passed over"
    assert "heron heron" not in given, "something came from later"
    assert {(page.confidence, page.relevant) for page in pages} == {(pages[0].confidence, True)}


async def test_what_nothing_answers_is_not_answered_on_later_pages(pond: Pond) -> None:
    first = await pond.page(UNKNOWN, limit=9)
    assert (first.relevant, len(first.memories)) == (False, 5)
    rest = await pond.page(UNKNOWN, limit=9, cursor=first.next_cursor)
    assert (rest.relevant, rest.confidence, len(rest.memories)) == (False, first.confidence, 9)


async def test_a_later_page_is_judged_as_the_first_was_also_where_its_rest_would_not_be(pond: Pond) -> None:
    await say(pond.db, pond.owner, pond.settings, UNKNOWN, conversation="later")
    await work(pond.db, pond.models)
    first = await pond.page(UNKNOWN, limit=1)
    assert (first.relevant, texts(first)) == (True, [UNKNOWN])
    await erase(pond.db, pond.owner, "message", first.memories[0].memory_id, requested_by="tests")
    assert not (await pond.page(UNKNOWN, limit=1)).relevant
    rest = await pond.page(UNKNOWN, limit=9, cursor=first.next_cursor)
    assert (rest.relevant, rest.confidence, len(rest.memories)) == (True, first.confidence, 9)
