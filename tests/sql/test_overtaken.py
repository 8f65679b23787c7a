"""What became of what messages say: the remark behind a quote whose facts are no longer true."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.identity import Signer
from memsvc.graph import operations as ops
from memsvc.graph.describe import describe_edge
from memsvc.graph.history import write
from memsvc.identity.splitting import split
from memsvc.recall import salient as salience
from memsvc.recall.context import ContextOptions, build_context
from memsvc.recall.options import Filters
from memsvc.recall.results import Memory
from memsvc.recall.salient import random_memory, top_of_mind
from memsvc.recall.search import recall
from memsvc.settings import Settings
from memsvc.sources.messages import MessageIn, append
from memsvc.sources.opening import open_memory
from tests.sql.bulk import fill
from tests.sql.conftest import Scratch
from tests.sql.world import value

SAID = datetime(2026, 3, 2, 12, tzinfo=UTC)
MOVED, LATER = SAID + timedelta(days=30), SAID + timedelta(days=60)
LYON, GRAZ, TEA = "Kim lives in Lyon.", "Kim lives in Graz.", "Kim likes tea."


class Kim:
    """What was said of Kim, in one message, and what was learnt of it."""

    def __init__(self, db: Database, owner: Owner) -> None:
        self.db, self.owner = db, owner
        self.nodes: dict[str, UUID] = {}
        self.passage: UUID | None = None
        self.edges: dict[str, UUID] = {}

    async def begin(self, settings: Settings, text: str) -> None:
        """The message and the nodes."""
        said = MessageIn(conversation="talk", text=text, said_at=SAID.isoformat())
        [stored] = await append(self.db, self.owner, [said], settings)
        self.passage = stored.passage_id
        made = await self.write(
            ops.Node(type="Person", label="Kim"),
            *(ops.Node(type="Place", label=place) for place in ("Lyon", "Graz")),
            ops.Node(type="Concept", label="tea"),
        )
        self.nodes = dict(zip(("Kim", "Lyon", "Graz", "tea"), [row.node_id for row in made.results], strict=True))

    async def write(self, *operations: ops.Operation) -> Any:
        """One change."""
        return await write(self.db, self.owner, list(operations), asserted_by="tests")

    async def learn(self, fact: str, *, said: bool = True, **times: Any) -> datetime:
        """A fact, by the message or by somebody else; when it was recorded."""
        verb, other = fact.rstrip(".").split()[1], fact.rstrip(".").split()[-1]
        made = await self.write(
            ops.Edge(
                from_node=self.nodes["Kim"],
                type="LIVES_IN" if verb == "lives" else "LIKES",
                to_node=self.nodes[other],
                fact=fact,
                evidence=[ops.Evidence(passage_id=self.passage)] if said and self.passage else [],
                **times,
            )
        )
        self.edges[fact] = made.results[0].edge_id
        recorded: datetime = made.recorded_at
        return recorded

    async def feel(self, mood: str, **times: Any) -> UUID:
        """A feeling, by the message; its edge."""
        made = await self.write(ops.Node(type="Emotion", label=mood))
        edge = ops.Edge(
            from_node=self.nodes["Kim"], type="FEELS", to_node=made.results[0].node_id, fact=f"Kim feels {mood}.",
            evidence=[ops.Evidence(passage_id=self.passage)] if self.passage else [], **times,
        )  # fmt: skip
        found: UUID = (await self.write(edge)).results[0].edge_id
        return found


@pytest.fixture
async def kim(db: Database, owner: Owner, settings: Settings) -> Kim:
    """Lives in Lyon and likes tea."""
    told = Kim(db, owner)
    await told.begin(settings, "Kim lives in Lyon and drinks tea.")
    await told.learn(LYON, valid_from=SAID)
    return told


async def quote(kim: Kim, settings: Settings, **times: Any) -> Memory:
    """The message as it is recalled."""
    found = await recall(kim.db, kim.owner, "drinks tea", settings, filters=Filters(**times))
    [memory] = [memory for memory in found.memories if memory.kind == "message" and memory.conversation == "talk"]
    return memory


async def test_what_passes_by_itself_is_no_change(kim: Kim, settings: Settings) -> None:
    """A feeling of a day marks no quote; one of which the end was told later does, and so does another fact."""
    day = {"valid_from": SAID, "valid_to": SAID + timedelta(days=1)}
    felt = await kim.feel("pleased", **day)
    assert not (await quote(kim, settings)).stale
    assert (await quote(kim, settings)).remark == ""
    await kim.learn(GRAZ, said=False, valid_from=MOVED)
    now = await quote(kim, settings)
    assert (now.stale, now.remark) == (True, "since then: Kim lives in Graz")
    lasting = await kim.feel("lonely", valid_from=SAID)
    await kim.write(ops.Close(thread=ops.Thread(edge=lasting), at=MOVED))
    assert "no longer true: Kim feels lonely" in (await quote(kim, settings)).remark
    assert felt != lasting


async def test_a_quote_says_what_is_true_since_then(kim: Kim, settings: Settings) -> None:
    before = await quote(kim, settings)
    assert not before.stale
    recorded = await kim.learn(GRAZ, said=False, valid_from=MOVED)
    now = await quote(kim, settings)
    assert (now.stale, now.why, now.remark) == (True, before.why, "since then: Kim lives in Graz")
    assert (await quote(kim, settings, as_of=LATER)).remark == now.remark
    for times in ({"as_of": MOVED - timedelta(days=1)}, {"known_at": recorded - timedelta(microseconds=1)}):
        then = await quote(kim, settings, **times)
        assert (then.memory_id, then.stale, then.remark) == (before.memory_id, False, ""), times
    for found in (
        [one for one in await top_of_mind(kim.db, kim.owner, limit=9) if one.kind == "message"],
        [await random_memory(kim.db, kim.owner, seed=1)],
    ):
        [memory] = found
        assert memory is not None
        assert memory.stale
        assert memory.remark == "since then: Kim lives in Graz"


async def test_in_a_context_what_nobody_asked_for_says_so_too(kim: Kim, settings: Settings) -> None:
    await kim.learn(GRAZ, said=False, valid_from=MOVED)
    for options, why in (({"chance": False}, "salient"), ({"salient": 0, "seed": 1}, "a chance find")):
        chosen = ContextOptions(**options)
        found = await build_context(kim.db, kim.owner, "heron", settings, options=chosen, salient=salience)
        assert "; since then: Kim lives in Graz: “" in found.text
        assert {item.why for part in found.sections for item in part.items} == {why}


async def test_a_long_fact_is_cut(kim: Kim, settings: Settings) -> None:
    """A reason is one line, also where facts are as long as they may be."""
    await kim.learn(f"Kim lives {'near the river ' * 500} in Graz.", said=False, valid_from=MOVED)
    remark = (await quote(kim, settings)).remark
    assert remark.startswith("since then: Kim lives near the river")
    assert (len(remark), remark[-1]) == (201, "…")


async def test_what_is_left_of_a_message_keeps_it_current(kim: Kim, settings: Settings) -> None:
    await kim.learn(TEA)
    await kim.learn(GRAZ, said=False, valid_from=MOVED)
    part = await quote(kim, settings)
    assert (part.stale, part.remark) == (False, "since then: Kim lives in Graz")
    await kim.write(ops.Close(thread=ops.Thread(edge=kim.edges[TEA]), at=LATER))
    whole = await quote(kim, settings)
    assert (whole.stale, whole.remark) == (
        True, "no longer true: Kim likes tea; since then: Kim lives in Graz",
    )  # fmt: skip


async def test_what_never_was_so_is_no_longer_true_either(kim: Kim, settings: Settings) -> None:
    """A value that replaces all of the old one's span, and one that is taken back."""
    await kim.learn(GRAZ, said=False, valid_from=SAID - timedelta(days=9))
    assert (await quote(kim, settings)).remark == "since then: Kim lives in Graz"
    await kim.write(ops.Retract(thread=ops.Thread(edge=kim.edges[GRAZ])))
    assert (await quote(kim, settings)).remark == "no longer true: Kim lives in Lyon"


