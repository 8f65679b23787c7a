"""Store a source's messages in batches, each a transaction of its own.

Before, the source was read once to check each message, so that nothing of a bad file is stored. A run that was
interrupted can be repeated: what is stored is skipped by its identity.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Protocol

import msgspec

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.errors import (
    DatabaseUnavailableError,
    MessageConflictError,
    OverloadedError,
    StorageFullError,
    TextRefusedError,
)
from memsvc.settings import Settings
from memsvc.sources.finding import Source
from memsvc.sources.kinds.kind import Placed
from memsvc.sources.messages import (
    MAX_PARTS,
    MessageIn,
    StoredMessage,
    admitted,
    append_checked,
    check_message,
    kept_back,
    prepare,
    prepare_aside,
    refused_of,
)
from memsvc.sources.previewing import Reader
from memsvc.sources.times import SaidAt
from memsvc.text.characters import is_visible

BATCH, BATCH_CHARS = 500, 4_000_000


class Storing(Protocol):
    """Who is told of each batch."""

    async def storing(self, messages: int) -> None:
        """A batch is about to be stored; what this raises keeps it out."""

    async def stored(self, messages: int, counts: Counter[str]) -> None:
        """A batch was stored, and so many messages so far had which outcome."""


async def store(
    db: Database, settings: Settings, reader: Reader, source: Source, watcher: Storing, *, start: int = 0
) -> Counter[str]:
    """Store a source's messages in batches; returns how many had which outcome.

    A later export may have other words or another name for a message that is stored, because a contact was renamed or
    the owner is another one. It stays as it is, with the outcome ``differs``. Files that people wrote are refused.

    Args:
        db: the database.
        settings: limits.
        reader: reads for the owner.
        source: what is stored; it was checked before.
        watcher: is told of each batch.
        start: so many messages are left out, because an earlier run stored them.

    Raises:
        MessageConflictError: a message of a file that no program exported is stored with other words; the batches
            before are kept.
        DatabaseUnavailableError, OverloadedError, StorageFullError: what was stored is kept.
    """
    counts: Counter[str] = Counter()
    titled: set[str] = set()
    found = batches(islice(reader.read(source), start, None), min(BATCH, settings.max_batch))
    while batch := await asyncio.to_thread(next, found, None):
        await watcher.storing(len(batch))
        fresh, paused = batch, False
        while fresh:
            try:
                outcomes = [one.outcome for one in await _append(db, reader.owner, fresh, settings)]
                counts.update(outcomes)
                paused = "paused" in outcomes
                break
            except MessageConflictError as error:
                if not source.kind.is_export:
                    raise
                fresh = await _without_differing(db, reader.owner, fresh, set(error.rows), counts)
        titles = {one.message.conversation: one.title for one in batch if one.title}
        new = {name: title for name, title in titles.items() if name not in titled}
        if new and not paused:  # a title is the user's words, too
            await _give_titles(db, reader.owner, new)
            titled.update(new)
        await watcher.stored(len(batch), counts)
    return counts


async def _without_differing(
    db: Database, owner: Owner, batch: Sequence[Placed], differing: set[int], counts: Counter[str]
) -> list[Placed]:
    """Return a batch without the messages that are stored with other words; of those that have grown, what is new."""
    found: list[Placed] = []
    for index, one in enumerate(batch):
        if index not in differing:
            found.append(one)
        elif (rest := await _grown(db, owner, one) if one.may_grow else None) is not None:
            found.append(rest)
        else:
            counts["differs"] += 1
    return found


async def _grown(db: Database, owner: Owner, placed: Placed) -> Placed | None:
    """Return what a message has after the words with which it is stored; None: it begins with others."""
    message, _ = admitted(placed.message, owner)
    asked = {"user_id": owner.user_id, "identifier": message.conversation, "client_id": message.id}
    async with db.transaction(owner.user_id) as connection:
        stored: str | None = (await connection.execute(query("stored_text"), asked)).scalar_one_or_none()
    if not stored or not message.text.startswith(stored) or not is_visible(rest := message.text[len(stored) :].strip()):
        return None
    identity = f"{message.id} {len(stored)}"
    return placed._replace(message=msgspec.structs.replace(message, text=rest, id=identity))


async def _give_titles(db: Database, owner: Owner, titles: dict[str, str]) -> None:
    """Set the names for people of conversations; the newest name wins."""
    named = [owner.policy.lenient().admit(title, "title") for title in titles.values()]
    values = {"user_id": owner.user_id, "identifiers": list(titles), "titles": named}
    async with db.transaction(owner.user_id) as connection:
        await connection.execute(query("title_conversations"), values)


def batches(placed: Iterable[Placed], most: int, chars: int = BATCH_CHARS) -> Iterator[list[Placed]]:
    """Yield batches of at most ``most`` messages and ``chars`` characters; a longer message has its own batch."""
    batch: list[Placed] = []
    length = 0
    for one in placed:
        if batch and (len(batch) == most or length + len(one.message.text) > chars):
            yield batch
            batch, length = [], 0
        batch.append(one)
        length += len(one.message.text)
    if batch:
        yield batch


async def _append(db: Database, owner: Owner, batch: Sequence[Placed], settings: Settings) -> list[StoredMessage]:
    """Store a batch; its errors name the position in the file and say how to resume."""
    try:
        prepared = await prepare_aside([one.message for one in batch], owner, settings)
        return await append_checked(
            db, owner, [kept_back(one) if given.is_trace else one for given, one in zip(batch, prepared, strict=True)]
        )
    except MessageConflictError as error:
        where, message = batch[error.details["row"]][:2]
        named = MessageConflictError(
            f"{where}: {message.id or 'this message'} in conversation {message.conversation!r} has other words already."
        )
        named.rows = error.rows or [error.details["row"]]
        raise named from error
    except (DatabaseUnavailableError, OverloadedError, StorageFullError) as error:
        raise type(error)(error.message, hint="What was stored is kept; run the command again to go on.") from error


def checker(owner: Owner, settings: Settings) -> Callable[[MessageIn], SaidAt]:
    """Return the check of a message that storing it makes; only a long one is split for it."""

    def check(message: MessageIn) -> SaidAt:
        if len(message.text) > MAX_PARTS:
            return prepare([message], owner, settings)[0].said_at
        if (refused := refused_of(message, owner)) is not None:
            field, kind = refused
            raise TextRefusedError(f"{field} contains a {kind}, which is not stored here.", field=field)
        return check_message(message, owner, settings)

    return check
