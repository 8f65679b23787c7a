"""The small graph behind docs/sql.md: half a year of Nora's chats and what was learnt from them, change by change.

It is written through the ordinary doors. Recorded times are the database's clock, which nobody can set; so in the end
the administrator moves each change to the day on which the story has it. The last one is always of last week.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from uuid import UUID
from zoneinfo import ZoneInfo

from psycopg import sql

from memsvc.access.users import Owner, add_user
from memsvc.graph.history import write
from memsvc.graph.operations import Alias, Edge, Evidence, Merge, Node, Operation, Retract, Thread
from memsvc.graph.read import called as nodes_called
from memsvc.sources.messages import MessageIn, append

if TYPE_CHECKING:
    import psycopg

    from memsvc.db.engine import Database
    from memsvc.settings import Settings

ZONE = ZoneInfo("Europe/Lisbon")
# Id, conversation, when by Nora's clock, speaker, text.
MESSAGES = (
    ("m1", "bruno", "2025-01-10T21:15", "Bruno", "The flat in Alfama is ours since September. Lisbon suits me!"),
    ("m2", "bruno", "2025-01-10T21:17", "", "Then I know where to sleep when the trains stop again."),
    ("m3", "office", "2025-01-13T09:02", "Carla", "Greetings from Ghent, the canal is frozen over."),
    ("m4", "office", "2025-01-13T09:05", "Dmitri", "Lisbon has 17 degrees. I say no more."),
    ("m5", "office", "2025-01-13T09:06", "Carla", "You live in Lisbon to tell us that every morning, Dmitri."),
    ("m6", "bruno", "2025-01-14T23:40", "Bruno", "Still no furniture, but Lisbon at night makes up for it."),
    ("m7", "office", "2025-02-03T10:30", "Carla", "First day at Atelier Sol. They have a parrot."),
    ("m8", "sailing club", "2025-02-08T14:00", "Carla V.", "New here. Moved to Lisbon a week ago."),
    ("m9", "sailing club", "2025-02-08T14:10", "Dmitri", "Welcome! I cannot sail, I only make the coffee."),
    ("m10", "bruno", "2025-03-09T18:20", "Bruno", "Porto it is: since the first of March we are northerners."),
    ("m11", "office", "2025-03-20T11:45", "Carla", "No, I never was at the Atelier for good, I draw for Harbour Lab."),
    ("m12", "sailing club", "2025-04-01T19:00", "Carla V.", "By the way, Nora, it is me, Carla from the office."),
    ("m13", "sailing club", "2025-04-01T19:01", "", "The same Carla! Then the parrot was yours."),
    ("m14", "bruno", "2025-06-12T22:05", "", "That fado evening. I want to hear it again, all of it."),
)  # fmt: skip
NODES = {
    "Bruno": "Person", "Carla": "Person", "Carla V.": "Person", "Dmitri": "Person", "Lisbon": "Place",
    "Porto": "Place", "Ghent": "Place", "Atelier Sol": "Organization", "Harbour Lab": "Organization",
    "sailing": "Concept", "fado": "Concept",
}  # fmt: skip
RECORDED = ("node_versions", "aliases", "edge_versions", "merges", "source_links")
MOVE = sql.SQL("""
UPDATE memsvc.{} SET recorded_from = %s, recorded_to = coalesce(
  (SELECT m.becomes FROM unnest(%s::timestamptz[], %s::timestamptz[]) AS m (was, becomes) WHERE m.was = recorded_to),
  recorded_to
) WHERE user_id = %s AND recorded_from = %s
""")
# Days of the changes after the first one, which makes the nodes; the last one is not among them.
DAYS = ("2025-01-15", "2025-02-04", "2025-02-10", "2025-03-10", "2025-03-21", "2025-03-24", "2025-04-02")


def day(written: str) -> datetime:
    """Midnight of a day by Nora's clock."""
    return datetime.fromisoformat(written).replace(tzinfo=ZONE)


async def write_sample(
    db: Database, app: UUID, settings: Settings, admin: psycopg.Connection, *, external_id: str = "nora"
) -> Owner:
    """Make the user with her messages and facts."""
    owner = (await add_user(db, app, name="Nora", external_id=external_id, time_zone="Europe/Lisbon")).owner
    said = [
        MessageIn(id=key, conversation=talk, said_at=at, speaker=who, text=what)
        for key, talk, at, who, what in MESSAGES
    ]
    stored = await append(db, owner, said, settings)
    await _learn(db, owner, {MESSAGES[row.index][0]: row.passage_id for row in stored if row.passage_id})
    _date(admin, owner)
    return owner


