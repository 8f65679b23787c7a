"""Cursors of recall: they lead on in one question of one user, and whatever is not ours is refused."""

from __future__ import annotations

import base64
import json
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from memsvc.db.paging import write_cursor
from memsvc.errors import InvalidRequestError
from memsvc.recall.cursor import Place, check_mode, decode, encode, next_cursor, question
from memsvc.recall.options import LEARNT, MAX_LIMIT, Filters

ADA, NOW = UUID(int=7), datetime(2026, 3, 14, 9, 30, 1, 234567, tzinfo=UTC)
ASKED = question(ADA, query="oak", filters=Filters(), weights=LEARNT)
moments = st.datetimes(datetime(1970, 1, 1), datetime(9000, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - hypothesis


@given(
    moments, st.lists(st.uuids(), min_size=1, max_size=40).map(tuple), st.lists(st.uuids(), max_size=9).map(tuple),
    st.none() | st.floats(0, 1), st.booleans(),
)  # fmt: skip
def test_a_cursor_leads_back_to_its_place(
    known_at: datetime,
    given_before: tuple[UUID, ...],
    repeats: tuple[UUID, ...],
    confidence: float | None,
    relevant: bool,
) -> None:
    place = Place(known_at=known_at, given=given_before, repeats=repeats, confidence=confidence, relevant=relevant)
    assert decode(encode(place, ASKED), ASKED) == place


def test_a_question_is_the_same_only_for_the_same_user_query_and_options() -> None:
    filters = Filters(conversations=["a"], said_from=NOW)
    first = {"query": "oak", "filters": filters, "weights": LEARNT, "form": "stemmed"}
    others = [
        first | {"query": "oak "},
        first | {"form": "simple"},
        first | {"filters": replace(filters, known_at=NOW)},
        first | {"filters": replace(filters, said_from=None, said_to=NOW)},
        first | {"filters": replace(filters, conversations=["a", "b"])},
    ]
    digests = [question(ADA, **first), question(UUID(int=8), **first), *(question(ADA, **other) for other in others)]
    assert len(set(digests)) == len(digests)
    assert question(ADA, **dict(reversed(first.items()))) == digests[0]


def test_a_cursor_of_another_question_is_refused() -> None:
    cursor = encode(Place(known_at=NOW, given=(ADA,)), ASKED)
    with pytest.raises(InvalidRequestError, match="another question") as caught:
        decode(cursor, question(UUID(int=8), query="oak", filters=Filters(), weights=LEARNT))
    assert caught.value.details == {"field": "cursor"}


@given(st.data())
def test_a_changed_cursor_is_refused_or_leads_to_the_same_place(data: st.DataObject) -> None:
    """The last sign of base64 has bits that say nothing."""
    place = Place(known_at=NOW, given=(data.draw(st.uuids()), data.draw(st.uuids())))
    cursor = encode(place, ASKED)
    at = data.draw(st.integers(0, len(cursor) - 1))
    sign = data.draw(st.sampled_from("ABCxyz019-_").filter(lambda sign: sign != cursor[at]))
    with suppress(InvalidRequestError):
        assert decode(cursor[:at] + sign + cursor[at + 1 :], ASKED) == place


def test_a_cursor_that_leads_elsewhere_is_refused() -> None:
    cursor = encode(Place(known_at=NOW, given=(ADA,)), ASKED)
    elsewhere = encode(Place(known_at=NOW, given=(UUID(int=9),)), ASKED)
    half = next(at for at, (mine, other) in enumerate(zip(cursor, elsewhere, strict=True)) if mine != other) + 2
    with pytest.raises(InvalidRequestError, match="was not issued by memsvc"):
        decode(elsewhere[:half] + cursor[half:], ASKED)


@pytest.mark.parametrize(
    "cursor",
    [
        "", "x", "ö", "====", "null", "\0", "A" * 40_000, base64.urlsafe_b64encode(b"[]").decode(),
        write_cursor((1, 2)), write_cursor(("2026-03-14T00:00:00Z", ADA)), write_cursor((1, 0, b"", b"", b"")),
        write_cursor((3, 10**30, ASKED, ADA.bytes, b"", None, True, b"x" * 12)),
        write_cursor((2, 0, ASKED, ADA.bytes, None, True, b"x" * 12)),
    ],
)  # fmt: skip
def test_what_is_no_cursor_is_refused(cursor: str) -> None:
    with pytest.raises(InvalidRequestError, match="was not issued by memsvc"):
        decode(cursor, ASKED)


@pytest.mark.parametrize(
    ("moment", "ids", "repeats", "confidence"),
    [
        (-1, ADA.bytes, b"", None), (10**18, ADA.bytes, b"", None), (0, b"", b"", None), (0, ADA.bytes[1:], b"", None),
        (0, ADA.bytes * 1_000, b"", None), (0, ADA.bytes, b"", 1.5), (0, ADA.bytes, b"", -1),
        (0, ADA.bytes, ADA.bytes[1:], None), (0, ADA.bytes, ADA.bytes * 1_000, None),
    ],
)  # fmt: skip
def test_a_cursor_that_was_made_up_with_care_is_refused_too(
    moment: int, ids: bytes, repeats: bytes, confidence: float | None
) -> None:
    from memsvc.recall.cursor import _check_digest  # noqa: PLC0415

    good, parts = (3, 0, ASKED, ADA.bytes, ADA.bytes, 0.5, True), (3, moment, ASKED, ids, repeats, confidence, True)
    assert decode(write_cursor((*good, _check_digest(good))), ASKED).given == (ADA,)
    with pytest.raises(InvalidRequestError, match="was not issued by memsvc"):
        decode(write_cursor((*parts, _check_digest(parts))), ASKED)


def test_pages_go_on_until_nothing_is_left_or_a_thousand_were_given() -> None:
    page = [uuid4() for _ in range(400)]
    begun = Place(known_at=NOW, given=(), confidence=0.25, relevant=False)
    assert next_cursor(begun, page, ASKED, more=False) is None
    assert next_cursor(begun, [], ASKED, more=True) is None
    first = next_cursor(begun, page, ASKED, more=True)
    assert first is not None
    place = decode(first, ASKED)
    assert (place.known_at, place.confidence, place.relevant) == (NOW, 0.25, False), "as the first page was judged"
    repeats = [uuid4() for _ in range(5_000)]
    second = next_cursor(place, [uuid4() for _ in page], ASKED, more=True, repeats=repeats)
    assert second is not None
    assert decode(second, ASKED).repeats == tuple(repeats[:200]), "in the room that is left"
    assert len(second) < 40_000, "longer than the API takes"
    assert decode(second, ASKED).given[:400] == tuple(page)
    assert next_cursor(decode(second, ASKED), page, ASKED, more=True) is None
    assert len(decode(second, ASKED).given) + 400 > MAX_LIMIT


def test_a_cursor_holds_no_text_of_the_question() -> None:
    asked = question(ADA, query="a secret question")
    cursor = encode(Place(known_at=NOW + timedelta(days=1), given=(ADA,)), asked)
    told = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    assert "secret" not in str(told)


def test_only_the_deliberate_mode_has_pages() -> None:
    check_mode(None, "eager")
    check_mode("x", "deliberate")
    with pytest.raises(InvalidRequestError, match="no pages"):
        check_mode("x", "balanced")
