"""Which node a mention means, against a real graph."""

from __future__ import annotations

from uuid import UUID

import pytest

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.graph.history import alias, merge, write
from memsvc.graph.operations import Edge, Evidence, Node, Operation
from memsvc.identity.mentions import Mention, Resolved
from memsvc.identity.resolving import resolve
from memsvc.settings import Settings
from memsvc.sources.messages import MessageIn, append


async def made(db: Database, owner: Owner, *operations: Operation) -> list[UUID]:
    """Nodes of the operations that make some, in their order."""
    change = await write(db, owner, operations, asserted_by="tests")
    return [
        result.node_id
        for result, operation in zip(change.results, operations, strict=True)
        if isinstance(operation, Node) and result.node_id is not None
    ]


async def meant(db: Database, owner: Owner, *mentions: Mention, **context: object) -> list[Resolved]:
    """Answers for mentions."""
    async with db.transaction(owner.user_id) as connection:
        return await resolve(connection, owner, mentions, **context)  # type: ignore[arg-type]


def person(name: str, key: int = 1, **more: object) -> Mention:
    return Mention(key=key, name=name, type="Person", **more)  # type: ignore[arg-type]


async def said(db: Database, owner: Owner, settings: Settings, conversation: str, text: str) -> tuple[UUID, UUID]:
    """A message's source and passage."""
    answer = await append(db, owner, [MessageIn(conversation=conversation, text=text)], settings)
    passage = answer[0].passage_id
    assert passage is not None
    async with db.transaction(owner.user_id) as connection:
        rows = await connection.exec_driver_sql(
            "SELECT source_id FROM memsvc.passages WHERE user_id = %s AND passage_id = %s", (owner.user_id, passage)
        )
        return rows.scalar_one(), passage


async def test_a_lone_name_is_taken_whatever_its_case_and_through_merges(db: Database, owner: Owner) -> None:
    ana, double = await made(db, owner, Node(type="Person", label="Ana Berg"), Node(type="Person", label="Anita"))
    await merge(db, owner, double, ana, asserted_by="tests")
    exact, merged, nobody = await meant(db, owner, person("ANA  bérg"), person("Anita", 2), person("Zoe Quill", 3))
    assert (exact.node_id, exact.how, exact.confidence) == (ana, "name", 1.0)
    assert merged.node_id == ana
    assert (nobody.node_id, nobody.how, nobody.rivals) == (None, "new", ())


async def test_a_type_that_does_not_fit_is_no_namesake(db: Database, owner: Owner) -> None:
    await made(db, owner, Node(type="Place", label="Florence"))
    (answer,) = await meant(db, owner, person("Florence"))
    assert answer.node_id is None
    assert answer.rivals == ()


async def test_namesakes_are_told_apart_by_company_and_else_stay_apart(db: Database, owner: Owner) -> None:
    one, two, acme, bell = await made(
        db, owner, Node(type="Person", label="Tom Reed"), Node(type="Person", label="Tom Reed"),
        Node(type="Organization", label="Acme"), Node(type="Organization", label="Bell"),
        Edge(from_node=0, type="WORKS_AT", to_node=2, fact="Tom works at Acme."),
        Edge(from_node=1, type="WORKS_AT", to_node=3, fact="Tom works at Bell."),
    )  # fmt: skip
    alone, *_ = await meant(db, owner, person("Tom Reed"))
    assert alone.node_id is None
    assert {rival.node_id for rival in alone.rivals} == {one, two}
    firm = Mention(key=2, name="Bell", type="Organization")
    at_bell, found = await meant(db, owner, person("Tom Reed", company=frozenset({2})), firm)
    assert (at_bell.node_id, found.node_id) == (two, bell)
    assert acme != bell


async def test_a_lone_first_name_in_other_company_is_probably_somebody_else(db: Database, owner: Owner) -> None:
    anna, _club, choir = await made(
        db, owner, Node(type="Person", label="Anna"), Node(type="Organization", label="Rowing Club"),
        Node(type="Organization", label="Choir"),
        Edge(from_node=0, type="WORKS_AT", to_node=1, fact="Anna works at the rowing club."),
    )  # fmt: skip
    elsewhere = Mention(key=2, name="Choir", type="Organization")
    answer, firm = await meant(db, owner, person("Anna", company=frozenset({2})), elsewhere)
    assert (answer.node_id, firm.node_id) == (None, choir)
    assert [rival.node_id for rival in answer.rivals] == [anna]
    (alone,) = await meant(db, owner, person("Anna"))
    assert alone.node_id == anna


