"""Chats in the forms of other programs, with words of our own."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr


def write(path: Path, content: object) -> Path:
    """Write bytes, text, or a value as JSON; makes the folders that are missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def tree(root: Path, files: Mapping[str, object]) -> Path:
    """Write a folder of files."""
    for name, content in files.items():
        write(root / name, content)
    return root


def packed(path: Path, files: Mapping[str, object]) -> Path:
    """Write a zip file."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content if isinstance(content, str | bytes) else json.dumps(content))
    return path


# Telegram


def telegram_message(identity: int, sender: str, text: object, **more: Any) -> dict[str, Any]:
    """A message in February 2026; who says it is "name/id"."""
    name, _, key = sender.partition("/")
    return {
        "id": identity, "type": "message", "date": f"2026-02-01T10:00:{identity % 60:02}",
        "date_unixtime": str(1_769_936_400 + identity % 60), "from": name, "from_id": key, "text": text,
        "text_entities": [], **more,
    }  # fmt: skip


def telegram_chat(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A chat with Mila, who is user7."""
    return {"name": "Mila", "type": "personal_chat", "id": 7, "messages": list(messages), **more}


# Slack


SLACK_USERS: list[dict[str, Any]] = [
    {"id": "U1", "name": "mila", "tz": "Europe/Berlin", "profile": {"real_name": "Mila Horn", "display_name": "Mila"}},
    {"id": "U2", "name": "jo", "real_name": "Jo Berg", "tz": "Asia/Tokyo", "profile": {"email": "jo@example.org"}},
    {"id": "U3", "name": "builder", "is_bot": True, "profile": {"real_name": "Builder"}},
]


def slack(*messages: dict[str, Any], **more: object) -> dict[str, object]:
    """The files of an export with one channel and one day."""
    return {
        "users.json": SLACK_USERS,
        "channels.json": [{"id": "C1", "name": "garden", "members": ["U1", "U2"]}],
        "garden/2026-02-01.json": list(messages),
        **more,
    }


def slack_message(ts: str, user: str, text: str, **more: Any) -> dict[str, Any]:
    """A message."""
    return {"type": "message", "user": user, "ts": ts, "text": text, **more}


# ChatGPT and Claude


def chatgpt_node(
    name: str, parent: str | None, role: str, content: object, time: float | None = None, **more: Any
) -> dict[str, Any]:
    """A node of the tree; a text stands for content with this part."""
    form = {"content_type": "text", "parts": [content]} if isinstance(content, str) else content
    message = {"id": name, "author": {"role": role}, "create_time": time, "content": form, "recipient": "all", **more}
    return {"id": name, "parent": parent, "children": [], "message": message}


