"""Pages of longer lists, and the cursors that lead from one to the next.

A cursor holds the values by which the next page is found: several as JSON in base64, one alone as it is. It is not
signed, for it grants nothing: what it leads to is read under the caller's own row security. But it comes from outside,
so it is checked here, for all lists: only what these functions would write themselves, with values that fit the
columns they are compared with, is a cursor. Everything else is refused with ``bad_cursor``.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Generic, TypeVar
from uuid import UUID

import msgspec

from memsvc.errors import BadCursorError, InvalidRequestError
from memsvc.text.storable import check_storable

T = TypeVar("T")
MAX_PAGE = 1_000
Moment = Annotated[datetime, msgspec.Meta(tz=True)]
"""A value of a cursor: a moment with an offset."""
Number = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]
"""A value of a cursor: what an integer column of a list counts."""
LongNumber = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
"""A value of a cursor: a number of a bigint column."""
UnixTime = Annotated[int, msgspec.Meta(ge=0, le=2**32 - 1)]
"""A value of a cursor: seconds since 1970."""
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
"""A value of a cursor: a score."""


class Page(msgspec.Struct, Generic[T], frozen=True, kw_only=True):
    """One page of a longer list."""

    items: list[T]
    next_cursor: str | None
    """Send it as the cursor of the next page; None: this was the last."""


def check_page(limit: int) -> None:
    """Refuse a page size outside 1 to 1,000.

    Raises:
        InvalidRequestError: it is.
    """
    if not 1 <= limit <= MAX_PAGE:
        raise InvalidRequestError(f"limit must lie between 1 and {MAX_PAGE:,}.", field="limit")


def write_cursor(place: tuple[Any, ...]) -> str:
    """A place in a list as a cursor."""
    return base64.urlsafe_b64encode(msgspec.json.encode(place)).decode().rstrip("=")


def read_cursor(cursor: str, form: type[T]) -> T:
    """The place that a cursor names.

    Args:
        cursor: as ``write_cursor`` made it.
        form: a tuple's type. What does not fit it is refused, so it bounds each value: see ``Moment``, ``Number``,
            ``Share``.

    Raises:
        BadCursorError: it is not one of ours.
    """
    try:
        place: Any = msgspec.json.decode(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)), type=form)
        check_storable(place, "cursor")
        _check_moments(place)
        written = write_cursor(place)
    except (ValueError, OverflowError, RecursionError, msgspec.MsgspecError, InvalidRequestError) as error:
        raise BadCursorError(field="cursor") from error
    if written != cursor:
        raise BadCursorError(field="cursor")
    read: T = place
    return read


def _check_moments(place: Sequence[Any]) -> None:
    """Refuse a moment that is none in UTC, before year 1 or after year 9999, by an OverflowError."""
    for value in place:
        if isinstance(value, datetime):
            value.astimezone(UTC)


def read_id(cursor: str | None, field: str = "cursor") -> UUID | None:
    """The id that a cursor is; None where none is given.

    Args:
        cursor: ``str`` of an id.
        field: what the parameter is called.

    Raises:
        BadCursorError: it is no id as we write it.
    """
    return _same(cursor, UUID, str, field) if cursor is not None else None


def read_time(cursor: str | None) -> datetime | None:
    """The moment that a cursor is; None where none is given. A plus sign that an address made a space is one again.

    Args:
        cursor: ``isoformat`` of a moment with an offset.

    Raises:
        BadCursorError: it is no moment as we write it.
    """
    if cursor is None:
        return None
    moment = _same(cursor.replace(" ", "+"), datetime.fromisoformat, datetime.isoformat)
    try:
        in_utc = moment.astimezone(UTC)
    except OverflowError as error:
        raise BadCursorError(field="cursor") from error
    if moment.utcoffset() is None:
        raise BadCursorError(field="cursor")
    return in_utc


def read_number(cursor: str | None, most: int) -> int | None:
    """The number from 1 to ``most`` that a cursor is; None where none is given.

    Raises:
        BadCursorError: it is none.
    """
    if cursor is None:
        return None
    number = _same(cursor[: len(str(most)) + 1], int, str)
    if not 1 <= number <= most:
        raise BadCursorError(field="cursor")
    return number


def _same(cursor: str, read: Callable[[str], T], write: Callable[[T], str], field: str = "cursor") -> T:
    """What ``read`` makes of a cursor that ``write`` gives back as it came.

    Raises:
        BadCursorError: it cannot be read, or is written otherwise.
    """
    try:
        found = read(cursor)
    except ValueError as error:
        raise BadCursorError(field=field) from error
    if write(found) != cursor:
        raise BadCursorError(field=field)
    return found
