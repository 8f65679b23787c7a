"""Recognise the exports of other programs, so that each can be refused by name.

Their files partly look like ours: a Slack message has a ``text``, but its speaker and time have other names. Read as
chat JSONL, it would become a message of the user, said now. Fields that only one program writes identify it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any

LOOKED_AT = 50
"""How many entries of a list are checked."""
OURS = "an export of memsvc"
Entry = Mapping[str, Any]


def _has(value: object, *names: str) -> bool:
    return isinstance(value, dict) and any(name in value for name in names)


def _among(entries: object, *names: str) -> bool:
    """Return whether one of the first entries has one of these fields."""
    return isinstance(entries, list) and any(_has(entry, *names) for entry in entries[:LOOKED_AT])


TELEGRAM = ("from_id", "date_unixtime", "text_entities")
DOCUMENTS: Mapping[str, Callable[[Entry], bool]] = {
    "an export of ChatGPT": lambda one: isinstance(one.get("mapping"), dict),
    "an export of Claude": lambda one: "chat_messages" in one,
    "an export of Telegram": lambda one: (
        _has(one, *TELEGRAM) or _among(one.get("messages"), *TELEGRAM) or _has(one.get("chats"), "list")
    ),
    "an export of Slack": lambda one: (
        ("ts" in one and _has(one, "user", "type", "bot_id")) or _has(one, "team_id", "user_profile", "is_channel")
    ),
    "an export of Discord": lambda one: (
        ("guild" in one and "messages" in one)
        or ("Contents" in one and "Timestamp" in one)
        or _has(one.get("author"), "discriminator")
    ),
    "an export of Messenger or Instagram": lambda one: (
        "sender_name" in one or _among(one.get("messages"), "sender_name")
    ),
    "an export of Google Chat": lambda one: _among(one.get("messages"), "topic_id"),
    "an export of Skype": lambda one: _among(one.get("conversations"), "MessageList"),
    "an export of Gemini": lambda one: one.get("header") == "Gemini Apps",
    OURS: lambda one: one.get("format") == "memsvc-export",
}
"""Tests on the fields of an object: a document, or an entry of a list, or a line."""
SENT = r"\[?\d{1,4}[./-]\d{1,2}[./-]\d{2,4},?[ \u202f]\d{1,2}[:.]\d{2}"
"""The start of a WhatsApp message: a date in the phone's format, and a time."""
TEXTS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("a zip file", re.compile(r"PK\x03\x04")),
    ("a web page", re.compile(r"\s*<(?:!DOCTYPE\s+html|html)\b", re.IGNORECASE)),
    ("an export of WhatsApp", re.compile(rf"[\s\u200e\ufeff]*{SENT}")),
    ("a mailbox", re.compile(r"From \S+ .*\d\d:\d\d")),
    (
        "an e-mail",
        re.compile(r"(?:[A-Z][\w-]*:.*\n(?:[ \t].*\n)*)*(?:From|Received|Message-ID|Subject):", re.IGNORECASE),
    ),
    ("an export of Discord", re.compile(r"\ufeff?ID,Timestamp,Contents")),
    ("an export of DiscordChatExporter", re.compile(r"={10,}\r?\nGuild:")),
)


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


def foreign_text(head: bytes) -> str | None:
    """Return what a file is that is not JSON, by how it starts; None if unknown."""
    text = head.decode("utf-8", "replace")
    return next((name for name, start in TEXTS if start.match(text)), None)
