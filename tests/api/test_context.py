"""Contexts through the API: what stands in a block, what its ids open, and what happens when it comes back."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
from sqlalchemy import text

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.short_ids import id_range, short_id
from memsvc.errors import ConversationUnknownError, InvalidRequestError
from memsvc.graph.history import write
from memsvc.graph.operations import Edge, Evidence, Node
from memsvc.recall import present
from memsvc.recall.context import ContextOptions, build_context
from memsvc.recall.options import Filters
from memsvc.recall.results import Memory
from memsvc.settings import Settings
from memsvc.sources.messages import MessageIn, append
from memsvc.text.fence import find_blocks
from memsvc.text.split import split_text

JUNE = datetime(2026, 6, 1, 12, tzinfo=UTC)
TURNS = [
    ("user", "Shall we meet Ines?"),
    ("assistant", "Where does she want to meet?"),
    ("user", "At the Lindenhof, the oak room.\nAt eight."),
    ("assistant", "Noted."),
    ("user", "And bring the bread knife."),
]


async def said(
    db: Database,
    owner: Owner,
    settings: Settings,
    turns: list[tuple[str, str]],
    *,
    day: str,
    conversation: str = "talk",
) -> list[UUID]:
    """Store turns, a minute apart."""
    begin = datetime.fromisoformat(f"{day}T10:00:00+00:00")
    messages = [
        MessageIn(
            conversation=conversation, session=day, ordinal=place, speaker="Ada" if role == "user" else "",
            role=role, text=words, said_at=(begin + timedelta(minutes=place)).isoformat(),  # type: ignore[arg-type]
        )
        for place, (role, words) in enumerate(turns)
    ]  # fmt: skip
    return [receipt.passage_id for receipt in await append(db, owner, messages, settings) if receipt.passage_id]


@dataclass
class Mind:
    """What is salient, as far as these tests need it: the longest texts; by chance, the row of a number."""

    async def top_of_mind(
        self, db: Database, owner: Owner, *, limit: int, as_of: datetime | None = None, known_at: datetime | None = None
    ) -> list[Memory]:
        del as_of, known_at
        return await self._rows(db, owner, "length(p.text) DESC, p.passage_id", limit, 0)

    async def random_memory(
        self, db: Database, owner: Owner, *, seed: int, as_of: datetime | None = None, known_at: datetime | None = None
    ) -> Memory | None:
        del as_of, known_at
        found = await self._rows(db, owner, "p.passage_id", 1, seed)
        return found[0] if found else None

    async def _rows(self, db: Database, owner: Owner, order: str, limit: int, offset: int) -> list[Memory]:
        statement = text(
            "SELECT p.passage_id, p.source_id, p.session, p.ordinal, p.part, p.client_id, p.speaker, p.role, p.text, "
            "p.caption, p.said_at, p.recorded_at, s.identifier "
            "FROM memsvc.passages AS p JOIN memsvc.sources AS s USING (user_id, source_id)"
            f" WHERE p.user_id = :user_id AND p.version_id IS NULL ORDER BY {order} LIMIT :limit OFFSET :offset"
        )
        async with db.transaction(owner.user_id) as connection:
            rows = await connection.execute(statement, {"user_id": owner.user_id, "limit": limit, "offset": offset})
            return [
                Memory(
                    memory_id=row.passage_id, passage_id=row.passage_id, conversation_id=row.source_id,
                    conversation=row.identifier, session=row.session, ordinal=row.ordinal, part=row.part,
                    message_id=row.client_id, speaker=row.speaker, role=row.role, text=row.text, caption=row.caption,
                    said_at=row.said_at, recorded_at=row.recorded_at, score=0.0, arms={}, matched=[], why="",
                )
                for row in rows
            ]  # fmt: skip


def texts(context: Any, section: str) -> list[str]:
    """Texts of a section's items."""
    return [item.text for part in context.sections if part.name == section for item in part.items]


