"""Memories that hold everything that an export must carry, and exports as plain bytes."""

from __future__ import annotations

import hashlib
import json
import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
import psycopg

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.documents.form import Chunk, ParsedDocument
from memsvc.graph.history import write
from memsvc.graph.ontology import EdgeTypeIn, NodeTypeIn, propose
from memsvc.graph.operations import Location, Node
from memsvc.settings import Settings
from memsvc.sources.documents import DocumentIn, store_document
from memsvc.sources.messages import MessageIn, append
from memsvc.text.fence import fenced
from memsvc.transfer.archive import open_archive
from memsvc.transfer.export import export
from memsvc.transfer.format import Manifest
from memsvc.transfer.load import Loaded, load
from memsvc.transfer.sinks import open_sink
from memsvc.turns.calls import CallIn
from memsvc.turns.storing import TurnIn, record_turn
from tests.sql.histories import Player, Raw
from tests.sql.world import value

LONG = "The heron waited, and the otter did not come. " * 400
MESSAGES = [
    MessageIn(conversation="pond", session="S1", ordinal=0, speaker="Ada", text=LONG, id="long"),
    MessageIn(conversation="pond", session="S1", ordinal=1, speaker="אדה", text="שלום, \u202eעולם\u202c!", caption=""),
    MessageIn(conversation="pond", text="👩‍👩‍👧 fifty % of *them* said <b>so</b>.\r\nSecond line.\u2028Third."),
    MessageIn(conversation="pond", caption="a heron\nin the reeds", said_at="1066-10-14T09:00:00+00:17"),
    MessageIn(conversation="pond", role="tool", speaker="shell", text="rm -rf ~ # no\t\x1b[31mred"),
    MessageIn(conversation="pond", role="thinking", text="鷺は水の中に立っていた。"),
    MessageIn(
        conversation="../../etc/passwd", text="[[link]] ![x](http://example.org) #tag", speaker="# Head\n> quoted",
        metadata={
            "n": [1.0, 1e300, -0.1, 12345678901234567890, True, None], "ключ": {"a": "\u2028😀"}, "": {},
        },
    ),
    MessageIn(conversation="pond", text=f"Before.\n{fenced('* What came back.')}\nBehind it.", caption="a pike"),
    MessageIn(conversation="con", text="1. A list\n    code\n\n---\n$x$ ==y== %%z%%", said_at="2026-03-29T02:30:00"),
]  # fmt: skip

TURNS = [
    TurnIn(
        conversation="pond", id="t\u2028", request=LONG, answer="=1+1", project="ворон", root="/home/ada", agent="#",
        commit="abc", ok=False, calls=[
            CallIn(tool="READ", document="/home/ada/[[x]].md", arguments="=1+1", result="7", ms=3, exit_code=-1),
            CallIn(tool="WRITE", arguments={"path": "é.md", "content": "n", "n": [1e300, None]}, result="\0x" * 3_000),
            CallIn(tool="READ", arguments={"path": "unread.md"}, ok=False, result="No such file"),
        ],
    ),
    TurnIn(conversation="pond", id="open", request="Begun.", done=False),
]  # fmt: skip


def play(player: Player, seed: int, steps: int = 30) -> None:
    """A random history: corrections, merges, undos, closed evidence."""
    chance = random.Random(seed)

    def raw() -> Raw:
        return tuple(chance.randrange(60) for _ in range(7))

    player.begin()
    for kind in (*range(12), *(chance.randrange(12) for _ in range(steps))):
        raws = [raw() for _ in range(chance.randrange(1, 5))]
        player.step([(kind, *raws[0][1:]), *raws[1:]])


def files_in(folder: Path) -> dict[str, bytes]:
    """The bytes of each file of an export, without its time."""
    found = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    manifest = json.loads(found["manifest.json"])
    assert datetime.fromisoformat(manifest.pop("created_at")) > datetime.now(UTC) - timedelta(minutes=10)
    found["manifest.json"] = json.dumps(manifest).encode()
    return found


