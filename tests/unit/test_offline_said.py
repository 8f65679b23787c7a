"""Whether a clause says something, and of whom: denials, verbs that are left out, relatives of others, corrections."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from memsvc.extract.extraction import Extraction
from memsvc.extract.offline.extractor import read
from memsvc.extract.window import Candidate, EdgeType, Ontology, Turn, Window

SAID = datetime(2025, 9, 6, 10, 15, tzinfo=UTC)
TYPES = "KNOWS FAMILY_OF WORKS_AT LIVES_IN LOCATED_AT PARTICIPATED_IN OWNS LIKES DISLIKES FEELS WANTS CREATED USES"
ONTOLOGY = Ontology(
    node_types=frozenset(), edge_types={name: EdgeType(name=name) for name in [*TYPES.split(), "RELATED_TO"]}
)
ASSISTANT = "Assistant"


def turn(text: str, minute: int) -> Turn:
    """A turn of Sam's; one of the assistant's where it begins with ">", one of Ben's where it begins with "@"."""
    speaker = {">": ASSISTANT, "@": "Ben"}.get(text[0], "Sam")
    role = "assistant" if speaker == ASSISTANT else "user"
    said_at = SAID + timedelta(minutes=minute)
    return Turn(passage_id=uuid4(), speaker=speaker, role=role, text=text.lstrip(">@ "), said_at=said_at)


def chat(*texts: str, before: int = 0) -> Extraction:
    """What is read of a chat, of which the first turns were read in a window before."""
    turns = [turn(text, minute) for minute, text in enumerate(texts)]
    people = [
        Candidate(number=at, node_id=uuid4(), label=name, type="Person") for at, name in enumerate(["Sam", "Ben"])
    ]
    present = people if any(each.speaker == "Ben" for each in turns) else people[:1]
    return read(
        Window(
            turns=tuple(turns[before:]), before=tuple(turns[:before]), candidates=tuple(present),
            speakers={one.label: one.number for one in present}, ontology=ONTOLOGY,
        )
    )  # fmt: skip


def said(*texts: str, before: int = 0) -> set[str]:
    """The facts that count, as "Sam OWNS bike"; in front of those that are no longer so, or correct, the change."""
    found = chat(*texts, before=before)
    names = {entity.key: entity.name for entity in found.entities}
    return {
        ("" if fact.change == "holds" else f"{fact.change}: ")
        + f"{names[fact.subject]} {fact.type} {names[fact.object]}"
        for fact in found.facts
        if fact.confidence >= 0.5
    }


def of(type_: str, *texts: str, before: int = 0) -> set[str]:
    """Those of one type."""
    return {each for each in said(*texts, before=before) if type_ in each.split()}


# Denied, refused, failed, taken back ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "texts",
    [
        ("My sister was offered a post at Nokia.",),
        ("Siemens offered me a position as a fitter, but I said no.",),
        ("I got offered a job at Lidl last week.",),
        ("I told everyone that I work at Lidl, but I don't.",),
        ("I said I work at Lidl but I never did.",),
        ("My boss thinks I work at Lidl as well, which isn't true.",),
        ("It's not as though I work at Lidl.",),
        ("It isn't as if I worked at Lidl.",),
        ("It's not that I work at Lidl.",),
        ("It is untrue that I work at Lidl.",),
        ("It's a myth that I work at Lidl.",),
        ("There's no way I work at Lidl.",),
        ("I lied and said I work at Lidl.",),
        ("I work at Lidl now. Only joking!",),
        ("I work at Lidl now. That was a lie, sorry.",),
        ("I work at Lidl now.", "haha no, I was joking"),
        ("I work at Lidl now.", "> How nice!", "Not true, I made that up."),
    ],
)
def test_what_is_denied_offered_or_taken_back_is_no_fact(texts: tuple[str, ...]) -> None:
    assert not of("WORKS_AT", *texts)


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (("Nokia offered me a job and I accepted it.",), "Sam WORKS_AT Nokia"),
        (("I work at Lidl, but my brother doesn't.",), "Sam WORKS_AT Lidl"),
        (("I work at Lidl but I don't like it.",), "Sam WORKS_AT Lidl"),
        (("It's not easy, because I work at Lidl.",), "Sam WORKS_AT Lidl"),
        (("It's true that I work at Lidl.",), "Sam WORKS_AT Lidl"),
        (("I work at Lidl. We are joking all day.",), "Sam WORKS_AT Lidl"),
        (("I work at Lidl. I like tea.", "Just kidding!"), "Sam WORKS_AT Lidl"),
        (("I work at Lidl.", "@Just kidding!"), "Sam WORKS_AT Lidl"),
    ],
)
def test_what_only_looks_denied_is_a_fact(texts: tuple[str, ...], expected: str) -> None:
    assert expected in said(*texts)


