"""Documents of EPUB and OpenDocument, and archives that are odd or mean harm."""

# ruff: noqa: E501 - markup and tables of cases are read best in one line

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from memsvc.documents.limits import Limits
from memsvc.documents.packed import Packed, resolved
from memsvc.errors import BadFileError, DocumentEncryptedError, DocumentTooLargeError
from tests.documents import packed, read, texts

CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="OPS/book.opf"/></rootfiles></container>'
)
OPF = (
    '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata>'
    "<dc:title>The Book</dc:title><dc:creator>Ada</dc:creator><dc:language>en</dc:language></metadata><manifest>"
    '<item id="n" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>'
    '<item id="b" href="text/two.xhtml" media-type="application/xhtml+xml"/>'
    '<item id="a" href="text/one%20x.xhtml" media-type="application/xhtml+xml"/>'
    '<item id="up" href="../../etc/passwd" media-type="application/xhtml+xml"/>'
    '</manifest><spine><itemref idref="n"/><itemref idref="a"/><itemref idref="b"/><itemref idref="up"/></spine></package>'
)


def page(title: str, text: str) -> str:
    return f"<html xmlns='http://www.w3.org/1999/xhtml'><head><title>x</title></head><body><h1>{title}</h1>{text}</body></html>"


def book(path: Path, **more: str) -> Path:
    return packed(
        path,
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": CONTAINER,
            "OPS/book.opf": OPF,
            "OPS/nav.xhtml": page("Contents", "<p>one two</p>"),
            "OPS/text/one x.xhtml": page("One", "<p>first</p><p hidden>secret</p>"),
            "OPS/text/two.xhtml": page("Two", "<p>" + "second " * 60 + "</p>"),
            **more,
        },
    )


def test_a_book_has_chapters_in_reading_order(tmp_path: Path) -> None:
    found = read(book(tmp_path / "a.epub"))
    assert (found.format, found.title, found.pages) == ("epub", "The Book", 3)
    assert found.metadata == {"author": "Ada", "language": "en"}
    assert next(chunk.origin for chunk in found.chunks) == {"chapter": 1, "paragraph": 2}
    assert texts(found).split()[:4] == ["One", "first", "Two", "second"]
    assert found.odd == {"hidden parts": 1, "missing chapters": 1}


def test_a_protected_book_is_refused_and_protected_fonts_do_no_harm(tmp_path: Path) -> None:
    def encryption(member: str) -> str:
        return (
            '<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container" xmlns:enc="http://www.w3.org/2001/04/xmlenc#">'
            f'<enc:EncryptedData><enc:CipherData><enc:CipherReference URI="{member}"/></enc:CipherData></enc:EncryptedData></encryption>'
        )

    with pytest.raises(DocumentEncryptedError, match="DRM"):
        read(book(tmp_path / "a.epub", **{"META-INF/encryption.xml": encryption("OPS/text/two.xhtml")}))
    assert read(book(tmp_path / "b.epub", **{"META-INF/encryption.xml": encryption("OPS/font.otf")})).pages == 3


def test_a_book_that_does_not_say_what_is_in_it_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadFileError, match="does not say"):
        read(
            packed(tmp_path / "a.epub", {"mimetype": "application/epub+zip", "META-INF/container.xml": "<container/>"})
        )


ODF = (
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" '
    'xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:dc="http://purl.org/dc/elements/1.1/" '
    'xmlns:meta="urn:oasis:names:tc:opendocument:xmlns:meta:1.0"'
)


def odt(path: Path, inner: str, **more: str) -> Path:
    return packed(
        path,
        {
            "mimetype": "application/vnd.oasis.opendocument.text",
            "content.xml": f"<office:document-content {ODF}><office:automatic-styles><style:style style:name='T1'>"
            "<style:text-properties text:display='none'/></style:style></office:automatic-styles><office:body><office:text>"
            f"{inner}</office:text></office:body></office:document-content>",
            **{f"{name}.xml": content for name, content in more.items()},
        },
    )


@pytest.mark.parametrize(
    ("inner", "text"),
    [
        ("<text:p>a<text:s text:c='3'/>b<text:tab/>c<text:line-break/>d</text:p>", "a b c d"),
        ("<text:p>see <text:a xlink:href='https://x.org'>here</text:a></text:p>", "see here (https://x.org)"),
        (
            (
                "<text:list><text:list-item><text:p>one</text:p><text:list><text:list-item><text:p>two</text:p></text:list-item></text:list>"
                "</text:list-item></text:list>"
            ),
            "- one\n  - two",
        ),
        (
            (
                "<text:p>a<text:note text:note-class='footnote'><text:note-citation>1</text:note-citation><text:note-body><text:p>note</text:p>"
                "</text:note-body></text:note>b</text:p>"
            ),
            "ab\n\nFootnote 1: note",
        ),
        (
            "<text:p>a<office:annotation><dc:creator>Bob</dc:creator><text:p>why?</text:p></office:annotation></text:p>",
            "a\n\nComment by Bob: why?",
        ),
        ("<text:p>a<text:span text:style-name='T1'>secret</text:span>b</text:p>", "ab"),
        (
            (
                "<text:tracked-changes><text:changed-region><text:deletion><text:p>gone</text:p></text:deletion></text:changed-region></text:tracked-changes>"
                "<text:p>x</text:p>"
            ),
            "x",
        ),
        (
            (
                "<table:table><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell><table:table-cell table:number-columns-repeated='2'>"
                "<text:p>b</text:p></table:table-cell></table:table-row></table:table>"
            ),
            "a | b | b",
        ),
        (
            "<text:section><text:p>in</text:p></text:section><text:section text:display='none'><text:p>out</text:p></text:section>",
            "in",
        ),
        ("<text:h text:outline-level='2'>Head</text:h>", "Head"),
    ],
)
def test_text_documents_are_read(tmp_path: Path, inner: str, text: str) -> None:
    found = read(odt(tmp_path / "a.odt", inner))
    assert (found.format, texts(found)) == ("odt", text)


