"""Which files are documents, and of which format."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from memsvc.documents.built_in import OLE as OLE_FORMAT
from memsvc.documents.formats import HEAD_BYTES, recognise
from memsvc.documents.limits import Limits
from memsvc.documents.reading import LIBRARIES, document
from memsvc.errors import BadFileError, ConfigurationError, SourceUnknownError
from tests.documents import packed, read_text

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
WHATSAPP = "[12.03.24, 10:00:01] Ada: hi\n[12.03.24, 10:00:09] Bob: hello\n12/03/24, 10:01 - Ada: how are you?\n"
MAIL = "Received: from x\n by y\nFrom: a@b.org\nTo: c@d.org\nSubject: hi\n\ntext"


@pytest.mark.parametrize(
    ("name", "head", "format_"),
    [
        ("a.pdf", b"%PDF-1.7", "pdf"),
        ("a.txt", b"%PDF-1.7", "pdf"),
        ("a", b"junk\n%PDF-1.4", "pdf"),
        ("a.pdf", b"text", None),
        ("a.pdf", b"<!DOCTYPE html><html>", "html"),
        ("a", b"<html>", "html"),
        ("a.html", b"<p>x", "html"),
        ("a.md", b"<html>", "md"),
        ("a.rtf", rb"{\rtf1 x}", "rtf"),
        ("a.doc", rb"{\rtf1 x}", "rtf"),
        ("a.rtf", b"text", None),
        ("a.ipynb", b'{"cells": [], "nbformat": 4}', "ipynb"),
        ("A.MD", b"# x", "md"),
        ("a.txt", b"x", "txt"),
        ("a.rst", b"x", "txt"),
        ("README", b"x", "txt"),
        ("Makefile", b"all:", "code"),
        ("a.py", b"x = 1", "code"),
        ("a.csv", b"a,b", "csv"),
        ("a.tsv", b"a\tb", "tsv"),
        ("a.txt", "Füße".encode("utf-16"), "txt"),
        ("a.txt", b"\x00\x01\x02", None),
        ("a.txt", bytes(range(1, 32)) * 20, None),
        ("a.json", b'{"messages": []}', None),
        ("a.jsonl", b"{}", None),
        ("a.eml", MAIL.encode(), None),
        ("a.txt", MAIL.encode(), None),
        ("_chat.txt", WHATSAPP.encode(), None),
        ("a.png", b"\x89PNG", None),
        ("a.zip", b"PK\x03\x04", None),
        ("a.docx", b"PK\x03\x04", "docx"),
        ("a.unknown", b"text", None),
        (".hidden", b"text", None),
        ("a.docx", OLE, "ole"),
        ("a.xls", OLE, "ole"),
        ("a.msg", OLE, None),
        ("x", OLE + "EncryptedPackage".encode("utf-16-le"), "ole"),
        ("a.txt", b"", "txt"),
        ("a.txt", b"At 10:00 we met: it was fine.\nDate: unknown\n", "txt"),
        ("a.vue", b"<!doctype html>", "code"),
    ],
)
def test_content_decides_before_the_name(name: str, head: bytes, format_: str | None) -> None:
    found = recognise(head, name)
    assert (found.name if found else None) == format_


@pytest.mark.parametrize(
    ("name", "members", "format_"),
    [
        ("a.zip", {"word/document.xml": "x"}, "docx"),
        ("a.docx", {"xl/workbook.xml": "x"}, "xlsx"),
        ("a.bin", {"ppt/presentation.xml": "x"}, "pptx"),
        ("a", {"mimetype": "application/epub+zip"}, "epub"),
        ("a.docx", {"mimetype": "application/vnd.oasis.opendocument.text"}, "odt"),
        ("a.docx", {"hello.txt": "x"}, None),
        ("a.ods", {"mimetype": "application/vnd.oasis.opendocument.spreadsheet"}, None),
        ("a.xlsb", {"xl/workbook.bin": "x"}, None),
        ("a.jar", {"META-INF/MANIFEST.MF": "x"}, None),
        ("a.docm", {"word/document.xml": "x"}, "docx"),
    ],
)
def test_packed_files_are_known_by_their_members(
    tmp_path: Path, name: str, members: dict[str, str], format_: str | None
) -> None:
    path = packed(tmp_path / name, members)
    found = recognise(path.read_bytes()[:HEAD_BYTES], name, path)
    assert (found.name if found else None) == format_


def test_the_mark_of_a_password_may_stand_anywhere(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(OLE + bytes((1 << 20) - 20) + "EncryptedPackage".encode("utf-16-le"))
    found = recognise(path.read_bytes()[:HEAD_BYTES], "a.bin", path)
    assert found is OLE_FORMAT


def test_what_is_no_document_is_refused_by_what_it_seems(tmp_path: Path) -> None:
    with pytest.raises(SourceUnknownError, match="no document"):
        read_text(tmp_path, "a.png", b"\x89PNG")
    with pytest.raises(BadFileError, match="named as PDF"):
        read_text(tmp_path, "a.pdf", b"text")
    with pytest.raises(BadFileError, match="before 2007") as raised:
        read_text(tmp_path, "a.doc", OLE)
    assert "docx" in raised.value.advice


@pytest.mark.parametrize(
    ("name", "text", "library"),
    [("a.md", "x", "markdown_it"), ("a.html", "<p>x", "lxml"), ("a.rtf", r"{\rtf1 x}", "striprtf")],
)
def test_a_missing_library_is_named_with_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str, library: str
) -> None:
    assert library in LIBRARIES
    for module in [module for module in sys.modules if module.startswith(("memsvc.documents.readers.", f"{library}."))]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, library, None)
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(ConfigurationError, match=library) as raised:
        document(path, name, Limits())
    assert 'pip install "memsvc[documents]"' in raised.value.advice
