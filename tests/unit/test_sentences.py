"""Where sentences end: abbreviations, initials and ordinals end none; what summaries and plans make of it."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsvc.summaries.extractive import Message, lines_of
from memsvc.text.sentences import sentences
from memsvc.times import tense

SAID = datetime(2026, 4, 4, 11, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "The vet, Dr. Rosenow, heard a small murmur.", "So T.K. drives us both in his brother's van.",
        "Mr. and Mrs. O'Hara live on St. James Street.", "J. K. Rowling and George R. R. Martin wrote them.",
        "We met Prof. Weber and Lt. Kim.", "She did her Ph.D. in Ghent.", "The U.S. team won.",
        "Bring fruit, e.g. apples, i.e. no sweets.", "We leave at 9 a.m. tomorrow.", "Milk, eggs etc. are there.",
        "Let us meet on Nov. 3 at noon.", "He works at Acme Inc. in Leeds.", "See No. 7 on the list.",
        "Der Termin ist am 3. Dezember um 9 Uhr.", "Wir wohnen im 3. Stock links.", "Am 2. Weihnachtstag kommt Oma.",
        "Obst, z.B. Birnen, ist gesund.", "Obst, z. B. Birnen, ist gesund.", "Das heißt, d. h. Montag, geht es.",
        "Fr. Dr. Mayer kommt ca. 10 Minuten später.", "Er kam bzw. Anna kam.", "Am Mo. 3. Mai um 9 Uhr.",
        "Frau J. Albers hat angerufen.", "Es gab Brot, Käse usw. und Wein.", "Version 3.11 is out.",
    ],
)  # fmt: skip
def test_abbreviations_initials_and_ordinals_end_no_sentence(text: str) -> None:
    assert list(sentences(text)) == [text]
    assert [one for one in tense.sentences(text) if one.strip()] == [text]


@pytest.mark.parametrize(
    ("text", "second"),
    [
        ("I've lent it to T.K. He was glad.", "He was glad."),
        ("We go with plan B. Tom agreed.", "Tom agreed."),
        ("She takes vitamin C. My dog does not.", "My dog does not."),
        ("It was not me, it was I. He knows.", "He knows."),
        ("I was born in 1980. Then we moved.", "Then we moved."),
        ("I am 30. My sister is 28.", "My sister is 28."),
        ("We leave at 9 a.m. The train waits.", "The train waits."),
        ("Is it far? No. It is near.", "No."),
        ("Wir treffen uns am 5. Dann geht es los.", "Dann geht es los."),
        ("Das mag ich. Danach gehen wir.", "Danach gehen wir."),
        ("Es gab Brot usw. Danach gingen wir.", "Danach gingen wir."),
        ("We came in Nov. We left soon.", "We left soon."),
        ("The meeting with Dr.\nKim came later", "Kim came later"),
        ("Wait… what is going on", "what is going on"),
    ],
)
def test_other_full_stops_end_one(text: str, second: str) -> None:
    assert [one.strip() for one in sentences(text)][1] == second


def test_a_wrapped_line_goes_on_and_a_point_of_a_list_does_not() -> None:
    text = "We met Dr.\nKim on Friday\nin Leeds\n- milk\n- eggs\n\nBye"
    told = [one.strip() for one in sentences(text, wrapped=True)]
    assert told == ["We met Dr.\nKim on Friday\nin Leeds", "- milk", "- eggs", "Bye"]


@given(st.text(st.sampled_from("aZ1.!?;… \n\"')-TKDr。ä"), max_size=80), st.booleans())
def test_the_pieces_are_the_text(text: str, wrapped: bool) -> None:
    assert "".join(sentences(text, wrapped=wrapped)) == text
    assert "".join(tense.sentences(text)) == text


def test_summaries_show_whole_sentences() -> None:
    text = "Not by plane. The vet, Dr. Rosenow, heard a small murmur. "
    text += "So T.K. drives us both to Porto in his brother's van."
    message = Message(passage_id=UUID(int=1), speaker="Marcel", role="user", text=text, said_at=SAID)
    assert [line.text for line in lines_of([message])] == [
        "Marcel: The vet, Dr. Rosenow, heard a small murmur.",
        "Marcel: So T.K. drives us both to Porto in his brother's van.",
    ]
