"""User text in Markdown stays text, and in file names stays in its folder."""

from __future__ import annotations

import string
import unicodedata
from uuid import UUID

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from memsvc.text.characters import without_hidden
from memsvc.text.markdown import (
    CONTROLS,
    LINE_BREAKS,
    MAX_STEM_BYTES,
    Names,
    file_stem,
    inline,
    quote,
    short_id,
)

READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
# Mostly signs that mean something, so that they meet.
TEXT = st.one_of(
    st.text(alphabet=string.punctuation + " \t\n1ab"),
    st.text(alphabet="-=#>*_`~|:[]()!<&1. \n\t"),
    st.text(max_size=60),
)
WRITTEN = (
    "# head", "    code", "\tcode", "- list\n- list", "1. list", "2) list", "a\n===", "a\n---", "***", "> quote",
    "```\ncode", "<b>x</b>", "<!-- x -->", "<https://a.b>", "[x](y)", "![x](y)", "[x]: y",
    "&amp;", "a|b\n-|-\nc|d", "~~x~~", "`x`",
    "a  \nb", "a\\\nb", "\\", "*x*", "_x_", "__x__", "&nbsp;", "::: x", "- [ ] x", "+ x", "\x0b# x", "x\u2028# y", "+",
)  # fmt: skip


def shown(tokens: list[Token]) -> tuple[set[str], str]:
    """Kinds of tokens, and their text as a reader sees it."""
    kinds: set[str] = set()
    said = ""
    for token in tokens:
        if token.type == "paragraph_open" and said:
            said += "\n"  # the empty line between two paragraphs of a quotation
        for inner in token.children or [token]:
            kinds.add(inner.type)
            if inner.type in {"hardbreak", "softbreak"}:
                said += "\n"
            else:
                said += inner.content
    return kinds, said


def plain(text: str) -> list[str]:
    """What a reader must see: words of each line; runs of blanks do not count."""
    return text.replace("\u00a0", " ").replace("\ufffd", " ").split()


QUOTED = {"blockquote_open", "blockquote_close", "paragraph_open", "paragraph_close", "text", "hardbreak", "softbreak"}


@given(TEXT)
@example("x\n\n\n    y")
@example("1.\n2)")
def test_a_quotation_means_nothing_and_shows_everything(text: str) -> None:
    kinds, said = shown(READER.parse(quote(text)))
    assert kinds <= QUOTED | {"text_special", "inline"}
    visible = CONTROLS.sub(lambda sign: chr(0x2400 + ord(sign[0])) if sign[0] < " " else " ", text)
    assert plain(said) == plain(LINE_BREAKS.sub("\n", visible))


@pytest.mark.parametrize("text", WRITTEN)
def test_markup_is_text(text: str) -> None:
    kinds, said = shown(READER.parse(quote(text)))
    assert kinds <= QUOTED | {"text_special", "inline"}
    assert plain(said.replace("␋", "\n")) == plain(LINE_BREAKS.sub("\n", text))


@given(TEXT)
def test_a_heading_and_an_item_are_one_line_of_text(text: str) -> None:
    line = inline(text)
    assert not LINE_BREAKS.search(line)
    assert without_hidden(line) == line
    for before, opened in (("# ", "heading"), ("- ", "list_item"), ("", "paragraph")):
        kinds, said = shown(READER.parse(f"{before}{line}\n"))
        allowed = {f"{opened}_open", f"{opened}_close", "bullet_list_open", "bullet_list_close"}
        assert kinds <= allowed | QUOTED | {"text_special", "inline"} - {"blockquote_open"}
        assert said.count("\n") == 0


@pytest.mark.parametrize(
    "text",
    [
        "http://a.b",
        "https://a.b",
        "www.a.b",
        "WWW.a.b",
        "a@b.c",
        "#tag",
        "[[page]]",
        "==x==",
        "%%x%%",
        "$x$",
        "^x",
        "{.x}",
    ],
)
def test_what_other_dialects_know_is_escaped(text: str) -> None:
    assert "\\" in inline(text)
    assert inline(text).replace("\\", "") == text


# File names


@given(st.text(max_size=80))
@example("../../etc/passwd")
@example("CON")
@example("nul.txt")
@example("a" * 300)
@example("鷺" * 100)
@example("\u202ecod.exe")
@example("...")
def test_a_file_name_stays_in_its_folder(text: str) -> None:
    stem = file_stem(text, "none")
    assert stem
    assert len(stem.encode()) <= MAX_STEM_BYTES + 1
    assert not set(stem) & set('/\\:*?"<>|. \t\r\n\0')
    assert all(unicodedata.category(sign)[0] in "LNM" or sign == "-" for sign in stem)
    assert unicodedata.is_normalized("NFC", stem)
    assert stem.casefold() not in {"con", "prn", "aux", "nul", "com1", "lpt9"}
    assert not stem.startswith("-")


def test_a_file_name_is_still_a_name() -> None:
    assert file_stem("Ines & Jonas' wedding", "x") == "Ines-Jonas-wedding"
    assert file_stem("Ä", "x") == file_stem("A\u0308", "x") == "Ä"
    assert file_stem("👩‍👩‍👧", "nobody") == "nobody"
    assert file_stem("prn", "x") == "prn-"


def test_every_file_has_a_name_of_its_own() -> None:
    names = Names()
    assert [names.take(stem) for stem in ("a", "A", "a", "b", "Ä", "A\u0308", "a-2")] == [
        "a.md", "A-2.md", "a-3.md", "b.md", "Ä.md", "A\u0308-2.md", "a-2-2.md",
    ]  # fmt: skip


def test_the_short_id_is_the_end_that_differs() -> None:
    assert short_id(UUID("01a201b6-4ab1-7969-ac06-ffbb0c5e7975")) == "ffbb0c5e7975"
