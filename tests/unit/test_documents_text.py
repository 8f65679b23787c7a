"""Documents that are text: plain text, Markdown, CSV, notebooks, source code, RTF."""

# ruff: noqa: E501 - markup and tables of cases are read best in one line

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memsvc.documents.limits import Limits
from memsvc.errors import BadFileError, DocumentTooLargeError, DocumentWithoutTextError
from tests.documents import read_text, texts


@pytest.mark.parametrize(
    "data",
    [
        "Füße\n\nZwei".encode(),
        "Füße\n\nZwei".encode("utf-8-sig"),
        "Füße\n\nZwei".encode("utf-16"),
        "Füße\n\nZwei".encode("utf-32"),
        "Füße\n\nZwei".encode("cp1252"),
        "Füße\r\n\r\nZwei".encode(),
        "Füße\r\rZwei".encode(),
    ],
)
def test_plain_text_is_read_in_its_encoding(tmp_path: Path, data: bytes) -> None:
    assert texts(read_text(tmp_path, "a.txt", data)) == "Füße\n\nZwei"


def test_a_bad_byte_in_utf8_is_damage_and_no_other_encoding(tmp_path: Path) -> None:
    found = read_text(tmp_path, "a.txt", "Füße und ".encode() + b"\xff end")
    assert texts(found) == "Füße und \ufffd end"
    assert found.odd == {"undecodable characters": 1}


def test_a_paragraph_keeps_its_lines_and_says_where_it_begins(tmp_path: Path) -> None:
    found = read_text(tmp_path, "a.txt", "One\ntwo\n \n\t\nthree four\n\nfive", Limits(window_tokens=2))
    assert [(chunk.text, chunk.origin["line"]) for chunk in found.chunks] == [
        ("One\ntwo", 1),
        ("three four", 5),
        ("five", 7),
    ]
    assert found.title == "a"


def test_a_million_spaces_take_no_time_and_are_no_text(tmp_path: Path) -> None:
    with pytest.raises(DocumentWithoutTextError):
        read_text(tmp_path, "a.txt", " " * 1_000_000 + "\n\u200b\n")


def test_nul_and_invisible_characters_are_left_out_and_counted(tmp_path: Path) -> None:
    found = read_text(tmp_path, "a.txt", "A\u202eb\U000e0041c d")
    assert texts(found) == "Abc d"
    assert found.odd == {"invisible characters": 2}


def test_more_text_than_the_limit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DocumentTooLargeError, match="1,000 characters"):
        read_text(tmp_path, "a.txt", "word\n\n" * 1_000, Limits(chars=1_000))
    with pytest.raises(DocumentTooLargeError, match="larger than 10 bytes"):
        read_text(tmp_path, "a.txt", "word " * 10, Limits(file_bytes=10))


def test_markdown_has_headings_lists_tables_and_code(tmp_path: Path) -> None:
    found = read_text(
        tmp_path,
        "notes.md",
        "# Trip\n\nWe *go* to **Rome**.\n\n## Pack\n\n- socks\n  - wool\n- [list](https://x.org/list)\n\n"
        "| what | many |\n|---|---|\n| socks | 3 |\n\n```py\nif a:\n    b()\n```\n",
    )
    assert found.title == "Trip"
    assert [chunk.headings for chunk in found.chunks] == [()]
    assert texts(found) == (
        "We go to Rome.\n\nPack\n- socks\n  - wool\n- list (https://x.org/list)\n\nwhat | many\nsocks | 3\n\nif a:\n    b()"
    )


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("a <https://x.org> b", "a https://x.org b"),
        ("[x.org](https://x.org/)", "x.org"),
        ("[a](#b)", "a"),
        ("[a](javascript:alert)", "[a](javascript:alert)"),
        ("a\\*b\\_c", "a*b_c"),
        ("a &amp; b", "a & b"),
        ("`code` x", "code x"),
        ("two  \nlines", "two lines"),
        ("> quoted *text*", "quoted text"),
        ("![alt](p.png) seen", "seen"),
        ("a <!-- hidden --> b", "a b"),
        ("3. three", "- three"),
        ("~~old~~ new", "old new"),
        ("[see][r]\n\n[r]: https://y.org 'T'", "see (https://y.org)"),
        ("Title\n===\n\ntext", "text"),
        ("a <span style='display:none'>secret</span> b", "a b"),
        ("<b>bold</b> text", "bold text"),
        ("<div hidden>\n\nsecret\n\n</div>\n\nopen", "open"),
        ("<!-- a\n\nb -->\n\nopen", "open"),
        ("<details>\n<summary>More</summary>\n\ninside\n\n</details>", "More\n\ninside"),
        ("<div style='font-size:0'>\n\n- secret\n\n</div>\nopen\n", "open"),
    ],
)
def test_markdown_is_read_without_its_marks(tmp_path: Path, markdown: str, text: str) -> None:
    assert texts(read_text(tmp_path, "a.md", markdown)) == text


