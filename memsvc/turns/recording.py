"""Record what an agent's hook tells, or a whole turn, from the bytes that came."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.errors import InvalidRequestError, TurnConflictError
from memsvc.settings import Settings
from memsvc.turns.chat_turns import ChatTurn, anthropic_turns, chat_turns, response_turns
from memsvc.turns.hooks import SPEAKERS, OpenTurn, conversation_of, part_of
from memsvc.turns.storing import StoredTurn, TurnIn, record_turn

TRIES = 8
"""Hooks of calls that ran at once may take the same number."""


CHATS: Mapping[str, Callable[[Iterable[Mapping[str, Any]]], list[ChatTurn]]] = {
    "openai-chat": chat_turns,
    "openai-responses": response_turns,
    "anthropic-messages": anthropic_turns,
}
"""Chats that are read as turns, each with its converter."""


def check_source(source: str) -> None:
    """Refuse what memsvc cannot read.

    Raises:
        InvalidRequestError: neither an agent's hooks nor a chat has this name.
    """
    if source not in SPEAKERS and source not in CHATS:
        known = ", ".join([*SPEAKERS, *CHATS])
        raise InvalidRequestError(f"{source[:100]!r} is unknown.", hint=f"Known are {known}.", field="from")


async def record_chat(
    db: Database, owner: Owner, told: bytes, settings: Settings, *, source: str, conversation: str, agent: str = ""
) -> list[StoredTurn]:
    """Record the turns of a chat: its messages, or a request that has them. Repeating it changes nothing.

    Args:
        db: the database.
        owner: the owner of the memory.
        told: JSON.
        settings: limits.
        source: one of ``CHATS``.
        conversation: the name of the conversation.
        agent: which agent.

    Raises:
        InvalidRequestError: it is not JSON, or has no messages.
    """
    given = _decoded(told)
    messages = given.get("messages", given.get("input")) if isinstance(given, dict) else given
    if not isinstance(messages, list) or not all(isinstance(one, dict) for one in messages):
        raise InvalidRequestError(f"It has no messages of {source}.", hint="Give a list, or a request with it.")
    turns = CHATS[source](messages)
    return [
        await record_turn(
            db,
            owner,
            TurnIn(
                conversation=conversation,
                id=turn.id,
                request=turn.request,
                calls=turn.calls,
                answer=turn.answer,
                done=turn.answer is not None or nth < len(turns),
                agent=agent,
            ),
            settings,
        )
        for nth, turn in enumerate(turns, 1)
        if turn.asked_at
    ]


def _decoded(told: bytes) -> Any:
    try:
        return msgspec.json.decode(told)
    except (msgspec.DecodeError, RecursionError) as error:
        raise InvalidRequestError("Standard input is not JSON.", hint="Give the hook's input to it.") from error


async def record_hook(
    db: Database, owner: Owner, told: bytes, settings: Settings, *, agent: str = "", source: str | None = None
) -> StoredTurn | None:
    """Record what a hook tells; return None if nothing is to be stored.

    Args:
        db: the database.
        owner: the owner of the memory.
        told: the hook's JSON, or a turn as ``POST /v1/turns`` takes it.
        settings: limits.
        agent: which agent; default: ``source``.
        source: whose hook it is, one of ``SPEAKERS``; None: that is recognised.

    Raises:
        InvalidRequestError: it is not JSON, or neither a turn nor what a known agent, or this one, tells.
        TurnConflictError: other hooks took the number of each try.
    """
    event = _decoded(told)
    if not isinstance(event, dict):
        raise InvalidRequestError("Standard input is no JSON object.", hint="Give the hook's input to it.")
    if source is not None and not any(isinstance(event.get(name), str) for name in SPEAKERS[source]):
        raise InvalidRequestError(f"It is nothing that {source} tells its hooks.", hint="docs/turns.md lists them.")
    if "request" in event:
        try:
            turn = msgspec.convert(event, TurnIn)
        except msgspec.ValidationError as error:
            raise InvalidRequestError(f"It is no turn: {error}.") from error
        return await record_turn(db, owner, turn, settings)
    conversation = conversation_of(event)
    if conversation is None:
        raise InvalidRequestError(
            "It is no turn, and no hook of an agent that memsvc knows.", hint="docs/turns.md lists them."
        )
    for nth in range(TRIES):
        asked = {"user_id": owner.user_id, "conversation": conversation}
        async with db.transaction(owner.user_id) as connection:
            found = (await connection.execute(query("open_turn"), asked)).first()
        part = part_of(event, OpenTurn(found.session, found.calls) if found else None, agent or source or "")
        if part is None:
            return None
        try:
            return await record_turn(db, owner, part, settings)
        except TurnConflictError:
            if nth == TRIES - 1 or not part.calls:
                raise
    return None
