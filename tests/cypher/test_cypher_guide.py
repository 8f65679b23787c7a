"""Every question of docs/cypher.md has its answer, and the line for psql works."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from memsvc.db.engine import Database
from memsvc.graph.history import assert_facts
from memsvc.graph.operations import Edge, Node
from memsvc.server.reader import ask
from memsvc.settings import Settings
from memsvc.sources.messages import MessageIn, append
from memsvc.turns.calls import CallIn
from memsvc.turns.storing import TurnIn, record_turn
from tests.cypher.conftest import Asker

GUIDE = (Path(__file__).parents[2] / "docs" / "cypher.md").read_text(encoding="utf-8")
QUESTIONS = re.findall(r"^(\S[^\n]*\?)\n\n```cypher\n(.*?)```", GUIDE, re.MULTILINE | re.DOTALL)
ANSWERS: list[list[list[Any]]] = [
    [["Ines"], ["Jo"], ["Kim"]],
    [["Braga", None], ["Porto", "2020-05-01T00:00:00.000000Z"]],
    [["Braga"]],
    [["Jo", "Kim"]],
    [["Jo", "Kim", "Porto"]],
    [["KNOWS", "Jo knows Kim."], ["LIKES", "Jo likes tea."], ["LIVES_IN", "Jo lived in Braga."],
     ["LIVES_IN", "Jo lives in Porto."]],
    [["tea", 2]],
    [["Person", 3], ["Place", 2], ["Passage", 2], ["Turn", 2], ["DocumentVersion", 2], ["Object", 1], ["Document", 1],
     ["Conversation", 1]],
    [["Jo", 4], ["Kim", 2], ["Ines", 1]],
    [["Kim", "With a view of the river?"]],
    [["Kim", "tea", "Kim likes tea.", 0.5]],
    [["READ", "shop//auth.py", True], ["BASH", "BASH pytest — failed", False], ["WRITE", "shop//auth.py", True]],
    [[1, False, "Fix the login test."], [2, True, "Fix the login test."], [2, True, "Rename the cookie."]],
]  # fmt: skip
MOVED = datetime(2020, 5, 1, tzinfo=UTC)


@pytest.fixture
async def ines(asker: Callable[[str], Awaitable[Asker]], cypher_db: Database, cypher_settings: Settings) -> Asker:
    """The graph that the guide's questions are asked of."""
    ines = await asker("Ines")
    facts: list[Node | Edge] = [
        Node(type="Person", label="Jo"), Node(type="Person", label="Kim"), Node(type="Place", label="Porto"),
        Node(type="Place", label="Braga"), Node(type="Object", label="tea"),
        Edge(from_node=0, type="KNOWS", to_node=1, fact="Jo knows Kim."),
        Edge(from_node=0, type="LIVES_IN", to_node=3, fact="Jo lived in Braga.", valid_to=MOVED),
        Edge(from_node=0, type="LIVES_IN", to_node=2, fact="Jo lives in Porto.", valid_from=MOVED),
        Edge(from_node=1, type="LIVES_IN", to_node=2, fact="Kim lives in Porto."),
        Edge(from_node=0, type="LIKES", to_node=4, fact="Jo likes tea."),
        Edge(from_node=1, type="LIKES", to_node=4, fact="Kim likes tea.", confidence=0.5),
    ]  # fmt: skip
    made = await assert_facts(cypher_db, ines.owner, facts, asserted_by="tests")
    [[self]] = await ines.rows("MATCH (n:Person {name: 'Ines'}) RETURN n.id")
    jo = made.results[0].node_id
    assert jo is not None
    knows = Edge(from_node=UUID(self), type="KNOWS", to_node=jo, fact="Ines knows Jo.")
    await assert_facts(cypher_db, ines.owner, [knows], asserted_by="tests")
    said = [("Jo", "I moved to Porto."), ("Kim", "With a view of the river?")]
    messages = [MessageIn(conversation="talk", speaker=speaker, text=text) for speaker, text in said]
    await append(cypher_db, ines.owner, messages, cypher_settings)
    read = CallIn(tool="READ", arguments={"path": "auth.py"}, result="2")
    first = [
        CallIn(tool="READ", arguments={"path": "auth.py"}, result="1"),
        CallIn(tool="BASH", arguments={"command": "pytest"}, ok=False),
        CallIn(tool="WRITE", arguments={"path": "auth.py", "content": "2"}),
    ]
    for conversation, request, calls in (("a", "Fix the login test.", first), ("b", "Rename the cookie.", [read])):
        turn = TurnIn(conversation=conversation, request=request, calls=calls, root="/home/ines/shop")
        await record_turn(cypher_db, ines.owner, turn, cypher_settings)
    return ines


async def test_the_questions_have_their_answers(ines: Asker) -> None:
    assert len(QUESTIONS) == len(ANSWERS) == 13
    for (question, query), expected in zip(QUESTIONS, ANSWERS, strict=True):
        found = await ines.rows(query)
        assert sorted(found, key=str) == sorted(expected, key=str), question


async def test_the_line_for_psql_works(ines: Asker, cypher_url: str, cypher_settings: Settings) -> None:
    [line] = re.findall(r'^\$ memsvc sql --cypher "(.*)"$', GUIDE, re.MULTILINE)
    found = ask(cypher_url, cypher_settings, ines.owner.user_id, line.replace("\\$", "$"), limit=10, cypher=True)
    assert sorted(found.rows) == [('"Ines"',), ('"Jo"',), ('"Kim"',)]
