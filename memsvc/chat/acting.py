"""Records what an agent does in a chat as turns (``memsvc.turns``): request, calls of tools with their results, answer.

A client sends its calls with their results again with each request, so what is stored already is looked up and left
out. A turn's id is that of the user's last message in it, and the database knows a call by its id: nothing is stored
twice, also if the client shortens its history.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec
from sqlalchemy import Row

from memsvc.chat.hearing import Hearing
from memsvc.chat.keeping import Gathering, Talk
from memsvc.chat.request import ChatRequest, anchored
from memsvc.db.files import query
from memsvc.errors import TurnConflictError
from memsvc.turns.calls import CallIn, tool_name
from memsvc.turns.chat_turns import ChatTurn
from memsvc.turns.results import storable
from memsvc.turns.storing import MAX_CALLS, TurnIn, record_turn


@dataclass(slots=True)
class Acting:
    """The turns of one request: ``begin``, ask the chat server, ``end``."""

    talk: Talk
    request: ChatRequest
    gathering: Gathering
    _last: ChatTurn | None = None
    """The turn that goes on; None: it is not read yet, or no call of a tool is known in it."""
    _id: str = ""
    """The id under which that turn is stored; empty: it is not known to be stored."""

    @property
    def works(self) -> bool:
        """True: the request has calls or results of tools, so ``begin`` may store something."""
        return any(one.traces for one in self.request.unanswered)

    def goes_on(self, heard: Hearing) -> bool:
        """Whether ``end`` may store something."""
        return (heard.is_answer and self.works) or (heard.acts and bool(heard.called))

    async def begin(self) -> None:
        """Store the calls and results of the request; turns that the user has left for another request end.

        Raises:
            MemsvcError: they cannot be stored, because of the caller or the database.
        """
        await self._settled()
        turns = await asyncio.to_thread(self._read)
        for turn in turns[:-1]:
            if turn.calls:
                await self._record(turn, done=True)
        if turns and turns[-1].calls:
            self._last = await self._completed(turns[-1])
            if self._last is not None:
                self._id = await self._record(self._last, done=False)

    async def end(self, heard: Hearing) -> None:
        """Store the answer, which ends the turn, or the calls that the answer makes.

        Raises:
            MemsvcError: as ``begin``.
        """
        await self._settled()
        turn = self._last
        if turn is None and (turns := await asyncio.to_thread(self._read)):
            turn = await self._completed(turns[-1])
        if turn is None:
            return
        if heard.is_answer and turn.calls:
            text = heard.text
            answered = replace(turn, answer=f"{turn.answer}\n\n{text}" if turn.answer else text)
            await self._record(answered, done=True)
        elif heard.acts and heard.called:
            await self._record(replace(turn, calls=[*turn.calls, *heard.called]), done=False)

    async def _settled(self) -> None:
        if self.talk.doubt is not None:
            (await self.talk.doubt.settled()).require("write")

    def _read(self) -> list[ChatTurn]:
        return list(self.request.acts(self.request.begin))

    async def _completed(self, turn: ChatTurn) -> ChatTurn | None:
        """Return a turn with its calls; of one that the chat server keeps, the request has the results alone.

        None: its calls are not known.
        """
        if turn.asked_at:
            return turn
        db, owner = self.talk.db, self.talk.owner
        asked = {"conversation": self.talk.conversation, "ids": [call.id for call in turn.calls if call.id]}
        async with db.transaction(owner.user_id) as connection:
            rows = (await connection.execute(query("calls_waiting"), {"user_id": owner.user_id, **asked})).all()
        if not rows:
            return None
        self._id = rows[0].session
        told = {row.call_id: row for row in rows}
        calls = [
            msgspec.structs.replace(call, tool=told[call.id].tool, arguments=told[call.id].arguments, number=None)
            for call in turn.calls
            if call.id in told
        ]
        return replace(turn, calls=calls)

    async def _record(self, turn: ChatTurn, *, done: bool) -> str:
        """Store what is new of a turn; return its id.

        The user may have gone back and asked again: other calls under the id of the same message are another turn, and
        another answer to the same calls is not stored.
        """
        for name in [self._id] if self._id else self._names(turn):
            known = await self._known(name)
            new = [call for call in turn.calls if call.id is None or not _is_same(call, known.get(call.id))]
            try:
                for part in self._parts(name, turn, new, done=done):
                    await record_turn(
                        self.talk.db, self.talk.owner, part, self.talk.settings, chat=self._messages(turn)
                    )
            except TurnConflictError:
                if not new:
                    return name
                continue
            return name
        return ""

    def _names(self, turn: ChatTurn) -> Iterator[str]:
        yield (name := anchored(self._message_ids(turn)[-1]))
        yield f"{name}:{_digest(turn.calls[:1])}"
        yield f"{name}:{_digest(turn.calls, turn.answer)}"

    def _message_ids(self, turn: ChatTurn) -> list[str]:
        """Return the ids of the user's messages that are the request; of one that the server keeps, the request's."""
        told = (self.gathering.ids.get(self.request.begin + at) for at in turn.asked_at)
        return [one for one in told if one is not None] or [self.gathering.message_id]

    def _messages(self, turn: ChatTurn) -> list[str]:
        """Return what the ids of all messages of the chat have in common that say what the turn says."""
        ids = self._message_ids(turn)
        if not turn.asked_at:
            ids += self.gathering.anchors
        return sorted({*ids, *map(anchored, ids)})

    async def _known(self, name: str) -> Mapping[str, Row[Any]]:
        owner = self.talk.owner
        asked = {"user_id": owner.user_id, "conversation": self.talk.conversation, "session": name}
        async with self.talk.db.transaction(owner.user_id) as connection:
            rows = (await connection.execute(query("calls_known"), asked)).all()
        return {row.call_id: row for row in rows}

    def _parts(self, name: str, turn: ChatTurn, new: Sequence[CallIn], *, done: bool) -> Iterator[TurnIn]:
        longest = self.talk.settings.max_text_chars
        request = storable(turn.request)[:longest] if turn.asked_at else None
        for begin in range(0, max(len(new), 1), MAX_CALLS):
            ends = done and begin + MAX_CALLS >= len(new)
            yield TurnIn(
                conversation=self.talk.conversation,
                id=name,
                request=request,
                calls=[
                    call if call.id is None else msgspec.structs.replace(call, number=None)
                    for call in new[begin : begin + MAX_CALLS]
                ],
                answer=storable(turn.answer)[:longest] if ends and turn.answer else None,
                done=ends,
                agent=self.talk.agent,
                project=self.talk.project,
            )


def _is_same(call: CallIn, known: Row[Any] | None) -> bool:
    """Whether a call is stored already, with its result."""
    if known is None or call.result is None or known.tool != tool_name(call.tool):
        return False
    if hashlib.sha256(call.result.encode("utf-8", "surrogatepass")).hexdigest() != known.sha256:
        return False
    return known.arguments is None or known.arguments == call.arguments


def _digest(calls: Sequence[CallIn], answer: str | None = None) -> str:
    told = [[call.id, call.tool, call.arguments] for call in calls]
    return hashlib.sha256(repr((told, answer)).encode("utf-8", "surrogatepass")).hexdigest()[:16]
