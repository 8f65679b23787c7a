"""What memory reads of messages, their parts, calls of tools and results, whichever API they come by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from memsvc.chat.request import Trace, Utterance, anchored
from memsvc.text.characters import trimmed

TEXTS = frozenset({"text", "input_text", "output_text"})
"""Kinds of parts that are text."""
LONGEST_VALUE = 1_000
"""Longer values of a part, such as a picture's data, are not stored."""
SHOWN = 40
"""How many characters of such a value are stored."""
DEEPEST = 50
"""How many levels of a nested value are stored."""
Kept = tuple[Trace, bool]
"""A trace; True: something of it is left out."""


def kind_of(part: Mapping[str, Any]) -> str:
    """Return the kind of a part or an item; empty: it has none."""
    kind = part.get("type")
    return kind if isinstance(kind, str) else ""


def text_of(content: Any, kinds: frozenset[str] = TEXTS) -> str:
    """Return the text of a message's content, which is a text or a list of parts, without surrounding blanks."""
    if isinstance(content, str):
        return trimmed(content)
    written = [part.get("text") for part in _parts(content) if kind_of(part) in kinds]
    return trimmed("\n".join(text for text in written if isinstance(text, str)))


def message(at: int, role: str, content: Any, *, name: Any = None, calls: Sequence[Any] = ()) -> Utterance:
    """Return a message of a request.

    Args:
        at: its index in the request.
        role: who speaks.
        content: a text, or a list of parts.
        name: the speaker's name, if it is a text.
        calls: calls of tools that stand beside the content.
    """
    if role not in {"user", "assistant"}:
        return Utterance(at=at, role=role)
    text = text_of(content)
    rest = [part for part in _parts(content) if kind_of(part) not in TEXTS]
    acts = role == "assistant" and (bool(calls) or any(kind_of(part) == "tool_use" for part in rest))
    kept = [(Trace(role="thinking", text=text), False)] if acts and text else []
    kept += [call_trace(call) for call in calls]
    for part in rest:
        kept += _part(part)
    named = trimmed(name) if role == "user" and isinstance(name, str) else ""
    return _utterance(at, role, kept, text=text, name=named, calls=acts)


def item(at: int, kept: Iterable[Kept]) -> Utterance:
    """Return an item of a request that nobody says, such as a call of a tool."""
    return _utterance(at, "tool", list(kept))


def result(content: Any, call_id: Any, name: Any = None) -> list[Kept]:
    """Return the result of a tool as a trace; an empty one is none.

    Args:
        content: a text, a part or a list of parts.
        call_id: the id of the call, if it is a text.
        name: the tool's name, if it is a text.
    """
    parts = [content] if isinstance(content, dict) else _parts(content)
    others = [shortened(part) for part in parts if kind_of(part) not in TEXTS]
    texts = [text_of(parts if isinstance(content, dict) else content), *(text for text, _ in others)]
    if not (text := "\n".join(text for text in texts if text)):
        return []
    answers = {"tool_call_id": anchored(call_id)} if isinstance(call_id, str) else {}
    speaker = trimmed(name) if isinstance(name, str) else ""
    trace = Trace(role="tool", text=text, speaker=speaker, metadata=answers)
    return [(trace, any(less for _, less in others))]


def call_trace(call: Any) -> Kept:
    """Return a call of a tool as a trace. Its arguments are stored whole."""
    text, less = shortened(call, longest=None)
    return Trace(role="tool", text=text), less


def thought(text: str) -> list[Kept]:
    """Return what the assistant thought as a trace; an empty one is none."""
    return [(Trace(role="thinking", text=text), False)] if text else []


def shortened(value: Any, longest: int | None = LONGEST_VALUE) -> tuple[str, bool]:
    """Return a value as JSON; True: something of it is left out.

    Args:
        value: decoded JSON, nested at any depth.
        longest: the most characters of a text within it; None: any number.
    """
    left: list[bool] = []

    def short(value: Any, depth: int) -> Any:
        if isinstance(value, str) and longest is not None and len(value) > longest:
            left.append(True)
            return f"{value[:SHOWN]}… ({len(value):,} characters)"
        if isinstance(value, dict | list) and value and depth == 0:
            left.append(True)
            return "…"
        if isinstance(value, dict):
            return {name: short(inner, depth - 1) for name, inner in value.items()}
        if isinstance(value, list):
            return [short(inner, depth - 1) for inner in value]
        return value

    return msgspec.json.encode(short(value, DEEPEST)).decode(), bool(left)


def _part(part: Mapping[str, Any]) -> list[Kept]:
    match kind_of(part):
        case "tool_result":
            return result(part.get("content"), part.get("tool_use_id"))
        case "tool_use":
            return [call_trace(part)]
        case "thinking":
            words = part.get("thinking")
            return thought(trimmed(words) if isinstance(words, str) else "")
        case "redacted_thinking":
            return []
        case _:
            text, less = shortened(part)
            return [(Trace(role="system", text=text), less)]


def _parts(content: Any) -> list[Mapping[str, Any]]:
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []


def _utterance(at: int, role: str, kept: Sequence[Kept], **said: Any) -> Utterance:
    return Utterance(
        at=at, role=role, traces=[trace for trace, _ in kept], shortened=any(less for _, less in kept), **said
    )
