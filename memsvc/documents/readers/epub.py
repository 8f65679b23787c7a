"""EPUB: the chapters of a book in the order in which it is read, each a page of HTML."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from memsvc.documents.blocks import Reading
from memsvc.documents.markup import DC, part
from memsvc.documents.packed import Packed, resolved
from memsvc.documents.readers import html
from memsvc.errors import BadFileError, DocumentEncryptedError

CONTAINER, ENCRYPTION = "META-INF/container.xml", "META-INF/encryption.xml"
ROOT = "{urn:oasis:names:tc:opendocument:xmlns:container}rootfile"
OPF = "{http://www.idpf.org/2007/opf}"
REFERENCE = "{http://www.w3.org/2001/04/xmlenc#}CipherReference"
PAGES = {"application/xhtml+xml", "text/html", "application/x-dtbook+xml"}


def read(path: Path, name: str, reading: Reading) -> None:  # noqa: ARG001 - all readers are called alike
    """Read a book.

    Raises:
        BadFileError: it is damaged.
        DocumentEncryptedError: its chapters are protected.
    """
    with Packed(path, reading.limits) as packed:
        container = part(packed, CONTAINER)
        holder = None if container is None else next(container.iter(ROOT), None)
        main = "" if holder is None else holder.get("full-path", "")
        root = part(packed, main)
        if root is None:
            raise BadFileError("The book is damaged: it does not say what is in it.")
        _tell(root, reading)
        protected = _protected(packed)
        number = 0
        for item in _spine(root):
            member = resolved(item.get("href", ""), main)
            if member in protected:
                raise DocumentEncryptedError("The book is protected against copying (DRM).")
            if "nav" in item.get("properties", "").split():
                continue
            number += 1
            reading.page(number, "chapters")
            data = packed.find(member)
            if data is None:
                reading.odd["missing chapters"] += 1
                continue
            title = reading.title
            html.add(_text(data), reading, {"chapter": number})
            reading.title = title
        reading.pages = number


def _tell(root: Any, reading: Reading) -> None:
    for name, tag in (("title", "title"), ("author", "creator"), ("language", "language"), ("created", "date")):
        reading.tell(name, root.findtext(f".//{DC}{tag}"))
    reading.tags(",".join(subject.text or "" for subject in root.iter(f"{DC}subject")))


def _spine(root: Any) -> list[Any]:
    """Return the entries of the chapters in reading order."""
    items = {item.get("id"): item for item in root.iter(f"{OPF}item") if item.get("media-type") in PAGES}
    return [
        items[entry.get("idref")]
        for entry in root.iter(f"{OPF}itemref")
        if entry.get("idref") in items and entry.get("linear") != "no"
    ]


def _protected(packed: Packed) -> set[str]:
    """Return the members that are encrypted; fonts often are, and are not read."""
    root = part(packed, ENCRYPTION)
    return set() if root is None else {resolved(node.get("URI", ""), "") for node in root.iter(REFERENCE)}


def _text(data: bytes) -> str:
    for mark, encoding in ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"\xef\xbb\xbf", "utf-8-sig")):
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    return data.decode("utf-8", "replace")
