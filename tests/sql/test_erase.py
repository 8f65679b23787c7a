"""Erasing: what goes, what stays, what may come back."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.erasing.memories import Kind, erase, erasure, erasures, preview
from memsvc.errors import (
    FactUnknownError,
    InvalidRequestError,
    MemsvcError,
    NodeUnknownError,
    NotFoundError,
    PassageUnknownError,
)
from memsvc.graph import operations as ops
from memsvc.graph.history import Change, undo
from memsvc.graph.read import facts
from memsvc.queue.execution import run_due
from memsvc.queue.jobs import list_jobs
from memsvc.settings import Settings
from memsvc.sources.messages import MessageIn, append
from memsvc.sources.read import list_conversations, list_messages
from memsvc.text.fence import fenced
from tests.conftest import remembered
from tests.recalled import WORDS_ALONE
from tests.sql.forgetting import by, found, knows, learn, say, two_people
from tests.sql.world import value

KINDS: tuple[Kind, ...] = ("message", "passage", "source", "fact", "node")


# What goes and what stays --------------------------------------------------------------------------------------------


async def test_what_only_a_message_supported_goes_with_it_and_the_rest_stays(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    first, second = await say(db, owner, settings, "Ida is a heron.", "Bea knows Ida.")
    change = await learn(
        db,
        owner,
        ops.Node(type="Person", label="Ida", evidence=by(first)),
        ops.Node(type="Person", label="Bea", evidence=by(first, second)),
        ops.Alias(node=1, alias="Beatrix", evidence=by(first)),
        knows(0, 1, "Ida knows Bea.", first),
        ops.Node(type="Person", label="by hand"),
    )
    bea = change.results[1].node_id
    assert bea
    foreseen = await preview(db, owner, "message", first)
    assert found(admin, owner, "passages") == 2
    receipt = await erase(db, owner, "message", first, requested_by="user")
    assert receipt.counts == foreseen
    assert {name: receipt.counts.get(name) for name in ("passages", "nodes", "edges", "evidence_reduced")} == {
        "passages": 1, "nodes": 1, "edges": 1, "evidence_reduced": 1,
    }  # fmt: skip
    assert receipt.verified is True
    labels = admin.execute("SELECT label FROM memsvc.node_versions WHERE user_id = %s", [owner.user_id]).fetchall()
    assert {row[0] for row in labels} == {"Ada", "Bea", "by hand"}
    assert await facts(db, owner, [bea]) == []
    links = admin.execute("SELECT passage_id FROM memsvc.source_links WHERE user_id = %s", [owner.user_id]).fetchall()
    assert links == [(second,)]


async def test_all_parts_of_a_message_go_but_of_a_passage_only_itself(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    long = " ".join(f"sentence {n} of the heron." for n in range(1500))
    for kind, left in (("message", 0), ("passage", 1)):
        await say(db, owner, settings, long, conversation=kind)
        parts = admin.execute(
            "SELECT p.passage_id FROM memsvc.passages AS p INNER JOIN memsvc.sources AS s USING (user_id, source_id) "
            "WHERE s.user_id = %s AND s.identifier = %s ORDER BY p.part",
            [owner.user_id, kind],
        ).fetchall()
        assert len(parts) > 2
        chosen: Kind = "message" if kind == "message" else "passage"
        receipt = await erase(db, owner, chosen, parts[0][0], requested_by="user")
        assert receipt.counts["passages"] == (len(parts) if kind == "message" else 1)
        page = await list_messages(db, owner, kind)
        assert len(page.items) == left
        if left:
            assert page.items[0].parts == len(parts) - 1
            assert page.items[0].text in long
        [again] = await append(db, owner, [MessageIn(conversation=kind, text=long, id="m0")], settings)
        assert again.outcome == "erased"


async def test_words_of_erased_messages_count_as_if_they_had_never_been_said(
    db: Database, owner: Owner, other: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    kept = ["The heron stood in the water.", "An otter swam to the mill.", "Herons, herons and the mill."]
    gone = ["A heron with a secret umbrella.", f"The water was cold.\n{fenced('* An umbrella, a heron.')}\nIt rained."]
    await say(db, owner, settings, kept[0], gone[0], kept[1])
    await run_due(db)  # some counts are folded, some are not
    passages = await say(db, owner, settings, gone[1], kept[2], start=3)
    first = value(admin, "SELECT passage_id FROM memsvc.passages WHERE text = %s AND user_id = %s",
                  [gone[0], owner.user_id])  # fmt: skip
    for passage in (first, passages[0]):
        await erase(db, owner, "message", passage, requested_by="user")
    await say(db, other, settings, *kept)
    await run_due(db)
    for table, columns in (("terms", "kind, form, term, passages"), ("corpora", "kind, form, passages, length")):
        statement = f"SELECT {columns} FROM memsvc.{table} WHERE user_id = %s ORDER BY {columns}".encode()
        assert (
            admin.execute(statement, [owner.user_id]).fetchall() == admin.execute(statement, [other.user_id]).fetchall()
        )
    for question in ("heron", "water of the mill", "umbrella"):
        scores = [
            {
                memory.text: memory.score
                for memory in await remembered(db, person, question, settings, weights=WORDS_ALONE)
            }
            for person in (owner, other)
        ]
        assert scores[0] == pytest.approx(scores[1], rel=1e-9)  # the order in which a sum is made is nobody's promise


async def test_by_hand_and_by_others_stays(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    first, second = await say(db, owner, settings, "one", "two")
    ida, bea = await two_people(db, owner)
    await learn(db, owner, knows(ida, bea, "by hand"), knows(bea, ida, "by two", first, second))
    await learn(db, owner, knows(ida, bea, "by hand"))
    await erase(db, owner, "source", value(admin, "SELECT source_id FROM memsvc.passages WHERE passage_id = %s",
                                           [first]), requested_by="user")  # fmt: skip
    assert {fact.fact for fact in await facts(db, owner, [ida])} == {"by hand"}
    assert found(admin, owner, "sources") == 0


async def test_a_correction_without_evidence_goes_with_the_passage_that_it_corrects(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    first, second = await say(db, owner, settings, "the secret", "the truth")
    ida, bea = await two_people(db, owner)
    change = await learn(db, owner, knows(ida, bea, "quotes the secret", first))
    version = change.results[0].versions[0]
    change = await learn(db, owner, ops.Correct(version=version, content={"fact": "the secret, spelt right"}))
    await erase(db, owner, "message", first, requested_by="user")
    assert found(admin, owner, "edge_versions") == 0
    change = await learn(db, owner, knows(ida, bea, "quotes the truth", second))
    third = (await say(db, owner, settings, "a better truth", start=5))[0]
    await learn(
        db, owner,
        ops.Correct(version=change.results[0].versions[0], content={"fact": "better"}, evidence=by(third)),
    )  # fmt: skip
    await erase(db, owner, "message", second, requested_by="user")
    assert [fact.fact for fact in await facts(db, owner, [ida])] == ["better"]


async def test_what_was_superseded_stays_so_and_undo_brings_it_back(
    db: Database, owner: Owner, settings: Settings
) -> None:
    first, second = await say(db, owner, settings, "one", "two")
    ida, bea = await two_people(db, owner)
    await learn(db, owner, knows(ida, bea, "as first said", first))
    change = await learn(db, owner, knows(ida, bea, "as said later", second))
    await erase(db, owner, "message", second, requested_by="user")
    assert await facts(db, owner, [ida]) == []
    await undo(db, owner, change.change_id, asserted_by="tests")
    assert [fact.fact for fact in await facts(db, owner, [ida])] == ["as first said"]


async def test_a_merge_that_only_a_passage_supported_ends(db: Database, owner: Owner, settings: Settings) -> None:
    [first] = await say(db, owner, settings, "Bea is Ida.")
    ida, bea = await two_people(db, owner)
    await learn(db, owner, ops.Merge(node=bea, canonical=ida, reason="Bea is Ida.", evidence=by(first)))
    receipt = await erase(db, owner, "message", first, requested_by="user")
    assert receipt.counts["merges"] == 1
    assert "nodes" not in receipt.counts


async def test_a_node_goes_with_all_its_edges_but_not_with_those_that_are_merged_with_it(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    [first] = await say(db, owner, settings, "one")
    ida, bea = await two_people(db, owner)
    await learn(
        db, owner, knows(ida, bea, "out", first), knows(bea, ida, "in"), ops.Merge(node=bea, canonical=ida),
        ops.Alias(node=ida, alias="Idchen", evidence=by(first)),
    )  # fmt: skip
    foreseen = await preview(db, owner, "node", ida)
    receipt = await erase(db, owner, "node", ida, requested_by="user")
    assert receipt.counts == foreseen
    assert receipt.counts["nodes"] == 1
    assert receipt.verified is True
    left = admin.execute(
        "SELECT node_id FROM memsvc.nodes WHERE user_id = %s AND node_id IN (%s, %s)", [owner.user_id, ida, bea]
    ).fetchall()
    assert left == [(bea,)]
    assert found(admin, owner, "edges") == found(admin, owner, "merges") == found(admin, owner, "source_links") == 0
    assert found(admin, owner, "passages") == 1


async def test_a_source_with_a_message_of_many_parts_goes(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    long = " ".join(f"sentence {n} of the heron." for n in range(1500))
    [passage] = await say(db, owner, settings, long)
    assert found(admin, owner, "passages") > 2
    source = value(admin, "SELECT source_id FROM memsvc.passages WHERE passage_id = %s", [passage])
    receipt = await erase(db, owner, "source", source, requested_by="user")
    assert receipt.state == "done"
    assert found(admin, owner, "tombstones") == 1


# What may come back --------------------------------------------------------------------------------------------------


def outcomes(change: Change) -> list[str]:
    return [result.outcome for result in change.results]


async def test_an_erased_fact_comes_back_by_hand_or_by_newer_texts_alone(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    old, older = await say(db, owner, settings, "one", "two")
    ida, bea = await two_people(db, owner)
    change = await learn(db, owner, knows(ida, bea, "they met", old))
    assert change.results[0].edge_id
    await erase(db, owner, "fact", change.results[0].edge_id, requested_by="user")
    again = knows(ida, bea, "they met, a job reads again", old, older)
    assert outcomes(await learn(db, owner, again, knows(ida, bea, "another relation", old, key="k"))) == [
        "erased", "written",
    ]  # fmt: skip
    assert [fact.fact for fact in await facts(db, owner, [ida])] == ["another relation"]
    [new] = await say(db, owner, settings, "three", start=7)
    assert outcomes(await learn(db, owner, knows(ida, bea, "with news", old, new))) == ["written"]
    with pytest.raises(PassageUnknownError):
        await learn(db, owner, knows(ida, bea, "x", uuid4()))
    assert outcomes(await learn(db, owner, knows(ida, bea, "by hand"))) == ["written"]


@pytest.mark.parametrize("erased_first", [True, False])
async def test_an_erased_fact_is_the_same_between_nodes_that_are_merged(
    db: Database, owner: Owner, settings: Settings, *, erased_first: bool
) -> None:
    """Whichever of two was merged into the other, and whether before the fact was erased or after it."""
    [old] = await say(db, owner, settings, "Ida knows Bea.")
    ida, bea = await two_people(db, owner)
    change = await learn(
        db, owner, ops.Node(type="Person", label="Ida B."), ops.Node(type="Person", label="Beatrix"), ops.Node(
            type="Person", label="another"),
    )  # fmt: skip
    canonical, merged, another = (result.node_id for result in change.results)
    assert canonical
    assert merged
    assert another
    fact = (await learn(db, owner, knows(ida, bea, "Ida knows Bea.", old))).results[0].edge_id
    assert fact
    if erased_first:
        await erase(db, owner, "fact", fact, requested_by="user")
    await learn(db, owner, ops.Merge(node=ida, canonical=canonical), ops.Merge(node=merged, canonical=bea))
    if not erased_first:
        await erase(db, owner, "fact", fact, requested_by="user")
    ends = [(canonical, bea), (canonical, merged), (ida, merged), (another, bea), (bea, canonical)]
    assert outcomes(await learn(db, owner, *(knows(*pair, "Ida knows Bea.", old) for pair in ends))) == [
        "erased", "erased", "erased", "written", "erased",
    ]  # fmt: skip
    await learn(db, owner, ops.Unmerge(node=ida))
    assert outcomes(await learn(db, owner, *(knows(*pair, "They met.", old) for pair in ends[:3]))) == [
        "written", "written", "erased",
    ]  # fmt: skip


async def test_an_erased_fact_the_other_way_round_is_another_one_by_its_type_or_where_it_is_known(
    db: Database, owner: Owner, settings: Settings
) -> None:
    [old] = await say(db, owner, settings, "Ida knows and likes Bea.")
    ida, bea = await two_people(db, owner)
    likes = ops.Edge(from_node=ida, type="LIKES", to_node=bea, fact="Ida likes Bea.", evidence=by(old))
    known = [knows(ida, bea, "They met.", old), knows(bea, ida, "They met.", old)]
    change = await learn(db, owner, likes, *known)
    for result in change.results[:2]:
        assert result.edge_id
        await erase(db, owner, "fact", result.edge_id, requested_by="user")
    turned = ops.Edge(from_node=bea, type="LIKES", to_node=ida, fact="Bea likes Ida.", evidence=by(old))
    assert outcomes(await learn(db, owner, turned, *known)) == ["written", "erased", "known"]


async def test_an_erased_node_is_not_made_again_from_old_texts_nor_what_hangs_on_it(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    [old] = await say(db, owner, settings, "one")
    ida, bea = await two_people(db, owner)
    await learn(db, owner, ops.Alias(node=ida, alias="Idchen"))
    await erase(db, owner, "node", ida, requested_by="user")
    before = found(admin, owner, "nodes")
    change = await learn(
        db, owner,
        ops.Node(type="Person", label="IDA", evidence=by(old)),
        knows(0, bea, "hangs on it"),
        ops.Alias(node=0, alias="anything"),
        ops.Alias(node=bea, alias=" idchen ", evidence=by(old)),
        ops.Alias(node=bea, alias="Bee", evidence=by(old)),
    )  # fmt: skip
    assert outcomes(change) == ["erased", "erased", "erased", "erased", "written"]
    assert change.results[0].node_id is None
    assert found(admin, owner, "nodes") == before
    assert outcomes(await learn(db, owner, ops.Node(type="Person", label="Ida"), knows(0, bea, "new"))) == [
        "written", "written",
    ]  # fmt: skip


async def test_messages_of_an_erased_source_do_not_come_back_but_new_ones_do(
    db: Database, owner: Owner, settings: Settings
) -> None:
    await say(db, owner, settings, "one", "two")
    [conversation] = (await list_conversations(db, owner)).items
    await erase(db, owner, "source", conversation.conversation_id, requested_by="user")
    said = [MessageIn(conversation="pond", text=words, id=f"m{place}") for place, words in enumerate(("one", "2", "3"))]
    assert [message.outcome for message in await append(db, owner, said, settings)] == ["erased", "erased", "created"]
    assert (await list_jobs(db, owner.user_id, state="cancelled"))[0].subject_id == conversation.conversation_id


# Bad input -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def people(owner: Owner, other: Owner) -> tuple[Owner, Owner]:
    """Two users."""
    return owner, other


UNKNOWN: dict[Kind, type[MemsvcError]] = {
    "message": PassageUnknownError, "passage": PassageUnknownError, "source": NotFoundError,
    "fact": FactUnknownError, "node": NodeUnknownError,
}  # fmt: skip


@pytest.mark.parametrize("kind", UNKNOWN)
async def test_what_there_is_not_or_belongs_to_another_cannot_be_erased(
    kind: Kind, db: Database, people: tuple[Owner, Owner], settings: Settings, admin: psycopg.Connection
) -> None:
    error, (owner, other) = UNKNOWN[kind], people
    [passage] = await say(db, other, settings, "one")
    ida, bea = await two_people(db, other)
    change = await learn(db, other, knows(ida, bea, "theirs", passage))
    source = value(admin, "SELECT source_id FROM memsvc.passages WHERE passage_id = %s", [passage])
    edge = change.results[0].edge_id
    subjects: dict[Kind, UUID | None] = {
        "message": passage, "passage": passage, "source": source, "fact": edge, "node": ida,
    }  # fmt: skip
    subject = subjects[kind]
    assert subject
    for wanted in (subject, uuid4()):
        with pytest.raises(error):
            await erase(db, owner, kind, wanted, requested_by="user")
        with pytest.raises(error):
            await preview(db, owner, kind, wanted)
    assert found(admin, other, "passages") == found(admin, other, "edges") == 1
    await erase(db, other, kind, subject, requested_by="user")
    with pytest.raises(error):
        await erase(db, other, kind, subject, requested_by="user")


async def test_nonsense_is_refused(db: Database, owner: Owner) -> None:
    wrong: Any = "everything"
    with pytest.raises(InvalidRequestError):
        await erase(db, owner, wrong, uuid4(), requested_by="user")
    with pytest.raises(InvalidRequestError):
        await preview(db, owner, wrong, uuid4())
    for requested_by in ("", "x" * 201, "a\0b"):
        with pytest.raises(MemsvcError):
            await erase(db, owner, "node", uuid4(), requested_by=requested_by)
    with pytest.raises(InvalidRequestError):
        await erasures(db, owner, limit=0)
    with pytest.raises(NotFoundError):
        await erasure(db, owner, uuid4())
