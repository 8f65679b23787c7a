"""iMessage, as the text that imessage-exporter writes: a file for each chat.

A message is a line with its time, a line with its sender, and its words, up to the next such pair. Replies stand
below what they answer, indented, and again in their own place; there they are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from itertools import pairwise
from typing import NamedTuple

from memsvc.errors import BadFileError
from memsvc.sources.kinds.bundles import Bundle
from memsvc.sources.kinds.json_files import BYTE_ORDER_MARK
from memsvc.sources.kinds.kind import NOT_MINE, Detection, Digests, Placed, Reading, compact
from memsvc.sources.messages import MessageIn
from memsvc.text.characters import is_visible

TIME = r"[A-Z][a-z]{2} \d{2}, \d{4} {1,2}\d{1,2}:\d{2}:\d{2} [AP]M"
HEADER = re.compile(rf"(?P<indent> *)(?P<time>{TIME})(?: \(Read by .*\))?")
ANNOUNCED = re.compile(rf"{TIME} \S.*")
"""The program's own line, such as "… You renamed the conversation to Garden"."""
EDITED = re.compile(r"Edited .{1,80}? later: (?P<text>.*)", re.DOTALL)
REACTIONS = re.compile(r"(?:Tapbacks|Reactions):")
REACTION = re.compile(r" {0,8}(?:\S.{0,60} by \S.{0,100}|\S.{0,100} from \S.{0,300})")
NOTES = re.compile(
    r"This message (?:responded to an earlier message\.|was deleted from the conversation!)|Attachment missing!"
)
EFFECT = re.compile(r"\n?Sent with [A-Z]\w*(?: [A-Z]\w*){0,2}$")
WORDLESS = re.compile(r"SharePlay Message\nEnded|\S+(?: \S+)? (?:unsent|deleted) (?:a message\.|this message part .*!)")
"""What stands for a message that has no words."""
FILE = re.compile(r"(?:~?/|attachments/|[A-Z]:\\)[^\n]*\.\w{1,5}")
FORMAT = "%b %d, %Y %I:%M:%S %p"
ME = "Me"


class Sent(NamedTuple):
    """A message with the lines after its sender."""

    number: int
    time: str
    sender: str
    lines: list[str]


class IMessage:
    """Exports of imessage-exporter."""

    name = "imessage"
    title = "an export of iMessage"
    has_people = True
    is_export = True

    def detect(self, bundle: Bundle) -> Detection:
        """Look for a time alone on a line, and a sender on the next one."""
        if (file := bundle.only) is None:
            return NOT_MINE
        lines = bundle.head(file).removeprefix(BYTE_ORDER_MARK).decode("utf-8", "replace").splitlines()
        if not lines or not (HEADER.fullmatch(lines[0]) or ANNOUNCED.fullmatch(lines[0])):
            return NOT_MINE
        is_mine = any(HEADER.fullmatch(line) and following.strip() for line, following in pairwise(lines))
        return Detection(0.95, "a time, and a sender on the next line", (file,)) if is_mine else NOT_MINE

    def read(self, bundle: Bundle, reading: Reading) -> Iterator[Placed]:
        """Yield the messages."""
        shown, ids = bundle.shown(bundle.files[0]), Digests()
        chat = bundle.stem.removesuffix(".txt")
        for sent in _sent(bundle, shown, reading):
            where = f"{shown}, line {sent.number}"
            text, files = _words(sent.lines)
            if not is_visible(text):
                reading.odd["messages with a file or picture alone"] += 1
                continue
            try:
                moment = datetime.strptime(" ".join(sent.time.split()), FORMAT)  # noqa: DTZ007 - the phone's clock
            except ValueError as error:
                raise BadFileError(f"{where}: {sent.time!r} is not a time.", row=sent.number) from error
            is_own = sent.sender == ME or reading.is_me(sent.sender)
            message = MessageIn(
                conversation=f"imessage:{chat}"[:400],
                text=text,
                speaker=sent.sender[:200],
                role="user" if is_own else "other",
                id=ids.of(moment.isoformat(), sent.sender, text),
                said_at=moment.isoformat(),
            )
            yield Placed(where, message, compact(line=sent.number, files=files[:20]), chat[:200])


def _lines(bundle: Bundle, shown: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a chat with their numbers."""
    with bundle.path(bundle.files[0]).open("rb") as file:
        for number, raw in enumerate(file, 1):
            try:
                yield number, raw.removeprefix(BYTE_ORDER_MARK).decode("utf-8").rstrip("\r\n")
            except UnicodeDecodeError as error:
                raise BadFileError(f"{shown}, line {number}: It is not UTF-8.", row=number) from error


def _sent(bundle: Bundle, shown: str, reading: Reading) -> Iterator[Sent]:
    """Yield the messages that are not indented; lines of the program are counted."""
    current: Sent | None = None
    is_reply, was_blank = False, True
    for number, line in _lines(bundle, shown):
        header = HEADER.fullmatch(line)
        if current is not None and not current.sender:
            current = current._replace(sender=line.strip() or "unknown")
        elif header is not None and header["indent"]:
            is_reply = True
        elif header is not None or (was_blank and ANNOUNCED.fullmatch(line)):
            if current is not None:
                yield current
            current, is_reply = None, False
            if header is not None:
                current = Sent(number, header["time"], "", [])
            else:
                reading.odd["service messages"] += 1
        elif current is not None and not (is_reply and line.startswith(" ")):
            is_reply = is_reply and not line.strip()
            current.lines.append(line)
        was_blank = not line.strip()
    if current is not None and current.sender:
        yield current


def _words(lines: list[str]) -> tuple[str, list[str]]:
    """Return the words of a message and its files, without reactions and the program's notes."""
    words: list[str] = []
    files: list[str] = []
    is_reaction = False
    for line in lines:
        is_reaction = (is_reaction and REACTION.fullmatch(line) is not None) or REACTIONS.fullmatch(line) is not None
        if is_reaction or NOTES.fullmatch(line):
            continue
        if FILE.fullmatch(line):
            files.append(re.split(r"[/\\]", line)[-1])
            continue
        if (edited := EDITED.fullmatch(line)) is not None and words and re.match(TIME, words[0]):
            words = [words[0], edited["text"]]
            continue
        words.append(line)
    if len(words) > 1 and (first := re.match(rf"{TIME} ", words[0])) is not None:
        words = words[1:] if is_visible("".join(words[1:])) else [words[0][first.end() :]]
    text = EFFECT.sub("", "\n".join(words).strip())
    return ("" if WORDLESS.fullmatch(text) else text), files
