"""What tests of whole nights share: a memory in which every task of the registry finds work, and what a night leaves.

Tests go through the registry and not through names, so a new task is tested by all of them. Where it finds no work in
this memory, ``test_every_task_has_work_here…`` says so: then something for it to do belongs into ``fill``.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import psycopg
from sqlalchemy import event

from jobs.steps import all_steps
from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.graph.history import write
from memsvc.graph.operations import Annotate, Edge, Evidence
from memsvc.queue.execution import run_due
from memsvc.queue.schedule import run_now
from memsvc.settings import Settings
from memsvc.sources.messages import MessageIn, append
from tests.fakes.chat_server import Body, Say
from tests.jobs.reading import Desk
from tests.jobs.test_concepts import said as groceries
from tests.jobs.test_forgetting import pass_days
from tests.jobs.test_pruning import ingest
from tests.jobs.test_sleep import TWICE, people
from tests.jobs.test_summaries import DAYS
from tests.sql.world import USER_TABLES

SAID = ["I LIVES_IN Porto.", "I OWNS a boat.", "Ana WORKS_AT Lidl.", "maybe Ana LIKES tea.", "maybe Rui LIKES wine."]
TRIFLES = [f"Thanks {number}!" for number in range(6)]
MODELS = (f"dreaming-{number}" for number in count())
KEY = re.compile(r"\b[0-9a-f]{8}\b")
"""Made of ids, as labels of reflections hold it."""
COMMIT, SOME = "COMMIT", 10
MINUTE = timedelta(minutes=1)
UNLIKE_A_TWIN = frozenset({"users", "jobs", "outbox", "model_calls", "terms", "term_deltas", "changes"})
"""Tables in which a night that was interrupted may leave more, or an earlier step of the same work: what was asked,
announced and spent, and into how many changes the work was parted."""
TEXTS = """
SELECT 'node ' || concat_ws('|', type, label, description, valid_to, recorded_to = 'infinity') FROM memsvc.node_versions
WHERE user_id = %(user)s
UNION ALL
SELECT 'edge ' || concat_ws('|', fact, valid_to, recorded_to = 'infinity') FROM memsvc.edge_versions
WHERE user_id = %(user)s
UNION ALL
SELECT 'passage ' || concat_ws('|', kind, text, archived_at IS NOT NULL, recorded_to = 'infinity') FROM memsvc.passages
WHERE user_id = %(user)s
UNION ALL
SELECT 'review ' || concat_ws('|', state, reason) FROM memsvc.fact_reviews WHERE user_id = %(user)s
UNION ALL
SELECT 'run ' || concat_ws('|', task, state, applied, proposed, counts, error_code) FROM memsvc.sleep_runs
WHERE user_id = %(user)s
"""


def reads_and_agrees(body: Body) -> str:
    """A model that confirms each fact, and tells each first line, in the form of either task's answer."""
    told = [json.loads(line) for line in body["messages"][1]["content"].splitlines() if line.startswith("{")]
    facts = [
        {"number": one["number"], "verdict": "yes", "why": None, "quote": one["fact"].removesuffix(".")}
        for one in told
        if "fact" in one
    ]
    lines = [{"text": one["line"].removesuffix(" …"), "sources": [one["number"]]} for one in told if "line" in one][:1]
    return json.dumps({"facts": facts} if facts else {"lines": lines})


AGREEING = Say(reads_and_agrees)


def wide_awake(settings: Settings, url: str | None = None) -> Settings:
    """Settings that switch every task on; with a language model where one answers."""
    model = {"llm_url": url, "llm_model": next(MODELS), "llm_reviews_per_night": 10, "summaries": "model"}
    on = {"forgetting": True, "extractor": "saying", "reread_messages": 24, "versions_kept": 1}
    return settings.model_copy(update=on | (model if url else {}))


