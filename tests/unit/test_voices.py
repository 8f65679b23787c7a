"""Whose words a message holds, and what the offline extractor therefore reads as whose."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from memsvc.extract.offline.extractor import read
from memsvc.extract.offline.voice_labels import AUTHOR, NOBODY, Known
from memsvc.extract.offline.voices import QUOTED, foreign, split
from memsvc.extract.window import Candidate, EdgeType, Ontology, Turn, Window

SAID = datetime(2026, 3, 4, 9, 30, tzinfo=UTC)
TYPES = "KNOWS FAMILY_OF WORKS_AT LIVES_IN LOCATED_AT OWNS LIKES DISLIKES FEELS WANTS CREATED USES RELATED_TO"
ONTOLOGY = Ontology(node_types=frozenset(), edge_types={name: EdgeType(name=name) for name in TYPES.split()})
KIM = Known(own=frozenset({"kim lund"}), owner=frozenset({"kim lund"}))
SURE = 0.5


def turn(text: str, speaker: str = "", opening: str = "") -> Turn:
    return Turn(passage_id=uuid4(), speaker=speaker, role="user", text=text, said_at=SAID, opening=opening)


def window(*turns: Turn) -> Window:
    """Turns in the memory of Kim Lund; a speaker with a name is somebody else."""
    owner = Candidate(number=0, node_id=uuid4(), label="Kim Lund", type="Person", aliases=("I", "me", "my"))
    speakers = {one.speaker: None if one.speaker else 0 for one in turns}
    return Window(turns=turns, candidates=(owner,), speakers=speakers, ontology=ONTOLOGY)


def facts(*turns: Turn) -> set[str]:
    """The facts that count; their quotes are checked."""
    found = read(window(*turns))
    names = {entity.key: entity.name for entity in found.entities}
    assert all(fact.quote in turns[fact.turn].text for fact in found.facts)
    return {f"{names[one.subject]} {one.type} {names[one.object]}" for one in found.facts if one.confidence >= SURE}


def said(text: str) -> set[str]:
    """The facts of a message of the owner's."""
    return facts(turn(text))


def whose(text: str, known: Known = KIM) -> list[tuple[str, str]]:
    """The voices of a text, and their words."""
    found = split(text, known)
    assert "".join(text[one.begin : one.end] for one in found) == text
    return [(one.whose, text[one.begin : one.end].strip()) for one in found if text[one.begin : one.end].strip()]


HELENA, OSKAR = "Helena LIVES_IN Malmö", "Oskar WORKS_AT Bosch"
CHATS = [
    "Helena: I live in Malmö.\nOskar: I work at Bosch.",
    "**Helena:** I live in Malmö.\n**Oskar:** I work at Bosch.",
    "[04.03.26, 08:12:09] Helena: I live in Malmö.\n[04.03.26, 08:13:40] Oskar: I work at Bosch.",
    "3/4/26, 8:12 AM - Helena: I live in Malmö.\n3/4/26, 8:13 AM - Oskar: I work at Bosch.",
    "08:12 Helena: I live in Malmö.\n08:13 Oskar: I work at Bosch.",
    "Helena (08:12): I live in Malmö.\nOskar (08:13): I work at Bosch.",
    "Helena  8:12 AM\nI live in Malmö.\n\nOskar  8:13 AM\nI work at Bosch.",
    "Helena:\nI live in Malmö.\n\nOskar:\nI work at Bosch.",
    "Helena: I live in Malmö. Oskar: I work at Bosch.",
    "Look at this.\nHelena: I live in Malmö.\nOskar: I work at Bosch.",
]


@pytest.mark.parametrize("text", CHATS)
def test_who_is_named_before_words_says_them(text: str) -> None:
    assert said(text) == {HELENA, OSKAR}


