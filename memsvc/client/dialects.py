"""How the APIs of chat models put what is said: where the messages are, where a block goes, what is an answer.

A dialect reads the arguments of a client's ``create`` and what it gives back. The clients' packages are not imported:
messages may be mappings or objects, and what a server leaves out counts as empty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from memsvc.text.characters import trimmed

INSTRUCTING = ("system", "developer")
FILTERED = frozenset({"content_filter", "refusal"})
TEXTS = frozenset({"text", "input_text", "output_text"})
THOUGHTS = frozenset({"thinking", "redacted_thinking", "reasoning"})
PAUSED = "pause_turn"


class Said(NamedTuple):
    """A message of a request."""

    role: Any
    words: str
    """Its text; empty: none."""
    acts: bool
    """Whether it calls tools, or has the result of a call, or parts without text."""


class Heard:
    """What the model said so far."""

    def __init__(self, read: Callable[[Heard, Any], None]) -> None:
        """``read`` reads a whole answer, or a piece of a stream."""
        self._read = read
        self._words: list[str] = []
        self._answers = True

    def hear(self, given: Any) -> None:
        """Read a whole answer, or the next piece of one."""
        self._read(self, given)

    def say(self, words: Any) -> None:
        """Take words of the answer."""
        if isinstance(words, str):
            self._words.append(words)

    def unless(self, *signs: Any) -> None:
        """Any of these signs says that it is no answer: a call of a tool, or a filter's veto."""
        if any(signs):
            self._answers = False

    @property
    def answer(self) -> str:
        """The whole text; empty: it is not an answer."""
        return "".join(self._words) if self._answers else ""


