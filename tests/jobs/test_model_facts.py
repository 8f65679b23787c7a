"""What a language model says of a window is believed in the forms that words have, and no further."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from itertools import count
from typing import Any

import pytest

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.extract.grounding import Grounded
from memsvc.extract.llm import LlmExtractor
from memsvc.extract.run import look
from memsvc.extract.validation import Checked
from memsvc.extract.window import Candidate, Window
from memsvc.settings import Settings
from tests.fakes.chat_server import ChatServer, Say, serving
from tests.windows import LISBON, NOBODY, answer, entity, fact, turn, window

_models = (f"facts-{number}" for number in count())


class Reader:
    """A scripted model, and what is believed of its answers."""

    def __init__(self, db: Database, owner: Owner, settings: Settings, server: ChatServer) -> None:
        chosen = settings.model_copy(update={"llm_url": server.url, "llm_model": next(_models)})
        self._db, self._owner, self._server = db, owner, server
        self._extractor = LlmExtractor(chosen)

    async def reads(self, said: Window, given: dict[str, Any]) -> Checked:
        self._server.script(Say(json.dumps(given)))
        grounded = Grounded(window=said, unnamed=frozenset(), near=frozenset())
        return await look(self._db, self._owner, self._extractor, grounded)


@pytest.fixture
def reader(db: Database, owner: Owner, settings: Settings) -> Iterator[Reader]:
    with serving(ChatServer()) as served:
        yield Reader(db, owner, settings, served)


def of(text: str, thing: str, kind: str = "Object", **more: Any) -> tuple[Window, dict[str, Any]]:
    """A window in which Mara says something, and an answer by which she owns a thing."""
    ends = entity(0, "Mara", known=0, quote=""), entity(1, thing, kind, named=False, quote="")
    told = {"quote": text, "sentence": f"Mara has {thing}.", **more}
    return window(turn(text)), answer(*ends, facts=(fact(0, "OWNS", 1, **told),))


RIGHT = [
    ("I'm learning Portuguese with two apps", "apps to learn"),
    ("I've been to so many cities for it", "city"),
    ("We have three dogs now", "dog"),
    ("My children got a trampoline", "child's trampoline"),
    ("I moved all my boxes", "moving boxes"),
    ("I bought sharp knives", "kitchen knife"),
    ("The bakery I own makes good rolls", "bakeries"),
    ("I ran my first race in new shoes", "running gear"),
    ("I've got mice in the cellar", "mouse"),
    ("I collect old stories", "story"),
    ("I studied with my flashcards", "study card"),
]


@pytest.mark.parametrize(("text", "thing"), RIGHT)
async def test_other_forms_of_what_was_said_are_the_same_words(reader: Reader, text: str, thing: str) -> None:
    made = await reader.reads(*of(text, thing))
    assert [left.reason for left in made.left] == []
    assert len(made.facts) == 1


@pytest.mark.parametrize(
    ("text", "thing"),
    [
        ("We have three dogs now", "cat"),
        ("I go to a party on Friday", "partner"),
        ("I planted flowers", "flour"),
        ("I saw a carpet", "carpenter"),
        ("The weather is fine", "wine"),
    ],
)
async def test_what_only_sounds_alike_is_not_spoken_of(reader: Reader, text: str, thing: str) -> None:
    made = await reader.reads(*of(text, thing))
    assert [left.reason for left in made.left] == ["ungrounded"]


@pytest.mark.parametrize(
    ("text", "language", "place"),
    [
        ("Mieszkam teraz w Warszawie i nie jest źle", "english", "Warszawa"),
        ("Wir wohnen jetzt bei den alten Häusern in Köln, und das ist schön", "german", "altes Haus"),
        ("Ik woon nu met mijn honden in een boerderij", "dutch", "hond"),
    ],
)
async def test_words_of_other_languages_bend_too(reader: Reader, text: str, language: str, place: str) -> None:
    said, given = of(text, place, "Place")
    said = window(turn(text, language=language))
    named = place[0].isupper()
    given["entities"][1]["named"] = named
    given["facts"][0] |= {"type": "LIVES_IN", "sentence": f"Mara: {text}"}
    made = await reader.reads(said, given)
    assert [left.reason for left in made.left] == []


# Sentences ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sentence", "kept"),
    [
        ("Mara owns a blue van since March 2024.", True),
        ("Mara owns two blue vans.", True),
        ("Mara owns a blue van with Ines.", True),  # Ines is a candidate
        ("Since last spring Mara owns a blue van.", True),
        ("On the 1st of March, 2024 Mara bought a blue van.", True),
        ("Mara owns a blue van with Gregor.", False),
        ("Mara owns a blue Volkswagen.", False),
        ("Mara owns 17 blue vans.", False),
        ("Mara owns three blue vans.", False),
        ("Mara owns a blue van since July 2024.", False),
        ("Mara owns a blue van since 2019.", False),
    ],
)
async def test_a_sentence_says_no_more_than_the_window(reader: Reader, sentence: str, kept: bool) -> None:
    text = "I bought 2 blue vans last march, at a fair"
    made = await reader.reads(*of(text, "blue van", sentence=sentence, since="2024-03"))
    [sound] = made.facts
    assert sound.fact.sentence == (sentence if kept else "Mara owns the blue van.")
    assert sound.fact.since == datetime(2024, 3, 1, tzinfo=LISBON)


async def test_where_english_is_not_spoken_the_quote_stands_for_a_made_up_sentence(reader: Reader) -> None:
    text = "Ich habe jetzt ein blaues Auto und das ist gut"
    _, given = of(text, "blaues Auto", sentence="Mara hat ein blaues Auto von Gregor.", quote="ein blaues Auto")
    made = await reader.reads(window(turn(text, language="german")), given)
    assert [sound.fact.sentence for sound in made.facts] == ["Mara: ein blaues Auto"]


# Ends ---------------------------------------------------------------------------------------------------------------

VAN = Candidate(number=2, node_id=NOBODY, label="Volkswagen Transporter", type="Object")


def sold(*candidates: Candidate, **more: Any) -> tuple[Window, dict[str, Any]]:
    text = "we sold the van"
    plain = window(turn(text))
    said = Window(
        turns=plain.turns, candidates=(*plain.candidates, *candidates), speakers=plain.speakers, ontology=plain.ontology
    )
    van = entity(1, "Volkswagen Transporter", "Object", known=2, quote="the van", **more)
    told = fact(0, "OWNS", 1, quote=text, sentence="Mara owned the Volkswagen Transporter.", change="ended")
    return said, answer(entity(0, "Mara", known=0, quote=""), van, facts=(told,))


async def test_an_end_that_follows_is_believed_by_the_words_for_it(reader: Reader) -> None:
    made = await reader.reads(*sold(VAN))
    assert [(sound.fact.type, sound.fact.change) for sound in made.facts] == [("OWNS", "ended")]
    bike = Candidate(number=3, node_id=NOBODY, label="Brompton", type="Object")
    unsure = await reader.reads(*sold(VAN, bike))
    assert [left.reason for left in unsure.left] == ["ungrounded"], "of two things either may be the van"
    said, given = sold(VAN)
    given["entities"][1]["quote"] = "our old van"
    assert [left.reason for left in (await reader.reads(said, given)).left] == ["ungrounded"]
