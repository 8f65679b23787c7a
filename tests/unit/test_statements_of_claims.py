"""Whether a sentence says or denies a claim, by its words: in doubt it does neither."""

from __future__ import annotations

import pytest

from memsvc.chat.statements import agreement, speaks_of

ADA = ["Ada Berg", "Ada"]


@pytest.mark.parametrize(
    ("claim", "message", "says"),
    [
        ("Emil is allergic to hazelnuts.", "Emil is allergic to hazelnuts", "same"),
        ("Emil is allergic to hazelnuts.", "Long day. Emil's still allergic to hazelnuts!", "same"),
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
    found = agreement(claim, message, ADA)
    assert (found[0] if found else None) == says


def test_the_sentence_that_says_so_is_quoted() -> None:
    assert agreement("Emil is four.", "What a day! Emil is four now. Cake.", ()) == ("same", "Emil is four now.")


def test_a_message_speaks_of_a_claim_only_with_all_its_names_and_numbers() -> None:
    claim = "Ada's flight leaves on Tuesday at 11:20."
    assert not speaks_of(claim, "The flight on Tuesday leaves at 16:05.", ADA)
    assert speaks_of(claim, "My flight on Tuesday leaves at 11:20, finally.", ADA)
    assert not speaks_of(claim, "My flight on Tuesday leaves at 11:20, finally.", ["Bob"])
    assert not speaks_of("Ada.", "My flight is on Tuesday.", ADA)
