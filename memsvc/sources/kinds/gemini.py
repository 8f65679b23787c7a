"""Gemini in Google Takeout: ``MyActivity.json`` of "My Activity", a list of prompts with their answers, or its page.

It names no conversations, so the prompts of a day are one. The newest stands first in the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime

import msgspec

from memsvc.errors import BadFileError
from memsvc.sources.kinds.bundles import Bundle
from memsvc.sources.kinds.gemini_page import Card, cards, is_page
from memsvc.sources.kinds.json_files import BYTE_ORDER_MARK, decoded
from memsvc.sources.kinds.kind import NOT_MINE, Detection, Digests, Placed, Reading, compact
from memsvc.sources.messages import MessageIn
from memsvc.text.characters import is_visible
from memsvc.text.hypertext import visible_text

HEADERS = ("Gemini", "Bard")
PROMPTED = re.compile(
    r"(?:Prompted|Asked|Eingegebener Prompt:?|Prompt:|Requête\s?:|Prompt saisi\s?:|Instrucción:|Preguntaste|Hai chiesto"
    r"|Opgegeven prompt:?|Prompt inserito:|Comando:)\s+",
    re.IGNORECASE,
)
"""What stands before a prompt, in the language of the account."""


class Html(msgspec.Struct):
    """A piece of an answer."""

    html: str = ""


class Named(msgspec.Struct):
    """A note on a record, with a name."""

    name: str | None = None


class Record(msgspec.Struct, rename="camel"):
    """A record of My Activity; other fields are not read."""

    title: str
    time: str
    header: str = ""
    title_url: str | None = None
    safe_html_item: list[Html] = []
    attached_files: list[str | Named] = []


class Gemini:
    """Exports of Gemini."""

    name = "gemini"
    title = "an export of Gemini"
    has_people = False
    is_export = True

    def detect(self, bundle: Bundle) -> Detection:
        """Look for Gemini's header in the first records."""
        if (file := bundle.only) is None:
            return NOT_MINE
        if is_page(bundle, file):
            return Detection(0.95, "a card with the header of Gemini", (file,))
        if bundle.head(file).removeprefix(BYTE_ORDER_MARK).lstrip()[:1] != b"[":
            return NOT_MINE
        found = bundle.document(file).outline(3)
        if isinstance(found, list) and found and all(isinstance(one, dict) and _is_record(one) for one in found):
            return Detection(0.95, "the header of Gemini", (file,))
        return NOT_MINE

    def read(self, bundle: Bundle, reading: Reading) -> Iterator[Placed]:
        """Yield each prompt and its answer, the oldest first."""
        ids = Digests()
        records = _of_page if is_page(bundle, bundle.files[0]) else _of_json
        for where, record in records(bundle, reading):
            if not record.header.startswith(HEADERS):
                reading.odd["records of other programs"] += 1
                continue
            answer = "\n\n".join(visible_text(one.html) for one in record.safe_html_item).strip()
            prompted = PROMPTED.match(record.title)
            if prompted is None and not is_visible(answer):
                reading.odd["records without a prompt"] += 1
                continue
            prompt = record.title[prompted.end() if prompted is not None else 0 :].strip()
            yield from _placed(record, (prompt, answer), ids.of(record.time, record.title), reading, where)


def _of_json(bundle: Bundle, _reading: Reading) -> Iterator[tuple[str, Record]]:
    shown, document = bundle.shown(bundle.files[0]), bundle.document(bundle.files[0])
    document.check()
    for index in range(len(document.entries) - 1, -1, -1):
        where = f"{shown}, record {index}"
        yield where, decoded(document.entries[index], Record, where)


def _of_page(bundle: Bundle, reading: Reading) -> Iterator[tuple[str, Record]]:
    file = bundle.files[0]
    for number, text in cards(bundle, file):
        where = f"{bundle.shown(file)}, card {number}"
        card = Card(text, reading, where)
        files: list[str | Named] = [*card.files]
        yield where, Record(card.title, card.time, card.header, card.url, [Html(card.answer)], files)


def _is_record(one: dict[str, object]) -> bool:
    return str(one.get("header", "")).startswith(HEADERS) and {"title", "time"} <= one.keys()


def _placed(record: Record, texts: tuple[str, str], identity: str, reading: Reading, where: str) -> Iterator[Placed]:
    try:
        moment = datetime.fromisoformat(record.time)
    except ValueError as error:
        raise BadFileError(f"{where}: {record.time[:60]!r} is not a time.") from error
    moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    day = moment.astimezone(UTC).date().isoformat()  # not of the owner's zone: it may be another one next time
    files = [one if isinstance(one, str) else one.name for one in record.attached_files]
    origin = compact(day=day, url=record.title_url, files=[name for name in files if name][:20])
    prompt, answer = texts
    for role, text in (("user", prompt), ("assistant", answer)):
        if is_visible(text):
            message = MessageIn(
                conversation=f"gemini:{day}",
                text=text,
                speaker="Gemini" if role == "assistant" else "",
                role="assistant" if role == "assistant" else "user",
                id=f"{identity}:{role}",
                said_at=reading.clock(moment.timestamp(), where),
            )
            yield Placed(where, message, origin, f"Gemini, {day}")
