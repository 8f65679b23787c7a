"""Which queries have nothing that can be looked for."""

from __future__ import annotations

import time

import pytest

from memsvc.recall.query_words import can_be_split, has_words, only_repeats


@pytest.mark.parametrize(
    "query", ["x " * 5_000, "x" * 5_000, "Heron " * 5_000, "ha! HA? " * 40, "yes no " * 100, "word" * 1_000, "我" * 300,
              "我我們 " * 80, "😀" * 200, "\u0301x" * 50_000],
)  # fmt: skip
def test_repetition_is_no_query(query: str) -> None:
    began = time.perf_counter()
    assert only_repeats(query)
    assert time.perf_counter() - began < 0.5


@pytest.mark.parametrize(
    "query", ["", "x", "oak oak oak", "no " * 20, "The worktop is oak. " * 500, "Where do we meet Ines? " * 10,
              "Which " + "very " * 60 + "old oak?", "".join(f"word{number} " for number in range(5_000)), "ab" * 99],
)  # fmt: skip
def test_what_says_more_is_one(query: str) -> None:
    assert not only_repeats(query)


@pytest.mark.parametrize("query", ["ꦲꦏ꧀ꦱꦫꦗꦮ", "ᬅᬓ᭄ᬱᬭᬩᬮᬶ", "ꆈꌠꁱꂷ", "ᥖᥭᥰᥖᥬᥳᥑᥨᥒᥰ", "what is ꦲꦏ꧀ꦱꦫꦗꦮꦲꦏ꧀ꦱꦫꦗꦮ"])
def test_some_scripts_cannot_be_split(query: str) -> None:
    assert not can_be_split(query)


@pytest.mark.parametrize(
    "query", ["oak", "", "7", "我住在里斯本", "กรุงเทพ", "ဗမာ", "ភាសា", "Где Инес?", "Where is ꆈꌠ?", "नमस्ते"]
)
def test_others_can(query: str) -> None:
    assert can_be_split(query)


def test_signs_alone_are_no_words() -> None:
    assert [has_words(query) for query in ("?!", "😀", "…", "", "7", "é", "我", "कि")] == [False] * 4 + [True] * 4