@pytest.mark.parametrize(
    "text",
    [
        "Helena wrote: I live in Malmö.",
        "Yesterday Helena told me: I live in Malmö!",
        "Here is what Helena texted us today: I live in Malmö.",
        "From Helena: I live in Malmö.",
        "Message from Helena: I live in Malmö.",
        "Helena's reply: I live in Malmö.",
        "According to Helena: I live in Malmö.",
        "Hi, this is Helena: I live in Malmö.",
        "Helena (my aunt's friend): I live in Malmö.",
        "1. Helena: I live in Malmö.",
        "[Forwarded] Helena: I live in Malmö.",
        "Fwd: Flat\n\nFrom: Helena <h@example.org>\nDate: Tue, 3 Mar 2026\n\nHello,\nI live in Malmö.\n\nCheers, H.",
        "-------- Forwarded message --------\nFrom: Helena <h@example.org>\nTo: Kim\n\nDear Kim,\n\nI live in Malmö.",
        "Hi Kim,\n\nI live in Malmö.\n\nBest wishes,\nHelena",
    ],
)
def test_what_somebody_wrote_is_theirs(text: str) -> None:
    assert said(text) == {HELENA}


@pytest.mark.parametrize(
    "text",
    [
        "She said: I live in Malmö and I work at Bosch.",
        "Her: I live in Malmö.",
        "Mum: I live in Malmö.",
        "My landlord: I live in Malmö.",
        "<helena> I live in Malmö",
        "helena: i live in malmö",
        "Interviewer: Where do you work?\nCandidate: I work at Bosch.",
        "Speaker 1: I live in Malmö.\nSpeaker 2: I work at Bosch.",
        "Zorvane: I live in Malmö.",
        "Dr Sandberg: I live in Malmö.",
        "@oskar_b: I live in Malmö.",
        "Helena and Oskar: We live in Malmö.",
        "Helena - I live in Malmö",
        "The letter reads: I live in Malmö.",
        "Here is what they answered:\nI live in Malmö.\n\nI work at Bosch.",
        "On Tue, 3 Mar 2026 at 08:12, Helena <h@example.org> wrote:\n> I live in Malmö.",
        "> I live in Malmö.\n> I work at Bosch.",
        '"I live in Malmö and I work at Bosch."',
        "“I live in Malmö.\nI work at Bosch.”",
        "'I don't live in Lund, I live in Malmö and I work at Bosch.'",
        # somebody else who is named like the owner
        "Kim Ström: I live in Malmö.",
        "[04.03.26, 08:12] Kim Ström: I live in Malmö.",
    ],
)
def test_words_of_nobody_known_are_not_read(text: str) -> None:
    assert said(text) == set()


@pytest.mark.parametrize(
    "text",
    [
        "Translate into Swedish: I live in Malmö.",
        "Please translate this to Swedish:\n\nI live in Malmö. I work at Bosch.",
        "Can you reword the following? I live in Malmö and I work at Bosch.",
        "I live in Malmö and I work at Bosch. Translate that into Swedish.",
        "Shorten this: I moved to Malmö in 2021. I work at Bosch.",
        "Proofread - I lives in Malmö and work at Bosch.",
        "Make this sound friendlier: I hate jazz and I live in Malmö.",
        "Turn this into a poem: My name is Bo, I live in Malmö.",
        "Write a post for my sister: I work at Bosch and I live in Malmö.",
        "Draft a message saying that I live in Malmö and work at Bosch.",
        "How do you say I live in Malmö in Swedish?",
        "Is this sentence correct: I live in Malmö since 2021.",
        "Example: I live in Malmö.",
        "This is a test: I work at Bosch.",
        "Sample text: I work at Bosch.",
        "What is wrong with this sentence? I live in Malmö since 2021.",
        "Convert to the past tense: I live in Malmö.",
        "In French, please: I live in Malmö.",
        "I live in Malmö. I work at Bosch.\n\nPlease proofread.",
        "Lyrics: I live in Malmö and I hate jazz",
        "For argument's sake, I live in Malmö.",
        "I live in Malmö, for the sake of argument.",
        "Let's say I live in Malmö. I work at Bosch.",
        "Imagine I work at Bosch. I live in Malmö. What is my tax?",
        "Pretend to be my landlord. I live in Malmö and I own a dog.",
        "You are a wizard. I am a knight named Rolf and I live in Malmö.",
        "I want you to act as a guide. I live in Malmö and I hate museums.",
        "I'm a pirate and I live in Malmö. Let's role-play!",
    ],
)
def test_text_to_work_on_and_play_tell_nothing(text: str) -> None:
    assert said(text) == set()


