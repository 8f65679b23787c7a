"""Which format a file has: by its content first, by its name second.

``catalogue`` has the formats.
"""

from __future__ import annotations

import re
import zipfile
from pathlib import Path, PurePosixPath

from memsvc.documents.catalogue import Catalogue, Format, catalogue
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


def recognise(head: bytes, name: str, path: Path | None = None) -> Format | None:
    """Return the format of a document.

    Args:
        head: the first bytes, best 64 KiB.
        name: the file's name; decides where the content has no mark of its own.
        path: the file itself, to look into packed files; without it, their name decides.

    Returns:
        None: it is no document that can be read, or something else: an e-mail, a chat log, a picture, an archive.

    Raises:
        ConfigurationError: a format of another package cannot be used.
    """
    known = catalogue()
    ending = PurePosixPath(name).suffix[1:].lower()
    if (marked := _marked(known, head, ending, path)) is not None:
        return marked
    if head.startswith((ZIP, OLE)):
        return None
    named = known.extensions.get(ending) or known.named.get(_named_whole(PurePosixPath(name).name))
    if named is None or not named.is_text or not head.strip():
        return named if named is not None and named.is_text else None
    text = _text(head)
    if text is None or _is_correspondence(text, named):
        return None
    return named


def _marked(known: Catalogue, head: bytes, ending: str, path: Path | None) -> Format | None:
    """Return the format that the content itself shows."""
    if (own := next((format_ for start, format_ in known.starts.items() if head.startswith(start)), None)) is not None:
        return own
    if b"%PDF-" in head[:PDF_WITHIN]:
        return known.named["pdf"]
    if head.startswith(ZIP):
        return _packed(known, ending, path)
    if head.startswith(OLE):
        return known.named["ole"] if ending in OLD_OFFICE or is_encrypted_office(head, path) else None
    if head.lstrip()[:5].lower() == b"{\\rtf":
        return known.named["rtf"]
    text_like = known.extensions.get(ending)
    if HTML.match(head) and (text_like is None or text_like.name not in {"md", "code"}):
        return known.named["html"]
    if ending in {"ipynb", ""} and NOTEBOOK.match(head):
        return known.named["ipynb"]
    return None


def _packed(known: Catalogue, ending: str, path: Path | None) -> Format | None:
    named = known.extensions.get(ending)
    named = named if named is not None and named.is_packed else None
    if path is None:
        return named
    try:
        if central_directory_bytes(path) > MOST_DIRECTORY_BYTES:
            return named
        with zipfile.ZipFile(path) as archive:
            return _by_members(known, archive)
    except (OSError, ValueError, zipfile.BadZipFile, NotImplementedError, KeyError, RuntimeError, EOFError):
        return named  # its reader says what is wrong with it


def _by_members(known: Catalogue, archive: zipfile.ZipFile) -> Format | None:
    members = set(archive.namelist())
    if "mimetype" in members and archive.getinfo("mimetype").file_size < HEAD_BYTES:
        kind = archive.read("mimetype").strip().decode("ascii", "replace")
        if kind in known.mimetypes:
            return known.mimetypes[kind]
    return next((format_ for member, format_ in known.members.items() if member in members), None)


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


def _named_whole(name: str) -> str:
    """Return the format of names that need no extension: README, LICENSE, Makefile; empty: none."""
    stem = name.lower()
    if stem in {"makefile", "dockerfile", "gemfile", "rakefile", "jenkinsfile", "procfile", "vagrantfile"}:
        return "code"
    if stem in {"readme", "license", "licence", "changelog", "changes", "notes", "authors", "todo", "copying", "news"}:
        return "txt"
    return ""


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
