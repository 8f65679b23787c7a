"""Claude's ``conversations.json``: a list of conversations with ``chat_messages``. ``claude_notes`` reads other files.

A message has its text as a field, or as blocks of content; blocks that think or call tools become traces. The text of
an attachment is a message of its own, whose speaker is the file. Where messages name their parents and branch, the path
to the last message is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from memsvc.errors import BadFileError
from memsvc.sources.kinds.bundles import Bundle
from memsvc.sources.kinds.claude_notes import MEMORY, PROJECT, memories, projects
from memsvc.sources.kinds.kind import NOT_MINE, Detection, Placed, Reading, compact
from memsvc.sources.kinds.trees import conversations, first_conversations, path_to
from memsvc.sources.messages import MessageIn, Role
from memsvc.text.characters import is_visible

MESSAGES = "chat_messages"
URL = "https://claude.ai/chat/"
ROLES: dict[str, Role] = {"human": "user", "user": "user", "assistant": "assistant"}
LONGEST_NAME = 200


class Block(msgspec.Struct):
    """A block of content; other fields are not read."""

    type: str = "text"
    text: str | None = None
    thinking: str | None = None
    name: str | None = None
    input: Any = None
    content: Any = None


class Attachment(msgspec.Struct):
    """An attached file whose text Claude has read."""

    file_name: str | None = None
    extracted_content: str | None = None


class File(msgspec.Struct):
    """An attached file."""

    file_name: str | None = None


class Message(msgspec.Struct):
    """A message; other fields are not read."""

    uuid: str
    sender: str
    created_at: str
    text: str | None = None
    content: list[Block] | None = None
    attachments: list[Attachment] | None = None
    files: list[File] | None = None
    parent_message_uuid: str | None = None


class Conversation(msgspec.Struct):
    """A conversation; other fields are not read."""

    uuid: str
    chat_messages: list[Message]
    name: str | None = None
    current_leaf_message_uuid: str | None = None


class Claude:
    """Exports of Claude."""

    name = "claude"
    title = "an export of Claude"
    has_people = False
    is_export = True

    def detect(self, bundle: Bundle) -> Detection:
        """Look for the messages of a conversation, for memories or for projects."""
        form = _form(bundle)
        return NOT_MINE if form is None else Detection(0.95, f"the field {form}", bundle.files)

    def read(self, bundle: Bundle, reading: Reading) -> Iterator[Placed]:
        """Yield the messages, conversation by conversation, as the file has them."""
        form = _form(bundle)
        if form is not None and form != MESSAGES:
            yield from (memories if form == MEMORY else projects)(bundle, reading)
            return
        for talk, where in conversations(bundle, Conversation):
            for message in _shown(talk, reading, where):
                yield from _placed(talk, message, reading, f"{where}, message {message.uuid}")


def _form(bundle: Bundle) -> str | None:
    """Return the field by which a file is recognised; None if it is none of Claude's."""
    for one in first_conversations(bundle):
        if MESSAGES in one or MEMORY in one:
            return MESSAGES if MESSAGES in one else MEMORY
        if one.keys() >= PROJECT:
            return "prompt_template"
    return None


def _shown(talk: Conversation, reading: Reading, where: str) -> list[Message]:
    """Return the messages that Claude shows: all, or those on the path to the last one."""
    messages = {message.uuid: message for message in talk.chat_messages}
    parents = {key: message.parent_message_uuid for key, message in messages.items()}
    inner = [parent for parent in parents.values() if parent in messages]
    if not messages or (len(set(inner)) == len(inner) < len(messages)):  # nothing branches, or no parents are named
        return talk.chat_messages
    leaf = talk.current_leaf_message_uuid
    path = path_to(leaf if leaf in messages else talk.chat_messages[-1].uuid, parents, where)
    reading.odd["messages on branches that are not shown"] += len(messages) - len(path)
    return [messages[key] for key in path]


def _placed(talk: Conversation, message: Message, reading: Reading, where: str) -> Iterator[Placed]:
    """Yield a message with what belongs to it: thoughts and tools before it, attachments after it."""
    role = ROLES.get(message.sender)
    if role is None:
        raise BadFileError(f"{where}: the sender {message.sender[:60]!r} is not one of {', '.join(ROLES)}.")
    blocks = message.content or []
    text = "\n\n".join(block.text for block in blocks if block.type == "text" and block.text) or message.text or ""
    thoughts = "\n\n".join(block.thinking for block in blocks if block.thinking)
    tools = "\n".join(_tool(block) for block in blocks if block.type in {"tool_use", "tool_result"})
    named = [one.file_name for one in message.files or []] + [one.file_name for one in message.attachments or []]
    files = [name for name in named if name]
    said: list[tuple[str, Role, str, str]] = [
        (f"{message.uuid}:thinking", "thinking", "Claude", thoughts),
        (f"{message.uuid}:tools", "tool", "Claude", tools),
        (message.uuid, role, "Claude" if role == "assistant" else "", text),
    ]
    for number, one in enumerate(message.attachments or []):
        name = (one.file_name or "an attachment")[:LONGEST_NAME]
        said.append((f"{message.uuid}:attachment:{number}", "other", name, one.extracted_content or ""))
    if not any(is_visible(words) for *_, words in said):
        reading.odd["messages without words"] += 1
    for identity, as_role, speaker, words in said:
        if is_visible(words):
            origin = compact(id=message.uuid, url=f"{URL}{talk.uuid}", files=files)
            yield Placed(
                where,
                MessageIn(
                    conversation=f"claude:{talk.uuid}",
                    text=words,
                    speaker=speaker,
                    role=as_role,
                    id=identity,
                    said_at=message.created_at,
                ),
                origin,
                talk.name or "",
            )


def _tool(block: Block) -> str:
    """Return a call of a tool, or its result, as text."""
    if block.type == "tool_use":
        return f"{block.name or 'a tool'}: {msgspec.json.encode(block.input).decode()}"
    parts = block.content if isinstance(block.content, list) else [block.content]
    texts = [part.get("text") if isinstance(part, dict) else part for part in parts]
    return "\n".join(text for text in texts if isinstance(text, str))
