"""ChatGPT's ``conversations.json``: a list of conversations, each a tree of messages.

The path that ChatGPT shows, from the root to ``current_node``, is the conversation. Messages of other branches are kept
as traces in a conversation beside it, so that one that is shown later can still become a message. What the model
thought, called and was told is kept as traces, too, except what it saved as a memory. A picture is kept by its
reference, and by its prompt as caption if it was drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from memsvc.errors import BadFileError
from memsvc.sources.kinds.bundles import Bundle
from memsvc.sources.kinds.chatgpt_memories import Known, memories
from memsvc.sources.kinds.kind import NOT_MINE, Detection, Placed, Reading, compact
from memsvc.sources.kinds.trees import conversations, first_conversations, leaves, path_to
from memsvc.sources.messages import MAX_CAPTION_CHARS, MessageIn, Role

URL = "https://chatgpt.com/c/"
THOUGHTS = frozenset({"thoughts", "reasoning_recap"})
INSTRUCTIONS = frozenset({"user_editable_context", "model_editable_context"})
SPEAKERS = {"assistant": "ChatGPT"}
WORDS = ("title", "text", "result", "content", "url", "user_profile", "user_instructions", "model_set_context")
"""The fields of a content that have words, besides its parts and thoughts."""


class Author(msgspec.Struct):
    """Who wrote a message."""

    role: str
    name: str | None = None


class Message(msgspec.Struct):
    """A message; other fields are not read."""

    author: Author
    content: dict[str, Any] = {}
    id: str | None = None
    create_time: float | None = None
    recipient: str | None = None
    metadata: dict[str, Any] | None = None


class Node(msgspec.Struct):
    """A node of the tree."""

    message: Message | None = None
    parent: str | None = None


class Conversation(msgspec.Struct):
    """A conversation; other fields are not read."""

    mapping: dict[str, Node]
    conversation_id: str | None = None
    id: str | None = None
    title: str | None = None
    create_time: float | None = None
    current_node: str | None = None
    gizmo_id: str | None = None


class ChatGpt:
    """Exports of ChatGPT."""

    name = "chatgpt"
    title = "an export of ChatGPT"
    has_people = False
    is_export = True

    def detect(self, bundle: Bundle) -> Detection:
        """Look for the tree of messages, or the list of memories."""
        found = first_conversations(bundle)
        if any(isinstance(one.get("mapping"), dict) for one in found):
            return Detection(0.95, "the field mapping", bundle.files)
        if any(_is_memory_list(one) for one in found):
            return Detection(0.95, "the list of memories", bundle.files)
        return NOT_MINE

    def read(self, bundle: Bundle, reading: Reading) -> Iterator[Placed]:
        """Yield the messages, conversation by conversation, then what ChatGPT knows of the user."""
        if any(_is_memory_list(one) for one in first_conversations(bundle)):
            yield from memories(bundle, reading)
            return
        known = Known()
        for talk, where in conversations(bundle, Conversation):
            yield from _read(talk, reading, where, known)
        yield from known.placed(reading, bundle.shown(bundle.files[0]))


def _is_memory_list(one: dict[str, Any]) -> bool:
    return "memories" in one and any(
        isinstance(memory, dict) and {"content", "created_timestamp"} <= memory.keys()
        for memory in _list(one["memories"])
    )


def _read(talk: Conversation, reading: Reading, where: str, known: Known) -> Iterator[Placed]:
    key = talk.conversation_id or talk.id
    if not key:
        raise BadFileError(f"{where} has no id.")
    parents = {name: node.parent for name, node in talk.mapping.items()}
    shown = path_to(_leaf(talk, parents), parents, where) if parents else []
    time = talk.create_time
    for name in shown:
        message = talk.mapping[name].message
        if message is not None:
            time = message.create_time or time
            told = _dict(_dict(message.metadata).get("user_context_message_data"))
            known.note(message.content, told, time)
            yield from _placed(talk, name, f"chatgpt:{key}", time, (reading, where))
    for name, at in _hidden(talk, frozenset(shown)):
        for placed in _placed(talk, name, f"chatgpt:{key}:branches", at, (reading, where)):
            reading.odd["messages on branches that are not shown: kept as traces"] += 1
            yield placed._replace(is_trace=True, title=f"{talk.title or 'Untitled'} (other branches)")


def _hidden(talk: Conversation, shown: frozenset[str]) -> list[tuple[str, float | None]]:
    """Return the messages of other branches with their times, the oldest first."""
    found = [
        (name, node.message.create_time or talk.create_time)
        for name, node in talk.mapping.items()
        if node.message is not None and name not in shown
    ]
    return sorted(found, key=lambda one: one[1] or 0.0)


def _placed(
    talk: Conversation, name: str, conversation: str, time: float | None, at: tuple[Reading, str]
) -> Iterator[Placed]:
    """Yield the message of a node, if it has words."""
    reading, where = at
    message = talk.mapping[name].message
    if message is None:
        return
    text, caption, pictures = _words(message)
    if not text.strip() and not caption:
        if pictures:
            reading.odd["messages without words"] += 1
        return
    place = f"{where}, message {message.id or name}"
    if time is None:
        raise BadFileError(f"{place} has no time, and its conversation neither.")
    role = _role(message, place)
    said = MessageIn(
        conversation=conversation,
        text=text,
        caption=caption,
        speaker=SPEAKERS.get(role, ""),
        role=role,
        id=message.id or name,
        said_at=reading.clock(time, place),
    )
    origin = compact(
        id=message.id or name, url=f"{URL}{talk.conversation_id or talk.id}", project=_project(talk),
        pictures=pictures, files=_files(message), memory=_is_memory(message) and "saved",
    )  # fmt: skip
    yield Placed(place, said, origin, talk.title or "")


def _is_memory(message: Message) -> bool:
    """Whether ChatGPT saves a memory with this message."""
    return message.author.role == "assistant" and message.recipient == "bio"


def _project(talk: Conversation) -> str | None:
    """Return the project of a conversation; other "gizmos" are assistants that somebody made."""
    return talk.gizmo_id if talk.gizmo_id is not None and talk.gizmo_id.startswith("g-p-") else None


def _leaf(talk: Conversation, parents: dict[str, str | None]) -> str:
    """Return the last message that is shown: the current one, else the newest of those that nothing follows."""
    if talk.current_node in parents:
        return talk.current_node or ""
    ends = leaves(parents) or list(parents)[-1:]
    return max(ends, key=lambda name: getattr(talk.mapping[name].message, "create_time", None) or 0.0)


def _role(message: Message, where: str) -> Role:
    role, form = message.author.role, _string(message.content.get("content_type"))
    metadata = message.metadata or {}
    if form in THOUGHTS:
        return "thinking"
    if form in INSTRUCTIONS or role == "system" or metadata.get("is_visually_hidden_from_conversation") is True:
        return "system"
    if role == "tool" or (role == "assistant" and message.recipient not in {None, "all", "bio"}):
        return "tool"
    if role == "assistant":
        return "assistant"
    if role == "user":
        return "user"
    raise BadFileError(f"{where}: the role {role[:60]!r} is not one of user, assistant, system and tool.")


def _words(message: Message) -> tuple[str, str | None, list[str]]:
    """Return the text, the caption of drawn pictures, and the references of pictures."""
    content = message.content
    texts: list[str] = []
    prompts: list[str] = []
    pictures: list[str] = []
    for part in _list(content.get("parts")):
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict):
            texts.append(_string(part.get("text")))
            if isinstance(part.get("asset_pointer"), str) and part.get("content_type") == "image_asset_pointer":
                pictures.append(part["asset_pointer"])
                drawn = _dict(_dict(part.get("metadata")).get("dalle"))
                prompts.append(_string(drawn.get("prompt")))
    texts += [_string(content[name]) for name in WORDS if name in content]
    for thought in _list(content.get("thoughts")):
        texts += [_string(_dict(thought).get("summary")), _string(_dict(thought).get("content"))]
    told = _dict(_dict(message.metadata).get("user_context_message_data"))
    texts += [_string(told.get("about_user_message")), _string(told.get("about_model_message"))]
    caption = "\n".join(prompt for prompt in prompts if prompt)[:MAX_CAPTION_CHARS]
    return "\n".join(text for text in texts if text.strip()), caption or None, pictures


def _files(message: Message) -> list[str]:
    attached = _list(_dict(message.metadata).get("attachments"))
    return [name for one in attached if (name := _string(_dict(one).get("name")))]


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
