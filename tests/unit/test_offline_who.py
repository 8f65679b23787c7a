"""Whom and what the offline extractor finds in a text, and what it takes a verb to say."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime

import pytest

from memsvc.extract.extraction import Entity
from memsvc.extract.offline.calibration import by_gold
from memsvc.extract.offline.cast import Cast
from memsvc.extract.offline.clean import clean
from memsvc.extract.offline.extractor import OfflineExtractor, read, read_turns
from memsvc.extract.offline.language import is_english
from memsvc.extract.offline.reading import Status
from memsvc.extract.offline.signs import read_signs
from memsvc.extract.offline.turns import TurnReading
from memsvc.extract.window import Candidate, EdgeType, Ontology, Turn, Window

NODES = frozenset(
    {"Person", "Organization", "Place", "Event", "Object", "Concept", "Project", "Document", "Task", "Emotion", "Media"}
)
EDGES = ("KNOWS", "FAMILY_OF", "WORKS_AT", "LIVES_IN", "LOCATED_AT", "OWNS", "LIKES", "PARTICIPATED_IN", "CREATED")


def say(text: str, speaker: str = "Sam", role: str = "user") -> Turn:
    said_at = datetime(2025, 9, 6, 10, 15, tzinfo=UTC)
    return Turn(passage_id=uuid.uuid4(), speaker=speaker, role=role, text=text, said_at=said_at)


def window(*turns: Turn | str, before: tuple[Turn, ...] = (), known: tuple[Candidate, ...] = ()) -> Window:
    """A window of what Sam, the owner, says; other speakers follow as candidates."""
    said = tuple(say(turn) if isinstance(turn, str) else turn for turn in turns)
    people = list(dict.fromkeys(["Sam", *(turn.speaker for turn in (*before, *said) if turn.role == "user")]))
    candidates = [
        Candidate(number=at, node_id=uuid.uuid4(), label=name, type="Person") for at, name in enumerate(people)
    ]
    return Window(
        turns=said,
        before=before,
        candidates=(*candidates, *known),
        speakers={name: at for at, name in enumerate(people)},
        zone="Europe/Lisbon",
        ontology=Ontology(node_types=NODES, edge_types={name: EdgeType(name=name) for name in EDGES}),
    )


def readings(*turns: Turn | str, before: tuple[Turn, ...] = ()) -> list[TurnReading]:
    shown = window(*turns, before=before)
    return read_turns(shown, Cast(shown))


def found(*turns: Turn | str) -> dict[str, Entity]:
    return {entity.name: entity for entity in read(window(*turns)).entities}


def status(text: str, verb: str) -> Status:
    reading = readings(text)[0]
    return reading.status(next(token for token in reading.doc if token.text == verb))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("They call me Bee", ("Bee",)),
        ("Everyone calls me Bee", ("Bee",)),
        ("She called me Joan twice", ()),
        ("Let me call Raymond", ()),
    ],
)
def test_a_name_is_ones_own_where_one_is_called_so(text: str, names: tuple[str, ...]) -> None:
    [sam] = [entity for entity in read(window(text)).entities if entity.known == 0]
    assert sam.aliases == names


def test_two_surnames_are_two_people() -> None:
    people = found("Mary Conneely next door walks the dog. Fair play to Mary.", "The public health nurse, Mary Burke.")
    assert people["Mary Conneely"].aliases == ("Mary",)
    assert people["Mary Burke"].aliases == ()


def test_a_name_without_apostrophe_is_not_whose_it_is() -> None:
    people = found("I saw Gertis Ferdl. He is well.", "Ask Ferdl, Gerti is never wrong.")
    assert people["Gertis Ferdl"].aliases == ("Ferdl",)


def test_a_brother_in_law_without_hyphens_is_no_brother() -> None:
    people = found("my brother in law lives in Leeds", "my brother lives in York")
    assert (people["brother-in-law"].relation, people["brother"].relation) == ("brother-in-law", "brother")
    assert "brother-in-law" not in found("my brother in law school is tired")


def test_who_asks_back_and_says_a_name_answers() -> None:
    assert found("my sister? silke. she starts in sept")["Silke"].relation == "sister"
    assert found("my sister? Silke knows her.")["Silke"].relation == ""


def test_mums_in_chats_is_one_mother() -> None:
    assert found("she moved to my mums in lund")["mum"].relation == "mum"


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("Got a new bike!", "I got a new bike!"),
        ("im at lidl, u?", "I'm at lidl, you?"),
        ("Back in Rome. Born in Leeds", "I am back in Rome. I was born in Leeds"),
        ("Working at Lidl is fun", "Working at Lidl is fun"),
        ("Didn't you like it?", "Didn't you like it?"),
        ("the wedding's in Nagpur lol", "the wedding is in Nagpur"),
        ("Ana's bike", "Ana's bike"),
    ],
)
def test_chat_spellings_and_missing_subjects_are_written_out(text: str, parsed: str) -> None:
    assert clean(text).text == parsed


def test_code_tables_and_quotations_are_no_speech() -> None:
    read_as = clean(
        'I use it:\n```\nI live in Rome\n```\n| I | own |\nShe said "I hate it here and want to leave".'
    ).text
    assert "Rome" not in read_as
    assert "own" not in read_as
    assert "hate" not in read_as


def test_quotes_are_verbatim_whatever_was_written_out() -> None:
    text = "sold the van 😀 got a Toyota, im gonna love it"
    reading = readings(text)[0]
    for sentence in reading.doc.sents:
        assert reading.words(sentence[0], sentence[-1]) in text


@pytest.mark.parametrize(
    ("text", "name", "kind"),
    [
        ("My sister Ana works at Brindlemoor", "Brindlemoor", "Organization"),
        ("i moved to oulu", "Oulu", "Place"),
        ("we met a bloke called Vito", "Vito", "Person"),
        ("I have a job at a bakery, Bramley Crust, on weekends", "Bramley Crust", "Organization"),
        ("our dog is called Zibo", "Zibo", "Object"),
        ("Also a cat who sleeps in it. His name is Bobijn", "Bobijn", "Object"),
        ("I have Wotan for company, he is a parrot", "Wotan", "Object"),
        ("party at the Coburg pool", "Coburg pool", "Place"),
        ("I own a small fabric shop. It's called Naald & Draad", "Naald & Draad", "Organization"),
    ],
)
def test_names_have_the_type_that_the_words_around_them_say(text: str, name: str, kind: str) -> None:
    assert {entity.name: entity.type for entity in read(window(text)).entities}.get(name) == kind


def test_an_answer_is_what_was_asked_for() -> None:
    assert (
        found(say("Where is it?", role="assistant", speaker="Assistant"), "Castlemoyle")["Castlemoyle"].type == "Place"
    )
    assert (
        found(say("Who was that?", role="assistant", speaker="Assistant"), "Castlemoyle")["Castlemoyle"].type
        == "Person"
    )


def test_days_interjections_and_first_words_are_no_names() -> None:
    assert set(found("Honestly, Monday was OK. Anyway, Christmas in March? WOW THAT IS GREAT")) == {"Sam"}


@pytest.mark.parametrize(
    "turns",
    [
        ("My sister Ana is ill",),
        ("my sister is ill", "Her name is Ana"),
        ("Ana is my sister",),
        ("My sister is called Ana",),
        ("I saw my sister, Ana, yesterday",),
        ("Ana is asleep", say("Who is Ana?", role="assistant", speaker="Assistant"), "My sister."),
        (say("What's your sister called?", role="assistant", speaker="Assistant"), "Ana."),
    ],
)
def test_a_relative_and_her_name_are_one_entity(turns: tuple[Turn | str, ...]) -> None:
    entities = found(*turns)
    assert set(entities) == {"Sam", "Ana"}
    assert (entities["Ana"].relation, entities["Ana"].of) == ("sister", entities["Sam"].key)


def test_bonds_say_who_is_whose_what() -> None:
    [reading] = readings("Mum's boss Joe and my ex were there. We have two boys. Kerem 6, Deniz 9.")
    bonds = {
        (reading.whose(bond.whose).name, bond.relation, reading.whose(bond.who).name, bond.family, bond.over)
        for bond in reading.bonds
    }
    assert bonds >= {
        ("Sam", "mum", "mum", True, False),
        ("mum", "boss", "Joe", False, False),
        ("Sam", "ex", "ex", True, True),
        ("Sam", "son", "Kerem", True, False),
        ("Sam", "son", "Deniz", True, False),
    }


def test_pronouns_mean_who_speaks_who_listens_and_the_nearest_that_fits() -> None:
    first, second = readings(
        "My wife Tova met Joe in Malmö. She likes him", say("I know you, he is nice", speaker="Ola")
    )

    def meant(reading: TurnReading, word: str) -> str | None:
        key = reading.person(next(token for token in reading.doc if token.text == word))
        return None if key is None else reading.whose(key).name

    assert (meant(first, "She"), meant(first, "him")) == ("Tova", "Joe")
    assert (meant(second, "I"), meant(second, "you"), meant(second, "he")) == ("Ola", "Sam", "Joe")


def test_a_candidate_is_known_by_its_name_and_by_what_it_is_to_the_owner() -> None:
    ana = Candidate(number=1, node_id=uuid.uuid4(), label="Ana Luz", type="Person", relations=("sister",))
    for text in ("ana luz is here", "my sister is here"):
        entities = read(window(text, known=(ana,))).entities
        assert [entity.known for entity in entities if entity.name == "Ana Luz"] == [1], text


@pytest.mark.parametrize(
    ("text", "verb", "expected"),
    [
        ("I work at Lidl", "work", Status.SO),
        ("I'm going to move to Ghent", "move", Status.SO),
        ("I love living here", "living", Status.SO),
        ("I think I live here", "live", Status.SO),
        ("I live in Porto, what about you?", "live", Status.SO),
        ("I used to smoke", "smoke", Status.WAS),
        ("I don't work there any more", "work", Status.WAS),
        ("She stopped working there", "working", Status.WAS),
        ("I don't work at Lidl", "work", Status.NOT),
        ("I never smoked", "smoked", Status.NOT),
        ("Do you work at Lidl?", "work", Status.OPEN),
        ("You live in Porto, right?", "live", Status.OPEN),
        ("If I moved to Ghent I'd be happy", "moved", Status.OPEN),
        ("I might move to Ghent", "move", Status.OPEN),
        ("I want to move to Ghent", "move", Status.OPEN),
        ("I wish I lived in Ghent", "lived", Status.OPEN),
        ("He is pretending he doesn't like it", "like", Status.OPEN),
        ("Tom thinks I live in Ghent", "live", Status.OPEN),
        ("Tell me about Ghent", "Tell", Status.OPEN),
        ("I live on the moon, just kidding", "live", Status.OPEN),
        ("I would love to move", "love", Status.SO),
        ("I've got a van, could I park it there", "got", Status.SO),
    ],
)
def test_status_of_what_is_said(text: str, verb: str, expected: Status) -> None:
    assert status(text, verb) is expected


def test_other_languages_assistants_and_small_talk_are_not_read() -> None:
    assert not is_english("Ich wohne seit drei Jahren in Köln und arbeite bei der Bahn")
    assert is_english("work at Lidl")
    silent = (
        "Ich wohne in Köln und arbeite bei der Bahn",
        say("You live in Rome.", "Assistant", "assistant"),
        "ok thanks!",
    )
    assert readings(*silent) == []


def test_signs_tell_the_mood_and_how_much_it_matters() -> None:
    thanks, died = read_signs(0, "ok thanks!", 0), read_signs(1, "My father died yesterday, I am devastated.", 1)
    assert thanks.importance == 1
    assert died.importance is not None
    assert died.importance >= 9
    assert died.sentiment is not None
    assert died.sentiment < 0


async def test_turns_before_the_window_are_context_only() -> None:
    shown = window("She lives in Porto", before=(say("My sister Ana called. I have a dog"),))
    extraction = await OfflineExtractor().extract(shown)
    assert {fact.turn for fact in extraction.facts} <= {0}
    assert {entity.name for entity in extraction.entities} == {"Sam", "Ana", "Porto"}
    assert all(fact.quote in shown.turns[fact.turn].text for fact in extraction.facts)


@pytest.mark.parametrize(
    "text", ["", "?", "\n\n", "'s", "😀", "-", "…", "I", "a " * 800, "(" * 200, "Ana" * 400, "I I I am am"]
)
def test_no_text_breaks_it(text: str) -> None:
    shown = window(text, f"and {text}", f"I live in Porto {text}")
    facts = [*read(shown).facts, *read(shown, by_gold).facts]
    assert all(fact.quote and fact.quote in shown.turns[fact.turn].text for fact in facts)
