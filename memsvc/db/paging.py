"""Pages of longer lists, and the cursors that lead from one to the next."""

from __future__ import annotations

import base64
import binascii
from typing import Any, Generic, TypeVar

import msgspec

from memsvc.errors import InvalidRequestError
from memsvc.text.storable import check_storable

T = TypeVar("T")
MAX_PAGE = 1_000


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

    Raises:
        InvalidRequestError: it is not one of ours.
    """
    try:
        place = msgspec.json.decode(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)), type=form)
        check_storable(place, "cursor")
    except (ValueError, binascii.Error, msgspec.MsgspecError, InvalidRequestError) as error:
        raise InvalidRequestError(
            "The cursor is not one of ours.", hint="Send next_cursor as it came.", field="cursor"
        ) from error
    return place
