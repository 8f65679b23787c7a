"""What tests of extraction share: somebody who says things, an extractor that finds them, and looking at the graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

import psycopg

from jobs.steps import all_steps
from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.queue.execution import Steps, run_due
from memsvc.queue.jobs import Job, list_jobs
from memsvc.settings import Settings
from memsvc.sources.messages import MessageIn, append
from tests.fakes.extractors import SayingExtractor

Fact = tuple[str, str | None, str | None]
"""Its sentence, and from when until when it holds: years, or None."""


@dataclass(frozen=True, slots=True)
class Desk:
    """A user, and who reads what the user says."""

    db: Database
    owner: Owner
    settings: Settings
    admin: psycopg.Connection
    extractor: SayingExtractor
    better: SayingExtractor
    """Another version; read when it is asked."""

    @property
    def steps(self) -> Steps:
        """Of a worker that has the extractor."""
        return all_steps(self.settings.model_copy(update={"extractor": "saying"}), None)

    @property
    def steps_of_none(self) -> Steps:
        """Of a worker that is configured with none."""
        return all_steps(self.settings, None)

    async def say(self, *texts: str, conversation: str = "pond", said: str | None = None, **more: Any) -> UUID:
        """Store messages; the conversation's id."""
        stored = await append(
            self.db,
            self.owner,
            [
                MessageIn(conversation=conversation, text=text, said_at=said, **{"speaker": "Ada", **more})
                for text in texts
            ],
            self.settings,
        )
        assert stored[0].conversation_id is not None
        return stored[0].conversation_id

    async def read(self) -> int:
        """Do what is due."""
        return await run_due(self.db, self.steps)

    async def jobs(self) -> list[Job]:
        """Jobs that read."""
        return [job for job in await list_jobs(self.db, self.owner.user_id) if job.kind == "extract"]

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Rows about the user, as the administrator sees them; %s is the user's id."""
        return self.admin.execute(query.encode(), [self.owner.user_id]).fetchall()

    def facts(self) -> list[str]:
        """Sentences that hold now."""
        found = self.rows(
            "SELECT fact FROM memsvc.edge_versions WHERE user_id = %s AND recorded_to = 'infinity' "
            "AND valid_to > now() ORDER BY fact"
        )
        return [row[0] for row in found]

    def history(self) -> list[Fact]:
        """All that is known to hold or to have held."""
        return self.rows(
            "SELECT fact, to_char(nullif(valid_from, '-infinity'), 'YYYY'), "
            "to_char(nullif(valid_to, 'infinity'), 'YYYY') FROM memsvc.edge_versions "
            "WHERE user_id = %s AND recorded_to = 'infinity' ORDER BY valid_from, fact"
        )

    def labels(self) -> list[str]:
        """What nodes are called."""
        found = self.rows(
            "SELECT label FROM memsvc.node_versions WHERE user_id = %s AND recorded_to = 'infinity' ORDER BY 1"
        )
        return [row[0] for row in found]

    def links(self) -> int:
        """How many pieces of evidence facts have."""
        [row] = self.rows(
            "SELECT count(*) FROM memsvc.source_links WHERE user_id = %s AND edge_version_id IS NOT NULL "
            "AND recorded_to = 'infinity' AND stance = 'supports'"
        )
        return int(row[0])
