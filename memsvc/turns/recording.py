"""Record what an agent's hook tells, or a whole turn, from the bytes that came."""

from __future__ import annotations

import msgspec

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.errors import InvalidRequestError, TurnConflictError
from memsvc.settings import Settings
from memsvc.turns.hooks import OpenTurn, conversation_of, part_of
from memsvc.turns.storing import StoredTurn, TurnIn, record_turn

TRIES = 8
"""Hooks of calls that ran at once may take the same number."""


async def record_hook(
    db: Database, owner: Owner, told: bytes, settings: Settings, *, agent: str = ""
) -> StoredTurn | None:
    """Record what a hook tells; return None if nothing is to be stored.

    Args:
        db: the database.
        owner: the owner of the memory.
        told: the hook's JSON, or a turn as ``POST /v1/turns`` takes it.
        settings: limits.
        agent: which agent.

    Raises:
        InvalidRequestError: it is not JSON, or neither a turn nor what a known agent tells.
        TurnConflictError: other hooks took the number of each try.
    """
    try:
        event = msgspec.json.decode(told)
    except msgspec.DecodeError as error:
        raise InvalidRequestError("Standard input is not JSON.", hint="Give the hook's input to it.") from error
    if not isinstance(event, dict):
        raise InvalidRequestError("Standard input is no JSON object.", hint="Give the hook's input to it.")
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
        part = part_of(event, OpenTurn(found.session, found.calls) if found else None, agent)
        if part is None:
            return None
        try:
            return await record_turn(db, owner, part, settings)
        except TurnConflictError:
            if nth == TRIES - 1 or not part.calls:
                raise
    return None