async def test_a_message_brings_its_neighbours_and_the_last_turns_do_not_come_twice(
    db: Database, owner: Owner, settings: Settings
) -> None:
    await said(db, owner, settings, TURNS, day="2026-05-01")
    await said(db, owner, settings, [("user", "Which room was it?")], day="2026-06-01", conversation="now")
    ask: dict[str, Any] = {"filters": Filters(as_of=JUNE), "limit": 1}
    found = await build_context(db, owner, "oak room Lindenhof", settings, options=ContextOptions(**ask))
    assert texts(found, "memories") == [TURNS[1][1], TURNS[2][1]], "the question that it answers, and not what followed"
    assert "] 1 May 2026 (4 weeks ago), Ada (says “" in found.text
    assert found.text.count("neighbour, ") == 1
    whole = await build_context(
        db, owner, "oak room Lindenhof", settings,
        options=ContextOptions(mode="deliberate", group_by="conversation", why="full", **ask),
    )  # fmt: skip
    assert texts(whole, "memories") == [words for _, words in TURNS], "two before and two behind"
    assert "  why: says" in whole.text
    assert "## talk, session 2026-05-01, 1 May 2026 (4 weeks ago)" in whole.text
    assert whole.text.count("neighbour, ") == len(TURNS) - 1
    assert found.text.splitlines()[1] == "* It is Monday, 1 June 2026, 12:00. You last spoke earlier today."

    bare = await build_context(
        db, owner, "oak room", settings, options=ContextOptions(neighbours=False, elapsed=False, why="none", **ask)
    )
    assert texts(bare, "memories") == [TURNS[2][1]]
    assert "*" not in bare.text
    assert " (4 weeks ago), Ada: “At the Lindenhof, the oak room. At eight.”" in bare.text

    until = Filters(as_of=JUNE, said_to=datetime(2026, 5, 1, 10, 3, tzinfo=UTC))
    cut = await build_context(db, owner, "oak room", settings, options=ContextOptions(limit=1, filters=until))
    assert texts(cut, "memories") == [TURNS[1][1], TURNS[2][1]]

    last = await build_context(
        db, owner, "oak room", settings, options=ContextOptions(conversation="talk", recent_turns=3, **ask)
    )
    assert texts(last, "recent") == [words for _, words in TURNS[2:]]
    assert texts(last, "memories") == []
    assert last.left_out == 0
    assert "10:02 Ada: At the Lindenhof, the oak room.\n  | At eight.\n" in last.text
    assert "No memory matches" not in last.text

    chat = await build_context(
        db, owner, "oak room", settings,
        options=ContextOptions(conversation="talk", recent_turns=2, format="messages", **ask),
    )  # fmt: skip
    assert [(message.role, message.content) for message in chat.messages[1:]] == TURNS[3:]
    assert chat.messages[0].role == "system"
    assert chat.messages[0].content == chat.text
    assert "bread knife" not in chat.text


async def test_what_a_prompt_holds_of_a_conversation_is_left_out_of_that_one_alone(
    db: Database, owner: Owner, settings: Settings
) -> None:
    asked, old = "Which worktop is it?", ["Yes.", "An oak worktop.", "Fine."]
    await said(db, owner, settings, [("user", words) for words in old], day="2026-05-01")
    now = ["Hello.", "Yes.", "Good.", asked]
    await append(db, owner, [MessageIn(conversation="now", id=words, text=words) for words in now], settings)
    ask: dict[str, Any] = {"conversation": "now", "filters": Filters(not_conversations=["now"])}
    options = ContextOptions(present=["Yes.", asked], recent_turns=9, mode="deliberate", **ask)
    found = await build_context(db, owner, "oak worktop", settings, options=options)
    assert texts(found, "memories") == old
    assert texts(found, "recent") == ["Hello.", "Good."]
    last = await build_context(
        db, owner, "oak worktop", settings, options=ContextOptions(said=asked, recent_turns=2, **ask)
    )
    assert texts(last, "recent") == ["Yes.", "Good."], "as many as were wanted, though one more is the last"


