"""Conversations read the real way: stored, read by ``memsvc worker``, and what the graph then holds, as its views say.

Each conversation is a user of its own, named as its first human speaker and on its clock. What is read back for
``bench.matching``: things from ``nodes_current`` with their names, facts from ``facts_history`` with their evidence.
"""

from __future__ import annotations

import os
import time
from collections.abc import Hashable, Sequence
from typing import NamedTuple
from uuid import UUID

import psycopg

from bench.gold import Conversation
from bench.harness import Bench, progress
from bench.matching import Claim, Found, Thing
from bench.processes import worker
from bench.store import store
from memsvc.access.users import Owner, add_user, app_id
from memsvc.db.engine import Database
from memsvc.errors import ConfigurationError

PATIENCE_S = 120.0
"""For so long nothing may be read."""
PAUSE_S = 0.2
LLM = ("llm_url", "llm_key", "llm_model", "llm_timeout_s", "llm_concurrency")
"""Settings of the language model that a worker gets from the environment."""
NOTHING_MORE = """
SELECT count(*) FILTER (WHERE state = 'pending'), (SELECT coalesce(sum(turns), 0)::int FROM memsvc.extractions)
FROM memsvc.jobs
"""
FAILURES = "SELECT DISTINCT kind, error_code, error FROM memsvc.jobs WHERE state = 'failed' ORDER BY 1, 2"
THINGS = """
SELECT n.node_id, n.type, n.label, coalesce(n.data ->> 'named', 'true') = 'true' AS named,
  ARRAY(
    SELECT DISTINCT a.alias FROM memsvc.aliases AS a
    WHERE a.user_id = n.user_id AND a.node_id = ANY (n.nodes) AND a.recorded_to = 'infinity' AND a.alias <> n.label
  ) AS aliases
FROM memsvc.nodes_current AS n WHERE n.user_id = %s AND n.label IS NOT NULL
"""
CLAIMS = """
SELECT f.subject_id, f.predicate, f.object_id, f.since, f.until, NOT f.superseded AS believed,
  array_agg(DISTINCT p.client_id) FILTER (WHERE p.client_id IS NOT NULL) AS turns,
  count(l.link_id) AS quotes,
  count(*) FILTER (WHERE l.span_to <= length(p.text) AND btrim(substr(p.text, l.span_from + 1, l.span_to - l.span_from))
    <> '') AS verified
FROM memsvc.facts_history AS f
LEFT JOIN memsvc.source_links AS l
  ON f.user_id = l.user_id AND f.version_id = l.edge_version_id AND l.recorded_to = 'infinity'
LEFT JOIN memsvc.passages AS p ON l.user_id = p.user_id AND l.passage_id = p.passage_id
WHERE f.user_id = %s AND f.asserted_by = ANY (%s) AND f.object IS NOT NULL AND f.subject IS NOT NULL
GROUP BY f.version_id, f.subject_id, f.predicate, f.object_id, f.since, f.until, f.superseded, f.learnt_at
ORDER BY f.learnt_at, f.version_id
"""
READERS = "SELECT DISTINCT extractor FROM memsvc.extractions"
LEFT = """
SELECT state || ': ' || reason AS why, count(*) AS facts FROM memsvc.fact_reviews
WHERE user_id = ANY (%s) GROUP BY 1 ORDER BY 2 DESC
"""
CALLS = """
SELECT count(*), coalesce(sum(tokens_in), 0)::bigint, coalesce(sum(tokens_out), 0)::bigint FROM memsvc.model_calls
WHERE user_id = ANY (%s)
"""


class Calls(NamedTuple):
    """What the language model was asked."""

    calls: int
    tokens_in: int
    tokens_out: int


async def remember(db: Database, bench: Bench, conversations: Sequence[Conversation]) -> list[Owner]:
    """Store conversations, each under a user of its own; nothing is read yet."""
    app, owners = await app_id(db, "bench"), []
    for one in conversations:
        added = await add_user(db, app, name=one.owner, external_id=one.name, time_zone=one.zone)
        owners.append(added.owner)
        await store(db, added.owner, [turn.message() for turn in one.turns], bench.settings)
    return owners


def work(bench: Bench, extractor: str, messages: int) -> float:
    """Let a worker do all that waits, reading by an extractor included; the seconds until the last job is over.

    Args:
        bench: the database.
        extractor: a name of ``memsvc.extract.registry``; a language model's settings come from the environment.
        messages: about so many will be read; for the progress bar alone.

    Raises:
        ConfigurationError: a job failed, or nothing moves any more: figures would mean nothing.
    """
    llm = {name: value for name in LLM if extractor == "llm" and (value := os.environ.get(f"MEMSVC_{name.upper()}"))}
    with (
        worker(bench, extractor=extractor, **llm), bench.admin() as admin, progress("reading", messages) as shown
    ):  # fmt: skip
        began = moved = time.monotonic()
        before = (-1, read := 0)
        while True:
            pending, turns = admin.execute(NOTHING_MORE).fetchone() or (0, 0)
            shown(turns - read)
            read = turns
            if not pending:
                break
            if (pending, turns) != before:
                before, moved = (pending, turns), time.monotonic()
            elif time.monotonic() - moved > PATIENCE_S:
                raise ConfigurationError(f"{pending} jobs wait, and nothing moves.", hint="\n".join(failures(admin)))
            time.sleep(PAUSE_S)
        seconds = time.monotonic() - began
        if failed := failures(admin):
            raise ConfigurationError("Jobs failed.", hint="\n".join(failed))
    return seconds


def failures(admin: psycopg.Connection) -> list[str]:
    """What went wrong, once each."""
    return [f"{kind}: {code}: {error}" for kind, code, error in admin.execute(FAILURES)]


def found_by(bench: Bench, owner: Owner) -> Found:
    """What extractors wrote into a user's graph."""
    with bench.admin() as admin:
        readers = [name for (name,) in admin.execute(READERS)]
        things: dict[Hashable, Thing] = {
            node_id: Thing(kind, (label, *aliases), named)
            for node_id, kind, label, named, aliases in admin.execute(THINGS, [owner.user_id])
        }
        claims, quotes, verified = [], 0, 0
        for row in admin.execute(CLAIMS, [owner.user_id, readers]):
            start, kind, end, since, until, believed, turns, links, good = row
            claims.append(Claim(start, kind, end, since, until, believed, tuple(turns or ())))
            quotes, verified = quotes + links, verified + good
    return Found(things, claims, quotes, verified)


def left_out(bench: Bench, users: Sequence[UUID]) -> dict[str, int]:
    """Facts that were found and not written: state and reason -> how many."""
    with bench.admin() as admin:
        return dict(admin.execute(LEFT, [list(users)]).fetchall())


def model_calls(bench: Bench, users: Sequence[UUID]) -> Calls:
    """What users' memories cost of a language model."""
    with bench.admin() as admin:
        return Calls(*(admin.execute(CALLS, [list(users)]).fetchone() or (0, 0, 0)))
