"""Kinds of findings that are seldom so are left out or wait for a person; what is like them and so is not."""

from __future__ import annotations

import pytest

from tests.unit.test_offline_plans import extraction, said

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("I'm funny in Portuguese.", "LOCATED_AT"),
        ("I own the backlog and all the releases.", "OWNS"),
        ("Tom has a new van. It's mine until Friday.", "Max OWNS van"),
        ("I sat on the wall to draw a heron.", "CREATED"),
        ("Anna sketched a fox.", "CREATED"),
        ("Mum is getting a new hip, she's calm. The surgery is on 27 November.", "Max PARTICIPATED_IN"),
        ("I found a small flat in Faro, third floor, no lift, for the week.", "LIVES_IN"),
        ("Very proud of herself and a little sad.", "FEELS"),
        ("Anna will be thrilled.", "FEELS"),
        ("We gave Tom a flight over the lake.", "Max PARTICIPATED_IN"),
        ("I won't buy another bike before spring.", "OWNS"),
    ],
)
def test_what_is_seldom_so_is_not_said(text: str, wrong: str) -> None:
    assert not [fact for fact in said(extraction(text)) if wrong in fact]


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("We had lunch in Lisbon.", "Max LOCATED_AT Lisbon"),
        ("I own a van.", "Max OWNS van"),
        ("The boat is mine now.", "Max OWNS boat"),
        ("I drew a comic.", "Max CREATED comic"),
        ("Anna painted a mural.", "Anna CREATED mural"),
        ("My surgery is on 27 November.", "Max PARTICIPATED_IN surgery"),
        ("I found a small flat in Faro, third floor, no lift.", "Max LIVES_IN Faro"),
        ("I'm very proud and a little sad.", "Max FEELS proud"),
        ("The comic is great, and I love the drawings.", "Max LIKES drawings"),
    ],
)
def test_what_is_like_it_and_so_is_said(text: str, right: str) -> None:
    assert right in said(extraction(text))


def test_it_that_may_be_the_whole_sentence_waits_for_a_person() -> None:
    found = extraction("Tom has a cat.", "I can't come on Friday, and I hate it!")
    assert not [fact for fact in said(found) if "DISLIKES" in fact]


def test_a_home_is_not_dated_by_a_day_spent_at_home() -> None:
    [home] = [one for one in extraction("At home in Leipzig on the 24th.").facts if one.type == "LIVES_IN"]
    assert (home.since, home.until) == (None, None)


def test_a_woman_somebody_met_is_known_and_nobodys_woman() -> None:
    found = extraction("I had two hours with a woman called Wiebke Harms, who'd be my team lead.")
    assert [fact.sentence for fact in found.facts if fact.type == "KNOWS"] == ["Max knows Wiebke Harms."]


def test_a_title_in_the_name_of_anothers_relative_is_no_bond() -> None:
    found = extraction("Jonas's aunt Gerlinde says no.", "Keep aunt Gerlinde away from the swans.")
    assert "Gerlinde is Max's aunt." not in [fact.sentence for fact in found.facts]
    assert "Aunt Gerlinde is Max's aunt." in [one.sentence for one in extraction("Aunt Gerlinde came by.").facts]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("Jonas's cousins live in Cork.", "Jonas's cousins live in Cork."),
        ("Jonas's cousins live in Cork.", "Jonas has cousins."),
        ("My parents live in Cork.", "Max's parents live in Cork."),
        ("My parents live in Cork.", "Max has parents."),
        ("My sister lives in Cork.", "Max's sister lives in Cork."),
        ("We flew to Spain in May.", "Max was in Spain."),
        ("We're going to Lisbon on Friday.", "Max is in Lisbon."),
        ("Beppo would like to come to the party.", "Beppo wants to come to the party."),
        ("Beppo wants to go to university.", "Beppo wants to go to university."),
        ("I start at Nordpegel on 1 April.", "Max works at Nordpegel."),
    ],
)
def test_sentences_are_good_english(text: str, sentence: str) -> None:
    assert sentence in [fact.sentence for fact in extraction(text).facts]
