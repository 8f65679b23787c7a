"""``MyActivity.html`` of Google Takeout: the same records as the JSON, as a page, a card each.

A card has the program's name, then one cell: the prompt, attached files, the time in words, and the answer's HTML. The
page begins with a long style sheet. The time has seconds and a zone's abbreviation, in the account's language; English
and numeric ones are read.
"""

from __future__ import annotations

import html
import mmap
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone

from memsvc.errors import BadFileError
from memsvc.sources.kinds.bundles import Bundle
from memsvc.sources.kinds.kind import Reading
from memsvc.text.hypertext import visible_text

LOOKED_AT_BYTES = 1 << 20
CARD = re.compile(rb'<div class="outer-cell\b')
PAGE = re.compile(rb"\s*(?:<!DOCTYPE[^>]*>\s*)?<html\b", re.IGNORECASE)
HEADER = re.compile(r'<p class="mdl-typography--title">(.*?)</p>', re.DOTALL)
CELL = re.compile(r'<div class="content-cell\b[^>]*>')
BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
TALK = re.compile(r"https://gemini\.google\.com/app/[\w-]+")
ATTACHED = re.compile(r"(?:Attached \d+ files?|\d+ attachments?|\d+ generated images?)\.?")
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
TIME = re.compile(
    r"""(?: (?P<month>[A-Z][a-z]{2,8})\.?[ ](?P<day>\d{1,2}),[ ](?P<year>\d{4})          # Jul 25, 2026
         |  (?P<day2>\d{1,2})[ ](?P<month2>[A-Z][a-z]{2,8})\.?[ ](?P<year2>\d{4})         # 25 Jul 2026
         |  (?P<day3>\d{1,2})\.(?P<month3>\d{1,2})\.(?P<year3>\d{4})                      # 25.07.2026
         |  (?P<year4>\d{4})-(?P<month4>\d\d)-(?P<day4>\d\d) )
    ,?[ T](?P<hour>\d{1,2}):(?P<minute>\d\d):(?P<second>\d\d)(?:\.\d+)?
    (?:[ ]?(?P<half>[AP])M)? (?:[ ]?(?P<zone>[A-Z]{1,5}(?:[+-]\d{1,2}(?::?\d\d)?)?))?""",
    re.VERBOSE,
)
ZONES = {
    "UTC": 0, "GMT": 0, "Z": 0, "WET": 0, "WEST": 1, "CET": 1, "MEZ": 1, "CEST": 2, "MESZ": 2, "EET": 2, "EEST": 3,
    "EST": -5, "EDT": -4, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7, "AKST": -9, "AKDT": -8, "HST": -10,
    "BRT": -3, "JST": 9, "KST": 9, "AEST": 10, "AEDT": 11, "NZST": 12, "NZDT": 13,
}  # fmt: skip
"""Abbreviations that mean one offset, in hours. CST, IST and BST mean several."""
OFFSET = re.compile(r"(?:GMT|UTC)([+-])(\d{1,2}):?(\d\d)?")
JSON_HINT = "Nothing was stored. In Google Takeout, choose JSON as the format of My Activity."


def is_page(bundle: Bundle, file: str) -> bool:
    """Whether a file is such a page with a card of Gemini among the first."""
    head = bundle.head(file)
    if PAGE.match(head) is None or (b"My Activity" not in head and b"mdl-" not in head):
        return False
    with bundle.path(file).open("rb") as page:
        begin = page.read(LOOKED_AT_BYTES)
    return any(name.startswith(("Gemini", "Bard")) for name in HEADER.findall(begin.decode("utf-8", "replace")))


def cards(bundle: Bundle, file: str) -> Iterator[tuple[int, str]]:
    """Yield the cards of a page with their numbers, the last one first."""
    with bundle.path(file).open("rb") as page, mmap.mmap(page.fileno(), 0, access=mmap.ACCESS_READ) as content:
        begins = [found.start() for found in CARD.finditer(content)]
        for number in range(len(begins) - 1, -1, -1):
            end = begins[number + 1] if number + 1 < len(begins) else len(content)
            yield number, content[begins[number] : end].decode("utf-8", "replace")


class Card:
    """A card, taken apart."""

    def __init__(self, text: str, reading: Reading, where: str) -> None:
        """Read it.

        Raises:
            BadFileError: its time is in no known form.
        """
        header = HEADER.search(text)
        self.header = visible_text(header[1]).strip() if header is not None else ""
        self.title, self.answer, self.time = "", "", ""
        self.files: list[str] = []
        found = TALK.search(text)
        self.url = found[0] if found is not None else None
        if not self.header.startswith(("Gemini", "Bard")):
            return
        _, cell, *_ = (*CELL.split(text, maxsplit=2), "", "")
        lines = BREAK.split(cell)
        shown = [visible_text(line).replace("\u202f", " ").strip() for line in lines]
        at = next((number for number, line in enumerate(shown) if TIME.fullmatch(line)), None)
        if at is None:
            raise BadFileError(f"{where} has no time in a form that is known.", hint=JSON_HINT)
        self.time = _moment(shown[at], reading, where).isoformat()
        self.answer = "<br>".join(lines[at + 1 :])
        attached = next((number for number, line in enumerate(shown[:at]) if ATTACHED.fullmatch(line)), at)
        self.title = "\n".join(html.unescape(line) for line in shown[:attached]).strip()
        self.files = [line.removeprefix("-").strip() for line in shown[attached + 1 : at] if line.startswith("-")]


def _moment(text: str, reading: Reading, where: str) -> datetime:
    found = TIME.fullmatch(text)
    named = found.groupdict() if found is not None else {}
    part = {name.rstrip("234"): value for name, value in named.items() if value is not None}
    try:
        month = int(part["month"]) if part["month"].isdigit() else MONTHS.index(part["month"][:3].lower()) + 1
        hour = int(part["hour"])
        if "half" in part:
            hour = hour % 12 + (12 if part["half"] == "P" else 0)
        day = (int(part["year"]), month, int(part["day"]))
        moment = datetime(*day, hour, int(part["minute"]), int(part["second"]), tzinfo=UTC)
    except (KeyError, ValueError) as error:
        raise BadFileError(f"{where}: {text[:60]!r} is not a time that is known.", hint=JSON_HINT) from error
    zone = part.get("zone", "")
    if (offset := OFFSET.fullmatch(zone)) is not None:
        span = timedelta(hours=int(offset[2]), minutes=int(offset[3] or 0))
        return moment.replace(tzinfo=timezone(span if offset[1] == "+" else -span))
    if zone in ZONES:
        return moment.replace(tzinfo=timezone(timedelta(hours=ZONES[zone])))
    reading.odd["times in a zone that is not known, read on your clock"] += 1
    return moment.replace(tzinfo=reading.zone)
