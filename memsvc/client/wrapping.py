"""Gives a client of a chat model memory: ``wrap(client, memory)``. The client still asks its own model server.

Before each chat, the user's message is stored, and memories that matter for it are added as one fenced block beside the
caller's own instructions. The model's answer is stored when it is complete. Everything else in the client stays as it
was, and a memory that fails or is slow costs no answer. The packages openai and anthropic are not imported; a client is
recognized by its methods (``memsvc.client.dialects``). docs/chat.md describes a service that does the same for clients
in any language.
"""

from __future__ import annotations

import functools
import hashlib
import json
import secrets
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar, overload

from memsvc.client.asynchronous import AsyncMemory
from memsvc.client.dialects import COMPLETIONS, MESSAGES, RESPONSES, Dialect, Heard, Said
from memsvc.client.memory import Memory
from memsvc.client.ordering import AsyncOrder, Order
from memsvc.client.streams import AsyncStream, Stream
from memsvc.text.characters import is_visible

Client = TypeVar("Client")
TALKING = ("user", "assistant")
SPEAKING = (*TALKING, "tool", "function")
DOORS = {("chat", "completions"): COMPLETIONS, ("responses",): RESPONSES, ("messages",): MESSAGES}
"""Where clients have a ``create``."""


@overload
def wrap(
    client: Client, memory: Memory, *, conversation: str = ..., budget_tokens: int = ..., memory_s: float = ...
) -> Client: ...
@overload
def wrap(
    client: Client, memory: AsyncMemory, *, conversation: str = ..., budget_tokens: int = ..., memory_s: float = ...
) -> Client: ...
def wrap(
    client: Any,
    memory: Memory | AsyncMemory,
    *,
    conversation: str = "chat",
    budget_tokens: int = 1_500,
    memory_s: float = 0.8,
) -> Any:
    """Return a client whose chats remember. The given client stays as it is.

    Of an OpenAI client, these are ``chat.completions.create`` and ``responses.create``; of an Anthropic client,
    ``messages.create``.

    A repeated call, for example after an error, stores nothing twice: the messages before it identify the user's
    message. If there are none, the same text counts as the same message until this client stores something else, such
    as the answer. After that it is a new message.

    Args:
        client: an ``OpenAI`` or ``Anthropic`` with a ``Memory``, or an ``AsyncOpenAI`` or ``AsyncAnthropic`` with an
            ``AsyncMemory``.
        memory: the memory of the user who chats.
        conversation: the identifier of the conversation.
        budget_tokens: the most tokens of memories for the model, 50 to 100,000.
        memory_s: the longest wait for memory, in seconds: once before the model is asked, and once after its answer.
            Then the chat goes on without memory. What was to be stored is stored in the background, an answer after
            the user's message. While 32 such calls are pending in the process, chats have no memory and store nothing.
    """
    wrapped = client.with_options()
    made = _remembering if isinstance(memory, Memory) else _awaiting
    for path, dialect in DOORS.items():
        door = wrapped
        for name in path:
            door = getattr(door, name, None)
        if door is not None:
            door.create = made(door.create, memory, _Chat(conversation, budget_tokens, memory_s, dialect))
    return wrapped


class _Chat(NamedTuple):
    """How a conversation is remembered."""

    conversation: str
    budget_tokens: int
    memory_s: float
    dialect: Dialect

    def with_block(self, options: dict[str, Any], block: str) -> dict[str, Any]:
        """Return the arguments of a request with the block; unchanged if there is none."""
        return self.dialect.with_block(options, block) if block else options


def _remembering(create: Callable[..., Any], memory: Any, chat: _Chat) -> Callable[..., Any]:
    order, ids, name, dialect = Order(), _Ids(chat.conversation), chat.conversation, chat.dialect

    def store(asked: _Asked, answer: str) -> None:
        if is_visible(answer):
            named = ids.answer(asked, answer)
            order.within(chat.memory_s, lambda: memory.responded(answer, name, message_id=named), after_said=True)

    def known(asked: _Asked) -> str:
        if not asked.text:
            return ""

        def enriched() -> Any:
            for text, named in asked.earlier:
                memory.add(text, name, id=named)
            return memory.enrich(
                asked.text, name, message_id=asked.id, budget_tokens=chat.budget_tokens, store=asked.new
            ).text

        return order.within(chat.memory_s, enriched, stores=asked.new) or ""

    @functools.wraps(create)
    def remembering(**given: Any) -> Any:
        options, heard = dialect.listed(given), Heard(dialect.read)
        asked = ids.asked(dialect.all_said(options))
        answer = create(**chat.with_block(options, known(asked)))
        if options.get("stream"):
            return Stream(answer, heard, functools.partial(store, asked))
        heard.hear(answer)
        store(asked, heard.answer)
        return answer

    return remembering