@dataclass(frozen=True, slots=True)
class Travel:
    """What an export and an import need."""

    db: Database
    app: UUID
    settings: Settings
    folder: Path

    def path(self, name: str) -> Path:
        """A place for an export."""
        return self.folder / name

    def names(self) -> list[str]:
        """What is in the folder."""
        return sorted(path.name for path in self.folder.iterdir())

    async def out(self, user_id: UUID, name: str, **options: Any) -> dict[str, bytes]:
        """Export; the files of a folder."""
        await export(self.db, user_id, open_sink(self.path(name)), **options)
        return {} if name.endswith(".zip") else files_in(self.path(name))

    async def into(self, ref: str, name: str, **options: Any) -> Loaded:
        """Import into a user."""
        with open_archive(self.path(name)) as archive:
            return await load(self.db, self.app, ref, archive, self.settings, **options)

    async def say(self, owner: Owner, *texts: str, conversation: str = "c") -> None:
        """Store messages."""
        messages = [MessageIn(conversation=conversation, text=text) for text in texts]
        await append(self.db, owner, messages, self.settings)


def _document(texts: list[str]) -> ParsedDocument:
    chunks = [Chunk(text=text, headings=("Über *uns*", "1.5"), origin={"page": 7}) for text in texts]
    return ParsedDocument(format="md", title="# Title", chunks=chunks, pages=9, metadata={"tags": ["x", 1.50]})


async def enrich(travel: Travel, owner: Owner, admin: psycopg.Connection) -> None:
    """Everything that a random history of the graph lacks."""
    await append(travel.db, owner, MESSAGES[:5], travel.settings)
    await append(travel.db, owner, MESSAGES[5:], travel.settings)
    pet = NodeTypeIn(name="Pet", description="An animal that lives with people.", parent="Person", reason="Rex.")
    await propose(travel.db, owner, pet, by="user", approve=True)
    feeds = EdgeTypeIn(name="FEEDS", description="A feeds B.", category="social", to_types=["Pet"], functional=True)
    await propose(travel.db, owner, feeds, by="tests")
    rex = [Node(type="Pet", label="Rex"), Location(node=0, latitude=-0.1, longitude=-180, radius_m=2.5)]
    await write(travel.db, owner, rex, asserted_by="tests")
    admin.execute(
        "INSERT INTO memsvc.source_links (user_id, passage_id, location_id, asserted_by, recorded_from) "
        "SELECT l.user_id, p.passage_id, l.location_id, 'tests', l.recorded_from FROM memsvc.locations AS l "
        "INNER JOIN memsvc.passages AS p ON p.user_id = l.user_id AND p.version_id IS NULL "
        "WHERE l.user_id = %s LIMIT 1",
        [owner.user_id],
    )
    for texts in (["# Head", "=1+1", "two"], ["new", "two"]):
        document = DocumentIn(
            identifier="/home/ada/../ada/[[x]].md", path="[[x]].md",
            sha256=hashlib.sha256(repr(texts).encode()).hexdigest(),
            size=7, modified=datetime(2001, 2, 3, tzinfo=UTC), parse=partial(_document, texts),
        )  # fmt: skip
        await store_document(travel.db, owner, document, travel.settings)
    admin.execute(
        "INSERT INTO memsvc.vaults (user_id, folder, flavours, write_back) VALUES (%s, '/[[x]]', '{logseq}', 'beside')",
        [owner.user_id],
    )
    for turn in TURNS:
        await record_turn(travel.db, owner, turn, travel.settings)
    for erased in (b"one", b"two"):
        admin.execute(
            "INSERT INTO memsvc.tombstones (user_id, digest) VALUES (%s, sha256(%s))", [owner.user_id, erased]
        )
    admin.execute(
        "INSERT INTO memsvc.memory_signals "
        "(user_id, memory_id, kind, recalls, last_recalled_at, used, irrelevant, importance, sentiment, pinned) "
        "SELECT %(user)s, passage_id, 'passage', 3, timestamptz '2026-03-01Z', 1, 0, 7, -0.1, true "
        "FROM memsvc.passages WHERE user_id = %(user)s AND version_id IS NULL UNION ALL "
        "SELECT %(user)s, version_id, 'fact', 0, NULL, 0, 2, NULL, NULL, false "
        "FROM memsvc.edge_versions WHERE user_id = %(user)s",
        {"user": owner.user_id},
    )
    admin.execute(
        "INSERT INTO memsvc.duplicate_candidates "
        "(user_id, node_a, node_b, score, evidence, found_by, state, decided_at, decided_by) "
        "SELECT user_id, min(node_id::text)::uuid, max(node_id::text)::uuid, 0.4, '{\"name\": 3.5}', 'tests', "
        "'rejected', timestamptz '2026-03-01Z', 'user' FROM memsvc.nodes WHERE user_id = %s GROUP BY user_id",
        [owner.user_id],
    )
    for name, kind, place, value_of_it in (
        ("preferences", "core", "node_id", "NULL"),
        ("about", "archival", "node_id", "(SELECT node_id FROM memsvc.nodes WHERE user_id = %(user)s LIMIT 1)"),
        (
            "plan",
            "working",
            "source_id",
            "(SELECT source_id FROM memsvc.sources WHERE user_id = %(user)s AND kind = 'conversation' LIMIT 1)",
        ),
    ):
        expires = "'2126-03-01Z'" if kind == "working" else "NULL"
        admin.execute(
            "INSERT INTO memsvc.profile_versions "
            f"(user_id, version, name, kind, text, tokens, token_limit, asserted_by, expires_at, {place}) VALUES "
            f"(%(user)s, 1, '{name}', '{kind}', E'One.\\nTwo.', 4, 9, 'tests', {expires}, {value_of_it})".encode(),
            {"user": owner.user_id},
        )
    admin.execute(
        "INSERT INTO memsvc.profile_evidence (user_id, version_id, passage_id, lines) "
        "SELECT v.user_id, v.version_id, p.passage_id, '{1,2}' FROM memsvc.profile_versions AS v "
        "CROSS JOIN LATERAL (SELECT min(k.passage_id::text)::uuid AS passage_id FROM memsvc.passages AS k "
        "WHERE k.user_id = v.user_id AND k.version_id IS NULL) AS p WHERE v.user_id = %s",
        [owner.user_id],
    )
    admin.execute(
        "UPDATE memsvc.schedules SET at_local = '04:05', weekdays = '{1,5}', enabled = false, "
        "tasks_off = '{reviews}' WHERE user_id = %s",
        [owner.user_id],
    )
    admin.execute(
        "INSERT INTO memsvc.feeds (user_id, kind, identifier, name, settings, rule, salt, secret) VALUES "
        "(%(user)s, 'folder', '/notes', 'notes', '{\"path\": \"/notes\"}', 'every 2 hours', NULL, NULL), "
        "(%(user)s, 'push', 'office', 'office', '{\"takes\": \"memory\"}', NULL, %(salt)s, NULL), "
        "(%(user)s, 'imap', 'a@b:993/INBOX', 'mail', '{}', '0 7 * * *', NULL, 'env:PASSWORD')",
        {"user": owner.user_id, "salt": bytes(16)},
    )
    admin.execute(
        "UPDATE memsvc.sources SET title = %s, forget_after = '36:00', "
        "metadata = '{\"x\": 1.50}' WHERE user_id = %s AND identifier = 'con'",
        ["`nul`: a/b\\c.", owner.user_id],
    )
    admin.execute(
        "INSERT INTO memsvc.source_links (user_id, passage_id, span_from, span_to, node_id, stance, confidence, "
        "asserted_by, recorded_from) SELECT %(user)s, p.passage_id, 0, length(p.text), n.node_id, 'supports', 0.3, "
        "'tests', clock_timestamp() FROM memsvc.passages AS p, memsvc.nodes AS n "
        "WHERE p.user_id = %(user)s AND n.user_id = %(user)s AND p.text <> '' LIMIT 7",
        {"user": owner.user_id},
    )