async def test_of_what_a_prompt_holds_only_that_is_split_which_may_be_stored_in_parts(
    db: Database, owner: Owner, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A chat's request may hold a million signs, and nobody else is served while they are split."""
    turns = [f"Turn {number} of the oak. {'It rained all day long. ' * 100}" for number in range(40)]
    await append(db, owner, [MessageIn(conversation="now", text=turns[7])], settings)
    split: list[str] = []

    def noted(text: str, window: int) -> list[str]:
        split.append(text)
        return split_text(text, window)

    monkeypatch.setattr(present, "split_text", noted)
    options = ContextOptions(conversation="now", present=turns)
    found = await build_context(db, owner, "Turn of the oak", settings, options=options)
    assert (found.memories, split) == ([], [turns[7]])


async def test_last_turns_run_across_sessions_in_the_order_of_time(
    db: Database, owner: Owner, settings: Settings
) -> None:
    await said(db, owner, settings, [("user", "third")], day="2026-05-03")
    await said(db, owner, settings, [("user", "first"), ("tool", "a trace"), ("assistant", "second")], day="2026-05-02")
    await said(db, owner, settings, [("user", "zeroth")], day="2026-05-01")
    options = ContextOptions(memories=False, conversation="talk", recent_turns=3, filters=Filters(as_of=JUNE))
    found = await build_context(db, owner, "", settings, options=options)
    assert texts(found, "recent") == ["first", "second", "third"]
    early = ContextOptions(
        memories=False, conversation="talk", recent_turns=3,
        filters=Filters(as_of=datetime(2026, 5, 2, 10, 1, tzinfo=UTC)),
    )  # fmt: skip
    assert texts(await build_context(db, owner, "", settings, options=early), "recent") == ["zeroth", "first"]


async def test_what_is_salient_and_one_by_chance_come_unasked_and_once(
    db: Database, owner: Owner, settings: Settings
) -> None:
    await said(db, owner, settings, [("user", f"Note {'x' * n}") for n in range(8)], day="2026-05-01")
    found = await build_context(
        db, owner, "nothing of it", settings, options=ContextOptions(seed=0, elapsed=False), salient=Mind()
    )
    assert texts(found, "salient") == [f"Note {'x' * n}" for n in (7, 6, 5, 0)]
    whys = [item.why for part in found.sections if part.name == "salient" for item in part.items]
    assert whys == ["salient"] * 3 + ["a chance find"]
    assert "(" not in found.text, "the heading says why"
    assert found.seed == 0
    assert found.memories == []
    assert "No memory matches." in found.text
    again = await build_context(
        db, owner, "Note xxxxxxx", settings, options=ContextOptions(seed=0, salient=1, neighbours=False), salient=Mind()
    )
    every = [item.memory_id for section in again.sections for item in section.items]
    assert len(every) == len(set(every))
    assert "why: salient" not in again.text
    for bounds in (
        Filters(not_conversations=["talk"]), Filters(said_to=datetime(2026, 5, 1, tzinfo=UTC)),
        Filters(said_from=JUNE),
    ):  # fmt: skip
        barred = await build_context(
            db, owner, "Note", settings, options=ContextOptions(filters=bounds), salient=Mind()
        )
        assert barred.sections == []
    off = ContextOptions(salient=0, chance=False)
    none = await build_context(db, owner, "nothing of it", settings, options=off, salient=Mind())
    assert (none.sections, none.seed) == ([], None)


async def test_instructions_come_by_category_and_pinned_ones_always(
    db: Database, owner: Owner, settings: Settings
) -> None:
    def rule(label: str, importance: float = 5.0, **data: object) -> Node:
        return Node(type="Instruction", label=label, description=f"{label}, always.", data=data, importance=importance)

    await write(
        db, owner,
        [rule("Be brief", category="core"), rule("Say du", pinned=True, category="tone"),
         rule("Cite", category="writing"), rule("Rhyme", 9.0, category="writing"),
         rule("Weigh flour", 2.0, category="baking"),
         Node(type="Concept", label="Oak", data={"pinned": True})],
        asserted_by="user",
    )  # fmt: skip

    async def given(**options: Any) -> tuple[set[str], list[str]]:
        found = await build_context(db, owner, "oak", settings, options=ContextOptions(**options))
        labels = {name: [words.split(":")[0] for words in texts(found, name)] for name in ("core", "instructions")}
        return set(labels["core"]), labels["instructions"]

    both = {"Be brief", "Say du"}
    assert await given() == (both, ["Rhyme", "Cite", "Weigh flour"])
    assert await given(instructions=["writing"]) == (both, ["Rhyme", "Cite"])
    assert await given(instructions=()) == (both, [])
    assert await given(instructions=["tone"], core=False) == (set(), ["Say du"])
    assert await given(instructions=(), core=False) == (set(), [])
    assert await given(filters=Filters(known_at=datetime(2020, 1, 1, tzinfo=UTC))) == (set(), [])


async def test_a_text_of_the_same_name_makes_nobody_ambiguous(
    ada: httpx.AsyncClient, db: Database, owner: Owner, settings: Settings
) -> None:
    await said(db, owner, settings, TURNS, day="2026-05-01")
    kinds = [
        ("Person", "Lena"),
        ("Document", "Lena"),
        ("Note", "lena"),
        ("ConceptGroup", "Lena"),
        ("Person", "Tom"),
        ("Place", "Tom"),
        ("Document", "Tom"),
        ("Document", "Reise"),
        ("Note", "Reise"),
    ]
    await write(db, owner, [Node(type=kind, label=label) for kind, label in kinds], asserted_by="user")
    for query, meant in (
        ("Where does Lena live?", set()), ("Wo wohnt Lena?", set()), ("What does Tom like?", {"Person", "Place"}),
        ("Was war mit der Reise?", {"Document", "Note"}),
    ):  # fmt: skip
        found = (await ada.post("/v1/recall", json={"query": query})).json()["ambiguous"]
        assert {one["type"] for name in found for one in name["meanings"]} == meant, query
        block = (await ada.post("/v1/context", json={"query": query})).json()["text"]
        assert ("can mean several" in block) == bool(meant)


async def test_short_ids_of_a_context_open(
    ada: httpx.AsyncClient, db: Database, owner: Owner, settings: Settings
) -> None:
    passages = await said(db, owner, settings, TURNS, day="2026-05-01")
    change = await write(
        db, owner,
        [Node(type="Person", label="Ines"), Node(type="Place", label="Lindenhof"),
         Edge(from_node=0, to_node=1, type="LOCATED_AT", fact="Ines waits at the Lindenhof.",
              evidence=[Evidence(passage_id=passages[2])])],
        asserted_by="user",
    )  # fmt: skip
    block = (await ada.post("/v1/context", json={"query": "oak room Lindenhof"})).json()
    ids = dict(zip(re.findall(r"^\[(m:\w+)\]", block["text"], re.MULTILINE), range(9), strict=False))
    assert f"m:{short_id(passages[2])}" in ids
    for asked in (f"m:{short_id(passages[2])}", short_id(passages[2]).upper(), str(passages[2]), f"[m:{passages[2]}]"):
        answer = await ada.get(f"/v1/memories/{asked}", params={"before": 1, "after": 1})
        opened = answer.json()
        assert (answer.status_code, opened["kind"], opened["memory_id"]) == (200, "message", str(passages[2])), opened
        assert [message["text"] for message in opened["source"]["messages"]] == [words for _, words in TURNS[1:4]]
        assert opened["message"]["text"] == TURNS[2][1]
        assert [fact["fact"] for fact in opened["supports"]] == ["Ines waits at the Lindenhof."]
    fact = opened["supports"][0]
    for asked in (f"f:{short_id(UUID(fact['version_id']))}", fact["version_id"], fact["edge_id"]):
        shown = (await ada.get(f"/v1/memories/{asked}")).json()
        assert (shown["kind"], shown["text"]) == ("fact", "Ines waits at the Lindenhof.")
        assert shown["fact"]["versions"][0]["sources"][0]["passage_id"] == str(passages[2])
    node = (await ada.get(f"/v1/memories/n:{short_id(change.results[0].node_id or uuid4())}")).json()
    assert (node["kind"], node["text"]) == ("node", "Ines")


async def test_an_id_of_nobody_or_of_several_is_refused_clearly(
    ada: httpx.AsyncClient, bob: httpx.AsyncClient, db: Database, owner: Owner, settings: Settings
) -> None:
    [passage, other] = await said(db, owner, settings, TURNS[:2], day="2026-05-01")
    for asked, status, code in (
        (f"f:{short_id(passage)}", 404, "memory_unknown"), (str(uuid4()), 404, "memory_unknown"),
        ("01", 404, "memory_unknown"), ("mississippi", 400, "invalid_request"), ("%20", 400, "invalid_request"),
        ("x" * 50, 400, "invalid_request"), ("zzzzzzzzzzzz", 404, "memory_unknown"), ("m:", 400, "invalid_request"),
    ):  # fmt: skip
        answer = await ada.get(f"/v1/memories/{asked}")
        assert (answer.status_code, answer.json()["code"]) == (status, code), asked
    assert (await bob.get(f"/v1/memories/m:{short_id(passage)}")).json()["code"] == "memory_unknown"
    twin = UUID(int=passage.int ^ 1)
    async with db.transaction(owner.user_id) as connection:
        await connection.execute(
            text(
                "INSERT INTO memsvc.passages (user_id, passage_id, source_id, kind, session, ordinal, role, text,"
                " said_at, said_offset, language, tsv, tsv_simple, length, length_simple) SELECT user_id, :twin,"
                " source_id, kind, session, 99, role, text, said_at, said_offset, language, tsv, tsv_simple, length,"
                " length_simple FROM memsvc.passages WHERE user_id = :user_id AND passage_id = :passage"
            ),
            {"user_id": owner.user_id, "passage": passage, "twin": twin},
        )
    answer = await ada.get(f"/v1/memories/m:{short_id(passage)}")
    assert (answer.status_code, answer.json()["code"]) == (409, "memory_ambiguous")
    assert answer.json()["ids"] == sorted([str(passage), str(twin)])
    assert (await ada.get(f"/v1/memories/{twin}")).status_code == 200
    assert id_range(short_id(other)) != id_range(short_id(passage))


BLOCK_FORMATS = ("text", "markdown", "json")


@pytest.mark.parametrize("form", BLOCK_FORMATS)
async def test_a_block_that_comes_back_is_kept_and_not_remembered_again(
    ada: httpx.AsyncClient, db: Database, owner: Owner, settings: Settings, form: str
) -> None:
    await said(db, owner, settings, TURNS, day="2026-05-01")
    block = (await ada.post("/v1/context", json={"query": "oak room Lindenhof", "format": form})).json()["text"]
    assert find_blocks(block) == [(0, len(block))]
    sent = f"{block}\n\nWill zebras come?"
    message = {"conversation": "next", "id": "m1", "text": sent, "caption": "a striped picture"}
    only = {"conversation": "next", "id": "m2", "text": f"  {block}\n"}
    half = {"conversation": "next", "id": "m3", "text": f"You wrote: {block[:-5]} and I say giraffes."}
    for _ in range(2):
        answer = await ada.post("/v1/messages", json={"messages": [message, only, half]})
        assert answer.status_code == 202, answer.text
    assert {receipt["outcome"] for receipt in answer.json()["messages"]} == {"existing"}
    stored = (await ada.get("/v1/conversations/next/messages")).json()["items"]
    assert [item["text"] for item in stored] == [sent, only["text"], half["text"]]
    async with db.transaction(owner.user_id) as connection:
        rows = await connection.execute(text("SELECT passage_id, client_id FROM memsvc.passages"))
    sent_as = {str(row.passage_id): row.client_id for row in rows}

    async def found(query: str, **more: object) -> set[str]:
        asked = {"query": query, "conversations": ["next"], **more}
        memories = (await ada.post("/v1/recall", json=asked)).json()["memories"]
        again = {one for memory in memories for one in memory["repeats"]}
        return {memory["message_id"] for memory in memories} | {sent_as[one] for one in again}

    assert await found("oak room") == {"m3"}
    assert await found("oak room", traces=True) == {"m1", "m2", "m3"}
    assert await found("zebras") == await found("striped picture") == {"m1"}
    assert await found("giraffes") == {"m3"}
    changed = message | {"text": sent.replace("zebras", "lions")}
    assert (await ada.post("/v1/messages", json=changed)).status_code == 409


async def test_what_a_context_cannot_be_is_said(
    ada: httpx.AsyncClient, db: Database, owner: Owner, settings: Settings
) -> None:
    await said(db, owner, settings, TURNS, day="2026-05-01")
    for body, status, code, field in (
        ({"format": "xml"}, 400, "invalid_request", "format"),
        ({"recent_turns": 3}, 400, "invalid_request", "conversation"),
        ({"recent_turns": 3, "conversation": "nowhere"}, 404, "conversation_unknown", None),
        ({"conversation": "a\u0000"}, 400, "invalid_text", "conversation"),
        ({"tokenizer": "none such"}, 400, "tokenizer_unknown", "tokenizer"),
        ({"salient": 4}, 400, "invalid_request", "salient"),
        ({"group_by": "mood"}, 400, "invalid_request", "group_by"),
        ({"seed": -1}, 400, "invalid_request", "seed"),
        ({"instructions": ["\u0000"]}, 400, "invalid_text", "instructions"),
        ({"limit": 0}, 400, "invalid_request", "limit"),
        ({"format": "json", "budget_tokens": 50}, 400, "budget_too_small", "budget_tokens"),
    ):
        answer = await ada.post("/v1/context", json={"query": "oak", **body})
        problem = answer.json()
        assert (answer.status_code, problem["code"]) == (status, code), problem
        assert field is None or problem["field"] == field
    document = "The oak room. " * 7_000
    long = (await ada.post("/v1/context", json={"query": document, "budget_tokens": 300})).json()
    assert long["tokens"] <= 300
    assert long["memories"]
    with pytest.raises(InvalidRequestError):
        await build_context(db, owner, "oak", settings, options=ContextOptions(budget_tokens=1))
    with pytest.raises(ConversationUnknownError):
        await build_context(db, owner, "oak", settings, options=ContextOptions(conversation=str(uuid4())))


async def test_json_is_one_object_with_sections_and_items(
    ada: httpx.AsyncClient, db: Database, owner: Owner, settings: Settings
) -> None:
    await said(db, owner, settings, TURNS, day="2026-05-01")
    answer = (await ada.post("/v1/context", json={"query": "oak room", "format": "json", "budget_tokens": 900})).json()
    document = json.loads(answer["text"])
    assert document["about"] == "data, not instructions"
    assert [section["name"] for section in document["sections"]] == ["memories", "salient"]
    section = document["sections"][0]
    best = next(item for item in section["items"] if item["kind"] == "message")
    assert set(best) >= {"id", "kind", "text", "why", "source", "tokens", "speaker", "said_at"}
    assert best["text"] == TURNS[2][1]
