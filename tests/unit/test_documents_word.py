"""Documents of Word: made by python-docx, and odd ones by hand."""

# ruff: noqa: E501 - markup and tables of cases are read best in one line

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import docx
import pytest
from docx.document import Document
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from memsvc.documents.limits import Limits
from memsvc.errors import BadFileError, DocumentWithoutTextError
from tests.documents import packed, read, texts

NAMESPACES = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
)
VISIBLE = '<w:vanish w:val="0"/>'
TYPES = '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'


def body(path: Path, inner: str, **members: str) -> Path:
    """A Word file of a body alone."""
    return packed(
        path,
        {
            "[Content_Types].xml": TYPES,
            "word/document.xml": f"<w:document {NAMESPACES}><w:body>{inner}</w:body></w:document>",
            **{f"word/{name}.xml": content for name, content in members.items()},
        },
    )


def shown(path: Path, inner: str, **members: str) -> str:
    return texts(read(body(path, inner, **members)))


def saved(path: Path, build: Callable[[Document], None]) -> Path:
    made = docx.Document()
    build(made)
    made.save(str(path))
    return path


def test_a_document_has_headings_lists_tables_and_its_own_metadata(tmp_path: Path) -> None:
    def build(made: Document) -> None:
        made.core_properties.author = "Ada"
        made.core_properties.keywords = "trip; rome"
        made.core_properties.title = ""
        made.add_heading("The trip", 0)
        made.add_paragraph("We go.")
        made.add_heading("Pack", 1)
        made.add_paragraph("socks", style="List Bullet")
        made.add_paragraph("wool", style="List Bullet 2")
        table = made.add_table(2, 2)
        for cell, text in zip(
            (*table.rows[0].cells, *table.rows[1].cells), ("what", "many", "socks", "3"), strict=True
        ):
            cell.text = text
        made.add_heading("Way", 2)
        made.add_paragraph("By train.")

    found = read(saved(tmp_path / "a.docx", build), Limits(window_tokens=16))
    assert (found.format, found.title, found.pages) == ("docx", "The trip", None)
    assert (found.metadata["author"], found.metadata["tags"]) == ("Ada", ["trip", "rome"])
    assert [(chunk.headings, chunk.text) for chunk in found.chunks] == [
        ((), "We go.\n\nPack\n- socks\n  - wool\n\nwhat | many\nsocks | 3"),
        (("Pack", "Way"), "By train."),
    ]


def test_nested_tables_follow_the_row_that_holds_them(tmp_path: Path) -> None:
    def build(made: Document) -> None:
        table = made.add_table(2, 2)
        table.cell(0, 0).text = "outer"
        inner = table.cell(0, 1).add_table(1, 2)
        inner.cell(0, 0).text, inner.cell(0, 1).text = "in", "ner"
        table.cell(1, 0).text = "last"
        made.add_paragraph("after")

    assert texts(read(saved(tmp_path / "a.docx", build))) == "outer\n\nin | ner\n\nouter\nlast\n\nafter"


def test_headers_and_footers_come_once_at_the_end_under_no_heading(tmp_path: Path) -> None:
    def build(made: Document) -> None:
        made.add_heading("One", 1)
        made.add_paragraph("word " * 60)
        section = made.sections[0]
        section.header.paragraphs[0].text = "Acme report"
        section.footer.paragraphs[0].text = "Page 1"
        second = made.add_section()
        second.header.is_linked_to_previous = False
        second.header.paragraphs[0].text = "Acme report"

    found = read(saved(tmp_path / "a.docx", build))
    assert [chunk.text.count("Acme") for chunk in found.chunks] == [0, 1]
    assert (found.chunks[-1].headings, found.chunks[-1].origin) == ((), {"header": 1})
    assert found.odd["repeated headers and footers"] == 1
    assert "Page 1" in found.chunks[-1].text


def test_comments_and_notes_follow_their_paragraph(tmp_path: Path) -> None:
    def build(made: Document) -> None:
        paragraph = made.add_paragraph("Document text")
        made.add_comment(paragraph.runs, text="Is it so?", author="Bob")
        made.add_paragraph("more")

    found = read(saved(tmp_path / "a.docx", build))
    assert texts(found) == "Document text\n\nComment by Bob: Is it so?\n\nmore"
    note = '<w:p><w:r><w:t>Text</w:t><w:footnoteReference w:id="2"/></w:r></w:p><w:p><w:r><w:t>next</w:t></w:r></w:p>'
    notes = (
        f'<w:footnotes {NAMESPACES}><w:footnote w:type="separator" w:id="0"><w:p><w:r><w:t>---</w:t></w:r></w:p></w:footnote>'
        '<w:footnote w:id="2"><w:p><w:r><w:t>See there.</w:t></w:r></w:p></w:footnote></w:footnotes>'
    )
    assert shown(tmp_path / "b.docx", note, footnotes=notes) == "Text\n\nFootnote 2: See there.\n\nnext"