def rewrite(folder: Path, name: str, lines: list[bytes]) -> None:
    """Change a file of an export as somebody would who mends the manifest."""
    data = b"".join(line + b"\n" for line in lines)
    (folder / name).write_bytes(data)
    manifest = msgspec.json.decode((folder / "manifest.json").read_bytes())
    for file in manifest["files"]:
        if file["path"] == name:
            file.update(rows=len(lines), bytes=len(data), sha256=hashlib.sha256(data).hexdigest())
    (folder / "manifest.json").write_bytes(msgspec.json.encode(manifest))


def manifest_of(folder: Path) -> Manifest:
    """The manifest of an export."""
    return msgspec.json.decode((folder / "manifest.json").read_bytes(), type=Manifest)


def rows_of(admin: psycopg.Connection, user_id: UUID) -> dict[str, int]:
    """How many rows a user has in each table."""
    tables = admin.execute(
        "SELECT c.relname FROM pg_class AS c INNER JOIN pg_attribute AS a ON a.attrelid = c.oid "
        "WHERE c.relnamespace = 'memsvc'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition "
        "AND a.attname = 'user_id' ORDER BY 1"
    ).fetchall()
    return {
        name: count
        for (name,) in tables
        if (count := value(admin, f"SELECT count(*) FROM memsvc.{name} WHERE user_id = %s", [user_id]))
    }
