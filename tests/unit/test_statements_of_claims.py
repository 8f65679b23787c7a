"""Whether a sentence says or denies a claim, by its words: in doubt it does neither."""

from __future__ import annotations

import pytest

from memsvc.chat.statements import Voice, agreement, speaks_of_its_moment
from memsvc.chat.wording import speaks_of

ADA = ["Ada Berg", "Ada"]
OWN = ("Ines Costa", "I", "me", "my", "myself")
INES, RUI, SOMEBODY = Voice(OWN, None), Voice(OWN, "Rui"), Voice(OWN, "")


@pytest.mark.parametrize(
    ("claim", "message", "says"),
    [
        ("Emil is allergic to hazelnuts.", "Emil is allergic to hazelnuts", "same"),
        ("Emil is allergic to hazelnuts.", "Long day. Emil's still allergic to hazelnuts!", None),
        ("Emil is allergic to hazelnuts.", "Long day. Emil is still allergic to hazelnuts!", "same"),
        ("Emil is allergic to hazelnuts.", "Emil isn't allergic to hazelnuts.", "denied"),
        ("Emil is not allergic to hazelnuts.", "Emil is allergic to hazelnuts.", "denied"),
        ("Emil is not allergic to hazelnuts.", "Emil isn\u2019t allergic to hazelnuts.", "same"),
        ("Emil is allergic to hazelnuts.", "Emil is allergic to walnuts.", None),
        ("Emil is allergic to hazelnuts.", "Emil's friend is allergic to hazelnuts.", None),
        ("Emil is allergic to hazelnuts.", "If Emil is allergic to hazelnuts, we cook without.", None),
        ("Emil is allergic to hazelnuts.", "Is Emil allergic to hazelnuts?", None),
        ("Emil is allergic to hazelnuts.", "Emil was allergic to hazelnuts.", None),
        ("Anna likes Ben.", "Ben likes Anna.", None),
        ("Ada works at the museum.", "I work at the museum.", "same"),
        ("Ada Berg works at the museum.", "I don't work at the museum.", "denied"),
        ("Ada worked at the museum.", "I work at the museum.", None),
        ("Ada's coach is Bia.", "My coach is Bia.", "same"),
        ("Bob's coach is Bia.", "My coach is Bia.", None),
        ("I work at the museum.", "Ada works at the museum.", "same"),
        ("The flight leaves at 11:20.", "The flight leaves at 16:05.", None),
        ("The flight goes to Rome.", "The flight goes from Rome.", None),
        ("He is.", "He is.", None),
        ("", "", None),
    ],
)
def test_only_the_same_words_in_the_same_order_say_or_deny_a_claim(claim: str, message: str, says: str | None) -> None:
    found = agreement(claim, message, Voice(ADA, None))
    assert (found[0] if found else None) == says


def test_the_sentence_that_says_so_is_quoted() -> None:
    found = agreement("Emil is four.", "What a day! Emil is four now. Cake.", Voice((), ""))
    assert found == ("same", "Emil is four now.")


def test_a_message_speaks_of_a_claim_only_with_all_its_names_and_numbers() -> None:
    claim = "Ada's flight leaves on Tuesday at 11:20."
    assert not speaks_of(claim, "The flight on Tuesday leaves at 16:05.", ADA)
    assert speaks_of(claim, "My flight on Tuesday leaves at 11:20, finally.", ADA)
    assert not speaks_of(claim, "My flight on Tuesday leaves at 11:20, finally.", ["Bob"])
    assert not speaks_of("Ada.", "My flight is on Tuesday.", ADA)


def how(claim: str, text: str, voice: Voice = INES) -> str | None:
    found = agreement(claim, text, voice)
    return found and found[0]


@pytest.mark.parametrize(
    ("claim", "text", "voice"),
    [
        ("I live in Porto.", "I live in Porto.", INES),
        ("Ines lives in Porto.", "I live in Porto.", INES),
        ("I live in Porto", "Long day! I live in Porto. Good night.", INES),
        ("Ines's car is red.", "My car is red.", INES),
        ("My car is red.", "Ines's car is red.", RUI),
        ("Ines is tired.", "I'm tired.", INES),
        ("Rui lives in Porto.", "I live in Porto.", RUI),
        ("Rui's car is red.", "My car is red.", RUI),
        ("The shed is painted blue.", "The shed is painted blue.", SOMEBODY),
        ("Ich wohne in Porto.", "Ich wohne in Porto.", INES),
        ("I work at Bosch.", "No, I work at Bosch.", INES),
        ("I work at Bosch.", "Nope - I work at Bosch.", INES),
        ("I work at Bosch.", "Yes, no, I work at Bosch.", INES),
        ("I work at Bosch.", "No I work at Bosch.", INES),
        ("I work at Bosch.", "I still work at Bosch.", INES),
        ("The train leaves at 17:20.", "The train leaves at 17:20!", INES),
    ],
)
def test_a_sentence_says_the_same(claim: str, text: str, voice: Voice) -> None:
    assert how(claim, text, voice) == "same"


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("I live in Porto.", "I do not live in Porto."),
        ("Ines lives in Porto.", "I don't live in Porto."),
        ("The shed is not painted blue.", "The shed is painted blue."),
        ("I smoke.", "No, I never smoke."),
    ],
)
def test_a_sentence_denies(claim: str, text: str) -> None:
    assert how(claim, text) == "denied"