@pytest.mark.parametrize("text", ["Just kidding!", "That was a joke, sorry.", "ok I lied"])
def test_what_was_read_before_and_is_taken_back_now_is_over_since_it_began(text: str) -> None:
    (fact,) = chat("I moved to Oslo yesterday.", text, before=1).facts
    assert (fact.type, fact.change, fact.turn) == ("LIVES_IN", "ended", 0)
    assert fact.until is not None
    assert f"{fact.until:%Y-%m-%d}" == "2025-09-05"


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (("I moved to Oslo.", "> Did you know that Oslo is sinking?", "Just kidding"), set()),
        (("I moved to Oslo.", "> You are a true Viking now.", "haha, only joking"), set()),
        (("I live in Oslo and my boss says he likes me.", "Just kidding!"), set()),
        (("I live in Oslo and I work at Lidl.", "That was a joke"), {"ended: Sam WORKS_AT Lidl"}),
        (("Ana is my sister.", "Just kidding!"), {"ended: Sam FAMILY_OF Ana"}),
        (("I moved to Oslo.", "> How nice!", "Just kidding!"), {"ended: Sam LIVES_IN Oslo"}),
    ],
)
def test_only_what_was_said_last_is_taken_back(texts: tuple[str, ...], expected: set[str]) -> None:
    assert said(*texts, before=1) == expected


# Of whom --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ana's dad works at Lidl.", {"dad WORKS_AT Lidl"}),
        ("Ben's sister studies at Leeds.", {"sister WORKS_AT Leeds"}),
        ("my friend's mum works at Lidl", {"mum WORKS_AT Lidl"}),
        ("Kim's mum lives in Hull.", {"mum LIVES_IN Hull"}),
    ],
)
def test_what_somebodys_relative_does_is_said_of_the_relative_alone(text: str, expected: set[str]) -> None:
    assert {each for each in said(text) if "FAMILY_OF" not in each and "KNOWS" not in each} == expected
    assert not any(each.startswith("Sam FAMILY_OF") for each in said(text))


def test_sentences_say_whose_relative_somebody_is() -> None:
    found = chat("My wife works at Lidl.", "Ana's husband works at Nokia.")
    sentences = {fact.sentence for fact in found.facts if fact.type == "WORKS_AT"}
    assert sentences == {"Sam's wife works at Lidl.", "Ana's husband works at Nokia."}


