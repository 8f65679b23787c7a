"""Types of one's own: proposed, approved, used, deprecated; with history, and unseen by others."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from uuid import UUID

import psycopg
import pytest
from psycopg import errors

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.errors import (
    AlreadyExistsError,
    EndpointForbiddenError,
    InvalidRequestError,
    InvalidTextError,
    MemsvcError,
    NotFoundError,
    TypeDeprecatedError,
    TypeProposedError,
    TypeStateError,
    TypeUnknownError,
)
from memsvc.graph import read
from memsvc.graph.history import Change, undo, write
from memsvc.graph.ontology import (
    EdgeType,
    EdgeTypeIn,
    Kind,
    NodeType,
    NodeTypeIn,
    approve,
    deprecate,
    describe,
    ontology,
    propose,
    reject,
    withdraw,
)
from memsvc.graph.operations import Close, Correct, Edge, Merge, Node, Retract, Thread
from tests.sql.world import APP, Logins, value

ME = "tests"
PET = NodeTypeIn(name="Pet", description="An animal that lives with people.", parent="Person")
FEEDS = EdgeTypeIn(name="FEEDS", description="A feeds B.", from_types=["Person"], to_types=["Pet"])
KEEPS = EdgeTypeIn(name="IS_KEPT_BY", description="A is kept by B.", from_types=["Pet"], functional=True)


def day(number: int) -> datetime:
    return datetime(2020, 1, 1, tzinfo=UTC) + timedelta(days=number)


def made(change: Change, place: int = 0) -> UUID:
    found = change.results[place].node_id
    assert found is not None
    return found


async def add(db: Database, owner: Owner, *proposals: NodeTypeIn | EdgeTypeIn) -> None:
    for proposal in proposals:
        await propose(db, owner, proposal, by=ME, approve=True)


async def make(db: Database, owner: Owner, *types: str) -> list[UUID]:
    change = await write(db, owner, [Node(type=t, label=f"{t} {n}") for n, t in enumerate(types)], asserted_by=ME)
    return [made(change, place) for place in range(len(types))]


async def own(db: Database, owner: Owner) -> dict[str, NodeType | EdgeType]:
    found = await ontology(db, owner)
    types: list[NodeType | EdgeType] = [*found.node_types, *found.edge_types]
    return {t.name: t for t in types if t.status != "core"}


# The way of a type --------------------------------------------------------------------------------------------------


async def test_the_core_is_there_and_counts_are_the_users_own(db: Database, owner: Owner, other: Owner) -> None:
    ada, berlin = await make(db, owner, "Person", "Place")
    await write(db, owner, [Edge(from_node=ada, type="LIVES_IN", to_node=berlin, fact="x")], asserted_by=ME)
    found = await ontology(db, owner)
    nodes = {t.name: t.nodes for t in found.node_types if t.nodes}
    assert nodes == {"Person": 2, "Place": 1}  # one of the persons is the user
    assert {t.name: t.facts for t in found.edge_types if t.facts} == {"LIVES_IN": 1}
    assert len(found.node_types) >= 17
    assert all(t.status == "core" and t.proposed_by is None for t in (*found.node_types, *found.edge_types))
    lives = next(t for t in found.edge_types if t.name == "LIVES_IN")
    assert (lives.functional, lives.from_types, lives.to_types) == (True, ["Person"], ["Place"])
    assert {t.name: t.nodes for t in (await ontology(db, other)).node_types if t.nodes} == {"Person": 1}


async def test_what_is_over_taken_back_or_merged_is_not_counted(db: Database, owner: Owner) -> None:
    first, second, berlin, paris = await make(db, owner, "Person", "Person", "Place", "Place")
    homes = [Edge(from_node=n, type="LIVES_IN", to_node=berlin, fact="x") for n in (first, second)]
    change = await write(db, owner, homes, asserted_by=ME)
    assert change.results[0].edge_id is not None
    await write(
        db,
        owner,
        [
            Close(thread=Thread(edge=change.results[0].edge_id), at=day(0)),
            Merge(node=second, canonical=first),
            Retract(thread=Thread(node=paris)),
        ],
        asserted_by=ME,
    )
    found = await ontology(db, owner)
    assert {t.name: t.nodes for t in found.node_types if t.nodes} == {"Person": 2, "Place": 1}
    assert {t.name: t.facts for t in found.edge_types if t.facts} == {"LIVES_IN": 1}


async def test_a_proposal_waits_until_somebody_approves_it(db: Database, owner: Owner) -> None:
    waits = await propose(db, owner, PET, by="extractor")
    assert (waits.status, waits.proposed_by, waits.decided_by, waits.parent) == (
        "proposed",
        "extractor",
        None,
        "Person",
    )
    assert waits.category == "entity"
    with pytest.raises(TypeProposedError, match="node type Pet is a proposal that waits") as refused:
        await make(db, owner, "Person", "Pet")
    assert refused.value.details == {"row": 1}
    assert [t.name for t in (await ontology(db, owner, status="proposed")).node_types] == ["Pet"]
    now = await approve(db, owner, "node", "Pet", by="user")
    assert (now.status, now.decided_by) == ("approved", "user")
    assert await approve(db, owner, "node", "Pet", by="another") == now
    assert len(await make(db, owner, "Pet")) == 1
    assert isinstance(found := (await own(db, owner))["Pet"], NodeType)
    assert found.nodes == 1
    assert (await ontology(db, owner, status="proposed")).node_types == []


async def test_edges_of_a_proposed_type_are_refused_too(db: Database, owner: Owner) -> None:
    ada, bob = await make(db, owner, "Person", "Person")
    teaches = Edge(from_node=ada, type="TEACHES", to_node=bob, fact="x")
    with pytest.raises(TypeUnknownError):
        await write(db, owner, [teaches], asserted_by=ME)
    await propose(db, owner, EdgeTypeIn(name="TEACHES", description="A teaches B."), by=ME)
    with pytest.raises(TypeProposedError):
        await write(db, owner, [teaches], asserted_by=ME)
    await reject(db, owner, "edge", "TEACHES", by="user")
    with pytest.raises(TypeUnknownError):
        await write(db, owner, [teaches], asserted_by=ME)
    await approve(db, owner, "edge", "TEACHES", by="user")
    assert (await write(db, owner, [teaches], asserted_by=ME)).results[0].outcome == "written"


async def test_a_type_refines_its_parent_in_ends_and_category(db: Database, owner: Owner) -> None:
    found = await propose(db, owner, EdgeTypeIn(name="MARRIED_TO", description="x", parent="FAMILY_OF"), by=ME)
    assert isinstance(found, EdgeType)
    assert (found.from_types, found.to_types, found.category) == (["Person"], ["Person"], "social")
    wider = EdgeTypeIn(name="HOUSED_WITH", description="x", parent="FAMILY_OF", to_types=[], category="place")
    found = await propose(db, owner, wider, by=ME)
    assert isinstance(found, EdgeType)
    assert (found.from_types, found.to_types, found.category) == (["Person"], [], "place")


async def test_what_refines_a_type_is_accepted_where_that_is(db: Database, owner: Owner) -> None:
    await add(db, owner, PET, NodeTypeIn(name="Robot", description="x", parent="Object"), FEEDS)
    ada, pet, robot, berlin = await make(db, owner, "Person", "Pet", "Robot", "Place")
    good = [
        Edge(from_node=pet, type="LIVES_IN", to_node=berlin, fact="Bello lives in Berlin."),
        Edge(from_node=ada, type="FEEDS", to_node=pet, fact="Ada feeds Bello."),
        Edge(from_node=pet, type="FEEDS", to_node=pet, fact="Bello feeds himself."),
    ]
    await write(db, owner, good, asserted_by=ME)
    for start, type_, end in ((robot, "LIVES_IN", berlin), (ada, "FEEDS", ada), (ada, "LIVES_IN", pet)):
        with pytest.raises(EndpointForbiddenError):
            await write(db, owner, [Edge(from_node=start, type=type_, to_node=end, fact="x")], asserted_by=ME)
    [paris] = await make(db, owner, "Place")
    moved = Edge(from_node=pet, type="LIVES_IN", to_node=paris, fact="x", valid_from=day(9))
    await write(db, owner, [moved], asserted_by=ME)
    homes = await read.facts(db, owner, [pet], types=["LIVES_IN"], as_of=day(1))
    assert [fact.to_node for fact in homes] == [berlin]


async def test_own_functional_types_have_one_value_and_a_history(db: Database, owner: Owner) -> None:
    await add(db, owner, PET, KEEPS)
    pet, ada, bob = await make(db, owner, "Pet", "Person", "Person")
    first = Edge(from_node=pet, type="IS_KEPT_BY", to_node=ada, fact="by Ada", valid_from=day(0))
    second = Edge(from_node=pet, type="IS_KEPT_BY", to_node=bob, fact="by Bob", valid_from=day(5))
    before = await write(db, owner, [first], asserted_by=ME)
    change = await write(db, owner, [second], asserted_by=ME)

    async def keeper(**at: datetime) -> list[str]:
        return [fact.fact for fact in await read.facts(db, owner, [pet], **at)]  # type: ignore[arg-type]

    assert await keeper() == ["by Bob"]
    assert await keeper(as_of=day(2)) == ["by Ada"]
    assert await keeper(as_of=day(7), known_at=before.recorded_at) == ["by Ada"]
    await undo(db, owner, change.change_id, asserted_by=ME)
    assert await keeper() == ["by Ada"]


async def test_what_has_a_deprecated_type_keeps_it(db: Database, owner: Owner) -> None:
    """Nothing new gets it; corrections, remainders and what is put back do."""
    await add(db, owner, PET, KEEPS)
    pet, ada, bob = await make(db, owner, "Pet", "Person", "Person")
    kept = Edge(from_node=pet, type="IS_KEPT_BY", to_node=ada, fact="by Ada")
    change = await write(db, owner, [kept], asserted_by=ME)
    await deprecate(db, owner, "edge", "IS_KEPT_BY", by="user")
    await deprecate(db, owner, "node", "Pet", by="user")

    for new in (
        Node(type="Pet", label="Rex"),
        Node(type="Pet", label="Bello", node=pet),
        Edge(from_node=pet, type="IS_KEPT_BY", to_node=bob, fact="by Bob"),
    ):
        with pytest.raises(TypeDeprecatedError, match="is deprecated"):
            await write(db, owner, [new], asserted_by=ME)
    person = (await read.node_states(db, owner, [ada]))[0].version_id
    with pytest.raises(TypeDeprecatedError):
        await write(db, owner, [Correct(version=person, content={"type": "Pet"})], asserted_by=ME)

    version = (await read.node_states(db, owner, [pet]))[0].version_id
    await write(db, owner, [Correct(version=version, content={"label": "Bello"})], asserted_by=ME)
    edge = change.results[0].edge_id
    assert edge is not None
    gap = Retract(thread=Thread(edge=edge), valid_from=day(0), valid_to=day(1))
    taken = await write(db, owner, [gap], asserted_by=ME)
    assert [fact.fact for fact in await read.facts(db, owner, [pet])] == ["by Ada"]
    assert await read.facts(db, owner, [pet], as_of=day(0)) == []
    await undo(db, owner, taken.change_id, asserted_by=ME)
    assert [fact.fact for fact in await read.facts(db, owner, [pet], as_of=day(0))] == ["by Ada"]
    assert [(s.type, s.label) for s in await read.node_states(db, owner, [pet])] == [("Pet", "Bello")]
    [berlin] = await make(db, owner, "Place")
    lives = Edge(from_node=pet, type="LIVES_IN", to_node=berlin, fact="x")
    await write(db, owner, [lives], asserted_by=ME)

    await approve(db, owner, "edge", "IS_KEPT_BY", by="user")
    await write(db, owner, [Edge(from_node=pet, type="IS_KEPT_BY", to_node=bob, fact="by Bob")], asserted_by=ME)


async def test_a_type_that_was_approved_is_not_deleted_and_a_proposal_is(db: Database, owner: Owner) -> None:
    await propose(db, owner, PET, by=ME)
    await withdraw(db, owner, "node", "Pet")
    assert await own(db, owner) == {}
    await propose(db, owner, PET, by=ME)
    await reject(db, owner, "node", "Pet", by=ME)
    with pytest.raises(AlreadyExistsError, match="Pet: rejected"):
        await propose(db, owner, PET, by="extractor")
    await withdraw(db, owner, "node", "Pet")
    await add(db, owner, PET)
    for step in (lambda: withdraw(db, owner, "node", "Pet"), lambda: reject(db, owner, "node", "Pet", by=ME)):
        with pytest.raises(TypeStateError, match="Pet is approved"):
            await step()
    await deprecate(db, owner, "node", "Pet", by=ME)
    with pytest.raises(TypeStateError, match="Pet is deprecated"):
        await withdraw(db, owner, "node", "Pet")


async def test_the_core_and_what_is_not_there_cannot_be_changed(db: Database, owner: Owner) -> None:
    steps: tuple[Callable[[Kind, str], Awaitable[object]], ...] = (
        lambda kind, name: approve(db, owner, kind, name, by=ME),
        lambda kind, name: reject(db, owner, kind, name, by=ME),
        lambda kind, name: deprecate(db, owner, kind, name, by=ME),
        lambda kind, name: withdraw(db, owner, kind, name),
    )
    for step in steps:
        for kind, core in (("node", "Person"), ("edge", "LIVES_IN")):
            with pytest.raises(TypeStateError, match="is a core type"):
                await step(kind, core)  # type: ignore[arg-type]
        for unknown in ("Nothing", "NOTHING", "'; --", "\0"):
            with pytest.raises(NotFoundError):
                await step("node", unknown)
    with pytest.raises(NotFoundError):
        await describe(db, owner, "node", "Person", "Mine now.")


async def test_the_description_can_change_and_nothing_else(db: Database, owner: Owner, logins: Logins) -> None:
    await add(db, owner, PET, KEEPS)
    assert (await describe(db, owner, "node", "Pet", "Whatever purrs.")).description == "Whatever purrs."
    assert (await describe(db, owner, "edge", "IS_KEPT_BY", "A's keeper is B.")).description == "A's keeper is B."
    with pytest.raises(InvalidRequestError):
        await describe(db, owner, "node", "Pet", "  ")
    for change in ("edge_types SET functional = false", "node_types SET parent = NULL", "node_types SET name = 'X'"):
        with (
            logins.enter(APP, db.signer.token(owner.user_id)) as connection,
            pytest.raises(errors.InsufficientPrivilege),
        ):
            connection.execute(f"UPDATE memsvc.{change}".encode())


# Bad input ----------------------------------------------------------------------------------------------------------

BAD_NAMES = (
    "", " ", "pet", "Pet Shop", "Pet;DROP TABLE memsvc.nodes", "<script>alert(1)</script>", "Tier_", "Pet\n", "Pét",
    "1Pet", "A" * 61, "Pet'", "\ud800", "Pet\0",
)  # fmt: skip


@pytest.mark.parametrize("name", BAD_NAMES)
async def test_names_that_cannot_be_are_refused(db: Database, owner: Owner, name: str) -> None:
    with pytest.raises(InvalidRequestError):
        await propose(db, owner, NodeTypeIn(name=name, description="x"), by=ME)
    with pytest.raises(InvalidRequestError):
        await propose(db, owner, EdgeTypeIn(name=name.lower() or name, description="x"), by=ME)
    with pytest.raises(InvalidRequestError):
        await propose(db, owner, EdgeTypeIn(name="TEACHES", description="x", to_types=[name]), by=ME)
    with pytest.raises(InvalidRequestError):
        await propose(db, owner, NodeTypeIn(name="Pet", description="x", parent=name), by=ME)
    with pytest.raises(MemsvcError):  # also where such a name is used without being proposed
        await make(db, owner, name)
    assert await own(db, owner) == {}


BAD_PROPOSALS: tuple[tuple[NodeTypeIn | EdgeTypeIn, type[MemsvcError]], ...] = (
    (NodeTypeIn(name="Person", description="x"), AlreadyExistsError),
    (NodeTypeIn(name="PERSON", description="x"), AlreadyExistsError),
    (EdgeTypeIn(name="LIVES_IN", description="x"), AlreadyExistsError),
    (NodeTypeIn(name="Pet", description=" "), InvalidRequestError),
    (NodeTypeIn(name="Pet", description="x" * 2_001), InvalidRequestError),
    (NodeTypeIn(name="Pet", description="x\0"), InvalidTextError),
    (NodeTypeIn(name="Pet", description="x", reason="\ud800"), InvalidTextError),
    (NodeTypeIn(name="Pet", description="x", category="animal"), InvalidRequestError),
    (NodeTypeIn(name="Pet", description="x", parent="Animal"), TypeUnknownError),
    (NodeTypeIn(name="Pet", description="x", parent="Pet"), TypeUnknownError),
    (EdgeTypeIn(name="FEEDS", description="x", parent="NOTHING"), TypeUnknownError),
    (EdgeTypeIn(name="FEEDS", description="x", to_types=["Animal"]), TypeUnknownError),
    (EdgeTypeIn(name="FEEDS", description="x", to_types=["Person"] * 51), InvalidRequestError),
)


@pytest.mark.parametrize(("proposal", "error"), BAD_PROPOSALS)
async def test_proposals_that_cannot_be_are_refused(
    db: Database, owner: Owner, proposal: NodeTypeIn | EdgeTypeIn, error: type[MemsvcError]
) -> None:
    for approved in (False, True):
        with pytest.raises(error):
            await propose(db, owner, proposal, by=ME, approve=approved)
    assert await own(db, owner) == {}


async def test_names_that_differ_by_case_are_one(db: Database, owner: Owner) -> None:
    await propose(db, owner, NodeTypeIn(name="SchoolClass", description="x"), by=ME)
    with pytest.raises(AlreadyExistsError, match="SchoolClass: proposed"):
        await propose(db, owner, NodeTypeIn(name="Schoolclass", description="x"), by=ME)


async def test_words_that_look_like_code_are_words(db: Database, owner: Owner) -> None:
    words = "<b>'; DROP TABLE memsvc.node_types; -- $1 :user_id %s {}"
    found = await propose(db, owner, NodeTypeIn(name="Pet", description=words, reason=words), by=words)
    assert (found.description, found.reason, found.proposed_by) == (words, words, words)


async def test_an_edge_type_is_not_approved_before_its_ends(db: Database, owner: Owner) -> None:
    await propose(db, owner, PET, by=ME)
    await propose(db, owner, FEEDS, by=ME)
    with pytest.raises(TypeStateError, match="FEEDS joins nodes of type Pet, which is not approved"):
        await approve(db, owner, "edge", "FEEDS", by=ME)
    with pytest.raises(TypeStateError):
        await propose(db, owner, KEEPS, by=ME, approve=True)
    assert set(await own(db, owner)) == {"Pet", "FEEDS"}
    await approve(db, owner, "node", "Pet", by=ME)
    assert (await approve(db, owner, "edge", "FEEDS", by=ME)).status == "approved"
    await reject_refused(db, owner)


async def reject_refused(db: Database, owner: Owner) -> None:
    await propose(db, owner, NodeTypeIn(name="Plant", description="x"), by=ME)
    await reject(db, owner, "node", "Plant", by=ME)
    with pytest.raises(TypeUnknownError):
        await propose(db, owner, EdgeTypeIn(name="WATERS", description="x", to_types=["Plant"]), by=ME)


# Others -------------------------------------------------------------------------------------------------------------


async def test_types_of_others_are_invisible_and_unusable(db: Database, owner: Owner, other: Owner) -> None:
    await add(db, owner, PET, FEEDS)
    assert await own(db, other) == {}
    ada, bob = await make(db, other, "Person", "Person")
    with pytest.raises(TypeUnknownError):
        await make(db, other, "Pet")
    with pytest.raises(TypeUnknownError):
        await write(db, other, [Edge(from_node=ada, type="FEEDS", to_node=bob, fact="x")], asserted_by=ME)
    for step in (
        lambda: deprecate(db, other, "node", "Pet", by=ME),
        lambda: withdraw(db, other, "edge", "FEEDS"),
        lambda: describe(db, other, "node", "Pet", "x"),
        lambda: propose(db, other, EdgeTypeIn(name="WALKS", description="x", to_types=["Pet"]), by=ME),
    ):
        with pytest.raises((NotFoundError, TypeUnknownError)):
            await step()
    assert {name: t.status for name, t in (await own(db, owner)).items()} == {"Pet": "approved", "FEEDS": "approved"}


async def test_the_same_name_may_mean_another_thing_to_another_user(
    db: Database, owner: Owner, other: Owner, admin: psycopg.Connection
) -> None:
    """Also to a role that sees all types: an administrator writes history for one of them."""
    await add(db, owner, EdgeTypeIn(name="DRIVES", description="A drives B.", functional=True))
    await add(db, other, EdgeTypeIn(name="DRIVES", description="A moves B.", from_types=["Object"]))
    ada, first, second = await make(db, owner, "Person", "Object", "Object")
    for car in (first, second):
        await write(db, owner, [Edge(from_node=ada, type="DRIVES", to_node=car, fact="x")], asserted_by=ME)
    assert [fact.to_node for fact in await read.facts(db, owner, [ada])] == [second]
    call = (
        "SELECT count(*) FROM memsvc.write_history(%s, 'x', jsonb_build_array(jsonb_build_object('position', 0, "
        "'op', 'edge', 'from_node', %s::uuid, 'type', 'DRIVES', 'to_node', %s::uuid, 'fact', 'y')))"
    )
    assert value(admin, call, [owner.user_id, ada, first]) == 1
    assert [fact.to_node for fact in await read.facts(db, owner, [ada])] == [first]


# The database by itself ---------------------------------------------------------------------------------------------


async def test_types_are_checked_below_the_functions_too(
    db: Database, owner: Owner, other: Owner, logins: Logins
) -> None:
    await add(db, other, PET, FEEDS)
    await propose(db, owner, NodeTypeIn(name="Plant", description="x"), by=ME)
    [node] = await make(db, owner, "Person")
    for type_ in ("Pet", "Plant", "Nothing"):
        with logins.enter(APP, db.signer.token(owner.user_id)) as connection, pytest.raises(errors.ForeignKeyViolation):
            connection.execute(
                "INSERT INTO memsvc.node_versions (user_id, node_id, type, label, valid_from, valid_to, recorded_from, "
                "recorded_to) VALUES (%s, %s, %s, 'x', '1990-01-01', '1991-01-01', '2000-01-01', '2000-01-02')",
                [owner.user_id, node, type_],
            )
    with logins.enter(APP, db.signer.token(owner.user_id)) as connection, pytest.raises(errors.ForeignKeyViolation):
        connection.execute(
            "INSERT INTO memsvc.edges (user_id, from_node, type, to_node) VALUES (%s, %s, 'FEEDS', %s)",
            [owner.user_id, node, node],
        )


async def test_no_user_has_a_type_that_the_core_has(db: Database, owner: Owner, admin: psycopg.Connection) -> None:
    """Where a new version of memsvc adds to the core what users have, the core's takes over."""
    mine, stays = (NodeTypeIn(name=name, description="Mine.") for name in ("Vehicle", "Vessel"))
    await add(db, owner, mine, stays)
    [node] = await make(db, owner, "Vehicle")
    with admin.transaction(force_rollback=True):
        admin.execute("SET LOCAL ROLE memsvc_owner")  # as a migration does it
        admin.execute("ALTER TABLE memsvc.node_types NO FORCE ROW LEVEL SECURITY")
        admin.execute(
            "INSERT INTO memsvc.node_types (name, category, description) VALUES ('Vehicle', 'entity', 'Ours.')"
        )
        admin.execute("RESET ROLE")
        kept = "SELECT array_agg(name ORDER BY name) FROM memsvc.node_types WHERE user_id = %s"
        assert value(admin, kept, [owner.user_id]) == ["Vessel"]
        again = (
            "INSERT INTO memsvc.node_types (user_id, name, category, description, status, proposed_by, proposed_at) "
            "VALUES (%s, 'VEHICLE', 'entity', 'x', 'proposed', 'x', now())"
        )
        with pytest.raises(psycopg.DatabaseError, match="The core ontology has the type Vehicle"), admin.transaction():
            admin.execute(again, [owner.user_id])
    assert [s.type for s in await read.node_states(db, owner, [node])] == ["Vehicle"]


async def test_nobody_writes_to_the_core(owner: Owner, db: Database, logins: Logins) -> None:
    token = db.signer.token(owner.user_id)
    insert = "INSERT INTO memsvc.node_types (name, category, description) VALUES ('Mine', 'entity', 'x')"
    with logins.enter(APP, token) as connection, pytest.raises(errors.InsufficientPrivilege):
        connection.execute(insert.encode())
    for change in ("UPDATE memsvc.node_types SET description = 'x'", "DELETE FROM memsvc.edge_types"):
        with logins.enter(APP, token) as connection:
            assert connection.execute(change.encode()).rowcount == 0
