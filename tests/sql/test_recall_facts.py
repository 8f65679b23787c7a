"""Facts among the answers of recall: beside messages, by name, word and time, at any two times, in every mode."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.graph import operations as ops
from memsvc.graph.history import write
from memsvc.recall.options import Filters, Mode
from memsvc.recall.results import Memory
from memsvc.recall.search import recall
from memsvc.settings import Settings
from memsvc.sources.messages import MessageIn, append

FACTS_LAST = {"kind": -9.0}
MARCH, JUNE = datetime(2026, 3, 9, tzinfo=UTC), datetime(2026, 6, 1, tzinfo=UTC)


@pytest.fixture
async def learnt(db: Database, owner: Owner, settings: Settings) -> dict[str, Any]:
    """Ines, who moved in March, another Ines, and talk about other things."""
    said = ["I moved to Porto, at last.", *(f"The herons stood in the reeds, {n} of them." for n in range(12))]
    messages = [
        MessageIn(conversation="talk", speaker="Ines", role="other", text=text, said_at=f"2026-03-{n + 1:02}T10:00:00")
        for n, text in enumerate(said, 9)
    ]
    stored = await append(db, owner, messages, settings)
    made = await write(
        db,
        owner,
        [
            ops.Node(type="Person", label="Ines"), ops.Node(type="Person", label="Ines"),
            ops.Node(type="Place", label="Leipzig"), ops.Node(type="Place", label="Porto"),
        ],
        asserted_by="tests",
    )  # fmt: skip
    ines, other, leipzig, porto = (row.node_id for row in made.results if row.node_id is not None)
    evidence = [ops.Evidence(passage_id=stored[0].passage_id)] if stored[0].passage_id else []
    await write(
        db,
        owner,
        [
            ops.Edge(from_node=ines, type="LIVES_IN", to_node=leipzig, fact="Ines lives in Leipzig.", valid_to=MARCH),
            ops.Edge(
                from_node=ines, type="LIVES_IN", to_node=porto, fact="Ines lives in Porto.", valid_from=MARCH,
                evidence=evidence,
            ),
        ],
        asserted_by="tests",
    )  # fmt: skip
    return {"ines": ines, "other": other, "porto": porto, "passage": stored[0].passage_id}


def texts(found: list[Memory]) -> list[str]:
    return [memory.text for memory in found]


async def test_a_fact_stands_among_the_messages_with_its_source(
    db: Database, owner: Owner, settings: Settings, learnt: dict[str, Any]
) -> None:
    found = await recall(db, owner, "Where does Ines live?", settings, explain=True)
    best = found.memories[0]
    assert (best.kind, best.text, best.passage_id) == ("fact", "Ines lives in Porto.", learnt["passage"])
    assert best.fact is not None
    assert (best.fact.from_label, best.fact.to_label, best.fact.valid_from) == ("Ines", "Porto", MARCH)
    assert best.conversation == "talk"
    assert "fact about Ines" in best.why
    assert best.factors["names"] > 0
    [name] = found.ambiguous
    assert (name.name, {meaning.node_id for meaning in name.meanings}) == ("Ines", {learnt["ines"], learnt["other"]})
    assert found.explanation is not None
    assert found.explanation.found["facts"] == 1
    alone = await recall(db, owner, "Where does Ines live?", settings, filters=Filters(facts=False))
    assert {memory.kind for memory in alone.memories} == {"message"}


@pytest.mark.parametrize("named", [True, False])
async def test_things_that_were_only_described_are_no_ambiguous_name(
    db: Database, owner: Owner, settings: Settings, *, named: bool
) -> None:
    data = {} if named else {"named": False}
    weddings = [ops.Node(type="Event", label="wedding", data=data) for _ in range(2)]
    await write(db, owner, weddings, asserted_by="user")
    found = await recall(db, owner, "When is the wedding?", settings)
    assert [name.name for name in found.ambiguous] == (["wedding"] if named else [])


async def test_facts_hold_at_their_times(
    db: Database, owner: Owner, settings: Settings, learnt: dict[str, Any]
) -> None:
    async def home(**times: Any) -> list[str]:
        found = await recall(db, owner, "Where does Ines live?", settings, filters=Filters(**times))
        return [memory.text for memory in found.memories if memory.kind == "fact"]

    assert await home(as_of=MARCH - timedelta(days=1)) == ["Ines lives in Leipzig."]
    assert await home(as_of=JUNE) == ["Ines lives in Porto."]
    assert await home(known_at=datetime(2020, 1, 1, tzinfo=UTC)) == []


async def test_what_began_or_ended_at_a_time_is_found_by_it(
    db: Database, owner: Owner, settings: Settings, learnt: dict[str, Any]
) -> None:
    found = await recall(db, owner, "What changed on 9 March 2026?", settings)
    facts = {memory.text: memory for memory in found.memories if memory.kind == "fact"}
    assert set(facts) == {"Ines lives in Leipzig.", "Ines lives in Porto."}
    assert facts["Ines lives in Leipzig."].stale
    assert facts["Ines lives in Leipzig."].factors["staleness"] < facts["Ines lives in Porto."].factors["staleness"]
    nowhere = await recall(
        db,
        owner,
        "What changed on 9 March 2026?",
        settings,
        filters=Filters(said_from=datetime(2027, 1, 1, tzinfo=UTC)),
    )
    assert nowhere.memories == []


@pytest.mark.parametrize("mode", ["eager", "balanced", "deliberate"])
async def test_a_fact_that_fits_less_stands_behind_messages_that_fit_better(
    db: Database, owner: Owner, settings: Settings, learnt: dict[str, Any], mode: Mode
) -> None:
    found = await recall(db, owner, "herons in the reeds near Porto", settings, mode=mode, limit=20, weights=FACTS_LAST)
    kinds = [memory.kind for memory in found.memories]
    assert kinds[0] == "message"
    assert kinds[-1] == "fact"
    assert [memory.score for memory in found.memories] == sorted(
        (memory.score for memory in found.memories), reverse=True
    )


async def test_a_fact_recorded_today_is_not_stale_for_want_of_a_beginning(
    db: Database, owner: Owner, settings: Settings, learnt: dict[str, Any]
) -> None:
    await write(
        db,
        owner,
        [ops.Edge(from_node=learnt["ines"], type="LIKES", to_node=learnt["porto"], fact="Ines loves the sea.")],
        asserted_by="tests",
    )
    [fact] = [
        memory for memory in (await recall(db, owner, "sea", settings)).memories if memory.text == "Ines loves the sea."
    ]
    assert fact.fact is not None
    assert fact.fact.valid_from is None
    assert fact.factors["staleness"] == pytest.approx(0, abs=0.01)


async def test_pages_hold_while_a_named_node_is_merged_between_them(
    db: Database, owner: Owner, settings: Settings, learnt: dict[str, Any]
) -> None:
    query = "herons near Ines in Porto"
    first = await recall(db, owner, query, settings, mode="deliberate", limit=4)
    await write(db, owner, [ops.Merge(node=learnt["other"], canonical=learnt["ines"])], asserted_by="tests")
    given, cursor = list(first.memories), first.next_cursor
    while cursor is not None:
        page = await recall(db, owner, query, settings, mode="deliberate", limit=4, cursor=cursor)
        given, cursor = [*given, *page.memories], page.next_cursor
    ids = [memory.memory_id for memory in given]
    assert len(ids) == len(set(ids))
    assert set(texts(given)) >= {"Ines lives in Porto.", "I moved to Porto, at last."}


@pytest.mark.usefixtures("learnt")
async def test_a_query_that_is_a_whole_dictionary_is_answered(db: Database, owner: Owner, settings: Settings) -> None:
    """What grows with the square of its words would take longer than a statement may."""
    words = " ".join(f"word{number}" for number in range(9_000))
    fast = settings.model_copy(update={"statement_timeout_ms": 10_000, "max_query_chars": 200_000})
    found = await recall(db, owner, f"{words} Where does Ines live?", fast)
    assert any(memory.kind == "fact" for memory in found.memories)
