"""Splitting long messages: to the letter, within the window, at sentence ends, and fast whatever the text."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsvc.text.split import split_text
from memsvc.text.tokens import estimate_tokens

SIGNS = st.sampled_from(
    [*"abcXYZ019äß.!?…。！？」”\"')] \t\n\r", "\u3000", "\xa0", "日", "本", "🚲", "e\u0301", "supercalifragilistic"]
)
texts = st.one_of(st.text(max_size=400), st.lists(SIGNS, max_size=400).map("".join))


@given(st.one_of(texts, st.text(st.sampled_from("aaaZ1. \n\x00\x1c\x7f\x85\xa0\u2003é“\ud800"), max_size=60)))
def test_tokens_are_letters_by_six_and_every_other_sign_by_itself(text: str) -> None:
    assert estimate_tokens(text) == len(re.findall(r"[a-zA-Z]{1,6}|\S", text))


@given(texts, st.integers(1, 60))
def test_the_parts_are_the_text_and_fit_the_window(text: str, window: int) -> None:
    parts = split_text(text, window)
    assert "".join(parts) == text
    assert parts
    assert all(estimate_tokens(part) <= window for part in parts)
    assert all(parts) or text == ""


@given(texts, st.integers(1, 60))
def test_a_text_that_fits_stays_whole(text: str, window: int) -> None:
    assert (split_text(text, window) == [text]) == (estimate_tokens(text) <= window)


@given(st.text(max_size=300), st.text(max_size=300))
def test_the_estimate_never_grows_by_joining(one: str, other: str) -> None:
    assert estimate_tokens(one + other) <= estimate_tokens(one) + estimate_tokens(other)


def test_sentences_stay_whole_where_they_fit() -> None:
    sentences = [f"Number {n} costs 3.50 euros (at least). " for n in range(40)]
    parts = split_text("".join(sentences), 40)
    assert len(parts) > 5
    assert all(part.startswith("Number") and part.endswith("(at least). ") for part in parts)
    assert sum(part.count("Number") for part in parts) == 40


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ('He said "no." Then he left the room.', 'He said "no." '),
        ("Really?! Yes, of course it is so.", "Really?! "),
        ("Line one\n\n  line two goes on and on", "Line one\n\n  "),
        ("Wait… what is going on in here", "Wait… "),
        ("Version 3.11 is out, read about it at www.example.org", "Version 3.11 "),
        ("今日は雨です。明日は晴れです。", "今日は雨です。"),
        ("「行く。」と言った。それで終わり。", "「行く。」"),
    ],
)
def test_a_part_ends_where_a_sentence_does(text: str, first: str) -> None:
    parts = split_text(text, estimate_tokens(first))
    assert parts[0] == first
    assert "".join(parts) == text


def test_a_sentence_beyond_the_window_falls_into_words() -> None:
    parts = split_text("word " * 100, 10)
    assert parts == ["word " * 10] * 10


def test_one_giant_word_falls_into_stretches() -> None:
    assert [len(part) for part in split_text("x" * 1_000, 32)] == [160] * 6 + [40]
    parts = split_text("日" * 1_000, 32)
    assert "".join(parts) == "日" * 1_000
    assert all(len(part) <= 32 for part in parts)


@pytest.mark.parametrize("filler", [" ", ".", "!?", "\n", "\t \n", "。", '."', ".'x", "' ", "word "])
def test_no_text_takes_long(filler: str) -> None:
    text = "word " * 300 + filler * (200_000 // len(filler)) + "end"
    began = time.process_time()
    parts = split_text(text, 200)
    assert time.process_time() - began < 2
    assert "".join(parts) == text