async def test_what_a_split_gave_to_another_node_is_told_of_that_one(kim: Kim, settings: Settings) -> None:
    """The first node's value is not what became of the second's, and what moved with its words has not ended."""
    await kim.learn(TEA)
    [stored] = await append(kim.db, kim.owner, [MessageIn(conversation="elsewhere", text="Kim moved.")], settings)
    talk, kim.passage = kim.passage, stored.passage_id
    await kim.learn(GRAZ, valid_from=MOVED)
    assert (await quote(kim, settings)).remark == "since then: Kim lives in Graz"
    tea = await describe_edge(kim.db, kim.owner, kim.edges[TEA])
    await kim.write(ops.Correct(version=tea.versions[0].version_id, content={"fact": "Kim drinks tea."}, refines=True))
    opened = await open_memory(kim.db, kim.owner, str(talk))
    assert opened.source is not None
    await split(kim.db, kim.owner, kim.nodes["Kim"], [opened.source.source_id])
    found = await quote(kim, settings)
    assert (found.stale, found.why, found.remark) == (
        False, "tells of tea; says “drinks”, “tea”", "no longer true: Kim lives in Lyon",
    )  # fmt: skip


async def test_what_is_true_again_or_was_over_when_it_was_said_is_left_alone(kim: Kim, settings: Settings) -> None:
    await kim.learn(GRAZ, said=False, valid_from=MOVED, valid_to=LATER)
    await kim.learn(LYON, said=False, valid_from=LATER)
    await kim.learn(TEA, valid_from=SAID - timedelta(days=900), valid_to=SAID - timedelta(days=90))
    assert unmarked(await quote(kim, settings))
    assert not unmarked(await quote(kim, settings, as_of=MOVED))