async def fill(desk: Desk) -> None:
    """Store something for each task, as of two weeks ago and more."""
    await people(desk.db, desk.owner, TWICE)
    await desk.say(*TRIFLES, conversation="trifles", said="2026-03-01T10:00:00+00:00")
    await run_due(desk.db, desk.steps_of_none)  # nobody reads them, so nobody judges them important
    desk.extractor.name, desk.extractor.without = "saying/1", frozenset({"WORKS_AT"})
    await desk.say(*SAID, conversation="pond", said="2026-03-01T09:00:00+00:00")
    for day, texts in DAYS.items():
        begin = datetime.fromisoformat(day).replace(tzinfo=UTC)
        said = [
            MessageIn(conversation="planning", speaker="Ines", role="user", text=text, said_at=str(begin + n * MINUTE))
            for n, text in enumerate(texts)
        ]
        await append(desk.db, desk.owner, said, desk.settings)
    await desk.read()
    bought = await groceries(desk.db, desk.owner, desk.settings)
    likes = Edge(
        from_node=bought["Mara"], type="LIKES", to_node=bought["naan"], fact="Mara likes naan.",
        evidence=[Evidence(passage_id=bought["I bake naan every Saturday."])],
    )  # fmt: skip
    change = await write(desk.db, desk.owner, [likes], asserted_by="tests")
    doubt = [Evidence(passage_id=bought["Mara lives next door."])]
    disputed = Annotate(version=change.results[0].versions[0], stance="disputed", evidence=doubt)
    await write(desk.db, desk.owner, [disputed], asserted_by="user")
    for text in ("An old plan.", "A new plan."):
        await ingest(desk.db, desk.owner, desk.settings, "plan.md", text)
    await run_due(desk.db, desk.steps_of_none)
    desk.extractor.name, desk.extractor.without = "saying/2", frozenset({"OWNS"})
    pass_days(desk.admin, desk.owner, 15)


async def night(desk: Desk, settings: Settings) -> None:
    """One recurring night: the job's steps until there is no more, or they fail; again after a failure it goes on."""
    await run_now(desk.db, desk.owner.user_id, "sleep")
    while True:
        more = False
        for step in all_steps(settings, None)["sleep"]:
            more = await step(desk.db, desk.owner.user_id, desk.owner.user_id) or more
        if not more:
            break
    desk.admin.execute("DELETE FROM memsvc.jobs WHERE user_id = %s AND kind = 'sleep'", [desk.owner.user_id])


def left(admin: psycopg.Connection, owner: Owner) -> tuple[dict[str, int], list[str]]:
    """What a night leaves: rows of each table that a twin has as many of, and texts without ids and moments."""
    tables = sorted({*USER_TABLES} - UNLIKE_A_TWIN)
    counted = {
        table: admin.execute(f"SELECT count(*) FROM memsvc.{table} WHERE user_id = %s".encode(), [owner.user_id])
        for table in tables
    }
    texts = sorted(KEY.sub("#", row[0]) for row in admin.execute(TEXTS.encode(), {"user": owner.user_id}))
    return {table: int(rows.fetchone()[0]) for table, rows in counted.items()}, texts  # type: ignore[index]


def every_row(admin: psycopg.Connection, owner: Owner) -> dict[str, str]:
    """Each table's rows of a user, as one figure and one digest."""
    found = {}
    for table in sorted({*USER_TABLES} - {"jobs", "users"}):
        digest = f"SELECT count(*), md5(string_agg(t::text, '|' ORDER BY t::text)) FROM memsvc.{table} AS t"
        found[table] = str(admin.execute(f"{digest} WHERE user_id = %s".encode(), [owner.user_id]).fetchone())
    return found


def traces_of(admin: psycopg.Connection, owner: Owner, words: str) -> list[str]:
    """Tables that hold some words of a user."""
    holds = "SELECT count(*) FROM memsvc.{} AS t WHERE user_id = %s AND strpos(t::text, %s) > 0"
    return [
        table
        for table in USER_TABLES
        if admin.execute(holds.format(table).encode(), [owner.user_id, words]).fetchone() != (0,)
    ]


@dataclass
class Deadly:
    """Ends the session that is about to execute a statement, or to commit, as a killed process or server does.

    Of a transaction that has written, its commit counts, and one of ``SOME`` statements, others in each run of the
    tests; what was read alone is as it was.
    """

    db: Database
    admin: psycopg.Connection
    left: int = 0
    killed: list[str] = field(default_factory=list)
    """Beginnings of the statements before which it came."""

    def _reach(self, connection: Any, statement: str) -> None:
        pid = connection.connection.driver_connection.info.backend_pid
        row = self.admin.execute("SELECT backend_xid FROM pg_stat_activity WHERE pid = %s", [pid]).fetchone()
        wrote = row is not None and row[0] is not None
        if not wrote or (statement != COMMIT and random.randrange(SOME)):
            return
        self.left -= 1
        if self.left == 0:
            self.killed.append(statement)
            self.admin.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])

    @contextmanager
    def at(self, point: int) -> Iterator[None]:
        """Let it die at the n-th point from now on, counted from 1."""
        self.left = point
        engine = self.db.engine.sync_engine

        def executes(connection: Any, _cursor: Any, statement: str, *_more: Any) -> None:
            self._reach(connection, " ".join(statement.split())[:60])

        def commits(connection: Any) -> None:
            self._reach(connection, COMMIT)

        event.listen(engine, "before_cursor_execute", executes)
        event.listen(engine, "commit", commits)
        try:
            yield
        finally:
            event.remove(engine, "before_cursor_execute", executes)
            event.remove(engine, "commit", commits)