@dataclass(frozen=True, slots=True)
class Dialect:
    """An API."""

    messages: str
    """The argument with the messages."""
    said: Callable[[Any], Said]
    """Reads a message."""
    with_block: Callable[[Mapping[str, Any], str], dict[str, Any]]
    """Returns the arguments with a block of memory."""
    read: Callable[[Heard, Any], None]
    """Reads an answer, or a piece of a stream."""

    def listed(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments with messages that can be read more than once."""
        given = options.get(self.messages)
        if isinstance(given, Iterable) and not isinstance(given, (str, list)):
            return {**options, self.messages: list(given)}
        return dict(options)

    def all_said(self, options: Mapping[str, Any]) -> list[Said]:
        """Return what is said in a request. A text alone is the user's."""
        given = options.get(self.messages)
        if isinstance(given, str):
            return [Said("user", trimmed(given), acts=False)]
        return [self.said(one) for one in given] if isinstance(given, list) else []


def field(given: Any, name: str) -> Any:
    """Return a field of a message or a part, which may be a mapping or an object; None: it has no such field."""
    try:
        return given.get(name) if isinstance(given, Mapping) else getattr(given, name, None)
    except Exception:  # noqa: BLE001 - the chat goes on after any error
        return None


def _words(content: Any) -> str:
    """Return the text of a message's content, which is a text or a list of parts."""
    if isinstance(content, (list, tuple)):
        texts = [field(part, "text") for part in content if field(part, "type") in TEXTS]
        content = "\n".join(text for text in texts if isinstance(text, str))
    return trimmed(content) if isinstance(content, str) else ""


def _other_parts(content: Any) -> bool:
    """Whether a content has other parts than texts and thoughts."""
    parts = [field(part, "type") for part in content] if isinstance(content, (list, tuple)) else []
    return any(part not in TEXTS | THOUGHTS for part in parts)


def _chat_message(message: Any) -> Said:
    """A message of chat completions."""
    content = field(message, "content")
    names = ("tool_calls", "function_call", "tool_call_id")
    acts = any(field(message, name) for name in names) or _other_parts(content)
    return Said(field(message, "role"), _words(content), acts)


def _beside_system(options: Mapping[str, Any], block: str) -> dict[str, Any]:
    """The block becomes a system message after the caller's own at the start."""
    sent: Sequence[Any] = options["messages"]
    roles = [field(message, "role") for message in sent]
    index = next((n for n, role in enumerate(roles) if role not in INSTRUCTING), len(sent))
    return {**options, "messages": [*sent[:index], {"role": "system", "content": block}, *sent[index:]]}


def _completion(heard: Heard, given: Any) -> None:
    """The first choice of a completion, or of a chunk of its stream."""
    for choice in [one for one in field(given, "choices") or () if not field(one, "index")][:1]:
        said = field(choice, "message") or field(choice, "delta")
        heard.say(field(said, "content"))
        heard.unless(
            field(choice, "finish_reason") in FILTERED, field(said, "tool_calls"), field(said, "function_call")
        )  # fmt: skip


def _item(item: Any) -> Said:
    """An item of the Responses API: a message, a call of a tool, its result, or a thought."""
    kind = field(item, "type") or "message"
    if kind == "message":
        content = field(item, "content")
        return Said(field(item, "role"), _words(content), _other_parts(content))
    is_result = isinstance(kind, str) and kind.endswith("_output")
    return Said("tool" if is_result else "assistant", "", acts=kind not in THOUGHTS)


def _in_instructions(options: Mapping[str, Any], block: str) -> dict[str, Any]:
    """The block becomes the end of the instructions, which a server does not keep for the next response."""
    own = options.get("instructions")
    return {**options, "instructions": f"{own}\n\n{block}" if isinstance(own, str) and own else block}


def _response(heard: Heard, given: Any) -> None:
    """A response, or an event of its stream."""
    match field(given, "type"):
        case None:
            for item in field(given, "output") or ():
                _output(heard, item, whole=True)
            heard.unless(field(field(given, "incomplete_details"), "reason") in FILTERED)
        case "response.output_text.delta":
            heard.say(field(given, "delta"))
        case "response.output_item.done":
            _output(heard, field(given, "item"), whole=False)
        case "response.incomplete":
            heard.unless(field(field(field(given, "response"), "incomplete_details"), "reason") in FILTERED)
        case _:
            pass


def _output(heard: Heard, item: Any, *, whole: bool) -> None:
    kind = field(item, "type")
    heard.unless(isinstance(kind, str) and kind.endswith(("_call", "_request")) and not field(item, "output"))
    if whole and kind == "message":
        heard.say(_words(field(item, "content")))


def _turn(message: Any) -> Said:
    """A message of Anthropic's API."""
    content = field(message, "content")
    return Said(field(message, "role"), _words(content), _other_parts(content))


def _in_system(options: Mapping[str, Any], block: str) -> dict[str, Any]:
    """The block becomes the end of the system text."""
    own = options.get("system")
    if isinstance(own, str) and own:
        return {**options, "system": f"{own}\n\n{block}"}
    parts = list(own) if isinstance(own, (list, tuple)) else []
    return {**options, "system": [*parts, {"type": "text", "text": block}]}


def _message(heard: Heard, given: Any) -> None:
    """A message of Anthropic's API, or an event of its stream."""
    match field(given, "type"):
        case "message":
            for block in field(given, "content") or ():
                _block(heard, block)
            _stop(heard, given)
        case "content_block_start":
            _block(heard, field(given, "content_block"))
        case "content_block_delta":
            heard.say(field(field(given, "delta"), "text"))
        case "message_delta":
            _stop(heard, field(given, "delta"))
        case _:
            pass


def _block(heard: Heard, block: Any) -> None:
    heard.unless(field(block, "type") == "tool_use")
    heard.say(field(block, "text"))


def _stop(heard: Heard, given: Any) -> None:
    heard.unless(field(given, "stop_reason") in FILTERED | {PAUSED})


COMPLETIONS = Dialect("messages", _chat_message, _beside_system, _completion)
RESPONSES = Dialect("input", _item, _in_instructions, _response)
MESSAGES = Dialect("messages", _turn, _in_system, _message)