async def test_what_is_still_to_come_has_not_ended(kim: Kim, settings: Settings) -> None:
    await kim.learn(GRAZ, said=False, valid_from=datetime.now(UTC) + timedelta(days=9))
    await kim.learn(TEA, valid_from=datetime.now(UTC) + timedelta(days=9))
    assert unmarked(await quote(kim, settings))


def unmarked(memory: Memory) -> bool:
    """Nothing says that it is out of date."""
    return not memory.stale and not memory.remark


def test_nobody_elses_is_told(kim: Kim, other: Owner, admin: psycopg.Connection) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        value(admin, "SELECT count(*) FROM memsvc.overtaken(%s, ARRAY[%s])", [other.user_id, kim.passage])


VALUES = 1_000
OVER = """
WITH message AS (
  SELECT p.passage_id, p.ordinal AS n, uuidv7() AS edge_id, uuidv7() AS learnt, uuidv7() AS closed
  FROM memsvc.passages AS p WHERE p.user_id = %(user)s
),
version AS (
  INSERT INTO memsvc.edge_versions (user_id, version_id, edge_id, from_node, type, to_node, functional, fact,
    asserted_by, valid_from, valid_to, recorded_from, recorded_to)
  SELECT %(user)s, v.version_id, m.edge_id, %(user)s, 'LIVES_IN', %(user)s, true, 'Kim lives in ' || m.n, 'test',
    timestamptz '2026-02-01Z' + m.n * interval '1 min', v.valid_to, v.recorded_from, v.recorded_to
  FROM message AS m CROSS JOIN LATERAL (
    SELECT timestamptz '2026-03-01Z' + m.n * interval '1 min' AS learnt
  ) AS l CROSS JOIN LATERAL (VALUES
    (m.learnt, timestamptz 'infinity', l.learnt, l.learnt + interval '1 min'),
    (m.closed, timestamptz '2026-02-01Z' + (m.n + 1) * interval '1 min', l.learnt + interval '1 min', 'infinity')
  ) AS v (version_id, valid_to, recorded_from, recorded_to)
)
INSERT INTO memsvc.source_links (user_id, passage_id, edge_version_id, asserted_by, recorded_from)
SELECT %(user)s, m.passage_id, m.learnt, 'test', timestamptz '2026-03-01Z' FROM message AS m
"""


@pytest.mark.slow
@pytest.mark.server
def test_what_a_value_was_before_is_read_once_for_all_messages(scratch: Scratch, settings: Settings) -> None:
    """Of each of a thousand values one message tells; what is true is looked up as known once."""
    signer = Signer(settings.secret("identity_secret").encode(), 3600)
    with psycopg.connect(scratch("overtaken"), autocommit=True) as admin:
        user = value(admin, "SELECT memsvc.create_user(memsvc.ensure_app('plans'), 'kim', 'Kim', 'UTC', 'english')")
        fill(admin, user, VALUES)
        admin.execute("SET session_replication_role = replica")
        admin.execute(OVER.encode(), {"user": user})
        admin.execute("VACUUM ANALYZE")
        admin.execute("SELECT set_config('memsvc.identity', %s, false)", [signer.token(user)])
        read = []
        for messages in (100, 500):
            ask = (
                "FROM memsvc.overtaken(%(user)s, ARRAY(SELECT passage_id FROM memsvc.passages "
                "WHERE user_id = %(user)s AND ordinal < %(messages)s), NULL, '2026-03-01 10:00Z')"
            )
            values = {"user": user, "messages": messages}
            for _ in range(2):
                plan = value(admin, f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT passage_id {ask}", values)
            read.append(plan[0]["Plan"]["Shared Hit Blocks"])
            said = admin.execute(f"SELECT DISTINCT remark {ask}".encode(), values).fetchall()
            assert said == [("since then: Kim lives in 600",)]
    assert read[1] < 10 * 500, read
