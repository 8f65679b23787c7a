"""What the offline extractor reads: wordings of facts, what must not become one, changes, dates, sentences."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from memsvc.extract.extraction import Extraction, Fact
from memsvc.extract.offline.extractor import read
from memsvc.extract.window import Candidate, EdgeType, Ontology, Turn, Window
from memsvc.times.untold import TIMES

SAID = datetime(2025, 9, 6, 10, 15, tzinfo=UTC)
TYPES = (
    "KNOWS FAMILY_OF WORKS_AT LIVES_IN LOCATED_AT PARTICIPATED_IN OWNS LIKES DISLIKES FEELS WANTS CREATED USES"
    " DEPENDS_ON PART_OF ABOUT CAUSED_BY RELATED_TO"
)
ONTOLOGY = Ontology(node_types=frozenset(), edge_types={name: EdgeType(name=name) for name in TYPES.split()})
SURE = 0.5


def extraction(*texts: str) -> Extraction:
    """What is read of turns of one user, Sam."""
    turns = tuple(Turn(passage_id=uuid4(), speaker="Sam", role="user", text=text, said_at=SAID) for text in texts)
    owner = Candidate(number=0, node_id=uuid4(), label="Sam", type="Person")
    return read(Window(turns=turns, candidates=(owner,), speakers={"Sam": 0}, ontology=ONTOLOGY))


def said(*texts: str) -> set[str]:
    """The facts that count, as "Sam OWNS bike"; those that ended begin with "no longer: "."""
    found = extraction(*texts)
    names = {entity.key: entity.name for entity in found.entities}
    return {
        ("no longer: " if fact.change == "ended" else "") + f"{names[fact.subject]} {fact.type} {names[fact.object]}"
        for fact in found.facts
        if fact.confidence >= SURE
    }


def fact(text: str, type_: str) -> Fact:
    """The one fact of this type that a turn tells."""
    (found,) = (fact for fact in extraction(text).facts if fact.type == type_ and fact.confidence >= SURE)
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # work and study
        ("I've been volunteering at the food bank since June", "Sam WORKS_AT food bank"),
        ("started a new job at Monzo last week", "Sam WORKS_AT Monzo"),
        ("My best friend Jonas works for the council", "Jonas WORKS_AT council"),
        ("I'm doing a PhD at Edinburgh", "Sam WORKS_AT Edinburgh"),
        ("My sister Ana is a nurse", "Ana RELATED_TO nurse"),
        ("I no longer work at Tesco", "no longer: Sam WORKS_AT Tesco"),
        ("I quit Tesco two weeks ago", "no longer: Sam WORKS_AT Tesco"),
        # places
        ("We moved to Ghent in May", "Sam LIVES_IN Ghent"),
        ("home is Lyon now", "Sam LIVES_IN Lyon"),
        ("My sister Naima lives in Mechelen", "Naima LIVES_IN Mechelen"),
        ("I used to live in Leeds", "no longer: Sam LIVES_IN Leeds"),
        ("my trip to Rome was amazing", "Sam LOCATED_AT Rome"),
        ("I'm flying to Lisbon on Friday", "Sam LOCATED_AT Lisbon"),
        ("going to a wedding in Cork next month", "wedding LOCATED_AT Cork"),
        # events
        ("I signed up for a half marathon in Bristol", "Sam PARTICIPATED_IN marathon"),
        ("passed my driving test!", "Sam PARTICIPATED_IN driving test"),
        ("I have a dentist appointment on Friday", "Sam PARTICIPATED_IN dentist appointment"),
        # possessions
        ("Got a new bike!", "Sam OWNS bike"),
        ("We have two dogs and a parrot", "Sam OWNS parrot"),
        ("I ended up buying a secondhand cello", "Sam OWNS secondhand cello"),
        ("I sold the van", "no longer: Sam OWNS van"),
        # likes, feelings, wishes
        ("love baking", "Sam LIKES baking"),
        ("I'm really into bouldering these days", "Sam LIKES bouldering"),
        ("my favourite author is Ursula Le Guin", "Sam LIKES Ursula Le Guin"),
        ("I can't stand coriander", "Sam DISLIKES coriander"),
        ("not a fan of jazz", "Sam DISLIKES jazz"),
        ("I feel so lonely", "Sam FEELS lonely"),
        ("thinking of learning the cello", "Sam WANTS learn cello"),
        ("I'd love to visit Japan", "Sam WANTS visit Japan"),
        ("we're saving for a boat", "Sam WANTS boat"),
        # works, tools, parts, subjects
        ("I built a treehouse with my son", "Sam CREATED treehouse"),
        ("My dad painted the mural", "dad CREATED mural"),
        ("I track my runs with Strava", "Sam USES Strava"),
        ("I take metformin", "Sam USES metformin"),
        ("I play bass in a band", "Sam USES bass"),
        ("I'm the treasurer of the rowing club", "Sam PART_OF rowing club"),
        ("I'm writing a novel about lighthouses", "novel ABOUT lighthouses"),
        # people
        ("I met Shabnam at uni", "Sam KNOWS Shabnam"),
        ("My cousin Tom got engaged to Ana", "Tom FAMILY_OF Ana"),
    ],
)
def test_what_is_said_in_many_ways(text: str, expected: str) -> None:
    assert expected in said(text)


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("Should I move to Ghent?", "LIVES_IN"),
        ("If I moved to Ghent I'd miss the sea", "LIVES_IN"),
        ("I don't live in Ghent", "LIVES_IN"),
        ("I want to work at Google", "WORKS_AT"),
        ("I never worked at Google", "WORKS_AT"),
        ("I have a headache and a question", "OWNS"),
        ("I have no idea what to cook", "OWNS"),
        ("I don't have a dog", "OWNS"),
        ("We skipped the wedding", "PARTICIPATED_IN"),
        ("I'm glad to hear that", "FEELS"),
        ("No worries!", "FEELS"),
        ("Would you like some tea?", "WANTS"),
        ("I made a mistake", "CREATED"),
        ("I'll be there in the morning", "LOCATED_AT"),
    ],
)
def test_what_is_not_said(text: str, type_: str) -> None:
    assert not [fact for fact in extraction(text).facts if fact.type == type_ and fact.confidence >= SURE]


@pytest.mark.parametrize(
    ("text", "type_", "since", "until"),
    [
        ("I've been working at Lidl for two years now", "WORKS_AT", "2023-09-06", None),
        ("I have lived in Ghent since March", "LIVES_IN", "2025-03-01", None),
        ("I'm moving to Ghent in October", "LIVES_IN", "2025-10-01", None),
        ("We moved to Ghent in October", "LIVES_IN", "2024-10-01", None),
        ("I quit Tesco two weeks ago", "WORKS_AT", None, "2025-08-23"),
        ("We're flying to Lisbon on the 20th", "LOCATED_AT", "2025-09-20", None),
        ("I'm going to a concert on Thursday", "PARTICIPATED_IN", "2025-09-11", "2025-09-12"),
    ],
)
def test_times_are_those_of_the_clause_and_its_tense(
    text: str, type_: str, since: str | None, until: str | None
) -> None:
    found = fact(text, type_)
    assert (found.since and f"{found.since:%Y-%m-%d}", found.until and f"{found.until:%Y-%m-%d}") == (since, until)


@pytest.mark.parametrize(
    ("text", "type_", "since", "about"),
    [
        # what a question about the past seldom names
        ("We settled in Porto in the late seventies", "LIVES_IN", "1977-01-01", "the late 1970s"),
        ("My dad moved to Gdansk in the 1950s", "LIVES_IN", "1950-01-01", "the 1950s"),
        ("I started at Philips in the early 80s", "WORKS_AT", "1980-01-01", "the early 1980s"),
        ("I moved to Lyon in the spring of '03", "LIVES_IN", "2003-03-01", "spring 2003"),
        ("We moved to Lyon in autumn 2011", "LIVES_IN", "2011-09-01", "autumn 2011"),
        ("I started at Philips around 1997", "WORKS_AT", "1997-01-01", "about 1997"),
        ("I met Ana in 2009 or so", "KNOWS", "2009-01-01", "about 2009"),
        ("We moved to Ghent about fifteen years ago", "LIVES_IN", "2010-09-06", "about 2010"),
        ("I moved to Ghent thirty-two years ago", "LIVES_IN", "1993-09-06", "about 1993"),
        ("I've lived in Ghent for twenty years", "LIVES_IN", "2005-09-06", "about 2005"),
        ("I started at Lidl two Fridays ago", "WORKS_AT", "2025-08-29", ""),
        ("We moved to Ghent the winter before last", "LIVES_IN", "2023-12-01", "winter 2023"),
        ("I moved to Ghent the March before last", "LIVES_IN", "2024-03-01", ""),
        ("I was born in Ulm in 1980. I moved to Lyon when I was twelve.", "LIVES_IN", "1992-01-01", "about 1992"),
        ("I moved to Lyon between 1999 and 2002", "LIVES_IN", "1999-01-01", "about 1999"),
        ("We're getting a cat in spring!", "OWNS", "2026-03-01", "spring 2026"),
        # long ago
        ("My great-grandfather Anton moved to Graz in 1882", "LIVES_IN", "1882-01-01", ""),
        ("My great-grandmother Rosa settled in Lviv in May 1871", "LIVES_IN", "1871-05-01", ""),
        ("My great-grandmother Rosa settled in Lviv on 3 May 1871", "LIVES_IN", "1871-05-03", ""),
    ],
)
def test_times_are_kept_as_exactly_as_they_are_told(text: str, type_: str, since: str, about: str) -> None:
    found = [one for one in extraction(text).facts if (one.type, one.change) == (type_, "holds")][-1]
    told = found.data.get(TIMES, {}).get("since", "")
    assert (found.since and f"{found.since:%Y-%m-%d}", found.until, told) == (since, None, about)


@pytest.mark.parametrize(
    "text",
    [
        "We moved to Ghent after the war", "I moved to Ghent when I was a toddler", "I moved to Ghent back in the day",
        "We moved to Ghent before the twins were born!", "I'm from Split", "They come from Peru",
        "My sister moved to Ghent when she was nine",
    ],
)  # fmt: skip
def test_a_past_that_is_not_understood_is_no_begin(text: str) -> None:
    for found in extraction(f"Ana and Ben are my friends. {text}").facts:
        if found.type == "LIVES_IN":
            assert (found.since, found.until, found.earlier) == (None, None, True)
    (moved,) = (one for one in extraction("I moved to Ghent").facts if one.type == "LIVES_IN")
    assert not moved.earlier, "just said"


@pytest.mark.parametrize(
    ("text", "type_", "sentence", "since", "until"),
    [
        ("My aunt Olga worked at Siemens", "WORKS_AT", "Olga worked at Siemens.", None, None),
        ("I used to live in Leeds", "LIVES_IN", "Sam lived in Leeds.", None, None),
        ("I used to live in Leeds in 2015", "LIVES_IN", "Sam lived in Leeds.", "2015-01-01", "2016-01-01"),
        ("I don't like jazz anymore", "LIKES", "Sam liked jazz.", None, None),
        ("I was born in Split on 4 July 1990", "LIVES_IN", "Sam was born in Split.", "1990-07-04", None),
        ("I worked at Lidl from 1861 until 1870", "WORKS_AT", "Sam worked at Lidl.", "1861-01-01", "1870-01-01"),
        ("I lived in Cork from May 2010 to June 2012", "LIVES_IN", "Sam lived in Cork.", "2010-05-01", "2012-06-01"),
        ("I lived in Cork until 2012", "LIVES_IN", "Sam lived in Cork.", None, "2012-01-01"),
        # what is planned has not ended yet, and does not end by its beginning
        ("I'm leaving Tesco in March", "WORKS_AT", "Sam works at Tesco.", None, "2026-03-01"),
        ("I'll be living in Ghent until October", "LIVES_IN", "Sam lives in Ghent.", None, "2025-10-01"),
        ("I'm getting married to Ana in May!", "FAMILY_OF", "Ana is Sam's partner.", "2026-05-01", None),
        (
            "I was married to Ana from 1999 to 2007",
            "FAMILY_OF",
            "Sam and Ana were together.",
            "1999-01-01",
            "2007-01-01",
        ),
        # what passes
        ("I feel exhausted", "FEELS", "Sam feels exhausted.", "2025-09-06", "2025-09-07"),
        ("I'm nervous about my exam in May", "FEELS", "Sam feels nervous.", "2025-09-06", "2025-09-07"),
        ("I was so happy yesterday", "FEELS", "Sam felt happy.", "2025-09-05", "2025-09-06"),
        ("I'm going to Rome next week", "LOCATED_AT", "Sam is in Rome.", "2025-09-08", "2025-09-15"),
    ],
)
def test_a_sentence_is_right_in_its_own_time(
    text: str, type_: str, sentence: str, since: str | None, until: str | None
) -> None:
    found = fact(text, type_)
    assert found.sentence == sentence
    assert (found.since and f"{found.since:%Y-%m-%d}", found.until and f"{found.until:%Y-%m-%d}") == (since, until)


def test_a_sentence_stands_alone_and_a_quote_is_verbatim() -> None:
    text = "ok so, my sister Ana just started at Lidl in August and she hates it"
    found = fact(text, "WORKS_AT")
    assert found.sentence == "Ana works at Lidl."
    assert found.quote in text
    assert "Lidl" in found.quote


def test_a_relation_is_told_once_and_by_its_most_telling_words() -> None:
    found = [fact for fact in extraction("I have a van.", "We sold the van.").facts if fact.type == "OWNS"]
    assert sorted(fact.change for fact in found) == ["ended", "holds"]
    assert found[0].object == found[1].object


def test_relatives_are_not_acquaintances_as_well() -> None:
    found = said("My sister Ana and I went climbing. I told Ana everything.")
    assert "Sam FAMILY_OF Ana" in found
    assert not [each for each in found if "KNOWS" in each]


def on(day: int, text: str, type_: str) -> Fact:
    """The one fact of this type that a turn of 26 (a Thursday) to 28 November 2026 tells."""
    turn = Turn(
        passage_id=uuid4(), speaker="Sam", role="user", text=text, said_at=datetime(2026, 11, day, 15, tzinfo=UTC)
    )
    owner = Candidate(number=0, node_id=uuid4(), label="Sam", type="Person")
    found = read(Window(turns=(turn,), candidates=(owner,), speakers={"Sam": 0}, ontology=ONTOLOGY))
    (told,) = (fact for fact in found.facts if fact.type == type_ and fact.confidence >= SURE)
    return told


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("My exam was on Friday.", {26: 20, 27: 20, 28: 27}),
        ("We had a picnic this Friday.", {26: 20, 27: 27, 28: 27}),
        ("We had a picnic last Friday.", {26: 20, 27: 20, 28: 27}),
        ("I have an audition on Friday.", {26: 27, 27: 27, 28: 34}),
        ("I have an audition this Friday.", {26: 27, 27: 27, 28: 34}),
        ("got an audition on Friday", {26: 27, 27: 27, 28: 34}),
        ("got an audition friday", {26: 27, 27: 27, 28: 34}),
    ],
)
def test_the_tense_says_which_friday_is_meant(text: str, days: dict[int, int]) -> None:
    for said_on, day in days.items():
        begin = on(said_on, text, "PARTICIPATED_IN").since
        assert begin == datetime(2026, 11, 1, tzinfo=UTC) + timedelta(day - 1), (said_on, text)


@pytest.mark.parametrize(
    "text",
    [
        "I have a pottery class every Friday.",
        "Each Monday we have a team meeting.",
        "I go to a pottery class every other Tuesday evening.",
        "I do a pottery class on Tuesday nights.",
        "We have rehearsal most Fridays.",
    ],
)
def test_what_is_done_again_and_again_did_not_begin_when_it_was_mentioned(text: str) -> None:
    for said_on in (26, 27, 28):
        told = on(said_on, text, "PARTICIPATED_IN")
        assert (told.since, told.until) == (None, None), said_on


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("I'm writing a novel called Dusk.", "CREATED"),
        ("I'm moving to Ghent.", "LIVES_IN"),
        ("I've moved to Ghent!", "LIVES_IN"),
        ("We've adopted a cat.", "OWNS"),
        ("I have started at Bosch.", "WORKS_AT"),
    ],
)
def test_what_goes_on_or_is_done_by_now_did_not_begin_today(text: str, type_: str) -> None:
    assert on(26, text, type_).since is None


def test_what_is_told_to_begin_now_begins_today() -> None:
    today = datetime(2026, 11, 26, tzinfo=UTC)
    assert on(26, "I moved to Ghent today.", "LIVES_IN").since == today
    assert on(26, "I've just started at Bosch.", "WORKS_AT").since == today
