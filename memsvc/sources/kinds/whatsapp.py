"""WhatsApp's "export chat": a text file, a line a message, in the phone's own format of dates.

Android writes "12/05/2025, 18:31 - Mila: …", the iPhone "[12.05.25, 18:31:07] Mila: …". Lines without a date go on with
the message before. The order of day and month is found from all dates of the file; if both orders are possible, the one
that goes forward in time, else the file is refused. Lines without a speaker are the program's own and left out.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from memsvc.errors import BadFileError
from memsvc.sources.kinds.bundles import Bundle
from memsvc.sources.kinds.kind import NOT_MINE, Detection, Digests, Placed, Reading
from memsvc.sources.messages import MessageIn
from memsvc.text.characters import is_visible

LINE = re.compile(
    r"""[\u200e\u200f\ufeff]*
    \[?(?P<a>\d{1,4})[./-](?P<b>\d{1,2})[./-](?P<c>\d{2,4}),?[ \u202f\u00a0]+   # the date
    (?P<hour>\d{1,2})[:.](?P<minute>\d{2})(?:[:.](?P<second>\d{2}))?            # the time
    (?:[ \u202f\u00a0]*(?P<half>[ap])\.?[ \u00a0]?m\.?)?                        # twice twelve hours
    (?:\]|[ ]-)[ ](?P<rest>.*)""",
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
SPEAKER = re.compile(
    r"[\u200e\u200f\u202a]*(?P<speaker>[^:\n]{1,100}?)\u202c?: (?P<text>.*)|(?P<only>[^:\n]{1,100}):", re.DOTALL
)
MEDIA = re.compile(
    r"[\u200e\u200f]*(?:<[^<>]{1,60}>|(?:image|video|audio|sticker|GIF|document|contact card) omitted"
    r"|\S+ \(file attached\))",
    re.IGNORECASE,
)
"""What stands for a picture, in any language: words in angle brackets, or the iPhone's English ones."""
ORDERS = {"day first": (2, 1, 0), "month first": (2, 0, 1), "year first": (0, 1, 2)}
"""Where year, month and day stand."""
CENTURY = 2000
CALLED = re.compile(r"^WhatsApp Chat (?:with|-) ", re.IGNORECASE)


class Sent(NamedTuple):
    """A line with a date, and the lines that go on with it."""

    number: int
    date: tuple[str, str, str]
    time: tuple[int, int, int]
    rest: str
    is_american: bool
    """Whether it is "5/12/25, 6:31 PM", as phones write it that put the month first; those never write "05"."""


class WhatsApp:
    """Exported chats of WhatsApp."""

    name = "whatsapp"
    title = "an export of WhatsApp"
    has_people = True
    is_export = True

    def detect(self, bundle: Bundle) -> Detection:
        """Look at how the first line begins, and for a speaker."""
        if (file := bundle.only) is None:
            return NOT_MINE
        lines = bundle.head(file).decode("utf-8", "replace").splitlines()[:100]
        sent = [found for line in lines if (found := LINE.fullmatch(line))]
        if not lines or not sent or LINE.fullmatch(lines[0]) is None:
            return NOT_MINE
        if not any(SPEAKER.fullmatch(found["rest"]) for found in sent):
            return NOT_MINE
        return Detection(0.9, "a date, a time and a speaker at the beginning of lines", (file,))

    def read(self, bundle: Bundle, reading: Reading) -> Iterator[Placed]:
        """Yield the messages."""
        shown, path = bundle.shown(bundle.files[0]), bundle.path(bundle.files[0])
        order = _order(bundle, shown)
        ids = Digests()
        chat = ""
        for sent in _sent(path, shown):
            chat = chat or _chat(bundle, sent)
            where = f"{shown}, line {sent.number}"
            said_at = _time(sent, order)
            if said_at is None:
                raise BadFileError(f"{where}: {'/'.join(sent.date)} is not a date with the {order}.")
            found = SPEAKER.fullmatch(sent.rest)
            if found is None:
                reading.odd["service messages"] += 1
                continue
            speaker = (found["speaker"] or found["only"]).strip().removeprefix("~").strip()
            text = (found["text"] or "").strip("\u200e\u200f ")
            if not is_visible(text) or MEDIA.fullmatch(text):
                reading.odd["messages with a file or picture alone"] += 1
                continue
            message = MessageIn(
                conversation=f"whatsapp:{chat}",
                text=text,
                speaker=speaker,
                role="user" if reading.is_me(speaker) else "other",
                id=ids.of(said_at.isoformat(), speaker, text),
                said_at=said_at.isoformat(),
            )
            yield Placed(where, message, {"line": sent.number}, chat)