# What is left out -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ana works at Lidl and Tom at Nokia.", {"Ana WORKS_AT Lidl", "Tom WORKS_AT Nokia"}),
        ("My mum works at Lidl, my dad at Nokia.", {"mum WORKS_AT Lidl", "dad WORKS_AT Nokia"}),
        ("I work at Lidl and my wife for Nokia.", {"Sam WORKS_AT Lidl", "wife WORKS_AT Nokia"}),
        ("I live in Ghent and my parents in Lyon.", {"Sam LIVES_IN Ghent", "parents LIVES_IN Lyon"}),
        (
            "Ana lives in Ghent, Tom in Lyon and Mia in Porto.",
            {"Ana LIVES_IN Ghent", "Tom LIVES_IN Lyon", "Mia LIVES_IN Porto"},
        ),
        ("Tom plays the cello and Mia the drums.", {"Tom USES cello", "Mia USES drums"}),
        ("I like tea and my wife coffee.", {"Sam LIKES tea", "wife LIKES coffee"}),
    ],
)
def test_a_verb_that_is_left_out_counts_for_its_own_subject_and_object_only(text: str, expected: set[str]) -> None:
    assert {each for each in said(text) if "FAMILY_OF" not in each and "KNOWS" not in each} == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I live in Rome, Italy in summer.", "Sam LIVES_IN Rome"),
        ("I moved to Rome with Ana and Tom in May.", "Sam LIVES_IN Rome"),
        ("I worked at Lidl and Tesco at weekends.", "ended: Sam WORKS_AT Tesco"),
    ],
)
def test_where_no_verb_is_left_out_nothing_is_put_in(text: str, expected: str) -> None:
    assert expected in said(text)
    assert not any(each.startswith(("Tom LIVES_IN", "Tesco", "Italy")) for each in said(text))


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (("> Do you live in Utrecht?", "Yep."), "Sam LIVES_IN Utrecht"),
        (("> So you live in Utrecht?", "That's right!"), "Sam LIVES_IN Utrecht"),
        (("> Nice. Do you like jazz?", "I do!"), "Sam LIKES jazz"),
        (("> Does your sister work at Lidl?", "yes she does"), "sister WORKS_AT Lidl"),
        (("@Do you still work at Lidl?", "yes"), "Sam WORKS_AT Lidl"),
        (("> Do you still work at Lidl?", "no"), "ended: Sam WORKS_AT Lidl"),
        (("> Do you work at Lidl?", "Not any more"), "ended: Sam WORKS_AT Lidl"),
        (("> Are you still living in Ghent?", "no, we moved to Lyon"), "ended: Sam LIVES_IN Ghent"),
        (("> Are you still living in Ghent?", "no, we moved to Lyon"), "Sam LIVES_IN Lyon"),
        (("> Are you living in Ghent?", "No, in Lyon."), "Sam LIVES_IN Lyon"),
        (("> Which town do you live in?", "Lyon"), "Sam LIVES_IN Lyon"),
        (("> Where does your brother work?", "Lidl"), "brother WORKS_AT Lidl"),
    ],
)
def test_an_answer_says_what_was_asked(texts: tuple[str, ...], expected: str) -> None:
    assert expected in said(*texts)


@pytest.mark.parametrize(
    "texts",
    [
        ("> Do you live in Utrecht?", "No."),
        ("> Do you live in Utrecht?", "Yes and no."),
        ("> Do you live in Utrecht or in Ede?", "Yes."),
        ("> Don't you live in Utrecht?", "Yes."),
        ("> Do you live in Utrecht?", "Yes, I used to."),
        ("> Do you live in Utrecht? Never mind.", "Yes."),
        ("> Do you want to live in Utrecht?", "Yes."),
        ("> Would you like to live in Utrecht?", "Yes please."),
        ("> Should I live in Utrecht?", "Yes."),
        ("Do I live in Utrecht?", "Yes."),
    ],
)
def test_what_no_answer_says(texts: tuple[str, ...]) -> None:
    assert not of("LIVES_IN", *texts)