@pytest.mark.parametrize(
    "text",
    [
        "Update: I moved to Malmö.",
        "PS: I moved to Malmö.",
        "Great news: I moved to Malmö!",
        "Note to self: I live in Malmö.",
        "My new address: I live in Malmö now.",
        "Remember: I live in Malmö.",
        "Please keep in mind: I live in Malmö.",
        "Long story short: I moved to Malmö.",
        "I told them: I live in Malmö.",
        "Truth be told: I live in Malmö.",
        "Ok, in English. I live in Malmö.",
        "Oslo: I loved it. I live in Malmö.",
        "News from me: I moved to Malmö.",
        "Me: I live in Malmö.",
        "Kim: I live in Malmö.",
        "Kim Lund: I live in Malmö.\nHer: I live in Lund.",
        "Helena said I should go. I live in Malmö.",
        "You are an angel! I live in Malmö.",
        "Can you recommend a club? I live in Malmö.",
        "I live in Malmö. Translate this: I live in Lund.",
        "On Tue, Helena wrote:\n> where do you live?\nI live in Malmö.",
        "Thanks! I live in Malmö. Best, Kim",
    ],
)
def test_a_colon_alone_takes_nothing_from_the_author(text: str) -> None:
    assert said(text) == {"Kim Lund LIVES_IN Malmö"}


def test_what_another_says_ends_no_fact_of_the_author() -> None:
    found = facts(turn("I live in Oslo."), turn("[Fwd] Helena: I live in Malmö now. Kim lives in Lund, I hear."))
    assert found == {"Kim Lund LIVES_IN Oslo", HELENA}


def test_in_anothers_message_the_owner_is_quoted_and_not_believed() -> None:
    assert facts(turn("Kim: I live in Malmö.\nMe: I work at Bosch.", speaker="Helena")) == {"Helena WORKS_AT Bosch"}


def test_whose_the_line_behind_a_pasted_one_is_nobody_knows() -> None:
    text = "I'm back.\nHelena: I live in Malmö.\nI live in Oslo."
    assert whose(text) == [
        (AUTHOR, "I'm back."),
        (NOBODY, "Helena:"),
        ("Helena", "I live in Malmö."),
        (NOBODY, "I live in Oslo."),
    ]
    assert said("Helena wrote: I live in Malmö. I live in Oslo.\n\nI work at Bosch.") == {
        HELENA,
        "Kim Lund WORKS_AT Bosch",
    }


def test_a_name_before_a_sentence_within_a_line_ends_the_authors_words() -> None:
    text = "I live in Oslo, I told them. Helena: nice! I live in Malmö.\n\nI work at Bosch."
    assert said(text) == {"Kim Lund LIVES_IN Oslo", "Kim Lund WORKS_AT Bosch"}


def test_parts_of_one_message_go_on_in_the_voice_of_those_before() -> None:
    opening = "Summarise the text below.\n\nI moved to Malmö."
    assert facts(turn("I work at Bosch.", opening=opening)) == set()
    assert facts(turn(opening), turn("I work at Bosch.", opening=opening)) == set()
    assert facts(turn("I work at Bosch.", opening="I moved to Malmö.")) == {"Kim Lund WORKS_AT Bosch"}


def test_quotations_are_anothers_but_titles_are_not() -> None:
    text = 'He said "I live in Malmö now", and I read "The Lord of My Rings".'
    spans = foreign(text, split(text, KIM))
    assert [text[begin:end] for begin, end in spans] == ['"I live in Malmö now"']
    assert QUOTED.search('a 5" nail and a 6" nail') is None


@pytest.mark.parametrize(
    "unit",
    ["[04.03.26, 08:12:09] Helena: I live in Malmö, I think. Me: ok\n", "a: ", ". ", "[[", '"a ', "> ", "\n", "Anna "],
)
def test_time_is_proportional_to_length(unit: str) -> None:
    text = (unit * 80_000)[:80_000]
    began = time.perf_counter()
    foreign(text, split(text, KIM))
    assert time.perf_counter() - began < 4, "some tenths of a second; what is quadratic takes minutes"