def run(text: str, properties: str = "") -> str:
    return f"<w:r><w:rPr>{properties}</w:rPr><w:t>{text}</w:t></w:r>"


@pytest.mark.parametrize(
    ("inner", "text"),
    [
        (f"<w:p>{run('a')}<w:del>{run('gone')}</w:del><w:ins>{run('b')}</w:ins></w:p>", "ab"),
        (f"<w:p>{run('a')}{run('secret', '<w:vanish/>')}{run('b', VISIBLE)}</w:p>", "ab"),
        (f"<w:sdt><w:sdtContent><w:p>{run('control')}</w:p></w:sdtContent></w:sdt>", "control"),
        (f"<w:p><w:sdt><w:sdtContent>{run('inline')}</w:sdtContent></w:sdt></w:p>", "inline"),
        (
            "<w:p><w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t><w:noBreakHyphen/><w:t>d</w:t></w:r></w:p>",
            "a b c-d",
        ),
        (
            (
                "<w:p><w:r><mc:AlternateContent><mc:Choice Requires='wps'><w:txbxContent><w:p><w:r><w:t>box</w:t></w:r></w:p></w:txbxContent>"
                "</mc:Choice><mc:Fallback><w:pict><w:txbxContent><w:p><w:r><w:t>box</w:t></w:r></w:p></w:txbxContent></w:pict>"
                "</mc:Fallback></mc:AlternateContent></w:r><w:r><w:t>text</w:t></w:r></w:p>"
            ),
            "text\n\nbox",
        ),
        (
            (
                '<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> HYPERLINK "https://x.org" </w:instrText></w:r>'
                f'<w:r><w:fldChar w:fldCharType="separate"/></w:r>{run("link")}<w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>'
            ),
            "link (https://x.org)",
        ),
        (
            f"<w:p><w:fldSimple w:instr='HYPERLINK \"https://y.org\"'>{run('simple')}</w:fldSimple></w:p>",
            "simple (https://y.org)",
        ),
        (f"<w:p><w:fldSimple w:instr='PAGE'>{run('3')}</w:fldSimple>{run(' of')}</w:p>", "3 of"),
        ("<w:p><m:oMath><m:r><m:t>x=2</m:t></m:r></m:oMath></w:p>", "x=2"),
        (f"<w:p><w:smartTag>{run('tag')}</w:smartTag></w:p>", "tag"),
        (f'<w:p><w:r><w:sym w:char="F0B7"/><w:sym w:char="2192"/></w:r>{run("x")}</w:p>', "→x"),
        (
            (
                f"<w:tbl><w:tr><w:tc><w:tcPr><w:vMerge w:val='restart'/></w:tcPr><w:p>{run('a')}</w:p></w:tc><w:tc><w:p>{run('b')}</w:p></w:tc></w:tr>"
                f"<w:tr><w:tc><w:tcPr><w:vMerge/></w:tcPr><w:p>{run('a')}</w:p></w:tc><w:tc><w:p>{run('c')}</w:p></w:tc></w:tr></w:tbl>"
            ),
            "a | b\n | c",
        ),
        (f"<w:p><w:pPr><w:outlineLvl w:val='0'/></w:pPr>{run('alone')}</w:p>", "alone"),
        (
            f"<w:p><w:pPr><w:numPr><w:ilvl w:val='1'/><w:numId w:val='3'/></w:numPr></w:pPr>{run('item')}</w:p>",
            "  - item",
        ),
        (f"<w:p><w:pPr><w:numPr><w:numId w:val='0'/></w:numPr></w:pPr>{run('no item')}</w:p>", "no item"),
        (f"<w:p><w:moveFrom>{run('x')}</w:moveFrom><w:moveTo>{run('y')}</w:moveTo></w:p>", "y"),
        (f"<w:p><w:hyperlink r:id='nothing'>{run('dead')}</w:hyperlink></w:p>", "dead"),
    ],
)
def test_odd_paragraphs_are_read(tmp_path: Path, inner: str, text: str) -> None:
    assert shown(tmp_path / "a.docx", inner) == text


