"""Letta's agent files (``.af``): an agent's messages, and its memory blocks.

Ids in the file are numbers that each export gives anew, so a message is known by its time and words. What the agent
thinks and calls is kept as traces; so are events, such as heartbeats, which Letta stores as messages of the user. A
memory block is an assistant's note.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from memsvc.sources.kinds.bundles import Bundle
from memsvc.sources.kinds.json_files import decode, decoded
from memsvc.sources.kinds.kind import NOT_MINE, Detection, Digests, Placed, Reading, compact
from memsvc.sources.messages import MessageIn, Role
from memsvc.text.characters import is_visible

SEND = "send_message"
"""The tool by which older agents speak to the user."""


class Message(msgspec.Struct):
    """A message; other fields are not read."""

    role: str
    content: Any = None
    text: str | None = None
    created_at: str | None = None
    tool_calls: list[dict[str, Any]] | None = None


class Block(msgspec.Struct):
    """A memory block; other fields are not read."""

    label: str
    value: str
    id: str | None = None
    updated_at: str | None = None
    created_at: str | None = None


class Agent(msgspec.Struct):
    """An agent; other fields are not read."""

    name: str = "agent"
    messages: list[msgspec.Raw] = []
    block_ids: list[str] = []
    core_memory: list[Block] = []


class Letta:
    """Agent files of Letta."""

    name = "letta"
    title = "an agent file of Letta"
    has_people = False
    is_export = True

    def detect(self, bundle: Bundle) -> Detection:
        """Look for agents with blocks, or for the core memory of the older form."""
        if (file := bundle.only) is None or not bundle.head(file).lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"{"):
            return NOT_MINE
        fields = bundle.document(file).fields.keys()
        is_mine = {"agents", "blocks", "tools"} <= fields or {"core_memory", "agent_type", "messages"} <= fields
        return Detection(0.95, "agents with blocks", (file,)) if is_mine else NOT_MINE

    def read(self, bundle: Bundle, reading: Reading) -> Iterator[Placed]:
        """Yield each agent's messages, and then its memory blocks."""
        shown, document = bundle.shown(bundle.files[0]), bundle.document(bundle.files[0])
        document.check()
        fields = document.fields
        blocks = decoded(fields.get("blocks", msgspec.Raw(b"[]")), list[Block], f"{shown}, blocks")
        if "agents" in fields:
            raws = decoded(fields["agents"], list[msgspec.Raw], f"{shown}, agents")
            places = [f"{shown}, agent {number}" for number in range(len(raws))]
        else:
            raws, places = [msgspec.Raw(document.text)], [shown]
        for raw, where in zip(raws, places, strict=True):
            agent: Agent = decoded(raw, Agent, where)
            own = agent.core_memory or [one for one in blocks if one.id in agent.block_ids]
            written = bundle.modified(bundle.files[0], reading.zone).isoformat()
            yield from _agent(agent, own, written, reading, where)


def _agent(agent: Agent, blocks: list[Block], written: str, reading: Reading, where: str) -> Iterator[Placed]:
    ids, last = Digests(), ""
    for index, raw in enumerate(agent.messages):
        place = f"{where}, message {index}"
        one: Message = decoded(raw, Message, place)
        last = one.created_at or last
        said = [(role, text) for role, text in _said(one) if is_visible(text)]
        if not said:
            reading.odd["messages without words"] += 1
        for role, text in said:
            time = one.created_at or last or written
            message = MessageIn(
                conversation=f"letta:{agent.name}"[:400],
                text=text,
                speaker="" if role in {"user", "system"} else agent.name[:200],
                role=role,
                id=ids.of(time, role, text),
                said_at=time,
            )
            yield Placed(place, message, {"message": index}, agent.name[:200])
    for block in blocks:
        if not is_visible(block.value):
            reading.odd["empty memory blocks"] += 1
            continue
        message = MessageIn(
            conversation=f"letta:{agent.name[:300]} (memory)",
            text=block.value.strip(),
            speaker=agent.name[:200],
            role="assistant",
            id=ids.of(block.label, block.value),
            said_at=block.updated_at or block.created_at or last or written,
        )
        yield Placed(f"{where}, block {block.label[:60]}", message, compact(block=block.label[:200]), agent.name[:200])


def _said(one: Message) -> Iterator[tuple[Role, str]]:
    """Yield what a message says, each with its role."""
    text = one.text or _text(one.content)
    if one.role == "user":
        yield _from_user(text)
    elif one.role == "assistant":
        calls = [_function(call) for call in one.tool_calls or []]
        yield ("thinking" if calls else "assistant", text)
        for name, given in calls:
            yield ("assistant", given) if name == SEND else ("tool", f"{name}: {given}")
    else:
        yield ("tool" if one.role in {"tool", "function", "approval"} else "system"), text


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str))


def _from_user(text: str) -> tuple[Role, str]:
    """Return the words of the user, whom Letta may quote in JSON; of an event, the JSON as a trace."""
    if not text.lstrip().startswith("{"):
        return "user", text
    try:
        event = decode(text.encode())
    except (msgspec.DecodeError, UnicodeEncodeError):
        return "user", text
    if not isinstance(event, dict) or not isinstance(event.get("type"), str):
        return "user", text
    if event["type"] == "user_message" and isinstance(event.get("message"), str):
        return "user", event["message"]
    return "system", text


def _function(call: Mapping[str, Any]) -> tuple[str, str]:
    """Return the name of a called tool and what it was given; of ``send_message``, its words."""
    function = call.get("function")
    if not isinstance(function, dict):
        return "a tool", ""
    name, given = str(function.get("name") or "a tool"), str(function.get("arguments") or "")
    if name == SEND:
        try:
            arguments = decode(given.encode())
        except (msgspec.DecodeError, UnicodeEncodeError):
            return name, given
        if isinstance(arguments, dict) and isinstance(arguments.get("message"), str):
            return name, arguments["message"]
    return name, given
