"""Recognise the exports of other programs, so that each can be refused by name.

Their files partly look like ours: a Slack message has a ``text``, but its speaker and time have other names. Read as
chat JSONL, it would become a message of the user, said now. Fields that only one program writes identify it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import islice
from typing import Any

import msgspec

LOOKED_AT = 50
"""How many entries of a list are checked."""
OURS = "an export of memsvc"
PACKAGE = "Discord's data package"
ACTIVITY = "Google's My Activity in HTML"
WHOLE: Mapping[str, str] = {
    OURS: "Import its folder or zip file with 'memsvc import'.",
    ACTIVITY: "Of My Activity, what Gemini has is read; this page has nothing of it.",
    PACKAGE: "Name its folder or zip file, where channel.json stands beside the messages.",
    "an export of Slack": "Name the folder or zip file that has users.json: it says who speaks.",
}
"""What is not read file by file, and what to do instead."""
Entry = Mapping[str, Any]


def _has(value: object, *names: str) -> bool:
    return isinstance(value, dict) and any(name in value for name in names)


def _among(entries: object, *names: str) -> bool:
    """Return whether one of the first entries has one of these fields."""
    return isinstance(entries, list) and any(_has(entry, *names) for entry in entries[:LOOKED_AT])


TELEGRAM = ("from_id", "date_unixtime", "text_entities")
DOCUMENTS: Mapping[str, Callable[[Entry], bool]] = {
    "an export of ChatGPT": lambda one: isinstance(one.get("mapping"), dict),
    "an export of Claude": lambda one: (
        _has(one, "chat_messages", "conversations_memory") or {"prompt_template", "docs"} <= one.keys()
    ),
    "an export of Telegram": lambda one: (
        _has(one, *TELEGRAM) or _among(one.get("messages"), *TELEGRAM) or _has(one.get("chats"), "list")
    ),
    "an export of Slack": lambda one: (
        ("ts" in one and _has(one, "user", "type", "bot_id")) or _has(one, "team_id", "user_profile", "is_channel")
    ),
    "an export of Discord": lambda one: (
        ("guild" in one and "messages" in one) or _has(one.get("author"), "discriminator")
    ),
    PACKAGE: lambda one: "Contents" in one and "Timestamp" in one,
    "an export of Signal": lambda one: (
        ("conversationId" in one and "sent_at" in one)
        or _has(one, "backupTimeMs", "chatItem")
        or {"date", "sender", "body"} <= one.keys()
        or _has(one.get("envelope"), "sourceUuid", "sourceNumber", "sourceDevice", "timestamp")
        or _has(one.get("recipient"), "self", "contact", "group", "distributionList", "releaseNotes")
        or _has(one.get("account"), "givenName", "accountSettings")
    ),
    "an export of Messenger or Instagram": lambda one: (
        "sender_name" in one or _among(one.get("messages"), "sender_name")
    ),
    "an export of Google Chat": lambda one: _among(one.get("messages"), "topic_id"),
    "an export of Skype or Teams": lambda one: _among(one.get("conversations"), "MessageList"),
    "an export of Gemini": lambda one: str(one.get("header")).startswith(("Gemini", "Bard")),
    "subtitles or a transcript": lambda one: (
        {"start", "end", "text"} <= one.keys() or _among(one.get("segments"), "start")
    ),
    "memories of Mem0": lambda one: (
        {"id", "memory"} <= one.keys()
        or {"id", "content", "state", "created_at"} <= one.keys()
        or _among(one.get("results"), "memory")
        or _among(one.get("memories"), "memory", "state")
    ),
    "an agent file of Letta": lambda one: (
        {"agents", "blocks"} <= one.keys() or {"core_memory", "agent_type"} <= one.keys()
    ),
    "episodes of Graphiti or Zep": lambda one: (
        (
            {"uuid", "content", "created_at"} <= one.keys()
            and _has(one, "group_id", "valid_at", "role_type", "thread_id")
        )
        or _among(one.get("episodes"), "uuid")
    ),
    OURS: lambda one: one.get("format") == "memsvc-export",
}
"""Tests on the fields of an object: a document, or an entry of a list, or a line."""
SENT = r"\[?\d{1,4}[./-]\d{1,2}[./-]\d{2,4},?[ \u202f]\d{1,2}[:.]\d{2}"
"""The start of a WhatsApp message: a date in the phone's format, and a time."""
TEXTS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("a zip file", re.compile(r"PK\x03\x04")),
    ("subtitles or a transcript", re.compile(r"\ufeff?(?:WEBVTT\b|\d+\r?\n\d\d:\d\d:\d\d,\d{3} --> )")),
    ("a calendar", re.compile(r"\ufeff?BEGIN:VCALENDAR", re.IGNORECASE)),
    ("an address book", re.compile(r"\ufeff?BEGIN:VCARD", re.IGNORECASE)),
    (
        ACTIVITY,
        re.compile(r"\s*(?:<!DOCTYPE[^>]*>\s*)?<html\b[^>]*>.{0,500}?<title>My Activity", re.IGNORECASE | re.DOTALL),
    ),
    ("a web page", re.compile(r"\s*<(?:!DOCTYPE\s+html|html)\b", re.IGNORECASE)),
    ("an export of iMessage", re.compile(r"\ufeff?[A-Z][a-z]{2} \d\d, \d{4} {1,2}\d{1,2}:\d\d:\d\d [AP]M")),
    ("an export of Copilot", re.compile(r'\ufeff?"?Conversation"?,"?Time"?,"?Author"?,')),
    ("an export of WhatsApp", re.compile(rf"[\s\u200e\ufeff]*{SENT}")),
    ("an e-mail or a mailbox", re.compile(r"From \S+ .*\d\d:\d\d")),
    (
        "an e-mail or a mailbox",
        re.compile(r"(?:[A-Z][\w-]*:.*\n(?:[ \t].*\n)*)*(?:From|Received|Message-ID|Subject):", re.IGNORECASE),
    ),
    (PACKAGE, re.compile(r"\ufeff?ID,Timestamp,Contents")),
    ("an export of DiscordChatExporter as text", re.compile(r"={10,}\r?\nGuild:")),
    ("XML", re.compile(r"[\s\ufeff]*<(?:\?xml\b|!DOCTYPE|[A-Za-z][\w.:-]*[\s/>])")),
    ("Markdown", re.compile(r"\ufeff?(?:---\r?\n(?:.*\n){0,100}?---\r?\n|\s*#{1,6} \S|(?:.*\n){0,20}#{1,6} \S)")),
)
BYTES: Mapping[bytes, str] = {
    b"%PDF-": "a PDF",
    b"\x89PNG\r\n": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"GIF8": "a picture",
    b"{\\rtf": "a document in rich text",
    b"\xd0\xcf\x11\xe0": "a document of Microsoft Office",
    b"SQLite format 3\x00": "a database",
    b"ID3": "a sound file",
    b"OggS": "a sound file",
    b"RIFF": "a sound file, a film or a picture",
    b"7z\xbc\xaf": "a packed file",
    b"Rar!": "a packed file",
    b"BZh": "a packed file",
    b"\xfd7zXZ\x00": "a packed file",
    b"(\xb5/\xfd": "a packed file",
    b"\x7fELF": "a program",
    b"MZ": "a program",
    b"\xff\xfe": "text in UTF-16, not UTF-8",
    b"\xfe\xff": "text in UTF-16, not UTF-8",
}
"""How files begin that are not text."""