def _chat(bundle: Bundle, first: Sent) -> str:
    """Return the chat's name, of "WhatsApp Chat with Mila.txt" or of "WhatsApp Chat - Mila.zip" with "_chat.txt"."""
    file, whole = PurePosixPath(bundle.files[0]).name, PurePosixPath(bundle.name)
    if file == "_chat.txt":
        file = whole.parent.name if whole.name == file else whole.name
    called = CALLED.sub("", file).removesuffix(".txt").removesuffix(".zip").strip()
    return called or hashlib.sha256("\0".join((*first.date, first.rest)).encode()).hexdigest()[:12]


def _sent(path: Path, shown: str) -> Iterator[Sent]:
    """Yield the lines with a date, each with the lines that go on with it."""
    current: Sent | None = None
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                text = line.decode("utf-8").rstrip("\r\n")
            except UnicodeDecodeError as error:
                raise BadFileError(f"{shown}, line {number}: It is not UTF-8.", row=number) from error
            found = LINE.fullmatch(text)
            if found is None:
                if current is None:
                    if text.strip("\ufeff \u200e"):
                        raise BadFileError(f"{shown}, line {number} does not begin with a date.", row=number)
                    continue
                current = current._replace(rest=f"{current.rest}\n{text}")
                continue
            if current is not None:
                yield current
            half = (found["half"] or "").lower()
            hour = int(found["hour"])
            if half:
                hour = hour % 12 + (12 if half == "p" else 0)
            time = (hour, int(found["minute"]), int(found["second"] or 0))
            date = (found["a"], found["b"], found["c"])
            is_american = bool(half) and "/" in text[:6] and len(date[2]) == 2  # noqa: PLR2004 - digits of a year
            current = Sent(number, date, time, found["rest"], is_american)
    if current is not None:
        yield current


def _time(sent: Sent, order: str) -> datetime | None:
    """Return when a message was sent, on the phone's clock; None if there is no such day."""
    year, month, day = (int(sent.date[place]) for place in ORDERS[order])
    try:
        return datetime(year + CENTURY if year < 100 else year, month, day, *sent.time)  # noqa: DTZ001, PLR2004 - a clock
    except ValueError:
        return None


def _order(bundle: Bundle, shown: str) -> str:
    """Return in which order the dates of a file stand.

    Raises:
        BadFileError: several are possible.
    """
    back = dict.fromkeys(ORDERS, 0)
    last: dict[str, datetime] = {}
    is_padded, is_short = False, True
    for sent in _sent(bundle.path(bundle.files[0]), shown):
        is_padded = is_padded or any(len(part) == 2 and part.startswith("0") for part in sent.date[:2])  # noqa: PLR2004
        is_short = is_short and sent.is_american
        for order in list(back):
            moment = _time(sent, order)
            if moment is None or (len(sent.date[0]) == 4) != (order == "year first"):  # noqa: PLR2004 - a year
                del back[order]
                continue
            if order in last and moment.date() < last[order].date():
                back[order] += 1
            last[order] = moment
    if not back:
        raise BadFileError(f"{shown} has dates of no order that is known.")
    best, *others = sorted(back, key=lambda order: back[order])
    if not others or back[others[0]] > back[best]:
        return best
    if is_padded or is_short:
        return "day first" if is_padded else "month first"
    raise BadFileError(
        f"{shown}: it cannot be told whether the day or the month comes first.",
        hint="Nothing was stored. Export a longer time of the chat, so that a day after the 12th is in it.",
    )
