"""SMS Backup & Restore, an app for Android: the XML of short messages and multimedia messages.

The file is read piece by piece. A document type is refused, since it could define entities that unpack without end.
The app writes an emoji as the numbers of two halves, which is no XML; they are put together first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any
from xml.parsers import expat

from memsvc.errors import BadFileError
from memsvc.sources.kinds.bundles import Bundle
from memsvc.sources.kinds.json_files import BYTE_ORDER_MARK
from memsvc.sources.kinds.kind import NOT_MINE, Detection, Digests, Names, Placed, Reading, compact
from memsvc.sources.messages import MessageIn
from memsvc.text.characters import is_visible

ROOT = re.compile(rb"(?>\s+|<\?(?>.*?\?>)|<!--(?>.*?-->))*+<smses[\s>]", re.DOTALL)
HALVES = re.compile(rb"&#(5[5-6]\d{3});&#(5[6-7]\d{3});")
HALF = re.compile(rb"&#(?:5529[6-9]|55[3-9]\d\d|56\d{3}|57[0-2]\d\d|573[0-3]\d|5734[0-3]|0?[0-8]|1[124-9]|2\d|3[01]);")
"""The number of a single half, or of a control character."""
PIECE_BYTES = 1 << 18
OF_NUMBERS = b"#0123456789;&"
LONGEST_NUMBERS = 1 << 16
FIRST_HALF, SECOND_HALF, AFTER_HALVES, ABOVE = 0xD800, 0xDC00, 0xE000, 0x10000
"""Where UTF-16's halves begin and end, and the characters that they stand for begin."""
RECEIVED, SENT = "1", "2"
SENDER = "137"
"""The type of the address that a multimedia message is from."""
NOBODY = frozenset({"", "null", "(Unknown)", "insert-address-token"})


class Sms:
    """Backups of SMS Backup & Restore."""

    name = "sms"
    title = "a backup of SMS Backup & Restore"
    has_people = False
    is_export = True

    def detect(self, bundle: Bundle) -> Detection:
        """Look at the outermost element."""
        if (file := bundle.only) is None or not ROOT.match(bundle.head(file).removeprefix(BYTE_ORDER_MARK)):
            return NOT_MINE
        return Detection(0.95, "the element smses", (file,))

    def read(self, bundle: Bundle, reading: Reading) -> Iterator[Placed]:
        """Yield the messages as the file has them."""
        shown, names, ids = bundle.shown(bundle.files[0]), Names(), Digests()
        for number, one in enumerate(_elements(bundle, shown), 1):
            where = f"{shown}, message {number}"
            if one.get("kind") not in {RECEIVED, SENT}:
                reading.odd["messages that were not sent"] += 1
                continue
            if not is_visible(one["text"]):
                reading.odd["messages with a file or picture alone"] += 1
                continue
            yield _placed(one, names, ids, reading, where)


def _placed(one: Mapping[str, Any], names: Names, ids: Digests, reading: Reading, where: str) -> Placed:
    is_own = one["kind"] == SENT
    address, title = one["address"], one["contact"]
    sender = _plain(one["from"]) or address
    name = (title or address) if sender == address else sender  # in a group only the whole chat has a name
    date = str(one["date"])
    try:
        seconds = int(date) / 1000
    except ValueError as error:
        raise BadFileError(f"{where}: {date[:60]!r} is not a time.") from error
    message = MessageIn(
        conversation=f"sms:{address or title or 'unknown'}"[:400],
        text=one["text"],
        speaker="" if is_own else names.of(sender, name or "unknown")[:200],
        role="user" if is_own else "other",
        id=ids.of(date, one["kind"], address, one["text"]),
        said_at=reading.clock(seconds, where),
    )
    return Placed(where, message, compact(id=date, files=one["files"][:20]), title[:200])