def foreign_document(value: object) -> str | None:
    """Return what a JSON value is if another program wrote it, such as ``an export of Slack``; None if unknown.

    Args:
        value: a whole document, or one line of a JSONL file.
    """
    entries: Sequence[object] = value if isinstance(value, list) else [value]
    for entry in islice(entries, LOOKED_AT):
        if isinstance(entry, dict):
            for name, matches in DOCUMENTS.items():
                if matches(entry):
                    return name
    return None


def part_of(name: str) -> str | None:
    """Return what to do with a file that is only a part of something; None if it is no such part."""
    return WHOLE.get(name)


def packed_document(members: Collection[str]) -> str | None:
    """Return what a zip file is that is one document, not a packed folder; None if it is none."""
    if "[Content_Types].xml" in members:
        return "a document of Microsoft Office"
    if "mimetype" in members:
        return "an OpenDocument or EPUB file"
    return "a program" if "META-INF/MANIFEST.MF" in members else None


def foreign_text(head: bytes) -> str | None:
    """Return what a file is that is not JSON, by how it starts; None if unknown or JSON."""
    head = head.removeprefix(b"\xef\xbb\xbf")
    if (named := next((name for start, name in BYTES.items() if head.startswith(start)), None)) is not None:
        return named
    if head[4:8] == b"ftyp":
        return "a film or a picture"
    text = head.decode("utf-8", "replace")
    if (known := next((name for name, start in TEXTS if start.match(text)), None)) is not None:
        return known
    if text.lstrip().startswith(("{", "[")) or _is_json(head):
        return None
    if b"\0" in head:
        return "a file of bytes, not of text"
    return "a table in plain text" if _is_table(text) else "plain text"


def _is_json(head: bytes) -> bool:
    try:
        msgspec.json.decode(head)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    return True


def _is_table(text: str) -> bool:
    """Return whether the first two lines have the same number of columns."""
    first, second, *_ = (*text.split("\n", 2), "", "")
    return any(first.count(comma) == second.count(comma) > 0 and f"{comma} " not in first for comma in (",", ";", "\t"))