@pytest.mark.parametrize(
    "text",
    [
        "I'll be the chair on Monday, will you remind me? I live in Malmö.",
        "I will play a concert in June, you know. I live in Malmö.",
        "You should play something slower. I live in Malmö.",
        "You have to play fair! I live in Malmö.",
        "We need you to act fast. I live in Malmö.",
        "Act as soon as you can! I live in Malmö.",
        "I live in Malmö. Let's play a game of chess!",
        "My brother is the game master on Fridays. I live in Malmö.",
        "Be my accountability partner. I live in Malmö.",
        "Talk like an old mate. I live in Malmö.",
        "You are wonderful. I am the owner of a dog named Rolf and I live in Malmö.",
        "You're right, I'm a bit tired. I live in Malmö.",
        "I'll be a nurse soon, and you are a gem. I live in Malmö.",
        "On Fridays I love to role-play with my friends. I live in Malmö.",
        "I live in Malmö. Now act as a museum guide.",
        "I live in Malmö. Let's role-play a job interview.",
    ],
)
def test_talk_of_games_and_parts_is_no_play(text: str) -> None:
    assert "Kim Lund LIVES_IN Malmö" in said(text)


@pytest.mark.parametrize(
    "text",
    [
        "Be my game master. I am a dwarf named Brom, I live in Malmö.",
        "You'll be the waiter and I'll be the guest. I live in Malmö.",
        "I'll be the customer and you are the waiter. I live in Malmö.",
        "You are my therapist and I am your patient. I live in Malmö.",
        "Act as a smith.\n\nI live in Malmö and I work at Bosch.",
        "I am a bard called Rolf and I live in Malmö. You are now the innkeeper.",
        "Pretend you are Napoleon. I live in Malmö.",
    ],
)
def test_where_both_have_a_part_it_is_a_play(text: str) -> None:
    assert said(text) == set()


@pytest.mark.parametrize(
    "text",
    [
        "I live in Malmö. Could you translate this letter for me?",
        "I live in Malmö. Please summarise these minutes.",
        "I live in Malmö. Can you correct my spelling whenever I slip?",
        "I live in Malmö. Please proofread the following. I work at Bosch.",
        "I live in Malmö. I wrote an essay in Swedish. Can you proofread it?",
        "My text got through, didn't it? I live in Malmö.",
        "I live in Malmö. Translate these sentences below: I work at Bosch.",
    ],
)
def test_a_task_on_another_text_leaves_what_stands_before_it_to_the_author(text: str) -> None:
    assert "Kim Lund LIVES_IN Malmö" in said(text)
    assert "Kim Lund WORKS_AT Bosch" not in said(text)


@pytest.mark.parametrize(
    "text",
    [
        "In the choir I met Helena. I live in Malmö.",
        "In this game nobody wins. I live in Malmö.",
        "In my world, music comes first. I live in Malmö.",
        "In the novel I read the hero dies. I live in Malmö.",
        "In our campaign I met Helena. I live in Malmö.",
        "In my fantasy league I came third. I live in Malmö.",
        "Just imagine, I won the race! I live in Malmö.",
        "Picture, I won! I live in Malmö.",
        "Let's say hello to Helena. I live in Malmö.",
    ],
)
def test_ordinary_openings_are_no_supposition(text: str) -> None:
    assert "Kim Lund LIVES_IN Malmö" in said(text)


@pytest.mark.parametrize(
    "text",
    [
        "In this game I am a knight. I live in Malmö.",
        "In my novel I work at Bosch. I live in Malmö.",
        "In a perfect world I live in Malmö.",
        "Let's say that I live in Malmö.",
        "Imagine for a second that I live in Malmö.",
    ],
)
def test_suppositions_tell_nothing(text: str) -> None:
    assert said(text) == set()


@pytest.mark.parametrize(
    "head",
    [
        "To answer that",
        "To cut it short",
        "To make things worse",
        "To improve my commute",
        "So, to sum things up",
        "To summarise",
        "To finish",
        "Let me rephrase",
        "Let me put it this way",
        "Look, check this out",
        "Check it out",
        "TLDR",
        "Quick summary",
        "For example",
        "In reply to your message",
        "Thanks for your answer",
        "Change of address",
        "Can you believe this",
        "Make me a packing list",
        "Could you generate a playlist",
        "Create a workout for two weeks",
        "Improve my routine",
        "Answer like a friend",
    ],
)
def test_heads_of_the_authors_own_words(head: str) -> None:
    assert "Kim Lund LIVES_IN Malmö" in said(f"{head}: I live in Malmö.")