def chatgpt_talk(*nodes: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A conversation whose last node is the current one."""
    root: dict[str, Any] = {"id": "root", "parent": None, "children": [], "message": None}
    return {
        "id": "t1", "conversation_id": "t1", "title": "Otters", "create_time": 1_769_936_400.0,
        "mapping": {node["id"]: node for node in (root, *nodes)}, "current_node": nodes[-1]["id"] if nodes else "root",
        **more,
    }  # fmt: skip


def claude_message(uuid: str, sender: str, text: str, **more: Any) -> dict[str, Any]:
    """A message of February 2026."""
    return {
        "uuid": uuid, "sender": sender, "text": text, "created_at": f"2026-02-01T10:00:0{uuid[-1]}.000000Z",
        "attachments": [], "files": [], **more,
    }  # fmt: skip


def claude_talk(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A conversation."""
    return {"uuid": "t1", "name": "Otters", "account": {"uuid": "x"}, "chat_messages": list(messages), **more}


WHATSAPP = (
    "01/02/2026, 10:00 - Messages and calls are end-to-end encrypted.\n"
    "01/02/2026, 10:01 - Mila: The key is under the mat.\n"
    "14/02/2026, 10:02 - Jo: Thanks!\nI shall look.\n"
)
# Discord


def discord_message(identity: str, who: str, content: str, **more: Any) -> dict[str, Any]:
    """A message of February 2026; who says it is "name/id"."""
    name, _, key = who.partition("/")
    return {
        "id": identity, "type": "Default", "timestamp": f"2026-02-01T10:00:0{identity[-1]}+01:00",
        "timestampEdited": None, "content": content, "author": {"id": key, "name": name, "discriminator": "0000"},
        "attachments": [], "embeds": [], **more,
    }  # fmt: skip


def discord_channel(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A channel as DiscordChatExporter writes it."""
    channel = {"id": "70", "type": "GuildTextChat", "name": "keys"}
    return {"guild": {"id": "7", "name": "Pond"}, "channel": channel, "messages": list(messages), **more}


# Signal and SMS


SIGNAL_PEOPLE: tuple[dict[str, Any], ...] = (
    {"version": 1, "backupTimeMs": "1769936400000"},
    {"account": {"givenName": "Jo"}},
    {"recipient": {"id": "1", "self": {}}},
    {"recipient": {"id": "2", "contact": {"e164": "491701234567", "profileGivenName": "Mila"}}},
    {"chat": {"id": "10", "recipientId": "2"}},
)


def lines(*rows: dict[str, Any]) -> str:
    """JSON, a line for each value."""
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def signal_item(second: int, author: str, body: str, **more: Any) -> dict[str, Any]:
    """A message of Signal's own export, in February 2026; author 1 is the owner."""
    way: dict[str, Any] = {"outgoing": {}} if author == "1" else {"incoming": {"read": True}}
    sent = str(1_769_936_400_000 + second * 1000)
    item = {"chatId": "10", "authorId": author, "dateSent": sent, "standardMessage": {"text": {"body": body}}}
    return {"chatItem": {**item, **way, **more}}


def smses(*messages: str) -> str:
    """A backup of SMS Backup & Restore."""
    content = "\n  ".join(messages)
    return f"<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>\n<smses count=\"2\">\n  {content}\n</smses>\n"


def sms(second: int, kind: int, body: str, **more: str) -> str:
    """A short message with Mila in February 2026; kind 1 was received, 2 was sent."""
    given = {"address": "+49 170 1234567", "date": str(1_769_936_400_000 + second * 1000), "contact_name": "Mila"}
    named = {**given, "type": str(kind), "body": body, **more}
    return f"<sms {' '.join(f'{name}={quoteattr(value)}' for name, value in named.items())} />"


# Google's, Skype's, Copilot's and Apple's


def gemini_record(second: int, title: str, *html: str, **more: Any) -> dict[str, Any]:
    """A record of My Activity."""
    return {
        "header": "Gemini Apps", "title": title, "time": f"2026-02-01T09:00:0{second}.500Z", "products": ["x"],
        "safeHtmlItem": [{"html": one} for one in html], **more,
    }  # fmt: skip


def google_message(identity: str, who: str, text: str, **more: Any) -> dict[str, Any]:
    """A message of Google Chat in February 2026; ``identity`` is "topic/message"."""
    name = who.partition("@")[0].capitalize()
    return {
        "creator": {"name": name, "email": who, "user_type": "Human"}, "text": text,
        "created_date": f"Sunday, February 1, 2026 at 9:00:0{identity[-1]}\u202fAM UTC", "topic_id": identity[0],
        "message_id": f"room/{identity}", **more,
    }  # fmt: skip


def skype_message(identity: int, who: str, content: str, **more: Any) -> dict[str, Any]:
    """A message of Skype in February 2026."""
    return {
        "id": str(identity), "originalarrivaltime": f"2026-02-01T09:00:0{identity % 10}.5Z", "messagetype": "RichText",
        "content": content, "from": f"8:{who}", "displayName": None, "properties": None, **more,
    }  # fmt: skip


def skype(*newest_first: dict[str, Any], **more: Any) -> dict[str, Any]:
    """An export of Jo with one conversation, with Mila."""
    talk = {"id": "8:mila", "displayName": "Mila", "MessageList": list(newest_first), **more}
    return {"userId": "8:jo", "exportDate": "2026-02-02T10:00", "conversations": [talk]}


# Other memories


def letta_message(second: int, role: str, text: str, **more: Any) -> dict[str, Any]:
    """A message of an agent, in February 2026."""
    content = [{"type": "text", "text": text}]
    return {"role": role, "content": content, "created_at": f"2026-02-01T10:00:0{second}+00:00", **more}


def letta_agent(*messages: dict[str, Any], **block: Any) -> dict[str, Any]:
    """An agent file with an agent and a memory block."""
    blocks = [{"id": "block-0", "label": "human", **block}] if block else []
    agent = {"id": "agent-0", "name": "Sam", "messages": list(messages), "block_ids": ["block-0"]}
    return {"agents": [agent], "blocks": blocks, "tools": [], "groups": []}


# Mail


def mail(body: str, **headers: str) -> str:
    """A mail of Mila to Jo; ``message_id`` stands for Message-ID."""
    named = {"From": "Mila <mila@example.org>", "To": "jo@example.org", "Date": "Sun, 01 Feb 2026 10:00:00 +0100"}
    named |= {name.replace("_", "-").title(): value for name, value in headers.items()}
    return "".join(f"{name}: {value}\n" for name, value in named.items() if value) + f"\n{body}\n"


def mailbox(*mails: str) -> str:
    """A mailbox."""
    return "".join(f"From x@example.org Sun Feb  1 09:00:00 2026\n{one}\n" for one in mails)


EXPORTS: dict[str, Mapping[str, object]] = {
    "telegram": {
        "result.json": telegram_chat(
            telegram_message(1, "Mila/user7", "The key is under the mat."), telegram_message(2, "Jo/user9", "Thanks!")
        )
    },
    "slack": slack(
        slack_message("1769936400.000100", "U1", "The key is under the mat."),
        slack_message("1769936401.000200", "U2", "Thanks, <@U1>!"),
    ),
    "chatgpt": {
        "conversations.json": [
            chatgpt_talk(
                chatgpt_node("a1", "root", "user", "Where do otters sleep?", 1_769_936_400.5),
                chatgpt_node("a2", "a1", "assistant", "In holts.", 1_769_936_402.0),
            )
        ]
    },
    "claude": {
        "conversations.json": [
            claude_talk(
                claude_message("m1", "human", "Where do otters sleep?"), claude_message("m2", "assistant", "In holts.")
            )
        ]
    },
    "discord": {
        "Pond - keys [70].json": discord_channel(
            discord_message("1", "mila/71", "The key is under the mat."), discord_message("2", "Jo/72", "Thanks!")
        )
    },
    "mail": {
        "all.mbox": mailbox(
            mail("The key is under the mat.", message_id="<1@x>", subject="Keys"),
            mail(
                "Thanks!", **{"from": "Jo <jo@example.org>"}, references="<1@x>", message_id="<2@x>", subject="Re: Keys"
            ),
        )
    },
    "gemini": {"MyActivity.json": [gemini_record(1, "Prompted Where do otters sleep?", "<p>In <b>holts</b>.</p>")]},
    "google-chat": {
        "messages.json": {
            "messages": [
                google_message("1/1", "mila@example.org", "The key is under the mat."),
                google_message("2/2", "jo@example.org", "Thanks!"),
            ]
        }
    },
    "skype": {
        "messages.json": skype(skype_message(2, "jo", "Thanks!"), skype_message(1, "mila", "The key is under the mat."))
    },
    "copilot": {
        "copilot-activity-history.csv": "Conversation,Time,Author,Message\r\n"
        "Otters,2026-02-01T10:00:01,AI,In holts.\r\nOtters,2026-02-01T10:00:01,Human,Where do otters sleep?\r\n"
    },
    "imessage": {
        "Mila.txt": "Feb 01, 2026 10:00:01 AM\nMila\nThe key is under the mat.\n\n"
        "Feb 01, 2026 10:00:02 AM (Read by them after 1 second)\nMe\nThanks!\n\n"
    },
    "mem0": {
        "memories.json": {
            "results": [
                {
                    "id": "1",
                    "memory": "Keeps the key under the mat",
                    "created_at": "2026-02-01T10:00:01Z",
                    "user_id": "jo",
                },
                {"id": "2", "memory": "Likes otters", "created_at": "2026-02-01T10:00:02Z", "user_id": "jo"},
            ]
        }
    },
    "letta": {
        "sam.af": letta_agent(
            letta_message(1, "user", "Where do otters sleep?"), letta_message(2, "assistant", "In holts.")
        )
    },
    "graphiti": {
        "episodes.json": [
            {
                "uuid": "1",
                "name": "talk",
                "content": "Mila: The key is under the mat.\nJo: Thanks!",
                "group_id": "g",
                "source": "message",
                "created_at": "2026-02-01T10:00:01Z",
                "valid_at": "2026-02-01T10:00:00Z",
            }
        ]
    },
    "signal": {
        "main.jsonl": lines(
            *SIGNAL_PEOPLE, signal_item(1, "2", "The key is under the mat."), signal_item(2, "1", "Thanks!")
        )
    },
    "sms": {"sms-20260201.xml": smses(sms(1, 1, "The key is under the mat."), sms(2, 2, "Thanks!"))},
    "transcript": {
        "2026-02-01 10.00.srt": "1\n00:00:01,000 --> 00:00:03,000\nMila: The key is under the mat.\n\n"
        "2\n00:00:34,000 --> 00:00:35,500\nJo: Thanks!\n"
    },
    "whatsapp": {"WhatsApp Chat with Mila.txt": WHATSAPP},
    "jsonl": {"talk.jsonl": '{"id": "1", "text": "The key is under the mat."}\n{"id": "2", "text": "Thanks!"}\n'},
    "role-content": {
        "talk.json": {"messages": [{"role": "user", "content": "Where?"}, {"role": "assistant", "content": "There."}]}
    },
}
"""The files of an export of each kind, with two messages each."""

WORDS = {"start": 1.0, "end": 2.0, "text": "The key is under the mat."}
VARIANTS: dict[str, tuple[str, Mapping[str, object]]] = {
    "a mail": ("mail", {"keys.eml": mail("The key.", message_id="<1@x>", subject="Keys")}),
    "a mail with its way": (
        "mail", {"keys.eml": "Return-Path: <x@x>\nReceived: from a\n by b; x\n" + mail("The key.", message_id="<1@x>")},
    ),
    "Gemini's page": (
        "gemini",
        {
            "MyActivity.html": "<html><head><title>My Activity History</title></head><body><div>"
            '<div class="outer-cell"><p class="mdl-typography--title">Gemini Apps<br></p><div class="content-cell">'
            "Prompted Where?<br>Feb 1, 2026, 10:00:00 AM UTC<br><p>There.</p></div></div></div></body></html>"
        },
    ),
    "memories of ChatGPT": (
        "chatgpt", {"memories.json": {"memories": [{"id": "m1", "content": "Sails.", "created_timestamp": 1.0}]}},
    ),
    "subtitles of the web": ("transcript", {"a.vtt": "\ufeffWEBVTT\n\n00:01.000 --> 00:02.000\n<v Mila>The key.\n"}),
    "WhisperX": ("transcript", {"a.json": {"segments": [WORDS | {"speaker": "SPEAKER_00"}], "language": "en"}}),
    "a list of segments": ("transcript", {"a.json": [WORDS]}),
    "Discord's data package": (
        "discord",
        {
            "messages/c1/channel.json": {"id": "1", "type": 0},
            "messages/c1/messages.json": [{"ID": 7, "Timestamp": "2026-02-01 10:00:00", "Contents": "x"}],
        },
    ),
    "sigtop": (
        "signal",
        {"Mila.json": [{"id": "1", "conversationId": "c", "type": "incoming", "body": "x", "sent_at": 1}]},
    ),
    "signal-export": (
        "signal",
        {
            "data.json": lines(
                {
                    "date": "2026-02-01T10:00:00", "sender": "Mila", "body": "x", "quote": "", "sticker": None,
                    "reactions": [], "attachments": [],
                }
            )
        },
    ),
    "signal-cli": (
        "signal",
        {"log.jsonl": lines({"envelope": {"source": "+49170", "timestamp": 1, "dataMessage": {"message": "x"}}})},
    ),
    "all chats of Telegram": (
        "telegram", {"result.json": {"personal_information": {"user_id": 9}, "chats": {"list": [telegram_chat()]}}},
    ),
    "WhatsApp on an iPhone": ("whatsapp", {"_chat.txt": "\u200e[13.02.26, 10:00:01] Mila: The key.\n"}),
    "Claude's memories": ("claude", {"memories.json": [{"conversations_memory": "x", "project_memories": {}}]}),
    "Claude's projects": ("claude", {"projects.json": [{"uuid": "p", "prompt_template": "y", "docs": []}]}),
    "OpenMemory": (
        "mem0", {"memories.json": {"memories": [{"id": "1", "content": "x", "state": "active", "created_at": 1}]}},
    ),
    "a list of memories": ("mem0", {"a.json": [{"id": "1", "memory": "x"}]}),
    "an older agent file": ("letta", {"a.af": {"agent_type": "x", "core_memory": [], "messages": [], "tools": []}}),
    "Zep": (
        "graphiti",
        {"a.json": [{"uuid": "1", "content": "x", "created_at": "2026-02-01T10:00:00Z", "role_type": "user"}]},
    ),
    "a list of messages": ("role-content", {"a.json": [{"role": "user", "content": "x", "created_at": "2026-02-01"}]}),
    "chat JSONL without a name": ("jsonl", {"talk": '{"text": "x", "speaker": "Mila"}\n'}),
}  # fmt: skip
"""Other forms that kinds read, each with the kind's name."""
