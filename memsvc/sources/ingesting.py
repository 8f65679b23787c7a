"""Store a source's messages in batches, each a transaction of its own.

Before, the source was read once to check each message, so that nothing of a bad file is stored. A run that was
interrupted can be repeated: what is stored is skipped by its identity.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.errors import DatabaseUnavailableError, MessageConflictError, OverloadedError, StorageFullError
from memsvc.settings import Settings
from memsvc.sources.finding import Source
from memsvc.sources.kinds.kind import Placed
from memsvc.sources.messages import MessageIn, Outcome, StoredMessage, append, prepare
from memsvc.sources.previewing import Reader

BATCH, BATCH_CHARS = 500, 4_000_000


async def store(
    db: Database, settings: Settings, reader: Reader, source: Source, advance: Callable[[int], object]
) -> Counter[Outcome]:
    """Store a source's messages in batches; returns how many had which outcome.

    Args:
        db: the database.
        settings: limits.
        reader: reads for the owner.
        source: what is stored; it was checked before.
        advance: called after each batch with its number of messages.

    Raises:
        MessageConflictError: a message is stored with other words; the batches before are kept.
        DatabaseUnavailableError, OverloadedError, StorageFullError: what was stored is kept.
    """
    counts: Counter[Outcome] = Counter()
    titled: set[str] = set()
    for batch in batches(reader.read(source), min(BATCH, settings.max_batch)):
        for stored in await _append(db, reader.owner, batch, settings):
            counts[stored.outcome] += 1
        titles = {one.message.conversation: one.title for one in batch if one.title}
        new = {name: title for name, title in titles.items() if name not in titled}
        if new:
            await _give_titles(db, reader.owner, new)
            titled.update(new)
        advance(len(batch))
    return counts


async def _give_titles(db: Database, owner: Owner, titles: dict[str, str]) -> None:
    """Set the names for people of conversations; the newest name wins."""
    values = {"user_id": owner.user_id, "identifiers": list(titles), "titles": list(titles.values())}
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
        return await append(db, owner, [one.message for one in batch], settings)
    except MessageConflictError as error:
        where, message = batch[error.details["row"]][:2]
        raise MessageConflictError(
            f"{where}: {message.id or 'this message'} in conversation {message.conversation!r} has other words already."
        ) from error
    except (DatabaseUnavailableError, OverloadedError, StorageFullError) as error:
        raise type(error)(error.message, hint="What was stored is kept; run the command again to resume.") from error


def checker(owner: Owner, settings: Settings) -> Callable[[MessageIn], object]:
    """Return the check of a message that storing it makes."""
    return lambda message: prepare([message], owner, settings)