@pytest.mark.parametrize(
    ("texts", "over"),
    [
        (("> Do you still work at Nokia?", "Nah, still the same place!"), False),
        (("> Are you still living in Lyon?", "Not in summer"), False),
        (("> Do you still work at Nokia?", "No problem, I do"), False),
        (("> Do you still live in Lyon?", "No question about it"), False),
        (("> Do you still live in Lyon?", "Not for much longer"), False),
        (("> Do you still live in Lyon?", "No news, I'm still there"), False),
        (("> Do you still live in Lyon?", "No, I still live there"), False),
        (("> Are you still working at Nokia?", "Not every day"), False),
        (("> Does my cousin still live in Lyon?", "No, I left"), False),
        (("> Do you still work at Nokia?", "Nope."), True),
        (("> Do you still work at Nokia?", "No longer, sadly"), True),
        (("> Do you still work at Nokia?", "no, not since June"), True),
        (("> Do you still work at Nokia?", "No, I quit"), True),
        (("> Do you still work at Nokia?", "Nope, we don't work there anymore"), True),
        (("> Do you still live in Lyon?", "nah, I live in Ede"), True),
    ],
)
def test_only_a_no_that_stands_alone_or_is_explained_ends_what_was_asked(texts: tuple[str, ...], over: bool) -> None:
    ended = {each for each in said(*texts) if each.startswith("ended")}
    assert len(ended) == over


def test_what_is_so_instead_does_not_end_with_what_is_over() -> None:
    found = of("WORKS_AT", "> Are you still at work at Nokia?", "No, I don't work there any more, I work at Lidl")
    assert "Sam WORKS_AT Lidl" in found
    assert "ended: Sam WORKS_AT Lidl" not in found


@pytest.mark.parametrize(
    "texts",
    [
        # it was
        ("> Do you work at Nokia?", "I did, till the factory closed"),
        ("> Do you live in Lyon?", "We did once"),
        ("> Have you ever worked at Nokia?", "Yep!"),
        ("> Have you lived in Lyon?", "I have"),
        ("> Have you ever had a cat?", "Yes"),
        ("> Did you enjoy working at Nokia?", "Yes, very much"),
        ("> Do you live in Lyon?", "Yes, but I moved out in May"),
        # somebody else, or on a condition
        ("> Does your brother work at Nokia?", "I do, he doesn't"),
        ("> Do you live in Lyon?", "Yes, my brother does"),
        ("> Are you moving to Lyon?", "Yes, unless they say no"),
        ("> Are you moving to Lyon?", "Yeah, hopefully"),
        ("> Are you Tom's sister?", "Yes"),
        ("> Do you work at Nokia?", "Yes, since Monday, previously at Lidl"),
    ],
)
def test_a_yes_of_once_of_another_or_on_a_condition_says_nothing_of_now(texts: tuple[str, ...]) -> None:
    assert {each for each in said(*texts) if not each.startswith("ended") and "Sam FAMILY_OF" not in each} == set()


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (("> Have you moved to Lyon?", "Yes"), "Sam LIVES_IN Lyon"),
        (("> Do you work at Nokia?", "Yes, and my wife does too"), "Sam WORKS_AT Nokia"),
        (("> Do you work at Nokia?", "I do, I love it"), "Sam WORKS_AT Nokia"),
        (("> Does your brother live in Lyon?", "yes he does"), "brother LIVES_IN Lyon"),
    ],
)
def test_a_yes_that_is_plain_is_believed(texts: tuple[str, ...], expected: str) -> None:
    assert expected in said(*texts)


@pytest.mark.parametrize(
    ("texts", "since", "until", "quote"),
    [
        (("> Did you move to Leeds?", "Yes, in May."), "2025-05-01", None, "Yes, in May"),
        (("> Are you still living in Leeds?", "yeah, since May"), "2025-05-01", None, "yeah, since May"),
        (("> Do you live in Leeds?", "Not any more, I moved out in May."), None, "2025-05-01", "Not any more"),
    ],
)
def test_an_answer_tells_when(texts: tuple[str, ...], since: str | None, until: str | None, quote: str) -> None:
    (fact,) = (each for each in chat(*texts).facts if each.type == "LIVES_IN")
    times = (fact.since and f"{fact.since:%Y-%m-%d}", fact.until and f"{fact.until:%Y-%m-%d}")
    assert (*times, fact.quote) == (since, until, quote)


