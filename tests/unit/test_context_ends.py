"""A context ends where relevance ends, and says which messages a later one may have changed."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import msgspec
import pytest

from memsvc.db.short_ids import short_id
from memsvc.recall.changes import later_words
from memsvc.recall.items import memory_item
from memsvc.recall.options import LEAST_GIVEN, WORTH, WORTH_TO_A_TEXT, Worth
from memsvc.recall.packing import LEAST_FOR_UNASKED, Material, Packed, Packer
from memsvc.recall.results import Memory
from memsvc.recall.sameness import alike, words_of
from memsvc.text.tokens import tokenizer

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
TALK = UUID(int=8)
RECENT = UUID("01a2007c-7ed0-7000-8000-000000000043")


def said(text: str, day: int, *, matched: str = "", score: float = 1.0, **more: Any) -> Memory:
    """A message of a day in May, with the words of the query that it holds."""
    fields: dict[str, Any] = {
        "memory_id": UUID(int=day), "passage_id": UUID(int=day), "conversation_id": TALK, "conversation": "talk",
        "session": "S1", "ordinal": day, "part": 0, "message_id": None, "speaker": "Ada", "role": "user", "text": text,
        "caption": None, "said_at": NOW - timedelta(days=31 - day), "recorded_at": NOW, "score": score, "arms": {},
        "matched": matched.split(), "why": "near in meaning",
    }  # fmt: skip
    return Memory(**(fields | more))


def packed(material: Material, budget: int = 5_000, **more: Any) -> Packed:
    packer = Packer(tokenizer=tokenizer(), budget_tokens=budget, now=NOW, zone=ZoneInfo("UTC"), why="short", **more)
    return packer.pack(material)


def days_of(block: Packed, section: str = "memories") -> list[int]:
    return [item.memory_id.int for part in block.sections if part.name == section for item in part.items]


def row(scores: list[float], **more: Any) -> list[Memory]:
    """Messages of different words, with these scores."""
    return [
        said(f"word{place} and more{place} of it", place, score=score, **more) for place, score in enumerate(scores, 1)
    ]


def test_a_block_ends_where_the_next_memory_lies_too_far_behind() -> None:
    far = row([9, 8.9, 8.8, 8.7, 8.6, 7.9, 7.2, 2, 1.9])
    assert days_of(packed(Material(memories=far, worth=Worth(3, 0.25)))) == [1, 2, 3, 4, 5, 6]
    assert days_of(packed(Material(memories=far, worth=Worth(3, 0.15)))) == [1, 2, 3, 4, 5, 6, 7]
    assert len(days_of(packed(Material(memories=far)))) == len(far), "no worth is asked for"


def test_the_first_messages_are_given_however_far_they_lie_behind() -> None:
    assert len(days_of(packed(Material(memories=row([9, *[0.0] * 9]), worth=WORTH)))) == LEAST_GIVEN


def test_facts_have_points_of_their_own_and_take_no_place_of_messages() -> None:
    facts = [
        msgspec.structs.replace(one, kind="fact", memory_id=UUID(int=100 + one.ordinal)) for one in row([9, 8.5, 1])
    ]
    block = packed(Material(memories=[*facts[:2], *row([4, 3.9, 3.8, 3.7, 3.6, 3.5]), facts[2]], worth=WORTH))
    assert days_of(block, "facts") == [101, 102]
    assert days_of(block) == [1, 2, 3, 4, 5, 6], "they are compared with the best message"


def test_in_doubt_more_is_given_and_to_a_text_the_place_tells() -> None:
    scores = [9 - 0.4 * place for place in range(20)]
    count = {
        sure: len(days_of(packed(Material(memories=row(scores), worth=WORTH.at(sure))))) for sure in (0.0, 0.5, 1.0)
    }
    assert count[0.0] > count[0.5] >= count[1.0]
    assert WORTH.at(None) == WORTH.at(0.5)
    assert len(days_of(packed(Material(memories=row([9.0] * 20), worth=WORTH_TO_A_TEXT)))) == 16


def test_of_two_messages_that_say_the_same_the_better_one_is_given() -> None:
    one = said("We meet at the old mill in Porto on Sunday.", 1, score=9)
    twin = said("So, we meet at the old mill in Porto on Sunday!", 2)
    assert days_of(packed(Material(memories=[one, twin], worth=WORTH))) == [1]
    assert days_of(packed(Material(memories=[one, twin]))) == [1, 2], "all are wanted"
    for other in (
        said(one.text, 3, speaker="Bo"),
        said("We meet at the old mill in Porto on Sunday at 9.", 3),
        said("We meet at the old mill in Porto on Monday.", 3),
        said("We do not meet at the old mill in Porto on Sunday.", 3),
        said("We meet at the old mill in Lisbon on Sunday.", 3),
    ):
        assert days_of(packed(Material(memories=[one, other], worth=WORTH))) == [1, 3], other.text


def test_facts_are_never_alike() -> None:
    guests = [
        said(f"{name} takes part in the wedding of Ines and Jonas.", day, kind="fact", score=9, speaker="")
        for day, name in enumerate(("Anna", "Kim", "Bruno"), 1)
    ]
    assert days_of(packed(Material(memories=guests, worth=WORTH)), "facts") == [1, 2, 3]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("a b c d e", "a b c d e", True), ("a b c", "a b c", False), ("r s t u 5", "r s t u 6", False), ("", "", False),
        ("send it to the team", "please send it to the team", True),
        ("send it to the team", "never send it to the team", False),
    ],
)  # fmt: skip
def test_alike_is_all_words_but_fillers(one: str, other: str, same: bool) -> None:
    assert alike(words_of(one), words_of(other)) is same


def test_what_may_have_changed_a_message_stands_beside_it_and_is_named() -> None:
    old = said("Bowling is every Wednesday at seven.", 1, matched="bowling", score=9)
    new = said("The bowling league moves to Thursdays.", 5, matched="bowling", score=0)
    between = row([8.9 - 0.1 * place for place in range(LEAST_GIVEN + 1)])
    others = [msgspec.structs.replace(one, memory_id=UUID(int=50 + one.ordinal)) for one in between]
    found = [old, *others, new]
    assert later_words(found) == {old.memory_id: new}
    block = packed(Material(memories=found, worth=WORTH, later=later_words(found)))
    assert 5 in days_of(block), "though it lies far behind"
    assert f"; may be out of date: see m:{short_id(new.memory_id)}: “Bowling" in block.text
    assert 5 not in days_of(packed(Material(memories=found, worth=WORTH)))


def test_what_has_no_room_is_not_named() -> None:
    old = said("Bowling is every Wednesday at seven.", 1, matched="bowling", score=9)
    new = said(f"The bowling league moves to Thursdays. {'It rained. ' * 60}", 5, matched="bowling", score=0)
    found = Material(memories=[old, new], worth=WORTH, later={old.memory_id: new})
    assert "out of date" in packed(found).text
    tight = packed(found, 120)
    assert (days_of(tight), "out of date" in tight.text) == ([1], False)


def test_a_message_of_many_changes_costs_little() -> None:
    hostile = [said(f"{day} " + "Now. " * 118, day, matched="now") for day in range(1, 31)] * 30
    begin = time.perf_counter()
    later_words(hostile)
    assert time.perf_counter() - begin < 2, "a thousand messages may be asked for; by themselves they took minutes"


@pytest.mark.parametrize(
    ("earlier", "later", "matched"),
    [
        ("Stand-up is at 9:15 in the kitchen.", "Stand-up is at 9:45 now.", "stand-up"),
        ("Physio is Thursday half six.", "Physio? Not today, he has the child sick.", "physio"),
        ("The babysitter is called Marlene.", "I used the wrong name for the babysitter all week.", "babysitter"),
        ("Der Chor probt am Montag.", "Der Chor wurde auf Freitag verschoben.", "chor"),
        ("我们的会议在三点", "会议改到五点", "会议"),
    ],
)
def test_a_later_message_with_words_of_change_is_seen(earlier: str, later: str, matched: str) -> None:
    old, new = said(earlier, 1, matched=matched), said(later, 2, matched=matched)
    assert later_words([old, new]) == {old.memory_id: new}


@pytest.mark.parametrize(
    ("earlier", "later", "more"),
    [
        ("Bowling is on Wednesday.", "We had fun at bowling.", {}),
        ("Bowling is on Wednesday.", "Does bowling move to Thursday?", {}),
        ("Bowling is on Wednesday.", "Bowling is on Wednesday now, too.", {}),
        ("Bowling is fun.", "Bowling is fun now.", {}),
        ("Bowling is on Wednesday.", "Bowling moves to Thursday.", {"speaker": "Bo"}),
        ("Bowling is on Wednesday.", "Bowling moves to Thursday.", {"role": "assistant"}),
        ("Bowling is on Wednesday.", "The choir moves to Thursday.", {"matched": []}),
        ("The party is on Wednesday.", "The apartment moves to Thursday.", {"matched": ["party"]}),
    ],
)
def test_what_says_no_change_of_the_same_marks_nothing(earlier: str, later: str, more: dict[str, Any]) -> None:
    assert later_words([said(earlier, 1, matched="bowling"), said(later, 2, **({"matched": "bowling"} | {
        name: " ".join(value) if name == "matched" else value for name, value in more.items()
    }))]) == {}  # fmt: skip


def test_an_earlier_message_changes_nothing_and_what_facts_tell_is_left_to_them() -> None:
    old, new = (
        said("Bowling is on Wednesday.", 3, matched="bowling"),
        said("It moves to Thursday.", 1, matched="bowling"),
    )
    assert later_words([old, new]) == {}
    told = msgspec.structs.replace(said("Bowling is on Wednesday.", 1, matched="bowling"), remark="since then: …")
    assert later_words([told, said("Bowling moves to Thursday.", 2, matched="bowling")]) == {}


def test_a_small_budget_holds_nothing_that_was_not_asked_for() -> None:
    minded = [memory_item(said("Rosinante", 30, memory_id=RECENT), NOW, ZoneInfo("UTC"), why="salient")]
    assert days_of(packed(Material(salient=minded), LEAST_FOR_UNASKED), "salient") == [RECENT.int]
    assert days_of(packed(Material(salient=minded), LEAST_FOR_UNASKED - 1), "salient") == []