def _awaiting(create: Callable[..., Any], memory: Any, chat: _Chat) -> Callable[..., Any]:
    order, ids, name, dialect = AsyncOrder(), _Ids(chat.conversation), chat.conversation, chat.dialect

    async def store(asked: _Asked, answer: str) -> None:
        if is_visible(answer):
            named = ids.answer(asked, answer)
            await order.within(chat.memory_s, lambda: memory.responded(answer, name, message_id=named), after_said=True)

    async def known(asked: _Asked) -> str:
        if not asked.text:
            return ""

        async def enriched() -> Any:
            for text, named in asked.earlier:
                await memory.add(text, name, id=named)
            found = await memory.enrich(
                asked.text, name, message_id=asked.id, budget_tokens=chat.budget_tokens, store=asked.new
            )
            return found.text

        return await order.within(chat.memory_s, enriched, stores=asked.new) or ""

    @functools.wraps(create)
    async def remembering(**given: Any) -> Any:
        options, heard = dialect.listed(given), Heard(dialect.read)
        asked = ids.asked(dialect.all_said(options))
        answer = await create(**chat.with_block(options, await known(asked)))
        if options.get("stream"):
            return AsyncStream(answer, heard, functools.partial(store, asked))
        heard.hear(answer)
        await store(asked, heard.answer)
        return answer

    return remembering


class _Asked(NamedTuple):
    """What the user says."""

    text: str
    """The user's last text; empty: none."""
    new: bool
    """True: nobody has answered it yet."""
    id: str
    earlier: Sequence[tuple[str, str]]
    """Texts before it that nobody has answered yet either, with their ids."""


class _Ids:
    """Gives messages ids, so a message is stored once however often a call is repeated. ``wrap`` has the rule.

    The drop-in endpoint (``memsvc.chat.known``) has the same rule, but looks up what is stored.
    """

    def __init__(self, conversation: str) -> None:
        self._conversation = conversation
        self._last: dict[str, str] = {}
        """The ids of messages without history that were stored last; empty: that was an answer."""

    def asked(self, said: Sequence[Said]) -> _Asked:
        """Return what the user says after the last answer, with ids. An answer at the end is to be continued."""
        end = len(said)
        while end and (_is_answer(said[end - 1]) or not (said[end - 1][0] in SPEAKING and any(said[end - 1][1:]))):
            end -= 1
        begin = next((index for index in range(end, 0, -1) if _is_answer(said[index - 1])), 0)
        known, turns, new = self._last, list[tuple[Any, str]](), list[tuple[str, str]]()
        is_alone = not any(role == "user" and words for role, words, _ in said[:begin])
        if end > begin:
            self._last = {}
        for index, (role, words, _) in enumerate(said):
            if role not in TALKING or not words:
                continue
            turns.append((role, words))
            if role == "user" and begin <= index < end:
                name = f"wrap:{_digest(self._conversation, *turns)}"
                if is_alone:
                    self._last[name] = name = known.get(name) or f"{name}:{secrets.token_hex(4)}"
                new.append((words, name))
        if new:
            return _Asked(new[-1][0], new=True, id=new[-1][1], earlier=new[:-1])
        name = f"wrap:{_digest(self._conversation, *turns)}"
        if len(turns) < 2:  # noqa: PLR2004 - no history
            self._last[name] = name = known.get(name) or f"{name}:{secrets.token_hex(4)}"
        text = next((words for role, words in reversed(turns) if role == "user"), "")
        return _Asked(text, new=False, id=name, earlier=())

    def answer(self, asked: _Asked, words: str) -> str:
        """Return the id of an answer that is stored now. A repeated question may get a different answer."""
        self._last = {}
        return f"answer:{asked.id}:{_digest(words)[:12]}"


def _digest(*of: Any) -> str:
    return hashlib.sha256(json.dumps(of, default=str).encode()).hexdigest()[:40]


def _is_answer(said: Said) -> bool:
    return said.role == "assistant" and bool(said.words) and not said.acts