# Corrections ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (("I live in Ghent.", "I meant to say Lyon."), {"Sam LIVES_IN Ghent", "corrects: Sam LIVES_IN Lyon"}),
        (("I live in Ghent.", "Lyon, not Ghent."), {"Sam LIVES_IN Ghent", "corrects: Sam LIVES_IN Lyon"}),
        (("I live in Ghent.", "not Ghent but Lyon"), {"Sam LIVES_IN Ghent", "corrects: Sam LIVES_IN Lyon"}),
        (("I work at Lidl.", "Oops, Siemens I mean."), {"Sam WORKS_AT Lidl", "corrects: Sam WORKS_AT Siemens"}),
        (("I work at Lidl.", "I mean Siemens, not Lidl."), {"Sam WORKS_AT Lidl", "corrects: Sam WORKS_AT Siemens"}),
        (
            ("I live in Ghent.", "Sorry, I meant Lyon.", "Wait, no, Porto."),
            {"Sam LIVES_IN Ghent", "corrects: Sam LIVES_IN Lyon", "corrects: Sam LIVES_IN Porto"},
        ),
        (("I live in Ghent.", "Lyon, not Paris."), {"Sam LIVES_IN Ghent"}),
        (("I live in Ghent.", "@Sorry, I meant Lyon."), {"Sam LIVES_IN Ghent"}),
        (("I live in Ghent.", "Nice, not bad!"), {"Sam LIVES_IN Ghent"}),
        (("I live in Ghent.", "> Which city is the prettiest?", "It's Lyon"), {"Sam LIVES_IN Ghent"}),
        (("I live in Ghent.", "> And where is Ana?", "Actually, Lyon"), {"Sam LIVES_IN Ghent"}),
        (("I work at Lidl.", "> Who makes good trams?", "Wait, Siemens"), {"Sam WORKS_AT Lidl"}),
        (
            ("I live in Ghent.", "> Do you like it?", "Lyon, not Ghent."),
            {"Sam LIVES_IN Ghent", "corrects: Sam LIVES_IN Lyon"},
        ),
    ],
)
def test_a_name_is_put_right_in_other_words(texts: tuple[str, ...], expected: set[str]) -> None:
    assert {each for each in said(*texts) if "KNOWS" not in each} == expected


@pytest.mark.parametrize(
    ("texts", "type_", "since"),
    [
        (("I have a dentist appointment on 5 May.", "Scratch that, it's on 6 May."), "PARTICIPATED_IN", "2026-05-06"),
        (("I have a job interview on Monday.", "Tuesday, not Monday."), "PARTICIPATED_IN", "2025-09-09"),
        (("I have a job interview on Monday.", "> Noted!", "sorry, Tuesday"), "PARTICIPATED_IN", "2025-09-09"),
        (("I have a job interview on Monday. Oops, Tuesday.",), "PARTICIPATED_IN", "2025-09-09"),
        (("I moved to Ghent in May.", "Sorry, I meant June."), "LIVES_IN", "2025-06-01"),
        (
            ("I have a job interview on Monday.", "> Shall I remind you on Sunday?", "no, on Saturday"),
            "PARTICIPATED_IN",
            "2025-09-08",
        ),
    ],
)
def test_a_time_is_put_right(texts: tuple[str, ...], type_: str, since: str) -> None:
    (fact,) = (each for each in chat(*texts).facts if each.type == type_ and each.confidence >= 0.5)
    assert fact.since is not None
    assert f"{fact.since:%Y-%m-%d}" == since


def test_a_time_that_was_read_before_is_put_right_now() -> None:
    ended, holds = chat("I have a job interview on Monday.", "Sorry, on Tuesday.", before=1).facts
    assert (ended.change, holds.change) == ("ended", "holds")
    assert ended.until is not None
    assert holds.since is not None
    assert (f"{ended.until:%d}", f"{holds.since:%d}") == ("08", "09")


