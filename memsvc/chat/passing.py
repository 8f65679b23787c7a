"""Passes a chat server's stream on to the client, and reads it on the way."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from memsvc.chat.afterwards import Afterwards
from memsvc.chat.apis import ChatApi, Failure
from memsvc.chat.remembering import Remembering
from memsvc.errors import UpstreamError
from memsvc.llm.upstream import UpstreamAnswer


async def passing(
    answer: UpstreamAnswer, api: ChatApi, remembering: Remembering | None, afterwards: Afterwards
) -> AsyncGenerator[bytes]:
    """Yield the pieces of a stream as they come.

    The assistant's words are stored before their end is passed on, so a client that has read the answer finds it in
    memory. If the client disconnects first, the chat server's stream is closed, and what it said until then is stored.

    Args:
        answer: the stream, which is closed at the end.
        api: the API of the stream.
        remembering: stores the answer; None: nothing is stored.
        afterwards: does the rest after the client has gone.
    """
    heard, ended = api.hearing(), remembering is None
    try:
        async for piece in answer.pieces():
            heard.piece(piece)
            if remembering is not None and not ended and heard.finish:
                ended = True
                await remembering.end(heard)
            yield piece
    except UpstreamError as error:
        if remembering is not None:
            remembering.tell(error)
        message = f"{error.message} {error.advice}"
        yield api.error_event(Failure(message=message, code=error.code, status=error.status))
    finally:
        afterwards.start(answer.close())
        if remembering is not None and not ended:
            remembering.end_later(heard)
