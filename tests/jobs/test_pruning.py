"""Old versions of documents that nobody needs go; conversations of agents that were silent for long are archived."""

from __future__ import annotations

import hashlib
import random

import psycopg
import pytest

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.documents.form import Chunk, ParsedDocument
from memsvc.errors import SleepUndoError
from memsvc.queue.execution import run_due
from memsvc.settings import Settings
from memsvc.sleep.archive import archive_of
from memsvc.sleep.registry import tasks_of
from memsvc.sleep.runner import sleep
from memsvc.sleep.undoing import undo_run
from memsvc.sources.documents import DocumentIn, store_document
from memsvc.turns.calls import CallIn
from memsvc.turns.past import PastWorkIn, past_work
from memsvc.turns.storing import TurnIn, record_turn
from tests.jobs.test_forgetting import pass_days

KEPT = 2


async def ingest(db: Database, owner: Owner, settings: Settings, name: str, *texts: str) -> None:
    """Ingest a file with these chunks."""
    document = DocumentIn(
        identifier=f"/{name}", path=name, sha256=hashlib.sha256(repr(texts).encode()).hexdigest(), size=9,
        parse=lambda: ParsedDocument(format="md", title=name, chunks=[Chunk(text=one) for one in texts]),
    )  # fmt: skip
    await store_document(db, owner, document, settings)


async def look(db: Database, owner: Owner, settings: Settings, name: str, sha: str) -> None:
    """Let an agent read a file."""
    call = CallIn(tool="READ", document=f"/{name}", sha256=sha)
    await record_turn(db, owner, TurnIn(conversation="work", request="Look.", calls=[call]), settings)


def versions(admin: psycopg.Connection, owner: Owner) -> set[tuple[str, int]]:
    found = admin.execute(
        "SELECT s.identifier, v.version FROM memsvc.document_versions AS v "
        "INNER JOIN memsvc.sources AS s USING (user_id, source_id) WHERE v.user_id = %s",
        [owner.user_id],
    )
    return {(row[0], row[1]) for row in found}


async def test_versions_go_but_the_newest_and_those_of_turns_and_chunks_go_with_their_last_version(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    chosen = settings.model_copy(update={"versions_kept": KEPT})
    lot, told, used = random.Random(29), dict.fromkeys(("a.md", "b.md"), 0), set()
    for step in range(24):
        name = lot.choice(("a.md", "b.md"))
        told[name] += 1
        if lot.random() < 0.3:
            await look(db, owner, chosen, name, f"{step:064x}")
            used.add((f"/{name}", told[name]))
        else:
            await ingest(db, owner, chosen, name, "Every version says this.", f"Only version {step} says that.")
    before = versions(admin, owner)
    assert len(before) == sum(told.values())
    assert {"versions"} <= tasks_of(chosen).keys()
    assert "versions" not in tasks_of(settings)
    [run] = await sleep(db, owner, ["versions"], settings=chosen)
    kept = {(f"/{name}", version) for name, last in told.items() for version in range(last - KEPT + 1, last + 1)} | used
    assert versions(admin, owner) == kept
    assert run.applied == len(before) - len(kept)
    left = admin.execute(
        "SELECT s.identifier, p.text, EXISTS (SELECT FROM memsvc.document_versions AS v "
        "WHERE v.user_id = p.user_id AND v.source_id = p.source_id AND v.recorded_from < p.recorded_to "
        "AND v.recorded_to > p.recorded_at) FROM memsvc.passages AS p INNER JOIN memsvc.sources AS s "
        "USING (user_id, source_id) WHERE p.user_id = %s AND p.kind = 'chunk'",
        [owner.user_id],
    ).fetchall()
    assert all(row[-1] for row in left), "a chunk stays without a version"
    assert {row[1] for row in left} >= {"Every version says this."}
    words = admin.execute(
        "SELECT coalesce(sum(c.passages), 0) FROM (SELECT passages FROM memsvc.corpora WHERE user_id = %(user)s AND "
        "kind = 'chunk' AND form = 'simple' UNION ALL SELECT passages FROM memsvc.term_deltas WHERE user_id = %(user)s "
        "AND kind = 'chunk' AND form = 'simple') AS c",
        {"user": owner.user_id},
    ).fetchone()
    assert words == (len(left),)
    with pytest.raises(SleepUndoError):
        await undo_run(db, owner, run.run_id, chosen)
    assert (await sleep(db, owner, ["versions"], settings=chosen))[0].applied == 0


@pytest.mark.parametrize("recalled", [False, True])
async def test_a_conversation_of_an_agent_that_nobody_recalls_is_archived_as_a_whole(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection, recalled: bool
) -> None:
    chosen = settings.model_copy(update={"forgetting": True, "forgetting_silent_days": 100, "record_recalls": True})
    for number in range(2):
        call = CallIn(tool="BASH", arguments={"command": "make kestrel"}, ok=False)
        turn = TurnIn(conversation="old", id=f"{number}", request="Fly a kestrel.", answer="It flies.", calls=[call])
        await record_turn(db, owner, turn, chosen)
    await run_due(db)
    asked = PastWorkIn(query="kestrel", limit=1)
    pass_days(admin, owner, 90)
    assert (await sleep(db, owner, ["forgetting"], settings=chosen))[0].applied == 0
    if recalled:
        assert len((await past_work(db, owner, asked, chosen)).turns) == 1
        await run_due(db)
    pass_days(admin, owner, 20)
    [run] = await sleep(db, owner, ["forgetting"], settings=chosen)
    assert (run.applied, (await archive_of(db, owner, chosen)).turns) == ((0, 0) if recalled else (6, 6))
    assert len((await past_work(db, owner, asked, chosen)).turns) == int(recalled)
    await undo_run(db, owner, run.run_id, chosen)
    assert len((await past_work(db, owner, asked, chosen)).turns) == 1
