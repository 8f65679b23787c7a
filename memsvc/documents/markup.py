"""XML without risks: no entities, no network, no external files; and the relations of Office's parts."""

from __future__ import annotations

import posixpath
from typing import Any, NamedTuple

from lxml import etree

from memsvc.documents.blocks import Reading
from memsvc.documents.packed import Packed, resolved
from memsvc.errors import BadFileError

RELATIONS = "{http://schemas.openxmlformats.org/package/2006/relationships}"
DC = "{http://purl.org/dc/elements/1.1/}"
TERMS = "{http://purl.org/dc/terms/}"
CORE = "{http://schemas.openxmlformats.org/package/2006/metadata/core-properties}"
CORE_PART = "docProps/core.xml"
STRICT = b"http://purl.oclc.org/ooxml/"
"""Begins the namespaces of Office's "strict" files, which otherwise are the usual ones."""
STRICT_WITHIN = 4096
USUAL = {
    b"wordprocessingml/main": b"http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    b"presentationml/main": b"http://schemas.openxmlformats.org/presentationml/2006/main",
    b"drawingml/main": b"http://schemas.openxmlformats.org/drawingml/2006/main",
    b"officeDocument/relationships": b"http://schemas.openxmlformats.org/officeDocument/2006/relationships",
    b"officeDocument/math": b"http://schemas.openxmlformats.org/officeDocument/2006/math",
}
MACROS = "vbaProject.bin"


class Relation(NamedTuple):
    """What a part names another part or an address by."""

    kind: str
    """The last word of its type: "hyperlink", "slide"."""
    target: str
    """A member's name, or an address if it is outside."""
    outside: bool


def tree(data: bytes, name: str) -> Any:
    """Return the root element of an XML document.

    Raises:
        BadFileError: it is not well-formed.
    """
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, dtd_validation=False, huge_tree=False,
        remove_comments=True, remove_pis=True,
    )  # fmt: skip
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise BadFileError(f"The document is damaged: its part {name[:100]!r} is not well-formed XML.") from error
    if root is None:
        raise BadFileError(f"The document is damaged: its part {name[:100]!r} is empty.")
    return root


def part(packed: Packed, name: str) -> Any:
    """Return the root of a part; None if there is none. Raises: as ``tree``."""
    data = packed.find(name)
    if data is None:
        return None
    if STRICT in data[:STRICT_WITHIN]:
        for strict, usual in USUAL.items():
            data = data.replace(STRICT + strict, usual)
    return tree(data, name)


def relations(packed: Packed, holder: str) -> dict[str, Relation]:
    """Return the relations of an Office part by their ids."""
    folder, file = posixpath.split(holder)
    root = part(packed, f"{folder}/_rels/{file}.rels" if folder else f"_rels/{file}.rels")
    found: dict[str, Relation] = {}
    for node in () if root is None else root.iter(f"{RELATIONS}Relationship"):
        outside = node.get("TargetMode") == "External"
        target = node.get("Target", "")
        kind = node.get("Type", "").rsplit("/", 1)[-1]
        found[node.get("Id", "")] = Relation(kind, target if outside else resolved(target, holder), outside)
    return found


def tell_core(packed: Packed, reading: Reading) -> None:
    """Keep what an Office document says about itself, and count its macros, which are never read."""
    if any(name.endswith(MACROS) for name in packed.names()):
        reading.odd["macros"] += 1
    if CORE_PART not in packed:
        return
    try:
        root = part(packed, CORE_PART)
    except BadFileError:
        reading.odd["unreadable properties"] += 1
        return
    for name, tag in (
        ("title", f"{DC}title"), ("author", f"{DC}creator"), ("subject", f"{DC}subject"), ("language", f"{DC}language"),
        ("created", f"{TERMS}created"), ("modified", f"{TERMS}modified"),
    ):  # fmt: skip
        reading.tell(name, root.findtext(f".//{tag}"))
    reading.tags(root.findtext(f".//{CORE}keywords"))
