"""Long messages in few words: whole sentences that say what was asked for, and never longer than is wanted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsvc.recall.shortening import LEFT_OUT, shortened

TEXT = "It rained. We sat inside. Ines wants an oak worktop. Jonas prefers slate. Nobody minds. We left at noon."
ANY = st.text(max_size=400) | st.lists(st.sampled_from([*TEXT.split(), "\n", "。", "北京大学", "."]), max_size=60).map(
    " ".join
)


@pytest.mark.parametrize(
    ("words", "chars", "found"),
    [
        (["oak"], 40, "… Ines wants an oak worktop. …"),
        (["worktops"], 40, "… Ines wants an oak worktop. …"),
        (["oak", "slate"], 50, "… Ines wants an oak worktop. Jonas prefers slate. …"),
        (["minding"], 20, "… Nobody minds. …"),
        (["noon"], 40, "… Nobody minds. We left at noon."),
        ([], 30, "It rained. We sat inside. …"),
        (["zebra"], 30, "It rained. We sat inside. …"),
        (["oak"], 15, "… oak worktop. …"),
        (["ate"], 30, "It rained. We sat inside. …"),  # not the end of "slate"
        (["oak"], 1_000, TEXT),
    ],
)
def test_the_sentences_that_say_the_words_are_kept(words: list[str], chars: int, found: str) -> None:
    assert shortened(TEXT, words, chars) == found


def test_words_of_scripts_without_gaps_are_found_within_a_row_of_signs() -> None:
    assert shortened("今天下雨。我在北京大学。我们在家。", ["北京"], 8) == "… 我在北京大学。 …"


def test_most_words_win_over_the_first_one() -> None:
    assert shortened("The oak. Nothing. The oak and the elm.", ["oak", "elm"], 20) == "… The oak and the elm."


@given(ANY, st.lists(st.text(min_size=1, max_size=8), max_size=4), st.integers(1, 120))
def test_it_is_a_stretch_of_the_text_and_no_longer_than_wanted(text: str, words: list[str], chars: int) -> None:
    found = shortened(text, words, chars)
    if len(text) <= chars:
        assert found == text
        return
    before, behind = found.startswith(f"{LEFT_OUT} "), found.endswith(f" {LEFT_OUT}")
    assert before or behind or not found.strip() or found == text.strip()
    kept = found.removeprefix(f"{LEFT_OUT} ").removesuffix(f" {LEFT_OUT}")
    assert kept in text
    assert len(kept) <= chars
