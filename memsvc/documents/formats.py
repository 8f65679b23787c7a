"""Which format a file has: by its content first, by its name second.

The table at the end of this module names each format's reader, which only the reading process imports.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

import msgspec

from memsvc.documents.packed import MAGIC as ZIP
from memsvc.documents.packed import MOST_DIRECTORY_BYTES, central_directory_bytes

HEAD_BYTES = 1 << 16
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
OLD_OFFICE = {"doc", "dot", "xls", "xlt", "ppt", "pot", "pps", "docx", "docm", "xlsx", "xlsm", "pptx", "pptm"}
ENCRYPTED_PACKAGE = "EncryptedPackage".encode("utf-16-le")
UTF16 = (b"\xff\xfe", b"\xfe\xff")
PDF_WITHIN = 1024
HTML = re.compile(
    rb"\A(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html)\b",
    re.IGNORECASE | re.DOTALL,
)
NOTEBOOK = re.compile(rb'\A(?:\xef\xbb\xbf)?\s*\{(?=.*"(?:nbformat|cells|worksheets)"\s*:)', re.DOTALL)
# An e-mail begins with fields of RFC 5322, a chat log with a time and a speaker in nearly each line.
MAIL = re.compile(
    r"\A(?:From \S+@\S+ .*\n)?(?:(?:Received|Return-Path|Delivered-To|Message-ID|MIME-Version|From|To|Date|Subject|"
    r"X-[\w-]+|Content-Type|DKIM-Signature|Reply-To|ARC-[\w-]+): ?.*\n(?:[ \t]+.*\n)*){3}",
    re.IGNORECASE,
)
CHAT_LINE = re.compile(
    r"""
    \u200e? \[?
    (?: \d{1,4} [./-] \d{1,2} [./-] \d{1,4} ,? [ ]+ )?   # a date
    \d{1,2} [:.] \d\d (?: [:.] \d\d )? (?: \s? [ap]\.?m\.? )?
    (?: \] | , | [ ]- )+ [ ] [^:\n]{1,60} : [ ]          # a speaker
    """,
    re.IGNORECASE | re.VERBOSE,
)
SHARE_OF_CHAT = 0.6
CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


class Format(msgspec.Struct, frozen=True, kw_only=True):
    """A format of documents."""

    name: str
    """Short, as in ``ParsedDocument.format``."""
    reader: str
    """The module of ``memsvc.documents.readers`` whose ``read`` reads it."""
    shown: str
    """For people: "PDF", "Word"."""
    extensions: tuple[str, ...] = ()
    """Of files' names, without the dot."""
    is_text: bool = False
    """Whether files are plain text, which only their name tells apart."""


def recognise(head: bytes, name: str, path: Path | None = None) -> Format | None:
    """Return the format of a document.

    Args:
        head: the first bytes, best 64 KiB.
        name: the file's name; decides where the content has no mark of its own.
        path: the file itself, to look into packed files; without it, their name decides.

    Returns:
        None: it is no document that can be read, or something else: an e-mail, a chat log, a picture, an archive.
    """
    ending = PurePosixPath(name).suffix[1:].lower()
    if (marked := _marked(head, ending, path)) is not None:
        return marked
    if head.startswith((ZIP, OLE)):
        return None
    named = BY_EXTENSION.get(ending) or _named_whole(PurePosixPath(name).name)
    if named is None or not named.is_text or not head.strip():
        return named if named is not None and named.is_text else None
    text = _text(head)
    if text is None or _is_correspondence(text, named):
        return None
    return named


def _marked(head: bytes, ending: str, path: Path | None) -> Format | None:
    """Return the format that the content itself shows."""
    if b"%PDF-" in head[:PDF_WITHIN]:
        return FORMATS["pdf"]
    if head.startswith(ZIP):
        return _packed(ending, path)
    if head.startswith(OLE):
        return FORMATS["ole"] if ending in OLD_OFFICE or is_encrypted_office(head, path) else None
    if head.lstrip()[:5].lower() == b"{\\rtf":
        return FORMATS["rtf"]
    text_like = BY_EXTENSION.get(ending)
    if HTML.match(head) and (text_like is None or text_like.name not in {"md", "code"}):
        return FORMATS["html"]
    if ending in {"ipynb", ""} and NOTEBOOK.match(head):
        return FORMATS["ipynb"]
    return None


def _packed(ending: str, path: Path | None) -> Format | None:
    named = BY_EXTENSION.get(ending)
    named = named if named is not None and named.reader in PACKED_READERS else None
    if path is None:
        return named
    try:
        if central_directory_bytes(path) > MOST_DIRECTORY_BYTES:
            return named
        with zipfile.ZipFile(path) as archive:
            return _by_members(archive)
    except (OSError, ValueError, zipfile.BadZipFile, NotImplementedError, KeyError, RuntimeError, EOFError):
        return named  # its reader says what is wrong with it