@pytest.mark.parametrize(
    "begin", ["> " * 5_000, "- " * 3_000, "[" * 20_000, "> " * 60, "*" * 50_000, "x" + "`" * 50_001 + " "]
)
def test_deeply_nested_markdown_loses_no_text(tmp_path: Path, begin: str) -> None:
    shown = texts(read_text(tmp_path, "a.md", f"first\n\n{begin}deep\n\nend"))
    assert shown.startswith("first")
    assert "deep" in shown
    assert shown.endswith("end")


def test_frontmatter_becomes_metadata(tmp_path: Path) -> None:
    found = read_text(
        tmp_path,
        "a.md",
        "---\ntitle: 'My trip'\nauthor: Ada  # me\ntags: [rome, \"food\"]\ndate: 2026-03-04\naliases:\n  - Trip\n  - Way\n"
        "nested:\n  a: b\nanchor: *x\nblock: |\n  text\n---\n# Head\n\ntext",
    )
    assert found.title == "My trip"
    assert found.metadata == {
        "author": "Ada",
        "tags": ["rome", "food"],
        "created": "2026-03-04",
        "aliases": ["Trip", "Way"],
    }
    assert found.odd["frontmatter lines not understood"] == 4
    assert (found.chunks[0].headings, found.chunks[0].text, found.chunks[0].origin) == (("Head",), "text", {"line": 17})


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("---\nnot closed: yes\n\ntext", "not closed: yes\n\ntext"),
        ("---\nThis is prose.\n---\nmore", "more"),
    ],
)
def test_a_rule_is_no_frontmatter(tmp_path: Path, text: str, read: str) -> None:
    found = read_text(tmp_path, "a.md", text)
    assert (texts(found), found.metadata) == (read, {})


@pytest.mark.parametrize(
    ("name", "text", "rows"),
    [
        ("a.csv", "name,age\nAda,36\n", "name | age\nAda | 36"),
        ("a.csv", "name;age\nAda;36,5\n", "name | age\nAda | 36,5"),
        ("a.tsv", "name\tage\nAda\t36\n", "name | age\nAda | 36"),
        ("a.csv", "sep=;\na;b\n1;2\n", "a | b\n1 | 2"),
        ("a.csv", 'a,b\n"x, y","two\nlines"\n', "a | b\nx, y | two lines"),
        ("a.csv", "a,b\n\n,\n1,\n", "a | b\n1"),
        ("a.csv", "one\ntwo\n", "one\ntwo"),
        ("a.csv", "\ufeffa,b\n1,2\n", "a | b\n1 | 2"),
        ("a.csv", 'a,b\n"open,2', "a | b\nopen,2"),
        ("a.csv", "a|b\n1|2\n", "a | b\n1 | 2"),
    ],
)
def test_rows_of_values_are_a_table(tmp_path: Path, name: str, text: str, rows: str) -> None:
    assert texts(read_text(tmp_path, name, text)) == rows


def test_each_piece_of_a_table_begins_with_its_header(tmp_path: Path) -> None:
    rows = "".join(f"{number},name {number},Berlin\n" for number in range(200))
    found = read_text(tmp_path, "people.csv", f"id,name,town\n{rows}", Limits(window_tokens=60))
    assert len(found.chunks) > 20
    assert {chunk.text.split("\n")[0] for chunk in found.chunks} == {"id | name | town"}
    assert found.chunks[1].text.count("id | name") == 1
    assert [row for chunk in found.chunks for row in chunk.text.split("\n")[1:]] == [
        f"{number} | name {number} | Berlin" for number in range(200)
    ]
    second = found.chunks[1]
    assert second.origin == {"line": int(second.text.split("\n")[1].split()[0]) + 2}