async def test_a_first_name_or_a_nickname_is_who_is_known_in_the_conversation(
    db: Database, owner: Owner, settings: Settings
) -> None:
    source, passage = await said(db, owner, settings, "boat", "Robert Miles and Ana Berg came.")
    other, _ = await said(db, owner, settings, "office", "Nobody came.")
    seen = [Evidence(passage_id=passage)]
    robert, ana = await made(
        db, owner, Node(type="Person", label="Robert Miles", evidence=seen),
        Node(type="Person", label="Ana Berg", evidence=seen),
    )  # fmt: skip
    bob, first, slip = await meant(db, owner, person("Bob"), person("Ana", 2), person("Ana Bergh", 3), source_id=source)
    assert (bob.node_id, bob.learned) == (robert, ("Bob",))
    assert (first.node_id, first.learned) == (ana, ("Ana",))
    assert (slip.node_id, slip.how, slip.learned) == (ana, "similar", ())
    (stranger,) = await meant(db, owner, person("Ana"), source_id=other)
    assert stranger.node_id is None
    assert [rival.node_id for rival in stranger.rivals] == [ana]


async def test_two_of_that_first_name_in_the_conversation_stay_ambiguous(db: Database, owner: Owner) -> None:
    one, two = await made(db, owner, Node(type="Person", label="Ana Berg"), Node(type="Person", label="Ana Costa"))
    (answer,) = await meant(db, owner, person("Ana"), near=frozenset({one, two}))
    assert answer.node_id is None
    assert {rival.node_id for rival in answer.rivals} == {one, two}


async def test_relations_lead_through_the_facts_of_whom_they_count_from(db: Database, owner: Owner) -> None:
    me, eva, tim, rex = await made(
        db, owner, Node(type="Person", label="Ada"), Node(type="Person", label="Eva"),
        Node(type="Person", label="brother", data={"named": False}),
        Node(type="Person", label="dog", data={"named": False}),
        Edge(from_node=0, type="FAMILY_OF", to_node=1, fact="Eva is Ada's mother.", data={"relation": "mother"}),
        Edge(from_node=1, type="FAMILY_OF", to_node=2, fact="Eva has a brother.", data={"relation": "brother"}),
        Edge(from_node=0, type="OWNS", to_node=3, fact="Ada has a dog."),
    )  # fmt: skip
    own = person("I", 1, known=me)
    _, mom, uncle, dog, sister = await meant(
        db, owner, own, person("mom", 2, named=False, of=1, relation="mom"),
        person("Tim", 3, of=2, relation="brother"), person("black dog", 4, named=False, of=1),
        person("sister", 5, named=False, of=1, relation="sister"),
    )  # fmt: skip
    assert (mom.node_id, mom.how) == (eva, "relation")
    assert (uncle.node_id, uncle.learned) == (tim, ("Tim",))
    assert dog.node_id == rex
    assert sister.node_id is None


async def test_a_second_sister_is_not_the_first(db: Database, owner: Owner) -> None:
    me, _eva = await made(
        db, owner, Node(type="Person", label="Ada"), Node(type="Person", label="Eva"),
        Edge(from_node=0, type="FAMILY_OF", to_node=1, fact="Eva is Ada's sister.", data={"relation": "sister"}),
    )  # fmt: skip
    _, ida = await meant(db, owner, person("I", 1, known=me), person("Ida", 2, of=1, relation="sister"))
    assert ida.node_id is None


async def test_what_is_only_described_is_matched_with_nothing_that_has_a_name(db: Database, owner: Owner) -> None:
    me, _van = await made(
        db, owner, Node(type="Person", label="Ada"), Node(type="Object", label="Blue Van"),
        Edge(from_node=0, type="OWNS", to_node=1, fact="Ada owns the Blue Van."),
    )  # fmt: skip
    van = Mention(key=2, name="blue van", type="Object", named=False, of=1)
    _, answer = await meant(db, owner, person("I", 1, known=me), van)
    assert answer.node_id is None


async def test_another_users_nodes_are_nobody(db: Database, owner: Owner, other: Owner) -> None:
    (ana,) = await made(db, other, Node(type="Person", label="Ana Berg"))
    await alias(db, other, ana, ["Annie"], asserted_by="tests")
    (answer,) = await meant(db, owner, person("Ana Berg", aliases=("Annie",)), near=frozenset({ana}))
    assert (answer.node_id, answer.rivals) == (None, ())


@pytest.mark.parametrize("name", ["", "?!", "%", "\\", "x" * 200, "名前", "O'Brien"])
async def test_no_name_breaks_it(db: Database, owner: Owner, name: str) -> None:
    (answer,) = await meant(db, owner, person(name))
    assert answer.node_id is None