def _by_members(archive: zipfile.ZipFile) -> Format | None:
    members = set(archive.namelist())
    if "mimetype" in members and archive.getinfo("mimetype").file_size < HEAD_BYTES:
        kind = archive.read("mimetype").strip()
        if kind in BY_MIMETYPE:
            return FORMATS[BY_MIMETYPE[kind]]
    for format_, member in MEMBERS.items():
        if member in members:
            return FORMATS[format_]
    return None


def is_encrypted_office(head: bytes, path: Path | None) -> bool:
    """Whether an OLE file is an Office document with a password: it holds a stream of that name."""
    if ENCRYPTED_PACKAGE in head:
        return True
    if path is None:
        return False
    before = b""
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            if ENCRYPTED_PACKAGE in before + piece:
                return True
            before = piece[-len(ENCRYPTED_PACKAGE) :]
    return False


def _named_whole(name: str) -> Format | None:
    """Return the format of names that need no extension: README, LICENSE, Makefile."""
    stem = name.lower()
    if stem in {"makefile", "dockerfile", "gemfile", "rakefile", "jenkinsfile", "procfile", "vagrantfile"}:
        return FORMATS["code"]
    if stem in {"readme", "license", "licence", "changelog", "changes", "notes", "authors", "todo", "copying", "news"}:
        return FORMATS["txt"]
    return None


def _text(head: bytes) -> str | None:
    """Return the head as text; None if it is none."""
    if head.startswith(UTF16):
        return head[: len(head) // 2 * 2].decode("utf-16", "replace")
    if b"\0" in head:
        return None
    text = head.decode("utf-8", "replace")
    return None if len(CONTROLS.findall(text)) * 50 > len(text) else text


def _is_correspondence(text: str, named: Format) -> bool:
    if named.name not in {"txt", "md", "html"}:
        return False
    if MAIL.match(text):
        return True
    lines = [line for line in text.splitlines()[:60] if line.strip()]
    return len(lines) > 1 and sum(CHAT_LINE.match(line) is not None for line in lines) >= SHARE_OF_CHAT * len(lines)


SOURCES = (
    "py", "pyi", "js", "mjs", "cjs", "jsx", "ts", "mts", "tsx", "java", "kt", "kts", "scala", "c", "h", "cc", "cpp",
    "cxx", "hpp", "hh", "cs", "go", "rs", "rb", "php", "swift", "m", "mm", "lua", "pl", "pm", "r", "jl", "hs", "ml",
    "mli", "ex", "exs", "erl", "clj", "cljs", "lisp", "el", "dart", "zig", "nim", "f90", "pas", "sql", "sh", "bash",
    "zsh", "fish", "ps1", "bat", "css", "scss", "less", "vue", "svelte", "proto", "graphql", "tf", "nix", "tex",
    "toml", "yaml", "yml", "ini", "cfg",
)  # fmt: skip
"""Extensions of source code and of files of settings."""


def _table(formats: Iterable[Format]) -> dict[str, Format]:
    return {format_.name: format_ for format_ in formats}


FORMATS = _table(
    (
        Format(name="pdf", reader="pdf", shown="PDF", extensions=("pdf",)),
        Format(name="docx", reader="word", shown="Word", extensions=("docx", "docm", "dotx", "dotm")),
        Format(name="pptx", reader="slides", shown="PowerPoint", extensions=("pptx", "pptm", "ppsx", "ppsm", "potx")),
        Format(name="xlsx", reader="sheets", shown="Excel", extensions=("xlsx", "xlsm", "xltx", "xltm")),
        Format(name="odt", reader="opendocument", shown="OpenDocument text", extensions=("odt", "ott")),
        Format(name="epub", reader="epub", shown="EPUB", extensions=("epub",)),
        Format(name="ole", reader="ole", shown="Office"),
        Format(name="rtf", reader="rtf", shown="RTF", extensions=("rtf",)),
        Format(name="html", reader="html", shown="HTML", extensions=("html", "htm", "xhtml"), is_text=True),
        Format(name="ipynb", reader="notebook", shown="Jupyter notebook", extensions=("ipynb",), is_text=True),
        Format(name="md", reader="markdown", shown="Markdown", extensions=("md", "markdown", "mdown"), is_text=True),
        Format(
            name="txt", reader="plain", shown="text", extensions=("txt", "text", "rst", "adoc", "org"), is_text=True
        ),
        Format(name="csv", reader="delimited", shown="CSV", extensions=("csv",), is_text=True),
        Format(name="tsv", reader="delimited", shown="TSV", extensions=("tsv", "tab"), is_text=True),
        Format(
            name="code",
            reader="code",
            shown="source code",
            extensions=SOURCES,
            is_text=True,
        ),
    )
)
BY_EXTENSION = {extension: format_ for format_ in FORMATS.values() for extension in format_.extensions}
MEMBERS = {
    "docx": "word/document.xml",
    "pptx": "ppt/presentation.xml",
    "xlsx": "xl/workbook.xml",
    "epub": "META-INF/container.xml",
}
BY_MIMETYPE = {
    b"application/epub+zip": "epub",
    b"application/vnd.oasis.opendocument.text": "odt",
    b"application/vnd.oasis.opendocument.text-template": "odt",
}
PACKED_READERS = {"word", "slides", "sheets", "opendocument", "epub"}
