"""Questions about a time alone: what was said then comes first, in its order; other questions are asked as ever."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import TextClause

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.together import Together
from memsvc.graph.history import write
from memsvc.graph.operations import Edge, Node
from memsvc.recall import search
from memsvc.recall.context import NOTHING_LIKELY, ContextOptions, build_context
from memsvc.recall.options import Filters
from memsvc.recall.results import Recalled
from memsvc.settings import Settings
from memsvc.sleep.runner import sleep
from memsvc.sources.messages import MessageIn, append

NOW = datetime(2026, 11, 30, 9, tzinfo=UTC)
ASKED = Filters(asked_at=NOW)
LAST_WEEK = ["I quit drinking coffee", "Noted.", "The bike has a new chain", "Tea is fine"]
MANY = ("apple", "pear", "plum", "quince", "currant", "cherry", "medlar", "sloe")
TALK = "What did we talk about last week? I said that last week we would talk."


async def say(db: Database, owner: Owner, settings: Settings, *said: tuple[str, float, str]) -> None:
    """Store texts of so many days ago, each by a role."""
    messages = [
        MessageIn(conversation="talk", text=text, role=role, said_at=(NOW - timedelta(ago)).isoformat())  # type: ignore[arg-type]
        for text, ago, role in said
    ]
    await append(db, owner, messages, settings)


@pytest.fixture
async def year(db: Database, owner: Owner, settings: Settings) -> Owner:
    """Talk about talking in all months before, and four messages of last week."""
    old = [(f"{TALK} It was number {number}.", 30.0 + number * 5, "user") for number in range(60)]
    week = [(text, 4 - place, "assistant" if place == 1 else "user") for place, text in enumerate(LAST_WEEK)]
    await say(db, owner, settings, *old, *week)
    return owner


async def recall(db: Database, owner: Owner, query: str, settings: Settings, **more: Any) -> Recalled:
    return await search.recall(db, owner, query, settings, **({"filters": ASKED} | more))


def texts(found: Recalled) -> list[str]:
    return [memory.text for memory in found.memories]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("What did I say last week?", [LAST_WEEK[0], *LAST_WEEK[2:]]),
        ("What did we talk about last week?", LAST_WEEK),
        ("What did you tell me last week?", [LAST_WEEK[1]]),
        ("What did I say on 26 November 2026?", [LAST_WEEK[0]]),
        ("What did I tell you yesterday?", [LAST_WEEK[3]]),
        ("Give me an overview of November 2026", LAST_WEEK),
        ("Was habe ich letzte Woche gesagt?", [LAST_WEEK[0], *LAST_WEEK[2:]]),
        ("Was habe ich dir gestern erzählt?", [LAST_WEEK[3]]),
        ("Worüber haben wir im November gesprochen?", LAST_WEEK),
    ],
)
async def test_what_was_said_then_comes_in_its_order(
    query: str, expected: list[str], db: Database, year: Owner, settings: Settings
) -> None:
    for mode in ("eager", "balanced", "deliberate"):
        found = await recall(db, year, query, settings, mode=mode)
        assert [text for text in texts(found) if not text.startswith(TALK)] == texts(found) == expected
        assert found.relevant
        assert "said at the time" in found.memories[0].why
    block = await build_context(db, year, query, settings, options=ContextOptions(filters=ASKED))
    told = [item.text for section in block.sections if section.name == "memories" for item in section.items]
    assert told == expected
    assert block.relevant
    assert NOTHING_LIKELY not in block.text
    assert "Nothing that was said" not in block.text
    explained = await recall(db, year, query, settings, explain=True)
    assert texts(explained) == expected
    assert explained.explanation is not None
    assert not {one.memory.text for one in explained.explanation.cut} & set(expected)


async def test_where_nothing_was_said_then_that_is_told(db: Database, year: Owner, settings: Settings) -> None:
    query = "What did I say on 3 November 2019?"
    found = await recall(db, year, query, settings)
    assert (found.memories, found.relevant) == ([], False)
    block = await build_context(db, year, query, settings, options=ContextOptions(filters=ASKED))
    assert "Nothing that was said then (3 November 2019) is stored; say so rather than guess." in block.text
    assert not block.relevant
    assert NOTHING_LIKELY not in block.text
    assert not any(section.name == "memories" for section in block.sections)


async def test_of_much_talk_each_day_gives_some_and_pages_give_all(
    db: Database, owner: Owner, settings: Settings
) -> None:
    busy = [(f"busy {number}", 2 - number / 1_000, "user") for number in range(40)]
    await say(db, owner, settings, ("quiet", 6, "user"), ("calm", 4, "user"), *busy)
    query = "What did I say last week?"
    assert texts(await recall(db, owner, query, settings, limit=4)) == ["quiet", "calm", "busy 38", "busy 39"]
    first = await recall(db, owner, query, settings, limit=30, mode="deliberate")
    assert first.next_cursor is not None
    second = await recall(db, owner, query, settings, limit=30, mode="deliberate", cursor=first.next_cursor)
    assert second.next_cursor is None
    assert second.relevant
    assert sorted(texts(first) + texts(second)) == sorted(["quiet", "calm", *(text for text, *_ in busy)])
    options = ContextOptions(filters=ASKED, budget_tokens=300)
    block = await build_context(db, owner, query, settings, options=options)
    told = [item.text for section in block.sections for item in section.items]
    assert told[:2] == ["quiet", "calm"]
    assert told == sorted(told, key=["quiet", "calm", *(text for text, *_ in busy)].index)
    assert 3 < len(told) < 30
    assert told[-1] == "busy 39"


async def test_summaries_of_the_time_come_first_where_not_all_fits(
    db: Database, owner: Owner, settings: Settings
) -> None:
    old = [
        (
            f"In spring we planted a {word} tree behind the old shed, beside the {place} red posts of the river fence.",
            200 - place / 100,
            "user",
        )
        for place, word in enumerate(MANY)
    ]
    new = [
        (
            f"The {word} tree is green now, and Ines picked {place + 3} baskets from it for the market in Leipzig.",
            4 - place / 100,
            "user",
        )
        for place, word in enumerate(MANY)
    ]
    await say(db, owner, settings, *old, *new)
    await sleep(db, owner, ["summaries"], settings=settings)
    found = await recall(db, owner, "What did we talk about last week?", settings, limit=4)
    kinds = [memory.kind for memory in found.memories]
    assert kinds == sorted(kinds, reverse=True)
    assert {"message", "summary"} == set(kinds)
    assert all("green" in memory.text for memory in found.memories)
    told = [memory.said_at for memory in found.memories if memory.kind == "message"]
    assert told == sorted(told)
    all_of_it = await recall(db, owner, "What did we talk about last week?", settings, limit=20)
    assert texts(all_of_it) == [text for text, *_ in new]
    block = await build_context(
        db, owner, "Was habe ich letzte Woche gesagt?", settings, options=ContextOptions(filters=ASKED)
    )
    [overview] = [item for section in block.sections if section.name == "overview" for item in section.items]
    assert "green" in overview.text
    assert "planted" not in overview.text


async def test_facts_and_notes_of_the_time_come_behind(db: Database, year: Owner, settings: Settings) -> None:
    ada, lyon = (
        await write(db, year, [Node(type="Person", label="Ada"), Node(type="Place", label="Lyon")], asserted_by="tests")
    ).results
    ends: dict[str, Any] = {"from_node": ada.node_id, "to_node": lyon.node_id}
    moved = Edge(type="LIVES_IN", fact="Ada lives in Lyon.", valid_from=NOW - timedelta(5), **ends)
    liked = Edge(type="LIKES", fact="Ada likes Lyon.", valid_from=NOW - timedelta(500), **ends)
    await write(db, year, [moved, liked], asserted_by="tests")
    query = "What did we talk about last week?"
    asked = Filters(asked_at=NOW)
    found = await recall(db, year, query, settings, filters=asked)
    assert texts(found) == [*LAST_WEEK, "Ada lives in Lyon."]
    block = await build_context(db, year, query, settings, options=ContextOptions(filters=asked))
    assert [section.name for section in block.sections if section.name in {"facts", "memories"}] == [
        "facts",
        "memories",
    ]


async def test_filters_hold(db: Database, year: Owner, settings: Settings) -> None:
    query, begin = "What did we talk about last week?", NOW - timedelta(3.5)
    narrowed = Filters(asked_at=NOW, said_from=begin)
    assert texts(await recall(db, year, query, settings, filters=narrowed)) == LAST_WEEK[1:]
    assert texts(await recall(db, year, query, settings, filters=Filters(asked_at=NOW, roles=["assistant"]))) == [
        LAST_WEEK[1]
    ]
    then = Filters(asked_at=NOW - timedelta(3.5), as_of=NOW - timedelta(3.5))
    assert texts(await recall(db, year, "What did I say this week?", settings, filters=then)) == [LAST_WEEK[0]]


Sent = list[tuple[str, Mapping[str, Any]]]


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Sent:
    """All statements that go to the database together, with their parameters."""
    found: Sent = []
    ask = Together.ask

    def asked(self: Together, statement: TextClause, values: Mapping[str, Any]) -> list[Any]:
        found.append((str(statement), dict(values)))
        return ask(self, statement, values)

    monkeypatch.setattr(Together, "ask", asked)
    return found


@pytest.mark.parametrize(
    "query",
    [
        "What did I say about coffee last week?", "When did we talk last week?", "What did Ines say yesterday?",
        "What happened on 26 November 2026?", "What did we talk about?", "Was habe ich letzte Woche über Tee gesagt?",
        "Summarize the bike of last week", "yesterday", "coffee", "What do we have on tomorrow?",
    ],
)  # fmt: skip
@pytest.mark.parametrize("explain", [False, True])
async def test_other_questions_are_asked_and_answered_as_without_this(
    *, query: str, explain: bool, db: Database, year: Owner, settings: Settings, sent: Sent,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    await recall(db, year, "What did I say last week?", settings)
    assert any("match_times" in statement for statement, _ in sent)
    sent.clear()
    found = await recall(db, year, query, settings, explain=explain)
    block = await build_context(db, year, query, settings, options=ContextOptions(filters=ASKED, chance=False))
    asked = list(sent)
    sent.clear()
    monkeypatch.setattr("memsvc.recall.search.said_then", lambda *_: None)
    monkeypatch.setattr("memsvc.recall.context.said_then", lambda *_: None)
    without = await recall(db, year, query, settings, explain=explain)
    plain = await build_context(db, year, query, settings, options=ContextOptions(filters=ASKED, chance=False))
    assert asked == sent
    assert not any("match_times" in statement for statement, _ in asked)
    assert (without.memories, without.relevant) == (found.memories, found.relevant)
    assert [item.text for one in plain.sections for item in one.items] == [
        item.text for one in block.sections for item in one.items
    ]
