"""Pages of longer lists, and the cursors that lead from one to the next.

A cursor holds the values from which the next page starts: several values as JSON in base64, a single value as it is. It
is not signed, because it grants nothing: the next page is read under the caller's own row security. But it comes from
outside, so this module checks it for all lists. A cursor is accepted only if these functions would write the same text
and its values fit the columns that they are compared with. Any other is refused with ``bad_cursor``.
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
"""A value of a cursor: a number of an integer column, 0 or more."""
LongNumber = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
"""A value of a cursor: a number of a bigint column, 0 or more."""
UnixTime = Annotated[int, msgspec.Meta(ge=0, le=2**32 - 1)]
"""A value of a cursor: seconds since 1970."""
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
"""A value of a cursor: a score, 0 to 1."""


class Page(msgspec.Struct, Generic[T], frozen=True, kw_only=True):
    """One page of a longer list."""

    items: list[T]
    next_cursor: str | None
    """Send it as the cursor of the next page; None: this was the last."""


def check_page(limit: int) -> None:
    """Refuse a page size outside 1 to 1,000.

    Raises:
        InvalidRequestError: the limit is outside this range.
    """
    if not 1 <= limit <= MAX_PAGE:
        raise InvalidRequestError(f"limit must lie between 1 and {MAX_PAGE:,}.", field="limit")


def write_cursor(position: tuple[Any, ...]) -> str:
    """Write a position in a list as a cursor."""
    return base64.urlsafe_b64encode(msgspec.json.encode(position)).decode().rstrip("=")


def read_cursor(cursor: str, form: type[T]) -> T:
    """Read the position in a list from a cursor.

    Args:
        cursor: as ``write_cursor`` wrote it.
        form: the type of the tuple. It limits the range of each value: see ``Moment``, ``Number``, ``Share``.

    Raises:
        BadCursorError: the cursor is not one of ours.
    """
    try:
        position: Any = msgspec.json.decode(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)), type=form)
        check_storable(position, "cursor")
        _check_moments(position)
        written = write_cursor(position)
    except (ValueError, OverflowError, RecursionError, msgspec.MsgspecError, InvalidRequestError) as error:
        raise BadCursorError(field="cursor") from error
    if written != cursor:
        raise BadCursorError(field="cursor")
    read: T = position
    return read


def _check_moments(position: Sequence[Any]) -> None:
    """Raise an OverflowError for a moment that is before year 1 or after year 9999 in UTC."""
    for value in position:
        if isinstance(value, datetime):
            value.astimezone(UTC)


def read_id(cursor: str | None, field: str = "cursor") -> UUID | None:
    """Read a cursor that is an id; None if no cursor is given.

    Args:
        cursor: ``str`` of an id.
        field: the name of the parameter, for the error.

    Raises:
        BadCursorError: the cursor is not an id as memsvc writes it.
    """
    return _same(cursor, UUID, str, field) if cursor is not None else None


def read_time(cursor: str | None) -> datetime | None:
    """Read a cursor that is a moment; None if no cursor is given.

    A space is read as a plus sign, because the query of a URL turns plus signs into spaces.

    Args:
        cursor: ``isoformat`` of a moment with an offset.

    Raises:
        BadCursorError: the cursor is not a moment as memsvc writes it.
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
    """Read a cursor that is a number from 1 to ``most``; None if no cursor is given.

    Raises:
        BadCursorError: the cursor is not such a number.
    """
    if cursor is None:
        return None
    number = _same(cursor[: len(str(most)) + 1], int, str)
    if not 1 <= number <= most:
        raise BadCursorError(field="cursor")
    return number


def _same(cursor: str, read: Callable[[str], T], write: Callable[[T], str], field: str = "cursor") -> T:
    """Read a cursor, and check that ``write`` turns the value into the same text again.

    Raises:
        BadCursorError: the cursor cannot be read, or ``write`` writes it otherwise.
    """
    try:
        found = read(cursor)
    except ValueError as error:
        raise BadCursorError(field=field) from error
    if write(found) != cursor:
        raise BadCursorError(field=field)
    return found