def test_a_field_without_end_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadFileError, match="Line 2"):
        read_text(tmp_path, "a.csv", 'a,b\n"' + "x" * 2_000_000)


def notebook(*cells: object, **more: object) -> str:
    return json.dumps({"cells": cells, "nbformat": 4, "nbformat_minor": 5, "metadata": {}, **more})


def test_a_notebook_has_markdown_code_and_printed_text(tmp_path: Path) -> None:
    found = read_text(
        tmp_path,
        "a.ipynb",
        notebook(
            {"cell_type": "markdown", "source": ["# Study\n", "\n", "Some *text*."]},
            {
                "cell_type": "code",
                "source": "print(1)\nx",
                "outputs": [
                    {"output_type": "stream", "text": ["1\n"]},
                    {"output_type": "display_data", "data": {"image/png": "aGk=", "text/plain": "<Figure>"}},
                    {"output_type": "execute_result", "data": {"text/plain": "y" * 5_000}},
                    {"output_type": "error", "ename": "KeyError", "evalue": "'k'", "traceback": ["\x1b[31m…"]},
                ],
            },
            {"cell_type": "raw", "source": "raw"},
            metadata={"language_info": {"name": "python"}},
        ),
        Limits(window_tokens=2_000),
    )
    assert (found.format, found.title, found.metadata) == ("ipynb", "Study", {"language": "python"})
    assert texts(found) == f"Some text.\n\nprint(1)\nx\n\n1\n\n{'y' * 2_000} …\n\nKeyError: 'k'\n\nraw"
    assert found.odd == {"pictures": 1, "outputs cut": 1}
    assert found.chunks[0].origin == {"cell": 1}


@pytest.mark.parametrize(
    "text",
    [
        '{"cells": 3, "nbformat": 4}',
        '{"cells": [',
        "[]",
        '{"nbformat": 4}',
        '"text"',
    ],
)
def test_a_broken_notebook_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(BadFileError):
        read_text(tmp_path, "a.ipynb", text)


def test_odd_cells_of_a_notebook_are_passed_over(tmp_path: Path) -> None:
    cells = [None, {}, {"cell_type": "code", "source": None, "outputs": [None, {"data": 3}, {"text": [1, "z"]}]}, "x"]
    assert texts(read_text(tmp_path, "a.ipynb", notebook(*cells))) == "z"
    old = {
        "nbformat": 3,
        "worksheets": [
            {"cells": [{"cell_type": "heading", "level": 2, "source": "H"}, {"cell_type": "code", "input": "a=1"}]}
        ],
    }
    assert texts(read_text(tmp_path, "old.ipynb", json.dumps(old))) == "a=1"


def test_source_code_keeps_its_indentation(tmp_path: Path) -> None:
    source = "import os\n\n\ndef one():\n    return 1\n\n    # still inside\n\n\nclass Two:\n    x = 1\n"
    found = read_text(tmp_path, "a.py", source, Limits(window_tokens=16))
    assert found.metadata == {"language": "py"}
    assert [chunk.text for chunk in found.chunks] == [
        "import os\n\ndef one():\n    return 1\n\n    # still inside",
        "class Two:\n    x = 1",
    ]
    assert [chunk.origin["line"] for chunk in found.chunks] == [1, 10]


def test_rtf_has_paragraphs_and_tables(tmp_path: Path) -> None:
    found = read_text(
        tmp_path,
        "a.rtf",
        r"{\rtf1\ansi\ansicpg1252{\info{\title My Letter}{\author Ada}}{\header Page}Dear \'fcber \u8364?.\par "
        r"{\v secret}{\b Bold} text\par\trowd a\cell b\cell\row c\cell d\cell\row\pard end\par}",
    )
    assert (found.title, found.metadata) == ("My Letter", {"author": "Ada"})
    assert texts(found) == "Dear über €.\n\nBold text\n\na | b\nc | d\n\nend"
    assert found.odd == {"hidden parts": 1, "headers and footers": 1}


@pytest.mark.parametrize("data", [rb"{\rtf1 }", rb"{\rtf1 {\pict ffd8}}", rb"{\rtf1\par\par"])
def test_rtf_without_text_is_refused(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(BadFileError):
        read_text(tmp_path, "a.rtf", data)