@pytest.mark.parametrize(
    "head",
    [
        "Make a caption of this",
        "Make me a short bio",
        "Create a bedtime story",
        "Generate a tweet for my club",
        "Turn into a limerick",
        "Help me to write a letter",
        "Can you help us to edit this",
        "Fix my spelling",
        "Put into the past tense",
        "Shorten",
        "Reply to this",
        "Is this correct",
        "How do you say this in Swedish",
        "What's wrong with this",
        "Text to translate",
    ],
)
def test_heads_of_text_to_work_on(head: str) -> None:
    assert said(f"{head}: I live in Malmö. I work at Bosch.") == set()


@pytest.mark.parametrize(
    "text",
    [
        "My manager wrote: no bonus this year. I live in Malmö.",
        "The nurse told us: not before Friday. I live in Malmö.",
        "My sister texted: she's engaged! I live in Malmö.",
        "My aunt said: you drive like a maniac. I live in Malmö.",
        "Helena asked: where are you? I live in Malmö.",
        "The notice reads: no parking. I live in Malmö.",
        "Helena's answer: never. I live in Malmö.",
        "According to Helena: they close at eight. I live in Malmö.",
    ],
)
def test_behind_a_reported_sentence_the_author_speaks_again(text: str) -> None:
    assert "Kim Lund LIVES_IN Malmö" in said(text)


@pytest.mark.parametrize(
    "text",
    [
        "She wrote: I moved. Now I live in Malmö.",
        "Helena's reply: we miss you. I live in Malmö.",
        "helena wrote: i moved. i live in Malmö.",
        "My friend wrote: Hi Kim! I live in Malmö.",
        "My friend wrote: What a week! I live in Malmö.",
        "My friend wrote: moved again. I live in Malmö.",
        "Message from Helena: Lund was dull. I live in Malmö.",
    ],
)
def test_where_the_reported_one_may_speak_on_nobody_is_read(text: str) -> None:
    assert "Kim Lund LIVES_IN Malmö" not in said(text)


@pytest.mark.parametrize(
    "text",
    [
        "Sister: she studies in Lund. I live in Malmö.",
        "Grandpa: I visit him on Sundays. I live in Malmö.",
        "My boss: I can't stand her. I live in Malmö.",
        "Dentist: I have a toothache. I live in Malmö.",
        "Landlord: I want to complain about the heating. I live in Malmö.",
        "Support: I live in Malmö and my phone is dead.",
    ],
)
def test_a_relative_or_a_trade_that_is_spoken_of_is_no_speaker(text: str) -> None:
    assert "Kim Lund LIVES_IN Malmö" in said(text)


@pytest.mark.parametrize(
    "text",
    [
        "Grandpa: I live in Malmö.",
        "Mum: Helena called, she is well. I live in Malmö.",
        "Dad: she left at noon. I live in Malmö.",
        "Boss: I expect you at nine. I live in Malmö.",
        "Interviewer: Your job? Candidate: I work at Bosch.",
        "Teacher: Speak up. Pupil: I live in Malmö.",
        "Doctor: I live in Malmö.\nPatient: I work at Bosch.",
    ],
)
def test_a_relative_or_a_trade_that_speaks_is_not_the_author(text: str) -> None:
    assert said(text) == set()


@pytest.mark.parametrize(
    "text",
    [
        "Jun: I moved to Malmö.",
        "May: I moved to Malmö.",
        "Jan: I sold the car. Dec: I moved to Malmö.",
        "- Jan: I sold the car.\n- April: I moved to Malmö.",
        "Late June 2021: I moved to Malmö.",
        "Sat: I moved to Malmö.",
        "June - I moved to Malmö.",
        "From April: I live in Malmö.",
        "It's May: I live in Malmö.",
    ],
)
def test_a_time_before_a_colon_is_no_name(text: str) -> None:
    assert "Kim Lund LIVES_IN Malmö" in said(text)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("June wrote: I live in Malmö.", "June"),
        ("June Berg: I live in Malmö.", "June Berg"),
        ("[04.03.26, 08:12] Jan: I live in Malmö.", "Jan"),
        ("From: Jan <jan@example.org>\nTo: Kim\n\nI live in Malmö.", "Jan"),
    ],
)
def test_who_is_named_like_a_month_is_still_somebody(text: str, name: str) -> None:
    assert said(text) == {f"{name} LIVES_IN Malmö"}
    assert whose("I live in Malmö.\n\nBest wishes,\nJan") == [(NOBODY, "I live in Malmö.\n\nBest wishes,\nJan")]
