"""Sleep's task ``reread``: a new version of an extractor reads again what older versions have read.

Each page is a window of a source, the most recalled sources first; its facts, its report and how far the source was
read again are written in one transaction. At night a bounded part is read, and new messages come first: a job gives way
to them after each window. A re-reading that is to be undone is undone first. The rest: ``memsvc.extract.rereading``.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from datetime import UTC, datetime
from typing import NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.errors import ContendedError, RereadingStateError
from memsvc.extract.dividing import forget
from memsvc.extract.extraction import Extractor, for_user
from memsvc.extract.rereading import (
    Rereading,
    Source,
    begin,
    changes_to_undo,
    read_before,
    set_state,
    sources,
    to_undo,
    undo_changes,
)
from memsvc.extract.run import MOST_MOVES, Extractors, find, propose_types
from memsvc.extract.unread import NOTHING, turns_between
from memsvc.extract.write import Found, write_window
from memsvc.observe import TURNS_READ
from memsvc.settings import Settings
from memsvc.sleep.tasks import Applied, Offer, Page, Place, Scope

SOURCES_AT_ONCE = 100
"""Sources that one look at recalls puts in order."""


class Window(NamedTuple):
    """Work of a page: a window that was read."""

    source_id: UUID
    found: Found


class Undoing(NamedTuple):
    """Work of a page: changes that are to be undone."""

    changes: Sequence[UUID]


class Reread:
    """See ``memsvc.sleep.tasks.Task``; its ``place`` is how many messages the run has read, or what it has undone."""

    name = "reread"
    gives_way = True

    def __init__(self, extractors: Extractors, settings: Settings) -> None:
        """Prepare; the extractor is loaded when there is something to read."""
        self._extractors = extractors
        self._most = settings.reread_messages

    async def has_work(self, db: Database, owner: Owner) -> bool:
        """Whether something is to be undone, or the configured extractor's version has something to read again."""
        if await to_undo(db, owner) is not None:
            return True
        opened = (await self._begun(db, owner))[1] if self._most > 0 else None
        return opened is not None and (opened.state == "open" or opened.left > 0)

    async def _begun(self, db: Database, owner: Owner) -> tuple[Extractor | None, Rereading | None]:
        """The configured extractor, and its re-reading where it may go on."""
        backend = self._extractors.backend
        if backend is None or not await read_before(db, owner, backend):
            return None, None
        extractor = await self._extractors.configured()
        if extractor is None:
            return None, None
        opened = await begin(db, owner, extractor, backend, nightly=True)
        return extractor, opened if opened is not None and opened.state in {"open", "done"} else None

    async def pages(self, db: Database, owner: Owner, scope: Scope, place: Place | None) -> AsyncGenerator[Page]:
        """Yield what is to be undone, then windows, read. Reads nothing for one node, for a time, or in a dry run."""
        if scope.dry or scope.from_node is not None or (scope.since is not None and not scope.nightly):
            return
        undoing = await to_undo(db, owner)
        if undoing is not None:
            async for page in self._undone(db, owner, undoing.rereading_id, place):
                yield page
        done = int(place.get("turns", 0)) if place else 0
        most = self._most if scope.nightly else None
        if most is not None and done >= most:
            return
        extractor, opened = await self._begun(db, owner)
        if extractor is None or opened is None:
            return
        async for page in self._windows(db, owner, extractor, opened, done):
            yield page
            if most is not None and page.place["turns"] >= most:
                return

    async def _undone(
        self, db: Database, owner: Owner, rereading_id: UUID, place: Place | None
    ) -> AsyncGenerator[Page]:
        before = None
        if place is not None and place.get("undoing") == str(rereading_id):
            before = datetime.fromisoformat(place["before"])
        while changes := await changes_to_undo(db, owner, rereading_id, before=before):
            before = changes[-1][1]
            yield Page(
                place={"undoing": str(rereading_id), "before": before.isoformat()}, examined=len(changes), left=0,
                work=Undoing([change for change, _ in changes]),
            )  # fmt: skip
        await set_state(db, owner, rereading_id, "undone", ["undoing"])

    async def _windows(
        self, db: Database, owner: Owner, extractor: Extractor, opened: Rereading, done: int
    ) -> AsyncGenerator[Page]:
        left, moment, after = opened.left, datetime.now(UTC), None
        while True:
            async with db.transaction(owner.user_id) as connection:
                some = await sources(
                    connection, owner, extractor.name, moment=moment, after=after, limit=SOURCES_AT_ONCE
                )
            if not some:
                break
            after = (some[-1].strength, some[-1].source_id)
            for source in some:
                async for work in self._windows_of(db, owner, extractor, opened.rereading_id, source):
                    turns = len(work.found.turns.turns) if work is not None else 0
                    done, left = done + turns, max(left - turns, 0)
                    yield Page(place={"turns": done}, examined=turns, left=left, work=work)
        if opened.state == "open":
            try:
                await set_state(db, owner, opened.rereading_id, "done", ["open"])
            except RereadingStateError:  # somebody stopped it, so the rest of the sources gave nothing
                return

    async def _windows_of(
        self, db: Database, owner: Owner, extractor: Extractor, rereading_id: UUID, source: Source
    ) -> AsyncGenerator[Window | None]:
        """Read windows of a source, from where the stored ones end; nothing if the re-reading was stopped.

        None: a part of a window could not be read, and a smaller one is read next; a job may end here or give way.

        Raises:
            ContendedError: windows were read and not written, because somebody else moves the source's place.
            ExtractorError, LlmError: it could not be read.
        """
        reader = for_user(extractor, db, owner.user_id)
        last, moves = None, 0
        about = {"user_id": owner.user_id, "source_id": source.source_id, "rereading_id": rereading_id}
        while True:
            async with db.transaction(owner.user_id) as connection:
                place = (await connection.execute(query("reread_place"), about)).one_or_none()
                turns = await turns_between(
                    connection, owner, source.source_id, place.again_upto, place.begun_after or NOTHING,
                    rereading=rereading_id,
                ) if place is not None else None  # fmt: skip
            if turns is None:
                return
            moves = moves + 1 if turns.passages[0] == last else 0
            if moves == MOST_MOVES:
                raise ContendedError("Somebody else reads this source, or erases it.")
            last = turns.passages[0]
            backend, most = self._extractors.backend or "", self._extractors.sizes
            while (found := await find(db, owner, reader, turns, backend=backend, most=most)) is None:
                yield None
            forget(found.turns, most)
            await propose_types(db, owner, found)
            yield Window(source.source_id, found)
            TURNS_READ.inc(len(found.turns.turns))

    async def apply(self, connection: AsyncConnection, owner: Owner, page: Page) -> Applied:
        """Write a window, or undo changes; applied: facts that were written or taken back, or changes undone."""
        if isinstance(page.work, Undoing):
            undone = await undo_changes(connection, owner, page.work.changes, asserted_by="user")
            return Applied(applied=undone, counts={"undone": undone})
        if page.work is None:
            return Applied()
        work: Window = page.work
        written = await write_window(connection, owner, work.source_id, work.found)
        if written is None:
            return Applied()
        doubtful = sum(one.reason == "doubtful" for one in written.left)
        return Applied(
            applied=written.facts, proposed=doubtful, counts={"facts_changed": written.facts, "proposed": doubtful}
        )


async def messages_wait(db: Database, owner: Owner) -> bool:
    """Whether new messages of a user wait for a worker."""
    async with db.transaction(owner.user_id) as connection:
        return bool((await connection.execute(query("messages_wait"), {"user_id": owner.user_id})).scalar_one())


OFFER = Offer(
    make=lambda means: Reread(means.extractors, means.settings),
    help="a new version of an extractor reads again what an older one has read",
    order=200,
    of_node=False,
    done="facts_changed",
)