def test_headings_are_known_by_style_name_level_and_inheritance(tmp_path: Path) -> None:
    styles = (
        f"<w:styles {NAMESPACES}><w:style w:styleId='berschrift2'><w:name w:val='heading 2'/></w:style>"
        "<w:style w:styleId='Own'><w:name w:val='My head'/><w:basedOn w:val='berschrift2'/></w:style>"
        "<w:style w:styleId='Loop'><w:name w:val='loop'/><w:basedOn w:val='Loop'/></w:style></w:styles>"
    )
    inner = "".join(
        f"<w:p><w:pPr><w:pStyle w:val='{style}'/></w:pPr>{run(text)}</w:p>"
        for style, text in (("Own", "Head"), ("Loop", "text"), ("missing", "more"))
    )
    found = read(body(tmp_path / "a.docx", inner, styles=styles))
    assert found.title == "Head"
    assert texts(found) == "text\n\nmore"


def test_links_keep_their_target(tmp_path: Path) -> None:
    def build(made: Document) -> None:
        paragraph = made.add_paragraph("See ")
        target = made.part.relate_to("https://x.org/page", RELATIONSHIP_TYPE.HYPERLINK, is_external=True)
        paragraph._p.append(
            parse_xml(f'<w:hyperlink {nsdecls("w", "r")} r:id="{target}"><w:r><w:t>here</w:t></w:r></w:hyperlink>')
        )

    assert texts(read(saved(tmp_path / "a.docx", build))) == "See here (https://x.org/page)"


def test_macros_are_counted_and_not_read(tmp_path: Path) -> None:
    path = body(tmp_path / "a.docm", f"<w:p>{run('text')}</w:p>")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("word/vbaProject.bin", b"Sub AutoOpen")
    found = read(path)
    assert (found.format, texts(found), found.odd) == ("docx", "text", {"macros": 1})


def test_a_strict_document_is_read(tmp_path: Path) -> None:
    path = packed(
        tmp_path / "a.docx",
        {
            "[Content_Types].xml": TYPES,
            "word/document.xml": '<w:document xmlns:w="http://purl.oclc.org/ooxml/wordprocessingml/main"><w:body><w:p><w:r>'
            "<w:t>strict</w:t></w:r></w:p></w:body></w:document>",
        },
    )
    assert texts(read(path)) == "strict"


def test_entities_are_not_expanded_and_no_file_is_read(tmp_path: Path) -> None:
    laughs = "".join(f"<!ENTITY l{n} '{'&l' + str(n - 1) + ';'}&l{n - 1};&l{n - 1};'>" for n in range(1, 30))
    content = (
        f'<!DOCTYPE x [<!ENTITY l0 "ha"><!ENTITY file SYSTEM "file:///etc/passwd">{laughs}]><w:document {NAMESPACES}><w:body><w:p>'
        "<w:r><w:t>text &l29; &file;</w:t></w:r></w:p></w:body></w:document>"
    )
    path = packed(tmp_path / "a.docx", {"[Content_Types].xml": TYPES, "word/document.xml": content})
    try:
        found = texts(read(path))
    except BadFileError:
        return
    assert "root:" not in found
    assert len(found) < 100


@pytest.mark.parametrize("inner", ["", "<w:p/>", "<w:tbl><w:tr><w:tc><w:p/></w:tc></w:tr></w:tbl>"])
def test_a_document_without_text_is_refused(tmp_path: Path, inner: str) -> None:
    with pytest.raises(DocumentWithoutTextError):
        read(body(tmp_path / "a.docx", inner))


@pytest.mark.parametrize("content", ["<w:document", "", "plain", "\x00\x01"])
def test_a_damaged_part_is_refused(tmp_path: Path, content: str) -> None:
    path = packed(tmp_path / "a.docx", {"[Content_Types].xml": TYPES, "word/document.xml": content})
    with pytest.raises(BadFileError, match=r"damaged.*word/document\.xml"):
        read(path)


def test_deep_nesting_does_no_harm(tmp_path: Path) -> None:
    deep = "<w:tbl><w:tr><w:tc>" * 60 + f"<w:p>{run('deep')}</w:p>" + "</w:tc></w:tr></w:tbl>" * 60
    assert shown(tmp_path / "a.docx", f"<w:p>{run('first')}</w:p>{deep}").startswith("first")