@pytest.mark.parametrize("voice", [RUI, SOMEBODY, Voice(OWN, "Ines")])
@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("I live in Porto.", "I live in Porto."),
        ("Ines lives in Porto.", "I live in Porto."),
        ("I'm the mayor.", "Im the mayor."),
        ("My car is red.", "My car is red."),
        ("We live in the old town.", "We live in the old town."),
        ("Ich wohne in Porto.", "Ich wohne in Porto."),
        ("Vivo en Oporto.", "Vivo en Oporto."),
        ("Mijn auto is rood.", "Mijn auto is rood."),
        ("You live in the old town.", "You live in the old town."),
    ],
)
def test_somebody_elses_i_is_not_the_owner(claim: str, text: str, voice: Voice) -> None:
    assert how(claim, text, voice) is None


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        # whose
        ("My sister works at Bosch.", "I sister work at Bosch."),
        ("Ines works at Bosch.", "My work at Bosch."),
        ("My car is red.", "I car is red."),
        ("Ines is red.", "Ines's is red."),
        # verbs that say little, and the past
        ("I have a cat.", "I am a cat."),
        ("Emil has diabetes.", "Emil is diabetes."),
        ("I smoke.", "I did smoke."),
        ("I am a nurse.", "I was a nurse."),
        ("I have a boat.", "I had a boat."),
        ("Ines puts it there.", "I put it there."),
        ("I have lived in Porto.", "I live in Porto."),
        ("I would move.", "I'd move."),
        # small words and signs
        ("I have few friends.", "I have a few friends."),
        ("I know C.", "I know C++."),
        ("The ticket costs $5.", "The ticket costs €5."),
        ("I like Jean.", "I like jeans."),
        ("I take vitamin A.", "I take vitamin."),
        ("I am not tall.", "I am not very tall."),
        ("I do not like cats and dogs.", "I like cats and not dogs."),
        # nobody knows who is meant
        ("He has diabetes.", "He has diabetes."),
        ("You live in Porto.", "You live in Porto."),
        ("It is broken.", "It is broken."),
        ("I work here.", "I work here."),
        ("你住在波尔图。", "你住在波尔图。"),
    ],
)
def test_other_statements_are_not_the_same(claim: str, text: str) -> None:
    assert how(claim, text) is None


@pytest.mark.parametrize(
    "text",
    [
        "Translate this into German:\nI live in Porto.",
        "Translate this into German.\nI live in Porto.",
        "Can you translate this? I live in Porto.",
        "I live in Porto.\n\nPlease correct this.",
        "He wrote:\nI live in Porto.",
        "He wrote:\n\nI like it.\n\nI live in Porto.",
        "He wrote: I like it. I live in Porto.",
        "He wrote:I like it. I live in Porto.",
        "For example: I live in Porto.",
        "For example. I live in Porto.",
        "Example\n\nI live in Porto.",
        'He wrote "I like it. I live in Porto. It is nice."',
        "He wrote “I like it. I live in Porto. It is nice.”",
        "He wrote „I like it. I live in Porto. It is nice.“",
        "He wrote «I like it. I live in Porto. It is nice.»",
        "He wrote ‘I don’t mind. I live in Porto. It is nice.’",
        "He wrote 'I like it. I live in Porto. It is nice.'",
        'He wrote "I like it. I live in Porto.',
        "> I live in Porto.\nReally.",
        "```\nI live in Porto.\n```",
        "I do not think that\nI live in Porto.",
        "I live in Porto\nonly in summer.",
        "I wish... I live in Porto.",
        "Dear Mr. I live in Porto.",
        "z.B. I live in Porto.",
        "I live in Porto?",
        "I live in Porto. Just kidding!",
        "Imagine. I live in Porto.",
    ],
)
def test_what_the_author_does_not_state_is_nobodys_statement(text: str) -> None:
    assert how("I live in Porto.", text) is None


@pytest.mark.parametrize("claim", ["She said: I live in Porto.", 'Rui said "I live in Porto".'])
def test_a_claim_that_quotes_is_compared_with_nothing(claim: str) -> None:
    assert how(claim, claim) is None


@pytest.mark.parametrize(
    ("claim", "moment"),
    [
        ("I still live in Porto.", True),
        ("Ines now works at Bosch.", True),
        ("I no longer smoke.", True),
        ("I flew to Rome yesterday.", True),
        ("I fly to Rome on Tuesday.", True),
        ("Ich wohne jetzt in Porto.", True),
        ("我现在住在波尔图。", True),
        ("The group meets on Tuesdays.", False),
        ("I live in Porto.", False),
    ],
)
def test_claims_about_their_moment_are_told(claim: str, moment: bool) -> None:
    assert speaks_of_its_moment(claim) == moment
