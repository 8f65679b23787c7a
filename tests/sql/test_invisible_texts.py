"""Text that nobody sees is no text: whatever must hold words refuses it as it refuses blanks, by the same error."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest

from memsvc.access.users import Owner, add_user, app_id
from memsvc.chat.answering import answer_question
from memsvc.db.engine import Database
from memsvc.errors import EmptyTextError, InvalidAliasError, InvalidRequestError, MemsvcError
from memsvc.graph.find import find_node
from memsvc.graph.history import write
from memsvc.graph.notes import create_note
from memsvc.graph.ontology import NodeTypeIn, propose
from memsvc.graph.operations import Alias, Edge, Node, Operation
from memsvc.profiles.changes import Append, Replace
from memsvc.profiles.read import read_block
from memsvc.profiles.write import change_section, write_block
from memsvc.recall.context import build_context
from memsvc.recall.search import recall
from memsvc.settings import Settings
from memsvc.sources.messages import MessageIn, append
from tests.sql.world import value

BLANK = " \n\t "
INVISIBLE = {
    "zero width": "\u200b\u2060\ufeff", "direction": "\u200e\u202e\u2066", "tags": "\U000e0041\U000e007f",
    "soft hyphen": "\u00ad", "variation selectors": "\ufe0f", "controls": "\x07\x1b", "a lone accent": "\u0301",
    "fillers": "\u3164\u2800", "with blanks": " \u200b\u3000\n\u200d ",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Desk:
    """What a door needs."""

    db: Database
    owner: Owner
    settings: Settings

    async def say(self, **message: Any) -> None:
        await append(
            self.db, self.owner, [MessageIn(**({"conversation": "c", "text": "Hi."} | message))], self.settings
        )

    async def change(self, *operations: Operation) -> None:
        await write(self.db, self.owner, operations, asserted_by="tests")

    async def link(self, fact: str) -> None:
        await self.change(Node(type="Person", label="Bob"), Edge(from_node=0, type="KNOWS", to_node=0, fact=fact))

    async def name(self, alias: str) -> None:
        await self.change(Node(type="Person", label="Bob"), Alias(node=0, alias=alias))

    async def type(self, words: str) -> None:
        await propose(self.db, self.owner, NodeTypeIn(name="Pet", description=words, parent="Thing"), by="tests")

    async def user(self, **names: Any) -> None:
        await add_user(self.db, await app_id(self.db, "invisible"), **({"name": "Eve"} | names))

    async def answer(self, question: str) -> None:
        await answer_question(self.db, self.owner, question, self.settings)

    async def block(self, text: str) -> None:
        await change_section(self.db, self.owner, "preferences", Append(text=text))


DOORS: dict[str, tuple[Callable[[Desk, str], Awaitable[Any]], type[MemsvcError]]] = {
    "a message": (lambda desk, text: desk.say(text=text), EmptyTextError),
    "a message with a caption": (lambda desk, text: desk.say(text="", caption=text), EmptyTextError),
    "a conversation": (lambda desk, text: desk.say(conversation=text), InvalidRequestError),
    "a node": (lambda desk, text: desk.change(Node(type="Person", label=text)), InvalidRequestError),
    "a fact": (lambda desk, text: desk.link(text), InvalidRequestError),
    "a name": (lambda desk, text: desk.name(text), InvalidAliasError),
    "a wanted node": (lambda desk, text: find_node(desk.db, desk.owner, text), InvalidAliasError),
    "a note": (lambda desk, text: create_note(desk.db, desk.owner, text, "Oak."), InvalidRequestError),
    "a tag": (
        lambda desk, text: create_note(desk.db, desk.owner, "Oak", "Oak.", tags=[text]), InvalidRequestError,
    ),
    "a type": (lambda desk, text: desk.type(text), InvalidRequestError),
    "a user": (lambda desk, text: desk.user(name=text), InvalidRequestError),
    "a user's other name": (lambda desk, text: desk.user(aliases=[text]), InvalidRequestError),
    "a question": (lambda desk, text: desk.answer(text), InvalidRequestError),
    "a block": (lambda desk, text: desk.block(text), EmptyTextError),
}  # fmt: skip


@pytest.fixture
def desk(db: Database, owner: Owner, settings: Settings) -> Desk:
    return Desk(db, owner, settings)


@pytest.mark.parametrize("door", DOORS)
async def test_every_door_refuses_what_nobody_sees_as_it_refuses_blanks(
    door: str, desk: Desk, admin: psycopg.Connection
) -> None:
    tried, error = DOORS[door]
    for text in (BLANK, *INVISIBLE.values()):
        with pytest.raises(MemsvcError) as caught:
            await tried(desk, text)
        assert type(caught.value) is error, (text, caught.value)
    kept = "SELECT count(*) FROM memsvc.passages WHERE user_id = %s"
    assert value(admin, kept, [desk.owner.user_id]) == 0


async def test_a_block_that_says_nothing_visible_is_empty(desk: Desk) -> None:
    for text in INVISIBLE.values():
        block = await write_block(desk.db, desk.owner, "human", text)
        assert block.text == ""
    await write_block(desk.db, desk.owner, "preferences", "Oak.")
    await change_section(desk.db, desk.owner, "preferences", Replace(old="Oak.", new="\u200b"))
    assert (await read_block(desk.db, desk.owner, "preferences")).text == ""


class Unasked:
    """To a model anything is near to nothing."""

    async def query_vectors(self, _db: Database, query: str, _milliseconds: int) -> tuple[None, None]:
        raise AssertionError(query)


async def test_a_query_that_says_nothing_visible_is_an_empty_one(desk: Desk) -> None:
    """Recall answers it, with nothing, and no model is asked what it means."""
    await desk.say(text="I like oak.")
    for text in ("", BLANK, *INVISIBLE.values()):
        found = await recall(desk.db, desk.owner, text, desk.settings, embedder=Unasked())
        assert found.memories == []


async def test_a_context_for_a_query_that_says_nothing_has_everything_but_memories(desk: Desk) -> None:
    await desk.say(text="I like oak.")
    await write_block(desk.db, desk.owner, "human", "Ada, who rows.")
    made = await build_context(desk.db, desk.owner, "\u200b", desk.settings)
    assert made.memories == []
    assert "Ada, who rows." in made.text
    assert "No memory matches." in made.text
