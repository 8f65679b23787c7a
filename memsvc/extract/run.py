"""Reads sources window by window: the steps of the job ``extract``, and the question for it at the end of ``process``.

The extractor works outside of transactions; what it found of a window is then written in one, together with how far it
has read. So a process that is killed anywhere has done each window once or not at all.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple
from uuid import UUID

import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc import traces
from memsvc.access.users import Owner, owner_of
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.errors import (
    ConfigurationError,
    ContendedError,
    ExtractorMissingError,
    LlmSlowError,
    MemsvcError,
    PassageUnknownError,
    TurnTooSlowError,
)
from memsvc.extract import registry
from memsvc.extract.dividing import Sizes, divide, forget, part_of
from memsvc.extract.extraction import Extractor, for_user
from memsvc.extract.grounding import Grounded, ground
from memsvc.extract.stems import stems_for
from memsvc.extract.unread import Turns, next_turns, turn_again
from memsvc.extract.validation import Checked, check
from memsvc.extract.write import Found, Written, write_window
from memsvc.graph.ontology import EdgeTypeIn, NodeTypeIn, propose
from memsvc.observe import EXTRACT_SECONDS, FACTS_FOUND, TURNS_READ
from memsvc.queue.execution import SLICE_S, Step, Steps
from memsvc.queue.jobs import announce_jobs
from memsvc.settings import Settings

MOST_MOVES = 5
"""How often a window may be taken away under our eyes, by another reader or by an erasure, before the job waits."""
Counter = Callable[[int], None]
log = structlog.get_logger()


class Read(NamedTuple):
    """What was done."""

    turns: int
    facts: int
    refused: int
    more: bool
    """There is more to be read, and the time was up."""


class Extractors:
    """The extractors of this process, each loaded once, when it is first asked for; off the event loop."""

    def __init__(self, settings: Settings) -> None:
        """Prepare; nothing is loaded yet."""
        self._settings = settings
        self._loaded: dict[str, Extractor] = {}
        self._lock = asyncio.Lock()
        self._away = False
        self.sizes: Sizes = {}
        """Of windows that could not be read, until they are."""

    @property
    def backend(self) -> str | None:
        """The name of the configured one in the registry; None: nothing is read."""
        name = registry.chosen(self._settings)
        return None if name == registry.NONE else name

    @property
    def left_out(self) -> list[str]:
        """Kinds of sources of which nothing is read unless somebody asks for it."""
        return self._settings.kinds_of("extractor_skips")

    async def get(self, backend: str | None = None) -> Extractor:
        """The extractor of this name; None: the configured one.

        Raises:
            ExtractorMissingError: it is not installed, or reading is switched off.
            ConfigurationError: a setting that it needs is missing.
        """
        name = backend or self.backend
        if name is None:
            raise ExtractorMissingError("No extractor is configured: MEMSVC_EXTRACTOR is none.")
        async with self._lock:
            if name not in self._loaded:
                self._loaded[name] = await asyncio.to_thread(registry.load, name, self._settings)
            return self._loaded[name]

    async def named(self, name: str | None) -> tuple[Extractor, str]:
        """The extractor that somebody wants, and its name in the registry; auto, '' and None: the configured one.

        Raises:
            ExtractorMissingError, ConfigurationError: as ``get``.
        """
        wanted = name if name and name != registry.AUTO else None
        return await self.get(wanted), wanted or self.backend or ""

    async def configured(self) -> Extractor | None:
        """The configured one; None: there is none, or it is not here, which is said once and not tried again."""
        if self.backend is None or self._away:
            return None
        try:
            return await self.get()
        except (ExtractorMissingError, ConfigurationError) as error:
            log.warning("no facts are read", code=error.code, error=error.message)
            self._away = True
            return None


def extraction_steps(extractors: Extractors | None, progress: Counter = lambda _turns: None) -> Steps:
    """Steps that read facts: ``extract`` reads a source, ``process`` asks for that where something is to be read.

    Those of ``process`` go behind its others, for vectors ground what is read.
    """
    if extractors is None:
        return {}

    async def ask(db: Database, user_id: UUID, source_id: UUID) -> bool:
        extractor = await extractors.configured()
        if extractor is not None:
            values = {
                "user_id": user_id, "source_id": source_id, "extractor": extractor.name,
                "left_out": extractors.left_out,
            }  # fmt: skip

            async def asked(connection: AsyncConnection) -> bool:
                return (await connection.execute(query("ask_reading"), values)).one_or_none() is not None

            if await db.attempt(user_id, asked):
                announce_jobs(db)
        return False

    async def read(db: Database, user_id: UUID, source_id: UUID) -> bool:
        about = {"user_id": user_id, "source_id": source_id}
        owner = await owner_of(db, user_id, refuses=False)
        async with db.transaction(user_id) as connection:
            row = (await connection.execute(query("readers_asked"), about | {"left_out": extractors.left_out})).one()
        by_itself = [extractors.backend] if extractors.backend and not row.is_left_out else []
        until = time.monotonic() + SLICE_S
        for backend in dict.fromkeys([*by_itself, *row.backends]):
            extractor = await extractors.get(backend)
            seconds = max(until - time.monotonic(), 0)
            done = await read_source(
                db, owner, source_id, extractor, backend=backend, seconds=seconds, progress=progress,
                most=extractors.sizes,
            )  # fmt: skip
            if done.more:
                return True

            values = {**about, "backend": backend, "extractor": extractor.name}

            async def answered(connection: AsyncConnection, values: dict[str, Any] = values) -> None:
                await connection.execute(query("reading_answered"), values)

            await db.attempt(user_id, answered)
        return False

    return {**({"process": [ask]} if extractors.backend else {}), "extract": [_again(extractors), read]}


async def read_source(
    db: Database,
    owner: Owner,
    source_id: UUID,
    extractor: Extractor,
    *,
    backend: str,
    seconds: float = math.inf,
    progress: Counter = lambda _turns: None,
    most: Sizes | None = None,
) -> Read:
    """Read what an extractor has not read of a source, and write what it says.

    Args:
        db: the database.
        owner: whose.
        source_id: the conversation.
        extractor: who reads.
        backend: its name in the registry, for the record.
        seconds: no further window is begun after so long; the first one always is.
        progress: called with the number of turns of each window that was read.
        most: how many turns may be read together, where a window could not be; kept for the next call.

    A window that is too much for the reader is read in halves, one that cannot be read is read turn by turn. Turns that
    cannot be read while a later one can are passed over, and each of them becomes a job of its own.

    Raises:
        ExtractorError, LlmError: it could not read a window, nor a turn of it; those before are done.
        ContendedError: somebody else reads the same source, or erases it bit by bit.
    """
    reader = for_user(extractor, db, owner.user_id)
    until = time.monotonic() + seconds
    await begin_after_older(db, owner, extractor, backend, source=source_id)
    turns = facts = refused = moves = 0
    most = {} if most is None else most
    tried = False
    while True:
        async with db.transaction(owner.user_id) as connection:
            following = await next_turns(connection, owner, source_id, extractor.name)
        if following is None:
            return Read(turns, facts, refused, more=False)
        if tried and time.monotonic() >= until:
            return Read(turns, facts, refused, more=True)
        tried = True
        found = await find(db, owner, reader, following, backend=backend, most=most)
        if found is None:
            continue
        written = await _written(db, owner, source_id, found)
        if written is None:
            moves += 1
            if moves == MOST_MOVES:
                raise ContendedError("Somebody else reads this source, or erases it.")
            continue
        forget(found.turns, most)
        await propose_types(db, owner, found)
        count(found, written)
        turns += len(found.turns.turns)
        facts += written.facts
        refused += len(written.left)
        progress(len(found.turns.turns))


async def begin_after_older(
    db: Database, owner: Owner, extractor: Extractor, backend: str, *, source: UUID | None = None
) -> None:
    """Let a new version begin where older ones stopped, in one source or in all (``memsvc.extract.rereading``)."""
    values = {"user_id": owner.user_id, "source_id": source, "extractor": extractor.name, "backend": backend}

    async def begin(connection: AsyncConnection) -> None:
        await connection.execute(query("begin_after_older"), values)

    await db.attempt(owner.user_id, begin)


async def find(
    db: Database, owner: Owner, reader: Extractor, following: Turns, *, backend: str, most: Sizes
) -> Found | None:
    """What a reader finds in the part of a window that is read next (``memsvc.extract.dividing``).

    Args:
        db: the database.
        owner: whose.
        reader: who reads.
        following: the window.
        backend: the reader's name in the registry.
        most: what is known of parts that could not be read; more is noted here.

    Returns:
        What was found; None: this part could not be read, and a smaller one is to be tried.

    Raises:
        ExtractorError, LlmError: there is nothing smaller to be tried.
    """
    part = part_of(following, most)
    try:
        return await _find(db, owner, reader, part, backend)
    except Exception as error:
        if not divide(part, following, most, error):
            raise
        return None


async def _find(db: Database, owner: Owner, reader: Extractor, turns: Turns, backend: str) -> Found:
    """What a reader finds in some turns, checked."""
    async with db.transaction(owner.user_id) as connection:
        grounded = await ground(connection, owner, turns)
    return Found(turns, grounded, await look(db, owner, reader, grounded), reader.name, backend)


def _again(extractors: Extractors) -> Step:
    """The step that tries a turn again which was passed over; for anything else it has nothing to do."""

    async def again(db: Database, user_id: UUID, passage_id: UUID) -> bool:
        await _read_again(db, await owner_of(db, user_id, refuses=False), passage_id, extractors)
        return False

    return again


async def _read_again(db: Database, owner: Owner, passage_id: UUID, extractors: Extractors) -> None:
    async with db.transaction(owner.user_id) as connection:
        about = {"user_id": owner.user_id, "passage_id": passage_id}
        rows = (await connection.execute(query("passed_over_by"), about)).all()
    for row in rows:
        extractor = await extractors.get(row.backend)
        if extractor.name != row.extractor:  # another version reads all of it anew
            continue
        async with db.transaction(owner.user_id) as connection:
            turns = await turn_again(connection, owner, passage_id, rereading=row.rereading_id)
        if turns is None:
            continue
        reader = for_user(extractor, db, owner.user_id)
        try:
            found = await _find(db, owner, reader, turns, row.backend)
        except LlmSlowError as error:  # others could be read: it is this turn, and trying for ever would cost for ever
            raise TurnTooSlowError from error
        written = await _written(db, owner, row.source_id, found)
        if written is not None:
            await propose_types(db, owner, found)
            count(found, written)


async def look(db: Database, owner: Owner, extractor: Extractor, grounded: Grounded) -> Checked:
    """What an extractor finds in a window, checked."""
    began = time.monotonic()
    with traces.span("extract window"):
        extraction = await extractor.extract(grounded.window)
    EXTRACT_SECONDS.observe(time.monotonic() - began)
    async with db.transaction(owner.user_id) as connection:
        stems = await stems_for(connection, grounded.window, extraction)
    return await asyncio.to_thread(check, grounded.window, extraction, stems)


async def _written(db: Database, owner: Owner, source_id: UUID, found: Found) -> Written | None:
    with suppress(PassageUnknownError):  # erased a moment ago
        return await db.attempt(owner.user_id, lambda connection: write_window(connection, owner, source_id, found))
    return None


async def propose_types(db: Database, owner: Owner, found: Found) -> None:
    """Propose types that the ontology lacks; those that it has, or that cannot be, are passed over."""
    for one in found.checked.proposed:
        known = NodeTypeIn if one.kind == "node" else EdgeTypeIn
        with suppress(MemsvcError):
            await propose(db, owner, known(name=one.name, description=one.description), by=found.extractor)


def count(found: Found, written: Written) -> None:
    """Add a window to this process's figures."""
    doubtful = sum(one.reason == "doubtful" for one in written.left)
    TURNS_READ.inc(len(found.turns.turns))
    FACTS_FOUND.labels("written").inc(written.facts)
    FACTS_FOUND.labels("doubtful").inc(doubtful)
    FACTS_FOUND.labels("refused").inc(len(written.left) - doubtful + found.checked.dropped)
