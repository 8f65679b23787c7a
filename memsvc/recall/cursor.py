"""Pages of a deliberate recall, and the cursors that lead from one to the next.

Scores are no place to go on from: a message that is stored or erased between two pages changes document frequencies and
the spread of all scores, so what stood behind a score may stand before it a moment later. A cursor therefore carries
what was given: the next page is the same list without it, and the best of what is left. It also carries what was
thought of the list as a whole, for the rest alone cannot tell. Where nothing has changed, the list is looked up as the
first page's was; else as it was known then. So nothing comes twice and nothing in the list is passed over, whatever is
added, merged, archived or erased meanwhile; what was erased is simply not there. What was said again goes with the
memory that stood for it: where that is erased, the cursor still knows its repeats. The price is 16 bytes for each
memory given and each repeat, and an end after 1,000 memories; repeats get the room that these leave, and 20 each at
most.

A cursor belongs to one question of one user. It is not secret and grants nothing: it can only leave out memories, and
what it leads to is read under the caller's own row security.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

import msgspec

from memsvc.db.paging import read_cursor, write_cursor
from memsvc.errors import BadCursorError
from memsvc.recall.options import MAX_LIMIT, Mode

FORM = 3
DIGEST_BYTES, UUID_BYTES = 12, 16
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
LAST_MOMENT = (datetime.max.replace(tzinfo=UTC) - EPOCH) // MICROSECOND


class _Written(NamedTuple):
    """What a cursor holds."""

    form: int
    moment: int
    """Microseconds since 1970."""
    question: bytes
    """The question's digest."""
    given: bytes
    """Ids of what was given, one behind the other."""
    repeats: bytes
    """Ids of what was said in the same words, likewise."""
    confidence: float | None
    """Of the first page."""
    relevant: bool
    """Of the first page."""
    check: bytes
    """A digest of all of that."""


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Where the next page begins."""

    known_at: datetime
    """When the first page was asked for, in UTC: the moment at which every page is answered, for what was known, for
    what "yesterday" means and, where no ``as_of`` is given, for what is true."""
    given: tuple[UUID, ...]
    """The memories of the pages before, best first, each once; fewer than 1,000, and none before the first page."""
    repeats: tuple[UUID, ...] = ()
    """What was said in the words of these memories; together with them 1,000 at most."""
    confidence: float | None = None
    """Of the first page, 0 to 1: every page has it."""
    relevant: bool = True
    """Of the first page, likewise."""


def question(user_id: UUID, **asked: Any) -> bytes:
    """The digest of a question: of the user and of all that decides which memories answer it, the page size excepted.

    Args:
        user_id: whose memory is asked.
        **asked: the query, filters, weights, form and whatever else counts; dataclasses, structs and plain values.
    """
    told = msgspec.json.encode([user_id.hex, asked], order="sorted")
    return hashlib.blake2b(told, digest_size=DIGEST_BYTES, person=b"memsvc recall").digest()


def _check_digest(parts: Iterable[object]) -> bytes:
    return hashlib.blake2b(msgspec.json.encode(list(parts)), digest_size=DIGEST_BYTES, person=b"memsvc cursor").digest()


def encode(place: Place, asked: bytes) -> str:
    """The cursor that leads to a place, for the question with this digest."""
    moment = (place.known_at - EPOCH) // MICROSECOND
    given, repeats = (b"".join(one.bytes for one in ids) for ids in (place.given, place.repeats))
    parts = (FORM, moment, asked, given, repeats, place.confidence, place.relevant)
    return write_cursor((*parts, _check_digest(parts)))


def _ids(told: bytes) -> tuple[UUID, ...]:
    return tuple(UUID(bytes=told[start : start + UUID_BYTES]) for start in range(0, len(told), UUID_BYTES))


def decode(cursor: str, asked: bytes) -> Place:
    """The place that a cursor leads to.

    Raises:
        BadCursorError: it is broken, or belongs to another question or user.
    """
    told = read_cursor(cursor, _Written)
    whole = hmac.compare_digest(_check_digest(told[:-1]), told.check)
    memories, rest = divmod(len(told.given), UUID_BYTES)
    repeats, rest_of_repeats = divmod(len(told.repeats), UUID_BYTES)
    fits = (
        (told.form == FORM and 0 <= told.moment <= LAST_MOMENT)
        and (0 < memories < MAX_LIMIT and not rest)
        and (memories + repeats <= MAX_LIMIT and not rest_of_repeats)
        and (told.confidence is None or 0 <= told.confidence <= 1)
    )
    if not whole or not fits:
        raise BadCursorError(field="cursor")
    if not hmac.compare_digest(told.question, asked):
        raise BadCursorError(
            "The cursor belongs to another question.",
            hint="Send it with the query, filters and options of the page that it came with; only limit may differ.",
            field="cursor",
        )
    return Place(
        known_at=EPOCH + told.moment * MICROSECOND,
        given=_ids(told.given),
        repeats=_ids(told.repeats),
        confidence=told.confidence,
        relevant=told.relevant,
    )


def next_cursor(
    begun: Place, page: Sequence[UUID], asked: bytes, *, more: bool, repeats: Iterable[UUID] = ()
) -> str | None:
    """The cursor to send along with a page.

    Args:
        begun: where this page began.
        page: the memories of this page.
        asked: the question's digest.
        more: whether anything is left behind this page.
        repeats: what was said in the words of these memories.

    Returns:
        None where nothing is left, or 1,000 memories have been given.
    """
    given = (*begun.given, *page)
    if not more or not page or len(given) >= MAX_LIMIT:
        return None
    known = (*begun.repeats, *repeats)[: MAX_LIMIT - len(given)]
    return encode(msgspec.structs.replace(begun, given=given, repeats=known), asked)


def check_mode(cursor: str | None, mode: Mode) -> None:
    """Refuse a cursor outside the mode that has pages.

    Raises:
        BadCursorError: it is.
    """
    if cursor is not None and mode != "deliberate":
        raise BadCursorError(
            f"The mode {mode} has no pages.", hint="Send a cursor with the mode deliberate.", field="cursor"
        )