def _plain(address: str | None) -> str:
    """Return a number without blanks and signs, the members of a group in order; "" if there is none."""
    members = {re.sub(r"(?<=[\d+])[ ()/.-]+(?=[\d(])|[()]", "", one.strip()) for one in (address or "").split("~")}
    return "~".join(sorted(members - NOBODY))


def _contact(name: str | None) -> str:
    return "" if name is None or name.strip() in NOBODY else name.strip()


def _elements(bundle: Bundle, shown: str) -> Iterator[dict[str, Any]]:
    """Yield the messages of a backup."""
    reader = _Reader(shown)
    with bundle.path(bundle.files[0]).open("rb") as file:
        rest = b""
        while piece := file.read(PIECE_BYTES):
            text = rest + piece
            text, rest = _cut(text)
            yield from reader.feed(_whole(text))
        yield from reader.feed(_whole(rest), is_end=True)


def _cut(text: bytes) -> tuple[bytes, bytes]:
    """Cut before the numbers of characters at the end of a piece: the other half of one may be in the next piece."""
    begun = text.find(b"&", len(text.rstrip(OF_NUMBERS)))
    if begun == -1 or len(text) - begun > LONGEST_NUMBERS:
        return text, b""
    return text[:begun], text[begun:]


def _whole(piece: bytes) -> bytes:
    """Put the halves of characters together, and replace what is no character."""

    def joined(found: re.Match[bytes]) -> bytes:
        high, low = int(found[1]), int(found[2])
        if FIRST_HALF <= high < SECOND_HALF <= low < AFTER_HALVES:
            return b"&#%d;" % (ABOVE + ((high - FIRST_HALF) << 10) + (low - SECOND_HALF))
        return found[0]

    return HALF.sub(b"&#65533;", HALVES.sub(joined, piece))


class _Reader:
    """Collects the messages of pieces of XML."""

    def __init__(self, shown: str) -> None:
        self._shown = shown
        self._found: list[dict[str, Any]] = []
        self._current: dict[str, Any] | None = None
        self._parser = expat.ParserCreate()
        self._parser.StartDoctypeDeclHandler = self._refuse
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end

    def feed(self, piece: bytes, *, is_end: bool = False) -> list[dict[str, Any]]:
        """Return the messages that end in a piece.

        Raises:
            BadFileError: it is not XML, or has a document type.
        """
        try:
            self._parser.Parse(piece, is_end)
        except expat.ExpatError as error:
            raise BadFileError(f"{self._shown}, line {error.lineno}: It is not XML: {error}.") from error
        found, self._found = self._found, []
        return found

    def _refuse(self, *_: object) -> None:
        raise BadFileError(f"{self._shown} has a document type, which no backup has.")

    def _start(self, name: str, given: dict[str, str]) -> None:
        if name == "sms":
            self._found.append(self._message(given, given.get("type"), given.get("body") or ""))
        elif name == "mms":
            self._current = self._message(given, given.get("msg_box"), "")
        elif self._current is not None and name == "part":
            self._part(self._current, given)
        elif self._current is not None and name == "addr" and given.get("type") == SENDER:
            self._current["from"] = given.get("address")

    def _end(self, name: str) -> None:
        if name == "mms" and self._current is not None:
            self._found.append(self._current)
            self._current = None

    @staticmethod
    def _message(given: dict[str, str], kind: str | None, text: str) -> dict[str, Any]:
        return {
            "kind": kind, "date": given.get("date", ""), "address": _plain(given.get("address")), "from": None,
            "contact": _contact(given.get("contact_name")), "text": "" if text == "null" else text, "files": [],
        }  # fmt: skip

    @staticmethod
    def _part(message: dict[str, Any], given: dict[str, str]) -> None:
        if given.get("ct") == "text/plain":
            text = given.get("text") or ""
            if text != "null":
                message["text"] = f"{message['text']}\n{text}".strip("\n")
        elif given.get("ct") != "application/smil":
            names = (given.get("name"), given.get("cl"), given.get("ct"))
            message["files"].append(next(name for name in (*names, "a file") if name and name != "null"))