def test_a_text_document_has_headings_headers_and_metadata(tmp_path: Path) -> None:
    styles = f"<office:document-styles {ODF}><style:header><text:p>Acme</text:p></style:header><style:footer><text:p>7</text:p></style:footer></office:document-styles>"
    meta = (
        f"<office:document-meta {ODF}><office:meta><dc:title>My text</dc:title><meta:initial-creator>Ada</meta:initial-creator>"
        "<dc:date>2026-01-02T03:04:05</dc:date><meta:keyword>a</meta:keyword><meta:keyword>b</meta:keyword></office:meta></office:document-meta>"
    )
    inner = "<text:h text:outline-level='1'>Head</text:h><text:p>text</text:p>"
    found = read(odt(tmp_path / "a.odt", inner, styles=styles, meta=meta))
    assert (found.title, found.metadata) == (
        "My text",
        {"author": "Ada", "modified": "2026-01-02T03:04:05", "tags": ["a", "b"]},
    )
    assert [(chunk.headings, chunk.text) for chunk in found.chunks] == [(("Head",), "text"), ((), "Acme")]


def test_an_encrypted_text_document_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DocumentEncryptedError):
        read(odt(tmp_path / "a.odt", "", **{"META-INF/manifest": "<manifest><encryption-data/></manifest>"}))


def test_a_member_that_unpacks_to_far_more_than_its_size_is_refused(tmp_path: Path) -> None:
    path = odt(tmp_path / "a.odt", f"<text:p>{'a' * 30_000_000}</text:p>")
    assert path.stat().st_size < 100_000
    with pytest.raises(DocumentTooLargeError, match="unpacks"):
        read(path)


def test_members_that_together_unpack_to_too_much_are_refused(tmp_path: Path) -> None:
    path = odt(tmp_path / "a.odt", "<text:p>a</text:p>", more="x" * 50_000)
    with pytest.raises(DocumentTooLargeError, match="40,000 bytes"):
        read(path, Limits(unpacked_bytes=40_000))


def test_a_size_that_lies_does_not_help(tmp_path: Path) -> None:
    path = odt(tmp_path / "a.odt", f"<text:p>{'a' * 30_000_000}</text:p>")
    data = bytearray(path.read_bytes())
    place = data.rindex(b"PK\x01\x02", 0, data.rindex(b"content.xml"))
    data[place + 24 : place + 28] = (100).to_bytes(4, "little")
    path.write_bytes(data)
    with pytest.raises(BadFileError):
        read(path)


def test_too_many_members_are_refused(tmp_path: Path) -> None:
    path = odt(tmp_path / "a.odt", "<text:p>a</text:p>", **{f"m{number}": "" for number in range(50)})
    with pytest.raises(DocumentTooLargeError, match="more than 20 members"):
        read(path, Limits(members=20))


def test_members_with_a_password_are_refused(tmp_path: Path) -> None:
    path = odt(tmp_path / "a.odt", "<text:p>a</text:p>")
    data = bytearray(path.read_bytes())
    place = data.rindex(b"PK\x01\x02")
    data[place + 8] |= 1
    path.write_bytes(data)
    with pytest.raises(DocumentEncryptedError):
        read(path)


@pytest.mark.parametrize("name", ["a.odt", "a.docx", "a.epub", "a.xlsx", "a.pptx"])
def test_a_cut_archive_is_damaged(tmp_path: Path, name: str) -> None:
    path = odt(tmp_path / name, "<text:p>a</text:p>")
    path.write_bytes(path.read_bytes()[:300])
    with pytest.raises(BadFileError, match="damaged"):
        read(path)


def test_names_that_lead_out_of_the_archive_lead_nowhere(tmp_path: Path) -> None:
    path = packed(tmp_path / "a.zip", {"../../etc/passwd": "inside", "a/b.xml": "b"})
    with Packed(path, Limits()) as archive:
        assert archive.read("../../etc/passwd") == b"inside"
        assert archive.find("/etc/passwd") is None
        assert archive.read(resolved("../a/b.xml", "x/y.xml")) == b"b"
        with pytest.raises(BadFileError, match="missing"):
            archive.read(resolved("../../../etc/hosts", "a/b.xml"))


def test_a_zip_file_without_a_document_is_none(tmp_path: Path) -> None:
    path = packed(tmp_path / "a.docx", {"hello.txt": "x"})
    with pytest.raises(BadFileError, match="named as Word"):
        read(path)
    assert zipfile.is_zipfile(path)
