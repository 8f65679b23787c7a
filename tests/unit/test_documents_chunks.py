"""Blocks become chunks that follow the document's structure and fit the window."""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsvc.documents.blocks import Block, linked, one_line
from memsvc.documents.chunking import TINY_TOKENS, chunks_of
from memsvc.documents.limits import Limits
from memsvc.errors import DocumentWithoutTextError
from memsvc.text.tokens import estimate_tokens
from tests.documents import read_text

PLACE: Mapping[str, Any] = {"line": 1}
LONG = "word " * 50


def head(text: str, level: int) -> Block:
    return Block("heading", text, PLACE, level)


def text(content: str, line: int = 1) -> Block:
    return Block("paragraph", content.strip(), {"line": line})


def shown(blocks: Sequence[Block], window: int = 240, title: str = "") -> list[tuple[tuple[str, ...], str]]:
    return [(chunk.headings, chunk.text.replace(LONG.strip(), "…")) for chunk in chunks_of(blocks, window, title)]


def test_a_heading_of_the_same_or_a_higher_level_ends_a_chunk() -> None:
    blocks = [head("A", 1), text(LONG), head("B", 1), text(LONG), head("C", 2), text(LONG), head("D", 1), text("end")]
    assert shown(blocks) == [(("A",), "…"), (("B",), "…\n\nC\n…"), (("D",), "end")]


def test_a_deeper_section_that_does_not_fit_is_a_chunk_of_its_own() -> None:
    blocks = [head("A", 1), text(LONG), head("B", 2), text(LONG), text(LONG, 7)]
    found = chunks_of(blocks, 120)
    assert [(chunk.headings, chunk.origin) for chunk in found] == [(("A",), {"line": 1}), (("A", "B"), {"line": 7})]
    assert shown(blocks, 90) == [(("A",), "…"), (("A", "B"), "…"), (("A", "B"), "…")]


def test_tiny_sections_share_a_chunk_that_names_them() -> None:
    blocks = [head("F", 1), head("Q1", 2), text("yes"), head("Q2", 2), text("no"), head("G", 1), text(LONG)]
    assert shown(blocks) == [((), "F\nQ1\nyes\n\nQ2\nno\n\nG\n…")]
    assert estimate_tokens("F Q1 yes Q2 no") < TINY_TOKENS


def test_the_rest_of_a_long_section_does_not_join_the_next_one() -> None:
    blocks = [head("A", 1), text(LONG), text(LONG), text("rest"), head("B", 1), text("next")]
    assert shown(blocks, 90) == [(("A",), "…"), (("A",), "…\n\nrest"), (("B",), "next")]


def test_a_heading_without_text_is_text() -> None:
    blocks = [head("A", 1), head("B", 1), text(LONG), head("C", 3), head("D", 1)]
    assert shown(blocks) == [((), "A\n\nB\n…\n\nC"), ((), "D")]


def test_the_title_is_not_among_the_headings() -> None:
    assert shown([head("T", 1), head("A", 2), text(LONG)], title="T") == [(("A",), "…")]


def test_a_header_that_takes_too_much_room_is_not_repeated() -> None:
    rows = [Block("row", "h " * 40, PLACE, table=1), *(Block("row", "x | y " * 5, PLACE, table=1) for _ in range(20))]
    assert sum("h h" in chunk.text for chunk in chunks_of(rows, 60)) == 1


def test_two_tables_keep_their_own_headers() -> None:
    rows = [Block("row", f"t{table} {row}", PLACE, table=table) for table in (1, 2) for row in range(6)]
    for chunk in chunks_of(rows, 12):
        lines = [line for line in chunk.text.split("\n") if line]
        assert lines[0] in {"t1 0", "t2 0"}


def test_headers_and_footers_stand_under_no_heading() -> None:
    blocks = [head("A", 1), text(LONG), Block("margin", "Acme", {"header": 1})]
    assert shown(blocks) == [(("A",), "…"), ((), "Acme")]


@pytest.mark.parametrize(
    ("text", "target", "expected"),
    [
        ("here", "https://x.org", "here (https://x.org)"),
        ("https://x.org", "https://x.org", "https://x.org"),
        ("x.org", "https://x.org/", "x.org"),
        ("a ", "b.html", "a (b.html) "),
        ("a", None, "a"),
        ("a", "#top", "a"),
        ("", "b", ""),
        ("a", "JavaScript:x", "a"),
        ("a@b.org", "mailto:a@b.org", "a@b.org"),
        ("a", "data:x", "a"),
    ],
)
def test_a_link_keeps_its_target_once(text: str, target: str | None, expected: str) -> None:
    assert linked(text, target) == expected


def visible(content: str) -> str:
    """Everything but white space."""
    return "".join(content.split())


WORDS = st.text(st.sampled_from(string.ascii_letters + string.digits + "äß漢字。.,!?-|#"), min_size=1, max_size=30)
PLAIN = st.lists(st.one_of(WORDS, st.sampled_from([" ", "\n", "\n\n", "\t", "\r\n"])), min_size=1, max_size=80).map(
    " ".join
)


@given(PLAIN, st.integers(1, 60))
@settings(max_examples=300, deadline=None)
def test_chunks_of_plain_text_hold_every_word_in_order(content: str, window: int) -> None:
    with TemporaryDirectory() as folder:
        try:
            found = read_text(Path(folder), "a.txt", content, Limits(window_tokens=window))
        except DocumentWithoutTextError:
            assert not content.strip()
            return
    assert visible("".join(chunk.text for chunk in found.chunks)) == visible(content)
    assert all(chunk.text.strip() for chunk in found.chunks)
    assert all(estimate_tokens(chunk.text) <= window for chunk in found.chunks)
    if window >= max(map(estimate_tokens, content.split())) and "。" not in content:  # which ends a sentence in a word
        assert [word for chunk in found.chunks for word in chunk.text.split()] == content.split()


BLOCKS = st.lists(
    st.one_of(
        st.builds(lambda t, level: Block("heading", t, PLACE, level), WORDS, st.integers(1, 4)),
        st.builds(lambda t: Block("paragraph", one_line(t), PLACE), PLAIN.filter(str.strip)),
        st.builds(lambda t: Block("item", f"- {t}", PLACE), WORDS),
        st.builds(lambda t, table: Block("row", t, PLACE, table=table), WORDS, st.integers(1, 2)),
        st.builds(lambda t: Block("code", t, PLACE), WORDS),
    ),
    max_size=25,
)


@given(BLOCKS, st.integers(4, 80))
@settings(max_examples=200, deadline=None)
def test_no_block_is_lost_and_every_heading_is_named(blocks: list[Block], window: int) -> None:
    found = chunks_of(blocks, window)
    held = visible("".join("".join(chunk.headings) + chunk.text for chunk in found))
    for block in blocks:
        room = window // 2 if block.table else window  # the rest may be taken by the table's header
        if estimate_tokens(block.text) <= room:
            assert visible(block.text) in held
    assert all(chunk.text.strip() for chunk in found)
    assert all(isinstance(chunk.headings, tuple) for chunk in found)