async def _learn(db: Database, owner: Owner, said: Mapping[str, UUID]) -> None:
    """The changes: one for each of DAYS, and one more."""
    made = await write(
        db, owner, [Node(type=kind, label=label) for label, kind in NODES.items()]
        + [Alias(node=place, alias=label) for place, (label, kind) in enumerate(NODES.items()) if kind == "Person"],
        asserted_by="extract-1",
    )  # fmt: skip
    [nora] = [called.node_id for called in await nodes_called(db, owner, ["Nora"])]
    node = {"Nora": nora} | {label: row.node_id for label, row in zip(NODES, made.results, strict=False) if row.node_id}

    def fact(start: str, kind: str, end: str, sentence: str, *keys: str, since: str | None = None) -> Edge:
        return Edge(
            from_node=node[start], type=kind, to_node=node[end], fact=sentence,
            valid_from=day(since) if since else None,
            evidence=[Evidence(passage_id=said[key]) for key in keys],
        )  # fmt: skip

    first = (
        fact("Bruno", "LIVES_IN", "Lisbon", "Bruno lives in Lisbon.", "m1", "m6", since="2024-09-01"),
        fact("Carla", "LIVES_IN", "Ghent", "Carla lives in Ghent.", "m3"),
        fact("Dmitri", "LIVES_IN", "Lisbon", "Dmitri lives in Lisbon.", "m4", "m5"),
        fact("Nora", "KNOWS", "Bruno", "Nora knows Bruno.", "m1", "m2", "m10"),
        fact("Nora", "KNOWS", "Carla", "Nora knows Carla.", "m3", "m13"),
        fact("Nora", "KNOWS", "Dmitri", "Nora knows Dmitri.", "m4", "m9"),
    )
    batches: list[tuple[str, Sequence[Operation]]] = [
        ("extract-1", first),
        ("extract-1", [
            fact("Carla", "WORKS_AT", "Atelier Sol", "Carla works at Atelier Sol.", "m7", since="2025-02-03")
        ]),
        ("extract-1", [
            fact("Carla V.", "LIVES_IN", "Lisbon", "Carla V. lives in Lisbon.", "m8", since="2025-02-01"),
            fact("Nora", "KNOWS", "Carla V.", "Nora knows Carla V.", "m8"),
            fact("Dmitri", "LIKES", "sailing", "Dmitri likes sailing.", "m9"),
        ]),
        ("extract-1", [fact("Bruno", "LIVES_IN", "Porto", "Bruno lives in Porto.", "m10", since="2025-03-01")]),
        ("extract-1", [
            fact("Carla", "WORKS_AT", "Harbour Lab", "Carla works at Harbour Lab.", "m11", since="2025-02-03")
        ]),
    ]  # fmt: skip
    written = [await write(db, owner, operations, asserted_by=author) for author, operations in batches]
    liking = written[2].results[2].edge_id
    await write(db, owner, [Retract(thread=Thread(edge=liking))], asserted_by="user")
    merge = Merge(
        node=node["Carla V."], canonical=node["Carla"], reason="she said so in the sailing club",
        evidence=[Evidence(passage_id=said["m12"])],
    )  # fmt: skip
    await write(db, owner, [merge], asserted_by="user")
    await write(
        db, owner, [
            fact("Nora", "LIKES", "fado", "Nora likes fado.", "m14"),
            fact("Nora", "WANTS", "sailing", "Nora wants to learn sailing.", "m13"),
        ], asserted_by="extract-1",
    )  # fmt: skip


def _date(admin: psycopg.Connection, owner: Owner) -> None:
    """Move the changes to their days: the nodes to New Year, the last change to 8 o'clock a week ago."""
    changes = admin.execute(
        "SELECT recorded_at FROM memsvc.changes WHERE user_id = %s ORDER BY recorded_at", [owner.user_id]
    ).fetchall()
    last = datetime.now(ZONE).replace(hour=8, minute=0, second=0, microsecond=0) - timedelta(days=7)
    days = [day("2025-01-01"), *(day(written) + timedelta(hours=8) for written in DAYS), last]
    was = [row[0] for row in changes]
    assert len(was) == len(days)
    with admin.transaction():
        for moment, becomes in zip(was, days, strict=True):
            for table in RECORDED:  # one by one, the oldest first: no two versions of a thing may ever overlap
                admin.execute(MOVE.format(sql.Identifier(table)), [becomes, was, days, owner.user_id, moment])
            change = "UPDATE memsvc.changes SET recorded_at = %s WHERE user_id = %s AND recorded_at = %s"
            admin.execute(change, [becomes, owner.user_id, moment])