# Names ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("I met Jan van den Bosch in Lyon.", "Jan van den Bosch"),
        ("My boss is Will de Boer.", "Will de Boer"),
        ("Hamid ibn Yusuf is my cousin.", "Hamid ibn Yusuf"),
        ("My friend Omar al-Sayed moved to Lyon.", "Omar al-Sayed"),
        ("Lee Min-ho works at Lidl.", "Lee Min-ho"),
        ("My teacher is Kim Yong-su.", "Kim Yong-su"),
        ("I work at DX-1999-07 Ltd.", "DX-1999-07 Ltd"),
        ("Otto von Hohenberg-Krause lives in Ghent.", "Otto von Hohenberg-Krause"),
        ("My doctor is Sinead O'Leary-Walsh.", "Sinead O'Leary-Walsh"),
    ],
)
def test_names_with_particles_and_hyphens_stay_whole(text: str, name: str) -> None:
    found = chat(text)
    names = {entity.key: entity.name for entity in found.entities}
    assert name in names.values()
    assert not any(part in names.values() for part in name.split())
    assert any(name in {names[fact.subject], names[fact.object]} for fact in found.facts if fact.confidence >= 0.5)


def test_a_word_with_a_hyphen_is_no_part_of_a_name() -> None:
    assert "New York" in {entity.name for entity in chat("I work for a New York-based firm.").entities}


# What changes, and only that ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (("I'm a vegetarian.", "I eat meat again."), "ended: Sam RELATED_TO vegetarian"),
        (("I'm vegan.", "I had an omelette, I eat eggs again."), "ended: Sam RELATED_TO vegan"),
        (("I'm pescatarian.", "I started eating chicken again."), "ended: Sam RELATED_TO pescatarian"),
        (("I'm not vegetarian any more.",), "ended: Sam RELATED_TO vegetarian"),
        (("My grandma Ute lives in Kiel.", "Grandma Ute passed away on Monday."), "ended: Grandma Ute LIVES_IN Kiel"),
        (("My aunt May works at Lidl.", "Aunt May died last week."), "ended: May WORKS_AT Lidl"),
        (("My uncle Karl lives in Bonn.", "Uncle Karl died."), "ended: Uncle Karl LIVES_IN Bonn"),
    ],
)
def test_a_change_ends_what_it_concerns(texts: tuple[str, ...], expected: str) -> None:
    assert expected in said(*texts)
    assert not any(each.startswith("ended: Sam FAMILY_OF") for each in said(*texts))


@pytest.mark.parametrize(
    "texts",
    [
        ("I'm a vegetarian.", "I eat cheese again."),
        ("My sister is a vegetarian.", "I eat meat again."),
        ("I'm a vegetarian.", "I don't eat meat again."),
    ],
)
def test_another_change_ends_no_diet(texts: tuple[str, ...]) -> None:
    assert not any(each.startswith("ended") for each in said(*texts))


def test_what_is_over_is_said_so() -> None:
    (fact,) = chat("I'm no longer a nurse.").facts
    assert fact.sentence == "Sam was a nurse."


@pytest.mark.parametrize(
    "text",
    [
        "I love hiking in the Alps.",
        "I enjoy skiing in Austria.",
        "I hate driving in London.",
        "My brother loves surfing in Cornwall.",
        "I go fishing in Norway every summer.",
        "I usually hike in the Alps.",
        "We go to Crete every year.",
    ],
)
def test_the_place_of_a_hobby_is_not_where_somebody_is(text: str) -> None:
    assert not of("LOCATED_AT", text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We went hiking in the Alps last week.", "Sam LOCATED_AT Alps"),
        ("We're skiing in Austria this week.", "Sam LOCATED_AT Austria"),
        ("I loved hiking in the Alps last week.", "Sam LOCATED_AT Alps"),
        ("my trip to Rome was great", "Sam LOCATED_AT Rome"),
    ],
)
def test_where_somebody_really_was_is_a_fact(text: str, expected: str) -> None:
    assert expected in said(text)
