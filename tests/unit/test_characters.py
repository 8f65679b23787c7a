"""Characters that nobody sees: what counts as visible, and what a prompt keeps."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsvc.text.characters import HIDDEN, ORDINARY, flat, is_visible, plain_lines, without_hidden

HIDDEN_SIGN = re.compile(f"[{HIDDEN}]")
INVISIBLE = {
    "nothing": "", "blanks": " \t\r\n\u00a0\u2003\u3000\u2028", "zero width": "\u200b\u200c\u200d\u2060\ufeff",
    "direction": "\u200e\u200f\u061c\u202a\u202e\u2066\u2069", "tags": "\U000e0001\U000e0041\U000e007f",
    "soft hyphens": "\u00ad\u00ad", "controls": "\x00\x07\x1b\x7f\x80\x9f", "variation selectors": "\ufe0f\U000e0100",
    "lone marks": "\u0301\u20dd", "fillers": "\u115f\u1160\u3164\uffa0", "a blank of Braille": "\u2800",
    "many": "\u200b" * 5_000,
}  # fmt: skip


@pytest.mark.parametrize("case", INVISIBLE)
def test_what_nobody_sees_is_empty(case: str) -> None:
    assert not is_visible(INVISIBLE[case])
    assert is_visible(f"{INVISIBLE[case]}x")


@pytest.mark.parametrize(
    "text", ["x", ".", "🙂", "é", "e\u0301", "न", "ा", "\u06dd", "\ue000", "\U000e0041" * 200 + "x"]
)
def test_what_is_drawn_is_visible(text: str) -> None:
    assert is_visible(text)


@given(st.text(st.characters(categories=["Zs", "Zl", "Zp", "Cc", "Mn", "Me"])))
def test_no_text_of_these_categories_alone_is_visible(text: str) -> None:
    assert not is_visible(text)


@pytest.mark.parametrize(
    "text",
    [
        "👩‍👩‍👧", "❤️‍🔥", "🏳️‍🌈", "👩🏽‍⚕️", "1️⃣", "☎︎", "می‌خواهم", "کتاب‌ها", "ක්‍ර", "क्‍ष", "र‍्य", "ന്‍", "葛󠄀", "ᠠ᠋", "e\u0301",
    ],
)  # fmt: skip
def test_scripts_and_emoji_keep_what_they_need(text: str) -> None:
    assert without_hidden(text) == text


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a\u200bb\u202ec\u00add\u200d", "abcd"), ("in\u200cter\u200dval", "interval"), ("🙂\u200d\u200d🙂", "🙂🙂"),
        ("🙂\ufe0f\ufe0e\ufe0f", "🙂\ufe0f"), ("x\ufe0f", "x"), ("x\ufe0f\u200d🙂", "x🙂"), ("م\u200c\u200cی", "می"),
        ("葛\U000e0100\U000e0101", "葛\U000e0100"), ("🏴\U000e0067\U000e0062\U000e007f", "🏴"), ("م\u200c a", "م a"),
        ("a\tb\nc\r\nd\u2028e", "a\tb\nc\r\nd\u2028e"), ("a\x00\x1b[2J\x9b", "a[2J"),
    ],
)  # fmt: skip
def test_the_others_go(text: str, kept: str) -> None:
    assert without_hidden(text) == kept


@given(st.text(st.one_of(st.sampled_from("🙂葛می्aᠠ0\u200c\u200d\ufe0f\u200b\U000e0100\u180b\n"), st.characters())))
def test_doing_it_again_changes_nothing_and_what_is_seen_stays(text: str) -> None:
    once = without_hidden(text)
    assert without_hidden(once) == once
    assert is_visible(once) == is_visible(text)
    drawn = [sign for sign in text if is_visible(sign)]
    assert [sign for sign in once if is_visible(sign)] == drawn
    assert "\n" not in flat(text)
    assert len(plain_lines(text).splitlines()) <= plain_lines(text).count("\n") + 1


def test_ordinary_characters_are_neither_hidden_nor_breaks() -> None:
    for sign in map(chr, range(0x110000)):
        if ORDINARY.fullmatch(sign):
            assert not HIDDEN_SIGN.match(sign), hex(ord(sign))
            assert plain_lines(f"{sign}\r") == f"{sign}\n"
    assert ORDINARY.fullmatch("“I’d like oak”, said Zoë — 李: 「はい」…\n\tAnd then: ≥ 3 €.")


def test_every_format_character_is_hidden_or_drawn() -> None:
    """A new Unicode may bring further ones: then somebody has to decide."""
    formats = {sign for sign in map(chr, range(0x110000)) if unicodedata.category(sign) == "Cf"}
    left = {sign for sign in formats if without_hidden(f"a{sign}") == f"a{sign}"}
    hieroglyphs = {sign for sign in left if "EGYPTIAN" in unicodedata.name(sign)}  # they place drawn ones
    assert {sign for sign in left if is_visible(sign)} == left - hieroglyphs
    assert len(HIDDEN) > 1
