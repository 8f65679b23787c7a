"""Documents of HTML: what a reader sees is taken, what a page hides is not."""

# ruff: noqa: E501 - markup and tables of cases are read best in one line

from __future__ import annotations

from pathlib import Path

import pytest

from memsvc.errors import DocumentWithoutTextError
from tests.documents import read_text, texts


def test_a_page_has_a_title_headings_lists_tables_and_links(tmp_path: Path) -> None:
    found = read_text(
        tmp_path,
        "a.html",
        "<!doctype html><html lang=en><head><title> My page </title><meta name=author content=Ada>"
        "<meta name=keywords content='a, b'><meta property='article:published_time' content='2026-01-02T03:04:05Z'></head>"
        "<body><h1>Trip</h1><p>We go\n to <a href='https://x.org'>Rome</a>.<h2>Pack</h2><ul><li>socks<ul><li>wool</ul>"
        "<li>hat</ul><table><tr><th>what<th>many<tr><td>socks<td><p>3</p><p>4</p></table><pre>if a:\n    b()</pre></body>",
    )
    assert (found.title, found.format) == ("My page", "html")
    assert found.metadata == {
        "author": "Ada",
        "tags": ["a", "b"],
        "created": "2026-01-02T03:04:05Z",
        "language": "en",
    }
    assert found.chunks[0].headings == ("Trip",)
    assert texts(found) == (
        "We go to Rome (https://x.org).\n\nPack\n- socks\n  - wool\n- hat\n\nwhat | many\nsocks | 3 4\n\nif a:\n    b()"
    )


@pytest.mark.parametrize(
    "hidden",
    [
        "<p hidden>secret</p>",
        "<p style='display: none'>secret</p>",
        "<p style='color:red;visibility:hidden'>secret</p>",
        "<div aria-hidden='true'><p>secret</p></div>",
        "<p style='font-size:0'>secret</p>",
        "<p style='font-size: 0px;'>secret</p>",
        "<p style='opacity:0'>secret</p>",
        "<!-- secret -->",
        "<script>secret</script>",
        "<style>secret</style>",
        "<template><p>secret</p></template>",
        "<noscript>secret</noscript>",
        "<input type=hidden value=secret>",
        "<style>.gone, p.x {display:none}</style><p class='a gone'>secret</p>",
        "<style>#no{font-size:0}</style><b id=no>secret</b>",
        "<span style='DISPLAY:NONE'>secret</span>",
        "<p style='display:none!important'>secret<b>secret</b></p>",
        "<p style='mso-hide:all'>secret</p>",
        "<img alt=secret src=x>",
        "<svg><text>secret</text></svg>",
        "<p title=secret></p>",
        "<p>\U000e0073\U000e0065\U000e0063</p>",
        "<details hidden><summary>secret</summary></details>",
    ],
)
def test_what_a_page_hides_is_never_taken(tmp_path: Path, hidden: str) -> None:
    found = read_text(tmp_path, "a.html", f"<html><p>before{hidden}</p><p>after</p></html>")
    shown = texts(found)
    assert "secret" not in shown
    assert shown.isascii()
    assert shown.split() == ["before", "after"]


@pytest.mark.parametrize(
    "seen",
    [
        "<p style='font-size:0.8em'>",
        "<p style='font-size:10px'>",
        "<p style='opacity:0.5'>",
        "<p style='display:block'>",
        "<p aria-hidden=false>",
        "<style>.a b{display:none}</style><p class=a>",
        "<details><summary>",
        "<p style='opacity: 1.0'>",
        "<style>@media print {.p{display:block}}</style><p class=p>",
    ],
)
def test_what_a_page_shows_is_taken(tmp_path: Path, seen: str) -> None:
    assert texts(read_text(tmp_path, "a.html", f"<html>{seen}seen</html>")) == "seen"


def test_hidden_parts_are_counted(tmp_path: Path) -> None:
    page = "<html><!-- a --><script>b</script><p hidden>c</p><p hidden>d</p><img src=e>f</html>"
    assert read_text(tmp_path, "a.html", page).odd == {
        "comments": 1,
        "scripts and styles": 1,
        "hidden parts": 2,
        "pictures": 1,
    }


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("<meta charset=iso-8859-1><p>Füße".encode("latin-1"), "Füße"),
        ("<meta charset=gb2312><p>你好".encode("gb2312"), "你好"),
        ("<meta charset=nonsense><p>Füße".encode(), "Füße"),
        ("<p>Füße".encode("utf-16"), "Füße"),
        (b"<p>caf\xe9", "café"),
        (b"<?xml version='1.0' encoding='utf-8'?><html xmlns='http://www.w3.org/1999/xhtml'><p>x</p></html>", "x"),
        (b"<p>a<p>b<div>c</p></b></div>", "a\n\nb\n\nc"),
        (b"<li>alone", "- alone"),
        (b"text & more &euro; &#x41; &nosuch;", None),
        (b"<table><tr><td>a<table><tr><td>in</table><td>b</table>", "in\n\na | b"),
        (b"</table></td><td>x</tr>", "x"),
        (b"<p>a<br>b&nbsp;c", "a b c"),
        (b"<!DOCTYPE x [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><p>&e;x", None),
        (b"<a href='/b'><h2>T</h2></a><p>t", "t"),
        (b"<a href=https://x.org><img src=y></a>z", "z"),
    ],
)
def test_odd_pages_are_read(tmp_path: Path, data: bytes, text: str | None) -> None:
    shown = texts(read_text(tmp_path, "a.html", data))
    assert "root:" not in shown
    assert text is None or shown == text


@pytest.mark.parametrize(
    "page", ["<html></html>", "<!-- only -->", "<script>a</script>", "<html><head><title>t</title></head>", "<img>"]
)
def test_a_page_without_visible_text_is_refused(tmp_path: Path, page: str) -> None:
    with pytest.raises(DocumentWithoutTextError):
        read_text(tmp_path, "a.html", page)


def test_depth_and_length_do_no_harm(tmp_path: Path) -> None:
    deep = "<div>" * 50_000 + "deep" + "</div>" * 50_000
    assert read_text(tmp_path, "a.html", f"<html><p>first</p>{deep}").chunks[0].text.startswith("first")
    many = "<html>" + "<p>x <a href='/y'>z</a></p>" * 20_000
    assert len(read_text(tmp_path, "b.html", many).chunks) > 100
