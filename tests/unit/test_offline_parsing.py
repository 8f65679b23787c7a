"""What the parser gets wrong without help, answers that name something else, and health in people's words."""

from __future__ import annotations

import pytest

from tests.unit.test_offline_said import chat, said


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (("Ida moved to Bari in 2018 and Olga to Rome in 2020.",), {"Ida LIVES_IN Bari", "Olga LIVES_IN Rome"}),
        (("I moved to Bari circa 1998.",), {"Sam LIVES_IN Bari"}),
        (("We moved to Bari mid-2017.",), {"Sam LIVES_IN Bari"}),
        (("I moved to Bari in Q2 2021.",), {"Sam LIVES_IN Bari"}),
        (("I live in Bari – sorry, Lecce.",), {"Sam LIVES_IN Bari", "corrects: Sam LIVES_IN Lecce"}),
        (
            (">Do you still live in Bari?", "No, since June in Lecce."),
            {"ended: Sam LIVES_IN Bari", "Sam LIVES_IN Lecce"},
        ),
        (("My new character: I'm a bard called Finn and I live in Waterdeep.",), set()),
        (("Everybody thinks I live in Bari. They're wrong.",), set()),
        (("Drummer for several bands.",), set()),
    ],
)  # fmt: skip
def test_homes_are_those_of_whom_and_when_a_text_says(texts: tuple[str, ...], expected: set[str]) -> None:
    assert {each for each in said(*texts) if "LIVES_IN" in each or "WORKS_AT" in each} == expected


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ((">Are you allergic to anything?", "Yes, cashews."), "Sam RELATED_TO cashews"),
        (("I'm married to Olga.", "Olga and I got divorced."), "ended: Sam FAMILY_OF Olga"),
        (("I'm a smoker.",), "Sam RELATED_TO smoker"),
        (("I'm fructose intolerant.",), "Sam RELATED_TO fructose"),
    ],
)
def test_what_is_so_of_somebody_is_named(texts: tuple[str, ...], expected: str) -> None:
    assert expected in said(*texts)


@pytest.mark.parametrize(
    "text", ["I enjoy walking in the Alps.", "I go riding in the Alps every winter.", "At choir practice."]
)
def test_what_is_done_again_and_again_is_no_place_where_one_is(text: str) -> None:
    assert not [each for each in said(text) if "LOCATED_AT" in each or "WORKS_AT" in each]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My aunt had a stroke last year.", "Sam's aunt had a stroke."),
        ("My aunt had a heart attack in May.", "Sam's aunt had a heart attack."),
        ("I'm fructose intolerant.", "Sam is intolerant to fructose."),
    ],
)
def test_health_is_told_as_people_say_it(text: str, expected: str) -> None:
    assert expected in {fact.sentence for fact in chat(text).facts}
