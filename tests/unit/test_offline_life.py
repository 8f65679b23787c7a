"""What the offline extractor says of facts that come and go, of several at a time, and of people of one name."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import uuid4

import pytest

from memsvc.extract.extraction import Extraction
from memsvc.extract.offline.extractor import read
from memsvc.extract.window import Candidate, EdgeType, Ontology, Turn, Window

TYPES = "KNOWS FAMILY_OF WORKS_AT LIVES_IN LOCATED_AT PARTICIPATED_IN OWNS LIKES DISLIKES PART_OF RELATED_TO"
ONTOLOGY = Ontology(
    node_types=frozenset(),
    edge_types={name: EdgeType(name=name, functional=name in {"WORKS_AT", "LIVES_IN"}) for name in TYPES.split()},
)
SURE = 0.5


def extraction(*texts: str) -> Extraction:
    """What is read of turns, one a month; "Mia: …" is said by Mia, the others by Sam, the owner."""
    turns = []
    for month, text in enumerate(texts, start=1):
        speaker, _, words = text.rpartition(": ")
        said_at = datetime(2025, month, 6, 10, tzinfo=UTC)
        turns.append(Turn(passage_id=uuid4(), speaker=speaker or "Sam", role="user", text=words, said_at=said_at))
    owner = Candidate(number=0, node_id=uuid4(), label="Sam", type="Person")
    speakers = {turn.speaker: 0 if turn.speaker == "Sam" else None for turn in turns}
    return read(Window(turns=tuple(turns), candidates=(owner,), speakers=speakers, ontology=ONTOLOGY))


def told(type_: str, *texts: str) -> list[tuple[int, str]]:
    """Turns and sentences of facts of a type, in the order of the turns."""
    found = [fact for fact in extraction(*texts).facts if fact.type == type_ and fact.confidence >= SURE]
    return [(fact.turn, fact.sentence) for fact in sorted(found, key=lambda fact: fact.turn)]


@pytest.mark.parametrize(
    ("type_", "texts", "expected"),
    [
        (
            "LIVES_IN",
            ["I live in Ghent", "I moved to Antwerp", "I moved back to Ghent last week"],
            ["Sam lives in Ghent.", "Sam lives in Antwerp.", "Sam lives in Ghent."],
        ),
        (
            "LIVES_IN",
            ["We live in Leeds", "We left Leeds for good", "We're living in Leeds again"],
            ["Sam lives in Leeds.", "Sam lived in Leeds.", "Sam lives in Leeds."],
        ),
        (
            "WORKS_AT",
            ["I work at Bosch", "I quit Bosch", "I'm back at Bosch since Monday"],
            ["Sam works at Bosch.", "Sam worked at Bosch.", "Sam works at Bosch."],
        ),
        (
            "WORKS_AT",
            ["I work for Lidl", "I started a new job at Tesco", "I work for Lidl again"],
            ["Sam works at Lidl.", "Sam works at Tesco.", "Sam works at Lidl."],
        ),
        ("LIKES", ["I love rugby", "I hate rugby now", "I love rugby again"], ["Sam likes rugby."] * 2),
    ],
)
def test_what_is_so_again_is_told_again(type_: str, texts: list[str], expected: list[str]) -> None:
    found = told(type_, *texts)
    assert [sentence for _, sentence in found] == expected
    assert len({turn for turn, _ in found}) == len(expected)


def test_what_is_only_said_twice_is_one_fact() -> None:
    assert told("LIVES_IN", "I live in Ghent", "Yes, I live in Ghent", "I love Ghent") == [(0, "Sam lives in Ghent.")]


@pytest.mark.parametrize(
    ("type_", "texts", "beside"),
    [
        ("WORKS_AT", ["I work at Airbus", "I also work at the Guardian"], ["Guardian"]),
        ("WORKS_AT", ["I work at Airbus", "I have a second job at Nando's"], ["Nando's"]),
        ("WORKS_AT", ["I work for Shell", "I do part-time shifts at Boots too"], ["Boots"]),
        ("WORKS_AT", ["I work at Lidl and at Boots"], ["Boots"]),
        ("LIVES_IN", ["my aunt Ana has a flat in Faro", "she also lives in Braga in winter"], ["Braga"]),
        ("LIVES_IN", ["My sister Ana lives both in Bern and in Basel"], ["Basel"]),
        ("LIVES_IN", ["we have a house in Ghent and a flat in Antwerp"], ["Antwerp"]),
        ("LIVES_IN", ["My brother lives in Lyon", "I live in Lyon too!"], []),
        ("LIVES_IN", ["I live in Lyon as well"], []),
        ("LIVES_IN", ["Also, we live in Lyon"], []),
        ("LIVES_IN", ["Besides, I live in Lyon"], []),
        ("LIVES_IN", ["I live in Paris", "I live in Lyon as well, in summer"], ["Lyon"]),
        ("WORKS_AT", ["I work at Airbus", "I work part-time at Boots now"], []),
        ("WORKS_AT", ["Besides my job at Airbus, I work at Boots"], ["Airbus", "Boots"]),
        ("WORKS_AT", ["I work at Airbus on Mondays and at Boots on Fridays"], ["Boots"]),
        ("LIVES_IN", ["I live in Lyon", "I got married and we also moved to Paris"], []),
        ("WORKS_AT", ["I work at Airbus", "I work at Bosch now"], []),
        ("WORKS_AT", ["I worked at Airbus and now I work at Bosch"], []),
    ],
)
def test_a_second_one_holds_beside_the_first_where_life_is_so(type_: str, texts: list[str], beside: list[str]) -> None:
    found = extraction(*texts)
    names = {entity.key: entity.name for entity in found.entities}
    facts = [fact for fact in found.facts if fact.type == type_ and fact.confidence >= SURE]
    assert [names[fact.object] for fact in facts if fact.data.get("beside")] == beside
    assert len([fact for fact in facts if fact.change == "holds"]) >= 1


@pytest.mark.parametrize(
    ("type_", "text", "expected"),
    [
        ("WORKS_AT", "I work at Airbus, previously at Boots.", ["Sam works at Airbus."]),
        ("WORKS_AT", "She said hi. I work at Airbus, and before that at Boots.", ["Sam works at Airbus."]),
        ("LIVES_IN", "I live in Ghent, Flanders, Belgium and adore it", ["Sam lives in Ghent."]),
        ("LIVES_IN", "We live in Porto, in Portugal.", ["Sam lives in Porto."]),
        ("LIVES_IN", "I live in Ghent, close to Antwerp.", ["Sam lives in Ghent."]),
        ("LIVES_IN", "I live in Ghent, near Antwerp.", ["Sam lives in Ghent."]),
        ("LIVES_IN", "I live in Ghent or rather Antwerp.", []),
        ("LIVES_IN", "I live in Austin, Texas and work at Airbus.", ["Sam lives in Austin."]),
        ("LIVES_IN", "Background - I live in Ghent and work at Airbus.", ["Sam lives in Ghent."]),
        ("WORKS_AT", "I work at Airbus and Tom, my son, at Boots.", ["Sam works at Airbus."]),
    ],
)
def test_what_explains_a_home_or_was_a_job_before_is_no_second_one(type_: str, text: str, expected: list[str]) -> None:
    found = [sentence for _, sentence in told(type_, text)]
    assert [sentence for sentence in found if sentence.startswith("Sam ")] == expected


@pytest.mark.parametrize(
    ("type_", "text", "expected"),
    [
        ("WORKS_AT", "I study at Lund University and work at Boots.",
         {"Sam studies at Lund University.", "Sam works at Boots."}),
        ("WORKS_AT", "I work at Boots and study at Lund University.",
         {"Sam studies at Lund University.", "Sam works at Boots."}),
        ("WORKS_AT", "I volunteer at the museum and work at Boots.",
         {"Sam volunteers at the museum.", "Sam works at Boots."}),
        ("WORKS_AT", "I worked for Boots, now for Airbus.", {"Sam worked at Boots.", "Sam works at Airbus."}),
        ("WORKS_AT", "I left Boots for a new job at Airbus.", {"Sam worked at Boots."}),
        ("WORKS_AT", "I quit Boots for another post at Airbus.", {"Sam worked at Boots."}),
        ("LIVES_IN", "I lived in Ghent, then in Lyon, and now in Porto.",
         {"Sam lived in Ghent.", "Sam lived in Lyon.", "Sam lives in Porto."}),
        ("LIVES_IN", "We lived in Ghent but now in Porto.", {"Sam lived in Ghent.", "Sam lives in Porto."}),
        ("LIVES_IN", "I moved back to Ghent after three years in Lyon.",
         {"Sam lives in Ghent.", "Sam lived in Lyon."}),
        ("LIVES_IN", "I returned to Porto and moved to Ghent after six months in Lyon.",
         {"Sam lives in Ghent.", "Sam lived in Lyon."}),
    ],
)  # fmt: skip
def test_each_place_of_a_clause_has_its_own_verb_and_time(type_: str, text: str, expected: set[str]) -> None:
    assert {sentence for _, sentence in told(type_, text)} == expected


def test_each_of_two_moves_has_its_own_year() -> None:
    for text in ("I moved to Ghent in 2018 and to Lyon in 2021.", "We moved to Ghent in 2018, then to Lyon in 2021."):
        found = extraction(text)
        names = {entity.key: entity.name for entity in found.entities}
        homes = {names[fact.object]: fact.since and fact.since.year for fact in found.facts if fact.type == "LIVES_IN"}
        assert homes == {"Ghent": 2018, "Lyon": 2021}


@pytest.mark.parametrize(
    ("text", "lasts", "moved"),
    [
        ("We've lived in Ghent for a couple of years", True, False),
        ("I have lived in Ghent for years", True, False),
        ("I have worked in Ghent and lived in Ghent after the war", False, False),
        ("I moved to Ghent", False, True),
        ("I live in Ghent", False, False),
    ],
)
def test_it_is_told_what_goes_on_and_where_somebody_moved(text: str, lasts: bool, moved: bool) -> None:
    homes = [fact for fact in extraction(text).facts if fact.type == "LIVES_IN"]
    assert {(fact.lasts, fact.moved) for fact in homes} <= {(lasts, moved)}
    assert homes


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (
            ["My colleague Tom lives in Rome. My neighbour Tom lives in Pisa."],
            ["Sam's colleague Tom lives in Rome.", "Sam's neighbour Tom lives in Pisa."],
        ),
        (
            ["My brother Paul lives in Oslo", "My cousin Paul lives in Bergen", "My cousin Paul moved to Molde"],
            [
                "Sam's brother Paul lives in Oslo.", "Sam's cousin Paul lives in Bergen.",
                "Sam's cousin Paul lives in Molde.",
            ],
        ),
        (
            ["My boss Anna lives in Bath", "My aunt, Anna, lives in Wells", "Anna lives in York"],
            ["Sam's boss Anna lives in Bath.", "Sam's aunt Anna lives in Wells."],
        ),
        (
            ["My son Leo lives in Porto", "Mia: My son Leo lives in Tanta", "Mia: Leo lives in Cairo now"],
            ["Sam's son Leo lives in Porto.", "Mia's son Leo lives in Tanta.", "Mia's son Leo lives in Cairo."],
        ),
        (["My colleague Tom lives in Rome", "Tom is my neighbour too"], ["Tom lives in Rome."]),
        (["My wife Mia works at Lidl", "My son Leo lives in Porto", "Mia: Our son Leo lives in Porto"],
         ["Leo lives in Porto."]),
        (["My sister lives in Rome", "Mia: My sister lives in Pisa"],
         ["Sam's sister lives in Rome.", "Mia's sister lives in Pisa."]),
    ],
)  # fmt: skip
def test_two_of_one_name_stay_two_and_sentences_say_which(texts: list[str], expected: list[str]) -> None:
    assert [sentence for _, sentence in told("LIVES_IN", *texts)] == expected


def test_a_dog_is_no_brother_of_the_same_name() -> None:
    found = extraction("My brother Paul lives in Oslo", "My dog Paul is old")
    assert sorted(entity.type for entity in found.entities if entity.name == "Paul") == ["Object", "Person"]
    assert {entity.relation for entity in found.entities if entity.name == "Paul"} == {"brother", "dog"}


@pytest.mark.parametrize(
    ("texts", "name"),
    [
        (["My mom works at Lidl", "Mum loves tea", "My mother Aylin has a car", "Mama hates rugby"], "Aylin"),
        (["Dad works at Lidl", "My father, Olav, hates rugby", "Papa loves tea"], "Olav"),
        (["my sister works at Lidl", "My sis Tove hates rugby", "Tove loves tea"], "Tove"),
    ],
)
def test_a_relative_named_in_several_ways_is_one(texts: list[str], name: str) -> None:
    found = extraction(*texts)
    relatives = [entity for entity in found.entities if entity.of is not None and entity.type == "Person"]
    assert [(entity.name, entity.named) for entity in relatives] == [(name, True)]
    [relative] = [entity.key for entity in found.entities if entity.name == name]
    assert {"WORKS_AT", "LIKES"} <= {fact.type for fact in found.facts if fact.subject == relative}


def test_two_grandmothers_may_be_called_in_two_ways() -> None:
    found = extraction("my nana lives in Rome", "my granny lives in Pisa")
    assert len([entity for entity in found.entities if entity.of is not None]) == 2


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["I work at Airbus", "I've been volunteering at the food bank"],
         [("Sam works at Airbus.", False), ("Sam volunteers at the food bank.", True)]),
        (["I work at Airbus", "I study at Keele"], [("Sam works at Airbus.", False), ("Sam studies at Keele.", True)]),
        (["my son goes to St Mary's School"], [("Sam's son studies at St Mary's School.", True)]),
        (["I'm a student at Lund University"], [("Sam studies at Lund University.", True)]),
        (["I no longer study at Keele"], [("Sam studied at Keele.", True)]),
        (["I teach at Lund University"], [("Sam works at Lund University.", False)]),
        (["I work at the gym"], [("Sam works at the gym.", False)]),
        (["I joined Gold's Gym"], []),
        (["I train with the rowing club"], []),
        (["I train at the gym"], []),
    ],
)  # fmt: skip
def test_to_study_to_volunteer_or_to_be_a_member_ends_no_job(
    texts: list[str], expected: list[tuple[str, bool]]
) -> None:
    facts = [fact for fact in extraction(*texts).facts if fact.type == "WORKS_AT" and fact.confidence >= SURE]
    assert [(fact.sentence, bool(fact.data.get("beside"))) for fact in facts] == expected


@pytest.mark.parametrize(
    ("type_", "texts", "expected"),
    [
        ("LIVES_IN", ["I live in Oslo", "Mia: Sam lives in Bergen"], ["Sam lives in Oslo."]),
        ("LIVES_IN", ["I live in Oslo", "Mia: Sam lives in Oslo"], ["Sam lives in Oslo."]),
        ("LIVES_IN", ["Mia: Sam lives in Bergen", "I live in Oslo"], ["Sam lives in Oslo."]),
        ("WORKS_AT", ["My cousin Jonas works at Lidl", "Mia: Jonas works at Tesco"], ["Jonas works at Lidl."]),
        (
            "WORKS_AT",
            ["My cousin Jonas works at Lidl", "Jonas works at Tesco now"],
            ["Jonas works at Lidl.", "Jonas works at Tesco."],
        ),
    ],
)
def test_what_one_voice_says_of_somebody_is_not_ended_by_another(
    type_: str, texts: list[str], expected: list[str]
) -> None:
    assert [sentence for _, sentence in told(type_, *texts)] == expected
