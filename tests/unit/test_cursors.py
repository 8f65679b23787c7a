"""What a cursor holds: it comes back as it was written, and whatever else is given is refused in one way."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsvc.db.paging import Moment, Number, Share, read_cursor, read_id, read_number, read_time, write_cursor
from memsvc.errors import BadCursorError

ZONES = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
MOMENTS = st.datetimes(datetime(2, 1, 1), datetime(9999, 1, 1), timezones=ZONES | st.just(UTC))  # noqa: DTZ001
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


@given(st.tuples(st.floats(0, 1), st.integers(0, 2**31 - 1), TEXTS, st.uuids(), MOMENTS, st.none() | MOMENTS))
def test_a_place_comes_back_as_it_was_written(place: tuple[float, int, str, UUID, datetime, datetime | None]) -> None:
    assert read_cursor(write_cursor(place), tuple[Share, Number, str, UUID, Moment, Moment | None]) == place


@given(MOMENTS, st.uuids(), st.integers(1, 10**6))
def test_plain_cursors_come_back_as_they_were_written(moment: datetime, identity: UUID, number: int) -> None:
    assert read_time(moment.isoformat()) == moment
    assert read_time(moment.isoformat().replace("+", " ")) == moment, "an address makes a space of a plus sign"
    assert read_id(str(identity)) == identity
    assert read_number(str(number), 10**6) == number
    assert [read_time(None), read_id(None), read_number(None, 5)] == [None] * 3


@pytest.mark.parametrize(
    "document",
    [
        "", "[", "[]", "{}", "null", "true", "5", "1.5", '"x"', "[NaN]", "[1e999]", "[-1]", "[true]", "[null]", "[1.0]",
        '["1"]', "[1, 2]", "[ 1]", "[1] ", '["\\ud800"]', "[9223372036854775808]", "[" * 200 + "]" * 200,
        "[" * 5_000, "\xff",
    ],
)  # fmt: skip
def test_a_document_of_another_form_is_no_cursor(document: str) -> None:
    with pytest.raises(BadCursorError):
        read_cursor(urlsafe_b64encode(document.encode("latin-1")).decode().rstrip("="), tuple[Number])


@pytest.mark.parametrize("cursor", ["WzFd=", "WzFd ", "!WzFd", "WzFd.", "WzF", "é", "\ud800"])
def test_a_cursor_in_another_writing_is_none(cursor: str) -> None:
    assert read_cursor("WzFd", tuple[Number]) == (1,)
    with pytest.raises(BadCursorError):
        read_cursor(cursor, tuple[Number])


@given(st.text() | st.binary().map(lambda raw: raw.hex()))
def test_whatever_is_given_is_a_cursor_or_a_bad_one(text: str) -> None:
    for read in (
        read_id,
        read_time,
        lambda cursor: read_number(cursor, 5),
        lambda cursor: read_cursor(cursor, tuple[Share, UUID]),
    ):
        with suppress(BadCursorError):
            read(text)
