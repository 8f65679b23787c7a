"""The text that a reader of HTML sees."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsvc.text.hypertext import visible_text


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>one</p><p>two<br>three</p>", "one\n\ntwo\nthree"),
        ("<div>one</div><div>two &amp; 2&nbsp;&lt; 3</div>", "one\ntwo & 2 < 3"),
        ("a <b>bold</b>\n   word", "a bold word"),
        ("<ul><li>one</li><li>two</li></ul>", "- one\n- two"),
        ("<ul><li>one<li>two</ul>", "- one\n- two"),
        ("<table><tr><td>1</td><td>2</td></tr><tr><td>3</td></tr></table>", "1 2\n3"),
        ("<pre>a\n  b</pre>", "a\n  b"),
        ("x<blockquote>one<blockquote>two</blockquote></blockquote>y", "x\n\n> one\n\n> > two\n\ny"),
        ("plain text", "plain text"),
        ("", ""),
    ],
)
def test_blocks_are_lines(html: str, text: str) -> None:
    assert visible_text(html) == text


@pytest.mark.parametrize(
    "hidden",
    [
        "<script>x</script>", "<style>x</style>", "<!-- x -->", "<title>x</title>", "<template>x</template>",
        "<p hidden>x</p>", '<div style="display: none">x <b>x</b></div>', '<div style="Display:None!important">x</div>',
        '<span style="visibility:hidden">x</span>', '<span style="color:red;font-size:0px">x</span>',
        '<div style="max-height:0;overflow:hidden">x</div>', '<span style="opacity:0">x</span>',
        '<span style="mso-hide:all">x</span>', "<noscript>x</noscript>", "<p hidden>x<p>",
    ],
)  # fmt: skip
def test_what_no_reader_sees_is_left_out(hidden: str) -> None:
    assert visible_text(f"<div>seen</div>{hidden}<div>too</div>").split() == ["seen", "too"]


@pytest.mark.parametrize("style", ["opacity:0.5", "font-size:10px", "max-height:0.5em", "display:block"])
def test_what_is_only_small_is_read(style: str) -> None:
    assert visible_text(f'<p style="{style}">seen</p>') == "seen"


def test_conditions_of_outlook_are_no_text() -> None:
    assert visible_text("<![if !supportLists]><p>one</p><![endif]>two") == "one\n\ntwo"


@given(st.text(alphabet="<>/!-[]pbdiv \"'=&;x\n", max_size=60))
def test_no_html_is_too_broken(html: str) -> None:
    assert isinstance(visible_text(html), str)


def test_deep_and_unclosed_html_is_read_in_time() -> None:
    assert visible_text("<div>" * 20_000 + "seen") == "seen"
    assert visible_text("<b><i>" * 5_000 + "x" + "</u>" * 5_000) == "x"
