"""Changes of a block: what it says afterwards, and what its lines rest on."""

from __future__ import annotations

from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsvc.errors import EmptyTextError, InvalidRequestError
from memsvc.profiles.changes import Append, Change, Line, Replace, Set, changed, evidence_of, lines_of, text_of

TEA, COFFEE, LATER = uuid4(), uuid4(), uuid4()
LIKES = [Line("Likes tea.", frozenset({TEA})), Line("Likes coffee and cake.", frozenset({COFFEE}))]


def said(lines: list[Line]) -> list[tuple[str, set[UUID]]]:
    return [(line.text, set(line.passages)) for line in lines]


def test_what_is_appended_rests_on_its_own_passages() -> None:
    assert said(changed(LIKES, Append(text="\nRows.\r\nSails.\n"), [LATER])) == [
        ("Likes tea.", {TEA}), ("Likes coffee and cake.", {COFFEE}), ("Rows.", {LATER}), ("Sails.", {LATER}),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("evidence", "resting"), [((), {COFFEE}), ((LATER,), {LATER})], ids=["reworded", "learnt anew"]
)
def test_a_line_that_is_replaced_rests_on_what_is_given_or_on_what_it_rested_on(
    evidence: tuple[UUID, ...], resting: set[UUID]
) -> None:
    for change in (Replace(old="and cake", new="alone"), Set(text="Likes tea.\nLikes coffee alone.")):
        assert said(changed(LIKES, change, evidence)) == [("Likes tea.", {TEA}), ("Likes coffee alone.", resting)]


def test_a_replacement_may_join_lines_and_take_them_away() -> None:
    joined = changed(LIKES, Replace(old="tea.\nLikes coffee", new="tea, coffee"))
    assert said(joined) == [("Likes tea, coffee and cake.", {TEA, COFFEE})]
    assert said(changed(LIKES, Replace(old="Likes tea.\n", new=""))) == [("Likes coffee and cake.", {COFFEE})]
    assert said(changed(LIKES, Replace(old="Likes tea.", new=""))) == [("Likes coffee and cake.", {COFFEE})]
    assert changed(LIKES, Set(text=" \n ")) == []


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (Append(text=" \n"), EmptyTextError), (Replace(old="", new="x"), EmptyTextError),
        (Replace(old="Likes", new="Loves"), InvalidRequestError), (Replace(old="wine", new="x"), InvalidRequestError),
    ],
    ids=["nothing to append", "nothing to look for", "twice", "not there"],
)  # fmt: skip
def test_changes_that_cannot_be_are_refused(change: Change, error: type[InvalidRequestError]) -> None:
    with pytest.raises(error):
        changed(LIKES, change)


@given(st.text(alphabet="ab \n\r", max_size=12), st.text(alphabet="ab \n", max_size=12), st.integers(0, 12), st.data())
def test_evidence_stays_with_its_lines_through_storing(text: str, new: str, begin: int, data: st.DataObject) -> None:
    lines = changed([], Set(text=text), [TEA])
    stored = text_of(lines)
    old = stored[begin : begin + data.draw(st.integers(1, 6))]
    change: Change = Replace(old=old, new=new) if old and stored.count(old) == 1 else Set(text=new)
    after = changed(lines, change, [LATER])
    assert lines_of(text_of(after), evidence_of(after)) == after
    if isinstance(change, Replace) and after:
        assert text_of(after).split() == stored.replace(old, new).split()
    assert all(line.passages <= {TEA, LATER} and line.passages for line in after)
